/* A momentum-based balancing controller: contact forces that move the centre of mass and damp the angular momentum,
 * then the joint torques that make them.
 *
 * 1. Forces f at the support points p (support.c: closed contacts with the surroundings), with c the centre of mass, L
 *    the angular momentum about it, m the mass:
 *
 *        min |sum f + m g - m (kp (c* - c) - kd c')|^2 + |sum (p - c) x f + k L|^2 + eps |f|^2
 *        subject to  |f_t|, |f_o| <= mu/sqrt(2) f_n,  f_n >= 0                                  (a QP, solver
 *        qp-active-set)
 *
 * 2. Accelerations near the posture that keep the support points still and agree with f:
 *
 *        min w |J nudot + J'nu|^2 + sum_j w_j (s_j'' - (kp_posture (s* - s) - kd_posture s'))^2   s.t.   M_b nudot +
 *        h_b = J_b' f
 *
 *    with weights w_j = kp of the controller where it is given, else 1: joints with a small weight give way to the
 *    balance.
 *
 * 3. tau = M_j nudot + h_j - J_j' f.
 *
 * c* is above the middle of the support points (or where it was at the start), at the height of the start lowered by a
 * squat d (1 - cos(2 pi t/T))/2. In the air only the posture is held. It runs sampled: give it a step or control step
 * of about 1 ms.
 *
 * Cost: one QP in 3 unknowns per point and one dense factorisation of size N + 6.
 *
 * After G. Nava, F. Romano, F. Nori, D. Pucci (2016), Stability analysis and design of momentum-based controllers for
 * humanoid robots, IROS. Here the stack is solved as least squares, not by null-space projection. */
#include "base/elementary.h"
#include "control/control.h"

#include "linalg/dense.h"

#include <string.h>

typedef struct balance_options {
    double com_kp, com_kd, angular, force_weight, contact_weight, posture_kp, posture_kd;
    int com_target, support_foot;
    double com_x, com_y, squat_depth, squat_period;
} balance_options;

#define OPTION(name, initial, min, max, unit, help)                                                                    \
    {                                                                                                                  \
#name, MOR_TYPE_DOUBLE, offsetof(balance_options, name), initial, min, max, NULL, unit, help                   \
    }
static const mor_field fields[] = {
    OPTION(com_kp, 60, 0, 1e6, "1/s^2", "stiffness of the centre of mass"),
    OPTION(com_kd, 15, 0, 1e6, "1/s", "damping of the centre of mass"),
    OPTION(angular, 8, 0, 1e6, "1/s", "damping of the angular momentum about the centre of mass"),
    OPTION(force_weight, 1e-4, 1e-12, 1, "", "eps: how much small contact forces are preferred"),
    OPTION(contact_weight, 1e4, 0, 1e12, "", "how much still support points are preferred to the posture"),
    OPTION(posture_kp, 60, 0, 1e6, "1/s^2", "stiffness of the posture"),
    OPTION(posture_kd, 15, 0, 1e6, "1/s", "damping of the posture"),
    { "com_target", MOR_TYPE_CHOICE, offsetof(balance_options, com_target), 0, 0, 0, "support|start", "",
      "the centre of mass is held above the middle of the support, or where it was at the start" },
    { "support_foot", MOR_TYPE_INT, offsetof(balance_options, support_foot), 0, 0, 64, NULL, "",
      "stand on this foot of the robot's `feet` only, counted from 1; 0: on everything that touches the surroundings" },
    OPTION(com_x, 0, -10, 10, "m", "added to the target"),
    OPTION(com_y, 0, -10, 10, "m", "added to the target"),
    OPTION(squat_depth, 0, -10, 10, "m", "how far the centre of mass goes down and up again"),
    OPTION(squat_period, 2, 1e-3, 1e6, "s", "in this time"),
    { 0 }
};

enum { STATE = 5, MOST_POINTS = 64 }; /* started, centre of mass at the start, time */

static int state_size(const mor_robot_model* model, const void* options)
{
    (void)model, (void)options;
    return STATE;
}

typedef struct point {
    int link;
    mor_vec3 p, n, t, o; /* normal towards the robot, tangents */
    double mu;
} point;

static int support_points(const mor_control_call* c, point* out)
{
    const mor_world* w = c->world;
    const mor_contact* contacts = w->contacts.data;
    const mor_control_robot* record = mor_control_robot_find(w, c->robot);
    int foot = ((const balance_options*)c->options)->support_foot, only = -1, count = 0;
    if (foot > 0 && record && foot <= record->foot_count) only = c->model->frames[record->feet[foot - 1].frame].link;
    for (int i = 0; i < w->contacts.count && count < MOST_POINTS; i++)
        for (int side = 0; side < 2; side++) {
            const mor_contact* k = &contacts[i];
            const mor_body *own = &w->bodies[w->order[k->body[side]]], *other = &w->bodies[w->order[k->body[1 - side]]];
            if (own->robot != c->robot + 1 || other->tree >= 0 || k->gap > 1e-4 || (only >= 0 && own->link != only))
                continue;
            point* p = &out[count++];
            *p = (point){ .link = own->link,
                          .p = mor_lerp(k->point[0], k->point[1], 0.5),
                          .n = side ? k->normal : mor_neg(k->normal),
                          .mu = k->friction };
            mor_vec3 a = fabs(p->n.x) < 0.7 ? mor_v3(1, 0, 0) : mor_v3(0, 1, 0);
            p->o = mor_normalize(mor_cross(p->n, a), mor_v3(0, 0, 1));
            p->t = mor_cross(p->o, p->n);
            break;
        }
    return count;
}

/* Step 1: forces in world axes into f (3 per point); false if the QP fails. */
static bool distribute(const mor_control_call* c, const balance_options* o, const point* points, int k, mor_vec3 com,
                       const double want[6], double* f)
{
    int n = 3 * k, rows = 5 * k;
    double* A = mor_arena_zero(c->scratch, (size_t)(6 * n), sizeof *A); /* row-major 6 x n */
    double* H = mor_arena_zero(c->scratch, (size_t)(n * n), sizeof *H);
    double* C = mor_arena_zero(c->scratch, (size_t)(rows * n), sizeof *C);
    double* v = mor_arena_zero(c->scratch, (size_t)(4 * n + 2 * rows), sizeof *v);
    if (!A || !H || !C || !v) return false;
    double *b = v, *lower = v + n, *upper = v + 2 * n, *z = v + 3 * n, *c_lower = v + 4 * n, *c_upper = c_lower + rows;
    for (int i = 0; i < k; i++) {
        const mor_vec3 axes[3] = { points[i].n, points[i].t, points[i].o };
        double mu = points[i].mu / sqrt(2.0);
        for (int d = 0; d < 3; d++) {
            mor_vec3 m = mor_cross(mor_sub(points[i].p, com), axes[d]);
            const double column[6] = { axes[d].x, axes[d].y, axes[d].z, m.x, m.y, m.z };
            for (int r = 0; r < 6; r++) A[r * n + 3 * i + d] = column[r];
            lower[3 * i + d] = -INFINITY;
            upper[3 * i + d] = INFINITY;
        }
        for (int r = 0; r < 5; r++) { /* f_n >= 0, mu f_n +- f_t >= 0, mu f_n +- f_o >= 0 */
            int row = 5 * i + r;
            C[row + (3 * i) * rows] = r == 0 ? 1.0 : mu;
            if (r > 0) C[row + (3 * i + 1 + (r > 2)) * rows] = r % 2 ? 1.0 : -1.0;
            c_upper[row] = INFINITY;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            for (int r = 0; r < 6; r++) H[i + j * n] += A[r * n + i] * A[r * n + j];
        H[i + i * n] += o->force_weight;
        for (int r = 0; r < 6; r++) b[i] -= A[r * n + i] * want[r];
    }
    mor_problem problem = { .form = MOR_QP,
                            .size = n,
                            .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = H },
                            .b = b,
                            .lower = lower,
                            .upper = upper,
                            .C = { .storage = MOR_DENSE, .rows = rows, .cols = n, .x = C },
                            .c_lower = c_lower,
                            .c_upper = c_upper };
    mor_solve_options options = mor_solve_options_default();
    mor_report report = mor_solve(mor_solver_builtin("qp-active-set"), NULL, &problem, &options, z, c->scratch);
    if (report.status != MOR_SOLVED) return false;
    for (int i = 0; i < k; i++) {
        mor_vec3 force =
            mor_madd(mor_madd(mor_scale(z[3 * i], points[i].n), z[3 * i + 1], points[i].t), z[3 * i + 2], points[i].o);
        f[3 * i] = force.x, f[3 * i + 1] = force.y, f[3 * i + 2] = force.z;
    }
    return true;
}

/* Step 2: K nudot = rhs with the base rows as equations; nudot into x (N of N + 6 numbers). */
static bool accelerate(const mor_control_call* c, const balance_options* o, const point* points, int k, const double* M,
                       const double* base_force, double* x)
{
    int N = mor_robot_dof(c->model), n = mor_robot_joint_count(c->model), size = N + 6;
    double* K = mor_arena_zero(c->scratch, (size_t)(size * size), sizeof *K);
    double* row = mor_arena_zero(c->scratch, (size_t)N, sizeof *row);
    int* pivot = mor_arena_zero(c->scratch, (size_t)size, sizeof *pivot);
    if (!K || !row || !pivot) return false;
    memset(x, 0, (size_t)size * sizeof *x);
    for (int j = 0; j < n; j++) {
        double weight = c->def->kp[j] > 0.0 ? c->def->kp[j] : 1.0;
        K[(6 + j) * (size + 1)] = weight;
        x[6 + j] = weight * (o->posture_kp * (c->def->target[j] - c->s[j]) - o->posture_kd * c->nu[6 + j]);
    }
    for (int i = 0; i < 6; i++) K[i * (size + 1)] += 1e-9;
    for (int i = 0; i < k; i++) {
        const mor_link_state* l = &c->work->states[points[i].link];
        mor_vec3 r = mor_sub(points[i].p, l->p);
        /* with nudot = 0 and gravity 0 the sweep leaves the links' bias accelerations */
        mor_vec3 bias = mor_add(c->work->a[points[i].link],
                                mor_add(mor_cross(c->work->b[points[i].link], r), mor_cross(l->w, mor_cross(l->w, r))));
        const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
        for (int d = 0; d < 3; d++) {
            mor_robot_point_row(c->model, c->work, points[i].link, points[i].p, axes[d], row);
            double still = -mor_axis(bias, d) - 20.0 * mor_dot(axes[d], mor_add(l->v, mor_cross(l->w, r)));
            for (int p = 0; p < N; p++) {
                if (row[p] == 0.0) continue;
                x[p] += o->contact_weight * row[p] * still;
                for (int q = 0; q < N; q++) K[p + q * size] += o->contact_weight * row[p] * row[q];
            }
        }
    }
    for (int r = 0; r < 6; r++) {
        for (int q = 0; q < N; q++) K[(N + r) + q * size] = K[q + (N + r) * size] = M[r * N + q];
        x[N + r] = base_force[r];
    }
    if (!mor_lu_factor(size, K, pivot)) return false;
    mor_lu_solve(size, K, pivot, x);
    return true;
}

static void posture_only(const mor_control_call* c, const balance_options* o)
{
    int n = mor_robot_joint_count(c->model), offset = mor_robot_dof(c->model) - n;
    for (int j = 0; j < n; j++)
        if (c->def->joints[j])
            c->tau[j] = o->posture_kp * (c->def->target[j] - c->s[j]) - o->posture_kd * c->nu[offset + j];
}

static void balance(const mor_control_call* c)
{
    const balance_options* o = c->options;
    const mor_robot_model* m = c->model;
    int N = mor_robot_dof(m), n = mor_robot_joint_count(m);
    double mass = mor_robot_mass(m), momentum[6];
    mor_vec3 com = mor_robot_com(m, c->work);
    mor_robot_momentum(m, c->work, com, momentum);
    if (c->state[0] == 0.0) {
        const double start[STATE] = { 1.0, com.x, com.y, com.z, c->time };
        memcpy(c->state, start, sizeof start);
    }
    point points[MOST_POINTS];
    int k = m->floating ? support_points(c, points) : 0;
    double* M = mor_arena_zero(c->scratch, (size_t)(N * N), sizeof *M);
    double* v = mor_arena_zero(c->scratch, (size_t)(3 * k + 3 * N + 6), sizeof *v);
    double* wrenches = mor_arena_zero(c->scratch, (size_t)(6 * m->link_count), sizeof *wrenches);
    if (k == 0 || !M || !v || !wrenches) {
        posture_only(c, o);
        return;
    }
    double *f = v, *x = v + 3 * k, *bias = x + N + 6, *out = bias + N;
    mor_vec3 goal = mor_v3(c->state[1], c->state[2], c->state[3]);
    if (o->com_target == 0) {
        goal.x = goal.y = 0.0;
        for (int i = 0; i < k; i++) goal.x += points[i].p.x / k, goal.y += points[i].p.y / k;
    }
    goal.x += o->com_x, goal.y += o->com_y;
    double phase = 6.283185307179586 * (c->time - c->state[4]) / o->squat_period;
    goal.z -= 0.5 * o->squat_depth * (1.0 - mor_cos(phase));
    mor_vec3 velocity = mor_scale(1.0 / mass, mor_v3(momentum[0], momentum[1], momentum[2]));
    mor_vec3 rate =
        mor_scale(mass, mor_sub(mor_madd(mor_scale(o->com_kp, mor_sub(goal, com)), -o->com_kd, velocity), c->gravity));
    const double want[6] = {
        rate.x, rate.y, rate.z, -o->angular * momentum[3], -o->angular * momentum[4], -o->angular * momentum[5]
    };
    if (!distribute(c, o, points, k, com, want, f)) {
        posture_only(c, o);
        return;
    }
    for (int i = 0; i < k; i++) {
        mor_vec3 force = mor_v3(f[3 * i], f[3 * i + 1], f[3 * i + 2]),
                 moment = mor_cross(mor_sub(points[i].p, c->work->states[points[i].link].p), force);
        const double add[6] = { force.x, force.y, force.z, moment.x, moment.y, moment.z };
        for (int r = 0; r < 6; r++) wrenches[6 * points[i].link + r] += add[r];
    }
    mor_robot_mass_matrix(m, c->work, M);
    mor_robot_inverse_dynamics(m, c->work, c->gravity, NULL, wrenches, bias); /* h - J'f */
    double base_force[6];
    for (int r = 0; r < 6; r++) base_force[r] = -bias[r];
    /* bias accelerations stay in the work space */
    mor_robot_inverse_dynamics(m, c->work, mor_v3(0, 0, 0), NULL, NULL, out);
    if (!accelerate(c, o, points, k, M, base_force, x)) {
        posture_only(c, o);
        return;
    }
    for (int j = 0; j < n; j++) {
        double sum = bias[6 + j];
        for (int q = 0; q < N; q++) sum += M[(6 + j) * N + q] * x[q];
        if (c->def->joints[j]) c->tau[j] = sum;
    }
}

const mor_controller mor_controller_balance = {
    .name = "balance",
    .summary =
        "momentum-based balancing of a floating robot: contact forces by a QP, then joint torques; a worked example",
    .reference = "nava2016",
    .options_size = sizeof(balance_options),
    .fields = fields,
    .state_size = state_size,
    .control = balance,
};
