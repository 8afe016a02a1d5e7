/* Where a run begins: the state of the measured bodies at its first row.
 *
 * As given: pose and velocities of the first row (velocities of the columns in `initial`, else the scene's). With
 * `fit: flight` the state is fitted to all samples before the first contact, by Gauss and Newton's method. The motion
 * of the trial state is simulated; its derivatives are those of a body that turns steadily,
 *
 *     d theta(t) = E d theta + t J d omega,    d x(t) = d x_c + t d v - d theta(t) x R(t) c
 *     E = exp([omega t]),   J = integral of exp([s omega t]) over s = 0 ... 1
 *
 * (x_c the centre of mass, c its place in the body frame). Three passes: the derivatives are exact for bodies with
 * three equal moments of inertia, and good for others over a flight. Rotations count with the radius of gyration.
 *
 * A planar body that lies on the plane is in flight here too, and friction with the plane stops it, at time s of the
 * trial. Later its velocities act no longer: t is min(t, s) in the derivatives. It is fitted twice, at rest (the mean
 * of its poses) and moving (from the slope of its first samples), and begins at rest unless the motion explains the
 * samples better than noise does, by an F-test. Velocities fitted to the noise of a body at rest would make its first
 * pose twice as uncertain: the end of a straight line, not a mean. */
#include "base/elementary.h"
#include "io/scene/scene_def.h"
#include "lab/calibrate.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3, BRAKED_PASSES = 10, LEAST_SAMPLES = 4, UNKNOWNS = 12 };
#define STOPPED 1e-3 /* of the first speed; below, velocities act no longer */
#define CHANCE 5.0   /* F: three velocities fitted to noise explain more in less than 1 of 100 runs */

mor_vec3 mor_cal_numbers(const mor_calibration* c, const mor_cal_quantity* q, int row, bool* complete)
{
    double v[4] = { 0 };
    *complete = true;
    for (int i = 0; i < q->count && i < 3; i++) {
        v[i] = q->scale * mor_measured_at(&c->data, row, q->columns[i]);
        if (isnan(v[i])) *complete = false;
    }
    if (c->dimension == 2 && q->kind == MOR_CAL_ANGULAR_VELOCITY) return mor_v3(0, 0, v[0]);
    return mor_v3(v[0], v[1], v[2]);
}

mor_cal_pose mor_cal_measured(const mor_calibration* c, const char* body, int row)
{
    mor_cal_pose pose = { .q = { 1, 0, 0, 0 } };
    for (int i = 0; i < c->measured_count; i++) {
        const mor_cal_quantity* q = &c->measured[i];
        if (strcmp(q->body, body) != 0) continue;
        bool complete;
        mor_vec3 v = mor_cal_numbers(c, q, row, &complete);
        if (q->kind == MOR_CAL_POSITION) pose.x = v, pose.has_x = complete;
        if (q->kind == MOR_CAL_ANGLE) pose.q = mor_quat_exp(mor_v3(0, 0, v.x)), pose.has_q = complete;
        if (q->kind != MOR_CAL_QUATERNION) continue;
        double w[4];
        for (int k = 0; k < 4; k++) w[k] = mor_measured_at(&c->data, row, q->columns[k]);
        double size = w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
        pose.has_q = size > 0.25 && size < 4.0; /* false for NaN too */
        if (pose.has_q) pose.q = mor_quat_normalize((mor_quat){ w[0], w[1], w[2], w[3] });
    }
    return pose;
}

mor_vec3 mor_cal_turn(mor_quat a, mor_quat b)
{
    mor_quat d = mor_quat_mul(b, mor_quat_conj(a));
    if (d.w < 0.0) d = (mor_quat){ -d.w, -d.x, -d.y, -d.z };
    mor_vec3 v = mor_v3(d.x, d.y, d.z);
    double s = mor_norm(v);
    return s > 1e-12 ? mor_scale(2.0 * mor_atan2(s, d.w) / s, v) : mor_scale(2.0, v);
}

double mor_cal_time(const mor_calibration* c, const mor_cal_run* run, int sample)
{
    return mor_measured_at(&c->data, run->first + sample, c->time_column) -
           mor_measured_at(&c->data, run->first, c->time_column);
}

/* The state of a body as the first row has it. */
static mor_body_state given(const mor_calibration* c, const mor_world* w, mor_body_id id, const char* body, int row)
{
    mor_body_state s = mor_body_get_state(w, id);
    mor_cal_pose pose = mor_cal_measured(c, body, row);
    if (pose.has_x) s.pose.position = pose.x;
    if (pose.has_q) s.pose.rotation = pose.q;
    mor_vec3 v = { 0 };
    bool velocity = false;
    for (int i = 0; i < c->initial_count; i++) {
        const mor_cal_quantity* q = &c->initial[i];
        if (strcmp(q->body, body) != 0) continue;
        bool complete;
        mor_vec3 x = mor_cal_numbers(c, q, row, &complete);
        if (!complete) continue;
        if (q->body_frame) x = mor_rotate(s.pose.rotation, x);
        if (q->kind == MOR_CAL_VELOCITY) v = x, velocity = true;
        if (q->kind == MOR_CAL_ANGULAR_VELOCITY) s.angular_velocity = x;
    }
    if (velocity) {
        mor_vec3 arm = mor_rotate(s.pose.rotation, mor_body_mass(w, id).com);
        s.velocity = mor_add(v, mor_cross(s.angular_velocity, arm));
    }
    return s;
}

/* E and J of the turn phi = omega t, row by row. */
static void turn_derivatives(mor_vec3 phi, double E[9], double J[9])
{
    double a = mor_norm(phi);
    mor_vec3 n = a > 0.0 ? mor_scale(1.0 / a, phi) : mor_v3(0, 0, 1);
    double s = a > 1e-6 ? mor_sin(a) / a : 1.0, v = a > 1e-6 ? (1.0 - mor_cos(a)) / a : 0.5 * a;
    const double m[3] = { n.x, n.y, n.z }, cross[9] = { 0, -n.z, n.y, n.z, 0, -n.x, -n.y, n.x, 0 };
    for (int i = 0; i < 9; i++) {
        double one = i % 4 == 0, along = m[i / 3] * m[i % 3];
        E[i] = mor_cos(a) * one + (1.0 - mor_cos(a)) * along + mor_sin(a) * cross[i];
        J[i] = s * one + (1.0 - s) * along + v * cross[i];
    }
}

/* Adds the rows of one sample to the normal equations. Unknowns: centre of mass, turn, velocity, angular velocity.
 * Returns the square of what is missed. */
static double add_sample(double t, mor_vec3 phi, mor_vec3 arm, const mor_cal_pose* seen, const mor_body_state* now,
                         double weight, double A[UNKNOWNS * UNKNOWNS], double b[UNKNOWNS])
{
    double J[6][UNKNOWNS] = { { 0 } }, r[6] = { 0 }, E[9], D[9];
    const double cross[9] = { 0, arm.z, -arm.y, -arm.z, 0, arm.x, arm.y, -arm.x, 0 }; /* -theta x arm = cross theta */
    turn_derivatives(phi, E, D);
    if (seen->has_x) {
        mor_vec3 d = mor_sub(seen->x, now->pose.position);
        r[0] = d.x, r[1] = d.y, r[2] = d.z;
        for (int i = 0; i < 3; i++) {
            J[i][i] = 1.0, J[i][6 + i] = t;
            for (int k = 0; k < 9; k++) {
                J[i][3 + k % 3] += cross[3 * i + k / 3] * E[k];
                J[i][9 + k % 3] += t * cross[3 * i + k / 3] * D[k];
            }
        }
    }
    if (seen->has_q) {
        mor_vec3 d = mor_cal_turn(now->pose.rotation, seen->q);
        r[3] = weight * d.x, r[4] = weight * d.y, r[5] = weight * d.z;
        for (int k = 0; k < 9; k++)
            J[3 + k / 3][3 + k % 3] = weight * E[k], J[3 + k / 3][9 + k % 3] = weight * t * D[k];
    }
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < UNKNOWNS; i++) {
            b[i] += J[n][i] * r[n];
            for (int k = 0; k < UNKNOWNS; k++) A[UNKNOWNS * i + k] += J[n][i] * J[n][k];
        }
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] + r[4] * r[4] + r[5] * r[5];
}

/* How velocities act in the derivatives of a pass. */
typedef enum law { FREE, BRAKED, AT_REST } law;

/* The fit of one body in one run. */
typedef struct flight {
    const mor_calibration* c;
    const mor_scene* scene;
    const mor_cal_run* run;
    const char* body;
    mor_body_state state; /* the trial */
    double squares;       /* what that of the last pass missed of the samples: sum of squares [m^2] */
    int numbers;          /* that were measured */
    bool stopped;         /* it came to rest */
    mor_error* error;
} flight;

/* How fast a body is, turning included [m/s]. */
static double speed_of(const mor_body_state* s, double gyration)
{
    return mor_norm(s->velocity) + gyration * mor_norm(s->angular_velocity);
}

static void take_correction(flight* f, const double b[UNKNOWNS], mor_vec3 com_local)
{
    mor_body_state* state = &f->state;
    mor_vec3 turn = mor_v3(b[3], b[4], b[5]), arm = mor_rotate(state->pose.rotation, com_local);
    mor_vec3 com = mor_add(mor_add(state->pose.position, arm), mor_v3(b[0], b[1], b[2]));
    state->pose.rotation = mor_quat_normalize(mor_quat_mul(mor_quat_exp(turn), state->pose.rotation));
    state->pose.position = mor_sub(com, mor_rotate(state->pose.rotation, com_local));
    state->velocity = mor_add(state->velocity, mor_v3(b[6], b[7], b[8]));
    state->angular_velocity = mor_add(state->angular_velocity, mor_v3(b[9], b[10], b[11]));
}

/* One pass over the first samples: what the trial misses, and, if `correct`, a correction of it. */
static mor_code pass(flight* f, law law, int samples, bool correct)
{
    mor_world* w = mor_scene_build(f->scene, 1, f->error);
    if (!w) return f->error->code;
    mor_body_id id = mor_world_find_body(w, f->body);
    mor_mass mass = mor_body_mass(w, id);
    bool flat = f->c->dimension == 2;
    double inertia = (mass.inertia.m[0][0] + mass.inertia.m[1][1] + mass.inertia.m[2][2]) / (flat ? 1.0 : 3.0);
    double weight = sqrt(mor_max(inertia, 0.0) / mass.mass);
    double A[UNKNOWNS * UNKNOWNS] = { 0 }, b[UNKNOWNS] = { 0 }, moved = 0.0;
    double slow = STOPPED * speed_of(&f->state, weight);
    mor_body_set_state(w, id, &f->state);
    f->squares = 0.0, f->numbers = 0;
    mor_code code = MOR_OK;
    for (int k = 0; k < samples && !code; k++) {
        double t = mor_cal_time(f->c, f->run, k);
        while (!code && mor_world_time(w) + 0.5 * mor_world_get_step(w) < t) {
            code = mor_world_step(w, NULL, f->error);
            mor_body_state s = mor_body_get_state(w, id);
            if (speed_of(&s, weight) > slow) moved = mor_world_time(w);
        }
        f->stopped = moved < mor_world_time(w);
        mor_body_state now = mor_body_get_state(w, id);
        double rest = t - mor_world_time(w); /* the step need not divide the samples */
        now.pose.position =
            mor_madd(now.pose.position, rest,
                     mor_sub(now.velocity, mor_cross(now.angular_velocity, mor_rotate(now.pose.rotation, mass.com))));
        now.pose.rotation = mor_quat_mul(mor_quat_exp(mor_scale(rest, now.angular_velocity)), now.pose.rotation);
        mor_cal_pose seen = mor_cal_measured(f->c, f->body, f->run->first + k);
        double acts = law == AT_REST ? 0.0 : law == BRAKED && f->stopped ? moved : t;
        f->squares += add_sample(acts, mor_scale(t, f->state.angular_velocity), mor_rotate(now.pose.rotation, mass.com),
                                 &seen, &now, weight, A, b);
        f->numbers += seen.has_x * (flat ? 2 : 3) + seen.has_q * (flat ? 1 : 3);
    }
    mor_world_destroy(w);
    for (int i = 0; i < UNKNOWNS; i++) A[(UNKNOWNS + 1) * i] += 1e-12; /* what is not measured stays */
    if (code || !correct || !mor_cholesky_factor(UNKNOWNS, A)) return code;
    mor_cholesky_solve(UNKNOWNS, A, b);
    take_correction(f, b, mass.com);
    return MOR_OK;
}

/* A body that friction with the plane stops: at rest, or moving from the state that misses least. */
static mor_code fit_braked(flight* f)
{
    int samples = f->run->flight;
    mor_body_state given_state = f->state, best;
    f->state.velocity = f->state.angular_velocity = mor_v3(0, 0, 0);
    mor_code code = pass(f, AT_REST, samples, true);
    if (!code) code = pass(f, AT_REST, samples, false);
    mor_body_state at_rest = f->state;
    double still = f->squares, least = INFINITY;
    f->state = best = given_state;
    for (int k = 0; k < 2 && !code; k++) code = pass(f, FREE, LEAST_SAMPLES, true);
    for (int k = 0; k < BRAKED_PASSES && !code; k++) {
        mor_body_state trial = f->state;
        code = pass(f, BRAKED, samples, true);
        if (f->squares < least) least = f->squares, best = trial;
    }
    int velocities = f->c->dimension == 2 ? 3 : 6, left = f->numbers - 2 * velocities;
    bool moves = left > 0 && (still - least) * left > CHANCE * velocities * least;
    f->state = moves ? best : at_rest;
    return code;
}

/* The state at the first row, from that which it gives. */
static mor_code fit_flight(flight* f)
{
    mor_code code = MOR_OK;
    for (int k = 0; k < PASSES && !code; k++) {
        code = pass(f, FREE, f->run->flight, true);
        if (!code && k > 0 && f->stopped) return fit_braked(f);
    }
    return code;
}

mor_code mor_cal_set_initial(const mor_calibration* c, const mor_scene* scene, mor_world* w, int run, mor_error* error)
{
    const mor_cal_run* r = &c->runs[run];
    for (int i = 0; i < c->measured_count; i++) {
        const char* body = c->measured[i].body;
        bool first = true;
        for (int k = 0; k < i; k++) first = first && strcmp(c->measured[k].body, body) != 0;
        if (!first) continue;
        mor_body_id id = mor_world_find_body(w, body);
        mor_body_state s = given(c, w, id, body, r->first);
        if (c->fit_initial && r->flight >= LEAST_SAMPLES) {
            flight f = { .c = c, .scene = scene, .run = r, .body = body, .state = s, .error = error };
            mor_code code = fit_flight(&f);
            if (code) return code;
            s = f.state;
        }
        mor_body_set_state(w, id, &s);
    }
    return MOR_OK;
}
