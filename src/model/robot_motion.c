/* The step of a tree in minimal coordinates keeps what mechanics keeps.
 *
 *     nu_free = nu + h M^-1 (f - b(q, nu_m)),    nu+ = nu_free + M^-1 G p,    q+ = q (+) h nu+
 *
 * with the velocity products b at nu_m = nu - h/2 M^-1 b_0(q, nu), the middle of the step as far as they alone change
 * nu (b_0: without gravity). That is the midpoint rule for gyroscopic forces, with one iteration where links turn
 * slowly and more where they turn fast; taken at nu they feed a fast rotor's nutation. M belongs to q, so nu+ at q+
 * has neither the momentum nor the energy it should have. Both are imposed:
 *
 *     momentum   P+ = P + h (gravity, applied forces) + impulses from outside, linear and about the centre of mass.
 *                What the base rows of the step say, P+ = M_b nu+ + h b_0b, is this sum.
 *     energy     T(q+) + V(q+) = T(q) + V(q) + W,    W = (nu + nu+)/2 . (impulses that are not gravity's)
 *
 * With C the tree's inertia about its centre of mass as if its joints were locked, the kinetic energy is a sum,
 *
 *     T = p^2/2m + L'C^-1 L/2 + T_i,
 *
 * and T_i is a quadratic form of the joint velocities alone. So the base's velocity is set by P+ and the joint
 * velocities are scaled by sqrt(T_i+/T_i) = 1 + O(h^2). Where T_i is too small for that (links that hardly move in
 * each other) and nothing touches, the tree is turned about its centre of mass as a free body is (model/turn.c). An
 * untouched floating tree is also moved so that its centre of mass goes h p/m.
 *
 * Untouched trees, and those of islands in which nothing but springs acts (formulation/springs.c), move with the mean
 * of nu and nu+, and nu+ gets half of what M and b of q+ leave of the forces: the mean of the accelerations at both
 * ends, of order 2. Trees with contacts, limits or implicit gains move with nu+, as those rows want it; their energy is
 * only kept from rising above what impulses bring in. Applied forces: by whichever of nu+ and the mean that is more.
 * Contacts and limits: p . G' nu+, which is not above 0 unless something moves them, they bounce or undo an overlap;
 * then less d' M d/2, d = nu+ - nu, as the step with constant M has it. Trees with loops
 * keep momentum only: the work of their equations is not known here, and what contacts leave them is seen to when their
 * loops are closed (step/robot_energy.c). */
#include "base/elementary.h"
#include "linalg/rows.h"
#include "model/robot_motion.h"

#include "model/articulated.h"
#include "model/turn.h"

#include <math.h>
#include <string.h>

#define SLOW 1e-4    /* rad: h times the fastest angular velocity; below, velocity products at nu are as good */
#define FAST 0.01    /* rad: half of the fastest turn in a step; above, the middle is sought by more iterations */
#define SETTLED 1e-6 /* of the change of velocity */
enum { PASSES = 16 };
#define LARGEST 0.05 /* how much slower joints may be made alone; what is left comes out of all velocities, or a turn */
#define MOST 3.0     /* times faster: next to rest, or where the step does not resolve the motion */
#define HIDDEN 2e-10 /* a million roundings of potential energy */

void mor_robot_middle_velocity(const mor_robot* r, double h, void (*solve)(const mor_robot* robot, double* x),
                               double* out)
{
    const mor_robot_model* m = r->model;
    double fastest = 0.0;
    for (int i = 0; i < m->link_count; i++) {
        mor_vec3 w = r->work->states[i].w;
        fastest = mor_max(fastest, mor_dot(w, w));
        if (m->constants[i].prismatic) fastest = mor_max(fastest, fabs(r->work->joint[i]) * sqrt(mor_dot(w, w)));
    }
    double x = 0.5 * h * sqrt(fastest), left = x;
    memcpy(out, r->nu, (size_t)m->dof * sizeof *out);
    if (2.0 * x < SLOW) return;
    mor_robot_inverse_dynamics(m, r->work, mor_v3(0, 0, 0), NULL, NULL, out);
    solve(r, out);
    for (int k = 0; k < m->dof; k++) out[k] = r->nu[k] - 0.5 * h * out[k];
    double before = INFINITY;
    for (int pass = 1; x > FAST && (left = mor_min(left * x, 1.0)) > SETTLED && pass < PASSES; pass++) {
        double change = 0.0, moved = 0.0, *next = r->jerk;
        mor_robot_bias(m, r->work, mor_v3(0, 0, 0), out, NULL, next);
        solve(r, next);
        for (int k = 0; k < m->dof; k++) {
            double to = r->nu[k] - 0.5 * h * next[k];
            change = mor_max(change, fabs(to - out[k]));
            moved = mor_max(moved, fabs(to - r->nu[k]));
            out[k] = to;
        }
        if (change <= SETTLED * moved) break;
        if (!(change < before)) { /* faster than the step resolves: no middle to be found */
            memcpy(out, r->nu, (size_t)m->dof * sizeof *out);
            break;
        }
        before = change;
    }
}

static mor_link_sums sum_up(const mor_robot_model* m, const mor_robot_work* work, bool inertia)
{
    mor_link_sums s = { 0 };
    mor_vec3 o = work->states[0].p;
    int first = m->floating ? 0 : 1;
    for (int i = first; i < m->link_count; i++) {
        const mor_link_state* l = &work->states[i];
        const mor_rigid* B = &l->body;
        mor_vec3 r = mor_sub(l->p, o);
        mor_vec3 f = mor_madd(mor_cross(l->w, B->c), B->m, l->v),
                 n = mor_add(mor_cross(B->c, l->v), mor_sym3_mul(&B->I, l->w));
        s.kinetic += 0.5 * (mor_dot(l->v, f) + mor_dot(l->w, n));
        if (inertia) {
            mor_rigid moved = mor_rigid_shift(B, r);
            s.body = mor_rigid_add(&s.body, &moved);
        } else {
            s.body.m += B->m;
            s.body.c = mor_add(s.body.c, mor_madd(B->c, B->m, r));
        }
        s.p = mor_add(s.p, f);
        s.L = mor_add(s.L, mor_add(n, mor_cross(r, f)));
    }
    for (int i = 1; i < m->link_count; i++) {
        int joint = m->constants[i].dof - mor_robot_offset(m);
        double speed = work->joint[i], force = m->reflected[joint] * speed;
        for (int k = 0; m->coupling && k < m->joint_count; k++)
            force += m->coupling[joint * m->joint_count + k] * work->joint[m->link_of_joint[k]];
        s.kinetic += 0.5 * force * speed;
    }
    mor_vec3 arm = s.body.m > 0.0 ? mor_scale(1.0 / s.body.m, s.body.c) : mor_v3(0, 0, 0);
    s.com = mor_add(o, arm);
    s.L = mor_sub(s.L, mor_cross(arm, s.p));
    return s;
}

/* y = M d of the start of the step. */
static void mass_times(const mor_robot* r, const double* d, double* y)
{
    const mor_robot_model* m = r->model;
    int N = m->dof, offset = mor_robot_offset(m);
    if (!r->factored) {
        mor_robot_bias(m, r->work, mor_v3(0, 0, 0), NULL, d, y);
        return;
    }
    for (int i = 0; i < N; i++) {
        double sum = mor_inner(N, r->mass + i * N, d);
        y[i] = i < offset ? sum : sum - r->extra[i - offset] * d[i];
    }
}

static double inner(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* What the end of the step must have. */
typedef struct target {
    mor_vec3 p, L;
    double kinetic; /* at the centre of mass of the start */
    bool known;     /* the energy, too */
} target;

/* The target, and in r->wrenches the generalised forces of the step but for gravity and velocity products, times h. */
static target aim(const mor_world* w, mor_robot* r, const mor_link_sums* start, const double* nu, bool touched,
                  bool smooth, double share)
{
    const mor_robot_model* m = r->model;
    int N = m->dof, offset = mor_robot_offset(m);
    double h = w->h, *y = r->wrenches, *d = r->jerk;
    target t = { start->p, start->L, 0.0, !r->looped };
    for (int k = 0; k < N; k++) d[k] = nu[k] - r->nu[k];
    if (touched) {
        mass_times(r, d, y);
        for (int k = 0; k < N; k++) y[k] += h * r->bias[k];
    } else {
        for (int k = 0; k < N; k++) y[k] = h * r->force[k];
        for (int k = offset; k < N; k++) y[k] -= h * r->drag[k - offset] * r->nu[k] + r->extra[k - offset] * d[k];
    }
    double mean = 0.0, end = 0.0, lost = 0.0, applied[2] = { 0.0, 0.0 };
    for (int k = 0; k < N; k++) {
        double f = h * r->force[k] - (k < offset ? 0.0 : h * r->gain[k - offset] * d[k]),
               middle = r->nu[k] + 0.5 * d[k];
        mean += middle * y[k];
        end += nu[k] * y[k];
        lost += 0.5 * d[k] * (y[k] - h * r->bias[k]);
        applied[0] += middle * f;
        applied[1] += nu[k] * f;
    }
    r->projected = 0.0;
    r->energy = start->kinetic - start->body.m * mor_dot(w->gravity, start->com) + end;
    double rows = end - applied[1], W = mean;
    if (!smooth) W = mor_max(applied[0], applied[1]) + (rows > 0.0 ? rows - mor_max(0.0, lost) : rows);
    if (smooth && share > 0.5) { /* the tree moves farther than the mean goes, and gravity takes part in that */
        double* g = r->jerk + N;
        mor_robot_bias(m, r->work, w->gravity, NULL, NULL, g);
        W += (share - 0.5) * h * inner(N, g, d);
    }
    t.kinetic = start->kinetic + W;
    if (!m->floating) return t;
    mor_vec3 f = mor_v3(y[0], y[1], y[2]), n = mor_v3(y[3], y[4], y[5]);
    t.p = mor_add(t.p, mor_madd(f, h * start->body.m, w->gravity));
    t.L = mor_add(t.L, mor_sub(n, mor_cross(mor_sub(start->com, r->base.position), f)));
    return t;
}

/* Velocities of a floating tree with the momentum of the target and the joint velocities times `scale`. */
static void set_velocity(mor_robot* r, const mor_link_sums* s, const target* t, mor_vec3 locked, mor_vec3 wanted,
                         double scale)
{
    mor_vec3 arm = mor_sub(r->base.position, s->com), turn = mor_v3(r->nu[3], r->nu[4], r->nu[5]);
    mor_vec3 own = mor_sub(mor_sub(mor_v3(r->nu[0], r->nu[1], r->nu[2]), mor_scale(1.0 / s->body.m, s->p)),
                           mor_cross(locked, arm));
    mor_vec3 v = mor_madd(mor_madd(mor_cross(wanted, arm), 1.0 / s->body.m, t->p), scale, own);
    mor_vec3 omega = mor_madd(wanted, scale, mor_sub(turn, locked));
    memcpy(r->nu, (double[6]){ v.x, v.y, v.z, omega.x, omega.y, omega.z }, 6 * sizeof(double));
    for (int k = 6; k < r->model->dof; k++) r->nu[k] *= scale;
}

/* The scale of the joint velocities for T_i to become `wanted`; without `smooth`, at most that. */
static double scale_for(double wanted, double present, bool smooth)
{
    if (!(present > 0.0) || (!smooth && wanted >= present)) return 1.0;
    double square = wanted / present;
    if (!(square > (1.0 - LARGEST) * (1.0 - LARGEST))) return 1.0 - LARGEST;
    return mor_min(sqrt(square), MOST);
}

static void refresh(const mor_robot* r) { mor_robot_velocities(r->model, r->work, r->nu); }

/* Takes the energy out of all velocities. */
static void slow_down(mor_robot* r, double kinetic, double allowed)
{
    double scale = allowed > 0.0 ? sqrt(allowed / kinetic) : 0.0;
    for (int k = 0; k < r->model->dof; k++) r->nu[k] *= scale;
    refresh(r);
}

/* Is the energy of motion so small that the rounding of potential energy hides it? A pole 1e-6 rad from hanging would
 * be held there by an energy that is noise. */
static bool is_hidden(const mor_world* w, const mor_link_sums* start, const mor_link_sums* now)
{
    double weight = now->body.m * mor_norm(w->gravity);
    return now->kinetic <= HIDDEN * weight * (mor_norm(start->com) + mor_norm(now->com));
}

static void finish_fixed(const mor_world* w, mor_robot* r, const mor_link_sums* start, const target* t, bool smooth)
{
    mor_link_sums s = sum_up(r->model, r->work, false);
    if (!t->known || !(s.kinetic > 0.0) || is_hidden(w, start, &s)) return;
    double kinetic = t->kinetic + s.body.m * mor_dot(w->gravity, mor_sub(s.com, start->com));
    double scale = scale_for(kinetic, s.kinetic, smooth), now = scale * scale * s.kinetic;
    for (int k = 0; k < r->model->dof; k++) r->nu[k] *= scale;
    if (scale != 1.0) refresh(r);
    if (scale == 1.0 - LARGEST && now > kinetic) slow_down(r, now, kinetic);
}

static void finish_floating(const mor_world* w, mor_robot* r, const mor_link_sums* start, const target* t, bool touched,
                            bool smooth)
{
    for (int round = 0;; round++) {
        mor_link_sums s = sum_up(r->model, r->work, true);
        double m = s.body.m;
        mor_rigid central = mor_rigid_shift(&s.body, mor_sub(r->base.position, s.com)); /* about the centre of mass */
        mor_mat3 C = mor_sym3_matrix(&central.I);
        double size = C.m[0][0] + C.m[1][1] + C.m[2][2];
        mor_mat3 inverse = mor_mat3_inverse(&C);
        bool sound =
            m > 0.0 &&
            fabs(mor_dot(mor_cross(mor_v3(C.m[0][0], C.m[1][0], C.m[2][0]), mor_v3(C.m[0][1], C.m[1][1], C.m[2][1])),
                         mor_v3(C.m[0][2], C.m[1][2], C.m[2][2]))) > 1e-12 * size * size * size;
        if (!sound) return; /* a needle: nothing to turn about its axis */
        if (!touched && round == 0) {
            mor_vec3 shift = mor_sub(mor_madd(start->com, w->h / m, t->p), s.com);
            r->base.position = mor_add(r->base.position, shift);
            s.com = mor_add(s.com, shift);
            for (int i = 0; i < r->model->link_count; i++) r->work->states[i].p = mor_add(r->work->states[i].p, shift);
        }
        mor_vec3 locked = mor_mul(&inverse, s.L), wanted = mor_mul(&inverse, t->L);
        double inside = s.kinetic - 0.5 * mor_dot(s.p, s.p) / m - 0.5 * mor_dot(s.L, locked);
        double outside = 0.5 * mor_dot(t->p, t->p) / m + 0.5 * mor_dot(t->L, wanted);
        /* untouched, gravity only moves the centre of mass, which the momentum knows about */
        mor_vec3 fall = touched ? mor_sub(s.com, start->com)
                                : mor_madd(mor_scale(w->h / m, start->p), 0.5 * w->h * w->h, w->gravity);
        double kinetic = t->kinetic + m * mor_dot(w->gravity, fall);
        bool known = t->known && !(touched && is_hidden(w, start, &s));
        double scale = known ? scale_for(kinetic - outside, inside, smooth) : 1.0;
        set_velocity(r, &s, t, locked, wanted, scale);
        refresh(r);
        double left = outside + scale * scale * inside - kinetic, rounding = 1e-13 * (kinetic + outside);
        if (!known || fabs(left) <= rounding || (!smooth && left < 0.0)) return;
        mor_turning body = { &C, &inverse };
        mor_quat turn = { 1, 0, 0, 0 };
        if (touched || round == 2 ||
            !mor_turn_to_energy(body, t->L, 0.5 * mor_dot(t->L, wanted) - left, rounding, 0.1, &turn, NULL)) {
            if (left > rounding) slow_down(r, kinetic + left, kinetic); /* touching, or next to a principal axis */
            return;
        }
        r->base.rotation = mor_quat_normalize(mor_quat_mul(turn, r->base.rotation));
        r->base.position = mor_add(s.com, mor_rotate(turn, mor_sub(r->base.position, s.com)));
        mor_vec3 v = mor_rotate(turn, mor_v3(r->nu[0], r->nu[1], r->nu[2])),
                 omega = mor_rotate(turn, mor_v3(r->nu[3], r->nu[4], r->nu[5]));
        memcpy(r->nu, (double[6]){ v.x, v.y, v.z, omega.x, omega.y, omega.z }, 6 * sizeof(double));
        mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    }
}

bool mor_robot_lose_energy(const mor_world* w, mor_robot* r, double allowed)
{
    mor_link_sums s = sum_up(r->model, r->work, r->model->floating);
    double kinetic = allowed + s.body.m * mor_dot(w->gravity, s.com), scale = 1.0;
    if (!(s.kinetic > kinetic)) return false;
    double now = s.kinetic;
    if (r->model->floating && s.body.m > 0.0) {
        mor_rigid central = mor_rigid_shift(&s.body, mor_sub(r->base.position, s.com));
        mor_mat3 C = mor_sym3_matrix(&central.I), inverse = mor_mat3_inverse(&C);
        mor_vec3 locked = mor_mul(&inverse, s.L);
        target t = { s.p, s.L, 0.0, true };
        double outside = 0.5 * mor_dot(s.p, s.p) / s.body.m + 0.5 * mor_dot(s.L, locked), inside = s.kinetic - outside;
        if (isfinite(outside) && inside > 0.0) {
            scale = scale_for(kinetic - outside, inside, false);
            set_velocity(r, &s, &t, locked, locked, scale);
            now = outside + scale * scale * inside;
        }
        refresh(r);
    }
    if (now > kinetic) slow_down(r, now, kinetic);
    return true;
}

/* nu+ by the mean of the accelerations at q and q+: what M and b of q+ leave of the forces changes it by half. The
 * inverse is that of q, which is good enough for what is left. x: mean velocity; r->wrenches: forces times h. */
static void meet_halfway(const mor_world* w, mor_robot* r, const double* nu, const double* x,
                         void (*solve)(const mor_robot* robot, double* x))
{
    const mor_robot_model* m = r->model;
    double h = w->h, *rest = r->wrenches, *a = r->jerk + m->dof, *v = a + m->dof;
    for (int k = 0; k < m->dof; k++) {
        a[k] = 2.0 * (nu[k] - x[k]) / h;
        v[k] = 2.0 * x[k] - r->middle[k]; /* velocity products at q were taken this far on the other side */
    }
    mor_robot_bias(m, r->work, w->gravity, v, a, v);
    for (int k = 0; k < m->dof; k++) rest[k] = 0.5 * (rest[k] - h * v[k]);
    solve(r, rest);
    for (int k = 0; k < m->dof; k++) r->nu[k] = nu[k] + rest[k];
    refresh(r);
}

static void finish(mor_world* w, const mor_tree* tree, const double* nu_free, const double* nu,
                   void (*solve)(const mor_robot* robot, double* x))
{
    mor_robot* r = tree->robot;
    const mor_robot_model* m = r->model;
    int offset = mor_robot_offset(m);
    double moving = inner(m->dof, nu, nu) + inner(m->dof, r->nu, r->nu), share = tree->share;
    bool touched = memcmp(nu, nu_free, (size_t)m->dof * sizeof *nu) != 0, smooth = !r->looped;
    if (touched && share == 1.0) smooth = false;
    for (int j = 0; j < m->joint_count && smooth; j++) smooth = r->gain[j] == 0.0;
    if (smooth && !touched) share = 0.5;
    mor_link_sums start = r->work->summary.known ? r->work->summary.sums : sum_up(m, r->work, false);
    target t = aim(w, r, &start, nu, touched, smooth, share);
    double* x = r->jerk; /* what positions move with */
    for (int k = 0; k < m->dof; k++) x[k] = share < 1.0 ? r->nu[k] + share * (nu[k] - r->nu[k]) : nu[k];
    memcpy(r->nu, nu, (size_t)m->dof * sizeof *nu);
    if (m->floating) {
        r->base.position = mor_madd(r->base.position, w->h, mor_v3(x[0], x[1], x[2]));
        r->base.rotation =
            mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(w->h, mor_v3(x[3], x[4], x[5]))), r->base.rotation));
    }
    mor_robot_move(m, r->s, w->h, x + offset);
    mor_robot_update(m, r->work, &r->base, r->s, r->nu);
    if (!(moving > 0.0)) return;
    if (share == 0.5) meet_halfway(w, r, nu, x, solve);
    if (m->floating) finish_floating(w, r, &start, &t, touched, smooth);
    else finish_fixed(w, r, &start, &t, smooth);
}

void mor_robot_finish(mor_world* w, const mor_tree* tree, const double* nu_free, const double* nu,
                      void (*solve)(const mor_robot* robot, double* x))
{
    finish(w, tree, nu_free, nu, solve);
    const mor_robot* r = tree->robot;
    mor_link_summary* ahead = &r->work->summary;
    *ahead = (mor_link_summary){ .sums = sum_up(r->model, r->work, false),
                                 .kinetic = mor_robot_kinetic_energy(r->model, r->work) };
    ahead->known = true;
}
