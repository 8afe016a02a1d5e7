/* What a derivative costs, in plain steps of the same scene: CPU time, median of seven rounds that take turns.
 *
 *     bench_derivative SCENE ...     default: humanoid_stand and a stack of ten boxes */
#include <moreau/derivative.h>
#include <moreau/moreau.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7 };

static int compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static int measure(const char* path)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(path, NULL, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    mor_derivative* d = NULL;
    double step[ROUNDS], derivative[ROUNDS];
    bool good = w != NULL;
    for (int k = 0; k < 20 && good; k++) good = mor_world_step(w, NULL, &error) == MOR_OK;
    for (int r = 0; r < ROUNDS && good; r++) {
        double start = mor_cpu_clock();
        for (int k = 0; k < 50 && good; k++) good = mor_world_step(w, NULL, &error) == MOR_OK;
        step[r] = (mor_cpu_clock() - start) / 50;
        mor_derivative_destroy(d);
        d = NULL;
        start = mor_cpu_clock();
        if (good) good = mor_world_derivative(w, NULL, 0, &d, &error) == MOR_OK;
        derivative[r] = mor_cpu_clock() - start;
    }
    if (good) {
        qsort(step, ROUNDS, sizeof *step, compare);
        qsort(derivative, ROUNDS, sizeof *derivative, compare);
        printf("%-40s %4d states  step %8.1f us  derivative %9.1f us = %6.1f steps\n", mor_scene_name(scene), d->rows,
               1e6 * step[ROUNDS / 2], 1e6 * derivative[ROUNDS / 2], derivative[ROUNDS / 2] / step[ROUNDS / 2]);
    } else fprintf(stderr, "%s: %s\n", path, error.text);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return !good;
}

int main(int argc, char** argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) status |= measure(argv[i]);
    if (argc < 2)
        status = measure(MOREAU_SCENES "/control/humanoid_stand.yaml") | measure(MOREAU_SCENES "/teaching/stack.yaml");
    return status;
}
