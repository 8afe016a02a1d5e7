/* Charts for reports, see chart.h. Colours: Okabe and Ito (2008), three shades apart by dash; CSS classes c0..c23 let
 * the page highlight a series when the pointer is on its legend entry. Points that do not fit an axis (0 on a
 * logarithmic one, NaN) are left out. */
#include "lab/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                       "#e69f00", "#56b4e9", "#222222", "#8b5a2b" };
static const char* const dashes[] = { "", "6 3", "2 2", "8 3 2 3" };

void mor_html_text(FILE* out, const char* text)
{
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", out);
        else if (*text == '>') fputs("&gt;", out);
        else if (*text == '&') fputs("&amp;", out);
        else if (*text == '"') fputs("&quot;", out);
        else fputc(*text, out);
    }
}

mor_chart_series* mor_chart_add(mor_chart* chart, const char* label, int style)
{
    if (chart->count == MOR_CHART_SERIES) return NULL;
    if (!chart->series) chart->series = calloc(MOR_CHART_SERIES, sizeof *chart->series);
    if (!chart->series) return NULL;
    mor_chart_series* s = &chart->series[chart->count++];
    snprintf(s->label, sizeof s->label, "%s", label);
    s->style = style;
    return s;
}

bool mor_chart_point(mor_chart_series* s, double x, double y)
{
    if (!s) return false;
    if (s->count == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 32;
        double *gx = realloc(s->x, (size_t)capacity * sizeof *gx),
               *gy = gx ? realloc(s->y, (size_t)capacity * sizeof *gy) : NULL;
        if (gx) s->x = gx;
        if (!gy) return false;
        s->y = gy;
        s->capacity = capacity;
    }
    s->x[s->count] = x;
    s->y[s->count++] = y;
    return true;
}

void mor_chart_clear(mor_chart* chart)
{
    for (int i = 0; i < chart->count; i++) {
        free(chart->series[i].x);
        free(chart->series[i].y);
    }
    free(chart->series);
    memset(chart, 0, sizeof *chart);
}

/* ------------------------------------------------------------------------------------ axes */

typedef struct axis {
    double low, high; /* logarithms if log */
    bool log;
} axis;

static bool fits(double v, bool log) { return isfinite(v) && (!log || v > 0.0); }

static axis make_axis(const mor_chart* c, bool is_x)
{
    bool log = is_x ? c->log_x : c->log_y;
    double low = is_x ? c->x_low : c->y_low, high = is_x ? c->x_high : c->y_high;
    if (low == 0.0 && high == 0.0) {
        low = INFINITY, high = -INFINITY;
        for (int i = 0; i < c->count; i++)
            for (int k = 0; k < c->series[i].count; k++) {
                double v = is_x ? c->series[i].x[k] : c->series[i].y[k];
                if (!fits(v, log) || !fits(is_x ? c->series[i].y[k] : c->series[i].x[k], is_x ? c->log_y : c->log_x))
                    continue;
                low = fmin(low, v);
                high = fmax(high, v);
            }
        if (!(low <= high)) low = log ? 1.0 : 0.0, high = log ? 10.0 : 1.0;
        if (log) low = pow(10.0, floor(log10(low) + 1e-9)), high = pow(10.0, ceil(log10(high) - 1e-9));
    }
    if (log) low = log10(low), high = log10(high);
    if (high - low < 1e-12) high = low + 1.0;
    return (axis){ low, high, log };
}

static double place(const axis* a, double v) { return ((a->log ? log10(v) : v) - a->low) / (a->high - a->low); }

/* Ticks of a linear axis: 1, 2 or 5 times a power of ten, about five of them. */
static double linear_step(const axis* a)
{
    double raw = (a->high - a->low) / 5.0, power = pow(10.0, floor(log10(raw))), f = raw / power;
    return power * (f < 1.5 ? 1.0 : f < 3.5 ? 2.0 : f < 7.5 ? 5.0 : 10.0);
}

static void tick_label(FILE* out, const axis* a, double v)
{
    if (!a->log) {
        fprintf(out, "%.4g", fabs(v) < 1e-12 ? 0.0 : v);
        return;
    }
    if (v >= -2.0 && v <= 3.0) fprintf(out, "%g", pow(10.0, v));
    else fprintf(out, "10<tspan dy=\"-4\" font-size=\"8\">%g</tspan>", v);
}

static void write_axes(FILE* out, const mor_chart* c, const axis* x, const axis* y, double left, double top)
{
    double w = c->width, h = c->height;
    for (int which = 0; which < 2; which++) {
        const axis* a = which ? y : x;
        double step = a->log ? fmax(1.0, ceil((a->high - a->low) / (which ? 8.0 : 8.0))) : linear_step(a);
        for (double v = ceil(a->low / step - 1e-9) * step; v <= a->high + 1e-9 * step; v += step) {
            double t = (v - a->low) / (a->high - a->low);
            if (which)
                fprintf(out,
                        "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" "
                        "text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
                        left, left + w, top + h * (1 - t), top + h * (1 - t), left - 5, top + h * (1 - t) + 3.5);
            else
                fprintf(out,
                        "<line class=\"grid\" y1=\"%.1f\" y2=\"%.1f\" x1=\"%.1f\" x2=\"%.1f\"/><text class=\"tick\" "
                        "text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                        top, top + h, left + w * t, left + w * t, left + w * t, top + h + 14);
            tick_label(out, a, v);
            fputs("</text>\n", out);
        }
    }
    fprintf(out, "<path class=\"box\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", left, top, h, w);
    fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"14\">", left);
    mor_html_text(out, c->title);
    fprintf(out, "</text><text class=\"label\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", left + w / 2,
            top + h + 30);
    mor_html_text(out, c->x_label);
    fprintf(out, "</text><text class=\"label\" text-anchor=\"middle\" transform=\"translate(11 %.1f) rotate(-90)\">",
            top + h / 2);
    mor_html_text(out, c->y_label);
    fputs("</text>\n", out);
}

static void write_series(FILE* out, const mor_chart* c, const mor_chart_series* s, const axis* x, const axis* y,
                         double left, double top)
{
    const char *colour = colours[s->style % 8], *dash = dashes[s->style / 8 % 4];
    if (s->points) {
        fprintf(out, "<g class=\"s c%d\" fill=\"%s\" fill-opacity=\"0.55\">", s->style, colour);
        for (int i = 0; i < s->count; i++)
            if (fits(s->x[i], x->log) && fits(s->y[i], y->log))
                fprintf(out, "<circle r=\"2\" cx=\"%.1f\" cy=\"%.1f\"/>", left + c->width * place(x, s->x[i]),
                        top + c->height * (1 - place(y, s->y[i])));
        fputs("</g>\n", out);
        return;
    }
    fprintf(out, "<path class=\"s c%d\" stroke=\"%s\" stroke-width=\"%s\"%s%s%s fill=\"none\" d=\"", s->style, colour,
            s->thin ? "0.8" : "1.6", dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "");
    bool down = false;
    double last = 0.0;
    for (int i = 0; i < s->count; i++) {
        if (!fits(s->x[i], x->log) || !fits(s->y[i], y->log)) {
            down = false;
            continue;
        }
        double px = left + c->width * fmin(1.0, fmax(0.0, place(x, s->x[i])));
        double py = top + c->height * (1 - fmin(1.0, fmax(0.0, place(y, s->y[i]))));
        if (!down) fprintf(out, "M%.1f %.1f", px, py);
        else if (s->steps) fprintf(out, "H%.1f", px), py != last ? fprintf(out, "V%.1f", py) : 0;
        else fprintf(out, "L%.1f %.1f", px, py);
        down = true;
        last = py;
    }
    fputs("\"/>\n", out);
}

void mor_chart_write(const mor_chart* c, FILE* out)
{
    double left = 52, top = 24, row = 14;
    int named = 0;
    size_t longest = 0;
    for (int i = 0; i < c->count; i++) {
        named += c->series[i].label[0] != 0;
        if (strlen(c->series[i].label) > longest) longest = strlen(c->series[i].label);
    }
    double legend = named ? fmax(130.0, 45.0 + 5.8 * (double)longest) : 8,
           height = fmax(top + c->height + 38, top + row * named + 8);
    axis x = make_axis(c, true), y = make_axis(c, false);
    fprintf(out, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n",
            left + c->width + legend + 12, height, left + c->width + legend + 12, height);
    write_axes(out, c, &x, &y, left, top);
    for (int i = 0; i < c->count; i++) write_series(out, c, &c->series[i], &x, &y, left, top);
    double at = top + 4;
    for (int i = 0; i < c->count; i++) {
        const mor_chart_series* s = &c->series[i];
        if (!s->label[0]) continue;
        const char* dash = dashes[s->style / 8 % 4];
        fprintf(out,
                "<g class=\"key\" data-c=\"c%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" "
                "fill=\"#fff\" fill-opacity=\"0\"/><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"2\"%s%s%s/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\">",
                s->style, left + c->width + 10, at - 7, legend, row, left + c->width + 12, left + c->width + 34, at, at,
                colours[s->style % 8], dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "",
                left + c->width + 39, at + 3.5);
        mor_html_text(out, s->label);
        fputs("</text></g>\n", out);
        at += row;
    }
    fputs("</svg>\n", out);
}
