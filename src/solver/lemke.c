/* Lemke's complementary pivoting for the LCP  w = A z + b,  0 <= z _|_ w >= 0.
 *
 * An artificial variable z0 with covering vector d > 0 makes w = A z + d z0 + b feasible. Starting
 * with the row where b_i/d_i is least, z0 enters; from then on the complement of the variable that
 * left enters, the ratio test decides who leaves, and the path ends when z0 leaves (a solution) or
 * nothing blocks (a secondary ray).
 *
 * Tableau: basic = q + T nonbasic, n rows, row-major, q in front of its row, so that one pivot is
 *   row_r := -row_r/p with 1/p at the pivot,   row_i += T_is row_r   for rows with T_is != 0:
 * at most n^2 multiply-adds, no inverse, no LU. Rows with a zero multiplier are skipped (in
 * contact problems most), and a sparse pivot row is added by index.
 *
 * What makes it hold on real problems:
 *   - rows and columns of A are equilibrated by powers of two (w and z scale separately);
 *   - d is irregular, so that paths do not meet ties by symmetry; ties that remain are broken
 *     lexicographically (b + (eps, eps^2, ...)), which excludes cycling;
 *   - z0 is preferred on ties, and the path also ends when z0 <= 1e-14 max|b|: degenerate problems
 *     reach z0 = 0 to rounding without z0 winning the ratio test, and would run into a ray;
 *   - an answer not far below tol is refined in the original data with the tableau as approximate inverse (it holds
 *     B^-1 in the columns of the w that left), and its active set solved once more by LU if that was not enough;
 *   - before a ray is believed the tableau is made anew from the original data for the same basis
 *     (Gauss-Jordan with complete pivoting), and the path goes on if rounding had made the ray;
 *   - redundant contacts make bases singular to rounding, and then a path can be lost. A failed path is tried again
 *     with another d and A + shift I, a small shift: every basis is then regular, the path short of surprises, and a
 *     few proximal point steps (b - shift z_k; Rockafellar 1976) lead back to the problem itself.
 *
 * A ray is called no_solution only with a certificate in the original data: y >= 0, A'y <= 0, b'y < 0 (Farkas: then
 * no z >= 0 has A z + b >= 0). For A with positive semidefinite symmetric part, and copositive-plus A in general, the
 * ray's own direction is such a y; elsewhere the ending is not_converged.
 *
 * A path ends in a corner of the set of answers. Where the LCP is a time step, the driver goes from there to the answer
 * of least norm (solve.c).
 *
 * iterations: pivots over all tries. Warm starts are not used. Memory: n^2.
 * References: Lemke (1965), Bimatrix equilibrium points and mathematical programming; Cottle, Pang &
 * Stone (1992), The Linear Complementarity Problem, alg. 4.4.5, sec. 4.9 (lexicographic degeneracy
 * resolution), thm. 4.4.12 (copositive-plus). */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/tableau.h"
#include "problem/convert.h"
#include "problem/entries.h"
#include "solver/lemke.h"
#include "solver/pivot_table.h"

/* The scaled problem a path runs on. */
typedef struct scaled {
    const double *A, *b, *d; /* A in rows of the tableau's stride, columns 1 ... n */
    double shift;            /* added to the diagonal of A */
    int* list;               /* scratch: 2n + 2 */
} scaled;

typedef struct tableau {
    int n, stride; /* row: q, n + 1 columns, padding to a multiple of 4 */
    double* T;
    int* basic;                /* variable of row i: z_k is k, w_k is n + k, z0 is 2n */
    int* nonbasic;             /* variable of column 1 ... n + 1 */
    int* place;                /* variable -> row, or -column */
    int* index;                /* scratch: non-zero columns */
    double snap;               /* constants below this are zero */
    double slack;              /* constants may fall this far below zero in a tie */
    double tiny;               /* pivots below this part of their column are noise */
    double keep;               /* in a tie, pivots above this part of the largest are candidates */
    double *column, *constant; /* scratch: entering column and constants, not below zero */
} tableau;

static double* row_of(const tableau* t, int i) { return t->T + (size_t)i * t->stride; }

static void pivot(tableau* t, int r, int s)
{
    mor_tableau_pivot(t->n, t->n + 2, t->stride, t->T, r, s, t->index);
    for (int i = 0; i < t->n; i++)
        if (fabs(row_of(t, i)[0]) < t->snap) row_of(t, i)[0] = 0.0;
    int leaving = t->basic[r], entering = t->nonbasic[s];
    t->basic[r] = entering, t->nonbasic[s] = leaving;
    t->place[entering] = r, t->place[leaving] = -s;
}

/* ---------------------------------------------------------------------------- ratio test */

/* Coefficient of the k-th perturbation in row i. */
static double perturbation(const tableau* t, int i, int k)
{
    int at = t->place[t->n + k];
    return at < 0 ? -row_of(t, i)[-at] : at == i ? 1.0 : 0.0;
}

/* True if row a leaves before row b in the perturbed problem, for rows tied in q. */
static bool before(const tableau* t, int a, int b, int s)
{
    double pa = -1.0 / row_of(t, a)[s], pb = -1.0 / row_of(t, b)[s];
    for (int k = 0; k < t->n; k++) {
        double x = pa * perturbation(t, a, k), y = pb * perturbation(t, b, k);
        if (x != y) return x < y;
    }
    return a < b;
}

/* The row that blocks the entering column, or -1. Rows whose constants would fall below zero by no more than `slack`
 * count as tied (Harris 1973): among them z0 is taken if it is there, else the lexicographic rule chooses between those
 * with a pivot not much smaller than the largest. Tiny pivots in degenerate rows are what ruins a tableau. */
static int ratio_test(const tableau* t, int s)
{
    int n = t->n, best = -1, z0 = t->place[2 * n];
    double *a = t->column, *q = t->constant, largest = 0.0, limit = INFINITY, widest = 0.0;
    for (int i = 0; i < n; i++) {
        const double* row = row_of(t, i);
        a[i] = -row[s], q[i] = row[0] > 0.0 ? row[0] : 0.0;
        double size = fabs(a[i]);
        if (size > largest) largest = size;
    }
    const double tiny = t->tiny * largest;
    for (int i = 0; i < n; i++)
        if (a[i] > tiny && q[i] + t->slack < limit * a[i]) limit = (q[i] + t->slack) / a[i];
    if (limit == INFINITY) return -1;
    if (z0 >= 0 && a[z0] > tiny && q[z0] <= limit * a[z0]) return z0;
    for (int i = 0; i < n; i++)
        if (a[i] > tiny && a[i] > widest && q[i] <= limit * a[i]) widest = a[i];
    for (int i = 0; i < n; i++)
        if (a[i] > tiny && a[i] >= t->keep * widest && q[i] <= limit * a[i] && (best < 0 || before(t, i, best, s)))
            best = i;
    return best;
}

/* ------------------------------------------------------------------------------- one path */

typedef enum ending { FOUND, RAY, LOST, USED_UP, LATE } ending;

/* T := [b | A + shift I | d] with all w basic. */
static void load(tableau* t, const scaled* data)
{
    int n = t->n;
    memcpy(t->T, data->A, (size_t)n * t->stride * sizeof *t->T);
    for (int i = 0; i < n; i++) {
        double* row = row_of(t, i);
        row[0] = data->b[i], row[n + 1] = data->d[i], row[i + 1] += data->shift;
        t->basic[i] = n + i, t->place[n + i] = i;
        t->nonbasic[i + 1] = i, t->place[i] = -(i + 1);
    }
    t->nonbasic[n + 1] = 2 * n, t->place[2 * n] = -(n + 1);
}

/* Basic values improved in the original data: with e = w - A z - d z0 - b for the present values, x_B -= B^-1 e.
 * `work`: 2n. Two rounds; each O(n^2). */
static void refine(tableau* t, const scaled* data, double* work)
{
    int n = t->n;
    double *x = work, *e = work + n;
    for (int round = 0; round < 2; round++) {
        double z0 = t->place[2 * n] >= 0 ? row_of(t, t->place[2 * n])[0] : 0.0;
        for (int k = 0; k < n; k++) x[k] = t->place[k] >= 0 ? row_of(t, t->place[k])[0] : 0.0;
        for (int i = 0; i < n; i++) {
            const double* row = data->A + (size_t)i * t->stride + 1;
            double s = data->b[i] + data->d[i] * z0 + data->shift * x[i];
            for (int j = 0; j < n; j++) s += row[j] * x[j];
            e[i] = (t->place[n + i] >= 0 ? row_of(t, t->place[n + i])[0] : 0.0) - s;
        }
        for (int k = 0; k < n; k++) {
            if (e[k] == 0.0) continue;
            int at = t->place[n + k];
            if (at >= 0) row_of(t, at)[0] -= e[k];
            else
                for (int i = 0; i < n; i++) {
                    double* row = row_of(t, i);
                    row[0] += row[-at] * e[k];
                }
        }
    }
}

/* The tableau of the present basis computed afresh from the data. False if the basis is singular to rounding. */
static bool rebuild(tableau* t, const scaled* data)
{
    int n = t->n, m = 0, *list = data->list;
    for (int i = 0; i < n; i++)
        if (t->basic[i] < n || t->basic[i] == 2 * n) list[m++] = t->basic[i];
    int* rows = list + n + 1; /* the w that must leave */
    int leave = 0;
    for (int k = 0; k < n; k++)
        if (t->place[n + k] < 0) rows[leave++] = k;
    load(t, data);
    for (; m > 0; m--) {
        int r = 0, c = 0;
        double best = 0.0;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double a = fabs(row_of(t, rows[i])[-t->place[list[j]]]);
                if (a > best) best = a, r = i, c = j;
            }
        if (!(best > 1e-13)) return false;
        pivot(t, rows[r], -t->place[list[c]]);
        list[c] = list[m - 1], rows[r] = rows[m - 1];
    }
    return true;
}

static void read_answer(const tableau* t, const double* column_scale, double* z)
{
    memset(z, 0, (size_t)t->n * sizeof *z);
    for (int i = 0; i < t->n; i++)
        if (t->basic[i] < t->n) z[t->basic[i]] = column_scale[t->basic[i]] * mor_max(0.0, row_of(t, i)[0]);
}

static ending walk(tableau* t, const scaled* data, double stop, mor_context* context, const double* column_scale,
                   int* pivots, double* z, int* column)
{
    int n = t->n, z0 = 2 * n, r = 0;
    int fresh = -1, first = *pivots; /* pivots when the tableau was last rebuilt; at the start of the path */
    for (int i = 1; i < n; i++)      /* ties: the last row has the smallest perturbation */
        if (row_of(t, i)[0] / row_of(t, i)[n + 1] <= row_of(t, r)[0] / row_of(t, r)[n + 1]) r = i;
    int s = n + 1;
    for (;;) {
        int leaving = t->basic[r];
        pivot(t, r, s);
        ++*pivots;
        if (leaving == z0) return FOUND;
        if (t->place[z0] >= 0 && row_of(t, t->place[z0])[0] <= stop) return FOUND;
        if (context->trace) {
            read_answer(t, column_scale, z);
            mor_trace_add(context, *pivots, 1.0, z);
        }
        if (*pivots >= context->max_iter || *pivots - first > 5 * n + 100) return USED_UP;
        if ((*pivots & (n > 500 ? 0 : 15)) == 0 && mor_out_of_time(context)) return LATE;
        int entering = leaving < n ? leaving + n : leaving - n;
        s = -t->place[entering];
        r = ratio_test(t, s);
        if (r < 0 && fresh != *pivots) {
            if (!rebuild(t, data)) return LOST;
            fresh = *pivots;
            if (t->place[z0] >= 0 && row_of(t, t->place[z0])[0] <= stop) return FOUND;
            s = -t->place[entering];
            r = ratio_test(t, s);
        }
        if (r < 0) {
            *column = s;
            return RAY;
        }
    }
}

/* Farkas certificate from the direction of the ray in column s. */
static bool proves_infeasible(const tableau* t, const mor_problem* problem, int s, const double* column_scale,
                              mor_arena* arena)
{
    int n = t->n;
    size_t mark = mor_arena_mark(arena);
    double* y = mor_arena_zero(arena, (size_t)n, sizeof *y);
    double* g = mor_arena_alloc(arena, (size_t)n * sizeof *g);
    bool proved = false;
    if (y && g && problem->A.storage != MOR_OPERATOR) {
        if (t->nonbasic[s] < n) y[t->nonbasic[s]] = column_scale[t->nonbasic[s]];
        for (int i = 0; i < n; i++)
            if (t->basic[i] < n) y[t->basic[i]] = column_scale[t->basic[i]] * mor_max(0.0, row_of(t, i)[s]);
        double length = mor_norm_max(n, y), descent = 0.0, size = 0.0, reach = 0.0;
        if (length > 0.0) {
            for (int i = 0; i < n; i++) {
                y[i] = y[i] < 1e-12 * length ? 0.0 : y[i] / length;
                descent += problem->b[i] * y[i], size += fabs(problem->b[i]) * y[i];
            }
            mor_matrix_apply_transposed(&problem->A, y, g);
            for (int j = 0; j < n; j++) reach = mor_max(reach, g[j]);
            /* rounding of A'y against the largest column sum it is made of */
            double columns = 0.0;
            const mor_matrix* A = &problem->A;
            for (size_t k = 0; k < (A->storage == MOR_DENSE ? (size_t)n * n : (size_t)A->p[n]); k++)
                columns = mor_max(columns, fabs(A->x[k]));
            proved = descent < -1e-8 * size && reach <= 1e-11 * columns;
        }
    }
    mor_arena_release(arena, mark);
    return proved;
}

/* ---------------------------------------------------------------------------------- data */

/* Row-major copy of A into tableau rows (columns 1 ... n). */
static void copy_matrix(const mor_matrix* A, int n, int stride, double* T)
{
    memset(T, 0, (size_t)n * stride * sizeof *T);
    for (int i = 0; i < n; i++) mor_matrix_get_row(A, i, T + (size_t)i * stride + 1);
}

/* The tries: the problem itself, then shifted by these parts of the equilibrated diagonal. Shifts below the softest
 * mode that matters (mass ratio 1e6: 1e-6) and far above rounding; each try has another covering vector. */
static const double shifts[] = { 0.0, 1e-9, 1e-8, 1e-7, 0.0, 1e-6 };
enum { TRIES = sizeof shifts / sizeof *shifts, ROUNDS = 6 };

static void cover(int n, int try, int covering, double* d)
{
    static const int stride[TRIES] = { 7919, 6271, 3571, 9973, 4957, 8581 };
    const int step = stride[try] % 1009;
    for (int k = 0, v = step; k < n; k++, v += v + step < 1009 ? step : step - 1009) /* v = stride (k + 1) mod 1009 */
        d[k] = covering == MOR_LEMKE_ONES && try == 0 ? 1.0 : 1.0 + (0.5 / 1009.0) * v;
}

/* A run over all tries. */
typedef struct lemke_run {
    const mor_problem* problem;
    mor_context* context;
    tableau t;
    double *A, *R, *C, *b, *d;               /* scaled matrix in rows of the tableau, scaling, constants, covering */
    double *trial, *work, *shifted, *centre; /* n; work: 2n */
    int* list;                               /* 2n + 2 */
    double largest;                          /* |b| */
    double best;                             /* least error, of z */
    int pivots;
    double* z;
    mor_report report;
} lemke_run;

/* Memory and the scaled problem. False: out of memory. */
static bool open_run(lemke_run* run, bool equilibrate)
{
    const mor_problem* problem = run->problem;
    mor_arena* arena = run->context->arena;
    int n = problem->size;
    tableau* t = &run->t;
    *t = (tableau){ .n = n, .stride = (n + 2 + 3) & ~3 };
    size_t size = (size_t)n * t->stride;
    run->A = mor_arena_alloc(arena, size * sizeof *run->A);
    t->T = mor_arena_alloc(arena, size * sizeof *t->T);
    int* ints = mor_arena_alloc(arena, (7 * (size_t)n + 7) * sizeof *ints);
    double* v = mor_arena_alloc(arena, 11 * (size_t)n * sizeof *v);
    if (!run->A || !t->T || !ints || !v) return false;
    t->basic = ints, t->nonbasic = t->basic + n, t->place = t->nonbasic + n + 2, t->index = t->place + 2 * n + 1;
    run->list = t->index + n + 2;
    run->R = v, run->C = v + n, run->b = v + 2 * n, run->d = v + 3 * n, run->trial = v + 4 * n, run->work = v + 5 * n;
    run->shifted = v + 7 * n, run->centre = v + 8 * n, t->column = v + 9 * n, t->constant = v + 10 * n;
    copy_matrix(&problem->A, n, t->stride, run->A);
    if (equilibrate) mor_tableau_equilibrate(n, t->stride, run->A + 1, run->R, run->C, run->work);
    else
        for (int i = 0; i < n; i++) run->R[i] = run->C[i] = 1.0;
    for (int i = 0; i < n; i++) run->b[i] = run->R[i] * problem->b[i];
    run->largest = mor_norm_max(n, run->b);
    /* Constants at the level of rounding make the problem nearly degenerate, the worst of all; as zeros the
     * lexicographic rule deals with them, and the polish knows their true values. */
    for (int i = 0; i < n; i++)
        if (fabs(run->b[i]) < 1e-11 * run->largest) run->b[i] = 0.0;
    t->snap = 1e-15 * run->largest, t->slack = 1e-13 * run->largest, t->tiny = 1e-11, t->keep = 0.5;
    return true;
}

/* The answer of a path that ended, refined and polished if that is needed; the best is kept in z. Returns its error. */
static double read_path(lemke_run* run, const scaled* data, ending end)
{
    const mor_context* context = run->context;
    int n = run->t.n;
    double* trial = run->trial;
    read_answer(&run->t, run->C, trial);
    double error = context->error(context, trial, NULL);
    if (end == FOUND && !(error <= 1e-3 * context->tol)) {
        refine(&run->t, data, run->work);
        read_answer(&run->t, run->C, trial);
        error = context->error(context, trial, NULL);
    }
    for (int i = 0; i < n; i++) run->centre[i] = trial[i] / run->C[i];
    const mor_stop stop = { mor_context_stops, context };
    if (end <= LOST && !(error <= 0.1 * context->tol))
        error = mor_active_set_polish(run->problem, trial, mor_context_measure, context, &stop, context->arena);
    if (error < run->best || run->pivots == 0) {
        run->best = error;
        memcpy(run->z, trial, (size_t)n * sizeof *run->z);
    }
    return error;
}

/* One path; with a shift proximal point steps, each a path, until they no longer help. */
static void attempt(lemke_run* run, double shift)
{
    mor_context* context = run->context;
    mor_report* report = &run->report;
    int n = run->t.n;
    double last = INFINITY;
    memset(run->centre, 0, (size_t)n * sizeof *run->centre);
    for (int round = 0; round < (shift > 0.0 ? ROUNDS : 1); round++) {
        int column = 0;
        for (int i = 0; i < n; i++) run->shifted[i] = run->b[i] - shift * run->centre[i];
        const scaled data = { run->A, run->shifted, run->d, shift, run->list };
        load(&run->t, &data);
        ending end = walk(&run->t, &data, 1e-14 * run->largest, context, run->C, &run->pivots, run->trial, &column);
        if (end == RAY && shift == 0.0 && proves_infeasible(&run->t, run->problem, column, run->C, context->arena)) {
            report->status = MOR_NO_SOLUTION;
            snprintf(report->detail, sizeof report->detail,
                     "secondary ray with a certificate: y >= 0, A'y <= 0, b'y < 0");
            return;
        }
        double error = read_path(run, &data, end);
        if (error <= context->tol) report->status = MOR_SOLVED;
        else if (end == LATE) report->status = MOR_TIME_LIMIT;
        else if (end == RAY)
            snprintf(report->detail, sizeof report->detail,
                     "ended on a secondary ray; no proof that there is no solution");
        else if (end == FOUND || end == LOST)
            snprintf(report->detail, sizeof report->detail, "path complete, but rounding left more than the tolerance");
        if (report->status != MOR_NOT_CONVERGED || end != FOUND || !(error < 0.5 * last)) return;
        last = error;
    }
}

static mor_report lemke_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const mor_lemke_options* o = options;
    int n = problem->size;
    lemke_run run = { .problem = problem, .context = context, .best = INFINITY, .z = z };
    mor_report* report = &run.report;
    report->status = MOR_NOT_CONVERGED;
    memset(z, 0, (size_t)n * sizeof *z);
    if (problem->A.storage == MOR_OPERATOR) {
        report->status = MOR_REFUSED;
        snprintf(report->detail, sizeof report->detail, "pivoting needs the entries of the matrix");
        return *report;
    }
    bool trivial = true;
    for (int i = 0; i < n; i++) trivial = trivial && problem->b[i] >= 0.0;
    if (trivial) return report->status = MOR_SOLVED, *report;
    if (!open_run(&run, o->equilibrate)) {
        report->status = MOR_NUMERICAL;
        snprintf(report->detail, sizeof report->detail, "out of memory for a tableau of %d rows", n);
        return *report;
    }
    for (int try = 0; try < o->tries && report->status == MOR_NOT_CONVERGED; try++) {
        cover(n, try, o->covering, run.d);
        attempt(&run, shifts[try]);
        if (run.pivots >= context->max_iter) break;
    }
    if (report->status == MOR_SOLVED) report->detail[0] = 0;
    report->iterations = run.pivots;
    return *report;
}

static const mor_field fields[] = {
    { "tries", MOR_TYPE_INT, offsetof(mor_lemke_options, tries), TRIES, 1, TRIES, NULL, "",
      "paths tried, with other covering vectors and proximal shifts, before giving up" },
    { "covering", MOR_TYPE_CHOICE, offsetof(mor_lemke_options, covering), 0, 0, 0, "irregular|ones", "",
      "covering vector of the first path" },
    { "equilibrate", MOR_TYPE_BOOL, offsetof(mor_lemke_options, equilibrate), 1, 0, 1, NULL, "",
      "scale rows and columns first" },
    { 0 },
};

const mor_solver mor_solver_lemke = {
    .name = "lemke",
    .summary = "Lemke's complementary pivoting, equilibrated and lexicographic",
    .reference = "cottle1992",
    .accepts = MOR_LCP,
    .options_size = sizeof(mor_lemke_options),
    .fields = fields,
    .max_iter = 20000,
    .solve = lemke_solve,
};
