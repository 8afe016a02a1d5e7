/* The option `relinearise`: the step is solved about its own end. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The largest distance of a ball from the hill it slides down, or its depth in it, over 1 s. */
static double off_the_hill(int passes, const char* formulation)
{
    char text[600];
    mor_scene* scene;
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.02 }\nmethod: { formulation: %s, relinearise: %d }\n"
             "materials: { default: { friction: 0 } }\nbodies:\n"
             "  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 1.1], velocity: [1, 0, 0] }\n"
             "  - { name: hill, shape: { sphere: 1 }, fixed: true }\n",
             formulation, passes);
    mor_world* w = test_scene_text(text, &scene);
    double worst = 0.0;
    for (int k = 0; k < 20; k++) {
        test_steps(w, 1);
        worst = fmax(worst, fabs(mor_norm(test_state(w, mor_world_find_body(w, "b")).com) - 1.1));
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return worst;
}

static void a_ball_keeps_to_a_bent_surface(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "mncp", "st" };
    for (int f = 0; f < 3; f++) {
        double plain = off_the_hill(0, formulations[f]), once = off_the_hill(1, formulations[f]),
               thrice = off_the_hill(3, formulations[f]);
        print_message("%s: off by %.1e m, with 1 pass %.1e, with 3 passes %.1e\n", formulations[f], plain, once,
                      thrice);
        assert_true(plain > 1e-4); /* v^2 h^2/(2 R) */
        assert_true(once < 0.2 * plain);
        assert_true(thrice < 1e-8);
    }
}

static void an_overlap_of_the_start_does_not_become_speed(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        "moreau: 1\ntime: { step: 0.01 }\nmethod: { relinearise: 2, gap_correction: bounded }\nbodies:\n"
        "  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.08] }\n"
        "  - { name: floor, shape: plane, fixed: true }\n",
        &scene);
    test_steps(w, 20);
    assert_true(fabs(test_state(w, mor_world_find_body(w, "b")).velocity.z) < 0.11);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_it_does_not_go_with_is_refused(void** state)
{
    (void)state;
    static const char* const others[] = { "formulation: penalty", "formulation: ap",
                                          "formulation: peg, collision: features" };
    for (int i = 0; i < 3; i++) {
        char text[300];
        mor_error error = { 0 };
        int n = snprintf(text, sizeof text,
                         "moreau: 1\nmethod: { %s, relinearise: 1 }\nbodies: [ { name: a, shape: { sphere: 1 } } ]\n",
                         others[i]);
        mor_scene* scene = mor_scene_parse(text, (size_t)n, "text.yaml", NULL, NULL, &error);
        assert_non_null(scene);
        assert_null(mor_scene_build(scene, 1, &error));
        assert_non_null(strstr(error.text, "relinearise goes with"));
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_keeps_to_a_bent_surface),
        cmocka_unit_test(an_overlap_of_the_start_does_not_become_speed),
        cmocka_unit_test(what_it_does_not_go_with_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
