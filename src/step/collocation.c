/* Gauss collocation with s stages, order 2s, in the variables of motion.c.
 *
 *     Xi_i = h sum_j a_ij dexp^-1_Xi_j V_j,     Q_i = q_0 (+) Xi_i
 *     y(Q_i, V_i) = y_0 + h sum_j a_ij (rate(Q_j, V_j) + G_j lambda_j),       G(Q_i)' V_i = 0
 *
 * y is the momentum of bodies and the velocity of robots: bodies keep linear and angular momentum (a quadratic
 * invariant) to rounding, and robots are spared M(q) nu, whose inversion loses as many digits as M has orders of
 * magnitude (8 in a chain of 100 links). The same sums with b_j at the end, where q is put back on phi = 0 and nu on G'
 * nu = 0: the projected method, which keeps order 2s with equations (index 2).
 *
 * Solved by sweeps over the stages, each with the newest rates: x = M^-1 (r + G z), G' (V + x) = 0, and lambda <-
 * lambda + A^-1 z/h: a contraction of order h |nu|, to rounding. Springs and dampers are inside the matrix with a_ii
 * lumped to g (1/2 for one stage: exact; 1/5 for three, where the stiff limit still contracts for dampers). Not
 * contracting: false, and the caller halves the step.
 *
 * Three stages also tell how far the accelerations are from straight, h |a_1 - 2 a_2 + a_3|/|nu| = O(h^3), of which the
 * local error is about the power 7/3: a step with more than `tol` is refused, and halved as well.
 *
 * Cost: s O(links) (and one sparse factor of W) a sweep; 6 to 10 sweeps.
 *
 * E. Hairer, C. Lubich, G. Wanner (2006), Geometric Numerical Integration, sec. II.1.3, IV.2, VIII.6; U. M. Ascher,
 * L. R. Petzold, "Projected implicit Runge-Kutta methods for differential-algebraic equations", SIAM J. Numer. Anal. 28
 * (1991) 1097-1120. */
#include "base/elementary.h"
#include "model/motion.h"
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
    double *V, *U, *f, *lambda, *z, *response;
    mor_smooth_rows rows;
} stage;

static bool prepare(const mor_smooth* m, stage* s)
{
    s->V = mor_smooth_vector(m, m->dof);
    s->U = mor_smooth_vector(m, m->dof);
    s->f = mor_smooth_vector(m, m->dof);
    s->lambda = mor_smooth_vector(m, m->row_count);
    s->z = mor_smooth_vector(m, m->row_count);
    s->response = mor_smooth_vector(m, m->coefficients);
    return s->V && s->U && s->f && s->lambda && s->z && s->response && mor_smooth_rows_alloc(m, &s->rows);
}

/* One stage: rates at the newest values, then the correction of its velocity. Returns its size, NAN when lost. */
static double sweep(mor_smooth* m, const tableau* t, int stages, stage* s, int i, double h, const double* y0,
                    double* xi, double* y, double* x, double* rate)
{
    memset(xi, 0, (size_t)m->dof * sizeof *xi);
    for (int j = 0; j < stages; j++)
        for (int k = 0; k < m->dof; k++) xi[k] += h * t->A[i][j] * s[j].U[k];
    mor_smooth_place(m, m->q, xi, s[i].V);
    if (m->row_count) mor_smooth_rows_now(m, &s[i].rows);
    if (!mor_smooth_rate(m, &s[i].rows, s[i].V, s[i].lambda, s[i].f)) return NAN;
    for (int k = 0; k < m->dof; k++) {
        y[k] = y0[k];
        for (int j = 0; j < stages; j++) y[k] += h * t->A[i][j] * s[j].f[k];
    }
    if (m->row_count) mor_smooth_rates(m, &s[i].rows, s[i].V, rate);
    for (int k = 0; k < m->equation_count; k++) rate[k] = -rate[k];
    if (!mor_smooth_correct(m, &s[i].rows, t->lumped * h, y, s[i].V, rate, x, s[i].z, s[i].response)) return NAN;
    double size = 0.0;
    for (int k = 0; k < m->dof; k++) {
        s[i].V[k] += x[k];
        s[i].U[k] = s[i].V[k];
        size = mor_max(size, fabs(x[k]));
    }
    mor_smooth_chart(m, xi, s[i].U);
    return size;
}

/* lambda += A^-1 z/h, and what that changes of the rates. */
static void update_multipliers(const mor_smooth* m, const tableau* t, int stages, stage* s, double h, double* change)
{
    for (int i = 0; i < stages && m->equation_count; i++) {
        for (int k = 0; k < m->equation_count; k++) {
            change[k] = 0.0;
            for (int j = 0; j < stages; j++) change[k] += t->inverse[i][j] * s[j].z[k] / h;
            s[i].lambda[k] += change[k];
        }
        mor_smooth_rate_add(m, &s[i].rows, s[i].response, change, s[i].f);
    }
}

/* h |a_1 - 2 a_2 + a_3| against the largest speed. */
static double curvature(const mor_smooth* m, const stage* s, double h, double* x)
{
    double bend = 0.0, fastest = 1e-300;
    for (int k = 0; k < m->dof; k++) x[k] = h * (s[0].f[k] - 2.0 * s[1].f[k] + s[2].f[k]);
    for (int t = 0; t < m->tree_count; t++) {
        const mor_tree* tree = &m->w->trees[m->trees[t]];
        if (tree->body >= 0) mor_motion_solve(m->w, tree, x + m->dof_of[t], x + m->dof_of[t]);
    }
    for (int k = 0; k < m->dof; k++) {
        bend = mor_max(bend, fabs(x[k]));
        for (int j = 0; j < 3; j++) fastest = mor_max(fastest, fabs(s[j].V[k]));
    }
    return bend / fastest;
}

bool mor_collocate(mor_smooth* m, double h, int stages)
{
    size_t mark = mor_arena_mark(m->arena), n = (size_t)m->dof * sizeof(double);
    tableau t = gauss(stages);
    stage s[STAGES] = { 0 };
    double *y0 = mor_smooth_vector(m, m->dof), *xi = mor_smooth_vector(m, m->dof), *y = mor_smooth_vector(m, m->dof);
    double *x = mor_smooth_vector(m, m->dof), *rate = mor_smooth_vector(m, m->row_count);
    bool ok = y0 && xi && y && x && rate;
    for (int i = 0; i < stages; i++) ok = ok && prepare(m, &s[i]);
    ok = ok && mor_smooth_find_dependent(m);
    if (!ok) m->w->out_of_memory = true;
    if (ok) {
        mor_smooth_place(m, m->q, NULL, m->nu);
        if (m->row_count) mor_smooth_rows_now(m, &s[0].rows);
        ok = mor_smooth_rate(m, &s[0].rows, m->nu, s[0].lambda, s[0].f);
        memcpy(y0, m->nu, n);
        for (int i = 0; i < m->tree_count; i++) {
            const mor_tree* tree = &m->w->trees[m->trees[i]];
            if (tree->body >= 0) mor_motion_momentum(m->w, tree, y0 + m->dof_of[i], x);
        }
        for (int i = 0; i < stages; i++) {
            memcpy(s[i].V, m->nu, n);
            memcpy(s[i].U, m->nu, n);
            if (i) memcpy(s[i].f, s[0].f, n);
        }
    }
    double before = INFINITY;
    int slow = 0, sweeps = 0;
    bool done = false;
    while (ok && !done) {
        double size = 0.0, fastest = 1e-300;
        for (int i = 0; i < stages && ok; i++) {
            double one = sweep(m, &t, stages, s, i, h, y0, xi, y, x, rate);
            ok = isfinite(one);
            size = mor_max(size, one);
            for (int k = 0; k < m->dof; k++) fastest = mor_max(fastest, fabs(s[i].V[k]));
        }
        if (!ok) break;
        update_multipliers(m, &t, stages, s, h, rate);
        sweeps++;
        done = size <= 1e-15 * fastest || (size <= 1e-11 * fastest && size > 0.3 * before);
        slow = size > 0.8 * before ? slow + 1 : 0;
        before = size;
        if (!done && (slow >= 4 || sweeps == SWEEPS)) ok = false;
    }
    m->iterations += sweeps;
    if (!ok)
        snprintf(m->detail, sizeof m->detail, "the stages of a step of %.3g s did not converge in %d sweeps", h,
                 sweeps);
    if (ok) {
        memset(xi, 0, n);
        memset(rate, 0, (size_t)m->row_count * sizeof *rate);
        for (int j = 0; j < stages; j++) {
            for (int k = 0; k < m->dof; k++) {
                xi[k] += h * t.b[j] * s[j].U[k];
                y0[k] += h * t.b[j] * s[j].f[k];
            }
            for (int k = 0; k < m->equation_count; k++) rate[k] += h * t.b[j] * s[j].lambda[k];
        }
        double bend = stages == 3 ? curvature(m, s, h, x) : 0.0, most = m->w->options.integrator_tolerance;
        ok = !(most > 0.0 && !(bend <= most)); /* also where it is not a number */
        if (!ok)
            snprintf(m->detail, sizeof m->detail, "the accelerations bend by %.3g in a step of %.3g s (tol %g)", bend,
                     h, most);
        else if (!(ok = mor_smooth_finish(m, xi, y0, MOR_END_MIXED, rate)))
            snprintf(m->detail, sizeof m->detail, "a step of %.3g s does not end on the joints", h);
    }
    m->dependent = NULL;
    mor_arena_release(m->arena, mark);
    return ok;
}
