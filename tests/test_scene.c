/* Good scenes: every key, defaults, copies, random numbers, includes, overrides. Expected numbers come from
 * the definitions of the format written out here, never from the reader. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "io/scene/scene_def.h"

static const double pi = 3.141592653589793;

static mor_scene* parse_with(const char* text, const char* const* overrides)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test.yaml", overrides, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    return scene;
}

static mor_scene* parse(const char* text) { return parse_with(text, NULL); }

static const mor_scene_item* item(const mor_scene* scene, const char* name)
{
    for (int i = 0; i < scene->item_count; i++)
        if (strcmp(scene->items[i].name, name) == 0) return &scene->items[i];
    fail_msg("no body '%s'", name);
    return NULL;
}

static const mor_body_def* def_of(const mor_scene* scene, const char* name)
{
    return &scene->bodies[item(scene, name)->body].def;
}

static void assert_vector(mor_vec3 v, double x, double y, double z)
{
    if (!(v.x == x && v.y == y && v.z == z))
        fail_msg("(%.17g, %.17g, %.17g) instead of (%.17g, %.17g, %.17g)", v.x, v.y, v.z, x, y, z);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g instead of %.17g", a, b);
}

static void assert_vector_near(mor_vec3 v, double x, double y, double z)
{
    assert_near(v.x, x, 1e-14);
    assert_near(v.y, y, 1e-14);
    assert_near(v.z, z, 1e-14);
}

static void an_almost_empty_scene_has_the_documented_defaults(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\nbodies: [ { shape: { sphere: 2 } } ]\n");
    assert_string_equal(mor_scene_name(scene), "test");
    assert_int_equal(scene->dimension, 3);
    assert_vector(scene->gravity, 0, 0, -9.81);
    assert_true(scene->step == 0.01 && mor_scene_end(scene) == 1.0);
    assert_int_equal(mor_scene_record_every(scene), 1);
    assert_true(mor_scene_record_contacts(scene));
    assert_string_equal(mor_scene_notes(scene), "");
    assert_string_equal(mor_scene_text(scene), "moreau: 1\nbodies: [ { shape: { sphere: 2 } } ]\n");
    const mor_body_def* def = def_of(scene, "body_0");
    assert_int_equal(def->kind, MOR_DYNAMIC);
    assert_true(def->mass == 0.0 && !def->has_inertia && !def->has_com);
    assert_vector(def->pose.position, 0, 0, 0);
    assert_true(def->pose.rotation.w == 1.0);
    assert_int_equal(def->shape_count, 1);
    assert_int_equal(def->shapes[0].geometry->kind, MOR_SPHERE);
    assert_true(def->shapes[0].geometry->size[0] == 2.0);
    const mor_material* material = &scene->materials[def->material];
    assert_true(material->friction == 0.5 && material->restitution == 0.0 && material->density == 1000.0);
    mor_scene_destroy(scene);
}

static void every_key_of_a_body_is_read(void** state)
{
    (void)state;
    mor_scene* scene = parse(
        "moreau: 1\nname: all keys\ngravity: [1, 2, 3]\ntime: { step: 0.005, end: 7 }\nseed: 3\n"
        "materials:\n  wood: { friction: 0.3, restitution: 0.1, density: 600 }\n  ice: { friction: 0.1 }\n"
        "pairs:\n  - { materials: [wood, ice], friction: 0.02 }\n  - { materials: [wood, wood], restitution: 0.7 }\n"
        "bodies:\n"
        "  - name: peg\n    shape: { box: [1, 2, 3], scale: 0.5 }\n    material: wood\n    mass: 4\n"
        "    inertia: [4, 5, 6, 0.1, 0.2, 0.3]\n    com: [0.1, 0.2, 0.3]\n    position: [1, 2, 3]\n"
        "    orientation: { axis: [0, 0, 2], angle: 90 }\n    velocity: [4, 5, 6]\n    angular_velocity: [7, 8, 9]\n"
        "  - { name: belt, shape: plane, fixed: true, surface_velocity: [0.2, 0, 0], friction: 0.9 }\n"
        "  - { name: plate, shape: { box: [1, 1, 0.1] }, kinematic: { velocity: [0, 1, 0], angular_velocity: [0, 0, 2] "
        "} }\n"
        "forces:\n  - { body: peg, force: [12, 0, 0], torque: [0, 1, 0], at: [0, 0, 1], frame: body, from: 0.5, until: "
        "1 }\n"
        "  - { body: peg, force: [1, 0, 0] }\n"
        "ignore_pairs: [ [peg, plate] ]\nrecord: { every: 5, contacts: false, energy: false }\n"
        "joints: []\nrobots: []\ncontrollers: []\n");
    assert_string_equal(mor_scene_name(scene), "all keys");
    assert_vector(scene->gravity, 1, 2, 3);
    assert_true(scene->step == 0.005 && mor_scene_end(scene) == 7.0);
    assert_int_equal(scene->rng.state, 3);

    const mor_body_def* peg = def_of(scene, "peg");
    assert_true(peg->mass == 4.0 && peg->has_inertia && peg->has_com);
    assert_true(peg->inertia.m[0][0] == 4 && peg->inertia.m[1][1] == 5 && peg->inertia.m[2][2] == 6);
    assert_true(peg->inertia.m[0][1] == 0.1 && peg->inertia.m[2][0] == 0.2 && peg->inertia.m[1][2] == 0.3);
    assert_vector(peg->com, 0.1, 0.2, 0.3);
    assert_vector(peg->pose.position, 1, 2, 3);
    assert_near(peg->pose.rotation.w, sqrt(0.5), 1e-15);
    assert_near(peg->pose.rotation.z, sqrt(0.5), 1e-15);
    assert_vector(peg->velocity, 4, 5, 6);
    assert_vector(peg->angular_velocity, 7, 8, 9);
    assert_near(peg->shapes[0].geometry->unit.mass, 0.5 * 1.0 * 1.5, 1e-15);
    assert_string_equal(scene->materials[peg->material].name, "wood");

    assert_int_equal(scene->pair_count, 2);
    assert_true(scene->pairs[0].friction == 0.02 && scene->pairs[0].restitution == 0.1);
    assert_true(scene->pairs[1].friction == 0.3 && scene->pairs[1].restitution == 0.7);

    const mor_body_def* belt = def_of(scene, "belt");
    assert_int_equal(belt->kind, MOR_FIXED);
    assert_vector(belt->surface_velocity, 0.2, 0, 0);
    assert_true(scene->materials[belt->material].friction == 0.9);
    const mor_body_def* plate = def_of(scene, "plate");
    assert_int_equal(plate->kind, MOR_KINEMATIC);
    assert_vector(plate->velocity, 0, 1, 0);
    assert_vector(plate->angular_velocity, 0, 0, 2);

    assert_int_equal(scene->force_count, 2);
    const mor_scene_force* f = scene->forces;
    assert_true(f[0].body_frame && f[0].has_point && f[0].from == 0.5 && f[0].until == 1.0);
    assert_vector(f[0].force, 12, 0, 0);
    assert_vector(f[0].torque, 0, 1, 0);
    assert_vector(f[0].point, 0, 0, 1);
    assert_true(!f[1].body_frame && !f[1].has_point && f[1].from == 0.0 && isinf(f[1].until));
    assert_int_equal(scene->ignored_count, 1);
    assert_int_equal(scene->ignored[0][1], 2);
    assert_int_equal(mor_scene_record_every(scene), 5);
    assert_false(mor_scene_record_contacts(scene));
    mor_scene_destroy(scene);
}

static void every_shape_is_read(void** state)
{
    (void)state;
    static const struct {
        const char* shape;
        mor_shape_kind kind;
        double volume; /* closed form */
    } cases[] = {
        { "{ sphere: 2 }", MOR_SPHERE, 4.0 / 3.0 * pi * 8 },
        { "{ box: [1, 2, 3] }", MOR_POLYHEDRON, 6 },
        { "{ ellipsoid: [1, 2, 3] }", MOR_ELLIPSOID, 8 * pi },
        { "{ ellipsoid: [1, 2, 3], scale: 0.5 }", MOR_ELLIPSOID, pi },
        { "{ capsule: { radius: 1, length: 2 } }", MOR_CAPSULE, pi * 2 + 4.0 / 3.0 * pi },
        { "{ cylinder: { radius: 1, length: 2 } }", MOR_CYLINDER, 2 * pi },
        { "{ cylinder: { radius: 1, length: 2, sides: 4 } }", MOR_POLYHEDRON, 4 },
        { "{ prism: { sides: 6, radius: 1, length: 2 } }", MOR_POLYHEDRON, 3 * 1.7320508075688772 },
        { "{ cone: { radius: 1, height: 3 } }", MOR_CONE, pi },
        { "{ hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }", MOR_POLYHEDRON, 1.0 / 6.0 },
        { "{ tetrahedron: { edge: 1 } }", MOR_POLYHEDRON, 0.11785113019775793 },
        { "{ octahedron: { radius: 1 } }", MOR_POLYHEDRON, 4.0 / 3.0 },
        { "{ dodecahedron: { edge: 1 } }", MOR_POLYHEDRON, 7.6631189606246320 },
        { "{ icosahedron: { edge: 1, }, scale: 2 }", MOR_POLYHEDRON, 8 * 2.1816949906249123 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "moreau: 1\nbodies:\n  - { name: a, shape: %s }\n", cases[i].shape);
        mor_scene* scene = parse(text);
        const mor_geometry* g = def_of(scene, "a")->shapes[0].geometry;
        assert_int_equal(g->kind, cases[i].kind);
        assert_near(g->unit.mass, cases[i].volume, 1e-12 * cases[i].volume);
        mor_scene_destroy(scene);
    }
}

static void angles_turn_about_the_fixed_axes_in_order(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\nbodies:\n"
                             "  - { name: a, shape: { sphere: 1 }, orientation: { rpy: [90, 0, 90] } }\n"
                             "  - { name: b, shape: { sphere: 1 }, orientation: { rpy: [20, 30, 40] } }\n");
    /* z goes to -y by the roll, and that to x by the yaw */
    mor_vec3 z = mor_rotate(def_of(scene, "a")->pose.rotation, mor_v3(0, 0, 1));
    assert_near(z.x, 1.0, 1e-15);
    /* R = Rz(40) Ry(30) Rx(20): its entry (3, 1) is -sin 30, (3, 2) cos 30 sin 20, (2, 1) sin 40 cos 30 */
    mor_mat3 R = mor_quat_matrix(def_of(scene, "b")->pose.rotation);
    assert_near(R.m[2][0], -0.5, 1e-15);
    assert_near(R.m[2][1], cos(pi / 6) * sin(pi / 9), 1e-15);
    assert_near(R.m[1][0], sin(pi / 4.5) * cos(pi / 6), 1e-15);
    mor_scene_destroy(scene);
}

/* Two open tetrahedra of one file, whose hull is a pyramid: base 2 x 1, height 1. */
static void the_hull_of_a_mesh_is_that_of_all_its_points(void** state)
{
    (void)state;
    char folder[] = "/tmp/moreau-hull-XXXXXX", path[64], text[300];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.obj", folder);
    FILE* file = fopen(path, "w");
    static const char mesh[] = "o a\nv 0 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\no b\nv 2 1 0\nv 1 0.5 1\nf 3 4 5\nf 2 4 5\n";
    assert_true(file && fputs(mesh, file) >= 0 && fclose(file) == 0);
    snprintf(text, sizeof text, "moreau: 1\nbodies:\n  - { name: a, shape: { hull: { mesh: %s }, scale: 3 } }\n", path);
    mor_scene* scene = parse(text);
    assert_int_equal(def_of(scene, "a")->shape_count, 1);
    assert_near(def_of(scene, "a")->shapes[0].geometry->unit.mass, 27.0 * 2.0 / 3.0, 1e-12);
    mor_scene_destroy(scene);
    unlink(path);
    rmdir(folder);
}

static void planar_worlds_have_short_vectors(void** state)
{
    (void)state;
    mor_scene* scene = parse(
        "moreau: 1\ndimension: 2\nbodies:\n"
        "  - { name: p, shape: particle, mass: 1, velocity: [1, 2] }\n"
        "  - { name: d, shape: { disc: 2 }, angle: 1.5, angular_velocity: 3, position: [4, 5], com: [0.5, 0], inertia: "
        "2 }\n"
        "  - { name: b, shape: { box: [2, 3] }, orientation: 0.5 }\n"
        "  - { name: t, shape: { polygon: [[0, 0], [1, 0], [0, 1]] }, grid: { count: [2, 3], spacing: [1, 2] } }\n"
        "  - { name: ground, shape: { chain: [[5, 0], [-5, 0]] }, fixed: true }\n"
        "forces: [ { body: d, force: [1, 2], torque: 3 } ]\n");
    assert_vector(scene->gravity, 0, -9.81, 0);
    assert_vector(def_of(scene, "p")->velocity, 1, 2, 0);
    assert_int_equal(def_of(scene, "p")->shapes[0].geometry->kind, MOR_PARTICLE);
    const mor_body_def* d = def_of(scene, "d");
    assert_vector(d->pose.position, 4, 5, 0);
    assert_vector(d->angular_velocity, 0, 0, 3);
    assert_near(d->pose.rotation.w, cos(0.75), 1e-15);
    assert_near(d->pose.rotation.z, sin(0.75), 1e-15);
    assert_true(d->has_inertia && d->inertia.m[2][2] == 2.0);
    assert_near(d->shapes[0].geometry->unit.mass, 4 * pi, 1e-13);
    assert_near(def_of(scene, "b")->shapes[0].geometry->unit.mass, 6, 1e-14);
    assert_near(def_of(scene, "b")->pose.rotation.z, sin(0.25), 1e-15);
    assert_vector(item(scene, "t_1_2")->pose.position, 1, 4, 0);
    assert_int_equal(def_of(scene, "ground")->shapes[0].geometry->kind, MOR_CHAIN);
    assert_vector(scene->forces[0].torque, 0, 0, 3);
    mor_scene_destroy(scene);
}

/* z of the shape must go to the axis, and the first vertex, on local x, where the reference says. */
static void axis_turns_a_shape(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\nbodies:\n"
                             "  - { name: x, shape: { prism: { sides: 6, radius: 0.2, length: 1 }, axis: x } }\n"
                             "  - { name: y, shape: { prism: { sides: 6, radius: 0.2, length: 1 }, axis: y } }\n"
                             "  - { name: z, shape: { prism: { sides: 6, radius: 0.2, length: 1 }, axis: z } }\n");
    mor_quat x = def_of(scene, "x")->shapes[0].pose.rotation, y = def_of(scene, "y")->shapes[0].pose.rotation;
    assert_vector_near(mor_rotate(x, mor_v3(0, 0, 1)), 1, 0, 0);
    assert_vector_near(mor_rotate(x, mor_v3(1, 0, 0)), 0, 1, 0);
    assert_vector_near(mor_rotate(y, mor_v3(0, 0, 1)), 0, 1, 0);
    assert_vector_near(mor_rotate(y, mor_v3(1, 0, 0)), 1, 0, 0);
    assert_true(def_of(scene, "z")->shapes[0].pose.rotation.w == 1.0);
    mor_scene_destroy(scene);
}

static void a_plane_is_turned_to_its_normal(void** state)
{
    (void)state;
    static const mor_vec3 normals[] = { { 0, 0, 1 }, { 0, 0, -3 }, { 1, 0, 0 }, { 0, -2, 0 }, { 1, 2, -2 } };
    for (int i = 0; i < 5; i++) {
        char text[200];
        mor_vec3 n = normals[i];
        snprintf(text, sizeof text,
                 "moreau: 1\nbodies: [ { name: p, fixed: true, shape: { plane: { normal: [%g, %g, %g], point: [1, 2, "
                 "3] } } } ]",
                 n.x, n.y, n.z);
        mor_scene* scene = parse(text);
        mor_pose pose = def_of(scene, "p")->shapes[0].pose;
        mor_vec3 z = mor_rotate(pose.rotation, mor_v3(0, 0, 1));
        double length = mor_norm(n);
        assert_vector_near(z, n.x / length, n.y / length, n.z / length);
        assert_vector_near(pose.position, 1, 2, 3);
        mor_scene_destroy(scene);
    }
}

static void a_compound_has_shapes_with_poses_and_materials(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\nmaterials: { tin: {} }\nbodies:\n  - name: c\n    shape:\n"
                             "      - { sphere: 1, position: [1, 2, 3] }\n"
                             "      - { box: [1, 1, 1], orientation: [0, 1, 0, 0], material: tin }\n");
    const mor_body_def* c = def_of(scene, "c");
    assert_int_equal(c->shape_count, 2);
    assert_vector(c->shapes[0].pose.position, 1, 2, 3);
    assert_int_equal(c->shapes[0].material, -1);
    assert_true(c->shapes[1].pose.rotation.x == 1.0);
    assert_string_equal(scene->materials[c->shapes[1].material].name, "tin");
    mor_scene_destroy(scene);
}

static void a_material_called_default_is_the_default(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nmaterials: { default: { friction: 0.7 } }\nbodies: [ { name: a, shape: { sphere: 1 } },\n"
              "  { name: b, shape: { sphere: 1 }, material: default, position: [9, 0, 0] } ]\n");
    assert_true(scene->materials[def_of(scene, "a")->material].friction == 0.7);
    assert_true(scene->materials[def_of(scene, "b")->material].friction == 0.7);
    mor_scene_destroy(scene);
}

/* The generator and the quaternion of the format's definition, written out. */
static double draw(uint64_t* x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) / 9007199254740992.0;
}

static mor_quat draw_rotation(uint64_t* x)
{
    double u1 = draw(x), u2 = draw(x), u3 = draw(x);
    return (mor_quat){ sqrt(u1) * cos(2 * pi * u3), sqrt(1 - u1) * sin(2 * pi * u2), sqrt(1 - u1) * cos(2 * pi * u2),
                       sqrt(u1) * sin(2 * pi * u3) };
}

static void assert_rotation(mor_quat q, mor_quat p)
{
    assert_near(q.w, p.w, 1e-15);
    assert_near(q.x, p.x, 1e-15);
    assert_near(q.y, p.y, 1e-15);
    assert_near(q.z, p.z, 1e-15);
}

/* The pile of a thousand boxes: loops k, j, i with i innermost, seed 20240607. */
static void a_grid_runs_its_first_index_fastest(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nseed: 20240607\nbodies:\n  - name: box\n    shape: { box: [1, 1, 1] }\n    mass: 1\n"
              "    grid: { count: [10, 10, 10], spacing: [1.8, 1.8, 1.8], first: [-4.5, -4.5, 0], origin: [0, 0, 1] }\n"
              "    random: { orientation: true }\n");
    uint64_t x = 20240607;
    assert_int_equal(scene->item_count, 1000);
    for (int k = 0, n = 0; k < 10; k++)
        for (int j = 0; j < 10; j++)
            for (int i = 0; i < 10; i++, n++) {
                char name[32];
                snprintf(name, sizeof name, "box_%d_%d_%d", i, j, k);
                assert_string_equal(scene->items[n].name, name);
                assert_vector(scene->items[n].pose.position, (i - 4.5) * 1.8, (j - 4.5) * 1.8, 1 + 1.8 * k);
                assert_rotation(scene->items[n].pose.rotation, draw_rotation(&x));
            }
    mor_scene_destroy(scene);
}

/* The rubble field: i outer, j inner, seed 777. */
static void a_grid_can_run_in_another_order(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nseed: 777\nbodies:\n  - name: c\n    shape: { box: [0.4, 0.4, 0.4] }\n    fixed: true\n"
              "    grid: { count: [5, 10, 1], spacing: [0.5, 0.5, 0], first: [-2, 0.5, 0], origin: [0, 0, -0.2], "
              "order: yxz }\n"
              "    random: { orientation: true }\n");
    uint64_t x = 777;
    for (int i = 0, n = 0; i < 5; i++)
        for (int j = 0; j < 10; j++, n++) {
            assert_vector(scene->items[n].pose.position, (i - 2) * 0.5, (j + 0.5) * 0.5, -0.2);
            assert_rotation(scene->items[n].pose.rotation, draw_rotation(&x));
        }
    assert_string_equal(scene->items[11].name, "c_1_1_0");
    mor_scene_destroy(scene);
}

/* The published list of that field: lines "number x y z  w x y z". */
static void the_rubble_field_is_the_published_one(void** state)
{
    (void)state;
    FILE* file = fopen(MOREAU_SOURCE_DIR "/../shared/facts/peers.md", "r");
    if (!file) {
        print_message("SKIP: the list of rotations is not here\n");
        skip();
    }
    mor_scene* scene =
        parse("moreau: 1\nseed: 777\nbodies:\n  - name: c\n    shape: { box: [0.4, 0.4, 0.4] }\n    fixed: true\n"
              "    grid: { count: [5, 10, 1], spacing: [0.5, 0.5, 0], first: [-2, 0.5, 0], origin: [0, 0, -0.2], "
              "order: yxz }\n"
              "    random: { orientation: true }\n");
    char line[512];
    int found = 0, n;
    while (fgets(line, sizeof line, file)) {
        double x, y, z;
        mor_quat q;
        if (sscanf(line, "    %d %lf %lf %lf  %lf %lf %lf %lf", &n, &x, &y, &z, &q.w, &q.x, &q.y, &q.z) != 8) continue;
        assert_in_range(n, 0, 49);
        assert_vector(scene->items[n].pose.position, x, y, z);
        assert_rotation(scene->items[n].pose.rotation, q);
        found++;
    }
    fclose(file);
    assert_int_equal(found, 50);
    mor_scene_destroy(scene);
}

static void random_numbers_are_drawn_in_file_order_rotation_first(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\nseed: 5\nbodies:\n"
                             "  - { name: a, shape: { sphere: 1 }, random: { orientation: true, position: 0.25 } }\n"
                             "  - { name: b, shape: { sphere: 1 } }\n"
                             "  - { name: c, shape: { sphere: 1 }, position: [9, 0, 0], random: { position: 0.5 } }\n");
    uint64_t x = 5;
    assert_rotation(item(scene, "a")->pose.rotation, draw_rotation(&x));
    mor_vec3 p = item(scene, "a")->pose.position, c = item(scene, "c")->pose.position;
    assert_near(p.x, 0.25 * (2 * draw(&x) - 1), 1e-16);
    assert_near(p.y, 0.25 * (2 * draw(&x) - 1), 1e-16);
    assert_near(p.z, 0.25 * (2 * draw(&x) - 1), 1e-16);
    assert_near(c.x, 9 + 0.5 * (2 * draw(&x) - 1), 1e-15);
    assert_vector(item(scene, "b")->pose.position, 0, 0, 0);
    mor_scene_destroy(scene);
}

static void repetitions_are_placed_relative_to_the_one_before(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nbodies:\n  - name: link\n    shape: { box: [0.1, 0.02, 0.02] }\n    mass: 0.1\n"
              "    position: [1, 0, 0]\n    repeat: { count: 5, step: { position: [1, 0, 0], orientation: { axis: [0, "
              "0, 1], angle: 90 } } }\n");
    /* a square walk: after four steps it is back at the start */
    static const double expected[5][2] = { { 1, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 0 } };
    assert_int_equal(scene->item_count, 5);
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "link_%d", i);
        assert_vector_near(item(scene, name)->pose.position, expected[i][0], expected[i][1], 0);
    }
    mor_scene_destroy(scene);
}

static void overrides_change_create_and_replace(void** state)
{
    (void)state;
    static const char* const overrides[] = { "time.step=0.005",
                                             "bodies.peg.mass=2",
                                             "bodies.1.position=[1, 2, 3]",
                                             "materials.wood.friction=0.9",
                                             "gravity.2=-1.5",
                                             "name=other",
                                             "method.solver.tol=1e-6",
                                             "bodies.peg.shape={ sphere: 3 }",
                                             NULL };
    mor_scene* scene = parse_with("moreau: 1\nname: peg in hole\nmethod: { solver: pgs }\ngravity: [0, 0, "
                                  "-9.81]\nmaterials: { wood: { density: 5 } }\n"
                                  "bodies:\n  - { name: peg, shape: { box: [1, 1, 1] }, material: wood }\n  - { name: "
                                  "q, shape: { sphere: 1 } }\n",
                                  overrides);
    assert_true(scene->step == 0.005);
    assert_string_equal(mor_scene_name(scene), "other");
    assert_vector(scene->gravity, 0, 0, -1.5);
    assert_true(def_of(scene, "peg")->mass == 2.0);
    assert_int_equal(def_of(scene, "peg")->shapes[0].geometry->kind, MOR_SPHERE);
    assert_vector(def_of(scene, "q")->pose.position, 1, 2, 3);
    const mor_material* wood = &scene->materials[def_of(scene, "peg")->material];
    assert_true(wood->friction == 0.9 && wood->density == 5.0);
    const mor_node* solver = mor_node_get(scene->method, "solver");
    assert_string_equal(mor_node_get(solver, "name")->text, "pgs");
    assert_string_equal(mor_node_get(solver, "tol")->text, "1e-6");
    mor_scene_destroy(scene);
}

static void json_is_a_scene_too(void** state)
{
    (void)state;
    mor_scene* scene = parse(
        "{ \"moreau\": 1, \"bodies\": [ { \"name\": \"a\", \"shape\": { \"sphere\": 1.5e0 }, \"fixed\": true } ] }");
    assert_int_equal(def_of(scene, "a")->kind, MOR_FIXED);
    mor_scene_destroy(scene);
}

static void write_text(const char* directory, const char* name, const char* text, char path[160])
{
    snprintf(path, 160, "%s/%s", directory, name);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void includes_are_merged_and_the_including_file_wins(void** state)
{
    (void)state;
    char directory[] = "/tmp/moreau-include-XXXXXX", main_file[160], a[160], b[160], csv[160];
    assert_non_null(mkdtemp(directory));
    write_text(directory, "main.yaml",
               "moreau: 1\ninclude: [ a.yaml, b.yaml ]\ntime: { step: 0.001 }\ngravity: [0, 0, -1]\n"
               "method: { solver: lemke }\nmaterials: { wood: { friction: 0.9 } }\n"
               "bodies: [ { name: last, shape: { sphere: 1 } } ]\n",
               main_file);
    write_text(directory, "a.yaml",
               "name: from a\ntime: { step: 0.1, end: 5 }\ngravity: [1, 1, 1]\nmethod: { solver: { name: pgs, tol: "
               "1e-3 }, on_failure: warn }\n"
               "materials: { wood: { friction: 0.1, density: 700 }, tin: {} }\n"
               "bodies: [ { name: first, shape: { sphere: 1 }, material: wood } ]\n",
               a);
    write_text(directory, "b.yaml",
               "name: from b\nbodies: [ { name: second, shape: { sphere: 1 }, kinematic: { motion: m.csv } } ]\n", b);
    write_text(directory, "m.csv",
               "t,x,y,z,qw,qx,qy,qz\n# a quarter turn about z in two seconds\n0,0,0,0,1,0,0,0\n"
               "2,4,0,0,0.70710678118654757,0,0,0.70710678118654757\n",
               csv);
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(main_file, NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    assert_string_equal(mor_scene_name(scene), "from b");
    assert_true(scene->step == 0.001 && scene->end == 5.0);
    assert_vector(scene->gravity, 0, 0, -1);
    assert_int_equal(scene->item_count, 3);
    assert_string_equal(scene->items[0].name, "first");
    assert_string_equal(scene->items[1].name, "second");
    assert_string_equal(scene->items[2].name, "last");
    const mor_material* wood = &scene->materials[scene->bodies[0].def.material];
    assert_true(wood->friction == 0.9 && wood->density == 700.0);
    assert_string_equal(mor_node_get(scene->method, "solver")->text, "lemke");
    assert_string_equal(mor_node_get(scene->method, "on_failure")->text, "warn");

    /* the motion: linear in position, constant angular speed, held outside */
    const mor_body_def* moved = def_of(scene, "second");
    mor_pose pose;
    moved->motion(moved->motion_user, 0.5, &pose);
    assert_vector_near(pose.position, 1, 0, 0);
    assert_near(pose.rotation.w, cos(pi / 16), 1e-14);
    assert_near(pose.rotation.z, sin(pi / 16), 1e-14);
    moved->motion(moved->motion_user, -1, &pose);
    assert_vector_near(pose.position, 0, 0, 0);
    moved->motion(moved->motion_user, 99, &pose);
    assert_vector_near(pose.position, 4, 0, 0);
    mor_scene_destroy(scene);
    remove(main_file), remove(a), remove(b), remove(csv), rmdir(directory);
}

static void planar_motions_may_turn_more_than_once(void** state)
{
    (void)state;
    char directory[] = "/tmp/moreau-motion-XXXXXX", file[160], csv[160];
    assert_non_null(mkdtemp(directory));
    write_text(directory, "s.yaml",
               "moreau: 1\ndimension: 2\nbodies: [ { name: a, shape: { disc: 1 }, kinematic: { motion: m.csv } } ]\n",
               file);
    write_text(directory, "m.csv", "0, 0, 0, 0\n1, 2, 4, 12\n", csv);
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(file, NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    const mor_body_def* a = def_of(scene, "a");
    mor_pose pose;
    a->motion(a->motion_user, 0.25, &pose);
    assert_vector_near(pose.position, 0.5, 1, 0);
    assert_near(pose.rotation.w, cos(1.5), 1e-15);
    assert_near(pose.rotation.z, sin(1.5), 1e-15);
    mor_scene_destroy(scene);
    remove(file), remove(csv), rmdir(directory);
}

static void every_value_knows_its_place(void** state)
{
    (void)state;
    mor_document document = { mor_arena_create(NULL), 0 };
    const mor_source source = { "x.yaml", "" };
    mor_error error = { 0 };
    const char* text = "a: 1\nb:\n  - &q [10, \"20\"]\n  - *q\nc: { d: e }\n";
    mor_node* root = mor_yaml_parse(&document, text, strlen(text), &source, 0, &error);
    assert_non_null(root);
    const mor_node* list = mor_node_get(root, "b");
    assert_int_equal(list->count, 2);
    const mor_node* twenty = mor_node_at(mor_node_at(list, 0), 1);
    assert_int_equal(twenty->line, 3);
    assert_int_equal(twenty->column, 13);
    assert_true(twenty->quoted);
    assert_string_equal(mor_node_at(mor_node_at(list, 1), 0)->text, "10");
    const mor_node* d = mor_node_get(mor_node_get(root, "c"), "d");
    assert_int_equal(d->line, 5);
    assert_int_equal(d->column, 9);
    assert_int_equal(d->key_column, 6);
    assert_null(mor_node_get(root, "z"));
    mor_arena_destroy(document.arena);
}

static void the_reference_names_every_key(void** state)
{
    (void)state;
    size_t size = 1 << 16;
    char* text = malloc(size);
    assert_int_equal(mor_scene_reference(text, size), MOR_OK);
    for (const mor_key_table* const* t = mor_key_tables; *t; t++)
        for (const mor_key* k = (*t)->keys; k->name; k++) {
            char row[64];
            snprintf(row, sizeof row, "\n| `%s` | ", k->name);
            assert_non_null(strstr(text, row));
            assert_true(k->help && strlen(k->help) > 4);
        }
    char small[100];
    assert_int_equal(mor_scene_reference(small, sizeof small), MOR_SYSTEM);
    free(text);
}

/* MOREAU_WRITE_DOCS=1 writes the page instead of comparing it. */
static void the_page_of_the_reference_is_current(void** state)
{
    (void)state;
    enum { SIZE = 1 << 17 };
    const char* path = MOREAU_SOURCE_DIR "/docs/scene.md";
    char *text = malloc(SIZE), *page = calloc(SIZE, 1);
    assert_int_equal(mor_scene_reference(text, SIZE), MOR_OK);
    bool write = getenv("MOREAU_WRITE_DOCS") != NULL;
    FILE* file = fopen(path, write ? "w" : "r");
    if (file && write) fputs(text, file);
    if (file && !write) {
        size_t n = fread(page, 1, SIZE - 1, file);
        page[n] = '\0';
        if (strcmp(page, text) != 0) print_message("docs/scene.md is old: run MOREAU_WRITE_DOCS=1 test_scene\n");
        assert_true(strcmp(page, text) == 0);
    }
    if (file) fclose(file);
    free(text);
    free(page);
    if (!file) {
        print_message("SKIP: there is no docs/scene.md\n");
        skip();
    }
}

static void a_built_world_has_what_the_scene_says(void** state)
{
    (void)state;
    mor_scene* scene = parse(
        "moreau: 1\ngravity: [0, 0, -2]\ntime: { step: 0.25 }\n"
        "materials: { wood: { friction: 0.3 }, ice: { friction: 0.1 } }\n"
        "pairs: [ { materials: [wood, ice], friction: 0.02 } ]\n"
        "bodies:\n  - { name: a, shape: { sphere: 1 }, mass: 2, position: [1, 2, 3], velocity: [4, 5, 6], material: "
        "ice }\n"
        "  - { name: floor, shape: { plane: { point: [0, 0, -50] } }, fixed: true, material: wood }\n"
        "  - { name: b, shape: { sphere: 1 }, grid: { count: [2, 1, 1], spacing: [5, 0, 0], origin: [10, 0, 0] } }\n");
    mor_error error = { 0 };
    mor_world* world = mor_scene_build(scene, 1, &error);
    if (!world) fail_msg("%s", error.text);
    assert_int_equal(mor_world_body_count(world), 4);
    assert_true(mor_world_get_step(world) == 0.25);
    assert_vector(mor_world_gravity(world), 0, 0, -2);
    mor_body_state a = mor_body_get_state(world, mor_world_find_body(world, "a"));
    assert_vector(a.pose.position, 1, 2, 3);
    assert_vector(a.velocity, 4, 5, 6);
    mor_body_state b = mor_body_get_state(world, mor_world_find_body(world, "b_1_0_0"));
    assert_vector(b.pose.position, 15, 0, 0);
    assert_int_equal(mor_body_get_kind(world, mor_world_find_body(world, "floor")), MOR_FIXED);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static mor_world* build(const mor_scene* scene)
{
    mor_error error = { 0 };
    mor_world* world = mor_scene_build(scene, 1, &error);
    if (!world) fail_msg("%s", error.text);
    return world;
}

static void step(mor_world* world, int count)
{
    mor_error error = { 0 };
    for (int i = 0; i < count; i++)
        if (mor_world_step(world, NULL, &error)) fail_msg("%s", error.text);
}

static mor_body_state state_of(const mor_world* world, const char* name)
{
    return mor_body_get_state(world, mor_world_find_body(world, name));
}

/* m dv = f dt over the steps that begin in from <= t < until: 10 of them, although 10 times 0.1 is not 1. */
static void forces_act_from_until(void** state)
{
    (void)state;
    mor_scene* scene = parse("moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.1 }\nbodies:\n"
                             "  - { name: a, shape: { sphere: 1 }, mass: 2 }\n"
                             "  - { name: b, shape: { sphere: 1 }, mass: 2, position: [5, 0, 0], orientation: { axis: "
                             "[0, 0, 1], angle: 90 } }\n"
                             "  - { name: c, shape: { box: [1, 1, 1] }, mass: 6, position: [9, 0, 0] }\n"
                             "forces:\n  - { body: a, force: [4, 0, 0], from: 0.5, until: 1.5 }\n"
                             "  - { body: b, force: [4, 0, 0], frame: body, until: 1 }\n"
                             "  - { body: c, force: [0, 1, 0], at: [0.5, 0, 0], until: 0.1 }\n"
                             "  - { body: c, torque: [0, 0, 0.5], until: 0.1 }\n");
    mor_world* world = build(scene);
    step(world, 1);
    assert_near(state_of(world, "c").angular_velocity.z, 0.1 * (0.5 + 0.5) / 1.0, 1e-14); /* I = m/6 = 1 */
    assert_near(state_of(world, "c").velocity.y, 0.1 / 6, 1e-15);
    step(world, 4);
    assert_vector(state_of(world, "a").velocity, 0, 0, 0);
    step(world, 20);
    assert_vector_near(state_of(world, "a").velocity, 2, 0, 0);
    assert_vector_near(state_of(world, "b").velocity, 0, 2, 0);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void my_user_stage(void* scene, mor_world* world) { mor_scene_apply_forces(scene, world); }

static void a_user_stage_of_ones_own_can_apply_the_forces(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.5 }\nbodies:\n  - { name: z, shape: { sphere: 1 } }\n"
              "  - { name: a, shape: { sphere: 1 }, mass: 1, position: [9, 0, 0] }\nforces: [ { body: a, force: [0, 0, "
              "3] } ]\n");
    mor_world* world = build(scene);
    mor_world_on_user(world, my_user_stage, scene);
    mor_world_remove_body(world, mor_world_find_body(world, "z")); /* the order of bodies changes */
    step(world, 2);
    assert_vector_near(state_of(world, "a").velocity, 0, 0, 3);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void materials_pairs_and_ignored_pairs_reach_the_contacts(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nmaterials: { wood: { friction: 0.3 }, ice: { friction: 0.1 } }\n"
              "pairs: [ { materials: [ice, wood], friction: 0.02, restitution: 0.25 } ]\nbodies:\n"
              "  - { name: floor, shape: plane, fixed: true, material: wood }\n"
              "  - { name: a, shape: { sphere: 1 }, position: [0, 0, 1], material: ice }\n"
              "  - { name: b, shape: { sphere: 1 }, position: [5, 0, 1], material: wood }\n"
              "  - { name: c, shape: { sphere: 1 }, position: [9, 0, 1], friction: 1.2 }\n"
              "  - { name: d, shape: { sphere: 1 }, position: [14, 0, 1] }\nignore_pairs: [ [d, floor] ]\n");
    mor_world* world = build(scene);
    mor_step* step = mor_step_create(world, NULL);
    assert_int_equal(mor_stage_user(world, step, NULL), MOR_OK);
    assert_int_equal(mor_stage_collide(world, step, NULL), MOR_OK);
    int count;
    const mor_contact* contacts = mor_step_contacts(step, &count);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        int other = contacts[i].body[0] == 0 ? contacts[i].body[1] : contacts[i].body[0];
        double friction = other == 1 ? 0.02 : other == 2 ? 0.3 : sqrt(0.3 * 1.2);
        assert_near(contacts[i].friction, friction, 1e-15);
        assert_true(contacts[i].restitution == (other == 1 ? 0.25 : 0.0));
    }
    mor_step_destroy(step);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void methods_reach_the_world(void** state)
{
    (void)state;
    mor_scene* scene =
        parse("moreau: 1\nmethod:\n  formulation: ap\n  solver: { name: lemke, max_iter: 77 }\n"
              "  collision: { name: manifold, epsilon: 0.1, reach: fixed, psi_min: -inf }\n  v_rest: auto\n"
              "  on_failure: warn\n  friction_directions: 5\n  friction_align: slip\n  integrator: semi-implicit\n"
              "  stabilisation: none\n  coordinates: minimal\n");
    mor_world* world = build(scene);
    assert_string_equal(mor_world_method(world, "formulation"), "ap");
    assert_string_equal(mor_world_method(world, "solver"), "lemke");
    assert_string_equal(mor_world_method(world, "collision"), "manifold");
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void kinematic_bodies_move_as_told(void** state)
{
    (void)state;
    char directory[] = "/tmp/moreau-motion-XXXXXX", file[160], csv[160];
    assert_non_null(mkdtemp(directory));
    write_text(directory, "s.yaml",
               "moreau: 1\ntime: { step: 0.125 }\nbodies:\n"
               "  - { name: a, shape: { box: [1, 1, 1] }, kinematic: { motion: m.csv } }\n"
               "  - { name: b, shape: { box: [1, 1, 1] }, position: [0, 9, 0], kinematic: { velocity: [0, 0, 2] } }\n",
               file);
    write_text(directory, "m.csv", "0,1,0,0,1,0,0,0\n1,3,0,0,1,0,0,0\n", csv);
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(file, NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* world = build(scene);
    assert_vector_near(state_of(world, "a").pose.position, 1, 0, 0);
    step(world, 4);
    assert_vector_near(state_of(world, "a").pose.position, 2, 0, 0);
    assert_vector_near(state_of(world, "b").pose.position, 0, 9, 1);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    remove(file), remove(csv), rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_almost_empty_scene_has_the_documented_defaults),
        cmocka_unit_test(every_key_of_a_body_is_read),
        cmocka_unit_test(every_shape_is_read),
        cmocka_unit_test(angles_turn_about_the_fixed_axes_in_order),
        cmocka_unit_test(the_hull_of_a_mesh_is_that_of_all_its_points),
        cmocka_unit_test(planar_worlds_have_short_vectors),
        cmocka_unit_test(axis_turns_a_shape),
        cmocka_unit_test(a_plane_is_turned_to_its_normal),
        cmocka_unit_test(a_compound_has_shapes_with_poses_and_materials),
        cmocka_unit_test(a_material_called_default_is_the_default),
        cmocka_unit_test(a_grid_runs_its_first_index_fastest),
        cmocka_unit_test(a_grid_can_run_in_another_order),
        cmocka_unit_test(the_rubble_field_is_the_published_one),
        cmocka_unit_test(random_numbers_are_drawn_in_file_order_rotation_first),
        cmocka_unit_test(repetitions_are_placed_relative_to_the_one_before),
        cmocka_unit_test(overrides_change_create_and_replace),
        cmocka_unit_test(json_is_a_scene_too),
        cmocka_unit_test(includes_are_merged_and_the_including_file_wins),
        cmocka_unit_test(planar_motions_may_turn_more_than_once),
        cmocka_unit_test(every_value_knows_its_place),
        cmocka_unit_test(the_reference_names_every_key),
        cmocka_unit_test(the_page_of_the_reference_is_current),
        cmocka_unit_test(a_built_world_has_what_the_scene_says),
        cmocka_unit_test(forces_act_from_until),
        cmocka_unit_test(a_user_stage_of_ones_own_can_apply_the_forces),
        cmocka_unit_test(materials_pairs_and_ignored_pairs_reach_the_contacts),
        cmocka_unit_test(methods_reach_the_world),
        cmocka_unit_test(kinematic_bodies_move_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
