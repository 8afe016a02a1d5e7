/* Sensitivity bands: how far the bodies of a recording may be off when inputs are (bands.c). */
#ifndef MOREAU_LAB_BANDS_H
#define MOREAU_LAB_BANDS_H

#include "io/recording/recording.h"
#include "moreau/derivative.h"

enum { MOR_MOST_BANDS = 8 };

typedef struct mor_band_inputs {
    mor_input inputs[MOR_MOST_BANDS];
    double spreads[MOR_MOST_BANDS];
    int count;
    const char* label; /* what the viewer says of them */
} mor_band_inputs;

/* Runs the world, which is as the recording begins, along the recording, and hands the recording its bands (JSON, see
 * docs/viewer.md). *rough: steps without a derivative. MOR_BAD_INPUT: the world does not go where the recording went,
 * or has no derivative. */
mor_code mor_bands_make(mor_world* world, mor_recording* recording, const mor_band_inputs* of, int* rough,
                        mor_error* error);

#endif
