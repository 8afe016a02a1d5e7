/* Figures: panels stacked above one shared axis (or each above its own), several curves each, as SVG or PNG.
 *
 *     mor_error error = { 0 };
 *     double t[2] = { 0, 1 }, e[2] = { 5, 4 };
 *     mor_figure figure = { .title = "peg in hole", .x_label = "time", .x_unit = "s" };
 *     mor_panel* panel = mor_figure_panel(&figure, "energy", "J");
 *     mor_panel_curve(panel, "kinetic", 0, 0, t, e, 2);
 *     mor_figure_write(&figure, "energy.svg", &error);
 *     mor_figure_clear(&figure); */
#ifndef MOR_PLOT_FIGURE_H
#define MOR_PLOT_FIGURE_H

#include "moreau/base.h"

#define MOR_FIGURE_PANELS 16

typedef struct mor_curve {
    char label[160];
    int colour; /* index into the palette, taken modulo its size */
    int dash;   /* 0 solid, 1 dashed, 2 dotted, 3 dash-dotted */
    int count;
    double *x, *y; /* owned copies */
} mor_curve;

typedef struct mor_panel {
    char title[96];
    char note[160]; /* small print after the title */
    char unit[16];
    bool log;                     /* logarithmic y axis: values <= 0 are left out */
    bool steps;                   /* y[i] holds from x[i-1] to x[i] */
    bool from_zero;               /* the axis includes 0 */
    char x_label[64], x_unit[16]; /* a horizontal axis of its own; "": the figure's, shared */
    bool x_log;
    int curve_count, curve_capacity;
    mor_curve* curves;
} mor_panel;

typedef struct mor_figure {
    char title[160], subtitle[256];
    char x_label[64], x_unit[16];
    int panel_count;
    mor_panel panels[MOR_FIGURE_PANELS];
} mor_figure;

/* NULL when there are MOR_FIGURE_PANELS already. */
mor_panel* mor_figure_panel(mor_figure* figure, const char* title, const char* unit);
/* Copies the points; NaN breaks the line. False: out of memory. */
bool mor_panel_curve(mor_panel* panel, const char* label, int colour, int dash, const double* x, const double* y,
                     int count);
void mor_figure_clear(mor_figure* figure);
/* By the ending of `path`: .svg or .png (twice the resolution). Written to a temporary name and renamed. */
mor_code mor_figure_write(const mor_figure* figure, const char* path, mor_error* error);

#endif
