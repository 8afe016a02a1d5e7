/* The quantities of a recording, and requests for them. */
#ifndef MOR_PLOT_QUANTITIES_H
#define MOR_PLOT_QUANTITIES_H

#include "io/recording/recording.h"
#include "plot/series.h"

enum {
    POSITION,
    ORIENTATION,
    VELOCITY,
    ACCELERATION,
    ENERGY,
    WORK,
    FORCES,
    GAP,
    PENETRATION,
    JOINT_ERROR,
    ITERATIONS,
    RESIDUAL,
    VELOCITY_ERROR,
    STATUS,
    FAILURES,
    CONTACTS,
    SIZE,
    STEP_SIZE,
    TIMING,
    JOINT_POSITION
};

typedef struct request {
    int quantity;
    char body[64];
    int component; /* index into components, -1: all or the default */
} request;

/* The first three are world axes of the quantity; 3..5 angular; 6 the length. Ends with NULL. */
extern const char* const mor_components[];
enum { NORM = 6 };
extern const char* const mor_quaternion_components[];

/* QUANTITY[:BODY[.COMPONENT]]. Body names may hold dots: the whole text is tried as a name first. */
mor_code mor_request_parse(const char* text, const mor_recording* r, request* q, mor_error* error);

/* "no body X; did you mean Y?" with the bodies of the recording. */
mor_code mor_unknown_body(const mor_recording* r, const char* body, mor_error* error);

#endif
