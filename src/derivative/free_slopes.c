/* V and the end of a body of its own by its state and by nu+ (slopes.h): differences of the step of this one body.
 *
 * Its translation is linear: V = v + h (g + f/m) + F/m, x+ = x + h v+. Its rotation is not (model/turn.c): six numbers
 * of the state and three of nu+ are moved to both sides, which is eighteen times the step of one body. Where the
 * rotation also depends on the translation, as when energy is taken out (model/tree.c), those are moved, too.
 *
 * A body that does not turn needs none of this: V = nu + ..., z+ = z + h nu+ in rotations as well, up to its angular
 * velocity. */
#include "derivative/slopes.h"

#include "base/elementary.h"

#include <string.h>

#define LITTLE 1e-6
#define RESTING 1e-8 /* rad/s: what such a rotation changes does not tell */

typedef struct outcome {
    double V[6];
    mor_body end;
} outcome;

/* The step of the body with its state moved along number k (-1: none; from 6 on a velocity), and nu+ along number v. */
static bool try_step(mor_derivation* d, int tree, const mor_tree_slopes* own, int k, int v, double by, outcome* out)
{
    mor_world* w = d->trial->w;
    mor_tree t = w->trees[tree];
    t.share = 1.0, t.move = NULL;
    mor_body saved = w->bodies[t.body];
    size_t mark = mor_arena_mark(d->arena);
    int direction = k < 0 ? -1 : k < 6 ? own->first + k : d->n + own->first + k - 6;
    if (!mor_perturb(d, direction, by)) return false;
    mor_arena_release(d->arena, mark);
    double nu[6], nu_free[6], M[36], Mi[36], after[6];
    t.kind->prepare(w, &t, nu, nu_free, M, Mi);
    const double Q[6] = { own->F.x, own->F.y, own->F.z, own->N.x, own->N.y, own->N.z };
    for (int i = 0; i < 6; i++) {
        out->V[i] = nu_free[i];
        for (int j = i / 3 * 3; j < i / 3 * 3 + 3; j++) out->V[i] += Mi[6 * i + j] * Q[j];
    }
    memcpy(after, d->loaded[tree] ? d->nu + d->base->w->trees[tree].offset : out->V, sizeof after);
    if (v >= 0) after[v] += by;
    t.kind->advance(w, &t, nu_free, after, M);
    out->end = w->bodies[t.body];
    w->bodies[t.body] = saved;
    return true;
}

/* out (12): the end, positions and velocities, in two cases over `by`. */
static void differ(const outcome* a, const outcome* b, double by, double* out)
{
    const mor_body *p = &a->end, *q = &b->end;
    for (int i = 0; i < 3; i++) {
        out[i] = (mor_axis(p->x, i) - mor_axis(q->x, i)) / by;
        out[6 + i] = (mor_axis(p->v, i) - mor_axis(q->v, i)) / by;
        out[9 + i] = (mor_axis(p->w, i) - mor_axis(q->w, i)) / by;
    }
    const double from[4] = { q->q.w, q->q.x, q->q.y, q->q.z }, to[4] = { p->q.w, p->q.x, p->q.y, p->q.z };
    mor_turn_between(to, from, by, out + 3);
}

/* Does the rotation see the translation? */
static bool coupled(mor_derivation* d, int tree, const mor_tree_slopes* own)
{
    outcome here, there, other;
    bool ok = try_step(d, tree, own, -1, -1, 0.0, &here) && try_step(d, tree, own, 7, -1, LITTLE, &there) &&
              try_step(d, tree, own, -1, 1, LITTLE, &other);
    return !ok || memcmp(&here.end.q, &there.end.q, sizeof here.end.q) != 0 ||
           memcmp(&here.end.L, &there.end.L, sizeof here.end.L) != 0 ||
           memcmp(&here.end.q, &other.end.q, sizeof here.end.q) != 0 ||
           memcmp(&here.end.L, &other.end.L, sizeof here.end.L) != 0;
}

/* No rotation before the step, without impulses, or after it. */
static bool is_resting(const mor_derivation* d, int tree)
{
    const mor_tree* of = &d->base->w->trees[tree];
    const mor_body* b = &d->base->w->bodies[of->body];
    const double *before = d->base->nu_free + of->offset, *after = d->nu + of->offset;
    double most = mor_norm(b->w);
    for (int i = 3; i < 6; i++) most = mor_max(most, mor_max(fabs(before[i]), fabs(after[i])));
    return most < RESTING && !b->struck;
}

mor_code mor_free_slopes(mor_derivation* d, int tree, mor_tree_slopes* t)
{
    if (is_resting(d, tree)) return MOR_OK;
    double h = d->base->w->h;
    bool loaded = d->loaded[tree];
    t->V = mor_arena_zero(d->arena, 72, sizeof(double));
    t->end_z = mor_arena_zero(d->arena, 144, sizeof(double));
    t->end_v = mor_arena_zero(d->arena, 72, sizeof(double));
    if (!t->V || !t->end_z || !t->end_v || mor_look_ready(d)) return MOR_SYSTEM;
    bool all = coupled(d, tree, t);
    for (int k = 0; k < 12; k++) { /* by the state */
        bool linear = k % 6 < 3;
        outcome a, b;
        double column[12];
        if (linear && (!all || k < 6)) {
            if (k >= 6) t->V[(k - 6) * 12 + k] = 1.0;
            if (k < 6) t->end_z[k * 12 + k] = 1.0;
            else if (!loaded) t->end_z[(k - 6) * 12 + k] = h, t->end_z[k * 12 + k] = 1.0;
            continue;
        }
        if (!try_step(d, tree, t, k, -1, LITTLE, &a) || !try_step(d, tree, t, k, -1, -LITTLE, &b)) return MOR_SYSTEM;
        differ(&a, &b, 2.0 * LITTLE, column);
        for (int i = 0; i < 12; i++) t->end_z[i * 12 + k] = column[i];
        for (int i = 0; i < 6; i++) t->V[i * 12 + k] = (a.V[i] - b.V[i]) / (2.0 * LITTLE);
    }
    for (int k = 0; k < 6 && loaded; k++) { /* by nu+ */
        outcome a, b;
        double column[12];
        if (k < 3 && !all) {
            t->end_v[k + 12 * k] = h, t->end_v[k + 6 + 12 * k] = 1.0;
            continue;
        }
        if (!try_step(d, tree, t, -1, k, LITTLE, &a) || !try_step(d, tree, t, -1, k, -LITTLE, &b)) return MOR_SYSTEM;
        differ(&a, &b, 2.0 * LITTLE, column);
        for (int i = 0; i < 12; i++) t->end_v[i + 12 * k] = column[i];
    }
    return MOR_OK;
}
