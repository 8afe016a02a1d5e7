/* All derivatives of a humanoid on eight points, by 58 states and 23 torques: accuracy against CPU time, beside
 * MuJoCo's mjd_transitionFD and beside differences of our own steps, in one run, taking turns.
 *
 * Both engines have the same tree, masses and spheres under the feet (wholebody/robot.c), a step of 1 ms, and stand for
 * one second with tau = -2000 s - 60 s_dot; then the torques are held, and the derivative of the next step is taken.
 * Ours is first lifted by 0.1 mm and comes down with 0.15 m/s, so that all eight points close within the step: at rest
 * the rigid law changes 5e-10 m below the floor, and differences of no length would tell. MuJoCo's soft points need a
 * depth to bear: it is left as it stands. Both bear on eight points in the step that is derived. MuJoCo's model has a
 * motor at every joint, so that mjd_transitionFD gives the columns of the torques.
 *
 * Errors are the largest of a column over the largest number of that column, at least 1, against central differences of
 * the same engine's own steps, solved as far as it can, of five lengths from 1e-5 to 1e-9, each extrapolated from half
 * of it; for each column the best length counts. Each engine is judged by its own step. In every round each derivative
 * is taken TRIES times in a row, and CPU time is the least of all: that of a program that works with one engine. The
 * first call after the other engine finds caches full of that one's numbers; ours, which is short, is told apart. */
#include "engines.h"

#include "moreau/derivative.h"
#include "moreau/state.h"
#include "wholebody/wholebody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, TRIES = 4, WARM = 1000, LENGTHS = 5 };

/* What differences of several lengths say: LENGTHS matrices, one after the other. */
typedef struct truth {
    int rows, columns;
    double* matrices;
} truth;

/* The worst column, each against the length that fits it best. */
static double column_error(const truth* t, const double* a)
{
    size_t numbers = (size_t)t->rows * (size_t)t->columns;
    double worst = 0.0;
    for (int j = 0; j < t->columns; j++) {
        double best = INFINITY;
        for (int k = 0; k < LENGTHS; k++) {
            const double* b = t->matrices + (size_t)k * numbers;
            double error = 0.0, size = 1.0;
            for (int i = 0; i < t->rows; i++) {
                error = fmax(error, fabs(a[(size_t)i * t->columns + j] - b[(size_t)i * t->columns + j]));
                size = fmax(size, fabs(b[(size_t)i * t->columns + j]));
            }
            best = fmin(best, error / size);
        }
        worst = fmax(worst, best);
    }
    return worst;
}

/* (4 fine - coarse) / 3, into fine. */
static void extrapolate(size_t count, const double* coarse, double* fine)
{
    for (size_t i = 0; i < count; i++) fine[i] += (fine[i] - coarse[i]) / 3.0;
}

/* ------------------------------------------------------------------------------------------------ ours */

typedef struct ours {
    mor_world* w;
    int n, joints, Q;
    void* start; /* snapshot */
    size_t size;
    double *tau, *q, *nu; /* held torques, and room for a state */
    double* ends[2];      /* states after a step, q then nu */
    mor_input inputs[128];
} ours;

static void held(void* user, mor_world* w) { mor_world_robot_apply(w, 0, ((ours*)user)->tau); }

/* The state after the step that begins `amount` along number k: positions, velocities, torques. */
static void our_step(ours* o, int k, double amount, double* end)
{
    mor_error error = { 0 };
    bench_fine(mor_world_restore(o->w, o->start, o->size, &error), &error);
    mor_world_get_q(o->w, o->q, o->Q, NULL);
    mor_world_get_nu(o->w, o->nu, o->n, NULL);
    if (k < 3) o->q[k] += amount;
    else if (k < 6) {
        mor_vec3 v = mor_v3(k == 3 ? amount : 0, k == 4 ? amount : 0, k == 5 ? amount : 0);
        double* p = o->q + 3;
        mor_quat r = mor_quat_mul(mor_quat_exp(v), (mor_quat){ p[0], p[1], p[2], p[3] });
        p[0] = r.w, p[1] = r.x, p[2] = r.y, p[3] = r.z;
    } else if (k < o->n) o->q[k + 1] += amount;
    else if (k < 2 * o->n) o->nu[k - o->n] += amount;
    else o->tau[k - 2 * o->n] += amount;
    bench_fine(mor_world_set_q(o->w, o->q, o->Q, &error), &error);
    bench_fine(mor_world_set_nu(o->w, o->nu, o->n, &error), &error);
    bench_fine(mor_world_step(o->w, NULL, &error), &error);
    if (k >= 2 * o->n) o->tau[k - 2 * o->n] -= amount;
    mor_world_get_q(o->w, end, o->Q, NULL);
    mor_world_get_nu(o->w, end + o->Q, o->n, NULL);
}

/* Central differences of whole steps, (2 n) x (2 n + joints). */
static void our_differences(ours* o, double by, double* out)
{
    int columns = 2 * o->n + o->joints;
    for (int k = 0; k < columns; k++) {
        our_step(o, k, by, o->ends[0]);
        our_step(o, k, -by, o->ends[1]);
        const double *a = o->ends[0], *b = o->ends[1];
        mor_quat turn = mor_quat_mul((mor_quat){ a[3], a[4], a[5], a[6] }, (mor_quat){ b[3], -b[4], -b[5], -b[6] });
        const double rotation[3] = { 2.0 * turn.x, 2.0 * turn.y, 2.0 * turn.z };
        for (int i = 0; i < o->n; i++) {
            double moved = i < 3 ? a[i] - b[i] : i < 6 ? rotation[i - 3] : a[i + 1] - b[i + 1];
            out[(size_t)i * columns + k] = moved / (2.0 * by);
            out[(size_t)(o->n + i) * columns + k] = (a[o->Q + i] - b[o->Q + i]) / (2.0 * by);
        }
    }
}

static ours our_start(robot* r, double* scratch)
{
    mor_error error = { 0 };
    ours o = { .w = bench_our_world(r, "ncp", "auto", scratch), .joints = mor_robot_joint_count(r->model) };
    for (int i = 0; i < WARM; i++) bench_fine(mor_world_step(o.w, NULL, &error), &error);
    o.n = mor_world_nu_count(o.w), o.Q = mor_world_q_count(o.w);
    o.tau = calloc((size_t)o.joints, sizeof(double));
    o.q = calloc((size_t)o.Q, sizeof(double));
    o.nu = calloc((size_t)o.n, sizeof(double));
    for (int i = 0; i < 2; i++) o.ends[i] = calloc((size_t)(o.Q + o.n), sizeof(double));
    mor_world_get_q(o.w, o.q, o.Q, NULL);
    mor_world_get_nu(o.w, o.nu, o.n, NULL);
    for (int i = 0; i < o.joints; i++) {
        o.tau[i] = -2000.0 * o.q[7 + i] - 60.0 * o.nu[6 + i];
        o.inputs[i] = (mor_input){ MOR_INPUT_JOINT_FORCE, 0, i };
    }
    o.q[2] += 1e-4, o.nu[2] -= 0.15;
    bench_fine(mor_world_set_q(o.w, o.q, o.Q, &error), &error);
    bench_fine(mor_world_set_nu(o.w, o.nu, o.n, &error), &error);
    o.size = mor_world_save(o.w, NULL, 0);
    o.start = malloc(o.size);
    mor_world_save(o.w, o.start, o.size);
    return o;
}

static void our_end(ours* o)
{
    mor_world_destroy(o->w);
    double* all[] = { o->tau, o->q, o->nu, o->ends[0], o->ends[1] };
    for (int i = 0; i < 5; i++) free(all[i]);
    free(o->start);
}

/* ---------------------------------------------------------------------------------------------- theirs */

#ifdef HAVE_MUJOCO
static const struct {
    const char* name;
    double eps;
    int centred;
    bool tight; /* solved as far as it goes; else with MuJoCo's defaults */
} settings[] = {
    { "forward 1e-6", 1e-6, 0, false },       { "centred 1e-6", 1e-6, 1, false },
    { "centred 1e-4", 1e-4, 1, false },       { "forward 1e-6, tight", 1e-6, 0, true },
    { "centred 1e-6, tight", 1e-6, 1, true },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct theirs {
    mjModel* m;
    mjData* d;
    double *A, *B, *all; /* all: [A B] */
    double best[SETTINGS], error[SETTINGS];
} theirs;

static void set_solver(mjModel* m, bool tight)
{
    m->opt.tolerance = tight ? 1e-16 : 1e-8;
    m->opt.iterations = tight ? 200 : 100;
}

static void their_derivative(theirs* t, double eps, int centred)
{
    int n = 2 * t->m->nv, u = t->m->nu;
    mjd_transitionFD(t->m, t->d, eps, (mjtByte)centred, t->A, t->B, NULL, NULL);
    for (int i = 0; i < n; i++) {
        memcpy(t->all + (size_t)i * (n + u), t->A + (size_t)i * n, (size_t)n * sizeof(double));
        memcpy(t->all + (size_t)i * (n + u) + n, t->B + (size_t)i * u, (size_t)u * sizeof(double));
    }
}

static bool their_start(const robot* r, theirs* t)
{
    t->m = bench_their_model(r, true, true);
    if (!t->m) return false;
    t->d = mj_makeData(t->m);
    bench_their_steps(t->m, t->d, WARM);
    for (int j = 0; j < t->m->nv - 6; j++)
        t->d->qfrc_applied[6 + j] = -2000.0 * t->d->qpos[7 + j] - 60.0 * t->d->qvel[6 + j];
    size_t n = 2 * (size_t)t->m->nv, u = (size_t)t->m->nu;
    t->A = calloc(n * n, sizeof(double));
    t->B = calloc(n * u, sizeof(double));
    t->all = calloc(n * (n + u), sizeof(double));
    for (int k = 0; k < SETTINGS; k++) t->best[k] = INFINITY;
    return true;
}

/* Errors of all settings against the extrapolated reference. */
static void their_errors(theirs* t)
{
    int n = 2 * t->m->nv, u = t->m->nu;
    size_t numbers = (size_t)n * (size_t)(n + u);
    double* coarse = calloc(numbers, sizeof *coarse);
    truth known = { n, n + u, calloc(LENGTHS * numbers, sizeof(double)) };
    set_solver(t->m, true);
    for (int k = 0; k < LENGTHS; k++) {
        double* fine = known.matrices + (size_t)k * numbers;
        their_derivative(t, pow(10.0, -5 - k), 1);
        memcpy(coarse, t->all, numbers * sizeof *coarse);
        their_derivative(t, 0.5 * pow(10.0, -5 - k), 1);
        memcpy(fine, t->all, numbers * sizeof *fine);
        extrapolate(numbers, coarse, fine);
    }
    for (int k = 0; k < SETTINGS; k++) {
        set_solver(t->m, settings[k].tight);
        their_derivative(t, settings[k].eps, settings[k].centred);
        t->error[k] = column_error(&known, t->all);
    }
    free(known.matrices);
    free(coarse);
}

static void their_round(theirs* t)
{
    for (int k = 0; k < SETTINGS * TRIES; k++) {
        const int i = k / TRIES;
        set_solver(t->m, settings[i].tight);
        double start = bench_cpu();
        their_derivative(t, settings[i].eps, settings[i].centred);
        t->best[i] = fmin(t->best[i], bench_cpu() - start);
    }
}
#endif

/* ------------------------------------------------------------------------------------------- the table */

static int compare(robot* r)
{
    double* scratch = calloc(3 * (size_t)mor_robot_dof(r->model) + 1, sizeof *scratch);
    ours o = our_start(r, scratch);
    mor_error error = { 0 };
    mor_world_on_user(o.w, held, &o);
    int rows = 2 * o.n, columns = rows + o.joints;
    size_t numbers = (size_t)rows * (size_t)columns;
    double* coarse = calloc(numbers, sizeof *coarse);
    truth known = { rows, columns, calloc(LENGTHS * numbers, sizeof(double)) };
    for (int k = 0; k < LENGTHS; k++) {
        double* fine = known.matrices + (size_t)k * numbers;
        our_differences(&o, pow(10.0, -5 - k), coarse);
        our_differences(&o, 0.5 * pow(10.0, -5 - k), fine);
        extrapolate(numbers, coarse, fine);
    }
    our_differences(&o, 1e-6, coarse);
    double exact = INFINITY, first = INFINITY, differences = INFINITY, step = INFINITY;
    mor_derivative told = { 0 };
    double off = 0.0, off_differences = column_error(&known, coarse);
#ifdef HAVE_MUJOCO
    theirs t = { 0 };
    bool other = their_start(r, &t);
    if (other) their_errors(&t);
#endif
    for (int i = 0; i < ROUNDS; i++) {
        bench_fine(mor_world_restore(o.w, o.start, o.size, &error), &error);
        mor_derivative* d = NULL;
        double start;
        for (int k = 0; k < TRIES; k++) {
            mor_derivative_destroy(d);
            start = bench_cpu();
            bench_fine(mor_world_derivative(o.w, o.inputs, o.joints, &d, &error), &error);
            start = bench_cpu() - start;
            if (k == 0) first = fmin(first, start);
            exact = fmin(exact, start);
        }
        off = column_error(&known, d->matrix);
        told = *d;
        mor_derivative_destroy(d);
        start = bench_cpu();
        for (int k = 0; k < 50; k++) bench_fine(mor_world_step(o.w, NULL, &error), &error);
        step = fmin(step, (bench_cpu() - start) / 50);
        start = bench_cpu();
        if (i % 5 == 0) our_differences(&o, 1e-6, coarse);
        if (i % 5 == 0) differences = fmin(differences, bench_cpu() - start);
#ifdef HAVE_MUJOCO
        if (other) their_round(&t);
#endif
    }
    printf("%s: %d states, %d torques; of our contacts %d stick, %d slide, %d are open%s\n\n", r->label, rows, o.joints,
           told.sticking, told.sliding, told.open, told.differentiable ? "" : "; NOT DIFFERENTIABLE");
    puts("| derivative | CPU time [us] | of ours | error |\n|---|---|---|---|");
    printf("| moreau, exact (%.1f plain steps) | %.0f | 1 | %.1e |\n", exact / step, 1e6 * exact, off);
    printf("| the same, the first call after the other engine | %.0f | %.1f | %.1e |\n", 1e6 * first, first / exact,
           off);
    printf("| moreau, central differences of steps, 1e-6 | %.0f | %.1f | %.1e |\n", 1e6 * differences,
           differences / exact, off_differences);
#ifdef HAVE_MUJOCO
    for (int k = 0; other && k < SETTINGS; k++)
        printf("| MuJoCo %s, mjd_transitionFD, %s | %.0f | %.1f | %.1e |\n", mj_versionString(), settings[k].name,
               1e6 * t.best[k], t.best[k] / exact, t.error[k]);
    double* all[] = { t.A, t.B, t.all };
    for (int i = 0; i < 3; i++) free(all[i]);
    if (other) mj_deleteData(t.d), mj_deleteModel(t.m);
#else
    puts("(MuJoCo is not installed: not compared with)");
#endif
    free(known.matrices);
    free(coarse);
    our_end(&o);
    free(scratch);
    return 0;
}

int bench_engines(const char* urdf)
{
    const double box[4] = { -0.05, 0.12, -0.04, 0.04 };
    mor_robot_model* m = bench_read_model(urdf, NULL, 0);
    if (!m) return 1;
    robot r = bench_make("humanoid on eight points", m, "l_sole", "r_sole", box);
    int status = compare(&r);
    mor_robot_destroy(m);
    return status;
}
