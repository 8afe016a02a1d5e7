/* Routh's impact with Coulomb friction: the velocity u of one contact along its normal impulse p_n.
 *
 *     du/dp_n = W (1, f),    f = -mu u_t/|u_t| while it slips
 *     stuck (u_t = 0):  W_tt f = -W_tn  if |f| <= mu; otherwise it slips off, (mu W_tt + lambda) s = W_tn, |s| = 1,
 *                       lambda > 0, f = -mu s, and keeps the direction s
 *
 * Compression ends where u_n = 0: impulse p_c, work of the normal force E_c < 0. Expansion ends
 *
 *     Poisson   p_n = (1 + e) p_c, or earlier if all work is given back: integral u_n dp_n = 0
 *     Stronge   integral u_n dp_n = (1 - e^2) E_c
 *
 * The normal force gives back no more than it took and friction takes always, so no energy is gained.
 *
 * In the plane, and once stuck, the path is made of straight pieces with closed ends. In space, slip turns; with
 * dp_n = |u_t| ds
 *
 *     dp_n/ds = |u_t|,   dp_t/ds = -mu u_t,   du/ds = W dp/ds
 *
 * is smooth also where slip ends. Integrated by the pair of Dormand and Prince, error of a step 1e-10 of the slip that
 * is left; ends are bisected.
 * lambda exists once: |(mu W_tt + lambda)^-1 W_tn| falls with lambda and is above 1 at 0.
 *
 * E. J. Routh, Dynamics of a system of rigid bodies, part 1 (1905), art. 180; J. B. Keller, "Impact with friction",
 * J. Appl. Mech. 53 (1986) 1-4; W. J. Stronge, "Rigid body collisions with friction", Proc. R. Soc. A 431 (1990)
 * 169-181; J. A. Batlle, "On Newton's and Poisson's rules of percussive dynamics", J. Appl. Mech. 60 (1993) 376-381. */
#include "formulation/routh.h"
#include "base/elementary.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-10
#define STUCK 1e-11 /* of the speed before: slower slip is none */
enum { STEPS = 20000, HALVINGS = 60, U = 0, P = 3, WORK = 6, STATE = 7 };

typedef struct path {
    int dim;
    double W[3][3], mu;
    double y[STATE]; /* velocity, impulse, work of the normal force so far */
    bool expands;
    double most;   /* normal impulse that ends it */
    double target; /* work that ends it */
    double fastest, stuck;
} path;

/* Not negative: this phase is over. */
static double beyond(const path* k, const double* y)
{
    return k->expands ? mor_max(y[P] - k->most, y[WORK] - k->target) : y[U];
}

/* A straight piece, dp = (1, f) dp_n, to the end of the phase or `at_most`. True: the phase is over. */
static bool straight(path* k, const double* f, double at_most)
{
    const double a[3] = { 1.0, f[0], f[1] };
    double x[3] = { 0 }, u = k->y[U], reach;
    for (int i = 0; i < k->dim; i++)
        for (int d = 0; d < k->dim; d++) x[i] += k->W[i][d] * a[d];
    if (k->expands) {
        /* work + u s + x s^2/2 = target, the root after which it stays above; target >= work */
        double c = mor_max(k->target - k->y[WORK], 0.0), inside = u * u + 2.0 * x[0] * c;
        double root = sqrt(mor_max(inside, 0.0));
        reach = u >= 0.0 ? (u + root > 0.0 ? 2.0 * c / (u + root) : 0.0) : x[0] > 0.0 ? (root - u) / x[0] : HUGE_VAL;
        if (inside < 0.0) reach = HUGE_VAL;
        reach = mor_min(reach, k->most - k->y[P]);
    } else {
        reach = x[0] > 0.0 ? -u / x[0] : HUGE_VAL;
    }
    bool over = reach <= at_most;
    double s = mor_max(over ? reach : at_most, 0.0);
    k->y[WORK] += s * (u + 0.5 * x[0] * s);
    for (int d = 0; d < k->dim; d++) {
        k->y[U + d] += x[d] * s;
        k->y[P + d] += a[d] * s;
    }
    return over;
}

/* (mu W_tt + lambda) s = W_tn; its length. */
static double slip_direction(const path* k, double lambda, double s[2])
{
    double a = k->mu * k->W[1][1] + lambda, b = k->mu * k->W[1][2], c = k->mu * k->W[2][2] + lambda;
    double det = a * c - b * b;
    s[0] = (c * k->W[1][0] - b * k->W[2][0]) / det;
    s[1] = (a * k->W[2][0] - b * k->W[1][0]) / det;
    return mor_hypot(s[0], s[1]);
}

/* Friction per normal impulse of a contact that does not slip: it sticks, or slips off in the direction it keeps. */
static void without_slip(const path* k, double f[2])
{
    f[0] = f[1] = 0.0;
    if (k->dim == 2) {
        f[0] = mor_min(mor_max(-k->W[1][0] / k->W[1][1], -k->mu), k->mu);
    } else if (k->dim == 3 && k->mu > 0.0) {
        double low = 0.0, high = mor_hypot(k->W[1][0], k->W[2][0]), s[2];
        if (slip_direction(k, 0.0, s) > 1.0)
            for (int i = 0; i < HALVINGS; i++) {
                double middle = 0.5 * (low + high);
                if (slip_direction(k, middle, s) > 1.0) low = middle;
                else high = middle;
            }
        f[0] = -k->mu * s[0], f[1] = -k->mu * s[1];
    }
}

static void rates(const path* k, const double* y, double* out)
{
    double slip = mor_hypot(y[U + 1], y[U + 2]);
    out[P] = slip;
    out[P + 1] = -k->mu * y[U + 1];
    out[P + 2] = -k->mu * y[U + 2];
    for (int i = 0; i < 3; i++) out[U + i] = k->W[i][0] * out[P] + k->W[i][1] * out[P + 1] + k->W[i][2] * out[P + 2];
    out[WORK] = y[U] * slip;
}

/* One step of Dormand and Prince; its error over what is allowed. */
static double step(const path* k, const double* y, double h, double* out)
{
    static const double a[6][6] = {
        { 1.0 / 5 },
        { 3.0 / 40, 9.0 / 40 },
        { 44.0 / 45, -56.0 / 15, 32.0 / 9 },
        { 19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729 },
        { 9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656 },
        { 35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84 },
    };
    static const double e[7] = {
        71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40
    };
    double r[7][STATE], z[STATE], worst = 0.0;
    rates(k, y, r[0]);
    for (int n = 0; n < 6; n++) {
        for (int i = 0; i < STATE; i++) {
            z[i] = y[i];
            for (int m = 0; m <= n; m++) z[i] += h * a[n][m] * r[m][i];
        }
        rates(k, z, r[n + 1]);
    }
    double slip = mor_hypot(y[U + 1], y[U + 2]);
    for (int i = 0; i < 3; i++) {
        double error = 0.0;
        for (int m = 0; m < 7; m++) error += h * e[m] * r[m][U + i];
        worst = mor_max(worst, fabs(error) / (i == 0 ? k->fastest : slip));
    }
    memcpy(out, z, sizeof z);
    return worst / TOLERANCE;
}

/* Slip in space until it ends (0), the phase ends (1), or neither comes (-1). */
static int turn(path* k)
{
    double h = 0.02 / (k->mu * (k->W[1][1] + k->W[2][2]) + mor_hypot(k->W[1][0], k->W[2][0])), next[STATE];
    for (int n = 0; n < STEPS; n++) {
        if (mor_hypot(k->y[U + 1], k->y[U + 2]) <= k->stuck) return 0;
        double error = step(k, k->y, h, next);
        double change = error > 0.0 ? 0.9 * mor_pow(error, -0.2) : 4.0;
        if (!(error <= 1.0)) {
            h *= mor_max(change, 0.1);
            continue;
        }
        if (beyond(k, next) >= 0.0) {
            double low = 0.0, high = h;
            for (int i = 0; i < HALVINGS; i++) {
                double middle = 0.5 * (low + high);
                step(k, k->y, middle, next);
                if (beyond(k, next) < 0.0) low = middle;
                else high = middle;
            }
            step(k, k->y, high, next);
            memcpy(k->y, next, sizeof next);
            return 1;
        }
        memcpy(k->y, next, sizeof next);
        h *= mor_min(change, 4.0);
    }
    return -1;
}

/* One phase. */
static bool follow(path* k)
{
    double f[2] = { 0.0, 0.0 }, slip = k->dim < 2 ? 0.0 : mor_hypot(k->y[U + 1], k->y[U + 2]);
    if (beyond(k, k->y) >= 0.0) return true;
    if (k->dim == 1 || !(k->mu > 0.0)) return straight(k, f, HUGE_VAL);
    if (slip > k->stuck && k->dim == 3) {
        int how = turn(k);
        if (how != 0) return how > 0;
    } else if (slip > k->stuck) {
        double u = k->y[U + 1];
        f[0] = u > 0.0 ? -k->mu : k->mu;
        double change = k->W[1][0] + k->W[1][1] * f[0];
        if (straight(k, f, u * change < 0.0 ? -u / change : HUGE_VAL)) return true;
    }
    without_slip(k, f);
    return straight(k, f, HUGE_VAL);
}

bool mor_routh_impact(int dim, const double* W, int stride, double mu, double e, mor_routh_end end, const double* u,
                      double* p)
{
    path k = { .dim = dim, .mu = mu };
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) k.W[i][j] = W[i * stride + j];
        k.y[U + i] = u[i];
        k.fastest = mor_max(k.fastest, fabs(u[i]));
    }
    k.stuck = STUCK * k.fastest;
    bool ok = follow(&k);
    if (ok && k.y[WORK] < 0.0) {
        bool poisson = end == MOR_ROUTH_POISSON;
        k.expands = true;
        k.most = poisson ? (1.0 + e) * k.y[P] : HUGE_VAL;
        k.target = poisson ? 0.0 : (1.0 - e * e) * k.y[WORK];
        ok = follow(&k);
    }
    for (int d = 0; d < dim; d++) p[d] = k.y[P + d], ok = ok && isfinite(p[d]);
    return ok;
}
