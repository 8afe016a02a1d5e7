/* The page and the picture of the exam (exam.h). */
#include "exam/exam.h"

#include <math.h>
#include <string.h>

static void write_row(FILE* f, const exam_row* r)
{
    char error[32], order[16] = "–";
    if (r->error == 0.0) snprintf(error, sizeof error, "0");
    else if (r->error < 1.0) snprintf(error, sizeof error, "%.2g", r->error);
    else snprintf(error, sizeof error, "%.3g", r->error);
    if (r->order == r->order) snprintf(order, sizeof order, "%.1f", r->order);
    fprintf(f, "| %s | %s | %g | %.8g %s | %.8g | %s | %g | %s | %d of %d | %.2f | %s |\n", r->of->name, r->of->answer,
            r->of->step, r->expected, r->of->unit, r->got, error, r->of->tolerance, order, r->unsolved, r->steps,
            r->seconds, r->right ? "right" : "**wrong**");
}

/* Error over tolerance of every row, on a logarithmic scale. */
static bool write_picture(const char* file, const exam_row* rows, int count)
{
    FILE* f = fopen(file, "w");
    if (!f) return false;
    const double left = 60, top = 30, height = 220, width = 900;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            left + width + 20, top + height + 50);
    for (int k = -14; k <= 0; k += 2) {
        double y = top - height * k / 14.0;
        fprintf(f, "<path d=\"M%g %gH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%g\" text-anchor=\"end\">1e%d</text>\n",
                left, y, left + width, left - 6, y + 4, k);
    }
    const char* area = "";
    for (int i = 0; i < count; i++) {
        double x = left + width * (i + 0.5) / count, e = rows[i].error, y = log10(e > 1e-14 ? e : 1e-14);
        if (y > 0.0) y = 0.0;
        if (strcmp(area, rows[i].of->area) != 0) {
            area = rows[i].of->area;
            fprintf(f, "<path d=\"M%g %gV%g\" stroke=\"#bbb\"/>", x - 0.5 * width / count, top, top + height + 8);
            fprintf(f, "<text x=\"%g\" y=\"%g\" transform=\"rotate(20 %g %g)\">%s</text>\n", x, top + height + 16, x,
                    top + height + 16, area);
        }
        double limit = top - height * log10(rows[i].of->tolerance) / 14.0;
        fprintf(f, "<path d=\"M%g %gh8\" stroke=\"#999\"/><circle cx=\"%g\" cy=\"%g\" r=\"3.5\" fill=\"%s\"/>\n", x - 4,
                limit, x, top - height * y / 14.0, rows[i].right ? "#1a7f37" : "#cf222e");
    }
    fprintf(
        f, "<text x=\"%g\" y=\"18\">relative error of every experiment (dot) and its tolerance (dash)</text>\n</svg>\n",
        left);
    return fclose(f) == 0;
}

static void write_areas(FILE* f, const exam_row* rows, int count)
{
    fprintf(f, "| area | experiments | right | unsolved steps | CPU time, s |\n|---|---|---|---|---|\n");
    for (int i = 0; i < count;) {
        int n = 0, right = 0, unsolved = 0;
        double seconds = 0.0;
        const char* area = rows[i].of->area;
        for (; i < count && strcmp(rows[i].of->area, area) == 0; i++)
            n++, right += rows[i].right, unsolved += rows[i].unsolved, seconds += rows[i].seconds;
        fprintf(f, "| %s | %d | %d | %d | %.1f |\n", area, n, right, unsolved, seconds);
    }
}

bool exam_write(const char* page, const char* picture, const exam_row* rows, int count)
{
    int right = 0;
    for (int i = 0; i < count; i++) right += rows[i].right;
    const char* name = strrchr(picture, '/');
    FILE* f = fopen(page, "w");
    if (!f || !write_picture(picture, rows, count)) return false;
    fprintf(
        f,
        "# The exam\n\nWritten by `make exam`. Every experiment has an answer from a closed form, or from reduced "
        "equations that the\nexam integrates itself to rounding, and is run with the default methods of a scene. "
        "`error` is |got - expected| over\n|expected| (or over the scale named in the source, where zero is "
        "expected), `order` is seen between h and h/2 and left\nout where the error is that of the solver, "
        "`unsolved` counts steps that missed the accuracy asked for. The sources are\nin `tests/exam`, one file per "
        "area.\n\n%d of %d are right (%.1f %%).\n\n![Errors](%s)\n\n",
        right, count, 100.0 * right / count, name ? name + 1 : picture);
    write_areas(f, rows, count);
    const char* area = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(area, rows[i].of->area) != 0) {
            area = rows[i].of->area;
            fprintf(f,
                    "\n## %s\n\n| experiment | answer | h, s | expected | got | error | tolerance | order | unsolved | "
                    "CPU s | |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
                    area);
        }
        write_row(f, &rows[i]);
    }
    fprintf(f, "\n## Wrong answers and their causes\n\n%s",
            right == count ? "None.\n" : "| experiment | cause |\n|---|---|\n");
    for (int i = 0; i < count; i++)
        if (!rows[i].right)
            fprintf(f, "| %s | %s%s%s |\n", rows[i].of->name, rows[i].of->cause ? rows[i].of->cause : "not found yet.",
                    rows[i].trouble[0] ? " The run said: " : "", rows[i].trouble);
    int wide = 0;
    for (int i = 0; i < count; i++) wide += rows[i].of->wide != NULL;
    fprintf(f, "\n## Tolerances above 1 %%\n\n%s",
            wide ? "| experiment | tolerance | reason |\n|---|---|---|\n" : "None.\n");
    for (int i = 0; i < count; i++)
        if (rows[i].of->wide)
            fprintf(f, "| %s | %g | %s |\n", rows[i].of->name, rows[i].of->tolerance, rows[i].of->wide);
    return fclose(f) == 0;
}
