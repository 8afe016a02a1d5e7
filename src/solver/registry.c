/* The built-in solvers: adding a method is adding its name to this list. */
#include "moreau/solver.h"

#include <string.h>

extern const mor_solver mor_solver_lemke, mor_solver_pgs, mor_solver_path, mor_solver_dantzig, mor_solver_interior_point,
    mor_solver_qp_active_set, mor_solver_qp_admm, mor_solver_qp_interior_point;

static const mor_solver* const solvers[] = { &mor_solver_lemke, &mor_solver_pgs, &mor_solver_path, &mor_solver_dantzig,
                                             &mor_solver_interior_point, &mor_solver_qp_active_set, &mor_solver_qp_admm,
                                             &mor_solver_qp_interior_point,
                                             NULL };

const mor_solver* const* mor_solvers(void) { return solvers; }

const mor_solver* mor_solver_builtin(const char* name)
{
    for (const mor_solver* const* s = solvers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
