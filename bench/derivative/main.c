/* What derivatives cost, in plain steps of the same scene: CPU time, median of seven rounds that take turns; in every
 * round 50 steps and four derivatives in a row, of which the first and the fastest are told.
 *
 *     bench_derivative SCENE ...         default: humanoid_stand with its torques and a stack of ten boxes
 *     bench_derivative --adjoint N ...   the adjoint of N steps over the same N steps, least of three rounds
 *     bench_derivative --engines         a humanoid on eight points beside MuJoCo's differences (engines.c)
 *
 * On a machine that others use instructions tell more than times (docs/methods/derivatives.md):
 *     valgrind --tool=callgrind bench_derivative --count STEPS DERIVATIVES SCENE
 *     valgrind --tool=callgrind bench_derivative --count-adjoint STEPS SCENE */
#include "engines.h"

#include <moreau/derivative.h>
#include <moreau/moreau.h>
#include <moreau/state.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, MOST_INPUTS = 128, WARM = 20 };

typedef struct bench {
    mor_scene* scene;
    mor_world* w;
    mor_input inputs[MOST_INPUTS]; /* all joint forces */
    int count;
    mor_error error;
} bench;

static int compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static bool steps(bench* b, int count)
{
    bool good = true;
    for (int k = 0; k < count && good; k++) good = mor_world_step(b->w, NULL, &b->error) == MOR_OK;
    return good;
}

static bool begin(bench* b, const char* path)
{
    *b = (bench){ .scene = mor_scene_load(path, NULL, NULL, &b->error) };
    b->w = b->scene ? mor_scene_build(b->scene, 1, &b->error) : NULL;
    for (int i = 0; b->w && i < mor_world_robot_count(b->w); i++)
        for (int j = 0; j < mor_robot_joint_count(mor_world_robot_model(b->w, i)) && b->count < MOST_INPUTS; j++)
            b->inputs[b->count++] = (mor_input){ MOR_INPUT_JOINT_FORCE, i, j };
    return b->w && steps(b, WARM);
}

static int end(bench* b, bool good, const char* path)
{
    if (!good) fprintf(stderr, "%s: %s\n", path, b->error.text);
    mor_world_destroy(b->w);
    mor_scene_destroy(b->scene);
    return !good;
}

static int measure(const char* path)
{
    bench b;
    mor_derivative* d = NULL;
    double step[ROUNDS], derivative[ROUNDS], first[ROUNDS];
    bool good = begin(&b, path);
    for (int r = 0; r < ROUNDS && good; r++) {
        double start = mor_cpu_clock();
        good = steps(&b, 50);
        step[r] = (mor_cpu_clock() - start) / 50;
        for (int k = 0; k < 4 && good; k++) {
            mor_derivative_destroy(d);
            d = NULL;
            start = mor_cpu_clock();
            good = mor_world_derivative(b.w, b.inputs, b.count, &d, &b.error) == MOR_OK;
            start = mor_cpu_clock() - start;
            if (k == 0) first[r] = derivative[r] = start;
            derivative[r] = fmin(derivative[r], start);
        }
    }
    if (good) {
        qsort(step, ROUNDS, sizeof *step, compare);
        qsort(derivative, ROUNDS, sizeof *derivative, compare);
        qsort(first, ROUNDS, sizeof *first, compare);
        printf("%-24s %4d states %3d controls  step %6.1f us  derivative %7.1f us = %4.1f steps, the first %4.1f\n",
               mor_scene_name(b.scene), d->rows, b.count, 1e6 * step[ROUNDS / 2], 1e6 * derivative[ROUNDS / 2],
               derivative[ROUNDS / 2] / step[ROUNDS / 2], first[ROUNDS / 2] / step[ROUNDS / 2]);
    }
    mor_derivative_destroy(d);
    return end(&b, good, path);
}

/* The adjoint of N steps over N steps from the same state. */
static int measure_adjoint(const char* path, int count)
{
    bench b;
    bool good = begin(&b, path);
    size_t size = good ? mor_world_save(b.w, NULL, 0) : 0, n = good ? 2 * (size_t)mor_world_nu_count(b.w) : 0;
    void* start_state = malloc(size + 1);
    double *g = calloc(n + 1, sizeof *g), *by_state = calloc(n + 1, sizeof *g), forward = INFINITY, adjoint = INFINITY;
    if (good) mor_world_save(b.w, start_state, size), g[0] = 1.0;
    for (int r = 0; r < 3 && good; r++) {
        double start = mor_cpu_clock();
        good = steps(&b, count);
        forward = fmin(forward, mor_cpu_clock() - start);
        good = good && mor_world_restore(b.w, start_state, size, &b.error) == MOR_OK;
        start = mor_cpu_clock();
        if (good) good = mor_world_adjoint(b.w, count, g, NULL, 0, by_state, NULL, NULL, &b.error) == MOR_OK;
        adjoint = fmin(adjoint, mor_cpu_clock() - start);
        good = good && mor_world_restore(b.w, start_state, size, &b.error) == MOR_OK;
    }
    if (good)
        printf("%-24s %4d states  %d steps %8.1f ms  adjoint %9.1f ms = %.1f times\n", mor_scene_name(b.scene), (int)n,
               count, 1e3 * forward, 1e3 * adjoint, adjoint / forward);
    free(start_state);
    free(g);
    free(by_state);
    return end(&b, good, path);
}

/* So many steps and derivatives, for callgrind. */
static int only_run(const char* path, int step_count, int derivatives)
{
    bench b;
    bool good = begin(&b, path) && steps(&b, step_count);
    for (int i = 0; i < derivatives && good; i++) {
        mor_derivative* d = NULL;
        good = mor_world_derivative(b.w, b.inputs, b.count, &d, &b.error) == MOR_OK;
        mor_derivative_destroy(d);
    }
    return end(&b, good, path);
}

/* The adjoint of so many steps, for callgrind. */
static int only_adjoint(const char* path, int count)
{
    bench b;
    bool good = begin(&b, path);
    size_t n = good ? 2 * (size_t)mor_world_nu_count(b.w) : 0;
    double *g = calloc(n + 1, sizeof *g), *by_state = calloc(n + 1, sizeof *g);
    g[0] = 1.0;
    if (good) good = mor_world_adjoint(b.w, count, g, NULL, 0, by_state, NULL, NULL, &b.error) == MOR_OK;
    free(g);
    free(by_state);
    return end(&b, good, path);
}

int main(int argc, char** argv)
{
    static char* usual[] = { MOREAU_SCENES "/control/humanoid_stand.yaml", MOREAU_BENCH_DERIVATIVE "/ten_boxes.yaml" };
    int status = 0, adjoint = 0, first = 1;
    if (argc > 1 && strcmp(argv[1], "--engines") == 0) return bench_engines(MOREAU_SCENES "/robots/humanoid.urdf");
    if (argc > 4 && strcmp(argv[1], "--count") == 0) return only_run(argv[4], atoi(argv[2]), atoi(argv[3]));
    if (argc > 3 && strcmp(argv[1], "--count-adjoint") == 0) return only_adjoint(argv[3], atoi(argv[2]));
    if (argc > 2 && strcmp(argv[1], "--adjoint") == 0) adjoint = atoi(argv[2]), first = 3;
    char** scenes = first < argc ? argv + first : usual;
    int count = first < argc ? argc - first : 2;
    for (int i = 0; i < count; i++) status |= adjoint ? measure_adjoint(scenes[i], adjoint) : measure(scenes[i]);
    return status;
}
