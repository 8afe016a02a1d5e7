/* The laboratory in the program moreau-lab: its commands, recordings, traces, FCLIB. */
#include "cli/laboratory.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "io/hdf5/trace_file.h"
#include "moreau/lab.h"

int mor_cli_hand_over(int argc, char** argv, bool command_needs_it)
{
    (void)argc, (void)argv, (void)command_needs_it;
    H5dont_atexit(); /* all files are closed before the end; after a disk that was full HDF5 would crash there */
    return 0;
}

int mor_cli_laboratory(int argc, char** argv)
{
    static const struct {
        const char* name;
        int (*run)(int, char**);
    } commands[] = { { "compare", mor_cli_compare },
                     { "dataset", mor_cli_dataset },
                     { "plot", mor_cli_plot },
                     { "reproduce", mor_cli_reproduce },
                     { "view", mor_cli_view } };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[0], commands[i].name) == 0) return commands[i].run(argc, argv);
    mor_error error = { 0 };
    mor_fail(&error, MOR_SYSTEM, "the command '%s' is not in the laboratory's table", argv[0]);
    return mor_cli_fail(&error);
}

struct mor_cli_recording {
    mor_recorder* recording;
    mor_bpmd_recorder* problems;
};

mor_cli_recording* mor_cli_recording_open(const char* recording, const char* problems, int problems_every,
                                          mor_world* world, const mor_scene* scene, mor_error* error)
{
    mor_cli_recording* r = calloc(1, sizeof *r);
    if (!r) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    bool good = true;
    if (recording) {
        r->recording = mor_recorder_open(recording, world, scene, error);
        good = r->recording && mor_world_add_observer(world, mor_recorder_observe, r->recording, error) == MOR_OK;
    }
    if (good && problems) {
        r->problems = mor_bpmd_record(problems, world, scene, problems_every, error);
        good = r->problems != NULL;
    }
    if (good) return r;
    mor_cli_recording_close(r, NULL);
    return NULL;
}

mor_code mor_cli_recording_state(const mor_cli_recording* recording, mor_error* error)
{
    if (!recording) return MOR_OK;
    mor_code code = recording->recording ? mor_recorder_state(recording->recording, error) : MOR_OK;
    if (!code && recording->problems) code = mor_bpmd_state(recording->problems, error);
    return code;
}

mor_code mor_cli_recording_close(mor_cli_recording* recording, mor_error* error)
{
    if (!recording) return MOR_OK;
    mor_code code = MOR_OK;
    if (recording->problems) code = mor_bpmd_close(recording->problems, error);
    if (recording->recording) {
        mor_code also = mor_recorder_close(recording->recording, code ? NULL : error);
        if (!code) code = also;
    }
    free(recording);
    return code;
}

mor_code mor_cli_problem_load(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    return mor_problem_load(path, kind, file, error);
}

mor_code mor_cli_trace_create(const char* path, mor_trace_file** file, mor_error* error)
{
    return mor_trace_file_create(path, file, error);
}

mor_code mor_cli_trace_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                           mor_error* error)
{
    return mor_trace_file_add(file, problem, solver, trace, error);
}

mor_code mor_cli_trace_close(mor_trace_file* file, mor_error* error) { return mor_trace_file_close(file, error); }
