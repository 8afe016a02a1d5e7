/* Springs and dampers of joints against closed forms: amplitude, frequency and decay of oscillators from soft to far
 * stiffer than the step resolves, in maximal and minimal coordinates. */
#include "common/random_scenes.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A slider of mass m on a spring and damper (kind 0), or a wheel of inertia 0.4 m on a torsion spring (kind 1). */
static mor_world* oscillator(int kind, bool minimal, double h, double m, double k, double c, double speed,
                             double gravity)
{
    char text[2048];
    snprintf(text, sizeof text,
             "moreau: 1\nname: oscillator\ngravity: [0, 0, %.17g]\ntime: { step: %.17g, end: 1 }\n%s"
             "bodies:\n"
             "  - { name: a, shape: { sphere: 1 }, mass: %.17g, collide: false, velocity: [0, 0, %.17g], "
             "angular_velocity: [0, 0, %.17g] }\n"
             "joints:\n"
             "  - { type: %s, bodies: [a, world], point: [0, 0, 0], axis: [0, 0, 1], spring: { stiffness: %.17g }, "
             "damping: %.17g }\n",
             -gravity, h, minimal ? "method: { coordinates: minimal }\n" : "", m, kind ? 0.0 : speed,
             kind ? speed : 0.0, kind ? "revolute" : "prismatic", k, c);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_scene_destroy(scene);
    return w;
}

static double coordinate(const mor_world* w, int kind, double* rate)
{
    mor_body_state s = mor_body_get_state(w, mor_world_body(w, 0));
    *rate = kind ? s.angular_velocity.z : s.velocity.z;
    return kind ? 2.0 * atan2(s.pose.rotation.z, s.pose.rotation.w) : s.com.z;
}

/* Ten periods at h w = 0.01 .. 0.3: the amplitude stays, the phase is of second order, no step gains energy. */
static void an_oscillator_keeps_its_amplitude(void** state)
{
    (void)state;
    const double turns[] = { 0.01, 0.05, 0.3 };
    for (int kind = 0; kind < 2; kind++)
        for (int minimal = 0; minimal < 2; minimal++)
            for (int i = 0; i < 3; i++) {
                double m = 2.0, k = 300.0, inertia = kind ? 0.4 * m : m, omega = sqrt(k / inertia);
                double h = turns[i] / omega, speed = 0.5, x = 0, v, most = 0, gain = 0,
                       before = 0.5 * inertia * speed * speed;
                mor_world* w = oscillator(kind, minimal, h, m, k, 0, speed, 0);
                int steps = (int)(20 * pi / turns[i] + 0.5);
                for (int n = 0; n < steps; n++) {
                    test_steps(w, 1);
                    x = coordinate(w, kind, &v);
                    double E = 0.5 * inertia * v * v + 0.5 * k * x * x;
                    gain = fmax(gain, E - before);
                    before = E;
                    if (n > steps - 7 / turns[i]) most = fmax(most, fabs(x));
                }
                double A = speed / omega, t = steps * h, phase = 62.8 * turns[i] * turns[i] / 12.0;
                test_near(most / A, 1.0, 1e-3 + 0.13 * turns[i] * turns[i], "amplitude");
                test_near(gain / (0.5 * inertia * speed * speed), 0.0, 1e-9, "gain in a step");
                test_near(x / A, sin(omega * t), 1.2 * phase + 1e-6, "phase");
                mor_world_destroy(w);
            }
}

/* h w from 1e-3 to 1e3, pushed: no step gains energy, nothing explodes; static load: the deflection is m g/k. */
static void any_stiffness_is_stable(void** state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int minimal = 0; minimal < 2; minimal++)
            for (int decade = -3; decade <= 3; decade++) {
                double h = 0.01, m = 1.5, inertia = kind ? 0.4 * m : m, omega = pow(10, decade) / h,
                       k = inertia * omega * omega;
                double g = kind ? 0.0 : 9.81, gain = 0, v, x = 0, scale = 0.5 * inertia * 4, most = 0;
                mor_world* w = oscillator(kind, minimal, h, m, k, 0, 2.0, g);
                double before = scale;
                for (int n = 0; n < 300; n++) {
                    test_steps(w, 1);
                    x = coordinate(w, kind, &v);
                    double E = 0.5 * inertia * v * v + 0.5 * k * x * x + m * g * x;
                    gain = fmax(gain, E - before);
                    most = fmax(most, fabs(x));
                    before = E;
                }
                scale = fmax(scale, m * g * most);
                test_near(gain / scale, 0.0, 1e-9, "gain in a step");
                if (decade >= 2) test_near(x, -m * g / k, 1e-5 * 2.0 * h + 1e-3 * m * g / k, "static deflection");
                mor_world_destroy(w);
            }
}

/* Logarithmic decrement: x = e^(-d t) (v0/w_d) sin w_d t. */
static void a_damper_takes_what_it_should(void** state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int minimal = 0; minimal < 2; minimal++) {
            double error[2];
            for (int i = 0; i < 2; i++) {
                double m = 2.0, k = 300.0, inertia = kind ? 0.4 * m : m, omega = sqrt(k / inertia), zeta = 0.1;
                double c = 2 * zeta * sqrt(k * inertia), wd = omega * sqrt(1 - zeta * zeta),
                       h = (i ? 0.02 : 0.04) / omega, v, x;
                mor_world* w = oscillator(kind, minimal, h, m, k, c, 0.5, 0);
                int steps = (int)(12.0 / (omega * h) + 0.5);
                test_steps(w, steps);
                x = coordinate(w, kind, &v);
                double t = steps * h, exact = exp(-zeta * omega * t) * 0.5 / wd * sin(wd * t);
                error[i] = fabs(x - exact) / (0.5 / omega);
                mor_world_destroy(w);
            }
            assert_true(error[1] < 0.3 * error[0] && error[1] < 1e-3);
        }
}

/* ------------------------------------------------------------------------------ drawn at random */

enum { MASSES = 3, ORDER = 2 * MASSES };

/* One to three sliders in a row, or wheels on one axis, each with a spring and a damper to the one before. */
typedef struct row {
    int count;
    bool wheels, minimal;
    double m[MASSES], k[MASSES], c[MASSES], speed[MASSES], gravity;
} row;

static row draw_row(uint64_t* seed, int number, bool damped)
{
    row r = { .count = 1 + number % MASSES, .wheels = number % 2, .minimal = number / 2 % 2 };
    double scale = exp(test_random(seed, -2, 2)), omega = exp(test_random(seed, 0, 5));
    for (int i = 0; i < r.count; i++) {
        r.m[i] = scale * exp(test_random(seed, -1, 1));
        r.k[i] = omega * omega * scale * exp(test_random(seed, -1, 1));
        r.c[i] = damped ? test_random(seed, 0.0, 0.6) * sqrt(r.m[i] * r.k[i]) : 0.0;
        r.speed[i] = test_random(seed, -1, 1);
    }
    r.gravity = r.wheels ? 0.0 : test_random(seed, 0.0, 10.0);
    return r;
}

/* Inertia of mass i: a wheel of radius 1 has 0.4 m. */
static double inertia_of(const row* r, int i) { return r->wheels ? 0.4 * r->m[i] : r->m[i]; }

static mor_world* row_world(const row* r, double h)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "moreau: 1\ngravity: [0, 0, %.17g]\ntime: { step: %.17g, end: 1 }\n%sbodies:\n",
                     -r->gravity, h, r->minimal ? "method: { coordinates: minimal }\n" : "");
    for (int i = 0; i < r->count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - { name: a%d, shape: { sphere: 1 }, mass: %.17g, collide: false, %s: [0, 0, %.17g] }\n", i,
                      r->m[i], r->wheels ? "angular_velocity" : "velocity", r->speed[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "joints:\n");
    for (int i = 0; i < r->count; i++) {
        char before[16];
        snprintf(before, sizeof before, "a%d", i - 1);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - { type: %s, bodies: [a%d, %s], point: [0, 0, 0], axis: [0, 0, 1], spring: { stiffness: "
                      "%.17g }, damping: %.17g }\n",
                      r->wheels ? "revolute" : "prismatic", i, i ? before : "world", r->k[i], r->c[i]);
    }
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_scene_destroy(scene);
    return w;
}

/* d/dt (x - x at rest, v) = A (...): writes the rows of A, and the places at rest under gravity. */
static void row_matrix(const row* r, double A[ORDER][ORDER], double* rest)
{
    memset(A, 0, sizeof(double[ORDER][ORDER]));
    double below = 0.0;
    for (int i = r->count - 1; i >= 0; i--) below += r->m[i], rest[i] = -below * r->gravity / r->k[i];
    for (int i = 1; i < r->count; i++) rest[i] += rest[i - 1];
    for (int i = 0; i < r->count; i++) {
        A[i][MASSES + i] = 1.0;
        for (int side = 0; side < 2; side++) { /* the spring to the one before, and that of the next */
            int s = i + side, other = side ? s : i - 1;
            if (s >= r->count) continue;
            double *a = A[MASSES + i], k = r->k[s] / inertia_of(r, i), c = r->c[s] / inertia_of(r, i);
            a[i] -= k, a[MASSES + i] -= c;
            if (other >= 0) a[other] += k, a[MASSES + other] += c;
        }
    }
}

/* y <- exp(A t) y, by the series in pieces of |A| dt < 1/2. */
static void advance_exactly(double A[ORDER][ORDER], double t, double* y)
{
    double size = 0.0;
    for (int i = 0; i < ORDER; i++) {
        double sum = 0.0;
        for (int j = 0; j < ORDER; j++) sum += fabs(A[i][j]);
        size = fmax(size, sum);
    }
    int pieces = (int)(2.0 * size * t) + 1;
    for (int n = 0; n < pieces; n++) {
        double term[ORDER], next[ORDER];
        memcpy(term, y, sizeof term);
        for (int k = 1; k < 20; k++) {
            for (int i = 0; i < ORDER; i++) {
                next[i] = 0.0;
                for (int j = 0; j < ORDER; j++) next[i] += A[i][j] * term[j] * t / pieces / k;
            }
            memcpy(term, next, sizeof term);
            for (int i = 0; i < ORDER; i++) y[i] += term[i];
        }
    }
}

static double row_energy(const row* r, const mor_world* w, double* x, double* v)
{
    double E = 0.0;
    for (int i = 0; i < r->count; i++) {
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, i));
        v[i] = r->wheels ? s.angular_velocity.z : s.velocity.z;
        x[i] = r->wheels ? 2.0 * atan2(s.pose.rotation.z, s.pose.rotation.w) : s.com.z;
        double stretch = x[i] - (i ? x[i - 1] : 0.0);
        E += 0.5 * inertia_of(r, i) * v[i] * v[i] + 0.5 * r->k[i] * stretch * stretch + r->m[i] * r->gravity * x[i];
    }
    return E;
}

/* Largest difference from the exact motion after `steps` steps of h, over the largest place of the exact one. */
static double row_error(const row* r, double h, int steps)
{
    double A[ORDER][ORDER], y[ORDER] = { 0 }, rest[MASSES] = { 0 }, x[MASSES], v[MASSES], worst = 0.0, size = 0.0;
    row_matrix(r, A, rest);
    mor_world* w = row_world(r, h);
    for (int i = 0; i < r->count; i++) y[i] = -rest[i], y[MASSES + i] = r->speed[i];
    for (int n = 0; n < steps; n++) {
        test_steps(w, 1);
        advance_exactly(A, h, y);
        row_energy(r, w, x, v);
        for (int i = 0; i < r->count; i++) {
            worst = fmax(worst, fabs(x[i] - rest[i] - y[i]));
            size = fmax(size, fabs(y[i]));
        }
    }
    mor_world_destroy(w);
    return worst / size;
}

static double fastest(const row* r)
{
    double most = 0.0;
    for (int i = 0; i < r->count; i++)
        most = fmax(most, 4.0 * (r->k[i] + (i + 1 < r->count ? r->k[i + 1] : 0.0)) / inertia_of(r, i));
    return sqrt(most); /* above the largest frequency, by Gershgorin's circles */
}

static int variations(void) { return getenv("MOREAU_LONG") ? 100 : 20; }

static void springs_drawn_at_random_are_of_second_order(void** state)
{
    (void)state;
    uint64_t seed = 20261;
    for (int n = 0; n < variations(); n++) {
        row r = draw_row(&seed, n, n % 3 != 0);
        double h = 0.05 / fastest(&r), a = row_error(&r, h, 200), b = row_error(&r, 0.5 * h, 400);
        test_near(b / a, 0.25, 0.02, "error with half the step over that with the step");
        assert_true(a < 1e-3);
    }
}

/* The step resolves nothing of it or everything: h times the frequency from 1e-4 to 1e5. No step gains energy, and both
 * coordinates give the same motion. */
static void springs_drawn_at_random_are_stable(void** state)
{
    (void)state;
    uint64_t seed = 777;
    for (int n = 0; n < 100; n++) {
        row r = draw_row(&seed, n, n % 3 != 0);
        double h = fmin(exp(test_random(&seed, -9.2, 11.5)) / fastest(&r), 1000.0);
        double x[2][MASSES], v[MASSES], before[2], gain = 0.0, scale = 0.0, apart = 0.0;
        mor_world* w[2];
        for (int k = 0; k < 2; k++) {
            r.minimal = k;
            w[k] = row_world(&r, h);
            before[k] = row_energy(&r, w[k], x[k], v);
        }
        double first = before[0], size = 1e-300;
        for (int step = 0; step < 300; step++) {
            for (int k = 0; k < 2; k++) {
                scale = fmax(scale, test_steps(w[k], 1).kinetic);
                double E = row_energy(&r, w[k], x[k], v);
                gain = fmax(gain, E - before[k]);
                before[k] = E;
            }
            for (int i = 0; i < r.count; i++) {
                scale = fmax(scale, r.m[i] * r.gravity * fabs(x[0][i]));
                apart = fmax(apart, fabs(x[0][i] - x[1][i]));
                size = fmax(size, fabs(x[0][i]));
            }
        }
        test_near(gain / fmax(scale, first), 0.0, 1e-9, "gain in a step");
        test_near(apart / size, 0.0, 1e-7, "distance of minimal and maximal coordinates");
        for (int k = 0; k < 2; k++) mor_world_destroy(w[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_keeps_its_amplitude),
        cmocka_unit_test(any_stiffness_is_stable),
        cmocka_unit_test(a_damper_takes_what_it_should),
        cmocka_unit_test(springs_drawn_at_random_are_of_second_order),
        cmocka_unit_test(springs_drawn_at_random_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
