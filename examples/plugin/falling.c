/* An engine for `moreau calibrate` (docs/calibrate.md): bodies that fall and touch nothing, in closed form.
 *
 *     x(t) = x + v t - g t^2 / 2,    the value engine.gravity is g [m/s^2] */
#include "moreau/lab.h"

#include <string.h>

mor_code moreau_engine(const mor_world* world, const mor_body_id* bodies, int body_count, const double* times,
                       int time_count, const mor_engine_value* values, int value_count, mor_pose* poses,
                       mor_error* error);

mor_code moreau_engine(const mor_world* world, const mor_body_id* bodies, int body_count, const double* times,
                       int time_count, const mor_engine_value* values, int value_count, mor_pose* poses,
                       mor_error* error)
{
    double g = 9.81;
    for (int i = 0; i < value_count; i++) {
        if (strcmp(values[i].name, "gravity") != 0)
            return mor_fail(error, MOR_BAD_INPUT, "there is no value engine.%s; did you mean engine.gravity?",
                            values[i].name);
        g = values[i].value;
    }
    for (int b = 0; b < body_count; b++) {
        mor_body_state s = mor_body_get_state(world, bodies[b]);
        for (int k = 0; k < time_count; k++) {
            double t = times[k];
            mor_pose* p = &poses[b * time_count + k];
            *p = s.pose;
            p->position = mor_madd(p->position, t, s.velocity);
            p->position.z -= 0.5 * g * t * t;
        }
    }
    return MOR_OK;
}
