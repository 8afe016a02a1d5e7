/* Many robots at once: throughput of N worlds on one thread and on one per core, beside MuJoCo with the same scheme.
 *
 * Threads take worlds one by one as they come free, as moreau.Batch does, and take STEPS steps of each. Engines and
 * numbers of threads take turns; every figure is the best of all rounds. Wall time says what a quiet machine gives. CPU
 * time says what the threads cost each other (memory, caches, locks), also on a machine that others use: with T threads
 * that cost c times the CPU time of one, T cores give a speed-up of T / c. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "wholebody.h"

enum { STEPS = 10, ENGINES = 3, MOST_THREADS = 64 };

typedef struct engine {
    char label[60];
    mor_world** worlds;
    double* scratch;
#ifdef HAVE_MUJOCO
    mjModel* model;
    mjData** data;
#endif
    double wall[2], cpu[2]; /* per step [s], with one thread and with all */
} engine;

typedef struct job {
    const engine* e;
    int count;
    atomic_int next;
} job;

static void* work(void* user)
{
    job* j = user;
    mor_error error;
    for (int i; (i = atomic_fetch_add(&j->next, 1)) < j->count;) {
        for (int k = 0; k < STEPS && j->e->worlds; k++)
            bench_fine(mor_world_step(j->e->worlds[i], NULL, &error), &error);
#ifdef HAVE_MUJOCO
        if (!j->e->worlds) bench_their_steps(j->e->model, j->e->data[i], STEPS);
#endif
    }
    return NULL;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(engine* e, int count, int threads, int slot)
{
    job j = { .e = e, .count = count };
    pthread_t ids[MOST_THREADS];
    int made = 0;
    double start = wall(), cpu = bench_cpu();
    while (made < threads - 1 && pthread_create(&ids[made], NULL, work, &j) == 0) made++;
    work(&j);
    for (int i = 0; i < made; i++) pthread_join(ids[i], NULL);
    double steps = (double)count * STEPS;
    e->wall[slot] = fmin(e->wall[slot], (wall() - start) / steps);
    e->cpu[slot] = fmin(e->cpu[slot], (bench_cpu() - cpu) / steps);
}

static int make_engines(engine* e, robot* r, int count)
{
    size_t n = (size_t)count, stride = 3 * (size_t)mor_robot_dof(r->model) + 1;
    e[0] = (engine){ .label = "moreau ncp (auto)", .wall = { INFINITY, INFINITY }, .cpu = { INFINITY, INFINITY } };
    e[0].worlds = calloc(n, sizeof *e[0].worlds);
    e[0].scratch = calloc(n * stride, sizeof *e[0].scratch);
    for (size_t i = 0; i < n; i++) e[0].worlds[i] = bench_our_world(r, "ncp", "auto", e[0].scratch + i * stride);
    int made = 1;
#ifdef HAVE_MUJOCO
    for (int k = 0; k < 2; k++) {
        engine* t = &e[made];
        *t = (engine){ .wall = { INFINITY, INFINITY },
                       .cpu = { INFINITY, INFINITY },
                       .model = bench_their_model(r, k, false) };
        if (!t->model) continue;
        snprintf(t->label, sizeof t->label, "MuJoCo %s, Newton, %s", mj_versionString(), k ? "elliptic" : "pyramidal");
        t->data = calloc(n, sizeof *t->data);
        for (size_t i = 0; i < n; i++) t->data[i] = mj_makeData(t->model);
        made++;
    }
#endif
    return made;
}

static void end_engine(engine* e, int count)
{
    for (int i = 0; i < count && e->worlds; i++) mor_world_destroy(e->worlds[i]);
#ifdef HAVE_MUJOCO
    for (int i = 0; i < count && e->data; i++) mj_deleteData(e->data[i]);
    if (e->model) mj_deleteModel(e->model);
    free(e->data);
#endif
    free(e->worlds);
    free(e->scratch);
}

void bench_batch(robot* r, int count, int rounds)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = cores < 2 ? 2 : cores > MOST_THREADS ? MOST_THREADS : (int)cores;
    engine e[ENGINES];
    int engines = make_engines(e, r, count);
    for (int i = 0; i < rounds + 5; i++) { /* five rounds to come to rest and to warm up */
        for (int k = 0; k < engines; k++) {
            measure(&e[k], count, 1, 0);
            measure(&e[k], count, threads, 1);
            for (int s = 0; s < 2 && i < 5; s++) e[k].wall[s] = e[k].cpu[s] = INFINITY;
        }
    }
    printf("\n%s, %d at once\n\n| engine | steps/s, 1 thread | steps/s, %d threads | speed-up | CPU us/step, 1 thread "
           "| CPU "
           "us/step, %d threads | speed-up by CPU time |\n|---|---|---|---|---|---|---|\n",
           r->label, count, threads, threads);
    for (int k = 0; k < engines; k++) {
        printf("| %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.2f |\n", e[k].label, 1.0 / e[k].wall[0], 1.0 / e[k].wall[1],
               e[k].wall[0] / e[k].wall[1], 1e6 * e[k].cpu[0], 1e6 * e[k].cpu[1], threads * e[k].cpu[0] / e[k].cpu[1]);
        end_engine(&e[k], count);
    }
}
