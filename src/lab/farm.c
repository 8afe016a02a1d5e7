/* Tasks in processes, see farm.h.
 *
 * A process is forked with a part of the places, runs them in order and writes each result to a pipe. The parent knows
 * which one was running when a process ends early: the first without a result. Parts grow until one takes about
 * part_seconds, so that forking costs less than a percent, and shrink at the end so that all processes end together. */
#include "lab/farm.h"

#include <errno.h>
#include <math.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST_PART = 4096, TRIES = 2, KILLS = 5 };
static const double part_seconds = 0.5;

/* A process at work. */
typedef struct worker {
    pid_t pid; /* 0: none */
    int pipe;
    mor_farm_part part; /* what it has left: the first is running */
    int tries;          /* of that first one, before this */
    double since;       /* when that one began */
    bool late;
    char* record;
    size_t filled;
} worker;

/* Places that go back after a process ended. */
typedef struct rest {
    mor_farm_part part;
    int tries; /* of its first place */
} rest;

typedef struct yard {
    mor_farm* farm;
    worker* workers;
    rest* rests;
    int rest_count;
    long cursor, done; /* next place; results */
    double seconds;    /* spent in them, by all */
    bool exhausted;    /* `next` has said so */
    mor_error* error;
} yard;

static long task_at(const mor_farm* f, long place) { return f->tasks ? f->tasks[place] : place; }

/* Tasks build and destroy worlds of one size. Memory that one gave back is kept for the next: asking the system for it
 * again costs page faults, a tenth of a short task. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

/* The life of a process. */
static void work(const yard* y, mor_farm_part part, int out)
{
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it gives */
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    keep_memory();
    char* record = calloc(1, y->farm->record + 1);
    if (!record) _exit(MOR_SYSTEM);
    for (long i = 0; i < part.count; i++) {
        memset(record, 0, y->farm->record);
        y->farm->run(y->farm->user, task_at(y->farm, part.first + i), record);
        for (size_t sent = 0; sent < y->farm->record;) {
            ssize_t n = write(out, record + sent, y->farm->record - sent);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) _exit(4); /* the parent is gone */
            sent += (size_t)n;
        }
    }
    _exit(0);
}

static mor_code start(const yard* y, worker* w, mor_farm_part part, int tries)
{
    int ends[2];
    if (pipe(ends) != 0) return mor_fail(y->error, MOR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        work(y, part, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return mor_fail(y->error, MOR_SYSTEM, "cannot start a process: %s", strerror(errno));
    }
    char* record = w->record;
    *w = (worker){ .pid = pid, .pipe = ends[0], .part = part, .tries = tries, .since = mor_clock(), .record = record };
    return MOR_OK;
}

/* How many places a free process takes. */
static long wanted(const yard* y)
{
    if (y->done == 0) return 1;
    double n = part_seconds * (double)y->done / fmax(y->seconds, 1e-9);
    if (!y->farm->next) n = fmin(n, (double)(y->farm->count - y->cursor) / (2.0 * y->farm->jobs));
    return (long)fmax(1.0, fmin(n, LARGEST_PART));
}

/* Gives a free process something to do; false: there is nothing. */
static bool feed(yard* y, worker* w, mor_code* code)
{
    if (y->rest_count) {
        rest r = y->rests[--y->rest_count];
        if (r.tries && r.part.count > 1) { /* what crashed is tried alone */
            y->rests[y->rest_count++] = (rest){ { r.part.first + 1, r.part.count - 1 }, 0 };
            r.part.count = 1;
        }
        *code = start(y, w, r.part, r.tries);
        return *code == MOR_OK;
    }
    mor_farm_part part = { y->cursor, wanted(y) };
    if (y->farm->next) {
        if (y->exhausted) return false;
        part = y->farm->next(y->farm->user, part.count);
    } else if (part.count > y->farm->count - y->cursor) part.count = y->farm->count - y->cursor;
    y->cursor += part.count;
    y->exhausted = part.count == 0;
    if (part.count == 0) return false;
    *code = start(y, w, part, 0);
    return *code == MOR_OK;
}

static mor_code keep(yard* y, worker* w, const void* record, const char* why)
{
    double now = mor_clock();
    y->seconds += now - w->since;
    y->done++;
    mor_code code = y->farm->keep(y->farm->user, task_at(y->farm, w->part.first), record, why, w->late, y->error);
    w->part.first++, w->part.count--;
    w->since = now, w->tries = 0;
    return code;
}

/* A process has ended. */
static mor_code reap(yard* y, worker* w)
{
    int status = 0;
    close(w->pipe);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    w->pid = 0;
    if (w->part.count == 0) return MOR_OK;
    bool signalled = WIFSIGNALED(status), killed = signalled && WTERMSIG(status) == SIGKILL && !w->late;
    int tries = w->tries + 1;
    mor_code code = MOR_OK;
    if (w->late || tries >= (killed ? KILLS : TRIES)) {
        char why[120];
        if (w->late) snprintf(why, sizeof why, "took longer than %g s", y->farm->time_limit);
        else if (signalled) snprintf(why, sizeof why, "its process ended with signal %d", WTERMSIG(status));
        else if (WEXITSTATUS(status) == MOR_SYSTEM) snprintf(why, sizeof why, "out of memory");
        else snprintf(why, sizeof why, "its process ended with status %d", WEXITSTATUS(status));
        code = keep(y, w, NULL, why);
        tries = 0;
    }
    if (w->part.count) y->rests[y->rest_count++] = (rest){ w->part, tries };
    return code;
}

/* Takes what has come from one process. */
static mor_code take(yard* y, worker* w)
{
    ssize_t n = read(w->pipe, w->record + w->filled, y->farm->record - w->filled);
    if (n < 0 && errno == EINTR) return MOR_OK;
    if (n <= 0) return reap(y, w);
    w->filled += (size_t)n;
    if (w->filled < y->farm->record) return MOR_OK;
    w->filled = 0;
    return keep(y, w, w->record, NULL);
}

static mor_code serve(yard* y, struct pollfd* fds)
{
    const mor_farm* f = y->farm;
    for (int i = 0; i < f->jobs; i++)
        fds[i] = (struct pollfd){ .fd = y->workers[i].pid ? y->workers[i].pipe : -1, .events = POLLIN };
    if (poll(fds, (nfds_t)f->jobs, f->beside ? 10 : 200) < 0) return MOR_OK; /* a signal: progress looks */
    mor_code code = MOR_OK;
    for (int i = 0; i < f->jobs && !code; i++) {
        worker* w = &y->workers[i];
        if (!w->pid) continue;
        if (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) code = take(y, w);
        else if (f->time_limit > 0.0 && mor_clock() - w->since > f->time_limit && !w->late)
            w->late = true, kill(w->pid, SIGKILL);
    }
    return code;
}

static mor_code loop(yard* y, struct pollfd* fds)
{
    mor_farm* f = y->farm;
    mor_code code = MOR_OK;
    for (double told = 0.0; !code;) {
        int busy = 0;
        for (int i = 0; i < f->jobs && !code; i++)
            if (y->workers[i].pid || feed(y, &y->workers[i], &code)) busy++;
        if (code || !busy) break;
        code = serve(y, fds);
        if (f->beside) f->beside(f->user);
        if (f->progress && mor_clock() - told > 0.2) {
            told = mor_clock();
            f->stopped = !f->progress(f->user, y->done, f->count);
            if (f->stopped) break;
        }
    }
    for (int i = 0; i < f->jobs; i++) {
        worker* w = &y->workers[i];
        if (!w->pid) continue;
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) continue;
        close(w->pipe);
    }
    return code;
}

mor_code mor_farm_run(mor_farm* farm, mor_error* error)
{
    if (farm->jobs < 1) farm->jobs = 1;
    yard y = { .farm = farm, .error = error };
    size_t jobs = (size_t)farm->jobs;
    y.workers = calloc(jobs, sizeof *y.workers);
    y.rests = calloc(2 * jobs + 2, sizeof *y.rests);
    struct pollfd* fds = calloc(jobs, sizeof *fds);
    size_t room = (farm->record / sizeof(max_align_t) + 1) * sizeof(max_align_t); /* any type may lie in a record */
    char* records = calloc(jobs, room);
    mor_code code = MOR_OK;
    if (!y.workers || !y.rests || !fds || !records) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < jobs && !code; i++) y.workers[i].record = records + i * room;
    if (!code) code = loop(&y, fds);
    free(y.workers);
    free(y.rests);
    free(fds);
    free(records);
    return code;
}
