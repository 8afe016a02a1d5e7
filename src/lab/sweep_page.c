/* The page of a sweep: maps of every measure over pairs of parameters, curves over single ones, parallel coordinates,
 * sensitivity indices, what went wrong. It loads nothing and needs no script. */
#include "lab/sweep.h"

#include "lab/page.h"
#include "lab/page_map.h"
#include "lab/sensitivity.h"
#include "plot/page_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 12, MOST_CELLS = 64, MOST_MEASURES = 16, MOST_PAIRS = 6, MOST_LINES = 1500, MOST_AXES = 12, SIDE = 110 };

/* ------------------------------------------------------------------ parameters cut into cells */

/* A parameter as an axis of cells: its values, or bins of what was drawn. */
typedef struct cells {
    int parameter, count;
    double low, high;
    mor_page_name* names;
} cells;

/* The range of the numbers that a parameter has. */
static void range_of(const mor_sweep* s, int k, double* low, double* high)
{
    *low = *high = NAN;
    for (long t = 0; t < s->tasks; t++) {
        double v = mor_plan_number(s->plan, t, k);
        if (!(*low <= v)) *low = v;
        if (!(*high >= v)) *high = v;
    }
}

static bool is_listed(const mor_parameter* x) { return x->kind == MOR_PARAMETER_LIST && x->count <= MOST_CELLS; }
static bool is_log(const mor_parameter* x) { return x->kind == MOR_PARAMETER_LOG_UNIFORM; }

static bool make_cells(const mor_sweep* s, int k, cells* c)
{
    const mor_parameter* x = &s->plan->parameters[k];
    *c = (cells){ .parameter = k, .count = is_listed(x) ? x->count : BINS };
    if (!x->numeric && !is_listed(x)) return false;
    if (!(c->names = calloc((size_t)c->count, sizeof *c->names))) return false;
    if (!is_listed(x)) range_of(s, k, &c->low, &c->high);
    for (int i = 0; i < c->count; i++) {
        double t = (i + 0.5) / c->count, v = c->low + t * (c->high - c->low);
        if (is_log(x)) v = exp(log(c->low) + t * log(c->high / c->low));
        if (is_listed(x)) snprintf(c->names[i], sizeof c->names[i], "%.20s", x->texts[i]);
        else snprintf(c->names[i], sizeof c->names[i], "%.3g", v);
    }
    return true;
}

/* Which cell a task is in; -1: none. */
static int cell_of(const mor_sweep* s, const cells* c, long task)
{
    const mor_parameter* x = &s->plan->parameters[c->parameter];
    if (is_listed(x)) {
        char text[MOR_PLAN_TEXT];
        mor_plan_text(s->plan, task, c->parameter, text, sizeof text);
        for (int i = 0; i < x->count; i++)
            if (strcmp(x->texts[i], text) == 0) return i;
        return -1;
    }
    double v = mor_plan_number(s->plan, task, c->parameter);
    double t = is_log(x) ? log(v / c->low) / log(c->high / c->low) : (v - c->low) / (c->high - c->low);
    if (!(c->high > c->low)) t = 0.0;
    int i = (int)(t * c->count);
    return i < 0 ? 0 : i >= c->count ? c->count - 1 : i;
}

/* ----------------------------------------------------------------------------- maps and curves */

/* Means of a measure in the cells of two axes. False: no memory. */
static bool fold(const mor_sweep* s, int measure, const cells* x, const cells* y, double* mean)
{
    long* n = calloc((size_t)(x->count * y->count), sizeof *n);
    if (!n) return false;
    for (int i = 0; i < x->count * y->count; i++) mean[i] = 0.0;
    for (long t = 0; t < s->tasks; t++) {
        double v = s->values[t * s->measures + measure];
        int c = s->status[t] < 0 || !isfinite(v) ? -1 : cell_of(s, x, t);
        int r = c < 0 ? -1 : y->count == 1 ? 0 : cell_of(s, y, t);
        if (r < 0) continue;
        mean[r * x->count + c] += v;
        n[r * x->count + c]++;
    }
    for (int i = 0; i < x->count * y->count; i++) mean[i] = n[i] ? mean[i] / (double)n[i] : NAN;
    free(n);
    return true;
}

static void write_map(const mor_sweep* s, int measure, const cells* x, const cells* y, FILE* out)
{
    double* mean = malloc((size_t)(x->count * y->count) * sizeof *mean);
    if (mean && fold(s, measure, x, y, mean))
        mor_page_write_map(&(mor_page_map){ .title = s->plan->measures[measure].name,
                                            .x_label = s->plan->parameters[x->parameter].path,
                                            .y_label = s->plan->parameters[y->parameter].path,
                                            .columns = x->count,
                                            .rows = y->count,
                                            .x_names = x->names,
                                            .y_names = y->names,
                                            .values = mean },
                           out);
    free(mean);
}

/* The mean of a measure over one numeric parameter. */
static void write_curve(const mor_sweep* s, int measure, const cells* x, FILE* out)
{
    const mor_parameter* p = &s->plan->parameters[x->parameter];
    double* mean = malloc((size_t)x->count * sizeof *mean);
    cells all = { .parameter = x->parameter, .count = 1 };
    if (mean && p->numeric && fold(s, measure, x, &all, mean)) {
        mor_panel panel = { .x_log = is_log(p) };
        snprintf(panel.title, sizeof panel.title, "%.100s", s->plan->measures[measure].name);
        snprintf(panel.x_label, sizeof panel.x_label, "%.60s", p->path);
        mor_curve* curve = mor_page_curve(&panel, "", measure);
        for (int i = 0; i < x->count && curve; i++) {
            double t = (i + 0.5) / x->count, v = x->low + t * (x->high - x->low);
            if (is_listed(p)) v = strtod(p->texts[i], NULL);
            else if (is_log(p)) v = exp(log(x->low) + t * log(x->high / x->low));
            if (isfinite(mean[i])) mor_curve_point(curve, v, mean[i]);
        }
        if (curve && curve->count > 1) mor_page_chart(&panel, 330, 220, out);
        mor_panel_clear(&panel);
    }
    free(mean);
}

static void write_measures(const mor_sweep* s, FILE* out)
{
    const mor_plan* p = s->plan;
    cells* axes = calloc((size_t)p->parameter_count + 1, sizeof *axes);
    int n = 0;
    for (int k = 0; k < p->parameter_count && axes; k++)
        if ((p->parameters[k].kind != MOR_PARAMETER_LIST || p->parameters[k].count > 1) && make_cells(s, k, &axes[n]))
            n++;
    if (n) fputs("<h2>Measures over the parameters</h2><p class=\"dim\">Means of all runs in a cell.</p>\n", out);
    for (int m = 0; m < s->measures && m < MOST_MEASURES; m++) {
        int pairs = 0;
        fputs("<div class=\"charts\">\n", out);
        for (int i = 0; i < n; i++)
            for (int k = i + 1; k < n && pairs < MOST_PAIRS; k++, pairs++) write_map(s, m, &axes[i], &axes[k], out);
        for (int i = 0; i < n && i < MOST_PAIRS; i++) write_curve(s, m, &axes[i], out);
        fputs("</div>\n", out);
    }
    for (int i = 0; i < n; i++) free(axes[i].names);
    free(axes);
}

/* ------------------------------------------------------------------------ parallel coordinates */

/* The number of a task on an axis: parameters first, then measures. Texts count by their place in the list. */
static double coordinate(const mor_sweep* s, int axis, long task)
{
    const mor_plan* p = s->plan;
    if (axis >= p->parameter_count) return s->values[task * s->measures + axis - p->parameter_count];
    const mor_parameter* x = &p->parameters[axis];
    if (x->numeric) return mor_plan_number(p, task, axis);
    char text[MOR_PLAN_TEXT];
    mor_plan_text(p, task, axis, text, sizeof text);
    for (int i = 0; i < x->count; i++)
        if (strcmp(x->texts[i], text) == 0) return i;
    return NAN;
}

static const char* axis_name(const mor_sweep* s, int axis)
{
    int n = s->plan->parameter_count;
    return axis < n ? s->plan->parameters[axis].path : s->plan->measures[axis - n].name;
}

static void write_parallel(const mor_sweep* s, FILE* out)
{
    int all = s->plan->parameter_count + s->measures, n = all < MOST_AXES ? all : MOST_AXES, step = 130;
    int colour = s->measures ? (s->plan->parameter_count < n ? s->plan->parameter_count : n - 1) : 0;
    double low[MOST_AXES], high[MOST_AXES];
    if (n < 2 || s->done < 2) return;
    for (int k = 0; k < n; k++) {
        low[k] = high[k] = NAN;
        for (long t = 0; t < s->tasks; t++) {
            double v = s->status[t] < 0 ? NAN : coordinate(s, k, t);
            if (!isfinite(v)) continue;
            if (!(low[k] <= v)) low[k] = v;
            if (!(high[k] >= v)) high[k] = v;
        }
    }
    int width = step * (n - 1) + 2 * SIDE, height = 330;
    fputs("<h2>Parallel coordinates</h2><p class=\"dim\">A line for every run", out);
    long every = 1 + (s->tasks - 1) / MOST_LINES;
    if (every > 1) fprintf(out, ", of which one in %ld is drawn", every);
    fputs("; the colour is that of ", out);
    mor_html_text(out, axis_name(s, colour));
    fprintf(out, ".</p>\n<svg class=\"chart\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", width, height,
            width, height);
    for (long t = 0; t < s->tasks; t += every) {
        if (s->status[t] < 0) continue;
        char name[8];
        double v = coordinate(s, colour, t);
        mor_page_colour(isfinite(v) ? mor_page_place(v, low[colour], high[colour]) : 0.5, name);
        fprintf(out, "<path fill=\"none\" stroke-opacity=\".45\" stroke=\"%s\" d=\"", name);
        const char* verb = "M";
        for (int k = 0; k < n; k++) {
            double x = coordinate(s, k, t), place = mor_page_place(x, low[k], high[k]);
            if (!isfinite(x)) verb = "M";
            else fprintf(out, "%s%d %.1f", verb, SIDE + k * step, 270 - 230 * place), verb = "L";
        }
        fprintf(out, "\"><title>task %ld</title></path>\n", t);
    }
    for (int k = 0; k < n; k++) {
        int x = SIDE + k * step;
        fprintf(out,
                "<path class=\"box\" d=\"M%d 40V270\"/><text class=\"label\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">",
                x, x, k % 2 ? 306 : 322);
        mor_html_text(out, axis_name(s, k));
        fprintf(out,
                "</text><text class=\"tick\" text-anchor=\"middle\" x=\"%d\" y=\"32\">%.4g</text><text class=\"tick\" "
                "text-anchor=\"middle\" x=\"%d\" y=\"284\">%.4g</text>\n",
                x, high[k], x, low[k]);
    }
    fputs("</svg>\n", out);
}

/* -------------------------------------------------------------------------------- sensitivity */

/* "solver = nsgs" for a combination of listed values. */
static void write_group(const mor_sweep* s, long group, FILE* out)
{
    const mor_plan* p = s->plan;
    long task = group * p->points;
    fputs("<td>", out);
    if (p->scene_count > 1) mor_html_text(out, p->scene_nodes[mor_plan_scene(p, task)]->text), fputs(" ", out);
    for (int i = 0; i < p->parameter_count; i++) {
        char text[MOR_PLAN_TEXT];
        if (p->parameters[i].axis >= 0) continue;
        mor_plan_text(p, task, i, text, sizeof text);
        mor_html_text(out, p->parameters[i].path);
        fputs(" = ", out);
        mor_html_text(out, text);
        fputs(" ", out);
    }
    fputs("</td>", out);
}

static void write_interval(FILE* out, double value, const double interval[2])
{
    double shown = fmin(fmax(value, 0.0), 1.0);
    fprintf(out, "<td class=\"n bar\" style=\"--w:%.0f%%\" data-v=\"%.9g\">%.3f</td><td class=\"n\">%.3f … %.3f</td>",
            100.0 * shown, value, value, interval[0], interval[1]);
}

static void write_indices(const mor_sweep* s, int measure, long group, bool grouped, FILE* out)
{
    mor_sensitivity x;
    if (!mor_sensitivity_make(s, measure, group, &x)) return;
    for (int k = 0; k < x.count; k++) {
        const mor_sensitivity_index* i = &x.index[k];
        fputs("<tr><td>", out);
        mor_html_text(out, s->plan->measures[measure].name);
        fputs("</td>", out);
        if (grouped) write_group(s, group, out);
        fputs("<td>", out);
        mor_html_text(out, s->plan->parameters[i->parameter].path);
        fputs("</td>", out);
        if (x.morris) {
            mor_page_number(out, "%.4g", i->mu_star);
            mor_page_number(out, "%.4g", i->mu);
            mor_page_number(out, "%.4g", i->sigma);
        } else {
            write_interval(out, i->first, i->first_interval);
            if (x.total) write_interval(out, i->total, i->total_interval);
        }
        fprintf(out, "<td class=\"n\">%ld</td></tr>\n", x.used);
    }
    mor_sensitivity_free(&x);
}

static void write_sensitivity(const mor_sweep* s, FILE* out)
{
    const mor_plan* p = s->plan;
    if (p->dimension == 0 || s->measures == 0) return;
    long groups = mor_sensitivity_groups(s);
    bool morris = p->design == MOR_DESIGN_MORRIS, total = p->design == MOR_DESIGN_SALTELLI;
    fputs("<h2>Sensitivity</h2><p class=\"dim\">", out);
    if (morris)
        fputs("Elementary effects of Morris, for a parameter that goes through its whole range: mean of the absolute "
              "values μ*, mean μ, standard deviation σ (large beside μ*: not linear, or acting with others).",
              out);
    else if (total)
        fputs(
            "Sobol's indices: the part of the variance that a parameter explains alone (first order), and with all its "
            "interactions (total), with 95 % intervals.",
            out);
    else
        fputs("First-order Sobol indices, the part of the variance that a parameter explains alone, from the means of "
              "bins, with 95 % intervals. The design <code>saltelli</code> gives total indices too.",
              out);
    fputs("</p>\n<table class=\"sort\"><thead><tr><th>measure</th>", out);
    if (groups > 1) fputs("<th>at</th>", out);
    fputs(morris  ? "<th>parameter</th><th>μ*</th><th>μ</th><th>σ</th><th>trajectories</th>"
          : total ? "<th>parameter</th><th>first</th><th>95 %</th><th>total</th><th>95 %</th><th>base points</th>"
                  : "<th>parameter</th><th>first</th><th>95 %</th><th>runs</th>",
          out);
    fputs("</tr></thead><tbody>\n", out);
    for (int m = 0; m < s->measures; m++)
        for (long g = 0; g < groups && g < 40; g++) write_indices(s, m, g, groups > 1, out);
    fputs("</tbody></table>\n", out);
}

/* ------------------------------------------------------------------------------------- the page */

static void write_states(const mor_sweep* s, FILE* out)
{
    long counts[MOR_TRIAL_STATUSES] = { 0 };
    for (long t = 0; t < s->tasks; t++)
        if (s->status[t] >= 0) counts[(int)s->status[t]]++;
    fprintf(out, "<p>%ld of %ld tasks:", s->done, s->tasks);
    for (int i = 0; i < MOR_TRIAL_STATUSES; i++)
        if (counts[i]) fprintf(out, " %ld %s", counts[i], mor_trial_status_name(i));
    fputs(".</p>\n", out);
    if (!s->note_count) return;
    fputs("<div class=\"warn\">What was told of tasks:<ul>\n", out);
    for (long i = 0; i < s->note_count && i < 20; i++) {
        fprintf(out, "<li>task %ld (%s): ", s->notes[i].task, mor_trial_status_name(s->status[s->notes[i].task]));
        mor_html_text(out, s->notes[i].detail);
        fputs("</li>\n", out);
    }
    if (s->note_count > 20) fprintf(out, "<li>... and %ld more</li>\n", s->note_count - 20);
    fputs("</ul></div>\n", out);
}

void mor_sweep_write_html(const mor_sweep* s, FILE* out)
{
    mor_page_begin(out, "moreau sweep");
    fputs("<h1>Sweep ", out);
    mor_html_text(out, s->plan->file);
    fputs("</h1>\n", out);
    write_states(s, out);
    write_sensitivity(s, out);
    write_measures(s, out);
    write_parallel(s, out);
    fputs("<h2>The plan</h2><pre>", out);
    mor_html_text(out, s->plan->text);
    fprintf(out, "</pre><p class=\"dim\">Moreau %s</p></body></html>\n", mor_version());
}
