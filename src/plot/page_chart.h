/* A panel as an SVG element of a web page: text stays text, curves have classes, so that the page can highlight one
 * when the pointer is on its legend entry. */
#ifndef MOR_PLOT_PAGE_CHART_H
#define MOR_PLOT_PAGE_CHART_H

#include <stdio.h>

#include "plot/panel.h"

/* The style of the k-th of many curves: colours first, then dashes. */
mor_curve* mor_page_curve(mor_panel* panel, const char* label, int style);
/* Axes of the given size in points, legend at their right. */
void mor_page_chart(const mor_panel* panel, double width, double height, FILE* out);
/* Text with < > & " replaced. */
void mor_html_text(FILE* out, const char* text);

#endif
