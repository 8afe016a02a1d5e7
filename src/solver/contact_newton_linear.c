/* The Newton kernel's linear systems [B + A (W + alpha I)] dr = -F: dense, by fronts, sparse or matrix-free
 * (contact_newton.h). */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/inline.h"
#include "linalg/dense.h"
#include "linalg/krylov.h"
#include "solver/contact_newton_parts.h"

enum { RESTART = 40, MOST_PRODUCTS = 1000 };

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
    if (moved) mor_newton_product(N, N->spare, N->du);
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
    mor_newton_product(N, x, N->du);
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
    double size = mor_norm2(n, N->F), tol = mor_min(0.01, mor_max(1e-10, 0.1 * size));
    for (int i = 0; i < n; i++) N->spare[i] = -N->F[i];
    memset(N->dr, 0, (size_t)n * sizeof *N->dr);
    if (linear == MOR_NEWTON_CG && !N->free_product)
        mor_cg_normal(n, jacobian, jacobian_transposed, N, N->spare, N->dr, tol, MOST_PRODUCTS, work);
    else {
        double* diagonal = work + mor_gmres_work(n, RESTART);
        for (int c = 0; c < N->blocks; c++)
            for (int i = 0; i < d; i++) {
                double w = N->free_product ? 1.0 : mor_newton_block_entry(N, c, i, i);
                double x = N->B[((size_t)c * d + i) * d + i] + N->A[((size_t)c * d + i) * d + i] * (w + N->alpha);
                diagonal[c * d + i] = fabs(x) > 1e-6 ? x : 1.0;
            }
        mor_gmres(n, jacobian, N, diagonal, N->spare, N->dr, tol, RESTART, MOST_PRODUCTS, work);
    }
    mor_arena_release(N->arena, mark);
    return true;
}

/* ------------------------------------------------------------------------------ direction */

bool mor_newton_direction(mor_contact_newton* N, const mor_newton_settings* s, double alpha)
{
    int d = N->d;
    for (int attempt = 0; attempt < 8; attempt++) {
        N->alpha = alpha + s->proximal;
        bool ok;
        if (s->linear != MOR_NEWTON_DIRECT || N->free_product) ok = solve_krylov(N, s->linear);
        else {
            right_side(N);
            int m = N->active_count * d;
            ok = m == 0 || (N->dense || m <= MOR_NEWTON_DENSE_ROWS ? solve_dense(N) : solve_sparse(N));
            for (int a = 0; ok && a < N->active_count; a++)
                for (int i = 0; i < d; i++) N->dr[N->active[a] * d + i] = N->rhs[a * d + i];
        }
        for (int i = 0; ok && i < N->n; i++) ok = isfinite(N->dr[i]);
        if (ok) return true;
        for (int c = 0; c < N->blocks; c++)
            if (N->place[c] < 0)
                for (int i = 0; i < d; i++) N->dr[c * d + i] = -N->F[c * d + i];
        alpha = mor_max(100.0 * alpha, 1e-10);
    }
    return false;
}
