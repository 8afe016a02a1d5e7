/* The papers' heuristic exact geometry: the maximum of the sub-gaps as a complementarity problem (MATH section 2, eq. 6
 * / 25).
 *
 * A group of sub-contacts 1 ... m of one vertex, sub-contact 1 the primary. With c_k = max(0, psi_k - (psi_1 + c_2 +
 * ... + c_(k-1)))
 *
 *     psi_1 + c_2 + ... + c_m = max(psi_1, ..., psi_m),
 *
 * in velocities (v_k = G_k' nu+ + psi_k/h + d(psi_k)/dt, nu+ = nu_free + M^-1 (G_1 p_n + G_f beta)):
 *
 *     0 <= p_n   _|_  v_1 + c_2 + ... + c_m                 >= 0
 *     0 <= c_k   _|_  v_1 - v_k + c_2 + ... + c_k           >= 0        k = 2 ... m
 *     0 <= beta  _|_  G_f' nu+ + d(psi_f)/dt + e s          >= 0        friction of the primary
 *     0 <= s     _|_  mu p_n - e' beta                      >= 0
 *
 * The impulse acts along the primary's normal only. Primary: the sub-contact with the smallest gap that is not
 * negative; if all are negative, the largest; ties go to the one that carried last step. The problem is an LCP in (p_n,
 * beta, s, c) once nu is eliminated, outside the class on which Lemke's method is guaranteed: a failure is reported as
 * such. A particle that would pass between two bodies that touch is held as in peg (peg_pinch.c). In space the vertex
 * groups lose or invent edge contacts; this is the papers' method, kept for comparison (docs/methods/peg.md).
 *
 * D. M. Flickinger, J. Williams, J. C. Trinkle (2015), eq. 25; B. Nguyen, J. C. Trinkle (2010). Dense, O(n^3). */
#include "formulation/peg_planes.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "formulation/unknowns.h"
#include "problem/cone.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOUCH 1e-12 /* m: rounding of a gap of zero */
enum { HOLDS = 8 }; /* how often particles are held between pieces that touch */

/* A column or row of the LCP: coefficients on the rows of one contact, and which one. */
typedef struct term {
    int contact; /* -1: none */
    double value[3];
} term;

static double product(const mor_system* s, const mor_block* a, const double* u, const mor_block* b, const double* v)
{
    double sum = 0.0;
    for (int e = a->entry; e < a->entry + a->entry_count; e++)
        for (int f = b->entry; f < b->entry + b->entry_count; f++) {
            if (s->entries[e].tree != s->entries[f].tree) continue;
            int dof = s->trees[s->entries[e].tree].dof;
            const double *J = s->jacobian + s->entries[e].start, *Y = s->response + s->entries[f].start;
            for (int i = 0; i < a->dim; i++)
                for (int j = 0; j < b->dim; j++) {
                    if (u[i] == 0.0 || v[j] == 0.0) continue;
                    double w = 0.0;
                    for (int m = 0; m < dof; m++) w += J[i * dof + m] * Y[j * dof + m];
                    sum += u[i] * v[j] * w;
                }
        }
    return sum;
}

/* value . (J nu_free + bias) of one contact */
static double free_row(const mor_system* s, const mor_block* b, const double* value, const double* bias)
{
    double sum = 0.0;
    for (int d = 0; d < b->dim; d++) {
        double u = bias[b->row + d];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start + d * t->dof;
            for (int m = 0; m < t->dof; m++) sum += value[d] * J[m] * s->nu_free[t->offset + m];
        }
        sum += value[d] * u;
    }
    return sum;
}

/* The papers' choice among contacts first ... end-1 of a group. */
static int primary(const mor_system* s, int first, int end)
{
    int best = first;
    for (int c = first + 1; c < end; c++) {
        double old = s->contacts[best].gap, now = s->contacts[c].gap;
        bool better = old >= -TOUCH ? now >= -TOUCH && now < old : now > old;
        if (now == old && s->contacts[c].guess[0] > s->contacts[best].guess[0]) better = true;
        if (better) best = c;
    }
    return best;
}

/* The problem under construction. */
typedef struct lcp {
    const mor_system* s;
    int directions;
    mor_contact_row* sorted; /* contacts, groups together, primary first */
    int* start;              /* group -> its first */
    int groups, n;
    double *A, *q, *z, *bias;
    term *row, *less; /* row r of the LCP reads `row` (minus `less`) of nu; column r puts `row` into nu */
    bool* pushes;
    int* row_of; /* rows of the primaries as a STEP -> rows of the system */
} lcp;

/* Groups by number, in the order of their first contact, without the contacts in `drop`; false: out of memory. */
static bool group_contacts(lcp* k, const bool* drop, mor_arena* arena)
{
    const mor_system* s = k->s;
    int count = s->contact_count, at = 0;
    k->start = mor_arena_alloc(arena, ((size_t)count + 1) * sizeof *k->start);
    k->sorted = mor_arena_alloc(arena, (size_t)count * sizeof *k->sorted);
    bool* done = mor_arena_alloc(arena, (size_t)count * sizeof *done);
    if (!k->start || !k->sorted || !done) return false;
    memcpy(done, drop, (size_t)count * sizeof *done);
    mor_system view = *s;
    view.contacts = k->sorted;
    for (int c = 0; c < count; c++) {
        if (done[c]) continue;
        int first = k->start[k->groups++] = at;
        for (int i = c; i < count; i++) {
            bool mine = i == c || (s->contacts[c].group && s->contacts[i].group == s->contacts[c].group && !done[i]);
            if (!mine) continue;
            done[i] = true;
            k->sorted[at++] = s->contacts[i];
        }
        int p = primary(&view, first, at);
        mor_contact_row t = k->sorted[first];
        k->sorted[first] = k->sorted[p];
        k->sorted[p] = t;
    }
    k->start[k->groups] = at;
    return true;
}

static bool make_room(lcp* k, mor_arena* arena)
{
    for (int g = 0; g < k->groups; g++) {
        const mor_block* b = &k->s->blocks[k->sorted[k->start[g]].block];
        k->n += 1 + (b->dim > 1 ? k->directions + 1 : 0) + (k->start[g + 1] - k->start[g] - 1);
    }
    size_t n = (size_t)k->n;
    k->A = mor_arena_zero(arena, n * n, sizeof *k->A);
    k->q = mor_arena_zero(arena, n, sizeof *k->q);
    k->z = mor_arena_zero(arena, n, sizeof *k->z);
    k->row = mor_arena_zero(arena, n, sizeof *k->row);
    k->less = mor_arena_zero(arena, n, sizeof *k->less);
    k->pushes = mor_arena_zero(arena, n, sizeof *k->pushes);
    if (!k->A || !k->q || !k->z || !k->row || !k->less || !k->pushes) return false;
    for (int i = 0; i < k->n; i++) k->row[i].contact = k->less[i].contact = -1;
    return true;
}

/* The unknowns p_n, beta, s and c of one group from r on, with their fixed coefficients; the next r. */
static int write_group(lcp* k, int g, int r)
{
    int n = k->n, first = k->start[g], normal = r, members = k->start[g + 1] - first;
    const mor_block* b = &k->s->blocks[k->sorted[first].block];
    k->row[r] = (term){ first, { 1, 0, 0 } };
    k->pushes[r++] = true;
    if (b->dim > 1) {
        int slip = r + k->directions;
        for (int d = 0; d < k->directions; d++, r++) {
            k->row[r] = (term){ first, { 0, d ? -1.0 : 1.0, 0 } };
            if (b->dim == 3) mor_polygon_direction(k->directions, d, &k->row[r].value[1]);
            k->pushes[r] = true;
            k->A[r + (size_t)slip * n] = 1.0;
            k->A[slip + (size_t)r * n] = -1.0;
        }
        k->A[slip + (size_t)normal * n] = b->mu;
        r++;
    }
    int second = r;
    for (int m = 1; m < members; m++, r++) {
        k->row[r] = (term){ first, { 1, 0, 0 } };
        k->less[r] = (term){ first + m, { 1, 0, 0 } };
        k->A[normal + (size_t)r * n] = 1.0;
        for (int j = second; j <= r; j++) k->A[r + (size_t)j * n] = 1.0;
    }
    return r;
}

/* What impulses do to velocities. */
static void write_products(lcp* k)
{
    const mor_system* s = k->s;
    for (int i = 0; i < k->n; i++)
        for (int side = 0; side < 2; side++) {
            const term* t = side ? &k->less[i] : &k->row[i];
            double sign = side ? -1.0 : 1.0;
            if (t->contact < 0) continue;
            const mor_block* b = &s->blocks[k->sorted[t->contact].block];
            k->q[i] += sign * free_row(s, b, t->value, k->bias);
            for (int j = 0; j < k->n; j++)
                if (k->pushes[j])
                    k->A[i + (size_t)j * k->n] +=
                        sign * product(s, b, t->value, &s->blocks[k->sorted[k->row[j].contact].block], k->row[j].value);
        }
}

/* Impulses of all rows of the system: those of the primaries are not zero. */
static void expand(const lcp* k, const double* z, double* impulses)
{
    memset(impulses, 0, (size_t)k->s->row_count * sizeof *impulses);
    for (int j = 0; j < k->n; j++) {
        if (!k->pushes[j]) continue;
        const mor_block* b = &k->s->blocks[k->sorted[k->row[j].contact].block];
        for (int d = 0; d < b->dim; d++) impulses[b->row + d] += z[j] * k->row[j].value[d];
    }
}

static void impulses_of(const mor_unknowns* unknowns, const double* z, double* p, mor_arena* arena)
{
    const lcp* k = unknowns->data;
    size_t mark = mor_arena_mark(arena);
    double* all = mor_arena_alloc(arena, ((size_t)k->s->row_count + 1) * sizeof *all);
    if (all) expand(k, z, all);
    for (int i = 0; i < unknowns->step->size; i++) p[i] = all ? all[k->row_of[i]] : 0.0;
    mor_arena_release(arena, mark);
}

/* The primaries as a STEP; false: out of memory. */
static bool primaries(lcp* k, mor_arena* arena, mor_problem* step)
{
    bool* keep = mor_arena_zero(arena, (size_t)k->s->block_count + 1, sizeof *keep);
    for (int g = 0; keep && g < k->groups; g++) keep[k->sorted[k->start[g]].block] = true;
    return keep && mor_step_problem(k->s, k->s->directions, k->bias, keep, arena, step, &k->row_of);
}

/* Solves the step without the contacts in `drop`. */
static mor_report solve_without(const mor_system* s, const bool* drop, mor_solve_stage* stage, mor_answer* answer)
{
    lcp k = { .s = s, .directions = s->dimension == 2 ? 2 : s->directions };
    k.bias = mor_arena_alloc(stage->arena, (size_t)s->row_count * sizeof *k.bias);
    if (!k.bias || !group_contacts(&k, drop, stage->arena) || !make_room(&k, stage->arena))
        return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, k.bias);
    for (int g = 0, r = 0; g < k.groups; g++) r = write_group(&k, g, r);
    write_products(&k);
    mor_problem problem = {
        .form = MOR_LCP, .size = k.n, .A = { .storage = MOR_DENSE, .rows = k.n, .cols = k.n, .x = k.A }, .b = k.q
    };
    mor_problem step;
    const mor_unknowns unknowns = { &step, impulses_of, &k };
    if (!primaries(&k, stage->arena, &step)) return mor_report_no_memory();
    stage->unknowns = &unknowns;
    mor_report report = stage->solve(stage, &problem, false, k.z);
    stage->unknowns = NULL;
    expand(&k, k.z, answer->impulses);
    mor_system_velocity(s, answer->impulses, answer->nu);
    return report;
}

static mor_report heuristic_step(const mor_system* s, const void* options, mor_solve_stage* stage, mor_answer* answer)
{
    (void)options;
    mor_peg peg;
    bool* drop = mor_arena_zero(stage->arena, (size_t)s->contact_count, sizeof *drop);
    if (!drop || !mor_peg_build(s, stage->arena, &peg)) return mor_report_no_memory();
    mor_report report = { .status = MOR_SOLVED };
    for (int pass = 0; pass < HOLDS; pass++) {
        size_t mark = mor_arena_mark(stage->arena);
        report = solve_without(s, drop, stage, answer);
        mor_arena_release(stage->arena, mark);
        if (!peg.particles) break;
        mor_peg_speeds(&peg, answer->nu);
        bool covered = mor_peg_hold_covered(&peg);
        if (!mor_peg_pinch(&peg, answer->nu, true) && !covered) break;
        for (int p = 0; p < peg.plane_count; p++) /* a group that is held keeps its plane only */
            if (peg.groups[peg.planes[p].group].choice >= 0 && peg.groups[peg.planes[p].group].choice != p)
                drop[peg.planes[p].first] = true;
    }
    return report;
}

const mor_formulation mor_formulation_peg_heuristic = {
    .name = "peg-heuristic",
    .summary = "the papers' exact geometry: maximum of the gaps of a vertex as an LCP, impulse on the primary",
    .reference = "flickinger2015",
    .produces = MOR_LCP,
    .options_size = 0,
    .step = heuristic_step,
    .geometry = true,
    .impacts = true,
};
