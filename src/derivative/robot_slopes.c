/* V and the end of a robot's step by its state and by nu+ (slopes.h), in closed form.
 *
 * The step of a robot (model/robots.c, robot_motion.c) is, with a = (V - nu)/h and ID inverse dynamics,
 *
 *     ID(q, nu_m, a) + h (drag + gain) a = tau(q, nu) - drag nu + J'(contacts, applied forces)/h
 *     nu_m = nu + h/2 b,    ID_0(q, nu, b) + h (drag + gain) b = 0     (without gravity; nu_m = nu where it is slow)
 *
 * so that with A = M + h (drag + gain), which is factored, A da = -ID_q dq - ID_nu dnu_m + dtau - ..., dV = dnu + h da.
 *
 * The end: q+ = q (+) h nu+, and the velocity of a floating base is that of the momentum P = M_b nu+ + h b_b, moved to
 * the centre of mass of q+:
 *
 *     M_b(q+) nu_end = (P_f + h m g, P_n - r x P_f + r+ x (P_f + h m g)),     r: from the base to the centre of mass.
 *
 * Where the step also takes energy out of the robot this does not hold, and *done becomes false. */
#include "derivative/inverse.h"
#include "derivative/robot_end.h"
#include "derivative/slopes.h"

#include "base/elementary.h"
#include "control/control.h"
#include "linalg/dense.h"
#include "moreau/state.h"

#include <string.h>

#define FAST 0.01 /* as in model/robot_motion.c */

double mor_robot_half_turn(const mor_robot* r, double h)
{
    double fastest = 0.0;
    for (int i = 0; i < r->model->link_count; i++) {
        mor_vec3 w = r->work->states[i].w;
        fastest = mor_max(fastest, mor_dot(w, w));
        if (r->model->constants[i].prismatic) fastest = mor_max(fastest, fabs(r->work->joint[i]) * mor_norm(w));
    }
    return 0.5 * h * sqrt(fastest);
}

bool mor_robot_slopes_possible(const mor_derivation* d, const mor_robot* r, bool loaded)
{
    if (r->model->balls || r->dynamics.update || r->looped) return false;
    if (!loaded) return !r->touched;
    return r->factored && mor_robot_half_turn(r, d->base->w->h) <= FAST;
}

/* C += factor A B, A rows x N, B N x columns, C rows x columns. */
static void multiply_add(int rows, int N, int columns, double factor, const double* A, const double* B, double* C)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < N; k++) {
            double a = factor * A[(size_t)i * N + k];
            if (a == 0.0) continue;
            for (int j = 0; j < columns; j++) C[(size_t)i * columns + j] += a * B[(size_t)k * columns + j];
        }
}

/* [by q, by nu] of nu_m beyond nu: h/2 db, N x 2 N; NULL: nu_m = nu. */
static mor_code middle_slopes(mor_derivation* d, const mor_robot* r, double** out)
{
    const mor_robot_model* m = r->model;
    double h = d->base->w->h;
    size_t N = (size_t)m->dof;
    *out = NULL;
    if (2.0 * mor_robot_half_turn(r, h) < MOR_ROBOT_SLOW) return MOR_OK;
    double *b = mor_arena_alloc(d->arena, N * sizeof *b), *by_q = mor_arena_alloc(d->arena, 2 * N * N * sizeof *b);
    double *all = mor_arena_alloc(d->arena, 2 * N * N * sizeof *b), *x = mor_arena_alloc(d->arena, N * sizeof *b);
    if (!b || !by_q || !all || !x) return MOR_SYSTEM;
    for (size_t i = 0; i < N; i++) b[i] = 2.0 * (r->middle[i] - r->nu[i]) / h;
    mor_inverse of = { m, r->work->states, { 0, 0, 0 }, r->nu, b, NULL };
    if (!mor_inverse_slopes(&of, d->arena, by_q, by_q + N * N)) return MOR_SYSTEM;
    for (size_t k = 0; k < 2 * N; k++) {
        for (size_t i = 0; i < N; i++) x[i] = -0.5 * h * by_q[(k / N) * N * N + i * N + k % N];
        mor_robot_factor_solve(m, r->dense, x);
        for (size_t i = 0; i < N; i++) all[i * 2 * N + k] = x[i];
    }
    *out = all;
    return MOR_OK;
}

/* factor [ID_q, ID_nu] (rows x 2 N, of N x N each) with nu_m as a function of q and nu. */
static void chain(int rows, int N, const double* by_q, const double* by_nu, const double* middle, double factor,
                  double* out)
{
    for (int i = 0; i < rows; i++, out += 2 * N, by_q += N, by_nu += N) {
        for (int k = 0; k < N; k++) out[k] = factor * by_q[k];
        for (int k = 0; k < N; k++) out[N + k] = factor * by_nu[k];
        if (middle) multiply_add(1, N, 2 * N, factor, by_nu, middle, out);
    }
}

/* What controllers add to V of the joints, n x 2 N: h (dtau - h a dgain), a of the joints. */
static mor_code add_control(mor_derivation* d, const mor_slopes* s, const mor_robot* r, mor_inverse_room* at,
                            const double* a, double* V, bool* done)
{
    size_t mark = mor_arena_mark(d->arena), N = (size_t)r->model->dof, n = (size_t)r->model->joint_count;
    size_t offset = N - n, numbers = n * 2 * N;
    int robot = (int)(d->base->w->bodies[r->bodies[0]].robot - 1);
    double h = d->base->w->h;
    mor_law_slopes laws;
    mor_code code = mor_joint_laws(d, s, robot, &laws, done);
    if (code || !*done) return code;
    double* room = mor_arena_alloc(d->arena, ((laws.joints ? n * N : 2 * numbers) + 1) * sizeof *room);
    if (!room) return MOR_SYSTEM;
    if (laws.gravity && laws.joints) code = mor_gravity_slopes(d, s, r, at, room);
    for (size_t j = 0; j < n && laws.joints && !code; j++) {
        double *row = V + j * 2 * N, by = h * laws.tau_g[j], g = -h * a[j];
        for (size_t k = 0; k < N && laws.gravity; k++) row[k] += by * room[j * N + k];
        row[offset + j] += h * (laws.tau_q[j] + g * laws.gain_q[j]);
        row[N + offset + j] += h * (laws.tau_v[j] + g * laws.gain_v[j]);
    }
    if (!laws.joints) code = mor_control_slopes(d, s, robot, room, room + numbers, done);
    for (size_t i = 0; i < numbers && !laws.joints && !code && *done; i++)
        V[i] += h * (room[i] - h * a[i / (2 * N)] * room[numbers + i]);
    mor_arena_release(d->arena, mark);
    return code;
}

/* Applied forces on links keep their direction while the links turn: -J'(S x f). */
static void add_applied(const mor_derivation* d, const mor_robot* r, double* out)
{
    const mor_world* w = d->base->w;
    const mor_robot_model* m = r->model;
    int N = m->dof;
    double* row = r->wrenches; /* scratch */
    for (int i = 0; w->forced && i < m->link_count; i++) {
        if (r->bodies[i] < 0 || (i == 0 && !m->floating)) continue;
        const mor_body* b = &w->bodies[r->bodies[i]];
        const mor_tree* t = &w->trees[r->tree];
        if (mor_norm(b->force) == 0.0 && mor_norm(b->torque) == 0.0) continue;
        for (int k = 0; k < N; k++) {
            mor_vec3 turn;
            double spin[3];
            for (int e = 0; e < 3; e++) {
                t->kind->spin(t, b, mor_v3(e == 0, e == 1, e == 2), 1.0, row);
                spin[e] = row[k];
            }
            turn = mor_v3(spin[0], spin[1], spin[2]);
            mor_vec3 f = mor_cross(turn, b->force), n = mor_cross(turn, b->torque);
            t->kind->row(t, b, mor_v3(0, 0, 0), f, -w->h, row);
            for (int j = 0; j < N; j++) out[(size_t)j * 2 * N + k] += row[j];
            t->kind->spin(t, b, n, -w->h, row);
            for (int j = 0; j < N; j++) out[(size_t)j * 2 * N + k] += row[j];
        }
    }
}

/* Forces on links that move along with them: contacts and applied ones. */
void mor_robot_link_forces(const mor_derivation* d, const mor_robot* r, double* wrenches)
{
    const mor_world* w = d->base->w;
    for (int i = 0; w->forced && i < r->model->link_count; i++) {
        if (r->bodies[i] < 0 || (i == 0 && !r->model->floating)) continue;
        const mor_body* b = &w->bodies[r->bodies[i]];
        mor_vec3 n = mor_add(b->torque, mor_cross(mor_sub(b->x, r->work->states[i].p), b->force));
        double* to = wrenches + 6 * i;
        to[0] += b->force.x, to[1] += b->force.y, to[2] += b->force.z, to[3] += n.x, to[4] += n.y, to[5] += n.z;
    }
}

mor_code mor_robot_slopes(mor_derivation* d, const mor_slopes* s, int tree, mor_tree_slopes* t, bool* done)
{
    const mor_world* w = d->base->w;
    const mor_robot* r = w->trees[tree].robot;
    const mor_robot_model* m = r->model;
    double h = w->h, *middle;
    size_t N = (size_t)m->dof, offset = N - (size_t)m->joint_count;
    const double* nu = d->nu + w->trees[tree].offset;
    double* slopes = mor_arena_alloc(d->arena, 2 * N * N * sizeof *slopes);
    double* a = mor_arena_alloc(d->arena, N * sizeof *a);
    t->V = mor_arena_alloc(d->arena, 2 * N * N * sizeof *t->V);
    t->end_z = mor_arena_zero(d->arena, 12 * N, sizeof *t->end_z);
    t->end_v = mor_arena_zero(d->arena, 6 * N, sizeof *t->end_v);
    if (!slopes || !a || !t->V || !t->end_z || !t->end_v) return MOR_SYSTEM;
    for (size_t i = 0; i < N; i++) a[i] = (nu[i] - r->nu[i]) / h;
    mor_robot_link_forces(d, r, t->wrenches);
    mor_inverse of = { m, r->work->states, w->gravity, r->middle, a, t->wrenches };
    mor_inverse_room* room = mor_inverse_begin(&of, d->arena);
    if (!room) return MOR_SYSTEM;
    mor_inverse_matrices(room, true, slopes, slopes + N * N);
    mor_code code = middle_slopes(d, r, &middle);
    if (code) return code;
    chain(m->dof, m->dof, slopes, slopes + N * N, middle, -h, t->V);
    code = add_control(d, s, r, room, a + offset, t->V + offset * 2 * N, done);
    if (code || !*done) return code;
    for (size_t j = offset; j < N; j++) t->V[j * 2 * N + N + j] -= h * r->drag[j - offset];
    add_applied(d, r, t->V);
    if (m->floating) { /* base rows of P = M_b nu+ + h b_b by the state, for the end */
        for (size_t i = 0; i < N; i++) a[i] = nu[i] / h;
        mor_inverse_again(room, true, w->gravity, a, NULL);
        mor_inverse_base(room, true, slopes, NULL); /* by nu as before */
        chain(6, m->dof, slopes, slopes + N * N, middle, h, t->end_z);
        for (size_t i = 0; i < 6 * N; i++) t->end_v[i] = r->mass[i];
    }
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------------------- end */

/* Left Jacobian of the rotation vector x: exp(x + dx) = exp(J dx) exp(x). */
static mor_mat3 left_jacobian(mor_vec3 x)
{
    double a = mor_norm(x), p, q;
    if (a < 1e-4) p = 0.5 - a * a / 24.0, q = 1.0 / 6.0 - a * a / 120.0;
    else p = (1.0 - mor_cos(a)) / (a * a), q = (a - mor_sin(a)) / (a * a * a);
    mor_mat3 J;
    for (int k = 0; k < 3; k++) {
        mor_vec3 e = mor_v3(k == 0, k == 1, k == 2), c = mor_cross(x, e), cc = mor_cross(x, c);
        mor_vec3 column = mor_madd(mor_madd(e, p, c), q, cc);
        for (int i = 0; i < 3; i++) J.m[i][k] = mor_axis(column, i);
    }
    return J;
}

/* What the momentum of the step becomes at q+ when it is (f, n) about the base at q; r, r+ to the centre of mass. */
static void move_momentum(const double P[6], mor_vec3 r, mor_vec3 r_after, mor_vec3 weight, double out[6])
{
    mor_vec3 f = mor_v3(P[0], P[1], P[2]), p = mor_add(f, weight);
    mor_vec3 n = mor_add(mor_sub(mor_v3(P[3], P[4], P[5]), mor_cross(r, f)), mor_cross(r_after, p));
    memcpy(out, (double[6]){ p.x, p.y, p.z, n.x, n.y, n.z }, 6 * sizeof(double));
}

/* A change of q+: of number `from` by one, or of three of them by x. */
typedef struct moved {
    int from, count;
    double x[3];
} moved;

/* Base velocity by a change of number `dq` of the state (-1: none), of P (6), of q+, and of number `dnu` of nu+. */
static void solve_base(const mor_base_end* b, int dq, const double* dP, const moved* after, int dnu, double* out)
{
    int N = b->r->model->dof;
    double m = b->r->model->mass, d[3], d_after[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        d[i] = dq >= 0 ? b->M[i * N + dq] / m - (i == dq) : 0.0;
        for (int k = 0; k < after->count; k++)
            d_after[i] += (b->M_after[i * N + after->from + k] / m - (i == after->from + k)) * after->x[k];
    }
    mor_vec3 f = mor_v3(b->P[0], b->P[1], b->P[2]), p = mor_add(f, b->weight);
    move_momentum(dP, b->arm, b->arm_after, mor_v3(0, 0, 0), out);
    mor_vec3 more =
        mor_sub(mor_cross(mor_v3(d_after[0], d_after[1], d_after[2]), p), mor_cross(mor_v3(d[0], d[1], d[2]), f));
    out[3] += more.x, out[4] += more.y, out[5] += more.z;
    for (int i = 0; i < 6; i++) {
        if (dnu >= 6) out[i] -= b->M_after[i * N + dnu];
        for (int k = 0; k < after->count; k++) out[i] -= b->turned[i * N + after->from + k] * after->x[k];
    }
    mor_cholesky6_solve(b->L, out);
}

/* Was it the momentum that set the velocity of the end? */
static bool as_expected(const mor_base_end* b)
{
    int N = b->r->model->dof;
    double want[6], worst = 0.0, size = 0.0;
    move_momentum(b->P, b->arm, b->arm_after, b->weight, want);
    for (int i = 0; i < 6; i++) {
        double is = 0.0;
        for (int k = 0; k < N; k++) is += b->M_after[i * N + k] * b->after->nu[k];
        worst = mor_max(worst, fabs(is - want[i]));
        size = mor_max(size, fabs(want[i]));
    }
    return worst <= 1e-8 * mor_max(size, b->r->model->mass);
}

/* q+ by number k of q or of h nu+; the rotation of the base by a matrix. */
static moved move_by(int k, double by, const mor_mat3* turn)
{
    if (k < 3 || k >= 6) return (moved){ k, 1, { by } };
    return (moved){ 3, 3, { turn->m[0][k - 3], turn->m[1][k - 3], turn->m[2][k - 3] } };
}

/* By the state and by nu+: t->end_z and end_v hold the change of P on entry. */
static void base_slopes(const mor_derivation* d, const mor_base_end* b, mor_tree_slopes* t)
{
    int N = b->r->model->dof;
    double P[6], out[6];
    for (int k = 0; k < 2 * N; k++) {
        moved after = k < N ? move_by(k, 1.0, &t->turn) : (moved){ 0 };
        for (int i = 0; i < 6; i++) P[i] = t->end_z[i * 2 * N + k];
        solve_base(b, k < N ? k : -1, P, &after, -1, out);
        for (int i = 0; i < 6; i++) t->end_z[i * 2 * N + k] = out[i];
    }
    for (int k = 0; k < N; k++) {
        moved after = move_by(k, d->base->w->h, &t->turn_by);
        for (int i = 0; i < 6; i++) P[i] = t->end_v[i * N + k];
        solve_base(b, -1, P, &after, k, out);
        for (int i = 0; i < 6; i++) t->end_v[i * N + k] = out[i];
    }
}

/* The robot in the step that follows, if it is where this step moves it to. */
static const mor_robot* follower(const mor_derivation* d, int tree, const double* nu)
{
    if (!d->after) return NULL;
    const mor_robot *r = d->base->w->trees[tree].robot, *after = d->after->w->trees[tree].robot;
    int n = r->model->joint_count, offset = r->model->dof - n;
    double h = d->base->w->h, off = 0.0;
    if (!after->factored || after->model != r->model) return NULL;
    for (int j = 0; j < n; j++) off = mor_max(off, fabs(after->s[j] - r->s[j] - h * nu[offset + j]));
    if (offset) {
        mor_vec3 moved = mor_madd(r->base.position, h, mor_v3(nu[0], nu[1], nu[2]));
        off = mor_max(off, mor_norm(mor_sub(after->base.position, moved)));
    }
    return off <= 1e-9 ? after : NULL;
}

mor_code mor_robot_end(mor_derivation* d, int tree, mor_base_end* b, bool* done)
{
    mor_world* w = d->base->w;
    const mor_tree* of = &w->trees[tree];
    mor_robot* r = of->robot;
    const mor_robot_model* m = r->model;
    size_t N = (size_t)m->dof;
    const double* nu = d->nu + of->offset;
    double* after;
    const double* M = r->mass;
    *b = (mor_base_end){ .r = r, .M = M };
    if (m->floating) {
        b->arm = mor_scale(1.0 / m->mass, mor_v3(M[N + 5], -M[5], M[4])); /* f = m (v + w x arm) */
        b->weight = mor_scale(w->h * m->mass, w->gravity);
        for (int i = 0; i < 6; i++) {
            b->P[i] = w->h * r->bias[i];
            for (size_t k = 0; k < N; k++) b->P[i] += M[(size_t)i * N + k] * nu[k];
        }
        mor_vec3 turn = mor_scale(w->h, mor_v3(nu[3], nu[4], nu[5]));
        b->turn = mor_quat_matrix(mor_quat_exp(turn));
        b->turn_by = left_jacobian(turn);
        for (int i = 0; i < 9; i++) b->turn_by.m[i / 3][i % 3] *= w->h;
    }
    b->after = follower(d, tree, nu);
    mor_code code = b->after || d->advanced ? MOR_OK : mor_slopes_advance(d);
    if (code) return code;
    const mor_robot* end = b->after ? b->after : r;
    for (size_t k = N - (size_t)m->joint_count; k < N && *done; k++) *done = fabs(end->nu[k] - nu[k]) <= 1e-9;
    if (!*done || !m->floating) return MOR_OK;
    if (b->after) b->M_after = end->mass;
    else if (!(after = mor_arena_alloc(d->arena, N * N * sizeof *after))) return MOR_SYSTEM;
    else mor_robot_mass_matrix(m, r->work, after), b->M_after = after;
    b->after = end;
    b->arm_after = mor_sub(mor_robot_com(m, end->work), end->base.position);
    double six[36];
    for (int i = 0; i < 36; i++) six[i] = b->M_after[(size_t)(i / 6) * N + i % 6];
    *done = mor_cholesky6(six, b->L) && as_expected(b);
    return MOR_OK;
}

mor_code mor_robot_end_slopes(mor_derivation* d, int tree, mor_tree_slopes* t, bool* done)
{
    mor_base_end b;
    mor_code code = mor_robot_end(d, tree, &b, done);
    const mor_robot_model* m = b.r->model;
    if (code || !*done || !m->floating) return code;
    size_t N = (size_t)m->dof;
    double* turned = mor_arena_alloc(d->arena, 6 * N * sizeof *turned);
    mor_inverse momentum = { m, b.after->work->states, { 0, 0, 0 }, NULL, b.after->nu, NULL };
    const mor_inverse_room* room = mor_inverse_begin(&momentum, d->arena);
    if (!turned || !room) return MOR_SYSTEM;
    mor_inverse_base(room, false, turned, NULL);
    t->turn = b.turn, t->turn_by = b.turn_by;
    b.turned = turned;
    base_slopes(d, &b, t);
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- moving freely */

static mor_code try_step(mor_derivation* d, int tree, int direction, double by, double* V, mor_look* end,
                         mor_error* error)
{
    mor_world* w = d->trial->w;
    mor_code code = mor_look_begin(d);
    size_t mark = mor_arena_mark(d->arena);
    if (!code && !mor_perturb(d, direction, by)) code = MOR_SYSTEM;
    mor_arena_release(d->arena, mark);
    if (code) return code;
    mor_control_begin(w, NULL);
    mor_tree t = w->trees[tree];
    t.share = 1.0, t.move = NULL;
    t.robot->touched = d->base->w->trees[tree].robot->touched; /* also by a contact that bears nothing */
    double* nu = mor_arena_alloc(d->arena, (size_t)t.dof * sizeof *nu);
    double* after = mor_arena_alloc(d->arena, (size_t)t.dof * sizeof *after);
    if (!nu || !after) return MOR_SYSTEM;
    t.kind->prepare(w, &t, nu, V, NULL, NULL);
    memcpy(after, V, (size_t)t.dof * sizeof *after);
    t.kind->advance(w, &t, V, after, NULL);
    mor_arena_release(d->arena, mark);
    code = mor_world_get_q(w, end->q, mor_world_q_count(w), error);
    if (!code) code = mor_world_get_nu(w, end->nu, d->n, error);
    return code;
}

mor_code mor_robot_local_slopes(mor_derivation* d, int tree, mor_tree_slopes* t, mor_error* error)
{
    int N = d->base->w->trees[tree].dof;
    mor_look a, b;
    double* room = mor_arena_alloc(d->arena, (size_t)(2 * N + 2 * d->n + 1) * sizeof *room);
    t->local = true;
    t->V = mor_arena_zero(d->arena, 2 * (size_t)N * (size_t)N + 1, sizeof *t->V);
    t->end_z = mor_arena_zero(d->arena, 4 * (size_t)N * (size_t)N + 1, sizeof *t->end_z);
    if (!room || !t->V || !t->end_z || !mor_look_create(d, &a) || !mor_look_create(d, &b)) return MOR_SYSTEM;
    double *up = room, *down = room + N, *end = room + 2 * N;
    for (int k = 0; k < 2 * N; k++) {
        int direction = k < N ? t->first + k : d->n + t->first + k - N;
        double by = mor_perturbation(d, direction);
        mor_code code = try_step(d, tree, direction, by, up, &a, error);
        if (!code) code = try_step(d, tree, direction, -by, down, &b, error);
        if (code) return code;
        mor_look_difference(d, &a, &b, 2.0 * by, end);
        for (int i = 0; i < N; i++) {
            t->V[i * 2 * N + k] = (up[i] - down[i]) / (2.0 * by);
            t->end_z[i * 2 * N + k] = end[t->first + i];
            t->end_z[(N + i) * 2 * N + k] = end[d->n + t->first + i];
        }
    }
    return mor_look_begin(d);
}
