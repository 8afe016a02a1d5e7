/* A solid bounded by triangles: what a mesh file means when it is not convex.
 *
 * The surface is a chain of oriented triangles. It is closed when every edge is walked as often one way as the other;
 * then the winding number w(p), the signed number of triangles met by a ray from p, does not depend on the ray, and the
 * solid is the set w > 0. Volume and moments are sums over signed tetrahedra (a, b, d, c) with any point c:
 *     V = sum D / 6,  first = sum D s / 24,  S = sum D (a a' + b b' + d d' + s s') / 120,  D = a . (b x d),  s = a+b+d
 * with a, b, d relative to c (mass.c has the same for convex polyhedra). They need no other property of the surface:
 * it may have holes through it, cavities, several parts. Where it overlaps itself w > 1 and counts w times; that is
 * told.
 *
 * B. Mirtich (1996), Fast and accurate computation of polyhedral mass properties, J. Graphics Tools 1(2). */
#include "geometry/solid.h"
#include "base/elementary.h"
#include "geometry/surface.h"

#include <stdio.h>
#include <string.h>

void mor_moments_add(mor_moments* sum, mor_vec3 p, mor_vec3 q, mor_vec3 r)
{
    mor_vec3 x[4] = { mor_sub(p, sum->c), mor_sub(q, sum->c), mor_sub(r, sum->c), { 0, 0, 0 } };
    double D = mor_dot(x[0], mor_cross(x[1], x[2]));
    x[3] = mor_add(x[0], mor_add(x[1], x[2]));
    sum->volume += D / 6;
    sum->first = mor_madd(sum->first, D / 24, x[3]);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) sum->second.m[i][j] += D / 120 * mor_axis(x[k], i) * mor_axis(x[k], j);
}

mor_mass mor_moments_mass(const mor_moments* sum)
{
    if (!(sum->volume > 0.0)) return (mor_mass){ 0 };
    mor_vec3 x = mor_scale(1.0 / sum->volume, sum->first);
    double S[3][3], trace = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[i][j] = sum->second.m[i][j] - sum->volume * mor_axis(x, i) * mor_axis(x, j);
    for (int i = 0; i < 3; i++) trace += S[i][i];
    mor_mass out = { sum->volume, mor_add(sum->c, x), { { { 0 } } } };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.inertia.m[i][j] = (i == j ? trace : 0.0) - 0.5 * (S[i][j] + S[j][i]);
    return out;
}

/* Points used by faces, welded; triangles with three different corners. */
static bool take_triangles(mor_solid* s, const mor_face_loops* in, mor_notes* notes)
{
    size_t corners = 0, n = (size_t)in->point_count;
    for (int f = 0; f < in->count; f++) corners += (size_t)in->sizes[f];
    int* first = mor_arena_alloc(s->arena, (n + 1) * sizeof *first);
    int* number = mor_arena_alloc(s->arena, (n + 1) * sizeof *number);
    s->points = mor_arena_alloc(s->arena, (n + 1) * sizeof *s->points);
    s->faces = mor_arena_alloc(s->arena, (corners + 1) * sizeof *s->faces);
    if (!first || !number || !s->points || !s->faces) return false;
    if (!mor_points_weld(s->arena, in->points, in->point_count, MOR_TOLERANCE_MESH * s->diagonal, first)) return false;
    int welded = 0, dropped = 0;
    for (int i = 0; i < in->point_count; i++) {
        welded += first[i] != i;
        number[i] = first[i] == i ? s->point_count : number[first[i]];
        if (first[i] == i) s->points[s->point_count++] = in->points[i];
    }
    const int* v = in->vertices;
    for (int f = 0; f < in->count; v += in->sizes[f], f++)
        for (int k = 1; k + 1 < in->sizes[f]; k++) {
            int a = number[v[0]], b = number[v[k]], c = number[v[k + 1]];
            if (a == b || b == c || c == a) {
                dropped++;
                continue;
            }
            s->faces[s->face_count][0] = a;
            s->faces[s->face_count][1] = b;
            s->faces[s->face_count++][2] = c;
        }
    if (welded) mor_note(notes, "%d duplicate vert%s welded", welded, welded == 1 ? "ex" : "ices");
    if (dropped) mor_note(notes, "%d triangle%s without area dropped", dropped, dropped == 1 ? "" : "s");
    return true;
}

static void measure(mor_solid* s)
{
    mor_moments sum = { .c = mor_lerp(s->low, s->high, 0.5) };
    s->area = 0.0;
    for (int f = 0; f < s->face_count; f++) {
        mor_vec3 a = s->points[s->faces[f][0]], b = s->points[s->faces[f][1]], c = s->points[s->faces[f][2]];
        mor_moments_add(&sum, a, b, c);
        s->area += 0.5 * mor_norm(mor_cross(mor_sub(b, a), mor_sub(c, a)));
    }
    s->unit = mor_moments_mass(&sum);
}

/* The share of the volume that is counted more than once, on a grid of points: parts that overlap. */
static void tell_overlap(const mor_solid* s, mor_notes* notes)
{
    enum { N = 24 };
    int once = 0, more = 0;
    mor_vec3 size = mor_sub(s->high, s->low);
    for (int i = 0; i < N * N * N; i++) {
        /* off the middle, so that the planes of symmetric parts are missed */
        mor_vec3 p = mor_v3(s->low.x + size.x * (i % N + 0.4871) / N, s->low.y + size.y * (i / N % N + 0.5123) / N,
                            s->low.z + size.z * (i / N / N + 0.5039) / N);
        int w = mor_solid_winding(s, p);
        once += w > 0;
        more += w > 1 ? w - 1 : 0;
    }
    if (more > 2 && 100 * more > once)
        mor_note(notes, "it overlaps itself: about %.0f %% of the volume counts twice in the mass",
                 100.0 * more / once);
}

bool mor_solid_take(mor_solid* s, mor_arena* arena, const mor_face_loops* in, mor_notes* notes, mor_error* error)
{
    *s = (mor_solid){ .arena = arena };
    if (in->count < 1 || in->point_count < 4) {
        mor_fail(error, MOR_BAD_INPUT, "mesh: %d points and %d faces; a solid needs at least 4 of both",
                 in->point_count, in->count);
        return false;
    }
    if (in->count > 1000000) {
        mor_fail(error, MOR_BAD_INPUT, "mesh: %d faces; at most 1000000 are cut into convex pieces; simplify it",
                 in->count);
        return false;
    }
    if (!mor_points_ok("mesh", in->points, in->point_count, error)) return false;
    s->low = s->high = in->points[in->vertices[0]];
    const int* v = in->vertices;
    for (int f = 0; f < in->count; v += in->sizes[f], f++)
        for (int k = 0; k < in->sizes[f]; k++) {
            if (v[k] < 0 || v[k] >= in->point_count) {
                mor_fail(error, MOR_BAD_INPUT, "mesh: face %d names vertex %d; there are vertices 0 to %d", f, v[k],
                         in->point_count - 1);
                return false;
            }
            s->low = mor_min3(s->low, in->points[v[k]]);
            s->high = mor_max3(s->high, in->points[v[k]]);
        }
    s->diagonal = mor_norm(mor_sub(s->high, s->low));
    if (!mor_length_ok("mesh", "diagonal of its bounds", s->diagonal, error)) return false;
    if (!take_triangles(s, in, notes)) {
        mor_fail(error, MOR_SYSTEM, "mesh: out of memory");
        return false;
    }
    if (!mor_solid_repair(s, notes, error)) return false;
    measure(s);
    if (!(s->unit.mass > MOR_TOLERANCE_MESH * s->diagonal * s->area)) {
        mor_fail(error, MOR_BAD_INPUT,
                 "mesh: it encloses no volume (%g m^3 within a surface of %g m^2); a solid needs thickness",
                 s->unit.mass, s->area);
        return false;
    }
    if (!mor_solid_prepare(s)) {
        mor_fail(error, MOR_SYSTEM, "mesh: out of memory");
        return false;
    }
    tell_overlap(s, notes);
    return true;
}
