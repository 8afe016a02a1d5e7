/* Pictures and films of recordings as the viewer shows them, drawn by a Chromium without a window. */
#ifndef MOREAU_SERVE_PICTURE_H
#define MOREAU_SERVE_PICTURE_H

#include "serve/frame.h"

typedef struct mor_picture_options {
    double time; /* of the picture; < 0: the end */
    int width, height;
    const char* look; /* "contacts=1,theme=light": docs/viewer.md; may be NULL */
    double rate;      /* of the film: pictures per second */
    double speed;     /* simulated seconds per second */
} mor_picture_options;

mor_picture_options mor_picture_options_default(void); /* the end, 1280 x 800, 30 per second, speed 1 */

/* MOR_SYSTEM and a sentence when there is no Chromium. The file appears under its name when it is complete. */
mor_code mor_picture_png(const char* path, mor_recording* const* recordings, int count,
                         const mor_picture_options* options, mor_error* error);
/* A film of the whole recording. The ending of `path` chooses the form (.mp4, .webm, .gif ...). MOR_SYSTEM and a
 * sentence when Chromium or ffmpeg is missing. `pictures` gets how many it has; may be NULL. */
mor_code mor_picture_video(const char* path, mor_recording* const* recordings, int count,
                           const mor_picture_options* options, int* pictures, mor_error* error);

#endif
