/* The options of Lemke's method, for callers that choose them without going through names (auto). */
#ifndef MOR_SOLVER_LEMKE_H
#define MOR_SOLVER_LEMKE_H

#include "moreau/solver.h"

typedef enum mor_lemke_covering { MOR_LEMKE_IRREGULAR, MOR_LEMKE_ONES } mor_lemke_covering;

typedef struct mor_lemke_options {
    int tries;        /* paths before giving up */
    int covering;     /* a mor_lemke_covering: d of the first path */
    bool equilibrate; /* scale rows and columns first */
} mor_lemke_options;

/* Options as in the field table of the solver "lemke". */
extern const mor_solver mor_solver_lemke;

#endif
