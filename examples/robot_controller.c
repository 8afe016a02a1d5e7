/* A controller of your own for a robot: computed torque,
 *
 *     tau = M(q) (s*'' + kd (s*' - s') + kp (s* - s)) + h(q, nu)
 *
 * by one recursive Newton-Euler sweep, at 1 kHz in steps of 4 ms. The arm follows a sine; a callback on the output bus
 * watches the torques. With an exact model the error of tracking is that of the sampling alone. */
#include <math.h>
#include <moreau/moreau.h>
#include <stdio.h>

enum { JOINTS = 2 };

static void desired(double t, double s[JOINTS], double v[JOINTS], double a[JOINTS])
{
    const double size[JOINTS] = { 0.5, 0.8 }, rate[JOINTS] = { 2.0, 3.0 };
    for (int j = 0; j < JOINTS; j++) {
        s[j] = -0.5 + size[j] * sin(rate[j] * t);
        v[j] = size[j] * rate[j] * cos(rate[j] * t);
        a[j] = -size[j] * rate[j] * rate[j] * sin(rate[j] * t);
    }
}

/* Everything it needs is in the call; state it wants to keep would go to call->state. */
static void computed_torque(const mor_control_call* call)
{
    double s[JOINTS], v[JOINTS], a[JOINTS];
    desired(call->time + 0.5 * call->dt, s, v, a);
    for (int j = 0; j < JOINTS; j++) a[j] += 40.0 * (v[j] - call->nu[j]) + 400.0 * (s[j] - call->s[j]);
    mor_robot_inverse_dynamics(call->model, call->work, call->gravity, a, NULL, call->tau);
    for (int j = 0; j < JOINTS; j++) call->tau[j] += 0.1 * call->nu[j]; /* the damping of the URDF */
}

static void watch(void* largest, double time, const mor_bus_channel* channel, const double* tau)
{
    (void)time, (void)channel;
    for (int j = 0; j < JOINTS; j++) *(double*)largest = fmax(*(double*)largest, fabs(tau[j]));
}

int main(void)
{
    mor_error error = { 0 };
    char notes[1000] = "";
    mor_world_def def = mor_world_def_default();
    def.step = 0.004;
    mor_urdf_options options = mor_urdf_options_default();
    options.floating = false;
    mor_world* world = mor_world_create(&def, &error);
    mor_robot_def arm = mor_robot_def_default();
    arm.model = mor_urdf_read("scenes/robots/arm2.urdf", &options, notes, sizeof notes, &error);
    if (!world || !arm.model) return fprintf(stderr, "%s\n", error.text), error.code;
    double s[JOINTS], v[JOINTS], a[JOINTS], largest = 0.0, worst = 0.0;
    desired(0.0, s, v, a);
    arm.s = s, arm.nu = v;
    snprintf(arm.name, sizeof arm.name, "arm");
    int robot = mor_world_add_robot(world, &arm, &error);
    mor_robot_destroy(arm.model); /* the world holds its own reference */

    static const mor_controller type = {
        .name = "computed-torque", .summary = "", .reference = "", .control = computed_torque
    };
    mor_controller_def c = mor_controller_def_default();
    c.type = &type;
    c.robot = robot;
    if (mor_world_add_controller(world, &c, &error) < 0 || mor_world_set_control_step(world, 0.001, &error) ||
        mor_bus_subscribe(world, mor_bus_find(world, "arm.tau"), watch, &largest, &error))
        return fprintf(stderr, "%s\n", error.text), error.code;
    while (mor_world_time(world) < 5.0) {
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;
        double now[JOINTS];
        mor_world_robot_state(world, robot, NULL, now, NULL);
        desired(mor_world_time(world), s, v, a);
        for (int j = 0; j < JOINTS; j++) worst = fmax(worst, fabs(now[j] - s[j]));
    }
    printf("largest error %.2g rad, largest torque %.1f N m\n", worst, largest);
    mor_world_destroy(world);
    return worst < 5e-3 && largest < 50.0 ? 0 : 1;
}
