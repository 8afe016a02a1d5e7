/* The runs of a comparison in child processes, one problem each, as many at a time as asked for.
 *
 * A child announces each run before it begins and sends its result after it, as one fixed-size message on its pipe. If
 * it ends in between (a crash, no memory, or a run that used 1.1 times the limit plus 0.05 s of CPU and is ended by a
 * timer), the announced run failed, and another child goes on with the rest of the problem. Results do not depend on
 * the number of children; they are sorted at the end. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/failed.h"
#include "lab/compare.h"
#include "lab/process_state.h"

enum { CHANGED = 77 }; /* exit status of a child whose problem a solver has changed */

typedef struct child {
    pid_t pid;
    int pipe;
    int problem;
    bool running; /* `run` is announced and has no result */
    mor_lab_run run;
    double since;
    double cpu, awake; /* its CPU seconds when it was last seen to use or want some, and the clock then */
    bool killed;
    bool stopped;  /* the comparison was interrupted: what it was doing is no result */
    bool told;     /* it has said why it can do nothing */
    size_t filled; /* bytes of the message that is arriving */
    mor_lab_message message;
} child;

typedef struct pool {
    mor_lab* lab;
    mor_lab_journal* journal;
    bool* done; /* problems x slots */
    int slots, total, finished;
    child* children;
    double wall, cpu; /* clocks at the last stamp */
    mor_code code;    /* the first failure: a child that could not read its problem or died, a journal that is lost */
    mor_error* error;
} pool;

/* The child's end of the pipe, and the timer that ends a run which does not look at the clock. */
typedef struct sender {
    int pipe;
    timer_t timer;
    bool armed;
    double most; /* CPU seconds of a run */
} sender;

/* CPU seconds after which a run that does not look at the clock is ended: it has failed long before. */
static double end_after(const mor_lab* lab) { return 1.1 * lab->options.time_limit + 0.05; }

static void arm(sender* s, double seconds)
{
    struct itimerspec when = { .it_value = { (time_t)floor(seconds), (long)(1e9 * (seconds - floor(seconds))) } };
    if (s->armed) timer_settime(s->timer, 0, &when, NULL);
}

static void send_message(void* user, const mor_lab_message* m)
{
    sender* s = user;
    arm(s, m->kind == 'B' ? s->most : 0.0);
    if (m->kind == 'R' && m->as.run.status == MOR_LAB_CHANGED) _exit(CHANGED); /* nothing here is to be trusted */
    const char* bytes = (const char*)m;
    size_t sent = 0;
    while (sent < sizeof *m) {
        ssize_t n = write(s->pipe, bytes + sent, sizeof *m - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(4); /* the parent is gone */
        sent += (size_t)n;
    }
}

/* The child's life. */
static void work(const pool* p, int problem, int out)
{
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory is far larger than any limit */
    limit.rlim_cur = limit.rlim_max = (rlim_t)(p->lab->options.memory_gb * 1e9);
    if (limit.rlim_cur > 0) setrlimit(RLIMIT_AS, &limit);
#endif
    limit = (struct rlimit){ 0, 0 };
    setrlimit(RLIMIT_CORE, &limit);
    sender sender = { .pipe = out, .most = end_after(p->lab) };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU };
    sender.armed =
        p->lab->options.time_limit > 0.0 && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &sender.timer) == 0;
    mor_error error = { 0 };
    mor_code code = mor_lab_measure(p->lab, problem, p->done + (size_t)problem * (size_t)p->slots,
                                    mor_lab_traced(p->lab, problem), send_message, &sender, &error);
    if (code) {
        mor_lab_message m = { .kind = 'E', .as.run.problem = problem, .as.run.status = error.code ? error.code : code };
        snprintf(m.as.run.detail, sizeof m.as.run.detail, "%.110s", error.text);
        send_message(&sender, &m);
    }
    _exit(0);
}

static bool start(pool* p, child* c, int problem)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (pid == 0) {
        close(ends[0]);
        work(p, problem, ends[1]);
    }
    close(ends[1]);
    *c = (child){ .pid = pid, .pipe = ends[0], .problem = problem, .since = mor_clock() };
    return true;
}

static void accept_result(pool* p, const mor_lab_message* m)
{
    if (m->kind == 'R') {
        const mor_lab_run* r = &m->as.run;
        p->done[(size_t)r->problem * (size_t)p->slots +
                (size_t)mor_lab_slot(p->lab, r->problem, r->formulation, r->solver, r->tol)] = true;
        p->finished++;
    }
    mor_lab_keep(p->lab, m);
    mor_code code = mor_lab_journal_add(p->journal, p->lab, m, p->code ? NULL : p->error);
    if (!p->code) p->code = code;
}

/* CPU seconds of this process and of its children that have ended. */
static double cpu_time(void)
{
    double sum = 0.0;
    for (int who = 0; who < 2; who++) {
        struct rusage u;
        if (getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &u) == 0)
            sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                   1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return sum;
}

/* Time since the last stamp. */
static void stamp(pool* p)
{
    double wall = mor_clock(), cpu = cpu_time();
    mor_lab_message m = { .kind = 'W', .as.time = { wall - p->wall, cpu - p->cpu } };
    p->wall = wall, p->cpu = cpu;
    accept_result(p, &m);
}

static void receive(pool* p, child* c)
{
    const mor_lab_message* m = &c->message;
    if (c->stopped && m->kind == 'B') return; /* a run that the interruption has cut off is none */
    if (m->kind == 'B') {
        c->running = true;
        c->run = m->as.run;
        c->since = mor_clock();
        return;
    }
    if (m->kind == 'E') {
        c->told = true;
        if (!p->code)
            p->code =
                mor_fail(p->error, m->as.run.status, "%s: %s", p->lab->problems[c->problem].name, m->as.run.detail);
        return;
    }
    if (m->kind == 'R') c->running = false;
    c->since = mor_clock();
    accept_result(p, m);
}

/* Runs of a problem that have no result. */
static int missing(const pool* p, int problem)
{
    int n = 0;
    const mor_lab* lab = p->lab;
    if (!mor_lab_mine(lab, problem)) return 0;
    for (int f = -1; f < lab->formulation_count; f++)
        for (int s = -1; s < lab->solver_count; s++)
            for (int t = 0; t < lab->options.tol_count; t++) {
                int slot = mor_lab_slot(lab, problem, f, s, t);
                if (slot >= 0 && !p->done[(size_t)problem * (size_t)p->slots + (size_t)slot]) n++;
            }
    return n;
}

/* The child has ended: its announced run failed; true if the problem has runs left that can be tried. */
static bool finish(pool* p, child* c)
{
    int status = 0;
    close(c->pipe);
    waitpid(c->pid, &status, 0);
    c->pid = 0;
    if (!c->running) {
        if (!c->told && !c->stopped && !p->code && (status || missing(p, c->problem)))
            p->code = mor_fail(p->error, MOR_SYSTEM, "%s: its process ended (%s %d%s) and left %d runs undone",
                               p->lab->problems[c->problem].name, WIFSIGNALED(status) ? "signal" : "status",
                               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                               WIFEXITED(status) && WEXITSTATUS(status) == MOR_SYSTEM ? ": out of memory" : "",
                               missing(p, c->problem));
        return false;
    }
    mor_lab_message m = { .kind = 'R', .as.run = c->run };
    mor_lab_run* r = &m.as.run;
    bool late = c->killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
    r->status = late ? MOR_TIME_LIMIT : MOR_NUMERICAL;
    r->error = r->coulomb = r->user_error = NAN;
    r->time_s = r->total_s = late ? end_after(p->lab) : mor_clock() - c->since;
    r->residual = (mor_residual){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    if (late) snprintf(r->detail, sizeof r->detail, "did not stop at the time limit: its process was ended");
    else if (WIFSIGNALED(status))
        snprintf(r->detail, sizeof r->detail, "its process ended with signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == MOR_SYSTEM) snprintf(r->detail, sizeof r->detail, "out of memory");
    else if (WEXITSTATUS(status) == CHANGED)
        snprintf(r->detail, sizeof r->detail, "it changed the problem that it was given");
    else snprintf(r->detail, sizeof r->detail, "its process ended with status %d", WEXITSTATUS(status));
    accept_result(p, &m);
    return true;
}

static int compare_runs(const void* a, const void* b)
{
    const mor_lab_run *x = a, *y = b;
    if (x->problem != y->problem) return x->problem < y->problem ? -1 : 1;
    if (x->formulation != y->formulation) return x->formulation < y->formulation ? -1 : 1;
    if (x->solver != y->solver) return x->solver < y->solver ? -1 : 1;
    return (x->tol > y->tol) - (x->tol < y->tol);
}

static int compare_traces(const void* a, const void* b)
{
    const mor_lab_trace *x = a, *y = b;
    if (x->formulation != y->formulation) return x->formulation < y->formulation ? -1 : 1;
    if (x->solver != y->solver) return x->solver < y->solver ? -1 : 1;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

const mor_lab_run* mor_lab_find(const mor_lab* lab, int problem, int formulation, int solver, int tol)
{
    mor_lab_run key = { .problem = problem, .formulation = formulation, .solver = solver, .tol = tol };
    return lab->run_count ? bsearch(&key, lab->runs, (size_t)lab->run_count, sizeof key, compare_runs) : NULL;
}

/* The problem that follows in the order of mor_lab_before, or -1. */
static int follower(const mor_lab* lab, int problem)
{
    const mor_lab_problem *p = &lab->problems[problem], *best = NULL;
    for (int i = 0; i < lab->problem_count; i++)
        if (mor_lab_before(lab, p, &lab->problems[i]) && (!best || mor_lab_before(lab, &lab->problems[i], best)))
            best = &lab->problems[i];
    return best ? (int)(best - lab->problems) : -1;
}

/* At the end of a file or family: runs that were not tried although their method has solved a larger frame are to be
 * tried. Returns the first frame with such a run, or -1. */
static int reopen(pool* p, int problem)
{
    const mor_lab* lab = p->lab;
    const mor_lab_problem* end = &lab->problems[problem];
    int first = -1;
    for (int i = 0; i < lab->run_count; i++) {
        const mor_lab_run* r = &lab->runs[i];
        const mor_lab_problem* q = &lab->problems[r->problem];
        bool* done = &p->done[(size_t)r->problem * (size_t)p->slots +
                              (size_t)mor_lab_slot(lab, r->problem, r->formulation, r->solver, r->tol)];
        if (!r->assumed || !*done || (q != end && !mor_lab_before(lab, q, end)) || !mor_lab_solved_beyond(lab, r))
            continue;
        *done = false;
        p->finished--;
        if (first < 0 || mor_lab_before(lab, q, &lab->problems[first])) first = r->problem;
    }
    return first;
}

/* What comes after a problem is done, or -1. */
static int next_in_line(pool* p, int problem)
{
    int following = follower(p->lab, problem);
    return following >= 0 ? following : reopen(p, problem);
}

/* The problems to begin with: the first frame of every file or family, because what is too slow there may not be tried
 * on the others. Its frames follow each other, whatever the number of processes. Those with most contacts come first,
 * so that none of them is begun when the other cores have nothing left to do. Returns how many. */
static int make_queue(const mor_lab* lab, int* queue, int* largest)
{
    int count = 0;
    for (int i = 0; i < lab->problem_count; i++) {
        bool first = true;
        int most = lab->problems[i].contacts;
        for (int k = 0; k < lab->problem_count; k++) {
            if (mor_lab_before(lab, &lab->problems[k], &lab->problems[i])) first = false;
            else if (mor_lab_before(lab, &lab->problems[i], &lab->problems[k]) && lab->problems[k].contacts > most)
                most = lab->problems[k].contacts;
        }
        if (!first) continue;
        int k = count++; /* insertion, stable */
        for (; k > 0 && largest[k - 1] < most; k--) queue[k] = queue[k - 1], largest[k] = largest[k - 1];
        queue[k] = i, largest[k] = most;
    }
    return count;
}

/* A run that uses no CPU time is never late. If it has slept for the time limit and five seconds, but for two percent
 * of them, it is ended; a process that only waits for a core on a busy machine is not asleep. Where the kernel does not
 * tell, it gets long. */
static bool is_stuck(const pool* p, child* c)
{
    double limit = p->lab->options.time_limit, now = mor_clock(), cpu = mor_process_cpu(c->pid);
    if (!c->running || !(limit > 0.0) || c->killed) return false;
    bool works = !(cpu - c->cpu <= 0.02 * (now - c->awake)); /* also if it is not known */
    if (works || !mor_process_asleep(c->pid)) c->cpu = cpu, c->awake = now;
    return now - fmax(c->awake, c->since) > limit + 5.0 || now - c->since > 100.0 * limit + 60.0;
}

/* One round: waits a little, takes what has come, ends what hangs. Returns the children at work. */
static int serve(pool* p, struct pollfd* fds, int jobs, int* queue, int* queued)
{
    int busy = 0;
    for (int i = 0; i < jobs; i++) {
        fds[i] = (struct pollfd){ .fd = p->children[i].pid ? p->children[i].pipe : -1, .events = POLLIN };
        busy += p->children[i].pid != 0;
    }
    if (!busy) return 0;
    if (poll(fds, (nfds_t)jobs, 200) < 0) return busy; /* a signal: the caller looks */
    for (int i = 0; i < jobs; i++) {
        child* c = &p->children[i];
        if (!c->pid) continue;
        if (is_stuck(p, c)) {
            c->killed = true;
            kill(c->pid, SIGKILL);
        }
        if (!(fds[i].revents & (POLLIN | POLLHUP | POLLERR))) continue;
        ssize_t n = read(c->pipe, (char*)&c->message + c->filled, sizeof c->message - c->filled);
        if (n < 0 && errno == EINTR) continue;
        if (n > 0) {
            c->filled += (size_t)n;
            if (c->filled == sizeof c->message) {
                c->filled = 0;
                receive(p, c);
            }
        } else {
            bool again = finish(p, c) && missing(p, c->problem);
            stamp(p);
            int following = again ? c->problem : next_in_line(p, c->problem);
            if (following >= 0) queue[--*queued] = following; /* next in line */
        }
    }
    return busy;
}

/* Sorts the results and says whether all are there; `code`: what went wrong before, if anything. */
static mor_code conclude(pool* p, bool stopped, mor_code code)
{
    mor_lab* lab = p->lab;
    if (lab->run_count) qsort(lab->runs, (size_t)lab->run_count, sizeof *lab->runs, compare_runs);
    if (lab->trace_count) qsort(lab->traces, (size_t)lab->trace_count, sizeof *lab->traces, compare_traces);
    stamp(p);
    if (!code) code = p->code;
    if (!code && !stopped && lab->run_count != lab->planned)
        code = mor_fail(p->error, MOR_SYSTEM, "%d of %d runs are missing: out of memory?",
                        lab->planned - lab->run_count, lab->planned);
    lab->complete = !stopped && !code;
    return code;
}

mor_code mor_lab_run_all(mor_lab* lab, const char* journal, bool resume, mor_lab_progress progress, void* user,
                         mor_error* error)
{
    int jobs = lab->options.jobs < 1 ? 1 : lab->options.jobs, n = lab->problem_count;
    pool p = { .lab = lab, .slots = mor_lab_slots(lab), .wall = mor_clock(), .cpu = cpu_time(), .error = error };
    if (journal && !(p.journal = mor_lab_journal_open(journal, lab, resume, "RTPW", error)))
        return mor_failed(error, MOR_SYSTEM);
    p.done = calloc((size_t)n * (size_t)p.slots + 1, sizeof *p.done);
    p.children = calloc((size_t)jobs, sizeof *p.children);
    int* queue = malloc(2 * ((size_t)n + 1) * sizeof *queue);
    struct pollfd* fds = calloc((size_t)jobs, sizeof *fds);
    mor_code code = MOR_OK;
    if (!p.done || !p.children || !queue || !fds) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    int next = 0;
    lab->planned = 0;
    for (int i = 0; i < n && !code; i++) lab->planned += missing(&p, i);
    for (int i = 0; i < lab->run_count && !code; i++) {
        const mor_lab_run* r = &lab->runs[i];
        p.done[(size_t)r->problem * (size_t)p.slots +
               (size_t)mor_lab_slot(lab, r->problem, r->formulation, r->solver, r->tol)] = true;
    }
    p.finished = lab->run_count;
    int waiting = code ? 0 : make_queue(lab, queue, queue + n + 1);
    bool stopped = false;
    while (!code) {
        for (int i = 0; i < jobs && !stopped; i++) {
            while (!p.children[i].pid && next < waiting) {
                int problem = queue[next++];
                if (!missing(&p, problem)) {
                    int following = next_in_line(&p, problem);
                    if (following >= 0) queue[--next] = following;
                    continue;
                }
                if (!start(&p, &p.children[i], problem))
                    code = mor_fail(error, MOR_SYSTEM, "cannot start a process: %s", strerror(errno));
                break;
            }
        }
        if (!serve(&p, fds, jobs, queue, &next) && (next >= waiting || stopped)) break;
        if (!stopped && progress && !progress(user, lab, p.finished, lab->planned)) {
            stopped = true;
            for (int i = 0; i < jobs; i++)
                if (p.children[i].pid)
                    p.children[i].running = false, p.children[i].stopped = true, kill(p.children[i].pid, SIGKILL);
        }
    }
    for (int i = 0; p.children && i < jobs; i++)
        if (p.children[i].pid)
            kill(p.children[i].pid, SIGKILL), waitpid(p.children[i].pid, NULL, 0), close(p.children[i].pipe);
    code = conclude(&p, stopped, code);
    mor_code closed = mor_lab_journal_close(p.journal, code ? NULL : error);
    free(p.done);
    free(p.children);
    free(queue);
    free(fds);
    return code ? code : closed;
}
