/* What a calibration tells of its search: whether it ended, or had used up its evaluations. A search that stopped short
 * of the bottom gave narrow intervals beside the truth, and no word.
 *
 * Expected values: the numbers that made the data, friction 0.21 and restitution 0.37. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"

static void write_text(const char* name, const char* text)
{
    FILE* out = fopen(command_at(name), "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void write_plan(const char* optimiser)
{
    char text[900];
    snprintf(text, sizeof text,
             "moreau-calibrate: 1\nscene: s.yaml\n"
             "data: { file: d.csv, time: time, columns: { bodies.ball.position: [ball.x, ball.y, ball.z] } }\n"
             "parameters:\n  - { path: materials.m.friction, range: [0, 1], start: 0.7 }\n"
             "  - { path: materials.m.restitution, range: [0, 1], start: 0.8 }\n"
             "error: { name: eq18, rotation_weight: 0.05 }\noptimiser: %s\n",
             optimiser);
    write_text("p.yaml", text);
}

static void a_search_that_used_up_its_evaluations_is_told(void** state)
{
    (void)state;
    write_text("s.yaml",
               "moreau: 1\ntime: { step: 0.004, end: 0.8 }\nmaterials: { m: { friction: 0.21, restitution: 0.37 } }\n"
               "bodies:\n  - { name: floor, shape: plane, fixed: true, material: m }\n"
               "  - { name: ball, shape: { sphere: 0.07 }, mass: 0.4, material: m, position: [0, 0, 0.4], "
               "velocity: [1.7, 0, -0.3] }\n");
    command_expect("$M run s.yaml --quiet --csv d.csv", 0, NULL);
    static const char* const few[] = { "{ name: sbplx, starts: 1, evaluations: 14 }",
                                       "{ name: gradient, starts: 1, evaluations: 4 }",
                                       "{ name: crs2, evaluations: 40 }" };
    static const char* const enough[] = { "{ name: sbplx, starts: 1, evaluations: 400 }",
                                          "{ name: gradient, starts: 1, evaluations: 200 }",
                                          "{ name: bobyqa, starts: 2, evaluations: 600 }",
                                          "{ name: grid, evaluations: 121 }" };
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        write_plan(few[i]);
        command_expect("$M calibrate p.yaml --html p.html > out.txt && grep -q 'used up its evaluations' out.txt", 0,
                       NULL);
        command_expect("grep -q 'used up its evaluations' p.html", 0, NULL);
        command_expect("$M calibrate p.yaml --quiet --json --csv t.csv | grep -q '\"search\": *\"used up\"'", 0, NULL);
        command_expect("head -1 t.csv | grep -q ',search$' && grep -q ',used up$' t.csv", 0, NULL);
    }
    for (size_t i = 0; i < sizeof enough / sizeof *enough; i++) {
        write_plan(enough[i]);
        command_expect("$M calibrate p.yaml --html p.html > out.txt && ! grep -q 'used up its' out.txt p.html", 0,
                       NULL);
        command_expect("$M calibrate p.yaml --quiet --json | grep -q '\"search\": *\"ended\"'", 0, NULL);
    }
}

/* One run gives no interval, but the mass of a ball that bounces on a fixed floor moves nothing: it was given as a
 * value like the restitution beside it. */
static void a_value_that_does_nothing_is_told_of_one_run_too(void** state)
{
    (void)state;
    write_text("p.yaml",
               "moreau-calibrate: 1\nscene: s.yaml\n"
               "data: { file: d.csv, time: time, columns: { bodies.ball.position: [ball.x, ball.y, ball.z] } }\n"
               "parameters:\n  - { path: bodies.ball.mass, range: [0.1, 2], start: 0.9 }\n"
               "  - { path: materials.m.restitution, range: [0, 1], start: 0.8 }\n"
               "optimiser: { name: sbplx, starts: 1, evaluations: 90 }\n");
    command_expect(
        "$M calibrate p.yaml > out.txt && grep -q 'mass.*cannot be identified: the error does not change' out.txt "
        "&& grep -q 'restitution.*not judged: one run gives no interval' out.txt",
        0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_that_used_up_its_evaluations_is_told),
        cmocka_unit_test(a_value_that_does_nothing_is_told_of_one_run_too),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
