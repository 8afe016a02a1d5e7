/* Wrong joints, robots and loops in scenes: refused with a sentence and its place, whatever the dice do to them never a
 * crash. Run under the sanitizers to mean something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/moreau.h"

#define BODIES                                                                                                         \
    "moreau: 1\nbodies:\n  - { name: a, shape: { box: [1, 1, 1] } }\n  - { name: b, shape: { box: [1, 1, 1] }, "       \
    "position: [2, 0, 0] }\n  - { name: f, shape: plane, fixed: true }\n"
#define JOINT(text) BODIES "joints:\n  - { " text " }\n"
#define ROBOT(text) "moreau: 1\nrobots:\n  - { urdf: robots/arm2.urdf, " text " }\n"

static mor_world* build(const char* text, size_t length, mor_scene** scene, mor_error* error)
{
    *scene = mor_scene_parse(text, length, MOREAU_SOURCE_DIR "/scenes/text.yaml", NULL, NULL, error);
    return *scene ? mor_scene_build(*scene, 1, error) : NULL;
}

static void wrong_joints_and_robots_are_refused_with_their_place(void** state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { JOINT("bodies: [a, b]"), "type" },
        { JOINT("type: hinge, bodies: [a, b]"), "unknown type of joint 'hinge'" },
        { JOINT("type: revolut, bodies: [a, b]"), "did you mean 'revolute'" },
        { JOINT("type: [revolute], bodies: [a, b]"), "type" },
        { JOINT("type: revolute"), "no 'bodies'" },
        { JOINT("type: revolute, bodies: a"), "two names" },
        { JOINT("type: revolute, bodies: [a]"), "two names" },
        { JOINT("type: revolute, bodies: [a, b, f]"), "two names" },
        { JOINT("type: revolute, bodies: [a, c]"), "'c'" },
        { JOINT("type: revolute, bodies: [a, {}]"), "body" },
        { JOINT("type: revolute, bodies: [a, a]"), "with itself" },
        { JOINT("type: revolute, bodies: [world, world]"), "" },
        { JOINT("type: revolute, bodies: [f, world]"), "nothing that moves" },
        { JOINT("type: revolute, bodies: [a, arm/upper]"), "arm/upper" },
        { JOINT("type: revolute, bodies: [a, b], axis: [0, 0, 0]"), "axis" },
        { JOINT("type: revolute, bodies: [a, b], axis: [0, 1]"), "axis" },
        { JOINT("type: revolute, bodies: [a, b], axis: [0, 0, x]"), "number" },
        { JOINT("type: revolute, bodies: [a, b], axis: [0, 0, .nan]"), "" },
        { JOINT("type: revolute, bodies: [a, b], axis: [0, 0, .inf]"), "" },
        { JOINT("type: universal, bodies: [a, b], axis: [0, 0, 1], axis2: [0, 0, 1]"), "not across" },
        { JOINT("type: universal, bodies: [a, b], axis: [0, 0, 1], axis2: [1, 0, 0.1]"), "not across" },
        { JOINT("type: revolute, bodies: [a, b], point: [0, 0]"), "point" },
        { JOINT("type: revolute, bodies: [a, b], point: 3"), "point" },
        { JOINT("type: revolute, bodies: [a, b], point: [1e400, 0, 0]"), "" },
        { JOINT("type: revolute, bodies: [a, b], limits: [1, -1]"), "above the upper limit" },
        { JOINT("type: revolute, bodies: [a, b], limits: [1]"), "limits" },
        { JOINT("type: revolute, bodies: [a, b], limits: [0, 1, 2]"), "limits" },
        { JOINT("type: revolute, bodies: [a, b], limits: [a, b]"), "number" },
        { JOINT("type: revolute, bodies: [a, b], limits: [.nan, 1]"), "" },
        { JOINT("type: spherical, bodies: [a, b], limits: [0, 1]"), "only revolute and prismatic" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], [2, 0, 0]], limits: [-1, 1]"), "greatest length" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], [2, 0, 0]], limits: [0, 0]"), "greatest length" },
        { JOINT("type: fixed, bodies: [a, b], motor: { velocity: 1, max_torque: 1 }"), "only revolute and prismatic" },
        { JOINT("type: planar, bodies: [a, b], damping: 1"), "only revolute and prismatic" },
        { JOINT("type: cylindrical, bodies: [a, b], friction: 1"), "only revolute and prismatic" },
        { JOINT("type: universal, bodies: [a, b], spring: { stiffness: 1 }"), "only revolute and prismatic" },
        { JOINT("type: revolute, bodies: [a, b], damping: -1"), "damping" },
        { JOINT("type: revolute, bodies: [a, b], damping: strong"), "number" },
        { JOINT("type: revolute, bodies: [a, b], friction: -0.1"), "friction" },
        { JOINT("type: revolute, bodies: [a, b], friction: .inf"), "" },
        { JOINT("type: revolute, bodies: [a, b], spring: 5"), "" },
        { JOINT("type: revolute, bodies: [a, b], spring: { stiffness: -5 }"), "stiffness" },
        { JOINT("type: revolute, bodies: [a, b], spring: { stifness: 5 }"), "did you mean 'stiffness'" },
        { JOINT("type: revolute, bodies: [a, b], spring: { stiffness: 5, rest: far }"), "number" },
        { JOINT("type: revolute, bodies: [a, b], motor: 3"), "" },
        { JOINT("type: revolute, bodies: [a, b], motor: { velocity: 1, max_torque: -1 }"), "max_torque" },
        { JOINT("type: revolute, bodies: [a, b], motor: { speed: 1 }"), "unknown" },
        { JOINT("type: revolute, bodies: [a, b], motor: { velocity: .inf, max_torque: 1 }"), "" },
        { JOINT("type: distance, bodies: [a, b]"), "points" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0]]"), "two points" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], 1]"), "point" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], [0, 0, 0]]"), "distance 0" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], [1, 0, 0]], length: 0"), "length" },
        { JOINT("type: distance, bodies: [a, b], points: [[0, 0, 0], [1, 0, 0]], length: -1"), "length" },
        { JOINT("type: revolute, bodies: [a, b], colour: red"), "unknown key" },
        { JOINT("name: [x], type: revolute, bodies: [a, b]"), "name" },
        { BODIES "joints: 3\n", "joints" },
        { BODIES "joints: [ 3 ]\n", "" },
        { BODIES "joints: { type: revolute }\n", "joints" },
        { "moreau: 1\ndimension: 2\nbodies:\n  - { name: a, shape: { box: [1, 1] } }\njoints:\n  - { type: universal, "
          "bodies: [a, world] }\n",
          "" },
        { "moreau: 1\nbodies:\n  - { name: a, shape: { sphere: 1 }, repeat: { count: 3, step: { position: [3, 0, 0] }, "
          "joint: { type: revolt } } }\n",
          "unknown type of joint" },
        { "moreau: 1\nbodies:\n  - { name: a, shape: { sphere: 1 }, repeat: { count: 3, step: { position: [3, 0, 0] }, "
          "joint: { type: revolute, first: nobody } } }\n",
          "nobody" },
        { "moreau: 1\nrobots: 3\n", "robots" },
        { "moreau: 1\nrobots: [ 3 ]\n", "" },
        { "moreau: 1\nrobots:\n  - { name: r }\n", "urdf" },
        { "moreau: 1\nrobots:\n  - { urdf: robots/none.urdf }\n", "none.urdf" },
        { "moreau: 1\nrobots:\n  - { urdf: text.yaml }\n", "" },
        { "moreau: 1\nrobots:\n  - { urdf: README.md }\n", "not well-formed" },
        { "moreau: 1\ndimension: 2\nrobots:\n  - { urdf: robots/arm2.urdf }\n", "3-D" },
        { ROBOT("base: flying"), "base" },
        { ROBOT("base: floating"), "mass matrix" },
        { ROBOT("position: [0, 0]"), "position" },
        { ROBOT("orientation: [0, 0, 0, 0]"), "" },
        { ROBOT("orientation: [1, 0, 0]"), "" },
        { ROBOT("joints: { shouldr: 1 }"), "did you mean 'shoulder'" },
        { ROBOT("joints: { tip_fixed: 1 }"), "no joint" },
        { ROBOT("joints: { shoulder: up }"), "number" },
        { ROBOT("joints: { shoulder: .nan }"), "" },
        { ROBOT("joints: [1, 2]"), "joints" },
        { ROBOT("joint_velocities: { wing: 1 }"), "no joint" },
        { ROBOT("material: cheese"), "cheese" },
        { ROBOT("collide: often"), "collide" },
        { ROBOT("limits: perhaps"), "limits" },
        { ROBOT("wheels: 4"), "unknown key" },
        { ROBOT("name: a_name_of_a_robot_that_is_rather_too_long_to_keep"), "29 characters" },
        { "moreau: 1\nrobots:\n  - { name: r, urdf: robots/arm2.urdf }\n  - { name: r, urdf: robots/arm2.urdf }\n",
          "two robots" },
        { ROBOT("loops: 3"), "loops" },
        { ROBOT("loops: [ 3 ]"), "" },
        { ROBOT("loops: [ {} ]"), "frames" },
        { ROBOT("loops: [ { frames: tip } ]"), "two links" },
        { ROBOT("loops: [ { frames: [tip] } ]"), "two links" },
        { ROBOT("loops: [ { frames: [tip, tail] } ]"), "no link 'tail'" },
        { ROBOT("loops: [ { frames: [tip, tip] } ]"), "with itself" },
        { ROBOT("loops: [ { frames: [world, world] } ]"), "" },
        { ROBOT("loops: [ { frames: [base, world] } ]"), "nothing that moves" },
        { ROBOT("loops: [ { frames: [tip, world], at: [0, 0, 0] } ]"), "'at'" },
        { ROBOT("loops: [ { frames: [tip, world], at: [[0, 0], [0, 0]] } ]"), "point" },
        { ROBOT("loops: [ { frames: [tip, world], type: glue } ]"), "type" },
        { ROBOT("loops: [ { frames: [tip, world], type: distance, length: -1 } ]"), "length" },
        { ROBOT("loops: [ { frames: [tip, world], at: [[0, 0, 0], [9, 0, 0]] } ]"), "do not close" },
        { ROBOT("loops: [ { frames: [tip, world], at: [[0, 0, 0], [1.5, 1, 0]] } ]"), "do not close" },
        { "moreau: 1\nmethod: { stabilisation: glue }\n", "stabilisation" },
        { "moreau: 1\nmethod: { stabilisation: { name: impulse, gain: 1 } }\n", "gain" },
        { "moreau: 1\nmethod: { stabilisation: { name: baumgarte, gain: -1 } }\n", "gain" },
        { "moreau: 1\nmethod: { stabilisation: { name: projection, position: -1 } }\n", "position" },
    };
    int count = (int)(sizeof cases / sizeof *cases), wrong = 0;
    for (int i = 0; i < count; i++) {
        mor_error error = { 0 };
        mor_scene* scene;
        mor_world* w = build(cases[i].text, strlen(cases[i].text), &scene, &error);
        bool good = !w && error.code == MOR_BAD_INPUT && strstr(error.text, cases[i].part) &&
                    strstr(error.text, ".yaml:") && strlen(error.text) > 30;
        if (!good) {
            print_message("case %d: %s--> %s '%s' instead of '%s'\n", i, cases[i].text, w ? "accepted" : "refused",
                          error.text, cases[i].part);
            wrong++;
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    print_message("%d wrong joints and robots\n", count);
    assert_int_equal(wrong, 0);
}

static const char whole[] =
    "moreau: 1\nname: everything\ntime: { step: 0.01, end: 1 }\n"
    "method: { stabilisation: { name: impulse, position: 1e-6, velocity: 1e-6 }, coordinates: minimal }\n"
    "bodies:\n"
    "  - { name: a, shape: { box: [0.1, 0.1, 0.4] }, mass: 1, position: [3, 0, 0] }\n"
    "  - { name: b, shape: { box: [0.1, 0.1, 0.4] }, mass: 2, position: [3, 0, -0.5] }\n"
    "  - { name: link, shape: { box: [0.1, 0.02, 0.02] }, mass: 0.1, position: [0.05, 5, 0],\n"
    "      repeat: { count: 3, step: { position: [0.1, 0, 0] }, joint: { type: revolute, point: [-0.05, 0, 0], axis: "
    "[0, 1, 0], first: world } } }\n"
    "joints:\n"
    "  - { name: top, type: revolute, bodies: [a, world], point: [3, 0, 0.2], axis: [0, 1, 0], limits: [-1, 1], "
    "damping: 0.1, friction: 0.2,\n"
    "      spring: { stiffness: 3, rest: 0.1 }, motor: { velocity: 1, max_torque: 5 } }\n"
    "  - { type: universal, bodies: [a, b], point: [3, 0, -0.25], axis: [0, 1, 0], axis2: [1, 0, 0] }\n"
    "  - { type: distance, bodies: [b, arm/fore], points: [[3, 0, -0.7], [1.5, 0, 0]], length: 2 }\n"
    "robots:\n"
    "  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0], joints: { shoulder: -0.5, elbow: 1.1 "
    "},\n"
    "      joint_velocities: { elbow: 0.1 }, links: { tip: { material: default } }, assemble: true,\n"
    "      loops: [ { frames: [tip, world], at: [[0, 0, 0], [1.6, 0, 0.05]], type: point } ] }\n";

static void no_broken_mechanism_breaks_the_reader_or_the_step(void** state)
{
    (void)state;
    static const char* const words[] = { "1e308",  "-1e308",    ".nan",  ".inf",      "-1",    "0",
                                         "[]",     "{}",        "world", "arm/upper", "fixed", "distance",
                                         "1e-320", "[1, 2, 3]", "b",     "maximal" };
    static const char* const plain[] = { "0.5", "2", "1e-3", "-7", "1e6" };
    char* text = malloc(4 * sizeof whole);
    mor_error first = { 0 };
    mor_scene* good;
    mor_world* unbroken = build(whole, sizeof whole - 1, &good, &first);
    if (!unbroken) fail_msg("%s", first.text);
    mor_world_destroy(unbroken);
    mor_scene_destroy(good);
    mor_rng rng = { 5 };
    int accepted = 0, refused = 0;
    for (int k = 0; k < 300; k++) {
        size_t n = sizeof whole - 1;
        memcpy(text, whole, n);
        for (int c = 0; c < 1 + k % 3; c++) {
            size_t at = 60 + (size_t)(mor_rng_uniform(&rng) * (double)(n - 61));
            double kind = mor_rng_uniform(&rng);
            if (kind < 0.1) text[at] = (char)(32 + 95 * mor_rng_uniform(&rng));
            else if (kind < 0.2) { /* a piece is lost */ size_t cut = (size_t)(mor_rng_uniform(&rng) * 30.0);
                if (at + cut < n) memmove(text + at, text + at + cut, n - at - cut), n -= cut;
            } else {                    /* the next value is another */
                bool mild = k % 2 == 0; /* a number for a number */
                const char* word =
                    mild ? plain[(int)(mor_rng_uniform(&rng) * 5.0)] : words[(int)(mor_rng_uniform(&rng) * 16.0)];
                while (at < n && !((text[at] == ':' || text[at] == ',') &&
                                   (!mild || (text[at + 2] >= '0' && text[at + 2] <= '9'))))
                    at++;
                size_t end = ++at;
                while (end < n && !strchr(",}]\n", text[end])) end++;
                size_t w = strlen(word);
                if (end >= n || n + w + 1 > 4 * sizeof whole - 1) continue;
                memmove(text + at + 1 + w, text + end, n - end);
                text[at] = ' ';
                memcpy(text + at + 1, word, w);
                n = n - end + at + 1 + w;
            }
        }
        mor_error error = { 0 };
        mor_scene* scene;
        mor_world* w = build(text, n, &scene, &error);
        if (w) {
            accepted++;
            mor_step_report r = { 0 };
            for (int i = 0; i < 3; i++) mor_world_step(w, &r, &error);
            mor_world_joint_rank(w);
        } else {
            refused++;
            assert_int_equal(error.code, MOR_BAD_INPUT);
            assert_true(strlen(error.text) > 20);
            assert_non_null(strstr(error.text, "text.yaml"));
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    print_message("300 broken mechanisms: %d refused, %d still whole\n", refused, accepted);
    assert_true(refused > 100 && accepted > 20); /* the dice do both */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_joints_and_robots_are_refused_with_their_place),
        cmocka_unit_test(no_broken_mechanism_breaks_the_reader_or_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
