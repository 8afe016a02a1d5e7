/* moreau dataset: build, describe and extend the database of benchmark problems. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "io/bpmd/bpmd.h"
#include "lab/compare.h"
#include "lab/dataset.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help_text[] =
    "usage: moreau dataset build [-o DIR] [--full] [--family F,...]\n"
    "       moreau dataset list\n"
    "       moreau dataset info DIR|FILE...\n"
    "       moreau dataset add FILE... [-o DIR]\n"
    "       moreau dataset export FILE... [-o DIR]\n\n"
    "build makes the benchmark problems from their recipes: small and medium sizes, with --full all of them; files "
    "that are there stay.\n"
    "info lists size, rank deficiency, conditioning and contacts per degree of freedom of every frame.\n"
    "add checks BPMD files of yours (docs/bpmd.md) and copies them into the folder.\n"
    "export writes every frame as FCLIB problems (HDF5, one per island) for other programs; moreau solve reads them "
    "too.\n"
    "DIR is `dataset` unless given. moreau compare DIR runs all methods on it.\n";

typedef struct arguments {
    const char *what, *folder, *family;
    const char* files[1024];
    int file_count;
    bool full, help;
} arguments;

static int parse(int argc, char** argv, arguments* a)
{
    static const char* const words[] = { "build", "list", "info", "add", "export", NULL };
    a->folder = "dataset";
    for (int i = 1; i < argc; i++) {
        const char* s = argv[i];
        if (strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0) a->help = true;
        else if (strcmp(s, "--full") == 0) a->full = true;
        else if (strcmp(s, "-o") == 0 || strcmp(s, "--family") == 0) {
            if (i + 1 == argc) return mor_cli_usage("dataset", "%s needs a value", s);
            *(s[1] == 'o' ? &a->folder : &a->family) = argv[i + 1];
            i++;
        } else if (s[0] == '-') return mor_cli_usage("dataset", "unknown option '%s'", s);
        else if (!a->what) a->what = s;
        else if (a->file_count < 1024) a->files[a->file_count++] = s;
    }
    if (a->help) return 0;
    if (!a->what) return mor_cli_usage("dataset", "build, list, info, add or export?");
    for (int k = 0; words[k]; k++)
        if (strcmp(words[k], a->what) == 0) return 0;
    const char* near = mor_did_you_mean(a->what, words);
    return mor_cli_usage("dataset", "unknown command '%s'; %s%s%s", a->what,
                         near ? "did you mean '" : "build, list, info, add or export", near ? near : "",
                         near ? "'?" : "");
}

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

static int build(const arguments* a)
{
    mor_error error = { 0 };
    if (mkdir(a->folder, 0777) != 0 && errno != EEXIST) {
        mor_fail(&error, MOR_SYSTEM, "%s: cannot be made: %s", a->folder, strerror(errno));
        return mor_cli_fail(&error);
    }
    int files = 0;
    double begin = mor_clock();
    for (const mor_family* f = mor_families; f->name; f++) {
        if (a->family && !listed(a->family, f->name)) continue;
        for (int k = 0; f->sizes[k] != 0.0 && (a->full || k < f->fast); k++) {
            bool built;
            double start = mor_clock();
            if (mor_dataset_build(a->folder, f, f->sizes[k], &built, &error)) return mor_cli_fail(&error);
            printf("%s/%s-%g.h5  ", a->folder, f->name, f->sizes[k]);
            if (built) printf("%.1f s\n", mor_clock() - start);
            else printf("is there\n");
            fflush(stdout);
            files++;
        }
    }
    if (files == 0) return mor_cli_usage("dataset", "no family is called '%s'; see moreau dataset list", a->family);
    printf("%d files in %.0f s\n", files, mor_clock() - begin);
    return 0;
}

static int list(void)
{
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

static int add(const arguments* a)
{
    mor_error error = { 0 };
    if (a->file_count == 0) return mor_cli_usage("dataset", "add which file?");
    mkdir(a->folder, 0777); /* a failure shows when the file is written */
    for (int i = 0; i < a->file_count; i++) {
        if (mor_dataset_add(a->folder, a->files[i], &error)) return mor_cli_fail(&error);
        printf("%s added to %s\n", a->files[i], a->folder);
    }
    return 0;
}

static int export(const arguments* a)
{
    mor_error error = { 0 };
    int problems = 0;
    if (a->file_count == 0) return mor_cli_usage("dataset", "export which file?");
    mkdir(a->folder, 0777); /* a failure shows when the file is written */
    for (int i = 0; i < a->file_count; i++)
        if (mor_dataset_export(a->files[i], a->folder, &problems, &error)) return mor_cli_fail(&error);
    printf("%d problems in %s\n", problems, a->folder);
    return 0;
}

int mor_cli_dataset(int argc, char** argv)
{
    arguments a = { 0 };
    int status = parse(argc, argv, &a);
    if (status) return status;
    if (a.help) {
        fputs(help_text, stdout);
        return 0;
    }
    switch (a.what[0]) {
    case 'b':
        return build(&a);
    case 'l':
        return list();
    case 'i':
        return info(&a);
    case 'e':
        return export(&a);
    default:
        return add(&a);
    }
}
