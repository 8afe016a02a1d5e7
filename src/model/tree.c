/* Kinds of trees: particle, planar body, free body, spring.
 *
 * nu is (v) for particles, (v_x, v_y, omega_z) in the plane, (v, omega) in space, in world axes.
 *
 * Free bodies are advanced in angular momentum (MATH: "Free motion"):
 *
 *     L_free = L + h torque;   u: mean angular velocity of the free motion from (R, L_free) over h (model/turn.c)
 *     R_m = exp(h/2 u) R,   I(R) = R J R'
 *
 * u is the free angular velocity of the step and A = I(R_m) its mass block. With contact impulses, j = A (w+ - u)
 * their sum r x p: L+ = L_free + j and R+ = exp(h w+) R. The free motion keeps L and the energy to rounding. With
 * impulses the energy may become at most
 *
 *     E+ = E(R, L_free) + (w+ + u).j/2 + min(j.(w+ - u)/2 + m |v+ - v|^2/2, SMOOTH T),    E(R, L) = L' I(R)^-1 L/2.
 *
 * The second term is what the solve took out of the rotation; the third what the semi-implicit step loses beside it in
 * smooth motion, so that the sum over translation, rotation and gravity never rises. For a fixed L+ the energy depends
 * on R+, by the ratio of the principal moments: where R+ has more than E+ it is turned back, the shortest way. Where
 * that takes more than STRUCK rad the step is too coarse for the blow; the body is `struck` and the island is solved
 * again with A = I(R), u = I(R)^-1 L_free, and R+ from the free motion of (R, L+), which keeps both (step/solve.c). */
#include "base/elementary.h"
#include "model/support.h"
#include "model/turn.h"
#include "model/turned.h"
#include "model/world.h"

/* ------------------------------------------------------------------------------ particle */

static void particle_prepare(mor_world* world, const mor_tree* t, double* nu, double* nu_free, double* M, double* Mi)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 g = world->gravity;
    double h = world->h;
    double m = b->mass.mass;
    nu[0] = b->v.x;
    nu[1] = b->v.y;
    nu_free[0] = b->v.x + h * (g.x + b->force.x / m);
    nu_free[1] = b->v.y + h * (g.y + b->force.y / m);
    M[0] = M[3] = m;
    Mi[0] = Mi[3] = 1.0 / m;
    M[1] = M[2] = Mi[1] = Mi[2] = 0.0;
}

static void particle_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b, (void)r;
    c[0] = sign * d.x;
    c[1] = sign * d.y;
}

static void particle_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b, (void)d, (void)sign;
    c[0] = c[1] = 0.0;
}

static void particle_advance(mor_world* world, const mor_tree* t, const double* nu_free, const double* nu,
                             const double* M)
{
    mor_body* b = &world->bodies[t->body];
    double h = world->h;
    (void)nu_free, (void)M;
    mor_vec3 before = b->v;
    b->v = mor_v3(nu[0], nu[1], 0.0);
    mor_vec3 move = t->move ? mor_v3(t->move[0], t->move[1], 0.0) : b->v;
    b->x = mor_madd(b->x, h, t->share < 1.0 ? mor_lerp(before, b->v, t->share) : move);
}

static void particle_correct(mor_world* world, const mor_tree* t, const double* d, bool velocity)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3* at = velocity ? &b->v : &b->x;
    *at = mor_add(*at, mor_v3(d[0], d[1], 0.0));
}

static mor_vec3 particle_acceleration(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 arm)
{
    (void)t, (void)b, (void)r, (void)arm;
    return mor_v3(0, 0, 0);
}

const mor_tree_kind mor_tree_particle = {
    "particle", 2,    particle_prepare,      particle_row, particle_spin, particle_advance, particle_correct,
    NULL,       NULL, particle_acceleration, NULL,         NULL
};

/* -------------------------------------------------------------------------------- planar */

static void planar_prepare(mor_world* world, const mor_tree* t, double* nu, double* nu_free, double* M, double* Mi)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 g = world->gravity;
    double h = world->h;
    double m = b->mass.mass, I = b->mass.inertia.m[2][2];
    nu[0] = b->v.x;
    nu[1] = b->v.y;
    nu[2] = b->w.z;
    nu_free[0] = b->v.x + h * (g.x + b->force.x / m);
    nu_free[1] = b->v.y + h * (g.y + b->force.y / m);
    nu_free[2] = b->w.z + h * b->torque.z / I;
    if (b->support.friction > 0.0 && b->look.touched) {
        mor_support_linearise(&b->support, m, I, b->angle, h, &b->look, b->look.chosen ? b->look.at : nu, nu_free, M,
                              Mi);
        return;
    }
    if (b->support.friction > 0.0) mor_support_slow(&b->support, m, I, b->angle, h, nu_free);
    for (int i = 0; i < 9; i++) M[i] = Mi[i] = 0.0;
    M[0] = M[4] = m;
    M[8] = I;
    Mi[0] = Mi[4] = 1.0 / m;
    Mi[8] = 1.0 / I;
}

static void planar_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b;
    c[0] = sign * d.x;
    c[1] = sign * d.y;
    c[2] = sign * (r.x * d.y - r.y * d.x);
}

static void planar_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b;
    c[0] = c[1] = 0.0;
    c[2] = sign * d.z;
}

static void planar_advance(mor_world* world, const mor_tree* t, const double* nu_free, const double* nu,
                           const double* M)
{
    mor_body* b = &world->bodies[t->body];
    double h = world->h;
    (void)nu_free, (void)M;
    mor_vec3 v = mor_v3(nu[0], nu[1], 0.0);
    double turn = nu[2];
    mor_vec3 move = t->move ? mor_v3(t->move[0], t->move[1], 0.0) : v;
    b->x = mor_madd(b->x, h, t->share < 1.0 ? mor_lerp(b->v, v, t->share) : move);
    b->angle += h * (t->share < 1.0 ? b->w.z + t->share * (turn - b->w.z) : t->move ? t->move[2] : turn);
    b->v = v;
    b->w = mor_v3(0.0, 0.0, turn);
    b->q = mor_quat_exp(mor_v3(0.0, 0.0, b->angle));
}

static void planar_correct(mor_world* world, const mor_tree* t, const double* d, bool velocity)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3* at = velocity ? &b->v : &b->x;
    *at = mor_add(*at, mor_v3(d[0], d[1], 0.0));
    if (velocity) {
        b->w.z += d[2];
        return;
    }
    b->angle += d[2];
    b->q = mor_quat_exp(mor_v3(0.0, 0.0, b->angle));
}

/* w x (w x (r - arm)): the round part of the arm does not turn */
static mor_vec3 spinning_acceleration(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 arm)
{
    (void)t;
    return mor_cross(b->w, mor_cross(b->w, mor_sub(r, arm)));
}

const mor_tree_kind mor_tree_planar = {
    "planar", 3,    planar_prepare,        planar_row, planar_spin, planar_advance, planar_correct,
    NULL,     NULL, spinning_acceleration, NULL,       NULL
};

/* ---------------------------------------------------------------------------------- free */

#define STRUCK 0.02    /* rad: larger turns that take energy away would show as penetration */
#define SMOOTH 0.01    /* of the kinetic energy: what more than that is lost in a step is an impact */
#define SLIGHT 1e-3    /* of the kinetic energy: moves that change it more turn the angular momentum, too */
#define ROUNDING 1e-14 /* of the kinetic energy: what is left alone */

static mor_turning turning(const mor_body* b) { return (mor_turning){ &b->mass.inertia, &b->inertia_inverse }; }

/* Mass block and inverse of a body turned by R; NULL: in its own axes. */
MOR_ALWAYS_INLINE void write_blocks_body(const mor_body* b, const mor_mat3* R, double* M, double* Mi)
{
    const double m = b->mass.mass, inverse = 1.0 / m;
    for (int block = 0; block < 2; block++) {
        const mor_mat3* A = block ? &b->inertia_inverse : &b->mass.inertia;
        double *to = block ? Mi : M, mass = block ? inverse : m;
        const mor_three_rows rows = R ? mor_turned_rows(R, A) : mor_rows_of(A);
        for (int i = 0; i < 36; i += 4) MOR_FOUR_TO(to + i) = MOR_ALL(0.0);
        for (int i = 0; i < 3; i++) to[7 * i] = mass;
        mor_put_three(&rows.x, to + 21);
        mor_put_three(&rows.y, to + 27);
        mor_put_three(&rows.z, to + 33);
    }
}

MOR_WIDE_VOID(static, write_blocks, (const mor_body* b, const mor_mat3* R, double* M, double* Mi), (b, R, M, Mi))

bool mor_free_mass_stays(const mor_world* world, const mor_tree* t, double* M, double* Mi)
{
    const mor_body* b = t->kind == &mor_tree_free ? &world->bodies[t->body] : NULL;
    if (!b || !mor_turns_alike(turning(b))) return false;
    if (M) write_blocks(b, NULL, M, Mi);
    return true;
}

static void free_prepare(mor_world* world, const mor_tree* t, double* nu, double* nu_free, double* M, double* Mi)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 g = world->gravity;
    double h = world->h;
    double m = b->mass.mass;
    mor_vec3 L = mor_madd(b->L, h, b->torque), w = b->w;
    b->alike = !M || mor_turns_alike(turning(b));
    if (b->alike) w = mor_scale(b->inertia_inverse.m[0][0], L);
    else if (b->struck) mor_turn_energy(turning(b), b->q, L, &w);
    else b->q_free = mor_turn_free(turning(b), b->q, L, h, b->w, &w);
    if (M && !mor_free_mass_stays(world, t, M, Mi)) { /* at the middle of the turn */
        mor_quat half = mor_quat_exp(mor_scale(0.5 * h, w));
        mor_mat3 R = mor_quat_matrix(b->struck ? b->q : mor_quat_normalize(mor_quat_mul(half, b->q)));
        write_blocks(b, &R, M, Mi);
    }
    nu[0] = b->v.x, nu[1] = b->v.y, nu[2] = b->v.z;
    nu[3] = b->w.x, nu[4] = b->w.y, nu[5] = b->w.z;
    nu_free[0] = b->v.x + h * (g.x + b->force.x / m);
    nu_free[1] = b->v.y + h * (g.y + b->force.y / m);
    nu_free[2] = b->v.z + h * (g.z + b->force.z / m);
    nu_free[3] = w.x, nu_free[4] = w.y, nu_free[5] = w.z;
    b->L_free = L;
}

static void free_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b;
    mor_vec3 m = mor_cross(r, d);
    c[0] = sign * d.x;
    c[1] = sign * d.y;
    c[2] = sign * d.z;
    c[3] = sign * m.x;
    c[4] = sign * m.y;
    c[5] = sign * m.z;
}

/* The rows of a contact: three directions at one point. */
static void free_rows3(const mor_tree* t, const mor_body* b, mor_vec3 r, const mor_vec3 direction[3], double sign,
                       double* c)
{
    for (int d = 0; d < 3; d++, c += 6) free_row(t, b, r, direction[d], sign, c);
}

static void free_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b;
    c[0] = c[1] = c[2] = 0.0;
    c[3] = sign * d.x;
    c[4] = sign * d.y;
    c[5] = sign * d.z;
}

/* Where a body gets to that moves with w instead of u: its L, and R without regard to the energy, which may be *most;
 * returns what of it is rounding. */
static double swept(const mor_body* b, const mor_tree* t, double h, const double* nu_free, const double* nu,
                    const double* M, mor_vec3* L, mor_quat* q, double* most)
{
    mor_vec3 w = mor_v3(nu[3], nu[4], nu[5]), u = mor_v3(nu_free[3], nu_free[4], nu_free[5]), dw = mor_sub(w, u);
    mor_vec3 j = mor_v3(M[21] * dw.x + M[22] * dw.y + M[23] * dw.z, M[27] * dw.x + M[28] * dw.y + M[29] * dw.z,
                        M[33] * dw.x + M[34] * dw.y + M[35] * dw.z);
    mor_vec3 v = mor_v3(nu[0], nu[1], nu[2]), dv = mor_sub(v, b->v);
    double start = mor_turn_energy(turning(b), b->q, b->L_free, NULL), m = b->mass.mass;
    *L = mor_add(b->L_free, j);
    mor_vec3 turn = t->move ? mor_v3(t->move[3], t->move[4], t->move[5]) : w;
    *q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(h, turn)), b->q));
    double moving = start + 0.5 * m * mor_dot(v, v), spare = 0.5 * mor_dot(dw, j) + 0.5 * m * mor_dot(dv, dv);
    if (t->move) spare = 0.0; /* a bounce may give back all that compression took */
    *most = mor_max(start + 0.5 * mor_dot(mor_add(w, u), j) + mor_min(spare, SMOOTH * moving), 0.0);
    /* and of what the body has at 1e-8 m/s: at rest everything is rounding */
    return ROUNDING * (moving + *most) + ROUNDING * 1e-16 * m;
}

bool mor_free_is_struck(const mor_world* world, const mor_tree* t, const double* nu_free, const double* nu,
                        const double* M)
{
    const mor_body* b = &world->bodies[t->body];
    double x = nu[3] - nu_free[3], y = nu[4] - nu_free[4], z = nu[5] - nu_free[5], h = world->h;
    if (b->struck || t->share < 1.0 || h * h * (x * x + y * y + z * z) < STRUCK * STRUCK) return false;
    mor_vec3 L;
    mor_quat q;
    double most, rounding = swept(b, t, h, nu_free, nu, M, &L, &q, &most);
    if (mor_turn_energy(turning(b), q, L, NULL) <= most + rounding) return false;
    return !mor_turn_to_energy(turning(b), L, most, rounding, STRUCK, &q, NULL);
}

static mor_quat turned(mor_quat q, double h, const double* w)
{
    return mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(h, mor_v3(w[0], w[1], w[2]))), q));
}

/* Where the free motion of the step ends: only of few bodies it is asked, and easy to find where all axes are alike. */
static mor_quat free_end(const mor_body* b, double h, const double* nu_free)
{
    return b->alike ? turned(b->q, h, nu_free + 3) : b->q_free;
}

/* Moved by springs: they act throughout the step, not at its start. */
static void free_advance_shared(mor_body* b, double h, double share, const double* nu_free, const double* nu,
                                const double* M)
{
    mor_vec3 v = mor_v3(nu[0], nu[1], nu[2]), w = mor_v3(nu[3], nu[4], nu[5]);
    mor_vec3 u = mor_v3(nu_free[3], nu_free[4], nu_free[5]), dw = mor_sub(w, u);
    mor_vec3 j = mor_v3(M[21] * dw.x + M[22] * dw.y + M[23] * dw.z, M[27] * dw.x + M[28] * dw.y + M[29] * dw.z,
                        M[33] * dw.x + M[34] * dw.y + M[35] * dw.z);
    b->x = mor_madd(b->x, h, mor_lerp(b->v, v, share));
    b->v = v;
    b->L = mor_add(b->L_free, j);
    b->q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(h * share, dw)), free_end(b, h, nu_free)));
    mor_turn_energy(turning(b), b->q, b->L, &b->w);
}

static void free_advance(mor_world* world, const mor_tree* t, const double* nu_free, const double* nu, const double* M)
{
    mor_body* b = &world->bodies[t->body];
    double h = world->h;
    if (t->share < 1.0) {
        free_advance_shared(b, h, t->share, nu_free, nu, M);
        return;
    }
    b->v = mor_v3(nu[0], nu[1], nu[2]);
    b->x = mor_madd(b->x, h, t->move ? mor_v3(t->move[0], t->move[1], t->move[2]) : b->v);
    bool old = nu == nu_free; /* explicit positions: along the velocity of the start */
    if ((nu[3] == nu_free[3] && nu[4] == nu_free[4] && nu[5] == nu_free[5] && !b->struck) || old) {
        b->q = old ? turned(b->q, h, nu + 3) : free_end(b, h, nu_free);
        b->L = b->L_free;
        if (b->alike && !old) b->w = mor_v3(nu[3], nu[4], nu[5]);
        else mor_turn_energy(turning(b), b->q, b->L, &b->w);
        return;
    }
    mor_quat q;
    double most, rounding = swept(b, t, h, nu_free, nu, M, &b->L, &q, &most);
    if (b->struck) q = mor_turn_free(turning(b), b->q, b->L, h, mor_v3(nu[3], nu[4], nu[5]), NULL);
    b->q = q;
    double energy = mor_turn_energy(turning(b), b->q, b->L, &b->w);
    if (energy <= most + rounding) return;
    if (!mor_turn_to_energy(turning(b), b->L, most, rounding, 0.5, &b->q, NULL))
        b->L = mor_scale(sqrt(most / energy), b->L); /* next to a principal axis: nowhere to turn to */
    mor_turn_energy(turning(b), b->q, b->L, &b->w);
}

/* A turn keeps L, as free motion does; a change of w changes it. */
static void free_correct(mor_world* world, const mor_tree* t, const double* d, bool velocity)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 linear = mor_v3(d[0], d[1], d[2]), angular = mor_v3(d[3], d[4], d[5]);
    if (velocity) {
        b->v = mor_add(b->v, linear);
        b->w = mor_add(b->w, angular);
        b->L = mor_turns_alike(turning(b)) ? mor_scale(b->mass.inertia.m[0][0], b->w)
                                           : mor_rotate(b->q, mor_mul(&b->mass.inertia, mor_unrotate(b->q, b->w)));
        return;
    }
    b->x = mor_add(b->x, linear);
    b->q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(angular), b->q));
    mor_mat3 R = mor_quat_matrix(b->q), Ii = mor_mat3_rotate(&R, &b->inertia_inverse);
    b->w = mor_mul(&Ii, b->L);
}

/* Potential energy of a robot's links under gravity. */
static double height_energy(const mor_world* w, const mor_robot* r)
{
    double sum = 0.0;
    for (int i = 0; i < mor_robot_link_count(r->model); i++)
        if (r->bodies[i] >= 0)
            sum -= w->bodies[r->bodies[i]].mass.mass * mor_dot(w->gravity, w->bodies[r->bodies[i]].x);
    return sum;
}

static double move_robot(mor_world* world, const mor_tree* t, const double* d)
{
    mor_robot* r = t->robot;
    double before = mor_robot_kinetic_energy(r->model, r->work);
    r->projected -= before + height_energy(world, r);
    t->kind->correct(world, t, d, false);
    double after = mor_robot_kinetic_energy(r->model, r->work);
    if (after > before + SLIGHT * before) {
        double scale = sqrt(before / after) - 1.0;
        for (int k = 0; k < t->dof; k++) r->wrenches[k] = scale * r->nu[k];
        t->kind->correct(world, t, r->wrenches, true);
        after = before;
    }
    r->projected += after + height_energy(world, r);
    return after - before;
}

double mor_tree_move(mor_world* world, const mor_tree* t, const double* d)
{
    if (t->robot) return move_robot(world, t, d);
    mor_body* b = t->kind == &mor_tree_free ? &world->bodies[t->body] : NULL;
    double before = b ? 0.5 * mor_dot(b->w, b->L) : 0.0;
    t->kind->correct(world, t, d, false);
    double change = b ? 0.5 * mor_dot(b->w, b->L) - before : 0.0;
    if (change == 0.0) return 0.0;
    if (fabs(change) <= SLIGHT * before) b->L = mor_scale(sqrt(before / (before + change)), b->L);
    else b->L = mor_rotate(mor_quat_exp(mor_v3(d[3], d[4], d[5])), b->L);
    mor_turn_energy(turning(b), b->q, b->L, &b->w);
    return 0.0;
}

const mor_tree_kind mor_tree_free = {
    "free", 6,    free_prepare,          free_row, free_spin, free_advance, free_correct,
    NULL,   NULL, spinning_acceleration, NULL,     free_rows3
};

/* -------------------------------------------------------------------------------- spring */

/* One velocity that the row of a joint's spring and damper acts on (formulation/rows.c): the row's compliance in the
 * guise of an inertia, which is set when the spring's island is known (formulation/springs.c). It has no state. */
static void spring_prepare(mor_world* world, const mor_tree* t, double* nu, double* nu_free, double* M, double* Mi)
{
    double h = world->h;
    nu[0] = nu_free[0] = 0.0;
    M[0] = h * (t->damping + h * t->stiffness);
    Mi[0] = 1.0 / M[0];
}

static void spring_row(const mor_tree* t, const mor_body* b, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b, (void)r, (void)d, (void)sign;
    c[0] = 0.0;
}

static void spring_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b, (void)d, (void)sign;
    c[0] = 0.0;
}

static void spring_advance(mor_world* world, const mor_tree* t, const double* nu_free, const double* nu,
                           const double* M)
{
    (void)world, (void)t, (void)nu_free, (void)nu, (void)M;
}

static void spring_correct(mor_world* world, const mor_tree* t, const double* d, bool velocity)
{
    (void)world, (void)t, (void)d, (void)velocity;
}

const mor_tree_kind mor_tree_spring = {
    "spring", 1,    spring_prepare,        spring_row, spring_spin, spring_advance, spring_correct,
    NULL,     NULL, particle_acceleration, NULL,       NULL
};
