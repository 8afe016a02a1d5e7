/* Inverse dynamics: forward steps give back their forces and impulses, forces that were found give back the motion, and
 * closed forms of statics and of sliding. Random forces act in every step; the inverse is not told of them. */
#include "common/command.h"
#include "common/worlds.h"

#include "lab/inverse.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME "moreau: 1\ntime: { step: 0.01 }\n"
#define CONVEX(r)                                                                                                      \
    "method: { formulation: { name: convex, regularisation: " r                                                        \
    " }, solver: { name: convex-newton, tol: 1e-15 }, gap_correction: velocity }\n"
#define EXACT "method: { formulation: ncp, solver: { name: auto, tol: 1e-15 }, gap_correction: velocity }\n"
#define FLOOR "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"
#define BALL "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], velocity: [1, 0.3, 0] }\n"
#define BOX                                                                                                            \
    "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 3, position: [2, 0, 0.1], velocity: [1, -0.5, 0], "       \
    "angular_velocity: [0, 0, 2], friction: 0.3 }\n"
#define RESTING "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 3, position: [2, 0, 0.1] }\n"
#define TUMBLE                                                                                                         \
    "  - { name: tumbler, shape: { box: [0.4, 0.3, 0.1] }, mass: 1, position: [5, 0, 0.4], angular_velocity: [6, -4, " \
    "3] }\n"
#define STACK                                                                                                          \
    "  - { name: a, shape: { sphere: 0.2 }, mass: 1, position: [0, 2, 0.2] }\n"                                        \
    "  - { name: b, shape: { sphere: 0.2 }, mass: 2, position: [0.01, 2, 0.5998] }\n"
#define PENDULUM "joints:\n  - { type: revolute, bodies: [world, ball], point: [-1, 0, 0.5], axis: [0, 1, 0] }\n"

static double draw(mor_rng* rng) { return 2.0 * mor_rng_uniform(rng) - 1.0; }

typedef struct flow {
    mor_world *there, *here; /* the world that is stepped, the one that is asked */
    mor_scene *a, *b;
    int n, Q;
    double *q[2], *nu[2], *force;
} flow;

static flow begin(const char* text)
{
    flow f = { 0 };
    f.there = test_scene_text(text, &f.a);
    f.here = test_scene_text(text, &f.b);
    f.n = mor_world_nu_count(f.there), f.Q = mor_world_q_count(f.there);
    for (int i = 0; i < 2; i++)
        f.q[i] = calloc((size_t)f.Q + 1, sizeof(double)), f.nu[i] = calloc((size_t)f.n + 1, sizeof(double));
    f.force = calloc((size_t)f.n + 1, sizeof(double));
    return f;
}

static void end(flow* f)
{
    for (int i = 0; i < 2; i++) free(f->q[i]), free(f->nu[i]);
    free(f->force);
    mor_world_destroy(f->there), mor_world_destroy(f->here);
    mor_scene_destroy(f->a), mor_scene_destroy(f->b);
}

static void read_state(const flow* f, int i)
{
    assert_int_equal(mor_world_get_q(f->there, f->q[i], f->Q, NULL), MOR_OK);
    assert_int_equal(mor_world_get_nu(f->there, f->nu[i], f->n, NULL), MOR_OK);
}

static void put_state(const flow* f, mor_world* w)
{
    assert_int_equal(mor_world_set_q(w, f->q[0], f->Q, NULL), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, f->nu[0], f->n, NULL), MOR_OK);
}

static void ask(const flow* f, const double* q, const double* nu, const mor_inverse_options* o,
                mor_inverse_dynamics** d)
{
    mor_error error = { 0 };
    uint64_t hash = mor_world_hash(f->here);
    if (mor_world_inverse(f->here, q, nu, o, d, &error) != MOR_OK) fail_msg("%s", error.text);
    assert_true(mor_world_hash(f->here) == hash);
}

/* Steps with random forces; the largest error of the forces that are found, against the largest force. */
static double forces_found(const char* text, mor_inverse_law law, double regularisation, int steps, double size)
{
    flow f = begin(text);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_rng rng = { 7 };
    double worst = 0.0;
    o.law = law, o.regularisation = regularisation;
    for (int k = 0; k < steps; k++) {
        mor_error error = { 0 };
        read_state(&f, 0);
        for (int i = 0; i < f.n; i++) f.force[i] = size * draw(&rng);
        mor_world_apply_forces(f.there, f.force);
        if (mor_world_step(f.there, NULL, &error) != MOR_OK) fail_msg("step %d: %s", k, error.text);
        read_state(&f, 1);
        put_state(&f, f.here);
        ask(&f, f.q[1], f.nu[1], &o, &d);
        for (int i = 0; i < f.n; i++) worst = fmax(worst, fabs(d->force[i] - f.force[i]));
        if (getenv("MOREAU_VERBOSE"))
            printf("step %d: %.2g (left %.2g, %d contacts, unique %d)\n", k, worst, d->left, d->contact_count,
                   d->unique);
    }
    mor_inverse_dynamics_destroy(d);
    end(&f);
    return worst / fmax(size, 1.0);
}

/* Random velocities at the end of the step; what the forward step makes of the forces that are found. */
static double motion_found(const char* text, mor_inverse_law law, int tries)
{
    flow f = begin(text);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_rng rng = { 11 };
    double worst = 0.0;
    o.law = law;
    read_state(&f, 0);
    for (int k = 0; k < tries; k++) {
        mor_error error = { 0 };
        for (int i = 0; i < f.n; i++) f.nu[1][i] = f.nu[0][i] + 0.01 * draw(&rng);
        put_state(&f, f.here), put_state(&f, f.there);
        ask(&f, NULL, f.nu[1], &o, &d);
        mor_world_apply_forces(f.there, d->force);
        if (mor_world_step(f.there, NULL, &error) != MOR_OK) fail_msg("try %d: %s", k, error.text);
        assert_int_equal(mor_world_get_nu(f.there, f.nu[1], f.n, NULL), MOR_OK);
        for (int i = 0; i < f.n; i++) worst = fmax(worst, fabs(f.nu[1][i] - d->end[i]));
    }
    mor_inverse_dynamics_destroy(d);
    end(&f);
    return worst;
}

/* --------------------------------------------------------------------------------------- both ways */

static const char* const scenes[] = { BALL, BALL BOX, TUMBLE, STACK, BALL BOX TUMBLE STACK };

static void forces_of_the_convex_step_are_found(void** state)
{
    (void)state;
    char text[4096];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(text, sizeof text, TIME CONVEX("0.01") FLOOR "%s", scenes[i]);
        double e = forces_found(text, MOR_INVERSE_CONVEX, 0.0, 40, 5.0);
        if (!(e < 1e-10)) fail_msg("scene %zu: %.3g", i, e);
    }
}

static void the_convex_step_repeats_any_motion(void** state)
{
    (void)state;
    char text[4096];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(text, sizeof text, TIME CONVEX("0.01") FLOOR "%s", scenes[i]);
        double e = motion_found(text, MOR_INVERSE_CONVEX, 30);
        if (!(e < 1e-10)) fail_msg("scene %zu: %.3g", i, e);
    }
}

/* Joints bear part of a force. What shows of it moves the bodies as the whole does. */
static void a_body_on_a_joint_moves_as_before(void** state)
{
    (void)state;
    flow f = begin(TIME CONVEX("0.01") FLOOR BALL BOX PENDULUM);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_rng rng = { 3 };
    size_t used = 0, size = mor_world_save(f.there, NULL, 0) + 16384; /* contacts come and go */
    void* start = malloc(size);
    for (int k = 0; k < 30; k++) {
        mor_error error = { 0 };
        for (int again = 0; again < 2; again++) {
            if (again) assert_int_equal(mor_world_restore(f.there, start, used, NULL), MOR_OK);
            else read_state(&f, 0), used = mor_world_save(f.there, start, size);
            for (int i = 0; i < f.n && !again; i++) f.force[i] = 2.0 * draw(&rng);
            mor_world_apply_forces(f.there, again ? d->force : f.force);
            if (mor_world_step(f.there, NULL, &error) != MOR_OK) fail_msg("step %d: %s", k, error.text);
            if (again) continue;
            read_state(&f, 1);
            put_state(&f, f.here);
            ask(&f, f.q[1], f.nu[1], &o, &d);
        }
        assert_int_equal(mor_world_get_nu(f.there, f.force, f.n, NULL), MOR_OK);
        for (int i = 0; i < f.n; i++) test_near(f.force[i], f.nu[1][i], 1e-10, "velocity");
    }
    free(start);
    mor_inverse_dynamics_destroy(d);
    end(&f);
}

static void the_plane_and_robots_agree_too(void** state)
{
    (void)state;
    double e = motion_found(
        TIME CONVEX(
            "0.01") "dimension: 2\nbodies:\n"
                    "  - { name: floor, shape: { chain: [[-9, 0], [9, 0]] }, fixed: true, friction: 0.4 }\n"
                    "  - { name: disc, shape: { disc: 0.5 }, mass: 2, position: [0, 0.5], velocity: [1, 0] }\n"
                    "  - { name: box, shape: { polygon: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]] }, mass: "
                    "1, position: [2, 0.1], velocity: [1, 0] }\n",
        MOR_INVERSE_CONVEX, 30);
    test_near(e, 0.0, 1e-10, "in the plane");
    e = forces_found(TIME EXACT "robots: [ { name: arm, urdf: robots/arm2.urdf, base: fixed } ]\n", MOR_INVERSE_EXACT,
                     0.0, 40, 1.0);
    test_near(e, 0.0, 1e-10, "an arm in the air");
    e = forces_found(TIME EXACT
                     "robots: [ { name: man, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 3] } ]\n",
                     MOR_INVERSE_EXACT, 0.0, 10, 1.0);
    test_near(e, 0.0, 1e-9, "a humanoid in the air");
}

/* ------------------------------------------------------------------------------------ the exact cone */

/* Steps of ncp without unknown forces: none are found, and where the impulses are unique they are those of the step. */
static void check_exact(const char* text, int steps, bool unique)
{
    flow f = begin(text);
    mor_inverse_options o = { MOR_INVERSE_EXACT, 0.0, 1e-9 };
    mor_inverse_dynamics* d = NULL;
    for (int k = 0; k < steps; k++) {
        int count;
        read_state(&f, 0);
        test_steps(f.there, 1);
        read_state(&f, 1);
        put_state(&f, f.here);
        ask(&f, f.q[1], f.nu[1], &o, &d);
        const mor_contact* c = mor_world_contacts(f.there, &count);
        for (int i = 0; i < f.n; i++) test_near(d->change[i], 0.0, 1e-10, "unknown change");
        if (count > 0) assert_int_equal(d->unique, unique);
        assert_int_equal(count, d->contact_count);
        for (int i = 0; unique && i < count; i++)
            test_near(mor_norm(mor_sub(c[i].impulse, d->contacts[i].impulse)), 0.0, 1e-10, "impulse");
    }
    mor_inverse_dynamics_destroy(d);
    end(&f);
}

static void the_exact_cone_gives_its_impulses_where_they_are_unique(void** state)
{
    (void)state;
    check_exact(TIME EXACT FLOOR BALL, 40, true);
    check_exact(TIME EXACT FLOOR STACK, 10, true);
    check_exact(TIME EXACT FLOOR BOX, 20, true);     /* it slides and turns: four known directions in six equations */
    check_exact(TIME EXACT FLOOR RESTING, 5, false); /* four corners, of which three carry as well */
}

/* A box that lies on the floor: its weight, however the corners share it. One that is pulled along at a constant speed:
 * the least force that does it also lifts, min over N of (mu N)^2 + (m g - N)^2, N = m g/(1 + mu^2), and pulls mu N. */
static void weight_and_friction_are_those_of_statics(void** state)
{
    (void)state;
    const mor_inverse_law laws[] = { MOR_INVERSE_CONVEX, MOR_INVERSE_EXACT };
    for (int l = 0; l < 2; l++)
        for (int slides = 0; slides < (laws[l] == MOR_INVERSE_EXACT ? 2 : 1); slides++) {
            mor_scene* scene;
            mor_world* w = test_scene_text(
                TIME EXACT
                "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"
                "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 3, friction: 0.4, position: [0, 0, 0.1] }\n",
                &scene);
            mor_inverse_options o = { laws[l], 0.0, 1e-9 };
            mor_inverse_dynamics* d = NULL;
            mor_error error = { 0 };
            double nu[6] = { slides ? 1.0 : 0.0 }, weight = 3.0 * 9.81, sum = 0.0;
            assert_int_equal(mor_world_set_nu(w, nu, 6, NULL), MOR_OK);
            if (mor_world_inverse(w, NULL, nu, &o, &d, &error) != MOR_OK) fail_msg("%s", error.text);
            for (int i = 0; i < d->contact_count; i++) sum += d->contacts[i].normal_impulse;
            /* the convex law knows a weight only by how far it sinks: at rest without sinking nothing bears it */
            if (laws[l] == MOR_INVERSE_EXACT) {
                double N = slides ? weight / (1.0 + 0.4 * 0.4) : weight;
                test_near(sum, 0.01 * N, 1e-12, "weight");
                test_near(d->force[0], slides ? 0.4 * N : 0.0, 1e-9, "pull");
            } else {
                test_near(d->force[2] + sum / 0.01, weight, 1e-9, "weight");
            }
            mor_inverse_dynamics_destroy(d);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

/* Bad motions are refused with a sentence and the world stays. */
static void bad_motions_are_refused(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(TIME EXACT FLOOR BALL, &scene);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_error error = { 0 };
    double nu[6] = { NAN };
    assert_int_equal(mor_world_inverse(w, NULL, nu, &o, &d, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "not finite"));
    nu[0] = 0.0;
    test_method(w, "integrator", "rk4");
    assert_int_equal(mor_world_inverse(w, NULL, nu, &o, &d, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "rk4"));
    mor_inverse_dynamics_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* --------------------------------------------------------------------------------------- the command */

/* A box that is thrown, hits, slides and turns, simulated with values that the scene below does not have. */
static const char thrown[] =
    "moreau: 1\ntime: { step: 0.002, end: 0.6 }\nmethod: { formulation: ncp, solver: { name: auto, tol: 1e-12 } }\n"
    "materials: { wood: { friction: 0.31, restitution: 0 } }\n"
    "bodies:\n  - { name: floor, shape: plane, fixed: true, material: wood, position: [0, 0, 0] }\n"
    "  - { name: box, shape: { box: [0.2, 0.15, 0.1] }, material: wood, mass: 2, com: [0.01, 0, 0],\n"
    "      inertia: [0.006, 0.009, 0.011, 0, 0, 0], position: [0, 0, 0.25], velocity: [1.5, 0.4, 0],\n"
    "      angular_velocity: [3, 5, -2] }\n";

static void write_scene(void)
{
    FILE* out = fopen(command_at("s.yaml"), "w");
    assert_non_null(out);
    fputs(thrown, out);
    fclose(out);
    command_expect("$M run s.yaml --quiet --csv m.csv --record m.h5", 0, NULL);
}

/* Fits values to a file of the folder; the truth is that of the scene. */
static void fit(const char* file, bool poses, mor_fit_value* values, int count)
{
    mor_error error = { 0 };
    char scene[4096];
    snprintf(scene, sizeof scene, "%s", command_at("s.yaml"));
    mor_inversion_request request = { .scene = scene, .options = mor_inverse_options_default(), .poses = poses };
    request.options.law = MOR_INVERSE_EXACT;
    mor_scene* read = mor_scene_load(scene, NULL, NULL, &error);
    mor_world* w = read ? mor_scene_build(read, 1, &error) : NULL;
    mor_observed motion;
    double before, after;
    int iterations;
    if (!w || mor_observed_read(&motion, command_at(file), w, NULL, &error) ||
        mor_inversion_fit(&request, &motion, values, count, &before, &after, &iterations, &error))
        fail_msg("%s", error.text);
    assert_true(after <= before);
    mor_observed_free(&motion);
    mor_world_destroy(w);
    mor_scene_destroy(read);
}

static void values_are_found_by_least_squares(void** state)
{
    (void)state;
    write_scene();
    mor_fit_value states[] = { { .path = "materials.wood.friction", .start = 0.2 },
                               { .path = "bodies.box.inertia.1", .start = 0.012 },
                               { .path = "bodies.box.mass", .start = 1.0 } };
    fit("m.h5", false, states, 2);
    test_near(states[0].value, 0.31, 1e-6, "friction");
    test_near(states[1].value, 0.009, 1e-7, "inertia");
    assert_true(states[0].identified && states[1].identified);
    mor_fit_value poses[] = { states[0], states[1], { .path = "bodies.box.com.0", .start = 0.001 } };
    poses[0].start = 0.2, poses[1].start = 0.012;
    fit("m.csv", true, poses, 3);
    test_near(poses[0].value, 0.31, 3e-3, "friction from poses");
    test_near(poses[1].value, 0.009, 1e-4, "inertia from poses");
    test_near(poses[2].value, 0.01, 1e-4, "centre of mass from poses");
    /* mass and all moments together scale every impulse alike: nobody can tell them from the motion */
    mor_fit_value scale[] = { { .path = "bodies.box.mass", .start = 2.0 },
                              { .path = "bodies.box.inertia.0", .start = 0.006 },
                              { .path = "bodies.box.inertia.1", .start = 0.009 },
                              { .path = "bodies.box.inertia.2", .start = 0.011 } };
    fit("m.h5", false, scale, 4);
    for (int i = 0; i < 4; i++) assert_false(scale[i].identified);
    mor_fit_value nothing[] = { { .path = "bodies.floor.position.0", .start = 1.0 } };
    fit("m.h5", false, nothing, 1);
    assert_false(nothing[0].identified);
}

/* --check took the regularisation 1e-6 in place of the scene's, and forces of 1e6 N came out of a box on a floor. */
static void the_check_has_the_regularisation_of_the_scene(void** state)
{
    (void)state;
    command_expect(
        "printf 'moreau: 1\\ntime: { step: 0.005, end: 0.5 }\\nmethod: { formulation: { name: convex, "
        "regularisation: 0.01 }, solver: { name: convex-newton, tol: 1.0e-14 }, gap_correction: velocity "
        "}\\nbodies:\\n  - { name: floor, fixed: true, shape: plane }\\n  - { name: a, shape: { box: [0.2, 0.3, "
        "0.1] }, mass: 1, position: [0, 0, 0.3], angular_velocity: [2, -3, 1], velocity: [1, 0.3, 0] }\\n' > "
        "r.yaml && $M run r.yaml --record r.h5 --quiet && $M inverse r.yaml --motion r.h5 --law convex --check "
        "--json > r.json",
        0, NULL);
    FILE* f = fopen(command_at("r.json"), "r");
    assert_non_null(f);
    char text[1 << 14];
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *again = strstr(text, "\"forward_difference\": "), *change = strstr(text, "\"largest_change\": ");
    assert_non_null(again);
    assert_non_null(change);
    assert_true(atof(again + 22) < 1e-10 && atof(change + 18) < 1e-9);
}

static void the_command_tells_forces_and_mistakes(void** state)
{
    (void)state;
    write_scene();
    command_expect("$M inverse s.yaml --motion m.h5 --check --csv f.csv > out && head -1 f.csv | grep -q box_torque_z"
                   " && grep -q 'forward again' out",
                   0, NULL);
    command_expect("$M inverse s.yaml --motion m.csv --law convex --regularisation 0.1 | grep -q 'convex law'", 0,
                   NULL);
    command_expect(
        "$M inverse s.yaml --motion m.csv --fit materials.wood.friction=0.2 --json | grep -q '\"identified\": "
        "true'",
        0, NULL);
    command_expect("$M inverse s.yaml --motion m.csv --columns box.x,box.y,box.z,box.qw,box.qx,box.qy,box.qz --rows "
                   "contacts=0 --quiet",
                   0, NULL);
    command_expect("$M inverse s.yaml", 2, "which motion");
    command_expect("$M inverse --motion m.csv", 2, "which scene");
    command_expect("$M inverse s.yaml --motion nothing.csv", 2, "nothing.csv");
    command_expect("$M inverse s.yaml --motion s.yaml", 2, "s.yaml");
    command_expect("$M inverse s.yaml --motion m.csv --fit friction", 2, "PATH=START");
    command_expect("sed s/box.qw/box.q0/ m.csv > q.csv; $M inverse s.yaml --motion q.csv", 2, "no column 'box.qw'");
    command_expect("(head -5 m.csv; tail -n +3 m.csv) > t.csv; $M inverse s.yaml --motion t.csv", 2,
                   "times do not rise");
    command_expect("head -2 m.csv > t.csv; $M inverse s.yaml --motion t.csv", 2, "at least 3");
    command_expect("$M inverse s.yaml --motion m.csv --columns box.x,box.y", 2, "7: x,y,z");
    command_expect("$M inverse s.yaml --motion m.csv --rows contacts", 2, "COLUMN=VALUE");
    command_expect("$M inverse arm6_drop --motion m.csv", 2, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_of_the_convex_step_are_found),
        cmocka_unit_test(the_convex_step_repeats_any_motion),
        cmocka_unit_test(a_body_on_a_joint_moves_as_before),
        cmocka_unit_test(the_plane_and_robots_agree_too),
        cmocka_unit_test(the_exact_cone_gives_its_impulses_where_they_are_unique),
        cmocka_unit_test(weight_and_friction_are_those_of_statics),
        cmocka_unit_test(bad_motions_are_refused),
        cmocka_unit_test(values_are_found_by_least_squares),
        cmocka_unit_test(the_check_has_the_regularisation_of_the_scene),
        cmocka_unit_test(the_command_tells_forces_and_mistakes),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
