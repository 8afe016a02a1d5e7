/* Smooth motion of one island.
 *
 *     p' = f(q, nu) + G lambda,   phi(q) = 0,   p = M(q) nu
 *
 * Equations (joints, loops, mimics) are rows G' nu = 0; springs and dampers are rows too, g' nu the rate of their
 * coordinate, with force -(k (x - rest) + c x') g. In the solves of implicit integrators a spring is an equation with a
 * body of its own: a row [g', 1] on the trees and on a tree of one velocity and mass gh c + (gh)^2 k, which gives
 * (M + (gh c + gh^2 k) g g') x = r without forming it. (Equations have such
 * trees too, of no compliance, so that all blocks look alike.)
 *
 * Everything goes through W = G' M^-1 G, factored sparsely with redundant rows allowed (equations.c). Accelerations of
 * the rows, d/dt(G') nu, are fourth-order differences of G' nu along the motion: about 1e-12 of |nu|^2. */
#include "step/smooth.h"

#include "base/elementary.h"
#include "formulation/equations.h"
#include "formulation/rows.h"
#include "linalg/dense.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "model/motion.h"

#include <string.h>

double* mor_smooth_vector(const mor_smooth* m, int count)
{
    return mor_arena_zero(m->arena, (size_t)count + 1, sizeof(double));
}

bool mor_smooth_rows_alloc(const mor_smooth* m, mor_smooth_rows* rows)
{
    rows->jacobian = mor_smooth_vector(m, m->coefficients);
    rows->phi = mor_smooth_vector(m, m->row_count);
    return rows->jacobian && rows->phi;
}

static const mor_tree* tree_at(const mor_smooth* m, int t) { return &m->w->trees[m->trees[t]]; }

void mor_smooth_place(mor_smooth* m, const double* q, const double* xi, const double* nu)
{
    for (int t = 0; t < m->tree_count; t++)
        mor_motion_place(m->w, tree_at(m, t), q + m->size_of[t], xi ? xi + m->dof_of[t] : NULL, nu + m->dof_of[t],
                         m->row_count > 0);
}

void mor_smooth_get(const mor_smooth* m, double* q)
{
    for (int t = 0; t < m->tree_count; t++) { /* velocities are what was placed */
        double* nu = m->nu + m->dof_of[t];
        double own[64], *scratch = tree_at(m, t)->dof <= 64 ? own : NULL;
        if (!scratch) scratch = mor_smooth_vector(m, tree_at(m, t)->dof);
        mor_motion_get(m->w, tree_at(m, t), q + m->size_of[t], scratch ? scratch : nu);
    }
}

void mor_smooth_chart(const mor_smooth* m, const double* xi, double* nu)
{
    for (int t = 0; t < m->tree_count; t++) mor_motion_chart(tree_at(m, t), xi + m->dof_of[t], nu + m->dof_of[t]);
}

/* --------------------------------------------------------------------------------------- rows */

/* Coefficients of one row of a joint, added on the entries of its block. */
static void joint_row(const mor_smooth* m, const mor_joint* j, const mor_block* b, int d, const mor_joint_row* row,
                      double* jacobian)
{
    const mor_world* w = m->w;
    for (int side = 0; side < 2; side++) {
        if (j->body[side] < 0 || w->bodies[j->body[side]].tree < 0) continue;
        const mor_body* body = &w->bodies[j->body[side]];
        int e = b->entry;
        while (m->trees[m->entries[e].tree] != body->tree) e++;
        int dof = w->trees[body->tree].dof;
        double own[64], *c = own;
        size_t mark = mor_arena_mark(m->arena);
        if (dof > 64 && !(c = mor_arena_alloc(m->arena, (size_t)dof * sizeof *c))) {
            *m->code = MOR_SYSTEM;
            return;
        }
        mor_joint_coefficients(w, body, row->spin, row->direction, row->point, side ? -1.0 : 1.0, c);
        double* J = jacobian + m->entries[e].start + d * dof;
        for (int k = 0; k < dof; k++) J[k] += c[k];
        mor_arena_release(m->arena, mark);
    }
}

/* The entry of a block on its own tree, the last one. */
static void own_identity(const mor_smooth* m, const mor_block* b, double* jacobian)
{
    double* J = jacobian + m->entries[b->entry + b->entry_count - 1].start;
    for (int d = 0; d < b->dim; d++) J[d * (b->dim + 1)] = 1.0;
}

/* Takes the dependent rows out: no coefficients but their own tree's. */
static void leave_out(const mor_smooth* m, mor_smooth_rows* rows)
{
    for (int i = 0; i < m->equation_blocks; i++) {
        const mor_block* b = &m->blocks[i];
        for (int d = 0; d < b->dim; d++) {
            if (!m->dependent[b->row + d]) continue;
            rows->phi[b->row + d] = 0.0;
            for (int e = b->entry; e < b->entry + b->entry_count - 1; e++) {
                int dof = m->tree_blocks[m->entries[e].tree].dof;
                memset(rows->jacobian + m->entries[e].start + d * dof, 0, (size_t)dof * sizeof(double));
            }
        }
    }
}

void mor_smooth_rows_now(const mor_smooth* m, mor_smooth_rows* rows)
{
    const mor_joint* joints = m->w->joints.data;
    memset(rows->jacobian, 0, (size_t)m->coefficients * sizeof *rows->jacobian);
    for (int i = 0; i < m->block_count; i++) {
        const mor_block* b = &m->blocks[i];
        double* J = rows->jacobian + m->entries[b->entry].start;
        if (m->joint_of[i] < 0) { /* a mimic: s_j - ratio s_k = offset */
            int k = -1 - m->joint_of[i], at = m->mimics[k].joint;
            const mor_robot* r = tree_at(m, m->mimics[k].tree)->robot;
            const mor_link_def* l = &r->model->links[r->model->link_of_joint[at]];
            int offset = r->model->dof - r->model->joint_count;
            J[offset + at] = 1.0;
            J[offset + l->mimic] -= l->mimic_ratio;
            rows->phi[b->row] = r->s[at] - l->mimic_ratio * r->s[l->mimic] - l->mimic_offset;
            own_identity(m, b, rows->jacobian);
            continue;
        }
        const mor_joint* j = &joints[m->joint_of[i]];
        mor_joint_row row[6];
        if (i < m->equation_blocks) {
            int n = mor_joint_equations(m->w, j, row);
            for (int d = 0; d < n; d++) {
                joint_row(m, j, b, d, &row[d], rows->jacobian);
                rows->phi[b->row + d] = row[d].phi;
            }
            own_identity(m, b, rows->jacobian);
        } else if (mor_joint_free_row(m->w, j, row)) {
            joint_row(m, j, b, 0, row, rows->jacobian);
            own_identity(m, b, rows->jacobian);
            rows->phi[b->row] = row->phi - j->def.rest;
        }
    }
    if (m->dependent) leave_out(m, rows);
}

static bool own_tree(const mor_smooth* m, const mor_entry* e) { return e->tree >= m->tree_count; }

void mor_smooth_rates(const mor_smooth* m, const mor_smooth_rows* rows, const double* nu, double* out)
{
    for (int i = 0; i < m->block_count; i++) {
        const mor_block* b = &m->blocks[i];
        for (int d = 0; d < b->dim; d++) out[b->row + d] = 0.0;
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            if (own_tree(m, &m->entries[e])) continue;
            const mor_tree_block* t = &m->tree_blocks[m->entries[e].tree];
            const double *J = rows->jacobian + m->entries[e].start, *v = nu + t->offset;
            for (int d = 0; d < b->dim; d++, J += t->dof)
                for (int k = 0; k < t->dof; k++) out[b->row + d] += J[k] * v[k];
        }
    }
}

/* f += G x over blocks first ... last - 1. */
static void add_blocks(const mor_smooth* m, const double* C, int first, int last, const double* x, double* f)
{
    for (int i = first; i < last; i++) {
        const mor_block* b = &m->blocks[i];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            if (own_tree(m, &m->entries[e])) continue;
            const mor_tree_block* t = &m->tree_blocks[m->entries[e].tree];
            const double* J = C + m->entries[e].start;
            double* v = f + t->offset;
            for (int d = 0; d < b->dim; d++, J += t->dof)
                for (int k = 0; k < t->dof; k++) v[k] += J[k] * x[b->row + d];
        }
    }
}

void mor_smooth_add(const mor_smooth* m, const mor_smooth_rows* rows, const double* x, double* f)
{
    add_blocks(m, rows->jacobian, 0, m->equation_blocks, x, f);
}

/* Forces of springs and dampers, by row. */
static void spring_forces(const mor_smooth* m, const mor_smooth_rows* rows, const double* nu, double* out)
{
    const mor_joint* joints = m->w->joints.data;
    mor_smooth_rates(m, rows, nu, out);
    for (int i = m->equation_blocks; i < m->block_count; i++) {
        const mor_joint_def* d = &joints[m->joint_of[i]].def;
        int row = m->blocks[i].row;
        out[row] = -(d->stiffness * rows->phi[row] + d->damping * out[row]);
    }
}

void mor_smooth_momentum(const mor_smooth* m, const mor_smooth_rows* rows, const double* nu, double* p, double* f)
{
    for (int t = 0; t < m->tree_count; t++)
        mor_motion_momentum(m->w, tree_at(m, t), p + m->dof_of[t], f + m->dof_of[t]);
    if (!rows || m->block_count == m->equation_blocks) return;
    size_t mark = mor_arena_mark(m->arena);
    double* x = mor_smooth_vector(m, m->row_count);
    if (x) {
        spring_forces(m, rows, nu, x);
        add_blocks(m, rows->jacobian, m->equation_blocks, m->block_count, x, f);
    } else {
        *m->code = MOR_SYSTEM;
    }
    mor_arena_release(m->arena, mark);
}

/* ------------------------------------------------------------------------------------- solves */

/* M^-1 of every row, and the compliance of its own tree: of springs 1/(gh c + gh^2 k). */
static void respond(const mor_smooth* m, const mor_smooth_rows* rows, double gh, double* response)
{
    const mor_joint* joints = m->w->joints.data;
    for (int i = 0; i < m->block_count; i++) {
        const mor_block* b = &m->blocks[i];
        for (int e = b->entry; e < b->entry + b->entry_count - 1; e++) {
            const mor_entry* entry = &m->entries[e];
            int dof = m->tree_blocks[entry->tree].dof;
            for (int d = 0; d < b->dim; d++)
                mor_motion_solve(m->w, tree_at(m, entry->tree), rows->jacobian + entry->start + d * dof,
                                 response + entry->start + d * dof);
        }
        double* own = response + m->entries[b->entry + b->entry_count - 1].start;
        double compliance = 0.0;
        if (i >= m->equation_blocks) {
            const mor_joint_def* d = &joints[m->joint_of[i]].def;
            compliance = 1.0 / (gh * d->damping + gh * gh * d->stiffness);
        }
        for (int k = 0; k < b->dim * b->dim; k++) own[k] = k % (b->dim + 1) == 0 ? compliance : 0.0;
        for (int d = 0; m->dependent && i < m->equation_blocks && d < b->dim; d++)
            if (m->dependent[b->row + d]) own[d * (b->dim + 1)] = 1.0; /* no impulse */
    }
}

/* x += M^-1 G y with G' x = s, given the factors and x = M^-1 r; gh = 0: springs take no part. */
static bool constrain(mor_smooth* m, const mor_smooth_rows* rows, double gh, const double* s, double* x, double* y,
                      double* keep)
{
    int blocks = gh > 0.0 ? m->block_count : m->equation_blocks, count = gh > 0.0 ? m->row_count : m->equation_count;
    for (int i = 0; y && i < m->equation_count; i++) y[i] = 0.0;
    if (blocks == 0) return true;
    size_t mark = mor_arena_mark(m->arena);
    double* response = keep ? keep : mor_smooth_vector(m, m->coefficients);
    double* rhs = mor_smooth_vector(m, m->row_count);
    double* z = mor_smooth_vector(m, m->row_count);
    bool ok = response && rhs && z;
    if (ok) {
        respond(m, rows, gh > 0.0 ? gh : 1.0, response);
        mor_step_form form = { .tree_count = m->tree_count + m->block_count,
                               .dof = m->dof + m->row_count,
                               .trees = m->tree_blocks,
                               .block_count = blocks,
                               .row_count = count,
                               .blocks = m->blocks,
                               .entries = m->entries,
                               .jacobian = rows->jacobian,
                               .response = response };
        mor_smooth_rates(m, rows, x, rhs);
        for (int i = 0; i < m->row_count; i++) rhs[i] = (s && i < m->equation_count ? s[i] : 0.0) - rhs[i];
        for (int i = 0; m->dependent && i < m->equation_count; i++)
            if (m->dependent[i]) rhs[i] = 0.0;
        ok = mor_equations_solve(&form, rhs, z, m->arena);
        if (ok) add_blocks(m, response, 0, blocks, z, x);
        for (int i = 0; ok && y && i < m->equation_count; i++) y[i] = z[i];
    } else {
        *m->code = MOR_SYSTEM;
    }
    mor_arena_release(m->arena, mark);
    return ok;
}

static bool all_finite(const double* x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i];
    return isfinite(sum);
}

bool mor_smooth_solve(mor_smooth* m, const mor_smooth_rows* rows, double gh, const double* r, const double* s,
                      double* x, double* y)
{
    if (!all_finite(r, m->dof)) return false;
    for (int t = 0; t < m->tree_count; t++) {
        if (!mor_motion_factor(m->w, tree_at(m, t), gh)) return false;
        mor_motion_solve(m->w, tree_at(m, t), r + m->dof_of[t], x + m->dof_of[t]);
    }
    return constrain(m, rows, gh, s, x, y, NULL) && all_finite(x, m->dof);
}

enum { MOST_ROWS = 96 };

bool mor_smooth_find_dependent(mor_smooth* m)
{
    int n = m->equation_count;
    m->dependent = NULL;
    if (n < 2 || n > MOST_ROWS) return true;
    bool* dependent = mor_arena_zero(m->arena, (size_t)n, sizeof *dependent);
    size_t mark = mor_arena_mark(m->arena);
    mor_smooth_rows rows = { 0 };
    double *W = mor_smooth_vector(m, n * n), *work = mor_smooth_vector(m, n),
           *response = mor_smooth_vector(m, m->coefficients), *x = mor_smooth_vector(m, m->dof);
    double* unit = mor_smooth_vector(m, m->row_count);
    int* order = mor_arena_alloc(m->arena, (size_t)n * sizeof *order);
    bool ok = dependent && W && work && response && x && unit && order && mor_smooth_rows_alloc(m, &rows);
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok) {
        mor_smooth_place(m, m->q, NULL, m->nu);
        mor_smooth_rows_now(m, &rows);
        for (int t = 0; t < m->tree_count && ok; t++) ok = mor_motion_factor(m->w, tree_at(m, t), 0.0);
    }
    if (ok) {
        respond(m, &rows, 1.0, response);
        for (int j = 0; j < n; j++) { /* column j of W = G' M^-1 G */
            unit[j] = 1.0;
            memset(x, 0, (size_t)m->dof * sizeof *x);
            add_blocks(m, response, 0, m->equation_blocks, unit, x);
            unit[j] = 0.0;
            mor_smooth_rates(m, &rows, x, work);
            memcpy(W + j * n, work, (size_t)n * sizeof *W);
        }
        for (int j = 0; j < n; j++) unit[j] = W[j * n + j] > 0.0 ? 1.0 / sqrt(W[j * n + j]) : 0.0;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) W[j * n + i] *= unit[i] * unit[j];
        int rank = mor_semidefinite_factor(n, W, order, 1e-11, NULL, work);
        for (int k = rank; k < n; k++) dependent[order[k]] = true;
        if (rank < n) m->dependent = dependent;
    }
    mor_arena_release(m->arena, mark);
    return ok;
}

bool mor_smooth_rate(mor_smooth* m, const mor_smooth_rows* rows, const double* nu, const double* lambda, double* rate)
{
    size_t mark = mor_arena_mark(m->arena);
    double *x = mor_smooth_vector(m, m->row_count), *f = mor_smooth_vector(m, m->dof),
           *p = mor_smooth_vector(m, m->dof);
    bool ok = x && f && p;
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok && m->row_count) {
        spring_forces(m, rows, nu, x);
        memcpy(x, lambda, (size_t)m->equation_count * sizeof *x);
        add_blocks(m, rows->jacobian, 0, m->block_count, x, f);
    }
    for (int t = 0; t < m->tree_count && ok; t++) {
        const mor_tree* tree = tree_at(m, t);
        double* out = rate + m->dof_of[t];
        if (tree->body >= 0) mor_motion_momentum(m->w, tree, p, out);
        else if (!(ok = mor_motion_accelerate(m->w, tree, out))) break;
        else if (m->row_count) mor_motion_solve(m->w, tree, f + m->dof_of[t], f + m->dof_of[t]);
        for (int k = 0; m->row_count && k < tree->dof; k++) out[k] += f[m->dof_of[t] + k];
    }
    mor_arena_release(m->arena, mark);
    return ok && all_finite(rate, m->dof);
}

bool mor_smooth_correct(mor_smooth* m, const mor_smooth_rows* rows, double gh, const double* y, const double* nu,
                        const double* s, double* x, double* z, double* response)
{
    size_t mark = mor_arena_mark(m->arena);
    double *r = m->damped ? mor_smooth_vector(m, m->dof) : NULL, *f = m->damped ? mor_smooth_vector(m, m->dof) : NULL;
    bool ok = !m->damped || (r && f);
    if (!ok) *m->code = MOR_SYSTEM;
    for (int t = 0; t < m->tree_count && ok; t++) {
        const mor_tree* tree = tree_at(m, t);
        int at = m->dof_of[t];
        if (tree->body >= 0) mor_motion_solve(m->w, tree, y + at, x + at);
        else memcpy(x + at, y + at, (size_t)tree->dof * sizeof *x);
        for (int k = at; k < at + tree->dof; k++) x[k] -= nu[k];
        if (tree->body >= 0 || !m->damped) continue;
        mor_robot* robot = tree->robot; /* (M + gh D)^-1 M x */
        mor_robot_update(robot->model, robot->work, &robot->base, robot->s, x + at);
        memcpy(robot->nu, x + at, (size_t)tree->dof * sizeof *x);
        mor_motion_momentum(m->w, tree, r, f);
        memcpy(robot->nu, nu + at, (size_t)tree->dof * sizeof *x);
        ok = mor_motion_factor(m->w, tree, gh);
        if (ok) mor_motion_solve(m->w, tree, r, x + at);
    }
    ok = ok && constrain(m, rows, gh, s, x, z, response) && all_finite(x, m->dof);
    mor_arena_release(m->arena, mark);
    return ok;
}

void mor_smooth_rate_add(const mor_smooth* m, const mor_smooth_rows* rows, const double* response, const double* lambda,
                         double* rate)
{
    for (int i = 0; i < m->equation_blocks; i++) {
        const mor_block* b = &m->blocks[i];
        for (int e = b->entry; e < b->entry + b->entry_count - 1; e++) {
            const mor_tree_block* t = &m->tree_blocks[m->entries[e].tree];
            const double* C =
                (tree_at(m, m->entries[e].tree)->body >= 0 ? rows->jacobian : response) + m->entries[e].start;
            for (int d = 0; d < b->dim; d++, C += t->dof)
                for (int k = 0; k < t->dof; k++) rate[t->offset + k] += C[k] * lambda[b->row + d];
        }
    }
}

/* d/dt(G') nu by fourth-order central differences along q (+) t nu. */
static void row_bias(mor_smooth* m, const double* q, const double* nu, mor_smooth_rows* rows, double* out)
{
    double fastest = 1.0;
    for (int i = 0; i < m->dof; i++) fastest = mor_max(fastest, fabs(nu[i]));
    double e = 1e-3 / fastest;
    static const double at[4] = { -2, -1, 1, 2 }, weight[4] = { 1, -8, 8, -1 };
    double* xi = mor_smooth_vector(m, m->dof);
    double* rate = mor_smooth_vector(m, m->row_count);
    if (!xi || !rate) {
        *m->code = MOR_SYSTEM;
        return;
    }
    for (int i = 0; i < m->equation_count; i++) out[i] = 0.0;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < m->dof; i++) xi[i] = at[k] * e * nu[i];
        mor_smooth_place(m, q, xi, nu);
        mor_smooth_rows_now(m, rows);
        mor_smooth_rates(m, rows, nu, rate);
        for (int i = 0; i < m->equation_count; i++) out[i] += weight[k] * rate[i] / (12.0 * e);
    }
}

bool mor_smooth_accelerate(mor_smooth* m, const double* q, const double* xi, const double* nu, double* a,
                           double* lambda)
{
    size_t mark = mor_arena_mark(m->arena);
    mor_smooth_rows rows = { 0 };
    double *here = mor_smooth_vector(m, m->size), *bias = mor_smooth_vector(m, m->row_count),
           *x = mor_smooth_vector(m, m->row_count);
    double *r = mor_smooth_vector(m, m->dof), *y = mor_smooth_vector(m, m->dof);
    bool ok = here && bias && x && r && y && mor_smooth_rows_alloc(m, &rows);
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok) {
        mor_smooth_place(m, q, xi, nu);
        if (m->row_count) mor_smooth_get(m, here);
        if (m->equation_count) {
            row_bias(m, here, nu, &rows, bias);
            mor_smooth_place(m, here, NULL, nu);
        }
        for (int i = 0; i < m->equation_count; i++) bias[i] = -bias[i];
        for (int t = 0; t < m->tree_count && ok; t++) ok = mor_motion_accelerate(m->w, tree_at(m, t), a + m->dof_of[t]);
    }
    if (ok && m->row_count) {
        mor_smooth_rows_now(m, &rows);
        spring_forces(m, &rows, nu, x);
        add_blocks(m, rows.jacobian, m->equation_blocks, m->block_count, x, r);
        for (int t = 0; t < m->tree_count; t++) {
            mor_motion_solve(m->w, tree_at(m, t), r + m->dof_of[t], y + m->dof_of[t]);
            for (int k = m->dof_of[t]; k < m->dof_of[t] + tree_at(m, t)->dof; k++) a[k] += y[k];
        }
        ok = constrain(m, &rows, 0.0, bias, a, lambda, NULL);
    }
    ok = ok && all_finite(a, m->dof);
    mor_arena_release(m->arena, mark);
    return ok;
}

/* ---------------------------------------------------------------------------------- projection */

enum { ROUNDS = 12 };

static double largest_of(const double* x, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= largest)) largest = fabs(x[i]);
    return largest;
}

bool mor_smooth_project(mor_smooth* m, double* q, double* nu)
{
    if (m->equation_count == 0) return true;
    size_t mark = mor_arena_mark(m->arena);
    mor_smooth_rows rows = { 0 };
    double *zero = mor_smooth_vector(m, m->dof), *xi = mor_smooth_vector(m, m->dof),
           *s = mor_smooth_vector(m, m->row_count);
    bool ok = zero && xi && s && mor_smooth_rows_alloc(m, &rows);
    if (!ok) *m->code = MOR_SYSTEM;
    double before = INFINITY;
    for (int round = 0; ok && round < ROUNDS; round++) {
        mor_smooth_place(m, q, NULL, nu);
        mor_smooth_rows_now(m, &rows);
        double size = largest_of(rows.phi, m->equation_count);
        if (size <= 1e-14 || (round > 0 && size > 0.5 * before)) {
            ok = size < 1e-8; /* where it stalls: rounding, or lost */
            break;
        }
        before = size;
        for (int i = 0; i < m->equation_count; i++) s[i] = -rows.phi[i];
        if (!(ok = mor_smooth_solve(m, &rows, 0.0, zero, s, xi, NULL))) break;
        mor_smooth_place(m, q, xi, nu);
        mor_smooth_get(m, q);
    }
    for (int round = 0; ok && round < 2; round++) {
        if (round == 0) {
            mor_smooth_place(m, q, NULL, nu);
            mor_smooth_rows_now(m, &rows);
        }
        mor_smooth_rates(m, &rows, nu, s);
        for (int i = 0; i < m->equation_count; i++) s[i] = -s[i];
        if (largest_of(s, m->equation_count) == 0.0) break;
        if (!(ok = mor_smooth_solve(m, &rows, 0.0, zero, s, xi, NULL))) break;
        for (int i = 0; i < m->dof; i++) nu[i] += xi[i];
    }
    mor_arena_release(m->arena, mark);
    return ok;
}

bool mor_smooth_finish(mor_smooth* m, const double* xi, const double* y, int kind, const double* impulse)
{
    m->dependent = NULL; /* the end is put on all equations */
    size_t mark = mor_arena_mark(m->arena);
    double *q = mor_smooth_vector(m, m->size), *v = mor_smooth_vector(m, m->dof);
    bool ok = q && v;
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok) {
        mor_smooth_place(m, m->q, xi, kind == MOR_END_VELOCITY ? y : m->nu);
        mor_smooth_get(m, q);
        for (int t = 0; t < m->tree_count && ok; t++) {
            const mor_tree* tree = tree_at(m, t);
            int at = m->dof_of[t];
            if (kind == MOR_END_VELOCITY || (kind == MOR_END_MIXED && tree->body < 0))
                memcpy(v + at, y + at, (size_t)tree->dof * sizeof *v);
            else if ((ok = mor_motion_factor(m->w, tree, 0.0))) mor_motion_solve(m->w, tree, y + at, v + at);
        }
        ok = ok && all_finite(v, m->dof) && all_finite(q, m->size) && mor_smooth_project(m, q, v) &&
             all_finite(v, m->dof) && all_finite(q, m->size);
    }
    if (ok) {
        memcpy(m->q, q, (size_t)m->size * sizeof *q);
        memcpy(m->nu, v, (size_t)m->dof * sizeof *v);
        for (int i = 0; i < m->dof; i++) m->path[i] += xi[i];
        for (int i = 0; impulse && i < m->equation_count; i++) m->impulse[i] += impulse[i];
    }
    mor_arena_release(m->arena, mark);
    return ok;
}
