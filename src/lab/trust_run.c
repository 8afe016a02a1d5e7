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
    return sizeof(mor_trust_record) + mor_trust_at(bodies, MOR_TRUST_SAMPLES + 1) * sizeof(double);
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
    double last[3 * MOR_TRUST_POINTS * MOR_TRUST_BODIES];
    mor_vec3 arm[MOR_TRUST_BODIES][MOR_TRUST_POINTS]; /* of the points, from the centre of mass, body axes */
} session;

double mor_trust_size(const mor_world* world, mor_body_id body)
{
    double size = 0.0;
    for (int i = 0; i < mor_body_shape_count(world, body); i++) {
        mor_body_shape shape = mor_body_get_shape(world, body, i);
        mor_aabb box = mor_geometry_bounds(shape.geometry, &shape.pose);
        double edges[3] = { box.upper.x - box.lower.x, box.upper.y - box.lower.y, box.upper.z - box.lower.z };
        for (int k = 0; k < 3; k++)
            if (edges[k] < 1e12 && edges[k] > size) size = edges[k];
    }
    return size;
}

/* Bodies whose turns nobody sees: balls, discs of the plane, and points. */
static bool is_ball(const mor_world* w, mor_body_id body)
{
    if (mor_body_shape_count(w, body) != 1) return false;
    mor_shape_kind kind = mor_body_get_shape(w, body, 0).geometry->kind;
    return kind == MOR_SPHERE || kind == MOR_DISC || kind == MOR_PARTICLE;
}

/* A body that is round about an axis, and that axis in body axes. */
static bool is_round(const mor_world* w, mor_body_id body, mor_vec3* axis)
{
    if (mor_body_shape_count(w, body) != 1 || mor_world_dimension(w) != 3) return false;
    mor_body_shape s = mor_body_get_shape(w, body, 0);
    mor_shape_kind kind = s.geometry->kind;
    *axis = mor_rotate(s.pose.rotation, mor_v3(0, 0, 1));
    return kind == MOR_CYLINDER || kind == MOR_CAPSULE || kind == MOR_CONE;
}

static void choose_points(session* s)
{
    for (int i = 0; i < s->count; i++) {
        double reach = is_ball(s->world, s->bodies[i]) ? 0.0 : 0.5 * mor_trust_size(s->world, s->bodies[i]);
        mor_vec3 axis, *arm = s->arm[i];
        bool round = is_round(s->world, s->bodies[i], &axis);
        arm[0] = mor_v3(0, 0, 0);
        arm[1] = round ? mor_scale(reach, axis) : mor_v3(reach, 0, 0);
        arm[2] = round ? mor_scale(-reach, axis) : mor_v3(0, 0, reach);
    }
}

/* The samples up to now, on the straight line from the step before. */
static void keep_positions(session* s)
{
    double now = mor_world_time(s->world), slack = 1e-9 * s->end;
    double here[3 * MOR_TRUST_POINTS * MOR_TRUST_BODIES];
    int numbers = 3 * MOR_TRUST_POINTS * s->count;
    for (int i = 0; i < s->count; i++) {
        mor_body_state b = mor_body_get_state(s->world, s->bodies[i]);
        for (int k = 0; k < MOR_TRUST_POINTS; k++) {
            mor_vec3 c = mor_add(b.com, mor_rotate(b.pose.rotation, s->arm[i][k]));
            memcpy(here + 3 * (MOR_TRUST_POINTS * i + k), (double[3]){ c.x, c.y, c.z }, 3 * sizeof *here);
        }
    }
    for (; s->sample <= MOR_TRUST_SAMPLES; s->sample++) {
        double time = s->end * s->sample / (double)MOR_TRUST_SAMPLES;
        if (time > now + slack && !mor_world_reached(s->world, s->end)) break;
        double t = now > s->before ? mor_min((time - s->before) / (now - s->before), 1.0) : 1.0;
        double* out = s->record->positions + mor_trust_at(s->count, s->sample);
        for (int i = 0; i < numbers; i++) out[i] = s->last[i] + t * (here[i] - s->last[i]);
        if (t == 1.0) memcpy(out, here, (size_t)numbers * sizeof *out);
    }
    memcpy(s->last, here, (size_t)numbers * sizeof *here);
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
    mor_vec3 g = mor_world_gravity(w), axis;
    *direction = mor_norm(g) > 0.0 ? mor_scale(-1.0 / mor_norm(g), g) : mor_v3(0, 0, 0);
    if (is_round(w, body, &axis)) *direction = mor_rotate(begin, axis);
    return !is_ball(w, body);
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
    choose_points(s);
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
        size_t n = mor_trust_at(s.count, MOR_TRUST_SAMPLES + 1);
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
