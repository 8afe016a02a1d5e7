/* Weights of a robot's end pulled back to its state, its impulses and nu+ (pull.h): the equations of robot_slopes.c
 * transposed. Inverse dynamics enter as y' ID_q and y' ID_nu, which cost as much as links (inverse.h).
 *
 * With b = L^-1 of the weights of the base's velocity, P the momentum, r and r+ the arms to the centre of mass:
 *
 *     weights of P      (b_f + b_n x (r+ - r), b_n)
 *     weights of r, r+  -P_f x b_n,  (P_f + h m g) x b_n;    of q+ beyond r+: -b' M_b(q+) nu_end by q+ */
#include "derivative/inverse.h"
#include "derivative/pull.h"
#include "derivative/robot_end.h"
#include "derivative/slopes.h"

#include "base/elementary.h"
#include "linalg/dense.h"

#include <string.h>

static mor_vec3 three(const double* x) { return mor_v3(x[0], x[1], x[2]); }

static void add_three(mor_vec3 v, double* to) { to[0] += v.x, to[1] += v.y, to[2] += v.z; }

/* The base's velocity: weights of P, which are handed on, and of q+ (N). */
static mor_code pull_base(mor_derivation* d, const mor_base_end* b, const double* weights, double P[6], double* after,
                          double* state, double* nu)
{
    const mor_robot_model* m = b->r->model;
    int N = m->dof;
    double beta[6];
    memcpy(beta, weights, sizeof beta);
    mor_cholesky6_solve(b->L, beta);
    mor_vec3 n = three(beta + 3), f = three(b->P);
    mor_vec3 wf = mor_add(three(beta), mor_cross(n, mor_sub(b->arm_after, b->arm)));
    mor_vec3 arm = mor_neg(mor_cross(f, n)), arm_after = mor_cross(mor_add(f, b->weight), n);
    memcpy(P, (double[6]){ wf.x, wf.y, wf.z, n.x, n.y, n.z }, 6 * sizeof *P);
    double *y = mor_arena_zero(d->arena, (size_t)N, sizeof *y), by = 1.0 / m->mass;
    if (!y) return MOR_SYSTEM;
    memcpy(y, beta, sizeof beta);
    mor_inverse momentum = { m, b->after->work->states, { 0, 0, 0 }, NULL, b->after->nu, NULL };
    if (!mor_inverse_pull(&momentum, d->arena, y, -1.0, after, NULL)) return MOR_SYSTEM;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < 6; i++) {
            nu[k] += P[i] * b->M[i * N + k];
            if (k >= 6) nu[k] -= beta[i] * b->M_after[i * N + k];
            if (i >= 3) continue;
            state[k] += mor_axis(arm, i) * (by * b->M[i * N + k] - (i == k));
            after[k] += mor_axis(arm_after, i) * (by * b->M_after[i * N + k] - (i == k));
        }
    return MOR_OK;
}

mor_code mor_robot_end_pull(mor_derivation* d, int tree, mor_weights* w, bool* done)
{
    const mor_tree* t = &d->base->w->trees[tree];
    const mor_robot_model* m = t->robot->model;
    int N = m->dof, offset = N - m->joint_count, first = 0;
    double h = d->base->w->h;
    while (d->tree[first] != tree) first++;
    mor_base_end b;
    mor_code code = mor_robot_end(d, tree, &b, done);
    double* after = mor_arena_alloc(d->arena, (size_t)(N + 6) * sizeof *after); /* of q+; then of P */
    if (code || !after) return code ? code : MOR_SYSTEM;
    if (!*done) return MOR_OK;
    double *state = w->state + first, *nu = w->V + t->offset;
    const double *q = w->end + first, *v = w->end + d->n + first;
    memcpy(after, q, (size_t)N * sizeof *after);
    for (int k = offset; k < N; k++) nu[k] += v[k];
    if (m->floating) code = pull_base(d, &b, v, after + N, after, state, nu);
    for (int k = 0; k < N && !code; k++) {
        if (m->floating && k >= 3 && k < 6) continue;
        state[k] += after[k];
        nu[k] += h * after[k];
    }
    if (code || !m->floating) return code;
    add_three(mor_tmul(&b.turn, three(after + 3)), state + 3);
    add_three(mor_tmul(&b.turn_by, three(after + 3)), nu + 3);
    memcpy(w->momentum + 6 * tree, after + N, 6 * sizeof *after);
    return MOR_OK;
}

/* Applied forces on links keep their direction while the links turn. */
static void pull_applied(const mor_derivation* d, const mor_robot* r, const double* y, double* state)
{
    const mor_world* w = d->base->w;
    const mor_tree* t = &w->trees[r->tree];
    int N = r->model->dof;
    for (int i = 0; w->forced && i < r->model->link_count; i++) {
        if (r->bodies[i] < 0 || (i == 0 && !r->model->floating)) continue;
        const mor_body* b = &w->bodies[r->bodies[i]];
        if (mor_norm(b->force) == 0.0 && mor_norm(b->torque) == 0.0) continue;
        double *row = r->wrenches, v[3] = { 0 }, spin[3] = { 0 }; /* scratch; the motion of the body with y */
        for (int e = 0; e < 3; e++) {
            t->kind->row(t, b, mor_v3(0, 0, 0), mor_v3(e == 0, e == 1, e == 2), 1.0, row);
            for (int k = 0; k < N; k++) v[e] += row[k] * y[k];
            t->kind->spin(t, b, mor_v3(e == 0, e == 1, e == 2), 1.0, row);
            for (int k = 0; k < N; k++) spin[e] += row[k] * y[k];
        }
        mor_vec3 turn = mor_add(mor_cross(b->force, three(v)), mor_cross(b->torque, three(spin)));
        t->kind->spin(t, b, turn, -w->h, row);
        for (int k = 0; k < N; k++) state[k] += row[k];
    }
}

/* Laws of joints, or other controllers, with the weights y of joint forces times h. */
static mor_code pull_control(mor_derivation* d, const mor_slopes* s, const mor_robot* r, const double* y,
                             const double* a, double* by_q, double* by_nu, bool* done)
{
    const mor_world* w = d->base->w;
    int robot = (int)(w->bodies[r->bodies[0]].robot - 1), n = r->model->joint_count, N = r->model->dof, offset = N - n;
    double h = w->h, *weight = mor_arena_alloc(d->arena, (size_t)(n + 1) * sizeof *weight);
    mor_law_slopes laws;
    if (!weight) return MOR_SYSTEM;
    mor_code code = mor_joint_laws(d, s, robot, &laws, done);
    if (code || !*done) return code;
    for (int j = 0; j < n && laws.joints; j++) {
        double f = h * y[offset + j], g = -h * a[offset + j];
        by_q[offset + j] += f * (laws.tau_q[j] + g * laws.gain_q[j]);
        by_nu[offset + j] += f * (laws.tau_v[j] + g * laws.gain_v[j]);
        weight[j] = f * laws.tau_g[j];
    }
    if (laws.joints) return laws.gravity ? mor_gravity_pull(d, s, r, weight, by_q) : MOR_OK;
    size_t numbers = (size_t)n * 2 * (size_t)N;
    double *tau = mor_arena_alloc(d->arena, (2 * numbers + 1) * sizeof *tau), *gain = tau + numbers;
    if (!tau) return MOR_SYSTEM;
    code = mor_control_slopes(d, s, robot, tau, gain, done);
    for (int j = 0; j < n && !code; j++)
        for (int k = 0; k < 2 * N; k++) {
            size_t at = (size_t)j * 2 * (size_t)N + (size_t)k;
            *(k < N ? &by_q[k] : &by_nu[k - N]) += h * y[offset + j] * (tau[at] - h * a[offset + j] * gain[at]);
        }
    return code;
}

mor_code mor_robot_pull(mor_derivation* d, const mor_slopes* s, int tree, mor_tree_slopes* t, mor_weights* w,
                        bool* done)
{
    const mor_world* world = d->base->w;
    const mor_tree* of = &world->trees[tree];
    const mor_robot* r = of->robot;
    const mor_robot_model* m = r->model;
    double h = world->h, *y = w->impulse + of->offset, *state = w->state + t->first, *by_nu = state + d->n;
    size_t N = (size_t)m->dof, n = (size_t)m->joint_count, offset = N - n;
    const double* nu = d->nu + of->offset;
    double *a = mor_arena_alloc(d->arena, N * sizeof *a), *middle = mor_arena_zero(d->arena, 2 * N, sizeof *a);
    if (!a || !middle) return MOR_SYSTEM;
    for (size_t i = 0; i < N; i++) a[i] = (nu[i] - r->nu[i]) / h;
    mor_code code = pull_control(d, s, r, y, a, state, by_nu, done);
    if (code || !*done) return code;
    mor_robot_link_forces(d, r, t->wrenches);
    mor_inverse of_V = { m, r->work->states, world->gravity, r->middle, a, t->wrenches };
    if (!mor_inverse_pull(&of_V, d->arena, y, -h, state, middle)) return MOR_SYSTEM;
    for (size_t j = 0; j < n; j++) by_nu[offset + j] -= h * r->drag[j] * y[offset + j];
    pull_applied(d, r, y, state);
    for (size_t i = 0; i < N; i++) by_nu[i] += w->V[of->offset + (int)i];
    double* P = middle + N;
    if (m->floating) {
        for (size_t i = 0; i < N; i++) a[i] = nu[i] / h;
        memcpy(P, w->momentum + 6 * tree, 6 * sizeof *P);
        of_V.wrenches = NULL;
        if (!mor_inverse_pull(&of_V, d->arena, P, h, state, middle)) return MOR_SYSTEM;
    }
    for (size_t i = 0; i < N; i++) by_nu[i] += middle[i];
    if (2.0 * mor_robot_half_turn(r, h) < MOR_ROBOT_SLOW) return MOR_OK;
    mor_robot_factor_solve(m, r->dense, middle); /* nu_m = nu + h/2 b, and b depends on the state */
    for (size_t i = 0; i < N; i++) a[i] = 2.0 * (r->middle[i] - r->nu[i]) / h;
    mor_inverse of_b = { m, r->work->states, { 0, 0, 0 }, r->nu, a, NULL };
    return mor_inverse_pull(&of_b, d->arena, middle, -0.5 * h, state, by_nu) ? MOR_OK : MOR_SYSTEM;
}
