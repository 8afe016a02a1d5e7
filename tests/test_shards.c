/* Shards of `dataset build`: the merged folder is that of one process, to the byte, for every number of shards, after a
 * kill and when shards share a folder. Job files of Slurm for `dataset`, `reproduce` and `calibrate` (run for real by
 * scripts/test-cluster): the shards and the merge that they name are run here by a shell in place of Slurm. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/worlds.h"
#include "common/folder.h"

/* Exit status of a line of the shell in the folder, with M for the command. */
static int shell(const char* text)
{
    char line[2048];
    snprintf(line, sizeof line, "cd '%s' && M='%s' && S='%s' && { %s; } > out 2> err", folder, MOREAU_COMMAND,
             MOREAU_SOURCE_DIR, text);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool said(const char* words)
{
    char line[512];
    snprintf(line, sizeof line, "grep -q '%s' '%s/err'", words, folder);
    return system(line) == 0;
}

#define FAMILIES "--family box-stack,peg"

static void every_number_of_shards_gives_the_same_folder(void** state)
{
    (void)state;
    assert_int_equal(shell("$M dataset build -o one " FAMILIES), 0);
    for (int n = 1; n <= 7; n += 3) {
        char line[400];
        snprintf(line, sizeof line,
                 "rm -rf p all; mkdir p; for i in $(seq %d); do $M dataset build -o p/$i " FAMILIES
                 " --shard $i/%d || exit 9; done; $M dataset build --merge p/* -o all " FAMILIES " && diff -r one all",
                 n, n);
        assert_int_equal(shell(line), 0);
    }
    assert_int_equal(shell("for i in 2 1; do $M dataset build -o shared " FAMILIES " --shard $i/2; done; "
                           "$M dataset build --merge shared -o shared " FAMILIES " && diff -r one shared"),
                     0);
}

static void a_killed_shard_runs_again(void** state)
{
    (void)state;
    for (int after = 1; after < 60; after *= 4) { /* ms */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (chdir(folder) != 0 || !freopen("/dev/null", "w", stdout)) _exit(9);
            execl(MOREAU_COMMAND, "moreau", "dataset", "build", "-o", "k/1", "--family", "box-stack,peg", "--shard",
                  "1/2", (char*)NULL);
            _exit(9);
        }
        nanosleep(&(struct timespec){ 0, after * 1000000L }, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    assert_int_equal(shell("mkdir -p k; for i in 1 2; do $M dataset build -o k/$i " FAMILIES " --shard $i/2; done; "
                           "$M dataset build --merge k/1 k/2 -o again " FAMILIES " && diff -r one again"),
                     0);
}

static void what_is_missing_or_different_is_told(void** state)
{
    (void)state;
    assert_int_equal(shell("mkdir -p m; for i in 1 2 3; do $M dataset build -o m/$i " FAMILIES " --shard $i/3; done"),
                     0);
    assert_int_equal(shell("$M dataset build --merge m/1 m/3 -o part " FAMILIES), 2);
    assert_true(said("is not there: a shard is not named or has not ended"));
    assert_int_equal(
        shell("cp -r one other; echo x >> other/peg-1.h5; $M dataset build --merge m/* -o other " FAMILIES), 2);
    assert_true(said("differ"));
    assert_int_equal(shell("$M dataset build --merge nowhere -o all " FAMILIES), 2);
    assert_true(said("no such folder"));
    assert_int_equal(shell("$M dataset build --merge m/1 --shard 1/3"), 2);
    assert_int_equal(shell("$M dataset build --shard 4/3"), 2);
    assert_int_equal(shell("$M dataset build --no-submit"), 2);
    assert_int_equal(shell("$M reproduce 2 --merge"), 2);
    assert_int_equal(shell("$M calibrate plan.yaml --slurm 2"), 2);
}

/* What Slurm would run, by a shell. */
#define RUN_JOBS(base, n)                                                                                              \
    "for i in $(seq " n "); do SLURM_ARRAY_TASK_ID=$i sh " base ".slurm; done; sh " base ".slurm-merge"

static void job_files_run(void** state)
{
    (void)state;
    assert_int_equal(shell("$M dataset build -o by-jobs " FAMILIES " --slurm 3 --no-submit && grep -q array=1-3 "
                           "by-jobs.slurm && " RUN_JOBS("by-jobs", "3") " && diff -r one by-jobs"),
                     0);
    assert_int_equal(shell("$M reproduce 2 -o r && $M reproduce 2 -o fig --slurm 2 --no-submit && " RUN_JOBS(
                         "fig", "2") " && cut -d, -f1-5 r/figure-1/peg.csv > a && cut -d, -f1-5 fig/figure-1/peg.csv > "
                                     "b && cmp a b && cmp r/index.html fig/index.html"),
                     0);
    assert_int_equal(
        shell("cp $S/scenes/teaching/bounce.yaml . && $M run bounce.yaml --time 1 --quiet --csv b.csv && printf "
              "'moreau-calibrate: 1\\nscene: bounce.yaml\\ndata: { file: b.csv, time: time, columns: { "
              "bodies.rubber.position: [rubber.x, rubber.y, rubber.z] } }\\nparameters:\\n  - { path: "
              "materials.rubber.restitution, range: [0.5, 1], start: 0.6 }\\noptimiser: { starts: 1, evaluations: 20 "
              "}\\nintervals: { bootstrap: 0 }\\nmethods: [ { formulation: st }, { formulation: ncp } ]\\n' > "
              "plan.yaml && "
              "$M calibrate plan.yaml --quiet --csv one.csv && "
              "$M calibrate plan.yaml --quiet --csv jobs.csv --journal cal --slurm 2 --jobs 1 --no-submit && " RUN_JOBS(
                  "cal", "2") " && cut -d, -f1-6 one.csv > a && cut -d, -f1-6 jobs.csv > b && cmp a b"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_shards_gives_the_same_folder),
        cmocka_unit_test(a_killed_shard_runs_again),
        cmocka_unit_test(what_is_missing_or_different_is_told),
        cmocka_unit_test(job_files_run),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
