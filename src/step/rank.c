/* How many of the joints' equations are independent.
 *
 * A loop asks for some things twice: the rows of a planar loop across its plane, the six-bar of Bricard, a door with
 * three hinges. G' then has fewer independent rows than rows, the impulses are not unique (the motion is), and the
 * freedom left is dof - rank. The rank is a property of G alone, whatever the masses.
 *
 *   1  Joints that hang on a tree no other joint touches, with as many independent rows there as they have rows, are
 *      independent of all others: they are counted and taken away, and so on inwards. What is left are the loops.
 *   2  Gram-Schmidt with pivoting, twice for each row, on rows of unit length: those shorter than the tolerance after
 *      projection are dependent. Rows that nothing can move in were left out by the assembly (rows.c) and count as
 *      dependent.
 *
 * The tolerance is 1e-7, or ten times the present error of the joints: rows that agree on the constraint differ off it.
 *
 * Cost: linear for trees; rows x rank x dof of an island for its loops. Loops of more than 3e9 such products (about a
 * thousand hinges) are not counted: the rank is -1. */
#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "model/joints.h"
#include "step/stabilise.h"

#include <string.h>

#define MOST_WORK 3e9 /* a few seconds */

/* Gram-Schmidt on count rows of length n, one after the other in A (overwritten); the rank. */
static int rank_of(double* A, int count, int n, double tolerance)
{
    int rank = 0;
    for (; rank < count; rank++) {
        int best = -1;
        double most = tolerance * tolerance;
        for (int i = rank; i < count; i++) {
            double s = 0.0;
            for (int k = 0; k < n; k++) s += A[i * n + k] * A[i * n + k];
            if (s > most) most = s, best = i;
        }
        if (best < 0) break;
        double *q = A + rank * n, *p = A + best * n, length = sqrt(most);
        for (int k = 0; k < n; k++) {
            double x = p[k];
            p[k] = q[k];
            q[k] = x / length;
        }
        for (int i = rank + 1; i < count; i++)
            for (int twice = 0; twice < 2; twice++) {
                double s = 0.0;
                for (int k = 0; k < n; k++) s += A[i * n + k] * q[k];
                for (int k = 0; k < n; k++) A[i * n + k] -= s * q[k];
            }
    }
    return rank;
}

/* The rows of a block as unit vectors over the island's velocities, or over one tree alone. */
static void unit_rows(const mor_system* s, const mor_block* b, int tree, double* out, int n)
{
    double size[6] = { 0 };
    memset(out, 0, (size_t)(b->dim * n) * sizeof *out);
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        for (int d = 0; d < b->dim; d++)
            for (int k = 0; k < t->dof; k++) {
                double x = s->jacobian[s->entries[e].start + d * t->dof + k];
                size[d] += x * x;
                if (tree < 0) out[d * n + t->offset + k] = x;
                else if (tree == s->entries[e].tree) out[d * n + k] = x;
            }
    }
    for (int d = 0; d < b->dim; d++) {
        double scale = size[d] > 0.0 ? 1.0 / sqrt(size[d]) : 0.0;
        for (int k = 0; k < n; k++) out[d * n + k] *= scale;
    }
}

/* Adds the rank of an island; false: out of memory. */
static bool island_rank(mor_world* w, const mor_island* island, double tolerance, int* rank)
{
    const mor_system* s = &island->system;
    bool* left = mor_arena_zero(w->arena, (size_t)s->block_count, sizeof *left);
    int* degree = mor_arena_zero(w->arena, (size_t)s->tree_count, sizeof *degree);
    if (!left || !degree) return false;
    int widest = 0;
    for (int i = 0; i < s->tree_count; i++) widest = s->trees[i].dof > widest ? s->trees[i].dof : widest;
    double* own = mor_arena_alloc(w->arena, 6 * (size_t)widest * sizeof *own);
    if (!own) return false;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        if (b->kind != MOR_BLOCK_EQUATION) continue;
        left[i] = true;
        for (int e = b->entry; e < b->entry + b->entry_count; e++) degree[s->entries[e].tree]++;
    }
    for (bool changed = true; changed;) { /* joints on the outer trees, inwards */
        changed = false;
        for (int i = 0; i < s->block_count; i++) {
            const mor_block* b = &s->blocks[i];
            if (!left[i]) continue;
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                int t = s->entries[e].tree, n = s->trees[t].dof;
                if (degree[t] != 1) continue;
                unit_rows(s, b, t, own, n);
                if (rank_of(own, b->dim, n, tolerance) < b->dim) continue;
                *rank += b->dim;
                left[i] = false;
                for (int f = b->entry; f < b->entry + b->entry_count; f++) degree[s->entries[f].tree]--;
                changed = true;
                break;
            }
        }
    }
    int count = 0, n = s->dof;
    for (int i = 0; i < s->block_count; i++) count += left[i] ? s->blocks[i].dim : 0;
    if (count == 0) return true;
    if ((double)count * count * n > MOST_WORK) {
        *rank = -1;
        return true;
    }
    double* A = mor_arena_alloc(w->arena, (size_t)count * (size_t)n * sizeof *A);
    if (!A) return false;
    for (int i = 0, at = 0; i < s->block_count; i++)
        if (left[i]) {
            unit_rows(s, &s->blocks[i], -1, A + (size_t)at * (size_t)n, n);
            at += s->blocks[i].dim;
        }
    *rank += rank_of(A, count, n, tolerance);
    return true;
}

mor_joint_rank mor_world_joint_rank(mor_world* w)
{
    mor_joint_rank out = { 0 };
    double error = mor_world_joint_error(w), tolerance = mor_min(mor_max(1e-7, 10.0 * error), 1e-3);
    size_t mark = mor_arena_mark(w->arena);
    mor_step_memory kept = mor_step_set_aside(w);
    mor_assemble(w);
    bool ok = !w->out_of_memory;
    for (int i = 0; ok && out.rank >= 0 && i < w->island_count; i++)
        ok = island_rank(w, &w->islands[i], tolerance, &out.rank);
    mor_joint_row rows[6];
    for (int i = 0; i < w->joints.count; i++)
        out.equations += mor_joint_equations(w, &((const mor_joint*)w->joints.data)[i], rows);
    for (int i = 0; i < w->robot_count; i++)
        for (int j = 0; w->robots[i]->mimic && j < mor_robot_joint_count(w->robots[i]->model); j++)
            out.equations +=
                mor_robot_link(w->robots[i]->model, mor_robot_link_of_joint(w->robots[i]->model, j))->mimic >= 0;
    out.freedom = out.rank < 0 ? -1 : w->dof - out.rank;
    for (int i = 0; out.rank >= 0 && i < w->tree_count; i++) out.freedom -= w->trees[i].kind == &mor_tree_spring;
    mor_step_put_back(w, &kept);
    mor_arena_release(w->arena, mark);
    w->out_of_memory = false;
    if (!ok) out = (mor_joint_rank){ -1, -1, -1 };
    return out;
}
