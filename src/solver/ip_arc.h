/* The central path of a step with circular cones, followed by its length (ip_arc.c). */
#ifndef MOR_SOLVER_IP_ARC_H
#define MOR_SOLVER_IP_ARC_H

#include "moreau/solver.h"
#include "solver/tree_matrix.h"

/* How the path is followed. */
typedef struct mor_ip_arc_settings {
    double rounding; /* |u_T| is sqrt(|u_T|^2 + r^2) - r, r: this much of tau */
    double weight;   /* of a contact in the length, beside that of log tau */
    int max_iter;    /* factors of the matrix */
} mor_ip_arc_settings;

/* Two ways that differ enough for one to succeed where the other loses the path; the better one first. */
extern const mor_ip_arc_settings mor_ip_arcs[2];

/* Follows the path round its folds to the end; Newton's method from there, and on the way. K: opened for the step. p:
 * the best answer; what it holds before is not used. Takes what ip-tree takes. */
mor_report mor_ip_arc(const mor_problem* problem, const mor_ip_arc_settings* settings, mor_tree_matrix* K,
                      mor_context* context, double* p);

#endif
