/* Solvers that are broken, or look better than they are. tests/test_fairness.c builds them as a plug-in and shows that
 * a comparison is not fooled. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "moreau/moreau.h"
#include "moreau/plugin.h"

typedef struct job {
    const mor_problem* problem;
    double tol, *z;
    mor_report report;
} job;

static void* work(void* user)
{
    job* j = user;
    mor_solve_options o = mor_solve_options_default();
    o.tol = j->tol;
    j->report = mor_solve(mor_library_solver(NULL, "nsgs"), NULL, j->problem, &o, j->z, NULL);
    return NULL;
}

static mor_report honest(const mor_problem* p, const mor_context* c, double* z)
{
    job j = { p, c->tol, z, { .status = MOR_NUMERICAL } };
    work(&j);
    return j.report;
}

static void fill(const mor_problem* p, double value, double* z)
{
    for (int i = 0; i < p->size; i++) z[i] = value;
}

#define CHEAT(function)                                                                                                \
    static mor_report function(const mor_problem* p, const void* options, mor_context* c, double* z)                   \
    {                                                                                                                  \
        mor_report done = { .status = MOR_SOLVED, .iterations = 1 };                                                   \
        (void)options, (void)p, (void)c, (void)z;
#define END                                                                                                            \
    return done;                                                                                                       \
    }

CHEAT(plain) done = honest(p, c, z);
END CHEAT(nothing) fill(p, 0.0, z);
END CHEAT(nan_answer) fill(p, NAN, z);
END CHEAT(infinite) fill(p, INFINITY, z);
END CHEAT(loosens) c->tol = 1e9;
END CHEAT(no_status) done.status = (mor_status)99;
done.iterations = -7;
END
    /* every contact opens by itself: no impulse is right */
    CHEAT(changes) for (int i = 0; i < p->step.row_count; i++)((double*)p->step.bias)[i] = 1e3;
fill(p, 0.0, z);
END CHEAT(changes_mass) for (int i = 0; i < p->step.dof; i++)((double*)p->step.nu_free)[i] = 0.0;
fill(p, 0.0, z);
END CHEAT(turns_clock) done = honest(p, c, z);
c->start += 1e6;
END CHEAT(other_thread)
job j = { p, c->tol, z, { .status = MOR_NUMERICAL } };
pthread_t thread;
if (pthread_create(&thread, NULL, work, &j) == 0) pthread_join(thread, NULL);
done = j.report;
END CHEAT(loops) for (volatile int k = 0;; k = k + 1);
END CHEAT(sleeps) for (;;) usleep(20000);
END CHEAT(crashes) abort();
END CHEAT(exits) _exit(0);
END

#define SOLVER(function, text)                                                                                         \
    static const mor_solver s_##function = { .name = text,                                                             \
                                             .summary = "for a test",                                                  \
                                             .reference = "none",                                                      \
                                             .accepts = MOR_STEP_CONE,                                                 \
                                             .max_iter = 1000,                                                         \
                                             .solve = function };
SOLVER(changes, "x-changes")
SOLVER(changes_mass, "x-changes-mass")
SOLVER(plain, "x-plain")
SOLVER(nothing, "x-nothing")
SOLVER(nan_answer, "x-nan")
SOLVER(infinite, "x-infinite")
SOLVER(loosens, "x-loosens")
SOLVER(no_status, "x-no-status")
SOLVER(turns_clock, "x-clock")
SOLVER(other_thread, "x-thread")
SOLVER(loops, "x-loops")
SOLVER(sleeps, "x-sleeps")
SOLVER(crashes, "x-crashes")
SOLVER(exits, "x-exits")
MOR_PLUGIN_SOLVERS(&s_changes, &s_changes_mass, &s_plain, &s_nothing, &s_nan_answer, &s_infinite, &s_loosens,
                   &s_no_status, &s_turns_clock, &s_other_thread, &s_loops, &s_sleeps, &s_crashes, &s_exits)
