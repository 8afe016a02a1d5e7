/* The Newton kernel's problem: storage, scaling and laws (contact_newton.h). */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "solver/contact_newton_parts.h"

double mor_newton_block_entry(const mor_contact_newton* N, int c, int i, int j)
{
    int d = N->d;
    if (N->free_product) return i == j ? 1.0 : 0.0; /* unknown: no scaling */
    if (N->dense) return N->W[c * d + i + (size_t)(c * d + j) * N->n];
    for (int k = N->S.p[c]; k < N->S.p[c + 1]; k++)
        if (N->S.i[k] == c) return N->S.x[(size_t)k * d * d + i * d + j];
    return 0.0;
}

/* Largest |D_i W_ij D_j| of every row and its column; rows with D = 0 are left out. */
static void scaled_maxima(const mor_contact_newton* N, const double* D, double* most)
{
    memset(most, 0, (size_t)N->n * sizeof *most);
    for (int a = 0; a < N->n; a++) {
        if (D[a] == 0.0) continue;
        int begin = N->dense ? 0 : N->S.p[a], end = N->dense ? N->n : N->S.p[a + 1];
        for (int k = begin; k < end; k++) {
            int i = N->dense ? k : a, j = N->dense ? a : N->S.i[k];
            double x = fabs(N->dense ? N->W[k + (size_t)a * N->n] : N->S.x[k]) * D[i] * D[j];
            if (x > most[i]) most[i] = x;
            if (x > most[j]) most[j] = x;
        }
    }
}

/* The rows of an LCP whose D is not 0, among each other: largest entries near 1. */
static void equilibrate(mor_contact_newton* N, double* D)
{
    for (int round = 0; round < 5 && !N->free_product; round++) {
        scaled_maxima(N, D, N->spare);
        for (int i = 0; i < N->n; i++)
            if (N->spare[i] > 0.0) D[i] /= sqrt(N->spare[i]);
    }
}

/* D of the rows that have none: their largest entry in a row or column that has one becomes 1. */
static void equilibrate_others(const mor_contact_newton* N, double* D, double* most)
{
    memset(most, 0, (size_t)N->n * sizeof *most);
    for (int a = 0; a < N->n; a++) {
        int begin = N->dense ? 0 : N->S.p[a], end = N->dense ? N->n : N->S.p[a + 1];
        for (int k = begin; k < end; k++) {
            int i = N->dense ? k : a, j = N->dense ? a : N->S.i[k];
            double x = fabs(N->dense ? N->W[k + (size_t)a * N->n] : N->S.x[k]);
            if (x * D[j] > most[i]) most[i] = x * D[j];
            if (x * D[i] > most[j]) most[j] = x * D[i];
        }
    }
    for (int i = 0; i < N->n; i++)
        if (D[i] == 0.0) D[i] = most[i] > 0.0 ? 1.0 / most[i] : 1.0;
}

static void find_scale(mor_contact_newton* N)
{
    int d = N->d;
    double* D = N->scale;
    if (d == 1) {
        for (int i = 0; i < N->n; i++) D[i] = 1.0;
        equilibrate(N, D);
        return;
    }
    for (int c = 0; c < N->blocks; c++) {
        int k = d < 3 ? d : 3;
        double trace = 0.0;
        for (int i = 0; i < k; i++) trace += mor_newton_block_entry(N, c, i, i);
        double s = trace > 0.0 ? sqrt(k / trace) : 1.0;
        for (int i = 0; i < d; i++) D[c * d + i] = s;
    }
}

/* W := D W D, q := D q/beta with |q| = 1; returns beta. */
static double apply_scale(mor_contact_newton* N, const double* D)
{
    int d = N->d, n = N->n;
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
    double beta = s > 0.0 ? sqrt(s) : 1.0;
    for (int i = 0; i < n; i++) N->q[i] /= beta;
    return beta;
}

bool mor_contact_newton_rescale(mor_contact_newton* N)
{
    double* D = N->trial;
    int with = 0;
    for (int i = 0; i < N->n; i++) {
        D[i] = N->free_product || mor_newton_block_entry(N, i, 0, 0) != 0.0;
        with += D[i] > 0.0;
    }
    if (N->d > 1 || N->free_product || with == 0 || with == N->n) return false;
    equilibrate(N, D);
    equilibrate_others(N, D, N->spare);
    N->beta *= apply_scale(N, D);
    for (int i = 0; i < N->n; i++) N->scale[i] *= D[i];
    N->last_count = -1;
    return true;
}

static void find_laws(mor_contact_newton* N, const mor_problem* problem)
{
    for (int c = 0; c < N->blocks; c++) {
        mor_contact_law* law = &N->law[c];
        *law = (mor_contact_law){ .rho = { 1.0, 1.0, 1.0, 1.0 } };
        if (N->d == 1) continue;
        law->cone.mu[0] = problem->mu[N->order[c]];
        law->cone.mu[1] = N->d == 5 ? problem->mu_roll[N->order[c]] : 0.0;
        double most[3] = { mor_newton_block_entry(N, c, 0, 0), 0.0, 0.0 };
        for (int i = 1; i < N->d; i++) {
            double w = mor_newton_block_entry(N, c, i, i);
            if (w > most[i < 3 ? 1 : 2]) most[i < 3 ? 1 : 2] = w;
        }
        for (int i = 0; i < 3; i++)
            if (most[i] > 0.0) law->rho[i] = 1.0 / most[i];
    }
}

static bool worth_dense(const mor_matrix* A, int n)
{
    if (A->storage == MOR_SPARSE) return n <= 48 || (double)A->p[n] > 0.15 * (double)n * n;
    if (n <= MOR_NEWTON_DENSE_ROWS) return true;
    size_t count = 0;
    for (size_t k = 0; k < (size_t)n * n; k++) count += A->x[k] != 0.0;
    return (double)count > 0.15 * (double)n * n;
}

/* W as dense columns or as sparse blocks, and room for the Newton matrix. False: out of memory. */
static bool load_matrix(mor_contact_newton* N, const mor_matrix* A)
{
    int n = N->n, d = N->d, blocks = N->blocks;
    mor_arena* arena = N->arena;
    if (A->storage == MOR_OPERATOR) N->free_product = true;
    else if (worth_dense(A, n)) {
        N->dense = true;
        N->W = mor_arena_alloc(arena, (size_t)n * n * sizeof *N->W);
        if (!N->W) return false;
        if (A->storage == MOR_DENSE) memcpy(N->W, A->x, (size_t)n * n * sizeof *N->W);
        else mor_csr_to_dense(&(mor_csr){ n, n, A->p, A->i, A->x }, N->W);
    } else if (A->storage == MOR_DENSE) {
        if (!mor_bsr_from_dense(&N->S, n, A->x, d, true, N->order, arena)) return false;
    } else if (!mor_bsr_from_csr(&N->S, &(mor_csr){ n, n, A->p, A->i, A->x }, d, true, N->order, arena)) return false;
    if (!N->free_product) {
        size_t most = (size_t)(N->dense                    ? n
                               : n < MOR_NEWTON_DENSE_ROWS ? n
                                                           : MOR_NEWTON_DENSE_ROWS),
               entries = most * most;
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
    return true;
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
    if (!load_matrix(N, &problem->A)) return false;
    for (int c = 0; c < blocks; c++)
        for (int i = 0; i < d; i++) N->q[c * d + i] = problem->b[N->order[c] * d + i];
    find_scale(N);
    N->beta = apply_scale(N, N->scale);
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

void mor_newton_product(const mor_contact_newton* N, const double* x, double* y)
{
    if (N->dense) mor_dense_apply(N->n, N->n, N->W, x, y);
    else if (N->free_product) mor_matrix_apply(N->given, x, y); /* D = 1 */
    else mor_bsr_apply(&N->S, x, y);
}
