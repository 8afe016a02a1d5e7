/* A robot on its way from the records of a URDF file to a model. */
#ifndef MOR_IO_URDF_BUILD_H
#define MOR_IO_URDF_BUILD_H

#include "base/spatial.h"
#include "io/urdf/urdf.h"

typedef struct mor_urdf_build {
    const mor_urdf* urdf;
    const mor_urdf_options* options;
    mor_error* error;
    char* notes;
    size_t notes_size, notes_length;
    int* joint_of;     /* link -> joint above it, -1 root */
    int *first, *next; /* children of a link as a list of joints */
    int* number;       /* joint -> position in s, -1: fixed or locked */
    int* carrier;      /* link -> model link */
    mor_pose* pose;    /* link -> pose in its model link */
    double* locked;    /* joint -> position when locked */
    mor_link_def* links;
    mor_rigid* mass; /* model link */
    mor_frame_def* frames;
    int link_count, movable, root;
} mor_urdf_build;

/* One line of the notes, with the position in the file. */
void mor_urdf_note(mor_urdf_build* b, int line, int column, const char* format, ...) MOR_PRINTF(4, 5);
/* The link's own inertial element as mass, first moment and inertia in the carrier's frame. */
mor_code mor_urdf_own_mass(mor_urdf_build* b, int link, mor_rigid* out);
/* About the centre of mass. */
mor_mass mor_urdf_mass_of(const mor_rigid* r);
/* A movable link that carries no mass at all makes the mass matrix singular. */
void mor_urdf_note_massless(mor_urdf_build* b);
/* The collision shapes of all links. */
mor_code mor_urdf_add_shapes(mor_urdf_build* b, mor_robot_model* model);

#endif
