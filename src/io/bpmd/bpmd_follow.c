/* The iterates of a run's own solves: what Table 2 of the paper stores per iteration.
 *
 * The solve stage of a recorded step is wrapped: the solver tells every iterate (mor_trace), which is judged in the
 * problem as the formulation posed it, and the state of every contact is looked up through contact_view.h. The solver
 * takes the same path as without: its answer has the same bits. A formulation that solves several problems in a step
 * has their iterates one after the other, each counted from 1; the last line is the answer. Beyond `most` lines
 * iterates are not kept, but for the answer.
 *
 * An island that no solver was asked for (nothing to iterate, at rest, a formulation without problem) has one line: the
 * errors of its answer.
 *
 * Cost: about one sweep over the rows per iterate. Islands may come from several threads, each with its own lines.
 *
 * Y. Lu, J. Williams, J. Trinkle, C. Lacoursiere (2014), Table 2, eqs. 16 and 17. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/contact_view.h"
#include "formulation/impact.h"
#include "io/bpmd/bpmd.h"
#include "model/step.h"
#include "model/world.h"

enum { NOT_TOLD = -2 };

typedef struct follower {
    mor_bpmd_lines* lines;
    mor_island* island;
    mor_solve_stage inner; /* the stage as it was */
    int most;
    mor_trace trace;
    /* of the solve at work */
    mor_contact_view view;
    mor_contact_verdict* verdicts;
    double* last; /* the iterate that was kept last; `unknowns` numbers */
    int unknowns;
    bool any;
} follower;

/* Room for one more line; false: out of memory. */
static bool grow(mor_bpmd_lines* a)
{
    if (a->count < a->capacity) return true;
    size_t capacity = a->capacity ? 2 * (size_t)a->capacity : 16;
    double* values = realloc(a->values, capacity * MOR_BPMD_MEASURES * sizeof *values);
    if (values) a->values = values;
    signed char* states = values ? realloc(a->states, capacity * (size_t)a->contacts + 1) : NULL;
    if (!states) return false;
    a->states = states;
    a->capacity = (int)capacity;
    return true;
}

static void put_line(double* to, int iteration, const mor_residual* r)
{
    const double line[MOR_BPMD_MEASURES] = { iteration,        r->fb,           r->cck,
                                             r->natural,       r->normal_error, r->friction_error,
                                             r->friction_power };
    memcpy(to, line, sizeof line);
}

static void add_line(follower* f, int iteration, mor_residual residual, const double* z)
{
    mor_bpmd_lines* a = f->lines;
    mor_arena* arena = f->inner.arena;
    if (!f->last || !f->verdicts || !grow(a)) return;
    signed char* states = a->states + (size_t)a->count * (size_t)a->contacts;
    bool told = f->view.count && f->view.contact && mor_contact_view_judge(&f->view, z, &residual, f->verdicts, arena);
    memset(states, told ? MOR_VERDICT_OPEN : NOT_TOLD, (size_t)a->contacts); /* left out of the problem: no impulse */
    for (int c = 0; told && c < f->view.count; c++) states[f->view.contact[c]] = (signed char)f->verdicts[c].state;
    put_line(a->values + (size_t)a->count++ * MOR_BPMD_MEASURES, iteration, &residual);
    memcpy(f->last, z, (size_t)f->unknowns * sizeof *z);
    f->any = true;
}

static void each(void* user, const mor_trace_line* line, const double* z)
{
    follower* f = user;
    int iteration = line->iteration;
    mor_residual residual = line->residual;
    f->trace.count = 0; /* the line is not needed any more */
    if (f->lines->count < f->most - 1) add_line(f, iteration, residual, z);
    else f->trace.every = INT_MAX;
}

/* The solver with its iterates followed, then its answer where that is none of them. */
static mor_report solve(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    follower* f = stage->user;
    mor_arena* arena = stage->arena;
    f->unknowns = mor_problem_unknowns(problem);
    f->any = false;
    f->last = mor_arena_alloc(arena, ((size_t)f->unknowns + 1) * sizeof *f->last);
    bool good = mor_contact_view_make(&f->view, &f->island->system, problem, stage->unknowns, arena);
    f->verdicts = good ? mor_arena_alloc(arena, ((size_t)f->view.count + 1) * sizeof *f->verdicts) : NULL;
    f->trace.every = f->lines->count < f->most - 1 ? 1 : INT_MAX;
    f->trace.each = each, f->trace.user = f;
    f->inner.coarse = stage->coarse;
    f->island->trace = &f->trace;
    mor_report report = f->inner.solve(&f->inner, problem, warm, z);
    f->island->trace = NULL;
    bool known = f->any && memcmp(f->last, z, (size_t)f->unknowns * sizeof *z) == 0;
    if (!known && f->lines->count >= f->most) f->lines->count = f->most - 1; /* the answer stays in any case */
    if (!known) add_line(f, report.iterations, report.residual, z);
    return report;
}

mor_report mor_bpmd_follow(const mor_world* w, const mor_system* s, mor_solve_stage* stage, mor_answer* answer,
                           int most, mor_bpmd_before* before)
{
    long index = (const mor_island*)s - w->last->islands; /* the system is the island's first member */
    if (index < 0 || index >= before->island_room || index >= w->last->island_count || s->row_count == 0)
        return mor_impact_step(w->formulation, w->formulation_options, s, stage, answer);
    mor_bpmd_lines* lines = &before->islands[index].lines;
    if (lines->contacts != s->contact_count) lines->capacity = 0, lines->contacts = s->contact_count;
    long states = w->last->contacts.count ? MOR_BPMD_STATES / w->last->contacts.count : most;
    follower f = { .lines = lines,
                   .island = &w->last->islands[index],
                   .inner = *stage,
                   .most = states < 2      ? 2
                           : states < most ? (int)states
                                           : most };
    mor_solve_stage own = *stage;
    own.solve = solve, own.user = &f;
    lines->count = 0;
    mor_report report = mor_impact_step(w->formulation, w->formulation_options, s, &own, answer);
    mor_trace_free(&f.trace);
    return report;
}

/* --------------------------------------------------------------------- all islands of a frame */

/* Totals add up, errors of a contact are the largest; NaN where no island has a number. */
static void merge(double* all, const double* one)
{
    for (int m = 0; m < MOR_BPMD_MEASURES; m++) {
        bool sum = m == MOR_BPMD_FB || m == MOR_BPMD_CCK || m == MOR_BPMD_NATURAL || m == MOR_BPMD_POWER;
        if (isnan(one[m])) continue;
        if (isnan(all[m])) all[m] = one[m];
        else all[m] = sum ? all[m] + one[m] : mor_max(all[m], one[m]);
    }
}

mor_code mor_bpmd_capture_lines(const mor_world* w, const mor_bpmd_before* before, mor_bpmd_frame* f)
{
    size_t n = (size_t)f->contact_count;
    f->line_count = 1;
    for (int i = 0; i < w->last->island_count && i < before->island_room; i++)
        if (before->islands[i].lines.count > f->line_count) f->line_count = before->islands[i].lines.count;
    size_t lines = (size_t)f->line_count;
    f->lines = malloc(lines * MOR_BPMD_MEASURES * sizeof *f->lines);
    f->states = malloc(lines * n + 1);
    if (!f->lines || !f->states) return MOR_SYSTEM;
    for (size_t k = 0; k < lines * MOR_BPMD_MEASURES; k++) f->lines[k] = w->last->island_count ? NAN : 0.0;
    for (size_t k = 0; k < lines; k++)
        for (size_t c = 0; c < n; c++) f->states[k * n + c] = (signed char)f->contacts[c].stick;
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_island* island = &w->last->islands[i];
        const mor_bpmd_lines* a = i < before->island_room ? &before->islands[i].lines : NULL;
        size_t own = a && a->contacts == island->system.contact_count ? (size_t)a->count : 0;
        double answer[MOR_BPMD_MEASURES];
        put_line(answer, island->report.iterations, &island->report.residual);
        for (size_t k = 0; k < lines; k++) {
            size_t at = k < own ? k : own - 1;
            merge(f->lines + k * MOR_BPMD_MEASURES, own ? a->values + at * MOR_BPMD_MEASURES : answer);
            for (int c = 0; own && c < a->contacts; c++)
                f->states[k * n + (size_t)island->system.contacts[c].contact] =
                    a->states[at * (size_t)a->contacts + (size_t)c];
        }
    }
    return MOR_OK;
}
