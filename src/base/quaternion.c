/* The exponential map of rotations (math.h). */
#include "moreau/math.h"

#include "base/elementary.h"

mor_quat mor_quat_exp(mor_vec3 v)
{
    double t = 0.5 * mor_norm(v), t2 = t * t, s, c;
    if (t < 1e-4) { /* the series: quicker, and sin(t)/(2t) would lose digits */
        double f = 0.5 * (1.0 - t2 / 6.0);
        return (mor_quat){ 1.0 - 0.5 * t2, f * v.x, f * v.y, f * v.z };
    }
    mor_sincos(t, &s, &c);
    double f = s / (2.0 * t);
    return (mor_quat){ c, f * v.x, f * v.y, f * v.z };
}
