/* No passive step gains energy: rods thrown and dropped at plates with every formulation. The law is that of mechanics;
 * the numbers are drawn. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

typedef struct energies {
    double scale; /* largest kinetic energy, or weight times size */
    double gain;  /* largest in a step, beyond what is reported as work */
    int struck, failures;
} energies;

typedef struct rod {
    double length, width, height, step, friction, gravity, plate;
    mor_quat turn;
    mor_vec3 v, w;
} rod;

static rod draw(mor_rng* r)
{
    static const double plates[] = { 0.005, 0.02, 0.2 }, steps[] = { 0.002, 0.005, 0.01, 0.02 };
    rod d = { .length = between(r, 0.2, 1.0), .friction = between(r, 0, 0.9) };
    double ratio = between(r, 10, 50);
    d.width = d.length / ratio;
    d.height = d.width * between(r, 0.7, 1.5);
    d.step = steps[(int)between(r, 0, 4)];
    d.plate = plates[(int)between(r, 0, 3)];
    d.turn = mor_rng_rotation(r);
    bool thrown = mor_rng_uniform(r) < 0.6;
    d.gravity = thrown && mor_rng_uniform(r) < 0.5 ? 0.0 : 9.81;
    double speed = thrown ? 30.0 : 4.0;
    d.w = mor_v3(between(r, -speed, speed), between(r, -speed, speed), between(r, -speed, speed));
    d.v = thrown ? mor_v3(between(r, -4, 4), between(r, -4, 4), between(r, -12, -1)) : mor_v3(0, 0, 0);
    return d;
}

static energies fall(const rod* d, const char* formulation, const char* solver, int steps)
{
    mor_world* w = test_world(d->step);
    test_method(w, "formulation", formulation);
    test_method(w, "solver", solver);
    if (!strncmp(formulation, "peg", 3)) test_method(w, "collision", "features");
    test_option(w, "method", "on_failure", "warn");
    test_option(w, "method", "max_failures", "0");
    mor_world_set_gravity(w, mor_v3(0, 0, -d->gravity));
    mor_error error = { 0 };
    mor_material stone = { .name = "stone", .density = 1000, .friction = d->friction };
    int material = mor_world_add_material(w, &stone);
    mor_body_def plate = mor_body_def_default(), stick = plate;
    mor_body_shape a = { test_box(6, 6, d->plate), mor_pose_identity(), material },
                   b = { test_box(d->length, d->width, d->height), mor_pose_identity(), material };
    plate.kind = MOR_FIXED;
    plate.shapes = &a, plate.shape_count = 1, plate.material = material;
    stick.shapes = &b, stick.shape_count = 1, stick.material = material;
    stick.pose = (mor_pose){ { 0, 0, 0.5 * d->plate + 0.55 * d->length }, d->turn };
    stick.velocity = d->v;
    stick.angular_velocity = d->w;
    assert_true(mor_world_add_body(w, &plate, &error).index1 > 0);
    assert_true(mor_world_add_body(w, &stick, &error).index1 > 0);
    mor_geometry_release(a.geometry);
    mor_geometry_release(b.geometry);
    double mass = 1000 * d->length * d->width * d->height, before = mor_world_kinetic_energy(w);
    energies e = { .scale = fmax(before, mass * 9.81 * d->length) };
    before += mor_world_potential_energy(w);
    for (int i = 0; i < steps; i++) {
        mor_step_report r;
        if (mor_world_step(w, &r, &error)) fail_msg("%s: %s", formulation, error.text);
        double now = r.kinetic + r.potential;
        e.scale = fmax(e.scale, r.kinetic);
        e.gain = fmax(e.gain, now - before - r.correction_work - r.projection_work);
        e.struck += r.struck;
        e.failures += r.status != MOR_SOLVED;
        before = now;
    }
    mor_world_destroy(w);
    return e;
}

static const struct {
    const char *formulation, *solver;
    double most; /* gain over the scale */
} methods[] = { { "ncp", "auto", 1e-9 },    { "st", "auto", 1e-9 },      { "ap", "auto", 1e-9 },
                { "peg", "auto", 1e-9 },    { "mncp", "auto", 1e-9 },    { "implicit", "auto", 1e-9 },
                { "convex", "apgd", 1e-9 }, { "penalty", "auto", 0.05 }, { "gauss", "auto", 1e-6 } };

/* The stick that gained 581 J with peg and 2206 J with ncp, and others like it. */
static void a_rod_that_hits_a_plate_gains_no_energy(void** state)
{
    (void)state;
    int struck = 0;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        mor_rng rng = { 41 };
        for (int i = 0; i < 20; i++) {
            rod d = draw(&rng);
            energies e = fall(&d, methods[m].formulation, methods[m].solver, (int)(0.8 / d.step));
            struck += e.struck;
            if (!(e.gain <= methods[m].most * e.scale))
                fail_msg("%s, rod %d: a step gains %g J of %g J", methods[m].formulation, i, e.gain, e.scale);
        }
    }
    assert_true(struck > 0); /* the cure was needed */
}

/* A passive robot that falls over loses energy in every step, whatever it touches. */
static void a_falling_robot_gains_no_energy(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "peg, collision: features" };
    mor_rng rng = { 99 };
    for (int i = 0; i < 6; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "moreau: 1\nname: fall\nmethod: { formulation: %s, on_failure: warn }\ntime: { step: %g, end: 1 }\n"
                 "bodies: [ { name: floor, shape: plane, fixed: true, friction: %g } ]\n"
                 "robots:\n  - { name: r, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 1.1],\n"
                 "      joints: { l_knee: 0.5, r_knee: 0.4, l_elbow: -0.3, r_elbow: -0.3 },\n"
                 "      orientation: { axis: [%g, 1, %g], angle: %g }, angular_velocity: [%g, %g, 1] }\n",
                 formulations[i % 2], i < 3 ? 0.001 : 0.004, between(&rng, 0.1, 1), between(&rng, -1, 1),
                 between(&rng, -1, 1), between(&rng, 0, 60), between(&rng, -3, 3), between(&rng, -3, 3));
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        double before = mor_world_kinetic_energy(w) + mor_world_potential_energy(w), scale = before;
        for (int n = 0; n < (i < 3 ? 800 : 200); n++) {
            mor_step_report r;
            mor_error error = { 0 };
            if (mor_world_step(w, &r, &error)) fail_msg("%s", error.text);
            double now = r.kinetic + r.potential, gain = now - before - r.correction_work - r.projection_work;
            if (r.status == MOR_SOLVED && !(gain <= 1e-9 * scale))
                fail_msg("robot %d, step %d: gains %g J of %g J", i, n, gain, scale);
            before = now;
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Chains of bodies on hinges that fall, whip and fold up on themselves: no step fails, none gains energy, and until
 * they whip, faster than the steps resolve, they have the energy they began with. */
static void a_falling_chain_gains_no_energy(void** state)
{
    (void)state;
    static const char* const joints[] = { "revolute, axis: [0, 1, 0]", "spherical",
                                          "universal, axis: [0, 1, 0], axis2: [0, 0, 1]" };
    mor_rng rng = { 31 };
    for (int i = 0; i < 9; i++) {
        char text[1024];
        double l = exp(between(&rng, log(0.02), log(1.0))), h = sqrt(l) * between(&rng, 0.005, 0.035);
        int links = 3 + (int)between(&rng, 0, 6);
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: %g }\nbodies:\n  - { name: link, shape: { box: [%g, %g, %g] }, mass: %g, "
                 "position: [%g, 0, 0], repeat: { count: %d, step: { position: [%g, 0, 0] }, joint: { type: %s, point: "
                 "[%g, 0, 0], first: world } } }\n",
                 h, l, 0.2 * l, 0.2 * l, between(&rng, 0.1, 2), 0.5 * l, links, l, joints[i % 3], -0.5 * l);
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        double before = 0.0, scale = 0.0;
        bool touched = false;
        for (int n = 0; n < 150; n++) {
            mor_step_report r;
            mor_error error = { 0 };
            if (mor_world_step(w, &r, &error)) fail_msg("chain %d, h %g: %s", i, h, error.text);
            double now = r.kinetic + r.potential, gain = now - before - r.projection_work;
            touched = touched || r.contacts > 0;
            scale = fmax(scale, r.kinetic);
            if (!(gain <= 1e-6 * scale)) fail_msg("chain %d, step %d: gains %g of %g J", i, n, gain, scale);
            if (!touched && n < 30 && !(fabs(now) <= 1e-4 * scale)) fail_msg("chain %d, step %d: has %g J", i, n, now);
            before = now;
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A rod that spins about its length by up to half a radian in a step, with a light body hinged to it: the rod moves as
 * if it were alone. Ends of joints, which the light body hits, may take energy. */
static void a_spinning_rod_keeps_its_energy_with_a_light_body_on_it(void** state)
{
    (void)state;
    mor_rng rng = { 515515 };
    for (int i = 0; i < 20; i++) {
        const double l = between(&rng, 0.3, 2), h = between(&rng, 0.002, 0.01), spin = between(&rng, 0.1, 0.6) / h;
        const double side = l / between(&rng, 20, 40), heavy = between(&rng, 10, 200);
        char text[1024], limits[64] = "";
        if (i % 2) snprintf(limits, sizeof limits, ", limits: [%g, %g]", -between(&rng, 0, 1), between(&rng, 0, 1));
        snprintf(text, sizeof text,
                 "moreau: 1\nname: spin\ntime: { step: %g, end: 1 }\nbodies:\n"
                 "  - { name: rod, shape: { box: [%g, %g, %g] }, mass: %g, angular_velocity: [%g, %g, %g] }\n"
                 "  - { name: light, shape: { sphere: %g }, mass: %g, position: [%g, 0, 0] }\n"
                 "joints: [ { name: j, type: revolute, bodies: [light, rod], point: [%g, 0, 0], "
                 "axis: [1, %g, %g]%s } ]\n",
                 h, l, side, side, heavy, spin, between(&rng, -4, 4), between(&rng, -4, 4), 0.1 * l,
                 heavy * between(&rng, 1e-4, 1e-3), 0.75 * l, 0.6 * l, between(&rng, -0.1, 0.1),
                 between(&rng, -0.1, 0.1), limits);
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        double before = INFINITY, scale = mor_world_kinetic_energy(w);
        for (int n = 0; n < 100; n++) {
            mor_step_report r;
            mor_error error = { 0 };
            if (mor_world_step(w, &r, &error)) fail_msg("rod %d: %s", i, error.text);
            double now = r.kinetic + r.potential;
            scale = fmax(scale, r.kinetic);
            if (!(now - before - r.projection_work <= 1e-6 * scale))
                fail_msg("rod %d, step %d: gains %g of %g J", i, n, now - before - r.projection_work, scale);
            before = now;
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_rod_that_hits_a_plate_gains_no_energy),
                                        cmocka_unit_test(a_falling_robot_gains_no_energy),
                                        cmocka_unit_test(a_falling_chain_gains_no_energy),
                                        cmocka_unit_test(a_spinning_rod_keeps_its_energy_with_a_light_body_on_it) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
