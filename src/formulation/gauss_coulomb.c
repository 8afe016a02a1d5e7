/* Coulomb's law by repeated QPs.
 *
 * A point that slides at v_T in a QP over the pyramid is made to separate at mu |v_T|. With mu s added to the normal
 * rows it is not, where s is the slip speed: s = max_j -d_j . u_T(p(s)) is a fixed point (De Saxce's term; Cadoux
 * 2009). The plain iteration contracts by about mu^2 only; Anderson's method looks at the last five differences:
 *
 *     s <- s + r - (dS + dR) gamma,     gamma = argmin |r - dR gamma|,   r = image - s
 *
 * F. Cadoux (2009), An optimization-based algorithm for Coulomb's frictional contact; D. G. Anderson (1965), Iterative
 * procedures for nonlinear integral equations. */
#include "formulation/gauss.h"
#include "base/elementary.h"

#include "formulation/gauss_verdict.h"
#include "formulation/step_problem.h"
#include "linalg/dense.h"
#include "problem/cone.h"
#include "solver/state_guess.h"

#include <stdio.h>
#include <string.h>

enum { MEMORY = 5 }; /* of Anderson's method */

typedef struct fixed_point {
    int n, count;
    double *s, *r; /* the point and image - point */
    double *old_s, *old_r;
    double *ds, *dr; /* MEMORY columns of differences */
} fixed_point;

/* Next point from s and r: s + r - (dS + dR) gamma, gamma the least-squares solution of dR gamma = r; never below 0,
 * and never back where the image is ahead. */
static void anderson(fixed_point* f, int round)
{
    int n = f->n, m;
    if (round > 0) {
        int at = (round - 1) % MEMORY;
        for (int i = 0; i < n; i++) {
            f->ds[at * n + i] = f->s[i] - f->old_s[i];
            f->dr[at * n + i] = f->r[i] - f->old_r[i];
        }
        if (f->count < MEMORY) f->count++;
    }
    memcpy(f->old_s, f->s, (size_t)n * sizeof *f->s);
    memcpy(f->old_r, f->r, (size_t)n * sizeof *f->r);
    m = f->count < n ? f->count : n;
    double A[MEMORY * MEMORY], gamma[MEMORY] = { 0 }, largest = 0.0;
    const double* D[MEMORY];
    const double* S[MEMORY];
    for (int k = 0; k < m; k++) { /* the latest m */
        int at = ((round - 1 - k) % MEMORY + MEMORY) % MEMORY;
        D[k] = f->dr + at * n, S[k] = f->ds + at * n;
    }
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++) sum += D[a][i] * D[b][i];
            A[a + b * m] = sum;
            if (a == b) largest = mor_max(largest, sum);
        }
    for (int a = 0; a < m; a++) {
        A[a + a * m] += 1e-12 * largest + 1e-300;
        for (int i = 0; i < n; i++) gamma[a] += D[a][i] * f->r[i];
    }
    if (m > 0 && mor_cholesky_factor(m, A)) mor_cholesky_solve(m, A, gamma);
    else memset(gamma, 0, sizeof gamma);
    for (int i = 0; i < n; i++) {
        double x = f->s[i] + f->r[i];
        for (int k = 0; k < m; k++) x -= (S[k][i] + D[k][i]) * gamma[k];
        /* the image grows faster than s: onwards, until the contact opens */
        if (f->r[i] > 0.0 && x < f->s[i]) x = 10.0 * (f->s[i] + f->r[i]);
        f->s[i] = mor_max(x, 0.0);
    }
}

/* max(0, max_j -d_j . u_T) of a contact block. */
static double slip_speed(const mor_block* b, const double* u)
{
    if (b->dim == 2) return fabs(u[1]);
    double s = 0.0, d[2];
    for (int j = 0; j < b->directions; j++) {
        mor_polygon_direction(b->directions, j, d);
        s = mor_max(s, -(d[0] * u[1] + d[1] * u[2]));
    }
    return s;
}

bool mor_gauss_content(const void* user, const double* p)
{
    const mor_gauss_verdict* v = user;
    size_t mark = mor_arena_mark(v->arena);
    double error = mor_judge_step_velocity(v->problem, p, v->memory, v->arena);
    bool good = error <= v->tol || (error <= 1e-7 && error <= mor_judge_floor(v->problem, p, v->arena));
    mor_arena_release(v->arena, mark);
    return good;
}

/* Repeats the QP until the slip speeds agree with those it was given. */
mor_report mor_gauss_coulomb(mor_gauss* g, int rounds, double tol, mor_solve_stage* stage, bool warm, double* z,
                             double* p, double* nu)
{
    const mor_step_form* f = &g->problem.step;
    int contacts = 0;
    for (int b = 0; b < f->block_count; b++) contacts += f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1;
    size_t C = (size_t)contacts;
    double* extra = mor_arena_zero(g->arena, (size_t)g->n + 1, sizeof *extra);
    double* u = mor_arena_alloc(g->arena, ((size_t)f->row_count + 1) * sizeof *u);
    double* memory = mor_arena_zero(g->arena, (4 + 2 * MEMORY) * C + 1, sizeof *memory);
    double* trial = mor_arena_alloc(g->arena, ((size_t)f->row_count + 1) * sizeof *trial);
    if (!extra || !u || !memory || !trial) return mor_report_no_memory();
    fixed_point x = {
        contacts, 0, memory, memory + C, memory + 2 * C, memory + 3 * C, memory + 4 * C, memory + (4 + MEMORY) * C
    };
    mor_report report = { .status = MOR_SOLVED };
    int iterations = 0;
    mor_gauss_expand(g, z, p);
    mor_gauss_rows(g, p, nu, u);
    for (int b = 0, k = 0; b < f->block_count; b++)
        if (f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1) {
            double slip = slip_speed(&f->blocks[b], u + f->blocks[b].row);
            x.s[k++] = slip > 100.0 * tol ? slip : 0.0; /* it stuck in the last step, most likely */
        }
    for (int round = 0; round < rounds; round++) {
        for (int b = 0, k = 0; b < f->block_count; b++)
            if (f->blocks[b].kind == MOR_BLOCK_CONTACT && f->blocks[b].dim > 1)
                extra[g->unknown[f->blocks[b].row]] = f->blocks[b].mu * x.s[k++];
        report = mor_gauss_solve(g, extra, stage, warm || round > 0, z);
        iterations += report.iterations;
        bool near = report.status == MOR_NOT_CONVERGED && report.residual.relative < 1e-6; /* the judge will tell */
        if (report.status != MOR_SOLVED && !near) break;
        mor_gauss_expand(g, z, p);
        mor_gauss_rows(g, p, nu, u);
        double worst = 0.0;
        for (int b = 0, k = 0; b < f->block_count; b++) {
            const mor_block* block = &f->blocks[b];
            if (block->kind != MOR_BLOCK_CONTACT || block->dim < 2) continue;
            x.r[k] = slip_speed(block, u + block->row) - x.s[k];
            worst = mor_max(worst, block->mu * fabs(x.r[k++]));
        }
        if (worst <= 0.1 * tol) break;
        if (round >= 2 && (round & (round - 1)) == 0) { /* rounds 2, 4, 8 ...: the states may be right, and the rest
                                                           rounding of the QPs */
            memcpy(trial, p, (size_t)f->row_count * sizeof *trial);
            mor_gauss_verdict judge = { &g->problem, tol, g->arena, NULL };
            if (mor_state_guess(&g->problem, false, mor_gauss_content, &judge, trial, g->arena)) {
                memcpy(p, trial, (size_t)f->row_count * sizeof *trial);
                report.status = MOR_SOLVED;
                break;
            }
        }
        anderson(&x, round);
        if (round + 1 == rounds)
            snprintf(report.detail, sizeof report.detail, "Coulomb's law was missed by %.3g m/s after %d QPs", worst,
                     rounds);
    }
    report.iterations = iterations;
    return report;
}
