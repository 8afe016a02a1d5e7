/* Regular polyhedra from exact coordinates.
 *
 * With g = (1 + sqrt 5)/2, before scaling:
 *   tetrahedron   (1,1,1) (1,-1,-1) (-1,1,-1) (-1,-1,1)            edge 2 sqrt 2,  radius sqrt 3
 *   octahedron    +-e_i                                            edge sqrt 2,    radius 1
 *   icosahedron   cyclic permutations of (0, +-1, +-g)             edge 2,         radius sqrt(g^2 + 1)
 *   dodecahedron  (+-1,+-1,+-1) and cyclic (0, +-g, +-1/g)         edge 2/g,       radius sqrt 3
 * The faces are found, not listed: a face is the set of vertices farthest in the direction of a vertex
 * of the dual solid, ordered by angle around it. Mass properties come from the polyhedron itself; for
 * edge a and mass m they are J = m a^2 times 1/20, 1/10, (3 + sqrt 5)/20, (95 + 39 sqrt 5)/300.
 *
 * H. S. M. Coxeter (1973), Regular Polytopes, table I and section 3.7. */
#include "base/elementary.h"
#include "geometry/polyhedron.h"

#include <string.h>

enum { SOLIDS = 4, CORNERS_MAX = 20 };

typedef struct solid {
    const char* name;
    int vertex_count, face_size;
    double edge, radius;
    mor_vec3 vertices[CORNERS_MAX];
} solid;

static void add_signs(solid* s, mor_vec3 v)
{
    for (int i = 0; i < 8; i++) {
        if ((v.x == 0 && i & 1) || (v.y == 0 && i & 2) || (v.z == 0 && i & 4)) continue;
        s->vertices[s->vertex_count++] = mor_v3(i & 1 ? -v.x : v.x, i & 2 ? -v.y : v.y, i & 4 ? -v.z : v.z);
    }
}

static void add_cyclic(solid* s, double a, double b, double c)
{
    add_signs(s, mor_v3(a, b, c));
    add_signs(s, mor_v3(c, a, b));
    add_signs(s, mor_v3(b, c, a));
}

/* Index of the dual in the list of solids is the other of a pair; the tetrahedron's is its mirror. */
static void make_solids(solid s[SOLIDS], solid* cube)
{
    const double g = (1.0 + sqrt(5.0)) / 2.0;
    memset(s, 0, SOLIDS * sizeof *s);
    s[0] = (solid){ "tetrahedron", 4,         3,
                    2 * sqrt(2.0), sqrt(3.0), { { 1, 1, 1 }, { 1, -1, -1 }, { -1, 1, -1 }, { -1, -1, 1 } } };
    s[1] = (solid){ .name = "octahedron", .face_size = 3, .edge = sqrt(2.0), .radius = 1.0 };
    add_cyclic(&s[1], 1, 0, 0);
    s[2] = (solid){ .name = "icosahedron", .face_size = 3, .edge = 2.0, .radius = sqrt(g * g + 1.0) };
    add_cyclic(&s[2], 0, 1, g);
    s[3] = (solid){ .name = "dodecahedron", .face_size = 5, .edge = 2.0 / g, .radius = sqrt(3.0) };
    add_signs(&s[3], mor_v3(1, 1, 1));
    add_cyclic(&s[3], 0, g, 1 / g);
    *cube = (solid){ .name = "cube" };
    add_signs(cube, mor_v3(1, 1, 1));
}

/* The loop of the face whose outward normal is along d. */
static void face_towards(const solid* s, mor_vec3 d, int* loop)
{
    double most = 0.0;
    for (int i = 0; i < s->vertex_count; i++) most = mor_max(most, mor_dot(s->vertices[i], d));
    double angle[CORNERS_MAX];
    mor_vec3 t, o;
    mor_tangents(mor_normalize(d, mor_v3(0, 0, 1)), mor_v3(1, 0, 0), &t, &o);
    int n = 0;
    for (int i = 0; i < s->vertex_count && n < s->face_size; i++) {
        if (mor_dot(s->vertices[i], d) < most * (1.0 - 1e-9)) continue;
        double a = mor_atan2(mor_dot(s->vertices[i], o), mor_dot(s->vertices[i], t));
        int k = n++;
        for (; k > 0 && angle[k - 1] > a; k--) {
            angle[k] = angle[k - 1];
            loop[k] = loop[k - 1];
        }
        angle[k] = a;
        loop[k] = i;
    }
}

mor_geometry* mor_geometry_platonic(const char* name, double edge, double radius, mor_error* error)
{
    solid solids[SOLIDS], cube;
    make_solids(solids, &cube);
    int k = 0;
    while (k < SOLIDS && strcmp(name, solids[k].name) != 0) k++;
    if (k == SOLIDS) {
        mor_fail(error, MOR_BAD_INPUT,
                 "'%s' is not one of the regular solids tetrahedron, octahedron, dodecahedron, icosahedron%s", name,
                 strcmp(name, "cube") == 0 || strcmp(name, "hexahedron") == 0 ? "; a cube is a box" : "");
        return NULL;
    }
    solid* s = &solids[k];
    if ((edge != 0.0) == (radius != 0.0)) {
        mor_fail(error, MOR_BAD_INPUT,
                 "%s: give either the edge length or the circumradius, not %s (edge %g, radius %g)", name,
                 edge != 0.0 ? "both" : "neither", edge, radius);
        return NULL;
    }
    if (!mor_length_ok(name, edge != 0.0 ? "edge" : "radius", edge != 0.0 ? edge : radius, error)) return NULL;
    double scale = edge != 0.0 ? edge / s->edge : radius / s->radius;

    mor_vec3 mirror[4];
    for (int i = 0; i < 4; i++) mirror[i] = mor_neg(solids[0].vertices[i]);
    const mor_vec3* dual = k == 0 ? mirror : k == 1 ? cube.vertices : k == 2 ? solids[3].vertices : solids[2].vertices;
    int faces = k == 0 ? 4 : k == 1 ? 8 : k == 2 ? 20 : 12;
    int sizes[20], loops[60];
    for (int f = 0; f < faces; f++) {
        sizes[f] = s->face_size;
        face_towards(s, dual[f], loops + f * s->face_size);
    }
    for (int i = 0; i < s->vertex_count; i++) s->vertices[i] = mor_scale(scale, s->vertices[i]);
    mor_face_loops in = { s->vertices, s->vertex_count, sizes, loops, faces };
    return mor_geometry_of_polyhedron(mor_polyhedron_build(name, &in, MOR_TOLERANCE_EXACT, false, NULL, error), name,
                                      error);
}
