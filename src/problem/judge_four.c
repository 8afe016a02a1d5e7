/* Contacts of three rows on a circular cone in the judge, four at a time.
 *
 * Every lane does what judge_step.c and judge_contact.c do with one contact, in the same order, and the sums take the
 * lanes one after the other: the same bits. Formulas and references are there. */
#include "linalg/wide.h"
#include "problem/judge.h"

#include <math.h>

static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN wins */

MOR_ALWAYS_INLINE void root(mor_four* x)
{
    *x = (mor_four){ sqrt((*x)[0]), sqrt((*x)[1]), sqrt((*x)[2]), sqrt((*x)[3]) };
}

/* The natural map with step rho, over rho: its length. shift: mu |u_T|. */
MOR_ALWAYS_INLINE void natural(const mor_four* mu, const mor_four* rho, const mor_four* p, const mor_four* u,
                               const mor_four* shift, mor_four* out)
{
    const mor_four zero = { 0, 0, 0, 0 }, one = { 1, 1, 1, 1 };
    const mor_four N = p[0] - *rho * (u[0] + *shift), x = p[1] - *rho * u[1], y = p[2] - *rho * u[2];
    mor_four t = x * x + y * y;
    root(&t);
    const mor_four_bits inside = (N >= zero) & (t <= *mu * N), polar = *mu * t <= -N;
    mor_four n = (N + *mu * t) / (one + *mu * *mu);
    mor_four f = MOR_FOUR_SELECT(t > *mu * n, *mu * n / t, one);
    n = MOR_FOUR_SELECT(inside, N, n);
    f = MOR_FOUR_SELECT(inside, one, f);
    const mor_four a = p[0] - MOR_FOUR_SELECT(polar, zero, n), b = p[1] - MOR_FOUR_SELECT(polar, zero, x * f),
                   c = p[2] - MOR_FOUR_SELECT(polar, zero, y * f);
    *out = a * a + b * b + c * c;
    root(out);
    *out = *out / *rho;
}

/* Squares of the Fischer-Burmeister and the Chen-Chen-Kanzow function. */
MOR_ALWAYS_INLINE void pair(const mor_four* a, const mor_four* b, mor_four* fb, mor_four* cck)
{
    const mor_four zero = { 0, 0, 0, 0 }, s = *a + *b;
    mor_four r = *a * *a + *b * *b, over_a = *a, over_b = *b;
    root(&r);
    const mor_four phi = MOR_FOUR_SELECT(s > zero, 2.0 * *a * *b / (s + r), s - r);
    mor_four_max(&over_a, &zero);
    mor_four_max(&over_b, &zero);
    const mor_four penalised = 0.7 * phi + (1.0 - 0.7) * over_a * over_b;
    *fb = phi * phi, *cck = penalised * penalised;
}

/* What is found of four contacts. */
typedef struct findings {
    mor_four scaled, plain; /* natural maps */
    mor_four fb[4], cck[4]; /* terms in their order */
    mor_four normal, friction, power;
} findings;

MOR_ALWAYS_INLINE void find(const mor_four_contacts* k, findings* out)
{
    const mor_four zero = { 0, 0, 0, 0 }, one = { 1, 1, 1, 1 };
    const mor_four mu = MOR_FOUR_AT(k->mu), rho = MOR_FOUR_AT(k->rho);
    const mor_four p[3] = { MOR_FOUR_AT(k->p[0]), MOR_FOUR_AT(k->p[1]), MOR_FOUR_AT(k->p[2]) };
    const mor_four u[3] = { MOR_FOUR_AT(k->u[0]), MOR_FOUR_AT(k->u[1]), MOR_FOUR_AT(k->u[2]) };
    mor_four slip = u[1] * u[1] + u[2] * u[2];
    root(&slip);
    const mor_four shift = mu * slip;
    natural(&mu, &rho, p, u, &shift, &out->scaled);
    natural(&mu, &one, p, u, &shift, &out->plain);

    const mor_four a = p[0] / rho, b = p[1] / rho, c = p[2] / rho;
    pair(&a, &u[0], &out->fb[0], &out->cck[0]);
    const mor_four slack = mu * mu * a * a - (b * b + c * c);
    pair(&slip, &slack, &out->fb[1], &out->cck[1]);
    for (int j = 1; j < 3; j++) {
        const mor_four e = mu * a * u[j] + slip * p[j] / rho;
        out->fb[j + 1] = out->cck[j + 1] = e * e;
    }

    const mor_four_bits unknown = (p[0] != p[0]) | (u[0] != u[0]);
    const mor_four least = MOR_FOUR_SELECT(a < u[0], a, u[0]);
    out->normal = MOR_FOUR_SELECT(unknown, p[0] + u[0], MOR_FOUR_SELECT(least < zero, -least, least));

    mor_four over = p[0], size, apart, force = p[1] * p[1] + p[2] * p[2];
    mor_four_max(&over, &zero);
    const mor_four radius = mu * over, x = p[1] - rho * u[1], y = p[2] - rho * u[2];
    size = x * x + y * y;
    root(&size);
    const mor_four scale = MOR_FOUR_SELECT(size > radius, radius / size, one);
    apart = (p[1] - scale * x) * (p[1] - scale * x) + (p[2] - scale * y) * (p[2] - scale * y);
    root(&apart);
    root(&force);
    out->friction = apart / rho;
    out->power = force * slip;
}

MOR_ALWAYS_INLINE void mor_judge_four_body(const mor_four_contacts* k, mor_tally* scaled, mor_tally* plain,
                                           mor_residual* worst)
{
    findings f;
    find(k, &f);
    for (int lane = 0; lane < k->count; lane++) {
        scaled->natural += f.scaled[lane] * f.scaled[lane];
        scaled->largest = larger(scaled->largest, f.scaled[lane]);
        plain->natural += f.plain[lane] * f.plain[lane];
        plain->largest = larger(plain->largest, f.plain[lane]);
        for (int i = 0; i < 4; i++) scaled->fb += f.fb[i][lane], scaled->cck += f.cck[i][lane];
        worst->normal_error = larger(worst->normal_error, f.normal[lane]);
        worst->friction_error = larger(worst->friction_error, larger(0.0, f.friction[lane]));
        worst->friction_power += f.power[lane];
    }
}

MOR_WIDE_VOID(extern, mor_judge_four,
              (const mor_four_contacts* k, mor_tally* scaled, mor_tally* plain, mor_residual* worst),
              (k, scaled, plain, worst))
