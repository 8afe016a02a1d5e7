/* Validation of planes at the trial state q+ = q (+) h nu+.
 *
 * The single row of an edge pair is linear in a normal that turns with both bodies. Where the bodies overlap at q+ by
 * more than 1e-7 of their size although the row says they do not, the pair's plane is replaced by the best plane at q+
 * whose normal is within 45 degrees, with rows taken there:
 *
 *     psi_i = max(0, psi_i(q+) - h G_i' nu+),     G_i at q+,
 *
 * and the step is solved again, at most ten times; rows of earlier trials stay, or the answer would swing between two
 * planes. psi_i >= 0, so the new rows dissipate like all others. A pair that leaves all planes near its own, or
 * overlaps by more than 1e-3 of the size after that, gets its plane's own rows back beside them. Looked at are
 *
 *   edge pairs   that push, and those that alone cover a pair: their arcs may stop crossing within the step, and then
 *   the row says nothing. About
 *                one of a thousand steps of a tumbling rod; takes away irregular penetrations of 1e-4 m
 *   faces        whose rows may be off by more than 1e-3 of the size at second order, r (h omega)^2/2 with r the arm of
 *   the farthest row, and which leave an
 *                overlap of that much. Only where bodies turn far in a step (large h): it takes the work of the
 *                projection in piles down by five. */
#include "base/elementary.h"
#include "formulation/peg_planes.h"
#include "formulation/step_problem.h"
#include "geometry/thickness.h"

#include <math.h>
#include <string.h>

#define DEEP 1e-7
#define AGAIN 1e-5 /* once replaced: the rest is the projection's */
#define TOL 1e-9   /* the group's tolerance over its size */
#define FAR 1e-3   /* of the size: an overlap worth another solve where a face is held */
#define NEAR 0.02  /* of the size: the linear model of an edge pair farther than this cannot be that wrong in a step */
enum { ROOM = 256, REPLACEMENTS = 10, SAMPLES = 2000 };

/* Velocity of a body in the trial step. */
static void trial_velocity(const mor_system* s, const mor_contact_side* b, const double* nu, mor_vec3* vel,
                           mor_vec3* spin)
{
    mor_vec3 v = b->v, w = b->w;
    if (b->tree >= 0) {
        const mor_tree_block* t = &s->trees[b->tree];
        const double* u = nu + t->offset;
        v = mor_v3(u[0], u[1], s->dimension == 3 ? u[2] : 0.0);
        w = s->dimension == 3 ? mor_v3(u[3], u[4], u[5]) : mor_v3(0, 0, t->dof == 3 ? u[2] : 0.0);
    }
    if (b->fixed) v = w = mor_v3(0, 0, 0);
    *vel = v;
    *spin = w;
}

/* Copies the system with room for ROOM more contacts. */
static bool make_room(const mor_system* s, const double* bias, mor_arena* arena, mor_peg_trial* t)
{
    size_t rows = (size_t)(s->row_count + 3 * ROOM);
    t->impulses = mor_arena_zero(arena, rows, sizeof(double));
    t->bias = mor_arena_zero(arena, rows, sizeof(double));
    t->keep = mor_arena_zero(arena, (size_t)(s->block_count + ROOM), sizeof(bool));
    t->group = mor_arena_alloc(arena, ROOM * sizeof(int));
    t->direction = mor_arena_alloc(arena, 3 * ROOM * sizeof(mor_vec3));
    if (!t->impulses || !t->bias || !t->keep || !t->group || !t->direction) return false;
    memcpy(t->bias, bias, (size_t)s->row_count * sizeof(double));
    return mor_system_make_room(s, ROOM, arena, &t->room);
}

/* Impulse on the rows of a plane, as a vector. */
static mor_vec3 impulse_of(const mor_system* s, const mor_peg_plane* plane, const double* impulses)
{
    mor_vec3 sum = mor_v3(0, 0, 0);
    for (int i = plane->first; i < plane->first + plane->count; i++) {
        const mor_contact_geometry* c = &s->geometry[i];
        const mor_block* b = &s->blocks[s->contacts[i].block];
        const mor_vec3 d[3] = { c->normal, c->t, c->o };
        for (int r = 0; r < b->dim; r++) sum = mor_madd(sum, impulses[b->row + r], d[r]);
    }
    return sum;
}

/* The rows added last share the impulse as a first guess. */
static void guess_impulses(mor_peg_trial* t, int count, mor_vec3 push)
{
    const mor_system* s = &t->room.system;
    for (int i = t->room.added - count; i < t->room.added; i++) {
        const mor_block* b = &s->blocks[s->block_count - t->room.added + i];
        for (int r = 0; r < b->dim; r++) t->impulses[b->row + r] = mor_dot(push, t->direction[3 * i + r]) / count;
    }
}

/* Does nothing but an edge pair keep the pair apart? Pairs that push on one, and pairs that only one covers while it is
 * near. */
static bool rests_on_edges(const mor_peg* peg, const mor_peg_group* group)
{
    const mor_peg_plane* plane = &peg->planes[group->choice >= 0 ? group->choice : group->last];
    if (plane->id == MOR_NO_PLANE || mor_plane_kind(plane->id) != MOR_EDGE_PAIR) return false;
    if (group->choice >= 0) return true;
    if (mor_peg_end_gap(peg, plane) > NEAR / TOL * group->tol) return false;
    for (const mor_peg_plane* k = &peg->planes[group->first]; k < &peg->planes[group->first + group->count]; k++)
        if (k->open && k->closes >= peg->s->h && mor_plane_kind(k->id) != MOR_EDGE_PAIR) return false;
    return true;
}

/* May the rows of the pair's plane be off by more than FAR of its size at second order, r (h omega)^2/2? */
static bool turns_far(const mor_peg* peg, const mor_peg_group* group, const mor_contact_side side_of[2],
                      const double* nu)
{
    const mor_system* s = peg->s;
    const mor_peg_plane* plane = &peg->planes[group->choice >= 0 ? group->choice : group->last];
    double error = 0.0;
    for (int side = 0; side < 2; side++) {
        if (side_of[side].tree < 0) continue;
        const mor_tree_block* t = &s->trees[side_of[side].tree];
        const double* u = nu + t->offset;
        double turn2 = s->dimension == 3 ? u[3] * u[3] + u[4] * u[4] + u[5] * u[5]
                       : t->dof == 3     ? u[2] * u[2]
                                         : 0.0,
               arm = 0.0;
        for (int c = plane->first; c < plane->first + plane->count; c++)
            arm = mor_max(arm, mor_norm(mor_sub(s->geometry[c].point[0], side_of[side].x)));
        error += 0.5 * s->h * s->h * turn2 * arm;
    }
    return error > FAR / TOL * group->tol;
}

/* A pair at the trial state. */
typedef struct trial_pair {
    const mor_contact_geometry* contact; /* of its plane's first row */
    const mor_contact_row* model;        /* that row */
    const mor_geometry* shape[2];
    int piece;
    mor_vec3 v[2], w[2]; /* of the trial step */
    double when;         /* the poses are those of this time */
    mor_pose pose[2];
    mor_vec3 x[2];
} trial_pair;

static void pose_at(trial_pair* t, double when)
{
    t->when = when;
    for (int side = 0; side < 2; side++) {
        const mor_contact_side* b = &t->contact->side[side];
        mor_quat q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(when, t->w[side])), b->q));
        t->x[side] = mor_madd(b->x, when, t->v[side]);
        mor_pose body = { mor_sub(t->x[side], mor_rotate(q, b->com)), q };
        t->pose[side] = mor_pose_mul(&body, &b->shape_pose);
    }
}

/* False for links, which move with their robot and are left to the projection, and for contacts of a stored frame,
 * which have no shapes. */
static bool at_trial(const mor_peg* peg, const mor_peg_group* group, const double* nu, trial_pair* t)
{
    const mor_system* s = peg->s;
    const mor_peg_plane* plane = &peg->planes[group->choice >= 0 ? group->choice : group->last];
    if (!s->geometry) return false;
    t->model = &s->contacts[plane->first];
    t->contact = &s->geometry[plane->first];
    for (int side = 0; side < 2; side++)
        if (t->contact->side[side].link || !t->contact->side[side].shape) return false;
    for (int side = 0; side < 2; side++) {
        t->shape[side] = t->contact->side[side].shape;
        trial_velocity(s, &t->contact->side[side], nu, &t->v[side], &t->w[side]);
    }
    t->piece = mor_features_piece_of(t->shape[0], t->shape[1], plane->id);
    pose_at(t, s->h);
    return true;
}

/* A row of the best plane at the trial state becomes a contact of the step. */
static void add_contact(mor_peg_trial* t, const trial_pair* pair, const mor_feature_row* row, mor_vec3 n, int group,
                        const double* nu)
{
    const mor_system* s = &t->room.system;
    int at = t->room.added, first_row = s->row_count;
    mor_added_contact c = { .point = mor_lerp(row->on_a, row->on_b, 0.5), .direction = { n } };
    c.dim = s->blocks[pair->model->block].dim;
    if (s->dimension == 2) c.direction[1] = mor_v3(-n.y, n.x, 0), c.direction[2] = mor_v3(0, 0, 1);
    else mor_tangents(n, mor_v3(1, 0, 0), &c.direction[1], &c.direction[2]);
    for (int side = 0; side < 2; side++) {
        const mor_contact_side* b = &pair->contact->side[side];
        c.x[side] = pair->x[side], c.v[side] = b->v, c.w[side] = b->w;
        c.tree[side] = b->tree;
    }
    mor_contact_row* added = mor_system_append_contact(&t->room, pair->model, &c);
    const mor_block* b = &s->blocks[added->block];
    double speed = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* tree = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start;
        for (int m = 0; m < tree->dof; m++) speed += J[m] * nu[tree->offset + m];
    }
    speed += added->drift[0];
    added->gap = mor_max(0.0, row->gap - pair->when * speed);
    for (int i = 0; i < c.dim; i++) t->bias[first_row + i] = added->drift[i];
    t->bias[first_row] += added->gap / s->h;
    t->group[at] = group;
    memcpy(t->direction + 3 * at, c.direction, sizeof c.direction);
}

static void trial_planes(const trial_pair* t, double window, mor_feature_set* all)
{
    const double size = mor_min(t->shape[0]->radius, t->shape[1]->radius);
    mor_feature_query query = { .window = window * size, .motion = 1e-3 * size, .turn = 1e-3, .held = MOR_NO_PLANE };
    uint32_t cache[4] = { 0 };
    mor_features_pair(t->shape[0], &t->pose[0], t->shape[1], &t->pose[1], t->piece, &query, cache, all);
}

/* Walks the pair along its trial motion and stops where it overlaps by more than a little for the first time: `all` are
 * the planes there, t->when the time. Conservative advancement: separation over the largest speed of approach, and at
 * least a quarter of what the bodies are thick, so that none passes through the other unseen. */
static bool first_overlap(trial_pair* t, const mor_peg_plane* plane, double h, mor_feature_set* all)
{
    double speed = mor_norm(mor_sub(t->v[0], t->v[1])), thin = 0.0;
    const double size = mor_min(t->shape[0]->radius, t->shape[1]->radius);
    for (int side = 0; side < 2; side++) {
        double wide = mor_geometry_thickness(t->shape[side]), spin = mor_norm(t->w[side]);
        if (isfinite(wide)) thin += wide;
        if (spin > 0.0)
            speed += spin * (t->shape[side]->radius + mor_norm(mor_sub(t->pose[side].position, t->x[side])));
    }
    if (!(thin > 0.0)) thin = size; /* a particle before a chain */
    if (!(speed > 0.0)) return false;
    const double limit = mor_min(FAR * size, 0.05 * thin), least = mor_max(0.25 * thin / speed, h / SAMPLES);
    uint32_t id = plane->id;
    double before = 0.0, now = mor_min(h, mor_max(mor_min(plane->s, size) / speed, least));
    for (;;) {
        pose_at(t, now);
        double s = mor_features_along(t->shape[0], &t->pose[0], t->shape[1], &t->pose[1], id);
        if (!(s > limit)) {
            trial_planes(t, 1.0, all);
            s = mor_min(all->separation, size);
            if (all->plane_count) id = all->best;
        }
        if (s < -limit) break;
        if (now >= h) return false;
        before = now;
        now = mor_min(h, now + mor_max(s / speed, least));
    }
    for (int i = 0; i < 12 && all->separation < -4.0 * limit; i++) {
        mor_feature_set middle;
        double half = 0.5 * (before + now);
        pose_at(t, half);
        trial_planes(t, 1.0, &middle);
        if (middle.separation < -limit) *all = middle, now = half;
        else before = half;
    }
    pose_at(t, now);
    return true;
}

double mor_peg_trial_separation(const mor_peg* peg, int g, const double* nu)
{
    const mor_peg_group* group = &peg->groups[g];
    trial_pair t;
    mor_feature_set all;
    if (!at_trial(peg, group, nu, &t)) return -HUGE_VAL;
    if (turns_far(peg, group, t.contact->side, nu)) {
        const mor_peg_plane* plane = &peg->planes[group->choice >= 0 ? group->choice : group->last];
        if (first_overlap(&t, plane, peg->s->h, &all)) return all.separation; /* apart at the end, on the other side */
        pose_at(&t, peg->s->h);
    }
    trial_planes(&t, 2.0, &all);
    return mor_min(all.separation,
                   2.0 * mor_min(t.shape[0]->radius, t.shape[1]->radius)); /* farther apart: not looked for */
}

bool mor_peg_validate(mor_peg* peg, const double* bias, mor_arena* arena, const mor_answer* answer, mor_peg_trial* t)
{
    const mor_system* s = peg->s;
    bool any = false;
    for (int g = 0; g < peg->group_count; g++) {
        mor_peg_group* group = &peg->groups[g];
        const bool over = group->checked >= REPLACEMENTS;
        if (over && group->own) continue;
        bool edges = rests_on_edges(peg, group);
        const mor_peg_plane* plane = &peg->planes[group->choice >= 0 ? group->choice : group->last];
        trial_pair pair;
        if ((!edges && plane->id == MOR_NO_PLANE) || !at_trial(peg, group, answer->nu, &pair)) continue;
        const bool far = turns_far(peg, group, pair.contact->side, answer->nu);
        if (!edges && group->checked == 0 && !far) continue;
        mor_feature_set all;
        bool passed = far && first_overlap(&pair, plane, s->h, &all);
        if (!passed) {
            if (far) pose_at(&pair, s->h);
            if (mor_features_along(pair.shape[0], &pair.pose[0], pair.shape[1], &pair.pose[1], plane->id) >= 0.0)
                continue;
            trial_planes(&pair, 1e-2, &all);
            if (!(all.separation < -(!edges ? FAR : group->checked ? AGAIN : DEEP) * all.size - t->slack)) continue;
        }
        mor_feature_set best = { .plane_count = 0 };
        if (over && all.separation >= -FAR * all.size) continue;
        if (!over && passed) mor_peg_nearest_plane(&all, mor_peg_normal_of(&all, all.best), &best);
        else if (!over && !mor_peg_nearest_plane(&all, pair.contact->normal, &best)) {
            trial_planes(&pair, 1.0,
                         &all); /* thin bodies: the way out on the other side is shorter, and hid the rest */
            mor_peg_nearest_plane(&all, pair.contact->normal, &best);
        }
        if (best.row_count == 0) { /* turned far out of its plane, or never held by the rows of the trials: its own come
                                      back */
            any = any || (group->checked > 0 && !group->own);
            group->own = group->checked > 0;
            continue;
        }
        if (t->room.capacity == 0 && !make_room(s, bias, arena, t)) return any;
        if (t->room.added + best.row_count > t->room.capacity) continue;
        const mor_vec3 push = group->checked++ ? mor_v3(0, 0, 0) : impulse_of(s, plane, answer->impulses);
        if (group->choice < 0) group->choice = group->last;
        group->swept = group->swept || passed;
        for (int i = 0; i < best.row_count; i++) add_contact(t, &pair, &best.rows[i], best.planes[0].n, g, answer->nu);
        guess_impulses(t, best.row_count, push);
        any = true;
    }
    return any;
}

/* Impulses of replaced rows are told as those of the first row of the pair's plane. */
static void fold_back(const mor_peg* peg, const mor_peg_trial* t, double* impulses)
{
    const mor_system *s = peg->s, *ext = &t->room.system;
    memcpy(impulses, t->impulses, (size_t)s->row_count * sizeof(double));
    for (int i = 0; i < t->room.added; i++) {
        if (t->group[i] < 0) continue;
        const mor_block* from = &ext->blocks[ext->contacts[s->contact_count + i].block];
        const mor_contact_row* row = &s->contacts[peg->planes[peg->groups[t->group[i]].choice].first];
        const mor_block* to = &s->blocks[row->block];
        const mor_contact_geometry* c = &s->geometry[row - s->contacts];
        mor_vec3 p = mor_v3(0, 0, 0), d[3] = { c->normal, c->t, c->o };
        for (int r = 0; r < from->dim; r++) p = mor_madd(p, t->impulses[from->row + r], t->direction[3 * i + r]);
        for (int r = 0; r < to->dim; r++) impulses[to->row + r] += mor_dot(p, d[r]);
    }
}

mor_report mor_peg_solve(mor_peg* peg, int directions, const double* bias, const bool* keep, mor_peg_trial* t,
                         mor_solve_stage* stage, mor_answer* answer)
{
    const mor_system* s = peg->s;
    size_t mark = mor_arena_mark(stage->arena);
    mor_report report;
    if (t->room.added == 0) {
        report = mor_step_solve(s, directions, bias, keep, stage, answer);
    } else {
        memcpy(t->keep, keep, (size_t)s->block_count * sizeof *t->keep);
        for (int i = 0; i < t->room.added; i++) t->keep[s->block_count + i] = t->group[i] >= 0;
        mor_answer own = { .nu = answer->nu, .impulses = t->impulses };
        memcpy(t->impulses, answer->impulses, (size_t)s->row_count * sizeof(double));
        report = mor_step_solve(&t->room.system, directions, t->bias, t->keep, stage, &own);
        fold_back(peg, t, answer->impulses);
    }
    mor_arena_release(stage->arena, mark);
    mor_peg_speeds(peg, answer->nu);
    return report;
}
