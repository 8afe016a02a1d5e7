/* The tables and pictures of bench_solvers.
 *
 * Ratios of times are averaged geometrically. Performance profiles (E. D. Dolan, J. J. More, 2002, Benchmarking
 * optimization software with performance profiles, eq. 2.1): rho_s(tau) = share of problems p that solver s solves
 * within tau times the best time for p. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure.h"

/* The Siconos solver of the same kind as one of ours. */
static const struct peer {
    const char *ours, *kind, *theirs;
} peers[] = { { "lemke", "lcp", "LEMKE" },
              { "lemke", "mlcp", "LEMKE" },
              { "dantzig", "lcp", "BARD" },
              { "path", "lcp", "PATHSEARCH" },
              { "pgs", "lcp", "PGS" },
              { "pgs", "mlcp", "PGS" },
              { "psor", "lcp", "PSOR" },
              { "psor", "mlcp", "PSOR" },
              { "fischer-newton", "lcp", "NEWTON_FB" },
              { "fischer-newton", "mlcp", "FB" },
              { "fischer-newton", "fc3d", "NSN_FB" },
              { "minmap-newton", "lcp", "NEWTON_MIN_FBLSA" },
              { "nsgs", "fc2d", "NSGS" },
              { "nsgs", "fc3d", "NSGS" },
              { "nsgs", "rfc3d", "NSGS" },
              { "nsgs", "gfc3d", "NSGS" },
              { "nsgs", "grfc3d", "NSGS_WR" },
              { "nsn", "fc3d", "NSN_AC" },
              { "nsn", "gfc3d", "NSN_AC" },
              { "ppa", "fc3d", "PROX" },
              { "ppa", "gfc3d", "PROX_WR" },
              { "admm", "fc3d", "ADMM" },
              { "admm", "gfc3d", "ADMM" },
              { "admm", "rfc3d", "ADMM" },
              { "extragradient", "fc3d", "VI_EG" },
              { "extragradient", "gfc3d", "VI_EG" },
              { "prox-ncp", "fc3d", "VI_FPP" },
              { "prox-ncp", "gfc3d", "VI_FPP" },
              { "auto", "", "" } };
enum { PEERS = sizeof peers / sizeof *peers };

const bench_run* bench_find(const bench_entry* e, const char* program, const char* solver)
{
    for (int k = 0; k < e->run_count; k++)
        if (strcmp(e->runs[k].program, program) == 0 && strcmp(e->runs[k].solver, solver) == 0) return &e->runs[k];
    return NULL;
}

const bench_run* bench_best_siconos(const bench_entry* e, bool stored, double* time)
{
    const bench_run* best = NULL;
    *time = NAN;
    for (int k = 0; k < e->run_count; k++) {
        const bench_run* r = &e->runs[k];
        if (strcmp(r->program, "siconos") != 0 || !r->solved) continue;
        double t = stored ? r->stored_s : r->time_s;
        if (!isnan(t) && (!best || t < *time)) best = r, *time = t;
    }
    return best || !stored ? best : bench_best_siconos(e, false, time); /* only in another storage */
}

static FILE* open_in(const char* directory, const char* name, mor_error* error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE* f = fopen(path, "w");
    if (!f) mor_fail(error, MOR_SYSTEM, "%s cannot be written", path);
    return f;
}

static bool word_in(const char* list, const char* word)
{
    size_t n = strlen(word);
    for (const char* at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    return false;
}

/* ------------------------------------------------------------------------------------ CSV */

static mor_code write_csv(const bench_set* set, const char* directory, mor_error* error)
{
    FILE* f = open_in(directory, "solvers.csv", error);
    if (!f) return error->code;
    fprintf(f, "problem,kind,size,contacts,program,solver,storage,status,iterations,time_s,alone_s,stored_s,relative,"
               "absolute,check_error,check_scaled,detail\n");
    for (int k = 0; k < set->count; k++)
        for (int j = 0; j < set->entries[k].run_count; j++) {
            const bench_entry* e = &set->entries[k];
            const bench_run* r = &e->runs[j];
            fprintf(f, "%s,%s,%d,%d,%s,%s,%s,%s,%d,%.4g,%.4g,%.4g,%.3g,%.3g,%.3g,%.3g,\"%s\"\n", e->name, e->kind,
                    e->size, e->contacts, r->program, r->solver, r->storage, r->status, r->iterations, r->time_s,
                    r->alone_s, r->stored_s, r->relative, r->absolute, r->check_error, r->check_scaled, r->detail);
        }
    return fclose(f) == 0 ? MOR_OK : mor_fail(error, MOR_SYSTEM, "solvers.csv cannot be written");
}

/* -------------------------------------------------------------------------------- profiles */

static mor_code write_profile(const bench_set* set, const char* directory, const char* name, const char* kinds,
                              const char* title, mor_error* error)
{
    mor_figure* figure = calloc(1, sizeof *figure);
    int members = 0;
    for (int k = 0; k < set->count; k++) members += word_in(kinds, set->entries[k].kind);
    double* x = malloc((2 * (size_t)members + 4) * sizeof *x);
    double* y = malloc((2 * (size_t)members + 4) * sizeof *y);
    double* ratio = malloc(((size_t)members + 1) * sizeof *ratio);
    if (!figure || !x || !y || !ratio) {
        free(figure), free(x), free(y), free(ratio);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    snprintf(figure->title, sizeof figure->title, "%s", title);
    snprintf(figure->subtitle, sizeof figure->subtitle, "performance profiles, %d problems to 1e-8, %g s each", members,
             set->limit);
    snprintf(figure->x_label, sizeof figure->x_label, "log10 of time / best time for the problem");
    mor_panel* panel = mor_figure_panel(figure, "share of problems solved", "");
    panel->from_zero = true;
    const double furthest = 4.0;
    for (int s = -1; s == -1 || mor_solvers()[s]; s++) {
        const char* solver = s < 0 ? "best Siconos" : mor_solvers()[s]->name;
        int n = 0;
        bool ran = false;
        for (int k = 0; k < set->count; k++) {
            const bench_entry* e = &set->entries[k];
            if (!word_in(kinds, e->kind)) continue;
            double best = INFINITY;
            for (int j = 0; j < e->run_count; j++)
                if (e->runs[j].solved) best = fmin(best, e->runs[j].time_s);
            double time;
            const bench_run* r = s < 0 ? bench_best_siconos(e, false, &time) : bench_find(e, "moreau", solver);
            ran = ran || r;
            if (r && r->solved) ratio[n++] = log10(r->time_s / best);
        }
        if (!ran || n == 0) continue;
        for (int i = 1; i < n; i++) /* insertion: few */
            for (int j = i; j > 0 && ratio[j] < ratio[j - 1]; j--) {
                double t = ratio[j];
                ratio[j] = ratio[j - 1], ratio[j - 1] = t;
            }
        int points = 0;
        double share = 0.0;
        x[points] = 0.0, y[points++] = 0.0;
        for (int i = 0; i < n && ratio[i] <= furthest; i++) {
            x[points] = ratio[i], y[points++] = share;
            share = (i + 1.0) / members;
            x[points] = ratio[i], y[points++] = share;
        }
        x[points] = furthest, y[points++] = share;
        int shown = panel->curve_count;
        mor_panel_curve(panel, solver, shown, shown / 7, x, y, points);
    }
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    mor_code code = mor_figure_write(figure, path, error);
    mor_figure_clear(figure);
    free(figure), free(x), free(y), free(ratio);
    return code;
}

/* -------------------------------------------------------------------------------- Markdown */

typedef struct ratios {
    double sum, large_sum, worst;
    int count, large_count;
    const char* worst_name;
} ratios;

/* `strict`: whole calls against the best of all storages; else the solver against the matrix as stored. */
static ratios measure(const bench_set* set, bool strict)
{
    ratios t = { 0 };
    for (int k = 0; k < set->count; k++) {
        const bench_entry* e = &set->entries[k];
        double theirs;
        const bench_run *mine = bench_find(e, "moreau", "auto"), *best = bench_best_siconos(e, !strict, &theirs);
        if (!mine || !mine->solved || !best) continue;
        double ratio = (strict ? mine->time_s : mine->alone_s) / theirs;
        t.sum += log(ratio), t.count++;
        if (theirs < 1e-4) continue;
        t.large_sum += log(ratio), t.large_count++;
        if (ratio > t.worst) t.worst = ratio, t.worst_name = e->name;
    }
    return t;
}

static void seconds(double t, char text[24])
{
    if (!isfinite(t)) snprintf(text, 24, "–");
    else if (t < 1e-3) snprintf(text, 24, "%.3g µs", 1e6 * t);
    else if (t < 1.0) snprintf(text, 24, "%.3g ms", 1e3 * t);
    else snprintf(text, 24, "%.3g s", t);
}

static void write_problems(const bench_set* set, FILE* f)
{
    fprintf(f, "| problem | unknowns | fastest Siconos | time | as stored | `auto` | solver | ratio | ratio as stored "
               "| error | scaled | what `auto` did |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < set->count; k++) {
        const bench_entry* e = &set->entries[k];
        double theirs, stored;
        const bench_run *mine = bench_find(e, "moreau", "auto"), *best = bench_best_siconos(e, false, &theirs);
        bench_best_siconos(e, true, &stored);
        if (!mine) continue;
        char a[24], b[24], c[24], d[24], ratio[24] = "–", second[24] = "–";
        seconds(theirs, a), seconds(stored, b), seconds(mine->time_s, c), seconds(mine->alone_s, d);
        if (best && mine->solved) {
            snprintf(ratio, sizeof ratio, "%.2g", mine->time_s / theirs);
            snprintf(second, sizeof second, "%.2g", mine->alone_s / stored);
        }
        fprintf(f, "| %s | %d | %s%s%s | %s | %s | %s | %s | %s | %s | %.1e | %.1e | %s |\n", e->name, e->size,
                best ? best->solver : "none", best ? ", " : "", best ? best->storage : "", a, b, c, d, ratio, second,
                mine->checked ? mine->check_error : mine->relative, mine->check_scaled, mine->detail);
    }
}

static void write_counts(const bench_set* set, FILE* f)
{
    fprintf(f, "| solver |");
    for (int k = 0; k < BENCH_KINDS; k++) {
        int n = 0;
        for (int j = 0; j < set->count; j++) n += strcmp(set->entries[j].kind, bench_kinds[k]) == 0;
        fprintf(f, " %s (%d) |", bench_kinds[k], n);
    }
    fprintf(f, "\n|---|");
    for (int k = 0; k < BENCH_KINDS; k++) fprintf(f, "---|");
    fprintf(f, "\n");
    for (const mor_solver* const* s = mor_solvers(); *s; s++) {
        bool any = false;
        for (int j = 0; j < set->count && !any; j++) any = bench_find(&set->entries[j], "moreau", (*s)->name) != NULL;
        if (!any) continue;
        fprintf(f, "| `%s` |", (*s)->name);
        for (int k = 0; k < BENCH_KINDS; k++) {
            int tried = 0, solved = 0, theirs = 0;
            const char* peer = NULL;
            for (int i = 0; i < PEERS; i++)
                if (strcmp(peers[i].ours, (*s)->name) == 0 && strcmp(peers[i].kind, bench_kinds[k]) == 0)
                    peer = peers[i].theirs;
            for (int j = 0; j < set->count; j++) {
                const bench_entry* e = &set->entries[j];
                if (strcmp(e->kind, bench_kinds[k]) != 0) continue;
                const bench_run* r = bench_find(e, "moreau", (*s)->name);
                tried += r != NULL, solved += r && r->solved;
                theirs += peer && word_in(e->solved8, peer);
            }
            if (tried == 0) fprintf(f, " |");
            else if (peer)
                fprintf(f, " %s%d%s (%s %d) |", solved < theirs ? "**" : "", solved, solved < theirs ? "**" : "", peer,
                        theirs);
            else fprintf(f, " %d |", solved);
        }
        fprintf(f, "\n");
    }
}

static mor_code write_markdown(const bench_set* set, const char* directory, mor_error* error)
{
    FILE* f = open_in(directory, "solvers.md", error);
    if (!f) return error->code;
    ratios strict = measure(set, true), stored = measure(set, false);
    int solved = 0, scaled = 0;
    for (int k = 0; k < set->count; k++) {
        const bench_run* mine = bench_find(&set->entries[k], "moreau", "auto");
        solved += mine && mine->solved, scaled += mine && mine->solved && mine->check_scaled <= 1e-8;
    }
    fprintf(f,
            "# Solvers on stored problems\n\nWritten by `make bench-solvers`, not by hand. Moreau %s, %s, %s, load %s "
            "at the start, one BLAS thread.\n\n",
            set->version, set->date, set->machine, set->load);
    if (strict.count)
        fprintf(f,
                "Siconos numerics %s: the first six solvers that INDEX.tsv names for the problem, every call with new "
                "options (some solvers change theirs) and, for "
                "global problems, new data (matrices keep their factors). *time* is the fastest with dense, block or "
                "sparse matrices, *as stored* with the matrix as the "
                "file has it; answers must satisfy our judge at 1e-8, and the scaled error 1e-7.\n\n",
                bench_siconos_version());
    fprintf(f, "CPU times, warm, repeated until 10 ms, best of several rounds. `auto` is the whole call with checks, "
               "conversions and the full judge; *solver* leaves out checks and "
               "judge (not where a conversion is needed). *error* and *scaled* are found by an independent program on "
               "the written answers; scaled is the absolute error over "
               "max(|q|, |r|, |u|), |r| of the solution Siconos found.\n\n");
    fprintf(f,
            "| figure | measured | wanted |\n|---|---|---|\n| problems solved by `auto` to 1e-8 | %d of %d | all |\n",
            solved, set->count);
    fprintf(f, "| with scaled error within 1e-8 too | %d | all |\n", scaled);
    if (set->disguises)
        fprintf(f, "| disguises solved by `auto`, both errors | %d of %d | all |\n", set->disguises_solved,
                set->disguises);
    const struct {
        const char* label;
        ratios t;
    } two[] = { { "solver / Siconos as stored", stored }, { "whole call / Siconos in its best storage", strict } };
    for (int k = 0; k < 2 && strict.count; k++) {
        const ratios* t = &two[k].t;
        fprintf(f, "| %s, geometric mean over %d | %.3f | 0.35 |\n", two[k].label, t->count, exp(t->sum / t->count));
        if (t->large_count)
            fprintf(f,
                    "| the same where Siconos needs 100 µs or more, %d problems | %.3f | 0.1 |\n| worst of these | "
                    "%.2f (%s) | 1.5 |\n",
                    t->large_count, exp(t->large_sum / t->large_count), t->worst, t->worst_name);
        printf("%s: geometric mean %.3f over %d; %.3f over %d with Siconos >= 100 us, worst %.2f (%s)\n", two[k].label,
               exp(t->sum / t->count), t->count, t->large_count ? exp(t->large_sum / t->large_count) : NAN,
               t->large_count, t->worst, t->worst_name ? t->worst_name : "-");
    }
    printf("auto solves %d of %d, scaled error %d; disguises %d of %d\n", solved, set->count, scaled,
           set->disguises_solved, set->disguises);
    fprintf(f, "\n## `auto`, every problem\n\n");
    write_problems(set, f);
    fprintf(f,
            "\n## Every solver, %g s per problem\n\nProblems solved to 1e-8 within that CPU time, iterations "
            "unlimited. In brackets the Siconos solver of the same kind and its count "
            "(INDEX.tsv, solved8); ours are bold where they are fewer. Empty: the solver does not take that kind.\n\n",
            set->limit);
    write_counts(set, f);
    fprintf(f, "\n## Performance profiles\n\n![LCP and mixed LCP](solvers-pairs.svg)\n\n![contacts with "
               "friction](solvers-contacts.svg)\n");
    return fclose(f) == 0 ? MOR_OK : mor_fail(error, MOR_SYSTEM, "solvers.md cannot be written");
}

mor_code bench_report(const bench_set* set, const char* directory, mor_error* error)
{
    mor_code code = write_csv(set, directory, error);
    if (!code) code = write_markdown(set, directory, error);
    if (!code) code = write_profile(set, directory, "solvers-pairs.svg", "lcp mlcp", "LCP and mixed LCP", error);
    if (!code)
        code = write_profile(set, directory, "solvers-contacts.svg", "fc2d fc3d rfc3d gfc2d gfc3d grfc3d",
                             "Contacts with friction", error);
    return code;
}
