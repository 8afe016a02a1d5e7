/* Joints as points and axes on their bodies, see joint_places.h.
 *
 * A joint of a robot is the link's frame: its origin, and the axis in the link; on the parent the joint frame at s = 0,
 * where the origin of a prismatic joint stays. A joint between bodies holds its frames about the centres of mass,
 * z along the axis. Cost O(joints). */
#include "model/joint_places.h"

#include <stdio.h>

#include "model/world.h"

static int order_of(const mor_world* w, int slot) { return slot < 0 ? -1 : w->order_of[slot]; }

/* A point of a link in the frame of its body, which has the same axes. */
static mor_vec3 in_body(const mor_world* w, int slot, const mor_link_def* link, mor_vec3 p)
{
    return slot < 0 ? p : mor_add(p, mor_sub(w->bodies[slot].mass.com, link->mass.com));
}

/* Of a joint made of several links only the last has a body and is told, where the others stand at 0. */
bool mor_joint_is_placed(const mor_world* w, int robot, int link)
{
    const mor_robot* r = w->robots[robot];
    return mor_robot_link(r->model, link)->parent >= 0 && r->bodies[link] >= 0;
}

static int robot_places(const mor_world* w, int robot, mor_joint_place* list)
{
    const mor_robot_model* model = mor_world_robot_model(w, robot);
    int count = 0;
    const int* bodies = w->robots[robot]->bodies;
    for (int i = 0; i < mor_robot_link_count(model); i++) {
        const mor_link_def *link = mor_robot_link(model, i), *above;
        if (!mor_joint_is_placed(w, robot, i)) continue;
        mor_joint_place* p = list ? &list[count] : NULL;
        count++;
        if (!p) continue;
        *p = (mor_joint_place){ .kind = link->type == MOR_PRISMATIC ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE };
        snprintf(p->name, sizeof p->name, "%s/%s", mor_world_robot_name(w, robot), link->joint_name);
        int parent = link->parent;
        mor_pose at = link->pose;
        for (; (above = mor_robot_link(model, parent))->parent >= 0 && bodies[parent] < 0; parent = above->parent)
            at = mor_pose_mul(&above->pose, &at);
        p->body[0] = order_of(w, bodies[parent]);
        p->body[1] = order_of(w, bodies[i]);
        p->point[0] = in_body(w, bodies[parent], above, at.position);
        p->point[1] = in_body(w, bodies[i], link, mor_v3(0, 0, 0));
        p->axis[0] = mor_rotate(at.rotation, link->axis);
        p->axis[1] = link->axis;
    }
    return count;
}

int mor_joint_places(const mor_world* w, mor_joint_place* list)
{
    int count = 0;
    for (int r = 0; r < mor_world_robot_count(w); r++) count += robot_places(w, r, list ? list + count : NULL);
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        mor_joint_place p = { .kind = j->def.kind };
        bool there = !j->articulated;
        snprintf(p.name, sizeof p.name, "%s", j->def.name);
        for (int s = 0; s < 2; s++) {
            p.body[s] = order_of(w, j->body[s]);
            there = there && (j->body[s] < 0 || p.body[s] >= 0);
            p.point[s] = j->frame[s].position;
            if (j->body[s] >= 0) p.point[s] = mor_add(p.point[s], w->bodies[j->body[s]].mass.com);
            p.axis[s] = mor_rotate(j->frame[s].rotation, mor_v3(0, 0, 1));
        }
        if (!there) continue;
        if (list) list[count] = p;
        count++;
    }
    return count;
}

void mor_joint_positions(const mor_world* w, double* out)
{
    int count = 0;
    for (int r = 0; r < w->robot_count; r++) {
        const mor_robot_model* model = w->robots[r]->model;
        for (int i = 0; i < mor_robot_link_count(model); i++)
            if (mor_joint_is_placed(w, r, i)) out[count++] = w->robots[r]->s[mor_robot_link(model, i)->joint];
    }
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        bool there = !j->articulated;
        for (int s = 0; s < 2; s++) there = there && (j->body[s] < 0 || order_of(w, j->body[s]) >= 0);
        if (there) out[count++] = mor_world_joint_position(w, i);
    }
}
