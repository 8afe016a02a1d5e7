/* Charts of one formulation, written into a page. */
#ifndef MOR_LAB_REPORT_CHARTS_H
#define MOR_LAB_REPORT_CHARTS_H

#include "lab/compare.h"

/* Performance and data profiles of a formulation, one per tolerance. */
void mor_report_profiles(const mor_lab* lab, int f, FILE* out);
/* Median time of the solved ones over bins of size, three per decade. */
void mor_report_sizes(const mor_lab* lab, int f, FILE* out);
/* Time at which an error is first reached. */
void mor_report_precision(const mor_lab* lab, int f, FILE* out);
/* One small chart per solver: the error over the iterations. */
void mor_report_convergence(const mor_lab* lab, int f, FILE* out);
/* For qsort of doubles. */
int mor_report_ascending(const void* a, const void* b);

#endif
