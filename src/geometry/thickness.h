/* How thick a shape is: what something else has to go through to come out on the other side. */
#ifndef MOR_GEOMETRY_THICKNESS_H
#define MOR_GEOMETRY_THICKNESS_H

#include "moreau/geometry.h"

/* Least width [m]; of polyhedra and polygons between one of their faces and what is farthest behind it. Infinite for
 * half-spaces and chains, which have no other side, for particles and for shapes of the user. */
double mor_geometry_thickness(const mor_geometry* shape);

#endif
