/* Files that older versions wrote (tests/old/VERSION): recordings, benchmark problems, traces, scenes. Every later
 * version reads them, and finds in them what was put there. tests/old/README.md says how they were made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"
#include "common/near.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/trace_file.h"
#include "io/recording/recording.h"
#include "moreau/moreau.h"

#define OLD MOREAU_SOURCE_DIR "/tests/old/"
static const char* const versions[] = { "0.1.0", NULL };

static const char* at(const char* version, const char* name)
{
    static char path[512];
    snprintf(path, sizeof path, OLD "%s/%s", version, name);
    return path;
}

/* sphere_drop, 20 steps of 0.01 s from 10 m: z = 10 - g h^2 n (n + 1) / 2. */
static void recordings(void** state)
{
    (void)state;
    for (int v = 0; versions[v]; v++) {
        mor_error error = { 0 };
        mor_recording* r = mor_recording_open(at(versions[v], "drop.h5"), &error);
        if (!r) fail_msg("%s", error.text);
        assert_int_equal(mor_recording_get_info(r)->frames, 21);
        int ball = mor_recording_find_body(r, "ball");
        assert_true(ball >= 0);
        double pose[21 * 7];
        assert_int_equal(mor_recording_body(r, ball, pose, NULL, &error), MOR_OK);
        assert_near(pose[20 * 7 + 2], 10.0 - 9.81e-4 * 20 * 21 / 2, 1e-9);
        mor_recording_close(r);
    }
}

static void benchmark_problems(void** state)
{
    (void)state;
    for (int v = 0; versions[v]; v++) {
        mor_error error = { 0 };
        mor_bpmd* file = mor_bpmd_open(at(versions[v], "slide.h5"), &error);
        if (!file) fail_msg("%s", error.text);
        assert_int_equal(mor_bpmd_count(file), 2);
        for (int i = 0; i < 2; i++) {
            mor_bpmd_frame f;
            if (mor_bpmd_read(file, i, &f, &error)) fail_msg("%s", error.text);
            assert_true(f.contact_count > 0);
            mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
            if (!w) fail_msg("%s", error.text);
            mor_world_destroy(w);
            mor_bpmd_frame_clear(&f);
        }
        mor_bpmd_free(file);
    }
}

static void traces(void** state)
{
    (void)state;
    for (int v = 0; versions[v]; v++) {
        mor_error error = { 0 };
        mor_trace_record* records;
        int count;
        if (mor_trace_file_read(at(versions[v], "trace.h5"), &records, &count, &error)) fail_msg("%s", error.text);
        assert_int_equal(count, 1);
        assert_true(records[0].count > 0);
        mor_trace_records_free(records, count);
    }
}

static void scenes(void** state)
{
    (void)state;
    static const char* const names[] = { "pyramid.yaml", "joints.yaml", NULL };
    for (int v = 0; versions[v]; v++)
        for (int i = 0; names[i]; i++) {
            mor_error error = { 0 };
            mor_scene* scene = mor_scene_load(at(versions[v], names[i]), NULL, NULL, &error);
            mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
            if (!w) fail_msg("%s", error.text);
            assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

static void commands_take_them(void** state)
{
    (void)state;
    char line[400];
    for (int v = 0; versions[v]; v++) {
        snprintf(line, sizeof line,
                 "O=$S/tests/old/%s; $M plot $O/drop.h5 energy -o a.svg && $M view $O/drop.h5 --html a.html "
                 "&& $M compare $O/slide.h5 --frames 1 --solvers nsgs --tol 1e-4 --quiet",
                 versions[v]);
        command_expect(line, 0, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings), cmocka_unit_test(benchmark_problems), cmocka_unit_test(traces),
        cmocka_unit_test(scenes),     cmocka_unit_test(commands_take_them),
    };
    return cmocka_run_group_tests_name("old_files", tests, command_open, command_close);
}
