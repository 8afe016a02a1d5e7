/* A sweep: the tasks of a plan, run in this machine's processes, with a journal, in shards or all at once.
 *
 *     mor_error error = { 0 };
 *     mor_sweep sweep;
 *     mor_sweep_options options = { .jobs = 2, .journal = "out.h5.journal" };
 *     mor_code code = mor_sweep_begin(&sweep, mor_plan_load("plan.yaml", &error), &options, &error);
 *     if (!code) code = mor_sweep_run(&sweep, &error);
 *     if (!code) code = mor_sweep_write_hdf5(&sweep, "out.h5", &error);
 *     mor_sweep_end(&sweep);
 *
 * Results do not depend on the number of processes, shards, ranks or interruptions. */
#ifndef MOR_LAB_SWEEP_H
#define MOR_LAB_SWEEP_H

#include <stdio.h>

#include "lab/farm.h"
#include "lab/plan.h"
#include "lab/trial.h"

/* Processes of one program on many machines (mpirun). They share a file system; every rank keeps a journal of its own,
 * and rank 0 gives out the tasks while it runs some itself. */
typedef mor_farm_part (*mor_ranks_give)(void* user, long wanted);
typedef struct mor_ranks {
    int own, count;
    void (*meet)(void);                /* all wait for each other */
    mor_farm_part (*ask)(long wanted); /* rank 0 for tasks, from another rank; wanted 0: this rank stops */
    /* Rank 0: answers those who ask. Returns how many ranks were told that there is nothing left, or stopped. */
    int (*serve)(mor_ranks_give give, void* user);
    mor_code (*worst)(mor_code code); /* of all ranks */
} mor_ranks;

typedef struct mor_sweep_options {
    const mor_library* library; /* NULL: the built-in methods */
    int jobs;                   /* processes */
    int shard, shards;          /* task t is of shard t mod shards + 1; 0: all of them */
    bool resume;                /* what the journal holds is not run again */
    const char* journal;        /* NULL: none */
    double time_limit;          /* seconds of a task; 0: none */
    /* Told now and then; false stops. May be NULL. */
    bool (*progress)(void* user, long done, long count);
    void* user;
    /* Where a scene is that is not beside the plan; may be NULL. Returns `path`. */
    const char* (*find_scene)(const char* name, char* path, size_t size);
    const mor_ranks* ranks; /* NULL: this process is alone */
} mor_sweep_options;

/* Why a task has no full result. */
typedef struct mor_sweep_note {
    long task;
    char detail[200];
} mor_sweep_note;

typedef struct mor_sweep {
    mor_plan* plan; /* owned */
    mor_sweep_options options;
    mor_trial* trials; /* one for each scene */
    int trial_count;
    uint64_t hash; /* of the plan and its scenes */
    long tasks;
    int measures;
    signed char* status; /* of every task; -1: no result here */
    uint64_t* state_hash;
    double* values; /* tasks x measures */
    long done;      /* with a result */
    mor_sweep_note* notes;
    long note_count, note_capacity;
    bool stopped;
} mor_sweep;

/* Takes the plan (NULL: fails with the error that is there), reads its scenes and checks every parameter and measure on
 * them: bad input has the position in the plan. Ends nothing on failure: call mor_sweep_end. */
mor_code mor_sweep_begin(mor_sweep* sweep, mor_plan* plan, const mor_sweep_options* options, mor_error* error);
/* Without scenes: for results that are there (mor_sweep_merge). */
mor_code mor_sweep_hold(mor_sweep* sweep, mor_plan* plan, mor_error* error);
void mor_sweep_end(mor_sweep* sweep);

/* Runs what has no result. MOR_SYSTEM: a disk that is full, no memory. */
mor_code mor_sweep_run(mor_sweep* sweep, mor_error* error);
/* Tasks of this shard. */
long mor_sweep_share(const mor_sweep* sweep);
/* Keeps a result. */
mor_code mor_sweep_keep(mor_sweep* sweep, long task, const mor_trial_result* result, mor_error* error);
/* The journal goes away when the results are written. */
void mor_sweep_forget_journal(const mor_sweep* sweep);

/* sweep_files.c. Rows in the order of the tasks; times are in none of them. */
void mor_sweep_write_csv(const mor_sweep* sweep, FILE* out);
mor_code mor_sweep_write_hdf5(const mor_sweep* sweep, const char* path, mor_error* error);
void mor_sweep_write_json(const mor_sweep* sweep, FILE* out);
/* sweep_merge.c. Takes the results of HDF5 files that shards wrote. The first one brings the plan, unless one is given,
 * which must then be the same. Bad input: files of other plans, tasks that are missing or differ. */
mor_code mor_sweep_merge(mor_sweep* sweep, mor_plan* plan, const char* const* files, int count, mor_error* error);
/* sweep_page.c: one page that needs nothing else. */
void mor_sweep_write_html(const mor_sweep* sweep, FILE* out);

#endif
