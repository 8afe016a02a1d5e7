/* Random problems of every form with a known solution, and a judge of their answers that shares no code with the
 * library. */
#ifndef MOR_TESTS_PROBLEM_KIT_H
#define MOR_TESTS_PROBLEM_KIT_H

#include "moreau/problem.h"

/* Matrices of RPIsim's generators (symmetric): */
typedef enum kit_family {
    KIT_DOMINANT, /* diagonally dominant band: every splitting converges */
    KIT_PD,       /* orthogonal similarity of i/n, i = 1 ... n */
    KIT_PSD,      /* the same with half of the eigenvalues zero */
    KIT_BANDED,   /* -1 ... 4 ... -1 over three bands: positive definite, larger condition */
    KIT_CONTACT,  /* J J' with rows that touch one or two bodies of six freedoms */
    KIT_FAMILIES
} kit_family;
extern const char* const kit_family_names[KIT_FAMILIES];

/* All forms, in a fixed order. */
enum { KIT_FORMS = 13 };
extern const mor_form kit_forms[KIT_FORMS];

/* A problem with about `size` unknowns. Everything lives in the arena. `known` (or NULL) receives a solution; NULL is
 * stored for steps, whose solution is not known. `sparse`: compressed rows instead of dense matrices. */
mor_problem kit_make(mor_form form, kit_family family, int size, bool sparse, uint64_t seed, mor_arena* arena,
                     double** known);

/* How wrong z is by the definition of the form, relative to the size of the data and the answer; about the tolerance
 * for answers a judge calls solved, of the order 1 for wrong ones. NaN or Inf in z gives Inf. `known`: a feasible point
 * (QP). */
double kit_error(const mor_problem* problem, const double* z, const double* known, mor_arena* arena);

#endif
