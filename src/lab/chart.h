/* Small charts as SVG inside a web page: curves, steps or points over linear or logarithmic axes, one legend. */
#ifndef MOR_LAB_CHART_H
#define MOR_LAB_CHART_H

#include <stdio.h>

#include "moreau/base.h"

enum { MOR_CHART_SERIES = 512 };

typedef struct mor_chart_series {
    char label[64]; /* "": not in the legend */
    int style;      /* colour and dash; the same number looks the same in every chart */
    int count, capacity;
    double *x, *y;
    bool steps, points, thin;
} mor_chart_series;

typedef struct mor_chart {
    char title[128], x_label[96], y_label[96];
    bool log_x, log_y;
    double width, height;                /* of the axes' box */
    double x_low, x_high, y_low, y_high; /* both 0: from the data */
    int count;
    mor_chart_series* series;
} mor_chart;

/* A new series, NULL when out of memory or room. */
mor_chart_series* mor_chart_add(mor_chart* chart, const char* label, int style);
bool mor_chart_point(mor_chart_series* series, double x, double y);
void mor_chart_write(const mor_chart* chart, FILE* out);
void mor_chart_clear(mor_chart* chart);
/* Text with < > & " replaced. */
void mor_html_text(FILE* out, const char* text);

#endif
