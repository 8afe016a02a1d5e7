/* moreau calibrate: parameters of a scene from measured motion. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/slurm.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/text/output.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 10000 };

typedef struct arguments {
    const char *plan, *html, *csv, *journal, *files[MOST_FILES];
    const char* sbatch;
    bool json, quiet, resume, merge, no_submit, audit;
    int jobs, file_count, shard, shards, slurm;
    double time_limit;
} arguments;

/* The plan, then journals for --merge. */
static int take_word(void* user, char* word)
{
    arguments* a = user;
    if (!a->plan) a->plan = word;
    else if (a->file_count == MOST_FILES) return mor_cli_usage("calibrate", "more than %d files", MOST_FILES);
    else a->files[a->file_count++] = word;
    return 0;
}

static int take_shard(void* user, char* value)
{
    arguments* a = user;
    return mor_cli_read_shard("calibrate", value, &a->shard, &a->shards);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--jobs", "N", "threads; default: one per core; the numbers do not depend on it", MOR_CLI_WHOLE, AT(jobs),
      .min = 1, .max = 64, .expected = "a whole number" },
    { "--html", "FILE", "a page with tables and residuals that needs nothing else", MOR_CLI_TEXT, AT(html),
      .writes = true },
    { "--csv", "FILE", "one line per method and parameter; -: standard output", MOR_CLI_TEXT, AT(csv), .writes = true },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--audit", NULL,
      "fit nothing: tell what the flights of the data say of scale, gravity, velocities, centre of mass", MOR_CLI_FLAG,
      AT(audit) },
    { "--journal", "FILE", "keeps every evaluation, so that --resume can go on", MOR_CLI_TEXT, AT(journal),
      .writes = true },
    { "--resume", NULL, "go on with the journal of an interrupted calibration", MOR_CLI_FLAG, AT(resume) },
    { "--shard", "I/N", "only every N-th fit (a method in a split), from the I-th; needs --journal", MOR_CLI_CALL,
      .take = take_shard },
    { "--merge", NULL, "simulate no fit: take all evaluations from the journals of the shards", MOR_CLI_FLAG,
      AT(merge) },
    { "--slurm", "N",
      "write JOURNAL.slurm and JOURNAL.slurm-merge and submit them: an array job of N shards, then a merge",
      MOR_CLI_WHOLE, AT(slurm), .min = 1, .max = 1e6, .expected = "a number of shards" },
    { "--sbatch", "OPTIONS", "with --slurm: options for sbatch", MOR_CLI_TEXT, AT(sbatch) },
    { "--no-submit", NULL, "with --slurm: only write the job files", MOR_CLI_FLAG, AT(no_submit) },
    { "--quiet", NULL, "no progress, no summary", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "calibrate",
    .usage = "PLAN.yaml [options]\nPLAN.yaml --merge JOURNAL... [options]",
    .about = "Fits values of a scene to measured motion and says how well they are known.\n",
    .options = options,
    .more = "docs/calibrate.md describes plans. `moreau list optimisers` lists optimisers.\n",
    .operand = take_word,
};

static const double degrees = 57.29577951308232;

typedef struct meter {
    bool shown;
    double last;
} meter;

static bool progress(void* user, const mor_calibration* c, int method, int evaluations, double best)
{
    meter* m = user;
    double now = mor_clock();
    if (m->shown && now - m->last > 0.2) {
        m->last = now;
        fprintf(stderr, "\r  method %d of %d, evaluation %d, error %.6g   ", method + 1, c->method_count, evaluations,
                best);
    }
    return !mor_cli_signal();
}

static void print_parameters(const mor_calibration* c, const mor_cal_method* m, const mor_cal_result* r)
{
    if (m->parameter_count > 1 && r->intervals[0].judged)
        printf("  values, and intervals that hold them all at once in 95 of 100 data sets:\n");
    for (int i = 0; i < m->parameter_count; i++) {
        const mor_cal_interval* v = &r->intervals[i];
        printf("  %-40s %12.6g  [%.6g, %.6g]%s%s%s%s\n", c->parameters[m->parameters[i]].name, r->x[i], v->low, v->high,
               v->identifiable ? ""
               : v->judged     ? "  cannot be identified: "
                               : "  not judged: ",
               v->why, v->at_bound ? "  at the edge of its range" : "", v->moved ? "" : "  never moved");
    }
}

/* Nothing where one run gives none. */
static void print_interval(double low, double high)
{
    if (isfinite(low) && isfinite(high)) printf(" [%.4g, %.4g]", low, high);
}

static void print_split(const mor_calibration* c, int split)
{
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_result* r = &c->all[split * MOR_CAL_METHODS + k];
        const mor_cal_method* m = &c->methods[k];
        if (!r->done) continue;
        printf("%s", m->name);
        if (c->split_count > 1) printf(", split %d", split + 1);
        printf("\n  error: training %.6g", r->train[0]);
        if (isfinite(r->test[0])) printf(", held out %.6g", r->test[0]);
        printf(" (with the start values %.6g", r->start_train);
        if (isfinite(r->start_test)) printf(", %.6g", r->start_test);
        const double* mean = isfinite(r->test[0]) ? r->test : r->train;
        printf(")\n  %s: position %.4g m", isfinite(r->test[0]) ? "held out" : "training", mean[1]);
        print_interval(r->test_low[1], r->test_high[1]);
        printf(", rotation %.4g deg", degrees * mean[2]);
        print_interval(degrees * r->test_low[2], degrees * r->test_high[2]);
        putchar('\n');
        if (k && isfinite(r->ratio))
            printf("  error over that of %s: %.3f [%.3f, %.3f]%s\n", c->methods[0].name, r->ratio, r->ratio_low,
                   r->ratio_high, r->ratio_low <= 1.0 && r->ratio_high >= 1.0 ? ", indistinguishable" : "");
        print_parameters(c, m, r);
        printf("  %d evaluations, %.3g s CPU%s\n", r->evaluations, r->time_s, r->failures ? ", some runs failed" : "");
        if (r->used_up)
            printf("  the search had used up its evaluations before it ended: better values may lie outside the "
                   "intervals; give more `evaluations`\n");
    }
}

static void print_over_splits(const mor_calibration* c)
{
    printf("over %d splits, held out\n  %-24s %26s %26s %26s\n", c->split_count, "method", "position [mm] (95 %)",
           "rotation [deg] (95 %)", "error over the first's");
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_summary* m = &c->summaries[k];
        if (m->splits < c->split_count || c->summaries[0].splits < c->split_count) continue;
        printf("  %-24.60s %8.3f [%6.3f, %6.3f] %8.3f [%6.3f, %6.3f] %8.3f [%6.3f, %6.3f]%s\n", c->methods[k].name,
               1e3 * m->test[1], 1e3 * m->low[1], 1e3 * m->high[1], degrees * m->test[2], degrees * m->low[2],
               degrees * m->high[2], m->ratio[0], m->ratio_low[0], m->ratio_high[0],
               k && m->ratio_low[0] <= 1.0 && m->ratio_high[0] >= 1.0 ? ", indistinguishable" : "");
    }
}

static void print_summary(const mor_calibration* c)
{
    for (int s = 0; s < c->split_count; s++) print_split(c, s);
    if (c->split_count > 1) print_over_splits(c);
}

static int write_file(const char* path, const mor_calibration* c, void (*write)(const mor_calibration*, FILE*))
{
    mor_error error = { 0 };
    FILE* out = mor_output_open(path, &error);
    if (out) write(c, out);
    return out && mor_output_close(out, path, true, &error) == MOR_OK ? 0 : mor_cli_fail(&error);
}

static int write_all(const arguments* a, const mor_calibration* c)
{
    int status = a->html ? write_file(a->html, c, mor_calibration_write_html) : 0;
    if (!status && a->csv) status = write_file(a->csv, c, mor_calibration_write_csv);
    if (a->json) mor_calibration_write_json(c, stdout);
    else if (!a->quiet) print_summary(c);
    return status;
}

/* Shards with journals JOURNAL.shard-I, and the merge that writes the table and the page. */
static int submit(const arguments* a)
{
    char* words[2] = { NULL, NULL };
    size_t size;
    for (int i = 0; i < 2; i++) {
        FILE* out = open_memstream(&words[i], &size);
        if (!out) continue;
        mor_cli_slurm_quote(out, a->plan);
        if (i == 0) {
            fprintf(out, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs %d --resume --quiet --journal ", a->slurm,
                    a->jobs);
            mor_cli_slurm_quote(out, a->journal);
            fputs(".shard-\"$SLURM_ARRAY_TASK_ID\"", out);
        } else {
            fputs(" --jobs 1 --merge", out);
            for (int k = 1; k <= a->slurm; k++) {
                fputc(' ', out);
                mor_cli_slurm_quote(out, a->journal);
                fprintf(out, ".shard-%d", k);
            }
            if (a->csv) fputs(" --csv ", out), mor_cli_slurm_quote(out, a->csv);
            if (a->html) fputs(" --html ", out), mor_cli_slurm_quote(out, a->html);
        }
        fclose(out);
    }
    int status = 3;
    if (words[0] && words[1])
        status = mor_cli_slurm_parts_submit(&(mor_cli_slurm_parts){ .command = "calibrate",
                                                                    .base = a->journal,
                                                                    .shard = words[0],
                                                                    .merge = words[1],
                                                                    .sbatch = a->sbatch,
                                                                    .shards = a->slurm,
                                                                    .cpus = a->jobs,
                                                                    .submit = !a->no_submit });
    free(words[0]), free(words[1]);
    return status;
}

static int audit(const arguments* a, mor_calibration* c)
{
    enum { MOST = 16 };
    mor_error error = { 0 };
    mor_cal_audit* all = calloc(MOST, sizeof *all);
    int count = 0;
    c->jobs = a->jobs;
    mor_code code =
        all ? mor_calibration_audit(c, all, MOST, &count, &error) : mor_fail(&error, MOR_SYSTEM, "out of memory");
    if (!code && a->json) mor_cal_audit_json(all, count, stdout);
    for (int i = 0; i < count && !code && !a->json; i++) mor_cal_audit_print(&all[i], stdout);
    free(all);
    mor_calibration_free(c);
    free(c);
    return code ? mor_cli_fail(&error) : 0;
}

static int check(const arguments* a)
{
    if (!a->plan) return mor_cli_usage("calibrate", "which plan?");
    if (a->resume && !a->journal) return mor_cli_usage("calibrate", "--resume needs the --journal to go on with");
    if (a->file_count && !a->merge) return mor_cli_usage("calibrate", "one plan at a time; journals need --merge");
    if (a->merge && (!a->file_count || a->shards || a->journal))
        return mor_cli_usage("calibrate", "--merge takes the journals of all shards, without --shard and --journal");
    if (a->shards && !a->journal) return mor_cli_usage("calibrate", "--shard needs the --journal that is merged later");
    if ((a->sbatch || a->no_submit) && !a->slurm)
        return mor_cli_usage("calibrate", "--sbatch and --no-submit need --slurm");
    if (a->slurm && (!a->journal || a->merge || a->shards))
        return mor_cli_usage("calibrate", "--slurm needs --journal, without --merge and --shard");
    return 0;
}

/* What is odd about the plan. Told once: those of the plan before the run, those of the data after it. */
static void print_notes(mor_calibration* c)
{
    for (char *line = c->notes, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        fprintf(stderr, "moreau calibrate: note: %.*s\n", (int)(end - line), line);
        if (*end) end++;
    }
    c->notes[0] = '\0';
}

int mor_cli_calibrate(int argc, char** argv)
{
    static arguments a;
    a = (arguments){ .jobs = (int)fmax(1.0, fmin(64.0, (double)sysconf(_SC_NPROCESSORS_ONLN))) };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if ((status = check(&a))) return status;
    if (a.csv && mor_output_is_standard(a.csv)) {
        if (a.json) return mor_cli_usage("calibrate", "--csv - and --json both want standard output");
        a.quiet = true;
    }
    mor_cli_catch_signals(a.time_limit);
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    mor_code code = c ? mor_calibration_read(c, a.plan, mor_cli_library(), mor_cli_scene_path, &error)
                      : mor_fail(&error, MOR_SYSTEM, "out of memory");
    if (!code && a.slurm) { /* a plan that is wrong is not submitted */
        mor_calibration_free(c);
        free(c);
        return submit(&a);
    }
    if (!code && a.audit) return audit(&a, c);
    if (!code && !a.quiet) print_notes(c);
    meter m = { .shown = isatty(2) && !a.quiet };
    if (!code) c->shard = a.shard, c->shards = a.shards, c->merged = a.files, c->merged_count = a.file_count;
    if (!code) code = mor_calibration_run(c, a.jobs, a.journal, a.resume, progress, &m, &error);
    if (m.shown) fprintf(stderr, "\r%79s\r", "");
    if (c && !a.quiet) print_notes(c);
    if (code == MOR_STOPPED) {
        fprintf(stderr, "moreau calibrate: %s%s; methods that were done are written\n",
                mor_cli_signal_name(mor_cli_signal()), a.journal ? "; --resume goes on" : "");
        status = write_all(&a, c);
        if (!status) status = mor_cli_signal_status(mor_cli_signal());
    } else if (code) {
        status = mor_cli_fail(&error);
    } else {
        status = write_all(&a, c);
    }
    if (c) mor_calibration_free(c);
    free(c);
    return status;
}
