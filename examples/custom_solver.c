/* Our own solver, appended to a library and used by a world under its name: projected Jacobi for
 * LCPs,
 *
 *     z <- max(0, z - D^-1 (A z + b)),    D_ii = sum_j |A_ij|
 *
 * which converges for symmetric positive semidefinite A: contact without friction. It refuses other
 * problems with a sentence. The test is a column of six balls: the contact under ball k carries (6
 * - k) m g. */
#include <moreau/moreau.h>
#include <stdio.h>

static mor_report jacobi_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    (void)options;
    int n = problem->size;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    double* w = mor_arena_zero(context->arena, (size_t)n, sizeof *w);
    double* e = mor_arena_zero(context->arena, (size_t)n, sizeof *e);
    double* D = mor_arena_zero(context->arena, (size_t)n, sizeof *D);
    if (!w || !e || !D) return (mor_report){ .status = MOR_NUMERICAL, .detail = "out of memory" };
    for (int j = 0; j < n; j++) { /* column j of A, whatever its storage */
        e[j] = 1.0;
        mor_matrix_apply(&problem->A, e, w);
        e[j] = 0.0;
        if (!(w[j] > 0.0)) {
            snprintf(report.detail, sizeof report.detail, "diagonal %d is not positive: contact with friction?", j);
            report.status = MOR_REFUSED;
            return report;
        }
        for (int i = 0; i < n; i++) D[i] += fabs(w[i]);
    }
    for (int k = 1; k <= context->max_iter && !mor_out_of_time(context); k++) {
        mor_matrix_apply(&problem->A, z, w);
        for (int i = 0; i < n; i++) w[i] += problem->b[i];
        report.iterations = k;
        mor_trace_add(context, k, 1.0, z);
        if (context->error(context, z, w) <= context->tol) {
            report.status = MOR_SOLVED; /* the driver judges again */
            break;
        }
        for (int i = 0; i < n; i++) z[i] = fmax(0.0, z[i] - w[i] / D[i]);
    }
    return report;
}

static const mor_solver jacobi = {
    .name = "plain-jacobi",
    .summary = "projected Jacobi for frictionless contact",
    .reference = "cottle1992",
    .accepts = MOR_LCP, /* time steps are converted by the driver */
    .max_iter = 20000,
    .solve = jacobi_solve,
};

static const char scene_text[] =
    "moreau: 1\n"
    "time: { step: 0.01, end: 0.2 }\n"
    "method: { formulation: st, solver: { name: plain-jacobi, tol: 1e-9 } }\n"
    "materials: { ice: { friction: 0 } }\n"
    "bodies:\n"
    "  - { name: floor, material: ice, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, "
    "fixed: true }\n"
    "  - { name: ball, material: ice, shape: { sphere: 0.5 }, mass: 1,\n"
    "      grid: { count: [1, 1, 6], spacing: [1, 1, 1], origin: [0, 0, 0.5] } }\n";

int main(void)
{
    mor_error error = { 0 };
    mor_library* library = mor_library_create(&error);
    if (mor_library_add_solver(library, &jacobi, &error) != MOR_OK)
        return fprintf(stderr, "%s\n", error.text), error.code;
    mor_scene* scene = mor_scene_parse(scene_text, sizeof scene_text - 1, "column", NULL, library, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!world) return fprintf(stderr, "%s\n", error.text), error.code;
    mor_step_report report = { 0 };
    while (mor_world_time(world) < mor_scene_end(scene))
        if (mor_world_step(world, &report, &error) != MOR_OK || report.status != MOR_SOLVED)
            return fprintf(stderr, "%s%s\n", error.text, report.detail), 1;
    int count;
    const mor_contact* contacts = mor_world_contacts(world, &count);
    double worst = 0.0;
    printf("%s: %d iterations, velocity error %.1e m/s\n", mor_world_method(world, "solver"), report.iterations,
           report.velocity_error);
    for (int k = 0; k < count; k++) {
        double force = contacts[k].normal_impulse / mor_world_get_step(world);
        printf("  contact %d carries %8.5f N, the weight above it is %8.5f N\n", k, force, (6 - k) * 9.81);
        worst = fmax(worst, fabs(force - (6 - k) * 9.81));
    }
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    mor_library_destroy(library);
    return count == 6 && worst < 1e-5 ? 0 : 1;
}
