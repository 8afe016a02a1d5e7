/* Collecting the rows of joints.
 *
 *     equations      G_b' nu+ + gamma phi/h + d(phi)/dt = 0           every joint; gamma 1 impulse, `gain` Baumgarte,
 *     else 0;
 *                                                                     every mimic, gamma 1
 *     limits         0 <= p _|_ +-q' + (distance to the limit)/h >= 0   those that could be reached in this step
 *     motors         q' = speed, |p| <= h force
 *     dry friction   q' = 0,     |p| <= h force
 *
 * A spring and damper on a joint coordinate q is a row with a compliance, q'+ + p/mu + B = 0 (springs.c says when it
 * acts). Problems have none; but a tree of one velocity u with the mass mu, on which p acts too, makes the same
 * equation, q'+ + u = -B. So every formulation and solver takes springs implicitly, together with all other rows, for
 * any stiffness (model/tree.c: `spring`). Damping of robots' joints is in their mass block. */
#include "formulation/rows.h"

#include "base/arena.h"
#include "base/elementary.h"
#include "formulation/assemble.h"
#include "linalg/rows.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "model/stored.h"

#include <string.h>

/* Corrections of joints fade: what redundant rows cannot agree on would pile up. */
#define FADING 0.9

typedef struct collector {
    mor_step* step;
    mor_world* w; /* the step's draft */
    mor_row_block* blocks;
    int count, room;
    bool failed;
} collector;

/* `bare`: somebody writes all coefficients; else they are 0. */
static mor_row_block* begin(collector* c, mor_block_kind kind, int dim, int tree_a, int tree_b, int tree_c, bool bare)
{
    if (c->count == c->room) {
        c->failed = true;
        return NULL;
    }
    mor_row_block* b = &c->blocks[c->count++];
    *b = (mor_row_block){ .kind = kind, .dim = dim, .tree = { tree_a, tree_b, tree_c }, .joint = -1, .gap = NAN };
    for (int i = 0; i < 3; i++) {
        if (b->tree[i] < 0) continue;
        const size_t bytes = (size_t)(dim * c->w->trees[b->tree[i]].dof) * sizeof(double);
        b->J[i] = mor_arena_take(c->step->arena, bytes);
        if (!b->J[i]) {
            c->failed = true;
            c->count--;
            return NULL;
        }
        if (!bare) memset(b->J[i], 0, bytes);
    }
    return b;
}

void mor_tree_response(const mor_step* step, int tree, const double* c, double* out)
{
    const mor_tree* t = &step->w->trees[tree];
    if (t->kind->respond) {
        t->kind->respond(t, c, out);
        return;
    }
    const double* inverse = step->mass_inverse + step->mass_start[tree];
    if (t->kind == &mor_tree_free) {
        mor_tree_responses(step, tree, 1, c, out);
        return;
    }
    for (int j = 0; j < t->dof; j++) {
        double sum = 0.0;
        for (int i = 0; i < t->dof; i++) sum += c[i] * inverse[i * t->dof + j];
        out[j] = sum;
    }
}

/* Of a free body: diag(1/m, I^-1), I symmetric. */
MOR_ALWAYS_INLINE void free_responses_body(const double* inverse, int count, const double* c, double* out)
{
    const double *I = inverse + 21, m = inverse[0];
    const mor_four a = { I[0], I[1], I[2], 0.0 }, b = { I[6], I[7], I[8], 0.0 }, e = { I[12], I[13], I[14], 0.0 };
    const mor_two mass = { m, m };
    for (int d = 0; d < count; d++, c += 6, out += 6) {
        const double x = c[3], y = c[4], z = c[5];
        const mor_four turn =
            (mor_four){ x, x, x, x } * a + (mor_four){ y, y, y, y } * b + (mor_four){ z, z, z, z } * e;
        const mor_two move = MOR_TWO_AT(c) * mass;
        out[2] = c[2] * m;
        MOR_TWO_TO(out) = move;
        MOR_TWO_TO(out + 3) = __builtin_shufflevector(turn, turn, 0, 1);
        out[5] = turn[2];
    }
}

MOR_WIDE_VOID(static, free_responses, (const double* inverse, int count, const double* c, double* out),
              (inverse, count, c, out))

void mor_tree_responses(const mor_step* step, int tree, int count, const double* c, double* out)
{
    const mor_tree* t = &step->w->trees[tree];
    if (t->kind != &mor_tree_free) {
        for (int d = 0; d < count; d++) mor_tree_response(step, tree, c + d * t->dof, out + d * t->dof);
        return;
    }
    free_responses(step->mass_inverse + step->mass_start[tree], count, c, out);
}

void mor_joint_coefficients(const mor_world* w, const mor_body* b, bool spin, mor_vec3 direction, mor_vec3 point,
                            double sign, double* c)
{
    const mor_tree* t = &w->trees[b->tree];
    if (spin) t->kind->spin(t, b, direction, sign, c);
    else t->kind->row(t, b, mor_sub(point, b->x), direction, sign, c);
}

/* ----------------------------------------------------------------------------------- robots */

/* One row on one joint coordinate. */
static mor_row_block* coordinate_row(collector* c, const mor_robot* r, mor_block_kind kind, int dof, double sign)
{
    mor_row_block* b = begin(c, kind, 1, r->tree, -1, -1, false);
    if (b) b->J[0][dof] = sign;
    return b;
}

/* How fast the rows take back what a limit is exceeded by [rad/s, m/s]. What a projection has left, because contacts or
 * other limits are in the way, stays: rows that ask for it contradict them. */
static double limit_recovery(const mor_world* w, double gap)
{
    bool jammed = w->options.gap_correction == MOR_GAP_PROJECTION && -gap > MOR_PROJECTED_LIMIT;
    return jammed ? 0.0 : mor_recovery(w, 1.0);
}

static void robot_rows(collector* c, mor_robot* r)
{
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    double h = c->w->h;
    const double* free = c->step->nu_free + c->w->trees[r->tree].offset;
    for (int j = 0; j < m->joint_count; j++) {
        const mor_link_def* l = &m->links[m->link_of_joint[j]];
        double* memory = r->memory + 3 * j;
        double fast = 2.0 * (fabs(r->nu[offset + j]) + fabs(free[offset + j])) * h; /* what the step could reach */
        double near = mor_max(fast, l->type == MOR_PRISMATIC ? 1e-3 : 1e-2);
        for (int side = 0; side < 2 && !c->step->equations; side++) {
            double gap = side ? l->upper - r->s[j] : r->s[j] - l->lower;
            mor_row_block* b =
                r->limits && gap < near ? coordinate_row(c, r, MOR_BLOCK_BOUNDED, offset + j, side ? -1.0 : 1.0) : NULL;
            if (!b) {
                memory[side] = 0.0;
                continue;
            }
            b->lower = 0.0;
            b->upper = INFINITY;
            b->bias[0] = mor_max(gap / h, -limit_recovery(c->w, gap));
            b->gap = gap;
            b->memory = memory + side;
        }
        double dry = (r->friction ? l->friction : 0.0) + r->coulomb[j];
        if (dry > 0.0 && !c->step->equations) {
            mor_row_block* b = coordinate_row(c, r, MOR_BLOCK_BOUNDED, offset + j, 1.0);
            if (!b) return;
            b->lower = -h * dry;
            b->upper = h * dry;
            b->memory = memory + 2;
        }
        if (r->mimic && l->mimic >= 0) {
            mor_row_block* b = coordinate_row(c, r, MOR_BLOCK_EQUATION, offset + j, 1.0);
            if (!b) return;
            b->J[0][offset + l->mimic] -= l->mimic_ratio;
            b->phi[0] = r->s[j] - l->mimic_ratio * r->s[l->mimic] - l->mimic_offset;
            b->bias[0] = b->phi[0] / h;
        }
    }
}

/* ----------------------------------------------------------------------------------- joints */

/* Adds body 0 minus body 1 to a row: coefficients on trees, the motion of kinematic bodies to the bias. */
static void fill(collector* from, const mor_joint* j, mor_row_block* b, int at, const mor_joint_row* row)
{
    const mor_world* w = from->w;
    for (int side = 0; side < 2; side++) {
        if (j->body[side] < 0) continue;
        const mor_body* body = &w->bodies[j->body[side]];
        double sign = side ? -1.0 : 1.0;
        if (body->tree < 0) {
            mor_vec3 v = row->spin ? body->w : mor_body_point_velocity(body, row->point);
            b->bias[at] += sign * mor_dot(row->direction, v);
            continue;
        }
        int k = b->tree[0] == body->tree ? 0 : 1, dof = w->trees[body->tree].dof;
        double c[64], *own = c, *into = b->J[k] + at * dof;
        if (side == 0 || k == 1) { /* the first on this tree */
            mor_joint_coefficients(w, body, row->spin, row->direction, row->point, sign, into);
            continue;
        }
        if (dof > 64 && !(own = mor_arena_take(from->step->arena, (size_t)dof * sizeof *own))) {
            from->failed = true;
            return;
        }
        mor_joint_coefficients(w, body, row->spin, row->direction, row->point, sign, own);
        for (int d = 0; d < dof; d++) into[d] += own[d];
    }
}

/* Rows of a joint on one free body at x: dim x 6 into c. Adds the squares of the rows to size. */
MOR_ALWAYS_INLINE void free_side_body(int n, const mor_joint_row* rows, mor_vec3 x, double sign, double* c,
                                      double* size)
{
    const mor_four here = { x.x, x.y, x.z, 0.0 }, s = { sign, sign, sign, sign }, none = { 0.0, 0.0, 0.0, 0.0 };
    for (int k = 0; k < n; k++, c += 6) {
        const mor_vec3 u = rows[k].direction, p = rows[k].point;
        const mor_four d = s * (mor_four){ u.x, u.y, u.z, 0.0 };
        mor_four move = none, turn = d;
        if (!rows[k].spin) {
            const mor_four r = (mor_four){ p.x, p.y, p.z, 0.0 } - here;
            move = d;
            turn = __builtin_shufflevector(r, r, 1, 2, 0, 3) * __builtin_shufflevector(d, d, 2, 0, 1, 3) -
                   __builtin_shufflevector(r, r, 2, 0, 1, 3) * __builtin_shufflevector(d, d, 1, 2, 0, 3);
        }
        MOR_TWO_TO(c) = __builtin_shufflevector(move, move, 0, 1);
        c[2] = move[2];
        MOR_TWO_TO(c + 3) = __builtin_shufflevector(turn, turn, 0, 1);
        c[5] = turn[2];
        const mor_four squares = move * move + turn * turn;
        size[k] += squares[0] + squares[1] + squares[2];
    }
}

MOR_WIDE_VOID(static, free_side, (int n, const mor_joint_row* rows, mor_vec3 x, double sign, double* c, double* size),
              (n, rows, x, sign, c, size))

/* Is the joint between free bodies, or one and the world? */
static bool joins_free_bodies(const mor_world* w, const mor_joint* j)
{
    for (int side = 0; side < 2; side++) {
        int tree = j->body[side] < 0 ? -1 : w->bodies[j->body[side]].tree;
        if (j->body[side] >= 0 && (tree < 0 || w->trees[tree].kind != &mor_tree_free)) return false;
    }
    return true;
}

/* All rows at once of such a joint, as most are. True: none of them is to be left out. */
static bool fill_free(const mor_world* w, const mor_joint* j, mor_row_block* b, int n, const mor_joint_row* rows)
{
    const mor_joint_look* look = &j->look;
    double size[6] = { 0 }, least = INFINITY, largest = 0.0;
    if (look->filled && n == look->count) { /* the velocities of the last step were fitted to the same rows */
        for (int side = 0, at = 0; side < 2; side++)
            if (j->body[side] >= 0) memcpy(b->J[at++], look->J[side], 6 * (size_t)n * sizeof(double));
        return true;
    }
    for (int side = 0, at = 0; side < 2; side++)
        if (j->body[side] >= 0) free_side(n, rows, w->bodies[j->body[side]].x, side ? -1.0 : 1.0, b->J[at++], size);
    for (int k = 0; k < n; k++) least = mor_min(least, size[k]), largest = mor_max(largest, size[k]);
    return least > 2.0 * MOR_ROW_NULL * MOR_ROW_NULL * largest;
}

/* A block on the bodies of a joint, and on one more tree unless it is -1. */
static mor_row_block* joint_block(collector* c, const mor_joint* j, mor_block_kind kind, int dim, int more, bool bare)
{
    int tree[3] = { -1, -1, -1 }, n = 0;
    for (int side = 0; side < 2; side++) {
        int t = j->body[side] < 0 ? -1 : c->w->bodies[j->body[side]].tree;
        if (t >= 0 && !(n == 1 && tree[0] == t)) tree[n++] = t;
    }
    if (more >= 0) tree[n] = more;
    return begin(c, kind, dim, tree[0], tree[1], tree[2], bare);
}

static void free_rows(collector* c, mor_joint* j)
{
    mor_joint_row row;
    if (c->step->equations || !mor_joint_free_row_kept(c->w, j, &row)) return;
    j->coordinate = row.phi;
    const mor_joint_def* d = &j->def;
    double h = c->w->h, near = 0.05; /* m or rad: far more than a step of a moving part covers */
    const double gap[2] = { row.phi - d->lower, d->upper - row.phi };
    for (int side = 0; side < 2; side++) {
        if (!isfinite(gap[side]) || gap[side] > near) continue;
        mor_row_block* b = joint_block(c, j, MOR_BLOCK_BOUNDED, 1, -1, false);
        if (!b) return;
        mor_joint_row turned = row;
        if (side) turned.direction = mor_neg(row.direction);
        fill(c, j, b, 0, &turned);
        b->lower = 0.0;
        b->upper = INFINITY;
        b->drift[0] = b->bias[0];
        b->bias[0] += mor_max(gap[side] / h, -limit_recovery(c->w, gap[side]));
        b->gap = gap[side];
        b->memory = &j->memory[6];
    }
    for (int what = 0; what < 2; what++) {
        double force = what ? d->friction : d->motor ? d->motor_force : 0.0;
        if (!(force > 0.0)) continue;
        mor_row_block* b = joint_block(c, j, MOR_BLOCK_BOUNDED, 1, -1, false);
        if (!b) return;
        fill(c, j, b, 0, &row);
        b->lower = -h * force;
        b->upper = h * force;
        if (!what) b->bias[0] -= d->motor_speed;
        b->memory = &j->memory[7 + what];
    }
    if (j->spring < 0) return;
    mor_row_block* b = joint_block(c, j, MOR_BLOCK_BOUNDED, 1, j->spring, false);
    if (!b) return;
    fill(c, j, b, 0, &row);
    for (int i = 1; i < 3; i++)
        if (b->tree[i] == j->spring) b->J[i][0] = 1.0;
    b->lower = -INFINITY;
    b->upper = INFINITY;
    b->drift[0] = b->bias[0];
    b->phi[0] = row.phi - d->rest; /* the bias follows when the island is known (springs.c) */
    b->memory = &j->memory[9];
}

/* Takes the rows out of a joint's equations that nothing can move in, as those across the plane of a planar loop: their
 * coefficients are rounding, and nothing but impulses without end would come of them. */
static void leave_out(const mor_world* w, mor_row_block* b)
{
    double size[6] = { 0 }, largest = 0.0;
    for (int k = 0; k < b->dim; k++) {
        for (int i = 0; i < 3 && b->tree[i] >= 0; i++) {
            const double* J = b->J[i] + k * w->trees[b->tree[i]].dof;
            size[k] += mor_inner(w->trees[b->tree[i]].dof, J, J);
        }
        largest = mor_max(largest, size[k]);
    }
    int dim = 0;
    for (int k = 0; k < b->dim; k++) {
        if (!(size[k] > MOR_ROW_NULL * MOR_ROW_NULL * largest)) continue;
        for (int i = 0; i < 3 && b->tree[i] >= 0 && dim < k; i++) {
            int dof = w->trees[b->tree[i]].dof;
            memcpy(b->J[i] + dim * dof, b->J[i] + k * dof, (size_t)dof * sizeof(double));
        }
        b->bias[dim] = b->bias[k];
        b->phi[dim] = b->phi[k];
        b->drift[dim] = b->drift[k];
        b->predicted[dim] = b->predicted[k];
        b->of[dim++] = k;
    }
    b->dim = dim;
}

/* A world made from a frame: rows and, where springs acted, free velocities as they were. */
static void stored_rows(const mor_step* step, mor_row_block** blocks, int* count)
{
    const mor_world* w = step->w;
    *blocks = w->stored->rows;
    *count = w->stored->row_count;
    for (int i = 0; w->stored->nu_free && i < step->dof; i++)
        if (!isnan(w->stored->nu_free[i])) step->nu_new[i] = w->stored->nu_free[i];
}

bool mor_collect_rows(mor_step* step, mor_row_block** blocks, int* count)
{
    mor_world* w = step->w;
    if (w->stored) {
        stored_rows(step, blocks, count);
        return true;
    }
    int room = 0;
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->robot_count; i++) room += 4 * w->robots[i]->model->joint_count;
    room += 7 * w->joints.count;
    *blocks = NULL;
    *count = 0;
    if (room == 0) return true;
    collector c = { .step = step, .w = w, .room = room };
    c.blocks = mor_arena_take(step->arena, (size_t)room * sizeof *c.blocks);
    if (!c.blocks) return false;
    for (int i = 0; i < w->robot_count; i++) robot_rows(&c, w->robots[i]);
    int how = w->options.stabilisation;
    double gamma = how == MOR_STABILISE_IMPULSE ? 1.0 : how == MOR_STABILISE_BAUMGARTE ? w->options.gain : 0.0;
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint_row* rows;
        int n = mor_joint_equations_kept(w, &joints[i], &rows);
        if (n == 0) { /* a free joint, or a spring between two points */
            free_rows(&c, &joints[i]);
            continue;
        }
        const bool free = joins_free_bodies(w, &joints[i]);
        mor_row_block* b = joint_block(&c, &joints[i], MOR_BLOCK_EQUATION, n, -1, free);
        if (!b) break;
        b->joint = i;
        const bool whole = free && fill_free(w, &joints[i], b, n, rows);
        for (int k = 0; k < n; k++) {
            if (!free) fill(&c, &joints[i], b, k, &rows[k]);
            b->phi[k] = rows[k].phi;
            b->drift[k] = b->bias[k];
            b->predicted[k] = how == MOR_STABILISE_IMPULSE ? FADING * joints[i].correction[k] : 0.0;
            b->bias[k] += gamma * rows[k].phi / w->h + b->predicted[k];
            b->of[k] = k;
        }
        b->memory = joints[i].memory;
        if (!whole) leave_out(w, b);
        if (b->dim == 0) c.count--;
        free_rows(&c, &joints[i]);
    }
    *blocks = c.blocks;
    *count = c.count;
    return !c.failed;
}
