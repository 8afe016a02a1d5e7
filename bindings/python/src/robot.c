/* The type Robot: kinematics and dynamics of an articulated robot, for one state or many at once. */
#include "core.h"

#include <string.h>

typedef struct Robot {
    PyObject_HEAD mor_robot_model* model;
    PyObject* notes;
} Robot;
static PyTypeObject* robot_type;

mor_robot_model* robot_model_of(PyObject* object)
{
    if (PyObject_TypeCheck(object, robot_type)) return ((Robot*)object)->model;
    PyErr_SetString(PyExc_TypeError, "a moreau.Robot is needed");
    return NULL;
}

/* Robot(path, floating, joints or None, shapes, packages or None, strict) */
static int robot_init(PyObject* self, PyObject* args, PyObject* keywords)
{
    (void)keywords;
    Robot* r = (Robot*)self;
    const char* path;
    int floating, shapes, strict;
    PyObject* joints;
    mor_urdf_options o = mor_urdf_options_default();
    if (!PyArg_ParseTuple(args, "spOpzp:Robot", &path, &floating, &joints, &shapes, &o.packages, &strict)) return -1;
    const char* names[1024];
    if (joints != Py_None) {
        Py_ssize_t n = PySequence_Size(joints);
        if (n < 0 || n > 1024) return PyErr_SetString(py_bad_input, "joints: at most 1024 names"), -1;
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject* name = PySequence_GetItem(joints, i);
            names[i] = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
            Py_XDECREF(name); /* the sequence holds it */
            if (!names[i]) return -1;
        }
        o.joints = names, o.joint_count = (int)n;
    }
    o.floating = floating, o.shapes = shapes, o.strict = strict;
    char notes[8192] = "";
    mor_error error = { 0 };
    mor_arithmetic host = mor_arithmetic_enter();
    mor_robot_model* model = mor_urdf_read(path, &o, notes, sizeof notes, &error);
    mor_arithmetic_leave(host);
    if (!model) return py_raise(&error), -1;
    mor_robot_destroy(r->model);
    r->model = model;
    Py_XDECREF(r->notes);
    r->notes = PyUnicode_DecodeUTF8(notes, (Py_ssize_t)strlen(notes), "replace");
    return r->notes ? 0 : -1;
}

static void robot_dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    mor_robot_destroy(((Robot*)self)->model);
    Py_XDECREF(((Robot*)self)->notes);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static const mor_robot_model* model_of(PyObject* self)
{
    const mor_robot_model* m = ((Robot*)self)->model;
    if (!m) PyErr_SetString(py_error, "this robot was not read");
    return m;
}

static PyObject* robot_info(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    const mor_robot_model* m = model_of(self);
    if (!m) return NULL;
    PyObject *joints = PyList_New(0), *frames = PyList_New(0), *links = PyList_New(0);
    for (int i = 0; joints && i < mor_robot_joint_count(m); i++) {
        const mor_link_def* l = mor_robot_link(m, mor_robot_link_of_joint(m, i));
        PyObject* row = Py_BuildValue("(ssdddd)", l->joint_name, l->type == MOR_REVOLUTE ? "revolute" : "prismatic",
                                      l->lower, l->upper, l->effort, l->speed);
        if (!row || PyList_Append(joints, row)) Py_CLEAR(joints);
        Py_XDECREF(row);
    }
    for (int i = 0; frames && i < mor_robot_frame_count(m); i++) {
        PyObject* name = PyUnicode_FromString(mor_robot_frame(m, i)->name);
        if (!name || PyList_Append(frames, name)) Py_CLEAR(frames);
        Py_XDECREF(name);
    }
    for (int i = 0; links && i < mor_robot_link_count(m); i++) {
        PyObject* name = PyUnicode_FromString(mor_robot_link(m, i)->name);
        if (!name || PyList_Append(links, name)) Py_CLEAR(links);
        Py_XDECREF(name);
    }
    return joints && frames && links ? Py_BuildValue("(iiOdNNNO)", mor_robot_joint_count(m), mor_robot_dof(m),
                                                     mor_robot_floating(m) ? Py_True : Py_False, mor_robot_mass(m),
                                                     joints, frames, links, ((Robot*)self)->notes)
                                     : NULL;
}

/* ---------------------------------------------------------------------------------- quantities */

typedef enum quantity {
    MASS,
    BIAS,
    FORWARD,
    INVERSE,
    POSE,
    JACOBIAN,
    DRIFT,
    COM,
    MOMENTUM,
    KINETIC,
    POTENTIAL
} quantity;

static int numbers_of(const mor_robot_model* m, quantity what)
{
    int N = mor_robot_dof(m);
    switch (what) {
    case MASS:
        return N * N;
    case POSE:
        return 7;
    case JACOBIAN:
        return 6 * N;
    case DRIFT:
    case MOMENTUM:
        return 6;
    case COM:
        return 3;
    case KINETIC:
    case POTENTIAL:
        return 1;
    default:
        return N;
    }
}

/* One state; false: the mass matrix is singular. */
static bool evaluate_one(const mor_robot_model* m, mor_robot_work* k, quantity what, const double* x, int frame,
                         mor_vec3 gravity, double* out)
{
    switch (what) {
    case MASS:
        return mor_robot_mass_matrix(m, k, out), true;
    case BIAS:
        return mor_robot_inverse_dynamics(m, k, gravity, NULL, NULL, out), true;
    case INVERSE:
        return mor_robot_inverse_dynamics(m, k, gravity, x, NULL, out), true;
    case FORWARD:
        return mor_robot_forward_dynamics(m, k, gravity, x, NULL, out);
    case JACOBIAN:
        return mor_robot_frame_jacobian(m, k, frame, out), true;
    case DRIFT:
        return mor_robot_frame_bias(m, k, frame, out), true;
    case MOMENTUM:
        return mor_robot_momentum(m, k, mor_robot_com(m, k), out), true;
    case KINETIC:
        return *out = mor_robot_kinetic_energy(m, k), true;
    case POTENTIAL:
        return *out = mor_robot_potential_energy(m, k, gravity), true;
    case COM: {
        mor_vec3 c = mor_robot_com(m, k);
        return memcpy(out, (double[3]){ c.x, c.y, c.z }, 3 * sizeof *out), true;
    }
    case POSE: {
        mor_pose p = mor_robot_frame_pose(m, k, frame);
        double row[7] = { p.position.x, p.position.y, p.position.z, p.rotation.w,
                          p.rotation.x, p.rotation.y, p.rotation.z };
        return memcpy(out, row, sizeof row), true;
    }
    }
    return false;
}

/* evaluate(what, count, base (count x 7) or None, s, nu or None, x or None, frame, gravity) -> flat array */
static PyObject* robot_evaluate(PyObject* self, PyObject* args)
{
    const mor_robot_model* m = model_of(self);
    int what, frame;
    Py_ssize_t count;
    PyObject *base, *s, *nu, *x, *gravity;
    mor_vec3 g;
    if (!m || !PyArg_ParseTuple(args, "inOOOOiO", &what, &count, &base, &s, &nu, &x, &frame, &gravity) ||
        !take_vec3(gravity, "gravity", &g))
        return NULL;
    bool framed = what == POSE || what == JACOBIAN || what == DRIFT;
    if (framed && (frame < 0 || frame >= mor_robot_frame_count(m)))
        return PyErr_SetString(py_bad_input, "the robot has no such frame"), NULL;
    int n = mor_robot_joint_count(m), N = mor_robot_dof(m), width = numbers_of(m, (quantity)what);
    Numbers ns = { 0 }, nn = { 0 }, nx = { 0 }, nb = { 0 };
    PyObject* result = NULL;
    double* out;
    bool ok = numbers_take(s, "s", count * n, &ns) && (nu == Py_None || numbers_take(nu, "nu", count * N, &nn)) &&
              (x == Py_None || numbers_take(x, "forces or accelerations", count * N, &nx)) &&
              (base == Py_None || numbers_take(base, "base", count * 7, &nb));
    mor_robot_work* k = ok ? mor_robot_work_create(m) : NULL;
    if (ok && !k) PyErr_NoMemory();
    if (k && (result = array_new(count * width, &out))) {
        Py_ssize_t bad = -1;
        Py_BEGIN_ALLOW_THREADS;
        mor_arithmetic host = mor_arithmetic_enter();
        for (Py_ssize_t i = 0; i < count; i++) {
            mor_pose p = mor_pose_identity();
            if (nb.held) {
                const double* b = nb.data + 7 * i;
                p.position = mor_v3(b[0], b[1], b[2]);
                p.rotation = mor_quat_normalize((mor_quat){ b[3], b[4], b[5], b[6] });
            }
            mor_robot_update(m, k, &p, ns.data + i * n, nn.held ? nn.data + i * N : NULL);
            if (!evaluate_one(m, k, (quantity)what, nx.held ? nx.data + i * N : NULL, frame, g, out + i * width) &&
                bad < 0)
                bad = i;
        }
        mor_arithmetic_leave(host);
        Py_END_ALLOW_THREADS;
        if (bad >= 0) {
            PyErr_Format(py_bad_input, "the mass matrix is singular at state %zd", bad);
            Py_CLEAR(result);
        }
    }
    mor_robot_work_destroy(k);
    numbers_free(&ns);
    numbers_free(&nn);
    numbers_free(&nx);
    numbers_free(&nb);
    return result;
}

static PyObject* robot_frame(PyObject* self, PyObject* name)
{
    const char* word = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!word || !model_of(self)) return NULL;
    int f = mor_robot_find_frame(model_of(self), word);
    return f < 0 ? PyErr_Format(py_bad_input, "the robot has no frame '%s'", word) : PyLong_FromLong(f);
}

static PyMethodDef robot_methods[] = {
    { "_info", robot_info, METH_NOARGS, "" },
    { "_evaluate", robot_evaluate, METH_VARARGS, "" },
    { "_frame", robot_frame, METH_O, "" },
    { NULL, NULL, 0, NULL },
};

bool robot_ready(PyObject* module)
{
    static PyType_Slot slots[] = {
        { Py_tp_new, PyType_GenericNew },
        { Py_tp_init, robot_init },
        { Py_tp_dealloc, robot_dealloc },
        { Py_tp_methods, robot_methods },
        { Py_tp_doc, "A robot; moreau.Robot is made of it." },
        { 0, NULL },
    };
    static PyType_Spec spec = { "moreau._core.Robot", sizeof(Robot), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                slots };
    return add_type(module, "Robot", &spec, &robot_type);
}
