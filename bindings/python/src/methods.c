/* Solvers, formulations, collision methods and controllers written in Python, registered like built-in ones.
 *
 * A descriptor of the library has plain functions without a pointer to data, so every registered method takes one of a
 * fixed number of slots, each with a C function of its own (the lists of macros below). A method that is registered
 * again under its name, as when a notebook's cell runs twice, keeps its slot.
 *
 * Libraries of methods must not grow while they are in use: every registration makes a new one, and the old ones stay
 * for the worlds that were made with them. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64 };
typedef enum method_kind { SOLVER, FORMULATION, COLLISION, CONTROLLER, METHOD_KINDS } method_kind;

typedef struct method {
    PyObject* function; /* of moreau._methods: takes care of what users may return */
    mor_field* fields;
    int field_count;
    union {
        mor_solver solver;
        mor_formulation formulation;
        mor_collision collision;
        mor_controller controller;
    } as;
} method;

static method* methods[METHOD_KINDS][SLOTS];
static mor_library* library; /* the newest */

const mor_library* methods_library(void) { return library; }

/* ------------------------------------------------------------------------------- calling Python */

/* Options as a dict: all are doubles, one after the other; a collision method's come after the common ones. */
static PyObject* options_dict(const method* m, const void* options)
{
    PyObject* d = PyDict_New();
    for (int i = 0; d && i < m->field_count; i++) {
        PyObject* x = PyFloat_FromDouble(*(const double*)((const char*)options + m->fields[i].offset));
        if (!x || PyDict_SetItemString(d, m->fields[i].name, x)) Py_CLEAR(d);
        Py_XDECREF(x);
    }
    return d;
}

static mor_status status_of(const char* word)
{
    for (int i = 0; i <= MOR_NUMERICAL; i++)
        if (strcmp(mor_status_name((mor_status)i), word) == 0) return (mor_status)i;
    return MOR_NOT_CONVERGED;
}

/* (answer, iterations, status, detail) into a report and `count` numbers. False: an exception. */
static bool take_answer(PyObject* said, Py_ssize_t count, double* z, mor_report* r)
{
    PyObject* answer;
    const char *status, *detail;
    Numbers n;
    if (!said || !PyArg_ParseTuple(said, "Oiss", &answer, &r->iterations, &status, &detail) ||
        !numbers_take(answer, "the answer", count, &n))
        return false;
    memcpy(z, n.data, (size_t)count * sizeof *z);
    numbers_free(&n);
    r->status = status_of(status);
    snprintf(r->detail, sizeof r->detail, "%s", detail);
    return true;
}

static mor_report call_solver(int slot, const mor_problem* problem, const void* options, mor_context* context,
                              double* z)
{
    mor_report r = { .status = MOR_NUMERICAL };
    PyGILState_STATE lock = PyGILState_Ensure();
    const method* m = methods[SOLVER][slot];
    int n = mor_problem_unknowns(problem);
    Problem* p = problem_copy(problem);
    PyObject *start = p ? array_copy(z, n, 0) : NULL, *o = start ? options_dict(m, options) : NULL;
    PyObject* said =
        o ? PyObject_CallFunction(m->function, "OOdiO", p, start, context->tol, context->max_iter, o) : NULL;
    if (!take_answer(said, n, z, &r)) call_take_exception(r.detail, sizeof r.detail);
    Py_XDECREF(said);
    Py_XDECREF(o);
    Py_XDECREF(start);
    Py_XDECREF((PyObject*)p);
    PyGILState_Release(lock);
    return r;
}

/* ---------------------------------------------------------------------------------- formulations */

/* What a formulation is given; alive during the call only. */
typedef struct System {
    PyObject_HEAD const mor_system* system;
    mor_solve_stage* stage;
} System;
static PyTypeObject* system_type;

static const mor_system* system_of(PyObject* self)
{
    const mor_system* s = ((System*)self)->system;
    if (!s) PyErr_SetString(py_error, "a system is only there while its formulation runs");
    return s;
}

static PyObject* system_contacts(const mor_system* s)
{
    double* x;
    PyObject* table = array_new2(s->contact_count, 13, &x);
    for (int i = 0; table && i < s->contact_count; i++, x += 13) {
        const mor_contact_row* c = &s->contacts[i];
        const mor_block* b = &s->blocks[c->block];
        double row[13] = { b->row,      b->dim,      c->gap,      c->friction, c->restitution, c->approach, c->drift[0],
                           c->drift[1], c->drift[2], c->guess[0], c->guess[1], c->guess[2],    c->contact };
        memcpy(x, row, sizeof row);
    }
    return table;
}

static PyObject* system_arrays(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    const mor_system* s = system_of(self);
    if (!s) return NULL;
    double gravity[3] = { s->gravity.x, s->gravity.y, s->gravity.z };
    return Py_BuildValue("{s:d,s:d,s:N,s:i,s:d,s:i,s:i,s:i,s:N,s:N,s:N,s:N}", "h", s->h, "time", s->time, "gravity",
                         array_copy(gravity, 3, 0), "dimension", s->dimension, "v_rest", s->v_rest, "directions",
                         s->directions, "dof", s->dof, "row_count", s->row_count, "nu", array_copy(s->nu, s->dof, 0),
                         "nu_free", array_copy(s->nu_free, s->dof, 0), "bias", array_copy(s->bias, s->row_count, 0),
                         "contacts", system_contacts(s));
}

/* Corners of the friction polygon: none (the cone), or as many as a polygon has. */
static bool check_directions(int directions)
{
    if (directions == 0 || (directions >= 3 && directions <= 256)) return true;
    PyErr_SetString(py_bad_input, "directions: 0 for the cone, or 3 to 256");
    return false;
}

/* _problem(bias, directions) */
static PyObject* system_problem(PyObject* self, PyObject* args)
{
    const mor_system* s = system_of(self);
    PyObject* bias;
    int directions;
    Numbers n;
    if (!s || !PyArg_ParseTuple(args, "Oi", &bias, &directions) || !check_directions(directions) ||
        !numbers_take(bias, "bias", s->row_count, &n))
        return NULL;
    mor_arena* arena = ((System*)self)->stage->arena;
    size_t mark = mor_arena_mark(arena);
    mor_problem p = mor_system_problem(s, directions, n.data, arena, NULL);
    PyObject* copy = p.form ? (PyObject*)problem_copy(&p) : PyErr_NoMemory();
    mor_arena_release(arena, mark);
    numbers_free(&n);
    return copy;
}

/* _solve(problem, z or None) -> (z, report): the solver that the world has chosen. */
static PyObject* system_solve(PyObject* self, PyObject* args)
{
    PyObject *problem, *guess;
    if (!system_of(self) || !PyArg_ParseTuple(args, "O!O", problem_type, &problem, &guess)) return NULL;
    const mor_problem* p = &((Problem*)problem)->p;
    int n = mor_problem_unknowns(p);
    double* z;
    PyObject* answer = array_new(n, &z);
    Numbers start = { 0 };
    if (!answer || (guess != Py_None && !numbers_take(guess, "z0", n, &start))) {
        Py_XDECREF(answer);
        return NULL;
    }
    if (start.held) memcpy(z, start.data, (size_t)n * sizeof *z);
    bool warm = start.held;
    numbers_free(&start);
    mor_solve_stage* stage = ((System*)self)->stage;
    mor_report r;
    Py_BEGIN_ALLOW_THREADS;
    r = stage->solve(stage, p, warm, z);
    Py_END_ALLOW_THREADS;
    return Py_BuildValue("(NN)", answer, report_dict(&r));
}

static PyObject* system_velocity(PyObject* self, PyObject* impulses)
{
    const mor_system* s = system_of(self);
    Numbers n;
    if (!s || !numbers_take(impulses, "impulses", s->row_count, &n)) return NULL;
    double* nu;
    PyObject* a = array_new(s->dof, &nu);
    if (a) mor_system_velocity(s, n.data, nu);
    numbers_free(&n);
    return a;
}

static void system_dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef system_methods[] = {
    { "_arrays", system_arrays, METH_NOARGS, "" },
    { "_problem", system_problem, METH_VARARGS, "" },
    { "_solve", system_solve, METH_VARARGS, "" },
    { "_velocity", system_velocity, METH_O, "" },
    { NULL, NULL, 0, NULL },
};

/* function(system, options) -> (impulses, iterations, status, detail) */
static mor_report run_formulation(PyObject* function, PyObject* options, const mor_system* s, mor_solve_stage* stage,
                                  mor_answer* answer)
{
    mor_report r = { .status = MOR_NUMERICAL };
    System* self = options ? PyObject_New(System, system_type) : NULL;
    if (self) self->system = s, self->stage = stage;
    PyObject* said = self ? PyObject_CallFunction(function, "OO", self, options) : NULL;
    if (take_answer(said, s->row_count, answer->impulses, &r)) mor_system_velocity(s, answer->impulses, answer->nu);
    else call_take_exception(r.detail, sizeof r.detail);
    if (self) self->system = NULL, self->stage = NULL;
    Py_XDECREF((PyObject*)self);
    Py_XDECREF(said);
    Py_XDECREF(options);
    return r;
}

static mor_report call_formulation(int slot, const mor_system* s, const void* options, mor_solve_stage* stage,
                                   mor_answer* answer)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    const method* m = methods[FORMULATION][slot];
    mor_report r = run_formulation(m->function, options_dict(m, options), s, stage, answer);
    PyGILState_Release(lock);
    return r;
}

/* ------------------------------------------------------------------------------------- collision */

/* Rows of 15 numbers: bodies (2), points (6), normal (3), gap, feature, friction, restitution (below 0: of the
 * materials). */
static mor_code add_contacts(const double* x, Py_ssize_t count, const mor_world* w, mor_found* found, mor_error* error)
{
    int bodies = mor_world_body_count(w);
    for (Py_ssize_t i = 0; i < count; i++, x += 15) {
        mor_contact c = { .body = { (int)x[0], (int)x[1] },
                          .point = { { x[2], x[3], x[4] }, { x[5], x[6], x[7] } },
                          .normal = { x[8], x[9], x[10] },
                          .gap = x[11],
                          .feature = (uint64_t)x[12],
                          .friction = x[13],
                          .restitution = x[14] };
        double length = mor_norm(c.normal);
        bool finite = true;
        for (int k = 0; k < 15; k++) finite = finite && isfinite(x[k]);
        if (!finite || !(length > 0.0) || c.body[0] < 0 || c.body[0] >= bodies || c.body[1] < 0 ||
            c.body[1] >= bodies || c.body[0] == c.body[1])
            return mor_fail(
                error, MOR_BAD_INPUT,
                "contact %d of the collision function: two different bodies, finite points and a normal are "
                "needed",
                (int)i);
        c.normal = mor_scale(1.0 / length, c.normal);
        if (mor_found_add(found, &c)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    return MOR_OK;
}

/* function(time, poses, velocities, options) -> array of rows */
static mor_code run_collision(PyObject* function, PyObject* options, const mor_world* w, mor_found* found,
                              mor_error* error)
{
    int n = mor_world_body_count(w);
    double *p, *v;
    PyObject *poses = options ? array_new2(n, 7, &p) : NULL, *velocities = poses ? array_new2(n, 6, &v) : NULL;
    PyObject* said = NULL;
    if (velocities) {
        mor_world_get_poses(w, p, 7 * n, NULL);
        mor_world_get_velocities(w, v, 6 * n, NULL);
        said = PyObject_CallFunction(function, "dOOO", mor_world_time(w), poses, velocities, options);
    }
    Numbers rows = { 0 };
    mor_code code = MOR_BAD_INPUT;
    if (said && numbers_take(said, "contacts", -1, &rows))
        code = add_contacts(rows.data, rows.count / 15, w, found, error);
    else {
        char text[160];
        call_take_exception(text, sizeof text);
        mor_fail(error, MOR_BAD_INPUT, "%s", text);
    }
    numbers_free(&rows);
    Py_XDECREF(said);
    Py_XDECREF(velocities);
    Py_XDECREF(poses);
    Py_XDECREF(options);
    return code;
}

static mor_code call_collision(int slot, const mor_world* w, const void* options, mor_found* found, mor_error* error)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    const method* m = methods[COLLISION][slot];
    mor_code code = run_collision(m->function, options_dict(m, options), w, found, error);
    PyGILState_Release(lock);
    return code;
}

/* ------------------------------------------------------------------------------------ controllers */

/* function(robot, time, dt, base, s, nu, gravity_torque or None, target, state, options) -> (tau, gain); the state is
 * written in place. */
static void call_controller(const mor_control_call* c)
{
    const method* m = (const method*)((const char*)c->def->type - offsetof(method, as));
    if (!m->function) return; /* the world is being taken apart */
    PyGILState_STATE lock = PyGILState_Ensure();
    int n = mor_robot_joint_count(c->model), N = mor_robot_dof(c->model);
    double base[7] = { c->base.position.x, c->base.position.y, c->base.position.z, c->base.rotation.w,
                       c->base.rotation.x, c->base.rotation.y, c->base.rotation.z };
    double* state = NULL;
    int kept = m->as.controller.state_size(c->model, c->options);
    PyObject* memory = array_new(kept, &state);
    if (memory && kept) memcpy(state, c->state, (size_t)kept * sizeof *state);
    PyObject* options = memory ? options_dict(m, c->options) : NULL;
    PyObject* said =
        options ? PyObject_CallFunction(m->function, "iddNNNNNOO", c->robot, c->time, c->dt, array_copy(base, 7, 0),
                                        array_copy(c->s, n, 0), array_copy(c->nu, N, 0),
                                        c->gravity_torque ? array_copy(c->gravity_torque, n, 0) : Py_NewRef(Py_None),
                                        array_copy(c->def->target, n, 0), memory, options)
                : NULL;
    PyObject *tau, *gain;
    Numbers t = { 0 }, g = { 0 };
    if (said && PyArg_ParseTuple(said, "OO", &tau, &gain) && numbers_take(tau, "tau", n, &t) &&
        numbers_take(gain, "gain", n, &g)) {
        bool finite = true;
        for (int j = 0; j < n; j++) finite = finite && isfinite(t.data[j]) && isfinite(g.data[j]);
        if (finite) {
            memcpy(c->tau, t.data, (size_t)n * sizeof *c->tau);
            memcpy(c->gain, g.data, (size_t)n * sizeof *c->gain);
            if (kept) memcpy(c->state, state, (size_t)kept * sizeof *state);
        } else PyErr_SetString(py_bad_input, "the controller's answer has a number that is not finite");
    }
    if (PyErr_Occurred()) {
        char text[160];
        call_take_exception(text, sizeof text);
        mor_world_refuse(c->world, text);
    }
    numbers_free(&t);
    numbers_free(&g);
    Py_XDECREF(said);
    Py_XDECREF(options);
    Py_XDECREF(memory);
    PyGILState_Release(lock);
}

enum { CONTROLLER_STATE = 64 };
static int controller_state(const mor_robot_model* model, const void* options)
{
    (void)model, (void)options;
    return CONTROLLER_STATE;
}

/* ---------------------------------------------------------------------------------------- slots */

#define EIGHT(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7)
#define ALL(X) EIGHT(X, 00) EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07)
/* the numbers are octal: 000 to 077 */
#define SLOT(k)                                                                                                        \
    static mor_report solver_##k(const mor_problem* p, const void* o, mor_context* c, double* z)                       \
    {                                                                                                                  \
        return call_solver(k, p, o, c, z);                                                                             \
    }                                                                                                                  \
    static mor_report formulation_##k(const mor_system* s, const void* o, mor_solve_stage* g, mor_answer* a)           \
    {                                                                                                                  \
        return call_formulation(k, s, o, g, a);                                                                        \
    }                                                                                                                  \
    static mor_code collision_##k(void* m, const mor_world* w, const void* o, mor_found* f, mor_error* e)              \
    {                                                                                                                  \
        (void)m;                                                                                                       \
        return call_collision(k, w, o, f, e);                                                                          \
    }
ALL(SLOT)
#define NAME_SOLVER(k) solver_##k,
#define NAME_FORMULATION(k) formulation_##k,
#define NAME_COLLISION(k) collision_##k,
static mor_report (*const solvers[])(const mor_problem*, const void*, mor_context*, double*) = { ALL(NAME_SOLVER) };
static mor_report (*const formulations[])(const mor_system*, const void*, mor_solve_stage*,
                                          mor_answer*) = { ALL(NAME_FORMULATION) };
static mor_code (*const collisions[])(void*, const mor_world*, const void*, mor_found*,
                                      mor_error*) = { ALL(NAME_COLLISION) };

/* ---------------------------------------------------------------------------------- registering */

/* Fields of a list of (name, initial, min, max, help); the options are doubles after `first` bytes, which the fields of
 * `base` describe. */
static bool take_fields(PyObject* list, const mor_field* base, size_t first, method* m)
{
    int n = (int)PyList_Size(list), common = 0;
    while (base && base[common].name) common++;
    m->fields = calloc((size_t)(n + common) + 1, sizeof *m->fields);
    if (!m->fields) return PyErr_NoMemory(), false;
    if (common) memcpy(m->fields + n, base, (size_t)common * sizeof *base);
    m->field_count = n; /* those of the method itself are handed to Python */
    for (int i = 0; i < n; i++) {
        const char *name, *help;
        mor_field f = { .type = MOR_TYPE_DOUBLE, .offset = first + (size_t)i * sizeof(double), .unit = "" };
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sddds", &name, &f.initial, &f.min, &f.max, &help)) return false;
        f.name = strdup(name), f.help = strdup(help);
        m->fields[i] = f;
    }
    return true;
}

/* A library with everything that is registered now. */
static mor_code remake_library(mor_error* error)
{
    mor_library* l = mor_library_create(error);
    if (!l) return MOR_SYSTEM;
    for (int k = 0; k < METHOD_KINDS; k++)
        for (int i = 0; i < SLOTS && methods[k][i]; i++) {
            const method* m = methods[k][i];
            mor_code code = k == SOLVER        ? mor_library_add_solver(l, &m->as.solver, error)
                            : k == FORMULATION ? mor_library_add_formulation(l, &m->as.formulation, error)
                            : k == COLLISION   ? mor_library_add_collision(l, &m->as.collision, error)
                                               : mor_library_add_controller(l, &m->as.controller, error);
            if (code) return mor_library_destroy(l), code;
        }
    library = l;
    return MOR_OK;
}

/* register(kind, name, summary, function, forms, fields): in a slot of its own, or again in the one it has. */
static PyObject* register_method(PyObject* module, PyObject* args)
{
    (void)module;
    int kind;
    unsigned forms;
    const char *name, *summary;
    PyObject *function, *fields;
    if (!PyArg_ParseTuple(args, "issOIO!", &kind, &name, &summary, &function, &forms, &PyList_Type, &fields))
        return NULL;
    int slot = 0;
    for (; slot < SLOTS && methods[kind][slot]; slot++)
        if (strcmp(methods[kind][slot]->as.solver.name, name) == 0) break; /* all descriptors begin with the name */
    if (slot == SLOTS) return PyErr_Format(py_error, "at most %d methods of a kind can be registered", SLOTS);
    method* m = calloc(1, sizeof *m);
    if (!m) return PyErr_NoMemory();
    const mor_collision* common = mor_library_collision(NULL, "manifold");
    size_t first = kind == COLLISION ? common->options_size : 0;
    if (!take_fields(fields, kind == COLLISION ? common->fields : NULL, first, m)) return NULL;
    size_t size = first + (size_t)m->field_count * sizeof(double);
    m->function = Py_NewRef(function);
    name = strdup(name), summary = strdup(summary);
    if (kind == SOLVER) m->as.solver = (mor_solver){ name, summary, "", forms, size, m->fields, 10000, solvers[slot] };
    else if (kind == FORMULATION)
        m->as.formulation = (mor_formulation){ .name = name,
                                               .summary = summary,
                                               .reference = "",
                                               .produces = forms,
                                               .options_size = size,
                                               .fields = m->fields,
                                               .step = formulations[slot] };
    else if (kind == COLLISION)
        m->as.collision = (mor_collision){ .name = name,
                                           .summary = summary,
                                           .reference = "",
                                           .options_size = size,
                                           .fields = m->fields,
                                           .detect = collisions[slot] };
    else
        m->as.controller = (mor_controller){ .name = name,
                                             .summary = summary,
                                             .reference = "",
                                             .options_size = size,
                                             .fields = m->fields,
                                             .state_size = controller_state,
                                             .control = call_controller,
                                             .joints_only = true };
    method* before = methods[kind][slot];
    methods[kind][slot] = m; /* worlds that have the old descriptor reach the new function through the slot */
    mor_error error = { 0 };
    if (remake_library(&error)) {
        methods[kind][slot] = before;
        return py_raise(&error);
    }
    Py_RETURN_NONE;
}

static bool list_method(PyObject* list, const char* name, const char* summary, unsigned forms)
{
    PyObject* row = Py_BuildValue("(ssI)", name, summary, forms);
    bool ok = row && PyList_Append(list, row) == 0;
    Py_XDECREF(row);
    return ok;
}

/* list_methods(kind) -> [(name, summary, forms)] */
static PyObject* list_methods(PyObject* module, PyObject* number)
{
    (void)module;
    long kind = PyLong_AsLong(number);
    PyObject* list = PyList_New(0);
    bool ok = list && !PyErr_Occurred();
    const mor_solver* s;
    const mor_formulation* f;
    const mor_collision* c;
    const mor_controller* t;
    for (int i = 0; ok && kind == SOLVER && (s = mor_library_solver_at(library, i)); i++)
        ok = list_method(list, s->name, s->summary, s->accepts);
    for (int i = 0; ok && kind == FORMULATION && (f = mor_library_formulation_at(library, i)); i++)
        ok = list_method(list, f->name, f->summary, f->produces);
    for (int i = 0; ok && kind == COLLISION && (c = mor_library_collision_at(library, i)); i++)
        ok = list_method(list, c->name, c->summary, 0);
    for (int i = 0; ok && kind == CONTROLLER && (t = mor_library_controller_at(library, i)); i++)
        ok = list_method(list, t->name, t->summary, 0);
    if (ok) return list;
    Py_XDECREF(list);
    return NULL;
}

/* applies(solver, form): directly or through an exact conversion. */
static PyObject* applies(PyObject* module, PyObject* args)
{
    (void)module;
    const char* name;
    PyObject* problem;
    if (!PyArg_ParseTuple(args, "sO!", &name, problem_type, &problem)) return NULL;
    const mor_solver* s = mor_library_solver(library, name);
    return PyBool_FromLong(s && mor_solver_applies(s, ((Problem*)problem)->p.form));
}

/* ------------------------------------------------------------------------------ stages of a world */

static void user_stage(void* user, mor_world* world)
{
    World* w = user;
    mor_scene_apply_forces(w->scene->scene, world);
    PyGILState_STATE lock = PyGILState_Ensure();
    w->in_user = true;
    PyObject* said = w->user ? PyObject_CallFunctionObjArgs(w->user, (PyObject*)w, NULL) : NULL;
    w->in_user = false;
    if (!said && w->user) {
        char text[200];
        call_take_exception(text, sizeof text);
        mor_world_refuse(world, text);
    }
    Py_XDECREF(said);
    PyGILState_Release(lock);
}

static void scene_stage(void* user, mor_world* world) { mor_scene_apply_forces(((World*)user)->scene->scene, world); }

static mor_code collide_stage(void* user, const mor_world* world, mor_found* found, mor_error* error)
{
    World* w = user;
    PyGILState_STATE lock = PyGILState_Ensure();
    mor_code code = run_collision(w->collide, PyDict_New(), world, found, error);
    PyGILState_Release(lock);
    return code;
}

static mor_report formulation_stage(void* user, const mor_system* s, mor_solve_stage* stage, mor_answer* answer)
{
    World* w = user;
    PyGILState_STATE lock = PyGILState_Ensure();
    mor_report r = run_formulation(w->formulation, PyDict_New(), s, stage, answer);
    PyGILState_Release(lock);
    return r;
}

static void observe(void* user, const mor_world* world, const mor_step_report* report)
{
    (void)world;
    World* w = user;
    if (!w->observers) return;
    PyGILState_STATE lock = PyGILState_Ensure();
    w->report = *report;
    world_refresh(w, false);
    for (Py_ssize_t i = 0; w->observers && i < PyList_Size(w->observers); i++) {
        PyObject* said = PyObject_CallFunctionObjArgs(PyList_GetItem(w->observers, i), (PyObject*)w, NULL);
        if (!said) call_take_exception(NULL, 0);
        Py_XDECREF(said);
    }
    PyGILState_Release(lock);
}

/* _on(stage, function or None) */
static PyObject* world_on(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    const char* stage;
    PyObject* f;
    if (!PyArg_ParseTuple(args, "sO", &stage, &f) || !world_open(w, true)) return NULL;
    if (w->owner) return PyErr_SetString(py_error, "functions are set between steps"), NULL;
    PyObject* function = f == Py_None ? NULL : Py_NewRef(f);
    PyObject* old = NULL;
    if (strcmp(stage, "user") == 0) {
        old = w->user, w->user = function;
        mor_world_on_user(w->world, function ? user_stage : scene_stage, w);
    } else if (strcmp(stage, "collide") == 0) {
        old = w->collide, w->collide = function;
        mor_world_on_collide(w->world, function ? collide_stage : NULL, w);
    } else if (strcmp(stage, "formulation") == 0) {
        old = w->formulation, w->formulation = function;
        mor_world_on_solve(w->world, function ? formulation_stage : NULL, w);
    } else {
        Py_XDECREF(function);
        return PyErr_Format(py_bad_input, "unknown stage '%s'", stage);
    }
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyObject* world_observe(PyObject* self, PyObject* function)
{
    World* w = (World*)self;
    mor_error error = { 0 };
    if (!world_open(w, true)) return NULL;
    if (!w->observers) {
        if (mor_world_add_observer(w->world, observe, w, &error)) return py_raise(&error);
        if (!(w->observers = PyList_New(0))) return NULL;
    }
    return PyList_Append(w->observers, function) ? NULL : Py_NewRef(Py_None);
}

static const char CONTROL[] = "moreau.control"; /* name of the capsules of such descriptors */

static void free_control(PyObject* capsule) { free(PyCapsule_GetPointer(capsule, CONTROL)); }

void methods_forget(PyObject* keep)
{
    for (Py_ssize_t i = 0; keep && i < PyList_Size(keep); i++) {
        PyObject* item = PyList_GetItem(keep, i);
        if (PyCapsule_IsValid(item, CONTROL)) ((method*)PyCapsule_GetPointer(item, CONTROL))->function = NULL;
    }
}

/* The descriptor of a function that controls robots of this world alone: it takes no slot, and goes with the world. The
 * function is held by the list `controls`, which the collector of cycles sees. */
static const mor_controller* own_controller(World* w, PyObject* function)
{
    method* m = calloc(1, sizeof *m);
    if (!m) return PyErr_NoMemory(), NULL;
    m->function = function;
    m->as.controller = (mor_controller){ .name = "python",
                                         .summary = "a function of the user's",
                                         .reference = "",
                                         .state_size = controller_state,
                                         .control = call_controller,
                                         .joints_only = true };
    PyObject* capsule = PyCapsule_New(m, CONTROL, free_control);
    if (!capsule) return free(m), NULL;
    if (!w->controls) w->controls = PyList_New(0);
    if (!w->keep) w->keep = PyList_New(0);
    bool held =
        w->controls && w->keep && PyList_Append(w->controls, function) == 0 && PyList_Append(w->keep, capsule) == 0;
    Py_DECREF(capsule);
    return held ? &m->as.controller : NULL;
}

/* _add_controller(robot, type or function, target, kp, ki, kd: arrays of n or None; gravity_compensation, sampled) */
static PyObject* add_controller(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    int robot, gravity, sampled;
    PyObject *type, *arrays[4];
    if (!PyArg_ParseTuple(args, "iOOOOOpp", &robot, &type, &arrays[0], &arrays[1], &arrays[2], &arrays[3], &gravity,
                          &sampled) ||
        !world_open(w, true))
        return NULL;
    if (robot < 0 || robot >= mor_world_robot_count(w->world))
        return PyErr_Format(py_bad_input, "there is no robot number %d", robot);
    mor_controller_def d = mor_controller_def_default();
    if (PyCallable_Check(type)) d.type = own_controller(w, type);
    else {
        const char* name = PyUnicode_AsUTF8AndSize(type, NULL);
        d.type = name ? mor_library_controller(library, name) : NULL;
        if (name && !d.type) PyErr_Format(py_bad_input, "unknown controller '%s'", name);
    }
    if (!d.type) return NULL;
    d.robot = robot, d.gravity_compensation = gravity, d.sampled = sampled;
    Numbers n[4] = { 0 };
    int joints = mor_robot_joint_count(mor_world_robot_model(w->world, robot)), number = -1;
    bool ok = true;
    for (int i = 0; i < 4 && ok; i++)
        ok = arrays[i] == Py_None || numbers_take(arrays[i], "numbers of a controller", joints, &n[i]);
    d.target = n[0].data, d.kp = n[1].data, d.ki = n[2].data, d.kd = n[3].data;
    mor_error error = { 0 };
    if (ok && (number = mor_world_add_controller(w->world, &d, &error)) < 0) py_raise(&error);
    for (int i = 0; i < 4; i++) numbers_free(&n[i]);
    return number < 0 ? NULL : PyLong_FromLong(number);
}

/* Contacts as velocities: gap/h and the drift of their surfaces; rows of joints as they are. */
static void problem_bias(const mor_system* s, double* bias)
{
    memcpy(bias, s->bias, (size_t)s->row_count * sizeof *bias);
    for (int k = 0; k < s->contact_count; k++) {
        const mor_block* b = &s->blocks[s->contacts[k].block];
        bias[b->row] = s->contacts[k].gap / s->h + s->contacts[k].drift[0];
        for (int t = 1; t < b->dim && t < 3; t++) bias[b->row + t] = s->contacts[k].drift[t];
    }
}

/* [(problem, impulses, nu)] of the islands of a step, in STEP form. */
static PyObject* problems_of(const mor_step* step, int directions)
{
    PyObject* list = PyList_New(0);
    for (int i = 0; list && step && i < mor_step_island_count(step); i++) {
        const mor_system* s = mor_step_system(step, i);
        mor_arena* arena = mor_arena_create(NULL);
        double* bias = arena ? mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *bias) : NULL;
        PyObject* p = NULL;
        if (bias) {
            problem_bias(s, bias);
            mor_problem problem = mor_system_problem(s, directions, bias, arena, NULL);
            p = problem.form ? (PyObject*)problem_copy(&problem) : PyErr_NoMemory();
        } else PyErr_NoMemory();
        const mor_answer* answer = mor_step_answer(step, i);
        PyObject* row = p ? Py_BuildValue("(NNN)", p, array_copy(answer->impulses, s->row_count, 0),
                                          array_copy(answer->nu, s->dof, 0))
                          : NULL;
        mor_arena_destroy(arena);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* The problems of the last step, one per island. */
static PyObject* world_problems(PyObject* self, PyObject* args)
{
    World* w = (World*)self;
    int directions;
    if (!PyArg_ParseTuple(args, "i", &directions) || !world_open(w, false) || !check_directions(directions))
        return NULL;
    if (w->owner) return PyErr_SetString(py_error, "problems are read between steps"), NULL;
    return problems_of(mor_world_last_step(w->world), directions);
}

/* stored_problems(world of the laboratory, directions): the problems it was made with. */
static PyObject* stored_problems(PyObject* module, PyObject* args)
{
    (void)module;
    PyObject* capsule;
    int directions;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &directions) || !check_directions(directions)) return NULL;
    mor_world* world = PyCapsule_GetPointer(capsule, "moreau.world");
    if (!world) return NULL;
    return problems_of(mor_world_last_step(world), directions);
}

PyMethodDef method_functions[] = {
    { "register", register_method, METH_VARARGS, "" },
    { "list_methods", list_methods, METH_O, "" },
    { "applies", applies, METH_VARARGS, "" },
    { "stored_problems", stored_problems, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

PyMethodDef world_callback_methods[] = {
    { "_on", world_on, METH_VARARGS, "" },
    { "_observe", world_observe, METH_O, "" },
    { "_add_controller", add_controller, METH_VARARGS, "" },
    { "_problems", world_problems, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

bool callbacks_ready(PyObject* module)
{
    static PyType_Slot slots[] = { { Py_tp_methods, system_methods },
                                   { Py_tp_dealloc, system_dealloc },
                                   { Py_tp_doc, "What a formulation is given." },
                                   { 0, NULL } };
    static PyType_Spec spec = { "moreau._core.System", sizeof(System), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
    if (!add_type(module, "System", &spec, &system_type)) return false;
    mor_error error = { 0 };
    if (!remake_library(&error)) return true;
    py_raise(&error);
    return false;
}
