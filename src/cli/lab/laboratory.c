/* The laboratory in the program moreau-lab: its commands, recordings, traces, FCLIB. */
#include "cli/laboratory.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/trace_file.h"
#include "io/recording/recording.h"
#include "io/scene/scene_visual.h"
#include "moreau/lab.h"

int mor_cli_hand_over(int argc, char** argv, bool command_needs_it)
{
    (void)argc, (void)argv, (void)command_needs_it;
    mor_h5_no_end(); /* all files are closed before the end */
    return 0;
}

int mor_cli_laboratory(int argc, char** argv)
{
    static const struct {
        const char* name;
        int (*run)(int, char**);
    } commands[] = { { "calibrate", mor_cli_calibrate }, { "compare", mor_cli_compare },
                     { "dataset", mor_cli_dataset },     { "inverse", mor_cli_inverse },
                     { "landscape", mor_cli_landscape }, { "plot", mor_cli_plot },
                     { "reproduce", mor_cli_reproduce }, { "sweep", mor_cli_sweep },
                     { "trust", mor_cli_trust },         { "view", mor_cli_view } };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[0], commands[i].name) == 0) return commands[i].run(argc, argv);
    mor_error error = { 0 };
    mor_fail(&error, MOR_SYSTEM, "the command '%s' is not in the laboratory's table", argv[0]);
    return mor_cli_fail(&error);
}

/* The frame nearest to a time; -1 with a sentence. */
static int nearest_frame(const mor_recording* r, double time, mor_error* error)
{
    int frames = mor_recording_get_info(r)->frames, best = frames - 1;
    if (frames == 0) return mor_fail(error, MOR_BAD_INPUT, "the recording has no frames"), -1;
    double* times = malloc((size_t)frames * sizeof *times);
    if (!times) return mor_fail(error, MOR_SYSTEM, "out of memory"), -1;
    if (time >= 0.0) {
        if (mor_recording_series(r, "/time", times, error)) best = -1;
        for (int i = 0; best >= 0 && i < frames; i++)
            if ((times[i] - time) * (times[i] - time) < (times[best] - time) * (times[best] - time)) best = i;
        if (best >= 0 && time > times[frames - 1] * (1.0 + 1e-9) + 1e-9)
            best = (mor_fail(error, MOR_BAD_INPUT, "the recording ends at %g s, before %g s", times[frames - 1], time),
                    -1);
    }
    free(times);
    return best;
}

static mor_code start_bodies(const mor_recording* r, int frame, mor_world* w, mor_error* error)
{
    int frames = mor_recording_get_info(r)->frames;
    double* pose = malloc((size_t)frames * 13 * sizeof *pose);
    if (!pose) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = MOR_OK;
    for (int i = 0; i < mor_world_body_count(w) && !code; i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        int index = mor_recording_find_body(r, mor_body_name(w, id));
        if (index < 0)
            code =
                mor_fail(error, MOR_BAD_INPUT, "body '%s' of the scene is not in the recording", mor_body_name(w, id));
        else code = mor_recording_body(r, index, pose, pose + 7 * (size_t)frames, error);
        if (code) break;
        const double *p = pose + 7 * (size_t)frame, *v = pose + 7 * (size_t)frames + 6 * (size_t)frame;
        mor_body_state s = { .pose = { { p[0], p[1], p[2] }, { p[3], p[4], p[5], p[6] } },
                             .velocity = { v[0], v[1], v[2] },
                             .angular_velocity = { v[3], v[4], v[5] } };
        mor_body_set_state(w, id, &s);
    }
    free(pose);
    return code;
}

mor_code mor_cli_recording_start(const char* path, double time, mor_world* world, mor_error* error)
{
    mor_error inner = { 0 };
    if (mor_world_robot_count(world) > 0)
        return mor_fail(error, MOR_BAD_INPUT,
                        "%.200s: robots begin where their scene says; start bodies alone, or from a snapshot", path);
    mor_recording* r = mor_recording_open(path, error);
    if (!r) return error->code;
    mor_code code = MOR_OK;
    int frame = nearest_frame(r, time, &inner);
    code = frame < 0 ? inner.code : start_bodies(r, frame, world, &inner);
    mor_recording_close(r);
    return code ? mor_fail(error, code, "%.200s: %s", path, inner.text) : MOR_OK;
}

struct mor_cli_recording {
    mor_recorder* recording;
    mor_bpmd_recorder* problems;
};

/* Visual files that are missing, told once. */
static void tell_visuals(const mor_scene* scene)
{
    mor_visuals* visuals = mor_visuals_read(scene);
    if (visuals && *visuals->notes) fputs(visuals->notes, stderr);
    mor_visuals_free(visuals);
}

mor_cli_recording* mor_cli_recording_open(const char* recording, const mor_cli_problems* problems, mor_world* world,
                                          const mor_scene* scene, mor_error* error)
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
        if (good && scene) tell_visuals(scene);
    }
    if (good && problems->path) {
        r->problems = (problems->paper ? mor_bpmd_record_paper : mor_bpmd_record)(problems->path, world, scene,
                                                                                  problems->every, error);
        good = r->problems != NULL;
        if (good) mor_bpmd_record_iterations(r->problems, problems->iterations);
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
