/* Siconos text files. A file is a sequence of numbers separated by white space, whose meaning
 * depends on the kind of problem (the kind is not in the file):
 *
 *   matrix   storage rows cols, then
 *            0 dense:  rows cols again, entries column by column
 *            1 blocks: count, block rows and columns, their cumulative ends, filled1 filled2, row
 *                      pointers, block columns, then each block's number and entries column by column
 *            2 sparse: origin (1 triplet, 2 columns, 3 rows, 4 half triplet), a free line, a line
 *                      "[triplet: ]m-by-n, nzmax: a nnz: b", then `i j : x` or `col j : locations a to b`, `i : x`
 *   lcp      n, A, b
 *   mlcp     st1 st2 n m; st1: block starts, block kinds, A, b; st2: A B C D row by row, a, b
 *   fc, rfc  dim contacts, W, q, mu[, mu_r]
 *   gfc      dim contacts, M, H, f, w, mu[, mu_r]
 */
#include "io/problem/problem_text.h"
#include "base/number.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/sparse.h"

/* ----------------------------------------------------------------------------- numbers */

typedef struct reader {
    const char* path;
    const char* begin;
    const char* at;
    const char* end; /* *end is 0 */
    mor_arena* arena;
    mor_error* error;
} reader;

static mor_code fail(const reader* r, const char* what)
{
    int line = 1, column = 1;
    for (const char* c = r->begin; c < r->at; c++)
        if (*c == '\n') line++, column = 1;
        else column++;
    return mor_fail_at(r->error, MOR_BAD_INPUT, r->path, line, column, "%s", what);
}

static mor_code fail_end(const reader* r, const char* what)
{
    char text[200];
    snprintf(text, sizeof text, "the file ends inside %s; is it truncated?", what);
    return fail(r, text);
}

static void skip_space(reader* r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

static mor_code read_double(reader* r, double* x, const char* what)
{
    skip_space(r);
    if (r->at >= r->end) return fail_end(r, what);
    char *stop, text[200];
    *x = mor_strtod(r->at, &stop);
    if (stop == r->at || (stop < r->end && !isspace((unsigned char)*stop) && *stop != ':')) {
        snprintf(text, sizeof text, "this is not a number; %s was expected", what);
        return fail(r, text);
    }
    if (!isfinite(*x)) {
        snprintf(text, sizeof text, "%s holds %g; all data must be finite", what, *x);
        return fail(r, text);
    }
    r->at = stop;
    return MOR_OK;
}

static mor_code read_int(reader* r, int* i, long least, long most, const char* what)
{
    double x;
    skip_space(r);
    const char* start = r->at;
    mor_code code = read_double(r, &x, what);
    if (code) return code;
    if (x != floor(x) || x < (double)least || x > (double)most) {
        char text[200];
        r->at = start;
        snprintf(text, sizeof text, "%s is %g; a whole number from %ld to %ld was expected", what, x, least, most);
        return fail(r, text);
    }
    *i = (int)x;
    return MOR_OK;
}

/* True if `count` more numbers can be in the file: each takes a digit and, but the last, a space. */
static bool can_hold(const reader* r, double count) { return count <= (double)(r->end - r->at) / 2.0 + 1.0; }

static mor_code read_vector(reader* r, int n, double** out, const char* what)
{
    if (!can_hold(r, n)) return fail_end(r, what);
    double* x = *out = mor_arena_alloc(r->arena, (size_t)n * sizeof *x);
    if (!x) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < n; i++) {
        mor_code code = read_double(r, &x[i], what);
        if (code) return code;
    }
    return MOR_OK;
}

/* Moves behind `word`, which must come next. */
static mor_code expect(reader* r, const char* word)
{
    skip_space(r);
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) {
        char text[100];
        snprintf(text, sizeof text, "'%s' was expected here", word);
        return fail(r, text);
    }
    r->at += n;
    return MOR_OK;
}

/* ----------------------------------------------------------------------------- matrices */

typedef struct triplets {
    int rows, cols, count, capacity;
    int *i, *j;
    double* x;
} triplets;

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        mor_code try_code = (call);                                                                                    \
        if (try_code) return try_code;                                                                                 \
    } while (0)

static mor_code reserve(reader* r, triplets* t, long count, bool twice)
{
    if (!can_hold(r, (double)count)) return fail_end(r, "a matrix");
    long capacity = twice ? 2 * count : count;
    if (capacity > INT_MAX) return fail(r, "the matrix has too many entries");
    t->capacity = (int)capacity;
    t->i = mor_arena_alloc(r->arena, (size_t)capacity * sizeof(int));
    t->j = mor_arena_alloc(r->arena, (size_t)capacity * sizeof(int));
    t->x = mor_arena_alloc(r->arena, (size_t)capacity * sizeof(double));
    return t->i && t->j && t->x ? MOR_OK : mor_fail(r->error, MOR_SYSTEM, "out of memory");
}

static void add(triplets* t, int i, int j, double x)
{
    if (x != 0.0) t->i[t->count] = i, t->j[t->count] = j, t->x[t->count++] = x;
}

static mor_code read_dense(reader* r, triplets* t)
{
    TRY(read_int(r, &t->rows, 0, INT_MAX, "number of rows"));
    TRY(read_int(r, &t->cols, 0, INT_MAX, "number of columns"));
    if (!can_hold(r, (double)t->rows * t->cols)) return fail_end(r, "a dense matrix");
    TRY(reserve(r, t, (long)t->rows * t->cols, false));
    double x;
    for (int j = 0; j < t->cols; j++)
        for (int i = 0; i < t->rows; i++) {
            TRY(read_double(r, &x, "a matrix entry"));
            add(t, i, j, x);
        }
    return MOR_OK;
}

static mor_code read_ints(reader* r, int n, int** out, long least, long most, const char* what)
{
    if (!can_hold(r, n)) return fail_end(r, what);
    *out = mor_arena_alloc(r->arena, ((size_t)n + 1) * sizeof(int));
    if (!*out) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < n; k++) TRY(read_int(r, &(*out)[k], least, most, what));
    return MOR_OK;
}

static mor_code read_blocks(reader* r, triplets* t)
{
    int count, nr, nc, filled1, filled2, *rows, *cols, *p, *c;
    TRY(read_int(r, &count, 0, INT_MAX, "number of blocks"));
    if (count == 0) return reserve(r, t, 0, false);
    TRY(read_int(r, &nr, 0, t->rows, "number of block rows"));
    TRY(read_int(r, &nc, 0, t->cols, "number of block columns"));
    TRY(read_ints(r, nr, &rows, 0, t->rows, "end of a block row"));
    TRY(read_ints(r, nc, &cols, 0, t->cols, "end of a block column"));
    TRY(read_int(r, &filled1, 0, nr + 1L, "number of row pointers"));
    TRY(read_int(r, &filled2, 0, count, "number of stored blocks"));
    TRY(read_ints(r, filled1, &p, 0, filled2, "row pointer"));
    TRY(read_ints(r, filled2, &c, 0, nc - 1L, "block column"));
    double entries = 0.0;
    for (int R = 0; R + 1 < filled1; R++) {
        if (p[R] > p[R + 1]) return fail(r, "row pointers of the block matrix fall");
        for (int k = p[R]; k < p[R + 1]; k++) {
            int h = rows[R] - (R ? rows[R - 1] : 0), w = cols[c[k]] - (c[k] ? cols[c[k] - 1] : 0);
            if (h < 0 || w < 0) return fail(r, "the ends of block rows or columns fall");
            entries += (double)h * w;
        }
    }
    if (!can_hold(r, entries)) return fail_end(r, "a block matrix");
    TRY(reserve(r, t, (long)entries, false));
    double x;
    for (int R = 0; R + 1 < filled1; R++)
        for (int k = p[R]; k < p[R + 1]; k++) {
            int number;
            TRY(read_int(r, &number, k, k, "number of the block"));
            for (int j = c[k] ? cols[c[k] - 1] : 0; j < cols[c[k]]; j++)
                for (int i = R ? rows[R - 1] : 0; i < rows[R]; i++) {
                    TRY(read_double(r, &x, "a matrix entry"));
                    add(t, i, j, x);
                }
        }
    return MOR_OK;
}

static mor_code read_sparse(reader* r, triplets* t)
{
    int origin, i, j, from, to;
    TRY(read_int(r, &origin, 0, 4, "origin of a sparse matrix"));
    const char* line = NULL; /* the first line with "-by-" has the counts */
    while (r->at < r->end && !line) {
        const char* stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (!stop) stop = r->end;
        for (const char* c = r->at; c + 4 <= stop; c++)
            if (memcmp(c, "-by-", 4) == 0) line = r->at;
        if (!line) r->at = stop < r->end ? stop + 1 : stop;
    }
    if (!line) return fail_end(r, "the head of a sparse matrix ('m-by-n, nzmax: a nnz: b')");
    const char* stop = memchr(line, '\n', (size_t)(r->end - line));
    if (!stop) stop = r->end;
    bool triplet = false;
    const char* nnz = NULL;
    for (const char* c = line; c + 4 <= stop; c++) {
        if (stop - c >= 8 && memcmp(c, "triplet:", 8) == 0) triplet = true;
        if (memcmp(c, "nnz:", 4) == 0) nnz = c + 4;
    }
    if (!nnz) return fail(r, "'nnz:' is missing in the head of a sparse matrix");
    long count = strtol(nnz, NULL, 10);
    if (count < 0) return fail(r, "the number of entries is negative");
    r->at = stop;
    bool half = origin == 4;
    TRY(reserve(r, t, count, half));
    double x;
    if (triplet)
        for (long k = 0; k < count; k++) {
            TRY(read_int(r, &i, 0, t->rows - 1L, "row of an entry"));
            TRY(read_int(r, &j, 0, t->cols - 1L, "column of an entry"));
            TRY(expect(r, ":"));
            TRY(read_double(r, &x, "a matrix entry"));
            if (half && i != j && (j >= t->rows || i >= t->cols)) return fail(r, "a half-stored matrix must be square");
            add(t, i, j, x);
            if (half && i != j) add(t, j, i, x);
        }
    else {
        int outer = origin == 3 ? t->rows : t->cols, inner = origin == 3 ? t->cols : t->rows;
        long seen = 0;
        for (int o = 0; o < outer; o++) {
            int number;
            TRY(expect(r, "col"));
            TRY(read_int(r, &number, o, o, "number of the column"));
            TRY(expect(r, ":"));
            TRY(expect(r, "locations"));
            TRY(read_int(r, &from, 0, count, "first location"));
            TRY(expect(r, "to"));
            TRY(read_int(r, &to, -1, count - 1, "last location"));
            for (int k = from; k <= to; k++) {
                if (seen++ >= count) return fail(r, "more entries than the head of the matrix says");
                TRY(read_int(r, &i, 0, inner - 1L, "index of an entry"));
                TRY(expect(r, ":"));
                TRY(read_double(r, &x, "a matrix entry"));
                if (origin == 3) add(t, o, i, x);
                else add(t, i, o, x);
            }
        }
    }
    return MOR_OK;
}

/* Dense when small or full, compressed rows otherwise. */
static mor_code store(reader* r, const triplets* t, mor_matrix* A)
{
    double all = (double)t->rows * t->cols;
    if (all <= 2500.0 || (all < 4e8 && t->count > 0.4 * all)) {
        double* x = mor_arena_zero(r->arena, (size_t)t->rows * t->cols, sizeof *x);
        if (!x) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        for (int k = 0; k < t->count; k++) x[t->i[k] + (size_t)t->j[k] * t->rows] += t->x[k];
        *A = (mor_matrix){ .storage = MOR_DENSE, .rows = t->rows, .cols = t->cols, .x = x };
        return MOR_OK;
    }
    mor_csr C;
    if (!mor_csr_from_triplets(&C, t->rows, t->cols, t->count, t->i, t->j, t->x, r->arena))
        return mor_fail(r->error, MOR_SYSTEM, "out of memory");
    *A = (mor_matrix){ .storage = MOR_SPARSE, .rows = C.rows, .cols = C.cols, .p = C.p, .i = C.i, .x = C.x };
    return MOR_OK;
}

static mor_code read_triplets(reader* r, triplets* t)
{
    int storage;
    *t = (triplets){ 0 };
    TRY(read_int(r, &storage, 0, 2, "storage of a matrix (0 dense, 1 blocks, 2 sparse)"));
    TRY(read_int(r, &t->rows, 0, INT_MAX - 1L, "number of rows"));
    TRY(read_int(r, &t->cols, 0, INT_MAX - 1L, "number of columns"));
    /* every matrix is followed by vectors of its sizes */
    if (!can_hold(r, t->rows) || !can_hold(r, t->cols)) return fail_end(r, "a matrix of that size");
    return storage == 0 ? read_dense(r, t) : storage == 1 ? read_blocks(r, t) : read_sparse(r, t);
}

/* `rows`, `cols` < 0: any. */
static mor_code read_matrix(reader* r, mor_matrix* A, int rows, int cols, const char* name)
{
    triplets t;
    TRY(read_triplets(r, &t));
    if ((rows >= 0 && t.rows != rows) || (cols >= 0 && t.cols != cols)) {
        char text[120];
        snprintf(text, sizeof text, "%s is %d x %d; %d x %d was expected", name, t.rows, t.cols,
                 rows >= 0 ? rows : t.rows, cols >= 0 ? cols : t.cols);
        return fail(r, text);
    }
    return store(r, &t, A);
}

/* ------------------------------------------------------------------------------ problems */

static mor_code read_lcp(reader* r, mor_problem* p)
{
    double* b;
    TRY(read_int(r, &p->size, 0, INT_MAX, "number of unknowns"));
    TRY(read_matrix(r, &p->A, p->size, p->size, "the matrix"));
    TRY(read_vector(r, p->size, &b, "q"));
    p->b = b;
    return MOR_OK;
}

static mor_code read_mlcp(reader* r, mor_problem_file* file)
{
    mor_problem* p = &file->problem;
    int blocks, parts, n, m;
    TRY(read_int(r, &blocks, 0, 1, "storage flag 1"));
    TRY(read_int(r, &parts, 0, 1, "storage flag 2"));
    TRY(read_int(r, &n, 0, INT_MAX / 4, "number of equations"));
    TRY(read_int(r, &m, 0, INT_MAX / 4, "number of complementary rows"));
    if (!can_hold(r, (double)n + m)) return fail_end(r, "a problem of that size");
    int size = n + m;
    triplets t;
    double *b, *lower;
    if (blocks) {
        int *starts = mor_arena_alloc(r->arena, ((size_t)size + 2) * sizeof(int)), *kinds, count = 0;
        if (!starts) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        TRY(read_int(r, &starts[0], 0, 0, "first block start"));
        while (starts[count] < size) {
            TRY(read_int(r, &starts[count + 1], starts[count] + 1L, size, "block start"));
            count++;
        }
        TRY(read_ints(r, count, &kinds, 0, 1, "kind of a block (1 complementary, 0 equation)"));
        TRY(read_triplets(r, &t));
        if (t.cols != size || t.rows < size)
            return fail(
                r, "the matrix does not fit the blocks; it needs at least one row and exactly one column per unknown");
        /* more equations than unknowns: pad with unknowns that enter nowhere */
        lower = mor_arena_zero(r->arena, (size_t)t.rows, sizeof *lower);
        if (!lower) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        for (int g = 0; g < count; g++)
            for (int i = starts[g]; i < starts[g + 1]; i++) lower[i] = kinds[g] ? 0.0 : -INFINITY;
        for (int i = size; i < t.rows; i++) lower[i] = -INFINITY;
        double* q = mor_arena_zero(r->arena, (size_t)t.rows, sizeof *q);
        TRY(read_vector(r, size, &b, "q"));
        if (!q) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        memcpy(q, b, (size_t)size * sizeof *q);
        b = q;
        file->columns = size;
        size = t.cols = t.rows;
        if (size == file->columns) p->groups = starts, p->group_count = count;
    } else if (parts) {
        t = (triplets){ .rows = size, .cols = size };
        if (!can_hold(r, (double)size * size)) return fail_end(r, "the matrices A, B, C, D");
        TRY(reserve(r, &t, (long)size * size, false));
        int row[4] = { 0, n, 0, n }, col[4] = { 0, n, n, 0 }, rows[4] = { n, m, n, m }, cols[4] = { n, m, m, n };
        double x;
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < rows[k]; i++)
                for (int j = 0; j < cols[k]; j++) {
                    TRY(read_double(r, &x, "an entry of A, B, C or D"));
                    add(&t, row[k] + i, col[k] + j, x);
                }
        TRY(read_vector(r, size, &b, "a and b"));
        lower = mor_arena_zero(r->arena, (size_t)size, sizeof *lower);
        if (!lower) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
        for (int i = 0; i < n; i++) lower[i] = -INFINITY;
        file->columns = size;
    } else return fail(r, "neither storage flag is set; one of the first two numbers must be 1");
    p->size = size;
    p->b = b;
    p->lower = lower;
    return store(r, &t, &p->A);
}

static mor_code read_contacts(reader* r, mor_problem* p)
{
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING);
    bool rolling = p->form & (MOR_FC_ROLLING | MOR_GFC_ROLLING);
    int dim = rolling ? 5 : p->form & (MOR_FC2D | MOR_GFC2D) ? 2 : 3;
    double *b, *f, *mu, *mu_roll;
    TRY(read_int(r, &p->dim, 1, 5, "rows per contact"));
    if (p->dim != dim) {
        char text[160];
        snprintf(text, sizeof text, "contacts have %d rows, but a problem of kind %s has %d; is the kind right?",
                 p->dim, mor_form_name(p->form), dim);
        return fail(r, text);
    }
    TRY(read_int(r, &p->contact_count, 0, INT_MAX / 8, "number of contacts"));
    p->size = dim * p->contact_count;
    if (global) {
        TRY(read_matrix(r, &p->M, -1, -1, "M"));
        if (p->M.rows != p->M.cols) return fail(r, "M is not square");
        TRY(read_matrix(r, &p->H, p->M.rows, p->size, "H"));
        TRY(read_vector(r, p->M.rows, &f, "q"));
        p->f = f;
    } else TRY(read_matrix(r, &p->A, p->size, p->size, "the matrix"));
    TRY(read_vector(r, p->size, &b, global ? "b" : "q"));
    TRY(read_vector(r, p->contact_count, &mu, "mu"));
    p->b = b, p->mu = mu;
    if (rolling) {
        TRY(read_vector(r, p->contact_count, &mu_roll, "mu_r"));
        p->mu_roll = mu_roll;
    }
    return MOR_OK;
}

mor_code mor_problem_parse(const char* path, const char* text, size_t size, mor_problem_file* file, mor_error* error)
{
    mor_problem* p = &file->problem;
    reader r = { path, text, text, text + size, file->arena, error };
    file->columns = -1;
    TRY(p->form == MOR_LCP ? read_lcp(&r, p) : p->form == MOR_MLCP ? read_mlcp(&r, file) : read_contacts(&r, p));
    if (file->columns < 0) file->columns = mor_problem_unknowns(p);
    return MOR_OK;
}
