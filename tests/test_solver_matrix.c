/* Every registered solver on every form it takes: tiny problems with known answers and random families of the
 * original's generators, judged by code that shares nothing with the library. New solvers are tested here the moment
 * they are registered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/problem_kit.h"
#include "moreau/solver.h"

/* What a solved problem may be wrong by here, where products of two errors count as errors. */
static const double SMALL = 1e-5;

static void the_kit_agrees_with_itself_and_with_the_judge(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int f = 0; f < KIT_FORMS; f++)
        for (int family = 0; family < KIT_FAMILIES; family++)
            for (int size = 1; size < 30; size += 7) {
                double* known;
                mor_problem p = kit_make(kit_forms[f], family, size, size % 2, (uint64_t)size + 3, arena, &known);
                mor_error error = { 0 };
                if (mor_problem_check(&p, &error)) fail_msg("%s: %s", mor_form_name(p.form), error.text);
                if (!known) continue;
                assert_near(kit_error(&p, known, known, arena), 0.0, 1e-12);
                mor_residual r = mor_judge(&p, known, arena);
                assert_near(mor_judge_error(&p, &r), 0.0, 1e-12);
                /* and both see a wrong answer */
                int n = mor_problem_unknowns(&p);
                double* z = mor_arena_alloc(arena, (size_t)n * sizeof *z);
                for (int i = 0; i < n; i++) z[i] = known[i] + 0.5 + 0.1 * (i % 5);
                r = mor_judge(&p, z, arena);
                assert_true(mor_judge_error(&p, &r) > 1e-3);
                if (!(kit_error(&p, z, known, arena) > 1e-4))
                    fail_msg("%s %s %d: the kit calls a wrong answer right: %g", mor_form_name(p.form),
                             kit_family_names[family], size, kit_error(&p, z, known, arena));
            }
    mor_arena_destroy(arena);
}

typedef struct outcome {
    int tried, solved, refused;
} outcome;

static void run(const mor_solver* s, mor_form form, kit_family family, int size, int seed, double limit, outcome* o,
                mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    double* known;
    mor_problem p = kit_make(form, family, size, seed % 2, (uint64_t)(1000 * seed + size), arena, &known);
    double* z = mor_arena_zero(arena, (size_t)mor_problem_unknowns(&p) + 1, sizeof *z);
    mor_solve_options so = mor_solve_options_default();
    so.time_limit = limit;
    mor_report r = mor_solve(s, NULL, &p, &so, z, NULL);
    o->tried++;
    o->solved += r.status == MOR_SOLVED, o->refused += r.status == MOR_REFUSED;
    double error = r.status == MOR_SOLVED ? kit_error(&p, z, known, arena) : 0.0;
    if (!(error <= SMALL))
        fail_msg("%s says it solved %s (%s, %d unknowns, seed %d), but the error is %g (its own: %g)", s->name,
                 mor_form_name(form), kit_family_names[family], size, seed, error, r.residual.relative);
    if (known && r.status == MOR_NO_SOLUTION)
        fail_msg("%s says %s (%s, %d unknowns, seed %d) has no solution, but it has: %s", s->name, mor_form_name(form),
                 kit_family_names[family], size, seed, r.detail);
    if (r.status == MOR_REFUSED && !r.detail[0])
        fail_msg("%s refuses %s without a reason", s->name, mor_form_name(form));
    mor_arena_release(arena, mark);
}

static void every_solver_solves_tiny_problems(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++) {
            if (!mor_solver_applies(*s, kit_forms[f])) continue;
            outcome o = { 0 };
            for (int size = 0; size <= 6; size++)
                for (int seed = 0; seed < 3; seed++) run(*s, kit_forms[f], KIT_DOMINANT, size, seed, 1.0, &o, arena);
            if (o.refused == 0 && 10 * o.solved < 9 * o.tried)
                fail_msg("%s solves only %d of %d tiny problems of form %s", (*s)->name, o.solved, o.tried,
                         mor_form_name(kit_forms[f]));
        }
    mor_arena_destroy(arena);
}

static void scalar_answers_are_known(void** state)
{
    (void)state;
    for (const mor_solver* const* s = mor_solvers(); *s; s++) {
        if (!mor_solver_applies(*s, MOR_LCP)) continue;
        /* 2 z - 3 >= 0: z = 1.5; 2 z + 3 >= 0: z = 0 */
        double A[1] = { 2 }, b[1] = { -3 }, z[1];
        mor_problem p = { .form = MOR_LCP, .size = 1, .b = b };
        p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = 1, .cols = 1, .x = A };
        if (mor_solve(*s, NULL, &p, NULL, z, NULL).status != MOR_SOLVED) fail_msg("%s", (*s)->name);
        assert_near(z[0], 1.5, 1e-7);
        b[0] = 3;
        if (mor_solve(*s, NULL, &p, NULL, z, NULL).status != MOR_SOLVED) fail_msg("%s", (*s)->name);
        assert_near(z[0], 0.0, 1e-7);
        /* 0 z - 1 >= 0 has no solution, and nobody says it has */
        A[0] = 0, b[0] = -1;
        mor_solve_options o = mor_solve_options_default();
        o.time_limit = 0.5;
        if (mor_solve(*s, NULL, &p, &o, z, NULL).status == MOR_SOLVED) fail_msg("%s solves the impossible", (*s)->name);
    }
}

static void what_is_called_solved_is_solved_in_every_family(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    bool thorough = getenv("MOREAU_LONG") != NULL;
    static const int sizes[] = { 12, 60, 200, 2000 };
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++) {
            if (!mor_solver_applies(*s, kit_forms[f])) continue;
            char line[256];
            int at = snprintf(line, sizeof line, "%-18s %-12s", (*s)->name, mor_form_name(kit_forms[f]));
            for (int family = 0; family < KIT_FAMILIES; family++) {
                outcome o = { 0 };
                for (int k = 0; k < (thorough ? 4 : 3); k++)
                    for (int seed = 0; seed < (sizes[k] > 100 ? 1 : 2); seed++)
                        run(*s, kit_forms[f], family, sizes[k], seed,
                            thorough         ? 10.0
                            : sizes[k] > 100 ? 0.06
                                             : 0.03,
                            &o, arena);
                at += snprintf(line + at, sizeof line - (size_t)at, " %s %d/%d", kit_family_names[family], o.solved,
                               o.tried);
            }
            if (thorough || getenv("MOREAU_VERBOSE")) print_message("%s\n", line);
        }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kit_agrees_with_itself_and_with_the_judge),
        cmocka_unit_test(every_solver_solves_tiny_problems),
        cmocka_unit_test(scalar_answers_are_known),
        cmocka_unit_test(what_is_called_solved_is_solved_in_every_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
