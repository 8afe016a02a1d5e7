/* What the interior point methods on tree velocities share (ip_tree.c, ip_arc.c): the iterate in scaled units, the
 * residuals, the scalings and the matrix, and the direction that belongs to given aims. The mathematics is at the head
 * of ip_tree.c.
 *
 * Scaled: p = scale size p~, u~ = scale u / size (+ |u_T| in the first row of a cone), so that the numbers are of
 * order one. */
#ifndef MOR_SOLVER_IP_SYSTEM_H
#define MOR_SOLVER_IP_SYSTEM_H

#include "moreau/base.h"
#include "solver/tree_matrix.h"

#define MOR_IP_DELTA 1e-8 /* compliance of equations, of their diagonal of W: undone by the next iteration */

typedef enum mor_ip_kind { MOR_IP_CONE, MOR_IP_PAIR, MOR_IP_BOUNDED, MOR_IP_EQUATION } mor_ip_kind;

typedef struct mor_ip {
    const mor_step_form* step;
    mor_ip_kind* kinds;
    double* scale;                             /* row_count: Q and the row's own unit */
    double* unit;                              /* 1/scale */
    double size;                               /* m/s: of the data */
    double *p, *u;                             /* scaled: p~ and u~; bounded rows: p~ alone */
    double *lower, *upper, *z_lower, *z_upper; /* of bounded rows, scaled; at the row's number */
    double *dp, *du, *r, *ru, *g, *spare;
    double *v, *eta, *lambda; /* scaling: 3 per block, 1, row_count */
    double* H;                /* scaled, at diagonal_start; then in the units of the step */
    double *nu, *dnu, *rows, *impulses;
    double *late, *follows; /* M (nu - nu_free) - G p, which rounding leaves; the velocities of p */
    bool carries;           /* nu moves by dnu, and `late` is looked after; else nu follows p */
    mor_tree_matrix* K;
    double share; /* of the derivative of |u_T| in T: 1, less where the path is jammed */
    double round; /* r of |u_T|, scaled; 0: sharp */
} mor_ip;

/* Why a step cannot be taken, or NULL. */
const char* mor_ip_unfit(const mor_step_form* step);
/* Units and the start p~ = u~ = e. K: opened for the step. False: out of memory. */
bool mor_ip_open(mor_ip* I, const mor_step_form* step, mor_tree_matrix* K, mor_arena* arena);
/* The impulses of p~, nu of them, r_u of every row but for |u_T|. Returns the mean complementarity. */
double mor_ip_evaluate(mor_ip* I);
/* Takes |u_T| out of r_u, rounded by `round`. Returns the largest r_u of a cone. */
double mor_ip_subtract_slip(mor_ip* I, double round);
/* Scalings of all blocks and the factor of the matrix. False: at the boundary, or singular. */
bool mor_ip_factor(mor_ip* I);

/* What the aims of bounded rows are made of: nothing but the aim, the products of the predictor too, or the change with
 * log tau alone. */
typedef enum mor_ip_aims { MOR_IP_PREDICTOR, MOR_IP_CORRECTOR, MOR_IP_TANGENT } mor_ip_aims;
/* The part of dp that does not depend on dnu: V^-1 r + V^-2 r_u and its like, to g. r: aims of cones and pairs, already
 * divided by lambda; `aim`: that of bounded rows. */
void mor_ip_constant_part(mor_ip* I, double aim, mor_ip_aims aims);
/* dnu, du~, dp~ from g. */
void mor_ip_direction(mor_ip* I);
/* Stiffness of a bounded row: du = ... - D dp. */
double mor_ip_bounded_stiffness(const mor_ip* I, int row);
/* Farthest step that keeps a bounded row inside, and the changes of its multipliers. */
double mor_ip_room_of_bounds(const mor_ip* I, int row, double aim, double* dz_lower, double* dz_upper);
/* Farthest step that stays inside. */
double mor_ip_room(const mor_ip* I, double aim);

#endif
