/* What can be plotted from a recording: quantities by name, as panels of a figure. */
#ifndef MOR_PLOT_SERIES_H
#define MOR_PLOT_SERIES_H

#include "io/recording/recording.h"
#include "plot/figure.h"

/* One line per quantity, for help and for messages. Ends with a NULL name. */
typedef struct mor_quantity {
    const char* name;
    const char* unit;
    const char* help;
    bool of_body; /* takes ":BODY" and ".COMPONENT" */
} mor_quantity;

const mor_quantity* mor_quantities(void);
/* Is the word before ':' a quantity? */
bool mor_is_quantity(const char* text);

/* Adds the panel for `text` = QUANTITY[:BODY[.COMPONENT]], or the path of a dataset with one row per frame, with the
 * curves of all recordings. Unknown quantities, bodies and components are bad input with "did you mean" and the list.
 * */
mor_code mor_plot_add(mor_figure* figure, mor_recording* const* recordings, int count, const char* text,
                      mor_error* error);
/* Title and subtitle from the recordings. */
void mor_plot_title(mor_figure* figure, mor_recording* const* recordings, int count);

#endif
