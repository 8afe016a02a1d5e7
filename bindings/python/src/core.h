/* The extension module moreau._core: what its files share.
 *
 * Only the limited API of CPython 3.11 and the buffer protocol, no header of numpy: one binary serves every later
 * CPython and every numpy. Arrays come in as anything that numpy makes float64 of, and go out as numpy arrays over
 * memory that a Buffer owns.
 *
 * Interpreter lock: long calls (step, solve, build) release it. A world belongs to one thread at a time: `world_open`
 * refuses a second one with an exception. Callbacks take the lock and note an exception in the Call of their thread;
 * whoever began the call raises it. */
#ifndef MOREAU_PYTHON_CORE_H
#define MOREAU_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>
#include <sys/types.h>

#include "moreau/moreau.h"

/* ------------------------------------------------------------------------------------ errors */

extern PyObject *py_error, *py_bad_input, *py_not_solved, *py_system_failure;
/* Raises the exception of a code with the sentence of the library; returns NULL. */
void* py_raise(const mor_error* error);

/* One call into the library, on the thread that made it: exceptions of callbacks wait here. */
typedef struct Call {
    PyObject *type, *value, *traceback; /* the first one */
    struct Call* outer;
} Call;
void call_begin(Call* call);
/* True and raised when a callback raised; `workers`: callbacks of worker threads count too. */
bool call_end(Call* call, bool workers);
/* Takes the present exception into the call of this thread, or aside if this is a worker. Holds the lock. */
void call_take_exception(char* sentence, size_t size);

/* ------------------------------------------------------------------------------------ arrays */

extern PyObject* py_numpy;

/* Memory that numpy looks at. Read-only unless `writable`. */
typedef struct Buffer {
    PyObject_HEAD void* data;
    PyObject* owner; /* keeps foreign memory alive; NULL: the memory is the buffer's own */
    Py_ssize_t shape[3], strides[3], item;
    int ndim;
    char format[2];
    bool writable;
} Buffer;
extern PyTypeObject* buffer_type;

/* A buffer with zeroed memory of its own (data NULL) or over memory that `owner` keeps. Shape and item size as told;
 * `column_major` for matrices of the library. */
Buffer* buffer_new(void* data, PyObject* owner, char format, int ndim, const Py_ssize_t* shape, bool column_major);
/* numpy.asarray(buffer); steals the reference. */
PyObject* array_of(Buffer* buffer);
/* New writable arrays: n numbers, or rows x cols; *data points into them. */
PyObject* array_new(Py_ssize_t n, double** data);
PyObject* array_new2(Py_ssize_t rows, Py_ssize_t cols, double** data);
/* A read-only array over foreign memory: vectors (cols 0) or matrices, row-major. */
PyObject* array_view(const double* data, Py_ssize_t rows, Py_ssize_t cols, PyObject* owner);
PyObject* array_copy(const double* data, Py_ssize_t rows, Py_ssize_t cols);

/* Numbers taken from any array-like: contiguous float64. `count` -1: any. Ends with `numbers_free`. */
typedef struct Numbers {
    Py_buffer view;
    const double* data;
    Py_ssize_t count;
    bool held;
} Numbers;
bool numbers_take(PyObject* object, const char* what, Py_ssize_t count, Numbers* out);
void numbers_free(Numbers* n);
bool take_vec3(PyObject* object, const char* what, mor_vec3* out);
bool take_pose(PyObject* object, const char* what, mor_pose* out); /* 7 numbers: x y z qw qx qy qz */
/* "O&" converters would hide the name of the argument: these are called by hand. */

/* ------------------------------------------------------------------------------------- world */

enum { VIEW_Q, VIEW_V, VIEW_POSES, VIEW_VELOCITIES, VIEWS };

/* A scene that several worlds share. */
typedef struct Scene {
    PyObject_HEAD mor_scene* scene;
} Scene;
extern PyTypeObject* scene_type;

typedef struct World {
    PyObject_HEAD mor_world* world;
    Scene* scene;
    struct {
        Buffer* buffer;
        PyObject* array;
    } views[VIEWS];
    PyObject *user, *collide, *formulation; /* stages written in Python, or NULL */
    PyObject* observers;                    /* a list, or NULL */
    PyObject* controls;                     /* list of functions that control robots, or NULL */
    PyObject* keep;                         /* list: what must live as long as the world */
    mor_step_report report;
    int threads;
    pid_t pid;
    unsigned long owner; /* thread that is stepping; 0: none */
    bool in_user;        /* ... and is in the user stage, where the world may be changed */
} World;
extern PyTypeObject* world_type;

/* May this thread use the world now? False and an exception if not. `change`: it wants to write. */
bool world_open(World* w, bool change);
/* The body of a handle (index1 + generation in one number); false and an exception if it was removed. */
bool world_body(World* w, PyObject* handle, mor_body_id* id);
void world_refresh(World* w, bool all);
PyObject* hash_text(uint64_t hash);
extern PyMethodDef world_edit_methods[], world_callback_methods[], world_derivative_methods[];

/* --------------------------------------------------------------------------- methods, problems */

/* The built-in methods and those of this interpreter. Never freed while the program runs. */
const mor_library* methods_library(void);
/* Controllers of a world (its list `keep`) call no function any more. */
void methods_forget(PyObject* keep);

typedef struct Problem {
    PyObject_HEAD mor_problem p;
    mor_arena* arena; /* owns everything p points to */
} Problem;
extern PyTypeObject* problem_type;
/* A problem with copies of everything. */
Problem* problem_copy(const mor_problem* p);
PyObject* report_dict(const mor_report* r);
PyObject* residual_dict(const mor_residual* r);

/* Functions of the module by file. */
extern PyMethodDef method_functions[], problem_functions[];
bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type);
bool world_ready(PyObject* module);
bool callbacks_ready(PyObject* module);
bool problem_ready(PyObject* module);
bool robot_ready(PyObject* module);
bool batch_ready(PyObject* module);
mor_robot_model* robot_model_of(PyObject* object); /* NULL and an exception if it is no robot */

#endif
