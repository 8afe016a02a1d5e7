/* V, u and the end of the step by the state (slopes.h): the sum of what contacts, bodies and robots say. */
#include "derivative/patch.h"
#include "derivative/slopes.h"

#include "base/elementary.h"
#include "control/control.h"
#include "formulation/assemble.h"
#include "linalg/dense.h"
#include "model/articulated.h"
#include "step/stages.h"

#include <string.h>

static mor_vec3 unit(int k) { return mor_v3(k == 0, k == 1, k == 2); }

/* ------------------------------------------------------------------------------------- what is known */

static bool is_body(const mor_tree* t)
{
    return t->kind == &mor_tree_free || t->kind == &mor_tree_planar || t->kind == &mor_tree_particle;
}

bool mor_slopes_possible(const mor_derivation* d)
{
    const mor_world* w = d->base->w;
    if (w->joints.count || w->options.friction_align || w->collision->planes || d->regular > 0.0) return false;
    if (d->base->nu_move || d->base->relinearised || w->formulation->accelerations) return false;
    for (int i = 0; i < w->tree_count; i++) {
        const mor_tree* t = &w->trees[i];
        if (t->share != 1.0 || t->move || t->stored) return false;
        if (t->robot ? !mor_robot_slopes_possible(d, t->robot, d->loaded[i]) : !is_body(t)) return false;
    }
    for (int k = 0; k < d->kept_count; k++) {
        if (d->kept[k].contact < 0) return false;
        const mor_contact* c = (const mor_contact*)d->base->contacts.data + d->kept[k].contact;
        if (c->restitution > 0.0 && c->gap > 0.0) return false; /* arms of the impact */
        const mor_system* s = &d->base->islands[d->kept[k].island].system;
        const mor_contact_row* row = &s->contacts[d->kept[k].block];
        if (c->restitution > 0.0 && row->approach < -s->v_rest) return false;
    }
    return true;
}

bool mor_slopes_has_input(const mor_derivation* d, const mor_input* in)
{
    return in->kind == MOR_INPUT_JOINT_FORCE && d->loaded[d->base->w->robots[in->index]->tree];
}

static mor_code make(mor_derivation* d, mor_slopes* s)
{
    const mor_world* w = d->base->w;
    s->trees = mor_arena_zero(d->arena, (size_t)w->tree_count + 1, sizeof *s->trees);
    s->touches = mor_arena_alloc(d->arena, ((size_t)d->base->contacts.count + 1) * sizeof *s->touches);
    if (!s->trees || !s->touches) return MOR_SYSTEM;
    for (int i = 0; i < d->base->contacts.count; i++) s->touches[i].known = false;
    for (int i = d->n - 1; i >= 0; i--) s->trees[d->tree[i]].first = i;
    for (int i = 0; i < w->robot_count; i++) {
        mor_tree_slopes* t = &s->trees[w->robots[i]->tree];
        t->wrenches = mor_arena_zero(d->arena, 6 * (size_t)w->robots[i]->model->link_count, sizeof(double));
        if (!t->wrenches) return MOR_SYSTEM;
    }
    return MOR_OK;
}

/* Contacts whose geometry is asked for: kept ones, and those that controllers see (support.c). */
static bool* wanted_contacts(const mor_derivation* d)
{
    const mor_world* w = d->base->w;
    const mor_contact* contacts = d->base->contacts.data;
    int count = d->base->contacts.count;
    bool* wanted = mor_arena_zero(d->arena, (size_t)count + 1, sizeof *wanted);
    for (int k = 0; wanted && k < d->kept_count; k++)
        if (!mor_patch_is_still(d, k)) wanted[d->kept[k].contact] = true;
    for (int i = 0; wanted && w->control && i < count; i++)
        for (int side = 0; side < 2; side++) wanted[i] = wanted[i] || w->bodies[w->order[contacts[i].body[side]]].robot;
    return wanted;
}

/* --------------------------------------------------------------------------------------------- sums */

/* The impulses that move along with a body, and its free motion. */
static void add_body(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, mor_columns* c)
{
    int n = d->n, dof = t->dof, linear = d->world->dimension;
    for (int k = 0; k < dof; k++) {
        double* V = c->V + (size_t)(n + own->first + k) * d->dof + t->offset;
        if (!own->V) V[k] += 1.0;
        if (k < linear) continue;
        mor_vec3 e = linear == 3 ? unit(k - 3) : unit(2), f = mor_cross(e, own->F), m = mor_cross(e, own->N);
        double* Q = c->V + (size_t)(own->first + k) * d->dof + t->offset;
        Q[0] += f.x, Q[1] += f.y;
        if (linear == 3) Q[2] += f.z, Q[3] += m.x, Q[4] += m.y, Q[5] += m.z;
    }
}

/* M^-1 times what is an impulse so far. */
void mor_slopes_respond(const mor_derivation* d, const mor_tree* t, double* V)
{
    const mor_step* k = d->base;
    double any = 0.0, x[6];
    for (int i = 0; i < t->dof; i++) any = mor_max(any, fabs(V[i]));
    if (any == 0.0) return;
    if (t->robot) {
        mor_robot_factor_solve(t->robot->model, t->robot->dense, V);
        return;
    }
    const double* Mi = k->mass_inverse + k->mass_start[t - k->w->trees];
    for (int i = 0; i < t->dof; i++) {
        x[i] = 0.0;
        for (int j = 0; j < t->dof; j++) x[i] += Mi[i * t->dof + j] * V[j];
    }
    memcpy(V, x, (size_t)t->dof * sizeof *V);
}

enum { EIGHT = 8 };

/* M^-1 of up to eight columns of a robot, x: N x 8. */
static void respond_eight(const mor_derivation* d, const mor_tree* t, const int* column, int count, double* x,
                          const mor_columns* c)
{
    for (int i = 0; i < t->dof; i++)
        for (int e = count; e < EIGHT; e++) x[EIGHT * i + e] = 0.0;
    mor_robot_factor_solve8(t->robot->model, t->robot->dense, -1, x);
    for (int e = 0; e < count; e++) {
        double* to = c->V + (size_t)column[e] * (size_t)d->dof + t->offset;
        for (int i = 0; i < t->dof; i++) to[i] = x[EIGHT * i + e];
    }
}

/* M^-1 times all columns of a robot: those of its own state with `own`, then what others and inputs do to it. */
static mor_code respond_columns(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, mor_columns* c)
{
    size_t mark = mor_arena_mark(d->arena);
    int N = t->dof, now = 0, column[EIGHT];
    double* x = mor_arena_alloc(d->arena, EIGHT * (size_t)N * sizeof *x);
    if (!x) return MOR_SYSTEM;
    for (int from = 0; from < 2 * N; from += EIGHT) {
        int count = 2 * N - from < EIGHT ? 2 * N - from : EIGHT;
        for (int e = 0; e < count; e++) {
            int k = from + e;
            column[e] = k < N ? own->first + k : d->n + own->first + k - N;
            const double *V = c->V + (size_t)column[e] * (size_t)d->dof + t->offset, *more = own->V + k;
            for (int i = 0; i < N; i++) x[EIGHT * i + e] = V[i] + more[(size_t)i * 2 * (size_t)N];
        }
        respond_eight(d, t, column, count, x, c);
    }
    for (int k = 0; k <= c->count; k++) {
        int state = k % d->n - own->first;
        if (k < 2 * d->n && state >= 0 && state < N) continue;
        double any = 0.0, *V = c->V + (size_t)k * (size_t)d->dof + t->offset;
        for (int i = 0; i < N && k < c->count; i++) any = mor_max(any, fabs(V[i]));
        if (any > 0.0) {
            for (int i = 0; i < N; i++) x[EIGHT * i + now] = V[i];
            column[now++] = k;
        }
        if (!now || (now < EIGHT && k < c->count)) continue;
        respond_eight(d, t, column, now, x, c);
        now = 0;
    }
    mor_arena_release(d->arena, mark);
    return MOR_OK;
}

/* From impulses to velocities, and what is known as velocities. */
static mor_code finish_tree(const mor_derivation* d, int tree, const mor_tree_slopes* own, mor_columns* c)
{
    const mor_tree* t = &d->base->w->trees[tree];
    int n = d->n, dof = t->dof;
    if (t->robot && own->local) {
        for (int k = 0; k < 2 * dof; k++) {
            int column = k < dof ? own->first + k : n + own->first + k - dof;
            for (int i = 0; i < dof; i++)
                c->V[(size_t)column * d->dof + t->offset + i] = own->V[(size_t)i * 2 * dof + k];
        }
        return MOR_OK;
    }
    if (!t->robot) {
        int from = own->mixed ? 0 : own->first, to = own->mixed ? n : own->first + dof;
        for (int k = from; k < to; k++) mor_slopes_respond(d, t, c->V + (size_t)k * d->dof + t->offset);
        for (int k = 0; k < 2 * dof && own->V; k++) {
            int column = k < dof ? own->first + k : n + own->first + k - dof;
            for (int i = 0; i < dof; i++)
                c->V[(size_t)column * d->dof + t->offset + i] += own->V[(size_t)i * 2 * dof + k];
        }
        return MOR_OK;
    }
    mor_code code = respond_columns(d, t, own, c);
    for (int k = 0; k < dof; k++) c->V[(size_t)(n + own->first + k) * d->dof + t->offset + k] += 1.0;
    return code;
}

mor_code mor_slopes_begin(mor_derivation* d, mor_slopes* s, bool* done, bool* lost)
{
    mor_code code = make(d, s);
    const bool* wanted = code ? NULL : wanted_contacts(d);
    if (!wanted) return MOR_SYSTEM;
    d->ready = false;
    return mor_touches(d, wanted, s->touches, done, lost);
}

mor_code mor_slopes_fill(mor_derivation* d, mor_slopes* s, mor_columns* c, bool* done, bool* lost, mor_error* error)
{
    const mor_world* w = d->base->w;
    *done = mor_slopes_possible(d);
    if (!*done) return MOR_OK;
    mor_code code = mor_slopes_begin(d, s, done, lost);
    if (!code && *done) code = mor_contact_slopes(d, s, c, NULL);
    for (int i = 0; i < w->tree_count && !code && *done; i++) {
        const mor_tree* t = &w->trees[i];
        if (t->robot && d->loaded[i]) code = mor_robot_slopes(d, s, i, &s->trees[i], done);
        else if (t->robot) code = mor_robot_local_slopes(d, i, &s->trees[i], error);
        else if (t->kind == &mor_tree_free) code = mor_free_slopes(d, i, &s->trees[i]);
        if (!code && *done && !t->robot) add_body(d, t, &s->trees[i], c);
    }
    for (int i = 0; i < d->input_count && *done && !code; i++) {
        const mor_input* in = &d->inputs[i];
        if (!mor_slopes_has_input(d, in)) continue;
        const mor_robot* r = w->robots[in->index];
        int offset = w->trees[r->tree].offset + r->model->dof - r->model->joint_count;
        c->V[(size_t)(2 * d->n + i) * d->dof + offset + in->component] = w->h;
    }
    for (int i = 0; i < w->tree_count && !code && *done; i++) code = finish_tree(d, i, &s->trees[i], c);
    return code;
}

/* ---------------------------------------------------------------------------------------------- ends */

/* By the own state, of a body that turns. */
static void body_end(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, int column, double* end)
{
    int n = d->n, dof = t->dof, first = own->first, k = column % n - first;
    double *q = end + first, *nu = end + n + first;
    if (column >= 2 * n || k < 0 || k >= dof) return;
    for (int i = 0; i < 2 * dof; i++)
        *(i < dof ? &q[i] : &nu[i - dof]) += own->end_z[i * 2 * dof + k + (column >= n ? dof : 0)];
}

/* Was the column made by looks? They have the ends at fixed nu+. */
static bool is_looked(const mor_derivation* d, int column)
{
    return column >= 2 * d->n && !mor_slopes_has_input(d, &d->inputs[column - 2 * d->n]);
}

/* z+ = z + h nu+ of a body whose end is no more than that, all columns. */
static void simple_end(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, bool loaded,
                       const mor_columns* c)
{
    int dof = t->dof;
    double h = d->base->w->h;
    for (int j = 0; j < c->count; j++) {
        const double* v = c->V + (size_t)j * d->dof + t->offset;
        double *q = c->end + (size_t)j * 2 * d->n + own->first, *nu = q + d->n;
        bool looked = j >= 2 * d->n && is_looked(d, j);
        if (looked && !loaded) continue;
        for (int k = 0; k < dof && looked; k++) q[k] += h * v[k], nu[k] += v[k];
        for (int k = 0; k < dof && !looked; k++) q[k] = h * v[k], nu[k] = v[k];
    }
    for (int k = 0; k < dof; k++) c->end[(size_t)(own->first + k) * 2 * d->n + own->first + k] += 1.0;
}

/* end += end_v dnu+ of a body, all columns at once; end_v is column-major. */
static void end_by_velocity(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, mor_columns* c)
{
    int dof = t->dof, n = 2 * d->n;
    const double* V = c->V + t->offset;
    for (int half = 0; half < 2; half++)
        mor_dense_multiply_add(dof, c->count, dof, 1.0, own->end_v + half * dof, 2 * dof, V, d->dof,
                               c->end + own->first + half * d->n, n);
}

/* The end of a robot in all columns: positions by h, the base by its rotation and its momentum. */
static mor_code robot_ends(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, mor_columns* c)
{
    int n = d->n, N = t->dof, first = own->first, offset = mor_robot_offset(t->robot->model);
    double h = d->base->w->h, *by = mor_arena_alloc(d->arena, 6 * (size_t)N * sizeof *by);
    if (!by) return MOR_SYSTEM;
    for (int j = 0; j < c->count; j++) {
        const double* v = c->V + (size_t)j * (size_t)d->dof + t->offset;
        double *q = c->end + (size_t)j * 2 * (size_t)n + first, *nu = q + n;
        bool looked = is_looked(d, j);
        for (int k = 0; k < N && !looked; k++) q[k] = h * v[k], nu[k] = v[k];
        for (int k = 0; k < N && looked; k++)
            if (!offset || k < 3 || k >= 6) q[k] += h * v[k];
        for (int k = offset; k < N && looked; k++) nu[k] += v[k];
        if (!offset) continue;
        mor_vec3 turn = mor_mul(&own->turn_by, mor_v3(v[3], v[4], v[5]));
        if (!looked) memset(q + 3, 0, 3 * sizeof *q), memset(nu, 0, 6 * sizeof *nu);
        q[3] += turn.x, q[4] += turn.y, q[5] += turn.z;
    }
    for (int k = 0; k < N; k++) { /* by the own state at fixed nu+ */
        double *q = c->end + (size_t)(first + k) * 2 * (size_t)n + first, *nu = q + n;
        double* by_nu = c->end + (size_t)(n + first + k) * 2 * (size_t)n + n + first;
        if (offset && k >= 3 && k < 6) {
            mor_vec3 turn = mor_mul(&own->turn, unit(k - 3));
            q[3] += turn.x, q[4] += turn.y, q[5] += turn.z;
        } else q[k] += 1.0;
        for (int i = 0; i < offset; i++) {
            nu[i] += own->end_z[i * 2 * N + k];
            by_nu[i] += own->end_z[i * 2 * N + N + k];
            by[i + 6 * k] = own->end_v[i * N + k];
        }
    }
    if (offset) mor_dense_multiply_add(6, c->count, N, 1.0, by, 6, c->V + t->offset, d->dof, c->end + n + first, 2 * n);
    return MOR_OK;
}

/* What integrate changes of a draft, robots apart. */
typedef struct mor_start {
    mor_body* bodies;
    mor_tree* trees;
    long step;
    double time;
} mor_start;

mor_code mor_slopes_advance(mor_derivation* d)
{
    mor_world* w = d->base->w;
    size_t bodies = (size_t)w->body_count * sizeof *w->bodies, trees = (size_t)w->tree_count * sizeof *w->trees;
    mor_start* s = d->start = mor_arena_alloc(d->arena, sizeof *s);
    if (!s) return MOR_SYSTEM;
    *s = (mor_start){ mor_arena_alloc(d->arena, bodies), mor_arena_alloc(d->arena, trees), w->step, w->time };
    if (!s->bodies || !s->trees) return MOR_SYSTEM;
    memcpy(s->bodies, w->bodies, bodies);
    memcpy(s->trees, w->trees, trees);
    d->advanced = true;
    return mor_do_integrate(d->world, d->base, NULL);
}

void mor_slopes_put_back(mor_derivation* d)
{
    mor_world* w = d->base->w;
    const mor_start* s = d->start;
    if (!d->advanced) return;
    d->advanced = false;
    memcpy(w->bodies, s->bodies, (size_t)w->body_count * sizeof *w->bodies);
    memcpy(w->trees, s->trees, (size_t)w->tree_count * sizeof *w->trees);
    w->step = s->step, w->time = s->time;
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        const mor_robot* from = d->world->robots[i];
        r->base = from->base;
        memcpy(r->s, from->s, (size_t)r->model->joint_count * sizeof *r->s);
        memcpy(r->nu, from->nu, (size_t)r->model->dof * sizeof *r->nu);
        mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    }
}

mor_code mor_slopes_end(mor_derivation* d, mor_slopes* s, mor_columns* c, bool* done)
{
    const mor_world* w = d->base->w;
    mor_code code = MOR_OK;
    for (int i = 0; i < w->tree_count && !code && *done; i++)
        if (w->trees[i].robot && d->loaded[i]) code = mor_robot_end_slopes(d, i, &s->trees[i], done);
    if (!*done) mor_slopes_put_back(d);
    for (int i = 0; i < w->tree_count && !code && *done; i++) {
        const mor_tree* t = &w->trees[i];
        const mor_tree_slopes* own = &s->trees[i];
        bool simple = !own->end_z && !t->robot;
        if (simple) simple_end(d, t, own, d->loaded[i], c);
        if (t->robot && d->loaded[i]) {
            code = robot_ends(d, t, own, c);
            continue;
        }
        for (int j = 0; j < c->count && !simple; j++) {
            bool looked = is_looked(d, j);
            if (looked && !d->loaded[i]) continue; /* looks have the end of what moves freely */
            double* end = c->end + (size_t)j * 2 * d->n;
            for (int k = 0; k < t->dof && !looked; k++) end[own->first + k] = end[d->n + own->first + k] = 0.0;
            body_end(d, t, own, j, end);
        }
        if (!t->robot && d->loaded[i] && own->end_v) end_by_velocity(d, t, own, c);
    }
    return code;
}
