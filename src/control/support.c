/* Torques that hold a pose against gravity.
 *
 * At rest h(q, 0) = S tau + J' f. With a fixed base f = 0 does: tau = h. A floating base has no motors, so contact
 * forces f must carry it: of all that balance the six base rows those with the least sum of squares over the contact
 * points,
 *
 *     A f = h_base,   A = [ 1 ; (p - o) x ] over the points p,   f = A' (A A')^-1 h_base,   tau = h - J' f.
 *
 * Points: contacts of the robot with fixed and kinematic bodies whose gap is at most 1e-4 m. Fewer than three points
 * cannot balance every pose; A A' is regularised by 1e-9 of its trace, so that what cannot be balanced is left to
 * feedback.
 *
 * Cost: two sweeps from the tips to the base. */
#include "control/control.h"

#include "base/workers.h"
#include "linalg/dense.h"

#include <string.h>

static const double NEAR = 1e-4;

int mor_support_of(const mor_world* w, const mor_robot* robot, const mor_contact* c, mor_vec3* point)
{
    for (int side = 0; side < 2; side++) {
        const mor_body *own = &w->bodies[w->order[c->body[side]]], *other = &w->bodies[w->order[c->body[1 - side]]];
        if (own->robot == 0 || w->robots[own->robot - 1] != robot || other->tree >= 0 || c->gap > NEAR) continue;
        *point = mor_lerp(c->point[0], c->point[1], 0.5);
        return own->link;
    }
    return -1;
}

static int robot_at(const mor_world* w, int place) { return w->bodies[w->order[place]].robot - 1; }

void mor_control_list_touches(mor_world* w)
{
    mor_control* c = w->control;
    const mor_contact* contacts = w->contacts.data;
    int n = w->contacts.count, *start = mor_arena_zero(c->scratch, (size_t)w->robot_count + 2, sizeof *start);
    int* list = start ? mor_arena_alloc(c->scratch, (2 * (size_t)n + 1) * sizeof *list) : NULL;
    if (!list) return;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            int a = robot_at(w, contacts[i].body[0]), b = robot_at(w, contacts[i].body[1]);
            for (int side = 0; side < 2; side++) {
                int robot = side ? b : a;
                if (robot < 0 || (side && a == b)) continue;
                if (pass) list[start[robot + 1]++] = i;
                else start[robot + 2]++;
            }
        }
        for (int r = 0; !pass && r < w->robot_count; r++) start[r + 2] += start[r + 1];
    }
    c->touch_start = start, c->touches = list;
}

/* Contacts of the robot in their order; NULL: it has no bodies, or out of memory. */
static const int* own_contacts(const mor_world* w, const mor_robot* robot, mor_arena* scratch, int* count)
{
    const mor_control* c = w->control;
    const mor_contact* contacts = w->contacts.data;
    int number = -1;
    *count = 0;
    for (int i = 0; number < 0 && i < robot->model->link_count; i++)
        if (robot->bodies[i] >= 0) number = w->bodies[robot->bodies[i]].robot - 1;
    if (number < 0) return NULL;
    if (c && c->touches) {
        *count = c->touch_start[number + 1] - c->touch_start[number];
        return c->touches + c->touch_start[number];
    }
    int* list = mor_arena_alloc(scratch, ((size_t)w->contacts.count + 1) * sizeof *list);
    for (int i = 0; list && i < w->contacts.count; i++)
        if (robot_at(w, contacts[i].body[0]) == number || robot_at(w, contacts[i].body[1]) == number)
            list[(*count)++] = i;
    return list;
}

void mor_gravity_torque(const mor_world* w, const mor_robot* robot, mor_robot_work* work, double* vector,
                        mor_arena* scratch, double* tau)
{
    const mor_robot_model* m = robot->model;
    int n = m->joint_count, offset = m->dof - n;
    mor_robot_statics(m, robot->work, work, w->gravity, NULL, vector);
    size_t mark = mor_arena_mark(scratch);
    double* wrenches = m->floating ? mor_arena_zero(scratch, 6 * (size_t)m->link_count, sizeof *wrenches) : NULL;
    int count = 0;
    const int* own = wrenches ? own_contacts(w, robot, scratch, &count) : NULL;
    if (own) {
        const mor_contact* contacts = w->contacts.data;
        double AA[36] = { 0 }, L[36], y[6];
        mor_vec3 p;
        for (int i = 0; i < count; i++) {
            if (mor_support_of(w, robot, &contacts[own[i]], &p) < 0) continue;
            p = mor_sub(p, robot->base.position);
            const double a[6][3] = { { 1, 0, 0 },      { 0, 1, 0 },      { 0, 0, 1 },
                                     { 0, -p.z, p.y }, { p.z, 0, -p.x }, { -p.y, p.x, 0 } };
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < 6; k++) AA[6 * r + k] += a[r][0] * a[k][0] + a[r][1] * a[k][1] + a[r][2] * a[k][2];
        }
        double trace = 0.0;
        for (int k = 0; k < 6; k++) trace += AA[7 * k];
        for (int k = 0; k < 6; k++) AA[7 * k] += MOR_SUPPORT_REGULAR * trace;
        if (trace > 0.0 && mor_cholesky6(AA, L)) {
            memcpy(y, vector, sizeof y);
            mor_cholesky6_solve(L, y);
            mor_vec3 force = mor_v3(y[0], y[1], y[2]), moment = mor_v3(y[3], y[4], y[5]);
            for (int i = 0; i < count; i++) {
                int link = mor_support_of(w, robot, &contacts[own[i]], &p);
                if (link < 0) continue;
                mor_vec3 f = mor_add(force, mor_cross(moment, mor_sub(p, robot->base.position)));
                mor_vec3 n_link = mor_cross(mor_sub(p, robot->work->states[link].p), f);
                const double add[6] = { f.x, f.y, f.z, n_link.x, n_link.y, n_link.z };
                for (int k = 0; k < 6; k++) wrenches[6 * link + k] += add[k];
            }
            mor_robot_statics(m, robot->work, work, w->gravity, wrenches, vector);
        }
    }
    mor_arena_release(scratch, mark);
    memcpy(tau, vector + offset, (size_t)n * sizeof *tau);
}

/* ------------------------------------------------------------------------- all robots of a step */

/* Does a controller of the robot ask for them in this step? */
static bool asks_for_gravity(const mor_world* w, int robot)
{
    const mor_control_entry* entries = w->control->controllers.data;
    for (int i = 0; i < w->control->controllers.count; i++) {
        const mor_controller_def* d = &entries[i].def;
        if (d->robot == robot && d->gravity_compensation && w->time + w->h > d->from && w->time < d->until) return true;
    }
    return false;
}

static void hold_robot(void* user, int robot, int worker)
{
    mor_step* k = user;
    const mor_world* w = k->w;
    mor_control_robot* r = w->control->robots[robot];
    if (!r || r->held_gravity || !asks_for_gravity(w, robot)) return;
    mor_gravity_torque(w, w->robots[robot], r->work, r->vector, k->thread_arenas[worker], r->gravity_torque);
    r->has_gravity = true;
}

void mor_gravity_torques(mor_step* k)
{
    enum { WORTH = 4 }; /* robots: each takes some microseconds, as waking a thread does */
    if (k->threads > 1 && k->w->control->robot_count >= WORTH)
        mor_workers_run(k->workers, k->w->control->robot_count, hold_robot, k);
}

void mor_world_gravity_torque(const mor_world* w, int robot, double* tau)
{
    mor_world* mutable_world = (mor_world*)w; /* the record is scratch here */
    mor_control_robot* c = mor_control_robot_of(mutable_world, robot);
    const mor_robot* r = w->robots[robot];
    if (c) mor_gravity_torque(w, r, c->work, c->vector, w->control->scratch, tau);
}
