/* Pictures of recordings as the viewer shows them, drawn by a Chromium without a window. */
#ifndef MOREAU_SERVE_PICTURE_H
#define MOREAU_SERVE_PICTURE_H

#include "serve/frame.h"

typedef struct mor_picture_options {
    double time; /* < 0: the end */
    int width, height;
    const char* look; /* "contacts=1,theme=light": docs/viewer.md; may be NULL */
} mor_picture_options;

mor_picture_options mor_picture_options_default(void);

/* MOR_SYSTEM and a sentence when there is no Chromium. */
mor_code mor_picture_png(const char* path, mor_recording* const* recordings, int count, const mor_picture_options* options,
                         mor_error* error);

#endif
