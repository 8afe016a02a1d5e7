/* What `moreau trust` found, as JSON and as a page that loads nothing. */
#include "lab/trust.h"

#include "io/json/json.h"
#include "lab/page.h"
#include "lab/page_map.h"
#include "plot/page_chart.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 50, MOST_ROWS = 16 }; /* of a map over the time */

/* ---------------------------------------------------------------------------------------- JSON */

static void write_runs(mor_json* j, const mor_trust* t, mor_trust_kind kind)
{
    mor_json_list(j, mor_trust_kind_name(kind));
    for (int i = 0; i < t->run_count; i++) {
        const mor_trust_run* r = &t->runs[i];
        if (r->kind != kind) continue;
        mor_json_object(j, NULL);
        mor_json_number(j, "value", r->value);
        if (kind == MOR_TRUST_START) mor_json_integer(j, "member", r->member);
        mor_json_text(j, "status", mor_trial_status_name(r->status));
        mor_json_number(j, "agrees_until", r->agrees_until);
        mor_json_number(j, "sequence_until", r->sequence_until);
        mor_json_number(j, "error", r->error);
        mor_json_number(j, "end_error", r->error_at[MOR_TRUST_SAMPLES]);
        mor_json_integer(j, "outcome", r->outcome);
        mor_json_end(j);
    }
    mor_json_end(j);
}

static void write_levels(mor_json* j, const mor_trust* t)
{
    mor_json_list(j, "spread");
    for (int i = 0; i < t->level_count; i++) {
        const mor_trust_level* l = &t->levels[i];
        mor_json_object(j, NULL);
        mor_json_number(j, "size", l->size);
        mor_json_number(j, "velocity", l->size * t->speed);
        mor_json_number(j, "predictable_until", l->until);
        mor_json_integer(j, "outcomes", l->outcomes);
        mor_json_integer(j, "other", l->other);
        mor_json_numbers(j, "at_samples", l->spread, MOR_TRUST_SAMPLES + 1);
        mor_json_end(j);
    }
    mor_json_end(j);
}

void mor_trust_write_json(const mor_trust* t, FILE* out)
{
    mor_json json = mor_json_begin(out), *j = &json;
    mor_json_object(j, NULL);
    mor_json_text(j, "scene", t->scene);
    mor_json_number(j, "time", t->end);
    mor_json_number(j, "scene_step", t->step);
    mor_json_number(j, "goal", t->goal);
    mor_json_number(j, "way", t->way);
    mor_json_number(j, "speed", t->speed);
    mor_json_integer(j, "members", t->members);
    mor_json_number(j, "largest_step", t->largest_step);
    mor_json_number(j, "horizon", t->horizon);
    mor_json_bool(j, "predictable", t->horizon >= t->end);
    mor_json_number(j, "growth_rate", t->growth);
    mor_json_text(j, "sentence", t->sentence);
    for (int k = MOR_TRUST_STEP; k <= MOR_TRUST_START; k++) write_runs(j, t, (mor_trust_kind)k);
    write_levels(j, t);
    mor_json_list(j, "ensemble");
    for (int i = 0; i < t->body_count; i++) {
        const mor_trust_body* b = &t->bodies[i];
        mor_json_object(j, NULL);
        mor_json_text(j, "body", b->name);
        mor_json_numbers(j, "mean", b->mean, 3);
        mor_json_numbers(j, "deviation", b->deviation, 3);
        mor_json_integer(j, "resting", b->resting);
        mor_json_integer(j, "turned", b->turned);
        mor_json_end(j);
    }
    mor_json_end(j);
    mor_json_end(j);
    mor_json_finish(j);
}

/* ---------------------------------------------------------------------------------------- page */

/* Logarithms of lengths over the goal: 0 is the goal. */
static double decades(const mor_trust* t, double length)
{
    return fmin(6.0, fmax(-9.0, log10(fmax(length, 1e-300) / t->goal)));
}

/* Rows of runs (or of levels, for the start), columns of time. */
static void write_map(const mor_trust* t, mor_trust_kind kind, const char* title, const char* label, FILE* out)
{
    static double values[COLUMNS * MOST_ROWS];
    static mor_page_name x_names[COLUMNS], y_names[MOST_ROWS];
    int rows = 0;
    const double* series[MOST_ROWS];
    for (int i = 0; i < t->run_count && kind != MOR_TRUST_START && rows < MOST_ROWS; i++) {
        if (t->runs[i].kind != kind) continue;
        snprintf(y_names[rows], sizeof y_names[rows], "%.3g", t->runs[i].value);
        series[rows++] = t->runs[i].error_at;
    }
    for (int i = 0; i < t->level_count && kind == MOR_TRUST_START; i++) {
        snprintf(y_names[rows], sizeof y_names[rows], "%.2g", t->levels[i].size * t->speed);
        series[rows++] = t->levels[i].spread;
    }
    for (int c = 0; c < COLUMNS; c++) {
        int k = (c + 1) * MOR_TRUST_SAMPLES / COLUMNS;
        snprintf(x_names[c], sizeof x_names[c], "%.3g", t->end * k / MOR_TRUST_SAMPLES);
        for (int r = 0; r < rows; r++) values[r * COLUMNS + c] = decades(t, series[r][k]);
    }
    if (rows)
        mor_page_write_map(&(mor_page_map){ .title = title,
                                            .x_label = "time [s]",
                                            .y_label = label,
                                            .columns = COLUMNS,
                                            .rows = rows,
                                            .x_names = x_names,
                                            .y_names = y_names,
                                            .values = values,
                                            .range = { -4.0, 2.0 } },
                           out);
}

static void write_spread(const mor_trust* t, FILE* out)
{
    mor_panel panel = { .log = true };
    snprintf(panel.title, sizeof panel.title, "Spread of runs that begin almost alike");
    snprintf(panel.x_label, sizeof panel.x_label, "time [s]");
    snprintf(panel.y_label, sizeof panel.y_label, "m");
    for (int i = 0; i <= t->level_count; i++) {
        char name[64];
        bool goal = i == t->level_count;
        if (goal) snprintf(name, sizeof name, "the goal");
        else snprintf(name, sizeof name, "%.1g m/s", t->levels[i].size * t->speed);
        mor_curve* curve = mor_page_curve(&panel, name, i);
        for (int k = 1; k <= MOR_TRUST_SAMPLES && curve; k++) {
            double v = goal ? t->goal : t->levels[i].spread[k];
            mor_curve_point(curve, t->end * k / MOR_TRUST_SAMPLES, v > 0.0 && isfinite(v) ? v : NAN);
        }
    }
    mor_page_chart(&panel, 420, 260, out);
    mor_panel_clear(&panel);
}

static void write_table(const mor_trust* t, FILE* out)
{
    fputs("<table><thead><tr><th>what changes</th><th>value</th><th>status</th><th>agrees until [s]</th><th>contacts "
          "agree "
          "until [s]</th><th>largest error [m]</th><th>ends</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < t->run_count; i++) {
        const mor_trust_run* r = &t->runs[i];
        if (r->kind == MOR_TRUST_START) continue;
        fprintf(out, "<tr><td>%s</td>", mor_trust_kind_name(r->kind));
        mor_page_number(out, "%.4g", r->value);
        fprintf(out, "<td>%s</td>", i == 0 ? "reference" : mor_trial_status_name(r->status));
        mor_page_number(out, "%.4g", r->agrees_until);
        mor_page_number(out, "%.4g", r->sequence_until);
        mor_page_number(out, "%.3g", r->error);
        fprintf(out, "<td>%s</td></tr>\n", r->outcome ? "otherwise" : "alike");
    }
    fputs("</tbody></table>\n", out);
}

static void write_ensemble(const mor_trust* t, FILE* out)
{
    double size = t->level_count ? t->levels[t->level_count - 1].size * t->speed : 0.0;
    fprintf(
        out,
        "<h2>Statistics of the end</h2><p class=\"dim\">Of %d runs whose initial velocities differ by %.2g m/s: mean "
        "and "
        "standard deviation of the final position; how many are at rest, and have turned over.</p>\n"
        "<table><thead><tr><th>body</th><th>x</th><th>y</th><th>z</th><th>deviation</th><th>y</th><th>z</th><th>at "
        "rest</th><th>turned</th></tr></thead><tbody>\n",
        t->members, size);
    for (int i = 0; i < t->body_count; i++) {
        const mor_trust_body* b = &t->bodies[i];
        fputs("<tr><td>", out);
        mor_html_text(out, b->name);
        fputs("</td>", out);
        for (int k = 0; k < 3; k++) mor_page_number(out, "%.4g", b->mean[k]);
        for (int k = 0; k < 3; k++) mor_page_number(out, "%.2g", b->deviation[k]);
        fprintf(out, "<td class=\"n\">%d</td><td class=\"n\">%d</td></tr>\n", b->resting, b->turned);
    }
    fputs("</tbody></table>\n", out);
}

void mor_trust_write_html(const mor_trust* t, FILE* out)
{
    mor_page_begin(out, "moreau trust");
    fputs("<h1>Where to trust ", out);
    mor_html_text(out, t->scene);
    fputs("</h1>\n<p class=\"warn\">", out);
    mor_html_text(out, t->sentence);
    fprintf(out,
            "</p>\n<p class=\"dim\">Goal: %.3g m, against a longest way of %.3g m in %.3g s. Predictable until %.3g s.",
            t->goal, t->way, t->end, t->horizon);
    if (isfinite(t->growth)) fprintf(out, " Small changes grow by a factor of ten in %.3g s.", log(10.0) / t->growth);
    fputs("</p>\n<h2>Maps</h2><p class=\"dim\">Colours are decades, the same in all maps: 0 is the goal, -2 a "
          "hundredth of it.</p><div "
          "class=\"charts\">\n",
          out);
    write_map(t, MOR_TRUST_STEP, "Distance from the finest solution", "step [s]", out);
    write_map(t, MOR_TRUST_START, "Spread under changes of the start", "initial velocities [m/s]", out);
    write_map(t, MOR_TRUST_FRICTION, "Distance with other friction", "factor of friction", out);
    write_map(t, MOR_TRUST_TOLERANCE, "Distance with other tolerances", "tolerance", out);
    write_spread(t, out);
    fputs("</div>\n<h2>Runs</h2>\n", out);
    write_table(t, out);
    write_ensemble(t, out);
    fprintf(out, "<p class=\"dim\">Moreau %s</p></body></html>\n", mor_version());
}
