/* Polishing a step's answer: the equations its contact states imply, solved in the data of the step.
 *
 * An answer that came back from an LCP carries the rounding of the pivots, and friction multipliers of 1e-10 on
 * contacts that should be open. What each contact does is usually right, though:
 *
 *   open     p = 0
 *   stick    u = 0                               p free
 *   corner   u_n = 0                             p = a (1, mu d_j)
 *   edge     u_n = 0, u_T.(d_{j+1} - d_j) = 0    p = a (1, mu d_j) + b (1, mu d_{j+1})
 *
 * With E the equations and B the directions of all contacts, E' W B x = -E' u is solved for the least correction x
 * (redundant contacts make it singular), scaled by the contacts' own W_cc. Contacts that come out pulling are opened
 * and it is tried again; the best answer by the velocity error is kept. Only linear states: sliding on a circular cone
 * is left alone. O(k^3) for k directions, at most 1500. */
#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/cone.h"
#include "problem/convert.h"
#include "problem/judge.h"
#include "problem/step.h"

#include <string.h>

enum { MOST = 1500, ROUNDS = 25 };

/* One block's part: `count` directions in x at `first`; rows of E and columns of B, dim each. */
typedef struct part {
    int first, count;
    double scale;
    double E[3][3], B[3][3];
} part;

typedef struct assembly {
    const mor_step_form* step;
    const part* parts;
    double* K;
    int size;
} assembly;

static void add_block(void* user, int a, int b, const double* W)
{
    const assembly* s = user;
    const part *A = &s->parts[a], *B = &s->parts[b];
    int m = s->step->blocks[a].dim, n = s->step->blocks[b].dim;
    for (int i = 0; i < A->count; i++)
        for (int j = 0; j < B->count; j++) {
            double sum = 0.0;
            for (int r = 0; r < m; r++)
                for (int c = 0; c < n; c++) sum += A->E[i][r] * W[r * n + c] * B->B[j][c];
            s->K[A->first + i + (size_t)(B->first + j) * (size_t)s->size] = A->scale * sum * B->scale;
        }
}

/* The corner (edge = false) or edge of the polygon of radius `radius` nearest to t; -1 if t is inside. */
static int nearest_on_polygon(int directions, double radius, const double t[2], bool* edge)
{
    double beta[2], d[2], e[2];
    int j = mor_polygon_split(directions, t, beta);
    *edge = false;
    if (beta[0] + beta[1] <= radius) return -1;
    /* walk from the sector of t: project on its edge; beyond an end the corner or the next edge is nearer */
    int best = j;
    double least = INFINITY;
    for (int k = j - 1; k <= j + 1; k++) {
        int at = (k + directions) % directions;
        mor_polygon_direction(directions, at, d);
        mor_polygon_direction(directions, (at + 1) % directions, e);
        double fx = radius * (e[0] - d[0]), fy = radius * (e[1] - d[1]);
        double x = t[0] - radius * d[0], y = t[1] - radius * d[1], s = (x * fx + y * fy) / (fx * fx + fy * fy);
        double c = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
        double dx = x - c * fx, dy = y - c * fy, distance = dx * dx + dy * dy;
        if (distance < least) {
            least = distance;
            *edge = s > 0.0 && s < 1.0;
            best = s >= 1.0 ? (at + 1) % directions : at;
        }
    }
    return best;
}

/* The state of a contact from its natural map; writes its part and puts p on it. False: not a linear state. */
static bool contact_part(const mor_block* b, double rho, const double* u, double* p, part* out)
{
    int n = b->dim;
    if (p[0] - rho * u[0] <= 0.0) {
        for (int d = 0; d < n; d++) p[d] = 0.0;
        return true;
    }
    out->count = n;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < n; d++) out->E[i][d] = out->B[i][d] = i == d;
    if (n == 1) return true;
    double radius = b->mu * (p[0] - rho * u[0]), t[2] = { p[1] - rho * u[1], n == 3 ? p[2] - rho * u[2] : 0.0 };
    if (n == 2) {
        if (fabs(t[0]) <= radius) return true;
        out->count = 1;
        out->B[0][1] = copysign(b->mu, t[0]);
        p[1] = out->B[0][1] * p[0];
        return true;
    }
    if (b->directions < 3) return sqrt(t[0] * t[0] + t[1] * t[1]) <= radius;
    bool edge;
    double d[2], e[2];
    int j = nearest_on_polygon(b->directions, radius, t, &edge);
    if (j < 0) return true;
    mor_polygon_direction(b->directions, j, d);
    out->count = 1;
    for (int i = 0; i < 2; i++) out->B[0][1 + i] = b->mu * d[i];
    if (!edge) {
        p[1] = out->B[0][1] * p[0];
        p[2] = out->B[0][2] * p[0];
        return true;
    }
    mor_polygon_direction(b->directions, (j + 1) % b->directions, e);
    out->count = 2;
    out->B[1][0] = 1.0;
    out->E[1][0] = 0.0;
    for (int i = 0; i < 2; i++) {
        out->B[1][1 + i] = b->mu * e[i];
        out->E[1][1 + i] = e[i] - d[i];
    }
    /* p_T on the edge: p_n (1-s) mu d + p_n s mu e with the present direction along the edge */
    double fx = e[0] - d[0], fy = e[1] - d[1], x = p[1] / (b->mu * p[0]) - d[0], y = p[2] / (b->mu * p[0]) - d[1];
    double s = mor_min(1.0, mor_max(0.0, (x * fx + y * fy) / (fx * fx + fy * fy)));
    if (!(p[0] > 0.0)) s = 0.5;
    p[1] = b->mu * p[0] * (d[0] + s * fx);
    p[2] = b->mu * p[0] * (d[1] + s * fy);
    return true;
}

double mor_step_polish(const mor_problem* problem, double* p, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    double error = mor_judge_step_velocity(problem, p, NULL, arena);
    size_t mark = mor_arena_mark(arena);
    size_t rows = (size_t)s->row_count;
    part* parts = mor_arena_alloc(arena, (size_t)s->block_count * sizeof *parts);
    double* trial = mor_arena_alloc(arena, rows * sizeof *trial);
    double* u = mor_arena_alloc(arena, rows * sizeof *u);
    double* nu = mor_arena_alloc(arena, (size_t)s->dof * sizeof *nu);
    if (!parts || !trial || !u || !nu) goto done;
    memcpy(trial, p, rows * sizeof *trial);
    for (int round = 0; round < ROUNDS; round++) {
        mor_step_velocity(s, trial, nu);
        mor_step_rows(s, nu, u);
        int size = 0;
        for (int i = 0; i < s->block_count; i++) {
            const mor_block* b = &s->blocks[i];
            part* q = &parts[i];
            double rho = mor_step_rho(s, i);
            *q = (part){ .first = size, .scale = sqrt(rho) };
            if (b->kind != MOR_BLOCK_CONTACT || b->dim > 3) goto done; /* joints: the MLCP polish serves */
            if (!contact_part(b, rho, u + b->row, trial + b->row, q)) goto done;
            size += q->count;
        }
        if (size == 0 || size > MOST) goto done;
        size_t inner = mor_arena_mark(arena);
        double* K = mor_arena_zero(arena, (size_t)size * (size_t)size, sizeof *K);
        double* x = mor_arena_alloc(arena, (size_t)size * sizeof *x);
        if (!K || !x) goto done;
        assembly user = { s, parts, K, size };
        if (!mor_step_visit_W(s, add_block, &user, arena)) goto done;
        mor_step_velocity(s, trial, nu);
        mor_step_rows(s, nu, u);
        for (int i = 0; i < s->block_count; i++)
            for (int k = 0; k < parts[i].count; k++) {
                double sum = 0.0;
                for (int d = 0; d < s->blocks[i].dim; d++) sum += parts[i].E[k][d] * u[s->blocks[i].row + d];
                x[parts[i].first + k] = -parts[i].scale * sum;
            }
        if (mor_least_norm(size, K, x, 1e-13, arena) < 0) goto done;
        bool pulling = false;
        for (int i = 0; i < s->block_count; i++) {
            double* at = trial + s->blocks[i].row;
            for (int k = 0; k < parts[i].count; k++)
                for (int d = 0; d < s->blocks[i].dim; d++)
                    at[d] += parts[i].B[k][d] * parts[i].scale * x[parts[i].first + k];
            if (at[0] < 0.0) {
                pulling = true;
                for (int d = 0; d < s->blocks[i].dim; d++) at[d] = 0.0;
            }
        }
        mor_arena_release(arena, inner);
        double better = mor_judge_step_velocity(problem, trial, NULL, arena);
        bool improved = better < error;
        if (improved) {
            error = better;
            memcpy(p, trial, rows * sizeof *trial);
        }
        if (!improved && !pulling && round > 3) break;
    }
done:
    mor_arena_release(arena, mark);
    return error;
}
