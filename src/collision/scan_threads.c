/* Pairs by threads: runs of pairs are looked at apart, each with lists of its own, which are put together in the order
 * of the pairs: the same contacts in the same order with any number of threads. */
#include "base/elementary.h"
#include "collision/scan.h"

#include <string.h>

/* how many pairs are worth it */
enum { MANY_PAIRS = 256 };

typedef struct shared_scan {
    const mor_scan* all;
    const mor_index_pair* pairs;
    int count;
    mor_found found[MOR_SCAN_PARTS];
    mor_code code[MOR_SCAN_PARTS];
    mor_error error[MOR_SCAN_PARTS];
    int at[MOR_SCAN_PARTS][3]; /* where its contacts, touches and cached pairs begin */
} shared_scan;

/* The first cached pair that is not before (i, j). */
static int cached_from(const mor_buffer* cache, int i, int j)
{
    const mor_cached_pair* pairs = cache->data;
    int low = 0, high = cache->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        bool before = pairs[middle].i < i || (pairs[middle].i == i && pairs[middle].j < j);
        *(before ? &low : &high) = before ? middle + 1 : middle;
    }
    return low;
}

static void test_run(mor_scan* k, const mor_index_pair* pairs, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        int before = k->found->contacts->count;
        mor_scan_pair(k, pairs[i].i, pairs[i].i, pairs[i].j, true);
        if (k->met) k->met[i] = k->found->contacts->count > before;
    }
}

static void scan_part(void* user, int index, int worker)
{
    (void)worker;
    shared_scan* shared = user;
    mor_scan_part* own = &shared->all->bp->parts[index];
    int begin = (int)((int64_t)shared->count * index / MOR_SCAN_PARTS),
        end = (int)((int64_t)shared->count * (index + 1) / MOR_SCAN_PARTS);
    own->contacts.count = own->touches.count = own->cache.count = 0;
    mor_scan k = *shared->all;
    shared->found[index] = *k.found;
    shared->found[index].contacts = &own->contacts;
    k.found = &shared->found[index];
    k.error = &shared->error[index];
    k.fresh = &own->cache, k.touches = &own->touches;
    if (k.keep) k.keep = &own->kept;
    mor_kept_empty(&own->kept);
    if (begin < end) {
        const mor_index_pair* at = &shared->pairs[begin];
        k.cursor = cached_from(&k.bp->cache[0], at->i, at->j);
        k.kept_cursor = k.kept ? mor_kept_from(k.kept, at->i, at->j) : 0;
    }
    test_run(&k, shared->pairs, begin, end);
    shared->code[index] = k.code;
}

/* Copies what a part found to its place in the lists of all. */
static void move_part(void* user, int index, int worker)
{
    (void)worker;
    const shared_scan* shared = user;
    const mor_scan* k = shared->all;
    const mor_scan_part* p = &k->bp->parts[index];
    const int* at = shared->at[index];
    mor_contact* contacts = (mor_contact*)k->found->contacts->data + at[0];
    mor_touch* touches = (mor_touch*)k->touches->data + at[1];
    if (p->contacts.count) memcpy(contacts, p->contacts.data, (size_t)p->contacts.count * sizeof *contacts);
    if (p->touches.count) memcpy(touches, p->touches.data, (size_t)p->touches.count * sizeof *touches);
    if (p->cache.count)
        memcpy((mor_cached_pair*)k->fresh->data + at[2], p->cache.data,
               (size_t)p->cache.count * sizeof(mor_cached_pair));
    for (int t = 0; t < p->touches.count; t++) touches[t].first += at[0];
}

/* What the parts found, in their order. The first that failed decides. */
static void put_together(mor_scan* k, shared_scan* shared)
{
    const mor_allocator* allocator = &k->w->allocator;
    int count[3] = { k->found->contacts->count, k->touches->count, k->fresh->count };
    for (int i = 0; i < MOR_SCAN_PARTS && !k->code; i++) {
        const mor_scan_part* p = &k->bp->parts[i];
        memcpy(shared->at[i], count, sizeof count);
        count[0] += p->contacts.count, count[1] += p->touches.count, count[2] += p->cache.count;
        k->found->deepest = mor_max(k->found->deepest, shared->found[i].deepest);
        k->code = shared->code[i];
        if (k->code && k->error) *k->error = shared->error[i];
        if (!k->code && k->keep && !mor_kept_append(allocator, k->keep, &p->kept)) k->code = MOR_SYSTEM;
    }
    if (k->code) return;
    if (!mor_buffer_reserve(allocator, k->found->contacts, count[0], sizeof(mor_contact)) ||
        !mor_buffer_reserve(allocator, k->touches, count[1], sizeof(mor_touch)) ||
        !mor_buffer_reserve(allocator, k->fresh, count[2], sizeof(mor_cached_pair))) {
        k->code = MOR_SYSTEM;
        return;
    }
    mor_workers_run(k->found->workers, MOR_SCAN_PARTS, move_part, shared);
    k->found->contacts->count = count[0], k->touches->count = count[1], k->fresh->count = count[2];
}

void mor_scan_pairs(mor_scan* k, const mor_index_pair* pairs, int count)
{
    if (k->found->workers && !k->narrow && count >= MANY_PAIRS && !k->code) {
        shared_scan shared = { .all = k, .pairs = pairs, .count = count };
        mor_workers_run(k->found->workers, MOR_SCAN_PARTS, scan_part, &shared);
        put_together(k, &shared);
        return;
    }
    test_run(k, pairs, 0, count);
}
