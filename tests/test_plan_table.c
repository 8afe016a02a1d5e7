/* Plans of calibrations and sweeps that are right but for one thing (tests/tables/plans.txt): each is refused or obeyed
 * with its sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"

/* What is right. Its data: a ball that bounces (b.csv), two runs of it (runs.csv), a disc in the plane (d.csv). */
static const struct plan {
    const char *name, *command, *text;
} plans[] = {
    { "fit", "$M calibrate plan.yaml --jobs 1",
      "moreau-calibrate: 1\nscene: ball.yaml\ndata: { file: b.csv, time: time, columns: { bodies.ball.position: "
      "[ball.x, "
      "ball.y, ball.z] } }\nparameters:\n  - { path: materials.rubber.restitution, range: [0.5, 1], start: 0.6 "
      "}\noptimiser: { name: sbplx, starts: 1, evaluations: 6 }\nintervals: { bootstrap: 0 }\n" },
    { "runs", "$M calibrate plan.yaml --jobs 1",
      "moreau-calibrate: 1\nscene: ball.yaml\ndata: { file: runs.csv, run: run, time: time, columns: { "
      "bodies.ball.position: [ball.x, ball.y, ball.z] } }\nparameters:\n  - { path: materials.rubber.restitution, "
      "range: "
      "[0.5, 1], start: 0.6 }\noptimiser: { name: sbplx, starts: 1, evaluations: 6 }\nintervals: { bootstrap: 0 }\n" },
    { "flat", "$M calibrate plan.yaml --jobs 1",
      "moreau-calibrate: 1\nscene: disc.yaml\ndata: { file: d.csv, time: time, columns: { bodies.disc.position: "
      "[disc.x, "
      "disc.y], bodies.disc.angle: [disc.angle] } }\nparameters:\n  - { path: materials.rubber.friction, range: [0.1, "
      "1], "
      "start: 0.6 }\noptimiser: { name: sbplx, starts: 1, evaluations: 6 }\nintervals: { bootstrap: 0 }\n" },
    { "slope", "$M calibrate plan.yaml --jobs 1",
      "moreau-calibrate: 1\nscene: disc.yaml\ndata: { file: d.csv, time: time, columns: { bodies.disc.position: "
      "[disc.x, "
      "disc.y] } }\nparameters:\n  - { path: materials.rubber.friction, range: [0.1, 1], start: 0.3 }\noptimiser: { "
      "name: "
      "gradient, starts: 1, evaluations: 20 }\nerror: { name: eq18 }\nintervals: { bootstrap: 0 }\n" },
    { "audit", "$M calibrate plan.yaml --audit",
      "moreau-calibrate: 1\nscene: throw.yaml\ndata: { file: t.csv, time: time, columns: { bodies.b.position: [b.x, "
      "b.y, b.z], "
      "bodies.b.quaternion: [b.qw, b.qx, b.qy, b.qz] } }\ninitial:\n  bodies.b.velocity: [b.vx, b.vy, b.vz]\n  "
      "bodies.b.angular_velocity: [b.wx, b.wy, b.wz]\nparameters:\n  - { path: bodies.b.mass, range: [0.5, 2] }\n" },
    { "sweep", "$M sweep plan.yaml --jobs 1 --csv - --quiet",
      "moreau-sweep: 1\nscene: ball.yaml\nset: { time.end: 0.05 }\nparameters:\n  - { path: time.step, values: [0.01, "
      "0.005] "
      "}\nmeasures:\n  - { name: energy, path: energy.final }\n" },
    { "arm", "$M sweep plan.yaml --jobs 1 --csv - --quiet",
      "moreau-sweep: 1\nscene: arm.yaml\nset: { time.end: 0.02 }\nparameters:\n  - { path: time.step, values: [0.01] "
      "}\nmeasures:\n  - { name: x, path: robots.arm.q.0, over: max }\n" },
};

static const char* const files[] = {
    "printf 'moreau: 1\\ntime: { step: 0.002, end: 0.6 }\\nmaterials: { rubber: { restitution: 0.8 } }\\nbodies:\\n  - "
    "{ name: "
    "floor, fixed: true, shape: plane }\\n  - { name: ball, shape: { sphere: 0.1 }, material: rubber, position: [0, 0, "
    "1] "
    "}\\n' > ball.yaml",
    "$M run ball.yaml --quiet --csv all.csv && awk 'NR % 20 == 1 || NR == 1' all.csv > b.csv",
    "awk -F, -v OFS=, 'NR == 1 { print \"run\", $0 } NR > 1 { for (r = 1; r < 3; r++) row[r] = row[r] \"r\" r \",\" $0 "
    "\"\\n\" } END { printf \"%s%s\", row[1], row[2] }' b.csv > runs.csv",
    "printf 'moreau: 1\\ndimension: 2\\ngravity: [0, -9.81]\\ntime: { step: 0.002, end: 0.2 }\\nmaterials: { rubber: { "
    "friction: "
    "0.3 } }\\nbodies:\\n  - { name: floor, fixed: true, material: rubber, shape: { box: [9, 1] }, position: [0, -0.5] "
    "}\\n  - "
    "{ name: disc, shape: { disc: 0.1 }, mass: 1, material: rubber, position: [0, 0.1], velocity: [1, 0] }\\n' > "
    "disc.yaml",
    "$M run disc.yaml --quiet --csv all.csv && awk 'NR % 5 == 1 || NR == 1' all.csv > d.csv",
    "printf 'moreau: 1\\ntime: { step: 0.001, end: 0.4 }\\nbodies:\\n  - { name: floor, fixed: true, shape: plane }\\n "
    " - { name: "
    "b, shape: { box: [0.2, 0.3, 0.4] }, mass: 1, position: [0, 0, 1], velocity: [1, 0.5, 1], angular_velocity: [3, 2, "
    "1] "
    "}\\n' > throw.yaml",
    "$M run throw.yaml --quiet --csv all.csv && awk 'NR % 10 == 1 || NR == 1' all.csv > t.csv",
    "printf 'moreau-sweep: 1\\nscene: ball.yaml\\nset: { time.end: 0.01 }\\nparameters:\\n  - { path: "
    "bodies.ball.mass, values: "
    "[1, 2, 3, 4, 5, 6] }\\nmeasures:\\n  - { name: z, path: bodies.ball.position.2, over: min }\\n' > sp.yaml && $M "
    "sweep sp.yaml "
    "--quiet --jobs 1 -o s.h5",
    "cp $S/scenes/robots/arm2.urdf . && printf 'moreau: 1\\ntime: { step: 0.01, end: 0.05 }\\nrobots:\\n  - { name: "
    "arm, "
    "urdf: arm2.urdf, base: fixed }\\nbodies:\\n  - { name: a, shape: { sphere: 0.1 }, mass: 1, position: [5, 0, 0] "
    "}\\njoints:\\n "
    " - { type: revolute, name: pivot, bodies: [world, a], point: [4, 0, 0], axis: [0, 1, 0] }\\n' > arm.yaml",
};

static int make_files(void** state)
{
    return command_open(state) || command_run_all(files, sizeof files / sizeof *files) ? -1 : 0;
}

/* \n becomes a new line. */
static void unfold(char* text)
{
    char* to = text;
    for (; *text; text++)
        if (text[0] == '\\' && text[1] == 'n') *to++ = '\n', text++;
        else *to++ = *text;
    *to = '\0';
}

/* Cuts the text at a mark; what follows it. */
static char* cut(char* text, const char* mark)
{
    char* at = strstr(text, mark);
    if (!at) fail_msg("no '%s' in %s", mark, text);
    *at = '\0';
    return at + strlen(mark);
}

static void write_plan(const struct plan* p, const char* right, const char* wrong)
{
    const char* at = *right ? strstr(p->text, right) : p->text + strlen(p->text);
    if (!at) fail_msg("'%s' is not in the plan %s", right, p->name);
    FILE* out = fopen(command_at("plan.yaml"), "w");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(at - p->text), p->text, wrong, at + strlen(right));
    assert_int_equal(fclose(out), 0);
}

/* PLAN STATUS [!SHELL ;;] RIGHT ~ WRONG => SENTENCE (=>> of standard output) */
static int answer(char* line)
{
    char name[16];
    int status, length, bad = 0;
    assert_int_equal(sscanf(line, "%15s %d %n", name, &status, &length), 2);
    const struct plan* p = NULL;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (strcmp(plans[i].name, name) == 0) p = &plans[i];
    if (!p) fail_msg("no plan '%s'", name);
    char* at = line + length;
    if (*at == '!') {
        char* shell = at + 1;
        at = cut(shell, " ;; ");
        command_expect(shell, 0, NULL);
    }
    char *wrong = cut(at, "~ "), *says = cut(wrong, " =>");
    bool output = *says == '>';
    says += output ? 2 : 1;
    if (at[0] && at[strlen(at) - 1] == ' ') at[strlen(at) - 1] = '\0';
    unfold(at), unfold(wrong);
    write_plan(p, at, wrong);
    int ended = command_run(p->command);
    const char* told = output ? command_output : command_errors;
    if (ended != status || !strstr(told, says)) {
        print_error("%s, '%s' for '%s': status %d (%d), '%s' is not in\n%.1500s", name, wrong, at, ended, status, says,
                    told);
        bad = 1;
    }
    return bad;
}

static void every_plan_of_the_table_is_answered(void** state)
{
    (void)state;
    FILE* table = fopen(MOREAU_SOURCE_DIR "/tests/tables/plans.txt", "r");
    assert_non_null(table);
    char line[4096];
    int count = 0, bad = 0;
    while (fgets(line, sizeof line, table)) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line || *line == '#') continue;
        bad += answer(line);
        count++;
    }
    fclose(table);
    print_message("    %d plans\n", count);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_plan_of_the_table_is_answered) };
    return cmocka_run_group_tests_name("plan_table", tests, make_files, command_close);
}
