/* Values over time for joints: piecewise cubic without overshoot, linear, or held.
 *
 * Cubic Hermite pieces whose slope at a row is the harmonic mean of the slopes beside it, weighted by the lengths of
 * the intervals, and 0 where they differ in sign and at the ends: monotone data give a monotone curve.
 *
 * F. N. Fritsch, J. Butland (1984), A method for constructing local monotone piecewise cubic interpolants, eq. 5. */
#include "moreau/control.h"

#include <math.h>

static double secant(const mor_motion_table* m, int joint, int row)
{
    return (m->values[(row + 1) * m->joints + joint] - m->values[row * m->joints + joint]) /
           (m->times[row + 1] - m->times[row]);
}

/* Slope at a row; a repeated table closes on itself. */
static double slope(const mor_motion_table* m, int joint, int row)
{
    int last = m->rows - 1;
    bool round = m->period > 0.0 && fabs(m->times[last] - m->times[0] - m->period) < 1e-9 * m->period;
    if (!round && (row == 0 || row == last)) return 0.0;
    int before = row == 0 || row == last ? last - 1 : row - 1, after = row == last ? 0 : row;
    double a = secant(m, joint, before), b = secant(m, joint, after);
    if (!(a * b > 0.0)) return 0.0;
    double ha = m->times[before + 1] - m->times[before], hb = m->times[after + 1] - m->times[after];
    double weight = (ha + 2.0 * hb) / (3.0 * (ha + hb));
    return a * b / (weight * b + (1.0 - weight) * a);
}

void mor_motion_at(const mor_motion_table* m, int joint, double t, double* value, double* rate)
{
    int last = m->rows - 1;
    *rate = 0.0;
    if (m->period > 0.0) {
        double u = (t - m->times[0]) / m->period;
        t = m->times[0] + (u - floor(u)) * m->period;
    }
    int low = 0, high = last;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (m->times[middle] <= t) low = middle;
        else high = middle;
    }
    const double* v = m->values + joint;
    if (last == 0 || t <= m->times[0]) {
        *value = v[0];
        return;
    }
    if (t >= m->times[last]) {
        *value = v[last * m->joints];
        return;
    }
    double h = m->times[high] - m->times[low], x = (t - m->times[low]) / h, a = v[low * m->joints],
           b = v[high * m->joints];
    if (m->interpolation == 2) {
        *value = a;
    } else if (m->interpolation == 1) {
        *value = a + x * (b - a);
        *rate = (b - a) / h;
    } else {
        double p = h * slope(m, joint, low), q = h * slope(m, joint, high), d = b - a;
        *value = a + x * (p + x * (3.0 * d - 2.0 * p - q + x * (p + q - 2.0 * d)));
        *rate = (p + x * (2.0 * (3.0 * d - 2.0 * p - q) + 3.0 * x * (p + q - 2.0 * d))) / h;
    }
}
