/* Meshes: repairs, refusals with their sentences, the four file formats, real robot files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "moreau/geometry.h"

static mor_error error;
static char directory[64], path[256], notes[1024];

/* ------------------------------------------------------------------ meshes given as arrays */

static const mor_vec3 cube_points[8] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },
                                         { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };
static const int cube_faces[36] = { 0, 3, 2, 0, 2, 1, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                    2, 3, 7, 2, 7, 6, 1, 2, 6, 1, 6, 5, 0, 4, 7, 0, 7, 3 };

typedef struct soup {
    mor_vec3 points[40];
    int sizes[40], vertices[160], point_count, face_count, corner_count;
} soup;

static void add_face(soup* s, int n, const int* v)
{
    s->sizes[s->face_count++] = n;
    for (int i = 0; i < n; i++) s->vertices[s->corner_count++] = v[i];
}

static soup cube(void)
{
    soup s = { 0 };
    memcpy(s.points, cube_points, sizeof cube_points);
    s.point_count = 8;
    for (int f = 0; f < 12; f++) add_face(&s, 3, cube_faces + 3 * f);
    return s;
}

static mor_geometry* make(const soup* s)
{
    error.text[0] = '\0';
    return mor_geometry_mesh(s->points, s->point_count, s->sizes, s->vertices, s->face_count, notes, sizeof notes,
                             &error);
}

static void becomes_the_unit_cube(const soup* s, const char* note)
{
    mor_geometry* g = make(s);
    if (!g) fail_msg("%s: %s", note, error.text);
    assert_int_equal(g->polyhedron->face_count, 6);
    assert_int_equal(g->polyhedron->vertex_count, 8);
    assert_int_equal(g->polyhedron->edge_count, 12);
    assert_true(fabs(g->unit.mass - 1) < 1e-5);
    if (!strstr(notes, note)) fail_msg("the notes are '%s', not '%s'", notes, note);
    mor_geometry_release(g);
}

static void triangles_of_a_cube_merge_into_six_squares(void** state)
{
    (void)state;
    soup s = cube();
    becomes_the_unit_cube(&s, "");
    assert_string_equal(notes, "");
}

static void repairs_are_made_and_told(void** state)
{
    (void)state;
    soup s = cube();
    for (int k = 0; k < 36; k += 3) { /* inside out */
        int t = s.vertices[k];
        s.vertices[k] = s.vertices[k + 1];
        s.vertices[k + 1] = t;
    }
    becomes_the_unit_cube(&s, "inside-out");

    s = cube(); /* every triangle with vertices of its own */
    for (int k = 0; k < 36; k++) {
        s.points[k] = cube_points[cube_faces[k]];
        s.vertices[k] = k;
    }
    s.point_count = 36;
    becomes_the_unit_cube(&s, "28 duplicate vertices welded");

    s = cube(); /* a copy of vertex 6, 1e-9 m away */
    s.points[8] = mor_v3(1, 1, 1 + 1e-9);
    s.point_count = 9;
    s.vertices[8] = 8;
    becomes_the_unit_cube(&s, "1 duplicate vertex welded");

    s = cube(); /* a face that is a line after welding */
    add_face(&s, 3, (const int[]){ 0, 1, 1 });
    becomes_the_unit_cube(&s, "1 face without area dropped");

    s = cube(); /* a sliver that hangs on an edge */
    s.points[8] = mor_v3(0.5, 0, 0);
    s.point_count = 9;
    add_face(&s, 3, (const int[]){ 0, 8, 1 });
    becomes_the_unit_cube(&s, "1 face without area dropped");

    s = cube(); /* a T-junction closed by a triangle without area */
    s.points[8] = mor_v3(0.5, 0, 0);
    s.point_count = 9;
    memcpy(s.vertices + 12, (const int[]){ 0, 8, 5 }, 3 * sizeof(int));
    add_face(&s, 3, (const int[]){ 8, 1, 5 });
    add_face(&s, 3, (const int[]){ 0, 1, 8 });
    becomes_the_unit_cube(&s, "");

    s = cube(); /* the same triangle twice */
    add_face(&s, 3, (const int[]){ 2, 0, 3 });
    becomes_the_unit_cube(&s, "1 repeated face dropped");

    s = cube(); /* a corner pushed in by rounding: 2e-5 of the size */
    s.points[8] = mor_v3(0.5, 0.5, 1 - 3e-6);
    s.point_count = 9;
    memcpy(s.vertices + 6, (const int[]){ 4, 5, 8, 5, 6, 8 }, 6 * sizeof(int));
    add_face(&s, 3, (const int[]){ 6, 7, 8 });
    add_face(&s, 3, (const int[]){ 7, 4, 8 });
    becomes_the_unit_cube(&s, "replaced by its hull");
}

static soup flat(soup s)
{
    for (int i = 0; i < s.point_count; i++) s.points[i].z = 0;
    return s;
}

enum { REFUSALS = 22 };
static soup refusal(int k, const char** says)
{
    soup s = cube();
    switch (k) {
    case 0:
        *says = "open: 3 edges have only one face", s.face_count = 11;
        break;
    case 1:
        *says = "not a manifold: 3 faces", s.points[8] = mor_v3(2, 2, 2), s.point_count = 9;
        add_face(&s, 3, (const int[]){ 0, 1, 8 });
        break;
    case 2:
        *says = "face 0 is not flat", s.points[6].z = 2, s.sizes[0] = 4;
        {
            static const int v[] = { 4, 5, 6, 7, 0, 3, 2, 1, 0, 1, 5, 4, 2, 3, 7, 6, 1, 2, 6, 5, 0, 4, 7, 3 };
            s.face_count = s.corner_count = 0;
            for (int f = 0; f < 6; f++) add_face(&s, 4, v + 4 * f);
        }
        break;
    case 3:
        *says = "wound the wrong way", s.vertices[0] = 2, s.vertices[2] = 0;
        break;
    case 4: /* two cubes */
        *says = "separate parts";
        for (int i = 0; i < 8; i++) s.points[8 + i] = mor_add(s.points[i], mor_v3(3, 0, 0));
        s.point_count = 16;
        for (int f = 0; f < 12; f++) {
            int v[3];
            for (int i = 0; i < 3; i++) v[i] = cube_faces[3 * f + i] + 8;
            add_face(&s, 3, v);
        }
        break;
    case 5: /* two tetrahedra in one point: one component only through that point */
        s = (soup){
            .points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } },
            .point_count = 7
        };
        *says = "separate parts";
        for (int o = 0; o < 4; o += 3) {
            int f[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 3; j++) f[i][j] += f[i][j] && o ? 3 : 0;
                add_face(&s, 3, f[i]);
            }
        }
        break;
    case 6:
    case 7: { /* L-shaped prism; and the same cut differently */
        static const double outline[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
        s = (soup){ .point_count = 12 };
        *says = "not convex";
        int top[6], bottom[6];
        for (int i = 0; i < 6; i++) {
            s.points[i] = mor_v3(outline[i][0], outline[i][1], 0);
            s.points[6 + i] = mor_v3(outline[i][0], outline[i][1], k);
            top[i] = 6 + i;
            bottom[i] = 5 - i;
            add_face(&s, 4, (const int[]){ i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i });
        }
        add_face(&s, 6, top);
        add_face(&s, 6, bottom);
        break;
    }
    case 8:
        *says = "not finite", s.points[3].y = NAN;
        break;
    case 9:
        *says = "not finite", s.points[0].x = INFINITY;
        break;
    case 10:
        *says = "names vertex 8; there are vertices 0 to 7", s.vertices[5] = 8;
        break;
    case 11:
        *says = "names vertex -1", s.vertices[5] = -1;
        break;
    case 12:
        *says = "has 2 vertices", s.sizes[11] = 2;
        break;
    case 13:
        *says = "at least 4 vertices", s.face_count = 3;
        break;
    case 14:
        *says = "at least 4 vertices", s.point_count = 3;
        break;
    case 15:
        *says = "flat", s = flat(s);
        break;
    case 16:
        *says = "farther than 1e+09", s.points[6].x = 2e9;
        break;
    case 17:
        *says = "wrong unit";
        for (int i = 0; i < 8; i++) s.points[i] = mor_scale(1e-11, s.points[i]);
        break;
    case 18: /* all in one point */
        *says = "diagonal";
        for (int i = 0; i < 8; i++) s.points[i] = mor_v3(1, 1, 1);
        break;
    case 19: /* a pyramid-shaped dent */
        s.points[8] = mor_v3(0.5, 0.5, 0.6), s.point_count = 9;
        memcpy(s.vertices + 6, (const int[]){ 4, 5, 8, 5, 6, 8 }, 6 * sizeof(int));
        add_face(&s, 3, (const int[]){ 6, 7, 8 });
        add_face(&s, 3, (const int[]){ 7, 4, 8 });
        *says = "not convex";
        break;
    case 20: /* a frame: a square ring with a hole through it */
        s = (soup){ .point_count = 16 };
        *says = "instead of 2";
        for (int i = 0; i < 16; i++) {
            double r = i % 8 < 4 ? 2 : 1;
            s.points[i] = mor_v3(i % 4 == 0 || i % 4 == 3 ? -r : r, i % 4 < 2 ? -r : r, i < 8 ? 0 : 1);
        }
        for (int i = 0; i < 4; i++) {
            int j = (i + 1) % 4;
            add_face(&s, 4, (const int[]){ i, j, 8 + j, 8 + i });           /* outside */
            add_face(&s, 4, (const int[]){ 4 + j, 4 + i, 12 + i, 12 + j }); /* inside of the hole */
            add_face(&s, 4, (const int[]){ 8 + i, 8 + j, 12 + j, 12 + i }); /* top */
            add_face(&s, 4, (const int[]){ i, 4 + i, 4 + j, j });           /* bottom */
        }
        break;
    default:
        *says = "passes twice", s.sizes[11] = 5, s.corner_count = 33;
        s.face_count = 11;
        add_face(&s, 5, (const int[]){ 0, 7, 3, 7, 2 });
        break;
    }
    return s;
}

static void bad_meshes_are_refused_with_the_right_sentence(void** state)
{
    (void)state;
    for (int k = 0; k < REFUSALS; k++) {
        const char* says = "";
        soup s = refusal(k, &says);
        mor_geometry* g = make(&s);
        if (g) fail_msg("case %d (%s) was accepted", k, says);
        if (!strstr(error.text, says)) fail_msg("case %d: '%s' should say '%s'", k, error.text, says);
        assert_int_equal(error.code, MOR_BAD_INPUT);
    }
}

static void a_refused_dent_names_vertex_face_depth_and_the_way_out(void** state)
{
    (void)state;
    const char* says;
    soup s = refusal(6, &says);
    assert_null(make(&s));
    assert_non_null(strstr(error.text, "vertex "));
    assert_non_null(strstr(error.text, " 1 m outside the plane of face "));
    assert_non_null(strstr(error.text, "decompose: {}"));
}

static void a_solid_that_winds_twice_is_refused(void** state)
{
    (void)state;
    /* great icosahedron: closed, V - E + F = 2, every edge convex by its normals, yet not convex */
    mor_geometry* ico = mor_geometry_platonic("icosahedron", 2, 0, &error);
    const mor_polyhedron* P = ico->polyhedron;
    soup s = { .point_count = 12 };
    memcpy(s.points, P->vertices, 12 * sizeof(mor_vec3));
    const double longer = 1 + sqrt(5.0); /* its triangles have the diagonals of the pentagons as edges */
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++) {
                mor_vec3 p = s.points[a], q = s.points[b], r = s.points[c];
                if (fabs(mor_norm(mor_sub(p, q)) - longer) > 1e-9 || fabs(mor_norm(mor_sub(q, r)) - longer) > 1e-9 ||
                    fabs(mor_norm(mor_sub(p, r)) - longer) > 1e-9)
                    continue;
                bool out = mor_dot(mor_cross(mor_sub(q, p), mor_sub(r, p)), p) > 0;
                add_face(&s, 3, (const int[]){ a, out ? b : c, out ? c : b });
            }
    assert_int_equal(s.face_count, 20);
    assert_null(make(&s));
    if (!strstr(error.text, "not convex")) fail_msg("%s", error.text);
    mor_geometry_release(ico);
}

/* ------------------------------------------------------------------------------------ files */

static int set_up(void** state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/moreau_mesh_XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void** state)
{
    (void)state;
    DIR* d = opendir(directory);
    for (struct dirent* e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%.100s", directory, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
    return rmdir(directory);
}

static const char* write_bytes(const char* name, const void* bytes, size_t size)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE* out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    return path;
}

static const char* write_text(const char* name, const char* text) { return write_bytes(name, text, strlen(text)); }

/* Reads one piece or fails the test. */
static mor_geometry* read_one(const char* file, double scale)
{
    mor_geometry* pieces[4];
    int count = -1;
    if (mor_mesh_read(file, scale, pieces, 4, &count, notes, sizeof notes, &error) != MOR_OK)
        fail_msg("%s", error.text);
    assert_int_equal(count, 1);
    return pieces[0];
}

static void is_refused(const char* file, const char* says)
{
    mor_geometry* pieces[4];
    int count = -1;
    error.text[0] = '\0';
    mor_code code = mor_mesh_read(file, 1.0, pieces, 4, &count, notes, sizeof notes, &error);
    if (code == MOR_OK) fail_msg("%s was accepted; it should say '%s'", file, says);
    assert_int_equal(count, 0);
    if (!strstr(error.text, says)) fail_msg("'%s' should say '%s'", error.text, says);
    if (!strstr(error.text, file)) fail_msg("'%s' does not name the file", error.text);
    assert_int_equal(mor_mesh_read(file, 1.0, pieces, 4, &count, NULL, 0, NULL), code); /* optional outputs */
}

static const char tetra_poly[] = "# a regular tetrahedron\n4 // vertices\n"
                                 "1 [ 0 0 (2/3)^0.5 ]\n2 (1/3)^0.5, 0, 0\n\n% comment\n"
                                 "3 -1/(2*sqrt(3)) 1/2 0\n4 -1/( 2*sqrt(3) ) -5e-1 0\n"
                                 "faces = 4\n1 2 3\n1 3 4\n1 4 2\n2 4 3\n";

static void poly_files_hold_expressions_comments_and_either_base(void** state)
{
    (void)state;
    mor_geometry* g = read_one(write_text("t.poly", tetra_poly), 1.0);
    assert_true(fabs(g->unit.mass - 1 / (6 * sqrt(2.0))) < 1e-15); /* edge 1 */
    mor_geometry_release(g);
    g = read_one(path, 2.0);
    assert_true(fabs(g->unit.mass - 8 / (6 * sqrt(2.0))) < 1e-14);
    mor_geometry_release(g);
    g = read_one(write_text("c.poly", "8\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
                                      "6\n0 3 2 1\n4 5 6 7\n0 1 5 4\n2 3 7 6\n1 2 6 5\n0 4 7 3\n"),
                 1.0);
    assert_int_equal(g->polyhedron->face_count, 6);
    assert_true(fabs(g->unit.mass - 1) < 1e-15);
    mor_geometry_release(g);
}

static void bad_poly_files_are_refused_with_their_place(void** state)
{
    (void)state;
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 0\n"), ":3:1: the file ends after 2 of 4 vertices");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n1 3 2\n1 2 4\n"), "ends after 2 of 4 faces");
    is_refused(write_text("a.poly", "3\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n1 3 2\n"), "at least 4");
    is_refused(write_text("a.poly", "5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n1 3 2\n"), ":6:1: 1 number for vertex 5");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n1 3 2\n1 2 4\n1 4 9\n2 3 4\n"),
               ":9:5: face 3 names vertex 9; the vertices are 1 to 4");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n0 2 1\n1 2 4\n0 3 1\n2 3 1\n"), "counts from 0");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 1/0\n0 1 0\n0 0 1\n"), ":3:5: this value is not finite");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 2*(3\n0 1 0\n0 0 1\n"), ":3:");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 2**3\n0 1 0\n0 0 1\n"), "not a number or an expression");
    is_refused(write_text("a.poly", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n1 3 2\n1 2 4\n1 4 3\n2 3 4\n7 8 9\n"),
               "more lines than");
    is_refused(write_text("a.poly", "4\n2 0 0 0\n3 1 0 0\n"), "count up from 0 or 1");
    is_refused(write_text("a.poly", "# nothing\n"), "number of vertices");
    is_refused(write_text("a.poly", ""), "empty");
    char nested[4096] = "4\n"; /* no recursion on the user's parentheses */
    memset(nested + 2, '(', 4000);
    is_refused(write_text("a.poly", nested), "expression");
}

static void obj_files_hold_slashes_negative_indices_and_groups(void** state)
{
    (void)state;
    const char* text =
        "# two pieces\nmtllib x.mtl\no lower\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1 1.0\nvt 0 0\nvn 0 0 1\n"
        "usemtl red\ns off\nf 1/1/1 3/1/1 2/1/1\nf 1//1 2//1 4//1\nf 1/1 4/1 3/1\nf -3 -2 -1\n"
        "g upper part\nv 0 0 5\nv 2 0 5\nv 0 2 5\nv 0 0 7\nf 5 7 6 # base\r\nf 5 6 \\\n 8\nf 5 8 7\nf 6 7 8\n";
    mor_geometry* pieces[2];
    int count;
    mor_code code = mor_mesh_read(write_text("two.OBJ", text), 1.0, pieces, 2, &count, notes, sizeof notes, &error);
    if (code != MOR_OK) fail_msg("%s", error.text);
    assert_int_equal(count, 2);
    assert_true(fabs(pieces[0]->unit.mass - 1.0 / 6) < 1e-15 && fabs(pieces[1]->unit.mass - 8.0 / 6) < 1e-14);
    mor_geometry_release(pieces[0]);
    mor_geometry_release(pieces[1]);
    assert_int_equal(mor_mesh_read(path, 1.0, pieces, 1, &count, NULL, 0, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "2 objects; at most 1"));
}

static void bad_obj_files_are_refused_with_their_place(void** state)
{
    (void)state;
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0\n"), ":2:1: a vertex needs three");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 nan 0\n"), ":2:5: 'nan' is not a finite number");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"),
               ":4:7: the face names vertex 4; 3 have been read");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n"), "names vertex -4");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"), "names vertex 0");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n"), "at least three");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n"), "'3x' is not a face corner");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"), "no faces");
    is_refused(write_text("a.obj", "%PDF-1.4\n"), ":1:1: unknown word");
    is_refused(write_text("a.obj", "v 0 0 0\nv 1 \\\n0 0\nv 0 1 0\nf 1 2 9\n"), ":5:7:"); /* joined lines count */
    is_refused(write_text("a.obj", "cstype bezier\n"), "free-form");
    is_refused(write_text("a.obj", "o lid\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 1 2 3\n"),
               ":1:1: 'lid': mesh:");
    is_refused("/tmp/there/is/no/such.obj", "cannot be opened");
    is_refused(write_text("a.xyz", "1 2 3"), ".poly, .obj, .stl and .dae");
}

static size_t put_cube_stl(unsigned char* b, int triangles)
{
    memset(b, 0, 84 + 50 * (size_t)triangles);
    memcpy(b, "solid binary files may begin like this", 38);
    b[80] = (unsigned char)triangles;
    for (int k = 0; k < 3 * triangles; k++) {
        mor_vec3 p = cube_points[cube_faces[k]];
        float x[3] = { (float)p.x, (float)p.y, (float)p.z };
        memcpy(b + 84 + 50 * (k / 3) + 12 + 12 * (k % 3), x, 12); /* the tests run on little-endian machines */
    }
    return 84 + 50 * (size_t)triangles;
}

static void stl_files_are_read_in_both_encodings(void** state)
{
    (void)state;
    unsigned char b[84 + 50 * 12];
    size_t size = put_cube_stl(b, 12);
    mor_geometry* g = read_one(write_bytes("c.stl", b, size), 0.5);
    assert_int_equal(g->polyhedron->face_count, 6);
    assert_true(fabs(g->unit.mass - 0.125) < 1e-15);
    assert_string_equal(notes, "");
    mor_geometry_release(g);
    char text[8192] = "solid cube\n";
    for (int f = 0; f < 12; f++) {
        strcat(text, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; k++) {
            mor_vec3 p = cube_points[cube_faces[3 * f + k]];
            snprintf(text + strlen(text), 100, "   vertex %e %e %e\n", p.x, p.y, p.z);
        }
        strcat(text, "  endloop\n endfacet\n");
    }
    size_t end = strlen(text);
    strcat(text, "endsolid cube\n");
    g = read_one(write_text("c.stl", text), 1.0);
    assert_int_equal(g->polyhedron->vertex_count, 8);
    mor_geometry_release(g);
    is_refused(write_bytes("c.stl", text, end), "'endsolid' should follow: it is truncated");
    is_refused(write_bytes("c.stl", text, end - 10), "'endfacet' should follow: it is truncated");
    is_refused(write_bytes("c.stl", text, 60), "three finite coordinates");
}

static void bad_stl_files_are_refused(void** state)
{
    (void)state;
    unsigned char b[84 + 50 * 12 + 4];
    size_t size = put_cube_stl(b, 12);
    is_refused(write_bytes("a.stl", b, size - 1), "truncated");
    is_refused(write_bytes("a.stl", b, 84), "truncated");
    is_refused(write_bytes("a.stl", b, 50), "50 bytes");
    b[size] = b[size + 1] = 0;
    is_refused(write_bytes("a.stl", b, size + 2), "2 bytes follow the 12 triangles");
    float nan = NAN;
    memcpy(b + 84 + 50 * 3 + 16, &nan, 4);
    is_refused(write_bytes("a.stl", b, size), "triangle 3 has a corner");
    size = put_cube_stl(b, 11);
    is_refused(write_bytes("a.stl", b, size), "open: 3 edges");
    b[80] = 0;
    is_refused(write_bytes("a.stl", b, 84), "no faces");
    is_refused(write_text("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n"), ":4:1:");
    is_refused(write_text("a.stl", "solid x\nfacets\n"), ":2:1: 'facets' where 'facet or endsolid'");
}

/* A box 1 x 2 x 3 as COLLADA with the given pieces of text. */
static const char* dae(const char* asset, const char* primitive, const char* nodes)
{
    static char text[8192];
    snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\n"
        "<asset>%s</asset><library_geometries><geometry id=\"g\" name=\"box\"><mesh><source id=\"pos\">\n"
        "<float_array id=\"a\" count=\"24\">0 0 0 1 0 0 1 2 0 0 2 0 0 0 3 1 0 3 1 2 3 0 2 3</float_array>\n"
        "<technique_common><accessor source=\"#a\" count=\"8\" stride=\"3\"/></technique_common></source>\n"
        "<vertices id=\"vs\"><input semantic=\"POSITION\" source=\"#pos\"/></vertices>\n%s</mesh></geometry>"
        "</library_geometries>\n%s</COLLADA>\n",
        asset, primitive, nodes);
    return text;
}

static const char polylist[] =
    "<polylist count=\"6\"><input semantic=\"NORMAL\" source=\"#n\" offset=\"1\"/>"
    "<input semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><vcount>4 4 4 4 4 4</vcount>\n"
    "<p>0 9 3 9 2 9 1 9 4 9 5 9 6 9 7 9 0 9 1 9 5 9 4 9 2 9 3 9 7 9 6 9 1 9 2 9 6 9 5 9 0 9 4 9 7 9 3 9</p></polylist>";
static const char polygons[] =
    "<polygons count=\"6\"><input semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><p>0 3 2 1</p><p>4 5 6 7</p>"
    "<p>0 1 5 4</p><p>2 3 7 6</p><p>1 2 6 5</p><p>0 4 7 3</p></polygons>";

static mor_aabb bounds_of(mor_geometry* g)
{
    mor_pose I = mor_pose_identity();
    mor_aabb box = mor_geometry_bounds(g, &I);
    mor_geometry_release(g);
    return box;
}

static void is_box(mor_aabb b, double x0, double y0, double z0, double x1, double y1, double z1)
{
    mor_vec3 low = mor_sub(b.lower, mor_v3(x0, y0, z0)), high = mor_sub(b.upper, mor_v3(x1, y1, z1));
    if (mor_norm(low) + mor_norm(high) > 1e-12)
        fail_msg("bounds (%g %g %g) (%g %g %g)", b.lower.x, b.lower.y, b.lower.z, b.upper.x, b.upper.y, b.upper.z);
}

static void dae_files_place_geometry_by_unit_axis_and_nodes(void** state)
{
    (void)state;
    is_box(bounds_of(read_one(write_text("b.dae", dae("<up_axis>Z_UP</up_axis>", polylist, "")), 1)), 0, 0, 0, 1, 2, 3);
    is_box(bounds_of(read_one(write_text("b.dae", dae("<up_axis>Z_UP</up_axis>", polygons, "")), 1)), 0, 0, 0, 1, 2, 3);
    /* y up becomes z up: (x, y, z) -> (x, -z, y); x up: (-y, -z, x); the default is y */
    is_box(bounds_of(read_one(write_text("b.dae", dae("", polylist, "")), 1)), 0, -3, 0, 1, 0, 2);
    is_box(bounds_of(read_one(write_text("b.dae", dae("<up_axis>X_UP</up_axis>", polylist, "")), 1)), -2, -3, 0, 0, 0,
           1);
    is_box(bounds_of(
               read_one(write_text("b.dae", dae("<unit meter=\"0.01\"/><up_axis>Z_UP</up_axis>", polylist, "")), 10)),
           0, 0, 0, 0.1, 0.2, 0.3);
    mor_geometry* pieces[3];
    int count;
    assert_int_equal(mor_mesh_read_as(write_text("b.dae", dae("", polylist, "")), 1, MOR_MESH_KEEP_AXES, pieces, 1,
                                      &count, NULL, 0, &error),
                     MOR_OK);
    is_box(bounds_of(pieces[0]), 0, 0, 0, 1, 2, 3);
    /* nodes: turned by 90 degrees about z and moved; a mirrored instance through instance_node; a matrix */
    const char* nodes =
        "<library_nodes><node id=\"shared\"><scale>-1 1 1</scale><instance_geometry url=\"#g\"/></node></library_nodes>"
        "<library_visual_scenes><visual_scene id=\"s\"><node name=\"top\"><translate>10 0 0</translate>"
        "<node><rotate>0 0 1 90</rotate><instance_geometry url=\"#g\"/></node><node><instance_node "
        "url=\"#shared\"/></node>"
        "</node><node><matrix>1 0 0 0 0 1 0 0 0 0 1 5 0 0 0 1</matrix><instance_geometry url=\"#g\"/></node>"
        "</visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene>";
    mor_code code = mor_mesh_read(write_text("n.dae", dae("<up_axis>Z_UP</up_axis>", polylist, nodes)), 1, pieces, 3,
                                  &count, notes, sizeof notes, &error);
    if (code != MOR_OK) fail_msg("%s", error.text);
    assert_int_equal(count, 3);
    assert_string_equal(notes, ""); /* the mirrored one is not reported as inside-out */
    is_box(bounds_of(pieces[0]), 8, 0, 0, 10, 1, 3);
    is_box(bounds_of(pieces[1]), 9, 0, 0, 10, 2, 3);
    is_box(bounds_of(pieces[2]), 0, 0, 5, 1, 2, 8);
}

static void bad_dae_files_are_refused_with_their_place(void** state)
{
    (void)state;
    is_refused(write_text("a.dae", "<COLLADA><asset>"), "not well-formed XML");
    is_refused(write_text("a.dae", "<COLLADA></COLLADA>"), "no faces");
    is_refused(write_text("a.dae", "PK\003\004"), ":1:3: not well-formed");
    is_refused(write_text("a.dae", dae("<unit meter=\"0\"/>", polylist, "")), "must be positive");
    is_refused(write_text("a.dae", dae("<up_axis>UP</up_axis>", polylist, "")), "X_UP, Y_UP or Z_UP");
    is_refused(
        write_text(
            "a.dae",
            dae("", "<triangles><input semantic=\"VERTEX\" source=\"#no\" offset=\"0\"/><p>0 1 2</p></triangles>", "")),
        "no array of positions is called 'no'");
    is_refused(
        write_text(
            "a.dae",
            dae("", "<triangles><input semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><p>0 1 8</p></triangles>", "")),
        "names vertex 8; there are 8");
    is_refused(
        write_text("a.dae",
                   dae("",
                       "<triangles><input semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><p>0 1 2 3</p></triangles>",
                       "")),
        "do not make whole faces");
    is_refused(
        write_text(
            "a.dae",
            dae("", "<triangles><input semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><p>0 1 x</p></triangles>", "")),
        "not a finite number");
    is_refused(write_text("a.dae", dae("", "<tristrips></tristrips>", "")), "export triangles");
    is_refused(write_text("a.dae", dae("", polylist,
                                       "<library_visual_scenes><visual_scene id=\"s\"><node><instance_geometry "
                                       "url=\"#h\"/></node></visual_scene></library_visual_scenes>")),
               "nothing in the file is called 'h'");
    is_refused(write_text("a.dae", dae("", polylist,
                                       "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n\"><instance_node "
                                       "url=\"#n\"/></node></visual_scene></library_visual_scenes>")),
               "refer to each other");
    is_refused(write_text("a.dae", dae("", polylist,
                                       "<library_visual_scenes><visual_scene id=\"s\"><node><rotate>0 0 "
                                       "1</rotate></node></visual_scene></library_visual_scenes>")),
               "wrong number of values");
}

static void garbage_never_crashes_a_reader(void** state)
{
    (void)state;
    static const char* names[] = { "g.poly", "g.obj", "g.stl", "g.dae" };
    const char* seeds[] = { tetra_poly, "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
                            "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
                            "0\nendloop\nendfacet\nendsolid\n",
                            NULL };
    mor_rng rng = { 99 };
    for (int format = 0; format < 4; format++)
        for (int trial = 0; trial < 150; trial++) {
            char text[8192];
            snprintf(text, sizeof text, "%s", seeds[format] ? seeds[format] : dae("", polylist, ""));
            size_t size = strlen(text);
            int changes = 1 + trial % 8;
            for (int k = 0; k < changes; k++)
                text[(size_t)(mor_rng_uniform(&rng) * (double)size)] =
                    trial % 2 ? (char)(unsigned char)(256 * mor_rng_uniform(&rng))
                              : "0123456789 -()/.\n<>"[(int)(19 * mor_rng_uniform(&rng))];
            if (trial % 5 == 0) size = (size_t)(mor_rng_uniform(&rng) * (double)size);
            mor_geometry* pieces[4];
            int count;
            error.text[0] = '\0';
            mor_code code = mor_mesh_read(write_bytes(names[format], text, size), 1, pieces, 4, &count, notes,
                                          sizeof notes, &error);
            if (code != MOR_OK) assert_true(strlen(error.text) > 10);
            for (int i = 0; i < count; i++) mor_geometry_release(pieces[i]);
        }
}

/* ------------------------------------------------------------------------ files of real robots */

static void robot_files_are_read_or_refused_as_they_deserve(void** state)
{
    (void)state;
    const char* robots = MOREAU_SOURCE_DIR "/../shared/data/robots";
    struct stat there;
    if (stat(robots, &there) != 0) {
        print_message("SKIP: %s is not there\n", robots);
        skip();
    }
    static const struct {
        const char *file, *says; /* NULL: accepted */
        int faces;
    } cases[] = {
        { "icub/iCub/meshes/upmc/collision/icub_simple_collision_l_hip_2.dae", NULL, 10 }, /* octagonal prism */
        { "icub/iCub/meshes/upmc/collision/icub_simple_collision_l_hand.dae", NULL, 7 },
        { "icub/iCub/meshes/upmc/collision/icub_simple_collision_l_foot.dae", "the surface is open", 0 },
        { "closed_chain/digit_like_2legs/z.stl", NULL, 74 }, /* a cylinder of 72 sides */
        { "closed_chain/digit_like_2legs/crank.stl", "not convex", 0 },
        { "closed_chain/5bar_linkage_iso3d/part_5.stl", "hole through it", 0 },
        { "atlas/drake_models/atlas/meshes/head_camera_chull.obj", NULL, 20 },
        { "atlas/drake_models/atlas/meshes/utorso_chull.obj", "not convex", 0 }, /* a decimated hull: dents of 8 mm */
        { "panda/meshes/collision/link5.stl", "not convex", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", robots, cases[i].file);
        if (cases[i].says) {
            is_refused(file, cases[i].says);
        } else {
            mor_geometry* g = read_one(file, 1.0);
            assert_int_equal(g->polyhedron->face_count, cases[i].faces);
            assert_int_equal(mor_mass_check(&g->unit, &error), MOR_OK);
            mor_geometry_release(g);
        }
        mor_geometry* hull[4]; /* every one of them has a hull */
        int count;
        assert_int_equal(mor_mesh_read_as(file, 1.0, MOR_MESH_HULL, hull, 4, &count, NULL, 0, &error), MOR_OK);
        assert_int_equal(count, 1);
        assert_string_equal(hull[0]->label, "mesh");
        mor_geometry_release(hull[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_of_a_cube_merge_into_six_squares),
        cmocka_unit_test(repairs_are_made_and_told),
        cmocka_unit_test(bad_meshes_are_refused_with_the_right_sentence),
        cmocka_unit_test(a_refused_dent_names_vertex_face_depth_and_the_way_out),
        cmocka_unit_test(a_solid_that_winds_twice_is_refused),
        cmocka_unit_test(poly_files_hold_expressions_comments_and_either_base),
        cmocka_unit_test(bad_poly_files_are_refused_with_their_place),
        cmocka_unit_test(obj_files_hold_slashes_negative_indices_and_groups),
        cmocka_unit_test(bad_obj_files_are_refused_with_their_place),
        cmocka_unit_test(stl_files_are_read_in_both_encodings),
        cmocka_unit_test(bad_stl_files_are_refused),
        cmocka_unit_test(dae_files_place_geometry_by_unit_axis_and_nodes),
        cmocka_unit_test(bad_dae_files_are_refused_with_their_place),
        cmocka_unit_test(garbage_never_crashes_a_reader),
        cmocka_unit_test(robot_files_are_read_or_refused_as_they_deserve),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
