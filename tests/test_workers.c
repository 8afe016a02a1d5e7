/* Threads that take tasks by number: every task once, however short the runs are and whoever sleeps between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/workers.h"
#include "moreau/base.h"

enum { MOST = 64 };

typedef struct tally {
    int done[MOST], workers;
    bool strange; /* a worker that does not exist */
} tally;

static void take(void* user, int index, int worker)
{
    tally* t = user;
    t->done[index]++;
    if (worker < 0 || worker >= t->workers) t->strange = true;
}

static void sleep_for(double seconds)
{
    struct timespec t = { 0, (long)(1e9 * seconds) };
    nanosleep(&t, NULL);
}

static void take_slowly(void* user, int index, int worker)
{
    if (index % 2) sleep_for(0.004); /* longer than anybody looks before it sleeps */
    take(user, index, worker);
}

static void run(mor_workers* w, int threads, int count, bool slow)
{
    tally t = { .workers = threads };
    mor_workers_run(w, count, slow ? take_slowly : take, &t);
    for (int i = 0; i < MOST; i++) assert_int_equal(t.done[i], i < count);
    assert_false(t.strange);
}

static void every_task_is_done_once_in_many_short_runs(void** state)
{
    (void)state;
    mor_rng rng = { 20 };
    for (int threads = 1; threads <= 5; threads += 2) {
        mor_workers* w = mor_workers_create(NULL, threads);
        assert_non_null(w);
        for (int i = 0; i < 3000; i++) run(w, threads, (int)(mor_rng_uniform(&rng) * (i % 10 ? 4 : MOST)), false);
        mor_workers_destroy(w);
    }
}

static void threads_and_caller_that_sleep_are_woken(void** state)
{
    (void)state;
    mor_workers* w = mor_workers_create(NULL, 3);
    assert_non_null(w);
    for (int i = 0; i < 12; i++) {
        sleep_for(i % 2 ? 0.0 : 0.01);
        run(w, 3, 2 + i % 5, i % 3 > 0);
    }
    mor_workers_destroy(w);
    sleep_for(0.0);
    w = mor_workers_create(NULL, 4); /* destroyed asleep, and without a run */
    sleep_for(0.01);
    mor_workers_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once_in_many_short_runs),
        cmocka_unit_test(threads_and_caller_that_sleep_are_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
