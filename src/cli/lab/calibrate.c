/* moreau calibrate: parameters of a scene from measured motion. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "io/text/output.h"
#include "lab/calibrate.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    const char *plan, *html, *csv, *journal;
    bool json, quiet, resume;
    int jobs;
} arguments;

static volatile sig_atomic_t interrupted;
static void on_interrupt(int number) { interrupted = number; }

static int take_plan(void* user, char* word)
{
    arguments* a = user;
    if (a->plan) return mor_cli_usage("calibrate", "one plan at a time");
    a->plan = word;
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--jobs", "N", "threads; default: one per core; the numbers do not depend on it", MOR_CLI_WHOLE, AT(jobs),
      .min = 1, .max = 64, .expected = "a whole number" },
    { "--html", "FILE", "a page with tables and residuals that needs nothing else", MOR_CLI_TEXT, AT(html) },
    { "--csv", "FILE", "one line per method and parameter; -: standard output", MOR_CLI_TEXT, AT(csv) },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--journal", "FILE", "keeps every evaluation, so that --resume can go on", MOR_CLI_TEXT, AT(journal) },
    { "--resume", NULL, "go on with the journal of an interrupted calibration", MOR_CLI_FLAG, AT(resume) },
    { "--quiet", NULL, "no progress, no summary", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "calibrate",
    .usage = "PLAN.yaml [options]",
    .about = "Fits values of a scene to measured motion and says how well they are known.\n",
    .options = options,
    .more = "docs/calibrate.md describes plans. `moreau list optimisers` lists optimisers.\n",
    .operand = take_plan,
};

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
    return !interrupted;
}

static void print_summary(const mor_calibration* c)
{
    const double degrees = 57.29577951308232;
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_result* r = &c->results[k];
        const mor_cal_method* m = &c->methods[k];
        if (!r->done) continue;
        printf("%s\n  error: training %.6g, held out %.6g (with the start values %.6g, %.6g)\n", m->name, r->train[0],
               r->test[0], r->start_train, r->start_test);
        printf("  held out: position %.4g m [%.4g, %.4g], rotation %.4g deg [%.4g, %.4g]\n", r->test[1], r->test_low[1],
               r->test_high[1], degrees * r->test[2], degrees * r->test_low[2], degrees * r->test_high[2]);
        if (k && isfinite(r->ratio))
            printf("  error over that of %s: %.3f [%.3f, %.3f]%s\n", c->methods[0].name, r->ratio, r->ratio_low,
                   r->ratio_high, r->ratio_low <= 1.0 && r->ratio_high >= 1.0 ? ", indistinguishable" : "");
        for (int i = 0; i < m->parameter_count; i++) {
            const mor_cal_interval* v = &r->intervals[i];
            printf("  %-40s %12.6g  [%.6g, %.6g]%s%s%s%s\n", c->parameters[m->parameters[i]].name, r->x[i], v->low,
                   v->high, v->identifiable ? "" : "  cannot be identified: ", v->why,
                   v->at_bound ? "  at the edge of its range" : "", v->moved ? "" : "  never moved");
        }
        printf("  %d evaluations, %.3g s CPU%s\n", r->evaluations, r->time_s, r->failures ? ", some runs failed" : "");
    }
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

int mor_cli_calibrate(int argc, char** argv)
{
    arguments a = { .jobs = (int)fmax(1.0, fmin(64.0, (double)sysconf(_SC_NPROCESSORS_ONLN))) };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.plan) return mor_cli_usage("calibrate", "which plan?");
    if (a.resume && !a.journal) return mor_cli_usage("calibrate", "--resume needs the --journal to go on with");
    if (a.csv && mor_output_is_standard(a.csv)) {
        if (a.json) return mor_cli_usage("calibrate", "--csv - and --json both want standard output");
        a.quiet = true;
    }
    struct sigaction action = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    mor_code code = c ? mor_calibration_read(c, a.plan, mor_cli_library(), mor_cli_scene_path, &error)
                      : mor_fail(&error, MOR_SYSTEM, "out of memory");
    meter m = { .shown = isatty(2) && !a.quiet };
    if (!code) code = mor_calibration_run(c, a.jobs, a.journal, a.resume, progress, &m, &error);
    if (m.shown) fprintf(stderr, "\r%79s\r", "");
    if (code == MOR_STOPPED) {
        fprintf(stderr, "moreau calibrate: interrupted%s; methods that were done are written\n",
                a.journal ? "; --resume goes on" : "");
        status = write_all(&a, c);
        if (!status) status = 128 + interrupted;
    } else if (code) {
        status = mor_cli_fail(&error);
    } else {
        status = write_all(&a, c);
    }
    if (c) mor_calibration_free(c);
    free(c);
    return status;
}
