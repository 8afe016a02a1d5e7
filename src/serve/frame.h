/* What the page of the viewer is told, from a recording or from a world that runs: a description once
 * (JSON) and frames (binary). docs/viewer.md describes both forms. */
#ifndef MOREAU_SERVE_FRAME_H
#define MOREAU_SERVE_FRAME_H

#include <stdio.h>

#include "io/recording/recording.h"
#include "moreau/scene.h"

/* Bytes that grow. After a failed allocation `failed` stays set and nothing more is added. */
typedef struct mor_bytes {
    unsigned char* data;
    size_t size, capacity;
    bool failed;
} mor_bytes;

void mor_bytes_add(mor_bytes* bytes, const void* data, size_t size);
void mor_bytes_u32(mor_bytes* bytes, uint32_t value);
void mor_bytes_free(mor_bytes* bytes);

/* One number per frame each; the names are in the description. */
enum { MOR_VIEW_SCALARS = 9 };
typedef struct mor_view_scalar {
    const char *name, *path, *unit; /* path in a recording */
    bool peak;                      /* of several frames the largest is told, not the first */
    bool optional;                  /* 0 in recordings that do not have it */
} mor_view_scalar;
extern const mor_view_scalar mor_view_scalars[MOR_VIEW_SCALARS];

typedef struct mor_view_contact {
    int32_t body[2];
    float point[3], normal[3]; /* halfway between the bodies; from the first to the second */
    float gap;
    float force[3];       /* on the second body [N] */
    int32_t group, plane; /* exact geometry: group of alternatives, 0: none; plane within it, negative when the pair is
                             left on it */
} mor_view_contact;

/* More contacts than this are not shown. */
enum { MOR_VIEW_CONTACTS = 20000 };

typedef struct mor_view_frame {
    double time;
    int step, bodies, contact_count, contact_capacity;
    float scalars[MOR_VIEW_SCALARS];
    float *pose, *velocity; /* bodies x 7, bodies x 6; NaN for a body that is gone */
    mor_view_contact* contacts;
} mor_view_frame;

mor_code mor_view_frame_create(mor_view_frame* frame, int bodies, mor_error* error);
void mor_view_frame_free(mor_view_frame* frame);
mor_code mor_view_frame_read(mor_view_frame* frame, const mor_recording* recording, int index, mor_error* error);
/* `report` may be NULL: the state before the first step. False when out of memory. */
bool mor_view_frame_take(mor_view_frame* frame, const mor_world* world, const mor_step_report* report);

/* The head of a message with `count` frames, and one frame of it. */
void mor_view_frames_begin(mor_bytes* bytes, int count, int bodies);
void mor_view_frame_write(mor_bytes* bytes, const mor_view_frame* frame);

/* The scalars of all frames, in at most `most` points: frames are taken together in equal groups. */
mor_code mor_view_series(mor_bytes* bytes, const mor_recording* recording, int most, mor_error* error);
/* Pose and velocity of one body in at most `most` points. */
mor_code mor_view_body(mor_bytes* bytes, const mor_recording* recording, int body, int most, mor_error* error);

/* Descriptions: bodies, shapes, methods. */
mor_code mor_view_describe_recording(FILE* out, const mor_recording* recording, mor_error* error);
bool mor_view_describe_world(FILE* out, const mor_world* world, const mor_scene* scene);

#endif
