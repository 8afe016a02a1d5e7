/* Projected Gauss-Seidel, by blocks on a time step, by rows on an LCP.
 *
 * On a STEP the unknowns are visited contact by contact on the tree velocities,
 *
 *     u_c = G_c' nu + b_c,   p_c <- exact solution of the contact's own problem with W_cc and
 *     q_c = u_c - W_cc p_c,  nu <- nu + M^-1 G_c (p_c_new - p_c_old),
 *
 * so W = G' M^-1 G is never formed and a sweep costs O(number of Jacobian coefficients). (Scalar PGS
 * cannot run on the ST problem as an LCP: the rows of s have zero diagonals.) Equations and bounded
 * rows are relaxed by their own blocks. Sweeps alternate direction, which carries loads through stacks both
 * ways.
 *
 * On an LCP: z_i <- max(0, z_i - w_i/A_ii); a diagonal entry that is not positive is refused.
 *
 * Converges linearly for symmetric positive semidefinite W; the number of sweeps grows with the height of a
 * stack and with mass ratios. Stops when the judge's error is within the tolerance; the judge is asked when
 * the largest change of a sweep, in m/s, has fallen below it, and every 50 sweeps.
 *
 * R. W. Cottle, J.-S. Pang, R. E. Stone, "The Linear Complementarity Problem", 1992, section 5.2 (PSOR);
 * block form: M. Jean, J. J. Moreau, 1992; F. Jourdan, P. Alart, M. Jean, 1998. */
#include "moreau/solver.h"
#include "solver/local.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_EQUATION = 6, JUDGE_EVERY = 50 };

typedef struct pgs_options {
    int order;
} pgs_options;

enum { ORDER_ALTERNATE, ORDER_FORWARD };

static const mor_field pgs_fields[] = {
    { "order", MOR_TYPE_CHOICE, offsetof(pgs_options, order), ORDER_ALTERNATE, 0, 0, "alternate|forward", "",
      "direction of the sweeps" },
    { 0 }
};

static mor_report finish(mor_status status, int iterations, const char* detail)
{
    mor_report report = { .status = status, .iterations = iterations };
    snprintf(report.detail, sizeof report.detail, "%s", detail);
    return report;
}

/* --------------------------------------------------------------------------------- steps */

/* What a visit needs of one block, gathered so that a sweep runs through memory in order. */
typedef struct visit {
    int kind, dim, row, entry_count, directions, state;
    bool regular; /* inverse is valid */
    double mu, lower, upper;
    const double* W;
    double inverse[9];
    double scale; /* |W_cc|: turns a change of impulse into m/s */
    struct {
        int offset, dof;
        const double *J, *Y;
    } side[4];
} visit;

static void block_velocity(const visit* v, const double* b, const double* nu, double* u)
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

static void block_push(const visit* v, const double* dp, double* nu)
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
    double A[MAX_EQUATION][MAX_EQUATION + 1];
    bool used[MAX_EQUATION] = { false };
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[i][j] = W[i * n + j];
        A[i][n] = -u[i];
        dp[i] = 0.0;
    }
    int order[MAX_EQUATION], rank = 0;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, A[i][i]);
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

/* One visit; returns the change in m/s. */
static double relax(visit* v, const double* b, const double* const* corners, double* p, double* nu)
{
    double u[MAX_EQUATION], q[3], old[MAX_EQUATION], dp[MAX_EQUATION], change = 0.0;
    int n = v->dim;
    block_velocity(v, b, nu, u);
    for (int d = 0; d < n; d++) old[d] = p[d];
    if (v->kind == MOR_BLOCK_CONTACT) {
        for (int i = 0; i < n; i++) {
            q[i] = u[i];
            for (int j = 0; j < n; j++) q[i] -= v->W[i * n + j] * old[j];
        }
        if (n == 1) mor_local_normal(v->W, q, p);
        else if (n == 2) mor_local_interval(v->W, q, v->mu, p);
        else mor_local_polygon(v->W, v->regular ? v->inverse : NULL, q, v->mu, v->directions, corners[v->directions], &v->state, p);
    } else if (v->kind == MOR_BLOCK_BOUNDED) {
        double x = v->W[0] > 0.0 ? old[0] - u[0] / v->W[0] : old[0];
        p[0] = fmin(fmax(x, v->lower), v->upper);
    } else {
        solve_equation(v->W, n, u, dp);
        for (int d = 0; d < n; d++) p[d] = old[d] + dp[d];
    }
    bool moved = false;
    for (int d = 0; d < n; d++) {
        dp[d] = p[d] - old[d];
        moved = moved || dp[d] != 0.0;
        change = fmax(change, fabs(dp[d]));
    }
    if (moved) block_push(v, dp, nu);
    return change * v->scale;
}

static mor_report solve_step(const mor_problem* problem, const pgs_options* o, mor_context* context, double* p)
{
    const mor_step_form* s = &problem->step;
    visit* visits = mor_arena_alloc(context->arena, (size_t)s->block_count * sizeof *visits);
    double* nu = mor_arena_alloc(context->arena, (size_t)s->dof * sizeof *nu);
    double* start = mor_arena_alloc(context->arena, (size_t)s->dof * sizeof *start);
    enum { MOST = 256 };
    const double* corners[MOST + 1] = { 0 };
    if (!visits || !nu || !start) return finish(MOR_NUMERICAL, 0, "out of memory");

    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        visit* v = &visits[i];
        *v = (visit){ .kind = b->kind, .dim = b->dim, .row = b->row, .entry_count = b->entry_count, .directions = b->directions,
                      .mu = b->mu, .lower = b->lower, .upper = b->upper, .W = s->diagonal + s->diagonal_start[i] };
        if (b->entry_count > 4) return finish(MOR_REFUSED, 0, "a block of rows acts on more than four trees");
        if (b->kind == MOR_BLOCK_EQUATION && b->dim > MAX_EQUATION) return finish(MOR_REFUSED, 0, "a block of more than six equations");
        if (b->kind == MOR_BLOCK_CONTACT && b->dim > 3) return finish(MOR_REFUSED, 0, "rolling friction");
        if (b->kind == MOR_BLOCK_CONTACT && b->dim == 3) {
            if (b->directions < 3 || b->directions > MOST) return finish(MOR_REFUSED, 0, "the cone is not a polygon of 3 to 256 directions");
            if (!corners[b->directions]) {
                double* c = mor_arena_alloc(context->arena, (size_t)(2 * b->directions + 2) * sizeof *c);
                if (!c) return finish(MOR_NUMERICAL, 0, "out of memory");
                mor_polygon_corners(b->directions, c);
                corners[b->directions] = c;
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
    memcpy(nu, s->nu_free, (size_t)s->dof * sizeof *nu);
    if (context->warm)
        for (int i = 0; i < s->block_count; i++) block_push(&visits[i], p + visits[i].row, nu);

    /* a good guess may already be the answer: do not disturb it */
    if (context->warm && context->error(context, p, NULL) <= context->tol) return finish(MOR_SOLVED, 0, "the guess was good enough");
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0;
        bool backward = o->order == ORDER_ALTERNATE && k % 2 == 0;
        for (int i = 0; i < s->block_count; i++) {
            visit* v = &visits[backward ? s->block_count - 1 - i : i];
            double c = relax(v, s->bias + v->row, corners, p + v->row, nu);
            if (!(c <= change)) change = c;
        }
        mor_trace_add(context, k, 1.0, p);
        if (isnan(change)) return finish(MOR_NUMERICAL, k, "not a number in the sweep");
        if (change <= context->tol || k % JUDGE_EVERY == 0) {
            if (context->error(context, p, NULL) <= context->tol) return finish(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return finish(MOR_TIME_LIMIT, k, "");
            /* rounding gathers in nu: begin again from the impulses */
            memcpy(start, s->nu_free, (size_t)s->dof * sizeof *nu);
            for (int i = 0; i < s->block_count; i++) block_push(&visits[i], p + visits[i].row, start);
            memcpy(nu, start, (size_t)s->dof * sizeof *nu);
            if (change == 0.0) return finish(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        }
    }
    return finish(MOR_NOT_CONVERGED, context->max_iter, "");
}

/* ----------------------------------------------------------------------------------- LCP */

static double matrix_row(const mor_matrix* A, int i, const double* z, double* diagonal)
{
    double sum = 0.0;
    *diagonal = 0.0;
    if (A->storage == MOR_DENSE) {
        for (int j = 0; j < A->cols; j++) sum += A->x[i + (size_t)j * (size_t)A->rows] * z[j];
        *diagonal = A->x[i + (size_t)i * (size_t)A->rows];
    } else {
        for (int k = A->p[i]; k < A->p[i + 1]; k++) {
            sum += A->x[k] * z[A->i[k]];
            if (A->i[k] == i) *diagonal = A->x[k];
        }
    }
    return sum;
}

static mor_report solve_lcp(const mor_problem* problem, mor_context* context, double* z)
{
    int n = problem->size;
    const mor_matrix* A = &problem->A;
    if (A->storage == MOR_OPERATOR) return finish(MOR_REFUSED, 0, "needs the rows of the matrix, not an operator");
    for (int i = 0; i < n; i++) {
        double diagonal;
        matrix_row(A, i, z, &diagonal);
        if (!(diagonal > 0.0)) {
            mor_report report = finish(MOR_REFUSED, 0, "");
            snprintf(report.detail, sizeof report.detail, "diagonal entry %d is %g; Gauss-Seidel needs positive ones", i, diagonal);
            return report;
        }
    }
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, largest = 0.0;
        for (int i = 0; i < n; i++) {
            double diagonal, w = matrix_row(A, i, z, &diagonal) + problem->b[i];
            double x = fmax(0.0, z[i] - w / diagonal);
            change = fmax(change, fabs(x - z[i]));
            largest = fmax(largest, fabs(x));
            z[i] = x;
        }
        mor_trace_add(context, k, 1.0, z);
        if (!isfinite(largest)) return finish(MOR_NUMERICAL, k, "diverged");
        if (change <= context->tol * largest || k % JUDGE_EVERY == 0) {
            if (context->error(context, z, NULL) <= context->tol) return finish(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return finish(MOR_TIME_LIMIT, k, "");
            if (change == 0.0) return finish(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        }
    }
    return finish(MOR_NOT_CONVERGED, context->max_iter, "");
}

static mor_report pgs_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    if (problem->form == MOR_LCP) return solve_lcp(problem, context, z);
    return solve_step(problem, options, context, z);
}

const mor_solver mor_solver_pgs = {
    .name = "pgs",
    .summary = "projected Gauss-Seidel, contact by contact, on tree velocities",
    .reference = "cottle1992",
    .accepts = MOR_LCP | MOR_STEP_PYRAMID,
    .options_size = sizeof(pgs_options),
    .fields = pgs_fields,
    .max_iter = 100000,
    .solve = pgs_solve,
};
