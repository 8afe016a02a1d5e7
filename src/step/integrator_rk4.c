/* The classical Runge-Kutta method in the chart of motion.c:
 *
 *     y = (xi, nu),  xi' = dexp^-1_xi nu,  nu' = M^-1 (rhs + G lambda),  d/dt(G' nu) = 0
 *
 * Equations are differentiated twice (index 1) and the end is put back on phi = 0, G' nu = 0. Explicit: order 4, no
 * iteration, gains or loses energy at order 5 in h a step; stiff springs need h below 2.8/omega, 2.8 m/c.
 *
 * W. Kutta (1901); H. Munthe-Kaas (1998), "Runge-Kutta methods on Lie groups", BIT 38, 92-111, for the chart. */
#include "step/smooth.h"

#include <stdio.h>
#include <string.h>

static bool advance(mor_smooth* m, double h)
{
    static const double at[4] = { 0.0, 0.5, 0.5, 1.0 }, weight[4] = { 1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6 };
    size_t mark = mor_arena_mark(m->arena), n = (size_t)m->dof * sizeof(double);
    double *xi = mor_smooth_vector(m, m->dof), *nu = mor_smooth_vector(m, m->dof), *a = mor_smooth_vector(m, m->dof),
           *u = mor_smooth_vector(m, m->dof);
    double *end = mor_smooth_vector(m, m->dof), *speed = mor_smooth_vector(m, m->dof),
           *lambda = mor_smooth_vector(m, m->row_count), *impulse = mor_smooth_vector(m, m->row_count);
    bool ok = xi && nu && a && u && end && speed && lambda && impulse;
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok) memcpy(speed, m->nu, n);
    for (int i = 0; i < 4 && ok; i++) { /* a and u hold the slopes of the stage before */
        for (int k = 0; k < m->dof; k++) {
            xi[k] = h * at[i] * u[k];
            nu[k] = m->nu[k] + h * at[i] * a[k];
        }
        ok = mor_smooth_accelerate(m, m->q, xi, nu, a, lambda);
        memcpy(u, nu, n);
        mor_smooth_chart(m, xi, u);
        for (int k = 0; k < m->dof; k++) {
            end[k] += h * weight[i] * u[k];
            speed[k] += h * weight[i] * a[k];
        }
        for (int k = 0; k < m->equation_count; k++) impulse[k] += h * weight[i] * lambda[k];
    }
    ok = ok && mor_smooth_finish(m, end, speed, MOR_END_VELOCITY, impulse);
    if (!ok) snprintf(m->detail, sizeof m->detail, "a step of %.3g s does not end on the joints or is not finite", h);
    m->iterations++;
    mor_arena_release(m->arena, mark);
    return ok;
}

const mor_integrator mor_integrator_rk4 = { "rk4",
                                            "classical Runge-Kutta; equations twice differentiated, ends projected",
                                            "kutta1901", 4, advance };
