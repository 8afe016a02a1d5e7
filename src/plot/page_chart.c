/* Panels in pages, see page_chart.h. Classes: s and cN on the curve, key and data-c=cN on its legend entry, where N is
 * its style; grid, box, tick, label and title for the page's style sheet. */
#include "plot/page_chart.h"

#include <math.h>
#include <string.h>

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

/* Neighbouring styles differ in colour and in dash, so that neither is needed alone, and the first 28 are all
 * different; the script of the report does the same. */
static int dash_of(int style) { return (style + 2 * (style / MOR_PLOT_COLOURS)) % MOR_PLOT_DASHES; }

mor_curve* mor_page_curve(mor_panel* panel, const char* label, int style)
{
    return mor_panel_add(panel, label, style % MOR_PLOT_COLOURS, dash_of(style));
}

static int style_of(const mor_curve* c)
{
    int style = c->colour;
    while (dash_of(style) != c->dash && style < MOR_PLOT_COLOURS * MOR_PLOT_DASHES) style += MOR_PLOT_COLOURS;
    return style;
}

/* ------------------------------------------------------------------------------------ axes */

static void tick_label(FILE* out, const mor_plot_axis* a, int i)
{
    if (a->log) fprintf(out, "10<tspan dy=\"-4\" font-size=\"8\">%s</tspan>", a->label[i]);
    else fputs(a->label[i], out);
}

static void write_axes(FILE* out, const mor_panel* p, const mor_plot_box* b)
{
    double right = b->left + b->width, bottom = b->top + b->height;
    for (int i = 0; i < b->y.tick_count; i++) {
        double y = mor_plot_y(b, b->y.tick[i]);
        fprintf(out,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" "
                "text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
                b->left, right, y, y, b->left - 5, y + 3.5);
        tick_label(out, &b->y, i);
        fputs("</text>\n", out);
    }
    for (int i = 0; i < b->x.tick_count; i++) {
        double x = mor_plot_x(b, b->x.tick[i]);
        fprintf(out,
                "<line class=\"grid\" y1=\"%.1f\" y2=\"%.1f\" x1=\"%.1f\" x2=\"%.1f\"/><text class=\"tick\" "
                "text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                b->top, bottom, x, x, x, bottom + 14);
        tick_label(out, &b->x, i);
        fputs("</text>\n", out);
    }
    fprintf(out, "<path class=\"box\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", b->left, b->top, b->height, b->width);
    fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"14\">", b->left);
    mor_html_text(out, p->title);
    fprintf(out, "</text><text class=\"label\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", b->left + b->width / 2,
            bottom + 30);
    mor_html_text(out, p->x_label);
    fprintf(out, "</text><text class=\"label\" text-anchor=\"middle\" transform=\"translate(11 %.1f) rotate(-90)\">",
            b->top + b->height / 2);
    mor_html_text(out, p->y_label);
    fputs("</text>\n", out);
}

/* ---------------------------------------------------------------------------------- curves */

/* Writes the data of a path; values beyond the axes are drawn on their border. A horizontal run is written as one
 * line: its last point waits until the height changes. */
typedef struct path {
    FILE* out;
    const mor_plot_box* box;
    double y, waiting_x; /* height of the last point; x of the point that waits */
    bool waiting;
} path;

static void end_run(path* p)
{
    if (p->waiting) fprintf(p->out, "H%.1f", p->waiting_x);
    p->waiting = false;
}

static void put(path* p, char command, double x, double y)
{
    const mor_plot_box* b = p->box;
    x = fmin(b->left + b->width, fmax(b->left, x));
    y = fmin(b->top + b->height, fmax(b->top, y));
    if (command == 'L' && y == p->y) {
        p->waiting = true;
        p->waiting_x = x;
        return;
    }
    end_run(p);
    fprintf(p->out, "%c%.1f %.1f", command, x, y);
    p->y = y;
}

static void move(void* user, double x, double y) { put(user, 'M', x, y); }
static void line(void* user, double x, double y) { put(user, 'L', x, y); }
static void dot(void* user, double x, double y)
{
    put(user, 'M', x - 1.0, y);
    put(user, 'L', x + 1.0, y);
    end_run(user);
}

static void write_dash(FILE* out, const mor_curve* c)
{
    const double* lengths;
    int n = mor_plot_dash(c->dash, &lengths);
    for (int i = 0; i < n; i++) fprintf(out, i ? " %g" : " stroke-dasharray=\"%g", lengths[i]);
    if (n) fputc('"', out);
}

static void write_curve(FILE* out, const mor_panel* p, const mor_curve* c, const mor_plot_box* b)
{
    fprintf(out, "<path class=\"s c%d\" stroke=\"#%06x\" stroke-width=\"%s\"", style_of(c), mor_plot_colour(c->colour),
            c->thin ? "0.8" : "1.6");
    write_dash(out, c);
    fputs(" fill=\"none\" d=\"", out);
    path to = { .out = out, .box = b, .y = NAN };
    mor_curve_draw(p, c, b, &(mor_pen){ move, line, dot, &to });
    end_run(&to);
    fputs("\"/>\n", out);
}

static void write_legend(FILE* out, const mor_panel* p, const mor_plot_box* b, double width, double row)
{
    double x = b->left + b->width + 10.0, y = b->top + 4.0;
    for (int i = 0; i < p->curve_count; i++) {
        const mor_curve* c = &p->curves[i];
        if (!c->label[0]) continue;
        fprintf(out,
                "<g class=\"key\" data-c=\"c%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" "
                "fill=\"#fff\" fill-opacity=\"0\"/><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
                "stroke=\"#%06x\" stroke-width=\"2\"",
                style_of(c), x, y - 7, width, row, x + 2, x + 24, y, y, mor_plot_colour(c->colour));
        write_dash(out, c);
        fprintf(out, "/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\">", x + 29, y + 3.5);
        mor_html_text(out, c->label);
        fputs("</text></g>\n", out);
        y += row;
    }
}

/* Where an axis begins, its length, and the values at both ends: what gives the numbers back from the drawing. */
static void write_scale(FILE* out, const char* name, double from, double size, const mor_plot_axis* a)
{
    fprintf(out, " data-%s=\"%g %g %.9g %.9g %d\"", name, from, size, a->log ? log10(a->low) : a->low,
            a->log ? log10(a->high) : a->high, a->log);
}

void mor_page_chart(const mor_panel* p, double width, double height, FILE* out)
{
    const double row = 14.0;
    double low = INFINITY, high = -INFINITY;
    mor_panel_range(p, true, &low, &high);
    mor_plot_box b = { .left = 52, .top = 24, .width = width, .height = height };
    b.x = mor_plot_axis_make(low, high, p->x_log, true, false, 6);
    b.y = mor_panel_y_axis(p, false, p->log ? 8 : 5);
    int named = 0;
    size_t longest = 0;
    for (int i = 0; i < p->curve_count; i++) {
        named += p->curves[i].label[0] != 0;
        if (strlen(p->curves[i].label) > longest) longest = strlen(p->curves[i].label);
    }
    double legend = named ? fmax(130.0, 45.0 + 5.8 * (double)longest) : 8.0;
    double wide = b.left + width + legend + 12, tall = fmax(b.top + height + 38, b.top + row * named + 8);
    fprintf(out, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\"", wide,
            tall, wide, tall);
    write_scale(out, "x", b.left, b.width, &b.x);
    write_scale(out, "y", b.top + b.height, -b.height, &b.y);
    fputs(">\n", out);
    write_axes(out, p, &b);
    for (int i = 0; i < p->curve_count; i++) write_curve(out, p, &p->curves[i], &b);
    write_legend(out, p, &b, legend, row);
    fputs("</svg>\n", out);
}
