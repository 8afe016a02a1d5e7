/* The data of a report, for its script: names once, then one short array per problem, run and followed run. The
 * pictures of a problem (sparsity of W, the frame in space) are made from the bodies and contacts of its frame; a page
 * holds those of the followed problems, as far as they are small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd.h"
#include "lab/report_data.h"
#include "lab/spectrum.h"
#include "model/step.h"
#include "plot/panel.h"

enum { MOST_FRAMES = 60, MOST_CONTACTS = 600 }; /* pictures of a page, contacts of a picture: about 2 MB at most */
enum { MOST_ROWS = 400, MOST_VALUES = 150 };    /* rows of a W whose eigenvalues are computed, values of a picture */

/* Text of a script element: '<' cannot end it. */
static void text(FILE* out, const char* s)
{
    fputc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == '<') fprintf(out, "\\u%04x", c);
        else fputc(c, out);
    }
    fputc('"', out);
}

static void number(FILE* out, double v)
{
    if (isfinite(v)) fprintf(out, "%.4g", v);
    else fputs("null", out);
}

static void write_names(const mor_lab* lab, FILE* out)
{
    fputs("{\"forms\":[\"-\"", out);
    for (int f = 0; f < lab->formulation_count; f++) fputc(',', out), text(out, lab->formulations[f]->name);
    fputs("],\"solvers\":[\"-\"", out);
    for (int s = 0; s < lab->solver_count; s++) fputc(',', out), text(out, lab->solvers[s]->name);
    fputs("],\"tols\":[", out);
    for (int t = 0; t < lab->options.tol_count; t++) fprintf(out, "%s%g", t ? "," : "", lab->options.tols[t]);
    fputs("],\"status\":[", out);
    for (int s = MOR_SOLVED; s <= MOR_APPROXIMATE; s++)
        fprintf(out, "%s\"%s\"", s ? "," : "", mor_status_name((mor_status)s));
    fputs("],\"colours\":[", out);
    for (int c = 0; c < MOR_PLOT_COLOURS; c++) fprintf(out, "%s\"#%06x\"", c ? "," : "", mor_plot_colour(c));
    fputs("],\"dashes\":[", out);
    for (int d = 0; d < MOR_PLOT_DASHES; d++) {
        const double* lengths;
        int n = mor_plot_dash(d, &lengths);
        fputs(d ? ",\"" : "\"", out);
        for (int i = 0; i < n; i++) fprintf(out, i ? " %g" : "%g", lengths[i]);
        fputc('"', out);
    }
    fputs("],\"user\":", out);
    if (lab->options.error) text(out, lab->options.error_name);
    else fputs("null", out);
}

static void write_problems(const mor_lab* lab, FILE* out)
{
    fputs(",\n\"problems\":[", out);
    for (int i = 0; i < lab->problem_count; i++) {
        const mor_lab_problem* p = &lab->problems[i];
        fputs(i ? ",\n[" : "[", out);
        text(out, p->name);
        fputc(',', out);
        text(out, p->family);
        fprintf(out, ",%d,%d,%d,", p->rows, p->contacts, p->frame >= 0 ? p->dof : 0);
        number(out, p->deficiency >= 0 ? p->deficiency : NAN);
        fputc(',', out), number(out, p->condition);
        fputc(',', out), number(out, p->mass_ratio);
        fputc(',', out), text(out, p->stored_by);
        fputc(',', out), number(out, p->stored_error);
        /* where it can be looked at again; frames of scenes were in a temporary folder */
        bool kept =
            p->frame >= 0 && !(lab->temporary[0] && strncmp(p->path, lab->temporary, strlen(lab->temporary)) == 0);
        fputc(',', out), text(out, kept ? p->path : "");
        fprintf(out, ",%d]", kept ? p->frame + 1 : 0);
    }
    fputc(']', out);
}

static int by_text(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static void write_runs(const mor_lab* lab, FILE* out)
{
    size_t n = (size_t)lab->run_count, kinds = 0;
    const char** details = malloc((n + 1) * sizeof *details);
    if (!details) {
        fputs(",\"details\":[\"\"],\"runs\":[]", out);
        return;
    }
    for (size_t i = 0; i < n; i++) details[i] = lab->runs[i].detail;
    qsort(details, n, sizeof *details, by_text);
    fputs(",\n\"details\":[", out);
    for (size_t i = 0; i < n; i++) {
        if (kinds && strcmp(details[kinds - 1], details[i]) == 0) continue;
        if (kinds) fputc(',', out);
        text(out, details[i]);
        details[kinds++] = details[i];
    }
    fputs("],\n\"runs\":[", out);
    for (size_t i = 0; i < n; i++) {
        const mor_lab_run* r = &lab->runs[i];
        const char* key = r->detail;
        const char** found = bsearch(&key, details, kinds, sizeof *details, by_text);
        fprintf(out, "%s[%d,%d,%d,%d,%d,%d", i ? ",\n" : "", r->problem, r->formulation + 1, r->solver + 1, r->tol,
                r->status, r->iterations);
        const double x[] = { r->time_s,
                             r->total_s,
                             r->error,
                             r->residual.natural,
                             r->residual.fb,
                             r->residual.cck,
                             r->residual.normal_error,
                             r->residual.friction_error };
        for (int k = 0; k < 8; k++) fputc(',', out), number(out, x[k]);
        fprintf(out, ",%d", found ? (int)(found - details) : 0);
        if (lab->options.error) fputc(',', out), number(out, r->user_error);
        fputc(']', out);
    }
    fputc(']', out);
    free(details);
}

static void write_traces(const mor_lab* lab, FILE* out)
{
    fputs(",\n\"traces\":[", out);
    for (int i = 0; i < lab->trace_count; i++) {
        const mor_lab_trace* t = &lab->traces[i];
        fprintf(out, "%s[%d,%d,%d,[", i ? ",\n" : "", t->problem, t->formulation + 1, t->solver + 1);
        for (int k = 0; k < t->count; k++) fprintf(out, "%s%.0f", k ? "," : "", t->iteration[k]);
        fputs("],[", out);
        for (int k = 0; k < t->count; k++) {
            if (k) fputc(',', out);
            if (isfinite(t->error[k])) fprintf(out, "%.2g", t->error[k]);
            else fputs("null", out);
        }
        fputs("]]", out);
    }
    fputc(']', out);
}

/* The box that stands for a body, and its orientation. */
static void write_size(const mor_bpmd_body* b, bool first, FILE* out)
{
    mor_vec3 half = mor_bpmd_half_edges(b);
    fprintf(out, "%s%.3g,%.3g,%.3g,%.4g,%.4g,%.4g,%.4g", first ? "" : ",", half.x, half.y, half.z, b->q.w, b->q.x,
            b->q.y, b->q.z);
}

static int descending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

/* Eigenvalues of W of all islands, descending, at most MOST_VALUES of them evenly by number; none for large frames. */
static void write_spectrum(const mor_bpmd_frame* f, FILE* out)
{
    mor_world* w = mor_bpmd_world(f, NULL, NULL, NULL);
    size_t rows = 0, n = 0;
    for (int i = 0; w && i < w->last->island_count; i++) rows += (size_t)w->last->islands[i].system.row_count;
    double* values = w && rows <= MOST_ROWS ? malloc((rows + 1) * sizeof *values) : NULL;
    for (int i = 0; values && i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        if (mor_lab_eigenvalues(s, values + n)) n += (size_t)s->row_count;
    }
    if (values) qsort(values, n, sizeof *values, descending);
    size_t shown = n < MOST_VALUES ? n : MOST_VALUES;
    for (size_t k = 0; k < shown; k++) {
        size_t at = shown > 1 ? k * (n - 1) / (shown - 1) : 0;
        fprintf(out, "%s%zu,%.3g", k ? "," : "", at + 1, fmax(values[at], 0.0));
    }
    free(values);
    mor_world_destroy(w);
}

/* Centres of the bodies and whether they move, their sizes; the spectrum of W; per contact its bodies, point and
 * normal. */
static void write_frame(const mor_bpmd_frame* f, FILE* out)
{
    fputs("{\"b\":[", out);
    for (int i = 0; i < f->body_count; i++)
        fprintf(out, "%s%.4g,%.4g,%.4g,%d", i ? "," : "", f->bodies[i].x.x, f->bodies[i].x.y, f->bodies[i].x.z,
                f->bodies[i].kind == MOR_DYNAMIC);
    fputs("],\"s\":[", out);
    for (int i = 0; i < f->body_count; i++) write_size(&f->bodies[i], i == 0, out);
    fputs("],\"e\":[", out);
    write_spectrum(f, out);
    fputs("],\"c\":[", out);
    for (int i = 0; i < f->contact_count; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        fprintf(out, "%s%d,%d,%.4g,%.4g,%.4g,%.3g,%.3g,%.3g", i ? "," : "", c->body[0], c->body[1], c->point[0].x,
                c->point[0].y, c->point[0].z, c->normal.x, c->normal.y, c->normal.z);
    }
    fputs("]}", out);
}

static void write_frames(const mor_lab* lab, FILE* out)
{
    int written = 0;
    fputs(",\n\"frames\":{", out);
    for (int i = 0; i < lab->problem_count && written < MOST_FRAMES; i++) {
        const mor_lab_problem* p = &lab->problems[i];
        if (p->frame < 0 || p->contacts > MOST_CONTACTS || !mor_lab_traced(lab, i)) continue;
        mor_bpmd* file = mor_bpmd_open_again(p->path, NULL);
        mor_bpmd_frame f;
        if (file && mor_bpmd_read(file, p->frame, &f, NULL) == MOR_OK) {
            fprintf(out, "%s\"%d\":", written++ ? ",\n" : "", i);
            write_frame(&f, out);
            mor_bpmd_frame_clear(&f);
        }
        mor_bpmd_free(file);
    }
    fputc('}', out);
}

void mor_report_data(const mor_lab* lab, FILE* out)
{
    fputs("<script type=\"application/json\" id=\"data\">", out);
    write_names(lab, out);
    write_problems(lab, out);
    write_runs(lab, out);
    write_traces(lab, out);
    write_frames(lab, out);
    fputs("}</script>\n", out);
    if (lab->viewer) lab->viewer(lab, out);
}
