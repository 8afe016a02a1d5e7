/* Kinematics and dynamics of articulated trees: algorithms against each other, against finite
 * differences and against the closed form of the double pendulum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/random_robot.h"

#define TREES 1000
static const mor_vec3 gravity = { 0.3, -0.2, -9.81 };

typedef struct sample {
    mor_robot_model* model;
    mor_robot_work* work;
    int N, n;
    mor_pose base;
    double *s, *nu, *f, *x, *y, *M, *L, *wrenches;
} sample;

static sample sample_create(mor_rng* rng, int links, bool floating)
{
    sample t = { .model = random_robot(rng, links, floating) };
    assert_non_null(t.model);
    t.work = mor_robot_work_create(t.model);
    t.N = mor_robot_dof(t.model);
    t.n = mor_robot_joint_count(t.model);
    t.base = (mor_pose){ { 1.0, -2.0, 0.5 }, mor_rng_rotation(rng) };
    size_t N = (size_t)t.N + 1;
    t.s = calloc(N, sizeof(double));
    t.nu = calloc(N, sizeof(double));
    t.f = calloc(N, sizeof(double));
    t.x = calloc(N, sizeof(double));
    t.y = calloc(N, sizeof(double));
    t.M = calloc(N * N, sizeof(double));
    t.L = calloc(N * N, sizeof(double));
    t.wrenches = calloc(6 * (size_t)links, sizeof(double));
    for (int i = 0; i < t.n; i++) t.s[i] = random_number(rng, 3.0);
    for (int i = 0; i < t.N; i++) t.nu[i] = random_number(rng, 1.0), t.f[i] = random_number(rng, 5.0);
    for (int i = 0; i < 6 * links; i++) t.wrenches[i] = random_number(rng, 2.0);
    mor_robot_update(t.model, t.work, &t.base, t.s, t.nu);
    return t;
}

static void sample_destroy(sample* t)
{
    mor_robot_work_destroy(t->work);
    mor_robot_destroy(t->model);
    double* all[] = { t->s, t->nu, t->f, t->x, t->y, t->M, t->L, t->wrenches };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Sizes from 1 to 200, small ones more often. */
static int size_of(int k) { return k % 20 == 0 ? 1 + (k / 20) % 50 * 4 : 1 + k % 30; }

static double norm(const double* x, int n)
{
    double m = 0.0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
    return m;
}

static void articulated_bodies_and_the_factored_mass_matrix_give_the_same_acceleration(void** state)
{
    (void)state;
    mor_rng rng = { 1 };
    for (int k = 0; k < TREES; k++) {
        sample t = sample_create(&rng, size_of(k), k % 2);
        int N = t.N;
        assert_true(mor_robot_forward_dynamics(t.model, t.work, gravity, t.f, t.wrenches, t.x));
        /* M y = f + J' wrench - h */
        mor_robot_inverse_dynamics(t.model, t.work, gravity, NULL, t.wrenches, t.y);
        for (int i = 0; i < N; i++) t.y[i] = t.f[i] - t.y[i];
        mor_robot_mass_matrix(t.model, t.work, t.M);
        memcpy(t.L, t.M, (size_t)N * (size_t)N * sizeof(double));
        assert_true(mor_robot_factor(t.model, t.L)); /* positive definite */
        mor_robot_factor_solve(t.model, t.L, t.y);
        double scale = 1.0 + norm(t.x, N);
        for (int i = 0; i < N; i++) assert_near(t.x[i], t.y[i], 1e-8 * scale);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++) assert_true(t.M[i * N + j] == t.M[j * N + i]);
        sample_destroy(&t);
    }
}

static void inverse_dynamics_inverts_forward_dynamics(void** state)
{
    (void)state;
    mor_rng rng = { 2 };
    for (int k = 0; k < TREES; k++) {
        sample t = sample_create(&rng, size_of(k), k % 2);
        if (k % 3 == 0) {
            double reflected[200];
            for (int i = 0; i < t.n; i++) reflected[i] = mor_rng_uniform(&rng);
            assert_int_equal(mor_robot_set_reflected(t.model, reflected, NULL, NULL), MOR_OK);
        }
        assert_true(mor_robot_forward_dynamics(t.model, t.work, gravity, t.f, t.wrenches, t.x));
        mor_robot_inverse_dynamics(t.model, t.work, gravity, t.x, t.wrenches, t.y);
        double scale = 1.0 + norm(t.x, t.N);
        for (int i = 0; i < t.N; i++) assert_near(t.y[i], t.f[i], 1e-9 * scale);
        sample_destroy(&t);
    }
}

static void the_kept_factor_applies_the_inverse_mass(void** state)
{
    (void)state;
    mor_rng rng = { 3 };
    for (int k = 0; k < 200; k++) {
        sample t = sample_create(&rng, size_of(k), k % 2);
        assert_true(mor_robot_forward_dynamics(t.model, t.work, gravity, NULL, NULL, t.x));
        mor_robot_solve(t.model, t.work, t.f, t.x);
        mor_robot_mass_matrix(t.model, t.work, t.M);
        for (int i = 0; i < t.N; i++) {
            double sum = 0.0;
            for (int j = 0; j < t.N; j++) sum += t.M[i * t.N + j] * t.x[j];
            assert_near(sum, t.f[i], 1e-9 * (1.0 + norm(t.x, t.N)));
        }
        mor_robot_solve(t.model, t.work, t.f, t.f); /* in place */
        assert_memory_equal(t.f, t.x, (size_t)t.N * sizeof(double));
        sample_destroy(&t);
    }
}

static void a_reflected_inertia_matrix_is_part_of_the_mass(void** state)
{
    (void)state;
    mor_rng rng = { 4 };
    for (int k = 0; k < 100; k++) {
        sample t = sample_create(&rng, 2 + k % 30, k % 2);
        int n = t.n, N = t.N, offset = N - n;
        double* G = calloc((size_t)(n * n), sizeof(double));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) { /* A A' with a bidiagonal A: two motors per joint */
                if (i == j) G[i * n + j] = 0.25 + 0.04;
                if (abs(i - j) == 1) G[i * n + j] = -0.1;
            }
        mor_robot_mass_matrix(t.model, t.work, t.M);
        assert_int_equal(mor_robot_set_reflected(t.model, NULL, G, NULL), MOR_OK);
        mor_robot_work_destroy(t.work);
        t.work = mor_robot_work_create(t.model);
        mor_robot_update(t.model, t.work, &t.base, t.s, t.nu);
        mor_robot_mass_matrix(t.model, t.work, t.L);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                assert_near(t.L[(offset + i) * N + offset + j] - t.M[(offset + i) * N + offset + j], G[i * n + j],
                            1e-10);
        assert_true(mor_robot_forward_dynamics(t.model, t.work, gravity, t.f, t.wrenches, t.x));
        mor_robot_inverse_dynamics(t.model, t.work, gravity, t.x, t.wrenches, t.y);
        for (int i = 0; i < N; i++) assert_near(t.y[i], t.f[i], 1e-8 * (1.0 + norm(t.x, N)));
        /* nu' M nu / 2 */
        double sum = 0.0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) sum += 0.5 * t.nu[i] * t.L[i * N + j] * t.nu[j];
        assert_near(mor_robot_kinetic_energy(t.model, t.work), sum, 1e-9 * (1.0 + sum));
        free(G);
        sample_destroy(&t);
    }
}

static void jacobians_and_their_rates_agree_with_finite_differences(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    const double d = 1e-5;
    for (int k = 0; k < TREES; k++) {
        sample t = sample_create(&rng, 1 + k % 40, k % 2);
        int N = t.N, frame = (int)(mor_rng_uniform(&rng) * mor_robot_frame_count(t.model));
        double *J = calloc(6 * (size_t)N + 1, sizeof(double)), *J2 = calloc(12 * (size_t)N + 1, sizeof(double)),
               bias[6], v[6] = { 0 };
        mor_robot_frame_jacobian(t.model, t.work, frame, J);
        mor_robot_frame_bias(t.model, t.work, frame, bias);
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < N; c++) v[r] += J[r * N + c] * t.nu[c];
        double H[2][16];
        for (int side = 0; side < 2; side++) {
            mor_pose base = t.base;
            double* s = malloc(((size_t)t.n + 1) * sizeof(double));
            memcpy(s, t.s, (size_t)t.n * sizeof(double));
            for (int i = 0; i < N; i++) t.x[i] = (side ? d : -d) * t.nu[i];
            random_robot_move(t.model, &base, s, t.x);
            mor_robot_update(t.model, t.work, &base, s, t.nu);
            mor_robot_frame_matrix(t.model, t.work, frame, H[side]);
            mor_robot_frame_jacobian(t.model, t.work, frame, J2 + side * 6 * N);
            free(s);
        }
        /* lengths grow with the depth; the error of a central difference is d^2 times third derivatives */
        double scale = 1.0 + norm(v, 6);
        scale = scale * scale * scale;
        for (int r = 0; r < 3; r++) assert_near((H[1][4 * r + 3] - H[0][4 * r + 3]) / (2 * d), v[r], 1e-6 * scale);
        /* dR R' = [w]x */
        double W[3][3] = { { 0 } };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int m = 0; m < 3; m++)
                    W[i][j] +=
                        (H[1][4 * i + m] - H[0][4 * i + m]) / (2 * d) * 0.5 * (H[0][4 * j + m] + H[1][4 * j + m]);
        assert_near(W[2][1], v[3], 1e-6 * scale);
        assert_near(W[0][2], v[4], 1e-6 * scale);
        assert_near(W[1][0], v[5], 1e-6 * scale);
        for (int r = 0; r < 6; r++) {
            double sum = 0.0;
            for (int c = 0; c < N; c++) sum += (J2[6 * N + r * N + c] - J2[r * N + c]) / (2 * d) * t.nu[c];
            assert_near(sum, bias[r], 1e-6 * scale * (1.0 + norm(v, 6)));
        }
        free(J);
        free(J2);
        sample_destroy(&t);
    }
}

static void the_rate_of_the_energy_is_the_power_of_the_forces(void** state)
{
    (void)state;
    mor_rng rng = { 6 };
    const double d = 1e-5;
    for (int k = 0; k < TREES; k++) {
        sample t = sample_create(&rng, 1 + k % 25, k % 2);
        int N = t.N;
        assert_true(mor_robot_forward_dynamics(t.model, t.work, gravity, t.f, NULL, t.x));
        double power = 0.0, E[2], size = 0.0;
        for (int i = 0; i < N; i++) power += t.f[i] * t.nu[i], size += fabs(t.f[i] * t.nu[i]) + fabs(t.x[i]);
        for (int side = 0; side < 2; side++) {
            double e = side ? d : -d;
            mor_pose base = t.base;
            double* s = malloc(((size_t)t.n + 1) * sizeof(double));
            memcpy(s, t.s, (size_t)t.n * sizeof(double));
            double* nu = malloc(((size_t)N + 1) * sizeof(double));
            for (int i = 0; i < N; i++) {
                t.y[i] = e * t.nu[i];
                nu[i] = t.nu[i] + e * t.x[i];
            }
            random_robot_move(t.model, &base, s, t.y);
            mor_robot_update(t.model, t.work, &base, s, nu);
            E[side] = mor_robot_kinetic_energy(t.model, t.work) + mor_robot_potential_energy(t.model, t.work, gravity);
            free(s);
            free(nu);
        }
        assert_near((E[1] - E[0]) / (2 * d), power, 1e-6 * (1.0 + size) * (1.0 + fabs(E[0]) * 1e-3));
        sample_destroy(&t);
    }
}

static void a_floating_robot_without_forces_keeps_its_momentum(void** state)
{
    (void)state;
    mor_rng rng = { 7 };
    const double d = 1e-5;
    for (int k = 0; k < 100; k++) {
        sample t = sample_create(&rng, 1 + k % 25, true);
        for (int i = 0; i < 6; i++) t.f[i] = 0.0;
        assert_true(mor_robot_forward_dynamics(t.model, t.work, mor_v3(0, 0, 0), t.f, NULL, t.x));
        double p[2][6], size = 0.0;
        mor_vec3 com[2], point = { 0.1, 0.2, 0.3 };
        for (int side = 0; side < 2; side++) {
            double e = side ? d : -d;
            mor_pose base = t.base;
            double s[64], nu[64];
            memcpy(s, t.s, (size_t)t.n * sizeof(double));
            for (int i = 0; i < t.N; i++) t.y[i] = e * t.nu[i], nu[i] = t.nu[i] + e * t.x[i];
            random_robot_move(t.model, &base, s, t.y);
            mor_robot_update(t.model, t.work, &base, s, nu);
            mor_robot_momentum(t.model, t.work, point, p[side]);
            com[side] = mor_robot_com(t.model, t.work);
        }
        size = 1.0 + norm(p[0], 6) + norm(t.x, t.N);
        for (int i = 0; i < 6; i++) assert_near((p[1][i] - p[0][i]) / (2 * d), 0.0, 2e-6 * size * size);
        /* and the centre of mass moves with the linear momentum */
        double m = mor_robot_mass(t.model);
        assert_near((com[1].x - com[0].x) / (2 * d), 0.5 * (p[0][0] + p[1][0]) / m, 1e-6 * size);
        assert_near((com[1].z - com[0].z) / (2 * d), 0.5 * (p[0][2] + p[1][2]) / m, 1e-6 * size);
        sample_destroy(&t);
    }
}

static void a_double_pendulum_has_the_mass_matrix_of_the_textbook(void** state)
{
    (void)state;
    /* point masses m at the ends of two rods of length l about y: with c = cos q2
     * M = m l^2 [3 + 2c, 1 + c; 1 + c, 1] */
    double m = 0.7, l = 1.3, q2 = 0.8;
    mor_link_def links[3] = { mor_link_def_default(), mor_link_def_default(), mor_link_def_default() };
    for (int i = 1; i < 3; i++) {
        links[i].parent = i - 1;
        links[i].joint = i - 1;
        links[i].axis = mor_v3(0, 2, 0);
        links[i].mass = (mor_mass){ .mass = m, .com = { 0, 0, -l } };
    }
    links[2].pose.position = mor_v3(0, 0, -l);
    mor_robot_model* model = mor_robot_create(links, 3, NULL, 0, false, NULL);
    mor_robot_work* work = mor_robot_work_create(model);
    mor_pose base = mor_pose_identity();
    double s[2] = { 0.4, q2 }, M[4], g[2];
    mor_robot_update(model, work, &base, s, NULL);
    mor_robot_mass_matrix(model, work, M);
    double c = cos(q2), k = m * l * l;
    assert_near(M[0], k * (3 + 2 * c), 1e-14);
    assert_near(M[1], k * (1 + c), 1e-14);
    assert_near(M[3], k, 1e-14);
    mor_robot_inverse_dynamics(model, work, mor_v3(0, 0, -9.81), NULL, NULL, g);
    assert_near(g[0], m * 9.81 * l * (2 * sin(0.4) + sin(0.4 + q2)), 1e-13);
    assert_near(g[1], m * 9.81 * l * sin(0.4 + q2), 1e-13);
    mor_robot_work_destroy(work);
    mor_robot_destroy(model);
}

static void impossible_models_are_refused_with_a_sentence(void** state)
{
    (void)state;
    mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
    links[1].parent = 0;
    mor_error error;
    mor_robot_model* model = mor_robot_create(links, 2, NULL, 0, false, &error);
    assert_non_null(model);
    /* a massless link that can move: M is singular */
    mor_robot_work* work = mor_robot_work_create(model);
    mor_pose base = mor_pose_identity();
    double s = 0, x;
    mor_robot_update(model, work, &base, &s, NULL);
    assert_false(mor_robot_forward_dynamics(model, work, gravity, NULL, NULL, &x));
    mor_robot_work_destroy(work);
    mor_robot_destroy(model);
    links[1].parent = 1;
    assert_null(mor_robot_create(links, 2, NULL, 0, false, &error));
    assert_non_null(strstr(error.text, "parents come first"));
    links[1].parent = 0;
    links[1].axis = mor_v3(0, 0, 0);
    assert_null(mor_robot_create(links, 2, NULL, 0, false, &error));
    assert_non_null(strstr(error.text, "axis"));
    links[1].axis = mor_v3(0, 0, 1);
    links[1].joint = 1;
    assert_null(mor_robot_create(links, 2, NULL, 0, false, &error));
    links[1].joint = 0;
    links[1].mass.mass = NAN;
    assert_null(mor_robot_create(links, 2, NULL, 0, false, &error));
    assert_null(mor_robot_create(links, 0, NULL, 0, false, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_double_pendulum_has_the_mass_matrix_of_the_textbook),
        cmocka_unit_test(articulated_bodies_and_the_factored_mass_matrix_give_the_same_acceleration),
        cmocka_unit_test(inverse_dynamics_inverts_forward_dynamics),
        cmocka_unit_test(the_kept_factor_applies_the_inverse_mass),
        cmocka_unit_test(a_reflected_inertia_matrix_is_part_of_the_mass),
        cmocka_unit_test(jacobians_and_their_rates_agree_with_finite_differences),
        cmocka_unit_test(the_rate_of_the_energy_is_the_power_of_the_forces),
        cmocka_unit_test(a_floating_robot_without_forces_keeps_its_momentum),
        cmocka_unit_test(impossible_models_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
