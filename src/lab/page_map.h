/* A map in a page: coloured cells over two axes, with a scale; every cell tells its number to the pointer. */
#ifndef MOR_LAB_PAGE_MAP_H
#define MOR_LAB_PAGE_MAP_H

#include <stdbool.h>
#include <stdio.h>

typedef char mor_page_name[24];

typedef struct mor_page_map {
    const char *title, *x_label, *y_label;
    int columns, rows;
    mor_page_name *x_names, *y_names; /* of columns and rows; row 0 is at the bottom */
    const double* values;             /* rows x columns; NAN: nothing there */
    double range[2];                  /* of the colours; both 0: that of the values */
    bool log;                         /* colours by the logarithm, where all values are positive */
} mor_page_map;

/* Numbers of a range that differ by rounding only are drawn as one: 0 to 1 within low ... high, 0.5 where these do not
 * differ. */
double mor_page_place(double value, double low, double high);
void mor_page_write_map(const mor_page_map* map, FILE* out);
/* "#rrggbb" from dark blue (0) by green to yellow (1). */
void mor_page_colour(double t, char text[8]);

#endif
