/* Gauss collocation with s stages, order 2s, in the variables of motion.c.
 *
 *     Xi_i = h sum_j a_ij dexp^-1_Xi_j V_j,     Q_i = q_0 (+) Xi_i
 *     M(Q_i) V_i = p_0 + h sum_j a_ij (f(Q_j, V_j) + G_j lambda_j)
 *     G(Q_i)' V_i = 0
 *
 * and the same sums with b_j at the end, where q is put back on phi = 0 and p on G' M^-1 p = 0: the projected method,
 * which keeps order 2s with equations (index 2). Trees on a fixed base: (s, p) are canonical, so the method is symplectic
 * without equations. Bodies and floating bases: momentum is the variable, so linear and angular momentum, a
 * quadratic invariant, are kept to rounding.
 *
 * Solved by sweeps over the stages, in each M x = r + G y with the newest forces, and lambda <- lambda + A^-1 y/h: a
 * contraction of order h |nu|, to rounding. Springs and dampers are inside the matrix with a_ii lumped to g (1/2 for one
 * stage: exact; 1/5 for three, where the stiff limit still contracts for dampers). Not contracting: false, and the
 * caller halves the step.
 *
 * Cost: s O(links) (and one sparse factor of W) a sweep; 6 to 12 sweeps.
 *
 * E. Hairer, C. Lubich, G. Wanner (2006), Geometric Numerical Integration, sec. II.1.3, IV.2, VIII.6; U. M. Ascher,
 * L. R. Petzold, "Projected implicit Runge-Kutta methods for differential-algebraic equations", SIAM J. Numer. Anal. 28
 * (1991) 1097-1120. */
#include "step/smooth.h"

#include <stdio.h>
#include <string.h>

enum { STAGES = 3, SWEEPS = 60 };

typedef struct tableau {
    double A[STAGES][STAGES], inverse[STAGES][STAGES], b[STAGES], lumped;
} tableau;

static tableau gauss(int stages)
{
    if (stages == 1) return (tableau){ .A = { { 0.5 } }, .inverse = { { 2.0 } }, .b = { 1.0 }, .lumped = 0.5 };
    double r = sqrt(15.0);
    tableau t = { .A = { { 5.0 / 36.0, 2.0 / 9.0 - r / 15.0, 5.0 / 36.0 - r / 30.0 },
                         { 5.0 / 36.0 + r / 24.0, 2.0 / 9.0, 5.0 / 36.0 - r / 24.0 },
                         { 5.0 / 36.0 + r / 30.0, 2.0 / 9.0 + r / 15.0, 5.0 / 36.0 } },
                  .b = { 5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0 },
                  .lumped = 0.2 };
    mor_mat3 A;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.m[i][j] = t.A[i][j];
    mor_mat3 inverse = mor_mat3_inverse(&A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) t.inverse[i][j] = inverse.m[i][j];
    return t;
}

typedef struct stage {
    double *V, *U, *f, *lambda, *y;
    mor_smooth_rows rows;
} stage;

static bool prepare(const mor_smooth* m, stage* s)
{
    s->V = mor_smooth_vector(m, m->dof);
    s->U = mor_smooth_vector(m, m->dof);
    s->f = mor_smooth_vector(m, m->dof);
    s->lambda = mor_smooth_vector(m, m->row_count);
    s->y = mor_smooth_vector(m, m->row_count);
    return s->V && s->U && s->f && s->lambda && s->y && mor_smooth_rows_alloc(m, &s->rows);
}

/* One stage: forces at the newest values, then the correction of its velocity. Returns its size, NAN when lost. */
static double sweep(mor_smooth* m, const tableau* t, int stages, stage* s, int i, double h, const double* p0, double* xi, double* r, double* x, double* rate)
{
    memset(xi, 0, (size_t)m->dof * sizeof *xi);
    for (int j = 0; j < stages; j++)
        for (int k = 0; k < m->dof; k++) xi[k] += h * t->A[i][j] * s[j].U[k];
    mor_smooth_place(m, m->q, xi, s[i].V);
    if (m->row_count) mor_smooth_rows_now(m, &s[i].rows);
    mor_smooth_momentum(m, &s[i].rows, s[i].V, r, s[i].f); /* r = M V for now */
    mor_smooth_add(m, &s[i].rows, s[i].lambda, s[i].f);
    for (int k = 0; k < m->dof; k++) {
        double sum = p0[k];
        for (int j = 0; j < stages; j++) sum += h * t->A[i][j] * s[j].f[k];
        r[k] = sum - r[k];
    }
    if (m->row_count) mor_smooth_rates(m, &s[i].rows, s[i].V, rate);
    for (int k = 0; k < m->equation_count; k++) rate[k] = -rate[k];
    if (!mor_smooth_solve(m, &s[i].rows, t->lumped * h, r, rate, x, s[i].y)) return NAN;
    double size = 0.0;
    for (int k = 0; k < m->dof; k++) {
        s[i].V[k] += x[k];
        s[i].U[k] = s[i].V[k];
        size = fmax(size, fabs(x[k]));
    }
    mor_smooth_chart(m, xi, s[i].U);
    return size;
}

/* lambda += A^-1 y/h, and what that changes of the forces. */
static void update_multipliers(const mor_smooth* m, const tableau* t, int stages, stage* s, double h, double* change)
{
    for (int i = 0; i < stages && m->equation_count; i++) {
        for (int k = 0; k < m->equation_count; k++) {
            change[k] = 0.0;
            for (int j = 0; j < stages; j++) change[k] += t->inverse[i][j] * s[j].y[k] / h;
            s[i].lambda[k] += change[k];
        }
        mor_smooth_add(m, &s[i].rows, change, s[i].f);
    }
}

bool mor_collocate(mor_smooth* m, double h, int stages)
{
    size_t mark = mor_arena_mark(m->arena);
    tableau t = gauss(stages);
    stage s[STAGES] = { 0 };
    double *p0 = mor_smooth_vector(m, m->dof), *xi = mor_smooth_vector(m, m->dof), *r = mor_smooth_vector(m, m->dof);
    double *x = mor_smooth_vector(m, m->dof), *rate = mor_smooth_vector(m, m->row_count);
    bool ok = p0 && xi && r && x && rate;
    for (int i = 0; i < stages; i++) ok = ok && prepare(m, &s[i]);
    if (!ok) m->w->out_of_memory = true;
    if (ok) {
        mor_smooth_place(m, m->q, NULL, m->nu);
        if (m->row_count) mor_smooth_rows_now(m, &s[0].rows);
        mor_smooth_momentum(m, &s[0].rows, m->nu, p0, s[0].f);
        for (int i = 0; i < stages; i++) {
            memcpy(s[i].V, m->nu, (size_t)m->dof * sizeof(double));
            memcpy(s[i].U, m->nu, (size_t)m->dof * sizeof(double));
            if (i) memcpy(s[i].f, s[0].f, (size_t)m->dof * sizeof(double));
        }
    }
    double before = INFINITY;
    int slow = 0, sweeps = 0;
    bool done = false;
    while (ok && !done) {
        double size = 0.0, fastest = 1e-300;
        for (int i = 0; i < stages && ok; i++) {
            double one = sweep(m, &t, stages, s, i, h, p0, xi, r, x, rate);
            ok = isfinite(one);
            size = fmax(size, one);
            for (int k = 0; k < m->dof; k++) fastest = fmax(fastest, fabs(s[i].V[k]));
        }
        if (!ok) break;
        update_multipliers(m, &t, stages, s, h, rate);
        sweeps++;
        done = size <= 4e-16 * fastest || (size <= 1e-10 * fastest && size > 0.5 * before);
        slow = size > 0.8 * before ? slow + 1 : 0;
        before = size;
        if (!done && (slow >= 4 || sweeps == SWEEPS)) ok = false;
    }
    m->iterations += sweeps;
    if (ok) {
        memset(xi, 0, (size_t)m->dof * sizeof *xi);
        memset(rate, 0, (size_t)m->row_count * sizeof *rate);
        for (int j = 0; j < stages; j++) {
            for (int k = 0; k < m->dof; k++) {
                xi[k] += h * t.b[j] * s[j].U[k];
                p0[k] += h * t.b[j] * s[j].f[k];
            }
            for (int k = 0; k < m->equation_count; k++) rate[k] += h * t.b[j] * s[j].lambda[k];
        }
        ok = mor_smooth_finish(m, xi, p0, NULL, rate);
    }
    if (!ok) snprintf(m->detail, sizeof m->detail, "the stages of a step of %.3g s did not converge in %d sweeps", h, sweeps);
    mor_arena_release(m->arena, mark);
    return ok;
}
