/* moreau reproduce: goes on after a kill, tells its progress to a terminal only, and its HDF5 file holds what the CSV
 * files hold. */
#define _XOPEN_SOURCE 700 /* pseudo-terminals */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/worlds.h"
#include "common/folder.h"
#include "io/hdf5/h5.h"

/* Exit status of `moreau reproduce ARGUMENTS` in the folder; what it said on stderr goes to the file err. */
static int run(const char* arguments)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && '%s' reproduce %s > out 2> err", folder, MOREAU_COMMAND, arguments);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char* slurp(const char* name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "r");
    if (!f) fail_msg("no %s", path);
    char* text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static bool there(const char* name, struct stat* s)
{
    char path[256];
    struct stat local;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, s ? s : &local) == 0;
}

/* Takes out the sixth column, CPU time per step. */
static void strip_times(char* csv)
{
    int column = 0;
    char* to = csv;
    for (const char* c = csv; *c; c++) {
        if (*c == '\n') column = 0;
        if (*c == ',') column++;
        if (column != 5) *to++ = *c;
    }
    *to = '\0';
}

static void a_killed_run_goes_on_where_it_stopped(void** state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(9);
        execl(MOREAU_COMMAND, "moreau", "reproduce", "22", "--quick", "--threads", "1", "-o", "killed", (char*)NULL);
        _exit(9);
    }
    const char* part = "killed/parts/quick-seed-18-19-field-00.bin";
    struct stat before, after;
    for (int k = 0; k < 6000 && !there(part, &before); k++) nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_true(there(part, &before));
    assert_false(there("killed/parts/quick-seed-18-19-field-02.bin", NULL)); /* it was not done */
    assert_false(there("killed/index.html", NULL));
    assert_int_equal(run("22 --quick --threads 1 -o killed"), 0);
    assert_true(there(part, &after));
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
                before.st_ino == after.st_ino);
    /* the same numbers as in one go, on two threads */
    assert_int_equal(run("table1 --quick --threads 2 -o whole"), 0);
    char *a = slurp("killed/figure-19/errors.csv"), *b = slurp("whole/figure-19/errors.csv");
    strip_times(a);
    strip_times(b);
    assert_true(strlen(a) > 1000);
    assert_string_equal(a, b);
    free(a);
    free(b);
    /* parts of shards in folders of their own, put together: the same table to the byte, with its times */
    assert_int_equal(run("22 --quick --threads 1 --shard 2/3 -o killed"), 0); /* all is there */
    char line[600];
    snprintf(line, sizeof line,
             "cd '%s' && mkdir -p a/parts b/parts && cp killed/parts/*-00.bin a/parts && cp killed/parts/*-0[12].bin "
             "b/parts",
             folder);
    assert_int_equal(system(line), 0);
    assert_int_equal(run("22 --quick --merge a -o merged"), 2);
    char* told = slurp("err");
    assert_non_null(strstr(told, "is not there: a shard is not named"));
    free(told);
    assert_int_equal(run("22 --quick --merge a b -o merged"), 0);
    char *c = slurp("killed/figure-19/errors.csv"), *d = slurp("merged/figure-19/errors.csv");
    assert_string_equal(c, d);
    free(c);
    free(d);
    assert_true(there("merged/index.html", NULL));
    /* another seed or extent does not take these parts for its own */
    assert_true(there("whole/parts/quick-seed-18-19-field-02.bin", NULL));
    assert_false(there("whole/parts/full-seed-18-19-field-02.bin", NULL));
}

static void the_hdf5_file_holds_the_tables(void** state)
{
    (void)state;
    assert_int_equal(run("2 -o one"), 0);
    char* csv = slurp("one/figure-1/peg.csv");
    char path[256];
    mor_error error = { 0 };
    mor_h5 h5;
    snprintf(path, sizeof path, "%s/one/data.h5", folder);
    if (mor_h5_open(&h5, path, &error) != MOR_OK) fail_msg("%s", error.text);
    double x[91], energy[91];
    if (mor_h5_read_all(&h5, "/figure-1/peg/x", MOR_H5_DOUBLE, 91, x, &error) != MOR_OK) fail_msg("%s", error.text);
    if (mor_h5_read_all(&h5, "/figure-1/peg/energy", MOR_H5_DOUBLE, 91, energy, &error) != MOR_OK)
        fail_msg("%s", error.text);
    const char* line = strchr(csv, '\n') + 1;
    for (int i = 0; i < 91; i++) {
        double t, a, y, e;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf", &t, &a, &y, &e), 4);
        assert_true(a == x[i] && e == energy[i]);
        line = strchr(line, '\n') + 1;
    }
    assert_true(mor_h5_exists(&h5, "/figure-1/st/energy"));
    mor_h5_close(&h5, &error);
    free(csv);
    char* page = slurp("one/index.html");
    assert_non_null(strstr(page, "figure-1/energy.svg"));
    assert_non_null(strstr(page, "data.h5"));
    free(page);
}

static void figures_go_by_the_numbers_of_the_paper(void** state)
{
    (void)state;
    assert_int_equal(run("7 -o seven"), 0);
    assert_true(there("seven/figure-6/trajectories.svg", NULL));
    assert_int_equal(run("4 -o four"), 2);
    char* said = slurp("err");
    assert_non_null(strstr(said, "no figure '4'"));
    free(said);
    assert_int_equal(run("sawtooth -o four"), 2);
}

static void progress_is_for_terminals(void** state)
{
    (void)state;
    assert_int_equal(run("1 -o quiet"), 0);
    char* said = slurp("err");
    assert_string_equal(said, "");
    free(said);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        printf("SKIP: no pseudo-terminals here\n");
        skip();
    }
    char* name = ptsname(master);
    int slave = open(name, O_RDWR | O_NOCTTY);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0 || dup2(slave, 2) < 0 || !freopen("/dev/null", "w", stdout)) _exit(9);
        execl(MOREAU_COMMAND, "moreau", "reproduce", "1", "-o", "loud", (char*)NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fcntl(master, F_SETFL, O_NONBLOCK);
    char text[8192] = "";
    ssize_t n = read(master, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    assert_non_null(strstr(text, "Fig. 1-2"));
    assert_non_null(strstr(text, "[########################################] 3 of 3"));
    close(slave);
    close(master);
}

static void expect_held(const char* fragment, int claims)
{
    char* text = slurp(fragment);
    int held = 0;
    for (const char* at = text; (at = strstr(at, ">holds<")); at++) held++;
    if (strstr(text, "does not hold") || held != claims) fail_msg("%d claims hold: %s", held, text);
    free(text);
}

/* RPIsim paper, Figs. 4, 9 and 1; --quick is quick enough to be a test. */
static void joint_errors_spheres_and_the_grasp_are_as_the_paper_says(void** state)
{
    (void)state;
    assert_int_equal(run("joints -o rpisim"), 0);
    expect_held("rpisim/figure-joints/fragment.html", 3);
    assert_true(there("rpisim/figure-joints/errors.svg", NULL) && there("rpisim/figure-joints/errors.csv", NULL));
    assert_int_equal(run("spheres --quick -o rpisim"), 0);
    expect_held("rpisim/figure-spheres/fragment.html", 2);
    /* without rounding in the state the solves take about the eight iterations that |min(z, w)| takes to 1e-8 */
    char* spheres = slurp("rpisim/figure-spheres/fragment.html");
    const char* still = strstr(spheres, "exactly zero 5 of 5 samples");
    double median = 0.0;
    assert_non_null(still);
    assert_int_equal(sscanf(strstr(still, "in "), "in %lf", &median), 1);
    assert_true(median >= 4.0 && median <= 10.0);
    free(spheres);
    assert_int_equal(run("grasp --quick -o rpisim"), 0);
    expect_held("rpisim/figure-grasp/fragment.html", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_run_goes_on_where_it_stopped, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_hdf5_file_holds_the_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(figures_go_by_the_numbers_of_the_paper, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(joint_errors_spheres_and_the_grasp_are_as_the_paper_says, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(progress_is_for_terminals, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
