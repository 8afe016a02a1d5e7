/* Golden lines of the judge, the conversions and the solvers. */
#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/problem_kit.h"
#include "problem/convert.h"
#include "problem/judge.h"

/* Of a solver here, so that slow ones cost little; what they have done until then counts. */
enum { ITERATIONS = 100, FEW = 15 };

static double* numbers(mor_arena* arena, int n) { return mor_arena_zero(arena, (size_t)n + 1, sizeof(double)); }

/* ------------------------------------------------------------------------------ judge and conversions */

static uint64_t hash_matrix(uint64_t h, const mor_matrix* A)
{
    h = golden_integers(h, (int[]){ A->storage, A->rows, A->cols }, 3);
    if (A->storage == MOR_DENSE && A->x) return golden_numbers(h, A->x, A->rows * A->cols);
    if (A->storage != MOR_SPARSE || !A->p) return h;
    h = golden_integers(h, A->p, A->rows + 1);
    h = golden_integers(h, A->i, A->p[A->rows]);
    return golden_numbers(h, A->x, A->p[A->rows]);
}

static uint64_t hash_problem(const mor_problem* p)
{
    uint64_t h = hash_matrix(GOLDEN_START, &p->A);
    if (p->b) h = golden_numbers(h, p->b, p->size);
    if (p->lower) h = golden_numbers(h, p->lower, p->size);
    if (p->upper) h = golden_numbers(h, p->upper, p->size);
    if (p->contact_count && p->mu) h = golden_numbers(h, p->mu, p->contact_count);
    return h;
}

static void convert(const char* form, const golden_problem* g, mor_form target, const double* z, mor_arena* arena)
{
    char name[160];
    mor_conversion c = { 0 };
    mor_error error = { 0 };
    bool no_solution = false;
    snprintf(name, sizeof name, "judge %s %s to-%s", form, g->name, mor_form_name(target));
    mor_code code = mor_convert(&g->problem, target, &c, &no_solution, arena, &error);
    if (code != MOR_OK) {
        golden_line(name, no_solution ? "no_solution" : "refused", 0, golden_text(GOLDEN_START, error.text));
        return;
    }
    int n = mor_problem_unknowns(&g->problem), m = mor_problem_unknowns(&c.to);
    double *to = numbers(arena, m), *back = numbers(arena, n);
    uint64_t h = hash_problem(&c.to);
    if (c.forward) c.forward(&c, z, to, arena);
    h = golden_numbers(h, to, m);
    for (int i = 0; i < m; i++) to[i] += 0.1 * (i % 7);
    if (c.back) c.back(&c, to, back, arena);
    golden_line(name, "ok", m, golden_numbers(h, back, n));
    mor_conversion_destroy(&c);
}

void golden_judge(void)
{
    char name[160];
    mor_arena* arena = mor_arena_create(NULL);
    for (int f = 0; f < KIT_FORMS; f++) {
        static golden_problem problems[GOLDEN_PROBLEMS];
        int count = golden_make(kit_forms[f], problems, arena);
        const char* form = mor_form_name(kit_forms[f]);
        for (int k = 0; k < count; k++) {
            const mor_problem* p = &problems[k].problem;
            int n = mor_problem_unknowns(p);
            double *z = numbers(arena, n), *w = numbers(arena, n);
            mor_rng rng = { (uint64_t)(k + 1) };
            uint64_t h = GOLDEN_START;
            for (int round = 0; round < 3; round++) { /* anything, not negative, and a guess */
                for (int i = 0; i < n; i++) z[i] = mor_rng_uniform(&rng) - (round ? 0.0 : 0.4);
                if (round == 2 && problems[k].guess) memcpy(z, problems[k].guess, (size_t)n * sizeof *z);
                mor_residual r = mor_judge(p, z, arena);
                double quick = mor_judge_quick(p, z, NULL, arena), floor = mor_judge_floor(p, z, arena);
                h = golden_residual(h, &r);
                h = golden_numbers(h, (double[]){ quick, floor }, 2);
                int contacts = mor_judge_contact_count(p);
                mor_contact_verdict* v = mor_arena_zero(arena, (size_t)contacts + 1, sizeof *v);
                if (contacts > 0 && mor_judge_contacts(p, z, v, arena) == contacts)
                    for (int c = 0; c < contacts; c++) {
                        h = golden_integers(h, &v[c].state, 1);
                        h = golden_numbers(h, (double[]){ v[c].normal, v[c].friction, v[c].slip }, 3);
                    }
            }
            if (p->A.x && p->A.storage != MOR_OPERATOR) {
                mor_matrix_apply(&p->A, z, w);
                h = golden_numbers(h, w, p->A.rows);
                mor_matrix_apply_transposed(&p->A, z, w);
                h = golden_numbers(h, w, p->A.cols);
            }
            snprintf(name, sizeof name, "judge %s %s", form, problems[k].name);
            golden_line(name, "ok", n, h);
            mor_form targets[4];
            int forms = mor_convert_targets(p->form, targets);
            for (int t = 0; t < forms; t++) convert(form, &problems[k], targets[t], z, arena);
        }
    }
    mor_arena_destroy(arena);
}

/* ------------------------------------------------------------------------------------------- solvers */

typedef struct solve_case {
    const mor_solver* solver;
    const golden_problem* problem;
    const void* options;
    double tol;
    int max_iter;
    bool traced;
} solve_case;

static void solve(const solve_case* c, const char* variant, mor_arena* arena)
{
    char name[200];
    const mor_problem* p = &c->problem->problem;
    size_t mark = mor_arena_mark(arena);
    int n = mor_problem_unknowns(p);
    double* z = numbers(arena, n);
    mor_solve_options o = mor_solve_options_default();
    mor_trace trace = { 0 };
    o.tol = c->tol;
    o.max_iter = c->problem->large && c->max_iter > FEW ? FEW : c->max_iter;
    if (o.max_iter > c->solver->max_iter) o.max_iter = c->solver->max_iter;
    o.warm = c->problem->guess != NULL;
    if (o.warm) memcpy(z, c->problem->guess, (size_t)n * sizeof *z);
    if (c->traced) o.trace = &trace;
    mor_report r = mor_solve(c->solver, c->options, p, &o, z, arena);
    uint64_t h = golden_numbers(GOLDEN_START, z, n);
    h = golden_residual(h, &r.residual);
    h = golden_text(h, r.detail);
    for (int k = 0; k < trace.count; k++) {
        h = golden_integers(h, &trace.lines[k].iteration, 1);
        h = golden_numbers(h, &trace.lines[k].step_length, 1);
        h = golden_residual(h, &trace.lines[k].residual);
    }
    mor_trace_free(&trace);
    snprintf(name, sizeof name, "%s %s %s%s", c->solver->name, mor_form_name(p->form), c->problem->name, variant);
    golden_line(name, mor_status_name(r.status), r.iterations, h);
    mor_arena_release(arena, mark);
}

/* Every option away from its default, on three problems. */
static void solve_options(solve_case c, const golden_problem* problems, int count, mor_arena* arena)
{
    char values[GOLDEN_VALUES][64], variant[120];
    void* options = c.solver->options_size ? calloc(1, c.solver->options_size) : NULL;
    c.options = options;
    for (const mor_field* f = c.solver->fields; options && f && f->name; f++) {
        int number = golden_values(f, values);
        for (int v = 0; v < number; v++) {
            mor_fields_default(c.solver->fields, options);
            if (mor_fields_set(c.solver->fields, options, f->name, values[v], NULL)) continue;
            snprintf(variant, sizeof variant, ",%s=%s", f->name, values[v]);
            for (int k = v % 2; k < count; k += count / 3 + 1) {
                c.problem = &problems[k], c.traced = k % 2;
                solve(&c, variant, arena);
            }
        }
    }
    free(options);
}

void golden_solver(const mor_solver* solver)
{
    mor_arena *arena = mor_arena_create(NULL), *scratch = mor_arena_create(NULL);
    for (int f = 0; f < KIT_FORMS; f++) {
        static golden_problem problems[GOLDEN_PROBLEMS];
        if (!mor_solver_applies(solver, kit_forms[f])) continue;
        bool own = solver->accepts & kit_forms[f];
        int count = golden_make(kit_forms[f], problems, arena);
        int most = kit_forms[f] == MOR_QP ? 20 * ITERATIONS : ITERATIONS; /* splitting proves late that there is none */
        solve_case c = { solver, NULL, NULL, 1e-8, most, false };
        for (int k = 0; k < count; k += own || k + 4 >= count ? 1 : 4) { /* those it takes by a conversion: fewer */
            c.problem = &problems[k], c.traced = k % 3 == 1;
            solve(&c, "", scratch);
        }
        if (!own) continue;
        for (int k = 1; k < count; k += count / 3 + 1) {
            c = (solve_case){ solver, &problems[k], NULL, 1e-8, 3, true };
            solve(&c, ",max_iter=3", scratch);
            c = (solve_case){ solver, &problems[k], NULL, 1e-3, ITERATIONS, false };
            solve(&c, ",tol=1e-3", scratch);
            c = (solve_case){ solver, &problems[k], NULL, 0.0, ITERATIONS, false };
            solve(&c, ",tol=0", scratch);
        }
        c = (solve_case){ solver, NULL, NULL, 1e-8, ITERATIONS, false };
        solve_options(c, problems, count, scratch);
    }
    mor_arena_destroy(scratch);
    mor_arena_destroy(arena);
}
