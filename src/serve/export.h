/* The one-file page: the viewer with recordings inside, which opens from disk. */
#ifndef MOREAU_SERVE_EXPORT_H
#define MOREAU_SERVE_EXPORT_H

#include <stdio.h>

#include "serve/frame.h"

typedef struct mor_export_options {
    double most_bytes; /* of the file; frames are left out until it fits */
    double rate;       /* at most this many frames per second of simulated time */
    const char* look;  /* what the page shows at first: "layout=side,contacts=1" (docs/viewer.md); may be NULL */
} mor_export_options;

/* What became of one recording. */
typedef struct mor_export_report {
    int frames, of_frames;
    bool contacts; /* false: left out to fit */
    double bytes;  /* of the file */
} mor_export_report;

mor_export_options mor_export_options_default(void); /* 3 MB, 60 per second */

/* Writes `count` recordings into one HTML file; the first is the subject, the others are compared with it. `reports`
 * has `count` entries. The file appears under its name when it is complete. */
mor_code mor_export_html(const char* path, mor_recording* const* recordings, int count,
                         const mor_export_options* options, mor_export_report* reports, mor_error* error);

/* All frames of a recording as the page holds them, compressed (export.c). */
mor_code mor_export_payload(mor_bytes* zipped, const mor_recording* recording, mor_error* error);

/* "a=1,b=x y" as the end of an address: "a=1&b=x%20y". Only letters, digits and = . _ - stay as they are. */
void mor_look_encode(char* out, size_t size, const char* look);

/* The page, built into the program from viewer/dist/viewer.html. */
extern const unsigned char mor_viewer_page[];
extern const size_t mor_viewer_page_size;

/* n bytes as base64. */
void mor_write_base64(FILE* out, const unsigned char* data, size_t n);

#endif
