/* What the readers of SDF share: sdf.c (models, links, joints) and sdf_shapes.c (collisions, visuals). */
#ifndef MOREAU_IO_SDF_READER_H
#define MOREAU_IO_SDF_READER_H

#include "io/mjcf/mjcf.h"

/* A link, joint, frame or model that poses may be relative to. */
typedef struct named {
    const char* name; /* with the scope */
    const mor_xml* at;
    int model;            /* its model */
    const char* relative; /* with the scope; NULL: the default */
    mor_pose pose;
    int kind;                   /* 0 link, 1 joint, 2 frame, 3 model */
    const char *parent, *child; /* of joints; child of frames: attached_to */
    bool is_static, self_collide;
    int body; /* of links */
} named;

typedef struct reader {
    mor_mjcf* m;
    named* items;
    int count, room, models;
    const char* packages;
    bool bare;  /* no world around the model */
    bool lacks; /* of memory: a text could not be copied */
} reader;

/* The text of a child element without blanks around it, or NULL. */
const char* mor_sdf_text(reader* r, const mor_xml* e, const char* name);
/* The numbers of a child element; nothing happens when it is not there. */
mor_code mor_sdf_numbers(reader* r, const mor_xml* e, const char* name, int count, double* out);
/* <pose> of an element; its relative_to with the scope (relative may be NULL). */
mor_code mor_sdf_pose(reader* r, const mor_xml* e, const char* scope, mor_pose* pose, const char** relative);

/* A <collision> as a geom. `own`: the bit of its model; `hidden`: the link has visuals, this is not drawn. */
mor_code mor_sdf_collision(reader* r, const mor_xml* e, int body, unsigned own, bool self, bool hidden);
/* A <visual> as a geom that touches nothing; *seen: there is something to draw. */
mor_code mor_sdf_visual(reader* r, const mor_xml* e, int body, bool* seen);

#endif
