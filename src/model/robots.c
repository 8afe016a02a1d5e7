/* Robots in a world: one tree in minimal coordinates, one body per link.
 *
 *     nu_free = nu + h (M + h D)^-1 (tau + sum J' wrench - D nu - h(q, nu))
 *
 * with the joint damping D implicit, so that stiff dampers need no small step; the mass block of the step is
 * M + h D. A controller that answers a change of joint velocity with tau - K (nu+ - nu) is taken the same way: its K
 * joins D in the mass block (src/control). The factor of the articulated-body algorithm stays in the work space and
 * answers M^-1 c for every constraint row in O(links). Positions: s+ = s + h s_dot+, the base by the exponential map.
 * */
#include "model/articulated.h"
#include "model/dynamics.h"
#include "model/robot_motion.h"
#include "model/world.h"

#include <string.h>

/* ------------------------------------------------------------------------------ the tree kind */

/* Forces on links and joints as one generalised force. */
void mor_robot_gather_forces(const mor_world* w, mor_robot* r)
{
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    memset(r->force, 0, (size_t)m->dof * sizeof *r->force);
    for (int j = 0; j < m->joint_count; j++) r->force[offset + j] = r->tau[j];
    for (int i = 0; w->forced && i < m->link_count; i++) {
        if (r->bodies[i] < 0) continue;
        const mor_body* b = &w->bodies[r->bodies[i]];
        if (b->force.x == 0 && b->force.y == 0 && b->force.z == 0 && b->torque.x == 0 && b->torque.y == 0 &&
            b->torque.z == 0)
            continue;
        if (i == 0 && !m->floating) continue;
        double* row = r->wrenches;
        const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
        const double f[3] = { b->force.x, b->force.y, b->force.z }, n[3] = { b->torque.x, b->torque.y, b->torque.z };
        for (int k = 0; k < 3; k++) {
            w->trees[r->tree].kind->row(&w->trees[r->tree], b, mor_v3(0, 0, 0), axes[k], 1.0, row);
            for (int d = 0; d < m->dof; d++) r->force[d] += f[k] * row[d];
            w->trees[r->tree].kind->spin(&w->trees[r->tree], b, axes[k], 1.0, row);
            for (int d = 0; d < m->dof; d++) r->force[d] += n[k] * row[d];
        }
    }
}

enum { SMALL_DOF = 64 };
#define WORST_PIVOT                                                                                                    \
    1e-5 /* of its diagonal: below, M has lost digits that the articulated-body algorithm keeps (light
                            links on heavy ones) */

/* Robots of ordinary size: M by composite bodies and L'DL, whose factor the contact rows use as well. Long chains,
 * motors that couple different limbs and robots with loops that touch nothing: ABA. */
static bool small(const mor_world* w, const mor_robot* r)
{
    if (r->model->dof > SMALL_DOF || (r->model->coupling && !r->model->path_coupling)) return false;
    if (r->touched) return true;
    for (int i = 0; i < w->joints.count; i++)
        if (!((const mor_joint*)w->joints.data)[i].articulated) return false;
    return true;
}

/* M into `mass`, its factor into the robot. */
static bool factor_small(mor_robot* r, double* mass)
{
    const mor_robot_model* m = r->model;
    int N = m->dof, offset = N - m->joint_count;
    mor_robot_mass_matrix(m, r->work, mass);
    for (int j = 0; j < m->joint_count; j++) mass[(offset + j) * (N + 1)] += r->extra[j];
    memcpy(r->dense, mass, (size_t)N * (size_t)N * sizeof *mass);
    bool good = mor_robot_factor(m, r->dense);
    for (int k = 0; k < N && good; k++) good = r->dense[k * (N + 1)] > WORST_PIVOT * mass[k * (N + 1)];
    return good;
}

static void apply_inverse(const mor_robot* r, double* x)
{
    if (r->factored) mor_robot_factor_solve(r->model, r->dense, x);
    else mor_robot_solve(r->model, r->work, x, x);
}

/* Joints that are not part of the tree but act on it. */
static bool is_looped(const mor_world* w, const mor_robot* r)
{
    const mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++)
        for (int side = 0; side < 2 && !joints[i].articulated; side++)
            if (joints[i].body[side] >= 0 && w->bodies[joints[i].body[side]].tree == r->tree) return true;
    return false;
}

static void robot_prepare(mor_world* w, const mor_tree* t, double* nu, double* nu_free, double* mass, double* inverse)
{
    (void)inverse;
    mor_robot* r = t->robot;
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    mor_robot_gather_forces(w, r);
    for (int j = 0; j < m->joint_count; j++) {
        r->drag[j] = (r->damping ? m->links[m->link_of_joint[j]].damping : 0.0) + r->viscous[j];
        r->extra[j] = w->h * (r->drag[j] + r->gain[j]);
    }
    memcpy(nu, r->nu, (size_t)m->dof * sizeof *nu);
    r->looped = is_looped(w, r);
    r->factored = small(w, r) && factor_small(r, mass ? mass : r->mass);
    bool sound = r->factored || mor_robot_prepare_solve(m, r->work, r->extra);
    if (sound) {
        mor_robot_middle_velocity(r, w->h, apply_inverse, r->middle);
        mor_robot_bias(m, r->work, w->gravity, r->middle, NULL, r->bias);
        for (int k = 0; k < m->dof; k++) nu_free[k] = r->force[k] - r->bias[k];
        for (int j = 0; j < m->joint_count; j++) nu_free[offset + j] -= r->drag[j] * r->nu[offset + j];
        apply_inverse(r, nu_free);
    }
    for (int k = 0; !sound && k < m->dof; k++) nu_free[k] = NAN; /* the step ends as numerical */
    for (int k = 0; k < m->dof; k++) nu_free[k] = nu[k] + w->h * nu_free[k];
}

static void robot_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    mor_robot_point_row(t->robot->model, t->robot->work, b->link, mor_add(b->x, r), mor_scale(sign, d), c);
}

static void robot_rows3(const mor_tree* t, const mor_body* b, mor_vec3 r, const mor_vec3 direction[3], double sign,
                        double* c)
{
    const mor_robot_model* m = t->robot->model;
    const mor_link_state* states = t->robot->work->states;
    int N = m->dof;
    mor_vec3 x = mor_add(b->x, r),
             d[3] = { mor_scale(sign, direction[0]), mor_scale(sign, direction[1]), mor_scale(sign, direction[2]) };
    memset(c, 0, 3 * (size_t)N * sizeof *c);
    for (int j = b->link; j > 0; j = m->constants[j].parent) {
        mor_vec3 v = m->constants[j].prismatic ? states[j].axis : mor_cross(states[j].axis, mor_sub(x, states[j].p));
        double* to = c + m->constants[j].dof;
        to[0] = mor_dot(v, d[0]), to[N] = mor_dot(v, d[1]), to[2 * N] = mor_dot(v, d[2]);
    }
    mor_vec3 arm = mor_sub(x, states[0].p);
    for (int k = 0; m->floating && k < 3; k++, c += N) {
        mor_vec3 n = mor_cross(arm, d[k]);
        c[0] = d[k].x, c[1] = d[k].y, c[2] = d[k].z, c[3] = n.x, c[4] = n.y, c[5] = n.z;
    }
}

static void robot_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    const mor_robot_model* m = t->robot->model;
    memset(c, 0, (size_t)m->dof * sizeof *c);
    for (int j = b->link; j > 0; j = m->constants[j].parent)
        if (!m->constants[j].prismatic) c[m->constants[j].dof] = sign * mor_dot(t->robot->work->states[j].axis, d);
    if (m->floating) c[3] = sign * d.x, c[4] = sign * d.y, c[5] = sign * d.z;
}

static void robot_respond(const mor_tree* t, const double* c, double* out)
{
    const mor_robot* r = t->robot;
    if (!r->factored) {
        mor_robot_solve(r->model, r->work, c, out);
        return;
    }
    if (out != c) memcpy(out, c, (size_t)t->dof * sizeof *out);
    mor_robot_factor_solve(r->model, r->dense, out);
}

static bool robot_respond6(const mor_tree* t, const mor_body* b, double* x)
{
    const mor_robot* r = t->robot;
    const mor_robot_model* m = r->model;
    if (!r->factored) return false;
    memset(x, 0, 8 * (size_t)t->dof * sizeof *x);
    for (int j = b->link; j > 0; j = m->constants[j].parent) {
        const mor_link_state* l = &r->work->states[j];
        double* y = x + 8 * m->constants[j].dof;
        mor_vec3 v = m->constants[j].prismatic ? l->axis : mor_cross(l->axis, mor_sub(b->x, l->p));
        y[0] = v.x, y[1] = v.y, y[2] = v.z;
        if (!m->constants[j].prismatic) y[3] = l->axis.x, y[4] = l->axis.y, y[5] = l->axis.z;
    }
    if (m->floating) {
        mor_vec3 a = mor_sub(b->x, r->work->states[0].p);
        for (int k = 0; k < 6; k++) x[9 * k] = 1.0;
        x[24 + 1] = -a.z, x[24 + 2] = a.y; /* e_x x a */
        x[32 + 0] = a.z, x[32 + 2] = -a.x;
        x[40 + 0] = -a.y, x[40 + 1] = a.x;
    }
    mor_robot_factor_solve8(m, r->dense, b->link, x);
    return true;
}

static const double* robot_fill(mor_world* w, const mor_tree* t, const double* prepared, double* mass, double* inverse)
{
    (void)w;
    const mor_robot* r = t->robot;
    int N = t->dof, offset = N - r->model->joint_count;
    const double* block = r->factored ? (prepared ? prepared : r->mass) : mass;
    if (mass && !r->factored) {
        mor_robot_mass_matrix(r->model, r->work, mass);
        for (int j = 0; j < r->model->joint_count; j++) mass[(offset + j) * (N + 1)] += r->extra[j];
    }
    for (int k = 0; inverse && k < N; k++) { /* symmetric: rows are columns */
        memset(inverse + k * N, 0, (size_t)N * sizeof *inverse);
        inverse[k * N + k] = 1.0;
        robot_respond(t, inverse + k * N, inverse + k * N);
    }
    return block;
}

void mor_robot_correct_state(mor_world* w, const mor_tree* t, const double* delta, bool velocity)
{
    mor_robot* r = t->robot;
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    if (velocity) {
        for (int k = 0; k < m->dof; k++) r->nu[k] += delta[k];
    } else {
        if (m->floating) {
            r->base.position = mor_add(r->base.position, mor_v3(delta[0], delta[1], delta[2]));
            r->base.rotation =
                mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_v3(delta[3], delta[4], delta[5])), r->base.rotation));
        }
        mor_robot_move(m, r->s, 1.0, delta + offset);
    }
    mor_robot_update(m, r->work, &r->base, r->s, r->nu);
    mor_robot_write_bodies(w, r);
}

void mor_robot_advance_state(mor_world* w, const mor_tree* t, const double* nu_free, const double* nu,
                             const double* mass)
{
    (void)nu_free, (void)mass;
    mor_robot* r = t->robot;
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    double* x = r->wrenches; /* what positions move with */
    for (int k = 0; k < m->dof; k++) x[k] = t->share < 1.0 ? r->nu[k] + t->share * (nu[k] - r->nu[k]) : nu[k];
    memcpy(r->nu, nu, (size_t)m->dof * sizeof *nu);
    if (m->floating) {
        r->base.position = mor_madd(r->base.position, w->h, mor_v3(x[0], x[1], x[2]));
        r->base.rotation =
            mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(w->h, mor_v3(x[3], x[4], x[5]))), r->base.rotation));
    }
    mor_robot_move(m, r->s, w->h, x + offset);
    mor_robot_update(m, r->work, &r->base, r->s, r->nu);
    mor_robot_write_bodies(w, r);
}

static void robot_advance(mor_world* w, const mor_tree* t, const double* nu_free, const double* nu, const double* mass)
{
    if (nu == nu_free) { /* explicit positions: along the velocity of the start */
        mor_robot_advance_state(w, t, nu_free, nu, mass);
        return;
    }
    mor_robot_finish(w, t, nu_free, nu, apply_inverse);
    mor_robot_write_bodies(w, t->robot);
}

/* As mor_robot_frame_bias, for a point of which `arm` does not turn with the link. */
static mor_vec3 robot_acceleration(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 arm)
{
    const mor_robot_model* m = t->robot->model;
    const mor_link_state* states = t->robot->work->states;
    mor_vec3 x = mor_add(b->x, r), w = states[b->link].w;
    mor_vec3 a = mor_cross(w, mor_cross(w, mor_sub(mor_sub(x, arm), states[b->link].p)));
    for (int j = b->link; j > 0; j = m->constants[j].parent)
        a = mor_add(a, mor_add(states[j].bias_v, mor_cross(states[j].bias_w, mor_sub(x, states[j].p))));
    return a;
}

const mor_tree_kind mor_tree_robot = {
    "robot",       0,          robot_prepare,      robot_row,      robot_spin, robot_advance, mor_robot_correct_state,
    robot_respond, robot_fill, robot_acceleration, robot_respond6, robot_rows3
};

/* ------------------------------------------------------------------------------------- bodies */

void mor_robot_write_bodies(mor_world* w, const mor_robot* r)
{
    if (r->dynamics.update) {
        mor_dynamics_write_bodies(w, r);
        return;
    }
    for (int i = 0; i < r->model->link_count; i++) {
        if (r->bodies[i] < 0) continue;
        mor_body* b = &w->bodies[r->bodies[i]];
        const mor_link_state* l = &r->work->states[i];
        mor_pose pose = mor_robot_link_pose(r->model, r->work, i);
        b->q = pose.rotation;
        b->x = mor_add(l->p, mor_mul(&l->R, r->model->links[i].mass.com));
        b->w = l->w;
        b->v = mor_add(l->v, mor_cross(l->w, mor_sub(b->x, l->p)));
    }
}
