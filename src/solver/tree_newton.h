/* Nonsmooth Newton for a time step on tree velocities: the contact maps of contact_map.h without ever forming W. Used
 * by nsn-tree and auto. */
#ifndef MOR_SOLVER_TREE_NEWTON_H
#define MOR_SOLVER_TREE_NEWTON_H

#include "moreau/solver.h"
#include "solver/tree_matrix.h"

/* How far a run has come: the factor and the least value of the regularisation, |F| at the start, of the last step and
 * the least so far. */
typedef struct mor_tree_newton_course {
    double kappa, floor, first, last, least;
} mor_tree_newton_course;

/* Where a run that has used its iterations can go on: at its last iterate, which is seldom its best answer. */
typedef struct mor_tree_newton_memory {
    double* p;  /* rows */
    bool begun; /* p and `at` are written */
    mor_tree_newton_course at;
} mor_tree_newton_memory;

typedef struct mor_tree_newton_settings {
    double sigma, floor; /* regularisation: max(floor, kappa sigma |F|/|F_0|) */
    bool adapt;          /* kappa */
    int window, max_iter, give_up;
    mor_tree_newton_memory* memory; /* NULL, or written at the end; goes on there if begun, whatever start is given */
} mor_tree_newton_settings;

/* For methods that converge fast, once the error is within the tolerance: is another iteration worth its time? Only on
 * the way to the aim, and only while each brings the error down to a tenth. A step that finds another active set then
 * would lead away from an answer that is good enough. */
static inline bool mor_worth_going_on(const mor_context* context, double error, double previous)
{
    return error > context->aim && error <= context->tol && error <= 0.1 * previous;
}

/* Up to this many velocities the matrix is dense. */
enum { MOR_TREE_NEWTON_DENSE = 90 };

/* p: start on entry; the best answer on return. K: opened for the step; NULL: it opens one for itself. Circular and
 * polygonal cones, intervals, rolling, frictionless contacts, bounded rows and equations. */
mor_report mor_tree_newton(const mor_problem* problem, const mor_tree_newton_settings* settings, mor_tree_matrix* K,
                           mor_context* context, double* p);

/* From an answer p to the one of least norm, where impulses are not unique and some contact slides; up to 90
 * velocities. limit: error that is allowed. guess: impulses of the last step, where p did not come from them, or NULL.
 * False: p is left as it is, because it is unique, or the one of least norm already, or that was not found. */
bool mor_tree_least(const mor_problem* problem, mor_context* context, double limit, const double* guess, double* p);

#endif
