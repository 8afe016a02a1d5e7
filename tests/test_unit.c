/* A running unit for co-simulation without the functions of the standard around it (fmi/unit.h): what it refuses, what
 * it says, and states that are not its own. The standard's side is in test_fmu.c. */
#define _DEFAULT_SOURCE
#include "common/worlds.h"

#include "common/folder.h"
#include "fmi/export.h"
#include "fmi/unit.h"

#include <math.h>
#include <sys/stat.h>

static const char slider[] =
    "<robot name='rail'><link name='base'/><link name='cart'><inertial><mass value='2'/><inertia ixx='1' iyy='1' "
    "izz='1' "
    "ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='rail' type='prismatic'><parent link='base'/><child "
    "link='cart'/><axis xyz='1 0 0'/><limit lower='-9' upper='9' effort='100' velocity='100'/></joint></robot>\n";
static const char rail_scene[] = "moreau: 1\ntime: { step: 0.01, end: 1 }\ngravity: [0, 0, 0]\nrobots:\n  - { name: "
                                 "rail, urdf: rail.urdf, base: fixed "
                                 "}\n";
static const char held_scene[] = "controllers:\n  - { robot: rail, type: pid, kp: 200, kd: 40, targets: 0 }\n";
static const char bodies_scene[] =
    "moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n  - { name: ball, shape: { sphere: 0.1 }, mass: 3, position: "
    "[0, 0, "
    "9] }\n  - { name: pendulum, shape: { sphere: 0.1 }, mass: 1, position: [3, 0, 5] }\n  - { name: turntable, shape: "
    "{ "
    "sphere: 0.2 }, kinematic: { angular_velocity: [0, 0, 1] }, position: [9, 0, 0] }\njoints:\n  - { name: pin, type: "
    "revolute, bodies: "
    "[pendulum, world], point: [3, 0, 6], axis: [0, 1, 0] }\n";

static void put(const char* name, const char* first, const char* second)
{
    FILE* f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(first, f);
    fputs(second, f);
    fclose(f);
}

/* A unit of the folder: token T, a scene, overrides. */
static mor_fmu* unit_of(const char* scene, const char* sets)
{
    mor_error error = { 0 };
    char head[128];
    snprintf(head, sizeof head, "T\n%s\n", scene);
    put("moreau.txt", head, sets);
    mor_fmu* u = mor_fmu_create(folder, "T", &error);
    if (!u) fail_msg("%s", error.text);
    return u;
}

static int make_files(void** state)
{
    if (make_folder(state)) return -1;
    put("rail.urdf", slider, "");
    put("rail.yaml", rail_scene, "");
    put("held.yaml", rail_scene, held_scene);
    put("bodies.yaml", bodies_scene, "");
    return 0;
}

static void says(const mor_error* error, mor_code code, mor_code wanted, const char* part)
{
    if (code != wanted || !strstr(error->text, part)) fail_msg("code %d, '%s', not '%s'", (int)code, error->text, part);
}

/* By the list of the world, as modelDescription.xml has it. */
static unsigned named(const char* scene, const char* name)
{
    mor_error error = { 0 };
    mor_scene* s = mor_scene_load(path_of(scene), NULL, NULL, &error);
    mor_world* w = s ? mor_scene_build(s, 1, &error) : NULL;
    assert_non_null(w);
    int count = 0, found = -1;
    mor_fmu_variable* all = mor_fmu_variables(w, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0) found = i;
    free(all);
    mor_world_destroy(w);
    mor_scene_destroy(s);
    if (found < 0) fail_msg("%s has no %s", scene, name);
    return (unsigned)found;
}

static void listings_that_are_wrong_are_told(void** state)
{
    (void)state;
    static const struct {
        const char *text, *token, *says;
    } cases[] = {
        { "", "T", "not complete" },
        { "T", "T", "not complete" },
        { "T\n", NULL, "not complete" },
        { "other\nrail.yaml\n", "T", "token other, not T" },
        { "T\nnowhere.yaml\n", "T", "nowhere.yaml" },
        { "T\nrail.yaml\ntime.step=fast\n", "T", "time.step" },
        { "T\nrail.yaml\nrobots.rail.base=hanging", "T", "base" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error = { 0 };
        put("moreau.txt", cases[i].text, "");
        assert_null(mor_fmu_create(folder, cases[i].token, &error));
        says(&error, error.code, MOR_BAD_INPUT, cases[i].says);
    }
    char many[300 * 20] = "T\nrail.yaml\n"; /* more overrides than are taken: none is dropped in silence */
    for (int i = 0; i < 257; i++) strcat(many, "time.step=0.001\n");
    mor_error error = { 0 };
    put("moreau.txt", many, "");
    assert_null(mor_fmu_create(folder, "T", &error));
    says(&error, error.code, MOR_BAD_INPUT, "more than 256 overrides");
    remove(path_of("moreau.txt"));
    assert_null(mor_fmu_create(folder, NULL, &error));
    says(&error, error.code, MOR_BAD_INPUT, "moreau.txt");
    put("moreau.txt", "T\nrail.yaml", ""); /* no end of the line, and nobody asks for the token */
    mor_fmu* u = mor_fmu_create(folder, NULL, &error);
    assert_non_null(u);
    mor_fmu_destroy(u);
    mor_fmu_destroy(NULL);
}

static void wrong_numbers_are_told(void** state)
{
    (void)state;
    mor_fmu* u = unit_of("bodies.yaml", "");
    mor_error error = { 0 };
    double x = 0.0;
    const unsigned time = named("bodies.yaml", "time"), step = named("bodies.yaml", "step");
    says(&error, mor_fmu_get(u, 100000, &x, &error), MOR_BAD_INPUT, "100000");
    says(&error, mor_fmu_set(u, 100000, 1.0, &error), MOR_BAD_INPUT, "100000");
    says(&error, mor_fmu_set(u, step, NAN, &error), MOR_BAD_INPUT, "not finite");
    says(&error, mor_fmu_set(u, step, 0.0, &error), MOR_BAD_INPUT, "at least 1e-9");
    says(&error, mor_fmu_set(u, time, 1.0, &error), MOR_BAD_INPUT, "no input and no parameter");
    assert_int_equal(mor_fmu_set(u, step, 0.004, &error), MOR_OK);
    mor_fmu_initialised(u);
    says(&error, mor_fmu_set(u, step, 0.002, &error), MOR_BAD_INPUT, "fixed once");
    assert_int_equal(mor_fmu_get(u, step, &x, &error), MOR_OK);
    assert_true(x == 0.004);
    assert_int_equal(mor_fmu_reset(u, &error), MOR_OK);
    assert_int_equal(mor_fmu_get(u, step, &x, &error), MOR_OK);
    assert_true(x == 0.01);
    mor_fmu_destroy(u);
}

/* v(t) = F t / m, along any axis of gravity that the importer sets; a torque turns a sphere: w = T t / (2/5 m r^2). */
static void forces_of_the_importer_act(void** state)
{
    (void)state;
    mor_fmu* u = unit_of("bodies.yaml", "");
    mor_error error = { 0 };
    double v = 0.0, t = 0.23, spin = 0.0;
    mor_fmu_start(u, 5.0);
    for (int k = 0; k < 3; k++) {
        char name[64];
        snprintf(name, sizeof name, "gravity[%d]", k + 1);
        assert_int_equal(mor_fmu_set(u, named("bodies.yaml", name), k == 1 ? 1.5 : 0.0, &error), MOR_OK);
    }
    mor_fmu_set(u, named("bodies.yaml", "bodies.ball.force[1]"), 7.0, &error);
    mor_fmu_set(u, named("bodies.yaml", "bodies.ball.torque[3]"), 0.02, &error);
    assert_int_equal(mor_fmu_advance(u, 5.0 + t, &error), MOR_OK);
    test_near(mor_fmu_time(u), 5.0 + t, 1e-12, "time");
    mor_fmu_get(u, named("bodies.yaml", "bodies.ball.velocity[1]"), &v, &error);
    test_near(v, 7.0 * t / 3.0, 1e-12, "velocity along the force");
    mor_fmu_get(u, named("bodies.yaml", "bodies.ball.velocity[2]"), &v, &error);
    test_near(v, 1.5 * t, 1e-12, "velocity along gravity");
    mor_fmu_get(u, named("bodies.yaml", "bodies.ball.angular_velocity[3]"), &spin, &error);
    test_near(spin, 0.02 * t / (0.4 * 3.0 * 0.01), 1e-9, "spin");
    mor_fmu_destroy(u);
}

/* A cart of 2 kg on a rail: a force gives v = F t / m; with a controller it goes where the target says. */
static void joints_of_robots_are_driven(void** state)
{
    (void)state;
    mor_error error = { 0 };
    double x = 0.0;
    mor_fmu* u = unit_of("rail.yaml", "time.step=0.005\n");
    assert_int_equal(mor_fmu_set(u, named("rail.yaml", "robots.rail.rail.torque"), 3.0, &error), MOR_OK);
    assert_int_equal(mor_fmu_advance(u, 0.5, &error), MOR_OK);
    assert_int_equal(mor_fmu_get(u, named("rail.yaml", "robots.rail.rail.velocity"), &x, &error), MOR_OK);
    test_near(x, 3.0 * 0.5 / 2.0, 1e-10, "speed of the cart");
    mor_fmu_destroy(u);
    u = unit_of("held.yaml", "");
    assert_int_equal(mor_fmu_set(u, named("held.yaml", "robots.rail.rail.target"), 0.3, &error), MOR_OK);
    assert_int_equal(mor_fmu_advance(u, 3.0, &error), MOR_OK); /* ten times as long as it swings */
    mor_fmu_get(u, named("held.yaml", "robots.rail.rail.position"), &x, &error);
    test_near(x, 0.3, 1e-3, "where the controller holds the cart");
    mor_fmu_destroy(u);
}

/* Steps of their own length end where the importer says. */
static void adaptive_steps_end_at_the_time_that_is_asked_for(void** state)
{
    (void)state;
    mor_error error = { 0 };
    double z = 0.0;
    mor_fmu* u = unit_of("bodies.yaml", "time.step=adaptive\n");
    assert_int_equal(mor_fmu_advance(u, 0.1234, &error), MOR_OK);
    test_near(mor_fmu_time(u), 0.1234, 1e-11, "time");
    mor_fmu_get(u, named("bodies.yaml", "bodies.ball.velocity[3]"), &z, &error);
    test_near(z, -9.81 * 0.1234, 1e-9, "speed of the fall");
    mor_fmu_destroy(u);
}

static void states_that_are_not_its_own_are_refused(void** state)
{
    (void)state;
    mor_fmu *u = unit_of("bodies.yaml", ""), *other;
    mor_error error = { 0 };
    assert_int_equal(mor_fmu_advance(u, 0.05, &error), MOR_OK);
    size_t size = mor_fmu_save(u, NULL, 0);
    char *good = malloc(size), *bad = malloc(size);
    assert_int_equal(mor_fmu_save(u, good, size - 1), 0);
    assert_int_equal(mor_fmu_save(u, good, size), size);
    assert_int_equal(mor_fmu_advance(u, 0.2, &error), MOR_OK);
    /* magic; number of inputs; length of the world; step 0 and infinite; the world itself */
    const struct {
        size_t at, bytes;
        double x;
    } damage[] = { { 0, 1, 0.0 },  { 8, 1, 0.0 },       { 16, 2, 0.0 },
                   { 32, 8, 0.0 }, { 32, 8, INFINITY }, { size - 8, 8, NAN } };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        memcpy(bad, good, size);
        memcpy(bad + damage[i].at, damage[i].bytes == 8 ? (const char*)&damage[i].x : "zzz", damage[i].bytes);
        if (memcmp(bad, good, size) == 0) continue;
        mor_code code = mor_fmu_restore(u, bad, size, &error);
        if (i < 5) says(&error, code, MOR_BAD_INPUT, "no state of this unit");
        test_near(mor_fmu_time(u), code ? 0.2 : 0.05, 1e-12, "time");
        if (!code) assert_int_equal(mor_fmu_advance(u, 0.2, &error), MOR_OK);
    }
    says(&error, mor_fmu_restore(u, good, 5, &error), MOR_BAD_INPUT, "no state of this unit");
    says(&error, mor_fmu_restore(u, good, size - 8, &error), MOR_BAD_INPUT, "no state of this unit");
    assert_int_equal(mor_fmu_restore(u, good, size, &error), MOR_OK);
    test_near(mor_fmu_time(u), 0.05, 1e-12, "time");
    other = unit_of("rail.yaml", "");
    says(&error, mor_fmu_restore(other, good, size, &error), MOR_BAD_INPUT, "no state of this unit");
    mor_fmu_destroy(other);
    mor_fmu_destroy(u);
    free(good);
    free(bad);
}

/* Words that name files: twice, by schemes, above the scene, that are not there. */
static void files_of_a_scene_are_gathered(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_fmu_files files;
    char text[2000];
    mkdir(path_of("pack"), 0755);
    mkdir(path_of("pack/meshes"), 0755);
    mkdir(path_of("scenes"), 0755);
    put("pack/meshes/a.stl", "a", "");
    put("pack/meshes/b.obj", "b", "");
    put("scenes/c.csv", "c", "");
    snprintf(text, sizeof text,
             "x: c.csv\ny: [c.csv, ./c.csv]\nz: package://pack/meshes/a.stl\nw: model://other/meshes/x.stl\nv: "
             "file://%s\nu: %s\nt: nowhere.stl\ns: package://alone.stl\nr: model://away/pack/meshes/b.obj\n",
             path_of("pack/meshes/b.obj"), path_of("pack/meshes/a.stl"));
    put("scenes/s.yaml", text, "");
    assert_int_equal(mor_fmu_gather(path_of("scenes/s.yaml"), &files, &error), MOR_OK);
    assert_int_equal(files.count, 4); /* the scene, c.csv, a.stl, b.obj */
    const char* names[] = { "scenes/s.yaml", "scenes/c.csv", "pack/meshes/a.stl", "pack/meshes/b.obj" };
    for (int i = 0; i < 4; i++) assert_string_equal(files.paths[i], path_of(names[i]));
    assert_string_equal(files.base, folder);
    mor_fmu_files_free(&files);
    /* what they have in common is the root, or /tmp where the sources are there, too */
    snprintf(text, sizeof text, "x: %s/scenes/robots/arm2.urdf\n", MOREAU_SOURCE_DIR);
    put("scenes/s.yaml", text, "");
    assert_int_equal(mor_fmu_gather(path_of("scenes/s.yaml"), &files, &error), MOR_OK);
    assert_int_equal(files.count, 2);
    assert_string_equal(files.base, strncmp(MOREAU_SOURCE_DIR, "/tmp/", 5) == 0 ? "/tmp" : "");
    mor_fmu_files_free(&files);
    mor_code code = mor_fmu_gather(path_of("scenes/nowhere.yaml"), &files, &error);
    says(&error, code, MOR_BAD_INPUT, "no such file");
    mor_fmu_files_free(&files);
}

static void an_archive_that_cannot_be_written_is_told(void** state)
{
    (void)state;
    mor_error error = { 0 };
    char name[1 << 13];
    assert_null(mor_zip_open(path_of("nowhere/a.zip"), &error));
    says(&error, error.code, MOR_SYSTEM, "nowhere/a.zip");
    mor_zip* zip = mor_zip_open(path_of("a.zip"), &error);
    assert_non_null(zip);
    memset(name, 'a', sizeof name - 1), name[sizeof name - 1] = '\0';
    mor_zip_add(zip, name, "x", 1); /* longer than any path */
    says(&error, mor_zip_close(zip, true, &error), MOR_SYSTEM, "cannot write the archive");
    assert_int_not_equal(access(path_of("a.zip"), F_OK), 0);
    zip = mor_zip_open(path_of("a.zip"), &error);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "file%d", i);
        mor_zip_add(zip, name, name, 4);
    }
    assert_int_equal(mor_zip_close(zip, true, &error), MOR_OK);
    assert_int_equal(access(path_of("a.zip"), F_OK), 0);
    zip = mor_zip_open(path_of("b.zip"), &error);
    mor_zip_add(zip, "x", "y", 1);
    mor_zip_close(zip, false, &error);
    assert_int_not_equal(access(path_of("b.zip"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings_that_are_wrong_are_told),
        cmocka_unit_test(wrong_numbers_are_told),
        cmocka_unit_test(forces_of_the_importer_act),
        cmocka_unit_test(joints_of_robots_are_driven),
        cmocka_unit_test(adaptive_steps_end_at_the_time_that_is_asked_for),
        cmocka_unit_test(states_that_are_not_its_own_are_refused),
        cmocka_unit_test(files_of_a_scene_are_gathered),
        cmocka_unit_test(an_archive_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, make_files, remove_folder);
}
