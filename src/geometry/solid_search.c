/* Two questions to a solid: is a point inside, and how far is it from the surface.
 *
 * Inside: the triangles are listed by squares of the x, y plane; a ray upward from p meets only those of its square.
 * The signed number of the ones above p is the winding number. The edges of a triangle count half-open in y and the
 * side of p is computed from the lower to the higher end, so that of the triangles around an edge or a vertex exactly
 * those are met that a ray moved by a hair would meet.
 *
 * Distance: a tree of boxes over the triangles, cut at the median along the longest side; the nearer box first, boxes
 * farther than the best so far not at all. Distance to a triangle by the region of the foot point: C. Ericson (2005),
 * Real-Time Collision Detection, section 5.1.5. */
#include "base/elementary.h"
#include "geometry/solid.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 6, DEPTH = 64, COLUMNS = 128 };

static int square_of(const mor_solid* s, double at, int axis)
{
    double low = axis ? s->low.y : s->low.x, size = axis ? s->high.y - s->low.y : s->high.x - s->low.x;
    int i = size > 0.0 ? (int)((at - low) / size * s->columns) : 0;
    return i < 0 ? 0 : i >= s->columns ? s->columns - 1 : i;
}

static void squares(const mor_solid* s, int f, int box[4])
{
    mor_vec3 a = s->points[s->faces[f][0]], b = s->points[s->faces[f][1]], c = s->points[s->faces[f][2]];
    mor_vec3 low = mor_min3(a, mor_min3(b, c)), high = mor_max3(a, mor_max3(b, c));
    box[0] = square_of(s, low.x, 0);
    box[1] = square_of(s, high.x, 0);
    box[2] = square_of(s, low.y, 1);
    box[3] = square_of(s, high.y, 1);
}

static bool make_columns(mor_solid* s)
{
    int n = 4;
    while (n < COLUMNS && n * n < s->face_count) n *= 2;
    s->columns = n;
    s->column_start = mor_arena_zero(s->arena, (size_t)n * (size_t)n + 2, sizeof *s->column_start);
    if (!s->column_start) return false;
    int box[4];
    for (int f = 0; f < s->face_count; f++) {
        squares(s, f, box);
        for (int i = box[0]; i <= box[1]; i++)
            for (int j = box[2]; j <= box[3]; j++) s->column_start[i * n + j + 2]++;
    }
    for (int k = 2; k < n * n + 2; k++) s->column_start[k] += s->column_start[k - 1];
    s->column_faces = mor_arena_alloc(s->arena, ((size_t)s->column_start[n * n + 1] + 1) * sizeof *s->column_faces);
    if (!s->column_faces) return false;
    for (int f = 0; f < s->face_count; f++) {
        squares(s, f, box);
        for (int i = box[0]; i <= box[1]; i++)
            for (int j = box[2]; j <= box[3]; j++) s->column_faces[s->column_start[i * n + j + 1]++] = f;
    }
    return true;
}

/* p is left of the edge from a to b; the same number for b to a, with the other sign. */
static bool left_of(mor_vec3 a, mor_vec3 b, mor_vec3 p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0.0;
}

int mor_solid_winding(const mor_solid* s, mor_vec3 p)
{
    if (p.x < s->low.x || p.x > s->high.x || p.y < s->low.y || p.y > s->high.y || p.z < s->low.z || p.z > s->high.z)
        return 0;
    int w = 0, at = square_of(s, p.x, 0) * s->columns + square_of(s, p.y, 1);
    for (int i = s->column_start[at]; i < s->column_start[at + 1]; i++) {
        const int* f = s->faces[s->column_faces[i]];
        int around = 0;
        for (int k = 0; k < 3; k++) {
            mor_vec3 a = s->points[f[k]], b = s->points[f[(k + 1) % 3]];
            if (a.y <= p.y && b.y > p.y) around += left_of(a, b, p);
            else if (b.y <= p.y && a.y > p.y) around -= left_of(b, a, p);
        }
        if (around == 0) continue;
        mor_vec3 a = s->points[f[0]];
        mor_vec3 n = mor_cross(mor_sub(s->points[f[1]], a), mor_sub(s->points[f[2]], a));
        if (n.z != 0.0 && mor_dot(n, mor_sub(a, p)) / n.z > 0.0) w += around;
    }
    return w;
}

/* ------------------------------------------------------------------------------ distance */

typedef struct sort_key {
    double at;
    int face;
} sort_key;

static int compare_keys(const void* a, const void* b)
{
    const sort_key *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static void split(mor_solid* s, sort_key* keys, int node, int first, int count)
{
    mor_solid_box* box = &s->boxes[node];
    box->low = mor_v3(INFINITY, INFINITY, INFINITY);
    box->high = mor_neg(box->low);
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < 3; k++) {
            mor_vec3 p = s->points[s->faces[s->order[i]][k]];
            box->low = mor_min3(box->low, p);
            box->high = mor_max3(box->high, p);
        }
    box->first = first;
    box->count = count;
    if (count <= LEAF) return;
    mor_vec3 size = mor_sub(box->high, box->low);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    for (int i = first; i < first + count; i++) {
        const int* f = s->faces[s->order[i]];
        double sum =
            mor_axis(s->points[f[0]], axis) + mor_axis(s->points[f[1]], axis) + mor_axis(s->points[f[2]], axis);
        keys[i] = (sort_key){ sum, s->order[i] };
    }
    qsort(keys + first, (size_t)count, sizeof *keys, compare_keys);
    for (int i = first; i < first + count; i++) s->order[i] = keys[i].face;
    int half = count / 2, child = s->box_count;
    s->box_count += 2;
    box->first = child;
    box->count = 0;
    split(s, keys, child, first, half);
    split(s, keys, child + 1, first + half, count - half);
}

bool mor_solid_prepare(mor_solid* s)
{
    if (!make_columns(s)) return false;
    size_t n = (size_t)s->face_count;
    s->order = mor_arena_alloc(s->arena, (n + 1) * sizeof *s->order);
    s->boxes = mor_arena_alloc(s->arena, (2 * n + 2) * sizeof *s->boxes);
    sort_key* keys = mor_arena_alloc(s->arena, (n + 1) * sizeof *keys);
    if (!s->order || !s->boxes || !keys) return false;
    for (int f = 0; f < s->face_count; f++) s->order[f] = f;
    s->box_count = 1;
    split(s, keys, 0, 0, s->face_count);
    return true;
}

/* Square of the distance of p from a box. */
static double box_distance(const mor_solid_box* box, mor_vec3 p)
{
    mor_vec3 d = mor_sub(p, mor_max3(box->low, mor_min3(p, box->high)));
    return mor_dot(d, d);
}

static mor_vec3 foot(mor_vec3 a, mor_vec3 b, mor_vec3 c, mor_vec3 p)
{
    mor_vec3 ab = mor_sub(b, a), ac = mor_sub(c, a), ap = mor_sub(p, a);
    double d1 = mor_dot(ab, ap), d2 = mor_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return a;
    mor_vec3 bp = mor_sub(p, b);
    double d3 = mor_dot(ab, bp), d4 = mor_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return b;
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return mor_madd(a, d1 / (d1 - d3), ab);
    mor_vec3 cp = mor_sub(p, c);
    double d5 = mor_dot(ab, cp), d6 = mor_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return c;
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return mor_madd(a, d2 / (d2 - d6), ac);
    double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return mor_madd(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), mor_sub(c, b));
    double sum = va + vb + vc;
    return mor_madd(mor_madd(a, vb / sum, ab), vc / sum, ac);
}

double mor_solid_distance(const mor_solid* s, mor_vec3 p, double enough)
{
    int stack[2 * DEPTH], top = 0;
    double best = INFINITY, stop = enough > 0.0 ? enough * enough : 0.0;
    stack[top++] = 0;
    while (top > 0 && best > stop) {
        const mor_solid_box* box = &s->boxes[stack[--top]];
        if (box_distance(box, p) >= best) continue;
        if (box->count) {
            for (int i = box->first; i < box->first + box->count; i++) {
                const int* f = s->faces[s->order[i]];
                mor_vec3 d = mor_sub(p, foot(s->points[f[0]], s->points[f[1]], s->points[f[2]], p));
                best = mor_min(best, mor_dot(d, d));
            }
            continue;
        }
        double left = box_distance(&s->boxes[box->first], p), right = box_distance(&s->boxes[box->first + 1], p);
        stack[top++] = left <= right ? box->first + 1 : box->first;
        stack[top++] = left <= right ? box->first : box->first + 1;
    }
    return sqrt(best);
}
