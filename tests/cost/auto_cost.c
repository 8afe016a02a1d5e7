/* Steps of stock scenes with several solvers, each from the same state, for a counter of instructions around them
 * (scripts/test-auto).
 *
 *     auto_cost states FOLDER COUNT    runs scenes and keeps COUNT states, drawn by a seed
 *     auto_cost solve FOLDER COUNT     the solve stage of the next step from each state with each solver
 *
 * `solve` prints a line for each call of counted_solve, in order: scene, step, solver, rows of the largest island, "ok"
 * or why not. Only steps with an island of contacts or joints count. */
#include "moreau/moreau.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All kinds: single bodies, stacks, spheres, walls, mechanisms, robots on feet, hands, terrain, belts. */
static const char* const scenes[] = {
    "s1",         "s2",       "s5",      "s6",           "s9_rod",         "s4_slide",    "incline",   "dominoes",
    "stewart",    "goblet",   "simtest", "four_bar",     "ten_balls",      "spheres_27",  "hull_rain", "conveyor",
    "multi_mesh", "pachinko", "stack",   "slider_crank", "humanoid_stand", "gripper_lift"
};
static const char* const solvers[] = { "auto", "nsn-tree", "ip-tree", "nsn", "nsgs", "psor", "prox-ncp" };
enum { LARGEST_W = 200 }; /* rows: nsn forms W, and is far from the best above */
enum { SCENES = sizeof scenes / sizeof *scenes, SOLVERS = sizeof solvers / sizeof *solvers };

static void stop(const char* what, const char* why)
{
    fprintf(stderr, "auto_cost: %s: %s\n", what, why);
    exit(2);
}

/* The k-th state: scenes in turn, each time at a step drawn between 5 and 60. */
static const char* drawn(int k, int* step)
{
    uint64_t x = 88172645463325252ull + 7919ull * (uint64_t)k;
    for (int i = 0; i < 4; i++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    *step = 5 + (int)(x % 56);
    return scenes[k % SCENES];
}

static mor_world* world_of(const char* name, mor_scene** scene)
{
    char path[1024];
    mor_error error = { 0 };
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", MOREAU_SOURCE_DIR, name);
    *scene = mor_scene_load(path, NULL, NULL, &error);
    mor_world* w = *scene ? mor_scene_build(*scene, 1, &error) : NULL;
    if (!w) stop(name, error.text);
    return w;
}

static FILE* state_file(const char* folder, int k, const char* mode)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%03d.state", folder, k);
    FILE* f = fopen(path, mode);
    if (!f) stop(path, "cannot be opened");
    return f;
}

static void keep_state(const char* folder, int k)
{
    int step;
    mor_scene* scene;
    mor_error error = { 0 };
    const char* name = drawn(k, &step);
    mor_world* w = world_of(name, &scene);
    for (int i = 0; i < step; i++)
        if (mor_world_step(w, NULL, &error) != MOR_OK) stop(name, error.text);
    size_t size = mor_world_save(w, NULL, 0);
    void* block = malloc(size);
    if (!block || mor_world_save(w, block, size) != size) stop(name, "out of memory");
    FILE* f = state_file(folder, k, "wb");
    if (fwrite(block, 1, size, f) != size || fclose(f)) stop(folder, "cannot be written");
    free(block);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* What is counted. */
__attribute__((noinline)) mor_code counted_solve(const mor_world* w, mor_step* k, mor_error* error);
mor_code counted_solve(const mor_world* w, mor_step* k, mor_error* error) { return mor_stage_solve(w, k, error); }

static void solve_with(mor_world* w, const char* name, int step, const char* solver)
{
    mor_error error = { 0 };
    if (mor_world_set_method(w, "solver", solver, &error) != MOR_OK) stop(solver, error.text);
    if (mor_world_check_methods(w, &error) != MOR_OK) return; /* not for this formulation */
    /* what worlds ask of auto: at a looser tolerance others return the guess, and leave the work to later steps */
    mor_world_set_option(w, "solver", "tol", "1e-10", &error);
    /* a method that needs more is not the best one, and would be waited for */
    if (strcmp(solver, "auto") != 0) mor_world_set_option(w, "solver", "max_iter", "100", &error);
    mor_step* k = mor_step_create(w, &error);
    if (!k || mor_stage_user(w, k, &error) || mor_stage_collide(w, k, &error) || mor_stage_control(w, k, &error) ||
        mor_stage_assemble(w, k, &error))
        stop(name, error.text);
    int rows = 0;
    for (int i = 0; i < mor_step_island_count(k); i++)
        if (mor_step_system(k, i)->row_count > rows) rows = mor_step_system(k, i)->row_count;
    bool fits = strcmp(solver, "nsn") != 0 || rows <= LARGEST_W;
    if (rows > 0 && fits) {
        bool ok = counted_solve(w, k, &error) == MOR_OK && mor_step_status(k) == MOR_SOLVED;
        printf("%s %d %s %d %s\n", name, step, solver, rows, ok ? "ok" : "unsolved");
    }
    mor_step_destroy(k);
}

static void solve_from(const char* folder, int k)
{
    int step;
    mor_error error = { 0 };
    const char* name = drawn(k, &step);
    FILE* f = state_file(folder, k, "rb");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    void* block = malloc(size);
    if (!block || fread(block, 1, size, f) != size) stop(name, "the state cannot be read");
    fclose(f);
    mor_scene* scene;
    mor_world* w = world_of(name, &scene);
    for (int s = 0; s < SOLVERS; s++) {
        if (mor_world_restore(w, block, size, &error) != MOR_OK) stop(name, error.text);
        solve_with(w, name, step, solvers[s]);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    free(block);
}

int main(int argc, char** argv)
{
    if (argc != 4) stop("usage", "auto_cost states|solve FOLDER COUNT");
    int count = atoi(argv[3]);
    for (int k = 0; k < count; k++) {
        if (strcmp(argv[1], "states") == 0) keep_state(argv[2], k);
        else solve_from(argv[2], k);
    }
    return 0;
}
