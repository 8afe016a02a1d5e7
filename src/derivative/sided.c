/* One-sided derivatives at an edge (sided.h).
 *
 * A contact on an edge has two laws, and a step to one side of the state follows one of them:
 *
 *     about to open    stays open:  dp = 0, du_n >= 0         closes:  du_n = 0, dp_n >= 0, slip as it slides or sticks
 *     about to slide   sticks:  du = 0, m dp_n + p_n dm + s.dp_t >= 0
 *                      slides:  du_n = 0, l.du_t = 0, m dp_n + p_n dm + s.dp_t = 0, s.du_t >= 0
 *
 * with s = -p_t/|p_t| the direction in which it would slip, l across it, m the friction; inequalities are along the
 * step. Contacts of the same two bodies on the same kind of edge go together. All choices are solved and for each
 * column that is taken whose inequalities hold; where none does, or the law is not that of the
 * cone, the answer says so. */
#include "derivative/sided.h"

#include "base/elementary.h"

#include <string.h>

enum { MOST_GROUPS = 8 };
#define SLIPS 1e-7 /* m/s: slower slip has no direction */
#define HOLDS 1e-6 /* of the largest number of the column that is compared, at least of 1 */

typedef struct group {
    int first, last; /* in the list of weak blocks */
    bool opens;      /* about to open, else about to slide */
} group;

typedef struct edges {
    const mor_derivation* d;
    const mor_law* laws;
    const int* weak;
    int weak_count, count;
    group groups[MOST_GROUPS];
} edges;

static const mor_contact* contact_of(const edges* e, int i)
{
    return (const mor_contact*)e->d->base->contacts.data + e->d->kept[e->weak[i]].contact;
}

/* A bound of a joint that is about to act or to let go: 1 where impulses are at their least, -1 at their greatest; 0:
 * it is a contact. */
static int bound_of(const edges* e, int i)
{
    const mor_kept* k = &e->d->kept[e->weak[i]];
    if (k->contact >= 0) return 0;
    const mor_block* b = &e->d->base->islands[k->island].system.blocks[k->block];
    double p = e->d->p[k->row];
    return fabs(p - b->lower) <= fabs(p - b->upper) ? 1 : -1;
}

static double friction_of(const edges* e, int i) { return bound_of(e, i) ? 0.0 : contact_of(e, i)->friction; }

/* False: too many. */
static bool make_groups(edges* e)
{
    for (int i = 0; i < e->weak_count; i++) {
        if (bound_of(e, i)) { /* alone, as a contact without friction */
            if (e->count == MOST_GROUPS) return false;
            e->groups[e->count++] = (group){ i, i + 1, true };
            continue;
        }
        bool opens = e->laws[e->weak[i]].phase == MOR_PHASE_OPEN;
        group* last = e->count ? &e->groups[e->count - 1] : NULL;
        const mor_contact *c = contact_of(e, i),
                          *b = last && !bound_of(e, last->first) ? contact_of(e, last->first) : NULL;
        if (b && b->body[0] == c->body[0] && b->body[1] == c->body[1] && last->opens == opens) {
            last->last = i + 1;
            continue;
        }
        if (e->count == MOST_GROUPS) return false;
        e->groups[e->count++] = (group){ i, i + 1, opens };
    }
    return true;
}

/* Where a contact would slip: s (2 numbers). False: nowhere. */
static bool slip_direction(const double* p, int dim, double s[2])
{
    double size = dim > 2 ? mor_hypot(p[1], p[2]) : dim > 1 ? fabs(p[1]) : 0.0;
    s[0] = size > 0.0 ? -p[1] / size : 0.0;
    s[1] = size > 0.0 && dim > 2 ? -p[2] / size : 0.0;
    return size > 0.0;
}

/* The law of a weak block for one choice: 0 open or sliding, 1 closed or sticking. */
static mor_law choose(const mor_derivation* d, const mor_kept* k, const mor_law* from, double mu, bool opens,
                      int choice)
{
    mor_law l = { .phase = choice  ? MOR_PHASE_STICK
                           : opens ? MOR_PHASE_OPEN
                                   : MOR_PHASE_SLIDE,
                  .margin = from->margin };
    const double* p = d->p + k->row;
    int dim = k->dim;
    double s[2];
    if (opens && !choice) {
        for (int i = 0; i < dim; i++) l.A_p[i * dim + i] = 1.0;
        return l;
    }
    for (int i = 0; i < dim; i++) l.A_u[i * dim + i] = 1.0;
    double slip = mor_hypot(from->slip[0], from->slip[1]);
    if (opens && slip > SLIPS) { /* it slides as soon as it touches: dp_t = -m dp_n u_t/|u_t| */
        l.phase = MOR_PHASE_SLIDE;
        for (int i = 1; i < dim; i++) {
            l.A_u[i * dim + i] = 0.0;
            l.A_p[i * dim + i] = 1.0, l.A_p[i * dim] = mu * from->slip[i - 1] / slip;
        }
        return l;
    }
    if (choice || !slip_direction(p, dim, s)) return l;
    for (int i = 1; i < dim; i++)
        for (int j = 0; j < dim; j++) l.A_u[i * dim + j] = 0.0;
    l.A_p[dim] = mu, l.A_p[dim + 1] = s[0], l.g[1] = p[0];
    if (dim < 3) return l;
    l.A_p[dim + 2] = s[1];
    l.A_u[2 * dim + 1] = -s[1], l.A_u[2 * dim + 2] = s[0];
    return l;
}

/* By how much the inequality of a group fails in a column that is followed to one side. */
static double failure(const edges* e, const group* g, int choice, const mor_columns* c, int column, int side)
{
    const mor_derivation* d = e->d;
    double sum = 0.0, size = 1.0, outside = 0.0;
    for (int i = g->first; i < g->last; i++) {
        const mor_kept* k = &d->kept[e->weak[i]];
        const double *p = d->p + k->row, *dp = c->p + (size_t)column * d->rows + k->row;
        const double* own = c->u + (size_t)column * d->rows + k->row;
        double du[6] = { 0 }, s[2], mu = friction_of(e, i), dmu = mor_column_mu(d, c, column, e->weak[i]);
        mor_active_velocity(d, k, c->V + (size_t)column * d->dof, du);
        for (int r = 0; r < k->dim; r++) du[r] += own[r], size = mor_max(size, mor_max(fabs(du[r]), fabs(dp[r])));
        slip_direction(p, k->dim, s);
        double along_p = k->dim > 1 ? s[0] * dp[1] + (k->dim > 2 ? s[1] * dp[2] : 0.0) : 0.0;
        double along_u = k->dim > 1 ? s[0] * du[1] + (k->dim > 2 ? s[1] * du[2] : 0.0) : 0.0;
        if (g->opens) sum += (bound_of(e, i) < 0 ? -1.0 : 1.0) * (choice ? dp[0] : du[0]);
        const double* slip = e->laws[e->weak[i]].slip;
        if (g->opens && choice && k->dim > 1 && mor_hypot(slip[0], slip[1]) <= SLIPS) { /* it sticks: within the cone */
            double t = mor_hypot(dp[1], k->dim > 2 ? dp[2] : 0.0) - mu * fabs(dp[0]);
            if (t > HOLDS * size) outside = mor_max(outside, t);
        }
        if (!g->opens) sum += choice ? mu * dp[0] + p[0] * dmu + along_p : along_u;
    }
    sum *= side;
    return mor_max(sum < 0.0 ? -sum : 0.0, outside) / size;
}

/* All islands with these laws. */
static mor_code solve(mor_derivation* d, const mor_law* laws, mor_columns* c)
{
    mor_code code = MOR_OK;
    for (int first = 0, last; first < d->kept_count && !code; first = last) {
        for (last = first; last < d->kept_count && d->kept[last].island == d->kept[first].island;) last++;
        code = mor_active_solve(d, laws, first, last, c);
    }
    return code;
}

mor_code mor_sided_solve(mor_derivation* d, const mor_law* laws, const int* weak, int weak_count, int side,
                         mor_columns* c, bool* resolved)
{
    edges e = { .d = d, .laws = laws, .weak = weak, .weak_count = weak_count };
    size_t numbers = (size_t)c->count * (size_t)d->dof, kept = (size_t)d->kept_count;
    const char* name = d->world->formulation->name; /* the laws above are those of the cone */
    bool cone = strcmp(name, "convex") != 0 && (strcmp(name, "st") != 0 || d->world->dimension == 2);
    *resolved = cone && make_groups(&e);
    if (!*resolved) return solve(d, laws, c);
    double *start = mor_arena_alloc(d->arena, (numbers + 1) * sizeof *start),
           *best = mor_arena_zero(d->arena, numbers + 1, sizeof *best),
           *fails = mor_arena_alloc(d->arena, ((size_t)c->count + 1) * sizeof *fails);
    mor_law* chosen = mor_arena_alloc(d->arena, (kept + 1) * sizeof *chosen);
    c->p = mor_arena_zero(d->arena, (size_t)c->count * (size_t)d->rows + 1, sizeof *c->p);
    if (!start || !best || !fails || !chosen || !c->p) return MOR_SYSTEM;
    memcpy(start, c->V, numbers * sizeof *start);
    for (int j = 0; j < c->count; j++) fails[j] = INFINITY;
    mor_code code = MOR_OK;
    bool many = false, torn = false;
    for (int b = 0; b < 1 << e.count && !code; b++) {
        memcpy(chosen, laws, kept * sizeof *chosen);
        for (int g = 0; g < e.count; g++)
            for (int i = e.groups[g].first; i < e.groups[g].last; i++)
                chosen[weak[i]] =
                    choose(d, &d->kept[weak[i]], &laws[weak[i]], friction_of(&e, i), e.groups[g].opens, b >> g & 1);
        memcpy(c->V, start, numbers * sizeof *start);
        c->many = c->torn = false;
        code = solve(d, chosen, c);
        bool taken = false;
        for (int j = 0; j < c->count && !code; j++) {
            double worst = 0.0;
            for (int g = 0; g < e.count; g++) worst = mor_max(worst, failure(&e, &e.groups[g], b >> g & 1, c, j, side));
            if (!(worst < fails[j])) continue;
            fails[j] = worst, taken = true;
            memcpy(best + (size_t)j * (size_t)d->dof, c->V + (size_t)j * (size_t)d->dof, (size_t)d->dof * sizeof *best);
        }
        many = many || (taken && c->many), torn = torn || (taken && c->torn);
    }
    c->many = many, c->torn = torn;
    memcpy(c->V, best, numbers * sizeof *best);
    for (int j = 0; j < c->count; j++) *resolved = *resolved && fails[j] <= HOLDS;
    return code;
}
