/* Signals, see signals.h. A handler only writes numbers; files are closed by the program, which finishes its step.
 * Files under way have no name yet (io/text/output.h), so the second signal leaves none behind. */
#include "cli/signals.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t noted;
static volatile int impatient;

/* The timer counts once more after a signal: how long a step may still take. */
static void wait_a_second(void)
{
    const struct itimerval second = { .it_value = { .tv_sec = 1 } };
    setitimer(ITIMER_REAL, &second, NULL);
}

static void note(int number)
{
    if (noted) impatient = 1; /* only the timer comes here twice */
    else {
        noted = number;
        wait_a_second();
    }
}

static void set_timer(double limit)
{
    double whole = floor(limit);
    struct itimerval when = { .it_value = { (time_t)whole, (suseconds_t)(1e6 * (limit - whole)) } };
    if (whole == 0.0 && when.it_value.tv_usec == 0) when.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &when, NULL);
}

void mor_cli_catch_signals(double limit)
{
    struct sigaction once = { .sa_handler = note, .sa_flags = SA_RESTART | (int)SA_RESETHAND };
    struct sigaction timer = { .sa_handler = note, .sa_flags = SA_RESTART };
    const int asked[] = { SIGINT, SIGTERM };
    for (int i = 0; i < 2; i++) { /* what is ignored (nohup, background) stays ignored */
        struct sigaction before;
        if (sigaction(asked[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(asked[i], &once, NULL);
    }
    sigaction(SIGALRM, &timer, NULL);
    if (limit > 0.0) set_timer(limit);
}

/* written before the timer is set, read by its handler */
static char last_words[80];

static void end(int number)
{
    (void)number;
    ssize_t told = write(2, last_words, strlen(last_words));
    _exit(told < 0 ? 3 : 1);
}

void mor_cli_end_after(const char* command, double limit)
{
    if (!(limit > 0.0)) return;
    snprintf(last_words, sizeof last_words, "moreau %.40s: the time limit has passed\n", command);
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = end }, NULL);
    set_timer(limit);
}

int mor_cli_signal(void) { return noted; }
const volatile int* mor_cli_patience(void) { return &impatient; }
int mor_cli_signal_status(int number) { return number == SIGALRM ? 1 : 128 + number; }

const char* mor_cli_signal_name(int number)
{
    return number == SIGALRM  ? "the time limit has passed"
           : number == SIGINT ? "interrupted (SIGINT)"
                              : "interrupted (SIGTERM)";
}

int mor_cli_stopped(const char* command)
{
    fprintf(stderr, "moreau %s: %s; nothing was written\n", command, mor_cli_signal_name(noted));
    return mor_cli_signal_status(noted);
}
