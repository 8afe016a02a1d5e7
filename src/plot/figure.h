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

#include "plot/panel.h"

#define MOR_FIGURE_PANELS 16

typedef struct mor_figure {
    char title[160], subtitle[256];
    char x_label[64], x_unit[16];
    int panel_count;
    mor_panel panels[MOR_FIGURE_PANELS];
} mor_figure;

/* NULL when there are MOR_FIGURE_PANELS already. */
mor_panel* mor_figure_panel(mor_figure* figure, const char* title, const char* unit);
void mor_figure_clear(mor_figure* figure);
/* By the ending of `path`: .svg or .png (twice the resolution). Written to a temporary name and renamed. */
mor_code mor_figure_write(const mor_figure* figure, const char* path, mor_error* error);

#endif
