/* auto on time steps: what continues from the last step, and what works on tree velocities without forming W. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "problem/step.h"
#include "solver/auto.h"
#include "solver/ip_arc.h"
#include "solver/ip_tree.h"
#include "solver/state_guess.h"
#include "solver/without_equations.h"

extern const mor_solver mor_solver_automatic;

#define STEADY 0.1 /* error of a guess over the speeds without impulses */
#define OVER 1.3   /* relaxation of sweeps: half as many as without, where it converges */
#define ROUGH                                                                                                          \
    100.0             /* times the aim: an island that goes on as it did is solved at least so well, however loose the
                       tolerance. A rough answer makes the next problem as hard as this one, a good one is its guess */
#define SETTLING 1e-4 /* m/s, rad/s: slower islands may come to rest */
#define FINE 0.01     /* times the aim: what is cheap to reach leaves more steps without any work */
/* m/s: what the rounding of positions makes of the rows; 1e-15 m in a step of 0.01 s. The rows of the next step know
 * what it leaves of a gap, so that it does not grow. */
#define SAME 1e-13
#define GATHERED 0.1     /* times the aim: what may gather in gaps before it is taken out */
#define NEARLY 100.0     /* times the tolerance */
#define LEAST_PART 1e-4  /* of the tolerance, for what is solved without its equations */
enum { FAR_ROWS = 300 }; /* up to here Newton's method often comes back from a guess that is not near */

/* Keeps p if it is the best so far. */
static bool within_tolerance(const void* user, const double* p)
{
    mor_auto* R = (mor_auto*)user;
    return mor_auto_keep(R, p, false) <= R->context->aim;
}

/* The same, but asks for what is cheap to reach with the factor at hand: the answer is the next steps' guess. */
static bool within_fine_tolerance(const void* user, const double* p)
{
    mor_auto* R = (mor_auto*)user;
    return mor_auto_keep(R, p, false) <= FINE * R->context->aim;
}

/* Single bodies come to rest or to a steady motion; robots are controlled, and their impulses change. */
bool mor_auto_has_robots(const mor_auto* R)
{
    const mor_step_form* s = &R->problem->step;
    for (int t = 0; t < s->tree_count; t++)
        if (s->trees[t].dof > 6) return true;
    return false;
}

/* The states of R->work solved for the data of the step. If that is not enough, the other methods begin where they
 * would without it. */
static bool follow_states(mor_auto* R, mor_judged content, const mor_auto_stage* stage)
{
    bool done = mor_state_guess(R->problem, !R->guess, content, R, R->work, R->context->arena);
    mor_auto_note(R, stage->name, 1);
    if (done || R->best <= R->context->aim) return true;
    if (R->best <= R->context->tol) return false; /* good enough, if nothing better is found */
    R->best = INFINITY;
    if (R->guess) memcpy(R->z, R->guess, (size_t)R->problem->size * sizeof *R->z);
    else memset(R->z, 0, (size_t)R->problem->size * sizeof *R->z);
    return false;
}

/* Is at least a quarter of the error of the guess in the gaps of contacts that act? Velocities and impulses that are
 * off by as much make the rest. */
static bool comes_from_gaps(const mor_auto* R, double error)
{
    const mor_step_form* s = &R->problem->step;
    double most = 0.0;
    for (int c = 0; c < s->block_count; c++) {
        const int row = s->blocks[c].row;
        if (s->blocks[c].kind == MOR_BLOCK_CONTACT && R->guess[row] > 0.0) most = mor_max(most, fabs(s->bias[row]));
    }
    return error <= 4.0 * most;
}

/* Is the guess the answer but for rounding, or as good as other methods make it? Impulses that do not fit make the
 * error grow from step to step, and what corrects it leaves impulses that do not fit: they are solved for until they
 * do. Then what is left gathers slowly, in the gaps. */
static bool is_answer(mor_auto* R)
{
    if (mor_auto_has_robots(R)) return false;
    const double error = mor_auto_keep(R, R->guess, false), aim = R->context->aim;
    return error <= mor_min(SAME, aim) || (error <= GATHERED * aim && comes_from_gaps(R, error));
}

/* What each contact of the guess does, solved for the new data. */
bool mor_auto_states(mor_auto* R, const mor_auto_stage* stage)
{
    if (is_answer(R)) {
        mor_auto_note(R, "guess", 1);
        return true;
    }
    memcpy(R->work, R->guess, (size_t)R->problem->size * sizeof *R->work);
    return follow_states(R, within_tolerance, stage);
}

/* Nothing acted before: often nothing acts now. */
bool mor_auto_zero(mor_auto* R, const mor_auto_stage* stage)
{
    if (R->guess || mor_auto_keep(R, R->z, false) > R->context->aim) return false;
    mor_auto_note(R, stage->name, 0);
    return true;
}

/* Else what each contact would do without any impulse: few contacts mostly do that. */
bool mor_auto_first_states(mor_auto* R, const mor_auto_stage* stage)
{
    return !R->guess && follow_states(R, within_fine_tolerance, stage);
}

void mor_auto_least(mor_auto* R)
{
    mor_context* c = mor_auto_limits(R, 1.0, 0);
    if (!mor_tree_least(R->problem, c, mor_max(R->best, R->context->aim), NULL, R->z)) return;
    R->best = R->context->error(R->context, R->z, NULL);
    mor_auto_note(R, "least", 1);
}

double mor_auto_goal(const mor_context* context) { return mor_min(context->tol, ROUGH * context->aim); }

/* Is the error of the guess small beside the speeds that would come without impulses? Then the island goes on as it
 * did, and what is solved well now need not be solved again in the next steps: see R->goal. */
static bool is_steady(mor_auto* R, double error)
{
    const mor_step_form* s = &R->problem->step;
    double most = 0.0, *u = mor_arena_alloc(R->context->arena, ((size_t)s->row_count + 1) * sizeof *u);
    if (!u) return false;
    mor_step_rows(s, s->nu_free, u);
    for (int i = 0; i < s->row_count; i++) most = mor_max(most, fabs(u[i]));
    return error <= STEADY * most;
}

/* Do the impulses of the guess leave the island all but at rest? Then it may come to rest, and does so the sooner the
 * better it is solved. */
static bool is_settling(mor_auto* R)
{
    const mor_step_form* s = &R->problem->step;
    double most = 0.0, *nu = mor_arena_alloc(R->context->arena, ((size_t)s->dof + 1) * sizeof *nu);
    if (!nu) return false;
    mor_step_velocity(s, R->guess, nu);
    for (int i = 0; i < s->dof; i++) most = mor_max(most, fabs(nu[i]));
    return most <= SETTLING;
}

bool mor_auto_guess(mor_auto* R, const mor_auto_stage* stage)
{
    (void)stage;
    double error = mor_auto_keep(R, R->guess, false);
    if (error <= R->context->aim) return true;
    R->steady = is_steady(R, error);
    /* a guess that is off by more than the last step may have left tells of motion, and the next one will be off as
     * well, however well this step is solved */
    R->repeats = error <= ROUGH * R->context->aim || is_settling(R);
    if (!R->steady) R->goal = R->context->tol;
    return false;
}

/* ---------------------------------------------------------------------------------- sweeps */

/* The judge after one batch of sweeps on tree velocities. */
static double sweep_batch(mor_auto* R, int count, double target, double* p)
{
    mor_context* c = mor_auto_limits(R, 1.0, count);
    c->tol = target;
    c->warm = R->report.iterations > 0 || R->context->warm;
    mor_report report = mor_gauss_seidel_step(&R->sweep, MOR_SWEEP_ALTERNATE, c, p);
    mor_auto_settle(R);
    R->report.iterations += report.iterations;
    return mor_auto_keep(R, p, true);
}

static bool open_sweep(mor_auto* R)
{
    const char* why;
    if (R->sweep_state == MOR_AUTO_CLOSED) {
        mor_status status = mor_sweep_open(&R->sweep, &R->problem->step, true, R->context->arena, &why);
        R->sweep_state = status == MOR_SOLVED ? MOR_AUTO_OPEN : MOR_AUTO_FAILED;
        R->sweep.relaxation = OVER;
    }
    return R->sweep_state == MOR_AUTO_OPEN;
}

/* Sweeps that are left at this rate. */
static double sweeps_left(double error, double target, double rate)
{
    return error <= target ? 0.0 : rate < 0.0 ? mor_log(target / error) / rate : INFINITY;
}

/* All sweeps of a stage as one entry of the report. */
static void note_sweeps(mor_auto* R, const char* name, int before)
{
    int done = R->report.iterations - before;
    R->report.iterations = before;
    mor_auto_note(R, name, done);
}

/* Sweeps while the rate predicts an end within as many as are allowed. In a steady island to below the aim if that is
 * predicted too. */
bool mor_auto_tree_sweeps(mor_auto* R, const mor_auto_stage* stage)
{
    enum { BATCH = 10, LONGEST = 50 };
    if (!open_sweep(R)) return false;
    const double most = mor_auto_sweeps_allowed(R);
    const double target = R->steady ? FINE * R->context->aim : R->goal;
    const double* start = R->guess ? R->guess : R->z;
    double *p = R->work, previous = INFINITY, error = INFINITY;
    memcpy(p, start, (size_t)R->problem->size * sizeof *p);
    int before = R->report.iterations, batch = BATCH, slow = 0;
    for (;;) {
        error = sweep_batch(R, batch, target, p);
        double done = R->report.iterations - before;
        if (error <= target || !isfinite(error) || R->late || done >= most) break;
        if (!isinf(previous)) {
            double rate = mor_log(error / previous) / batch, left = sweeps_left(error, target, rate);
            if (done + left > most) left = sweeps_left(error, R->goal, rate);
            if (left == 0.0) break; /* good enough, and the rest is too far */
            if (done + left > most && (most < 4.0 * BATCH || ++slow == 2)) break; /* the first sweeps may be slow */
            batch = left < BATCH || done + left > most ? BATCH : left > LONGEST ? LONGEST : (int)left;
        }
        previous = error;
    }
    note_sweeps(R, stage->name, before);
    return R->best <= R->goal;
}

/* The last resort: from the best answer, as long as it gets better. */
bool mor_auto_sweeps_to_the_end(mor_auto* R, const mor_auto_stage* stage)
{
    enum { BATCH = 10, PATIENCE = 40 };
    if (!open_sweep(R)) return false;
    R->sweep.relaxation = 1.0;
    memcpy(R->work, R->z, (size_t)R->problem->size * sizeof *R->work);
    int before = R->report.iterations, idle = 0;
    double least = R->best;
    while (R->report.iterations - before < stage->sweeps && idle <= PATIENCE) {
        double error = sweep_batch(R, BATCH, R->context->tol, R->work);
        if (error <= R->context->tol || !isfinite(error) || R->late) break;
        idle = R->best < 0.9 * least ? 0 : idle + 1;
        if (idle == 0) least = R->best;
    }
    note_sweeps(R, stage->name, before);
    return R->best <= R->context->tol;
}

/* Where Newton's method ends a little above the tolerance, on thousands of rows, a few sweeps from the best answer
 * often do what its steps, which move everything, cannot. */
static bool settle_by_sweeps(mor_auto* R)
{
    enum { BATCH = 10, MOST = 5 };
    if (R->best <= R->context->tol) return true;
    if (R->late || !(R->best <= NEARLY * R->context->tol) || !open_sweep(R)) return false;
    const double relaxation = R->sweep.relaxation;
    const int before = R->report.iterations;
    double last = INFINITY;
    R->sweep.relaxation = 1.0;
    memcpy(R->work, R->z, (size_t)R->problem->size * sizeof *R->work);
    for (int k = 0; k < MOST && R->best > R->context->tol && R->best < 0.5 * last && !R->late; k++) {
        last = R->best;
        sweep_batch(R, BATCH, R->context->tol, R->work);
    }
    R->sweep.relaxation = relaxation;
    note_sweeps(R, "nsgs", before);
    return R->best <= R->context->tol;
}

/* --------------------------------------------------------------------------------- Newton */

/* A method that converges fast goes on below the aim while that pays, but not where the next problem will be
 * another. */
static mor_context* fast_limits(mor_auto* R, double share, int max_iter)
{
    mor_context* c = mor_auto_limits(R, share, max_iter);
    c->tol = R->goal;
    if (R->guess && !R->steady) c->aim = R->goal;
    else if (R->repeats) c->aim *= FINE;
    return c;
}

/* From `start`, NULL: zero. */
static void newton_from(mor_auto* R, const mor_tree_newton_settings* s, const double* start, double share)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->work;
    if (start && start != R->work) memcpy(R->work, start, bytes);
    else if (!start) memset(R->work, 0, bytes);
    mor_tree_matrix* K = R->problem->step.dof > MOR_TREE_NEWTON_DENSE ? mor_auto_tree(R) : NULL;
    mor_report report = mor_tree_newton(R->problem, s, K, fast_limits(R, share, s->max_iter), R->work);
    mor_auto_settle(R);
    if (report.status == MOR_REFUSED) return;
    mor_auto_keep(R, R->work, true);
    mor_auto_note(R, "nsn-tree", report.iterations);
}

bool mor_auto_near(mor_auto* R, const mor_auto_stage* stage)
{
    if (!R->steady && R->problem->size > FAR_ROWS) return false;
    newton_from(R, &stage->tree, R->guess, stage->share);
    return R->best <= R->goal;
}

bool mor_auto_tree_newton(mor_auto* R, const mor_auto_stage* stage)
{
    newton_from(R, &stage->tree, NULL, stage->share);
    return R->best <= R->context->tol;
}

bool mor_auto_on_from_zero(mor_auto* R, const mor_auto_stage* stage)
{
    mor_tree_newton_memory* memory = &R->newton_from_zero;
    if (!memory->p) memory->p = mor_arena_alloc(R->context->arena, (size_t)R->problem->size * sizeof *memory->p);
    if (!memory->p) return false;
    mor_tree_newton_settings s = stage->tree;
    s.memory = memory;
    newton_from(R, &s, NULL, stage->share);
    return settle_by_sweeps(R);
}

bool mor_auto_has_equations(const mor_auto* R)
{
    const mor_step_form* s = &R->problem->step;
    for (int c = 0; c < s->block_count; c++)
        if (s->blocks[c].kind == MOR_BLOCK_EQUATION) return true;
    return false;
}

bool mor_auto_arc(mor_auto* R, const mor_auto_stage* stage)
{
    if (!mor_auto_tree(R)) return false;
    mor_report report =
        mor_ip_arc(R->problem, &mor_ip_arcs[stage->arc], R->tree, fast_limits(R, stage->share, 1000), R->work);
    mor_auto_settle(R);
    if (report.status == MOR_REFUSED) return false;
    mor_auto_keep(R, R->work, true);
    mor_auto_note(R, stage->name, report.iterations);
    R->arcs = true;
    return settle_by_sweeps(R);
}

/* The paths from `first` to before `last`, each with Newton's method from its end. */
static bool follow_paths(mor_auto* R, const mor_auto_stage* stage, int first, int last)
{
    int count;
    const mor_ip_path* paths = mor_ip_paths(R->problem->size, &count);
    mor_tree_matrix* K = first < count ? mor_auto_tree(R) : NULL;
    if (!K) return false;
    for (int k = first; k < count && k < last && !R->late; k++) {
        mor_report report = mor_ip_tree(R->problem, &paths[k], K, fast_limits(R, stage->share, 1000), R->work);
        mor_auto_settle(R);
        if (report.status == MOR_REFUSED) return false;
        mor_auto_keep(R, R->work, true);
        mor_auto_note(R, stage->name, report.iterations);
        if (R->best <= R->goal || R->late) break;
        newton_from(R, mor_ip_tree_polish(R->problem->size), R->work, stage->share);
        if (settle_by_sweeps(R)) break;
    }
    return R->best <= R->context->tol;
}

bool mor_auto_interior(mor_auto* R, const mor_auto_stage* stage) { return follow_paths(R, stage, 0, 1); }

bool mor_auto_other_paths(mor_auto* R, const mor_auto_stage* stage) { return follow_paths(R, stage, 1, INT_MAX); }

bool mor_auto_arcs_with_equations(mor_auto* R, const mor_auto_stage* stage)
{
    if (!mor_auto_tree(R) || !mor_auto_has_equations(R)) return false;
    for (int k = 0; k < 2 && !R->late && !(R->best <= R->context->tol); k++) {
        mor_report report =
            mor_ip_arc(R->problem, &mor_ip_arcs[k], mor_auto_tree(R), fast_limits(R, stage->share, 1000), R->work);
        mor_auto_settle(R);
        if (report.status == MOR_REFUSED) return false;
        mor_auto_keep(R, R->work, true);
        mor_auto_note(R, stage->name, report.iterations);
        newton_from(R, mor_ip_tree_polish(R->problem->size), R->work, stage->share);
    }
    return R->best <= R->context->tol;
}

/* The step on the velocities that the equations leave free, by all stages of this table: the rows that are left have no
 * equations, so that this one is not met again. An impulse that is off by little for bodies that joints hold together
 * may be off by much for one of them alone: then it is solved once more, the better by as much. */
bool mor_auto_without_equations(mor_auto* R, const mor_auto_stage* stage)
{
    enum { ROUNDS = 2 };
    mor_arena* arena = R->context->arena;
    mor_without_equations w;
    if (!mor_auto_has_equations(R) || !mor_without_equations_open(R->problem, &w, arena)) return false;
    double* p = mor_arena_zero(arena, (size_t)w.problem.size, sizeof *p);
    if (!p) return false;
    bool warm = R->guess;
    double part = 1.0;
    if (warm) mor_without_equations_forward(&w, R->guess, p);
    for (int round = 0; round < ROUNDS && !R->late; round++) {
        mor_context* c = mor_auto_limits(R, stage->share, 0);
        const double left = c->deadline > 0.0 ? c->deadline - mor_context_clock(c) : 0.0;
        if (c->deadline > 0.0 && left <= 0.0) break;
        mor_solve_options o = { .tol = part * c->tol,
                                .aim = part * c->aim,
                                .limit = c->limit,
                                .time_limit = left,
                                .warm = warm,
                                .cpu_time = c->cpu_time,
                                .interrupt = c->interrupt,
                                .divisible = c->divisible };
        mor_report report = mor_solve(&mor_solver_automatic, NULL, &w.problem, &o, p, arena);
        mor_auto_settle(R);
        if (report.status == MOR_REFUSED) return false;
        mor_without_equations_back(&w, p, R->work);
        const double error = mor_auto_keep(R, R->work, true);
        mor_auto_note(R, stage->name, report.iterations);
        if (error <= R->context->tol || report.status != MOR_SOLVED) break;
        part = mor_max(0.5 * R->context->tol / error, LEAST_PART);
        warm = true;
    }
    return R->best <= R->context->tol;
}

/* Circular cones from polygons: Lemke's method, which no start can mislead, tells what every contact and bounded row
 * does; the states and Newton's method find the circle from there. */
bool mor_auto_polygon(mor_auto* R, const mor_auto_stage* stage)
{
    const mor_step_form* s = &R->problem->step;
    size_t n = (size_t)R->problem->size;
    mor_context* c = mor_auto_limits(R, stage->share, 0);
    double left = c->deadline > 0.0 ? c->deadline - mor_context_clock(c) : 0.0;
    if (c->deadline > 0.0 && left <= 0.0) return false;
    mor_block* blocks = mor_arena_alloc(c->arena, ((size_t)s->block_count + 1) * sizeof *blocks);
    double* z = mor_arena_zero(c->arena, n, sizeof *z);
    if (!blocks || !z) return false;
    for (int b = 0; b < s->block_count; b++) {
        blocks[b] = s->blocks[b];
        if (blocks[b].kind == MOR_BLOCK_CONTACT && blocks[b].dim > 3) return false;
        if (blocks[b].kind == MOR_BLOCK_CONTACT && blocks[b].dim == 3) blocks[b].directions = stage->directions;
    }
    mor_problem polygon = *R->problem;
    polygon.form = MOR_STEP_PYRAMID;
    polygon.step.blocks = blocks;
    mor_solve_options options = {
        .tol = c->tol, .time_limit = left, .cpu_time = c->cpu_time, .interrupt = c->interrupt
    };
    mor_report report = mor_solve(&mor_solver_lemke, NULL, &polygon, &options, z, c->arena);
    mor_auto_settle(R);
    if (report.status == MOR_REFUSED || report.status == MOR_NO_SOLUTION) return false;
    mor_auto_note(R, stage->name, report.iterations);
    memcpy(R->work, z, n * sizeof *z);
    if (n <= MOR_STATE_GUESS_ROWS &&
        mor_state_guess(R->problem, false, within_tolerance, R, R->work, R->context->arena))
        return true;
    newton_from(R, &mor_auto_newton_from_guess, z, 0.5);
    return R->best <= R->context->tol;
}
