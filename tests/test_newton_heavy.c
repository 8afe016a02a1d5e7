/* The scalar Newton methods on bodies that are much heavier or lighter than 1 kg, and on bodies that are nearly wedged.
 *
 * Expected values: one contact in closed form (it sticks with impulse s/c, or slides with mu p/a), and what Lemke's
 * pivoting solves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/elementary.h"
#include "moreau/solver.h"

static const char* const newtons[] = { "fischer-newton", "cck-newton", "minmap-newton", NULL };

static mor_report solve(const char* name, const mor_problem* problem, double* z)
{
    const mor_solver* solver = mor_solver_builtin(name);
    assert_non_null(solver);
    mor_solve_options options = mor_solve_options_default();
    return mor_solve(solver, NULL, problem, &options, z, NULL);
}

/* The LCP of contacts with inverse mass W of rows (normals, then two tangents of every contact) and friction mu. */
static mor_problem pyramid(int contacts, const double* W, const double* q, const double* mu, double* A, double* b)
{
    int rows = 3 * contacts, n = 4 * contacts;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    memset(b, 0, (size_t)n * sizeof *b);
    for (int i = 0; i < rows; i++) {
        b[i] = q[i];
        for (int j = 0; j < rows; j++) A[i + j * n] = W[i * rows + j];
    }
    for (int c = 0; c < contacts; c++) {
        A[rows + c + c * n] = mu[c];
        for (int k = 0; k < 2; k++) {
            int t = contacts + 2 * c + k;
            A[rows + c + t * n] = -1.0;
            A[t + (rows + c) * n] = 1.0;
        }
    }
    return (
        mor_problem){ .form = MOR_LCP, .size = n, .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = A }, .b = b };
}

/* From 0.1 mg to 10,000 t. They stood still, because friction rows, pure numbers, were scaled together with 1/mass. */
static void the_mass_of_a_body_makes_no_difference(void** state)
{
    (void)state;
    int solved = 0, all = 0;
    for (double mass = 1e-7; mass < 2e7; mass *= 10.0)
        for (int slides = 0; slides < 2; slides++)
            for (const char* const* s = newtons; *s; s++) {
                double a = 1.0 / mass, c = 1.3 / mass, p = 0.0127, slip = slides ? 0.03 : 0.0021, mu = 0.45, A[16],
                       b[4], z[4];
                double W[9] = { a, 0, 0, 0, c, -c, 0, -c, c }, q[3] = { -p, -slip, slip };
                mor_problem problem = pyramid(1, W, q, &mu, A, b);
                mor_report r = solve(*s, &problem, z);
                all++;
                if (r.status != MOR_SOLVED) {
                    printf("  %s, %g kg, %s: %s\n", *s, mass, slides ? "slides" : "sticks", mor_status_name(r.status));
                    continue;
                }
                solved++;
                double normal = p / a, friction = mor_min(slip / c, mu * normal);
                assert_true(fabs(z[0] - normal) < 1e-5 * normal && fabs(z[1] - z[2] - friction) < 1e-5 * normal);
            }
    printf("  %d of %d solved\n", solved, all);
    assert_int_equal(solved, all);
}

/* A body that turns easily and moves hardly, between two contacts: impulses are up to 1e5 times the load. */
static void a_body_that_is_nearly_wedged_is_solved_as_by_pivoting(void** state)
{
    (void)state;
    mor_rng rng = { 41 };
    int pivoting = 0, newton[3] = { 0 };
    for (int k = 0; k < 300; k++) {
        double J[6][3], W[36], q[6], mu[2] = { 0.3 + 0.6 * mor_rng_uniform(&rng), 0.2 + 0.6 * mor_rng_uniform(&rng) };
        for (int c = 0; c < 2; c++) { /* normal and tangent of a contact, and its arm */
            double angle = 6.28 * mor_rng_uniform(&rng), x = mor_rng_uniform(&rng) - 0.5,
                   y = mor_rng_uniform(&rng) - 0.5;
            double n[2] = { mor_cos(angle), mor_sin(angle) };
            double* rows[3] = { J[c], J[2 + 2 * c], J[3 + 2 * c] };
            for (int i = 0; i < 3; i++) {
                double sign = i == 2 ? -1.0 : 1.0, dx = i ? -sign * n[1] : n[0], dy = i ? sign * n[0] : n[1];
                memcpy(rows[i], (double[3]){ dx, dy, 8.0 * (x * dy - y * dx) }, sizeof J[0]);
            }
        }
        double v[3] = { 0.02 * (mor_rng_uniform(&rng) - 0.5), 0.02 * (mor_rng_uniform(&rng) - 0.5),
                        0.02 * (mor_rng_uniform(&rng) - 0.5) };
        static const double inverse[3] = { 2e-6, 2e-6, 1.0 };
        for (int i = 0; i < 6; i++) {
            q[i] = 0.0;
            for (int d = 0; d < 3; d++) q[i] += J[i][d] * v[d];
            for (int j = 0; j < 6; j++) {
                W[6 * i + j] = 0.0;
                for (int d = 0; d < 3; d++) W[6 * i + j] += J[i][d] * inverse[d] * J[j][d];
            }
        }
        double A[64], b[8], z[8];
        mor_problem problem = pyramid(2, W, q, mu, A, b);
        if (solve("lemke", &problem, z).status != MOR_SOLVED) continue;
        pivoting++;
        for (int s = 0; s < 3; s++) newton[s] += solve(newtons[s], &problem, z).status == MOR_SOLVED;
    }
    printf("  lemke %d of 300, of them", pivoting);
    for (int s = 0; s < 3; s++) printf(" %s %d", newtons[s], newton[s]);
    printf("\n");
    assert_true(pivoting > 150);
    for (int s = 0; s < 3; s++) assert_true(100 * newton[s] >= 95 * pivoting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mass_of_a_body_makes_no_difference),
        cmocka_unit_test(a_body_that_is_nearly_wedged_is_solved_as_by_pivoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
