/* moreau sweep: a scene with many values of its parameters. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/ranks.h"
#include "cli/lab/slurm.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/text/output.h"
#include "io/text/text_file.h"
#include "lab/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 100000, TOLD_NOTES = 10 };

typedef struct arguments {
    mor_sweep_options options;
    const char *plan, *out, *csv, *html, *files[MOST_FILES];
    int file_count;
    int slurm;
    const char* sbatch;
    bool merge, json, quiet, no_submit, jobs_given;
    char journal[4096];
} arguments;

static int take_word(void* user, char* word)
{
    arguments* a = user;
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    size_t n = strlen(word);
    bool results = (n > 3 && strcmp(word + n - 3, ".h5") == 0) || mor_file_begins(word, signature, 8);
    if (!results && a->plan) return mor_cli_usage("sweep", "two plans, '%s' and '%s'", a->plan, word);
    if (!results) a->plan = word;
    else if (a->file_count == MOST_FILES) return mor_cli_usage("sweep", "more than %d files", MOST_FILES);
    else a->files[a->file_count++] = word;
    return 0;
}

static int take_shard(void* user, char* value)
{
    mor_sweep_options* o = &((arguments*)user)->options;
    return mor_cli_read_shard("sweep", value, &o->shard, &o->shards);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--out", "FILE.h5", "results as HDF5", MOR_CLI_TEXT, AT(out), .alias = "-o", .writes = true },
    { "--csv", "FILE", "results as a table, one line per task; -: standard output", MOR_CLI_TEXT, AT(csv),
      .writes = true },
    { "--html", "FILE.html", "a page that needs nothing else: maps, parallel coordinates, sensitivity", MOR_CLI_TEXT,
      AT(html), .writes = true },
    { "--jobs", "N", "processes; default: one per core, and one for each rank of mpirun", MOR_CLI_WHOLE,
      AT(options.jobs), .min = 1, .max = 1e4, .expected = "a whole number" },
    { "--shard", "I/N", "only the I-th of N parts of the tasks, I from 1 to N", MOR_CLI_CALL, .take = take_shard },
    { "--merge", NULL, "run nothing: put the HDF5 files of all shards together", MOR_CLI_FLAG, AT(merge) },
    { "--resume", NULL, "go on where an interrupted sweep with the same output stopped", MOR_CLI_FLAG,
      AT(options.resume) },
    { "--time-limit", "SECONDS", "of a task, on the clock; what takes longer has the status time_limit; default: none",
      MOR_CLI_NUMBER, AT(options.time_limit), .min = 0.1, .max = 1e9, .expected = "seconds, from 0.1" },
    { "--slurm", "N", "write OUT.slurm and OUT.slurm-merge and submit them: an array job of N shards, then a merge",
      MOR_CLI_WHOLE, AT(slurm), .min = 1, .max = 1e6, .expected = "a number of shards" },
    { "--sbatch", "OPTIONS", "with --slurm: options for sbatch, e.g. '--partition=long --time=4:00:00'", MOR_CLI_TEXT,
      AT(sbatch) },
    { "--no-submit", NULL, "with --slurm: only write the job files", MOR_CLI_FLAG, AT(no_submit) },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--quiet", NULL, "no progress, no summary", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "sweep",
    .usage = "PLAN.yaml [options]\n[PLAN.yaml] --merge SHARD.h5... [options]",
    .about = "PLAN.yaml names a scene, parameters with their values, and measures (docs/sweep.md).\n",
    .options = options,
    .more =
        "Tasks that crash or that a scene refuses are counted and told; they do not end the sweep. Results are the\n"
        "same for every number of processes and shards, and after an interruption.\n",
    .operand = take_word,
};

/* ----------------------------------------------------------------------------------- outputs */

static int write_stream(const char* path, const mor_sweep* sweep, void (*write)(const mor_sweep*, FILE*))
{
    mor_error error = { 0 };
    FILE* out = mor_output_open(path, &error);
    if (out) write(sweep, out);
    return out && mor_output_close(out, path, true, &error) == MOR_OK ? 0 : mor_cli_fail(&error);
}

static int write_all(const arguments* a, const mor_sweep* sweep)
{
    mor_error error = { 0 };
    int status = 0;
    if (a->out && mor_sweep_write_hdf5(sweep, a->out, &error)) status = mor_cli_fail(&error);
    if (!status && a->csv) status = write_stream(a->csv, sweep, mor_sweep_write_csv);
    if (!status && a->html) status = write_stream(a->html, sweep, mor_sweep_write_html);
    if (!status && a->json) mor_sweep_write_json(sweep, stdout);
    return status;
}

static void print_measures(const mor_sweep* s)
{
    printf("  %-32s %14s %14s %14s %10s\n", "measure", "least", "mean", "most", "runs");
    for (int k = 0; k < s->measures; k++) {
        double low = 0.0, high = 0.0, sum = 0.0;
        long n = 0;
        for (long t = 0; t < s->tasks; t++) {
            double v = s->values[t * s->measures + k];
            if (s->status[t] < 0 || v != v) continue;
            if (n == 0 || v < low) low = v;
            if (n == 0 || v > high) high = v;
            sum += v;
            n++;
        }
        if (n) printf("  %-32s %14.6g %14.6g %14.6g %10ld\n", s->plan->measures[k].name, low, sum / (double)n, high, n);
        else printf("  %-32s %14s %14s %14s %10d\n", s->plan->measures[k].name, "-", "-", "-", 0);
    }
}

static void print_summary(const mor_sweep* s)
{
    long counts[MOR_TRIAL_STATUSES] = { 0 };
    for (long t = 0; t < s->tasks; t++)
        if (s->status[t] >= 0) counts[(int)s->status[t]]++;
    printf("%s: %ld of %ld tasks", s->plan->file, s->done, s->tasks);
    const char* separator = ":";
    for (int i = 0; i < MOR_TRIAL_STATUSES; i++)
        if (counts[i]) printf("%s %ld %s", separator, counts[i], mor_trial_status_name(i)), separator = ",";
    putchar('\n');
    if (s->measures) print_measures(s);
}

/* What went wrong, on stderr. */
static void tell_notes(const mor_sweep* s)
{
    long told = 0, all = 0;
    for (long i = 0; i < s->note_count; i++) {
        int status = s->status[s->notes[i].task];
        if (status < MOR_TRIAL_REFUSED) continue;
        if (all++ < TOLD_NOTES)
            fprintf(stderr, "moreau sweep: task %ld %s: %s\n", s->notes[i].task, mor_trial_status_name(status),
                    s->notes[i].detail),
                told++;
    }
    if (all > told) fprintf(stderr, "moreau sweep: ... and %ld more\n", all - told);
}

/* ----------------------------------------------------------------------------------- running */

typedef struct meter {
    bool shown;
    double begin;
    long first;
} meter;

static bool progress(void* user, long done, long count)
{
    meter* m = user;
    double now = mor_clock();
    if (m->first < 0) m->first = done, m->begin = now;
    if (m->shown && now - m->begin > 1.0) {
        double left = done > m->first ? (now - m->begin) * (double)(count - done) / (double)(done - m->first) : 0.0;
        int bar = count ? (int)(30 * done / count) : 30;
        fprintf(stderr, "\r  [%.*s%*s] %ld of %ld tasks, %.0f s left   ", bar, "##############################",
                30 - bar, "", done, count, left);
    }
    return mor_cli_signal() == 0;
}

static int parse(int argc, char** argv, arguments* a)
{
    int status = mor_cli_parse(&command, argc, argv, a);
    if (status) return status;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    a->jobs_given = a->options.jobs > 0;
    if (!a->jobs_given) a->options.jobs = cores > 1 && !mor_cli_ranks_many() ? (int)cores : 1;
    if (!a->plan && !a->merge) return mor_cli_usage("sweep", "which plan?");
    if (a->merge && !a->file_count) return mor_cli_usage("sweep", "--merge: which files?");
    if (a->merge && a->options.shards) return mor_cli_usage("sweep", "--merge puts all shards together: no --shard");
    if (!a->merge && a->file_count)
        return mor_cli_usage("sweep", "'%s': results are read with --merge only", a->files[0]);
    bool table = a->csv && mor_output_is_standard(a->csv);
    if (table && a->json) return mor_cli_usage("sweep", "--csv - and --json both want standard output");
    if (table || a->json) a->quiet = true;
    const char* beside = a->out ? a->out : a->csv && !table ? a->csv : a->html;
    if (a->html && mor_output_is_standard(a->html)) return mor_cli_usage("sweep", "--html needs a file");
    if ((a->sbatch || a->no_submit) && !a->slurm)
        return mor_cli_usage("sweep", "--sbatch and --no-submit need --slurm");
    if (a->slurm && (!a->out || !a->plan || a->merge || a->options.shards))
        return mor_cli_usage("sweep", "--slurm needs a plan and -o FILE.h5, without --merge and --shard");
    if (beside) snprintf(a->journal, sizeof a->journal, "%s.journal", beside);
    if (a->options.resume && !beside)
        return mor_cli_usage("sweep", "--resume needs the --out, --csv or --html of the sweep that was interrupted");
    a->options.journal = beside ? a->journal : NULL;
    return 0;
}

static int run(arguments* a, mor_sweep* sweep)
{
    mor_error error = { 0 };
    meter m = { .shown = isatty(2) && !a->quiet, .first = -1 };
    a->options.progress = progress;
    a->options.user = &m;
    mor_code code = mor_sweep_begin(sweep, mor_plan_load(a->plan, &error), &a->options, &error);
    if (!code) code = mor_sweep_run(sweep, &error);
    if (m.shown) fprintf(stderr, "\r%79s\r", "");
    if (code) return mor_cli_fail(&error);
    if (!sweep->stopped) return 0;
    fprintf(stderr, "moreau sweep: %s after %ld of %ld tasks%s\n", mor_cli_signal_name(mor_cli_signal()), sweep->done,
            mor_sweep_share(sweep), a->options.journal ? "; --resume goes on" : "");
    return mor_cli_signal_status(mor_cli_signal());
}

int mor_cli_sweep(int argc, char** argv)
{
    static arguments a;
    int status = parse(argc, argv, &a);
    if (status) return status;
    if (a.slurm)
        return mor_cli_slurm(&(mor_cli_slurm_job){ .plan = a.plan,
                                                   .out = a.out,
                                                   .csv = a.csv,
                                                   .html = a.html,
                                                   .sbatch = a.sbatch,
                                                   .shards = a.slurm,
                                                   .jobs = a.jobs_given ? a.options.jobs : 1,
                                                   .submit = !a.no_submit });
    mor_error problem = { 0 };
    if (!a.merge && mor_cli_ranks(&a.options.ranks, &problem)) return mor_cli_fail(&problem);
    if (a.options.ranks && !a.options.journal)
        return mor_cli_usage("sweep", "ranks of mpirun need -o, --csv or --html, and a folder that all of them see");
    mor_cli_catch_signals(0.0);
    a.options.library = mor_cli_library();
    a.options.find_scene = mor_cli_scene_path;
    mor_sweep sweep = { 0 };
    if (a.merge) {
        mor_error error = { 0 };
        mor_plan* plan = a.plan ? mor_plan_load(a.plan, &error) : NULL;
        if ((a.plan && !plan) || mor_sweep_merge(&sweep, plan, a.files, a.file_count, &error))
            status = mor_cli_fail(&error);
    } else status = run(&a, &sweep);
    bool first = !a.options.ranks || a.options.ranks->own == 0;
    if (!status && first) {
        status = write_all(&a, &sweep);
        if (!a.quiet && !status) print_summary(&sweep);
        tell_notes(&sweep);
        if (!status) mor_sweep_forget_journal(&sweep);
    }
    mor_sweep_end(&sweep);
    if (a.options.ranks) mor_cli_ranks_end();
    return status;
}
