/* A gradient from the end of a step to its start (pull.h). */
#include "derivative/pull.h"

#include "derivative/active.h"
#include "derivative/patch.h"
#include "derivative/slopes.h"

#include "base/elementary.h"
#include "model/articulated.h"

#include <string.h>

/* Is every block that acts one that the way back knows? Patches in which something moves may tear, and edges must be
 * looked at along every direction. */
static bool is_open(const mor_derivation* d, const mor_laws* l, bool moved)
{
    if (moved || d->unknown || l->weak_count) return false;
    for (int i = 0; i < d->patch_count; i++)
        if (!d->patches[i].still) return false;
    return mor_slopes_possible(d);
}

static bool make_weights(mor_derivation* d, const double* end, double* state, mor_weights* w)
{
    size_t dof = (size_t)d->dof;
    *w = (mor_weights){ .end = end, .state = state };
    w->V = mor_arena_zero(d->arena, dof + 1, sizeof(double));
    w->impulse = mor_arena_zero(d->arena, dof + 1, sizeof(double));
    w->u = mor_arena_zero(d->arena, (size_t)d->rows + 1, sizeof(double));
    w->mu = mor_arena_zero(d->arena, (size_t)d->kept_count + 1, sizeof(double));
    w->patch = mor_arena_zero(d->arena, 6 * (size_t)d->patch_count + 1, sizeof(double));
    w->momentum = mor_arena_zero(d->arena, 6 * (size_t)d->base->w->tree_count + 1, sizeof(double));
    return w->V && w->impulse && w->u && w->mu && w->patch && w->momentum;
}

/* ---------------------------------------------------------------------------------------------- ends */

/* state += E_z' end, V := E_nu' end of a tree that is no loaded robot: a body, or a robot that moves freely. */
static void pull_end(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, bool loaded,
                     mor_weights* w)
{
    int dof = t->dof, first = own->first, n = d->n;
    const double *q = w->end + first, *v = w->end + n + first;
    double* V = w->V + t->offset;
    for (int k = 0; k < dof && !own->end_z; k++) {
        w->state[first + k] += q[k];
        V[k] += d->base->w->h * q[k] + v[k];
    }
    for (int i = 0; i < 2 * dof && own->end_z; i++) {
        double weight = i < dof ? q[i] : v[i - dof];
        for (int k = 0; k < 2 * dof && weight != 0.0; k++) {
            w->state[k < dof ? first + k : n + first + k - dof] += own->end_z[i * 2 * dof + k] * weight;
            if (k < dof && loaded && own->end_v) V[k] += own->end_v[i + 2 * dof * k] * weight;
        }
    }
}

static mor_code pull_ends(mor_derivation* d, mor_slopes* s, mor_weights* w, bool* done, mor_error* error)
{
    const mor_world* world = d->base->w;
    mor_code code = MOR_OK;
    for (int i = 0; i < world->tree_count && !code && *done; i++) {
        const mor_tree* t = &world->trees[i];
        if (t->robot && d->loaded[i]) {
            code = mor_robot_end_pull(d, i, w, done);
            continue;
        }
        if (t->robot) code = mor_robot_local_slopes(d, i, &s->trees[i], error);
        else if (t->kind == &mor_tree_free) code = mor_free_slopes(d, i, &s->trees[i]);
        if (!code) pull_end(d, t, &s->trees[i], d->loaded[i], w);
    }
    mor_slopes_put_back(d);
    return code;
}

/* ---------------------------------------------------------------------------------------------- trees */

/* The free motion of a body, and the impulses that move along with it. */
static void pull_body(const mor_derivation* d, const mor_tree* t, const mor_tree_slopes* own, mor_weights* w)
{
    int dof = t->dof, first = own->first, n = d->n, linear = d->world->dimension;
    const double *V = w->V + t->offset, *y = w->impulse + t->offset;
    for (int k = 0; k < dof && !own->V; k++) w->state[n + first + k] += V[k];
    for (int k = 0; k < 2 * dof && own->V; k++)
        for (int i = 0; i < dof; i++)
            w->state[k < dof ? first + k : n + first + k - dof] += own->V[i * 2 * dof + k] * V[i];
    for (int k = linear; k < dof; k++) {
        mor_vec3 e = linear == 3 ? mor_v3(k == 3, k == 4, k == 5) : mor_v3(0, 0, 1);
        mor_vec3 f = mor_cross(e, own->F), m = mor_cross(e, own->N);
        w->state[first + k] += y[0] * f.x + y[1] * f.y;
        if (linear == 3) w->state[first + k] += y[2] * f.z + y[3] * m.x + y[4] * m.y + y[5] * m.z;
    }
}

static mor_code pull_trees(mor_derivation* d, mor_slopes* s, mor_weights* w, bool* done)
{
    const mor_world* world = d->base->w;
    memcpy(w->impulse, w->V, (size_t)d->dof * sizeof *w->V);
    for (int i = 0; i < world->tree_count; i++)
        if (d->loaded[i]) mor_slopes_respond(d, &world->trees[i], w->impulse + world->trees[i].offset);
    mor_code code = mor_contact_slopes(d, s, NULL, w);
    for (int i = 0; i < world->tree_count && !code && *done; i++) {
        const mor_tree* t = &world->trees[i];
        if (!t->robot) pull_body(d, t, &s->trees[i], w);
        else if (d->loaded[i]) code = mor_robot_pull(d, s, i, &s->trees[i], w, done);
    }
    return code;
}

/* --------------------------------------------------------------------------------------------- inputs */

/* Weights of the rows of patches, for inputs that are looked at. */
static void spread_patches(const mor_derivation* d, mor_weights* w)
{
    for (int i = 0; i < d->patch_count; i++) {
        mor_patch* b = &d->patches[i];
        const double* project = mor_patch_projector(b);
        double* u = w->u + d->kept[b->first].row;
        for (int r = 0; r < 3 * (b->last - b->first); r++)
            for (int k = 0; k < 6; k++) u[r] += project[6 * r + k] * w->patch[6 * i + k];
    }
}

/* An input whose column is known by looks. */
static double weigh(const mor_derivation* d, const mor_weights* w, const mor_columns* c, int j, bool* torn)
{
    double sum = 0.0, six[6];
    for (int i = 0; i < 2 * d->n; i++) sum += w->end[i] * c->end[(size_t)j * 2 * d->n + i];
    for (int i = 0; i < d->base->w->tree_count; i++) {
        const mor_tree* t = &d->base->w->trees[i];
        for (int k = t->offset; k < t->offset + t->dof && d->loaded[i]; k++)
            sum += w->V[k] * c->V[(size_t)j * d->dof + k];
    }
    for (int i = 0; i < d->rows; i++) sum += w->u[i] * c->u[(size_t)j * d->rows + i];
    for (int i = 0; i < d->kept_count; i++) sum += w->mu[i] * c->mu[(size_t)j * d->kept_count + i];
    for (int i = 0; i < d->patch_count; i++)
        mor_patch_project(&d->patches[i], c->u + (size_t)j * d->rows + d->kept[d->patches[i].first].row, six, torn);
    return sum;
}

static mor_code pull_inputs(mor_derivation* d, mor_weights* w, double* out, bool* lost, bool* torn, mor_error* error)
{
    const mor_world* world = d->base->w;
    mor_columns c = { 0 };
    mor_look a, b;
    mor_code code = MOR_OK;
    for (int i = 0; i < d->input_count && !code; i++) {
        const mor_input* in = &d->inputs[i];
        if (mor_slopes_has_input(d, in)) {
            const mor_robot* r = world->robots[in->index];
            int offset = world->trees[r->tree].offset + r->model->dof - r->model->joint_count;
            out[i] = world->h * w->impulse[offset + in->component];
            continue;
        }
        if (!c.V) {
            if (!mor_columns_create(d, &c) || !mor_look_create(d, &a) || !mor_look_create(d, &b)) return MOR_SYSTEM;
            spread_patches(d, w);
        }
        code = mor_look_columns(d, 2 * d->n + i, &a, &b, &c, lost, error);
        if (!code) out[i] = weigh(d, w, &c, 2 * d->n + i, torn);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------ all of it */

static mor_code pull(mor_derivation* d, const mor_laws* l, const double* end, double* gradient, mor_derivative* out,
                     bool* done, mor_error* error)
{
    mor_weights w;
    mor_slopes s = { 0 };
    bool lost = false, torn = false, many = false;
    memset(gradient, 0, (size_t)(2 * d->n + d->input_count) * sizeof *gradient);
    if (!make_weights(d, end, gradient, &w)) return MOR_SYSTEM;
    mor_code code = mor_slopes_begin(d, &s, done, &lost);
    if (!code && *done) code = mor_contact_slopes(d, &s, NULL, NULL);
    if (!code && *done) code = pull_ends(d, &s, &w, done, error);
    for (int first = 0, last; first < d->kept_count && !code && *done; first = last) {
        for (last = first; last < d->kept_count && d->kept[last].island == d->kept[first].island;) last++;
        code = mor_active_pull(d, l->law, first, last, &w, &many, done);
    }
    if (!code && *done) code = pull_trees(d, &s, &w, done);
    if (!code && *done) code = pull_inputs(d, &w, gradient + 2 * d->n, &lost, &torn, error);
    if (lost || torn) *done = false; /* the long way has the sentence for it */
    out->unique = out->unique && !many;
    return code;
}

/* By the matrix of the step. */
static mor_code multiply(mor_derivation* d, const mor_laws* l, const double* end, double* gradient, mor_derivative* out,
                         mor_error* error)
{
    mor_columns c;
    size_t n = 2 * (size_t)d->n;
    mor_code code = mor_derivation_columns(d, l, &c, out, error);
    for (int j = 0; j < 2 * d->n + d->input_count && !code; j++) {
        gradient[j] = 0.0;
        for (size_t i = 0; i < n; i++) gradient[j] += c.end[(size_t)j * n + i] * end[i];
    }
    return code;
}

mor_code mor_pull_step(mor_world* world, const mor_input* inputs, int count, const mor_taken* taken, const double* end,
                       double* gradient, mor_derivative* out, bool* direct, mor_error* error)
{
    mor_derivation d;
    mor_laws l = { 0 };
    if (taken->followed) {
        mor_step* free = world->derived[2];
        world->derived[2] = world->derived[0], world->derived[0] = free;
    }
    mor_code code = mor_derivation_open(world, inputs, count, &d, error);
    if (code) return code;
    d.after = taken->followed ? world->derived[2] : NULL;
    d.known = taken->contacts, d.known_count = taken->contact_count;
    code = mor_derivation_begin(&d, &l, out, error);
    if (!code) code = mor_patches_find(&d, l.law);
    bool done = !code && is_open(&d, &l, taken->moved);
    if (!code && done) code = pull(&d, &l, end, gradient, out, &done, error);
    if (!code && !done) code = multiply(&d, &l, end, gradient, out, error);
    if (direct) *direct = done;
    if (code == MOR_SYSTEM) mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_derivation_close(&d);
    return code;
}
