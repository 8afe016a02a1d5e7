/* Two boxes: the separating axis test in closed form.
 *
 * With half sizes a, b, the rotation R = R_a' R_b and the offset t = R_a'(p_b - p_a) the separation is
 *   along axis i of a        |t_i| - a_i - sum_j b_j |R_ij|
 *   along axis j of b        |(R't)_j| - b_j - sum_i a_i |R_ij|
 *   along axis i x axis j    (|t.L| - r_a - r_b) / |L|,   L = e_i x R e_j
 * (S. Gottschalk, M. Lin, D. Manocha, 1996, "OBBTree", section 5, table of axes). Near-parallel edges
 * (|L| < 1e-7) are left out: what they would add is below 1e-7 of the size. From the best axis on it
 * is the general case of polyhedra. */
#include "base/elementary.h"
#include "collision/pair_polyhedron.h"
#include "collision/pair_tests.h"

/* Face of a box whose outward normal is axis i with the given sign. */
static int box_face(const mor_polyhedron* P, int i, bool positive)
{
    for (int f = 0; f < P->face_count; f++) {
        double c = mor_axis(P->normals[f], i);
        if (positive ? c > 0.5 : c < -0.5) return f;
    }
    return 0;
}

/* Edge along axis i through the corner that lies farthest in the local direction d. */
static int box_edge(const mor_polyhedron* P, int i, mor_vec3 d)
{
    int best = 0;
    double far = -HUGE_VAL;
    for (int e = 0; e < P->edge_count; e++) {
        mor_vec3 p = P->vertices[P->edges[e].tail], q = P->vertices[P->edges[e].head];
        mor_vec3 u = mor_sub(q, p);
        if (fabs(mor_axis(u, i)) <= 0.5 * mor_norm(u)) continue;
        double s = mor_dot(d, mor_add(p, q));
        if (s > far) {
            far = s;
            best = e;
        }
    }
    return best;
}

int mor_pair_box_box(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                     double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_vec3 offset = mor_sub(pose_b->position, pose_a->position);
    double bound = a->radius + b->radius + reach;
    if (bound <= 0.0 || mor_dot(offset, offset) >= bound * bound) return 0;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    const mor_polyhedron *P = a->polyhedron, *Q = b->polyhedron;
    const double ha[3] = { P->half.x, P->half.y, P->half.z }, hb[3] = { Q->half.x, Q->half.y, Q->half.z };
    const double size = mor_min(a->radius, b->radius);
    mor_vec3 local = mor_tmul(&A.R, offset);
    const double t[3] = { local.x, local.y, local.z };
    double R[3][3], abs_R[3][3];
    double s, best_face = -HUGE_VAL, best_edge = -HUGE_VAL, face_sign = 1.0, edge_sign = 1.0;
    int kind = MOR_AXIS_FACE_A, face = 0, ei = 0, ej = 0;

    for (int i = 0; i < 3; i++) {
        double r = ha[i];
        for (int j = 0; j < 3; j++) {
            R[i][j] = A.R.m[0][i] * B.R.m[0][j] + A.R.m[1][i] * B.R.m[1][j] + A.R.m[2][i] * B.R.m[2][j];
            abs_R[i][j] = fabs(R[i][j]);
            r += hb[j] * abs_R[i][j];
        }
        s = fabs(t[i]) - r;
        if (s >= reach) return 0;
        if (s > best_face) {
            best_face = s;
            face = i;
            face_sign = t[i] < 0.0 ? -1.0 : 1.0;
        }
    }
    for (int j = 0; j < 3; j++) {
        double along = t[0] * R[0][j] + t[1] * R[1][j] + t[2] * R[2][j];
        s = fabs(along) - hb[j] - ha[0] * abs_R[0][j] - ha[1] * abs_R[1][j] - ha[2] * abs_R[2][j];
        if (s >= reach) return 0;
        if (s > best_face + (kind == MOR_AXIS_FACE_A ? mor_axis_tolerance(s, size) : 0.0)) {
            best_face = s;
            kind = MOR_AXIS_FACE_B;
            face = j;
            face_sign = along < 0.0 ? -1.0 : 1.0;
        }
    }
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double ll = R[i1][j] * R[i1][j] + R[i2][j] * R[i2][j];
            if (ll < 1e-14) continue;
            double along = t[i2] * R[i1][j] - t[i1] * R[i2][j];
            s = fabs(along) - ha[i1] * abs_R[i2][j] - ha[i2] * abs_R[i1][j] - hb[j1] * abs_R[i][j2] -
                hb[j2] * abs_R[i][j1];
            /* |L| <= 1 makes a negative s only worse: no division unless it can matter */
            if (s <= 0.0 && s <= mor_max(best_edge, best_face)) continue;
            s /= sqrt(ll);
            if (s >= reach) return 0;
            if (s > best_edge) {
                best_edge = s;
                ei = i;
                ej = j;
                edge_sign = along < 0.0 ? -1.0 : 1.0;
            }
        }
    }

    mor_axis_choice axis = { .kind = kind, .separation = best_face };
    if (best_edge > best_face + mor_axis_tolerance(best_edge, size)) {
        mor_vec3 u = mor_v3(A.R.m[0][ei], A.R.m[1][ei], A.R.m[2][ei]),
                 v = mor_v3(B.R.m[0][ej], B.R.m[1][ej], B.R.m[2][ej]);
        mor_vec3 n = mor_cross(u, v);
        axis.kind = MOR_AXIS_EDGES;
        axis.separation = best_edge;
        axis.n = mor_scale(edge_sign / mor_norm(n), n);
        axis.i = box_edge(P, ei, mor_placed_unvector(&A, axis.n));
        axis.j = box_edge(Q, ej, mor_placed_unvector(&B, mor_neg(axis.n)));
    } else if (kind == MOR_AXIS_FACE_A) {
        axis.n = mor_scale(face_sign, mor_v3(A.R.m[0][face], A.R.m[1][face], A.R.m[2][face]));
        axis.i = box_face(P, face, face_sign > 0.0);
    } else {
        axis.n = mor_scale(face_sign, mor_v3(B.R.m[0][face], B.R.m[1][face], B.R.m[2][face]));
        axis.j = box_face(Q, face, face_sign < 0.0);
    }
    return mor_points_to_world(points, mor_polyhedra_contact(&A, &B, &axis, reach, points), pose_a);
}
