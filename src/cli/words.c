/* Words of the command line for numbers of a world (words.h). */
#include "cli/words.h"

#include "cli/cli.h"
#include "cli/options.h"
#include "moreau/control.h"
#include "moreau/state.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------------- states and constant forces */

typedef struct word {
    char copy[256]; /* the next are in it */
    const char *kind, *name, *part;
} word;

/* KIND:NAME.PART, or gravity:PART. */
static bool split(const char* text, word* out)
{
    if (strlen(text) >= sizeof out->copy) return false;
    snprintf(out->copy, sizeof out->copy, "%s", text);
    char *name = strchr(out->copy, ':'), *part;
    if (!name) return false;
    *name++ = '\0';
    part = strrchr(name, '.');
    if (part) *part++ = '\0';
    out->kind = out->copy, out->name = part ? name : "", out->part = part ? part : name;
    return true;
}

static int axis(const char* text)
{
    const char* at = *text && !text[1] ? strchr("xyz", *text) : NULL;
    return at ? (int)(at - "xyz") : -1;
}

/* The number in nu of a body's or a joint's coordinate; -1 after a message. */
static int number_of(const char* command, const mor_world* w, const word* x, const char* text)
{
    if (strcmp(x->kind, "joint") == 0 || strcmp(x->kind, "speed") == 0) {
        int robot = mor_world_find_robot(w, x->name);
        const mor_robot_model* m = robot < 0 ? NULL : mor_world_robot_model(w, robot);
        int joint = m ? mor_robot_find_joint(m, x->part) : -1;
        if (joint < 0) return mor_cli_usage(command, "%s: there is no such robot or joint", text), -1;
        return mor_world_robot_span(w, robot).nu + mor_robot_dof(m) - mor_robot_joint_count(m) + joint;
    }
    mor_body_id id = mor_world_find_body(w, x->name);
    if (!mor_body_valid(w, id) || mor_body_get_kind(w, id) != MOR_DYNAMIC)
        return mor_cli_usage(command, "%s: there is no moving body '%s'", text, x->name), -1;
    mor_span s = mor_body_span(w, id);
    int k = axis(x->part), planar = mor_world_dimension(w) == 2;
    bool spin = strcmp(x->kind, "spin") == 0;
    if (k < 0 || (planar && !spin && k == 2) || (planar && spin && k != 2))
        return mor_cli_usage(command, "%s: which axis? %s", text, planar ? "x, y; z for spins" : "x, y or z"), -1;
    if (spin && s.nu_count < (planar ? 3 : 6)) return mor_cli_usage(command, "%s: it cannot turn", text), -1;
    return s.nu + (!spin ? k : planar ? 2 : 3 + k);
}

static const char* const kinds[] = { "position", "velocity", "spin",   "joint",   "speed",
                                     "force",    "torque",   "effort", "gravity", NULL };

static bool known(const char* kind, int count)
{
    for (int i = 0; i < count && kinds[i]; i++)
        if (strcmp(kind, kinds[i]) == 0) return true;
    return false;
}

int mor_cli_read_unknown(const char* command, const mor_world* w, const char* text, mor_unknown* u)
{
    word x;
    if (!split(text, &x)) return mor_cli_usage(command, "%s: expected KIND:NAME", text);
    if (!known(x.kind, 9)) return mor_cli_unknown(command, "kind of unknown", x.kind, kinds);
    *u = (mor_unknown){ .kind = MOR_UNKNOWN_INPUT };
    if (strcmp(x.kind, "gravity") == 0) {
        u->input = (mor_input){ MOR_INPUT_GRAVITY, 0, axis(x.part) };
        return u->input.component < 0 ? mor_cli_usage(command, "%s: which axis?", text) : 0;
    }
    if (strcmp(x.kind, "effort") == 0) {
        int robot = mor_world_find_robot(w, x.name);
        int joint = robot < 0 ? -1 : mor_robot_find_joint(mor_world_robot_model(w, robot), x.part);
        u->input = (mor_input){ MOR_INPUT_JOINT_FORCE, robot, joint };
        return joint < 0 ? mor_cli_usage(command, "%s: there is no such robot or joint", text) : 0;
    }
    if (strcmp(x.kind, "force") == 0 || strcmp(x.kind, "torque") == 0) {
        mor_body_id id = mor_world_find_body(w, x.name);
        int k = axis(x.part);
        if (!mor_body_valid(w, id)) return mor_cli_usage(command, "%s: there is no '%s'", text, x.name);
        if (k < 0) return mor_cli_usage(command, "%s: which axis? x, y or z", text);
        u->input = (mor_input){ MOR_INPUT_FORCE, mor_body_index(w, id), *x.kind == 't' ? 3 + k : k };
        return 0;
    }
    bool velocity = strcmp(x.kind, "velocity") == 0 || strcmp(x.kind, "spin") == 0 || strcmp(x.kind, "speed") == 0;
    u->kind = velocity ? MOR_UNKNOWN_VELOCITY : MOR_UNKNOWN_POSITION;
    u->number = number_of(command, w, &x, text);
    return u->number < 0 ? 2 : 0;
}

int mor_cli_read_goal(const char* command, const mor_world* w, const char* text, mor_goal* g)
{
    char copy[256];
    word x;
    snprintf(copy, sizeof copy, "%s", text);
    char* value = strrchr(copy, '=');
    *g = (mor_goal){ .weight = 1.0 };
    if (value) *value++ = '\0';
    if (!value || !split(copy, &x) || !mor_cli_number(value, &g->value))
        return mor_cli_usage(command, "%s: expected KIND:NAME=VALUE", text);
    if (!known(x.kind, 5)) return mor_cli_unknown(command, "kind of goal", x.kind, kinds);
    g->velocity = strcmp(x.kind, "velocity") == 0 || strcmp(x.kind, "spin") == 0 || strcmp(x.kind, "speed") == 0;
    g->number = number_of(command, w, &x, text);
    return g->number < 0 ? 2 : 0;
}

/* -------------------------------------------------------------------------------- inputs of derivatives */

static int find_body(const mor_world* w, const char* name)
{
    mor_body_id id = mor_world_find_body(w, name);
    return mor_body_valid(w, id) ? mor_body_index(w, id) : -1;
}

static int find_material(const mor_world* w, const char* name)
{
    for (int i = 0; mor_world_material(w, i); i++)
        if (strcmp(mor_world_material(w, i)->name, name) == 0) return i;
    return -1;
}

/* kp, ki, kd or target of the first controller of the robot. */
static bool is_gain(const mor_world* w, const char* kind, const char* robot, const char* joint, mor_input* in)
{
    static const char* const kinds[] = { "kp", "ki", "kd", "target" };
    int k = 0, r = mor_world_find_robot(w, robot);
    while (k < 4 && strcmp(kind, kinds[k]) != 0) k++;
    if (k == 4) return false;
    in->kind = (mor_input_kind)(MOR_INPUT_KP + k);
    for (int i = mor_world_controller_count(w) - 1; r >= 0 && i >= 0; i--)
        if (mor_world_controller(w, i)->robot == r) in->index = i;
    in->component = r < 0 || !joint ? -1 : mor_robot_find_joint(mor_world_robot_model(w, r), joint);
    return true;
}

/* KIND:NAME or KIND:NAME.PART; 0 or the exit status. */
int mor_cli_read_input(const char* command, const mor_world* w, const char* word, mor_input* in)
{
    char text[256], *name, *part;
    snprintf(text, sizeof text, "%s", word);
    name = strchr(text, ':');
    if (!name) return mor_cli_usage(command, "%s: expected KIND:NAME", word);
    *name++ = '\0';
    part = strrchr(name, '.');
    bool force = strcmp(text, "force") == 0, torque = strcmp(text, "torque") == 0, joint = strcmp(text, "joint") == 0;
    bool gain = strcmp(text, "kp") == 0 || strcmp(text, "ki") == 0 || strcmp(text, "kd") == 0;
    if (part && (force || torque || joint || gain || strcmp(text, "target") == 0)) *part++ = '\0';
    else part = NULL;
    *in = (mor_input){ .index = -1 };
    if (force || torque) {
        in->kind = MOR_INPUT_FORCE, in->index = find_body(w, name);
        in->component = !part || axis(part) < 0 ? -1 : axis(part) + (torque ? 3 : 0);
    } else if (joint) {
        in->kind = MOR_INPUT_JOINT_FORCE, in->index = mor_world_find_robot(w, name);
        in->component = in->index < 0 || !part ? -1 : mor_robot_find_joint(mor_world_robot_model(w, in->index), part);
    } else if (strcmp(text, "friction") == 0) in->kind = MOR_INPUT_FRICTION, in->index = find_material(w, name);
    else if (strcmp(text, "restitution") == 0) in->kind = MOR_INPUT_RESTITUTION, in->index = find_material(w, name);
    else if (strcmp(text, "mass") == 0) in->kind = MOR_INPUT_MASS, in->index = find_body(w, name);
    else if (strcmp(text, "size") == 0) in->kind = MOR_INPUT_SIZE, in->index = find_body(w, name);
    else if (strcmp(text, "gravity") == 0) in->kind = MOR_INPUT_GRAVITY, in->index = 0, in->component = axis(name);
    else if (!is_gain(w, text, name, part, in)) {
        static const char* const kinds[] = { "force",   "torque", "joint", "friction", "restitution", "mass", "size",
                                             "gravity", "kp",     "ki",    "kd",       "target",      NULL };
        return mor_cli_unknown(command, "kind of input", text, kinds);
    }
    if (in->index < 0) return mor_cli_usage(command, "%s: there is no '%s'", word, name);
    if (in->component < 0) return mor_cli_usage(command, "%s: which part? x, y, z or a joint", word);
    return 0;
}
