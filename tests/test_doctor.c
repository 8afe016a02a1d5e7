/* `moreau doctor`: for each kind of finding a scene that has it, and the same scene without it.
 *
 * Expected values: closed forms. The period of a spring is 2 pi sqrt(I / k); a fall from rest for t brings g t. */
#include <math.h>
#include <sys/wait.h>

#include "common/worlds.h"
#include "common/folder.h"

static char report[1 << 16];

/* Exit status of `moreau doctor` on a scene with this text; what it says is in `report`. */
static int doctor(const char* scene, const char* options)
{
    FILE* f = fopen(path_of("scene.yaml"), "w");
    assert_non_null(f);
    fputs(scene, f);
    fclose(f);
    char line[2048];
    snprintf(line, sizeof line, "'%s' doctor '%s' %s > '%s' 2>&1", MOREAU_COMMAND, path_of("scene.yaml"), options,
             path_of("out"));
    int status = system(line);
    f = fopen(path_of("out"), "r");
    assert_non_null(f);
    report[fread(report, 1, sizeof report - 1, f)] = '\0';
    fclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define SCENE(step, end, rest) "moreau: 1\ntime: { step: " step ", end: " end " }\n" rest
#define FLOOR "  - { name: floor, shape: plane, fixed: true }\n"
#define BOX(name, height, more)                                                                                        \
    "  - { name: " name ", shape: { box: [0.2, 0.2, 0.2] }, position: [0, 0, " height "]" more " }\n"

/* A scene, words the report must have, words it must not have (NULL: none), exit status. */
static const struct {
    const char *scene, *has, *lacks;
    int status;
} cases[] = {
    { SCENE("0.01", "0.2", "bodies:\n" FLOOR BOX("box", "0.1", "")), "nothing to change was found", "to change:", 0 },
    { SCENE("0.01", "0.2", "bodies:\n" FLOOR BOX("box", "0.07", "")), "'floor' and 'box' most, by 0.03 m", NULL, 1 },
    { SCENE("0.01", "3", "bodies:\n" BOX("box", "0.1", "")), "'box' falls at 29.4 m/s", NULL, 1 },
    { SCENE("0.01", "0.2", "bodies:\n" FLOOR BOX("low", "0.1", ", mass: 1e-3") BOX("top", "0.3", ", mass: 1e3")),
      "Mass ratio 1e+06: 'top' has 1e+03 kg, 'low' 0.001 kg", "to change:", 0 },
    { SCENE("0.01", "0.1",
            "bodies:\n" FLOOR "  - { name: hall, shape: { box: [50, 50, 50] }, position: [0, 0, 25] }\n"),
      "'hall' is 50 m thick", NULL, 1 },
    { SCENE("0.01", "0.05", "gravity: [0, 0, 0]\nbodies:\n" BOX("dart", "1", ", velocity: [100, 0, 0]")),
      "'dart' moves 5 times its own thickness", NULL, 1 },
    { SCENE("0.01", "0.05", "gravity: [0, 0, 0]\nbodies:\n" BOX("top", "1", ", angular_velocity: [0, 0, 80]")),
      "'top' turns by 0.8 rad in one step", "to change:", 0 },
    { SCENE("0.001", "0.05", "gravity: [0, 0, 0]\nbodies:\n" BOX("top", "1", ", angular_velocity: [0, 0, 80]")),
      "nothing to change", NULL, 0 },
};

static void each_finding_is_told_where_it_is_and_only_there(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = doctor(cases[i].scene, "");
        if (!strstr(report, cases[i].has) || (cases[i].lacks && strstr(report, cases[i].lacks)))
            fail_msg("case %zu should say '%s', not '%s':\n%s", i, cases[i].has, cases[i].lacks ? cases[i].lacks : "",
                     report);
        assert_int_equal(status, cases[i].status);
    }
}

/* A rod of 1 kg on a hinge or a slider with a spring: found as soon as the step is longer than 1/omega. */
static void springs_are_told_with_their_period(void** state)
{
    (void)state;
    for (int turns = 0; turns < 2; turns++)
        for (int stiff = 0; stiff < 2; stiff++) {
            double k = stiff ? 3e4 : 3e2, inertia = turns ? (0.4 * 0.4 + 0.05 * 0.05) / 12.0 + 0.2 * 0.2 : 1.0;
            char scene[1024], words[64];
            snprintf(scene, sizeof scene,
                     SCENE("0.01", "0.1",
                           "bodies:\n"
                           "  - { name: rod, shape: { box: [0.4, 0.05, 0.05] }, mass: 1, position: [0.2, 0, 0] }\n"
                           "joints:\n"
                           "  - { name: k, type: %s, bodies: [world, rod], point: [0, 0, 0], axis: [0, 1, 0],\n"
                           "      spring: { stiffness: %g } }\n"),
                     turns ? "revolute" : "prismatic", k);
            int status = doctor(scene, "");
            snprintf(words, sizeof words, "a period of about %.2g s", 6.283185307179586 * sqrt(inertia / k));
            bool told = strstr(report, words) != NULL, fast = 0.01 * sqrt(k / inertia) > 1.0;
            if (told != fast) fail_msg("k = %g, turns %d: '%s' in\n%s", k, turns, words, report);
            if (status) fail_msg("%s", report);
        }
}

static void joints_that_are_redundant_or_outside_their_limits_are_told(void** state)
{
    (void)state;
    assert_int_equal(
        doctor(
            SCENE("0.01", "0.1",
                  "gravity: [0, 0, 0]\nbodies:\n" BOX(
                      "box", "0",
                      "") "joints:\n"
                          "  - { name: a, type: revolute, bodies: [world, box], point: [0, 0, 0], axis: [0, 0, 1] }\n"
                          "  - { name: b, type: revolute, bodies: [world, box], point: [0, 0, 1], axis: [0, 0, 1] }\n"),
            ""),
        0);
    assert_non_null(strstr(report, "5 of the 10 equations of joints are redundant"));
    assert_int_equal(
        doctor(SCENE("0.01", "0.1",
                     "gravity: [0, 0, 0]\nbodies:\n" BOX(
                         "box", "0",
                         "") "joints:\n"
                             "  - { name: a, type: revolute, bodies: [world, box], point: [0, 0, 0], axis: [0, 0, 1],\n"
                             "      limits: [0.25, 1] }\n"),
               ""),
        1);
    assert_non_null(strstr(report, "Joint 'a' is outside its limits by 0.25"));
}

static void a_failing_run_gets_advice_that_was_tried(void** state)
{
    (void)state;
    int status = doctor(SCENE("0.01", "0.2",
                              "method: { solver: { name: nsgs, max_iter: 2 }, on_failure: stop }\n"
                              "bodies:\n" FLOOR BOX("a", "0.1", "") BOX("b", "0.3", "") BOX("c", "0.5", "")),
                        "");
    assert_int_equal(status, 1);
    assert_non_null(strstr(report, "was not solved"));
    assert_non_null(strstr(report, "method.solver.name=auto            helps"));
    status = doctor(SCENE("0.01", "0.2", "bodies:\n" FLOOR BOX("box", "0.07", "")), "--json");
    assert_int_equal(status, 1);
    assert_non_null(strstr(report, "\"problem\": true"));
}

static void bad_use_is_told(void** state)
{
    (void)state;
    assert_int_equal(doctor("moreau: 1\nbodys: []\n", ""), 2);
    assert_non_null(strstr(report, "scene.yaml:2:1: unknown key 'bodys'"));
    assert_int_equal(doctor("moreau: 1\n", "--time"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_finding_is_told_where_it_is_and_only_there),
        cmocka_unit_test(springs_are_told_with_their_period),
        cmocka_unit_test(joints_that_are_redundant_or_outside_their_limits_are_told),
        cmocka_unit_test(a_failing_run_gets_advice_that_was_tried),
        cmocka_unit_test(bad_use_is_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
