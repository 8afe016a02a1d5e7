/* A world as an MJCF file, so that it can be run in MuJoCo.
 *
 * Links of robots become bodies with their joints, reflected inertia as armature; links without mass that carry one
 * other link (several joints of one body) are joints of that link's body. With X_k the joint frames at position 0, the
 * body is X_1 ... X_n seen from its parent, and joint k is where X_k is seen from there. A ball joint is three such
 * links. Mimics become equalities, joints that are equations connects and welds (a revolute one two connects on its
 * axis), controllers on joints actuators, the state the keyframe "home".
 *
 * What MuJoCo has no word for is refused (cones, kinematic paths, other joints) or told: it mixes friction otherwise
 * (the larger one, here the geometric mean), its contacts are soft, and restitution is a matter of solref there. */
#include "control/general.h"
#include "io/mjcf/mjcf_write.h"
#include "io/text/output.h"
#include "model/articulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_state(mor_mjcf_writer* x, const double* q, int nq, const double* v, int nv)
{
    memcpy(x->qpos + x->nq, q, (size_t)nq * sizeof *q);
    memcpy(x->qvel + x->nv, v, (size_t)nv * sizeof *v);
    x->nq += nq, x->nv += nv;
}

/* ----------------------------------------------------------------------------------- robots */

/* The link after `link` in a chain of massless links, or -1: this one is a body. */
static int carried(const mor_robot_model* m, int link)
{
    int only = -1, children = 0;
    for (int i = link + 1; i < m->link_count; i++)
        if (m->links[i].parent == link) only = i, children++;
    if (link == 0 || m->links[link].mass.mass > 0.0 || children != 1) return -1;
    for (int i = 0; i < m->shape_count; i++)
        if (m->shapes[i].link == link) return -1;
    return only;
}

static void put_joint(mor_mjcf_writer* x, const mor_robot* r, int link, const mor_pose* at)
{
    const mor_link_def* l = &r->model->links[link];
    bool ball = l->type == MOR_BALL;
    int offset = mor_robot_offset(r->model), j = l->joint;
    char name[MOR_NAME_SIZE + 40];
    snprintf(name, sizeof name, "%s/%.*s", r->name, (int)(strlen(l->joint_name) - (ball ? 2 : 0)), l->joint_name);
    mor_write_indent(x);
    fprintf(x->f, "<joint");
    mor_write_name(x->f, "name", name);
    fprintf(x->f, " type=\"%s\"", ball ? "ball" : l->type == MOR_PRISMATIC ? "slide" : "hinge");
    mor_write_vector(x->f, "pos", at->position);
    if (!ball) mor_write_vector(x->f, "axis", mor_rotate(at->rotation, l->axis));
    if (r->damping) fprintf(x->f, " damping=\"%.17g\"", l->damping + r->viscous[j]);
    if (r->friction) fprintf(x->f, " frictionloss=\"%.17g\"", l->friction + r->coulomb[j]);
    fprintf(x->f, " armature=\"%.17g\"", r->model->reflected[j]);
    if (l->stiffness > 0.0) fprintf(x->f, " stiffness=\"%.17g\" springref=\"%.17g\"", l->stiffness, l->rest);
    if (r->limits && (isfinite(l->lower) || isfinite(l->upper)))
        fprintf(x->f, " limited=\"true\" range=\"%.17g %.17g\"", isfinite(l->lower) ? l->lower : -1e10,
                isfinite(l->upper) ? l->upper : 1e10);
    fprintf(x->f, "/>\n");
    if (ball) {
        mor_quat q = mor_quat_exp(mor_v3(r->s[j], r->s[j + 1], r->s[j + 2]));
        add_state(x, (double[4]){ q.w, q.x, q.y, q.z }, 4, r->nu + offset + j, 3);
    } else {
        add_state(x, r->s + j, 1, r->nu + offset + j, 1);
    }
}

static void open_body(mor_mjcf_writer* x, const char* robot, const char* name, const mor_pose* pose)
{
    char full[2 * MOR_NAME_SIZE];
    snprintf(full, sizeof full, "%s%s%s", robot, *robot ? "/" : "", name);
    mor_write_indent(x);
    fprintf(x->f, "<body");
    mor_write_name(x->f, "name", full);
    mor_write_pose(x->f, pose);
    fprintf(x->f, ">\n");
    x->depth++;
}

static void close_body(mor_mjcf_writer* x)
{
    x->depth--;
    mor_write_indent(x);
    fprintf(x->f, "</body>\n");
}

static mor_code put_link(mor_mjcf_writer* x, const mor_robot* r, int first)
{
    const mor_robot_model* m = r->model;
    enum { CHAIN = 16 };
    int chain[CHAIN], n = 0;
    for (int link = first; link >= 0 && n < CHAIN; link = carried(m, link)) chain[n++] = link;
    mor_pose frame = mor_pose_identity(), at[CHAIN];
    for (int k = 0; k < n; k++) {
        frame = mor_pose_mul(&frame, &m->links[chain[k]].pose);
        at[k] = frame;
    }
    int last = chain[n - 1];
    if (!(m->links[last].mass.mass > 0.0))
        mor_write_note(x, "the link '%s' has no mass; MuJoCo asks for one\n", m->links[last].name);
    frame.rotation = mor_quat_normalize(frame.rotation);
    open_body(x, r->name, m->links[last].name, &frame);
    mor_pose back = mor_pose_inverse(&frame);
    for (int k = 0; k < n; k++) {
        mor_pose here = mor_pose_mul(&back, &at[k]);
        put_joint(x, r, chain[k], &here);
        if (m->constants[chain[k]].ball == 1) k += 2; /* one joint */
    }
    mor_write_inertial(x, &m->links[last].mass);
    mor_code code = mor_write_shapes(x, r->bodies[last]);
    for (int i = last + 1; i < m->link_count && !code; i++)
        if (m->links[i].parent == last) code = put_link(x, r, i);
    close_body(x);
    return code;
}

static mor_code put_robot(mor_mjcf_writer* x, const mor_robot* r)
{
    const mor_robot_model* m = r->model;
    if (m->coupling)
        return mor_fail(x->error, MOR_BAD_INPUT, "coupled motors of '%s' cannot be written as MJCF", r->name);
    open_body(x, r->name, m->links[0].name, &r->base);
    if (m->floating) {
        mor_write_indent(x);
        fprintf(x->f, "<freejoint/>\n");
        mor_vec3 w = mor_unrotate(r->base.rotation, mor_v3(r->nu[3], r->nu[4], r->nu[5])), p = r->base.position;
        mor_quat q = r->base.rotation;
        add_state(x, (double[7]){ p.x, p.y, p.z, q.w, q.x, q.y, q.z }, 7,
                  (double[6]){ r->nu[0], r->nu[1], r->nu[2], w.x, w.y, w.z }, 6);
    }
    mor_write_inertial(x, &m->links[0].mass);
    mor_code code = r->bodies[0] >= 0 ? mor_write_shapes(x, r->bodies[0]) : MOR_OK;
    for (int i = 1; i < m->link_count && !code; i++)
        if (m->links[i].parent == 0) code = put_link(x, r, i);
    close_body(x);
    return code;
}

static mor_code put_free(mor_mjcf_writer* x, int slot)
{
    const mor_body* b = &x->w->bodies[slot];
    if (b->motion)
        return mor_fail(x->error, MOR_BAD_INPUT, "'%s' moves on a path; that cannot be written as MJCF", b->name);
    mor_pose pose = mor_body_pose(b);
    open_body(x, "", b->name, &pose);
    if (b->tree >= 0) {
        mor_write_indent(x);
        fprintf(x->f, "<freejoint/>\n");
        mor_vec3 w = mor_unrotate(b->q, b->w), v = mor_sub(b->v, mor_cross(b->w, mor_rotate(b->q, b->mass.com)));
        mor_vec3 p = pose.position;
        add_state(x, (double[7]){ p.x, p.y, p.z, b->q.w, b->q.x, b->q.y, b->q.z }, 7,
                  (double[6]){ v.x, v.y, v.z, w.x, w.y, w.z }, 6);
        mor_write_inertial(x, &b->mass);
    }
    mor_code code = mor_write_shapes(x, slot);
    close_body(x);
    return code;
}

/* ---------------------------------------------------------------------------------- the rest */

/* The MJCF body of a body: of a massless link that of the link it carries. */
static void body_name(const mor_mjcf_writer* x, int slot, char* out, size_t size)
{
    const mor_body* b = &x->w->bodies[slot];
    const mor_robot* r = b->robot ? x->w->robots[b->robot - 1] : NULL;
    int link = b->link;
    for (int next = r ? carried(r->model, link) : -1; next >= 0; next = carried(r->model, next)) link = next;
    if (r) snprintf(out, size, "%s/%s", r->name, r->model->links[link].name);
    else snprintf(out, size, "%s", b->name);
}

static mor_code put_equation(mor_mjcf_writer* x, const mor_joint* j)
{
    mor_joint_kind kind = j->def.kind;
    if (kind != MOR_JOINT_SPHERICAL && kind != MOR_JOINT_FIXED && kind != MOR_JOINT_REVOLUTE)
        return mor_fail(x->error, MOR_BAD_INPUT, "the %s joint '%s' cannot be written as MJCF",
                        mor_joint_kind_name(kind), j->def.name);
    int first = j->body[0] >= 0 ? 0 : 1;
    const mor_body* b = &x->w->bodies[j->body[first]];
    char name[2][2 * MOR_NAME_SIZE];
    for (int i = 0; i < 2; i++)
        if (j->body[i] >= 0) body_name(x, j->body[i], name[i], sizeof name[i]);
    /* the frame about the centre of mass, seen from the body frame */
    mor_vec3 point = mor_add(j->frame[first].position, b->mass.com);
    mor_vec3 axis = mor_rotate(j->frame[first].rotation, mor_v3(0, 0, 0.1));
    for (int k = 0; k < (kind == MOR_JOINT_REVOLUTE ? 2 : 1); k++) {
        fprintf(x->f, "    <%s", kind == MOR_JOINT_FIXED ? "weld" : "connect");
        mor_write_name(x->f, "body1", name[first]);
        if (j->body[1 - first] >= 0) mor_write_name(x->f, "body2", name[1 - first]);
        if (kind != MOR_JOINT_FIXED) mor_write_vector(x->f, "anchor", k ? mor_add(point, axis) : point);
        fprintf(x->f, "/>\n");
    }
    return MOR_OK;
}

static mor_code put_equalities(mor_mjcf_writer* x)
{
    mor_code code = MOR_OK;
    fprintf(x->f, "  <equality>\n");
    for (int i = 0; i < x->w->joints.count && !code; i++) {
        const mor_joint* j = &((const mor_joint*)x->w->joints.data)[i];
        if (!j->articulated) code = put_equation(x, j);
    }
    for (int i = 0; i < x->w->robot_count; i++) {
        const mor_robot* r = x->w->robots[i];
        for (int k = 1; k < r->model->link_count && r->mimic; k++) {
            const mor_link_def* l = &r->model->links[k];
            if (l->mimic < 0) continue;
            char one[160], other[160];
            snprintf(one, sizeof one, "%s/%s", r->name, l->joint_name);
            snprintf(other, sizeof other, "%s/%s", r->name,
                     r->model->links[r->model->link_of_joint[l->mimic]].joint_name);
            fprintf(x->f, "    <joint");
            mor_write_name(x->f, "joint1", one);
            if (strcmp(one, other) != 0) mor_write_name(x->f, "joint2", other);
            fprintf(x->f, " polycoef=\"%.17g %.17g 0 0 0\"/>\n", l->mimic_offset, l->mimic_ratio);
        }
    }
    fprintf(x->f, "  </equality>\n");
    return code;
}

/* Pairs that do not touch: what was asked for, but not neighbours in a tree, which MuJoCo leaves out by itself. */
static void put_excludes(mor_mjcf_writer* x)
{
    fprintf(x->f, "  <contact>\n");
    for (int i = 0; i < x->w->ignored.count; i++) {
        uint64_t key = ((const uint64_t*)x->w->ignored.data)[i];
        int a = (int)(key >> 32), b = (int)(key & 0xffffffffu);
        if (!x->w->bodies[a].alive || !x->w->bodies[b].alive) continue;
        char one[2 * MOR_NAME_SIZE], other[2 * MOR_NAME_SIZE];
        body_name(x, a, one, sizeof one);
        body_name(x, b, other, sizeof other);
        if (strcmp(one, other) == 0) continue;
        fprintf(x->f, "    <exclude");
        mor_write_name(x->f, "body1", one);
        mor_write_name(x->f, "body2", other);
        fprintf(x->f, "/>\n");
    }
    fprintf(x->f, "  </contact>\n");
}

static void put_actuator(mor_mjcf_writer* x, const mor_robot* r, int joint, double gear, double gain,
                         const double bias[3], double lower, double upper)
{
    char name[160];
    snprintf(name, sizeof name, "%s/%s", r->name, r->model->links[r->model->link_of_joint[joint]].joint_name);
    fprintf(x->f, "    <general");
    mor_write_name(x->f, "joint", name);
    fprintf(x->f, " gear=\"%.17g\" gainprm=\"%.17g\" biastype=\"affine\" biasprm=\"%.17g %.17g %.17g\"", gear, gain,
            bias[0], bias[1], bias[2]);
    if (isfinite(lower) && isfinite(upper))
        fprintf(x->f, " forcelimited=\"true\" forcerange=\"%.17g %.17g\"", lower, upper);
    fprintf(x->f, "/>\n");
}

/* Controllers on joints; their controls are constant: in ctrl. Returns how many numbers that has. */
static int put_actuators(mor_mjcf_writer* x, double* ctrl, int room)
{
    int count = 0;
    fprintf(x->f, "  <actuator>\n");
    for (int i = 0; x->w->control && i < mor_world_controller_count(x->w); i++) {
        const mor_controller_def* d = mor_world_controller(x->w, i);
        const mor_robot* r = x->w->robots[d->robot];
        if (strcmp(d->type->name, "pid") == 0) {
            for (int j = 0; j < r->model->joint_count && count < room; j++) {
                if (!d->joints[j] || (d->kp[j] == 0.0 && d->kd[j] == 0.0)) continue;
                put_actuator(x, r, j, 1.0, d->kp[j], (double[3]){ 0, -d->kp[j], -d->kd[j] }, -INFINITY, INFINITY);
                ctrl[count++] = d->target[j];
            }
        } else if (strcmp(d->type->name, "general") == 0) {
            const mor_general* o = d->options;
            for (int k = 0; k < o->count && count < room; k++) {
                const mor_general_actuator* a = &o->actuators[k];
                if (a->terms != 1 || a->slackened || a->dynamics || a->gain[1] != 0.0 || a->gain[2] != 0.0) {
                    mor_write_note(x, "an actuator of '%s' that is not on one joint with a fixed gain is not written\n",
                                   r->name);
                    continue;
                }
                put_actuator(x, r, a->joint[0], a->coef[0], a->gain[0], a->bias, a->lower, a->upper);
                ctrl[count++] = a->control;
            }
        } else {
            mor_write_note(x, "the controller '%s' is not written: it has no counterpart in MJCF\n", d->name);
        }
    }
    fprintf(x->f, "  </actuator>\n");
    return count;
}

static void put_numbers(FILE* f, const char* attribute, const double* v, int n)
{
    fprintf(f, " %s=\"", attribute);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.17g", i ? " " : "", v[i]);
    fputc('"', f);
}

static mor_code put_world(mor_mjcf_writer* x)
{
    const mor_world* w = x->w;
    FILE* f = x->f;
    fprintf(f, "<mujoco model=\"moreau\">\n  <compiler angle=\"radian\" autolimits=\"false\" boundmass=\"0\"/>\n");
    fprintf(f, "  <option timestep=\"%.17g\"", w->h);
    mor_write_vector(f, "gravity", w->gravity);
    fprintf(f, "/>\n  <asset>\n");
    mor_write_meshes(x);
    fprintf(f, "  </asset>\n  <worldbody>\n");
    x->depth = 2;
    mor_code code = MOR_OK;
    for (int i = 0; i < w->alive_count && !code; i++)
        if (!w->bodies[w->order[i]].robot) code = put_free(x, w->order[i]);
    for (int i = 0; i < w->robot_count && !code; i++) code = put_robot(x, w->robots[i]);
    fprintf(f, "  </worldbody>\n");
    if (code) return code;
    put_excludes(x);
    code = put_equalities(x);
    double* ctrl = malloc(((size_t)x->room + 1) * sizeof *ctrl);
    if (code || !ctrl) {
        free(ctrl);
        return code ? code : mor_fail(x->error, MOR_SYSTEM, "out of memory");
    }
    int controls = put_actuators(x, ctrl, x->room);
    fprintf(f, "  <keyframe>\n    <key name=\"home\"");
    put_numbers(f, "qpos", x->qpos, x->nq);
    put_numbers(f, "qvel", x->qvel, x->nv);
    if (controls) put_numbers(f, "ctrl", ctrl, controls);
    fprintf(f, "/>\n  </keyframe>\n</mujoco>\n");
    free(ctrl);
    return MOR_OK;
}

mor_code mor_mjcf_write(const mor_world* w, const char* path, char* notes, size_t notes_size, mor_error* error)
{
    mor_error local = { 0 };
    if (!error) error = &local;
    if (notes && notes_size) notes[0] = '\0';
    if (w->dimension != 3) return mor_fail(error, MOR_BAD_INPUT, "planar worlds cannot be written as MJCF");
    mor_mjcf_writer x = { .w = w, .notes = notes, .notes_size = notes_size, .error = error };
    x.room = 7 * w->body_count + 8;
    for (int i = 0; i < w->robot_count; i++) x.room += 10 * w->robots[i]->model->link_count;
    x.qpos = calloc(2 * (size_t)x.room, sizeof *x.qpos);
    if (!x.qpos) return mor_fail(error, MOR_SYSTEM, "out of memory");
    x.qvel = x.qpos + x.room;
    x.f = mor_output_open(path, error);
    mor_code code = x.f ? put_world(&x) : error->code;
    if (x.f) {
        mor_code closed = mor_output_close(x.f, path, code == MOR_OK, code ? NULL : error);
        if (!code) code = closed;
    }
    free(x.qpos);
    return code;
}
