/* Joint forces and implicit gains of a robot's motors by its state: differences of the control stage alone (slopes.h).
 *
 * Laws of joints (`joints_only`) answer each joint by its own position and velocity: all joints are moved at once, and
 * the base not at all. The gravity compensation they may add is known in closed form (gravity_slopes.c); as it passes
 * motors, one direction through all positions is looked at to see that it arrives as it is. Other controllers are asked
 * along every direction; the points of support are moved with the robot then. */
#include "derivative/slopes.h"

#include "base/elementary.h"
#include "control/control.h"
#include "model/articulated.h"

#include <string.h>

#define LITTLE 1e-6

typedef struct asked {
    mor_derivation* d;
    const mor_slopes* s;
    int robot;
    mor_contact* contacts; /* of the trial: their points move */
    double* delta;         /* N */
} asked;

/* What the controllers of the robot see. */
static void survey(const mor_world* w, int robot, bool* joints, bool* gravity)
{
    const mor_control* c = w->control;
    const mor_control_entry* e = c->controllers.data;
    *joints = !c->robots[robot]->transmission;
    *gravity = false;
    for (int i = 0; i < c->controllers.count; i++) {
        if (e[i].def.robot != robot) continue;
        *joints = *joints && e[i].def.type->joints_only;
        *gravity = *gravity || e[i].def.gravity_compensation;
    }
}

/* Points of support go along: the contact's middle by the motion of the link, as touch.h has it. */
static void move_contacts(asked* x)
{
    const mor_world* w = x->d->base->w;
    const mor_contact* base = x->d->base->contacts.data;
    const mor_robot *from = w->robots[x->robot], *to = x->d->trial->w->robots[x->robot];
    for (int i = 0; i < x->d->base->contacts.count; i++) {
        const mor_touch* t = &x->s->touches[i];
        x->contacts[i] = base[i];
        for (int side = 0; side < 2 && t->known; side++) {
            const mor_body* b = &w->bodies[w->order[base[i].body[side]]];
            if (b->robot != x->robot + 1) continue;
            mor_pose was = mor_robot_link_pose(from->model, from->work, b->link),
                     is = mor_robot_link_pose(to->model, to->work, b->link);
            mor_quat turn = mor_quat_mul(is.rotation, mor_quat_conj(was.rotation));
            mor_vec3 moved = mor_add(is.position, mor_rotate(turn, mor_sub(t->middle, was.position)));
            double v[3];
            const double p[4] = { turn.w, turn.x, turn.y, turn.z }, one[4] = { 1, 0, 0, 0 };
            mor_turn_between(p, one, 1.0, v);
            mor_vec3 shift = mor_sub(moved, t->middle);
            double six[6] = { shift.x, shift.y, shift.z, v[0], v[1], v[2] }, gap = 0.0;
            mor_vec3 move = side == 0 ? shift : mor_v3(0, 0, 0);
            for (int k = 0; k < 6; k++) {
                double share = side ? six[k] : -six[k];
                move = mor_madd(move, share, t->middle_by[k]);
                gap += share * t->gap_by[k];
            }
            for (int k = 0; k < 2; k++) x->contacts[i].point[k] = mor_add(base[i].point[k], move);
            x->contacts[i].gap += gap;
        }
    }
}

/* The robot of the trial moved by delta; its joint forces and gains. */
static mor_code ask(asked* x, bool velocity, double sign, double* tau, double* gain, mor_error* error)
{
    mor_world* w = x->d->trial->w;
    const mor_robot* world = x->d->world->robots[x->robot];
    mor_robot* r = w->robots[x->robot];
    int n = r->model->joint_count, N = r->model->dof;
    r->base = world->base;
    memcpy(r->s, world->s, (size_t)mor_robot_joint_count(r->model) * sizeof *r->s);
    memcpy(r->nu, world->nu, (size_t)N * sizeof *r->nu);
    memcpy(r->tau, world->tau, (size_t)n * sizeof *r->tau);
    double moved[6 + 64];
    for (int i = 0; i < N; i++) moved[i] = sign * x->delta[i];
    const mor_tree* t = &w->trees[r->tree];
    if (velocity) {
        for (int i = 0; i < N; i++) r->nu[i] += moved[i];
        bool joints, gravity;
        survey(w, x->robot, &joints, &gravity);
        if (!joints) t->kind->correct(w, t, x->delta + N, true); /* zero: refreshes the work space */
    } else {
        t->kind->correct(w, t, moved, false);
        move_contacts(x);
    }
    if (!mor_control_take(x->d->world, &x->d->trial->control)) return MOR_SYSTEM;
    mor_control_begin(w);
    if (w->refusal[0]) return mor_fail(error, MOR_BAD_INPUT, "%s", w->refusal);
    memcpy(tau, r->tau, (size_t)n * sizeof *tau);
    memcpy(gain, r->gain, (size_t)n * sizeof *gain);
    return MOR_OK;
}

/* One look to each side; column (-1: the own numbers of all joints at once). */
static mor_code differ(asked* x, bool velocity, int column, double* tau, double* gain, double* room)
{
    const mor_robot_model* m = x->d->base->w->robots[x->robot]->model;
    int n = m->joint_count, N = m->dof, offset = N - n;
    double *up = room, *down = room + 2 * n;
    for (int i = 0; i < 2 * N; i++) x->delta[i] = i < N && (column < 0 ? i >= offset : i == column) ? LITTLE : 0.0;
    mor_code code = ask(x, velocity, 1.0, up, up + n, NULL);
    if (!code) code = ask(x, velocity, -1.0, down, down + n, NULL);
    for (int j = 0; j < n && !code; j++) {
        size_t at = (size_t)j * 2 * N + (velocity ? N : 0) + (column < 0 ? offset + j : column);
        tau[at] = (up[j] - down[j]) / (2.0 * LITTLE);
        gain[at] = (up[n + j] - down[n + j]) / (2.0 * LITTLE);
    }
    return code;
}

/* Laws of joints with gravity compensation: the laws without gravity, and what it adds. *done = false: motors change it
 * (a limit, a filter), so that every direction must be looked at. */
static mor_code joints_and_gravity(asked* x, double* tau, double* gain, double* room, bool* done)
{
    mor_derivation* d = x->d;
    mor_world* w = d->trial->w;
    const mor_robot* r = d->base->w->robots[x->robot];
    int n = r->model->joint_count, N = r->model->dof;
    mor_vec3 gravity = w->gravity;
    double* by_q = mor_arena_alloc(d->arena, (size_t)n * (size_t)N * sizeof *by_q);
    mor_code code = by_q ? mor_gravity_slopes(d, x->s, r, by_q) : MOR_SYSTEM;
    w->gravity = mor_v3(0, 0, 0);
    if (!code) code = differ(x, false, -1, tau, gain, room);
    w->gravity = gravity;
    for (int j = 0; j < n && !code; j++)
        for (int k = 0; k < N; k++) tau[(size_t)j * 2 * N + k] += by_q[(size_t)j * N + k];
    double *up = room, *down = room + 2 * n;
    for (int i = 0; i < N; i++) x->delta[i] = LITTLE * (1.0 + 0.37 * (i * 7 % 11)) * (i % 2 ? -1.0 : 1.0);
    if (!code) code = ask(x, false, 1.0, up, up + n, NULL);
    if (!code) code = ask(x, false, -1.0, down, down + n, NULL);
    double worst = 0.0, size = 1.0;
    for (int j = 0; j < n && !code; j++) {
        double sum = 0.0, is = up[j] - down[j];
        for (int k = 0; k < N; k++) sum += 2.0 * tau[(size_t)j * 2 * N + k] * x->delta[k];
        worst = mor_max(worst, fabs(sum - is) / LITTLE);
        size = mor_max(size, fabs(is) / LITTLE);
    }
    *done = worst < 1e-6 * size;
    return code;
}

mor_code mor_control_slopes(mor_derivation* d, const mor_slopes* s, int robot, double* tau, double* gain, bool* done)
{
    mor_world* w = d->trial->w;
    const mor_robot* r = d->base->w->robots[robot];
    int n = r->model->joint_count, N = r->model->dof, count = d->base->contacts.count;
    size_t numbers = (size_t)n * 2 * N;
    memset(tau, 0, numbers * sizeof *tau);
    memset(gain, 0, numbers * sizeof *gain);
    if (!d->base->w->control || robot >= d->base->w->control->robot_count || !d->base->w->control->robots[robot])
        return MOR_OK;
    size_t mark = mor_arena_mark(d->arena);
    asked x = { .d = d, .s = s, .robot = robot };
    x.contacts = mor_arena_alloc(d->arena, ((size_t)count + 1) * sizeof *x.contacts);
    x.delta = mor_arena_zero(d->arena, 2 * (size_t)N, sizeof *x.delta);
    double* room = mor_arena_alloc(d->arena, 4 * (size_t)n * sizeof *room);
    if (!x.contacts || !x.delta || !room) return MOR_SYSTEM;
    mor_buffer contacts = w->contacts;
    w->contacts = (mor_buffer){ x.contacts, count, count };
    bool joints, gravity;
    survey(w, robot, &joints, &gravity);
    mor_code code = ask(&x, false, 0.0, room, room + n, NULL);
    for (int j = 0; j < n && !code; j++) /* motors at their limits are found by solving again: not here */
        if (fabs(room[j] - r->tau[j]) > 1e-9 * (1.0 + fabs(r->tau[j])) || room[n + j] != r->gain[j]) *done = false;
    bool known = joints;
    if (!code && *done && joints && !gravity) code = differ(&x, false, -1, tau, gain, room);
    else if (!code && *done && joints) code = joints_and_gravity(&x, tau, gain, room, &known);
    for (int k = 0; k < N && !code && *done && !known; k++) code = differ(&x, false, k, tau, gain, room);
    if (!code && *done && joints) code = differ(&x, true, -1, tau, gain, room);
    for (int k = 0; k < N && !code && *done && !joints; k++) code = differ(&x, true, k, tau, gain, room);
    w->contacts = contacts;
    mor_arena_release(d->arena, mark);
    return code;
}
