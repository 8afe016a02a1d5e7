/* moreau reproduce: the papers' figures and tables. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/ranks.h"
#include "cli/lab/slurm.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "lab/folders.h"
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

enum { MOST_FOLDERS = 10000 };

typedef struct arguments {
    mor_reproduce options;
    const char *figure, *folders[MOST_FOLDERS], *sbatch;
    int folder_count, slurm;
    bool no_submit;
    double time_limit;
} arguments;

static int take_figure(void* user, char* word)
{
    arguments* a = user;
    if (a->folder_count == MOST_FOLDERS) return mor_cli_usage("reproduce", "more than %d folders", MOST_FOLDERS);
    if (a->figure) a->folders[a->folder_count++] = word;
    else a->figure = word;
    return 0;
}

static int take_shard(void* user, char* value)
{
    mor_reproduce* o = &((arguments*)user)->options;
    return mor_cli_read_shard("reproduce", value, &o->shard, &o->shards);
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
    { "--shard", "I/N", "only every N-th part, from the I-th; no page", MOR_CLI_CALL, .take = take_shard },
    { "--merge", NULL, "compute nothing: put the folders of all shards together in DIR and write the page",
      MOR_CLI_FLAG, AT(options.merge) },
    { "--slurm", "N", "write DIR.slurm and DIR.slurm-merge and submit them: an array job of N shards, then a merge",
      MOR_CLI_WHOLE, AT(slurm), .min = 1, .max = 1e6, .expected = "a number of shards" },
    { "--sbatch", "OPTIONS", "with --slurm: options for sbatch", MOR_CLI_TEXT, AT(sbatch) },
    { "--no-submit", NULL, "with --slurm: only write the job files", MOR_CLI_FLAG, AT(no_submit) },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "reproduce",
    .usage = "[FIGURE|all] [-o DIR] [--seed N] [--threads N] [--quick]\n"
             "FIGURE|all --shard I/N [-o DIR] [options]\n"
             "FIGURE|all --merge FOLDER... [-o DIR] [options]",
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

static int check(const arguments* a)
{
    const mor_reproduce* o = &a->options;
    if (a->folder_count && !o->merge) return mor_cli_usage("reproduce", "one figure at a time, or all");
    if (o->merge && (o->shards || a->slurm || !a->folder_count))
        return mor_cli_usage("reproduce", "--merge takes a figure and the folders of all shards, without --shard");
    if ((a->sbatch || a->no_submit) && !a->slurm)
        return mor_cli_usage("reproduce", "--sbatch and --no-submit need --slurm");
    if (a->slurm && o->shards) return mor_cli_usage("reproduce", "--slurm makes the shards: no --shard");
    return 0;
}

/* Shards and merge as jobs; all shards write into one folder. */
static int submit(const arguments* a)
{
    const mor_reproduce* o = &a->options;
    char* words[2] = { NULL, NULL };
    size_t size;
    for (int i = 0; i < 2; i++) {
        FILE* out = open_memstream(&words[i], &size);
        if (!out) continue;
        mor_cli_slurm_quote(out, a->figure);
        if (i == 0) fprintf(out, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" -o ", a->slurm);
        else fputs(" --merge ", out);
        mor_cli_slurm_quote(out, o->directory);
        if (i == 1) fputs(" -o ", out), mor_cli_slurm_quote(out, o->directory);
        fprintf(out, " --seed %llu --threads %d%s", (unsigned long long)o->seed, i ? 1 : o->threads,
                o->quick ? " --quick" : "");
        fclose(out);
    }
    int status = 3;
    if (words[0] && words[1])
        status = mor_cli_slurm_parts_submit(&(mor_cli_slurm_parts){ .command = "reproduce",
                                                                    .base = o->directory,
                                                                    .shard = words[0],
                                                                    .merge = words[1],
                                                                    .sbatch = a->sbatch,
                                                                    .shards = a->slurm,
                                                                    .cpus = o->threads,
                                                                    .submit = !a->no_submit });
    free(words[0]), free(words[1]);
    return status;
}

/* Ranks of mpirun are shards in one folder; the first puts them together. */
static mor_code run_ranks(const mor_ranks* ranks, mor_reproduce* o, const char* figure, mor_error* error)
{
    o->shard = ranks->own + 1, o->shards = ranks->count;
    mor_code code = mor_reproduce_run(o, figure, error), worst = ranks->worst(code);
    o->shard = o->shards = 0, o->merge = true;
    if (!worst && ranks->own == 0) code = mor_reproduce_run(o, figure, error);
    if (worst && !code) code = mor_fail(error, worst, "another rank failed");
    return code;
}

int mor_cli_reproduce(int argc, char** argv)
{
    char scenes[4096];
    static arguments a;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    a = (arguments){ .options = { .directory = "reproduced", .seed = 18, .threads = cores > 0 ? (int)cores : 1 } };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (!status) status = check(&a);
    if (status) return status;
    if (!a.figure) a.figure = "all";
    if (a.slurm) return submit(&a);
    mor_cli_end_after("reproduce", a.time_limit);
    mor_error error = { 0 };
    mor_reproduce* o = &a.options;
    const mor_ranks* ranks = NULL;
    o->scenes = mor_cli_scene_directory(scenes, sizeof scenes);
    if (!*o->scenes) {
        mor_fail(&error, MOR_SYSTEM, "the scenes that came with the program are not there");
        return mor_cli_fail(&error);
    }
    if (isatty(2)) o->progress = progress;
    mor_code code = o->shards || o->merge ? MOR_OK : mor_cli_ranks(&ranks, &error);
    for (int i = 0, files; i < a.folder_count && !code; i++)
        code = mor_folder_merge(a.folders[i], o->directory, &files, &error);
    if (!code && ranks) code = run_ranks(ranks, o, a.figure, &error);
    else if (!code) code = mor_reproduce_run(o, a.figure, &error);
    bool tells = !ranks || ranks->own == 0;
    if (ranks) mor_cli_ranks_end();
    if (code) return mor_cli_fail(&error);
    if (tells && !o->shards) printf("%s/index.html\n", o->directory);
    return 0;
}
