/* Hunt and Crossley's compliant contact: a spring whose damper grows with the depth.
 *
 *     f_n = k d^n (1 + a d'),  not below 0,    d = -psi,    f_t = -mu f_n u_T / max(|u_T|, v_s)
 *
 * The force begins and ends at zero, unlike that of a spring with a damper beside it (penalty), and takes energy only.
 * For a blow against a mass, whatever k, n and m are, the speeds before and after obey
 *
 *     a v - ln(1 + a v) = -a v' - ln(1 - a v'),    so e = v'/v = 1 - 2/3 a v + ...
 *
 * faster blows bounce less, as they do in measurements. The step is divided into `substeps`; in each, contact by
 * contact, the force is that of the end of the substep (implicit in the contact's own W_nn, one scalar equation that
 * falls in p, by Newton's method between bounds):
 *
 *     p = h k d1^n (1 + a d1'),    d1' = -(u + W p),   d1 = -psi + h d1'
 *
 * Implicit steps lose energy too: take substeps of a tenth of the contact's time or less. Positions follow the
 * substeps. At rest bodies sink by (weight/k)^(1/n). No joints. Nothing converges or fails.
 *
 * K. H. Hunt, F. R. E. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", J. Appl. Mech. 42
 * (1975) 440-445. */
#include "base/elementary.h"
#include "formulation/penalty.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"

#include <math.h>

typedef struct options {
    double stiffness, exponent, dissipation, slip_speed;
    int substeps;
} options;

static const mor_field fields[] = { { "stiffness", MOR_TYPE_DOUBLE, offsetof(options, stiffness), 1e6, 1e-6, 1e18, NULL,
                                      "N/m^n", "spring of one contact point" },
                                    { "exponent", MOR_TYPE_DOUBLE, offsetof(options, exponent), 1.5, 1, 5, NULL, "",
                                      "n: 1 linear, 1.5 round bodies (Hertz)" },
                                    { "dissipation", MOR_TYPE_DOUBLE, offsetof(options, dissipation), 1, 0, 1e6, NULL,
                                      "s/m", "a: restitution falls as 1 - 2/3 a v" },
                                    { "slip_speed", MOR_TYPE_DOUBLE, offsetof(options, slip_speed), 1e-3, 1e-12, 1e3,
                                      NULL, "m/s", "below it friction is viscous" },
                                    { "substeps", MOR_TYPE_INT, offsetof(options, substeps), 20, 1, 100000, NULL, "",
                                      "substeps per step" },
                                    { 0 } };

/* h k d^n (1 + a v) */
static double force(const options* o, double h, double depth, double v)
{
    if (!(depth > 0.0)) return 0.0;
    double power = o->exponent == 1.0 ? depth : o->exponent == 1.5 ? depth * sqrt(depth) : mor_pow(depth, o->exponent);
    return h * o->stiffness * power * mor_max(1.0 + o->dissipation * v, 0.0);
}

static double normal(const void* own, double h, double gap, double u, double W)
{
    const options* o = own;
    double depth = -gap - h * u, low = 0.0, a = o->dissipation;
    if (!(depth > 0.0) || 1.0 - a * u <= 0.0) return 0.0;
    double most = force(o, h, depth, -u);
    if (!(W > 0.0)) return most;
    double high = mor_min(most, depth / (h * W)); /* the answer is between: the right side falls with p */
    double p = most / (1.0 + W * most * (o->exponent * h / depth + a / (1.0 - a * u)));
    for (int i = 0; i < 100 && high - low > 1e-15 * high; i++) {
        double d = depth - h * W * p, v = -u - W * p, f = force(o, h, d, v), r = f - p;
        if (r > 0.0) low = p;
        else high = p;
        double slope = d > 0.0 && 1.0 + a * v > 0.0 ? f * W * (o->exponent * h / d + a / (1.0 + a * v)) : 0.0;
        double next = p + r / (1.0 + slope);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - p) <= 1e-15 * next) break;
        p = next;
    }
    return p;
}

static mor_report step(const mor_system* s, const void* own, mor_solve_stage* stage, mor_answer* answer)
{
    const options* o = own;
    mor_penalty_law law = { "hunt-crossley", normal, o->slip_speed, o->substeps };
    double* path = mor_arena_zero(stage->arena, (size_t)s->dof + 1, sizeof *path);
    if (!path) return mor_report_no_memory();
    mor_report report = mor_penalty_step(s, own, &law, stage, answer, path);
    for (int i = 0; report.status == MOR_SOLVED && answer->move && i < s->dof; i++) answer->move[i] = path[i] / s->h;
    return report;
}

const mor_formulation mor_formulation_hunt_crossley = {
    .name = "hunt-crossley",
    .summary = "compliant contact whose damping grows with depth; restitution falls with speed; no problem, no solver",
    .reference = "hunt1975",
    .produces = 0,
    .options_size = sizeof(options),
    .fields = fields,
    .step = step,
    .overlaps = mor_penalty_overlaps,
    .flies = true,
};
