/* Total, normal and friction error of every iterate, and the state of every contact, against a second computation that
 * shares no code with the judge: written from docs/notation.md with plain loops and long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "model/step.h"
#include "moreau/library.h"
#include "problem/judge.h"

typedef long double real;

/* ------------------------------------------------------------------------ the second computation */

static real phi_fb(real a, real b) { return a + b - sqrtl(a * a + b * b); }
static real plus(real a) { return a > 0 ? a : 0; }
static real phi_cck(real a, real b) { return 0.7L * phi_fb(a, b) + 0.3L * plus(a) * plus(b); }

typedef struct expected {
    real fb, cck, normal, friction; /* fb and cck: sums of squares */
    int stick[64];
} expected;

/* One contact with discs {rows 1..}, {3, 4}: pairs with the step 1, errors with the step rho. */
static void contact(expected* e, int index, int dim, const double* mu, bool convex, real rho, real pairs_rho,
                    const real* r, const real* u)
{
    int discs = dim == 1 ? 0 : dim < 5 ? 1 : 2;
    real shift = 0, s[2] = { 0, 0 };
    for (int i = 0; i < discs; i++) {
        int first = i ? 3 : 1, last = i ? 5 : dim < 3 ? dim : 3;
        for (int j = first; j < last; j++) s[i] += u[j] * u[j];
        s[i] = sqrtl(s[i]);
        shift += (real)mu[i] * s[i];
    }
    real a = r[0] / pairs_rho, v = u[0] - (convex ? shift : 0);
    e->fb += phi_fb(a, v) * phi_fb(a, v);
    e->cck += phi_cck(a, v) * phi_cck(a, v);
    real n = fminl(r[0] / rho, v);
    e->normal = fmaxl(e->normal, fabsl(n));
    for (int i = 0; i < discs; i++) {
        int first = i ? 3 : 1, last = i ? 5 : dim < 3 ? dim : 3;
        real slack = (real)mu[i] * mu[i] * a * a, size = 0, radius = (real)mu[i] * plus(r[0]), miss = 0;
        for (int j = first; j < last; j++) slack -= r[j] / pairs_rho * (r[j] / pairs_rho);
        e->fb += phi_fb(s[i], slack) * phi_fb(s[i], slack);
        e->cck += phi_cck(s[i], slack) * phi_cck(s[i], slack);
        for (int j = first; j < last; j++) {
            real w = (real)mu[i] * a * u[j] + s[i] * r[j] / pairs_rho;
            e->fb += w * w, e->cck += w * w;
            real x = r[j] - rho * u[j];
            size += x * x;
        }
        size = sqrtl(size);
        for (int j = first; j < last; j++) {
            real x = (r[j] - rho * u[j]) * (size > radius ? radius / size : 1);
            miss += (r[j] - x) * (r[j] - x);
        }
        e->friction = fmaxl(e->friction, sqrtl(miss) / rho);
    }
    e->stick[index] = !(r[0] > 0) ? -1 : s[0] > 1e-6L ? 0 : 1;
}

/* ------------------------------------------------------------------------------ random problems */

static uint32_t seed = 12345;
static double uniform(double low, double high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * (seed >> 8) / 16777216.0;
}

enum { MOST = 60 };
typedef struct example {
    mor_problem p;
    double W[MOST * MOST], b[MOST], mu[12], roll[12], M[MOST * MOST], H[MOST * MOST], f[MOST];
    int checked;
    double worst;
} example;

/* W = B B' + I/10 with random B; global: M diagonal, H random. */
static void make(example* x, mor_form form, int contacts)
{
    memset(x, 0, sizeof *x);
    int d = form & (MOR_FC2D | MOR_GFC2D) ? 2 : form == MOR_FC_ROLLING ? 5 : 3, n = d * contacts;
    bool global = form & (MOR_GFC2D | MOR_GFC3D);
    double B[MOST * MOST];
    for (int i = 0; i < n * n; i++) B[i] = uniform(-1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++) s += B[i * n + k] * B[j * n + k];
            x->W[i + n * j] = s;
        }
    for (int i = 0; i < n; i++) x->b[i] = uniform(-2, 1);
    for (int c = 0; c < contacts; c++) x->mu[c] = uniform(0.1, 1.2), x->roll[c] = uniform(0.01, 0.2);
    x->p = (mor_problem){ .form = form, .size = n, .contact_count = contacts, .dim = d, .b = x->b, .mu = x->mu };
    if (form == MOR_FC_ROLLING) x->p.mu_roll = x->roll;
    if (!global) x->p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = x->W };
    else {
        for (int i = 0; i < n; i++) x->M[i + n * i] = uniform(0.5, 3), x->f[i] = uniform(-1, 1);
        for (int i = 0; i < n * n; i++) x->H[i] = B[i];
        x->p.M = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = x->M };
        x->p.H = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = x->H };
        x->p.f = x->f;
    }
}

/* Relative to the number itself, or to the size of what it is the difference of. */
static void compare(example* x, double got, real want, real size)
{
    if (isnan(got)) fail_msg("a measure is missing");
    double off = (double)(fabsl((real)got - want) / (fabsl(want) + size));
    if (off > x->worst) x->worst = off;
    if (!(off <= 1e-12)) fail_msg("%s: %.17g against %.17Lg", mor_form_name(x->p.form), got, want);
}

static void check_line(void* user, const mor_trace_line* line, const double* z)
{
    example* x = user;
    const mor_problem* p = &x->p;
    int n = p->size, d = p->dim;
    bool global = p->form & (MOR_GFC2D | MOR_GFC3D);
    expected e = { 0 };
    real u[MOST], scale = 0, dynamics = 0;
    for (int i = 0; i < n; i++) {
        u[i] = x->b[i];
        for (int j = 0; j < n; j++) u[i] += global ? (real)x->H[j + n * i] * z[n + j] : (real)x->W[i + n * j] * z[j];
        real at = x->b[i];
        for (int j = 0; j < n; j++)
            at = fmaxl(at, fabsl((global ? x->H[j + n * i] * z[n + j] : x->W[i + n * j] * z[j])));
        scale = fmaxl(scale, at);
    }
    for (int i = 0; global && i < n; i++) {
        real s = x->f[i];
        for (int j = 0; j < n; j++) s += (real)x->H[i + n * j] * z[j] - (real)x->M[i + n * j] * z[n + j];
        dynamics += s * s;
    }
    for (int c = 0; c < p->contact_count; c++) {
        real norm = 0, r[5];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                norm += (real)x->W[c * d + i + n * (c * d + j)] * x->W[c * d + i + n * (c * d + j)];
        for (int i = 0; i < d; i++) r[i] = z[c * d + i], scale = fmaxl(scale, fabsl(r[i]));
        double mu[2] = { x->mu[c], x->roll[c] };
        contact(&e, c, d, mu, p->form == MOR_CQP, global ? 1 : 1 / sqrtl(norm), 1, r, u + c * d);
    }
    compare(x, line->residual.fb, 0.5L * (e.fb + dynamics), scale * scale);
    compare(x, line->residual.cck, 0.5L * (e.cck + dynamics), scale * scale * scale * scale);
    compare(x, line->residual.normal_error, e.normal, scale);
    compare(x, line->residual.friction_error, e.friction, scale);
    mor_arena* arena = mor_arena_create(NULL);
    mor_contact_verdict v[12];
    assert_int_equal(mor_judge_contacts(p, z, v, arena), p->contact_count);
    for (int c = 0; c < p->contact_count; c++) {
        real slip = hypotl(u[c * d + 1], d > 2 ? u[c * d + 2] : 0);
        if (fabsl(slip - 1e-6L) > 1e-12L * scale) assert_int_equal(v[c].state, e.stick[c]);
    }
    mor_arena_destroy(arena);
    x->checked++;
}

static void errors_of_every_iterate_of_cones_are_those_of_the_notation(void** state)
{
    (void)state;
    static const mor_form forms[] = { MOR_FC2D, MOR_FC3D, MOR_FC_ROLLING, MOR_CQP, MOR_GFC2D, MOR_GFC3D };
    static const char* const solvers[] = { "nsgs", "psor", "apgd", "nsn", "convex-newton", "admm" };
    int checked = 0;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int k = 0; k < 4; k++) {
            static example x;
            make(&x, forms[f], 2 + k);
            for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++) {
                const mor_solver* solver = mor_library_solver(NULL, solvers[s]);
                if (!solver || !mor_solver_applies(solver, forms[f])) continue;
                mor_trace trace = { .each = check_line, .user = &x };
                mor_solve_options o = mor_solve_options_default();
                o.trace = &trace;
                o.max_iter = 60;
                double z[2 * MOST] = { 0 };
                mor_solve(solver, NULL, &x.p, &o, z, NULL);
                mor_trace_free(&trace);
            }
            if (x.checked < 1) fail_msg("%s: only %d iterates were judged", mor_form_name(forms[f]), x.checked);
            checked += x.checked;
        }
    assert_true(checked > 500);
}

/* At an answer all pairs vanish, in stick, slip and separation; a wrong answer of each kind is seen. */
static void the_pairs_vanish_exactly_at_coulombs_law(void** state)
{
    (void)state;
    const double good[][6] = { { 0, 0, 0, 0.3, 1, 2 },       /* open: r = 0, u_n > 0 */
                               { 2, 0.3, -0.4, 0, 0, 0 },    /* sticks inside the cone, mu = 0.5 */
                               { 2, 0.6, 0.8, 0, -3, -4 } }; /* slides at the cone, against the friction */
    const double bad[][6] = { { 0, 0.1, 0, 0, 0, 0 },        /* friction without a normal impulse */
                              { 2, 0.6, 0.8, 0, 3, 4 },      /* friction drives */
                              { 2, 0.3, -0.4, 0, 1, 0 },     /* slips inside the cone */
                              { 2, 0.6, 0.8, 0, -4, 3 },     /* across */
                              { 2, 1.2, 1.6, 0, -3, -4 },    /* outside the cone */
                              { 1, 0, 0, 0.2, 0, 0 } };      /* pushes at a distance */
    mor_cone cone = { { 0.5, 0, 0 } };
    for (size_t i = 0; i < 3; i++) {
        mor_tally t = { 0 };
        mor_tally_cone(&t, 3, cone, false, 1.0, good[i], good[i] + 3);
        assert_true(t.fb < 1e-28 && t.cck < 1e-28);
    }
    for (size_t i = 0; i < 6; i++) {
        mor_tally t = { 0 };
        mor_tally_cone(&t, 3, cone, false, 1.0, bad[i], bad[i] + 3);
        assert_true(t.fb > 1e-6 && t.cck > 1e-6);
    }
    /* convex relaxation: sliding lifts, u_n = mu |u_T| */
    const double r[3] = { 2, 0.6, 0.8 }, u[3] = { 2.5, -3, -4 };
    mor_tally t = { 0 };
    mor_tally_cone(&t, 3, cone, true, 1.0, r, u);
    assert_true(t.fb < 1e-28 && t.cck < 1e-28);
}

/* ------------------------------------------------------------------------------- files of iterates */

static double* column(const mor_h5* h5, const char* name, size_t count)
{
    mor_error error = { 0 };
    double* all = malloc((count + 1) * sizeof *all);
    if (mor_h5_read_all((mor_h5*)h5, name, MOR_H5_DOUBLE, count, all, &error)) fail_msg("%s", error.text);
    return all;
}

/* A step, from its trees: u = b + J (nu_free + sum response p), the step of a contact 1/|W_cc|. */
static void check_step(example* x, const mor_problem* p, const double* z)
{
    const mor_step_form* s = &p->step;
    real nu[MOST], u[MOST], scale = 0;
    expected e = { 0 };
    for (int k = 0; k < s->dof; k++) nu[k] = s->nu_free[k];
    for (int c = 0; c < s->block_count; c++)
        for (int t = s->blocks[c].entry; t < s->blocks[c].entry + s->blocks[c].entry_count; t++) {
            const mor_tree_block* tree = &s->trees[s->entries[t].tree];
            for (int d = 0; d < s->blocks[c].dim; d++)
                for (int k = 0; k < tree->dof; k++)
                    nu[tree->offset + k] +=
                        (real)s->response[s->entries[t].start + d * tree->dof + k] * z[s->blocks[c].row + d];
        }
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        real W = 0, r[3];
        for (int d = 0; d < b->dim; d++) {
            u[b->row + d] = s->bias[b->row + d];
            r[d] = z[b->row + d];
            for (int t = b->entry; t < b->entry + b->entry_count; t++) {
                const mor_tree_block* tree = &s->trees[s->entries[t].tree];
                const double* J = s->jacobian + s->entries[t].start + d * tree->dof;
                for (int k = 0; k < tree->dof; k++)
                    u[b->row + d] += J[k] * nu[tree->offset + k],
                        scale = fmaxl(scale, fabsl(J[k] * nu[tree->offset + k]));
            }
            for (int o = 0; o < b->dim; o++) {
                real w = 0;
                for (int t = b->entry; t < b->entry + b->entry_count; t++) {
                    int dof = s->trees[s->entries[t].tree].dof;
                    for (int k = 0; k < dof; k++)
                        w += (real)s->response[s->entries[t].start + d * dof + k] *
                             s->jacobian[s->entries[t].start + o * dof + k];
                }
                W += w * w;
            }
        }
        double mu[2] = { b->mu, 0.0 };
        contact(&e, c, b->dim, mu, false, 1 / sqrtl(W), 1 / sqrtl(W), r, u + b->row);
        for (int d = 0; d < b->dim; d++) scale = fmaxl(scale, fabsl(r[d] * sqrtl(W)));
    }
    mor_arena* arena = mor_arena_create(NULL);
    mor_residual got = mor_judge(p, z, arena);
    compare(x, got.fb, 0.5L * e.fb, scale * scale);
    compare(x, got.cck, 0.5L * e.cck, scale * scale * scale * scale);
    compare(x, got.normal_error, e.normal, scale);
    compare(x, got.friction_error, e.friction, scale);
    mor_arena_destroy(arena);
    x->checked++;
}

/* The islands of the last frame of three.h5 with random impulses. */
static void check_islands(void)
{
    char path[300];
    mor_error error = { 0 };
    mor_bpmd_frame frame;
    snprintf(path, sizeof path, "%s", command_at("three.h5"));
    mor_bpmd* file = mor_bpmd_open(path, &error);
    assert_non_null(file);
    assert_int_equal(mor_bpmd_read(file, 4, &frame, &error), MOR_OK);
    mor_world* w = mor_bpmd_world(&frame, NULL, NULL, &error);
    assert_non_null(w);
    mor_arena* arena = mor_arena_create(NULL);
    static example x;
    for (int i = 0; i < w->last->island_count; i++)
        for (int k = 0; k < 20; k++) {
            const mor_system* s = &w->last->islands[i].system;
            double bias[MOST], z[MOST];
            mor_bias_stewart_trinkle(s, bias);
            x.p = mor_system_problem(s, 0, bias, arena, NULL);
            for (int r = 0; r < s->row_count; r++) z[r] = uniform(-0.02, 0.05);
            check_step(&x, &x.p, z);
        }
    assert_int_equal(x.checked, 60);
    mor_arena_destroy(arena);
    mor_world_destroy(w);
    mor_bpmd_frame_clear(&frame);
    mor_bpmd_free(file);
}

/* Three boxes side by side, the first pushed: three islands, twelve contacts in one file, for every formulation that
 * hands contacts to a solver. */
static void a_file_of_iterates_has_all_contacts_of_all_islands(void** state)
{
    (void)state;
    char path[300], name[100];
    snprintf(path, sizeof path, "%s", command_at("three.yaml"));
    FILE* f = fopen(path, "w");
    fputs("moreau: 1\ntime: { step: 0.01, end: 0.05 }\nmaterials: { m: { friction: 0.4 } }\nbodies:\n"
          "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true, material: m }\n"
          "  - { name: a, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, position: [0, 0, 0.1], velocity: [1, 0.3, 0], "
          "material: m }\n"
          "  - { name: b, shape: { box: [0.2, 0.3, 0.2] }, mass: 5, position: [2, 0, 0.1], material: m }\n"
          "  - { name: c, shape: { box: [0.4, 0.2, 0.2] }, mass: 2, position: [4, 0, 0.1], material: m }\n",
          f);
    fclose(f);
    assert_int_equal(command_run("$M run three.yaml --bpmd three.h5"), 0);
    assert_int_equal(command_run("$M compare three.h5 --formulations ncp,mncp,implicit,convex,st,ap --solvers "
                                 "nsgs,apgd,lemke --tol 1e-8 --frames 1 --traces 1 --iterations it --quiet"),
                     0);
    check_islands();
    static const char* const runs[] = {
        "ncp-nsgs", "mncp-nsgs", "implicit-nsgs", "convex-apgd", "st-lemke", "ap-lemke"
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        snprintf(name, sizeof name, "it/three#5-%s.h5", runs[k]);
        snprintf(path, sizeof path, "%s", command_at(name));
        mor_h5 h5;
        mor_error error = { 0 };
        if (mor_h5_open(&h5, path, &error)) fail_msg("%s", error.text);
        int rank;
        size_t dims[MOR_H5_RANK];
        assert_int_equal(mor_h5_dims(&h5, "/stick", &rank, dims, &error), MOR_OK);
        assert_int_equal(rank, 2);
        assert_int_equal(dims[1], 12);
        size_t n = dims[0];
        double *stick = column(&h5, "/stick", 12 * n), *which = column(&h5, "/contact", 12),
               *islands = column(&h5, "/unknowns", 3);
        bool seen[12] = { false };
        for (int c = 0; c < 12; c++) seen[(int)which[c]] = true;
        for (int c = 0; c < 12; c++) assert_true(seen[c]);
        assert_true(islands[0] > 0 && islands[1] > 0 && islands[2] > 0);
        int sliding = 0, sticking = 0;
        for (int c = 0; c < 12; c++)
            sliding += stick[12 * (n - 1) + (size_t)c] == 0, sticking += stick[12 * (n - 1) + (size_t)c] == 1;
        if (!(sliding >= 1 && sliding <= 4 && sticking >= 3))
            fail_msg("%s: %d contacts slide, %d stick", runs[k], sliding, sticking);
        static const char* const names[] = { "/total_error_fb", "/total_error_cck", "/natural",
                                             "/normal_error",   "/friction_error",  "/friction_power",
                                             "/sticking",       "/sliding",         "/open" };
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            double* all = column(&h5, names[m], n);
            for (size_t i = 0; i < n; i++)
                if (!(all[i] >= 0.0)) fail_msg("%s: %s of iteration %zu is %g", runs[k], names[m], i, all[i]);
            if (m < 2) assert_true(all[n - 1] < 1e-12);
            free(all);
        }
        free(stick), free(which), free(islands);
        mor_h5_close(&h5, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_every_iterate_of_cones_are_those_of_the_notation),
        cmocka_unit_test(the_pairs_vanish_exactly_at_coulombs_law),
        cmocka_unit_test(a_file_of_iterates_has_all_contacts_of_all_islands),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
