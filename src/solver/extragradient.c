/* Extragradient with a self-adaptive step: a projection method that never diverges.
 *
 * Problem: the variational inequality of cone_system.h, F(r) = u^(r) = W r + q + mu |u_T| e_n. One iteration:
 *
 *     predict   s = P_K(r - rho d F(r))         correct   r <- P_K(r - rho d F(s))
 *
 * with d_c the weight of contact c. The prediction is accepted when ratio = rho |F(r) - F(s)| / |r - s| <= L (0.9;
 * norms in the metric of d), else rho <- 2/3 rho min(1, 1/ratio) and it is repeated; ratio < 0.3 lets rho grow by 3/2
 * afterwards. For a monotone F (frictionless, the convex relaxation) the distance to the solution falls in every
 * iteration; with friction F is not monotone, but r stays bounded by the same test. Slow (linear, a rate like
 * 1/condition), cheap: two products with W and two projections, no factorisation, redundant contacts and unsymmetric W
 * do no harm. STEP problems are solved without forming W.
 *
 * Stops when the judge is content: asked every `judge_every` iterations.
 *
 * G. M. Korpelevich (1976), The extragradient method; E. N. Khobotov (1987), Modification of the extra-gradient method;
 * D. Han, H. K. Lo (2002), Two new self-adaptive projection methods for variational inequality problems; Acary,
 * Bremond, Huber (2018). */
#include "base/elementary.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

typedef struct extragradient_options {
    double accept, slow, shrink;
    int judge_every;
} extragradient_options;

static const mor_field extragradient_fields[] = {
    { "accept", MOR_TYPE_DOUBLE, offsetof(extragradient_options, accept), 0.9, 0.01, 0.999, NULL, "",
      "L: largest ratio of a prediction that is kept" },
    { "slow", MOR_TYPE_DOUBLE, offsetof(extragradient_options, slow), 0.3, 0, 0.9, NULL, "",
      "below this ratio the step grows" },
    { "shrink", MOR_TYPE_DOUBLE, offsetof(extragradient_options, shrink), 0.66666666666666663, 0.1, 0.99, NULL, "",
      "factor of a step that is too long; its inverse for one too short" },
    { "judge_every", MOR_TYPE_INT, offsetof(extragradient_options, judge_every), 10, 1, 100000, NULL, "",
      "iterations between tests" },
    { 0 }
};

/* out = P_K(r - rho d F) */
static void advance(const mor_cone_system* s, const double* r, double rho, const double* F, double* out)
{
    for (int i = 0; i < s->n; i++) out[i] = r[i] - rho * s->weight[i] * F[i];
    mor_cone_system_project(s, out);
}

static mor_report extragradient_solve(const mor_problem* problem, const void* options, mor_context* context, double* r)
{
    const extragradient_options* o = options;
    mor_cone_system s;
    const char* why;
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    double* memory = mor_arena_alloc(context->arena, 5 * (size_t)s.n * sizeof *memory);
    if (!memory) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *F = memory, *G = F + s.n, *p = G + s.n, *dF = p + s.n, *dr = dF + s.n, rho = 1.0;
    if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    for (int k = 1; k <= context->max_iter; k++) {
        mor_cone_system_velocity(&s, r, F);
        mor_cone_system_hat(&s, F, F);
        double ratio = 0.0;
        for (int inner = 0; inner < 60; inner++) {
            advance(&s, r, rho, F, p);
            mor_cone_system_velocity(&s, p, G);
            mor_cone_system_hat(&s, G, G);
            for (int i = 0; i < s.n; i++) dF[i] = F[i] - G[i], dr[i] = r[i] - p[i];
            double moved = mor_cone_system_norm(&s, dr, -1);
            ratio = moved > 0.0 ? rho * mor_cone_system_norm(&s, dF, 1) / moved : 0.0;
            if (!isfinite(ratio)) return mor_ended(MOR_NUMERICAL, k, "not a number");
            if (ratio <= o->accept) break;
            rho *= o->shrink * mor_min(1.0, 1.0 / ratio);
        }
        advance(&s, r, rho, G, r);
        mor_trace_add(context, k, rho, r);
        if (ratio < o->slow) rho /= o->shrink;
        if (rho > 1e12) rho = 1e12;
        if (k % o->judge_every == 0) {
            if (mor_cone_system_runaway(&s, r, context->tol))
                return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
            if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

const mor_solver mor_solver_extragradient = {
    .name = "extragradient",
    .summary = "extragradient projections with a self-adaptive step: slow, never diverges",
    .reference = "acary2018",
    .accepts = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_STEP_CONE | MOR_CQP,
    .options_size = sizeof(extragradient_options),
    .fields = extragradient_fields,
    .max_iter = 1000000,
    .solve = extragradient_solve,
};
