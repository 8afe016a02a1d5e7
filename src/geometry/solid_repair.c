/* Meshes as they are found: neighbours that disagree, parts inside out, holes.
 *
 * 1. Orientation. Over an edge with exactly two triangles the two must walk it in opposite directions. A walk from
 *    triangle to triangle over such edges fixes the sign of each relative to the first of its part; the part keeps the
 *    sign that turns fewer of them.
 * 2. Parts inside out. A part (connected over edges) of negative volume is a cavity when it lies inside other parts
 *    (their winding number about one of its points is positive), else it is turned.
 * 3. Holes. The edges that are walked more often one way than the other form closed loops, since the boundary of a
 *    chain has no boundary. Joining each with the mean of its loop's points gives a chain that is closed exactly. A
 *    hole is closed as a soap film would be, roughly: plausible for a few missing triangles, a guess for a lid. Films
 *    of more than a quarter of the surface are refused.
 *
 * Cost: one sort of the edges, linear besides. */
#include "base/union_find.h"
#include "geometry/solid.h"
#include "geometry/surface.h"

#include <stdlib.h>
#include <string.h>

static const double FILM = 0.25; /* share of the surface that may be missing */

/* Edges of all triangles, sorted: index = 3 * face + corner where it begins. */
static mor_edge_key* sorted_edges(const mor_solid* s)
{
    mor_edge_key* keys = mor_arena_alloc(s->arena, 3 * (size_t)s->face_count * sizeof *keys + 1);
    if (!keys) return NULL;
    for (int f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) {
            int a = s->faces[f][k], b = s->faces[f][(k + 1) % 3];
            keys[3 * f + k] = (mor_edge_key){ a < b ? a : b, a < b ? b : a, 3 * f + k };
        }
    qsort(keys, 3 * (size_t)s->face_count, sizeof *keys, mor_compare_edge_keys);
    return keys;
}

static int run_of(const mor_edge_key* keys, int n, int i)
{
    int j = i + 1;
    while (j < n && keys[j].low == keys[i].low && keys[j].high == keys[i].high) j++;
    return j;
}

/* +1 when the edge is walked from its lower to its higher vertex. */
static int way(const mor_solid* s, const mor_edge_key* key)
{
    return s->faces[key->index / 3][key->index % 3] == key->low ? 1 : -1;
}

static void turn(mor_solid* s, int f)
{
    int t = s->faces[f][1];
    s->faces[f][1] = s->faces[f][2];
    s->faces[f][2] = t;
}

/* neighbour[3f+k]: the triangle over that edge where there are exactly two, else -1; agree: they walk it oppositely. */
static int orient(mor_solid* s, const mor_edge_key* keys, int* part, int* parts)
{
    int n = 3 * s->face_count, turned = 0;
    int* neighbour = mor_arena_alloc(s->arena, (size_t)n * sizeof *neighbour + 1);
    signed char* agree = mor_arena_alloc(s->arena, (size_t)n + 1);
    signed char* sign = mor_arena_zero(s->arena, (size_t)s->face_count + 1, 1);
    int* queue = mor_arena_alloc(s->arena, (size_t)s->face_count * sizeof *queue + 1);
    if (!neighbour || !agree || !sign || !queue) return -1;
    for (int i = 0; i < n; i++) neighbour[i] = -1;
    for (int i = 0, j; i < n; i = j) {
        j = run_of(keys, n, i);
        if (j - i != 2) continue;
        int a = keys[i].index, b = keys[i + 1].index;
        neighbour[a] = b / 3;
        neighbour[b] = a / 3;
        agree[a] = agree[b] = way(s, &keys[i]) != way(s, &keys[i + 1]);
    }
    *parts = 0;
    for (int f = 0; f < s->face_count; f++) {
        if (sign[f]) continue;
        int count = 1, against = 0;
        queue[0] = f;
        sign[f] = 1;
        for (int i = 0; i < count; i++) {
            int g = queue[i];
            part[g] = *parts;
            against += sign[g] < 0;
            for (int k = 0; k < 3; k++) {
                int h = neighbour[3 * g + k];
                if (h < 0 || sign[h]) continue;
                sign[h] = (signed char)(agree[3 * g + k] ? sign[g] : -sign[g]);
                queue[count++] = h;
            }
        }
        signed char wrong = 2 * against > count ? 1 : -1;
        for (int i = 0; i < count; i++)
            if (sign[queue[i]] == wrong) {
                turn(s, queue[i]);
                turned++;
            }
        ++*parts;
    }
    return turned;
}

/* The winding number about p of all parts but one, by a ray upward through every triangle. */
static int winding_of_others(const mor_solid* s, const int* part, int own, mor_vec3 p)
{
    int w = 0;
    for (int f = 0; f < s->face_count; f++) {
        if (part[f] == own) continue;
        mor_vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = mor_sub(s->points[s->faces[f][k]], p);
        int around = 0;
        for (int k = 0; k < 3; k++) {
            mor_vec3 a = x[k], b = x[(k + 1) % 3];
            double cross = a.x * b.y - a.y * b.x;
            if (a.y <= 0 && b.y > 0 && cross > 0) around++;
            if (b.y <= 0 && a.y > 0 && cross < 0) around--;
        }
        if (around == 0) continue;
        mor_vec3 normal = mor_cross(mor_sub(x[1], x[0]), mor_sub(x[2], x[0]));
        if (mor_dot(normal, x[0]) / normal.z > 0) w += around;
    }
    return w;
}

/* Turns the parts that are inside out; their number, -1 when out of memory. */
static int turn_parts(mor_solid* s, const int* part, int parts)
{
    mor_moments* sums = mor_arena_zero(s->arena, (size_t)parts + 1, sizeof *sums);
    int* first = mor_arena_alloc(s->arena, ((size_t)parts + 1) * sizeof *first);
    bool* inside_out = mor_arena_zero(s->arena, (size_t)parts + 1, sizeof *inside_out);
    if (!sums || !first || !inside_out) return -1;
    for (int k = 0; k < parts; k++) first[k] = -1;
    for (int f = 0; f < s->face_count; f++) {
        mor_moments* sum = &sums[part[f]];
        if (first[part[f]] < 0) {
            first[part[f]] = f;
            sum->c = s->points[s->faces[f][0]];
        }
        mor_moments_add(sum, s->points[s->faces[f][0]], s->points[s->faces[f][1]], s->points[s->faces[f][2]]);
    }
    int turned = 0;
    for (int k = 0; k < parts; k++) {
        if (sums[k].volume >= 0.0) continue;
        inside_out[k] = parts == 1 || winding_of_others(s, part, k, s->points[s->faces[first[k]][0]]) <= 0;
        turned += inside_out[k];
    }
    for (int f = 0; f < s->face_count; f++)
        if (inside_out[part[f]]) turn(s, f);
    return turned;
}

/* Copies points and faces into arrays with room for more. */
static bool make_room(mor_solid* s, int points, int faces)
{
    mor_vec3* p = mor_arena_alloc(s->arena, (size_t)(s->point_count + points) * sizeof *p + 1);
    int(*f)[3] = mor_arena_alloc(s->arena, (size_t)(s->face_count + faces) * sizeof *f + 1);
    if (!p || !f) return false;
    memcpy(p, s->points, (size_t)s->point_count * sizeof *p);
    memcpy(f, s->faces, (size_t)s->face_count * sizeof *f);
    s->points = p;
    s->faces = f;
    return true;
}

typedef struct film {
    int edges, loops;
    double area;
} film;

/* Joins the loops of open edges with the means of their points. */
static bool close_holes(mor_solid* s, const mor_edge_key* keys, film* out)
{
    int n = 3 * s->face_count, open = 0;
    int* above = mor_arena_alloc(s->arena, (size_t)s->point_count * sizeof *above + 1);
    int* centre = mor_arena_alloc(s->arena, (size_t)s->point_count * sizeof *centre + 1);
    int* uses = mor_arena_zero(s->arena, (size_t)s->point_count + 1, sizeof *uses);
    int* net = mor_arena_zero(s->arena, (size_t)n + 1, sizeof *net); /* of the first key of a run */
    if (!above || !centre || !uses || !net) return false;
    mor_sets_begin(above, s->point_count);
    for (int i = 0; i < s->point_count; i++) centre[i] = -1;
    for (int i = 0, j; i < n; i = j) {
        j = run_of(keys, n, i);
        for (int k = i; k < j; k++) net[i] += way(s, &keys[k]);
        if (net[i] == 0) continue;
        open += abs(net[i]);
        mor_sets_unite(above, keys[i].low, keys[i].high);
    }
    out->edges = open;
    if (open == 0) return true;
    int before = s->point_count;
    if (!make_room(s, before, open)) return false;
    for (int i = 0; i < n; i++) {
        if (net[i] == 0) continue;
        int root = mor_sets_root(above, keys[i].low);
        if (centre[root] < 0) {
            centre[root] = s->point_count;
            s->points[s->point_count++] = mor_v3(0, 0, 0);
            out->loops++;
        }
        mor_vec3* c = &s->points[centre[root]];
        *c = mor_add(*c, mor_add(s->points[keys[i].low], s->points[keys[i].high]));
        uses[root] += 2;
    }
    for (int i = 0; i < before; i++)
        if (centre[i] >= 0) s->points[centre[i]] = mor_scale(1.0 / uses[i], s->points[centre[i]]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < abs(net[i]); k++) {
            int* f = s->faces[s->face_count++];
            f[0] = net[i] > 0 ? keys[i].high : keys[i].low;
            f[1] = net[i] > 0 ? keys[i].low : keys[i].high;
            f[2] = centre[mor_sets_root(above, keys[i].low)];
            mor_vec3 a = s->points[f[0]], b = s->points[f[1]], c = s->points[f[2]];
            out->area += 0.5 * mor_norm(mor_cross(mor_sub(b, a), mor_sub(c, a)));
        }
    return true;
}

bool mor_solid_repair(mor_solid* s, mor_notes* notes, mor_error* error)
{
    double area = 0.0;
    for (int f = 0; f < s->face_count; f++) {
        mor_vec3 a = s->points[s->faces[f][0]], b = s->points[s->faces[f][1]], c = s->points[s->faces[f][2]];
        area += 0.5 * mor_norm(mor_cross(mor_sub(b, a), mor_sub(c, a)));
    }
    mor_edge_key* keys = sorted_edges(s);
    int* part = mor_arena_alloc(s->arena, (size_t)s->face_count * sizeof *part + 1);
    int parts = 0, turned = keys && part ? orient(s, keys, part, &parts) : -1;
    film hole = { 0 };
    if (turned > 0) keys = sorted_edges(s);
    if (turned < 0 || !keys || !close_holes(s, keys, &hole)) {
        mor_fail(error, MOR_SYSTEM, "mesh: out of memory");
        return false;
    }
    if (hole.area > FILM * area) {
        mor_fail(error, MOR_BAD_INPUT,
                 "mesh: the surface is open: %d edges have only one face and what is missing has about %.0f %% of its "
                 "area; close the holes, or give the wall its thickness",
                 hole.edges, 100.0 * hole.area / (area + hole.area));
        return false;
    }
    if (turned) mor_note(notes, "%d triangle%s turned to agree with the others", turned, turned == 1 ? "" : "s");
    if (hole.edges)
        mor_note(notes, "%d hole%s of %d edges closed by %s (%.2g %% of the surface)", hole.loops,
                 hole.loops == 1 ? "" : "s", hole.edges, hole.loops == 1 ? "a fan" : "fans",
                 100.0 * hole.area / (area + hole.area));
    if (hole.edges) { /* the parts have changed */
        keys = sorted_edges(s);
        part = mor_arena_alloc(s->arena, (size_t)s->face_count * sizeof *part + 1);
        if (keys && part) turned = orient(s, keys, part, &parts);
    }
    int inside_out = keys && part && turned >= 0 ? turn_parts(s, part, parts) : -1;
    if (inside_out < 0) {
        mor_fail(error, MOR_SYSTEM, "mesh: out of memory");
        return false;
    }
    if (inside_out) mor_note(notes, "inside-out: %s turned", parts == 1 ? "all faces" : "the faces of some parts");
    return true;
}
