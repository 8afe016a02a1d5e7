#include "common/terrain.h"

#include <math.h>

const char* const terrain_drawing_names[] = { "one chain", "many chains", "flush tiles" };
const char* const terrain_body_names[] = { "particle", "disc", "square", "polygon" };

double terrain_between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

terrain terrain_random(mor_rng* r, bool steps)
{
    terrain t = { 0 };
    int inner = 4 + (int)(10.0 * mor_rng_uniform(r));
    double x = -1.5, y = 0.0;
    t.p[t.count++] = mor_v3(-2.5, 3.0, 0);
    t.p[t.count++] = mor_v3(x, y, 0);
    for (int i = 0; i < inner; i++) {
        double pick = mor_rng_uniform(r);
        double dx = 3.0 / inner, dy = terrain_between(r, -1.2, 1.2) * dx;
        if (pick < 0.2) dy = 0.0;
        else if (pick < 0.5) dy = terrain_between(r, -4.0, 4.0) * dx;
        if (steps && pick > 0.85) {
            t.p[t.count++] = mor_v3(x, y + terrain_between(r, -0.4, 0.4), 0);
            y = t.p[t.count - 1].y;
        }
        x += dx;
        y = fmax(-0.9, fmin(0.9, y + dy));
        t.p[t.count++] = mor_v3(x, y, 0);
    }
    t.p[t.count++] = mor_v3(x + 1.0, 3.0, 0);
    return t;
}

double terrain_below(const terrain* t, mor_vec3 q)
{
    double least = -HUGE_VAL;
    for (int i = 0; i + 1 < t->count; i++) {
        mor_vec3 a = t->p[i], b = t->p[i + 1];
        if (b.x - a.x < 1e-12 || q.x < a.x - 1e-7 || q.x > b.x + 1e-7) continue;
        double height = a.y + (b.y - a.y) * fmin(1.0, fmax(0.0, (q.x - a.x) / (b.x - a.x)));
        double depth = height - q.y;
        least = least == -HUGE_VAL ? depth : fmin(least, depth);
    }
    return least;
}

/* Distance of a point to the ground's line. */
static double terrain_distance(const terrain* t, mor_vec3 q)
{
    double least = HUGE_VAL;
    for (int i = 0; i + 1 < t->count; i++) {
        mor_vec3 e = mor_sub(t->p[i + 1], t->p[i]), d = mor_sub(q, t->p[i]);
        double u = fmin(1.0, fmax(0.0, mor_dot(d, e) / mor_dot(e, e)));
        least = fmin(least, mor_norm(mor_madd(d, -u, e)));
    }
    return least;
}

terrain_body terrain_body_random(mor_rng* r, int kind)
{
    terrain_body b = { .kind = kind, .radius = terrain_between(r, 0.05, 0.3) };
    if (kind == SQUARE || kind == POLYGON) {
        b.corners = kind == SQUARE ? 4 : 3 + (int)(6.0 * mor_rng_uniform(r));
        for (int i = 0; i < b.corners; i++) {
            double a = 6.283185307179586 * (i + (kind == SQUARE ? 0.0 : terrain_between(r, -0.3, 0.3))) / b.corners;
            b.corner[i] = mor_v3(b.radius * cos(a), b.radius * sin(a), 0);
        }
    }
    return b;
}

double terrain_depth(const terrain* t, const terrain_body* b, const mor_world* w, mor_body_id id)
{
    mor_body_state s = test_state(w, id);
    if (b->kind == PARTICLE) {
        double d = terrain_below(t, s.com);
        return d > 0.0 ? fmin(d, terrain_distance(t, s.com)) : d;
    }
    if (b->kind == DISC) {
        double d = terrain_distance(t, s.com);
        return b->radius + (terrain_below(t, s.com) > 0.0 ? d : -d);
    }
    double worst = -HUGE_VAL;
    mor_pose pose = s.pose;
    mor_vec3 c[12];
    for (int i = 0; i < b->corners; i++) {
        c[i] = mor_pose_point(&pose, b->corner[i]);
        double d = terrain_below(t, c[i]);
        worst = fmax(worst, d > 0.0 ? fmin(d, terrain_distance(t, c[i])) : -HUGE_VAL);
    }
    for (int k = 0; k < t->count; k++) {
        double inside = HUGE_VAL;
        for (int i = 0; i < b->corners; i++) {
            mor_vec3 e = mor_sub(c[(i + 1) % b->corners], c[i]), d = mor_sub(t->p[k], c[i]);
            inside = fmin(inside, (e.x * d.y - e.y * d.x) / mor_norm(e));
        }
        worst = fmax(worst, inside);
    }
    return worst;
}

mor_geometry* terrain_body_shape(const terrain_body* b)
{
    mor_error error = { 0 };
    mor_geometry* g = b->kind == PARTICLE ? mor_geometry_particle(&error)
                      : b->kind == DISC   ? mor_geometry_disc(b->radius, &error)
                                          : mor_geometry_polygon(b->corner, b->corners, &error);
    if (!g) fail_msg("%s", error.text);
    return g;
}

/* Is point i a ridge sharper than a right angle? */
static bool sharp_ridge(const terrain* t, int i)
{
    mor_vec3 before = mor_sub(t->p[i], t->p[i - 1]), after = mor_sub(t->p[i + 1], t->p[i]);
    return before.x * after.y - before.y * after.x < 0.0 && mor_dot(before, after) < 0.0;
}

void terrain_draw(mor_world* w, const terrain* t, int drawing, bool sharp, mor_rng* r)
{
    mor_error error = { 0 };
    for (int i = 0; i + 1 < t->count;) {
        int n = drawing == ONE_CHAIN ? t->count - 1 : drawing == TILES ? 1 : 1 + (int)(2.5 * mor_rng_uniform(r));
        if (i + n > t->count - 1) n = t->count - 1 - i;
        while (drawing == MANY_CHAINS && !sharp && i + n < t->count - 1 && sharp_ridge(t, i + n)) n++;
        mor_geometry* g;
        if (drawing == TILES) {
            mor_vec3 a = t->p[i], b = t->p[i + 1], q[4] = { { a.x, -3, 0 }, { b.x, -3, 0 }, b, a };
            g = mor_geometry_polygon(q, 4, &error);
        } else {
            g = mor_geometry_chain(t->p + i, n + 1, &error);
        }
        if (!g) fail_msg("%s", error.text);
        test_fixed(w, g, mor_v3(0, 0, 0), mor_quat_identity());
        i += n;
    }
}
