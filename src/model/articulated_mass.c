/* The mass matrix of a robot and its factorisation along the branches.
 *
 * CRBA: with C_i the rigid inertia of link i and everything it carries, as if welded, the force to give
 * joint i a unit acceleration is (f, n) = C_i S_i; carried inwards (n += r x f) it gives row i of M:
 * M_ij = S_j'(f, n) for the joints j on the path to the base, zero for all others.
 *
 * L'DL: in an order where carriers come first, M = L'DL with L_ij nonzero only where j is on the path
 * from i to the base, exactly where M has entries: no fill-in. For k from the tips inwards
 *
 *     L_ki = M_ki/D_k,   M_ij -= L_ki D_k L_kj    for i, j on the path of k
 *
 * The factor stays in the entries (descendant row, carrier column) of M; the others are not touched.
 * Cost O(sum of depth^2) instead of N^3/6.
 *
 * R. Featherstone (2008), Rigid Body Dynamics Algorithms, sec. 6.2 (table 6.2), 6.5 (tables 6.3, 6.4). */
#include "linalg/rows.h"
#include "model/articulated.h"

#include <string.h>

void mor_robot_mass_matrix(const mor_robot_model* m, mor_robot_work* work, double* M)
{
    int N = m->dof, offset = mor_robot_offset(m);
    memset(M, 0, (size_t)N * (size_t)N * sizeof *M);
    mor_rigid* C = work->composite;
    for (int i = 0; i < m->link_count; i++) C[i] = work->states[i].body;
    for (int i = m->link_count - 1; i > 0; i--) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &work->states[i];
        mor_vec3 f, n;
        if (c->prismatic) {
            f = mor_scale(C[i].m, l->axis);
            n = mor_cross(C[i].c, l->axis);
        } else {
            f = mor_cross(l->axis, C[i].c);
            n = mor_sym3_mul(&C[i].I, l->axis);
        }
        int row = c->dof;
        M[row * N + row] = mor_dot(l->axis, c->prismatic ? f : n);
        mor_vec3 r = l->r;
        for (int j = c->parent; j > 0; j = m->constants[j].parent) {
            n = mor_add(n, mor_cross(r, f));
            const mor_link_constant* cj = &m->constants[j];
            const mor_link_state* lj = &work->states[j];
            M[row * N + cj->dof] = M[cj->dof * N + row] = mor_dot(lj->axis, cj->prismatic ? f : n);
            r = lj->r;
        }
        if (m->floating) {
            n = mor_add(n, mor_cross(r, f));
            double x[6] = { f.x, f.y, f.z, n.x, n.y, n.z };
            for (int k = 0; k < 6; k++) M[row * N + k] = M[k * N + row] = x[k];
        }
        mor_rigid shifted = mor_rigid_shift(&C[i], l->r);
        C[c->parent] = mor_rigid_add(&C[c->parent], &shifted);
    }
    if (m->floating) {
        mor_vec3 c = C[0].c;
        mor_mat3 I = mor_sym3_matrix(&C[0].I), B = { { { 0, c.z, -c.y }, { -c.z, 0, c.x }, { c.y, -c.x, 0 } } };
        for (int i = 0; i < 3; i++) {
            M[i * N + i] = C[0].m;
            for (int j = 0; j < 3; j++) {
                M[i * N + j + 3] = M[(j + 3) * N + i] = B.m[i][j];
                M[(i + 3) * N + j + 3] = I.m[i][j];
            }
        }
    }
    for (int i = 0; i < m->joint_count; i++) {
        M[(offset + i) * (N + 1)] += m->reflected[i];
        for (int j = 0; m->coupling && j < m->joint_count; j++)
            M[(offset + i) * N + offset + j] += m->coupling[i * m->joint_count + j];
    }
}

bool mor_robot_factor(const mor_robot_model* m, double* M)
{
    int N = m->dof;
    for (int s = N - 1; s >= 0; s--) {
        int k = m->sequence[s];
        double d = M[k * N + k];
        if (!(d > 0.0) || !isfinite(d)) return false;
        double inverse = 1.0 / d, *own = M + k * N;
        int i = m->lambda[k], base = m->floating ? 6 : 0;
        for (; i >= base; i = m->lambda[i]) {
            double a = own[i] * inverse, *row = M + i * N;
            for (int j = i; j >= base; j = m->lambda[j]) row[j] -= a * own[j];
            if (base) { /* the base's six are neighbours */
                mor_two f = { a, a };
                MOR_TWO_TO(row) -= f * MOR_TWO_AT(own), MOR_TWO_TO(row + 2) -= f * MOR_TWO_AT(own + 2),
                    MOR_TWO_TO(row + 4) -= f * MOR_TWO_AT(own + 4);
            }
            own[i] = a;
        }
        for (; i >= 0; i--) {
            double a = own[i] * inverse;
            for (int j = i; j >= 0; j--) M[i * N + j] -= a * own[j];
            own[i] = a;
        }
    }
    return true;
}

void mor_robot_factor_solve(const mor_robot_model* m, const double* L, double* x)
{
    int N = m->dof, base = m->floating ? 6 : 0;
    const int* lambda = m->lambda;
    mor_two a = { 0, 0 }, b = a, c = a;   /* what the joints take from the base's six */
    for (int s = N - 1; s >= base; s--) { /* L' y = x */
        int k = m->sequence[s];
        const double *row = L + k * N, y = x[k];
        if (y == 0.0) continue;
        for (int i = lambda[k]; i >= base; i = lambda[i]) x[i] -= row[i] * y;
        if (!base) continue;
        const mor_two f = { y, y };
        a += f * MOR_TWO_AT(row), b += f * MOR_TWO_AT(row + 2), c += f * MOR_TWO_AT(row + 4);
    }
    if (base) MOR_TWO_TO(x) -= a, MOR_TWO_TO(x + 2) -= b, MOR_TWO_TO(x + 4) -= c;
    for (int k = base - 1; k >= 0; k--)
        for (int i = k - 1; i >= 0; i--) x[i] -= L[k * N + i] * x[k];
    for (int k = 0; k < N; k++) x[k] /= L[k * N + k];
    for (int k = 0; k < base; k++) /* L x = z */
        for (int i = 0; i < k; i++) x[k] -= L[k * N + i] * x[i];
    if (base) a = MOR_TWO_AT(x), b = MOR_TWO_AT(x + 2), c = MOR_TWO_AT(x + 4);
    for (int s = base; s < N; s++) {
        int k = m->sequence[s];
        const double* row = L + k * N;
        double sum = x[k];
        for (int i = lambda[k]; i >= base; i = lambda[i]) sum -= row[i] * x[i];
        if (base) {
            mor_two t = a * MOR_TWO_AT(row) + b * MOR_TWO_AT(row + 2) + c * MOR_TWO_AT(row + 4);
            sum -= t[0] + t[1];
        }
        x[k] = sum;
    }
}

/* What row k of L' y = x takes from the rows that carry it. */
MOR_ALWAYS_INLINE void take_from_carriers(const int* lambda, int k, const double* row, double* x)
{
    const mor_four a = MOR_FOUR_AT(x + 8 * k), b = MOR_FOUR_AT(x + 8 * k + 4);
    for (int i = lambda[k]; i >= 0; i = lambda[i]) {
        const mor_four f = { row[i], row[i], row[i], row[i] };
        double* y = x + 8 * i;
        MOR_FOUR_TO(y) -= f * a;
        MOR_FOUR_TO(y + 4) -= f * b;
    }
}

MOR_ALWAYS_INLINE void divide_row(double by, double* x)
{
    double d = 1.0 / by;
    const mor_four f = { d, d, d, d };
    MOR_FOUR_TO(x) *= f;
    MOR_FOUR_TO(x + 4) *= f;
}

MOR_ALWAYS_INLINE void mor_robot_factor_solve8_body(const mor_robot_model* m, const double* L, int link, double* x)
{
    int N = m->dof, top = link > 0 ? m->constants[link].dof : m->floating && link == 0 ? 5 : -1;
    const int* lambda = m->lambda;
    for (int k = top; k >= 0; k = lambda[k]) take_from_carriers(lambda, k, L + k * N, x); /* L' y = x: the path only */
    for (int k = top; k >= 0; k = lambda[k]) divide_row(L[k * N + k], x + 8 * k);
    for (int s = N - 1; link < 0 && s >= 0; s--) {
        int k = m->sequence[s];
        take_from_carriers(lambda, k, L + k * N, x);
    }
    for (int k = 0; link < 0 && k < N; k++) divide_row(L[k * N + k], x + 8 * k);
    for (int s = 0; s < N; s++) { /* L x = z */
        int k = m->sequence[s];
        const double* row = L + k * N;
        mor_four a = MOR_FOUR_AT(x + 8 * k), b = MOR_FOUR_AT(x + 8 * k + 4);
        for (int i = lambda[k]; i >= 0; i = lambda[i]) {
            const mor_four f = { row[i], row[i], row[i], row[i] };
            a -= f * MOR_FOUR_AT(x + 8 * i), b -= f * MOR_FOUR_AT(x + 8 * i + 4);
        }
        MOR_FOUR_TO(x + 8 * k) = a, MOR_FOUR_TO(x + 8 * k + 4) = b;
    }
}

MOR_WIDE_VOID(extern, mor_robot_factor_solve8, (const mor_robot_model* m, const double* L, int link, double* x),
              (m, L, link, x))
