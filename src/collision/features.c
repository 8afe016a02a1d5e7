/* The collision method `features`: what exact geometry needs to know of a pair.
 *
 * Who sees what. A formulation says by `groups` which contacts it wants:
 *   1 (peg, peg-exact)  one group per pair of convex pieces; its planes are the candidates for separation, each with
 *     its rows; contact.plane numbers them. Planes that cannot open in the step and rows that cannot close in it
 *     (farther than `reach` = epsilon + 2 m, m what the pair can move) are left out; the plane the pair was left on
 *     in the last step is always there (contact.held), and so is the best one when nothing is open.
 *   0 (st, ap, peg-heuristic, ...)  the papers' contacts: each vertex against the faces of the other body whose polygon
 *     is nearer than epsilon, with the gap to the supporting plane; crossing edge pairs; `activation: body` takes all
 *     faces as soon as one is near. group: one per vertex. A chain reports its segments the same way. With `reach:
 *     swept`, pairs that may pass through each other within the step are left to the ordinary tests, which follow them
 *     through it; with `reach: fixed`, the papers', they are not.
 * Shapes without faces (spheres, capsules, ...) keep their ordinary contact: one group, one plane.
 *
 * The feature number of a contact is its plane's number in the upper 32 bits and the row's in the lower, so the
 * contacts of a plane are neighbours after sorting. Memory: the planes held are read from the last step's contacts,
 * which are part of a snapshot. */
#include "collision/features.h"
#include "base/elementary.h"
#include "collision/detect.h"
#include "geometry/thickness.h"

static bool planar(const mor_geometry* a) { return a->dimension == 2; }

static void begin(const mor_geometry* a, const mor_geometry* b, mor_feature_set* set)
{
    set->plane_count = set->row_count = 0;
    set->best = MOR_NO_PLANE;
    double ra = a->kind == MOR_PARTICLE ? HUGE_VAL : a->radius, rb = b->kind == MOR_PARTICLE ? HUGE_VAL : b->radius;
    set->size = mor_min(ra, rb);
    if (!isfinite(set->size)) set->size = 1.0;
}

/* Rows were found with the origin at A's position. */
static void to_world(mor_feature_set* set, const mor_pose* pose_a)
{
    for (int i = 0; i < set->row_count; i++) {
        set->rows[i].on_a = mor_add(set->rows[i].on_a, pose_a->position);
        set->rows[i].on_b = mor_add(set->rows[i].on_b, pose_a->position);
    }
}

void mor_features_pair(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                       int piece, const mor_feature_query* query, uint32_t cache[4], mor_feature_set* set)
{
    mor_placed A, B;
    begin(a, b, set);
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    if (planar(a)) mor_features_planar(&A, &B, piece, query, set);
    else mor_features_solid(&A, &B, query, cache, set);
    to_world(set, pose_a);
}

void mor_features_plane(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        uint32_t id, double window, mor_feature_set* set)
{
    mor_placed A, B;
    begin(a, b, set);
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    if (planar(a)) mor_features_planar_rows(&A, &B, id, window, set);
    else mor_features_solid_rows(&A, &B, id, window, set);
    set->separation = set->planes[0].s;
    to_world(set, pose_a);
}

double mor_features_along(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                          uint32_t id)
{
    mor_placed A, B;
    if (a->kind != MOR_POLYHEDRON || b->kind != MOR_POLYHEDRON || id == MOR_NO_PLANE) return -HUGE_VAL;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    return mor_features_solid_along(&A, &B, id);
}

/* ------------------------------------------------------------------------------- detection */

/* First contact of the last step that is not before the pair of shapes. */
static int find_old(const mor_found* found, int body_a, int body_b, int shape_a, int shape_b)
{
    const mor_contact* old = found->last;
    int key[4] = { body_a, body_b, shape_a, shape_b }, lo = 0, hi = found->last_count;
    while (lo < hi) {
        int mid = (lo + hi) / 2,
            other[4] = { old[mid].body[0], old[mid].body[1], old[mid].shape[0], old[mid].shape[1] }, c = 0;
        for (int i = 0; i < 4 && c == 0; i++) c = other[i] < key[i] ? -1 : other[i] > key[i];
        if (c < 0) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The plane this pair (this run of a chain) was left on, or MOR_NO_PLANE. */
static uint32_t held_plane(const mor_found* found, const mor_near_pair* p, int piece)
{
    const mor_world* w = found->world;
    const mor_contact* old = found->last;
    const mor_geometry *ga = p->a->shapes[p->shape_a].geometry, *gb = p->b->shapes[p->shape_b].geometry;
    int a = w->order_of[p->slot_a], b = w->order_of[p->slot_b];
    for (int i = find_old(found, a, b, p->shape_a, p->shape_b); i < found->last_count; i++) {
        if (old[i].body[0] != a || old[i].body[1] != b || old[i].shape[0] != p->shape_a ||
            old[i].shape[1] != p->shape_b)
            break;
        uint32_t id = (uint32_t)(old[i].feature >> 32);
        if (old[i].held && mor_features_piece_of(ga, gb, id) == piece) return id;
    }
    return MOR_NO_PLANE;
}

static mor_code planes_of_pair(int* last_group, mor_found* found, const mor_collision_options* o,
                               const mor_near_pair* p)
{
    const mor_world* w = found->world;
    const mor_geometry *ga = p->a->shapes[p->shape_a].geometry, *gb = p->b->shapes[p->shape_b].geometry;
    mor_feature_set set;
    int pieces = mor_features_pieces(ga, gb);
    for (int piece = 0; piece < pieces; piece++) {
        uint32_t held = held_plane(found, p, piece);
        mor_feature_query query = { .window = p->reach,
                                    .motion = p->motion,
                                    .turn = w->h * (mor_norm(p->a->w) + mor_norm(p->b->w)) + 1e-3,
                                    .held = held };
        mor_features_pair(ga, &p->pose_a, gb, &p->pose_b, piece, &query, p->words, &set);
        if (set.plane_count == 0) continue;
        if (-set.separation > found->deepest) found->deepest = -set.separation;
        int group = ++*last_group;
        for (int k = 0; k < set.plane_count; k++) {
            const mor_feature_plane* plane = &set.planes[k];
            if (plane->s < o->psi_min && plane->id != set.best) continue;
            for (int r = plane->row; r < plane->row + plane->row_count; r++) {
                const mor_feature_row* row = &set.rows[r];
                mor_contact c = { .point = { row->on_a, row->on_b },
                                  .normal = plane->n,
                                  .gap = row->gap,
                                  .feature = (uint64_t)plane->id << 32 | row->feature,
                                  .group = group,
                                  .plane = k + 1,
                                  .held = plane->id == held };
                if (mor_near_pair_contact(found, p, &c)) return MOR_SYSTEM;
            }
        }
    }
    return MOR_OK;
}

static mor_code vertices_of_pair(int* last_group, mor_found* found, const mor_collision_options* o,
                                 const mor_near_pair* p)
{
    mor_point points[512];
    const mor_geometry *ga = p->a->shapes[p->shape_a].geometry, *gb = p->b->shapes[p->shape_b].geometry;
    int n = mor_features_vertex(ga, &p->pose_a, gb, &p->pose_b, p->reach, o->activation == 1, points, 512);
    int group = *last_group;
    for (int i = 0; i < n; i++) {
        if (points[i].gap < o->psi_min) continue;
        mor_contact c = { .point = { points[i].on_a, points[i].on_b },
                          .normal = points[i].normal,
                          .gap = points[i].gap,
                          .feature = points[i].feature,
                          .group = group + points[i].group,
                          .plane = points[i].plane };
        if (c.group > *last_group) *last_group = c.group;
        if (mor_near_pair_contact(found, p, &c)) return MOR_SYSTEM;
    }
    /* penetration is that of the bodies, not of the half-spaces */
    mor_feature_set set;
    mor_feature_query query = { .window = 0.0, .held = MOR_NO_PLANE };
    for (int piece = 0; piece < mor_features_pieces(ga, gb); piece++) {
        if (ga->kind == MOR_CHAIN || gb->kind == MOR_CHAIN) break;
        mor_features_pair(ga, &p->pose_a, gb, &p->pose_b, piece, &query, p->words, &set);
        if (set.plane_count && -set.separation > found->deepest) found->deepest = -set.separation;
    }
    return MOR_OK;
}

/* Can the pair move so far in the step that one of its shapes comes out on the other side of the other one? The papers'
 * contacts are planes of now and know no moment within the step: a corner beyond a plate's middle is led out at its
 * back. Particles have no side, and half-spaces and chains no back. */
static bool passes_through(const mor_near_pair* p, const mor_geometry* ga, const mor_geometry* gb)
{
    if (ga->kind == MOR_PARTICLE || gb->kind == MOR_PARTICLE || ga->kind == MOR_CHAIN || gb->kind == MOR_CHAIN)
        return false;
    const double thin = mor_min(mor_geometry_thickness(ga), mor_geometry_thickness(gb));
    return isfinite(ga->radius) && isfinite(gb->radius) && p->motion > 0.5 * thin;
}

typedef struct narrow_user {
    int last_group; /* groups numbered so far */
    mor_error* error;
} narrow_user;

static mor_code narrow(void* user, mor_found* found, const mor_collision_options* o, const mor_near_pair* p, bool* done)
{
    narrow_user* n = user;
    const mor_geometry *ga = p->a->shapes[p->shape_a].geometry, *gb = p->b->shapes[p->shape_b].geometry;
    for (int side = 0; side < 2; side++) {
        const char* most = mor_features_too_large(side ? gb : ga);
        if (most)
            return mor_fail(n->error, MOR_BAD_INPUT,
                            "the %s of body '%s' is too large for collision method 'features', which takes at most %s; "
                            "give a coarser shape or use 'manifold'",
                            (side ? gb : ga)->label, (side ? p->b : p->a)->name, most);
    }
    const bool planes = found->world->formulation->groups == 1;
    /* discs have no vertices */
    *done = mor_features_exact(ga, gb) && (planes || (ga->kind != MOR_DISC && gb->kind != MOR_DISC));
    if (*done && !planes && o->reach == 0) *done = !passes_through(p, ga, gb);
    if (!*done) return MOR_OK;
    return planes ? planes_of_pair(&n->last_group, found, o, p) : vertices_of_pair(&n->last_group, found, o, p);
}

mor_code mor_features_detect(void* memory, const mor_world* world, const void* options, mor_found* found,
                             mor_error* error)
{
    narrow_user user = { .error = error };
    return mor_detect(memory, found, options, narrow, &user, world->formulation->groups == 1 ? 2.0 : 1.0, error);
}
