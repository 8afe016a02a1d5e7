/* See compare_plan.h. Where standard error is no terminal, lines come after 5 s and then in intervals that double up to
 * five minutes. */
#include "cli/lab/compare_plan.h"

#include "cli/signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double long_plan = 300.0; /* s */

mor_cli_meter mor_cli_meter_begin(bool quiet)
{
    return (mor_cli_meter){ .quiet = quiet, .bar = isatty(2), .begin = mor_clock(), .pause = 5.0, .first = -1 };
}

void mor_cli_meter_end(mor_cli_meter* m)
{
    if (!m->quiet && m->bar) fprintf(stderr, "\r%79s\r", "");
    m->first = -1;
}

/* Is it time to say something? */
static bool due(mor_cli_meter* m, double now)
{
    if (m->quiet || now - m->last < (m->bar ? 0.2 : m->pause)) return false;
    if (!m->bar && m->last > 0.0) m->pause = fmin(2.0 * m->pause, 300.0);
    bool first = m->last == 0.0 && !m->bar;
    m->last = now;
    return !first;
}

static void print_files(const mor_lab_look* at)
{
    fprintf(stderr, "moreau compare: %d files", at->count);
    if (at->scenes) fprintf(stderr, ", %d of them scenes, each run to make steps of it", at->scenes);
    fprintf(stderr, "\n");
}

bool mor_cli_meter_reading(void* user, const mor_lab_look* at)
{
    mor_cli_meter* m = user;
    double now = mor_clock();
    if (mor_cli_signal()) return false;
    if (m->quiet || now - m->begin < 1.0) return true;
    if (!m->told && at->index > 0 && at->count > 1) {
        print_files(at);
        m->told = true;
    }
    if (!due(m, now)) return true;
    const char* name = strlen(at->place) > 44 ? at->place + strlen(at->place) - 44 : at->place;
    char line[160];
    if (at->index == 0) snprintf(line, sizeof line, "looking through %s: %d files", name, at->count);
    else if (at->steps)
        snprintf(line, sizeof line, "file %d of %d, running %s: step %d of %d", at->index, at->count, name, at->step,
                 at->steps);
    else snprintf(line, sizeof line, "file %d of %d, reading %s", at->index, at->count, name);
    if (m->bar) fprintf(stderr, "\r  %-100.100s", line);
    else fprintf(stderr, "moreau compare: %s\n", line);
    return true;
}

static void print_time(double seconds, char* text, size_t size)
{
    if (seconds > 2.0 * 3600.0) snprintf(text, size, "%.1f h", seconds / 3600.0);
    else if (seconds > 90.0) snprintf(text, size, "%.0f min", seconds / 60.0);
    else snprintf(text, size, "%.0f s", ceil(seconds));
}

bool mor_cli_meter_progress(void* user, const mor_lab* lab, int done, int planned)
{
    (void)lab;
    mor_cli_meter* m = user;
    double now = mor_clock();
    if (m->first < 0) m->first = done, m->begin = now;
    if (due(m, now)) {
        int fresh = done - m->first, bar = planned ? (int)(30LL * done / planned) : 30;
        char left[32] = "";
        if (fresh > 0) print_time((now - m->begin) * (planned - done) / fresh, left, sizeof left);
        if (m->bar)
            fprintf(stderr, "\r  [%.*s%*s] %d of %d runs%s%s%s   ", bar, "##############################", 30 - bar, "",
                    done, planned, *left ? ", " : "", left, *left ? " left" : "");
        else
            fprintf(stderr, "moreau compare: %d of %d runs%s%s%s\n", done, planned, *left ? ", about " : "", left,
                    *left ? " left" : "");
    }
    return !mor_cli_signal();
}

void mor_cli_tell_plan(const mor_lab* lab, mor_cli_meter* m)
{
    const mor_lab_options* o = &lab->options;
    long long runs = 0;
    int methods = 0, problems = 0;
    for (int p = 0; p < lab->problem_count; p++) {
        if (!mor_lab_mine(lab, p)) continue;
        int here = 0;
        problems++;
        for (int f = -1; f < lab->formulation_count; f++)
            for (int s = -1; s < lab->solver_count; s++) {
                here += mor_lab_slot(lab, p, f, s, 0) >= 0;
                for (int t = 0; t < o->tol_count; t++) runs += mor_lab_slot(lab, p, f, s, t) >= 0;
            }
        if (here > methods) methods = here;
    }
    double most = (double)runs * o->time_limit / o->jobs;
    if (m->quiet || (!m->bar && most < long_plan)) return;
    char time[32];
    print_time(most, time, sizeof time);
    fprintf(
        stderr,
        "moreau compare: %lld runs: %d problems, %d methods, %d tolerance%s; at most %g s of CPU time each, so at most "
        "%s on %d process%s\n",
        runs, problems, methods, o->tol_count, o->tol_count > 1 ? "s" : "", o->time_limit, time, o->jobs,
        o->jobs > 1 ? "es" : "");
    if (most > 12.0 * long_plan)
        fprintf(stderr, "moreau compare: fewer: --frames N of each file or scene, --solvers, --formulations, --tol, "
                        "--time-limit\n");
}
