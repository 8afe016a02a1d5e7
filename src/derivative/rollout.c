/* Derivatives of many steps: forward, X_k+1 = A_k X_k + [0 B_k], and backward, g_k = A_k' g_k+1 without A_k (pull.h).
 *
 * Backward needs the states in turn. All are kept while they fit into a fixed memory; when they do not, every second
 * one is dropped, and so on, and the steps between are taken again (A. Griewank, 1992: one level of checkpoints). */
#include "base/elementary.h"
#include "control/control.h"
#include "derivative/projection.h"
#include "derivative/pull.h"
#include "moreau/state.h"

#include <stdio.h>
#include <string.h>

#define MEMORY ((size_t)64 << 20) /* bytes of states */

/* What one step adds to what is known of all. */
static void gather(mor_derivative* all, const mor_derivative* one, int step)
{
    all->open += one->open;
    all->sticking += one->sticking;
    all->sliding += one->sliding;
    all->weak += one->weak;
    all->forces_held = all->forces_held || one->forces_held;
    all->unique = all->unique && one->unique;
    all->distance = isnan(all->distance) || isnan(one->distance) ? NAN : mor_min(all->distance, one->distance);
    all->residual = mor_max(all->residual, one->residual);
    if (one->differentiable || !all->differentiable) return;
    all->differentiable = false;
    snprintf(all->why, sizeof all->why, "step %d: %.160s", step, one->why);
}

/* Controllers and motors that remember more from step to step than the state has: integrals, filters, held commands.
 * The product of the steps leaves that out, and says so. */
static void tell_memory(const mor_world* w, int steps, mor_derivative* all)
{
    const mor_control* c = w->control;
    const char *who = NULL, *what = "its integral";
    for (int i = 0; c && i < c->controllers.count; i++) {
        const mor_control_entry* e = &((const mor_control_entry*)c->controllers.data)[i];
        int joints = mor_robot_joint_count(w->robots[e->def.robot]->model);
        for (int j = 0; j < joints && e->state_size && e->def.joints[j]; j++)
            if (!e->def.type->joints_only || e->def.ki[j] != 0.0) who = e->def.name;
        if (who && !e->def.type->joints_only) what = "a state of its own";
    }
    for (int i = 0; c && i < c->robot_count; i++)
        for (int j = 0; c->robots[i] && j < mor_robot_joint_count(w->robots[i]->model); j++)
            if (c->robots[i]->bandwidth[j] > 0.0) who = w->robots[i]->name, what = "what its motors do";
    if (c && c->period > w->h * (1.0 + 1e-9)) who = "control", what = "its last command";
    if (!who || steps < 2 || !all->differentiable) return;
    all->differentiable = false;
    snprintf(all->why, sizeof all->why,
             "'%.40s' remembers %s from step to step, which the product of the steps leaves out", who, what);
}

static mor_code take_step(mor_world* w, mor_error* error)
{
    mor_step_report report;
    return mor_world_step(w, &report, error);
}

mor_code mor_world_derivatives(mor_world* w, int steps, const mor_input* inputs, int count, mor_derivative** derivative,
                               mor_error* error)
{
    int n = 2 * mor_world_nu_count(w), columns = n + count;
    double *X, *row;
    *derivative = NULL;
    mor_arena* arena = mor_arena_create(&w->allocator);
    mor_derivative* all = mor_derivative_create(w, n, columns, &X);
    double* next = arena ? mor_arena_alloc(arena, ((size_t)n * columns + 1) * sizeof *next) : NULL;
    mor_code code = all && next ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; !code && i < (size_t)n * (size_t)columns; i++) X[i] = 0.0;
    for (int i = 0; i < n && !code; i++) X[(size_t)i * columns + i] = 1.0;
    for (int k = 0; k < steps && !code; k++) {
        mor_derivative* one = NULL;
        code = mor_world_derivative(w, inputs, count, &one, error);
        if (code) break;
        gather(all, one, k + 1);
        for (int i = 0; i < n; i++) { /* A X + [0 B] */
            row = next + (size_t)i * columns;
            const double* A = one->matrix + (size_t)i * columns;
            memset(row, 0, (size_t)n * sizeof *row);
            memcpy(row + n, A + n, (size_t)count * sizeof *row);
            for (int j = 0; j < n; j++)
                for (int m = 0; m < columns && A[j] != 0.0; m++) row[m] += A[j] * X[(size_t)j * columns + m];
        }
        memcpy(X, next, (size_t)n * columns * sizeof *X);
        mor_derivative_destroy(one);
        code = take_step(w, error);
    }
    mor_arena_destroy(arena);
    if (!code) tell_memory(w, steps, all);
    if (!code) *derivative = all;
    else mor_derivative_destroy(all);
    return code;
}

/* -------------------------------------------------------------------------------------------- backward */

/* Snapshots of the world, one after the other. */
typedef struct states {
    mor_allocator allocator;
    char* data;
    size_t used, room;
    size_t* start; /* where each begins, and where the last one ends */
    int count, most;
} states;

static void drop_states(states* s)
{
    if (s->data) s->allocator.resize(s->allocator.user, s->data, 0);
    if (s->start) s->allocator.resize(s->allocator.user, s->start, 0);
}

/* Room for one more of `size` bytes. */
static bool reserve(states* s, size_t size)
{
    const mor_allocator* a = &s->allocator;
    if (s->count == s->most) {
        int most = 2 * s->most + 64;
        size_t* start = a->resize(a->user, s->start, ((size_t)most + 1) * sizeof *start);
        if (!start) return false;
        s->start = start, s->most = most;
    }
    if (s->used + size <= s->room) return true;
    size_t room = s->room + s->room / 2 + size;
    char* data = a->resize(a->user, s->data, room);
    if (!data) return false;
    s->data = data, s->room = room;
    return true;
}

static mor_code keep_state(const mor_world* w, states* s, mor_error* error)
{
    size_t size = mor_world_save(w, NULL, 0);
    if (!reserve(s, size)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    s->start[s->count] = s->used;
    s->used += mor_world_save(w, s->data + s->used, size);
    s->start[++s->count] = s->used;
    return MOR_OK;
}

static mor_code back_to(mor_world* w, const states* s, int k, mor_error* error)
{
    return mor_world_restore(w, s->data + s->start[k], s->start[k + 1] - s->start[k], error);
}

/* Keeps every second state. */
static void thin_out(states* s)
{
    size_t used = 0;
    int kept = 0;
    for (int k = 0; k < s->count; k += 2, kept++) {
        size_t size = s->start[k + 1] - s->start[k];
        memmove(s->data + used, s->data + s->start[k], size);
        s->start[kept] = used;
        used += size;
    }
    s->start[kept] = s->used = used;
    s->count = kept;
}

typedef struct sweep {
    mor_world* w;
    const mor_input* inputs;
    int count;
    double *g, *work, *by_inputs;
    double* left; /* by step: how far its end is from where the position projection acts [m/s]; -1: it acted, or
                     the step was more than its equations say */
    mor_derivative* all;
    mor_error* error;
    int at;              /* the step that the world is about to take */
    int pulled;          /* the step that the last gradient went through without a matrix */
    mor_buffer contacts; /* of the last step it took, with their impulses: those of step at - 1 */
    bool known;
} sweep;

/* Back to state k of `s`, which is that before `step`. Where the world came from there, the contacts of this step are
 * in it. */
static mor_code go_back(sweep* x, const states* s, int k, int step)
{
    mor_world* w = x->w;
    size_t size = sizeof(mor_contact);
    x->known = x->at == step + 1 && x->left[step] >= 0.0 && !w->collision->planes && !w->options.sticking;
    if (x->known) {
        if (!mor_buffer_reserve(&w->allocator, &x->contacts, w->contacts.count + 1, size))
            return mor_fail(x->error, MOR_SYSTEM, "out of memory");
        if (w->contacts.count) memcpy(x->contacts.data, w->contacts.data, (size_t)w->contacts.count * size);
        x->contacts.count = w->contacts.count;
    }
    x->at = step;
    return back_to(w, s, k, x->error);
}

/* Step `step` backward from the state that the world is in. */
static mor_code one_back(sweep* x, int step)
{
    mor_derivative one = { .differentiable = true, .unique = true, .distance = INFINITY };
    size_t n = 2 * (size_t)mor_world_nu_count(x->w);
    double left = x->left[step];
    mor_taken taken = { left < 0.0, x->pulled == step + 1, x->known ? x->contacts.data : NULL, x->contacts.count };
    bool direct;
    mor_code code = mor_pull_step(x->w, x->inputs, x->count, &taken, x->g, x->work, &one, &direct, x->error);
    if (code) return code;
    x->pulled = direct ? step : -1;
    if (left >= 0.0 && !isnan(one.distance)) one.distance = mor_min(one.distance, left);
    gather(x->all, &one, step + 1);
    memcpy(x->g, x->work, n * sizeof *x->g);
    if (x->by_inputs) memcpy(x->by_inputs + (size_t)step * x->count, x->work + n, (size_t)x->count * sizeof *x->g);
    return MOR_OK;
}

/* The steps from .. to, the first of which begins with state k of `coarse`: taken again where states between were not
 * kept. */
static mor_code segment_back(sweep* x, const states* coarse, int k, int from, int to, states* fine)
{
    mor_code code = go_back(x, coarse, k, from);
    if (code || to == from + 1) return code ? code : one_back(x, from);
    fine->used = 0, fine->count = 0;
    for (int i = from; i < to && !code; i++) {
        code = keep_state(x->w, fine, x->error);
        if (!code) code = take_step(x->w, x->error);
    }
    x->at = to;
    for (int i = to - 1; i >= from && !code; i--) {
        code = go_back(x, fine, i - from, i);
        if (!code) code = one_back(x, i);
    }
    return code;
}

/* Takes the steps; states are kept every `stride` steps, which doubles whenever they are too many. */
static mor_code forward(mor_world* w, int steps, size_t memory, states* s, int* stride, double* left, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int k = 0; k < steps && !code; k++) {
        if (k % *stride == 0) code = keep_state(w, s, error);
        mor_step_report report = { 0 };
        if (!code) code = mor_world_step(w, &report, error);
        bool plain = !report.struck && !report.cured && !report.parts;
        if (!code) left[k] = plain ? mor_projection_distance(w->last) / w->h : -1.0;
        if (s->used > memory && s->count > 2) {
            thin_out(s);
            *stride *= 2;
        }
    }
    return code;
}

mor_code mor_adjoint_within(mor_world* w, size_t memory, int steps, const double* gradient, const mor_input* inputs,
                            int count, double* state_gradient, double* input_gradients, mor_derivative** derivative,
                            mor_error* error)
{
    int n = 2 * mor_world_nu_count(w), stride = 1;
    double* none;
    mor_arena* arena = mor_arena_create(&w->allocator);
    states coarse = { .allocator = w->allocator }, fine = coarse, end = coarse;
    sweep x = { .w = w, .inputs = inputs, .count = count, .g = state_gradient, .by_inputs = input_gradients };
    x.all = mor_derivative_create(w, 0, 0, &none), x.error = error;
    if (arena) x.work = mor_arena_alloc(arena, ((size_t)n + count + 1) * sizeof *x.work);
    if (arena) x.left = mor_arena_alloc(arena, ((size_t)steps + 1) * sizeof *x.left);
    mor_code code = x.all && x.work && x.left ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = forward(w, steps, memory, &coarse, &stride, x.left, error);
    if (!code) code = keep_state(w, &end, error); /* where the world shall be afterwards */
    x.at = steps, x.pulled = -1;
    memcpy(state_gradient, gradient, (size_t)n * sizeof *gradient);
    for (int k = coarse.count - 1; k >= 0 && !code; k--) {
        int from = k * stride, to = from + stride < steps ? from + stride : steps;
        code = segment_back(&x, &coarse, k, from, to, &fine);
    }
    if (!code) code = back_to(w, &end, 0, error);
    drop_states(&coarse);
    drop_states(&fine);
    drop_states(&end);
    mor_buffer_free(&w->allocator, &x.contacts);
    mor_arena_destroy(arena);
    if (!code) tell_memory(w, steps, x.all);
    if (!code && derivative) *derivative = x.all;
    else mor_derivative_destroy(x.all);
    return code;
}

mor_code mor_world_adjoint(mor_world* w, int steps, const double* gradient, const mor_input* inputs, int count,
                           double* state_gradient, double* input_gradients, mor_derivative** derivative,
                           mor_error* error)
{
    return mor_adjoint_within(w, MEMORY, steps, gradient, inputs, count, state_gradient, input_gradients, derivative,
                              error);
}
