/* One time step as a Stewart-Trinkle mixed LCP (cones: convert_cones.c).
 *
 * Unknowns x of the MLCP, in this order (MATH symbols):
 *   [nu]   only when velocities are kept
 *   p_b    rows of equations and of unbounded rows: free
 *   p_n    one per contact
 *   beta   discs (sliding, rolling, drilling) with mu > 0: one per direction d_j; with one row the directions are +1
 *          and -1
 *   s      one per disc with mu > 0
 *   x      bounded rows: p = lower + x, or p = upper - x when only the upper bound is finite
 *   t      rows with two finite bounds: 0 <= x _|_ u + t >= 0, 0 <= t _|_ upper - lower - x >= 0
 * So p = P x + p_0 with at most two non-zeros per column of P, and the rows are
 *   P'(W (P x + p_0) + q) + E s (beta rows), U p_n - E' beta (s rows), q = G' nu_free + b.
 * Without equations and bounded rows this is exactly the LCP in [p_n; beta; s].
 *
 * Reference: Stewart & Trinkle (1996), An implicit time-stepping scheme for rigid
 * body dynamics with inelastic collisions and Coulomb friction. */
#include <string.h>

#include "base/elementary.h"
#include "problem/cone.h"
#include "problem/convert.h"
#include "problem/step.h"

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
    int* slip;      /* per block: unknown t, or s of the first disc with mu > 0 (those of others follow); -1 if none */
    double* offset; /* row_count: p_0 */
    /* assembly */
    const mor_step_form* step;
    mor_sink* matrix;
} st_data;

/* Directions of a disc of a contact. */
static int direction_count(const mor_block* b, int disc)
{
    return mor_block_cone(b).mu[disc] > 0.0 ? (mor_disc_size(b->dim, disc) == 1 ? 2 : b->directions) : 0;
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
            mor_sink_put(d->matrix, I->at, K->at, s);
        }
    }
}

/* G and M in place of W when the velocities stay. */
static void put_velocities(const st_data* d, mor_sink* S)
{
    const mor_step_form* step = d->step;
    for (int t = 0; t < step->tree_count; t++) {
        const mor_tree_block* tree = &step->trees[t];
        for (int r = 0; r < tree->dof; r++)
            for (int c = 0; c < tree->dof; c++)
                mor_sink_put(S, tree->offset + r, tree->offset + c, tree->mass[r * tree->dof + c]);
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
                    mor_sink_put(S, I->at, tree->offset + k, s);
                    mor_sink_put(S, tree->offset + k, I->at, -s);
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

/* beta and s of one disc, whose columns begin at I. r: its rows of the impulse; v: all rows of the block's velocity. */
static void forward_disc(const column* I, int count, const double* r, const double* v, double* z, double* slip)
{
    double s = 0.0, beta[2];
    for (int j = 0; j < count; j++) {
        double slide = 0.0;
        for (int k = 0; k < 2 && I[j].row[k] >= 0; k++) slide += I[j].value[k] * v[I[j].row[k]];
        s = mor_max(s, -slide);
    }
    *slip = s;
    if (count == 2) {
        z[I[0].at] = mor_max(0.0, r[0]), z[I[1].at] = mor_max(0.0, -r[0]);
        return;
    }
    int j = mor_polygon_split(count, r, beta);
    z[I[j].at] = mor_max(0.0, beta[0]), z[I[(j + 1) % count].at] = mor_max(0.0, beta[1]);
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
        if (mor_block_is_free(b))
            for (int k = 0; k < b->dim; k++) z[I[k].at] = r[k];
        else if (b->kind == MOR_BLOCK_BOUNDED) {
            z[I->at] = mor_max(0.0, (r[0] - d->offset[b->row]) * I->value[0]);
            if (d->slip[c] >= 0) z[d->slip[c]] = mor_max(0.0, -v[0]);
        } else {
            z[I->at] = mor_max(0.0, r[0]);
            int slip = d->slip[c];
            I++;
            for (int i = 0; i < mor_disc_count(b->dim); i++) {
                int count = direction_count(b, i);
                if (count == 0) continue;
                forward_disc(I, count, r + mor_disc_row(i), v, z, &z[slip++]);
                I += count;
            }
        }
    }
    mor_arena_release(arena, mark);
}

/* How many unknowns of each kind, then where the next of each kind goes. */
typedef struct st_layout {
    int free, normal, beta, slip, box, pair;
} st_layout;

static mor_code count_unknowns(const mor_step_form* step, st_layout* count, mor_error* error)
{
    *count = (st_layout){ 0 };
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        if (mor_block_is_free(b)) count->free += b->dim;
        else if (b->kind == MOR_BLOCK_BOUNDED) {
            count->box++;
            count->pair += b->lower > -INFINITY && b->upper < INFINITY;
        } else {
            if (b->directions == 0 && ((b->dim >= 3 && b->mu > 0.0) || (b->dim >= 5 && b->mu_roll > 0.0)))
                return mor_fail(error, MOR_BAD_INPUT,
                                "contact block %d has a circular friction cone; a linear problem needs a polygon", c);
            count->normal++;
            for (int i = 0; i < mor_disc_count(b->dim); i++)
                count->beta += direction_count(b, i), count->slip += direction_count(b, i) > 0;
        }
    }
    return MOR_OK;
}

/* The columns of a row with bounds. Returns the next free column. */
static int put_bounded(st_data* d, int c, int k, st_layout* at, double* b0)
{
    const mor_block* b = &d->step->blocks[c];
    bool up = b->lower > -INFINITY;
    int x = at->box++;
    d->offset[b->row] = up ? b->lower : b->upper;
    d->columns[k++] = (column){ x, { 0, -1 }, { up ? 1.0 : -1.0, 0.0 } };
    if (up && b->upper < INFINITY) {
        int t = d->slip[c] = at->pair++;
        mor_sink_put(d->matrix, x, t, 1.0), mor_sink_put(d->matrix, t, x, -1.0);
        b0[t] = b->upper - b->lower;
    }
    return k;
}

static int put_contact(st_data* d, int c, int k, st_layout* at)
{
    const mor_block* b = &d->step->blocks[c];
    int normal = at->normal++;
    d->columns[k++] = (column){ normal, { 0, -1 }, { 1.0, 0.0 } };
    for (int i = 0; i < mor_disc_count(b->dim); i++) {
        int count = direction_count(b, i), row = mor_disc_row(i);
        if (!count) continue;
        int slip = at->slip++;
        if (d->slip[c] < 0) d->slip[c] = slip;
        mor_sink_put(d->matrix, slip, normal, mor_block_cone(b).mu[i]);
        for (int j = 0; j < count; j++) {
            column col = { at->beta++, { row, -1 }, { j == 0 ? 1.0 : -1.0, 0.0 } };
            if (mor_disc_size(b->dim, i) == 2) {
                col.row[1] = row + 1;
                mor_polygon_direction(count, j, col.value);
            }
            mor_sink_put(d->matrix, col.at, slip, 1.0), mor_sink_put(d->matrix, slip, col.at, -1.0);
            d->columns[k++] = col;
        }
    }
    return k;
}

/* Columns of P, and the rows that W does not enter. */
static void put_columns(st_data* d, st_layout at, double* b0)
{
    int k = 0;
    for (int c = 0; c < d->step->block_count; c++) {
        const mor_block* b = &d->step->blocks[c];
        d->first[c] = k;
        d->slip[c] = -1;
        if (mor_block_is_free(b))
            for (int r = 0; r < b->dim; r++) d->columns[k++] = (column){ at.free++, { r, -1 }, { 1.0, 0.0 } };
        else if (b->kind == MOR_BLOCK_BOUNDED) k = put_bounded(d, c, k, &at, b0);
        else k = put_contact(d, c, k, &at);
    }
    d->first[d->step->block_count] = k;
}

/* With velocities kept the first rows of b carry -M nu_free and -G p_0. */
static void put_momentum(const st_data* d, double* b0)
{
    const mor_step_form* step = d->step;
    for (int t = 0; t < step->tree_count; t++) {
        const mor_tree_block* tree = &step->trees[t];
        for (int r = 0; r < tree->dof; r++)
            for (int c = 0; c < tree->dof; c++)
                b0[tree->offset + r] -= tree->mass[r * tree->dof + c] * step->nu_free[tree->offset + c];
    }
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            for (int r = 0; r < b->dim; r++)
                for (int l = 0; l < tree->dof; l++)
                    b0[tree->offset + l] -=
                        step->jacobian[step->entries[e].start + r * tree->dof + l] * d->offset[b->row + r];
        }
    }
}

/* Room for n unknowns and `columns` columns of P. False: out of memory. */
static bool make_room(st_data* d, int columns, mor_arena* arena)
{
    size_t blocks = (size_t)d->step->block_count;
    d->first = mor_arena_alloc(arena, (blocks + 1) * sizeof *d->first);
    d->columns = mor_arena_alloc(arena, ((size_t)columns + 1) * sizeof *d->columns);
    d->slip = mor_arena_alloc(arena, blocks * sizeof *d->slip);
    d->offset = mor_arena_zero(arena, (size_t)d->step->row_count, sizeof *d->offset);
    return d->first && d->columns && d->slip && d->offset;
}

mor_code mor_convert_step_to_mlcp(const mor_problem* from, bool keep_velocity, mor_conversion* conversion,
                                  mor_arena* arena, mor_error* error)
{
    const mor_step_form* step = &from->step;
    st_layout count, at;
    mor_code code = count_unknowns(step, &count, error);
    if (code) return code;
    for (int t = 0; t < step->tree_count && keep_velocity; t++)
        if (!step->trees[t].mass) return mor_fail(error, MOR_BAD_INPUT, "tree %d has no mass block", t);

    st_data* d = mor_arena_zero(arena, 1, sizeof *d);
    if (!d) return MOR_SYSTEM;
    d->step = step;
    d->velocities = at.free = keep_velocity ? step->dof : 0;
    at.normal = at.free + count.free, at.beta = at.normal + count.normal, at.slip = at.beta + count.beta;
    at.box = at.slip + count.slip, at.pair = at.box + count.box;
    int n = d->n = at.pair + count.pair;
    double* lower = mor_arena_zero(arena, (size_t)n, sizeof *lower);
    double* b0 = mor_arena_zero(arena, (size_t)n, sizeof *b0);
    double* q = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *q);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    mor_sink S;
    if (!make_room(d, count.free + count.normal + count.beta + count.box, arena)) return MOR_SYSTEM;
    if (!lower || !b0 || !q || !nu || !mor_sink_open(&S, n, arena)) return MOR_SYSTEM;
    d->matrix = &S;
    for (int i = 0; i < at.normal; i++) lower[i] = -INFINITY;
    put_columns(d, at, b0);

    /* b: P'(W p_0 + q) */
    if (keep_velocity) {
        put_velocities(d, &S);
        put_momentum(d, b0);
        memcpy(q, step->bias, (size_t)step->row_count * sizeof *q);
    } else {
        if (!mor_step_visit_W(step, visit_st, d, arena)) return MOR_SYSTEM;
        mor_step_velocity(step, d->offset, nu);
        mor_step_rows(step, nu, q);
    }
    for (int c = 0; c < step->block_count; c++)
        for (int i = d->first[c]; i < d->first[c + 1]; i++) {
            const column* I = &d->columns[i];
            for (int l = 0; l < 2 && I->row[l] >= 0; l++) b0[I->at] += I->value[l] * q[step->blocks[c].row + I->row[l]];
        }

    *conversion = (mor_conversion){ .from = from, .back = st_back, .forward = st_forward, .data = d };
    conversion->to = (mor_problem){ .form = MOR_MLCP, .size = n, .b = b0, .lower = lower };
    return mor_sink_close(&S, &conversion->to.A) ? MOR_OK : MOR_SYSTEM;
}
