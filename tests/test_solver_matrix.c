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

/* ---------------------------------------------------------------------------- the known table */

/* tests/tables/solver_matrix.txt: a line per solver and form, with solved/refused of the tiny problems and of each
 * family. Why a number is not the number of problems is said there. */
enum { TINY, FIRST_FAMILY, COLUMNS = FIRST_FAMILY + KIT_FAMILIES };

typedef struct outcome {
    int tried, solved, refused;
} outcome;

typedef struct line {
    char solver[40], form[24];
    outcome known[COLUMNS];
    bool met;
} line;

static line table[1000];
static int lines;

static int read_table(void** state)
{
    (void)state;
    char text[400];
    FILE* file = fopen(MOREAU_SOURCE_DIR "/tests/tables/solver_matrix.txt", "r");
    if (!file) return -1;
    while (fgets(text, sizeof text, file) && lines < 1000) {
        line* l = &table[lines];
        int at = 0, used = 0;
        if (text[0] == '#' || sscanf(text, "%39s %23s %n", l->solver, l->form, &at) != 2) continue;
        for (int k = 0; k < COLUMNS; k++, at += used)
            if (sscanf(text + at, "%d/%d %n", &l->known[k].solved, &l->known[k].refused, &used) != 2) {
                print_error("solver_matrix.txt: bad line: %s", text);
                return -1;
            }
        lines++;
    }
    fclose(file);
    return 0;
}

static line* find_line(const char* solver, const char* form)
{
    for (int k = 0; k < lines; k++)
        if (strcmp(table[k].solver, solver) == 0 && strcmp(table[k].form, form) == 0) return &table[k];
    return NULL;
}

/* -------------------------------------------------------------------------------------- runs */

/* Iterations a solver gets here: enough for most to end, few enough for a test of a minute. Never a limit of time. */
enum { ITERATIONS = 400 };

static void run(const mor_solver* s, mor_form form, kit_family family, int size, int seed, outcome* o, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    double* known;
    mor_problem p = kit_make(form, family, size, seed % 2, (uint64_t)(1000 * seed + size), arena, &known);
    double* z = mor_arena_zero(arena, (size_t)mor_problem_unknowns(&p) + 1, sizeof *z);
    mor_solve_options so = mor_solve_options_default();
    so.max_iter = s->max_iter < ITERATIONS ? s->max_iter : ITERATIONS;
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

static outcome run_tiny(const mor_solver* s, mor_form form, mor_arena* arena)
{
    outcome o = { 0 };
    for (int size = 0; size <= 6; size++)
        for (int seed = 0; seed < 3; seed++) run(s, form, KIT_DOMINANT, size, seed, &o, arena);
    return o;
}

static outcome run_family(const mor_solver* s, mor_form form, kit_family family, bool thorough, mor_arena* arena)
{
    static const int sizes[] = { 12, 60, 200, 2000 };
    outcome o = { 0 };
    for (int k = 0; k < (thorough ? 4 : 3); k++)
        for (int seed = 0; seed < (sizes[k] > 100 ? 1 : 2); seed++) run(s, form, family, sizes[k], seed, &o, arena);
    return o;
}

static void every_solver_solves_as_many_problems_as_the_table_says(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    const char* only = getenv("MOREAU_SOLVER");
    FILE* written = getenv("MOREAU_TABLE") ? fopen(getenv("MOREAU_TABLE"), "w") : NULL;
    int wrong = 0;
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++) {
            const char* form = mor_form_name(kit_forms[f]);
            if (!mor_solver_applies(*s, kit_forms[f]) || (only && strcmp(only, (*s)->name) != 0)) continue;
            line* l = find_line((*s)->name, form);
            if (l) l->met = true;
            if (written) fprintf(written, "%-18s %-12s", (*s)->name, form);
            for (int k = 0; k < COLUMNS; k++) {
                outcome o = k == TINY ? run_tiny(*s, kit_forms[f], arena)
                                      : run_family(*s, kit_forms[f], (kit_family)(k - FIRST_FAMILY), false, arena);
                if (written) fprintf(written, " %5d/%d", o.solved, o.refused);
                if (l && o.solved >= l->known[k].solved && o.refused <= l->known[k].refused) continue;
                print_error("%s, %s, %s: %d of %d solved, %d refused; the table has %d, %d\n", (*s)->name, form,
                            k == TINY ? "tiny" : kit_family_names[k - FIRST_FAMILY], o.solved, o.tried, o.refused,
                            l ? l->known[k].solved : -1, l ? l->known[k].refused : -1);
                wrong++;
            }
            if (written) fprintf(written, "\n"), fflush(written);
        }
    for (int k = 0; k < lines && !only; k++)
        if (!table[k].met)
            print_error("the table has %s on %s, which is no longer there\n", table[k].solver, table[k].form), wrong++;
    if (written) fclose(written);
    mor_arena_destroy(arena);
    assert_int_equal(wrong, 0);
}

static void what_is_called_solved_is_solved_among_large_problems(void** state)
{
    (void)state;
    if (!getenv("MOREAU_LONG")) {
        print_message("SKIP: 2000 unknowns, only with MOREAU_LONG\n");
        skip();
    }
    mor_arena* arena = mor_arena_create(NULL);
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++)
            for (int family = 0; family < KIT_FAMILIES && mor_solver_applies(*s, kit_forms[f]); family++) {
                outcome o = run_family(*s, kit_forms[f], (kit_family)family, true, arena);
                print_message("%-18s %-12s %-10s %d/%d\n", (*s)->name, mor_form_name(kit_forms[f]),
                              kit_family_names[family], o.solved, o.tried);
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
        o.max_iter = (*s)->max_iter < ITERATIONS ? (*s)->max_iter : ITERATIONS;
        if (mor_solve(*s, NULL, &p, &o, z, NULL).status == MOR_SOLVED) fail_msg("%s solves the impossible", (*s)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kit_agrees_with_itself_and_with_the_judge),
        cmocka_unit_test(scalar_answers_are_known),
        cmocka_unit_test(every_solver_solves_as_many_problems_as_the_table_says),
        cmocka_unit_test(what_is_called_solved_is_solved_among_large_problems),
    };
    return cmocka_run_group_tests(tests, read_table, NULL);
}
