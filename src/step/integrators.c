/* The table of integrators. */
#include "step/events.h"
#include "step/smooth.h"

const mor_integrator mor_integrator_semi_implicit = { "semi-implicit",
                                                      "velocity first, then position; free bodies in angular momentum",
                                                      "moreau1988", 1, NULL };

static const mor_integrator* const table[] = {
    &mor_integrator_semi_implicit, &mor_integrator_rk4,    &mor_integrator_midpoint,
    &mor_integrator_variational,   &mor_integrator_gauss6, &mor_integrator_event_driven,
};

const mor_integrator* mor_integrator_at(int i)
{
    return i >= 0 && i < (int)(sizeof table / sizeof *table) ? table[i] : NULL;
}
