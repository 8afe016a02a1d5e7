/* Derivatives of a World's steps, and goals that it is brought to. Words such as "force:ball.x" are those of `moreau
 * derivative` and `moreau optimise`. */
#include "core.h"

#include "moreau/control.h"
#include "moreau/derivative.h"
#include "moreau/optimise.h"
#include "moreau/state.h"

#include <stdlib.h>
#include <string.h>

static const char* const input_kinds[] = { "force",   "joint", "friction", "restitution", "mass",  "size",
                                           "gravity", "kp",    "ki",       "kd",          "target" };
enum { INPUT_KINDS = 11 };

/* (kind, index, component): the module's Python side has found names. */
static bool take_input(PyObject* row, mor_input* in)
{
    const char* kind;
    if (!PyArg_ParseTuple(row, "sii", &kind, &in->index, &in->component)) return false;
    for (int k = 0; k < INPUT_KINDS; k++)
        if (strcmp(kind, input_kinds[k]) == 0) {
            in->kind = (mor_input_kind)k;
            return true;
        }
    PyErr_Format(py_bad_input, "there is no input of kind '%s'", kind);
    return false;
}

/* Inputs of a list, in memory that the caller frees; NULL with an exception. */
static mor_input* take_inputs(PyObject* list, Py_ssize_t* count)
{
    *count = PyList_Size(list);
    if (*count < 0) return NULL;
    mor_input* in = calloc((size_t)*count + 1, sizeof *in);
    if (!in) return (mor_input*)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++)
        if (!take_input(PyList_GetItem(list, i), &in[i])) {
            free(in);
            return NULL;
        }
    return in;
}

static PyObject* answer_of(const mor_derivative* d)
{
    PyObject* matrix = array_copy(d->matrix, d->rows, d->columns);
    if (!matrix) return NULL;
    return Py_BuildValue("{sNsNsssNsNsisisisisdsdsdsN}", "matrix", matrix, "differentiable",
                         PyBool_FromLong(d->differentiable), "why", d->why, "unique", PyBool_FromLong(d->unique),
                         "differences", PyBool_FromLong(d->differences), "open", d->open, "sticking", d->sticking,
                         "sliding", d->sliding, "weak", d->weak, "distance", d->distance, "residual", d->residual,
                         "smoothed", d->smoothed, "forces_held", PyBool_FromLong(d->forces_held));
}

/* _derivative(inputs, steps, side, smooth) */
static PyObject* derivative(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    PyObject* list;
    int steps, side;
    double smooth;
    Py_ssize_t count;
    if (!world_open(w, true) || !PyArg_ParseTuple(args, "Oiid", &list, &steps, &side, &smooth)) return NULL;
    mor_input* in = take_inputs(list, &count);
    if (!in) return NULL;
    mor_error error = { 0 };
    mor_derivative* d = NULL;
    mor_code code;
    Call call;
    call_begin(&call);
    Py_BEGIN_ALLOW_THREADS;
    mor_arithmetic host = mor_arithmetic_enter();
    code = steps > 0       ? mor_world_derivatives(w->world, steps, in, (int)count, &d, &error)
           : smooth != 0.0 ? mor_world_derivative_smoothed(w->world, in, (int)count, smooth, &d, &error)
                           : mor_world_derivative_sided(w->world, in, (int)count, side, &d, &error);
    mor_arithmetic_leave(host);
    Py_END_ALLOW_THREADS;
    free(in);
    world_refresh(w, false);
    PyObject* out = call_end(&call, true) ? NULL : code ? py_raise(&error) : answer_of(d);
    mor_derivative_destroy(d);
    return out;
}

/* _adjoint(steps, gradient, inputs): the gradient by the state now and by the inputs of every step */
static PyObject* adjoint(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    PyObject *list, *given;
    int steps;
    Py_ssize_t count;
    if (!world_open(w, true) || !PyArg_ParseTuple(args, "iOO", &steps, &given, &list)) return NULL;
    Numbers gradient;
    if (!numbers_take(given, "gradient", 2 * mor_world_nu_count(w->world), &gradient)) return NULL;
    mor_input* in = take_inputs(list, &count);
    double *by_state = NULL, *by_inputs = NULL;
    PyObject* state = in ? array_new(gradient.count, &by_state) : NULL;
    PyObject* inputs = state ? array_new2(steps, count, &by_inputs) : NULL;
    PyObject* out = NULL;
    if (inputs) {
        mor_error error = { 0 };
        mor_code code;
        Call call;
        call_begin(&call);
        Py_BEGIN_ALLOW_THREADS;
        mor_arithmetic host = mor_arithmetic_enter();
        code = mor_world_adjoint(w->world, steps, gradient.data, in, (int)count, by_state, by_inputs, NULL, &error);
        mor_arithmetic_leave(host);
        Py_END_ALLOW_THREADS;
        world_refresh(w, false);
        if (!call_end(&call, true)) out = code ? py_raise(&error) : Py_BuildValue("OO", state, inputs);
    }
    Py_XDECREF(state);
    Py_XDECREF(inputs);
    free(in);
    numbers_free(&gradient);
    return out;
}

/* ------------------------------------------------------------------------------------------ goals */

static bool take_unknown(PyObject* row, mor_unknown* u)
{
    const char* kind;
    int number;
    PyObject* input;
    if (!PyArg_ParseTuple(row, "siO", &kind, &number, &input)) return false;
    bool state = input == Py_None;
    u->kind = !state ? MOR_UNKNOWN_INPUT : strcmp(kind, "position") == 0 ? MOR_UNKNOWN_POSITION : MOR_UNKNOWN_VELOCITY;
    u->number = number;
    return state || take_input(input, &u->input);
}

static bool take_goal(PyObject* row, mor_goal* g)
{
    int velocity;
    if (!PyArg_ParseTuple(row, "ipdd", &g->number, &velocity, &g->value, &g->weight)) return false;
    g->velocity = velocity;
    return true;
}

static PyObject* search(World* w, int steps, const mor_unknown* u, int n, const mor_goal* g, int m,
                        const mor_optimise_options* options, const Numbers* start)
{
    double* x;
    PyObject* best = array_new(n, &x);
    if (!best) return NULL;
    memcpy(x, start->data, (size_t)n * sizeof *x);
    mor_error error = { 0 };
    mor_optimum optimum = { 0 };
    mor_code code;
    Call call;
    call_begin(&call);
    Py_BEGIN_ALLOW_THREADS;
    mor_arithmetic host = mor_arithmetic_enter();
    code = mor_world_optimise(w->world, steps, u, n, g, m, options, x, &optimum, &error);
    mor_arithmetic_leave(host);
    Py_END_ALLOW_THREADS;
    world_refresh(w, false);
    PyObject* out = NULL;
    if (!call_end(&call, true) && code) py_raise(&error);
    else if (!PyErr_Occurred())
        out = Py_BuildValue("{sOsdsisisNsNsi}", "x", best, "miss", optimum.miss, "simulations", optimum.simulations,
                            "derivatives", optimum.derivatives, "reached", PyBool_FromLong(optimum.reached), "stalled",
                            PyBool_FromLong(optimum.stalled), "rough", optimum.rough);
    Py_DECREF(best);
    return out;
}

/* _optimise(steps, unknowns, goals, start, by_values, tolerance, most_simulations) */
static PyObject* optimise(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    PyObject *unknowns, *goals, *given;
    int steps, by_values;
    mor_optimise_options options = mor_optimise_options_default();
    if (!world_open(w, true) || !PyArg_ParseTuple(args, "iOOOpdi", &steps, &unknowns, &goals, &given, &by_values,
                                                  &options.tolerance, &options.most_simulations))
        return NULL;
    if (by_values) options.search = MOR_SEARCH_NELDER_MEAD;
    Py_ssize_t n = PyList_Size(unknowns), m = PyList_Size(goals);
    Numbers start;
    if (n < 0 || m < 0 || !numbers_take(given, "start", n, &start)) return NULL;
    mor_unknown* u = calloc((size_t)n + 1, sizeof *u);
    mor_goal* g = calloc((size_t)m + 1, sizeof *g);
    bool ok = u && g;
    if (!ok) PyErr_NoMemory();
    for (Py_ssize_t i = 0; ok && i < n; i++) ok = take_unknown(PyList_GetItem(unknowns, i), &u[i]);
    for (Py_ssize_t i = 0; ok && i < m; i++) ok = take_goal(PyList_GetItem(goals, i), &g[i]);
    PyObject* out = ok ? search(w, steps, u, (int)n, g, (int)m, &options, &start) : NULL;
    free(u);
    free(g);
    numbers_free(&start);
    return out;
}

/* _number(name): first number of a body or a robot in v, and how many */
static PyObject* number(PyObject* self, PyObject* name)
{
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    PyObject* bytes = PyUnicode_AsUTF8String(name);
    if (!bytes) return NULL;
    const char* text = PyBytes_AsString(bytes);
    mor_body_id id = mor_world_find_body(w->world, text);
    int robot = mor_world_find_robot(w->world, text);
    mor_span s = { .nu = -1 };
    if (robot >= 0) s = mor_world_robot_span(w->world, robot);
    else if (mor_body_valid(w->world, id) && mor_body_get_kind(w->world, id) == MOR_DYNAMIC)
        s = mor_body_span(w->world, id);
    Py_DECREF(bytes);
    return Py_BuildValue("(iii)", s.nu, s.nu_count, mor_body_valid(w->world, id) ? mor_body_index(w->world, id) : -1);
}

/* _material(name): its number, -1: there is none */
static PyObject* material(PyObject* self, PyObject* name)
{
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    PyObject* bytes = PyUnicode_AsUTF8String(name);
    if (!bytes) return NULL;
    int found = -1;
    for (int i = 0; found < 0 && mor_world_material(w->world, i); i++)
        if (strcmp(mor_world_material(w->world, i)->name, PyBytes_AsString(bytes)) == 0) found = i;
    Py_DECREF(bytes);
    return PyLong_FromLong(found);
}

/* _controller(robot): the number of its first controller, -1: there is none */
static PyObject* controller(PyObject* self, PyObject* robot)
{
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    long r = PyLong_AsLong(robot), found = -1;
    if (PyErr_Occurred()) return NULL;
    for (int i = 0; found < 0 && i < mor_world_controller_count(w->world); i++)
        if (mor_world_controller(w->world, i)->robot == r) found = i;
    return PyLong_FromLong(found);
}

PyMethodDef world_derivative_methods[] = {
    { "_derivative", derivative, METH_VARARGS, "" },
    { "_adjoint", adjoint, METH_VARARGS, "" },
    { "_optimise", optimise, METH_VARARGS, "" },
    { "_number", number, METH_O, "" },
    { "_material", material, METH_O, "" },
    { "_controller", controller, METH_O, "" },
    { NULL, NULL, 0, NULL },
};
