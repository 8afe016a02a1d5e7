/* W of a step, block row by block row from the lists of blocks on each tree: cost proportional to its non-zero blocks.
 * And the matrix that conversions write to (step_matrix.h). */
#include "problem/step_matrix.h"

#include <string.h>

#include "linalg/sparse.h"

/* ---------------------------------------------------------------------------- W by blocks */

static void sort_ints(int* a, int n)
{
    for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (int)(gap / 2.2))
        for (int i = gap; i < n; i++) {
            int v = a[i], j = i;
            for (; j >= gap && a[j - gap] > v; j -= gap) a[j] = a[j - gap];
            a[j] = v;
        }
}

bool mor_step_visit_W(const mor_step_form* step, mor_block_visit visit, void* user, mor_arena* arena)
{
    /* `visit` may allocate from the same arena, so the lists stay until the caller releases it */
    int nb = step->block_count, total = 0, widest = 1;
    for (int c = 0; c < nb; c++) {
        total += step->blocks[c].entry_count;
        if (step->blocks[c].dim > widest) widest = step->blocks[c].dim;
    }
    /* lists of (block, entry) per tree, blocks ascending */
    int* start = mor_arena_zero(arena, (size_t)step->tree_count + 2, sizeof *start);
    int* block = mor_arena_alloc(arena, (size_t)total * sizeof *block);
    int* entry = mor_arena_alloc(arena, (size_t)total * sizeof *entry);
    int* touched = mor_arena_alloc(arena, (size_t)nb * sizeof *touched);
    int* seen = mor_arena_alloc(arena, (size_t)nb * sizeof *seen);
    double* panel = mor_arena_alloc(arena, (size_t)widest * (size_t)step->row_count * sizeof *panel);
    if (!start || !block || !entry || !touched || !seen || !panel) return false;
    for (int c = 0; c < nb; c++)
        for (int e = step->blocks[c].entry; e < step->blocks[c].entry + step->blocks[c].entry_count; e++)
            start[step->entries[e].tree + 2]++;
    for (int t = 0; t < step->tree_count; t++) start[t + 2] += start[t + 1];
    for (int c = 0; c < nb; c++)
        for (int e = step->blocks[c].entry; e < step->blocks[c].entry + step->blocks[c].entry_count; e++) {
            int at = start[step->entries[e].tree + 1]++;
            block[at] = c, entry[at] = e;
        }
    for (int c = 0; c < nb; c++) seen[c] = -1;

    for (int a = 0; a < nb; a++) {
        const mor_block* A = &step->blocks[a];
        int count = 0;
        for (int e = A->entry; e < A->entry + A->entry_count; e++) {
            int tree = step->entries[e].tree, dof = step->trees[tree].dof;
            const double* J = step->jacobian + step->entries[e].start;
            for (int l = start[tree]; l < start[tree + 1]; l++) {
                const mor_block* B = &step->blocks[block[l]];
                const double* Y = step->response + step->entries[entry[l]].start;
                double* W = panel + (size_t)B->row * widest; /* a's rows times b's columns */
                bool first = seen[block[l]] != a;
                if (first) seen[block[l]] = a, touched[count++] = block[l];
                for (int r = 0; r < A->dim; r++)
                    for (int c = 0; c < B->dim; c++) {
                        double s = first ? 0.0 : W[r * B->dim + c];
                        for (int k = 0; k < dof; k++) s += J[r * dof + k] * Y[c * dof + k];
                        W[r * B->dim + c] = s;
                    }
            }
        }
        sort_ints(touched, count);
        for (int k = 0; k < count; k++)
            visit(user, a, touched[k], panel + (size_t)step->blocks[touched[k]].row * widest);
    }
    return true;
}

/* ----------------------------------------------------------------------- where to put them */

enum { DENSE_BELOW = 300 };

bool mor_sink_open(mor_sink* s, int n, mor_arena* arena)
{
    *s = (mor_sink){ .n = n, .arena = arena };
    if (n <= DENSE_BELOW) s->dense = mor_arena_zero(arena, (size_t)n * n, sizeof(double));
    return n > DENSE_BELOW || s->dense;
}

static void grow(mor_sink* s)
{
    int capacity = s->capacity ? 2 * s->capacity : 1 << 14;
    int* row = s->capacity > 500000000 ? NULL : mor_arena_alloc(s->arena, (size_t)capacity * sizeof *row);
    int* col = row ? mor_arena_alloc(s->arena, (size_t)capacity * sizeof *col) : NULL;
    double* x = col ? mor_arena_alloc(s->arena, (size_t)capacity * sizeof *x) : NULL;
    if (!x) {
        s->failed = true;
        return;
    }
    if (s->count) {
        memcpy(row, s->row, (size_t)s->count * sizeof *row);
        memcpy(col, s->col, (size_t)s->count * sizeof *col);
        memcpy(x, s->x, (size_t)s->count * sizeof *x);
    }
    s->row = row, s->col = col, s->x = x, s->capacity = capacity;
}

void mor_sink_put(mor_sink* s, int i, int j, double value)
{
    if (s->dense) {
        s->dense[i + (size_t)j * s->n] += value;
        return;
    }
    if (value == 0.0) return;
    if (s->count == s->capacity) grow(s);
    if (s->failed) return;
    s->row[s->count] = i, s->col[s->count] = j, s->x[s->count++] = value;
}

bool mor_sink_close(mor_sink* s, mor_matrix* A)
{
    if (s->failed) return false;
    if (s->dense) {
        *A = (mor_matrix){ .storage = MOR_DENSE, .rows = s->n, .cols = s->n, .x = s->dense };
        return true;
    }
    mor_csr C;
    if (!mor_csr_from_triplets(&C, s->n, s->n, s->count, s->row, s->col, s->x, s->arena)) return false;
    *A = (mor_matrix){ .storage = MOR_SPARSE, .rows = s->n, .cols = s->n, .x = C.x, .p = C.p, .i = C.i };
    return true;
}
