/* The table of conversions, the trivial ones, and the polishing of active sets. */
#include "problem/convert.h"

#include <string.h>

#include "linalg/dense.h"
#include "linalg/tableau.h"
#include "problem/judge.h"

enum { GLOBAL = MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING, STEPS = MOR_STEP_PYRAMID | MOR_STEP_CONE };

int mor_convert_targets(mor_form form, mor_form* targets)
{
    int n = 0;
    if (form == MOR_STEP_PYRAMID) targets[n++] = MOR_MLCP;
    if (form == MOR_STEP_CONE) {
        targets[n++] = MOR_FC3D, targets[n++] = MOR_FC2D, targets[n++] = MOR_FC_ROLLING;
        targets[n++] = MOR_MLCP; /* when every cone is an interval or a polygon after all */
    }
    if (form == MOR_LCP) targets[n++] = MOR_MLCP, targets[n++] = MOR_MCP;
    if (form == MOR_MLCP) targets[n++] = MOR_MCP, targets[n++] = MOR_LCP;
    if (form == MOR_GFC2D) targets[n++] = MOR_FC2D;
    if (form == MOR_GFC3D) targets[n++] = MOR_FC3D;
    if (form == MOR_GFC_ROLLING) targets[n++] = MOR_FC_ROLLING;
    return n;
}

static void same(const mor_conversion* conversion, const double* z, double* out, mor_arena* arena)
{
    (void)arena;
    memcpy(out, z, (size_t)conversion->from->size * sizeof *out);
}

/* The same numbers under another name. */
static mor_code rename_form(const mor_problem* from, mor_form to, mor_conversion* conversion, mor_arena* arena)
{
    *conversion = (mor_conversion){ .from = from, .to = *from, .back = same, .forward = same };
    conversion->to.form = to;
    conversion->to.groups = NULL;
    if (!conversion->to.lower) {
        conversion->to.lower = mor_arena_zero(arena, (size_t)from->size, sizeof(double));
        if (!conversion->to.lower) return MOR_SYSTEM;
    }
    conversion->to.upper = NULL;
    return MOR_OK;
}

mor_code mor_convert(const mor_problem* from, mor_form to, mor_conversion* conversion, bool* no_solution,
                     mor_arena* arena, mor_error* error)
{
    mor_code code = MOR_BAD_INPUT;
    *conversion = (mor_conversion){ .from = from };
    *no_solution = false;
    if (from->form & STEPS && to == MOR_MLCP) code = mor_convert_step_to_mlcp(from, false, conversion, arena, error);
    else if (from->form & STEPS && to & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING))
        code = mor_convert_step_to_cones(from, to, conversion, arena, error);
    else if (from->form == MOR_MLCP && to == MOR_LCP)
        code = mor_convert_mlcp_to_lcp(from, conversion, no_solution, arena, error);
    else if ((from->form == MOR_LCP || from->form == MOR_MLCP) && (to == MOR_MCP || to == MOR_MLCP))
        code = rename_form(from, to, conversion, arena);
    else if (from->form & GLOBAL) code = mor_convert_global_to_local(from, conversion, arena, error);
    else mor_fail(error, MOR_BAD_INPUT, "no exact way from %s to %s", mor_form_name(from->form), mor_form_name(to));
    if (code == MOR_OK) conversion->to.name = from->name;
    else mor_conversion_destroy(conversion);
    if (code == MOR_SYSTEM)
        mor_fail(error, code, "out of memory while converting %s to %s", mor_form_name(from->form), mor_form_name(to));
    return code;
}

void mor_conversion_destroy(mor_conversion* conversion)
{
    if (conversion->destroy) conversion->destroy(conversion);
    conversion->destroy = NULL;
}

mor_code mor_convert_step_keep_velocity(const mor_problem* from, mor_conversion* conversion, mor_arena* arena,
                                        mor_error* error)
{
    return mor_convert_step_to_mlcp(from, true, conversion, arena, error);
}

static double entry_of(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)j * (size_t)A->rows];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

static double error_of(const mor_problem* problem, const double* z, mor_measure measure, const void* user,
                       mor_arena* arena)
{
    return measure ? measure(user, z) : mor_judge_quick(problem, z, NULL, arena);
}

double mor_active_set_polish(const mor_problem* problem, double* z, mor_measure measure, const void* user,
                             mor_arena* arena)
{
    int n = problem->size, k = 0;
    double error = error_of(problem, z, measure, user, arena);
    size_t mark = mor_arena_mark(arena);
    double* w = mor_arena_alloc(arena, (size_t)n * sizeof *w);
    int* set = mor_arena_alloc(arena, (size_t)n * sizeof *set);
    int* place = mor_arena_alloc(arena, (size_t)n * sizeof *place);
    if (!w || !set || !place) return error;
    mor_matrix_apply(&problem->A, z, w);
    for (int i = 0; i < n; i++) {
        place[i] = -1;
        bool free = problem->form == MOR_MLCP && problem->lower && problem->lower[i] == -INFINITY;
        if (free || z[i] > w[i] + problem->b[i]) place[i] = k, set[k++] = i;
    }
    const int most = 3000; /* dense: 72 MB and some seconds */
    double* A = k <= most ? mor_arena_zero(arena, (size_t)k * k, sizeof *A) : NULL;
    double* LU = k <= most ? mor_arena_alloc(arena, (size_t)k * k * sizeof *LU) : NULL;
    double* b = mor_arena_alloc(arena, (size_t)4 * (size_t)(k + 1) * sizeof *b);
    double* trial = mor_arena_zero(arena, (size_t)n, sizeof *trial);
    int* pivot = mor_arena_alloc(arena, (size_t)k * sizeof *pivot);
    if (A && LU && b && trial && pivot && problem->A.storage != MOR_OPERATOR) {
        double *x = b + k, *work = b + 2 * k;
        const mor_matrix* S = &problem->A;
        for (int r = 0; r < k; r++) {
            int i = set[r];
            if (S->storage == MOR_DENSE)
                for (int c = 0; c < k; c++) A[r + (size_t)c * k] = S->x[i + (size_t)set[c] * n];
            else
                for (int e = S->p[i]; e < S->p[i + 1]; e++)
                    if (place[S->i[e]] >= 0) A[r + (size_t)place[S->i[e]] * k] = S->x[e];
            /* each row scaled by a power of two: partial pivoting then compares like with like */
            double size = 0.0;
            for (int c = 0; c < k; c++) size = fmax(size, fabs(A[r + (size_t)c * k]));
            const double scale = 1.0 / mor_power_of_two(size);
            for (int c = 0; c < k; c++) A[r + (size_t)c * k] *= scale;
            x[r] = b[r] = -scale * problem->b[i];
        }
        memcpy(LU, A, (size_t)k * k * sizeof *A);
        if (mor_lu_factor(k, LU, pivot)) {
            mor_lu_solve(k, LU, pivot, x);
            mor_lu_refine(k, A, LU, pivot, b, x, 3, work);
            for (int r = 0; r < k; r++) trial[set[r]] = x[r];
            double better = error_of(problem, trial, measure, user, arena);
            if (better < error || (isnan(error) && !isnan(better))) {
                error = better;
                memcpy(z, trial, (size_t)n * sizeof *z);
            }
        }
        /* Redundant rows make the set singular: then the least correction of what is there. Variables it would make
         * negative leave the set, and it is tried again. */
        memcpy(trial, z, (size_t)n * sizeof *z);
        for (int round = 0; round < 8 && k > 0; round++) {
            mor_matrix_apply(S, trial, w);
            for (int r = 0; r < k; r++) x[r] = -(w[set[r]] + problem->b[set[r]]);
            for (int r = 0; r < k; r++)
                for (int c = 0; c < k; c++) LU[r + (size_t)c * k] = entry_of(S, set[r], set[c]);
            if (mor_least_norm(k, LU, x, 1e-13, arena) < 0) break;
            int kept = 0;
            for (int r = 0; r < k; r++) {
                bool free = problem->form == MOR_MLCP && problem->lower && problem->lower[set[r]] == -INFINITY;
                trial[set[r]] += x[r];
                if (free || trial[set[r]] > 0.0) set[kept++] = set[r];
                else trial[set[r]] = 0.0;
            }
            double better = error_of(problem, trial, measure, user, arena);
            if (better < error) {
                error = better;
                memcpy(z, trial, (size_t)n * sizeof *z);
            } else if (kept == k) {
                break;
            }
            k = kept;
        }
    }
    mor_arena_release(arena, mark);
    return error;
}
