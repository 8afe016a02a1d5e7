/* Sweeps and projection methods: one contact, tiny problems, random steps and cones, and the stored set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/random_step.h"
#include "io/fclib/fclib.h"
#include "moreau/solver.h"
#include "problem/cone.h"
#include "problem/step.h"
#include "solver/local.h"

/* Symmetric positive definite W = B B' + s I, row-major, plus an unsymmetric part. */
static void random_spd(int n, double s, double skew, mor_rng* rng, double* W)
{
    double B[36];
    for (int i = 0; i < n * n; i++) B[i] = 2 * mor_rng_uniform(rng) - 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            W[i * n + j] = i == j ? s : 0.0;
            for (int k = 0; k < n; k++) W[i * n + j] += B[i * n + k] * B[j * n + k];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double a = skew * (2 * mor_rng_uniform(rng) - 1);
            W[i * n + j] += a, W[j * n + i] -= a;
        }
}

static double local_error(int n, const double* W, const double* q, double mu, double roll, double drill,
                          const double* p)
{
    double u[6], e[6], s = 0.0, scale = 1e-300;
    for (int i = 0; i < n; i++) {
        u[i] = q[i];
        for (int j = 0; j < n; j++) u[i] += W[i * n + j] * p[j];
    }
    mor_cone_natural(n, (mor_cone){ { mu, roll, drill } }, 1.0, p, u, e);
    for (int i = 0; i < n; i++) s += e[i] * e[i], scale = fmax(scale, fmax(fabs(p[i]), fabs(q[i])));
    return sqrt(s) / scale;
}

static void one_contact_is_solved_to_rounding_in_every_dimension(void** state)
{
    (void)state;
    mor_rng rng = { 11 };
    const int dims[] = { 2, 3, 5, 6 };
    for (int d = 0; d < 4; d++) {
        int n = dims[d], slips = 0, loose = 0;
        double worst = 0.0;
        for (int k = 0; k < 4000; k++) {
            double W[36], B[9], q[6], p[6] = { 0 }, root = 0.0;
            random_spd(n, 0.1, n == 3 && k % 3 == 0 ? 0.05 : 0.0, &rng, W);
            double mu = 1.2 * mor_rng_uniform(&rng), roll = n >= 5 ? 0.5 * mor_rng_uniform(&rng) : 0.0;
            double drill = n == 6 ? 0.5 * mor_rng_uniform(&rng) : 0.0;
            for (int i = 0; i < n; i++) q[i] = 4 * mor_rng_uniform(&rng) - 2;
            bool regular = n == 3 && mor_local_inverse(W, B);
            mor_local_cone(MOR_LOCAL_EXACT, n, W, regular ? B : NULL, q, (mor_cone){ { mu, roll, drill } }, &root, p);
            double e = local_error(n, W, q, mu, roll, drill, p);
            if (e > 1e-9) loose++;
            else worst = fmax(worst, e);
            slips += p[0] > 0.0 && hypot(p[1], n > 2 ? p[2] : 0.0) > 0.999999 * mu * p[0];
        }
        print_message("%d rows: worst %.1e, %d slip, %d not solved of 4000\n", n, worst, slips, loose);
        assert_true(slips > 500);
        assert_true(worst < (n >= 5 ? 1e-9 : 2e-13));
        assert_true(loose <= (n >= 5 ? 4 : 0));
    }
}

static void the_local_solvers_agree(void** state)
{
    (void)state;
    mor_rng rng = { 12 };
    for (int k = 0; k < 500; k++) {
        double W[9], B[9], q[3], p[3], x[3] = { 0 }, y[3] = { 0 }, root = 0.0;
        random_spd(3, 0.5, 0.0, &rng, W);
        double mu = 0.1 + 0.4 * mor_rng_uniform(&rng);
        for (int i = 0; i < 3; i++) q[i] = 4 * mor_rng_uniform(&rng) - 2.5;
        assert_true(mor_local_inverse(W, B));
        mor_local_cone(MOR_LOCAL_EXACT, 3, W, B, q, (mor_cone){ { mu, 0, 0 } }, &root, p);
        for (int j = 0; j < 20; j++) mor_local_cone(MOR_LOCAL_NEWTON, 3, W, B, q, (mor_cone){ { mu, 0, 0 } }, &root, x);
        for (int j = 0; j < 4000; j++)
            mor_local_cone(MOR_LOCAL_PROJECTION, 3, W, B, q, (mor_cone){ { mu, 0, 0 } }, &root, y);
        for (int i = 0; i < 3; i++) {
            assert_near(x[i], p[i], 1e-9);
            assert_near(y[i], p[i], 1e-6);
        }
    }
}

/* W = w I: slip straight against q_T with p_n = -q_n/w. */
static void a_particle_slips_as_the_closed_form_says(void** state)
{
    (void)state;
    double W[9] = { 2, 0, 0, 0, 2, 0, 0, 0, 2 }, B[9], q[3] = { -3, 4, -3 }, p[3] = { 0 }, root = 0.0;
    assert_true(mor_local_inverse(W, B));
    mor_local_cone(MOR_LOCAL_EXACT, 3, W, B, q, (mor_cone){ { 0.5, 0, 0 } }, &root, p);
    assert_near(p[0], 1.5, 1e-15);
    assert_near(p[1], -0.75 * 0.8, 1e-15);
    assert_near(p[2], 0.75 * 0.6, 1e-15);
    assert_near(root, (5 - 2 * 0.75) / 0.75, 1e-12); /* |u_T|/|p_T| */
}

/* --------------------------------------------------------------------------- linear problems */

static mor_problem dense_problem(mor_form form, int n, double* A, const double* b)
{
    mor_problem p = { .form = form, .size = n, .b = b };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = A };
    return p;
}

static mor_report run(const char* solver, const mor_problem* p, double tol, int max_iter, double* z)
{
    mor_solve_options o = mor_solve_options_default();
    o.tol = tol;
    o.max_iter = max_iter;
    assert_non_null(mor_solver_builtin(solver));
    return mor_solve(mor_solver_builtin(solver), NULL, p, &o, z, NULL);
}

static const char* const row_solvers[] = { "pgs", "psor", "jacobi", "prox", NULL };

static void linear_problems_have_their_known_answers(void** state)
{
    (void)state;
    double A[4] = { 2, 1, 1, 2 }, b[2] = { -5, -6 }, positive[2] = { 1, 0 }, z[2];
    for (const char* const* s = row_solvers; *s; s++) {
        mor_problem p = dense_problem(MOR_LCP, 2, A, b);
        assert_int_equal(run(*s, &p, 1e-12, 0, z).status, MOR_SOLVED);
        assert_near(z[0], 4.0 / 3.0, 1e-10);
        assert_near(z[1], 7.0 / 3.0, 1e-10);
        p.b = positive;
        assert_int_equal(run(*s, &p, 1e-12, 0, z).status, MOR_SOLVED);
        assert_true(z[0] == 0.0 && z[1] == 0.0);
        p = dense_problem(MOR_LCP, 0, NULL, NULL);
        assert_int_equal(run(*s, &p, 1e-12, 0, z).status, MOR_SOLVED);
        /* x free: 2 x + y = 3, 0 <= y _|_ x + 2 y - 1 >= 0: x = 3/2, y = 0; with right-hand side -4: y = 2/3, x = 5/3
         * */
        const double lower[2] = { -INFINITY, 0 };
        double c[2] = { -3, -1 };
        p = dense_problem(MOR_MLCP, 2, A, c);
        p.lower = lower;
        assert_int_equal(run(*s, &p, 1e-12, 0, z).status, MOR_SOLVED);
        assert_near(z[0], 1.5, 1e-9);
        assert_near(z[1], 0.0, 1e-9);
        c[0] = -4, c[1] = -3;
        assert_int_equal(run(*s, &p, 1e-12, 0, z).status, MOR_SOLVED);
        assert_near(z[0], 5.0 / 3.0, 1e-9);
        assert_near(z[1], 2.0 / 3.0, 1e-9);
    }
}

static void impossible_problems_are_not_called_solved(void** state)
{
    (void)state;
    /* w = (-z_1 - 1, z_0 + 1): nothing, and no diagonal */
    double A[4] = { 0, 1, -1, 0 }, b[2] = { -1, 1 }, z[2];
    mor_problem p = dense_problem(MOR_LCP, 2, A, b);
    assert_int_not_equal(run("pgs", &p, 1e-8, 0, z).status, MOR_SOLVED);
    assert_int_not_equal(run("psor", &p, 1e-8, 0, z).status, MOR_SOLVED);
    assert_int_not_equal(run("jacobi", &p, 1e-8, 0, z).status, MOR_SOLVED);
    /* z >= 0, -z - 1 >= 0: nothing */
    double minus[1] = { -1 }, q[1] = { -1 };
    p = dense_problem(MOR_LCP, 1, minus, q);
    for (const char* const* s = row_solvers; *s; s++)
        assert_int_not_equal(run(*s, &p, 1e-8, 1000, z).status, MOR_SOLVED);
    /* a contact that nothing can move */
    double W[9] = { 0 }, w[3] = { -1, 0, 0 }, mu[1] = { 0.5 }, r[3];
    p = dense_problem(MOR_FC3D, 3, W, w);
    p.contact_count = 1, p.dim = 3, p.mu = mu;
    const char* const cones[] = { "nsgs", "prox-ncp", "extragradient", "admm", "implicit-gn", NULL };
    for (const char* const* s = cones; *s; s++) {
        mor_status status = run(*s, &p, 1e-8, 1000, r).status;
        if (status == MOR_SOLVED || status == MOR_NO_SOLUTION) fail_msg("%s: %s", *s, mor_status_name(status));
    }
    p.form = MOR_CQP;
    assert_int_not_equal(run("apgd", &p, 1e-8, 1000, r).status, MOR_SOLVED);
    assert_int_not_equal(run("convex-newton", &p, 1e-8, 1000, r).status, MOR_SOLVED);
}

static void empty_problems_are_solved(void** state)
{
    (void)state;
    const char* const names[] = { "nsgs", "prox-ncp",      "extragradient", "admm",   "implicit-gn",
                                  "apgd", "convex-newton", "psor",          "jacobi", NULL };
    double z[1] = { 0 };
    for (const char* const* s = names; *s; s++)
        for (int k = 0; k < 3; k++) {
            mor_problem p = dense_problem(k == 0 ? MOR_FC3D : k == 1 ? MOR_CQP : MOR_STEP_CONE, 0, NULL, NULL);
            p.dim = 3;
            if (!mor_solver_applies(mor_solver_builtin(*s), p.form)) continue;
            mor_report r = run(*s, &p, 1e-8, 0, z);
            if (r.status != MOR_SOLVED)
                fail_msg("%s on an empty %s: %s %s", *s, mor_form_name(p.form), mor_status_name(r.status), r.detail);
        }
}

/* ------------------------------------------------------------------------------------- steps */

static void steps_are_solved_without_forming_W(void** state)
{
    (void)state;
    const char* const names[] = { "nsgs", "psor", "jacobi", "extragradient", "prox-ncp", NULL };
    mor_arena* arena = mor_arena_create(NULL);
    for (int kind = 0; kind < 4; kind++) {
        random_step spec = { .trees = 6,
                             .dof = 6,
                             .contacts = kind == 3 ? 4 : 8,
                             .dim = kind == 3   ? 5
                                    : kind == 0 ? 2
                                                : 3,
                             .mu = 0.3,
                             .mass_ratio = 4,
                             .equations = kind == 2 ? 1 : 0,
                             .bounded = kind == 2 ? 2 : 0 };
        for (uint64_t seed = 1; seed <= 5; seed++) {
            mor_problem p = random_step_make(&spec, seed, arena);
            p.form = MOR_STEP_CONE; /* intervals may be called either */
            double* z = mor_arena_zero(arena, (size_t)p.size, sizeof *z);
            double* nu = mor_arena_zero(arena, (size_t)p.step.dof, sizeof *nu);
            double* first = mor_arena_zero(arena, (size_t)p.step.dof, sizeof *first);
            for (const char* const* s = names; *s; s++) {
                mor_report r = run(*s, &p, 1e-9, 0, z);
                if (r.status != MOR_SOLVED)
                    fail_msg("%s, kind %d, seed %d: %s, error %g", *s, kind, (int)seed, mor_status_name(r.status),
                             r.residual.velocity);
                mor_step_velocity(&p.step, z, nu);
                if (s == names) memcpy(first, nu, (size_t)p.step.dof * sizeof *nu);
                for (int i = 0; i < p.step.dof; i++) assert_near(nu[i], first[i], 1e-5);
            }
            mor_arena_reset(arena);
        }
    }
    mor_arena_destroy(arena);
}

static void polygons_are_solved_by_psor_jacobi_and_nsgs_alike(void** state)
{
    (void)state;
    const char* const names[] = { "pgs", "psor", "jacobi", "nsgs", NULL };
    mor_arena* arena = mor_arena_create(NULL);
    random_step spec = { .trees = 5, .dof = 6, .contacts = 7, .dim = 3, .directions = 6, .mu = 0.4, .mass_ratio = 3 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        mor_problem p = random_step_make(&spec, seed, arena);
        double* z = mor_arena_zero(arena, (size_t)p.size, sizeof *z);
        for (const char* const* s = names; *s; s++) {
            mor_report r = run(*s, &p, 1e-9, 0, z);
            if (r.status != MOR_SOLVED)
                fail_msg("%s, seed %d: %s, error %g", *s, (int)seed, mor_status_name(r.status), r.residual.velocity);
        }
        mor_arena_reset(arena);
    }
    mor_arena_destroy(arena);
}

/* ------------------------------------------------------------------------------------- cones */

/* W = H'H with H m x n: rank deficient when m < n. */
static mor_problem random_cones(mor_form form, int contacts, int dim, int m, double mu, uint64_t seed, mor_arena* arena)
{
    int n = contacts * dim;
    mor_rng rng = { seed };
    double* H = mor_arena_alloc(arena, (size_t)(m * n) * sizeof *H);
    double* A = mor_arena_zero(arena, (size_t)(n * n), sizeof *A);
    double* b = mor_arena_zero(arena, (size_t)n, sizeof *b);
    double* mus = mor_arena_alloc(arena, (size_t)contacts * sizeof *mus);
    double* rolls = mor_arena_alloc(arena, (size_t)contacts * sizeof *rolls);
    for (int i = 0; i < m * n; i++) H[i] = 2 * mor_rng_uniform(&rng) - 1;
    for (int k = 0; k < m; k++) { /* b in the range of H': consistent */
        double v = 2 * mor_rng_uniform(&rng) - 1;
        for (int i = 0; i < n; i++) {
            b[i] += H[k + m * i] * v;
            for (int j = 0; j < n; j++) A[i + n * j] += H[k + m * i] * H[k + m * j];
        }
    }
    for (int c = 0; c < contacts; c++) mus[c] = mu, rolls[c] = 0.2;
    mor_problem p = dense_problem(form, n, A, b);
    p.contact_count = contacts, p.dim = dim, p.mu = mus, p.mu_roll = rolls;
    return p;
}

static void cones_are_solved_in_every_dimension(void** state)
{
    (void)state;
    const char* const names[] = { "nsgs", "prox-ncp", "extragradient", "admm", "implicit-gn", NULL };
    const mor_form forms[] = { MOR_FC2D, MOR_FC3D, MOR_FC_ROLLING };
    const int dims[] = { 2, 3, 5 };
    mor_arena* arena = mor_arena_create(NULL);
    for (int d = 0; d < 3; d++)
        for (const char* const* s = names; *s; s++) {
            int solved = 0;
            for (uint64_t seed = 1; seed <= 20; seed++) {
                mor_problem p = random_cones(forms[d], 8, dims[d], 8 * dims[d] + 10, 0.2, seed, arena);
                double z[40];
                mor_report r = run(*s, &p, 1e-8, *s == names[0] ? 100000 : 0, z);
                solved += r.status == MOR_SOLVED;
                mor_arena_reset(arena);
            }
            print_message("%s, %d rows: %d of 20\n", *s, dims[d], solved);
            assert_true(solved >= (strcmp(*s, "implicit-gn") == 0 ? 15 : 20));
        }
    mor_arena_destroy(arena);
}

static void the_convex_model_has_one_answer(void** state)
{
    (void)state;
    const char* const names[] = { "convex-newton", "apgd", "admm", "extragradient", NULL };
    mor_arena* arena = mor_arena_create(NULL);
    for (int dim = 2; dim <= 3; dim++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            int contacts = 10, m = seed % 2 ? 10 * dim + 8 : 12; /* odd: definite, even: redundant */
            mor_problem p = random_cones(MOR_CQP, contacts, dim, m, 0.4, seed, arena);
            double z[30], u[30], first[30];
            for (const char* const* s = names; *s; s++) {
                mor_report r = run(*s, &p, 1e-9, 0, z);
                if (r.status != MOR_SOLVED)
                    fail_msg("%s, dim %d, seed %d: %s, error %g", *s, dim, (int)seed, mor_status_name(r.status),
                             r.residual.relative);
                mor_matrix_apply(&p.A, z, u); /* W r is unique even where r is not */
                if (s == names) memcpy(first, u, sizeof first);
                for (int i = 0; i < p.size; i++) assert_near(u[i], first[i], 1e-4);
            }
            mor_arena_reset(arena);
        }
    mor_problem p = random_cones(MOR_CQP, 2, 3, 9, 0.4, 3, arena);
    double z[6];
    p.A.x[1] += 0.5;
    assert_int_equal(run("apgd", &p, 1e-8, 0, z).status, MOR_REFUSED);
    mor_arena_destroy(arena);
}

/* One sliding contact of the relaxation in closed form: W = I, q = (-1, 3, 0), mu = 0.5. The projection of -q on the
 * cone. */
static void one_sliding_contact_of_the_convex_model_is_a_projection(void** state)
{
    (void)state;
    double A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { -1, 3, 0 }, mu[1] = { 0.5 }, z[3];
    mor_problem p = dense_problem(MOR_CQP, 3, A, b);
    p.contact_count = 1, p.dim = 3, p.mu = mu;
    const char* const names[] = { "convex-newton", "apgd", "admm", "extragradient", NULL };
    for (const char* const* s = names; *s; s++) {
        assert_int_equal(run(*s, &p, 1e-11, 0, z).status, MOR_SOLVED);
        assert_near(z[0], (1 + 0.5 * 3) / 1.25, 1e-9);
        assert_near(z[1], -0.5 * z[0], 1e-9);
        assert_near(z[2], 0.0, 1e-9);
    }
}

/* ------------------------------------------------------------------------------- stored set */

/* Iterations, not seconds, are limited: the count does not depend on the machine. 0: the solver's own limit. */
static int count_stored(const char* kind, const char* solver, int max_iter, int* tried)
{
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/../shared/data/problems/%s", MOREAU_SOURCE_DIR, kind);
    DIR* dir = opendir(folder);
    *tried = 0;
    if (!dir) return 0;
    int solved = 0;
    for (struct dirent* entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        mor_problem_file file;
        mor_error error = { 0 };
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (mor_problem_load(path, NULL, &file, &error) != MOR_OK) fail_msg("%s", error.text);
        double* z = calloc((size_t)mor_problem_unknowns(&file.problem) + 1, sizeof *z);
        mor_solve_options o = mor_solve_options_default();
        o.max_iter = max_iter;
        solved += mor_solve(mor_solver_builtin(solver), NULL, &file.problem, &o, z, NULL).status == MOR_SOLVED;
        ++*tried;
        free(z);
        mor_problem_file_free(&file);
    }
    closedir(dir);
    return solved;
}

typedef struct requirement {
    const char *kind, *solver;
    int least; /* what the Siconos solver of the same kind solves */
    int max_iter;
    bool slow;
} requirement;

static void the_stored_problems_are_solved_at_least_as_often_as_by_siconos(void** state)
{
    (void)state;
    static const requirement all[] = {
        { "fc3d", "nsgs", 19, 20000, false },
        { "fc2d", "nsgs", 7, 20000, false },
        { "rfc3d", "nsgs", 5, 20000, false },
        { "gfc2d", "nsgs", 2, 20000, false },
        { "gfc3d", "nsgs", 8, 20000, false },
        { "grfc3d", "nsgs", 2, 20000, false },
        { "lcp", "pgs", 9, 5000, false },
        { "lcp", "psor", 9, 5000, false },
        { "lcp", "jacobi", 8, 20000, false },
        { "mlcp", "psor", 3, 5000, false },
        { "gfc3d", "admm", 8, 3000, false },
        { "rfc3d", "admm", 5, 20000, false },
        { "gfc3d", "extragradient", 3, 3000, false },
        { "fc3d", "extragradient", 22, 0, true },
        { "fc3d", "admm", 21, 0, true },
        { "fc3d", "nsgs", 22, 0, true },
        { "fc3d", "prox-ncp", 20, 0, true },
        { "lcp", "prox", 9, 0, true },
        { "fc3d", "implicit-gn", 12, 0, true },
    };
    bool patient = getenv("MOREAU_LONG") != NULL;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        int tried;
        if (all[k].slow && !patient) continue;
        int solved = count_stored(all[k].kind, all[k].solver, all[k].max_iter, &tried);
        if (tried == 0) {
            print_message("SKIP: no stored problems\n");
            skip();
        }
        print_message("%s %s: %d of %d\n", all[k].kind, all[k].solver, solved, tried);
        if (solved < all[k].least)
            fail_msg("%s on %s: %d of %d, at least %d needed", all[k].solver, all[k].kind, solved, tried, all[k].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contact_is_solved_to_rounding_in_every_dimension),
        cmocka_unit_test(the_local_solvers_agree),
        cmocka_unit_test(a_particle_slips_as_the_closed_form_says),
        cmocka_unit_test(linear_problems_have_their_known_answers),
        cmocka_unit_test(impossible_problems_are_not_called_solved),
        cmocka_unit_test(empty_problems_are_solved),
        cmocka_unit_test(steps_are_solved_without_forming_W),
        cmocka_unit_test(polygons_are_solved_by_psor_jacobi_and_nsgs_alike),
        cmocka_unit_test(cones_are_solved_in_every_dimension),
        cmocka_unit_test(the_convex_model_has_one_answer),
        cmocka_unit_test(one_sliding_contact_of_the_convex_model_is_a_projection),
        cmocka_unit_test(the_stored_problems_are_solved_at_least_as_often_as_by_siconos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
