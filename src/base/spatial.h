/* Spatial algebra in world axes, each vector about the origin of its own link.
 *
 *     twist   (v, w)   velocity or acceleration: linear of the reference point, angular
 *     wrench  (f, n)   force, moment about the reference point
 *     rigid   (m, c, I)  mass, first moment c = m (com - o), inertia about o
 *     inertia (A, B, D)  symmetric 6x6 [A B; B' D]:  f = A v + B w,  n = B' v + D w
 *
 * With common axes a change of link is a change of reference point only: from o to o + r
 *     (v, w) -> (v + w x r, w),        (f, n) about o + r -> (f, n + r x f) about o,
 * which costs a cross product, and numbers stay of the size of one link however long the chain
 * (a single reference point for all links loses r^2/l^2 digits at distance r).
 *
 * Accelerations are classical (second derivative of the position of the reference point), not
 * Featherstone's spatial ones: products of velocities then appear in the bias of the joints.
 *
 * R. Featherstone (2008), Rigid Body Dynamics Algorithms, ch. 2. */
#ifndef MOREAU_BASE_SPATIAL_H
#define MOREAU_BASE_SPATIAL_H

#include "moreau/math.h"

typedef struct mor_twist {
    mor_vec3 v, w;
} mor_twist;

/* Symmetric 3x3. */
typedef struct mor_sym3 {
    double xx, xy, xz, yy, yz, zz;
} mor_sym3;

typedef struct mor_rigid {
    double m;
    mor_vec3 c;
    mor_sym3 I;
} mor_rigid;

typedef struct mor_inertia6 {
    mor_sym3 A;
    mor_mat3 B;
    mor_sym3 D;
} mor_inertia6;

static inline mor_vec3 mor_sym3_mul(const mor_sym3* S, mor_vec3 v)
{
    return mor_v3(S->xx * v.x + S->xy * v.y + S->xz * v.z, S->xy * v.x + S->yy * v.y + S->yz * v.z,
                  S->xz * v.x + S->yz * v.y + S->zz * v.z);
}

/* Symmetric part of a matrix known to be symmetric up to rounding. */
static inline mor_sym3 mor_sym3_from(const mor_mat3* A)
{
    return (mor_sym3){ A->m[0][0], 0.5 * (A->m[0][1] + A->m[1][0]), 0.5 * (A->m[0][2] + A->m[2][0]),
                       A->m[1][1], 0.5 * (A->m[1][2] + A->m[2][1]), A->m[2][2] };
}

static inline mor_mat3 mor_sym3_matrix(const mor_sym3* S)
{
    return (mor_mat3){ { { S->xx, S->xy, S->xz }, { S->xy, S->yy, S->yz }, { S->xz, S->yz, S->zz } } };
}

static inline mor_sym3 mor_sym3_add(mor_sym3 a, mor_sym3 b)
{
    return (mor_sym3){ a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz };
}

/* R S R' */
static inline mor_sym3 mor_sym3_rotate(const mor_mat3* R, const mor_sym3* S)
{
    mor_vec3 t[3];
    for (int i = 0; i < 3; i++) t[i] = mor_sym3_mul(S, mor_v3(R->m[i][0], R->m[i][1], R->m[i][2]));
    double d[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) d[i][j] = t[i].x * R->m[j][0] + t[i].y * R->m[j][1] + t[i].z * R->m[j][2];
    return (mor_sym3){ d[0][0], d[0][1], d[0][2], d[1][1], d[1][2], d[2][2] };
}

/* s (r'r 1 - r r'): the inertia of a mass s at r. */
static inline mor_sym3 mor_sym3_point(double s, mor_vec3 r)
{
    double x = s * r.x, y = s * r.y, z = s * r.z;
    return (mor_sym3){ y * r.y + z * r.z, -x * r.y, -x * r.z, x * r.x + z * r.z, -y * r.z, x * r.x + y * r.y };
}

/* The same body about o when it is given about o + r. */
static inline mor_rigid mor_rigid_shift(const mor_rigid* a, mor_vec3 r)
{
    /* I_o = I + m (r'r 1 - r r') + 2 r'c 1 - r c' - c r' */
    mor_sym3 I = mor_sym3_add(a->I, mor_sym3_point(a->m, r));
    double d = 2.0 * mor_dot(r, a->c);
    I.xx += d - 2.0 * r.x * a->c.x;
    I.yy += d - 2.0 * r.y * a->c.y;
    I.zz += d - 2.0 * r.z * a->c.z;
    I.xy -= r.x * a->c.y + r.y * a->c.x;
    I.xz -= r.x * a->c.z + r.z * a->c.x;
    I.yz -= r.y * a->c.z + r.z * a->c.y;
    return (mor_rigid){ a->m, mor_madd(a->c, a->m, r), I };
}

static inline mor_rigid mor_rigid_add(const mor_rigid* a, const mor_rigid* b)
{
    return (mor_rigid){ a->m + b->m, mor_add(a->c, b->c), mor_sym3_add(a->I, b->I) };
}

/* A [r]x for symmetric A: column j of the product is A (r x e_j). */
static inline mor_mat3 mor_sym3_times_cross(const mor_sym3* A, mor_vec3 r)
{
    mor_vec3 x = mor_sym3_mul(A, mor_v3(0, r.z, -r.y)), y = mor_sym3_mul(A, mor_v3(-r.z, 0, r.x)),
             z = mor_sym3_mul(A, mor_v3(r.y, -r.x, 0));
    return (mor_mat3){ { { x.x, y.x, z.x }, { x.y, y.y, z.y }, { x.z, y.z, z.z } } };
}

/* The 6x6 matrix of a rigid body: f = m v + w x c, n = c x v + I w. */
static inline mor_inertia6 mor_inertia6_rigid(const mor_rigid* a)
{
    mor_vec3 c = a->c;
    return (mor_inertia6){ { a->m, 0, 0, a->m, 0, a->m },
                           { { { 0, c.z, -c.y }, { -c.z, 0, c.x }, { c.y, -c.x, 0 } } },
                           a->I };
}

/* target += the inertia given about o + r, seen from o: X' [A B; B' D] X, X = [1 -[r]x; 0 1],
 * so B -> B - A [r]x and D -> D - B' [r]x + [r]x (B - A [r]x). */
static inline void mor_inertia6_add_shifted(mor_inertia6* target, const mor_inertia6* a, mor_vec3 r)
{
    mor_mat3 Ar = mor_sym3_times_cross(&a->A, r), B = a->B;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            B.m[i][j] -= Ar.m[i][j];
            target->B.m[i][j] += B.m[i][j];
        }
    target->A = mor_sym3_add(target->A, a->A);
    /* E = [r]x B_new, and -B_old' [r]x = ([r]x B_old)' with [r]x' = -[r]x */
    mor_mat3 E, F;
    for (int j = 0; j < 3; j++) {
        mor_vec3 e = mor_cross(r, mor_v3(B.m[0][j], B.m[1][j], B.m[2][j]));
        mor_vec3 f = mor_cross(r, mor_v3(a->B.m[0][j], a->B.m[1][j], a->B.m[2][j]));
        E.m[0][j] = e.x, E.m[1][j] = e.y, E.m[2][j] = e.z;
        F.m[0][j] = f.x, F.m[1][j] = f.y, F.m[2][j] = f.z;
    }
    mor_sym3* D = &target->D;
    D->xx += a->D.xx + E.m[0][0] + F.m[0][0];
    D->yy += a->D.yy + E.m[1][1] + F.m[1][1];
    D->zz += a->D.zz + E.m[2][2] + F.m[2][2];
    D->xy += a->D.xy + 0.5 * (E.m[0][1] + E.m[1][0] + F.m[0][1] + F.m[1][0]);
    D->xz += a->D.xz + 0.5 * (E.m[0][2] + E.m[2][0] + F.m[0][2] + F.m[2][0]);
    D->yz += a->D.yz + 0.5 * (E.m[1][2] + E.m[2][1] + F.m[1][2] + F.m[2][1]);
}

/* (f, n) = [A B; B' D] (v, w) */
static inline void mor_inertia6_mul(const mor_inertia6* a, mor_vec3 v, mor_vec3 w, mor_vec3* f, mor_vec3* n)
{
    *f = mor_add(mor_sym3_mul(&a->A, v), mor_mul(&a->B, w));
    *n = mor_add(mor_tmul(&a->B, v), mor_sym3_mul(&a->D, w));
}

#endif
