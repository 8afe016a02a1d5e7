/* Geoms, joints, sites and the tree of bodies of an MJCF file, with the defaults of their classes.
 *
 * Reference: MuJoCo documentation, XML reference (body, joint, freejoint, geom, site, inertial, frame). */
#include "io/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

#define DEGREE 0.017453292519943295769
#define POSES " pos quat axisangle xyaxes zaxis euler"

/* Applies `apply` to the elements of `name` in the classes of e, then to e itself. */
typedef mor_code (*applier)(mor_mjcf* m, const mor_xml* e, void* record);
static mor_code with_defaults(mor_mjcf* m, const mor_xml* e, const char* around, applier apply, void* record)
{
    const mor_xml* classes[MOR_MJCF_CLASSES + 8];
    int n;
    mor_code code = mor_mjcf_classes(m, e, mor_mjcf_class(e, around), classes, MOR_MJCF_CLASSES + 8, &n);
    for (int i = 0; i < n && code == MOR_OK; i++)
        for (const mor_xml* d = mor_xml_child(classes[i], e->name); d && code == MOR_OK; d = mor_xml_sibling(d))
            code = apply(m, d, record);
    return code == MOR_OK ? apply(m, e, record) : code;
}

static mor_code integer(mor_mjcf* m, const mor_xml* e, const char* name, int* out)
{
    double x = *out;
    mor_code code = mor_mjcf_number(m, e, name, &x);
    if (code == MOR_OK && !(x >= -2147483648.0 && x <= 4294967295.0 && x == (double)(long long)x))
        return mor_xml_fail(e, m->error, "%s of <%.60s> is %g; a whole number is expected", name, e->name, x);
    *out = (int)(unsigned)(long long)x;
    return code;
}

/* ------------------------------------------------------------------------------------- geom */

static mor_code apply_geom(mor_mjcf* m, const mor_xml* e, void* record)
{
    mor_mjcf_geom* g = record;
    mor_code code =
        mor_mjcf_check(m, e,
                       "name class type contype conaffinity condim group priority size material friction "
                       "mass density mesh hfield fromto rgba user shellinertia solmix fitscale fluidshape" POSES,
                       "solref solimp margin gap fluidcoef", NULL);
    int n;
    double v[6];
    const char* text;
    if ((text = mor_xml_get(e, "mesh"))) g->mesh = text;
    if ((text = mor_xml_get(e, "hfield"))) g->field = text;
    if ((text = mor_xml_get(e, "material"))) g->material = text;
    if ((text = mor_xml_get(e, "fluidshape")) && strcmp(text, "none") != 0) m->ellipsoid = e;
    if (!code)
        code = mor_mjcf_choice(m, e, "type", "plane|hfield|sphere|capsule|ellipsoid|cylinder|box|mesh|sdf", &g->type);
    if (!code) code = integer(m, e, "contype", &g->contype);
    if (!code) code = integer(m, e, "conaffinity", &g->conaffinity);
    if (!code) code = integer(m, e, "condim", &g->condim);
    if (!code) code = integer(m, e, "priority", &g->priority);
    if (!code) code = integer(m, e, "group", &g->group);
    if (!code && !(code = mor_xml_numbers(e, "size", 1, 3, v, &n, m->error)) && n) {
        memcpy(g->size, v, (size_t)n * sizeof *v);
        g->size_count = n;
    }
    if (!code) code = mor_xml_numbers(e, "friction", 1, 3, g->friction, NULL, m->error);
    if (!code) code = mor_mjcf_number(m, e, "mass", &g->mass);
    if (!code) code = mor_mjcf_number(m, e, "density", &g->density);
    if (!code) code = mor_mjcf_bool(m, e, "shellinertia", &g->shell);
    if (!code && !(code = mor_xml_numbers(e, "fromto", 6, 6, g->fromto, &n, m->error)) && n) g->has_fromto = true;
    if (!code && !(code = mor_xml_numbers(e, "rgba", 4, 4, g->rgba, &n, m->error)) && n) g->has_rgba = true;
    return code ? code : mor_mjcf_pose(m, e, &g->pose);
}

static mor_code read_geom(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_mjcf_geom* g = MOR_MJCF_ADD(m, geoms);
    if (!g) return MOR_SYSTEM;
    *g = (mor_mjcf_geom){ .at = e,
                          .name = mor_xml_get(e, "name"),
                          .body = body,
                          .type = MOR_MJCF_SPHERE,
                          .contype = 1,
                          .conaffinity = 1,
                          .condim = 3,
                          .friction = { 1, 0.005, 0.0001 },
                          .mass = NAN,
                          .density = 1000.0,
                          .pose = mor_pose_identity(),
                          .rgba = { 0.5, 0.5, 0.5, 1 } };
    mor_code code = with_defaults(m, e, around, apply_geom, g);
    if (code) return code;
    if (g->type == MOR_MJCF_MESH && !g->mesh) return mor_xml_fail(e, m->error, "a geom of type mesh needs a mesh");
    if (!isnan(g->mass) && g->mass < 0.0) return mor_xml_fail(e, m->error, "the mass of a geom is %g", g->mass);
    if (g->density < 0.0) return mor_xml_fail(e, m->error, "the density of a geom is %g", g->density);
    if (g->friction[0] < 0.0) return mor_xml_fail(e, m->error, "the friction of a geom is %g", g->friction[0]);
    if (g->condim != 1 && g->condim != 3 && g->condim != 4 && g->condim != 6)
        return mor_xml_fail(e, m->error, "condim is %d; it is 1, 3, 4 or 6", g->condim);
    if (g->condim > 3)
        mor_mjcf_note(m, e, "condim", "condim %d: torsional and rolling friction are not simulated, only sliding",
                      g->condim);
    if (frame) {
        if (g->has_fromto)
            for (int i = 0; i < 2; i++) {
                mor_vec3 p =
                    mor_pose_point(frame, mor_v3(g->fromto[3 * i], g->fromto[3 * i + 1], g->fromto[3 * i + 2]));
                g->fromto[3 * i] = p.x, g->fromto[3 * i + 1] = p.y, g->fromto[3 * i + 2] = p.z;
            }
        g->pose = mor_pose_mul(frame, &g->pose);
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------ joint */

static mor_code apply_joint(mor_mjcf* m, const mor_xml* e, void* record)
{
    mor_mjcf_joint* j = record;
    mor_code code = mor_mjcf_check(m, e,
                                   "name class type group pos axis limited range ref springref stiffness damping "
                                   "frictionloss armature actuatorfrclimited actuatorfrcrange user",
                                   "solreflimit solimplimit solreffriction solimpfriction margin align",
                                   "springdamper actuatorgravcomp");
    double v[3];
    int n;
    if (!code) code = mor_mjcf_choice(m, e, "type", "hinge|slide|ball|free", &j->type);
    if (!code && !(code = mor_xml_numbers(e, "pos", 3, 3, v, &n, m->error)) && n) j->pos = mor_v3(v[0], v[1], v[2]);
    if (!code && !(code = mor_xml_numbers(e, "axis", 3, 3, v, &n, m->error)) && n) j->axis = mor_v3(v[0], v[1], v[2]);
    if (!code) code = mor_mjcf_choice(m, e, "limited", "auto|true|false", &j->limited);
    if (!code && !(code = mor_xml_numbers(e, "range", 2, 2, j->range, &n, m->error)) && n) j->has_range = true;
    if (!code) code = mor_mjcf_choice(m, e, "actuatorfrclimited", "auto|true|false", &j->force_limited);
    if (!code && !(code = mor_xml_numbers(e, "actuatorfrcrange", 2, 2, j->force_range, &n, m->error)) && n)
        j->has_force_range = true;
    const struct {
        const char* name;
        double* to;
    } numbers[] = { { "ref", &j->ref },         { "springref", &j->springref },   { "stiffness", &j->stiffness },
                    { "damping", &j->damping }, { "frictionloss", &j->friction }, { "armature", &j->armature } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !code; i++)
        code = mor_mjcf_number(m, e, numbers[i].name, numbers[i].to);
    return code;
}

static mor_code check_joint(mor_mjcf* m, const mor_mjcf_joint* j)
{
    const mor_xml* e = j->at;
    if ((j->type == MOR_MJCF_HINGE || j->type == MOR_MJCF_SLIDE) && !(mor_norm(j->axis) > 1e-10))
        return mor_xml_fail(e, m->error, "the axis of the joint has no length");
    if (j->stiffness < 0.0 || j->damping < 0.0 || j->friction < 0.0 || j->armature < 0.0)
        return mor_xml_fail(e, m->error, "stiffness, damping, frictionloss and armature of a joint are at least 0");
    bool limited = j->limited == 1 || (j->limited == 0 && j->has_range && m->autolimits);
    if (limited && !(j->range[0] < j->range[1]))
        return mor_xml_fail(e, m->error, "the range of the joint goes from %g to %g", j->range[0], j->range[1]);
    if (limited && (j->type == MOR_MJCF_BALL || j->type == MOR_MJCF_FREE))
        return mor_xml_fail(e, m->error, "limits of ball joints are not supported; limited=\"false\" leaves them out");
    if (j->type == MOR_MJCF_BALL && j->stiffness > 0.0)
        return mor_xml_fail(e, m->error, "the stiffness of ball joints is not supported");
    if (j->type == MOR_MJCF_FREE && (j->stiffness > 0.0 || j->damping > 0.0 || j->friction > 0.0 || j->armature > 0.0))
        return mor_xml_fail(
            e, m->error,
            "stiffness, damping, frictionloss and armature of free joints are not supported; <freejoint/> "
            "has none");
    return MOR_OK;
}

static mor_code read_joint(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_mjcf_joint* j = MOR_MJCF_ADD(m, joints);
    if (!j) return MOR_SYSTEM;
    *j = (mor_mjcf_joint){ .at = e, .name = mor_xml_get(e, "name"), .body = body, .axis = { 0, 0, 1 }, .number = -1 };
    mor_code code = MOR_OK;
    if (strcmp(e->name, "freejoint") == 0) {
        j->type = MOR_MJCF_FREE;
        code = mor_mjcf_check(m, e, "name group user", "align", NULL);
    } else {
        code = with_defaults(m, e, around, apply_joint, j);
    }
    if (code) return code;
    if (frame) j->pos = mor_pose_point(frame, j->pos), j->axis = mor_rotate(frame->rotation, j->axis);
    if (m->degrees && j->type != MOR_MJCF_SLIDE) {
        j->range[0] *= DEGREE, j->range[1] *= DEGREE;
        j->ref *= DEGREE, j->springref *= DEGREE;
    }
    if (j->type == MOR_MJCF_FREE && m->bodies[body].parent != 0)
        return mor_xml_fail(e, m->error, "a free joint belongs to a body directly in the worldbody");
    return check_joint(m, j);
}

/* ------------------------------------------------------------------------------------- site */

static mor_code apply_site(mor_mjcf* m, const mor_xml* e, void* record)
{
    mor_mjcf_site* s = record;
    mor_code code = mor_mjcf_check(m, e, "name class type group size material rgba user fromto" POSES, NULL, NULL);
    double v[6];
    int n;
    if (!code && !(code = mor_xml_numbers(e, "fromto", 6, 6, v, &n, m->error)) && n)
        s->pose.position = mor_v3(0.5 * (v[0] + v[3]), 0.5 * (v[1] + v[4]), 0.5 * (v[2] + v[5]));
    return code ? code : mor_mjcf_pose(m, e, &s->pose);
}

static mor_code read_site(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_mjcf_site* s = MOR_MJCF_ADD(m, sites);
    if (!s) return MOR_SYSTEM;
    *s = (mor_mjcf_site){ .at = e, .name = mor_xml_get(e, "name"), .body = body, .pose = mor_pose_identity() };
    s->frame = -1;
    mor_code code = with_defaults(m, e, around, apply_site, s);
    if (!code && frame) s->pose = mor_pose_mul(frame, &s->pose);
    return code;
}

/* ------------------------------------------------------------------------------------- body */

static mor_code read_inertial(mor_mjcf* m, const mor_xml* e, mor_mjcf_body* b, const mor_pose* frame)
{
    mor_code code = mor_mjcf_check(m, e, "mass diaginertia fullinertia" POSES, NULL, NULL);
    if (b->has_inertial) return mor_xml_fail(e, m->error, "the body has two <inertial> elements");
    b->has_inertial = true;
    double mass = NAN, d[3], f[6];
    int diagonal, full;
    mor_pose pose = mor_pose_identity();
    if (!code) code = mor_mjcf_number(m, e, "mass", &mass);
    if (!code) code = mor_mjcf_pose(m, e, &pose);
    if (!code) code = mor_xml_numbers(e, "diaginertia", 3, 3, d, &diagonal, m->error);
    if (!code) code = mor_xml_numbers(e, "fullinertia", 6, 6, f, &full, m->error);
    if (code) return code;
    if (isnan(mass) || mass < 0.0) return mor_xml_fail(e, m->error, "<inertial> needs a mass that is not negative");
    if (!diagonal && !full) return mor_xml_fail(e, m->error, "<inertial> needs diaginertia or fullinertia");
    if (diagonal && full) return mor_xml_fail(e, m->error, "<inertial> has both diaginertia and fullinertia");
    mor_mat3 I = full ? (mor_mat3){ { { f[0], f[3], f[4] }, { f[3], f[1], f[5] }, { f[4], f[5], f[2] } } }
                      : mor_mat3_diag(d[0], d[1], d[2]);
    double moment[3];
    mor_quat axes;
    mor_inertia_principal(&I, moment, &axes);
    if (!(moment[0] >= -1e-9 * moment[2]) || !(moment[2] >= 0.0))
        return mor_xml_fail(e, m->error,
                            "the inertia is not positive: its principal moments are %.4g, %.4g, %.4g kg m^2", moment[0],
                            moment[1], moment[2]);
    if (frame) pose = mor_pose_mul(frame, &pose);
    if (full) mor_mjcf_principal(&I);
    else b->axes = pose.rotation;
    mor_mat3 R = mor_quat_matrix(pose.rotation);
    b->mass = (mor_mass){ mass, pose.position, mor_mat3_rotate(&R, &I) };
    return MOR_OK;
}

static mor_code read_children(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame);

static mor_code read_body(mor_mjcf* m, const mor_xml* e, const char* around, int parent, const mor_pose* frame)
{
    mor_code code = mor_mjcf_check(m, e, "name childclass mocap gravcomp user sleep" POSES, NULL, NULL);
    mor_mjcf_body* b = MOR_MJCF_ADD(m, bodies);
    if (!b) return MOR_SYSTEM;
    int number = m->bodies_count - 1;
    *b = (mor_mjcf_body){ .at = e, .name = mor_xml_get(e, "name"), .parent = parent, .pose = mor_pose_identity() };
    b->joint = m->joints_count;
    b->tree = -1;
    b->frame = -1;
    if (!code) code = mor_mjcf_pose(m, e, &b->pose);
    if (!code) code = mor_mjcf_bool(m, e, "mocap", &b->mocap);
    if (!code) code = mor_mjcf_number(m, e, "gravcomp", &b->gravcomp);
    if (frame) b->pose = mor_pose_mul(frame, &b->pose);
    const char* class = mor_xml_get(e, "childclass");
    return code ? code : read_children(m, e, class ? class : around, number, NULL);
}

/* A <frame>: what is in it belongs to the body around, moved. */
static mor_code read_frame(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_pose pose = mor_pose_identity();
    mor_code code = mor_mjcf_check(m, e, "name childclass" POSES, NULL, NULL);
    if (!code) code = mor_mjcf_pose(m, e, &pose);
    if (frame) pose = mor_pose_mul(frame, &pose);
    const char* class = mor_xml_get(e, "childclass");
    return code ? code : read_children(m, e, class ? class : around, body, &pose);
}

static bool is_joint(const mor_xml* e) { return strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0; }

static mor_code read_child(mor_mjcf* m, const mor_xml* c, const char* around, int body, const mor_pose* frame)
{
    static const char* const seen[] = { "light", "camera", "site", NULL };
    const char* name = c->name;
    if (strcmp(name, "geom") == 0) return read_geom(m, c, around, body, frame);
    if (strcmp(name, "site") == 0) return read_site(m, c, around, body, frame);
    if (strcmp(name, "frame") == 0) return read_frame(m, c, around, body, frame);
    for (int i = 0; seen[i]; i++)
        if (strcmp(name, seen[i]) == 0) return MOR_OK;
    if (body > 0 && strcmp(name, "inertial") == 0) return read_inertial(m, c, &m->bodies[body], frame);
    if (body > 0 && is_joint(c)) return MOR_OK; /* read before: joints of a body are consecutive */
    if (strcmp(name, "body") == 0) return read_body(m, c, around, body, frame);
    return mor_xml_fail(c, m->error, "<%.60s> in a body is not supported", name);
}

/* The joints of a body, those in its frames included. */
static mor_code read_joints(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_code code = MOR_OK;
    for (const mor_xml* c = e->first; c && !code; c = c->next) {
        if (is_joint(c)) {
            code = read_joint(m, c, around, body, frame);
            m->bodies[body].joint_count++;
        } else if (strcmp(c->name, "frame") == 0) {
            mor_pose pose = mor_pose_identity();
            const char* class = mor_xml_get(c, "childclass");
            code = mor_mjcf_pose(m, c, &pose);
            if (frame) pose = mor_pose_mul(frame, &pose);
            if (!code) code = read_joints(m, c, class ? class : around, body, &pose);
        }
    }
    return code;
}

static mor_code read_children(mor_mjcf* m, const mor_xml* e, const char* around, int body, const mor_pose* frame)
{
    mor_code code = body > 0 && !frame ? read_joints(m, e, around, body, NULL) : MOR_OK;
    for (int i = 0; !code && body > 0 && !frame && i < m->bodies[body].joint_count; i++)
        if (m->joints[m->bodies[body].joint + i].type == MOR_MJCF_FREE && m->bodies[body].joint_count > 1)
            return mor_xml_fail(m->joints[m->bodies[body].joint + i].at, m->error,
                                "a free joint is the only joint of its body");
    for (const mor_xml* c = e->first; c && !code; c = c->next) code = read_child(m, c, around, body, frame);
    return code;
}

mor_code mor_mjcf_read_world(mor_mjcf* m, const mor_xml* e)
{
    return read_children(m, e, mor_xml_get(e, "childclass"), 0, NULL);
}
