/* Controllers that run less often than the step: robots drawn at random, held by gains drawn over five decades, with
 * periods of 2 to 80 steps. What is held between the instants is the law with its gains, so that nothing may oscillate
 * beyond where it began, the robot ends where the law wants it, and every step is solved. */
#include "common/random_robot.h"
#include "common/scenes.h"
#include "common/worlds.h"

#include "control/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static bool is_long(void) { return getenv("MOREAU_LONG") != NULL; }
static double time_of_runs(void) { return is_long() ? 10.0 : 2.0; } /* s */

typedef struct held {
    mor_robot_model* model;
    double kp[MOST], kd[MOST], target[MOST], s[MOST];
    double h, period, gravity;
    int joints;
} held;

static held draw(int number)
{
    mor_rng rng = { (uint64_t)(500 + 77 * number) };
    held d = { .h = 1e-3 * exp(random_number(&rng, 0.7)), .gravity = number % 4 ? 9.81 : 0.0 };
    d.model = random_robot(&rng, 2 + number % 7, false);
    d.joints = mor_robot_joint_count(d.model);
    d.period = d.h * floor(4.0 * exp(random_number(&rng, 1.0) + 1.0 + random_number(&rng, 1.0)));
    double gain = 300.0 * exp(random_number(&rng, 5.0));
    for (int j = 0; j < d.joints; j++) {
        d.kp[j] = gain * exp(random_number(&rng, 1.0));
        d.kd[j] = d.kp[j] * 0.05 * exp(random_number(&rng, 1.5));
        d.target[j] = random_number(&rng, 1.0);
        d.s[j] = d.target[j] + random_number(&rng, 0.7);
    }
    return d;
}

static mor_world* make(const held* d)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.step = d->h;
    def.gravity = mor_v3(0, 0, -d->gravity);
    mor_world* w = mor_world_create(&def, &error);
    mor_robot_def r = mor_robot_def_default();
    snprintf(r.name, sizeof r.name, "held");
    r.model = d->model;
    r.s = d->s;
    r.collide = false;
    if (mor_world_add_robot(w, &r, &error) < 0) fail_msg("%s", error.text);
    mor_controller_def c = mor_controller_def_default();
    c.type = mor_library_controller(NULL, "pid");
    c.kp = d->kp, c.kd = d->kd, c.target = d->target;
    c.gravity_compensation = true;
    if (mor_world_add_controller(w, &c, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(mor_world_set_control_step(w, d->period, &error), MOR_OK);
    return w;
}

/* Of the springs that the gains are, and of the motion; gravity is compensated. */
static double energy(const held* d, const mor_world* w)
{
    double s[MOST], E = mor_world_kinetic_energy(w);
    mor_world_robot_state(w, 0, NULL, s, NULL);
    for (int j = 0; j < d->joints; j++) E += 0.5 * d->kp[j] * (s[j] - d->target[j]) * (s[j] - d->target[j]);
    return E;
}

static void robots_held_at_a_long_control_step_are_stable(void** state)
{
    (void)state;
    for (int n = 0; n < 20; n++) {
        held d = draw(n);
        mor_world* w = make(&d);
        double first = energy(&d, w), most = first, E = first;
        for (int k = 0; k < (int)(time_of_runs() / d.h); k++) {
            test_steps(w, 1);
            E = energy(&d, w);
            most = fmax(most, E);
        }
        test_near(most / first, 1.0, 1e-2, "the largest energy over that of the start");
        assert_true(E < 0.6 * first); /* the softest takes 10 s to come to rest */
        mor_world_destroy(w);
        mor_robot_destroy(d.model);
    }
}

/* The humanoid of humanoid_stand falls some millimetres onto its feet and is held there: it comes to rest. */
static void a_humanoid_lands_and_stands_at_a_long_control_step(void** state)
{
    (void)state;
    mor_rng rng = { 4711 };
    for (int n = 0; n < (is_long() ? 20 : 5); n++) {
        double kp = 3000.0 * exp(random_number(&rng, 2.0)), kd = 0.05 * kp * exp(random_number(&rng, 0.7));
        double height = 0.8563 + 0.02 * mor_rng_uniform(&rng), period = 0.001 * floor(2 + 78 * mor_rng_uniform(&rng));
        char text[4][80];
        snprintf(text[0], sizeof text[0], "controllers.0.kp=%.17g", kp);
        snprintf(text[1], sizeof text[1], "controllers.0.kd=%.17g", kd);
        snprintf(text[2], sizeof text[2], "robots.human.position=[0, 0, %.17g]", height);
        snprintf(text[3], sizeof text[3], "method.control_step=%.17g", period);
        const char* sets[] = { text[0], text[1], text[2], text[3], "method.solver.tol=1e-8", NULL };
        mor_error error = { 0 };
        mor_scene* scene = mor_scene_load(scene_path("humanoid_stand"), sets, NULL, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        if (!w) fail_msg("%s", error.text);
        double fall = 62.3 * 9.81 * (height - 0.85605), most = 0.0;
        while (mor_world_time(w) < time_of_runs()) most = fmax(most, test_steps(w, 1).kinetic);
        assert_true(most < 1.2 * fall + 0.05); /* what it falls; the springs of the gains add little to it */
        test_near(mor_world_kinetic_energy(w), 0.0, 1e-2, "energy at the end");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Three humanoids side by side, the last one in the air: lists of contacts by robot give each the torques that a look
 * at all contacts gives, to the bit; and whoever stands is held by other torques than the one that falls. */
static void contacts_listed_by_robot_give_the_same_torques(void** state)
{
    (void)state;
    char text[4096] = "moreau: 1\ntime: { step: 0.001 }\nbodies:\n  - { name: floor, shape: plane, fixed: true }\n"
                      "robots:\n";
    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - { name: h%d, urdf: robots/humanoid.urdf, base: floating, position: [%d, 0.3, %g], joints: { "
                 "l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, "
                 "r_ankle_pitch: -0.3 } }\n",
                 i, 2 * i, i == 2 ? 3.0 : 0.856055732);
    strcat(text, "controllers:\n");
    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - { type: pid, robot: h%d, kp: 1500, kd: 80, gravity_compensation: true }\n", i);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    test_steps(w, 20);
    double all[3][64], own[3][64];
    int n = mor_robot_joint_count(w->robots[0]->model);
    assert_true(n > 0 && n <= 64 && w->contacts.count > 0);
    for (int i = 0; i < 3; i++) mor_world_gravity_torque(w, i, all[i]);
    mor_control_list_touches(w);
    assert_non_null(w->control->touches);
    for (int i = 0; i < 3; i++) mor_world_gravity_torque(w, i, own[i]);
    w->control->touch_start = w->control->touches = NULL;
    for (int i = 0; i < 3; i++) assert_memory_equal(all[i], own[i], (size_t)n * sizeof(double));
    double differ = 0.0;
    for (int j = 0; j < n; j++) differ = fmax(differ, fabs(all[0][j] - all[2][j]));
    assert_true(differ > 1.0);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_held_at_a_long_control_step_are_stable),
        cmocka_unit_test(a_humanoid_lands_and_stands_at_a_long_control_step),
        cmocka_unit_test(contacts_listed_by_robot_give_the_same_torques),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
