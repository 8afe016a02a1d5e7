/* Any robot: dropped tilted onto the floor, passive and held, with ncp and with gauss. No step fails, passive steps
 * gain no energy, and a run of 5 s costs at most 60 s. A table tells what each run cost and how well its steps were
 * solved.
 *
 * Robots: those of ../shared/data/robots, and three made here: five legs, wheels, a parallel linkage. With MOREAU_LONG
 * all of them for 5 s, else some for 0.3 s. MOREAU_ROBOT=name runs one of them. */
#include "common/drops.h"
#include "common/foreign_robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD                                                                                                           \
    "moreau: 1\ntime: { step: 0.001, end: 5 }\nbodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.6 "  \
    "}\n"

static bool is_long(void) { return getenv("MOREAU_LONG") != NULL; }

/* ------------------------------------------------------------------------------- robots made here */

typedef struct text {
    char* at;
    size_t room;
} text;

static void put(text* t, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= t->room) fail_msg("the text is too long");
    t->at += n, t->room -= (size_t)n;
}

static void put_link(text* t, const char* name, double mass, const double size[3], const double at[3])
{
    put(t,
        "<link name='%s'><inertial><origin xyz='%g %g %g'/><mass value='%g'/><inertia ixx='%g' iyy='%g' izz='%g' "
        "ixy='0' ixz='0' iyz='0'/></inertial><collision><origin xyz='%g %g %g'/><geometry><box size='%g %g %g'/>"
        "</geometry></collision></link>\n",
        name, at[0], at[1], at[2], mass, mass * (size[1] * size[1] + size[2] * size[2]) / 12,
        mass * (size[0] * size[0] + size[2] * size[2]) / 12, mass * (size[0] * size[0] + size[1] * size[1]) / 12, at[0],
        at[1], at[2], size[0], size[1], size[2]);
}

static void put_joint(text* t, const char* parent, const char* child, const double at[3], double yaw, const char* axis,
                      double limit)
{
    put(t,
        "<joint name='j_%s' type='%s'><parent link='%s'/><child link='%s'/><origin xyz='%g %g %g' rpy='0 0 %g'/>"
        "<axis xyz='%s'/>",
        child, limit > 0.0 ? "revolute" : "continuous", parent, child, at[0], at[1], at[2], yaw, axis);
    if (limit > 0.0) put(t, "<limit lower='%g' upper='%g' effort='100' velocity='20'/>", -limit, limit);
    put(t, "<dynamics damping='0.02'/></joint>\n");
}

/* Five legs of two links around a disc. */
static void put_five_legs(text* t)
{
    put_link(t, "body", 5, (double[]){ 0.3, 0.3, 0.1 }, (double[]){ 0, 0, 0 });
    for (int i = 0; i < 5; i++) {
        char thigh[20], shin[20];
        double yaw = 2.0 * 3.14159265358979 * i / 5;
        snprintf(thigh, sizeof thigh, "thigh%d", i);
        snprintf(shin, sizeof shin, "shin%d", i);
        put_link(t, thigh, 0.6, (double[]){ 0.2, 0.04, 0.04 }, (double[]){ 0.1, 0, 0 });
        put_link(t, shin, 0.3, (double[]){ 0.03, 0.03, 0.25 }, (double[]){ 0, 0, -0.125 });
        put_joint(t, "body", thigh, (double[]){ 0.17 * cos(yaw), 0.17 * sin(yaw), 0 }, yaw, "0 1 0", 1.0);
        put_joint(t, thigh, shin, (double[]){ 0.2, 0, 0 }, 0, "0 1 0", 1.5);
    }
}

/* A cart on four round wheels. */
static void put_wheels(text* t)
{
    put_link(t, "body", 8, (double[]){ 0.6, 0.3, 0.12 }, (double[]){ 0, 0, 0.05 });
    for (int i = 0; i < 4; i++) {
        char wheel[20];
        snprintf(wheel, sizeof wheel, "wheel%d", i);
        put(t,
            "<link name='%s'><inertial><mass value='0.8'/><inertia ixx='0.003' iyy='0.004' izz='0.003' ixy='0' ixz='0' "
            "iyz='0'/></inertial><collision><origin rpy='1.5707963267948966 0 0'/><geometry><cylinder radius='0.1' "
            "length='0.05'/></geometry></collision></link>\n",
            wheel);
        put_joint(t, "body", wheel, (double[]){ i & 1 ? 0.25 : -0.25, i & 2 ? 0.2 : -0.2, 0 }, 0, "0 1 0", 0);
    }
}

/* A parallelogram: two cranks and a rod that a loop joins to the second one. */
static void put_parallel(text* t)
{
    put_link(t, "base", 3, (double[]){ 0.5, 0.2, 0.05 }, (double[]){ 0, 0, 0 });
    put_link(t, "crank0", 0.4, (double[]){ 0.03, 0.03, 0.3 }, (double[]){ 0, 0, 0.15 });
    put_link(t, "crank1", 0.4, (double[]){ 0.03, 0.03, 0.3 }, (double[]){ 0, 0, 0.15 });
    put_link(t, "rod", 0.7, (double[]){ 0.4, 0.03, 0.03 }, (double[]){ 0.2, 0, 0 });
    put_joint(t, "base", "crank0", (double[]){ -0.2, 0, 0.05 }, 0, "0 1 0", 0);
    put_joint(t, "base", "crank1", (double[]){ 0.2, 0, 0.05 }, 0, "0 1 0", 0);
    put_joint(t, "crank0", "rod", (double[]){ 0, 0.05, 0.3 }, 0, "0 1 0", 0);
}

static const struct {
    const char* name;
    void (*write)(text*);
    const char* more;
} own[] = {
    { "five-legs", put_five_legs, "" },
    { "wheels", put_wheels, "" },
    { "parallel", put_parallel, ", loops: [ { frames: [rod, crank1], at: [[0.4, 0, 0], [0, 0.05, 0.3]] } ]" },
};

static void own_entry(int which, const char* path, const char* more, char* out, size_t room)
{
    static char buffer[20000];
    text t = { buffer, sizeof buffer };
    put(&t, "<robot name='own'>\n");
    own[which].write(&t);
    put(&t, "</robot>\n");
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(buffer, f);
    fclose(f);
    snprintf(out, room, "  - { name: r, urdf: '%s', %s%s }\n", path, more, own[which].more);
}

/* ------------------------------------------------------------------------------------- the matrix */

/* MOREAU_ROBOT=name: this one only. */
static bool is_wanted(const char* name)
{
    const char* one = getenv("MOREAU_ROBOT");
    return !one || strcmp(one, name) == 0;
}

/* One robot in all ways; a line of the table for each. Returns how many were bad. */
static int drop(const char* name, const char* entry)
{
    static char scene_text[20000];
    int bad = 0;
    for (int way = 0; way < 4; way++) {
        const char* method = way & 1 ? "gauss" : "ncp";
        bool held = way & 2;
        char what[80];
        snprintf(what, sizeof what, "%s %s %s", name, method, held ? "held" : "passive");
        snprintf(scene_text, sizeof scene_text, HEAD "method: { formulation: %s }\nrobots:\n%s%s", method, entry,
                 held ? "controllers:\n  - { type: pid, robot: r, kp: 100, kd: 5 }\n" : "");
        mor_scene* scene;
        mor_world* w = test_scene_text(scene_text, &scene);
        double before = mor_cpu_clock();
        drop_result d = drop_try(w, is_long() ? 5000 : 300, !held);
        double cpu = mor_cpu_clock() - before;
        const mor_run_summary* s = &d.summary;
        if (!d.problem[0] && !(cpu < 60.0)) snprintf(d.problem, sizeof d.problem, "more than 60 s");
        if (!d.problem[0] && s->below_goal > s->steps / 100)
            snprintf(d.problem, sizeof d.problem, "more than 1 %% of the steps below the goal");
        print_message("| %-28s | %6.2f | %4d | %9.2e | %8.1e | %s\n", what, cpu, s->below_goal,
                      held ? 0.0 : s->energy.max_step_gain / d.scale, s->max_penetration, d.problem);
        bad += d.problem[0] != '\0';
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    return bad;
}

/* Orientation and velocity of a drop. */
static void draw(mor_rng* rng, char* out, size_t room)
{
    double a = 2.0 * mor_rng_uniform(rng) - 1.0, b = 2.0 * mor_rng_uniform(rng) - 1.0,
           c = 2.0 * mor_rng_uniform(rng) - 1.0;
    snprintf(
        out, room,
        "base: floating, on: floor, velocity: [0, 0, -1.5], orientation: { axis: [%.6f, %.6f, %.6f], angle: %.4f }", a,
        b, c + 1e-3, 5.0 + 40.0 * mor_rng_uniform(rng));
}

static void foreign_robots_fall(void** state)
{
    (void)state;
    static char entry[9000];
    mor_rng rng = { 2026 };
    int tried = 0, bad = 0;
    print_message("run | CPU s | steps below the goal | worst gain of a step / scale | deepest contact, m\n");
    for (int i = 0; i < foreign_robot_count && (is_long() || i < 7); i++) {
        char start[300];
        draw(&rng, start, sizeof start);
        if (!is_wanted(foreign_robots[i].name) || !foreign_robot_is_there(&foreign_robots[i])) continue;
        foreign_robot_entry(&foreign_robots[i], start, entry, sizeof entry);
        bad += drop(foreign_robots[i].name, entry);
        tried++;
    }
    if (bad) fail_msg("%d runs are bad", bad);
    if (tried) return;
    print_message("SKIP: ../shared is not there\n");
    skip();
}

static void robots_made_here_fall(void** state)
{
    (void)state;
    static char entry[3000];
    char path[] = "/tmp/moreau-drops-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mor_rng rng = { 55 };
    int bad = 0;
    for (int i = 0; i < 3; i++)
        for (int turn = 0; turn < (is_long() ? 4 : 1); turn++) {
            char start[300];
            draw(&rng, start, sizeof start);
            own_entry(i, path, start, entry, sizeof entry);
            if (is_wanted(own[i].name)) bad += drop(own[i].name, entry);
        }
    remove(path);
    if (bad) fail_msg("%d runs are bad", bad);
}

/* Upright, on both soles, held by its motors: it must not fall in this time. */
static void digit_stands(void** state)
{
    (void)state;
    static char entry[9000], text[10000];
    const foreign_robot* digit = &foreign_robots[foreign_robot_count - 1];
    assert_string_equal(digit->name, "digit");
    if (!foreign_robot_is_there(digit)) {
        print_message("SKIP: ../shared is not there\n");
        skip();
    }
    foreign_robot_entry(digit, "base: floating, on: floor, motors: { torque_limit: 1000 }", entry, sizeof entry);
    for (int way = 0; way < 2; way++) {
        snprintf(text, sizeof text,
                 HEAD
                 "method: { formulation: %s }\nrobots:\n%scontrollers:\n  - { type: pid, robot: r, kp: 2000, kd: 80 "
                 "}\n",
                 way ? "gauss" : "ncp", entry);
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        double height = test_state(w, mor_world_robot_link(w, 0, 0)).com.z;
        drop_run(w, is_long() ? 5000 : 300, false, way ? "digit gauss" : "digit ncp");
        double fallen = height - test_state(w, mor_world_robot_link(w, 0, 0)).com.z;
        print_message("digit stands with %s: its root is %.3g m lower at the end\n", way ? "gauss" : "ncp", fallen);
        if (!is_long()) assert_true(fallen < 0.05);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_robots_fall),
        cmocka_unit_test(robots_made_here_fall),
        cmocka_unit_test(digit_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
