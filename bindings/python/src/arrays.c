/* Errors, buffers and arrays. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

PyObject *py_error, *py_bad_input, *py_not_solved, *py_system_failure, *py_numpy;
PyTypeObject* buffer_type;

/* ------------------------------------------------------------------------------------ errors */

static void set_attribute(PyObject* object, const char* name, long value)
{
    PyObject* number = PyLong_FromLong(value);
    if (!number || PyObject_SetAttrString(object, name, number)) PyErr_Clear();
    Py_XDECREF(number);
}

void* py_raise(const mor_error* error)
{
    PyObject* type = error->code == MOR_BAD_INPUT ? py_bad_input
                     : error->code == MOR_STOPPED ? py_not_solved
                                                  : py_system_failure;
    PyObject* text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text), "replace");
    PyObject* value = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    if (!value) return NULL;
    set_attribute(value, "code", error->code);
    set_attribute(value, "line", error->line);
    set_attribute(value, "column", error->column);
    PyErr_SetObject(type, value);
    Py_DECREF(value);
    return NULL;
}

static _Thread_local Call* current;
static Call aside; /* of worker threads; under the lock */

void call_begin(Call* call)
{
    memset(call, 0, sizeof *call);
    call->outer = current;
    current = call;
}

/* What an exception says, in one line for reports. */
static void describe(char* text, size_t size)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject* name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject* said = value ? PyObject_Str(value) : NULL;
    const char* n = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char* s = said ? PyUnicode_AsUTF8AndSize(said, NULL) : NULL;
    snprintf(text, size, "%s: %s", n ? n : "exception", s ? s : "");
    Py_XDECREF(name);
    Py_XDECREF(said);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void call_take_exception(char* sentence, size_t size)
{
    if (sentence) describe(sentence, size);
    Call* call = current ? current : &aside;
    if (call->type) PyErr_Clear(); /* the first one tells */
    else PyErr_Fetch(&call->type, &call->value, &call->traceback);
}

bool call_end(Call* call, bool workers)
{
    current = call->outer;
    if (!call->type && workers && aside.type) {
        *call = aside;
        memset(&aside, 0, sizeof aside);
    }
    if (!call->type) return false;
    PyErr_Restore(call->type, call->value, call->traceback);
    return true;
}

/* ----------------------------------------------------------------------------------- buffers */

static int buffer_get(PyObject* self, Py_buffer* view, int flags)
{
    Buffer* b = (Buffer*)self;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !b->writable) {
        PyErr_SetString(PyExc_BufferError, "this memory belongs to a world and is read-only");
        view->obj = NULL;
        return -1;
    }
    view->obj = Py_NewRef(self);
    view->buf = b->data;
    view->itemsize = b->item;
    view->len = b->item;
    for (int i = 0; i < b->ndim; i++) view->len *= b->shape[i];
    view->readonly = !b->writable;
    view->ndim = b->ndim;
    view->format = b->format;
    view->shape = b->shape;
    view->strides = b->strides;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void buffer_dealloc(PyObject* self)
{
    Buffer* b = (Buffer*)self;
    PyTypeObject* type = Py_TYPE(self);
    if (b->owner) Py_DECREF(b->owner);
    else free(b->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot buffer_slots[] = {
    { Py_bf_getbuffer, buffer_get },
    { Py_tp_dealloc, buffer_dealloc },
    { Py_tp_doc, "Memory of the library that arrays look at." },
    { 0, NULL },
};
static PyType_Spec buffer_spec = { "moreau._core.Buffer", sizeof(Buffer), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, buffer_slots };

bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type)
{
    if (spec == NULL) spec = &buffer_spec;
    *type = (PyTypeObject*)PyType_FromSpec(spec);
    return *type && PyModule_AddObjectRef(module, name, (PyObject*)*type) == 0;
}

Buffer* buffer_new(void* data, PyObject* owner, char format, int ndim, const Py_ssize_t* shape, bool column_major)
{
    Buffer* b = PyObject_New(Buffer, buffer_type);
    if (!b) return NULL;
    b->ndim = ndim;
    b->format[0] = format, b->format[1] = '\0';
    b->item = format == 'd' ? 8 : format == 'i' ? 4 : 1;
    b->writable = false;
    b->owner = owner ? Py_NewRef(owner) : NULL;
    b->data = data;
    Py_ssize_t size = b->item;
    for (int i = 0; i < ndim; i++) {
        int k = column_major ? i : ndim - 1 - i;
        b->shape[k] = shape[k];
        b->strides[k] = size;
        size *= shape[k] > 0 ? shape[k] : 1;
    }
    static double nothing; /* numpy refuses no memory, even for no numbers */
    if (!owner) b->data = calloc(1, size > 0 ? (size_t)size : 1);
    else if (!b->data) b->data = &nothing;
    if (!b->data) {
        Py_DECREF(b);
        return (Buffer*)PyErr_NoMemory();
    }
    return b;
}

PyObject* array_of(Buffer* buffer)
{
    if (!buffer) return NULL;
    PyObject* array = PyObject_CallMethod(py_numpy, "asarray", "O", buffer);
    Py_DECREF(buffer);
    return array;
}

PyObject* array_new2(Py_ssize_t rows, Py_ssize_t cols, double** data)
{
    Buffer* b = buffer_new(NULL, NULL, 'd', cols < 0 ? 1 : 2, (Py_ssize_t[2]){ rows, cols }, false);
    if (!b) return NULL;
    b->writable = true;
    *data = b->data;
    return array_of(b);
}

PyObject* array_new(Py_ssize_t n, double** data) { return array_new2(n, -1, data); }

PyObject* array_view(const double* data, Py_ssize_t rows, Py_ssize_t cols, PyObject* owner)
{
    return array_of(buffer_new((void*)data, owner, 'd', cols ? 2 : 1, (Py_ssize_t[2]){ rows, cols }, false));
}

PyObject* array_copy(const double* data, Py_ssize_t rows, Py_ssize_t cols)
{
    double* to;
    PyObject* array = array_new2(rows, cols ? cols : -1, &to);
    if (array && rows) memcpy(to, data, (size_t)(rows * (cols ? cols : 1)) * sizeof *to);
    return array;
}

/* ----------------------------------------------------------------------------------- numbers */

bool numbers_take(PyObject* object, const char* what, Py_ssize_t count, Numbers* out)
{
    memset(out, 0, sizeof *out);
    PyObject* array = PyObject_CallMethod(py_numpy, "ascontiguousarray", "Os", object, "float64");
    if (!array) return false;
    int failed = PyObject_GetBuffer(array, &out->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
    Py_DECREF(array); /* the view holds it */
    if (failed) return false;
    out->held = true;
    out->data = out->view.buf;
    out->count = out->view.len / (Py_ssize_t)sizeof(double);
    if (count < 0 || out->count == count) return true;
    PyErr_Format(py_bad_input, "%s: the array has %zd numbers; %zd are needed", what, out->count, count);
    numbers_free(out);
    return false;
}

void numbers_free(Numbers* n)
{
    if (n->held) PyBuffer_Release(&n->view);
    n->held = false;
}

static bool take_few(PyObject* object, const char* what, Py_ssize_t count, double* out)
{
    Numbers n;
    if (!numbers_take(object, what, count, &n)) return false;
    bool finite = true;
    for (Py_ssize_t i = 0; i < count; i++) {
        out[i] = n.data[i];
        finite = finite && isfinite(out[i]);
    }
    numbers_free(&n);
    if (!finite) PyErr_Format(py_bad_input, "%s: a number is not finite", what);
    return finite;
}

bool take_vec3(PyObject* object, const char* what, mor_vec3* out)
{
    double x[3];
    if (!take_few(object, what, 3, x)) return false;
    *out = mor_v3(x[0], x[1], x[2]);
    return true;
}

bool take_pose(PyObject* object, const char* what, mor_pose* out)
{
    double x[7];
    if (!take_few(object, what, 7, x)) return false;
    if (x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6] < 1e-12) {
        PyErr_Format(py_bad_input, "%s: the quaternion is zero; 1 0 0 0 means not turned", what);
        return false;
    }
    out->position = mor_v3(x[0], x[1], x[2]);
    out->rotation = mor_quat_normalize((mor_quat){ x[3], x[4], x[5], x[6] });
    return true;
}
