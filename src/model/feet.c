/* Feet: named frames of a robot with points that touch the ground, and what the ground does to them.
 *
 * With R, o the foot frame at the start of the step, and the contacts i of the foot with force f_i = impulse_i/h on it at x_i,
 *
 *     wrench = [ R' sum f_i ;  R' sum (x_i - o) x f_i ]
 *
 * in the axes of that foot. The centre of pressure is the point of the plane z = 0 about which the moment has no x and y part:
 * (-m_y/f_z, m_x/f_z, 0). The original whole-body simulator turns every foot by the first foot's R and gives the moment the opposite
 * sign; `original` repeats that for comparison. Cost: contacts of the world per call. */
#include "model/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool mor_robot_take_feet(mor_robot* r, const mor_robot_def* def, mor_error* error)
{
    if (def->foot_count <= 0) return true;
    for (int i = 0; i < def->foot_count; i++) {
        const mor_foot_def* f = &def->feet[i];
        if (f->frame < 0 || f->frame >= mor_robot_frame_count(r->model))
            return mor_fail(error, MOR_BAD_INPUT, "foot %d of robot '%s' names a frame that is not there", i, r->name), false;
        if (!(f->radius >= 0.0) || !isfinite(f->radius))
            return mor_fail(error, MOR_BAD_INPUT, "foot %d of robot '%s' has radius %g; give 0 or a length", i, r->name, f->radius), false;
        for (int k = 0; k < f->point_count; k++)
            if (!isfinite(f->points[k].x + f->points[k].y + f->points[k].z))
                return mor_fail(error, MOR_BAD_INPUT, "foot %d of robot '%s' has a point that is not finite", i, r->name), false;
        if (def->collide_feet && f->point_count == 0)
            return mor_fail(error, MOR_BAD_INPUT, "foot %d of robot '%s' shall touch the ground but has no points", i, r->name), false;
    }
    r->feet = calloc((size_t)def->foot_count, sizeof *r->feet);
    if (!r->feet) return mor_fail(error, MOR_SYSTEM, "out of memory"), false;
    r->foot_count = def->foot_count;
    for (int i = 0; i < r->foot_count; i++) {
        r->feet[i].frame = def->feet[i].frame;
        r->feet[i].link = mor_robot_frame(r->model, def->feet[i].frame)->link;
        r->feet[i].count = -1; /* every shape of the link, until it gets points */
    }
    return true;
}

int mor_robot_foot_shapes(mor_robot* r, const mor_robot_def* def, int link, mor_body_shape* shapes, int count)
{
    for (int i = 0; def->collide_feet && i < r->foot_count; i++) {
        const mor_foot_def* f = &def->feet[i];
        if (r->feet[i].link != link) continue;
        r->feet[i].first = count;
        r->feet[i].count = f->point_count;
        for (int k = 0; k < f->point_count; k++) {
            mor_geometry* g = f->radius > 0.0 ? mor_geometry_sphere(f->radius, NULL) : mor_geometry_point(NULL);
            if (!g) return -1;
            const mor_pose* frame = &mor_robot_frame(r->model, f->frame)->pose;
            shapes[count++] = (mor_body_shape){ g, { mor_pose_point(frame, f->points[k]), frame->rotation }, -1 };
        }
    }
    return count;
}

void mor_robot_mark_feet(const mor_world* w, mor_robot* r)
{
    for (int i = 0; i < r->foot_count; i++) {
        mor_pose link = mor_body_pose(&w->bodies[r->bodies[r->feet[i].link]]);
        r->feet[i].start = mor_pose_mul(&link, &mor_robot_frame(r->model, r->feet[i].frame)->pose);
    }
    r->foot_step = w->h;
}

int mor_world_robot_foot_count(const mor_world* w, int robot)
{
    assert(robot >= 0 && robot < w->robot_count);
    return w->robots[robot]->foot_count;
}

static bool of_foot(const mor_foot* f, int shape) { return f->count < 0 || (shape >= f->first && shape < f->first + f->count); }

mor_foot_state mor_world_robot_foot(const mor_world* w, int robot, int foot)
{
    assert(robot >= 0 && robot < w->robot_count && foot >= 0 && foot < w->robots[robot]->foot_count);
    const mor_robot* r = w->robots[robot];
    const mor_foot* f = &r->feet[foot];
    mor_foot_state s = { .frame = mor_robot_frame(r->model, f->frame)->name, .pose = f->start };
    mor_vec3 force = mor_v3(0, 0, 0), moment = force;
    if (!(r->foot_step > 0.0)) return s; /* before the first step */
    const mor_contact* contacts = w->contacts.data;
    int own = w->order_of[r->bodies[f->link]];
    for (int i = 0; i < w->contacts.count; i++)
        for (int side = 0; side < 2; side++) {
            const mor_contact* c = &contacts[i];
            if (c->body[side] != own || !of_foot(f, c->shape[side])) continue;
            mor_vec3 p = mor_scale((side ? 1.0 : -1.0) / r->foot_step, c->impulse);
            bool pushed = c->normal_impulse > 0.0;
            s.points += pushed;
            s.contact = s.contact || pushed || c->gap <= 0.0;
            force = mor_add(force, p);
            moment = mor_add(moment, mor_cross(mor_sub(mor_lerp(c->point[0], c->point[1], 0.5), f->start.position), p));
        }
    mor_vec3 a = mor_unrotate(f->start.rotation, force), b = mor_unrotate(f->start.rotation, moment);
    memcpy(s.wrench, (double[6]){ a.x, a.y, a.z, b.x, b.y, b.z }, sizeof s.wrench);
    if (a.z > 0.0) s.cop = mor_v3(-b.y / a.z, b.x / a.z, 0.0);
    mor_vec3 a0 = mor_unrotate(r->feet[0].start.rotation, force), b0 = mor_unrotate(r->feet[0].start.rotation, mor_neg(moment));
    memcpy(s.original, (double[6]){ a0.x, a0.y, a0.z, b0.x, b0.y, b0.z }, sizeof s.original);
    return s;
}
