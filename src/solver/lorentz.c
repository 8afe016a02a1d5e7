/* Jordan algebra of one block: a number of an orthant (d = 1) or a Lorentz cone of 2 or 3 rows (lorentz.h).
 *
 * Each function is compiled for every size: an interior point method spends a sixth of its time here. */
#include "solver/lorentz.h"

#include "base/elementary.h"
#include "base/inline.h"

#include <math.h>

MOR_ALWAYS_INLINE double inner(int d, const double* a, const double* b)
{
    double s = 0.0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

MOR_ALWAYS_INLINE double determinant(int d, const double* a)
{
    double tail = 0.0;
    for (int i = 1; i < d; i++) tail += a[i] * a[i];
    tail = sqrt(tail);
    return (a[0] - tail) * (a[0] + tail);
}

/* out := V x or, inverse, V^-1 x. V = eta (2 v v' - J), V^-1 = (2 Jv v'J - J)/eta, J = diag(1, -1, -1). */
MOR_ALWAYS_INLINE void scale(int d, const double* v, double eta, bool inverse, const double* x, double* out)
{
    if (d == 1) {
        out[0] = inverse ? x[0] / eta : x[0] * eta;
        return;
    }
    double dot = v[0] * x[0];
    for (int i = 1; i < d; i++) dot += (inverse ? -1.0 : 1.0) * v[i] * x[i];
    double f = inverse ? 1.0 / eta : eta;
    for (int i = d - 1; i >= 0; i--) {
        double vi = i > 0 && inverse ? -v[i] : v[i];
        out[i] = f * (2.0 * dot * vi - (i == 0 ? x[i] : -x[i]));
    }
}

/* Scaling of x and s (both inside): fills v, eta, V^-2, lambda. False at the boundary. */
MOR_ALWAYS_INLINE bool scaling(int d, const double* x, const double* s, double* v, double* eta, double* V2,
                               double* lambda)
{
    if (d == 1) {
        if (!(x[0] > 0.0 && s[0] > 0.0)) return false;
        *eta = sqrt(x[0] / s[0]), v[0] = 1.0;
        V2[0] = s[0] / x[0];
        lambda[0] = sqrt(x[0]) * sqrt(s[0]);
        return true;
    }
    double X = determinant(d, x), S = determinant(d, s);
    if (!(X > 0.0 && S > 0.0 && x[0] > 0.0 && s[0] > 0.0)) return false;
    double rx = sqrt(X), rs = sqrt(S), gamma = 0.0;
    for (int i = 0; i < d; i++) gamma += (x[i] / rx) * (s[i] / rs);
    gamma = sqrt(0.5 * (1.0 + gamma));
    double wbar[3];
    for (int i = 0; i < d; i++) wbar[i] = (x[i] / rx + (i == 0 ? 1.0 : -1.0) * s[i] / rs) / (2.0 * gamma);
    double f = 1.0 / sqrt(2.0 * (wbar[0] + 1.0));
    for (int i = 0; i < d; i++) v[i] = f * (wbar[i] + (i == 0 ? 1.0 : 0.0));
    *eta = sqrt(rx / rs);
    /* V^2 = eta^2 (2 wbar wbar' - J), V^-2 = (2 J wbar wbar'J - J)/eta^2 */
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double a = i ? -wbar[i] : wbar[i], b = j ? -wbar[j] : wbar[j];
            V2[3 * i + j] = (2.0 * a * b - (i == j ? (i == 0 ? 1.0 : -1.0) : 0.0)) / (*eta * *eta);
        }
    scale(d, v, *eta, false, s, lambda);
    return true;
}

/* out := a o b */
MOR_ALWAYS_INLINE void product(int d, const double* a, const double* b, double* out)
{
    double first = inner(d, a, b);
    for (int i = 1; i < d; i++) out[i] = a[0] * b[i] + b[0] * a[i];
    out[0] = first;
}

/* out := lambda \ r: the solution of lambda o out = r */
MOR_ALWAYS_INLINE void divide(int d, const double* l, const double* r, double* out)
{
    if (d == 1) {
        out[0] = r[0] / l[0];
        return;
    }
    double det = determinant(d, l), tail = 0.0;
    for (int i = 1; i < d; i++) tail += l[i] * r[i];
    double first = (l[0] * r[0] - tail) / det;
    for (int i = 1; i < d; i++) out[i] = (r[i] - l[i] * first) / l[0];
    out[0] = first;
}

/* V2 := L_x^-1 L_s */
MOR_ALWAYS_INLINE void quotient(int d, const double* x, const double* s, double* V2)
{
    for (int j = 0; j < d; j++) {
        double e[3] = { 0 }, t[3], column[3];
        e[j] = 1.0;
        product(d, s, e, t);
        divide(d, x, t, column);
        for (int i = 0; i < d; i++) V2[3 * i + j] = column[i];
    }
}

/* Largest t with x + t d in the cone. */
MOR_ALWAYS_INLINE double room(int n, const double* x, const double* d)
{
    if (n == 1) return d[0] < 0.0 ? -x[0] / d[0] : INFINITY;
    /* determinant(x + t d) = 0: a t^2 + 2 b t + c */
    double a = determinant(n, d), b = x[0] * d[0], c = determinant(n, x), t = INFINITY;
    for (int i = 1; i < n; i++) b -= x[i] * d[i];
    double disc = b * b - a * c;
    if (disc >= 0.0) {
        double root = sqrt(disc), q = b > 0.0 ? -(b + root) : -(b - root);
        double first = q != 0.0 ? c / q : INFINITY, second = a != 0.0 ? q / a : INFINITY;
        if (first > 0.0) t = mor_min(t, first);
        if (second > 0.0) t = mor_min(t, second);
    }
    if (d[0] < 0.0) t = mor_min(t, -x[0] / d[0]);
    return t;
}

/* ---------------------------------------------------------------------------------- by size */

void mor_lorentz_scale(int d, const double* v, double eta, bool inverse, const double* x, double* out)
{
    if (d == 3 && inverse) scale(3, v, eta, true, x, out);
    else if (d == 3) scale(3, v, eta, false, x, out);
    else if (d == 2) scale(2, v, eta, inverse, x, out);
    else scale(1, v, eta, inverse, x, out);
}

bool mor_lorentz_scaling(int d, const double* x, const double* s, double* v, double* eta, double* V2, double* lambda)
{
    if (d == 3) return scaling(3, x, s, v, eta, V2, lambda);
    if (d == 2) return scaling(2, x, s, v, eta, V2, lambda);
    return scaling(1, x, s, v, eta, V2, lambda);
}

void mor_lorentz_product(int d, const double* a, const double* b, double* out)
{
    if (d == 3) product(3, a, b, out);
    else product(d, a, b, out);
}

void mor_lorentz_divide(int d, const double* l, const double* r, double* out)
{
    if (d == 3) divide(3, l, r, out);
    else divide(d, l, r, out);
}

void mor_lorentz_quotient(int d, const double* x, const double* s, double* V2)
{
    if (d == 3) quotient(3, x, s, V2);
    else quotient(d, x, s, V2);
}

double mor_lorentz_room(int n, const double* x, const double* d)
{
    if (n == 3) return room(3, x, d);
    if (n == 2) return room(2, x, d);
    return room(1, x, d);
}
