/* The extension module moreau._laboratory: recordings and benchmark problems, which need HDF5.
 *
 * It holds a library of its own, of the same build as that of moreau._core, and works on worlds of that module: the
 * library keeps no state outside of its objects. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "io/bpmd/bpmd.h"
#include "moreau/lab.h"

#include <stdlib.h>

static PyObject* bad_input;

static void* raise(const mor_error* error)
{
    PyErr_SetString(error->code == MOR_SYSTEM ? PyExc_OSError : bad_input, error->text);
    return NULL;
}

/* ---------------------------------------------------------------------------------- recording */

/* A world keeps its observers to its end: the tap stays, the recorder comes and goes. */
typedef struct tap {
    mor_recorder* recorder;
} tap;

static void observe(void* user, const mor_world* world, const mor_step_report* report)
{
    tap* t = user;
    if (t->recorder) mor_recorder_observe(t->recorder, world, report);
}

/* attach(world) -> tap */
static PyObject* attach(PyObject* module, PyObject* capsule)
{
    (void)module;
    mor_world* world = PyCapsule_GetPointer(capsule, "moreau.world");
    tap* t = world ? calloc(1, sizeof *t) : NULL;
    if (!t) return world ? PyErr_NoMemory() : NULL;
    mor_error error = { 0 };
    if (mor_world_add_observer(world, observe, t, &error)) return free(t), raise(&error);
    return PyCapsule_New(t, "moreau.tap", NULL); /* freed with the world's other observers: never before the program */
}

/* start(tap, path, world, scene) */
static PyObject* start(PyObject* module, PyObject* args)
{
    (void)module;
    PyObject *a, *b, *c;
    const char* path;
    if (!PyArg_ParseTuple(args, "OsOO", &a, &path, &b, &c)) return NULL;
    tap* t = PyCapsule_GetPointer(a, "moreau.tap");
    mor_world* world = t ? PyCapsule_GetPointer(b, "moreau.world") : NULL;
    mor_scene* scene = world ? PyCapsule_GetPointer(c, "moreau.scene") : NULL;
    if (!scene) return NULL;
    mor_error error = { 0 };
    if (t->recorder) return PyErr_SetString(bad_input, "this world is being recorded already"), NULL;
    t->recorder = mor_recorder_open(path, world, scene, &error);
    return t->recorder ? Py_NewRef(Py_None) : raise(&error);
}

/* stop(tap) */
static PyObject* stop(PyObject* module, PyObject* capsule)
{
    (void)module;
    tap* t = PyCapsule_GetPointer(capsule, "moreau.tap");
    if (!t) return NULL;
    mor_recorder* recorder = t->recorder;
    t->recorder = NULL;
    mor_error error = { 0 };
    if (recorder && mor_recorder_close(recorder, &error)) return raise(&error);
    Py_RETURN_NONE;
}

/* --------------------------------------------------------------------------------------- BPMD */

static void end_file(PyObject* capsule) { mor_bpmd_free(PyCapsule_GetPointer(capsule, "moreau.bpmd")); }
static void end_world(PyObject* capsule) { mor_world_destroy(PyCapsule_GetPointer(capsule, "moreau.world")); }

/* open_bpmd(path) -> (file, number of frames) */
static PyObject* open_bpmd(PyObject* module, PyObject* args)
{
    (void)module;
    const char* path;
    if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(path, &error);
    if (!file) return raise(&error);
    return Py_BuildValue("(Ni)", PyCapsule_New(file, "moreau.bpmd", end_file), mor_bpmd_count(file));
}

/* read_bpmd(file, index) -> a world of the frame */
static PyObject* read_bpmd(PyObject* module, PyObject* args)
{
    (void)module;
    PyObject* capsule;
    int index;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &index)) return NULL;
    mor_bpmd* file = PyCapsule_GetPointer(capsule, "moreau.bpmd");
    if (!file) return NULL;
    mor_error error = { 0 };
    mor_bpmd_frame frame = { 0 };
    mor_world* world = NULL;
    if (index < 0 || index >= mor_bpmd_count(file)) mor_fail(&error, MOR_BAD_INPUT, "the file has no frame %d", index);
    else if (!mor_bpmd_read(file, index, &frame, &error)) world = mor_bpmd_world(&frame, NULL, NULL, &error);
    mor_bpmd_frame_clear(&frame);
    return world ? PyCapsule_New(world, "moreau.world", end_world) : raise(&error);
}

static PyMethodDef functions[] = {
    { "attach", attach, METH_O, "" },
    { "start", start, METH_VARARGS, "" },
    { "stop", stop, METH_O, "" },
    { "open_bpmd", open_bpmd, METH_VARARGS, "" },
    { "read_bpmd", read_bpmd, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_laboratory", "Recordings and benchmark problems.", -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__laboratory(void)
{
    PyObject* m = PyModule_Create(&definition);
    PyObject* core = m ? PyImport_ImportModule("moreau._core") : NULL;
    bad_input = core ? PyObject_GetAttrString(core, "BadInput") : NULL;
    Py_XDECREF(core);
    if (bad_input) return m;
    Py_XDECREF(m);
    return NULL;
}
