/* Figures with cairo, see figure.h.
 *
 * Layout, in points: title and subtitle, then panels, at least as tall as their legends, with the legend in a column to
 * their right (it can never cover data), ticks and label of the shared axis below the last one. The
 * left margin follows the widest tick label, the right one the widest legend entry.
 *
 * Dashes distinguish recordings and repeat the palette. */
#include "plot/figure.h"
#include "io/text/output.h"

#include <cairo.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 920.0
#define PNG_SCALE 2.0
#define ROW 17.0 /* legend line, down to LEAST_ROW when there are many */
#define LEAST_ROW 13.5
#define LEGEND_TEXT 190.0 /* widest legend label */
#define MOST_LEGEND 480.0 /* what does not fit into this height is counted */
#define SAMPLE 24.0       /* line sample in the legend */
#define PANEL_GAP 44.0    /* between panels; holds the panel's title */

/* -------------------------------------------------------------------------------- contents */

mor_panel* mor_figure_panel(mor_figure* figure, const char* title, const char* unit)
{
    if (figure->panel_count == MOR_FIGURE_PANELS) return NULL;
    mor_panel* panel = &figure->panels[figure->panel_count++];
    memset(panel, 0, sizeof *panel);
    snprintf(panel->title, sizeof panel->title, "%s", title);
    snprintf(panel->unit, sizeof panel->unit, "%s", unit);
    return panel;
}

void mor_figure_clear(mor_figure* figure)
{
    for (int p = 0; p < figure->panel_count; p++) mor_panel_clear(&figure->panels[p]);
    memset(figure, 0, sizeof *figure);
}

/* ------------------------------------------------------------------------------------ text */

static void font(cairo_t* c, double size, bool bold)
{
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, size);
}

static double text_width(cairo_t* c, const char* text)
{
    cairo_text_extents_t e;
    cairo_text_extents(c, text, &e);
    return e.x_advance;
}

/* align: 0 left, 0.5 centre, 1 right. */
static void draw_text(cairo_t* c, double x, double y, double align, double grey, const char* text)
{
    cairo_set_source_rgb(c, grey, grey, grey);
    cairo_move_to(c, x - align * text_width(c, text), y);
    cairo_show_text(c, text);
}

/* Cut at a whole character and ended with an ellipsis so that it is at most `width` wide. */
static void fit_text(cairo_t* c, const char* text, double width, char* out, size_t size)
{
    snprintf(out, size, "%s", text);
    size_t n = strlen(out);
    while (n > 0 && text_width(c, out) > width) {
        do n--;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80);
        snprintf(out, size, "%.*s\xe2\x80\xa6", (int)n, text);
    }
}

/* ---------------------------------------------------------------------------------- layout */

typedef struct layout {
    double left, right, width, height;   /* right: x of the right end of the axes */
    mor_plot_box box[MOR_FIGURE_PANELS]; /* of the panels */
    double legend_text;
} layout;

static double tick_width(cairo_t* c, const mor_plot_axis* a)
{
    double most = 0.0;
    for (int i = 0; i < a->tick_count; i++) most = fmax(most, text_width(c, a->label[i]));
    return most + (a->log ? text_width(c, "10") : 0.0);
}

/* One curve needs no legend when it has no name of its own. */
static bool has_legend(const mor_panel* p)
{
    return p->curve_count > 1 || (p->curve_count == 1 && p->curves[0].label[0]);
}

static bool own_axis(const mor_panel* p) { return p->x_label[0] != '\0'; }

/* The axis of one panel, or of all that share. */
static mor_plot_axis x_axis(const mor_figure* f, int p)
{
    bool own = own_axis(&f->panels[p]), log = own && f->panels[p].x_log;
    double low = INFINITY, high = -INFINITY;
    for (int j = 0; j < f->panel_count; j++)
        if (own ? j == p : !own_axis(&f->panels[j])) mor_panel_range(&f->panels[j], true, &low, &high);
    return mor_plot_axis_make(low, high, log, !log, true, 8);
}

static layout arrange(cairo_t* c, const mor_figure* f)
{
    layout l = { .left = 24.0 };
    int n = f->panel_count;
    double usual = n <= 1 ? 360.0 : n == 2 ? 230.0 : n == 3 ? 175.0 : 140.0;
    double most = 0.0;
    bool legend = false;
    for (int p = 0; p < n; p++) {
        const mor_panel* panel = &f->panels[p];
        mor_plot_box* box = &l.box[p];
        box->y = mor_panel_y_axis(panel, true, n <= 1 ? 7 : 5);
        font(c, 11.0, false);
        most = fmax(most, tick_width(c, &box->y));
        legend = legend || has_legend(panel);
        /* as tall as its legend */
        box->height = fmax(usual, fmin(LEAST_ROW * panel->curve_count, MOST_LEGEND));
        if (LEAST_ROW * panel->curve_count > box->height + 4.0)
            l.legend_text = fmax(l.legend_text, text_width(c, "and 999 more"));
        for (int k = 0; k < panel->curve_count; k++)
            l.legend_text = fmax(l.legend_text, text_width(c, panel->curves[k].label));
        box->x = x_axis(f, p);
    }
    l.legend_text = fmin(l.legend_text, LEGEND_TEXT);
    l.left += most + 8.0;
    l.right = WIDTH - (legend ? 24.0 + SAMPLE + 8.0 + l.legend_text + 16.0 : 32.0);
    double y = 16.0 + (f->title[0] ? 26.0 : 0.0) + (f->subtitle[0] ? 18.0 : 0.0);
    for (int p = 0; p < n; p++) {
        y += p ? PANEL_GAP + (own_axis(&f->panels[p - 1]) ? 40.0 : 0.0) : 32.0;
        l.box[p].left = l.left;
        l.box[p].width = l.right - l.left;
        l.box[p].top = y;
        y += l.box[p].height;
    }
    l.width = WIDTH;
    l.height = y + 54.0;
    return l;
}

/* --------------------------------------------------------------------------------- drawing */

static void line(cairo_t* c, double x0, double y0, double x1, double y1, double grey, double thickness)
{
    cairo_set_source_rgb(c, grey, grey, grey);
    cairo_set_line_width(c, thickness);
    cairo_move_to(c, x0, y0);
    cairo_line_to(c, x1, y1);
    cairo_stroke(c);
}

static void draw_y_label(cairo_t* c, const mor_plot_axis* a, int i, double x, double y)
{
    font(c, 11.0, false);
    if (!a->log) {
        draw_text(c, x, y + 4.0, 1.0, 0.25, a->label[i]);
        return;
    }
    font(c, 8.5, false);
    double exponent = text_width(c, a->label[i]);
    draw_text(c, x, y - 0.5, 1.0, 0.25, a->label[i]);
    font(c, 11.0, false);
    draw_text(c, x - exponent - 0.5, y + 4.5, 1.0, 0.25, "10");
}

static void draw_x_label(cairo_t* c, const mor_plot_axis* a, int i, double x, double y)
{
    font(c, 11.0, false);
    if (!a->log) {
        draw_text(c, x, y, 0.5, 0.25, a->label[i]);
        return;
    }
    draw_text(c, x + 3.0, y + 1.0, 1.0, 0.25, "10");
    font(c, 8.5, false);
    draw_text(c, x + 3.5, y - 4.0, 0.0, 0.25, a->label[i]);
}

static void draw_frame(cairo_t* c, const mor_figure* f, const layout* l, int p)
{
    const mor_panel* panel = &f->panels[p];
    const mor_plot_box* box = &l->box[p];
    const mor_plot_axis *y = &box->y, *across = &box->x;
    double bottom = box->top + box->height;
    bool last = p == f->panel_count - 1 || own_axis(panel);
    for (int i = 0; i < across->tick_count; i++) {
        double x = mor_plot_x(box, across->tick[i]);
        line(c, x, box->top, x, bottom, 0.91, 0.8);
        line(c, x, bottom, x, bottom + 4.0, 0.35, 0.9);
        if (last) draw_x_label(c, across, i, x, bottom + 17.0);
    }
    for (int i = 0; i < y->tick_count; i++) {
        double v = mor_plot_y(box, y->tick[i]);
        bool zero = !y->log && y->tick[i] == 0.0 && y->low < 0.0;
        line(c, l->left, v, l->right, v, zero ? 0.70 : 0.91, zero ? 1.0 : 0.8);
        draw_y_label(c, y, i, l->left - 7.0, v);
    }
    line(c, l->left, bottom, l->right, bottom, 0.35, 1.0);
    line(c, l->left, box->top, l->left, bottom, 0.35, 1.0);

    char unit[48];
    mor_plot_axis_unit(panel->unit, y->log ? 0 : y->exponent, unit, sizeof unit);
    font(c, 13.0, true);
    draw_text(c, l->left, box->top - 11.0, 0.0, 0.12, panel->title);
    double x = l->left + text_width(c, panel->title) + 7.0;
    font(c, 12.0, false);
    draw_text(c, x, box->top - 11.0, 0.0, 0.35, unit);
    if (unit[0]) x += text_width(c, unit) + 10.0;
    font(c, 11.0, false);
    char note[sizeof panel->note + 4];
    fit_text(c, panel->note, l->width - x - 10.0, note, sizeof note);
    draw_text(c, x, box->top - 11.0, 0.0, 0.5, note);
    if (last) {
        char label[192];
        bool own = own_axis(panel);
        mor_plot_axis_unit(own ? panel->x_unit : f->x_unit, across->log ? 0 : across->exponent, unit, sizeof unit);
        snprintf(label, sizeof label, "%s %s", own ? panel->x_label : f->x_label, unit);
        font(c, 12.0, false);
        draw_text(c, 0.5 * (l->left + l->right), bottom + 38.0, 0.5, 0.2, label);
    }
}

static void set_stroke(cairo_t* c, const mor_curve* curve)
{
    const double* lengths;
    unsigned rgb = mor_plot_colour(curve->colour);
    cairo_set_source_rgb(c, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    cairo_set_line_width(c, 1.7);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    int count = mor_plot_dash(curve->dash, &lengths);
    cairo_set_dash(c, lengths, count, 0.0);
}

static void move_pen(void* user, double x, double y) { cairo_move_to(user, x, y); }
static void line_pen(void* user, double x, double y) { cairo_line_to(user, x, y); }
static void dot_pen(void* user, double x, double y)
{
    cairo_new_sub_path(user);
    cairo_arc(user, x, y, 0.9, 0.0, 6.2831853);
}

static void draw_curve(cairo_t* c, const mor_plot_box* box, const mor_panel* panel, const mor_curve* curve)
{
    mor_curve_draw(panel, curve, box, &(mor_pen){ move_pen, line_pen, dot_pen, c });
    set_stroke(c, curve);
    /* of a few curves the first are wider, so that one that coincides with a later one still shows */
    int behind = panel->curve_count - 1 - (int)(curve - panel->curves);
    if (panel->curve_count <= 4) cairo_set_line_width(c, 1.6 + 0.8 * behind);
    cairo_stroke(c);
    cairo_set_dash(c, NULL, 0, 0.0);
}

/* An empty panel says why it is empty. */
static void draw_nothing(cairo_t* c, const mor_plot_box* box, const mor_panel* panel)
{
    for (int k = 0; k < panel->curve_count; k++)
        for (int i = 0; i < panel->curves[k].count; i++)
            if (isfinite(mor_plot_y(box, panel->curves[k].y[i]))) return;
    font(c, 12.0, false);
    draw_text(c, box->left + 0.5 * box->width, box->top + 0.5 * box->height + 4.0, 0.5, 0.5,
              panel->log ? "no values above zero" : "no values");
}

static void draw_legend(cairo_t* c, const layout* l, int p, const mor_panel* panel)
{
    const mor_plot_box* box = &l->box[p];
    if (!has_legend(panel)) return;
    double row = fmax(LEAST_ROW, fmin(ROW, (box->height + 4.0) / panel->curve_count));
    int room = (int)((box->height + 4.0) / row + 1e-9), shown = panel->curve_count;
    if (shown > room) shown = room - 1;
    double x = l->right + 20.0;
    char text[sizeof panel->curves[0].label + 4];
    for (int k = 0; k < shown; k++) {
        double y = box->top + 6.0 + row * k;
        set_stroke(c, &panel->curves[k]);
        cairo_set_line_width(c, 2.2);
        cairo_move_to(c, x, y);
        cairo_line_to(c, x + SAMPLE, y);
        cairo_stroke(c);
        cairo_set_dash(c, NULL, 0, 0.0);
        font(c, 11.0, false);
        fit_text(c, panel->curves[k].label, l->legend_text + 1.0, text, sizeof text);
        draw_text(c, x + SAMPLE + 8.0, y + 4.0, 0.0, 0.15, text);
    }
    if (shown < panel->curve_count) {
        snprintf(text, sizeof text, "and %d more", panel->curve_count - shown);
        font(c, 11.0, false);
        draw_text(c, x + SAMPLE + 8.0, box->top + 10.0 + row * shown, 0.0, 0.45, text);
    }
}

static void draw(cairo_t* c, const mor_figure* f, const layout* l)
{
    cairo_set_source_rgb(c, 1.0, 1.0, 1.0);
    cairo_paint(c);
    double y = 16.0;
    char text[sizeof f->subtitle + 4];
    if (f->title[0]) {
        y += 18.0;
        font(c, 18.0, true);
        fit_text(c, f->title, l->width - 48.0, text, sizeof text);
        draw_text(c, 24.0, y, 0.0, 0.08, text);
        y += 8.0;
    }
    if (f->subtitle[0]) {
        font(c, 11.5, false);
        fit_text(c, f->subtitle, l->width - 48.0, text, sizeof text);
        draw_text(c, 24.0, y + 11.0, 0.0, 0.4, text);
    }
    for (int p = 0; p < f->panel_count; p++) {
        draw_frame(c, f, l, p);
        cairo_save(c);
        const mor_plot_box* box = &l->box[p];
        cairo_rectangle(c, box->left - 1.0, box->top - 2.0, box->width + 2.0, box->height + 4.0);
        cairo_clip(c);
        for (int k = 0; k < f->panels[p].curve_count; k++) draw_curve(c, box, &f->panels[p], &f->panels[p].curves[k]);
        cairo_restore(c);
        draw_nothing(c, box, &f->panels[p]);
        draw_legend(c, l, p, &f->panels[p]);
    }
}

/* ---------------------------------------------------------------------------------- output */

typedef struct bytes {
    char* data;
    size_t size, capacity;
} bytes;

static cairo_status_t collect(void* user, const unsigned char* data, unsigned length)
{
    bytes* b = user;
    if (b->size + length > b->capacity) {
        size_t capacity = 2 * (b->size + length) + 4096;
        char* grown = realloc(b->data, capacity);
        if (!grown) return CAIRO_STATUS_NO_MEMORY;
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->size, data, length);
    b->size += length;
    return CAIRO_STATUS_SUCCESS;
}

static bool write_escaped(FILE* file, const char* text)
{
    for (; *text; text++) {
        const char* out = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (out ? fputs(out, file) < 0 : fputc((unsigned char)*text < 32 ? ' ' : *text, file) < 0) return false;
    }
    return true;
}

/* Cairo draws text as outlines; a title and a description make the SVG readable by search and screen
 * readers again. They go right after the opening tag. */
static bool write_svg(FILE* file, const bytes* b, const mor_figure* f)
{
    const char* tag = b->data ? strstr(b->data, "<svg") : NULL;
    const char* end = tag ? strchr(tag, '>') : NULL;
    if (!end) return false;
    size_t head = (size_t)(end + 1 - b->data);
    bool ok = fwrite(b->data, 1, head, file) == head && fputs("\n<title>", file) >= 0 &&
              write_escaped(file, f->title) && fputs("</title>\n<desc>", file) >= 0 && write_escaped(file, f->subtitle);
    for (int p = 0; ok && p < f->panel_count; p++) {
        ok = fputs("\n", file) >= 0 && write_escaped(file, f->panels[p].title) && fputs(": ", file) >= 0;
        for (int k = 0; ok && k < f->panels[p].curve_count; k++)
            ok = (k == 0 || fputs(", ", file) >= 0) && write_escaped(file, f->panels[p].curves[k].label);
    }
    return ok && fputs("</desc>", file) >= 0 && fwrite(end + 1, 1, b->size - head, file) == b->size - head;
}

static mor_code save(const mor_figure* f, const bytes* b, bool svg, const char* path, mor_error* error)
{
    FILE* file = mor_output_open(path, error);
    if (!file) return MOR_SYSTEM;
    if (svg) write_svg(file, b, f);
    else fwrite(b->data, 1, b->size, file);
    return mor_output_close(file, path, true, error);
}

mor_code mor_figure_write(const mor_figure* f, const char* path, mor_error* error)
{
    enum { NONE, SVG, PDF, PNG } form = NONE;
    const char* dot = strrchr(path, '.');
    if (dot)
        form = strcmp(dot, ".svg") == 0 ? SVG : strcmp(dot, ".pdf") == 0 ? PDF : strcmp(dot, ".png") == 0 ? PNG : NONE;
    if (!form) return mor_fail(error, MOR_BAD_INPUT, "%s: the name of a figure ends with .svg, .pdf or .png", path);

    cairo_surface_t* probe = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 8, 8);
    cairo_t* c = cairo_create(probe);
    layout l = arrange(c, f);
    cairo_destroy(c);
    cairo_surface_destroy(probe);

    bytes b = { 0 };
    cairo_surface_t* surface =
        form == SVG ? cairo_svg_surface_create_for_stream(collect, &b, l.width, l.height)
        : form == PDF
            ? cairo_pdf_surface_create_for_stream(collect, &b, l.width, l.height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PNG_SCALE * l.width), (int)(PNG_SCALE * l.height));
    if (form == PDF) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, f->title);
    c = cairo_create(surface);
    if (form == PNG) cairo_scale(c, PNG_SCALE, PNG_SCALE);
    draw(c, f, &l);
    cairo_status_t status = cairo_status(c);
    cairo_destroy(c);
    if (status == CAIRO_STATUS_SUCCESS && form == PNG) status = cairo_surface_write_to_png_stream(surface, collect, &b);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS && form == SVG) status = collect(&b, (const unsigned char*)"", 1);
    mor_code code;
    if (status != CAIRO_STATUS_SUCCESS)
        code = mor_fail(error, MOR_SYSTEM, "%s: cannot draw: %s", path, cairo_status_to_string(status));
    else {
        if (form == SVG) b.size--; /* the zero that ended it for strstr */
        code = save(f, &b, form == SVG, path, error);
    }
    free(b.data);
    return code;
}
