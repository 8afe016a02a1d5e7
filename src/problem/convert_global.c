/* Global contact problem -> reduced: W = H' M^-1 H, b = H' M^-1 f + w, v = M^-1 (H r + f).
 *
 * M of mechanics is block diagonal (bodies): its connected blocks of at most 64 rows are factored densely, M^-1 H found
 * for the columns that touch them, and W is a sparse product. One larger block (finite elements) is factored by sparse
 * LU and M^-1 H found column by column. The velocity gets one refinement step on the way back, because the
 * judge measures M v - H r - f against rounding. */
#include <string.h>

#include "base/union_find.h"
#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "problem/convert.h"

/* The blocks of a block-diagonal matrix and their LU factors. */
typedef struct mass_blocks {
    int count;  /* 0: a block is too large */
    int* start; /* block k has the rows member[start[k]] ... member[start[k+1] - 1], ascending */
    int *member, *pivot;
    size_t* factor; /* its factor begins at LU + factor[k] */
    double* LU;
} mass_blocks;

typedef struct global_data {
    mor_csr M, H;
    mass_blocks blocks;
    mor_sparse_lu* lu; /* of M as a whole, where a block is too large */
} global_data;

static bool as_csr(const mor_matrix* A, mor_csr* out, mor_arena* arena)
{
    if (A->storage == MOR_SPARSE) {
        *out = (mor_csr){ A->rows, A->cols, A->p, A->i, A->x };
        return true;
    }
    return mor_csr_from_dense(out, A->rows, A->cols, A->x, arena);
}

enum { LARGEST_BLOCK = 64 };

/* Finds and factors the blocks. False: singular or no memory. */
static bool factor_blocks(const mor_csr* M, mass_blocks* B, mor_arena* arena)
{
    int n = M->rows;
    *B = (mass_blocks){ 0 };
    int* ints = mor_arena_alloc(arena, (5 * (size_t)n + 1) * sizeof *ints);
    B->factor = mor_arena_alloc(arena, (size_t)n * sizeof *B->factor);
    if (!ints || !B->factor) return false;
    B->start = ints, B->member = B->start + n + 1, B->pivot = B->member + n;
    int *parent = B->pivot + n, *place = parent + n; /* place: of a root its block, of a row its position there */
    mor_sets_begin(parent, n);
    for (int i = 0; i < n; i++) place[i] = 0;
    for (int i = 0; i < n; i++)
        for (int k = M->p[i]; k < M->p[i + 1]; k++) {
            if (M->x[k] != 0.0 && M->i[k] != i) mor_sets_unite(parent, i, M->i[k]);
        }
    size_t total = 0;
    int count = 0, rows = 0;
    for (int i = 0; i < n; i++) place[mor_sets_root(parent, i)]++;
    for (int i = 0; i < n; i++) {
        if (parent[i] != i) continue;
        int size = place[i];
        if (size > LARGEST_BLOCK) return true;
        B->start[count] = rows, B->factor[count] = total;
        place[i] = count++;
        rows += size, total += (size_t)size * (size_t)size;
    }
    B->start[count] = rows;
    B->LU = mor_arena_zero(arena, total, sizeof *B->LU);
    if (!B->LU) return false;
    for (int i = 0; i < n; i++) B->member[B->start[place[mor_sets_root(parent, i)]]++] = i;
    for (int k = count; k > 0; k--) B->start[k] = B->start[k - 1];
    B->start[0] = 0;
    for (int k = 0; k < count; k++) {
        const int* member = B->member + B->start[k];
        int size = B->start[k + 1] - B->start[k];
        double* block = B->LU + B->factor[k];
        for (int a = 0; a < size; a++) place[member[a]] = a;
        for (int a = 0; a < size; a++)
            for (int l = M->p[member[a]]; l < M->p[member[a] + 1]; l++)
                if (M->x[l] != 0.0) block[a + place[M->i[l]] * size] = M->x[l];
        if (!mor_lu_factor(size, block, B->pivot + B->start[k])) return false;
    }
    B->count = count;
    return true;
}

/* X = M^-1 H: the rows of a block have entries in the columns that H has there. */
static bool blocks_solve(const mass_blocks* B, const mor_csr* H, mor_csr* X, mor_arena* arena)
{
    int n = H->cols, m = H->rows;
    *X = (mor_csr){ .rows = m, .cols = n, .p = mor_arena_zero(arena, (size_t)m + 1, sizeof(int)) };
    int* place = mor_arena_alloc(arena, (size_t)n * sizeof *place); /* of a column among those of the block */
    int* column = mor_arena_alloc(arena, (size_t)n * sizeof *column);
    if (!X->p || !place || !column) return false;
    size_t widest = 0;
    for (int j = 0; j < n; j++) place[j] = -1;
    for (int pass = 0; pass < 2; pass++) { /* counts the columns of the rows, then fills them */
        double* dense = NULL;
        if (pass == 1) {
            for (int i = 0; i < m; i++) X->p[i + 1] += X->p[i];
            X->i = mor_arena_alloc(arena, (size_t)X->p[m] * sizeof *X->i);
            X->x = mor_arena_alloc(arena, (size_t)X->p[m] * sizeof *X->x);
            dense = mor_arena_alloc(arena, widest * sizeof *dense);
            if (!X->i || !X->x || !dense) return false;
        }
        for (int k = 0; k < B->count; k++) {
            const int* member = B->member + B->start[k];
            int size = B->start[k + 1] - B->start[k], width = 0;
            for (int a = 0; a < size; a++)
                for (int l = H->p[member[a]]; l < H->p[member[a] + 1]; l++)
                    if (place[H->i[l]] < 0) place[H->i[l]] = 0, column[width++] = H->i[l];
            for (int gap = width / 2; gap > 0; gap /= 2)
                for (int i = gap; i < width; i++) {
                    int v = column[i], at = i;
                    for (; at >= gap && column[at - gap] > v; at -= gap) column[at] = column[at - gap];
                    column[at] = v;
                }
            if (pass == 0) {
                for (int a = 0; a < size; a++) X->p[member[a] + 1] = width;
                if ((size_t)size * (size_t)width > widest) widest = (size_t)size * (size_t)width;
            } else if (width) {
                for (int c = 0; c < width; c++) place[column[c]] = c;
                memset(dense, 0, (size_t)size * (size_t)width * sizeof *dense);
                for (int a = 0; a < size; a++)
                    for (int l = H->p[member[a]]; l < H->p[member[a] + 1]; l++)
                        dense[a + (size_t)place[H->i[l]] * size] = H->x[l];
                mor_lu_solve_many(size, B->LU + B->factor[k], B->pivot + B->start[k], width, dense);
                for (int a = 0; a < size; a++)
                    for (int c = 0; c < width; c++) {
                        int at = X->p[member[a]] + c;
                        X->i[at] = column[c], X->x[at] = dense[a + (size_t)c * size];
                    }
            }
            for (int c = 0; c < width; c++) place[column[c]] = -1;
        }
    }
    return true;
}

/* x := M^-1 x */
static void solve_mass(const global_data* d, double* x)
{
    if (d->lu) mor_sparse_lu_solve(d->lu, 1, x);
    const mass_blocks* B = &d->blocks;
    for (int k = 0; k < B->count; k++) {
        const int* member = B->member + B->start[k];
        int size = B->start[k + 1] - B->start[k];
        double part[LARGEST_BLOCK];
        for (int a = 0; a < size; a++) part[a] = x[member[a]];
        mor_lu_solve(size, B->LU + B->factor[k], B->pivot + B->start[k], part);
        for (int a = 0; a < size; a++) x[member[a]] = part[a];
    }
}

static void global_back(const mor_conversion* conversion, const double* r, double* z, mor_arena* arena)
{
    const global_data* d = conversion->data;
    const mor_problem* from = conversion->from;
    int n = from->size, m = d->M.rows;
    size_t mark = mor_arena_mark(arena);
    double* work = mor_arena_alloc(arena, 2 * ((size_t)m + 1) * sizeof *work);
    memmove(z, r, (size_t)n * sizeof *z);
    if (!work) return;
    double *right = work, *e = work + m, *v = z + n;
    mor_csr_apply(&d->H, z, right);
    for (int i = 0; i < m; i++) v[i] = right[i] += from->f[i];
    solve_mass(d, v);
    mor_csr_apply(&d->M, v, e);
    for (int i = 0; i < m; i++) e[i] = right[i] - e[i];
    solve_mass(d, e);
    for (int i = 0; i < m; i++) v[i] += e[i];
    mor_arena_release(arena, mark);
}

static void global_forward(const mor_conversion* conversion, const double* z, double* r, mor_arena* arena)
{
    (void)arena;
    memcpy(r, z, (size_t)conversion->from->size * sizeof *r);
}

static void global_destroy(mor_conversion* conversion)
{
    global_data* d = conversion->data;
    mor_sparse_lu_destroy(d->lu);
    d->lu = NULL;
}

/* W = H' X with X = M^-1 H, column by column; H' is sparse, so is most of W */
static bool columns_of_W(const global_data* d, const mor_csr* Ht, mor_csr* W, mor_arena* arena)
{
    int n = d->H.cols, m = d->H.rows;
    double* dense = mor_arena_alloc(arena, (size_t)n * n * sizeof *dense);
    double* x = mor_arena_alloc(arena, (size_t)m * sizeof *x);
    if (!dense || !x) return false;
    for (int j = 0; j < n; j++) {
        memset(x, 0, (size_t)m * sizeof *x);
        for (int k = Ht->p[j]; k < Ht->p[j + 1]; k++) x[Ht->i[k]] = Ht->x[k];
        mor_sparse_lu_solve(d->lu, 1, x);
        mor_csr_apply(Ht, x, dense + (size_t)j * n);
    }
    return mor_csr_from_dense(W, n, n, dense, arena);
}

mor_code mor_convert_global_to_local(const mor_problem* from, mor_conversion* conversion, mor_arena* arena,
                                     mor_error* error)
{
    int n = from->size, m = from->M.rows;
    if (from->M.storage == MOR_OPERATOR)
        return mor_fail(error, MOR_BAD_INPUT, "the mass matrix is an operator; its inverse is needed");
    global_data* d = mor_arena_zero(arena, 1, sizeof *d);
    mor_csr Ht, X, W = { 0 };
    double* b = mor_arena_alloc(arena, (size_t)n * sizeof *b);
    double* x = mor_arena_alloc(arena, ((size_t)m + 1) * sizeof *x);
    if (!d || !b || !x || !as_csr(&from->M, &d->M, arena) || !as_csr(&from->H, &d->H, arena) ||
        !mor_csr_transpose(&Ht, &d->H, NULL, arena))
        return MOR_SYSTEM;
    if (!factor_blocks(&d->M, &d->blocks, arena)) return mor_fail(error, MOR_BAD_INPUT, "the mass matrix is singular");
    *conversion = (mor_conversion){
        .from = from, .back = global_back, .forward = global_forward, .destroy = global_destroy, .data = d
    };
    if (m > 0 && d->blocks.count == 0) {
        d->lu = mor_sparse_lu_create(&d->M, NULL);
        if (!d->lu || !mor_sparse_lu_factor(d->lu, &d->M))
            return mor_fail(error, MOR_BAD_INPUT, "the mass matrix is singular");
    }
    bool ok = d->lu ? columns_of_W(d, &Ht, &W, arena)
                    : m == 0 || (blocks_solve(&d->blocks, &d->H, &X, arena) && mor_csr_multiply(&W, &Ht, &X, arena));
    if (!ok) return MOR_SYSTEM;
    if (m == 0) {
        W = (mor_csr){ n, n, mor_arena_zero(arena, (size_t)n + 1, sizeof(int)), NULL, NULL };
        if (!W.p) return MOR_SYSTEM;
    }
    memcpy(x, from->f, (size_t)m * sizeof *x);
    solve_mass(d, x);
    mor_csr_apply(&Ht, x, b);
    for (int i = 0; i < n; i++) b[i] += from->b[i];
    mor_form to = from->form == MOR_GFC2D ? MOR_FC2D : from->form == MOR_GFC3D ? MOR_FC3D : MOR_FC_ROLLING;
    conversion->to = (mor_problem){ .form = to,
                                    .size = n,
                                    .b = b,
                                    .contact_count = from->contact_count,
                                    .dim = from->dim,
                                    .mu = from->mu,
                                    .mu_roll = from->mu_roll,
                                    .reference_norm = from->reference_norm };
    conversion->to.A = (mor_matrix){ .storage = MOR_SPARSE, .rows = n, .cols = n, .x = W.x, .p = W.p, .i = W.i };
    return MOR_OK;
}
