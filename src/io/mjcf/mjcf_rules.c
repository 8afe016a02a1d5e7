/* Equalities, contact rules, keyframes and sensors of an MJCF file, and what can only be told when its trees are known.
 *
 * A connect or weld holds at the reference: the anchor on the second body is where the one on the first is there.
 *
 * Reference: MuJoCo documentation, XML reference (equality, contact, keyframe, sensor). */
#include "io/mjcf/mjcf.h"
#include "moreau/control.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mor_code body_named(mor_mjcf* m, const mor_xml* e, const char* attribute, int fallback, int* out)
{
    const char* name = mor_xml_get(e, attribute);
    *out = name ? mor_mjcf_find_body(m, name) : fallback;
    if (*out >= 0) return MOR_OK;
    return name ? mor_xml_fail(e, m->error, "there is no body '%.60s'", name)
                : mor_xml_fail(e, m->error, "<%.40s> has no %s", e->name, attribute);
}

/* ------------------------------------------------------------------------------- equalities */

/* The two frames that meet, of bodies or of sites. */
static mor_code read_meeting(mor_mjcf* m, const mor_xml* e, mor_mjcf_equality* q)
{
    bool weld = q->type == 1;
    if (mor_xml_get(e, "site1") || mor_xml_get(e, "site2")) {
        for (int i = 0; i < 2; i++) {
            const char* name = mor_xml_get(e, i ? "site2" : "site1");
            int site = mor_mjcf_find_site(m, name);
            if (site < 0) return mor_xml_fail(e, m->error, "there is no site '%.60s'", name ? name : "");
            q->object[i] = m->sites[site].body;
            q->frame[i] = m->sites[site].pose;
        }
        return MOR_OK;
    }
    mor_code code = body_named(m, e, "body1", -1, &q->object[0]);
    if (!code) code = body_named(m, e, "body2", 0, &q->object[1]);
    double v[7];
    int n = 0;
    if (code) return code;
    mor_pose first = mor_mjcf_reference_pose(m, q->object[0]), second = mor_mjcf_reference_pose(m, q->object[1]);
    mor_pose back = mor_pose_inverse(&first);
    mor_pose relative = mor_pose_mul(&back, &second);
    q->frame[0] = q->frame[1] = mor_pose_identity();
    if (weld) {
        q->frame[0] = relative;
        if ((code = mor_xml_numbers(e, "relpose", 7, 7, v, &n, m->error))) return code;
        bool turned = n && (v[3] != 0 || v[4] != 0 || v[5] != 0 || v[6] != 0);
        if (turned)
            q->frame[0] = (mor_pose){ { v[0], v[1], v[2] }, mor_quat_normalize((mor_quat){ v[3], v[4], v[5], v[6] }) };
        return MOR_OK;
    }
    if ((code = mor_xml_numbers(e, "anchor", 3, 3, v, &n, m->error))) return code;
    if (!n) return mor_xml_fail(e, m->error, "<connect> has no anchor");
    q->frame[0].position = mor_v3(v[0], v[1], v[2]);
    mor_vec3 world = mor_pose_point(&first, q->frame[0].position);
    q->frame[1].position = mor_pose_unpoint(&second, world);
    return MOR_OK;
}

static mor_code read_coupling(mor_mjcf* m, const mor_xml* e, mor_mjcf_equality* q)
{
    for (int i = 0; i < 2; i++) {
        const char* name = mor_xml_get(e, i ? "joint2" : "joint1");
        q->object[i] = mor_mjcf_find_joint(m, name);
        if (q->object[i] < 0 && (name || i == 0))
            return mor_xml_fail(e, m->error, "there is no joint '%.60s'", name ? name : "");
        if (q->object[i] >= 0 && m->joints[q->object[i]].type > MOR_MJCF_SLIDE)
            return mor_xml_fail(e, m->error, "joints of an equality are hinges or slides");
    }
    q->polynomial[1] = 1.0;
    mor_code code = mor_xml_numbers(e, "polycoef", 1, 5, q->polynomial, NULL, m->error);
    if (!code && (q->polynomial[2] != 0 || q->polynomial[3] != 0 || q->polynomial[4] != 0))
        return mor_xml_fail(e, m->error, "polycoef beyond the linear term is not supported");
    if (!code && q->object[0] == q->object[1]) return mor_xml_fail(e, m->error, "a joint is coupled to itself");
    return code;
}

mor_code mor_mjcf_read_equalities(mor_mjcf* m, const mor_xml* list)
{
    static const char* const kinds = "connect|weld|joint";
    for (const mor_xml* e = list->first; e; e = e->next) {
        int type = strcmp(e->name, "connect") == 0 ? 0 : strcmp(e->name, "weld") == 0 ? 1 : 2;
        if (type == 2 && strcmp(e->name, "joint") != 0)
            return mor_xml_fail(e, m->error, "equalities of kind %.40s are not supported; known: %s", e->name, kinds);
        mor_code code = mor_mjcf_check(m, e,
                                       "name class active body1 body2 anchor site1 site2 relpose torquescale joint1 "
                                       "joint2 polycoef",
                                       "solref solimp", NULL);
        bool active = true;
        if (!code) code = mor_mjcf_bool(m, e, "active", &active);
        if (code) return code;
        if (!active) {
            mor_mjcf_note(m, e, "inactive", "an equality that is not active is left out");
            continue;
        }
        mor_mjcf_equality* q = MOR_MJCF_ADD(m, equalities);
        if (!q) return MOR_SYSTEM;
        *q = (mor_mjcf_equality){ .at = e, .name = mor_xml_get(e, "name"), .type = type };
        code = type == 2 ? read_coupling(m, e, q) : read_meeting(m, e, q);
        if (code) return code;
    }
    return MOR_OK;
}

/* --------------------------------------------------------------------------------- contacts */

mor_code mor_mjcf_read_contacts(mor_mjcf* m, const mor_xml* list)
{
    for (const mor_xml* e = list->first; e; e = e->next) {
        mor_code code = MOR_OK;
        if (strcmp(e->name, "exclude") == 0) {
            mor_mjcf_exclude* x = MOR_MJCF_ADD(m, excludes);
            if (!x) return MOR_SYSTEM;
            code = mor_mjcf_check(m, e, "name body1 body2", NULL, NULL);
            if (!code) code = body_named(m, e, "body1", -1, &x->body[0]);
            if (!code) code = body_named(m, e, "body2", -1, &x->body[1]);
        } else if (strcmp(e->name, "pair") == 0) {
            mor_mjcf_pair* p = MOR_MJCF_ADD(m, pairs);
            if (!p) return MOR_SYSTEM;
            *p = (mor_mjcf_pair){ .at = e, .friction = NAN };
            code = mor_mjcf_check(m, e, "name class geom1 geom2 condim friction",
                                  "solref solimp solreffriction margin gap", NULL);
            double v[5], condim = 0.0;
            int n;
            for (int i = 0; i < 2 && !code; i++) {
                const char* name = mor_xml_get(e, i ? "geom2" : "geom1");
                if ((p->geom[i] = mor_mjcf_find_geom(m, name)) < 0)
                    return mor_xml_fail(e, m->error, "there is no geom '%.60s'", name ? name : "");
            }
            if (!code && !(code = mor_xml_numbers(e, "friction", 1, 5, v, &n, m->error)) && n) p->friction = v[0];
            if (!code) code = mor_mjcf_number(m, e, "condim", &condim);
            p->condim = (int)condim;
        } else {
            return mor_xml_fail(e, m->error, "<%.40s> in <contact> is not known", e->name);
        }
        if (code) return code;
    }
    return MOR_OK;
}

/* -------------------------------------------------------------------------------- keyframes */

mor_code mor_mjcf_read_keys(mor_mjcf* m, const mor_xml* list)
{
    static const int positions[] = { 1, 1, 4, 7 }, velocities[] = { 1, 1, 3, 6 };
    int nq = 0, nv = 0;
    for (int i = 0; i < m->joints_count; i++) nq += positions[m->joints[i].type], nv += velocities[m->joints[i].type];
    for (const mor_xml* e = list->first; e; e = e->next) {
        if (strcmp(e->name, "key") != 0)
            return mor_xml_fail(e, m->error, "<%.40s> in <keyframe> is not known", e->name);
        mor_mjcf_key* k = MOR_MJCF_ADD(m, keys);
        if (!k) return MOR_SYSTEM;
        *k = (mor_mjcf_key){ .at = e, .name = mor_xml_get(e, "name") };
        mor_code code = mor_mjcf_check(m, e, "name time qpos qvel ctrl", "act mpos mquat", NULL);
        if (!code) code = mor_mjcf_number(m, e, "time", &k->time);
        struct {
            const char* name;
            int count;
            double** to;
        } lists[] = { { "qpos", nq, &k->qpos }, { "qvel", nv, &k->qvel }, { "ctrl", m->actuators_count, &k->ctrl } };
        for (int i = 0; i < 3 && !code; i++) {
            if (!mor_xml_get(e, lists[i].name)) continue;
            double* v = mor_arena_zero(m->arena, (size_t)lists[i].count + 1, sizeof *v);
            if (!v) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
            code = mor_xml_numbers(e, lists[i].name, lists[i].count, lists[i].count, v, NULL, m->error);
            *lists[i].to = v;
        }
        k->ctrl_count = m->actuators_count;
        if (code) return code;
        for (int i = 0, at = 0; k->qpos && i < m->joints_count; at += positions[m->joints[i++].type]) {
            if (m->joints[i].type < MOR_MJCF_BALL) continue;
            const double* q = k->qpos + at + (m->joints[i].type == MOR_MJCF_FREE ? 3 : 0);
            if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20))
                return mor_xml_fail(e, m->error, "qpos has a quaternion that is zero, at number %d", at + 1);
        }
    }
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------- sensors */

static mor_code read_sensor(mor_mjcf* m, const mor_xml* e)
{
    mor_mjcf_sensor s = { .at = e, .name = mor_xml_get(e, "name"), .tree = -1, .frame = -1, .joint = -1 };
    bool joint = strcmp(e->name, "jointpos") == 0 || strcmp(e->name, "jointvel") == 0;
    bool imu =
        strcmp(e->name, "gyro") == 0 || strcmp(e->name, "accelerometer") == 0 || strcmp(e->name, "framequat") == 0;
    mor_code code = mor_mjcf_number(m, e, "noise", &s.noise);
    if (code) return code;
    if (joint) {
        const char* name = mor_xml_get(e, "joint");
        int j = mor_mjcf_find_joint(m, name);
        if (j < 0) return mor_xml_fail(e, m->error, "there is no joint '%.60s'", name ? name : "");
        if (m->joints[j].type > MOR_MJCF_SLIDE)
            return mor_xml_fail(e, m->error, "%s is for hinge and slide joints", e->name);
        s.kind = MOR_SENSOR_ENCODER;
        s.tree = m->joints[j].tree;
        s.joint = m->joints[j].number;
    } else if (imu) {
        const char *name = mor_xml_get(e, "site"), *type = mor_xml_get(e, "objtype");
        if (!name) name = mor_xml_get(e, "objname");
        int site = !type || strcmp(type, "site") == 0 ? mor_mjcf_find_site(m, name) : -1;
        int body = site >= 0 ? m->sites[site].body : mor_mjcf_find_body(m, name);
        if (body < 0) return mor_xml_fail(e, m->error, "there is no site or body '%.60s'", name ? name : "");
        s.kind = MOR_SENSOR_IMU;
        s.tree = m->bodies[body].tree;
        s.frame = site >= 0 ? m->sites[site].frame : m->bodies[body].frame;
    }
    if (s.tree < 0 || s.noise < 0.0) {
        mor_mjcf_note(m, e, e->name, "sensors of kind %.40s are not read here", e->name);
        return MOR_OK;
    }
    mor_mjcf_sensor* to = MOR_MJCF_ADD(m, sensors);
    if (to) *to = s;
    return to ? MOR_OK : MOR_SYSTEM;
}

mor_code mor_mjcf_read_sensors(mor_mjcf* m, const mor_xml* list)
{
    mor_code code = MOR_OK;
    for (const mor_xml* e = list->first; e && !code; e = e->next) code = read_sensor(m, e);
    return code;
}

/* ------------------------------------------------------------------------ of the whole model */

/* kv of dampratio: 2 d sqrt(kp m), m the inertia of the joints at the reference seen by the actuator. */
static mor_code resolve_damping(mor_mjcf* m, mor_mjcf_actuator* a)
{
    int tree = a->joint >= 0 ? m->joints[a->joint].tree : -1;
    if (a->tendon >= 0 && m->tendons[a->tendon].count && !m->tendons[a->tendon].spatial)
        tree = m->joints[m->terms[m->tendons[a->tendon].first].joint].tree;
    if (tree < 0) return mor_xml_fail(a->at, m->error, "dampratio needs a joint or a fixed tendon");
    mor_robot_model* model = m->trees[tree].model;
    int n = mor_robot_joint_count(model), N = mor_robot_dof(model);
    mor_robot_work* work = mor_robot_work_create(model);
    double *M = mor_arena_alloc(m->arena, ((size_t)N * (size_t)N + 1) * sizeof *M),
           *s = mor_arena_zero(m->arena, (size_t)n + 1, sizeof *s), inertia = 0.0;
    if (!work || !M || !s) {
        mor_robot_work_destroy(work);
        return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    }
    for (int i = 0; i < m->joints_count; i++)
        if (m->joints[i].tree == tree && m->joints[i].type <= MOR_MJCF_SLIDE) s[m->joints[i].number] = m->joints[i].ref;
    mor_robot_update(model, work, &m->trees[tree].base, s, NULL);
    mor_robot_mass_matrix(model, work, M);
    mor_robot_work_destroy(work);
    int count = a->joint >= 0 ? 1 : m->tendons[a->tendon].count;
    for (int i = 0; i < count; i++) {
        const mor_mjcf_term* t = a->joint >= 0 ? NULL : &m->terms[m->tendons[a->tendon].first + i];
        double c = t ? t->coef * a->gear[0] : a->gear[0];
        int dof = N - n + m->joints[t ? t->joint : a->joint].number;
        if (c * c > 1e-15) inertia += M[dof * (N + 1)] / (c * c);
    }
    a->bias[2] = -2.0 * a->dampratio * sqrt(a->gain[0] * inertia);
    return MOR_OK;
}

/* A tendon over sites and pulleys can pull; one that runs around geoms is for the eye. */
static mor_code check_spatial(mor_mjcf* m, const mor_mjcf_tendon* t, int number)
{
    bool acts = t->limited || t->stiffness != 0.0 || t->damping != 0.0;
    for (int i = 0; i < m->actuators_count; i++) acts = acts || m->actuators[i].tendon == number;
    if (acts && t->wraps)
        return mor_xml_fail(t->wraps, m->error,
                            "tendons around geoms are not supported where they pull or are limited");
    bool simple = t->count == 2 && m->terms[t->first].site >= 0 && m->terms[t->first + 1].site >= 0;
    if (t->limited && !simple)
        return mor_xml_fail(t->at, m->error, "limits of spatial tendons over other than two sites are not supported");
    if (!acts) mor_mjcf_note(m, t->at, "spatial", "spatial tendons without forces are for the eye only");
    return MOR_OK;
}

mor_code mor_mjcf_resolve(mor_mjcf* m)
{
    for (int i = 0; i < m->actuators_count; i++) {
        mor_mjcf_actuator* a = &m->actuators[i];
        mor_code code = a->dampratio > 0.0 ? resolve_damping(m, a) : MOR_OK;
        if (code) return code;
    }
    for (int i = 0; i < m->tendons_count; i++) /* a tendon is of one tree: its force acts through one robot */
        for (int k = 1; k < m->tendons[i].count && !m->tendons[i].spatial; k++)
            if (m->joints[m->terms[m->tendons[i].first + k].joint].tree !=
                m->joints[m->terms[m->tendons[i].first].joint].tree)
                return mor_xml_fail(m->tendons[i].at, m->error, "the joints of a tendon belong to one tree of bodies");
    for (int i = 0; i < m->tendons_count; i++) {
        mor_mjcf_tendon* t = &m->tendons[i];
        mor_code code = t->spatial ? check_spatial(m, t, i) : MOR_OK;
        if (code) return code;
        if (t->spatial) t->rest = mor_mjcf_rest_length(m, t);
    }
    return MOR_OK;
}
