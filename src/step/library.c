/* The library handle: constant built-in tables plus appended methods. */
#include "moreau/library.h"
#include "collision/pair_table.h"
#include "collision/registry.h"
#include "control/control.h"
#include "formulation/registry.h"
#include "step/stages.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct pair_entry {
    mor_shape_kind kind[2];
    const mor_custom_shape* custom[2];
    mor_pair_test test;
} pair_entry;

struct mor_library {
    const mor_solver* solvers[MOST];
    const mor_formulation* formulations[MOST];
    const mor_collision* collisions[MOST];
    const mor_controller* controllers[MOST];
    pair_entry pairs[MOST];
    int solver_count, formulation_count, collision_count, controller_count, pair_count;
};

mor_library* mor_library_create(mor_error* error)
{
    mor_library* library = calloc(1, sizeof *library);
    if (!library) mor_fail(error, MOR_SYSTEM, "out of memory");
    return library;
}

void mor_library_destroy(mor_library* library) { free(library); }

bool mor_library_has_pairs(const mor_library* library) { return library && library->pair_count > 0; }

/* i-th of a NULL-terminated built-in table followed by the appended ones. */
static const void* at(const void* const* builtin, const void* const* more, int more_count, int i)
{
    int n = 0;
    while (builtin[n] && n < i) n++;
    if (builtin[n]) return builtin[i];
    return i - n < more_count ? more[i - n] : NULL;
}

const mor_solver* mor_library_solver_at(const mor_library* l, int i)
{
    return at((const void* const*)mor_solvers(), l ? (const void* const*)l->solvers : NULL, l ? l->solver_count : 0, i);
}

const mor_formulation* mor_library_formulation_at(const mor_library* l, int i)
{
    return at((const void* const*)mor_formulations(), l ? (const void* const*)l->formulations : NULL,
              l ? l->formulation_count : 0, i);
}

const mor_collision* mor_library_collision_at(const mor_library* l, int i)
{
    return at((const void* const*)mor_collisions(), l ? (const void* const*)l->collisions : NULL,
              l ? l->collision_count : 0, i);
}

const mor_controller* mor_library_controller_at(const mor_library* l, int i)
{
    return at((const void* const*)mor_controllers(), l ? (const void* const*)l->controllers : NULL,
              l ? l->controller_count : 0, i);
}

const mor_controller* mor_library_controller(const mor_library* l, const char* name)
{
    for (int i = 0;; i++) {
        const mor_controller* c = mor_library_controller_at(l, i);
        if (!c || strcmp(c->name, name) == 0) return c;
    }
}

const mor_solver* mor_library_solver(const mor_library* l, const char* name)
{
    for (int i = 0;; i++) {
        const mor_solver* s = mor_library_solver_at(l, i);
        if (!s || strcmp(s->name, name) == 0) return s;
    }
}

const mor_formulation* mor_library_formulation(const mor_library* l, const char* name)
{
    for (int i = 0;; i++) {
        const mor_formulation* f = mor_library_formulation_at(l, i);
        if (!f || strcmp(f->name, name) == 0) return f;
    }
}

const mor_collision* mor_library_collision(const mor_library* l, const char* name)
{
    for (int i = 0;; i++) {
        const mor_collision* c = mor_library_collision_at(l, i);
        if (!c || strcmp(c->name, name) == 0) return c;
    }
}

static mor_code check_new(const char* kind, const char* name, bool taken, bool complete, int count, mor_error* error)
{
    if (!name || !*name) return mor_fail(error, MOR_BAD_INPUT, "a %s needs a name", kind);
    if (taken) return mor_fail(error, MOR_BAD_INPUT, "there is a %s called '%s' already", kind, name);
    if (!complete) return mor_fail(error, MOR_BAD_INPUT, "%s '%s' lacks its function", kind, name);
    if (count == MOST) return mor_fail(error, MOR_BAD_INPUT, "a library has room for %d more %ss", MOST, kind);
    return MOR_OK;
}

mor_code mor_library_add_solver(mor_library* l, const mor_solver* s, mor_error* error)
{
    mor_code code =
        check_new("solver", s->name, s->name && mor_library_solver(l, s->name), s->solve, l->solver_count, error);
    if (code == MOR_OK) l->solvers[l->solver_count++] = s;
    return code;
}

mor_code mor_library_add_formulation(mor_library* l, const mor_formulation* f, mor_error* error)
{
    mor_code code = check_new("formulation", f->name, f->name && mor_library_formulation(l, f->name), f->step,
                              l->formulation_count, error);
    if (code == MOR_OK) l->formulations[l->formulation_count++] = f;
    return code;
}

mor_code mor_library_add_collision(mor_library* l, const mor_collision* c, mor_error* error)
{
    mor_code code = check_new("collision method", c->name, c->name && mor_library_collision(l, c->name),
                              c->detect && c->options_size >= sizeof(mor_collision_options), l->collision_count, error);
    if (code == MOR_OK) l->collisions[l->collision_count++] = c;
    return code;
}

mor_code mor_library_add_controller(mor_library* l, const mor_controller* c, mor_error* error)
{
    mor_code code = check_new("controller", c->name, c->name && mor_library_controller(l, c->name), c->control,
                              l->controller_count, error);
    if (code == MOR_OK) l->controllers[l->controller_count++] = c;
    return code;
}

mor_code mor_library_add_pair(mor_library* l, mor_shape_kind a, const mor_custom_shape* custom_a, mor_shape_kind b,
                              const mor_custom_shape* custom_b, mor_pair_test test, mor_error* error)
{
    if (l->pair_count == MOST) return mor_fail(error, MOR_BAD_INPUT, "a library has room for %d pair tests", MOST);
    if (!test) return mor_fail(error, MOR_BAD_INPUT, "a pair test needs a function");
    l->pairs[l->pair_count++] = (pair_entry){ { a, b }, { custom_a, custom_b }, test };
    return MOR_OK;
}

static bool matches(const pair_entry* e, int side, const mor_geometry* g)
{
    return e->kind[side] == g->kind && (g->kind != MOR_CUSTOM || e->custom[side] == g->custom);
}

mor_pair_test mor_library_pair(const mor_library* l, const mor_geometry* a, const mor_geometry* b, bool* swap)
{
    for (int i = l ? l->pair_count - 1 : -1; i >= 0; i--) { /* the latest wins */
        *swap = false;
        if (matches(&l->pairs[i], 0, a) && matches(&l->pairs[i], 1, b)) return l->pairs[i].test;
        *swap = true;
        if (matches(&l->pairs[i], 0, b) && matches(&l->pairs[i], 1, a)) return l->pairs[i].test;
    }
    return mor_pair_builtin(a->kind, b->kind, swap);
}
