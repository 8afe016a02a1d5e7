/* Rows of a contact on free bodies, in one go.
 *
 * For directions d = n, t, o and a body with the arm r, mass m and inertia I:
 *
 *     J_d = +-[d; r x d],     Y_d = [J_d(1..3)/m; I^-1 J_d(4..6)],     W_de = sum over the bodies of Y_d . J_e
 *
 * The lanes are the three directions, so nothing is read back that was just written. Products and sums are those of
 * tree rows (model/tree.c), their responses (rows.c) and mor_gram (linalg/rows.h), in their order: the same bits.
 *
 * Cost: some 170 instructions for a body with AVX2. */
#include "formulation/free_sides.h"

#include "linalg/wide.h"

/* Lane d of x in all lanes. */
#define LANE(x, d) __builtin_shufflevector(x, x, d, d, d, d)

/* Y_d . J_e for all e: sums over k mod 4 apart, then over pairs, then the last two (mor_gram). */
#define PRODUCTS(d)                                                                                                    \
    (((LANE(y[0], d) * j[0] + LANE(y[2], d) * j[2]) + LANE(y[4], d) * j[4]) +                                          \
     ((LANE(y[1], d) * j[1] + LANE(y[3], d) * j[3]) + LANE(y[5], d) * j[5]))

/* Lane d of six vectors becomes row d; the first `dim` rows. */
MOR_ALWAYS_INLINE void store_rows(const mor_four x[6], int dim, double* to)
{
    const mor_four s = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6),
                   u = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
    const mor_four v = __builtin_shufflevector(x[4], x[5], 0, 4, 2, 6);
    MOR_FOUR_TO(to) = __builtin_shufflevector(s, u, 0, 1, 4, 5);
    MOR_TWO_TO(to + 4) = __builtin_shufflevector(v, v, 0, 1);
    if (dim < 3) return;
    const mor_four t = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7),
                   w = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
    const mor_four z = __builtin_shufflevector(x[4], x[5], 1, 5, 3, 7);
    MOR_FOUR_TO(to + 6) = __builtin_shufflevector(t, w, 0, 1, 4, 5);
    MOR_TWO_TO(to + 10) = __builtin_shufflevector(z, z, 0, 1);
    MOR_FOUR_TO(to + 12) = __builtin_shufflevector(s, u, 2, 3, 6, 7);
    MOR_TWO_TO(to + 16) = __builtin_shufflevector(v, v, 2, 3);
}

MOR_ALWAYS_INLINE double sides_body(const mor_vec3* direction, const mor_free_side* side, int count, int dim,
                                    double approach, double* W)
{
    const mor_vec3 n = direction[0], t = direction[1], o = direction[2];
    const mor_four X = { n.x, t.x, o.x, 0.0 }, Y = { n.y, t.y, o.y, 0.0 }, Z = { n.z, t.z, o.z, 0.0 };
    mor_four w0 = { 0, 0, 0, 0 }, w1 = w0, w2 = w0;
    for (int i = 0; i < count; i++) {
        const mor_free_side* k = &side[i];
        const double *I = k->inverse + 21, m = k->inverse[0], *nu = k->nu;
        const mor_four f = { k->sign, k->sign, k->sign, k->sign }, lighter = { m, m, m, m };
        const mor_four x = { k->r.x, k->r.x, k->r.x, k->r.x }, r_y = { k->r.y, k->r.y, k->r.y, k->r.y },
                       z = { k->r.z, k->r.z, k->r.z, k->r.z };
        const mor_four j[6] = {
            f * X, f * Y, f * Z, f * (r_y * Z - z * Y), f * (z * X - x * Z), f * (x * Y - r_y * X)
        };
        mor_four y[6] = { j[0] * lighter, j[1] * lighter, j[2] * lighter };
        for (int c = 0; c < 3; c++)
            y[3 + c] = j[3] * (mor_four){ I[c], I[c], I[c], I[c] } +
                       j[4] * (mor_four){ I[6 + c], I[6 + c], I[6 + c], I[6 + c] } +
                       j[5] * (mor_four){ I[12 + c], I[12 + c], I[12 + c], I[12 + c] };
        approach += ((j[0][0] * nu[0] + j[2][0] * nu[2]) + j[4][0] * nu[4]) +
                    ((j[1][0] * nu[1] + j[3][0] * nu[3]) + j[5][0] * nu[5]);
        store_rows(j, dim, k->J);
        store_rows(y, dim, k->Y);
        w0 += PRODUCTS(0);
        if (dim < 3) continue;
        w1 += PRODUCTS(1);
        w2 += PRODUCTS(2);
    }
    W[0] = w0[0];
    if (dim < 3) return approach;
    W[1] = w0[1], W[2] = w0[2];
    W[3] = w1[0], W[4] = w1[1], W[5] = w1[2];
    W[6] = w2[0], W[7] = w2[1], W[8] = w2[2];
    return approach;
}

MOR_ALWAYS_INLINE double some_sides_body(const mor_vec3* direction, const mor_free_side* side, int count, int dim,
                                         double approach, double* W)
{
    if (dim == 3 && count == 2) return sides_body(direction, side, 2, 3, approach, W);
    if (dim == 3) return sides_body(direction, side, 1, 3, approach, W);
    return sides_body(direction, side, count, 1, approach, W);
}

MOR_WIDE(static, double, some_sides,
         (const mor_vec3* direction, const mor_free_side* side, int count, int dim, double approach, double* W),
         (direction, side, count, dim, approach, W))

double mor_free_sides(const mor_vec3 direction[3], const mor_free_side* side, int count, int dim, double approach,
                      double* W)
{
    return some_sides(direction, side, count, dim, approach, W);
}
