/* Controllers of a scene, to definitions; and into a world.
 *
 * CSV files: a head line `t,joint,joint,...`, then lines of as many numbers with increasing times; without a head there
 * is one column for every joint of the robot in its order. Lines that are empty or begin with '#' are skipped. `moves`
 * is the same in the scene itself: [ { at: 0, targets: { joint: value } }, ... ], where a joint that is not named keeps
 * its last value. */
#include "base/failed.h"
#include "io/scene/scene_def.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------- CSV tables */

typedef struct csv {
    const char* file;
    int line;
    const char* start; /* of the line */
} csv;

static mor_code fail_at(const csv* c, const char* at, mor_error* error, const char* sentence)
{
    return mor_fail_at(error, MOR_BAD_INPUT, c->file, c->line, (int)(at - c->start) + 1, "%s", sentence);
}

/* The next field of a line: [*from, *to) without blanks; moves s behind the comma. False: there is none. */
static bool next_field(const char** s, const char* end, const char** from, const char** to)
{
    if (*s > end) return false;
    const char* comma = memchr(*s, ',', (size_t)(end - *s));
    *from = *s;
    *to = comma ? comma : end;
    *s = comma ? comma + 1 : end + 1;
    while (*from < *to && (**from == ' ' || **from == '\t' || **from == '"')) (*from)++;
    while (*to > *from && ((*to)[-1] == ' ' || (*to)[-1] == '\t' || (*to)[-1] == '"')) (*to)--;
    return true;
}

/* Columns from the head line: columns[k] = joint of the k-th column after the time. */
static mor_code read_head(const csv* c, const char* end, const mor_robot_model* model, int* columns, int* count,
                          bool* has, mor_error* error)
{
    const char *s = c->start, *from, *to;
    next_field(&s, end, &from, &to);
    for (*count = 0; next_field(&s, end, &from, &to); (*count)++) {
        char name[MOR_NAME_SIZE];
        size_t length = (size_t)(to - from);
        if (length == 0 || length >= sizeof name) return fail_at(c, from, error, "a column has no name of a joint");
        memcpy(name, from, length);
        name[length] = '\0';
        int joint = mor_robot_find_joint(model, name);
        char sentence[256];
        if (joint < 0) {
            snprintf(sentence, sizeof sentence, "the robot has no joint '%.80s' that moves", name);
            return fail_at(c, from, error, sentence);
        }
        if (has[joint]) {
            snprintf(sentence, sizeof sentence, "joint '%.80s' has two columns", name);
            return fail_at(c, from, error, sentence);
        }
        has[joint] = true;
        columns[*count] = joint;
    }
    return *count ? MOR_OK : fail_at(c, c->start, error, "the head names no joint; write t,joint,...");
}

static mor_code read_line(const csv* c, const char* end, const int* columns, int count, double* time, double* values,
                          mor_error* error)
{
    const char *s = c->start, *from, *to;
    char sentence[160];
    for (int k = 0; k <= count; k++) {
        if (!next_field(&s, end, &from, &to)) {
            snprintf(sentence, sizeof sentence,
                     "this line has %d number%s; %d are needed: the time and one for each of %d joint%s", k,
                     k == 1 ? "" : "s", count + 1, count, count == 1 ? "" : "s");
            return fail_at(c, end, error, sentence);
        }
        char* after;
        double x = mor_strtod(from, &after);
        if (after != to || from == to) return fail_at(c, from, error, "this is not a number");
        if (!(fabs(x) <= MOR_HUGE)) return fail_at(c, from, error, "this number is not finite or too large");
        if (k == 0) *time = x;
        else values[columns[k - 1]] = x;
    }
    if (next_field(&s, end, &from, &to)) {
        snprintf(sentence, sizeof sentence, "this line has more than the %d numbers of the time and %d joint%s",
                 count + 1, count, count == 1 ? "" : "s");
        return fail_at(c, from, error, sentence);
    }
    return MOR_OK;
}

static mor_code read_csv(mor_scene* scene, const mor_node* node, const char* name, const mor_robot_model* model,
                         mor_motion_table* table, mor_error* error)
{
    size_t length;
    const char* path = mor_path_from(&scene->document, node, name, error);
    const char* text = path ? mor_read_file(&scene->document, path, &length, node, error) : NULL;
    if (!text) return mor_failed(error, MOR_BAD_INPUT);
    int n = mor_robot_joint_count(model), count = n;
    size_t lines = 1;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    double* times = mor_scene_alloc(scene, lines, sizeof *times, error);
    double* values = mor_scene_alloc(scene, lines * (size_t)n + 1, sizeof *values, error);
    int* columns = mor_scene_alloc(scene, (size_t)n + length / 2 + 2, sizeof *columns, error);
    bool* has = mor_scene_alloc(scene, (size_t)n + 1, sizeof *has, error);
    if (!times || !values || !columns || !has) return MOR_SYSTEM;
    bool head = true;
    int rows = 0;
    csv c = { path, 0, text };
    for (const char* s = text; s < text + length;) {
        const char* newline = memchr(s, '\n', (size_t)(text + length - s));
        const char* end = newline ? newline : text + length;
        c.line++;
        c.start = s;
        s = newline ? newline + 1 : end;
        while (end > c.start && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) end--;
        if (end == c.start || *c.start == '#') continue;
        const char* first = c.start + strspn(c.start, " \t\"");
        mor_code code;
        if (head) {
            head = false;
            if ((*first >= 'a' && *first <= 'z') || (*first >= 'A' && *first <= 'Z')) {
                if ((code = read_head(&c, end, model, columns, &count, has, error))) return code;
                continue;
            }
            for (int j = 0; j < n; j++) columns[j] = j, has[j] = true;
        }
        if ((code = read_line(&c, end, columns, count, &times[rows], values + (size_t)rows * (size_t)n, error)))
            return code;
        if (rows > 0 && !(times[rows] > times[rows - 1]))
            return fail_at(&c, c.start, error, "times must increase from line to line");
        rows++;
    }
    if (rows == 0) return mor_node_fail(node, error, "the file '%.200s' has no lines of numbers", path);
    *table = (mor_motion_table){ .rows = rows, .joints = n, .times = times, .values = values, .has = has };
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------ moves */

static mor_code read_moves(mor_scene* scene, const mor_node* list, const mor_robot_model* model, const double* start,
                           mor_motion_table* table, mor_error* error)
{
    int n = mor_robot_joint_count(model);
    mor_code code = mor_read_list(list, "moves", error);
    if (code) return code;
    if (list->count == 0) return mor_node_fail(list, error, "moves is empty; give { at, targets } entries");
    double* times = mor_scene_alloc(scene, (size_t)list->count, sizeof *times, error);
    double* values = mor_scene_alloc(scene, (size_t)list->count * (size_t)n + 1, sizeof *values, error);
    bool* has = mor_scene_alloc(scene, (size_t)n + 1, sizeof *has, error);
    if (!times || !values || !has) return MOR_SYSTEM;
    int row = 0;
    for (const mor_node* m = list->first; m; m = m->next, row++) {
        mor_raw_move raw;
        if ((code = mor_keys_read(&mor_keys_move, m, scene->dimension, &raw, error))) return code;
        times[row] = raw.at;
        if (row > 0 && !(times[row] > times[row - 1]))
            return mor_node_fail(mor_node_get(m, "at"), error, "times of moves must increase");
        memcpy(values + (size_t)row * (size_t)n, row ? values + (size_t)(row - 1) * (size_t)n : start,
               (size_t)n * sizeof *values);
        if ((code = mor_read_map(raw.targets, "targets", error))) return code;
        if ((code = mor_scene_by_joint(model, raw.targets, "targets", values + (size_t)row * (size_t)n, error)))
            return code;
        for (const mor_node* t = raw.targets->first; t; t = t->next) has[mor_robot_find_joint(model, t->key)] = true;
    }
    *table = (mor_motion_table){ .rows = row, .joints = n, .times = times, .values = values, .has = has };
    return MOR_OK;
}

/* ------------------------------------------------------------------------------ definitions */

static mor_code find_type(mor_scene* scene, const mor_node* at, const char* name, const mor_controller** type,
                          mor_error* error)
{
    const char* names[129];
    char known[400] = "";
    size_t used = 0;
    int n = 0;
    for (; n < 128 && mor_library_controller_at(scene->library, n); n++) {
        names[n] = mor_library_controller_at(scene->library, n)->name;
        int w = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", names[n]);
        if (w > 0 && used + (size_t)w < sizeof known) used += (size_t)w;
    }
    names[n] = NULL;
    if ((*type = mor_library_controller(scene->library, name))) return MOR_OK;
    const char* near = mor_did_you_mean(name, names);
    if (near) return mor_node_fail(at, error, "unknown type of controller '%.60s'; did you mean '%s'?", name, near);
    return mor_node_fail(at, error, "unknown type of controller '%.60s'; known: %s, and those of --plugin", name,
                         known);
}

static mor_code read_options(mor_scene* scene, const mor_node* map, const mor_controller* type, mor_controller_def* d,
                             mor_error* error)
{
    void* options = mor_scene_alloc(scene, type->options_size + 1, 1, error);
    if (!options) return MOR_SYSTEM;
    mor_fields_default(type->fields, options);
    d->options = options;
    if (!map) return MOR_OK;
    mor_code code = mor_read_map(map, "options", error);
    for (const mor_node* n = map->first; n && code == MOR_OK; n = n->next) {
        mor_error inner = { 0 };
        if (!type->fields || !type->fields->name)
            return mor_node_fail_key(n, error, "controllers of type '%s' have no options", type->name);
        if (n->kind != MOR_NODE_SCALAR) return mor_node_fail(n, error, "%s must be a single value", n->key);
        if (mor_fields_set(type->fields, options, n->key, n->text, &inner)) return mor_node_pass(n, &inner, error);
    }
    return code;
}

/* Which joints: all, one, or a list. */
static mor_code read_joints(mor_scene* scene, const mor_node* node, const mor_raw_controller* raw,
                            const mor_scene_robot* robot, mor_controller_def* d, mor_error* error)
{
    if (!raw->joint && !raw->joints) return MOR_OK;
    if (raw->joint && raw->joints) return mor_node_fail(raw->joints, error, "give joint or joints, not both");
    bool* flags = mor_scene_alloc(scene, (size_t)mor_robot_joint_count(robot->model) + 1, sizeof *flags, error);
    if (!flags) return MOR_SYSTEM;
    d->joints = flags;
    const mor_node* list = raw->joints;
    mor_code code = list ? mor_read_list(list, "joints", error) : MOR_OK;
    for (const mor_node* n = list ? list->first : mor_node_get(node, "joint"); n && code == MOR_OK;
         n = list ? n->next : NULL) {
        const char* name;
        if ((code = mor_read_text(n, "joint", &name, error))) return code;
        int joint = mor_scene_joint_number(robot->model, n, false, name, error);
        if (joint < 0) return MOR_BAD_INPUT;
        if (robot->motors.actuated && !robot->motors.actuated[joint])
            return mor_node_fail(n, error, "joint '%.60s' has no motor: it is not in 'actuated'", name);
        flags[joint] = true;
    }
    return code;
}

static mor_code read_controller(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_controller raw;
    mor_code code = mor_keys_read(&mor_keys_controller, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_scene_controller* c = &scene->controllers[scene->controller_count++];
    c->node = node;
    mor_controller_def* d = &c->def;
    *d = mor_controller_def_default();
    if ((code = find_type(scene, mor_node_get(node, "type"), raw.type, &d->type, error))) return code;
    d->robot = -1;
    for (int i = 0; i < scene->robot_count; i++)
        if (strcmp(scene->robots[i].def.name, raw.robot) == 0) d->robot = i;
    if (d->robot < 0) return mor_node_fail(mor_node_get(node, "robot"), error, "there is no robot '%.60s'", raw.robot);
    const mor_scene_robot* robot = &scene->robots[d->robot];
    const mor_robot_model* m = robot->model;
    int n = mor_robot_joint_count(m);
    if (raw.name) snprintf(d->name, sizeof d->name, "%s", raw.name);
    double* numbers = mor_scene_alloc(scene, 4 * (size_t)n + 1, sizeof *numbers, error);
    if (!numbers) return MOR_SYSTEM;
    double *target = numbers, *kp = numbers + n, *ki = numbers + 2 * n, *kd = numbers + 3 * n;
    bool positions = d->type->state_size != NULL && strcmp(raw.type, "velocity") != 0; /* others rest at 0 */
    if (positions) memcpy(target, robot->def.s, (size_t)n * sizeof *target);
    d->target = target, d->kp = kp, d->ki = ki, d->kd = kd;
    if ((code = read_joints(scene, node, &raw, robot, d, error))) return code;
    if ((code = mor_scene_by_joint(m, raw.targets, "targets", target, error)) ||
        (code = mor_scene_by_joint(m, raw.kp, "kp", kp, error)) ||
        (code = mor_scene_by_joint(m, raw.ki, "ki", ki, error)) ||
        (code = mor_scene_by_joint(m, raw.kd, "kd", kd, error)))
        return code;
    for (int j = 0; j < n; j++)
        if (kp[j] < 0.0 || kd[j] < 0.0)
            return mor_node_fail(node, error, "kp and kd must not be negative: they would push away from the target");
    if (raw.file && raw.moves) return mor_node_fail(raw.moves, error, "give file or moves, not both");
    mor_motion_table* table = mor_scene_alloc(scene, 1, sizeof *table, error);
    if (!table) return MOR_SYSTEM;
    if (raw.file && (code = read_csv(scene, mor_node_get(node, "file"), raw.file, m, table, error))) return code;
    if (raw.moves && (code = read_moves(scene, raw.moves, m, target, table, error))) return code;
    if (raw.file || raw.moves) {
        table->interpolation = raw.interpolation;
        table->period = raw.period;
        d->table = table;
    } else if (strcmp(raw.type, "trajectory") == 0) {
        return mor_node_fail(node, error, "a trajectory has 'file' or 'moves'; add one");
    }
    d->gravity_compensation = raw.gravity_compensation;
    d->sampled = raw.sampled;
    d->integral_limit = raw.integral_limit;
    d->from = raw.from;
    d->until = raw.until;
    return read_options(scene, raw.options, d->type, d, error);
}

mor_code mor_scene_read_controllers(mor_scene* scene, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "controllers", error);
    if (code) return code;
    scene->controllers = mor_scene_alloc(scene, (size_t)list->count + 1, sizeof *scene->controllers, error);
    if (!scene->controllers) return MOR_SYSTEM;
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next) code = read_controller(scene, n, error);
    return code;
}

/* Every pattern of record.bus names something. */
static mor_code check_bus(const mor_scene* scene, const mor_world* world, mor_error* error)
{
    const mor_node* list = scene->record.bus;
    mor_code code = list ? mor_read_list(list, "bus", error) : MOR_OK;
    for (const mor_node* n = list ? list->first : NULL; n && code == MOR_OK; n = n->next) {
        const char* pattern;
        if ((code = mor_read_text(n, "bus", &pattern, error))) return code;
        bool found = false;
        mor_bus_channel c;
        for (int i = 0; !found && mor_bus_channel_at(world, i, &c); i++) found = mor_bus_match(pattern, c.name);
        if (!found)
            return mor_node_fail(
                n, error,
                "nothing on the output bus is called '%.80s'; names are robot.quantity, * stands for anything",
                pattern);
    }
    return code;
}

mor_code mor_scene_add_controllers(const mor_scene* scene, mor_world* world, mor_error* error)
{
    mor_error inner = { 0 };
    if (scene->control_step > 0.0 && mor_world_set_control_step(world, scene->control_step, &inner))
        return mor_fail(error, inner.code, "%s", inner.text);
    if (scene->maximal && scene->controller_count)
        return mor_node_fail(scene->controllers[0].node, error, "controllers need 'coordinates: minimal'");
    for (int i = 0; i < scene->controller_count; i++) {
        const mor_scene_controller* c = &scene->controllers[i];
        if (mor_world_add_controller(world, &c->def, &inner) >= 0) continue;
        return mor_node_pass(c->node, &inner, error);
    }
    return check_bus(scene, world, error);
}
