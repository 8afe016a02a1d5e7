/* Blocks (blocks.h): a product by tiles of 8 x 4, and triangular solves that halve themselves until products do most of
 * the work.
 *
 * Reference: Goto & van de Geijn (2008), Anatomy of high-performance matrix multiplication; Elmroth, Gustavson, Jonsson
 * & Kagstrom (2004), Recursive blocked algorithms and hybrid data structures for dense matrix library software. */
#include "linalg/blocks.h"

#include "linalg/rows.h"

enum {
    TILE_ROWS = 8,
    TILE_COLUMNS = 4,
    DEPTH = 128, /* of a packed strip of A: 8 KB, stays in the first cache */
    WIDTH = 96,  /* columns of C per strip: B's part stays in the second cache */
    FEW = 8,     /* triangles up to this size by plain loops */
    SMALL = 1000 /* products of fewer multiplications are not worth a strip */
};

/* One 8 x 4 tile of C: all sums in registers. `strip`: k columns of 8 rows; b: the four columns of B, `row` apart. */
MOR_ALWAYS_INLINE void add_tile(int k, const double* strip, const double* const* b, ptrdiff_t row, double* C,
                                ptrdiff_t ldc)
{
    double *C1 = C + ldc, *C2 = C1 + ldc, *C3 = C2 + ldc;
    mor_four c0 = MOR_FOUR_AT(C), d0 = MOR_FOUR_AT(C + 4), c1 = MOR_FOUR_AT(C1), d1 = MOR_FOUR_AT(C1 + 4);
    mor_four c2 = MOR_FOUR_AT(C2), d2 = MOR_FOUR_AT(C2 + 4), c3 = MOR_FOUR_AT(C3), d3 = MOR_FOUR_AT(C3 + 4);
    const double *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
    for (int l = 0; l < k; l++) {
        const mor_four x = MOR_FOUR_AT(strip), y = MOR_FOUR_AT(strip + 4);
        const mor_four f0 = { *b0, *b0, *b0, *b0 }, f1 = { *b1, *b1, *b1, *b1 };
        c0 += x * f0, d0 += y * f0;
        c1 += x * f1, d1 += y * f1;
        const mor_four f2 = { *b2, *b2, *b2, *b2 }, f3 = { *b3, *b3, *b3, *b3 };
        c2 += x * f2, d2 += y * f2;
        c3 += x * f3, d3 += y * f3;
        strip += TILE_ROWS, b0 += row, b1 += row, b2 += row, b3 += row;
    }
    MOR_FOUR_TO(C) = c0, MOR_FOUR_TO(C + 4) = d0, MOR_FOUR_TO(C1) = c1, MOR_FOUR_TO(C1 + 4) = d1;
    MOR_FOUR_TO(C2) = c2, MOR_FOUR_TO(C2 + 4) = d2, MOR_FOUR_TO(C3) = c3, MOR_FOUR_TO(C3 + 4) = d3;
}

/* Tiles at the edge: `rows` x `columns` of them are C. */
MOR_ALWAYS_INLINE void add_edge(int rows, int columns, int k, const double* strip, const double* B, ptrdiff_t row,
                                ptrdiff_t column, double* C, ptrdiff_t ldc)
{
    double tile[TILE_ROWS * TILE_COLUMNS] = { 0 };
    const double* b[TILE_COLUMNS];
    for (int j = 0; j < TILE_COLUMNS; j++) b[j] = B + (j < columns ? j : columns - 1) * column;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) tile[i + TILE_ROWS * j] = C[i + j * ldc];
    add_tile(k, strip, b, row, tile, TILE_ROWS);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) C[i + j * ldc] = tile[i + TILE_ROWS * j];
}

/* alpha times `rows` rows of A, zeros below them */
MOR_ALWAYS_INLINE void pack(int rows, int k, double alpha, const double* A, ptrdiff_t lda, double* strip)
{
    const mor_four f = { alpha, alpha, alpha, alpha };
    for (int l = 0; l < k; l++, A += lda, strip += TILE_ROWS) {
        if (rows == TILE_ROWS) {
            MOR_FOUR_TO(strip) = f * MOR_FOUR_AT(A), MOR_FOUR_TO(strip + 4) = f * MOR_FOUR_AT(A + 4);
            continue;
        }
        for (int i = 0; i < TILE_ROWS; i++) strip[i] = i < rows ? alpha * A[i] : 0.0;
    }
}

MOR_ALWAYS_INLINE void add_strips(int m, int n, int k, double alpha, const double* A, ptrdiff_t lda, const double* B,
                                  ptrdiff_t row, ptrdiff_t column, double* C, ptrdiff_t ldc)
{
    double strip[TILE_ROWS * DEPTH];
    for (int i = 0; i < m; i += TILE_ROWS) {
        int rows = m - i < TILE_ROWS ? m - i : TILE_ROWS;
        pack(rows, k, alpha, A + i, lda, strip);
        for (int j = 0; j < n; j += TILE_COLUMNS) {
            int columns = n - j < TILE_COLUMNS ? n - j : TILE_COLUMNS;
            const double* at = B + j * column;
            const double* b[TILE_COLUMNS] = { at, at + column, at + 2 * column, at + 3 * column };
            if (rows == TILE_ROWS && columns == TILE_COLUMNS) add_tile(k, strip, b, row, C + i + j * ldc, ldc);
            else add_edge(rows, columns, k, strip, at, row, column, C + i + j * ldc, ldc);
        }
    }
}

MOR_ALWAYS_INLINE void mor_block_product_body(int m, int n, int k, double alpha, const double* A, ptrdiff_t lda,
                                              const double* B, ptrdiff_t row, ptrdiff_t column, double* C,
                                              ptrdiff_t ldc)
{
    if (n < 3 || m < 4 || (double)m * n * k <= SMALL) {
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++) mor_subtract(m, -alpha * B[l * row + j * column], A + l * lda, C + j * ldc);
        return;
    }
    for (int l = 0; l < k; l += DEPTH)
        for (int j = 0; j < n; j += WIDTH)
            add_strips(m, n - j < WIDTH ? n - j : WIDTH, k - l < DEPTH ? k - l : DEPTH, alpha, A + l * lda, lda,
                       B + l * row + j * column, row, column, C + j * ldc, ldc);
}

MOR_WIDE_VOID(extern, mor_block_product,
              (int m, int n, int k, double alpha, const double* A, ptrdiff_t lda, const double* B, ptrdiff_t row,
               ptrdiff_t column, double* C, ptrdiff_t ldc),
              (m, n, k, alpha, A, lda, B, row, column, C, ldc))

/* ----------------------------------------------------------------------------- triangles */

/* The first half of n, a multiple of what a strip is high. */
static int half(int n) { return n <= 2 * FEW ? FEW : (n / 2 + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; }

void mor_block_solve_unit_lower(int n, int m, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb)
{
    if (n <= FEW) {
        for (int j = 0; j < m; j++, B += ldb)
            for (int k = 0; k + 1 < n; k++) mor_subtract(n - k - 1, B[k], L + k * ldl + k + 1, B + k + 1);
        return;
    }
    int h = half(n);
    mor_block_solve_unit_lower(h, m, L, ldl, B, ldb);
    mor_block_product(n - h, m, h, -1.0, L + h, ldl, B, 1, ldb, B + h, ldb);
    mor_block_solve_unit_lower(n - h, m, L + h * ldl + h, ldl, B + h, ldb);
}

void mor_block_solve_upper(int n, int m, const double* U, ptrdiff_t ldu, double* B, ptrdiff_t ldb)
{
    if (n <= FEW) {
        for (int j = 0; j < m; j++, B += ldb)
            for (int k = n - 1; k >= 0; k--) {
                B[k] /= U[k * ldu + k];
                mor_subtract(k, B[k], U + k * ldu, B);
            }
        return;
    }
    int h = half(n), rest = n - h;
    mor_block_solve_upper(rest, m, U + h * ldu + h, ldu, B + h, ldb);
    /* the last column first, as in the loops above */
    mor_block_product(h, m, rest, -1.0, U + (n - 1) * ldu, -ldu, B + n - 1, -1, ldb, B, ldb);
    mor_block_solve_upper(h, m, U, ldu, B, ldb);
}

MOR_ALWAYS_INLINE void solve_right_few_body(int m, int n, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb)
{
    for (int j = 0; j < n; j++) {
        double *b = B + j * ldb, inverse = 1.0 / L[j * ldl + j];
        for (int k = 0; k < j; k++) mor_subtract(m, L[k * ldl + j], B + k * ldb, b);
        for (int i = 0; i < m; i++) b[i] *= inverse;
    }
}

MOR_WIDE_VOID(static, solve_right_few, (int m, int n, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb),
              (m, n, L, ldl, B, ldb))

void mor_block_solve_right(int m, int n, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb)
{
    if (n <= FEW) {
        solve_right_few(m, n, L, ldl, B, ldb);
        return;
    }
    int h = half(n);
    mor_block_solve_right(m, h, L, ldl, B, ldb);
    mor_block_product(m, n - h, h, -1.0, B, ldb, L + h, ldl, 1, B + h * ldb, ldb);
    mor_block_solve_right(m, n - h, L + h * ldl + h, ldl, B + h * ldb, ldb);
}

void mor_block_subtract_gram(int n, int k, const double* A, ptrdiff_t lda, double* C, ptrdiff_t ldc)
{
    if (n <= FEW) { /* the whole square, of which the lower triangle is kept */
        double square[FEW * FEW] = { 0 };
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) square[i + FEW * j] = C[i + j * ldc];
        mor_block_product(n, n, k, -1.0, A, lda, A, lda, 1, square, FEW);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) C[i + j * ldc] = square[i + FEW * j];
        return;
    }
    int h = half(n);
    mor_block_subtract_gram(h, k, A, lda, C, ldc);
    mor_block_product(n - h, h, k, -1.0, A + h, lda, A, lda, 1, C + h, ldc);
    mor_block_subtract_gram(n - h, k, A + h, lda, C + h * ldc + h, ldc);
}
