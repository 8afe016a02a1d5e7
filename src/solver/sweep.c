/* The shared sweeps (sweep.h).
 *
 * Contacts: each visit solves the contact's own problem (local.h). Equations: p -= W_cc^-1 u by elimination with
 * diagonal pivots, dependent rows get nothing. Bounded rows: p <- mid(lower, p - u/W, upper).
 *
 * Rounding gathers in nu over many visits; it is recomputed from the impulses whenever the judge has been asked. */
#include "solver/sweep.h"

#include "base/elementary.h"
#include "problem/step.h"
#include "solver/row_groups.h"
#include "solver/tree_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JUDGE_EVERY = 50, LONG_SWEEP = 500 }; /* from here on the clock is read after every sweep */

mor_report mor_ended(mor_status status, int iterations, const char* detail)
{
    mor_report report = { .status = status, .iterations = iterations };
    snprintf(report.detail, sizeof report.detail, "%s", detail);
    return report;
}

/* ---------------------------------------------------------------------------------- visits */

void mor_visit_velocity(const mor_visit* v, const double* b, const double* nu, double* u)
{
    for (int d = 0; d < v->dim; d++) u[d] = b[d];
    for (int e = 0; e < v->entry_count; e++) {
        const double* x = nu + v->side[e].offset;
        const double* J = v->side[e].J;
        int dof = v->side[e].dof;
        if (dof == 6) {
            for (int d = 0; d < v->dim; d++, J += 6)
                u[d] += J[0] * x[0] + J[1] * x[1] + J[2] * x[2] + J[3] * x[3] + J[4] * x[4] + J[5] * x[5];
        } else {
            for (int d = 0; d < v->dim; d++, J += dof)
                for (int m = 0; m < dof; m++) u[d] += J[m] * x[m];
        }
    }
}

/* nu += M^-1 G_c dp */
static void push(const mor_visit* v, const double* dp, double* nu)
{
    for (int e = 0; e < v->entry_count; e++) {
        double* x = nu + v->side[e].offset;
        const double* Y = v->side[e].Y;
        int dof = v->side[e].dof;
        for (int d = 0; d < v->dim; d++, Y += dof)
            for (int m = 0; m < dof; m++) x[m] += Y[m] * dp[d];
    }
}

/* Equation block: p -= W^-1 u, by Gaussian elimination with diagonal pivots; dependent rows get nothing. */
static void solve_equation(const double* W, int n, const double* u, double* dp)
{
    double A[MOR_SWEEP_ROWS][MOR_SWEEP_ROWS + 1];
    bool used[MOR_SWEEP_ROWS] = { false };
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[i][j] = W[i * n + j];
        A[i][n] = -u[i];
        dp[i] = 0.0;
    }
    int order[MOR_SWEEP_ROWS], rank = 0;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = mor_max(largest, A[i][i]);
    for (; rank < n; rank++) {
        int k = -1;
        for (int i = 0; i < n; i++)
            if (!used[i] && (k < 0 || A[i][i] > A[k][k])) k = i;
        if (!(A[k][k] > 1e-13 * largest)) break;
        used[k] = true;
        order[rank] = k;
        for (int i = 0; i < n; i++) {
            if (used[i]) continue;
            double f = A[i][k] / A[k][k];
            for (int j = 0; j <= n; j++) A[i][j] -= f * A[k][j];
        }
    }
    for (int r = rank - 1; r >= 0; r--) {
        int k = order[r];
        double sum = A[k][n];
        for (int s = r + 1; s < rank; s++) sum -= A[k][order[s]] * dp[order[s]];
        dp[k] = sum / A[k][k];
    }
}

void mor_visit_solve(const mor_sweep* sweep, mor_visit* v, const double* u, double* p)
{
    int n = v->dim;
    if (v->kind == MOR_BLOCK_CONTACT) {
        double q[MOR_SWEEP_ROWS];
        for (int i = 0; i < n; i++) {
            q[i] = u[i];
            for (int j = 0; j < n; j++) q[i] -= v->W[i * n + j] * p[j];
        }
        if (n == 1) mor_local_normal(v->W, q, p);
        else if (n == 3 && v->directions)
            mor_local_polygon(v->W, v->regular ? v->inverse : NULL, q, v->mu, v->directions,
                              sweep->corners[v->directions], &v->state, p);
        else mor_local_cone(sweep->local, n, v->W, v->regular ? v->inverse : NULL, q, v->cone, &v->root, p);
    } else if (v->kind == MOR_BLOCK_BOUNDED) {
        double x = v->W[0] > 0.0 ? p[0] - u[0] / v->W[0] : p[0];
        p[0] = mor_min(mor_max(x, v->lower), v->upper);
    } else {
        double dp[MOR_SWEEP_ROWS];
        solve_equation(v->W, n, u, dp);
        for (int d = 0; d < n; d++) p[d] += dp[d];
    }
}

/* The factor that brings (x, y) into radius times the polygon. */
static double polygon_factor(int n, const double* corners, double radius, double x, double y)
{
    double least = 1.0;
    for (int j = 0; j < n; j++) {
        const double *d = corners + 2 * j, *e = corners + 2 * (j + 1);
        double mx = d[0] + e[0], my = d[1] + e[1], out = mx * x + my * y, support = radius * (d[0] * mx + d[1] * my);
        if (out > support) least = mor_min(least, support / out);
    }
    return least;
}

/* Pulls an impulse back into the admissible set of its block: bounds; p_n >= 0 and friction shortened along its
 * direction. */
static void retract(const mor_sweep* sweep, const mor_visit* v, double* p)
{
    if (v->kind == MOR_BLOCK_BOUNDED) p[0] = mor_min(mor_max(p[0], v->lower), v->upper);
    if (v->kind != MOR_BLOCK_CONTACT) return;
    p[0] = mor_max(p[0], 0.0);
    double radius = v->mu * p[0], f = 1.0;
    if (v->dim == 2) f = fabs(p[1]) > radius ? radius / fabs(p[1]) : 1.0;
    else if (v->dim >= 3 && v->directions)
        f = polygon_factor(v->directions, sweep->corners[v->directions], radius, p[1], p[2]);
    else if (v->dim >= 3) {
        double size = sqrt(p[1] * p[1] + p[2] * p[2]);
        f = size > radius ? radius / size : 1.0;
    }
    for (int i = 1; i < v->dim && i < 3; i++) p[i] *= f;
    if (v->dim >= 5) {
        double size = sqrt(p[3] * p[3] + p[4] * p[4]), limit = v->cone.mu[1] * p[0];
        f = size > limit ? limit / size : 1.0;
        p[3] *= f, p[4] *= f;
    }
    if (v->dim == 6) p[5] = mor_min(mor_max(p[5], -v->cone.mu[2] * p[0]), v->cone.mu[2] * p[0]);
}

mor_status mor_sweep_open(mor_sweep* sweep, const mor_step_form* s, bool cones, mor_arena* arena, const char** why)
{
    *sweep = (mor_sweep){ .step = s, .local = MOR_LOCAL_EXACT, .relaxation = 1.0 };
    sweep->visits = mor_arena_alloc(arena, (size_t)s->block_count * sizeof *sweep->visits);
    sweep->nu = mor_arena_alloc(arena, (size_t)s->dof * sizeof *sweep->nu);
    *why = "out of memory";
    if (!sweep->visits || !sweep->nu) return MOR_NUMERICAL;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        mor_visit* v = &sweep->visits[i];
        *v = (mor_visit){ .kind = b->kind,
                          .dim = b->dim,
                          .row = b->row,
                          .entry_count = b->entry_count,
                          .directions = b->directions,
                          .mu = b->mu,
                          .cone = mor_block_cone(b),
                          .lower = b->lower,
                          .upper = b->upper,
                          .W = s->diagonal + s->diagonal_start[i] };
        if (b->entry_count > MOR_SWEEP_SIDES) return *why = "a block of rows acts on more than four trees", MOR_REFUSED;
        if (b->kind == MOR_BLOCK_EQUATION && b->dim > MOR_SWEEP_ROWS)
            return *why = "a block of more than six equations", MOR_REFUSED;
        if (b->kind == MOR_BLOCK_CONTACT && b->dim > 3 && (!cones || mor_block_is_polygonal(b)))
            return *why = "rolling or drilling friction", MOR_REFUSED;
        if (b->kind == MOR_BLOCK_CONTACT && b->dim == 3) {
            bool polygon = b->directions > 0;
            if (polygon ? b->directions < 3 || b->directions > MOR_SWEEP_DIRECTIONS : !cones)
                return *why = "the cone is not a polygon of 3 to 256 directions", MOR_REFUSED;
            if (polygon && !sweep->corners[b->directions]) {
                double* c = mor_arena_alloc(arena, (size_t)(2 * b->directions + 2) * sizeof *c);
                if (!c) return MOR_NUMERICAL;
                mor_polygon_corners(b->directions, c);
                sweep->corners[b->directions] = c;
            }
            v->regular = mor_local_inverse(v->W, v->inverse);
        }
        for (int k = 0; k < b->dim * b->dim; k++) v->scale += v->W[k] * v->W[k];
        v->scale = sqrt(v->scale);
        for (int e = 0; e < b->entry_count; e++) {
            const mor_entry* entry = &s->entries[b->entry + e];
            v->side[e].offset = s->trees[entry->tree].offset;
            v->side[e].dof = s->trees[entry->tree].dof;
            v->side[e].J = s->jacobian + entry->start;
            v->side[e].Y = s->response + entry->start;
        }
    }
    return MOR_SOLVED;
}

void mor_sweep_restart(mor_sweep* sweep, const double* p)
{
    const mor_step_form* s = sweep->step;
    if (s->dof > 0) memcpy(sweep->nu, s->nu_free, (size_t)s->dof * sizeof *sweep->nu);
    for (int i = 0; i < s->block_count; i++) push(&sweep->visits[i], p + sweep->visits[i].row, sweep->nu);
}

/* One visit; returns the change in m/s. */
static double relax(const mor_sweep* sweep, mor_visit* v, const double* b, double* p)
{
    double u[MOR_SWEEP_ROWS], old[MOR_SWEEP_ROWS], dp[MOR_SWEEP_ROWS], change = 0.0;
    int n = v->dim;
    mor_visit_velocity(v, b, sweep->nu, u);
    for (int d = 0; d < n; d++) old[d] = p[d];
    mor_visit_solve(sweep, v, u, p);
    if (sweep->relaxation != 1.0) {
        for (int d = 0; d < n; d++) p[d] = old[d] + sweep->relaxation * (p[d] - old[d]);
        retract(sweep, v, p);
    }
    bool moved = false;
    for (int d = 0; d < n; d++) {
        dp[d] = p[d] - old[d];
        moved = moved || dp[d] != 0.0;
        if (!(fabs(dp[d]) <= change)) change = fabs(dp[d]);
    }
    if (moved) push(v, dp, sweep->nu);
    return change * v->scale;
}

mor_report mor_gauss_seidel_step(mor_sweep* sweep, mor_sweep_order order, mor_context* context, double* p)
{
    const mor_step_form* s = sweep->step;
    if (context->warm) mor_sweep_restart(sweep, p);
    else if (s->dof > 0) memcpy(sweep->nu, s->nu_free, (size_t)s->dof * sizeof *sweep->nu);
    /* a good guess may already be the answer: do not disturb it */
    if (context->warm && context->error(context, p, NULL) <= context->tol)
        return mor_ended(MOR_SOLVED, 0, "the guess was good enough");
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0;
        bool backward = order == MOR_SWEEP_ALTERNATE && k % 2 == 0;
        for (int i = 0; i < s->block_count; i++) {
            mor_visit* v = &sweep->visits[backward ? s->block_count - 1 - i : i];
            double c = relax(sweep, v, s->bias + v->row, p + v->row);
            if (!(c <= change)) change = c;
        }
        mor_trace_add(context, k, sweep->relaxation, p);
        if (isnan(change)) return mor_ended(MOR_NUMERICAL, k, "not a number in the sweep");
        if (change <= context->tol || k % JUDGE_EVERY == 0) {
            if (context->error(context, p, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            mor_sweep_restart(sweep, p);
            if (change == 0.0) return mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        } else if (s->block_count > LONG_SWEEP && mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

mor_report mor_gauss_seidel_answer(mor_sweep* sweep, mor_sweep_order order, bool least, const mor_problem* problem,
                                   mor_context* context, double* p)
{
    const size_t bytes = (size_t)problem->step.row_count * sizeof *p, mark = mor_arena_mark(context->arena);
    double* guess = least && context->warm ? mor_arena_alloc(context->arena, bytes + sizeof *p) : NULL;
    if (guess) memcpy(guess, p, bytes);
    mor_report report = mor_gauss_seidel_step(sweep, order, context, p);
    if (report.status == MOR_SOLVED && least) {
        double error = context->error(context, p, NULL); /* the answer must stay about as good, and solved */
        mor_tree_least(problem, context, mor_min(context->tol, mor_max(4.0 * error, 1e-7 * context->tol)), guess, p);
    }
    mor_arena_release(context->arena, mark);
    return report;
}

/* ------------------------------------------------------------------------------------ rows */

bool mor_rows_open(mor_rows* rows, const mor_problem* problem, mor_arena* arena, mor_report* report)
{
    const mor_matrix* A = &problem->A;
    int n = problem->size;
    *rows = (mor_rows){ .n = n, .b = problem->b, .lower = problem->form == MOR_LCP ? NULL : problem->lower };
    if (A->storage == MOR_OPERATOR) {
        *report = mor_ended(MOR_REFUSED, 0, "needs the rows of the matrix, not an operator");
        return false;
    }
    double* diagonal = mor_arena_zero(arena, (size_t)n, sizeof *diagonal);
    double* dense = A->storage == MOR_DENSE ? mor_arena_alloc(arena, (size_t)n * (size_t)n * sizeof *dense) : NULL;
    if (!diagonal || (A->storage == MOR_DENSE && !dense)) {
        *report = mor_ended(MOR_NUMERICAL, 0, "out of memory");
        return false;
    }
    if (A->storage == MOR_DENSE) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) dense[(size_t)i * n + j] = A->x[i + (size_t)j * n];
        for (int i = 0; i < n; i++) diagonal[i] = dense[(size_t)i * n + i];
        rows->x = dense;
    } else {
        for (int i = 0; i < n; i++)
            for (int k = A->p[i]; k < A->p[i + 1]; k++)
                if (A->i[k] == i) diagonal[i] = A->x[k];
        rows->p = A->p, rows->i = A->i, rows->x = A->x;
    }
    rows->diagonal = diagonal;
    return true;
}

bool mor_rows_relax(const mor_rows* rows, int i)
{
    return mor_rows_signed(rows, i) ? rows->diagonal[i] > 0.0 : rows->diagonal[i] != 0.0;
}

double mor_rows_product(const mor_rows* rows, int i, const double* z)
{
    double sum = 0.0;
    if (rows->p) {
        for (int k = rows->p[i]; k < rows->p[i + 1]; k++) sum += rows->x[k] * z[rows->i[k]];
    } else {
        const double* x = rows->x + (size_t)i * rows->n;
        for (int j = 0; j < rows->n; j++) sum += x[j] * z[j];
    }
    return sum;
}

mor_report mor_gauss_seidel_rows(const mor_rows* rows, double relaxation, mor_context* context, double* z)
{
    for (int i = 0; i < rows->n; i++)
        if (!mor_rows_relax(rows, i)) return mor_gauss_seidel_groups(rows, relaxation, context, z);
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, largest = 0.0;
        for (int i = 0; i < rows->n; i++) {
            double w = mor_rows_product(rows, i, z) + rows->b[i];
            double x = z[i] - relaxation * w / rows->diagonal[i];
            if (mor_rows_signed(rows, i)) x = mor_max(0.0, x);
            change = mor_max(change, fabs(x - z[i]));
            largest = mor_max(largest, fabs(x));
            z[i] = x;
        }
        mor_trace_add(context, k, relaxation, z);
        if (!isfinite(largest)) return mor_ended(MOR_NUMERICAL, k, "diverged");
        if (change <= context->tol * largest || k % JUDGE_EVERY == 0) {
            if (context->error(context, z, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            if (change == 0.0) return mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}
