/* One run of one method on one problem: compare.c measures, compare_runs.c decides which. */
#ifndef MOR_LAB_COMPARE_RUN_H
#define MOR_LAB_COMPARE_RUN_H

#include "io/bpmd/bpmd.h"
#include "io/hdf5/iteration_file.h"
#include "lab/compare.h"

/* All islands of a frame by one formulation and solver. `trace`: the largest island, followed, and nothing else unless
 * `iterations` (one per island) are wanted. `order`: the frame's contact behind each of the world's. */
void mor_lab_run_frame(const mor_lab* lab, const mor_world* w, mor_lab_run* run, mor_trace* trace,
                       mor_iterations* iterations, const int* order, mor_arena* arena);
/* A stored problem by one solver. */
void mor_lab_run_problem(const mor_lab* lab, const mor_problem* problem, mor_lab_run* run, mor_trace* trace,
                         mor_iterations* iterations, mor_arena* arena);
/* All NaN. */
mor_residual mor_lab_no_residual(void);
/* MOR_LAB_TRACE points, denser at the start; the last one is always kept. */
void mor_lab_thin_trace(const mor_trace* from, bool step, mor_lab_trace* to);
/* Into the folder of options.iterations. */
mor_code mor_lab_store_iterations(const mor_lab* lab, const mor_lab_problem* p, int formulation, int solver,
                                  const mor_iterations* islands, int count, mor_error* error);
/* Sizes, rank, conditioning and mass ratio of a frame. */
void mor_lab_measure_frame(const mor_bpmd_frame* f, const mor_world* w, mor_lab_problem* p);
/* The impulses that the frame came with, judged in the exact Coulomb problem; frames with joints have none to judge. */
void mor_lab_judge_stored(const mor_bpmd_frame* f, const mor_world* w, const int* order, mor_lab_problem* p);

#endif
