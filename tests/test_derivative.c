/* Derivatives of a step against central differences of whole steps: the world is moved, solved to 1e-13 and stepped on
 * both sides. Nothing of the derivative's own code takes part in that. */
#include "common/worlds.h"

#include "moreau/derivative.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------- differences of steps */

static void set_state(mor_world* w, const double* q, const double* nu)
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

static void state_difference(const mor_world* w, const double* qa, const double* na, const double* qb, const double* nb,
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

typedef void (*change)(mor_world* w, double amount, void* user);

/* The world to be moved, and where it begins. */
typedef struct prober {
    mor_world* w;
    int Q, n;
    double *q, *nu, *ends[4];
    void* start;
    size_t size;
} prober;

static prober probe_begin(mor_world* w)
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

static void probe_end(prober* p)
{
    assert_int_equal(mor_world_restore(p->w, p->start, p->size, NULL), MOR_OK);
    double* all[] = { p->q, p->nu, p->ends[0], p->ends[1], p->ends[2], p->ends[3] };
    for (int i = 0; i < 6; i++) free(all[i]);
    free(p->start);
}

/* One step from the start, moved along number k of the state or by a function. */
static void step_from(prober* p, int k, change function, void* user, double amount, double* q, double* nu)
{
    assert_int_equal(mor_world_restore(p->w, p->start, p->size, NULL), MOR_OK);
    memcpy(q, p->q, (size_t)p->Q * sizeof *q);
    memcpy(nu, p->nu, (size_t)p->n * sizeof *nu);
    if (!function && k < p->n) move(p->w, q, k, amount);
    else if (!function) nu[k - p->n] += amount;
    set_state(p->w, q, nu);
    if (function) function(p->w, amount, user);
    mor_error error = { 0 };
    if (mor_world_step(p->w, NULL, &error) != MOR_OK) fail_msg("%s", error.text);
    if (function) function(p->w, -amount, user);
    mor_world_get_q(p->w, q, p->Q, NULL);
    mor_world_get_nu(p->w, nu, p->n, NULL);
}

static void probe(prober* p, int k, change function, void* user, double by, double* out)
{
    step_from(p, k, function, user, by, p->ends[0], p->ends[1]);
    step_from(p, k, function, user, -by, p->ends[2], p->ends[3]);
    state_difference(p->w, p->ends[0], p->ends[1], p->ends[2], p->ends[3], 2.0 * by, out);
}

/* Compares a column with differences of three lengths: the best of them counts, as rounding spoils the short ones and
 * curvature the long ones. Returns the error relative to the size of the column. */
static double column_error(prober* p, const mor_derivative* d, int j, change function, void* user, double unit)
{
    double best = INFINITY, *out = calloc((size_t)d->rows, sizeof *out);
    for (int k = 0; k < 5; k++) {
        probe(p, j, function, user, unit * pow(10.0, -4.0 - k), out);
        double error = 0.0, size = 0.0;
        for (int i = 0; i < d->rows; i++) {
            double a = d->matrix[(size_t)i * (size_t)d->columns + (size_t)j];
            error = fmax(error, fabs(a - out[i]));
            size = fmax(size, fmax(fabs(out[i]), fabs(a)));
        }
        best = fmin(best, error / fmax(size, 1.0));
    }
    free(out);
    return best;
}

/* All state columns of the coming step. */
static double state_error(mor_world* w)
{
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    uint64_t hash = mor_world_hash(w);
    if (mor_world_derivative(w, NULL, 0, &d, &error) != MOR_OK) fail_msg("%s", error.text);
    assert_true(mor_world_hash(w) == hash);
    if (!d->differentiable) fail_msg("%s", d->why);
    prober p = probe_begin(w);
    double worst = 0.0;
    for (int j = 0; j < d->rows; j++) {
        double e = column_error(&p, d, j, NULL, NULL, 1.0);
        if (getenv("MOREAU_VERBOSE")) printf("column %d: %.2g\n", j, e);
        worst = fmax(worst, e);
    }
    probe_end(&p);
    mor_derivative_destroy(d);
    return worst;
}

/* --------------------------------------------------------------------------------------- scenes */

#define EXACT "time: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-13 }, gap_correction: velocity }\n"
#define FLOOR "  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"

static const struct {
    const char* name;
    int steps; /* before */
    const char* text;
} scenes[] = {
    { "a ball in flight", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 3], "
                                            "velocity: [1, 2, 0.5], angular_velocity: [1, 2, 3] }\n" },
    { "a box that tumbles in the air", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 2, position: [0, "
                                            "0, 3], angular_velocity: [4, -2, 3] }\n" },
    { "a ball at rest", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n" },
    { "a ball that slides and spins", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], "
                                            "velocity: [2, 1, 0], angular_velocity: [0, 0, 3] }\n" },
    { "a ball that rolls", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], "
                                            "velocity: [2, 0, 0], angular_velocity: [0, 4, 0] }\n" },
    { "a box at rest", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [1, 0.8, 0.6] }, mass: 2, position: [0, 0, 0.3] }\n" },
    { "a box that slides", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [1, 0.8, 0.3] }, mass: 2, position: [0, 0, 0.15], velocity: [3, 1, 0] }\n" },
    { "a ball on a ball", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: low, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n"
      "  - { name: top, shape: { sphere: 0.4 }, mass: 1, position: [0.02, 0.01, 1.3997222], angular_velocity: [0, 0, "
      "1] }\n" },
    { "three boxes, mass ratio 1e4", 2,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-10 }, gap_correction: velocity }\n" "bodies:\n" FLOOR
      "  - { name: a, shape: { box: [1, 1, 1] }, mass: 1, position: [0, 0, 0.5] }\n"
      "  - { name: b, shape: { box: [0.8, 0.8, 0.8] }, mass: 100, position: [0.05, 0, 1.4] }\n"
      "  - { name: c, shape: { box: [0.6, 0.6, 0.6] }, mass: 1e4, position: [0, 0.03, 2.1] }\n" },
    { "a disc in the plane", 2,
      "moreau: 1\ndimension: 2\n" EXACT
      "bodies:\n  - { name: ground, shape: { chain: [[-5, 0.5], [5, -0.5]] }, fixed: true, friction: 0.02 }\n"
      "  - { name: disc, shape: { disc: 0.3 }, mass: 1, friction: 0.02, position: [0, 0.3014963] }\n" },
    { "a pendulum of two hinges, maximal", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 }, stabilisation: { name: none } }\nbodies:\n"
      "  - { name: a, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 2] }\n"
      "  - { name: b, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [1.5, 0, 2] }\n"
      "joints:\n  - { name: j, type: spherical, bodies: [a, world], point: [0, 0, 2] }\n"
      "  - { name: k, type: spherical, bodies: [b, a], point: [1, 0, 2] }\n" },
    { "an arm that swings", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 }, gap_correction: velocity }\nbodies:\n" FLOOR
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 3] }\n" },
    { "an arm on the floor", 300,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 }, gap_correction: velocity }\nbodies:\n" FLOOR
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5] }\n" },
    { "a humanoid that stands", 5,
      "moreau: 1\ntime: { step: 0.001 }\nmethod: { solver: { name: auto, tol: 1e-13 }, gap_correction: velocity }\nbodies:\n" FLOOR
      "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 0.89] }\n"
      "controllers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n" },
};

static void states_agree_with_differences_of_steps(void** state)
{
    (void)state;
    const char* only = getenv("MOREAU_ONLY");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (only && !strstr(scenes[i].name, only)) continue;
        mor_scene* scene;
        mor_world* w = test_scene_text(scenes[i].text, &scene);
        test_steps(w, scenes[i].steps);
        double e = state_error(w);
        print_message("%-36s %.2g\n", scenes[i].name, e);
        if (!(e < 1e-6)) print_message("BAD\n");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(states_agree_with_differences_of_steps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
