/* Fig. 4 of the RPIsim paper: position and velocity errors of the joint of a hanging pendulum in maximal coordinates,
 * h = 0.01 s, without and with stabilisation to 1e-5.
 *
 * Without it the joint drifts; with it both errors stay below the tolerance, and the period of the swing stays what it
 * is: T = 4 K(sin 45) sqrt(I/(m g d)) for a rod that starts level, K the complete elliptic integral.
 *
 * J. Williams, Y. Lu, S. Niebe, M. Andersen, K. Erleben, J. C. Trinkle (2013), RPI-MATLAB-Simulator, VRIPHYS, sec. 3.3;
 * stabilisation after J. Bender, A. Schmitt (2006), Fast dynamic simulation of multi-body systems using impulses. */
#include <math.h>
#include <stdlib.h>

#include "lab/reproduce.h"
#include "plot/figure.h"

enum { STEPS = 1000, EVERY = 5, SHOWN = STEPS / EVERY };
static const double step = 0.01, tolerance = 1e-5;
static const double exact = 1.3687817; /* [s]: rod of 0.5 m and 0.05 m, 9.81 m/s^2 */

typedef struct swing {
    double time[SHOWN], error[2][SHOWN]; /* position [m], velocity [m/s] */
    double largest[2], period;
} swing;

static mor_code run(const mor_reproduce* o, const char* stabilisation, swing* s, mor_error* error)
{
    char method[64];
    snprintf(method, sizeof method, "method.stabilisation.name=%s", stabilisation);
    const char* sets[] = { "time.step=0.01", method, NULL };
    mor_scene* scene;
    mor_world* w = mor_reproduce_world(o, "hanging_rod.yaml", sets, &scene, error);
    if (!w) return MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    double first = 0.0, last = 0.0, before = 0.0;
    int crossings = 0;
    for (int i = 0; i < STEPS && !code; i++) {
        code = mor_world_step(w, NULL, error);
        const double now[2] = { mor_world_joint_error(w), mor_world_joint_rate(w) };
        for (int k = 0; k < 2; k++) {
            s->largest[k] = fmax(s->largest[k], now[k]);
            if (i % EVERY == 0) s->error[k][i / EVERY] = fmax(now[k], 1e-18); /* zero has no logarithm */
        }
        if (i % EVERY == 0) s->time[i / EVERY] = mor_world_time(w);
        double x = mor_body_get_state(w, mor_world_body(w, mor_world_body_count(w) - 1)).com.x;
        if (i && before > 0.0 && x <= 0.0) { /* through the vertical */
            last = mor_world_time(w) - step * x / (x - before);
            if (crossings++ == 0) first = last;
        }
        before = x;
    }
    s->period = crossings > 1 ? (last - first) / (crossings - 1) : NAN;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

static mor_code draw(const mor_reproduce* o, const swing s[2], mor_error* error)
{
    mor_figure figure = { .title = "joint errors of a hanging pendulum, h = 0.01 s", .x_label = "time", .x_unit = "s" };
    bool good = true;
    for (int k = 0; k < 2 && good; k++) {
        mor_panel* p = mor_figure_panel(&figure, k ? "velocity error" : "position error", k ? "m/s" : "m");
        good = p != NULL;
        if (p) p->log = true;
        good = good && mor_panel_curve(p, "without stabilisation", 1, 1, s[0].time, s[0].error[k], SHOWN) &&
               mor_panel_curve(p, "with, 1e-5", 0, 0, s[1].time, s[1].error[k], SHOWN);
    }
    mor_code code = good ? mor_figure_write(&figure, mor_reproduce_path(o, "figure-joints/errors.svg").text, error)
                         : mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_figure_clear(&figure);
    return code;
}

static mor_code write_csv(const mor_reproduce* o, const swing s[2], mor_error* error)
{
    mor_path csv = mor_reproduce_path(o, "figure-joints/errors.csv");
    FILE* out = mor_reproduce_open(csv.text);
    if (!out) return mor_fail(error, MOR_SYSTEM, "cannot write %s", csv.text);
    fprintf(out, "time_s,position_without_m,velocity_without_m_s,position_with_m,velocity_with_m_s\n");
    for (int i = 0; i < SHOWN; i++)
        fprintf(out, "%.9g,%.6e,%.6e,%.6e,%.6e\n", s[0].time[i], s[0].error[0][i], s[0].error[1][i], s[1].error[0][i],
                s[1].error[1][i]);
    return mor_reproduce_close(out, csv.text, error);
}

static mor_code tell(const mor_reproduce* o, const swing s[2], mor_error* error)
{
    mor_fragment f;
    if (!mor_fragment_begin(&f, o, "joints", "Joint errors of a hanging pendulum (RPIsim paper, Fig. 4)"))
        return mor_fail(error, MOR_SYSTEM, "cannot write into %s", o->directory);
    mor_fragment_claim(&f, "without stabilisation the pendulum drifts", s[0].largest[0] > 1e-3,
                       "position error up to %.1e m, velocity error up to %.1e m/s in %g s", s[0].largest[0],
                       s[0].largest[1], STEPS * step);
    mor_fragment_claim(&f, "with stabilisation both errors are bounded by 1e-5",
                       s[1].largest[0] <= 1.01 * tolerance && s[1].largest[1] <= 1.01 * tolerance,
                       "position error up to %.1e m, velocity error up to %.1e m/s", s[1].largest[0], s[1].largest[1]);
    mor_fragment_claim(&f, "the period of oscillation remains unchanged", fabs(s[1].period / exact - 1.0) < 1e-3,
                       "%.5f s with stabilisation, %.5f s without; exact %.5f s", s[1].period, s[0].period, exact);
    mor_fragment_picture(&f, "figure-joints/errors.svg",
                         "Errors of the joint over time, without and with stabilisation.");
    return mor_fragment_end(&f, error);
}

mor_code mor_reproduce_joints(const mor_reproduce* o, mor_error* error)
{
    swing* s = calloc(2, sizeof *s);
    mor_code code = s ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = run(o, "none", &s[0], error);
    if (!code) code = run(o, "impulse", &s[1], error);
    if (!code) code = draw(o, s, error);
    if (!code) code = write_csv(o, s, error);
    if (!code) code = tell(o, s, error);
    free(s);
    return code;
}
