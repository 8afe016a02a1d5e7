/* Recordings and problem files of a run, see run_outputs.h: the only part of `moreau run` that needs the laboratory. */
#include "cli/run_outputs.h"
#include "io/bpmd.h"

#include <stdlib.h>

struct mor_cli_recording {
    mor_recorder* recorder;
    mor_bpmd_recorder* problems;
};

mor_cli_recording* mor_cli_recording_open(const char* record, const char* bpmd, int every, mor_world* world,
                                          const mor_scene* scene, mor_error* error)
{
    mor_cli_recording* r = calloc(1, sizeof *r);
    if (!r) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    bool good = true;
    if (record) {
        r->recorder = mor_recorder_open(record, world, scene, error);
        good = r->recorder && mor_world_add_observer(world, mor_recorder_observe, r->recorder, error) == MOR_OK;
    }
    if (good && bpmd) good = (r->problems = mor_bpmd_record(bpmd, world, scene, every, error)) != NULL;
    if (good) return r;
    mor_cli_recording_close(r, NULL);
    return NULL;
}

mor_code mor_cli_recording_close(mor_cli_recording* r, mor_error* error)
{
    if (!r) return MOR_OK;
    mor_code code = r->problems ? mor_bpmd_close(r->problems, error) : MOR_OK;
    if (r->recorder) {
        mor_code other = mor_recorder_close(r->recorder, code ? NULL : error);
        if (!code) code = other;
    }
    free(r);
    return code;
}
