/* make bench-solvers: every solver on every stored problem, beside Siconos.
 *
 *   bench_solvers PROBLEMS OUTPUT [--check CPCHECK] [--limit 3] [--seeds 5] [--only TEXT] [--quick]
 *
 * PROBLEMS holds INDEX.tsv and the problems; OUTPUT gets the reports. Times are CPU times, for ours of whole calls
 * (checks, conversions and the judge included) and of the solver alone, for Siconos of the driver; warm, repeated until
 * 10 ms, the best of several rounds. Every Siconos solver runs in a child, because it crashes on some repeated calls.
 *    Answers are judged by the library's judge and, with --check, by another program on
 * the written numbers. --seeds N: also the disguises 1 ... N of every problem that has them (`auto` only). --quick:
 * `auto` only. */
#include "bench.h"
#include "solver/measure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char* const bench_kinds[BENCH_KINDS + 1] = { "lcp",   "mlcp",  "fc2d",   "fc3d", "rfc3d",
                                                   "gfc2d", "gfc3d", "grfc3d", NULL };

typedef struct arguments {
    const char *problems, *output, *check, *only;
    double limit;
    int seeds;
    bool quick;
} arguments;

/* ----------------------------------------------------------------------------------- index */

static void field(const char* line, int number, char* text, size_t size)
{
    for (int k = 0; k < number && line; k++) line = strchr(line, '\t') ? strchr(line, '\t') + 1 : NULL;
    snprintf(text, size, "%.*s", line ? (int)strcspn(line, "\t\r\n") : 0, line ? line : "");
}

static bool read_index(const arguments* a, bench_set* set)
{
    char path[1100], line[4096], text[400];
    snprintf(path, sizeof path, "%s/INDEX.tsv", a->problems);
    FILE* f = fopen(path, "r");
    if (!f) return false;
    int solved = -1, norm = -1;
    for (bool head = true; fgets(line, sizeof line, f); head = false) {
        if (head) {
            for (int k = 0; k < 40; k++) {
                field(line, k, text, sizeof text);
                if (strcmp(text, "solved8") == 0) solved = k;
                if (strcmp(text, "norm_r") == 0) norm = k;
            }
            continue;
        }
        bench_entry e = { 0 };
        field(line, 0, e.name, sizeof e.name);
        field(line, 1, e.kind, sizeof e.kind);
        if (solved >= 0) field(line, solved, e.solved8, sizeof e.solved8);
        if (norm >= 0) field(line, norm, text, sizeof text), e.norm_r = strtod(text, NULL);
        if (!e.name[0] || (a->only && !strstr(e.name, a->only))) continue;
        snprintf(e.path, sizeof e.path, "%.800s/%s", a->problems, e.name);
        bench_entry* grown = realloc(set->entries, (size_t)(set->count + 1) * sizeof *grown);
        if (!grown) break;
        set->entries = grown;
        set->entries[set->count++] = e;
    }
    fclose(f);
    return set->count > 0;
}

static bench_run* add_run(bench_entry* e, const char* program, const char* solver)
{
    bench_run* grown = realloc(e->runs, (size_t)(e->run_count + 1) * sizeof *grown);
    if (!grown) exit(3);
    e->runs = grown;
    bench_run* r = &e->runs[e->run_count++];
    *r = (bench_run){ .time_s = NAN,
                      .alone_s = NAN,
                      .stored_s = NAN,
                      .relative = NAN,
                      .absolute = NAN,
                      .check_error = NAN,
                      .check_scaled = NAN };
    snprintf(r->program, sizeof r->program, "%s", program);
    snprintf(r->solver, sizeof r->solver, "%s", solver);
    return r;
}

/* ----------------------------------------------------------------------------------- check */

static bool write_numbers(const char* path, const double* x, int n)
{
    FILE* f = fopen(path, "w");
    if (!f) return false;
    for (int k = 0; k < n; k++) fprintf(f, "%.17g\n", x[k]);
    return fclose(f) == 0;
}

static double after(const char* text, const char* key)
{
    const char* at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* cpcheck on the written answer. */
static void check(const arguments* a, const bench_entry* e, const char* path, const mor_problem_file* file,
                  const double* z, bench_run* r)
{
    char answer[1100], velocity[1100], command[5000], line[1000] = "";
    const mor_problem* p = &file->problem;
    bool global = e->kind[0] == 'g';
    snprintf(answer, sizeof answer, "%s/answer.tmp", a->output);
    snprintf(velocity, sizeof velocity, "%s/velocity.tmp", a->output);
    if (!write_numbers(answer, z, global ? p->size : file->columns) ||
        (global && !write_numbers(velocity, z + p->size, p->M.rows)))
        return;
    snprintf(command, sizeof command, "'%s' -k %s '%s' '%s' '%s' 2>&1", a->check, e->kind, path, answer,
             global ? velocity : "");
    if (!global) snprintf(command, sizeof command, "'%s' -k %s '%s' '%s' 2>&1", a->check, e->kind, path, answer);
    FILE* f = popen(command, "r");
    if (f && fgets(line, sizeof line, f)) {
        r->checked = true;
        r->check_error = after(line, "error=");
        double scale = fmax(fmax(after(line, "norm_q="), after(line, "norm_u=")), fmax(e->norm_r, 2.2e-16));
        r->check_scaled = e->norm_r > 0.0 ? after(line, "abs=") / scale : 0.0;
    }
    if (f) pclose(f);
    remove(answer);
    remove(velocity);
}

/* ------------------------------------------------------------------------------------ ours */

typedef struct attempt {
    bool done;
    mor_report report;
    double time_s;
    double z[];
} attempt;

/* One run in a child that is stopped after `limit` seconds of CPU time, however loaded the machine is. */
static void limited(const mor_solver* solver, const mor_problem* p, double limit, attempt* out)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct itimerval end = { .it_value = { (time_t)limit, (suseconds_t)(1e6 * (limit - floor(limit))) } };
        setitimer(ITIMER_PROF, &end, NULL);
        mor_solve_options o = mor_solve_options_default();
        o.max_iter = 2000000000;
        double begin = mor_cpu_clock();
        out->report = mor_solve(solver, NULL, p, &o, out->z, NULL);
        out->time_s = mor_cpu_clock() - begin;
        out->done = true;
        _exit(0);
    }
    int status;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
}

static void ours(const arguments* a, bench_entry* e, const mor_problem_file* file, const mor_solver* solver,
                 mor_arena* arena)
{
    const mor_problem* p = &file->problem;
    bench_run* r = add_run(e, "moreau", solver->name);
    size_t count = (size_t)mor_problem_unknowns(p) + 1, bytes = sizeof(attempt) + count * sizeof(double);
    attempt* try = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double* z = calloc(count, sizeof *z);
    if (!z || try == MAP_FAILED) exit(3);
    bool automatic = strcmp(solver->name, "auto") == 0;
    mor_solve_options o = mor_solve_options_default();
    o.time_limit = automatic ? 600.0 : 0.0; /* on the wall: a guard only */
    if (!automatic) o.max_iter = 2000000000;
    double begin = mor_cpu_clock(), first;
    mor_report report = { .status = MOR_TIME_LIMIT, .residual = { .relative = NAN, .absolute = NAN } };
    if (automatic) {
        report = mor_solve(solver, NULL, p, &o, z, arena);
        first = mor_cpu_clock() - begin;
    } else {
        limited(solver, p, a->limit, try);
        if (try->done) report = try->report;
        first = try->time_s;
        memcpy(z, try->z, (count - 1) * sizeof *z);
    }
    munmap(try, bytes);
    mor_arena_reset(arena);
    r->solved = report.status == MOR_SOLVED;
    r->iterations = report.iterations;
    r->relative = report.residual.relative, r->absolute = report.residual.absolute;
    snprintf(r->status, sizeof r->status, "%s", mor_status_name(report.status));
    snprintf(r->detail, sizeof r->detail, "%s", report.detail);
    if (r->solved) {
        r->time_s = automatic || first >= 0.5 ? first : INFINITY; /* the clock of the child is coarse */
        if (a->check) {
            check(a, e, e->path, file, z, r);
            r->solved = !r->checked || r->check_error <= 1e-8;
        }
        for (int round = 0, rounds = automatic ? 7 : 3; round < rounds && (automatic || first < 0.5); round++) {
            double spent = 0.0;
            int calls = 0;
            for (int batch = 1; spent < 0.01; batch *= 2) {
                begin = mor_cpu_clock();
                for (int k = 0; k < batch; k++) {
                    mor_solve(solver, NULL, p, &o, z, arena);
                    mor_arena_reset(arena);
                }
                spent += mor_cpu_clock() - begin;
                calls += batch;
            }
            r->time_s = fmin(r->time_s, spent / calls);
            if (!(solver->accepts & p->form)) continue;
            double alone = mor_solve_measured(solver, NULL, p, &o, z, 0.01, arena).time_s;
            mor_arena_reset(arena);
            r->alone_s = round == 0 ? alone : fmin(r->alone_s, alone);
        }
    }
    if (r->solved && !(r->alone_s <= r->time_s)) r->alone_s = r->time_s;
    free(z);
}

/* --------------------------------------------------------------------------------- Siconos */

#ifdef HAVE_SICONOS
static void child(const bench_entry* e, const mor_problem* p, const char* name, const char* storage, double tol,
                  double enough, bench_shared* shared)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit core = { 0, 0 }; /* a limit of CPU time would make the CPU clock coarse */
        setrlimit(RLIMIT_CORE, &core);
        alarm(20);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        bench_siconos(e->kind, e->path, p, name, storage, tol, enough, shared);
        _exit(0);
    }
    int status;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
}

/* Text files: the number after the sizes (0 dense, 1 block, 2 sparse); FCLIB: sparse. */
static void find_storage(bench_entry* e)
{
    int before = strcmp(e->kind, "lcp") == 0 ? 1 : 2, skipped, storage = 2;
    FILE* f = strstr(e->name, ".dat") ? fopen(e->path, "r") : NULL;
    for (int k = 0; f && k < before; k++)
        if (fscanf(f, "%d", &skipped) != 1) break;
    if (f && fscanf(f, "%d", &storage) != 1) storage = 0;
    if (f) fclose(f);
    if (strcmp(e->kind, "mlcp") == 0) storage = 0;
    snprintf(e->storage, sizeof e->storage, "%s", storage == 0 ? "dense" : storage == 1 ? "block" : "sparse");
}

static void siconos(const arguments* a, bench_entry* e, const mor_problem_file* file, mor_arena* arena)
{
    enum { TRIED = 6 };
    const mor_problem* p = &file->problem;
    size_t bytes = sizeof(bench_shared) + ((size_t)mor_problem_unknowns(p) + 16) * sizeof(double);
    bench_shared* shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    char list[400];
    snprintf(list, sizeof list, "%s", e->solved8);
    int tried = 0;
    for (char *rest = list, *name; tried < TRIED && (name = strtok_r(rest, " ", &rest)) && strcmp(name, "-") != 0;
         tried++) {
        static const char* const storages[] = { "dense", "block", "sparse" };
        bool local = strstr("fc2d fc3d rfc3d", e->kind) != NULL;
        bench_run* best = NULL;
        for (int s = 0; s < 3; s++) {
            if (s == 0 && (p->size > 2500 || (e->kind[0] == 'g' && p->M.rows > 2500))) continue;
            if (s == 1 && !local) continue;
            if (s == 2 && strcmp(e->kind, "mlcp") == 0) continue;
            for (int strict = 0; strict < 2; strict++) {
                memset(shared, 0, bytes);
                bool as_stored = strcmp(storages[s], e->storage) == 0;
                double fastest = INFINITY; /* of all, or of those with the matrix as stored: a first call of five times
                                              that is not repeated */
                for (int k = 0; k < e->run_count; k++) {
                    double t = as_stored ? e->runs[k].stored_s : e->runs[k].time_s;
                    if (e->runs[k].solved && t < fastest) fastest = t;
                }
                child(e, p, name, storages[s], strict ? 1e-9 : 1e-8, fmax(5.0 * fastest, 0.003), shared);
                if (shared->calls == 0) break;
                mor_residual residual = mor_judge(p, shared->z, arena);
                mor_arena_reset(arena);
                double error = mor_judge_error(p, &residual);
                if (!(error <= 1e-8)) continue; /* its own measure may stop too early: once more with a tenth */
                if (a->check) { /* a scale at rounding level makes any answer good: it must be good on the scale of the
                                   solution too */
                    bench_run seen = { .check_scaled = 0.0 };
                    check(a, e, e->path, file, shared->z, &seen);
                    if (seen.check_scaled > 1e-7) continue;
                }
                if (!best) best = add_run(e, "siconos", name);
                if (strcmp(storages[s], e->storage) == 0) best->stored_s = shared->time_s;
                if (best->solved && best->time_s <= shared->time_s) break;
                best->solved = true;
                best->time_s = shared->time_s;
                best->iterations = shared->iterations;
                best->relative = residual.relative, best->absolute = residual.absolute;
                snprintf(best->storage, sizeof best->storage, "%s", storages[s]);
                snprintf(best->status, sizeof best->status, "solved");
                break;
            }
        }
        if (!best) snprintf(add_run(e, "siconos", name)->status, 16, "failed here");
    }
    munmap(shared, bytes);
}
#endif

/* ------------------------------------------------------------------------------- disguises */

static void disguises(const arguments* a, bench_set* set, mor_arena* arena)
{
    char path[1100], command[4000];
    snprintf(path, sizeof path, "%s/disguise.dat", a->output);
    for (int seed = 1; seed <= a->seeds; seed++)
        for (int k = 0; k < set->count; k++) {
            const bench_entry* e = &set->entries[k];
            if (strcmp(e->kind, "mlcp") == 0) continue; /* cpcheck has no disguises for them */
            snprintf(command, sizeof command, "'%s' -k %s -p %d -w '%s' > '%s'", a->check, e->kind, seed, e->path,
                     path);
            mor_problem_file file;
            mor_error error = { 0 };
            if (system(command) != 0 || mor_problem_load(path, e->kind, &file, &error)) {
                fprintf(stderr, "bench_solvers: %s, disguise %d: %s\n", e->name, seed, error.text);
                continue;
            }
            double* z = calloc((size_t)mor_problem_unknowns(&file.problem) + 1, sizeof *z);
            if (!z) exit(3);
            mor_solve_options o = mor_solve_options_default();
            o.time_limit = 60.0;
            mor_report report = mor_solve(mor_solver_builtin("auto"), NULL, &file.problem, &o, z, arena);
            mor_arena_reset(arena);
            bench_run r = { 0 };
            check(a, e, path, &file, z, &r);
            bool good = report.status == MOR_SOLVED && r.checked && r.check_error <= 1e-8 && r.check_scaled <= 1e-8;
            set->disguises++;
            set->disguises_solved += good;
            if (!good)
                printf("disguise %d of %s: %s, error %.2e, scaled %.2e (%s)\n", seed, e->name,
                       mor_status_name(report.status), r.check_error, r.check_scaled, report.detail);
            free(z);
            mor_problem_file_free(&file);
        }
    remove(path);
}

/* ------------------------------------------------------------------------------------ main */

static void conditions(bench_set* set)
{
    char line[256];
    FILE* f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(set->machine, sizeof set->machine, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
            break;
        }
    if (f) fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(line, sizeof line, f))
        snprintf(set->load, sizeof set->load, "%.*s", (int)strcspn(line, " \n"), line);
    if (f) fclose(f);
    snprintf(set->version, sizeof set->version, "%s", mor_version());
    time_t now = time(NULL);
    strftime(set->date, sizeof set->date, "%Y-%m-%d", gmtime(&now));
}

static bool parse(int argc, char** argv, arguments* a)
{
    *a = (arguments){ .limit = 3.0 };
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0) a->quick = true;
        else if (strncmp(argv[k], "--", 2) == 0 && k + 1 < argc) {
            const char *word = argv[k], *value = argv[++k];
            if (strcmp(word, "--check") == 0) a->check = value;
            else if (strcmp(word, "--only") == 0) a->only = value;
            else if (strcmp(word, "--limit") == 0) a->limit = strtod(value, NULL);
            else if (strcmp(word, "--seeds") == 0) a->seeds = (int)strtol(value, NULL, 10);
            else return false;
        } else if (!a->problems) a->problems = argv[k];
        else if (!a->output) a->output = argv[k];
        else return false;
    }
    return a->problems && a->output && (a->check || a->seeds == 0);
}

int main(int argc, char** argv)
{
    arguments a;
    if (!parse(argc, argv, &a)) {
        fprintf(stderr, "usage: bench_solvers PROBLEMS OUTPUT [--check CPCHECK] [--limit SECONDS] [--seeds N] [--only "
                        "TEXT] [--quick]\n");
        return 2;
    }
    bench_set set = { .limit = a.limit };
    if (!read_index(&a, &set)) {
        printf("SKIP: there is no %s/INDEX.tsv: no stored problems to measure on\n", a.problems);
        return 0;
    }
    conditions(&set);
    mor_arena* arena = mor_arena_create(NULL);
    mor_error error = { 0 };
    for (int k = 0; k < set.count; k++) {
        bench_entry* e = &set.entries[k];
        mor_problem_file file;
        if (mor_problem_load(e->path, e->kind, &file, &error)) {
            fprintf(stderr, "bench_solvers: %s\n", error.text);
            return 2;
        }
        e->size = file.problem.size, e->contacts = file.problem.contact_count;
#ifdef HAVE_SICONOS
        find_storage(e);
        siconos(&a, e, &file, arena);
#endif
        for (const mor_solver* const* s = mor_solvers(); *s; s++)
            if (mor_solver_applies(*s, file.problem.form) && (!a.quick || strcmp((*s)->name, "auto") == 0))
                ours(&a, e, &file, *s, arena);
        double theirs, stored;
        const bench_run *best = bench_best_siconos(e, false, &theirs), *mine = bench_find(e, "moreau", "auto");
        bench_best_siconos(e, true, &stored);
        printf("%-46s %-16s %9.2e stored %9.2e  auto %9.2e alone %9.2e  ratio %6.3f %6.3f  error %7.1e %7.1e  %s\n",
               e->name, best ? best->solver : "-", theirs, stored, mine ? mine->time_s : NAN,
               mine ? mine->alone_s : NAN, mine ? mine->time_s / theirs : NAN, mine ? mine->alone_s / stored : NAN,
               mine ? mine->check_error : NAN, mine ? mine->check_scaled : NAN,
               mine && !mine->solved ? mine->status : "");
        fflush(stdout);
        mor_problem_file_free(&file);
    }
    disguises(&a, &set, arena);
    if (bench_report(&set, a.output, &error)) {
        fprintf(stderr, "bench_solvers: %s\n", error.text);
        return error.code;
    }
    for (int k = 0; k < set.count; k++) free(set.entries[k].runs);
    free(set.entries);
    mor_arena_destroy(arena);
    return 0;
}
