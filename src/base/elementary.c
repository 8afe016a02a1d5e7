/* exp, expm1, log, pow, hypot (elementary.h).
 *
 *   exp     x = k ln2 + r, |r| <= ln2/2; exp r = 1 + r + r^2/2 + r^3 E(r)
 *   log     x = 2^k m, sqrt(1/2) <= m < sqrt 2, s = (m - 1)/(m + 1), log m = 2 s + s^3 L(s^2)
 *   pow     exp(y log x) with the logarithm as a sum of two doubles: log m = 2 s (1 + s^2/3 + s^4 P(s^2))
 *   hypot   the sum of squares and its root as sums of two doubles
 *
 * E, L, P: polynomials of least maximal error (Remez), below 2^-57 of the function. References: Muller (2016), Elementary
 * Functions (3rd ed.), ch. 3, 4 and 11; Cody & Waite (1980), Software Manual for the Elementary Functions. */
#include "base/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/twofold.h"

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k, -1022 <= k <= 1023 */
static double power_of_two(int k) { return from_bits((uint64_t)(k + 1023) << 52); }

/* x 2^k for any k; one rounding, at the end */
static double scale(double x, int k)
{
    if (k >= -1000 && k <= 1000) return x * power_of_two(k);
    int h = k / 2;
    return k > 0 ? x * power_of_two(h) * power_of_two(k - h) : x * power_of_two(-100) * power_of_two(k + 100);
}

static const double to_integer = 0x1.8p52; /* adding and subtracting it rounds to the nearest integer */

/* ------------------------------------------------------------------------------------- exp */

static const double inverse_ln2 = 0x1.71547652b82fep+0;
static const double ln2_1 = 0x1.62e42fee00000p-1, ln2_2 = 0x1.a39ef35793c76p-33; /* 32 bits, the rest */

/* (exp r - 1 - r - r^2/2)/r^3 for |r| <= ln2/2 */
static double exp_tail(double r)
{
    double p = 0x1.1fa18ab2b5723p-29;
    p = 0x1.af720ef21dd8dp-26 + r * p;
    p = 0x1.27e4bcb1a8218p-22 + r * p;
    p = 0x1.71ddec9395ef2p-19 + r * p;
    p = 0x1.a01a01b59baf4p-16 + r * p;
    p = 0x1.a01a01b4eca38p-13 + r * p;
    p = 0x1.6c16c16c130e2p-10 + r * p;
    p = 0x1.111111110e8a4p-7 + r * p;
    p = 0x1.555555555555fp-5 + r * p;
    return 0x1.555555555555cp-3 + r * p;
}

/* x + lo = k ln2 + r.hi + r.lo, |x| < 800 */
static mor_twofold exp_reduce(double x, double lo, int* k)
{
    double n = (x * inverse_ln2 + to_integer) - to_integer;
    double a = x - n * ln2_1, b = n * ln2_2 - lo;
    double r = a - b;
    *k = (int)n;
    return (mor_twofold){ r, (a - r) - b };
}

/* exp(x + lo) = 2^k (hi + lo') */
static mor_twofold exp_parts(double x, double lo, int* k)
{
    mor_twofold r = exp_reduce(x, lo, k), s = mor_quick_sum(1.0, r.hi);
    double square = r.hi * r.hi;
    return (mor_twofold){ s.hi, s.lo + (square * (0.5 + r.hi * exp_tail(r.hi)) + (r.lo + r.lo * r.hi)) };
}

double mor_exp(double x)
{
    if (!(x < 709.8)) return x <= 0x1.62e42fefa39efp+9 ? 0x1.fffffffffff2ap+1023 : x == x ? INFINITY : x;
    if (x < -745.2) return 0.0;
    int k;
    mor_twofold e = exp_parts(x, 0.0, &k);
    return scale(e.hi + e.lo, k);
}

double mor_expm1(double x)
{
    if (x != x || fabs(x) < 0x1p-54) return x;
    if (x > 709.0) return mor_exp(x);
    if (x < -45.0) return -1.0;
    if (fabs(x) < 0.34) return x + x * x * (0.5 + x * exp_tail(x));
    int k;
    mor_twofold r = exp_reduce(x, 0.0, &k), square = mor_two_product(r.hi, r.hi);
    /* (p - 1) + p (r + r^2/2 + ...), p = 2^k, the first three terms exactly */
    double p = power_of_two(k), rest = r.lo + r.lo * r.hi + square.hi * r.hi * exp_tail(r.hi);
    mor_twofold a = mor_two_sum(p, -1.0), b = mor_two_sum(a.hi, p * r.hi), c = mor_two_sum(b.hi, 0.5 * p * square.hi);
    return c.hi + (c.lo + b.lo + a.lo + p * (0.5 * square.lo + rest));
}

/* ------------------------------------------------------------------------------------- log */

/* x = 2^k m, sqrt(1/2) <= m < sqrt 2; x > 0, finite */
static double mantissa(double x, int* k)
{
    *k = 0;
    if (x < 0x1p-1022) x *= 0x1p54, *k = -54;
    uint64_t bits = bits_of(x);
    *k += (int)(bits >> 52) - 1023;
    double m = from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    if (m < 0x1.6a09e667f3bcdp+0) return m;
    ++*k;
    return 0.5 * m;
}

double mor_log(double x)
{
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : x < 0.0 ? NAN : x;
    if (x == INFINITY) return x;
    int k;
    double f = mantissa(x, &k) - 1.0, s = f / (2.0 + f), z = s * s;
    double p = 0x1.2f61768e9906dp-3;
    p = 0x1.399b98aaf9d27p-3 + z * p;
    p = 0x1.74665677d815ap-3 + z * p;
    p = 0x1.c71c527d19da7p-3 + z * p;
    p = 0x1.2492493ff4813p-2 + z * p;
    p = 0x1.99999999843c4p-2 + z * p;
    p = 0x1.555555555557cp-1 + z * p;
    /* 2 s = f - s f, so that log m = f - (h - s (h + z p)), h = f^2/2: the large term is exact */
    double h = 0.5 * f * f, tail = s * (h + z * p), n = k;
    return n * ln2_1 - ((h - (tail + n * ln2_2)) - f);
}

/* ------------------------------------------------------------------------------------- pow */

/* log x to 2^-65 or so; x > 0, finite */
static mor_twofold log_parts(double x)
{
    static const mor_twofold third = { 0x1.5555555555555p-2, 0x1.5555555555555p-56 };
    int k;
    double m = mantissa(x, &k), n = k;
    mor_twofold s = mor_two_divide((mor_twofold){ m - 1.0, 0.0 }, mor_two_sum(m, 1.0));
    mor_twofold z = mor_two_multiply(s, s), w = mor_two_multiply(z, third);
    double p = 0x1.beffdf1e25084p-5;
    p = 0x1.ab84fc7128f3ep-5 + z.hi * p;
    p = 0x1.e2022693c0f41p-5 + z.hi * p;
    p = 0x1.1110bc1a72736p-4 + z.hi * p;
    p = 0x1.3b13b24a24c93p-4 + z.hi * p;
    p = 0x1.745d1743d3434p-4 + z.hi * p;
    p = 0x1.c71c71c71e7d0p-4 + z.hi * p;
    p = 0x1.249249249248bp-3 + z.hi * p;
    p = 0x1.999999999999ap-3 + z.hi * p;
    mor_twofold t = mor_two_sum(w.hi, z.hi * z.hi * p);
    w = mor_quick_sum(t.hi, t.lo + w.lo);
    mor_twofold u = mor_two_multiply(s, w), l = mor_two_sum(s.hi, u.hi);
    l.lo += s.lo + u.lo;
    mor_twofold a = mor_two_sum(n * ln2_1, n * 0x1.a39ef35600000p-33), b = mor_two_sum(a.hi, 2.0 * l.hi);
    return mor_quick_sum(b.hi, b.lo + (a.lo + 2.0 * l.lo + n * 0x1.93c7673007e5fp-65));
}

static bool is_integer(double y) { return fabs(y) >= 0x1p53 || floor(y) == y; }
static bool is_odd(double y) { return fabs(y) < 0x1p53 && is_integer(y) && fmod(y, 2.0) != 0.0; }

double mor_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return x + y;
    double size = fabs(x), sign = x < 0.0 || (x == 0.0 && 1.0 / x < 0.0) ? (is_odd(y) ? -1.0 : 1.0) : 1.0;
    if (isinf(y)) return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    if (size == 0.0 || isinf(x)) return sign * ((size == 0.0) == (y > 0.0) ? 0.0 : INFINITY);
    if (x < 0.0 && !is_integer(y)) return NAN;
    mor_twofold l = log_parts(size);
    double rough = y * l.hi;
    if (rough > 720.0) return sign * INFINITY;
    if (rough < -760.0) return sign * 0.0;
    if (fabs(rough) < 0x1p-60) return sign;
    /* exact products need factors of moderate size: y may be huge where the logarithm is tiny, or the reverse */
    int k, shift = 0;
    if (fabs(y) > 0x1p400) y *= 0x1p-500, shift = 500;
    else if (fabs(y) < 0x1p-400) y *= 0x1p500, shift = -500;
    mor_twofold p = mor_two_product(y, l.hi);
    double back = power_of_two(shift);
    mor_twofold e = exp_parts(p.hi * back, (p.lo + y * l.lo) * back, &k);
    return sign * scale(e.hi + e.lo, k);
}

/* ----------------------------------------------------------------------------------- hypot */

double mor_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    if (isinf(a) || isinf(b)) return INFINITY;
    if (a != a || b != b) return a + b;
    if (a < b) {
        double t = a;
        a = b, b = t;
    }
    if (b == 0.0 || b < 0x1p-60 * a) return a + b;
    double back = 1.0;
    if (a > 0x1p400) back = 0x1p600;
    else if (b < 0x1p-400) back = 0x1p-600;
    if (back != 1.0) a *= 1.0 / back, b *= 1.0 / back;
    mor_twofold p = mor_two_product(a, a), q = mor_two_product(b, b), s = mor_two_sum(p.hi, q.hi);
    double r = sqrt(s.hi);
    mor_twofold square = mor_two_product(r, r);
    return back * (r + (((s.hi - square.hi) - square.lo) + (s.lo + p.lo + q.lo)) / (2.0 * r));
}
