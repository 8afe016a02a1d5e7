/* Touch-down: the velocity jumps. Impact of the touching points, in impulses F at the velocity nu-:
 *
 *   stick       all contact rows come to rest: nu+ = (I - M^-1 G (G'M^-1 G)^+ G') nu-, pulling and beyond any friction
 *   cone if need be
 *   qp          minimise F'HF/2 + F'g over the friction pyramids, g = G' nu-                     (the paper's eq. 24
 *   with nu-) two-phase   I:  minimise over F_n >= 0 alone; K = sum F_n
 *               II: minimise over the pyramids with H_n F + g_n >= 0 (no point approaches) and sum F_n <= 1.0001 K
 *
 * F'HF/2 + F'g is the change of kinetic energy. In `qp` F = 0 is allowed, in phase II the answer of phase I is, whose
 * change is not positive: so neither can gain energy, whatever mu, and neither can the projection. Phase II bounds the
 * normal impulse because the convex pyramid would otherwise buy friction with it (a foot sliding at 0.3 m/s would be
 * thrown up).
 *
 * Restitution (Newton's, per contact): points that approach faster than v_rest shall leave with t = -e g_n: the laws
 * above with g_n - t in the place of g_n (stick, qp, phase I) and H_n F + g_n >= t in phase II, so that friction has mu
 * of the whole impulse. With several points and friction Newton's law can gain energy (Kane's paradox). The answer F_1
 * is then drawn back towards the inelastic one F_0, both in the cones, just until F'HF/2 + F'g = -1e-12 F'HF:
 *
 *     F = (1 - b) F_0 + b F_1,    b the largest in [0, 1] that gains nothing (a quadratic equation)
 *
 * Loops keep the velocity they have. Joint limits that are reached take part; motors and friction in joints have no
 * impulse in an instant.
 *
 * E. Drumwright, D. Shell (2010), Modeling contact friction and joint friction in dynamic robotic simulation using the
 * principle of maximum dissipation. */
#include "base/elementary.h"
#include "formulation/gauss.h"

#include "formulation/step_problem.h"
#include "linalg/dense.h"
#include "model/step.h"
#include "problem/step.h"

#include <stdio.h>
#include <string.h>

#define WIDER 1e-4 /* bound K of phase II: its rows leave no inside otherwise, which iterative methods cannot reach */

#define ROUNDING 1e-12 /* of F'HF: what the sums of an impact may be wrong by */

/* All rows of the problem to rest, normals to `target`. */
static mor_report stick(mor_gauss* g, const double* target, double* z)
{
    int n = g->n;
    size_t N = (size_t)n;
    double* L = mor_arena_alloc(g->arena, (N * N + 2 * N + 1) * sizeof *L);
    int* order = mor_arena_alloc(g->arena, (N + 1) * sizeof *order);
    if (!L || !order) return mor_report_no_memory();
    double *work = L + N * N, *x = work + N, largest = 0.0;
    memcpy(L, g->H, N * N * sizeof *L);
    for (int i = 0; i < n; i++) largest = mor_max(largest, g->H[i + N * i]);
    int rank = mor_semidefinite_factor(n, L, order, 1e-12 * largest, NULL, work);
    for (int i = 0; i < rank; i++) {
        x[i] = target[order[i]] - g->q[order[i]];
        for (int j = 0; j < i; j++) x[i] -= L[i + N * j] * x[j];
        x[i] /= L[i + N * i];
    }
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) x[i] -= L[j + N * i] * x[j];
        x[i] /= L[i + N * i];
    }
    memset(z, 0, N * sizeof *z);
    for (int i = 0; i < rank; i++) z[order[i]] = x[i];
    return (mor_report){ .status = MOR_SOLVED, .iterations = 1 };
}

/* Phase I: the first rows of the contacts and the bounded rows only. */
static mor_report normal_phase(const mor_gauss* g, const double* target, mor_solve_stage* stage, double* z)
{
    const mor_step_form* f = &g->problem.step;
    int m = 0;
    int* at = mor_arena_alloc(g->arena, ((size_t)g->n + 1) * sizeof *at);
    if (!at) return mor_report_no_memory();
    for (int b = 0; b < f->block_count; b++)
        if (f->blocks[b].kind != MOR_BLOCK_EQUATION) at[m++] = g->unknown[f->blocks[b].row];
    size_t M = (size_t)m;
    double* A = mor_arena_alloc(g->arena, (M * M + 2 * M + 1) * sizeof *A);
    if (!A) return mor_report_no_memory();
    double *q = A + M * M, *x = q + M;
    for (int i = 0; i < m; i++) {
        q[i] = g->q[at[i]] - target[at[i]], x[i] = 0.0;
        for (int j = 0; j < m; j++) A[i + M * j] = g->H[at[i] + (size_t)at[j] * g->n];
    }
    mor_problem qp = { .form = MOR_QP,
                       .size = m,
                       .A = { .storage = MOR_DENSE, .rows = m, .cols = m, .x = A },
                       .b = q,
                       .C = { .storage = MOR_DENSE, .cols = m } };
    mor_report report = stage->solve(stage, &qp, false, x);
    memset(z, 0, (size_t)g->n * sizeof *z);
    for (int i = 0; i < m; i++) z[at[i]] = x[i];
    return report;
}

/* Phase II, from the answer of phase I in z. */
static mor_report friction_phase(const mor_gauss* g, const double* target, mor_solve_stage* stage, double* z)
{
    const mor_step_form* f = &g->problem.step;
    int n = g->n, contacts = 0, sides = 0;
    double total = 0.0;
    for (int b = 0; b < f->block_count; b++) {
        if (f->blocks[b].kind != MOR_BLOCK_CONTACT) continue;
        contacts++;
        sides += f->blocks[b].dim == 3 ? g->sides : f->blocks[b].dim == 2 ? 2 : 0;
        total += z[g->unknown[f->blocks[b].row]];
    }
    int rows = sides + contacts + 1;
    size_t N = (size_t)n, R = (size_t)rows;
    double* C = mor_arena_zero(g->arena, R * N + 2 * R + 2 * N + 1, sizeof *C);
    if (!C) return mor_report_no_memory();
    double *c_lower = C + R * N, *c_upper = c_lower + R, *lower = c_upper + R, *upper = lower + N;
    int row = 0;
    for (int b = 0; b < f->block_count; b++) {
        const mor_block* block = &f->blocks[b];
        int i = g->unknown[block->row];
        if (block->kind == MOR_BLOCK_EQUATION) continue;
        for (int d = 0; d < block->dim; d++) lower[i + d] = d ? -INFINITY : 0.0, upper[i + d] = INFINITY;
        if (block->kind == MOR_BLOCK_BOUNDED) continue;
        int own = block->dim == 3 ? g->sides : block->dim == 2 ? 2 : 0;
        double half = 3.14159265358979323846 / (own ? own : 1),
               size = block->mu * (g->square || own == 2 ? 1.0 : mor_cos(half));
        for (int j = 0; j < own; j++, row++) {
            double angle = half * (2 * j + (g->square || own == 2 ? 0 : 1));
            C[row + R * (size_t)i] = size;
            C[row + R * (size_t)(i + 1)] = -mor_cos(angle);
            if (block->dim == 3) C[row + R * (size_t)(i + 2)] = -mor_sin(angle);
            c_upper[row] = INFINITY;
        }
        for (int j = 0; j < n; j++) C[row + R * (size_t)j] = g->H[i + N * (size_t)j];
        c_lower[row] = target[i] - g->q[i];
        c_upper[row++] = INFINITY;
        C[R - 1 + R * (size_t)i] = 1.0;
    }
    c_lower[R - 1] = -INFINITY;
    c_upper[R - 1] = total * (1.0 + WIDER);
    mor_problem qp = { .form = MOR_QP,
                       .size = n,
                       .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = g->H },
                       .b = g->q,
                       .lower = lower,
                       .upper = upper,
                       .C = { .storage = MOR_DENSE, .rows = rows, .cols = n, .x = C },
                       .c_lower = c_lower,
                       .c_upper = c_upper };
    return stage->solve(stage, &qp, true, z);
}

static mor_report apply_law(mor_gauss* g, mor_gauss_impact law, const double* target, mor_solve_stage* stage, double* z)
{
    if (law == MOR_IMPACT_STICK) return stick(g, target, z);
    if (law == MOR_IMPACT_QP) {
        double* extra = mor_arena_alloc(g->arena, ((size_t)g->n + 1) * sizeof *extra);
        if (!extra) return mor_report_no_memory();
        for (int i = 0; i < g->n; i++) extra[i] = -target[i];
        return mor_gauss_solve(g, extra, stage, false, z);
    }
    mor_report report = normal_phase(g, target, stage, z);
    if (report.status != MOR_SOLVED) return report;
    int first = report.iterations;
    report = friction_phase(g, target, stage, z);
    report.iterations += first;
    return report;
}

/* x'Hy */
static double bilinear(const mor_gauss* g, const double* x, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < g->n; i++)
        for (int j = 0; j < g->n; j++) sum += x[i] * g->H[i + (size_t)j * g->n] * y[j];
    return sum;
}

/* The change of kinetic energy by the impulses x. */
static double gain(const mor_gauss* g, const double* x)
{
    double linear = 0.0;
    for (int i = 0; i < g->n; i++) linear += x[i] * g->q[i];
    return 0.5 * bilinear(g, x, x) + linear;
}

/* z := (1 - b) from + b z, b the largest in [0, 1] that gains no energy, `margin` less than none. With d = z - from:
 * gain(from) + margin + b (from'Hd + q'd) + b^2 d'Hd/2 = 0, whose larger root is in [0, 1] because gain(from) <=
 * -margin < gain(z). */
static void draw_back(const mor_gauss* g, const double* from, double margin, double* z)
{
    for (int i = 0; i < g->n; i++) z[i] -= from[i];
    double a = 0.5 * bilinear(g, z, z), b = bilinear(g, from, z), c = mor_min(gain(g, from) + margin, 0.0);
    for (int i = 0; i < g->n; i++) b += z[i] * g->q[i];
    double root = sqrt(mor_max(b * b - 4.0 * a * c, 0.0)), share = b > 0.0   ? -2.0 * c / (b + root)
                                                                   : a > 0.0 ? (root - b) / (2.0 * a)
                                                                             : 0.0;
    share = mor_min(mor_max(share, 0.0), 1.0);
    for (int i = 0; i < g->n; i++) z[i] = from[i] + share * z[i];
}

mor_report mor_gauss_impact_solve(const mor_system* s, const bool* touching, mor_gauss_impact law, int directions,
                                  bool square, double damping, mor_solve_stage* stage, double* nu, double* impulses)
{
    mor_arena* arena = stage->arena;
    bool* keep = mor_arena_zero(arena, (size_t)s->block_count + 1, sizeof *keep);
    double* bias = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *bias);
    double* turn = mor_arena_zero(arena, 2 * (size_t)s->contact_count + 1, sizeof *turn);
    if (!keep || !bias || !turn) return mor_report_no_memory();
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* block = &s->blocks[b];
        keep[b] = block->kind == MOR_BLOCK_EQUATION || (block->kind == MOR_BLOCK_BOUNDED && block->lower == 0.0 &&
                                                        block->upper == INFINITY && s->bias[block->row] <= 0.0);
    }
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* block = &s->blocks[s->contacts[c].block];
        keep[s->contacts[c].block] = touching[c];
        for (int d = 0; d < block->dim; d++) bias[block->row + d] = s->contacts[c].drift[d];
        for (int d = 1; d < 3 && block->dim == 3; d++) {
            turn[2 * c + d - 1] = -bias[block->row + d];
            for (int k = block->entry; k < block->entry + block->entry_count; k++) {
                const mor_tree_block* t = &s->trees[s->entries[k].tree];
                const double* J = s->jacobian + s->entries[k].start + d * t->dof;
                for (int m = 0; m < t->dof; m++) turn[2 * c + d - 1] -= J[m] * nu[t->offset + m];
            }
        }
    }
    mor_gauss g;
    if (!mor_gauss_build(&g, s, keep, directions, square, square ? NULL : turn, damping, arena))
        return mor_report_no_memory();
    const mor_step_form* f = &g.problem.step;
    double* before = mor_arena_alloc(arena, ((size_t)s->dof + 1) * sizeof *before);
    double* z = mor_arena_zero(arena, (size_t)g.n + 1, sizeof *z);
    double* p = mor_arena_zero(arena, (size_t)f->row_count + 1, sizeof *p);
    if (!before || !z || !p) return mor_report_no_memory();
    memcpy(before, nu, (size_t)s->dof * sizeof *nu);
    mor_gauss_set(&g, before, bias);
    if (!mor_gauss_reduce(&g, true)) return mor_report_no_memory();
    double* target = mor_arena_zero(arena, 3 * (size_t)g.n + 1, sizeof *target);
    if (!target) return mor_report_no_memory();
    bool bounces = false;
    for (int b = 0, c = 0; b < f->block_count; b++) {
        if (f->blocks[b].kind != MOR_BLOCK_CONTACT) continue;
        while (s->blocks[s->contacts[c].block].row != g.row_of[f->blocks[b].row]) c++; /* both in the order of blocks */
        int i = g.unknown[f->blocks[b].row];
        if (!(s->contacts[c].restitution > 0.0) || !(-g.q[i] > s->v_rest)) continue;
        target[i] = -s->contacts[c].restitution * g.q[i];
        bounces = true;
    }
    mor_report report = apply_law(&g, law, target, stage, z);
    double margin = bounces ? ROUNDING * bilinear(&g, z, z) : 0.0;
    if (bounces && report.status == MOR_SOLVED && gain(&g, z) > -margin) {
        double *zero = target + g.n, *inelastic = zero + g.n;
        int first = report.iterations;
        report = apply_law(&g, law, zero, stage, inelastic);
        report.iterations += first;
        if (report.status == MOR_SOLVED) draw_back(&g, inelastic, margin, z);
    }
    if (report.status != MOR_SOLVED && !report.detail[0])
        snprintf(report.detail, sizeof report.detail, "the impact was not solved");
    mor_gauss_expand(&g, z, p);
    mor_step_velocity(f, p, nu);
    mor_gauss_store(&g, p, impulses);
    return report;
}

/* ----------------------------------------------------------------------------- projection */

#define TURN 0.5 /* rad a projection may turn something by */

/* The part of delta that moves nothing farther than it is deep: contacts next to a hinge ask for far more, and joints
 * that hold a body in another one have no answer. */
static double trusted(const mor_world* w, const mor_island* island, const double* delta, double deepest)
{
    double part = 1.0;
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree* tree = &w->trees[island->tree_of[t]];
        const bool floats = tree->robot && tree->dof > mor_robot_joint_count(tree->robot->model);
        const int linear = tree->body >= 0 ? (w->dimension == 2 ? 2 : 3) : floats ? 3 : 0;
        for (int d = 0; d < tree->dof; d++) {
            const double x = fabs(delta[island->system.trees[t].offset + d]), most = d < linear ? deepest : TURN;
            if (!(x * part <= most)) part = isfinite(x) ? most / x : 0.0;
        }
    }
    return part;
}

/* Contacts of an island deeper than `touch` are moved half of the way out: minimise delta'M delta/2 with G_n'delta >=
 * -psi/2, the others no deeper than `touch`. Half, because a point that is moved out too far (the rows are linear)
 * would be in the air for the next step, whose business the impact and the forces are. */
static double project_island(mor_world* w, const mor_island* island, double touch, mor_arena* arena, double* work)
{
    const mor_system* s = &island->system;
    double deepest = 0.0;
    bool* keep = mor_arena_zero(arena, (size_t)s->block_count + 1, sizeof *keep);
    double* bias = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *bias);
    double* zero = mor_arena_zero(arena, (size_t)s->dof + 1, sizeof *zero);
    if (!keep || !bias || !zero) return 0.0;
    for (int b = 0; b < s->block_count; b++) keep[b] = s->blocks[b].kind == MOR_BLOCK_EQUATION;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* block = &s->blocks[s->contacts[c].block];
        double speed = s->contacts[c].drift[0];
        for (int k = block->entry; k < block->entry + block->entry_count; k++) {
            const mor_tree_block* t = &s->trees[s->entries[k].tree];
            for (int m = 0; m < t->dof; m++)
                speed += s->jacobian[s->entries[k].start + m] * island->answer.nu[t->offset + m];
        }
        double gap = s->contacts[c].gap + s->h * speed;
        deepest = mor_max(deepest, -gap);
        keep[s->contacts[c].block] = gap < touch;
        bias[block->row] = gap < -touch ? 0.5 * gap : gap + touch;
    }
    if (!(deepest > touch)) return deepest;
    mor_gauss g;
    if (!mor_gauss_build(&g, s, keep, 4, false, NULL, 0.0, arena)) return deepest;
    mor_gauss_set(&g, zero, bias);
    if (!mor_gauss_reduce(&g, true)) return deepest;
    double* z = mor_arena_zero(arena, (size_t)g.n + 1, sizeof *z);
    double* p = mor_arena_zero(arena, (size_t)g.problem.step.row_count + 1, sizeof *p);
    double* delta = mor_arena_zero(arena, (size_t)s->dof + 1, sizeof *delta);
    if (!z || !p || !delta) return deepest;
    /* Gauss-Seidel on the normal rows: a handful of sweeps is enough, the rest is done in the next step */
    for (int sweep = 0; sweep < 30; sweep++)
        for (int b = 0; b < g.problem.step.block_count; b++) {
            if (g.problem.step.blocks[b].kind != MOR_BLOCK_CONTACT) continue;
            int i = g.unknown[g.problem.step.blocks[b].row];
            double u = g.q[i];
            for (int j = 0; j < g.n; j++) u += g.H[i + (size_t)j * g.n] * z[j];
            if (g.H[i + (size_t)i * g.n] > 0.0) z[i] = mor_max(0.0, z[i] - u / g.H[i + (size_t)i * g.n]);
        }
    mor_gauss_expand(&g, z, p);
    mor_step_velocity(&g.problem.step, p, delta);
    const double part = trusted(w, island, delta, deepest);
    for (int i = 0; i < s->dof; i++) delta[i] *= part;
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree* tree = &w->trees[island->tree_of[t]];
        *work += mor_tree_move(w, tree, delta + s->trees[t].offset);
    }
    return deepest;
}

/* Potential energy of all bodies under gravity. */
static double height_energy(const mor_world* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->alive_count; i++)
        sum -= w->bodies[w->order[i]].tree < 0
                   ? 0.0
                   : w->bodies[w->order[i]].mass.mass * mor_dot(w->gravity, w->bodies[w->order[i]].x);
    return sum;
}

double mor_gauss_project(mor_step* step, double touch, double* work)
{
    mor_arena* arena = step->thread_arenas[0];
    size_t start = mor_arena_mark(arena);
    double deepest = 0.0, before = height_energy(step->w);
    for (int i = 0; i < step->island_count; i++) {
        size_t mark = mor_arena_mark(arena);
        deepest = mor_max(deepest, project_island(step->w, &step->islands[i], touch, arena, work));
        mor_arena_release(arena, mark);
    }
    *work += height_energy(step->w) - before;
    mor_arena_release(arena, start);
    return deepest;
}
