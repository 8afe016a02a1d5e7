/* One problem in the laboratory: all its runs, each from the same start, judged by the same code.
 *
 * A frame becomes a world (io/bpmd_world.c) with one system per island. A run solves all islands in turn: times and
 * iterations add up, errors and states are the worst. The formulation hands its problem to `run_solver` below exactly
 * as it does in a simulation; there the solver is called by mor_solve, which converts, times and judges. Short solves
 * are repeated from the same start and averaged.
 *
 * coulomb: the impulses of a run put into the exact Coulomb problem of the same step, judged in m/s. It compares
 * formulations: what the polygon, the relaxation or the springs cost.
 *
 * E. D. Dolan, J. J. More (2002), Benchmarking optimization software with performance profiles; fairness rules:
 * docs/fairness.md. */
#include "lab/compare_run.h"
#include "lab/timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formulation/contact_view.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/iteration_file.h"
#include "io/problem/problem_file.h"
#include "lab/spectrum.h"
#include "model/step.h"
#include "problem/step.h"

enum { LARGEST_SPECTRUM = 700, TRACE_ITERATIONS = 2000, TRACE_SAMPLES = 100 };

/* ---------------------------------------------------------------------------------- sizes */

static bool applies(const mor_lab* lab, int problem, int formulation, int solver)
{
    const mor_lab_problem* p = &lab->problems[problem];
    if ((p->frame < 0) != (formulation < 0)) return false;
    if (p->frame < 0) {
        mor_form form = mor_form_of_kind(p->kind);
        return solver >= 0 && form && mor_solver_applies(lab->solvers[solver], form);
    }
    uint32_t forms = lab->formulations[formulation]->produces;
    if (!forms) return solver < 0;
    return solver >= 0 && mor_lab_pairs(lab, formulation, solver);
}

bool mor_lab_pairs(const mor_lab* lab, int formulation, int solver)
{
    uint32_t forms = lab->formulations[formulation]->produces;
    /* the forms of the default options: the lowest step form if there is one, else all */
    uint32_t step = forms & (MOR_STEP_PYRAMID | MOR_STEP_CONE);
    if (step && !(forms & (MOR_GFC2D | MOR_GFC3D))) forms = step;
    for (uint32_t bit = 1; bit && bit <= forms; bit <<= 1)
        if ((forms & bit) && mor_solver_applies(lab->solvers[solver], (mor_form)bit)) return true;
    return false;
}

/* Does this solver take a problem of any formulation? */
static bool takes_any(const mor_lab* lab, int solver)
{
    for (int p = 0; p < lab->problem_count; p++)
        for (int f = -1; f < lab->formulation_count; f++)
            if (applies(lab, p, f, solver)) return true;
    return false;
}

mor_code mor_lab_check_solvers(mor_lab* lab, mor_error* error)
{
    if (!lab->options.solvers[0]) return MOR_OK;
    bool any = false;
    for (int s = -1; s < lab->solver_count; s++) {
        bool fits = takes_any(lab, s);
        any = any || fits;
        if (s < 0 || fits) continue;
        char note[200];
        snprintf(note, sizeof note, "solver '%.60s' takes no problem of these formulations; it is left out",
                 lab->solvers[s]->name);
        mor_lab_notes_add(&lab->notes, note, NULL);
    }
    if (any) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT,
                    "there is nothing to compare: no solver that was named takes a problem of these formulations; "
                    "docs/methods.md has the table");
}

int mor_lab_slots(const mor_lab* lab)
{
    return (lab->formulation_count + 1) * (lab->solver_count + 1) * lab->options.tol_count;
}

int mor_lab_slot(const mor_lab* lab, int problem, int formulation, int solver, int tol)
{
    if (!applies(lab, problem, formulation, solver)) return -1;
    if (solver < 0 && tol > 0) return -1; /* nothing to converge: once */
    return ((formulation + 1) * (lab->solver_count + 1) + solver + 1) * lab->options.tol_count + tol;
}

bool mor_lab_traced(const mor_lab* lab, int problem)
{
    int n = lab->problem_count, k = lab->options.traces;
    if (k <= 0) return false;
    if (n <= k) return true;
    return (long long)problem * k / n != ((long long)problem + 1) * k / n; /* k of n, evenly spread */
}

/* ------------------------------------------------------------------------------- one solve */

typedef struct solve_user {
    const mor_lab* lab;
    const mor_solver* solver;
    double tol;
    mor_trace* trace;
    mor_lab_run* run;             /* times and iterations add up here */
    mor_iterations* iterations;   /* of this island; NULL: not kept */
    const mor_system* system;     /* of this island; NULL: a stored problem */
    const int* order;             /* the frame's contact behind each of the world's */
    const mor_unknowns* unknowns; /* of the problem at work */
} solve_user;

typedef struct keeper {
    const solve_user* u;
    const mor_problem* problem;
    mor_contact_view view;
    mor_arena* arena;
} keeper;

static double user_error(const mor_lab* lab, const mor_problem* p, const double* z, const mor_residual* r)
{
    return lab->options.error ? lab->options.error(p, z, r) : NAN;
}

/* The contacts that the problem of this island tells, and their numbers in the frame. */
static void begin_iterations(keeper* k)
{
    const solve_user* u = k->u;
    mor_iterations* all = u->iterations;
    all->size = mor_problem_unknowns(k->problem);
    if (!mor_contact_view_make(&k->view, u->system, k->problem, u->unknowns, k->arena)) k->view.count = 0;
    all->contacts = k->view.count;
    if (!k->view.contact || !u->order) return;
    all->contact = malloc(((size_t)all->contacts + 1) * sizeof *all->contact);
    for (int c = 0; all->contact && c < all->contacts; c++)
        all->contact[c] = u->order[u->system->contacts[k->view.contact[c]].contact];
}

/* Told of every iteration of a followed run. */
static void keep_iterate(void* user, const mor_trace_line* from, const double* z)
{
    const keeper* k = user;
    mor_iterations* all = k->u->iterations;
    mor_iterate line = { .iteration = from->iteration,
                         .time_s = from->time_s,
                         .residual = from->residual,
                         .user_error = user_error(k->u->lab, k->problem, z, &from->residual),
                         .sticking = -1,
                         .sliding = -1,
                         .open = -1 };
    size_t mark = mor_arena_mark(k->arena);
    mor_contact_verdict* v = mor_arena_alloc(k->arena, ((size_t)all->contacts + 1) * sizeof *v);
    if (v && all->contacts && mor_contact_view_judge(&k->view, z, &line.residual, v, k->arena)) {
        line.sticking = line.sliding = line.open = 0;
        for (int c = 0; c < all->contacts; c++)
            ++*(v[c].state == MOR_VERDICT_STICKS ? &line.sticking
                : v[c].state == MOR_VERDICT_OPEN ? &line.open
                                                 : &line.sliding);
    }
    if (v) mor_iterations_add(all, &line, z, v);
    mor_arena_release(k->arena, mark);
}

/* The last line is the answer, also of methods whose iterates are others: pivots, ends of sweeps. */
static void keep_answer(const keeper* k, const mor_report* report, const double* z)
{
    const mor_iterations* all = k->u->iterations;
    size_t n = (size_t)all->size;
    if (all->count && memcmp(all->z + ((size_t)all->count - 1) * n, z, n * sizeof *z) == 0) return;
    mor_trace_line line = { .iteration = report->iterations, .time_s = report->time_s, .residual = report->residual };
    keep_iterate((void*)k, &line, z);
}

/* Solves from z and adds up times and iterations. */
static mor_report timed_solve(const solve_user* u, const mor_problem* problem, bool warm, double* z, mor_arena* arena)
{
    mor_solve_options o = mor_solve_options_default();
    o.tol = u->tol;
    o.time_limit = fmax(u->lab->options.time_limit - u->run->total_s, 1e-3); /* of the run: its islands share it */
    o.cpu_time = true;
    o.warm = warm;
    if (u->trace) {
        keeper k = { .u = u, .problem = problem, .arena = arena };
        o.trace = u->trace;
        /* of the run before: the judge of every iterate would cost more than the solver */
        if (!u->iterations) u->trace->every = 1 + u->run->iterations / TRACE_SAMPLES;
        if (u->iterations && !u->iterations->size) {
            begin_iterations(&k);
            u->trace->each = keep_iterate, u->trace->user = &k;
        }
        o.max_iter = TRACE_ITERATIONS < u->solver->max_iter || u->solver->max_iter <= 0 ? TRACE_ITERATIONS : 0;
        mor_report followed = mor_solve(u->solver, NULL, problem, &o, z, arena);
        if (u->trace->each) keep_answer(&k, &followed, z);
        u->trace->each = NULL;
        return followed;
    }
    mor_lab_timing t;
    mor_report report = mor_lab_time_solve(u->solver, problem, &o, z, arena, &t);
    u->run->total_s += t.total_s;
    u->run->time_s += t.solve_s;
    if (t.changed) u->run->status = MOR_LAB_CHANGED; /* this process ends with it */
    /* right, but late */
    if (report.status == MOR_SOLVED && u->lab->options.time_limit > 0.0 && u->run->total_s > u->lab->options.time_limit)
        report.status = MOR_TIME_LIMIT;
    u->run->iterations += report.iterations;
    return report;
}

static void merge_residual(mor_residual* a, const mor_residual* b)
{
    double *x = &a->relative, *y = (double*)&b->relative;
    for (size_t i = 0; i < sizeof *a / sizeof(double); i++)
        if (!(x[i] >= y[i])) x[i] = isnan(y[i]) ? x[i] : y[i];
}

static void merge_report(mor_lab_run* run, const mor_report* r, double error)
{
    if (r->status != MOR_SOLVED && run->status == MOR_SOLVED) {
        run->status = (int)r->status;
        snprintf(run->detail, sizeof run->detail, "%.110s", r->detail);
        if (strstr(r->detail, "out of memory")) { /* the limit of the comparison, the same for all */
            run->status = MOR_REFUSED;
            snprintf(run->detail, sizeof run->detail, "needs more memory than the limit");
        }
    }
    merge_residual(&run->residual, &r->residual);
    if (!(run->error >= error)) run->error = isnan(error) ? run->error : error;
}

static mor_report run_solver(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    solve_user* u = stage->user;
    u->unknowns = stage->unknowns;
    mor_report report = timed_solve(u, problem, warm && u->lab->options.warm, z, stage->arena);
    if (!u->trace) {
        merge_report(u->run, &report, mor_judge_error(problem, &report.residual));
        double own = user_error(u->lab, problem, z, &report.residual);
        if (!(u->run->user_error >= own)) u->run->user_error = isnan(own) ? u->run->user_error : own;
    }
    return report;
}

/* Stick, slide and open from the answer: a contact is open without normal impulse, sticks when it has friction and
 * slips slower than 1e-6 m/s. */
static void count_states(const mor_system* s, const double* p, const double* nu, mor_lab_run* run)
{
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[s->contacts[c].block];
        double u[3] = { 0.0, s->contacts[c].drift[1], s->contacts[c].drift[2] };
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start;
            for (int d = 1; d < b->dim; d++)
                for (int m = 0; m < t->dof; m++) u[d] += J[d * t->dof + m] * nu[t->offset + m];
        }
        double slip = b->dim > 2 ? hypot(u[1], u[2]) : b->dim > 1 ? fabs(u[1]) : 0.0;
        if (!(p[b->row] > 0.0)) run->open++;
        else if (b->dim < 2 || !(b->mu > 0.0) || slip > 1e-6) run->sliding++;
        else run->sticking++;
    }
}

mor_residual mor_lab_no_residual(void) { return (mor_residual){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN }; }

/* All islands of a frame by one formulation and solver. */
void mor_lab_run_frame(const mor_lab* lab, const mor_world* w, mor_lab_run* run, mor_trace* trace,
                       mor_iterations* iterations, const int* order, mor_arena* arena)
{
    const mor_formulation* formulation = lab->formulations[run->formulation];
    mor_trace beside = { 0 };
    solve_user user = { .lab = lab,
                        .solver = run->solver >= 0 ? lab->solvers[run->solver] : NULL,
                        .tol = lab->options.tols[run->tol],
                        .run = run,
                        .order = order };
    run->status = MOR_SOLVED;
    run->residual = mor_lab_no_residual();
    run->error = run->coulomb = run->user_error = NAN;
    int largest = 0;
    for (int i = 1; i < w->last->island_count; i++)
        if (w->last->islands[i].system.row_count > w->last->islands[largest].system.row_count) largest = i;
    for (int i = 0; i < w->last->island_count; i++) {
        if (trace && i != largest && !iterations) continue; /* iterations of several islands cannot be one curve */
        const mor_system* s = &w->last->islands[i].system;
        user.trace = trace && i != largest ? &beside : trace;
        user.iterations = iterations ? &iterations[i] : NULL;
        user.system = s;
        mor_arena_reset(arena);
        mor_solve_stage stage = { .solve = run_solver, .arena = arena, .user = &user };
        mor_answer answer = { .nu = mor_arena_alloc(arena, (size_t)s->dof * sizeof(double)),
                              .impulses = mor_arena_zero(arena, (size_t)s->row_count, sizeof(double)),
                              .held = mor_arena_zero(arena, (size_t)s->contact_count, sizeof(bool)) };
        double* bias = mor_arena_alloc(arena, (size_t)s->row_count * sizeof(double));
        void* options = mor_arena_zero(arena, 1, formulation->options_size ? formulation->options_size : 1);
        if (!answer.nu || !answer.impulses || !answer.held || !bias || !options) {
            run->status = MOR_NUMERICAL;
            snprintf(run->detail, sizeof run->detail, "out of memory");
            return;
        }
        mor_fields_default(formulation->fields, options);
        memcpy(answer.nu, s->nu_free, (size_t)s->dof * sizeof(double));
        if (lab->options.warm)
            memcpy(answer.impulses, w->last->islands[i].answer.impulses, (size_t)s->row_count * sizeof(double));
        double begin = mor_lab_cpu_clock();
        mor_report report = formulation->step(s, options, &stage, &answer);
        if (trace) {
            mor_trace_free(&beside);
            beside = (mor_trace){ 0 };
            continue;
        }
        if (run->solver < 0) {
            run->total_s += mor_lab_cpu_clock() - begin;
            run->time_s = run->total_s;
            run->iterations += report.iterations;
            if (report.status != MOR_SOLVED) run->status = (int)report.status;
        } else if (report.status != MOR_SOLVED && run->status == MOR_SOLVED) { /* refused before a solver was asked */
            run->status = (int)report.status;
            snprintf(run->detail, sizeof run->detail, "%.110s", report.detail);
        }
        count_states(s, answer.impulses, answer.nu, run);
        mor_bias_stewart_trinkle(s, bias);
        mor_problem exact = mor_system_problem(s, 0, bias, arena, NULL);
        if (!exact.size) continue;
        double coulomb = mor_judge(&exact, answer.impulses, arena).velocity;
        if (!(run->coulomb >= coulomb)) run->coulomb = coulomb;
        if (run->solver < 0 && !(run->error >= coulomb)) run->error = coulomb;
    }
}

void mor_lab_run_problem(const mor_lab* lab, const mor_problem* problem, mor_lab_run* run, mor_trace* trace,
                         mor_iterations* iterations, mor_arena* arena)
{
    solve_user user = { .lab = lab,
                        .solver = lab->solvers[run->solver],
                        .tol = lab->options.tols[run->tol],
                        .trace = trace,
                        .run = run,
                        .iterations = iterations };
    run->status = MOR_SOLVED;
    run->residual = mor_lab_no_residual();
    run->error = run->coulomb = run->user_error = NAN;
    mor_arena_reset(arena);
    double* z = mor_arena_zero(arena, (size_t)mor_problem_unknowns(problem) + 1, sizeof *z);
    if (!z) {
        run->status = MOR_NUMERICAL;
        return;
    }
    mor_report report = timed_solve(&user, problem, false, z, arena);
    if (!trace) {
        merge_report(run, &report, mor_judge_error(problem, &report.residual));
        run->user_error = user_error(lab, problem, z, &report.residual);
    }
}

/* --------------------------------------------------------------------------------- traces */

/* MOR_LAB_TRACE points of the first solve, denser at the start; its last one is always kept. A formulation that solves
 * again, after a failure or another problem, counts its iterations from 1: that is another curve. */
void mor_lab_thin_trace(const mor_trace* from, bool step, mor_lab_trace* to)
{
    int last = -1, count = from->count > 0;
    while (count < from->count && from->lines[count].iteration > from->lines[count - 1].iteration) count++;
    for (int k = 0; k < MOR_LAB_TRACE && count > 0; k++) {
        double t = (double)k / (MOR_LAB_TRACE - 1);
        int i = count <= MOR_LAB_TRACE ? k : (int)floor((count - 1) * t * t + 0.5);
        if (i <= last) i = last + 1;
        if (i >= count) break;
        last = i;
        const mor_trace_line* line = &from->lines[i];
        to->iteration[to->count] = line->iteration;
        to->time_s[to->count] = line->time_s;
        to->error[to->count] = step ? line->residual.velocity : line->residual.relative;
        to->natural[to->count++] = line->residual.natural;
    }
}

/* One file for each followed run: FOLDER/<problem>-<formulation>-<solver>.h5. One that is there stays. */
mor_code mor_lab_store_iterations(const mor_lab* lab, const mor_lab_problem* p, int formulation, int solver,
                                  const mor_iterations* islands, int count, mor_error* error)
{
    char path[1100];
    bool any = false;
    for (int i = 0; i < count; i++) any = any || islands[i].count;
    if (!any) return MOR_OK;
    int n = snprintf(path, sizeof path, "%s/%s-%s-%s.h5", lab->options.iterations, p->name,
                     mor_lab_formulation_name(lab, formulation), mor_lab_solver_name(lab, solver));
    for (char* c = path + strlen(lab->options.iterations) + 1; *c; c++)
        if (*c == '/') *c = '_';
    if (n >= (int)sizeof path) return mor_fail(error, MOR_SYSTEM, "%.60s...: name too long", path);
    if (access(path, F_OK) == 0) return MOR_OK;
    return mor_iterations_write(path, islands, count, p->name, mor_lab_formulation_name(lab, formulation),
                                mor_lab_solver_name(lab, solver), error);
}

/* ------------------------------------------------------------------------------ statistics */

void mor_lab_measure_frame(const mor_bpmd_frame* f, const mor_world* w, mor_lab_problem* p)
{
    double least = INFINITY, most = 0.0;
    p->bodies = 0;
    for (int i = 0; i < f->body_count; i++)
        if (f->bodies[i].kind == MOR_DYNAMIC) {
            least = fmin(least, f->bodies[i].mass);
            most = fmax(most, f->bodies[i].mass);
            p->bodies++;
        }
    p->mass_ratio = p->bodies ? most / least : 1.0;
    p->contacts = f->contact_count;
    p->islands = w->last->island_count;
    p->rows = p->dof = p->deficiency = 0;
    p->condition = 1.0;
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        p->rows += s->row_count;
        p->dof += s->dof;
        if (s->row_count > LARGEST_SPECTRUM) p->deficiency = -1, p->condition = NAN;
        if (p->deficiency < 0) continue;
        int rank;
        double condition;
        if (!mor_lab_spectrum(s, &rank, &condition)) p->deficiency = -1, p->condition = NAN;
        else p->deficiency += s->row_count - rank, p->condition = fmax(p->condition, condition);
    }
    p->measured = true;
}
