/* What a World is made of: bodies, shapes, joints, robots, methods, forces, the output bus, the numbers of a run. */
#include "core.h"

#include "io/json/run_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ bodies */

static PyObject* handle_of(mor_body_id id)
{
    return PyLong_FromUnsignedLongLong((unsigned long long)id.generation << 32 | id.index1);
}

bool world_body(World* w, PyObject* handle, mor_body_id* id)
{
    unsigned long long x = PyLong_AsUnsignedLongLong(handle);
    if (PyErr_Occurred()) return false;
    *id = (mor_body_id){ .index1 = (uint32_t)x, .generation = (uint32_t)(x >> 32) };
    if (id->index1 && mor_body_valid(w->world, *id)) return true;
    PyErr_SetString(py_bad_input, "this body is not in the world (any more)");
    return false;
}

static PyObject* bodies(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    int n = mor_world_body_count(w->world);
    PyObject* list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        mor_body_id id = mor_world_body(w->world, i);
        PyObject* row = Py_BuildValue("(Ns)", handle_of(id), mor_body_name(w->world, id));
        if (!row || PyList_SetItem(list, i, row)) Py_CLEAR(list);
    }
    return list;
}

static PyObject* body_numbers(PyObject* self, PyObject* handle)
{
    World* w = (World*)self;
    mor_body_id id;
    if (!world_open(w, false) || !world_body(w, handle, &id)) return NULL;
    static const char* const kinds[] = { "dynamic", "fixed", "kinematic" };
    mor_mass m = mor_body_mass(w->world, id);
    mor_span s = mor_body_span(w->world, id);
    double com[3] = { m.com.x, m.com.y, m.com.z }, wrench[6];
    mor_body_contact_wrench(w->world, id, wrench);
    return Py_BuildValue("(isdNNNiiii)", mor_body_index(w->world, id), kinds[mor_body_get_kind(w->world, id)], m.mass,
                         array_copy(com, 3, 0), array_copy(&m.inertia.m[0][0], 3, 3), array_copy(wrench, 6, 0), s.q,
                         s.q_count, s.nu, s.nu_count);
}

static PyObject* apply_force(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    PyObject *handle, *force, *point;
    mor_body_id id;
    mor_vec3 f, p;
    if (!PyArg_ParseTuple(args, "OOO", &handle, &force, &point) || !world_open(w, true) ||
        !world_body(w, handle, &id) || !take_vec3(force, "force", &f))
        return NULL;
    if (point == Py_None) p = mor_body_get_state(w->world, id).com;
    else if (!take_vec3(point, "point", &p)) return NULL;
    mor_body_apply(w->world, id, f, p);
    Py_RETURN_NONE;
}

static PyObject* apply_torque(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    PyObject *handle, *torque;
    mor_body_id id;
    mor_vec3 t;
    if (!PyArg_ParseTuple(args, "OO", &handle, &torque) || !world_open(w, true) || !world_body(w, handle, &id) ||
        !take_vec3(torque, "torque", &t))
        return NULL;
    mor_body_apply_torque(w->world, id, t);
    Py_RETURN_NONE;
}

static PyObject* remove_body(PyObject* self, PyObject* handle)
{
    World* w = (World*)self;
    mor_body_id id;
    if (!world_open(w, true) || !world_body(w, handle, &id)) return NULL;
    for (int r = 0; r < mor_world_robot_count(w->world); r++)
        for (int k = 0; k < mor_robot_link_count(mor_world_robot_model(w->world, r)); k++) {
            mor_body_id link = mor_world_robot_link(w->world, r, k);
            if (link.index1 == id.index1) return PyErr_SetString(py_bad_input, "links of robots stay"), NULL;
        }
    mor_world_remove_body(w->world, id);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------ shapes */

static mor_geometry* points_shape(const char* kind, const double* x, Py_ssize_t n, mor_error* error)
{
    bool flat = strcmp(kind, "hull") != 0;
    Py_ssize_t dim = flat ? 2 : 3, count = n / dim;
    mor_vec3* points = malloc(((size_t)count + 1) * sizeof *points);
    if (!points) return mor_fail(error, MOR_SYSTEM, "out of memory"), NULL;
    for (Py_ssize_t i = 0; i < count; i++) points[i] = mor_v3(x[dim * i], x[dim * i + 1], flat ? 0.0 : x[3 * i + 2]);
    mor_geometry* g = !flat                          ? mor_geometry_hull(points, (int)count, error)
                      : strcmp(kind, "polygon") == 0 ? mor_geometry_polygon(points, (int)count, error)
                                                     : mor_geometry_chain(points, (int)count, error);
    free(points);
    return g;
}

/* A shape from its word and its numbers. */
static mor_geometry* make_shape(const char* kind, const double* x, Py_ssize_t n, mor_error* error)
{
    static const struct {
        const char* word;
        Py_ssize_t count;
    } words[] = { { "sphere", 1 },      { "box", 3 },         { "plane", 0 },      { "capsule", 2 },
                  { "cylinder", 3 },    { "cone", 2 },        { "disc", 1 },       { "particle", 0 },
                  { "point", 0 },       { "tetrahedron", 2 }, { "octahedron", 2 }, { "dodecahedron", 2 },
                  { "icosahedron", 2 }, { "hull", -1 },       { "polygon", -1 },   { "chain", -1 } };
    size_t k = 0, known = sizeof words / sizeof *words;
    while (k < known && strcmp(words[k].word, kind) != 0) k++;
    if (k == known) return mor_fail(error, MOR_BAD_INPUT, "unknown shape '%s'", kind), NULL;
    if (words[k].count >= 0 && words[k].count != n)
        return mor_fail(error, MOR_BAD_INPUT, "a %s has %d numbers, not %d", kind, (int)words[k].count, (int)n), NULL;
    switch (k) {
    case 0:
        return mor_geometry_sphere(x[0], error);
    case 1:
        return mor_geometry_box(x[0], x[1], x[2], error);
    case 2:
        return mor_geometry_plane(error);
    case 3:
        return mor_geometry_capsule(x[0], x[1], error);
    case 4:
        return mor_geometry_cylinder(x[0], x[1], x[2] >= 0 && x[2] < 1e6 ? (int)x[2] : -1, error);
    case 5:
        return mor_geometry_cone(x[0], x[1], error);
    case 6:
        return mor_geometry_disc(x[0], error);
    case 7:
        return mor_geometry_particle(error);
    case 8:
        return mor_geometry_point(error);
    case 9:
    case 10:
    case 11:
    case 12:
        return mor_geometry_platonic(kind, x[0], x[1], error);
    default:
        return points_shape(kind, x, n, error);
    }
}

/* Shapes of a list of (word, numbers, pose, material); the count, or -1 and an exception. */
static int take_shapes(PyObject* list, mor_body_shape* shapes, int most)
{
    Py_ssize_t n = PyList_Size(list);
    if (n > most) return PyErr_Format(py_bad_input, "at most %d shapes", most), -1;
    for (int i = 0; i < n; i++) {
        const char* kind;
        PyObject *numbers, *pose;
        int material;
        Numbers x = { 0 };
        mor_error error = { 0 };
        mor_geometry* g = NULL;
        mor_body_shape s = { .pose = mor_pose_identity() };
        if (PyArg_ParseTuple(PyList_GetItem(list, i), "sOOi", &kind, &numbers, &pose, &material) &&
            take_pose(pose, "pose of a shape", &s.pose) && numbers_take(numbers, kind, -1, &x)) {
            g = make_shape(kind, x.data, x.count, &error);
            if (!g) py_raise(&error);
        }
        numbers_free(&x);
        if (!g) {
            while (i-- > 0) mor_geometry_release(shapes[i].geometry);
            return -1;
        }
        s.geometry = g, s.material = material;
        shapes[i] = s;
    }
    return (int)n;
}

/* add_body(name, kind, shapes, material, mass, inertia 9 or None, com or None, pose, velocity, angular, surface,
 * collide) */
static PyObject* add_body(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char *name, *kind;
    PyObject *list, *inertia, *com, *pose, *velocity, *angular, *surface;
    mor_body_def d = mor_body_def_default();
    int collide;
    if (!PyArg_ParseTuple(args, "ssO!idOOOOOOp", &name, &kind, &PyList_Type, &list, &d.material, &d.mass, &inertia,
                          &com, &pose, &velocity, &angular, &surface, &collide) ||
        !world_open(w, true) || !take_pose(pose, "pose", &d.pose) || !take_vec3(velocity, "velocity", &d.velocity) ||
        !take_vec3(angular, "angular_velocity", &d.angular_velocity) ||
        !take_vec3(surface, "surface_velocity", &d.surface_velocity))
        return NULL;
    if (com != Py_None && !(d.has_com = take_vec3(com, "com", &d.com))) return NULL;
    if (inertia != Py_None) {
        Numbers n;
        if (!numbers_take(inertia, "inertia", 9, &n)) return NULL;
        memcpy(d.inertia.m, n.data, sizeof d.inertia.m);
        d.has_inertia = true;
        numbers_free(&n);
    }
    if (!mor_world_material(w->world, d.material)) return PyErr_SetString(py_bad_input, "no such material"), NULL;
    snprintf(d.name, sizeof d.name, "%s", name);
    if (*name && mor_world_find_body(w->world, d.name).index1)
        return PyErr_Format(py_bad_input, "there is a body called '%s' already", name), NULL;
    d.kind = strcmp(kind, "fixed") == 0 ? MOR_FIXED : strcmp(kind, "kinematic") == 0 ? MOR_KINEMATIC : MOR_DYNAMIC;
    d.no_collision = !collide;
    mor_body_shape shapes[256];
    d.shape_count = take_shapes(list, shapes, 256);
    if (d.shape_count < 0) return NULL;
    d.shapes = shapes;
    mor_error error = { 0 };
    mor_body_id id = mor_world_add_body(w->world, &d, &error);
    for (int i = 0; i < d.shape_count; i++) mor_geometry_release(shapes[i].geometry);
    return id.index1 ? handle_of(id) : py_raise(&error);
}

static PyObject* add_material(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char* name;
    mor_material m = mor_material_default();
    if (!PyArg_ParseTuple(args, "sddd", &name, &m.friction, &m.restitution, &m.density) || !world_open(w, true))
        return NULL;
    if (!(m.friction >= 0.0) || !(m.restitution >= 0.0 && m.restitution <= 1.0) || !(m.density > 0.0))
        return PyErr_SetString(py_bad_input, "a material has friction >= 0, restitution 0 to 1 and density > 0"), NULL;
    snprintf(m.name, sizeof m.name, "%s", name);
    int index = mor_world_add_material(w->world, &m);
    return index < 0 ? PyErr_NoMemory() : PyLong_FromLong(index);
}

/* ------------------------------------------------------------------------------------ joints */

/* add_joint(name, kind, body or None, body or None, point, axis, dict of numbers) */
static PyObject* add_joint(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char *name, *kind;
    PyObject *body[2], *point, *axis, *axis2;
    mor_joint_def d = mor_joint_def_default();
    int motor;
    if (!PyArg_ParseTuple(args, "ssOOOOOddddddpddd", &name, &kind, &body[0], &body[1], &point, &axis, &axis2, &d.lower,
                          &d.upper, &d.damping, &d.friction, &d.stiffness, &d.rest, &motor, &d.motor_speed,
                          &d.motor_force, &d.length) ||
        !world_open(w, true) || !take_vec3(axis, "axis", &d.axis) || !take_vec3(axis2, "axis2", &d.axis2))
        return NULL;
    PyObject* second = point;
    if (PyTuple_Check(point) && PyTuple_Size(point) == 2) {
        second = PyTuple_GetItem(point, 1);
        point = PyTuple_GetItem(point, 0);
    }
    if (!take_vec3(point, "point", &d.point[0]) || !take_vec3(second, "point", &d.point[1])) return NULL;
    for (int i = 0; i < 2; i++)
        if (body[i] != Py_None && !world_body(w, body[i], &d.body[i])) return NULL;
    int k = 0;
    while (k < MOR_JOINT_KINDS && strcmp(mor_joint_kind_name((mor_joint_kind)k), kind) != 0) k++;
    if (k == MOR_JOINT_KINDS) return PyErr_Format(py_bad_input, "unknown kind of joint '%s'", kind), NULL;
    d.kind = (mor_joint_kind)k;
    d.motor = motor;
    snprintf(d.name, sizeof d.name, "%s", name);
    mor_error error = { 0 };
    int number = mor_world_add_joint(w->world, &d, &error);
    return number < 0 ? py_raise(&error) : PyLong_FromLong(number);
}

static PyObject* joints(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    int n = mor_world_joint_count(w->world);
    PyObject* list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        const mor_joint_def* d = mor_world_joint(w->world, i);
        PyObject* row =
            Py_BuildValue("(ssd)", d->name, mor_joint_kind_name(d->kind), mor_world_joint_position(w->world, i));
        if (!row || PyList_SetItem(list, i, row)) Py_CLEAR(list);
    }
    return list;
}

/* ------------------------------------------------------------------------------------ robots */

static bool robot_number(World* w, int robot)
{
    if (robot >= 0 && robot < mor_world_robot_count(w->world)) return true;
    PyErr_Format(py_bad_input, "there is no robot number %d", robot);
    return false;
}

static PyObject* robots(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    PyObject* list = PyList_New(0);
    for (int r = 0; list && r < mor_world_robot_count(w->world); r++) {
        const mor_robot_model* m = mor_world_robot_model(w->world, r);
        mor_span s = mor_world_robot_span(w->world, r);
        PyObject* names = PyList_New(0);
        for (int j = 0; names && j < mor_robot_joint_count(m); j++) {
            PyObject* name = PyUnicode_FromString(mor_robot_link(m, mor_robot_link_of_joint(m, j))->joint_name);
            if (!name || PyList_Append(names, name)) Py_CLEAR(names);
            Py_XDECREF(name);
        }
        PyObject* row =
            names ? Py_BuildValue("(sNOiiii)", mor_world_robot_name(w->world, r), names,
                                  mor_robot_floating(m) ? Py_True : Py_False, s.q, s.q_count, s.nu, s.nu_count)
                  : NULL;
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject* robot_apply(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    int robot;
    PyObject* tau;
    Numbers n;
    if (!PyArg_ParseTuple(args, "iO", &robot, &tau) || !world_open(w, true) || !robot_number(w, robot) ||
        !numbers_take(tau, "tau", mor_robot_joint_count(mor_world_robot_model(w->world, robot)), &n))
        return NULL;
    bool finite = true;
    for (Py_ssize_t i = 0; i < n.count; i++) finite = finite && isfinite(n.data[i]);
    if (finite) mor_world_robot_apply(w->world, robot, n.data);
    numbers_free(&n);
    if (!finite) return PyErr_SetString(py_bad_input, "tau: a number is not finite"), NULL;
    Py_RETURN_NONE;
}

static PyObject* gravity_torque(PyObject* self, PyObject* number)
{
    World* w = (World*)self;
    long robot = PyLong_AsLong(number);
    if (PyErr_Occurred() || !world_open(w, false) || !robot_number(w, (int)robot)) return NULL;
    double* tau;
    PyObject* a = array_new(mor_robot_joint_count(mor_world_robot_model(w->world, (int)robot)), &tau);
    if (a) mor_world_gravity_torque(w->world, (int)robot, tau);
    return a;
}

/* add_robot(name, model, pose, s or None, material, collide, self_collision) */
static PyObject* add_robot(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char* name;
    PyObject *model, *pose, *s;
    mor_robot_def d = mor_robot_def_default();
    int collide, self_collision;
    if (!PyArg_ParseTuple(args, "sOOOipp", &name, &model, &pose, &s, &d.material, &collide, &self_collision) ||
        !world_open(w, true) || !(d.model = robot_model_of(model)) || !take_pose(pose, "pose", &d.pose))
        return NULL;
    Numbers n = { 0 };
    if (s != Py_None && !numbers_take(s, "s", mor_robot_joint_count(d.model), &n)) return NULL;
    d.s = n.data;
    d.collide = collide, d.self_collision = self_collision;
    snprintf(d.name, sizeof d.name, "%s", name);
    mor_error error = { 0 };
    int number = mor_world_add_robot(w->world, &d, &error);
    numbers_free(&n);
    if (number >= 0 && mor_world_watch_robot(w->world, number, &error)) number = -1;
    return number < 0 ? py_raise(&error) : PyLong_FromLong(number);
}

/* ----------------------------------------------------------------------------------- methods */

static PyObject* set_method(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char *stage, *name;
    mor_error error = { 0 };
    if (!PyArg_ParseTuple(args, "ss", &stage, &name) || !world_open(w, true)) return NULL;
    return mor_world_set_method(w->world, stage, name, &error) ? py_raise(&error) : Py_NewRef(Py_None);
}

static PyObject* set_option(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char *stage, *option, *value;
    mor_error error = { 0 };
    if (!PyArg_ParseTuple(args, "sss", &stage, &option, &value) || !world_open(w, true)) return NULL;
    return mor_world_set_option(w->world, stage, option, value, &error) ? py_raise(&error) : Py_NewRef(Py_None);
}

static PyObject* get_method(PyObject* self, PyObject* stage)
{
    World* w = (World*)self;
    const char* word = PyUnicode_AsUTF8AndSize(stage, NULL);
    if (!word || !world_open(w, false)) return NULL;
    const char* name = mor_world_method(w->world, word);
    return name ? PyUnicode_FromString(name) : PyErr_Format(py_bad_input, "there is no stage '%s'", word);
}

/* --------------------------------------------------------------------------------------- bus */

static PyObject* bus_names(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    PyObject* list = PyList_New(0);
    mor_bus_channel c;
    for (int i = 0; list && mor_bus_channel_at(w->world, i, &c); i++) {
        PyObject* row = Py_BuildValue("(sssii)", c.name, c.unit, c.help, c.rows, c.cols);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject* bus_read(PyObject* self, PyObject* name)
{
    World* w = (World*)self;
    const char* word = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!word || !world_open(w, false)) return NULL;
    int i = mor_bus_find(w->world, word);
    mor_bus_channel c;
    if (i < 0 || !mor_bus_channel_at(w->world, i, &c))
        return PyErr_Format(py_bad_input, "there is no channel '%s' on the output bus", word);
    double* x;
    PyObject* a = array_new2(c.rows, c.cols > 1 ? c.cols : -1, &x);
    if (a) mor_bus_read(w->world, i, x);
    return a;
}

/* ---------------------------------------------------------------------------------- recording */

/* The numbers of a run of so many steps (-1: to the end of the scene), as `moreau run --json` says them. */
static PyObject* run(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    int steps;
    if (!PyArg_ParseTuple(args, "i", &steps) || !world_open(w, true)) return NULL;
    if (w->owner) return PyErr_SetString(py_error, "a world cannot run within its own step"), NULL;
    mor_error error = { 0 };
    const double end = mor_scene_end(w->scene->scene);
    mor_run* r = mor_run_create(w->world, steps > 0 ? steps : 1000, &error);
    if (!r) return py_raise(&error);
    Call call;
    call_begin(&call);
    w->owner = (unsigned long)PyThread_get_thread_ident();
    mor_code code = MOR_OK;
    bool interrupted = false;
    for (int i = 0; !code && !interrupted && !mor_run_stopped(r) && !call.type; i++) {
        if (steps >= 0 ? i >= steps : mor_world_reached(w->world, end)) break;
        if (steps < 0) mor_world_limit_step(w->world, end);
        Py_BEGIN_ALLOW_THREADS;
        mor_arithmetic host = mor_arithmetic_enter();
        code = mor_run_step(r, &w->report, &error);
        mor_arithmetic_leave(host);
        Py_END_ALLOW_THREADS;
        interrupted = (i & 15) == 15 && PyErr_CheckSignals();
    }
    w->owner = 0;
    world_refresh(w, false);
    PyObject* text = NULL;
    if (interrupted) {
        PyObject *t, *v, *tb;
        PyErr_Fetch(&t, &v, &tb);
        if (call_end(&call, w->threads > 1)) PyErr_Clear();
        PyErr_Restore(t, v, tb);
    } else if (!call_end(&call, w->threads > 1)) {
        char* document = NULL;
        size_t length = 0;
        FILE* out = open_memstream(&document, &length);
        if (code && code != MOR_STOPPED) py_raise(&error);
        else if (out) {
            mor_json json = mor_json_begin(out);
            mor_json_object(&json, NULL);
            mor_run_summary s = mor_run_summarise(r);
            mor_run_json_summary(&json, w->world, w->scene->scene, &s, mor_run_start(r));
            mor_json_end(&json);
            mor_json_finish(&json);
        }
        if (out) fclose(out);
        if (!PyErr_Occurred())
            text = document ? PyUnicode_FromStringAndSize(document, (Py_ssize_t)length) : PyErr_NoMemory();
        free(document);
    }
    mor_run_destroy(r);
    return text;
}

/* The world and its scene as capsules, for the laboratory's module. */
static PyObject* pointers(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    return Py_BuildValue("(NN)", PyCapsule_New(w->world, "moreau.world", NULL),
                         PyCapsule_New(w->scene->scene, "moreau.scene", NULL));
}

PyMethodDef world_edit_methods[] = {
    { "_bodies", bodies, METH_NOARGS, "" },
    { "_body", body_numbers, METH_O, "" },
    { "_apply_force", apply_force, METH_VARARGS, "" },
    { "_apply_torque", apply_torque, METH_VARARGS, "" },
    { "_remove_body", remove_body, METH_O, "" },
    { "_add_body", add_body, METH_VARARGS, "" },
    { "_add_material", add_material, METH_VARARGS, "" },
    { "_add_joint", add_joint, METH_VARARGS, "" },
    { "_joints", joints, METH_NOARGS, "" },
    { "_robots", robots, METH_NOARGS, "" },
    { "_robot_apply", robot_apply, METH_VARARGS, "" },
    { "_gravity_torque", gravity_torque, METH_O, "" },
    { "_add_robot", add_robot, METH_VARARGS, "" },
    { "_set_method", set_method, METH_VARARGS, "" },
    { "_set_option", set_option, METH_VARARGS, "" },
    { "_method", get_method, METH_O, "" },
    { "_bus", bus_names, METH_NOARGS, "" },
    { "_bus_read", bus_read, METH_O, "" },
    { "_run", run, METH_VARARGS, "" },
    { "_pointers", pointers, METH_NOARGS, "" },
    { NULL, NULL, 0, NULL },
};
