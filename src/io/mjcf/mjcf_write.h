/* What the two halves of the MJCF writer share. */
#ifndef MOREAU_IO_MJCF_WRITE_H
#define MOREAU_IO_MJCF_WRITE_H

#include "io/mjcf/mjcf.h"
#include "model/world.h"

#include <stdio.h>

typedef struct mor_mjcf_writer {
    const mor_world* w;
    FILE* f;
    char* notes;
    size_t notes_size, notes_length;
    mor_error* error;
    int depth;
    /* the keyframe, in the order of the joints */
    double* qpos;
    double* qvel;
    int nq, nv, room;
} mor_mjcf_writer;

/* A line about what is lost. */
void mor_write_note(mor_mjcf_writer* x, const char* format, ...) MOR_PRINTF(2, 3);
/* Attributes. */
void mor_write_name(FILE* f, const char* attribute, const char* name);
void mor_write_vector(FILE* f, const char* attribute, mor_vec3 v);
void mor_write_pose(FILE* f, const mor_pose* pose);
void mor_write_indent(const mor_mjcf_writer* x);
/* Assets of all bodies; the geoms of a body; its <inertial>. */
void mor_write_meshes(mor_mjcf_writer* x);
mor_code mor_write_shapes(mor_mjcf_writer* x, int slot);
void mor_write_inertial(mor_mjcf_writer* x, const mor_mass* mass);

#endif
