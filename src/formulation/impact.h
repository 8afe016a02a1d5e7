/* Impacts: what happens at the moment at which contacts close, and the step around it (docs/methods/impact.md).
 *
 * Adding a law is adding a file and one word to impact_laws.c. */
#ifndef MOREAU_FORMULATION_IMPACT_H
#define MOREAU_FORMULATION_IMPACT_H

#include "moreau/world.h"

/* The moment of an impact: positions stay, velocities jump. */
typedef struct mor_impact {
    const mor_system* s;
    mor_solve_stage* stage;
    int directions;            /* of the friction polygon; 0: circle */
    const bool* closed;        /* contact_count: contacts that touch at this moment */
    const double* restitution; /* contact_count */
    double slow;               /* approach speeds up to this one do not count [m/s] */
    double* nu;                /* dof: before, then after */
    double* impulses;          /* row_count: the law adds its impulses */
    mor_report report;         /* of the worst solve */
    /* scratch of the laws */
    double *speed, *target, *bias, *p, *trial, *plastic, *p_plastic, *u, *v, *w;
    bool *act, *keep;
    const double* slip; /* row_count or NULL: what mor_impact_solve adds to the velocities of tangential rows */
} mor_impact;

struct mor_impact_law {
    const char* name;      /* the word in scenes */
    const char* summary;   /* one line */
    const char* reference; /* key into docs/references.bib */
    void (*apply)(mor_impact* impact);
};

extern const mor_impact_law mor_impact_reflections, mor_impact_newton, mor_impact_poisson, mor_impact_tangential,
    mor_impact_routh_poisson, mor_impact_routh_stronge;

/* speed[c] = G_n' nu + d(psi)/dt of every contact. */
void mor_impact_speeds(const mor_system* system, const double* nu, double* speed);
/* From impact->nu: nu and impulses p such that contacts with act[] leave with at least target[], Coulomb's law with
 * friction, joints and limits hold. */
void mor_impact_solve(mor_impact* impact, const bool* act, const double* target, double* nu, double* p);
/* Work of impulses p, which take the velocities from impact->nu to nu, on the relative motion at the contacts and
 * joints [J]: the change of kinetic energy where nothing is moved from outside. */
double mor_impact_work(const mor_impact* impact, const double* p, const double* nu);
/* Where trial and p do more work than `most` (at least that of the plastic answer), they go back towards plastic and
 * p_plastic until they do not. Impulses on the way are admissible because both ends are. */
void mor_impact_limit(mor_impact* impact, double most);
/* Takes from trial and p what they gain in energy by an error of the solver: scaled down, impulses do no work. */
void mor_impact_take_back(mor_impact* impact);
/* impact->nu and impact->impulses take over nu and p. */
void mor_impact_accept(mor_impact* impact, const double* nu, const double* p);

/* One step of an island with the impact laws of its contacts; `answer` as from the formulation's own step, with `move`
 * if it has room for it. Plain steps of the formulation where nothing bounces. */
mor_report mor_impact_step(const mor_formulation* formulation, const void* options, const mor_system* system,
                           mor_solve_stage* stage, mor_answer* answer);
#endif
