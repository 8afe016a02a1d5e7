/* Our solvers and those of Siconos on the same stored problems: what the files of this program share. */
#ifndef MOREAU_BENCH_SOLVERS_H
#define MOREAU_BENCH_SOLVERS_H

#include "io/fclib/fclib.h"
#include "moreau/solver.h"

enum { BENCH_KINDS = 8, BENCH_LONGEST_NAME = 32 };
extern const char* const bench_kinds[BENCH_KINDS + 1];

/* One solver on one problem. */
typedef struct bench_run {
    char program[8]; /* "moreau" or "siconos" */
    char solver[BENCH_LONGEST_NAME];
    char storage[8]; /* siconos: dense, block, sparse */
    bool solved;     /* judged; ours: within the limit of CPU time */
    char status[16];
    int iterations;
    double time_s;   /* best round, CPU, per call; NaN if not solved */
    double alone_s;  /* ours: without checks and the judge; the whole call where a conversion is needed */
    double stored_s; /* siconos: with the matrix as the file stores it; NaN: fails or does not apply */
    double relative, absolute;
    bool checked;                     /* cpcheck has seen the answer */
    double check_error, check_scaled; /* its relative error; absolute error over max(|q|, norm_r, |u|) */
    char detail[160];
} bench_run;

typedef struct bench_entry {
    char name[128], kind[8], path[1024];
    char solved8[400]; /* INDEX.tsv: what Siconos solved to 1e-8, fastest first; "-": none */
    double norm_r;     /* 0: not known */
    int size, contacts;
    char storage[8]; /* of the file's matrix: dense, block, sparse */
    bench_run* runs;
    int run_count;
} bench_entry;

typedef struct bench_set {
    bench_entry* entries;
    int count;
    double limit; /* CPU seconds per problem for named solvers */
    int disguises, disguises_solved;
    char machine[256], load[64], version[64], date[32];
} bench_set;

/* siconos.c: runs the solver called `name` (as in INDEX.tsv) in this process, which should be a child: Siconos crashes
 * on some repeated calls. Writes z (mor_problem_unknowns), and after every round the best time so far. A
 * first call of more than `enough` seconds is not repeated. */
typedef struct bench_shared {
    int calls; /* completed; 0: the solver is not there, or it died */
    int info, iterations;
    double time_s;
    double z[];
} bench_shared;
void bench_siconos(const char* kind, const char* path, const mor_problem* problem, const char* name,
                   const char* storage, double tol, double enough, bench_shared* out);
#ifdef HAVE_SICONOS
const char* bench_siconos_version(void);
#else
static inline const char* bench_siconos_version(void) { return "is not installed"; }
#endif

/* report.c */
/* The fastest; `stored`: with the matrix as the file stores it. *time is its time. NULL: none. */
const bench_run* bench_best_siconos(const bench_entry* entry, bool stored, double* time);
const bench_run* bench_find(const bench_entry* entry, const char* program, const char* solver);
/* solvers.csv, solvers.md, solvers-pairs.svg, solvers-contacts.svg in `directory`. */
mor_code bench_report(const bench_set* set, const char* directory, mor_error* error);

#endif
