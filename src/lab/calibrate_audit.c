/* Audit of measured motion: what the data say of their own scale, gravity, velocities and centre of mass.
 *
 * Before the first contact a body flies. With x_k the measured point, R_k the measured rotation at t_k after the first
 * sample of run r, c the centre of mass in the body and g what the data's lengths make of gravity,
 *
 *     x_k + R_k c = a_r + b_r t_k + g t_k^2/2
 *
 * which is linear in c, g and the a_r, b_r of every run: least squares over all runs, a_r and b_r eliminated run by
 * run. Errors by leaving out one tenth of the runs at a time. A g that is not the scene's means another unit or length
 * scale (or clock). Columns of velocities are held against backward, forward and central differences of the poses, with
 * a common factor, in axes of the world and of the body: units, conventions and frames that do not fit show there. At
 * the end of a run the body is put where it was measured, and the gap to what it lies on is taken.
 *
 * The moment of inertia of a body with three equal ones does not show in flight: fit it (docs/calibrate.md). */
#include "base/elementary.h"
#include "base/failed.h"
#include "io/scene/scene_def.h"
#include "lab/calibrate_work.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = 6, LEAST_SAMPLES = 5, GROUPS = 10 };

/* Normal equations of a run, after elimination of its own unknowns; and of all runs. */
typedef struct normal {
    double A[UNKNOWNS * UNKNOWNS], b[UNKNOWNS], square;
    int samples;
} normal;

static void find(mor_cal_audit* a, const char* format, ...) MOR_PRINTF(2, 3);
static void find(mor_cal_audit* a, const char* format, ...)
{
    if (a->finding_count == MOR_CAL_FINDINGS) return;
    va_list args;
    va_start(args, format);
    vsnprintf(a->findings[a->finding_count++], sizeof a->findings[0], format, args);
    va_end(args);
}

/* Samples of a run that surely fly: the simulation that found the first contact began with measured velocities. */
static int flying(const mor_cal_run* run) { return run->flight - (run->flight / 5 > 2 ? run->flight / 5 : 2); }

static double component(mor_vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

/* ------------------------------------------------------------------------------- flights */

/* Takes the part a + b t out of a column of n numbers. */
static void take_out_line(const double* t, int n, double* y)
{
    double tm = 0.0, ym = 0.0, tt = 0.0, ty = 0.0;
    for (int k = 0; k < n; k++) tm += t[k] / n, ym += y[k] / n;
    for (int k = 0; k < n; k++) tt += (t[k] - tm) * (t[k] - tm), ty += (t[k] - tm) * (y[k] - ym);
    for (int k = 0; k < n; k++) y[k] -= ym + (tt > 0.0 ? ty / tt : 0.0) * (t[k] - tm);
}

/* One run: columns -R c and t^2/2 for each axis, right-hand side x. False: out of memory. */
static bool add_flight(const mor_calibration* c, const mor_cal_run* run, const char* body, normal* to)
{
    int n = 0, most = flying(run);
    *to = (normal){ 0 };
    if (most < LEAST_SAMPLES) return true;
    double* room = malloc(((size_t)most + 1) * (1 + UNKNOWNS) * sizeof *room);
    double *t = room, *columns = room + most;
    if (!room) return false;
    for (int axis = 0; axis < 3; axis++) {
        n = 0;
        for (int k = 0; k < most; k++) {
            mor_cal_pose p = mor_cal_measured(c, body, run->first + k);
            if (!p.has_x) continue;
            mor_mat3 R = mor_quat_matrix(p.q);
            t[n] = mor_cal_time(c, run, k);
            for (int i = 0; i < 3; i++) columns[i * most + n] = p.has_q ? -R.m[axis][i] : 0.0;
            columns[3 * most + n] = 0.5 * t[n] * t[n];
            columns[4 * most + n] = component(p.x, axis);
            n++;
        }
        if (n < LEAST_SAMPLES) break;
        for (int i = 0; i < 5; i++) take_out_line(t, n, columns + i * most);
        const int index[4] = { 0, 1, 2, 3 + axis };
        for (int k = 0; k < n; k++) {
            double x = columns[4 * most + k];
            to->square += x * x;
            for (int i = 0; i < 4; i++) {
                to->b[index[i]] += columns[i * most + k] * x;
                for (int j = 0; j < 4; j++)
                    to->A[UNKNOWNS * index[i] + index[j]] += columns[i * most + k] * columns[j * most + k];
            }
        }
        to->samples += n - 2;
    }
    free(room);
    if (n < LEAST_SAMPLES) *to = (normal){ 0 };
    return true;
}

/* c and g of all runs but those of a group (-1: all); the rms of what is left. */
static double solve(const normal* all, int runs, int without, double x[UNKNOWNS])
{
    double A[UNKNOWNS * UNKNOWNS] = { 0 }, square = 0.0;
    int samples = 0;
    memset(x, 0, UNKNOWNS * sizeof *x);
    double right[UNKNOWNS] = { 0 };
    for (int r = 0; r < runs; r++) {
        if (r % GROUPS == without) continue;
        for (int i = 0; i < UNKNOWNS * UNKNOWNS; i++) A[i] += all[r].A[i];
        for (int i = 0; i < UNKNOWNS; i++) right[i] += all[r].b[i];
        square += all[r].square, samples += all[r].samples;
    }
    double trace = 0.0;
    for (int i = 0; i < UNKNOWNS; i++) trace += A[(UNKNOWNS + 1) * i] / UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) A[(UNKNOWNS + 1) * i] += 1e-12 * trace + 1e-300; /* what does not turn stays 0 */
    memcpy(x, right, sizeof right);
    if (!mor_cholesky_factor(UNKNOWNS, A)) return NAN;
    mor_cholesky_solve(UNKNOWNS, A, x);
    for (int i = 0; i < UNKNOWNS; i++) square -= x[i] * right[i];
    return samples > UNKNOWNS ? sqrt(mor_max(square, 0.0) / (samples - UNKNOWNS)) : NAN;
}

static mor_code look_at_flights(const mor_calibration* c, mor_cal_audit* a, mor_error* error)
{
    normal* all = calloc((size_t)c->run_count + 1, sizeof *all);
    if (!all) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int r = 0; r < c->run_count; r++) {
        normal one;
        if (!add_flight(c, &c->runs[r], a->body, &one)) {
            free(all);
            return mor_fail(error, MOR_SYSTEM, "out of memory");
        }
        if (one.samples) all[a->runs++] = one, a->samples += one.samples / 3 + 2;
    }
    double x[UNKNOWNS], y[UNKNOWNS], spread[UNKNOWNS] = { 0 };
    a->noise = a->runs ? solve(all, a->runs, -1, x) : NAN;
    int groups = a->runs < GROUPS ? a->runs : GROUPS;
    for (int g = 0; g < groups && groups > 1; g++) {
        solve(all, a->runs, g, y);
        for (int i = 0; i < UNKNOWNS; i++) spread[i] += (y[i] - x[i]) * (y[i] - x[i]) * (groups - 1) / groups;
    }
    for (int i = 0; i < 3; i++) {
        a->com[i] = a->runs ? x[i] : NAN, a->gravity[i] = a->runs ? x[3 + i] : NAN;
        a->com_error[i] = groups > 1 ? sqrt(spread[i]) : NAN,
        a->gravity_error[i] = groups > 1 ? sqrt(spread[3 + i]) : NAN;
    }
    free(all);
    return MOR_OK;
}

/* ------------------------------------------------------------------------------- velocities */

/* Columns of velocity against differences of positions, over the flights. */
static void look_at_velocity(const mor_calibration* c, const mor_cal_quantity* q, mor_cal_audit* a)
{
    double sums[3] = { 0 }, product = 0.0, size = 0.0, given = 0.0;
    int count = 0;
    for (int r = 0; r < c->run_count; r++)
        for (int k = 1; k + 1 < flying(&c->runs[r]); k++) {
            int row = c->runs[r].first + k;
            bool complete;
            mor_vec3 v = mor_cal_numbers(c, q, row, &complete), d[3];
            mor_cal_pose p[3];
            double t[3];
            for (int i = 0; i < 3; i++)
                p[i] = mor_cal_measured(c, a->body, row - 1 + i), t[i] = mor_cal_time(c, &c->runs[r], k - 1 + i);
            if (!complete || !p[0].has_x || !p[1].has_x || !p[2].has_x) continue;
            if (q->body_frame) v = mor_rotate(p[1].q, v);
            d[0] = mor_scale(1.0 / (t[1] - t[0]), mor_sub(p[1].x, p[0].x));
            d[1] = mor_scale(1.0 / (t[2] - t[1]), mor_sub(p[2].x, p[1].x));
            d[2] = mor_scale(1.0 / (t[2] - t[0]), mor_sub(p[2].x, p[0].x));
            for (int i = 0; i < 3; i++) sums[i] += mor_dot(mor_sub(v, d[i]), mor_sub(v, d[i]));
            product += mor_dot(v, d[2]), size += mor_dot(d[2], d[2]), given += mor_dot(v, v), count++;
        }
    if (count < LEAST_SAMPLES) return;
    for (int i = 0; i < 3; i++) a->velocity[i] = sqrt(sums[i] / count);
    a->velocity_scale = size > 0.0 ? product / size : NAN;
    double fit = sqrt(mor_max(given - product * product / mor_max(size, 1e-300), 0.0) / mor_max(given, 1e-300));
    if (fit > 0.5)
        find(a,
             "the velocity columns do not follow the positions (%.0f %% is left): other columns, order, sign or frame",
             100.0 * fit);
    else if (fabs(a->velocity_scale - 1.0) > 0.05)
        find(a, "velocities are %.4g times the differences of positions: give a `scale` of %.4g", a->velocity_scale,
             1.0 / a->velocity_scale);
    else if (a->velocity[0] < 0.5 * a->velocity[2] && a->velocity[0] < 0.5 * a->velocity[1])
        find(a, "velocities are backward differences, half a sample late: begin with `initial: { fit: flight }`");
    else if (a->velocity[1] < 0.5 * a->velocity[2] && a->velocity[1] < 0.5 * a->velocity[0])
        find(a, "velocities are forward differences, half a sample early: begin with `initial: { fit: flight }`");
}

static void look_at_spin(const mor_calibration* c, const mor_cal_quantity* q, mor_cal_audit* a)
{
    double sums[2] = { 0 }, product[2] = { 0 }, size = 0.0, given = 0.0;
    int count = 0;
    for (int r = 0; r < c->run_count; r++)
        for (int k = 1; k + 1 < flying(&c->runs[r]); k++) {
            int row = c->runs[r].first + k;
            bool complete;
            mor_vec3 w = mor_cal_numbers(c, q, row, &complete);
            mor_cal_pose before = mor_cal_measured(c, a->body, row - 1), now = mor_cal_measured(c, a->body, row),
                         after = mor_cal_measured(c, a->body, row + 1);
            double span = mor_cal_time(c, &c->runs[r], k + 1) - mor_cal_time(c, &c->runs[r], k - 1);
            if (!complete || !before.has_q || !now.has_q || !after.has_q) continue;
            mor_vec3 d = mor_scale(1.0 / span, mor_cal_turn(before.q, after.q)), as[2] = { w, mor_rotate(now.q, w) };
            for (int i = 0; i < 2; i++) {
                sums[i] += mor_dot(mor_sub(as[i], d), mor_sub(as[i], d));
                product[i] += mor_dot(as[i], d);
            }
            size += mor_dot(d, d), given += mor_dot(w, w), count++;
        }
    if (count < LEAST_SAMPLES || !(size > 0.0)) return;
    int said = q->body_frame ? 1 : 0;
    double left[2];
    for (int i = 0; i < 2; i++) {
        a->spin[i] = sqrt(sums[i] / count);
        left[i] = sqrt(mor_max(1.0 - product[i] * product[i] / mor_max(size * given, 1e-300), 0.0));
    }
    a->spin_scale = product[left[1] < left[0]] / size;
    if (c->dimension == 3 && left[1 - said] < 0.5 * left[said])
        find(a, "angular velocities are in axes of the %s, the plan says %s: give `frame: %s`", said ? "world" : "body",
             said ? "body" : "world", said ? "world" : "body");
    if (mor_min(left[0], left[1]) > 0.5)
        find(a, "the angular velocity columns do not follow the rotations: other columns, order, sign or frame");
    else if (fabs(a->spin_scale - 1.0) > 0.1)
        find(a, "angular velocities are %.4g times the turns per time: give a `scale` of %.4g%s", a->spin_scale,
             1.0 / a->spin_scale, fabs(a->spin_scale / 57.29578 - 1.0) < 0.1 ? " (they are degrees)" : "");
}

/* ------------------------------------------------------------------------------- rest */

/* The gap of the body to what it touches, put where it was measured last; NaN: it touches nothing. */
static double gap_at_end(const mor_calibration* c, const mor_scene* scene, const mor_cal_run* run, const char* body)
{
    mor_error ignored = { 0 };
    mor_cal_pose p = mor_cal_measured(c, body, run->first + run->count - 1);
    mor_world* w = p.has_x && p.has_q ? mor_scene_build(scene, 1, &ignored) : NULL;
    double gap = INFINITY;
    int n = 0;
    if (w) {
        mor_body_id id = mor_world_find_body(w, body);
        mor_body_state s = { .pose = { p.x, p.q } };
        mor_world_step(w, NULL, &ignored); /* before its first step a world moves bodies apart */
        mor_body_set_state(w, id, &s);
        mor_step* step = mor_step_create(w, &ignored);
        bool found = step && !mor_stage_user(w, step, &ignored) && !mor_stage_collide(w, step, &ignored);
        const mor_contact* contacts = found ? mor_step_contacts(step, &n) : NULL;
        for (int i = 0; i < n; i++) gap = mor_min(gap, contacts[i].gap);
        mor_step_destroy(step);
    }
    mor_world_destroy(w);
    return n ? gap : NAN;
}

static mor_code look_at_rest(const mor_calibration* c, mor_cal_audit* a, mor_error* error)
{
    mor_scene* scene = mor_scene_load(c->scene, NULL, c->library, error);
    double* gaps = malloc(((size_t)c->run_count + 1) * sizeof *gaps);
    int n = 0;
    for (int r = 0; scene && gaps && r < c->run_count; r++) {
        double gap = gap_at_end(c, scene, &c->runs[r], a->body);
        if (isfinite(gap)) gaps[n++] = gap;
    }
    if (n) {
        qsort(gaps, (size_t)n, sizeof *gaps, mor_cal_ascending);
        a->rest_gap = mor_cal_quantile(gaps, n, 0.5);
        if (n >= 3 && fabs(a->rest_gap) > mor_max(10.0 * a->noise, 5e-4))
            find(a, "at the end of the runs the body is %.2g mm %s what it lies on: plane, size or scale is off",
                 1e3 * fabs(a->rest_gap), a->rest_gap < 0.0 ? "inside" : "above");
    }
    free(gaps);
    mor_scene_destroy(scene);
    return scene ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
}

/* ------------------------------------------------------------------------------- verdicts */

static const char* unit_of(double ratio)
{
    static const struct {
        double ratio;
        const char* words;
    } units[] = { { 1000.0, " (millimetres?)" },
                  { 100.0, " (centimetres?)" },
                  { 39.37, " (inches?)" },
                  { 3.2808, " (feet?)" },
                  { 1e-6, " (times in milliseconds?)" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(ratio / units[i].ratio - 1.0) < 0.08) return units[i].words;
    return "";
}

static void judge_flights(const mor_calibration* c, mor_cal_audit* a)
{
    mor_vec3 g = mor_v3(a->gravity[0], a->gravity[1], a->gravity[2]);
    mor_vec3 own = mor_v3(a->scene_gravity[0], a->scene_gravity[1], a->scene_gravity[2]);
    double size = mor_norm(own),
           error = mor_norm(mor_v3(a->gravity_error[0], a->gravity_error[1], a->gravity_error[2]));
    if (!a->runs) {
        find(a, "no run has %d samples before its first contact: gravity and centre of mass cannot be seen",
             LEAST_SAMPLES);
        return;
    }
    double off = mor_norm(mor_sub(g, own));
    if (size > 0.0 && off > 0.01 * size && !(off < 4.0 * error)) {
        double along = mor_dot(g, own) / (size * size);
        bool turned = mor_norm(mor_sub(g, mor_scale(along, own))) > 0.1 * mor_norm(g);
        if (turned || along < 0.0)
            find(a, "flights fall along (%.3g, %.3g, %.3g), gravity is (%.3g, %.3g, %.3g): axes are swapped or turned",
                 g.x, g.y, g.z, own.x, own.y, own.z);
        else
            find(a, "flights fall with %.4g m/s^2, the scene with %.4g: lengths are %.4g times what the scene means%s",
                 mor_norm(g), size, along, unit_of(along));
    }
    for (int i = 0; i < (c->dimension == 2 ? 2 : 3); i++) {
        double apart = fabs(a->com[i] - a->scene_com[i]);
        if (apart > 4.0 * a->com_error[i] && apart > 5e-4)
            find(a, "the centre of mass along %c is at %.2f mm by the flights (error %.2f), the scene has %.2f",
                 "xyz"[i], 1e3 * a -> com[i], 1e3 * a -> com_error[i], 1e3 * a -> scene_com[i]);
    }
}

static mor_code audit_body(mor_calibration* c, mor_cal_audit* a, mor_error* error)
{
    mor_scene* scene = mor_scene_load(c->scene, NULL, c->library, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
    if (w) {
        mor_vec3 g = mor_world_gravity(w), com = mor_body_mass(w, mor_world_find_body(w, a->body)).com;
        for (int i = 0; i < 3; i++) a->scene_gravity[i] = component(g, i), a->scene_com[i] = component(com, i);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    if (!code) code = look_at_flights(c, a, error);
    if (code) return code;
    judge_flights(c, a);
    for (int i = 0; i < c->initial_count; i++) {
        if (strcmp(c->initial[i].body, a->body) != 0) continue;
        if (c->initial[i].kind == MOR_CAL_VELOCITY) look_at_velocity(c, &c->initial[i], a);
        if (c->initial[i].kind == MOR_CAL_ANGULAR_VELOCITY) look_at_spin(c, &c->initial[i], a);
    }
    return look_at_rest(c, a, error);
}

mor_code mor_calibration_audit(mor_calibration* c, mor_cal_audit* audits, int most, int* count, mor_error* error)
{
    *count = 0;
    mor_code code = mor_cal_find_flights(c, error);
    for (int i = 0; i < c->measured_count && !code; i++) {
        bool known = *count == most;
        for (int k = 0; k < *count; k++) known = known || strcmp(audits[k].body, c->measured[i].body) == 0;
        if (known) continue;
        mor_cal_audit* a = &audits[(*count)++];
        *a = (mor_cal_audit){ .velocity_scale = NAN, .spin_scale = NAN, .rest_gap = NAN };
        snprintf(a->body, sizeof a->body, "%s", c->measured[i].body);
        code = audit_body(c, a, error);
    }
    return code;
}
