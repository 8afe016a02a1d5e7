/* Input that somebody made to do harm or by mistake: what is refused, how fast, and what messages give away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"
#include "moreau/moreau.h"

static const char secret[] = "hunter2";

static void messages_do_not_quote_files_that_are_no_scenes(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "printf 'hunter2:x:0:0\\n' >f; $M run f",
        "printf '[hunter2, 1]\\n' >f; $M run f",
        "printf 'password: hunter2\\n' >f; $M run f",
        "printf 'hunter2: 1\\nhunter2: 2\\n' >f; $M run f",
        "printf 'hunter2\\n' >f; printf 'moreau: 1\\ninclude: [f]\\n' >s; $M run s",
        "printf 'hunter2:*:20228:0:99999:7::\\nother: 1\\n' >f; printf 'moreau: 1\\ninclude: [f]\\n' >s; $M run s",
        "printf 'user: hunter2\\nbodies: hunter2\\n' >f; printf 'moreau: 1\\ninclude: f\\n' >s; $M run s",
        "printf '? [hunter2]\\n: 1\\n' >f; printf 'moreau: 1\\ninclude: f\\n' >s; $M run s",
        "printf 'hunter2 1 2\\n' >f.obj; printf 'moreau: 1\\nbodies: [{shape: {mesh: f.obj}, mass: 1}]\\n' >s; $M run "
        "s",
        "printf 'hunter2 1 2\\n' >f.stl; printf 'moreau: 1\\nbodies: [{shape: {mesh: f.stl}, mass: 1}]\\n' >s; $M run "
        "s",
        "printf 'hunter2 1 2\\n' >f.poly; printf 'moreau: 1\\nbodies: [{shape: {mesh: f.poly}, mass: 1}]\\n' >s; $M "
        "run s",
        "printf 'hunter2 1 2\\n' >f.dae; printf 'moreau: 1\\nbodies: [{shape: {mesh: f.dae}, mass: 1}]\\n' >s; $M run "
        "s",
        "printf 'hunter2\\n' >f; $M solve f --kind lcp",
        "printf 'hunter2\\n' >f; $M robot f",
        "printf 'hunter2\\n' >f; $M plot f energy",
        "printf 'hunter2\\n' >f.h5; $M view f.h5",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        command_expect(lines[i], 2, "f");
        if (strstr(command_errors, secret) || strstr(command_output, secret))
            fail_msg("'%s' tells what is in the file: %s", lines[i], command_errors);
    }
}

/* A device that never ends; a folder or a ring of links in place of a file: told for what they are, at once. */
static void what_is_no_file_is_told(void** state)
{
    (void)state;
    command_expect("$M solve /dev/zero --kind lcp", 2, "larger than 1024 MB");
    command_expect("mkdir -p folder.h5; $M plot folder.h5 energy -o a.svg", 2, "Is a directory");
    command_expect("$M view folder.h5 --html a.html", 2, "Is a directory");
    command_expect("ln -sf ring.yaml other.yaml; ln -sf other.yaml ring.yaml; $M run ring.yaml", 2, "symbolic links");
    assert_null(strstr(command_errors, "did you mean"));
}

/* The seconds of CPU time that a scene with n keys in one mapping takes to read, the least of three. */
static double time_of_keys(int n)
{
    size_t room = 64 + (size_t)n * 40, length = 0;
    char* text = malloc(room);
    assert_non_null(text);
    length += (size_t)snprintf(text, room, "moreau: 1\nmaterials:\n");
    for (int i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, room - length, "  m%d: { friction: 0.5 }\n", i);
    double least = 1e9;
    for (int k = 0; k < 3; k++) {
        mor_error error = { 0 };
        double start = mor_cpu_clock();
        mor_scene* scene = mor_scene_parse(text, length, "keys", NULL, NULL, &error);
        double time = mor_cpu_clock() - start;
        if (!scene) fail_msg("%s", error.text);
        mor_scene_destroy(scene);
        if (time < least) least = time;
    }
    free(text);
    return least;
}

/* Ten times the keys take ten times the time; a quadratic reader took ninety. */
static void many_keys_are_read_in_linear_time(void** state)
{
    (void)state;
    double few = time_of_keys(1900), many = time_of_keys(19000);
    if (many > 35.0 * few) fail_msg("1900 keys take %g s, 19000 keys %g s", few, many);
    mor_error error = { 0 };
    static const char twice[] = "moreau: 1\nmaterials:\n  a: {}\n  b: {}\n  a: {}\n";
    assert_null(mor_scene_parse(twice, strlen(twice), "twice", NULL, NULL, &error));
    assert_non_null(strstr(error.text, "'a' is given twice; the first is in line 3"));
}

static void masses_have_bounds(void** state)
{
    (void)state;
    static const char* const masses[] = { "1e-300", "1e-19", "1e13", "1e300" };
    for (int i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text, "moreau: 1\nbodies: [{ shape: { sphere: 1 }, mass: %s }]\n", masses[i]);
        mor_error error = { 0 };
        assert_null(mor_scene_parse(text, strlen(text), "mass", NULL, NULL, &error));
        assert_non_null(strstr(error.text, "mass"));
    }
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    mor_world* w = mor_world_create(&def, &error);
    assert_non_null(w);
    mor_geometry* ball = mor_geometry_sphere(1.0, &error);
    assert_non_null(ball);
    const double wrong[] = { 1e-30, 1e30 };
    for (int i = 0; i < 2; i++) {
        mor_body_def body = mor_body_def_default();
        mor_body_shape shape = { .geometry = ball, .pose = body.pose, .material = -1 };
        body.shapes = &shape;
        body.shape_count = 1;
        body.mass = wrong[i];
        error = (mor_error){ 0 };
        mor_world_add_body(w, &body, &error);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        assert_non_null(strstr(error.text, "out of range"));
    }
    mor_geometry_release(ball);
    mor_world_destroy(w);
}

static void wrong_plug_ins_are_refused(void** state)
{
    (void)state;
    if (command_run("cc --version") != 0) {
        print_message("SKIP: there is no compiler cc\n");
        skip();
    }
    command_expect("cc -shared -fPIC -I$S/include -o good.so $S/examples/plugin/gradient.c && "
                   "$M list solvers --plugin good.so | grep -q gradient",
                   0, NULL);
    command_expect(
        "echo 'int mor_plugin_entry = 5;' >v.c; cc -shared -fPIC -o v.so v.c && $M list solvers --plugin v.so", 2,
        "not a function");
    command_expect("echo 'void nothing(void) {}' >n.c; cc -shared -fPIC -o n.so n.c && $M list solvers --plugin n.so",
                   2, "it has no mor_plugin_entry");
    /* headers in which one struct that both sides use has one field more */
    command_expect("cp -r $S/include other && sed -i 's/^} mor_context;/  int more; double than; } mor_context;/' "
                   "other/moreau/solver.h && cc -shared -fPIC -Iother -o o.so $S/examples/plugin/gradient.c && "
                   "$M list solvers --plugin o.so",
                   2, "built with other headers");
    command_expect("cp -r $S/include third && sed -i 's/^} mor_matrix;/  int more; double than; } mor_matrix;/' "
                   "third/moreau/problem.h && cc -shared -fPIC -Ithird -o t.so $S/examples/plugin/gradient.c && "
                   "$M list solvers --plugin t.so",
                   2, "built with other headers");
}

/* Workers that die before their first run are not made here: no limit of memory that compare takes does it. */
static void little_memory_is_enough_for_a_small_problem(void** state)
{
    (void)state;
    command_expect("$M run s4_slide --steps 3 --quiet --bpmd w.h5", 0, NULL);
    command_expect("$M compare w.h5 --memory 0.1 --solvers nsgs --tol 1e-4 --quiet --csv w.csv && "
                   "test $(wc -l <w.csv) -gt 1",
                   0, NULL);
}

/* A measure of a sweep and an engine of a calibration are functions of shared objects, too: a variable of that name is
 * refused, not executed. */
static void a_variable_is_no_function_of_a_plan(void** state)
{
    (void)state;
    command_expect(
        "echo 'int height[9] = { 5 }, moreau_engine = 3;' >data.c; cc -shared -fPIC -o data.so data.c && printf "
        "'moreau: 1\ntime: { step: 0.01, end: 0.02 }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: "
        "1 }\n' > fall.yaml && $M run fall.yaml --quiet --csv fall.csv",
        0, NULL);
    command_expect("printf 'moreau-sweep: 1\nscene: fall.yaml\nparameters:\n  - { path: time.step, values: [0.01, "
                   "0.02] }\nmeasures:\n  - { name: x, function: height, plugin: data.so }\n' > data.yaml; $M sweep "
                   "data.yaml -o data.h5 --quiet",
                   2, "data.so: 'height' is not a function");
    command_expect(
        "printf 'moreau-calibrate: 1\nscene: fall.yaml\ndata: { file: fall.csv, time: time, columns: { "
        "bodies.b.position: [b.x, b.y, b.z] } }\nparameters:\n  - { path: bodies.b.mass, range: [0.5, 2], "
        "start: 1.5 }\nmethods:\n  - { name: e, engine: data.so }\n' > engine.yaml; $M calibrate engine.yaml "
        "--quiet",
        2, "data.so: 'moreau_engine' is not a function");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_is_no_function_of_a_plan),
        cmocka_unit_test(messages_do_not_quote_files_that_are_no_scenes),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(many_keys_are_read_in_linear_time),
        cmocka_unit_test(masses_have_bounds),
        cmocka_unit_test(wrong_plug_ins_are_refused),
        cmocka_unit_test(little_memory_is_enough_for_a_small_problem),
    };
    return cmocka_run_group_tests_name("hostile", tests, command_open, command_close);
}
