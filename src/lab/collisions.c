/* Runs of scenes by every collision method, and their searches in the same states: see collisions.h. */
#include "lab/collisions.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TIMES = 10, REPEATS = 3 };

/* What one run leaves for the others. */
typedef struct path {
    mor_scene* scene;
    mor_world* world;
    double* at; /* positions at TIMES times, NULL: the run did not come to its end */
    int bodies;
} path;

/* States of the first run, as snapshots. */
typedef struct state {
    void* data;
    size_t size;
} state;
typedef struct states {
    state* kept;
    int count;
} states;

static mor_code open_path(const mor_collisions* c, const char* file, const char* method, path* p, mor_error* error)
{
    char choice[128];
    snprintf(choice, sizeof choice, "method.collision.name=%s", method);
    const char* overrides[] = { choice, "method.on_failure=warn", NULL };
    *p = (path){ .scene = mor_scene_load(file, overrides, c->library, error) };
    if (!p->scene) return error->code;
    p->world = mor_scene_build(p->scene, 1, error);
    return p->world ? MOR_OK : error->code;
}

static void close_path(path* p)
{
    free(p->at);
    mor_world_destroy(p->world);
    mor_scene_destroy(p->scene);
    *p = (path){ 0 };
}

static void keep_positions(const mor_world* w, int bodies, double* to)
{
    for (int i = 0; i < bodies; i++) {
        mor_vec3 x = mor_body_get_state(w, mor_world_body(w, i)).com;
        to[3 * i] = x.x, to[3 * i + 1] = x.y, to[3 * i + 2] = x.z;
    }
}

static bool keep_state(const mor_world* w, states* s)
{
    state* more = realloc(s->kept, (size_t)(s->count + 1) * sizeof *more);
    if (!more) return false;
    s->kept = more;
    state one = { .size = mor_world_save(w, NULL, 0) };
    one.data = malloc(one.size);
    if (!one.data) return false;
    mor_world_save(w, one.data, one.size);
    s->kept[s->count++] = one;
    return true;
}

static void free_states(states* s)
{
    for (int i = 0; i < s->count; i++) free(s->kept[i].data);
    free(s->kept);
}

/* One whole run. `kept`: where states go, NULL: nowhere. */
static mor_code run_path(const mor_collisions* c, path* p, states* kept, mor_collision_score* r, mor_error* error)
{
    mor_world* w = p->world;
    double end = mor_scene_end(p->scene), begin = mor_cpu_clock(), work = 0.0;
    double start = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    p->bodies = mor_world_body_count(w);
    double* at = calloc((size_t)p->bodies * 3 * TIMES + 1, sizeof *at);
    if (!at) return mor_fail(error, MOR_SYSTEM, "out of memory");
    int next = 0, looked = 0;
    mor_code code = MOR_OK;
    while (!code && !mor_world_reached(w, end)) {
        mor_step_report report;
        if (mor_cpu_clock() - begin > c->limit || (c->stop && c->stop())) break;
        if (mor_world_time(w) >= end * (looked + 0.5) / c->states && looked < c->states) {
            looked++;
            r->penetration = fmax(r->penetration, mor_collisions_depth(w));
            if (kept && !keep_state(w, kept)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
        }
        if (!code) code = mor_world_step(w, &report, error);
        if (code) break;
        r->steps++;
        r->failures += report.failures > 0;
        work += report.applied_work + report.contact_work + report.correction_work + report.projection_work;
        r->gain = fmax(r->gain, report.kinetic + report.potential - start - work);
        for (; next < TIMES && mor_world_time(w) >= end * (next + 1) / TIMES * (1.0 - 1e-9); next++)
            keep_positions(w, p->bodies, at + 3 * (size_t)next * (size_t)p->bodies);
    }
    r->finished = !code && mor_world_reached(w, end);
    if (!code && !r->finished)
        snprintf(r->detail, sizeof r->detail, "stopped at %.3g s after %.3g CPU seconds", mor_world_time(w),
                 mor_cpu_clock() - begin);
    if (r->finished && next == TIMES) p->at = at;
    else free(at);
    return code;
}

/* Greatest distance of two runs; NaN where one has no end. */
static double distance(const path* a, const path* b)
{
    if (!a->at || !b->at || a->bodies != b->bodies) return NAN;
    double worst = 0.0;
    for (int k = 0; k < TIMES; k++) {
        double sum = 0.0;
        for (int i = 0; i < 3 * a->bodies; i++) {
            double d = a->at[3 * (size_t)k * (size_t)a->bodies + (size_t)i] -
                       b->at[3 * (size_t)k * (size_t)a->bodies + (size_t)i];
            if (isfinite(d)) sum += d * d; /* planes have no centre that moves */
        }
        worst = fmax(worst, sqrt(sum / a->bodies));
    }
    return worst;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* The searches of one method in the states that were kept. */
static mor_code look(const mor_collisions* c, const char* file, const char* method, const states* kept,
                     mor_collision_score* r, mor_error* error)
{
    path p;
    mor_code code = open_path(c, file, method, &p, error);
    mor_step* step = code ? NULL : mor_step_create(p.world, error);
    double* times = calloc((size_t)kept->count + 1, sizeof *times);
    if (!code && (!step || !times)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    int timed = 0;
    for (int i = 0; i < kept->count && !code; i++) {
        code = mor_world_restore(p.world, kept->kept[i].data, kept->kept[i].size, error);
        double least = HUGE_VAL;
        for (int k = 0; k < REPEATS && !code; k++) {
            code = mor_stage_user(p.world, step, error);
            double begin = mor_cpu_clock();
            if (!code) code = mor_stage_collide(p.world, step, error);
            least = fmin(least, mor_cpu_clock() - begin);
        }
        if (code) break;
        times[timed++] = least;
        int count;
        const mor_contact* contacts = mor_step_contacts(step, &count);
        mor_contact* sorted = malloc(((size_t)count + 1) * sizeof *sorted);
        if (!sorted) code = mor_fail(error, MOR_SYSTEM, "out of memory");
        else {
            if (count) memcpy(sorted, contacts, (size_t)count * sizeof *sorted);
            mor_collisions_judge(mor_step_draft(step), sorted, count, r);
        }
        free(sorted);
    }
    if (timed) qsort(times, (size_t)timed, sizeof *times, ascending);
    r->time = timed ? times[timed / 2] : NAN;
    if (r->judged) r->mean_gap_error /= r->judged, r->mean_normal_error /= r->judged;
    free(times);
    mor_step_destroy(step);
    close_path(&p);
    return code;
}

static mor_code compare_scene(mor_collisions* c, const char* file, mor_collision_scene* scene, mor_error* error)
{
    path first = { 0 };
    states kept = { 0 };
    mor_code code = MOR_OK;
    for (int m = 0; m < c->method_count && code != MOR_SYSTEM; m++) {
        mor_collision_score* r = &scene->scores[m];
        mor_error inner = { 0 };
        path p;
        snprintf(r->method, sizeof r->method, "%s", c->methods[m]);
        r->distance = r->time = NAN;
        code = open_path(c, file, c->methods[m], &p, &inner);
        bool leads = !code && !first.world;
        if (p.scene && !scene->name[0]) snprintf(scene->name, sizeof scene->name, "%s", mor_scene_name(p.scene));
        if (!code) code = run_path(c, &p, leads ? &kept : NULL, r, &inner);
        if (code == MOR_BAD_INPUT && !r->steps) {
            r->refused = true;
            leads = false;
        }
        if (code) snprintf(r->detail, sizeof r->detail, "%.199s", inner.text);
        if (code == MOR_SYSTEM) *error = inner;
        if (leads) first = p, r->distance = 0.0;
        else {
            r->distance = first.world ? distance(&p, &first) : NAN;
            close_path(&p);
        }
    }
    for (int m = 0; m < c->method_count && code != MOR_SYSTEM && !(c->stop && c->stop()); m++) {
        mor_collision_score* r = &scene->scores[m];
        mor_error inner = { 0 };
        if (!r->refused) code = look(c, file, c->methods[m], &kept, r, &inner);
        if (code == MOR_SYSTEM) *error = inner;
        else if (code && !r->detail[0]) snprintf(r->detail, sizeof r->detail, "%.199s", inner.text);
    }
    free_states(&kept);
    close_path(&first);
    return code == MOR_SYSTEM ? code : MOR_OK;
}

static bool ends(const char* text, const char* end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int by_name(const struct dirent** a, const struct dirent** b) { return strcmp((*a)->d_name, (*b)->d_name); }

static mor_code add_folder(mor_collisions* c, const char* folder, mor_error* error)
{
    struct dirent** entries;
    int count = scandir(folder, &entries, NULL, by_name);
    if (count < 0) return mor_fail(error, MOR_BAD_INPUT, "%s: cannot list: %s", folder, strerror(errno));
    mor_code code = MOR_OK;
    for (int i = 0; i < count; i++) {
        char child[4096];
        struct stat status;
        const char* name = entries[i]->d_name;
        bool taken = !code && name[0] != '.' && !(c->stop && c->stop()) &&
                     snprintf(child, sizeof child, "%s/%s", folder, name) < (int)sizeof child &&
                     stat(child, &status) == 0 && (S_ISDIR(status.st_mode) || ends(name, ".yaml"));
        if (taken) code = mor_collisions_add(c, child, error);
        free(entries[i]);
    }
    free(entries);
    return code;
}

mor_code mor_collisions_add(mor_collisions* c, const char* file, mor_error* error)
{
    struct stat status;
    if (stat(file, &status) == 0 && S_ISDIR(status.st_mode)) return add_folder(c, file, error);
    mor_scene* scene = mor_scene_load(file, NULL, c->library, error); /* is it one at all? */
    if (!scene) return error->code;
    mor_scene_destroy(scene);
    mor_collision_scene* more = realloc(c->scenes, (size_t)(c->scene_count + 1) * sizeof *more);
    if (!more) return mor_fail(error, MOR_SYSTEM, "out of memory");
    c->scenes = more;
    mor_collision_scene* s = &c->scenes[c->scene_count];
    *s = (mor_collision_scene){ .scores = calloc((size_t)c->method_count, sizeof *s->scores) };
    if (!s->scores) return mor_fail(error, MOR_SYSTEM, "out of memory");
    c->scene_count++;
    return compare_scene(c, file, s, error);
}

void mor_collisions_free(mor_collisions* c)
{
    for (int i = 0; i < c->scene_count; i++) free(c->scenes[i].scores);
    free(c->scenes);
    c->scenes = NULL;
    c->scene_count = 0;
}
