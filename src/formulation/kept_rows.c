/* Rows and answers of islands at rest.
 *
 * A step is a function of the state: positions, velocities, and impulses of the last step as the guess. If it gave back
 * the state it began with, bit by bit, the next one will do the same, unless something else changes: a body of another
 * island comes near (then the contacts differ), or the user changes anything (mor_step.unchanged). So the rows, the
 * answer and the report of such an island are kept, everything its next step depends on is compared, and nothing of it
 * is written or solved again. Nothing has to be woken.
 *
 * Kept: one block of memory for all islands, written again when an island comes to rest or leaves it. */
#include "formulation/kept_rows.h"

#include <limits.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- contacts */

#define SPAN(type, from, to) offsetof(type, from), offsetof(type, to) - offsetof(type, from)

static bool same_bytes(const void* a, const void* b, size_t from, size_t size)
{
    return memcmp((const char*)a + from, (const char*)b + from, size) == 0;
}

/* Never the padding. */
bool mor_contacts_found_alike(const mor_contact* a, const mor_contact* b)
{
    return same_bytes(a, b, SPAN(mor_contact, body, held)) && same_bytes(a, b, SPAN(mor_contact, friction, impact)) &&
           a->impact == b->impact && same_bytes(a, b, SPAN(mor_contact, surface_velocity, impulse)) &&
           same_bytes(a, b, SPAN(mor_contact, rolling, moment));
}

bool mor_contacts_solved_alike(const mor_contact* a, const mor_contact* b)
{
    return same_bytes(a, b, SPAN(mor_contact, impulse, anchored)) &&
           same_bytes(a, b, offsetof(mor_contact, moment), sizeof a->moment) && a->held == b->held &&
           a->anchored == b->anchored && (!a->anchored || same_bytes(a, b, SPAN(mor_contact, anchor, rolling)));
}

/* ------------------------------------------------------------------------------------ looking */

int mor_kept_island(const mor_step* k, const mor_members* m, bool geometry)
{
    const int* of_tree = k->kept_of_tree.data;
    if (!k->unchanged || k->kept_of_tree.count != k->w->tree_count || k->kept_islands.count == 0) return -1;
    int number = of_tree[m->trees[0]];
    if (number < 0) return -1;
    const mor_kept_island_of* kept = &((const mor_kept_island_of*)k->kept_islands.data)[number];
    if (kept->tree_count != m->tree_count || kept->contact_count != m->contact_count) return -1;
    if (kept->geometry != geometry) return -1;
    for (int t = 1; t < m->tree_count; t++)
        if (of_tree[m->trees[t]] != number) return -1;
    const mor_contact* contacts = k->contacts.data;
    for (int c = 0; c < m->contact_count; c++) {
        const mor_contact* old = k->old[m->contacts[c]];
        if (!old || !mor_contacts_found_alike(&contacts[m->contacts[c]], old)) return -1;
    }
    return number;
}

/* ------------------------------------------------------------------------------------- layout */

/* Where the arrays of an island are in the block. */
typedef struct layout {
    mor_contact_row* rows;
    mor_contact_geometry* geometry;
    mor_block* blocks;
    mor_entry* entries;
    double *jacobian, *response, *diagonal, *bias, *impulses;
    int* diagonal_start;
    size_t size;
} layout;

static void* take(char* base, size_t* at, size_t bytes)
{
    void* here = base ? base + *at : NULL;
    *at += (bytes + 15) / 16 * 16;
    return here;
}

static layout lay_out(const mor_kept_island_of* of, char* base)
{
    size_t at = 0, contacts = (size_t)of->contact_count, rows = (size_t)of->row_count;
    layout l;
    l.rows = take(base, &at, contacts * sizeof *l.rows);
    l.geometry = of->geometry ? take(base, &at, contacts * sizeof *l.geometry) : NULL;
    l.blocks = take(base, &at, contacts * sizeof *l.blocks);
    l.entries = take(base, &at, (size_t)of->entry_count * sizeof *l.entries);
    l.jacobian = take(base, &at, (size_t)of->coefficient_count * sizeof(double));
    l.response = take(base, &at, (size_t)of->coefficient_count * sizeof(double));
    l.diagonal = take(base, &at, (size_t)of->diagonal_count * sizeof(double));
    l.bias = take(base, &at, rows * sizeof(double));
    l.impulses = take(base, &at, rows * sizeof(double));
    l.diagonal_start = take(base, &at, contacts * sizeof(int));
    l.size = at;
    return l;
}

static layout layout_of(const mor_step* k, int number)
{
    const mor_kept_island_of* of = &((const mor_kept_island_of*)k->kept_islands.data)[number];
    return lay_out(of, (char*)k->kept_bytes[0].data + 16 * (size_t)of->at);
}

void mor_kept_use(mor_step* k, int number, const mor_members* m, mor_system* s)
{
    const mor_kept_island_of* of = &((const mor_kept_island_of*)k->kept_islands.data)[number];
    layout l = layout_of(k, number);
    for (int c = 0; c < m->contact_count; c++) l.rows[c].contact = m->contacts[c];
    s->contacts = l.rows;
    s->geometry = l.geometry;
    s->block_count = of->contact_count;
    s->row_count = of->row_count;
    s->blocks = l.blocks;
    s->entries = l.entries;
    s->jacobian = l.jacobian;
    s->response = l.response;
    s->diagonal = l.diagonal;
    s->diagonal_start = l.diagonal_start;
    s->bias = l.bias;
}

void mor_kept_answer(const mor_step* k, mor_island* island)
{
    const mor_system* s = &island->system;
    layout l = layout_of(k, island->kept);
    memcpy(island->answer.nu, s->nu, (size_t)s->dof * sizeof *s->nu);
    memcpy(island->answer.impulses, l.impulses, (size_t)s->row_count * sizeof *l.impulses);
    island->report = ((const mor_kept_island_of*)k->kept_islands.data)[island->kept].report;
    island->report.time_s = 0.0;
}

/* ------------------------------------------------------------------------------------ keeping */

static mor_kept_island_of measure(const mor_island* island)
{
    const mor_system* s = &island->system;
    mor_kept_island_of of = { .tree_count = s->tree_count,
                              .contact_count = s->contact_count,
                              .row_count = s->row_count,
                              .geometry = s->geometry != NULL,
                              .report = island->report };
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* block = &s->blocks[b];
        of.entry_count += block->entry_count;
        of.diagonal_count += block->dim * block->dim;
        for (int e = block->entry; e < block->entry + block->entry_count; e++)
            of.coefficient_count += block->dim * s->trees[s->entries[e].tree].dof;
    }
    return of;
}

static void copy_rows(const mor_island* island, const mor_kept_island_of* of, const layout* to)
{
    const mor_system* s = &island->system;
    size_t contacts = (size_t)of->contact_count, rows = (size_t)of->row_count;
    memcpy(to->rows, s->contacts, contacts * sizeof *to->rows);
    if (of->geometry) memcpy(to->geometry, s->geometry, contacts * sizeof *to->geometry);
    memcpy(to->blocks, s->blocks, contacts * sizeof *to->blocks);
    memcpy(to->entries, s->entries, (size_t)of->entry_count * sizeof *to->entries);
    memcpy(to->jacobian, s->jacobian, (size_t)of->coefficient_count * sizeof(double));
    memcpy(to->response, s->response, (size_t)of->coefficient_count * sizeof(double));
    memcpy(to->diagonal, s->diagonal, (size_t)of->diagonal_count * sizeof(double));
    memcpy(to->bias, s->bias, rows * sizeof(double));
    memcpy(to->impulses, island->answer.impulses, rows * sizeof(double));
    memcpy(to->diagonal_start, s->diagonal_start, contacts * sizeof(int));
}

/* Are the islands that came back those that are kept already? */
static bool nothing_new(const mor_step* k, const bool* came_back)
{
    int kept = 0;
    for (int i = 0; i < k->island_count; i++) {
        if (came_back[i] != (k->islands[i].kept >= 0)) return false;
        kept += came_back[i];
    }
    return kept == k->kept_islands.count;
}

bool mor_kept_note(mor_step* k, const bool* came_back)
{
    if (nothing_new(k, came_back)) return true;
    const mor_allocator* a = &k->allocator;
    int trees = k->w->tree_count, count = 0;
    size_t bytes = 0;
    for (int i = 0; i < k->island_count; i++) {
        if (!came_back[i]) continue;
        mor_kept_island_of of = measure(&k->islands[i]);
        bytes += lay_out(&of, NULL).size;
        count++;
    }
    k->kept_islands.count = k->kept_of_tree.count = 0;
    if (count == 0) return true;
    /* the islands that stay have their rows in kept_bytes[0] */
    if (bytes / 16 > INT_MAX || !mor_buffer_reserve(a, &k->kept_bytes[1], (int)(bytes / 16), 16) ||
        !mor_buffer_reserve(a, &k->kept_islands, count, sizeof(mor_kept_island_of)) ||
        !mor_buffer_reserve(a, &k->kept_of_tree, trees, sizeof(int)))
        return false;
    int* of_tree = k->kept_of_tree.data;
    for (int t = 0; t < trees; t++) of_tree[t] = -1;
    size_t at = 0;
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        if (!came_back[i]) continue;
        int number = k->kept_islands.count++;
        mor_kept_island_of* of = &((mor_kept_island_of*)k->kept_islands.data)[number];
        *of = measure(island);
        of->at = (int)(at / 16);
        layout l = lay_out(of, (char*)k->kept_bytes[1].data + at);
        copy_rows(island, of, &l);
        at += l.size;
        for (int t = 0; t < of->tree_count; t++) of_tree[island->tree_of[t]] = number;
    }
    k->kept_of_tree.count = trees;
    mor_buffer swap = k->kept_bytes[0];
    k->kept_bytes[0] = k->kept_bytes[1];
    k->kept_bytes[1] = swap;
    return true;
}
