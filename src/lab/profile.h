/* Performance and data profiles over the runs of a comparison. */
#ifndef MOR_LAB_PROFILE_H
#define MOR_LAB_PROFILE_H

#include "lab/compare.h"

/* How one solver did on all problems of a formulation at a tolerance. */
typedef struct mor_lab_score {
    int solver;
    int problems, solved, fastest;
    double ratio;  /* geometric mean of time over the best time, where solved; NaN: none solved */
    double median; /* of total_s where solved */
    double median_iterations;
    double median_error; /* of all runs */
} mor_lab_score;

typedef struct mor_lab_profile {
    int formulation, tol;
    int solver_count, problem_count;
    int unfinished;               /* problems that are left out because not all of their runs were made */
    int solvers[MOR_LAB_METHODS]; /* those with runs */
    double* time;                 /* solver_count x problem_count: total_s; inf: not solved */
    double* best;                 /* problem_count */
    int* problems;                /* index of each */
    mor_lab_score scores[MOR_LAB_METHODS];
} mor_lab_profile;

/* A problem belongs to the set if `member` (NULL: all) says so and the formulation fits. False: out of memory. */
bool mor_lab_profile_make(const mor_lab* lab, int formulation, int tol, bool (*member)(const mor_lab_problem* problem),
                          mor_lab_profile* profile);
void mor_lab_profile_free(mor_lab_profile* profile);

/* rho_s(tau): the fraction of problems that solver k solves within tau times the best solver's time. */
double mor_lab_rho(const mor_lab_profile* profile, int k, double tau);
/* The fraction that it solves within t seconds. */
double mor_lab_delta(const mor_lab_profile* profile, int k, double t);
/* Solver with the most problems solved, then the least ratio; -1: none solved anything. */
int mor_lab_winner(const mor_lab_profile* profile);

#endif
