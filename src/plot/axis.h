/* Axes: ranges, round ticks, tick labels and SI prefixes. Knows numbers, draws nothing. */
#ifndef MOR_PLOT_AXIS_H
#define MOR_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#define MOR_AXIS_TICKS 24

typedef struct mor_plot_axis {
    double low, high; /* range shown, in the data's unit; log axes: low > 0 */
    bool log;
    int exponent; /* linear axes: labels are in units of 10^exponent, a multiple of 3 */
    int tick_count;
    double tick[MOR_AXIS_TICKS];
    char label[MOR_AXIS_TICKS][16]; /* log axes: the exponent of ten */
} mor_plot_axis;

/* An axis that shows [low, high] with about `wanted` ticks at 1, 2 or 5 times a power of ten (log axes:
 * powers of ten). `fit`: use the range as it is, else widen it to whole ticks. Empty, equal and
 * non-finite ranges are widened to something that can be drawn. `scaled`: large and small numbers get
 * an exponent. */
mor_plot_axis mor_plot_axis_make(double low, double high, bool log, bool fit, bool scaled, int wanted);
/* Where a value is on the axis: 0 at low, 1 at high. NaN for values a log axis cannot show. */
double mor_plot_axis_place(const mor_plot_axis* axis, double value);
/* "[mm]" for unit "m" and exponent -3; "[x 1000]" style with superscripts when there is no unit; "" for
 * nothing to say. */
void mor_plot_axis_unit(const char* unit, int exponent, char* text, size_t size);

#endif
