/* Inverse dynamics along an observed motion: the world is put to every sample, and the step to the next one inverted.
 *
 * With velocities (recordings) a sample is a state, and two of them are a step. Without, the velocity of a step is the
 * difference of its poses over its time, which is what a semi-implicit step does with it; the state in between follows
 * from step to step (mor_inverse_dynamics.end). Second differences of noise are forces: noise of size s in a position
 * sampled every h becomes an acceleration of about 2.4 s/h^2. */
#include "lab/inverse.h"
#include "base/failed.h"

#include "base/elementary.h"
#include "model/world.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct follower {
    const mor_inversion_request* request;
    const mor_observed* motion;
    mor_world *w, *forward;
    double *q[2], *nu[2]; /* of two samples */
    double* velocity;     /* bodies x 6 */
    int n, Q;
    bool states;
    mor_inverse_dynamics* d;
} follower;

void mor_inversion_label(const mor_world* w, int number, char* text, size_t size)
{
    static const char* const space[6] = { "force x", "force y", "force z", "torque x", "torque y", "torque z" };
    static const char* const plane[3] = { "force x", "force y", "torque" };
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        mor_span s = mor_body_span(w, id);
        if (number < s.nu || number >= s.nu + s.nu_count) continue;
        int k = number - s.nu;
        snprintf(text, size, "%s %s", mor_body_name(w, id), s.nu_count == 6 ? space[k % 6] : plane[k % 3]);
        return;
    }
    snprintf(text, size, "number %d", number);
}

/* Difference of two samples over the time between them: nu of the step. */
static void difference(const follower* f, double h, double* nu)
{
    for (int i = 0; i < mor_world_body_count(f->w); i++) {
        mor_body_id id = mor_world_body(f->w, i);
        if (mor_body_get_kind(f->w, id) != MOR_DYNAMIC) continue;
        mor_span s = mor_body_span(f->w, id);
        const double *a = f->q[0] + s.q, *b = f->q[1] + s.q;
        for (int k = 0; k < s.nu_count && k < 3; k++) nu[s.nu + k] = (b[k] - a[k]) / h;
        if (s.nu_count == 3) { /* an angle that was read from a quaternion */
            double turn = b[2] - a[2], whole = 6.283185307179586;
            nu[s.nu + 2] = (turn - whole * floor(turn / whole + 0.5)) / h;
        }
        if (s.nu_count != 6) continue;
        mor_quat d =
            mor_quat_mul((mor_quat){ b[3], b[4], b[5], b[6] }, mor_quat_conj((mor_quat){ a[3], a[4], a[5], a[6] }));
        mor_vec3 axis = mor_scale(d.w < 0.0 ? -1.0 : 1.0, mor_v3(d.x, d.y, d.z));
        double sine = mor_norm(axis), factor = sine > 0.0 ? 2.0 * mor_atan2(sine, fabs(d.w)) / sine : 2.0;
        nu[s.nu + 3] = factor * axis.x / h, nu[s.nu + 4] = factor * axis.y / h, nu[s.nu + 5] = factor * axis.z / h;
    }
}

/* Puts a world to sample k; `nu`: velocities of its state, NULL: those of the sample. */
static mor_code put(const follower* f, mor_world* w, int k, const double* nu, mor_error* error)
{
    const mor_observed* m = f->motion;
    size_t n = (size_t)m->bodies, at = (size_t)k * n;
    double h = k + 1 < m->frames ? m->time[k + 1] - m->time[k] : m->time[k] - m->time[k - 1];
    mor_world_set_step(w, h);
    mor_world_set_time(w, k, m->time[k]);
    mor_code code = mor_world_set_poses(w, m->pose + 7 * at, 7 * m->bodies, error);
    memcpy(f->velocity, m->velocity + 6 * at, 6 * n * sizeof(double));
    for (size_t i = 0; i < n && k + 1 < m->frames; i++) /* kinematic bodies go where the next sample has them */
        if (mor_body_get_kind(w, mor_world_body(w, (int)i)) == MOR_KINEMATIC)
            for (size_t d = 0; d < 3; d++)
                f->velocity[6 * i + d] = (m->pose[7 * (at + n + i) + d] - m->pose[7 * (at + i) + d]) / h;
    if (!code) code = mor_world_set_velocities(w, f->velocity, 6 * m->bodies, error);
    return code || !nu ? code : mor_world_set_nu(w, nu, f->n, error);
}

static mor_code read_sample(const follower* f, int k, int i, mor_error* error)
{
    mor_code code = put(f, f->w, k, NULL, error);
    if (!code) code = mor_world_get_q(f->w, f->q[i], f->Q, error);
    return code ? code : mor_world_get_nu(f->w, f->nu[i], f->n, error);
}

/* The forward step with the forces that were found. */
static mor_code check(const follower* f, int k, const double* nu, mor_inversion* out, mor_error* error)
{
    mor_error inner = { 0 };
    mor_code code = put(f, f->forward, k, nu, error);
    if (code) return code;
    mor_world_apply_forces(f->forward, f->d->force);
    code = mor_world_step(f->forward, NULL, &inner);
    if (code == MOR_STOPPED) return out->unsolved++, MOR_OK;
    if (!code) code = mor_world_get_nu(f->forward, f->nu[1], f->n, &inner);
    if (code) return mor_fail(error, code, "%s", inner.text);
    for (int i = 0; i < f->n; i++) out->forward = mor_max(out->forward, fabs(f->nu[1][i] - f->d->end[i]));
    return MOR_OK;
}

static void note(mor_inversion* out, int step, double time, double h, const mor_inverse_dynamics* d)
{
    size_t n = (size_t)out->count, s = (size_t)step;
    out->time[s] = time, out->h[s] = h;
    memcpy(out->force + s * n, d->force, n * sizeof(double));
    memcpy(out->change + s * n, d->change, n * sizeof(double));
    out->contacts[s] = d->contact_count;
    for (int i = 0; i < d->contact_count; i++) out->normal[s] += d->contacts[i].normal_impulse;
    out->shared += !d->unique, out->bounces += d->bounces;
    out->left = mor_max(out->left, d->left);
    for (size_t i = 0; i < n; i++) {
        out->rms_change += d->change[i] * d->change[i];
        if (fabs(d->change[i]) <= out->largest_change) continue;
        out->largest_change = fabs(d->change[i]);
        out->largest_step = step, out->largest_number = (int)i;
    }
}

static mor_code follow(follower* f, mor_inversion* out, mor_error* error)
{
    const mor_observed* m = f->motion;
    int first = f->states ? 0 : 1;
    mor_code code = MOR_OK;
    double* state = calloc((size_t)f->n + 1, sizeof *state);
    if (!state) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!f->states) { /* the velocity with which the first step begins is that of the one before it */
        code = read_sample(f, 0, 0, error);
        if (!code) code = read_sample(f, 1, 1, error);
        if (!code) difference(f, m->time[1] - m->time[0], state);
    }
    for (int k = first; k + 1 < m->frames && !code; k++) {
        double h = m->time[k + 1] - m->time[k];
        if (f->request->stop && f->request->stop(f->request->user)) {
            out->stopped = true;
            break;
        }
        code = read_sample(f, k + 1, 1, error);
        if (!code) code = read_sample(f, k, 0, error);
        if (code) break;
        if (!f->states) difference(f, h, f->nu[1]);
        const double* nu = f->states ? NULL : state;
        code = put(f, f->w, k, nu, error);
        if (!code)
            code = mor_world_inverse(f->w, f->states ? f->q[1] : NULL, f->nu[1], &f->request->options, &f->d, error);
        if (!code) note(out, out->steps++, m->time[k], h, f->d);
        if (!code && f->forward) code = check(f, k, nu, out, error);
        if (!code) memcpy(state, f->d->end, (size_t)f->n * sizeof *state);
    }
    free(state);
    return code;
}

static mor_world* build(const mor_inversion_request* r, const char* formulation, const char* solver,
                        const double* regularisation, mor_scene** scene, mor_error* error)
{
    enum { MOST = 512 };
    const char* sets[MOST + 4] = { 0 };
    char text[3][96];
    int n = 0;
    for (; r->set && r->set[n] && n < MOST; n++) sets[n] = r->set[n];
    if (formulation) {
        if (regularisation)
            snprintf(text[0], sizeof text[0], "method.formulation={ name: %s, regularisation: %.17g }", formulation,
                     *regularisation);
        else snprintf(text[0], sizeof text[0], "method.formulation=%s", formulation);
        snprintf(text[1], sizeof text[1], "method.solver={ name: %s, tol: 1e-14 }", solver);
        sets[n++] = text[0], sets[n++] = text[1];
    }
    *scene = mor_scene_load(r->scene, sets, r->library, error);
    return *scene ? mor_scene_build(*scene, 1, error) : NULL;
}

static mor_code make_room(follower* f, mor_inversion* out, mor_error* error)
{
    size_t steps = (size_t)f->motion->frames, n = (size_t)f->n;
    out->count = f->n;
    out->time = calloc(steps, sizeof(double));
    out->h = calloc(steps, sizeof(double));
    out->normal = calloc(steps, sizeof(double));
    out->contacts = calloc(steps, sizeof(int));
    out->force = calloc(steps * n + 1, sizeof(double));
    out->change = calloc(steps * n + 1, sizeof(double));
    f->velocity = calloc(6 * (size_t)f->motion->bodies + 1, sizeof(double));
    bool ok = out->time && out->h && out->normal && out->contacts && out->force && out->change && f->velocity;
    for (int i = 0; i < 2; i++) {
        f->q[i] = calloc((size_t)f->Q + 1, sizeof(double));
        f->nu[i] = calloc(n + 1, sizeof(double));
        ok = ok && f->q[i] && f->nu[i];
    }
    return ok ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

mor_code mor_inversion_make(mor_inversion* out, const mor_inversion_request* r, const mor_observed* motion,
                            mor_error* error)
{
    *out = (mor_inversion){ .forward = NAN };
    mor_scene *scene = NULL, *other = NULL;
    follower f = { .request = r, .motion = motion, .states = motion->velocities && !r->poses };
    bool convex = r->options.law == MOR_INVERSE_CONVEX;
    double soft = r->options.regularisation > 0.0 ? r->options.regularisation : 1e-6;
    mor_inversion_request chosen = *r;
    f.w = build(r, NULL, NULL, NULL, &scene, error);
    mor_code code = f.w ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
    if (!code && mor_world_robot_count(f.w) > 0)
        code = mor_fail(
            error, MOR_BAD_INPUT,
            "robots: a motion of bodies does not say how joints move; use mor_world_inverse (docs/inverse.md)");
    if (!code && mor_world_body_count(f.w) != motion->bodies)
        code = mor_fail(error, MOR_BAD_INPUT, "the motion is of another scene");
    if (!code && r->check) {
        if (!(r->options.regularisation > 0.0) && strcmp(f.w->formulation->name, "convex") == 0)
            soft = mor_max(*(const double*)f.w->formulation_options, 1e-12); /* as mor_world_inverse takes it */
        chosen.options.regularisation = soft;
        f.request = &chosen;
        f.forward = build(r, convex ? "convex" : "ncp", convex ? "convex-newton" : "auto", convex ? &soft : NULL,
                          &other, error);
        if (!f.forward) code = mor_failed(error, MOR_BAD_INPUT);
        out->forward = 0.0;
    }
    if (!code) {
        f.n = mor_world_nu_count(f.w), f.Q = mor_world_q_count(f.w);
        code = make_room(&f, out, error);
    }
    if (!code) code = follow(&f, out, error);
    if (out->steps > 0 && out->count > 0) out->rms_change = sqrt(out->rms_change / ((double)out->steps * out->count));
    for (int i = 0; i < 2; i++) free(f.q[i]), free(f.nu[i]);
    free(f.velocity);
    mor_inverse_dynamics_destroy(f.d);
    mor_world_destroy(f.w), mor_world_destroy(f.forward);
    mor_scene_destroy(scene), mor_scene_destroy(other);
    if (code) mor_inversion_free(out);
    return code;
}

void mor_inversion_free(mor_inversion* x)
{
    free(x->time), free(x->h), free(x->force), free(x->change), free(x->normal), free(x->contacts);
    *x = (mor_inversion){ 0 };
}
