/* The page of a calibration: table of methods, parameters with intervals, residuals. It loads nothing. */
#include "lab/calibrate.h"

#include <math.h>
#include <string.h>

static const char* const colours[] = { "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                       "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22" };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<title>moreau calibrate</title>\n<style>\n"
    "body{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:1100px;margin:1.5em auto;padding:0 1em}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:2px 9px;text-align:left;border-bottom:1px solid #e6e6e6}td.n{text-align:right}\n"
    ".warn{background:#fff3cd}.dim{color:#666}text{font:11px system-ui,sans-serif}\n"
    "</style></head><body>\n";

static void escaped(FILE* out, const char* text)
{
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", out);
        else if (*text == '>') fputs("&gt;", out);
        else if (*text == '&') fputs("&amp;", out);
        else fputc(*text, out);
    }
}

static void cell(FILE* out, const char* format, double value)
{
    fputs("<td class=\"n\">", out);
    if (isfinite(value)) fprintf(out, format, value);
    else fputs("–", out);
    fputs("</td>", out);
}

/* A number and its interval, or a dash where nothing is held out. */
static void interval(FILE* out, int digits, double unit, double value, double low, double high, const char* more)
{
    if (!isfinite(value)) fputs("<td class=\"n\">–</td>", out);
    else if (!isfinite(low) || !isfinite(high)) fprintf(out, "<td class=\"n\">%.*g%s</td>", digits, unit * value, more);
    else
        fprintf(out, "<td class=\"n\">%.*g [%.*g, %.*g]%s</td>", digits, unit * value, digits, unit * low, digits,
                unit * high, more);
}

static void write_methods(const mor_calibration* c, FILE* out)
{
    fputs("<h2>Methods</h2><table><tr><th></th><th>method</th><th>training error</th><th>held-out error</th><th>with "
          "start "
          "values</th><th>held-out position [mm]</th><th>rotation [deg]</th><th>ratio to the first "
          "(95&nbsp;%)</th><th>evaluations</th><th>CPU [s]</th></tr>\n",
          out);
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_result* r = &c->results[k];
        if (!r->done) continue;
        fprintf(out, "<tr><td style=\"color:%s\">&#9632;</td><td>", colours[k % 10]);
        escaped(out, c->methods[k].name);
        fputs("</td>", out);
        cell(out, "%.4g", r->train[0]);
        cell(out, "%.4g", r->test[0]);
        cell(out, "%.4g", r->start_test);
        interval(out, 3, 1e3, r->test[1], r->test_low[1], r->test_high[1], "");
        interval(out, 3, 57.29577951308232, r->test[2], r->test_low[2], r->test_high[2], "");
        interval(out, 4, 1.0, r->ratio, r->ratio_low, r->ratio_high,
                 k && r->ratio_low <= 1.0 && r->ratio_high >= 1.0 ? " indistinguishable" : "");
        fprintf(out, "<td class=\"n\">%d</td>", r->evaluations);
        cell(out, "%.3g", r->time_s);
        fputs("</tr>\n", out);
        if (r->used_up)
            fputs("<tr><td></td><td class=\"warn\" colspan=\"9\">the search had used up its evaluations before it "
                  "ended: better values may lie outside the intervals</td></tr>\n",
                  out);
        if (r->failures)
            fprintf(
                out,
                "<tr><td></td><td class=\"warn\" colspan=\"9\">%d runs failed and are not in these means</td></tr>\n",
                r->failures);
    }
    fputs("</table>\n", out);
}

/* Every run counts with its mean over the splits that hold it out. */
static void write_over_splits(const mor_calibration* c, FILE* out)
{
    fprintf(
        out,
        "<h2>Methods over %d splits, held out</h2><table><tr><th></th><th>method</th><th>position [mm] (95&nbsp;%%)"
        "</th><th>splits</th><th>median, 90&nbsp;%%</th><th>rotation [deg] (95&nbsp;%%)</th><th>splits</th><th>error"
        " over that of ",
        c->split_count);
    escaped(out, c->methods[0].name);
    fputs("</th></tr>\n", out);
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_summary* m = &c->summaries[k];
        const double turn = 57.29577951308232;
        if (m->splits < c->split_count || c->summaries[0].splits < c->split_count) continue;
        fprintf(out, "<tr><td style=\"color:%s\">&#9632;</td><td>", colours[k % 10]);
        escaped(out, c->methods[k].name);
        fprintf(out,
                "</td><td class=\"n\">%.3g [%.3g, %.3g]</td><td class=\"n dim\">%.3g … %.3g</td><td class=\"n\">%.3g, "
                "%.3g</td>",
                1e3 * m->test[1], 1e3 * m->low[1], 1e3 * m->high[1], 1e3 * m->least[1], 1e3 * m->most[1],
                1e3 * m->median, 1e3 * m->ninth);
        fprintf(out, "<td class=\"n\">%.3g [%.3g, %.3g]</td><td class=\"n dim\">%.3g … %.3g</td>", turn * m->test[2],
                turn * m->low[2], turn * m->high[2], turn * m->least[2], turn * m->most[2]);
        fprintf(out, "<td class=\"n\">%.3f [%.3f, %.3f]%s</td></tr>\n", m->ratio[0], m->ratio_low[0], m->ratio_high[0],
                k && m->ratio_low[0] <= 1.0 && m->ratio_high[0] >= 1.0 ? " indistinguishable" : "");
    }
    fputs("</table><p>Below: the first split.</p>\n", out);
}

static void write_parameters(const mor_calibration* c, FILE* out)
{
    fputs("<h2>Parameters</h2><table><tr><th>split</th><th>method</th><th>parameter</th><th>value</th><th>95 %, "
          "all at once</th><th>95 %, alone</th><th>range</th><th></th></tr>\n",
          out);
    for (int n = 0; n < c->split_count * c->method_count; n++) {
        int k = n / c->split_count, split = n % c->split_count;
        const mor_cal_result* r = &c->all[split * MOR_CAL_METHODS + k];
        const mor_cal_method* m = &c->methods[k];
        for (int i = 0; r->done && i < m->parameter_count; i++) {
            const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
            const mor_cal_interval* v = &r->intervals[i];
            fprintf(out, "<tr><td class=\"n\">%d</td><td>", split + 1);
            escaped(out, m->name);
            fputs("</td><td>", out);
            escaped(out, p->name);
            fprintf(out,
                    "</td><td class=\"n\">%.5g</td><td class=\"n\">%.4g … %.4g</td><td class=\"n dim\">%.4g … "
                    "%.4g</td><td class=\"n dim\">%.4g … %.4g</td>",
                    r->x[i], v->low, v->high, v->alone_low, v->alone_high, p->low, p->high);
            fprintf(out, "<td%s>", v->identifiable && !v->at_bound && v->moved ? "" : " class=\"warn\"");
            if (!v->identifiable)
                fputs(v->judged ? "cannot be identified: " : "not judged: ", out), escaped(out, v->why);
            if (v->at_bound) fputs(" at the edge of its range", out);
            if (!v->moved) fputs(" never moved from its start", out);
            fputs("</td></tr>\n", out);
        }
    }
    fputs("</table>\n", out);
}

/* Axes with the largest values named. */
static void begin_chart(FILE* out, const char* title, const char* x, const char* y, double most_x, double most_y)
{
    fprintf(out,
            "<svg width=\"520\" height=\"300\" role=\"img\" aria-label=\"%s\"><rect x=\"60\" y=\"24\" width=\"440\" "
            "height=\"230\" fill=\"none\" stroke=\"#777\"/><text x=\"60\" y=\"15\" font-weight=\"600\">%s</text>",
            title, title);
    for (int i = 0; i <= 4; i++) {
        fprintf(out, "<text x=\"%d\" y=\"270\" text-anchor=\"middle\">%.3g</text>", 60 + 110 * i, most_x * i / 4);
        fprintf(out, "<text x=\"54\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>", 258.0 - 57.5 * i, most_y * i / 4);
    }
    fprintf(out, "<text x=\"280\" y=\"290\" text-anchor=\"middle\">%s</text><text x=\"62\" y=\"38\">%s</text>\n", x, y);
}

static void write_curves(const mor_calibration* c, int what, const char* title, const char* unit, double scale,
                         FILE* out)
{
    double most_x = 1e-300, most_y = 1e-300;
    for (int k = 0; k < c->method_count; k++)
        for (int i = 0; c->results[k].done && i < MOR_CAL_PARTS; i++) {
            const double* v = c->results[k].curve + 3 * i;
            if (!isfinite(v[1])) continue;
            most_x = fmax(most_x, v[0]), most_y = fmax(most_y, scale * v[what]);
        }
    if (most_y < 1e-9) return; /* nothing of that is measured, or all of it is met */
    begin_chart(out, title, "time [s]", unit, most_x, most_y);
    for (int k = 0; k < c->method_count; k++) {
        if (!c->results[k].done) continue;
        fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colours[k % 10]);
        for (int i = 0; i < MOR_CAL_PARTS; i++) {
            const double* v = c->results[k].curve + 3 * i;
            if (isfinite(v[1]))
                fprintf(out, "%.1f,%.1f ", 60 + 440 * v[0] / most_x, 254 - 230 * scale * v[what] / most_y);
        }
        fputs("\"/>\n", out);
    }
    fputs("</svg>\n", out);
}

/* One dot per run: error of the method over that of the first. */
static void write_runs(const mor_calibration* c, FILE* out)
{
    double most = 1e-300;
    for (int k = 0; k < c->method_count; k++)
        for (int i = 0; c->results[k].done && i < c->run_count; i++)
            if (isfinite(c->results[k].scores[i].error)) most = fmax(most, c->results[k].scores[i].error);
    begin_chart(out, "Error of each run: filled training, open held out", "run", "error", c->run_count, most);
    for (int k = 0; k < c->method_count; k++)
        for (int i = 0; c->results[k].done && i < c->run_count; i++) {
            double e = c->results[k].scores[i].error;
            if (!isfinite(e)) continue;
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" stroke=\"%s\" fill=\"%s\"/>",
                    60 + 440.0 * i / c->run_count, 254 - 230 * e / most, colours[k % 10],
                    c->runs[i].train ? colours[k % 10] : "none");
        }
    fputs("</svg>\n", out);
}

static void write_profiles(const mor_calibration* c, FILE* out)
{
    for (int k = 0; k < c->method_count; k++)
        for (int i = 0; c->results[k].done && i < c->methods[k].parameter_count; i++) {
            const mor_cal_interval* v = &c->results[k].intervals[i];
            const mor_cal_parameter* p = &c->parameters[c->methods[k].parameters[i]];
            if (!v->profile_count) continue;
            double most = 1e-300;
            for (int j = 0; j < v->profile_count; j++)
                if (isfinite(v->profile_error[j])) most = fmax(most, v->profile_error[j]);
            fputs("<h3>Profile: ", out);
            escaped(out, p->name);
            fputs("</h3>", out);
            begin_chart(out, "least error with this value held", "part of the range", "error", 1.0, most);
            fputs("<polyline fill=\"none\" stroke=\"#1f77b4\" points=\"", out);
            for (int j = 0; j < v->profile_count; j++)
                if (isfinite(v->profile_error[j]))
                    fprintf(out, "%.1f,%.1f ", 60 + 440 * mor_cal_to_unit(p, v->profile_x[j]),
                            254 - 230 * v->profile_error[j] / most);
            fputs("\"/></svg>\n", out);
        }
}

void mor_calibration_write_html(const mor_calibration* c, FILE* out)
{
    static const char* const errors[] = { "pose: mean distance plus weight times angle [m]",
                                          "eq. (18): (1/N)(|q0 - q0'|^2 + sum |q - q'|^2), q with weighted angle",
                                          "time-warped pose error [m]" };
    int train = 0;
    for (int i = 0; i < c->run_count; i++) train += c->runs[i].train;
    fputs(head, out);
    fputs("<h1>Calibration</h1><p>Plan <code>", out);
    escaped(out, c->plan);
    fputs("</code>, scene <code>", out);
    escaped(out, c->scene);
    fputs("</code>, data <code>", out);
    escaped(out, c->data.path);
    fprintf(
        out,
        "</code>. %d runs train, %d are held out. Error: %s; %g m per radian. Initial states %s. Optimiser %s.</p>\n",
        train, c->run_count - train, errors[c->error], c->rotation_weight,
        c->fit_initial ? "are fitted over the flight before the first contact" : "are those of the first row",
        c->optimiser);
    if (c->split_count > 1) write_over_splits(c, out);
    write_methods(c, out);
    write_parameters(c, out);
    fputs("<h2>Residuals</h2>\n", out);
    write_curves(c, 1, "Mean distance over time", "mm", 1e3, out);
    write_curves(c, 2, "Mean angle over time", "degrees", 57.29577951308232, out);
    write_runs(c, out);
    write_profiles(c, out);
    fputs("</body></html>\n", out);
}
