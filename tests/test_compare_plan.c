/* What a comparison says before it works, and that it can be stopped while it reads: folders of scenes are listed, all
 * read before the first is run, and a signal is answered between steps, frames and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/command.h"
#include "lab/compare.h"

static const char ball[] =
    "moreau: 1\n"
    "time: { step: 0.01, end: 0.4 }\n"
    "bodies:\n"
    "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
    "  - { name: ball, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.1] }\n";

static void put(const char* name, const char* text)
{
    FILE* out = fopen(command_at(name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* Three scenes in a folder and its folder, and files that are none. */
static void make_folder(void)
{
    mkdir(command_at("many"), 0777);
    mkdir(command_at("many/below"), 0777);
    put("many/a.yaml", ball);
    put("many/b.yaml", ball);
    put("many/below/c.yaml", ball);
    put("many/notes.txt", "nothing");
    put("many/.hidden.yaml", "nothing");
}

typedef struct listener {
    int files, scenes, runs, steps, asked; /* seen */
    int stop_at;                           /* step of a run at which it says stop; 0: never */
} listener;

static bool listen(void* user, const mor_lab_look* at)
{
    listener* l = user;
    l->asked++;
    if (at->index > 0) l->files = at->count, l->scenes = at->scenes;
    if (at->steps > 0 && at->step == 0) l->runs++;
    if (at->steps > 0) l->steps = at->step;
    return !(l->stop_at && at->steps > 0 && at->step >= l->stop_at);
}

static mor_code add(listener* l, mor_lab* lab, mor_error* error)
{
    mor_lab_options o = mor_lab_options_default();
    o.frames = 2;
    o.reading = listen, o.reading_user = l;
    assert_int_equal(mor_lab_begin(lab, &o, error), MOR_OK);
    return mor_lab_add(lab, command_at("many"), error);
}

static void a_folder_is_listed_and_can_be_stopped_within_a_step(void** state)
{
    (void)state;
    mor_lab lab;
    mor_error error = { 0 };
    make_folder();
    listener all = { .stop_at = 0 };
    assert_int_equal(add(&all, &lab, &error), MOR_OK);
    assert_int_equal(all.files, 3);
    assert_int_equal(all.scenes, 3);
    assert_int_equal(all.runs, 3);
    assert_int_equal(lab.problem_count, 6);
    mor_lab_end(&lab);
    listener early = { .stop_at = 7 };
    assert_int_equal(add(&early, &lab, &error), MOR_STOPPED);
    assert_int_equal(early.runs, 1);
    assert_int_equal(early.steps, 7);
    mor_lab_end(&lab);
}

/* It was told after all scenes before it had been run. */
static void a_file_that_is_no_scene_is_told_before_any_is_run(void** state)
{
    (void)state;
    mor_lab lab;
    mor_error error = { 0 };
    make_folder();
    put("many/z.yaml", "services: { web: 1 }\n");
    listener l = { .stop_at = 0 };
    assert_int_equal(add(&l, &lab, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "many/z.yaml"));
    assert_int_equal(l.runs, 0);
    mor_lab_end(&lab);
    remove(command_at("many/z.yaml"));
}

static void a_long_plan_is_told_and_a_short_one_is_not(void** state)
{
    (void)state;
    make_folder();
    assert_int_equal(
        command_run("$M compare many/a.yaml --frames 2 --scene-limit 0 --formulations ncp --solvers nsgs,psor "
                    "--time-limit 200 --jobs 2 --json"),
        0);
    const char* plan =
        "8 runs: 2 problems, 2 methods, 2 tolerances; at most 200 s of CPU time each, so at most 13 min on "
        "2 processes";
    if (!strstr(command_errors, plan)) fail_msg("%s", command_errors);
    assert_int_equal(command_run("$M compare many/a.yaml --frames 2 --scene-limit 0 --formulations ncp --solvers nsgs "
                                 "--json"),
                     0);
    assert_null(strstr(command_errors, "runs:"));
    assert_int_equal(command_run("$M compare many/a.yaml --frames 2 --scene-limit 0 --formulations ncp --solvers nsgs "
                                 "--time-limit 20000 --quiet"),
                     0);
    assert_string_equal(command_errors, "");
}

/* The answer came when the folder had been read: minutes. The scene would take an hour. */
static void a_signal_while_scenes_run_ends_the_comparison(void** state)
{
    (void)state;
    char line[400];
    put("long.yaml", "moreau: 1\n"
                     "time: { step: 0.0001, end: 20000 }\n"
                     "bodies:\n"
                     "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
                     "  - { name: ball, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.3], restitution: 1 }\n");
    snprintf(line, sizeof line, "$M compare long.yaml & p=$!; sleep 1; kill -TERM $p; wait $p");
    assert_int_equal(command_run(line), 128 + 15);
    assert_non_null(strstr(command_errors, "interrupted (SIGTERM); nothing was written"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_is_listed_and_can_be_stopped_within_a_step),
        cmocka_unit_test(a_file_that_is_no_scene_is_told_before_any_is_run),
        cmocka_unit_test(a_long_plan_is_told_and_a_short_one_is_not),
        cmocka_unit_test(a_signal_while_scenes_run_ends_the_comparison),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
