/* Small vector algebra: plain structs passed by value, everything inline but the exponential map.
 *
 * Conventions: double precision, SI units, right-handed axes, z up, world frame unless a name
 * says otherwise. Quaternions have the real part first, are of unit length and rotate a vector
 * from the body frame to the world frame. Angular velocities are in world axes.
 *
 * Threads: all functions are pure and may be called from any thread. Nothing allocates and nothing fails; what a
 * function asks of its arguments stands above it. ABI: the structs are arrays of doubles in the order of their fields;
 * they do not change. */
#ifndef MOREAU_MATH_H
#define MOREAU_MATH_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MOR_API __attribute__((visibility("default")))
#else
#define MOR_API
#endif

/* A vector or a point: metres unless a name says otherwise. */
typedef struct mor_vec3 {
    double x, y, z; /* right-handed, z up */
} mor_vec3;

/* Unit quaternion, real part first. */
typedef struct mor_quat {
    double w, x, y, z; /* cos(a/2), sin(a/2) times the unit axis, of a turn by the angle a */
} mor_quat;

/* 3x3 matrix, m[row][column]. */
typedef struct mor_mat3 {
    double m[3][3]; /* row by row */
} mor_mat3;

/* A frame: where its origin is and how it is turned, seen from the parent frame. */
typedef struct mor_pose {
    mor_vec3 position; /* of the origin [m] */
    mor_quat rotation; /* from this frame to the parent's */
} mor_pose;

/* Axis-aligned box. */
typedef struct mor_aabb {
    mor_vec3 lower, upper; /* corners with the least and the largest coordinates [m] */
} mor_aabb;

/* (x, y, z) */
static inline mor_vec3 mor_v3(double x, double y, double z)
{
    mor_vec3 value = { x, y, z };
    return value;
}
/* a + b */
static inline mor_vec3 mor_add(mor_vec3 a, mor_vec3 b) { return mor_v3(a.x + b.x, a.y + b.y, a.z + b.z); }
/* a - b */
static inline mor_vec3 mor_sub(mor_vec3 a, mor_vec3 b) { return mor_v3(a.x - b.x, a.y - b.y, a.z - b.z); }
/* -a */
static inline mor_vec3 mor_neg(mor_vec3 a) { return mor_v3(-a.x, -a.y, -a.z); }
/* s a */
static inline mor_vec3 mor_scale(double s, mor_vec3 a) { return mor_v3(s * a.x, s * a.y, s * a.z); }
/* a + s b */
static inline mor_vec3 mor_madd(mor_vec3 a, double s, mor_vec3 b)
{
    return mor_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
/* a . b */
static inline double mor_dot(mor_vec3 a, mor_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/* a x b */
static inline mor_vec3 mor_cross(mor_vec3 a, mor_vec3 b)
{
    return mor_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
/* |a| */
static inline double mor_norm(mor_vec3 a) { return sqrt(mor_dot(a, a)); }
/* (1 - t) a + t b */
static inline mor_vec3 mor_lerp(mor_vec3 a, mor_vec3 b, double t) { return mor_madd(a, t, mor_sub(b, a)); }
/* a/|a|, or the given fallback when a is zero. */
static inline mor_vec3 mor_normalize(mor_vec3 a, mor_vec3 fallback)
{
    double n = mor_norm(a);
    return n > 0.0 ? mor_scale(1.0 / n, a) : fallback;
}
/* Coordinate i of a: 0 x, 1 y, 2 z. */
static inline double mor_axis(mor_vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
/* The smaller one of each coordinate. */
static inline mor_vec3 mor_min3(mor_vec3 a, mor_vec3 b)
{
    return mor_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
/* The larger one of each coordinate. */
static inline mor_vec3 mor_max3(mor_vec3 a, mor_vec3 b)
{
    return mor_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

/* The unit matrix. */
static inline mor_mat3 mor_mat3_identity(void)
{
    mor_mat3 value = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    return value;
}
/* A diagonal matrix. */
static inline mor_mat3 mor_mat3_diag(double a, double b, double c)
{
    mor_mat3 value = { { { a, 0, 0 }, { 0, b, 0 }, { 0, 0, c } } };
    return value;
}
/* A v */
static inline mor_vec3 mor_mul(const mor_mat3* A, mor_vec3 v)
{
    return mor_v3(A->m[0][0] * v.x + A->m[0][1] * v.y + A->m[0][2] * v.z,
                  A->m[1][0] * v.x + A->m[1][1] * v.y + A->m[1][2] * v.z,
                  A->m[2][0] * v.x + A->m[2][1] * v.y + A->m[2][2] * v.z);
}
/* Transpose times vector. */
static inline mor_vec3 mor_tmul(const mor_mat3* A, mor_vec3 v)
{
    return mor_v3(A->m[0][0] * v.x + A->m[1][0] * v.y + A->m[2][0] * v.z,
                  A->m[0][1] * v.x + A->m[1][1] * v.y + A->m[2][1] * v.z,
                  A->m[0][2] * v.x + A->m[1][2] * v.y + A->m[2][2] * v.z);
}
/* A B */
static inline mor_mat3 mor_mat3_mul(const mor_mat3* A, const mor_mat3* B)
{
    mor_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
    return C;
}
/* A' */
static inline mor_mat3 mor_mat3_transpose(const mor_mat3* A)
{
    mor_mat3 T;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T.m[i][j] = A->m[j][i];
    return T;
}
/* The determinant of A. */
static inline double mor_mat3_det(const mor_mat3* A)
{
    return A->m[0][0] * (A->m[1][1] * A->m[2][2] - A->m[1][2] * A->m[2][1]) -
           A->m[0][1] * (A->m[1][0] * A->m[2][2] - A->m[1][2] * A->m[2][0]) +
           A->m[0][2] * (A->m[1][0] * A->m[2][1] - A->m[1][1] * A->m[2][0]);
}
/* Inverse by cofactors; the caller knows A is well conditioned (inertia tensors, contact blocks). */
static inline mor_mat3 mor_mat3_inverse(const mor_mat3* A)
{
    double s = 1.0 / mor_mat3_det(A);
    mor_mat3 B;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            B.m[i][j] = s * (A->m[a][c] * A->m[b][d] - A->m[a][d] * A->m[b][c]);
        }
    return B;
}

/* No rotation. */
static inline mor_quat mor_quat_identity(void)
{
    mor_quat value = { 1, 0, 0, 0 };
    return value;
}
/* The opposite rotation. */
static inline mor_quat mor_quat_conj(mor_quat q)
{
    mor_quat value = { q.w, -q.x, -q.y, -q.z };
    return value;
}
/* The rotation b, then a. */
static inline mor_quat mor_quat_mul(mor_quat a, mor_quat b)
{
    mor_quat value = { a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w };
    return value;
}
/* q/|q|; the caller checks that q is not zero. */
static inline mor_quat mor_quat_normalize(mor_quat q)
{
    double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    mor_quat value = { s * q.w, s * q.x, s * q.y, s * q.z };
    return value;
}
/* Exponential map: the rotation by |v| radians about v. In the library: the same bits on every machine. */
MOR_API mor_quat mor_quat_exp(mor_vec3 v);
/* The rotation by `angle` [rad] about a unit vector. */
static inline mor_quat mor_quat_axis_angle(mor_vec3 unit_axis, double angle)
{
    return mor_quat_exp(mor_scale(angle, unit_axis));
}
/* The rotation matrix R of q: R v = mor_rotate(q, v). */
static inline mor_mat3 mor_quat_matrix(mor_quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z,
           wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    mor_mat3 value = { { { 1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy) },
                         { 2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx) },
                         { 2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy) } } };
    return value;
}
/* v turned by q: from the body frame to the world. */
static inline mor_vec3 mor_rotate(mor_quat q, mor_vec3 v)
{
    mor_vec3 u = mor_v3(q.x, q.y, q.z), t = mor_scale(2.0, mor_cross(u, v));
    return mor_add(mor_madd(v, q.w, t), mor_cross(u, t));
}
/* v turned back: from the world to the body frame. */
static inline mor_vec3 mor_unrotate(mor_quat q, mor_vec3 v) { return mor_rotate(mor_quat_conj(q), v); }

/* The parent frame itself. */
static inline mor_pose mor_pose_identity(void)
{
    mor_pose value = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    return value;
}
/* A point given in the frame X, seen from its parent. */
static inline mor_vec3 mor_pose_point(const mor_pose* X, mor_vec3 p)
{
    return mor_add(X->position, mor_rotate(X->rotation, p));
}
/* A point given in X's parent, seen from X. */
static inline mor_vec3 mor_pose_unpoint(const mor_pose* X, mor_vec3 p)
{
    return mor_unrotate(X->rotation, mor_sub(p, X->position));
}
/* A then B: the frame B, given in frame A, seen from A's parent. */
static inline mor_pose mor_pose_mul(const mor_pose* A, const mor_pose* B)
{
    mor_pose value = { mor_pose_point(A, B->position), mor_quat_mul(A->rotation, B->rotation) };
    return value;
}
/* The parent frame seen from X. */
static inline mor_pose mor_pose_inverse(const mor_pose* X)
{
    mor_quat c = mor_quat_conj(X->rotation);
    mor_pose value = { mor_rotate(c, mor_neg(X->position)), c };
    return value;
}

/* R A R' of a symmetric A, as inertia tensors are: symmetric to the last bit. */
static inline mor_mat3 mor_mat3_rotate(const mor_mat3* R, const mor_mat3* A)
{
    mor_vec3 r[3], t[3];
    for (int i = 0; i < 3; i++) {
        r[i] = mor_v3(R->m[i][0], R->m[i][1], R->m[i][2]);
        t[i] = mor_tmul(A, r[i]);
    }
    double xx = mor_dot(t[0], r[0]), xy = mor_dot(t[0], r[1]), xz = mor_dot(t[0], r[2]), yy = mor_dot(t[1], r[1]),
           yz = mor_dot(t[1], r[2]), zz = mor_dot(t[2], r[2]);
    mor_mat3 value = { { { xx, xy, xz }, { xy, yy, yz }, { xz, yz, zz } } };
    return value;
}

/* Two unit vectors that with the unit vector n form a right-handed frame (n, t, o). The first is
 * `along` projected on the tangent plane; if that is too short, the coordinate axis least aligned
 * with n is projected instead. Deterministic. */
static inline void mor_tangents(mor_vec3 n, mor_vec3 along, mor_vec3* t, mor_vec3* o)
{
    mor_vec3 p = mor_madd(along, -mor_dot(along, n), n);
    if (mor_dot(p, p) <= 1e-4 * mor_dot(along, along) || mor_dot(p, p) == 0.0) {
        double ax = fabs(n.x), ay = fabs(n.y), az = fabs(n.z);
        mor_vec3 e = ay <= ax && ay <= az ? mor_v3(0, 1, 0) : az <= ax ? mor_v3(0, 0, 1) : mor_v3(1, 0, 0);
        p = mor_madd(e, -mor_dot(e, n), n);
    }
    *t = mor_normalize(p, mor_v3(1, 0, 0));
    *o = mor_cross(n, *t);
}

#ifdef __cplusplus
}
#endif
#endif
