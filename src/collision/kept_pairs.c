/* Pairs at rest.
 *
 * The contacts of two shapes follow from their poses and velocities, the step, gravity, materials and options. Where
 * none of these has changed since the last detection they are copied. Only pairs whose bodies have no velocity at all
 * are kept (step/rest.c sets it to 0), so that scenes in motion pay nothing. */
#include "collision/kept_pairs.h"

#include <string.h>

static bool comes_before(const mor_kept_pair* a, int i, int j) { return a->i < i || (a->i == i && a->j < j); }

const mor_kept_pair* mor_kept_find(const mor_kept_pairs* kept, int* cursor, int i, int j)
{
    const mor_kept_pair* pairs = kept->pairs.data;
    while (*cursor < kept->pairs.count && comes_before(&pairs[*cursor], i, j)) ++*cursor;
    bool hit = *cursor < kept->pairs.count && pairs[*cursor].i == i && pairs[*cursor].j == j;
    return hit ? &pairs[*cursor] : NULL;
}

int mor_kept_from(const mor_kept_pairs* kept, int i, int j)
{
    const mor_kept_pair* pairs = kept->pairs.data;
    int low = 0, high = kept->pairs.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        bool before = comes_before(&pairs[middle], i, j);
        *(before ? &low : &high) = before ? middle + 1 : middle;
    }
    return low;
}

bool mor_kept_add(const mor_allocator* allocator, mor_kept_pairs* kept, const mor_kept_pair* pair,
                  const mor_contact* contacts)
{
    int first = kept->contacts.count;
    if (!mor_buffer_reserve(allocator, &kept->pairs, kept->pairs.count + 1, sizeof *pair) ||
        !mor_buffer_reserve(allocator, &kept->contacts, first + pair->count, sizeof *contacts))
        return false;
    if (pair->count > 0)
        memcpy((mor_contact*)kept->contacts.data + first, contacts, (size_t)pair->count * sizeof *contacts);
    kept->contacts.count += pair->count;
    mor_kept_pair* to = &((mor_kept_pair*)kept->pairs.data)[kept->pairs.count++];
    *to = *pair;
    to->first = first;
    return true;
}

bool mor_kept_append(const mor_allocator* allocator, mor_kept_pairs* to, const mor_kept_pairs* from)
{
    const mor_kept_pair* pairs = from->pairs.data;
    const mor_contact* contacts = from->contacts.data;
    for (int i = 0; i < from->pairs.count; i++)
        if (!mor_kept_add(allocator, to, &pairs[i], contacts + pairs[i].first)) return false;
    return true;
}

void mor_kept_empty(mor_kept_pairs* kept) { kept->pairs.count = kept->contacts.count = 0; }

void mor_kept_free(const mor_allocator* allocator, mor_kept_pairs* kept)
{
    mor_buffer_free(allocator, &kept->pairs);
    mor_buffer_free(allocator, &kept->contacts);
}
