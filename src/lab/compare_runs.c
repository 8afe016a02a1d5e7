/* All runs of one problem, in a fixed order; what is too slow is not tried again. See compare.h. */
#include "lab/compare_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/fclib/fclib.h"
#include "model/step.h"
#include "lab/hash.h"

/* ---------------------------------------------------------------------------- all the runs */

/* A run that is done already; the list is sorted only at the end. */
static const mor_lab_run* earlier(const mor_lab* lab, int problem, int formulation, int solver, int tol)
{
    for (int i = lab->run_count - 1; i >= 0; i--) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->problem == problem && r->formulation == formulation && r->solver == solver && r->tol == tol) return r;
    }
    return NULL;
}

bool mor_lab_before(const mor_lab* lab, const mor_lab_problem* a, const mor_lab_problem* b)
{
    int file = strcmp(a->path, b->path);
    if (a->frame < 0 || b->frame < 0 ||
        (lab->options.assume == MOR_LAB_FAMILY ? strcmp(a->family, b->family) : file) != 0)
        return false;
    return a->contacts != b->contacts ? a->contacts < b->contacts : file ? file < 0 : a->frame < b->frame;
}

bool mor_lab_mine(const mor_lab* lab, int problem)
{
    const mor_lab_problem* p = &lab->problems[problem];
    const char* key = p->frame < 0 ? p->name : p->family;
    int n = lab->options.shards;
    return n <= 1 || (int)(mor_hash_bytes(MOR_HASH_BEGIN, key, strlen(key)) % (uint64_t)n) == lab->options.shard - 1;
}

bool mor_lab_scene_mine(const mor_lab* lab, int scene)
{
    return lab->options.shards <= 1 || scene % lab->options.shards == lab->options.shard - 1;
}

static bool same_method(const mor_lab_run* a, const mor_lab_run* b)
{
    return a->formulation == b->formulation && a->solver == b->solver && a->tol == b->tol;
}

bool mor_lab_solved_beyond(const mor_lab* lab, const mor_lab_run* run)
{
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        if (r->status == MOR_SOLVED && r->formulation == run->formulation && r->solver == run->solver &&
            r->tol <= run->tol && mor_lab_before(lab, &lab->problems[run->problem], &lab->problems[r->problem]))
            return true;
    }
    return false;
}

/* Is the method taken to be too slow for this frame? The limit was too short on MOR_LAB_LATE frames that are smaller,
 * as options.assume says, and none that is as large as one of them was solved. Every MOR_LAB_PROBE-th frame that would
 * be left out is tried all the same. */
static bool too_slow(const mor_lab* lab, const mor_lab_run* run)
{
    const mor_lab_problem *p = &lab->problems[run->problem], *solved = NULL;
    int late = 0, left_out = 0;
    if (mor_lab_solved_beyond(lab, run)) return false;
    for (int i = 0; i < lab->run_count; i++) { /* the largest smaller frame that was solved */
        const mor_lab_run* r = &lab->runs[i];
        const mor_lab_problem* q = &lab->problems[r->problem];
        if (r->status == MOR_SOLVED && same_method(r, run) && mor_lab_before(lab, q, p) &&
            (!solved || mor_lab_before(lab, solved, q)))
            solved = q;
    }
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        const mor_lab_problem* q = &lab->problems[r->problem];
        if (!same_method(r, run) || r->status != MOR_TIME_LIMIT || !mor_lab_before(lab, q, p) ||
            (solved && mor_lab_before(lab, q, solved)))
            continue;
        if (r->assumed) left_out++;
        else if (strcmp(q->path, p->path) == 0 || 3 * q->contacts <= 2 * p->contacts) late++;
    }
    return late >= MOR_LAB_LATE && left_out % MOR_LAB_PROBE != MOR_LAB_PROBE - 1;
}

/* One problem and what its runs share. */
typedef struct measurement {
    const mor_lab* lab;
    int index;
    mor_bpmd_frame frame; /* a frame: its world, and the one of its shapes */
    mor_world *w, *shapes;
    int* order;            /* the frame's contact behind each of the world's */
    mor_problem_file file; /* else: a stored problem */
    mor_arena* arena;
    mor_lab_emit emit;
    void* user;
    mor_lab_run last; /* the run before; `late`: it was too slow */
    bool late;
} measurement;

/* Reads the problem and measures what is not known of it. */
static mor_code read_problem(measurement* m, mor_lab_problem* p, mor_error* error)
{
    const mor_lab_options* o = &m->lab->options;
    mor_code code;
    if (p->frame >= 0) {
        mor_bpmd* source = mor_bpmd_open_again(p->path, error);
        code = source ? mor_bpmd_read(source, p->frame, &m->frame, error) : MOR_BAD_INPUT;
        m->frame.maximal = o->maximal;
        if (!code) m->frame.shapes = m->shapes = mor_bpmd_shapes(source, o->library);
        mor_bpmd_free(source);
        if (!code && !(m->order = calloc((size_t)m->frame.contact_count + 1, sizeof *m->order)))
            code = mor_fail(error, MOR_SYSTEM, "out of memory");
        if (!code && !(m->w = mor_bpmd_world(&m->frame, o->library, m->order, error))) code = MOR_BAD_INPUT;
        if (!code && !p->measured) mor_lab_measure_frame(&m->frame, m->w, p);
        if (!code) mor_lab_judge_stored(&m->frame, m->w, m->order, p);
    } else {
        code = mor_problem_load(p->path, p->kind, &m->file, error);
        if (!code) p->rows = m->file.problem.size, p->contacts = m->file.problem.contact_count, p->measured = true;
    }
    if (!code && !(m->arena = mor_arena_create(NULL))) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    return code;
}

static void run_method(measurement* m, mor_lab_run* run, mor_trace* trace, mor_iterations* iterations)
{
    if (m->w) mor_lab_run_frame(m->lab, m->w, run, trace, iterations, m->order, m->arena);
    else mor_lab_run_problem(m->lab, &m->file.problem, run, trace, iterations, m->arena);
}

/* What did not get to a loose tolerance in time does not get to a tight one, nor what was too slow on smaller frames
 * to larger ones. False: it has to be tried. */
static bool assume_late(const measurement* m, mor_lab_run* run)
{
    const mor_lab* lab = m->lab;
    const mor_lab_run* last = &m->last;
    if (run->tol > 0 && m->late && last->solver == run->solver && last->formulation == run->formulation) {
        int tol = run->tol;
        *run = *last;
        run->tol = tol;
        snprintf(run->detail, sizeof run->detail, "%sthe limit was too short for %g already",
                 run->assumed ? "not tried: " : "", lab->options.tols[last->tol]);
        return true;
    }
    if (lab->options.assume == MOR_LAB_NOTHING || !too_slow(lab, run)) return false;
    run->status = MOR_TIME_LIMIT;
    run->assumed = true;
    run->residual = mor_lab_no_residual();
    run->error = run->coulomb = run->user_error = NAN;
    run->time_s = run->total_s = lab->options.time_limit;
    snprintf(run->detail, sizeof run->detail, "not tried: too slow on %d smaller frames", MOR_LAB_LATE);
    return true;
}

/* The run once more with its iterations followed: judging every one must not disturb the one that is timed. */
static void follow(measurement* m, const mor_lab_run* run)
{
    const mor_lab* lab = m->lab;
    mor_trace trace = { 0 };
    mor_lab_run scratch = *run;
    int islands = m->w ? m->w->last->island_count : 1;
    mor_iterations* all = lab->options.iterations ? calloc((size_t)islands + 1, sizeof *all) : NULL;
    run_method(m, &scratch, &trace, all);
    mor_error lost = { 0 };
    if (all &&
        mor_lab_store_iterations(lab, &lab->problems[m->index], run->formulation, run->solver, all, islands, &lost)) {
        mor_lab_message told = { .kind = 'E', .as.run = { .problem = m->index, .status = MOR_SYSTEM } };
        snprintf(told.as.run.detail, sizeof told.as.run.detail, "%.110s", lost.text);
        m->emit(m->user, &told);
    }
    for (int i = 0; all && i < islands; i++) mor_iterations_free(&all[i]);
    free(all);
    mor_lab_message message = {
        .kind = 'T', .as.trace = { .problem = m->index, .formulation = run->formulation, .solver = run->solver }
    };
    uint32_t produces = m->w ? lab->formulations[run->formulation]->produces : 0;
    bool step = (produces & (MOR_STEP_CONE | MOR_STEP_PYRAMID)) && !(produces & (MOR_GFC2D | MOR_GFC3D));
    mor_lab_thin_trace(&trace, step, &message.as.trace);
    mor_trace_free(&trace);
    if (message.as.trace.count) m->emit(m->user, &message);
}

static void measure_run(measurement* m, int f, int s, int t, bool traced)
{
    const mor_lab* lab = m->lab;
    mor_lab_message message = { .kind = 'B',
                                .as.run = { .problem = m->index, .formulation = f, .solver = s, .tol = t } };
    m->emit(m->user, &message);
    mor_lab_run* run = &message.as.run;
    const mor_lab_run* looser = t > 0 ? earlier(lab, m->index, f, s, t - 1) : NULL; /* of a process that was ended */
    if (looser && looser->status == MOR_TIME_LIMIT) m->last = *looser, m->late = true;
    if (!assume_late(m, run)) run_method(m, run, NULL, NULL);
    message.kind = 'R';
    m->emit(m->user, &message);
    m->last = *run;
    m->late = run->status == MOR_TIME_LIMIT;
    if (traced && !run->assumed && s >= 0 && t == lab->options.tol_count - 1) follow(m, run);
}

mor_code mor_lab_measure(const mor_lab* lab, int index, const bool* done, bool traced, mor_lab_emit emit, void* user,
                         mor_error* error)
{
    measurement m = { .lab = lab, .index = index, .emit = emit, .user = user };
    mor_lab_message message = { .kind = 'P', .as.problem = lab->problems[index] };
    mor_code code = read_problem(&m, &message.as.problem, error);
    if (!code) emit(user, &message);
    for (int f = -1; f < lab->formulation_count && !code; f++)
        for (int s = -1; s < lab->solver_count; s++)
            for (int t = 0; t < lab->options.tol_count; t++) {
                int slot = mor_lab_slot(lab, index, f, s, t);
                if (slot >= 0 && !done[slot]) measure_run(&m, f, s, t, traced);
            }
    mor_arena_destroy(m.arena);
    if (m.file.arena) mor_problem_file_free(&m.file);
    mor_world_destroy(m.w);
    mor_world_destroy(m.shapes);
    free(m.order);
    mor_bpmd_frame_clear(&m.frame);
    return code;
}
