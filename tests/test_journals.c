/* A journal has one writer at a time: sweeps, calibrations and comparisons refuse one that another process writes, and
 * leave it as it is. */
#include "common/command.h"
#include "common/worlds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int write_files(void** state)
{
    if (command_open(state)) return -1;
    command_expect("printf 'moreau-sweep: 1\\nscene: bounce\\nset: { time.end: 0.05 }\\nparameters:\\n  - { path: "
                   "time.step, values: [0.01, 0.005, 0.0025] }\\nmeasures: [energy.final]\\n' > sweep.yaml",
                   0, NULL);
    command_expect(
        "$M run bounce --time 0.6 --quiet --csv b.csv && printf 'moreau-calibrate: 1\\nscene: bounce\\ndata: "
        "{ file: b.csv, time: time, columns: { bodies.rubber.position: [rubber.x, rubber.y, rubber.z] } "
        "}\\nparameters:\\n  - { path: materials.rubber.restitution, range: [0.5, 1], start: 0.6 "
        "}\\noptimiser: { name: sbplx, starts: 1, evaluations: 12 }\\nintervals: { bootstrap: 0 }\\n' > "
        "fit.yaml",
        0, NULL);
    return 0;
}

/* A journal that this process writes. */
static int hold(const char* name)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int descriptor = open(command_at(name), O_RDWR | O_CREAT, 0666);
    assert_true(descriptor >= 0 && fcntl(descriptor, F_SETLK, &lock) == 0);
    assert_int_equal(write(descriptor, "mine\n", 5), 5);
    return descriptor;
}

static void held_is_refused(const char* journal, const char* command)
{
    char resumed[400], says[80];
    snprintf(says, sizeof says, "another process (%d) writes it", (int)getpid());
    snprintf(resumed, sizeof resumed, "%s --resume", command);
    int descriptor = hold(journal);
    command_expect(command, 2, says);
    char text[16] = "";
    assert_int_equal(pread(descriptor, text, sizeof text - 1, 0), 5);
    assert_string_equal(text, "mine\n");
    assert_int_equal(ftruncate(descriptor, 0), 0);
    command_expect(resumed, 2, says); /* begun by another, which has written nothing yet */
    close(descriptor);
    command_expect(resumed, 0, NULL);
}

static void a_sweep_leaves_the_journal_of_another_process(void** state)
{
    (void)state;
    held_is_refused("s.h5.journal", "$M sweep sweep.yaml -o s.h5 --quiet --jobs 2");
}

static void a_calibration_leaves_the_journal_of_another_process(void** state)
{
    (void)state;
    held_is_refused("fit.journal", "$M calibrate fit.yaml --quiet --journal fit.journal");
    command_expect("$M calibrate fit.yaml --quiet --journal fit.journal --resume --csv a.csv && $M calibrate fit.yaml "
                   "--quiet --csv b.csv && cmp a.csv b.csv",
                   0, NULL);
}

static void a_comparison_leaves_the_journal_of_another_process(void** state)
{
    (void)state;
    held_is_refused("c.html.journal", "$M compare bounce --frames 1 --solvers nsgs --formulations ncp --scene-limit 0 "
                                      "--quiet --out c.html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_leaves_the_journal_of_another_process),
        cmocka_unit_test(a_calibration_leaves_the_journal_of_another_process),
        cmocka_unit_test(a_comparison_leaves_the_journal_of_another_process),
    };
    return cmocka_run_group_tests(tests, write_files, command_close);
}
