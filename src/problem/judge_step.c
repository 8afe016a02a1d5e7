/* The judge of one time step: errors in m/s, so that they mean the same at every mass.
 *
 * nu = nu_free + M^-1 G p and u = G' nu + b are computed from the impulses alone. With
 * rho_c = 1/|W_cc| (Frobenius norm of the block's own W, an impulse per velocity, kg):
 *
 *   equation           |u|
 *   bounded row        |p - mid(l, p - rho u, u)| / rho
 *   circular cone      |p - P_K(p - rho u^)| / rho; also one tangent (an interval) and none
 *   polygon            the contact's Stewart-Trinkle rows. With p_T = sum beta_j d_j (the two directions around
 *                      p_T) and s = max(0, max_j -d_j.u_T):
 *                        min(p_n/rho, u_n), min(beta_j/rho, d_j.u_T + s), min(s, (mu p_n - sum beta)/rho)
 *                      and the same for the rolling rows, with the same directions, and the drilling row, with two
 *
 * velocity is the largest of these. absolute and relative repeat them with rho = 1, as the Siconos
 * measure does, over max(|G' nu_free + b|, |p|, |u|). FB and CCK are taken over the same pairs, circular cones over
 * those of judge_contact.c with p/rho for p.
 *
 * The floor: each row sums terms J (nu_free + response p) + b in double precision, and no answer can make the sum
 * smaller than its rounding: c eps sum |J| (|nu_free| + |response| |p|) + |b| with c = 32 (a few dozen
 * operations per row), at most 1e-7 m/s so that a diverged answer cannot excuse itself. */
#include <float.h>
#include <string.h>

#include "base/arena.h"
#include "base/elementary.h"
#include "base/workers.h"
#include "linalg/dense.h"
#include "problem/cone.h"
#include "problem/judge.h"
#include "problem/step.h"

static double larger(double a, double b) { return !(b <= a) ? b : a; }

/* d_j . u for direction j of `count`; with two of them +1 and -1 on one row. */
static double along(int count, int j, const double* u, double d[2])
{
    if (count == 2) return j ? -u[0] : u[0];
    mor_polygon_direction(count, j, d);
    return d[0] * u[0] + d[1] * u[1];
}

/* The ST rows of a polygonal contact with step rho. Returns the largest friction row. */
static double tally_polygon(const mor_block* b, double rho, const double* p, const double* u, mor_tally* tally)
{
    mor_cone cone = mor_block_cone(b);
    mor_tally_pair(tally, p[0] / rho, u[0]);
    mor_tally friction = { 0 };
    for (int i = 0; i < mor_disc_count(b->dim); i++) {
        int at = mor_disc_row(i), count = mor_disc_size(b->dim, i) == 2 ? b->directions : 2, first = 0;
        double beta[2] = { mor_max(p[at], 0.0), mor_max(-p[at], 0.0) }, d[2], s = 0.0;
        if (count > 2) first = mor_polygon_split(count, p + at, beta);
        for (int j = 0; j < count; j++) s = larger(s, -along(count, j, u + at, d));
        for (int j = 0; j < count; j++) {
            double amount = j == first ? beta[0] : j == (first + 1) % count ? beta[1] : 0.0;
            mor_tally_pair(&friction, amount / rho, along(count, j, u + at, d) + s);
        }
        mor_tally_pair(&friction, s, (cone.mu[i] * p[0] - beta[0] - beta[1]) / rho);
    }
    tally->natural += friction.natural, tally->fb += friction.fb, tally->cck += friction.cck;
    tally->largest = larger(tally->largest, friction.largest);
    return friction.largest;
}

double mor_judge_polygon(const mor_block* b, double rho, const double* p, const double* u)
{
    mor_tally unused = { 0 };
    return tally_polygon(b, rho, p, u, &unused);
}

/* A contact that opens and has no impulse: every one of its errors is exactly 0. */
static bool is_open(const mor_block* b, const double* p, const double* u)
{
    if (b->kind != MOR_BLOCK_CONTACT || !(u[0] >= 0.0)) return false;
    for (int r = 0; r < b->dim; r++)
        if (p[r] != 0.0 || isnan(u[r])) return false;
    return true;
}

/* One block with step rho. FB and CCK of a circular cone are left to the caller: only the full judge wants them. */
static void tally_block(const mor_block* b, double rho, const double* p, const double* u, mor_tally* tally)
{
    if (b->kind == MOR_BLOCK_EQUATION)
        for (int r = 0; r < b->dim; r++) mor_tally_equation(tally, u[r]);
    else if (b->kind == MOR_BLOCK_BOUNDED) mor_tally_bounded(tally, p[0] / rho, b->lower / rho, b->upper / rho, u[0]);
    else if (mor_block_is_polygonal(b)) tally_polygon(b, rho, p, u, tally);
    else if (b->dim == 1) mor_tally_pair(tally, p[0] / rho, u[0]);
    else {
        double e[MOR_CONE_ROWS], s;
        if (b->dim == 3) {
            s = mor_cone_off3(b->mu, rho, p, u) / rho;
        } else {
            mor_cone_natural(b->dim, mor_block_cone(b), rho, p, u, e);
            s = mor_norm2(b->dim, e) / rho;
        }
        tally->natural += s * s;
        tally->largest = larger(tally->largest, s);
    }
}

bool mor_judge_memory_init(mor_judge_memory* memory, const mor_problem* problem, mor_arena* arena)
{
    const mor_step_form* step = &problem->step;
    size_t n = (size_t)step->row_count;
    double* z = mor_arena_take(arena, (2 * n + (size_t)step->block_count + 1) * sizeof *z);
    *memory = (mor_judge_memory){ z, z ? z + n : NULL, z ? z + 2 * n : NULL, false };
    for (int c = 0; z && c < step->block_count; c++) memory->rho[c] = mor_step_rho(step, c);
    return z != NULL;
}

static const double* rows_at(const mor_step_form* step, const double* p, mor_judge_memory* memory, mor_arena* arena)
{
    size_t bytes = (size_t)step->row_count * sizeof *p;
    if (memory && memory->set && memcmp(memory->z, p, bytes) == 0) return memory->u;
    double* nu = mor_arena_take(arena, (size_t)step->dof * sizeof *nu);
    double* u = memory ? memory->u : mor_arena_take(arena, bytes);
    if (!nu || !u) return NULL;
    mor_step_velocity(step, p, nu);
    mor_step_rows(step, nu, u);
    if (memory) memory->set = true, memcpy(memory->z, p, bytes);
    return u;
}

double mor_judge_step_velocity(const mor_problem* problem, const double* z, mor_judge_memory* memory, mor_arena* arena)
{
    const mor_step_form* step = &problem->step;
    const double* u = rows_at(step, z, memory, arena);
    if (!u) return NAN;
    mor_tally tally = { 0 };
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        if (is_open(b, z + b->row, u + b->row)) continue;
        tally_block(b, memory ? memory->rho[c] : mor_step_rho(step, c), z + b->row, u + b->row, &tally);
    }
    return tally.largest;
}

/* What was found of some blocks. */
typedef struct verdict {
    mor_tally scaled, plain;
    mor_residual worst;                    /* of the contacts: its last three */
    double rows_free, impulses, rows_here; /* |q|, |p|, |u| */
} verdict;

static void judge_other(const mor_block* b, double rho, const double* p, const double* u, verdict* out)
{
    mor_residual* worst = &out->worst;
    tally_block(b, rho, p, u, &out->scaled);
    tally_block(b, 1.0, p, u, &out->plain);
    if (b->kind != MOR_BLOCK_CONTACT) return;
    if (!mor_block_is_polygonal(b) && b->dim > 1)
        mor_tally_cone(&out->scaled, b->dim, mor_block_cone(b), false, rho, p, u);
    double friction = worst->friction_error;
    mor_judge_contact(b->dim, mor_block_cone(b), rho, p, u, worst);
    if (mor_block_is_polygonal(b)) /* the disc's rows do not hold on a polygon: take its own */
        worst->friction_error = larger(friction, mor_judge_polygon(b, rho, p, u));
}

static void judge_waiting(mor_four_contacts* four, verdict* out)
{
    if (four->count) mor_judge_four(four, &out->scaled, &out->plain, &out->worst);
    four->count = 0;
}

/* Most are contacts of three rows on a circular cone: they wait until there are four. */
static void judge_blocks(const mor_step_form* step, const double* z, const double* u, const double* rhos, int first,
                         int last, verdict* out)
{
    mor_four_contacts four = { .rho = { 1, 1, 1, 1 } };
    for (; first < last && step->blocks[first].kind == MOR_BLOCK_EQUATION; first++) /* whatever the scale */
        for (int r = 0; r < step->blocks[first].dim; r++)
            mor_tally_equation(&out->plain, u[step->blocks[first].row + r]);
    out->scaled = out->plain; /* the first blocks of it */
    for (int c = first; c < last; c++) {
        const mor_block* b = &step->blocks[c];
        const double *p = z + b->row, *v = u + b->row;
        if (is_open(b, p, v)) continue;
        if (b->kind == MOR_BLOCK_CONTACT && b->dim == 3 && !mor_block_is_polygonal(b)) {
            int lane = four.count++;
            four.mu[lane] = b->mu, four.rho[lane] = rhos ? rhos[c] : mor_step_rho(step, c);
            for (int r = 0; r < 3; r++) four.p[r][lane] = p[r], four.u[r][lane] = v[r];
            if (four.count == 4) judge_waiting(&four, out);
            continue;
        }
        judge_waiting(&four, out);
        if (b->kind == MOR_BLOCK_EQUATION) /* whatever the scale */
            for (int r = 0; r < b->dim; r++)
                mor_tally_equation(&out->scaled, v[r]), mor_tally_equation(&out->plain, v[r]);
        else judge_other(b, rhos ? rhos[c] : mor_step_rho(step, c), p, v, out);
    }
    judge_waiting(&four, out);
}

static mor_residual pronounce(const verdict* v)
{
    mor_residual out = v->worst;
    double scale = mor_max(v->rows_free, mor_max(v->impulses, v->rows_here));
    out.velocity = v->scaled.largest;
    out.absolute = sqrt(v->plain.natural);
    out.relative = scale > DBL_EPSILON ? out.absolute / scale : out.absolute;
    out.natural = 0.5 * v->scaled.natural, out.fb = 0.5 * v->scaled.fb, out.cck = 0.5 * v->scaled.cck;
    return out;
}

static const mor_residual unknown = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

mor_residual mor_judge_step(const mor_problem* problem, const double* z, mor_judge_memory* memory, mor_arena* arena)
{
    const mor_step_form* step = &problem->step;
    const double* u = rows_at(step, z, memory, arena);
    double* q = mor_arena_take(arena, (size_t)step->row_count * sizeof *q);
    if (!u || !q) return unknown;
    mor_step_rows(step, step->nu_free, q);
    verdict v = { 0 };
    judge_blocks(step, z, u, memory ? memory->rho : NULL, 0, step->block_count, &v);
    int n = step->row_count;
    v.rows_free = mor_norm2(n, q), v.impulses = mor_norm2(n, z), v.rows_here = mor_norm2(n, u);
    return pronounce(&v);
}

/* ------------------------------------------------------------------------------------- in parts */

enum { PART = 256 }; /* blocks */

typedef struct trial {
    const mor_step_form* step;
    const double *z, *nu;
    double *u, *q;
    verdict* parts;
} trial;

/* Parts are the same for any number of threads. */
static void judge_part(void* user, int index, int worker)
{
    (void)worker;
    const trial* k = user;
    const mor_step_form* step = k->step;
    int first = index * PART, last = first + PART < step->block_count ? first + PART : step->block_count;
    int row = step->blocks[first].row, end = step->blocks[last - 1].row + step->blocks[last - 1].dim, n = end - row;
    mor_step_form some = *step;
    some.blocks += first;
    some.block_count = last - first;
    memcpy(k->u + row, step->bias + row, (size_t)n * sizeof *k->u);
    memcpy(k->q + row, step->bias + row, (size_t)n * sizeof *k->q);
    mor_step_rows_both(&some, k->nu, step->nu_free, k->u, k->q);
    verdict* v = &k->parts[index];
    *v = (verdict){ 0 };
    judge_blocks(step, k->z, k->u, NULL, first, last, v);
    v->rows_free = mor_norm2(n, k->q + row), v->impulses = mor_norm2(n, k->z + row);
    v->rows_here = mor_norm2(n, k->u + row);
}

static void add_tally(mor_tally* to, const mor_tally* t)
{
    to->natural += t->natural, to->fb += t->fb, to->cck += t->cck;
    to->largest = larger(to->largest, t->largest);
}

static void add_verdict(verdict* to, const verdict* v)
{
    add_tally(&to->scaled, &v->scaled);
    add_tally(&to->plain, &v->plain);
    to->worst.normal_error = larger(to->worst.normal_error, v->worst.normal_error);
    to->worst.friction_error = larger(to->worst.friction_error, v->worst.friction_error);
    to->worst.friction_power += v->worst.friction_power;
    to->rows_free = mor_hypot(to->rows_free, v->rows_free);
    to->impulses = mor_hypot(to->impulses, v->impulses);
    to->rows_here = mor_hypot(to->rows_here, v->rows_here);
}

mor_residual mor_judge_step_at(const mor_problem* problem, const double* z, const double* nu,
                               struct mor_workers* workers, mor_arena* arena)
{
    const mor_step_form* step = &problem->step;
    size_t n = (size_t)step->row_count;
    int count = (step->block_count + PART - 1) / PART;
    trial k = { .step = step, .z = z, .nu = nu };
    k.u = mor_arena_take(arena, (2 * n + 1) * sizeof *k.u);
    k.parts = mor_arena_take(arena, ((size_t)count + 1) * sizeof *k.parts);
    if (!k.u || !k.parts) return unknown;
    k.q = k.u + n;
    if (workers) mor_workers_run(workers, count, judge_part, &k);
    else
        for (int i = 0; i < count; i++) judge_part(&k, i, 0);
    verdict all = { 0 };
    for (int i = 0; i < count; i++) add_verdict(&all, &k.parts[i]);
    return pronounce(&all);
}

double mor_judge_floor(const mor_problem* problem, const double* z, mor_arena* arena)
{
    const double factor = 32.0 * DBL_EPSILON, most = 1e-7;
    const mor_step_form* step = &problem->step;
    if (!(problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE))) return 0.0;
    size_t mark = mor_arena_mark(arena);
    double* size = mor_arena_take(arena, (size_t)step->dof * sizeof *size);
    if (!size) return 0.0;
    for (int k = 0; k < step->dof; k++) size[k] = fabs(step->nu_free[k]);
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* tree = &step->trees[step->entries[e].tree];
            const double* Y = step->response + step->entries[e].start;
            for (int r = 0; r < b->dim; r++)
                for (int k = 0; k < tree->dof; k++)
                    size[tree->offset + k] += fabs(Y[r * tree->dof + k] * z[b->row + r]);
        }
    }
    double worst = 0.0;
    for (int c = 0; c < step->block_count; c++) {
        const mor_block* b = &step->blocks[c];
        for (int r = 0; r < b->dim; r++) {
            double s = fabs(step->bias[b->row + r]);
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* tree = &step->trees[step->entries[e].tree];
                const double* J = step->jacobian + step->entries[e].start;
                for (int k = 0; k < tree->dof; k++) s += fabs(J[r * tree->dof + k]) * size[tree->offset + k];
            }
            worst = mor_max(worst, s);
        }
    }
    mor_arena_release(arena, mark);
    return mor_min(factor * worst, most);
}
