/* One run of `moreau trust`, see trust_run.h. Positions are kept at evenly spaced times, interpolated between steps. A
 * touch begins when a pair of bodies pushes and has not done so for a hundredth of the time. */
#include "lab/trust_run.h"

#include "base/elementary.h"
#include "lab/design.h"
#include "model/world.h"
#include "moreau/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-6 /* m/s; the accuracy below which a step counts as solved */

int mor_trust_bodies(const mor_world* w, mor_body_id* bodies)
{
    int n = 0;
    for (int i = 0; i < mor_world_body_count(w) && n < MOR_TRUST_BODIES; i++)
        if (mor_body_get_kind(w, mor_world_body(w, i)) == MOR_DYNAMIC) bodies[n++] = mor_world_body(w, i);
    return n;
}

size_t mor_trust_record_size(int bodies)
{
    return sizeof(mor_trust_record) + (size_t)(MOR_TRUST_SAMPLES + 1) * (size_t)bodies * 3 * sizeof(double);
}

static void scale_friction(mor_world* w, double factor)
{
    for (int i = 0; i < w->material_count; i++) w->materials[i].friction *= factor;
    mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++) rules[i].friction *= factor;
}

/* A random part of every velocity: normal, `change` for lengths; for angles the same number of rad/s. */
static mor_code shake(mor_world* w, double change, uint64_t seed)
{
    int n = mor_world_nu_count(w);
    double* nu = malloc(((size_t)n + 1) * sizeof *nu);
    if (!nu) return MOR_SYSTEM;
    mor_rng rng = { seed };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&rng);
    mor_code code = mor_world_get_nu(w, nu, n, NULL);
    for (int i = 0; i < n && !code; i++) nu[i] += change * mor_normal_quantile(mor_max(mor_rng_uniform(&rng), 1e-12));
    if (!code) code = mor_world_set_nu(w, nu, n, NULL);
    free(nu);
    return code;
}

/* Touches that are under way: when the pair pushed last. */
typedef struct pushing {
    int pair;
    double last;
} pushing;

typedef struct session {
    mor_world* world;
    mor_trust_record* record;
    mor_body_id bodies[MOR_TRUST_BODIES];
    int count, sample;
    pushing* pushing;
    int pushing_count, pushing_capacity;
    double end, pause; /* s: a touch that begins after so long is a new one */
    double before;     /* s: the step before, and where the bodies were */
    double last[3 * MOR_TRUST_BODIES];
} session;

/* The samples up to now, on the straight line from the step before. */
static void keep_positions(session* s)
{
    double now = mor_world_time(s->world), slack = 1e-9 * s->end;
    double here[3 * MOR_TRUST_BODIES];
    for (int i = 0; i < s->count; i++) {
        mor_vec3 c = mor_body_get_state(s->world, s->bodies[i]).com;
        here[3 * i] = c.x, here[3 * i + 1] = c.y, here[3 * i + 2] = c.z;
    }
    for (; s->sample <= MOR_TRUST_SAMPLES; s->sample++) {
        double time = s->end * s->sample / (double)MOR_TRUST_SAMPLES;
        if (time > now + slack && !mor_world_reached(s->world, s->end)) break;
        double t = now > s->before ? mor_min((time - s->before) / (now - s->before), 1.0) : 1.0;
        double* out = s->record->positions + (size_t)s->sample * (size_t)s->count * 3;
        for (int i = 0; i < 3 * s->count; i++) out[i] = s->last[i] + t * (here[i] - s->last[i]);
        if (t == 1.0) memcpy(out, here, (size_t)(3 * s->count) * sizeof *out);
    }
    memcpy(s->last, here, (size_t)(3 * s->count) * sizeof *here);
    s->before = now;
}

static bool keep_touches(session* s)
{
    int n, bodies = mor_world_body_count(s->world);
    const mor_contact* contacts = mor_world_contacts(s->world, &n);
    double now = mor_world_time(s->world);
    for (int i = 0; i < n; i++) {
        const mor_contact* c = &contacts[i];
        if (!(mor_norm(c->impulse) > 0.0)) continue;
        int pair = c->body[0] * bodies + c->body[1], k = 0;
        while (k < s->pushing_count && s->pushing[k].pair != pair) k++;
        if (k == s->pushing_count) {
            if (k == s->pushing_capacity) {
                int capacity = 2 * k + 64;
                pushing* grown = realloc(s->pushing, (size_t)capacity * sizeof *grown);
                if (!grown) return false;
                s->pushing = grown, s->pushing_capacity = capacity;
            }
            s->pushing[s->pushing_count++] = (pushing){ pair, -INFINITY };
        }
        if (now - s->pushing[k].last > s->pause && s->record->touch_count < MOR_TRUST_TOUCHES)
            s->record->touches[s->record->touch_count++] = (mor_trust_touch){ now, pair };
        s->pushing[k].last = now;
    }
    return true;
}

/* Which direction of a body, in world axes at the start, tells that it has turned over: its axis if it is round (a
 * coin, a rolling can), else the one that pointed up; a ball has none. Without gravity every turn counts: zero. */
static bool marked_direction(const mor_world* w, mor_body_id body, mor_quat begin, mor_vec3* direction)
{
    mor_vec3 g = mor_world_gravity(w);
    int balls = 0, n = mor_body_shape_count(w, body);
    *direction = mor_norm(g) > 0.0 ? mor_scale(-1.0 / mor_norm(g), g) : mor_v3(0, 0, 0);
    for (int i = 0; i < n; i++) {
        mor_body_shape s = mor_body_get_shape(w, body, i);
        mor_shape_kind kind = s.geometry->kind;
        balls += kind == MOR_SPHERE || kind == MOR_DISC || kind == MOR_PARTICLE;
        if (n == 1 && mor_world_dimension(w) == 3 && (kind == MOR_CYLINDER || kind == MOR_CAPSULE || kind == MOR_CONE))
            *direction = mor_rotate(begin, mor_rotate(s.pose.rotation, mor_v3(0, 0, 1)));
    }
    return n == 0 || balls < n || n > 1;
}

/* By more than 45 degrees. A turn about the marked direction, as of a coin that spins on its face, is none. */
static bool has_turned(const mor_world* w, mor_body_id body, mor_quat p, mor_quat q)
{
    mor_vec3 mark;
    if (!marked_direction(w, body, p, &mark)) return false;
    double half = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);                /* cosine of half the angle */
    if (mor_norm(mark) == 0.0) return half < 0.92387953251128674;                     /* cos(45 / 2 degrees) */
    return mor_dot(mor_rotate(q, mor_unrotate(p, mark)), mark) < 0.70710678118654752; /* cos(45 degrees) */
}

/* At rest: slower than a hundredth of the largest speed, kept by the caller in `slow`, or than NOTHING, where that
 * speed itself is rounding. */
static void keep_ends(session* s, const mor_quat* begin, double slow)
{
    for (int i = 0; i < s->count; i++) {
        mor_body_state b = mor_body_get_state(s->world, s->bodies[i]);
        s->record->rests[i] = mor_norm(b.velocity) < slow;
        s->record->turned[i] = has_turned(s->world, s->bodies[i], begin[i], b.pose.rotation);
    }
}

static mor_code simulate(session* s, mor_error* error)
{
    mor_quat begin[MOR_TRUST_BODIES];
    double fastest = 0.0;
    for (int i = 0; i < s->count; i++) begin[i] = mor_body_get_state(s->world, s->bodies[i]).pose.rotation;
    mor_run* run = mor_run_create(s->world, 1000, error);
    if (!run) return MOR_SYSTEM;
    keep_positions(s);
    mor_code code = MOR_OK;
    while (!mor_world_reached(s->world, s->end) && !code) {
        mor_world_limit_step(s->world, s->end * s->sample / (double)MOR_TRUST_SAMPLES);
        code = mor_run_step(run, NULL, error);
        if (code || mor_run_stopped(run)) break;
        keep_positions(s);
        if (!keep_touches(s)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int i = 0; i < s->count; i++)
            fastest = mor_max(fastest, mor_norm(mor_body_get_state(s->world, s->bodies[i]).velocity));
    }
    if (!code) {
        keep_ends(s, begin, mor_max(0.01 * fastest, NOTHING));
        s->record->status = (int)mor_run_summarise(run).status;
        s->record->reached = mor_world_time(s->world);
    }
    mor_run_destroy(run);
    return code;
}

void mor_trust_run_one(const mor_trial* trial, const char* const* set, double end, double factor, double change,
                       uint64_t seed, mor_trust_record* r)
{
    mor_error error = { 0 };
    mor_scene* scene = NULL;
    session s = { .record = r, .end = end, .pause = 0.01 * end };
    s.world = mor_trial_world(trial, set, &scene, &error);
    mor_code code = s.world ? MOR_OK : MOR_BAD_INPUT;
    r->status = MOR_TRIAL_REFUSED;
    if (!code) {
        s.count = mor_trust_bodies(s.world, s.bodies);
        size_t n = (size_t)(MOR_TRUST_SAMPLES + 1) * (size_t)s.count * 3;
        for (size_t i = 0; i < n; i++) r->positions[i] = NAN;
        r->step = mor_world_get_step(s.world);
        if (factor != 1.0) scale_friction(s.world, factor);
        if (change > 0.0) code = shake(s.world, change, seed);
    }
    if (!code) code = simulate(&s, &error);
    if (code) r->status = MOR_TRIAL_REFUSED;
    free(s.pushing);
    mor_world_destroy(s.world);
    mor_scene_destroy(scene);
}
