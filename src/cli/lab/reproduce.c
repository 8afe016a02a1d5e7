/* moreau reproduce: the papers' figures and tables. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "lab/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "usage: moreau reproduce [FIGURE|all] [-o DIR] [--seed N] [--threads N] [--quick]\n\n"
    "Runs the experiments of the paper on polyhedral exact geometry again and writes data (CSV, and all of it as "
    "data.h5), pictures (SVG) and a page,\n"
    "DIR/index.html, with the paper's claim beside our number. FIGURE is a number of the paper or table1; figures that "
    "show the same runs come together.\n\n"
    "  1    Fig. 1-2    energy gained in a half-space, psi_min, and its absence\n"
    "  6    Fig. 6-9    hills: trajectories, problem size, solver time\n"
    "  10   Fig. 10-17  sawtooth without and with friction, steps 1e-4 to 1e-1\n"
    "  18   Fig. 18     error over the step size, 62 random states (minutes)\n"
    "  19   Fig. 19-22  slender rod on random fields, Table 1 (minutes)\n"
    "  spheres      125 spheres, 50 samples of the convergence of Fischer-Newton (RPIsim paper, Fig. 9)\n"
    "  tables       solvers and models of the RPIsim and BPMD papers (Table 1 of each), run on real steps\n\n"
    "  -o DIR       default: reproduced\n"
    "  --seed N     of the random states (default 18); rods use seeds 1000, 1001, ...\n"
    "  --threads N  default: all cores; the results do not depend on it\n"
    "  --quick      fewer runs and larger steps\n\n"
    "Parts that are already in DIR/parts are not computed again: an interrupted run goes on where it stopped. Delete "
    "them to begin anew.\n";

static void progress(void* user, const char* figure, int done, int total)
{
    (void)user;
    char bar[41];
    int filled = total ? 40 * done / total : 0;
    for (int i = 0; i < 40; i++) bar[i] = i < filled ? '#' : '.';
    bar[40] = '\0';
    fprintf(stderr, "\r  Fig. %-12s [%s] %d of %d%s", figure, bar, done, total, done == total ? "\n" : "");
}

int mor_cli_reproduce(int argc, char** argv)
{
    char scenes[4096];
    mor_reproduce o = { .directory = "reproduced", .seed = 18 };
    const char* figure = "all";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    o.threads = cores > 0 ? (int)cores : 1;
    bool named = false;
    for (int i = 1; i < argc; i++) {
        const char* a = argv[i];
        if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
            fputs(help_text, stdout);
            return 0;
        }
        if (strcmp(a, "--quick") == 0) {
            o.quick = true;
            continue;
        }
        if (strcmp(a, "-o") == 0 || strcmp(a, "--seed") == 0 || strcmp(a, "--threads") == 0) {
            if (i + 1 == argc) return mor_cli_usage("reproduce", "%s needs a value", a);
            const char* v = argv[++i];
            char* end = NULL;
            unsigned long long n = strtoull(v, &end, 10);
            if (strcmp(a, "-o") == 0) o.directory = v;
            else if (*v == '-' || *end || end == v)
                return mor_cli_usage("reproduce", "%s '%s'; give a whole number", a, v);
            else if (strcmp(a, "--seed") == 0) o.seed = n;
            else if (n < 1 || n > 1024) return mor_cli_usage("reproduce", "--threads '%s'; give 1 to 1024", v);
            else o.threads = (int)n;
            continue;
        }
        if (a[0] == '-') return mor_cli_usage("reproduce", "unknown option '%s'", a);
        if (named) return mor_cli_usage("reproduce", "one figure at a time, or all");
        figure = a;
        named = true;
    }
    mor_error error = { 0 };
    o.scenes = mor_cli_scene_directory(scenes, sizeof scenes);
    if (!*o.scenes) {
        mor_fail(&error, MOR_SYSTEM, "the scenes that came with the program are not there");
        return mor_cli_fail(&error);
    }
    if (isatty(2)) o.progress = progress;
    if (mor_reproduce_run(&o, figure, &error) != MOR_OK) return mor_cli_fail(&error);
    printf("%s/index.html\n", o.directory);
    return 0;
}
