/* Robots that start too low or with joints outside their limits: the start is told, nothing is thrown, and the joints
 * are back within their limits and stay there. Robots of ../shared/data/robots at random depths and violations. */
#include "common/drops.h"
#include "common/foreign_robots.h"
#include "common/random_robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80 };

static bool is_long(void) { return getenv("MOREAU_LONG") != NULL; }

static mor_world* build(const foreign_robot* r, const char* more, mor_scene** scene)
{
    static char entry[9000], text[10000];
    foreign_robot_entry(r, more, entry, sizeof entry);
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.001, end: 1 }\nbodies:\n  - { name: floor, shape: plane, fixed: true, "
             "friction: 0.6 }\nrobots:\n%s",
             entry);
    return test_scene_text(text, scene);
}

/* Height of the centre of mass. */
static double com_height(const mor_world* w)
{
    double sum = 0.0, mass = 0.0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) == MOR_FIXED) continue;
        double m = mor_body_mass(w, id).mass;
        sum += m * test_state(w, id).com.z;
        mass += m;
    }
    return mass > 0.0 ? sum / mass : 0.0;
}

static double worst_violation(const mor_world* w)
{
    double s[MOST], worst = 0.0;
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    mor_world_robot_state(w, 0, NULL, s, NULL);
    for (int j = 0; j < mor_robot_joint_count(m); j++) {
        const mor_link_def* l = mor_robot_link(m, mor_robot_link_of_joint(m, j));
        worst = fmax(worst, fmax(l->lower - s[j], s[j] - l->upper));
    }
    return worst;
}

/* Steps; the centre of mass may not rise above `most`, no link be faster than `fall` per second allows. */
static void nothing_is_thrown(mor_world* w, int steps, double most, const char* what)
{
    mor_error error = { 0 };
    mor_run* run = mor_run_create(w, steps, &error);
    assert_non_null(run);
    double potential = mor_world_potential_energy(w);
    for (int k = 1; k <= steps; k++) {
        mor_step_report r;
        if (mor_run_step(run, &r, &error) != MOR_OK || mor_run_stopped(run))
            fail_msg("%s: step %d: %s", what, k, r.detail);
        if (!(com_height(w) <= most))
            fail_msg("%s: thrown to %g m above %g m in step %d", what, com_height(w), most, k);
        /* free fall: kinetic energy comes from the height, or from what the start was lifted by */
        double lifted = mor_run_summarise(run).energy.projection_work,
               fallen = potential + fmax(lifted, 0.0) - r.potential;
        if (!(r.kinetic <= fallen + 1e-6 * (1.0 + fabs(potential))))
            fail_msg("%s: step %d: %g J of motion from %g J of height", what, k, r.kinetic, fallen);
        if (k < 20) continue;
        double out = worst_violation(w);
        if (!(out < 1e-6)) fail_msg("%s: step %d: %g beyond a limit", what, k, out);
    }
    mor_run_destroy(run);
}

static void robots_set_too_low_are_not_thrown(void** state)
{
    (void)state;
    mor_rng rng = { 91 };
    int tried = 0;
    static const int some[] = { 0, 1, 3, 14, 12, 4, 9, 10 };
    for (int n = 0; n < (is_long() ? 40 : 8); n++) {
        const foreign_robot* r = &foreign_robots[some[n % 8]];
        double depth = pow(10.0, -3.0 + 1.7 * mor_rng_uniform(&rng)), angle = 60.0 * mor_rng_uniform(&rng);
        if (!foreign_robot_is_there(r) || (!is_long() && n % 8 == 3)) continue; /* its meshes are large */
        char more[200], what[80];
        snprintf(more, sizeof more, "base: floating, on: floor, orientation: { axis: [1, 0.3, 0.2], angle: %g }",
                 angle);
        snprintf(what, sizeof what, "%s %.3g m too low", r->name, depth);
        mor_scene* scene;
        mor_world* w = build(r, more, &scene);
        mor_pose base;
        mor_world_robot_state(w, 0, &base, NULL, NULL);
        double height = com_height(w);
        base.position.z -= depth;
        mor_world_robot_set_state(w, 0, &base, NULL, NULL);
        mor_start start;
        mor_error error = { 0 };
        assert_int_equal(mor_world_look(w, &start, &error), MOR_OK);
        test_near(start.penetration, depth, 1e-9 + 0.3 * depth,
                  what); /* round shapes: less than that across the floor */
        assert_true(start.overlaps > 0 && strcmp(start.pair[0], "") != 0);
        double size = 0.05 * height + 0.01; /* joints outside their limits move, too */
        if (start.limit_count) size += 0.3;
        mor_start_free(&start);
        nothing_is_thrown(w, is_long() ? 1000 : 200, height + depth + size, what);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        tried++;
    }
    if (tried) return;
    print_message("SKIP: ../shared is not there\n");
    skip();
}

static void joints_outside_their_limits_are_put_back(void** state)
{
    (void)state;
    mor_rng rng = { 17 };
    int tried = 0;
    static const int some[] = { 2, 8, 1, 3 }; /* panda twice */
    for (int n = 0; n < (is_long() ? 24 : 6); n++) {
        const foreign_robot* r = &foreign_robots[some[n % 4]];
        if (!foreign_robot_is_there(r)) continue;
        char what[80];
        mor_scene* scene;
        mor_world* w =
            build(r, n % 4 < 2 ? "base: fixed, position: [0, 0, 3]" : "base: floating, position: [0, 0, 3]", &scene);
        const mor_robot_model* m = mor_world_robot_model(w, 0);
        double s[MOST];
        int outside = 0;
        for (int j = 0; j < mor_robot_joint_count(m); j++) {
            const mor_link_def* l = mor_robot_link(m, mor_robot_link_of_joint(m, j));
            double u = mor_rng_uniform(&rng),
                   by = (l->type == MOR_PRISMATIC ? 0.01 : 0.4) * mor_rng_uniform(&rng) + 1e-3;
            s[j] = 0.0;
            if (isinf(l->lower) || isinf(l->upper)) continue;
            s[j] = 0.5 * (l->lower + l->upper);
            if (l->mimic >= 0 || u < 0.4) continue;
            s[j] = u < 0.7 ? l->lower - by : l->upper + by;
            outside++;
        }
        mor_world_robot_set_state(w, 0, NULL, s, NULL);
        snprintf(what, sizeof what, "%s, %d joints outside", r->name, outside);
        mor_start start;
        mor_error error = { 0 };
        assert_int_equal(mor_world_look(w, &start, &error), MOR_OK);
        assert_true(start.limit_count >= outside);
        mor_start_free(&start);
        nothing_is_thrown(w, is_long() ? 1000 : 200, com_height(w) + 0.5, what);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        tried++;
    }
    if (tried) return;
    print_message("SKIP: ../shared is not there\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_set_too_low_are_not_thrown),
        cmocka_unit_test(joints_outside_their_limits_are_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
