/* One time step as a Stewart-Trinkle mixed LCP or as a cone problem.
 *
 * Unknowns x of the MLCP, in this order (MATH symbols):
 *   [nu]   only when velocities are kept
 *   p_b    rows of equations and of unbounded rows: free
 *   p_n    one per contact
 *   beta   contacts with mu > 0: one per direction d_j; with one tangent the directions are +1 and -1
 *   s      one per contact with mu > 0
 *   x      bounded rows: p = lower + x, or p = upper - x when only the upper bound is finite
 *   t      rows with two finite bounds: 0 <= x _|_ u + t >= 0, 0 <= t _|_ upper - lower - x >= 0
 * So p = P x + p_0 with at most two non-zeros per column of P, and the rows are
 *   P'(W (P x + p_0) + q) + E s (beta rows), U p_n - E' beta (s rows), q = G' nu_free + b.
 * Without equations and bounded rows this is exactly the LCP in [p_n; beta; s].
 *
 * Cones: u = W r + q for the contact rows; contacts without friction rows are given some of their own (W_TT = W_nn I,
 * q_T = 0, mu = 0, so r_T = u_T = 0); equation rows are eliminated by a rank-revealing Schur
 * complement (redundant joints: their impulses are taken as zero).
 *
 * W is assembled by block rows from the lists of blocks on each tree: cost proportional to its
 * non-zero blocks. Reference: Stewart & Trinkle (1996), An implicit time-stepping scheme for rigid
 * body dynamics with inelastic collisions and Coulomb friction. */
#include <string.h>

#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "problem/cone.h"
#include "problem/convert.h"
#include "problem/step.h"

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

/* Collects entries of an n x n matrix: dense when small, triplets when large. */
typedef struct sink {
    int n;
    double* dense;
    int count, capacity;
    int *row, *col;
    double* x;
    mor_arena* arena;
    bool failed;
} sink;

enum { DENSE_BELOW = 300 };

static bool sink_open(sink* s, int n, mor_arena* arena)
{
    *s = (sink){ .n = n, .arena = arena };
    if (n <= DENSE_BELOW) s->dense = mor_arena_zero(arena, (size_t)n * n, sizeof(double));
    return n > DENSE_BELOW || s->dense;
}

static void grow(sink* s)
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

static void put(sink* s, int i, int j, double value)
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

static bool sink_close(sink* s, mor_matrix* A)
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

/* --------------------------------------------------------------------------------- ST rows */

/* Unknown `at` moves rows row[0], row[1] of its block by value[0], value[1]: a column of P. */
typedef struct column {
    int at;
    int row[2]; /* within the block; row[1] < 0: only one */
    double value[2];
} column;

typedef struct st_data {
    int n, velocities; /* unknowns; leading velocity unknowns */
    int* first;        /* block_count + 1: columns of each block */
    column* columns;
    int* slip;      /* per block: unknown s or t, -1 if none */
    double* offset; /* row_count: p_0 */
    /* assembly */
    const mor_step_form* step;
    sink* matrix;
} st_data;

static int direction_count(const mor_block* b)
{
    return b->mu > 0.0 && b->dim > 1 ? (b->dim == 2 ? 2 : b->directions) : 0;
}

static bool is_free(const mor_block* b)
{
    return b->kind == MOR_BLOCK_EQUATION ||
           (b->kind == MOR_BLOCK_BOUNDED && b->lower == -INFINITY && b->upper == INFINITY);
}

static void visit_st(void* user, int a, int b, const double* W)
{
    const st_data* d = user;
    int width = d->step->blocks[b].dim;
    for (int i = d->first[a]; i < d->first[a + 1]; i++) {
        const column* I = &d->columns[i];
        for (int j = d->first[b]; j < d->first[b + 1]; j++) {
            const column* K = &d->columns[j];
            double s = 0.0;
            for (int k = 0; k < 2 && I->row[k] >= 0; k++)
                for (int l = 0; l < 2 && K->row[l] >= 0; l++)
                    s += I->value[k] * K->value[l] * W[I->row[k] * width + K->row[l]];
            put(d->matrix, I->at, K->at, s);
        }
    }
}

/* G and M in place of W when the velocities stay. */
static void put_velocities(const st_data* d, sink* S)
{
    const mor_step_form* step = d->step;
    for (int t = 0; t < step->tree_count; t++) {
        const mor_tree_block* tree = &step->trees[t];
        for (int r = 0; r < tree->dof; r++)
            for (int c = 0; c < tree->dof; c++)
                put(S, tree->offset + r, tree->offset + c, tree->mass[r * tree->dof + c]);
    }
    for (int a = 0; a < step->block_count; a++) {
        const mor_block* A = &step->blocks[a];
        for (int e = A->entry; e < A->entry + A->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double* J = step->jacobian + step->entries[e].start;
            for (int i = d->first[a]; i < d->first[a + 1]; i++) {
                const column* I = &d->columns[i];
                for (int k = 0; k < tree->dof; k++) {
                    double s = 0.0;
                    for (int l = 0; l < 2 && I->row[l] >= 0; l++) s += I->value[l] * J[I->row[l] * tree->dof + k];
                    put(S, I->at, tree->offset + k, s);
                    put(S, tree->offset + k, I->at, -s);
                }
            }
        }
    }
}

/* p = P x + p_0 */
static void st_back(const mor_conversion* conversion, const double* z, double* p, mor_arena* arena)
{
    (void)arena;
    const st_data* d = conversion->data;
    const mor_step_form* step = &conversion->from->step;
    memcpy(p, d->offset, (size_t)step->row_count * sizeof *p);
    for (int c = 0; c < step->block_count; c++)
        for (int i = d->first[c]; i < d->first[c + 1]; i++) {
            const column* I = &d->columns[i];
            for (int k = 0; k < 2 && I->row[k] >= 0; k++) p[step->blocks[c].row + I->row[k]] += I->value[k] * z[I->at];
        }
}

static void st_forward(const mor_conversion* conversion, const double* p, double* z, mor_arena* arena)
{
    const st_data* d = conversion->data;
    const mor_step_form* step = &conversion->from->step;
    size_t mark = mor_arena_mark(arena);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    double* u = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *u);
    memset(z, 0, (size_t)d->n * sizeof *z);
    if (!nu || !u) return;
    mor_step_velocity(step, p, nu);
    mor_step_rows(step, nu, u);
    memcpy(z, nu, (size_t)d->velocities * sizeof *z);
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        const column* I = &d->columns[d->first[c]];
        const double *r = p + b->row, *v = u + b->row;
        if (is_free(b))
            for (int k = 0; k < b->dim; k++) z[I[k].at] = r[k];
        else if (b->kind == MOR_BLOCK_BOUNDED) {
            z[I->at] = fmax(0.0, (r[0] - d->offset[b->row]) * I->value[0]);
            if (d->slip[c] >= 0) z[d->slip[c]] = fmax(0.0, -v[0]);
        } else {
            z[I->at] = fmax(0.0, r[0]);
            int count = direction_count(b);
            if (count == 0) continue;
            double s = 0.0;
            for (int j = 1; j <= count; j++) {
                double slide = 0.0;
                for (int k = 0; k < 2 && I[j].row[k] >= 0; k++) slide += I[j].value[k] * v[I[j].row[k]];
                s = fmax(s, -slide);
            }
            z[d->slip[c]] = s;
            if (b->dim == 2) z[I[1].at] = fmax(0.0, r[1]), z[I[2].at] = fmax(0.0, -r[1]);
            else {
                double beta[2];
                int j = mor_polygon_split(count, r + 1, beta);
                z[I[1 + j].at] = fmax(0.0, beta[0]), z[I[1 + (j + 1) % count].at] = fmax(0.0, beta[1]);
            }
        }
    }
    mor_arena_release(arena, mark);
}

mor_code mor_convert_step_to_mlcp(const mor_problem* from, bool keep_velocity, mor_conversion* conversion,
                                  mor_arena* arena, mor_error* error)
{
    const mor_step_form* step = &from->step;
    int nb = step->block_count, free_count = 0, contacts = 0, betas = 0, slips = 0, boxes = 0, pairs = 0;
    for (int c = 0; c < nb; c++) {
        const mor_block* b = &step->blocks[c];
        if (is_free(b)) free_count += b->dim;
        else if (b->kind == MOR_BLOCK_BOUNDED) boxes++, pairs += b->lower > -INFINITY && b->upper < INFINITY;
        else {
            if (b->mu > 0.0 && b->dim == 3 && b->directions == 0)
                return mor_fail(error, MOR_BAD_INPUT,
                                "contact block %d has a circular friction cone; a linear problem needs a polygon", c);
            if (b->dim == 5) return mor_fail(error, MOR_BAD_INPUT, "contact block %d has rolling rows", c);
            contacts++, betas += direction_count(b), slips += direction_count(b) > 0;
        }
    }
    if (keep_velocity)
        for (int t = 0; t < step->tree_count; t++)
            if (!step->trees[t].mass) return mor_fail(error, MOR_BAD_INPUT, "tree %d has no mass block", t);

    st_data* d = mor_arena_zero(arena, 1, sizeof *d);
    if (!d) return MOR_SYSTEM;
    d->velocities = keep_velocity ? step->dof : 0;
    d->step = step;
    int at_free = d->velocities, at_n = at_free + free_count, at_beta = at_n + contacts, at_s = at_beta + betas,
        at_box = at_s + slips, at_pair = at_box + boxes, n = at_pair + pairs;
    d->n = n;
    d->first = mor_arena_alloc(arena, ((size_t)nb + 1) * sizeof *d->first);
    d->columns = mor_arena_alloc(arena, ((size_t)(free_count + contacts + betas + boxes) + 1) * sizeof *d->columns);
    d->slip = mor_arena_alloc(arena, (size_t)nb * sizeof *d->slip);
    d->offset = mor_arena_zero(arena, (size_t)step->row_count, sizeof *d->offset);
    double* lower = mor_arena_zero(arena, (size_t)n, sizeof *lower);
    double* b0 = mor_arena_zero(arena, (size_t)n, sizeof *b0);
    double* q = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *q);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    sink S;
    if (!d->first || !d->columns || !d->slip || !d->offset || !lower || !b0 || !q || !nu || !sink_open(&S, n, arena))
        return MOR_SYSTEM;
    d->matrix = &S;
    for (int i = 0; i < at_n; i++) lower[i] = -INFINITY;

    /* columns of P, and the rows that W does not enter */
    int k = 0;
    for (int c = 0; c < nb; c++) {
        const mor_block* b = &step->blocks[c];
        d->first[c] = k;
        d->slip[c] = -1;
        if (is_free(b))
            for (int r = 0; r < b->dim; r++) d->columns[k++] = (column){ at_free++, { r, -1 }, { 1.0, 0.0 } };
        else if (b->kind == MOR_BLOCK_BOUNDED) {
            bool up = b->lower > -INFINITY;
            d->offset[b->row] = up ? b->lower : b->upper;
            int x = at_box++;
            d->columns[k++] = (column){ x, { 0, -1 }, { up ? 1.0 : -1.0, 0.0 } };
            if (up && b->upper < INFINITY) {
                int t = d->slip[c] = at_pair++;
                put(&S, x, t, 1.0), put(&S, t, x, -1.0);
                b0[t] = b->upper - b->lower;
            }
        } else {
            int normal = at_n++, count = direction_count(b);
            d->columns[k++] = (column){ normal, { 0, -1 }, { 1.0, 0.0 } };
            if (count) put(&S, d->slip[c] = at_s++, normal, b->mu);
            for (int j = 0; j < count; j++) {
                column col = { at_beta++, { 1, -1 }, { j == 0 ? 1.0 : -1.0, 0.0 } };
                if (b->dim == 3) {
                    col.row[1] = 2;
                    mor_polygon_direction(count, j, col.value);
                }
                put(&S, col.at, d->slip[c], 1.0), put(&S, d->slip[c], col.at, -1.0);
                d->columns[k++] = col;
            }
        }
    }
    d->first[nb] = k;

    /* b: P'(W p_0 + q); with velocities kept the first rows carry M nu_free and G p_0 */
    if (keep_velocity) {
        put_velocities(d, &S);
        for (int t = 0; t < step->tree_count; t++) {
            const mor_tree_block* tree = &step->trees[t];
            for (int r = 0; r < tree->dof; r++)
                for (int c = 0; c < tree->dof; c++)
                    b0[tree->offset + r] -= tree->mass[r * tree->dof + c] * step->nu_free[tree->offset + c];
        }
        for (int c = 0; c < nb; c++) {
            const mor_block* b = &step->blocks[c];
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* tree = &step->trees[step->entries[e].tree];
                for (int r = 0; r < b->dim; r++)
                    for (int l = 0; l < tree->dof; l++)
                        b0[tree->offset + l] -=
                            step->jacobian[step->entries[e].start + r * tree->dof + l] * d->offset[b->row + r];
            }
        }
        memcpy(q, step->bias, (size_t)step->row_count * sizeof *q);
    } else {
        if (!mor_step_visit_W(step, visit_st, d, arena)) return MOR_SYSTEM;
        mor_step_velocity(step, d->offset, nu);
        mor_step_rows(step, nu, q);
    }
    for (int c = 0; c < nb; c++)
        for (int i = d->first[c]; i < d->first[c + 1]; i++) {
            const column* I = &d->columns[i];
            for (int l = 0; l < 2 && I->row[l] >= 0; l++) b0[I->at] += I->value[l] * q[step->blocks[c].row + I->row[l]];
        }

    *conversion = (mor_conversion){ .from = from, .back = st_back, .forward = st_forward, .data = d };
    conversion->to = (mor_problem){ .form = MOR_MLCP, .size = n, .b = b0, .lower = lower };
    return sink_close(&S, &conversion->to.A) ? MOR_OK : MOR_SYSTEM;
}

/* ----------------------------------------------------------------------------------- cones */

typedef struct cone_data {
    int* target; /* row_count: contact row -> row of the cone problem, or -1 - (equation number) */
    int equations, rank;
    int* order;  /* equations in pivot order; the first `rank` are independent */
    double* L;   /* Cholesky factor of the pivoted W_ee, leading dimension `equations` */
    double* Wec; /* equations x size */
    double* qe;  /* equations */
    /* assembly */
    const mor_step_form* step;
    sink* matrix;
    double* Wee;
} cone_data;

static void visit_cone(void* user, int a, int b, const double* W)
{
    const cone_data* d = user;
    const mor_block *A = &d->step->blocks[a], *B = &d->step->blocks[b];
    for (int r = 0; r < A->dim; r++)
        for (int c = 0; c < B->dim; c++) {
            int i = d->target[A->row + r], j = d->target[B->row + c];
            double x = W[r * B->dim + c];
            if (i >= 0 && j >= 0) put(d->matrix, i, j, x);
            else if (i < 0 && j < 0) d->Wee[(-1 - i) + (size_t)(-1 - j) * d->equations] += x;
            else if (i < 0) d->Wec[(-1 - i) + (size_t)j * d->equations] += x;
        }
}

/* y := W_ee^+ y through the independent equations; the others get zero */
static void solve_equations(const cone_data* d, double* y, double* work)
{
    int m = d->equations, k = d->rank;
    for (int i = 0; i < k; i++) work[i] = y[d->order[i]];
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < i; j++) work[i] -= d->L[i + (size_t)j * m] * work[j];
        work[i] /= d->L[i + (size_t)i * m];
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) work[i] -= d->L[j + (size_t)i * m] * work[j];
        work[i] /= d->L[i + (size_t)i * m];
    }
    for (int i = 0; i < m; i++) y[i] = 0.0;
    for (int i = 0; i < k; i++) y[d->order[i]] = work[i];
}

static void cone_back(const mor_conversion* conversion, const double* z, double* p, mor_arena* arena)
{
    const cone_data* d = conversion->data;
    int m = d->equations, n = conversion->to.size;
    size_t mark = mor_arena_mark(arena);
    double* y = mor_arena_alloc(arena, 2 * ((size_t)m + 1) * sizeof *y);
    if (!y) return;
    for (int i = 0; i < m; i++) {
        double s = d->qe[i];
        for (int j = 0; j < n; j++) s += d->Wec[i + (size_t)j * m] * z[j];
        y[i] = -s;
    }
    if (m) solve_equations(d, y, y + m);
    for (int r = 0; r < conversion->from->size; r++) p[r] = d->target[r] >= 0 ? z[d->target[r]] : y[-1 - d->target[r]];
    mor_arena_release(arena, mark);
}

static void cone_forward(const mor_conversion* conversion, const double* p, double* z, mor_arena* arena)
{
    (void)arena;
    const cone_data* d = conversion->data;
    for (int r = 0; r < conversion->from->size; r++)
        if (d->target[r] >= 0) z[d->target[r]] = p[r];
}

mor_code mor_convert_step_to_cones(const mor_problem* from, mor_form to, mor_conversion* conversion, mor_arena* arena,
                                   mor_error* error)
{
    const mor_step_form* step = &from->step;
    int dim = to == MOR_FC2D ? 2 : to == MOR_FC3D ? 3 : 5, contacts = 0, m = 0;
    cone_data* d = mor_arena_zero(arena, 1, sizeof *d);
    if (!d) return MOR_SYSTEM;
    d->step = step;
    d->target = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *d->target);
    double* mu = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *mu);
    double* mu_roll = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *mu_roll);
    if (!d->target || !mu || !mu_roll) return MOR_SYSTEM;
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        if (is_free(b))
            for (int r = 0; r < b->dim; r++) d->target[b->row + r] = -1 - m++;
        else if (b->kind == MOR_BLOCK_BOUNDED)
            return mor_fail(error, MOR_BAD_INPUT, "block %d is a row with bounds, which %s cannot express", c,
                            mor_form_name(to));
        else if (b->dim != dim && b->dim != 1)
            return mor_fail(error, MOR_BAD_INPUT, "contact block %d has %d rows; %s needs %d", c, b->dim,
                            mor_form_name(to), dim);
        else if (mor_block_is_polygonal(b))
            return mor_fail(error, MOR_BAD_INPUT, "contact block %d has a polygonal cone; %s needs circular ones", c,
                            mor_form_name(to));
        else {
            for (int r = 0; r < b->dim; r++) d->target[b->row + r] = contacts * dim + r;
            mu[contacts] = b->dim == 1 ? 0.0 : b->mu, mu_roll[contacts++] = b->dim == 1 ? 0.0 : b->mu_roll;
        }
    }
    int n = contacts * dim;
    sink S;
    d->equations = m;
    d->matrix = &S;
    double* q = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *q);
    double* b = mor_arena_zero(arena, (size_t)n, sizeof *b);
    d->Wee = mor_arena_zero(arena, (size_t)m * m, sizeof(double));
    d->Wec = mor_arena_zero(arena, (size_t)m * n, sizeof(double));
    d->qe = mor_arena_alloc(arena, (size_t)m * sizeof(double));
    d->order = mor_arena_alloc(arena, (size_t)m * sizeof(int));
    double* work = mor_arena_alloc(arena, 2 * ((size_t)m + 1) * sizeof *work);
    if (!q || !b || !d->Wee || !d->Wec || !d->qe || !d->order || !work || !sink_open(&S, n, arena)) return MOR_SYSTEM;
    if (!mor_step_visit_W(step, visit_cone, d, arena)) return MOR_SYSTEM;
    for (int c = 0; c < step->block_count; c++) { /* the friction rows a frictionless contact does not have */
        if (step->blocks[c].kind != MOR_BLOCK_CONTACT || step->blocks[c].dim == dim) continue;
        double own = step->diagonal[step->diagonal_start[c]];
        int first = d->target[step->blocks[c].row];
        for (int r = 1; r < dim; r++) put(&S, first + r, first + r, own > 0.0 ? own : 1.0);
    }
    mor_step_rows(step, step->nu_free, q);
    for (int r = 0; r < step->row_count; r++)
        if (d->target[r] >= 0) b[d->target[r]] = q[r];
        else d->qe[-1 - d->target[r]] = q[r];
    if (m) {
        double largest = 0.0;
        for (int i = 0; i < m; i++) largest = fmax(largest, d->Wee[i + (size_t)i * m]);
        d->L = d->Wee;
        d->rank = mor_semidefinite_factor(m, d->L, d->order, 1e-12 * largest, NULL, work);
        /* W := W_cc - W_ce W_ee^+ W_ec, b := q_c - W_ce W_ee^+ q_e, with W_ce = W_ec' */
        double* y = work;
        for (int j = 0; j <= n; j++) {
            const double* column = j < n ? d->Wec + (size_t)j * m : d->qe;
            bool zero = true;
            for (int i = 0; i < m; i++) y[i] = column[i], zero = zero && column[i] == 0.0;
            if (zero) continue;
            solve_equations(d, y, work + m);
            for (int i = 0; i < n; i++) {
                double s = 0.0;
                for (int l = 0; l < m; l++) s += d->Wec[l + (size_t)i * m] * y[l];
                if (j < n) put(&S, i, j, -s);
                else b[i] -= s;
            }
        }
    }
    *conversion = (mor_conversion){ .from = from, .back = cone_back, .forward = cone_forward, .data = d };
    conversion->to = (mor_problem){
        .form = to, .size = n, .b = b, .contact_count = contacts, .dim = dim, .mu = mu, .mu_roll = mu_roll
    };
    return sink_close(&S, &conversion->to.A) ? MOR_OK : MOR_SYSTEM;
}
