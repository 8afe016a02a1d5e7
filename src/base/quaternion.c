/* The exponential map of rotations (math.h). */
#include "moreau/math.h"

#include "base/elementary.h"

mor_quat mor_quat_exp(mor_vec3 v)
{
    double t = 0.5 * mor_norm(v), s, c;
    mor_sincos(t, &s, &c);
    /* sin(t)/(2t) by its series where the quotient would lose digits */
    double f = t < 1e-4 ? 0.5 * (1.0 - t * t / 6.0) : s / (2.0 * t);
    return (mor_quat){ c, f * v.x, f * v.y, f * v.z };
}
