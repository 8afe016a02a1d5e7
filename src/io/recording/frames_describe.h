/* The parts of a recording that are written once, when it is made. */
#ifndef MOR_IO_FRAMES_DESCRIBE_H
#define MOR_IO_FRAMES_DESCRIBE_H

#include "io/recording/frames.h"
#include "io/hdf5/h5.h"

/* Attributes "unit" and "help" of a dataset. */
mor_code mor_frames_describe(mor_h5* h5, const char* path, const char* unit, const char* help, mor_error* error);
mor_code mor_frames_write_meta(mor_h5* h5, const mor_frames_def* def, mor_error* error);
mor_code mor_frames_write_bodies(mor_h5* h5, const mor_frames_def* def, mor_error* error);
mor_code mor_frames_write_shapes(mor_h5* h5, const mor_frames_def* def, mor_error* error);
/* For the eye (frames_visuals.c). */
mor_code mor_frames_write_colors(mor_h5* h5, const mor_frames_def* def, mor_error* error);
mor_code mor_frames_write_visuals(mor_h5* h5, const mor_frames_def* def, mor_error* error);

#endif
