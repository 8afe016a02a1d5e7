/* Elimination tree, supernodes, fronts (front_lu.h). */
#include "linalg/front_lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/blocks.h"
#include "linalg/rows.h"

void mor_bsr_mirror(const mor_bsr* B, int* mirror)
{
    for (int a = 0; a < B->n; a++)
        for (int k = B->p[a]; k < B->p[a + 1]; k++) {
            int b = B->i[k], low = B->p[b], high = B->p[b + 1];
            while (low < high) {
                int middle = low + (high - low) / 2;
                if (B->i[middle] < a) low = middle + 1;
                else high = middle;
            }
            mirror[k] = low;
        }
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------------------- analysis */

/* Elimination tree of the graph over `node` numbers 0 ... n-1. */
static void find_parents(const mor_front_lu* lu, const mor_bsr* B, int* parent, int* ancestor)
{
    for (int j = 0; j < lu->n; j++) {
        int row = lu->block[j];
        parent[j] = ancestor[j] = -1;
        for (int k = B->p[row]; k < B->p[row + 1]; k++) {
            int i = lu->node[B->i[k]];
            while (i >= 0 && i < j) {
                int next = ancestor[i];
                ancestor[i] = j;
                if (next < 0) parent[i] = j;
                i = next;
            }
        }
    }
}

/* Renumbers so that every subtree is contiguous. work: 4 n. */
static void postorder(mor_front_lu* lu, const int* parent, int* work)
{
    int n = lu->n, *head = work, *next = head + n, *stack = next + n, *order = stack + n, top = 0, used = 0;
    for (int i = 0; i < n; i++) head[i] = -1;
    for (int i = n - 1; i >= 0; i--)
        if (parent[i] >= 0) next[i] = head[parent[i]], head[parent[i]] = i;
    for (int root = 0; root < n; root++) {
        if (parent[root] >= 0) continue;
        stack[top++] = root;
        while (top > 0) {
            int i = stack[top - 1], child = head[i];
            if (child >= 0) head[i] = next[child], stack[top++] = child;
            else order[used++] = i, top--;
        }
    }
    for (int k = 0; k < n; k++) order[k] = lu->block[order[k]];
    for (int k = 0; k < n; k++) lu->block[k] = order[k], lu->node[order[k]] = k;
}

/* Entries below the diagonal in every column of L. */
static void count_columns(const mor_front_lu* lu, const mor_bsr* B, const int* parent, int* count, int* mark)
{
    for (int i = 0; i < lu->n; i++) {
        count[i] = 0;
        mark[i] = i;
        int row = lu->block[i];
        for (int k = B->p[row]; k < B->p[row + 1]; k++)
            for (int j = lu->node[B->i[k]]; j >= 0 && j < i && mark[j] != i; j = parent[j]) mark[j] = i, count[j]++;
    }
}

/* Supernodes: column j + 1 joins the front of j if it is its parent and few zeros are stored for it. */
static void find_fronts(mor_front_lu* lu, const int* parent, const int* count)
{
    int begin = 0, zeros = 0;
    lu->fronts = 0;
    for (int j = 0; j < lu->n; j++) {
        lu->first[lu->fronts] = begin;
        int width = j - begin + 1;
        if (j + 1 < lu->n && parent[j] == j + 1) {
            int extra = width * (1 + count[j + 1] - count[j]); /* the front's columns get the rows of j + 1 */
            int area = (width + 1) * (width + 1 + count[j + 1]);
            if (zeros + extra <= area / 6 || (width * lu->d < 12 && zeros + extra <= 2 * width + 2)) {
                zeros += extra;
                continue;
            }
        }
        lu->fronts++;
        begin = j + 1;
        zeros = 0;
    }
    lu->first[lu->fronts] = lu->n;
}

bool mor_front_lu_analyse(mor_front_lu* lu, const mor_bsr* B, const int* active, int n, mor_arena* arena)
{
    *lu = (mor_front_lu){ .n = n, .d = B->d };
    size_t ints = (size_t)n + 1;
    lu->node = mor_arena_alloc(arena, (size_t)B->n * sizeof(int));
    lu->block = mor_arena_alloc(arena, ints * sizeof(int));
    lu->first = mor_arena_alloc(arena, ints * sizeof(int));
    lu->start = mor_arena_alloc(arena, ints * sizeof(int));
    lu->parent = mor_arena_alloc(arena, ints * sizeof(int));
    lu->child = mor_arena_alloc(arena, ints * sizeof(int));
    lu->sibling = mor_arena_alloc(arena, ints * sizeof(int));
    lu->local = mor_arena_alloc(arena, ints * sizeof(int));
    lu->at = mor_arena_alloc(arena, ints * sizeof(size_t));
    lu->pivot = mor_arena_alloc(arena, ints * (size_t)B->d * sizeof(int));
    int* parent = mor_arena_alloc(arena, ints * sizeof(int));
    int* work = mor_arena_alloc(arena, 4 * ints * sizeof(int));
    if (!lu->node || !lu->block || !lu->first || !lu->start || !lu->parent || !lu->child || !lu->sibling ||
        !lu->local || !lu->at || !lu->pivot || !parent || !work)
        return false;
    for (int i = 0; i < B->n; i++) lu->node[i] = -1;
    for (int k = 0; k < n; k++) lu->block[k] = active[k], lu->node[active[k]] = k;
    find_parents(lu, B, parent, work);
    postorder(lu, parent, work);
    find_parents(lu, B, parent, work);
    count_columns(lu, B, parent, work, work + n);
    find_fronts(lu, parent, work);

    /* rows of each front: at most its first column's count plus what amalgamation added */
    size_t total = 0;
    for (int f = 0; f < lu->fronts; f++)
        total += (size_t)(lu->first[f + 1] - lu->first[f]) + (size_t)work[lu->first[f + 1] - 1];
    lu->rows = mor_arena_alloc(arena, (total + 1) * sizeof(int));
    if (!lu->rows) return false;
    int *front_of = work + n, *mark = work + 2 * n, used = 0;
    for (int f = 0; f < lu->fronts; f++) {
        lu->child[f] = -1;
        for (int j = lu->first[f]; j < lu->first[f + 1]; j++) front_of[j] = f, mark[j] = -1;
    }
    size_t d = (size_t)B->d, stack = 0;
    for (int f = 0; f < lu->fronts; f++) {
        int begin = lu->first[f], end = lu->first[f + 1];
        lu->start[f] = used;
        for (int j = begin; j < end; j++) lu->rows[used++] = j, mark[j] = f;
        int below = used;
        for (int j = begin; j < end; j++)
            for (int k = B->p[lu->block[j]]; k < B->p[lu->block[j] + 1]; k++) {
                int i = lu->node[B->i[k]];
                if (i >= end && mark[i] != f) mark[i] = f, lu->rows[used++] = i;
            }
        size_t children = 0;
        for (int c = lu->child[f]; c >= 0; c = lu->sibling[c]) {
            int skip = lu->first[c + 1] - lu->first[c];
            size_t size = (size_t)(lu->start[c + 1] - lu->start[c] - skip) * d;
            children += size * size;
            for (int k = lu->start[c] + skip; k < lu->start[c + 1]; k++)
                if (lu->rows[k] >= end && mark[lu->rows[k]] != f) mark[lu->rows[k]] = f, lu->rows[used++] = lu->rows[k];
        }
        qsort(lu->rows + below, (size_t)(used - below), sizeof(int), compare_int);
        lu->start[f + 1] = used;
        lu->parent[f] = used > below ? front_of[lu->rows[below]] : -1;
        if (lu->parent[f] >= 0) lu->sibling[f] = lu->child[lu->parent[f]], lu->child[lu->parent[f]] = f;
        size_t m = (size_t)(used - lu->start[f]) * d, k = (size_t)(end - begin) * d;
        lu->at[f] = lu->factor_size;
        lu->factor_size += m * k + k * (m - k);
        if (m * m > lu->front_size) lu->front_size = m * m;
        stack += (m - k) * (m - k);
        stack -= children;
        /* never less than what is held at once */
        if (stack + children > lu->stack_size) lu->stack_size = stack + children;
    }
    lu->factors = mor_arena_alloc(arena, (lu->factor_size + 1) * sizeof(double));
    lu->front = mor_arena_alloc(arena, (lu->front_size + 1) * sizeof(double));
    lu->stack = mor_arena_alloc(arena, (lu->stack_size + 1) * sizeof(double));
    lu->work = mor_arena_alloc(arena, 2 * ((size_t)n * d + 1) * sizeof(double));
    return lu->factors && lu->front && lu->stack && lu->work;
}

double mor_front_lu_operations(const mor_front_lu* lu)
{
    double sum = 0.0;
    for (int f = 0; f < lu->fronts; f++) { /* k columns of m: 2 (m - 1)^2 + ... + 2 (m - k)^2 */
        double m = (double)(lu->start[f + 1] - lu->start[f]) * lu->d;
        double rest = m - (double)(lu->first[f + 1] - lu->first[f]) * lu->d;
        sum += 2.0 / 3.0 * (m * m * m - rest * rest * rest);
    }
    return sum;
}

/* ---------------------------------------------------------------------------------- numbers */

/* The largest |x|, numbers that are none left out; 0 without any. */
MOR_ALWAYS_INLINE double largest(int n, const double* x)
{
    const mor_four_bits sign = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN };
    mor_four most = { 0, 0, 0, 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        const mor_four size = (mor_four)(MOR_FOUR_BITS_AT(x + i) & ~sign);
        most = MOR_FOUR_SELECT(size > most, size, most);
    }
    double all = mor_max(mor_max(most[0], most[1]), mor_max(most[2], most[3]));
    for (; i < n; i++) all = mor_max(all, fabs(x[i]));
    return all;
}

/* The first of the largest from c[j] on; j if c[j] is no number. */
MOR_ALWAYS_INLINE int pivot_row(const double* c, int j, int limit)
{
    const double most = largest(limit - j, c + j);
    for (int i = j; i < limit; i++)
        if (fabs(c[i]) == most || isnan(c[j])) return i;
    return j;
}

/* Eliminates columns begin ... end-1 of the m x m front, pivoting among rows < limit; updates columns < columns only.
 * */
MOR_ALWAYS_INLINE bool eliminate(int m, int begin, int end, int limit, int columns, double* F, int* pivot)
{
    for (int j = begin; j < end; j++) {
        double* c = F + (size_t)j * m;
        const int r = pivot_row(c, j, limit);
        const double whole = largest(m - j, c + j);
        pivot[j] = r;
        if (!(fabs(c[r]) > 1e-12 * whole) || !isfinite(c[r])) return false;
        if (r != j)
            for (int k = 0; k < m; k++) {
                double t = F[j + (size_t)k * m];
                F[j + (size_t)k * m] = F[r + (size_t)k * m], F[r + (size_t)k * m] = t;
            }
        double inverse = 1.0 / c[j];
        for (int i = j + 1; i < m; i++) c[i] *= inverse;
        for (int k = j + 1; k < columns; k++) {
            double* o = F + (size_t)k * m;
            if (o[j] != 0.0) mor_subtract(m - j - 1, o[j], c + j + 1, o + j + 1);
        }
    }
    return true;
}

/* k columns of the m x m front. Large ones by panels, the rest of the front updated by matrix products. */
MOR_ALWAYS_INLINE bool partial_lu_body(int m, int k, double* F, int* pivot)
{
    enum { SMALL = 40, PANEL = 24 };
    if (m <= SMALL) return eliminate(m, 0, k, k, m, F, pivot);
    for (int begin = 0; begin < k; begin += PANEL) {
        int end = begin + PANEL < k ? begin + PANEL : k, w = end - begin, rest = m - end;
        if (!eliminate(m, begin, end, k, end, F, pivot)) return false;
        if (rest == 0) break;
        double *L = F + begin + (size_t)begin * m, *U = F + begin + (size_t)end * m;
        mor_block_solve_unit_lower(w, rest, L, m, U, m);
        mor_block_product(rest, rest, w, -1.0, L + w, m, U, 1, m, U + w, m);
    }
    return true;
}

MOR_WIDE(static, bool, partial_lu, (int m, int k, double* F, int* pivot), (m, k, F, pivot))

/* The matrix's own entries of a front: rows and columns of the blocks that it eliminates. */
MOR_ALWAYS_INLINE void take_entries(const int d, const mor_front_lu* lu, const mor_bsr* B, const int* mirror,
                                    const double* x, int f, int m, double* F)
{
    int begin = lu->first[f], end = lu->first[f + 1];
    for (int j = begin; j < end; j++) {
        int block = lu->block[j], at = j - begin;
        for (int l = B->p[block]; l < B->p[block + 1]; l++) {
            int i = lu->node[B->i[l]];
            if (i < begin) continue;
            int to = lu->local[i];
            const double* v = x + (size_t)l * d * d;
            double* out = F + (size_t)at * d + (size_t)to * d * m;
            for (int c = 0; c < d; c++)
                for (int r = 0; r < d; r++) out[r + (size_t)c * m] = v[r * d + c];
            if (i < end) continue; /* its own row brings the mirror */
            v = x + (size_t)mirror[l] * d * d;
            out = F + (size_t)to * d + (size_t)at * d * m;
            for (int c = 0; c < d; c++)
                for (int r = 0; r < d; r++) out[r + (size_t)c * m] = v[r * d + c];
        }
    }
}

/* The update of child c, added. */
MOR_ALWAYS_INLINE void take_update(const int d, const mor_front_lu* lu, int c, const double* update, int m, double* F)
{
    int own = lu->first[c + 1] - lu->first[c], below = lu->start[c + 1] - lu->start[c] - own, size = below * d;
    const int* child = lu->rows + lu->start[c] + own;
    for (int b = 0; b < below; b++)
        for (int s = 0; s < d; s++) {
            double* column = F + ((size_t)lu->local[child[b]] * d + s) * m;
            const double* source = update + ((size_t)b * d + s) * size;
            for (int a = 0; a < below; a++) {
                double* out = column + lu->local[child[a]] * d;
                for (int r = 0; r < d; r++) out[r] += source[a * d + r];
            }
        }
}

/* The front f before its elimination; `top` of the stack falls by its children. */
MOR_ALWAYS_INLINE void gather_front_body(const int d, mor_front_lu* lu, const mor_bsr* B, const int* mirror,
                                         const double* x, int f, int m, size_t* top)
{
    const int *rows = lu->rows + lu->start[f], count = lu->start[f + 1] - lu->start[f];
    double* F = lu->front;
    memset(F, 0, (size_t)m * m * sizeof *F);
    for (int i = 0; i < count; i++) lu->local[rows[i]] = i;
    take_entries(d, lu, B, mirror, x, f, m, F);
    for (int c = lu->child[f]; c >= 0; c = lu->sibling[c]) {
        int size = (lu->start[c + 1] - lu->start[c] - lu->first[c + 1] + lu->first[c]) * d;
        *top -= (size_t)size * size;
        take_update(d, lu, c, lu->stack + *top, m, F);
    }
}

MOR_ALWAYS_INLINE void gather_body(mor_front_lu* lu, const mor_bsr* B, const int* mirror, const double* x, int f, int m,
                                   size_t* top)
{
    if (lu->d == 6) gather_front_body(6, lu, B, mirror, x, f, m, top);
    else if (lu->d == 3) gather_front_body(3, lu, B, mirror, x, f, m, top);
    else gather_front_body(lu->d, lu, B, mirror, x, f, m, top);
}

MOR_WIDE_VOID(static, gather,
              (mor_front_lu * lu, const mor_bsr* B, const int* mirror, const double* x, int f, int m, size_t* top),
              (lu, B, mirror, x, f, m, top))

bool mor_front_lu_factor(mor_front_lu* lu, const mor_bsr* B, const int* mirror, const double* x)
{
    int d = lu->d;
    size_t top = 0; /* of the stack of updates: a front's children lie on top of it, the last one uppermost */
    for (int f = 0; f < lu->fronts; f++) {
        int begin = lu->first[f], m = (lu->start[f + 1] - lu->start[f]) * d, k = (lu->first[f + 1] - begin) * d;
        double* F = lu->front;
        gather(lu, B, mirror, x, f, m, &top);
        if (!partial_lu(m, k, F, lu->pivot + begin * d)) return false;
        double* L = lu->factors + lu->at[f];
        memcpy(L, F, (size_t)m * k * sizeof *L);
        double* U = L + (size_t)m * k;
        int rest = m - k;
        for (int j = 0; j < rest; j++) {
            const double* column = F + (size_t)(k + j) * m;
            memcpy(U + (size_t)j * k, column, (size_t)k * sizeof *U);
            memcpy(lu->stack + top + (size_t)j * rest, column + k, (size_t)rest * sizeof *U);
        }
        top += (size_t)rest * rest;
    }
    return true;
}

MOR_ALWAYS_INLINE void mor_front_lu_solve_body(mor_front_lu* lu, const int* active, double* b)
{
    int d = lu->d;
    double *y = lu->work, *g = y + (size_t)lu->n * d;
    for (int k = 0; k < lu->n; k++)
        memcpy(y + (size_t)lu->node[active[k]] * d, b + (size_t)k * d, (size_t)d * sizeof *y);
    for (int f = 0; f < lu->fronts; f++) {
        int begin = lu->first[f], own = lu->first[f + 1] - begin, count = lu->start[f + 1] - lu->start[f],
            m = count * d, k = own * d;
        const int* rows = lu->rows + lu->start[f];
        const double* L = lu->factors + lu->at[f];
        double* v = y + (size_t)begin * d;
        for (int j = 0; j < k; j++) {
            int r = lu->pivot[begin * d + j];
            double t = v[j];
            v[j] = v[r], v[r] = t;
        }
        memset(g, 0, (size_t)(m - k) * sizeof *g);
        for (int j = 0; j < k; j++) {
            const double* c = L + (size_t)j * m;
            double s = v[j];
            if (s == 0.0) continue;
            mor_subtract(k - j - 1, s, c + j + 1, v + j + 1);
            mor_subtract(m - k, s, c + k, g);
        }
        for (int a = own; a < count; a++)
            for (int r = 0; r < d; r++) y[(size_t)rows[a] * d + r] += g[(a - own) * d + r];
    }
    for (int f = lu->fronts - 1; f >= 0; f--) {
        int begin = lu->first[f], own = lu->first[f + 1] - begin, count = lu->start[f + 1] - lu->start[f],
            m = count * d, k = own * d;
        const int* rows = lu->rows + lu->start[f];
        const double *L = lu->factors + lu->at[f], *U = L + (size_t)m * k;
        double* v = y + (size_t)begin * d;
        for (int a = own; a < count; a++)
            for (int r = 0; r < d; r++) {
                double s = y[(size_t)rows[a] * d + r];
                const double* c = U + (size_t)((a - own) * d + r) * k;
                if (s != 0.0) mor_subtract(k, s, c, v);
            }
        for (int j = k - 1; j >= 0; j--) {
            const double* c = L + (size_t)j * m;
            v[j] /= c[j];
            mor_subtract(j, v[j], c, v);
        }
    }
    for (int k = 0; k < lu->n; k++)
        memcpy(b + (size_t)k * d, y + (size_t)lu->node[active[k]] * d, (size_t)d * sizeof *y);
}

MOR_WIDE_VOID(extern, mor_front_lu_solve, (mor_front_lu * lu, const int* active, double* b), (lu, active, b))
