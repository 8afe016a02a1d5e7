/* Changes of a running scene by hand, see edits.h.
 *
 *     step H                          length of the step [s]
 *     collision NAME                  collision method
 *     epsilon E|auto                  its option of that name [m]
 *     friction MU                     of all contacts
 *     friction_of BODY MU NAME        of all contacts of one body: it gets a material of its own
 *     mass BODY KG NAME               inertia in proportion
 *     remove BODY NAME                with its joints
 *     add SHAPE A B C KG X Y Z        SHAPE: sphere, box, capsule, cylinder; in the plane disc, box. KG 0: by density
 *     joint JOINT Q NAME              a joint at a position (step/set_joint.h)
 *
 * BODY and JOINT are numbers of the description. */
#include "serve/edits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failed.h"
#include "model/joint_places.h"
#include "model/world.h"
#include "step/set_joint.h"

#define SHORTEST 1e-7 /* step [s] */
#define LONGEST 1.0
#define FARTHEST 1e6 /* m */

/* ------------------------------------------------------------------------------- the parts */

static mor_code usage(mor_error* error, const char* form)
{
    return mor_fail(error, MOR_BAD_INPUT, "expected: %s", form);
}

/* The body of a number, if that is its name. */
static bool named_body(const mor_world* w, int body, const char* name, mor_body_id* id, mor_error* error)
{
    if (body >= 0 && body < mor_world_body_count(w)) {
        *id = mor_world_body(w, body);
        if (strcmp(mor_body_name(w, *id), name) == 0) return true;
    }
    mor_fail(error, MOR_BAD_INPUT, "body %d is not '%.64s' any more: somebody has removed a body", body, name);
    return false;
}

static mor_code set_step(mor_world* w, const char* rest, mor_error* error)
{
    double h;
    if (sscanf(rest, "%lf", &h) != 1) return usage(error, "step SECONDS");
    if (!(h >= SHORTEST && h <= LONGEST))
        return mor_fail(error, MOR_BAD_INPUT, "a step of %g s is out of range; allowed: %g to %g s", h, SHORTEST,
                        LONGEST);
    mor_world_set_step(w, h);
    return MOR_OK;
}

static mor_code set_collision(mor_world* w, const char* rest, mor_error* error)
{
    char name[64];
    if (sscanf(rest, "%63s", name) != 1) return usage(error, "collision NAME");
    return mor_world_set_method(w, "collision", name, error);
}

static mor_code set_epsilon(mor_world* w, const char* rest, mor_error* error)
{
    char value[64];
    if (sscanf(rest, "%63s", value) != 1) return usage(error, "epsilon METRES or auto");
    return mor_world_set_option(w, "collision", "epsilon", value, error);
}

/* What two materials bounce now. */
static double restitution_of(const mor_world* w, int a, int b)
{
    const mor_pair_rule* rules = w->pair_rules.data;
    for (int k = 0; k < w->pair_rules.count; k++)
        if (((rules[k].a == a && rules[k].b == b) || (rules[k].a == b && rules[k].b == a)) &&
            rules[k].restitution == rules[k].restitution)
            return rules[k].restitution;
    return fmax(w->materials[a].restitution, w->materials[b].restitution);
}

static bool friction_allowed(double mu, mor_error* error)
{
    if (mu >= 0.0 && mu <= 100.0) return true;
    mor_fail(error, MOR_BAD_INPUT, "friction %g is out of range; allowed: 0 to 100", mu);
    return false;
}

static mor_code set_friction(mor_world* w, const char* rest, mor_error* error)
{
    double mu;
    if (sscanf(rest, "%lf", &mu) != 1) return usage(error, "friction MU");
    if (!friction_allowed(mu, error)) return MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    for (int a = 0; a < w->material_count && !code; a++)
        for (int b = a; b < w->material_count && !code; b++)
            code = mor_world_set_pair(w, a, b, mu, restitution_of(w, a, b), error);
    for (int a = 0; a < w->material_count; a++) w->materials[a].friction = mu;
    return code;
}

/* The material that this file gave a body, -1: none. Its name cannot be one of a scene. */
static int own_material(const mor_world* w, int body)
{
    mor_body_id id = mor_world_body(w, body);
    int m = mor_body_shape_count(w, id) > 0 ? mor_body_get_shape(w, id, 0).material : -1;
    return m >= 0 && w->materials[m].name[0] == '\n' ? m : -1;
}

static mor_code set_friction_of(mor_world* w, const char* rest, mor_error* error)
{
    int body, at = 0;
    double mu;
    mor_body_id id;
    if (sscanf(rest, "%d %lf %n", &body, &mu, &at) != 2 || !rest[at]) return usage(error, "friction_of BODY MU NAME");
    if (!named_body(w, body, rest + at, &id, error) || !friction_allowed(mu, error)) return MOR_BAD_INPUT;
    int shapes = mor_body_shape_count(w, id), own = own_material(w, body);
    if (shapes == 0) return mor_fail(error, MOR_BAD_INPUT, "'%s' has no shapes and touches nothing", rest + at);
    if (own < 0) {
        int old = mor_body_get_shape(w, id, 0).material;
        if (old < 0) old = mor_body_at(w, id)->material;
        mor_material m = w->materials[old];
        strcpy(m.name, "\n");
        own = mor_world_add_material(w, &m);
        if (own < 0) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int a = 0; a < own; a++) {
            mor_code code = mor_world_set_pair(w, a, own, mu, restitution_of(w, a, old), error);
            if (code) return code;
        }
        for (int k = 0; k < shapes; k++) mor_world_set_shape_material(w, id, k, own, NULL);
    }
    w->materials[own].friction = mu;
    for (int a = 0; a < w->material_count; a++) {
        mor_code code = mor_world_set_pair(w, a, own, mu, restitution_of(w, a, own), error);
        if (code) return code;
    }
    return MOR_OK;
}

double mor_edit_friction(const mor_world* w, int body)
{
    mor_body_id id = mor_world_body(w, body);
    if (mor_body_shape_count(w, id) == 0) return NAN;
    int m = mor_body_get_shape(w, id, 0).material;
    return w->materials[m >= 0 ? m : mor_body_at(w, id)->material].friction;
}

static mor_code set_mass(mor_world* w, const char* rest, mor_error* error)
{
    int body, at = 0;
    double mass;
    mor_body_id id;
    if (sscanf(rest, "%d %lf %n", &body, &mass, &at) != 2 || !rest[at]) return usage(error, "mass BODY KG NAME");
    if (!named_body(w, body, rest + at, &id, error)) return MOR_BAD_INPUT;
    return mor_body_set_mass(w, id, mass, error);
}

static mor_code remove_body(mor_world* w, const char* rest, mor_error* error)
{
    int body, at = 0;
    mor_body_id id;
    if (sscanf(rest, "%d %n", &body, &at) != 1 || !rest[at]) return usage(error, "remove BODY NAME");
    if (!named_body(w, body, rest + at, &id, error)) return MOR_BAD_INPUT;
    bool link = mor_body_at(w, id)->robot != 0;
    const mor_link_group* groups = w->groups.data;
    for (int g = 0; g < w->groups.count; g++)
        for (int i = 0; i < mor_robot_link_count(groups[g].model); i++)
            link = link || groups[g].bodies[i].index1 == id.index1;
    if (link) return mor_fail(error, MOR_BAD_INPUT, "'%s' is a link of a robot and stays with it", rest + at);
    mor_world_remove_body(w, id);
    return MOR_OK;
}

static mor_geometry* make_shape(bool flat, const char* shape, const double s[3], mor_error* error)
{
    if (strcmp(shape, "box") == 0) {
        mor_vec3 p[4] = { { -s[0] / 2, -s[1] / 2, 0 },
                          { s[0] / 2, -s[1] / 2, 0 },
                          { s[0] / 2, s[1] / 2, 0 },
                          { -s[0] / 2, s[1] / 2, 0 } };
        return flat ? mor_geometry_polygon(p, 4, error) : mor_geometry_box(s[0], s[1], s[2], error);
    }
    if (flat && strcmp(shape, "disc") == 0) return mor_geometry_disc(s[0], error);
    if (!flat && strcmp(shape, "sphere") == 0) return mor_geometry_sphere(s[0], error);
    if (!flat && strcmp(shape, "capsule") == 0) return mor_geometry_capsule(s[0], s[1], error);
    if (!flat && strcmp(shape, "cylinder") == 0) return mor_geometry_cylinder(s[0], s[1], 0, error);
    mor_fail(error, MOR_BAD_INPUT, "no shape '%s' can be added; %s", shape,
             flat ? "disc or box" : "sphere, box, capsule or cylinder");
    return NULL;
}

static mor_code add_body(mor_world* w, const char* rest, mor_error* error)
{
    char shape[32];
    double x[7];
    bool flat = mor_world_dimension(w) == 2;
    if (sscanf(rest, "%31s %lf %lf %lf %lf %lf %lf %lf", shape, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6) != 8)
        return usage(error, "add SHAPE A B C KG X Y Z");
    for (int i = 0; i < 7; i++)
        if (!(fabs(x[i]) <= FARTHEST)) return mor_fail(error, MOR_BAD_INPUT, "a number is larger than %g", FARTHEST);
    mor_geometry* g = make_shape(flat, shape, x, error);
    if (!g) return mor_failed(error, MOR_BAD_INPUT);
    mor_body_def def = mor_body_def_default();
    for (int n = 1; n <= mor_world_body_count(w) + 1; n++) {
        snprintf(def.name, sizeof def.name, "added_%d", n);
        if (mor_world_find_body(w, def.name).index1 == 0) break;
    }
    mor_body_shape part = { g, { { 0, 0, 0 }, { 1, 0, 0, 0 } }, -1 };
    def.shapes = &part;
    def.shape_count = 1;
    def.mass = x[3];
    def.pose.position = mor_v3(x[4], x[5], flat ? 0.0 : x[6]);
    mor_body_id id = mor_world_add_body(w, &def, error);
    mor_geometry_release(g);
    return id.index1 ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
}

static mor_code set_joint(mor_world* w, const char* rest, mor_error* error)
{
    int joint, at = 0, count = mor_joint_places(w, NULL);
    double q;
    if (sscanf(rest, "%d %lf %n", &joint, &q, &at) != 2 || !rest[at]) return usage(error, "joint NUMBER POSITION NAME");
    mor_joint_place* places = calloc((size_t)count + 1, sizeof *places);
    if (!places) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_joint_places(w, places);
    bool same = joint >= 0 && joint < count && strcmp(places[joint].name, rest + at) == 0;
    free(places);
    if (!same) return mor_fail(error, MOR_BAD_INPUT, "joint %d is not '%.128s' any more", joint, rest + at);
    return mor_joint_set_position(w, joint, q, error);
}

/* --------------------------------------------------------------------------------- the table */

static const struct {
    const char* word;
    mor_edit_effect effect;
    bool single; /* one value for the world: a later one replaces it */
    mor_code (*apply)(mor_world*, const char* rest, mor_error*);
} edits[] = {
    { "step", MOR_EDIT_METHOD, true, set_step },
    { "collision", MOR_EDIT_METHOD, true, set_collision },
    { "epsilon", MOR_EDIT_METHOD, true, set_epsilon },
    { "friction", MOR_EDIT_BODY, false, set_friction },
    { "friction_of", MOR_EDIT_BODY, false, set_friction_of },
    { "mass", MOR_EDIT_BODY, false, set_mass },
    { "remove", MOR_EDIT_BODIES, false, remove_body },
    { "add", MOR_EDIT_BODIES, false, add_body },
    { "joint", MOR_EDIT_STATE, false, set_joint },
};
enum { EDITS = sizeof edits / sizeof *edits };

/* Its row; "step" alone is a command of the run. `rest` is what follows the word. */
static int find_edit(const char* command, const char** rest)
{
    for (int i = 0; i < EDITS; i++) {
        size_t n = strlen(edits[i].word);
        if (strncmp(command, edits[i].word, n) != 0 || command[n] != ' ') continue;
        *rest = command + n + 1;
        return i;
    }
    return -1;
}

mor_edit_effect mor_edit_kind(const char* command)
{
    const char* rest;
    int i = find_edit(command, &rest);
    return i < 0 ? MOR_EDIT_NONE : edits[i].effect;
}

mor_code mor_edit_apply(mor_world* w, const char* command, mor_error* error)
{
    const char* rest;
    int i = find_edit(command, &rest);
    return i < 0 ? mor_fail(error, MOR_BAD_INPUT, "no such change") : edits[i].apply(w, rest, error);
}

bool mor_edit_replaces(const char* earlier, const char* later)
{
    const char *before = NULL, *after = NULL;
    int a = find_edit(earlier, &before), b = find_edit(later, &after), body_a, body_b;
    if (a < 0 || a != b) return false;
    if (edits[a].single) return true;
    /* the same number of the same body, if nothing came between them: bodies may have got other numbers */
    bool of_body = edits[a].apply == set_mass || edits[a].apply == set_friction_of;
    return of_body && sscanf(before, "%d", &body_a) == 1 && sscanf(after, "%d", &body_b) == 1 && body_a == body_b;
}
