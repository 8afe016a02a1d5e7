/* Blocks by nodes of trees, and their fronts (tree_matrix.h). */
#include "solver/tree_matrix.h"

#include <string.h>

#include "linalg/wide.h"

enum { MOST_ROWS = 6, MOST_NODE = 6 };

const char* mor_tree_matrix_unfit(const mor_step_form* s)
{
    for (int t = 0; t < s->tree_count; t++)
        if (!s->trees[t].mass) return "needs the mass blocks of all trees";
    for (int c = 0; c < s->block_count; c++)
        if (s->blocks[c].dim > MOST_ROWS) return "a block of more than six rows";
    return NULL;
}

static int node_count(const mor_tree_matrix* K, int tree) { return (K->step->trees[tree].dof + K->d - 1) / K->d; }

/* Place of block (a, b) of nodes in the matrix. */
static int find_block(const mor_tree_matrix* K, int a, int b)
{
    int row = K->place_of[a], col = K->place_of[b], low = K->K.p[row], high = K->K.p[row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (K->K.i[middle] < col) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool find_pattern(mor_tree_matrix* K, mor_arena* arena)
{
    const mor_step_form* s = K->step;
    size_t pairs = 0;
    for (int t = 0; t < s->tree_count; t++) pairs += (size_t)node_count(K, t) * (size_t)node_count(K, t);
    for (int c = 0; c < s->block_count; c++) {
        size_t nodes = 0;
        for (int e = s->blocks[c].entry; e < s->blocks[c].entry + s->blocks[c].entry_count; e++)
            nodes += (size_t)node_count(K, s->entries[e].tree);
        pairs += nodes * nodes;
    }
    int* row = mor_arena_alloc(arena, (pairs + 1) * sizeof *row);
    int* col = mor_arena_alloc(arena, (pairs + 1) * sizeof *col);
    double* x = mor_arena_zero(arena, pairs + 1, sizeof *x);
    if (!row || !col || !x) return false;
    int k = 0;
    for (int t = 0; t < s->tree_count; t++)
        for (int i = 0; i < node_count(K, t); i++)
            for (int j = 0; j < node_count(K, t); j++) row[k] = K->first[t] + i, col[k] = K->first[t] + j, k++;
    for (int c = 0; c < s->block_count; c++) {
        int begin = s->blocks[c].entry, end = begin + s->blocks[c].entry_count;
        for (int e = begin; e < end; e++)
            for (int f = begin; f < end; f++) {
                int a = s->entries[e].tree, b = s->entries[f].tree;
                if (a == b) continue;
                for (int i = 0; i < node_count(K, a); i++)
                    for (int j = 0; j < node_count(K, b); j++) row[k] = K->first[a] + i, col[k] = K->first[b] + j, k++;
            }
    }
    mor_csr graph;
    if (!mor_csr_from_triplets(&graph, K->nodes, K->nodes, k, row, col, x, arena)) return false;
    mor_bsr pattern;
    if (!mor_bsr_from_csr(&pattern, &graph, 1, true, K->node_of, arena)) return false;
    K->K = pattern;
    K->K.d = K->d;
    K->K.x = mor_arena_alloc(arena, ((size_t)pattern.p[K->nodes] * (size_t)(K->d * K->d) + 1) * sizeof(double));
    K->mirror = mor_arena_alloc(arena, ((size_t)pattern.p[K->nodes] + 1) * sizeof *K->mirror);
    if (!K->K.x || !K->mirror) return false;
    mor_bsr_mirror(&K->K, K->mirror);
    for (int i = 0; i < K->nodes; i++) K->place_of[K->node_of[i]] = K->active[i] = i;
    return true;
}

bool mor_tree_matrix_open(mor_tree_matrix* K, const mor_step_form* s, mor_arena* arena)
{
    int widest = 0;
    for (int t = 0; t < s->tree_count; t++) widest = s->trees[t].dof > widest ? s->trees[t].dof : widest;
    *K = (mor_tree_matrix){ .step = s, .d = widest < MOST_NODE ? widest : MOST_NODE };
    K->first = mor_arena_alloc(arena, ((size_t)s->tree_count + 1) * sizeof *K->first);
    if (!K->first) return false;
    for (int t = 0; t < s->tree_count; t++) {
        K->first[t] = K->nodes;
        K->nodes += node_count(K, t);
    }
    size_t n = (size_t)K->nodes + 1;
    K->node_of = mor_arena_alloc(arena, n * sizeof *K->node_of);
    K->place_of = mor_arena_alloc(arena, n * sizeof *K->place_of);
    K->active = mor_arena_alloc(arena, n * sizeof *K->active);
    K->rhs = mor_arena_alloc(arena, n * (size_t)K->d * sizeof *K->rhs);
    if (!K->node_of || !K->place_of || !K->active || !K->rhs || !find_pattern(K, arena)) return false;
    int pairs = 0;
    for (int c = 0; c < s->block_count; c++) pairs += s->blocks[c].entry_count * s->blocks[c].entry_count;
    K->slots = mor_arena_alloc(arena, ((size_t)pairs + 1) * sizeof *K->slots);
    if (!K->slots) return false;
    for (int c = 0, at = 0; c < s->block_count; c++) {
        int begin = s->blocks[c].entry, end = begin + s->blocks[c].entry_count;
        for (int e = begin; e < end; e++)
            for (int f = begin; f < end; f++)
                K->slots[at++] = find_block(K, K->first[s->entries[e].tree], K->first[s->entries[f].tree]);
    }
    return mor_front_lu_analyse(&K->lu, &K->K, K->active, K->nodes, arena);
}

double mor_tree_matrix_operations(const mor_tree_matrix* K)
{
    const mor_step_form* s = K->step;
    double sum = mor_front_lu_operations(&K->lu);
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        double dof = 0.0;
        for (int e = b->entry; e < b->entry + b->entry_count; e++) dof += s->trees[s->entries[e].tree].dof;
        sum += 2.0 * b->dim * dof * (dof + b->dim);
    }
    return sum;
}

/* out (rows x cols, row_step apart) += JE' Q, Q = H JF */
MOR_ALWAYS_INLINE void add_product(int d, int rows, int cols, const double* JE, int row_stride, const double* Q,
                                   int column_stride, double* out, int step)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            double x = 0.0;
            for (int r = 0; r < d; r++) x += JE[r * row_stride + i] * Q[r * column_stride + j];
            out[i * step + j] += x;
        }
}

MOR_ALWAYS_INLINE void half_product(int d, int cols, const double* H, const double* JF, int stride, double* Q)
{
    for (int r = 0; r < d; r++)
        for (int j = 0; j < cols; j++) {
            double x = 0.0;
            for (int k = 0; k < d; k++) x += H[r * d + k] * JF[k * stride + j];
            Q[r * MOST_NODE + j] = x;
        }
}

/* Two rows of six numbers are three times four: columns 0 to 3, then 4, 5 and 0, 1 of the next row, then 2 to 5. */
typedef struct two_rows {
    mor_four begin, middle, end;
} two_rows;

/* out (6 x 6) += E' Q, two rows at a time; E d x 6, Q d x 6 as if each of its rows came twice */
MOR_ALWAYS_INLINE void add_six(int d, const double* E, const two_rows* Q, double* out)
{
    for (int i = 0; i < 6; i += 2, out += 12) {
        two_rows sum;
        for (int r = 0; r < d; r++) {
            const double x = E[6 * r + i], y = E[6 * r + i + 1];
            const mor_four first = { x, x, x, x }, second = { y, y, y, y };
            const mor_four both = __builtin_shufflevector(first, second, 0, 1, 6, 7);
            const two_rows more = { first * Q[r].begin, both * Q[r].middle, second * Q[r].end };
            if (r == 0) sum = more;
            else sum.begin += more.begin, sum.middle += more.middle, sum.end += more.end;
        }
        MOR_FOUR_TO(out) += sum.begin;
        MOR_FOUR_TO(out + 4) += sum.middle;
        MOR_FOUR_TO(out + 8) += sum.end;
    }
}

/* A contact with d rows, three or one, between free bodies: every sum in the order of the loops above. */
MOR_ALWAYS_INLINE void add_contact(int d, mor_tree_matrix* K, const mor_block* b, const double* H, const int* slots)
{
    const mor_step_form* s = K->step;
    const mor_entry* entry = s->entries + b->entry;
    for (int f = 0; f < b->entry_count; f++) {
        const double* J = s->jacobian + entry[f].start;
        two_rows Q[3];
        for (int r = 0; r < d; r++) {
            for (int k = 0; k < d; k++) {
                const double h = H[d * r + k];
                const mor_four h4 = { h, h, h, h };
                const mor_four begin = h4 * MOR_FOUR_AT(J + 6 * k), end = h4 * MOR_FOUR_AT(J + 6 * k + 2);
                if (k == 0) Q[r].begin = begin, Q[r].end = end;
                else Q[r].begin += begin, Q[r].end += end;
            }
            Q[r].middle = __builtin_shufflevector(Q[r].begin, Q[r].end, 6, 7, 0, 1);
        }
        for (int e = 0; e < b->entry_count; e++)
            add_six(d, s->jacobian + entry[e].start, Q, K->K.x + (size_t)slots[e * b->entry_count + f] * 36);
    }
}

static bool is_contact_of_bodies(const mor_tree_matrix* K, const mor_block* b)
{
    if ((b->dim != 3 && b->dim != 1) || K->d != 6) return false;
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        if (K->step->trees[K->step->entries[e].tree].dof != 6) return false;
    return true;
}

MOR_ALWAYS_INLINE void add_block_body(mor_tree_matrix* K, const mor_block* b, const double* H, const int* slots)
{
    const mor_step_form* s = K->step;
    int d = b->dim, size = K->d * K->d;
    double Q[MOST_ROWS * MOST_NODE];
    if (is_contact_of_bodies(K, b)) {
        if (d == 3) add_contact(3, K, b, H, slots);
        else add_contact(1, K, b, H, slots); /* a gap that is projected */
        return;
    }
    for (int f = 0; f < b->entry_count; f++) {
        const mor_entry* F = &s->entries[b->entry + f];
        int cols = s->trees[F->tree].dof;
        for (int j = 0; j < cols; j += K->d) {
            int width = cols - j < K->d ? cols - j : K->d;
            half_product(d, width, H, s->jacobian + F->start + j, cols, Q);
            for (int e = 0; e < b->entry_count; e++) {
                const mor_entry* E = &s->entries[b->entry + e];
                int rows = s->trees[E->tree].dof;
                for (int i = 0; i < rows; i += K->d) {
                    int height = rows - i < K->d ? rows - i : K->d;
                    int at = i == 0 && j == 0
                                 ? slots[e * b->entry_count + f]
                                 : find_block(K, K->first[E->tree] + i / K->d, K->first[F->tree] + j / K->d);
                    double* out = K->K.x + (size_t)at * (size_t)size;
                    const double* JE = s->jacobian + E->start + i;
                    add_product(d, height, width, JE, rows, Q, MOST_NODE, out, K->d);
                }
            }
        }
    }
}

MOR_WIDE_VOID(static, add_block, (mor_tree_matrix * K, const mor_block* b, const double* H, const int* slots),
              (K, b, H, slots))

static bool is_zero(int n, const double* x)
{
    for (int k = 0; k < n; k++)
        if (x[k] != 0.0) return false;
    return true;
}

static void add_mass(mor_tree_matrix* K, int t)
{
    const mor_tree_block* tree = &K->step->trees[t];
    int d = K->d, n = tree->dof;
    for (int i = 0; i < n; i += d)
        for (int j = 0; j < n; j += d) {
            double* out = K->K.x + (size_t)find_block(K, K->first[t] + i / d, K->first[t] + j / d) * (size_t)(d * d);
            for (int r = 0; r < d && i + r < n; r++)
                for (int c = 0; c < d && j + c < n; c++) out[r * d + c] += tree->mass[(i + r) * n + j + c];
            for (int r = n - i; i == j && r < d; r++) out[r * d + r] = 1.0;
        }
}

bool mor_tree_matrix_factor(mor_tree_matrix* K, const double* H)
{
    const mor_step_form* s = K->step;
    memset(K->K.x, 0, (size_t)K->K.p[K->nodes] * (size_t)(K->d * K->d) * sizeof *K->K.x);
    for (int t = 0; t < s->tree_count; t++) add_mass(K, t);
    const int* slots = K->slots;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* own = H + s->diagonal_start[c];
        if (!is_zero(b->dim * b->dim, own)) add_block(K, b, own, slots);
        slots += b->entry_count * b->entry_count;
    }
    return mor_front_lu_factor(&K->lu, &K->K, K->mirror, K->K.x);
}

void mor_tree_matrix_solve(mor_tree_matrix* K, double* x)
{
    const mor_step_form* s = K->step;
    int d = K->d;
    memset(K->rhs, 0, (size_t)K->nodes * (size_t)d * sizeof *K->rhs);
    for (int t = 0; t < s->tree_count; t++)
        for (int i = 0; i < s->trees[t].dof; i++)
            K->rhs[K->place_of[K->first[t] + i / d] * d + i % d] = x[s->trees[t].offset + i];
    mor_front_lu_solve(&K->lu, K->active, K->rhs);
    for (int t = 0; t < s->tree_count; t++)
        for (int i = 0; i < s->trees[t].dof; i++)
            x[s->trees[t].offset + i] = K->rhs[K->place_of[K->first[t] + i / d] * d + i % d];
}
