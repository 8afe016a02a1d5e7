/* Two boxes: the separating axis test in closed form.
 *
 * With half sizes a, b, the rotation R = R_a' R_b and the offset t = R_a'(p_b - p_a) the separation is
 *   along axis i of a        |t_i| - a_i - sum_j b_j |R_ij|
 *   along axis j of b        |(R't)_j| - b_j - sum_i a_i |R_ij|
 *   along axis i x axis j    (|t.L| - r_a - r_b) / |L|,   L = e_i x R e_j
 * (S. Gottschalk, M. Lin, D. Manocha, 1996, "OBBTree", section 5, table of axes). Near-parallel edges
 * (|L| < 1e-7) are left out: what they would add is below 1e-7 of the size. From the best axis on it
 * is the general case of polyhedra. The cache holds the last axis along which they were farther apart than `reach`. */
#include "base/elementary.h"
#include "collision/pair_polyhedron.h"
#include "collision/pair_tests.h"

/* sine between edges from which their product is good to ten digits */
#define PARALLEL 1e-3
/* share of the size: an overlap that rounding and edges that touch do not change */
#define CLEARLY 1e-6

/* Axis i of a, axis j of b, or the product of both; unit, from a to b, and on which side of its face or edge. */
typedef struct box_axis {
    int kind, i, j;
    double separation, sign;
    mor_vec3 n;
} box_axis;

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
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const double d1 = mor_axis(d, i1), d2 = mor_axis(d, i2);
    const double s1 = fabs(d1) * mor_axis(P->half, i1), s2 = fabs(d2) * mor_axis(P->half, i2);
    if (mor_min(s1, s2) > 1e-12 * (s1 + s2)) return P->box_edges[i][d1 > 0.0][d2 > 0.0]; /* no two are as far */
    int best = 0;
    double far = -HUGE_VAL;
    for (int e = 0; e < P->edge_count; e++) {
        mor_vec3 p = P->vertices[P->edges[e].tail], q = P->vertices[P->edges[e].head];
        const double along = mor_axis(q, i) - mor_axis(p, i);
        if (fabs(along) <= mor_axis(P->half, i)) continue; /* along another axis: 0, else twice this */
        double s = mor_dot(d, mor_add(p, q));
        if (s > far) {
            far = s;
            best = e;
        }
    }
    return best;
}

/* Numbers of axes in the cache: 0 for none, then the faces of a, those of b, the edges of both. */
enum { FACE_A = 1, FACE_B = 4, EDGES = 7, AXES = 16 };

bool mor_boxes_apart(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                     double reach, const uint32_t cache[4])
{
    const int axis = cache[0] < AXES ? (int)cache[0] : 0;
    if (axis == 0) return false;
    const mor_mat3 A = mor_quat_matrix(pose_a->rotation), B = mor_quat_matrix(pose_b->rotation);
    const int i = axis < FACE_B ? axis - FACE_A : axis < EDGES ? axis - FACE_B : (axis - EDGES) / 3;
    const mor_mat3* R = axis < FACE_B || axis >= EDGES ? &A : &B;
    mor_vec3 n = mor_v3(R->m[0][i], R->m[1][i], R->m[2][i]);
    double length = 1.0;
    if (axis >= EDGES) {
        const int j = (axis - EDGES) % 3;
        n = mor_cross(n, mor_v3(B.m[0][j], B.m[1][j], B.m[2][j]));
        length = mor_norm(n);
    }
    const mor_vec3 x = mor_tmul(&A, n), y = mor_tmul(&B, n), ha = a->polyhedron->half, hb = b->polyhedron->half;
    const double s = fabs(mor_dot(n, mor_sub(pose_b->position, pose_a->position))) -
                     (fabs(x.x) * ha.x + fabs(x.y) * ha.y + fabs(x.z) * ha.z) -
                     (fabs(y.x) * hb.x + fabs(y.y) * hb.y + fabs(y.z) * hb.z);
    /* more than the rounding of positions: the full test ends in the same way */
    const double margin = 1e-9 * (fabs(reach) + a->radius + b->radius + mor_norm(pose_a->position));
    return length > PARALLEL && s > length * (reach + margin);
}

/* The axis that separates most, and its numbers there: those of the face, or of the edges' axes. False: farther apart
 * than `reach`; along *far, if it was not seen at once. */
static bool find_axis(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                      double reach, mor_placed* placed_a, mor_placed* placed_b, box_axis* out, uint32_t* far)
{
    mor_vec3 offset = mor_sub(pose_b->position, pose_a->position);
    double bound = a->radius + b->radius + reach;
    if (bound <= 0.0 || mor_dot(offset, offset) >= bound * bound) return false;
    mor_place_pair(a, pose_a, b, pose_b, placed_a, placed_b);
    const mor_placed A = *placed_a, B = *placed_b;
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
        if (s >= reach) return *far = FACE_A + (uint32_t)i, false;
        if (s > best_face) {
            best_face = s;
            face = i;
            face_sign = t[i] < 0.0 ? -1.0 : 1.0;
        }
    }
    for (int j = 0; j < 3; j++) {
        double along = t[0] * R[0][j] + t[1] * R[1][j] + t[2] * R[2][j];
        s = fabs(along) - hb[j] - ha[0] * abs_R[0][j] - ha[1] * abs_R[1][j] - ha[2] * abs_R[2][j];
        if (s >= reach) return *far = FACE_B + (uint32_t)j, false;
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
            if (s >= reach) return *far = EDGES + 3 * (uint32_t)i + (uint32_t)j, false;
            if (s > best_edge) {
                best_edge = s;
                ei = i;
                ej = j;
                edge_sign = along < 0.0 ? -1.0 : 1.0;
            }
        }
    }

    if (best_edge > best_face + mor_axis_tolerance(best_edge, size)) {
        mor_vec3 u = mor_v3(A.R.m[0][ei], A.R.m[1][ei], A.R.m[2][ei]),
                 v = mor_v3(B.R.m[0][ej], B.R.m[1][ej], B.R.m[2][ej]);
        mor_vec3 n = mor_cross(u, v);
        *out = (box_axis){ MOR_AXIS_EDGES, ei, ej, best_edge, edge_sign, mor_scale(edge_sign / mor_norm(n), n) };
    } else {
        const mor_mat3* R = kind == MOR_AXIS_FACE_A ? &A.R : &B.R;
        mor_vec3 n = mor_v3(R->m[0][face], R->m[1][face], R->m[2][face]);
        *out = (box_axis){ kind, face, face, best_face, face_sign, mor_scale(face_sign, n) };
    }
    return true;
}

int mor_pair_box_box(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                     double reach, uint32_t cache[4], mor_point* points)
{
    mor_placed A, B;
    box_axis best;
    if (!find_axis(a, pose_a, b, pose_b, reach, &A, &B, &best, &cache[0])) return 0;
    cache[0] = 0;
    const mor_polyhedron *P = a->polyhedron, *Q = b->polyhedron;
    mor_axis_choice axis = { .kind = best.kind, .separation = best.separation, .n = best.n };
    if (best.kind == MOR_AXIS_EDGES) {
        axis.i = box_edge(P, best.i, mor_placed_unvector(&A, axis.n));
        axis.j = box_edge(Q, best.j, mor_placed_unvector(&B, mor_neg(axis.n)));
    } else if (best.kind == MOR_AXIS_FACE_A) {
        axis.i = box_face(P, best.i, best.sign > 0.0);
    } else {
        axis.j = box_face(Q, best.j, best.sign < 0.0);
    }
    return mor_points_to_world(points, mor_polyhedra_contact(&A, &B, &axis, reach, points), pose_a);
}

bool mor_boxes_overlap(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                       mor_vec3* normal)
{
    mor_placed A, B;
    box_axis best;
    uint32_t unused;
    if (!find_axis(a, pose_a, b, pose_b, 0.0, &A, &B, &best, &unused)) return false;
    *normal = best.n;
    return best.separation < -CLEARLY * mor_min(a->radius, b->radius);
}
