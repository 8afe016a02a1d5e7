/* moreau reproduce: the papers' figures and tables. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "lab/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void progress(void* user, const char* figure, int done, int total)
{
    (void)user;
    char bar[41];
    int filled = total ? 40 * done / total : 0;
    for (int i = 0; i < 40; i++) bar[i] = i < filled ? '#' : '.';
    bar[40] = '\0';
    fprintf(stderr, "\r  Fig. %-12s [%s] %d of %d%s", figure, bar, done, total, done == total ? "\n" : "");
}

typedef struct arguments {
    mor_reproduce options;
    const char* figure;
} arguments;

static int take_figure(void* user, char* word)
{
    arguments* a = user;
    if (a->figure) return mor_cli_usage("reproduce", "one figure at a time, or all");
    a->figure = word;
    return 0;
}

static int take_seed(void* user, char* value)
{
    char* end = NULL;
    unsigned long long n = strtoull(value, &end, 10);
    if (*value == '-' || *end || end == value)
        return mor_cli_usage("reproduce", "--seed '%s'; give a whole number", value);
    ((arguments*)user)->options.seed = n;
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--output", "DIR", "where everything goes (reproduced)", MOR_CLI_TEXT, AT(options.directory), .alias = "-o" },
    { "--seed", "N", "of the random states (18); rods use seeds 1000, 1001, ...", MOR_CLI_CALL, .take = take_seed },
    { "--threads", "N", "default: all cores; the results do not depend on it", MOR_CLI_WHOLE, AT(options.threads),
      .min = 1, .max = 1024, .expected = "1 to 1024" },
    { "--quick", NULL, "fewer runs and larger steps", MOR_CLI_FLAG, AT(options.quick) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "reproduce",
    .usage = "[FIGURE|all] [-o DIR] [--seed N] [--threads N] [--quick]",
    .about =
        "Runs the experiments of the paper on polyhedral exact geometry again and writes data (CSV, and all of it as\n"
        "data.h5), pictures (SVG) and a page, DIR/index.html, with the paper's claim beside our number. FIGURE is a\n"
        "number of the paper or table1; figures that show the same runs come together.\n\n"
        "  1        Fig. 1-2    energy gained in a half-space, psi_min, and its absence\n"
        "  6        Fig. 6-9    hills: trajectories, problem size, solver time\n"
        "  10       Fig. 10-17  sawtooth without and with friction, steps 1e-4 to 1e-1\n"
        "  18       Fig. 18     error over the step size, 62 random states (minutes)\n"
        "  19       Fig. 19-22  slender rod on random fields, Table 1 (minutes)\n"
        "  spheres  125 spheres, 50 samples of the convergence of Fischer-Newton (RPIsim paper, Fig. 9)\n"
        "  joints   a hanging pendulum: joint errors without and with stabilisation (RPIsim paper, Fig. 4)\n"
        "  grasp    a hand lifts a goblet at h = 0.016 s, by our methods and by Bullet's (RPIsim paper, Fig. 1)\n"
        "  tables   solvers and models of the RPIsim and BPMD papers (Table 1 of each), run on real steps\n",
    .options = options,
    .more = "Parts that are already in DIR/parts are not computed again: an interrupted run goes on where it stopped.\n"
            "Delete them to begin anew.\n",
    .operand = take_figure,
};

int mor_cli_reproduce(int argc, char** argv)
{
    char scenes[4096];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    arguments a = { .options = { .directory = "reproduced", .seed = 18, .threads = cores > 0 ? (int)cores : 1 } };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    mor_error error = { 0 };
    mor_reproduce* o = &a.options;
    o->scenes = mor_cli_scene_directory(scenes, sizeof scenes);
    if (!*o->scenes) {
        mor_fail(&error, MOR_SYSTEM, "the scenes that came with the program are not there");
        return mor_cli_fail(&error);
    }
    if (isatty(2)) o->progress = progress;
    if (mor_reproduce_run(o, a.figure ? a.figure : "all", &error) != MOR_OK) return mor_cli_fail(&error);
    printf("%s/index.html\n", o->directory);
    return 0;
}
