/* Robot models: making, asking, and the kinematic sweep from the base to the tips.
 *
 * Positions: with the joint frame (R_J, r_J) seen from the parent p, axis a in link axes and joint
 * position s,
 *
 *     revolute   R = R_p R_J exp(s a),   r = R_p r_J              o = o_p + r
 *     prismatic  R = R_p R_J,            r = R_p r_J + s R a
 *
 * Velocities: w = w_p + a s' (revolute), v = v_p + w_p x r + a s' (prismatic). What is left of the
 * accelerations at s'' = 0, beyond v'_p + w'_p x r and w'_p:
 *
 *     bias_v = w_p x (w_p x r) + 2 w_p x a s'   (the last term prismatic only)
 *     bias_w = w_p x a s'                       (revolute only)
 *
 * R. Featherstone (2008), Rigid Body Dynamics Algorithms, ch. 4; F. Nori et al. (2015) for the mixed
 * representation of the base velocity. */
#include "base/elementary.h"
#include "model/articulated.h"

#include "base/copy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

mor_link_def mor_link_def_default(void)
{
    return (mor_link_def){ .parent = -1,
                           .pose = { { 0, 0, 0 }, { 1, 0, 0, 0 } },
                           .axis = { 1, 0, 0 },
                           .lower = -INFINITY,
                           .upper = INFINITY,
                           .effort = INFINITY,
                           .speed = INFINITY,
                           .mimic = -1,
                           .mimic_ratio = 1.0 };
}

static bool finite3(mor_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static bool finite_pose(const mor_pose* p)
{
    mor_quat q = p->rotation;
    double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return finite3(p->position) && isfinite(n) && n > 1e-12;
}

static mor_code check_link(const mor_link_def* l, int i, int n, const bool* taken, mor_error* error)
{
    if (i == 0 && l->parent != -1)
        return mor_fail(error, MOR_BAD_INPUT, "link 0 '%s' is the base and has no parent", l->name);
    if (i > 0 && (l->parent < 0 || l->parent >= i))
        return mor_fail(error, MOR_BAD_INPUT, "link %d '%s' has parent %d; parents come first", i, l->name, l->parent);
    if (!isfinite(l->mass.mass) || l->mass.mass < 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "link '%s' has mass %g; give a number of kg that is not negative",
                        l->name, l->mass.mass);
    bool finite = finite3(l->mass.com);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) finite = finite && isfinite(l->mass.inertia.m[r][c]);
    if (!finite) return mor_fail(error, MOR_BAD_INPUT, "the mass properties of link '%s' are not finite", l->name);
    if (i == 0) return MOR_OK;
    if (!finite_pose(&l->pose))
        return mor_fail(error, MOR_BAD_INPUT, "the pose of joint '%s' is not finite", l->joint_name);
    if (!finite3(l->axis) || !(mor_norm(l->axis) > 1e-12))
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' has no axis", l->joint_name);
    if (l->joint < 0 || l->joint >= n || taken[l->joint])
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' has number %d; joints number 0 to %d, each once",
                        l->joint_name, l->joint, n - 1);
    if (l->mimic >= n)
        return mor_fail(error, MOR_BAD_INPUT, "joint '%s' follows joint %d, which is not there", l->joint_name,
                        l->mimic);
    return MOR_OK;
}

/* Mass properties about the link's origin in link axes. */
static mor_rigid rigid_of(const mor_mass* mass)
{
    mor_sym3 I = mor_sym3_add(mor_sym3_from(&mass->inertia), mor_sym3_point(mass->mass, mass->com));
    return (mor_rigid){ mass->mass, mor_scale(mass->mass, mass->com), I };
}

static void fill_constants(mor_robot_model* m)
{
    int offset = mor_robot_offset(m);
    for (int k = 0; k < offset; k++) {
        m->lambda[k] = k - 1;
        m->sequence[k] = k;
    }
    for (int i = 0; i < m->link_count; i++) {
        mor_link_def* l = &m->links[i];
        mor_link_constant* c = &m->constants[i];
        m->mass += l->mass.mass;
        c->parent = l->parent;
        c->body = rigid_of(&l->mass);
        c->dof = -1;
        if (i == 0) continue;
        l->pose.rotation = mor_quat_normalize(l->pose.rotation);
        l->axis = mor_scale(1.0 / mor_norm(l->axis), l->axis);
        c->dof = offset + l->joint;
        c->prismatic = l->type == MOR_PRISMATIC;
        if (l->type == MOR_BALL) c->ball = 1 + m->constants[l->parent].ball % 3;
        m->balls = m->balls || c->ball;
        c->R = mor_quat_matrix(l->pose.rotation);
        c->r = l->pose.position;
        c->axis = l->axis;
        m->link_of_joint[l->joint] = i;
        m->lambda[c->dof] = l->parent > 0 ? m->constants[l->parent].dof : offset - 1;
        m->sequence[offset + i - 1] = c->dof;
    }
}

mor_robot_model* mor_robot_create(const mor_link_def* links, int link_count, const mor_frame_def* frames,
                                  int frame_count, bool floating, mor_error* error)
{
    assert(link_count >= 0 && frame_count >= 0);
    if (link_count == 0) {
        mor_fail(error, MOR_BAD_INPUT, "a robot has at least one link, its base");
        return NULL;
    }
    size_t n = (size_t)link_count - 1, dof = n + (floating ? 6 : 0);
    mor_robot_model* m = calloc(1, sizeof *m);
    bool* taken = calloc(n + 1, sizeof *taken);
    if (!m || !taken) goto no_memory;
    *m = (mor_robot_model){ .link_count = link_count,
                            .joint_count = (int)n,
                            .dof = (int)dof,
                            .frame_count = frame_count,
                            .floating = floating,
                            .references = 1 };
    m->links = malloc((size_t)link_count * sizeof *m->links);
    m->constants = calloc((size_t)link_count, sizeof *m->constants);
    m->frames = malloc(((size_t)frame_count + 1) * sizeof *m->frames);
    m->link_of_joint = calloc(n + 1, sizeof *m->link_of_joint);
    m->lambda = calloc(dof + 1, sizeof *m->lambda);
    m->sequence = calloc(dof + 1, sizeof *m->sequence);
    m->reflected = calloc(n + 1, sizeof *m->reflected);
    if (!m->links || !m->constants || !m->frames || !m->link_of_joint || !m->lambda || !m->sequence || !m->reflected)
        goto no_memory;
    for (int i = 0; i < link_count; i++) {
        if (check_link(&links[i], i, (int)n, taken, error) != MOR_OK) goto fail;
        if (i > 0) taken[links[i].joint] = true;
    }
    if (mor_ball_check(links, link_count, error) != MOR_OK) goto fail;
    for (int i = 0; i < frame_count; i++)
        if (frames[i].link < 0 || frames[i].link >= link_count || !finite_pose(&frames[i].pose)) {
            mor_fail(error, MOR_BAD_INPUT, "frame '%s' has no link or no finite pose", frames[i].name);
            goto fail;
        }
    memcpy(m->links, links, (size_t)link_count * sizeof *links);
    if (frame_count) memcpy(m->frames, frames, (size_t)frame_count * sizeof *frames);
    fill_constants(m);
    free(taken);
    return m;

no_memory:
    mor_fail(error, MOR_SYSTEM, "out of memory");
fail:
    free(taken);
    mor_robot_destroy(m);
    return NULL;
}

mor_robot_model* mor_robot_retain(mor_robot_model* m)
{
    m->references++;
    return m;
}

void mor_robot_destroy(mor_robot_model* m)
{
    if (!m || --m->references > 0) return;
    for (int i = 0; i < m->shape_count; i++) mor_geometry_release(m->shapes[i].geometry);
    free(m->links);
    free(m->constants);
    free(m->frames);
    free(m->shapes);
    free(m->link_of_joint);
    free(m->lambda);
    free(m->sequence);
    free(m->reflected);
    free(m->coupling);
    free(m);
}

mor_code mor_robot_add_shape(mor_robot_model* m, const mor_link_shape* shape, mor_error* error)
{
    assert(shape->link >= 0 && shape->link < m->link_count && shape->geometry);
    if (m->shape_count == m->shape_capacity) {
        int capacity = m->shape_capacity ? 2 * m->shape_capacity : 16;
        mor_link_shape* shapes = realloc(m->shapes, (size_t)capacity * sizeof *shapes);
        if (!shapes) return mor_fail(error, MOR_SYSTEM, "out of memory");
        m->shapes = shapes;
        m->shape_capacity = capacity;
    }
    m->shapes[m->shape_count] = *shape;
    mor_geometry_retain(shape->geometry);
    m->shape_count++;
    return MOR_OK;
}

int mor_robot_dof(const mor_robot_model* m) { return m->dof; }
int mor_robot_joint_count(const mor_robot_model* m) { return m->joint_count; }
int mor_robot_link_count(const mor_robot_model* m) { return m->link_count; }
int mor_robot_frame_count(const mor_robot_model* m) { return m->frame_count; }
int mor_robot_shape_count(const mor_robot_model* m) { return m->shape_count; }
bool mor_robot_floating(const mor_robot_model* m) { return m->floating; }
double mor_robot_mass(const mor_robot_model* m) { return m->mass; }

const mor_link_def* mor_robot_link(const mor_robot_model* m, int link)
{
    assert(link >= 0 && link < m->link_count);
    return &m->links[link];
}

int mor_robot_link_of_joint(const mor_robot_model* m, int joint)
{
    assert(joint >= 0 && joint < m->joint_count);
    return m->link_of_joint[joint];
}

const mor_frame_def* mor_robot_frame(const mor_robot_model* m, int frame)
{
    assert(frame >= 0 && frame < m->frame_count);
    return &m->frames[frame];
}

const mor_link_shape* mor_robot_shape(const mor_robot_model* m, int shape)
{
    assert(shape >= 0 && shape < m->shape_count);
    return &m->shapes[shape];
}

int mor_robot_find_frame(const mor_robot_model* m, const char* name)
{
    for (int i = 0; i < m->frame_count; i++)
        if (strcmp(m->frames[i].name, name) == 0) return i;
    return -1;
}

int mor_robot_find_joint(const mor_robot_model* m, const char* name)
{
    for (int i = 1; i < m->link_count; i++)
        if (strcmp(m->links[i].joint_name, name) == 0) return m->links[i].joint;
    return -1;
}

/* Whether joint j moves what carries joint i. */
static bool on_path(const mor_robot_model* m, int i, int j)
{
    int link = m->link_of_joint[i];
    while (link > 0 && link != m->link_of_joint[j]) link = m->links[link].parent;
    return link > 0;
}

mor_code mor_robot_set_reflected(mor_robot_model* m, const double* diagonal, const double* matrix, mor_error* error)
{
    int n = m->joint_count;
    for (int i = 0; diagonal && i < n; i++)
        if (!isfinite(diagonal[i]) || diagonal[i] < 0.0)
            return mor_fail(error, MOR_BAD_INPUT, "reflected inertia %g of joint '%s' is not a number at least 0",
                            diagonal[i], m->links[m->link_of_joint[i]].joint_name);
    for (int i = 0; matrix && i < n; i++)
        for (int j = 0; j <= i; j++)
            if (!isfinite(matrix[i * n + j]) || !(fabs(matrix[i * n + j] - matrix[j * n + i]) <=
                                                  1e-9 * (fabs(matrix[i * n + i]) + fabs(matrix[j * n + j]))))
                return mor_fail(error, MOR_BAD_INPUT, "the reflected inertia matrix is not symmetric at (%d, %d)",
                                i + 1, j + 1);
    double* coupling = NULL;
    if (matrix) {
        coupling = malloc(((size_t)n * (size_t)n + 1) * sizeof *coupling);
        if (!coupling) return mor_fail(error, MOR_SYSTEM, "out of memory");
        memcpy(coupling, matrix, (size_t)n * (size_t)n * sizeof *coupling);
    }
    for (int i = 0; i < n; i++) m->reflected[i] = diagonal ? diagonal[i] : 0.0;
    free(m->coupling);
    m->coupling = coupling;
    m->path_coupling = coupling != NULL;
    for (int i = 0; coupling && i < n; i++)
        for (int j = 0; j < n; j++)
            if (coupling[i * n + j] != 0.0 && !on_path(m, i, j) && !on_path(m, j, i)) m->path_coupling = false;
    return MOR_OK;
}

mor_robot_work* mor_robot_work_create(const mor_robot_model* m)
{
    size_t L = (size_t)m->link_count, N = (size_t)m->dof;
    mor_robot_work* w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->link_count = m->link_count;
    w->states = calloc(L, sizeof *w->states);
    w->factors = calloc(L, sizeof *w->factors);
    w->a = calloc(5 * L, sizeof *w->a);
    w->composite = calloc(L, sizeof *w->composite);
    w->joint = calloc(2 * L, sizeof *w->joint);
    w->vector = calloc(N + 1, sizeof *w->vector);
    if (m->coupling) w->dense = calloc(N * N + 1, sizeof *w->dense);
    if (!w->states || !w->factors || !w->a || !w->composite || !w->joint || !w->vector || (m->coupling && !w->dense)) {
        mor_robot_work_destroy(w);
        return NULL;
    }
    w->b = w->a + L;
    w->f = w->b + L;
    w->n = w->f + L;
    w->w = w->n + L;
    w->u = w->joint + L;
    return w;
}

void mor_robot_work_destroy(mor_robot_work* w)
{
    if (!w) return;
    free(w->spare ? w->spare : w->states);
    free(w->factors);
    free(w->a);
    free(w->composite);
    free(w->joint);
    free(w->vector);
    free(w->dense);
    free(w);
}

/* exp(s a): Rodrigues. */
static mor_mat3 rotation(mor_vec3 a, double s)
{
    double half_sine, half_cosine;
    mor_sincos(0.5 * s, &half_sine, &half_cosine);
    double sine = 2.0 * half_sine * half_cosine, one_cos = 2.0 * half_sine * half_sine, cosine = 1.0 - one_cos;
    double xy = one_cos * a.x * a.y, xz = one_cos * a.x * a.z, yz = one_cos * a.y * a.z;
    return (mor_mat3){ { { cosine + one_cos * a.x * a.x, xy - sine * a.z, xz + sine * a.y },
                         { xy + sine * a.z, cosine + one_cos * a.y * a.y, yz - sine * a.x },
                         { xz - sine * a.y, yz + sine * a.x, cosine + one_cos * a.z * a.z } } };
}

/* Before states are written. `keep`: some stay. */
static void own_states(const mor_robot_model* m, mor_robot_work* work, bool keep)
{
    work->summary.known = false;
    if (!work->spare) return;
    if (keep) memcpy(work->spare, work->states, (size_t)m->link_count * sizeof *work->states);
    work->states = work->spare;
    work->spare = NULL;
}

void mor_robot_update(const mor_robot_model* m, mor_robot_work* work, const mor_pose* base, const double* s,
                      const double* nu)
{
    own_states(m, work, false);
    int offset = mor_robot_offset(m);
    mor_link_state* b = &work->states[0];
    const mor_vec3 zero = { 0, 0, 0 };
    *b = (mor_link_state){ .R = mor_quat_matrix(mor_quat_normalize(base->rotation)), .p = base->position };
    if (m->floating && nu) {
        b->v = mor_v3(nu[0], nu[1], nu[2]);
        b->w = mor_v3(nu[3], nu[4], nu[5]);
    }
    b->body = (mor_rigid){ m->constants[0].body.m, mor_mul(&b->R, m->constants[0].body.c),
                           mor_sym3_rotate(&b->R, &m->constants[0].body.I) };
    for (int i = 1; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* p = &work->states[c->parent];
        mor_link_state* l = &work->states[i];
        double position = s[c->dof - offset], speed = nu ? nu[c->dof] : 0.0;
        if (c->ball) {
            mor_ball_update(m, work, i, s, nu);
            continue;
        }
        mor_mat3 R = mor_mat3_mul(&p->R, &c->R);
        l->r = mor_mul(&p->R, c->r);
        l->axis = mor_mul(&R, c->axis);
        mor_vec3 step = mor_scale(speed, l->axis), turn = mor_cross(p->w, step);
        if (c->prismatic) {
            l->R = R;
            l->r = mor_madd(l->r, position, l->axis);
            l->w = p->w;
            mor_vec3 wr = mor_cross(p->w, l->r);
            l->v = mor_add(mor_add(p->v, wr), step);
            l->bias_v = mor_madd(mor_cross(p->w, wr), 2.0, turn);
            l->bias_w = zero;
        } else {
            mor_mat3 J = rotation(c->axis, position);
            l->R = mor_mat3_mul(&R, &J);
            l->w = mor_add(p->w, step);
            mor_vec3 wr = mor_cross(p->w, l->r);
            l->v = mor_add(p->v, wr);
            l->bias_v = mor_cross(p->w, wr);
            l->bias_w = turn;
        }
        l->p = mor_add(p->p, l->r);
        l->body = (mor_rigid){ c->body.m, mor_mul(&l->R, c->body.c), mor_sym3_rotate(&l->R, &c->body.I) };
        work->joint[i] = speed;
    }
}

void mor_robot_velocities(const mor_robot_model* m, mor_robot_work* work, const double* nu)
{
    own_states(m, work, true);
    mor_link_state* b = &work->states[0];
    if (m->floating) {
        b->v = mor_v3(nu[0], nu[1], nu[2]);
        b->w = mor_v3(nu[3], nu[4], nu[5]);
    }
    for (int i = 1; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* p = &work->states[c->parent];
        mor_link_state* l = &work->states[i];
        if (c->ball) {
            mor_ball_velocities(m, work, i, nu);
            continue;
        }
        mor_vec3 step = mor_scale(nu[c->dof], l->axis), turn = mor_cross(p->w, step), wr = mor_cross(p->w, l->r);
        l->v = mor_add(p->v, wr);
        l->w = p->w;
        l->bias_v = mor_cross(p->w, wr);
        if (c->prismatic) {
            l->v = mor_add(l->v, step);
            l->bias_v = mor_madd(l->bias_v, 2.0, turn);
        } else {
            l->w = mor_add(l->w, step);
            l->bias_w = turn;
        }
        work->joint[i] = nu[c->dof];
    }
}

void mor_robot_copy_state(const mor_robot_model* m, const mor_robot_work* from, mor_robot_work* to)
{
    if (to->states != from->states) {
        own_states(m, to, false);
        mor_copy(to->states, from->states, (size_t)m->link_count * sizeof *to->states);
    }
    memcpy(to->joint, from->joint, (size_t)m->link_count * sizeof *to->joint);
    to->summary = from->summary;
}

void mor_robot_hand_state(const mor_robot_model* m, mor_robot_work* from, mor_robot_work* to)
{
    if (from->spare || to->spare) {
        mor_robot_copy_state(m, from, to);
        return;
    }
    from->spare = to->states;
    to->states = from->states;
    memcpy(to->joint, from->joint, (size_t)m->link_count * sizeof *to->joint);
    to->summary = from->summary;
}
