/* The fixed parts of pages: style, the script of a report and the rules of docs/fairness.md. */
#ifndef MOR_LAB_PAGE_H
#define MOR_LAB_PAGE_H

#include <stdio.h>

extern const char mor_page_rules[];

/* The head with the style, up to <body>. `title`: plain words. */
void mor_page_begin(FILE* out, const char* title);

/* A cell of a table with a number, which sorts by its value; a dash for what is not finite. */
void mor_page_number(FILE* out, const char* format, double value);

#endif
