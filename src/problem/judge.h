/* The judge's parts that solvers and the driver share: cheap variants. */
#ifndef MOR_PROBLEM_JUDGE_H
#define MOR_PROBLEM_JUDGE_H

#include "problem/cone.h"
#include "moreau/problem.h"

#include <math.h>

struct mor_workers;

/* mor_judge_error of mor_judge, without the other measures. `w`: A z + b if the caller has it (LCP, MLCP, MCP, FC,
 * CQP), or NULL. NaN data gives NaN: test with !(error <= tol). */
double mor_judge_quick(const mor_problem* problem, const double* z, const double* w, mor_arena* arena);

/* Sums and maxima of natural-map rows. */
typedef struct mor_tally {
    double natural, fb, cck; /* sums of squares */
    double largest;
} mor_tally;

/* One complementary pair 0 <= a _|_ b >= 0. */
void mor_tally_pair(mor_tally* tally, double a, double b);
/* A row that must vanish: an equation. */
static inline void mor_tally_equation(mor_tally* tally, double w)
{
    const double size = fabs(w);
    tally->natural += w * w;
    tally->fb += w * w;
    tally->cck += w * w;
    if (!(size <= tally->largest)) tally->largest = size; /* NaN wins */
}
/* A row with bounds: lower <= z <= upper, w complementary. */
void mor_tally_bounded(mor_tally* tally, double z, double lower, double upper, double w);

/* STEP (judge_step.c). */
typedef struct mor_judge_memory { /* the rows u of the answer z that was judged last: the final verdict is mostly on the
                                     same one */
    double *z, *u, *rho;          /* row_count each; step of each block */
    bool set;
} mor_judge_memory;

/* False: out of memory. */
bool mor_judge_memory_init(mor_judge_memory* memory, const mor_problem* problem, mor_arena* arena);
/* `memory` may be NULL. */
mor_residual mor_judge_step(const mor_problem* problem, const double* z, mor_judge_memory* memory, mor_arena* arena);
/* The same with the velocities nu that z makes (dof), on threads if there are any (NULL: none). */
mor_residual mor_judge_step_at(const mor_problem* problem, const double* z, const double* nu,
                               struct mor_workers* workers, mor_arena* arena);
double mor_judge_step_velocity(const mor_problem* problem, const double* z, mor_judge_memory* memory, mor_arena* arena);
/* Contacts of three rows on a circular cone (judge_four.c): `count` lanes are set, the others hold any numbers. */
typedef struct mor_four_contacts {
    int count;
    double mu[4], rho[4], p[3][4], u[3][4]; /* coefficient, step, impulses and velocities */
} mor_four_contacts;
/* Adds what tally_block with both steps, mor_tally_cone and mor_judge_contact add, contact after contact. */
void mor_judge_four(const mor_four_contacts* contacts, mor_tally* scaled, mor_tally* plain, mor_residual* worst);
/* QP (judge_qp.c). */
mor_residual mor_judge_qp(const mor_problem* problem, const double* z, mor_arena* arena);
/* g = (A + A')/2 z + b, or A z + b for operators. False: out of memory. */
bool mor_qp_gradient(const mor_problem* problem, const double* z, double* g, mor_arena* arena);
/* Row-major dense copy of C (dense or sparse). */
void mor_qp_dense_rows(const mor_matrix* C, double* rows);
/* judge_contact.c. The pairs of a contact with a circular cone: adds to fb and cck only. */
void mor_tally_cone(mor_tally* tally, int dim, mor_cone cone, bool convex, double rho, const double* r,
                    const double* u);
/* Step of a contact in a stored problem. */
double mor_judge_rho(const mor_problem* problem, int contact);
/* Largest friction row of a polygonal contact [m/s] (judge_step.c). */
double mor_judge_polygon(const mor_block* block, double rho, const double* p, const double* u);

enum { MOR_VERDICT_OPEN = -1, MOR_VERDICT_SLIDES = 0, MOR_VERDICT_STICKS = 1 };
/* One contact of an answer: open without normal impulse, sticking below 1e-6 m/s of slip, never without friction. */
typedef struct mor_contact_verdict {
    int state;
    double normal, friction, slip; /* errors as in mor_residual; m/s */
} mor_contact_verdict;
/* Contacts that the form tells from other rows; 0: LCP, MLCP, MCP, QP, or none. */
int mor_judge_contact_count(const mor_problem* problem);
/* All contacts of z in the order of the problem; `out` has room for them. Returns how many; -1: the form does not tell
 * contacts from other rows (LCP, MLCP, MCP, QP), or no memory. */
int mor_judge_contacts(const mor_problem* problem, const double* z, mor_contact_verdict* out, mor_arena* arena);
/* Contact rows r, u of one contact with its step rho: adds to the three contact measures of a residual. */
void mor_judge_contact(int dim, mor_cone cone, double rho, const double* r, const double* u, mor_residual* residual);

#endif
