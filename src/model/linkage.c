/* A robot in maximal coordinates: every link a free body, every joint a set of equations.
 *
 * The joint frames A on the parent, B on the link have z along the joint's axis a and agree at s = 0: with F the
 * rotation that takes z to a and (R_J, r_J) the joint frame in the parent,
 *
 *     A = (o_p + R_p r_J, R_p R_J F),     B = (o, R F),
 *
 * so that the joint's coordinate is s itself, and limits, damping and friction keep their meaning. The motion is that
 * of the robot in minimal coordinates as h shrinks; joints are met to the tolerance of the stabilisation, not exactly.
 * */
#include "base/failed.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "model/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mor_quat mor_joint_axis_frame(mor_vec3 a)
{
    if (a.z < -0.999999) return (mor_quat){ 0, 1, 0, 0 };
    return mor_quat_normalize((mor_quat){ 1.0 + a.z, -a.y, a.x, 0.0 });
}

static mor_code check_link(const mor_robot_def* def, const mor_link_def* l, mor_error* error)
{
    const double(*I)[3] = l->mass.inertia.m;
    double determinant = I[0][0] * (I[1][1] * I[2][2] - I[1][2] * I[2][1]) -
                         I[0][1] * (I[1][0] * I[2][2] - I[1][2] * I[2][0]) +
                         I[0][2] * (I[1][0] * I[2][1] - I[1][1] * I[2][0]);
    if (!(l->mass.mass > 0.0) || !(determinant > 0.0))
        return mor_fail(error, MOR_BAD_INPUT,
                        "link '%s' of robot '%s' has no mass or no inertia; in maximal coordinates every moving part "
                        "needs both: use coordinates: minimal",
                        l->name, def->name);
    if (def->mimic && l->mimic >= 0)
        return mor_fail(error, MOR_BAD_INPUT,
                        "joint '%s' of robot '%s' follows another joint (mimic), which maximal coordinates do not "
                        "have: use coordinates: minimal",
                        l->joint_name, def->name);
    return MOR_OK;
}

/* The body of a link, with its shapes. */
static mor_body_id add_body(mor_world* w, const mor_robot_def* def, const mor_robot_work* work, int link,
                            mor_body_shape* shapes, mor_error* error)
{
    const mor_robot_model* m = def->model;
    const mor_link_def* l = &m->links[link];
    mor_body_def d = mor_body_def_default();
    snprintf(d.name, sizeof d.name, "%.30s/%.32s", def->name, l->name);
    d.shapes = shapes;
    for (int k = 0; def->collide && k < m->shape_count; k++)
        if (m->shapes[k].link == link) {
            int frame = m->shapes[k].frame,
                own = def->materials && frame >= 0 && frame < m->frame_count ? def->materials[frame] : -1;
            shapes[d.shape_count++] = (mor_body_shape){ m->shapes[k].geometry, m->shapes[k].pose, own };
        }
    d.kind = link == 0 && !m->floating ? MOR_FIXED : MOR_DYNAMIC;
    d.material = def->material;
    d.mass = l->mass.mass > 0.0 ? l->mass.mass : 1.0; /* a held base may have none */
    d.has_inertia = d.has_com = true;
    d.com = l->mass.com;
    d.inertia = d.kind == MOR_FIXED ? mor_mat3_diag(1, 1, 1) : l->mass.inertia;
    d.pose = mor_robot_link_pose(m, work, link);
    mor_vec3 v;
    mor_robot_link_velocity(work, link, &v, &d.angular_velocity);
    d.velocity = mor_add(v, mor_cross(d.angular_velocity, mor_rotate(d.pose.rotation, d.com)));
    if (d.kind == MOR_FIXED) d.velocity = d.angular_velocity = mor_v3(0, 0, 0);
    return mor_world_add_body(w, &d, error);
}

static bool add_joint(mor_world* w, const mor_robot_def* def, const mor_robot_work* work, int link,
                      const mor_body_id* bodies, mor_error* error)
{
    const mor_robot_model* m = def->model;
    const mor_link_def* l = &m->links[link];
    mor_pose parent = mor_robot_link_pose(m, work, l->parent), own = mor_robot_link_pose(m, work, link),
             rest = mor_pose_mul(&parent, &l->pose);
    mor_quat F = mor_joint_axis_frame(l->axis);
    mor_joint_def j = mor_joint_def_default();
    snprintf(j.name, sizeof j.name, "%.30s/%.32s", def->name, l->joint_name);
    j.kind = l->type == MOR_PRISMATIC ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE;
    j.body[0] = bodies[link];
    j.body[1] = bodies[l->parent];
    j.point[0] = own.position;
    j.point[1] = rest.position;
    j.framed = true;
    j.rotation[0] = mor_quat_mul(own.rotation, F);
    j.rotation[1] = mor_quat_mul(rest.rotation, F);
    if (def->limits) j.lower = l->lower, j.upper = l->upper;
    if (def->damping) j.damping = l->damping;
    if (def->friction) j.friction = l->friction;
    j.stiffness = l->stiffness, j.rest = l->rest;
    return mor_world_add_joint(w, &j, error) >= 0;
}

mor_code mor_world_add_linkage(mor_world* w, const mor_robot_def* def, mor_error* error)
{
    if (!def->model) return mor_fail(error, MOR_BAD_INPUT, "a robot needs a model");
    if (w->dimension != 3) return mor_fail(error, MOR_BAD_INPUT, "robots need a 3-D world");
    if (def->model->coupling)
        return mor_fail(error, MOR_BAD_INPUT, "reflected inertia of motors needs minimal coordinates");
    const mor_robot_model* m = def->model;
    for (int i = m->floating ? 0 : 1; i < m->link_count; i++) {
        mor_code code = check_link(def, &m->links[i], error);
        if (code != MOR_OK) return code;
        if (i > 0 && m->reflected[m->links[i].joint] > 0.0)
            return mor_fail(error, MOR_BAD_INPUT, "reflected inertia of motors needs minimal coordinates");
    }
    mor_robot_work* work = mor_robot_work_create(m);
    mor_body_shape* shapes = malloc(((size_t)m->shape_count + 1) * sizeof *shapes);
    mor_body_id* bodies = calloc((size_t)m->link_count, sizeof *bodies);
    double* zero = calloc((size_t)m->dof + 1, sizeof *zero);
    mor_code code = MOR_OK;
    if (!work || !shapes || !bodies || !zero) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_pose base = { def->pose.position, mor_quat_normalize(def->pose.rotation) };
    if (code == MOR_OK) mor_robot_update(m, work, &base, def->s ? def->s : zero, def->nu ? def->nu : zero);
    for (int i = 0; code == MOR_OK && i < m->link_count; i++) {
        bodies[i] = add_body(w, def, work, i, shapes, error);
        bool good = bodies[i].index1 && (i == 0 || add_joint(w, def, work, i, bodies, error));
        if (!good) code = mor_failed(error, MOR_BAD_INPUT);
    }
    for (int i = 0; code == MOR_OK && !def->self_collision && i < m->link_count; i++)
        for (int k = 0; k < i && code == MOR_OK; k++)
            if (mor_world_ignore_pair(w, bodies[i], bodies[k])) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (code == MOR_OK && def->self_collision && !mor_world_add_group(w, def->model, bodies))
        code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_robot_work_destroy(work);
    free(shapes);
    free(bodies);
    free(zero);
    return code;
}
