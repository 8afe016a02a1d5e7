/* The module moreau._core: types, functions, exceptions. */
#include "core.h"

static PyObject* exception(PyObject* module, const char* name, const char* doc, PyObject* bases)
{
    char full[64];
    snprintf(full, sizeof full, "moreau.%s", name);
    PyObject* e = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
    return e && PyModule_AddObjectRef(module, name, e) == 0 ? e : NULL;
}

static bool exceptions(PyObject* module)
{
    py_error = exception(module, "Error", "What goes wrong in Moreau.", PyExc_RuntimeError);
    if (!py_error) return false;
    PyObject *value = PyTuple_Pack(2, py_error, PyExc_ValueError), *os = PyTuple_Pack(2, py_error, PyExc_OSError);
    py_bad_input =
        exception(module, "BadInput", "A file, option or argument is wrong: the sentence says where and what.", value);
    py_not_solved =
        exception(module, "NotSolved", "A step was not taken because its problem was not solved.", py_error);
    py_system_failure = exception(module, "SystemFailure", "Out of memory, disk full, cannot open for writing.", os);
    Py_XDECREF(value);
    Py_XDECREF(os);
    return py_bad_input && py_not_solved && py_system_failure;
}

static PyMethodDef no_functions[] = { { NULL, NULL, 0, NULL } };
static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT,
                                         "_core",
                                         "The library Moreau, as the package moreau uses it.",
                                         -1,
                                         no_functions,
                                         NULL,
                                         NULL,
                                         NULL,
                                         NULL };

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject* m = PyModule_Create(&definition);
    if (!m) return NULL;
    py_numpy = PyImport_ImportModule("numpy");
    if (py_numpy && add_type(m, "Buffer", NULL, &buffer_type) && exceptions(m) && problem_ready(m) && robot_ready(m) &&
        world_ready(m) && callbacks_ready(m) && batch_ready(m) && PyModule_AddFunctions(m, method_functions) == 0 &&
        PyModule_AddFunctions(m, problem_functions) == 0 &&
        PyModule_AddStringConstant(m, "version", mor_version()) == 0)
        return m;
    Py_DECREF(m);
    return NULL;
}
