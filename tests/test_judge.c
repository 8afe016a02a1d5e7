/* The judge against numbers worked out by hand and against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/random_step.h"
#include "moreau/problem.h"
#include "problem/cone.h"
#include "problem/judge.h"

static mor_matrix dense(int n, double* x) { return (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = x }; }

static void lcp_measures_are_the_natural_map_and_the_merits(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double A[4] = { 2, 1, 1, 2 }, b[2] = { -5, -6 }, z[2] = { 1, 3 };
    mor_problem p = { .form = MOR_LCP, .size = 2, .A = dense(2, A), .b = b };
    /* w = (0, 1): natural map (0, 1) */
    mor_residual r = mor_judge(&p, z, arena);
    assert_near(r.absolute, 1.0, 1e-15);
    assert_near(r.relative, 1.0 / sqrt(61.0), 1e-15);
    assert_near(r.natural, 0.5, 1e-15);
    double fb = 3.0 + 1.0 - sqrt(10.0);
    assert_near(r.fb, 0.5 * fb * fb, 1e-15);
    double cck = 0.7 * fb + 0.3 * 3.0 * 1.0;
    assert_near(r.cck, 0.5 * cck * cck, 1e-15);
    assert_true(isnan(r.velocity));
    assert_near(mor_judge_quick(&p, z, NULL, arena), r.relative, 1e-16);
    double bad[2] = { NAN, 0 };
    assert_false(mor_judge_quick(&p, bad, NULL, arena) <= 1e300);
    mor_arena_destroy(arena);
}

static void mlcp_measure_is_siconos_odd_one(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double A[4] = { 1, 0, 0, 1 }, b[2] = { 3, -4 }, lower[2] = { -INFINITY, 0 };
    mor_problem p = { .form = MOR_MLCP, .size = 2, .A = dense(2, A), .b = b, .lower = lower };
    double z[2] = { -2, 5 }; /* w = (1, 1): E = 1, I = 5; Ne = 4, Ni = 5: I/Ni = 1 >= 1/4, so I/(1 + Ni) */
    mor_residual r = mor_judge(&p, z, arena);
    assert_near(r.relative, 5.0 / 6.0, 1e-15);
    assert_near(r.absolute, sqrt(2.0), 1e-15);
    int groups[3] = { 0, 1, 2 }; /* blocks given: Ni = 1 + |w| = 2 */
    p.groups = groups, p.group_count = 2;
    assert_near(mor_judge(&p, z, arena).relative, 5.0 / 3.0, 1e-15);
    mor_arena_destroy(arena);
}

static void boxed_rows_use_the_middle_of_bounds_and_step(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double A[1] = { 1 }, b[1] = { 0 }, lower[1] = { -1 }, upper[1] = { 2 };
    mor_problem p = { .form = MOR_MCP, .size = 1, .A = dense(1, A), .b = b, .lower = lower, .upper = upper };
    for (double target = -3; target <= 3; target += 0.5) { /* w = z - target: the solution is mid(-1, target, 2) */
        b[0] = -target;
        double z = fmin(2.0, fmax(-1.0, target)), off = z + 0.25;
        assert_near(mor_judge(&p, &z, arena).absolute, 0.0, 1e-15);
        assert_near(mor_judge(&p, &z, arena).fb, 0.0, 1e-15);
        assert_near(mor_judge(&p, &z, arena).cck, 0.0, 1e-15);
        assert_true(mor_judge(&p, &off, arena).absolute > 0.1);
        assert_true(mor_judge(&p, &off, arena).fb > 1e-4);
    }
    mor_arena_destroy(arena);
}

static double distance(int dim, double mu, double roll, double drill, const double* x, const double* y)
{
    double s = 0.0, t = dim == 2 ? fabs(y[1]) : hypot(y[1], y[2]), r = dim >= 5 ? hypot(y[3], y[4]) : 0.0;
    if (dim == 6 && fabs(y[5]) > drill * y[0] + 1e-12) return INFINITY;
    if (t > mu * y[0] + 1e-12 || r > roll * y[0] + 1e-12) return INFINITY;
    for (int i = 0; i < dim; i++) s += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(s);
}

static void no_point_of_the_cone_is_nearer_than_the_projection(void** state)
{
    (void)state;
    mor_rng rng = { 7 };
    for (int trial = 0; trial < 400; trial++) {
        static const int dims[] = { 2, 3, 5, 6 };
        int dim = dims[trial % 4];
        double mu = mor_rng_uniform(&rng), roll = dim >= 5 ? mor_rng_uniform(&rng) : 0.0,
               drill = dim == 6 ? mor_rng_uniform(&rng) : 0.0, x[6], y[6], other[6];
        for (int i = 0; i < dim; i++) y[i] = x[i] = 4.0 * mor_rng_uniform(&rng) - 2.0;
        mor_cone_project(dim, (mor_cone){ { mu, roll, drill } }, y);
        double best = distance(dim, mu, roll, drill, x, y);
        assert_true(best < INFINITY);
        for (int k = 0; k < 200; k++) {
            double reach = k % 2 ? 0.01 : 1.0;
            for (int i = 0; i < dim; i++) other[i] = y[i] + reach * (mor_rng_uniform(&rng) - 0.5);
            assert_true(distance(dim, mu, roll, drill, x, other) > best - 1e-12);
        }
    }
}

static void fc3d_measure_is_the_siconos_formula(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double W[9] = { 2, 0, 0, 0, 1, 0, 0, 0, 1 }, q[3] = { -4, 1, 0 }, mu[1] = { 0.5 }, r[3] = { 2, 0, 0 };
    mor_problem p = { .form = MOR_FC3D, .size = 3, .A = dense(3, W), .b = q, .contact_count = 1, .dim = 3, .mu = mu };
    /* u = (0,1,0); u^ = (0.5,1,0); r - u^ = (1.5,-1,0); outside: N' = (1.5+0.5)/1.25 = 1.6, T' = -0.8 */
    mor_residual e = mor_judge(&p, r, arena);
    assert_near(e.absolute, sqrt(0.4 * 0.4 + 0.8 * 0.8), 1e-15);
    assert_near(e.relative, e.absolute / sqrt(17.0), 1e-15);
    assert_near(e.normal_error, 0.0, 1e-15);
    assert_true(e.friction_error > 0.9);
    /* the sliding solution: r_T = -mu r_N, u_N = 0: r_N = 2 */
    double slide[3] = { 2, -1, 0 };
    q[1] = 3.0;
    e = mor_judge(&p, slide, arena);
    assert_near(e.absolute, 0.0, 1e-15);
    assert_near(e.velocity, 0.0, 1e-15);
    assert_near(e.friction_power, 2.0, 1e-15);
    mor_arena_destroy(arena);
}

static void polygon_split_rebuilds_the_vector_with_the_least_sum(void** state)
{
    (void)state;
    mor_rng rng = { 9 };
    for (int nd = 3; nd <= 9; nd++)
        for (int k = 0; k < 50; k++) {
            double T[2] = { mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5 }, beta[2], a[2], b[2];
            int j = mor_polygon_split(nd, T, beta);
            mor_polygon_direction(nd, j, a);
            mor_polygon_direction(nd, (j + 1) % nd, b);
            assert_true(beta[0] > -1e-15 && beta[1] > -1e-15);
            assert_near(beta[0] * a[0] + beta[1] * b[0], T[0], 1e-15);
            assert_near(beta[0] * a[1] + beta[1] * b[1], T[1], 1e-15);
            /* the gauge of the polygon: largest of T.m over edge normals */
            double gauge = 0.0, tau = 6.283185307179586;
            for (int i = 0; i < nd; i++) {
                double middle = tau * (i + 0.5) / nd;
                gauge = fmax(gauge, (T[0] * cos(middle) + T[1] * sin(middle)) / cos(tau / 2 / nd));
            }
            assert_near(beta[0] + beta[1], gauge, 1e-14);
        }
}

/* One body of mass m on a floor, gravity impulse m g h pressing, pushed sideways. */
static mor_problem block_on_floor(double m, double push, int directions, double* nu, double* data, mor_block* block,
                                  mor_entry* entry, mor_tree_block* tree, int* start)
{
    double *J = data, *Y = data + 9, *W = data + 18, *bias = data + 27, *M = data + 30, *I = data + 39;
    memset(data, 0, 48 * sizeof *data);
    J[0 * 3 + 2] = 1, J[1 * 3 + 0] = 1, J[2 * 3 + 1] = 1; /* n = z, t = x, o = y */
    for (int k = 0; k < 3; k++) M[4 * k] = m, I[4 * k] = 1 / m, W[4 * k] = 1 / m;
    for (int k = 0; k < 9; k++) Y[k] = J[k] / m;
    nu[0] = push, nu[1] = 0, nu[2] = -0.0981;
    *tree = (mor_tree_block){ 3, 0, M, I };
    *entry = (mor_entry){ 0, 0 };
    *block = (mor_block){ .kind = MOR_BLOCK_CONTACT, .dim = 3, .entry_count = 1, .mu = 0.5, .directions = directions };
    *start = 0;
    mor_problem p = { .form = directions ? MOR_STEP_PYRAMID : MOR_STEP_CONE, .size = 3 };
    p.step = (mor_step_form){ 1, 3, tree, nu, 1, 3, block, entry, J, Y, W, start, bias };
    return p;
}

static void a_step_is_judged_in_metres_per_second_at_any_mass(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int directions = 0; directions <= 8; directions += 4)
        for (double m = 1e-3; m < 1e7; m *= 1e3) {
            double nu[3], data[48];
            mor_block block;
            mor_entry entry;
            mor_tree_block tree;
            int start;
            mor_problem p = block_on_floor(m, 0.2, directions, nu, data, &block, &entry, &tree, &start);
            mor_error error = { 0 };
            assert_int_equal(mor_problem_check(&p, &error), MOR_OK);
            double N = 0.0981 * m, exact[3] = { N, -0.5 * N, 0 }, none[3] = { 0, 0, 0 }, soft[3] = { N, -0.4 * N, 0 };
            assert_near(mor_judge(&p, exact, arena).velocity, 0.0, 1e-15);
            assert_near(mor_judge(&p, exact, arena).normal_error, 0.0, 1e-15);
            assert_near(mor_judge(&p, exact, arena).friction_error, 0.0, 1e-15);
            double without = mor_judge(&p, none, arena).velocity, wrong = mor_judge(&p, soft, arena).velocity;
            assert_true(without > 0.04 && without < 0.3); /* the approach speed, whatever the mass */
            assert_true(wrong > 0.001 && wrong < 0.1);
            assert_true(mor_judge_floor(&p, exact, arena) < 1e-14);
            /* sticking: a push inside the cone */
            nu[0] = 0.03;
            double stick[3] = { N, -0.03 * m, 0 };
            assert_near(mor_judge(&p, stick, arena).velocity, 0.0, 1e-15);
        }
    mor_arena_destroy(arena);
}

static void bad_data_is_named(void** state)
{
    (void)state;
    double A[4] = { 1, 0, 0, 1 }, b[2] = { 0, NAN }, mu[1] = { -0.1 };
    mor_error error = { 0 };
    mor_problem p = { .form = MOR_LCP, .size = 2, .A = dense(2, A), .b = b };
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "b[1]"));
    b[1] = 0.0, A[3] = INFINITY;
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "A["));
    A[3] = 1.0, p.A.rows = 3;
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    p.A.rows = 2;
    assert_int_equal(mor_problem_check(&p, &error), MOR_OK);
    p.form = MOR_FC2D, p.dim = 2, p.contact_count = 1, p.mu = mu;
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "mu[0]"));
    int rows[3] = { 0, 1, 2 }, columns[2] = { 0, 2 };
    p.form = MOR_LCP;
    p.A = (mor_matrix){ .storage = MOR_SPARSE, .rows = 2, .cols = 2, .p = rows, .i = columns, .x = A };
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "column 2"));
    p.form = (mor_form)3;
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
}

static double between(mor_rng* rng, double a, double b) { return a + (b - a) * mor_rng_uniform(rng); }

/* One contact after the other, by the functions that know any number of rows. */
static void judge_one(const mor_four_contacts* k, int lane, mor_tally* scaled, mor_tally* plain, mor_residual* worst)
{
    const mor_cone cone = { { k->mu[lane], 0, 0 } };
    double p[3], u[3], e[3];
    for (int i = 0; i < 3; i++) p[i] = k->p[i][lane], u[i] = k->u[i][lane];
    for (int pass = 0; pass < 2; pass++) {
        mor_tally* t = pass ? plain : scaled;
        double rho = pass ? 1.0 : k->rho[lane];
        mor_cone_natural(3, cone, rho, p, u, e);
        double s = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / rho;
        t->natural += s * s;
        if (!(s <= t->largest)) t->largest = s;
    }
    mor_tally_cone(scaled, 3, cone, false, k->rho[lane], p, u);
    mor_judge_contact(3, cone, k->rho[lane], p, u, worst);
}

static void four_contacts_are_judged_as_one_after_the_other(void** state)
{
    (void)state;
    mor_rng rng = { 7 };
    for (int trial = 0; trial < 4000; trial++) {
        mor_four_contacts k = { .count = 1 + trial % 4 };
        for (int lane = 0; lane < 4; lane++) {
            k.mu[lane] = trial % 5 ? between(&rng, 0, 1.5) : 0.0;
            k.rho[lane] = between(&rng, 0.01, 10);
            for (int i = 0; i < 3; i++) {
                k.p[i][lane] = between(&rng, i || trial % 3 == 0 ? -2 : 0, 2);
                k.u[i][lane] = trial % 7 == i ? 0.0 : between(&rng, -2, 2);
                if (trial % 11 == 0) k.p[i][lane] = 0.0; /* open */
            }
            if (trial % 1000 == 999) k.p[trial % 3][lane] = NAN;
        }
        mor_tally four[2] = { { 0 } }, one[2] = { { 0 } };
        mor_residual worst[2] = { { 0 } };
        mor_judge_four(&k, &four[0], &four[1], &worst[0]);
        for (int lane = 0; lane < k.count; lane++) judge_one(&k, lane, &one[0], &one[1], &worst[1]);
        const double a[] = { four[0].natural,        four[0].fb,      four[0].cck,           four[0].largest,
                             four[1].natural,        four[1].largest, worst[0].normal_error, worst[0].friction_error,
                             worst[0].friction_power };
        const double b[] = { one[0].natural,
                             one[0].fb,
                             one[0].cck,
                             one[0].largest,
                             one[1].natural,
                             one[1].largest,
                             worst[1].normal_error,
                             worst[1].friction_error,
                             worst[1].friction_power };
        for (int i = 0; i < 9; i++) assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
    }
}

/* Blocks may share coefficients; what lies beyond those that were looked at is looked at by itself. */
static void numbers_that_are_not_finite_are_found_in_shared_coefficients(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    mor_error error = { 0 };
    random_step spec = { 1, 6, 3, 3, 4, 0, 0, 0.4, 1 };
    mor_problem p = random_step_make(&spec, 31, arena);
    mor_entry* E = (mor_entry*)p.step.entries;
    E[2].start = 25; /* 25..42; the blocks before it have 0..35 */
    ((double*)p.step.jacobian)[41] = NAN;
    assert_int_equal(mor_problem_check(&p, &error), MOR_BAD_INPUT);
    E[2].start = 17; /* all of it was looked at */
    assert_int_equal(mor_problem_check(&p, &error), MOR_OK);
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcp_measures_are_the_natural_map_and_the_merits),
        cmocka_unit_test(mlcp_measure_is_siconos_odd_one),
        cmocka_unit_test(boxed_rows_use_the_middle_of_bounds_and_step),
        cmocka_unit_test(no_point_of_the_cone_is_nearer_than_the_projection),
        cmocka_unit_test(fc3d_measure_is_the_siconos_formula),
        cmocka_unit_test(polygon_split_rebuilds_the_vector_with_the_least_sum),
        cmocka_unit_test(a_step_is_judged_in_metres_per_second_at_any_mass),
        cmocka_unit_test(bad_data_is_named),
        cmocka_unit_test(four_contacts_are_judged_as_one_after_the_other),
        cmocka_unit_test(numbers_that_are_not_finite_are_found_in_shared_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
