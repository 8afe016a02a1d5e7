#define _DEFAULT_SOURCE /* mknod */
/* What the command writes: files are there whole or not at all, devices and pipes stay what they are, lost output is
 * exit status 3, and a run that is asked to stop closes its files. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/command.h"
#include "io/recording/recording.h"
#include "io/text/output.h"
#include "io/text/text_file.h"
#include "moreau/moreau.h"
#include "moreau/solver.h"

static void regular_files_are_replaced_through_links(void** state)
{
    (void)state;
    command_expect(
        "echo old >real.csv; chmod 640 real.csv; ln -s real.csv link.csv; ln -s nowhere.csv dangling.csv; "
        "$M run sphere_drop --steps 5 --quiet --csv link.csv && test -h link.csv && test ! -h real.csv && "
        "test $(stat -c %a real.csv) = 640 && head -c 4 real.csv | grep -q time && "
        "$M run sphere_drop --steps 5 --quiet --csv dangling.csv && test -h dangling.csv && test -s nowhere.csv",
        0, NULL);
    command_expect("test -z \"$(ls -a | grep part)\"", 0, NULL);
}

static void pipes_and_devices_stay_what_they_are(void** state)
{
    (void)state;
    command_expect(
        "mkfifo pipe; cat pipe >copy.csv & $M run sphere_drop --steps 5 --quiet --csv pipe && wait && test -p pipe && "
        "test $(wc -l <copy.csv) = 6",
        0, NULL);
    command_expect("$M run sphere_drop --steps 5 --csv - && test $(wc -l <out) = 6 && head -c 4 out | grep -q time", 0,
                   NULL);
    command_expect("$M run sphere_drop --steps 5 --csv - --json", 2, "standard output");
    if (getuid() != 0 || mknod(command_at("full"), S_IFCHR | 0666, makedev(1, 7)) != 0) {
        print_message("SKIP: needs to make a device\n");
        skip();
    }
    static const char* const lines[] = {
        "$M run sphere_drop --steps 5 --quiet --csv $F",
        "$M run sphere_drop --steps 50000 --quiet --csv $F", /* told when it happens, not at the end */
        "$M run sphere_drop --steps 5 --quiet --record r.h5 && $M view r.h5 --html $F",
        "$M solve p_lcp.dat --kind lcp --solution $F",
        "$M compare s4_slide --frames 1 --scene-limit 0 --solvers nsgs --csv $F --quiet",
        "$M run sphere_drop --steps 5 --json >$F",
        "$M list solvers >$F",
    };
    char line[1024];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(line, sizeof line, "F=full; printf '1\\n0\\n1\\n1\\n1\\t1\\n2\\n-1\\n' >p_lcp.dat; %s", lines[i]);
        command_expect(line, 3, i < 5 ? "No space left on device" : NULL);
        struct stat what;
        assert_true(stat(command_at("full"), &what) == 0 && S_ISCHR(what.st_mode));
    }
    unlink(command_at("full"));
}

static void binary_formats_want_a_regular_file(void** state)
{
    (void)state;
    command_expect("mkfifo binary; $M run sphere_drop --steps 5 --quiet --record binary", 2, "not a regular file");
    command_expect("$M run sphere_drop --steps 5 --quiet --record -", 2, "not a regular file");
    command_expect("$M run sphere_drop --steps 5 --quiet --bpmd -", 2, "not a regular file");
    command_expect("printf '1\\n0\\n1\\n1\\n1\\t1\\n2\\n-1\\n' >t.dat; $M solve t.dat --kind lcp --trace binary", 2,
                   "not a regular file");
    command_expect("$M run sphere_drop --steps 5 --quiet --csv .", 3, "Is a directory");
    command_expect("$M run sphere_drop --steps 5 --quiet --csv no/such/folder.csv", 3, "No such file");
}

static void no_file_is_read_and_written_or_written_twice(void** state)
{
    (void)state;
    command_expect(
        "printf 'moreau: 1\\nbodies: [{ name: b, shape: { sphere: 0.2 } }]\\n' >own.yaml; cp own.yaml kept.yaml; "
        "ln -s own.yaml own.csv; $M run own.yaml --steps 3 --quiet --record own.h5 && cp own.h5 kept.h5",
        0, NULL);
    command_expect("$M run own.yaml --steps 2 --csv own.yaml", 2, "--csv own.yaml: this file is read");
    command_expect("$M run own.yaml --steps 2 --csv own.csv", 2, "would be overwritten");
    command_expect("$M run own.yaml --steps 2 --snapshot ../$(basename $PWD)/own.yaml", 2, "is read");
    command_expect("$M view own.h5 --html own.h5", 2, "--html own.h5: this file is read");
    command_expect("$M solve own.h5 --trace own.h5", 2, "is read");
    command_expect("$M run own.yaml --steps 2 --csv twice.h5:2 --record ./twice.h5", 2,
                   "--csv and --record both write");
    command_expect("$M compare own.yaml --csv a.html --out a.html", 2, "--csv and --out both write a.html");
    /* a command that solves nothing leaves an old trace alone */
    command_expect("echo nonsense >bad_lcp.dat; echo old >old.h5; $M solve bad_lcp.dat --kind lcp --trace old.h5", 2,
                   "not a number");
    command_expect("grep -q old old.h5", 0, NULL);
    command_expect("cmp own.yaml kept.yaml && cmp own.h5 kept.h5 && test ! -e twice.h5 && test ! -e a.html", 0, NULL);
    /* a snapshot that is gone on from may be renewed; devices may be named twice */
    command_expect("$M run own.yaml --steps 2 --quiet --snapshot on && $M run own.yaml --from on --steps 2 --quiet "
                   "--snapshot on && $M run own.yaml --steps 2 --quiet --csv /dev/null --snapshot /dev/null",
                   0, NULL);
}

static void a_disk_quota_leaves_the_old_file_and_nothing_else(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "$M run sphere_drop --steps 2000 --quiet --csv old.csv",
        "$M run sphere_drop --steps 200 --quiet --bpmd new.h5",
        "$M view whole.h5 --html old.html",
        "$M plot whole.h5 energy -o old.svg",
    };
    command_expect("$M run sphere_drop --steps 2000 --quiet --record whole.h5", 0, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "for f in old.csv old.html old.svg; do echo old >$f; done; trap '' XFSZ; ulimit -f 16; %s", lines[i]);
        command_expect(line, 3, "File too large"); /* ulimit -f stands in for the full disk */
        command_expect("test \"$(cat old.csv old.html old.svg)\" = \"$(printf 'old\\nold\\nold')\" && "
                       "test -z \"$(ls -a | grep part)\"",
                       0, NULL);
    }
}

/* More than fits into the buffer of standard output: the write fails where it is made, not at the end. */
static void long_documents_that_are_lost_are_told(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "$M run s1 --steps 30 --quiet --json --at 0.1,0.2,0.3 > /dev/full",
        "$M run s1 --steps 30 --quiet --csv - > /dev/full",
        "$M robot $S/scenes/robots/humanoid.urdf --json > /dev/full",
        "$M derivative s1 --json > /dev/full",
        "$M list solvers --json > /dev/full",
        "$M view s1 --time 0.01 --html - > /dev/full",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        command_expect(lines[i], 3, "moreau");
        if (!strstr(command_errors, "cannot") && !strstr(command_errors, "could not"))
            fail_msg("%s: %s", lines[i], command_errors);
    }
}

/* A command that a signal reaches when it is under way: on a busy machine it gets more time until it is. */
static void interrupted(const char* name, const char* command, int status, const char* says)
{
    for (double seconds = 0.5; seconds < 200.0; seconds *= 4.0) {
        char line[512];
        snprintf(line, sizeof line, "rm -rf b.h5 built; timeout --preserve-status -k 60 -s %s %g $M %s", name, seconds,
                 command);
        int ended = command_run(line);
        if (ended != status) fail_msg("'%s' exits with %d, expected %d: %s", line, ended, status, command_errors);
        if (strstr(command_errors, says)) return;
    }
    fail_msg("'%s' does not say '%s' but '%s'", command, says, command_errors);
}

static void a_signal_ends_a_run_properly(void** state)
{
    (void)state;
    interrupted("INT", "run sphere_drop --steps 2000000000 --csv i.csv --record i.h5", 130,
                "interrupted (SIGINT) after step");
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(command_at("i.h5"), &error);
    if (!r) fail_msg("%s", error.text);
    int frames = mor_recording_get_info(r)->frames;
    mor_recording_close(r);
    int step = 0;
    assert_int_equal(sscanf(strstr(command_errors, "after step"), "after step %d", &step), 1);
    assert_int_equal(frames, step + 1); /* and the state before the first */
    char line[256];
    snprintf(line, sizeof line, "test $(wc -l <i.csv) = %d && test -z \"$(ls -a | grep part)\"", step + 1);
    command_expect(line, 0, NULL);
    command_expect("$M run sphere_drop --steps 7 --quiet --snapshot i.snap", 0, NULL);
    interrupted("INT", "run sphere_drop --from i.snap --steps 2000000000", 130, " of 2000000007, at t");
    interrupted("TERM", "run sphere_drop --steps 2000000000 --json", 143, "SIGTERM");
    assert_non_null(strstr(command_output, "\"stopped_by\": \"interrupted (SIGTERM)\""));
    command_expect("$M run sphere_drop --steps 2000000000 --quiet --time-limit 0.3", 1, "the time limit has passed");
    command_expect("$M run sphere_drop --time-limit 0", 2, "expected seconds");
}

/* Frames are written more slowly than these steps are taken: what waits must not hold up the end. */
static void a_signal_ends_what_builds_problems(void** state)
{
    (void)state;
    interrupted("INT", "run sphere_drop --steps 2000000000 --quiet --bpmd b.h5", 130,
                "interrupted (SIGINT) after step");
    command_expect("$M dataset info b.h5", 0, NULL);
    interrupted("TERM", "dataset build --full -o built", 143, "interrupted (SIGTERM) after");
    command_expect("test -d built && test -z \"$(ls -a built | grep building)\"", 0, NULL);
}

/* Each line takes many times longer without its limit. */
static void every_long_command_has_a_time_limit(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "$M doctor s3 --limit 1000 --json --time-limit 0.3",
        "$M derivative s3 --steps 100000 --json --time-limit 0.3",
        "$M optimise s3 --end 100 --vary velocity:box_0_0_0.x --goal velocity:box_0_0_0.x=1 --json --time-limit 0.3",
        "$M reproduce 18 -o papers --time-limit 0.3",
        "$M inverse s4_slide --motion long.csv --csv forces.csv --time-limit 0.02",
        "$M calibrate fit.yaml --jobs 1 --quiet --csv fit.csv --time-limit 0.3",
        "$M dataset build --full -o limited --time-limit 0.3",
    };
    command_expect("$M run s4_slide --steps 20000 --set time.end=1e3 --quiet --csv long.csv", 0, NULL);
    command_expect("printf 'moreau-calibrate: 1\nscene: s4_slide\ndata: { file: long.csv, time: time, columns: "
                   "{ bodies.box.position: [box.x, box.y, box.z] } }\nparameters:\n  - { path: "
                   "materials.stone.friction, range: [0.1, 0.6], start: 0.4 }\noptimiser: { name: sbplx, starts: 50, "
                   "evaluations: 1000 }\n' >fit.yaml",
                   0, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        command_expect(lines[i], 1, "the time limit has passed");
        if (!strstr(lines[i], "dataset")) assert_string_equal(command_output, ""); /* which tells every file */
    }
    command_expect("test -z \"$(find . | grep part$)\" && test ! -e papers/index.html", 0, NULL);
    command_expect("$M doctor sphere_drop --time-limit 0", 2, "expected seconds");
    command_expect("$M derivative sphere_drop --time-limit 1000 --json", 0, NULL);
}

static void iterates_that_are_lost_are_told(void** state)
{
    (void)state;
    command_expect(
        "echo old >file; $M compare s4_slide --frames 1 --scene-limit 0 --solvers nsgs --quiet --iterations file", 3,
        "file: cannot be made");
    command_expect(
        "trap '' XFSZ; mkdir full; $M run s4_slide --steps 2 --quiet --bpmd f.h5; ulimit -f 2; $M compare f.h5 "
        "--frames 1 --solvers nsgs --quiet --iterations full",
        3, "too large");
}

static volatile int flag;

static void raise_flag(void* user, mor_world* world) { flag = mor_world_step_count(world) == *(int*)user; }

/* The flag is raised inside step 4, for every policy about failed steps: the world stays where it was, and goes on as
 * if nothing had been when the flag is down. */
static void a_single_step_can_be_interrupted(void** state)
{
    (void)state;
    static const char* const policies[] = { "stop", "warn", "retry" };
    for (int k = 0; k < 3; k++) {
        char policy[64];
        snprintf(policy, sizeof policy, "method.on_failure=%s", policies[k]);
        const char* sets[] = { policy, NULL };
        mor_error error = { 0 };
        mor_scene* scene = mor_scene_load(MOREAU_SOURCE_DIR "/scenes/benchmark/s2.yaml", sets, NULL, &error);
        mor_world* w[2] = { scene ? mor_scene_build(scene, 1, &error) : NULL,
                            scene ? mor_scene_build(scene, 1, &error) : NULL };
        if (!w[0] || !w[1]) fail_msg("%s", error.text);
        int at_step = 3;
        mor_world_set_interrupt(w[0], &flag);
        mor_world_on_user(w[0], raise_flag, &at_step);
        for (int i = 0; i < 6; i++) {
            mor_step_report report;
            if (i == 3) {
                assert_int_equal(mor_world_step(w[0], &report, &error), MOR_STOPPED);
                assert_true(mor_world_interrupted(w[0]) && strstr(report.detail, "interrupted"));
                assert_int_equal(mor_world_step_count(w[0]), 3);
                at_step = -1;
            }
            for (int n = 0; n < 2; n++) assert_int_equal(mor_world_step(w[n], &report, &error), MOR_OK);
        }
        assert_true(mor_world_hash(w[0]) == mor_world_hash(w[1]));
        for (int n = 0; n < 2; n++) mor_world_destroy(w[n]);
        mor_scene_destroy(scene);
    }
}

/* A solver that is interrupted gives back what it has, and says so. */
static void a_solver_can_be_interrupted(void** state)
{
    (void)state;
    enum { N = 40 };
    static double A[N * N], b[N], z[N];
    for (int i = 0; i < N; i++) {
        b[i] = -1.0 - i % 7;
        for (int j = 0; j < N; j++) A[i * N + j] = i == j ? 2.0 : abs(i - j) == 1 ? -0.999 : 0.0;
    }
    mor_problem p = { .form = MOR_LCP, .size = N, .A = { .storage = MOR_DENSE, .rows = N, .cols = N, .x = A }, .b = b };
    flag = 1;
    static const char* const names[] = { "pgs", "psor", "jacobi", "prox" };
    for (int k = 0; k < 4; k++) {
        const mor_solver* solver = mor_solver_builtin(names[k]);
        mor_solve_options o = mor_solve_options_default();
        o.tol = 1e-14;
        o.interrupt = &flag;
        assert_int_equal(mor_solve(solver, NULL, &p, &o, z, NULL).status, MOR_TIME_LIMIT);
        o.interrupt = NULL;
        assert_int_not_equal(mor_solve(solver, NULL, &p, &o, z, NULL).status, MOR_TIME_LIMIT);
    }
    flag = 0;
}

/* Every reader, all at once: each waits ten seconds. */
static void a_silent_pipe_is_told(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "run silent",
        "run hung.yaml --steps 1 --quiet --from silent",
        "run model.xml --steps 1 --quiet",
        "run meshed.yaml --steps 1 --quiet",
        "robot silent",
        "robot model.xml",
        "robot $S/scenes/robots/arm2.urdf --state silent",
        "convert silent out.yaml",
        "solve silent --kind lcp",
        "view silent --html out.html",
        "sweep silent -o out.h5",
        "sweep hung_plan.yaml -o held.h5 --resume --quiet",
        "calibrate silent",
        "trust silent",
        "doctor silent",
        "inverse hung.yaml --motion silent",
        "run hung.yaml --steps 1 --quiet --plugin silent",
    };
    enum { COUNT = sizeof lines / sizeof *lines };
    command_expect("mkfifo silent && ln -s silent held.h5.journal && ln -s silent mesh.obj && printf '<mujoco><include "
                   "file=\"silent\"/></mujoco>' > model.xml && printf 'moreau: 1\ntime: { step: 0.01, end: 1 "
                   "}\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1 }\n' > hung.yaml && sed 's/sphere: "
                   "0.1/mesh: mesh.obj/' hung.yaml > meshed.yaml && printf 'moreau-sweep: 1\nscene: "
                   "hung.yaml\nparameters:\n  - { path: time.step, values: [0.01, 0.02] }\nmeasures: "
                   "[energy.final]\n' > hung_plan.yaml",
                   0, NULL);
    char line[4096] = "";
    for (int i = 0, n = 0; i < COUNT; i++)
        n += snprintf(line + n, sizeof line - (size_t)n,
                      "(timeout 60 $M %s > silent.%d 2>&1 < /dev/null; echo \"status $?\" >> silent.%d) & ", lines[i],
                      i, i);
    snprintf(line + strlen(line), sizeof line - strlen(line), "wait");
    command_expect(line, 0, NULL);
    for (int i = 0; i < COUNT; i++) {
        snprintf(line, sizeof line, "cat silent.%d", i);
        command_expect(line, 0, NULL);
        if (!strstr(command_output, "status 2") ||
            !(strstr(command_output, "silent") || strstr(command_output, "nothing came from it for 10 s")))
            fail_msg("%s: %s", lines[i], command_output);
    }
    command_expect("mkfifo spoken; printf 'moreau: 1\\n' >spoken & $M run spoken --steps 1 --quiet", 0, NULL);
}

static void whole_files_are_read_whole(void** state)
{
    (void)state;
    char *text, *big = malloc(300000);
    size_t length;
    mor_error error = { 0 };
    assert_non_null(big);
    for (int i = 0; i < 300000; i++) big[i] = (char)(i * 7);
    assert_int_equal(mor_output_write(command_at("big"), big, 300000, &error), MOR_OK);
    assert_int_equal(mor_text_read(command_at("big"), 1 << 20, &text, &length, &error), MOR_OK);
    assert_int_equal(length, 300000);
    assert_memory_equal(text, big, length);
    free(text);
    assert_int_equal(mor_text_read(command_at("big"), 1000, &text, &length, &error), MOR_BAD_INPUT);
    assert_true(mor_file_begins(command_at("big"), big, 8) && !mor_file_begins(command_at("big"), "no", 2));
    FILE* dropped = mor_output_open(command_at("big"), &error);
    assert_non_null(dropped);
    fputs("half", dropped);
    assert_int_equal(mor_output_close(dropped, command_at("big"), false, &error), MOR_OK);
    assert_true(mor_file_begins(command_at("big"), big, 8));
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_files_are_replaced_through_links),
        cmocka_unit_test(pipes_and_devices_stay_what_they_are),
        cmocka_unit_test(binary_formats_want_a_regular_file),
        cmocka_unit_test(no_file_is_read_and_written_or_written_twice),
        cmocka_unit_test(a_disk_quota_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(a_signal_ends_a_run_properly),
        cmocka_unit_test(a_signal_ends_what_builds_problems),
        cmocka_unit_test(every_long_command_has_a_time_limit),
        cmocka_unit_test(iterates_that_are_lost_are_told),
        cmocka_unit_test(a_single_step_can_be_interrupted),
        cmocka_unit_test(a_solver_can_be_interrupted),
        cmocka_unit_test(a_silent_pipe_is_told),
        cmocka_unit_test(long_documents_that_are_lost_are_told),
        cmocka_unit_test(whole_files_are_read_whole),
    };
    return cmocka_run_group_tests_name("outputs", tests, command_open, command_close);
}
