/* What intervals, profiles and valleys of one method share. */
#ifndef MOR_LAB_CALIBRATE_WORK_H
#define MOR_LAB_CALIBRATE_WORK_H

#include "lab/calibrate.h"

enum { MOR_CAL_TERMS = (MOR_CAL_PARAMETERS + 1) * (MOR_CAL_PARAMETERS + 2) / 2, MOR_CAL_POINTS = 4 * MOR_CAL_TERMS };

typedef struct mor_cal_work {
    mor_calibration* c;
    const mor_cal_method* m;
    int method, n, runs;
    mor_cal_ask ask;
    void* user;
    double z[MOR_CAL_PARAMETERS], d[MOR_CAL_PARAMETERS];
    bool flat[MOR_CAL_PARAMETERS];
    const mor_cal_point *best, *points[MOR_CAL_POINTS];
    double y[MOR_CAL_POINTS][MOR_CAL_PARAMETERS];
    int count, terms;
    double* models; /* runs x terms */
    mor_rng rng;
} mor_cal_work;

/* The point at z of the unit cube; NULL: stopped. */
const mor_cal_point* mor_cal_at(mor_cal_work* k, const double* z);
/* Mean rise of the error over the best point: in standard errors of the paired difference, and as a part of it. */
double mor_cal_significance(const mor_cal_work* k, const mor_cal_point* p, double* part);
/* The mean of the runs' quadratics, of all or of runs drawn with replacement. */
void mor_cal_mean_model(mor_cal_work* k, bool draw, double* model);
/* For qsort of doubles; a quantile of sorted ones. */
int mor_cal_ascending(const void* a, const void* b);
double mor_cal_quantile(const double* sorted, int n, double q);

/* calibrate_draws.c: of c->bootstrap fits of drawn runs, n values each. How many times 1.96 standard errors an interval
 * of one value alone reaches, and one of all values together; false: out of memory. */
bool mor_cal_widths(const mor_cal_work* k, const double* all, double* alone, double* together);
/* Correlations into r, standard deviations [of the unit cube or of steps, as the draws are]. */
void mor_cal_correlate(const mor_cal_work* k, const double* all, mor_cal_result* r, double* deviation);
/* Interval i about k->z, from its 95 % reach below and above [of the unit cube] and mor_cal_widths. */
void mor_cal_set_interval(const mor_cal_work* k, mor_cal_result* r, int i, double below, double above, double alone,
                          double together);
/* Both intervals reach to x. */
void mor_cal_widen(mor_cal_interval* v, double x);
/* Student's two-sided quantile: |t| <= this with probability `level`, nu degrees of freedom. */
double mor_cal_student(double level, int nu);

/* calibrate_linear.c: intervals and correlations by least squares. *done false: a run beside the best point fails. */
mor_code mor_cal_linear_intervals(mor_cal_work* k, mor_cal_result* r, bool* done, mor_error* error);
/* The least points about k->z of drawn runs, from H (runs x n x n) and b (runs x n; changed) of every run there. */
void mor_cal_draw_linear(mor_cal_work* k, const double* H, double* b, double* all);
/* calibrate_gradient.c: H (runs x n x n) and b (runs x n) of every training run at z. */
mor_code mor_cal_linearise_runs(mor_calibration* c, int method, const double* z, double* H, double* b,
                                mor_error* error);

/* calibrate_valleys.c */
mor_code mor_cal_profile(mor_cal_work* k, mor_cal_result* r, mor_error* error);
mor_code mor_cal_walk_valleys(mor_cal_work* k, mor_error* error);
void mor_cal_take_equals(mor_cal_work* k, mor_cal_result* r);

#endif
