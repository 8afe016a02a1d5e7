/* The tasks of a plan: checked, run, kept. See sweep.h. */
#include "lab/sweep.h"
#include "base/failed.h"

#include "io/scene/scene_def.h"
#include "io/text/output.h"
#include "lab/task_journal.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHECKED = 200 }; /* values of a parameter that are tried before the sweep */

/* --------------------------------------------------------------------------------- the checks */

/* The sentence of a refused value, without "--set ...:1:7: ", which the plan's position replaces. */
static const char* sentence(const mor_error* inner)
{
    const char* text = inner->text;
    if (strncmp(text, "--set ", 6) != 0) return text;
    char mark[40];
    snprintf(mark, sizeof mark, ":%d:%d: ", inner->line, inner->column);
    const char* at = strstr(text, mark);
    return at ? at + strlen(mark) : text;
}

static mor_code refuse(const mor_node* node, const char* what, const mor_error* inner, mor_error* error)
{
    if (inner->code == MOR_SYSTEM) return mor_fail(error, MOR_SYSTEM, "%s", inner->text);
    return mor_node_fail(node, error, "%s: %s", what, sentence(inner));
}

/* Does the scene take what the plan sets, and one value more? */
static mor_code try_value(mor_sweep* s, const mor_trial* trial, const char* path, const char* value,
                          const mor_node* node, mor_error* error)
{
    const mor_plan* p = s->plan;
    const char** list = calloc((size_t)p->set_count + 2, sizeof *list);
    if (!list) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_plan_setting setting;
    for (int i = 0; i < p->set_count; i++) list[i] = p->set[i];
    snprintf(setting, sizeof setting, "%s=%s", path, value);
    list[p->set_count] = setting;
    mor_error inner = { 0 };
    mor_scene* scene = NULL;
    mor_world* world = mor_trial_world(trial, list, &scene, &inner);
    mor_code code = world ? MOR_OK : refuse(node, setting, &inner, error);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    free(list);
    return code;
}

static mor_code check_parameter(mor_sweep* s, const mor_trial* trial, const mor_parameter* x, mor_error* error)
{
    const mor_node* values = mor_node_get(x->node, "values");
    mor_code code = MOR_OK;
    if (x->kind == MOR_PARAMETER_LIST) {
        int step = 1 + (x->count - 1) / MOST_CHECKED;
        for (int i = 0; i < x->count && !code; i = i + step < x->count || i == x->count - 1 ? i + step : x->count - 1)
            code = try_value(s, trial, x->path, x->texts[i], values ? mor_node_at(values, i) : x->node, error);
        return code;
    }
    char text[40];
    bool normal = x->kind == MOR_PARAMETER_NORMAL;
    code = try_value(s, trial, x->path, mor_short_number(text, sizeof text, x->low), x->node, error);
    if (!code && !normal)
        code = try_value(s, trial, x->path, mor_short_number(text, sizeof text, x->high), x->node, error);
    return code;
}

static bool is_parameter(const mor_plan* p, const char* path)
{
    for (int i = 0; i < p->parameter_count; i++)
        if (strcmp(p->parameters[i].path, path) == 0) return true;
    return false;
}

/* Measures over steps that begin after the run. */
static mor_code check_windows(const mor_plan* p, double last, double end, mor_error* error)
{
    for (int i = 0; i < p->measure_count; i++) {
        const mor_measure* m = &p->measures[i];
        if (m->kind == MOR_MEASURE_SERIES && m->from >= last)
            return mor_node_fail(m->node, error, "%.60s: from %g: the run ends at %g s", m->name, m->from, end);
    }
    return MOR_OK;
}

/* The scene as the plan sets it, its measures and its times. */
static mor_code check_scene(mor_sweep* s, int index, mor_error* error)
{
    const mor_plan* p = s->plan;
    const mor_trial* trial = &s->trials[index];
    mor_error inner = { 0 };
    const char** list = calloc((size_t)p->set_count + 1, sizeof *list);
    if (!list) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = MOR_OK;
    for (int n = 0; n <= p->set_count && !code; n++) { /* one more each time: which is refused? */
        mor_scene* scene = NULL;
        if (n) list[n - 1] = p->set[n - 1];
        mor_world* world = mor_trial_world(trial, list, &scene, &inner);
        double end = world ? mor_scene_end(scene) : 0.0, last = p->time_count ? p->times[p->time_count - 1] : 0.0;
        if (!world && n) code = refuse(p->set_nodes[n - 1], p->set[n - 1], &inner, error);
        else if (!world) code = mor_fail(error, inner.code, "%s", inner.text);
        else if (n == p->set_count && !is_parameter(p, "time.end") && last >= end + 0.5 * mor_world_get_step(world))
            code = mor_node_fail(p->at_node, error, "at %g: the run ends at %g s", last, end);
        else if (n == p->set_count && !is_parameter(p, "time.end") && world)
            code = check_windows(p, end + 0.5 * mor_world_get_step(world), end, error);
        mor_world_destroy(world);
        mor_scene_destroy(scene);
    }
    int measure = -1;
    if (!code && mor_trial_check(trial, list, &measure, &inner)) {
        if (measure < 0) code = mor_fail(error, inner.code, "%s", inner.text);
        else code = refuse(p->measures[measure].node, p->measures[measure].name, &inner, error);
    }
    free(list);
    return code;
}

/* ------------------------------------------------------------------------------- begin and end */

mor_code mor_sweep_hold(mor_sweep* s, mor_plan* plan, mor_error* error)
{
    *s = (mor_sweep){ .plan = plan };
    if (!plan) return mor_failed(error, MOR_BAD_INPUT);
    s->hash = plan->hash;
    s->tasks = mor_plan_tasks(plan);
    s->measures = plan->measure_count;
    size_t n = (size_t)s->tasks + 1;
    s->status = malloc(n);
    s->state_hash = calloc(n, sizeof *s->state_hash);
    s->values = calloc(n * (size_t)(s->measures + 1), sizeof *s->values);
    if (!s->status || !s->state_hash || !s->values) return mor_fail(error, MOR_SYSTEM, "out of memory");
    memset(s->status, -1, n);
    return MOR_OK;
}

static mor_code open_trial(mor_sweep* s, int i, mor_error* error)
{
    const mor_plan* p = s->plan;
    mor_error inner = { 0 };
    char found[4096];
    const char* path = p->scenes[i];
    if (access(path, F_OK) != 0 && s->options.find_scene)
        path = s->options.find_scene(p->scene_nodes[i]->text, found, sizeof found);
    mor_trial* t = &s->trials[i];
    if (mor_trial_open(t, access(path, F_OK) == 0 ? path : p->scenes[i], s->options.library, &inner))
        return refuse(p->scene_nodes[i], "the scene cannot be read", &inner, error);
    s->trial_count = i + 1;
    t->measures = p->measures, t->measure_count = p->measure_count;
    t->times = p->times, t->time_count = p->time_count;
    s->hash = mor_hash_bytes(s->hash, &t->hash, sizeof t->hash);
    mor_code code = check_scene(s, i, error);
    for (int k = 0; k < p->parameter_count && !code; k++) code = check_parameter(s, t, &p->parameters[k], error);
    return code;
}

mor_code mor_sweep_begin(mor_sweep* s, mor_plan* plan, const mor_sweep_options* options, mor_error* error)
{
    mor_code code = mor_sweep_hold(s, plan, error);
    s->options = *options;
    if (code) return code;
    s->trials = calloc((size_t)plan->scene_count, sizeof *s->trials);
    if (!s->trials) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < plan->scene_count && !code; i++) code = open_trial(s, i, error);
    return code;
}

void mor_sweep_end(mor_sweep* s)
{
    for (int i = 0; i < s->trial_count; i++) mor_trial_close(&s->trials[i]);
    free(s->trials);
    free(s->status);
    free(s->state_hash);
    free(s->values);
    free(s->notes);
    mor_plan_destroy(s->plan);
    *s = (mor_sweep){ 0 };
}

long mor_sweep_share(const mor_sweep* s)
{
    long n = s->options.shards, i = s->options.shard - 1;
    return n <= 1 ? s->tasks : s->tasks / n + (i < s->tasks % n);
}

/* ------------------------------------------------------------------------------------ results */

static mor_code note(mor_sweep* s, long task, const char* detail, mor_error* error)
{
    if (s->note_count == s->note_capacity) {
        long capacity = s->note_capacity ? 2 * s->note_capacity : 64;
        mor_sweep_note* grown = realloc(s->notes, (size_t)capacity * sizeof *grown);
        if (!grown) return mor_fail(error, MOR_SYSTEM, "out of memory");
        s->notes = grown, s->note_capacity = capacity;
    }
    mor_sweep_note* n = &s->notes[s->note_count++];
    n->task = task;
    snprintf(n->detail, sizeof n->detail, "%s", detail);
    for (char* c = n->detail; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return MOR_OK;
}

mor_code mor_sweep_keep(mor_sweep* s, long task, const mor_trial_result* r, mor_error* error)
{
    if (s->status[task] >= 0) return MOR_OK;
    s->status[task] = (signed char)r->status;
    s->state_hash[task] = r->state_hash;
    memcpy(s->values + task * s->measures, r->values, (size_t)s->measures * sizeof(double));
    s->done++;
    return r->detail[0] ? note(s, task, r->detail, error) : MOR_OK;
}

/* ------------------------------------------------------------------------------------ running */

/* Is the task one of this shard's? */
static bool is_mine(const mor_sweep* s, long task)
{
    return s->options.shards <= 1 || task % s->options.shards == s->options.shard - 1;
}

/* What a process hands back for a task. */
typedef struct record {
    int status;
    uint64_t state_hash;
    char detail[200];
    double values[];
} record;

typedef struct session {
    mor_sweep* sweep;
    mor_task_journal* journal;
    long* pending; /* tasks without a result, ascending */
    long pending_count, given;
    bool failed, told; /* ranks: nothing more is given out; rank 0 has said that there is nothing left */
    const char** list; /* of settings, for the process that runs a task */
    mor_plan_setting* room;
    char* line; /* of the journal */
    size_t line_size;
} session;

static uint64_t key_of(const mor_sweep* s, long task)
{
    return mor_hash_bytes(s->hash, &(int64_t){ task }, sizeof(int64_t));
}

static void run_task(void* user, long task, void* out)
{
    const session* x = user;
    const mor_sweep* s = x->sweep;
    record* r = out;
    mor_plan_settings(s->plan, task, x->list, x->room);
    mor_trial_result result = { .values = r->values };
    mor_error error = { 0 };
    if (mor_trial_run(&s->trials[mor_plan_scene(s->plan, task)], x->list, &result, &error)) _exit(MOR_SYSTEM);
    r->status = result.status;
    r->state_hash = result.state_hash;
    memcpy(r->detail, result.detail, sizeof r->detail);
}

static mor_code write_line(session* x, long task, const mor_trial_result* r, mor_error* error)
{
    const mor_sweep* s = x->sweep;
    if (!x->journal) return MOR_OK;
    char* at = x->line;
    const char* end = x->line + x->line_size;
    at += snprintf(at, (size_t)(end - at), "%s\t%016" PRIx64, mor_trial_status_name(r->status), r->state_hash);
    for (int i = 0; i < s->measures; i++) {
        char number[40];
        at += snprintf(at, (size_t)(end - at), "\t%s", mor_short_number(number, sizeof number, r->values[i]));
    }
    char* detail = at + 1;
    snprintf(at, (size_t)(end - at), "\t%s", r->detail);
    for (char* c = detail; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return mor_task_journal_add(x->journal, task, key_of(s, task), x->line, error);
}

static mor_code keep_task(void* user, long task, const void* in, const char* why, bool late, mor_error* error)
{
    session* x = user;
    const record* r = in;
    double* nothing = NULL;
    mor_trial_result result = { .status = late ? MOR_TRIAL_TIME_LIMIT : MOR_TRIAL_CRASHED };
    if (r) {
        result.status = r->status;
        result.state_hash = r->state_hash;
        result.values = (double*)r->values;
        memcpy(result.detail, r->detail, sizeof result.detail);
    } else {
        nothing = malloc(((size_t)x->sweep->measures + 1) * sizeof *nothing);
        if (!nothing) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int i = 0; i < x->sweep->measures; i++) nothing[i] = NAN;
        result.values = nothing;
        snprintf(result.detail, sizeof result.detail, "%s", why);
    }
    mor_code code = write_line(x, task, &result, error);
    if (!code) code = mor_sweep_keep(x->sweep, task, &result, error);
    free(nothing);
    return code;
}

static mor_code write_journal(void* user, mor_error* error)
{
    const session* x = user;
    return x->journal ? mor_task_journal_write(x->journal, error) : MOR_OK;
}

static void read_line(void* user, long task, uint64_t key, char* text)
{
    session* x = user;
    mor_sweep* s = x->sweep;
    if (task < 0 || task >= s->tasks || key != key_of(s, task) || !is_mine(s, task)) return;
    double* values = malloc(((size_t)s->measures + 1) * sizeof *values);
    if (!values) return; /* it is run again */
    mor_trial_result r = { .values = values };
    char* words[2];
    bool good = true;
    for (int i = 0; i < 2 + s->measures && good; i++) {
        char* tab = strchr(text, '\t');
        good = tab != NULL;
        if (!good) break;
        *tab = '\0';
        if (i < 2) words[i] = text;
        else values[i - 2] = strcmp(text, "nan") == 0 ? NAN : strtod(text, NULL);
        text = tab + 1;
    }
    if (good && (r.status = mor_trial_status_of(words[0])) >= 0) {
        r.state_hash = strtoull(words[1], NULL, 16);
        snprintf(r.detail, sizeof r.detail, "%s", text);
        mor_sweep_keep(s, task, &r, NULL);
    }
    free(values);
}

static void conditions(const mor_sweep* s, char* text, size_t size)
{
    snprintf(text, size, "moreau-sweep 1 version=%s plan=%016" PRIx64 " tasks=%ld", MOR_VERSION_STRING, s->hash,
             s->tasks);
}

/* The journals of a sweep: one, and one for each rank. */
static mor_code for_journals(const char* path, mor_code (*each)(void* user, const char* path, mor_error* error),
                             void* user, mor_error* error)
{
    char pattern[4200];
    snprintf(pattern, sizeof pattern, "%s.rank-*", path);
    glob_t found = { 0 };
    mor_code code = each(user, path, error);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !code; i++) code = each(user, found.gl_pathv[i], error);
    globfree(&found);
    return code;
}

static mor_code read_journal(void* user, const char* path, mor_error* error)
{
    session* x = user;
    char head[256];
    conditions(x->sweep, head, sizeof head);
    return mor_task_journal_read(path, head, read_line, x, error);
}

static mor_code remove_journal(void* user, const char* path, mor_error* error)
{
    (void)user, (void)error;
    remove(path);
    return MOR_OK;
}

void mor_sweep_forget_journal(const mor_sweep* s)
{
    if (s->options.journal) for_journals(s->options.journal, remove_journal, NULL, NULL);
}

static bool tell_progress(void* user, long done, long count)
{
    const session* x = user;
    const mor_sweep* s = x->sweep;
    (void)done, (void)count;
    return !s->options.progress || s->options.progress(s->options.user, s->done, mor_sweep_share(s));
}

/* Everything but the journal: what is left to do, room to work in. */
static mor_code prepare(session* x, mor_error* error)
{
    mor_sweep* s = x->sweep;
    size_t n = (size_t)(s->tasks - s->done) + 1;
    x->pending = malloc(n * sizeof *x->pending);
    x->list = calloc((size_t)(s->plan->set_count + s->plan->parameter_count) + 1, sizeof *x->list);
    x->room = calloc((size_t)s->plan->parameter_count + 1, sizeof *x->room);
    x->line_size = 512 + 32 * (size_t)s->measures;
    x->line = malloc(x->line_size);
    if (!x->pending || !x->list || !x->room || !x->line) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (long t = 0; t < s->tasks; t++)
        if (s->status[t] < 0 && is_mine(s, t)) x->pending[x->pending_count++] = t;
    return MOR_OK;
}

static int own_rank(const mor_sweep* s) { return s->options.ranks ? s->options.ranks->own : 0; }

static mor_code open_journal(session* x, mor_error* error)
{
    const mor_sweep_options* o = &x->sweep->options;
    if (!o->journal) return MOR_OK;
    char head[256], path[4200];
    conditions(x->sweep, head, sizeof head);
    int rank = own_rank(x->sweep);
    if (rank) snprintf(path, sizeof path, "%s.rank-%d", o->journal, rank);
    else snprintf(path, sizeof path, "%s", o->journal);
    x->journal = mor_task_journal_open(path, head, o->resume, error);
    return x->journal ? MOR_OK : error->code;
}

/* ------------------------------------------------------------------------------------- ranks */

/* Rank 0: the next places, fewer towards the end. */
static mor_farm_part give_out(void* user, long wanted)
{
    session* x = user;
    const mor_sweep_options* o = &x->sweep->options;
    long left = x->pending_count - x->given, most = left / (2L * o->ranks->count * (o->jobs > 0 ? o->jobs : 1));
    long count = wanted < most ? wanted : most;
    if (count < 1) count = left > 0 ? 1 : 0;
    if (x->failed) count = 0;
    mor_farm_part part = { x->given, count };
    x->given += count;
    return part;
}

static mor_farm_part next_part(void* user, long wanted)
{
    session* x = user;
    const mor_ranks* r = x->sweep->options.ranks;
    if (r->own == 0) return give_out(x, wanted);
    mor_farm_part part = r->ask(wanted);
    x->told = part.count == 0;
    return part;
}

static void serve_others(void* user)
{
    session* x = user;
    x->sweep->options.ranks->serve(give_out, x);
}

/* All ranks have ended when this returns: the worst of their codes. */
static mor_code end_ranks(session* x, mor_code code, mor_error* error)
{
    const mor_ranks* r = x->sweep->options.ranks;
    x->failed = code != MOR_OK || x->sweep->stopped;
    if (r->own > 0 && !x->told) r->ask(0);
    while (r->own == 0 && r->serve(give_out, x) < r->count - 1) poll(NULL, 0, 5);
    mor_code worst = r->worst(code);
    return worst && !code ? mor_fail(error, worst, "another rank failed; it says why") : code;
}

/* Journals of an earlier sweep go away, unless another process writes them. */
static mor_code begin_anew(const mor_sweep* s, mor_error* error)
{
    FILE* file = mor_output_claim(s->options.journal, true, error);
    if (!file) return error->code;
    fclose(file);
    mor_sweep_forget_journal(s);
    return MOR_OK;
}

/* What is in the journals, and the tasks that are left. */
static mor_code take_up(session* x, mor_error* error)
{
    mor_sweep* s = x->sweep;
    const mor_sweep_options* o = &s->options;
    mor_code code = MOR_OK;
    if (o->journal && !o->resume && own_rank(s) == 0) code = begin_anew(s, error);
    if (o->ranks) o->ranks->meet();
    if (!code && o->journal && o->resume) code = for_journals(o->journal, read_journal, x, error);
    if (!code) code = prepare(x, error);
    if (o->ranks) o->ranks->meet(); /* all have read before one writes */
    return code ? code : open_journal(x, error);
}

mor_code mor_sweep_run(mor_sweep* s, mor_error* error)
{
    session x = { .sweep = s };
    const mor_sweep_options* o = &s->options;
    mor_code code = take_up(&x, error);
    mor_farm farm = { .tasks = x.pending,
                      .count = x.pending_count,
                      .jobs = o->jobs,
                      .record = sizeof(record) + (size_t)s->measures * sizeof(double),
                      .time_limit = o->time_limit,
                      .user = &x,
                      .run = run_task,
                      .keep = keep_task,
                      .rest = write_journal,
                      .progress = tell_progress,
                      .next = o->ranks ? next_part : NULL,
                      .beside = o->ranks && o->ranks->own == 0 ? serve_others : NULL };
    if (!code) code = mor_farm_run(&farm, error);
    s->stopped = farm.stopped;
    mor_code closed = mor_task_journal_close(x.journal, code ? NULL : error);
    if (!code) code = closed;
    if (o->ranks) code = end_ranks(&x, code, error);
    if (!code && o->ranks && o->ranks->own == 0) code = for_journals(o->journal, read_journal, &x, error);
    free(x.pending);
    free(x.list);
    free(x.room);
    free(x.line);
    return code;
}
