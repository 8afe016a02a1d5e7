/* Stored problems (docs/bpmd.md) in the viewer, and the viewer inside the report of a comparison. */
#ifndef MOREAU_SERVE_PROBLEM_VIEW_H
#define MOREAU_SERVE_PROBLEM_VIEW_H

#include "io/recording/recording.h"
#include "lab/compare.h"

/* A recording, or BPMD frames made into one; `frame` counts from 1 and is for these only, 0: all. `left_out` (may be
 * NULL): frames with other bodies than the first. NULL and a sentence on failure. */
mor_recording* mor_view_open(const char* path, int frame, const mor_library* library, int* left_out, mor_error* error);

/* For mor_lab.viewer: the viewer's page and the frames that were followed, as elements that the report's script puts
 * together. Frames beyond 1.2 MB are left out. */
void mor_view_report(const mor_lab* lab, FILE* out);

#endif
