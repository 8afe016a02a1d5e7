/* moreau solve from outside: output, files and exit statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/hdf5/trace_file.h"

static char folder[] = "/tmp/moreau_solve_XXXXXX";
static char output[20000];

/* Runs the command in the folder; both streams end in `output`. Returns the exit status. */
static int run(const char* arguments)
{
    char line[1024];
    snprintf(line, sizeof line, "cd %s && M='%s' && { \"$M\" solve %s; } 2>&1", folder, MOREAU_COMMAND, arguments);
    FILE* pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, sizeof output - 1, pipe);
    output[n] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char* part)
{
    if (!strstr(output, part)) fail_msg("'%s' is not in: %s", part, output);
}

static void a_solved_problem_is_status_zero_with_its_answer_on_file(void** state)
{
    (void)state;
    assert_int_equal(run("lcp_two.dat --solution z.txt --json"), 0);
    expect("\"problem\": \"lcp_two.dat\", \"kind\": \"lcp\", \"size\": 2");
    expect("\"status\": \"solved\"");
    expect("\"velocity\": null");
    char path[128];
    double z[2];
    snprintf(path, sizeof path, "%s/z.txt", folder);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lf %lf", &z[0], &z[1]), 2);
    fclose(f);
    assert_near(z[0], 4.0 / 3.0, 1e-15);
    assert_near(z[1], 7.0 / 3.0, 1e-15);
}

static void standard_input_is_a_file(void** state)
{
    (void)state;
    assert_int_equal(run("- --kind lcp < lcp_two.dat"), 0);
    expect("lcp         2");
    assert_int_equal(run("lcp_none.dat - --kind lcp --solver lemke < lcp_two.dat"), 1);
    expect("no_solution");
    expect("solved");
    assert_int_equal(run("- < lcp_two.dat"), 2);
    expect("give --kind");
    assert_int_equal(run("lcp_two.dat > solved; cat lcp_two.dat | $M solve - --kind lcp"), 0);
    expect("lcp         2");
    assert_int_equal(run("lcp_two.dat --trace t.hdf5; cat t.hdf5 | $M solve -"), 2);
    expect("HDF5 cannot be read from a pipe");
}

static void an_unsolvable_problem_is_status_one_and_says_so(void** state)
{
    (void)state;
    assert_int_equal(run("lcp_none.dat --solver lemke"), 1);
    expect("no_solution");
    assert_int_equal(run("lcp_two.dat lcp_none.dat --solver lemke --json"), 1);
    expect("\"status\": \"solved\"");
    expect("\"status\": \"no_solution\"");
}

static void bad_usage_and_bad_input_are_status_two_with_a_hint(void** state)
{
    (void)state;
    const struct {
        const char *arguments, *hint;
    } cases[] = {
        { "", "usage" },
        { "lcp_two.dat --slover lemke", "did you mean '--solver'" },
        { "lcp_two.dat --solver lemki", "did you mean 'lemke'" },
        { "lcp_two.dat --tol", "needs a value" },
        { "lcp_two.dat --tol zero", "positive number" },
        { "lcp_two.dat --tol -1", "positive number" },
        { "lcp_two.dat --max-iter 1.5", "whole number" },
        { "lcp_two.dat --kind lpc", "--kind" },
        { "lcp_two.dat --solver lemke --all", "exclude" },
        { "lcp_two.dat lcp_two.dat --solution z", "one problem" },
        { "nowhere.dat", "No such file" },
        { "lcp_broken.dat", "lcp_broken.dat:2:" },
        { "strange.dat", "--kind" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (run(cases[k].arguments) != 2) fail_msg("'%s' did not end with 2: %s", cases[k].arguments, output);
        expect(cases[k].hint);
    }
}

static void a_trace_holds_every_iteration(void** state)
{
    (void)state;
    assert_int_equal(run("lcp_two.dat --solver lemke --trace t.h5 --tol 1e-10"), 0);
    char path[128];
    unsigned char head[4] = { 0 };
    snprintf(path, sizeof path, "%s/t.h5", folder);
    FILE* f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(head, 1, 4, f), 4);
    fclose(f);
    assert_memory_equal(head, "\x89HDF", 4);
    assert_int_equal(run("lcp_two.dat --trace /nowhere/t.h5"), 3);
}

static void traces_are_read_back_and_drawn(void** state)
{
    (void)state;
    assert_int_equal(run("lcp_two.dat --all --trace c.h5"), 0);
    char path[128], command[1024];
    snprintf(path, sizeof path, "%s/c.h5", folder);
    mor_trace_record* records;
    mor_error error = { 0 };
    int count, pgs = -1;
    assert_int_equal(mor_trace_file_read(path, &records, &count, &error), MOR_OK);
    for (int k = 0; k < count; k++)
        if (strcmp(records[k].solver, "pgs") == 0) pgs = k;
    assert_true(pgs >= 0);
    assert_string_equal(records[pgs].problem, "lcp_two.dat");
    assert_true(records[pgs].count > 3);
    for (int i = 1; i < records[pgs].count; i++) {
        assert_true(records[pgs].iteration[i] > records[pgs].iteration[i - 1]);
        assert_true(records[pgs].time_s[i] >= records[pgs].time_s[i - 1]);
    }
    assert_true(records[pgs].error[records[pgs].count - 1] <= 1e-8);
    assert_true(records[pgs].error[0] > 1e-8);
    mor_trace_records_free(records, count);
    snprintf(command, sizeof command, "cd %s && '%s' plot c.h5 convergence -o c.svg > out.txt && grep -q pgs c.svg",
             folder, MOREAU_COMMAND);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "cd %s && '%s' plot lcp_two.dat convergence 2> out.txt", folder, MOREAU_COMMAND);
    assert_int_equal(WEXITSTATUS(system(command)), 2);
    snprintf(path, sizeof path, "%s/lcp_two.dat", folder);
    assert_int_equal(mor_trace_file_read(path, &records, &count, &error), MOR_BAD_INPUT);
}

static void write_file(const char* name, const char* text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_folder(void** state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    write_file("lcp_two.dat", "2\n0 2 2 2 2\n2 1 1 2\n-5 -6\n");
    write_file("lcp_none.dat", "2\n0 2 2 2 2\n0 0 0 0\n-1 1\n");
    write_file("lcp_broken.dat", "2\n0 2 2 2 2 2 1 q\n");
    write_file("strange.dat", "2\n0 2 2 2 2\n2 1 1 2\n-5 -6\n");
    return 0;
}

static int remove_folder(void** state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solved_problem_is_status_zero_with_its_answer_on_file),
        cmocka_unit_test(standard_input_is_a_file),
        cmocka_unit_test(an_unsolvable_problem_is_status_one_and_says_so),
        cmocka_unit_test(bad_usage_and_bad_input_are_status_two_with_a_hint),
        cmocka_unit_test(a_trace_holds_every_iteration),
        cmocka_unit_test(traces_are_read_back_and_drawn),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
