/* The stages one by one: stop a step after assembly, look at the system, solve it with two solvers,
 * compare their answers with each other and with the weight of the stack, and let the step go on. */
#include <moreau/moreau.h>
#include <stdio.h>
#include <stdlib.h>

/* Solves the system with one solver; returns the summed normal impulse against the fixed world. */
static double solve_with(const mor_world* world, const char* name, const mor_system* s)
{
    mor_arena* arena = mor_arena_create(NULL);
    double* bias = mor_arena_zero(arena, (size_t)s->row_count, sizeof *bias);
    double* p = mor_arena_zero(arena, (size_t)s->row_count, sizeof *p);
    for (int i = 0; i < s->contact_count; i++) bias[s->blocks[s->contacts[i].block].row] = s->contacts[i].gap / s->h;
    mor_block* blocks;
    mor_problem problem = mor_system_problem(s, s->directions, bias, arena, &blocks);
    mor_solve_options options = mor_solve_options_default();
    options.tol = 1e-10; /* m/s */
    mor_report r = mor_solve(mor_library_solver(mor_world_library(world), name), NULL, &problem, &options, p, arena);
    double sum = 0.0;
    for (int i = 0; i < s->contact_count; i++) {
        const mor_block* b = &s->blocks[s->contacts[i].block];
        if (b->entry_count == 1) sum += p[b->row]; /* one tree only: the other body is the floor */
    }
    printf("  %-6s %s, %4d iterations, velocity error %.1e m/s, floor carries %.9f N s\n", name,
           mor_status_name(r.status), r.iterations, r.residual.velocity, sum);
    mor_arena_destroy(arena);
    return r.status == MOR_SOLVED ? sum : NAN;
}

int main(void)
{
    mor_error error = { 0 };
    const char* const fewer[] = { "bodies.box.grid.count=[1,1,4]", NULL };
    mor_scene* scene = mor_scene_load("scenes/teaching/stack.yaml", fewer, NULL, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!world) return fprintf(stderr, "%s\n", error.text), error.code;
    for (int k = 0; k < 100; k++)
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;

    mor_stage_user(world);
    mor_stage_collide(world);
    mor_stage_assemble(world);

    int contacts;
    mor_world_contacts(world, &contacts);
    printf("%s, step %d: %d contacts, %d island\n", mor_scene_name(scene), mor_world_step_count(world) + 1, contacts,
           mor_world_island_count(world));
    const mor_system* s = mor_world_system(world, 0);
    printf("  M is %d x %d in %d blocks, G has %d rows in %d contacts\n", s->dof, s->dof, s->tree_count, s->row_count,
           s->contact_count);
    double weight = 0.0;
    for (int t = 0; t < s->tree_count; t++) weight += s->trees[t].mass[0] * 9.81 * s->h; /* M_00 of a free body: m */
    double lemke = solve_with(world, "lemke", s), pgs = solve_with(world, "pgs", s);
    printf("  weight of the stack times h:                              %.9f N s\n", weight);

    mor_status status = mor_stage_solve(world);
    mor_stage_integrate(world);
    if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;
    printf("  went on to step %d, deepest penetration %.1e m\n", mor_world_step_count(world),
           mor_world_penetration(world));
    bool right = status == MOR_SOLVED && fabs(lemke - weight) < 1e-6 * weight && fabs(pgs - weight) < 1e-6 * weight &&
                 mor_world_penetration(world) < 1e-6;
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return right ? 0 : 1;
}
