/* Files that older versions wrote (tests/old/VERSION): recordings, benchmark problems, traces, scenes. Every later
 * version reads them, and finds in them what was put there. Journals and snapshots are for going on with the version
 * that wrote them; another one says so and leaves them as they are. tests/old/README.md says how they were made. */
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
#include "lab/task_journal.h"
#include "moreau/moreau.h"

#define OLD MOREAU_SOURCE_DIR "/tests/old/"
static const char* const versions[] = { "0.1.0", "0.2.0", NULL };

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
    static const char* const names[] = { "pyramid.yaml", "joints.yaml", "bounce.yaml", "drop.yaml", NULL };
    for (int v = 0; versions[v]; v++)
        for (int i = 2 * v; i < 2 + 2 * v; i++) { /* two of each version */
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

/* The ball of the recording after 5 steps: the version that wrote the snapshot goes on with it, others refuse it. */
static void snapshots(void** state)
{
    (void)state;
    char line[400];
    for (int v = 0; versions[v]; v++) {
        bool own = strcmp(versions[v], MOR_VERSION_STRING) == 0;
        snprintf(line, sizeof line,
                 "$M run sphere_drop --from $S/tests/old/%s/drop.snapshot --steps 15 --quiet --csv on.csv",
                 versions[v]);
        command_expect(line, own ? 0 : 2, own ? NULL : "drop.snapshot: not a snapshot of this version");
        if (!own) continue;
        command_expect(
            "awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) n[$i] = i } END { print $n[\"time\"], $n[\"ball.z\"] }' "
            "on.csv",
            0, NULL);
        double t, z;
        assert_int_equal(sscanf(command_output, "%lf %lf", &t, &z), 2);
        assert_near(t, 0.2, 1e-12);
        assert_near(z, 10.0 - 9.81e-4 * 20 * 21 / 2, 1e-9);
    }
}

static void count_line(void* user, long task, uint64_t key, char* text)
{
    (void)task, (void)key, (void)text;
    ++*(int*)user;
}

/* Two of three tasks are in the journal of the sweep: z = 10 - g h^2 n (n + 1) / 2 whatever the ball weighs. */
static void journals_of_this_version_are_gone_on_with(void** state)
{
    (void)state;
    mor_error error = { 0 };
    const char *path = at("0.2.0", "sweep.journal"),
               *head = "moreau-sweep 1 version=0.2.0 plan=5653e1c963db76d6 tasks=3";
    int lines = 0;
    if (mor_task_journal_read(path, head, count_line, &lines, &error)) fail_msg("%s", error.text);
    assert_int_equal(lines, 2);
    if (strcmp(MOR_VERSION_STRING, "0.2.0") != 0) return;
    command_expect("cp $S/tests/old/0.2.0/* . && cp sweep.journal z.h5.journal && $M sweep sweep.yaml --jobs 1 -o z.h5 "
                   "--resume --quiet --csv z.csv && tail -n +2 z.csv | cut -d, -f3",
                   0, NULL);
    double z[3];
    assert_int_equal(sscanf(command_output, "%lf %lf %lf", &z[0], &z[1], &z[2]), 3);
    for (int i = 0; i < 3; i++) assert_near(z[i], 10.0 - 9.81e-4 * 20 * 21 / 2, 1e-9);
    /* what was in a journal stays in it and is not run again */
    command_expect(
        "cp calibrate.journal k.journal && $M calibrate fit.yaml --jobs 1 --quiet --journal k.journal --resume "
        "--csv a.csv && $M calibrate fit.yaml --jobs 1 --quiet --csv b.csv && cmp a.csv b.csv && cmp -n $(wc -c "
        "< calibrate.journal) k.journal calibrate.journal && test -z \"$(grep ^E k.journal | sort | uniq -d)\"",
        0, NULL);
    command_expect(
        "cp compare.journal c.html.journal && $M compare slide.h5 --frames 2 --solvers nsgs,nsn,admm "
        "--formulations ncp --tol 1e-4,1e-8,1e-10 --quiet --out c.html --jobs 1 --resume --csv c.csv && test "
        "$(wc -l < c.csv) = 19 && awk '$1 == \"R\" { printf \"%.6e\\n\", $8 }' compare.journal > times && test "
        "$(wc -l < times) = 9 && for t in $(cat times); do grep -q ,$t, c.csv || exit 7; done",
        0, NULL);
}

static void journals_of_other_versions_are_refused_and_stay(void** state)
{
    (void)state;
    command_expect(
        "cp $S/tests/old/0.1.0/slide.h5 . && cp $S/tests/old/0.1.0/compare.journal d.html.journal && $M compare "
        "slide.h5 --frames 2 --solvers nsgs,nsn,admm --formulations ncp --tol 1e-4,1e-8,1e-10 --quiet --out "
        "d.html --jobs 1 --resume",
        2, "d.html.journal: made under other conditions (moreau-compare 3 0.1.0");
    command_expect("cmp d.html.journal $S/tests/old/0.1.0/compare.journal && test ! -e d.html", 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings),
        cmocka_unit_test(benchmark_problems),
        cmocka_unit_test(traces),
        cmocka_unit_test(scenes),
        cmocka_unit_test(commands_take_them),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(journals_of_this_version_are_gone_on_with),
        cmocka_unit_test(journals_of_other_versions_are_refused_and_stay),
    };
    return cmocka_run_group_tests_name("old_files", tests, command_open, command_close);
}
