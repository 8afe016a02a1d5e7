#include "common/drops.h"

#include <math.h>
#include <stdio.h>

/* Weight times the height of all that moves. */
static double weight_times_size(const mor_world* w)
{
    double weight = 0.0, top = -INFINITY, bottom = INFINITY;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) == MOR_FIXED) continue;
        double z = test_state(w, id).com.z;
        top = fmax(top, z), bottom = fmin(bottom, z);
        weight += 9.81 * mor_body_mass(w, id).mass;
    }
    return weight * (top - bottom);
}

static double fastest(const mor_world* w)
{
    double speed = 0.0;
    for (int i = 0; i < mor_world_body_count(w); i++)
        speed = fmax(speed, mor_norm(test_state(w, mor_world_body(w, i)).velocity));
    return speed;
}

drop_result drop_try(mor_world* w, int steps, bool passive)
{
    mor_error error = { 0 };
    drop_result d = { .scale = weight_times_size(w) };
    mor_run* run = mor_run_create(w, steps, &error);
    assert_non_null(run);
    for (int k = 0; k < steps && !mor_run_stopped(run); k++) {
        mor_step_report r;
        if (mor_run_step(run, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        d.scale = fmax(d.scale, r.kinetic);
        d.speed = fmax(d.speed, fastest(w));
    }
    d.summary = mor_run_summarise(run);
    const mor_run_summary* s = &d.summary;
    mor_run_destroy(run);
    if (s->failures || s->steps < steps)
        snprintf(d.problem, sizeof d.problem, "step %d: %s (%g m/s)", s->steps, s->detail, s->max_velocity_error);
    else if (passive && !(s->energy.max_step_gain < 1e-6 * d.scale))
        snprintf(d.problem, sizeof d.problem, "a step gains %g J of %g J", s->energy.max_step_gain, d.scale);
    return d;
}

drop_result drop_run(mor_world* w, int steps, bool passive, const char* what)
{
    drop_result d = drop_try(w, steps, passive);
    if (d.problem[0]) fail_msg("%s: %s", what, d.problem);
    return d;
}
