/* The built-in solvers: adding a method is adding its name to this list. */
#include "moreau/solver.h"

#include <string.h>

extern const mor_solver mor_solver_lemke, mor_solver_nsn, mor_solver_pgs;

static const mor_solver* const solvers[] = { &mor_solver_lemke, &mor_solver_nsn, &mor_solver_pgs, NULL };

const mor_solver* const* mor_solvers(void) { return solvers; }

const mor_solver* mor_solver_builtin(const char* name)
{
    for (const mor_solver* const* s = solvers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
