/* Rest: what repeats is not solved again, and gives the same bits as if it were.
 *
 * To repeat, an island must come to an exact stop. Impulses are rounded, so bodies at rest keep speeds of some 1e-13
 * m/s, which the next steps take back. They are set to 0 where they can only be rounding:
 *
 *     held    a body that sticks at three points, not on one line, to bodies that are held, fixed ones to begin with
 *             (in the plane at two points, a particle at one). Such points allow no velocity but 0, to first order.
 *             Sticking means: the impulse is inside the cone, and not small beside the others of the body.
 *     hold    all bodies of the island are held, and all speeds are below 1e-10 m/s and the solver's goal: nu+ = 0.
 *
 * A pencil on its tip, a ball, a sphere on a sphere, a body about to topple (its far contacts carry nothing) are not
 * held: they keep their speeds, however small. So does everything with joints or robots.
 *
 * A step that gives back the state it began with, bit by bit, will be repeated by the next ones until something
 * changes: formulation/kept_rows.c keeps its rows and its answer, collision/kept_pairs.c its contacts. `method: { rest:
 * solve }` does everything again all the same; hashes must agree (tests/test_rest.c).
 *
 * Guesses of bodies without velocity have 46 bits along the tangents (contact_rows.c), or the rounding of impulses from
 * rows to the world and back would change them for ever.
 *
 * Cost: a comparison of bodies and contacts at rest; bodies that move cost the first comparison. */
#include "step/rest.h"

#include "base/elementary.h"
#include "formulation/kept_rows.h"

#include <math.h>
#include <string.h>

#define STILL 1e-10 /* m/s: speeds that may be rounding, if the solver's goal is no smaller; of the surface in turns */
#define INSIDE 1e-3 /* of the friction cone, and of the largest impulse: margins of a contact that sticks */
#define APART 1e-3  /* of the arms of the points: on one line, or the same point, below it */

/* What is known of a body on the way to its being held. */
typedef struct support {
    double most;       /* largest normal impulse on it */
    double arm;        /* longest */
    mor_vec3 point[2]; /* where it sticks to what is held */
    int points;
    bool held;
} support;

/* --------------------------------------------------------------------------------------- held */

static mor_vec3 middle_of(const mor_system* s, const mor_contact* contacts, int c)
{
    const mor_contact* contact = &contacts[s->contacts[c].contact];
    return mor_lerp(contact->point[0], contact->point[1], 0.5);
}

/* Does the contact hold its bodies in place by an impulse inside the cone? */
static bool sticks(const mor_block* b, const double* p)
{
    double tangential = b->dim > 2 ? mor_hypot(p[1], p[2]) : b->dim > 1 ? fabs(p[1]) : INFINITY;
    return p[0] > 0.0 && tangential < (1.0 - INSIDE) * b->mu * p[0];
}

/* One more point at which a body is held; three are enough, not on one line (in the plane two, of a particle one). */
static void add_point(support* t, mor_vec3 x, int dof)
{
    const double least = APART * t->arm;
    if (dof == 2) t->held = true;
    if (t->points > 0 && mor_norm(mor_sub(x, t->point[0])) <= least) return;
    if (t->points == 1 && dof == 3) t->held = true;
    if (t->points < 2) {
        t->point[t->points++] = x;
        return;
    }
    mor_vec3 along = mor_sub(t->point[1], t->point[0]);
    if (mor_norm(mor_cross(along, mor_sub(x, t->point[0]))) > least * mor_norm(along)) t->held = true;
}

/* Largest impulses and arms, and whether all speeds are small. False: something moves. */
static bool look_at_trees(const mor_world* w, const mor_island* island, const mor_contact* contacts, support* trees)
{
    const mor_system* s = &island->system;
    const double still = mor_min(STILL, s->tol);
    for (int c = 0; c < s->contact_count; c++) {
        const mor_block* b = &s->blocks[c];
        mor_vec3 x = middle_of(s, contacts, c);
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            int local = s->entries[e].tree;
            support* t = &trees[local];
            t->most = mor_max(t->most, island->answer.impulses[b->row]);
            t->arm = mor_max(t->arm, mor_norm(mor_sub(x, w->bodies[w->trees[island->tree_of[local]].body].x)));
        }
    }
    for (int i = 0; i < s->tree_count; i++) {
        const double* nu = island->answer.nu + s->trees[i].offset;
        for (int d = 0; d < s->trees[i].dof; d++) {
            bool turns = s->trees[i].dof == 6 ? d > 2 : d > 1;
            if (!(fabs(nu[d]) * (turns ? trees[i].arm : 1.0) <= still)) return false;
        }
    }
    return true;
}

/* Contacts hand on that bodies are held, until nothing changes. */
static bool all_are_held(const mor_island* island, const mor_contact* contacts, support* trees, bool* used)
{
    const mor_system* s = &island->system;
    int held = 0, before = -1;
    while (held > before && held < s->tree_count) {
        before = held;
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* b = &s->blocks[c];
            const double* p = island->answer.impulses + b->row;
            int first = s->entries[b->entry].tree, second = b->entry_count > 1 ? s->entries[b->entry + 1].tree : -1;
            bool by_second = second < 0 || trees[second].held;
            if (used[c] || !(by_second || trees[first].held) || !sticks(b, p)) continue;
            used[c] = true;
            int other = by_second ? first : second;
            support* t = &trees[other];
            if (t->held || p[0] < INSIDE * t->most) continue;
            add_point(t, middle_of(s, contacts, c), s->trees[other].dof);
            held += t->held;
        }
    }
    return held == s->tree_count;
}

/* Islands of single bodies whose contacts are with each other and with fixed bodies. */
static bool is_plain(const mor_world* w, const mor_island* island)
{
    const mor_system* s = &island->system;
    if (island->row_block_count > 0 || island->report.status != MOR_SOLVED) return false;
    for (int t = 0; t < s->tree_count; t++) { /* friction with the plane is part of the mass (model/support_step.c) */
        int body = w->trees[island->tree_of[t]].body;
        if (body < 0 || w->bodies[body].support.friction > 0.0) return false;
    }
    return true;
}

static bool touches_kinematic(const mor_world* w, const mor_contact* c)
{
    return w->bodies[w->order[c->body[0]]].kind == MOR_KINEMATIC ||
           w->bodies[w->order[c->body[1]]].kind == MOR_KINEMATIC;
}

void mor_rest_hold(const mor_world* w, mor_island* island, mor_arena* arena)
{
    const mor_system* s = &island->system;
    const mor_contact* contacts = w->contacts.data;
    if (!is_plain(w, island) || w->stored || mor_world_own_solve(w) || w->on_collide) return;
    for (int i = 0; i < s->tree_count; i++) /* most islands move */
        if (!(fabs(island->answer.nu[s->trees[i].offset]) <= STILL)) return;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact* contact = &contacts[s->contacts[c].contact];
        if (touches_kinematic(w, contact) || mor_dot(contact->surface_velocity, contact->surface_velocity) > 0.0)
            return;
    }
    size_t mark = mor_arena_mark(arena);
    support* trees = mor_arena_zero(arena, (size_t)s->tree_count, sizeof *trees);
    bool* used = mor_arena_zero(arena, (size_t)s->contact_count, sizeof *used);
    if (trees && used && look_at_trees(w, island, contacts, trees) && all_are_held(island, contacts, trees, used))
        memset(island->answer.nu, 0, (size_t)s->dof * sizeof *island->answer.nu);
    mor_arena_release(arena, mark);
}

/* ---------------------------------------------------------------------------------------- note */

bool mor_rest_may_skip(const mor_world* w)
{
    return w->options.rest == MOR_REST_SKIP && !w->collision->planes && !w->on_collide && !w->on_solve &&
           !w->on_integrate && !w->stored && !w->adaptive.on && w->options.relinearise == 0;
}

/* Is everything after the step as it was before? */
static bool came_back(const mor_world* before, const mor_step* k, const mor_island* island)
{
    const mor_world* w = k->w;
    const mor_system* s = &island->system;
    if (!is_plain(w, island) || memcmp(s->nu, island->answer.nu, (size_t)s->dof * sizeof *s->nu) != 0) return false;
    for (int t = 0; t < s->tree_count; t++) {
        int body = w->trees[island->tree_of[t]].body;
        if (memcmp(&w->bodies[body].x, &before->bodies[body].x, MOR_BODY_MOTION) != 0) return false;
    }
    const mor_contact* contacts = k->contacts.data;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact *now = &contacts[s->contacts[c].contact], *old = k->old[s->contacts[c].contact];
        if (!old || !mor_contacts_found_alike(now, old) || !mor_contacts_solved_alike(now, old) ||
            touches_kinematic(w, now))
            return false;
    }
    return true;
}

bool mor_rest_note(const mor_world* before, mor_step* k)
{
    if (!mor_rest_may_skip(k->w) || k->in_parts || k->forced || !k->of || k->status != MOR_SOLVED) {
        k->kept_islands.count = 0;
        return true;
    }
    int first = 0;
    while (first < k->island_count && !came_back(before, k, &k->islands[first])) first++;
    if (first == k->island_count && k->kept_islands.count == 0) return true; /* nothing was kept, and nothing is */
    bool* back = mor_arena_zero(k->arena, (size_t)k->island_count + 1, sizeof *back);
    if (!back) return false;
    for (int i = first; i < k->island_count; i++) back[i] = i == first || came_back(before, k, &k->islands[i]);
    return mor_kept_note(k, back);
}
