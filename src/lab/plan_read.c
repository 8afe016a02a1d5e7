/* Reads the plan of a sweep: YAML with a position for every complaint. */
#include "lab/plan.h"

#include "base/elementary.h"
#include "base/number.h"
#include "io/scene/scene_document.h"
#include "io/scene/scene_fields.h"
#include "lab/plugin_function.h"
#include "lab/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------- keys */

typedef struct raw_plan {
    int version, repeats;
    const char *name, *scene;
    const mor_node *scenes, *set, *parameters, *design, *at, *measures;
} raw_plan;

#define KEY(type, member) .offset = offsetof(type, member)
static const mor_key plan_keys[] = {
    { "moreau-sweep", MOR_KEY_INT, KEY(raw_plan, version), .min = 1, .max = 1, .required = true },
    { "name", MOR_KEY_TEXT, KEY(raw_plan, name) },
    { "scene", MOR_KEY_TEXT, KEY(raw_plan, scene) },
    { "scenes", MOR_KEY_NODE, KEY(raw_plan, scenes) },
    { "set", MOR_KEY_NODE, KEY(raw_plan, set) },
    { "parameters", MOR_KEY_NODE, KEY(raw_plan, parameters) },
    { "design", MOR_KEY_NODE, KEY(raw_plan, design) },
    { "repeats", MOR_KEY_INT, KEY(raw_plan, repeats), .min = 1, .max = 1e6 },
    { "at", MOR_KEY_NODE, KEY(raw_plan, at) },
    { "measures", MOR_KEY_NODE, KEY(raw_plan, measures) },
    { .name = NULL },
};
static const mor_key_table plan_table = { .title = "the plan", .keys = plan_keys, .size = sizeof(raw_plan) };

typedef struct raw_parameter {
    const char* path;
    const mor_node* forms[7];
} raw_parameter;

enum { GRID, LOG_GRID, RANGE, VALUES, UNIFORM, LOG_UNIFORM, NORMAL, FORMS };
static const char* const form_names[] = { "grid", "log-grid", "range", "values", "uniform", "log-uniform", "normal" };
static const mor_key parameter_keys[] = {
    { "path", MOR_KEY_TEXT, KEY(raw_parameter, path), .required = true },
    { "grid", MOR_KEY_NODE, KEY(raw_parameter, forms[GRID]) },
    { "log-grid", MOR_KEY_NODE, KEY(raw_parameter, forms[LOG_GRID]) },
    { "range", MOR_KEY_NODE, KEY(raw_parameter, forms[RANGE]) },
    { "values", MOR_KEY_NODE, KEY(raw_parameter, forms[VALUES]) },
    { "uniform", MOR_KEY_NODE, KEY(raw_parameter, forms[UNIFORM]) },
    { "log-uniform", MOR_KEY_NODE, KEY(raw_parameter, forms[LOG_UNIFORM]) },
    { "normal", MOR_KEY_NODE, KEY(raw_parameter, forms[NORMAL]) },
    { .name = NULL },
};
static const mor_key_table parameter_table = { .title = "a parameter",
                                               .keys = parameter_keys,
                                               .size = sizeof(raw_parameter) };

typedef struct raw_design {
    int name, samples, levels;
    double seed;
} raw_design;

static const mor_key design_keys[] = {
    { "name", MOR_KEY_CHOICE, KEY(raw_design, name), .choices = MOR_DESIGN_WORDS },
    { "samples", MOR_KEY_INT, KEY(raw_design, samples), .min = 0, .max = MOR_PLAN_MOST },
    { "seed", MOR_KEY_NUMBER, KEY(raw_design, seed), .initial = 1, .min = 0, .max = 9007199254740992.0 },
    { "levels", MOR_KEY_INT, KEY(raw_design, levels), .initial = 4, .min = 2, .max = 1000 },
    { .name = NULL },
};
static const mor_key_table design_table = { .title = "the design", .keys = design_keys, .size = sizeof(raw_design) };

typedef struct raw_measure {
    const char *name, *path, *function, *plugin;
    int over;
    double from, until;
} raw_measure;

static const mor_key measure_keys[] = {
    { "name", MOR_KEY_TEXT, KEY(raw_measure, name) },
    { "path", MOR_KEY_TEXT, KEY(raw_measure, path) },
    { "over", MOR_KEY_CHOICE, KEY(raw_measure, over), .choices = "min|max|mean|rms|range" },
    { "from", MOR_KEY_NUMBER, KEY(raw_measure, from), .max = MOR_HUGE },
    { "until", MOR_KEY_NUMBER, KEY(raw_measure, until), .initial = MOR_HUGE, .max = MOR_HUGE },
    { "function", MOR_KEY_TEXT, KEY(raw_measure, function) },
    { "plugin", MOR_KEY_TEXT, KEY(raw_measure, plugin) },
    { .name = NULL },
};
static const mor_key_table measure_table = { .title = "a measure", .keys = measure_keys, .size = sizeof(raw_measure) };
#undef KEY

static void* room(mor_plan* p, size_t count, size_t size, mor_error* error)
{
    void* data = mor_arena_zero(p->document.arena, count + 1, size);
    if (!data) mor_fail(error, MOR_SYSTEM, "out of memory");
    return data;
}

/* -------------------------------------------------------------------------------- parameters */

/* from + i (to - from) / (count - 1), on a scale of logarithms if `log`. */
static mor_code list_steps(mor_plan* p, mor_parameter* x, double from, double to, int count, bool log, mor_error* error)
{
    x->count = count;
    x->numeric = true;
    if (!(x->texts = room(p, (size_t)count, sizeof *x->texts, error))) return MOR_SYSTEM;
    for (int i = 0; i < count; i++) {
        double t = count > 1 ? (double)i / (double)(count - 1) : 0.0, v = from + (to - from) * t;
        if (log) v = i == 0 ? from : i == count - 1 ? to : mor_exp(mor_log(from) + (mor_log(to) - mor_log(from)) * t);
        char text[40];
        snprintf(text, sizeof text, "%.14g", v); /* 0.3, not 0.30000000000000004 */
        mor_short_number(text, sizeof text, mor_strtod(text, NULL));
        if (!(x->texts[i] = mor_document_text(&p->document, text, strlen(text), error))) return MOR_SYSTEM;
    }
    return MOR_OK;
}

static mor_code read_grid(mor_plan* p, mor_parameter* x, const mor_node* node, int form, mor_error* error)
{
    double v[3];
    mor_code code = mor_read_numbers(node, form_names[form], v, 3, error);
    if (code) return code;
    if (form == RANGE) {
        double steps = v[2] != 0.0 ? (v[1] - v[0]) / v[2] : -1.0;
        if (steps >= 1e6)
            return mor_node_fail(node, error, "range is [from, to, step]: these are %.3g values; at most 1e6", steps);
        if (!(steps >= 0.0))
            return mor_node_fail(node, error, "range is [from, to, step]: with the step %g, %g is not reached from %g",
                                 v[2], v[1], v[0]);
        int count = (int)floor(steps + 1e-9) + 1;
        return list_steps(p, x, v[0], v[0] + v[2] * (count - 1), count, false, error);
    }
    if (v[2] != floor(v[2]) || v[2] < 1.0 || v[2] > 1e6)
        return mor_node_fail(mor_node_at(node, 2), error,
                             "%s is [from, to, count]: count %g must be a whole number from 1 to 1e6", form_names[form],
                             v[2]);
    if (form == LOG_GRID && !(v[0] > 0.0 && v[1] > 0.0))
        return mor_node_fail(node, error, "log-grid needs positive numbers; for others there is grid");
    return list_steps(p, x, v[0], v[1], (int)v[2], form == LOG_GRID, error);
}

static mor_code read_values(mor_plan* p, mor_parameter* x, const mor_node* node, mor_error* error)
{
    mor_code code = mor_read_list(node, "values", error);
    if (code) return code;
    if (node->count == 0) return mor_node_fail(node, error, "values is empty; give at least one");
    x->numeric = true;
    if (!(x->texts = room(p, (size_t)node->count, sizeof *x->texts, error))) return MOR_SYSTEM;
    for (const mor_node* n = node->first; n; n = n->next) {
        char text[MOR_PLAN_TEXT];
        double number;
        if (!mor_node_flow(n, text, sizeof text))
            return mor_node_fail(n, error, "the value is longer than %d bytes", MOR_PLAN_TEXT - 1);
        bool scalar = n->kind == MOR_NODE_SCALAR && !n->quoted && strspn(text, "0123456789+-.eE") == strlen(text);
        x->numeric = x->numeric && scalar && mor_read_number(n, "value", &number, NULL) == MOR_OK;
        if (!(x->texts[x->count++] = mor_document_text(&p->document, text, strlen(text), error))) return MOR_SYSTEM;
    }
    return MOR_OK;
}

static mor_code read_distribution(mor_parameter* x, const mor_node* node, int form, mor_error* error)
{
    double v[2];
    mor_code code = mor_read_numbers(node, form_names[form], v, 2, error);
    if (code) return code;
    x->kind = form == UNIFORM       ? MOR_PARAMETER_UNIFORM
              : form == LOG_UNIFORM ? MOR_PARAMETER_LOG_UNIFORM
                                    : MOR_PARAMETER_NORMAL;
    x->low = v[0], x->high = v[1];
    x->numeric = true;
    if (form == NORMAL && !(v[1] >= 0.0))
        return mor_node_fail(node, error, "normal is [mean, standard deviation]: %g is negative", v[1]);
    if (form != NORMAL && !(v[0] < v[1]))
        return mor_node_fail(node, error, "%s is [from, to]: %g is not below %g", form_names[form], v[0], v[1]);
    if (form == LOG_UNIFORM && !(v[0] > 0.0))
        return mor_node_fail(node, error, "log-uniform needs positive numbers; for others there is uniform");
    return MOR_OK;
}

static mor_code read_parameter(mor_plan* p, const mor_node* node, mor_error* error)
{
    raw_parameter raw;
    mor_code code = mor_keys_read(&parameter_table, node, 3, &raw, error);
    if (code) return code;
    mor_parameter* x = &p->parameters[p->parameter_count];
    *x = (mor_parameter){ .path = raw.path, .axis = -1, .node = node };
    if (strlen(raw.path) > 250 || strchr(raw.path, '='))
        return mor_node_fail(mor_node_get(node, "path"), error, "the path must be shorter than 250 bytes, without '='");
    size_t length = strlen(raw.path);
    for (int i = 0; i < p->parameter_count; i++) {
        const char* before = p->parameters[i].path;
        if (strcmp(before, raw.path) == 0)
            return mor_node_fail(mor_node_get(node, "path"), error, "'%s' is a parameter already; give it once",
                                 raw.path);
        if (strncmp(before, raw.path, length) == 0 && (before[length] == '.' || before[length] == '['))
            return mor_node_fail(mor_node_get(node, "path"), error,
                                 "'%s' replaces '%s', a parameter before it; give the whole first", raw.path, before);
    }
    int form = -1;
    for (int i = 0; i < FORMS; i++) {
        if (!raw.forms[i]) continue;
        if (form >= 0)
            return mor_node_fail_key(raw.forms[i], error, "the parameter has %s and %s; give one of them",
                                     form_names[form], form_names[i]);
        form = i;
    }
    if (form < 0)
        return mor_node_fail(node, error,
                             "the parameter '%.60s' has no values; add one of grid: [from, to, count], log-grid, "
                             "range: [from, to, step], values: [...], uniform: [from, to], log-uniform, normal",
                             raw.path);
    p->parameter_count++;
    if (form == VALUES) return read_values(p, x, raw.forms[form], error);
    if (form < VALUES) return read_grid(p, x, raw.forms[form], form, error);
    return read_distribution(x, raw.forms[form], form, error);
}

static mor_code read_parameters(mor_plan* p, const mor_node* node, mor_error* error)
{
    mor_code code = mor_read_list(node, "parameters", error);
    if (code) return code;
    p->parameters = room(p, (size_t)node->count + 1, sizeof *p->parameters, error);
    if (!p->parameters) return MOR_SYSTEM;
    for (const mor_node* n = node->first; n && !code; n = n->next) code = read_parameter(p, n, error);
    return code;
}

/* `repeats: n` is a parameter `seed` with the values 1 to n. */
static mor_code add_repeats(mor_plan* p, int repeats, const mor_node* root, mor_error* error)
{
    if (repeats == 0) return MOR_OK;
    if (!p->parameters && !(p->parameters = room(p, 1, sizeof *p->parameters, error))) return MOR_SYSTEM;
    mor_parameter* x = &p->parameters[p->parameter_count];
    const mor_node* node = mor_node_get(root, "repeats");
    for (int i = 0; i < p->parameter_count; i++)
        if (strcmp(p->parameters[i].path, "seed") == 0)
            return mor_node_fail_key(node, error, "repeats changes the seed, which is a parameter already");
    *x = (mor_parameter){ .path = "seed", .axis = -1, .node = node };
    p->parameter_count++;
    return list_steps(p, x, 1.0, repeats, repeats, false, error);
}

/* ---------------------------------------------------------------------------------- measures */

static mor_code load_function(mor_plan* p, const mor_node* node, const raw_measure* raw, mor_measure* m,
                              mor_error* error)
{
    if (!raw->plugin)
        return mor_node_fail(node, error, "the function '%.60s' needs its shared object: add plugin: FILE.so",
                             raw->function);
    void* symbol;
    mor_code code = mor_plugin_function(&p->document, mor_node_get(node, "plugin"), raw->plugin,
                                        mor_node_get(node, "function"), raw->function, &symbol, error);
    if (code) return code;
    memcpy(&m->function, &symbol, sizeof m->function);
    m->kind = MOR_MEASURE_FUNCTION;
    return MOR_OK;
}

/* Columns of the table have different names. */
static mor_code check_name(const mor_plan* p, const mor_node* node, const char* name, mor_error* error)
{
    static const char* const columns[] = { "task", "scene", "status", "state_hash" };
    for (int i = 0; i < p->measure_count; i++)
        if (strcmp(p->measures[i].name, name) == 0)
            return mor_node_fail(node, error, "'%.60s' is a measure already; give this one another name", name);
    for (int i = 0; i < p->parameter_count; i++)
        if (strcmp(p->parameters[i].path, name) == 0)
            return mor_node_fail(node, error, "'%.60s' is a parameter already; give the measure another name", name);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i], name) == 0)
            return mor_node_fail(node, error, "every table has a column '%s'; give the measure another name", name);
    if (strpbrk(name, "/\n\t")) return mor_node_fail(node, error, "the name of a measure has no / or tab in it");
    return MOR_OK;
}

static mor_code read_measure(mor_plan* p, const mor_node* node, mor_error* error)
{
    raw_measure raw = { 0 };
    mor_measure* m = &p->measures[p->measure_count];
    *m = (mor_measure){ .node = node, .until = MOR_HUGE };
    bool mapping = node->kind != MOR_NODE_SCALAR;
    mor_code code = mapping ? mor_keys_read(&measure_table, node, 3, &raw, error)
                            : mor_read_text(node, "a measure", &raw.path, error);
    if (code) return code;
    if (!raw.path == !raw.function)
        return mor_node_fail(node, error,
                             "a measure has a path into the document of `moreau run --json`, or a function");
    m->path = raw.path;
    m->name = raw.name ? raw.name : raw.path ? raw.path : raw.function;
    if ((code = check_name(p, node, m->name, error))) return code;
    p->measure_count++;
    if (raw.function) return load_function(p, node, &raw, m, error);
    bool over = mapping && mor_node_get(node, "over") != NULL;
    m->kind = over ? MOR_MEASURE_SERIES : MOR_MEASURE_DOCUMENT;
    const mor_node* window = mapping ? mor_node_get(node, mor_node_get(node, "from") ? "from" : "until") : NULL;
    if (!over && window)
        return mor_node_fail_key(window, error, "%s is for measures over the steps; add over: min|max|mean|rms|range",
                                 window->key);
    if (over) m->over = (mor_measure_over)raw.over, m->from = raw.from, m->until = raw.until;
    if (over && !(raw.from <= raw.until))
        return mor_node_fail(node, error, "from %g is after until %g", raw.from, raw.until);
    return MOR_OK;
}

static mor_code read_measures(mor_plan* p, const mor_node* node, mor_error* error)
{
    mor_code code = mor_read_list(node, "measures", error);
    if (code) return code;
    if (!(p->measures = room(p, (size_t)node->count, sizeof *p->measures, error))) return MOR_SYSTEM;
    for (const mor_node* n = node->first; n && !code; n = n->next) code = read_measure(p, n, error);
    return code;
}

/* ------------------------------------------------------------------------------ scenes, times */

static mor_code read_scenes(mor_plan* p, const mor_node* root, const raw_plan* raw, mor_error* error)
{
    if (!raw->scene == !raw->scenes)
        return mor_node_fail(root, error, "the plan needs a scene: FILE, or scenes: [FILE, ...]");
    if (raw->scenes) {
        mor_code code = mor_read_list(raw->scenes, "scenes", error);
        if (code) return code;
        if (raw->scenes->count == 0) return mor_node_fail(raw->scenes, error, "scenes is empty; give at least one");
    }
    int count = raw->scenes ? raw->scenes->count : 1;
    p->scenes = room(p, (size_t)count, sizeof *p->scenes, error);
    p->scene_nodes = room(p, (size_t)count, sizeof(void*), error);
    if (!p->scenes || !p->scene_nodes) return MOR_SYSTEM;
    for (int i = 0; i < count; i++) {
        const mor_node* n = raw->scenes ? mor_node_at(raw->scenes, i) : mor_node_get(root, "scene");
        const char* name;
        mor_code code = mor_read_text(n, "a scene", &name, error);
        if (code) return code;
        p->scene_nodes[i] = n;
        if (!(p->scenes[i] = mor_path_from(&p->document, n, name, error))) return MOR_SYSTEM;
        for (int k = 0; k < i; k++)
            if (strcmp(p->scenes[i], p->scenes[k]) == 0)
                return mor_node_fail(n, error, "'%.100s' is there already; give it once", name);
        p->scene_count++;
    }
    return MOR_OK;
}

static int compare_numbers(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static mor_code read_times(mor_plan* p, const mor_node* node, mor_error* error)
{
    p->at_node = node;
    if (!node) return MOR_OK;
    mor_code code = mor_read_list(node, "at", error);
    if (!code && !(p->times = room(p, (size_t)node->count, sizeof *p->times, error))) code = MOR_SYSTEM;
    for (const mor_node* n = code ? NULL : node->first; n && !code; n = n->next) {
        code = mor_read_number(n, "a time", &p->times[p->time_count], error);
        if (!code && p->times[p->time_count] < 0.0)
            code = mor_node_fail(n, error, "the time %s is negative; give seconds from the start", n->text);
        p->time_count++;
    }
    if (!code && p->time_count) qsort(p->times, (size_t)p->time_count, sizeof *p->times, compare_numbers);
    return code;
}

static mor_code read_set(mor_plan* p, const mor_node* node, mor_error* error)
{
    if (!node) return MOR_OK;
    mor_code code = mor_read_map(node, "set", error);
    if (code) return code;
    p->set = room(p, (size_t)node->count, sizeof *p->set, error);
    p->set_nodes = room(p, (size_t)node->count, sizeof(void*), error);
    if (!p->set || !p->set_nodes) return MOR_SYSTEM;
    for (const mor_node* n = node->first; n; n = n->next) {
        char value[4096], text[5000];
        if (strchr(n->key, '=') || strlen(n->key) > 500 || !mor_node_flow(n, value, sizeof value))
            return mor_node_fail_key(n, error, "set is { path: value, ... }, with short values");
        snprintf(text, sizeof text, "%s=%s", n->key, value);
        p->set_nodes[p->set_count] = n;
        if (!(p->set[p->set_count++] = mor_document_text(&p->document, text, strlen(text), error))) return MOR_SYSTEM;
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- design */

/* The number of tasks, and the points. */
static mor_code lay_out(mor_plan* p, const mor_node* where, mor_error* error)
{
    const mor_parameter* sampled = NULL;
    double tasks = p->scene_count;
    p->combinations = 1;
    for (int i = 0; i < p->parameter_count; i++) {
        mor_parameter* x = &p->parameters[i];
        if (x->kind == MOR_PARAMETER_LIST) tasks *= x->count;
        else sampled = x, x->axis = p->dimension++;
        if (tasks <= MOR_PLAN_MOST && x->kind == MOR_PARAMETER_LIST) p->combinations *= x->count;
    }
    if (sampled && p->design == MOR_DESIGN_GRID)
        return mor_node_fail(sampled->node, error,
                             "'%.60s' is drawn from a distribution; that needs design: { name: latin, samples: 100 } "
                             "(or random, sobol, saltelli, morris)",
                             sampled->path);
    if (!sampled && p->design != MOR_DESIGN_GRID)
        return mor_node_fail(where, error,
                             "the design draws from uniform, log-uniform and normal, and no parameter has one; leave "
                             "the design out for all combinations of grids and values");
    if (p->design != MOR_DESIGN_GRID && p->samples == 0)
        return mor_node_fail(where, error, "the design needs samples: COUNT");
    int most = p->design == MOR_DESIGN_SALTELLI ? MOR_SOBOL_DIMENSIONS / 2 : MOR_SOBOL_DIMENSIONS;
    if ((p->design == MOR_DESIGN_SALTELLI || p->design == MOR_DESIGN_SOBOL) && p->dimension > most)
        return mor_node_fail(where, error, "the design takes %d drawn parameters at most, not %d; latin takes any",
                             most, p->dimension);
    if (p->design == MOR_DESIGN_MORRIS && p->levels % 2)
        return mor_node_fail(where, error, "levels %d is odd; give an even number", p->levels);
    p->points = mor_design_points(p->design, p->samples, p->dimension);
    if (tasks * (double)p->points > MOR_PLAN_MOST)
        return mor_node_fail(where, error, "the plan has %.3g tasks; at most %d", tasks * (double)p->points,
                             MOR_PLAN_MOST);
    if ((double)p->points * p->dimension > 4.0 * MOR_PLAN_MOST) /* 320 MB */
        return mor_node_fail(where, error, "the design has %ld points of %d numbers; at most %d numbers", p->points,
                             p->dimension, 4 * MOR_PLAN_MOST);
    if (p->dimension == 0) return MOR_OK;
    if (!(p->cube = room(p, (size_t)p->points * (size_t)p->dimension, sizeof *p->cube, error))) return MOR_SYSTEM;
    return mor_design_fill(p->design, p->samples, p->dimension, p->seed, p->levels, p->cube, error);
}

static mor_code read_design(mor_plan* p, const mor_node* root, const mor_node* node, mor_error* error)
{
    p->seed = 1, p->levels = 4;
    raw_design raw = { 0 };
    if (!node) return lay_out(p, root, error);
    mor_node named = { .kind = MOR_NODE_MAP, .source = node->source, .line = node->line, .column = node->column };
    mor_node name = *node;
    if (node->kind == MOR_NODE_SCALAR) { /* design: grid */
        name.key = "name", name.next = NULL;
        named.first = named.last = &name, named.count = 1;
    }
    mor_code code = mor_keys_read(&design_table, node->kind == MOR_NODE_SCALAR ? &named : node, 3, &raw, error);
    if (code) return code;
    p->design = (mor_design)raw.name;
    p->samples = raw.samples;
    p->seed = (uint64_t)raw.seed;
    p->levels = raw.levels;
    return lay_out(p, node, error);
}

static mor_code read_plan(mor_plan* p, const mor_node* root, mor_error* error)
{
    raw_plan raw;
    mor_code code = mor_keys_read(&plan_table, root, 3, &raw, error);
    if (!code) code = read_scenes(p, root, &raw, error);
    if (!code) code = read_set(p, raw.set, error);
    if (!code && raw.parameters) code = read_parameters(p, raw.parameters, error);
    if (!code) code = add_repeats(p, raw.repeats, root, error);
    if (!code) code = read_times(p, raw.at, error);
    if (!code && raw.measures) code = read_measures(p, raw.measures, error);
    if (!code) code = read_design(p, root, raw.design, error);
    return code;
}

static mor_plan* create(mor_error* error)
{
    mor_arena* arena = mor_arena_create(NULL);
    mor_plan* p = arena ? mor_arena_zero(arena, 1, sizeof *p) : NULL;
    if (!p) {
        mor_arena_destroy(arena);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    p->document.arena = arena;
    return p;
}

static mor_plan* fill(mor_plan* p, const char* name, mor_error* error)
{
    const mor_source* source = p->text ? mor_source_create(&p->document, name, error) : NULL;
    p->file = source ? source->name : name;
    const mor_node* root = source ? mor_yaml_parse(&p->document, p->text, p->length, source, 0, error) : NULL;
    if (!root || read_plan(p, root, error)) {
        mor_plan_destroy(p);
        return NULL;
    }
    p->hash = mor_hash_bytes(MOR_HASH_BEGIN, p->text, p->length);
    p->hash = mor_hash_bytes(p->hash, MOR_VERSION_STRING, strlen(MOR_VERSION_STRING));
    return p;
}

mor_plan* mor_plan_parse(const char* text, size_t length, const char* name, mor_error* error)
{
    mor_plan* p = create(error);
    if (!p) return NULL;
    p->text = mor_document_text(&p->document, text, length, error);
    p->length = length;
    return fill(p, name, error);
}

mor_plan* mor_plan_load(const char* path, mor_error* error)
{
    mor_plan* p = create(error);
    if (!p) return NULL;
    p->text = mor_read_file(&p->document, path, &p->length, NULL, error);
    return fill(p, path, error);
}
