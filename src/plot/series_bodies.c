/* Curves of bodies.
 *
 * Position is that of the body frame, velocity that of the centre of mass; acceleration is the backward difference of
 * velocity, a_i = (v_i - v_{i-1}) / (t_i - t_{i-1}), as time-stepping defines it; forces are impulses of the step
 * divided by its length. Orientation is the quaternion, in the plane the angle 2 atan2(q_z, q_w), unwound; without a
 * body the angle 2 atan2(|q_xyz|, |q_w|) by which each body is turned. Without a body, position shows the height and
 * velocity and acceleration the length of the vector, for every moving body up to MOST_BODIES. */
#include "plot/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* data: frames x stride; takes component `k` or the length of the first three. */
static void pick(const double* data, int stride, int k, int frames, double* out)
{
    for (int i = 0; i < frames; i++) {
        const double* v = data + (size_t)i * (size_t)stride;
        out[i] = k == NORM ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : v[k];
    }
}

/* frames x 6 velocities into backward differences, from the end so that it can be done in place. */
static void differentiate(double* v, const double* time, int frames)
{
    for (int i = frames - 1; i >= 0; i--)
        for (int c = 0; c < 6; c++) {
            double dt = i > 0 ? time[i] - time[i - 1] : 0.0;
            v[6 * i + c] = dt > 0.0 ? (v[6 * i + c] - v[6 * (i - 1) + c]) / dt : NAN;
        }
}

static mor_code load_body(mor_plot_source* s, int quantity, int body, double* data, int* stride, mor_error* error)
{
    mor_code code;
    *stride = quantity == POSITION || quantity == ORIENTATION ? 7 : quantity == FORCES ? 3 : 6;
    if (*stride == 7) return mor_recording_body(s->recording, body, data, NULL, error);
    if (quantity != FORCES) {
        code = mor_recording_body(s->recording, body, NULL, data, error);
        if (!code && quantity == ACCELERATION) differentiate(data, s->time, s->frames);
        return code;
    }
    code = mor_recording_body_impulse(s->recording, body, data, error);
    if (!code) code = mor_recording_series(s->recording, "/step_size", s->value, error);
    for (int i = 0; !code && i < 3 * s->frames; i++) data[i] /= s->value[i / 3];
    return code;
}

/* The angle of planar motion, unwound; else by how much a body is turned. */
static void angles(const double* pose, bool planar, int frames, double* out)
{
    for (int i = 0; i < frames; i++) {
        const double* q = pose + 7 * (size_t)i + 3;
        out[i] =
            planar ? 2.0 * atan2(q[3], q[0]) : 2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0]));
        if (planar && i > 0) out[i] -= 6.283185307179586 * floor((out[i] - out[i - 1]) / 6.283185307179586 + 0.5);
    }
}

static mor_code add_orientation(mor_plot_source* s, const request* q, const double* pose, mor_error* error)
{
    mor_code code = MOR_OK;
    if (s->dimension == 2 && q->component < 0) {
        snprintf(s->panel->unit, sizeof s->panel->unit, "rad");
        angles(pose, true, s->frames, s->value);
        return mor_plot_add_curve(s, "", 0, error);
    }
    for (int k = 0; !code && k < 4; k++) {
        if (q->component >= 0 && q->component != k) continue;
        for (int i = 0; i < s->frames; i++) s->value[i] = pose[7 * (size_t)i + 3 + (size_t)k];
        code = mor_plot_add_curve(s, q->component >= 0 ? "" : mor_quaternion_components[k], q->component >= 0 ? 0 : k,
                                  error);
    }
    return code;
}

mor_code mor_plot_add_body(mor_plot_source* s, const request* q, double* data, mor_error* error)
{
    int body = mor_recording_find_body(s->recording, q->body), stride;
    if (body < 0) return mor_unknown_body(s->recording, q->body, error);
    mor_code code = load_body(s, q->quantity, body, data, &stride, error);
    if (!code && q->quantity == ORIENTATION) return add_orientation(s, q, data, error);
    int first = q->component >= 0 ? q->component : 0;
    int last = q->component >= 0 ? q->component : s->dimension - 1;
    for (int k = first; !code && k <= last; k++) {
        pick(data, stride, k, s->frames, s->value);
        code = mor_plot_add_curve(s, q->component >= 0 ? "" : mor_components[k], k - first, error);
    }
    return code;
}

mor_code mor_plot_add_all_bodies(mor_plot_source* s, const request* q, double* data, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(s->recording);
    int shown = 0, moving = 0, stride;
    mor_code code = MOR_OK;
    for (int b = 0; !code && b < info->bodies; b++) {
        if (mor_recording_body_kind(s->recording, b) == MOR_FIXED) continue;
        if (++moving > MOST_BODIES) continue;
        code = load_body(s, q->quantity, b, data, &stride, error);
        if (code) break;
        if (q->quantity == ORIENTATION) angles(data, s->dimension == 2, s->frames, s->value);
        else pick(data, stride, q->quantity == POSITION ? s->dimension - 1 : NORM, s->frames, s->value);
        code = mor_plot_add_curve(s, mor_recording_body_name(s->recording, b), shown++, error);
    }
    if (q->quantity == ORIENTATION) snprintf(s->panel->unit, sizeof s->panel->unit, "rad");
    const char* what = q->quantity == ORIENTATION ? "angle"
                       : q->quantity == POSITION  ? (s->dimension == 2 ? "height y" : "height z")
                                                  : "length of the vector";
    if (moving > shown)
        snprintf(s->panel->note, sizeof s->panel->note, "%s; %d of %d bodies, choose with %s:BODY", what, shown, moving,
                 mor_quantities()[q->quantity].name);
    else snprintf(s->panel->note, sizeof s->panel->note, "%s", what);
    return code;
}
