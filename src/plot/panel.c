/* Panels, see panel.h. */
#include "plot/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned mor_plot_colour(int colour)
{
    static const unsigned palette[MOR_PLOT_COLOURS] = {
        0x0072b2, /* blue */
        0xd55e00, /* vermillion */
        0x009e73, /* bluish green */
        0xcc79a7, /* reddish purple */
        0xe69f00, /* orange */
        0x56b4e9, /* sky blue */
        0x262626, /* near black */
    };
    return palette[(colour % MOR_PLOT_COLOURS + MOR_PLOT_COLOURS) % MOR_PLOT_COLOURS];
}

int mor_plot_dash(int dash, const double** lengths)
{
    static const double patterns[MOR_PLOT_DASHES][4] = { { 0 }, { 6, 3 }, { 1.6, 2.6 }, { 7, 2.5, 1.6, 2.5 } };
    static const int sizes[MOR_PLOT_DASHES] = { 0, 2, 2, 4 };
    int k = (dash % MOR_PLOT_DASHES + MOR_PLOT_DASHES) % MOR_PLOT_DASHES;
    *lengths = patterns[k];
    return sizes[k];
}

/* -------------------------------------------------------------------------------- contents */

mor_curve* mor_panel_add(mor_panel* panel, const char* label, int colour, int dash)
{
    if (panel->curve_count == panel->curve_capacity) {
        int capacity = panel->curve_capacity ? 2 * panel->curve_capacity : 8;
        mor_curve* grown = realloc(panel->curves, (size_t)capacity * sizeof *grown);
        if (!grown) return NULL;
        panel->curves = grown;
        panel->curve_capacity = capacity;
    }
    mor_curve* c = &panel->curves[panel->curve_count++];
    *c = (mor_curve){ .colour = colour, .dash = dash };
    snprintf(c->label, sizeof c->label, "%s", label);
    return c;
}

/* Room for `count` points. */
static bool reserve(mor_curve* c, int count)
{
    if (count <= c->capacity) return true;
    double* x = realloc(c->x, (size_t)count * sizeof *x);
    if (!x) return false;
    c->x = x;
    double* y = realloc(c->y, (size_t)count * sizeof *y);
    if (!y) return false;
    c->y = y;
    c->capacity = count;
    return true;
}

bool mor_curve_point(mor_curve* c, double x, double y)
{
    if (!c || (c->count == c->capacity && !reserve(c, c->count ? 2 * c->count : 32))) return false;
    c->x[c->count] = x;
    c->y[c->count++] = y;
    return true;
}

bool mor_panel_curve(mor_panel* panel, const char* label, int colour, int dash, const double* x, const double* y,
                     int count)
{
    mor_curve* c = mor_panel_add(panel, label, colour, dash);
    if (!c) return false;
    if (count <= 0) return true;
    if (!reserve(c, count)) return false;
    memcpy(c->x, x, (size_t)count * sizeof *x);
    memcpy(c->y, y, (size_t)count * sizeof *y);
    c->count = count;
    return true;
}

void mor_panel_clear(mor_panel* panel)
{
    for (int k = 0; k < panel->curve_count; k++) {
        free(panel->curves[k].x);
        free(panel->curves[k].y);
    }
    free(panel->curves);
    memset(panel, 0, sizeof *panel);
}

/* -------------------------------------------------------------------------------- geometry */

void mor_panel_range(const mor_panel* p, bool is_x, double* low, double* high)
{
    const double* fixed = is_x ? p->x_range : p->y_range;
    if (fixed[0] != 0.0 || fixed[1] != 0.0) {
        *low = fixed[0], *high = fixed[1];
        return;
    }
    bool log = is_x ? p->x_log : p->log;
    for (int k = 0; k < p->curve_count; k++)
        for (int i = 0; i < p->curves[k].count; i++) {
            double v = is_x ? p->curves[k].x[i] : p->curves[k].y[i];
            if (!isfinite(v) || (log && v <= 0.0)) continue;
            *low = fmin(*low, v);
            *high = fmax(*high, v);
        }
}

mor_plot_axis mor_panel_y_axis(const mor_panel* p, bool scaled, int wanted)
{
    double low = INFINITY, high = -INFINITY;
    bool fixed = p->y_range[0] != 0.0 || p->y_range[1] != 0.0;
    mor_panel_range(p, false, &low, &high);
    if (p->from_zero && !p->log) low = fmin(low, 0.0), high = fmax(high, 0.0);
    if (p->log && !fixed) low = fmax(low, 1e-16 * high); /* an exact zero but for rounding must not hide the rest */
    return mor_plot_axis_make(low, high, p->log, fixed, scaled, wanted);
}

double mor_plot_x(const mor_plot_box* b, double value)
{
    return b->left + b->width * mor_plot_axis_place(&b->x, value);
}

double mor_plot_y(const mor_plot_box* b, double value)
{
    return b->top + b->height * (1.0 - mor_plot_axis_place(&b->y, value));
}

/* Points in the same quarter-point column, not drawn yet. */
typedef struct thinner {
    const mor_pen* pen;
    bool down, pending;
    double column, x, first, least, greatest, last;
} thinner;

static void flush(thinner* t)
{
    if (!t->pending) return;
    t->pending = false;
    t->pen->line(t->pen->user, t->x, t->first);
    if (t->least == t->greatest) return;
    t->pen->line(t->pen->user, t->x, t->least);
    t->pen->line(t->pen->user, t->x, t->greatest);
    t->pen->line(t->pen->user, t->x, t->last);
}

static void line_to(thinner* t, double x, double y)
{
    double column = floor(4.0 * x);
    if (!t->down) {
        t->pen->move(t->pen->user, x, y);
        t->down = true;
        t->column = NAN;
    }
    if (t->pending && column == t->column) {
        t->least = fmin(t->least, y);
        t->greatest = fmax(t->greatest, y);
        t->last = y;
        return;
    }
    flush(t);
    t->pending = true;
    t->column = column;
    t->x = x;
    t->first = t->least = t->greatest = t->last = y;
}

void mor_curve_draw(const mor_panel* panel, const mor_curve* curve, const mor_plot_box* box, const mor_pen* pen)
{
    thinner t = { .pen = pen };
    double last_x = NAN;
    for (int i = 0; i < curve->count; i++) {
        double x = mor_plot_x(box, curve->x[i]), y = mor_plot_y(box, curve->y[i]);
        if (!isfinite(x) || !isfinite(y)) {
            flush(&t);
            t.down = false;
            last_x = x;
            continue;
        }
        bool alone = !t.down && (i + 1 == curve->count || !isfinite(mor_plot_y(box, curve->y[i + 1])));
        if (panel->steps && isfinite(last_x)) line_to(&t, last_x, y);
        line_to(&t, x, y);
        if (alone && !panel->steps) pen->dot(pen->user, x, y);
        last_x = x;
    }
    flush(&t);
}
