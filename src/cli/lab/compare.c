/* moreau compare: formulations and solvers on the same problems, with a report. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/compare_collision.h"
#include "cli/lab/compare_plan.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/text/output.h"
#include "lab/baseline.h"
#include "lab/compare.h"
#include "lab/profile.h"
#include "serve/problem_view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PROBLEMS = 4096, MOST_JOURNALS = 1024 };

typedef struct arguments {
    mor_lab_options options;
    const char *problems[MOST_PROBLEMS], *out, *csv, *baseline, *collisions;
    int problem_count;
    const char* journals[MOST_JOURNALS];
    int journal_count;
    bool json, resume, quiet, merge;
    int maximal, warm; /* choices of --coordinates and --start */
    char* lists[2];    /* memory of the names */
} arguments;

/* Cuts a,b,c into names. */
static int split(char** copy, const char* text, const char** names)
{
    free(*copy);
    *copy = strdup(text);
    int n = 0;
    for (char* word = *copy ? strtok(*copy, ",") : NULL; word && n < MOR_LAB_METHODS; word = strtok(NULL, ","))
        names[n++] = word;
    names[n] = NULL;
    return n;
}

static int descending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

static int take_problem(void* user, char* word)
{
    arguments* a = user;
    size_t n = strlen(word);
    if (n > 8 && strcmp(word + n - 8, ".journal") == 0) {
        if (a->journal_count == MOST_JOURNALS) return mor_cli_usage("compare", "more than %d journals", MOST_JOURNALS);
        a->journals[a->journal_count++] = word;
        return 0;
    }
    if (a->problem_count == MOST_PROBLEMS) return mor_cli_usage("compare", "too many problems: give their folder");
    a->problems[a->problem_count++] = word;
    return 0;
}

static int take_tols(void* user, char* text)
{
    mor_lab_options* o = &((arguments*)user)->options;
    o->tol_count = 0;
    for (const char* p = text; *p;) {
        char* end;
        double t = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(t > 0.0 && t < 1.0))
            return mor_cli_usage("compare", "--tol %s: expected numbers between 0 and 1, separated by commas", text);
        if (o->tol_count == MOR_LAB_TOLS) return mor_cli_usage("compare", "--tol %s: at most %d", text, MOR_LAB_TOLS);
        o->tols[o->tol_count++] = t;
        p = *end ? end + 1 : end;
    }
    if (o->tol_count == 0) return mor_cli_usage("compare", "--tol needs a number");
    qsort(o->tols, (size_t)o->tol_count, sizeof(double), descending);
    return 0;
}

static int take_formulations(void* user, char* value)
{
    arguments* a = user;
    mor_lab_options* o = &a->options;
    if (strcmp(value, "all") != 0)
        return split(&a->lists[0], value, o->formulations) ? 0 : mor_cli_usage("compare", "--formulations needs names");
    int n = 0;
    for (; n < MOR_LAB_METHODS && mor_library_formulation_at(o->library, n); n++)
        o->formulations[n] = mor_library_formulation_at(o->library, n)->name;
    o->formulations[n] = NULL;
    return 0;
}

static int take_solvers(void* user, char* value)
{
    arguments* a = user;
    a->options.solvers[0] = NULL; /* all */
    if (strcmp(value, "all") == 0 || split(&a->lists[1], value, a->options.solvers)) return 0;
    return mor_cli_usage("compare", "--solvers needs names");
}

static int take_shard(void* user, char* value)
{
    mor_lab_options* o = &((arguments*)user)->options;
    return mor_cli_read_shard("compare", value, &o->shard, &o->shards);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--formulations", "F,...", "default ncp,st; `all` for all of moreau list formulations", MOR_CLI_CALL,
      .take = take_formulations },
    { "--solvers", "S,...", "default: all that apply", MOR_CLI_CALL, .take = take_solvers },
    { "--collision", "C,...",
      "compare collision methods instead: each scene is run by all of them, and in the same states their contacts are "
      "held against exact distances; --frames states of each scene, --scene-limit, --csv, --json and --out FILE.md",
      MOR_CLI_TEXT, AT(collisions) },
    { "--tol", "T,...", "tolerances, at most 4; default 1e-4,1e-8", MOR_CLI_CALL, .take = take_tols },
    { "--time-limit", "SECONDS", "for every run, in CPU seconds, default 1", MOR_CLI_NUMBER, AT(options.time_limit),
      .min = 1e-3, .max = 1e6, .expected = "seconds" },
    { "--memory", "GB", "for every process, default 2", MOR_CLI_NUMBER, AT(options.memory_gb), .min = 0.1, .max = 1e4,
      .expected = "gigabytes" },
    { "--start", "cold|warm", "from zero (default) or from the stored impulses", MOR_CLI_CHOICE, AT(warm),
      .expected = "cold|warm" },
    { "--frames", "N",
      "at most N frames of each file or scene, evenly spread; default 50, 0: all; below 10 "
      "also fewer times at which whole runs are compared, and less CPU time for each",
      MOR_CLI_WHOLE, AT(options.frames), .max = 1e6, .expected = "a whole number" },
    { "--traces", "N", "problems whose iterations are followed; default 50", MOR_CLI_WHOLE, AT(options.traces),
      .max = 1e6, .expected = "a whole number" },
    { "--iterations", "DIR",
      "every iterate of the followed runs: solutions, errors, stick and slide (HDF5, one file per run)", MOR_CLI_TEXT,
      AT(options.iterations) },
    { "--coordinates", "minimal|maximal", "frames of robots as trees (default) or as bodies with joints",
      MOR_CLI_CHOICE, AT(maximal), .expected = "minimal|maximal" },
    { "--scene-limit", "SECONDS",
      "whole runs of scenes, CPU seconds each, four times as many for the reference; default 20; "
      "0: no whole runs",
      MOR_CLI_NUMBER, AT(options.scene_limit), .max = 1e6, .expected = "seconds" },
    { "--assume", "nothing|file|family",
      "what was too slow on two frames is not tried: `family` on frames of the family with half as many contacts more "
      "(default), `file` on those of the same file with no fewer contacts, `nothing`: everything is tried. Every third "
      "of these frames is tried all the same; if it is solved, the smaller ones are tried too",
      MOR_CLI_CHOICE, AT(options.assume), .expected = "nothing|file|family" },
    { "--jobs", "N", "processes; default: one per core", MOR_CLI_WHOLE, AT(options.jobs), .min = 1, .max = 1e6,
      .expected = "a whole number" },
    { "--out", "FILE.html", "a page that needs nothing else", MOR_CLI_TEXT, AT(out), .writes = true },
    { "--csv", "FILE", "one line per run; -: standard output", MOR_CLI_TEXT, AT(csv), .writes = true },
    { "--baseline", "OLD.json",
      "tell what became slower, less accurate or unsolved since an earlier --json of the same problems and methods; "
      "exit "
      "status 1 if anything did",
      MOR_CLI_TEXT, AT(baseline) },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--shard", "I/N", "only the I-th of N parts of the families of problems; the results stay in OUT.journal",
      MOR_CLI_CALL, .take = take_shard },
    { "--merge", NULL, "take up the journals of all shards (words that end with .journal), then go on as --resume",
      MOR_CLI_FLAG, AT(merge) },
    { "--resume", NULL, "go on where an interrupted comparison with the same --out stopped", MOR_CLI_FLAG, AT(resume) },
    { "--quiet", NULL, "no progress, no summary", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "compare",
    .usage = "PROBLEM... [options]",
    .about =
        "PROBLEM is a scene, a BPMD file (moreau run --bpmd), an FCLIB or Siconos problem, or a folder of these.\n",
    .options = options,
    .more = "docs/fairness.md says what is held equal.\n",
    .operand = take_problem,
};

/* The command line, for the report; without --resume, which changes nothing. */
static void remember_command(int argc, char** argv, mor_lab_options* o)
{
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof o->command - 2; i++) {
        if (strcmp(argv[i], "--resume") == 0) continue;
        int n = snprintf(o->command + used, sizeof o->command - used, "%s%s", i ? " " : "moreau ", argv[i]);
        if (n > 0) used += (size_t)n;
    }
}

static int parse(int argc, char** argv, arguments* a)
{
    a->options.jobs = (int)fmax(1.0, (double)sysconf(_SC_NPROCESSORS_ONLN));
    remember_command(argc, argv, &a->options);
    int status = mor_cli_parse(&command, argc, argv, a);
    if (status) return status;
    a->options.maximal = a->maximal;
    a->options.warm = a->warm;
    if (a->problem_count == 0) return mor_cli_usage("compare", "which problems?");
    if (a->resume && !a->out)
        return mor_cli_usage("compare", "--resume needs the --out of the comparison that was interrupted");
    if (a->merge != (a->journal_count > 0))
        return mor_cli_usage("compare", "--merge and journals of shards (FILE.journal) go together");
    if (a->options.shards && a->baseline) return mor_cli_usage("compare", "--baseline needs all shards: after --merge");
    if ((a->merge || a->options.shards) && !a->out) return mor_cli_usage("compare", "shards need --out");
    if (a->merge && a->options.shards) return mor_cli_usage("compare", "--merge puts all shards together: no --shard");
    if (a->out && mor_output_is_standard(a->out))
        return mor_cli_usage("compare", "--out keeps a journal beside the page: give a file");
    if (a->csv && mor_output_is_standard(a->csv)) {
        if (a->json) return mor_cli_usage("compare", "--csv - and --json both want standard output");
        a->quiet = true;
    }
    return 0;
}

/* -------------------------------------------------------------------------------- running */

static void print_summary(const mor_lab* lab)
{
    for (int f = -1; f < lab->formulation_count; f++)
        for (int t = 0; t < lab->options.tol_count; t++) {
            mor_lab_profile p;
            if (!mor_lab_profile_make(lab, f, t, NULL, &p)) return;
            if (p.problem_count) {
                printf("%s, tolerance %g, %d problems", f < 0 ? "stored problems" : mor_lab_formulation_name(lab, f),
                       lab->options.tols[t], p.problem_count);
                if (p.unfinished) printf(" (%d others are left out: not all of their runs were made)", p.unfinished);
                printf("\n");
                printf("  %-18s %8s %8s %10s %12s %10s\n", "solver", "solved", "fastest", "x best", "median [s]",
                       "iter");
                for (int k = 0; k < p.solver_count; k++) {
                    const mor_lab_score* s = &p.scores[k];
                    printf("  %-18s %8d %8d %10.3g %12.3e %10.4g\n", mor_lab_solver_name(lab, s->solver), s->solved,
                           s->fastest, s->ratio, s->median, s->median_iterations);
                }
            }
            mor_lab_profile_free(&p);
        }
}

static void print_scenes(const mor_lab* lab)
{
    for (int i = 0; i < lab->scene_run_count; i++) {
        const mor_lab_scene* r = &lab->scene_runs[i];
        if (i == 0 || lab->scene_runs[i - 1].scene != r->scene)
            printf("%s, whole runs\n  %-14s %-16s %10s %12s %12s %12s %10s  %s\n", lab->scene_names[r->scene],
                   "formulation", "solver", "step [s]", "error [m]", "gain [J]", "depth [m]", "CPU [s]", "status");
        char distance[32] = "-"; /* none without a reference */
        if (isfinite(r->error)) snprintf(distance, sizeof distance, "%.3e", r->error);
        printf("  %-14s %-16s %10.3g %12s %12.3e %12.3e %10.3g  %s%s%s%s\n",
               mor_lab_formulation_name(lab, r->formulation), mor_lab_solver_name(lab, r->solver), r->step, distance,
               r->energy_gain, r->penetration, r->cpu_s, r->reference ? "reference, " : "",
               mor_status_name((mor_status)r->status), r->detail[0] ? ": " : "", r->detail);
    }
}

/* What became worse since the baseline, one line each. */
static void print_watch(const mor_lab* lab, const char* path, FILE* out)
{
    const mor_lab_watch* w = lab->watch;
    for (int i = 0; i < w->count; i++) {
        const mor_lab_finding* f = &w->findings[i];
        fprintf(out, "%s: %s %s at %g: ", mor_lab_change_name(f->what), mor_lab_formulation_name(lab, f->formulation),
                mor_lab_solver_name(lab, f->solver), lab->options.tols[f->tol]);
        if (f->what == MOR_LAB_UNSOLVED)
            fprintf(out, "%d problems that were solved, the first is %s\n", f->problems,
                    lab->problems[f->example].name);
        else
            fprintf(out, "%.3g times (%.3g to %.3g) on %d problems, most on %s\n", f->ratio, f->low, f->high,
                    f->problems, lab->problems[f->example].name);
    }
    if (w->count == 0)
        fprintf(out, "nothing is worse than in %s: %d runs in both, the machine %.2f times as slow\n", path,
                w->compared, w->machine);
}

/* The exit status: 1 if something became worse. */
static int watch_baseline(mor_lab* lab, const arguments* a, mor_lab_watch* watch)
{
    mor_error error = { 0 };
    if (mor_lab_watch_make(lab, a->baseline, watch, &error)) return mor_cli_fail(&error);
    lab->watch = watch;
    print_watch(lab, a->baseline, a->json ? stderr : stdout);
    return watch->count ? 1 : 0;
}

/* Where files deviate from their format. */
static void print_notes(const mor_lab* lab)
{
    for (int i = 0; i < mor_lab_notes_count(&lab->notes); i++) {
        char line[2000];
        mor_lab_notes_text(&lab->notes, i, line, sizeof line);
        fprintf(stderr, "moreau compare: %s\n", line);
    }
}

static int write_file(const char* path, const mor_lab* lab, void (*write)(const mor_lab*, FILE*))
{
    mor_error error = { 0 };
    FILE* out = mor_output_open(path, &error);
    if (out) write(lab, out);
    return out && mor_output_close(out, path, true, &error) == MOR_OK ? 0 : mor_cli_fail(&error);
}

/* 0 or the exit status. The results of a shard are its journal. */
static int write_outputs(const mor_lab* lab, const arguments* a, const char* journal)
{
    if (a->options.shards > 1) {
        if (lab->complete && !a->quiet)
            printf("shard %d of %d: %d runs in %s\n", a->options.shard, a->options.shards, lab->run_count, journal);
        return 0;
    }
    if (lab->run_count == 0) return 0;
    int written = a->out ? write_file(a->out, lab, mor_lab_write_html) : 0;
    if (!written && a->csv) written = write_file(a->csv, lab, mor_lab_write_csv);
    if (a->json) mor_lab_write_json(lab, stdout);
    else if (!a->quiet) print_scenes(lab), print_summary(lab);
    return written;
}

static bool is_interrupted(void) { return mor_cli_signal() != 0; }

static int compare_collisions(const arguments* a)
{
    mor_cli_collisions asked = { .library = a->options.library,
                                 .names = a->collisions,
                                 .problems = a->problems,
                                 .problem_count = a->problem_count,
                                 .frames = a->options.frames,
                                 .scene_limit = a->options.scene_limit,
                                 .out = a->out,
                                 .csv = a->csv,
                                 .json = a->json,
                                 .quiet = a->quiet,
                                 .command = a->options.command,
                                 .stop = is_interrupted };
    return mor_cli_compare_collisions(&asked);
}

/* All problems that were named, and solvers that fit them. */
static mor_code read_problems(mor_lab* lab, const arguments* a, mor_error* error)
{
    char path[4096];
    mor_code code = mor_lab_begin(lab, &a->options, error);
    for (int i = 0; i < a->problem_count && !code && !mor_cli_signal(); i++)
        code = mor_lab_add(lab, mor_cli_scene_path(a->problems[i], path, sizeof path), error);
    if (code || mor_cli_signal()) return code;
    if (lab->problem_count == 0) return mor_fail(error, MOR_BAD_INPUT, "%s: no problem with contacts", a->problems[0]);
    return mor_lab_check_solvers(lab, error);
}

static int compare_solvers(arguments* a)
{
    int status = 0;
    mor_lab lab;
    mor_error error = { 0 };
    char journal[1100] = "";
    mor_cli_meter m = mor_cli_meter_begin(a->quiet);
    a->options.reading = mor_cli_meter_reading, a->options.reading_user = &m;
    a->options.interrupt = mor_cli_patience();
    mor_code code = read_problems(&lab, a, &error);
    mor_cli_meter_end(&m);
    if (!a->quiet) print_notes(&lab);
    if (a->out) snprintf(journal, sizeof journal, "%s.journal", a->out);
    if (!code && a->merge) {
        code = mor_lab_journal_join(a->journals, a->journal_count, journal, &error);
        a->resume = true;
    }
    if (!code && !mor_cli_signal()) mor_cli_tell_plan(&lab, &m);
    struct stat folder;
    if (!code && a->options.iterations && mkdir(a->options.iterations, 0777) != 0 &&
        !(stat(a->options.iterations, &folder) == 0 && S_ISDIR(folder.st_mode)))
        code = mor_fail(&error, MOR_SYSTEM, "%s: cannot be made: %s", a->options.iterations, strerror(errno));
    bool whole = a->options.scene_limit > 0.0 && lab.scene_count > 0;
    if (!code && whole)
        code = mor_lab_run_scenes(&lab, a->out ? journal : NULL, a->resume, mor_cli_meter_progress, &m, &error);
    m.first = -1;
    if (!code)
        code = mor_lab_run_all(&lab, a->out ? journal : NULL, a->resume || whole, mor_cli_meter_progress, &m, &error);
    mor_cli_meter_end(&m);
    if (code && !mor_cli_signal()) status = mor_cli_fail(&error);
    mor_lab_watch watch = { 0 };
    if (!code && !mor_cli_signal() && a->baseline) status = watch_baseline(&lab, a, &watch);
    lab.viewer = mor_view_report;
    if (!code || code == MOR_BAD_INPUT) {
        int written = write_outputs(&lab, a, journal);
        if (written) status = written;
    }
    if (!code && lab.complete && a->out && (!status || watch.count) && a->options.shards <= 1) remove(journal);
    mor_lab_watch_free(&watch);
    if (mor_cli_signal() && lab.planned == 0) status = mor_cli_stopped("compare");
    else if (mor_cli_signal()) {
        fprintf(stderr, "moreau compare: %s after %d of %d runs%s\n", mor_cli_signal_name(mor_cli_signal()),
                lab.run_count, lab.planned, a->out ? "; --resume goes on" : "; with --out it could be resumed");
        status = mor_cli_signal_status(mor_cli_signal());
    }
    mor_lab_end(&lab);
    free(a->lists[0]);
    free(a->lists[1]);
    return status;
}

int mor_cli_compare(int argc, char** argv)
{
    static arguments a;
    a.options = mor_lab_options_default();
    a.options.library = mor_cli_library();
    a.options.error = mor_cli_error_function(&a.options.error_name);
    int status = parse(argc, argv, &a);
    if (status) return status;
    mor_cli_catch_signals(0.0);
    return a.collisions ? compare_collisions(&a) : compare_solvers(&a);
}
