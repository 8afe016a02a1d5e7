/* See probe.h. */
#include "common/probe.h"

#include "moreau/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void probe_set_state(mor_world* w, const double* q, const double* nu)
{
    assert_int_equal(mor_world_set_q(w, q, mor_world_q_count(w), NULL), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, nu, mor_world_nu_count(w), NULL), MOR_OK);
}

/* q (+) delta for one number of nu, by spans; rotation vectors in world axes. */
static void move(const mor_world* w, double* q, int k, double by)
{
    for (int i = 0; i < mor_world_body_count(w) + mor_world_robot_count(w); i++) {
        bool robot = i >= mor_world_body_count(w);
        mor_span s;
        if (robot) s = mor_world_robot_span(w, i - mor_world_body_count(w));
        else {
            mor_body_id id = mor_world_body(w, i);
            if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
            s = mor_body_span(w, id);
        }
        if (k < s.nu || k >= s.nu + s.nu_count) continue;
        int at = k - s.nu;
        if (s.q_count == s.nu_count) q[s.q + at] += by;
        else if (at < 3) q[s.q + at] += by;
        else if (at >= 6) q[s.q + at + 1] += by;
        else {
            double* p = q + s.q + 3;
            mor_vec3 v = mor_v3(at == 3 ? by : 0, at == 4 ? by : 0, at == 5 ? by : 0);
            mor_quat r = mor_quat_mul(mor_quat_exp(v), (mor_quat){ p[0], p[1], p[2], p[3] });
            p[0] = r.w, p[1] = r.x, p[2] = r.y, p[3] = r.z;
        }
        return;
    }
}

/* The rotation vector between quaternions. */
static void turn(const double* a, const double* b, double* out)
{
    mor_quat d = mor_quat_mul((mor_quat){ a[0], a[1], a[2], a[3] }, (mor_quat){ b[0], -b[1], -b[2], -b[3] });
    double sign = d.w < 0 ? -2.0 : 2.0;
    out[0] = sign * d.x, out[1] = sign * d.y, out[2] = sign * d.z; /* small */
}

void probe_difference(const mor_world* w, const double* qa, const double* na, const double* qb, const double* nb,
                      double by, double* out)
{
    int n = mor_world_nu_count(w);
    for (int i = 0; i < mor_world_body_count(w) + mor_world_robot_count(w); i++) {
        bool robot = i >= mor_world_body_count(w);
        mor_span s;
        if (robot) s = mor_world_robot_span(w, i - mor_world_body_count(w));
        else {
            mor_body_id id = mor_world_body(w, i);
            s = mor_body_span(w, id);
            if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        }
        bool floating = s.q_count != s.nu_count;
        for (int k = 0; k < s.nu_count; k++)
            if (!floating || k < 3 || k >= 6) {
                int at = s.q + k + (floating && k >= 6);
                out[s.nu + k] = (qa[at] - qb[at]) / by;
            }
        if (!floating) continue;
        double r[3];
        turn(qa + s.q + 3, qb + s.q + 3, r);
        for (int k = 0; k < 3; k++) out[s.nu + 3 + k] = r[k] / by;
    }
    for (int k = 0; k < n; k++) out[n + k] = (na[k] - nb[k]) / by;
}

prober probe_begin(mor_world* w)
{
    prober p = { .w = w, .Q = mor_world_q_count(w), .n = mor_world_nu_count(w) };
    double** all[] = { &p.q, &p.nu, &p.ends[0], &p.ends[1], &p.ends[2], &p.ends[3] };
    for (int i = 0; i < 6; i++) *all[i] = calloc((size_t)(p.Q + p.n), sizeof(double));
    mor_world_get_q(w, p.q, p.Q, NULL);
    mor_world_get_nu(w, p.nu, p.n, NULL);
    p.size = mor_world_save(w, NULL, 0);
    p.start = malloc(p.size);
    mor_world_save(w, p.start, p.size);
    return p;
}

void probe_end(prober* p)
{
    assert_int_equal(mor_world_restore(p->w, p->start, p->size, NULL), MOR_OK);
    double* all[] = { p->q, p->nu, p->ends[0], p->ends[1], p->ends[2], p->ends[3] };
    for (int i = 0; i < 6; i++) free(all[i]);
    free(p->start);
}

void probe_move(prober* p, int k, double amount, double* q, double* nu)
{
    assert_int_equal(mor_world_restore(p->w, p->start, p->size, NULL), MOR_OK);
    memcpy(q, p->q, (size_t)p->Q * sizeof *q);
    memcpy(nu, p->nu, (size_t)p->n * sizeof *nu);
    if (k >= 0 && k < p->n) move(p->w, q, k, amount);
    else if (k >= 0) nu[k - p->n] += amount;
    probe_set_state(p->w, q, nu);
}

void probe_step(prober* p, int k, test_change function, void* user, double amount, double* q, double* nu)
{
    probe_move(p, function ? -1 : k, amount, q, nu);
    if (function) function(p->w, amount, user);
    mor_error error = { 0 };
    if (mor_world_step(p->w, NULL, &error) != MOR_OK) fail_msg("%s", error.text);
    if (function) function(p->w, -amount, user);
    mor_world_get_q(p->w, q, p->Q, NULL);
    mor_world_get_nu(p->w, nu, p->n, NULL);
}

static void probe(prober* p, int k, test_change function, void* user, double by, double* out)
{
    probe_step(p, k, function, user, by, p->ends[0], p->ends[1]);
    probe_step(p, k, function, user, -by, p->ends[2], p->ends[3]);
    probe_difference(p->w, p->ends[0], p->ends[1], p->ends[2], p->ends[3], 2.0 * by, out);
}

/* The error of `is` against the column, over its size. */
static double against(const mor_derivative* d, int j, const double* is, double least)
{
    double error = 0.0, size = 0.0;
    for (int i = 0; i < d->rows; i++) {
        double a = d->matrix[(size_t)i * (size_t)d->columns + (size_t)j];
        error = fmax(error, fabs(a - is[i]));
        size = fmax(size, fmax(fabs(is[i]), fabs(a)));
    }
    return error / fmax(size, least);
}

/* The limit of three differences over lengths that are halved; to one side errors are of order 1 and 2, of central ones
 * 2 and 4. */
static double limit(double a, double b, double c, double p)
{
    double coarse = (p * b - a) / (p - 1.0), fine = (p * c - b) / (p - 1.0), q = p > 2.0 ? 16.0 : 4.0;
    return (q * fine - coarse) / (q - 1.0);
}

/* Richardson's ladder, central and to each side. Long lengths drown the rounding of the steps, which short ones divide
 * by little: with a mass ratio of 1e6 it is 1e-11 m/s. A contact at rest is 1e-8 m from where its overlap counts for
 * less; to the other side of the state there is room for lengths that tell. */
static double ladder_error(prober* p, const mor_derivative* d, int j, test_change function, void* user, double unit,
                           double least)
{
    enum { LENGTHS = 18, WAYS = 3 };
    size_t n = (size_t)d->rows, Q = (size_t)p->Q;
    double best = INFINITY, *D[WAYS], *base = calloc(Q + 2 * n, sizeof *base), *T = base + Q + n;
    for (int way = 0; way < WAYS; way++) D[way] = calloc(LENGTHS * n, sizeof(double));
    probe_step(p, j, function, user, 0.0, base, base + Q);
    for (int k = 0; k < LENGTHS; k++) {
        double l = unit * 4e-3 * pow(0.5, k);
        size_t at = (size_t)k * n;
        probe(p, j, function, user, l, D[0] + at);
        probe_difference(p->w, p->ends[0], p->ends[1], base, base + Q, l, D[1] + at);
        probe_difference(p->w, base, base + Q, p->ends[2], p->ends[3], l, D[2] + at);
        for (int way = 0; way < WAYS && k >= 2; way++) {
            for (size_t i = 0; i < n; i++)
                T[i] = limit(D[way][at - 2 * n + i], D[way][at - n + i], D[way][at + i], way ? 2.0 : 4.0);
            best = fmin(best, against(d, j, T, least));
        }
    }
    for (int way = 0; way < WAYS; way++) free(D[way]);
    free(base);
    return best;
}

double probe_error(prober* p, const mor_derivative* d, int j, test_change function, void* user, double unit,
                   double least)
{
    double best = INFINITY, *out = calloc((size_t)d->rows, sizeof *out);
    for (int k = 0; k < 13 && (k < 7 || best > 1e-7); k++) {
        probe(p, j, function, user, unit * pow(10.0, k < 7 ? -3.0 - k : -9.5 + (k - 7)), out);
        best = fmin(best, against(d, j, out, least));
    }
    free(out);
    return best > 1e-7 ? fmin(best, ladder_error(p, d, j, function, user, unit, least)) : best;
}
