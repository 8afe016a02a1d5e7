/* `moreau inverse --fit` on several bodies: values far from the start, and one that the motion does not know. */
#include "common/command.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double friction = 0.35;

/* A box, a cylinder and a capsule: in the step in which the box comes to lie flat, a friction that is a little off met
 * the end of the step by accident, with forces 300 times as large as needed, and the fit ended there. */
static void write_motion(void)
{
    FILE* f = fopen(command_at("fit.yaml"), "w");
    assert_non_null(f);
    fprintf(f,
            "moreau: 1\ntime: { step: 0.003, end: 0.9 }\nmaterials: { m: { friction: %g } }\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true, material: m }\n"
            "  - { name: a, shape: { box: [0.2, 0.3, 0.1] }, mass: 2, material: m, position: [0, 0, 0.4], velocity: "
            "[1, 0.3, 0], angular_velocity: [2, 3, -1] }\n"
            "  - { name: b, shape: { cylinder: { radius: 0.1, length: 0.2 } }, mass: 1, material: m, position: [0.8, "
            "0.1, 0.1] }\n"
            "  - { name: c, shape: { capsule: { radius: 0.05, length: 0.2 } }, mass: 0.5, material: m, position: "
            "[-0.6, 0.1, 0.3], angular_velocity: [4, 0, 2] }\n",
            friction);
    fclose(f);
    command_expect("$M run fit.yaml --quiet --record fit.h5", 0, NULL);
}

/* The number after a word in a file that the command wrote. */
static double number_after(const char* file, const char* word)
{
    char text[1 << 15];
    FILE* f = fopen(command_at(file), "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char* at = strstr(text, word);
    assert_non_null(at);
    return atof(at + strlen(word));
}

static void friction_is_found_from_far_away(void** state)
{
    (void)state;
    write_motion();
    static const double starts[] = { 0.08, 0.2, 0.7, 1.1 };
    for (int i = 0; i < 4; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "$M inverse fit.yaml --motion fit.h5 --fit materials.m.friction=%g | grep -o -e '->.*+-' > got",
                 starts[i]);
        command_expect(command, 0, NULL);
        test_near(number_after("got", "-> "), friction, 1e-6, "friction");
    }
}

/* A mass whose moments of inertia grow with it scales every impulse alike. It ran away to 7e7 kg and took the friction
 * along. */
static void a_mass_that_nobody_can_see_is_held_and_told(void** state)
{
    (void)state;
    write_motion();
    command_expect(
        "$M inverse fit.yaml --motion fit.h5 --fit bodies.a.mass=1.3 --fit materials.m.friction=0.1 > got && "
        "grep -q 'bodies.a.mass.*1.3 -> 1.3 .*cannot be identified: the motion does not depend on it' got",
        0, NULL);
    command_expect("grep 'm.friction' got | grep -o -e '->.*+-' > friction", 0, NULL);
    test_near(number_after("friction", "-> "), friction, 1e-6, "friction beside a mass");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_is_found_from_far_away),
        cmocka_unit_test(a_mass_that_nobody_can_see_is_held_and_told),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
