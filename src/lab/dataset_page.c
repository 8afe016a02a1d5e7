/* The database as pages: an index of families and problems with picture, size and provenance, and every problem as a
 * file to take away.
 *
 * OUT/index.html needs nothing else and opens from disk; OUT/files holds the BPMD files themselves, and of every frame
 * with at most MOST_ROWS rows the exact Coulomb problem of each island, u = W r + q, as FCLIB (.hdf5), as Siconos text
 * (.dat) and as a script for MATLAB and Octave (.m). Larger ones are there as FCLIB only: W would be dense. */
#include "lab/dataset_page.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "io/json/json.h"
#include "io/json/json_read.h"
#include "io/text/output.h"
#include "io/text/text_file.h"
#include "lab/compare.h"
#include "lab/dataset.h"
#include "lab/page.h"
#include "model/step.h"
#include "plot/page_chart.h"
#include "problem/convert.h"

enum { MOST_ROWS = 600, MOST_DRAWN = 400 };
#define LARGEST_FILE ((size_t)1 << 36)

/* -------------------------------------------------------------------------------- provenance */

static const char* const keys[] = { "author", "licence", "engine", "commit", "command" };
enum { KEYS = sizeof keys / sizeof *keys };

static const char* value_of(const mor_provenance* p, int k)
{
    const char* const values[KEYS] = { p->author, p->licence, p->engine, p->commit, p->command };
    return values[k];
}

mor_code mor_provenance_write(const char* problems, const mor_provenance* p, mor_error* error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s.provenance.json", problems);
    FILE* out = mor_output_open(path, error);
    if (!out) return MOR_SYSTEM;
    mor_json json = mor_json_begin(out);
    mor_json_object(&json, NULL);
    for (int k = 0; k < KEYS; k++)
        if (value_of(p, k) && value_of(p, k)[0]) mor_json_text(&json, keys[k], value_of(p, k));
    mor_json_end(&json);
    mor_json_finish(&json);
    return mor_output_close(out, path, true, error);
}

/* What is known of a file: its .provenance.json, else what its own /meta says. */
static void write_provenance(const char* problems, FILE* out)
{
    char path[1100], text[400] = "";
    snprintf(path, sizeof path, "%s.provenance.json", problems);
    mor_json_document* d = mor_json_read_file(path, NULL);
    for (int k = 0; d && k < KEYS; k++) {
        const mor_json_value* v = mor_json_get(mor_json_root(d), keys[k]);
        if (!v || v->kind != MOR_JSON_TEXT) continue;
        fprintf(out, "<b>%s</b> ", keys[k]);
        mor_html_text(out, v->text);
        fputs("<br>", out);
    }
    if (d) {
        mor_json_free(d);
        return;
    }
    mor_bpmd* file = mor_bpmd_open(problems, NULL);
    if (file) mor_bpmd_meta_text(file, "producer", text, sizeof text);
    mor_bpmd_free(file);
    if (text[0]) {
        fputs("<b>engine</b> ", out);
        mor_html_text(out, text);
        fputs("<br>", out);
    } else fputs("<span class=\"dim\">not told</span>", out);
}

/* --------------------------------------------------------------------------- other languages */

/* fc3d text of Siconos: d, contacts, W dense by columns, q, mu. */
static void write_dat(const mor_problem* p, const double* W, FILE* out)
{
    int n = p->size;
    fprintf(out, "%d %d\n0 %d %d\n%d %d\n", p->dim, p->contact_count, n, n, n, n);
    for (int i = 0; i < n * n; i++) fprintf(out, "%.17g\n", W[i]);
    for (int i = 0; i < n; i++) fprintf(out, "%.17g\n", p->b[i]);
    for (int i = 0; i < p->contact_count; i++) fprintf(out, "%.17g\n", p->mu[i]);
}

static void write_m(const mor_problem* p, const double* W, const char* title, FILE* out)
{
    int n = p->size, d = p->dim;
    fprintf(out,
            "%% %s\n%% u = W r + q with Coulomb's law in every contact c: r(%d*c+1) normal, then tangents; mu(c+1)\n"
            "d = %d;\nn = %d;\n",
            title, d, d, n);
    const char* names[2] = { "q", "mu" };
    for (int v = 0; v < 2; v++) {
        fprintf(out, "%s = [", names[v]);
        for (int i = 0; i < (v ? p->contact_count : n); i++) fprintf(out, "%.17g;\n", v ? p->mu[i] : p->b[i]);
        fputs("];\n", out);
    }
    fputs("W = reshape([", out);
    for (int i = 0; i < n * n; i++) fprintf(out, "%.17g%s", W[i], i % 8 == 7 ? "\n" : " ");
    fprintf(out, "], n, n);\n");
}

/* .dat and .m beside the FCLIB file. False: the problem is too large. */
static bool write_forms(const char* fclib, mor_error* error, mor_code* code)
{
    mor_problem_file file;
    char path[1100];
    *code = mor_problem_load(fclib, NULL, &file, error);
    if (*code) return false;
    const mor_problem* from = &file.problem;
    mor_form local = from->dim == 2 ? MOR_FC2D : MOR_FC3D;
    mor_arena* arena = mor_arena_create(NULL);
    mor_problem p = *from;
    bool small = arena && from->size <= MOST_ROWS && from->size > 0;
    mor_conversion conversion = { 0 };
    bool none = false;
    if (small && from->form != local) {
        small = mor_convert(from, local, &conversion, &none, arena, NULL) == MOR_OK;
        if (small) p = conversion.to;
    }
    double* W = small ? mor_arena_alloc(arena, (size_t)p.size * (size_t)p.size * sizeof *W) : NULL;
    double* e = small ? mor_arena_zero(arena, (size_t)p.size, sizeof *e) : NULL;
    small = W && e;
    for (int j = 0; small && j < p.size; j++) {
        e[j] = 1.0;
        mor_matrix_apply(&p.A, e, W + (size_t)j * (size_t)p.size);
        e[j] = 0.0;
    }
    for (int form = 0; small && form < 2 && !*code; form++) {
        snprintf(path, sizeof path, "%.*s%s", (int)(strlen(fclib) - strlen(".hdf5")), fclib, form ? ".m" : ".dat");
        FILE* out = mor_output_open(path, error);
        if (!out) *code = MOR_SYSTEM;
        else {
            if (form) write_m(&p, W, strrchr(fclib, '/') ? strrchr(fclib, '/') + 1 : fclib, out);
            else write_dat(&p, W, out);
            *code = mor_output_close(out, path, true, error);
        }
    }
    if (conversion.destroy) mor_conversion_destroy(&conversion);
    mor_arena_destroy(arena);
    mor_problem_file_free(&file);
    return small;
}

/* -------------------------------------------------------------------------------------- page */

/* Where a vector is in the picture: seen from the front and above. */
static void project(mor_vec3 v, double p[2]) { p[0] = 0.9 * v.x + 0.45 * v.y, p[1] = v.z + 0.25 * v.y - 0.1 * v.x; }

typedef struct view {
    double low[2], high[2], scale;
} view;

static void widen(view* v, mor_vec3 x)
{
    double p[2];
    project(x, p);
    for (int k = 0; k < 2; k++) v->low[k] = fmin(v->low[k], p[k]), v->high[k] = fmax(v->high[k], p[k]);
}

static double across(const view* v, const double p[2])
{
    return 60.0 + v->scale * (p[0] - 0.5 * (v->low[0] + v->high[0]));
}
static double down(const view* v, const double p[2])
{
    return 42.0 - v->scale * (p[1] - 0.5 * (v->low[1] + v->high[1]));
}

/* Corner of the box that stands for a body. */
static mor_vec3 corner_of(const mor_bpmd_body* b, int corner)
{
    mor_vec3 h = mor_bpmd_half_edges(b);
    mor_vec3 local = mor_v3(corner & 1 ? h.x : -h.x, corner & 2 ? h.y : -h.y, corner & 4 ? h.z : -h.z);
    return mor_add(b->x, mor_rotate(b->q, local));
}

static void write_box(const mor_bpmd_body* b, const view* v, FILE* out)
{
    double p[2], q[2];
    fputs("<path fill=\"none\" stroke=\"#8aa4c8\" stroke-width=\".7\" d=\"", out);
    for (int i = 0; i < 8; i++)
        for (int bit = 1; bit < 8; bit *= 2) {
            if (i & bit) continue;
            project(corner_of(b, i), p);
            project(corner_of(b, i | bit), q);
            fprintf(out, "M%.1f %.1fL%.1f %.1f", across(v, p), down(v, p), across(v, q), down(v, q));
        }
    fputs("\"/>", out);
}

/* Bodies, as boxes of their mass and inertia, and contacts of a frame. */
static void write_picture(const mor_bpmd_frame* f, FILE* out)
{
    view v = { { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, 1.0 };
    int n = f->contact_count < MOST_DRAWN ? f->contact_count : MOST_DRAWN;
    for (int i = 0; i < n; i++) widen(&v, f->contacts[i].point[0]);
    for (int i = 0; i < f->body_count; i++)
        for (int k = 0; k < 8 && f->bodies[i].kind == MOR_DYNAMIC; k++) widen(&v, corner_of(&f->bodies[i], k));
    double size = fmax(fmax(v.high[0] - v.low[0], 1.4 * (v.high[1] - v.low[1])), 1e-9), p[2], d[2];
    v.scale = 110.0 / size;
    fprintf(out, "<svg viewBox=\"0 0 120 84\" width=\"120\" height=\"84\" role=\"img\" aria-label=\"%d contacts\">",
            f->contact_count);
    for (int i = 0; i < f->body_count && i < MOST_DRAWN; i++) {
        if (f->bodies[i].kind == MOR_DYNAMIC) write_box(&f->bodies[i], &v, out);
    }
    for (int i = 0; i < n; i++) {
        project(f->contacts[i].point[0], p);
        project(f->contacts[i].normal, d);
        const double tip[2] = { p[0] + 0.06 * size * d[0], p[1] + 0.06 * size * d[1] };
        fprintf(out, "<path stroke=\"#d1495b\" d=\"M%.1f %.1fL%.1f %.1f\"/>", across(&v, p), down(&v, p),
                across(&v, tip), down(&v, tip));
    }
    fputs("</svg>", out);
}

/* Links to the forms of a frame: one per island. */
static mor_code write_links(const char* folder, const char* stem, const char* frame, FILE* out, mor_error* error)
{
    mor_code code = MOR_OK;
    int found = 0;
    for (int island = 0; !code; island++) {
        char name[400], path[1500];
        if (island) snprintf(name, sizeof name, "%.180s-%.60s-%d", stem, frame, island);
        else snprintf(name, sizeof name, "%.180s-%.60s", stem, frame);
        snprintf(path, sizeof path, "%.1000s/files/%s.hdf5", folder, name);
        struct stat status;
        if (stat(path, &status) != 0) {
            if (island) break;
            continue;
        }
        bool all = write_forms(path, error, &code);
        fprintf(out, "%s<a href=\"files/%s.hdf5\">FCLIB</a>", found++ ? "<br>" : "", name);
        if (all) fprintf(out, " <a href=\"files/%s.dat\">.dat</a> <a href=\"files/%s.m\">MATLAB</a>", name, name);
        else fputs(" <span class=\"dim\">too large for the others</span>", out);
    }
    if (!found && !code) fputs("<span class=\"dim\">BPMD only</span>", out);
    return code;
}

static void take_problem(void* user, const mor_lab_message* m)
{
    if (m->kind == 'P') *(mor_lab_problem*)user = m->as.problem;
}

static mor_code write_row(mor_lab* lab, int index, const bool* done, const char* folder, const char* stem, FILE* out,
                          mor_error* error)
{
    mor_lab_problem p = lab->problems[index];
    mor_code code = mor_lab_measure(lab, index, done, false, take_problem, &p, error);
    lab->problems[index] = p;
    mor_bpmd_frame f;
    mor_bpmd* file = code ? NULL : mor_bpmd_open(p.path, error);
    if (!code) code = file ? mor_bpmd_read(file, p.frame, &f, error) : MOR_BAD_INPUT;
    mor_bpmd_free(file);
    if (code) return code;
    fputs("<tr><td>", out);
    write_picture(&f, out);
    fputs("</td><td>", out);
    mor_html_text(out, p.name);
    fputs("</td>", out);
    mor_page_number(out, "%.0f", p.bodies);
    mor_page_number(out, "%.0f", p.contacts);
    mor_page_number(out, "%.0f", p.rows);
    mor_page_number(out, "%.0f", p.dof);
    mor_page_number(out, "%.4g", p.mass_ratio);
    mor_page_number(out, "%.0f", p.deficiency >= 0 ? p.rows - p.deficiency : NAN);
    mor_page_number(out, "%.1e", p.condition);
    mor_page_number(out, "%.1e", p.stored_error);
    fputs("<td>", out);
    code = write_links(folder, stem, f.name, out, error);
    fputs("</td></tr>\n", out);
    mor_bpmd_frame_clear(&f);
    return code;
}

/* One file: provenance, its frames, itself to take away. */
static mor_code write_section(mor_lab* lab, int first, int count, const bool* done, const char* folder, FILE* out,
                              mor_error* error)
{
    const char* path = lab->problems[first].path;
    const char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    char stem[256], target[1400], files[1200], *bytes = NULL;
    size_t size = 0;
    int problems = 0;
    mor_error reason = { 0 };
    snprintf(stem, sizeof stem, "%.250s", name);
    char* dot = strrchr(stem, '.');
    if (dot && dot != stem) *dot = '\0';
    snprintf(files, sizeof files, "%.1000s/files", folder);
    snprintf(target, sizeof target, "%s/%.190s", files, name);
    mor_code code = mor_text_read(path, LARGEST_FILE, &bytes, &size, error);
    if (!code) code = mor_output_write(target, bytes, size, error);
    free(bytes);
    if (code) return code;
    mor_code exported = mor_dataset_export(path, files, &problems, &reason);
    fprintf(out, "<h2 id=\"f%d\">", first);
    mor_html_text(out, stem);
    fprintf(out, "</h2><p>family %s, %d frames, %.0f kB: <a href=\"files/%s\">BPMD file</a></p><p>",
            lab->problems[first].family, count, 1e-3 * (double)size, name);
    write_provenance(path, out);
    fputs("</p>", out);
    if (exported) {
        fputs("<p class=\"dim\">Frames without FCLIB form, the first: ", out);
        mor_html_text(out, reason.text);
        fputs("</p>", out);
    }
    fputs("<table class=\"sort\"><thead><tr><th></th><th>problem</th><th class=\"n\">bodies</th><th "
          "class=\"n\">contacts</th><th class=\"n\">rows</th><th class=\"n\">dof</th><th class=\"n\">mass "
          "ratio</th><th class=\"n\">rank of W</th><th class=\"n\">condition</th><th class=\"n\">as stored "
          "[m/s]</th><th>take away</th></tr></thead><tbody>\n",
          out);
    for (int i = first; i < first + count && !code; i++) code = write_row(lab, i, done, folder, stem, out, error);
    fputs("</tbody></table>\n", out);
    return code;
}

static const char sort_script[] =
    "<script>for(const t of document.querySelectorAll('table.sort'))[...t.tHead.rows[0].cells].forEach((h,i)=>{"
    "h.tabIndex=0;h.onclick=()=>{const d=h.classList.contains('up')?-1:1,k=r=>{const "
    "v=r.cells[i].dataset.v;return v===undefined?r.cells[i].textContent:+v};"
    "[...t.tBodies[0].rows].sort((a,b)=>k(a)<k(b)?-d:k(a)>k(b)?d:0).forEach(r=>t.tBodies[0].append(r));"
    "for(const o of t.tHead.rows[0].cells)o.classList.remove('up','down');h.classList.add(d>0?'up':'down')};"
    "h.onkeydown=e=>e.key==='Enter'&&h.onclick()})</script></body></html>\n";

/* Least and most of a number over the problems of a family; NaN is passed over. */
typedef struct range {
    double least, most;
} range;

static void include(range* r, double x)
{
    if (isnan(x)) return;
    r->least = fmin(r->least, x);
    r->most = fmax(r->most, x);
}

static void write_range(FILE* out, const char* format, range r)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">", r.least <= r.most ? r.most : 1e300);
    if (!(r.least <= r.most)) fputs("–", out);
    else {
        fprintf(out, format, r.least);
        if (r.most > r.least) fputs(" – ", out), fprintf(out, format, r.most);
    }
    fputs("</td>", out);
}

/* One line of the index. */
static void write_family(const mor_lab* lab, int first, FILE* out)
{
    const char *family = lab->problems[first].family, *path = NULL;
    static const range none = { INFINITY, -INFINITY };
    range contacts = none, ratio = none, condition = none, missing = none;
    int files = 0, problems = 0;
    for (int i = first; i < lab->problem_count; i++) {
        const mor_lab_problem* p = &lab->problems[i];
        if (strcmp(p->family, family) != 0) continue;
        files += !path || strcmp(p->path, path) != 0;
        path = p->path;
        problems++;
        include(&contacts, p->contacts);
        include(&ratio, p->mass_ratio);
        include(&condition, p->condition);
        include(&missing, p->deficiency >= 0 ? p->deficiency : NAN);
    }
    fprintf(out, "<tr><td><a href=\"#f%d\">", first);
    mor_html_text(out, family);
    fputs("</a></td>", out);
    mor_page_number(out, "%.0f", files);
    mor_page_number(out, "%.0f", problems);
    write_range(out, "%.0f", contacts);
    write_range(out, "%.3g", ratio);
    write_range(out, "%.0f", missing);
    write_range(out, "%.1e", condition);
    fputs("</tr>\n", out);
}

static void write_families(const mor_lab* lab, FILE* out)
{
    fputs("<table class=\"sort\" id=\"families\"><thead><tr><th>family</th><th class=\"n\">files</th><th "
          "class=\"n\">problems</th><th class=\"n\">contacts</th><th class=\"n\">mass ratio</th><th "
          "class=\"n\">rank missing</th><th class=\"n\">condition of W</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < lab->problem_count; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++) seen = strcmp(lab->problems[k].family, lab->problems[i].family) == 0;
        if (!seen) write_family(lab, i, out);
    }
    fputs("</tbody></table>\n", out);
}

/* The sections first: measuring them gives the numbers of the index. */
static mor_code write_sections(mor_lab* lab, const char* folder, FILE* out, mor_error* error)
{
    bool* done = malloc((size_t)mor_lab_slots(lab) * sizeof *done);
    if (!done) return mor_fail(error, MOR_SYSTEM, "out of memory");
    memset(done, 1, (size_t)mor_lab_slots(lab) * sizeof *done); /* statistics only */
    mor_code code = MOR_OK;
    for (int i = 0, n; i < lab->problem_count && !code; i += n) {
        for (n = 1; i + n < lab->problem_count && strcmp(lab->problems[i + n].path, lab->problems[i].path) == 0;) n++;
        code = write_section(lab, i, n, done, folder, out, error);
    }
    free(done);
    return code;
}

static mor_code write_index(mor_lab* lab, const char* folder, FILE* out, mor_error* error)
{
    char* text = NULL;
    size_t length = 0;
    FILE* sections = open_memstream(&text, &length);
    if (!sections) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = write_sections(lab, folder, sections, error);
    if (fclose(sections) != 0 && !code) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_page_begin(out, "moreau dataset");
    fprintf(out,
            "<h1>Benchmark problems of multibody dynamics with contact</h1><p>%d problems. FCLIB, .dat and MATLAB hold "
            "the exact Coulomb problem u = W r + q of each island, joints eliminated. As stored: the error of the "
            "answer the file came with.</p>\n",
            lab->problem_count);
    write_families(lab, out);
    fwrite(text, 1, code ? 0 : length, out);
    fputs(sort_script, out);
    free(text);
    return code;
}

/* All frames of all BPMD files of a folder. */
static mor_code gather(mor_lab* lab, const char* folder, mor_error* error)
{
    mor_lab_options o = mor_lab_options_default();
    o.frames = 0;
    o.solvers[0] = "auto", o.formulations[0] = "ncp";
    mor_code code = mor_lab_begin(lab, &o, error);
    if (!code) code = mor_lab_add(lab, folder, error);
    for (int i = 0; i < lab->problem_count && !code; i++)
        if (lab->problems[i].frame < 0)
            code =
                mor_fail(error, MOR_BAD_INPUT, "%s: not a BPMD file; a page is made of those", lab->problems[i].path);
    if (!code && lab->problem_count == 0) code = mor_fail(error, MOR_BAD_INPUT, "%s: no problems", folder);
    return code;
}

mor_code mor_dataset_page(const char* folder, const char* target, int* problems, mor_error* error)
{
    char path[1100], files[1100];
    struct stat status;
    mor_lab lab = { 0 };
    snprintf(path, sizeof path, "%s/index.html", target);
    if (stat(path, &status) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: there is a page already: give another folder with -o", path);
    mor_code code = gather(&lab, folder, error);
    if (!code) {
        mkdir(target, 0777); /* failures show when files are written */
        snprintf(files, sizeof files, "%s/files", target);
        mkdir(files, 0777);
    }
    FILE* out = code ? NULL : mor_output_open(path, error);
    if (!code && !out) code = MOR_SYSTEM;
    if (out) {
        code = write_index(&lab, target, out, error);
        mor_code closed = mor_output_close(out, path, !code, code ? NULL : error);
        if (!code) code = closed;
    }
    *problems = lab.problem_count;
    mor_lab_end(&lab);
    return code;
}

void mor_dataset_page_remove(const char* target)
{
    char path[1500];
    snprintf(path, sizeof path, "%.1000s/files", target);
    DIR* files = opendir(path);
    for (struct dirent* e; files && (e = readdir(files));) {
        snprintf(path, sizeof path, "%.1000s/files/%.300s", target, e->d_name);
        if (e->d_name[0] != '.') remove(path);
    }
    if (files) closedir(files);
    snprintf(path, sizeof path, "%.1000s/files", target);
    rmdir(path);
    snprintf(path, sizeof path, "%.1000s/index.html", target);
    remove(path);
    rmdir(target);
}
