/* A step without its equations: the same contacts and bounded rows on the velocities that the equations leave free. */
#ifndef MOR_SOLVER_WITHOUT_EQUATIONS_H
#define MOR_SOLVER_WITHOUT_EQUATIONS_H

#include "moreau/problem.h"

typedef struct mor_without_equations {
    mor_problem problem; /* of the rows that are left, in the same order */
    const mor_step_form* step;
    int equations, rank; /* rows of equations, and how many of them are independent */
    int* order;          /* equations: column k of the factor is row order[k] of the step */
    double* size;        /* equations: of their columns before they were scaled, by column */
    double *R, *tau;     /* dof x equations, column-major: R above the diagonal, reflections below */
    double* roots;       /* Cholesky factors of the mass blocks, at the trees' place in `root` */
    int* root;
    double *x, *r; /* scratch: dof, dof + rows of the step */
} mor_without_equations;

/* False: there are no equations, nothing is left beside them, it has too many velocities, or no memory. Everything lies
 * in the arena. */
bool mor_without_equations_open(const mor_problem* problem, mor_without_equations* w, mor_arena* arena);
/* p (rows of what is left) := those of z (rows of the step). */
void mor_without_equations_forward(const mor_without_equations* w, const double* z, double* p);
/* z := p, and the impulses with which the equations hold. */
void mor_without_equations_back(mor_without_equations* w, const double* p, double* z);

#endif
