/* Making a world: methods and their options, stages, small accessors. */
#include "control/control.h"
#include "step/draft.h"
#include "step/steady.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const mor_field method_fields[] = {
    { "friction_directions", MOR_TYPE_INT, offsetof(mor_method_options, friction_directions), 8, 3, 256, NULL, "",
      "corners of the friction polygon for pyramids" },
    { "friction_align", MOR_TYPE_CHOICE, offsetof(mor_method_options, friction_align), 0, 0, 0, "world-x|slip", "",
      "first friction direction: world x projected on the tangent plane, or the slip at the start of the step" },
    { "sticking", MOR_TYPE_CHOICE, offsetof(mor_method_options, sticking), 0, 0, 0, "velocity|anchored", "",
      "a contact that sticks has no velocity, or also returns to the point where it stuck: no creep while bodies "
      "turn" },
    { "v_rest", MOR_TYPE_DOUBLE, offsetof(mor_method_options, v_rest), -1, -1, 1e6, NULL, "m/s",
      "restitution acts above this approach speed; -1 (auto): 2 g h" },
    { "on_failure", MOR_TYPE_CHOICE, offsetof(mor_method_options, on_failure), MOR_PARTS, 0, 0, "stop|warn|retry|parts",
      "",
      "when a solver fails: stop before the step, apply and count, try the solver auto and then shorter parts of the "
      "step, or such parts with the same solver (2, 4, ... 16); a step that leaves bodies deep in each other, or lifts "
      "them to undo that, is taken in parts as well" },
    { "max_failures", MOR_TYPE_INT, offsetof(mor_method_options, max_failures), 0, 0, 1e9, NULL, "",
      "with on_failure warn: the step after so many failed ones in a row is not applied; 0: no bound" },
    { "gap_correction", MOR_TYPE_CHOICE, offsetof(mor_method_options, gap_correction), MOR_GAP_PROJECTION, 0, 0,
      "projection|bounded|velocity", "",
      "how overlaps and exceeded limits are undone: by moving the bodies, at a bounded speed, or within one step by "
      "speed "
      "(the papers' term gap/h)" },
    { "recovery_speed", MOR_TYPE_DOUBLE, offsetof(mor_method_options, recovery_speed), 0.1, 0, 1e6, NULL, "m/s, rad/s",
      "of gap_correction bounded" },
    { "limit", MOR_TYPE_DOUBLE, offsetof(mor_method_options, limit), 1e-6, 0, 1e-6, NULL, "m/s",
      "velocity error of a step that counts as failure; at least ten times the solver's tol" },
    { "relinearise", MOR_TYPE_INT, offsetof(mor_method_options, relinearise), 0, 0, 100, NULL, "",
      "passes that solve the step again with the gaps and normals of its own end" },
    { "rest", MOR_TYPE_CHOICE, offsetof(mor_method_options, rest), MOR_REST_SKIP, 0, 0, "skip|solve", "",
      "islands that repeat their last step bit by bit are not solved again, or are all the same; the motion does not "
      "depend on it" },
    { 0 }
};

static const mor_field impulse_fields[] = {
    { "position", MOR_TYPE_DOUBLE, offsetof(mor_method_options, position_tolerance), 1e-5, 0, 1, NULL, "m, rad",
      "joints are corrected until their violation is at most this (and 3e-5 of the radius of small bodies)" },
    { "velocity", MOR_TYPE_DOUBLE, offsetof(mor_method_options, velocity_tolerance), 1e-5, 0, 1, NULL, "m/s, rad/s",
      "and their rate at most this" },
    { 0 }
};

static const mor_field integrator_fields[] = {
    { "tol", MOR_TYPE_DOUBLE, offsetof(mor_method_options, integrator_tolerance), 0.002, 0, 1e6, NULL, "",
      "gauss6: halves a step whose accelerations bend by more than this (h |a1 - 2 a2 + a3| against the speed); 0: "
      "never" },
    { "halvings", MOR_TYPE_INT, offsetof(mor_method_options, halvings), 12, 0, 30, NULL, "",
      "implicit integrators: how often a step that does not converge may be halved" },
    { 0 }
};

static const mor_field baumgarte_fields[] = { { "gain", MOR_TYPE_DOUBLE, offsetof(mor_method_options, gain), 0.2, 0, 2,
                                                NULL, "",
                                                "part of a joint's violation that the rows of one step take away" },
                                              { 0 } };

static const mor_field no_fields[] = { { 0 } };

static const struct {
    const char* name;
    const mor_field* fields;
} stabilisations[] = { { "impulse", impulse_fields },
                       { "baumgarte", baumgarte_fields },
                       { "projection", impulse_fields },
                       { "none", no_fields } };

enum { STABILISATIONS = sizeof stabilisations / sizeof *stabilisations };

static const mor_field solver_fields[] = { { "tol", MOR_TYPE_DOUBLE, offsetof(mor_solver_options, tol), 1e-8, 0, 1e6,
                                             NULL, "m/s", "velocity error at which a step counts as solved" },
                                           { "max_iter", MOR_TYPE_INT, offsetof(mor_solver_options, max_iter), 0, 0,
                                             2e9, NULL, "", "0: the solver's default" },
                                           { "time_limit", MOR_TYPE_DOUBLE, offsetof(mor_solver_options, time_limit), 0,
                                             0, 1e9, NULL, "s", "per solve; 0: none" },
                                           { 0 } };

const mor_field* mor_world_fields(void) { return method_fields; }
const mor_field* mor_world_integrator_fields(void) { return integrator_fields; }
const mor_field* mor_world_stabilisation_fields(const char* name)
{
    for (int k = 0; k < STABILISATIONS; k++)
        if (strcmp(stabilisations[k].name, name) == 0) return stabilisations[k].fields;
    return NULL;
}
const mor_field* mor_world_solver_fields(void) { return solver_fields; }

mor_world_def mor_world_def_default(void)
{
    return (mor_world_def){
        .dimension = 3, .gravity = { 0, 0, -9.81 }, .step = 0.01, .threads = 1, .allocator = mor_allocator_default()
    };
}

/* Replaces an option struct by the defaults of another method. */
static bool new_options(mor_world* w, void** options, size_t size, const mor_field* fields)
{
    void* fresh = w->allocator.resize(w->allocator.user, NULL, size ? size : 1);
    if (!fresh) return false;
    memset(fresh, 0, size);
    mor_fields_default(fields, fresh);
    if (*options) w->allocator.resize(w->allocator.user, *options, 0);
    *options = fresh;
    return true;
}

/* Another collision method with its memory; the present one stays if there is not enough. */
static bool new_collision(mor_world* w, const mor_collision* c)
{
    void* memory = c->create ? c->create(&w->allocator) : NULL;
    if ((c->create && !memory) || !new_options(w, &w->collision_options, c->options_size, c->fields)) {
        if (memory && c->destroy) c->destroy(memory);
        return false;
    }
    if (w->collision && w->collision->destroy) w->collision->destroy(w->collision_memory);
    w->collision_memory = memory;
    w->collision = c;
    w->detected = false;
    return true;
}

/* "unknown solver 'psg'; did you mean 'pgs'?" */
static mor_code unknown_method(const char* stage, const char* name, const char* const* names, mor_error* error)
{
    const char* near = mor_did_you_mean(name, names);
    if (near) return mor_fail(error, MOR_BAD_INPUT, "unknown %s '%s'; did you mean '%s'?", stage, name, near);
    char list[600] = "";
    for (int i = 0; names[i]; i++) {
        size_t used = strlen(list);
        if (used + strlen(names[i]) + 3 < sizeof list) {
            if (used) strcat(list, ", ");
            strcat(list, names[i]);
        }
    }
    return mor_fail(error, MOR_BAD_INPUT, "unknown %s '%s'; known: %s", stage, name, list);
}

enum { MOST_METHODS = 126 };

mor_code mor_world_set_method(mor_world* w, const char* stage, const char* name, mor_error* error)
{
    const char* names[MOST_METHODS + 1] = { 0 };
    bool ok = true;
    if (strcmp(stage, "formulation") == 0) {
        const mor_formulation* f = mor_library_formulation(w->library, name);
        for (int i = 0; !f && i < MOST_METHODS && mor_library_formulation_at(w->library, i); i++)
            names[i] = mor_library_formulation_at(w->library, i)->name;
        if (!f) return unknown_method(stage, name, names, error);
        ok = new_options(w, &w->formulation_options, f->options_size, f->fields);
        if (ok) w->formulation = f;
    } else if (strcmp(stage, "solver") == 0) {
        const mor_solver* s = mor_library_solver(w->library, name);
        for (int i = 0; !s && i < MOST_METHODS && mor_library_solver_at(w->library, i); i++)
            names[i] = mor_library_solver_at(w->library, i)->name;
        if (!s) return unknown_method(stage, name, names, error);
        ok = new_options(w, &w->solver_own_options, s->options_size, s->fields);
        if (ok) w->solver = s;
    } else if (strcmp(stage, "collision") == 0) {
        const mor_collision* c = mor_library_collision(w->library, name);
        for (int i = 0; !c && i < MOST_METHODS && mor_library_collision_at(w->library, i); i++)
            names[i] = mor_library_collision_at(w->library, i)->name;
        if (!c) return unknown_method(stage, name, names, error);
        ok = new_collision(w, c);
    } else if (strcmp(stage, "integrator") == 0) {
        const mor_integrator* found = NULL;
        for (int i = 0; mor_integrator_at(i); i++) {
            names[i] = mor_integrator_at(i)->name;
            if (strcmp(names[i], name) == 0) found = mor_integrator_at(i);
        }
        if (!found) return unknown_method(stage, name, names, error);
        w->integrator = found;
    } else if (strcmp(stage, "stabilisation") == 0) {
        int k = 0;
        while (k < STABILISATIONS && strcmp(stabilisations[k].name, name) != 0) names[k] = stabilisations[k].name, k++;
        if (k == STABILISATIONS) return unknown_method(stage, name, names, error);
        w->options.stabilisation = k;
    } else {
        return mor_fail(error, MOR_BAD_INPUT,
                        "unknown stage '%s'; known: formulation, solver, collision, integrator, stabilisation", stage);
    }
    w->detected = false; /* nothing kept from the last step is trusted */
    return ok ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

mor_code mor_world_set_option(mor_world* w, const char* stage, const char* option, const char* value, mor_error* error)
{
    w->detected = false;
    if (strcmp(stage, "formulation") == 0)
        return mor_fields_set(w->formulation->fields, w->formulation_options, option, value, error);
    if (strcmp(stage, "collision") == 0)
        return mor_fields_set(w->collision->fields, w->collision_options, option, value, error);
    if (strcmp(stage, "solver") == 0) {
        for (const mor_field* f = solver_fields; f->name; f++)
            if (strcmp(f->name, option) == 0)
                return mor_fields_set(solver_fields, &w->solver_options, option, value, error);
        return mor_fields_set(w->solver->fields, w->solver_own_options, option, value, error);
    }
    if (strcmp(stage, "method") == 0) {
        if (strcmp(option, "v_rest") == 0 && strcmp(value, "auto") == 0) value = "-1";
        return mor_fields_set(method_fields, &w->options, option, value, error);
    }
    if (strcmp(stage, "integrator") == 0) return mor_fields_set(integrator_fields, &w->options, option, value, error);
    if (strcmp(stage, "stabilisation") == 0)
        return mor_fields_set(stabilisations[w->options.stabilisation].fields, &w->options, option, value, error);
    return mor_fail(error, MOR_BAD_INPUT,
                    "unknown stage '%s'; known: method, formulation, solver, collision, integrator, stabilisation",
                    stage);
}

const char* mor_world_method(const mor_world* w, const char* stage)
{
    if (strcmp(stage, "formulation") == 0) return w->formulation->name;
    if (strcmp(stage, "solver") == 0) return w->solver->name;
    if (strcmp(stage, "collision") == 0) return w->collision->name;
    if (strcmp(stage, "integrator") == 0) return w->integrator->name;
    if (strcmp(stage, "stabilisation") == 0) return stabilisations[w->options.stabilisation].name;
    return NULL;
}

/* True if the solver takes one of the forms in `forms`. */
static bool takes_one(const mor_solver* solver, uint32_t forms)
{
    for (int bit = 0; bit < 31; bit++)
        if ((forms & 1u << bit) && mor_solver_applies(solver, (mor_form)(1u << bit))) return true;
    return false;
}

/* Does the collision method give the formulation what it asks for? */
static mor_code check_planes(const mor_world* w, mor_error* error)
{
    const mor_collision* c;
    if (w->formulation->groups != 1 || w->collision->planes || w->on_collide || mor_world_own_solve(w)) return MOR_OK;
    char names[200] = "";
    for (int i = 0; (c = mor_library_collision_at(w->library, i)); i++)
        if (c->planes && strlen(names) + strlen(c->name) + 3 < sizeof names) {
            if (*names) strcat(names, ", ");
            strcat(names, c->name);
        }
    return mor_fail(error, MOR_BAD_INPUT,
                    "formulation '%s' needs the separating planes of pairs, which collision method '%s' does not give; "
                    "it goes with %s",
                    w->formulation->name, w->collision->name, *names ? names : "no method of this library");
}

/* Does the solver take the problems of the formulation? */
static mor_code check_solver(const mor_world* w, mor_error* error)
{
    uint32_t forms = w->formulation->produces;
    if (mor_world_own_solve(w) || forms == 0 || takes_one(w->solver, forms)) return MOR_OK;
    char solvers[300] = "", formulations[200] = "";
    const mor_solver* s;
    const mor_formulation* f;
    for (int i = 0; (s = mor_library_solver_at(w->library, i)); i++)
        if (takes_one(s, forms) && strlen(solvers) + strlen(s->name) + 3 < sizeof solvers) {
            if (*solvers) strcat(solvers, ", ");
            strcat(solvers, s->name);
        }
    for (int i = 0; (f = mor_library_formulation_at(w->library, i)); i++)
        if (takes_one(w->solver, f->produces) && strlen(formulations) + strlen(f->name) + 3 < sizeof formulations) {
            if (*formulations) strcat(formulations, ", ");
            strcat(formulations, f->name);
        }
    return mor_fail(error, MOR_BAD_INPUT,
                    "solver '%s' does not take the problems of formulation '%s'; it goes with %s; '%s' goes with %s",
                    w->solver->name, w->formulation->name, *formulations ? formulations : "no formulation",
                    w->formulation->name, solvers);
}

/* Rolling and drilling friction are never left out in silence. */
static mor_code check_turning(const mor_world* w, mor_error* error)
{
    int asked = mor_world_turning(w);
    if (mor_world_own_solve(w) || w->formulation->turning >= asked) return MOR_OK;
    char names[200] = "";
    const mor_formulation* f;
    for (int i = 0; (f = mor_library_formulation_at(w->library, i)); i++)
        if (f->turning >= asked && strlen(names) + strlen(f->name) + 3 < sizeof names) {
            if (*names) strcat(names, ", ");
            strcat(names, f->name);
        }
    return mor_fail(error, MOR_BAD_INPUT, "formulation '%s' has no %s friction, which a material asks for; %s have",
                    w->formulation->name, asked == 2 ? "drilling" : "rolling", names);
}

mor_code mor_world_check_methods(const mor_world* w, mor_error* error)
{
    mor_code code = check_planes(w, error);
    if (!code) code = check_turning(w, error);
    if (!code && w->options.relinearise > 0 && !mor_world_own_solve(w) &&
        (!w->formulation->gaps || w->collision->planes))
        code =
            mor_fail(error, MOR_BAD_INPUT,
                     "relinearise goes with formulations whose rows take gap/h (st, ncp, mncp, convex, implicit) and "
                     "collision methods that give nearest features; here are '%s' and '%s'",
                     w->formulation->name, w->collision->name);
    return code ? code : check_solver(w, error);
}

mor_code mor_world_set_methods(mor_world* w, const char* formulation, const char* solver, mor_error* error)
{
    const mor_formulation* old_formulation = w->formulation;
    const mor_solver* old_solver = w->solver;
    void *old_formulation_options = w->formulation_options, *old_solver_options = w->solver_own_options;
    w->formulation_options = w->solver_own_options = NULL; /* fresh ones are made beside the old */
    mor_code code = mor_world_set_method(w, "formulation", formulation ? formulation : old_formulation->name, error);
    if (!code) code = mor_world_set_method(w, "solver", solver ? solver : old_solver->name, error);
    if (!code) code = check_solver(w, error); /* collision may still be chosen */
    /* of each kind, either the old options or the fresh ones go */
    bool fresh_formulation = !code && formulation, fresh_solver = !code && solver;
    void *formulation_gone = fresh_formulation ? old_formulation_options : w->formulation_options,
         *solver_gone = fresh_solver ? old_solver_options : w->solver_own_options;
    if (formulation_gone) w->allocator.resize(w->allocator.user, formulation_gone, 0);
    if (solver_gone) w->allocator.resize(w->allocator.user, solver_gone, 0);
    if (!fresh_formulation) w->formulation = old_formulation, w->formulation_options = old_formulation_options;
    if (!fresh_solver) w->solver = old_solver, w->solver_own_options = old_solver_options;
    if (!code) w->detected = false;
    return code;
}

mor_world* mor_world_create(const mor_world_def* def, mor_error* error)
{
    if (def->dimension != 2 && def->dimension != 3) {
        mor_fail(error, MOR_BAD_INPUT, "dimension %d; a world is 3-D or 2-D", def->dimension);
        return NULL;
    }
    if (!(def->step > 0.0) || !isfinite(def->step)) {
        mor_fail(error, MOR_BAD_INPUT, "time step %g; give a positive number of seconds", def->step);
        return NULL;
    }
    mor_allocator a = def->allocator.resize ? def->allocator : mor_allocator_default();
    mor_world* w = a.resize(a.user, NULL, sizeof *w);
    if (!w) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    memset(w, 0, sizeof *w);
    w->allocator = a;
    w->library = def->library;
    w->dimension = def->dimension;
    w->gravity = def->gravity;
    if (w->dimension == 2) w->gravity.z = 0.0;
    w->h = def->step;
    w->revision = 1;
    w->threads = def->threads < 1 ? 1 : def->threads;
    w->integrator = mor_integrator_at(0);
    mor_fields_default(method_fields, &w->options);
    mor_fields_default(impulse_fields, &w->options);
    mor_fields_default(integrator_fields, &w->options);
    mor_fields_default(baumgarte_fields, &w->options);
    mor_fields_default(solver_fields, &w->solver_options);
    mor_material material = mor_material_default();
    w->own = w->last = mor_step_create(w, error);
    if (w->own && mor_world_add_material(w, &material) < 0) mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!w->own || w->material_count == 0) {
        mor_world_destroy(w);
        return NULL;
    }
    if (mor_world_set_method(w, "formulation", "ncp", error) != MOR_OK ||
        mor_world_set_method(w, "solver", "auto", error) != MOR_OK ||
        mor_world_set_method(w, "collision", "manifold", error) != MOR_OK) {
        mor_world_destroy(w);
        return NULL;
    }
    return w;
}

void mor_world_destroy(mor_world* w)
{
    if (!w) return;
    const mor_allocator a = w->allocator;
    if (w->last) mor_step_leave(w->last);
    mor_step_destroy(w->own);
    for (int i = 0; i < 3; i++) mor_step_destroy(w->derived[i]);
    mor_arena_destroy(w->derivative_room);
    if (w->collision && w->collision->destroy) w->collision->destroy(w->collision_memory);
    if (w->formulation_options) a.resize(a.user, w->formulation_options, 0);
    if (w->solver_own_options) a.resize(a.user, w->solver_own_options, 0);
    if (w->collision_options) a.resize(a.user, w->collision_options, 0);
    mor_control_destroy(w);
    mor_world_free_model(w);
    a.resize(a.user, w, 0);
}

void mor_world_refuse(const mor_world* w, const char* sentence)
{
    char* refusal = ((mor_world*)w)->refusal; /* a controller is given its world as const */
    if (!refusal[0]) snprintf(refusal, sizeof w->refusal, "%s", sentence && *sentence ? sentence : "refused");
}

void mor_world_on_user(mor_world* w, mor_user_stage function, void* user)
{
    w->on_user = function;
    w->on_user_data = user;
    w->steady = false;
}

void mor_world_user_is_steady(mor_world* w) { w->steady = true; }

void mor_world_on_collide(mor_world* w, mor_collide_stage function, void* user)
{
    w->fitting_formulation = NULL; /* its contacts may lack what the formulation needs */
    w->on_collide = function;
    w->on_collide_data = user;
    w->detected = false;
}

void mor_world_set_interrupt(mor_world* w, const volatile int* flag) { w->interrupt = flag; }
bool mor_world_interrupted(const mor_world* w) { return w->interrupt && *w->interrupt; }

void mor_world_on_solve(mor_world* w, mor_formulation_stage function, void* user)
{
    w->on_solve = function;
    w->on_solve_data = user;
    w->watched = false;
}

void mor_world_on_integrate(mor_world* w, mor_user_stage function, void* user)
{
    w->on_integrate = function;
    w->on_integrate_data = user;
}

mor_code mor_world_add_observer(mor_world* w, mor_observer function, void* user, mor_error* error)
{
    if (w->observer_count == (int)(sizeof w->observers / sizeof *w->observers))
        return mor_fail(error, MOR_BAD_INPUT, "a world has room for 8 observers");
    w->observers[w->observer_count].function = function;
    w->observers[w->observer_count++].user = user;
    return MOR_OK;
}

double mor_world_time(const mor_world* w) { return w->time; }
int mor_world_step_count(const mor_world* w) { return w->step; }
double mor_world_get_step(const mor_world* w) { return w->h; }
int mor_world_dimension(const mor_world* w) { return w->dimension; }
mor_vec3 mor_world_gravity(const mor_world* w) { return w->gravity; }
const mor_library* mor_world_library(const mor_world* w) { return w->library; }

void mor_world_set_step(mor_world* w, double h)
{
    w->adaptive.on = false;
    mor_world_change_step(w, h);
}

void mor_world_change_step(mor_world* w, double h)
{
    assert(h > 0.0 && isfinite(h));
    w->h = h;
    w->time_base = w->time;
    w->step_base = w->step;
    w->detected = false;
}

void mor_world_set_gravity(mor_world* w, mor_vec3 gravity)
{
    w->gravity = gravity;
    if (w->dimension == 2) w->gravity.z = 0.0;
    w->detected = false;
}

const mor_contact* mor_world_contacts(const mor_world* w, int* count)
{
    *count = w->contacts.count;
    return w->contacts.data;
}

mor_code mor_world_joint_forces(mor_world* w, double* forces, mor_error* error)
{
    if (mor_step_take(w, w->own)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    return mor_step_joint_forces(w, w->own, forces, error);
}
