/* Elementary functions against the C library's long double ones, which have eleven bits more, in units of the last place
 * of the double result; and special values as C17 Annex F lists them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/elementary.h"
#include "moreau/base.h"

static mor_rng rng = { 11 };

/* Any finite double, all exponents alike. */
static double any(void)
{
    for (;;) {
        uint64_t bits = 0;
        for (int k = 0; k < 4; k++) bits = bits << 16 | (uint64_t)(mor_rng_uniform(&rng) * 65536.0);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) return x;
    }
}

static double between(double a, double b) { return a + (b - a) * mor_rng_uniform(&rng); }

/* |value - exact| in units of the last place of the exact value. */
static double ulps(double value, long double exact)
{
    if (isnan(exact) && isnan(value)) return 0.0;
    double rounded = (double)exact;
    if (isinf(rounded) || isinf(value))
        return rounded == value || fabs(value) == 0x1.fffffffffffffp+1023 ? 0.0 : INFINITY;
    int e;
    frexpl(exact, &e);
    if (e < -1021) e = -1021;
    return (double)(fabsl((long double)value - exact) / ldexpl(1.0L, e - 53));
}

static int tries(void) { return getenv("MOREAU_LONG") ? 5000000 : getenv("MOREAU_SLOW") ? 20000 : 300000; }

typedef struct one {
    const char* name;
    double (*mine)(double);
    long double (*theirs)(long double);
    double from, to; /* the usual range */
} one;

static void functions_of_one_argument_are_right_to_the_last_place(void** state)
{
    (void)state;
    static const one all[] = {
        { "sin", mor_sin, sinl, -10, 10 },   { "cos", mor_cos, cosl, -10, 10 },     { "tan", mor_tan, tanl, -10, 10 },
        { "asin", mor_asin, asinl, -1, 1 },  { "acos", mor_acos, acosl, -1, 1 },    { "atan", mor_atan, atanl, -5, 5 },
        { "exp", mor_exp, expl, -745, 710 }, { "expm1", mor_expm1, expm1l, -2, 2 }, { "log", mor_log, logl, 0, 10 },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const one* f = &all[k];
        double worst = 0.0, at = 0.0;
        for (int t = 0; t < tries(); t++) {
            double x = t % 4 == 0   ? any()
                       : t % 4 == 1 ? between(f->from, f->to)
                       : t % 4 == 2 ? between(-1.0, 1.0)
                                    : (t % 8 == 3 ? 1.0 : -1.0) * ldexp(between(1.0, 2.0), (int)between(-40, 30));
            if (t % 64 == 5) x = (double)(int)between(-2000, 2000) * 1.5707963267948966; /* near multiples of pi/2 */
            double u = ulps(f->mine(x), f->theirs((long double)x));
            if (!(u <= worst)) worst = u, at = x;
        }
        print_message("%-6s %.3f ulp at %a\n", f->name, worst, at);
        if (!(worst < 0.97)) fail_msg("%s(%a) is wrong by %g units in the last place", f->name, at, worst);
    }
}

static void functions_of_two_arguments_are_right_to_the_last_place(void** state)
{
    (void)state;
    double worst[3] = { 0 }, x[3] = { 0 }, y[3] = { 0 };
    for (int t = 0; t < tries(); t++)
        for (int f = 0; f < 3; f++) {
            double a = t % 3 == 0 ? any() : between(-3, 3), b = t % 3 == 0 ? any() : between(-3, 3);
            if (t % 3 == 1) b = a * ldexp(between(1.0, 2.0), (int)between(-30, 30));
            if (f == 2) a = fabs(a);
            if (f == 2 && t % 3) b = between(-300.0, 300.0);
            if (f == 2 && t % 3 == 2) a = 1.0 + ldexp(a, -(int)between(0, 40));
            double mine = f == 0 ? mor_atan2(a, b) : f == 1 ? mor_hypot(a, b) : mor_pow(a, b);
            long double theirs = f == 0 ? atan2l(a, b) : f == 1 ? hypotl(a, b) : powl(a, b);
            double u = ulps(mine, theirs);
            if (!(u <= worst[f])) worst[f] = u, x[f] = a, y[f] = b;
        }
    static const char* const names[] = { "atan2", "hypot", "pow" };
    for (int f = 0; f < 3; f++) {
        print_message("%-6s %.3f ulp at %a, %a\n", names[f], worst[f], x[f], y[f]);
        if (!(worst[f] < 0.97)) fail_msg("%s(%a, %a): %g units in the last place", names[f], x[f], y[f], worst[f]);
    }
}

static void sincos_is_sin_and_cos(void** state)
{
    (void)state;
    for (int t = 0; t < 100000; t++) {
        double x = t % 2 ? any() : between(-10, 10), s, c;
        mor_sincos(x, &s, &c);
        double a = mor_sin(x), b = mor_cos(x);
        assert_true(memcmp(&s, &a, sizeof s) == 0 && memcmp(&c, &b, sizeof c) == 0);
    }
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }

/* Every pair of special values: what the C library says, which Annex F prescribes. */
static void special_values_are_those_of_annex_f(void** state)
{
    (void)state;
    static const double special[] = {
        0.0,  -0.0,     1.0,       -1.0, 2.0,   -2.0,   3.0,       -3.0,       0.5,
        -0.5, INFINITY, -INFINITY, NAN,  1e300, -1e300, 0x1p-1074, -0x1p-1074, 0x1p-1022
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        double x = special[i];
        if (!same(mor_sin(x), sin(x)) && fabs(x) < 1e-3) fail_msg("sin(%a)", x);
        if (!isfinite(x)) assert_true(isnan(mor_sin(x)) && isnan(mor_cos(x)) && isnan(mor_tan(x)));
        if (!same(mor_log(x), log(x)) && !(x > 0 && isfinite(x))) fail_msg("log(%a) = %a", x, mor_log(x));
        if (!isfinite(x) || x == 0.0) {
            if (!same(mor_exp(x), exp(x))) fail_msg("exp(%a)", x);
            if (!same(mor_expm1(x), expm1(x))) fail_msg("expm1(%a)", x);
            if (!same(mor_atan(x), atan(x))) fail_msg("atan(%a)", x);
        }
        if (!same(mor_asin(x), asin(x)) && !(fabs(x) < 1)) fail_msg("asin(%a)", x);
        if (!same(mor_acos(x), acos(x)) && !(fabs(x) < 1)) fail_msg("acos(%a)", x);
        for (size_t j = 0; j < sizeof special / sizeof *special; j++) {
            double y = special[j];
            if (ulps(mor_atan2(x, y), atan2l(x, y)) > 0.9 || signbit(mor_atan2(x, y)) != signbit(atan2(x, y)))
                if (!isnan(x) && !isnan(y)) fail_msg("atan2(%a, %a) = %a, not %a", x, y, mor_atan2(x, y), atan2(x, y));
            if (!same(mor_pow(x, y), pow(x, y)) && !(ulps(mor_pow(x, y), powl(x, y)) < 0.9))
                fail_msg("pow(%a, %a) = %a, not %a", x, y, mor_pow(x, y), pow(x, y));
            if (!same(mor_hypot(x, y), hypot(x, y)) && !(ulps(mor_hypot(x, y), hypotl(x, y)) < 0.9))
                fail_msg("hypot(%a, %a) = %a, not %a", x, y, mor_hypot(x, y), hypot(x, y));
        }
    }
    assert_true(mor_max(NAN, 1.0) == 1.0 && mor_max(1.0, NAN) == 1.0 && mor_min(NAN, 1.0) == 1.0);
    assert_true(mor_max(2.0, 1.0) == 2.0 && mor_min(2.0, 1.0) == 1.0 && isnan(mor_max(NAN, NAN)));
    assert_true(signbit(mor_max(0.0, -0.0)) && !signbit(mor_max(-0.0, 0.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_argument_are_right_to_the_last_place),
        cmocka_unit_test(functions_of_two_arguments_are_right_to_the_last_place),
        cmocka_unit_test(sincos_is_sin_and_cos),
        cmocka_unit_test(special_values_are_those_of_annex_f),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
