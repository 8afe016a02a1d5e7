/* The laboratory as the command sees it. There are two programs with the same commands:
 *
 *   moreau       holds the core: run, solve, robot, list. It starts quickly because it loads neither HDF5 nor cairo nor
 *                libwebsockets (cli/none/).
 *   moreau-lab   holds everything (cli/lab/). Nobody starts it by hand: moreau hands over to it, before it has done
 *                anything, when a command or an option needs the laboratory.
 *
 * Files of cli/ are in both programs and use the laboratory through this header only. */
#ifndef MOREAU_CLI_LABORATORY_H
#define MOREAU_CLI_LABORATORY_H

#include "io/problem/problem_file.h"
#include "moreau/scene.h"

/* argv as main got it; `command_needs_it`: the command is one of the laboratory's. In moreau: starts moreau-lab with
 * the same arguments in this process if they need it, and returns only otherwise (0) or when that fails (3, after a
 * sentence). In moreau-lab: 0. */
int mor_cli_hand_over(int argc, char** argv, bool command_needs_it);
/* The commands of the laboratory, by argv[0]. Never called in moreau. */
int mor_cli_laboratory(int argc, char** argv);

/* Problems of a run: a BPMD file with every `every`-th step. */
typedef struct mor_cli_problems {
    const char* path; /* NULL: not asked for */
    int every;
    bool paper;     /* in the names of the BPMD paper */
    int iterations; /* most iterates of a step that are stored */
} mor_cli_problems;

/* What `run` writes while it runs; NULL paths: not asked for. In moreau all of these fail with MOR_SYSTEM when they are
 * asked for something. */
typedef struct mor_cli_recording mor_cli_recording;
mor_cli_recording* mor_cli_recording_open(const char* recording, const mor_cli_problems* problems, mor_world* world,
                                          const mor_scene* scene, mor_error* error);
/* MOR_SYSTEM and a sentence as soon as something could not be written. `recording` may be NULL. */
mor_code mor_cli_recording_state(const mor_cli_recording* recording, mor_error* error);
/* Writes what is left. `recording` may be NULL. */
mor_code mor_cli_recording_close(mor_cli_recording* recording, mor_error* error);

/* Positions and velocities of the bodies of a world from a recording, by their names, at the frame nearest to `time`
 * (negative: the last). Bad input: a body that moves is not in it, or the world has robots. */
mor_code mor_cli_recording_start(const char* path, double time, mor_world* world, mor_error* error);

/* What `solve` reads and writes: problems of both formats (mor_problem_load), traces (io/hdf5/trace_file.h). */
mor_code mor_cli_problem_load(const char* path, const char* kind, mor_problem_file* file, mor_error* error);
typedef struct mor_trace_file mor_trace_file;
mor_code mor_cli_trace_create(const char* path, mor_trace_file** file, mor_error* error);
mor_code mor_cli_trace_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                           mor_error* error);
mor_code mor_cli_trace_close(mor_trace_file* file, mor_error* error);

#endif
