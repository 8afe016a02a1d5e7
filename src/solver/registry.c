/* The built-in solvers: adding a method is adding its name to this list. */
#include "moreau/solver.h"

#include <string.h>

#define SOLVERS(X)                                                                                                     \
    X(lemke)                                                                                                           \
    X(pgs)                                                                                                             \
    X(psor)                                                                                                            \
    X(jacobi)                                                                                                          \
    X(prox)                                                                                                            \
    X(nsgs)                                                                                                            \
    X(prox_ncp)                                                                                                        \
    X(extragradient)                                                                                                   \
    X(admm)                                                                                                            \
    X(implicit_gn)                                                                                                     \
    X(apgd)                                                                                                            \
    X(convex_newton)                                                                                                   \
    X(nsn)                                                                                                             \
    X(ip_tree)                                                                                                         \
    X(nsn_tree)                                                                                                        \
    X(ppa)                                                                                                             \
    X(fischer_newton)                                                                                                  \
    X(cck_newton)                                                                                                      \
    X(minmap_newton)                                                                                                   \
    X(path)                                                                                                            \
    X(dantzig)                                                                                                         \
    X(interior_point)                                                                                                  \
    X(qp_active_set)                                                                                                   \
    X(qp_admm)                                                                                                         \
    X(qp_interior_point)                                                                                               \
    X(automatic)

#define DECLARE(name) extern const mor_solver mor_solver_##name;
SOLVERS(DECLARE)

#define LIST(name) &mor_solver_##name,
static const mor_solver* const solvers[] = { SOLVERS(LIST) NULL };

const mor_solver* const* mor_solvers(void) { return solvers; }

const mor_solver* mor_solver_builtin(const char* name)
{
    for (const mor_solver* const* s = solvers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
