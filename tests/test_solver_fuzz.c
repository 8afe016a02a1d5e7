/* Ten thousand malformed and extreme problems through every registered solver and every form it takes: nobody crashes,
 * nobody hangs, and nobody calls solved what is not. Run under the sanitizers this is a test of memory as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/problem_kit.h"
#include "moreau/solver.h"

typedef enum damage {
    NOTHING,
    WRONG_SIZES,
    MISSING,
    NOT_A_NUMBER,
    INFINITE,
    SINGULAR,
    HUGE_NUMBERS,
    TINY_NUMBERS,
    NEGATIVE_FRICTION,
    BAD_INDICES,
    BAD_BOUNDS,
    OPERATOR,
    INDEFINITE,
    DAMAGES
} damage;
static const char* const damage_names[DAMAGES] = { "nothing",     "wrong sizes", "missing data", "nan",
                                                   "inf",         "singular",    "huge numbers", "tiny numbers",
                                                   "negative mu", "bad indices", "bad bounds",   "operator",
                                                   "indefinite" };

static int below(mor_rng* r, int n) { return (int)(mor_rng_uniform(r) * n); }
static bool is_step(const mor_problem* p) { return p->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE); }
static bool is_global(const mor_problem* p) { return p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING); }
static bool has_cones(const mor_problem* p)
{
    return is_global(p) || p->form & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_CQP);
}

static int entries(const mor_matrix* A) { return A->storage == MOR_DENSE ? A->rows * A->cols : A->p[A->rows]; }

/* Arrays of numbers the problem has, with their lengths. */
static int arrays(mor_problem* p, double** list, int* count)
{
    int k = 0, n = p->size;
    if (is_step(p)) {
        mor_step_form* s = &p->step;
        int jacobian = 0, diagonal = 0;
        for (int c = 0; c < s->block_count; c++) {
            diagonal += s->blocks[c].dim * s->blocks[c].dim;
            for (int e = 0; e < s->blocks[c].entry_count; e++)
                jacobian += s->blocks[c].dim * s->trees[s->entries[s->blocks[c].entry + e].tree].dof;
        }
        list[k] = (double*)s->nu_free, count[k++] = s->dof;
        list[k] = (double*)s->bias, count[k++] = s->row_count;
        list[k] = (double*)s->jacobian, count[k++] = jacobian;
        list[k] = (double*)s->response, count[k++] = jacobian;
        list[k] = (double*)s->diagonal, count[k++] = diagonal;
        return k;
    }
    list[k] = (double*)p->b, count[k++] = n;
    if (is_global(p)) {
        list[k] = p->M.x, count[k++] = entries(&p->M);
        list[k] = p->H.x, count[k++] = entries(&p->H);
        list[k] = (double*)p->f, count[k++] = p->M.rows;
    } else list[k] = p->A.x, count[k++] = entries(&p->A);
    if (has_cones(p)) list[k] = (double*)p->mu, count[k++] = p->contact_count;
    if (p->form == MOR_QP && p->C.rows > 0) list[k] = p->C.x, count[k++] = entries(&p->C);
    return k;
}

static bool poke(mor_problem* p, double value, mor_rng* r)
{
    double* list[8];
    int count[8], k = below(r, arrays(p, list, count));
    if (count[k] == 0) return false;
    list[k][below(r, count[k])] = value;
    return true;
}

static void scale(mor_problem* p, double factor, mor_rng* r)
{
    double* list[8];
    int count[8], k = arrays(p, list, count), which;
    if (is_step(p)) k = 2; /* the others belong together: scaled alone they make no step */
    which = below(r, 3 * k);
    for (int a = 0; a < k; a++)
        for (int i = 0; (which >= k || a == which) && i < count[a]; i++)
            if (which < 2 * k || below(r, 4) == 0) list[a][i] *= factor;
}

static void nothing(void* user, const double* x, double* y)
{
    const mor_problem* p = user;
    for (int i = 0; i < p->size; i++) y[i] = 2.0 * x[i];
}

/* Damages p; returns true if the check must refuse it. `original`: the problem as made, for operators. */
static bool apply_damage(mor_problem* p, damage d, const mor_problem* original, mor_rng* r)
{
    int n = p->size;
    mor_step_form* s = &p->step;
    switch (d) {
    case NOTHING:
        return false;
    case WRONG_SIZES:
        switch (below(r, 4)) {
        case 0:
            p->size = -1 - below(r, 5);
            return true;
        case 1:
            if (is_step(p)) s->row_count++;
            else if (is_global(p)) p->H.rows++;
            else p->A.rows++;
            return true;
        case 2:
            if (is_step(p)) p->size = n + 1;
            else if (has_cones(p)) p->contact_count++;
            else p->A.cols--;
            return true;
        default:
            if (has_cones(p)) p->dim = 4 + 10 * below(r, 2);
            else p->form = (mor_form)(p->form | MOR_CQP | MOR_LCP);
            return true;
        }
    case MISSING:
        if (n == 0) return false;
        if (is_step(p)) {
            if (below(r, 2)) s->nu_free = NULL;
            else s->bias = NULL;
        } else if (below(r, 2)) p->b = NULL;
        else if (has_cones(p)) p->mu = NULL;
        else p->A.x = NULL;
        return true;
    case NOT_A_NUMBER:
        return poke(p, NAN, r);
    case INFINITE:
        return poke(p, below(r, 2) ? INFINITY : -INFINITY, r);
    case SINGULAR: {
        double* list[8];
        int count[8], k = arrays(p, list, count), matrix = is_step(p) ? 2 + below(r, 3) : 1;
        for (int i = 0; matrix < k && i < count[matrix]; i++)
            if (below(r, 3) || n < 3) list[matrix][i] = 0.0;
        return false;
    }
    case HUGE_NUMBERS:
        scale(p, pow(10.0, 50.0 * (1 + below(r, 6))), r);
        break;
    case TINY_NUMBERS:
        scale(p, pow(10.0, -50.0 * (1 + below(r, 6))), r);
        return false;
    case NEGATIVE_FRICTION:
        if (is_step(p)) {
            for (int c = 0; c < s->block_count; c++)
                if (s->blocks[c].kind == MOR_BLOCK_CONTACT) return ((mor_block*)s->blocks)[c].mu = -0.5, true;
            return false;
        }
        if (!has_cones(p) || p->contact_count == 0) return false;
        ((double*)p->mu)[below(r, p->contact_count)] = -0.3;
        return true;
    case BAD_INDICES: {
        if (is_step(p)) {
            if (s->block_count == 0) return false;
            mor_block* b = &((mor_block*)s->blocks)[below(r, s->block_count)];
            switch (below(r, 3)) {
            case 0:
                b->row += 1;
                return true;
            case 1:
                ((mor_entry*)s->entries)[b->entry].tree = below(r, 2) ? -1 : s->tree_count;
                return true;
            default:
                b->dim = 4;
                return true;
            }
        }
        mor_matrix* A = is_global(p) ? (below(r, 2) ? &p->M : &p->H) : &p->A;
        if (A->storage != MOR_SPARSE || A->p[A->rows] == 0) return false;
        int k = below(r, A->p[A->rows]);
        switch (below(r, 4)) {
        case 0:
            A->i[k] = A->cols;
            return true;
        case 1:
            A->i[k] = -1;
            return true;
        case 2:
            A->p[0] = 1;
            return true;
        default:
            A->p[A->rows / 2] = A->p[A->rows] + 1;
            return true;
        }
    }
    case BAD_BOUNDS:
        if (n == 0 || !(p->form & (MOR_MLCP | MOR_MCP | MOR_QP))) return false;
        if (p->form == MOR_MLCP || !p->upper) ((double*)p->lower)[below(r, n)] = below(r, 2) ? NAN : 0.5;
        else {
            int k = below(r, n);
            ((double*)p->upper)[k] = below(r, 2) ? p->lower[k] - 1.0 : NAN;
        }
        return true;
    case OPERATOR:
        if (is_step(p)) return false;
        if (is_global(p)) {
            p->H = (mor_matrix){
                .storage = MOR_OPERATOR, .rows = p->H.rows, .cols = p->H.cols, .apply = nothing, .user = (void*)original
            };
            return true;
        }
        p->A = (mor_matrix){ .storage = MOR_OPERATOR,
                             .rows = n,
                             .cols = n,
                             .apply = below(r, 4) ? nothing : NULL,
                             .user = (void*)original };
        return !p->A.apply;
    case INDEFINITE: {
        double* list[8];
        int count[8], k = arrays(p, list, count), matrix = is_step(p) ? 4 : 1;
        for (int i = 0; matrix < k && i < count[matrix]; i++)
            if (below(r, 3) == 0) list[matrix][i] = -list[matrix][i];
        return false;
    }
    case DAMAGES:
        break;
    }
    return false;
}

/* Data beyond this cannot be judged by plain products: only crashes and hangs are looked for. */
static bool judgeable(mor_problem* p)
{
    double* list[8];
    int count[8], k = arrays(p, list, count);
    for (int a = 0; a < k; a++)
        for (int i = 0; i < count[a]; i++)
            if (!(fabs(list[a][i]) < 1e100)) return false;
    return true;
}

static void malformed_problems_never_crash_hang_or_pass_as_solved(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    mor_rng rng = { 20261115 };
    int total = getenv("MOREAU_FUZZ") ? atoi(getenv("MOREAU_FUZZ")) : 10000, done = 0, pairs = 0;
    int statuses[6] = { 0 };
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++) pairs += mor_solver_applies(*s, kit_forms[f]);
    int each = (total + pairs - 1) / pairs;
    for (const mor_solver* const* s = mor_solvers(); *s; s++)
        for (int f = 0; f < KIT_FORMS; f++) {
            if (!mor_solver_applies(*s, kit_forms[f])) continue;
            for (int trial = 0; trial < each; trial++, done++) {
                mor_arena_reset(arena);
                int size = below(&rng, 14);
                double* known;
                kit_family family = (kit_family)below(&rng, KIT_FAMILIES);
                uint64_t seed = (uint64_t)below(&rng, 1000000);
                bool sparse = below(&rng, 2);
                mor_problem original = kit_make(kit_forms[f], family, size, sparse, seed, arena, &known), p = original;
                damage d = (damage)(trial % DAMAGES);
                bool refused = apply_damage(&p, d, &original, &rng);
                bool large =
                    d == HUGE_NUMBERS || d == TINY_NUMBERS || d == INDEFINITE || d == SINGULAR || d == OPERATOR;
                int n = mor_problem_unknowns(&original);
                double* z = mor_arena_zero(arena, (size_t)n + 8, sizeof *z);
                for (int i = 0; i < n; i++) z[i] = below(&rng, 3) - 1.0;
                mor_solve_options o = mor_solve_options_default();
                o.max_iter = 1 + below(&rng, 60);
                if (trial % 4 == 3) o.time_limit = 0.2; /* another way to end; never what is checked */
                o.warm = below(&rng, 4) == 0;
                mor_report r = mor_solve(*s, NULL, &p, &o, z, NULL);
#define WHO "%s on %s (%s, %s, size %d, seed %d, trial %d)"
#define WHOSE (*s)->name, mor_form_name(kit_forms[f]), kit_family_names[family], damage_names[d], size, (int)seed, trial
                if ((int)r.status < 0 || (int)r.status > MOR_NUMERICAL)
                    fail_msg(WHO ": status %d", WHOSE, (int)r.status);
                statuses[r.status]++;
                if (memchr(r.detail, 0, sizeof r.detail) == NULL) fail_msg(WHO ": detail without an end", WHOSE);
                if (refused && r.status != MOR_REFUSED)
                    fail_msg(WHO ": %s instead of refused: %s", WHOSE, mor_status_name(r.status), r.detail);
                if (refused && !r.detail[0]) fail_msg(WHO ": refused without a reason", WHOSE);
                if (r.status == MOR_NO_SOLUTION && !large && known)
                    fail_msg(WHO ": no_solution, but there is one: %s", WHOSE, r.detail);
                if (r.status == MOR_SOLVED) {
                    mor_problem judged = p;
                    if (p.A.storage == MOR_OPERATOR && !is_step(&p) && !is_global(&p)) judged = p;
                    else if (!judgeable(&judged) || (is_step(&p) && (d == SINGULAR || d == INDEFINITE))) continue;
                    double error = kit_error(&judged, z, d == NOTHING ? known : NULL, arena);
                    if (!(error <= 1e-5))
                        fail_msg(WHO ": called solved (%g), but the error is %g", WHOSE, r.residual.relative, error);
                }
            }
        }
    print_message("%d problems:", done);
    for (int k = 0; k < 6; k++) print_message(" %s %d", mor_status_name((mor_status)k), statuses[k]);
    print_message("\n");
    assert_true(done >= total);
    /* both halves of the test are alive */
    assert_true(statuses[MOR_SOLVED] > done / 20 && statuses[MOR_REFUSED] > done / 20);
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(malformed_problems_never_crash_hang_or_pass_as_solved) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
