/* The small problems of the golden tables: the kit's families, starts near an answer, degenerate and impossible ones,
 * piles of spheres, and time steps with every kind of row. */
#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/piles.h"
#include "common/problem_kit.h"
#include "common/random_step.h"

typedef struct list {
    golden_problem* items;
    int count;
    mor_arena* arena;
} list;

static golden_problem* append(list* l, const char* name, mor_problem problem, const double* guess)
{
    if (l->count == GOLDEN_PROBLEMS) return &l->items[GOLDEN_PROBLEMS - 1];
    golden_problem* g = &l->items[l->count++];
    *g = (golden_problem){ .problem = problem, .guess = guess };
    snprintf(g->name, sizeof g->name, "%s", name);
    return g;
}

static double* copy(list* l, const double* x, int n)
{
    double* y = mor_arena_zero(l->arena, (size_t)n + 1, sizeof *y);
    for (int i = 0; i < n && x; i++) y[i] = x[i];
    return y;
}

/* A dense problem of the kit that may be changed. */
static mor_problem make(list* l, mor_form form, kit_family family, int size, int seed, double** known)
{
    mor_problem p = kit_make(form, family, size, false, (uint64_t)seed, l->arena, known);
    p.b = copy(l, p.b, p.size);
    return p;
}

static void add_families(list* l, mor_form form)
{
    static const int sizes[] = { 5, 14 };
    char name[40];
    for (int family = 0; family < KIT_FAMILIES; family++)
        for (int k = 0; k < 2; k++) {
            double* known;
            mor_problem p = kit_make(form, family, sizes[k] + family, (family + k) % 2, (uint64_t)(70 + family + k),
                                     l->arena, &known);
            snprintf(name, sizeof name, "%s-%d", kit_family_names[family], sizes[k] + family);
            append(l, name, p, NULL);
            if (!known || k == 0) continue;
            int n = mor_problem_unknowns(&p);
            double* guess = copy(l, known, n); /* one entry in five is wrong */
            for (int i = 0; i < n; i++) guess[i] = i % 5 == 2 ? 0.0 : guess[i] + 1e-3 * (i % 3);
            snprintf(name, sizeof name, "warm-%s-%d", kit_family_names[family], sizes[k] + family);
            append(l, name, p, guess);
        }
    append(l, "pd-33", kit_make(form, KIT_PD, 33, false, 5, l->arena, NULL), NULL);
    append(l, "contact-42", kit_make(form, KIT_CONTACT, 42, true, 6, l->arena, NULL), NULL);
}

/* Rows of another size, a matrix without symmetry, rows twice, nothing to do, and no answer at all. */
static void add_odd(list* l, mor_form form)
{
    double* known;
    mor_problem p = make(l, form, KIT_PD, 12, 9, &known);
    int n = p.size;
    for (int i = 0; i < n; i++) ((double*)p.b)[i] = 0.0;
    append(l, "zero", p, NULL);
    p = make(l, form, KIT_CONTACT, 12, 10, &known), n = p.size;
    for (int i = 0; i < n; i++) ((double*)p.b)[i] = fabs(p.b[i]);
    append(l, "pushed-out", p, NULL);
    p = make(l, form, KIT_CONTACT, 15, 11, &known), n = p.size;
    for (int i = 0; i < n; i++) ((double*)p.b)[i] = -fabs(p.b[i]);
    append(l, "pushed-in", p, NULL);
    if (!p.A.x) return;
    p = make(l, form, KIT_BANDED, 12, 12, &known), n = p.size;
    for (int i = 0; i < n; i++) { /* D A D, D over six decades in steps of contacts */
        double di = ldexp(1.0, 4 * (i / 3 % 6) - 10);
        for (int j = 0; j < n; j++) p.A.x[i + n * j] *= di * ldexp(1.0, 4 * (j / 3 % 6) - 10);
        ((double*)p.b)[i] *= di;
    }
    append(l, "scaled", p, NULL);
    p = make(l, form, KIT_CONTACT, 12, 13, &known), n = p.size;
    int twin = n / 2 - n / 2 % (p.dim ? p.dim : 1);
    for (int i = 0; i < n; i++) /* the first rows again: equal columns, then equal rows */
        for (int k = 0; k < (p.dim ? p.dim : 1); k++) p.A.x[i + n * (twin + k)] = p.A.x[i + n * k];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (p.dim ? p.dim : 1); k++) p.A.x[twin + k + n * i] = p.A.x[k + n * i];
    for (int k = 0; k < (p.dim ? p.dim : 1); k++) ((double*)p.b)[twin + k] = p.b[k];
    append(l, "twin-rows", p, NULL);
    p = make(l, form, KIT_PSD, 9, 14, &known), n = p.size;
    for (int i = 0; i < n * n; i++) p.A.x[i] = 0.0;
    for (int i = 0; i < n; i++) ((double*)p.b)[i] = i % 3 ? 0.1 : -1.0;
    append(l, "impossible", p, NULL);
    if (form & (MOR_LCP | MOR_MLCP | MOR_MCP)) {
        p = make(l, form, KIT_PD, 13, 15, &known), n = p.size;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) p.A.x[i + n * j] += 0.3, p.A.x[j + n * i] -= 0.3;
        append(l, "skew", p, NULL);
    }
    if (form == MOR_QP) {
        p = make(l, form, KIT_PD, 8, 16, &known);
        double *low = copy(l, p.c_lower, p.C.rows), *high = copy(l, p.c_upper, p.C.rows);
        for (int j = 0; j < p.C.cols; j++) p.C.x[1 + p.C.rows * j] = p.C.x[p.C.rows * j];
        low[0] = 2.0, high[0] = 3.0, low[1] = -1.0, high[1] = 1.0;
        p.c_lower = low, p.c_upper = high;
        append(l, "rows-that-exclude", p, NULL);
        p = make(l, form, KIT_PD, 10, 19, &known); /* every second row an equation, two unknowns held */
        double *equal = copy(l, p.c_lower, p.C.rows), *above = copy(l, p.c_upper, p.C.rows);
        for (int k = 0; k < p.C.rows; k += 2) above[k] = equal[k];
        p.c_lower = equal, p.c_upper = above;
        double *least = copy(l, p.lower, p.size), *most = copy(l, p.upper, p.size);
        for (int k = 3; k < 5; k++) least[k] = most[k] = known[k];
        p.lower = least, p.upper = most;
        append(l, "equations", p, NULL);
        p = make(l, form, KIT_PD, 8, 17, &known);
        p.lower = p.upper = NULL, p.C.rows = 0;
        append(l, "half-space", p, NULL);
    }
    if (p.contact_count) {
        p = make(l, form, KIT_CONTACT, 15, 18, &known);
        double* mu = copy(l, p.mu, p.contact_count);
        for (int c = 0; c < p.contact_count; c++) mu[c] = c % 2 ? 0.0 : 3.0;
        p.mu = mu;
        append(l, "ice-and-rubber", p, NULL);
    }
}

static void add_piles(list* l)
{
    static const struct {
        const char* name;
        pile_kind kind;
        int width, height;
        double mu, ratio, push;
    } piles[] = { { "chain", PILE_CHAIN, 5, 1, 0.3, 1.0, 0.1 },
                  { "sheet", PILE_SHEET, 3, 3, 0.5, 1.0, 0.0 },
                  { "tower", PILE_TOWER, 5, 1, 0.8, 1e4, 0.02 } };
    for (int k = 0; k < 3; k++) {
        pile pile;
        if (!pile_build(&pile, piles[k].kind, piles[k].width, piles[k].height, piles[k].mu, piles[k].ratio,
                        piles[k].push))
            return;
        mor_problem p = pile.problem; /* into the arena of the list */
        int n = p.size, entries = p.A.p[n];
        int *rows = mor_arena_zero(l->arena, (size_t)n + 1, sizeof *rows),
            *columns = mor_arena_zero(l->arena, (size_t)entries, sizeof *columns);
        for (int i = 0; i <= n; i++) rows[i] = p.A.p[i];
        for (int i = 0; i < entries; i++) columns[i] = p.A.i[i];
        p.A.p = rows, p.A.i = columns, p.A.x = copy(l, p.A.x, entries);
        p.b = copy(l, p.b, n), p.mu = copy(l, p.mu, p.contact_count);
        append(l, piles[k].name, p, NULL);
        pile_free(&pile);
    }
}

static void add_steps(list* l, mor_form form)
{
    /* trees, freedoms, contacts, rows, directions, equations, bounded rows, friction, ratio of masses */
    static const random_step steps[] = {
        { 1, 6, 3, 1, 0, 0, 0, 0.0, 1 },   { 2, 6, 4, 2, 0, 1, 1, 0.5, 10 }, { 3, 6, 5, 3, 4, 0, 0, 0.4, 1 },
        { 3, 6, 5, 3, 8, 2, 2, 0.7, 100 }, { 2, 3, 4, 3, 3, 1, 3, 0.2, 1 },  { 4, 6, 9, 3, 6, 0, 2, 1.1, 1e4 },
        { 6, 8, 14, 3, 5, 3, 0, 0.3, 1 },  { 2, 6, 2, 3, 0, 0, 0, 0.4, 1 },  { 3, 6, 6, 3, 0, 0, 0, 0.9, 100 },
        { 3, 6, 5, 3, 0, 2, 0, 0.5, 1 },   { 3, 6, 5, 3, 0, 1, 3, 0.5, 10 }, { 3, 6, 4, 5, 0, 0, 0, 0.4, 1 },
        { 4, 6, 5, 5, 0, 2, 2, 0.6, 50 },  { 3, 6, 4, 6, 0, 1, 1, 0.5, 1 },  { 6, 6, 15, 3, 0, 2, 2, 0.3, 1e3 },
        { 5, 3, 8, 3, 0, 0, 0, 0.0, 1 },   { 8, 6, 24, 3, 0, 0, 0, 0.6, 1 }, { 4, 6, 0, 3, 4, 3, 3, 0.0, 1 },
    };
    char name[40];
    for (int k = 0; k < (int)(sizeof steps / sizeof *steps); k++) {
        mor_problem p = random_step_make(&steps[k], (uint64_t)(200 + k), l->arena);
        if (p.form != form) continue;
        const random_step* s = &steps[k];
        snprintf(name, sizeof name, "step-%dx%d-%dx%d.%d+%d+%d", s->trees, s->dof, s->contacts, s->dim, s->directions,
                 s->equations, s->bounded);
        append(l, name, p, NULL);
        if (k % 3) continue;
        double* guess = mor_arena_zero(l->arena, (size_t)p.size + 1, sizeof *guess);
        for (int c = 0; c < p.step.block_count; c++) guess[p.step.blocks[c].row] = 0.2 + 0.1 * (c % 3);
        append(l, strcat(name, "-warm"), p, guess);
    }
    /* contacts that nothing can keep apart: a body pressed from both sides */
    random_step squeezed = { 1, 6, 2, 3, form == MOR_STEP_PYRAMID ? 4 : 0, 0, 0, 0.4, 1 };
    mor_problem p = random_step_make(&squeezed, 300, l->arena);
    double* bias = copy(l, p.step.bias, p.size);
    double *J = (double*)p.step.jacobian, *Y = (double*)p.step.response, *W = (double*)p.step.diagonal;
    for (int i = 0; i < 18; i++) J[18 + i] = i < 6 ? -J[i] : J[i], Y[18 + i] = i < 6 ? -Y[i] : Y[i];
    for (int i = 0; i < 9; i++) W[9 + i] = (i < 3) != (i % 3 == 0) ? -W[i] : W[i];
    bias[0] = -1.0, bias[3] = -1.0;
    p.step.bias = bias;
    append(l, "squeezed", p, NULL);
}

/* Above the sizes from which matrices are sparse, and contacts are grouped. */
static void add_large(list* l, mor_form form)
{
    if (form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) {
        random_step step = { 60, 6, 120, 3, form == MOR_STEP_PYRAMID ? 4 : 0, 8, 6, 0.5, 10 };
        append(l, "large-step", random_step_make(&step, 400, l->arena), NULL)->large = true;
        return;
    }
    int size = form == MOR_QP ? 60 : form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING) ? 90 : 320;
    append(l, "large-banded", kit_make(form, KIT_BANDED, size, true, 401, l->arena, NULL), NULL)->large = true;
}

int golden_make(mor_form form, golden_problem* problems, mor_arena* arena)
{
    list l = { problems, 0, arena };
    if (form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) {
        add_steps(&l, form);
        add_large(&l, form);
        return l.count;
    }
    add_families(&l, form);
    add_odd(&l, form);
    if (form == MOR_FC3D) add_piles(&l);
    add_large(&l, form);
    return l.count;
}
