/* Height fields as convex pieces.
 *
 * The surface is that of the triangles (i,j) (i+1,j) (i+1,j+1) and (i,j) (i+1,j+1) (i,j+1) of every cell. What lies
 * between a triangle and a common floor, depth below the lowest point, is a prism with upright walls, and convex. The
 * prisms fill the ground without overlap, walls against walls. Contacts with walls and inner edges do not exist
 * physically; collision/seams.c removes them.
 *
 * Cells that lie in one plane become one piece: from each free cell, in order of rows, a rectangle grows first along x,
 * then along y while every point of it is within FLAT of the plane of the cell. A level field is one box.
 *
 * Cost: linear in the points; at most two pieces per cell. */
#include "base/elementary.h"
#include "geometry/heightfield.h"
#include "geometry/polyhedron.h"

/* share of the size of the field within which points lie in one plane [-] */
#define FLAT 1e-12

static double height(const mor_heightfield* f, int i, int j)
{
    return f->heights[(size_t)j * (size_t)f->columns + (size_t)i];
}

static mor_vec3 point(const mor_heightfield* f, int i, int j)
{
    return mor_v3(f->size[0] * ((double)i / (f->columns - 1) - 0.5), f->size[1] * ((double)j / (f->rows - 1) - 0.5),
                  height(f, i, j));
}

double mor_heightfield_floor(const mor_heightfield* f)
{
    double low = HUGE_VAL;
    for (int j = 0; j < f->rows; j++)
        for (int i = 0; i < f->columns; i++) low = mor_min(low, height(f, i, j));
    return low - f->depth;
}

/* ------------------------------------------------------------------------------------ cutting */

typedef struct cut {
    const mor_heightfield* field;
    unsigned char* taken; /* cells of earlier pieces */
    double tol;           /* m */
    int i, j;             /* the cell whose plane it is */
} cut;

/* Is point (i, j) in the plane of the cell? */
static bool in_plane(const cut* c, int i, int j)
{
    const mor_heightfield* f = c->field;
    double h = height(f, c->i, c->j), along = height(f, c->i + 1, c->j) - h, across = height(f, c->i, c->j + 1) - h;
    return fabs(height(f, i, j) - (h + (i - c->i) * along + (j - c->j) * across)) <= c->tol;
}

static bool is_free(const cut* c, int i, int j)
{
    return !c->taken[(size_t)j * (size_t)(c->field->columns - 1) + (size_t)i];
}

/* Grows the rectangle of a cell that is flat. */
static void grow(const cut* c, mor_field_piece* p)
{
    const mor_heightfield* f = c->field;
    while (p->last[0] < f->columns - 1 && is_free(c, p->last[0], c->j) && in_plane(c, p->last[0] + 1, c->j) &&
           in_plane(c, p->last[0] + 1, c->j + 1))
        p->last[0]++;
    for (; p->last[1] < f->rows - 1; p->last[1]++) {
        int i = p->first[0];
        while (i < p->last[0] && is_free(c, i, p->last[1]) && in_plane(c, i, p->last[1] + 1)) i++;
        if (i < p->last[0] || !in_plane(c, i, p->last[1] + 1)) break;
    }
}

int mor_heightfield_cut(const mor_heightfield* field, unsigned char* taken, mor_field_piece* pieces, int capacity)
{
    double high = -HUGE_VAL, low = mor_heightfield_floor(field);
    for (int j = 0; j < field->rows; j++)
        for (int i = 0; i < field->columns; i++) high = mor_max(high, height(field, i, j));
    double size = mor_max(mor_max(field->size[0], field->size[1]), mor_max(fabs(high), fabs(low)));
    int count = 0;
    cut c = { field, taken, FLAT * size, 0, 0 };
    for (c.j = 0; c.j < field->rows - 1; c.j++)
        for (c.i = 0; c.i < field->columns - 1; c.i++) {
            if (!is_free(&c, c.i, c.j)) continue;
            mor_field_piece p = { { c.i, c.j }, { c.i + 1, c.j + 1 }, 0 };
            bool flat = in_plane(&c, c.i + 1, c.j + 1);
            if (count + (flat ? 1 : 2) > capacity) return -1;
            if (flat) grow(&c, &p);
            else p.half = 1;
            pieces[count++] = p;
            if (!flat) {
                p.half = 2;
                pieces[count++] = p;
            }
            for (int j = p.first[1]; j < p.last[1]; j++)
                for (int i = p.first[0]; i < p.last[0]; i++)
                    taken[(size_t)j * (size_t)(field->columns - 1) + (size_t)i] = 1;
        }
    return count;
}

/* ------------------------------------------------------------------------------------- pieces */

mor_geometry* mor_heightfield_piece(const mor_heightfield* field, const mor_field_piece* p, double floor,
                                    mor_vec3* centre, mor_error* error)
{
    /* corners of the top, counter-clockwise from above; then the same ones on the floor */
    const int x[4] = { p->first[0], p->last[0], p->last[0], p->first[0] };
    const int y[4] = { p->first[1], p->first[1], p->last[1], p->last[1] };
    static const int corners[3][4] = { { 0, 1, 2, 3 }, { 0, 1, 2, 0 }, { 0, 2, 3, 0 } };
    const int n = p->half ? 3 : 4;
    mor_vec3 points[8], low = mor_v3(HUGE_VAL, HUGE_VAL, floor), high = mor_neg(mor_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL));
    for (int k = 0; k < n; k++) {
        mor_vec3 q = points[k] = point(field, x[corners[p->half][k]], y[corners[p->half][k]]);
        points[n + k] = mor_v3(q.x, q.y, floor);
        low = mor_v3(mor_min(low.x, q.x), mor_min(low.y, q.y), floor);
        high = mor_v3(mor_max(high.x, q.x), mor_max(high.y, q.y), mor_max(high.z, q.z));
    }
    *centre = mor_scale(0.5, mor_add(low, high));
    for (int k = 0; k < 2 * n; k++) points[k] = mor_sub(points[k], *centre);
    int sizes[6] = { n, n, 4, 4, 4, 4 }, loops[24], used = 0;
    for (int k = 0; k < n; k++) loops[used++] = k;
    for (int k = n; k-- > 0;) loops[used++] = n + k;
    for (int k = 0; k < n; k++) {
        const int next = (k + 1) % n, wall[4] = { k, n + k, n + next, next };
        for (int m = 0; m < 4; m++) loops[used++] = wall[m];
    }
    char text[200] = "";
    mor_notes notes = { text, sizeof text };
    mor_face_loops faces = { points, 2 * n, sizes, loops, n + 2 };
    mor_geometry* g = mor_geometry_of_polyhedron(
        mor_polyhedron_build("height field", &faces, MOR_TOLERANCE_HULL, true, &notes, error), "hull", error);
    if (g) g->size[0] = field->depth;
    return g;
}
