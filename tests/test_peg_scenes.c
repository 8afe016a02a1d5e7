/* Every scene of scenes/ with exact geometry, whatever it was written for: no plane pushes while another open one
 * separates (common/choices.h), and penetration stays small. Large scenes are run as far as a fixed amount of work
 * allows; MOREAU_LONG=1 allows twenty times as much. */
#include "common/choices.h"
#include "common/scenes.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void no_plane_pushes_while_another_separates(void** state)
{
    (void)state;
    int count, pushing = 0, choices = 0;
    char** names = scene_names(&count);
    const double allowed = getenv("MOREAU_LONG") ? 6e5 : getenv("MOREAU_SLOW") ? 3e3 : 3e4;
    assert_true(count > 40);
    for (int i = 0; i < count; i++) {
        mor_error error = { 0 };
        const char* sets[] = { "method.formulation=peg", "method.collision=features", "method.on_failure=warn", NULL };
        mor_scene* scene = mor_scene_load(scene_path(names[i]), sets, NULL, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        if (scene && !w && strstr(error.text, "'peg' has no rolling friction")) { /* told, and not this test's matter */
            printf("  %-24s refused: rolling friction\n", names[i]);
            mor_scene_destroy(scene);
            continue;
        }
        if (!w) fail_msg("%s", error.text);
        int steps = (int)(mor_scene_end(scene) / mor_world_get_step(w) + 0.5), k = 0, missed = 0;
        test_choice_report r = { 0 };
        double work = 0.0, deepest = 0.0;
        for (; k < steps && work < allowed; k++) {
            mor_step_report s;
            int n;
            if (mor_world_step(w, &s, &error) != MOR_OK) fail_msg("%s: %s", names[i], error.text);
            missed += s.status != MOR_SOLVED;
            mor_world_contacts(w, &n);
            work += 1.0 + n;
            deepest = fmax(deepest, s.penetration);
            test_choices(w, &r);
            if (!(r.worst < 1e-6)) /* almost all are below 1e-7 */
                fail_msg("%s, step %d: a plane %g of the size away from separating pushes", names[i], k, r.worst);
        }
        printf("  %-24s %5d of %5d steps, %6d pushes, %5d with a choice, worst %.0e, penetration %.0e%s\n", names[i], k,
               steps, r.pushing, r.choices, r.worst, deepest, missed ? ", steps missed the tolerance" : "");
        assert_true(missed <= k / 100 + 1);
        assert_true(deepest < 1e-3);
        pushing += r.pushing;
        choices += r.choices;
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    scene_names_free(names);
    printf("  %d pushes, %d with a choice\n", pushing, choices);
    assert_true(pushing > 10000 && choices > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_plane_pushes_while_another_separates) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
