/* Independent answers to the IFToMM benchmarks.
 *
 * A01: sin(theta/2) = k sn(K + w t), k = sin(pi/4), w^2 = g, theta from below; sn by descending Landen steps
 * (arithmetic- geometric mean). A02 and A05: the reduced equations, Runge-Kutta with steps of 1e-5 s. A03: F. Mazzia,
 * C. Magherini, Test set for initial value problem solvers, "Andrews' squeezing mechanism", reference by PSIDE. */
#include "common/iftomm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define G 9.81

/* ----------------------------------------------------------------------------------------- A01 */

/* sn(u, k) */
static double jacobi_sn(double u, double k)
{
    double a[40], c[40], b = sqrt(1.0 - k * k);
    int n = 0;
    a[0] = 1.0, c[0] = k;
    while (fabs(c[n]) > 1e-17 && n < 38) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
        n++;
    }
    double period = 4.0 * 0.5 * PI / a[n];
    u = fmod(u, period); /* 4 K */
    double phi = ldexp(a[n] * u, n);
    for (; n > 0; n--) phi = 0.5 * (phi + asin(c[n] * sin(phi) / a[n]));
    return sin(phi);
}

void iftomm_a01(double t, double xy[2])
{
    double k = sin(PI / 4.0), a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 40; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    double K = 0.5 * PI / a, s = k * jacobi_sn(K + sqrt(G) * t, k), theta = 2.0 * asin(s);
    xy[0] = sin(theta);
    xy[1] = -cos(theta);
}

/* ------------------------------------------------------------------------------- reduced equations */

typedef void (*slope)(const double* y, const void* user, double* dy);

static void runge_kutta(int n, double* y, double h, slope f, const void* user)
{
    double k[4][8], z[8];
    f(y, user, k[0]);
    for (int s = 1; s < 4; s++) {
        for (int i = 0; i < n; i++) z[i] = y[i] + (s == 3 ? h : 0.5 * h) * k[s - 1][i];
        f(z, user, k[s]);
    }
    for (int i = 0; i < n; i++) y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

static void four_bars(const double* y, const void* user, double* dy)
{
    dy[0] = y[1];
    dy[1] = *(const double*)user * sin(y[0]);
}

void iftomm_a02(int N, double t, double xy[2])
{
    double c = G * (0.5 * (N + 1) + N) / ((N + 1) / 3.0 + N), y[2] = { 0.0, 1.0 };
    int steps = (int)(t * 1e5 + 0.5);
    for (int i = 0; i < steps; i++) runge_kutta(2, y, t / steps, four_bars, &c);
    xy[0] = sin(y[0]);
    xy[1] = cos(y[0]);
}

/* y = (alpha, alpha', s, s'): arms alpha below the horizontal; the spin follows from its momentum. */
static void governor(const double* y, const void* user, double* dy)
{
    const double m = 0.3, ball = 5.0, slider = 3.0, K = 8e5, C = 4e4;
    const double across = m * (1.0 + 1e-4) / 12.0, along = m * 2e-4 / 12.0, J = across + 0.25 * m + ball,
                 I0 = 0.3 * 2e-4 / 12.0 + 3.0 * 0.02 / 12.0;
    double sa = sin(y[0]), ca = cos(y[0]), I = I0 + 2.0 * (J * ca * ca + along * sa * sa),
           spin = *(const double*)user / I;
    double x = 0.5 * ca, z = 1.0 - 0.5 * sa - y[2], d = sqrt(x * x + z * z);
    double da = (x * -0.5 * sa + z * -0.5 * ca) / d, ds = -z / d, F = K * (d - 0.5) + C * (da * y[1] + ds * y[3]);
    dy[0] = y[1];
    dy[1] = (-2.0 * (J - along) * sa * ca * spin * spin + 2.0 * (0.5 * m + ball) * G * ca - 2.0 * F * da) / (2.0 * J);
    dy[2] = y[3];
    dy[3] = -G - 2.0 * F * ds / slider;
}

void iftomm_a05(double dt, int count, double* s)
{
    double y[4] = { PI / 6.0, 0.0, 0.5, 0.0 }, ca = cos(PI / 6.0), sa = 0.5;
    const double m = 0.3, J = m * (1.0 + 1e-4) / 12.0 + 0.25 * m + 5.0, along = m * 2e-4 / 12.0,
                 I0 = 0.3 * 2e-4 / 12.0 + 3.0 * 0.02 / 12.0;
    double momentum = 2.0 * PI * (I0 + 2.0 * (J * ca * ca + along * sa * sa));
    int parts = (int)ceil(dt / 1e-5);
    for (int i = 0; i < count; i++) {
        s[i] = y[2];
        for (int k = 0; k < parts; k++) runge_kutta(4, y, dt / parts, governor, &momentum);
    }
}

/* ----------------------------------------------------------------------------------------- A03 */

static const double a03_q[7] = { 15.81077119629904, -15.75637105984298, .04082224013073101, -.5347301163226948,
                                 .5244099658805304, .5347301163226948,  1.048080741042263 };
static const double a03_rate[7] = { 1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
                                    .5735699284790808, -19.29337464421385, .3231791658026955 };
static const double a03_lambda[6] = { 199.1753333731910, -29.75531228015052, 23.06654119098399,
                                      31.45271365475927, 22.64249232082739,  11.61740700019673 };

void iftomm_a03(mor_world* w, double error[3])
{
    double angle[8], rate[8], forces[6 * 16] = { 0 };
    for (int i = 1; i <= 7; i++) {
        char name[4] = { 'k', (char)('0' + i), 0 };
        mor_body_state s = mor_body_get_state(w, mor_world_find_body(w, name));
        angle[i] = 2.0 * atan2(s.pose.rotation.z, s.pose.rotation.w);
        rate[i] = s.angular_velocity.z;
    }
    /* beta, Theta, gamma, Phi, delta, Omega, epsilon */
    const int of[7] = { 1, 2, 3, 4, 5, 6, 7 }, less[7] = { 0, 1, 0, 5, 0, 7, 0 };
    error[0] = error[1] = error[2] = 0.0;
    for (int i = 0; i < 7; i++) {
        double q = angle[of[i]] - (less[i] ? angle[less[i]] : 0.0) - a03_q[i],
               v = rate[of[i]] - (less[i] ? rate[less[i]] : 0.0);
        q -= 2.0 * PI * floor(q / (2.0 * PI) + 0.5);
        error[0] = fmax(error[0], fabs(q / a03_q[i]));
        error[1] = fmax(error[1], fabs(v / a03_rate[i] - 1.0));
    }
    mor_error problem;
    mor_step* step = mor_step_create(w, &problem); /* with the torque that drives it */
    bool known = step && mor_world_joint_count(w) <= 16 && mor_stage_user(w, step, &problem) == MOR_OK &&
                 mor_step_joint_forces(w, step, forces, &problem) == MOR_OK;
    mor_step_destroy(step);
    if (!known) {
        error[2] = INFINITY;
        return;
    }
    static const char* const loops[3] = { "loop3", "loop4", "loop6" };
    for (int j = 0; j < mor_world_joint_count(w); j++)
        for (int l = 0; l < 3; l++)
            for (int k = 0; k < 2 && strcmp(mor_world_joint(w, j)->name, loops[l]) == 0; k++)
                error[2] = fmax(error[2], fabs(forces[6 * j + k] - a03_lambda[2 * l + k]) / a03_lambda[0]);
}
