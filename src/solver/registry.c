/* The built-in solvers: adding a method is adding its name to this list. */
#include "moreau/solver.h"

#include <string.h>

extern const mor_solver mor_solver_lemke, mor_solver_pgs, mor_solver_psor, mor_solver_jacobi, mor_solver_prox, mor_solver_nsgs, mor_solver_prox_ncp,
    mor_solver_extragradient, mor_solver_admm, mor_solver_implicit_gn, mor_solver_apgd, mor_solver_convex_newton;

static const mor_solver* const solvers[] = {
    &mor_solver_lemke, &mor_solver_pgs, &mor_solver_psor, &mor_solver_jacobi, &mor_solver_prox, &mor_solver_nsgs, &mor_solver_prox_ncp,
    &mor_solver_extragradient, &mor_solver_admm, &mor_solver_implicit_gn, &mor_solver_apgd, &mor_solver_convex_newton, NULL
};

const mor_solver* const* mor_solvers(void) { return solvers; }

const mor_solver* mor_solver_builtin(const char* name)
{
    for (const mor_solver* const* s = solvers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
