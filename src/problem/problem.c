/* Names, sizes and the check of a problem's data. A solver may rely on what mor_problem_check lets
 * through: sizes agree, indices are in range, nothing is NaN or infinite but open bounds. */
#include "linalg/rows.h"
#include "moreau/problem.h"

#include <string.h>

const char* mor_form_name(mor_form form)
{
    switch (form) {
    case MOR_LCP:
        return "lcp";
    case MOR_MLCP:
        return "mlcp";
    case MOR_MCP:
        return "mcp";
    case MOR_FC2D:
        return "fc2d";
    case MOR_FC3D:
        return "fc3d";
    case MOR_FC_ROLLING:
        return "rfc3d";
    case MOR_GFC2D:
        return "gfc2d";
    case MOR_GFC3D:
        return "gfc3d";
    case MOR_GFC_ROLLING:
        return "grfc3d";
    case MOR_STEP_PYRAMID:
        return "step-pyramid";
    case MOR_STEP_CONE:
        return "step-cone";
    case MOR_QP:
        return "qp";
    case MOR_CQP:
        return "cqp";
    }
    return NULL;
}

const char* mor_status_name(mor_status status)
{
    switch (status) {
#define MOR_STATUS_CASE(id, word)                                                                                      \
    case id:                                                                                                           \
        return word;
        MOR_STATUS_LIST(MOR_STATUS_CASE)
#undef MOR_STATUS_CASE
    }
    return "?";
}

enum {
    GLOBAL = MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING,
    CONES = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | GLOBAL | MOR_CQP,
    STEPS = MOR_STEP_PYRAMID | MOR_STEP_CONE
};

int mor_problem_unknowns(const mor_problem* problem)
{
    return problem->size + (problem->form & GLOBAL ? problem->M.rows : 0);
}

#define BAD(...) return mor_fail(error, MOR_BAD_INPUT, __VA_ARGS__)
#define NEED(test, ...)                                                                                                \
    do {                                                                                                               \
        if (!(test)) BAD(__VA_ARGS__);                                                                                 \
    } while (0)

/* 0 x is 0, or NaN where x is not finite */
MOR_ALWAYS_INLINE bool all_finite_body(long n, const double* x)
{
    mor_four zero = { 0, 0, 0, 0 }, a = zero, b = zero;
    long k = 0;
    for (; k + 8 <= n; k += 8) a += zero * MOR_FOUR_AT(x + k), b += zero * MOR_FOUR_AT(x + k + 4);
    a += b;
    if (k + 4 <= n) a += zero * MOR_FOUR_AT(x + k), k += 4;
    mor_two sum = MOR_FOLD(a);
    if (k + 2 <= n) sum += __builtin_shufflevector(zero, zero, 0, 1) * MOR_TWO_AT(x + k), k += 2;
    if (k < n) sum[0] += 0.0 * x[k];
    return sum[0] + sum[1] == 0.0;
}

MOR_WIDE(static, bool, all_finite, (long n, const double* x), (n, x))

static mor_code check_finite(const char* name, long n, const double* x, mor_error* error)
{
    NEED(n == 0 || x, "%s is missing; it needs %ld numbers", name, n);
    if (all_finite(n, x)) return MOR_OK;
    long k = 0;
    while (isfinite(x[k])) k++;
    BAD("%s[%ld] is %g; all data must be finite", name, k, x[k]);
}

static mor_code check_nonnegative(const char* name, long n, const double* x, mor_error* error)
{
    mor_code code = check_finite(name, n, x, error);
    if (code) return code;
    for (long k = 0; k < n; k++)
        if (!(x[k] >= 0.0)) BAD("%s[%ld] is %g; it must not be negative", name, k, x[k]);
    return MOR_OK;
}

static mor_code check_matrix(const char* name, const mor_matrix* A, int rows, int cols, mor_error* error)
{
    NEED(A->rows == rows && A->cols == cols, "%s is %d x %d; this problem needs %d x %d", name, A->rows, A->cols, rows,
         cols);
    if (A->storage == MOR_OPERATOR) {
        NEED(A->apply, "%s is an operator without a function", name);
        return MOR_OK;
    }
    if (A->storage == MOR_DENSE) return check_finite(name, (long)rows * cols, A->x, error);
    NEED(A->storage == MOR_SPARSE, "%s has an unknown kind of storage (%d)", name, (int)A->storage);
    NEED(A->p, "%s.p is missing; compressed rows need rows + 1 positions", name);
    NEED(A->p[0] == 0, "%s.p[0] is %d; it must be 0", name, A->p[0]);
    for (int r = 0; r < rows; r++)
        NEED(A->p[r] <= A->p[r + 1], "%s.p[%d] is smaller than %s.p[%d]; positions must not fall", name, r + 1, name,
             r);
    NEED(A->p[rows] == 0 || (A->i && A->x), "%s.i or %s.x is missing", name, name);
    for (int r = 0; r < rows; r++)
        for (int k = A->p[r]; k < A->p[r + 1]; k++) {
            NEED(A->i[k] >= 0 && A->i[k] < cols, "%s: row %d has column %d; columns run from 0 to %d", name, r, A->i[k],
                 cols - 1);
            NEED(k == A->p[r] || A->i[k] > A->i[k - 1], "%s: the columns of row %d are not ascending", name, r);
        }
    return check_finite(name, A->p[rows], A->x, error);
}

static mor_code check_bounds(const char* name, int n, const double* lower, const double* upper, mor_error* error)
{
    for (int k = 0; k < n; k++) {
        double l = lower ? lower[k] : 0.0, u = upper ? upper[k] : INFINITY;
        NEED(l <= u && l < INFINITY && u > -INFINITY, "%s: bounds %g and %g of row %d leave nothing between them", name,
             l, u, k);
    }
    return MOR_OK;
}

/* Numbers of a step that blocks point to. `end`: where the first ones without a hole end. */
typedef struct pool {
    const char* name;
    const double* x;
    long end;
} pool;

/* The numbers from start on are in the pool's first run, or are looked at by themselves. */
static mor_code take_in(pool* pool, long start, long n, mor_error* error)
{
    NEED(n == 0 || pool->x, "%s is missing; it needs %ld numbers", pool->name, n);
    if (start == pool->end) pool->end += n;
    else if (start < 0 || start + n > pool->end) return check_finite(pool->name, n, pool->x + start, error);
    return MOR_OK;
}

static mor_code check_block(const mor_step_form* s, int c, int row, pool pools[3], mor_error* error)
{
    const mor_block* b = &s->blocks[c];
    NEED(b->row == row && b->dim >= 1 && row + b->dim <= s->row_count,
         "block %d: rows %d..%d are out of order or range", c, b->row, b->row + b->dim - 1);
    NEED(b->entry_count >= 0 && b->entry >= 0 && (b->entry_count == 0 || s->entries),
         "block %d: its list of trees is missing", c);
    mor_code code = MOR_OK;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int tree = s->entries[e].tree, start = s->entries[e].start;
        NEED(tree >= 0 && tree < s->tree_count, "block %d acts on tree %d; trees run from 0 to %d", c, tree,
             s->tree_count - 1);
        NEED(start >= 0, "block %d: its coefficients begin at %d", c, start);
        long n = (long)b->dim * s->trees[tree].dof;
        code = take_in(&pools[0], start, n, error);
        if (!code) code = take_in(&pools[1], start, n, error);
        if (code) return code;
    }
    NEED(s->diagonal && s->diagonal_start, "step.diagonal is missing");
    code = take_in(&pools[2], s->diagonal_start[c], (long)b->dim * b->dim, error);
    if (code) return code;
    switch (b->kind) {
    case MOR_BLOCK_EQUATION:
        return MOR_OK;
    case MOR_BLOCK_BOUNDED:
        NEED(b->dim == 1, "block %d: a bounded block has one row, not %d", c, b->dim);
        NEED(b->lower <= b->upper && b->lower < INFINITY && b->upper > -INFINITY,
             "block %d: bounds %g and %g leave nothing between them", c, b->lower, b->upper);
        return MOR_OK;
    case MOR_BLOCK_CONTACT:
        NEED(b->dim <= 3 || b->dim == 5 || b->dim == 6, "block %d: a contact has 1, 2, 3, 5 or 6 rows, not %d", c,
             b->dim);
        NEED(b->mu >= 0.0 && isfinite(b->mu), "block %d: friction coefficient %g must be finite and not negative", c,
             b->mu);
        NEED(b->dim < 5 || (b->mu_roll >= 0.0 && isfinite(b->mu_roll)),
             "block %d: rolling friction %g must be finite and not negative", c, b->mu_roll);
        NEED(b->dim < 6 || (b->mu_drill >= 0.0 && isfinite(b->mu_drill)),
             "block %d: drilling friction %g must be finite and not negative", c, b->mu_drill);
        NEED(b->directions == 0 || b->directions >= 3, "block %d: a polygon needs at least 3 directions, not %d", c,
             b->directions);
        return MOR_OK;
    }
    BAD("block %d has an unknown kind (%d)", c, (int)b->kind);
}

static mor_code check_step(const mor_problem* problem, mor_error* error)
{
    const mor_step_form* s = &problem->step;
    NEED(s->tree_count >= 0 && s->dof >= 0 && s->block_count >= 0, "step: negative sizes");
    NEED(problem->size == s->row_count, "size is %d but step.row_count is %d", problem->size, s->row_count);
    NEED(s->tree_count == 0 || s->trees, "step.trees is missing");
    for (int t = 0; t < s->tree_count; t++)
        NEED(s->trees[t].dof >= 0 && s->trees[t].offset >= 0 && s->trees[t].offset + s->trees[t].dof <= s->dof,
             "tree %d: velocities %d..%d are outside 0..%d", t, s->trees[t].offset,
             s->trees[t].offset + s->trees[t].dof - 1, s->dof - 1);
    mor_code code = check_finite("step.nu_free", s->dof, s->nu_free, error);
    if (!code) code = check_finite("step.bias", s->row_count, s->bias, error);
    NEED(code || s->block_count == 0 || s->blocks, "step.blocks is missing");
    int row = 0;
    pool pools[3] = { { "step.jacobian", s->jacobian, 0 },
                      { "step.response", s->response, 0 },
                      { "step.diagonal", s->diagonal, 0 } };
    for (int c = 0; !code && c < s->block_count; c++) {
        code = check_block(s, c, row, pools, error);
        row += s->blocks[c].dim;
    }
    for (int k = 0; !code && k < 3; k++) code = check_finite(pools[k].name, pools[k].end, pools[k].x, error);
    if (code) return code;
    NEED(row == s->row_count, "the blocks have %d rows; step.row_count is %d", row, s->row_count);
    return MOR_OK;
}

mor_code mor_problem_check(const mor_problem* problem, mor_error* error)
{
    const mor_problem* p = problem;
    int n = p->size;
    NEED(mor_form_name(p->form), "form %u is not a single form", (unsigned)p->form);
    NEED(n >= 0, "size is %d; it must not be negative", n);
    if (p->form & STEPS) return check_step(p, error);

    mor_code code = check_finite("b", n, p->b, error);
    if (code) return code;
    if (!(p->form & GLOBAL) && (code = check_matrix("A", &p->A, n, n, error))) return code;
    if (p->form == MOR_MLCP)
        for (int k = 0; p->lower && k < n; k++)
            NEED(p->lower[k] == 0.0 || p->lower[k] == -INFINITY,
                 "lower[%d] is %g; an mlcp has 0 (complementary) or -inf (free)", k, p->lower[k]);
    if (p->form == MOR_MCP || p->form == MOR_QP)
        if ((code = check_bounds("lower/upper", n, p->lower, p->upper, error))) return code;
    if (p->form == MOR_QP && p->C.rows > 0) {
        if ((code = check_matrix("C", &p->C, p->C.rows, n, error))) return code;
        NEED(p->c_lower && p->c_upper, "c_lower or c_upper is missing");
        if ((code = check_bounds("c_lower/c_upper", p->C.rows, p->c_lower, p->c_upper, error))) return code;
    }
    if (p->form & CONES) {
        int dim = p->dim;
        bool rolling = p->form == MOR_FC_ROLLING || p->form == MOR_GFC_ROLLING || (p->form == MOR_CQP && dim == 5);
        bool two = p->form == MOR_FC2D || p->form == MOR_GFC2D || (p->form == MOR_CQP && dim == 2);
        NEED(dim == (rolling ? 5
                     : two   ? 2
                             : 3),
             "a contact of form %s cannot have %d rows", mor_form_name(p->form), dim);
        NEED(p->contact_count >= 0 && (long)p->contact_count * dim == n, "%d contacts of %d rows do not make size %d",
             p->contact_count, dim, n);
        if ((code = check_nonnegative("mu", p->contact_count, p->mu, error))) return code;
        if (rolling && (code = check_nonnegative("mu_roll", p->contact_count, p->mu_roll, error))) return code;
    }
    if (p->form & GLOBAL) {
        int m = p->M.rows;
        NEED(m >= 0, "M has %d rows", m);
        if ((code = check_matrix("M", &p->M, m, m, error))) return code;
        if ((code = check_matrix("H", &p->H, m, n, error))) return code;
        NEED(p->H.storage != MOR_OPERATOR, "H must be a matrix, not an operator: its transpose is needed");
        if ((code = check_finite("f", m, p->f, error))) return code;
    }
    return MOR_OK;
}
