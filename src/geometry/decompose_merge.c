/* Joining convex pieces that are better as one.
 *
 * Cuts are greedy; some separate what a later cut made needless. For every pair whose bounds meet, the volume that a
 * common hull would add is computed. The cheapest pair is joined, as long as the volume added by all hulls stays within
 * the goal and the new hull keeps the distance. A hull may then reach into other pieces, by no more than the volume it
 * adds; the sum of volumes stays an upper bound of the union. */
#include "base/elementary.h"
#include "geometry/decompose.h"

#include <string.h>

typedef struct merging {
    mor_decomposer* d;
    double* added; /* [i * count + j], i < j: by a common hull; infinite: not to be joined */
    int count;     /* before any was joined */
    bool* gone;
    mor_vec3 *low, *high; /* bounds of the hulls */
    bool failed;
} merging;

static void bounds(merging* m, int i)
{
    const mor_cut_piece* p = &m->d->pieces[i];
    m->low[i] = m->high[i] = p->hull[0];
    for (int k = 1; k < p->hull_count; k++) {
        m->low[i] = mor_min3(m->low[i], p->hull[k]);
        m->high[i] = mor_max3(m->high[i], p->hull[k]);
    }
}

static int both(const merging* m, int i, int j, mor_vec3* points)
{
    const mor_cut_piece *p = &m->d->pieces[i], *q = &m->d->pieces[j];
    memcpy(points, p->hull, (size_t)p->hull_count * sizeof *points);
    memcpy(points + p->hull_count, q->hull, (size_t)q->hull_count * sizeof *points);
    return p->hull_count + q->hull_count;
}

static double added_by(merging* m, int i, int j)
{
    double slack = m->d->tolerance;
    for (int k = 0; k < 3; k++)
        if (mor_axis(m->low[i], k) > mor_axis(m->high[j], k) + slack ||
            mor_axis(m->low[j], k) > mor_axis(m->high[i], k) + slack)
            return INFINITY;
    const mor_cut_piece *p = &m->d->pieces[i], *q = &m->d->pieces[j];
    size_t mark = mor_arena_mark(m->d->scratch);
    mor_vec3* points = mor_arena_alloc(m->d->scratch, (size_t)(p->hull_count + q->hull_count) * sizeof *points);
    mor_hull_measure hull = { 0 };
    m->failed = m->failed || !points || !mor_hull_measure_of(m->d->scratch, points, both(m, i, j, points), true, &hull);
    mor_arena_release(m->d->scratch, mark);
    return hull.volume > 0.0 ? hull.volume - p->hull_volume - q->hull_volume : INFINITY;
}

/* Makes piece i of both; false (and the pair is not tried again) when it misses the goal. */
static bool join(merging* m, int i, int j)
{
    mor_decomposer* d = m->d;
    mor_cut_piece *p = &d->pieces[i], *q = &d->pieces[j];
    mor_cut_piece joined = { .hull_volume = p->hull_volume + q->hull_volume + m->added[i * m->count + j],
                             .missed = mor_max(p->missed, q->missed) };
    joined.hull = mor_arena_alloc(d->arena, (size_t)(p->hull_count + q->hull_count) * sizeof *joined.hull);
    size_t mark = mor_arena_mark(d->scratch);
    int *kept = NULL, n = 0;
    mor_vec3* points = mor_arena_alloc(d->scratch, (size_t)(p->hull_count + q->hull_count) * sizeof *points);
    if (points) {
        n = both(m, i, j, points);
        kept = mor_arena_alloc(d->scratch, (size_t)n * sizeof *kept);
    }
    mor_hull_measure hull = { 0 };
    if (kept) joined.hull_count = mor_hull_coarse(d->scratch, points, n, 0.01 * d->tolerance, kept);
    m->failed = m->failed || !joined.hull || !kept || joined.hull_count < 0;
    if (!m->failed && joined.hull_count > 0) {
        for (int k = 0; k < joined.hull_count; k++) joined.hull[k] = points[kept[k]];
        m->failed = !mor_hull_measure_of(d->scratch, joined.hull, joined.hull_count, false, &hull);
        joined.hull_volume = hull.volume;
        joined.distance = mor_piece_distance(d, &hull, joined.hull, 2.0 * d->goal, 0.25 * d->goal);
    }
    mor_arena_release(d->scratch, mark);
    if (m->failed || joined.hull_count <= 0 || joined.distance > d->goal) return false;
    joined.mass = mor_mass_combine((mor_mass[]){ p->mass, q->mass }, 2);
    *p = joined;
    return true;
}

static void join_all(merging* m, double room)
{
    for (;;) {
        int a = -1, b = -1;
        double least = INFINITY;
        for (int i = 0; i < m->count; i++)
            for (int j = i + 1; j < m->count && !m->gone[i]; j++)
                if (!m->gone[j] && m->added[i * m->count + j] < least) {
                    least = m->added[i * m->count + j];
                    a = i;
                    b = j;
                }
        if (a < 0 || least > room || m->failed) return;
        if (!join(m, a, b)) {
            m->added[a * m->count + b] = INFINITY;
            continue;
        }
        room -= mor_max(0.0, least);
        m->gone[b] = true;
        bounds(m, a);
        for (int k = 0; k < m->count; k++)
            if (k != a && !m->gone[k]) {
                int low = k < a ? k : a, high = k < a ? a : k;
                m->added[low * m->count + high] = added_by(m, low, high);
            }
    }
}

bool mor_decompose_merge(mor_decomposer* d)
{
    size_t n = (size_t)d->count;
    merging m = { .d = d, .count = d->count };
    double room = d->excess;
    for (int i = 0; i < d->count; i++) room -= mor_max(0.0, d->pieces[i].hull_volume - d->pieces[i].mass.mass);
    if (room <= 0.0 || n < 2) return true;
    m.added = mor_arena_alloc(d->arena, n * n * sizeof *m.added);
    m.gone = mor_arena_zero(d->arena, n, sizeof *m.gone);
    m.low = mor_arena_alloc(d->arena, n * sizeof *m.low);
    m.high = mor_arena_alloc(d->arena, n * sizeof *m.high);
    if (!m.added || !m.gone || !m.low || !m.high) return false;
    for (int i = 0; i < d->count; i++) bounds(&m, i);
    for (int i = 0; i < d->count; i++)
        for (int j = i + 1; j < d->count; j++) m.added[i * m.count + j] = added_by(&m, i, j);
    join_all(&m, room);
    int kept = 0;
    for (int i = 0; i < m.count; i++)
        if (!m.gone[i]) d->pieces[kept++] = d->pieces[i];
    d->count = kept;
    return !m.failed;
}
