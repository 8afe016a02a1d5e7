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

static void write_text(const char* name, const char* text)
{
    FILE* f = fopen(command_at(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A ball with spin turns with two velocities in the step in which it bounces. The mean of them was taken for that of
 * the end, and a quarter of the change of spin for an unknown torque. Nothing unknown acts; friction and mass cannot be
 * seen of impulses that fit any motion. */
static void a_ball_that_bounces_with_spin_needs_no_unknown_force(void** state)
{
    (void)state;
    write_text("spin.yaml",
               "moreau: 1\ntime: { step: 0.003, end: 1 }\nmaterials: { m: { friction: 0.26, restitution: 0.61 } }\n"
               "bodies:\n"
               "  - { name: floor, shape: plane, fixed: true, material: m }\n"
               "  - { name: ball, shape: { sphere: 0.08 }, mass: 0.35, material: m, position: [0, 0, 0.7], velocity: "
               "[-0.6, 0.4, 0], angular_velocity: [3, -7, 2] }\n");
    command_expect("$M run spin.yaml --quiet --csv spin.csv", 0, NULL);
    command_expect("$M inverse spin.yaml --motion spin.csv | grep -o 'at most .* in a step' > got", 0, NULL);
    assert_true(number_after("got", "at most ") < 1e-9);
    command_expect(
        "$M inverse spin.yaml --motion spin.csv --fit materials.m.friction=0.5 --fit bodies.ball.mass=1 > got"
        " && grep -c 'cannot be identified: the motion does not depend on it' got | grep -qx 2",
        0, NULL);
    command_expect("$M inverse spin.yaml --motion spin.csv --fit materials.m.restitution=0.5", 2,
                   "impulse that explains the motion, whatever the restitution");
}

/* A crate that slides: its mass, which no impulse depends on, was given from rounding, 0.991 +- 0.005 for 2.5 kg. */
static void rounding_identifies_nothing(void** state)
{
    (void)state;
    write_text(
        "crate.yaml",
        "moreau: 1\ntime: { step: 0.005, end: 0.8 }\nmaterials: { m: { friction: 0.31 } }\nbodies:\n"
        "  - { name: floor, shape: plane, fixed: true, material: m }\n"
        "  - { name: crate, shape: { box: [0.5, 0.3, 0.2] }, mass: 4, material: m, position: [0, 0, 0.1], velocity: "
        "[1.3, 0.6, 0], angular_velocity: [0, 0, 2] }\n");
    command_expect("$M run crate.yaml --quiet --csv crate.csv", 0, NULL);
    command_expect(
        "$M inverse crate.yaml --motion crate.csv --fit bodies.crate.mass=1.5 --fit materials.m.friction=0.7 > "
        "got && grep -q 'crate.mass.*1.5 -> 1.5 .*cannot be identified' got",
        0, NULL);
    command_expect("grep 'm.friction' got | grep -o -e '->.*+-' > friction", 0, NULL);
    test_near(number_after("friction", "-> "), 0.31, 1e-6, "friction beside a mass");
    /* millimetres; and every fifth row gone, whose steps are twice as long */
    command_expect("awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /crate.[xyz]$/) c[i] = 1 } NR > 1 { "
                   "for (i in c) $i *= 1000 } 1' crate.csv > mm.csv && awk 'NR % 5 != 3' crate.csv > gone.csv",
                   0, NULL);
    command_expect("$M inverse crate.yaml --motion mm.csv --poses", 0, "times the weight: are units, axes");
    command_expect("$M inverse crate.yaml --motion gone.csv --poses --fit materials.m.friction=0.7", 0,
                   "of the weight is left unexplained");
    command_expect(
        "$M inverse crate.yaml --motion crate.csv --fit materials.m.friction=0.7 2>&1 | grep -c note | grep -qx 0", 0,
        NULL);
}

/* A pendulum: forces that correct the joint after a step are told, and absent where nothing is corrected. */
static void corrections_of_joints_are_told(void** state)
{
    (void)state;
    write_text(
        "swing.yaml",
        "moreau: 1\ntime: { step: 0.004, end: 1 }\nbodies:\n"
        "  - { name: rod, shape: { box: [0.6, 0.04, 0.04] }, mass: 0.9, position: [0.3, 0, 0], collide: false }\n"
        "joints:\n  - { name: pin, type: revolute, bodies: [rod, world], point: [0, 0, 0], axis: [0, 1, 0] }\n");
    command_expect(
        "$M run swing.yaml --quiet --csv a.csv && $M inverse swing.yaml --motion a.csv | grep -q 'velocities of "
        "joints are corrected'",
        0, NULL);
    command_expect(
        "$M run swing.yaml --set method.stabilisation=none --quiet --csv b.csv && $M inverse swing.yaml --set "
        "method.stabilisation=none --motion b.csv > b.txt && ! grep -q corrected b.txt && grep -o 'at most .* "
        "in a step' b.txt > got",
        0, NULL);
    assert_true(number_after("got", "at most ") < 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_is_found_from_far_away),
        cmocka_unit_test(a_mass_that_nobody_can_see_is_held_and_told),
        cmocka_unit_test(a_ball_that_bounces_with_spin_needs_no_unknown_force),
        cmocka_unit_test(rounding_identifies_nothing),
        cmocka_unit_test(corrections_of_joints_are_told),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
