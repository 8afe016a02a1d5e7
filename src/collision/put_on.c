/* Setting bodies down: how far they can fall before they touch.
 *
 * Every shape a of the bodies begins above every shape b of what they are set on, and comes down by conservative
 * advancement: with the distance d and the normal n from a to b, a fall by
 *
 *     d / (-n . up)
 *
 * brings a to the plane through b's nearest point across n, which separates convex shapes; so it never falls too far,
 * and where n . up >= 0 it passes b. For shapes that do not turn these are Newton's steps on a convex function: a few
 * of them reach rounding. A plane is reached in one. Of all pairs the one that touches first counts.
 *
 * Chains (2-D) are not convex: the fall is by d alone, which is slow next to a slope but never too far. */
#include "collision/put_on.h"

#include "base/elementary.h"
#include "collision/pair_table.h"

enum { ADVANCES = 2000 };
#define ARRIVED 1e-12   /* of the size of the shapes: what is left of the way */
#define ANYWHERE 1e9    /* m: reach of the pair tests */
#define HORIZONTAL 1e-9 /* -n . up below this: a plane that stands upright */

/* Nearest point of two shapes; false: no test for them, or nothing within reach. */
static bool nearest(const mor_library* library, const mor_geometry* a, const mor_pose* A, const mor_geometry* b,
                    const mor_pose* B, mor_point* out)
{
    bool swap;
    mor_pair_test test = mor_library_pair(library, a, b, &swap);
    if (!test) return false;
    mor_point points[MOR_MAX_POINTS];
    uint32_t words[4] = { 0 };
    int n = mor_pair_run(test, swap, a, A, b, B, ANYWHERE, words, points), best = 0;
    for (int i = 1; i < n; i++)
        if (points[i].gap < points[best].gap) best = i;
    if (n > 0) *out = points[best];
    return n > 0;
}

/* The height at which shape a, coming from above, touches shape b; 0 is where it is now. */
static double touching_height(const mor_library* library, const mor_geometry* a, const mor_pose* A,
                              const mor_geometry* b, const mor_pose* B, mor_vec3 up)
{
    mor_point p;
    if (!isfinite(b->radius)) {
        bool chain = b->kind == MOR_CHAIN;
        if (!chain) {
            if (!nearest(library, a, A, b, B, &p) || !(-mor_dot(p.normal, up) > HORIZONTAL)) return -INFINITY;
            return -p.gap / -mor_dot(p.normal, up);
        }
    }
    double size = a->radius + (isfinite(b->radius) ? b->radius : 1e3);
    double z = mor_dot(up, mor_sub(B->position, A->position)) + size * 1.000001, floor = z - 2.1 * size;
    for (int k = 0; k < ADVANCES; k++) {
        mor_pose now = { mor_madd(A->position, z, up), A->rotation };
        if (!nearest(library, a, &now, b, B, &p)) return -INFINITY;
        if (p.gap <= ARRIVED * size) return z - mor_min(p.gap, 0.0);
        double rate = b->kind == MOR_CHAIN ? 1.0 : -mor_dot(p.normal, up);
        if (!(rate > HORIZONTAL) || z < floor) return -INFINITY;
        z -= p.gap / rate;
    }
    return z;
}

static double body_height(const mor_world* w, const mor_body* a, const mor_body* b, mor_vec3 up)
{
    double highest = -INFINITY;
    for (int i = 0; i < a->shape_count; i++)
        for (int j = 0; j < b->shape_count; j++) {
            mor_pose A = mor_body_shape_pose(a, i), B = mor_body_shape_pose(b, j);
            highest =
                mor_max(highest, touching_height(w->library, a->shapes[i].geometry, &A, b->shapes[j].geometry, &B, up));
        }
    return highest;
}

double mor_height_above(const mor_world* w, const int* bodies, int count, int on, const bool* waiting, mor_vec3 up)
{
    double highest = -INFINITY;
    for (int slot = 0; slot < w->body_count; slot++) {
        const mor_body* below = &w->bodies[slot];
        bool own = false;
        for (int i = 0; i < count && !own; i++) own = bodies[i] == slot;
        if (!below->alive || own || (on >= 0 ? slot != on : below->no_collision || (waiting && waiting[slot])))
            continue;
        for (int i = 0; i < count; i++) {
            const mor_body* a = &w->bodies[bodies[i]];
            if (on < 0 && mor_world_ignores(w, bodies[i], slot)) continue;
            highest = mor_max(highest, body_height(w, a, below, up));
        }
    }
    return highest;
}

mor_vec3 mor_world_up(const mor_world* w)
{
    double g = mor_norm(w->gravity);
    if (g > 0.0) return mor_scale(-1.0 / g, w->gravity);
    return w->dimension == 2 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
}
