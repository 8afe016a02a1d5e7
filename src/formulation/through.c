/* Passing within a step.
 *
 * Formulations whose contacts act from a small distance on let a body into what it meets, and push or move it out
 * later. From deeper than the middle of the thinner shape the way out is the other side. A contact goes through if
 *
 *     psi + h w < -min(d/4, most),      w = G_n' nu + d(psi)/dt,  d the least width of the two shapes.
 *
 * Where one does, all contacts of the island that are still apart are held as those of Stewart and Trinkle are,
 * G_n' nu+ + d(psi)/dt >= -psi/h: a body that turns comes down on others than the first. In slower steps nothing is
 * changed. Cost: one comparison per contact, a width where that tells that the body gets in. */
#include "formulation/through.h"

#include "base/elementary.h"
#include "geometry/thickness.h"

bool mor_goes_through(const mor_system* s, int contact, double most)
{
    const mor_contact_row* c = &s->contacts[contact];
    const double depth = -(c->gap + s->h * c->approach);
    if (!(depth > 0.0)) return false;
    for (int side = 0; s->geometry && side < 2; side++) {
        const mor_geometry* shape = s->geometry[contact].side[side].shape;
        if (shape) most = mor_min(most, 0.25 * mor_geometry_thickness(shape));
    }
    return depth > most;
}
