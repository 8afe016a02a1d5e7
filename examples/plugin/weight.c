/* weight.c: an error measure of one's own for `moreau compare --plugin ./weight.so`: how far the impulses are from the
 * least ones, measured by the sum of normal impulses. In a stack at rest it is weight times h for every layer; internal
 * forces that cancel make it larger.
 *
 *     cc -shared -fPIC -O2 weight.c -o weight.so        (with -I include in a source tree) */
#include "moreau/moreau.h"
#include "moreau/plugin.h"

static double weight(const mor_problem* p, const double* z, const mor_residual* judged)
{
    double sum = 0.0;
    (void)judged;
    if (!(p->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE))) return 0.0; /* other forms have other unknowns */
    for (int i = 0; i < p->step.block_count; i++)
        if (p->step.blocks[i].kind == MOR_BLOCK_CONTACT) sum += z[p->step.blocks[i].row];
    return sum;
}

MOR_PLUGIN_ERROR(weight, "weight")
