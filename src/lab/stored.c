/* How wrong the answer is that a frame came with: of the run that stored it, or of another program.
 *
 * Its impulses p are put into the exact Coulomb problem of the step (gaps in the rows, circular cones) and judged in
 * m/s as the answers of all methods are: `coulomb_error` of the engine itself. Files of others may hold less: impulses
 * of joints that are not told follow from their equations, and impulses from velocities (`solution` of the paper's
 * Table 2) as far as Coulomb's law allows them. */
#include <math.h>
#include <string.h>

#include "formulation/registry.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "lab/compare_run.h"
#include "model/step.h"
#include "model/stored.h"
#include "moreau/library.h"
#include "problem/convert.h"
#include "problem/step.h"

/* Impulses of joints and motors, from the rows of the frame. False: the file has none of them (files of others, and the
 * robots of ours in maximal coordinates). */
static bool rows_of(const mor_bpmd_frame* f, const mor_world* w, const mor_island* island, double* z)
{
    if (!f->answered || !w->stored || f->maximal) return false;
    for (int b = 0; b < island->row_block_count; b++) {
        const mor_block* block = &island->system.blocks[island->system.contact_count + b];
        int at = -1, kept = 0; /* stored rows are the constraints of the frame without those of kind MOR_BPMD_LINK */
        for (int c = 0; c < f->constraint_count && at < 0; c++) {
            if (f->constraints[c].kind == MOR_BPMD_LINK) continue;
            if (w->stored->rows[kept++].memory == island->rows[b]->memory) at = f->constraints[c].row;
        }
        if (at < 0) return false;
        for (int d = 0; d < block->dim; d++) z[block->row + d] = f->rows[at + d].impulse;
    }
    return true;
}

/* u = W r + q of an island for circular cones, joints eliminated. */
static bool condense(const mor_problem* step, mor_conversion* conversion, mor_arena* arena)
{
    static const mor_form forms[] = { MOR_FC3D, MOR_FC2D };
    bool none = false;
    for (int k = 0; k < 2; k++)
        if (mor_convert(step, forms[k], conversion, &none, arena, NULL) == MOR_OK) return true;
    return false;
}

/* The impulses of the contacts in z are known, those of the joints are not: they follow from the equations. False:
 * there are rows with bounds, or no memory. */
static bool complete(const mor_problem* exact, double* z, mor_arena* arena)
{
    mor_conversion c;
    if (!condense(exact, &c, arena)) return false;
    double* r = mor_arena_zero(arena, (size_t)c.to.size + 1, sizeof *r);
    if (r) c.forward(&c, z, r, arena), c.back(&c, r, z, arena);
    mor_conversion_destroy(&c);
    return r != NULL;
}

/* ------------------------------------------------------------------------ velocities alone */

/* What Coulomb's law leaves of the impulse of a contact with the relative velocity u: nothing where it opens faster
 * than `slow`, one number where it slips faster (p_f = -mu p_n u_f/|u_f|), the whole cone else. B is 3 x 3, by rows. */
static double allowed(const double* u, double mu, double slow, double B[9])
{
    double slip = hypot(u[1], u[2]);
    memset(B, 0, 9 * sizeof *B);
    if (u[0] > slow) return 0.0;
    B[0] = 1.0;
    if (slip > slow) {
        B[3] = -mu * u[1] / slip;
        B[6] = -mu * u[2] / slip;
        return 0.0;
    }
    B[4] = B[8] = 1.0;
    return mu;
}

/* The contacts of u = W r + q restricted so: r = B a, minimise 1/2 a'B'WB a + q'B a over the cones of `mu`. */
static bool restricted(const mor_problem* from, const double* u, double slow, double* r, mor_arena* arena)
{
    int n = from->size;
    double *A = mor_arena_zero(arena, (size_t)n * (size_t)n + 1, sizeof *A),
           *B = mor_arena_alloc(arena, 3 * (size_t)n * sizeof *B), *e = mor_arena_zero(arena, (size_t)n, sizeof *e),
           *We = mor_arena_alloc(arena, (size_t)n * sizeof *We), *b = mor_arena_zero(arena, (size_t)n, sizeof *b),
           *mu = mor_arena_alloc(arena, (size_t)from->contact_count * sizeof *mu),
           *a = mor_arena_zero(arena, (size_t)n, sizeof *a);
    if (!A || !B || !e || !We || !b || !mu || !a) return false;
    for (int c = 0; c < from->contact_count; c++) mu[c] = allowed(u + 3 * c, from->mu[c], slow, B + 9 * c);
    for (int j = 0; j < n; j++) { /* column j of B'WB; rows without a variable get a unit diagonal */
        for (int d = 0; d < 3; d++) e[j / 3 * 3 + d] = B[9 * (j / 3) + 3 * d + j % 3];
        mor_matrix_apply(&from->A, e, We);
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                A[i + (size_t)j * (size_t)n] += B[9 * (i / 3) + 3 * d + i % 3] * We[i / 3 * 3 + d];
        for (int d = 0; d < 3; d++) b[j] += e[j / 3 * 3 + d] * from->b[j / 3 * 3 + d], e[j / 3 * 3 + d] = 0.0;
        if (A[j + (size_t)j * (size_t)n] == 0.0) A[j + (size_t)j * (size_t)n] = 1.0;
    }
    mor_problem p = *from;
    p.form = MOR_CQP;
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = A };
    p.b = b;
    p.mu = mu;
    mor_solve_options o = { .tol = 1e-13, .time_limit = 2.0 };
    mor_solve(mor_library_solver(NULL, "convex-newton"), NULL, &p, &o, a, arena);
    for (int i = 0; i < n; i++) {
        r[i] = 0.0;
        for (int k = 0; k < 3; k++) r[i] += B[9 * (i / 3) + 3 * (i % 3) + k] * a[i / 3 * 3 + k];
    }
    return true;
}

/* Largest row speed by which the impulses z miss the velocities. */
static double short_of(const mor_system* s, const double* z, const double* nu_new, mor_arena* arena)
{
    double *none = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *none),
           *nu = mor_arena_alloc(arena, ((size_t)s->dof + 1) * sizeof *nu), largest = 0.0;
    if (!none || !nu) return NAN;
    mor_problem p = mor_system_problem(s, 0, none, arena, NULL);
    if (!p.size) return NAN;
    mor_step_velocity(&p.step, z, nu);
    for (int k = 0; k < s->dof; k++) nu[k] -= nu_new[k];
    mor_step_rows(&p.step, nu, none);
    for (int k = 0; k < s->row_count; k++) largest = fmax(largest, fabs(none[k]));
    return largest;
}

/* The error of velocities nu_new, impulses not known. Coulomb's law tells which impulses go with them (`allowed`);
 * among these the ones that come nearest to the velocities in kinetic energy,
 *
 *     minimise 1/2 |nu_free + M^-1 G p - nu_new|_M^2 = 1/2 p'W p + p'G'(nu_free - nu_new) + const,
 *
 * are judged as any answer is, and what they cannot explain counts too. Velocities have rounding: several bounds
 * between slow and fast are tried, and the least error stands. NaN: rows with bounds, too many rows, or no memory. */
static double error_of_velocities(const mor_system* s, const mor_problem* exact, const double* nu_new, mor_arena* arena)
{
    static const double slow[] = { 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, INFINITY };
    enum { MOST = 1500 };
    size_t m = (size_t)s->row_count;
    double *bias = mor_arena_zero(arena, m + 1, sizeof *bias), *z = mor_arena_zero(arena, m + 1, sizeof *z),
           *full = mor_arena_alloc(arena, (m + 1) * sizeof *full), best = NAN;
    if (!bias || !z || !full) return NAN;
    mor_problem p = mor_system_problem(s, 0, bias, arena, NULL);
    mor_conversion c;
    if (!p.size) return NAN;
    mor_step_rows(&exact->step, nu_new, full); /* with gaps: what the law sees */
    mor_step_rows(&p.step, nu_new, bias);
    for (size_t r = 0; r < m; r++) bias[r] = -bias[r];
    p = mor_system_problem(s, 0, bias, arena, NULL);
    if (!p.size || !condense(&p, &c, arena)) return NAN;
    double *r = mor_arena_zero(arena, (size_t)c.to.size + 1, sizeof *r),
           *u = mor_arena_zero(arena, (size_t)c.to.size + 1, sizeof *u);
    bool good = r && u && c.to.dim == 3 && c.to.size <= MOST;
    if (good) c.forward(&c, full, u, arena); /* rows of the contacts, in the order of r */
    for (size_t k = 0; good && k < sizeof slow / sizeof *slow; k++) {
        if (!restricted(&c.to, u, slow[k], r, arena)) break;
        c.back(&c, r, z, arena);
        double error = fmax(mor_judge(exact, z, arena).velocity, short_of(s, z, nu_new, arena));
        if (!(best <= error)) best = error;
    }
    mor_conversion_destroy(&c);
    return best;
}

/* The stored velocities of the bodies of an island. False: a tree is not one free body. */
static bool velocities_of(const mor_bpmd_frame* f, const mor_world* w, const mor_island* island, double* nu)
{
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree_block* tree = &island->system.trees[t];
        int body = w->trees[island->tree_of[t]].body;
        if (body < 0 || body >= f->body_count || tree->dof != 6) return false;
        memcpy(nu + tree->offset, f->bodies[body].velocity, 6 * sizeof *nu);
    }
    return true;
}

/* The error of the stored answer of one island [m/s]. */
static double error_of(const mor_bpmd_frame* f, const mor_world* w, const int* order, const mor_island* island,
                       const mor_problem* exact, mor_arena* arena)
{
    const mor_system* s = &island->system;
    double *z = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *z),
           *nu = mor_arena_zero(arena, (size_t)s->dof + 1, sizeof *nu);
    if (!z || !nu) return NAN;
    if (f->stored_velocities) return velocities_of(f, w, island, nu) ? error_of_velocities(s, exact, nu, arena) : NAN;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[s->contacts[c].block];
        const double* from = f->contacts[order[s->contacts[c].contact]].impulse;
        for (int d = 0; d < b->dim && d < 3; d++) z[b->row + d] = from[d];
    }
    bool known = s->block_count == s->contact_count || rows_of(f, w, island, z) || complete(exact, z, arena);
    return known ? mor_judge(exact, z, arena).velocity : NAN;
}

void mor_lab_judge_stored(const mor_bpmd_frame* f, const mor_world* w, const int* order, mor_lab_problem* p)
{
    p->stored_error = NAN;
    if (!f->answered && !f->stored_by[0]) return;
    if (f->stored_by[0]) snprintf(p->stored_by, sizeof p->stored_by, "%s", f->stored_by);
    else snprintf(p->stored_by, sizeof p->stored_by, "%.30s-%.30s", f->formulation, f->solver);
    mor_arena* arena = mor_arena_create(NULL);
    for (int i = 0; arena && i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        mor_arena_reset(arena);
        double* bias = mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *bias);
        if (!bias) break;
        mor_bias_stewart_trinkle(s, bias);
        mor_problem exact = mor_system_problem(s, 0, bias, arena, NULL);
        if (!exact.size) continue;
        double error = error_of(f, w, order, &w->last->islands[i], &exact, arena);
        if (isnan(error)) {
            p->stored_error = NAN;
            break;
        }
        if (!(p->stored_error >= error)) p->stored_error = error;
    }
    mor_arena_destroy(arena);
}
