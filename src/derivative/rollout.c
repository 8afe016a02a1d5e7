/* Derivatives of many steps: forward, X_k+1 = A_k X_k + [0 B_k], and backward, g_k = A_k' g_k+1, with states kept every
 * sqrt(N) steps (A. Griewank, 1992: here one level of checkpoints, which takes every step twice). */
#include "base/elementary.h"
#include "derivative/look.h"
#include "moreau/state.h"

#include <stdio.h>
#include <string.h>

/* What one step adds to what is known of all. */
static void gather(mor_derivative* all, const mor_derivative* one, int step)
{
    all->open += one->open;
    all->sticking += one->sticking;
    all->sliding += one->sliding;
    all->weak += one->weak;
    all->unique = all->unique && one->unique;
    all->distance = mor_min(all->distance, one->distance);
    all->residual = mor_max(all->residual, one->residual);
    if (one->differentiable || !all->differentiable) return;
    all->differentiable = false;
    snprintf(all->why, sizeof all->why, "step %d: %.160s", step, one->why);
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
    if (!code) *derivative = all;
    else mor_derivative_destroy(all);
    return code;
}

/* Snapshots of the world, one after the other. */
typedef struct states {
    char* data;
    size_t size;   /* room for each */
    size_t* sizes; /* of those that are kept */
} states;

static mor_code keep_state(const mor_world* w, states* s, int k, mor_error* error)
{
    s->sizes[k] = mor_world_save(w, s->data + (size_t)k * s->size, s->size);
    return s->sizes[k] <= s->size
               ? MOR_OK
               : mor_fail(error, MOR_SYSTEM, "a state has grown to %zu bytes, beyond the %zu set aside", s->sizes[k],
                          s->size);
}

static mor_code back_to(mor_world* w, const states* s, int k, mor_error* error)
{
    return mor_world_restore(w, s->data + (size_t)k * s->size, s->sizes[k], error);
}

static bool make_states(mor_arena* arena, int count, size_t size, states* s)
{
    s->size = size;
    s->data = arena ? mor_arena_alloc(arena, size * (size_t)count) : NULL;
    s->sizes = arena ? mor_arena_zero(arena, (size_t)count, sizeof *s->sizes) : NULL;
    return s->data && s->sizes;
}

/* The steps from..to backward; the states at their starts are in `s`. */
static mor_code backward(mor_world* w, states* s, int from, int to, const mor_input* inputs, int count, double* g,
                         double* work, double* input_gradients, mor_derivative* all, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int k = to - 1; k >= from && !code; k--) {
        mor_derivative* one = NULL;
        code = back_to(w, s, k - from, error);
        if (!code) code = mor_world_derivative(w, inputs, count, &one, error);
        if (code) break;
        gather(all, one, k + 1);
        memset(work, 0, (size_t)one->columns * sizeof *work);
        for (int i = 0; i < one->rows; i++)
            for (int j = 0; j < one->columns; j++) work[j] += one->matrix[(size_t)i * one->columns + j] * g[i];
        memcpy(g, work, (size_t)one->rows * sizeof *g);
        if (input_gradients) memcpy(input_gradients + (size_t)k * count, work + one->rows, (size_t)count * sizeof *g);
        mor_derivative_destroy(one);
    }
    return code;
}

mor_code mor_world_adjoint(mor_world* w, int steps, const double* gradient, const mor_input* inputs, int count,
                           double* state_gradient, double* input_gradients, mor_derivative** derivative,
                           mor_error* error)
{
    int n = 2 * mor_world_nu_count(w), stride = 1;
    while (stride * stride < steps) stride++;
    size_t size = 4 * mor_world_save(w, NULL, 0) + (1 << 16); /* contacts come and go */
    double *none, *work = NULL;
    mor_arena* arena = mor_arena_create(&w->allocator);
    mor_derivative* all = mor_derivative_create(w, 0, 0, &none);
    states coarse = { 0 }, fine = { 0 };
    bool room = make_states(arena, stride + 2, size, &coarse) && make_states(arena, stride + 1, size, &fine);
    if (arena) work = mor_arena_alloc(arena, ((size_t)n + count + 1) * sizeof *work);
    mor_code code = all && room && work ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < steps && !code; k++) {
        if (k % stride == 0) code = keep_state(w, &coarse, k / stride, error);
        if (!code) code = take_step(w, error);
    }
    int blocks = (steps + stride - 1) / stride;
    if (!code) code = keep_state(w, &coarse, blocks, error); /* where the world shall be afterwards */
    memcpy(state_gradient, gradient, (size_t)n * sizeof *gradient);
    for (int b = blocks - 1; b >= 0 && !code; b--) {
        int from = b * stride, to = from + stride < steps ? from + stride : steps;
        code = back_to(w, &coarse, b, error);
        for (int k = from; k < to && !code; k++) {
            code = keep_state(w, &fine, k - from, error);
            if (!code && k + 1 < to) code = take_step(w, error);
        }
        if (!code)
            code = backward(w, &fine, from, to, inputs, count, state_gradient, work, input_gradients, all, error);
    }
    if (!code) code = back_to(w, &coarse, blocks, error);
    mor_arena_destroy(arena);
    if (!code && derivative) *derivative = all;
    else mor_derivative_destroy(all);
    return code;
}
