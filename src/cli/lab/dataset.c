/* moreau dataset: build, describe and extend the database of benchmark problems. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/ranks.h"
#include "cli/lab/slurm.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/bpmd/bpmd.h"
#include "lab/compare.h"
#include "lab/dataset.h"
#include "lab/dataset_page.h"
#include "lab/folders.h"
#include "serve/site.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

typedef struct arguments {
    const char *what, *folder, *family;
    const char* files[MOST_FILES];
    int file_count;
    bool full;
    mor_provenance provenance;
    const char* address; /* serve: NULL: this machine only */
    int port;
    int shard, shards, slurm; /* build */
    bool merge, no_submit;
    const char* sbatch;
    double time_limit;
} arguments;

static int take_word(void* user, char* word)
{
    arguments* a = user;
    if (!a->what) a->what = word;
    else if (a->file_count == MOST_FILES) return mor_cli_usage("dataset", "more than %d files", MOST_FILES);
    else a->files[a->file_count++] = word;
    return 0;
}

static int take_shard(void* user, char* value)
{
    arguments* a = user;
    return mor_cli_read_shard("dataset", value, &a->shard, &a->shards);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--output", "DIR", "the folder (dataset)", MOR_CLI_TEXT, AT(folder), .alias = "-o" },
    { "--full", NULL, "build: all sizes", MOR_CLI_FLAG, AT(full) },
    { "--author", "NAME", "add: who made the problems", MOR_CLI_TEXT, AT(provenance.author) },
    { "--licence", "NAME", "add: under which terms they may be used", MOR_CLI_TEXT, AT(provenance.licence) },
    { "--engine", "NAME", "add: the program that made them, with its version", MOR_CLI_TEXT, AT(provenance.engine) },
    { "--commit", "ID", "add: its commit", MOR_CLI_TEXT, AT(provenance.commit) },
    { "--command", "LINE", "add: how it was called", MOR_CLI_TEXT, AT(provenance.command) },
    { "--port", "N", "serve: which port (a free one)", MOR_CLI_WHOLE, AT(port), .min = 1, .max = 65535,
      .expected = "1 to 65535" },
    { "--listen", "ADDRESS", "serve: other machines may look too: listen on this address", MOR_CLI_TEXT, AT(address) },
    { "--family", "F,...", "build: only these (moreau dataset list)", MOR_CLI_TEXT, AT(family) },
    { "--shard", "I/N", "build: only every N-th file, from the I-th", MOR_CLI_CALL, .take = take_shard },
    { "--merge", NULL, "build: make nothing: put the folders of all shards together", MOR_CLI_FLAG, AT(merge) },
    { "--slurm", "N", "build: write DIR.slurm and DIR.slurm-merge and submit them: an array job of N shards",
      MOR_CLI_WHOLE, AT(slurm), .min = 1, .max = 1e6, .expected = "a number of shards" },
    { "--sbatch", "OPTIONS", "with --slurm: options for sbatch", MOR_CLI_TEXT, AT(sbatch) },
    { "--no-submit", NULL, "with --slurm: only write the job files", MOR_CLI_FLAG, AT(no_submit) },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "dataset",
    .usage = "build [-o DIR] [--full] [--family F,...] [--shard I/N]\n"
             "build --merge FOLDER... [-o DIR] [--full] [--family F,...]\n"
             "list\n"
             "info DIR|FILE...\n"
             "add FILE... [-o DIR]\n"
             "answer PROBLEMS.h5 ANSWERS.txt TARGET.h5\n"
             "export FILE... [-o DIR]\n"
             "page DIR [-o SITE]\n"
             "serve DIR [--port N] [--listen ADDRESS]",
    .about = "build makes the benchmark problems from their recipes: small and medium sizes, with --full all of them;\n"
             "files that are there stay.\n"
             "info lists size, rank deficiency, conditioning and contacts per degree of freedom of every frame.\n"
             "add checks BPMD files of yours (docs/bpmd.md), judges the answers they hold, and copies them into the\n"
             "folder with their provenance (docs/how-to/add-problems.md).\n"
             "answer copies problems and puts the answers of a program of yours into the copy, from a text file\n"
             "(docs/bpmd.md), and judges them.\n"
             "export writes every frame as FCLIB problems (HDF5, one per island) for other programs; moreau solve\n"
             "reads them too.\n"
             "page writes a site of all problems of a folder: pictures, sizes, provenance, and every problem as BPMD,\n"
             "FCLIB, Siconos text and MATLAB script.\n"
             "serve makes the same site in a folder of its own, prints an address to open in a browser, and serves it\n"
             "until interrupted (with -o SITE the folder stays).\n",
    .options = options,
    .more = "moreau compare DIR runs all methods on it.\n",
    .operand = take_word,
};

/* Is `name` one of the comma-separated words? */
static bool listed(const char* words, const char* name)
{
    size_t n = strlen(name);
    for (const char* p = words; p && *p;) {
        size_t m = strcspn(p, ",");
        if (m == n && strncmp(p, name, n) == 0) return true;
        p += m + (p[m] == ',');
    }
    return false;
}

/* Shards and merge as jobs; all shards write into one folder. */
static int submit(const arguments* a)
{
    char* words[2] = { NULL, NULL };
    size_t size;
    for (int i = 0; i < 2; i++) {
        FILE* out = open_memstream(&words[i], &size);
        if (!out) continue;
        if (i == 0) fprintf(out, "build --shard \"$SLURM_ARRAY_TASK_ID/%d\" -o ", a->slurm);
        else fputs("build --merge ", out), mor_cli_slurm_quote(out, a->folder), fputs(" -o ", out);
        mor_cli_slurm_quote(out, a->folder);
        if (a->full) fputs(" --full", out);
        if (a->family) fputs(" --family ", out), mor_cli_slurm_quote(out, a->family);
        fclose(out);
    }
    int status = 3;
    if (words[0] && words[1])
        status = mor_cli_slurm_parts_submit(&(mor_cli_slurm_parts){ .command = "dataset",
                                                                    .base = a->folder,
                                                                    .shard = words[0],
                                                                    .merge = words[1],
                                                                    .sbatch = a->sbatch,
                                                                    .shards = a->slurm,
                                                                    .cpus = 1,
                                                                    .submit = !a->no_submit });
    free(words[0]), free(words[1]);
    return status;
}

/* One file: built, or looked for if the folders of shards were put together. */
static mor_code make_file(const arguments* a, const mor_family* f, double size, mor_error* error)
{
    bool built = false;
    double start = mor_clock();
    if (a->merge) {
        char path[1024];
        snprintf(path, sizeof path, "%.900s/%s-%g.h5", a->folder, f->name, size);
        if (access(path, R_OK) == 0) return MOR_OK;
        return mor_fail(error, MOR_BAD_INPUT, "%s is not there: a shard is not named or has not ended", path);
    }
    mor_code code = mor_dataset_build(a->folder, f, size, mor_cli_patience(), &built, error);
    if (code) return code;
    printf("%s/%s-%g.h5  ", a->folder, f->name, size);
    if (built) printf("%.1f s\n", mor_clock() - start);
    else printf("is there\n");
    fflush(stdout);
    return MOR_OK;
}

static int check_build(const arguments* a)
{
    if (a->merge && (a->shards || a->slurm || !a->file_count))
        return mor_cli_usage("dataset", "--merge takes the folders of all shards, without --shard and --slurm");
    if (!a->merge && a->file_count) return mor_cli_usage("dataset", "build takes folders with --merge only");
    if (a->slurm && a->shards) return mor_cli_usage("dataset", "--slurm makes the shards: no --shard");
    if ((a->sbatch || a->no_submit) && !a->slurm)
        return mor_cli_usage("dataset", "--sbatch and --no-submit need --slurm");
    return 0;
}

static int build_files(const arguments* a)
{
    mor_error error = { 0 };
    if (mkdir(a->folder, 0777) != 0 && errno != EEXIST) {
        mor_fail(&error, MOR_SYSTEM, "%s: cannot be made: %s", a->folder, strerror(errno));
        return mor_cli_fail(&error);
    }
    for (int i = 0, copied; i < a->file_count; i++)
        if (mor_folder_merge(a->files[i], a->folder, &copied, &error)) return mor_cli_fail(&error);
    int files = 0, known = 0;
    double begin = mor_clock();
    mor_cli_catch_signals(a->time_limit);
    for (const mor_family* f = mor_families; f->name; f++) {
        if (a->family && !listed(a->family, f->name)) continue;
        for (int k = 0; f->sizes[k] != 0.0 && (a->full || k < f->fast); k++, known++) {
            if (a->shards && known % a->shards != a->shard - 1) continue;
            mor_code code = make_file(a, f, f->sizes[k], &error);
            if (mor_cli_signal()) {
                fprintf(stderr, "moreau dataset: %s after %d files; they stay, and the next build goes on\n",
                        mor_cli_signal_name(mor_cli_signal()), files + !code);
                return mor_cli_signal_status(mor_cli_signal());
            }
            if (code) return mor_cli_fail(&error);
            files++;
        }
    }
    if (known == 0) return mor_cli_usage("dataset", "no family is called '%s'; see moreau dataset list", a->family);
    printf("%d files in %.0f s\n", files, mor_clock() - begin);
    return 0;
}

/* Ranks of mpirun are shards in one folder. */
static int build(const arguments* a)
{
    mor_error error = { 0 };
    const mor_ranks* ranks = NULL;
    int status = check_build(a);
    if (status) return status;
    if (a->slurm) return submit(a);
    if (!a->shards && !a->merge && mor_cli_ranks(&ranks, &error)) return mor_cli_fail(&error);
    arguments own = *a;
    if (ranks) own.shard = ranks->own + 1, own.shards = ranks->count;
    status = build_files(&own);
    if (ranks) mor_cli_ranks_end();
    return status;
}

static int list(const arguments* a)
{
    (void)a;
    for (const mor_family* f = mor_families; f->name; f++) {
        printf("%-14s %s\n%-14s   sizes", f->name, f->summary, "");
        for (int k = 0; f->sizes[k] != 0.0; k++) printf(" %g%s", f->sizes[k], k >= f->fast ? "*" : "");
        printf("\n");
    }
    printf("* only with --full\n");
    return 0;
}

static void print_problem(void* user, const mor_lab_message* m)
{
    (void)user;
    if (m->kind != 'P') return;
    const mor_lab_problem* p = &m->as.problem;
    char deficiency[16] = "-";
    if (p->deficiency >= 0) snprintf(deficiency, sizeof deficiency, "%d", p->deficiency);
    printf("%-28s %7d %9d %7d %7d %9.2f %11s %11.2e %11.3g\n", p->name, p->bodies, p->contacts, p->rows, p->dof,
           p->dof ? (double)p->contacts / p->dof : 0.0, deficiency, p->condition, p->mass_ratio);
}

static int info(const arguments* a)
{
    mor_error error = { 0 };
    mor_lab lab;
    mor_lab_options o = mor_lab_options_default();
    o.frames = 0;
    o.solvers[0] = "auto";
    o.formulations[0] = "ncp";
    mor_code code = mor_lab_begin(&lab, &o, &error);
    if (a->file_count == 0 && !code) code = mor_lab_add(&lab, a->folder, &error);
    for (int i = 0; i < a->file_count && !code; i++) code = mor_lab_add(&lab, a->files[i], &error);
    bool* done = malloc((size_t)mor_lab_slots(&lab) * sizeof *done);
    if (!code && !done) code = mor_fail(&error, MOR_SYSTEM, "out of memory");
    if (done) memset(done, 1, (size_t)mor_lab_slots(&lab) * sizeof *done); /* statistics only */
    if (!code)
        printf("%-28s %7s %9s %7s %7s %9s %11s %11s %11s\n", "problem", "bodies", "contacts", "rows", "dof", "cont/dof",
               "deficiency", "condition", "mass ratio");
    for (int i = 0; i < lab.problem_count && !code; i++)
        code = mor_lab_measure(&lab, i, done, false, print_problem, NULL, &error);
    free(done);
    mor_lab_end(&lab);
    return code ? mor_cli_fail(&error) : 0;
}

/* The worst of the answers that the frames of a file hold. */
static void keep_worst(void* user, const mor_lab_message* m)
{
    double* worst = user;
    if (m->kind == 'P' && m->as.problem.stored_error > *worst) *worst = m->as.problem.stored_error;
}

static mor_code judge(const char* path, mor_error* error)
{
    mor_lab lab;
    mor_lab_options o = mor_lab_options_default();
    double worst = -1.0;
    o.frames = 0, o.solvers[0] = "auto", o.formulations[0] = "ncp";
    mor_code code = mor_lab_begin(&lab, &o, error);
    if (!code) code = mor_lab_add(&lab, path, error);
    bool* done = code ? NULL : malloc((size_t)mor_lab_slots(&lab) * sizeof *done);
    if (done) memset(done, 1, (size_t)mor_lab_slots(&lab) * sizeof *done); /* no runs */
    for (int i = 0; done && i < lab.problem_count && !code; i++)
        code = mor_lab_measure(&lab, i, done, false, keep_worst, &worst, error);
    for (int i = 0; !code && i < mor_lab_notes_count(&lab.notes); i++) {
        char line[2000];
        mor_lab_notes_text(&lab.notes, i, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    if (!code && worst >= 0.0) printf("%s: its own answers miss Coulomb's law by at most %.2e m/s\n", path, worst);
    else if (!code) printf("%s: holds no answers to judge\n", path);
    free(done);
    mor_lab_end(&lab);
    return code;
}

enum { ANSWERS = 5 };

/* One line of the person at the terminal, in *line, which the caller frees; NULL: none was given. */
static const char* ask(const char* question, char** line)
{
    size_t room = 0;
    fprintf(stderr, "%s: ", question);
    ssize_t n = getline(line, &room, stdin);
    while (n > 0 && ((*line)[n - 1] == '\n' || (*line)[n - 1] == '\r')) (*line)[--n] = '\0';
    return n > 0 ? *line : NULL;
}

/* What was not told is asked for where somebody can answer; elsewhere it is told which is missing. */
static mor_provenance complete(mor_provenance p, const char* path, char* answers[ANSWERS])
{
    const struct {
        const char **value, *option, *question;
    } all[ANSWERS] = { { &p.author, "--author", "who made the problems" },
                       { &p.licence, "--licence", "under which terms may they be used" },
                       { &p.engine, "--engine", "the program that made them, with its version" },
                       { &p.commit, "--commit", "its commit" },
                       { &p.command, "--command", "how it was called" } };
    char missing[120] = "";
    size_t n = 0;
    for (int i = 0; i < ANSWERS; i++) {
        if (!*all[i].value && isatty(0)) *all[i].value = ask(all[i].question, &answers[i]);
        if (!*all[i].value) n += (size_t)snprintf(missing + n, sizeof missing - n, " %s", all[i].option);
    }
    if (n) fprintf(stderr, "moreau dataset: %s: where does it come from? not told:%s\n", path, missing);
    return p;
}

static mor_code keep_provenance(const arguments* a, const char* path, mor_error* error)
{
    char target[1024];
    const char* slash = strrchr(path, '/');
    char* answers[ANSWERS] = { NULL };
    mor_provenance p = complete(a->provenance, path, answers);
    mor_code code = MOR_OK;
    snprintf(target, sizeof target, "%s/%s", a->folder, slash ? slash + 1 : path);
    if (p.author || p.licence || p.engine || p.commit || p.command) code = mor_provenance_write(target, &p, error);
    for (int i = 0; i < ANSWERS; i++) free(answers[i]);
    return code;
}

static int page(const arguments* a)
{
    mor_error error = { 0 };
    int problems = 0;
    if (a->file_count != 1) return mor_cli_usage("dataset", "page of which folder?");
    const char* target = strcmp(a->folder, "dataset") == 0 ? "site" : a->folder;
    if (mor_dataset_page(a->files[0], target, &problems, &error)) return mor_cli_fail(&error);
    printf("%s/index.html: %d problems\n", target, problems);
    return 0;
}

static mor_site* serving;

static void interrupt(int signal)
{
    (void)signal;
    if (serving) mor_site_stop(serving);
}

static int serve_site(const arguments* a, const char* folder)
{
    mor_error error = { 0 };
    mor_site* site = mor_site_create(folder, a->address, a->port, &error);
    if (!site) return mor_cli_fail(&error);
    serving = site;
    struct sigaction action = { .sa_handler = interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    printf("%s\n", mor_site_url(site));
    fflush(stdout);
    fprintf(stderr, "open this address in a browser; Ctrl-C ends\n");
    mor_site_run(site);
    serving = NULL;
    mor_site_destroy(site);
    return 0;
}

static int serve(const arguments* a)
{
    mor_error error = { 0 };
    int problems = 0;
    char folder[1024];
    const char* temporary = getenv("TMPDIR");
    if (a->file_count != 1) return mor_cli_usage("dataset", "serve which folder?");
    bool kept = strcmp(a->folder, "dataset") != 0;
    snprintf(folder, sizeof folder, "%.900s/moreau-dataset-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!kept && !mkdtemp(folder)) {
        mor_fail(&error, MOR_SYSTEM, "%s: cannot be made: %s", folder, strerror(errno));
        return mor_cli_fail(&error);
    }
    const char* target = kept ? a->folder : folder;
    int status = mor_dataset_page(a->files[0], target, &problems, &error) ? mor_cli_fail(&error) : 0;
    if (!status) fprintf(stderr, "%d problems\n", problems);
    if (!status) status = serve_site(a, target);
    if (!kept) mor_dataset_page_remove(target);
    return status;
}

static int add(const arguments* a)
{
    mor_error error = { 0 };
    if (a->file_count == 0) return mor_cli_usage("dataset", "add which file?");
    mkdir(a->folder, 0777); /* a failure shows when the file is written */
    for (int i = 0; i < a->file_count; i++) {
        if (mor_dataset_add(a->folder, a->files[i], &error)) return mor_cli_fail(&error);
        if (judge(a->files[i], &error)) return mor_cli_fail(&error);
        printf("%s added to %s\n", a->files[i], a->folder);
        if (keep_provenance(a, a->files[i], &error)) return mor_cli_fail(&error);
    }
    return 0;
}

static int answer(const arguments* a)
{
    mor_error error = { 0 };
    int answered = 0;
    if (a->file_count != 3) return mor_cli_usage("dataset", "answer PROBLEMS.h5 ANSWERS.txt TARGET.h5");
    if (mor_dataset_answer(a->files[0], a->files[1], a->files[2], &answered, &error) || judge(a->files[2], &error))
        return mor_cli_fail(&error);
    printf("%s: answers to %d frames\n", a->files[2], answered);
    return 0;
}

static int export(const arguments* a)
{
    mor_error error = { 0 };
    int problems = 0;
    if (a->file_count == 0) return mor_cli_usage("dataset", "export which file?");
    mkdir(a->folder, 0777); /* a failure shows when the file is written */
    int status = 0;
    for (int i = 0; i < a->file_count; i++) /* what has no such form is told; the rest is written */
        if (mor_dataset_export(a->files[i], a->folder, &problems, &error)) status = mor_cli_fail(&error);
    printf("%d problems in %s\n", problems, a->folder);
    return status;
}

static const struct part {
    const char* name;
    int (*run)(const arguments*);
} parts[] = { { "build", build },   { "list", list },     { "info", info }, { "add", add },
              { "answer", answer }, { "export", export }, { "page", page }, { "serve", serve } };
enum { PARTS = sizeof parts / sizeof *parts };

int mor_cli_dataset(int argc, char** argv)
{
    arguments a = { .folder = "dataset" };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.what) return mor_cli_usage("dataset", "build, list, info, add, answer, export, page or serve?");
    const char* names[PARTS + 1] = { 0 };
    for (int i = 0; i < PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(a.what, names[i]) != 0) continue;
        if (i > 0) mor_cli_end_after("dataset", a.time_limit); /* build finishes its file (build_files) */
        return parts[i].run(&a);
    }
    return mor_cli_unknown("dataset", "command", a.what, names);
}
