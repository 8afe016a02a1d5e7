/* The judge's say on a guess of contact states, for gauss.c and gauss_coulomb.c. */
#ifndef MOREAU_FORMULATION_GAUSS_VERDICT_H
#define MOREAU_FORMULATION_GAUSS_VERDICT_H

#include "problem/judge.h"

/* Whether the judge finds Coulomb's law fulfilled by p: for mor_state_guess. */
typedef struct mor_gauss_verdict {
    const mor_problem* problem;
    double tol;
    mor_arena* arena;
    mor_judge_memory* memory; /* or NULL */
} mor_gauss_verdict;
bool mor_gauss_content(const void* verdict, const double* p);

#endif
