/* The exact Coulomb cone as a nonlinear complementarity problem (MATH section 2).
 *
 *     M nu+ = M nu_free + G p,    u = G' nu+ + b,   b_n = psi/h + d(psi)/dt, b_f = d(psi_f)/dt
 *     K* contains u^ _|_ p in K = { |p_f| <= mu p_n },    u^ = u + mu |u_f| e_n         (De Saxce)
 *
 * in words: 0 <= p_n _|_ u_n >= 0, and friction opposes the slip with mu p_n, or holds without slip. The Newton-Euler
 * rows are eliminated (`mncp` keeps them). Gaps and restitution as in `st`, whose polygon this replaces: the answer
 * does not depend on how the tangents lie. With one tangent both are the same problem.
 *
 * The step is handed over in tree form; solvers that need W = G' M^-1 G get it by conversion.
 *
 * J. C. Trinkle, J.-S. Pang, S. Sudarsky, G. Lo (1997), On dynamic multi-rigid-body contact problems with Coulomb
 * friction; G. De Saxce, Z.-Q. Feng (1998), The bipotential method. */
#include "formulation/registry.h"
#include "formulation/step_problem.h"

static mor_report ncp_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    return mor_stewart_trinkle_solve(s, 0, stage, answer);
}

const mor_formulation mor_formulation_ncp = {
    .name = "ncp",
    .summary = "exact Coulomb cone, gaps in the velocity rows, Newton-Euler rows eliminated",
    .reference = "desaxce1998",
    .produces = MOR_STEP_CONE,
    .options_size = 0,
    .step = ncp_step,
    .impacts = true,
    .gaps = true,
    .turning = 2,
};
