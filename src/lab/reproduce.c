/* Driver of the reproduced experiments: parts on disk, tasks on threads, the page, and the data in one file.
 *
 * Every figure writes its data (CSV), pictures (SVG) and a fragment of the page into DIR/figure-N; expensive parts are
 * files of their own in DIR/parts, written under a temporary name and renamed, and are not computed again when they are
 * there: an interrupted run goes on where it stopped. index.html is the fragments in order, each with the paper's
 * claim, our number and whether the claim holds in our data; data.h5 holds the same tables as the CSV files. Results
 * depend on the seed only, not on the number of threads.
 *
 * A shard makes every n-th part of figures that have parts, and every n-th of the other figures as a whole, with a mark
 * in DIR/parts that it is there. A merge computes nothing that is expensive: it draws and writes what the parts hold.
 * */
#include "lab/reproduce.h"
#include "io/text/output.h"
#include "base/workers.h"
#include "io/hdf5/csv_tables.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct figure {
    const char* name; /* of its directory */
    int first, last;  /* figures of the PEG paper; 3 to 5 are drawings */
    mor_code (*run)(const mor_reproduce*, mor_error*);
    bool parts; /* its expensive parts are files */
} figures[] = { { "1", 1, 2, mor_reproduce_energy, false },      { "6", 6, 9, mor_reproduce_hills, false },
                { "10", 10, 17, mor_reproduce_sawtooth, false }, { "18", 18, 18, mor_reproduce_steps, true },
                { "19", 19, 22, mor_reproduce_rod, true },       { "spheres", 0, 0, mor_reproduce_spheres, false },
                { "tables", 0, 0, mor_reproduce_tables, false }, { "joints", 0, 0, mor_reproduce_joints, false },
                { "grasp", 0, 0, mor_reproduce_grasp, false } };
enum { FIGURES = sizeof figures / sizeof *figures };

/* Whether `what` asks for it: its name, a figure's number, or table1. */
static bool asked(const struct figure* f, const char* what)
{
    if (strcmp(what, "all") == 0 || strcmp(what, f->name) == 0 || (strcmp(what, "table1") == 0 && f->first == 19))
        return true;
    char* end;
    long number = strtol(what, &end, 10);
    return end != what && !*end && number > 0 && number >= f->first && number <= f->last;
}

/* ------------------------------------------------------------------------------------ shared */

mor_path mor_reproduce_path(const mor_reproduce* o, const char* format, ...)
{
    mor_path p;
    int n = snprintf(p.text, sizeof p.text, "%s/", o->directory);
    va_list args;
    va_start(args, format);
    vsnprintf(p.text + n, sizeof p.text - (size_t)n, format, args);
    va_end(args);
    return p;
}

mor_path mor_reproduce_part(const mor_reproduce* o, const char* format, ...)
{
    mor_path p;
    int n = snprintf(p.text, sizeof p.text, "%s/parts/%s-seed-%llu-", o->directory, o->quick ? "quick" : "full",
                     (unsigned long long)o->seed);
    va_list args;
    va_start(args, format);
    vsnprintf(p.text + n, sizeof p.text - (size_t)n, format, args);
    va_end(args);
    return p;
}

bool mor_reproduce_own(const mor_reproduce* o, int index) { return o->shards < 2 || index % o->shards == o->shard - 1; }

mor_code mor_reproduce_missing(const char* path, mor_error* error)
{
    return mor_fail(error, MOR_BAD_INPUT,
                    "%.600s is not there: a shard is not named, has not ended, or ran with other settings", path);
}

FILE* mor_reproduce_open(const char* path) { return mor_output_open(path, NULL); }

mor_code mor_reproduce_close(FILE* file, const char* path, mor_error* error)
{
    if (file) return mor_output_close(file, path, true, error);
    return mor_fail(error, MOR_SYSTEM, "%s: cannot be written", path);
}

typedef struct crowd {
    const mor_reproduce* o;
    const char* figure;
    void (*task)(void*, int, int);
    void* user;
    int total;
    atomic_int done;
} crowd;

static void one(void* user, int index, int worker)
{
    crowd* c = user;
    c->task(c->user, index, worker);
    int done = atomic_fetch_add(&c->done, 1) + 1;
    if (c->o->progress) c->o->progress(c->o->user, c->figure, done, c->total);
}

mor_code mor_reproduce_tasks(const mor_reproduce* o, const char* figure, int count, void (*task)(void*, int, int),
                             void* user, mor_error* error)
{
    mor_allocator a = mor_allocator_default();
    mor_workers* workers = mor_workers_create(&a, o->threads < 1 ? 1 : o->threads);
    if (!workers) return mor_fail(error, MOR_SYSTEM, "out of memory or threads");
    crowd c = { o, figure, task, user, count, 0 };
    mor_workers_run(workers, count, one, &c);
    mor_workers_destroy(workers);
    return MOR_OK;
}

mor_world* mor_reproduce_world(const mor_reproduce* o, const char* name, const char* const* sets, mor_scene** scene,
                               mor_error* error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->scenes, name);
    *scene = mor_scene_load(path, sets, NULL, error);
    mor_world* w = *scene ? mor_scene_build(*scene, 1, error) : NULL;
    if (!w && *scene) mor_scene_destroy(*scene), *scene = NULL;
    return w;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

double mor_median(double* values, int count)
{
    if (count == 0) return NAN;
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* -------------------------------------------------------------------------------------- page */

bool mor_fragment_begin(mor_fragment* f, const mor_reproduce* o, const char* figure, const char* title)
{
    f->path = mor_reproduce_path(o, "figure-%s/fragment.html", figure);
    f->file = mor_reproduce_open(f->path.text);
    if (!f->file) return false;
    fprintf(f->file, "<h2>%s</h2>\n<table><tr><th>the paper</th><th>here</th><th></th></tr>\n", title);
    return true;
}

void mor_fragment_claim(mor_fragment* f, const char* claim, bool holds, const char* format, ...)
{
    va_list args;
    fprintf(f->file, "<tr><td>%s</td><td>", claim);
    va_start(args, format);
    vfprintf(f->file, format, args);
    va_end(args);
    fprintf(f->file, "</td><td class=\"%s\">%s</td></tr>\n", holds ? "yes" : "no", holds ? "holds" : "does not hold");
}

void mor_fragment_text(mor_fragment* f, const char* format, ...)
{
    va_list args;
    fputs("</table>\n<p>", f->file);
    va_start(args, format);
    vfprintf(f->file, format, args);
    va_end(args);
    fputs("</p>\n<table>\n", f->file);
}

void mor_fragment_picture(mor_fragment* f, const char* file, const char* caption)
{
    fprintf(f->file, "</table>\n<figure><img src=\"%s\" alt=\"%s\"><figcaption>%s</figcaption></figure>\n<table>\n",
            file, caption, caption);
}

mor_code mor_fragment_end(mor_fragment* f, mor_error* error)
{
    fputs("</table>\n", f->file);
    return mor_reproduce_close(f->file, f->path.text, error);
}

static mor_code write_page(const mor_reproduce* o, mor_error* error)
{
    mor_path path = mor_reproduce_path(o, "index.html");
    FILE* out = mor_reproduce_open(path.text);
    if (!out) return mor_fail(error, MOR_SYSTEM, "cannot write %s", path.text);
    fprintf(out,
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "img-src 'self' data: file:\">\n<title>The PEG paper, reproduced</title>\n"
            "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 "
            "1em;color:#222}table{border-collapse:collapse;margin:1em 0}"
            "td,th{border:1px solid #ccc;padding:.3em "
            ".6em;text-align:left;vertical-align:top}table:empty{display:none}.yes{color:#060}.no{color:#a00}"
            "img{max-width:100%%}figcaption{color:#555}</style>\n"
            "<h1>Geometrically exact contact constraints: the paper's experiments, run again</h1>\n"
            "<p>D. M. Flickinger, J. Williams, J. C. Trinkle, <i>Performance of a method for formulating geometrically "
            "exact complementarity constraints in "
            "multibody dynamic simulation</i>, J. Comput. Nonlinear Dyn. 10 (2015). Moreau %s, seed %llu%s. Geometry, "
            "epsilon, psi_min and the law of the "
            "random states are fixed in the scene files peg_sawtooth.yaml, peg_sawtooth_one_chain.yaml, "
            "peg_sawtooth_chain.yaml, peg_hills.yaml, "
            "peg_hills_chain.yaml and peg_rod.yaml, which also say what is "
            "our choice where the paper is silent. All tables are CSV files beside the pictures and, together, <a "
            "href=\"data.h5\">data.h5</a>. Particle errors are distances to the motion in closed form (parabolas, "
            "slides, inelastic impacts).</p>\n",
            mor_version(), (unsigned long long)o->seed,
            o->quick ? ", quick look with fewer runs and larger steps" : "");
    for (int i = 0; i < FIGURES; i++) {
        mor_path fragment = mor_reproduce_path(o, "figure-%s/fragment.html", figures[i].name);
        FILE* in = fopen(fragment.text, "r");
        if (!in) continue;
        char buffer[4096];
        size_t n;
        while ((n = fread(buffer, 1, sizeof buffer, in)) > 0) fwrite(buffer, 1, n, out);
        fclose(in);
    }
    fputs("</html>\n", out);
    return mor_reproduce_close(out, path.text, error);
}

static mor_code make_directory(const char* path, mor_error* error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return MOR_OK;
    return mor_fail(error, MOR_SYSTEM, "cannot make the directory %s: %s", path, strerror(errno));
}

static int csv_file(const struct dirent* e)
{
    size_t n = strlen(e->d_name);
    return n > 4 && strcmp(e->d_name + n - 4, ".csv") == 0;
}

/* DIR/data.h5: all tables of all figures that are there. */
static mor_code write_data(const mor_reproduce* o, mor_error* error)
{
    enum { MOST = 200 };
    static const size_t room = 4096 + 512;
    char *files[MOST], *groups[MOST];
    int count = 0;
    mor_code code = MOR_OK;
    for (int i = 0; i < FIGURES; i++) {
        mor_path folder = mor_reproduce_path(o, "figure-%s", figures[i].name);
        struct dirent** names;
        int n = scandir(folder.text, &names, csv_file, alphasort);
        for (int k = 0; k < n; k++) {
            if (count < MOST && code == MOR_OK) {
                files[count] = malloc(room);
                groups[count] = malloc(room);
                if (files[count] && groups[count]) {
                    snprintf(files[count], room, "%s/%s", folder.text, names[k]->d_name);
                    snprintf(groups[count], room, "/figure-%s/%.*s", figures[i].name, (int)strlen(names[k]->d_name) - 4,
                             names[k]->d_name);
                } else {
                    code = mor_fail(error, MOR_SYSTEM, "out of memory");
                }
                count++;
            }
            free(names[k]);
        }
        if (n >= 0) free(names);
    }
    mor_path path = mor_reproduce_path(o, "data.h5");
    if (code == MOR_OK)
        code = mor_csv_tables_write(path.text, (const char* const*)files, (const char* const*)groups, count, error);
    for (int k = 0; k < count; k++) free(files[k]), free(groups[k]);
    return code;
}

/* One figure: as a whole, this shard's share of it, or from what shards left. */
static mor_code run_figure(const mor_reproduce* o, int index, mor_error* error)
{
    const struct figure* f = &figures[index];
    mor_path done = mor_reproduce_part(o, "figure-%s.done", f->name), sub = mor_reproduce_path(o, "figure-%s", f->name);
    bool alone = !o->shards && !o->merge;
    if (!alone && !f->parts && o->merge)
        return access(done.text, R_OK) == 0 ? MOR_OK : mor_reproduce_missing(done.text, error);
    if (!alone && !f->parts && (!mor_reproduce_own(o, index) || access(done.text, R_OK) == 0)) return MOR_OK;
    mor_code code = make_directory(sub.text, error);
    if (!code) code = f->run(o, error);
    if (code || alone || f->parts) return code;
    FILE* mark = mor_reproduce_open(done.text);
    if (mark) fprintf(mark, "figure %s\n", f->name);
    return mor_reproduce_close(mark, done.text, error);
}

mor_code mor_reproduce_run(const mor_reproduce* o, const char* figure, mor_error* error)
{
    bool all = strcmp(figure, "all") == 0, known = all;
    for (int i = 0; i < FIGURES; i++) known = known || asked(&figures[i], figure);
    if (!known)
        return mor_fail(
            error, MOR_BAD_INPUT,
            "no figure '%s'; known: 1, 2, 6 to 22, table1 (3 to 5 are drawings), spheres, joints, grasp, tables, all",
            figure);
    mor_code code = make_directory(o->directory, error);
    mor_path parts = mor_reproduce_path(o, "parts");
    if (code == MOR_OK) code = make_directory(parts.text, error);
    for (int i = 0; code == MOR_OK && i < FIGURES; i++) {
        if (asked(&figures[i], figure)) code = run_figure(o, i, error);
    }
    if (o->shards) return code;
    if (code == MOR_OK) code = write_data(o, error);
    return code == MOR_OK ? write_page(o, error) : code;
}
