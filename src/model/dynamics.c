/* Robots whose dynamics another library computes (mor_dynamics in robot.h).
 *
 * The tree kind is that of robots.c with the quantities from the table:
 *
 *     nu_free = nu + h (M + h D)^-1 (f - D nu - h(q, nu)),   M^-1 c of a row c by Cholesky
 *
 * A row of direction d at the point x of a link with origin o and Jacobian J = [J_v; J_w] is J_v'd + J_w'((x - o) x d).
 * Cost: a dense factorisation of M per step, O(N^3), and O(N^2) per row: use the built-in algorithms unless you want to
 * compare. */
#include "model/dynamics.h"

#include "linalg/dense.h"

#include <stdlib.h>
#include <string.h>

bool mor_dynamics_take(mor_robot* r, const mor_dynamics* d, mor_error* error)
{
    if (!d->update || !d->mass || !d->bias || !d->link_pose || !d->link_jacobian || !d->link_bias)
        return mor_fail(error, MOR_BAD_INPUT, "the dynamics table '%s' of robot '%s' has an empty entry",
                        d->name ? d->name : "?", r->name),
               false;
    size_t N = (size_t)mor_robot_dof(r->model);
    r->jacobian = malloc((6 * N + 1) * sizeof *r->jacobian);
    if (!r->jacobian) return mor_fail(error, MOR_SYSTEM, "out of memory"), false;
    r->dynamics = *d;
    return true;
}

static void plugged_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    const mor_robot* robot = t->robot;
    int N = t->dof;
    mor_pose pose;
    robot->dynamics.link_pose(robot->dynamics.self, b->link, &pose);
    robot->dynamics.link_jacobian(robot->dynamics.self, b->link, robot->jacobian);
    mor_vec3 m = mor_cross(mor_sub(mor_add(b->x, r), pose.position), d);
    const double* J = robot->jacobian;
    for (int k = 0; k < N; k++)
        c[k] = sign * (d.x * J[k] + d.y * J[N + k] + d.z * J[2 * N + k] + m.x * J[3 * N + k] + m.y * J[4 * N + k] +
                       m.z * J[5 * N + k]);
}

static void plugged_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    const mor_robot* robot = t->robot;
    int N = t->dof;
    robot->dynamics.link_jacobian(robot->dynamics.self, b->link, robot->jacobian);
    const double* J = robot->jacobian + 3 * (size_t)N;
    for (int k = 0; k < N; k++) c[k] = sign * (d.x * J[k] + d.y * J[N + k] + d.z * J[2 * N + k]);
}

static mor_vec3 plugged_acceleration(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 arm)
{
    const mor_robot* robot = t->robot;
    mor_pose pose;
    double a[6];
    robot->dynamics.link_pose(robot->dynamics.self, b->link, &pose);
    robot->dynamics.link_bias(robot->dynamics.self, b->link, a);
    mor_vec3 x = mor_sub(mor_add(b->x, r), pose.position);
    mor_vec3 turning = mor_cross(b->w, mor_cross(b->w, mor_sub(x, arm)));
    return mor_add(mor_v3(a[0], a[1], a[2]), mor_add(mor_cross(mor_v3(a[3], a[4], a[5]), x), turning));
}

static void plugged_prepare(mor_world* w, const mor_tree* t, double* nu, double* nu_free, double* mass, double* inverse)
{
    (void)mass, (void)inverse;
    mor_robot* r = t->robot;
    const mor_robot_model* m = r->model;
    int N = t->dof, offset = N - mor_robot_joint_count(m);
    r->dynamics.update(r->dynamics.self, &r->base, r->s, r->nu);
    mor_robot_gather_forces(w, r);
    memcpy(nu, r->nu, (size_t)N * sizeof *nu);
    r->dynamics.mass(r->dynamics.self, r->dense);
    r->dynamics.bias(r->dynamics.self, w->gravity, nu_free);
    for (int k = 0; k < N; k++) nu_free[k] = r->force[k] - nu_free[k];
    for (int j = 0; j < mor_robot_joint_count(m); j++) {
        double d = (r->damping ? mor_robot_link(m, mor_robot_link_of_joint(m, j))->damping : 0.0) + r->viscous[j];
        r->extra[j] = w->h * (d + r->gain[j]);
        nu_free[offset + j] -= d * nu[offset + j];
        r->dense[(offset + j) * (N + 1)] += r->extra[j];
    }
    if (mor_cholesky_factor(N, r->dense)) mor_cholesky_solve(N, r->dense, nu_free);
    else
        for (int k = 0; k < N; k++) nu_free[k] = NAN; /* the step ends as numerical */
    for (int k = 0; k < N; k++) nu_free[k] = nu[k] + w->h * nu_free[k];
}

static void plugged_respond(const mor_tree* t, const double* c, double* out)
{
    if (out != c) memcpy(out, c, (size_t)t->dof * sizeof *out);
    mor_cholesky_solve(t->dof, t->robot->dense, out);
}

static const double* plugged_fill(mor_world* w, const mor_tree* t, const double* prepared, double* mass,
                                  double* inverse)
{
    (void)w, (void)prepared;
    const mor_robot* r = t->robot;
    int N = t->dof, offset = N - mor_robot_joint_count(r->model);
    if (mass) {
        r->dynamics.mass(r->dynamics.self, mass);
        for (int k = offset; k < N; k++) mass[k * (N + 1)] += r->extra[k - offset];
    }
    for (int k = 0; inverse && k < N; k++) {
        memset(inverse + (size_t)k * N, 0, (size_t)N * sizeof *inverse);
        inverse[(size_t)k * (N + 1)] = 1.0;
        plugged_respond(t, inverse + (size_t)k * N, inverse + (size_t)k * N);
    }
    return mass;
}

void mor_dynamics_write_bodies(mor_world* w, const mor_robot* r)
{
    int N = mor_robot_dof(r->model);
    const mor_dynamics* d = &r->dynamics;
    d->update(d->self, &r->base, r->s, r->nu);
    for (int i = 0; i < mor_robot_link_count(r->model); i++) {
        mor_body* b = &w->bodies[r->bodies[i]];
        mor_pose pose;
        double u[6] = { 0 };
        d->link_pose(d->self, i, &pose);
        d->link_jacobian(d->self, i, r->jacobian);
        for (int k = 0; k < 6; k++)
            for (int c = 0; c < N; c++) u[k] += r->jacobian[k * N + c] * r->nu[c];
        b->q = pose.rotation;
        b->w = mor_v3(u[3], u[4], u[5]);
        mor_vec3 arm = mor_rotate(pose.rotation, b->mass.com);
        b->x = mor_add(pose.position, arm);
        b->v = mor_add(mor_v3(u[0], u[1], u[2]), mor_cross(b->w, arm));
    }
}

const mor_tree_kind mor_tree_plugged = { "robot of another library",
                                         0,
                                         plugged_prepare,
                                         plugged_row,
                                         plugged_spin,
                                         mor_robot_advance_state,
                                         mor_robot_correct_state,
                                         plugged_respond,
                                         plugged_fill,
                                         plugged_acceleration,
                                         NULL,
                                         NULL };
