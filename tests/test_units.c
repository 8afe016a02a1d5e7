/* Numbers that look as if they had been meant in another unit are told, with their place; ordinary ones are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/scene.h"

/* What is noted about a scene with one line of its own. */
static void expect(const char* line, const char* note)
{
    char text[1000];
    snprintf(text, sizeof text, "moreau: 1\n%s\n", line);
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "s.yaml", NULL, NULL, &error);
    if (!scene) fail_msg("%s: %s", line, error.text);
    const char* said = mor_scene_notes(scene);
    if (note ? !strstr(said, note) : *said != 0) fail_msg("%s: expected '%s', got '%s'", line, note ? note : "", said);
    mor_scene_destroy(scene);
}

static void other_units_are_told(void** state)
{
    (void)state;
    expect("gravity: [0, 0, -9810]", "s.yaml:2:10: note: gravity is in m/s^2");
    expect("gravity: [0, 0, -981]", "100 times");
    expect("bodies: [{ name: a, shape: { sphere: 1 }, orientation: { rpy: [0, 1.5708, 0] } }]",
           "s.yaml:2:67: note: this turn");
    expect("bodies: [{ name: a, shape: { sphere: 1 }, orientation: { axis: [0, 0, 1], angle: -0.785 } }]",
           "write -44.9");
    expect("dimension: 2\nbodies: [{ name: a, shape: { disc: 1 }, orientation: 45 }]", "write 0.785398");
    expect("bodies: [{ name: a, shape: { sphere: 1 } }, { name: b, shape: { sphere: 1 }, position: [5, 0, 0] }]\n"
           "joints: [{ type: revolute, bodies: [a, b], point: [2, 0, 0], axis: [0, 1, 0], limits: [-90, 90] }]",
           "limits of revolute joints are in rad");
}

static void ordinary_numbers_are_not(void** state)
{
    (void)state;
    expect("gravity: [0, 0, -9.81]", NULL);
    expect("gravity: [0, 0, -274]", NULL); /* the sun */
    static const double degrees[] = { 0, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 30, 45, 90, -90, 180, 360 };
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        char line[200];
        snprintf(line, sizeof line, "bodies: [{ name: a, shape: { sphere: 1 }, orientation: { rpy: [%g, 0, 0] } }]",
                 degrees[i]);
        expect(line, NULL);
    }
    expect("dimension: 2\nbodies: [{ name: a, shape: { disc: 1 }, orientation: 6.28 }]", NULL);
    expect("bodies: [{ name: a, shape: { sphere: 1 } }, { name: b, shape: { sphere: 1 }, position: [5, 0, 0] }]\n"
           "joints: [{ type: prismatic, bodies: [a, b], point: [2, 0, 0], axis: [0, 1, 0], limits: [-90, 90] }]",
           NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(other_units_are_told),
                                        cmocka_unit_test(ordinary_numbers_are_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
