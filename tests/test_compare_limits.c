/* moreau compare where something is cut short: interrupted, out of time, not tried, workers that die, frames without
 * contacts. A run that was not made is neither solved nor failed, and a number that is not known is not printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "lab/compare.h"
#include "lab/profile.h"

static char folder[] = "/tmp/moreau_limits_XXXXXX";
static char* output;
static const size_t output_size = 8 << 20;

static int run_with(const char* environment, const char* arguments)
{
    char line[2048];
    snprintf(line, sizeof line, "cd %s && %s '%s' %s 2>&1", folder, environment, MOREAU_COMMAND, arguments);
    FILE* pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, output_size - 1, pipe);
    output[n] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int run(const char* arguments) { return run_with("", arguments); }

static void expect(const char* part)
{
    if (!strstr(output, part)) fail_msg("'%s' is not in: %.2000s", part, output);
}

static void write_text(const char* name, const char* text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The number after the n-th occurrence of "key": */
static double number(const char* key, int n)
{
    const char* at = output;
    char word[64];
    snprintf(word, sizeof word, "\"%s\": ", key);
    for (; n >= 0; n--) {
        at = strstr(at, word);
        if (!at) fail_msg("no %s in %.500s", key, output);
        at += strlen(word);
    }
    return strncmp(at, "null", 4) == 0 ? NAN : atof(at);
}

/* ------------------------------------------------------------------------------ interruption */

/* Three problems, two solvers; the second was not yet run on the third problem. */
static void a_run_that_was_not_made_is_neither_solved_nor_failed(void** state)
{
    (void)state;
    mor_lab_options o = mor_lab_options_default();
    o.solvers[0] = "nsgs", o.solvers[1] = "nsn", o.formulations[0] = "ncp";
    o.tol_count = 1;
    mor_lab lab;
    mor_error error = { 0 };
    assert_int_equal(mor_lab_begin(&lab, &o, &error), MOR_OK);
    mor_lab_problem problems[3] = { { .frame = 0 }, { .frame = 1 }, { .frame = 2 } };
    mor_lab_run runs[5];
    for (int i = 0; i < 5; i++)
        runs[i] = (mor_lab_run){ .problem = i / 2, .solver = i % 2, .status = MOR_SOLVED, .total_s = 1.0 + i };
    lab.problems = problems, lab.problem_count = 3, lab.runs = runs, lab.run_count = 5, lab.planned = 6;
    mor_lab_profile p;
    assert_true(mor_lab_profile_make(&lab, 0, 0, NULL, &p));
    assert_int_equal(p.problem_count, 2);
    assert_int_equal(p.unfinished, 1);
    assert_near(mor_lab_rho(&p, 1, 1e9), 1.0, 1e-15); /* all that it was asked */
    assert_int_equal(p.scores[0].solved, 2);
    assert_int_equal(p.scores[1].solved, 2);
    mor_lab_profile_free(&p);
    lab.complete = true; /* the same runs of a comparison that is over: the sixth does not exist */
    assert_true(mor_lab_profile_make(&lab, 0, 0, NULL, &p));
    assert_int_equal(p.problem_count, 3);
    assert_int_equal(p.unfinished, 0);
    mor_lab_profile_free(&p);
}

/* A library that ends a process at its first timer_create, which only the workers call, before their first run. */
static void workers_that_die_before_their_first_run_fail_the_comparison(void** state)
{
    (void)state;
    write_text("die.c", "#include <unistd.h>\nint timer_create(int clock, void* event, void* timer);\n"
                        "int timer_create(int clock, void* event, void* timer)\n"
                        "{ (void)clock; (void)event; (void)timer; _exit(7); }\n");
    char line[512];
    snprintf(line, sizeof line, "cd %s && cc -shared -fPIC -o die.so die.c", folder);
    if (system(line) != 0) {
        printf("SKIP: no C compiler here\n");
        skip();
    }
    assert_int_equal(run("dataset build -o small --family box-stack"), 0);
    assert_int_not_equal(run_with("ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=./die.so",
                                  "compare small --solvers nsgs --formulations ncp --out dead.html --quiet"),
                         0);
    expect("its process ended (status 7");
    snprintf(line, sizeof line, "%s/dead.html", folder);
    assert_int_not_equal(access(line, F_OK), 0); /* no report that looks like one */
}

/* ------------------------------------------------------------------------------ frames, scenes */

/* A ball without loss: in the air at the start and at the end. */
static const char flight[] =
    "moreau: 1\n"
    "time: { step: 0.01, end: 0.71 }\n"
    "materials: { m: { friction: 0.3, restitution: 1.0 } }\n"
    "bodies:\n"
    "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true, material: m }\n"
    "  - { name: ball, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.5], "
    "material: m }\n";

static void a_single_frame_is_one_with_contacts(void** state)
{
    (void)state;
    write_text("flight.yaml", flight);
    assert_int_equal(run("compare flight.yaml --frames 1 --solvers auto --formulations ncp --scene-limit 0 --json"), 0);
    assert_true(number("contacts", 0) >= 1.0);
    assert_int_equal(run("run flight.yaml --bpmd flight.h5"), 0);
    assert_int_equal(run("compare flight.h5 --frames 1 --solvers auto --formulations ncp --json"), 0);
    assert_true(number("contacts", 0) >= 1.0);
    assert_int_equal(run("compare flight.h5 --frames 3 --solvers auto --formulations ncp --json"), 0);
}

/* The limit of a whole run follows the frames; where the reference does not end in time there is no error, and the
 * line says why. The limit is set from the time the coarse run takes here: it needs C, the reference 16 C and may take
 * 4 limits. */
static void a_reference_out_of_time_leaves_no_number(void** state)
{
    (void)state;
    assert_int_equal(
        run("compare dominoes --frames 1 --solvers auto --formulations ncp --tol 1e-8 --scene-limit 0.02 --json"), 0);
    assert_true(number("steps_done", 0) < number("steps", 0)); /* 16,000 steps in a tenth of 4 times that */
    assert_true(isnan(number("position_error", 0)));           /* of the reference itself */
    assert_true(isnan(number("position_error", 1)));
    assert_int_equal(run("compare dominoes --solvers auto --formulations ncp --tol 1e-8 --scene-limit 0.05 --json"), 0);
    write_text("cube.yaml",
               "moreau: 1\n"
               "time: { step: 0.01, end: 1 }\n"
               "bodies:\n"
               "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
               "  - { name: a, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, position: [0, 0, 0.1] }\n");
    assert_int_equal(run("compare cube.yaml --solvers auto --formulations ncp --tol 1e-8 --json"), 0);
    double C = number("cpu_s", 1);
    assert_true(C > 0.0); /* the clock that the limit of CPU time runs on counts in milliseconds */
    char line[256];
    snprintf(line, sizeof line, "compare cube.yaml --solvers auto --formulations ncp --tol 1e-8 --scene-limit %.9f",
             1.5 * C);
    assert_int_equal(run(line), 0);
    if (strstr(output, "reference, time_limit")) { /* a noisy machine may have made C too large */
        assert_null(strstr(output, "nan"));
        if (strstr(output, "  solved")) expect("no error: the reference ended with time_limit");
    }
}

/* A ball that starts in the floor: what lifts it out is no gain, in a comparison as in a run. */
static void a_gain_means_the_same_as_in_a_run(void** state)
{
    (void)state;
    write_text("deep.yaml",
               "moreau: 1\n"
               "time: { step: 0.01, end: 0.5 }\n"
               "bodies:\n"
               "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
               "  - { name: ball, shape: { sphere: 0.2 }, mass: 3, position: [0, 0, 0.13] }\n");
    assert_int_equal(run("run deep.yaml --formulation ncp --solver auto --json"), 0);
    double gain = number("max_gain", 0), projection = number("projection_work", 0);
    assert_true(projection > 3 * 9.8 * 0.06);
    assert_int_equal(run("compare deep.yaml --formulations ncp --solvers auto --tol 1e-8 --frames 1 --json"), 0);
    assert_near(number("max_gain", 1), gain, 1e-9);
    assert_true(number("max_gain", 0) < 1e-6);
}

/* ---------------------------------------------------------------------------------- not tried */

/* A journal in which the method was too slow on the first two frames and not tried on the third, and then solved (or
 * not) the fourth. */
static mor_lab_run third_after(int fourth)
{
    mor_lab_options o = mor_lab_options_default();
    o.solvers[0] = "nsgs", o.formulations[0] = "ncp";
    o.tol_count = 1, o.tols[0] = 1e-6, o.frames = 4, o.traces = 0;
    mor_lab lab;
    mor_error error = { 0 };
    char path[256], journal[256];
    snprintf(path, sizeof path, "%s/stack.h5", folder);
    snprintf(journal, sizeof journal, "%s/tried.journal", folder);
    assert_int_equal(mor_lab_begin(&lab, &o, &error), MOR_OK);
    assert_int_equal(mor_lab_add(&lab, path, &error), MOR_OK);
    assert_int_equal(lab.problem_count, 4);
    remove(journal);
    mor_lab_journal* j = mor_lab_journal_open(journal, &lab, false, "R", &error);
    assert_non_null(j);
    const int status[4] = { MOR_TIME_LIMIT, MOR_TIME_LIMIT, MOR_TIME_LIMIT, fourth };
    for (int i = 0; i < 4; i++) {
        mor_lab_message m = { .kind = 'R',
                              .as.run = { .problem = i, .status = status[i], .total_s = 1.0, .error = NAN } };
        if (i == 2) snprintf(m.as.run.detail, sizeof m.as.run.detail, "not tried: too slow on 2 smaller frames");
        assert_int_equal(mor_lab_journal_add(j, &lab, &m, &error), MOR_OK);
    }
    assert_int_equal(mor_lab_journal_close(j, &error), MOR_OK);
    assert_int_equal(mor_lab_run_all(&lab, journal, true, NULL, NULL, &error), MOR_OK);
    assert_true(lab.complete);
    assert_int_equal(lab.run_count, 4);
    mor_lab_run third = lab.runs[2];
    /* and once more from the journal: the line that was tried counts */
    mor_lab_end(&lab);
    assert_int_equal(mor_lab_begin(&lab, &o, &error), MOR_OK);
    assert_int_equal(mor_lab_add(&lab, path, &error), MOR_OK);
    assert_int_equal(mor_lab_run_all(&lab, journal, true, NULL, NULL, &error), MOR_OK);
    assert_int_equal(lab.run_count, 4);
    assert_int_equal(lab.runs[2].assumed, third.assumed);
    assert_int_equal(lab.runs[2].status, third.status);
    mor_lab_end(&lab);
    return third;
}

static void what_was_not_tried_is_tried_when_a_larger_frame_was_solved(void** state)
{
    (void)state;
    write_text("stack.yaml",
               "moreau: 1\n"
               "time: { step: 0.01, end: 0.04 }\n"
               "bodies:\n"
               "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
               "  - { name: a, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, position: [0, 0, 0.1] "
               "}\n");
    assert_int_equal(run("run stack.yaml --bpmd stack.h5"), 0);
    mor_lab_run third = third_after(MOR_SOLVED);
    assert_false(third.assumed);
    assert_int_equal(third.status, MOR_SOLVED);
    third = third_after(MOR_TIME_LIMIT);
    assert_true(third.assumed);
    assert_int_equal(third.status, MOR_TIME_LIMIT);
}

static int set_up(void** state)
{
    (void)state;
    output = malloc(output_size);
    return output && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void** state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    free(output);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_was_not_made_is_neither_solved_nor_failed),
        cmocka_unit_test(workers_that_die_before_their_first_run_fail_the_comparison),
        cmocka_unit_test(a_single_frame_is_one_with_contacts),
        cmocka_unit_test(a_reference_out_of_time_leaves_no_number),
        cmocka_unit_test(a_gain_means_the_same_as_in_a_run),
        cmocka_unit_test(what_was_not_tried_is_tried_when_a_larger_frame_was_solved),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
