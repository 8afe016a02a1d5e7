/* Approximate convex decomposition: a solid that is not convex as a few convex pieces.
 *
 * Wanted are convex sets H_1 ... H_k whose union U is close to the solid S: Hausdorff distance at most g = concavity *
 * diagonal of the bounds, and volume in excess, sum vol H_i - vol S, at most concavity * vol S.
 *
 * S is cut by planes into parts S_i, exactly (part.c). H_i is the convex hull of S_i, so S lies in U, and since each
 * H_i stays in the convex cell of its cuts the hulls do not overlap and their volumes add up. What remains is the other
 * half of the Hausdorff distance, the farthest point of a hull from S: sampled on the faces of the hull and, for
 * cavities, on a grid inside it, each sample measured exactly against the mesh (solid_search.c).
 *
 *     while there are fewer pieces than allowed and the goals are not met:
 *         take the piece that misses its goals most,
 *             (vol H_i - vol S_i) / (concavity vol S)  +  (dist H_i / g where above g)
 *         cut it by the plane that leaves the least vol H' + vol H''  (decompose_cut.c)
 *     join pieces while the goals still hold                            (decompose_merge.c)
 *
 * This is greedy. When the goals are not met it is done again with another price of unequal halves, and the better
 * answer is taken.
 *
 * Hulls have only the corners needed to be right within g / 8 (hull_measure.c). Mass properties are those of the S_i:
 * their sum is exactly that of the mesh, whatever the hulls are. Cuts are tried on a mesh of at most about 2000
 * triangles: vertices clustered in a grid, which keeps a closed chain closed; they are then made in the full mesh.
 *
 * Every order is fixed by indices: the same input gives the same bits. Cost: about 50 hulls of a part per cut.
 *
 * K. Mamou, F. Ghorbel (2009), A simple and efficient approach for 3D mesh approximate convex decomposition, ICIP.
 * X. Wei, M. Liu, Z. Ling, H. Su (2022), Approximate convex decomposition for 3D meshes with collision-aware concavity
 * and tree search, ACM TOG 41(4). Cutting at notches: B. Chazelle (1984), Convex partitions of polyhedra, SIAM J.
 * Comput. 13(3). */
#include "geometry/decompose.h"
#include "base/elementary.h"
#include "base/failed.h"
#include "geometry/mass.h"

#include <stdio.h>
#include <string.h>

/* Prices of unequal halves; the next is tried when the goals are not met. */
static const double BALANCES[] = { 0.2, 0.02 };

enum { COARSE_FACES = 2000, PIECES_MAX = 1024 };

/* -------------------------------------------------------------------- distance of a hull */

double mor_piece_distance(const mor_decomposer* d, const mor_hull_measure* hull, const mor_vec3* points, double spacing,
                          double least)
{
    const mor_solid* s = &d->solid;
    double most = least;
    mor_vec3 low = mor_v3(INFINITY, INFINITY, INFINITY), high = mor_neg(low);
    for (int f = 0; f < hull->triangle_count; f++) {
        const int* t = hull->triangles[f];
        mor_vec3 a = points[t[0]], ab = mor_sub(points[t[1]], a), ac = mor_sub(points[t[2]], a);
        low = mor_min3(low, mor_min3(a, mor_min3(points[t[1]], points[t[2]])));
        high = mor_max3(high, mor_max3(a, mor_max3(points[t[1]], points[t[2]])));
        double side = mor_max(mor_norm(ab), mor_max(mor_norm(ac), mor_norm(mor_sub(ab, ac))));
        int n = (int)mor_min(200.0, ceil(side / spacing));
        for (int i = 0; i <= n; i++)
            for (int j = 0; i + j <= n; j++) {
                mor_vec3 p = mor_madd(mor_madd(a, (double)i / n, ab), (double)j / n, ac);
                double distance = mor_solid_distance(s, p, most);
                if (distance > most && mor_solid_winding(s, p) <= 0) most = distance;
            }
    }
    double step = 2.0 * spacing;
    for (double x = low.x + 0.5 * step; x < high.x; x += step)
        for (double y = low.y + 0.5 * step; y < high.y; y += step)
            for (double z = low.z + 0.5 * step; z < high.z; z += step) {
                mor_vec3 p = mor_v3(x, y, z);
                bool inside = true;
                for (int f = 0; f < hull->plane_count && inside; f++)
                    inside = mor_dot(hull->planes[f].normal, p) <= hull->planes[f].offset;
                double distance = inside ? mor_solid_distance(s, p, most) : 0.0;
                if (distance > most && mor_solid_winding(s, p) <= 0) most = distance;
            }
    return most;
}

/* ------------------------------------------------------------------------------- a piece */

/* The points of a part that matter for its hull: corners of the full hull when there are many. */
static mor_vec3* hull_points(mor_decomposer* d, const mor_part* part, int* count)
{
    int n = part->point_count + part->corner_count;
    mor_vec3* points = mor_arena_alloc(d->scratch, ((size_t)n + 1) * sizeof *points);
    if (!points) return NULL;
    if (part->point_count) memcpy(points, part->points, (size_t)part->point_count * sizeof *points);
    if (part->corner_count)
        memcpy(points + part->point_count, part->corners, (size_t)part->corner_count * sizeof *points);
    *count = n;
    if (n < 1000) return points;
    mor_hull_measure hull;
    bool* used = mor_arena_zero(d->scratch, (size_t)n + 1, sizeof *used);
    if (!used || !mor_hull_measure_of(d->scratch, points, n, false, &hull)) return NULL;
    if (!hull.planes) return points;
    for (int f = 0; f < hull.triangle_count; f++)
        for (int k = 0; k < 3; k++) used[hull.triangles[f][k]] = true;
    *count = 0;
    for (int i = 0; i < n; i++)
        if (used[i]) points[(*count)++] = points[i];
    return points;
}

/* Keeps the corners a hull needs within the tolerance. */
static bool set_hull(mor_decomposer* d, mor_cut_piece* piece, const mor_vec3* points, int count)
{
    int* kept = mor_arena_alloc(d->scratch, ((size_t)count + 1) * sizeof *kept);
    piece->hull_count = kept ? mor_hull_coarse(d->scratch, points, count, d->tolerance, kept) : -1;
    piece->hull_volume = piece->distance = piece->missed = 0.0;
    if (piece->hull_count < 0) return false;
    piece->hull = mor_arena_alloc(d->arena, ((size_t)piece->hull_count + 1) * sizeof *piece->hull);
    if (!piece->hull) return false;
    for (int i = 0; i < piece->hull_count; i++) piece->hull[i] = points[kept[i]];
    if (piece->hull_count == 0) return true;
    mor_hull_measure hull;
    if (!mor_hull_measure_of(d->scratch, piece->hull, piece->hull_count, false, &hull)) return false;
    piece->hull_volume = hull.volume;
    for (int f = 0; f < hull.plane_count; f++)
        for (int i = 0; i < count; i++)
            piece->missed = mor_max(piece->missed, mor_dot(hull.planes[f].normal, points[i]) - hull.planes[f].offset);
    piece->distance = mor_piece_distance(d, &hull, piece->hull, 2.0 * d->goal, 0.25 * d->goal);
    return true;
}

/* Hull, mass and distance of a piece whose parts are set; false when out of memory. */
static bool measure_piece(mor_decomposer* d, mor_cut_piece* piece)
{
    size_t mark = mor_arena_mark(d->scratch);
    int count = 0;
    piece->mass = mor_part_mass(&piece->fine);
    const mor_vec3* points = hull_points(d, &piece->fine, &count);
    bool ok = points && set_hull(d, piece, points, count);
    mor_arena_release(d->scratch, mark);
    return ok;
}

/* -------------------------------------------------------------------------- the coarse mesh */

/* Vertices clustered in cells of a grid; triangles that collapse are left out. The chain stays closed. */
static bool cluster(mor_decomposer* d, double cell)
{
    const mor_solid* s = &d->solid;
    mor_solid* c = &d->coarse;
    *c = *s;
    mor_vec3* centre = mor_arena_alloc(d->arena, ((size_t)s->point_count + 1) * sizeof *centre);
    int* first = mor_arena_alloc(d->arena, ((size_t)s->point_count + 1) * sizeof *first);
    int* number = mor_arena_alloc(d->arena, ((size_t)s->point_count + 1) * sizeof *number);
    c->points = mor_arena_alloc(d->arena, ((size_t)s->point_count + 1) * sizeof *c->points);
    c->faces = mor_arena_alloc(d->arena, ((size_t)s->face_count + 1) * sizeof *c->faces);
    int size[3], cells = 1;
    for (int k = 0; k < 3; k++) {
        size[k] = (int)(mor_axis(mor_sub(s->high, s->low), k) / cell) + 1;
        cells *= size[k];
    }
    int* at = mor_arena_alloc(d->arena, ((size_t)cells + 1) * sizeof *at);
    if (!centre || !first || !number || !c->points || !c->faces || !at) return false;
    for (int i = 0; i < cells; i++) at[i] = -1;
    c->point_count = c->face_count = 0;
    for (int i = 0; i < s->point_count; i++) {
        int index = 0;
        for (int k = 0; k < 3; k++) {
            int j = (int)(mor_axis(mor_sub(s->points[i], s->low), k) / cell);
            index = index * size[k] + (j < 0 ? 0 : j >= size[k] ? size[k] - 1 : j);
        }
        if (at[index] < 0) {
            at[index] = c->point_count;
            c->points[c->point_count++] = s->points[i];
        }
        number[i] = at[index];
    }
    for (int f = 0; f < s->face_count; f++) {
        int p = number[s->faces[f][0]], q = number[s->faces[f][1]], r = number[s->faces[f][2]];
        if (p == q || q == r || r == p) continue;
        int* t = c->faces[c->face_count++];
        t[0] = p;
        t[1] = q;
        t[2] = r;
    }
    return true;
}

static bool make_coarse(mor_decomposer* d)
{
    d->coarse = d->solid;
    for (double n = 64; d->coarse.face_count > COARSE_FACES && n > 8; n *= 0.75)
        if (!cluster(d, d->solid.diagonal / n)) return false;
    return true;
}

/* -------------------------------------------------------------------------------- the cuts */

static double volume_added(const mor_cut_piece* p) { return mor_max(0.0, p->hull_volume - p->mass.mass); }

static bool goals_met(const mor_decomposer* d)
{
    double added = 0.0;
    for (int i = 0; i < d->count; i++) {
        added += volume_added(&d->pieces[i]);
        if (d->pieces[i].distance > d->goal) return false;
    }
    return added <= d->excess;
}

static int worst_piece(const mor_decomposer* d)
{
    int worst = -1;
    double most = 0.0;
    for (int i = 0; i < d->count; i++) {
        const mor_cut_piece* p = &d->pieces[i];
        double score = volume_added(p) / d->excess + (p->distance > d->goal ? p->distance / d->goal : 0.0);
        if (p->last || score <= most) continue;
        most = score;
        worst = i;
    }
    return worst;
}

/* Both sides of a plane; false when out of memory. */
static bool cut_piece(mor_decomposer* d, const mor_cut_piece* whole, mor_plane plane, mor_cut_piece out[2])
{
    for (int side = 0; side < 2; side++) {
        mor_plane p = side ? (mor_plane){ mor_neg(plane.normal), -plane.offset } : plane;
        out[side] = (mor_cut_piece){ 0 };
        if (!mor_part_clip(&d->solid, d->arena, &whole->fine, p, &out[side].fine)) return false;
        out[side].coarse = out[side].fine;
        if (d->coarse.faces != d->solid.faces &&
            !mor_part_clip(&d->solid, d->arena, &whole->coarse, p, &out[side].coarse))
            return false;
        if (!measure_piece(d, &out[side])) return false;
    }
    return true;
}

static bool cut_all(mor_decomposer* d, int most)
{
    while (d->count < most && !goals_met(d)) {
        int worst = worst_piece(d);
        if (worst < 0) return true;
        mor_plane plane;
        mor_cut_piece halves[2], *piece = &d->pieces[worst];
        piece->last = !mor_decompose_plane(d, piece, &plane);
        if (piece->last) continue;
        if (!cut_piece(d, piece, plane, halves)) return false;
        double least = 1e-9 * d->solid.unit.mass;
        if (halves[0].hull_count == 0 || halves[1].hull_count == 0 || halves[0].mass.mass < least ||
            halves[1].mass.mass < least) {
            piece->last = true;
            continue;
        }
        *piece = halves[0];
        d->pieces[d->count++] = halves[1];
    }
    return true;
}

/* ------------------------------------------------------------------------------ the whole */

mor_decompose_def mor_decompose_def_default(void) { return (mor_decompose_def){ .pieces = 64, .concavity = 0.015 }; }

static mor_code check_def(const mor_decompose_def* def, mor_error* error)
{
    if (def->pieces < 1 || def->pieces > PIECES_MAX)
        return mor_fail(error, MOR_BAD_INPUT, "decompose: %d pieces; give 1 to %d", def->pieces, PIECES_MAX);
    if (!(def->concavity >= 1e-4 && def->concavity <= 1.0))
        return mor_fail(error, MOR_BAD_INPUT,
                        "decompose: the concavity is %g; give 0.0001 to 1 (a share of the diagonal and of the volume)",
                        def->concavity);
    return MOR_OK;
}

static bool tell(mor_decomposer* d, const mor_decompose_def* def, mor_decomposition* report, mor_notes* notes)
{
    *report = (mor_decomposition){ .pieces = d->count,
                                   .volume = d->solid.unit.mass,
                                   .diagonal = d->solid.diagonal,
                                   .triangles = d->solid.face_count };
    for (int i = 0; i < d->count; i++) {
        mor_cut_piece* p = &d->pieces[i];
        mor_hull_measure hull;
        size_t mark = mor_arena_mark(d->scratch);
        if (!mor_hull_measure_of(d->scratch, p->hull, p->hull_count, false, &hull)) return false;
        report->pieces_volume += p->hull_volume;
        double distance = mor_piece_distance(d, &hull, p->hull, d->goal, 0.0);
        p->distance = distance;
        report->hausdorff = mor_max(report->hausdorff, mor_max(distance, p->missed));
        mor_arena_release(d->scratch, mark);
    }
    report->reached = goals_met(d);
    if (!report->reached)
        mor_note(notes, "%d pieces are not enough for a concavity of %g: %+.2g %% volume, %.2g %% of the diagonal",
                 def->pieces, def->concavity, 100.0 * (report->pieces_volume / report->volume - 1.0),
                 100.0 * report->hausdorff / report->diagonal);
    return true;
}

/* Fewer pieces are better; any answer that meets the goals is better than those that do not, which are compared by how
 * far they are from them. */
static double worth(const mor_decomposer* d, int most)
{
    if (goals_met(d)) return d->count;
    double added = 0.0, distance = 0.0;
    for (int i = 0; i < d->count; i++) {
        added += volume_added(&d->pieces[i]);
        distance = mor_max(distance, d->pieces[i].distance);
    }
    return most + mor_max(1.0, added / d->excess) + mor_max(1.0, distance / d->goal);
}

static bool decompose(mor_decomposer* d, const mor_decompose_def* def)
{
    mor_cut_piece* whole = &d->pieces[d->count++];
    whole->fine = mor_part_whole(&d->solid);
    whole->coarse = mor_part_whole(&d->coarse);
    if (!measure_piece(d, whole) || !mor_decompose_notches(d)) return false;
    mor_cut_piece first = *whole, *best = NULL;
    int best_count = 0;
    double least = INFINITY;
    for (size_t k = 0; k < sizeof BALANCES / sizeof *BALANCES && least > def->pieces; k++) {
        d->pieces = mor_arena_zero(d->arena, (size_t)def->pieces + 1, sizeof *d->pieces);
        if (!d->pieces) return false;
        d->pieces[0] = first;
        d->count = 1;
        d->balance = BALANCES[k];
        if (!cut_all(d, def->pieces) || !mor_decompose_merge(d)) return false;
        double value = worth(d, def->pieces);
        if (value >= least) continue;
        least = value;
        best = d->pieces;
        best_count = d->count;
    }
    d->pieces = best;
    d->count = best_count;
    return true;
}

mor_code mor_decompose_run(mor_arena* arena, const mor_face_loops* in, const mor_decompose_def* def, mor_piece** pieces,
                           mor_decomposition* report, mor_notes* notes, mor_error* error)
{
    mor_code code = check_def(def, error);
    if (code) return code;
    mor_error inner = { 0 };
    mor_decomposer d = { .arena = arena, .scratch = mor_arena_create(NULL) };
    d.pieces = mor_arena_zero(arena, (size_t)def->pieces + 1, sizeof *d.pieces);
    if (!d.scratch || !d.pieces) {
        mor_arena_destroy(d.scratch);
        return mor_fail(error, MOR_SYSTEM, "decompose: out of memory");
    }
    bool ok = mor_solid_take(&d.solid, arena, in, notes, &inner);
    if (!ok) {
        mor_arena_destroy(d.scratch);
        return mor_fail(error, inner.code, "%s", inner.text);
    }
    d.goal = def->concavity * d.solid.diagonal;
    d.tolerance = d.goal / 8;
    d.excess = def->concavity * d.solid.unit.mass;
    ok = make_coarse(&d) && decompose(&d, def) && tell(&d, def, report, notes);
    mor_piece* out = ok ? mor_arena_zero(arena, (size_t)d.count + 1, sizeof *out) : NULL;
    for (int i = 0; out && i < d.count; i++)
        out[i] = (mor_piece){ d.pieces[i].hull, d.pieces[i].hull_count, d.pieces[i].mass };
    mor_arena_destroy(d.scratch);
    if (!out) return mor_fail(error, MOR_SYSTEM, "decompose: out of memory");
    *pieces = out;
    return MOR_OK;
}

mor_geometry* mor_piece_geometry(const mor_piece* piece, double scale, mor_error* error)
{
    mor_geometry* one = mor_geometry_of_polyhedron(
        mor_polyhedron_hull("piece", piece->points, piece->count, MOR_TOLERANCE_HULL, error), "mesh", error);
    if (!one) return NULL;
    one->unit = piece->unit;
    if (scale == 1.0) return one;
    mor_geometry* scaled = mor_geometry_scaled(one, scale, error);
    mor_geometry_release(one);
    return scaled;
}

mor_code mor_geometry_decompose(const mor_vec3* points, int point_count, const int* face_sizes,
                                const int* face_vertices, int face_count, const mor_decompose_def* def,
                                mor_geometry** pieces, int capacity, mor_decomposition* report, char* notes,
                                size_t notes_size, mor_error* error)
{
    mor_decomposition own;
    mor_decompose_def normal = mor_decompose_def_default();
    mor_notes told = { notes, notes_size };
    if (notes && notes_size) notes[0] = '\0';
    if (!def) def = &normal;
    if (!report) report = &own;
    *report = (mor_decomposition){ 0 };
    mor_face_loops in = { points, point_count, face_sizes, face_vertices, face_count };
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) return mor_fail(error, MOR_SYSTEM, "decompose: out of memory");
    mor_piece* list = NULL;
    mor_code code = mor_decompose_run(arena, &in, def, &list, report, &told, error);
    if (!code && report->pieces > capacity)
        code =
            mor_fail(error, MOR_BAD_INPUT, "decompose: %d pieces, and there is room for %d", report->pieces, capacity);
    for (int i = 0; !code && i < report->pieces; i++) {
        pieces[i] = mor_piece_geometry(&list[i], 1.0, error);
        if (pieces[i]) continue;
        code = mor_failed(error, MOR_BAD_INPUT);
        while (i > 0) mor_geometry_release(pieces[--i]);
    }
    mor_arena_destroy(arena);
    return code;
}
