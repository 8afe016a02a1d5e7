/* A running unit, see unit.h. Every function that computes or reads numbers sets the usual arithmetic first: the host
 * is somebody else's program. */
#include "fmi/unit.h"

#include "io/text/text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 256 };

struct mor_fmu {
    mor_scene* scene;
    mor_world* world;
    mor_fmu_variable* variables;
    int count;
    double* inputs; /* count; only those of inputs are used */
    double start;   /* time at which the world's time is 0 */
    bool initialised;
    void* first; /* snapshot of the beginning */
    size_t first_size;
    double first_step;
    mor_vec3 first_gravity;
    int* controllers; /* of each robot: the one that follows the targets, or -1 */
};

/* ------------------------------------------------------------------------------------ making */

/* The lines of moreau.txt: token, scene, then overrides. Cuts the text. */
static mor_code read_lines(char* text, const char* token, const char** scene, const char** sets, mor_error* error)
{
    char* lines[MOST_SETS + 3];
    int n = 0;
    for (char* at = text; *at && n < MOST_SETS + 3;) {
        lines[n++] = at;
        char* end = strchr(at, '\n');
        if (!end) break;
        *end = '\0';
        at = end + 1;
    }
    if (n < 2) return mor_fail(error, MOR_BAD_INPUT, "resources/moreau.txt is not complete");
    if (n > MOST_SETS + 2)
        return mor_fail(error, MOR_BAD_INPUT, "resources/moreau.txt: more than %d overrides", MOST_SETS);
    if (token && strcmp(token, lines[0]) != 0)
        return mor_fail(error, MOR_BAD_INPUT, "this unit has the token %s, not %s: another modelDescription.xml",
                        lines[0], token);
    *scene = lines[1];
    for (int i = 2; i < n; i++) sets[i - 2] = lines[i];
    return MOR_OK;
}

static void reset_inputs(mor_fmu* u)
{
    for (int i = 0; i < u->count; i++) u->inputs[i] = u->variables[i].start;
}

static mor_code build(mor_fmu* u, const char* resources, const char* token, mor_error* error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/moreau.txt", resources);
    char* text;
    size_t length;
    mor_code code = mor_text_read(path, 1 << 20, &text, &length, error);
    if (code) return code;
    const char *scene = "", *sets[MOST_SETS + 1] = { 0 };
    code = read_lines(text, token, &scene, sets, error);
    if (!code) {
        snprintf(path, sizeof path, "%s/%s", resources, scene);
        u->scene = mor_scene_load(path, sets, NULL, error);
        u->world = u->scene ? mor_scene_build(u->scene, 1, error) : NULL;
        code = u->world ? MOR_OK : error->code;
    }
    free(text);
    if (code) return code;
    u->variables = mor_fmu_variables(u->world, &u->count);
    u->inputs = u->variables ? calloc((size_t)u->count, sizeof *u->inputs) : NULL;
    u->first_size = mor_world_save(u->world, NULL, 0);
    u->first = malloc(u->first_size);
    int robots = mor_world_robot_count(u->world);
    u->controllers = malloc(((size_t)robots + 1) * sizeof *u->controllers);
    if (!u->inputs || !u->first || !u->controllers) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int r = 0; r < robots; r++) u->controllers[r] = mor_fmu_target_controller(u->world, r);
    mor_world_save(u->world, u->first, u->first_size);
    u->first_step = mor_world_get_step(u->world);
    u->first_gravity = mor_world_gravity(u->world);
    reset_inputs(u);
    return MOR_OK;
}

mor_fmu* mor_fmu_create(const char* resources, const char* token, mor_error* error)
{
    mor_fmu* u = calloc(1, sizeof *u);
    if (!u) return mor_fail(error, MOR_SYSTEM, "out of memory"), NULL;
    mor_arithmetic host = mor_arithmetic_enter();
    mor_code code = build(u, resources, token, error);
    mor_arithmetic_leave(host);
    if (!code) return u;
    mor_fmu_destroy(u);
    return NULL;
}

void mor_fmu_destroy(mor_fmu* u)
{
    if (!u) return;
    mor_world_destroy(u->world);
    mor_scene_destroy(u->scene);
    free(u->variables);
    free(u->inputs);
    free(u->first);
    free(u->controllers);
    free(u);
}

mor_code mor_fmu_reset(mor_fmu* u, mor_error* error)
{
    mor_world_set_step(u->world, u->first_step);
    mor_world_set_gravity(u->world, u->first_gravity);
    reset_inputs(u);
    u->initialised = false;
    u->start = 0.0;
    return mor_world_restore(u->world, u->first, u->first_size, error);
}

void mor_fmu_start(mor_fmu* u, double time) { u->start = time; }
void mor_fmu_initialised(mor_fmu* u) { u->initialised = true; }
double mor_fmu_time(const mor_fmu* u) { return u->start + mor_world_time(u->world); }

/* --------------------------------------------------------------------------------- variables */

static double component(mor_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static double of_body(const mor_world* w, const mor_fmu_variable* v)
{
    mor_body_id id = mor_world_body(w, v->index);
    mor_body_state s = mor_body_get_state(w, id);
    if (v->kind == MOR_FMU_POSITION) return component(s.pose.position, v->component);
    if (v->kind == MOR_FMU_VELOCITY) return component(s.velocity, v->component);
    if (v->kind == MOR_FMU_ANGULAR_VELOCITY) return component(s.angular_velocity, v->component);
    mor_quat q = s.pose.rotation;
    if (v->kind == MOR_FMU_QUATERNION) return (double[4]){ q.w, q.x, q.y, q.z }[v->component];
    double wrench[6];
    mor_body_contact_wrench(w, id, wrench);
    return wrench[(v->kind == MOR_FMU_CONTACT_TORQUE ? 3 : 0) + v->component];
}

static mor_code of_joint(const mor_world* w, const mor_fmu_variable* v, double* value, mor_error* error)
{
    const mor_robot_model* m = mor_world_robot_model(w, v->index);
    int n = mor_robot_joint_count(m), N = mor_robot_dof(m);
    double* x = malloc((size_t)(n + N) * sizeof *x);
    if (!x) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_world_robot_state(w, v->index, NULL, x, x + n);
    *value = v->kind == MOR_FMU_JOINT_POSITION ? x[v->component] : x[n + N - n + v->component];
    free(x);
    return MOR_OK;
}

static mor_code no_variable(unsigned number, mor_error* error)
{
    return mor_fail(error, MOR_BAD_INPUT, "there is no variable with the value reference %u", number);
}

mor_code mor_fmu_get(mor_fmu* u, unsigned number, double* value, mor_error* error)
{
    if (number >= (unsigned)u->count) return no_variable(number, error);
    const mor_fmu_variable* v = &u->variables[number];
    const mor_world* w = u->world;
    int contacts;
    switch (v->kind) {
    case MOR_FMU_TIME:
        *value = mor_fmu_time(u);
        break;
    case MOR_FMU_STEP:
        *value = mor_world_get_step(w);
        break;
    case MOR_FMU_GRAVITY:
        *value = component(mor_world_gravity(w), v->component);
        break;
    case MOR_FMU_FORCE:
    case MOR_FMU_TORQUE:
    case MOR_FMU_JOINT_TORQUE:
    case MOR_FMU_JOINT_TARGET:
        *value = u->inputs[number];
        break;
    case MOR_FMU_JOINT_POSITION:
    case MOR_FMU_JOINT_VELOCITY:
        return of_joint(w, v, value, error);
    case MOR_FMU_EQUATION_POSITION:
        *value = mor_world_joint_position(w, v->index);
        break;
    case MOR_FMU_KINETIC:
        *value = mor_world_kinetic_energy(w);
        break;
    case MOR_FMU_POTENTIAL:
        *value = mor_world_potential_energy(w);
        break;
    case MOR_FMU_PENETRATION:
        *value = mor_world_penetration(w);
        break;
    case MOR_FMU_CONTACTS:
        mor_world_contacts(w, &contacts), *value = contacts;
        break;
    default:
        *value = of_body(w, v);
    }
    return MOR_OK;
}

static mor_code set_gravity(mor_world* w, int k, double value)
{
    mor_vec3 g = mor_world_gravity(w);
    if (k == 0) g.x = value;
    else if (k == 1) g.y = value;
    else g.z = value;
    mor_world_set_gravity(w, g);
    return MOR_OK;
}

mor_code mor_fmu_set(mor_fmu* u, unsigned number, double value, mor_error* error)
{
    if (number >= (unsigned)u->count) return no_variable(number, error);
    const mor_fmu_variable* v = &u->variables[number];
    if (!isfinite(value)) return mor_fail(error, MOR_BAD_INPUT, "%s: the number is not finite", v->name);
    if (v->kind == MOR_FMU_GRAVITY) return set_gravity(u->world, v->component, value);
    if (v->kind == MOR_FMU_STEP) {
        if (u->initialised) return mor_fail(error, MOR_BAD_INPUT, "step: it is fixed once the unit is initialised");
        if (!(value >= 1e-9)) return mor_fail(error, MOR_BAD_INPUT, "step %g s; give at least 1e-9", value);
        mor_world_set_step(u->world, value);
        return MOR_OK;
    }
    if (mor_fmu_info(v->kind)->causality != MOR_FMU_INPUT)
        return mor_fail(error, MOR_BAD_INPUT, "%s cannot be set: it is no input and no parameter", v->name);
    u->inputs[number] = value;
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- steps */

/* Torques and targets of one robot. */
static mor_code apply_robot(mor_fmu* u, int robot, mor_error* error)
{
    const mor_robot_model* m = mor_world_robot_model(u->world, robot);
    size_t n = (size_t)mor_robot_joint_count(m);
    double* x = calloc(2 * n + 1, sizeof *x);
    if (!x) return mor_fail(error, MOR_SYSTEM, "out of memory");
    bool torques = false;
    for (int i = 0; i < u->count; i++) {
        const mor_fmu_variable* v = &u->variables[i];
        if (v->index != robot) continue;
        if (v->kind == MOR_FMU_JOINT_TORQUE) x[v->component] = u->inputs[i], torques = torques || u->inputs[i] != 0.0;
        if (v->kind == MOR_FMU_JOINT_TARGET) x[n + (size_t)v->component] = u->inputs[i];
    }
    if (torques) mor_world_robot_apply(u->world, robot, x);
    int controller = u->controllers[robot];
    mor_code code = controller >= 0 ? mor_world_set_target(u->world, controller, x + n, error) : MOR_OK;
    free(x);
    return code;
}

static mor_code apply(mor_fmu* u, mor_error* error)
{
    for (int i = 0; i < u->count; i++) {
        const mor_fmu_variable* v = &u->variables[i];
        if ((v->kind != MOR_FMU_FORCE && v->kind != MOR_FMU_TORQUE) || v->component != 0) continue;
        const double* x = &u->inputs[i];
        if (x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0) continue; /* no force leaves no trace, not even a rounding */
        mor_body_id id = mor_world_body(u->world, v->index);
        mor_vec3 f = mor_v3(x[0], x[1], x[2]);
        if (v->kind == MOR_FMU_TORQUE) mor_body_apply_torque(u->world, id, f);
        else mor_body_apply(u->world, id, f, mor_body_get_state(u->world, id).com);
    }
    mor_code code = MOR_OK;
    for (int r = 0; r < mor_world_robot_count(u->world) && !code; r++) code = apply_robot(u, r, error);
    return code;
}

mor_code mor_fmu_advance(mor_fmu* u, double time, mor_error* error)
{
    mor_arithmetic host = mor_arithmetic_enter();
    const bool adaptive = mor_world_get_adaptive(u->world, NULL);
    const double h = mor_world_get_step(u->world), rounding = adaptive ? 1e-12 : 1e-6 * h;
    mor_code code = MOR_OK;
    for (double left; !code && (left = time - mor_fmu_time(u)) > rounding;) {
        bool part = !adaptive && left < h - rounding;
        if (adaptive) mor_world_limit_step(u->world, time - u->start);
        if (part) mor_world_set_step(u->world, left);
        code = apply(u, error);
        if (!code) code = mor_world_step(u->world, NULL, error);
        if (part) mor_world_set_step(u->world, h);
    }
    mor_arithmetic_leave(host);
    return code;
}

/* ------------------------------------------------------------------------------------- state */

typedef struct header {
    char magic[8];
    uint64_t inputs, world;
    double start, step, gravity[3];
    uint64_t initialised;
} header;

size_t mor_fmu_save(const mor_fmu* u, void* buffer, size_t size)
{
    size_t world = mor_world_save(u->world, NULL, 0), inputs = (size_t)u->count * sizeof(double);
    size_t need = sizeof(header) + inputs + world;
    if (!buffer) return need;
    if (size < need) return 0;
    mor_vec3 g = mor_world_gravity(u->world);
    header h = { "moreau1",         (uint64_t)u->count, world, u->start, mor_world_get_step(u->world),
                 { g.x, g.y, g.z }, u->initialised };
    char* at = buffer;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, u->inputs, inputs);
    return mor_world_save(u->world, at + sizeof h + inputs, world) == world ? need : 0;
}

mor_code mor_fmu_restore(mor_fmu* u, const void* buffer, size_t size, mor_error* error)
{
    header h;
    size_t inputs = (size_t)u->count * sizeof(double);
    if (size >= sizeof h) memcpy(&h, buffer, sizeof h);
    if (size < sizeof h || memcmp(h.magic, "moreau1", 8) != 0 || h.inputs != (uint64_t)u->count ||
        size != sizeof h + inputs + h.world || !(h.step > 0.0) || !isfinite(h.step))
        return mor_fail(error, MOR_BAD_INPUT, "this is no state of this unit");
    const char* at = buffer;
    double step = mor_world_get_step(u->world);
    mor_world_set_step(u->world, h.step);
    mor_code code = mor_world_restore(u->world, at + sizeof h + inputs, h.world, error);
    if (code) return mor_world_set_step(u->world, step), code;
    memcpy(u->inputs, at + sizeof h, inputs);
    mor_world_set_gravity(u->world, mor_v3(h.gravity[0], h.gravity[1], h.gravity[2]));
    u->start = h.start;
    u->initialised = h.initialised;
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- paths */

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

mor_code mor_fmu_path(const char* uri, char* path, size_t size, mor_error* error)
{
    bool coded = strncmp(uri, "file:", 5) == 0;
    const char* at = coded ? uri + 5 : uri;
    if (coded && at[0] == '/' && at[1] == '/') {
        at += 2;
        if (strncmp(at, "localhost/", 10) == 0) at += 9;
        else if (*at != '/') return mor_fail(error, MOR_BAD_INPUT, "%s: the files of another machine", uri);
    } else if (!coded && strstr(uri, "://")) return mor_fail(error, MOR_BAD_INPUT, "%s: only file: can be read", uri);
    size_t n = 0;
    for (; *at; at++) {
        char c = *at;
        if (coded && c == '%') {
            int high = hexadecimal(at[1]), low = high < 0 ? -1 : hexadecimal(at[2]);
            if (low < 0 || (high == 0 && low == 0))
                return mor_fail(error, MOR_BAD_INPUT, "%s: two hexadecimal digits must follow %%", uri);
            c = (char)(16 * high + low);
            at += 2;
        }
        if (n + 1 >= size) return mor_fail(error, MOR_BAD_INPUT, "the path is too long: %.60s...", uri);
        path[n++] = c;
    }
    while (n > 1 && path[n - 1] == '/') n--;
    path[n] = '\0';
    return MOR_OK;
}
