/* The laboratory: every chosen formulation and solver on the same problems, under the same rules (docs/fairness.md).
 *
 *     mor_error error = { 0 };
 *     mor_lab lab;
 *     mor_lab_options options = mor_lab_options_default();
 *     mor_code code = mor_lab_begin(&lab, &options, &error);
 *     if (!code) code = mor_lab_add(&lab, "dataset/", &error);
 *     if (!code) code = mor_lab_run_all(&lab, NULL, false, NULL, NULL, &error);
 *     if (!code) mor_lab_write_html(&lab, stdout);
 *     mor_lab_end(&lab);
 *
 * A problem is a frame of a BPMD file (any formulation can be made from it) or a stored complementarity or contact
 * problem (formulation "-"). A run is a problem with a formulation, a solver and a tolerance. Runs happen in child
 * processes, one problem each: a method that crashes, eats memory or hangs costs its own runs only. Numbers other than
 * times do not depend on how many processes there are. */
#ifndef MOR_LAB_COMPARE_H
#define MOR_LAB_COMPARE_H

#include <stdio.h>

#include "lab/notes.h"
#include "moreau/plugin.h"
#include "moreau/scene.h"

/* Status of a run whose solver has changed the problem it was given; known in its process only, which ends. */
enum { MOR_LAB_CHANGED = 1000 };

enum { MOR_LAB_METHODS = 64, MOR_LAB_TOLS = 4, MOR_LAB_TRACE = 48, MOR_LAB_LATE = 2, MOR_LAB_PROBE = 3 };

/* What was too slow on MOR_LAB_LATE frames is taken to be too slow on larger ones: nowhere, on frames of the same file
 * with no fewer contacts, or also on frames of the same family with half as many contacts more. Every MOR_LAB_PROBE-th
 * of those is tried all the same; where one is solved, all smaller ones that were left out are tried after it. */
typedef enum mor_lab_assume { MOR_LAB_NOTHING, MOR_LAB_FILE, MOR_LAB_FAMILY } mor_lab_assume;

/* Where mor_lab_add is. */
typedef struct mor_lab_look {
    const char* place; /* a folder that is looked through, or a file that is read */
    int index, count;  /* the file is the index-th of so many, from 1 on; 0: files are still counted */
    int scenes;        /* of them; each is run to make steps */
    int step, steps;   /* of the scene that is run; 0: none */
} mor_lab_look;
/* Told in short intervals; false: nothing more is read. */
typedef bool (*mor_lab_reading)(void* user, const mor_lab_look* at);

typedef struct mor_lab_options {
    const mor_library* library;
    const char* formulations[MOR_LAB_METHODS + 1]; /* names; first NULL: ncp and st */
    const char* solvers[MOR_LAB_METHODS + 1];      /* names; first NULL: all */
    double tols[MOR_LAB_TOLS];                     /* descending */
    int tol_count;
    double time_limit;      /* s, per solve */
    double memory_gb;       /* per process */
    bool warm;              /* start from the stored impulses; else from zero */
    int jobs;               /* processes */
    int shard, shards;      /* only the families of the shard-th of so many parts, from 1 on; shards 0: all */
    int frames;             /* at most this many of each file, evenly spread */
    int traces;             /* problems whose iterations are followed */
    int assume;             /* mor_lab_assume */
    bool maximal;           /* frames of robots in maximal coordinates */
    double scene_limit;     /* CPU seconds of a whole run of a scene */
    const char* iterations; /* folder for the iterates of the followed runs; NULL: none */
    mor_plugin_error error; /* NULL, or a measure beside the judge's */
    const char* error_name;
    mor_lab_reading reading; /* NULL: nobody wants to know */
    void* reading_user;
    const volatile int* interrupt; /* see mor_world_set_interrupt; NULL: never */
    char command[2048];
} mor_lab_options;

MOR_API mor_lab_options mor_lab_options_default(void);

typedef struct mor_lab_problem {
    char name[256], family[64], kind[16];
    char path[1024];
    int frame; /* -1: a problem file */
    int bodies, contacts, rows, dof, islands;
    double mass_ratio;   /* largest over smallest mass that moves */
    int deficiency;      /* rows minus rank of W; -1: too large to tell */
    double condition;    /* largest over smallest nonzero eigenvalue of W; NaN: too large */
    double stored_error; /* of the impulses the file holds, in the exact Coulomb problem [m/s]; NaN: it holds none */
    char stored_by[64];  /* who made them */
    bool measured;
} mor_lab_problem;

typedef struct mor_lab_run {
    /* indices; formulation -1 for problem files, solver -1 for methods without */
    int problem, formulation, solver, tol;
    int status; /* mor_status */
    int iterations;
    double time_s;  /* solver alone, CPU */
    double total_s; /* with conversions and judging, CPU */
    double error;   /* what the tolerance refers to */
    mor_residual residual;
    double coulomb;    /* frames: error of the answer in the exact Coulomb problem [m/s], whatever the formulation */
    double user_error; /* of options.error; NAN: none */
    int sticking, sliding, open;
    bool assumed; /* not tried: see mor_lab_measure */
    char detail[120];
} mor_lab_run;

/* One whole run of a scene (trajectories.c). */
typedef struct mor_lab_scene {
    int scene, formulation, solver; /* indices; solver -1: the formulation has none */
    int level;                      /* step = the scene's / 2^level */
    bool reference;                 /* the run with the finest step, that errors refer to */
    bool last;                      /* of its scene */
    int status; /* mor_status; MOR_NOT_CONVERGED: steps that were used although their solver failed */
    int steps, done, failures;
    double step, error; /* s; m */
    double energy_start, energy_end, energy_gain, penetration, cpu_s;
    char detail[120];
} mor_lab_scene;

typedef struct mor_lab_trace {
    int problem, formulation, solver, count;
    double iteration[MOR_LAB_TRACE], time_s[MOR_LAB_TRACE], error[MOR_LAB_TRACE], natural[MOR_LAB_TRACE];
} mor_lab_trace;

typedef struct mor_lab {
    mor_lab_options options;
    const mor_formulation* formulations[MOR_LAB_METHODS];
    const mor_solver* solvers[MOR_LAB_METHODS];
    int formulation_count, solver_count;
    mor_lab_problem* problems;
    int problem_count, problem_capacity;
    mor_lab_run* runs; /* sorted by problem, formulation, solver, tol once the runs are over */
    int run_count, run_capacity;
    mor_lab_trace* traces;
    int trace_count, trace_capacity;
    char (*scene_names)[200], (*scene_paths)[1024];
    int scene_count;
    mor_lab_scene* scene_runs;
    int scene_run_count, scene_run_capacity;
    int planned; /* runs in all */
    bool complete;
    double wall_s, cpu_s; /* of this process and its children; with a journal, of all sessions */
    char temporary[256];  /* folder with frames of scenes; removed at the end */
    mor_lab_notes notes;  /* where files deviate from their format */
    /* writes the viewer with the frames that were followed into the page; NULL: it has none */
    void (*viewer)(const struct mor_lab* lab, FILE* out);
    const struct mor_lab_watch* watch; /* baseline.h: what became worse; NULL: nobody asked */
} mor_lab;

/* Chooses the methods. Unknown names are bad input. */
MOR_API mor_code mor_lab_begin(mor_lab* lab, const mor_lab_options* options, mor_error* error);
MOR_API void mor_lab_end(mor_lab* lab);
/* A BPMD file, a problem file, a scene (run once by its own methods to make frames), or a folder of those, whose scenes
 * are all read before the first is run. MOR_STOPPED: options.reading said so. */
MOR_API mor_code mor_lab_add(mor_lab* lab, const char* path, mor_error* error);

/* After the last mor_lab_add: named solvers that take none of the problems are noted. Bad input if that leaves
 * nothing. */
MOR_API mor_code mor_lab_check_solvers(mor_lab* lab, mor_error* error);

/* Told after every run: how many are done, how many there are. Returning false stops; what is done is kept. */
typedef bool (*mor_lab_progress)(void* user, const mor_lab* lab, int done, int planned);
/* `journal` (may be NULL): every result is appended to it at once; with `resume` what is in it is not run again. */
MOR_API mor_code mor_lab_run_all(mor_lab* lab, const char* journal, bool resume, mor_lab_progress progress, void* user,
                                 mor_error* error);

/* The whole runs of the scenes that were added; the journal as below, where `resume` is then to be true. */
MOR_API mor_code mor_lab_run_scenes(mor_lab* lab, const char* journal, bool resume, mor_lab_progress progress,
                                    void* user, mor_error* error);
/* Can this solver be asked for this formulation's problems? */
bool mor_lab_pairs(const mor_lab* lab, int formulation, int solver);

/* compare.c: all runs of one problem that `done` (planned_runs entries) does not have; results go to `emit`. Frames of
 * a file or family come in the order of mor_lab_before, so that what options.assume says does not depend on the number
 * of processes. */
typedef struct mor_lab_message {
    char kind; /* 'B' begins, 'R' result, 'T' trace, 'P' statistics of the problem, 'S' whole run of a scene, 'W' time
                  that has gone by, 'E' what was lost: a code as status, a sentence as detail */
    union {
        mor_lab_run run;
        mor_lab_trace trace;
        mor_lab_problem problem;
        mor_lab_scene scene;
        double time[2]; /* wall, CPU [s] */
    } as;
} mor_lab_message;
typedef void (*mor_lab_emit)(void* user, const mor_lab_message* message);
mor_code mor_lab_measure(const mor_lab* lab, int problem, const bool* done, bool traced, mor_lab_emit emit, void* user,
                         mor_error* error);
/* Is the problem, or the i-th scene, of this process's shard? Problems of a family are together. */
bool mor_lab_mine(const mor_lab* lab, int problem);
bool mor_lab_scene_mine(const mor_lab* lab, int scene);
/* Number of a run within its problem, or -1 if the pair does not fit. */
int mor_lab_slot(const mor_lab* lab, int problem, int formulation, int solver, int tol);
int mor_lab_slots(const mor_lab* lab);
bool mor_lab_traced(const mor_lab* lab, int problem);
/* Frames of one file (of one family, if that is assumed) by contacts, then name, then time. */
bool mor_lab_before(const mor_lab* lab, const mor_lab_problem* a, const mor_lab_problem* b);
/* Has the method of this run solved a frame that comes after the run's, at the same or a looser tolerance? */
bool mor_lab_solved_beyond(const mor_lab* lab, const mor_lab_run* run);

/* journal.c */
typedef struct mor_lab_journal mor_lab_journal;
/* Lines of these `kinds` (see mor_lab_message) are read back. */
mor_lab_journal* mor_lab_journal_open(const char* path, mor_lab* lab, bool resume, const char* kinds, mor_error* error);
mor_code mor_lab_journal_add(mor_lab_journal* journal, const mor_lab* lab, const mor_lab_message* message,
                             mor_error* error);
mor_code mor_lab_journal_close(mor_lab_journal* journal, mor_error* error);
/* The lines of several journals of the same conditions, as one that can be gone on with. Bad input: other conditions, a
 * file that is no journal. */
MOR_API mor_code mor_lab_journal_join(const char* const* files, int count, const char* path, mor_error* error);
void mor_lab_keep(mor_lab* lab, const mor_lab_message* message);
const mor_lab_run* mor_lab_find(const mor_lab* lab, int problem, int formulation, int solver, int tol);

/* report.c, output.c */
MOR_API void mor_lab_write_json(const mor_lab* lab, FILE* out);
MOR_API void mor_lab_write_csv(const mor_lab* lab, FILE* out);
MOR_API void mor_lab_write_html(const mor_lab* lab, FILE* out);
/* report_scenes.c */
void mor_lab_report_scenes(const mor_lab* lab, FILE* out);
const char* mor_lab_formulation_name(const mor_lab* lab, int formulation);
const char* mor_lab_solver_name(const mor_lab* lab, int solver);

#endif
