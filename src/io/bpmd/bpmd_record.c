/* Problems of a running world into a BPMD file, see bpmd.h. */
#include "io/bpmd/bpmd.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formulation/impact.h"
#include "io/hdf5/h5.h"
#include "io/scene/scene_def.h"
#include "model/world.h"

/* ------------------------------------------------------------------------------- recorder */

enum { MOST_BYTES = 64 << 20 }; /* of waiting frames */

struct mor_bpmd_recorder {
    char path[1024];
    mor_world* world;
    mor_user_stage user; /* the user stage that was there */
    void* user_data;
    int every, from, to;
    int iterations; /* most that are kept of a step */
    bool following; /* those of this step */
    mor_bpmd_before before;
    mor_formulation_stage solve; /* the solve stage that was there */
    void* solve_data;
    bool watched; /* what the world said of `solve` */
    mor_bpmd_frame* waiting;
    int waiting_count, waiting_capacity, written;
    size_t waiting_bytes;
    double due;                    /* when the next flush may come */
    double spent, seconds_each;    /* on flushes so far; on a frame of the last one */
    const volatile int* interrupt; /* NULL: none */
    mor_error error;
};

static void flush(mor_bpmd_recorder* r)
{
    if (!r->waiting_count || r->error.code) return;
    double start = mor_clock(), count = r->waiting_count;
    if (!mor_bpmd_append_until(r->path, r->waiting, r->waiting_count, r->written + 1, r->interrupt, &r->error))
        r->written += r->waiting_count;
    for (int i = 0; i < r->waiting_count; i++) mor_bpmd_frame_clear(&r->waiting[i]);
    r->waiting_count = 0;
    r->waiting_bytes = 0;
    double end = mor_clock();
    r->due = end + fmax(0.5, 20.0 * (end - start));
    r->spent += end - start;
    r->seconds_each = (end - start) / count;
}

/* Steps may come far faster than frames can be written. What waits shall not take much longer than two seconds, so that
 * a run that is asked to stop does; every flush copies the file, so it may also take a quarter of the time spent. */
static bool takes_long(const mor_bpmd_recorder* r)
{
    return r->waiting_count * r->seconds_each > fmax(2.0, 0.25 * r->spent) && r->due < INFINITY;
}

/* Is a step written? Counted from 1. */
static bool is_wanted(const mor_bpmd_recorder* r, int step)
{
    return step >= r->from && step <= r->to && (step - 1) % r->every == 0;
}

static void before_step(void* user, mor_world* world)
{
    mor_bpmd_recorder* r = user;
    if (r->user) r->user(r->user_data, world);
    r->following = r->iterations > 0 && is_wanted(r, r->world->step + 1);
    if (mor_bpmd_capture_bodies(world, &r->before) && !r->error.code)
        mor_fail(&r->error, MOR_SYSTEM, "%s: out of memory", r->path);
}

/* Sees what every island is solved from, also when stabilisation solves again. Islands may come from several threads,
 * each in its own slot. */
static mor_report at_solve(void* user, const mor_system* system, mor_solve_stage* stage, mor_answer* answer)
{
    mor_bpmd_recorder* r = user;
    const mor_world* w = r->world;
    mor_bpmd_capture_start(w, system, answer, &r->before);
    if (r->following && !r->solve) return mor_bpmd_follow(w, system, stage, answer, r->iterations, &r->before);
    return r->solve ? r->solve(r->solve_data, system, stage, answer)
                    : mor_impact_step(w->formulation, w->formulation_options, system, stage, answer);
}

static void after_step(void* user, const mor_world* world, const mor_step_report* report)
{
    mor_bpmd_recorder* r = user;
    if (!r->world || r->error.code || !is_wanted(r, report->step)) return;
    if (r->waiting_count == r->waiting_capacity) {
        int capacity = r->waiting_capacity ? 2 * r->waiting_capacity : 16;
        mor_bpmd_frame* grown = realloc(r->waiting, (size_t)capacity * sizeof *grown);
        if (!grown) {
            mor_fail(&r->error, MOR_SYSTEM, "%s: out of memory", r->path);
            return;
        }
        r->waiting = grown;
        r->waiting_capacity = capacity;
    }
    mor_bpmd_frame* f = &r->waiting[r->waiting_count];
    mor_code code = mor_bpmd_capture(world, &r->before, f);
    if (code) {
        mor_fail(&r->error, code, code == MOR_SYSTEM ? "%s: out of memory" : "%s: bodies came or went inside step",
                 r->path);
        return;
    }
    r->waiting_count++;
    r->waiting_bytes += (size_t)f->body_count * sizeof *f->bodies + (size_t)f->contact_count * sizeof *f->contacts +
                        (size_t)f->row_count * sizeof *f->rows +
                        (size_t)f->line_count * (MOR_BPMD_MEASURES * sizeof *f->lines + (size_t)f->contact_count);
    if (mor_clock() >= r->due || r->waiting_bytes > MOST_BYTES || takes_long(r)) flush(r);
}

static void print_options(const mor_field* fields, const void* options, char* text, size_t size)
{
    text[0] = '\0';
    for (const mor_field* f = fields; f && f->name; f++) {
        char value[64];
        mor_field_print(f, options, value, sizeof value);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", f->name, value);
    }
}

static mor_bpmd_recorder* record(const char* path, mor_world* world, const mor_scene* scene, int every, bool paper,
                                 mor_error* error)
{
    char formulation[512], solver[512], common[256];
    print_options(world->formulation->fields, world->formulation_options, formulation, sizeof formulation);
    print_options(mor_world_solver_fields(), &world->solver_options, common, sizeof common);
    print_options(world->solver->fields, world->solver_own_options, solver, sizeof solver - sizeof common - 2);
    if (solver[0]) strcat(solver, " ");
    strcat(solver, common);
    mor_bpmd_meta meta = { scene ? mor_scene_name(scene) : "",
                           scene ? mor_scene_text(scene) : "",
                           world->formulation->name,
                           world->solver->name,
                           world->collision->name,
                           formulation,
                           solver,
                           world->gravity,
                           world->dimension,
                           scene ? scene->file : NULL,
                           scene ? scene->overrides : NULL,
                           paper };
    if (mor_world_turning(world)) {
        mor_fail(error, MOR_BAD_INPUT, "%.200s: the format of problems has no rolling or drilling friction", path);
        return NULL;
    }
    mor_bpmd_recorder* r = calloc(1, sizeof *r);
    if (!r || snprintf(r->path, sizeof r->path, "%s", path) >= (int)sizeof r->path) {
        mor_fail(error, MOR_SYSTEM, "%.200s: out of memory or name too long", path);
        free(r);
        return NULL;
    }
    r->world = world;
    r->every = every < 1 ? 1 : every;
    r->to = 2147483647;
    r->user = world->on_user;
    r->user_data = world->on_user_data;
    if (mor_bpmd_create(path, &meta, error) || mor_world_add_observer(world, after_step, r, error)) {
        free(r);
        return NULL;
    }
    mor_world_on_user(world, before_step, r);
    r->solve = world->on_solve;
    r->solve_data = world->on_solve_data;
    r->watched = world->watched;
    mor_world_on_solve(world, at_solve, r);
    world->watched = !r->solve || r->watched;
    return r;
}

mor_bpmd_recorder* mor_bpmd_record(const char* path, mor_world* world, const mor_scene* scene, int every,
                                   mor_error* error)
{
    return record(path, world, scene, every, false, error);
}

mor_bpmd_recorder* mor_bpmd_record_paper(const char* path, mor_world* world, const mor_scene* scene, int every,
                                         mor_error* error)
{
    return record(path, world, scene, every, true, error);
}

void mor_bpmd_record_range(mor_bpmd_recorder* r, int from, int to)
{
    r->from = from;
    r->to = to;
    r->due = INFINITY;
}

void mor_bpmd_record_interrupt(mor_bpmd_recorder* r, const volatile int* flag) { r->interrupt = flag; }

void mor_bpmd_record_iterations(mor_bpmd_recorder* r, int most) { r->iterations = most; }

mor_code mor_bpmd_state(const mor_bpmd_recorder* r, mor_error* error)
{
    if (r->error.code && error) *error = r->error;
    return r->error.code;
}

mor_code mor_bpmd_close(mor_bpmd_recorder* r, mor_error* error)
{
    if (!r) return MOR_OK;
    flush(r);
    mor_code code = r->error.code;
    if (code && error) *error = r->error;
    mor_world* w = r->world;
    mor_world_on_user(w, r->user, r->user_data);
    mor_world_on_solve(w, r->solve, r->solve_data);
    w->watched = r->watched;
    for (int i = 0; i < w->observer_count; i++)
        if (w->observers[i].user == r) {
            memmove(&w->observers[i], &w->observers[i + 1],
                    (size_t)(w->observer_count - i - 1) * sizeof w->observers[0]);
            w->observer_count--;
            break;
        }
    for (int i = 0; i < r->waiting_count; i++) mor_bpmd_frame_clear(&r->waiting[i]);
    free(r->waiting);
    mor_bpmd_before_clear(&r->before);
    free(r);
    return code;
}
