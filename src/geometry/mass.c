/* Mass properties: polyhedra and polygons by exact integration, sums, changes of frame, checks.
 *
 * Polyhedron P with an inner point c. Cut every face into a fan of triangles (a, b, d) and join each
 * with c: signed tetrahedra that fill P. With a, b, d relative to c, D = a . (b x d), s = a + b + d,
 *     volume            V = sum D / 6
 *     first moment   V x = sum D s / 24
 *     second moment    S = int x x' dV = sum D (a a' + b b' + d d' + s s') / 120.
 * Polynomials of degree two are integrated exactly: this is the divergence-theorem result of Mirtich
 * and Eberly, arranged so that for a convex P all terms are positive and nothing cancels.
 * Inertia about the centre of mass x: S - V x x' -> J = tr(S) I - S.
 *
 * Polygon: the same with triangles (c, a, b), D = (a x b)_z: area D/2, first moment D (a+b) / 6,
 * second moment D (a a' + b b' + (a+b)(a+b)') / 24. As a lamina, J_zz = J_xx + J_yy.
 *
 * Cost: linear in the number of corners.
 *
 * B. Mirtich (1996), Fast and accurate computation of polyhedral mass properties, J. Graphics Tools
 * 1(2). D. Eberly (2002), Polyhedral mass properties (revisited). F. Tonon (2004), Explicit exact
 * formulas for the 3-D tetrahedron inertia tensor, J. Math. Stat. 1(1). Principal axes: cyclic Jacobi,
 * Golub and Van Loan, Matrix Computations, section 8.5. */
#include "geometry/mass.h"

#include "base/elementary.h"

/* S += w v v' */
static void add_outer(mor_mat3* S, double w, mor_vec3 v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S->m[i][j] += w * mor_axis(v, i) * mor_axis(v, j);
}

static mor_mat3 inertia_of_second_moment(const mor_mat3* S)
{
    double trace = S->m[0][0] + S->m[1][1] + S->m[2][2];
    mor_mat3 J;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) J.m[i][j] = (i == j ? trace : 0.0) - S->m[i][j];
    return J;
}

static mor_vec3 mean(const mor_vec3* points, int count)
{
    mor_vec3 sum = { 0, 0, 0 };
    for (int i = 0; i < count; i++) sum = mor_add(sum, points[i]);
    return mor_scale(1.0 / count, sum);
}

mor_mass mor_mass_polyhedron(const mor_polyhedron* P)
{
    if (P->is_box) {
        double x = 2 * P->half.x, y = 2 * P->half.y, z = 2 * P->half.z, m = x * y * z;
        return (mor_mass){
            m, { 0, 0, 0 }, mor_mat3_diag(m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12)
        };
    }
    mor_vec3 c = mean(P->vertices, P->vertex_count), first = { 0, 0, 0 };
    double volume = 0.0;
    mor_mat3 S = { 0 };
    for (int f = 0; f < P->face_count; f++) {
        const int* loop = P->face_vertices + P->face_start[f];
        int n = P->face_start[f + 1] - P->face_start[f];
        mor_vec3 a = mor_sub(P->vertices[loop[0]], c);
        for (int k = 1; k + 1 < n; k++) {
            mor_vec3 b = mor_sub(P->vertices[loop[k]], c), d = mor_sub(P->vertices[loop[k + 1]], c);
            double D = mor_dot(a, mor_cross(b, d));
            mor_vec3 s = mor_add(a, mor_add(b, d));
            volume += D / 6;
            first = mor_madd(first, D / 24, s);
            add_outer(&S, D / 120, a);
            add_outer(&S, D / 120, b);
            add_outer(&S, D / 120, d);
            add_outer(&S, D / 120, s);
        }
    }
    mor_vec3 x = mor_scale(1.0 / volume, first);
    add_outer(&S, -volume, x);
    return (mor_mass){ volume, mor_add(c, x), inertia_of_second_moment(&S) };
}

mor_mass mor_mass_polygon(const mor_vec3* points, int count)
{
    mor_vec3 c = mean(points, count), first = { 0, 0, 0 };
    double area = 0.0;
    mor_mat3 S = { 0 };
    for (int i = 0; i < count; i++) {
        mor_vec3 a = mor_sub(points[i], c), b = mor_sub(points[(i + 1) % count], c), s = mor_add(a, b);
        double D = a.x * b.y - a.y * b.x;
        area += D / 2;
        first = mor_madd(first, D / 6, s);
        add_outer(&S, D / 24, a);
        add_outer(&S, D / 24, b);
        add_outer(&S, D / 24, s);
    }
    mor_vec3 x = mor_scale(1.0 / area, first);
    add_outer(&S, -area, x);
    return (mor_mass){ area, mor_add(c, x), inertia_of_second_moment(&S) };
}

/* Adds the inertia of a point mass at r (Huygens and Steiner). */
static void add_point_inertia(mor_mat3* J, double mass, mor_vec3 r)
{
    double rr = mor_dot(r, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) J->m[i][j] += mass * ((i == j ? rr : 0.0) - mor_axis(r, i) * mor_axis(r, j));
}

mor_mass mor_mass_combine(const mor_mass* parts, int count)
{
    mor_mass total = { 0 };
    for (int k = 0; k < count; k++) {
        total.mass += parts[k].mass;
        total.com = mor_madd(total.com, parts[k].mass, parts[k].com);
    }
    if (total.mass > 0.0) total.com = mor_scale(1.0 / total.mass, total.com);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) total.inertia.m[i][j] += parts[k].inertia.m[i][j];
        add_point_inertia(&total.inertia, parts[k].mass, mor_sub(parts[k].com, total.com));
    }
    return total;
}

mor_mass mor_mass_transform(const mor_mass* mass, const mor_pose* pose)
{
    mor_mat3 R = mor_quat_matrix(pose->rotation);
    mor_mass out = { mass->mass, mor_pose_point(pose, mass->com), mor_mat3_rotate(&R, &mass->inertia) };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            out.inertia.m[i][j] = out.inertia.m[j][i] = 0.5 * (out.inertia.m[i][j] + out.inertia.m[j][i]);
    return out;
}

/* A <- G' A G and V <- V G with the rotation G of axes p, q that makes A[p][q] zero. */
static void jacobi_rotate(double A[3][3], double V[3][3], int p, int q)
{
    if (A[p][q] == 0.0) return;
    double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 3; k++) {
        double a = A[k][p], b = A[k][q];
        A[k][p] = c * a - s * b;
        A[k][q] = s * a + c * b;
    }
    for (int k = 0; k < 3; k++) {
        double a = A[p][k], b = A[q][k];
        A[p][k] = c * a - s * b;
        A[q][k] = s * a + c * b;
    }
    A[p][q] = A[q][p] = 0.0;
    for (int k = 0; k < 3; k++) {
        double a = V[k][p], b = V[k][q];
        V[k][p] = c * a - s * b;
        V[k][q] = s * a + c * b;
    }
}

static mor_quat quat_of_columns(mor_vec3 a, mor_vec3 b, mor_vec3 c)
{
    double R[3][3] = { { a.x, b.x, c.x }, { a.y, b.y, c.y }, { a.z, b.z, c.z } };
    double trace = R[0][0] + R[1][1] + R[2][2];
    mor_quat q;
    if (trace > 0.0) {
        q = (mor_quat){ 1.0 + trace, R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1] };
    } else if (R[0][0] >= R[1][1] && R[0][0] >= R[2][2]) {
        q = (mor_quat){ R[2][1] - R[1][2], 1.0 + R[0][0] - R[1][1] - R[2][2], R[0][1] + R[1][0], R[0][2] + R[2][0] };
    } else if (R[1][1] >= R[2][2]) {
        q = (mor_quat){ R[0][2] - R[2][0], R[0][1] + R[1][0], 1.0 - R[0][0] + R[1][1] - R[2][2], R[1][2] + R[2][1] };
    } else {
        q = (mor_quat){ R[1][0] - R[0][1], R[0][2] + R[2][0], R[1][2] + R[2][1], 1.0 - R[0][0] - R[1][1] + R[2][2] };
    }
    return mor_quat_normalize(q);
}

/* The axis with its largest component positive: one of the two directions, always the same. */
static mor_vec3 signed_axis(mor_vec3 v)
{
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    double largest = x >= y && x >= z ? v.x : y >= z ? v.y : v.z;
    return largest < 0.0 ? mor_neg(v) : v;
}

void mor_inertia_principal(const mor_mat3* inertia, double moments[3], mor_quat* axes)
{
    double A[3][3], V[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[i][j] = 0.5 * (inertia->m[i][j] + inertia->m[j][i]);
    for (int sweep = 0; sweep < 50; sweep++) { /* converges quadratically: five are usual */
        double off = fabs(A[0][1]) + fabs(A[0][2]) + fabs(A[1][2]);
        double size = fabs(A[0][0]) + fabs(A[1][1]) + fabs(A[2][2]);
        if (!(off > 1e-17 * size)) break;
        jacobi_rotate(A, V, 0, 1);
        jacobi_rotate(A, V, 0, 2);
        jacobi_rotate(A, V, 1, 2);
    }
    int order[3] = { 0, 1, 2 };
    for (int i = 1; i < 3; i++)
        for (int j = i; j > 0 && A[order[j]][order[j]] < A[order[j - 1]][order[j - 1]]; j--) {
            int t = order[j];
            order[j] = order[j - 1];
            order[j - 1] = t;
        }
    mor_vec3 column[3];
    for (int i = 0; i < 3; i++) {
        int k = order[i];
        moments[i] = A[k][k];
        column[i] = signed_axis(mor_v3(V[0][k], V[1][k], V[2][k]));
    }
    if (mor_dot(column[0], mor_cross(column[1], column[2])) < 0.0) column[2] = mor_neg(column[2]);
    if (axes) *axes = quat_of_columns(column[0], column[1], column[2]);
}

mor_code mor_mass_check(const mor_mass* mass, mor_error* error)
{
    if (!isfinite(mass->mass) || mass->mass <= 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "the mass is %g kg; a moving body needs a positive, finite mass",
                        mass->mass);
    if (!isfinite(mass->com.x) || !isfinite(mass->com.y) || !isfinite(mass->com.z))
        return mor_fail(error, MOR_BAD_INPUT, "the centre of mass (%g, %g, %g) is not finite", mass->com.x, mass->com.y,
                        mass->com.z);
    static const char axis[] = "xyz";
    const double(*J)[3] = mass->inertia.m;
    double size = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (!isfinite(J[i][j]))
                return mor_fail(error, MOR_BAD_INPUT, "the inertia entry I%c%c is %g; it must be finite", axis[i],
                                axis[j], J[i][j]);
            size = mor_max(size, fabs(J[i][j]));
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(J[i][j] - J[j][i]) > 1e-9 * size)
                return mor_fail(error, MOR_BAD_INPUT, "the inertia is not symmetric: I%c%c = %g but I%c%c = %g",
                                axis[j], axis[i], J[j][i], axis[i], axis[j], J[i][j]);
    double p[3];
    mor_inertia_principal(&mass->inertia, p, NULL);
    if (!(p[0] > 1e-14 * p[2]) || p[2] <= 0.0)
        return mor_fail(error, MOR_BAD_INPUT,
                        "the inertia is not positive definite: its principal moments are %g, %g, %g kg m^2", p[0], p[1],
                        p[2]);
    /* tables and URDF files carry six digits; a lamina sits exactly on the limit */
    if (p[0] + p[1] < p[2] * (1.0 - 1e-6))
        return mor_fail(error, MOR_BAD_INPUT,
                        "no body has this inertia: of the principal moments %g, %g, %g kg m^2 the largest "
                        "exceeds the sum of the others (%g)",
                        p[0], p[1], p[2], p[0] + p[1]);
    return MOR_OK;
}
