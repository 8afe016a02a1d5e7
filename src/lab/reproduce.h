/* The experiments of the PEG paper, run again: data, figures and a page with the paper's claim beside our number.
 *
 * D. M. Flickinger, J. Williams, J. C. Trinkle, "Performance of a method for formulating geometrically exact
 * complementarity constraints in multibody dynamic simulation", J. Comput. Nonlinear Dyn. 10 (2015). */
#ifndef MOREAU_LAB_REPRODUCE_H
#define MOREAU_LAB_REPRODUCE_H

#include "moreau/moreau.h"

#include <stdio.h>

typedef struct mor_reproduce {
    const char* scenes;    /* directory of the scene files */
    const char* directory; /* where the results go */
    int threads;
    uint64_t seed;
    bool quick; /* fewer runs and larger steps: a look, not the experiment */
    void (*progress)(void* user, const char* figure, int done, int total); /* from any thread; may be NULL */
    void* user;
    int shard, shards; /* shards > 0: only every shards-th part, from the shard-th (from 1); no page */
    bool merge;        /* all parts must be there: they are put together, and the page is written */
} mor_reproduce;

/* One figure by its number in the paper ("7", "22"), "table1", or "all". Parts that are already in the directory are
 * not computed again. */
mor_code mor_reproduce_run(const mor_reproduce* setting, const char* figure, mor_error* error);

/* ---- what the figures share (reproduce.c) */

/* A path in the directory of the results. */
typedef struct mor_path {
    char text[4096];
} mor_path;
mor_path mor_reproduce_path(const mor_reproduce* setting, const char* format, ...) MOR_PRINTF(2, 3);
/* A path of an intermediate result; its name tells seed and extent, so that other settings do not find it. */
mor_path mor_reproduce_part(const mor_reproduce* setting, const char* format, ...) MOR_PRINTF(2, 3);
/* Is the part with this number one of this shard's? */
bool mor_reproduce_own(const mor_reproduce* setting, int index);
/* A part that a merge does not find. */
mor_code mor_reproduce_missing(const char* path, mor_error* error);
/* Opens a file to be renamed to `path` by mor_reproduce_close, so that a part is either there or not. */
FILE* mor_reproduce_open(const char* path);
mor_code mor_reproduce_close(FILE* file, const char* path, mor_error* error);
/* Runs `count` tasks on the setting's threads with progress. */
mor_code mor_reproduce_tasks(const mor_reproduce* setting, const char* figure, int count,
                             void (*task)(void* user, int index, int worker), void* user, mor_error* error);
/* A world from a scene of the setting, with overrides; NULL and a sentence on failure. *scene must be destroyed after
 * it. */
mor_world* mor_reproduce_world(const mor_reproduce* setting, const char* name, const char* const* sets,
                               mor_scene** scene, mor_error* error);
double mor_median(double* values, int count);

/* A fragment of the page: heading and rows "claim | ours | verdict", then pictures. */
typedef struct mor_fragment {
    FILE* file;
    mor_path path;
} mor_fragment;
bool mor_fragment_begin(mor_fragment* f, const mor_reproduce* setting, const char* figure, const char* title);
void mor_fragment_claim(mor_fragment* f, const char* claim, bool holds, const char* format, ...) MOR_PRINTF(4, 5);
void mor_fragment_text(mor_fragment* f, const char* format, ...) MOR_PRINTF(2, 3);
void mor_fragment_picture(mor_fragment* f, const char* file, const char* caption);
mor_code mor_fragment_end(mor_fragment* f, mor_error* error);

/* the figures */
mor_code mor_reproduce_energy(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_hills(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_sawtooth(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_steps(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_rod(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_spheres(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_joints(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_grasp(const mor_reproduce* setting, mor_error* error);
mor_code mor_reproduce_tables(const mor_reproduce* setting, mor_error* error);

#endif
