/* chirp.c: a controller as a plug-in. tau = amplitude sin(phase), where the frequency rises from `low` to `high` over
 * `duration`: the usual way to measure the resonances of a robot. Type `chirp` in scenes once it is loaded with
 * --plugin chirp.so. */
#include <math.h>
#include <stddef.h>
#include "moreau/moreau.h"
#include "moreau/plugin.h"

typedef struct options {
    double amplitude, low, high, duration;
} options;

static const mor_field fields[] = {
    { "amplitude", MOR_TYPE_DOUBLE, offsetof(options, amplitude), 1, 0, 1e9, NULL, "N m", "of the torque" },
    { "low", MOR_TYPE_DOUBLE, offsetof(options, low), 0.1, 0, 1e6, NULL, "Hz", "frequency at the start" },
    { "high", MOR_TYPE_DOUBLE, offsetof(options, high), 10, 0, 1e6, NULL, "Hz", "frequency at the end" },
    { "duration", MOR_TYPE_DOUBLE, offsetof(options, duration), 10, 1e-6, 1e9, NULL, "s", "from low to high" },
    { 0 },
};

/* One number of its own: the phase. It lives with the world and is saved in its snapshots. */
static int state_size(const mor_robot_model* model, const void* o)
{
    (void)model, (void)o;
    return 1;
}

static void control(const mor_control_call* c)
{
    const options* o = c->options;
    double frequency = o->low + (o->high - o->low) * fmin(c->time / o->duration, 1.0);
    for (int j = 0; j < mor_robot_joint_count(c->model); j++)
        if (c->def->joints[j]) c->tau[j] = o->amplitude * sin(c->state[0]);
    c->state[0] += 6.283185307179586 * frequency * c->dt;
}

static const mor_controller chirp = {
    .name = "chirp",
    .summary = "a torque whose frequency rises",
    .reference = "",
    .options_size = sizeof(options),
    .fields = fields,
    .state_size = state_size,
    .control = control,
};

MOR_PLUGIN_CONTROLLERS(&chirp)
