/* One run of a scene in this process, see trial.h. The loop is that of `moreau run`. */
#include "lab/trial.h"

#include "io/json/run_json.h"
#include "io/scene/scene_def.h"
#include "io/text/text_file.h"
#include "step/plain_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_SCENE = 256 << 20, WHY = 300 };

static const char* const own_words[] = { "refused", "crashed", "time_limit" };

const char* mor_trial_status_name(int status)
{
    return status < MOR_TRIAL_REFUSED ? mor_run_status_name((mor_run_status)status)
                                      : own_words[status - MOR_TRIAL_REFUSED];
}

int mor_trial_status_of(const char* name)
{
    for (int i = 0; i < MOR_TRIAL_STATUSES; i++)
        if (strcmp(name, mor_trial_status_name(i)) == 0) return i;
    return -1;
}

mor_code mor_trial_open(mor_trial* t, const char* scene, const mor_library* library, mor_error* error)
{
    *t = (mor_trial){ .library = library };
    mor_code code = mor_scene_locate(scene, t->file, sizeof t->file, error);
    if (!code) code = mor_text_read(t->file, LARGEST_SCENE, &t->text, &t->length, error);
    if (code) return code;
    t->hash = mor_hash_bytes(MOR_HASH_BEGIN, t->text, t->length);
    if (t->text[strspn(t->text, " \t\r\n")] == '<') {
        free(t->text);
        t->text = NULL;
    }
    mor_error bad = { 0 }; /* told by every run, with the values that it has */
    t->parsed = t->text ? mor_scene_template_create(t->text, t->length, t->file, &bad) : NULL;
    return bad.code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "%s", bad.text) : MOR_OK;
}

void mor_trial_close(mor_trial* t)
{
    mor_scene_template_destroy(t->parsed);
    free(t->text);
    t->text = NULL, t->parsed = NULL;
}

mor_world* mor_trial_world(const mor_trial* t, const char* const* overrides, mor_scene** scene, mor_error* error)
{
    *scene = t->parsed ? mor_scene_of_template(t->parsed, overrides, t->library, error)
             : t->text ? mor_scene_parse(t->text, t->length, t->file, overrides, t->library, error)
                       : mor_scene_load(t->file, overrides, t->library, error);
    mor_world* world = *scene ? mor_scene_build(*scene, 1, error) : NULL;
    if (!world) {
        mor_scene_destroy(*scene);
        *scene = NULL;
    }
    return world;
}

/* ------------------------------------------------------------------------------- over the steps */

typedef struct series {
    mor_probe probe;
    double low, high, sum, square;
    long count;
} series;

/* Everything one run holds. */
typedef struct session {
    const mor_trial* trial;
    mor_scene* scene;
    mor_world* world;
    mor_run* run;
    series* series;              /* one for each measure; only those over the steps are used */
    mor_json_document* document; /* NULL: no measure needs it */
    mor_json json;
    int sample;
    int watched;        /* measures over the steps */
    const char** paths; /* of the measures that lead into the document */
    int path_count;
} session;

static void count_step(session* s, const mor_step_report* report)
{
    double now = mor_world_time(s->world);
    for (int i = 0; i < s->trial->measure_count; i++) {
        const mor_measure* m = &s->trial->measures[i];
        series* x = &s->series[i];
        double slack = 1e-9 * (1.0 + fabs(now)); /* s: times are sums of steps */
        if (m->kind != MOR_MEASURE_SERIES || now < m->from - slack || now > m->until + slack) continue;
        double v = mor_probe_value(&x->probe, s->world, report);
        if (x->count == 0 || v < x->low) x->low = v;
        if (x->count == 0 || v > x->high) x->high = v;
        x->sum += v;
        x->square += v * v;
        x->count++;
    }
}

static double series_value(const series* x, mor_measure_over over)
{
    if (x->count == 0) return NAN;
    double n = (double)x->count;
    return over == MOR_OVER_MIN    ? x->low
           : over == MOR_OVER_MAX  ? x->high
           : over == MOR_OVER_MEAN ? x->sum / n
           : over == MOR_OVER_RMS  ? sqrt(x->square / n)
                                   : x->high - x->low;
}

static void write_sample(session* s)
{
    mor_json_object(&s->json, NULL);
    mor_json_number(&s->json, "time", mor_world_time(s->world));
    mor_run_json_state(&s->json, s->world);
    mor_json_end(&s->json);
}

static void write_samples(session* s)
{
    const mor_trial* t = s->trial;
    for (; s->sample < t->time_count && mor_world_reached(s->world, t->times[s->sample]); s->sample++)
        if (s->document) write_sample(s);
}

/* ------------------------------------------------------------------------------------ the run */

/* Does the path lie at or below one of the words? */
static bool is_below(const char* path, const char* const* words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (strncmp(path, *words, n) == 0 && (path[n] == '\0' || path[n] == '.')) return true;
    }
    return false;
}

/* What a plain run (step/plain_run.h) has to count for a path: MOR_SUMS_...; -1: it cannot. Most measures look at the
 * end of a run, or at samples of it. */
static int sums_of(const char* path)
{
    static const char* const known[] = { "samples",
                                         "bodies",
                                         "robots",
                                         "energy.initial",
                                         "momentum",
                                         "energy.final",
                                         "time",
                                         "steps",
                                         "step",
                                         "contacts.final",
                                         "failures",
                                         "contacts.force",
                                         "max_drift",
                                         "below_goal",
                                         "final_penetration",
                                         NULL };
    static const char* const energy[] = { "energy.max_gain", "energy.max_step_gain", "energy.correction_work",
                                          "energy.projection_work", NULL };
    static const char* const sizes[] = { "contacts.max",    "problem_size.max",
                                         "residual.max",    "residual.velocity_max",
                                         "iterations.max",  "iterations.mean",
                                         "max_joint_error", NULL };
    static const char* const penetration[] = { "max_penetration", "max_raw_penetration", NULL };
    return is_below(path, known)         ? 0
           : is_below(path, energy)      ? MOR_SUMS_ENERGY
           : is_below(path, sizes)       ? MOR_SUMS_SIZES
           : is_below(path, penetration) ? MOR_SUMS_PENETRATION
                                         : -1;
}

static mor_run* make_run(session* s, mor_error* error)
{
    const mor_trial* t = s->trial;
    bool plain = true;
    int sums = 0;
    for (int i = 0; i < t->measure_count; i++) {
        const mor_measure* m = &t->measures[i];
        int asked = m->kind == MOR_MEASURE_SERIES ? 0 : m->kind == MOR_MEASURE_DOCUMENT ? sums_of(m->path) : -1;
        if (asked < 0) plain = false;
        else sums |= asked;
    }
    int steps = (int)fmin(floor(mor_scene_end(s->scene) / mor_world_get_step(s->world) + 0.5), 1e6);
    return plain ? mor_run_create_plain(s->world, sums, error) : mor_run_create(s->world, steps, error);
}

static mor_code begin(session* s, const char* const* overrides, int* measure, mor_error* error)
{
    const mor_trial* t = s->trial;
    s->world = mor_trial_world(t, overrides, &s->scene, error);
    if (!s->world) return error->code ? error->code : MOR_SYSTEM;
    s->series = calloc((size_t)t->measure_count + 1, sizeof *s->series);
    s->paths = calloc((size_t)t->measure_count + 1, sizeof *s->paths);
    if (!s->series || !s->paths) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < t->measure_count; i++) {
        const mor_measure* m = &t->measures[i];
        *measure = i;
        if (m->kind == MOR_MEASURE_DOCUMENT) s->paths[s->path_count++] = m->path;
        s->watched += m->kind == MOR_MEASURE_SERIES;
        if (m->kind == MOR_MEASURE_SERIES && mor_probe_make(&s->series[i].probe, s->world, m->path, error))
            return MOR_BAD_INPUT;
    }
    *measure = -1;
    s->run = make_run(s, error);
    if (!s->run) return MOR_SYSTEM;
    if (s->path_count && !(s->document = mor_json_tree("run"))) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (s->document) {
        s->json = mor_json_begin_tree(s->document);
        mor_json_object(&s->json, NULL);
        mor_json_list(&s->json, "samples");
    }
    return MOR_OK;
}

static mor_code simulate(session* s, mor_error* error)
{
    const mor_trial* t = s->trial;
    double end = mor_scene_end(s->scene), h = mor_world_get_step(s->world);
    bool variable = mor_world_get_adaptive(s->world, NULL);
    int steps = variable ? -1 : (int)floor(end / h + 0.5);
    write_samples(s);
    if (s->watched) count_step(s, NULL);
    for (int k = 1; steps >= 0 ? k <= steps : !mor_world_reached(s->world, end); k++) {
        mor_step_report r;
        if (steps < 0) mor_world_limit_step(s->world, end);
        if (s->sample < t->time_count) mor_world_limit_step(s->world, t->times[s->sample]);
        mor_code code = mor_run_step(s->run, &r, error);
        if (code != MOR_OK) return code;
        if (mor_run_stopped(s->run)) break;
        if (s->sample < t->time_count) write_samples(s);
        if (s->watched) count_step(s, &r);
    }
    return MOR_OK;
}

/* Ends the document; `whole`: with what no measure asks for. */
static mor_code finish_document(session* s, const mor_run_summary* summary, bool whole, mor_error* error)
{
    mor_json_end(&s->json);
    mor_run_json_asked(&s->json, s->world, s->scene, summary, mor_run_start(s->run), whole ? NULL : s->paths,
                       s->path_count);
    mor_json_end(&s->json);
    return mor_json_finish(&s->json) ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

static mor_code measure_all(session* s, mor_trial_result* result, mor_error* error)
{
    const mor_trial* t = s->trial;
    mor_run_summary summary = mor_run_summarise(s->run);
    result->status = (int)summary.status;
    result->state_hash = summary.state_hash;
    snprintf(result->detail, sizeof result->detail, "%s", summary.detail);
    mor_code code = s->document ? finish_document(s, &summary, false, error) : MOR_OK;
    for (int i = 0; i < t->measure_count && !code; i++) {
        const mor_measure* m = &t->measures[i];
        double value = NAN;
        if (m->kind == MOR_MEASURE_SERIES) value = series_value(&s->series[i], m->over);
        else if (m->kind == MOR_MEASURE_FUNCTION) value = m->function(s->world, &summary);
        else if (!mor_measure_find(mor_json_root(s->document), m->path, &value, NULL)) value = NAN; /* not reached */
        result->values[i] = value;
    }
    return code;
}

static void end(session* s)
{
    mor_json_free(s->document);
    free(s->series);
    free(s->paths);
    mor_run_destroy(s->run);
    mor_world_destroy(s->world);
    mor_scene_destroy(s->scene);
}

mor_code mor_trial_run(const mor_trial* trial, const char* const* overrides, mor_trial_result* result, mor_error* error)
{
    session s = { .trial = trial };
    mor_error own = { 0 };
    int measure = -1;
    for (int i = 0; i < trial->measure_count; i++) result->values[i] = NAN;
    result->state_hash = 0;
    result->detail[0] = '\0';
    mor_code code = begin(&s, overrides, &measure, &own);
    if (!code) code = simulate(&s, &own);
    if (!code) code = measure_all(&s, result, &own);
    end(&s);
    if (code != MOR_BAD_INPUT) return code ? mor_fail(error, MOR_SYSTEM, "%s", own.text) : MOR_OK;
    result->status = MOR_TRIAL_REFUSED;
    snprintf(result->detail, sizeof result->detail, "%.190s", own.text);
    return MOR_OK;
}

/* Members that a document has only when there is something to say. */
static bool comes_and_goes(const char* path)
{
    return strncmp(path, "adaptive", 8) == 0 || strncmp(path, "approximate", 11) == 0 ||
           strncmp(path, "joints", 6) == 0;
}

mor_code mor_trial_check(const mor_trial* trial, const char* const* overrides, int* measure, mor_error* error)
{
    session s = { .trial = trial };
    *measure = -1;
    mor_code code = begin(&s, overrides, measure, error);
    if (!code && s.document) {
        for (int i = 0; i < trial->time_count; i++) write_sample(&s);
        mor_run_summary summary = mor_run_summarise(s.run);
        code = finish_document(&s, &summary, true, error);
    }
    for (int i = 0; i < trial->measure_count && !code; i++) {
        const mor_measure* m = &trial->measures[i];
        double value;
        char why[WHY];
        if (m->kind != MOR_MEASURE_DOCUMENT || mor_measure_find(mor_json_root(s.document), m->path, &value, why) ||
            comes_and_goes(m->path))
            continue;
        *measure = i;
        code = mor_fail(error, MOR_BAD_INPUT, "%s", why);
    }
    end(&s);
    return code;
}
