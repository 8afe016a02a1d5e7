/* Convex decomposition: torus, cup, L, chain link, gear and an organic mesh against their own volume (divergence
 * theorem) and against distances by brute force; meshes with faults; the file that keeps the pieces; and bodies made of
 * them, in motion. */
#include "common/solids.h"
#include "common/worlds.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static mor_geometry* pieces[1024];
static mor_decomposition report;
static char notes[2048];
static mor_error error;

static int make_folder(void** state)
{
    (void)state;
    strcpy(folder, "/tmp/moreau_pieces_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void** state)
{
    (void)state;
    DIR* d = opendir(folder);
    char path[512];
    for (struct dirent* e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            unlink(path);
        }
    if (d) closedir(d);
    return rmdir(folder);
}

static mor_code decompose(const solid_mesh* m, const mor_decompose_def* def)
{
    error = (mor_error){ 0 };
    return mor_geometry_decompose(m->points, m->point_count, m->sizes, m->corners, m->face_count, def, pieces, 1024,
                                  &report, notes, sizeof notes, &error);
}

static void release(void)
{
    for (int i = 0; i < report.pieces; i++) mor_geometry_release(pieces[i]);
}

/* Distance of p from a triangle by its own quadratic program: the best of the plane foot and the three edges. */
static double triangle_distance(mor_vec3 p, mor_vec3 a, mor_vec3 b, mor_vec3 c)
{
    mor_vec3 n = mor_cross(mor_sub(b, a), mor_sub(c, a)), v[3] = { a, b, c };
    double best = INFINITY, nn = mor_dot(n, n);
    if (nn > 0.0) {
        mor_vec3 foot = mor_madd(p, -mor_dot(n, mor_sub(p, a)) / nn, n);
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && mor_dot(n, mor_cross(mor_sub(v[(k + 1) % 3], v[k]), mor_sub(foot, v[k]))) >= 0.0;
        if (inside) best = mor_norm(mor_sub(p, foot));
    }
    for (int k = 0; k < 3; k++) {
        mor_vec3 e = mor_sub(v[(k + 1) % 3], v[k]);
        double t = mor_dot(e, mor_sub(p, v[k])) / mor_dot(e, e);
        best = fmin(best, mor_norm(mor_sub(p, mor_madd(v[k], t < 0 ? 0 : t > 1 ? 1 : t, e))));
    }
    return best;
}

/* Solid angle of the mesh about p over 4 pi: 1 inside, 0 outside (van Oosterom and Strackee). */
static double solid_angle(const solid_mesh* m, mor_vec3 p)
{
    double sum = 0.0;
    for (int f = 0; f < m->face_count; f++) {
        mor_vec3 a = mor_sub(m->points[m->corners[3 * f]], p), b = mor_sub(m->points[m->corners[3 * f + 1]], p),
                 c = mor_sub(m->points[m->corners[3 * f + 2]], p);
        double la = mor_norm(a), lb = mor_norm(b), lc = mor_norm(c);
        sum += 2 * atan2(mor_dot(a, mor_cross(b, c)),
                         la * lb * lc + mor_dot(a, b) * lc + mor_dot(b, c) * la + mor_dot(c, a) * lb);
    }
    return sum / (4 * SOLID_PI);
}

/* The largest distance of random points of the pieces from the solid, by brute force. */
static double hausdorff_by_hand(const solid_mesh* m, int samples)
{
    double most = 0.0;
    mor_rng rng = { 7 };
    for (int s = 0; s < samples; s++) {
        const mor_polyhedron* P = pieces[s % report.pieces]->polyhedron;
        mor_vec3 p = { 0, 0, 0 };
        double weight = 0.0;
        int f = (int)(mor_rng_uniform(&rng) * P->face_count) % P->face_count;
        for (int k = P->face_start[f]; k < P->face_start[f + 1]; k++) {
            double w = mor_rng_uniform(&rng);
            p = mor_madd(p, w, P->vertices[P->face_vertices[k]]);
            weight += w;
        }
        p = mor_scale(1.0 / weight, p);
        double best = INFINITY;
        for (int t = 0; t < m->face_count && best > most; t++)
            best = fmin(best, triangle_distance(p, m->points[m->corners[3 * t]], m->points[m->corners[3 * t + 1]],
                                                m->points[m->corners[3 * t + 2]]));
        if (best > most && solid_angle(m, p) < 0.5) most = best;
    }
    return most;
}

static void check(const char* name, solid_mesh m, double volume_bar)
{
    if (decompose(&m, NULL)) fail_msg("%s: %s", name, error.text);
    double volume = solid_volume(&m), mass = 0.0, hulls = 0.0;
    mor_mass whole, parts[1024];
    for (int i = 0; i < report.pieces; i++) {
        mass += pieces[i]->unit.mass;
        parts[i] = pieces[i]->unit;
        mor_geometry* hull =
            mor_geometry_hull(pieces[i]->polyhedron->vertices, pieces[i]->polyhedron->vertex_count, &error);
        hulls += hull->unit.mass;
        mor_geometry_release(hull);
    }
    whole = mor_mass_combine(parts, report.pieces);
    double by_hand = hausdorff_by_hand(&m, 3000);
    print_message("%-8s %6d triangles: %2d pieces, volume %+.2f %%, Hausdorff %.2f %% of the diagonal (%.2f by hand)\n",
                  name, m.face_count, report.pieces, 100 * (hulls / volume - 1),
                  100 * report.hausdorff / report.diagonal, 100 * by_hand / report.diagonal);
    test_near(mass / volume, 1.0, 1e-9, "mass of the mesh itself");
    test_near(report.volume / volume, 1.0, 1e-9, "volume told");
    test_near(report.pieces_volume / hulls, 1.0, 1e-6, "volume of the pieces told");
    assert_true(fabs(hulls / volume - 1) <= volume_bar);
    assert_true(report.hausdorff <= 0.02 * report.diagonal);
    assert_true(by_hand <= 0.02 * report.diagonal);
    assert_true(by_hand <= report.hausdorff + 0.004 * report.diagonal); /* both are sampled */
    assert_int_equal(mor_mass_check(&whole, &error), MOR_OK);
    release();
    solid_free(&m);
}

static void torus_cup_L_link_gear_and_an_organic_mesh_meet_the_bars(void** state)
{
    (void)state;
    check("torus", solid_torus(48, 24), 0.02);
    check("cup", solid_cup(32), 0.05);
    check("L", solid_L(), 0.05);
    check("link", solid_link(60, 16), 0.05);
    check("gear", solid_gear(16), 0.05);
    check("organic", solid_organic(112), 0.05); /* 49,728 triangles */
}

/* J of a torus of radii R, r (mesh with many sides): m (R^2 + 3/4 r^2) about the axis. */
static void mass_properties_are_those_of_the_mesh(void** state)
{
    (void)state;
    solid_mesh m = solid_torus(200, 100);
    mor_decompose_def def = { 8, 0.1 };
    assert_int_equal(decompose(&m, &def), MOR_OK);
    mor_mass parts[1024];
    for (int i = 0; i < report.pieces; i++) parts[i] = pieces[i]->unit;
    mor_mass whole = mor_mass_combine(parts, report.pieces);
    double mass = 2 * SOLID_PI * SOLID_PI * 0.09;
    test_near(whole.mass / mass, 1.0, 2e-3, "volume 2 pi^2 R r^2");
    test_near(whole.inertia.m[2][2] / whole.mass, 1 + 0.75 * 0.09, 2e-3, "about the axis");
    test_near(whole.inertia.m[0][0] / whole.mass, 0.5 + 5.0 / 8 * 0.09, 2e-3, "about a diameter");
    test_near(mor_norm(whole.com), 0.0, 1e-3, "centre"); /* the points of the tube are not quite symmetric */
    release();
    solid_free(&m);
}

static void the_same_mesh_gives_the_same_bits(void** state)
{
    (void)state;
    solid_mesh m = solid_gear(9);
    assert_int_equal(decompose(&m, NULL), MOR_OK);
    int count = report.pieces;
    mor_geometry* first[1024];
    memcpy(first, pieces, sizeof first);
    assert_int_equal(decompose(&m, NULL), MOR_OK);
    assert_int_equal(report.pieces, count);
    for (int i = 0; i < count; i++) {
        const mor_polyhedron *a = first[i]->polyhedron, *b = pieces[i]->polyhedron;
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_memory_equal(a->vertices, b->vertices, (size_t)a->vertex_count * sizeof *a->vertices);
        assert_memory_equal(&first[i]->unit, &pieces[i]->unit, sizeof first[i]->unit);
        mor_geometry_release(first[i]);
    }
    release();
    solid_free(&m);
}

static void a_convex_mesh_is_one_piece(void** state)
{
    (void)state;
    static const double xy[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 2 }, { 0, 2 } };
    static const int t[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    solid_mesh m = solid_prism(xy, 4, t, 2, 3);
    assert_int_equal(decompose(&m, NULL), MOR_OK);
    assert_int_equal(report.pieces, 1);
    test_near(pieces[0]->unit.mass, 6.0, 1e-12, "volume");
    test_near(report.hausdorff, 0.0, 1e-9, "distance");
    release();
    solid_free(&m);
}

/* A ball with a cavity: the surface of the cavity looks inward. Only cuts through it make pieces without it. */
static void a_cavity_stays_empty(void** state)
{
    (void)state;
    solid_mesh m = solid_organic(20), inner = solid_organic(20);
    int base = m.point_count;
    for (int i = 0; i < inner.point_count; i++)
        solid_point(&m, 0.6 * inner.points[i].x, 0.6 * inner.points[i].y, 0.6 * inner.points[i].z);
    for (int f = 0; f < inner.face_count; f++)
        solid_triangle(&m, base + inner.corners[3 * f], base + inner.corners[3 * f + 2],
                       base + inner.corners[3 * f + 1]);
    mor_decompose_def def = { 128, 0.04 };
    assert_int_equal(decompose(&m, &def), MOR_OK);
    test_near(report.volume / solid_volume(&inner), 1 - 0.216, 1e-9, "volume without the cavity");
    for (int i = 0; i < report.pieces; i++) {
        const mor_polyhedron* P = pieces[i]->polyhedron;
        bool holds_centre = true;
        for (int f = 0; f < P->face_count; f++) holds_centre = holds_centre && P->offsets[f] > 0.0;
        assert_false(holds_centre);
    }
    assert_true(report.hausdorff < 0.08 * report.diagonal);
    release();
    solid_free(&m);
    solid_free(&inner);
}

static void expect_note(const solid_mesh* m, double volume, const char* words)
{
    if (decompose(m, NULL)) fail_msg("%s: %s", words, error.text);
    if (!strstr(notes, words)) fail_msg("'%s' is not in '%s'", words, notes);
    test_near(report.volume / volume, 1.0, 1e-2, words);
    release();
}

static void faults_of_meshes_are_repaired_and_told(void** state)
{
    (void)state;
    solid_mesh m = solid_cup(16);
    double volume = solid_volume(&m);
    for (int f = 0; f < m.face_count; f += 3) { /* a third of the triangles turned */
        int t = m.corners[3 * f];
        m.corners[3 * f] = m.corners[3 * f + 1];
        m.corners[3 * f + 1] = t;
    }
    expect_note(&m, volume, "turned to agree");
    solid_free(&m);

    m = solid_cup(16);
    for (int f = 0; f < m.face_count; f++) {
        int t = m.corners[3 * f];
        m.corners[3 * f] = m.corners[3 * f + 1];
        m.corners[3 * f + 1] = t;
    }
    expect_note(&m, volume, "inside-out");
    solid_free(&m);

    m = solid_cup(16);
    m.face_count -= 2; /* a piece of floor and bottom is missing */
    expect_note(&m, volume, "closed by");
    solid_free(&m);

    m = solid_cup(16); /* every triangle with points of its own, a hair apart */
    solid_mesh soup = { 0 };
    for (int f = 0; f < m.face_count; f++) {
        for (int k = 0; k < 3; k++) {
            mor_vec3 p = m.points[m.corners[3 * f + k]];
            solid_point(&soup, p.x + 1e-9 * (f % 7), p.y, p.z);
        }
        solid_triangle(&soup, 3 * f, 3 * f + 1, 3 * f + 2);
    }
    expect_note(&soup, volume, "welded");
    solid_free(&soup);
    solid_free(&m);

    static const double xy[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    static const int t[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    m = solid_prism(xy, 4, t, 2, 1);
    for (int i = 0; i < 8; i++) solid_point(&m, m.points[i].x + 0.5, m.points[i].y + 0.3, m.points[i].z + 0.2);
    for (int f = 0, n = m.face_count; f < n; f++)
        solid_triangle(&m, 8 + m.corners[3 * f], 8 + m.corners[3 * f + 1], 8 + m.corners[3 * f + 2]);
    expect_note(&m, 2.0, "overlaps itself");
    solid_free(&m);
}

static void what_is_no_solid_is_refused(void** state)
{
    (void)state;
    solid_mesh sheet = { 0 };
    for (int i = 0; i < 4; i++) solid_point(&sheet, i % 2, i / 2, 0.1 * (i == 3));
    solid_triangle(&sheet, 0, 1, 3);
    solid_triangle(&sheet, 0, 3, 2);
    assert_int_equal(decompose(&sheet, NULL), MOR_BAD_INPUT);
    assert_true(strstr(error.text, "open") || strstr(error.text, "no volume"));
    solid_free(&sheet);

    solid_mesh tube = solid_cup(24); /* only the outer wall */
    int kept = 0;
    for (int f = 0; f < tube.face_count; f++) {
        bool wall = true;
        for (int k = 0; k < 3; k++) wall = wall && tube.corners[3 * f + k] < 48;
        if (!wall) continue;
        for (int k = 0; k < 3; k++) tube.corners[3 * kept + k] = tube.corners[3 * f + k];
        kept++;
    }
    tube.face_count = kept;
    assert_int_equal(decompose(&tube, NULL), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "open"));
    solid_free(&tube);

    solid_mesh L = solid_L();
    assert_int_equal(decompose(&L, &(mor_decompose_def){ 0, 0.01 }), MOR_BAD_INPUT);
    assert_int_equal(decompose(&L, &(mor_decompose_def){ 5, NAN }), MOR_BAD_INPUT);
    L.corners[4] = 99;
    assert_int_equal(decompose(&L, NULL), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "vertex 99"));
    L.corners[4] = 2;
    L.points[3].x = NAN;
    assert_int_equal(decompose(&L, NULL), MOR_BAD_INPUT);
    solid_free(&L);
}

/* -------------------------------------------------------------------------------------------------------- files */

static const char* put(const char* name, solid_mesh m)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(solid_write(&m, path));
    solid_free(&m);
    return path;
}

static void pieces_are_kept_in_a_file_and_have_the_same_bits(void** state)
{
    (void)state;
    const char* path = put("gear.obj", solid_gear(7));
    mor_geometry* first[1024];
    mor_decomposition was;
    assert_int_equal(mor_mesh_decompose(path, 0.5, 0, NULL, first, 1024, &was, notes, sizeof notes, &error), MOR_OK);
    assert_false(was.cached);
    assert_int_equal(mor_mesh_decompose(path, 0.5, 0, NULL, pieces, 1024, &report, notes, sizeof notes, &error),
                     MOR_OK);
    assert_true(report.cached);
    assert_int_equal(was.pieces, report.pieces);
    assert_true(was.hausdorff == report.hausdorff && was.volume == report.volume);
    for (int i = 0; i < was.pieces; i++) {
        const mor_polyhedron *a = first[i]->polyhedron, *b = pieces[i]->polyhedron;
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_memory_equal(a->vertices, b->vertices, (size_t)a->vertex_count * sizeof *a->vertices);
        assert_memory_equal(&first[i]->unit, &pieces[i]->unit, sizeof first[i]->unit);
        mor_geometry_release(first[i]);
    }
    release();
    mor_decompose_def other = { 64, 0.03 }; /* another setting is another file */
    assert_int_equal(mor_mesh_decompose(path, 1, 0, &other, pieces, 1024, &report, notes, sizeof notes, &error),
                     MOR_OK);
    assert_false(report.cached);
    release();
    DIR* d = opendir(folder); /* a damaged file is made anew */
    char kept[512] = "";
    for (struct dirent* e; (e = readdir(d));)
        if (strstr(e->d_name, "gear.obj.pieces-")) {
            snprintf(kept, sizeof kept, "%s/%s", folder, e->d_name);
            assert_int_equal(truncate(kept, 400), 0);
        }
    closedir(d);
    assert_true(kept[0]);
    assert_int_equal(mor_mesh_decompose(path, 1, 0, NULL, pieces, 1024, &report, notes, sizeof notes, &error), MOR_OK);
    assert_false(report.cached);
    release();
}

/* -------------------------------------------------------------------------------------------------------- motion */

static mor_world* build(const char* bodies, mor_scene** scene)
{
    char text[4000];
    snprintf(text, sizeof text, "moreau: 1\ntime: { step: 0.002, end: 10 }\nbodies:\n%s", bodies);
    return test_scene_text(text, scene);
}

static mor_vec3 place(const mor_world* w, const char* name) { return test_state(w, mor_world_find_body(w, name)).com; }

static void a_ball_passes_through_the_torus_and_another_does_not(void** state)
{
    (void)state;
    put("torus.obj", solid_torus(48, 24));
    char text[1000];
    snprintf(text, sizeof text,
             "  - { name: ring, fixed: true, shape: { mesh: %s/torus.obj, decompose: {} } }\n"
             "  - { name: small, shape: { sphere: 0.62 }, position: [0.01, 0.01, 1.2] }\n"
             "  - { name: ring2, fixed: true, shape: { mesh: %s/torus.obj, decompose: {} }, position: [9, 0, 0] }\n"
             "  - { name: large, shape: { sphere: 0.75 }, position: [9, 0, 1.2], friction: 1 }\n",
             folder, folder);
    mor_scene* scene;
    mor_world* w = build(text, &scene);
    test_until(w, 1.5);
    assert_true(place(w, "small").z < -3);
    /* it rests where the spheres touch the tube: distance of the centre from the ring 0.75 + 0.3, height
     * sqrt(1.05^2 - 1); the pieces lie inside by at most 0.4 % of the diagonal, in height a few times that */
    test_near(place(w, "large").z, sqrt(1.05 * 1.05 - 1), 0.06, "rests on the ring");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_ball_rests_in_the_cup(void** state)
{
    (void)state;
    put("cup.obj", solid_cup(32));
    char text[1000];
    snprintf(text, sizeof text,
             "  - { name: ground, fixed: true, shape: plane }\n"
             "  - { name: cup, shape: { mesh: %s/cup.obj, decompose: { pieces: 64 } } }\n"
             "  - { name: ball, shape: { sphere: 0.3 }, position: [0.2, 0.1, 2.2] }\n",
             folder);
    mor_scene* scene;
    mor_world* w = build(text, &scene);
    mor_decomposition told;
    assert_non_null(mor_scene_decomposition(scene, 0, &told));
    assert_null(mor_scene_decomposition(scene, 1, NULL));
    test_near(told.pieces_volume / told.volume, 1.0, 0.05, "volume");
    assert_non_null(strstr(mor_scene_notes(scene), "Hausdorff"));
    test_until(w, 2.0);
    mor_vec3 ball = place(w, "ball"), cup = place(w, "cup");
    test_near(ball.z, 0.5, 1e-6, "ball on the floor of the cup: 0.2 + 0.3");
    assert_true(hypot(ball.x - cup.x, ball.y - cup.y) < 0.55 + 1e-3);
    assert_true(hypot(cup.x, cup.y) < 0.05);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void chain_links_hang_in_each_other_for_ten_seconds(void** state)
{
    (void)state;
    put("link.obj", solid_link(40, 12));
    char text[2000];
    snprintf(
        text, sizeof text,
        "  - { name: top, fixed: true, shape: { mesh: %s/link.obj, decompose: {}, scale: 0.1 }, position: [0, 0, 2], "
        "orientation: { rpy: [0, 90, 0] } }\n"
        "  - { name: middle, shape: { mesh: %s/link.obj, decompose: {}, scale: 0.1 }, position: [0, 0, 1.72], "
        "orientation: { rpy: [0, 90, 90] } }\n"
        "  - { name: low, shape: { mesh: %s/link.obj, decompose: {}, scale: 0.1 }, position: [0, 0, 1.44], "
        "orientation: { rpy: [0, 90, 0] } }\n",
        folder, folder, folder);
    mor_scene* scene;
    mor_world* w = build(text, &scene);
    test_until(w, 10.0);
    /* hanging: centres apart by the inner length 2 (0.8 + 1 - 0.35) minus the wire, 0.1 * (3.6 - 2 * 0.35) = 0.29 */
    test_near(place(w, "middle").z, 2 - 0.29, 0.012, "middle");
    test_near(place(w, "low").z, 2 - 0.58, 0.024, "low");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_peg_enters_a_socket(void** state)
{
    (void)state;
    double outer[4], inner[4], angle[4];
    for (int i = 0; i < 4; i++) {
        outer[i] = sqrt(2.0);
        inner[i] = 0.41 * sqrt(2.0); /* hole of edge 0.82 */
        angle[i] = SOLID_PI / 4 + SOLID_PI / 2 * i;
    }
    put("socket.obj", solid_ring(4, outer, inner, angle, 1));
    char text[1000];
    snprintf(text, sizeof text,
             "  - { name: ground, fixed: true, shape: plane, friction: 0 }\n"
             "  - { name: socket, fixed: true, shape: { mesh: %s/socket.obj, decompose: {} }, friction: 0.1 }\n"
             "  - { name: peg, shape: { box: [0.8, 0.8, 1.5] }, position: [0.005, 0, 1.9], friction: 0.1 }\n",
             folder);
    mor_scene* scene;
    mor_world* w = build(text, &scene);
    test_until(w, 2.0);
    test_near(place(w, "peg").z, 0.75, 1e-6, "the peg stands on the ground");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_scene_says_what_is_wrong_with_its_decomposition(void** state)
{
    (void)state;
    static const struct {
        const char *shape, *words;
    } cases[] = {
        { "{ sphere: 1, decompose: {} }", "decompose is for a mesh" },
        { "{ mesh: nothing.obj, decompose: {} }", "nothing.obj" },
        { "{ mesh: nothing.obj, decompose: { piece: 3 } }", "pieces" },
        { "{ mesh: nothing.obj, decompose: { pieces: 0 } }", "pieces" },
        { "{ mesh: nothing.obj, decompose: 3 }", "decompose" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, "moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n  - { shape: %s }\n",
                 cases[i].shape);
        mor_scene* scene = mor_scene_parse(text, strlen(text), "case.yaml", NULL, NULL, &error);
        if (scene) fail_msg("%s is accepted", cases[i].shape);
        if (!strstr(error.text, cases[i].words)) fail_msg("%s: %s", cases[i].shape, error.text);
        assert_int_equal(error.line, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus_cup_L_link_gear_and_an_organic_mesh_meet_the_bars),
        cmocka_unit_test(mass_properties_are_those_of_the_mesh),
        cmocka_unit_test(the_same_mesh_gives_the_same_bits),
        cmocka_unit_test(a_convex_mesh_is_one_piece),
        cmocka_unit_test(a_cavity_stays_empty),
        cmocka_unit_test(faults_of_meshes_are_repaired_and_told),
        cmocka_unit_test(what_is_no_solid_is_refused),
        cmocka_unit_test(pieces_are_kept_in_a_file_and_have_the_same_bits),
        cmocka_unit_test(a_ball_passes_through_the_torus_and_another_does_not),
        cmocka_unit_test(a_ball_rests_in_the_cup),
        cmocka_unit_test(chain_links_hang_in_each_other_for_ten_seconds),
        cmocka_unit_test(a_peg_enters_a_socket),
        cmocka_unit_test(a_scene_says_what_is_wrong_with_its_decomposition),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
