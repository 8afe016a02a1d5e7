/* Sums of two doubles hi + lo, |lo| <= ulp(hi)/2: some 106 bits, for the last digits of elementary functions.
 *
 * Reference: Dekker (1971), A floating-point technique for extending the available precision; Knuth, The Art of Computer
 * Programming, vol. 2, sec. 4.2.2. */
#ifndef MOR_BASE_TWOFOLD_H
#define MOR_BASE_TWOFOLD_H

typedef struct mor_twofold {
    double hi, lo;
} mor_twofold;

/* a + b exactly */
static inline mor_twofold mor_two_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (mor_twofold){ s, (a - (s - t)) + (b - t) };
}

/* a + b exactly if |a| >= |b| */
static inline mor_twofold mor_quick_sum(double a, double b)
{
    double s = a + b;
    return (mor_twofold){ s, b - (s - a) };
}

/* a b exactly, for |a|, |b| between 2^-480 and 2^480 */
static inline mor_twofold mor_two_product(double a, double b)
{
    const double factor = 134217729.0; /* 2^27 + 1 */
    double p = a * b, s = factor * a, t = factor * b;
    double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
    return (mor_twofold){ p, ((ah * bh - p) + ah * bl + al * bh) + al * bl };
}

/* x y but for a relative error of 2^-103 or so */
static inline mor_twofold mor_two_multiply(mor_twofold x, mor_twofold y)
{
    mor_twofold p = mor_two_product(x.hi, y.hi);
    return mor_quick_sum(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}

/* x / y likewise */
static inline mor_twofold mor_two_divide(mor_twofold x, mor_twofold y)
{
    double q = x.hi / y.hi;
    mor_twofold p = mor_two_product(q, y.hi);
    return mor_quick_sum(q, (((x.hi - p.hi) - p.lo) + (x.lo - q * y.lo)) / y.hi);
}

#endif
