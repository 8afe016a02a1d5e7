/* Inertia in the world, R J R', by rows of four: in kernels that are compiled for wide registers (linalg/wide.h). */
#ifndef MOREAU_MODEL_TURNED_H
#define MOREAU_MODEL_TURNED_H

#include "linalg/wide.h"
#include "moreau/math.h"

/* Rows of a matrix in the first three lanes; the fourth holds any number. (No zero: valgrind 3.19 does not know one of
 * the instructions that compilers put it there with.) */
typedef struct mor_three_rows {
    mor_four x, y, z;
} mor_three_rows;

#define MOR_THREE(a, b, c) ((mor_four){ a, b, c, c })
#define MOR_ALL(a) ((mor_four){ a, a, a, a })

MOR_ALWAYS_INLINE mor_three_rows mor_rows_of(const mor_mat3* A)
{
    return (mor_three_rows){ MOR_THREE(A->m[0][0], A->m[0][1], A->m[0][2]),
                             MOR_THREE(A->m[1][0], A->m[1][1], A->m[1][2]),
                             MOR_THREE(A->m[2][0], A->m[2][1], A->m[2][2]) };
}

/* R A R' of a symmetric A: the bits of mor_mat3_rotate. */
MOR_ALWAYS_INLINE mor_three_rows mor_turned_rows(const mor_mat3* R, const mor_mat3* A)
{
    const mor_three_rows a = mor_rows_of(A);
    const mor_four c = MOR_THREE(R->m[0][0], R->m[1][0], R->m[2][0]), d = MOR_THREE(R->m[0][1], R->m[1][1], R->m[2][1]),
                   e = MOR_THREE(R->m[0][2], R->m[1][2], R->m[2][2]);
    const mor_four s = a.x * MOR_ALL(R->m[0][0]) + a.y * MOR_ALL(R->m[0][1]) + a.z * MOR_ALL(R->m[0][2]),
                   t = a.x * MOR_ALL(R->m[1][0]) + a.y * MOR_ALL(R->m[1][1]) + a.z * MOR_ALL(R->m[1][2]),
                   u = a.x * MOR_ALL(R->m[2][0]) + a.y * MOR_ALL(R->m[2][1]) + a.z * MOR_ALL(R->m[2][2]);
    const mor_four x = c * MOR_ALL(s[0]) + d * MOR_ALL(s[1]) + e * MOR_ALL(s[2]),
                   y = c * MOR_ALL(t[0]) + d * MOR_ALL(t[1]) + e * MOR_ALL(t[2]),
                   z = c * MOR_ALL(u[0]) + d * MOR_ALL(u[1]) + e * MOR_ALL(u[2]),
                   lower = __builtin_shufflevector(x, y, 2, 6, 2, 6);
    return (mor_three_rows){ x, __builtin_shufflevector(x, y, 1, 5, 6, 7),
                             __builtin_shufflevector(lower, z, 0, 1, 6, 7) };
}

/* Three lanes. */
MOR_ALWAYS_INLINE void mor_put_three(const mor_four* v, double* to)
{
    MOR_TWO_TO(to) = __builtin_shufflevector(*v, *v, 0, 1);
    to[2] = (*v)[2];
}

#endif
