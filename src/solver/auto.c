/* auto: chooses a method by the form, size and structure of the problem and by what the methods do on it. The only
 * place where methods are combined; report.detail says what was done, as method(iterations).
 *
 * The order is in the tables below, one for each kind of problem, one line for each stage (auto.h says what the columns
 * mean). Stages are skipped that do not apply to the problem; the run ends when one of them solves it, when the time is
 * over, or when there is a proof that it has no solution. On steps, sweeps and Newton steps are compared by their
 * costs, counted from the structure (auto_costs.c), and by the rate of the sweeps.
 *
 *   contacts   FC2D, FC3D, FC_ROLLING (global problems arrive reduced): the trivial answer, sweeps, Newton's method
 *   with
 *              several maps and regularisations, proximal points
 *   pairs      LCP: principal pivots of a handful, Lemke up to 320 rows, Newton, proximal points, Lemke
 *   mixed      MLCP: principal pivots of a handful, else the equations are eliminated and the rest is pairs
 *   cones      STEP with circular cones: the last step's states and impulses (up to 30 rows those of the velocities
 *              without impulses, if nothing acted before), with robots nsn on the few rows, Newton from there, up to
 *              200 rows the proof that they contradict each other, sweeps, interior point (round the folds of its path
 *              too) and Newton on tree velocities, nsn and ppa on the reduced problem, up to 200 rows the answer of a
 *              polygon as a start, sweeps to the end
 *   pyramids   STEP with polygons: likewise, with lemke (up to 30 rows early) and fischer-newton on the LCP
 *   quadratic  QP: the exact method first
 *   conic      CQP: Newton's method, interior point, splitting
 *
 * The best answer seen by the judge is returned, with its honest status. iterations: sum over all stages. */
#include "solver/auto.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/ip_tree.h"
#include "solver/state_guess.h"

extern const mor_solver mor_solver_nsn, mor_solver_ppa, mor_solver_fischer_newton;
extern const mor_solver mor_solver_qp_active_set, mor_solver_qp_interior_point;
extern const mor_solver mor_solver_convex_newton, mor_solver_interior_point, mor_solver_admm;

/* ------------------------------------------------------------------------ what stages share */

void mor_auto_note(mor_auto* R, const char* what, int iterations)
{
    char digits[12], *text = R->report.detail; /* by hand: printing would cost a small problem a fifth of its time */
    size_t used = strlen(text), length = strlen(what);
    int count = 0, rest = iterations;
    R->report.iterations += iterations;
    if (used + length + sizeof digits + 4 > sizeof R->report.detail) return;
    if (used) text[used++] = ' ';
    memcpy(text + used, what, length);
    used += length;
    text[used++] = '(';
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    while (count > 0) text[used++] = digits[--count];
    text[used++] = ')';
    text[used] = '\0';
}

mor_context* mor_auto_limits(mor_auto* R, double share, int max_iter)
{
    R->stage = *R->context;
    R->stage.max_iter = max_iter;
    R->stage.warm = false;
    if (R->context->deadline > 0.0)
        R->stage.deadline = R->context->start + share * (R->context->deadline - R->context->start);
    return &R->stage;
}

void mor_auto_settle(mor_auto* R)
{
    double shift = R->stage.start - R->context->start;
    R->context->start += shift;
    if (R->context->deadline > 0.0) R->context->deadline += shift;
    R->late = mor_out_of_time(R->context);
}

double mor_auto_keep(mor_auto* R, const double* z, bool always)
{
    double error = R->context->error(R->context, z, NULL);
    if (error < R->best || (always && isinf(R->best))) {
        R->best = error;
        memcpy(R->z, z, (size_t)R->problem->size * sizeof *z);
    }
    return error;
}

/* ------------------------------------------------------------------ stages for several forms */

/* The Newton kernel, opened by the first stage that wants it. */
static mor_contact_newton* open_newton(mor_auto* R)
{
    if (R->newton_state == MOR_AUTO_CLOSED) {
        size_t bytes = (size_t)R->problem->size * sizeof *R->newton_answer;
        R->newton_answer = mor_arena_take(R->context->arena, bytes);
        bool open =
            R->newton_answer && mor_contact_newton_open(&R->newton, R->problem, R->newton_answer, R->context->arena);
        R->newton_state = open ? MOR_AUTO_OPEN : MOR_AUTO_FAILED;
    }
    return R->newton_state == MOR_AUTO_OPEN ? &R->newton : NULL;
}

static bool close_newton_stage(mor_auto* R, mor_newton_end end, const char* name, int iterations)
{
    mor_auto_settle(R);
    mor_auto_note(R, name, iterations);
    if (R->newton.best < R->best || isinf(R->best)) {
        R->best = R->newton.best;
        memcpy(R->z, R->newton_answer, (size_t)R->problem->size * sizeof *R->z);
    }
    return end == MOR_NEWTON_SOLVED;
}

static bool newton(mor_auto* R, const mor_auto_stage* stage)
{
    mor_contact_newton* N = open_newton(R);
    if (!N) return false;
    int before = N->iterations;
    mor_contact_newton_start(N, stage->goes_on ? R->work : NULL);
    mor_context* c = mor_auto_limits(R, stage->share, stage->newton.max_iter);
    mor_newton_end end = mor_contact_newton_run(N, &stage->newton, c);
    return close_newton_stage(R, end, stage->name, N->iterations - before);
}

static bool proximal(mor_auto* R, const mor_auto_stage* stage)
{
    mor_contact_newton* N = open_newton(R);
    if (!N) return false;
    int outer = 0, before = N->iterations;
    mor_contact_newton_start(N, NULL);
    mor_context* c = mor_auto_limits(R, stage->share, stage->proximal.inner_total);
    mor_newton_end end = mor_proximal_run(N, &stage->proximal, c, &outer);
    return close_newton_stage(R, end, stage->name, N->iterations - before);
}

static bool lemke(mor_auto* R, const mor_auto_stage* stage)
{
    double* z = mor_arena_take(R->context->arena, (size_t)R->problem->size * sizeof *z);
    if (!z) return false;
    mor_context* c = mor_auto_limits(R, stage->share, mor_solver_lemke.max_iter);
    mor_report report = mor_solver_lemke.solve(R->problem, &stage->lemke, c, z);
    mor_auto_settle(R);
    mor_auto_note(R, stage->name, report.iterations);
    mor_auto_keep(R, z, true);
    if (report.status == MOR_NO_SOLUTION) R->report.status = MOR_NO_SOLUTION;
    return R->best <= R->context->tol;
}

/* Another solver with its default options through the driver, which converts. */
static bool other(mor_auto* R, const mor_auto_stage* stage)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->z;
    const double* guess = stage->from_guess ? R->guess : NULL;
    mor_context* c = mor_auto_limits(R, stage->share, 0);
    double left = c->deadline > 0.0 ? c->deadline - mor_context_clock(c) : 0.0;
    if (c->deadline > 0.0 && left <= 0.0) return false;
    mor_solve_options options = { .tol = c->tol,
                                  .max_iter = stage->iterations,
                                  .time_limit = left,
                                  .warm = guess != NULL,
                                  .cpu_time = c->cpu_time,
                                  .interrupt = c->interrupt };
    double* z = mor_arena_take(c->arena, bytes);
    if (!z) return false;
    if (guess) memcpy(z, guess, bytes);
    mor_report report = mor_solve(stage->solver, NULL, R->problem, &options, z, c->arena);
    if (report.status == MOR_REFUSED) return false;
    mor_auto_note(R, stage->name, report.iterations);
    double error = mor_auto_keep(R, z, true);
    if (report.status == MOR_NO_SOLUTION) R->report.status = MOR_NO_SOLUTION;
    R->late = mor_out_of_time(R->context);
    return error <= c->tol;
}

static mor_report auto_solve(const mor_problem* problem, const void* options, mor_context* context, double* z);

/* auto once more on the pairs that are left when the driver has eliminated the equations. */
static bool eliminated(mor_auto* R, const mor_auto_stage* stage)
{
    (void)stage;
    static const mor_solver on_pairs = { .name = "auto", .accepts = MOR_LCP, .max_iter = 1000000, .solve = auto_solve };
    const mor_context* c = R->context;
    double left = c->deadline > 0.0 ? mor_max(c->deadline - mor_context_clock(c), 1e-9) : 0.0;
    const mor_solve_options options = { .tol = c->tol,
                                        .time_limit = left,
                                        .warm = c->warm,
                                        .trace = c->trace,
                                        .cpu_time = c->cpu_time,
                                        .interrupt = c->interrupt };
    R->report = mor_solve(&on_pairs, NULL, R->problem, &options, R->z, c->arena);
    R->best = c->error(c, R->z, NULL);
    return R->best <= c->tol;
}

/* ----------------------------------------------------------------------------- the tables */

enum {
    FEW_PAIRS = MOR_AUTO_FEW_PAIRS,
    FEW_ROWS = MOR_AUTO_FEW_ROWS,
    PIVOTING = 320,
    SMALL = 200,
    FEW_CONTACTS = 60,
    NEWTON_FIRST = 4000
};

/* Newton on the maps m: without regularisation for a start that is near, else proportional to the residual. */
#define QUICK(m) .newton = { .map = m, .floor = 1e-12, .window = 8, .max_iter = 8 }
#define NEWTON(m, s, adapts, w, most)                                                                                  \
    .newton = { .map = m, .sigma = s, .floor = 1e-13, .adapt = adapts, .window = w, .max_iter = most }
#define PROXIMAL(m)                                                                                                    \
    .proximal = { .map = m,                                                                                            \
                  .alpha = 1.0,                                                                                        \
                  .shrink = 0.1,                                                                                       \
                  .grow = 10.0,                                                                                        \
                  .least = 1e-8,                                                                                       \
                  .max_outer = 40,                                                                                     \
                  .max_inner = 30,                                                                                     \
                  .inner_total = 1200 }
#define FAR(m)                                                                                                         \
    .proximal = { .map = m,                                                                                            \
                  .alpha = 1.0,                                                                                        \
                  .shrink = 0.1,                                                                                       \
                  .grow = 3.3,                                                                                         \
                  .least = 1e-5,                                                                                       \
                  .extrapolate = true,                                                                                 \
                  .max_outer = 300,                                                                                    \
                  .max_inner = 100,                                                                                    \
                  .inner_total = 10000 }

static const mor_auto_stage contact_stages[] = {
    { .name = "start", .run = mor_auto_start },
    { "nsgs", mor_auto_contact_sweeps, .needs_entries = true },
    { "newton", newton, .most = FEW_ROWS, .goes_on = true, .share = 0.3, QUICK(MOR_MAP_ALART_CURNIER) },
    { "nsn", newton, .share = 0.3, NEWTON(MOR_MAP_ALART_CURNIER, 1.0, true, 8, 300) },
    { "nsn-natural", newton, .share = 0.6, NEWTON(MOR_MAP_NATURAL, 1.0, false, 20, 800) },
    { "nsn-slow", newton, .share = 0.7, NEWTON(MOR_MAP_ALART_CURNIER, 1.0, false, 8, 600) },
    { "ppa", proximal, .share = 0.8, PROXIMAL(MOR_MAP_ALART_CURNIER) },
    { "ppa-far", proximal, .share = 0.87, FAR(MOR_MAP_ALART_CURNIER) },
    { "ppa-natural", proximal, .share = 0.94, FAR(MOR_MAP_NATURAL) },
    { "ppa-jean-moreau", proximal, .share = 1.0, FAR(MOR_MAP_JEAN_MOREAU) },
    { 0 },
};

/* Lemke without scaling first: scaling costs as much as a few pivots, and is seldom needed. */
static const mor_auto_stage pair_stages[] = {
    { "pivots", mor_auto_few_pairs, .most = FEW_PAIRS, .needs_entries = true },
    { "lemke", lemke, .most = PIVOTING, .needs_entries = true, .share = 1.0, .lemke = { .tries = 1 } },
    { "lemke", lemke, .most = PIVOTING, .needs_entries = true, .share = 1.0, .lemke = { 3, .equilibrate = true } },
    { "fischer-newton", newton, .share = 0.3, NEWTON(MOR_MAP_FISCHER, 0.1, false, 8, 150) },
    { "minmap-strong", newton, .share = 0.5, NEWTON(MOR_MAP_MINMAP, 1.0, false, 8, 600) },
    { "ppa", proximal, .share = 0.6, PROXIMAL(MOR_MAP_FISCHER) },
    { "minmap-newton", newton, .share = 0.7, NEWTON(MOR_MAP_MINMAP, 0.1, false, 8, 400) },
    { "lemke", lemke, .above = PIVOTING, .needs_entries = true, .share = 1.0, .lemke = { 3, .equilibrate = true } },
    { 0 },
};

static const mor_auto_stage mixed_stages[] = {
    { "pivots", mor_auto_few_pairs, .most = FEW_PAIRS, .needs_entries = true },
    { .name = "eliminated", .run = eliminated },
    { 0 },
};

/* Newton on tree velocities: briefly from a start, or at length from zero. */
#define NEAR                                                                                                           \
    {                                                                                                                  \
        .sigma = 0.01, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = 10, .give_up = 4                         \
    }
#define ZERO(w) .tree = { .sigma = 1.0, .floor = 1e-8, .adapt = true, .window = w, .max_iter = 200 }
#define ON_FROM_ZERO(n)                                                                                                \
    "nsn-tree", mor_auto_on_from_zero,                                                                                 \
        .no_equations = true, .share = 0.5,                                                                            \
        .tree = { .sigma = 1.0, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = n }
const mor_tree_newton_settings mor_auto_newton_from_guess = NEAR;

/* The last step's impulses are often the answer, or one Newton step from it. */
#define FROM_LAST_STEP                                                                                                 \
    { "states", mor_auto_states, .most = MOR_STATE_GUESS_ROWS, .with_guess = true, .own_split = true },                \
        { "zero", mor_auto_zero, .own_split = true },                                                                  \
        { "states", mor_auto_first_states, .most = FEW_ROWS, .own_split = true },                                      \
    {                                                                                                                  \
        "guess", mor_auto_guess, .with_guess = true, .own_split = true                                                 \
    }
#define NEAR_THE_GUESS "nsn-tree", mor_auto_near, .with_guess = true, .share = 0.5, .tree = NEAR
#define SWEEPS .name = "psor", .run = mor_auto_tree_sweeps
/* Rows that no velocity fulfils, before the methods that would look for one at length. */
#define CONTRADICTION                                                                                                  \
    {                                                                                                                  \
        "contradiction", mor_auto_contradiction, .most = SMALL, .own_split = true, .sweeps = 60                        \
    }
#define TO_THE_END                                                                                                     \
    {                                                                                                                  \
        "nsgs", mor_auto_sweeps_to_the_end, .last_resort = true, .sweeps = 100000                                      \
    }

/* Sweeps come after the methods that treat all contacts alike where these are cheap: which of many possible impulses
 * they find depends on the order of the contacts, and would break the symmetry of a scene. */
static const mor_auto_stage cone_stages[] = {
    FROM_LAST_STEP,
    { "nsn", other, .most = FEW_CONTACTS, .robots = true, .with_guess = true, .from_guess = true, .iterations = 12,
      .own_split = true, .share = 0.3, .solver = &mor_solver_nsn }, /* the driver sees to the split */
    { NEAR_THE_GUESS, .cheap = true },
    CONTRADICTION,
    { SWEEPS, .above = SMALL },
    { NEAR_THE_GUESS, .dear = true },
    { ON_FROM_ZERO(80), .above = SMALL, .most = NEWTON_FIRST, .moves = true },
    { "ip-tree", mor_auto_interior, .share = 0.5 },
    { ON_FROM_ZERO(200), .above = MOR_IP_LARGE },
    { "ip-arc", mor_auto_arc, .above = MOR_IP_LARGE, .no_equations = true, .share = 0.5, .arc = 0 },
    { ON_FROM_ZERO(300), .above = MOR_IP_LARGE },
    { "nsn", other, .above = MOR_IP_LARGE, .most = NEWTON_FIRST, .no_equations = true, .share = 0.5, .iterations = 300,
      .solver = &mor_solver_nsn },
    { "ip-tree", mor_auto_other_paths, .above = MOR_IP_LARGE, .share = 0.5 },
    { "ip-arc", mor_auto_arc, .above = MOR_IP_LARGE, .no_equations = true, .share = 0.5, .arc = 1 },
    { "without-equations", mor_auto_without_equations, .share = 0.5, .own_split = true },
    { SWEEPS, .most = SMALL },
    { "ip-arc", mor_auto_arc, .most = MOR_IP_LARGE, .no_equations = true, .share = 0.5, .arc = 0 },
    { "ip-arc", mor_auto_arc, .most = MOR_IP_LARGE, .no_equations = true, .share = 0.5, .arc = 1 },
    { "nsn-tree", mor_auto_on_from_zero, .without_arcs = true, .share = 0.5, ZERO(8) },
    { "nsn-tree", mor_auto_tree_newton, .without_arcs = true, .share = 0.5, ZERO(20) },
    { "nsn", other, .from_guess = true, .without_arcs = true, .share = 0.7, .solver = &mor_solver_nsn },
    { "ppa", other, .last_resort = true, .despite_a_proof = true, .share = 0.9, .solver = &mor_solver_ppa },
    { "polygon", mor_auto_polygon, .most = SMALL, .last_resort = true, .despite_a_proof = true, .share = 0.95,
      .directions = 16 },
    { "polygon", mor_auto_polygon, .most = SMALL, .last_resort = true, .despite_a_proof = true, .share = 0.95,
      .directions = 8 },
    { "ip-arc", mor_auto_arcs_with_equations, .most = MOR_IP_LARGE, .last_resort = true, .share = 0.95 },
    TO_THE_END,
    { 0 },
};

static const mor_auto_stage pyramid_stages[] = {
    FROM_LAST_STEP,
    { NEAR_THE_GUESS, .cheap = true },
    CONTRADICTION,
    { SWEEPS },
    { NEAR_THE_GUESS, .dear = true },
    { "lemke", other, .most = FEW_ROWS, .share = 0.4, .solver = &mor_solver_lemke },
    { "nsn-tree", mor_auto_tree_newton, .despite_a_proof = true, .share = 0.5, ZERO(8) },
    { "nsn-tree", mor_auto_tree_newton, .despite_a_proof = true, .share = 0.5, ZERO(20) },
    { "fischer-newton", other, .from_guess = true, .despite_a_proof = true, .share = 0.7,
      .solver = &mor_solver_fischer_newton },
    { "lemke", other, .despite_a_proof = true, .share = 0.9, .solver = &mor_solver_lemke },
    TO_THE_END,
    { 0 },
};

static const mor_auto_stage quadratic_stages[] = {
    { "qp-active-set", other, .from_guess = true, .share = 0.5, .solver = &mor_solver_qp_active_set },
    { "qp-interior-point", other, .share = 1.0, .solver = &mor_solver_qp_interior_point },
    { 0 },
};

static const mor_auto_stage conic_stages[] = {
    { "convex-newton", other, .from_guess = true, .share = 0.4, .solver = &mor_solver_convex_newton },
    { "interior-point", other, .share = 0.8, .solver = &mor_solver_interior_point },
    { "admm", other, .from_guess = true, .share = 1.0, .solver = &mor_solver_admm },
    { 0 },
};

static const struct {
    uint32_t forms;
    const mor_auto_stage* stages;
} tables[] = {
    { MOR_LCP, pair_stages },
    { MOR_MLCP, mixed_stages },
    { MOR_STEP_CONE, cone_stages },
    { MOR_STEP_PYRAMID, pyramid_stages },
    { MOR_QP, quadratic_stages },
    { MOR_CQP, conic_stages },
    { MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING, contact_stages },
};

/* --------------------------------------------------------------------------------- the run */

static bool applies(const mor_auto* R, const mor_auto_stage* s)
{
    int n = R->problem->size;
    if (n <= s->above && s->above > 0) return false;
    if (n > s->most && s->most > 0) return false;
    if (s->with_guess && !R->guess) return false;
    if (s->robots && !mor_auto_has_robots(R)) return false;
    if (s->moves && (R->steady || R->repeats)) return false;
    if (s->no_equations && mor_auto_has_equations(R)) return false;
    if ((s->dear || s->cheap) && s->dear != mor_auto_newton_is_dear((mor_auto*)R)) return false;
    if (s->needs_entries && R->problem->A.storage == MOR_OPERATOR) return false;
    if (s->last_resort || (s->without_arcs && R->arcs)) {
        if (R->best <= R->context->limit || (R->context->divisible && n > SMALL)) return false;
    }
    return R->report.status != MOR_NO_SOLUTION || s->despite_a_proof;
}

/* The copies of the start that the stages of this form read and write. False: out of memory. */
static bool prepare(mor_auto* R)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->z;
    R->guess = R->work = NULL;
    if (R->problem->form & (MOR_LCP | MOR_MLCP)) return true;
    R->work = mor_arena_take(R->context->arena, bytes);
    if (!R->work) return false;
    memcpy(R->work, R->z, bytes);
    if (!R->context->warm || R->problem->form & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING)) return true;
    R->guess = mor_arena_take(R->context->arena, bytes);
    if (R->guess) memcpy(R->guess, R->z, bytes);
    return R->guess;
}

static void follow(mor_auto* R)
{
    const mor_auto_stage* stage = NULL;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (R->problem->form & tables[k].forms) stage = tables[k].stages;
    if (!stage) return;
    if (!prepare(R)) {
        R->report = (mor_report){ .status = MOR_NUMERICAL, .detail = "out of memory" };
        return;
    }
    for (; stage->name && !R->late; stage++)
        if (applies(R, stage) && stage->run(R, stage)) break;
    bool step = R->problem->form & (MOR_STEP_CONE | MOR_STEP_PYRAMID);
    if (step && stage->name && !stage->own_split) mor_auto_least(R);
    if (R->newton_state != MOR_AUTO_CLOSED) mor_contact_newton_close(&R->newton);
}

static mor_report auto_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    (void)options;
    mor_auto R; /* not cleared: it holds more memory than a small problem */
    R.problem = problem, R.context = context, R.z = z, R.best = INFINITY, R.late = false;
    R.report = (mor_report){ .status = MOR_NOT_CONVERGED };
    R.newton_state = R.sweep_state = MOR_AUTO_CLOSED;
    R.newton_from_zero.p = NULL, R.newton_from_zero.begun = false;
    R.tree = NULL, R.steady = R.arcs = false, R.repeats = true,
    R.goal = problem->form & (MOR_STEP_CONE | MOR_STEP_PYRAMID) ? mor_auto_goal(context) : context->tol,
    R.costs = (mor_auto_costs){ 0 };
    const double tol = context->tol;
    /* the judge does not divide by scales at rounding level; such data deserve an answer as well */
    if (problem->form & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING) && problem->size > 0 &&
        mor_norm2(problem->size, problem->b) <= DBL_EPSILON)
        context->tol *= DBL_EPSILON;
    follow(&R);
    context->tol = tol;
    if (R.best <= context->tol) R.report.status = MOR_SOLVED;
    else if (R.report.status != MOR_NO_SOLUTION && mor_out_of_time(context)) R.report.status = MOR_TIME_LIMIT;
    return R.report;
}

extern const mor_solver mor_solver_automatic;
const mor_solver mor_solver_automatic = {
    .name = "auto",
    .summary = "chooses methods by form, counted costs and the rates seen, says what it did",
    .reference = "acary2018",
    .accepts =
        MOR_LCP | MOR_MLCP | MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_STEP_CONE | MOR_STEP_PYRAMID | MOR_QP | MOR_CQP,
    .max_iter = 1000000,
    .solve = auto_solve,
};
