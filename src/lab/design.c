/* Points of designs, see design.h. Random numbers are those of the scenes (mor_rng).
 *
 * Sobol: x_n = x_{n-1} xor v_{c(n)}, c(n) the lowest zero bit of n - 1 (Antonov and Saleev 1979). The direction numbers
 * v_i of an axis come from a primitive polynomial of degree s with inner coefficients a and s odd numbers m_i < 2^i:
 * m_i = 2 a_1 m_{i-1} xor ... xor 2^s m_{i-s} xor m_{i-s}, v_i = m_i 2^(32-i). S. Joe, F. Y. Kuo (2008), Constructing
 * Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30. The seed shifts every axis by a
 * random word, bit by bit: the structure of the net stays, and no coordinate is 0.
 *
 * Normal quantiles: M. J. Wichura (1988), Algorithm AS 241, Applied Statistics 37 (16 digits). */
#include "lab/design.h"

#include "base/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 32 };

static const struct {
    int degree, inner;
    uint32_t m[7];
} axes[MOR_SOBOL_DIMENSIONS - 1] = {
    { 1, 0, { 1 } },
    { 2, 1, { 1, 3 } },
    { 3, 1, { 1, 3, 1 } },
    { 3, 2, { 1, 1, 1 } },
    { 4, 1, { 1, 1, 3, 3 } },
    { 4, 4, { 1, 3, 5, 13 } },
    { 5, 2, { 1, 1, 5, 5, 17 } },
    { 5, 4, { 1, 1, 5, 5, 5 } },
    { 5, 7, { 1, 1, 7, 11, 19 } },
    { 5, 11, { 1, 1, 5, 1, 1 } },
    { 5, 13, { 1, 1, 1, 3, 11 } },
    { 5, 14, { 1, 3, 5, 5, 31 } },
    { 6, 1, { 1, 3, 3, 9, 7, 49 } },
    { 6, 13, { 1, 1, 1, 15, 21, 21 } },
    { 6, 16, { 1, 3, 1, 13, 27, 49 } },
    { 6, 19, { 1, 1, 1, 15, 7, 5 } },
    { 6, 22, { 1, 3, 1, 15, 13, 25 } },
    { 6, 25, { 1, 1, 5, 5, 19, 61 } },
    { 7, 1, { 1, 3, 7, 11, 23, 15, 103 } },
    { 7, 4, { 1, 3, 7, 13, 13, 15, 69 } },
};

static void directions(int axis, uint32_t v[BITS])
{
    if (axis == 0) {
        for (int i = 0; i < BITS; i++) v[i] = 1u << (31 - i);
        return;
    }
    int s = axes[axis - 1].degree, a = axes[axis - 1].inner;
    for (int i = 0; i < BITS; i++) {
        if (i < s) {
            v[i] = axes[axis - 1].m[i] << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (int k = 1; k < s; k++)
            if ((a >> (s - 1 - k)) & 1) v[i] ^= v[i - k];
    }
}

/* One axis of a sequence: `count` numbers, `stride` apart. */
static void sobol_axis(int axis, long count, uint32_t shift, double* out, long stride)
{
    uint32_t v[BITS], x = 0;
    directions(axis, v);
    for (long n = 0; n < count; n++) {
        out[n * stride] = ((double)(x ^ shift) + 0.5) / 4294967296.0;
        int lowest = 0;
        while (lowest < BITS - 1 && ((n >> lowest) & 1)) lowest++;
        x ^= v[lowest];
    }
}

static uint32_t word(mor_rng* rng) { return (uint32_t)(mor_rng_uniform(rng) * 4294967296.0); }

/* Whole number below n. */
static long below(mor_rng* rng, long n)
{
    long k = (long)(mor_rng_uniform(rng) * (double)n);
    return k < n ? k : n - 1;
}

static mor_code fill_latin(long n, int d, mor_rng* rng, double* points, mor_error* error)
{
    long* slice = malloc(((size_t)n + 1) * sizeof *slice);
    if (!slice) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < d; k++) {
        for (long i = 0; i < n; i++) slice[i] = i;
        for (long i = n - 1; i > 0; i--) { /* Fisher and Yates */
            long j = below(rng, i + 1), keep = slice[i];
            slice[i] = slice[j], slice[j] = keep;
        }
        for (long i = 0; i < n; i++)
            points[i * d + k] = ((double)slice[i] + fmax(mor_rng_uniform(rng), 1e-12)) / (double)n;
    }
    free(slice);
    return MOR_OK;
}

/* Rows of one base point: A, A with the i-th number of B for every i, B. */
static mor_code fill_saltelli(long n, int d, mor_rng* rng, double* points, mor_error* error)
{
    double* base = malloc(((size_t)n * 2 * (size_t)d + 1) * sizeof *base);
    if (!base) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < 2 * d; k++) sobol_axis(k, n, word(rng), base + k, 2 * d);
    for (long j = 0; j < n; j++) {
        const double *A = base + 2 * d * j, *B = A + d;
        double* row = points + j * (d + 2) * d;
        for (int r = 0; r < d + 2; r++, row += d)
            for (int k = 0; k < d; k++) row[k] = r == d + 1 || r - 1 == k ? B[k] : A[k];
    }
    free(base);
    return MOR_OK;
}

/* Trajectories: a start on the lower half of the levels or its mirror, then every factor moves once by p / (2 (p - 1)),
 * in random order. */
static mor_code fill_morris(long n, int d, int levels, mor_rng* rng, double* points, mor_error* error)
{
    double delta = (double)levels / (2.0 * (levels - 1));
    int* order = malloc(((size_t)d + 1) * sizeof *order);
    if (!order) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (long j = 0; j < n; j++) {
        double* row = points + j * (d + 1) * d;
        for (int k = 0; k < d; k++) {
            double low = (double)below(rng, levels / 2) / (double)(levels - 1);
            row[k] = mor_rng_uniform(rng) < 0.5 ? low : low + delta;
            order[k] = k;
        }
        for (int k = d - 1; k > 0; k--) {
            int i = (int)below(rng, k + 1), keep = order[k];
            order[k] = order[i], order[i] = keep;
        }
        for (int r = 0; r < d; r++, row += d) {
            memcpy(row + d, row, (size_t)d * sizeof *row);
            double* x = &row[d + order[r]];
            *x = *x + delta <= 1.0 + 1e-9 ? fmin(*x + delta, 1.0) : fmax(*x - delta, 0.0);
        }
    }
    free(order);
    return MOR_OK;
}

long mor_design_points(mor_design design, long samples, int dimension)
{
    return design == MOR_DESIGN_GRID       ? 1
           : design == MOR_DESIGN_SALTELLI ? samples * (dimension + 2)
           : design == MOR_DESIGN_MORRIS   ? samples * (dimension + 1)
                                           : samples;
}

mor_code mor_design_fill(mor_design design, long n, int d, uint64_t seed, int levels, double* points, mor_error* error)
{
    mor_rng rng = { seed };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&rng); /* small seeds begin alike */
    switch (design) {
    case MOR_DESIGN_GRID:
        return MOR_OK;
    case MOR_DESIGN_RANDOM:
        for (long i = 0; i < n * d; i++) points[i] = fmax(mor_rng_uniform(&rng), 1e-16);
        return MOR_OK;
    case MOR_DESIGN_LATIN:
        return fill_latin(n, d, &rng, points, error);
    case MOR_DESIGN_SOBOL:
        for (int k = 0; k < d; k++) sobol_axis(k, n, word(&rng), points + k, d);
        return MOR_OK;
    case MOR_DESIGN_SALTELLI:
        return fill_saltelli(n, d, &rng, points, error);
    case MOR_DESIGN_MORRIS:
        return fill_morris(n, d, levels, &rng, points, error);
    }
    return MOR_OK;
}

static double ratio(const double* a, const double* b, double r)
{
    double p = a[7], q = b[6];
    for (int i = 6; i >= 0; i--) p = p * r + a[i];
    for (int i = 5; i >= 0; i--) q = q * r + b[i];
    return p / (q * r + 1.0);
}

double mor_normal_quantile(double u)
{
    static const double a[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                 1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3 };
    static const double b[7] = { 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3 };
    static const double c[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                 3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double d[7] = { 2.05319162663775882187e0,  1.67638483018380384940e0,  6.89767334985100004550e-1,
                                 1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9 };
    static const double e[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[7] = { 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15 };
    double q = u - 0.5;
    if (fabs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
    double r = sqrt(-mor_log(q < 0.0 ? u : 1.0 - u));
    double x = r <= 5.0 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5.0);
    return q < 0.0 ? -x : x;
}
