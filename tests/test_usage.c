/* Every refusal of the command line: the lines of tests/tables/usage.txt, each with its exit status and sentence. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/command.h"

static const char* const files[] = {
    "cp $S/scenes/benchmark/s4_slide.yaml slide.yaml",
    "cp $S/scenes/robots/arm2.urdf .",
    "printf 'moreau: 1\\nrobots:\\n  - { name: arm, urdf: arm2.urdf, base: fixed }\\n' > arm.yaml",
    "{ cat arm.yaml; printf 'controllers:\\n  - { robot: arm, type: pid, kp: 9, kd: 1, targets: 0.1 }\\n'; "
    "} > "
    "pd.yaml",
    "$M new planar planar.yaml",
    "printf '2\\n0\\n2\\n2\\n2\\t2\\n2\\n1\\n1\\n2\\n-5\\n-6\\n' > p.dat && cp p.dat lcp_2.dat",
    "printf '<mujoco><worldbody><body name=\"b\" pos=\"0 0 1\"><freejoint/><geom size=\"0.1\"/><body><joint "
    "name=\"hinge\"/><geom type=\"box\" size=\"0.1 0.1 0.1\" pos=\"0.3 0 0\"/></body></body></worldbody></mujoco>' > "
    "mjcf.xml",
    "$M run slide.yaml --steps 5 --quiet --record rec.h5 --csv motion.csv",
    "$M run slide.yaml --steps 3 --quiet --bpmd frames.h5",
    "$M solve p.dat --kind lcp --solver pgs --trace trace.h5",
    "printf '#!/bin/sh\\nfor w in \"$@\"; do last=$w; done\\ntest -f $last && echo 41\\n' > sbatch && chmod +x sbatch",
    "printf 'moreau: 1\\ntime: { step: 0.01, end: 0.05 }\\nbodies:\\n  - { name: b, shape: { sphere: 0.1 }, mass: 1 "
    "}\\n' > "
    "free.yaml",
    "printf 'moreau-sweep: 1\\nscene: slide.yaml\\nset: { time.end: 0.02 }\\nparameters:\\n  - { path: time.step, "
    "values: "
    "[0.01, 0.005] }\\nmeasures:\\n  - { name: energy, path: energy.final }\\n' > plan.yaml",
    "cp -r $S/scenes/mechanisms .",
    "printf '{\"s\": [0.1, 0.2], \"s_dot\": [1, 0], \"tau\": [0, 1]}' > state.json",
    "printf '{\"gravity\": [0, 0, -1], \"mode\": \"floating\", \"states\": [{\"base_quat_wxyz\": [1, 0, 0, 0]}, "
    "{\"s\": [0.1, 0.2]}]}' > states.json",
    "printf '<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"10\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" "
    "ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link><link name=\"b\"><inertial><mass value=\"0.01\"/><inertia "
    "ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial><collision><geometry><sphere "
    "radius=\"0.1\"/></geometry></collision></link><joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child "
    "link=\"b\"/><axis xyz=\"0 1 0\"/></joint></robot>' > light.urdf",
    "printf 'moreau: 1\ntime: { step: adaptive, end: 0.5 }\nbodies:\n  - { name: floor, shape: { box: [9, 9, 1] }, "
    "position: [0, 0, -0.5], fixed: true }\n  - { name: b, shape: { box: [0.1, 0.1, 0.1] }, mass: 1, position: [0, 0, "
    "0.3], angular_velocity: [3, 2, 1] }\n' > adaptive.yaml",
    "printf 'moreau: 1\ntime: { step: 0.01, end: 0.05 }\nbodies:\n  - { name: floor, shape: { box: [9, 9, 1] }, fixed: "
    "true }\n  - { name: roof, shape: { box: [9, 9, 1] }, position: [0, 0, 1.05], fixed: true }\n  - { name: b, shape: "
    "{ "
    "box: [0.1, 0.1, 0.1] }, mass: 1, position: [0, 0, 0.52] }\n' > squeezed.yaml",
    "printf 'moreau: 1\nrobots:\n  - { name: arm, urdf: light.urdf, base: fixed, joints: { j: 9 } }\n' > light.yaml",
    "sed 's/type=.continuous.>/type=\"revolute\"><limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"\\/>/' "
    "light.urdf > bound.urdf && sed 's/light/bound/' light.yaml > bound.yaml",
    "printf 'moreau-sweep: 1\\nscene: slide.yaml\\nset: { time.end: 0.02 }\\nparameters:\\n  - { path: "
    "bodies.box.mass, "
    "values: [-1, -2] }\\nmeasures:\\n  - { name: energy, path: "
    "energy.final "
    "}\\n' > bad.yaml",
    "printf '<mujoco><option cone=\"elliptic\" impratio=\"3\" integrator=\"RK4\"/><worldbody><body><joint "
    "range=\"-10 10\" ref=\"0\"/><geom size=\"1\" pos=\"0.1 0 0\" solref=\"0.1 1\" solimp=\"0.9 0.9 0.1\" "
    "margin=\"0.1\"/></body></worldbody><sensor><touch/><force/><velocimeter/><magnetometer/></sensor></mujoco>' > "
    "many.xml",
    "cp $S/scenes/robots/arm6.urdf . && printf 'moreau: 1\\nrobots:\\n  - { name: arm, urdf: arm6.urdf, base: fixed, "
    "joints: { %s } }\\n' \"$(grep -o 'joint name=\"[a-z0-9_]*\" type=\"revolute' arm6.urdf | sed "
    "'s/[^\"]*\"\\([^\"]*\\)\".*/\\1: "
    "9/' | paste -sd, )\" > wild.yaml",
    "printf 'moreau-calibrate: 1\\nscene: slide.yaml\\ndata: { file: motion.csv, time: time, columns: { "
    "bodies.box.position: [box.x, box.y, box.z] } }\\nparameters:\\n  - { path: materials.stone.friction, range: [0.1, "
    "0.6], start: 0.4 }\\noptimiser: { name: sbplx, starts: 1, evaluations: 4 }\\nintervals: { bootstrap: 0 }\\n' > "
    "fit.yaml",
};

static int make_files(void** state)
{
    return command_open(state) || command_run_all(files, sizeof files / sizeof *files) ? -1 : 0;
}

/* A line of the table; says what is wrong, or nothing. */
static void try_line(char* text, int number, char* wrong, size_t size)
{
    char line[4096];
    char* arrow = strstr(text, " =>");
    assert_non_null(arrow);
    *arrow = '\0';
    bool told = arrow[3] == '>'; /* on standard output */
    const char* part = arrow + 3 + told;
    part += *part == ' ';
    bool raw = *text == '!';
    int status = atoi(text + raw);
    snprintf(line, sizeof line, "%s%s", raw ? "" : "$M ", text + raw + 1 + (text[raw + 1] == ' '));
    int got = command_run(line);
    bool page = strncmp(command_output, "usage", 5) == 0;
    if (got != status || !strstr(told ? command_output : command_errors, part) || (status && page) ||
        (status > 1 && !command_errors[0]))
        snprintf(wrong, size, "usage.txt:%d: '%s' exits with %d, expected %d and '%s':\n%.500s%.500s", number, line,
                 got, status, part, command_errors, status || told ? command_output : "");
}

static void every_line_of_the_table_is_answered(void** state)
{
    (void)state;
    char text[4096], wrong[8192];
    int lines = 0, bad = 0, skipped = 0;
    bool terminal = command_run("command -v script") == 0;
    FILE* table = fopen(MOREAU_SOURCE_DIR "/tests/tables/usage.txt", "r");
    assert_non_null(table);
    for (int number = 1; fgets(text, sizeof text, table); number++) {
        text[strcspn(text, "\n")] = '\0';
        if (!text[0] || text[0] == '#') continue;
        if (!terminal && strstr(text, "script -qec")) {
            skipped++;
            continue;
        }
        wrong[0] = '\0';
        try_line(text, number, wrong, sizeof wrong);
        if (wrong[0]) print_error("%s\n", wrong);
        bad += wrong[0] != '\0', lines++;
    }
    fclose(table);
    printf("    %d lines\n", lines);
    if (skipped) printf("SKIP %d lines that need a terminal: script(1) is not installed\n", skipped);
    assert_int_equal(bad, 0);
    assert_true(lines > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_the_table_is_answered),
    };
    return cmocka_run_group_tests(tests, make_files, command_close);
}
