/* The convex relaxation: Coulomb's law without its non-convex term, as a conic QP.
 *
 *     minimise  1/2 p'(W + R) p + p'w   over the friction cones |p_f| <= mu p_n,     w = G' nu_free + b
 *
 * Its optimality conditions are K* contains u _|_ p in K with u = (W + R) p + w: De Saxce's law without mu |u_f| in the
 * normal row. So a sliding contact separates with u_n = mu |u_f| (a box that slides at 3 m/s hops), while sticking and
 * open contacts are those of Coulomb. R = regularisation * W_nn on every row of a contact, R > 0 makes the answer
 * unique and the impulses a function of the velocity ("invertible dynamics"), at the price of softness: u = -R p in a
 * resting contact.
 *
 * What the relaxation costs is said, not hidden: residual and detail of the report are the judge's verdict of the
 * answer on the true problem (that of `ncp`), in m/s; status is that of the convex problem.
 *
 * Gaps and restitution as in `st`; joints are eliminated by the conversion. Solvers: apgd, convex-newton and others
 * that take `cqp`.
 *
 * M. Anitescu (2006), Optimization-based simulation of nonsmooth rigid multibody dynamics; M. Anitescu, A. Tasora
 * (2010), An iterative approach for cone complementarity problems for nonsmooth dynamics; E. Todorov (2011), A convex,
 * smooth and invertible contact model for trajectory optimization. */
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "problem/convert.h"

#include "linalg/sparse.h"

#include <stdio.h>
#include <string.h>

typedef struct convex_options {
    double regularisation;
} convex_options;

static const mor_field convex_fields[] = { { "regularisation", MOR_TYPE_DOUBLE,
                                             offsetof(convex_options, regularisation), 1e-6, 0, 1e3, NULL, "",
                                             "R as a fraction of the contact's own W_nn" },
                                           { 0 } };

/* The conic QP of a cone problem: A = W + R. False: out of memory. */
static bool relax(const mor_problem* cones, double fraction, mor_arena* arena, mor_problem* out)
{
    int n = cones->size, d = cones->dim;
    const mor_matrix* W = &cones->A;
    *out = *cones;
    out->form = MOR_CQP;
    if (W->storage == MOR_DENSE) {
        double* x = mor_arena_alloc(arena, (size_t)n * n * sizeof *x);
        if (!x) return false;
        memcpy(x, W->x, (size_t)n * n * sizeof *x);
        for (int i = 0; i < n; i++) {
            int normal = i / d * d;
            x[i + (size_t)i * n] += fraction * W->x[normal + (size_t)normal * n];
        }
        out->A.x = x;
        return true;
    }
    int entries = W->p[n];
    double* x = mor_arena_alloc(arena, ((size_t)entries + 1) * sizeof *x);
    if (!x) return false;
    memcpy(x, W->x, (size_t)entries * sizeof *x);
    const mor_csr view = { n, n, W->p, W->i, W->x };
    for (int i = 0; i < n; i++)
        for (int k = W->p[i]; k < W->p[i + 1]; k++)
            if (W->i[k] == i) x[k] += fraction * mor_csr_get(&view, i / d * d, i / d * d);
    out->A.x = x;
    return true;
}

static mor_report convex_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    const convex_options* o = options;
    double* bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *bias);
    mor_problem step, relaxed;
    int* row_of;
    if (!bias) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    if (!mor_step_problem(s, 0, bias, NULL, stage->arena, &step, &row_of)) return mor_report_no_memory();

    mor_conversion conversion = { 0 };
    mor_error error = { 0 };
    mor_code code = MOR_BAD_INPUT;
    bool no_solution = false;
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
    if (!z || !relax(&conversion.to, o->regularisation, stage->arena, &relaxed)) {
        mor_conversion_destroy(&conversion);
        return mor_report_no_memory();
    }
    bool warm = false;
    for (int i = 0; i < s->row_count; i++) warm = warm || answer->impulses[i] != 0.0;
    if (warm) conversion.forward(&conversion, answer->impulses, z, stage->arena);
    report = stage->solve(stage, &relaxed, warm, z);
    conversion.back(&conversion, z, answer->impulses, stage->arena);
    mor_conversion_destroy(&conversion);
    mor_system_velocity(s, answer->impulses, answer->nu);

    double missed = report.residual.velocity; /* in the relaxed problem */
    report.residual = mor_judge(&step, answer->impulses, stage->arena);
    /* an answer that missed its tolerance is judged by how far it misses, not by what the relaxation costs */
    if (report.status == MOR_NOT_CONVERGED && missed > 0.0) report.residual.velocity = missed;
    if (report.status == MOR_SOLVED)
        snprintf(report.detail, sizeof report.detail, "relaxation error %.3g m/s", report.residual.velocity);
    return report;
}

const mor_formulation mor_formulation_convex = {
    .name = "convex",
    .summary = "convex relaxation of Coulomb's law as a conic QP; reports the relaxation error",
    .reference = "todorov2011",
    .produces = MOR_CQP,
    .options_size = sizeof(convex_options),
    .fields = convex_fields,
    .step = convex_step,
    .impacts = true,
    .gaps = true,
    .turning = 1,
};
