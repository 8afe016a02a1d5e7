/* The type Problem, and what is done with problems: solve, judge, convert. A Problem owns copies of everything. */
#include "core.h"

#include "io/problem/problem_file.h"
#include "problem/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject* problem_type;

static Problem* problem_empty(void)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(problem_type, Py_tp_alloc);
    Problem* self = (Problem*)allocate(problem_type, 0);
    if (!self) return NULL;
    self->arena = mor_arena_create(NULL);
    if (self->arena) return self;
    Py_DECREF(self);
    return (Problem*)PyErr_NoMemory();
}

static void problem_dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    mor_arena_destroy(((Problem*)self)->arena);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ----------------------------------------------------------------------------------- copying */

/* A copy in the arena; NULL stays NULL. *ok turns false without memory. */
static void* copy(mor_arena* arena, const void* from, size_t bytes, bool* ok)
{
    if (!from) return NULL;
    void* to = mor_arena_alloc(arena, bytes ? bytes : 1);
    if (!to) *ok = false;
    else memcpy(to, from, bytes);
    return to;
}

/* Dense or sparse; an operator becomes dense, column by column. */
static mor_matrix copy_matrix(mor_arena* a, const mor_matrix* A, bool* ok)
{
    mor_matrix m = *A;
    if (A->storage == MOR_SPARSE) {
        size_t n = A->p ? (size_t)A->p[A->rows] : 0;
        m.p = copy(a, A->p, ((size_t)A->rows + 1) * sizeof *m.p, ok);
        m.i = copy(a, A->i, n * sizeof *m.i, ok);
        m.x = copy(a, A->x, n * sizeof *m.x, ok);
    } else if (A->storage == MOR_DENSE) {
        m.x = copy(a, A->x, (size_t)A->rows * (size_t)A->cols * sizeof *m.x, ok);
    } else {
        m.storage = MOR_DENSE, m.apply = NULL, m.user = NULL;
        m.x = mor_arena_zero(a, (size_t)A->rows * (size_t)A->cols + 1, sizeof *m.x);
        double* unit = mor_arena_zero(a, (size_t)A->cols + 1, sizeof *unit);
        *ok = *ok && m.x && unit;
        for (int j = 0; *ok && j < A->cols; j++) {
            unit[j] = 1.0;
            mor_matrix_apply(A, unit, m.x + (size_t)j * (size_t)A->rows);
            unit[j] = 0.0;
        }
    }
    return m;
}

static size_t entries_of(const mor_step_form* s, size_t* numbers, size_t* diagonal)
{
    size_t entries = 0;
    *numbers = *diagonal = 0;
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* k = &s->blocks[b];
        if ((size_t)(k->entry + k->entry_count) > entries) entries = (size_t)(k->entry + k->entry_count);
        for (int e = k->entry; e < k->entry + k->entry_count; e++) {
            size_t end = (size_t)s->entries[e].start + (size_t)(k->dim * s->trees[s->entries[e].tree].dof);
            if (end > *numbers) *numbers = end;
        }
        size_t end = (size_t)s->diagonal_start[b] + (size_t)(k->dim * k->dim);
        if (end > *diagonal) *diagonal = end;
    }
    return entries;
}

static mor_step_form copy_step(mor_arena* a, const mor_step_form* from, bool* ok)
{
    mor_step_form s = *from;
    size_t numbers, diagonal, entries = entries_of(from, &numbers, &diagonal);
    mor_tree_block* trees = copy(a, s.trees, (size_t)s.tree_count * sizeof *trees, ok);
    for (int t = 0; *ok && t < s.tree_count; t++) {
        size_t bytes = (size_t)(trees[t].dof * trees[t].dof) * sizeof(double);
        trees[t].mass = copy(a, trees[t].mass, bytes, ok);
        trees[t].mass_inverse = copy(a, trees[t].mass_inverse, bytes, ok);
    }
    s.trees = trees;
    s.nu_free = copy(a, s.nu_free, (size_t)s.dof * sizeof(double), ok);
    s.blocks = copy(a, s.blocks, (size_t)s.block_count * sizeof *s.blocks, ok);
    s.entries = copy(a, s.entries, entries * sizeof *s.entries, ok);
    s.jacobian = copy(a, s.jacobian, numbers * sizeof(double), ok);
    s.response = copy(a, s.response, numbers * sizeof(double), ok);
    s.diagonal = copy(a, s.diagonal, diagonal * sizeof(double), ok);
    s.diagonal_start = copy(a, s.diagonal_start, (size_t)s.block_count * sizeof(int), ok);
    s.bias = copy(a, s.bias, (size_t)s.row_count * sizeof(double), ok);
    return s;
}

Problem* problem_copy(const mor_problem* p)
{
    Problem* self = problem_empty();
    if (!self) return NULL;
    bool ok = true;
    mor_arena* a = self->arena;
    size_t n = (size_t)p->size * sizeof(double), m = (size_t)p->contact_count * sizeof(double);
    self->p = *p;
    if (p->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) {
        self->p.step = copy_step(a, &p->step, &ok);
    } else if (p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING)) {
        self->p.M = copy_matrix(a, &p->M, &ok);
        self->p.H = copy_matrix(a, &p->H, &ok);
        self->p.f = copy(a, p->f, (size_t)p->M.rows * sizeof(double), &ok);
    } else {
        self->p.A = copy_matrix(a, &p->A, &ok);
    }
    if (p->form == MOR_QP) {
        self->p.C = copy_matrix(a, &p->C, &ok);
        self->p.c_lower = copy(a, p->c_lower, (size_t)p->C.rows * sizeof(double), &ok);
        self->p.c_upper = copy(a, p->c_upper, (size_t)p->C.rows * sizeof(double), &ok);
    }
    self->p.b = copy(a, p->b, n, &ok);
    bool bounds = p->form & (MOR_MLCP | MOR_MCP | MOR_QP);
    self->p.lower = bounds ? copy(a, p->lower, n, &ok) : NULL;
    self->p.upper = bounds ? copy(a, p->upper, n, &ok) : NULL;
    self->p.groups = p->groups ? copy(a, p->groups, ((size_t)p->group_count + 1) * sizeof(int), &ok) : NULL;
    bool cones = p->contact_count > 0;
    self->p.mu = cones ? copy(a, p->mu, m, &ok) : NULL;
    self->p.mu_roll = cones && (p->form & (MOR_FC_ROLLING | MOR_GFC_ROLLING)) ? copy(a, p->mu_roll, m, &ok) : NULL;
    self->p.name = p->name ? copy(a, p->name, strlen(p->name) + 1, &ok) : NULL;
    if (ok) return self;
    Py_DECREF(self);
    return (Problem*)PyErr_NoMemory();
}

/* ------------------------------------------------------------------------------------ making */

static mor_form form_of(const char* name)
{
    for (int i = 0; i < 13; i++) {
        const char* word = mor_form_name((mor_form)(1 << i));
        if (word && strcmp(word, name) == 0) return (mor_form)(1 << i);
    }
    return 0;
}

static double* take_numbers(mor_arena* a, PyObject* arrays, const char* key, Py_ssize_t* count, bool* ok)
{
    PyObject* item = PyDict_GetItemString(arrays, key);
    if (!item || item == Py_None || !*ok) return NULL;
    Numbers n;
    if (!numbers_take(item, key, *count, &n)) return *ok = false, NULL;
    double* x = copy(a, n.data, (size_t)n.count * sizeof *x, ok);
    if (!*ok) PyErr_NoMemory();
    *count = n.count;
    numbers_free(&n);
    return x;
}

/* Whole numbers of a float array. */
static int* take_integers(mor_arena* a, PyObject* item, Py_ssize_t count, double below, bool* ok)
{
    Numbers n;
    if (!*ok || !numbers_take(item, "indices of a matrix", count, &n)) return *ok = false, NULL;
    int* x = mor_arena_alloc(a, ((size_t)n.count + 1) * sizeof *x);
    for (Py_ssize_t i = 0; x && i < n.count && *ok; i++) {
        if (!(n.data[i] >= 0.0 && n.data[i] < below)) *ok = false;
        else x[i] = (int)n.data[i];
    }
    numbers_free(&n);
    if (!x) *ok = false, PyErr_NoMemory();
    else if (!*ok) PyErr_SetString(py_bad_input, "an index of a matrix is out of range");
    return x;
}

/* ("dense", rows, cols, x column-major) or ("sparse", rows, cols, x, columns, starts). */
static mor_matrix take_matrix(mor_arena* a, PyObject* arrays, const char* key, bool* ok)
{
    mor_matrix m = { 0 };
    PyObject* item = PyDict_GetItemString(arrays, key);
    if (!item || item == Py_None || !*ok) return m;
    const char* storage;
    PyObject *x, *columns = NULL, *starts = NULL;
    if (!PyArg_ParseTuple(item, "siiO|OO", &storage, &m.rows, &m.cols, &x, &columns, &starts)) return *ok = false, m;
    Numbers n;
    Py_ssize_t dense = (Py_ssize_t)m.rows * m.cols;
    if (!numbers_take(x, key, columns ? -1 : dense, &n)) return *ok = false, m;
    m.storage = columns ? MOR_SPARSE : MOR_DENSE;
    m.x = copy(a, n.data, (size_t)n.count * sizeof *m.x, ok);
    Py_ssize_t count = n.count;
    numbers_free(&n);
    if (!columns) return m;
    m.i = take_integers(a, columns, count, m.cols, ok);
    m.p = *ok ? take_integers(a, starts, m.rows + 1, (double)count + 1.0, ok) : NULL;
    for (int i = 0; *ok && i < m.rows; i++) *ok = m.p[i] <= m.p[i + 1];
    if (*ok && (m.p[0] != 0 || m.p[m.rows] != count)) *ok = false;
    if (!*ok && !PyErr_Occurred()) PyErr_SetString(py_bad_input, "the rows of a sparse matrix are not in order");
    return m;
}

/* Problem(form, arrays) */
static PyObject* problem_new(PyTypeObject* type, PyObject* args, PyObject* keywords)
{
    (void)type, (void)keywords;
    const char* form;
    PyObject* arrays;
    if (!PyArg_ParseTuple(args, "sO!:Problem", &form, &PyDict_Type, &arrays)) return NULL;
    mor_problem p = { .form = form_of(form) };
    if (!p.form || p.form & (MOR_STEP_PYRAMID | MOR_STEP_CONE))
        return PyErr_Format(py_bad_input,
                            "unknown form '%s'; known: lcp, mlcp, mcp, fc2d, fc3d, rfc3d, gfc2d, gfc3d, "
                            "grfc3d, qp, cqp (steps come from worlds)",
                            form);
    Problem* self = problem_empty();
    if (!self) return NULL;
    bool ok = true;
    mor_arena* a = self->arena;
    Py_ssize_t n = -1, contacts = -1, rows;
    p.A = take_matrix(a, arrays, "A", &ok);
    p.M = take_matrix(a, arrays, "M", &ok);
    p.H = take_matrix(a, arrays, "H", &ok);
    p.C = take_matrix(a, arrays, "C", &ok);
    p.b = take_numbers(a, arrays, "b", &n, &ok);
    p.size = n < 0 ? 0 : (int)n;
    p.lower = take_numbers(a, arrays, "lower", &n, &ok);
    p.upper = take_numbers(a, arrays, "upper", &n, &ok);
    p.mu = take_numbers(a, arrays, "mu", &contacts, &ok);
    p.mu_roll = take_numbers(a, arrays, "mu_roll", &contacts, &ok);
    rows = p.M.rows;
    p.f = take_numbers(a, arrays, "f", &rows, &ok);
    rows = p.C.rows;
    p.c_lower = take_numbers(a, arrays, "c_lower", &rows, &ok);
    p.c_upper = take_numbers(a, arrays, "c_upper", &rows, &ok);
    p.contact_count = contacts < 0 ? 0 : (int)contacts;
    p.dim = p.contact_count ? p.size / p.contact_count : 0;
    mor_error error = { 0 };
    if (ok && mor_problem_check(&p, &error)) ok = false, py_raise(&error);
    self->p = p;
    if (ok) return (PyObject*)self;
    Py_DECREF(self);
    return NULL;
}

/* ----------------------------------------------------------------------------------- reading */

static PyObject* give_matrix(PyObject* self, const mor_matrix* m)
{
    Py_ssize_t shape[2] = { m->rows, m->cols };
    if (m->storage == MOR_DENSE) {
        PyObject* x = array_of(buffer_new(m->x, self, 'd', 2, shape, true));
        return x ? Py_BuildValue("(siiN)", "dense", m->rows, m->cols, x) : NULL;
    }
    Py_ssize_t n = m->p[m->rows], starts = m->rows + 1;
    PyObject* x = array_of(buffer_new(m->x, self, 'd', 1, &n, false));
    PyObject* i = array_of(buffer_new(m->i, self, 'i', 1, &n, false));
    PyObject* p = array_of(buffer_new(m->p, self, 'i', 1, &starts, false));
    return x && i && p ? Py_BuildValue("(siiNNN)", "sparse", m->rows, m->cols, x, i, p) : NULL;
}

static bool put(PyObject* dict, const char* key, PyObject* value)
{
    bool ok = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return ok;
}

static bool put_numbers(PyObject* dict, const char* key, const double* x, Py_ssize_t n, PyObject* owner)
{
    return !x || put(dict, key, array_view(x, n, 0, owner));
}

/* Blocks of a step: kind, dim, row, mu, mu_roll, directions, lower, upper as one table of numbers. */
static PyObject* give_blocks(const mor_step_form* s)
{
    double* x;
    PyObject* table = array_new2(s->block_count, 8, &x);
    for (int b = 0; table && b < s->block_count; b++, x += 8) {
        const mor_block* k = &s->blocks[b];
        double row[8] = { k->kind, k->dim, k->row, k->mu, k->mu_roll, k->directions, k->lower, k->upper };
        memcpy(x, row, sizeof row);
    }
    return table;
}

/* M (dof x dof) and H = G (dof x rows) of a step, dense. */
static bool put_step(PyObject* dict, const mor_step_form* s, PyObject* owner)
{
    double *M, *H;
    PyObject *mass = array_new2(s->dof, s->dof, &M), *jacobian = array_new2(s->dof, s->row_count, &H);
    if (!mass || !jacobian) {
        Py_XDECREF(mass);
        Py_XDECREF(jacobian);
        return false;
    }
    for (int t = 0; t < s->tree_count; t++)
        for (int i = 0; i < s->trees[t].dof && s->trees[t].mass; i++)
            for (int j = 0; j < s->trees[t].dof; j++)
                M[(s->trees[t].offset + i) * s->dof + s->trees[t].offset + j] =
                    s->trees[t].mass[i * s->trees[t].dof + j];
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* k = &s->blocks[b];
        for (int e = k->entry; e < k->entry + k->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            for (int r = 0; r < k->dim; r++)
                for (int j = 0; j < t->dof; j++)
                    H[(t->offset + j) * s->row_count + k->row + r] += s->jacobian[s->entries[e].start + r * t->dof + j];
        }
    }
    return put(dict, "step_M", mass) && put(dict, "step_H", jacobian) && put(dict, "blocks", give_blocks(s)) &&
           put_numbers(dict, "b", s->bias, s->row_count, owner) &&
           put_numbers(dict, "nu_free", s->nu_free, s->dof, owner);
}

/* All that the form has, by the names of problem.h. */
static PyObject* problem_arrays(PyObject* self, PyObject* nothing)
{
    (void)nothing;
    const mor_problem* p = &((Problem*)self)->p;
    PyObject* d = PyDict_New();
    bool ok = d != NULL;
    if (ok && p->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) ok = put_step(d, &p->step, self);
    else if (ok && p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING))
        ok = put(d, "M", give_matrix(self, &p->M)) && put(d, "H", give_matrix(self, &p->H)) &&
             put_numbers(d, "f", p->f, p->M.rows, self);
    else if (ok) ok = put(d, "A", give_matrix(self, &p->A));
    if (ok && p->form == MOR_QP)
        ok = put(d, "C", give_matrix(self, &p->C)) && put_numbers(d, "c_lower", p->c_lower, p->C.rows, self) &&
             put_numbers(d, "c_upper", p->c_upper, p->C.rows, self);
    if (ok) ok = put_numbers(d, "lower", p->lower, p->size, self) && put_numbers(d, "upper", p->upper, p->size, self);
    if (ok) ok = put_numbers(d, "mu", p->mu, p->contact_count, self);
    if (ok) ok = put_numbers(d, "mu_roll", p->mu_roll, p->contact_count, self);
    if (ok && p->b) ok = put_numbers(d, "b", p->b, p->size, self);
    if (ok) return d;
    Py_XDECREF(d);
    return NULL;
}

#define P(self) (&((Problem*)(self))->p)
static PyObject* get_form(PyObject* s, void* u) { return (void)u, PyUnicode_FromString(mor_form_name(P(s)->form)); }
static PyObject* get_size(PyObject* s, void* u) { return (void)u, PyLong_FromLong(P(s)->size); }
static PyObject* get_dim(PyObject* s, void* u) { return (void)u, PyLong_FromLong(P(s)->dim); }
static PyObject* get_contacts(PyObject* s, void* u) { return (void)u, PyLong_FromLong(P(s)->contact_count); }
static PyObject* get_unknowns(PyObject* s, void* u) { return (void)u, PyLong_FromLong(mor_problem_unknowns(P(s))); }
static PyObject* get_name(PyObject* s, void* u) { return (void)u, PyUnicode_FromString(P(s)->name ? P(s)->name : ""); }

static PyGetSetDef problem_getset[] = {
    { "form", get_form, NULL, "lcp, mlcp, mcp, fc2d, fc3d, rfc3d, gfc3d, step-cone, qp ...", NULL },
    { "size", get_size, NULL, "Number of unknowns n (global forms: of the impulses).", NULL },
    { "dim", get_dim, NULL, "Rows of a contact.", NULL },
    { "contact_count", get_contacts, NULL, "Contacts of friction problems.", NULL },
    { "unknowns", get_unknowns, NULL, "Length of the answer z.", NULL },
    { "name", get_name, NULL, "For reports.", NULL },
    { 0 },
};

/* ----------------------------------------------------------------------------------- solving */

PyObject* residual_dict(const mor_residual* r)
{
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "relative", r->relative, "absolute", r->absolute,
                         "velocity", r->velocity, "natural", r->natural, "fb", r->fb, "cck", r->cck, "normal_error",
                         r->normal_error, "friction_error", r->friction_error, "friction_power", r->friction_power);
}

PyObject* report_dict(const mor_report* r)
{
    return Py_BuildValue("{s:s,s:i,s:d,s:s,s:N}", "status", mor_status_name(r->status), "iterations", r->iterations,
                         "time_s", r->time_s, "detail", r->detail, "residual", residual_dict(&r->residual));
}

static PyObject* problem_judge(PyObject* self, PyObject* z)
{
    Numbers n;
    const mor_problem* p = P(self);
    if (!numbers_take(z, "z", mor_problem_unknowns(p), &n)) return NULL;
    mor_arena* arena = mor_arena_create(NULL);
    PyObject* result = NULL;
    if (arena) {
        mor_residual r = mor_judge(p, n.data, arena);
        result = Py_BuildValue("(dN)", mor_judge_error(p, &r), residual_dict(&r));
    } else PyErr_NoMemory();
    mor_arena_destroy(arena);
    numbers_free(&n);
    return result;
}

/* The solver's own options from a dict of texts; free() them. */
static void* take_options(const mor_solver* solver, PyObject* options)
{
    void* memory = calloc(1, solver->options_size ? solver->options_size : 1);
    if (!memory) return PyErr_NoMemory();
    if (solver->fields) mor_fields_default(solver->fields, memory);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(options, &at, &key, &value)) {
        const char *k = PyUnicode_AsUTF8AndSize(key, NULL), *v = PyUnicode_AsUTF8AndSize(value, NULL);
        static const mor_field none[] = { { .name = NULL } };
        mor_error error = { 0 };
        if (k && v && !mor_fields_set(solver->fields ? solver->fields : none, memory, k, v, &error)) continue;
        if (k && v) py_raise(&error);
        free(memory);
        return NULL;
    }
    return memory;
}

static PyObject* give_trace(const mor_trace* t)
{
    PyObject* list = PyList_New(t->count);
    for (int i = 0; list && i < t->count; i++) {
        const mor_trace_line* l = &t->lines[i];
        PyObject* row = Py_BuildValue("{s:i,s:d,s:d,s:N}", "iteration", l->iteration, "time_s", l->time_s,
                                      "step_length", l->step_length, "residual", residual_dict(&l->residual));
        if (!row || PyList_SetItem(list, i, row)) Py_CLEAR(list);
    }
    return list;
}

/* solve(problem, solver, options, tol, max_iter, time_limit, z or None, trace) -> (z, report, trace) */
static PyObject* solve(PyObject* module, PyObject* args)
{
    (void)module;
    PyObject *problem, *options, *guess;
    const char* name;
    mor_solve_options o = mor_solve_options_default();
    int wanted;
    if (!PyArg_ParseTuple(args, "O!sO!didOp", problem_type, &problem, &name, &PyDict_Type, &options, &o.tol,
                          &o.max_iter, &o.time_limit, &guess, &wanted))
        return NULL;
    const mor_solver* solver = mor_library_solver(methods_library(), name);
    if (!solver) {
        const char* words[128] = { 0 };
        for (int i = 0; i < 127 && mor_library_solver_at(methods_library(), i); i++)
            words[i] = mor_library_solver_at(methods_library(), i)->name;
        const char* near = mor_did_you_mean(name, words);
        return PyErr_Format(py_bad_input, "unknown solver '%s'%s%s%s", name, near ? "; did you mean '" : "",
                            near ? near : "", near ? "'?" : "");
    }
    if (!(o.tol > 0.0) || o.max_iter < 0 || !(o.time_limit >= 0.0))
        return PyErr_SetString(py_bad_input, "tol must be positive, max_iter and time_limit not negative"), NULL;
    const mor_problem* p = P(problem);
    double* z;
    PyObject* answer = array_new(mor_problem_unknowns(p), &z);
    Numbers start = { 0 };
    if (!answer || (guess != Py_None && !numbers_take(guess, "z0", mor_problem_unknowns(p), &start))) {
        Py_XDECREF(answer);
        return NULL;
    }
    void* own = take_options(solver, options);
    PyObject* result = NULL;
    if (own) {
        if (start.held) memcpy(z, start.data, (size_t)start.count * sizeof *z);
        o.warm = start.held;
        mor_trace trace = { 0 };
        o.trace = wanted ? &trace : NULL;
        mor_report r;
        Call call;
        call_begin(&call);
        Py_BEGIN_ALLOW_THREADS;
        mor_arithmetic host = mor_arithmetic_enter();
        r = mor_solve(solver, own, p, &o, z, NULL);
        mor_arithmetic_leave(host);
        Py_END_ALLOW_THREADS;
        if (!call_end(&call, false)) result = Py_BuildValue("(ONN)", answer, report_dict(&r), give_trace(&trace));
        mor_trace_free(&trace);
    }
    free(own);
    numbers_free(&start);
    Py_DECREF(answer);
    return result;
}

/* ----------------------------------------------------------------------------- files, forms */

static PyObject* read_problem(PyObject* module, PyObject* args)
{
    (void)module;
    const char *path, *kind;
    if (!PyArg_ParseTuple(args, "sz", &path, &kind)) return NULL;
    mor_problem_file file = { 0 };
    mor_error error = { 0 };
    if (mor_problem_read(path, kind, &file, &error)) return py_raise(&error);
    Problem* p = problem_copy(&file.problem);
    mor_problem_file_free(&file);
    return (PyObject*)p;
}

static PyObject* write_problem(PyObject* module, PyObject* args)
{
    (void)module;
    const char* path;
    PyObject* problem;
    mor_error error = { 0 };
    if (!PyArg_ParseTuple(args, "sO!", &path, problem_type, &problem)) return NULL;
    return mor_problem_write(path, P(problem), &error) ? py_raise(&error) : Py_NewRef(Py_None);
}

/* The same problem in another form; exact, never a relaxation. */
static PyObject* convert(PyObject* module, PyObject* args)
{
    (void)module;
    PyObject* problem;
    const char* name;
    if (!PyArg_ParseTuple(args, "O!s", problem_type, &problem, &name)) return NULL;
    mor_form form = form_of(name);
    if (!form) return PyErr_Format(py_bad_input, "unknown form '%s'", name);
    if (form == P(problem)->form) return Py_NewRef(problem);
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return PyErr_NoMemory();
    mor_conversion c = { 0 };
    mor_error error = { 0 };
    bool no_solution = false;
    PyObject* result = NULL;
    if (mor_convert(P(problem), form, &c, &no_solution, arena, &error)) py_raise(&error);
    else if (no_solution) PyErr_SetString(py_bad_input, "the equations of the problem contradict each other");
    else result = (PyObject*)problem_copy(&c.to);
    mor_conversion_destroy(&c);
    mor_arena_destroy(arena);
    return result;
}

static PyMethodDef problem_methods[] = {
    { "_arrays", problem_arrays, METH_NOARGS, "" },
    { "_judge", problem_judge, METH_O, "" },
    { NULL, NULL, 0, NULL },
};

PyMethodDef problem_functions[] = {
    { "solve", solve, METH_VARARGS, "" },
    { "read_problem", read_problem, METH_VARARGS, "" },
    { "write_problem", write_problem, METH_VARARGS, "" },
    { "convert", convert, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

bool problem_ready(PyObject* module)
{
    static PyType_Slot slots[] = {
        { Py_tp_new, problem_new },
        { Py_tp_dealloc, problem_dealloc },
        { Py_tp_methods, problem_methods },
        { Py_tp_getset, problem_getset },
        { Py_tp_doc, "A problem with its own copy of all data." },
        { 0, NULL },
    };
    static PyType_Spec spec = { "moreau._core.Problem", sizeof(Problem), 0, Py_TPFLAGS_DEFAULT, slots };
    return add_type(module, "Problem", &spec, &problem_type);
}
