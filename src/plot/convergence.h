/* Convergence of solvers from trace files, as panels of a figure. */
#ifndef MOR_PLOT_CONVERGENCE_H
#define MOR_PLOT_CONVERGENCE_H

#include "io/hdf5/trace_file.h"
#include "plot/figure.h"

/* Two panels for every problem: the judge's error against the iteration and against time, one curve for every solver.
 * At most MOR_FIGURE_PANELS / 2 problems. */
mor_code mor_plot_convergence(mor_figure* figure, const mor_trace_record* records, int count, mor_error* error);

#endif
