/* auto: chooses a method by the form and size of the problem, and falls back in a fixed order. The only place where
 * methods are combined; report.detail says what was done, as method(iterations).
 *
 * Contacts (FC2D, FC3D, FC_ROLLING; global problems arrive reduced):
 *   0  all q_N >= 0: r = 0
 *   1  Gauss-Seidel sweeps (block_rows.h, local.h), while the rate seen predicts that they end sooner than Newton
 *      would: remaining sweeps t_sweep <= 4 t_factor, t_sweep = 25e-9 contacts + 0.9e-9 nnz, t_factor = 1.5e-6 + 2e-9
 *      n^2 + 0.12e-9 n^3 dense or 40e-9 nnz sparse (seconds of one machine; only the ratio matters); n <= 30: 10 sweeps
 *      to come, at most 15
 *   2  n <= 30: 8 Newton steps from there, without regularisation
 *   3  nsn from r = 0 (Alart-Curnier, sigma 1, kappa), 300 steps
 *   4  nsn on the natural map, sigma 1, kappa = 1, window 20, 800 steps
 *   5  nsn with kappa = 1, 600 steps
 *   6  ppa, 40 outer iterations
 *   7  ppa with extrapolation; with the natural map; with Jean-Moreau's
 * LCP, and mixed ones (above n = 12 with their equations eliminated):
 *   n <= 12: at most 12 block principal pivots (Kostreva 1978; Judice & Pires 1994): with F = { b < 0 } at the start,
 *   z_F = -A_FF^-1 b_F, and all i with z_i < 0 or w_i < 0 change sides while they become fewer, else only the last of
 *   them (Murty 1974), and all sets if there are at most 3 pairs; n <= 320: lemke without scaling, lemke; then, or for
 *   larger n first: Fischer-Burmeister Newton (sigma 0.1, 150 steps), minmap (sigma 1, 600), ppa, minmap (sigma 0.1,
 *   400), lemke.
 * STEP, up to 96 rows and with a guess: the contact states of the guess (state_guess.h). Then,
 * with circular cones: Gauss-Seidel on tree velocities while 150 sweeps are predicted to do; Newton on tree velocities
<<<<<<< HEAD
 * (tree_newton.h), 10 steps from the guess, 200 from zero; nsn and ppa on the reduced problem; up to 200 rows the
 * states and Newton from the answer of a polygon with 16, then 8 corners (lemke); sweeps to the end. Pyramids: sweeps
 * while 150 (above 200 rows 20000) do; lemke (up to 200 rows) and Fischer-Burmeister Newton on the LCP; sweeps to the
 * end.
=======
 * (tree_newton.h), 10 steps from the guess, 200 from zero; nsn on the reduced problem; sweeps to the end. Pyramids:
 * above 200 rows Newton on tree velocities from the guess; sweeps while 150 do; lemke (up to 200 rows); Newton on tree
 * velocities from zero; Fischer-Burmeister Newton on the LCP; sweeps to the end.
>>>>>>> lab3
 *
 * QP: qp-active-set, then qp-interior-point.
 *
 * With a time limit stages 3 to 7 may use up to 30, 60, 70, 80, 87, 94, 100 % of it. The best answer seen by the judge
 * is returned, with its honest status. iterations: sum over all stages. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/inline.h"
#include "linalg/dense.h"
#include "solver/block_rows.h"
#include "solver/proximal.h"
#include "solver/state_guess.h"
#include "solver/sweep.h"
#include "solver/tree_newton.h"

typedef struct run {
    const mor_problem* problem;
    mor_context* context; /* the driver's */
    mor_context stage;    /* a copy with its own limits */
    double* z;            /* best answer so far */
    double best;          /* its error */
    bool late;
    mor_report report;
} run;

extern const mor_solver mor_solver_lemke, mor_solver_nsn, mor_solver_ppa, mor_solver_fischer_newton;
extern const mor_solver mor_solver_qp_active_set, mor_solver_qp_interior_point;

static void note(run* R, const char* what, int iterations)
{
    char digits[12], *text = R->report.detail; /* by hand: printing would cost a small problem a fifth of its time */
    size_t used = strlen(text), length = strlen(what);
    int count = 0, rest = iterations;
    R->report.iterations += iterations;
    if (used + length + sizeof digits + 4 > sizeof R->report.detail) return;
    if (used) text[used++] = ' ';
    memcpy(text + used, what, length);
    used += length;
    text[used++] = '(';
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    while (count > 0) text[used++] = digits[--count];
    text[used++] = ')';
    text[used] = '\0';
}

/* A fresh context that ends after `share` of the time. */
static mor_context* limits(run* R, double share, int max_iter)
{
    R->stage = *R->context;
    R->stage.max_iter = max_iter;
    R->stage.warm = false;
    if (R->context->deadline > 0.0)
        R->stage.deadline = R->context->start + share * (R->context->deadline - R->context->start);
    return &R->stage;
}

/* What tracing added to the clocks of a stage belongs to the whole. */
static void settle(run* R)
{
    double shift = R->stage.start - R->context->start;
    R->context->start += shift;
    if (R->context->deadline > 0.0) R->context->deadline += shift;
}

/* ------------------------------------------------------------------------------- contacts */

enum { FEW_ROWS = 30 };

/* Block row c of A: the diagonal block D, row-major, and q = b + the others times r. */
static void row_of_contact(const mor_problem* problem, int c, const double* r, double* D, double* q)
{
    const mor_matrix* A = &problem->A;
    int d = problem->dim, first = c * d;
    for (int i = 0; i < d; i++) q[i] = problem->b[first + i];
    if (A->storage == MOR_DENSE) {
        const double* row = A->x + first;
        for (int j = 0; j < A->cols; j++) {
            if (j < first || j >= first + d)
                for (int i = 0; i < d && r[j] != 0.0; i++) q[i] += row[i + (size_t)j * (size_t)A->rows] * r[j];
            else
                for (int i = 0; i < d; i++) D[i * d + j - first] = row[i + (size_t)j * (size_t)A->rows];
        }
        return;
    }
    for (int i = 0; i < d * d; i++) D[i] = 0.0;
    for (int i = 0; i < d; i++)
        for (int k = A->p[first + i]; k < A->p[first + i + 1]; k++) {
            int j = A->i[k];
            if (j < first || j >= first + d) q[i] += A->x[k] * r[j];
            else D[i * d + j - first] = A->x[k];
        }
}

/* One sweep on the matrix as it is: enough where contacts hardly touch each other's bodies. True if solved. */
static bool first_sweep(run* R, double* r)
{
    const mor_problem* problem = R->problem;
    int d = problem->dim;
    for (int c = 0; c < problem->contact_count; c++) {
        double D[25], inverse[9], q[5], root = 0.0;
        row_of_contact(problem, c, r, D, q);
        bool regular = d == 3 && mor_local_inverse(D, inverse);
        mor_local_cone(MOR_LOCAL_EXACT, d, D, regular ? inverse : NULL, q, problem->mu[c],
                       d == 5 ? problem->mu_roll[c] : 0.0, &root, r + c * d);
    }
    mor_trace_add(R->context, R->report.iterations + 1, 1.0, r);
    double error = R->context->error(R->context, r, NULL);
    if (error < R->best) {
        R->best = error;
        memcpy(R->z, r, (size_t)problem->size * sizeof *r);
    }
    if (!(error <= R->context->tol)) return false;
    note(R, "nsgs", 1);
    return true;
}

/* q += rows first ... last-1 of W's block row c, without the diagonal block, times r */
MOR_ALWAYS_INLINE void add_rows(const int d, const mor_block_rows* W, int c, int first, int last, const double* r,
                                double* q)
{
    for (int k = W->p[c]; k < W->p[c + 1]; k++) {
        if (k == W->own[c]) continue;
        const double *x = W->x + (size_t)k * (size_t)(d * d), *y = r + (size_t)W->j[k] * (size_t)d;
        for (int i = first; i < last; i++) {
            double s = x[i * d] * y[0];
            for (int l = 1; l < d; l++) s += x[i * d + l] * y[l];
            q[i] += s;
        }
    }
}

/* Gauss-Seidel over the contacts; for those that stay open the normal row is enough. */
MOR_ALWAYS_INLINE void sweep(const int d, const mor_block_rows* W, const mor_problem* problem, const double* inverse,
                             const bool* regular, double* root, double* r)
{
    for (int c = 0; c < W->count; c++) {
        const double* own = mor_block_rows_own(W, c);
        double q[5], *p = r + c * d;
        for (int i = 0; i < d; i++) q[i] = problem->b[c * d + i];
        add_rows(d, W, c, 0, 1, r, q);
        if (q[0] >= 0.0 || !(own[0] > 0.0)) {
            for (int i = 0; i < d; i++) p[i] = 0.0;
            continue;
        }
        add_rows(d, W, c, 1, d, r, q);
        if (d == 2) mor_local_interval(own, q, problem->mu[c], p);
        else
            mor_local_cone(MOR_LOCAL_EXACT, d, own, regular[c] ? inverse + 9 * c : NULL, q, problem->mu[c],
                           d == 5 ? problem->mu_roll[c] : 0.0, &root[c], p);
    }
}

/* Stage 1. True if solved; r is left where the sweeps ended. */
static bool sweeps(run* R, double* r)
{
    if (first_sweep(R, r)) return true;
    const mor_problem* problem = R->problem;
    int d = problem->dim, nc = problem->contact_count, n = problem->size, every = d == 2 && n > FEW_ROWS ? 10 : 5;
    bool few = n <= FEW_ROWS;
    mor_arena* arena = R->context->arena;
    mor_block_rows W;
    double* root = mor_arena_zero(arena, (size_t)nc, sizeof *root);
    double* inverse = mor_arena_alloc(arena, 9 * (size_t)nc * sizeof *inverse);
    bool* regular = mor_arena_zero(arena, (size_t)nc, sizeof *regular);
    if (!root || !inverse || !regular || !mor_block_rows_build(&W, &problem->A, d, arena)) return false;
    double nnz = (double)W.p[nc] * d * d, m = n;
    bool dense = n <= 260 || nnz > 0.15 * m * m;
    double per_sweep = 25e-9 * nc + 0.9e-9 * nnz;
    double factor = dense ? 1.5e-6 + 2e-9 * m * m + 0.12e-9 * m * m * m : 40e-9 * nnz;
    double allowed = few ? 10.0 : 4.0 * factor / per_sweep, previous = R->best; /* of the first sweep */
    for (int c = 0; c < nc && d == 3; c++) regular[c] = mor_local_inverse(mor_block_rows_own(&W, c), inverse + 9 * c);
    int k = 1, last = 1, next = every, slow = 0;
    bool solved = false;
    while (isfinite(R->best)) {
        k++;
        if (d == 2) sweep(2, &W, problem, inverse, regular, root, r);
        else if (d == 3) sweep(3, &W, problem, inverse, regular, root, r);
        else sweep(5, &W, problem, inverse, regular, root, r);
        mor_trace_add(R->context, R->report.iterations + k, 1.0, r);
        if (k < next) continue;
        double error = R->context->error(R->context, r, NULL);
        if (error < R->best) {
            R->best = error;
            memcpy(R->z, r, (size_t)n * sizeof *r);
        }
        solved = error <= R->context->tol;
        if (solved || !isfinite(error)) break;
        if (mor_out_of_time(R->context) || (few && k >= 15)) break;
        double rate = log(error / previous) / (k - last),
               left = rate < 0.0 ? log(R->context->tol / error) / rate : INFINITY;
        if (left > allowed && (few || ++slow == 2)) break; /* the first sweeps may be slow */
        previous = error, last = k;
        next = k + (left < every ? (int)left + 1 : every);
    }
    note(R, "nsgs", k);
    return solved;
}

static bool newton(run* R, mor_contact_newton* N, mor_newton_settings s, double share, bool restart, const char* name)
{
    if (R->late) return false;
    int before = N->iterations;
    if (restart) mor_contact_newton_start(N, NULL);
    mor_newton_end end = mor_contact_newton_run(N, &s, limits(R, share, s.max_iter));
    settle(R);
    note(R, name, N->iterations - before);
    R->late = mor_out_of_time(R->context);
    return end == MOR_NEWTON_SOLVED;
}

static bool proximal(run* R, mor_contact_newton* N, mor_proximal_settings s, double share, const char* name)
{
    if (R->late) return false;
    int outer = 0, before = N->iterations;
    mor_contact_newton_start(N, NULL);
    mor_newton_end end = mor_proximal_run(N, &s, limits(R, share, s.inner_total), &outer);
    settle(R);
    note(R, name, N->iterations - before);
    R->late = mor_out_of_time(R->context);
    return end == MOR_NEWTON_SOLVED;
}

static bool newton_stages(run* R, mor_contact_newton* N, bool polish)
{
    const mor_newton_settings quick = { .map = MOR_MAP_ALART_CURNIER, .floor = 1e-12, .window = 8, .max_iter = 8 };
    const mor_newton_settings nsn = {
        .map = MOR_MAP_ALART_CURNIER, .sigma = 1.0, .floor = 1e-13, .adapt = true, .window = 8, .max_iter = 300
    };
    mor_newton_settings slow = nsn, natural = nsn;
    slow.adapt = false, slow.max_iter = 600;
    natural.map = MOR_MAP_NATURAL, natural.adapt = false, natural.window = 20, natural.max_iter = 800;
    const mor_proximal_settings ppa = { .map = MOR_MAP_ALART_CURNIER,
                                        .alpha = 1.0,
                                        .shrink = 0.1,
                                        .grow = 10.0,
                                        .least = 1e-8,
                                        .max_outer = 40,
                                        .max_inner = 30,
                                        .inner_total = 1200 };
    mor_proximal_settings far = { .map = MOR_MAP_ALART_CURNIER,
                                  .alpha = 1.0,
                                  .shrink = 0.1,
                                  .grow = 3.3,
                                  .least = 1e-5,
                                  .extrapolate = true,
                                  .max_outer = 300,
                                  .max_inner = 100,
                                  .inner_total = 10000 };
    mor_proximal_settings far_natural = far, far_jean = far;
    far_natural.map = MOR_MAP_NATURAL, far_jean.map = MOR_MAP_JEAN_MOREAU;
    return (polish && newton(R, N, quick, 0.3, false, "newton")) || newton(R, N, nsn, 0.3, true, "nsn") ||
           newton(R, N, natural, 0.6, true, "nsn-natural") || newton(R, N, slow, 0.7, true, "nsn-slow") ||
           proximal(R, N, ppa, 0.8, "ppa") || proximal(R, N, far, 0.87, "ppa-far") ||
           proximal(R, N, far_natural, 0.94, "ppa-natural") || proximal(R, N, far_jean, 1.0, "ppa-jean-moreau");
}

static void contacts(run* R)
{
    const mor_problem* problem = R->problem;
    int n = problem->size;
    bool open = true;
    for (int c = 0; c < problem->contact_count; c++) open = open && problem->b[c * problem->dim] >= 0.0;
    double* r = mor_arena_alloc(R->context->arena, (size_t)n * sizeof *r);
    if (!r) return;
    memcpy(r, R->z, (size_t)n * sizeof *r);
    if (open || R->context->warm) {
        if (open) memset(r, 0, (size_t)n * sizeof *r);
        R->best = R->context->error(R->context, r, open ? problem->b : NULL);
        if (R->best <= R->context->tol) {
            memcpy(R->z, r, (size_t)n * sizeof *r);
            note(R, open ? "zero" : "guess", 0);
            return;
        }
    }
    if (problem->A.storage != MOR_OPERATOR && sweeps(R, r)) return;
    if (mor_out_of_time(R->context)) return;
    mor_contact_newton N;
    double* answer = mor_arena_alloc(R->context->arena, (size_t)n * sizeof *answer);
    if (answer && mor_contact_newton_open(&N, problem, answer, R->context->arena)) {
        bool polish = n <= FEW_ROWS;
        if (polish) mor_contact_newton_start(&N, r);
        newton_stages(R, &N, polish);
        if (N.best < R->best || isinf(R->best)) {
            R->best = N.best;
            memcpy(R->z, answer, (size_t)n * sizeof *answer);
        }
    }
    mor_contact_newton_close(&N);
}

/* ---------------------------------------------------------------------------------- pairs */

static void lemke(run* R, int tries, bool equilibrate)
{
    const struct {
        int tries, covering;
        bool equilibrate;
    } options = { tries, 0, equilibrate };
    double* z = mor_arena_alloc(R->context->arena, (size_t)R->problem->size * sizeof *z);
    if (!z || R->late) return;
    mor_report report = mor_solver_lemke.solve(R->problem, &options, limits(R, 1.0, mor_solver_lemke.max_iter), z);
    settle(R);
    note(R, "lemke", report.iterations);
    double error = R->context->error(R->context, z, NULL);
    if (error < R->best || isinf(R->best)) {
        R->best = error;
        memcpy(R->z, z, (size_t)R->problem->size * sizeof *z);
    }
    if (report.status == MOR_NO_SOLUTION) R->report.status = MOR_NO_SOLUTION;
    R->late = mor_out_of_time(R->context);
}

enum { TINY = 12 };

static void entries(const mor_matrix* A, double* dense)
{
    int n = A->rows;
    if (A->storage == MOR_DENSE) {
        memcpy(dense, A->x, (size_t)(n * n) * sizeof *dense);
        return;
    }
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int i = 0; i < n; i++)
        for (int k = A->p[i]; k < A->p[i + 1]; k++) dense[i + A->i[k] * n] += A->x[k];
}

static bool is_free(const mor_problem* p, int i) { return p->form == MOR_MLCP && p->lower && p->lower[i] == -INFINITY; }

typedef struct few {
    int n, tried;
    double A[TINY * TINY], z[TINY], w[TINY];
    bool equation[TINY], inside[TINY], wrong[TINY]; /* inside: w_i = 0, else z_i = 0 */
} few;

/* z and w of the set; how many have the wrong sign, or -1 if the set is singular. */
static int try_set(few* f, const double* b)
{
    double sub[TINY * TINY], part[TINY];
    int n = f->n, m = 0, count = 0, index[TINY], pivot[TINY];
    f->tried++;
    for (int i = 0; i < n; i++)
        if (f->inside[i]) index[m++] = i;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) sub[i + j * m] = f->A[index[i] + index[j] * n];
    for (int i = 0; i < m; i++) part[i] = -b[index[i]];
    if (m && !mor_lu_factor(m, sub, pivot)) return -1;
    if (m) mor_lu_solve(m, sub, pivot, part);
    for (int i = 0; i < n; i++) f->z[i] = 0.0, f->w[i] = b[i];
    for (int j = 0; j < m; j++) {
        f->z[index[j]] = part[j];
        for (int i = 0; i < n; i++) f->w[i] += f->A[i + index[j] * n] * part[j];
    }
    for (int i = 0; i < n; i++) count += f->wrong[i] = !(f->equation[i] || (f->inside[i] ? f->z[i] : f->w[i]) >= 0.0);
    return count;
}

static bool accept(run* R, const few* f)
{
    double error = R->context->error(R->context, f->z, f->w);
    if (!(error <= R->context->tol)) return false;
    R->best = error;
    memcpy(R->z, f->z, (size_t)f->n * sizeof *f->z);
    note(R, "pivots", f->tried - 1);
    return true;
}

/* A handful of pairs and equations: block principal pivots, then, for at most 3 pairs, all sets. */
static bool few_pairs(run* R)
{
    enum { MOST = 12, ALL = 3 };
    const double* b = R->problem->b;
    few f;
    f.n = R->problem->size, f.tried = 0;
    int pair[TINY], pairs = 0, fewest = f.n + 1, patience = 1, last = 0;
    entries(&R->problem->A, f.A);
    for (int i = 0; i < f.n; i++) {
        f.equation[i] = is_free(R->problem, i), f.inside[i] = f.equation[i] || b[i] < 0.0;
        if (!f.equation[i]) pair[pairs++] = i;
    }
    for (int k = 0; k <= MOST; k++) {
        int wrong = try_set(&f, b);
        if (wrong == 0 && accept(R, &f)) return true;
        if (wrong <= 0) break;
        if (wrong < fewest) fewest = wrong, patience = 1;
        else patience--;
        if (pairs <= ALL && patience < 0) break;
        for (int i = 0; i < f.n; i++)
            if (f.wrong[i]) last = i;
        for (int i = 0; i < f.n; i++)
            if (patience >= 0 ? f.wrong[i] : i == last) f.inside[i] = !f.inside[i];
    }
    for (int set = 0; pairs <= ALL && set < 1 << pairs; set++) {
        for (int k = 0; k < pairs; k++) f.inside[pair[k]] = set >> k & 1;
        if (try_set(&f, b) == 0 && accept(R, &f)) return true;
    }
    return false;
}

static mor_report auto_solve(const mor_problem* problem, const void* options, mor_context* context, double* z);

/* Equations and pairs: a handful as they are, else with the equations eliminated. */
static void mixed(run* R)
{
    static const mor_solver on_pairs = { .name = "auto", .accepts = MOR_LCP, .max_iter = 1000000, .solve = auto_solve };
    const mor_context* c = R->context;
    if (R->problem->size <= TINY && R->problem->A.storage != MOR_OPERATOR && few_pairs(R)) return;
    double left = c->deadline > 0.0 ? fmax(c->deadline - mor_context_clock(c), 1e-9) : 0.0;
    const mor_solve_options options = {
        .tol = c->tol, .time_limit = left, .warm = c->warm, .trace = c->trace, .cpu_time = c->cpu_time
    };
    R->report = mor_solve(&on_pairs, NULL, R->problem, &options, R->z, c->arena);
    R->best = c->error(c, R->z, NULL);
}

static void pairs(run* R)
{
    enum { PIVOTING = 320 };
    int n = R->problem->size;
    bool small = n <= PIVOTING && R->problem->A.storage != MOR_OPERATOR;
    if (small && n <= TINY && few_pairs(R)) return;
    if (small) { /* scaling costs as much as a few pivots, and is seldom needed */
        lemke(R, 1, false);
        if (R->best <= R->context->tol || R->report.status == MOR_NO_SOLUTION) return;
        lemke(R, 3, true);
        if (R->best <= R->context->tol || R->report.status == MOR_NO_SOLUTION) return;
    }
    mor_contact_newton N;
    double* answer = mor_arena_alloc(R->context->arena, (size_t)n * sizeof *answer);
    if (answer && mor_contact_newton_open(&N, R->problem, answer, R->context->arena)) {
        const mor_newton_linear linear = R->problem->A.storage == MOR_OPERATOR ? MOR_NEWTON_GMRES : MOR_NEWTON_DIRECT;
        const mor_newton_settings fischer = {
            .map = MOR_MAP_FISCHER, .sigma = 0.1, .floor = 1e-13, .window = 8, .max_iter = 150, .linear = linear
        };
        mor_newton_settings strong = fischer, weak = fischer;
        strong.map = weak.map = MOR_MAP_MINMAP;
        strong.sigma = 1.0, strong.max_iter = 600, weak.max_iter = 400;
        const mor_proximal_settings ppa = { .map = MOR_MAP_FISCHER,
                                            .alpha = 1.0,
                                            .shrink = 0.1,
                                            .grow = 10.0,
                                            .least = 1e-8,
                                            .max_outer = 40,
                                            .max_inner = 30,
                                            .inner_total = 1200 };
        bool solved = newton(R, &N, fischer, 0.3, true, "fischer-newton") ||
                      newton(R, &N, strong, 0.5, true, "minmap-strong") || proximal(R, &N, ppa, 0.6, "ppa") ||
                      newton(R, &N, weak, 0.7, true, "minmap-newton");
        if (N.best < R->best || isinf(R->best)) {
            R->best = N.best;
            memcpy(R->z, answer, (size_t)n * sizeof *answer);
        }
        mor_contact_newton_close(&N);
        if (solved) return;
    }
    if (!small && R->problem->A.storage != MOR_OPERATOR) lemke(R, 3, true);
}

/* ---------------------------------------------------------------------------------- steps */

/* The judge after one batch of sweeps on tree velocities. */
static double sweep_batch(run* R, mor_sweep* sweep, int count, double* p)
{
    mor_context* c = limits(R, 1.0, count);
    c->warm = R->report.iterations > 0 || R->context->warm;
    mor_report report = mor_gauss_seidel_step(sweep, MOR_SWEEP_ALTERNATE, c, p);
    settle(R);
    R->report.iterations += report.iterations;
    double error = R->context->error(R->context, p, NULL);
    if (error < R->best || isinf(R->best)) {
        R->best = error;
        memcpy(R->z, p, (size_t)R->problem->size * sizeof *p);
    }
    return error;
}

/* Sweeps while the rate predicts an end within `most`. */
static void tree_sweeps(run* R, mor_sweep* sweep, int most, double* p)
{
    enum { BATCH = 10 };
    int before = R->report.iterations;
    double previous = INFINITY;
    while (R->report.iterations - before < most) {
        double error = sweep_batch(R, sweep, BATCH, p);
        R->late = mor_out_of_time(R->context);
        if (error <= R->context->tol || !isfinite(error) || R->late) break;
        if (!isinf(previous)) {
            double rate = log(error / previous) / BATCH;
            if (!(rate < 0.0) || log(R->context->tol / error) / rate > most) break;
        }
        previous = error;
    }
    int done = R->report.iterations - before;
    R->report.iterations = before;
    note(R, "nsgs", done);
}

/* Another solver through the driver, which converts; from the guess if there is one. */
static bool other(run* R, const mor_solver* solver, const char* name, const double* guess, double share)
{
    if (R->late) return false;
    mor_context* c = limits(R, share, 0);
    double left = c->deadline > 0.0 ? c->deadline - mor_context_clock(c) : 0.0;
    if (c->deadline > 0.0 && left <= 0.0) return false;
    mor_solve_options options = { .tol = c->tol, .time_limit = left, .warm = guess != NULL, .cpu_time = c->cpu_time };
    double* z = mor_arena_alloc(c->arena, (size_t)R->problem->size * sizeof *z);
    if (!z) return false;
    if (guess) memcpy(z, guess, (size_t)R->problem->size * sizeof *z);
    mor_report report = mor_solve(solver, NULL, R->problem, &options, z, c->arena);
    if (report.status == MOR_REFUSED) return false;
    note(R, name, report.iterations);
    double error = R->context->error(R->context, z, NULL);
    if (error < R->best || isinf(R->best)) {
        R->best = error;
        memcpy(R->z, z, (size_t)R->problem->size * sizeof *z);
    }
    if (report.status == MOR_NO_SOLUTION) R->report.status = MOR_NO_SOLUTION;
    R->late = mor_out_of_time(R->context);
    return error <= c->tol;
}

/* Newton on tree velocities: briefly from a start, or at length from zero. */
static bool tree_newton(run* R, const double* start, int window, double* p)
{
    size_t bytes = (size_t)R->problem->size * sizeof *p;
    mor_tree_newton_settings s = { .sigma = 1.0, .floor = 1e-8, .adapt = true, .window = window, .max_iter = 200 };
    if (start) s.sigma = 0.01, s.max_iter = 10, s.give_up = 4, memcpy(p, start, bytes);
    else memset(p, 0, bytes);
    mor_report report = mor_tree_newton(R->problem, &s, limits(R, 0.5, s.max_iter), p);
    settle(R);
    if (report.status == MOR_REFUSED) return false;
    double error = R->context->error(R->context, p, NULL);
    if (error < R->best || isinf(R->best)) {
        R->best = error;
        memcpy(R->z, p, bytes);
    }
    R->late = mor_out_of_time(R->context);
    note(R, "nsn-tree", report.iterations);
    return R->best <= R->context->tol;
}

/* Keeps p if it is the best so far. */
static bool within_tolerance(const void* user, const double* p)
{
    run* R = (run*)user;
    double error = R->context->error(R->context, p, NULL);
    if (error < R->best) R->best = error, memcpy(R->z, p, (size_t)R->problem->size * sizeof *p);
    return error <= R->context->tol;
}

/* Circular cones from polygons: Lemke's method, which no start can mislead, tells what every contact and bounded row
 * does; the states and Newton's method find the circle from there. */
static bool from_polygon(run* R, int directions, double* p)
{
    const mor_step_form* s = &R->problem->step;
    size_t n = (size_t)R->problem->size;
    if (R->late) return false;
    mor_context* c = limits(R, 0.95, 0);
    double left = c->deadline > 0.0 ? c->deadline - mor_clock() : 0.0;
    if (c->deadline > 0.0 && left <= 0.0) return false;
    mor_block* blocks = mor_arena_alloc(c->arena, ((size_t)s->block_count + 1) * sizeof *blocks);
    double* z = mor_arena_zero(c->arena, n, sizeof *z);
    if (!blocks || !z) return false;
    for (int b = 0; b < s->block_count; b++) {
        blocks[b] = s->blocks[b];
        if (blocks[b].kind == MOR_BLOCK_CONTACT && blocks[b].dim > 3) return false;
        if (blocks[b].kind == MOR_BLOCK_CONTACT && blocks[b].dim == 3) blocks[b].directions = directions;
    }
    mor_problem polygon = *R->problem;
    polygon.form = MOR_STEP_PYRAMID;
    polygon.step.blocks = blocks;
    mor_solve_options options = { .tol = c->tol, .time_limit = left };
    mor_report report = mor_solve(&mor_solver_lemke, NULL, &polygon, &options, z, c->arena);
    settle(R);
    if (report.status == MOR_REFUSED || report.status == MOR_NO_SOLUTION) return false;
    note(R, "polygon", report.iterations);
    memcpy(p, z, n * sizeof *p);
    if (n <= MOR_STATE_GUESS_ROWS && mor_state_guess(R->problem, within_tolerance, R, p, R->context->arena))
        return true;
    return tree_newton(R, z, 8, p);
}

static void step(run* R)
{
    enum { FEW = 150, MANY = 100000, SMALL = 200 };
    int n = R->problem->size;
    const char* why;
    mor_sweep sweep;
    bool cones = R->problem->form == MOR_STEP_CONE;
    double* p = mor_arena_alloc(R->context->arena, 2 * (size_t)n * sizeof *p);
    if (!p) return;
    const double* guess = R->context->warm ? p + n : NULL;
    memcpy(p, R->z, (size_t)n * sizeof *p);
    memcpy(p + n, R->z, (size_t)n * sizeof *p);
    if (guess && n <= MOR_STATE_GUESS_ROWS) { /* what each contact did, solved for the new data */
        bool done = mor_state_guess(R->problem, within_tolerance, R, p, R->context->arena);
        note(R, "states", 1);
        if (done) return;
        R->best = INFINITY; /* the other methods begin where they would without it */
        memcpy(R->z, guess, (size_t)n * sizeof *p);
        memcpy(p, guess, (size_t)n * sizeof *p);
    }
    if (guess) { /* the last step's impulses are often the answer, or one Newton step from it */
        if (within_tolerance(R, p)) return;
        if ((n > SMALL && tree_newton(R, guess, 8, p)) || R->late) return;
        memcpy(p, guess, (size_t)n * sizeof *p);
    }
    bool can_sweep = mor_sweep_open(&sweep, &R->problem->step, true, R->context->arena, &why) == MOR_SOLVED;
    if (can_sweep) {
        tree_sweeps(R, &sweep, FEW, p);
        if (R->best <= R->context->tol || R->late) return;
    }
    if (cones) {
        if ((guess && n <= SMALL && tree_newton(R, guess, 8, p)) || tree_newton(R, NULL, 8, p) ||
            tree_newton(R, NULL, 20, p) || other(R, &mor_solver_nsn, "nsn", guess, 0.7) ||
            other(R, &mor_solver_ppa, "ppa", NULL, 0.9) ||
            (n <= SMALL && (from_polygon(R, 16, p) || from_polygon(R, 8, p))))
            return;
    } else if ((n <= SMALL && other(R, &mor_solver_lemke, "lemke", NULL, 0.4)) || tree_newton(R, NULL, 8, p) ||
               tree_newton(R, NULL, 20, p) || other(R, &mor_solver_fischer_newton, "fischer-newton", guess, 0.7) ||
               other(R, &mor_solver_lemke, "lemke", NULL, 0.9))
        return;
    if (can_sweep && !R->late && R->report.status != MOR_NO_SOLUTION) {
        memcpy(p, R->z, (size_t)n * sizeof *p);
        tree_sweeps(R, &sweep, MANY, p);
    }
}

/* Quadratic programmes: the exact method first. */
static void quadratic(run* R)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->z;
    double* guess = R->context->warm ? mor_arena_alloc(R->context->arena, bytes + 1) : NULL;
    if (guess) memcpy(guess, R->z, bytes);
    if (!other(R, &mor_solver_qp_active_set, "qp-active-set", guess, 0.5) && R->report.status != MOR_NO_SOLUTION)
        other(R, &mor_solver_qp_interior_point, "qp-interior-point", NULL, 1.0);
}

static mor_report auto_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    (void)options;
    run R = { .problem = problem, .context = context, .z = z, .best = INFINITY, .report.status = MOR_NOT_CONVERGED };
    const double tol = context->tol;
    /* the judge does not divide by scales at rounding level; such data deserve an answer as well */
    if (problem->form & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING) && problem->size > 0 &&
        mor_norm2(problem->size, problem->b) <= DBL_EPSILON)
        context->tol *= DBL_EPSILON;
    if (problem->form == MOR_LCP) pairs(&R);
    else if (problem->form == MOR_MLCP) mixed(&R);
    else if (problem->form & (MOR_STEP_CONE | MOR_STEP_PYRAMID)) step(&R);
    else if (problem->form == MOR_QP) quadratic(&R);
    else contacts(&R);
    context->tol = tol;
    if (R.best <= context->tol) R.report.status = MOR_SOLVED;
    else if (R.report.status != MOR_NO_SOLUTION && mor_out_of_time(context)) R.report.status = MOR_TIME_LIMIT;
    return R.report;
}

extern const mor_solver mor_solver_automatic;
const mor_solver mor_solver_automatic = {
    .name = "auto",
    .summary = "chooses a method by form and size, falls back in a fixed order, says what it did",
    .reference = "acary2018",
    .accepts = MOR_LCP | MOR_MLCP | MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_STEP_CONE | MOR_STEP_PYRAMID | MOR_QP,
    .max_iter = 1000000,
    .solve = auto_solve,
};
