/* Free rotation that keeps angular momentum and energy.
 *
 * In body axes, with P = R'L (L fixed in the world), J the inertia and u the mean angular velocity of a step h:
 *
 *     J u = (P_0 + P_1)/2,    P_1 = exp(-h u) P_0,    R_1 = R_0 exp(h u).
 *
 * P is turned, so |L| stays; P_1 - P_0 is orthogonal to u = J^-1 (P_0 + P_1)/2, so P'J^-1 P stays as well, for any h.
 * Symmetric, of order 2, exact for a steady spin. With t = tan(h|u|/2)/|u| the equation is
 *
 *     F(u) = J u + t u x J u - P_0 = 0,    F' = J + t ([u]x J - [J u]x) + (u x J u) (dt/d|u|) u'/|u|,
 *
 * which Newton's method solves to rounding in about three rounds for h|u| up to 1/2; faster turns are cut into parts.
 *
 * Spheres, cubes and whatever else has the same inertia about all axes keep w = J^-1 L, and J is the same in all axes.
 *
 * The energy E = P'J^-1 P/2 of a body with fixed L changes with a small turn phi (world axes) by phi . (w x L): the
 * shortest turn that changes it goes along w x L.
 *
 * J. C. Simo, K. K. Wong, "Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
 * momentum", Int. J. Numer. Meth. Engng 31 (1991) 19-52. */
#include "base/elementary.h"
#include "model/turn.h"

#include <math.h>

enum { ROUNDS = 12, PARTS = 4096 };
#define LARGEST_TURN 0.5 /* rad in one part: Newton's method is safe */
#define SLOW_TURN 0.01   /* rad: below, one part is accurate enough; two have a quarter of its error */

bool mor_turns_alike(mor_turning b)
{
    const mor_mat3* J = b.J;
    return J->m[0][0] == J->m[1][1] && J->m[1][1] == J->m[2][2] && J->m[0][1] == 0.0 && J->m[0][2] == 0.0 &&
           J->m[1][2] == 0.0 && J->m[1][0] == 0.0 && J->m[2][0] == 0.0 && J->m[2][1] == 0.0;
}

double mor_turn_energy(mor_turning b, mor_quat q, mor_vec3 L, mor_vec3* w)
{
    if (mor_turns_alike(b)) {
        mor_vec3 same = mor_scale(b.inverse->m[0][0], L);
        if (w) *w = same;
        return 0.5 * mor_dot(L, same);
    }
    mor_vec3 P = mor_unrotate(q, L), u = mor_mul(b.inverse, P);
    if (w) *w = mor_rotate(q, u);
    return 0.5 * mor_dot(P, u);
}

/* u of the equation above; the guess comes in u. */
static mor_vec3 mean_velocity(const mor_mat3* J, mor_vec3 P, double h, mor_vec3 u)
{
    double rounding = 2e-16 * mor_norm(P), best = INFINITY;
    mor_vec3 answer = u;
    for (int k = 0; k < ROUNDS; k++) {
        double speed = mor_norm(u), x = 0.5 * h * speed;
        if (!(x < 1.5)) break; /* thrown beyond the pole of the tangent */
        double tangent = x > 1e-8 ? mor_tan(x) : x, t = speed > 0.0 ? tangent / speed : 0.5 * h;
        mor_vec3 Ju = mor_mul(J, u), c = mor_cross(u, Ju), F = mor_sub(mor_madd(Ju, t, c), P);
        double size = mor_norm(F);
        if (size < best) best = size, answer = u;
        else if (k > 2) break;
        if (size <= rounding) break;
        mor_mat3 D = *J;
        const mor_mat3* A = J;
        for (int j = 0; j < 3; j++) { /* t [u]x J */
            D.m[0][j] += t * (u.y * A->m[2][j] - u.z * A->m[1][j]);
            D.m[1][j] += t * (u.z * A->m[0][j] - u.x * A->m[2][j]);
            D.m[2][j] += t * (u.x * A->m[1][j] - u.y * A->m[0][j]);
        }
        D.m[0][1] += t * Ju.z, D.m[0][2] -= t * Ju.y;
        D.m[1][0] -= t * Ju.z, D.m[1][2] += t * Ju.x;
        D.m[2][0] += t * Ju.y, D.m[2][1] -= t * Ju.x;
        if (x > 1e-3) {
            mor_vec3 s = mor_scale((0.5 * h * (1.0 + tangent * tangent) - t) / (speed * speed), u);
            D.m[0][0] += c.x * s.x, D.m[0][1] += c.x * s.y, D.m[0][2] += c.x * s.z;
            D.m[1][0] += c.y * s.x, D.m[1][1] += c.y * s.y, D.m[1][2] += c.y * s.z;
            D.m[2][0] += c.z * s.x, D.m[2][1] += c.z * s.y, D.m[2][2] += c.z * s.z;
        }
        mor_mat3 inverse = mor_mat3_inverse(&D);
        u = mor_sub(u, mor_mul(&inverse, F));
    }
    return answer;
}

mor_quat mor_turn_free(mor_turning b, mor_quat q, mor_vec3 L, double h, mor_vec3 guess, mor_vec3* mean)
{
    if (mor_turns_alike(b)) {
        mor_vec3 steady = mor_scale(b.inverse->m[0][0], L);
        if (mean) *mean = steady;
        return mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(h, steady)), q));
    }
    double turn = h * mor_norm(guess);
    int parts = turn <= SLOW_TURN ? 1 : turn < LARGEST_TURN * PARTS ? 1 + (int)ceil(turn / LARGEST_TURN) : PARTS;
    double part = h / parts;
    mor_vec3 u = mor_unrotate(q, guess), sum = mor_v3(0, 0, 0);
    for (int i = 0; i < parts; i++) {
        u = mean_velocity(b.J, mor_unrotate(q, L), part, u);
        mor_vec3 w = mor_rotate(q, u);
        sum = mor_add(sum, w);
        q = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(part, w)), q));
    }
    if (mean) *mean = parts == 1 ? sum : mor_scale(1.0 / parts, sum);
    return q;
}

bool mor_turn_to_energy(mor_turning b, mor_vec3 L, double energy, double tolerance, double most, mor_quat* q,
                        double* angle)
{
    mor_quat at = *q;
    double turned = 0.0, before = INFINITY;
    if (angle) *angle = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        mor_vec3 w;
        double off = energy - mor_turn_energy(b, at, L, &w);
        if (fabs(off) <= tolerance || (k > 3 && !(fabs(off) < before) && fabs(off) <= 8.0 * tolerance)) {
            if (angle) *angle = turned;
            *q = at;
            return true;
        }
        before = fabs(off);
        mor_vec3 slope = mor_cross(w, L);
        double square = mor_dot(slope, slope), step = fabs(off) / sqrt(square);
        if (!(square > 0.0) || !((turned += step) <= most)) return false;
        at = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(off / square, slope)), at));
    }
    return false;
}
