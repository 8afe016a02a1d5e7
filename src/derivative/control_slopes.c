/* Joint forces and implicit gains of a robot's motors by its state (slopes.h).
 *
 * Laws of joints (`joints_only`) answer each joint by its own position and velocity, and by the gravity torque they are
 * given. How the gravity torque depends on the positions is known in closed form (gravity_slopes.c). The slopes of our
 * own laws are known as well (control/laws.c) where motors are not at limits. For others, and at limits, each of the
 * three is moved for all joints at once, and the base not at all: six calls of the laws tell everything, and the robot
 * itself is not moved. Other controllers are asked along every direction; the points of support are moved with the
 * robot then. */
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
    bool joints;           /* laws of joints: nothing but joint positions and velocities is moved */
    mor_contact* contacts; /* of the trial: their points move */
    double* delta;         /* N */
    double* gravity;       /* n: gravity torque that laws of joints are given */
} asked;

enum { POSITION, VELOCITY, GRAVITY };

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

/* Laws of joints at positions, velocities or gravity torques of the joints that differ by delta. */
static void move_joints(asked* x, int what, double sign)
{
    const mor_derivation* d = x->d;
    mor_robot* r = d->trial->w->robots[x->robot];
    mor_control_robot* c = d->trial->w->control->robots[x->robot];
    const double* now = d->base->w->control->robots[x->robot]->gravity_torque;
    int n = r->model->joint_count, offset = r->model->dof - n;
    for (int j = 0; j < n; j++) {
        double by = sign * x->delta[offset + j];
        if (what == POSITION) r->s[j] += by;
        if (what == VELOCITY) r->nu[offset + j] += by;
        x->gravity[j] = now[j] + (what == GRAVITY ? by : 0.0);
    }
    c->held_gravity = x->gravity;
}

/* The robot of the trial moved by delta; its joint forces and gains. */
static mor_code ask(asked* x, int what, double sign, double* tau, double* gain, mor_error* error)
{
    mor_world* w = x->d->trial->w;
    const mor_robot* world = x->d->world->robots[x->robot];
    mor_robot* r = w->robots[x->robot];
    int n = r->model->joint_count, N = r->model->dof;
    r->base = world->base;
    memcpy(r->s, world->s, (size_t)mor_robot_joint_count(r->model) * sizeof *r->s);
    memcpy(r->nu, world->nu, (size_t)N * sizeof *r->nu);
    memcpy(r->tau, world->tau, (size_t)n * sizeof *r->tau);
    const mor_tree* t = &w->trees[r->tree];
    double moved[6 + 64];
    for (int i = 0; i < N && !x->joints; i++) moved[i] = sign * x->delta[i];
    if (!mor_control_take(x->d->world, &x->d->trial->control)) return MOR_SYSTEM;
    if (x->joints) move_joints(x, what, sign);
    else if (what == VELOCITY) {
        for (int i = 0; i < N; i++) r->nu[i] += moved[i];
        t->kind->correct(w, t, x->delta + N, true); /* zero: refreshes the work space */
    } else {
        t->kind->correct(w, t, moved, false);
        move_contacts(x);
    }
    mor_control_begin(w, NULL);
    w->control->robots[x->robot]->held_gravity = NULL;
    if (w->refusal[0]) return mor_fail(error, MOR_BAD_INPUT, "%s", w->refusal);
    memcpy(tau, r->tau, (size_t)n * sizeof *tau);
    memcpy(gain, r->gain, (size_t)n * sizeof *gain);
    return MOR_OK;
}

/* One look to each side: numbers of all joints at once (column -1), or one of the robot. Adds no more than n numbers
 * each to tau and gain, `stride` apart. */
static mor_code differ(asked* x, int what, int column, double* tau, double* gain, size_t stride, double* room)
{
    const mor_robot_model* m = x->d->base->w->robots[x->robot]->model;
    int n = m->joint_count, N = m->dof, offset = N - n;
    double *up = room, *down = room + 2 * n, by = what == GRAVITY ? 1e-3 : LITTLE; /* N m */
    for (int i = 0; i < 2 * N; i++) x->delta[i] = i < N && (column < 0 ? i >= offset : i == column) ? by : 0.0;
    mor_code code = ask(x, what, 1.0, up, up + n, NULL);
    if (!code) code = ask(x, what, -1.0, down, down + n, NULL);
    for (int j = 0; j < n && !code; j++) {
        tau[(size_t)j * stride] = (up[j] - down[j]) / (2.0 * by);
        gain[(size_t)j * stride] = (up[n + j] - down[n + j]) / (2.0 * by);
    }
    return code;
}

static bool is_controlled(const mor_derivation* d, int robot)
{
    const mor_control* c = d->base->w->control;
    return c && robot < c->robot_count && c->robots[robot];
}

static mor_code begin(mor_derivation* d, const mor_slopes* s, int robot, asked* x, double** room)
{
    mor_code code = mor_look_ready(d);
    if (code) return code;
    const mor_robot_model* m = d->base->w->robots[robot]->model;
    size_t n = (size_t)m->joint_count;
    bool gravity;
    *x = (asked){ .d = d, .s = s, .robot = robot };
    survey(d->trial->w, robot, &x->joints, &gravity);
    x->contacts = mor_arena_alloc(d->arena, ((size_t)d->base->contacts.count + 1) * sizeof *x->contacts);
    x->delta = mor_arena_zero(d->arena, 2 * (size_t)m->dof, sizeof *x->delta);
    x->gravity = mor_arena_alloc(d->arena, (n + 1) * sizeof *x->gravity);
    *room = mor_arena_alloc(d->arena, (4 * n + 1) * sizeof **room);
    return x->contacts && x->delta && x->gravity && *room ? MOR_OK : MOR_SYSTEM;
}

/* Motors at their limits are found by solving again: not here. */
static mor_code compare(asked* x, double* room, bool* done)
{
    const mor_robot* r = x->d->base->w->robots[x->robot];
    int n = r->model->joint_count;
    mor_code code = ask(x, POSITION, 0.0, room, room + n, NULL);
    for (int j = 0; j < n && !code; j++)
        if (fabs(room[j] - r->tau[j]) > 1e-9 * (1.0 + fabs(r->tau[j])) || room[n + j] != r->gain[j]) *done = false;
    return code;
}

/* Laws whose slopes are known (control/laws.c), through motors that no limit holds. False: they are not these. */
static bool known_laws(const mor_derivation* d, int robot, mor_law_slopes* out)
{
    const mor_world* w = d->base->w;
    const mor_control* c = w->control;
    const mor_control_robot* r = c->robots[robot];
    const mor_control_entry* e = c->controllers.data;
    int n = w->robots[robot]->model->joint_count;
    if (c->period > 0.0 && fabs(c->period - w->h) > 1e-9 * w->h) return false;
    for (int j = 0; j < n; j++)
        if (r->saturated[j] || r->speed_limit[j] < INFINITY) return false;
    for (int i = 0; i < c->controllers.count; i++) {
        const mor_controller_def* def = &e[i].def;
        if (def->robot != robot || w->time < def->from || w->time >= def->until) continue;
        const double* integrals = (const double*)c->state.data + e[i].state;
        if (!mor_law_add_slopes(def, n, integrals, w->h, out->tau_q, out->tau_v)) return false;
        for (int j = 0; j < n && def->gravity_compensation; j++) out->tau_g[j] += def->joints[j];
    }
    for (int j = 0; j < n; j++) {
        double share = r->actuated[j] ? r->share[j] : 0.0;
        out->tau_q[j] *= share, out->tau_v[j] *= share, out->tau_g[j] *= share;
    }
    return true;
}

mor_code mor_joint_laws(mor_derivation* d, const mor_slopes* s, int robot, mor_law_slopes* out, bool* done)
{
    size_t n = (size_t)d->base->w->robots[robot]->model->joint_count;
    *out = (mor_law_slopes){ 0 };
    if (!is_controlled(d, robot)) return MOR_OK;
    survey(d->base->w, robot, &out->joints, &out->gravity);
    if (!out->joints) return MOR_OK;
    double *room, *numbers = mor_arena_zero(d->arena, 6 * n + 1, sizeof *numbers);
    if (!numbers) return MOR_SYSTEM;
    out->tau_q = numbers, out->tau_v = numbers + n, out->gain_q = numbers + 2 * n, out->gain_v = numbers + 3 * n;
    out->tau_g = numbers + 4 * n;
    if (known_laws(d, robot, out)) return MOR_OK;
    memset(numbers, 0, 6 * n * sizeof *numbers);
    asked x;
    mor_code code = begin(d, s, robot, &x, &room);
    if (!code) code = compare(&x, room, done);
    if (!code && *done) code = differ(&x, POSITION, -1, out->tau_q, out->gain_q, 1, room);
    if (!code && *done) code = differ(&x, VELOCITY, -1, out->tau_v, out->gain_v, 1, room);
    if (!code && *done && out->gravity) code = differ(&x, GRAVITY, -1, out->tau_g, numbers + 5 * n, 1, room);
    return code;
}

mor_code mor_control_slopes(mor_derivation* d, const mor_slopes* s, int robot, double* tau, double* gain, bool* done)
{
    const mor_robot* r = d->base->w->robots[robot];
    size_t mark = mor_arena_mark(d->arena), N = (size_t)r->model->dof;
    memset(tau, 0, (size_t)r->model->joint_count * 2 * N * sizeof *tau);
    memset(gain, 0, (size_t)r->model->joint_count * 2 * N * sizeof *gain);
    if (!is_controlled(d, robot)) return MOR_OK;
    double* room;
    asked x;
    mor_code code = begin(d, s, robot, &x, &room);
    if (code) return code;
    mor_world* w = d->trial->w;
    mor_buffer contacts = w->contacts;
    w->contacts = (mor_buffer){ x.contacts, d->base->contacts.count, d->base->contacts.count };
    code = compare(&x, room, done);
    for (size_t k = 0; k < 2 * N && !code && *done; k++)
        code = differ(&x, k < N ? POSITION : VELOCITY, (int)(k % N), tau + k, gain + k, 2 * N, room);
    w->contacts = contacts;
    mor_arena_release(d->arena, mark);
    return code;
}
