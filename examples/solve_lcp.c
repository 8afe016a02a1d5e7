/* The complementarity library alone, no mechanics: 0 <= z _|_ A z + b >= 0. The example of Cottle,
 * Pang and Stone: solution z = (0, 1), by hand. */
#include <moreau/solver.h>
#include <stdio.h>

int main(void)
{
    double A[] = { 2, 2, 1, 1 }; /* column by column: A = [2 1; 2 1] */
    double b[] = { 0, -1 }, z[2] = { 0 };
    mor_problem lcp = {
        .form = MOR_LCP, .size = 2, .A = { .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = A }, .b = b
    };
    mor_solve_options options = mor_solve_options_default();
    mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &lcp, &options, z, NULL);
    printf("%s after %d pivots: z = (%g, %g), residual %.1e\n", mor_status_name(r.status), r.iterations, z[0], z[1],
           r.residual.relative);
    return r.status == MOR_SOLVED && fabs(z[0]) < 1e-12 && fabs(z[1] - 1) < 1e-12 ? 0 : 1;
}
