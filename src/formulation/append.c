/* Contacts added to an assembled system.
 *
 * Bodies are trees of their own here: a row of direction d at the point c is sign [d; r x d] with r = c - x, the planar
 * and the particle's being parts of it. M^-1 is the tree's block of the step. */
#include "formulation/append.h"

#include <string.h>

bool mor_system_make_room(const mor_system* s, int more, mor_arena* arena, mor_system_room* room)
{
    *room = (mor_system_room){ .system = *s };
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        room->diagonal_count += b->dim * b->dim;
        if (b->entry + b->entry_count > room->entry_count) room->entry_count = b->entry + b->entry_count;
        for (int e = b->entry; e < b->entry + b->entry_count; e++)
            room->coefficient_count += b->dim * s->trees[s->entries[e].tree].dof;
    }
    size_t n = (size_t)more, contacts = (size_t)s->contact_count, blocks = (size_t)s->block_count,
           entries = (size_t)room->entry_count, numbers = (size_t)room->coefficient_count,
           squares = (size_t)room->diagonal_count;
    room->contacts = mor_arena_alloc(arena, (contacts + n) * sizeof *room->contacts);
    room->blocks = mor_arena_alloc(arena, (blocks + n) * sizeof *room->blocks);
    room->entries = mor_arena_alloc(arena, (entries + 2 * n) * sizeof *room->entries);
    room->jacobian = mor_arena_alloc(arena, (numbers + 36 * n) * sizeof(double));
    room->response = mor_arena_alloc(arena, (numbers + 36 * n) * sizeof(double));
    room->diagonal = mor_arena_alloc(arena, (squares + 9 * n) * sizeof(double));
    room->diagonal_start = mor_arena_alloc(arena, (blocks + n) * sizeof(int));
    if (!room->contacts || !room->blocks || !room->entries || !room->jacobian || !room->response || !room->diagonal ||
        !room->diagonal_start)
        return false;
    memcpy(room->contacts, s->contacts, contacts * sizeof *room->contacts);
    memcpy(room->blocks, s->blocks, blocks * sizeof *room->blocks);
    memcpy(room->entries, s->entries, entries * sizeof *room->entries);
    memcpy(room->jacobian, s->jacobian, numbers * sizeof(double));
    memcpy(room->response, s->response, numbers * sizeof(double));
    memcpy(room->diagonal, s->diagonal, squares * sizeof(double));
    memcpy(room->diagonal_start, s->diagonal_start, blocks * sizeof(int));
    room->system.contacts = room->contacts;
    room->system.blocks = room->blocks;
    room->system.entries = room->entries;
    room->system.jacobian = room->jacobian;
    room->system.response = room->response;
    room->system.diagonal = room->diagonal;
    room->system.diagonal_start = room->diagonal_start;
    room->capacity = more;
    return true;
}

static void body_row(int dof, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    mor_vec3 m = mor_cross(r, d);
    c[0] = sign * d.x;
    c[1] = sign * d.y;
    if (dof == 3) c[2] = sign * m.z;
    if (dof != 6) return;
    c[2] = sign * d.z;
    c[3] = sign * m.x, c[4] = sign * m.y, c[5] = sign * m.z;
}

/* The rows of one side: coefficients, responses, and its part of W_cc. */
static void add_side(mor_system_room* room, const mor_added_contact* c, int side, mor_block* b, double* D)
{
    const mor_tree_block* t = &room->system.trees[c->tree[side]];
    int dof = t->dof, dim = c->dim;
    double *J = room->jacobian + room->coefficient_count, *Y = room->response + room->coefficient_count;
    mor_vec3 r = mor_sub(c->point, c->x[side]);
    for (int i = 0; i < dim; i++) {
        body_row(dof, r, c->direction[i], side ? 1.0 : -1.0, J + i * dof);
        for (int j = 0; j < dof; j++) {
            double sum = 0.0;
            for (int m = 0; m < dof; m++) sum += J[i * dof + m] * t->mass_inverse[m * dof + j];
            Y[i * dof + j] = sum;
        }
    }
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int m = 0; m < dof; m++) D[i * dim + j] += Y[i * dof + m] * J[j * dof + m];
    room->entries[room->entry_count++] = (mor_entry){ c->tree[side], room->coefficient_count };
    b->entry_count++;
    room->coefficient_count += dim * dof;
}

mor_contact_row* mor_system_append_contact(mor_system_room* room, const mor_contact_row* model,
                                           const mor_added_contact* c)
{
    mor_system* s = &room->system;
    int dim = c->dim;
    mor_contact_row* row = &room->contacts[s->contact_count];
    mor_block* b = &room->blocks[s->block_count];
    double* D = room->diagonal + room->diagonal_count;
    *row = *model;
    row->block = s->block_count;
    memset(row->drift, 0, sizeof row->drift);
    *b = (mor_block){
        .kind = MOR_BLOCK_CONTACT, .dim = dim, .row = s->row_count, .entry = room->entry_count, .mu = model->friction
    };
    memset(D, 0, (size_t)(dim * dim) * sizeof *D);
    for (int side = 0; side < 2; side++) {
        if (c->tree[side] >= 0) {
            add_side(room, c, side, b, D);
            continue;
        }
        mor_vec3 v = mor_add(c->v[side], mor_cross(c->w[side], mor_sub(c->point, c->x[side])));
        for (int i = 0; i < dim; i++) row->drift[i] += (side ? 1.0 : -1.0) * mor_dot(c->direction[i], v);
    }
    room->diagonal_start[s->block_count] = room->diagonal_count;
    room->diagonal_count += dim * dim;
    s->block_count++;
    s->contact_count++;
    s->row_count += dim;
    room->added++;
    return row;
}
