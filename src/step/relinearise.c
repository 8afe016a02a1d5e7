/* Passes that solve a step again about its own end (method option `relinearise`).
 *
 * The rows of a contact are those of the start: gap psi, normal n, arms r. Where bodies turn or surfaces bend, the gap
 * at the end of the step, psi_e, is not psi + h G_n' nu+ but off by terms of second order in h. Each pass moves the
 * draft by the answer nu_k at hand, finds the contacts there with normal n_e and arms r_e, and puts the draft back. The
 * step is solved again with rows G_e of n_e and r_e and
 *
 *     psi_e + h G_e' (nu - nu_k) >= 0,    that is the gap   psi_e - h G_e' nu_k   in place of psi:
 *
 * Newton's method for psi(q+) >= 0 at the end of the step. An overlap of the start is not to become speed: it may
 * stay, min(psi, 0) is asked for. Contacts that only the end has are added if they overlap; those that only the start
 * has keep their rows.
 *
 * Cost: a detection, an assembly and a solve per pass. Limits: formulations whose normal rows take gap/h, collision
 * methods that give nearest features; others are refused (mor_world_check_methods). */
#include "step/relinearise.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "step/stabilise.h"
#include "step/stages.h"

#include <string.h>

/* Velocities by which the draft was moved: of the centre of mass, angular. */
static void moved_by(const mor_step* k, const mor_body* b, mor_vec3* v, mor_vec3* w)
{
    *v = b->v, *w = b->w;
    if (b->tree < 0 || b->robot) return;
    const double* nu = k->nu_new + k->w->trees[b->tree].offset;
    int dof = k->w->trees[b->tree].dof;
    bool planar = k->w->dimension == 2;
    *v = mor_v3(nu[0], nu[1], planar ? 0.0 : nu[2]);
    *w = dof == 6 ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, planar && dof == 3 ? nu[2] : 0.0);
}

/* A contact of the end, with the body in its present place at the end, as one to be solved for: arms and the gap that
 * the answer at hand turns into `e->gap`. `start`: gap at the start. */
static void about_the_end(const mor_step* k, const mor_contact* e, double start, mor_vec3 arm[2], double* gap)
{
    const mor_world* w = k->w;
    double rate = 0.0;
    for (int side = 0; side < 2; side++) {
        const mor_body* b = &w->bodies[w->order[e->body[side]]];
        mor_vec3 v, omega;
        moved_by(k, b, &v, &omega);
        arm[side] = mor_sub(e->point[side], b->x);
        rate += (side ? 1.0 : -1.0) * mor_dot(e->normal, mor_add(v, mor_cross(omega, arm[side])));
    }
    *gap = e->gap - mor_min(start, 0.0) - w->h * rate;
}

/* The same contact in another list, which is mostly in the same order: *hint is where the last one was. */
static const mor_contact* counterpart(const mor_buffer* list, const mor_contact* c, int* hint)
{
    const mor_contact* e = list->data;
    for (int j = 0; j < list->count; j++) {
        int i = (*hint + 1 + j) % list->count;
        if (e[i].body[0] == c->body[0] && e[i].body[1] == c->body[1] && e[i].shape[0] == c->shape[0] &&
            e[i].shape[1] == c->shape[1] && e[i].feature == c->feature) {
            *hint = i;
            return &e[i];
        }
    }
    return NULL;
}

typedef struct change {
    bool found;
    mor_vec3 normal, arm[2];
    double gap;
} change;

/* What the contacts of the step become, and the contacts of the end that are new. */
static bool look(mor_step* k, change* changes, change** added, const mor_contact*** fresh, int* fresh_count)
{
    const mor_contact* c = k->contacts.data;
    const mor_contact* e = k->trial.data;
    int at_end = -1, at_start = -1, here = -1;
    for (int i = 0; i < k->contacts.count; i++) {
        const mor_contact *end = counterpart(&k->trial, &c[i], &at_end),
                          *start = counterpart(&k->start, &c[i], &at_start);
        changes[i].found = end != NULL;
        if (!end) continue;
        changes[i].normal = end->normal;
        about_the_end(k, end, start ? start->gap : 0.0, changes[i].arm, &changes[i].gap);
    }
    *fresh_count = 0;
    *added = mor_arena_alloc(k->arena, ((size_t)k->trial.count + 1) * sizeof **added);
    *fresh = mor_arena_alloc(k->arena, ((size_t)k->trial.count + 1) * sizeof **fresh);
    if (!*added || !*fresh) return false;
    for (int i = 0; i < k->trial.count; i++) {
        if (e[i].gap >= 0.0 || counterpart(&k->contacts, &e[i], &here)) continue;
        change* n = &(*added)[*fresh_count];
        n->normal = e[i].normal;
        about_the_end(k, &e[i], 0.0, n->arm, &n->gap);
        (*fresh)[(*fresh_count)++] = &e[i];
    }
    return true;
}

/* The draft is back at the start. */
static void take(const mor_step* k, const change* n, mor_contact* c)
{
    for (int side = 0; side < 2; side++)
        c->point[side] = mor_add(k->w->bodies[k->w->order[c->body[side]]].x, n->arm[side]);
    c->normal = n->normal;
    c->gap = n->gap;
}

/* One pass up to the new contacts. */
static mor_code turn_contacts(mor_step* k, mor_error* error)
{
    mor_world* w = k->w;
    mor_trial trial;
    if (!mor_trial_begin(k, &trial)) return MOR_SYSTEM;
    double deepest = w->deepest;
    mor_integrate_bodies(k);
    mor_code code = mor_step_detect(k, &k->trial, error);
    change* changes = mor_arena_zero(k->arena, (size_t)k->contacts.count + 1, sizeof *changes);
    change* added = NULL;
    const mor_contact** fresh = NULL;
    int count = 0;
    bool looked = !code && changes && look(k, changes, &added, &fresh, &count);
    mor_trial_end(w, &trial);
    w->deepest = deepest;
    if (code) return code;
    int old = k->contacts.count;
    if (!looked || !mor_buffer_reserve(&k->allocator, &k->contacts, old + count, sizeof(mor_contact)))
        return MOR_SYSTEM;
    mor_contact* c = k->contacts.data;
    for (int i = 0; i < old; i++)
        if (changes[i].found) take(k, &changes[i], &c[i]);
    for (int i = 0; i < count; i++) {
        c[old + i] = *fresh[i];
        take(k, &added[i], &c[old + i]);
    }
    k->contacts.count = old + count;
    return MOR_OK;
}

mor_code mor_relinearise(mor_step* k, mor_code (*again)(mor_step*), mor_error* error)
{
    if (k->w->options.relinearise == 0 || k->contacts.count == 0 || k->w->stored) return MOR_OK;
    if (!mor_buffer_reserve(&k->allocator, &k->start, k->contacts.count, sizeof(mor_contact))) return MOR_SYSTEM;
    memcpy(k->start.data, k->contacts.data, (size_t)k->contacts.count * sizeof(mor_contact));
    k->start.count = k->contacts.count;
    mor_code code = MOR_OK;
    for (int pass = 0; pass < k->w->options.relinearise && !code && k->status == MOR_SOLVED; pass++) {
        code = turn_contacts(k, error);
        k->relinearised = true;
        if (!code) code = again(k);
    }
    return code;
}
