/* Residual-regularised nonsmooth Newton on contact maps (contact_newton.h). */
#include "base/inline.h"
#include "solver/contact_newton.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/krylov.h"

enum { DENSE_ROWS = 260, RESTART = 40, MOST_PRODUCTS = 1000, SHORTEST = 11, LONGEST_WINDOW = 64 };
/* Bodies at rest have q_N = 0: contacts at the kink count as closed, or loads would spread by one contact per
 * iteration. */
static const double TIE = 1e-14;

/* ------------------------------------------------------------------------------- scaling */

static double block_entry(const mor_contact_newton* N, int c, int i, int j)
{
    int d = N->d;
    if (N->free_product) return i == j ? 1.0 : 0.0; /* unknown: no scaling */
    if (N->dense) return N->W[c * d + i + (size_t)(c * d + j) * N->n];
    for (int k = N->S.p[c]; k < N->S.p[c + 1]; k++)
        if (N->S.i[k] == c) return N->S.x[(size_t)k * d * d + i * d + j];
    return 0.0;
}

/* Largest |D_i W_ij D_j| of every row and its column. */
static void scaled_maxima(const mor_contact_newton* N, const double* D, double* most)
{
    memset(most, 0, (size_t)N->n * sizeof *most);
    for (int a = 0; a < N->n; a++) {
        int begin = N->dense ? 0 : N->S.p[a], end = N->dense ? N->n : N->S.p[a + 1];
        for (int k = begin; k < end; k++) {
            int i = N->dense ? k : a, j = N->dense ? a : N->S.i[k];
            double x = fabs(N->dense ? N->W[k + (size_t)a * N->n] : N->S.x[k]) * D[i] * D[j];
            if (x > most[i]) most[i] = x;
            if (x > most[j]) most[j] = x;
        }
    }
}

static void find_scale(mor_contact_newton* N)
{
    int d = N->d;
    double* D = N->scale;
    if (d == 1) {
        for (int i = 0; i < N->n; i++) D[i] = 1.0;
        for (int round = 0; round < 5 && !N->free_product; round++) {
            scaled_maxima(N, D, N->spare);
            for (int i = 0; i < N->n; i++)
                if (N->spare[i] > 0.0) D[i] /= sqrt(N->spare[i]);
        }
        return;
    }
    for (int c = 0; c < N->blocks; c++) {
        int k = d < 3 ? d : 3;
        double trace = 0.0;
        for (int i = 0; i < k; i++) trace += block_entry(N, c, i, i);
        double s = trace > 0.0 ? sqrt(k / trace) : 1.0;
        for (int i = 0; i < d; i++) D[c * d + i] = s;
    }
}

static void apply_scale(mor_contact_newton* N)
{
    int d = N->d, n = N->n;
    const double* D = N->scale;
    if (N->dense)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) N->W[i + (size_t)j * n] *= D[i] * D[j];
    else if (!N->free_product)
        for (int a = 0; a < N->blocks; a++)
            for (int k = N->S.p[a]; k < N->S.p[a + 1]; k++)
                for (int i = 0; i < d; i++)
                    for (int j = 0; j < d; j++)
                        N->S.x[((size_t)k * d + i) * d + j] *= D[a * d + i] * D[N->S.i[k] * d + j];
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        N->q[i] *= D[i];
        s += N->q[i] * N->q[i];
    }
    N->beta = s > 0.0 ? sqrt(s) : 1.0;
    for (int i = 0; i < n; i++) N->q[i] /= N->beta;
}

static void find_laws(mor_contact_newton* N, const mor_problem* problem)
{
    for (int c = 0; c < N->blocks; c++) {
        mor_contact_law* law = &N->law[c];
        *law = (mor_contact_law){ .rho = { 1.0, 1.0, 1.0 } };
        if (N->d == 1) continue;
        law->mu = problem->mu[N->order[c]];
        law->mu_roll = N->d == 5 ? problem->mu_roll[N->order[c]] : 0.0;
        double most[3] = { block_entry(N, c, 0, 0), 0.0, 0.0 };
        for (int i = 1; i < N->d; i++) {
            double w = block_entry(N, c, i, i);
            if (w > most[i < 3 ? 1 : 2]) most[i < 3 ? 1 : 2] = w;
        }
        for (int i = 0; i < 3; i++)
            if (most[i] > 0.0) law->rho[i] = 1.0 / most[i];
    }
}

static bool worth_dense(const mor_matrix* A, int n, int d)
{
    if (A->storage == MOR_SPARSE) return n <= 48 || (double)A->p[n] > 0.15 * (double)n * n;
    if (n <= DENSE_ROWS) return true;
    size_t count = 0;
    for (size_t k = 0; k < (size_t)n * n; k++) count += A->x[k] != 0.0;
    (void)d;
    return (double)count > 0.15 * (double)n * n;
}

bool mor_contact_newton_open(mor_contact_newton* N, const mor_problem* problem, double* answer, mor_arena* arena)
{
    int n = problem->size, d = problem->form == MOR_LCP ? 1 : problem->dim, blocks = n / d;
    *N = (mor_contact_newton){ .n = n,
                               .d = d,
                               .blocks = blocks,
                               .given = &problem->A,
                               .answer = answer,
                               .best = INFINITY,
                               .arena = arena,
                               .last_count = -1 };
    N->order = mor_arena_alloc(arena, (size_t)blocks * sizeof *N->order);
    N->law = mor_arena_alloc(arena, (size_t)blocks * sizeof *N->law);
    N->active = mor_arena_alloc(arena, (size_t)blocks * sizeof *N->active);
    N->place = mor_arena_alloc(arena, (size_t)blocks * sizeof *N->place);
    N->last = mor_arena_alloc(arena, (size_t)blocks * sizeof *N->last);
    N->pivot = mor_arena_alloc(arena, (size_t)n * sizeof *N->pivot);
    size_t stride = ((size_t)n + 7) & ~(size_t)7;
    double* v = mor_arena_alloc(arena, 13 * stride * sizeof *v);
    N->A = mor_arena_alloc(arena, 2 * (size_t)n * (size_t)d * sizeof *N->A);
    if (!N->order || !N->law || !N->active || !N->place || !N->last || !N->pivot || !v || !N->A) return false;
    double** vectors[] = { &N->scale, &N->q,       &N->r, &N->u, &N->F,     &N->dr, &N->du,
                           &N->trial, &N->trial_u, &N->z, &N->w, &N->spare, &N->rhs };
    for (int k = 0; k < 13; k++) *vectors[k] = v + (size_t)k * stride;
    N->B = N->A + (size_t)n * d;
    for (int c = 0; c < blocks; c++) N->order[c] = c;
    const mor_matrix* A = &problem->A;
    if (A->storage == MOR_OPERATOR) N->free_product = true;
    else if (worth_dense(A, n, d)) {
        N->dense = true;
        N->W = mor_arena_alloc(arena, (size_t)n * n * sizeof *N->W);
        if (!N->W) return false;
        if (A->storage == MOR_DENSE) memcpy(N->W, A->x, (size_t)n * n * sizeof *N->W);
        else mor_csr_to_dense(&(mor_csr){ n, n, A->p, A->i, A->x }, N->W);
    } else if (A->storage == MOR_DENSE) {
        if (!mor_bsr_from_dense(&N->S, n, A->x, d, true, N->order, arena)) return false;
    } else if (!mor_bsr_from_csr(&N->S, &(mor_csr){ n, n, A->p, A->i, A->x }, d, true, N->order, arena)) return false;
    if (!N->free_product) {
        size_t most = (size_t)(N->dense ? n : n < DENSE_ROWS ? n : DENSE_ROWS), entries = most * most;
        if (!N->dense) {
            size_t stored = (size_t)N->S.p[blocks] * (size_t)(d * d);
            N->mirror = mor_arena_alloc(arena, (size_t)N->S.p[blocks] * sizeof *N->mirror);
            if (!N->mirror) return false;
            mor_bsr_mirror(&N->S, N->mirror);
            if (stored > entries) entries = stored;
        }
        N->J = mor_arena_alloc(arena, entries * sizeof *N->J);
        if (!N->J) return false;
    }
    for (int c = 0; c < blocks; c++)
        for (int i = 0; i < d; i++) N->q[c * d + i] = problem->b[N->order[c] * d + i];
    find_scale(N);
    apply_scale(N);
    find_laws(N, problem);
    memset(N->r, 0, (size_t)n * sizeof *N->r);
    return true;
}

void mor_contact_newton_close(mor_contact_newton* N)
{
    mor_sparse_lu_destroy(N->lu);
    if (N->fronts) mor_arena_destroy(N->fronts);
    N->lu = NULL;
    N->fronts = NULL;
    N->last_count = -1;
}

void mor_contact_newton_start(mor_contact_newton* N, const double* z)
{
    int d = N->d;
    for (int c = 0; c < N->blocks; c++)
        for (int i = 0; i < d; i++)
            N->r[c * d + i] = z ? z[N->order[c] * d + i] / (N->scale[c * d + i] * N->beta) : 0.0;
}

static void unscale(const mor_contact_newton* N, const double* r, const double* u, double* z, double* w)
{
    int d = N->d;
    for (int c = 0; c < N->blocks; c++)
        for (int i = 0; i < d; i++) {
            int k = c * d + i, at = N->order[c] * d + i;
            z[at] = N->beta * N->scale[k] * r[k];
            w[at] = N->beta * u[k] / N->scale[k];
        }
}

static void product(const mor_contact_newton* N, const double* x, double* y)
{
    if (N->dense) mor_dense_apply(N->n, N->n, N->W, x, y);
    else if (N->free_product) mor_matrix_apply(N->given, x, y); /* D = 1 */
    else mor_bsr_apply(&N->S, x, y);
}

/* ---------------------------------------------------------------------------- evaluation */

/* |F|^2 at (r, u + p (r - r_c)). */
static double merit(const mor_contact_newton* N, const mor_newton_settings* s, const double* r, const double* u,
                    double* F)
{
    int d = N->d;
    double theta = 0.0, v[5];
    for (int c = 0; c < N->blocks; c++) {
        const double* at = u + c * d;
        if (s->proximal > 0.0) {
            for (int i = 0; i < d; i++) v[i] = at[i] + s->proximal * (r[c * d + i] - s->centre[c * d + i]);
            at = v;
        }
        mor_contact_map_eval(s->map, d, &N->law[c], d == 1 ? s->weight : TIE, r + c * d, at, F + c * d, NULL, NULL);
        for (int i = 0; i < d; i++) theta += F[c * d + i] * F[c * d + i];
    }
    return theta;
}

/* F, A, B and the active blocks. */
static void linearise(mor_contact_newton* N, const mor_newton_settings* s, double parameter)
{
    int d = N->d;
    double v[5];
    N->active_count = 0;
    for (int c = 0; c < N->blocks; c++) {
        const double* at = N->u + c * d;
        if (s->proximal > 0.0) {
            for (int i = 0; i < d; i++) v[i] = at[i] + s->proximal * (N->r[c * d + i] - s->centre[c * d + i]);
            at = v;
        }
        double *A = N->A + (size_t)c * d * d, *B = N->B + (size_t)c * d * d;
        bool on = mor_contact_map_eval(s->map, d, &N->law[c], parameter, N->r + c * d, at, N->F + c * d, A, B);
        /* a pair whose derivative by u vanishes is decided by its own row */
        if (on && d == 1 && fabs(A[0]) < 1e-14 * fabs(B[0])) {
            N->dr[c] = -N->F[c] / B[0];
            on = false;
        } else if (!on)
            for (int i = 0; i < d; i++) N->dr[c * d + i] = -N->r[c * d + i];
        if (!on) {
            memset(A, 0, (size_t)(d * d) * sizeof *A);
            memset(B, 0, (size_t)(d * d) * sizeof *B);
            for (int i = 0; i < d; i++) B[i * d + i] = 1.0;
        }
        N->place[c] = on ? N->active_count : -1;
        if (on) N->active[N->active_count++] = c;
    }
}

/* rhs = -F - A W dr_open on the active rows, packed. */
static void right_side(mor_contact_newton* N)
{
    int d = N->d;
    bool moved = false;
    for (int c = 0; c < N->blocks; c++)
        for (int i = 0; i < d; i++) {
            int k = c * d + i;
            N->spare[k] = N->place[c] < 0 ? N->dr[k] : 0.0;
            moved = moved || N->spare[k] != 0.0;
        }
    if (moved) product(N, N->spare, N->du);
    for (int a = 0; a < N->active_count; a++) {
        int c = N->active[a];
        const double* A = N->A + (size_t)c * d * d;
        for (int i = 0; i < d; i++) {
            double x = -N->F[c * d + i];
            if (moved)
                for (int j = 0; j < d; j++) x -= A[i * d + j] * N->du[c * d + j];
            N->rhs[a * d + i] = x;
        }
    }
}

/* --------------------------------------------------------------------------- dense system */

/* Column-major block product: out (d x d at J, leading dimension m) = A (row-major) W (row-major or column-major). */
MOR_ALWAYS_INLINE void put_block(int d, const double* A, const double* W, int row_step, int column_step, double* J,
                                 int m)
{
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            double s = 0.0;
            for (int k = 0; k < d; k++) s += A[i * d + k] * W[k * row_step + (size_t)j * (size_t)column_step];
            J[i + (size_t)j * m] = s;
        }
}

MOR_ALWAYS_INLINE void fill_dense(mor_contact_newton* N, int d)
{
    int na = N->active_count, m = na * d, n = N->n;
    double* J = N->J;
    if (N->dense) {
        for (int b = 0; b < na; b++)
            for (int a = 0; a < na; a++)
                put_block(d, N->A + (size_t)N->active[a] * d * d,
                          N->W + N->active[a] * d + (size_t)N->active[b] * d * n, 1, n, J + a * d + (size_t)b * d * m,
                          m);
    } else {
        memset(J, 0, (size_t)m * m * sizeof *J);
        for (int a = 0; a < na; a++) {
            int c = N->active[a];
            for (int k = N->S.p[c]; k < N->S.p[c + 1]; k++) {
                int b = N->place[N->S.i[k]];
                if (b >= 0)
                    put_block(d, N->A + (size_t)c * d * d, N->S.x + (size_t)k * d * d, d, 1,
                              J + a * d + (size_t)b * d * m, m);
            }
        }
    }
    for (int a = 0; a < na; a++) {
        const double *A = N->A + (size_t)N->active[a] * d * d, *B = N->B + (size_t)N->active[a] * d * d;
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                J[a * d + i + (size_t)(a * d + j) * m] += B[i * d + j] + N->alpha * A[i * d + j];
    }
}

static bool solve_dense(mor_contact_newton* N)
{
    int m = N->active_count * N->d;
    switch (N->d) {
    case 1:
        fill_dense(N, 1);
        break;
    case 2:
        fill_dense(N, 2);
        break;
    case 3:
        fill_dense(N, 3);
        break;
    default:
        fill_dense(N, N->d);
        break;
    }
    if (!mor_lu_factor(m, N->J, N->pivot)) return false;
    mor_lu_solve(m, N->J, N->pivot, N->rhs);
    return true;
}

/* -------------------------------------------------------------------------- sparse system */

static bool pattern(mor_contact_newton* N)
{
    int d = N->d, na = N->active_count, used = 0;
    if (!N->C.p) {
        size_t entries = (size_t)N->S.p[N->blocks] * (size_t)(d * d);
        N->C.p = mor_arena_alloc(N->arena, ((size_t)N->n + 1) * sizeof(int));
        N->C.i = mor_arena_alloc(N->arena, entries * sizeof(int));
        N->C.x = mor_arena_alloc(N->arena, entries * sizeof(double));
        if (!N->C.p || !N->C.i || !N->C.x) return false;
    }
    N->C.rows = N->C.cols = na * d;
    for (int a = 0; a < na; a++)
        for (int i = 0; i < d; i++) {
            N->C.p[a * d + i] = used;
            for (int k = N->S.p[N->active[a]]; k < N->S.p[N->active[a] + 1]; k++) {
                int b = N->place[N->S.i[k]];
                if (b >= 0)
                    for (int j = 0; j < d; j++) N->C.i[used++] = b * d + j;
            }
        }
    N->C.p[na * d] = used;
    mor_sparse_lu_destroy(N->lu);
    for (int i = 0; i < na * d; i++) N->pivot[i] = i;
    N->lu = mor_sparse_lu_create(&N->C, N->pivot);
    memcpy(N->last, N->active, (size_t)na * sizeof *N->last);
    N->last_count = N->lu ? na : -1;
    return N->lu != NULL;
}

/* J = A W + (B + alpha A) block by block, in the layout of S; d known to the compiler */
MOR_ALWAYS_INLINE void fill_blocks(mor_contact_newton* N, int d)
{
    for (int a = 0; a < N->active_count; a++) {
        int c = N->active[a];
        const double *A = N->A + (size_t)c * d * d, *B = N->B + (size_t)c * d * d;
        for (int k = N->S.p[c]; k < N->S.p[c + 1]; k++) {
            if (N->place[N->S.i[k]] < 0) continue;
            const double* W = N->S.x + (size_t)k * d * d;
            double* J = N->J + (size_t)k * d * d;
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) {
                    double x = 0.0;
                    for (int l = 0; l < d; l++) x += A[i * d + l] * W[l * d + j];
                    J[i * d + j] = x;
                }
            if (N->S.i[k] == c)
                for (int i = 0; i < d * d; i++) J[i] += B[i] + N->alpha * A[i];
        }
    }
}

/* Fronts. False: a pivot failed, or memory. */
static bool solve_fronts(mor_contact_newton* N)
{
    int na = N->active_count;
    if (na != N->last_count || memcmp(N->last, N->active, (size_t)na * sizeof *N->last) != 0) {
        if (!N->fronts) N->fronts = mor_arena_create(NULL);
        if (!N->fronts) return false;
        mor_arena_reset(N->fronts);
        N->last_count = -1;
        if (!mor_front_lu_analyse(&N->front_lu, &N->S, N->active, na, N->fronts)) return false;
        memcpy(N->last, N->active, (size_t)na * sizeof *N->last);
        N->last_count = na;
    }
    switch (N->d) {
    case 2:
        fill_blocks(N, 2);
        break;
    case 3:
        fill_blocks(N, 3);
        break;
    default:
        fill_blocks(N, N->d);
        break;
    }
    if (!mor_front_lu_factor(&N->front_lu, &N->S, N->mirror, N->J)) return false;
    mor_front_lu_solve(&N->front_lu, N->active, N->rhs);
    return true;
}

static bool solve_sparse(mor_contact_newton* N)
{
    int d = N->d, na = N->active_count, used = 0;
    if (d > 1) {
        if (solve_fronts(N)) return true;
        N->last_count = -1;
    }
    if (na != N->last_count || memcmp(N->last, N->active, (size_t)na * sizeof *N->last) != 0)
        if (!pattern(N)) return false;
    for (int a = 0; a < na; a++) {
        int c = N->active[a];
        const double *A = N->A + (size_t)c * d * d, *B = N->B + (size_t)c * d * d;
        for (int i = 0; i < d; i++)
            for (int k = N->S.p[c]; k < N->S.p[c + 1]; k++) {
                if (N->place[N->S.i[k]] < 0) continue;
                const double* W = N->S.x + (size_t)k * d * d;
                for (int j = 0; j < d; j++) {
                    double x = 0.0;
                    for (int l = 0; l < d; l++) x += A[i * d + l] * W[l * d + j];
                    if (N->S.i[k] == c) x += B[i * d + j] + N->alpha * A[i * d + j];
                    N->C.x[used++] = x;
                }
            }
    }
    if (!mor_sparse_lu_factor(N->lu, &N->C)) {
        N->last_count = -1;
        return false;
    }
    mor_sparse_lu_solve(N->lu, 1, N->rhs);
    return true;
}

/* ------------------------------------------------------------------------ matrix-free system */

/* y = B x + A (W + alpha) x over all blocks */
static void jacobian(void* user, const double* x, double* y)
{
    mor_contact_newton* N = user;
    int d = N->d;
    product(N, x, N->du);
    for (int c = 0; c < N->blocks; c++) {
        const double *A = N->A + (size_t)c * d * d, *B = N->B + (size_t)c * d * d;
        for (int i = 0; i < d; i++) {
            double s = 0.0;
            for (int j = 0; j < d; j++)
                s += B[i * d + j] * x[c * d + j] + A[i * d + j] * (N->du[c * d + j] + N->alpha * x[c * d + j]);
            y[c * d + i] = s;
        }
    }
}

static void jacobian_transposed(void* user, const double* x, double* y)
{
    mor_contact_newton* N = user;
    int d = N->d;
    for (int c = 0; c < N->blocks; c++) {
        const double* A = N->A + (size_t)c * d * d;
        for (int j = 0; j < d; j++) {
            double s = 0.0;
            for (int i = 0; i < d; i++) s += A[i * d + j] * x[c * d + i];
            N->du[c * d + j] = s;
        }
    }
    if (N->dense) mor_dense_apply_transposed(N->n, N->n, N->W, N->du, y);
    else mor_bsr_apply_transposed(&N->S, N->du, y);
    for (int c = 0; c < N->blocks; c++) {
        const double* B = N->B + (size_t)c * d * d;
        for (int j = 0; j < d; j++) {
            double s = N->alpha * N->du[c * d + j];
            for (int i = 0; i < d; i++) s += B[i * d + j] * x[c * d + i];
            y[c * d + j] += s;
        }
    }
}

static bool solve_krylov(mor_contact_newton* N, mor_newton_linear linear)
{
    int n = N->n, d = N->d;
    size_t mark = mor_arena_mark(N->arena);
    double* work = mor_arena_alloc(N->arena, (mor_gmres_work(n, RESTART) + (size_t)n) * sizeof *work);
    if (!work) return false;
    double size = mor_norm2(n, N->F), tol = fmin(0.01, fmax(1e-10, 0.1 * size));
    for (int i = 0; i < n; i++) N->spare[i] = -N->F[i];
    memset(N->dr, 0, (size_t)n * sizeof *N->dr);
    if (linear == MOR_NEWTON_CG && !N->free_product)
        mor_cg_normal(n, jacobian, jacobian_transposed, N, N->spare, N->dr, tol, MOST_PRODUCTS, work);
    else {
        double* diagonal = work + mor_gmres_work(n, RESTART);
        for (int c = 0; c < N->blocks; c++)
            for (int i = 0; i < d; i++) {
                double w = N->free_product ? 1.0 : block_entry(N, c, i, i);
                double x = N->B[((size_t)c * d + i) * d + i] + N->A[((size_t)c * d + i) * d + i] * (w + N->alpha);
                diagonal[c * d + i] = fabs(x) > 1e-6 ? x : 1.0;
            }
        mor_gmres(n, jacobian, N, diagonal, N->spare, N->dr, tol, RESTART, MOST_PRODUCTS, work);
    }
    mor_arena_release(N->arena, mark);
    return true;
}

/* ------------------------------------------------------------------------------ iteration */

/* dr of the regularised system; the regularisation is raised until the factor exists. */
static bool direction(mor_contact_newton* N, const mor_newton_settings* s, double alpha)
{
    int d = N->d;
    for (int attempt = 0; attempt < 8; attempt++) {
        N->alpha = alpha + s->proximal;
        bool ok;
        if (s->linear != MOR_NEWTON_DIRECT || N->free_product) ok = solve_krylov(N, s->linear);
        else {
            right_side(N);
            int m = N->active_count * d;
            ok = m == 0 || (N->dense || m <= DENSE_ROWS ? solve_dense(N) : solve_sparse(N));
            for (int a = 0; ok && a < N->active_count; a++)
                for (int i = 0; i < d; i++) N->dr[N->active[a] * d + i] = N->rhs[a * d + i];
        }
        for (int i = 0; ok && i < N->n; i++) ok = isfinite(N->dr[i]);
        if (ok) return true;
        for (int c = 0; c < N->blocks; c++)
            if (N->place[c] < 0)
                for (int i = 0; i < d; i++) N->dr[c * d + i] = -N->F[c * d + i];
        alpha = fmax(100.0 * alpha, 1e-10);
    }
    return false;
}

mor_newton_end mor_contact_newton_run(mor_contact_newton* N, const mor_newton_settings* s, mor_context* context)
{
    int n = N->n, window = s->window < 1 ? 1 : s->window > LONGEST_WINDOW ? LONGEST_WINDOW : s->window, quiet = 0;
    double history[LONGEST_WINDOW], kappa = 1.0, first = 0.0, least = INFINITY, step = 0.0;
    bool zero = true;
    for (int i = 0; i < n; i++) zero = zero && N->r[i] == 0.0;
    if (zero) memcpy(N->u, N->q, (size_t)n * sizeof *N->u);
    else {
        product(N, N->r, N->u);
        for (int i = 0; i < n; i++) N->u[i] += N->q[i];
    }
    for (int it = 0;; it++) {
        unscale(N, N->r, N->u, N->z, N->w);
        double error = context->error(context, N->z, N->w);
        if (context->trace) mor_trace_add(context, N->iterations, step, N->z);
        if (isnan(error)) return MOR_NEWTON_BROKEN;
        if (error < N->best) {
            N->best = error;
            memcpy(N->answer, N->z, (size_t)n * sizeof *N->answer);
        }
        if (error <= context->tol) return MOR_NEWTON_SOLVED;
        linearise(N, s, N->d == 1 ? s->weight : TIE);
        double theta = 0.0;
        for (int i = 0; i < n; i++) theta += N->F[i] * N->F[i];
        double size = sqrt(theta);
        if (it == 0) first = size;
        if (!(size > 0.0)) return MOR_NEWTON_STUCK;
        if (s->inner > 0.0) {
            double moved = 0.0;
            for (int i = 0; i < n; i++) moved += (N->r[i] - s->centre[i]) * (N->r[i] - s->centre[i]);
            if (it > 0 && size <= s->inner * s->proximal * sqrt(moved)) return MOR_NEWTON_INNER;
        }
        quiet = size < 0.999 * least ? 0 : quiet + 1;
        least = fmin(least, size);
        if (it >= s->max_iter) return MOR_NEWTON_USED_UP;
        if (s->give_up > 0 && quiet >= s->give_up) return MOR_NEWTON_STUCK;
        if (mor_out_of_time(context)) return MOR_NEWTON_LATE;
        history[it % window] = theta;

        if (!direction(N, s, fmax(s->floor, kappa * s->sigma * size / first))) return MOR_NEWTON_BROKEN;
        product(N, N->dr, N->du);
        double limit = 0.0, best = INFINITY, best_t = 1.0, t = 1.0;
        for (int k = 0; k <= it && k < window; k++) limit = fmax(limit, history[k]);
        bool accepted = false;
        for (int k = 0; k <= SHORTEST && !accepted; k++, t *= 0.5) {
            for (int i = 0; i < n; i++) N->trial[i] = N->r[i] + t * N->dr[i], N->trial_u[i] = N->u[i] + t * N->du[i];
            double value = merit(N, s, N->trial, N->trial_u, N->F);
            if (value < best) best = value, best_t = t;
            accepted = value <= (1.0 - 1e-4 * t) * limit;
        }
        step = accepted ? 2.0 * t : best_t;
        if (!isfinite(best)) return MOR_NEWTON_BROKEN;
        for (int i = 0; i < n; i++) N->r[i] += step * N->dr[i];
        if (it % 8 == 7 || N->free_product) { /* against drift of the sum */
            product(N, N->r, N->u);
            for (int i = 0; i < n; i++) N->u[i] += N->q[i];
        } else
            for (int i = 0; i < n; i++) N->u[i] += step * N->du[i];
        N->iterations++;
        if (s->adapt) {
            if (step == 1.0) kappa *= 0.5;
            else if (step < 0.25) kappa = fmin(1.0, 10.0 * kappa);
        }
    }
}

mor_status mor_newton_status(mor_newton_end end)
{
    switch (end) {
    case MOR_NEWTON_SOLVED:
        return MOR_SOLVED;
    case MOR_NEWTON_LATE:
        return MOR_TIME_LIMIT;
    case MOR_NEWTON_BROKEN:
        return MOR_NUMERICAL;
    default:
        return MOR_NOT_CONVERGED;
    }
}
