/* What points and frames of a robot do: poses, Jacobians, accelerations; centre of mass, momentum, energy.
 *
 * Joint j on the path from a link to the base moves the point x of the link by
 *     revolute   v = a_j x (x - o_j),  w = a_j          prismatic  v = a_j,  w = 0
 * and a floating base by v = v_0 + w_0 x (x - o_0), w = w_0. Cost: the depth of the link. */
#include "model/articulated.h"

#include <assert.h>
#include <string.h>

/* Quaternion of a rotation matrix, from its largest component (Shepperd 1978). */
static mor_quat quaternion(const mor_mat3* R)
{
    const double(*m)[3] = R->m;
    double t = m[0][0] + m[1][1] + m[2][2];
    mor_quat q;
    if (t >= m[0][0] && t >= m[1][1] && t >= m[2][2])
        q = (mor_quat){ 1.0 + t, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1] };
    else if (m[0][0] >= m[1][1] && m[0][0] >= m[2][2])
        q = (mor_quat){ m[2][1] - m[1][2], 1.0 + 2.0 * m[0][0] - t, m[1][0] + m[0][1], m[0][2] + m[2][0] };
    else if (m[1][1] >= m[2][2])
        q = (mor_quat){ m[0][2] - m[2][0], m[1][0] + m[0][1], 1.0 + 2.0 * m[1][1] - t, m[2][1] + m[1][2] };
    else q = (mor_quat){ m[1][0] - m[0][1], m[0][2] + m[2][0], m[2][1] + m[1][2], 1.0 + 2.0 * m[2][2] - t };
    return mor_quat_normalize(q);
}

mor_pose mor_robot_link_pose(const mor_robot_model* m, const mor_robot_work* work, int link)
{
    assert(link >= 0 && link < m->link_count);
    (void)m;
    return (mor_pose){ work->states[link].p, quaternion(&work->states[link].R) };
}

static mor_vec3 frame_origin(const mor_robot_model* m, const mor_robot_work* work, int frame)
{
    const mor_frame_def* F = &m->frames[frame];
    const mor_link_state* l = &work->states[F->link];
    return mor_add(l->p, mor_mul(&l->R, F->pose.position));
}

mor_pose mor_robot_frame_pose(const mor_robot_model* m, const mor_robot_work* work, int frame)
{
    assert(frame >= 0 && frame < m->frame_count);
    mor_pose link = mor_robot_link_pose(m, work, m->frames[frame].link);
    return mor_pose_mul(&link, &m->frames[frame].pose);
}

void mor_robot_frame_matrix(const mor_robot_model* m, const mor_robot_work* work, int frame, double H[16])
{
    assert(frame >= 0 && frame < m->frame_count);
    const mor_frame_def* F = &m->frames[frame];
    mor_mat3 local = mor_quat_matrix(mor_quat_normalize(F->pose.rotation));
    mor_mat3 R = mor_mat3_mul(&work->states[F->link].R, &local);
    mor_vec3 p = frame_origin(m, work, frame);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) H[4 * i + j] = R.m[i][j];
        H[4 * i + 3] = mor_axis(p, i);
        H[12 + i] = 0.0;
    }
    H[15] = 1.0;
}

void mor_robot_frame_jacobian(const mor_robot_model* m, const mor_robot_work* work, int frame, double* J)
{
    assert(frame >= 0 && frame < m->frame_count);
    int N = m->dof;
    memset(J, 0, 6 * (size_t)N * sizeof *J);
    mor_vec3 x = frame_origin(m, work, frame);
    for (int j = m->frames[frame].link; j > 0; j = m->constants[j].parent) {
        const mor_link_constant* c = &m->constants[j];
        const mor_link_state* l = &work->states[j];
        mor_vec3 v = c->prismatic ? l->axis : mor_cross(l->axis, mor_sub(x, l->p));
        mor_vec3 w = c->prismatic ? mor_v3(0, 0, 0) : l->axis;
        for (int k = 0; k < 3; k++) {
            J[k * N + c->dof] = mor_axis(v, k);
            J[(k + 3) * N + c->dof] = mor_axis(w, k);
        }
    }
    if (!m->floating) return;
    mor_vec3 r = mor_sub(x, work->states[0].p); /* w x r = -[r]x w */
    for (int k = 0; k < 6; k++) J[k * N + k] = 1.0;
    J[0 * N + 4] = r.z, J[0 * N + 5] = -r.y;
    J[1 * N + 3] = -r.z, J[1 * N + 5] = r.x;
    J[2 * N + 3] = r.y, J[2 * N + 4] = -r.x;
}

void mor_robot_frame_bias(const mor_robot_model* m, const mor_robot_work* work, int frame, double bias[6])
{
    assert(frame >= 0 && frame < m->frame_count);
    /* a = sum over the path of what each joint adds, carried along: angular parts of the joints before act on
     * the rest of the path. Walking inwards from the frame with x its origin: each link's bias_v counts once,
     * its bias_w turns x - o_link. */
    mor_vec3 x = frame_origin(m, work, frame), a = mor_v3(0, 0, 0), b = a;
    int link = m->frames[frame].link;
    const mor_link_state* own = &work->states[link];
    a = mor_cross(own->w, mor_cross(own->w, mor_sub(x, own->p)));
    for (int j = link; j > 0; j = m->constants[j].parent) {
        const mor_link_state* l = &work->states[j];
        a = mor_add(a, mor_add(l->bias_v, mor_cross(l->bias_w, mor_sub(x, l->p))));
        b = mor_add(b, l->bias_w);
    }
    memcpy(bias, (double[6]){ a.x, a.y, a.z, b.x, b.y, b.z }, 6 * sizeof(double));
}

void mor_robot_point_row(const mor_robot_model* m, const mor_robot_work* work, int link, mor_vec3 x, mor_vec3 d,
                         double* c)
{
    assert(link >= 0 && link < m->link_count);
    memset(c, 0, (size_t)m->dof * sizeof *c);
    for (int j = link; j > 0; j = m->constants[j].parent) {
        const mor_link_state* l = &work->states[j];
        c[m->constants[j].dof] =
            m->constants[j].prismatic ? mor_dot(l->axis, d) : mor_dot(l->axis, mor_cross(mor_sub(x, l->p), d));
    }
    if (!m->floating) return;
    mor_vec3 n = mor_cross(mor_sub(x, work->states[0].p), d);
    memcpy(c, (double[6]){ d.x, d.y, d.z, n.x, n.y, n.z }, 6 * sizeof(double));
}

void mor_robot_link_velocity(const mor_robot_work* work, int link, mor_vec3* v, mor_vec3* omega)
{
    assert(link >= 0 && link < work->link_count);
    *v = work->states[link].v;
    *omega = work->states[link].w;
}

mor_vec3 mor_robot_com(const mor_robot_model* m, const mor_robot_work* work)
{
    mor_vec3 sum = mor_v3(0, 0, 0);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        sum = mor_add(sum, mor_madd(l->body.c, l->body.m, l->p));
    }
    return m->mass > 0.0 ? mor_scale(1.0 / m->mass, sum) : work->states[0].p;
}

void mor_robot_momentum(const mor_robot_model* m, const mor_robot_work* work, mor_vec3 point, double momentum[6])
{
    mor_vec3 p = mor_v3(0, 0, 0), L = p;
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        mor_vec3 f = mor_madd(mor_cross(l->w, l->body.c), l->body.m, l->v);
        mor_vec3 n = mor_add(mor_cross(l->body.c, l->v), mor_sym3_mul(&l->body.I, l->w));
        p = mor_add(p, f);
        L = mor_add(L, mor_add(n, mor_cross(mor_sub(l->p, point), f)));
    }
    memcpy(momentum, (double[6]){ p.x, p.y, p.z, L.x, L.y, L.z }, 6 * sizeof(double));
}

double mor_robot_kinetic_energy(const mor_robot_model* m, const mor_robot_work* work)
{
    double sum = 0.0;
    int offset = mor_robot_offset(m);
    if (work->summary.known) return work->summary.kinetic;
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        const mor_rigid* B = &l->body;
        mor_vec3 Iw = mor_sym3_mul(&B->I, l->w);
        sum += 0.5 * B->m * mor_dot(l->v, l->v) + mor_dot(l->v, mor_cross(l->w, B->c)) + 0.5 * mor_dot(l->w, Iw);
        if (i == 0) continue;
        int joint = m->constants[i].dof - offset;
        sum += 0.5 * m->reflected[joint] * work->joint[i] * work->joint[i];
        for (int k = 0; m->coupling && k < m->joint_count; k++)
            sum += 0.5 * work->joint[i] * m->coupling[joint * m->joint_count + k] * work->joint[m->link_of_joint[k]];
    }
    return sum;
}

double mor_robot_potential_energy(const mor_robot_model* m, const mor_robot_work* work, mor_vec3 gravity)
{
    return -m->mass * mor_dot(gravity, mor_robot_com(m, work));
}
