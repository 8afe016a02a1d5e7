/* A recording on its way into a panel. */
#ifndef MOR_PLOT_SOURCE_H
#define MOR_PLOT_SOURCE_H

#include "plot/quantities.h"

#define MOST_BODIES 14 /* curves one can still tell apart: seven colours, two dashes */

/* One recording being turned into curves of one panel. */
typedef struct mor_plot_source {
    mor_panel* panel;
    const mor_recording* recording;
    int frames, dimension;
    char prefix[96]; /* tells recordings apart in the legend; "" if there is one */
    int file;        /* which recording: the dash when there are several */
    bool alone;
    double *time, *value;
} mor_plot_source;

/* The numbers in `value` as a curve, with the recording in its label. */
mor_code mor_plot_add_curve(mor_plot_source* s, const char* label, int index, mor_error* error);
/* Of one body; `data` has room for frames x 7. */
mor_code mor_plot_add_body(mor_plot_source* s, const request* q, double* data, mor_error* error);
mor_code mor_plot_add_all_bodies(mor_plot_source* s, const request* q, double* data, mor_error* error);

#endif
