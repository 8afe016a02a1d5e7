/* Trees in smooth motion.
 *
 * The state is (q, nu); an integrator walks in the chart q = q_0 (+) xi, with xi' = nu but for rotations,
 * R = exp(xi) R_0, xi' = dexp_xi^-1 omega, and in momentum p = M(q) nu:
 *
 *     p' = f(q, nu) + G lambda
 *
 * Free body (v, omega):    p = (m v, I omega),  f = (m g + force, torque)
 * Robot, P and H the linear momentum of what a joint carries and its angular momentum about the joint's origin o:
 *
 *     base      p = (P, H),     f = (m g, c x g - v x P)                       (about the base's moving origin)
 *     revolute  p = a . H,      f = tau + a . (c x g) + (w x a) . H - a . (v x P)
 *     prismatic p = a . P,      f = tau + a . m g + (w x a) . P
 *
 * which for the joints are Lagrange's dL/ds': no mass matrix and no acceleration is formed, O(links). M^-1 comes from
 * the articulated-body factor, O(links).
 *
 * Ball joints (articulated.h) are three revolute ones whose axes turn with what they carry, R = R_0 exp(xi).
 *
 * With n = |x|:  dexp_x y = y + (1 - cos n)/n^2 x x y + (n - sin n)/n^3 x x (x x y),
 *                dexp_x^-1 y = y - x x y/2 + (1/n^2 - cot(n/2)/(2n)) x x (x x y).
 *
 * E. Hairer, C. Lubich, G. Wanner (2006), Geometric Numerical Integration, sec. IV.7 (charts), VII.5 (rigid bodies). */
#include "model/motion.h"

#include "base/elementary.h"
#include "model/articulated.h"

#include <string.h>

mor_vec3 mor_dexp(mor_vec3 x, mor_vec3 y)
{
    double n2 = mor_dot(x, x), n = sqrt(n2), a, b;
    if (n < 0.1) { /* the series: 1/2 - n^2/24 + ..., 1/6 - n^2/120 + ... */
        a = 0.5 - n2 / 24.0 * (1.0 - n2 / 30.0 * (1.0 - n2 / 56.0 * (1.0 - n2 / 90.0)));
        b = 1.0 / 6.0 - n2 / 120.0 * (1.0 - n2 / 42.0 * (1.0 - n2 / 72.0 * (1.0 - n2 / 110.0)));
    } else {
        double s = mor_sin(0.5 * n);
        a = 2.0 * s * s / n2;
        b = (n - mor_sin(n)) / (n2 * n);
    }
    mor_vec3 c = mor_cross(x, y);
    return mor_madd(mor_madd(y, a, c), b, mor_cross(x, c));
}

mor_vec3 mor_dexp_inverse(mor_vec3 x, mor_vec3 y)
{
    double n2 = mor_dot(x, x), n = sqrt(n2);
    /* 1/12 + n^2/720 + n^4/30240 + n^6/1209600 + n^8/47900160 + ... */
    double b =
        n < 0.3
            ? 1.0 / 12.0 + n2 * (1.0 / 720.0 +
                                 n2 * (1.0 / 30240.0 +
                                       n2 * (1.0 / 1209600.0 + n2 * (1.0 / 47900160.0 + n2 * 691.0 / 1307674368000.0))))
            : 1.0 / n2 - 0.5 / (n * mor_tan(0.5 * n));
    mor_vec3 c = mor_cross(x, y);
    return mor_madd(mor_madd(y, -0.5, c), b, mor_cross(x, c));
}

/* ------------------------------------------------------------------------------------- bodies */

int mor_motion_size(const mor_tree* t)
{
    if (t->body < 0) return 7 + t->robot->model->joint_count;
    return t->kind == &mor_tree_free ? 7 : t->dof;
}

int mor_motion_turn(const mor_tree* t)
{
    if (t->body < 0) return t->robot->model->floating ? 3 : -1;
    return t->kind == &mor_tree_free ? 3 : -1;
}

int mor_motion_ball(const mor_tree* t, int from)
{
    if (t->body >= 0 || !t->robot->model->balls) return -1;
    const mor_robot_model* m = t->robot->model;
    int offset = mor_robot_offset(m);
    for (int j = from > offset ? from - offset : 0; j < m->joint_count; j++)
        if (m->constants[m->link_of_joint[j]].ball == 1) return offset + j;
    return -1;
}

void mor_motion_chart(const mor_tree* t, const double* xi, double* nu)
{
    int turn = mor_motion_turn(t);
    if (turn >= 0) {
        mor_vec3 u = mor_dexp_inverse(mor_v3(xi[turn], xi[turn + 1], xi[turn + 2]),
                                      mor_v3(nu[turn], nu[turn + 1], nu[turn + 2]));
        nu[turn] = u.x, nu[turn + 1] = u.y, nu[turn + 2] = u.z;
    }
    if (t->body >= 0 || !t->robot->model->balls) return;
    int offset = mor_robot_offset(t->robot->model);
    mor_robot_chart(t->robot->model, xi + offset, nu + offset);
}

static void body_get(const mor_tree* t, const mor_body* b, double* q, double* nu)
{
    if (t->kind == &mor_tree_free) {
        memcpy(q, (double[7]){ b->x.x, b->x.y, b->x.z, b->q.w, b->q.x, b->q.y, b->q.z }, 7 * sizeof *q);
        memcpy(nu, (double[6]){ b->v.x, b->v.y, b->v.z, b->w.x, b->w.y, b->w.z }, 6 * sizeof *nu);
        return;
    }
    q[0] = b->x.x, q[1] = b->x.y;
    nu[0] = b->v.x, nu[1] = b->v.y;
    if (t->dof == 3) q[2] = b->angle, nu[2] = b->w.z;
}

static void body_place(const mor_tree* t, mor_body* b, const double* q, const double* xi, const double* nu)
{
    if (t->kind == &mor_tree_free) {
        b->x = mor_v3(q[0], q[1], q[2]);
        b->q = (mor_quat){ q[3], q[4], q[5], q[6] };
        if (xi) {
            b->x = mor_add(b->x, mor_v3(xi[0], xi[1], xi[2]));
            b->q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_v3(xi[3], xi[4], xi[5])), b->q));
        }
        b->v = mor_v3(nu[0], nu[1], nu[2]);
        b->w = mor_v3(nu[3], nu[4], nu[5]);
        b->L = mor_rotate(b->q, mor_mul(&b->mass.inertia, mor_unrotate(b->q, b->w)));
        return;
    }
    b->x = mor_v3(q[0] + (xi ? xi[0] : 0.0), q[1] + (xi ? xi[1] : 0.0), 0.0);
    b->v = mor_v3(nu[0], nu[1], 0.0);
    if (t->dof == 3) {
        b->angle = q[2] + (xi ? xi[2] : 0.0);
        b->q = mor_quat_exp(mor_v3(0.0, 0.0, b->angle));
        b->w = mor_v3(0.0, 0.0, nu[2]);
    }
}

static void body_momentum(const mor_world* w, const mor_tree* t, const mor_body* b, double* p, double* f)
{
    double m = b->mass.mass;
    mor_vec3 P = mor_scale(m, b->v), F = mor_madd(b->force, m, w->gravity);
    if (t->kind == &mor_tree_free) {
        memcpy(p, (double[6]){ P.x, P.y, P.z, b->L.x, b->L.y, b->L.z }, 6 * sizeof *p);
        memcpy(f, (double[6]){ F.x, F.y, F.z, b->torque.x, b->torque.y, b->torque.z }, 6 * sizeof *f);
        return;
    }
    p[0] = P.x, p[1] = P.y, f[0] = F.x, f[1] = F.y;
    if (t->dof == 3) p[2] = b->mass.inertia.m[2][2] * b->w.z, f[2] = b->torque.z;
}

static void body_solve(const mor_tree* t, const mor_body* b, const double* y, double* x)
{
    double m = b->mass.mass;
    if (t->kind == &mor_tree_free) {
        mor_vec3 a = mor_rotate(b->q, mor_mul(&b->inertia_inverse, mor_unrotate(b->q, mor_v3(y[3], y[4], y[5]))));
        for (int i = 0; i < 3; i++) x[i] = y[i] / m;
        x[3] = a.x, x[4] = a.y, x[5] = a.z;
        return;
    }
    x[0] = y[0] / m, x[1] = y[1] / m;
    if (t->dof == 3) x[2] = y[2] / b->mass.inertia.m[2][2];
}

/* ------------------------------------------------------------------------------------- robots */

static void robot_place(mor_world* w, mor_robot* r, const double* q, const double* xi, const double* nu, bool links)
{
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    r->base = (mor_pose){ { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
    if (xi && m->floating) {
        r->base.position = mor_add(r->base.position, mor_v3(xi[0], xi[1], xi[2]));
        r->base.rotation =
            mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_v3(xi[3], xi[4], xi[5])), r->base.rotation));
    }
    memcpy(r->s, q + 7, (size_t)m->joint_count * sizeof *q);
    if (xi) mor_robot_move(m, r->s, 1.0, xi + offset);
    memcpy(r->nu, nu, (size_t)m->dof * sizeof *nu);
    mor_robot_update(m, r->work, &r->base, r->s, r->nu);
    if (links) mor_robot_write_bodies(w, r);
}

static double damping(const mor_robot* r, int joint)
{
    return (r->damping ? r->model->links[r->model->link_of_joint[joint]].damping : 0.0) + r->viscous[joint];
}

/* Applied wrench of a link about its origin; false: none. */
static bool applied(const mor_world* w, const mor_robot* r, int link, mor_vec3* f, mor_vec3* n)
{
    if (r->bodies[link] < 0) return false;
    const mor_body* b = &w->bodies[r->bodies[link]];
    const mor_link_state* l = &r->work->states[link];
    *f = b->force;
    if (mor_dot(b->force, b->force) == 0.0 && mor_dot(b->torque, b->torque) == 0.0) return false;
    *n = mor_add(b->torque, mor_cross(mor_sub(b->x, l->p), b->force));
    return true;
}

static void robot_momentum(const mor_world* w, const mor_robot* r, double* p, double* force)
{
    const mor_robot_model* m = r->model;
    mor_robot_work* work = r->work;
    int offset = m->dof - m->joint_count;
    mor_vec3 *P = work->a, *H = work->b, *f = work->f, *n = work->n;
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        const mor_rigid* B = &l->body;
        P[i] = mor_madd(mor_cross(l->w, B->c), B->m, l->v);
        H[i] = mor_add(mor_cross(B->c, l->v), mor_sym3_mul(&B->I, l->w));
        f[i] = mor_scale(B->m, w->gravity);
        n[i] = mor_cross(B->c, w->gravity);
        mor_vec3 af, an;
        if (applied(w, r, i, &af, &an)) f[i] = mor_add(f[i], af), n[i] = mor_add(n[i], an);
    }
    for (int i = m->link_count - 1; i > 0; i--) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &work->states[i];
        int j = c->dof - offset;
        mor_vec3 turned = mor_cross(c->ball ? work->states[i + 3 - c->ball].w : l->w, l->axis);
        double speed = r->nu[c->dof];
        if (c->prismatic) {
            p[c->dof] = mor_dot(l->axis, P[i]);
            force[c->dof] = mor_dot(l->axis, f[i]) + mor_dot(turned, P[i]);
        } else {
            p[c->dof] = mor_dot(l->axis, H[i]);
            force[c->dof] = mor_dot(l->axis, mor_sub(n[i], mor_cross(l->v, P[i]))) + mor_dot(turned, H[i]);
        }
        p[c->dof] += m->reflected[j] * speed;
        for (int k = 0; m->coupling && k < m->joint_count; k++)
            p[c->dof] += m->coupling[j * m->joint_count + k] * r->nu[offset + k];
        force[c->dof] += r->tau[j] - damping(r, j) * speed;
        int parent = c->parent;
        P[parent] = mor_add(P[parent], P[i]);
        H[parent] = mor_add(H[parent], mor_add(H[i], mor_cross(l->r, P[i])));
        f[parent] = mor_add(f[parent], f[i]);
        n[parent] = mor_add(n[parent], mor_add(n[i], mor_cross(l->r, f[i])));
    }
    if (!m->floating) return;
    mor_vec3 turn = mor_sub(n[0], mor_cross(work->states[0].v, P[0]));
    memcpy(p, (double[6]){ P[0].x, P[0].y, P[0].z, H[0].x, H[0].y, H[0].z }, 6 * sizeof *p);
    memcpy(force, (double[6]){ f[0].x, f[0].y, f[0].z, turn.x, turn.y, turn.z }, 6 * sizeof *force);
}

static bool robot_accelerate(mor_world* w, mor_robot* r, double* a)
{
    const mor_robot_model* m = r->model;
    int offset = m->dof - m->joint_count;
    memset(r->force, 0, (size_t)m->dof * sizeof *r->force);
    for (int j = 0; j < m->joint_count; j++) r->force[offset + j] = r->tau[j] - damping(r, j) * r->nu[offset + j];
    bool any = false;
    memset(r->wrenches, 0, 6 * (size_t)m->link_count * sizeof *r->wrenches);
    for (int i = m->floating ? 0 : 1; i < m->link_count; i++) {
        mor_vec3 f, n;
        if (!applied(w, r, i, &f, &n)) continue;
        memcpy(r->wrenches + 6 * i, (double[6]){ f.x, f.y, f.z, n.x, n.y, n.z }, 6 * sizeof(double));
        any = true;
    }
    return mor_robot_forward_with(m, r->work, w->gravity, r->force, any ? r->wrenches : NULL, NULL, a);
}

/* ------------------------------------------------------------------------------------ any tree */

void mor_motion_get(const mor_world* w, const mor_tree* t, double* q, double* nu)
{
    if (t->body >= 0) {
        body_get(t, &w->bodies[t->body], q, nu);
        return;
    }
    const mor_robot* r = t->robot;
    const mor_pose* b = &r->base;
    memcpy(q,
           (double[7]){ b->position.x, b->position.y, b->position.z, b->rotation.w, b->rotation.x, b->rotation.y,
                        b->rotation.z },
           7 * sizeof *q);
    memcpy(q + 7, r->s, (size_t)r->model->joint_count * sizeof *q);
    memcpy(nu, r->nu, (size_t)r->model->dof * sizeof *nu);
}

void mor_motion_place(mor_world* w, const mor_tree* t, const double* q, const double* xi, const double* nu, bool links)
{
    if (t->body >= 0) body_place(t, &w->bodies[t->body], q, xi, nu);
    else robot_place(w, t->robot, q, xi, nu, links);
}

void mor_motion_momentum(const mor_world* w, const mor_tree* t, double* p, double* f)
{
    if (t->body >= 0) body_momentum(w, t, &w->bodies[t->body], p, f);
    else robot_momentum(w, t->robot, p, f);
}

bool mor_motion_accelerate(mor_world* w, const mor_tree* t, double* a)
{
    if (t->body < 0) return robot_accelerate(w, t->robot, a);
    const mor_body* b = &w->bodies[t->body];
    double p[6], f[6];
    body_momentum(w, t, b, p, f);
    if (t->kind == &mor_tree_free) { /* I omega' = torque - omega x L */
        mor_vec3 gyro = mor_cross(b->w, b->L);
        f[3] -= gyro.x, f[4] -= gyro.y, f[5] -= gyro.z;
    }
    body_solve(t, b, f, a);
    return true;
}

bool mor_motion_factor(mor_world* w, const mor_tree* t, double h)
{
    (void)w;
    if (t->body >= 0) return true;
    mor_robot* r = t->robot;
    for (int j = 0; j < r->model->joint_count; j++) r->extra[j] = h * damping(r, j);
    return mor_robot_prepare_solve(r->model, r->work, r->extra);
}

void mor_motion_solve(const mor_world* w, const mor_tree* t, const double* y, double* x)
{
    if (t->body >= 0) body_solve(t, &w->bodies[t->body], y, x);
    else mor_robot_solve(t->robot->model, t->robot->work, y, x);
}
