/* Numbers that look as if they had been meant in another unit. They are taken as they stand; a note says what they
 * mean, because a turn by 1.57 degrees and a limit of 90 rad are right scenes that nobody wants.
 *
 *   orientation of a body in 3-D   degrees; 1.5708, 0.7854, 3.1416 ...: multiples of pi/12 look like rad
 *   orientation of a body in 2-D,  rad; more than a turn looks like degrees
 *   limits of revolute joints,
 *   start angles of robots
 *   gravity                        m/s^2; 9810 and 981 look like mm/s^2 and cm/s^2 */
#include "base/elementary.h"
#include "io/scene/scene_def.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define TURN (2.0 * PI)

/* The number that a node is, or 0: whether it is one was checked before. */
static double number_of(const mor_node* n)
{
    mor_error ignored = { 0 };
    double x = 0.0;
    return n && n->kind == MOR_NODE_SCALAR && mor_read_number(n, "number", &x, &ignored) == MOR_OK ? x : 0.0;
}

static mor_code note(mor_scene* scene, const mor_node* at, mor_error* error, const char* format, double a, double b)
{
    mor_error told = { 0 };
    mor_node_fail(at, &told, format, a, b); /* file:line:column */
    return mor_scene_note(scene, told.text, error);
}

/* Degrees that are twelfths of pi with three digits or more. */
static mor_code look_at_degrees(mor_scene* scene, const mor_node* n, mor_error* error)
{
    double x = number_of(n), twelfths = fabs(x) * 12.0 / PI;
    if (fabs(x) < 0.5 || fabs(x) > TURN + 0.01 || fabs(twelfths - floor(twelfths + 0.5)) > 0.005) return MOR_OK;
    return note(scene, n, error, "note: this turn is %g degrees; if rad was meant, write %g", x, x * 180.0 / PI);
}

static mor_code look_at_radians(mor_scene* scene, const mor_node* n, mor_error* error)
{
    double x = number_of(n);
    if (fabs(x) <= TURN + 0.01) return MOR_OK;
    return note(scene, n, error, "note: this angle is %g rad; if degrees were meant, write %g", x, x * PI / 180.0);
}

static mor_code look_at_body(mor_scene* scene, const mor_node* body, mor_error* error)
{
    const mor_node *turn = mor_node_get(body, "orientation"), *rpy = turn ? mor_node_get(turn, "rpy") : NULL;
    if (!turn) turn = mor_node_get(body, "angle");
    if (!turn) return MOR_OK;
    if (scene->dimension == 2) return look_at_radians(scene, turn, error);
    if (turn->kind != MOR_NODE_MAP) return MOR_OK;
    if (!rpy) return look_at_degrees(scene, mor_node_get(turn, "angle"), error);
    for (const mor_node* n = rpy->first; n; n = n->next)
        if (look_at_degrees(scene, n, error)) return MOR_SYSTEM;
    return MOR_OK;
}

static mor_code look_at_joint(mor_scene* scene, const mor_node* joint, mor_error* error)
{
    const mor_node *type = mor_node_get(joint, "type"), *limits = mor_node_get(joint, "limits");
    if (!type || !type->text || strcmp(type->text, "revolute") != 0 || !limits) return MOR_OK;
    double most = mor_max(fabs(number_of(limits->first)), fabs(number_of(limits->last)));
    /* 10 rad are a turn and a half, as a hose allows; 30 and more are degrees */
    if (!(most >= 30.0) || !isfinite(most)) return MOR_OK;
    return note(scene, limits, error, "note: limits of revolute joints are in rad; %g rad are %g turns", most,
                most / TURN);
}

static mor_code look_at_robot(mor_scene* scene, const mor_node* robot, mor_error* error)
{
    const mor_node* joints = mor_node_get(robot, "joints");
    for (const mor_node* n = joints && joints->kind == MOR_NODE_MAP ? joints->first : NULL; n; n = n->next)
        if (fabs(number_of(n)) > 10.0 && look_at_radians(scene, n, error)) return MOR_SYSTEM;
    return MOR_OK;
}

static mor_code each(mor_scene* scene, const mor_node* list,
                     mor_code (*look)(mor_scene* scene, const mor_node* item, mor_error* error), mor_error* error)
{
    for (const mor_node* n = list && list->kind == MOR_NODE_LIST ? list->first : NULL; n; n = n->next)
        if (n->kind == MOR_NODE_MAP && look(scene, n, error)) return MOR_SYSTEM;
    return MOR_OK;
}

mor_code mor_scene_look_at_units(mor_scene* scene, const mor_node* root, mor_error* error)
{
    const mor_node* gravity = mor_node_get(root, "gravity");
    double g = 0.0;
    for (const mor_node* n = gravity ? gravity->first : NULL; n; n = n->next) g = mor_max(g, fabs(number_of(n)));
    if (g >= 900.0 &&
        note(scene, gravity, error, "note: gravity is in m/s^2; %g is %.3g times that of the earth", g, g / 9.81))
        return MOR_SYSTEM;
    if (each(scene, mor_node_get(root, "bodies"), look_at_body, error) ||
        each(scene, mor_node_get(root, "joints"), look_at_joint, error) ||
        each(scene, mor_node_get(root, "robots"), look_at_robot, error))
        return MOR_SYSTEM;
    return MOR_OK;
}
