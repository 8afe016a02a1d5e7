/* The linear congruential generator of the benchmark scenes and Shoemake's uniform rotation
 * (K. Shoemake, "Uniform random rotations", Graphics Gems III, 1992). */
#include "base/elementary.h"
#include "moreau/base.h"

double mor_rng_uniform(mor_rng* rng)
{
    rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(rng->state >> 11) / 9007199254740992.0;
}

mor_quat mor_rng_rotation(mor_rng* rng)
{
    const double two_pi = 6.283185307179586;
    double u1 = mor_rng_uniform(rng), u2 = mor_rng_uniform(rng), u3 = mor_rng_uniform(rng);
    double a = sqrt(u1), b = sqrt(1.0 - u1);
    return (mor_quat){ a * mor_cos(two_pi * u3), b * mor_sin(two_pi * u2), b * mor_cos(two_pi * u2),
                       a * mor_sin(two_pi * u3) };
}
