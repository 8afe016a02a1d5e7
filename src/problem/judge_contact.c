/* One contact in the judge: its law as scalar pairs, its own errors, and whether it sticks.
 *
 * Circular cone, reaction r and velocity u of its rows, a = r_n/rho, p_i = r_i/rho for the rows of disc i (sliding;
 * rolling, drilling), s_i = |u_i| and mu_i the disc's coefficient:
 *
 *   0 <= a    _|_  v                       >= 0     v = u_n; convex relaxation: v = u_n - sum_i mu_i s_i
 *   0 <= s_i  _|_  mu_i^2 a^2 - |p_i|^2    >= 0     slip speed, slack of the cone
 *   mu_i a u_i + s_i p_i = 0                        friction opposes slip
 *
 * All hold if and only if (r, u) obeys the law. phi of eqs. 12 and 13 of the BPMD paper is taken over the pairs, an
 * equation counts as itself; half the sum of squares is the total error of eqs. 16 and 17. This is the circular cone of
 * the paper's NCP with its unknown slip replaced by |u_T|, which is what it is at every solution.
 *
 * Reference: Y. Lu, J. Williams, J. Trinkle, C. Lacoursiere (2014), A framework for problem standardization and
 * algorithm comparison in multibody system, eqs. 12-17; units and scaling: docs/notation.md. */
#include "base/elementary.h"
#include "base/inline.h"
#include "problem/judge.h"
#include "problem/step.h"

static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN wins */

static double square(double x) { return x * x; }

MOR_ALWAYS_INLINE void tally_cone_body(mor_tally* tally, int dim, mor_cone cone, bool convex, double rho,
                                       const double* r, const double* u)
{
    double a = r[0] / rho, v = u[0] - (convex ? mor_cone_shift(dim, cone, u) : 0.0);
    tally->fb += square(mor_fb(a, v));
    tally->cck += square(mor_cck(a, v, 0.7));
    for (int i = 0; i < mor_disc_count(dim); i++) {
        int at = mor_disc_row(i), k = mor_disc_size(dim, i);
        double s = 0.0, friction = 0.0, mu = cone.mu[i];
        for (int j = at; j < at + k; j++) s += u[j] * u[j], friction += square(r[j] / rho);
        s = sqrt(s);
        double slack = mu * mu * a * a - friction;
        tally->fb += square(mor_fb(s, slack));
        tally->cck += square(mor_cck(s, slack, 0.7));
        for (int j = at; j < at + k; j++) {
            double e = square(mu * a * u[j] + s * r[j] / rho);
            tally->fb += e, tally->cck += e;
        }
    }
}

/* Three rows, the most frequent, with loops of known length. */
void mor_tally_cone(mor_tally* tally, int dim, mor_cone cone, bool convex, double rho, const double* r, const double* u)
{
    if (dim == 3) tally_cone_body(tally, 3, cone, convex, rho, r, u);
    else tally_cone_body(tally, dim, cone, convex, rho, r, u);
}

MOR_ALWAYS_INLINE void contact_body(int dim, mor_cone cone, double rho, const double* r, const double* u,
                                    mor_residual* residual)
{
    /* normal row alone */
    double n = mor_min(r[0] / rho, u[0]);
    if (isnan(r[0]) || isnan(u[0])) n = NAN;
    residual->normal_error = larger(residual->normal_error, fabs(n));
    /* natural map of each disc: cone violation where it sticks out, misalignment where it slips */
    double worst = 0.0;
    for (int disc = 0; disc < mor_disc_count(dim); disc++) {
        int at = mor_disc_row(disc), k = mor_disc_size(dim, disc);
        double radius = cone.mu[disc] * mor_max(r[0], 0.0), x[2] = { 0, 0 }, size = 0.0, e = 0.0, p = 0.0, v = 0.0;
        for (int i = 0; i < k; i++) {
            x[i] = r[at + i] - rho * u[at + i];
            size += x[i] * x[i], p += r[at + i] * r[at + i], v += u[at + i] * u[at + i];
        }
        size = sqrt(size);
        double scale = size > radius ? radius / size : 1.0;
        for (int i = 0; i < k; i++) e += (r[at + i] - scale * x[i]) * (r[at + i] - scale * x[i]);
        worst = larger(worst, sqrt(e) / rho);
        residual->friction_power += sqrt(p) * sqrt(v);
    }
    residual->friction_error = larger(residual->friction_error, worst);
}

void mor_judge_contact(int dim, mor_cone cone, double rho, const double* r, const double* u, mor_residual* residual)
{
    if (dim == 3) contact_body(3, cone, rho, r, u, residual);
    else contact_body(dim, cone, rho, r, u, residual);
}

/* ------------------------------------------------------------------------- contact by contact */

static const double sticks_below = 1e-6; /* m/s */

static mor_contact_verdict verdict(int dim, mor_cone cone, double rho, const double* r, const double* u)
{
    mor_residual errors = { 0 };
    mor_judge_contact(dim, cone, rho, r, u, &errors);
    double slip = dim > 2 ? sqrt(u[1] * u[1] + u[2] * u[2]) : dim > 1 ? fabs(u[1]) : 0.0;
    bool held = dim > 1 && cone.mu[0] > 0.0; /* without friction nothing holds it, and rows may not tell its slip */
    int state = !(r[0] > 0.0)                  ? MOR_VERDICT_OPEN
                : !held || slip > sticks_below ? MOR_VERDICT_SLIDES
                                               : MOR_VERDICT_STICKS;
    return (mor_contact_verdict){ state, errors.normal_error, errors.friction_error, slip };
}

static int of_step(const mor_problem* problem, const double* z, mor_contact_verdict* out, mor_arena* arena)
{
    const mor_step_form* step = &problem->step;
    double* nu = mor_arena_alloc(arena, ((size_t)step->dof + 1) * sizeof *nu);
    double* u = mor_arena_alloc(arena, ((size_t)step->row_count + 1) * sizeof *u);
    if (!nu || !u) return -1;
    mor_step_velocity(step, z, nu);
    mor_step_rows(step, nu, u);
    int n = 0;
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        if (b->kind != MOR_BLOCK_CONTACT) continue;
        double rho = mor_step_rho(step, c);
        out[n] = verdict(b->dim, mor_block_cone(b), rho, z + b->row, u + b->row);
        if (mor_block_is_polygonal(b)) out[n].friction = mor_judge_polygon(b, rho, z + b->row, u + b->row);
        n++;
    }
    return n;
}

enum { GLOBAL = MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING, LOCAL = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_CQP };

int mor_judge_contact_count(const mor_problem* problem)
{
    int n = 0;
    if (problem->form & (GLOBAL | LOCAL)) return problem->contact_count;
    if (problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE))
        for (int c = 0; c < problem->step.block_count; c++) n += problem->step.blocks[c].kind == MOR_BLOCK_CONTACT;
    return n;
}

int mor_judge_contacts(const mor_problem* problem, const double* z, mor_contact_verdict* out, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    int n = -1, d = problem->dim;
    if (problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) n = of_step(problem, z, out, arena);
    else if (problem->form & (GLOBAL | LOCAL)) {
        double* u = mor_arena_alloc(arena, ((size_t)problem->size + 1) * sizeof *u);
        if (u && problem->form & GLOBAL) mor_matrix_apply_transposed(&problem->H, z + problem->size, u);
        else if (u) mor_matrix_apply(&problem->A, z, u);
        for (int i = 0; u && i < problem->size; i++) u[i] += problem->b[i];
        for (int c = 0; u && c < problem->contact_count; c++) {
            mor_cone cone = { { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } };
            if (problem->form == MOR_CQP) u[c * d] -= mor_cone_shift(d, cone, u + c * d);
            out[c] = verdict(d, cone, mor_judge_rho(problem, c), z + c * d, u + c * d);
        }
        if (u) n = problem->contact_count;
    }
    mor_arena_release(arena, mark);
    return n;
}
