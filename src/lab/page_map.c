/* Maps in pages, see page_map.h. */
#include "lab/page_map.h"

#include <math.h>

#include "plot/page_chart.h"

void mor_page_colour(double t, char text[8])
{
    /* even steps of lightness, readable without colour vision */
    static const double stops[6][3] = { { 68, 1, 84 },    { 65, 68, 135 },  { 42, 120, 142 },
                                        { 34, 168, 132 }, { 122, 209, 81 }, { 253, 231, 37 } };
    double x = fmin(fmax(t, 0.0), 1.0) * 5.0;
    int i = x >= 5.0 ? 4 : (int)x;
    int c[3];
    for (int k = 0; k < 3; k++) c[k] = (int)(stops[i][k] + (x - i) * (stops[i + 1][k] - stops[i][k]) + 0.5);
    snprintf(text, 8, "#%02x%02x%02x", (unsigned)c[0] & 255u, (unsigned)c[1] & 255u, (unsigned)c[2] & 255u);
}

double mor_page_place(double v, double low, double high)
{
    return high - low > 1e-9 * fmax(fabs(low), fabs(high)) ? (v - low) / (high - low) : 0.5;
}

enum { LEFT = 92, TOP = 24, WIDE = 300, HIGH = 240, BOTTOM = 58, RIGHT = 86 };

typedef struct scale {
    double low, high;
    bool log;
} scale;

static scale scale_of(const mor_page_map* m)
{
    scale s = { NAN, NAN, m->log };
    for (int i = 0; i < m->rows * m->columns; i++) {
        double v = m->values[i];
        if (!isfinite(v)) continue;
        if (!(s.low <= v)) s.low = v;
        if (!(s.high >= v)) s.high = v;
    }
    if (m->range[0] < m->range[1]) s.low = m->range[0], s.high = m->range[1];
    s.log = s.log && s.low > 0.0;
    return s;
}

static double place(const scale* s, double v)
{
    return s->log ? mor_page_place(log(v), log(s->low), log(s->high)) : mor_page_place(v, s->low, s->high);
}

static void text_at(FILE* out, const char* anchor, double x, double y, const char* text)
{
    fprintf(out, "<text class=\"tick\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", anchor, x, y);
    mor_html_text(out, text);
    fputs("</text>", out);
}

static void write_cells(const mor_page_map* m, const scale* s, FILE* out)
{
    double w = (double)WIDE / m->columns, h = (double)HIGH / m->rows;
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->columns; c++) {
            double v = m->values[r * m->columns + c];
            char colour[8] = "#e4e4e4";
            if (isfinite(v)) mor_page_colour(place(s, v), colour);
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>", LEFT + c * w,
                    TOP + HIGH - (r + 1) * h, w + 0.3, h + 0.3, colour);
            mor_html_text(out, m->x_names[c]);
            fputs(", ", out);
            mor_html_text(out, m->y_names[r]);
            if (isfinite(v)) fprintf(out, ": %.6g</title></rect>\n", v);
            else fputs(": nothing</title></rect>\n", out);
        }
}

static void write_scale(const scale* s, FILE* out)
{
    double x = LEFT + WIDE + 14;
    if (place(s, s->low) == 0.5) { /* one number everywhere */
        char number[24];
        snprintf(number, sizeof number, "all %.4g", s->low);
        text_at(out, "start", LEFT + WIDE + 6, TOP + HIGH / 2.0, number);
        return;
    }
    for (int i = 0; i < 40; i++) {
        char colour[8], number[24];
        mor_page_colour(i / 39.0, colour);
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"6.4\" fill=\"%s\"/>", x,
                TOP + HIGH - (i + 1) * HIGH / 40.0, colour);
        if (i % 13 != 0) continue;
        double t = i / 39.0;
        double v = s->log ? exp(log(s->low) + t * (log(s->high) - log(s->low))) : s->low + t * (s->high - s->low);
        snprintf(number, sizeof number, "%.4g", v);
        text_at(out, "start", x + 16, TOP + HIGH - (i + 0.5) * HIGH / 40.0 + 3.5, number);
    }
    fputc('\n', out);
}

void mor_page_write_map(const mor_page_map* m, FILE* out)
{
    scale s = scale_of(m);
    int width = LEFT + WIDE + RIGHT, height = TOP + HIGH + BOTTOM;
    fprintf(out,
            "<svg class=\"chart\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<text class=\"title\" x=\"%d\" "
            "y=\"14\">",
            width, height, width, height, LEFT);
    mor_html_text(out, m->title);
    fputs("</text>\n", out);
    write_cells(m, &s, out);
    int every_x = 1 + (m->columns - 1) / 7, every_y = 1 + (m->rows - 1) / 12;
    for (int c = 0; c < m->columns; c += every_x)
        text_at(out, "middle", LEFT + (c + 0.5) * WIDE / m->columns, TOP + HIGH + 14, m->x_names[c]);
    for (int r = 0; r < m->rows; r += every_y)
        text_at(out, "end", LEFT - 5, TOP + HIGH - (r + 0.5) * HIGH / m->rows + 3.5, m->y_names[r]);
    fprintf(out, "\n<text class=\"label\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">", LEFT + WIDE / 2, TOP + HIGH + 32);
    mor_html_text(out, m->x_label);
    fprintf(out, "</text><text class=\"label\" text-anchor=\"middle\" transform=\"translate(11 %d) rotate(-90)\">",
            TOP + HIGH / 2);
    mor_html_text(out, m->y_label);
    fputs("</text>\n", out);
    if (isfinite(s.low)) write_scale(&s, out);
    fputs("</svg>\n", out);
}
