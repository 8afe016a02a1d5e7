/* sin, cos, tan and their inverses (elementary.h).
 *
 *   reduction   x = n pi/2 + r, |r| <= pi/4: with pi/2 in three parts up to 2^19, and where that loses digits or x is
 *               larger with 192 bits of 2/pi around the binary point of x 2/pi (Payne & Hanek 1983)
 *   sin r       r + r^3 S(r^2);  cos r = 1 - r^2/2 + r^4 C(r^2);  tan = sin/cos as sums of two doubles
 *   atan x      atan c + atan((x - c)/(1 + c x)), c = 0, 1/2, 1, 3/2 or infinity; atan t = t - t^3 A(t^2), |t| <= 7/16
 *   atan2       atan of the quotient as a sum of two doubles;  asin x = atan(x/sqrt(1 - x^2)), acos likewise
 *
 * S, C, A: polynomials of least maximal error (Remez), below 2^-56 of the function. References: Payne & Hanek (1983),
 * Radian reduction for trigonometric functions; Muller (2016), Elementary Functions (3rd ed.), ch. 3 and 11. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/elementary.h"
#include "base/twofold.h"

static const mor_twofold half_pi = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };

/* ------------------------------------------------------------------------------- reduction */

/* 2/pi, 64 bits a word, the first after the binary point */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d
};

/* Number of leading zeros of v > 0. */
static int leading_zeros(uint64_t v)
{
    int n = 0;
    for (int step = 32; step > 0; step /= 2)
        if (v >> (64 - step) == 0) v <<= step, n += step;
    return n;
}

/* w (3 words, the first the highest) := w << n, 0 <= n < 192 */
static void shift_left(uint64_t* w, int n)
{
    for (; n >= 64; n -= 64) w[0] = w[1], w[1] = w[2], w[2] = 0;
    if (n == 0) return;
    w[0] = w[0] << n | w[1] >> (64 - n);
    w[1] = w[1] << n | w[2] >> (64 - n);
    w[2] <<= n;
}

/* a b in two words */
static uint64_t multiply_words(uint64_t a, uint64_t b, uint64_t* low)
{
    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    uint64_t p = a0 * b0, q = a1 * b0, r = a0 * b1, middle = (p >> 32) + (q & 0xffffffff) + (r & 0xffffffff);
    *low = middle << 32 | (p & 0xffffffff);
    return a1 * b1 + (q >> 32) + (r >> 32) + (middle >> 32);
}

/* r of x = m 2^e > 0.7, m of 53 bits; returns n mod 4. The bits of 2/pi that only add multiples of 4 to x 2/pi are left
 * out, and those below 2^-135 of the result. */
static int reduce_exactly(uint64_t m, int e, mor_twofold* r)
{
    int skip = e > 2 ? e - 2 : 0, word = skip / 64, bit = skip % 64, drop = e > 2 ? 0 : 2 - e;
    uint64_t g[3], w[4] = { 0 };
    for (int k = 0; k < 3; k++)
        g[k] = bit ? two_over_pi[word + k] << bit | two_over_pi[word + k + 1] >> (64 - bit) : two_over_pi[word + k];
    /* w := m g, 4 words */
    for (int k = 2; k >= 0; k--) {
        uint64_t low, high = multiply_words(m, g[k], &low);
        w[k + 1] += low;
        w[k] = high + (w[k + 1] < low);
    }
    if (drop) /* at most 54 bits */
        for (int k = 3; k >= 0; k--) w[k] = w[k] >> drop | (k > 0 ? w[k - 1] << (64 - drop) : 0);
    int n = (int)(w[1] >> 62);
    shift_left(w + 1, 2); /* now the fraction of x 2/pi */
    double sign = 1.0;
    if (w[1] >> 63) { /* to the nearest */
        n++, sign = -1.0;
        w[3] = ~w[3] + 1, w[2] = ~w[2] + (w[3] == 0), w[1] = ~w[1] + (w[3] == 0 && w[2] == 0);
    }
    int zeros = w[1] ? leading_zeros(w[1]) : w[2] ? 64 + leading_zeros(w[2]) : 127;
    shift_left(w + 1, zeros);
    /* the first 53 bits and the next 53 */
    double hi = (double)(w[1] >> 11), lo = (double)((w[1] & 0x7ff) << 42 | w[2] >> 22);
    double unit = sign * ldexp(1.0, -53 - zeros);
    *r = mor_two_multiply((mor_twofold){ unit * hi, unit * 0x1p-53 * lo }, half_pi);
    return n & 3;
}

/* x = n pi/2 + r; returns n mod 4. x is finite. */
static int reduce(double x, mor_twofold* r)
{
    if (fabs(x) <= 0x1.921fb54442d18p-1) return *r = (mor_twofold){ x, 0.0 }, 0;
    if (fabs(x) < 0x1p19) {
        double n = (x * 0x1.45f306dc9c883p-1 + 0x1.8p52) - 0x1.8p52;
        double a = x - n * 0x1.921fb54400000p+0; /* 33 bits: exact, as the next product */
        mor_twofold s = mor_two_sum(a, -(n * 0x1.0b4611a600000p-34));
        *r = mor_quick_sum(s.hi, s.lo - n * 0x1.3198a2e037073p-69);
        if (fabs(r->hi) > 0x1p-20) return (int)((int64_t)n & 3);
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 52 & 0x7ff) - 1075;
    int n = reduce_exactly((bits & 0x000fffffffffffffu) | 0x0010000000000000u, e, r);
    if (x > 0.0) return n;
    r->hi = -r->hi, r->lo = -r->lo;
    return -n & 3;
}

/* --------------------------------------------------------------------------------- kernels */

/* sin(x + y) - x, |x| <= pi/4, y a correction */
static double sine_tail(double x, double y)
{
    double z = x * x, v = z * x, p = 0x1.5d750afae5a72p-33;
    p = -0x1.ae5e0e142f441p-26 + z * p;
    p = 0x1.71de3522e12fbp-19 + z * p;
    p = -0x1.a01a019bde577p-13 + z * p;
    p = 0x1.111111110f90dp-7 + z * p;
    return (y - z * (0.5 * y - v * p)) + v * -0x1.555555555554bp-3;
}

/* cos(x + y) = hi + lo, lo the smaller but not small */
static mor_twofold cosine_parts(double x, double y)
{
    double z = x * x, h = 0.5 * z, p = -0x1.8fe76f5ace7ebp-37;
    p = 0x1.1eea6a337e642p-29 + z * p;
    p = -0x1.27e4f8ddb91dcp-22 + z * p;
    p = 0x1.a01a019dfbb49p-16 + z * p;
    p = -0x1.6c16c16c16012p-10 + z * p;
    p = 0x1.5555555555553p-5 + z * p;
    mor_twofold w = mor_quick_sum(1.0, -h);
    return (mor_twofold){ w.hi, w.lo + (z * (z * p) - x * y) };
}

static double sine(mor_twofold r) { return r.hi + sine_tail(r.hi, r.lo); }

static double cosine(mor_twofold r)
{
    mor_twofold c = cosine_parts(r.hi, r.lo);
    return c.hi + c.lo;
}

double mor_sin(double x)
{
    mor_twofold r;
    if (!isfinite(x)) return x - x;
    if (fabs(x) < 0x1p-27) return x;
    int n = reduce(x, &r);
    double s = n & 1 ? cosine(r) : sine(r);
    return n & 2 ? -s : s;
}

double mor_cos(double x)
{
    mor_twofold r;
    if (!isfinite(x)) return x - x;
    int n = reduce(x, &r);
    double c = n & 1 ? sine(r) : cosine(r);
    return n == 1 || n == 2 ? -c : c;
}

void mor_sincos(double x, double* s, double* c)
{
    mor_twofold r;
    if (fabs(x) <= 0x1.921fb54442d18p-1 && fabs(x) >= 0x1p-27) { /* no reduction */
        r = (mor_twofold){ x, 0.0 };
        *s = sine(r), *c = cosine(r);
        return;
    }
    if (!isfinite(x)) {
        *s = *c = x - x;
        return;
    }
    int n = reduce(x, &r);
    double a = fabs(x) < 0x1p-27 ? x : sine(r), b = cosine(r);
    double p = n & 1 ? b : a, q = n & 1 ? a : b;
    *s = n & 2 ? -p : p;
    *c = n == 1 || n == 2 ? -q : q;
}

double mor_tan(double x)
{
    mor_twofold r;
    if (!isfinite(x)) return x - x;
    if (fabs(x) < 0x1p-27) return x;
    int n = reduce(x, &r);
    mor_twofold s = mor_quick_sum(r.hi, sine_tail(r.hi, r.lo)), c = cosine_parts(r.hi, r.lo);
    if (fabs(r.hi) > 0x1p-100) c.lo -= 0.5 * mor_two_product(r.hi, r.hi).lo; /* what squaring lost */
    c = mor_quick_sum(c.hi, c.lo);
    mor_twofold t = n & 1 ? mor_two_divide((mor_twofold){ -c.hi, -c.lo }, s) : mor_two_divide(s, c);
    return t.hi + t.lo;
}

/* -------------------------------------------------------------------------------- inverses */

/* atan(q) for q.hi >= 0; q.lo is a correction. */
static mor_twofold atan_parts(mor_twofold q)
{
    static const mor_twofold at_half = { 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56 };
    static const mor_twofold at_one = { 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55 };
    static const mor_twofold at_three_halves = { 0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56 };
    double x = q.hi, t = x, correction = x < 0x1p60 ? q.lo / (1.0 + x * x) : 0.0;
    mor_twofold base = { 0.0, 0.0 };
    if (x < 0.4375) base.hi = 0.0;
    else if (x < 0.6875) base = at_half, t = (2.0 * x - 1.0) / (2.0 + x);
    else if (x < 1.1875) base = at_one, t = (x - 1.0) / (x + 1.0);
    else if (x < 2.4375) base = at_three_halves, t = (x - 1.5) / (1.0 + 1.5 * x);
    else base = half_pi, t = -1.0 / x;
    double z = t * t, p = 0x1.08fc8adc79cb6p-6;
    p = -0x1.2a88bd6759785p-5 + z * p;
    p = 0x1.977da804e3ed5p-5 + z * p;
    p = -0x1.dddd3ed300a40p-5 + z * p;
    p = 0x1.10d6b8de48f75p-4 + z * p;
    p = -0x1.3b0f48e52df2cp-4 + z * p;
    p = 0x1.745cdfe2e3725p-4 + z * p;
    p = -0x1.c71c7019b1c33p-4 + z * p;
    p = 0x1.24924920ecf3fp-3 + z * p;
    p = -0x1.999999999237bp-3 + z * p;
    p = 0x1.5555555555532p-2 + z * p;
    mor_twofold s = mor_two_sum(base.hi, t);
    return mor_quick_sum(s.hi, s.lo + (base.lo - t * (z * p) + correction));
}

double mor_atan(double x)
{
    if (x != x || fabs(x) < 0x1p-27) return x;
    mor_twofold a = atan_parts((mor_twofold){ fabs(x), 0.0 });
    return copysign(a.hi + a.lo, x);
}

/* pi - a or a */
static double turned(mor_twofold a, int turn)
{
    if (!turn) return a.hi + a.lo;
    mor_twofold s = mor_two_sum(2.0 * half_pi.hi, -a.hi);
    return s.hi + (s.lo + (2.0 * half_pi.lo - a.lo));
}

double mor_atan2(double y, double x)
{
    if (x != x || y != y) return x + y;
    double a = fabs(x), b = fabs(y);
    int turn = signbit(x) != 0;
    if (b == 0.0) return copysign(turn ? 2.0 * half_pi.hi : 0.0, y);
    if (isinf(a) && isinf(b)) return copysign(turn ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1, y);
    if (a == 0.0 || isinf(b)) return copysign(half_pi.hi, y);
    if (isinf(a)) return copysign(turn ? 2.0 * half_pi.hi : 0.0, y);
    int ea, eb;
    a = frexp(a, &ea), b = frexp(b, &eb);
    if (eb - ea > 64) return copysign(half_pi.hi, y);
    if (eb - ea < -64) return copysign(turn ? 2.0 * half_pi.hi : ldexp(b / a, eb - ea), y);
    mor_twofold q = mor_two_divide((mor_twofold){ b, 0.0 }, (mor_twofold){ a, 0.0 });
    double unit = ldexp(1.0, eb - ea);
    q.hi *= unit, q.lo *= unit;
    return copysign(turned(atan_parts(q), turn), y);
}

/* sqrt(1 - x^2), |x| < 1 */
static mor_twofold other_leg(double x)
{
    mor_twofold p = mor_two_product(x, x), u = mor_two_sum(1.0, -p.hi);
    u = mor_quick_sum(u.hi, u.lo - p.lo);
    double s = sqrt(u.hi);
    mor_twofold square = mor_two_product(s, s);
    return mor_quick_sum(s, (((u.hi - square.hi) - square.lo) + u.lo) / (2.0 * s));
}

double mor_asin(double x)
{
    double a = fabs(x);
    if (!(a <= 1.0)) return x != x ? x : NAN;
    if (a < 0x1p-27) return x;
    if (a == 1.0) return copysign(half_pi.hi, x);
    mor_twofold t = atan_parts(mor_two_divide((mor_twofold){ a, 0.0 }, other_leg(a)));
    return copysign(t.hi + t.lo, x);
}

double mor_acos(double x)
{
    double a = fabs(x);
    if (!(a <= 1.0)) return x != x ? x : NAN;
    if (a < 0x1p-60) return half_pi.hi;
    if (a == 1.0) return x > 0.0 ? 0.0 : 2.0 * half_pi.hi;
    return turned(atan_parts(mor_two_divide(other_leg(a), (mor_twofold){ a, 0.0 })), x < 0.0);
}
