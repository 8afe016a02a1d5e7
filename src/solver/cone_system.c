/* Contacts as one variational inequality (cone_system.h). Every function costs O(rows) beside the product with W. */
#include "solver/cone_system.h"

#include "base/elementary.h"
#include "problem/cone.h"
#include "problem/step.h"

#include <math.h>

static void weigh(mor_cone_block* b, const double* diagonal)
{
    double trace = 0.0, tangent = 0.0, roll = 0.0;
    int m = b->dim < 3 || b->kind == MOR_BLOCK_EQUATION ? b->dim : 3;
    for (int i = 0; i < m; i++) trace += diagonal[i];
    for (int i = 1; i < b->dim; i++)
        if (i < 3) tangent = mor_max(tangent, diagonal[i]);
        else roll = mor_max(roll, diagonal[i]);
    b->weight = trace > 0.0 ? m / trace : 1.0;
    b->normal = diagonal[0] > 0.0 ? 1.0 / diagonal[0] : b->weight;
    b->tangent = tangent > 0.0 ? 1.0 / tangent : b->weight;
    b->roll = roll > 0.0 ? 1.0 / roll : b->weight;
    b->beta = b->kind == MOR_BLOCK_CONTACT && roll > 0.0 && diagonal[0] > 0.0 ? sqrt(diagonal[0] / roll) : 1.0;
}

mor_status mor_cone_system_open(mor_cone_system* system, const mor_problem* problem, mor_arena* arena, const char** why)
{
    bool step = problem->form & (MOR_STEP_CONE | MOR_STEP_PYRAMID);
    const mor_step_form* s = &problem->step;
    int count = step ? s->block_count : problem->contact_count;
    *system =
        (mor_cone_system){ .problem = problem, .n = problem->size, .count = count, .convex = problem->form == MOR_CQP };
    system->blocks = mor_arena_alloc(arena, (size_t)count * sizeof *system->blocks);
    system->weight = mor_arena_alloc(arena, (size_t)problem->size * sizeof *system->weight);
    system->nu = step ? mor_arena_alloc(arena, (size_t)s->dof * sizeof *system->nu) : NULL;
    *why = "out of memory";
    if (!system->blocks || !system->weight || (step && !system->nu)) return MOR_NUMERICAL;
    if (!step && problem->A.storage == MOR_OPERATOR) return *why = "needs the matrix, not an operator", MOR_REFUSED;
    if (!step && !mor_block_rows_build(&system->W, &problem->A, problem->dim, arena)) return MOR_NUMERICAL;
    for (int c = 0; c < count; c++) {
        mor_cone_block* b = &system->blocks[c];
        if (step) {
            const mor_block* from = &s->blocks[c];
            enum { WIDEST = 16 };
            double diagonal[WIDEST];
            if (mor_block_is_polygonal(from)) return *why = "a polygonal friction cone", MOR_REFUSED;
            if (from->dim > WIDEST) return *why = "a block of more than sixteen rows", MOR_REFUSED;
            *b = (mor_cone_block){ .kind = from->kind,
                                   .row = from->row,
                                   .dim = from->dim,
                                   .cone = mor_block_cone(from),
                                   .lower = from->lower,
                                   .upper = from->upper };
            for (int i = 0; i < b->dim; i++) diagonal[i] = s->diagonal[s->diagonal_start[c] + i * (b->dim + 1)];
            weigh(b, diagonal);
        } else {
            int d = problem->dim;
            double diagonal[5];
            *b = (mor_cone_block){ .kind = MOR_BLOCK_CONTACT,
                                   .row = c * d,
                                   .dim = d,
                                   .cone = { { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } } };
            for (int i = 0; i < d; i++) diagonal[i] = mor_block_rows_own(&system->W, c)[i * (d + 1)];
            weigh(b, diagonal);
        }
        for (int i = 0; i < b->dim; i++) system->weight[b->row + i] = b->weight * (i < 3 ? 1.0 : b->beta * b->beta);
    }
    double* q = mor_arena_alloc(arena, (size_t)problem->size * sizeof *q);
    if (!q) return MOR_NUMERICAL;
    if (step) mor_step_rows(s, s->nu_free, q);
    system->drive = mor_cone_system_norm(system, step ? q : problem->b, 1);
    return MOR_SOLVED;
}

bool mor_cone_system_runaway(const mor_cone_system* system, const double* r, double tol)
{
    return system->drive > 0.0 && mor_cone_system_norm(system, r, -1) > mor_min(1e7, 0.1 / tol) * system->drive;
}

void mor_cone_system_velocity(const mor_cone_system* system, const double* r, double* u)
{
    const mor_problem* problem = system->problem;
    if (system->nu) {
        mor_step_velocity(&problem->step, r, system->nu);
        mor_step_rows(&problem->step, system->nu, u);
        return;
    }
    mor_block_rows_apply(&system->W, r, problem->b, u);
}

void mor_cone_system_hat(const mor_cone_system* system, const double* u, double* F)
{
    if (F != u)
        for (int i = 0; i < system->n; i++) F[i] = u[i];
    if (system->convex) return;
    for (int c = 0; c < system->count; c++) {
        const mor_cone_block* b = &system->blocks[c];
        const double* v = u + b->row;
        if (b->kind != MOR_BLOCK_CONTACT || b->dim == 1) continue;
        F[b->row] += mor_cone_shift(b->dim, b->cone, v);
    }
}

void mor_cone_system_project(const mor_cone_system* system, double* r)
{
    for (int c = 0; c < system->count; c++) {
        const mor_cone_block* b = &system->blocks[c];
        double* x = r + b->row;
        if (b->kind == MOR_BLOCK_CONTACT) {
            mor_cone scaled = { { b->cone.mu[0], b->cone.mu[1] / b->beta, b->cone.mu[2] / b->beta } };
            for (int i = 3; i < b->dim; i++) x[i] /= b->beta;
            mor_cone_project(b->dim, scaled, x);
            for (int i = 3; i < b->dim; i++) x[i] *= b->beta;
        } else if (b->kind == MOR_BLOCK_BOUNDED) r[b->row] = mor_min(mor_max(r[b->row], b->lower), b->upper);
    }
}

double mor_cone_system_norm(const mor_cone_system* system, const double* x, int power)
{
    double sum = 0.0;
    for (int i = 0; i < system->n; i++) sum += x[i] * x[i] * (power < 0 ? 1.0 / system->weight[i] : system->weight[i]);
    return sqrt(sum);
}
