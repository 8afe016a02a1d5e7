/* Whole runs of scenes: what the error of every step adds up to.
 *
 * A scene is run by each chosen formulation and solver with steps h, h/2 and h/4 and, once, by the first of them with
 * h/16: the reference. At ten times of the run
 *
 *     error = max over the times of  sqrt( mean over bodies of |x - x_ref|^2 ),
 *
 * beside it the energy that appeared (`max_gain` of a run: largest rise over the start without the work of forces and
 * belts, of gap correction and of position projection), the deepest penetration as the collision geometry sees it,
 * failures and CPU time. Motions that are chaotic (piles) have no reference worth the name: their error says that two
 * runs part, not which is wrong. With fewer frames than ten the times are that many, and the CPU seconds fewer in
 * proportion. The reference has four times the steps of the finest other run, and four times the seconds; where it does
 * not end in time, no run of the scene has an error, and each says why.
 *
 * Every run is a process of its own with the memory limit of the comparison; a run that has used its CPU seconds, or
 * will clearly need more, stops and says so. Results come back through files in the temporary folder, so they do not
 * depend on how many run at once.
 * A scene whose runs have all ended goes into the journal; an interrupted comparison does not run it again. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/failed.h"
#include "lab/compare.h"
#include "lab/timed.h"
#include "model/world.h"

enum { TIMES = 10, LEVELS = 3, REFERENCE = 4 }; /* steps h / 2^level; the reference h / 2^4 */

typedef struct task {
    mor_lab_scene run;
    pid_t pid;
    bool reference, wanted, ended;
    int first; /* the task of its scene that is the reference */
} task;

static void place(const mor_lab* lab, int index, char* path, size_t size)
{
    snprintf(path, size, "%s/run-%d", lab->temporary, index);
}

/* Times at which positions are compared. */
static int times_of(const mor_lab* lab)
{
    int frames = lab->options.frames;
    return frames > 0 && frames < TIMES ? frames : TIMES;
}

/* CPU seconds of a run. */
static double limit_of(const mor_lab* lab, const task* t)
{
    return lab->options.scene_limit * times_of(lab) / TIMES * (t->reference ? 1 << (REFERENCE - LEVELS + 1) : 1);
}

/* Positions of all bodies now. */
static void keep_positions(const mor_world* w, int bodies, double* to)
{
    for (int i = 0; i < bodies; i++) {
        mor_vec3 x = w->bodies[w->order[i]].x;
        to[3 * i] = x.x, to[3 * i + 1] = x.y, to[3 * i + 2] = x.z;
    }
}

/* After a quarter of its CPU seconds a run that would need twice what it has is not gone on with. The first 20 ms, in
 * which steps make room for all others, tell nothing. */
static bool hopeless(double used, double limit, int done, int steps)
{
    return used > 0.25 * limit && used > 0.02 && used * steps > 2.0 * limit * done;
}

/* A step may take longer than all the time there is: a timer stops its solver. Runs that end in time do not see it. */
static volatile int time_is_over;

static void on_time(int signal)
{
    (void)signal;
    time_is_over = 1;
}

static void stop_after(mor_world* w, double seconds)
{
    struct sigaction action = { .sa_handler = on_time };
    struct itimerval when = { .it_value = { (time_t)floor(seconds), (int)(1e6 * (seconds - floor(seconds))) } };
    sigaction(SIGPROF, &action, NULL);
    mor_world_set_interrupt(w, &time_is_over);
    setitimer(ITIMER_PROF, &when, NULL);
}

/* One run in the child: the outcome, then the positions at the times. */
static void run(const mor_lab* lab, const task* t, FILE* out)
{
    mor_lab_scene r = t->run;
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(lab->scene_paths[r.scene], NULL, lab->options.library, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    const mor_formulation* f = lab->formulations[r.formulation];
    mor_code code = w ? MOR_OK : MOR_BAD_INPUT;
    double* at = NULL;
    bool late = false;
    int bodies = 0, times = times_of(lab);
    if (!code) code = mor_world_set_method(w, "formulation", f->name, &error);
    if (!code && r.solver >= 0) code = mor_world_set_method(w, "solver", lab->solvers[r.solver]->name, &error);
    if (!code && f->groups && strcmp(w->collision->name, "features") != 0)
        code = mor_world_set_method(w, "collision", "features", &error);
    if (!code) {
        r.step = mor_world_get_step(w) / (1 << r.level);
        mor_world_set_step(w, r.step);
        w->options.on_failure = MOR_WARN;
        bodies = w->alive_count;
        at = calloc((size_t)bodies * 3 * (size_t)times + 1, sizeof *at);
        if (!at) code = mor_fail(&error, MOR_SYSTEM, "out of memory");
    }
    if (!code) {
        double end = mor_scene_end(scene), begin = mor_lab_process_clock(), work = 0.0, limit = limit_of(lab, t);
        r.energy_start = r.energy_end = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        r.steps = (int)floor(end / r.step + 0.5);
        int k = 0, next = 0;
        stop_after(w, 1.1 * limit + 0.01);
        for (; k < r.steps && !code; k++) {
            mor_step_report report;
            code = mor_world_step(w, &report, &error);
            if (code && time_is_over) late = true, code = MOR_OK;
            if (code || late) break;
            r.failures += report.failures;
            r.energy_end = report.kinetic + report.potential;
            work += report.applied_work + report.contact_work + report.correction_work + report.projection_work;
            r.energy_gain = fmax(r.energy_gain, r.energy_end - r.energy_start - work);
            r.penetration = fmax(r.penetration, report.penetration);
            for (; next < times && (k + 1) * (long long)times >= (next + 1) * (long long)r.steps; next++)
                keep_positions(w, bodies, at + 3 * (size_t)next * (size_t)bodies);
            double used = mor_lab_process_clock() - begin;
            late = used > limit || hopeless(used, limit, k + 1, r.steps);
            if (late && used <= limit)
                snprintf(r.detail, sizeof r.detail, "stopped at %.0f %%: at this pace it takes %.3g s of CPU time",
                         100.0 * (k + 1) / r.steps, used * r.steps / (k + 1));
            if (late) break;
        }
        r.cpu_s = mor_lab_process_clock() - begin;
        r.status = code || k < r.steps ? (late ? MOR_TIME_LIMIT : MOR_NUMERICAL)
                   : r.failures        ? MOR_NOT_CONVERGED
                                       : MOR_SOLVED;
        r.done = k;
        if (next < times) bodies = 0; /* no comparison of half a run */
    } else r.status = MOR_REFUSED;
    if (code) snprintf(r.detail, sizeof r.detail, "%.110s", error.text);
    fwrite(&r, sizeof r, 1, out);
    fwrite(&bodies, sizeof bodies, 1, out);
    if (at) fwrite(at, sizeof *at, (size_t)bodies * 3 * (size_t)times, out);
    free(at);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static bool start(const mor_lab* lab, task* t, int index)
{
    fflush(NULL);
    t->pid = fork();
    if (t->pid != 0) return t->pid > 0;
    char path[600];
    struct rlimit limit;
#ifndef __SANITIZE_ADDRESS__
    limit.rlim_cur = limit.rlim_max = (rlim_t)(lab->options.memory_gb * 1e9);
    if (limit.rlim_cur > 0) setrlimit(RLIMIT_AS, &limit);
#endif
    limit.rlim_cur = limit.rlim_max = (rlim_t)(4.0 * limit_of(lab, t) + 10.0); /* a step that does not end */
    setrlimit(RLIMIT_CPU, &limit);
    limit = (struct rlimit){ 0, 0 };
    setrlimit(RLIMIT_CORE, &limit);
    place(lab, index, path, sizeof path);
    FILE* out = fopen(path, "wb");
    if (out) run(lab, t, out);
    _exit(out && fclose(out) == 0 ? 0 : 4);
}

/* Reads a result; NULL positions if there are none. */
static double* collect(const mor_lab* lab, int index, task* t, int* bodies)
{
    char path[600];
    mor_lab_scene r;
    place(lab, index, path, sizeof path);
    FILE* in = fopen(path, "rb");
    *bodies = 0;
    double* at = NULL;
    if (in && fread(&r, sizeof r, 1, in) == 1 && fread(bodies, sizeof *bodies, 1, in) == 1) {
        t->run = r;
        size_t n = (size_t)*bodies * 3 * (size_t)times_of(lab);
        at = malloc((n + 1) * sizeof *at);
        if (!at || fread(at, sizeof *at, n, in) != n) *bodies = 0;
    } else {
        t->run.status = MOR_NUMERICAL;
        snprintf(t->run.detail, sizeof t->run.detail, "its process ended before it was done");
    }
    if (in) fclose(in);
    return at;
}

static double distance(const double* a, const double* b, int bodies, int times)
{
    double worst = 0.0;
    for (int k = 0; k < times; k++) {
        double sum = 0.0;
        for (int i = 0; i < 3 * bodies; i++) {
            double d = a[(size_t)k * 3 * (size_t)bodies + (size_t)i] - b[(size_t)k * 3 * (size_t)bodies + (size_t)i];
            if (isfinite(d)) sum += d * d; /* planes have no centre that moves */
        }
        worst = fmax(worst, sqrt(sum / bodies));
    }
    return worst;
}

/* The solvers a scene is run with: those asked for, or the first of these that fits. */
static bool wanted(const mor_lab* lab, int formulation, int solver)
{
    static const char* const usual[] = { "auto", "convex-newton", "lemke", NULL };
    uint32_t forms = lab->formulations[formulation]->produces;
    if (!forms) return solver < 0;
    if (solver < 0 || !mor_lab_pairs(lab, formulation, solver)) return false;
    if (lab->options.solvers[0]) return true;
    for (int i = 0; usual[i]; i++)
        for (int s = 0; s < lab->solver_count; s++)
            if (strcmp(lab->solvers[s]->name, usual[i]) == 0 && mor_lab_pairs(lab, formulation, s)) return s == solver;
    return false;
}

static int plan(const mor_lab* lab, task* tasks)
{
    int n = 0;
    for (int scene = 0; scene < lab->scene_count; scene++) {
        int first = -1;
        bool known = false; /* from the journal */
        for (int i = 0; i < lab->scene_run_count; i++) known = known || lab->scene_runs[i].scene == scene;
        if (known || !mor_lab_scene_mine(lab, scene)) continue;
        for (int f = 0; f < lab->formulation_count; f++)
            for (int s = -1; s < lab->solver_count; s++) {
                if (!wanted(lab, f, s)) continue;
                /* the reference comes before all others of its scene */
                for (int level = first < 0 ? -1 : 0; level < LEVELS; level++) {
                    task t = { .run = { .scene = scene,
                                        .formulation = f,
                                        .solver = s,
                                        .level = level < 0 ? REFERENCE : level,
                                        .error = NAN },
                               .reference = level < 0,
                               .wanted = true };
                    if (level < 0) first = n;
                    t.first = first;
                    if (tasks) tasks[n] = t;
                    n++;
                }
            }
    }
    return n;
}

/* All runs of a scene have ended: errors against its reference. */
static void finish_scene(mor_lab* lab, task* tasks, int n, int scene, mor_lab_journal* journal)
{
    double* reference = NULL;
    int bodies = 0;
    for (int i = 0; i < n; i++) {
        if (tasks[i].run.scene != scene) continue;
        int count;
        double* at = collect(lab, i, &tasks[i], &count);
        if (tasks[i].reference) {
            reference = at, bodies = count;
            tasks[i].run.error = count ? 0.0 : NAN; /* one that did not end is no reference */
        } else {
            tasks[i].run.error = count && count == bodies ? distance(at, reference, count, times_of(lab)) : NAN;
            if (count && !bodies && !tasks[i].run.detail[0])
                snprintf(tasks[i].run.detail, sizeof tasks[i].run.detail, "no error: the reference ended with %s",
                         mor_status_name((mor_status)tasks[tasks[i].first].run.status));
            free(at);
        }
        tasks[i].run.reference = tasks[i].reference;
        mor_lab_message m = { .kind = 'S', .as.scene = tasks[i].run };
        m.as.scene.last = true;
        for (int k = i + 1; k < n; k++) m.as.scene.last = m.as.scene.last && tasks[k].run.scene != scene;
        mor_lab_keep(lab, &m);
        mor_lab_journal_add(journal, lab, &m, NULL); /* a failure is told by mor_lab_journal_close */
    }
    free(reference);
}

static void sort_scenes(mor_lab* lab)
{
    for (int i = 1; i < lab->scene_run_count; i++) { /* insertion, stable */
        mor_lab_scene one = lab->scene_runs[i];
        int k = i;
        for (; k > 0 && lab->scene_runs[k - 1].scene > one.scene; k--) lab->scene_runs[k] = lab->scene_runs[k - 1];
        lab->scene_runs[k] = one;
    }
}

mor_code mor_lab_run_scenes(mor_lab* lab, const char* journal, bool resume, mor_lab_progress progress, void* user,
                            mor_error* error)
{
    if (lab->scene_count == 0) return MOR_OK;
    mor_lab_journal* j = NULL;
    if (journal && !(j = mor_lab_journal_open(journal, lab, resume, "S", error))) return mor_failed(error, MOR_SYSTEM);
    int n = plan(lab, NULL), jobs = lab->options.jobs < 1 ? 1 : lab->options.jobs, next = 0, busy = 0, done = 0;
    task* tasks = calloc((size_t)n + 1, sizeof *tasks);
    if (!tasks) {
        mor_lab_journal_close(j, NULL);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    plan(lab, tasks);
    bool stopped = false;
    while (done < n && !stopped) {
        while (busy < jobs && next < n) {
            if (!start(lab, &tasks[next], next)) break;
            busy++, next++;
        }
        int status, scene = -1;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            for (int i = 0; i < next; i++)
                if (tasks[i].pid == pid)
                    tasks[i].pid = 0, tasks[i].ended = true, busy--, done++, scene = tasks[i].run.scene;
        } else if (pid < 0 && errno == ECHILD) break;
        else nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
        bool complete = scene >= 0;
        for (int i = 0; i < n && complete; i++) complete = tasks[i].run.scene != scene || tasks[i].ended;
        if (complete) finish_scene(lab, tasks, n, scene, j);
        if (progress && !progress(user, lab, done, n)) stopped = true;
    }
    for (int i = 0; i < next; i++)
        if (tasks[i].pid > 0) kill(tasks[i].pid, SIGKILL), waitpid(tasks[i].pid, NULL, 0);
    sort_scenes(lab);
    free(tasks);
    mor_code code = mor_lab_journal_close(j, error);
    if (!code && !stopped && done < n)
        code =
            mor_fail(error, MOR_SYSTEM, "%d whole runs of scenes are missing: no process could be started", n - done);
    return code;
}
