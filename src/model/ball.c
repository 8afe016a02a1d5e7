/* Ball joints of robots: three links in a row with one rotation.
 *
 * With the rotation vector s and the angular velocity u against the parent, in the axes of what the joint carries,
 *
 *     R = R_p R_J exp(s),    w = w_p + R u,    w' = w'_p + R u' + w x R u
 *
 * All three links have this R and the same origin; link k adds a_k u_k to w, a_k = R e_k. Each a_k turns with w, not
 * with the link before it, so bias_w of link k is w x a_k u_k. All else (inertia, factor, rows) only sees the axes.
 * Positions are moved by exp(s) := exp(s) exp(h u); the rates of the chart are xi' = dexp_-xi^-1 u.
 *
 * R. Featherstone (2008), Rigid Body Dynamics Algorithms, sec. 4.4 (spherical joints). */
#include "base/elementary.h"
#include "model/articulated.h"
#include "model/motion.h"

#include <math.h>

mor_vec3 mor_quat_log(mor_quat q)
{
    double sign = q.w < 0.0 ? -1.0 : 1.0, n = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double angle = 2.0 * mor_atan2(n, sign * q.w);
    double scale = n > 1e-8 ? sign * angle / n : sign * 2.0; /* angle/n = 2 (1 + n^2/6 ...) */
    return mor_scale(scale, mor_v3(q.x, q.y, q.z));
}

void mor_robot_move(const mor_robot_model* m, double* s, double h, const double* x)
{
    if (!m->balls) {
        for (int j = 0; j < m->joint_count; j++) s[j] += h * x[j];
        return;
    }
    for (int j = 0; j < m->joint_count; j++) {
        if (m->constants[m->link_of_joint[j]].ball != 1) {
            s[j] += h * x[j];
            continue;
        }
        mor_quat turn = mor_quat_exp(mor_v3(h * x[j], h * x[j + 1], h * x[j + 2]));
        mor_quat q = mor_quat_mul(mor_quat_exp(mor_v3(s[j], s[j + 1], s[j + 2])), turn);
        mor_vec3 v = mor_quat_log(mor_quat_normalize(q));
        s[j] = v.x, s[j + 1] = v.y, s[j + 2] = v.z;
        j += 2;
    }
}

void mor_robot_chart(const mor_robot_model* m, const double* xi, double* x)
{
    for (int j = 0; j < m->joint_count; j++)
        if (m->constants[m->link_of_joint[j]].ball == 1) {
            mor_vec3 u = mor_dexp_inverse(mor_v3(-xi[j], -xi[j + 1], -xi[j + 2]), mor_v3(x[j], x[j + 1], x[j + 2]));
            x[j] = u.x, x[j + 1] = u.y, x[j + 2] = u.z;
        }
}

mor_vec3 mor_ball_spin(const mor_robot_model* m, const mor_robot_work* work, int link, const mor_vec3* w,
                       const double* nu)
{
    int first = link + 1 - m->constants[link].ball;
    mor_vec3 sum = w[m->constants[first].parent];
    for (int k = first; nu && k < first + 3; k++) sum = mor_madd(sum, nu[m->constants[k].dof], work->states[k].axis);
    return sum;
}

void mor_ball_velocities(const mor_robot_model* m, mor_robot_work* work, int i, const double* nu)
{
    const mor_link_constant* c = &m->constants[i];
    const mor_link_state* p = &work->states[c->parent];
    mor_link_state* l = &work->states[i];
    double speed = nu ? nu[c->dof] : 0.0;
    int first = i + 1 - c->ball;
    mor_vec3 whole = work->states[m->constants[first].parent].w, wr = mor_cross(p->w, l->r);
    const double* u = nu ? nu + m->constants[first].dof : NULL;
    if (u) whole = mor_add(whole, mor_mul(&l->R, mor_v3(u[0], u[1], u[2])));
    mor_vec3 step = mor_scale(speed, l->axis);
    l->v = mor_add(p->v, wr);
    l->w = mor_add(p->w, step);
    l->bias_v = mor_cross(p->w, wr);
    l->bias_w = mor_cross(whole, step);
    work->joint[i] = speed;
}

void mor_ball_update(const mor_robot_model* m, mor_robot_work* work, int i, const double* s, const double* nu)
{
    const mor_link_constant* c = &m->constants[i];
    const mor_link_state* p = &work->states[c->parent];
    mor_link_state* l = &work->states[i];
    l->r = mor_v3(0, 0, 0);
    l->R = p->R;
    if (c->ball == 1) {
        const double* x = s + c->dof - mor_robot_offset(m);
        mor_mat3 R = mor_mat3_mul(&p->R, &c->R), J = mor_quat_matrix(mor_quat_exp(mor_v3(x[0], x[1], x[2])));
        l->R = mor_mat3_mul(&R, &J);
        l->r = mor_mul(&p->R, c->r);
    }
    l->axis = mor_mul(&l->R, c->axis);
    mor_ball_velocities(m, work, i, nu);
    l->p = mor_add(p->p, l->r);
    l->body = (mor_rigid){ c->body.m, mor_mul(&l->R, c->body.c), mor_sym3_rotate(&l->R, &c->body.I) };
}

mor_code mor_ball_check(const mor_link_def* links, int count, mor_error* error)
{
    static const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < count; i++) {
        if (links[i].type != MOR_BALL || links[i].parent < 0) continue;
        bool good = i + 2 < count;
        for (int k = 0; k < 3 && good; k++) {
            const mor_link_def* l = &links[i + k];
            mor_vec3 off = mor_sub(l->axis, axes[k]);
            good = l->type == MOR_BALL && mor_dot(off, off) == 0.0 && l->joint == links[i].joint + k;
            if (k < 2) good = good && l->mass.mass == 0.0;
            if (k > 0)
                good = good && l->parent == i + k - 1 && mor_dot(l->pose.position, l->pose.position) == 0.0 &&
                       fabs(l->pose.rotation.w) == 1.0;
        }
        if (!good)
            return mor_fail(error, MOR_BAD_INPUT,
                            "the ball joint '%s' is not three links in a row with axes x, y, z, of which the last has "
                            "the mass",
                            links[i].joint_name);
        i += 2;
    }
    return MOR_OK;
}
