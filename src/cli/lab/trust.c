/* moreau trust: where a simulation is valid. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/text/output.h"
#include "lab/trust.h"

#include <stdio.h>
#include <unistd.h>

typedef struct arguments {
    mor_trust_options options;
    mor_cli_sets sets;
    const char *scene, *html;
    double seed;
    bool json, quiet;
} arguments;

static int take_scene(void* user, char* word) { return mor_cli_one_scene("trust", &((arguments*)user)->scene, word); }

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--within", "METRES",
      "how far a body may be from the reference; default: a hundredth of the longest way of a body, or of the largest "
      "body",
      MOR_CLI_NUMBER, AT(options.goal), .min = 1e-12, .max = 1e12, .expected = "metres" },
    { "--members", "N", "runs with each change of the initial velocities, default 8, at most 28", MOR_CLI_WHOLE,
      AT(options.members), .min = 2, .max = 28, .expected = "2 to 28" },
    { "--time", "T", "how long, in seconds", MOR_CLI_SET, AT(sets), .key = "time.end" },
    { "--set", "KEY=VALUE", "any value of the scene", MOR_CLI_SET, AT(sets) },
    { "--seed", "N", "of the random changes, default 1", MOR_CLI_NUMBER, AT(seed), .max = 9e15,
      .expected = "a number" },
    { "--html", "FILE.html", "a page that needs nothing else, with maps", MOR_CLI_TEXT, AT(html), .writes = true },
    { "--jobs", "N", "processes; default: one per core", MOR_CLI_WHOLE, AT(options.jobs), .min = 1, .max = 1e4,
      .expected = "a whole number" },
    { "--time-limit", "SECONDS", "of a run, on the clock; default: none", MOR_CLI_NUMBER, AT(options.time_limit),
      .min = 0.1, .max = 1e9, .expected = "seconds, from 0.1" },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--quiet", NULL, "only the sentence", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "trust",
    .usage = "SCENE [options]",
    .about =
        "Runs the scene with other steps, tolerances, friction and initial velocities, and says where it is valid.\n",
    .options = options,
    .more = "docs/trust.md says what is compared.\n",
    .operand = take_scene,
};

static bool progress(void* user, long done, long count)
{
    const bool* shown = user;
    if (*shown) fprintf(stderr, "\r  %ld of %ld runs   ", done, count);
    return mor_cli_signal() == 0;
}

static void print_report(const mor_trust* t)
{
    printf("%s: goal %.3g m, longest way %.3g m in %.3g s\n  %-10s %12s %14s %18s %12s  %s\n", t->scene, t->goal,
           t->way, t->end, "change", "value", "agrees until", "contacts until", "error [m]", "end");
    for (int i = 0; i < t->run_count; i++) {
        const mor_trust_run* r = &t->runs[i];
        if (r->kind == MOR_TRUST_START) continue;
        printf("  %-10s %12.4g %14.4g %18.4g %12.3g  %s\n", mor_trust_kind_name(r->kind), r->value, r->agrees_until,
               r->sequence_until, r->error,
               i == 0                           ? "reference"
               : r->status == MOR_TRIAL_REFUSED ? "refused"
               : r->outcome                     ? "otherwise"
                                                : "alike");
    }
    for (int i = 0; i < t->level_count; i++)
        printf("  velocities off by %.2g m/s: predictable until %.4g s, %d of %d end otherwise\n",
               t->levels[i].size * t->speed, t->levels[i].until, t->levels[i].other, t->members);
}

int mor_cli_trust(int argc, char** argv)
{
    static arguments a;
    a.options = mor_trust_options_default();
    a.seed = 1.0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    a.options.jobs = cores > 1 ? (int)cores : 1;
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("trust", "which scene?");
    a.options.seed = (uint64_t)a.seed;
    a.options.library = mor_cli_library();
    a.options.set = a.sets.items;
    a.options.progress = progress;
    bool shown = isatty(2) && !a.quiet;
    a.options.user = &shown;
    mor_cli_catch_signals(0.0);
    static mor_trust trust;
    mor_error error = { 0 };
    char path[4096];
    mor_code code = mor_trust_make(&trust, mor_cli_scene_path(a.scene, path, sizeof path), &a.options, &error);
    if (shown) fprintf(stderr, "\r%40s\r", "");
    if (code) status = mor_cli_no_scene(a.scene, &error);
    else if (trust.stopped) status = mor_cli_stopped("trust");
    if (!status && a.html) {
        FILE* out = mor_output_open(a.html, &error);
        if (out) mor_trust_write_html(&trust, out);
        if (!out || mor_output_close(out, a.html, true, &error)) status = mor_cli_fail(&error);
    }
    if (!status && a.json) mor_trust_write_json(&trust, stdout);
    else if (!status) {
        if (!a.quiet) print_report(&trust);
        puts(trust.sentence);
    }
    mor_trust_free(&trust);
    return status;
}
