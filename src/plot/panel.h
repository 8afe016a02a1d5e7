/* A panel: curves over one pair of axes. Knows what is drawn and where, not with what: figures draw panels with cairo
 * (figure.c), pages as SVG elements with classes (page_chart.c). */
#ifndef MOR_PLOT_PANEL_H
#define MOR_PLOT_PANEL_H

#include "moreau/base.h"
#include "plot/axis.h"

enum { MOR_PLOT_COLOURS = 7, MOR_PLOT_DASHES = 4 };

typedef struct mor_curve {
    char label[160]; /* "": not in the legend of a page */
    int colour;      /* index into the palette, taken modulo its size */
    int dash;        /* 0 solid, 1 dashed, 2 dotted, 3 dash-dotted */
    bool thin;
    int count, capacity;
    double *x, *y; /* owned */
} mor_curve;

typedef struct mor_panel {
    char title[128];
    char note[160]; /* small print after the title */
    char unit[16];
    char y_label[96];             /* pages: beside the axis */
    bool log;                     /* logarithmic y axis: values <= 0 are left out */
    bool steps;                   /* y[i] holds from x[i-1] to x[i] */
    bool from_zero;               /* the axis includes 0 */
    char x_label[96], x_unit[16]; /* a horizontal axis of its own; "": the figure's, shared */
    bool x_log;
    double x_range[2], y_range[2]; /* what the axes show; both 0: the data */
    int curve_count, curve_capacity;
    mor_curve* curves;
} mor_panel;

/* A curve without points; NULL: out of memory. The pointer is good until the next curve. */
mor_curve* mor_panel_add(mor_panel* panel, const char* label, int colour, int dash);
/* One more point; NaN breaks the line. False: out of memory, or there is no curve. */
bool mor_curve_point(mor_curve* curve, double x, double y);
/* Both at once: copies the points. False: out of memory. */
bool mor_panel_curve(mor_panel* panel, const char* label, int colour, int dash, const double* x, const double* y,
                     int count);
void mor_panel_clear(mor_panel* panel);

/* Colours: Okabe and Ito (2008), "Color Universal Design", without yellow, which is faint on white. 0xrrggbb. */
unsigned mor_plot_colour(int colour);
/* Lengths of line and gap in points; their number. */
int mor_plot_dash(int dash, const double** lengths);

/* ---------------------------------------------------------------------------------- geometry */

/* Where the axes of a panel are on the paper, y downwards [points]. */
typedef struct mor_plot_box {
    double left, top, width, height;
    mor_plot_axis x, y;
} mor_plot_box;

/* Widens [low, high] to the panel's numbers along x or y that the axis can show, or sets it to the range asked for. */
void mor_panel_range(const mor_panel* panel, bool x, double* low, double* high);
/* The y axis of a panel with about `wanted` ticks; `scaled` as in mor_plot_axis_make. */
mor_plot_axis mor_panel_y_axis(const mor_panel* panel, bool scaled, int wanted);
double mor_plot_x(const mor_plot_box* box, double value);
double mor_plot_y(const mor_plot_box* box, double value);

/* What a curve is drawn with. */
typedef struct mor_pen {
    void (*move)(void* user, double x, double y);
    void (*line)(void* user, double x, double y);
    void (*dot)(void* user, double x, double y); /* a value between two gaps, which is a line of no length */
    void* user;
} mor_pen;

/* Draws a curve as lines, broken where there are no numbers. Long curves are thinned to the first, least, greatest and
 * last value in each quarter point of width, which looks the same. */
void mor_curve_draw(const mor_panel* panel, const mor_curve* curve, const mor_plot_box* box, const mor_pen* pen);

#endif
