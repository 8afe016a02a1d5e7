/* Block Cholesky, right-looking, on an elimination graph.
 *
 * Every block k keeps a list of its neighbours with the coupling block A_jk. Eliminating k:
 *
 *     D_k = L L',   B_j = A_jk L^-T  for its neighbours j,   A_ij -= B_i B_j'  for pairs of them,
 *
 * where pairs without an entry get one (fill). The neighbours left in k's list are its column of the factor. The next
 * block is the one with the fewest neighbours: a bucket per degree finds it without a search.
 *
 * Cost: O(sum of degree^2 d^3); linear for trees. */
#include "linalg/block_cholesky.h"

#include "base/arena.h"
#include "linalg/rows.h"

#include <math.h>
#include <string.h>

typedef struct edge {
    int to;
    double* block; /* dims[to] x dims[from], row-major; shared with the twin, which reads it transposed */
    bool flipped;  /* stored as dims[from] x dims[to], as the blocks of the factor are: rows of k */
} edge;

typedef struct node {
    int dim, offset, degree, capacity;
    edge* edges;
    double* D; /* then its factor */
    bool gone;
    int next, previous; /* in its bucket */
} node;

struct mor_block_cholesky {
    int count, size;
    node* nodes;
    int* order;
    int* bucket; /* first node of each degree, -1 none */
    int* last;   /* and the last one, if there is a first */
    int* mark;   /* node -> position in the list under work, -1 */
    mor_arena* arena;
};

enum { FEW_EDGES = 4 }; /* that a node has room for from the start */

mor_block_cholesky* mor_block_cholesky_create(int count, const int* dims, mor_arena* arena)
{
    mor_block_cholesky* c = mor_arena_zero(arena, 1, sizeof *c);
    if (!c) return NULL;
    c->count = count;
    c->arena = arena;
    c->nodes = mor_arena_take(arena, ((size_t)count + 1) * sizeof *c->nodes);
    edge* edges = mor_arena_take(arena, (size_t)count * FEW_EDGES * sizeof *edges);
    int* lists = mor_arena_take(arena, 4 * ((size_t)count + 1) * sizeof *lists);
    size_t squares = 0;
    for (int i = 0; i < count; i++) squares += (size_t)(dims[i] * dims[i]);
    double* diagonals = mor_arena_zero(arena, squares, sizeof *diagonals);
    if (!c->nodes || !edges || !lists || !diagonals) return NULL;
    c->order = lists, c->bucket = lists + (count + 1), c->last = lists + 2 * (count + 1),
    c->mark = lists + 3 * (count + 1);
    for (int i = 0; i < count; i++) {
        c->nodes[i] =
            (node){ .dim = dims[i], .offset = c->size, .capacity = FEW_EDGES, .edges = edges, .D = diagonals };
        edges += FEW_EDGES, diagonals += dims[i] * dims[i];
        c->size += dims[i];
        c->mark[i] = c->bucket[i] = -1;
    }
    c->bucket[count] = -1;
    return c;
}

static bool add_edge(mor_block_cholesky* c, int from, int to, double* block, bool flipped)
{
    node* n = &c->nodes[from];
    if (n->degree == n->capacity) {
        int capacity = 2 * n->capacity;
        edge* larger = mor_arena_take(c->arena, (size_t)capacity * sizeof *larger);
        if (!larger) return false;
        memcpy(larger, n->edges, (size_t)n->degree * sizeof *larger);
        n->edges = larger;
        n->capacity = capacity;
    }
    n->edges[n->degree++] = (edge){ to, block, flipped };
    return true;
}

double* mor_block_cholesky_at(mor_block_cholesky* c, int a, int b)
{
    node *from = &c->nodes[a], *to = &c->nodes[b];
    if (a == b) return from->D;
    for (int e = 0; e < to->degree; e++)
        if (to->edges[e].to == a) return to->edges[e].block;
    double* block = mor_arena_zero(c->arena, (size_t)(from->dim * to->dim), sizeof *block);
    if (!block || !add_edge(c, b, a, block, false) || !add_edge(c, a, b, block, true)) return NULL;
    return block;
}

/* ----------------------------------------------------------------------------- the order */

/* In front of the others of its degree, which makes less fill in meshes than behind them. Leaves, which make none, come
 * behind: a chain is eliminated from both ends in turn, a tree from all its leaves, and the processor works on one
 * branch while it waits for the roots and quotients of another. */
static void put_in(mor_block_cholesky* c, int i)
{
    node* n = &c->nodes[i];
    const int d = n->degree, first = c->bucket[d], before = d <= 1 && first >= 0 ? c->last[d] : -1;
    n->previous = before;
    n->next = before >= 0 ? -1 : first;
    if (before >= 0) c->nodes[before].next = i;
    else c->bucket[d] = i;
    if (n->next >= 0) c->nodes[n->next].previous = i;
    else c->last[d] = i;
}

static void take_out(mor_block_cholesky* c, int i)
{
    node* n = &c->nodes[i];
    if (n->previous >= 0) c->nodes[n->previous].next = n->next;
    else c->bucket[n->degree] = n->next;
    if (n->next >= 0) c->nodes[n->next].previous = n->previous;
    else c->last[n->degree] = n->previous;
}

static void forget(node* n, int gone)
{
    for (int i = 0; i < n->degree; i++)
        if (n->edges[i].to == gone) {
            n->edges[i] = n->edges[--n->degree];
            return;
        }
}

/* --------------------------------------------------------------------------- the numbers */

/* The loops below get their sizes as constants for joints of three, five and six equations, and are compiled for wide
 * registers (wide.h). */
#define WITH_SIZE(n, call) ((n) == 3 ? call(3) : (n) == 5 ? call(5) : (n) == 6 ? call(6) : call(n))

/* A row of up to seven numbers in registers: in memory each sum would wait for the one before it to be stored. */
typedef struct wide_row {
    mor_four four;
    mor_two two;
    double one;
} wide_row;

MOR_ALWAYS_INLINE wide_row row_at(int n, const double* x)
{
    wide_row r = { { 0, 0, 0, 0 }, { 0, 0 }, 0.0 };
    if (n & 4) r.four = MOR_FOUR_AT(x);
    if (n & 2) r.two = MOR_TWO_AT(x + (n & 4));
    if (n & 1) r.one = x[n - 1];
    return r;
}

MOR_ALWAYS_INLINE void row_to(int n, wide_row r, double* x)
{
    if (n & 4) MOR_FOUR_TO(x) = r.four;
    if (n & 2) MOR_TWO_TO(x + (n & 4)) = r.two;
    if (n & 1) x[n - 1] = r.one;
}

/* r -= a x */
MOR_ALWAYS_INLINE void row_subtract(int n, double a, const double* x, wide_row* r)
{
    if (n & 4) r->four -= (mor_four){ a, a, a, a } * MOR_FOUR_AT(x);
    if (n & 2) r->two -= (mor_two){ a, a } * MOR_TWO_AT(x + (n & 4));
    if (n & 1) r->one -= a * x[n - 1];
}

/* A := its factor L, with 1/L_ii on the diagonal: everybody divides by them. */
MOR_ALWAYS_INLINE bool factor_sized(double* A, int n)
{
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
        double s = A[i * n + i];
#pragma GCC unroll 6
        for (int k = 0; k < i; k++) s -= A[i * n + k] * A[i * n + k];
        if (!(s > 0.0) || !isfinite(s)) return false;
        const double inverse = 1.0 / sqrt(s);
        A[i * n + i] = inverse;
#pragma GCC unroll 6
        for (int j = i + 1; j < n; j++) {
            double t = A[j * n + i];
#pragma GCC unroll 6
            for (int k = 0; k < i; k++) t -= A[j * n + k] * A[i * n + k];
            A[j * n + i] = t * inverse;
        }
    }
    return true;
}

MOR_ALWAYS_INLINE bool factor_pivot(double* A, int n)
{
#define FACTOR(size) factor_sized(A, size)
    return WITH_SIZE(n, FACTOR);
#undef FACTOR
}

/* B := L^-1 B, n x m */
MOR_ALWAYS_INLINE void solve_sized(const double* L, int n, double* B, int m)
{
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
        const double s = L[i * n + i];
        wide_row row = row_at(m, B + i * m);
#pragma GCC unroll 6
        for (int k = 0; k < i; k++) row_subtract(m, L[i * n + k], B + k * m, &row);
        row.four *= (mor_four){ s, s, s, s }, row.two *= (mor_two){ s, s }, row.one *= s;
        row_to(m, row, B + i * m);
    }
}

MOR_ALWAYS_INLINE void solve_rows(const double* L, int n, double* B, int m)
{
#define SOLVE(size) (m == (size) ? solve_sized(L, size, B, size) : solve_sized(L, size, B, m))
    WITH_SIZE(n, SOLVE);
#undef SOLVE
}

/* The coupling block of an edge of k as dims[k] x dims[to], turned into B' in memory of its own. */
MOR_ALWAYS_INLINE bool make_factor_block(mor_block_cholesky* c, const node* k, edge* e)
{
    int m = c->nodes[e->to].dim, n = k->dim;
    double* B = e->block;
    if (!e->flipped) {
        B = mor_arena_take(c->arena, (size_t)(m * n) * sizeof *B);
        if (!B) return false;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) B[i * m + j] = e->block[j * n + i];
        e->block = B;
        e->flipped = true;
    }
    solve_rows(k->D, n, B, m);
    return true;
}

/* D_i -= B_i B_i', at least its lower triangle: the factor reads no more. B' is n x p. */
MOR_ALWAYS_INLINE void update_own_sized(double* D, const double* B, int p, int n)
{
#pragma GCC unroll 6
    for (int i = 0; i < p; i++) {
        const int m = i < 4 && p > 4 ? 4 : p;
        wide_row row = row_at(m, D + i * p);
#pragma GCC unroll 6
        for (int k = 0; k < n; k++) row_subtract(m, B[k * p + i], B + k * p, &row);
        row_to(m, row, D + i * p);
    }
}

MOR_ALWAYS_INLINE void update_own(double* D, const double* B, int p, int n)
{
#define UPDATE(size) (p == (size) ? update_own_sized(D, B, size, size) : update_own_sized(D, B, p, size))
    WITH_SIZE(n, UPDATE);
#undef UPDATE
}

/* A_ij -= B_i B_j', p x q; the transposes of B_i and B_j are n x p and n x q */
MOR_ALWAYS_INLINE void update_sized(double* A, const double* Bi, int p, const double* Bj, int q, int n)
{
    for (int i = 0; i < p; i++) {
        wide_row row = row_at(q, A + i * q);
        for (int k = 0; k < n; k++) row_subtract(q, Bi[k * p + i], Bj + k * q, &row);
        row_to(q, row, A + i * q);
    }
}

MOR_ALWAYS_INLINE void update(double* A, const double* Bi, int p, const double* Bj, int q, int n)
{
#define UPDATE(size)                                                                                                   \
    (p == (size) && q == (size) ? update_sized(A, Bi, size, Bj, size, size) : update_sized(A, Bi, p, Bj, q, size))
    WITH_SIZE(n, UPDATE);
#undef UPDATE
}

MOR_ALWAYS_INLINE bool eliminate_body(mor_block_cholesky* c, int number)
{
    node* k = &c->nodes[number];
    k->gone = true;
    if (!factor_pivot(k->D, k->dim)) return false;
    for (int a = 0; a < k->degree; a++) {
        node* i = &c->nodes[k->edges[a].to];
        take_out(c, k->edges[a].to);
        forget(i, number);
        if (!make_factor_block(c, k, &k->edges[a])) return false;
    }
    for (int a = 0; a < k->degree; a++) {
        int ni = k->edges[a].to;
        node* i = &c->nodes[ni];
        const double* Bi = k->edges[a].block;
        update_own(i->D, Bi, i->dim, k->dim);
        for (int e = 0; e < i->degree; e++) c->mark[i->edges[e].to] = e;
        for (int b = a + 1; b < k->degree; b++) {
            int nj = k->edges[b].to;
            node* j = &c->nodes[nj];
            const double* Bj = k->edges[b].block;
            if (c->mark[nj] < 0) { /* fill: in i's list as dims[j] x dims[i] */
                double* block = mor_arena_zero(c->arena, (size_t)(i->dim * j->dim), sizeof *block);
                if (!block || !add_edge(c, ni, nj, block, false) || !add_edge(c, nj, ni, block, true)) return false;
                c->mark[nj] = i->degree - 1;
            }
            const edge* e = &i->edges[c->mark[nj]];
            if (e->flipped) update(e->block, Bi, i->dim, Bj, j->dim, k->dim);
            else update(e->block, Bj, j->dim, Bi, i->dim, k->dim);
        }
        for (int e = 0; e < i->degree; e++) c->mark[i->edges[e].to] = -1;
    }
    for (int a = 0; a < k->degree; a++) put_in(c, k->edges[a].to);
    return true;
}

MOR_WIDE(static, bool, eliminate, (mor_block_cholesky * c, int number), (c, number))

bool mor_block_cholesky_factor(mor_block_cholesky* c)
{
    for (int i = c->count - 1; i >= 0; i--) put_in(c, i); /* small numbers in front */
    int least = 0;
    for (int done = 0; done < c->count; done++) {
        while (c->bucket[least] < 0) least++;
        int k = c->bucket[least];
        take_out(c, k);
        c->order[done] = k;
        if (!eliminate(c, k)) return false;
        least = least > 0 ? least - 1 : 0; /* degrees fall by at most one */
    }
    return true;
}

/* z -= B'y, B' n x m */
MOR_ALWAYS_INLINE void push_to(int n, int m, const double* B, const double* y, double* z)
{
    wide_row row = row_at(m, z);
#pragma GCC unroll 6
    for (int r = 0; r < n; r++) row_subtract(m, y[r], B + r * m, &row);
    row_to(m, row, z);
}

/* y := L^-1 y, then what it adds to its neighbours */
MOR_ALWAYS_INLINE void forward(const mor_block_cholesky* c, const node* k, int n, double* x)
{
    const double* L = k->D;
    double y[8]; /* at most MOR_BLOCK_DIM of them */
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) y[i] = x[k->offset + i];
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) { /* by columns: only one product waits for the number before it */
        y[i] *= L[i * n + i];
#pragma GCC unroll 6
        for (int d = i + 1; d < n; d++) y[d] -= L[d * n + i] * y[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) x[k->offset + i] = y[i];
    for (int a = 0; a < k->degree; a++) {
        const node* i = &c->nodes[k->edges[a].to];
        if (i->dim == n) push_to(n, n, k->edges[a].block, y, x + i->offset);
        else push_to(n, i->dim, k->edges[a].block, y, x + i->offset);
    }
}

MOR_ALWAYS_INLINE void backward(const mor_block_cholesky* c, const node* k, int n, double* x)
{
    const double* L = k->D;
    double y[8]; /* at most MOR_BLOCK_DIM of them */
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) y[i] = x[k->offset + i];
    for (int a = 0; a < k->degree; a++) {
        const node* i = &c->nodes[k->edges[a].to];
        const int m = i->dim;
        const double *B = k->edges[a].block, *z = x + i->offset;
        if (m == n)
#pragma GCC unroll 6
            for (int r = 0; r < n; r++) y[r] -= mor_inner(n, B + r * n, z);
        else
#pragma GCC unroll 6
            for (int r = 0; r < n; r++) y[r] -= mor_inner(m, B + r * m, z);
    }
#pragma GCC unroll 6
    for (int i = n - 1; i >= 0; i--) { /* L', by columns */
        y[i] *= L[i * n + i];
#pragma GCC unroll 6
        for (int d = 0; d < i; d++) y[d] -= L[i * n + d] * y[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) x[k->offset + i] = y[i];
}

MOR_ALWAYS_INLINE void mor_block_cholesky_solve_body(const mor_block_cholesky* c, double* x)
{
    const node* k;
#define FORWARD(size) forward(c, k, size, x)
#define BACKWARD(size) backward(c, k, size, x)
    for (int s = 0; s < c->count; s++) {
        k = &c->nodes[c->order[s]];
        WITH_SIZE(k->dim, FORWARD);
    }
    for (int s = c->count - 1; s >= 0; s--) {
        k = &c->nodes[c->order[s]];
        WITH_SIZE(k->dim, BACKWARD);
    }
#undef FORWARD
#undef BACKWARD
}

MOR_WIDE_VOID(extern, mor_block_cholesky_solve, (const mor_block_cholesky* c, double* x), (c, x))
