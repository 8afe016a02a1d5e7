/* Parts of a report that its script works with. */
#ifndef MOR_LAB_REPORT_DATA_H
#define MOR_LAB_REPORT_DATA_H

#include <stdio.h>

#include "lab/compare.h"

/* The element #data. */
void mor_report_data(const mor_lab* lab, FILE* out);
/* report_robust.c: how often every solver ended how, and why. */
void mor_report_robust(const mor_lab* lab, FILE* out);
/* report.js, built into the program. */
extern const unsigned char mor_report_script[];
extern const size_t mor_report_script_size;

#endif
