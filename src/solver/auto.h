/* The parts of auto (auto.c): a run, the stages it is made of, and the functions that carry a stage out.
 *
 * A stage is a line of a table: a name for the report, when it applies, how much of the time it may use, and the typed
 * settings of the method it runs. A stage function returns true when the problem is solved, or proved to have
 * no answer. */
#ifndef MOR_SOLVER_AUTO_H
#define MOR_SOLVER_AUTO_H

#include "solver/lemke.h"
#include "solver/proximal.h"
#include "solver/sweep.h"
#include "solver/tree_newton.h"

/* What one sweep and one step of Newton's method cost on this step, in operations as long as those of a dense product.
 * Counted from the structure, never measured: the same problem takes the same way on every machine. */
typedef struct mor_auto_costs {
    double sweep, newton;
} mor_auto_costs;

typedef struct mor_auto {
    const mor_problem* problem;
    mor_context* context; /* the driver's */
    mor_context stage;    /* a copy with limits of its own */
    double* z;            /* best answer so far */
    double best;          /* its error */
    bool late;            /* the time is used up */
    mor_report report;
    double* guess; /* size: what the caller gave; NULL without */
    double* work;  /* size: where the methods that continue each other's work are */
    /* what several stages share, opened by the first of them */
    enum { MOR_AUTO_CLOSED, MOR_AUTO_OPEN, MOR_AUTO_FAILED } newton_state, sweep_state;
    mor_contact_newton newton;
    double* newton_answer;
    mor_sweep sweep;
    /* steps only (auto_steps.c, auto_costs.c) */
    mor_tree_matrix* tree;                   /* of Newton's method and the interior point method; NULL: not opened */
    mor_tree_newton_memory newton_from_zero; /* p NULL: it has not begun */
    bool arcs;                               /* the interior point method has followed its path round the folds */
    bool steady;                             /* the guess is near the answer: the island goes on as it did */
    bool repeats;                            /* or nearly is the answer: that of this step may be the next one's */
    double goal;                             /* error at which a stage has done its work */
    mor_auto_costs costs;                    /* counted; newton = 0: not yet */
} mor_auto;

typedef struct mor_auto_stage mor_auto_stage;
struct mor_auto_stage {
    const char* name; /* in report.detail; a table ends with NULL */
    bool (*run)(mor_auto* run, const mor_auto_stage* stage);
    int above, most;      /* rows: above < n <= most; most = 0: no limit */
    bool with_guess;      /* only with a guess of the caller */
    bool needs_entries;   /* not for operators */
    bool goes_on;         /* from where the stage before ended, not from zero */
    bool from_guess;      /* from the caller's guess if there is one */
    bool dear;            /* only where a Newton step costs many sweeps; */
    bool cheap;           /* only where it does not */
    bool last_resort;     /* only while the error is above what counts as a failure; large problems only if the caller
                             cannot pose easier ones */
    bool without_arcs;    /* the same, once the interior point method has followed its path round the folds */
    bool despite_a_proof; /* also after a proof that there is no solution: looks for the answer with the least error */
    bool moves;           /* only where the guess tells of motion: an island that may rest wants impulses well inside
                             their cones, as the interior point method finds them, which fit the next steps too */
    bool no_equations;    /* only where all rows are contacts and bounded rows */
    bool robots;          /* only where a tree has several bodies */
    bool own_split;       /* impulses that are not unique are left as it finds them: mor_auto_least is not asked */
    int iterations;       /* most, of another solver; 0: its own limit */
    double share;         /* of the time limit that may have gone by at its end */
    union {
        mor_newton_settings newton;
        mor_proximal_settings proximal;
        mor_tree_newton_settings tree;
        mor_lemke_options lemke;
        const mor_solver* solver;
        int arc;        /* which of mor_ip_arcs */
        int sweeps;     /* most, as a last resort */
        int directions; /* of a polygon */
    };
};

/* Tells report.detail "what(iterations)" and adds the iterations. */
void mor_auto_note(mor_auto* run, const char* what, int iterations);
/* A fresh context that ends after `share` of the time. */
mor_context* mor_auto_limits(mor_auto* run, double share, int max_iter);
/* After a stage: what tracing added to its clocks belongs to the whole, and whether the time is used up. */
void mor_auto_settle(mor_auto* run);
/* Judges an answer and keeps it if it is better than the best; `always`: also if none has an error that is a number.
 * Returns the error. */
double mor_auto_keep(mor_auto* run, const double* z, bool always);

/* Contacts: r = 0 or the guess is the answer; Gauss-Seidel sweeps on W (auto_contacts.c). */
bool mor_auto_start(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_contact_sweeps(mor_auto* run, const mor_auto_stage* stage);
/* Pairs: principal pivots of a handful (auto_pairs.c). */
bool mor_auto_few_pairs(mor_auto* run, const mor_auto_stage* stage);
enum { MOR_AUTO_FEW_PAIRS = 12, MOR_AUTO_FEW_ROWS = 30 };
/* The matrix that Newton's method and the interior point method share. NULL: it cannot be made of this step, or no
 * memory. */
mor_tree_matrix* mor_auto_tree(mor_auto* run);
/* What stages of a step aim at while nothing tells that the island changes. */
double mor_auto_goal(const mor_context* context);
/* How many sweeps cost as much as Newton's method is expected to. */
double mor_auto_sweeps_allowed(mor_auto* run);
/* A Newton step costs so many sweeps that these come first, from a guess too. */
bool mor_auto_newton_is_dear(mor_auto* run);
/* Steps: the guess as it is, or with its contact states; sweeps and Newton on tree velocities; polygons
 * (auto_steps.c). */
bool mor_auto_states(mor_auto* run, const mor_auto_stage* stage);
/* Without a guess: no impulse at all; the contact states that the velocities without impulses tell. */
bool mor_auto_zero(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_first_states(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_guess(mor_auto* run, const mor_auto_stage* stage);
/* Has a tree several bodies? */
bool mor_auto_has_robots(const mor_auto* run);
/* Where the impulses of the answer found are not unique and decide the motion: those of least norm. */
void mor_auto_least(mor_auto* run);
/* Newton's method from the guess, where that may be near enough. */
bool mor_auto_near(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_tree_sweeps(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_sweeps_to_the_end(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_tree_newton(mor_auto* run, const mor_auto_stage* stage);
/* Its Newton steps from a start that is near. */
extern const mor_tree_newton_settings mor_auto_newton_from_guess;
/* Newton's method from zero, on from where the last of these stages left it; then a few sweeps. */
bool mor_auto_on_from_zero(mor_auto* run, const mor_auto_stage* stage);
/* Are there equations among the rows? */
bool mor_auto_has_equations(const mor_auto* run);
/* The interior point method (ip_tree.h), then Newton's method from where it ends: along the path that is tried first,
 * along the others. */
bool mor_auto_interior(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_other_paths(mor_auto* run, const mor_auto_stage* stage);
/* The path round its folds (ip_arc.h), for steps without equations: stage->arc of mor_ip_arcs. */
bool mor_auto_arc(mor_auto* run, const mor_auto_stage* stage);
/* The same with equations, which it meets through a compliance: Newton's method goes on from its ends. */
bool mor_auto_arcs_with_equations(mor_auto* R, const mor_auto_stage* stage);
/* The step on the velocities that its equations leave free (without_equations.h), by all of these. */
bool mor_auto_without_equations(mor_auto* run, const mor_auto_stage* stage);
/* Whether rows contradict each other (contradiction.h): then no other stage is tried. */
bool mor_auto_contradiction(mor_auto* run, const mor_auto_stage* stage);
bool mor_auto_polygon(mor_auto* run, const mor_auto_stage* stage);

#endif
