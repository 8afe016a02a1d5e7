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
 *   - the answer's active set is solved once more in the original data unless the error is far below the tolerance;
 *   - a failed path is tried again with another d.
 *
 * A ray is called no_solution only with a certificate in the original data: y >= 0, A'y <= 0, b'y < 0 (Farkas: then
 * no z >= 0 has A z + b >= 0). For A with positive semidefinite symmetric part, and copositive-plus A in general, the
 * ray's own direction is such a y; elsewhere the ending is not_converged.
 *
 * iterations: pivots over all tries. Warm starts are not used. Memory: n^2.
 * References: Lemke (1965), Bimatrix equilibrium points and mathematical programming; Cottle, Pang &
 * Stone (1992), The Linear Complementarity Problem, alg. 4.4.5, sec. 4.9 (lexicographic degeneracy
 * resolution), thm. 4.4.12 (copositive-plus). */
#include <stdio.h>
#include <string.h>

#include "linalg/dense.h"
#include "moreau/solver.h"
#include "problem/convert.h"

typedef struct lemke_options {
    int tries;
    int covering;
} lemke_options;

typedef struct tableau {
    int n, stride;      /* row: q, n + 1 columns, padding to a multiple of 4 */
    double* T;
    int* basic;         /* variable of row i: z_k is k, w_k is n + k, z0 is 2n */
    int* nonbasic;      /* variable of column 1 ... n + 1 */
    int* place;         /* variable -> row, or -column */
    int* index;         /* scratch: non-zero columns */
    double snap;        /* constants below this are zero */
    void (*add)(int count, double a, const double* x, double* y);
} tableau;

/* ------------------------------------------------------------------------------ kernels */

static void add_scaled(int count, double a, const double* restrict x, double* restrict y)
{
    for (int k = 0; k < count; k += 4) {
        y[k] += a * x[k];
        y[k + 1] += a * x[k + 1];
        y[k + 2] += a * x[k + 2];
        y[k + 3] += a * x[k + 3];
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
/* The same operations in the same order, four at a time: the same bits. */
typedef double quad __attribute__((vector_size(32), may_alias));
__attribute__((target("avx2"))) static void add_scaled_avx2(int count, double a, const double* x, double* y)
{
    const quad A = { a, a, a, a };
    const quad* X = (const quad*)x;
    quad* Y = (quad*)y;
    for (int k = 0; k < count / 4; k++) Y[k] += A * X[k];
}
#endif

static double* row_of(const tableau* t, int i) { return t->T + (size_t)i * t->stride; }

static void pivot(tableau* t, int r, int s)
{
    double *R = row_of(t, r), p = R[s], inverse = 1.0 / p;
    int count = 0, width = t->n + 2;
    for (int j = 0; j < width; j++)
        if (R[j] != 0.0) {
            R[j] = j == s ? inverse : -R[j] * inverse;
            t->index[count++] = j;
        }
    bool sparse = 4 * count < width;
    for (int i = 0; i < t->n; i++) {
        double *row = row_of(t, i), f = row[s];
        if (i == r || f == 0.0) continue;
        row[s] = 0.0;
        if (sparse)
            for (int k = 0; k < count; k++) row[t->index[k]] += f * R[t->index[k]];
        else t->add(t->stride, f, R, row);
        if (fabs(row[0]) < t->snap) row[0] = 0.0;
    }
    if (fabs(R[0]) < t->snap) R[0] = 0.0;
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

/* The row that blocks the entering column, or -1. */
static int ratio_test(const tableau* t, int s)
{
    int n = t->n, best = -1, z0 = 2 * n;
    double largest = 0.0, least = INFINITY;
    for (int i = 0; i < n; i++) {
        double a = fabs(row_of(t, i)[s]);
        if (a > largest) largest = a;
    }
    const double tiny = 1e-11 * largest;
    for (int i = 0; i < n; i++) {
        const double* row = row_of(t, i);
        if (!(row[s] < -tiny)) continue;
        double ratio = (row[0] > 0.0 ? row[0] : 0.0) / -row[s];
        if (ratio < least) least = ratio, best = i;
    }
    if (best < 0) return -1;
    const double tie = least + 1e-13 * least;
    for (int i = 0; i < n; i++) {
        const double* row = row_of(t, i);
        if (i == best || !(row[s] < -tiny)) continue;
        double ratio = (row[0] > 0.0 ? row[0] : 0.0) / -row[s];
        if (ratio > tie) continue;
        if (t->basic[best] == z0) break;
        if (t->basic[i] == z0 || before(t, i, best, s)) best = i;
    }
    return best;
}

/* ------------------------------------------------------------------------------- one path */

typedef enum ending { FOUND, RAY, STUCK, USED_UP, LATE } ending; /* STUCK: longer than paths are, so probably a cycle */

/* T := [b | A | d] with all w basic. A and b are scaled. */
static void load(tableau* t, const double* A, const double* b, const double* d)
{
    int n = t->n;
    memcpy(t->T, A, (size_t)n * t->stride * sizeof *t->T);
    for (int i = 0; i < n; i++) {
        double* row = row_of(t, i);
        row[0] = b[i], row[n + 1] = d[i];
        t->basic[i] = n + i, t->place[n + i] = i;
        t->nonbasic[i + 1] = i, t->place[i] = -(i + 1);
    }
    t->nonbasic[n + 1] = 2 * n, t->place[2 * n] = -(n + 1);
}

static void read_answer(const tableau* t, const double* column_scale, double* z)
{
    memset(z, 0, (size_t)t->n * sizeof *z);
    for (int i = 0; i < t->n; i++)
        if (t->basic[i] < t->n) z[t->basic[i]] = column_scale[t->basic[i]] * fmax(0.0, row_of(t, i)[0]);
}

static ending walk(tableau* t, double stop, int most, mor_context* context, const double* column_scale, int* pivots,
                   double* z, int* column)
{
    int n = t->n, z0 = 2 * n, r = 0;
    for (int i = 1; i < n; i++) /* ties: the last row has the smallest perturbation */
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
        if (*pivots >= context->max_iter) return USED_UP;
        if (*pivots >= most) return STUCK;
        if ((*pivots & (n > 500 ? 0 : 15)) == 0 && mor_out_of_time(context)) return LATE;
        int entering = leaving < n ? leaving + n : leaving - n;
        s = -t->place[entering];
        r = ratio_test(t, s);
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
            if (t->basic[i] < n) y[t->basic[i]] = column_scale[t->basic[i]] * fmax(0.0, row_of(t, i)[s]);
        double length = mor_norm_max(n, y), descent = 0.0, size = 0.0, reach = 0.0;
        if (length > 0.0) {
            for (int i = 0; i < n; i++) {
                y[i] = y[i] < 1e-12 * length ? 0.0 : y[i] / length;
                descent += problem->b[i] * y[i], size += fabs(problem->b[i]) * y[i];
            }
            mor_matrix_apply_transposed(&problem->A, y, g);
            for (int j = 0; j < n; j++) reach = fmax(reach, g[j]);
            /* rounding of A'y against the largest column sum it is made of */
            double columns = 0.0;
            const mor_matrix* A = &problem->A;
            for (size_t k = 0; k < (A->storage == MOR_DENSE ? (size_t)n * n : (size_t)A->p[n]); k++)
                columns = fmax(columns, fabs(A->x[k]));
            proved = descent < -1e-8 * size && reach <= 1e-11 * columns;
        }
    }
    mor_arena_release(arena, mark);
    return proved;
}

/* ------------------------------------------------------------------------------- scaling */

static double power_of_two(double x)
{
    int e = 0;
    frexp(x, &e);
    return ldexp(1.0, e);
}

/* Row-major copy of A into tableau rows (columns 1 ... n), equilibrated: A_ij := R_i A_ij C_j. Ruiz (2001), A scaling
 * algorithm to equilibrate both rows and columns norms, three rounds in the max norm. */
static void scale_matrix(const mor_matrix* A, int n, int stride, double* T, double* R, double* C, double* work)
{
    memset(T, 0, (size_t)n * stride * sizeof *T);
    for (int i = 0; i < n; i++) {
        double* row = T + (size_t)i * stride + 1;
        if (A->storage == MOR_DENSE)
            for (int j = 0; j < n; j++) row[j] = A->x[i + (size_t)j * n];
        else
            for (int k = A->p[i]; k < A->p[i + 1]; k++) row[A->i[k]] = A->x[k];
        R[i] = C[i] = 1.0;
    }
    for (int round = 0; round < 3; round++) {
        double *rows = work, *columns = work + n;
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int i = 0; i < n; i++) {
            const double* row = T + (size_t)i * stride + 1;
            for (int j = 0; j < n; j++) {
                double a = R[i] * fabs(row[j]) * C[j];
                if (a > rows[i]) rows[i] = a;
                if (a > columns[j]) columns[j] = a;
            }
        }
        for (int i = 0; i < n; i++) {
            if (rows[i] > 0.0) R[i] /= sqrt(rows[i]);
            if (columns[i] > 0.0) C[i] /= sqrt(columns[i]);
        }
    }
    for (int i = 0; i < n; i++) R[i] = power_of_two(R[i]), C[i] = power_of_two(C[i]);
    for (int i = 0; i < n; i++) {
        double* row = T + (size_t)i * stride + 1;
        for (int j = 0; j < n; j++)
            if (row[j] != 0.0) row[j] *= R[i] * C[j];
    }
}

/* Covering vectors of the tries: irregular ones with different strides, then all ones. */
static void cover(int n, int try, int covering, double* d)
{
    static const int stride[] = { 7919, 6271, 3571, 9973 };
    for (int k = 0; k < n; k++)
        d[k] = (try == 2) != (covering == 1) ? 1.0 : 1.0 + 0.5 * (double)(((long)stride[try & 3] * (k + 1)) % 1009) / 1009.0;
}

/* The judge's error on the problem as posed. */
static double posed_error(const void* context, const double* z) { return ((const mor_context*)context)->error(context, z, NULL); }

static mor_report lemke_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const lemke_options* o = options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = problem->size;
    memset(z, 0, (size_t)n * sizeof *z);
    if (problem->A.storage == MOR_OPERATOR) {
        report.status = MOR_REFUSED;
        snprintf(report.detail, sizeof report.detail, "pivoting needs the entries of the matrix");
        return report;
    }
    bool trivial = true;
    for (int i = 0; i < n; i++) trivial = trivial && problem->b[i] >= 0.0;
    if (trivial) {
        report.status = MOR_SOLVED;
        return report;
    }

    mor_arena* arena = context->arena;
    tableau t = { .n = n, .stride = (n + 2 + 3) & ~3, .add = add_scaled };
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) t.add = add_scaled_avx2;
#endif
    size_t size = (size_t)n * t.stride;
    double* A = mor_arena_alloc(arena, size * sizeof *A);
    t.T = mor_arena_alloc(arena, size * sizeof *t.T);
    t.basic = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    t.nonbasic = mor_arena_alloc(arena, ((size_t)n + 2) * sizeof(int));
    t.place = mor_arena_alloc(arena, (2 * (size_t)n + 1) * sizeof(int));
    t.index = mor_arena_alloc(arena, ((size_t)n + 2) * sizeof(int));
    double* vectors = mor_arena_alloc(arena, 7 * (size_t)n * sizeof *vectors);
    if (!A || !t.T || !t.basic || !t.nonbasic || !t.place || !t.index || !vectors) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory for a tableau of %d rows", n);
        return report;
    }
    double *R = vectors, *C = R + n, *b = C + n, *d = b + n, *trial = d + n, *work = trial + n, best = INFINITY;
    scale_matrix(&problem->A, n, t.stride, A, R, C, work);
    for (int i = 0; i < n; i++) b[i] = R[i] * problem->b[i];
    double largest = mor_norm_max(n, b);
    t.snap = 1e-15 * largest;
    /* Constants at the level of rounding make the problem nearly degenerate, the worst of all; as zeros the
     * lexicographic rule deals with them, and the polish knows their true values. */
    for (int i = 0; i < n; i++)
        if (fabs(b[i]) < 1e-11 * largest) b[i] = 0.0;

    int pivots = 0;
    for (int try = 0; try < o->tries; try++) {
        int column = 0;
        cover(n, try, o->covering, d);
        load(&t, A, b, d);
        ending end = walk(&t, 1e-14 * largest, pivots + 100 + 5 * n, context, C, &pivots, trial, &column);
        if (end == RAY && proves_infeasible(&t, problem, column, C, arena)) {
            report.status = MOR_NO_SOLUTION;
            snprintf(report.detail, sizeof report.detail, "secondary ray with a certificate: y >= 0, A'y <= 0, b'y < 0");
            best = -1.0;
            break;
        }
        read_answer(&t, C, trial);
        double error = context->error(context, trial, NULL);
        if (end <= RAY && !(error <= 1e-3 * context->tol)) {
            error = mor_active_set_polish(problem, trial, posed_error, context, arena);
        }
        if (error < best || try == 0) {
            best = error;
            memcpy(z, trial, (size_t)n * sizeof *z);
        }
        if (error <= context->tol) {
            report.status = MOR_SOLVED;
            break;
        }
        if (end == RAY)
            snprintf(report.detail, sizeof report.detail, "ended on a secondary ray; no proof that there is no solution");
        else if (end == FOUND)
            snprintf(report.detail, sizeof report.detail, "path complete, but rounding left more than the tolerance");
        if (end == LATE) report.status = MOR_TIME_LIMIT;
        if (end == LATE || end == USED_UP) break;
    }
    report.iterations = pivots;
    return report;
}

static const mor_field fields[] = {
    { "tries", MOR_TYPE_INT, offsetof(lemke_options, tries), 3, 1, 4, NULL, "",
      "paths tried, each with another covering vector, before giving up" },
    { "covering", MOR_TYPE_CHOICE, offsetof(lemke_options, covering), 0, 0, 0, "irregular|ones", "",
      "covering vector of the first path" },
    { 0 },
};

extern const mor_solver mor_solver_lemke;
const mor_solver mor_solver_lemke = {
    .name = "lemke",
    .summary = "Lemke's complementary pivoting, equilibrated and lexicographic",
    .reference = "cottle1992",
    .accepts = MOR_LCP,
    .options_size = sizeof(lemke_options),
    .fields = fields,
    .max_iter = 20000,
    .solve = lemke_solve,
};
