/* The type World: a world of a scene, its steps, its state as live views.
 *
 * A view is a numpy array over memory that a Buffer owns and the World fills: when the property is read, and after
 * every step while somebody still holds the array. The Buffer lives as long as an array looks at it, whatever becomes
 * of the world. When bodies come or go the next read makes a new buffer; old arrays keep what they showed. */
#include "core.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PyTypeObject *world_type, *scene_type;

static unsigned long this_thread(void) { return (unsigned long)pthread_self(); }

bool world_open(World* w, bool change)
{
    if (!w->world) {
        PyErr_SetString(py_error, "this world is closed");
        return false;
    }
    if (w->threads > 1 && w->pid != getpid()) {
        PyErr_SetString(py_error, "this world has worker threads, which a fork does not copy; make worlds with threads "
                                  "in the child, or start it with multiprocessing's 'spawn'");
        return false;
    }
    if (w->owner && w->owner != this_thread()) {
        PyErr_SetString(py_error, "another thread is stepping this world; a world belongs to one thread at a time");
        return false;
    }
    if (change && w->owner && !w->in_user) {
        PyErr_SetString(py_error, "a world may not be changed while it steps, but for its user function");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------- scene */

/* Strings of a list; *words ends with NULL. Free with free(). */
static bool take_words(PyObject* list, const char*** words)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0) return false;
    *words = calloc((size_t)n + 1, sizeof **words);
    if (!*words) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!((*words)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL))) return free(*words), false;
    return true;
}

/* Scene(path, text, overrides): text None: the file. */
static PyObject* scene_new(PyTypeObject* type, PyObject* args, PyObject* keywords)
{
    (void)keywords;
    const char *path, *text;
    Py_ssize_t length;
    PyObject* overrides;
    if (!PyArg_ParseTuple(args, "sz#O!:Scene", &path, &text, &length, &PyList_Type, &overrides)) return NULL;
    const char** words;
    if (!take_words(overrides, &words)) return NULL;
    mor_error error = { 0 };
    const mor_library* library = methods_library();
    mor_scene* scene;
    Py_BEGIN_ALLOW_THREADS;
    mor_arithmetic host = mor_arithmetic_enter();
    scene = text ? mor_scene_parse(text, (size_t)length, path, words, library, &error)
                 : mor_scene_load(path, words, library, &error);
    mor_arithmetic_leave(host);
    Py_END_ALLOW_THREADS;
    free(words);
    if (!scene) return py_raise(&error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Scene* self = (Scene*)allocate(type, 0);
    if (self) self->scene = scene;
    else mor_scene_destroy(scene);
    return (PyObject*)self;
}

static void scene_dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    mor_scene_destroy(((Scene*)self)->scene);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

#define SCENE(self) (((Scene*)(self))->scene)
static PyObject* scene_name(PyObject* s, void* u) { return (void)u, PyUnicode_FromString(mor_scene_name(SCENE(s))); }
static PyObject* scene_text(PyObject* s, void* u) { return (void)u, PyUnicode_FromString(mor_scene_text(SCENE(s))); }
static PyObject* scene_notes(PyObject* s, void* u) { return (void)u, PyUnicode_FromString(mor_scene_notes(SCENE(s))); }
static PyObject* scene_end(PyObject* s, void* u) { return (void)u, PyFloat_FromDouble(mor_scene_end(SCENE(s))); }

static PyGetSetDef scene_getset[] = {
    { "name", scene_name, NULL, "What the scene is called.", NULL },
    { "text", scene_text, NULL, "The scene file as it was read.", NULL },
    { "notes", scene_notes, NULL, "Warnings of the reader, one per line.", NULL },
    { "end", scene_end, NULL, "When the run ends [s].", NULL },
    { 0 },
};
static PyType_Slot scene_slots[] = {
    { Py_tp_new, scene_new },
    { Py_tp_dealloc, scene_dealloc },
    { Py_tp_getset, scene_getset },
    { Py_tp_doc, "A scene as it was read: worlds are built of it." },
    { 0, NULL },
};
static PyType_Spec scene_spec = { "moreau._core.Scene", sizeof(Scene), 0, Py_TPFLAGS_DEFAULT, scene_slots };

/* -------------------------------------------------------------------------------- making, ending */

static int world_init(PyObject* self, PyObject* args, PyObject* keywords)
{
    (void)keywords;
    World* w = (World*)self;
    PyObject* scene;
    int threads;
    if (!PyArg_ParseTuple(args, "O!i:World", scene_type, &scene, &threads)) return -1;
    if (w->world) return PyErr_SetString(py_error, "this world is there already"), -1;
    if (threads < 1 || threads > 256) return PyErr_SetString(py_bad_input, "threads: expected 1 to 256"), -1;
    mor_error error = { 0 };
    Py_BEGIN_ALLOW_THREADS;
    mor_arithmetic host = mor_arithmetic_enter();
    w->world = mor_scene_build(SCENE(scene), threads, &error);
    mor_arithmetic_leave(host);
    Py_END_ALLOW_THREADS;
    if (!w->world) return py_raise(&error), -1;
    w->scene = (Scene*)Py_NewRef(scene);
    w->threads = threads;
    w->pid = getpid();
    w->keep = PyList_New(0);
    return w->keep ? 0 : -1;
}

static int world_traverse(PyObject* self, visitproc visit, void* arg)
{
    World* w = (World*)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(w->user);
    Py_VISIT(w->collide);
    Py_VISIT(w->formulation);
    Py_VISIT(w->observers);
    Py_VISIT(w->controls);
    Py_VISIT(w->keep);
    for (int i = 0; i < VIEWS; i++) Py_VISIT(w->views[i].array);
    return 0;
}

/* Drops what Python functions the world holds; afterwards none is called. */
static int world_clear(PyObject* self)
{
    World* w = (World*)self;
    Py_CLEAR(w->user);
    Py_CLEAR(w->collide);
    Py_CLEAR(w->formulation);
    Py_CLEAR(w->observers);
    methods_forget(w->keep);
    Py_CLEAR(w->controls);
    for (int i = 0; i < VIEWS; i++) {
        Py_CLEAR(w->views[i].array);
        Py_CLEAR(w->views[i].buffer);
    }
    return 0;
}

static void end_world(World* w)
{
    /* in a forked child the workers are gone and cannot be waited for */
    if (w->world && !(w->threads > 1 && w->pid != getpid())) mor_world_destroy(w->world);
    w->world = NULL;
    Py_CLEAR(w->scene);
    Py_CLEAR(w->keep);
}

static void world_dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    world_clear(self);
    end_world((World*)self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject* world_close(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!w->world) Py_RETURN_NONE;
    if (!world_open(w, false)) return NULL;
    if (w->owner) return PyErr_SetString(py_error, "a world may not be closed while it steps"), NULL;
    world_clear(self);
    end_world(w);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------- views */

static void view_shape(const World* w, int kind, Py_ssize_t shape[2])
{
    int bodies = mor_world_body_count(w->world);
    shape[0] = kind == VIEW_Q ? mor_world_q_count(w->world) : kind == VIEW_V ? mor_world_nu_count(w->world) : bodies;
    shape[1] = kind == VIEW_POSES ? 7 : kind == VIEW_VELOCITIES ? 6 : 0;
}

static mor_code view_fill(const World* w, int kind, double* data, int size, mor_error* error)
{
    switch (kind) {
    case VIEW_Q:
        return mor_world_get_q(w->world, data, size, error);
    case VIEW_V:
        return mor_world_get_nu(w->world, data, size, error);
    case VIEW_POSES:
        return mor_world_get_poses(w->world, data, size, error);
    default:
        return mor_world_get_velocities(w->world, data, size, error);
    }
}

static int view_size(const Buffer* b) { return (int)(b->shape[0] * (b->ndim == 2 ? b->shape[1] : 1)); }

/* The array of a view with the state as it is now; a new reference. */
static PyObject* view_get(World* w, int kind)
{
    if (!world_open(w, false)) return NULL;
    Py_ssize_t shape[2];
    view_shape(w, kind, shape);
    Buffer* b = w->views[kind].buffer;
    if (!b || b->shape[0] != shape[0]) {
        b = buffer_new(NULL, NULL, 'd', shape[1] ? 2 : 1, shape, false);
        PyObject* array = b ? array_of((Buffer*)Py_NewRef((PyObject*)b)) : NULL;
        if (!array) {
            Py_XDECREF((PyObject*)b);
            return NULL;
        }
        Py_XDECREF((PyObject*)w->views[kind].buffer);
        Py_XDECREF(w->views[kind].array);
        w->views[kind].buffer = b;
        w->views[kind].array = array;
    }
    mor_error error = { 0 };
    if (view_fill(w, kind, b->data, view_size(b), &error)) return py_raise(&error);
    return Py_NewRef(w->views[kind].array);
}

void world_refresh(World* w, bool all)
{
    for (int i = 0; i < VIEWS; i++) {
        PyObject* array = w->views[i].array;
        if (!array || (!all && Py_REFCNT(array) == 1)) continue; /* nobody looks */
        Buffer* b = w->views[i].buffer;
        view_fill(w, i, b->data, view_size(b), NULL); /* another size: bodies came or went, the old array stays */
    }
}

static int view_set(World* w, PyObject* value, int kind)
{
    static const char* const names[] = { "q", "v", "poses", "velocities" };
    if (!value) return PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", names[kind]), -1;
    Numbers n;
    if (!world_open(w, true) || !numbers_take(value, names[kind], -1, &n)) return -1;
    mor_error error = { 0 };
    int size = n.count > 1 << 30 ? -1 : (int)n.count;
    mor_code code = kind == VIEW_Q       ? mor_world_set_q(w->world, n.data, size, &error)
                    : kind == VIEW_V     ? mor_world_set_nu(w->world, n.data, size, &error)
                    : kind == VIEW_POSES ? mor_world_set_poses(w->world, n.data, size, &error)
                                         : mor_world_set_velocities(w->world, n.data, size, &error);
    numbers_free(&n);
    if (code) return py_raise(&error), -1;
    world_refresh(w, false);
    return 0;
}

static PyObject* get_view(PyObject* s, void* kind) { return view_get((World*)s, (int)(intptr_t)kind); }
static int set_view(PyObject* s, PyObject* value, void* kind)
{
    return view_set((World*)s, value, (int)(intptr_t)kind);
}

/* One contact as numpy sees it: moreau._world.CONTACT says the same. */
typedef struct contact_row {
    int32_t bodies[2];
    double point[3], normal[3], gap, impulse[3];
    int32_t state, spare;
} contact_row;

static PyObject* world_contacts(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    int m = mor_world_contact_count(w->world);
    Buffer* b = buffer_new(NULL, NULL, 'B', 1, (Py_ssize_t[1]){ m * (Py_ssize_t)sizeof(contact_row) }, false);
    double* columns = malloc(((size_t)m + 1) * 10 * sizeof(double));
    int32_t* numbers = malloc(((size_t)m + 1) * 3 * sizeof(int32_t));
    if (!b || !columns || !numbers) {
        free(columns);
        free(numbers);
        Py_XDECREF((PyObject*)b);
        return PyErr_NoMemory();
    }
    mor_contact_columns c = { .bodies = numbers,
                              .states = numbers + 2 * m,
                              .points = columns,
                              .normals = columns + 3 * m,
                              .impulses = columns + 6 * m,
                              .gaps = columns + 9 * m };
    mor_world_get_contacts(w->world, &c, m, NULL);
    contact_row* rows = b->data;
    for (int i = 0; i < m; i++) {
        rows[i] = (contact_row){ .gap = c.gaps[i], .state = c.states[i] };
        memcpy(rows[i].bodies, c.bodies + 2 * i, sizeof rows[i].bodies);
        memcpy(rows[i].point, c.points + 3 * i, sizeof rows[i].point);
        memcpy(rows[i].normal, c.normals + 3 * i, sizeof rows[i].normal);
        memcpy(rows[i].impulse, c.impulses + 3 * i, sizeof rows[i].impulse);
    }
    free(columns);
    free(numbers);
    return (PyObject*)b;
}

/* ------------------------------------------------------------------------------------- steps */

/* n steps without the lock; comes back now and then so that Ctrl-C works. */
static mor_code advance(World* w, long n, const Call* call, mor_error* error, bool* interrupted)
{
    mor_code code = MOR_OK;
    while (n > 0 && !code && !call->type && !*interrupted) {
        Py_BEGIN_ALLOW_THREADS;
        mor_arithmetic host = mor_arithmetic_enter();
        double until = n > 1 ? mor_clock() + 0.05 : 0.0;
        do code = mor_world_step(w->world, &w->report, error);
        while (--n > 0 && !code && !call->type && mor_clock() < until);
        mor_arithmetic_leave(host);
        Py_END_ALLOW_THREADS;
        if (n > 0 && PyErr_CheckSignals()) *interrupted = true;
    }
    return code;
}

static PyObject* world_step(PyObject* self, PyObject* const* args, Py_ssize_t count)
{
    World* w = (World*)self;
    long n = 1;
    if (count > 1) return PyErr_SetString(PyExc_TypeError, "step takes one number"), NULL;
    if (count == 1 && (n = PyLong_AsLong(args[0])) == -1 && PyErr_Occurred()) return NULL;
    if (n < 0) return PyErr_SetString(py_bad_input, "the number of steps is negative"), NULL;
    if (!world_open(w, false)) return NULL;
    if (w->owner) return PyErr_SetString(py_error, "a world cannot step within its own step"), NULL;
    mor_error error;
    error.text[0] = '\0';
    bool interrupted = false;
    Call call;
    call_begin(&call);
    w->owner = this_thread();
    mor_code code = advance(w, n, &call, &error, &interrupted);
    w->owner = 0;
    w->in_user = false;
    world_refresh(w, false);
    if (interrupted) { /* the interruption tells; what callbacks raised is dropped */
        PyObject *t, *v, *tb;
        PyErr_Fetch(&t, &v, &tb);
        if (call_end(&call, w->threads > 1)) PyErr_Clear();
        PyErr_Restore(t, v, tb);
        return NULL;
    }
    if (call_end(&call, w->threads > 1)) return NULL;
    if (code) return py_raise(&error);
    Py_RETURN_NONE;
}

/* advance_to(time): whole steps to the nearest instant; variable steps end at it */
static PyObject* world_advance_to(PyObject* self, PyObject* time)
{
    World* w = (World*)self;
    double end = PyFloat_AsDouble(time);
    if (PyErr_Occurred() || !world_open(w, false)) return NULL;
    if (!isfinite(end)) return PyErr_SetString(py_bad_input, "the time is not finite"), NULL;
    PyObject* one = PyLong_FromLong(1);
    while (one && !mor_world_reached(w->world, end)) {
        mor_world_limit_step(w->world, end);
        PyObject* said = world_step(self, &one, 1);
        if (!said || PyErr_CheckSignals()) {
            Py_XDECREF(said);
            Py_DECREF(one);
            return NULL;
        }
        Py_DECREF(said);
    }
    Py_XDECREF(one);
    Py_RETURN_NONE;
}

static PyObject* world_save(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    World* w = (World*)self;
    if (!world_open(w, false)) return NULL;
    size_t size = mor_world_save(w->world, NULL, 0);
    PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) mor_world_save(w->world, PyBytes_AsString(bytes), size);
    return bytes;
}

static PyObject* world_restore(PyObject* self, PyObject* snapshot)
{
    World* w = (World*)self;
    char* data;
    Py_ssize_t size;
    if (!world_open(w, true) || PyBytes_AsStringAndSize(snapshot, &data, &size)) return NULL;
    mor_error error = { 0 };
    if (mor_world_restore(w->world, data, (size_t)size, &error)) return py_raise(&error);
    world_refresh(w, false);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------------------- measures */

PyObject* hash_text(uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return PyUnicode_FromString(text);
}

#define READ(name, make)                                                                                               \
    static PyObject* name(PyObject* self, void* unused)                                                                \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        World* w = (World*)self;                                                                                       \
        return world_open(w, false) ? make : NULL;                                                                     \
    }
READ(get_time, PyFloat_FromDouble(mor_world_time(w->world)))
READ(get_h, PyFloat_FromDouble(mor_world_get_step(w->world)))
READ(get_steps, PyLong_FromLong(mor_world_step_count(w->world)))
READ(get_dimension, PyLong_FromLong(mor_world_dimension(w->world)))
READ(get_kinetic, PyFloat_FromDouble(mor_world_kinetic_energy(w->world)))
READ(get_potential, PyFloat_FromDouble(mor_world_potential_energy(w->world)))
READ(get_penetration, PyFloat_FromDouble(mor_world_penetration(w->world)))
READ(get_joint_error, PyFloat_FromDouble(mor_world_joint_error(w->world)))
READ(get_hash, hash_text(mor_world_hash(w->world)))
READ(get_gravity, array_copy(&(double[3]){ mor_world_gravity(w->world).x, mor_world_gravity(w->world).y,
                                           mor_world_gravity(w->world).z }[0],
                             3, 0))
READ(get_scene, Py_NewRef((PyObject*)w->scene))
READ(get_busy, PyBool_FromLong(w->owner != 0))

static PyObject* get_momentum(PyObject* self, void* unused)
{
    (void)unused;
    World* w = (World*)self;
    double p[6];
    if (!world_open(w, false)) return NULL;
    mor_world_momentum(w->world, p);
    return array_copy(p, 6, 0);
}

static int set_h(PyObject* self, PyObject* value, void* unused)
{
    (void)unused;
    World* w = (World*)self;
    double h = value ? PyFloat_AsDouble(value) : -1.0;
    if (PyErr_Occurred() || !world_open(w, true)) return -1;
    if (!(h > 0.0) || !isfinite(h)) return PyErr_SetString(py_bad_input, "the step must be a positive time [s]"), -1;
    mor_world_set_step(w->world, h);
    return 0;
}

static int set_gravity(PyObject* self, PyObject* value, void* unused)
{
    (void)unused;
    World* w = (World*)self;
    mor_vec3 g;
    if (!value || !world_open(w, true) || !take_vec3(value, "gravity", &g)) return -1;
    mor_world_set_gravity(w->world, g);
    return 0;
}

static PyObject* get_report(PyObject* self, void* unused)
{
    (void)unused;
    World* w = (World*)self;
    const mor_step_report* r = &w->report;
    const mor_timing* t = &r->timing;
    return Py_BuildValue("{s:i,s:d,s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:s,s:{s:d,s:d,"
                         "s:d,s:d,s:d,s:d,s:d,"
                         "s:d}}",
                         "step", r->step, "time", r->time, "status", mor_status_name(r->status), "failures",
                         r->failures, "below_goal", r->below_goal, "islands", r->islands, "contacts", r->contacts,
                         "problem_size", r->problem_size, "iterations", r->iterations, "residual", r->residual,
                         "velocity_error", r->velocity_error, "penetration", r->penetration, "raw_penetration",
                         r->raw_penetration, "projection_work", r->projection_work, "correction_work",
                         r->correction_work, "contact_work", r->contact_work, "applied_work", r->applied_work,
                         "kinetic", r->kinetic, "potential", r->potential, "detail", r->detail, "timing", "total",
                         t->total, "user", t->user, "collision", t->collision, "assemble", t->assemble, "formulate",
                         t->formulate, "solve", t->solve, "integrate", t->integrate, "record", t->record);
}

static PyGetSetDef world_getset[] = {
    { "q", get_view, set_view,
      "Generalised coordinates (live view): free bodies (centre of mass [m], quaternion), then robots.",
      (void*)VIEW_Q },
    { "v", get_view, set_view, "Generalised velocities (live view) [m/s, rad/s].", (void*)VIEW_V },
    { "poses", get_view, set_view, "n x 7 (live view): position of every body frame [m], quaternion w x y z.",
      (void*)VIEW_POSES },
    { "velocities", get_view, set_view,
      "n x 6 (live view): velocity of the centre of mass [m/s], angular velocity [rad/s], world axes.",
      (void*)VIEW_VELOCITIES },
    { "time", get_time, NULL, "Time now [s].", NULL },
    { "h", get_h, set_h, "Length of a step [s].", NULL },
    { "steps", get_steps, NULL, "Steps taken so far.", NULL },
    { "dimension", get_dimension, NULL, "3 or 2.", NULL },
    { "gravity", get_gravity, set_gravity, "Acceleration of free fall [m/s^2].", NULL },
    { "kinetic_energy", get_kinetic, NULL, "Of bodies and robots now [J].", NULL },
    { "potential_energy", get_potential, NULL, "Of gravity and springs now [J].", NULL },
    { "momentum", get_momentum, NULL, "Linear [kg m/s] and angular momentum about the origin [kg m^2/s].", NULL },
    { "penetration", get_penetration, NULL, "Deepest overlap now [m].", NULL },
    { "joint_error", get_joint_error, NULL, "Largest violation of a joint now [m, rad].", NULL },
    { "state_hash", get_hash, NULL,
      "Hash of all positions and velocities, bit for bit, as `moreau run --json` says it.", NULL },
    { "report", get_report, NULL, "What the last step did: status, iterations, errors, works [J], times [s].", NULL },
    { "scene", get_scene, NULL, "The scene it was built of.", NULL },
    { "stepping", get_busy, NULL, "True within a step: in callbacks.", NULL },
    { 0 },
};

static PyMethodDef world_methods[] = {
    { "step", (PyCFunction)(void (*)(void))world_step, METH_FASTCALL,
      "step(n=1)\n--\n\nTakes n steps of length h. Raises NotSolved when a step is not solved (the world is then as "
      "before "
      "it), and what a callback raised." },
    { "advance_to", world_advance_to, METH_O,
      "advance_to(time)\n--\n\nSteps until the time [s] is reached: to the nearest step, or exactly with `step: "
      "adaptive`." },
    { "_contacts", world_contacts, METH_NOARGS, "" },
    { "save", world_save, METH_NOARGS,
      "save()\n--\n\nThe whole state as bytes: restore() continues bit for bit in a world of the same scene." },
    { "restore", world_restore, METH_O, "restore(snapshot)\n--\n\nPuts back what save() gave." },
    { "close", world_close, METH_NOARGS, "close()\n--\n\nFrees the world now. Arrays that were taken from it stay." },
    { NULL, NULL, 0, NULL },
};

bool world_ready(PyObject* module)
{
    if (!add_type(module, "Scene", &scene_spec, &scene_type)) return false;
    static PyMethodDef all[64];
    int n = 0;
    PyMethodDef* const lists[] = { world_methods, world_edit_methods, world_callback_methods,
                                   world_derivative_methods };
    for (int k = 0; k < 4; k++)
        for (PyMethodDef* m = lists[k]; m->ml_name; m++) all[n++] = *m;
    static PyType_Slot slots[] = {
        { Py_tp_init, world_init },
        { Py_tp_dealloc, world_dealloc },
        { Py_tp_traverse, world_traverse },
        { Py_tp_clear, world_clear },
        { Py_tp_methods, all },
        { Py_tp_getset, world_getset },
        { Py_tp_new, PyType_GenericNew },
        { Py_tp_doc, "A world; moreau.World is made of it." },
        { 0, NULL },
    };
    static PyType_Spec spec = { "moreau._core.World", sizeof(World), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots };
    return add_type(module, "World", &spec, &world_type);
}
