/* Elementary functions with the same bits on every machine.
 *
 * The C library picks its variants of sin, exp, ... by the processor (with and without fused multiply-add), and compilers
 * inline fmax differently; a step's bits must not depend on either. These are plain double arithmetic in a fixed order,
 * without fused operations. Errors: below one unit in the last place for every argument, huge ones included
 * (tests/test_elementary.c: 0.8 where tested, tan 0.95); specials as C17 Annex F has them. sqrt, fabs, floor, ceil, rint, fmod, ldexp and frexp
 * are exact in every C library and are used as they are.
 *
 * Threads: pure functions. */
#ifndef MOR_BASE_ELEMENTARY_H
#define MOR_BASE_ELEMENTARY_H

double mor_sin(double x);
double mor_cos(double x);
/* Both for the price of one reduction. */
void mor_sincos(double x, double* sine, double* cosine);
double mor_tan(double x);
double mor_asin(double x);
double mor_acos(double x);
double mor_atan(double x);
double mor_atan2(double y, double x);
double mor_exp(double x);
double mor_expm1(double x);
double mor_log(double x);
double mor_pow(double x, double y);
/* sqrt(x^2 + y^2) without overflow or loss */
double mor_hypot(double x, double y);

/* The larger and the smaller; a number wins over NaN, b over an equal a (so max(0, -0) = -0). */
static inline double mor_max(double a, double b) { return a > b || b != b ? a : b; }
static inline double mor_min(double a, double b) { return a < b || b != b ? a : b; }

#endif
