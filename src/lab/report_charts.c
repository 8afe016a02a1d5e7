/* The charts of a report: performance and data profiles, time over size, work and precision, convergence. */
#include "lab/report_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/profile.h"
#include "plot/page_chart.h"

/* ---------------------------------------------------------------------------------- charts */

void mor_report_profiles(const mor_lab* lab, int f, FILE* out)
{
    fputs("<div class=\"charts\">", out);
    for (int data = 0; data < 2; data++)
        for (int t = 0; t < lab->options.tol_count; t++) {
            mor_lab_profile p;
            if (!mor_lab_profile_make(lab, f, t, NULL, &p)) return;
            double least = data ? 1e-5 : 1.0, most = data ? fmax(1.0, lab->options.time_limit) : 1000.0;
            mor_panel c = { .x_log = true, .steps = true, .x_range = { least, most }, .y_range = { 0, 1 } };
            snprintf(c.title, sizeof c.title, "%s profile, tolerance %g", data ? "data" : "performance",
                     lab->options.tols[t]);
            snprintf(c.x_label, sizeof c.x_label,
                     data ? "time allowed [s]" : "time allowed, as a multiple of the best solver's");
            snprintf(c.y_label, sizeof c.y_label, "fraction of problems solved");
            for (int k = 0; k < p.solver_count; k++) {
                mor_curve* s = mor_page_curve(&c, mor_lab_solver_name(lab, p.solvers[k]), p.solvers[k]);
                double low = log10(least), high = log10(most);
                for (int i = 0; i <= 120; i++) {
                    double x = pow(10.0, low + (high - low) * i / 120);
                    mor_curve_point(s, x, data ? mor_lab_delta(&p, k, x) : mor_lab_rho(&p, k, x * (1.0 + 1e-12)));
                }
            }
            mor_page_chart(&c, 330, 230, out);
            mor_panel_clear(&c);
            mor_lab_profile_free(&p);
        }
    fputs("</div>\n", out);
}

/* Median time of the solved ones over bins of size, three per decade. */
void mor_report_sizes(const mor_lab* lab, int f, FILE* out)
{
    int t = lab->options.tol_count - 1;
    mor_lab_profile p;
    if (!mor_lab_profile_make(lab, f, t, NULL, &p)) return;
    mor_panel c = { .x_log = true, .log = true };
    snprintf(c.title, sizeof c.title, "size against time, tolerance %g", lab->options.tols[t]);
    snprintf(c.x_label, sizeof c.x_label, "rows (three per contact)");
    snprintf(c.y_label, sizeof c.y_label, "geometric mean of the time [s], where solved");
    for (int k = 0; k < p.solver_count; k++) {
        mor_curve* s = mor_page_curve(&c, mor_lab_solver_name(lab, p.solvers[k]), p.solvers[k]);
        for (int bin = 0; bin < 18; bin++) {
            double sum = 0.0, size = 0.0;
            int n = 0;
            for (int i = 0; i < p.problem_count; i++) {
                int rows = lab->problems[p.problems[i]].rows;
                double time = p.time[(size_t)k * (size_t)p.problem_count + (size_t)i];
                if (rows < 1 || (int)floor(3.0 * log10(rows)) != bin || !isfinite(time)) continue;
                sum += log(time), size += log(rows), n++;
            }
            if (n) mor_curve_point(s, exp(size / n), exp(sum / n));
        }
    }
    mor_page_chart(&c, 330, 260, out);
    mor_panel_clear(&c);
    mor_lab_profile_free(&p);
}

/* Work-precision: for every error level, the median over the followed problems of the time at which it is first
 * reached; none if fewer than half of them get there. */
void mor_report_precision(const mor_lab* lab, int f, FILE* out)
{
    mor_panel c = { .x_log = true, .log = true };
    snprintf(c.title, sizeof c.title, "work and precision");
    snprintf(c.x_label, sizeof c.x_label, "error reached");
    snprintf(c.y_label, sizeof c.y_label, "median time of the solver [s]");
    double* times = malloc(((size_t)lab->trace_count + 1) * sizeof *times);
    for (int s = 0; times && s < lab->solver_count; s++) {
        mor_curve* series = NULL;
        for (int level = 0; level <= 20; level++) {
            double error = pow(10.0, -0.5 * level);
            int n = 0, all = 0;
            for (int i = 0; i < lab->trace_count; i++) {
                const mor_lab_trace* tr = &lab->traces[i];
                if (tr->formulation != f || tr->solver != s) continue;
                all++;
                for (int k = 0; k < tr->count; k++)
                    if (tr->error[k] <= error) {
                        times[n++] = tr->time_s[k];
                        break;
                    }
            }
            if (all == 0 || 2 * n < all) continue;
            qsort(times, (size_t)n, sizeof *times, mor_report_ascending);
            int middle = (all - 1) / 2; /* those that never get there count as the slowest */
            if (middle >= n) continue;
            if (!series) series = mor_page_curve(&c, mor_lab_solver_name(lab, s), s);
            mor_curve_point(series, error, fmax(times[middle], 1e-7));
        }
    }
    free(times);
    if (c.curve_count) mor_page_chart(&c, 330, 260, out);
    else
        fprintf(out, "<p class=\"dim why\">No chart of work and precision: %s.</p>",
                lab->options.traces ? "no followed run of this formulation reaches an error of 1"
                                    : "no iterations were followed (--traces 0)");
    mor_panel_clear(&c);
}

/* One small chart per solver: the error over the iterations of every followed problem. */
void mor_report_convergence(const mor_lab* lab, int f, FILE* out)
{
    int charts = 0;
    fputs("<div class=\"charts small\">", out);
    for (int s = 0; s < lab->solver_count; s++) {
        mor_panel c = { .log = true, .y_range = { 1e-14, 100.0 } };
        snprintf(c.title, sizeof c.title, "%s", mor_lab_solver_name(lab, s));
        snprintf(c.x_label, sizeof c.x_label, "iteration");
        snprintf(c.y_label, sizeof c.y_label, "error");
        for (int i = 0; i < lab->trace_count; i++) {
            const mor_lab_trace* tr = &lab->traces[i];
            if (tr->formulation != f || tr->solver != s) continue;
            mor_curve* series = mor_page_curve(&c, "", s);
            if (!series) break;
            series->thin = true;
            for (int k = 0; k < tr->count; k++) mor_curve_point(series, tr->iteration[k], fmax(tr->error[k], 1e-14));
        }
        if (c.curve_count) mor_page_chart(&c, 210, 140, out), charts++;
        mor_panel_clear(&c);
    }
    if (!charts)
        fputs(lab->options.traces ? "<p class=\"dim why\">No curve: these solvers tell no iterations.</p>"
                                  : "<p class=\"dim why\">No curve: no iterations were followed (--traces 0).</p>",
              out);
    fputs("</div>\n", out);
}
