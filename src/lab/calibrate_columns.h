/* Columns and runs of a plan (calibrate_columns.c). */
#ifndef MOR_LAB_CALIBRATE_COLUMNS_H
#define MOR_LAB_CALIBRATE_COLUMNS_H

#include "io/scene/yaml_node.h"
#include "lab/calibrate.h"

/* The number of the column that a node of the plan names. */
mor_code mor_cal_find_column(const mor_calibration* c, const mor_node* node, const char* name, int* column,
                             mor_error* error);
/* `columns` or `initial`: quantities of bodies by path. */
mor_code mor_cal_read_quantities(mor_calibration* c, const mor_node* map, const char* what, mor_cal_quantity* all,
                                 int* count, mor_error* error);
/* Rows with the same number or word in the run's column, which must lie together; times must rise. */
mor_code mor_cal_find_runs(mor_calibration* c, mor_error* error);
/* One more line of the calibration's notes. */
void MOR_PRINTF(2, 3) mor_cal_note(mor_calibration* c, const char* format, ...);
/* calibrate_check.c: does the scene take the values of a method? `at`: where the plan has the method. */
mor_code mor_cal_check_values(mor_calibration* c, const mor_cal_method* m, const mor_node* at, mor_error* error);
/* Notes samples that lie so far apart that their times may have another unit. */
void mor_cal_check_times(mor_calibration* c, const mor_node* at, double step);
/* Is every grid one of whole steps, and has it at most as many points as the plan has evaluations? */
mor_code mor_cal_check_grid(const mor_calibration* c, const mor_node* optimiser, mor_error* error);
/* Samples that runs need; runs are cut to begin with a row that has all numbers. */
mor_code mor_cal_check_samples(mor_calibration* c, mor_error* error);
/* `data.runs`: a number (the first so many) or a list; NULL: all. */
mor_code mor_cal_choose_runs(mor_calibration* c, const mor_node* node, mor_error* error);
/* `split`: which runs train; NULL: all. */
mor_code mor_cal_split_runs(mor_calibration* c, const mor_node* node, mor_error* error);

#endif
