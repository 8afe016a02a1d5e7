/* An MJCF model in a world, beside its robots: fixed shapes, filters, materials, equalities, actuators, sensors.
 *
 * Friction of a pair is that of the surface with the higher priority, else the larger one; condim 1 has none. */
#include "base/elementary.h"
#include "control/control.h"
#include "control/general.h"
#include "io/mjcf/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct adder {
    const mor_mjcf* m;
    mor_world* world;
    const char* name;
    const int* robots;
    mor_pose offset;
    mor_error* error;
    int* materials;      /* of surfaces */
    mor_body_id* bodies; /* of MJCF bodies: the link's, or the fixed one's; null: no shapes there */
} adder;

/* -------------------------------------------------------------------------------- surfaces */

static mor_code add_surfaces(adder* a)
{
    const mor_mjcf* m = a->m;
    for (int i = 0; i < m->surfaces_count; i++) {
        mor_material material = mor_material_default();
        snprintf(material.name, sizeof material.name, "%.40s/%d", a->name, i);
        material.friction = m->surfaces[i].condim == 1 ? 0.0 : m->surfaces[i].friction;
        if ((a->materials[i] = mor_world_add_material(a->world, &material)) < 0)
            return mor_fail(a->error, MOR_SYSTEM, "out of memory");
        for (int k = 0; k <= i; k++) {
            const mor_mjcf_surface *x = &m->surfaces[i], *y = &m->surfaces[k];
            if (y->priority > x->priority) x = y;
            else if (x->priority > y->priority) y = x;
            int condim = x->condim > y->condim ? x->condim : y->condim;
            double friction = condim == 1 ? 0.0
                              : m->sdf    ? mor_min(x->friction, y->friction)
                                          : mor_max(x->friction, y->friction);
            mor_code code = mor_world_set_pair(a->world, a->materials[i], a->materials[k], friction, 0.0, a->error);
            if (code) return code;
        }
    }
    for (int i = 0; i < m->pairs_count; i++) {
        const mor_mjcf_pair* p = &m->pairs[i];
        const mor_mjcf_geom *x = &m->geoms[p->geom[0]], *y = &m->geoms[p->geom[1]];
        if (!x->geometry || !y->geometry || isnan(p->friction)) continue;
        mor_code code = mor_world_set_pair(a->world, a->materials[x->surface], a->materials[y->surface],
                                           p->condim == 1 ? 0.0 : p->friction, 0.0, a->error);
        if (code) return code;
    }
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------- shapes */

/* Shapes of bodies that do not move become one fixed body each. */
static mor_code add_fixed(adder* a, int body)
{
    const mor_mjcf* m = a->m;
    mor_body_shape* shapes = mor_arena_alloc(m->arena, ((size_t)m->geoms_count + 1) * sizeof *shapes);
    if (!shapes) return mor_fail(a->error, MOR_SYSTEM, "out of memory");
    mor_body_def def = mor_body_def_default();
    def.kind = MOR_FIXED;
    for (int i = 0; i < m->geoms_count; i++) {
        const mor_mjcf_geom* g = &m->geoms[i];
        if (g->body != body || !g->geometry) continue;
        shapes[def.shape_count++] = (mor_body_shape){ g->geometry, g->pose, a->materials[g->surface] };
    }
    if (def.shape_count == 0) return MOR_OK;
    def.shapes = shapes;
    snprintf(def.name, sizeof def.name, "%.30s/%.32s", a->name, m->bodies[body].name ? m->bodies[body].name : "static");
    if (mor_world_find_body(a->world, def.name).index1)
        snprintf(def.name, sizeof def.name, "%.30s/body_%d", a->name, body);
    def.pose = mor_pose_mul(&a->offset, &m->bodies[body].in_link);
    a->bodies[body] = mor_world_add_body(a->world, &def, a->error);
    if (!a->bodies[body].index1) return a->error->code;
    for (int i = 0, k = 0; i < m->geoms_count; i++) {
        const mor_mjcf_geom* g = &m->geoms[i];
        if (g->body != body || !g->geometry) continue;
        mor_code code =
            mor_world_filter_shape(a->world, a->bodies[body], k++, g->type_bits, g->affinity_bits, a->error);
        if (code) return code;
    }
    return MOR_OK;
}

static mor_code add_shapes(adder* a)
{
    const mor_mjcf* m = a->m;
    mor_code code = MOR_OK;
    for (int i = 0; i < m->bodies_count && !code; i++) {
        const mor_mjcf_body* b = &m->bodies[i];
        if (b->tree < 0) code = add_fixed(a, i);
        else a->bodies[i] = mor_world_robot_link(a->world, a->robots[b->tree], b->link);
    }
    for (int i = 0; i < m->geoms_count && !code; i++) {
        const mor_mjcf_geom* g = &m->geoms[i];
        if (!g->geometry || m->bodies[g->body].tree < 0) continue;
        mor_body_id body = a->bodies[g->body];
        if (g->place >= mor_body_shape_count(a->world, body)) continue; /* it touches nothing (collide: none) */
        code = mor_world_filter_shape(a->world, body, g->place, g->type_bits, g->affinity_bits, a->error);
        if (!code) code = mor_world_set_shape_material(a->world, body, g->place, a->materials[g->surface], a->error);
    }
    return code;
}

static mor_code ignore(adder* a, int one, int other)
{
    if (!a->bodies[one].index1 || !a->bodies[other].index1 || a->bodies[one].index1 == a->bodies[other].index1)
        return MOR_OK;
    return mor_world_ignore_pair(a->world, a->bodies[one], a->bodies[other])
               ? mor_fail(a->error, MOR_SYSTEM, "out of memory")
               : MOR_OK;
}

/* Bodies that move together with `body`: the same moving body above them. */
static mor_code ignore_groups(adder* a, int one, int other)
{
    const mor_mjcf* m = a->m;
    mor_code code = MOR_OK;
    for (int i = 1; i < m->bodies_count && !code; i++)
        for (int k = 1; k < m->bodies_count && !code; k++)
            if (m->bodies[i].tree >= 0 && m->bodies[k].tree >= 0 && m->bodies[i].moving == one &&
                m->bodies[k].moving == other)
                code = ignore(a, i, k);
    return code;
}

static mor_code add_rules(adder* a)
{
    const mor_mjcf* m = a->m;
    mor_code code = MOR_OK;
    for (int i = 1; i < m->bodies_count && !code && !m->no_filter_parent; i++) {
        int parent = m->bodies[m->bodies[i].parent].moving;
        if (m->bodies[i].moving == i && parent > 0) code = ignore_groups(a, i, parent);
    }
    for (int i = 0; i < m->excludes_count && !code; i++) {
        const int* b = m->excludes[i].body;
        for (int k = 0; k < m->bodies_count && !code; k++) { /* the world as a body: all that does not move */
            if (b[0] == 0 && m->bodies[k].tree < 0) code = ignore(a, k, b[1]);
            if (b[1] == 0 && m->bodies[k].tree < 0) code = ignore(a, b[0], k);
        }
        if (!code && b[0] && b[1]) code = ignore(a, b[0], b[1]);
    }
    return code;
}

/* ------------------------------------------------------------------------------- equalities */

static mor_code add_equality(adder* a, const mor_mjcf_equality* q, int number)
{
    const mor_mjcf* m = a->m;
    mor_joint_def d = mor_joint_def_default();
    d.kind = q->type ? MOR_JOINT_FIXED : MOR_JOINT_SPHERICAL;
    d.framed = q->type == 1;
    if (q->name) snprintf(d.name, sizeof d.name, "%.30s/%.32s", a->name, q->name);
    else snprintf(d.name, sizeof d.name, "%.30s/equality_%d", a->name, number);
    bool moves = false;
    for (int i = 0; i < 2; i++) {
        const mor_mjcf_body* b = &m->bodies[q->object[i]];
        mor_pose frame = mor_pose_mul(&b->in_link, &q->frame[i]), base = a->offset;
        if (b->tree >= 0) {
            d.body[i] = mor_world_robot_link(a->world, a->robots[b->tree], b->link);
            base = mor_body_get_state(a->world, d.body[i]).pose;
            moves = true;
        }
        frame = mor_pose_mul(&base, &frame);
        d.point[i] = frame.position;
        d.rotation[i] = frame.rotation;
    }
    if (!moves) return MOR_OK;
    mor_error inner = { 0 };
    if (mor_world_add_joint(a->world, &d, &inner) >= 0) return MOR_OK;
    return mor_fail_at(a->error, inner.code, q->at->file, q->at->line, q->at->column, "%s", inner.text);
}

/* A spatial tendon between two sites whose length is limited: a rope, or a stop. */
static mor_code add_rope(adder* a, const mor_mjcf_tendon* t, int number)
{
    const mor_mjcf* m = a->m;
    mor_joint_def d = mor_joint_def_default();
    bool moves = false;
    d.kind = MOR_JOINT_DISTANCE;
    d.length = t->range[1];
    d.lower = t->range[0] > 0.0 ? t->range[0] - t->range[1] : -INFINITY;
    d.upper = 0.0;
    if (t->name) snprintf(d.name, sizeof d.name, "%.30s/%.32s", a->name, t->name);
    else snprintf(d.name, sizeof d.name, "%.30s/tendon_%d", a->name, number);
    for (int i = 0; i < 2; i++) {
        const mor_mjcf_site* s = &m->sites[m->terms[t->first + i].site];
        const mor_mjcf_body* b = &m->bodies[s->body];
        mor_pose frame = mor_pose_mul(&b->in_link, &s->pose), base = a->offset;
        if (b->tree >= 0) {
            d.body[i] = mor_world_robot_link(a->world, a->robots[b->tree], b->link);
            base = mor_body_get_state(a->world, d.body[i]).pose;
            moves = true;
        }
        d.point[i] = mor_pose_point(&base, frame.position);
    }
    if (!moves || (d.body[0].index1 == d.body[1].index1)) return MOR_OK;
    mor_error inner = { 0 };
    if (mor_world_add_joint(a->world, &d, &inner) >= 0) return MOR_OK;
    return mor_fail_at(a->error, inner.code, t->at->file, t->at->line, t->at->column, "%s", inner.text);
}

/* ------------------------------------------------------------------------------- actuators */

static void terms_of(const mor_mjcf* m, const mor_mjcf_term* terms, int count, double gear, int* joint, double* coef,
                     mor_general_actuator* out)
{
    for (int i = 0; i < count; i++) {
        joint[i] = m->joints[terms[i].joint].number;
        coef[i] = gear * terms[i].coef;
    }
    out->terms = count;
    out->joint = joint;
    out->coef = coef;
}

static bool make_actuator(const mor_mjcf* m, const mor_mjcf_actuator* x, mor_general_actuator* out)
{
    const mor_mjcf_joint* j = x->joint >= 0 ? &m->joints[x->joint] : NULL;
    bool ball = j && j->type == MOR_MJCF_BALL;
    int count = ball ? 3 : j ? 1 : m->tendons[x->tendon].count;
    mor_mjcf_term own[3] = { { x->joint, 1.0, -1 } };
    int* joint = mor_arena_zero(m->arena, (size_t)count + 1, sizeof *joint);
    double* coef = mor_arena_zero(m->arena, (size_t)count + 1, sizeof *coef);
    if (!joint || !coef) return false;
    *out = (mor_general_actuator){ .dynamics = x->dyntype > 2 ? MOR_ACT_FILTER : x->dyntype,
                                   .time_constant = x->time_constant,
                                   .lower = -INFINITY,
                                   .upper = INFINITY,
                                   .least = -INFINITY,
                                   .most = INFINITY,
                                   .control = x->control };
    terms_of(m, j ? own : &m->terms[m->tendons[x->tendon].first], ball ? 1 : count, x->gear[0], joint, coef, out);
    for (int i = 0; ball && i < 3; i++) joint[i] = j->number + i, coef[i] = x->gear[i];
    out->terms = count;
    memcpy(out->gain, x->gain, sizeof out->gain);
    if (x->gaintype == 0) out->gain[1] = out->gain[2] = 0.0;
    if (x->biastype == 1) memcpy(out->bias, x->bias, sizeof out->bias);
    if (x->control_limited == 1) out->control = mor_min(mor_max(x->control, x->control_range[0]), x->control_range[1]);
    if (x->force_limited == 1) out->lower = x->force_range[0], out->upper = x->force_range[1];
    if (x->act_limited == 1) out->least = x->act_range[0], out->most = x->act_range[1];
    return true;
}

/* A tendon's own spring and damper. */
static bool make_spring(const mor_mjcf* m, const mor_mjcf_tendon* t, mor_general_actuator* out)
{
    int* joint = mor_arena_zero(m->arena, (size_t)t->count + 1, sizeof *joint);
    double *coef = mor_arena_zero(m->arena, (size_t)t->count + 1, sizeof *coef), rest = 0.0;
    if (!joint || !coef) return false;
    for (int i = 0; i < t->count; i++)
        rest += m->terms[t->first + i].coef * m->joints[m->terms[t->first + i].joint].ref;
    *out = (mor_general_actuator){ .lower = -INFINITY, .upper = INFINITY, .slackened = true };
    out->bias[1] = -t->stiffness, out->bias[2] = -t->damping;
    out->slack[0] = isnan(t->spring[0]) ? rest : t->spring[0];
    out->slack[1] = isnan(t->spring[1]) ? rest : t->spring[1];
    terms_of(m, &m->terms[t->first], t->count, 1.0, joint, coef, out);
    return true;
}

static mor_code add_actuators(adder* a, int tree)
{
    const mor_mjcf* m = a->m;
    int n = mor_robot_joint_count(m->trees[tree].model);
    mor_general o = { 0 };
    mor_general_actuator* list =
        mor_arena_zero(m->arena, (size_t)(m->actuators_count + m->tendons_count) + 1, sizeof *list);
    mor_general_lift* lifts = mor_arena_zero(m->arena, (size_t)m->bodies_count + 1, sizeof *lifts);
    double* limits = mor_arena_alloc(m->arena, (2 * (size_t)n + 1) * sizeof *limits);
    if (!list || !lifts || !limits) return mor_fail(a->error, MOR_SYSTEM, "out of memory");
    for (int j = 0; j < n; j++) limits[2 * j] = -INFINITY, limits[2 * j + 1] = INFINITY;
    for (int i = 0; i < m->actuators_count && !m->no_actuation; i++) {
        const mor_mjcf_actuator* x = &m->actuators[i];
        const mor_mjcf_tendon* t = x->tendon >= 0 && !m->tendons[x->tendon].spatial ? &m->tendons[x->tendon] : NULL;
        int joint = x->joint >= 0 ? x->joint : t && t->count ? m->terms[t->first].joint : -1;
        if (joint < 0 || m->joints[joint].tree != tree) continue;
        if (!make_actuator(m, x, &list[o.count++])) return mor_fail(a->error, MOR_SYSTEM, "out of memory");
    }
    for (int i = 0; i < m->tendons_count && !m->no_passive; i++) {
        const mor_mjcf_tendon* t = &m->tendons[i];
        if (t->spatial || !t->count || m->joints[m->terms[t->first].joint].tree != tree) continue;
        if (t->stiffness == 0.0 && t->damping == 0.0) continue;
        if (!make_spring(m, t, &list[o.count++])) return mor_fail(a->error, MOR_SYSTEM, "out of memory");
    }
    for (int i = 0; i < m->joints_count; i++) {
        const mor_mjcf_joint* j = &m->joints[i];
        bool limited = j->force_limited == 1 || (j->force_limited == 0 && j->has_force_range && m->autolimits);
        if (j->tree != tree || j->type > MOR_MJCF_SLIDE || !limited) continue;
        limits[2 * j->number] = j->force_range[0], limits[2 * j->number + 1] = j->force_range[1];
        o.force_limit = limits;
    }
    for (int i = 1; i < m->bodies_count; i++) {
        const mor_mjcf_body* b = &m->bodies[i];
        if (b->tree != tree || b->gravcomp == 0.0 || !(b->mass.mass > 0.0) || m->trees[tree].floating) continue;
        lifts[o.lift_count++] =
            (mor_general_lift){ b->link, mor_pose_point(&b->in_link, b->mass.com), b->gravcomp * b->mass.mass };
    }
    if (o.count + o.lift_count == 0) return MOR_OK;
    o.actuators = list;
    o.lifts = lifts;
    mor_controller_def d = mor_controller_def_default();
    snprintf(d.name, sizeof d.name, "%.50s/actuators", a->name);
    d.type = &mor_controller_general;
    d.robot = a->robots[tree];
    d.options = &o;
    return mor_world_add_controller(a->world, &d, a->error) < 0 ? a->error->code : MOR_OK;
}

static mor_code add_sensor(adder* a, const mor_mjcf_sensor* s)
{
    mor_sensor_def d = mor_sensor_def_default();
    if (s->name) snprintf(d.name, sizeof d.name, "%.90s", s->name);
    d.kind = s->kind;
    d.robot = a->robots[s->tree];
    d.frame = s->frame;
    d.joint = s->joint;
    d.noise = s->noise;
    return mor_world_add_sensor(a->world, &d, a->error) < 0 ? a->error->code : MOR_OK;
}

mor_code mor_mjcf_add(const mor_mjcf* m, mor_world* world, const char* name, const int* robots, const mor_pose* offset,
                      mor_error* error)
{
    mor_error local = { 0 };
    adder a = { .m = m, .world = world, .name = name, .robots = robots, .offset = *offset };
    a.error = error ? error : &local;
    a.materials = mor_arena_zero(m->arena, (size_t)m->surfaces_count + 1, sizeof *a.materials);
    a.bodies = mor_arena_zero(m->arena, (size_t)m->bodies_count + 1, sizeof *a.bodies);
    if (!a.materials || !a.bodies) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = add_surfaces(&a);
    if (!code) code = add_shapes(&a);
    if (!code) code = add_rules(&a);
    for (int i = 0; i < m->equalities_count && !code && !m->no_equality; i++)
        if (m->equalities[i].type < 2) code = add_equality(&a, &m->equalities[i], i);
    for (int i = 0; i < m->tendons_count && !code && !m->no_limit; i++)
        if (m->tendons[i].spatial && m->tendons[i].limited) code = add_rope(&a, &m->tendons[i], i);
    for (int i = 0; i < m->trees_count && !code; i++) code = add_actuators(&a, i);
    for (int i = 0; i < m->sensors_count && !code; i++) code = add_sensor(&a, &m->sensors[i]);
    return code;
}
