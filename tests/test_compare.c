/* moreau compare and dataset from outside and inside: profiles, fairness, interruption, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/hdf5/h5.h"
#include "lab/compare.h"
#include "lab/profile.h"

static char folder[] = "/tmp/moreau_compare_XXXXXX";
static char* output;
static size_t output_size = 8 << 20;

static int run(const char* arguments)
{
    char line[2048];
    snprintf(line, sizeof line, "cd %s && '%s' %s 2>&1", folder, MOREAU_COMMAND, arguments);
    FILE* pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, output_size - 1, pipe);
    output[n] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char* part)
{
    if (!strstr(output, part)) fail_msg("'%s' is not in: %.2000s", part, output);
}

static void slurp(const char* name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "r");
    if (!f) fail_msg("%s is missing", name);
    size_t n = fread(output, 1, output_size - 1, f);
    output[n] = 0;
    fclose(f);
}

static int count(const char* part)
{
    int n = 0;
    for (const char* p = output; (p = strstr(p, part)); p++) n++;
    return n;
}

/* ------------------------------------------------------------------------------- profiles */

/* Three problems, solvers a and b: (1 s, 2 s), (3 s, fails), (fails, fails). By hand: rho_a(1) = 2/3, rho_b(1) = 0,
 * rho_b(2) = 1/3, and nothing reaches 1 because nobody solves the third. */
static void a_profile_is_that_of_dolan_and_more(void** state)
{
    (void)state;
    mor_lab_options o = mor_lab_options_default();
    o.solvers[0] = "nsgs", o.solvers[1] = "nsn", o.formulations[0] = "ncp";
    o.tol_count = 1;
    mor_lab lab;
    mor_error error = { 0 };
    assert_int_equal(mor_lab_begin(&lab, &o, &error), MOR_OK);
    mor_lab_problem problems[3] = { { .frame = 0 }, { .frame = 1 }, { .frame = 2 } };
    const double t[3][2] = { { 1, 2 }, { 3, -1 }, { -1, -1 } };
    mor_lab_run runs[6];
    for (int i = 0; i < 6; i++)
        runs[i] = (mor_lab_run){ .problem = i / 2,
                                 .solver = i % 2,
                                 .status = t[i / 2][i % 2] > 0 ? MOR_SOLVED : MOR_NOT_CONVERGED,
                                 .total_s = fabs(t[i / 2][i % 2]),
                                 .iterations = 1 };
    lab.problems = problems, lab.problem_count = 3, lab.runs = runs, lab.run_count = 6;
    mor_lab_profile p;
    assert_true(mor_lab_profile_make(&lab, 0, 0, NULL, &p));
    assert_int_equal(p.problem_count, 3);
    assert_int_equal(p.solver_count, 2);
    assert_near(mor_lab_rho(&p, 0, 1.0), 2.0 / 3.0, 1e-15);
    assert_near(mor_lab_rho(&p, 1, 1.0), 0.0, 1e-15);
    assert_near(mor_lab_rho(&p, 1, 2.0), 1.0 / 3.0, 1e-15);
    assert_near(mor_lab_rho(&p, 0, 1e9), 2.0 / 3.0, 1e-15);
    assert_near(mor_lab_delta(&p, 0, 2.0), 1.0 / 3.0, 1e-15);
    assert_int_equal(p.scores[0].fastest, 2);
    assert_near(p.scores[1].ratio, 2.0, 1e-12);
    assert_int_equal(mor_lab_winner(&p), 0);
    mor_lab_profile_free(&p);
}

/* -------------------------------------------------------------------------------- command */

static void a_comparison_writes_page_table_and_json(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    expect("6 files");
    assert_int_equal(run("compare small --solvers lemke,nsgs,nsn-tree,apgd --formulations ncp,st,convex,penalty --out "
                         "r.html --csv r.csv --json --jobs 2 --frames 1 --time-limit 60"),
                     0);
    expect("\"complete\": true");
    expect("\"profiles\": {");
    expect("\"start\": \"cold\"");
    expect("\"rank_deficiency\": 12"); /* two cubes: 24 rows on 12 degrees of freedom */
    /* 6 frames: ncp has nsgs and nsn-tree, st has lemke, nsgs and nsn-tree, convex has apgd, at two tolerances; penalty
     *   once */
    assert_int_equal(count("\"coulomb_error\""), 6 * (2 * 6 + 1));
    slurp("r.csv");
    assert_int_equal(count("\n"), 1 + 6 * (2 * 6 + 1));
    assert_int_equal(count(",solved,"), 6 * (2 * 6 + 1));
    slurp("r.html");
    expect("At a glance");
    expect("</html>");
    assert_int_equal(count("<svg"), count("</svg>"));
    assert_true(count("<svg") > 15);
    assert_int_equal(count("http://") + count("https://") + count("src="), 0); /* nothing is loaded */
    assert_int_equal(access("r.html.journal", F_OK), -1);
}

/* Removes the columns with times from the table. */
static void strip_times(char* text)
{
    char *to = text, *line = text;
    while (line && *line) {
        char* next = strchr(line, '\n');
        int column = 0;
        bool quoted = false;
        for (char* c = line; *c && *c != '\n'; c++) {
            if (*c == '"') quoted = !quoted;
            if (*c == ',' && !quoted) column++;
            if (column != 11 && column != 12) *to++ = *c;
        }
        *to++ = '\n';
        line = next ? next + 1 : NULL;
    }
    *to = 0;
}

static void numbers_do_not_depend_on_the_number_of_processes(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    assert_int_equal(run("compare small --solvers nsgs,psor,nsn-tree --tol 1e-4 --time-limit 20 --traces 0 --frames 1 "
                         "--csv one.csv --jobs 1 --quiet"),
                     0);
    assert_int_equal(run("compare small --solvers nsgs,psor,nsn-tree --tol 1e-4 --time-limit 20 --traces 0 --frames 1 "
                         "--csv three.csv --jobs 3 --quiet"),
                     0);
    slurp("one.csv");
    strip_times(output);
    char* kept = strdup(output);
    slurp("three.csv");
    strip_times(output);
    assert_string_equal(kept, output);
    assert_true(strlen(kept) > 1000);
    free(kept);
}

static void an_interrupted_comparison_goes_on(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen("i.err", "w", stderr)) _exit(9);
        execl(MOREAU_COMMAND, "moreau", "compare", "small", "--out", "i.html", "--csv", "i.csv", "--jobs", "1",
              "--quiet", (char*)NULL);
        _exit(9);
    }
    char path[256];
    snprintf(path, sizeof path, "%s/i.html.journal", folder);
    for (int k = 0; k < 6000; k++) { /* until a few runs are in */
        struct timespec wait = { 0, 50000000 };
        nanosleep(&wait, NULL);
        if (access(path, F_OK) != 0) continue;
        slurp("i.html.journal");
        if (count("\nR\t") >= 3) break;
    }
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    slurp("i.err");
    expect("interrupted (SIGINT) after");
    expect("--resume goes on");
    slurp("i.html");
    expect("was interrupted");
    slurp("i.html.journal");
    int before = count("\nR\t");
    assert_true(before > 0);
    /* other conditions */
    assert_int_equal(run("compare small --out i.html --csv i.csv --resume --quiet --tol 1e-3"), 2);
    expect("made under other conditions");
    assert_int_equal(run("compare small --out i.html --csv i.csv --resume --quiet --solvers nsgs,nsn-tree --traces 0"),
                     0);
    slurp("i.csv");
    assert_int_equal(count("\n"), 1 + 18 * 2 * 4); /* 18 frames, two tolerances, ncp and st with both */
}

static void a_solver_that_needs_too_long_fails_alone(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o wide --family wall"), 0);
    assert_int_equal(run("compare wide/wall-5.h5 --solvers psor,nsn-tree --formulations ncp --tol 1e-8 --time-limit "
                         "0.02 --frames 1 --traces 0 --csv slow.csv --quiet"),
                     0);
    slurp("slow.csv");
    assert_true(count("psor") > 0 && strstr(strstr(output, "psor"), "time_limit") != NULL);
}

/* Two families in three parts; all but times is that of one process. */
static void shards_of_a_comparison_are_put_together(void** state)
{
    (void)state;
    const char* what =
        "s8_bounce s5 s4_slide --frames 3 --solvers nsgs,lemke --tol 1e-4 --scene-limit 0.2 --jobs 2 --quiet"
        " --time-limit 30";
    char line[1600];
    snprintf(line, sizeof line, "compare %s --out all.html --csv all.csv", what);
    assert_int_equal(run(line), 0);
    for (int i = 1; i <= 3; i++) {
        snprintf(line, sizeof line, "compare %s --out part%d.html --shard %d/3", what, i, i);
        assert_int_equal(run(line), 0);
    }
    snprintf(line, sizeof line,
             "compare %s --out m.html --csv m.csv --merge part1.html.journal part2.html.journal part3.html.journal"
             " && for f in all m; do cut -d, -f 1-11,14-27 $f.csv > $f.cut; done; cmp all.cut m.cut"
             " && test $(wc -l < m.csv) -gt 10 && test ! -e m.html.journal",
             what);
    assert_int_equal(run(line), 0);
    assert_int_equal(run("compare s5 --out m.html --merge part1.html.journal part1.html.journal"), 2);
    expect("given twice");
    assert_int_equal(run("compare s5 --out m.html --merge"), 2);
    assert_int_equal(run("compare s5 --shard 1/2"), 2);
    expect("--out");
}

static void bad_input_is_told_with_status_two(void** state)
{
    (void)state;
    assert_int_equal(run("compare"), 2);
    expect("which problems?");
    assert_int_equal(run("compare nowhere.h5"), 2);
    expect("nowhere.h5: cannot open");
    assert_int_equal(run("compare small --solvers nsgz"), 2);
    expect("did you mean 'nsgs'?");
    assert_int_equal(run("compare small --formulation ncp"), 2);
    expect("did you mean '--formulations'?");
    assert_int_equal(run("compare small --tol 2"), 2);
    assert_int_equal(run("compare small --formulations ncp --solvers lemke"), 2);
    expect("nothing to compare");
    assert_int_equal(run("compare small --formulations ncp --solvers nsgs,lemke --frames 1 --tol 1e-4"), 0);
    expect("solver 'lemke' takes no problem");
    assert_int_equal(run("dataset bild"), 2);
    expect("did you mean 'build'?");
    char path[256];
    snprintf(path, sizeof path, "%s/text.h5", folder);
    FILE* f = fopen(path, "w");
    fputs("not HDF5", f);
    fclose(f);
    assert_int_equal(run("compare text.h5"), 2);
    expect("not an HDF5 file");
    assert_int_equal(run("dataset add text.h5 -o small"), 2);
    expect("not an HDF5 file");
}

/* A limit far too short: what is late on two frames of a file is not tried on the third, which has no fewer contacts;
 * it counts as late, and says why. */
static void what_is_too_slow_on_two_frames_is_not_tried_on_the_third(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o wide --family wall"), 0);
    assert_int_equal(run("compare wide/wall-5.h5 --solvers psor --formulations ncp --tol 1e-4,1e-8 --time-limit 0.001 "
                         "--frames 3 --traces 0 --csv slow.csv --quiet"),
                     0);
    slurp("slow.csv");
    assert_int_equal(count("time_limit"), 6);
    /* at 1e-4; at 1e-8 the limit was too short for 1e-4 */
    assert_int_equal(count("not tried: too slow on 2 smaller frames"), 1);
    assert_int_equal(run("compare wide/wall-5.h5 --solvers psor --formulations ncp --tol 1e-4,1e-8 --time-limit 0.001 "
                         "--frames 3 --traces 0 --assume nothing --csv slow.csv --quiet"),
                     0);
    slurp("slow.csv");
    assert_int_equal(count("time_limit"), 6);
    assert_int_equal(count("not tried"), 0);
}

/* The journal holds the whole runs of a scene: after an interruption, or a cut in the middle of them, the numbers are
 * the same. */
static void whole_runs_are_in_the_journal(void** state)
{
    (void)state;
    const char* command =
        "compare s4_slide_45 --formulations ncp --solvers auto --tol 1e-8 --frames 1 --traces 0 --out j.html --json";
    char line[512];
    assert_int_equal(run(command), 0);
    char* kept = strdup(strstr(output, "\"scenes\": ["));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen("j.err", "w", stderr) || !freopen("j.out", "w", stdout)) _exit(9);
        execl(MOREAU_COMMAND, "moreau", "compare", "s4_slide_45", "--formulations", "ncp", "--solvers", "auto", "--tol",
              "1e-8", "--frames", "1", "--traces", "0", "--out", "k.html", "--json", (char*)NULL);
        _exit(9);
    }
    char path[256];
    snprintf(path, sizeof path, "%s/k.html.journal", folder);
    for (int k = 0; k < 12000; k++) {
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
        if (access(path, F_OK) != 0) continue;
        slurp("k.html.journal");
        if (count("\nS\t") >= 4 || waitpid(child, NULL, WNOHANG) == child) break;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    /* it was faster than the signal */
    if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s/k.html", folder), remove(path);
    snprintf(line, sizeof line, "%.*s k.html --json --resume", (int)(strstr(command, "j.html") - command - 1), command);
    assert_int_equal(run(line), 0);
    const char *a = strstr(output, "\"scenes\": ["), *b = kept;
    int compared = 0;
    while ((a = strstr(a, "\"position_error\"")) && (b = strstr(b, "\"position_error\""))) {
        size_t n = (size_t)(strstr(a, "\"cpu_s\"") - a); /* the time is that of each run */
        assert_ptr_equal(b + n, strstr(b, "\"cpu_s\""));
        assert_memory_equal(a, b, n);
        a += n, b += n, compared++;
    }
    assert_int_equal(compared, 4);
    free(kept);
}

/* A cube slides down a slope turned by 45 degrees against the world: the polygon of st holds it, so its error does not
 * fall with the step; that of ncp does. */
static void whole_runs_of_scenes_are_compared_with_the_finest_step(void** state)
{
    (void)state;
    assert_int_equal(run("compare s4_slide_45 --formulations ncp,st --solvers auto --tol 1e-8 --frames 1 --traces 0 "
                         "--out scene.html --json"),
                     0);
    expect("\"scenes\": [");
    assert_int_equal(count("\"position_error\""), 7); /* the reference, and three steps of each */
    assert_int_equal(count("\"reference\": true"), 1);
    double error[7] = { 0 };
    const char* at = output;
    for (int k = 0; k < 7; k++) {
        at = strstr(at, "\"position_error\": ") + 18;
        error[k] = atof(at);
    }
    assert_true(error[1] > 1.5 * error[2] && error[2] > 1.5 * error[3] && error[3] > 0.0); /* first order */
    assert_true(error[1] < 0.05 && error[6] > 1.0);
    slurp("scene.html");
    expect("Whole runs");
    expect("error against CPU time");
}

static void iterates_and_an_error_of_ones_own_are_stored(void** state)
{
    (void)state;
    char line[1024];
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    snprintf(line, sizeof line,
             "compare small/box-stack-2.h5 --plugin %s --solvers nsgs,lemke --formulations ncp,st --tol 1e-8 --frames "
             "1 --traces 1 --iterations iterates --csv own.csv --out own.html --quiet",
             MOREAU_ERROR_PLUGIN);
    assert_int_equal(run(line), 0);
    slurp("own.csv");
    /* two cubes of 1 kg at rest: 9.81 x 0.01 for the upper, twice that for the lower contact */
    const char* header = strstr(output, "user_error");
    assert_non_null(header);
    int column = 0, found = 0;
    for (const char* c = output; c < header; c++) column += *c == ',';
    for (char* row = strchr(output, '\n'); row && row[1]; row = strchr(row + 1, '\n')) {
        const char* c = row + 1;
        for (int k = 0; k < column; k++) c = strchr(c, ',') + 1;
        if (fabs(atof(c) - 3 * 9.81 * 0.01) < 1e-6) found++;
    }
    assert_int_equal(found, 3); /* ncp nsgs, st nsgs, st lemke */
    slurp("own.html");
    expect("<th class=\"n\">weight</th>");
    char path[256];
    snprintf(path, sizeof path, "%s/iterates/box-stack-2#3-ncp-nsgs.h5", folder);
    mor_h5 h5;
    mor_error error = { 0 };
    if (mor_h5_open(&h5, path, &error)) fail_msg("%s", error.text);
    int rank;
    size_t dims[MOR_H5_RANK], more[MOR_H5_RANK];
    assert_int_equal(mor_h5_dims(&h5, "/z", &rank, dims, &error), MOR_OK);
    assert_int_equal(rank, 2);
    assert_int_equal(dims[1], 24);
    static double velocity[100000], sticking[100000];
    assert_int_equal(mor_h5_dims(&h5, "/velocity", &rank, more, &error), MOR_OK);
    assert_int_equal(more[0], dims[0]);
    assert_int_equal(mor_h5_read_all(&h5, "/velocity", MOR_H5_DOUBLE, dims[0], velocity, &error), MOR_OK);
    assert_int_equal(mor_h5_read_all(&h5, "/sticking", MOR_H5_DOUBLE, dims[0], sticking, &error), MOR_OK);
    assert_true(velocity[dims[0] - 1] <= 1e-8 && velocity[0] > 1e-6);
    assert_true(sticking[dims[0] - 1] == 8.0);
    mor_h5_close(&h5, NULL);
}

static void frames_go_to_fclib_and_come_back(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    assert_int_equal(run("dataset export small/box-stack-5.h5 -o fclib"), 0);
    expect("3 problems in fclib");
    /* the same step, posed by ncp from the frame and as a global problem in the file: the same impulses per unit of
     * weight */
    assert_int_equal(run("solve fclib/box-stack-5-mbs_frame000002.hdf5 --solver nsgs --solution r.txt --json"), 0);
    expect("\"kind\": \"gfc3d\"");
    expect("\"status\": \"solved\"");
    slurp("r.txt");
    double sum = 0.0;
    int row = 0;
    for (char* c = strtok(output, "\n"); c && row < 60; c = strtok(NULL, "\n"), row++)
        if (row % 3 == 0) sum += atof(c);
    assert_near(sum, (5 + 4 + 3 + 2 + 1) * 9.81 * 0.01, 1e-4); /* every layer carries what is above it */
    assert_int_equal(run("dataset export small/box-stack-5.h5 -o fclib"), 2);
    expect("file exists");
}

static void robots_and_closed_chains_are_compared_in_both_coordinates(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o jointed --family robot,ring"), 0);
    for (int maximal = 0; maximal < 2; maximal++) {
        char line[256];
        snprintf(line, sizeof line,
                 "compare jointed/robot-2.h5 jointed/ring-4.h5 --coordinates %s --solvers auto,lemke --formulations "
                 "ncp,st --tol 1e-6 --time-limit 60 --frames 1 --traces 0 --csv j.csv --quiet",
                 maximal ? "maximal" : "minimal");
        assert_int_equal(run(line), 0);
        slurp("j.csv");
        assert_int_equal(count(",solved,"), 2 * 3);
    }
    assert_int_equal(run("dataset list"), 0);
    assert_true(count("  sizes") >= 14);
}

static void a_contributed_file_is_checked_and_never_overwrites(void** state)
{
    (void)state;
    assert_int_equal(run("run s5 --steps 3 --bpmd mine.h5 --quiet"), 0);
    assert_int_equal(run("dataset add mine.h5 -o more"), 0);
    assert_int_equal(run("dataset add mine.h5 -o more"), 2);
    expect("the name is taken");
    assert_int_equal(run("dataset info more"), 0);
    expect("mine#3");
    assert_int_equal(run("run s5 --steps 3 --bpmd mine.h5 --quiet"), 2);
    expect("file exists");
}

/* The command at a terminal of its own, where `typed` is typed. Its words go to `output`. Returns its exit status. */
static int run_at_a_terminal(const char* arguments, const char* typed)
{
    char line[1024];
    int terminal, status = -1;
    snprintf(line, sizeof line, "cd %s && exec %s %s", folder, MOREAU_COMMAND, arguments);
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(127);
    }
    assert_int_equal(write(terminal, typed, strlen(typed)), strlen(typed));
    size_t used = 0;
    ssize_t n;
    while (used < output_size - 1 && (n = read(terminal, output + used, output_size - 1 - used)) > 0) used += (size_t)n;
    output[used] = '\0'; /* the end of a terminal is an error of read */
    close(terminal);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void provenance_is_asked_for_at_a_terminal(void** state)
{
    (void)state;
    assert_int_equal(run("run s5 --steps 2 --bpmd asked-1.h5 --quiet"), 0);
    assert_int_equal(run("run s5 --steps 2 --bpmd asked-2.h5 --quiet"), 0);
    /* what was told is not asked for; an empty line is no answer */
    assert_int_equal(run_at_a_terminal("dataset add asked-1.h5 -o asked --licence CC0-1.0",
                                       "A. \"Person\"\nTest Engine 1.2\n\nengine --scene stack\n"),
                     0);
    expect("who made the problems: ");
    expect("its commit: ");
    expect("not told: --commit");
    assert_null(strstr(output, "under which terms"));
    slurp("asked/asked-1.h5.provenance.json");
    expect("\"A. \\\"Person\\\"\"");
    expect("CC0-1.0");
    expect("Test Engine 1.2");
    expect("engine --scene stack");
    /* no terminal, no question */
    assert_int_equal(run("dataset add asked-2.h5 -o asked --author B"), 0);
    assert_null(strstr(output, "who made the problems: "));
    expect("not told: --licence --engine --commit --command");
}

static void the_database_is_the_same_bytes_every_time(void** state)
{
    (void)state;
    assert_int_equal(run("dataset build -o once --family card-house,planar,arch,shapes,robot,ring"), 0);
    assert_int_equal(run("dataset build -o twice --family card-house,planar,arch,shapes,robot,ring"), 0);
    char line[256];
    snprintf(line, sizeof line, "cd %s && for f in once/*.h5 once/robots/*; do cmp $f twice/${f#once/} || exit 1; done",
             folder);
    assert_int_equal(system(line), 0);
}

static void a_plug_in_is_compared_like_a_built_in_solver(void** state)
{
    (void)state;
    char line[1024];
    assert_int_equal(run("dataset build -o small --family box-stack,peg"), 0);
    snprintf(line, sizeof line, "list solvers --plugin %s", MOREAU_PLUGIN);
    assert_int_equal(run(line), 0);
    expect("gradient ");
    snprintf(line, sizeof line,
             "compare small/box-stack-2.h5 --plugin %s --solvers gradient,nsgs --formulations ncp --tol 1e-4 "
             "--time-limit 20 --frames 1",
             MOREAU_PLUGIN);
    assert_int_equal(run(line), 0);
    expect("  gradient                  1");
    assert_int_equal(run("list solvers --plugin missing.so"), 2);
    expect("missing.so");
    snprintf(line, sizeof line, "list solvers --plugin %s --plugin %s", MOREAU_PLUGIN, MOREAU_PLUGIN);
    assert_int_equal(run(line), 2); /* the name is taken */
}

static void the_tutorial_shows_the_plug_in_that_is_tested(void** state)
{
    (void)state;
    static char code[20000];
    char path[512];
    snprintf(path, sizeof path, "%s/examples/plugin/gradient.c", MOREAU_SOURCE_DIR);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    code[fread(code, 1, sizeof code - 1, f)] = 0;
    fclose(f);
    snprintf(path, sizeof path, "%s/docs/tutorials/your-solver.md", MOREAU_SOURCE_DIR);
    f = fopen(path, "r");
    assert_non_null(f);
    output[fread(output, 1, output_size - 1, f)] = 0;
    fclose(f);
    assert_non_null(strstr(output, code));
}

static int make_folder(void** state)
{
    (void)state;
    output = malloc(output_size);
    return output && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    free(output);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_is_that_of_dolan_and_more),
        cmocka_unit_test(a_comparison_writes_page_table_and_json),
        cmocka_unit_test(numbers_do_not_depend_on_the_number_of_processes),
        cmocka_unit_test(an_interrupted_comparison_goes_on),
        cmocka_unit_test(a_solver_that_needs_too_long_fails_alone),
        cmocka_unit_test(what_is_too_slow_on_two_frames_is_not_tried_on_the_third),
        cmocka_unit_test(whole_runs_are_in_the_journal),
        cmocka_unit_test(shards_of_a_comparison_are_put_together),
        cmocka_unit_test(bad_input_is_told_with_status_two),
        cmocka_unit_test(whole_runs_of_scenes_are_compared_with_the_finest_step),
        cmocka_unit_test(iterates_and_an_error_of_ones_own_are_stored),
        cmocka_unit_test(frames_go_to_fclib_and_come_back),
        cmocka_unit_test(robots_and_closed_chains_are_compared_in_both_coordinates),
        cmocka_unit_test(a_contributed_file_is_checked_and_never_overwrites),
        cmocka_unit_test(a_plug_in_is_compared_like_a_built_in_solver),
        cmocka_unit_test(the_tutorial_shows_the_plug_in_that_is_tested),
        cmocka_unit_test(provenance_is_asked_for_at_a_terminal),
        cmocka_unit_test(the_database_is_the_same_bytes_every_time),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
