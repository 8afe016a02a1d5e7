/* Joints as points and axes on their bodies, see joint_places.h.
 *
 * A joint of a robot is the link's frame: its origin, and the axis in the link; on the parent the joint frame at s = 0,
 * where the origin of a prismatic joint stays. A joint between bodies holds its frames about the centres of mass,
 * z along the axis. Cost O(joints). */
#include "model/joint_places.h"

#include <stdio.h>

#include "model/world.h"

static int order_of(const mor_world* w, int slot) { return slot < 0 ? -1 : w->order_of[slot]; }

static int robot_places(const mor_world* w, int robot, mor_joint_place* list)
{
    const mor_robot_model* model = mor_world_robot_model(w, robot);
    int count = 0;
    for (int i = 0; i < mor_robot_link_count(model); i++) {
        const mor_link_def* link = mor_robot_link(model, i);
        if (link->parent < 0) continue;
        mor_joint_place* p = list ? &list[count] : NULL;
        count++;
        if (!p) continue;
        *p = (mor_joint_place){ .kind = link->type == MOR_PRISMATIC ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE };
        snprintf(p->name, sizeof p->name, "%s/%s", mor_world_robot_name(w, robot), link->joint_name);
        p->body[0] = mor_body_index(w, mor_world_robot_link(w, robot, link->parent));
        p->body[1] = mor_body_index(w, mor_world_robot_link(w, robot, i));
        p->point[0] = link->pose.position;
        p->axis[0] = mor_rotate(link->pose.rotation, link->axis);
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
        bool there = true;
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
            if (mor_robot_link(model, i)->parent >= 0) out[count++] = w->robots[r]->s[mor_robot_link(model, i)->joint];
    }
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        bool there = true;
        for (int s = 0; s < 2; s++) there = there && (j->body[s] < 0 || order_of(w, j->body[s]) >= 0);
        if (there) out[count++] = mor_world_joint_position(w, i);
    }
}
