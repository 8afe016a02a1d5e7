/* Tasks in processes, see farm.h.
 *
 * A process is forked with a part of the places, runs them in order and leaves each result in memory that it shares
 * with its parent, with a count of those that are there: a process that dies has lost none. It says so by a byte on a
 * pipe, at most every tell_seconds: calls of the system for every result cost several percent of short tasks. The
 * parent knows which one was running when a process ends early: the first without a result. Parts grow until one takes
 * about part_seconds, so that forking costs less than a percent, and shrink at the end to least_seconds so that all
 * processes end together. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "lab/farm.h"

#include <errno.h>
#include <math.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST_PART = 4096, MOST_SHARED = 32 << 20, TRIES = 2, KILLS = 5, HEAD = 64 };
static const double part_seconds = 0.5, least_seconds = 0.02, tell_seconds = 0.005;
_Static_assert(sizeof(atomic_long) <= HEAD, "the count fits in front of the results");

/* A process at work. */
typedef struct worker {
    pid_t pid; /* 0: none */
    int pipe;
    mor_farm_part part; /* what it has left: the first is running */
    int tries;          /* of that first one, before this */
    double since;       /* when that one began */
    bool late;
    char* shared; /* an atomic_long: results that are there; from HEAD on the results of its part */
    size_t shared_size;
    long taken; /* of them */
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
    size_t room;       /* bytes from one result to the next: any type may lie in it */
    bool kept;         /* something, since the last rest */
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
static void work(const yard* y, mor_farm_part part, char* shared, int out)
{
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it gives */
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    keep_memory();
    atomic_long* done = (atomic_long*)shared;
    double told = mor_clock();
    for (long i = 0; i < part.count; i++) {
        y->farm->run(y->farm->user, task_at(y->farm, part.first + i), shared + HEAD + (size_t)i * y->room);
        atomic_store_explicit(done, i + 1, memory_order_release);
        double now = mor_clock();
        if (now - told < tell_seconds) continue;
        told = now;
        ssize_t n;
        while ((n = write(out, "", 1)) < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(4); /* the parent is gone */
    }
    _exit(0);
}

static mor_code start(const yard* y, worker* w, mor_farm_part part, int tries)
{
    int ends[2];
    size_t size = HEAD + (size_t)part.count * y->room;
    char* shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return mor_fail(y->error, MOR_SYSTEM, "out of memory for the results of a process");
    if (pipe(ends) != 0) {
        munmap(shared, size);
        return mor_fail(y->error, MOR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        work(y, part, shared, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        munmap(shared, size);
        return mor_fail(y->error, MOR_SYSTEM, "cannot start a process: %s", strerror(errno));
    }
    *w = (worker){ .pid = pid,
                   .pipe = ends[0],
                   .part = part,
                   .tries = tries,
                   .since = mor_clock(),
                   .shared = shared,
                   .shared_size = size };
    return MOR_OK;
}

/* How many places a free process takes. */
static long wanted(const yard* y)
{
    if (y->done == 0) return 1;
    double rate = (double)y->done / fmax(y->seconds, 1e-9), n = part_seconds * rate;
    if (!y->farm->next)
        n = fmin(n, fmax((double)(y->farm->count - y->cursor) / (2.0 * y->farm->jobs), least_seconds * rate));
    n = fmin(n, fmin(LARGEST_PART, (double)(MOST_SHARED / y->room)));
    return (long)fmax(1.0, n);
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
    y->kept = true;
    mor_code code = y->farm->keep(y->farm->user, task_at(y->farm, w->part.first), record, why, w->late, y->error);
    w->part.first++, w->part.count--;
    w->since = now, w->tries = 0, w->late = false;
    return code;
}

/* Takes the results that are there. */
static mor_code collect(yard* y, worker* w)
{
    long there = atomic_load_explicit((atomic_long*)w->shared, memory_order_acquire);
    mor_code code = MOR_OK;
    for (; w->taken < there && w->part.count && !code; w->taken++)
        code = keep(y, w, w->shared + HEAD + (size_t)w->taken * y->room, NULL);
    return code;
}

static void forget(worker* w)
{
    close(w->pipe);
    munmap(w->shared, w->shared_size);
    w->pid = 0;
}

/* A process has ended. */
static mor_code reap(yard* y, worker* w)
{
    int status = 0;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    mor_code code = collect(y, w);
    forget(w);
    if (w->part.count == 0 || code) return code;
    bool signalled = WIFSIGNALED(status), killed = signalled && WTERMSIG(status) == SIGKILL && !w->late;
    int tries = w->tries + 1;
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

/* One process has said something, or has ended. */
static mor_code listen_to(yard* y, worker* w)
{
    char bytes[64];
    ssize_t n = read(w->pipe, bytes, sizeof bytes);
    return n > 0 || (n < 0 && errno == EINTR) ? collect(y, w) : reap(y, w);
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
        code = fds[i].revents & (POLLIN | POLLHUP | POLLERR) ? listen_to(y, w) : collect(y, w);
        if (w->pid && f->time_limit > 0.0 && mor_clock() - w->since > f->time_limit && !w->late)
            w->late = true, kill(w->pid, SIGKILL);
    }
    if (y->kept && f->rest && !code) code = f->rest(f->user, y->error);
    y->kept = false;
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
        forget(w);
    }
    return code;
}

mor_code mor_farm_run(mor_farm* farm, mor_error* error)
{
    if (farm->jobs < 1) farm->jobs = 1;
    size_t room = (farm->record / sizeof(max_align_t) + 1) * sizeof(max_align_t);
    yard y = { .farm = farm, .error = error, .room = room };
    size_t jobs = (size_t)farm->jobs;
    y.workers = calloc(jobs, sizeof *y.workers);
    y.rests = calloc(2 * jobs + 2, sizeof *y.rests);
    struct pollfd* fds = calloc(jobs, sizeof *fds);
    mor_code code = MOR_OK;
    if (!y.workers || !y.rests || !fds) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = loop(&y, fds);
    free(y.workers);
    free(y.rests);
    free(fds);
    return code;
}
