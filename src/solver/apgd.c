/* Accelerated projected gradient descent for the convex contact model.
 *
 * Problem: CQP, minimise f(r) = 1/2 r'A r + b'r over the friction cones, A symmetric positive semidefinite. Nesterov's
 * scheme in the metric of d_c = 3/trace A_cc (cone_system.h), g = A y + b:
 *
 *     r+ = P_K(y - d g/L);  while f(r+) > f(y) + g'(r+ - y) + L/2 |r+ - y|^2: L <- 2 L
 *     theta+ = (-theta^2 + theta sqrt(theta^2 + 4))/2,   beta = theta (1 - theta)/(theta^2 + theta+)
 *     y = r+ + beta (r+ - r);   if g'(r+ - r) > 0: y = r+, theta = 1 (restart);   L <- 0.9 L
 *
 * (the restart's sum is compared with its terms: near the end its sign is rounding, and restarts at random would leave
 * plain gradient steps)
 *
 * The error falls like 1/k^2, linearly with restarts on the active faces. One product with A per iteration (A r+ is
 * carried along, A y is a combination), one more for every doubling of L. An unsymmetric A is refused: f would not be
 * its potential. Coulomb problems are not taken: use formulation `convex`, which says what the relaxation costs.
 *
 * H. Mazhar, T. Heyn, D. Negrut, A. Tasora (2015), Using Nesterov's method to accelerate multibody dynamics with
 * friction and contact, algorithm 1; B. O'Donoghue, E. Candes (2015), Adaptive restart for accelerated gradient
 * schemes. */
#include "base/elementary.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

#define UPHILL 1e-3 /* of the sum of its terms: smaller slopes are none */

/* A x = A' x for a random x: any unsymmetric entry shows with probability one, and an operator's worth of work suffices
 * */
static bool symmetric(const mor_matrix* A, double* x, double* y, double* z)
{
    mor_rng rng = { 7 };
    double difference = 0.0, size = 0.0;
    for (int i = 0; i < A->rows; i++) x[i] = mor_rng_uniform(&rng) - 0.5;
    mor_matrix_apply(A, x, y);
    mor_matrix_apply_transposed(A, x, z);
    for (int i = 0; i < A->rows; i++)
        difference = mor_max(difference, fabs(y[i] - z[i])), size = mor_max(size, fabs(y[i]));
    return difference <= 1e-10 * size;
}

static mor_report apgd_solve(const mor_problem* problem, const void* options, mor_context* context, double* r)
{
    (void)options;
    mor_cone_system s;
    const char* why;
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    int n = s.n;
    double* memory = mor_arena_alloc(context->arena, 5 * (size_t)n * sizeof *memory);
    if (!memory) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *u = memory, *y = u + n, *g = y + n, *next = g + n, *v = next + n, L = 1.0, theta = 1.0;
    if (!symmetric(&problem->A, y, g, v)) return mor_ended(MOR_REFUSED, 0, "the matrix is not symmetric");
    if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    mor_cone_system_project(&s, r);
    mor_cone_system_velocity(&s, r, u); /* u = A r + b, g = A y + b, v = A next + b */
    memcpy(y, r, (size_t)n * sizeof *y);
    memcpy(g, u, (size_t)n * sizeof *g);
    for (int k = 1; k <= context->max_iter; k++) {
        for (int tries = 0; tries < 100; tries++) {
            double gap = 0.0, distance = 0.0;
            for (int i = 0; i < n; i++) next[i] = y[i] - s.weight[i] / L * g[i];
            mor_cone_system_project(&s, next);
            mor_cone_system_velocity(&s, next, v);
            /* f(next) - f(y) - g'(next - y) = 1/2 (next - y)'(v - g) */
            for (int i = 0; i < n; i++) {
                double d = next[i] - y[i];
                gap += d * (v[i] - g[i]);
                distance += d * d / s.weight[i];
            }
            if (!isfinite(gap)) return mor_ended(MOR_NUMERICAL, k, "not a number");
            if (gap <= L * distance * (1.0 + 1e-12)) break;
            L *= 2.0;
        }
        double t = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta),
               beta = theta * (1.0 - theta) / (theta * theta + t), slope = 0.0, size = 0.0;
        for (int i = 0; i < n; i++) {
            double part = g[i] * (next[i] - r[i]);
            slope += part, size += fabs(part);
        }
        theta = t;
        if (slope > UPHILL * size) beta = 0.0, theta = 1.0;
        for (int i = 0; i < n; i++) {
            y[i] = next[i] + beta * (next[i] - r[i]);
            g[i] = v[i] + beta * (v[i] - u[i]);
            r[i] = next[i], u[i] = v[i];
        }
        L *= 0.9;
        mor_trace_add(context, k, 1.0 / L, r);
        if (k % 5 == 0) {
            if (mor_cone_system_runaway(&s, r, context->tol))
                return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
            if (context->error(context, r, u) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

const mor_solver mor_solver_apgd = {
    .name = "apgd",
    .summary = "accelerated projected gradient for the convex contact model",
    .reference = "mazhar2015",
    .accepts = MOR_CQP,
    .options_size = 0,
    .max_iter = 200000,
    .solve = apgd_solve,
};
