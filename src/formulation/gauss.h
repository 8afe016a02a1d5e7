/* The quadratic programmes of Gauss' principle: shared by the forces, the impact and the position projection
 * (gauss*.c). */
#ifndef MOREAU_FORMULATION_GAUSS_H
#define MOREAU_FORMULATION_GAUSS_H

#include "moreau/world.h"

/* Rows of one island in the order of a STEP form, equations eliminated. */
typedef struct mor_gauss {
    const mor_system* s;
    mor_arena* arena;
    mor_problem problem;   /* STEP form of the kept blocks, tangents turned */
    int* row_of;           /* its rows -> rows of the system */
    double *cosine, *sine; /* per block of the problem: how its tangents were turned */
    int n, e;              /* unknowns (contact and bounded rows), equations */
    int* unknown;          /* row of the problem -> unknown, or -1 - (number of the equation) */
    int* row;              /* unknown -> row of the problem */
    double* H;             /* n x n: A_c */
    double* Wec;           /* e x n, column-major */
    double *L, *work;      /* factor of W_ee, or of W_ee^2 + k^2 */
    double* Wee;
    int* order;
    int rank;
    double damping;
    int sides;      /* of the friction polygon */
    bool square;    /* the original's pyramid |f_t|, |f_o| <= mu f_n */
    double *q, *re; /* linear term; rows of the equations at the base velocity */
} mor_gauss;

/* The STEP form of the blocks in `keep` (system's blocks). turn: two numbers per system contact, the direction (t, o)
 * that gets a corner of the polygon, or NULL. False: out of memory. */
bool mor_gauss_build(mor_gauss* g, const mor_system* system, const bool* keep, int directions, bool square,
                     const double* turn, double damping, mor_arena* arena);
/* Its base velocity nu (dof) and the bias of every row of the system. */
void mor_gauss_set(mor_gauss* g, const double* nu, const double* bias);
/* H, the elimination and the linear terms. hold: equations keep the velocity they have. False: out of memory. */
bool mor_gauss_reduce(mor_gauss* g, bool hold);
/* Impulses of all rows of the problem from those of the unknowns. */
void mor_gauss_expand(const mor_gauss* g, const double* z, double* p);
/* Rows u = G' nu + b after the impulses p, in the axes of the problem. */
void mor_gauss_rows(const mor_gauss* g, const double* p, double* nu, double* u);
/* Adds impulses of the problem's rows to those of the system's rows, tangents turned back. */
void mor_gauss_store(const mor_gauss* g, const double* p, double* impulses);
/* The QP over the friction pyramids, with `extra` added to the linear term (n, NULL: none). */
mor_report mor_gauss_solve(mor_gauss* g, const double* extra, mor_solve_stage* stage, bool warm, double* z);

/* Repeats the QP until the slip speeds agree with those it was given (gauss_coulomb.c): z and p from their start values
 * to the answer, nu the velocity after p. */
mor_report mor_gauss_coulomb(mor_gauss* g, int rounds, double tol, mor_solve_stage* stage, bool warm, double* z,
                             double* p, double* nu);

typedef enum mor_gauss_impact {
    MOR_IMPACT_STICK,
    MOR_IMPACT_QP,
    MOR_IMPACT_TWO_PHASE,
    MOR_IMPACT_NONE
} mor_gauss_impact;

/* The impact of the contacts in `touching` (system contacts) at the velocity nu (dof), which is replaced by that after
 * it; row impulses are added to `impulses` (system rows). */
mor_report mor_gauss_impact_solve(const mor_system* system, const bool* touching, mor_gauss_impact law, int directions,
                                  bool square, double damping, mor_solve_stage* stage, double* nu, double* impulses);

/* Position projection after the integration (mor_formulation.project) of contacts deeper than `touch`. */
double mor_gauss_project(mor_step* step, double touch, double* work);

#endif
