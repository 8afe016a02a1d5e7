/* Error against iteration and against time, see convergence.h.
 *
 * Iterations of different solvers are different things (a sweep, a pivot, a factorisation): the second panel is the
 * comparison, the first shows the order of convergence. Both axes of time and error are logarithmic; errors below 1e-17
 * are drawn there. */
#include "plot/convergence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_curve(mor_panel* panel, const mor_trace_record* r, const double* x, int number)
{
    const double least = 1e-17;
    double* y = malloc(((size_t)r->count + 1) * sizeof *y);
    if (!y) return false;
    for (int i = 0; i < r->count; i++) y[i] = isfinite(r->error[i]) ? fmax(r->error[i], least) : NAN;
    bool ok = mor_panel_curve(panel, r->solver, number, number / MOR_PLOT_COLOURS, x, y, r->count);
    free(y);
    return ok;
}

/* A line of no length shows nothing: solvers that need one iteration get a dot from the figure. */
static mor_panel* add_panel(mor_figure* figure, const char* problem, const char* against, const char* unit, bool log)
{
    mor_panel* panel = mor_figure_panel(figure, "error", "");
    if (!panel) return NULL;
    panel->log = true;
    panel->x_log = log;
    snprintf(panel->note, sizeof panel->note, "%.140s", problem);
    snprintf(panel->x_label, sizeof panel->x_label, "%s", against);
    snprintf(panel->x_unit, sizeof panel->x_unit, "%s", unit);
    return panel;
}

mor_code mor_plot_convergence(mor_figure* figure, const mor_trace_record* records, int count, mor_error* error)
{
    bool* done = calloc((size_t)count + 1, sizeof *done);
    if (!done) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = MOR_OK;
    for (int k = 0; k < count && !code; k++) {
        if (done[k]) continue;
        mor_panel* iterations = add_panel(figure, records[k].problem, "iteration", "", false);
        mor_panel* times = iterations ? add_panel(figure, records[k].problem, "time", "s", true) : NULL;
        if (!times)
            code = mor_fail(error, MOR_BAD_INPUT, "at most %d problems fit into one figure", MOR_FIGURE_PANELS / 2);
        int number = 0;
        for (int j = k; j < count && !code; j++) {
            if (strcmp(records[j].problem, records[k].problem) != 0) continue;
            done[j] = true;
            if (!add_curve(iterations, &records[j], records[j].iteration, number) ||
                !add_curve(times, &records[j], records[j].time_s, number))
                code = mor_fail(error, MOR_SYSTEM, "out of memory");
            number++;
        }
    }
    free(done);
    if (!figure->title[0]) snprintf(figure->title, sizeof figure->title, "Convergence");
    if (!figure->subtitle[0])
        snprintf(figure->subtitle, sizeof figure->subtitle, "error of the judge; the time of judging is not counted");
    return code;
}
