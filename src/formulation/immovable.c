/* Contacts that no motion changes.
 *
 * Bodies that welds (joints of type fixed) hold together, or to the world: their contacts could only contradict the
 * welds. A body that is welded to the world below the floor stays there, and what lies on it is carried.
 *
 * Contacts between two links of one robot whose gap no motion of its joints changes: links of a planar linkage that
 * slide past each other face to face, a tool in its holder. The row of such a contact,
 *
 *     G_n' = n' (J_1 - J_0),
 *
 * is zero: neither force nor friction can be found from it, and an overlap by rounding could never be undone. What
 * counts as zero: 1e-9 of the rows of the two links by themselves, far above their rounding and far below the least
 * angle at which a joint could open the contact.
 *
 * Cost: two rows for each contact of a robot with itself, nothing for others. */
#include "formulation/immovable.h"

#include "base/elementary.h"

#define NOTHING 1e-9

static double square(const double* x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

static bool is_immovable(const mor_tree* t, const mor_body* const body[2], const mor_contact* c, double* row)
{
    double* other = row + t->dof;
    mor_vec3 middle = mor_lerp(c->point[0], c->point[1], 0.5);
    t->kind->row(t, body[0], mor_sub(middle, body[0]->x), c->normal, -1.0, row);
    t->kind->row(t, body[1], mor_sub(middle, body[1]->x), c->normal, 1.0, other);
    double size = mor_max(square(row, t->dof), square(other, t->dof));
    for (int i = 0; i < t->dof; i++) row[i] += other[i];
    return square(row, t->dof) <= NOTHING * NOTHING * size;
}

/* The set of a body: bodies point to another of theirs, the last to itself. */
static int set_of(const mor_body* bodies, int slot)
{
    while (slot >= 0 && bodies[slot].weld != slot) slot = bodies[slot].weld;
    return slot;
}

void mor_find_welds(mor_body* bodies, int body_count, const mor_joint* joints, int joint_count)
{
    for (int i = 0; i < body_count; i++) bodies[i].weld = bodies[i].tree < 0 && bodies[i].kind == MOR_FIXED ? -1 : i;
    for (int i = 0; i < joint_count; i++) {
        if (joints[i].def.kind != MOR_JOINT_FIXED) continue;
        const int a = set_of(bodies, joints[i].body[0]), b = set_of(bodies, joints[i].body[1]);
        const int first = a < b ? a : b, last = a < b ? b : a;
        if (last >= 0) bodies[last].weld = first;
    }
    for (int i = 0; i < body_count; i++) bodies[i].weld = set_of(bodies, i);
}

bool mor_drop_immovable(const mor_step* k, mor_buffer* contacts)
{
    const mor_world* w = k->w;
    mor_contact* c = contacts->data;
    int kept = 0;
    for (int i = 0; i < contacts->count; i++) {
        const mor_body* body[2];
        for (int side = 0; side < 2; side++) body[side] = &w->bodies[w->order[c[i].body[side]]];
        const mor_tree* t = body[0]->tree >= 0 && body[0]->tree == body[1]->tree ? &w->trees[body[0]->tree] : NULL;
        bool drop = false;
        if (t) {
            size_t mark = mor_arena_mark(k->arena);
            double* row = mor_arena_alloc(k->arena, 2 * (size_t)t->dof * sizeof *row);
            if (!row) return false;
            drop = is_immovable(t, body, &c[i], row);
            mor_arena_release(k->arena, mark);
        }
        if (drop || (body[0]->weld == body[1]->weld && body[0] != body[1])) continue;
        if (kept != i) c[kept] = c[i];
        kept++;
    }
    contacts->count = kept;
    return true;
}
