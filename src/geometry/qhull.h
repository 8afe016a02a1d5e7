/* Qhull behind one function, with nothing printed. */
#ifndef GEOMETRY_QHULL_H
#define GEOMETRY_QHULL_H

#include "geometry/geometry.h"

#include <libqhull_r/qhull_ra.h>

/* Reads a finished hull. */
typedef bool (*mor_qhull_reader)(qhT* qh, void* user);
/* The hull of `count` points (3 numbers each, of size about one) to the reader; what Qhull would print goes into
 * `message`. False when there is no hull or the reader says so. */
bool mor_qhull_run(double* coordinates, int count, mor_qhull_reader read, void* user, char* message,
                   size_t message_size);

#endif
