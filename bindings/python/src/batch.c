/* The type Batch: many worlds of one scene, stepped by all cores.
 *
 * The worlds are dealt to threads one by one as they come free; each world is stepped by one thread, so its bits do not
 * depend on how many there are. Threads live for one call: nothing is left that a fork could lose. */
#include "core.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Batch {
    PyObject_HEAD Scene* scene;
    mor_world** worlds;
    int count, threads, joints, bodies;
    void* start; /* snapshot of the initial state */
    size_t start_size;
    Buffer* buffers[VIEWS]; /* count x nq, count x nv, count x bodies x 7, count x bodies x 6 */
    PyObject* arrays[VIEWS];
    int32_t* codes;
    char (*texts)[256];
    bool busy;
} Batch;
static PyTypeObject* batch_type;

static void batch_dealloc(PyObject* self)
{
    Batch* b = (Batch*)self;
    PyTypeObject* type = Py_TYPE(self);
    for (int i = 0; i < b->count; i++) mor_world_destroy(b->worlds[i]);
    free(b->worlds);
    free(b->start);
    free(b->codes);
    free(b->texts);
    for (int i = 0; i < VIEWS; i++) {
        Py_XDECREF(b->arrays[i]);
        Py_XDECREF((PyObject*)b->buffers[i]);
    }
    Py_XDECREF((PyObject*)b->scene);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool make_views(Batch* b)
{
    const mor_world* w = b->worlds[0];
    Py_ssize_t n = b->count;
    Py_ssize_t shapes[VIEWS][3] = {
        { n, mor_world_q_count(w) }, { n, mor_world_nu_count(w) }, { n, b->bodies, 7 }, { n, b->bodies, 6 }
    };
    for (int i = 0; i < VIEWS; i++) {
        b->buffers[i] = buffer_new(NULL, NULL, 'd', i < VIEW_POSES ? 2 : 3, shapes[i], false);
        if (!b->buffers[i]) return false;
        b->arrays[i] = array_of((Buffer*)Py_NewRef((PyObject*)b->buffers[i]));
        if (!b->arrays[i]) return false;
    }
    return true;
}

/* Batch(scene, count, threads) */
static int batch_init(PyObject* self, PyObject* args, PyObject* keywords)
{
    (void)keywords;
    Batch* b = (Batch*)self;
    PyObject* scene;
    int count, threads;
    if (!PyArg_ParseTuple(args, "O!ii:Batch", scene_type, &scene, &count, &threads)) return -1;
    if (b->worlds || count < 1 || threads < 1 || threads > 1024)
        return PyErr_SetString(py_bad_input, "a batch has at least one world and 1 to 1024 threads"), -1;
    b->scene = (Scene*)Py_NewRef(scene);
    b->worlds = calloc((size_t)count, sizeof *b->worlds);
    b->codes = calloc((size_t)count, sizeof *b->codes);
    b->texts = calloc((size_t)count, sizeof *b->texts);
    if (!b->worlds || !b->codes || !b->texts) return PyErr_NoMemory(), -1;
    b->threads = threads;
    mor_error error = { 0 };
    mor_arithmetic host = mor_arithmetic_enter();
    for (; b->count < count; b->count++)
        if (!(b->worlds[b->count] = mor_scene_build(b->scene->scene, 1, &error))) break;
    mor_arithmetic_leave(host);
    if (b->count < count) return py_raise(&error), -1;
    b->bodies = mor_world_body_count(b->worlds[0]);
    for (int r = 0; r < mor_world_robot_count(b->worlds[0]); r++)
        b->joints += mor_robot_joint_count(mor_world_robot_model(b->worlds[0], r));
    b->start_size = mor_world_save(b->worlds[0], NULL, 0);
    b->start = malloc(b->start_size);
    if (!b->start) return PyErr_NoMemory(), -1;
    mor_world_save(b->worlds[0], b->start, b->start_size);
    return make_views(b) ? 0 : -1;
}

/* ------------------------------------------------------------------------------------- the work */

typedef struct job {
    Batch* b;
    int steps;
    const double* tau;    /* count x joints, held over the steps, or NULL */
    const double* forces; /* count x bodies x 6: force at the centre of mass and torque, or NULL */
    bool poses;           /* fill poses and velocities too */
    atomic_int next;
} job;

static void fill(Batch* b, int i, bool poses)
{
    const mor_world* w = b->worlds[i];
    for (int k = 0; k < (poses ? VIEWS : VIEW_POSES); k++) {
        Py_ssize_t size = b->buffers[k]->shape[1] * (k < VIEW_POSES ? 1 : b->buffers[k]->shape[2]);
        double* x = (double*)b->buffers[k]->data + i * size;
        if (k == VIEW_Q) mor_world_get_q(w, x, (int)size, NULL);
        else if (k == VIEW_V) mor_world_get_nu(w, x, (int)size, NULL);
        else if (k == VIEW_POSES) mor_world_get_poses(w, x, (int)size, NULL);
        else mor_world_get_velocities(w, x, (int)size, NULL);
    }
}

static void apply(const job* j, int i)
{
    mor_world* w = j->b->worlds[i];
    const double* tau = j->tau ? j->tau + (size_t)i * (size_t)j->b->joints : NULL;
    for (int r = 0; tau && r < mor_world_robot_count(w); r++) {
        mor_world_robot_apply(w, r, tau);
        tau += mor_robot_joint_count(mor_world_robot_model(w, r));
    }
    const double* f = j->forces ? j->forces + (size_t)i * (size_t)j->b->bodies * 6 : NULL;
    for (int k = 0; f && k < j->b->bodies; k++, f += 6) {
        mor_body_id id = mor_world_body(w, k);
        if (f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0)
            mor_body_apply(w, id, mor_v3(f[0], f[1], f[2]), mor_body_get_state(w, id).com);
        if (f[3] != 0.0 || f[4] != 0.0 || f[5] != 0.0) mor_body_apply_torque(w, id, mor_v3(f[3], f[4], f[5]));
    }
}

static void* work(void* user)
{
    job* j = user;
    Batch* b = j->b;
    mor_arithmetic host = mor_arithmetic_enter();
    for (int i; (i = atomic_fetch_add(&j->next, 1)) < b->count;) {
        mor_error error = { 0 };
        mor_code code = MOR_OK;
        for (int k = 0; k < j->steps && !code; k++) {
            apply(j, i);
            code = mor_world_step(b->worlds[i], NULL, &error);
        }
        b->codes[i] = code;
        if (code) snprintf(b->texts[i], sizeof b->texts[i], "%.255s", error.text);
        fill(b, i, j->poses);
    }
    mor_arithmetic_leave(host);
    return NULL;
}

static void run_job(job* j)
{
    int threads = j->b->threads < j->b->count ? j->b->threads : j->b->count, made = 0;
    pthread_t* ids = threads > 1 ? malloc((size_t)threads * sizeof *ids) : NULL;
    while (ids && made < threads - 1 && pthread_create(&ids[made], NULL, work, j) == 0) made++;
    work(j); /* this thread works too, so a thread that could not be made costs only time */
    for (int i = 0; i < made; i++) pthread_join(ids[i], NULL);
    free(ids);
}

static bool batch_open(Batch* b)
{
    bool made = b->arrays[VIEWS - 1] != NULL;
    if (!made) PyErr_SetString(py_error, "this batch was not made");
    else if (b->busy) PyErr_SetString(py_error, "another thread is stepping this batch");
    return made && !b->busy;
}

static bool all_finite(const Numbers* n)
{
    for (Py_ssize_t i = 0; i < n->count; i++)
        if (!isfinite(n->data[i])) return PyErr_SetString(py_bad_input, "a torque or force is not finite"), false;
    return true;
}

/* step(n, tau or None, forces or None, poses): how many worlds did not come to the end */
static PyObject* batch_step(PyObject* self, PyObject* args)
{
    Batch* b = (Batch*)self;
    PyObject *tau, *forces;
    int poses;
    job j = { .b = b };
    if (!PyArg_ParseTuple(args, "iOOp", &j.steps, &tau, &forces, &poses) || !batch_open(b)) return NULL;
    Numbers nt = { 0 }, nf = { 0 };
    bool ok =
        (tau == Py_None || (numbers_take(tau, "tau", (Py_ssize_t)b->count * b->joints, &nt) && all_finite(&nt))) &&
        (forces == Py_None ||
         (numbers_take(forces, "forces", (Py_ssize_t)b->count * b->bodies * 6, &nf) && all_finite(&nf)));
    long failed = 0;
    bool raised = false;
    if (ok) {
        j.tau = nt.held ? nt.data : NULL;
        j.forces = nf.held ? nf.data : NULL;
        j.poses = poses;
        Call call;
        call_begin(&call);
        b->busy = true;
        Py_BEGIN_ALLOW_THREADS;
        run_job(&j);
        Py_END_ALLOW_THREADS;
        b->busy = false;
        raised = call_end(&call, true);
        for (int i = 0; i < b->count; i++) failed += b->codes[i] != 0;
    }
    numbers_free(&nt);
    numbers_free(&nf);
    return ok && !raised ? PyLong_FromLong(failed) : NULL;
}

static PyObject* batch_view(PyObject* self, void* kind)
{
    Batch* b = (Batch*)self;
    if (!batch_open(b)) return NULL;
    for (int i = 0; i < b->count; i++) fill(b, i, (intptr_t)kind >= VIEW_POSES);
    return Py_NewRef(b->arrays[(intptr_t)kind]);
}

static int batch_set(PyObject* self, PyObject* value, void* kind)
{
    Batch* b = (Batch*)self;
    Buffer* to = b->buffers[(intptr_t)kind];
    Py_ssize_t size = to->shape[1] * (to->ndim == 3 ? to->shape[2] : 1);
    Numbers n;
    if (!value || !batch_open(b) || !numbers_take(value, "state of a batch", b->count * size, &n)) return -1;
    mor_error error = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < b->count && !code; i++) {
        const double* x = n.data + i * size;
        code = (intptr_t)kind == VIEW_Q       ? mor_world_set_q(b->worlds[i], x, (int)size, &error)
               : (intptr_t)kind == VIEW_V     ? mor_world_set_nu(b->worlds[i], x, (int)size, &error)
               : (intptr_t)kind == VIEW_POSES ? mor_world_set_poses(b->worlds[i], x, (int)size, &error)
                                              : mor_world_set_velocities(b->worlds[i], x, (int)size, &error);
    }
    numbers_free(&n);
    return code ? (py_raise(&error), -1) : 0;
}

static bool number_of_world(Batch* b, int i)
{
    if (i >= 0 && i < b->count) return true;
    PyErr_Format(PyExc_IndexError, "a batch of %d worlds has no world %d", b->count, i);
    return false;
}

static PyObject* batch_save(PyObject* self, PyObject* args)
{
    Batch* b = (Batch*)self;
    int i;
    if (!PyArg_ParseTuple(args, "i", &i) || !batch_open(b) || !number_of_world(b, i)) return NULL;
    size_t size = mor_world_save(b->worlds[i], NULL, 0);
    PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) mor_world_save(b->worlds[i], PyBytes_AsString(bytes), size);
    return bytes;
}

/* restore(i, bytes or None: the initial state) */
static PyObject* batch_restore(PyObject* self, PyObject* args)
{
    Batch* b = (Batch*)self;
    int i;
    const char* data;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "iz#", &i, &data, &size) || !batch_open(b) || !number_of_world(b, i)) return NULL;
    mor_error error = { 0 };
    const void* from = data ? (const void*)data : b->start;
    if (mor_world_restore(b->worlds[i], from, data ? (size_t)size : b->start_size, &error)) return py_raise(&error);
    b->codes[i] = 0;
    Py_RETURN_NONE;
}

static PyObject* batch_bus(PyObject* self, PyObject* name)
{
    Batch* b = (Batch*)self;
    const char* word = PyUnicode_AsUTF8AndSize(name, NULL);
    mor_bus_channel c;
    if (!word || !batch_open(b)) return NULL;
    int k = mor_bus_find(b->worlds[0], word);
    if (k < 0 || !mor_bus_channel_at(b->worlds[0], k, &c))
        return PyErr_Format(py_bad_input, "there is no channel '%s' on the output bus", word);
    double* x;
    PyObject* a = array_new2(b->count, c.rows * c.cols, &x);
    for (int i = 0; a && i < b->count; i++) mor_bus_read(b->worlds[i], k, x + i * c.rows * c.cols);
    return a;
}

static PyObject* batch_status(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    Batch* b = (Batch*)self;
    PyObject* list = PyList_New(b->count);
    for (int i = 0; list && i < b->count; i++) {
        PyObject* text =
            PyUnicode_DecodeUTF8(b->texts[i], b->codes[i] ? (Py_ssize_t)strlen(b->texts[i]) : 0, "replace");
        if (!text || PyList_SetItem(list, i, text)) Py_CLEAR(list);
    }
    return list;
}

static PyObject* batch_hash(PyObject* self, PyObject* args)
{
    Batch* b = (Batch*)self;
    int i;
    if (!PyArg_ParseTuple(args, "i", &i) || !batch_open(b) || !number_of_world(b, i)) return NULL;
    return hash_text(mor_world_hash(b->worlds[i]));
}

#define B(self) ((Batch*)(self))
static PyObject* get_count(PyObject* s, void* u) { return (void)u, PyLong_FromLong(B(s)->count); }
static PyObject* get_joints(PyObject* s, void* u) { return (void)u, PyLong_FromLong(B(s)->joints); }
static PyObject* get_bodies(PyObject* s, void* u) { return (void)u, PyLong_FromLong(B(s)->bodies); }
static PyObject* get_threads(PyObject* s, void* u) { return (void)u, PyLong_FromLong(B(s)->threads); }
static PyObject* get_time(PyObject* s, void* u)
{
    (void)u;
    return batch_open(B(s)) ? PyFloat_FromDouble(mor_world_time(B(s)->worlds[0])) : NULL;
}
static PyObject* get_h(PyObject* s, void* u)
{
    (void)u;
    return batch_open(B(s)) ? PyFloat_FromDouble(mor_world_get_step(B(s)->worlds[0])) : NULL;
}

static PyGetSetDef batch_getset[] = {
    { "q", batch_view, batch_set, "n x nq: coordinates of all worlds (live view).", (void*)VIEW_Q },
    { "v", batch_view, batch_set, "n x nv: velocities of all worlds (live view).", (void*)VIEW_V },
    { "poses", batch_view, batch_set, "n x bodies x 7 (live view).", (void*)VIEW_POSES },
    { "velocities", batch_view, batch_set, "n x bodies x 6 (live view).", (void*)VIEW_VELOCITIES },
    { "n", get_count, NULL, "Number of worlds.", NULL },
    { "joint_count", get_joints, NULL, "Joints of all robots of one world.", NULL },
    { "body_count", get_bodies, NULL, "Bodies of one world.", NULL },
    { "threads", get_threads, NULL, "Threads that step them.", NULL },
    { "time", get_time, NULL, "Time of the first world [s].", NULL },
    { "h", get_h, NULL, "Length of a step [s].", NULL },
    { 0 },
};
static PyMethodDef batch_methods[] = {
    { "_step", batch_step, METH_VARARGS, "" },
    { "_save", batch_save, METH_VARARGS, "" },
    { "_restore", batch_restore, METH_VARARGS, "" },
    { "_bus", batch_bus, METH_O, "" },
    { "_errors", batch_status, METH_NOARGS, "" },
    { "_hash", batch_hash, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

bool batch_ready(PyObject* module)
{
    static PyType_Slot slots[] = {
        { Py_tp_new, PyType_GenericNew },
        { Py_tp_init, batch_init },
        { Py_tp_dealloc, batch_dealloc },
        { Py_tp_methods, batch_methods },
        { Py_tp_getset, batch_getset },
        { Py_tp_doc, "Many worlds; moreau.Batch is made of it." },
        { 0, NULL },
    };
    static PyType_Spec spec = { "moreau._core.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                slots };
    return add_type(module, "Batch", &spec, &batch_type);
}
