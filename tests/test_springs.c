/* Springs and dampers of joints against closed forms: amplitude, frequency and decay of oscillators from soft to far
 * stiffer than the step resolves, in maximal and minimal coordinates. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_keeps_its_amplitude),
        cmocka_unit_test(any_stiffness_is_stable),
        cmocka_unit_test(a_damper_takes_what_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
