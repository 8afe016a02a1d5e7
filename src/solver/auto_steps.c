/* auto on time steps: what continues from the last step, and what works on tree velocities without forming W. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "solver/auto.h"
#include "solver/ip_tree.h"
#include "solver/state_guess.h"

/* Keeps p if it is the best so far. */
static bool within_tolerance(const void* user, const double* p)
{
    mor_auto* R = (mor_auto*)user;
    return mor_auto_keep(R, p, false) <= R->context->aim;
}

/* What each contact of the guess does, solved for the new data. */
bool mor_auto_states(mor_auto* R, const mor_auto_stage* stage)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->z;
    memcpy(R->work, R->guess, bytes);
    bool done = mor_state_guess(R->problem, within_tolerance, R, R->work, R->context->arena);
    mor_auto_note(R, stage->name, 1);
    if (done) return true;
    if (R->best <= R->context->tol) return false; /* good enough, if nothing better is found */
    R->best = INFINITY;                           /* the other methods begin where they would without it */
    memcpy(R->z, R->guess, bytes);
    return false;
}

bool mor_auto_guess(mor_auto* R, const mor_auto_stage* stage)
{
    (void)stage;
    return within_tolerance(R, R->guess);
}

/* ---------------------------------------------------------------------------------- sweeps */

/* The judge after one batch of sweeps on tree velocities. */
static double sweep_batch(mor_auto* R, int count, double* p)
{
    mor_context* c = mor_auto_limits(R, 1.0, count);
    c->warm = R->report.iterations > 0 || R->context->warm;
    mor_report report = mor_gauss_seidel_step(&R->sweep, MOR_SWEEP_ALTERNATE, c, p);
    mor_auto_settle(R);
    R->report.iterations += report.iterations;
    return mor_auto_keep(R, p, true);
}

/* Sweeps while the rate predicts an end within `most`; as the last resort, as long as the best answer gets better. */
bool mor_auto_tree_sweeps(mor_auto* R, const mor_auto_stage* stage)
{
    enum { BATCH = 10, PATIENCE = 40 };
    const char* why;
    const int most = stage->sweeps;
    double* p = R->work;
    if (R->sweep_state == MOR_AUTO_CLOSED) {
        mor_status status = mor_sweep_open(&R->sweep, &R->problem->step, true, R->context->arena, &why);
        R->sweep_state = status == MOR_SOLVED ? MOR_AUTO_OPEN : MOR_AUTO_FAILED;
    }
    if (R->sweep_state != MOR_AUTO_OPEN) return false;
    const double* start = stage->from_guess && R->guess ? R->guess : R->z;
    memcpy(p, start, (size_t)R->problem->size * sizeof *p);
    int before = R->report.iterations;
    double previous = INFINITY, least = R->best;
    int idle = 0;
    while (R->report.iterations - before < most) {
        double error = sweep_batch(R, BATCH, p);
        if (error <= R->context->tol || !isfinite(error) || R->late) break;
        if (stage->last_resort) {
            idle = R->best < 0.9 * least ? 0 : idle + 1;
            if (idle == 0) least = R->best;
            if (idle > PATIENCE) break;
        } else if (!isinf(previous)) {
            double rate = mor_log(error / previous) / BATCH;
            if (!(rate < 0.0) || mor_log(R->context->tol / error) / rate > most) break;
        }
        previous = error;
    }
    int done = R->report.iterations - before;
    R->report.iterations = before;
    mor_auto_note(R, stage->name, done);
    return R->best <= R->context->tol;
}

/* --------------------------------------------------------------------------------- Newton */

/* From `start`, NULL: zero. */
static bool newton_from(mor_auto* R, const mor_tree_newton_settings* s, const double* start, double share)
{
    size_t bytes = (size_t)R->problem->size * sizeof *R->work;
    if (start) memcpy(R->work, start, bytes);
    else memset(R->work, 0, bytes);
    mor_context* c = mor_auto_limits(R, share, s->max_iter);
    if (start && start == R->guess) c->tol = c->aim;
    mor_report report = mor_tree_newton(R->problem, s, c, R->work);
    mor_auto_settle(R);
    if (report.status == MOR_REFUSED) return false;
    mor_auto_keep(R, R->work, true);
    mor_auto_note(R, "nsn-tree", report.iterations);
    return R->best <= R->context->tol;
}

bool mor_auto_tree_newton(mor_auto* R, const mor_auto_stage* stage)
{
    return newton_from(R, &stage->tree, stage->from_guess ? R->guess : NULL, stage->share);
}

bool mor_auto_interior(mor_auto* R, const mor_auto_stage* stage)
{
    mor_context* c = mor_auto_limits(R, stage->share, 1000);
    mor_report report = mor_ip_tree(R->problem, c, 0.0, R->work);
    mor_auto_settle(R);
    if (report.status == MOR_REFUSED) return false;
    mor_auto_keep(R, R->work, true);
    mor_auto_note(R, stage->name, report.iterations);
    if (R->best <= R->context->tol || R->late) return R->best <= R->context->tol;
    double* start = mor_arena_alloc(R->context->arena, (size_t)R->problem->size * sizeof *start);
    if (!start) return false;
    memcpy(start, R->work, (size_t)R->problem->size * sizeof *start);
    return newton_from(R, &stage->tree, start, stage->share);
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
    if (n <= MOR_STATE_GUESS_ROWS && mor_state_guess(R->problem, within_tolerance, R, R->work, R->context->arena))
        return true;
    return newton_from(R, &mor_auto_newton_from_guess, z, 0.5);
}
