/* Contacts against exact distances: see collisions.h. */
#include <math.h>
#include <stdlib.h>

#include "collision/exact.h"
#include "lab/collisions.h"

enum { SAMPLES = 8 }; /* of free motion, on which a touch is looked for */

/* of the smaller shape: what does not count; where a direction has a meaning */
static const double SMALL = 1e-4, DIRECTED = 1e-6;

typedef struct placed {
    mor_body_id id;
    const mor_geometry* geometry;
    mor_pose pose; /* of the shape */
    mor_body_state state;
    bool moves;
} placed;

static placed place(const mor_world* w, int body, int shape)
{
    placed p = { .id = mor_world_body(w, body) };
    mor_body_shape s = mor_body_get_shape(w, p.id, shape);
    p.geometry = s.geometry;
    p.state = mor_body_get_state(w, p.id);
    p.moves = mor_body_get_kind(w, p.id) != MOR_FIXED;
    p.pose = mor_pose_mul(&p.state.pose, &s.pose);
    return p;
}

/* Velocity of a body in free motion. */
static mor_vec3 free_velocity(const mor_world* w, const placed* p)
{
    if (!p->moves) return mor_v3(0, 0, 0);
    if (mor_body_get_kind(w, p->id) == MOR_KINEMATIC) return p->state.velocity;
    return mor_madd(p->state.velocity, mor_world_get_step(w), mor_world_gravity(w));
}

/* Pose of the shape after the time t of free motion. */
static mor_pose pose_after(const mor_world* w, const placed* p, double t)
{
    if (!p->moves) return p->pose;
    double rate = mor_norm(p->state.angular_velocity), half = 0.5 * t * rate;
    mor_vec3 axis = mor_scale(rate > 0.0 ? sin(half) / rate : 0.0, p->state.angular_velocity);
    mor_quat turn = { cos(half), axis.x, axis.y, axis.z };
    mor_vec3 arm = mor_rotate(turn, mor_sub(p->pose.position, p->state.com));
    return (mor_pose){ mor_add(mor_madd(p->state.com, t, free_velocity(w, p)), arm),
                       mor_quat_mul(turn, p->pose.rotation) };
}

static double size_of(const placed* a, const placed* b) { return fmin(a->geometry->radius, b->geometry->radius); }

static double distance_after(const mor_world* w, const placed* a, const placed* b, double t)
{
    mor_pose pa = pose_after(w, a, t), pb = pose_after(w, b, t);
    double d;
    mor_vec3 n;
    return mor_exact_distance(a->geometry, &pa, b->geometry, &pb, &d, &n) ? d : NAN;
}

/* Does the pair touch on its way, or nearly so? */
static bool touches(const mor_world* w, const placed* a, const placed* b, double slack)
{
    for (int k = 0; k <= SAMPLES; k++)
        if (!(distance_after(w, a, b, mor_world_get_step(w) * k / SAMPLES) > slack)) return true;
    return false;
}

/* Gap of a contact at the end of free motion, by its normal now. */
static double free_gap(const mor_world* w, const placed* a, const placed* b, const mor_contact* c)
{
    const placed* p[2] = { a, b };
    mor_vec3 v[2];
    for (int k = 0; k < 2; k++) {
        v[k] = free_velocity(w, p[k]);
        if (p[k]->moves)
            v[k] = mor_add(v[k], mor_cross(p[k]->state.angular_velocity, mor_sub(c->point[k], p[k]->state.com)));
    }
    return c->gap + mor_world_get_step(w) * mor_dot(c->normal, mor_sub(v[1], v[0]));
}

static bool same_pair(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->shape[0] == b->shape[0] &&
           a->shape[1] == b->shape[1];
}

static void judge_pair(const mor_world* w, const mor_contact* contacts, int count, mor_collision_score* s)
{
    placed a = place(w, contacts->body[0], contacts->shape[0]), b = place(w, contacts->body[1], contacts->shape[1]);
    double d, size = size_of(&a, &b);
    mor_vec3 n;
    s->pairs++;
    if (!mor_exact_distance(a.geometry, &a.pose, b.geometry, &b.pose, &d, &n)) return;
    s->judged++;
    int best = 0;
    for (int i = 1; i < count; i++)
        if (contacts[i].gap < contacts[best].gap) best = i;
    double error = fabs(contacts[best].gap - d), angle = 0.0;
    if (fabs(d) > DIRECTED * size && mor_dot(n, n) > 0.0)
        angle = atan2(mor_norm(mor_cross(n, contacts[best].normal)), mor_dot(n, contacts[best].normal));
    s->gap_error = fmax(s->gap_error, error);
    s->mean_gap_error += error; /* sums; the caller divides */
    s->normal_error = fmax(s->normal_error, angle);
    s->mean_normal_error += angle;
    double slack = SMALL * (isfinite(size) ? size : 1.0);
    bool asked = false, free = false;
    for (int i = 0; i < count; i++) {
        if (!(free_gap(w, &a, &b, &contacts[i]) < -slack)) continue;
        if (!asked) asked = true, free = !touches(w, &a, &b, slack);
        s->ghosts += free;
    }
}

/* Calls `each` for every pair of shapes that may touch in this step. */
static void walk_pairs(const mor_world* w,
                       void (*each)(void*, const mor_world*, const int[4], const placed*, const placed*), void* user)
{
    int bodies = mor_world_body_count(w);
    double h = mor_world_get_step(w), fall = h * h * mor_norm(mor_world_gravity(w));
    for (int i = 0; i < bodies; i++)
        for (int k = 0; k < mor_body_shape_count(w, mor_world_body(w, i)); k++) {
            placed a = place(w, i, k);
            for (int j = i + 1; j < bodies; j++) {
                mor_body_id other = mor_world_body(w, j);
                if (!a.moves && mor_body_get_kind(w, other) == MOR_FIXED) continue;
                for (int l = 0; l < mor_body_shape_count(w, other); l++) {
                    if (!mor_world_may_touch(w, a.id, k, other, l)) continue;
                    placed b = place(w, j, l);
                    double way =
                               h * (mor_norm(a.state.velocity) * a.moves + mor_norm(b.state.velocity) * b.moves) + fall,
                           most = a.geometry->radius + b.geometry->radius + way;
                    if (mor_norm(mor_sub(a.pose.position, b.pose.position)) > most) continue; /* never for planes */
                    int key[4] = { i, j, k, l };
                    each(user, w, key, &a, &b);
                }
            }
        }
}

typedef struct search {
    const mor_contact* contacts;
    int count;
    mor_collision_score* score;
    double deepest;
} search;

static int by_pair(const void* x, const void* y)
{
    const mor_contact *a = x, *b = y;
    int ka[4] = { a->body[0], a->body[1], a->shape[0], a->shape[1] },
        kb[4] = { b->body[0], b->body[1], b->shape[0], b->shape[1] };
    for (int i = 0; i < 4; i++)
        if (ka[i] != kb[i]) return ka[i] < kb[i] ? -1 : 1;
    return 0;
}

static void look_for_missed(void* user, const mor_world* w, const int key[4], const placed* a, const placed* b)
{
    search* s = user;
    mor_contact wanted = { .body = { key[0], key[1] }, .shape = { key[2], key[3] } };
    if (s->count && bsearch(&wanted, s->contacts, (size_t)s->count, sizeof wanted, by_pair)) return;
    double size = size_of(a, b), slack = SMALL * (isfinite(size) ? size : 1.0);
    double now = distance_after(w, a, b, 0.0), later = distance_after(w, a, b, mor_world_get_step(w));
    s->score->missed += now < -slack || later < -slack;
}

static void look_for_depth(void* user, const mor_world* w, const int key[4], const placed* a, const placed* b)
{
    (void)key;
    search* s = user;
    double d = distance_after(w, a, b, 0.0);
    if (-d > s->deepest) s->deepest = -d;
}

void mor_collisions_judge(const mor_world* w, mor_contact* contacts, int count, mor_collision_score* s)
{
    if (count) qsort(contacts, (size_t)count, sizeof *contacts, by_pair); /* methods find them in any order */
    s->states++;
    s->contacts += count;
    for (int i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && same_pair(&contacts[i], &contacts[i + n]);) n++;
        judge_pair(w, contacts + i, n, s);
    }
    search all = { contacts, count, s, 0.0 };
    walk_pairs(w, look_for_missed, &all);
}

double mor_collisions_depth(const mor_world* w)
{
    search all = { .deepest = 0.0 };
    walk_pairs(w, look_for_depth, &all);
    return all.deepest;
}
