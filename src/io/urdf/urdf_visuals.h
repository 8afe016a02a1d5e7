/* The visual elements of a URDF file. */
#ifndef MOREAU_IO_URDF_VISUALS_H
#define MOREAU_IO_URDF_VISUALS_H

#include "io/urdf/urdf.h"
#include "io/xml/xml.h"

/* One visual: a mesh file as it is named, or a shape. */
typedef struct mor_urdf_visual {
    const char *link, *file;
    mor_geometry* geometry;
    double scale[3]; /* of the mesh */
    mor_pose pose;   /* in the link's own frame */
    double color[4]; /* red, green, blue, opacity */
    bool has_color;  /* the URDF gives it */
} mor_urdf_visual;

typedef mor_code (*mor_urdf_visual_sink)(void* user, const mor_urdf_visual* visual);

/* Gives every visual to the sink, in the order of the file; stops with its code
 * when that is not MOR_OK. */
mor_code mor_urdf_visuals(const char* path, mor_arena* arena, mor_urdf_visual_sink sink, void* user, mor_error* error);

#endif
