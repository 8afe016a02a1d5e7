/* Implicit complementarity: one unknown per contact row carries both velocity and impulse.
 *
 *     p(x) = (x_n)+ and the point of the disc of radius mu p_n nearest to x_f,     u(x) = (p(x) - x)/rho
 *
 * so Coulomb's law holds for every x, and the step is the square system of equations
 *
 *     e(x) = W p(x) + w - u(x) = 0,     w = G' nu_free + b
 *
 * without inequalities, solved by Gauss-Newton: solver `implicit-gn`, which forms p(x) and e(x) itself. Here the
 * reduced cone problem (W, w, mu) of the whole island is handed over, with the bias of `st`: unlike the original, gaps
 * are in the rows and M is the full mass matrix. Every other solver of cone problems finds the same answers, so they
 * can be compared with.
 *
 * E. Todorov (2010), Implicit nonlinear complementarity: a new approach to contact dynamics. */
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "problem/convert.h"

#include <stdio.h>

static mor_report implicit_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    double* bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *bias);
    mor_problem step;
    int* row_of;
    if (!bias) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    if (!mor_step_problem(s, 0, bias, NULL, stage->arena, &step, &row_of)) return mor_report_no_memory();

    mor_conversion conversion = { 0 };
    mor_error error = { 0 };
    mor_code code = MOR_BAD_INPUT;
    bool no_solution = false, warm = false;
    const mor_form forms[] = { MOR_FC3D, MOR_FC2D, MOR_FC_ROLLING };
    for (int k = 0; k < 3 && code == MOR_BAD_INPUT; k++)
        code = mor_convert(&step, forms[k], &conversion, &no_solution, stage->arena, &error);
    if (code == MOR_SYSTEM) return mor_report_no_memory();
    mor_report report = { .status = MOR_REFUSED };
    if (code != MOR_OK) {
        snprintf(report.detail, sizeof report.detail, "%.150s", error.text);
        return report;
    }
    double* z = mor_arena_zero(stage->arena, (size_t)conversion.to.size, sizeof *z);
    if (!z) {
        mor_conversion_destroy(&conversion);
        return mor_report_no_memory();
    }
    for (int i = 0; i < s->row_count; i++) warm = warm || answer->impulses[i] != 0.0;
    if (warm) conversion.forward(&conversion, answer->impulses, z, stage->arena);
    report = stage->solve(stage, &conversion.to, warm, z);
    conversion.back(&conversion, z, answer->impulses, stage->arena);
    mor_conversion_destroy(&conversion);
    mor_system_velocity(s, answer->impulses, answer->nu);
    report.residual.velocity = mor_judge(&step, answer->impulses, stage->arena).velocity;
    return report;
}

const mor_formulation mor_formulation_implicit = {
    .name = "implicit",
    .summary = "implicit complementarity: the reduced cone problem for implicit-gn",
    .reference = "todorov2010",
    .produces = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING,
    .options_size = 0,
    .step = implicit_step,
    .impacts = true,
    .gaps = true,
    .turning = 1,
};
