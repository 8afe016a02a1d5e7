/* The plan of a calibration: tables of its keys, as for scenes, and what they become. */
#include "io/scene/scene_def.h"
#include "base/failed.h"
#include "io/scene/scene_keys.h"
#include "lab/calibrate_columns.h"
#include "lab/calibrate_engine.h"
#include "lab/plugin_function.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct raw_plan {
    int version;
    const char* scene;
    const mor_node *data, *initial, *parameters, *error, *split, *optimiser, *methods, *intervals;
} raw_plan;

static const mor_key plan_keys[] = { { .name = "moreau-calibrate",
                                       .type = MOR_KEY_INT,
                                       .offset = offsetof(raw_plan, version),
                                       .min = 1,
                                       .max = 1,
                                       .required = true },
                                     { TEXT(raw_plan, scene), .required = true },
                                     { NODE(raw_plan, data), .required = true },
                                     { NODE(raw_plan, initial) },
                                     { NODE(raw_plan, parameters), .required = true },
                                     { NODE(raw_plan, error) },
                                     { NODE(raw_plan, split) },
                                     { NODE(raw_plan, optimiser) },
                                     { NODE(raw_plan, methods) },
                                     { NODE(raw_plan, intervals) },
                                     { 0 } };
static const mor_key_table plan_table = { "plan", "plan", "", plan_keys, TABLE(raw_plan) };

typedef struct raw_data {
    const char *file, *run, *time;
    const mor_node *columns, *runs;
    double until;
    int after_contact;
} raw_data;

static const mor_key data_keys[] = { { TEXT(raw_data, file), .required = true },
                                     { TEXT(raw_data, run) },
                                     { TEXT(raw_data, time), .required = true },
                                     { NODE(raw_data, columns), .required = true },
                                     { NODE(raw_data, runs) },
                                     { NUMBER(raw_data, until), .initial = MOR_HUGE, POSITIVE },
                                     { KEY(raw_data, after_contact, MOR_KEY_INT), .min = 0, .max = 1e9 },
                                     { 0 } };
static const mor_key_table data_table = { "data", "data", "", data_keys, TABLE(raw_data) };

typedef struct raw_parameter {
    const mor_node *path, *range;
    const char* name;
    double start, step;
    bool log;
} raw_parameter;

static const mor_key parameter_keys[] = { { NODE(raw_parameter, path), .required = true },
                                          { NODE(raw_parameter, range), .required = true },
                                          { TEXT(raw_parameter, name) },
                                          { NUMBER(raw_parameter, start), .initial = NAN },
                                          { NUMBER(raw_parameter, step), .initial = 0.0, POSITIVE },
                                          { KEY(raw_parameter, log, MOR_KEY_BOOL) },
                                          { 0 } };
static const mor_key_table parameter_table = { "parameter", "parameters[]", "", parameter_keys, TABLE(raw_parameter) };

typedef struct raw_error {
    int name;
    double rotation_weight, window;
} raw_error;

static const mor_key error_keys[] = { { KEY(raw_error, name, MOR_KEY_CHOICE), .choices = "pose|eq18|warp" },
                                      { NUMBER(raw_error, rotation_weight), .initial = 0.05, NOT_NEGATIVE },
                                      { NUMBER(raw_error, window), .initial = 0.05, POSITIVE },
                                      { 0 } };
static const mor_key_table error_table = { "error", "error", "", error_keys, TABLE(raw_error) };

typedef struct raw_optimiser {
    const char* name;
    int starts, evaluations, scan;
    double tolerance, seed;
    const mor_node* horizons;
} raw_optimiser;

static const mor_key optimiser_keys[] = {
    { TEXT(raw_optimiser, name) },
    { KEY(raw_optimiser, starts, MOR_KEY_INT), .initial = 4, .min = 1, .max = 1000 },
    { KEY(raw_optimiser, evaluations, MOR_KEY_INT), .initial = 500, .min = 1, .max = 1e8 },
    { KEY(raw_optimiser, scan, MOR_KEY_INT), .initial = 0, .min = 0, .max = 1e6 },
    { NUMBER(raw_optimiser, tolerance), .initial = 1e-4, POSITIVE },
    { NUMBER(raw_optimiser, seed), .initial = 1.0, NOT_NEGATIVE },
    { NODE(raw_optimiser, horizons) },
    { 0 }
};
static const mor_key_table optimiser_table = { "optimiser", "optimiser", "", optimiser_keys, TABLE(raw_optimiser) };

typedef struct raw_method {
    const char *name, *engine;
    const mor_node *formulation, *solver, *set, *parameters;
} raw_method;

static const mor_key method_keys[] = { { TEXT(raw_method, name) },
                                       { NODE(raw_method, formulation) },
                                       { NODE(raw_method, solver) },
                                       { NODE(raw_method, set) },
                                       { NODE(raw_method, parameters) },
                                       { TEXT(raw_method, engine) },
                                       { 0 } };
static const mor_key_table method_table = { "method", "methods[]", "", method_keys, TABLE(raw_method) };

typedef struct raw_intervals {
    int bootstrap, profile;
} raw_intervals;

static const mor_key interval_keys[] = {
    { KEY(raw_intervals, bootstrap, MOR_KEY_INT), .initial = 400, .min = 0, .max = 100000 },
    { KEY(raw_intervals, profile, MOR_KEY_INT), .initial = 0, .min = 0, .max = 15 },
    { 0 }
};
static const mor_key_table interval_table = { "intervals", "intervals", "", interval_keys, TABLE(raw_intervals) };

/* ---------------------------------------------------------------------------------- parameters and methods */

typedef struct raw_path {
    const char* path;
    double factor;
} raw_path;

static const mor_key path_keys[] = { { TEXT(raw_path, path), .required = true },
                                     { NUMBER(raw_path, factor), .initial = 1.0 },
                                     { 0 } };
static const mor_key_table path_table = { "path", "path", "", path_keys, TABLE(raw_path) };

/* A path, or { path, factor }. */
static mor_code read_path(mor_cal_parameter* p, const mor_node* n, mor_error* error)
{
    raw_path raw = { .factor = 1.0 };
    mor_code code = n->kind == MOR_NODE_MAP ? mor_keys_read(&path_table, n, 3, &raw, error)
                                            : mor_read_text(n, "path", &raw.path, error);
    const char* text = raw.path;
    if (code) return code;
    if (p->path_count == MOR_CAL_PATHS) return mor_node_fail(n, error, "at most %d paths", MOR_CAL_PATHS);
    if (strlen(text) >= sizeof *p->paths || strchr(text, '='))
        return mor_node_fail(n, error, "this is no path of a scene");
    p->factors[p->path_count] = raw.factor;
    snprintf(p->paths[p->path_count++], sizeof *p->paths, "%s", text);
    return MOR_OK;
}

static mor_code read_parameter(mor_calibration* c, const mor_node* n, mor_cal_method* m, mor_error* error)
{
    raw_parameter raw;
    mor_code code = mor_keys_read(&parameter_table, n, c->dimension, &raw, error);
    if (code) return code;
    if (m->parameter_count == MOR_CAL_PARAMETERS || c->parameter_count == 4 * MOR_CAL_PARAMETERS)
        return mor_node_fail(n, error, "at most %d parameters of a method", MOR_CAL_PARAMETERS);
    mor_cal_parameter* p = &c->parameters[c->parameter_count];
    *p = (mor_cal_parameter){ .logarithmic = raw.log, .step = raw.step, .node = raw.path };
    if (raw.path->kind == MOR_NODE_LIST) {
        for (const mor_node* k = raw.path->first; k; k = k->next)
            if ((code = read_path(p, k, error))) return code;
        if (p->path_count == 0) return mor_node_fail(raw.path, error, "path is empty");
    } else if ((code = read_path(p, raw.path, error))) {
        return code;
    }
    double range[2];
    if ((code = mor_read_numbers(raw.range, "range", range, 2, error))) return code;
    if (!(range[0] < range[1])) return mor_node_fail(raw.range, error, "range must be [less, more]");
    if (raw.log && !(range[0] > 0.0)) return mor_node_fail(raw.range, error, "a logarithmic range begins above 0");
    p->low = range[0], p->high = range[1];
    p->start = isnan(raw.start) ? (raw.log ? sqrt(p->low * p->high) : 0.5 * (p->low + p->high)) : raw.start;
    if (p->start < p->low || p->start > p->high)
        return mor_node_fail(mor_node_get(n, "start"), error, "start %g is outside the range %g to %g", p->start,
                             p->low, p->high);
    snprintf(p->name, sizeof p->name, "%s", raw.name ? raw.name : p->paths[0]);
    for (int i = 0; i < m->parameter_count; i++)
        if (strcmp(c->parameters[m->parameters[i]].name, p->name) == 0)
            return mor_node_fail(n, error, "two parameters are called '%.100s'", p->name);
    m->parameters[m->parameter_count++] = c->parameter_count++;
    return MOR_OK;
}

static mor_code add_set(mor_cal_method* m, const mor_node* n, const char* path, const char* value, mor_error* error)
{
    if (m->set_count == MOR_CAL_SETS) return mor_node_fail(n, error, "at most %d values of a method", MOR_CAL_SETS);
    int length = snprintf(m->sets[m->set_count++], sizeof *m->sets, "%s=%s", path, value);
    return length < (int)sizeof *m->sets ? MOR_OK : mor_node_fail(n, error, "the value is too long");
}

/* formulation: NAME or { name, options } */
static mor_code read_stage(mor_cal_method* m, const mor_node* n, const char* stage, mor_error* error)
{
    char path[200];
    if (!n) return MOR_OK;
    if (n->kind == MOR_NODE_SCALAR) {
        snprintf(path, sizeof path, "method.%s", stage);
        return add_set(m, n, path, n->text, error);
    }
    mor_code code = mor_read_map(n, stage, error);
    for (const mor_node* k = code ? NULL : n->first; k && !code; k = k->next) {
        if (k->kind != MOR_NODE_SCALAR) return mor_node_fail(k, error, "expected a number or a word");
        snprintf(path, sizeof path, "method.%s.%.60s", stage, k->key);
        code = add_set(m, k, path, k->text, error);
    }
    return code;
}

static const char* why_not(void) { return errno == ENOENT ? "there is no such file" : strerror(errno); }

static mor_code read_engine(mor_document* document, const mor_node* n, const char* file, mor_cal_method* m,
                            mor_error* error)
{
    void* symbol;
    const mor_node* at = mor_node_get(n, "engine");
    mor_code code = mor_plugin_function(document, at, file, at, "moreau_engine", &symbol, error);
    if (!code) memcpy(&m->engine, &symbol, sizeof m->engine);
    return code;
}

static mor_code read_method(mor_calibration* c, mor_document* document, const mor_node* n, const mor_cal_method* shared,
                            mor_error* error)
{
    raw_method raw;
    mor_code code = mor_keys_read(&method_table, n, c->dimension, &raw, error);
    if (code) return code;
    if (c->method_count == MOR_CAL_METHODS) return mor_node_fail(n, error, "at most %d methods", MOR_CAL_METHODS);
    mor_cal_method* m = &c->methods[c->method_count++];
    *m = *shared;
    if ((code = read_stage(m, raw.formulation, "formulation", error))) return code;
    if ((code = read_stage(m, raw.solver, "solver", error))) return code;
    if (raw.set && (code = mor_read_map(raw.set, "set", error))) return code;
    for (const mor_node* k = raw.set ? raw.set->first : NULL; k; k = k->next) {
        if (k->kind != MOR_NODE_SCALAR) return mor_node_fail(k, error, "expected a number or a word");
        if ((code = add_set(m, k, k->key, k->text, error))) return code;
    }
    if (raw.parameters && (code = mor_read_list(raw.parameters, "parameters", error))) return code;
    for (const mor_node* k = raw.parameters ? raw.parameters->first : NULL; k; k = k->next)
        if ((code = read_parameter(c, k, m, error))) return code;
    if (raw.engine && (code = read_engine(document, n, raw.engine, m, error))) return code;
    if ((code = mor_cal_check_engine_paths(c, m, n, error)) || (code = mor_cal_check_values(c, m, n, error)))
        return code;
    if (raw.name) snprintf(m->name, sizeof m->name, "%.127s", raw.name);
    for (int i = 0; i < m->set_count && !raw.name; i++) {
        size_t used = strlen(m->name);
        snprintf(m->name + used, sizeof m->name - used, "%s%s", used ? " " : "", strchr(m->sets[i], '=') + 1);
    }
    if (!*m->name) snprintf(m->name, sizeof m->name, "%.100s", raw.engine ? raw.engine : "as in the scene");
    for (int i = 0; i < c->method_count - 1; i++)
        if (strcmp(c->methods[i].name, m->name) == 0)
            return mor_node_fail(n, error, "two methods are called '%.60s'; give one of them another name", m->name);
    return MOR_OK;
}

static mor_code read_methods(mor_calibration* c, mor_document* document, const raw_plan* raw, mor_error* error)
{
    mor_cal_method shared = { 0 };
    mor_code code = mor_read_list(raw->parameters, "parameters", error);
    for (const mor_node* n = code ? NULL : raw->parameters->first; n && !code; n = n->next)
        code = read_parameter(c, n, &shared, error);
    if (code) return code;
    if (!raw->methods) {
        c->methods[c->method_count++] = shared;
        snprintf(c->methods[0].name, sizeof c->methods[0].name, "as in the scene");
        if ((code = mor_cal_check_engine_paths(c, &shared, raw->parameters, error)) ||
            (code = mor_cal_check_values(c, &shared, raw->parameters, error)))
            return code;
    } else {
        if ((code = mor_read_list(raw->methods, "methods", error))) return code;
        for (const mor_node* n = raw->methods->first; n; n = n->next)
            if ((code = read_method(c, document, n, &shared, error))) return code;
    }
    for (int i = 0; i < c->method_count; i++)
        if (c->methods[i].parameter_count == 0)
            return mor_node_fail(raw->parameters, error, "there are no parameters to fit");
    return c->method_count ? MOR_OK : mor_node_fail(raw->methods, error, "methods is empty");
}

/* ---------------------------------------------------------------------------------- the plan */

static void keep_place(mor_calibration* c, const mor_node* n)
{
    snprintf(c->contact_place, sizeof c->contact_place, "%.1000s:%d:%d", n->source->name, n->line, n->column);
}

/* Numbers of samples after the first contact, rising. */
static mor_code read_horizons(mor_calibration* c, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "horizons", error);
    for (const mor_node* n = code ? NULL : list->first; n && !code; n = n->next) {
        double number, last = c->horizon_count ? c->horizons[c->horizon_count - 1] : 0.0;
        if ((code = mor_read_number(n, "horizons", &number, error))) return code;
        if (c->horizon_count == MOR_CAL_HORIZONS || !(number > last) || number > 1e9 || number != floor(number))
            return mor_node_fail(n, error, "horizons are at most %d whole numbers of samples that rise",
                                 MOR_CAL_HORIZONS);
        c->horizons[c->horizon_count++] = (int)number;
    }
    return code;
}

static mor_code read_options(mor_calibration* c, const raw_plan* raw, mor_error* error)
{
    raw_error e = { .rotation_weight = 0.05, .window = 0.05 };
    raw_optimiser o = { .starts = 4, .evaluations = 500, .tolerance = 1e-4, .seed = 1 };
    raw_intervals i = { .bootstrap = 400 };
    mor_code code = MOR_OK;
    if (raw->error) code = mor_keys_read(&error_table, raw->error, c->dimension, &e, error);
    if (!code && raw->optimiser) code = mor_keys_read(&optimiser_table, raw->optimiser, c->dimension, &o, error);
    if (!code && raw->intervals) code = mor_keys_read(&interval_table, raw->intervals, c->dimension, &i, error);
    if (code) return code;
    const char* names[32];
    int n = 0;
    for (; n < 31 && mor_optimiser_at(n); n++) names[n] = mor_optimiser_at(n)->name;
    names[n] = NULL;
    if (!o.name) o.name = "sbplx";
    for (n = 0; names[n] && strcmp(names[n], o.name) != 0;) n++;
    if (!names[n]) {
        const char* near = mor_did_you_mean(o.name, names);
        const mor_node* at = mor_node_get(raw->optimiser, "name");
        if (near) return mor_node_fail(at, error, "unknown optimiser '%.60s'; did you mean '%s'?", o.name, near);
        return mor_node_fail(at, error, "unknown optimiser '%.60s'; `moreau list optimisers` lists them", o.name);
    }
    c->error = (mor_cal_error)e.name, c->rotation_weight = e.rotation_weight, c->window = e.window;
    snprintf(c->optimiser, sizeof c->optimiser, "%.31s", o.name);
    c->starts = o.starts, c->evaluations = o.evaluations, c->tolerance = o.tolerance, c->seed = o.seed;
    c->scan = o.scan;
    c->bootstrap = i.bootstrap, c->profile = i.profile;
    if ((code = mor_cal_check_grid(c, raw->optimiser, error)) || !o.horizons) return code;
    keep_place(c, o.horizons);
    return read_horizons(c, o.horizons, error);
}

static void add_hash(uint64_t* hash, const void* data, size_t size)
{
    for (size_t i = 0; i < size; i++) *hash = (*hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
}

/* The scene with the first method and its start values, and bodies that are there. */
static mor_code check_scene(mor_calibration* c, mor_error* error)
{
    mor_scene* scene = mor_scene_load(c->scene, NULL, c->library, error);
    if (!scene) return mor_failed(error, MOR_BAD_INPUT);
    c->dimension = scene->dimension;
    add_hash(&c->condition, mor_scene_text(scene), strlen(mor_scene_text(scene)));
    mor_scene_destroy(scene);
    return MOR_OK;
}

static mor_code check_bodies(mor_calibration* c, const raw_plan* raw, mor_error* error)
{
    mor_scene* scene = mor_scene_load(c->scene, NULL, c->library, error);
    mor_world* world = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = world ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
    bool any = false;
    for (int i = 0; !code && i < c->measured_count + c->initial_count; i++) {
        const mor_cal_quantity* q = i < c->measured_count ? &c->measured[i] : &c->initial[i - c->measured_count];
        mor_body_id b = mor_world_find_body(world, q->body);
        if (!b.index1) code = mor_node_fail(raw->data, error, "the scene has no body '%.60s'", q->body);
        else if (mor_body_get_kind(world, b) != MOR_DYNAMIC)
            code = mor_node_fail(raw->data, error, "the body '%.60s' does not move freely", q->body);
        any = any || (i < c->measured_count && q->kind <= MOR_CAL_ANGLE);
    }
    if (!code) mor_cal_check_times(c, mor_node_get(raw->data, "time"), mor_world_get_step(world));
    if (!code && !any)
        code = mor_node_fail(raw->data, error, "columns has no position, quaternion or angle to compare");
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return code;
}

static mor_code read_data(mor_calibration* c, mor_document* document, const mor_node* node, raw_data* data,
                          mor_error* error)
{
    mor_code code = mor_keys_read(&data_table, node, c->dimension, data, error);
    const char* path = code ? NULL : mor_path_from(document, mor_node_get(node, "file"), data->file, error);
    if (!path) return code ? code : MOR_BAD_INPUT;
    if (access(path, R_OK) != 0)
        return mor_node_fail(mor_node_get(node, "file"), error, "the data cannot be read: %.300s: %s", path, why_not());
    if ((code = mor_measured_read(&c->data, path, error))) return code;
    c->until = data->until, c->after_contact = data->after_contact;
    if (c->after_contact) keep_place(c, mor_node_get(node, "after_contact"));
    c->run_column = -1;
    if ((code = mor_cal_find_column(c, mor_node_get(node, "time"), data->time, &c->time_column, error))) return code;
    if (data->run && (code = mor_cal_find_column(c, mor_node_get(node, "run"), data->run, &c->run_column, error)))
        return code;
    add_hash(&c->condition, c->data.values, (size_t)c->data.row_count * (size_t)c->data.column_count * sizeof(double));
    return mor_cal_read_quantities(c, data->columns, "columns", c->measured, &c->measured_count, error);
}

static mor_code read_plan(mor_calibration* c, mor_document* document, mor_cal_find_scene find, mor_error* error)
{
    size_t length;
    char* text = mor_read_file(document, c->plan, &length, NULL, error);
    const mor_source* source = text ? mor_source_create(document, c->plan, error) : NULL;
    const mor_node* root = source ? mor_yaml_parse(document, text, length, source, 0, error) : NULL;
    if (!root) return mor_failed(error, MOR_BAD_INPUT);
    c->condition = 1469598103934665603u;
    add_hash(&c->condition, text, length);
    raw_plan raw;
    raw_data data;
    mor_code code = mor_keys_read(&plan_table, root, 3, &raw, error);
    const char* scene = code ? NULL : mor_path_from(document, mor_node_get(root, "scene"), raw.scene, error);
    if (!scene) return code ? code : MOR_BAD_INPUT;
    char found[1024];
    if (find && access(scene, F_OK) != 0) scene = find(raw.scene, found, sizeof found);
    snprintf(c->scene, sizeof c->scene, "%.1023s", scene);
    if (access(c->scene, R_OK) != 0)
        return mor_node_fail(mor_node_get(root, "scene"), error, "the scene cannot be read: %.300s: %s", c->scene,
                             why_not());
    if ((code = check_scene(c, error))) return code;
    if ((code = read_data(c, document, raw.data, &data, error))) return code;
    if (raw.initial &&
        (code = mor_cal_read_quantities(c, raw.initial, "initial", c->initial, &c->initial_count, error)))
        return code;
    if ((code = read_methods(c, document, &raw, error)) || (code = read_options(c, &raw, error))) return code;
    if ((code = mor_cal_find_runs(c, error)) || (code = mor_cal_choose_runs(c, data.runs, error))) return code;
    if ((code = mor_cal_check_samples(c, error))) return code;
    if ((code = mor_cal_split_runs(c, raw.split, error))) return code;
    return check_bodies(c, &raw, error);
}

mor_code mor_calibration_read(mor_calibration* c, const char* plan, const mor_library* library, mor_cal_find_scene find,
                              mor_error* error)
{
    *c = (mor_calibration){ .library = library };
    mor_document document = { .arena = mor_arena_create(NULL) };
    if (!document.arena) return mor_fail(error, MOR_SYSTEM, "out of memory");
    snprintf(c->plan, sizeof c->plan, "%.1023s", plan);
    mor_code code = read_plan(c, &document, find, error);
    mor_arena_destroy(document.arena);
    if (code) mor_calibration_free(c);
    return code;
}

void mor_calibration_free(mor_calibration* c)
{
    for (int i = 0; i < c->point_count; i++) free(c->points[i]->scores), free(c->points[i]);
    for (int i = 0; c->all && i < c->split_count * MOR_CAL_METHODS; i++) free(c->all[i].scores);
    free(c->points), free(c->all), free(c->summaries), free(c->trains);
    free(c->runs);
    mor_measured_free(&c->data);
    *c = (mor_calibration){ 0 };
}
