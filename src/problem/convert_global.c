/* Global contact problem -> reduced: W = H' M^-1 H, b = H' M^-1 f + w, v = M^-1 (H r + f).
 *
 * M of mechanics is block diagonal (bodies): its connected blocks of at most 64 rows are inverted
 * densely and W is a sparse product. One larger block (finite elements) is factored by sparse LU and
 * M^-1 H found column by column. The velocity gets one refinement step on the way back, because the
 * judge measures M v - H r - f against rounding. */
#include <string.h>

#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "problem/convert.h"

typedef struct global_data {
    mor_csr M, H;
    mor_csr inverse;    /* block inverse, or rows == 0 */
    mor_sparse_lu* lu;
} global_data;

static bool as_csr(const mor_matrix* A, mor_csr* out, mor_arena* arena)
{
    if (A->storage == MOR_SPARSE) {
        *out = (mor_csr){ A->rows, A->cols, A->p, A->i, A->x };
        return true;
    }
    return mor_csr_from_dense(out, A->rows, A->cols, A->x, arena);
}

static int root(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

enum { LARGEST_BLOCK = 64 };

/* Inverse of a block-diagonal matrix; rows = 0 on return if a block is too large. False: singular or no memory. */
static bool invert_blocks(const mor_csr* M, mor_csr* inverse, mor_arena* arena)
{
    int n = M->rows;
    *inverse = (mor_csr){ 0 };
    int* parent = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    int* size = mor_arena_zero(arena, (size_t)n, sizeof(int));
    int* next = mor_arena_alloc(arena, (size_t)n * sizeof(int)); /* members of a block, ascending */
    int* last = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    if (!parent || !size || !next || !last) return false;
    for (int i = 0; i < n; i++) parent[i] = i;
    for (int i = 0; i < n; i++)
        for (int k = M->p[i]; k < M->p[i + 1]; k++) {
            if (M->x[k] == 0.0) continue;
            int a = root(parent, i), b = root(parent, M->i[k]);
            if (a < b) parent[b] = a;
            else parent[a] = b;
        }
    long total = 0;
    for (int i = 0; i < n; i++) size[root(parent, i)]++;
    for (int i = 0; i < n; i++) {
        if (size[i] > LARGEST_BLOCK) return true;
        total += (long)size[i] * size[i];
    }
    int* row = mor_arena_alloc(arena, (size_t)total * sizeof(int));
    int* col = mor_arena_alloc(arena, (size_t)total * sizeof(int));
    double* x = mor_arena_alloc(arena, (size_t)total * sizeof(double));
    if (!row || !col || !x) return false;
    for (int i = 0; i < n; i++) {
        int r = root(parent, i);
        next[i] = -1;
        if (r != i) next[last[r]] = i;
        last[r] = i;
    }
    int count = 0, member[LARGEST_BLOCK], pivot[LARGEST_BLOCK];
    int* place = size; /* reuse: position of a row in its block */
    double block[LARGEST_BLOCK * LARGEST_BLOCK], e[LARGEST_BLOCK];
    for (int r = 0; r < n; r++) {
        if (parent[r] != r) continue;
        int k = 0;
        for (int i = r; i >= 0; i = next[i]) place[i] = k, member[k++] = i;
        memset(block, 0, (size_t)k * k * sizeof(double));
        for (int a = 0; a < k; a++)
            for (int l = M->p[member[a]]; l < M->p[member[a] + 1]; l++)
                if (M->x[l] != 0.0) block[a + place[M->i[l]] * k] = M->x[l];
        if (!mor_lu_factor(k, block, pivot)) return false;
        for (int b = 0; b < k; b++) {
            for (int a = 0; a < k; a++) e[a] = a == b ? 1.0 : 0.0;
            mor_lu_solve(k, block, pivot, e);
            for (int a = 0; a < k; a++) row[count] = member[a], col[count] = member[b], x[count++] = e[a];
        }
    }
    return mor_csr_from_triplets(inverse, n, n, count, row, col, x, arena);
}

/* x := M^-1 x */
static void solve_mass(const global_data* d, double* x, double* work)
{
    if (d->lu) mor_sparse_lu_solve(d->lu, 1, x);
    else {
        mor_csr_apply(&d->inverse, x, work);
        memcpy(x, work, (size_t)d->M.rows * sizeof *x);
    }
}

static void global_back(const mor_conversion* conversion, const double* r, double* z, mor_arena* arena)
{
    const global_data* d = conversion->data;
    const mor_problem* from = conversion->from;
    int n = from->size, m = d->M.rows;
    size_t mark = mor_arena_mark(arena);
    double* work = mor_arena_alloc(arena, 3 * ((size_t)m + 1) * sizeof *work);
    memmove(z, r, (size_t)n * sizeof *z);
    if (!work) return;
    double *right = work, *e = work + m, *v = z + n, *spare = work + 2 * m;
    mor_csr_apply(&d->H, z, right);
    for (int i = 0; i < m; i++) v[i] = right[i] += from->f[i];
    solve_mass(d, v, spare);
    mor_csr_apply(&d->M, v, e);
    for (int i = 0; i < m; i++) e[i] = right[i] - e[i];
    solve_mass(d, e, spare);
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
    double* x = mor_arena_alloc(arena, 2 * ((size_t)m + 1) * sizeof *x);
    if (!d || !b || !x || !as_csr(&from->M, &d->M, arena) || !as_csr(&from->H, &d->H, arena) ||
        !mor_csr_transpose(&Ht, &d->H, NULL, arena))
        return MOR_SYSTEM;
    if (!invert_blocks(&d->M, &d->inverse, arena))
        return mor_fail(error, MOR_BAD_INPUT, "the mass matrix is singular");
    *conversion = (mor_conversion){ .from = from, .back = global_back, .forward = global_forward,
                                    .destroy = global_destroy, .data = d };
    if (m > 0 && d->inverse.rows == 0) {
        d->lu = mor_sparse_lu_create(&d->M, NULL);
        if (!d->lu || !mor_sparse_lu_factor(d->lu, &d->M))
            return mor_fail(error, MOR_BAD_INPUT, "the mass matrix is singular");
    }
    bool ok = d->lu ? columns_of_W(d, &Ht, &W, arena)
                    : m == 0 || (mor_csr_multiply(&X, &d->inverse, &d->H, arena) && mor_csr_multiply(&W, &Ht, &X, arena));
    if (!ok) return MOR_SYSTEM;
    if (m == 0) {
        W = (mor_csr){ n, n, mor_arena_zero(arena, (size_t)n + 1, sizeof(int)), NULL, NULL };
        if (!W.p) return MOR_SYSTEM;
    }
    memcpy(x, from->f, (size_t)m * sizeof *x);
    solve_mass(d, x, x + m);
    mor_csr_apply(&Ht, x, b);
    for (int i = 0; i < n; i++) b[i] += from->b[i];
    mor_form to = from->form == MOR_GFC2D ? MOR_FC2D : from->form == MOR_GFC3D ? MOR_FC3D : MOR_FC_ROLLING;
    conversion->to = (mor_problem){ .form = to, .size = n, .b = b, .contact_count = from->contact_count,
                                    .dim = from->dim, .mu = from->mu, .mu_roll = from->mu_roll,
                                    .reference_norm = from->reference_norm };
    conversion->to.A = (mor_matrix){ .storage = MOR_SPARSE, .rows = n, .cols = n, .x = W.x, .p = W.p, .i = W.i };
    return MOR_OK;
}
