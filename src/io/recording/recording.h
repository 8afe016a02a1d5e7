/* Reads recordings: finished ones, ones being written by another process, and ones whose writer was
 * killed. For plots, the viewer and tests; no HDF5 type shows here. docs/recording.md describes the
 * format. Bad files give a sentence with the path of the dataset at fault. */
#ifndef MOR_IO_RECORDING_H
#define MOR_IO_RECORDING_H

#include "moreau/world.h"

typedef struct mor_recording mor_recording;

typedef struct mor_recording_info {
    char path[1024];
    char producer[64], scene_name[128], formulation[64], solver[64], collision[64];
    char ground[16]; /* how it is drawn: grid, checker, plain, none; "" in older recordings */
    int version, dimension, every;
    bool has_contacts; /* contacts one by one, not only totals */
    bool live;         /* not closed: being written, or its writer was killed */
    double step;       /* at the start [s] */
    mor_vec3 gravity;
    int bodies;
    int frames;
} mor_recording_info;

mor_recording* mor_recording_open(const char* path, mor_error* error);
void mor_recording_close(mor_recording* recording);
const mor_recording_info* mor_recording_get_info(const mor_recording* recording);
/* Looks again how many frames there are: info.frames grows while the file is being written. */
mor_code mor_recording_refresh(mor_recording* recording, mor_error* error);

const char* mor_recording_body_name(const mor_recording* recording, int body);
mor_body_kind mor_recording_body_kind(const mor_recording* recording, int body);
/* -1: no such body. */
int mor_recording_find_body(const mor_recording* recording, const char* name);
/* The text of the scene file, "" if there is none; NULL and a sentence if it cannot be read. Owned by the recording. */
const char* mor_recording_scene_text(mor_recording* recording, mor_error* error);

/* How far bodies may be off when inputs are (lab/bands.c): for the viewer, not in the file. */
typedef struct mor_recording_bands {
    char label[320];
    int points, bodies;
    double* time; /* of the points */
    int* body;    /* numbers in the recording */
    double* half; /* bodies x 6 x points: half widths of the position and the velocity of the centre of mass */
} mor_recording_bands;

/* Takes over the arrays of the bands, which are freed with the recording. */
void mor_recording_set_bands(mor_recording* recording, const mor_recording_bands* bands);
/* NULL: there are none. */
const mor_recording_bands* mor_recording_get_bands(const mor_recording* recording);

/* Is there such a dataset? Recordings of older versions lack some. */
bool mor_recording_has(const mor_recording* recording, const char* path);
/* One number per frame, `path` as in the file: "/energy/total", "/solver/iterations" ...; `values` has
 * info.frames entries. */
mor_code mor_recording_series(const mor_recording* recording, const char* path, double* values, mor_error* error);
/* Frames x 7 (x y z qw qx qy qz) and frames x 6 (linear, angular) of one body; either may be NULL. */
mor_code mor_recording_body(const mor_recording* recording, int body, double* pose, double* velocity, mor_error* error);
/* Contact totals of each frame [N s]: sum of normal impulses, the largest one, sum of friction impulses.
 * Any may be NULL. Known also when contacts are not recorded one by one. */
mor_code mor_recording_contact_totals(const mor_recording* recording, double* normal, double* largest, double* friction,
                                      mor_error* error);
/* The total contact impulse on one body in each frame, frames x 3, world [N s]. Bad input when contacts
 * were not recorded. */
mor_code mor_recording_body_impulse(const mor_recording* recording, int body, double* impulse, mor_error* error);
/* Any numeric dataset that does not grow, as doubles (shapes, inertias ...): rows x columns, the last
 * dimensions multiplied together. The caller frees the result. NULL and a sentence on failure. */
double* mor_recording_table(const mor_recording* recording, const char* path, int* rows, int* columns,
                            mor_error* error);
/* Rows of a numeric dataset, numbers per row, and its unit ("" if it has none). */
mor_code mor_recording_shape(const mor_recording* recording, const char* path, int* rows, int* width, char* unit,
                             size_t unit_size, mor_error* error);
/* The texts of a dataset of `count` strings, each cut to `width` bytes with a zero at its end. The caller frees the
 * result; NULL and a sentence on failure. */
char* mor_recording_texts(const mor_recording* recording, const char* path, size_t width, size_t count,
                          mor_error* error);
/* Rows first .. first + count of any numeric dataset, as doubles: count x width, where width is what the caller expects
 * the other dimensions to multiply to. Bad input when the dataset is not like that or too short. */
mor_code mor_recording_rows(const mor_recording* recording, const char* path, size_t first, size_t count, int width,
                            double* values, mor_error* error);

#endif
