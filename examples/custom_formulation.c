/* Our own formulation, registered under a name: Stewart-Trinkle stepping that takes out only a
 * share beta of a penetration in each step, so that deep overlaps open without a jump of the
 * velocity.
 *
 *     u_n + psi/h >= 0 for psi >= 0,    u_n + beta psi/h >= 0 for psi < 0
 *
 * A body that starts at depth d is at depth d (1 - beta)^n after n steps (if beta^2 d <= g h^2, so
 * that gravity can slow it down as fast as the rows ask): the closed form to check. */
#include <moreau/moreau.h>
#include <stdio.h>

typedef struct gentle_options {
    double share;
} gentle_options;

static const mor_field gentle_fields[] = { { "share", MOR_TYPE_DOUBLE, offsetof(gentle_options, share), 0.2, 0, 1, NULL,
                                             "", "of a penetration, taken out per step" },
                                           { 0 } };

static mor_report gentle_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const gentle_options* o = options;
    double* bias = mor_arena_zero(stage->arena, (size_t)s->row_count, sizeof *bias);
    if (!bias) return (mor_report){ .status = MOR_NUMERICAL, .detail = "out of memory" };
    for (int i = 0; i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        const mor_block* block = &s->blocks[c->block];
        for (int d = 0; d < block->dim; d++) bias[block->row + d] = c->drift[d]; /* belts, kinematic bodies */
        bias[block->row] += (c->gap < 0.0 ? o->share : 1.0) * c->gap / s->h;
    }
    mor_block* blocks;
    mor_problem problem = mor_system_problem(s, s->directions, bias, stage->arena, &blocks);
    mor_report report = stage->solve(stage, &problem, true, answer->impulses); /* the world's solver, judged */
    mor_system_velocity(s, answer->impulses, answer->nu);
    return report;
}

static const mor_formulation gentle = {
    .name = "gentle",
    .summary = "Stewart-Trinkle with penetrations taken out over several steps",
    .reference = "stewart1996",
    .produces = MOR_STEP_PYRAMID,
    .options_size = sizeof(gentle_options),
    .fields = gentle_fields,
    .step = gentle_step,
};

static const char scene_text[] =
    "moreau: 1\n"
    "time: { step: 0.01, end: 0.3 }\n"
    /* scenes know our name and our option; overlaps are left to our rows, not undone by moving the box */
    "method: { formulation: { name: gentle, share: 0.1 }, gap_correction: velocity }\n"
    "bodies:\n"
    "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
    "  - { name: box, shape: { box: [1, 1, 1] }, mass: 1, position: [0, 0, 0.45] }\n";

int main(void)
{
    mor_error error = { 0 };
    mor_library* library = mor_library_create(&error);
    if (mor_library_add_formulation(library, &gentle, &error) != MOR_OK)
        return fprintf(stderr, "%s\n", error.text), error.code;
    mor_scene* scene = mor_scene_parse(scene_text, sizeof scene_text - 1, "gentle", NULL, library, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!world) return fprintf(stderr, "%s\n", error.text), error.code;

    double worst = 0.0;
    for (int n = 1; n <= 30; n++) {
        mor_step_report report;
        if (mor_world_step(world, &report, &error) != MOR_OK || report.status != MOR_SOLVED)
            return fprintf(stderr, "%s%s\n", error.text, report.detail), 1;
        double depth = 0.5 - mor_body_get_state(world, mor_world_find_body(world, "box")).com.z;
        double expected = 0.05 * pow(0.9, n);
        worst = fmax(worst, fabs(depth - expected));
        if (n % 10 == 0) printf("step %2d: depth %.6f m, expected %.6f m\n", n, depth, expected);
    }
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    mor_library_destroy(library);
    return worst < 1e-9 ? 0 : 1;
}
