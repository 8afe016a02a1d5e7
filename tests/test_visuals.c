/* What is for the eye: visual elements of URDF, geoms of MJCF, colours of
 * bodies. Extents come from the numbers in the files and from kinematics by
 * hand. */
#include "common/worlds.h"
#include "geometry/tessellate.h"
#include "io/recording/recording.h"
#include "io/scene/scene_visual.h"
#include "moreau/lab.h"
#include "serve/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void** state)
{
    (void)state;
    strcpy(folder, "/tmp/moreau_visuals_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void** state)
{
    (void)state;
    static const char* const names[] = { "arm.urdf", "tip.stl", "arm.xml", "run.h5" };
    char path[128];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void put(const char* name, const char* text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Bounds of a visual in the world. */
static mor_aabb extent(const mor_world* w, const mor_visual* v)
{
    mor_pose body = mor_pose_identity();
    if (*v->body) {
        mor_body_id id = mor_world_find_body(w, v->body);
        if (!id.index1) fail_msg("no body '%s'", v->body);
        body = test_state(w, id).pose;
    }
    mor_pose pose = mor_pose_mul(&body, &v->pose);
    mor_aabb box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < 3 * v->triangle_count; i++) {
        assert_true(v->triangles[i] >= 0 && v->triangles[i] < v->point_count);
        mor_vec3 p = mor_pose_point(&pose, v->points[v->triangles[i]]);
        box.lower = mor_min3(box.lower, p);
        box.upper = mor_max3(box.upper, p);
    }
    return box;
}

static void is_box(mor_aabb box, mor_vec3 low, mor_vec3 high, double tol, const char* what)
{
    for (int k = 0; k < 3; k++) {
        test_near(mor_axis(box.lower, k), mor_axis(low, k), tol, what);
        test_near(mor_axis(box.upper, k), mor_axis(high, k), tol, what);
    }
}

static const char URDF[] = "<robot name='arm'>\n"
                           "  <material name='sky'><color rgba='0.2 0.4 0.9 0.5'/></material>\n"
                           "  <link name='base'><visual><geometry><cylinder radius='0.1' "
                           "length='0.2'/></geometry></visual></link>\n"
                           "  <link name='upper'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                           "izz='1' ixy='0' ixz='0' iyz='0'/></inertial>\n"
                           "    <visual><origin xyz='0.5 0 0'/><geometry><box size='1 0.1 "
                           "0.2'/></geometry>\n"
                           "      <material name='red'><color rgba='1 0 0 "
                           "1'/></material></visual></link>\n"
                           "  <link name='tip'>\n"
                           "    <visual><origin xyz='0 0 0' rpy='0 0 1.5707963267948966'/>\n"
                           "      <geometry><mesh filename='package://here/tip.stl' scale='2 1 "
                           "1'/></geometry><material name='sky'/></visual>\n"
                           "    <visual><geometry><mesh "
                           "filename='package://here/nothing.stl'/></geometry></visual></link>\n"
                           "  <joint name='shoulder' type='revolute'><parent link='base'/><child "
                           "link='upper'/><axis xyz='0 0 1'/>\n"
                           "    <limit lower='-3' upper='3' effort='1' velocity='1'/></joint>\n"
                           "  <joint name='weld' type='fixed'><parent link='upper'/><child "
                           "link='tip'/><origin xyz='1 0 0'/></joint>\n"
                           "</robot>\n";

/* A wedge: x from 0 to 0.3, y from 0 to 0.1, z from 0 to 0.05. */
static const char STL[] = "solid tip\n"
                          "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 0.1 0\nvertex 0.3 "
                          "0 0\nendloop\nendfacet\n"
                          "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0.3 0 0\nvertex 0 0 "
                          "0.05\nendloop\nendfacet\n"
                          "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 0 0.05\nvertex 0 "
                          "0.1 0\nendloop\nendfacet\n"
                          "facet normal 0 0 1\nouter loop\nvertex 0.3 0 0\nvertex 0 0.1 0\nvertex 0 "
                          "0 0.05\nendloop\nendfacet\n"
                          "endsolid tip\n";

static void visuals_of_a_urdf_robot_are_where_kinematics_says(void** state)
{
    (void)state;
    put("arm.urdf", URDF);
    put("tip.stl", STL);
    char text[400];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.001, end: 1 }\nrobots:\n  - { urdf: "
             "%s/arm.urdf, name: arm, position: [0, 0, 3], "
             "joints: { shoulder: 1.5707963267948966 } }\n",
             folder);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_visuals* v = mor_visuals_read(scene);
    assert_non_null(v);
    assert_int_equal(v->count, 3);
    is_box(extent(w, &v->items[0]), mor_v3(-0.1, -0.1, 2.9), mor_v3(0.1, 0.1, 3.1), 1e-12, "cylinder");
    /* turned by 90 degrees: the box of 1 x 0.1 x 0.2 at 0.5 along x lies along y
   */
    is_box(extent(w, &v->items[1]), mor_v3(-0.05, 0, 2.9), mor_v3(0.05, 1, 3.1), 1e-12, "upper arm");
    /* in the tip x -> y -> -x of the arm, twice as long; the arm's x is the
   * world's y */
    is_box(extent(w, &v->items[2]), mor_v3(-0.6, 0.9, 3), mor_v3(0, 1, 3.05), 1e-7, "tip");
    const double red[4] = { 1, 0, 0, 1 }, sky[4] = { 0.2, 0.4, 0.9, 0.5 };
    assert_memory_equal(v->items[1].color, red, sizeof red);
    assert_memory_equal(v->items[2].color, sky, sizeof sky);
    assert_non_null(strstr(v->notes, "nothing.stl"));
    mor_visuals_free(v);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static const char MJCF[] = "<mujoco>\n"
                           "  <asset><material name='steel' rgba='0.6 0.6 0.7 1'/></asset>\n"
                           "  <worldbody>\n"
                           "    <geom type='box' size='1 1 0.1' pos='0 0 -0.1' group='1' rgba='0 1 0 "
                           "1'/>\n"
                           "    <body name='arm' pos='0 0 0.5'>\n"
                           "      <joint name='turn' axis='0 0 1'/>\n"
                           "      <geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.05' "
                           "material='steel' contype='0' conaffinity='0'/>\n"
                           "      <geom type='sphere' size='0.3' group='3'/>\n"
                           "    </body>\n"
                           "  </worldbody>\n"
                           "</mujoco>\n";

static void geoms_of_an_mjcf_model_are_drawn_by_group(void** state)
{
    (void)state;
    put("arm.xml", MJCF);
    char text[400];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.001, end: 1 }\nrobots:\n  - { mjcf: "
             "%s/arm.xml, name: m }\n",
             folder);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_visuals* v = mor_visuals_read(scene);
    assert_int_equal(v->count, 2);
    is_box(extent(w, &v->items[0]), mor_v3(-1, -1, -0.2), mor_v3(1, 1, 0), 1e-12, "ground");
    is_box(extent(w, &v->items[1]), mor_v3(-0.05, -0.05, 0.45), mor_v3(0.45, 0.05, 0.55), 1e-12, "arm");
    const double green[4] = { 0, 1, 0, 1 }, steel[4] = { 0.6, 0.6, 0.7, 1 };
    assert_memory_equal(v->items[0].color, green, sizeof green);
    assert_memory_equal(v->items[1].color, steel, sizeof steel);
    mor_visuals_free(v);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Volume by the divergence theorem: counter-clockwise from outside, nearly that
 * of the shape. */
static void triangles_of_shapes_enclose_their_volume(void** state)
{
    (void)state;
    mor_geometry* shapes[] = { mor_geometry_sphere(0.7, NULL),         mor_geometry_capsule(0.3, 0.8, NULL),
                               mor_geometry_cylinder(0.4, 1, 0, NULL), mor_geometry_cone(0.5, 1.2, NULL),
                               mor_geometry_ellipsoid(1, 2, 3, NULL),  mor_geometry_box(1, 2, 3, NULL) };
    mor_arena* arena = mor_arena_create(NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        mor_triangles t;
        assert_true(mor_tessellate(shapes[i], arena, &t));
        double volume = 0.0;
        for (int f = 0; f < t.count; f++)
            volume += mor_dot(t.points[t.corners[3 * f]],
                              mor_cross(t.points[t.corners[3 * f + 1]], t.points[t.corners[3 * f + 2]])) /
                      6;
        test_near(volume / shapes[i]->unit.mass, 1.0, 0.02, shapes[i]->label);
        mor_geometry_release(shapes[i]);
    }
    mor_arena_destroy(arena);
}

static void bodies_have_the_colours_of_the_scene_and_recordings_keep_them(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text("moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n"
                                   "  - { name: a, shape: { sphere: 1 }, color: [1, 0.5, 0], opacity: 0.25 "
                                   "}\n"
                                   "  - { name: b, shape: { sphere: 1 }, position: [5, 0, 0], color: "
                                   "\"#0080ff\" }\n"
                                   "  - { name: c, shape: { sphere: 1 }, position: [9, 0, 0], opacity: 0.5 "
                                   "}\n"
                                   "  - { name: d, shape: { sphere: 1 }, position: [15, 0, 0] }\n"
                                   "  - { name: e, shape: { sphere: 1 }, position: [19, 0, 0], color: orange }\n",
                                   &scene);
    double c[4];
    assert_true(mor_scene_color(scene, "e", c)); /* CSS: 255 165 0 */
    assert_true(c[0] == 1 && c[1] == 165 / 255.0 && c[2] == 0 && c[3] == 1);
    assert_true(mor_scene_color(scene, "a", c));
    assert_true(c[0] == 1 && c[1] == 0.5 && c[2] == 0 && c[3] == 0.25);
    assert_true(mor_scene_color(scene, "b", c));
    assert_true(c[0] == 0 && c[1] == 128 / 255.0 && c[2] == 1 && c[3] == 1);
    assert_true(mor_scene_color(scene, "c", c));
    assert_true(isnan(c[0]) && c[3] == 0.5);
    assert_false(mor_scene_color(scene, "d", c));
    char path[128];
    snprintf(path, sizeof path, "%s/run.h5", folder);
    mor_error error = { 0 };
    mor_recorder* r = mor_recorder_open(path, w, scene, &error);
    assert_non_null(r);
    assert_int_equal(mor_recorder_close(r, &error), MOR_OK);
    mor_recording* read = mor_recording_open(path, &error);
    assert_non_null(read);
    int rows, columns;
    double* table = mor_recording_table(read, "/bodies/color", &rows, &columns, &error);
    assert_non_null(table);
    assert_int_equal(rows, 5);
    assert_true(table[1] == 0.5 && table[3] == 0.25 && table[4 + 2] == 1 && isnan(table[12]));
    free(table);
    mor_recording_close(read);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* What the viewer is told of the visuals: from the text of a description, up to the next list. */
static char* visuals_of(char* description)
{
    char* from = strstr(description, "\"visuals\"");
    assert_non_null(from);
    return from;
}

/* A running scene reads its visuals from the scene, a recording from its own tables: the page is told the same. */
static void a_recording_shows_the_visuals_of_its_scene(void** state)
{
    (void)state;
    put("arm.xml", MJCF);
    char text[400], path[128], *live = NULL, *stored = NULL;
    size_t length;
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.001, end: 1 }\nrobots:\n  - { mjcf: %s/arm.xml, name: m }\n", folder);
    snprintf(path, sizeof path, "%s/run.h5", folder);
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_text(text, &scene);
    FILE* memory = open_memstream(&live, &length);
    assert_true(mor_view_describe_world(memory, w, scene));
    fclose(memory);
    mor_recorder* r = mor_recorder_open(path, w, scene, &error);
    if (!r) fail_msg("%s", error.text);
    assert_int_equal(mor_recorder_close(r, &error), MOR_OK);
    mor_recording* read = mor_recording_open(path, &error);
    if (!read) fail_msg("%s", error.text);
    memory = open_memstream(&stored, &length);
    assert_int_equal(mor_view_describe_recording(memory, read, &error), MOR_OK);
    fclose(memory);
    assert_non_null(strstr(visuals_of(live), "\"color\": [0, 1, 0, 1]"));
    assert_string_equal(visuals_of(live), visuals_of(stored));
    free(live);
    free(stored);
    mor_recording_close(read);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void wrong_colours_are_refused_with_their_place(void** state)
{
    (void)state;
    static const char* const wrong[] = { "color: reddish",     "color: [1, 2, 0]", "color: [1, 0]", "color: \"#12345\"",
                                         "color: \"#12345g\"", "opacity: 2",       "opacity: -1",   "color: { r: 1 }" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[300];
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n  - { shape: { "
                 "sphere: 1 }, %s }\n",
                 wrong[i]);
        if (mor_scene_parse(text, strlen(text), "case.yaml", NULL, NULL, &error)) fail_msg("%s is accepted", wrong[i]);
        assert_int_equal(error.line, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visuals_of_a_urdf_robot_are_where_kinematics_says),
        cmocka_unit_test(geoms_of_an_mjcf_model_are_drawn_by_group),
        cmocka_unit_test(triangles_of_shapes_enclose_their_volume),
        cmocka_unit_test(bodies_have_the_colours_of_the_scene_and_recordings_keep_them),
        cmocka_unit_test(a_recording_shows_the_visuals_of_its_scene),
        cmocka_unit_test(wrong_colours_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
