/* Kinds of trees: particle, planar body, free body, spring.
 *
 * nu is (v) for particles, (v_x, v_y, omega_z) in the plane, (v, omega) in space, in world axes.
 *
 * Free bodies are advanced in angular momentum (MATH: "Free motion"):
 *
 *     L_free = L + h torque
 *     R_m = exp(h/2 omega_m) R,   omega_m = I(R_m)^-1 L_free,   I(R) = R J R'
 *
 * omega_m is the free angular velocity of the step and I(R_m) its mass block; with contact impulses
 * I(R_m)(omega+ - omega_m) = sum r x p, R+ = exp(h omega+) R, L+ = L_free + I(R_m)(omega+ - omega_m).
 * L is kept to rounding and the energy stays bounded at second order in h (an explicit
 * -h omega x I omega gains 6 % in 5 s on a tumbling box at h = 0.01).
 *
 * The midpoint equation is solved in body axes, where it reads
 *     J w = exp(-h/2 w) L_b,   L_b = R' L_free,   w = R' omega_m = R_m' omega_m,
 * by Newton's method on F(w) = J w - exp(-h/2 w) L_b with the derivative of the rotated vector taken to
 * first order, d/dw exp(-h/2 w) L_b ~ (h/2) [exp(-h/2 w) L_b]x, which is exact enough to converge in a
 * handful of iterations for h|w| up to about 1. It converges to rounding or the step keeps the best. */
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
    b->v = mor_v3(nu[0], nu[1], 0.0);
    b->x = mor_madd(b->x, h, b->v);
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
    b->v = mor_v3(nu[0], nu[1], 0.0);
    b->w = mor_v3(0.0, 0.0, nu[2]);
    b->x = mor_madd(b->x, h, b->v);
    b->angle += h * nu[2];
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

/* w with J w = exp(-h/2 w) L_b, see above. */
static mor_vec3 midpoint_velocity(const mor_mat3* J, mor_vec3 L, double h, mor_vec3 w)
{
    double best = INFINITY, rounding = 2e-16 * mor_norm(L);
    mor_vec3 answer = w;
    for (int k = 0; k < 20; k++) {
        mor_vec3 turned = mor_rotate(mor_quat_exp(mor_scale(-0.5 * h, w)), L);
        mor_vec3 F = mor_sub(mor_mul(J, w), turned);
        double size = mor_norm(F);
        if (size < best) {
            best = size;
            answer = w;
        } else if (k > 3) {
            break; /* rounding level reached */
        }
        if (size <= rounding) break;
        /* dF/dw = J - (h/2) [turned]x */
        double s = 0.5 * h;
        mor_mat3 D = *J;
        D.m[0][1] += s * turned.z;
        D.m[0][2] -= s * turned.y;
        D.m[1][0] -= s * turned.z;
        D.m[1][2] += s * turned.x;
        D.m[2][0] += s * turned.y;
        D.m[2][1] -= s * turned.x;
        mor_mat3 Di = mor_mat3_inverse(&D);
        mor_vec3 next = mor_sub(w, mor_mul(&Di, F));
        if (next.x == w.x && next.y == w.y && next.z == w.z) break;
        w = next;
    }
    return answer;
}

static void free_prepare(mor_world* world, const mor_tree* t, double* nu, double* nu_free, double* M, double* Mi)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 g = world->gravity;
    double h = world->h;
    double m = b->mass.mass;
    mor_vec3 L = mor_madd(b->L, h, b->torque);
    mor_vec3 w_body = midpoint_velocity(&b->mass.inertia, mor_unrotate(b->q, L), h, mor_unrotate(b->q, b->w));
    mor_vec3 w = mor_rotate(b->q, w_body);
    mor_quat middle = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(0.5 * h, w)), b->q));
    mor_mat3 R = mor_quat_matrix(middle);
    mor_mat3 I = mor_mat3_rotate(&R, &b->mass.inertia), Ii = mor_mat3_rotate(&R, &b->inertia_inverse);
    nu[0] = b->v.x, nu[1] = b->v.y, nu[2] = b->v.z;
    nu[3] = b->w.x, nu[4] = b->w.y, nu[5] = b->w.z;
    nu_free[0] = b->v.x + h * (g.x + b->force.x / m);
    nu_free[1] = b->v.y + h * (g.y + b->force.y / m);
    nu_free[2] = b->v.z + h * (g.z + b->force.z / m);
    nu_free[3] = w.x, nu_free[4] = w.y, nu_free[5] = w.z;
    for (int i = 0; i < 36; i++) M[i] = Mi[i] = 0.0;
    for (int i = 0; i < 3; i++) {
        M[7 * i] = m;
        Mi[7 * i] = 1.0 / m;
        for (int j = 0; j < 3; j++) {
            M[6 * (i + 3) + j + 3] = I.m[i][j];
            Mi[6 * (i + 3) + j + 3] = Ii.m[i][j];
        }
    }
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

static void free_spin(const mor_tree* t, const mor_body* b, mor_vec3 d, double sign, double* c)
{
    (void)t, (void)b;
    c[0] = c[1] = c[2] = 0.0;
    c[3] = sign * d.x;
    c[4] = sign * d.y;
    c[5] = sign * d.z;
}

static void free_advance(mor_world* world, const mor_tree* t, const double* nu_free, const double* nu, const double* M)
{
    mor_body* b = &world->bodies[t->body];
    double h = world->h;
    b->v = mor_v3(nu[0], nu[1], nu[2]);
    b->x = mor_madd(b->x, h, b->v);
    mor_vec3 w = mor_v3(nu[3], nu[4], nu[5]);
    mor_vec3 dw = mor_v3(nu[3] - nu_free[3], nu[4] - nu_free[4], nu[5] - nu_free[5]);
    b->L = mor_add(b->L_free,
                   mor_v3(M[21] * dw.x + M[22] * dw.y + M[23] * dw.z, M[27] * dw.x + M[28] * dw.y + M[29] * dw.z,
                          M[33] * dw.x + M[34] * dw.y + M[35] * dw.z));
    b->q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(h, w)), b->q));
    mor_mat3 R = mor_quat_matrix(b->q);
    mor_mat3 Ii = mor_mat3_rotate(&R, &b->inertia_inverse);
    b->w = mor_mul(&Ii, b->L);
}

/* A turn keeps L, as free motion does; a change of w changes it. */
static void free_correct(mor_world* world, const mor_tree* t, const double* d, bool velocity)
{
    mor_body* b = &world->bodies[t->body];
    mor_vec3 linear = mor_v3(d[0], d[1], d[2]), angular = mor_v3(d[3], d[4], d[5]);
    if (velocity) {
        mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
        b->v = mor_add(b->v, linear);
        b->w = mor_add(b->w, angular);
        b->L = mor_mul(&I, b->w);
        return;
    }
    b->x = mor_add(b->x, linear);
    b->q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(angular), b->q));
    mor_mat3 R = mor_quat_matrix(b->q), Ii = mor_mat3_rotate(&R, &b->inertia_inverse);
    b->w = mor_mul(&Ii, b->L);
}

const mor_tree_kind mor_tree_free = {
    "free", 6,    free_prepare,          free_row, free_spin, free_advance, free_correct,
    NULL,   NULL, spinning_acceleration, NULL,     NULL
};

/* -------------------------------------------------------------------------------- spring */

/* One velocity with the mass h c + h^2 k that the row of a joint's spring and damper acts on (formulation/rows.c): the
 * row's compliance in the guise of an inertia. It has no state. */
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
