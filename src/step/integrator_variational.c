/* The variational integrator of the midpoint Lagrangian
 *
 *     L_d(q_0, q_1) = h L(q_m, v),   q_1 = q_0 (+) h v,   q_m = q_0 (+) h v/2
 *
 * with equations as in RATTLE: from (q_0, p_0)
 *
 *     -D_1 L_d = p_0 + G(q_0) y,    phi(q_1) = 0,      p_1 = D_2 L_d + G(q_1) z,   G(q_1)' nu_1 = 0.
 *
 * Symplectic, symmetric, of order 2; as L_d does not change when everything is moved or turned, momentum and angular
 * momentum are kept to rounding (discrete Noether). For a rotation, theta = h omega, with mu = dL/domega and
 * g = dL/dR = f + mu x omega (f of motion.c is the rate of mu):
 *
 *     -D_1 L_d = dexp_theta^-1  (mu - h/2 dexp_(theta/2)  g)
 *      D_2 L_d = dexp_-theta^-1 (mu + h/2 dexp_(-theta/2) g);     other coordinates: mu -+ h/2 f.
 *
 * Applied forces and dampers enter f (Lagrange-d'Alembert). Solved for v and y by M x = r + G(q_0) y, G(q_0)' x =
 * -phi/h with M at the middle, to rounding.
 *
 * J. E. Marsden, M. West, "Discrete mechanics and variational integrators", Acta Numerica 10 (2001) 357-514;
 * H. C. Andersen (1983) for RATTLE. */
#include "model/motion.h"
#include "step/smooth.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 80 };

/* The terms of a rotation at p[0..2]; side 1: omega in world axes, R_1 = exp(theta) R_0; -1: in the axes of what turns,
 * R_1 = R_0 exp(theta), where all products change their sign. */
static void rotation_terms(double h, double sign, double side, const double* v, const double* mu, const double* f,
                           double* p)
{
    mor_vec3 w = mor_v3(v[0], v[1], v[2]), H = mor_v3(mu[0], mu[1], mu[2]);
    mor_vec3 g = mor_madd(mor_v3(f[0], f[1], f[2]), side, mor_cross(H, w)), theta = mor_scale(-sign * side * h, w);
    mor_vec3 x = mor_dexp_inverse(theta, mor_madd(H, sign * 0.5 * h, mor_dexp(mor_scale(0.5, theta), g)));
    p[0] = x.x, p[1] = x.y, p[2] = x.z;
}

/* p = mu -+ h/2 f with the terms of rotations; sign -1: -D_1 L_d, +1: D_2 L_d. */
static void discrete_momentum(const mor_smooth* m, double h, double sign, const double* v, const double* mu,
                              const double* f, double* p)
{
    for (int t = 0; t < m->tree_count; t++) {
        const mor_tree* tree = &m->w->trees[m->trees[t]];
        int at = m->dof_of[t], turn = mor_motion_turn(tree);
        for (int k = at; k < at + tree->dof; k++) p[k] = mu[k] + sign * 0.5 * h * f[k];
        if (turn >= 0) rotation_terms(h, sign, 1.0, v + at + turn, mu + at + turn, f + at + turn, p + at + turn);
        for (int k = mor_motion_ball(tree, 0); k >= 0; k = mor_motion_ball(tree, k + 3))
            rotation_terms(h, sign, -1.0, v + at + k, mu + at + k, f + at + k, p + at + k);
    }
}

static bool advance(mor_smooth* m, double h)
{
    size_t mark = mor_arena_mark(m->arena), n = (size_t)m->dof * sizeof(double);
    double *p0 = mor_smooth_vector(m, m->dof), *v = mor_smooth_vector(m, m->dof), *mu = mor_smooth_vector(m, m->dof),
           *f = mor_smooth_vector(m, m->dof);
    double *xi = mor_smooth_vector(m, m->dof), *p = mor_smooth_vector(m, m->dof), *x = mor_smooth_vector(m, m->dof);
    double *y = mor_smooth_vector(m, m->row_count), *dy = mor_smooth_vector(m, m->row_count),
           *s = mor_smooth_vector(m, m->row_count);
    mor_smooth_rows start = { 0 }, middle = { 0 };
    bool ok = p0 && v && mu && f && xi && p && x && y && dy && s && mor_smooth_rows_alloc(m, &start) &&
              mor_smooth_rows_alloc(m, &middle);
    if (!ok) *m->code = MOR_SYSTEM;
    ok = ok && mor_smooth_find_dependent(m);
    if (ok) {
        mor_smooth_place(m, m->q, NULL, m->nu);
        if (m->row_count) mor_smooth_rows_now(m, &start);
        mor_smooth_momentum(m, NULL, m->nu, p0, f);
        memcpy(v, m->nu, n);
    }
    double before = INFINITY;
    int slow = 0, rounds = 0;
    bool done = false;
    while (ok && !done) {
        if (m->equation_count) { /* how far the end of the step is from the equations */
            for (int k = 0; k < m->dof; k++) xi[k] = h * v[k];
            mor_smooth_place(m, m->q, xi, v);
            mor_smooth_rows_now(m, &middle);
            for (int k = 0; k < m->equation_count; k++) s[k] = -middle.phi[k] / h;
        }
        for (int k = 0; k < m->dof; k++) xi[k] = 0.5 * h * v[k];
        mor_smooth_place(m, m->q, xi, v);
        if (m->row_count) mor_smooth_rows_now(m, &middle);
        mor_smooth_momentum(m, &middle, v, mu, f);
        discrete_momentum(m, h, -1.0, v, mu, f, p);
        for (int k = 0; k < m->dof; k++) p[k] = p0[k] - p[k];
        mor_smooth_add(m, &start, y, p);
        if (m->row_count > m->equation_count) /* springs act where the middle is */
            memcpy(start.jacobian + m->entries[m->blocks[m->equation_blocks].entry].start,
                   middle.jacobian + m->entries[m->blocks[m->equation_blocks].entry].start,
                   (size_t)(m->coefficients - m->entries[m->blocks[m->equation_blocks].entry].start) * sizeof(double));
        ok = mor_smooth_solve(m, &start, 0.5 * h, p, s, x, dy);
        /* in the energy: long chains of links have soft velocities full of rounding */
        double size = 0.0, fastest = 0.0;
        for (int k = 0; k < m->dof; k++) {
            v[k] += x[k];
            size += x[k] * p[k];
            fastest += v[k] * mu[k];
        }
        for (int k = 0; k < m->equation_count; k++) size += s[k] * dy[k];
        size = sqrt(fabs(size));
        fastest = sqrt(fabs(fastest)) + 1e-300;
        for (int k = 0; k < m->equation_count; k++) y[k] += dy[k];
        rounds++;
        done = size <= 4e-16 * fastest || (size <= 1e-10 * fastest && size > 0.5 * before);
        slow = size > 0.8 * before ? slow + 1 : 0;
        before = size;
        if (!done && (slow >= 4 || rounds == ROUNDS)) ok = false;
    }
    m->iterations += rounds;
    if (ok) { /* mu and f are those of the last v but for rounding */
        discrete_momentum(m, h, 1.0, v, mu, f, p);
        for (int k = 0; k < m->dof; k++) xi[k] = h * v[k];
        for (int k = 0; k < m->equation_count; k++) y[k] *= 2.0; /* half of the step's impulse acts at its end */
        ok = mor_smooth_finish(m, xi, p, MOR_END_MOMENTUM, y);
    }
    if (!ok) snprintf(m->detail, sizeof m->detail, "a step of %.3g s did not converge in %d rounds", h, rounds);
    m->dependent = NULL;
    mor_arena_release(m->arena, mark);
    return ok;
}

const mor_integrator mor_integrator_variational = {
    "variational", "midpoint Lagrangian, equations as in RATTLE: symplectic, keeps momentum", "marsden2001", 2, advance
};
