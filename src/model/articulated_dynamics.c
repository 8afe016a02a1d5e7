/* Inverse and forward dynamics of a robot in O(links).
 *
 * Newton and Euler for one link, about its origin o (world axes, c first moment, I inertia about o):
 *
 *     f = m v' + w' x c + w x (w x c),     n = c x v' + I w' + w x I w,     v' classical
 *
 * RNEA: accelerations outwards with v'_0 = -gravity, forces inwards, f_joint = S' (f, n).
 *
 * ABA: a link with everything it carries answers (f, n) = A (v', w') + p. Inwards, with U = A S,
 * d = S'U + reflected, u = tau - S'p:
 *
 *     A_p += X'(A - U U'/d) X,     p_p += X'(p + (A - UU'/d) bias + U u/d)
 *
 * outwards s'' = (u - U'a)/d with a the acceleration of the joint without it. The base, if it floats,
 * is a 6x6 Cholesky solve. U, d and the base factor stay in the work space, so that M^-1 of more right-hand
 * sides (contact rows) cost O(links) each as well.
 *
 * A reflected inertia matrix couples joints across the tree: M is then formed and factored densely.
 *
 * J. Y. S. Luh, M. W. Walker, R. P. C. Paul (1980) for RNEA; R. Featherstone (1983) for ABA; both in
 * R. Featherstone (2008), Rigid Body Dynamics Algorithms, tables 5.1 and 7.1. */
#include "linalg/dense.h"
#include "model/articulated.h"

#include <string.h>

/* -------------------------------------------------------------------------- inverse dynamics */

/* v' and w' of the base, and of a link from its parent's. */
static inline void accelerate_base(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity,
                                   const double* nudot)
{
    work->a[0] = mor_neg(gravity);
    work->b[0] = mor_v3(0, 0, 0);
    if (!m->floating || !nudot) return;
    work->a[0] = mor_add(work->a[0], mor_v3(nudot[0], nudot[1], nudot[2]));
    work->b[0] = mor_v3(nudot[3], nudot[4], nudot[5]);
}

static inline void accelerate_link(const mor_robot_model* m, mor_robot_work* work, int i, const double* nudot)
{
    const mor_link_constant* c = &m->constants[i];
    const mor_link_state* l = &work->states[i];
    mor_vec3 *a = work->a, *b = work->b;
    double qdd = nudot ? nudot[c->dof] : 0.0;
    a[i] = mor_add(mor_add(a[c->parent], mor_cross(b[c->parent], l->r)), l->bias_v);
    b[i] = mor_add(b[c->parent], l->bias_w);
    if (c->prismatic) a[i] = mor_madd(a[i], qdd, l->axis);
    else b[i] = mor_madd(b[i], qdd, l->axis);
}

/* What the links' f and n, which are summed up here, ask of joints and base. */
static inline void gather_inwards(const mor_robot_model* m, const mor_link_state* states, mor_vec3* f, mor_vec3* n,
                                  double* out)
{
    for (int i = m->link_count - 1; i > 0; i--) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &states[i];
        out[c->dof] = mor_dot(l->axis, c->prismatic ? f[i] : n[i]);
        f[c->parent] = mor_add(f[c->parent], f[i]);
        n[c->parent] = mor_add(n[c->parent], mor_add(n[i], mor_cross(l->r, f[i])));
    }
    if (m->floating) memcpy(out, (double[6]){ f[0].x, f[0].y, f[0].z, n[0].x, n[0].y, n[0].z }, 6 * sizeof(double));
}

void mor_robot_inverse_dynamics(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* nudot,
                                const double* wrenches, double* out)
{
    int offset = mor_robot_offset(m);
    mor_vec3 *a = work->a, *b = work->b, *f = work->f, *n = work->n;
    accelerate_base(m, work, gravity, nudot);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        if (i > 0) accelerate_link(m, work, i, nudot);
        const mor_rigid* B = &l->body;
        mor_vec3 wc = mor_cross(l->w, B->c), Iw = mor_sym3_mul(&B->I, l->w);
        f[i] = mor_add(mor_madd(mor_cross(b[i], B->c), B->m, a[i]), mor_cross(l->w, wc));
        n[i] = mor_add(mor_add(mor_cross(B->c, a[i]), mor_sym3_mul(&B->I, b[i])), mor_cross(l->w, Iw));
        if (wrenches) {
            const double* x = wrenches + 6 * i;
            f[i] = mor_sub(f[i], mor_v3(x[0], x[1], x[2]));
            n[i] = mor_sub(n[i], mor_v3(x[3], x[4], x[5]));
        }
    }
    gather_inwards(m, work->states, f, n, out);
    if (!nudot) return;
    for (int j = 0; j < m->joint_count; j++) {
        out[offset + j] += m->reflected[j] * nudot[offset + j];
        for (int k = 0; m->coupling && k < m->joint_count; k++)
            out[offset + j] += m->coupling[j * m->joint_count + k] * nudot[offset + k];
    }
}

void mor_robot_bias(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* nu,
                    const double* nudot, double* out)
{
    int offset = mor_robot_offset(m);
    mor_vec3 *a = work->a, *b = work->b, *f = work->f, *n = work->n, *w = work->w;
    accelerate_base(m, work, gravity, nudot);
    w[0] = nu && m->floating ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, 0);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        const mor_rigid* B = &l->body;
        if (i > 0) {
            const mor_link_constant* c = &m->constants[i];
            double qdd = nudot ? nudot[c->dof] : 0.0;
            mor_vec3 step = mor_scale(nu ? nu[c->dof] : 0.0, l->axis), p = w[c->parent];
            a[i] = mor_add(a[c->parent], mor_add(mor_cross(b[c->parent], l->r), mor_cross(p, mor_cross(p, l->r))));
            b[i] = b[c->parent];
            w[i] = p;
            if (c->prismatic) {
                a[i] = mor_add(a[i], mor_madd(mor_scale(2.0, mor_cross(p, step)), qdd, l->axis));
            } else {
                mor_vec3 carried = c->ball ? mor_ball_spin(m, work, i, w, nu) : p;
                b[i] = mor_add(b[i], mor_madd(mor_cross(carried, step), qdd, l->axis));
                w[i] = mor_add(p, step);
            }
        }
        mor_vec3 wc = mor_cross(w[i], B->c), Iw = mor_sym3_mul(&B->I, w[i]);
        f[i] = mor_add(mor_madd(mor_cross(b[i], B->c), B->m, a[i]), mor_cross(w[i], wc));
        n[i] = mor_add(mor_add(mor_cross(B->c, a[i]), mor_sym3_mul(&B->I, b[i])), mor_cross(w[i], Iw));
    }
    gather_inwards(m, work->states, f, n, out);
    for (int j = 0; nudot && j < m->joint_count; j++) {
        out[offset + j] += m->reflected[j] * nudot[offset + j];
        for (int k = 0; m->coupling && k < m->joint_count; k++)
            out[offset + j] += m->coupling[j * m->joint_count + k] * nudot[offset + k];
    }
}

void mor_robot_accelerations(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* nudot)
{
    accelerate_base(m, work, gravity, nudot);
    for (int i = 1; i < m->link_count; i++) accelerate_link(m, work, i, nudot);
}

void mor_robot_statics(const mor_robot_model* m, const mor_robot_work* at, mor_robot_work* scratch, mor_vec3 gravity,
                       const double* wrenches, double* out)
{
    mor_vec3 *f = scratch->f, *n = scratch->n;
    for (int i = 0; i < m->link_count; i++) {
        const mor_rigid* B = &at->states[i].body;
        f[i] = mor_scale(-B->m, gravity);
        n[i] = mor_cross(gravity, B->c);
        if (wrenches) {
            const double* x = wrenches + 6 * i;
            f[i] = mor_sub(f[i], mor_v3(x[0], x[1], x[2]));
            n[i] = mor_sub(n[i], mor_v3(x[3], x[4], x[5]));
        }
    }
    gather_inwards(m, at->states, f, n, out);
}

/* -------------------------------------------------------------------------- forward dynamics */

/* Articulated inertias from the tips to the base: what does not depend on forces and velocities. */
static bool factor(const mor_robot_model* m, mor_robot_work* work, const double* extra)
{
    int offset = mor_robot_offset(m);
    for (int i = 0; i < m->link_count; i++) work->factors[i].inertia = mor_inertia6_rigid(&work->states[i].body);
    for (int i = m->link_count - 1; i > 0; i--) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &work->states[i];
        mor_link_factor* F = &work->factors[i];
        const mor_inertia6* A = &F->inertia;
        int joint = c->dof - offset;
        double d = m->reflected[joint] + (extra ? extra[joint] : 0.0);
        if (c->prismatic) {
            F->Uf = mor_sym3_mul(&A->A, l->axis);
            F->Un = mor_tmul(&A->B, l->axis);
            d += mor_dot(l->axis, F->Uf);
        } else {
            F->Uf = mor_mul(&A->B, l->axis);
            F->Un = mor_sym3_mul(&A->D, l->axis);
            d += mor_dot(l->axis, F->Un);
        }
        if (!(d > 0.0) || !isfinite(d)) return false;
        F->inverse = 1.0 / d;
        mor_vec3 f = F->Uf, n = F->Un, g = mor_scale(F->inverse, f), h = mor_scale(F->inverse, n);
        mor_inertia6 rest = *A;
        rest.A.xx -= f.x * g.x, rest.A.xy -= f.x * g.y, rest.A.xz -= f.x * g.z;
        rest.A.yy -= f.y * g.y, rest.A.yz -= f.y * g.z, rest.A.zz -= f.z * g.z;
        rest.D.xx -= n.x * h.x, rest.D.xy -= n.x * h.y, rest.D.xz -= n.x * h.z;
        rest.D.yy -= n.y * h.y, rest.D.yz -= n.y * h.z, rest.D.zz -= n.z * h.z;
        rest.B.m[0][0] -= f.x * h.x, rest.B.m[0][1] -= f.x * h.y, rest.B.m[0][2] -= f.x * h.z;
        rest.B.m[1][0] -= f.y * h.x, rest.B.m[1][1] -= f.y * h.y, rest.B.m[1][2] -= f.y * h.z;
        rest.B.m[2][0] -= f.z * h.x, rest.B.m[2][1] -= f.z * h.y, rest.B.m[2][2] -= f.z * h.z;
        F->inertia = rest; /* what the parent feels, about this link's origin */
        if (c->parent > 0 || m->floating) mor_inertia6_add_shifted(&work->factors[c->parent].inertia, &rest, l->r);
    }
    if (!m->floating) return true;
    const mor_inertia6* A = &work->factors[0].inertia;
    mor_mat3 a = mor_sym3_matrix(&A->A), d = mor_sym3_matrix(&A->D);
    double full[36];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            full[6 * i + j] = a.m[i][j];
            full[6 * i + j + 3] = A->B.m[i][j];
            full[6 * (j + 3) + i] = A->B.m[i][j];
            full[6 * (i + 3) + j + 3] = d.m[i][j];
        }
    if (!mor_cholesky6(full, work->base_L)) return false;
    for (int i = 0; i < 6; i++) /* a massless base on a joint leaves rounding */
        if (!(work->base_L[7 * i] * work->base_L[7 * i] > 1e-14 * full[7 * i])) return false;
    return true;
}

/* Solves with the factor: link forces (f, n) in the work space are what the links need beyond f_joint;
 * `bias` adds the velocity products of the joints; a0 is the acceleration of a fixed base. */
static void sweep(const mor_robot_model* m, mor_robot_work* work, const double* joint_forces, bool bias, mor_vec3 a0,
                  double* x)
{
    mor_vec3 *a = work->a, *b = work->b, *f = work->f, *n = work->n;
    for (int i = m->link_count - 1; i > 0; i--) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &work->states[i];
        const mor_link_factor* F = &work->factors[i];
        double u = (joint_forces ? joint_forces[c->dof] : 0.0) - mor_dot(l->axis, c->prismatic ? f[i] : n[i]);
        work->u[i] = u;
        u *= F->inverse;
        mor_vec3 pf = mor_madd(f[i], u, F->Uf), pn = mor_madd(n[i], u, F->Un);
        if (bias) {
            mor_vec3 bf, bn;
            mor_inertia6_mul(&F->inertia, l->bias_v, l->bias_w, &bf, &bn);
            pf = mor_add(pf, bf);
            pn = mor_add(pn, bn);
        }
        f[c->parent] = mor_add(f[c->parent], pf);
        n[c->parent] = mor_add(n[c->parent], mor_add(pn, mor_cross(l->r, pf)));
    }
    a[0] = a0;
    b[0] = mor_v3(0, 0, 0);
    if (m->floating) {
        double y[6] = { -f[0].x, -f[0].y, -f[0].z, -n[0].x, -n[0].y, -n[0].z };
        for (int k = 0; joint_forces && k < 6; k++) y[k] += joint_forces[k];
        mor_cholesky6_solve(work->base_L, y);
        a[0] = mor_v3(y[0], y[1], y[2]);
        b[0] = mor_v3(y[3], y[4], y[5]);
    }
    for (int i = 1; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &work->states[i];
        const mor_link_factor* F = &work->factors[i];
        a[i] = mor_add(a[c->parent], mor_cross(b[c->parent], l->r));
        b[i] = b[c->parent];
        if (bias) {
            a[i] = mor_add(a[i], l->bias_v);
            b[i] = mor_add(b[i], l->bias_w);
        }
        double qdd = F->inverse * (work->u[i] - mor_dot(F->Uf, a[i]) - mor_dot(F->Un, b[i]));
        if (c->prismatic) a[i] = mor_madd(a[i], qdd, l->axis);
        else b[i] = mor_madd(b[i], qdd, l->axis);
        x[c->dof] = qdd;
    }
    if (m->floating) memcpy(x, (double[6]){ a[0].x, a[0].y, a[0].z, b[0].x, b[0].y, b[0].z }, 6 * sizeof(double));
}

/* With a reflected inertia matrix: M dense, Cholesky. */
static bool forward_dense(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* f,
                          const double* wrenches, const double* extra, double* nudot)
{
    int N = m->dof, offset = mor_robot_offset(m);
    mor_robot_inverse_dynamics(m, work, gravity, NULL, wrenches, work->vector);
    mor_robot_mass_matrix(m, work, work->dense);
    for (int j = 0; extra && j < m->joint_count; j++) work->dense[(offset + j) * (N + 1)] += extra[j];
    if (!mor_cholesky_factor(N, work->dense)) return false;
    for (int k = 0; k < N; k++) nudot[k] = (f ? f[k] : 0.0) - work->vector[k];
    mor_cholesky_solve(N, work->dense, nudot);
    return true;
}

bool mor_robot_forward_with(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* forces,
                            const double* wrenches, const double* extra, double* nudot)
{
    if (m->coupling) return forward_dense(m, work, gravity, forces, wrenches, extra, nudot);
    if (!factor(m, work, extra)) return false;
    mor_vec3 *f = work->f, *n = work->n;
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        const mor_rigid* B = &l->body;
        mor_vec3 wc = mor_cross(l->w, B->c), Iw = mor_sym3_mul(&B->I, l->w);
        f[i] = mor_cross(l->w, wc);
        n[i] = mor_cross(l->w, Iw);
        if (wrenches) {
            const double* x = wrenches + 6 * i;
            f[i] = mor_sub(f[i], mor_v3(x[0], x[1], x[2]));
            n[i] = mor_sub(n[i], mor_v3(x[3], x[4], x[5]));
        }
    }
    /* gravity as an acceleration of the frame: the base's answer is relative to free fall */
    sweep(m, work, forces, true, mor_neg(gravity), nudot);
    if (m->floating) nudot[0] += gravity.x, nudot[1] += gravity.y, nudot[2] += gravity.z;
    double sum = 0.0;
    for (int k = 0; k < m->dof; k++) sum += nudot[k];
    return isfinite(sum);
}

bool mor_robot_forward_dynamics(const mor_robot_model* m, mor_robot_work* work, mor_vec3 gravity, const double* f,
                                const double* wrenches, double* nudot)
{
    return mor_robot_forward_with(m, work, gravity, f, wrenches, NULL, nudot);
}

bool mor_robot_prepare_solve(const mor_robot_model* m, mor_robot_work* work, const double* extra)
{
    if (!m->coupling) return factor(m, work, extra);
    int N = m->dof, offset = mor_robot_offset(m);
    mor_robot_mass_matrix(m, work, work->dense);
    for (int j = 0; extra && j < m->joint_count; j++) work->dense[(offset + j) * (N + 1)] += extra[j];
    return mor_cholesky_factor(N, work->dense);
}

void mor_robot_solve(const mor_robot_model* m, mor_robot_work* work, const double* f, double* x)
{
    if (m->coupling) {
        if (x != f) memcpy(x, f, (size_t)m->dof * sizeof *x);
        mor_cholesky_solve(m->dof, work->dense, x);
        return;
    }
    memset(work->f, 0, 2 * (size_t)m->link_count * sizeof *work->f); /* n follows f */
    if (x == f) {
        memcpy(work->vector, f, (size_t)m->dof * sizeof *f);
        f = work->vector;
    }
    sweep(m, work, f, false, mor_v3(0, 0, 0), x);
}
