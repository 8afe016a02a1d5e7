/* The judge: every measure of how wrong an answer is, one code for all methods.
 *
 * LCP       natural map e = z - max(0, z - w):  absolute |e|, relative |e|/|b|
 * MLCP      absolute: natural map with w itself on equations. relative: Siconos's measure: with
 *           E = sum over equation blocks |w_b|, I = sum over complementary rows of
 *           (-z)+ + (z w where both are negative) + (-w)+ + (z w where both are positive),
 *           Ne = 1 + sum |b_b|, Ni = 1 + sum |w_b| (blocks given) or 1 + |b_compl|:
 *           I/(1+Ni) if I/Ni >= E/Ne else E/(1+Ne). It is not scale free; absolute is the better one.
 * MCP       natural map z - mid(l, z - w, u); relative over max(|b|, |z|, |w|)
 * QP        judge_qp.c
 * FC        e_c = r_c - P_K(r_c - u^_c) (cone.h), step 1: relative |e|/max(|b|, |r|, |u|)
 * CQP       the same without the mu |u_T| term
 * GFC       |M v - H r - f|/max(|f|, |M v|, |H r|) + |e|/max(|r|, |u|), u = H' v + b; absolute |e|
 * STEP      judge_step.c
 *
 * A scale at or below 2.2e-16 does not divide. Merits: natural 1/2|e|^2, and FB and CCK over complementary pairs;
 * contacts: those of judge_contact.c; a boxed row uses phi(z - l, -phi(u - z, -w)) (Billups 1995).
 *
 * Reference: Acary, Bremond, Huber (2018), On solving contact problems with Coulomb friction:
 * formulations and numerical comparisons, eq. 46-48; Siconos numerics, *_compute_error. */
#include "problem/judge.h"

#include <float.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "problem/cone.h"
#include "problem/step.h"

enum {
    GLOBAL = MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING,
    LOCAL = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_CQP,
    STEPS = MOR_STEP_PYRAMID | MOR_STEP_CONE
};

/* NaN when the scale overflowed: nothing is small against infinity. */
static double over(double value, double scale)
{
    if (!isfinite(scale)) return NAN;
    return scale > DBL_EPSILON ? value / scale : value;
}
static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN wins */

void mor_tally_pair(mor_tally* tally, double a, double b)
{
    double m = a < b || isnan(a) ? a : b, f = mor_fb(a, b), c = mor_cck(a, b, 0.7);
    tally->natural += m * m;
    tally->fb += f * f;
    tally->cck += c * c;
    tally->largest = larger(tally->largest, fabs(m));
}

void mor_tally_bounded(mor_tally* tally, double z, double lower, double upper, double w)
{
    if (lower == -INFINITY && upper == INFINITY) {
        mor_tally_equation(tally, w);
        return;
    }
    double e, f, c;
    if (upper == INFINITY) e = mor_min(z - lower, w), f = mor_fb(z - lower, w), c = mor_cck(z - lower, w, 0.7);
    else if (lower == -INFINITY) e = mor_min(upper - z, -w), f = mor_fb(upper - z, -w), c = mor_cck(upper - z, -w, 0.7);
    else {
        e = z - mor_min(upper, mor_max(lower, z - w));
        f = mor_fb(z - lower, -mor_fb(upper - z, -w));
        c = mor_cck(z - lower, -mor_cck(upper - z, -w, 0.7), 0.7);
    }
    if (isnan(z) || isnan(w)) e = NAN;
    tally->natural += e * e;
    tally->fb += f * f;
    tally->cck += c * c;
    tally->largest = larger(tally->largest, fabs(e));
}

static mor_residual unknown(void) { return (mor_residual){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN }; }

/* A z + b, from the caller or computed */
static const double* image(const mor_problem* problem, const double* z, const double* w, mor_arena* arena)
{
    if (w) return w;
    double* own = mor_arena_alloc(arena, (size_t)problem->size * sizeof *own);
    if (!own) return NULL;
    mor_matrix_apply(&problem->A, z, own);
    for (int i = 0; i < problem->size; i++) own[i] += problem->b[i];
    return own;
}

static double lower_of(const mor_problem* problem, int i) { return problem->lower ? problem->lower[i] : 0.0; }
static double upper_of(const mor_problem* problem, int i) { return problem->upper ? problem->upper[i] : INFINITY; }

/* ------------------------------------------------------------------- LCP, MLCP, MCP */

static void tally_rows(const mor_problem* problem, const double* z, const double* w, mor_tally* tally)
{
    bool boxed = problem->form == MOR_MCP;
    for (int i = 0; i < problem->size; i++)
        if (boxed) mor_tally_bounded(tally, z[i], lower_of(problem, i), upper_of(problem, i), w[i]);
        else if (problem->form == MOR_MLCP && lower_of(problem, i) == -INFINITY) mor_tally_equation(tally, w[i]);
        else mor_tally_pair(tally, z[i], w[i]);
}

static double relative_mlcp(const mor_problem* problem, const double* z, const double* w)
{
    double E = 0.0, I = 0.0, Ne = 1.0, Ni = 1.0;
    if (problem->groups) {
        for (int g = 0; g < problem->group_count; g++) {
            int a = problem->groups[g], n = problem->groups[g + 1] - a;
            if (lower_of(problem, a) == -INFINITY) E += mor_norm2(n, w + a), Ne += mor_norm2(n, problem->b + a);
            else Ni += mor_norm2(n, w + a);
        }
    } else {
        double e = 0.0, be = 0.0, bi = 0.0;
        for (int i = 0; i < problem->size; i++)
            if (lower_of(problem, i) == -INFINITY) e += w[i] * w[i], be += problem->b[i] * problem->b[i];
            else bi += problem->b[i] * problem->b[i];
        E = sqrt(e), Ne += sqrt(be), Ni += sqrt(bi);
    }
    for (int i = 0; i < problem->size; i++) {
        if (lower_of(problem, i) == -INFINITY) continue;
        if (isnan(z[i]) || isnan(w[i])) return NAN;
        if (z[i] < 0.0) I += -z[i] + (w[i] < 0.0 ? z[i] * w[i] : 0.0);
        if (w[i] < 0.0) I -= w[i];
        if (z[i] > 0.0 && w[i] > 0.0) I += z[i] * w[i];
    }
    if (!isfinite(E) || !isfinite(Ne) || !isfinite(Ni)) return NAN;
    return I / Ni >= E / Ne ? I / (1.0 + Ni) : E / (1.0 + Ne);
}

static mor_residual judge_rows(const mor_problem* problem, const double* z, const double* w)
{
    mor_residual r = unknown();
    mor_tally t = { 0 };
    int n = problem->size;
    tally_rows(problem, z, w, &t);
    r.absolute = sqrt(t.natural);
    if (problem->form == MOR_LCP) r.relative = over(r.absolute, mor_norm2(n, problem->b));
    else if (problem->form == MOR_MLCP) r.relative = relative_mlcp(problem, z, w);
    else r.relative = over(r.absolute, mor_max(mor_norm2(n, problem->b), mor_max(mor_norm2(n, z), mor_norm2(n, w))));
    r.natural = 0.5 * t.natural, r.fb = 0.5 * t.fb, r.cck = 0.5 * t.cck;
    return r;
}

/* ------------------------------------------------------------------------------ FC and GFC */

/* Frobenius norm of the diagonal block of contact c; NaN for operators. */
static double block_norm(const mor_matrix* A, int dim, int c)
{
    double s = 0.0;
    if (A->storage == MOR_OPERATOR) return NAN;
    for (int i = c * dim; i < (c + 1) * dim; i++) {
        if (A->storage == MOR_DENSE)
            for (int j = c * dim; j < (c + 1) * dim; j++)
                s += A->x[i + (size_t)j * A->rows] * A->x[i + (size_t)j * A->rows];
        else
            for (int k = A->p[i]; k < A->p[i + 1]; k++)
                if (A->i[k] >= c * dim && A->i[k] < (c + 1) * dim) s += A->x[k] * A->x[k];
    }
    return sqrt(s);
}

/* |e|, the 2-norm of the natural map with step 1 */
static double cone_error(const mor_problem* problem, const double* r, const double* u)
{
    double s = 0.0, e[5];
    int d = problem->dim;
    for (int c = 0; c < problem->contact_count; c++) {
        mor_cone cone = { { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } };
        (problem->form == MOR_CQP ? mor_cone_natural_convex : mor_cone_natural)(d, cone, 1.0, r + c * d, u + c * d, e);
        for (int i = 0; i < d; i++) s += e[i] * e[i];
    }
    return sqrt(s);
}

/* Step of a contact in a stored problem: 1/|W_cc|, or 1 where there is no matrix to take it from. */
double mor_judge_rho(const mor_problem* problem, int c)
{
    if (problem->form & GLOBAL) return 1.0;
    double norm = block_norm(&problem->A, problem->dim, c);
    return norm > 0.0 ? 1.0 / norm : 1.0;
}

/* `dynamics`: the square of what the equations of motion miss. */
static void contact_measures(const mor_problem* problem, const double* r, const double* u, double dynamics,
                             mor_residual* out)
{
    int d = problem->dim;
    bool scaled = !(problem->form & GLOBAL) && problem->A.storage != MOR_OPERATOR, convex = problem->form == MOR_CQP;
    mor_tally pairs = { 0 };
    out->normal_error = out->friction_error = out->friction_power = 0.0;
    if (scaled) out->velocity = 0.0;
    for (int c = 0; c < problem->contact_count; c++) {
        mor_cone cone = { { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } };
        double rho = mor_judge_rho(problem, c), v[5];
        mor_tally_cone(&pairs, d, cone, convex, 1.0, r + c * d, u + c * d);
        if (scaled) {
            (convex ? mor_cone_natural_convex : mor_cone_natural)(d, cone, rho, r + c * d, u + c * d, v);
            out->velocity = larger(out->velocity, mor_norm2(d, v) / rho);
        }
        memcpy(v, u + c * d, (size_t)d * sizeof *v);
        if (convex) v[0] -= mor_cone_shift(d, cone, v);
        mor_judge_contact(d, cone, rho, r + c * d, v, out);
    }
    out->fb = 0.5 * (pairs.fb + dynamics), out->cck = 0.5 * (pairs.cck + dynamics);
}

static double relative_local(const mor_problem* problem, const double* r, const double* u, double absolute)
{
    int n = problem->size;
    return over(absolute, mor_max(mor_norm2(n, problem->b), mor_max(mor_norm2(n, r), mor_norm2(n, u))));
}

/* u = H' v + b; fills relative and absolute; *missed: the square of what the equations of motion miss */
static const double* judge_global(const mor_problem* problem, const double* z, double* missed, mor_residual* out,
                                  mor_arena* arena)
{
    int n = problem->size, m = problem->M.rows;
    const double *r = z, *v = z + n;
    double* Mv = mor_arena_alloc(arena, (size_t)m * sizeof *Mv);
    double* Hr = mor_arena_alloc(arena, (size_t)m * sizeof *Hr);
    double* u = mor_arena_alloc(arena, (size_t)n * sizeof *u);
    if (!Mv || !Hr || !u) return NULL;
    mor_matrix_apply(&problem->M, v, Mv);
    mor_matrix_apply(&problem->H, r, Hr);
    mor_matrix_apply_transposed(&problem->H, v, u);
    double s = 0.0;
    for (int i = 0; i < m; i++) {
        double e = problem->f[i] + Hr[i] - Mv[i];
        s += e * e;
    }
    for (int i = 0; i < n; i++) u[i] += problem->b[i];
    double dynamics = over(sqrt(s), mor_max(mor_norm2(m, problem->f), mor_max(mor_norm2(m, Mv), mor_norm2(m, Hr))));
    out->absolute = cone_error(problem, r, u);
    out->relative = dynamics + over(out->absolute, mor_max(mor_norm2(n, r), mor_norm2(n, u)));
    out->natural = 0.5 * (out->absolute * out->absolute + s);
    *missed = s;
    return u;
}

/* ---------------------------------------------------------------------------------- public */

mor_residual mor_judge(const mor_problem* problem, const double* z, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    mor_residual out = unknown();
    if (problem->form & STEPS) out = mor_judge_step(problem, z, NULL, arena);
    else if (problem->form & GLOBAL) {
        double missed = 0.0;
        const double* u = judge_global(problem, z, &missed, &out, arena);
        if (u) contact_measures(problem, z, u, missed, &out);
    } else if (problem->form == MOR_QP) out = mor_judge_qp(problem, z, arena);
    else {
        const double* w = image(problem, z, NULL, arena);
        if (w && problem->form & LOCAL) {
            out.absolute = cone_error(problem, z, w);
            out.relative = relative_local(problem, z, w, out.absolute);
            out.natural = 0.5 * out.absolute * out.absolute;
            contact_measures(problem, z, w, 0.0, &out);
        } else if (w) out = judge_rows(problem, z, w);
    }
    mor_arena_release(arena, mark);
    return out;
}

double mor_judge_error(const mor_problem* problem, const mor_residual* residual)
{
    return problem->form & STEPS ? residual->velocity : residual->relative;
}

double mor_judge_quick(const mor_problem* problem, const double* z, const double* w, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    double error = NAN;
    if (problem->form & STEPS) error = mor_judge_step_velocity(problem, z, NULL, arena);
    else if (problem->form & GLOBAL) {
        mor_residual r = unknown();
        double missed;
        judge_global(problem, z, &missed, &r, arena);
        error = r.relative;
    } else if (problem->form == MOR_QP) error = mor_judge_qp(problem, z, arena).relative;
    else if ((w = image(problem, z, w, arena))) {
        if (problem->form & LOCAL) error = relative_local(problem, z, w, cone_error(problem, z, w));
        else if (problem->form == MOR_LCP) {
            double s = 0.0;
            for (int i = 0; i < problem->size; i++) {
                double e = z[i] < w[i] || isnan(z[i]) ? z[i] : w[i];
                s += e * e;
            }
            error = over(sqrt(s), mor_norm2(problem->size, problem->b));
        } else if (problem->form == MOR_MLCP) error = relative_mlcp(problem, z, w);
        else error = judge_rows(problem, z, w).relative;
    }
    mor_arena_release(arena, mark);
    return error;
}
