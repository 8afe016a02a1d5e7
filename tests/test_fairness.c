/* Can a solver fool a comparison? Solvers of tests/cheats that answer nothing, NaN or infinity and say "solved", change
 * the problem, their tolerance or their clock, work in another thread, loop, sleep, crash or exit. None of them is
 * called solved, none is cheaper than its work, and the honest solver beside them has the numbers that it has alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"

static char text[1 << 20];

static void read_output(const char* name)
{
    FILE* in = fopen(command_at(name), "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
}

/* The run of a solver in the JSON, from its name on. */
static const char* run_of(const char* solver)
{
    char word[80];
    snprintf(word, sizeof word, "\"solver\": \"%s\"", solver);
    const char* at = strstr(strstr(text, "\"runs\""), word);
    if (!at) fail_msg("no run of %s in %.1000s", solver, text);
    return at;
}

static double number(const char* solver, const char* key)
{
    char word[80];
    snprintf(word, sizeof word, "\"%s\": ", key);
    const char* at = strstr(run_of(solver), word) + strlen(word);
    return strncmp(at, "null", 4) == 0 ? NAN : atof(at);
}

static void expect(const char* solver, const char* status, const char* detail)
{
    char word[80];
    const char* at = run_of(solver);
    snprintf(word, sizeof word, "\"status\": \"%s\"", status);
    const char *found = strstr(at, "\"status\": "), *end = strstr(at + 1, "\"solver\": ");
    if (strncmp(found, word, strlen(word)) != 0) fail_msg("%s: %.40s, not %s", solver, found, status);
    const char* told = detail ? strstr(at, detail) : at;
    if (!told || (end && told > end)) fail_msg("%s: '%s' is not told: %.700s", solver, detail, at);
}

static void a_comparison_is_not_fooled(void** state)
{
    (void)state;
    if (command_run("cc -shared -fPIC -O1 -I$S/include -o cheats.so $S/tests/cheats/cheats.c -lm -lpthread") != 0) {
        puts("SKIP: no C compiler");
        skip();
    }
    assert_int_equal(command_run("$M run stack --steps 3 --bpmd stack.h5:2 >/dev/null"), 0);
#define COMPARE "$M compare stack.h5 --frames 1 --formulations ncp --tol 1e-6 --time-limit 0.4 --jobs 1 --traces 0 "
    assert_int_equal(command_run(COMPARE "--solvers nsn --json >alone.json"), 0);
    read_output("alone.json");
    double error = number("nsn", "error"), iterations = number("nsn", "iterations");
    assert_int_equal(
        command_run(COMPARE "--plugin ./cheats.so --solvers x-changes,x-changes-mass,x-plain,x-nothing,x-nan,"
                            "x-infinite,x-loosens,x-no-status,x-clock,x-thread,x-loops,x-sleeps,x-crashes,x-exits,nsn "
                            "--json >all.json 2>said.txt"),
        0);
    read_output("all.json");
    expect("nsn", "solved", NULL);
    assert_true(number("nsn", "error") == error && number("nsn", "iterations") == iterations);
    expect("x-plain", "solved", NULL);
    expect("x-nothing", "not_converged", NULL);
    expect("x-loosens", "not_converged", NULL);
    expect("x-nan", "numerical", NULL);
    expect("x-infinite", "numerical", NULL);
    expect("x-no-status", "numerical", NULL);
    assert_true(number("x-no-status", "iterations") == 0.0);
    expect("x-changes", "numerical", "it changed the problem that it was given");
    expect("x-changes-mass", "numerical", "it changed the problem that it was given");
    expect("x-loops", "time_limit", "its process was ended");
    expect("x-sleeps", "time_limit", "its process was ended");
    expect("x-crashes", "numerical", "signal 6");
    expect("x-exits", "numerical", "its process ended with status 0");
    /* x-plain does the same work; CPU time, with room for a busy machine */
    expect("x-clock", "solved", NULL);
    assert_true(number("x-clock", "time_s") > 0.2 * number("x-plain", "time_s"));
    assert_true(number("x-clock", "time_s") <= number("x-clock", "total_s"));
    expect("x-thread", "solved", NULL);
    assert_true(number("x-thread", "time_s") > 0.2 * number("x-plain", "time_s"));
    assert_true(number("x-thread", "total_s") > 0.2 * number("x-plain", "total_s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_comparison_is_not_fooled) };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
