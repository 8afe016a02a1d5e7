/* One time step as a cone problem u = W r + q.
 *
 * Rows: those of the contacts. Contacts without friction rows, or without rolling rows where others have them, are
 * given some of their own (W_TT = W_nn I, q_T = 0, mu = 0, so r_T = u_T = 0); equation rows are eliminated by a
 * rank-revealing Schur complement (redundant joints: their impulses are taken as zero). */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/cone.h"
#include "problem/convert.h"
#include "problem/step.h"

typedef struct cone_data {
    int* target; /* row_count: contact row -> row of the cone problem, or -1 - (equation number) */
    int contacts, equations, rank;
    int* order;  /* equations in pivot order; the first `rank` are independent */
    double* L;   /* Cholesky factor of the pivoted W_ee, leading dimension `equations` */
    double* Wec; /* equations x size */
    double* qe;  /* equations */
    /* assembly */
    const mor_step_form* step;
    mor_sink* matrix;
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
            if (i >= 0 && j >= 0) mor_sink_put(d->matrix, i, j, x);
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

/* Where each row goes; mu and mu_roll by contacts. */
static mor_code place_rows(const mor_step_form* step, mor_form to, int dim, cone_data* d, double* mu, double* mu_roll,
                           mor_error* error)
{
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        if (mor_block_is_free(b))
            for (int r = 0; r < b->dim; r++) d->target[b->row + r] = -1 - d->equations++;
        else if (b->kind == MOR_BLOCK_BOUNDED)
            return mor_fail(error, MOR_BAD_INPUT, "block %d is a row with bounds, which %s cannot express", c,
                            mor_form_name(to));
        else if (b->dim == 6)
            return mor_fail(error, MOR_BAD_INPUT, "contact block %d has drilling friction, which %s cannot express", c,
                            mor_form_name(to));
        else if (b->dim != dim && b->dim != 1 && !(b->dim == 3 && dim == 5))
            return mor_fail(error, MOR_BAD_INPUT, "contact block %d has %d rows; %s needs %d", c, b->dim,
                            mor_form_name(to), dim);
        else if (mor_block_is_polygonal(b))
            return mor_fail(error, MOR_BAD_INPUT, "contact block %d has a polygonal cone; %s needs circular ones", c,
                            mor_form_name(to));
        else {
            for (int r = 0; r < b->dim; r++) d->target[b->row + r] = d->contacts * dim + r;
            mu[d->contacts] = b->dim == 1 ? 0.0 : b->mu, mu_roll[d->contacts++] = b->dim < 5 ? 0.0 : b->mu_roll;
        }
    }
    return MOR_OK;
}

/* The friction rows that a contact without friction or without rolling friction does not have. */
static void add_missing_rows(const cone_data* d, int dim)
{
    const mor_step_form* step = d->step;
    for (int c = 0; c < step->block_count; c++) {
        if (step->blocks[c].kind != MOR_BLOCK_CONTACT || step->blocks[c].dim == dim) continue;
        double own = step->diagonal[step->diagonal_start[c]];
        int first = d->target[step->blocks[c].row];
        for (int r = step->blocks[c].dim; r < dim; r++)
            mor_sink_put(d->matrix, first + r, first + r, own > 0.0 ? own : 1.0);
    }
}

/* W := W_cc - W_ce W_ee^+ W_ec, b := q_c - W_ce W_ee^+ q_e, with W_ce = W_ec'. work: 2 (m + 1) */
static void eliminate_equations(cone_data* d, int n, double* b, double* work)
{
    int m = d->equations;
    double largest = 0.0, *y = work;
    for (int i = 0; i < m; i++) largest = mor_max(largest, d->Wee[i + (size_t)i * m]);
    d->L = d->Wee;
    d->rank = mor_semidefinite_factor(m, d->L, d->order, 1e-12 * largest, NULL, work);
    for (int j = 0; j <= n; j++) {
        const double* column = j < n ? d->Wec + (size_t)j * m : d->qe;
        bool zero = true;
        for (int i = 0; i < m; i++) y[i] = column[i], zero = zero && column[i] == 0.0;
        if (zero) continue;
        solve_equations(d, y, work + m);
        for (int i = 0; i < n; i++) {
            double s = 0.0;
            for (int l = 0; l < m; l++) s += d->Wec[l + (size_t)i * m] * y[l];
            if (j < n) mor_sink_put(d->matrix, i, j, -s);
            else b[i] -= s;
        }
    }
}

mor_code mor_convert_step_to_cones(const mor_problem* from, mor_form to, mor_conversion* conversion, mor_arena* arena,
                                   mor_error* error)
{
    const mor_step_form* step = &from->step;
    int dim = to == MOR_FC2D ? 2 : to == MOR_FC3D ? 3 : 5;
    cone_data* d = mor_arena_zero(arena, 1, sizeof *d);
    if (!d) return MOR_SYSTEM;
    d->step = step;
    d->target = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *d->target);
    double* mu = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *mu);
    double* mu_roll = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *mu_roll);
    if (!d->target || !mu || !mu_roll) return MOR_SYSTEM;
    mor_code code = place_rows(step, to, dim, d, mu, mu_roll, error);
    if (code) return code;
    int n = d->contacts * dim, m = d->equations;
    mor_sink S;
    d->matrix = &S;
    double* q = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *q);
    double* b = mor_arena_zero(arena, (size_t)n, sizeof *b);
    d->Wee = mor_arena_zero(arena, (size_t)m * m, sizeof(double));
    d->Wec = mor_arena_zero(arena, (size_t)m * n, sizeof(double));
    d->qe = mor_arena_alloc(arena, (size_t)m * sizeof(double));
    d->order = mor_arena_alloc(arena, (size_t)m * sizeof(int));
    double* work = mor_arena_alloc(arena, 2 * ((size_t)m + 1) * sizeof *work);
    if (!q || !b || !d->Wee || !d->Wec || !d->qe || !d->order || !work) return MOR_SYSTEM;
    if (!mor_sink_open(&S, n, arena) || !mor_step_visit_W(step, visit_cone, d, arena)) return MOR_SYSTEM;
    add_missing_rows(d, dim);
    mor_step_rows(step, step->nu_free, q);
    for (int r = 0; r < step->row_count; r++)
        if (d->target[r] >= 0) b[d->target[r]] = q[r];
        else d->qe[-1 - d->target[r]] = q[r];
    if (m) eliminate_equations(d, n, b, work);
    *conversion = (mor_conversion){ .from = from, .back = cone_back, .forward = cone_forward, .data = d };
    conversion->to = (mor_problem){
        .form = to, .size = n, .b = b, .contact_count = d->contacts, .dim = dim, .mu = mu, .mu_roll = mu_roll
    };
    return mor_sink_close(&S, &conversion->to.A) ? MOR_OK : MOR_SYSTEM;
}
