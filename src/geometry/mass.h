/* Mass properties at density 1 of the shapes that are not one formula. */
#ifndef GEOMETRY_MASS_H
#define GEOMETRY_MASS_H

#include "moreau/geometry.h"

mor_mass mor_mass_polyhedron(const mor_polyhedron* polyhedron);
/* A lamina z = 0 bounded by counter-clockwise points: mass per area, full 3x3 inertia. */
mor_mass mor_mass_polygon(const mor_vec3* points, int count);

#endif
