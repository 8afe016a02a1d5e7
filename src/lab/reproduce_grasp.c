/* Fig. 1 of the RPIsim paper: a hand grasps a goblet at the fixed step of 0.016 s, by methods that solve their step and
 * by Bullet's.
 *
 * The scene is scenes/control/goblet.yaml: a hand of three closed finger linkages on an arm, controllers at 1 kHz. It
 * closes until 1.5 s and lifts until 3 s. Bullet's method is the formulation `sequential-impulses` with Bullet's
 * defaults (10 passes over the rows) and with twenty times as many; the rows themselves are the same for all.
 * Measured are how far the goblet slips in the hand after the fingers have closed, whether it is in the hand at the
 * end, and the error of the joints.
 *
 * J. Williams, Y. Lu, S. Niebe, M. Andersen, K. Erleben, J. C. Trinkle (2013), RPI-MATLAB-Simulator, VRIPHYS. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce.h"
#include "plot/figure.h"

enum { MOST = 400 };
static const double closed = 1.5, near = 0.02; /* [s], [m] */

static const struct method {
    const char *id, *name, *sets[2];
    const char* claim;
    enum { HELD, LOST, SLIPS } expected;
} methods[] = {
    { "ncp", "ncp", { "method.formulation.name=ncp", NULL }, "all goes as expected", HELD },
    { "st", "st", { "method.formulation.name=st", NULL }, "all goes as expected", HELD },
    { "si-10",
      "sequential impulses, 10 passes (Bullet's)",
      { "method.formulation.name=sequential-impulses", NULL },
      "the goblet escapes",
      LOST },
    { "si-200",
      "sequential impulses, 200 passes",
      { "method.formulation.name=sequential-impulses", "method.formulation.iterations=200" },
      "(not in the paper) twenty times the passes do not hold it firmly either",
      SLIPS },
};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct grasp {
    int count;
    double time[MOST], height[MOST], slip[MOST], joint[MOST];
    double worst_slip, worst_joint;
    bool ended;
} grasp;

typedef struct job {
    const mor_reproduce* o;
    grasp* all;
    mor_error* errors;
} job;

static void run(void* user, int index, int worker)
{
    (void)worker;
    job* j = user;
    grasp* g = &j->all[index];
    mor_error* error = &j->errors[index];
    const struct method* m = &methods[index];
    const char* sets[] = { j->o->quick ? "time.end=3.2" : "time.end=6.0", "method.on_failure=warn", m->sets[0],
                           m->sets[1], NULL };
    mor_scene* scene;
    mor_world* w = mor_reproduce_world(j->o, "goblet.yaml", sets, &scene, error);
    if (!w) return;
    mor_body_id goblet = mor_world_find_body(w, "goblet/goblet"), hand = mor_world_find_body(w, "hand/tool");
    mor_vec3 held = { 0 };
    bool holding = false;
    int steps = (int)((j->o->quick ? 3.2 : 6.0) / mor_world_get_step(w) + 0.5);
    g->ended = true;
    for (int i = 0; i < steps && g->count < MOST; i++) {
        if (mor_world_step(w, NULL, error)) {
            g->ended = false;
            memset(error, 0, sizeof *error); /* it is told as an end, not as a failure of the figure */
            break;
        }
        mor_body_state cup = mor_body_get_state(w, goblet), palm = mor_body_get_state(w, hand);
        mor_vec3 inside = mor_unrotate(palm.pose.rotation, mor_sub(cup.com, palm.com));
        double t = mor_world_time(w);
        if (t >= closed && !holding) held = inside, holding = true;
        double slip = holding ? mor_norm(mor_sub(inside, held)) : 0.0, joint = mor_world_joint_error(w);
        g->worst_slip = fmax(g->worst_slip, slip);
        g->worst_joint = fmax(g->worst_joint, joint);
        g->time[g->count] = t, g->height[g->count] = cup.com.z, g->slip[g->count] = fmax(slip, 1e-16);
        g->joint[g->count++] = fmax(joint, 1e-16);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static bool holds(const grasp* g) { return g->ended && g->count && g->slip[g->count - 1] < near; }

static mor_code draw(const mor_reproduce* o, const grasp* all, mor_error* error)
{
    mor_figure figure = { .title = "a hand lifts a goblet, h = 0.016 s", .x_label = "time", .x_unit = "s" };
    bool good = true;
    for (int k = 0; k < 2 && good; k++) {
        mor_panel* p = mor_figure_panel(&figure, k ? "slip in the hand" : "height of the goblet", "m");
        good = p != NULL;
        if (p) p->log = k == 1;
        for (int i = 0; i < METHODS && good; i++)
            good =
                mor_panel_curve(p, methods[i].name, i, i, all[i].time, k ? all[i].slip : all[i].height, all[i].count);
    }
    mor_code code = good ? mor_figure_write(&figure, mor_reproduce_path(o, "figure-grasp/grasp.svg").text, error)
                         : mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_figure_clear(&figure);
    return code;
}

static mor_code write_csv(const mor_reproduce* o, const grasp* all, mor_error* error)
{
    mor_path csv = mor_reproduce_path(o, "figure-grasp/grasp.csv");
    FILE* out = mor_reproduce_open(csv.text);
    if (!out) return mor_fail(error, MOR_SYSTEM, "cannot write %s", csv.text);
    fprintf(out, "method,time_s,height_m,slip_m,joint_error\n");
    for (int i = 0; i < METHODS; i++)
        for (int k = 0; k < all[i].count; k++)
            fprintf(out, "%s,%.9g,%.9g,%.6e,%.6e\n", methods[i].id, all[i].time[k], all[i].height[k], all[i].slip[k],
                    all[i].joint[k]);
    return mor_reproduce_close(out, csv.text, error);
}

static mor_code tell(const mor_reproduce* o, const grasp* all, mor_error* error)
{
    mor_fragment f;
    if (!mor_fragment_begin(&f, o, "grasp", "A hand lifts a goblet at h = 0.016 s (RPIsim paper, Fig. 1)"))
        return mor_fail(error, MOR_SYSTEM, "cannot write into %s", o->directory);
    for (int i = 0; i < METHODS; i++) {
        const grasp* g = &all[i];
        bool firm = holds(g) && g->worst_slip < 1e-3;
        bool expected = methods[i].expected == HELD ? firm : methods[i].expected == LOST ? !holds(g) : !firm;
        char claim[160];
        snprintf(claim, sizeof claim, "%s: %s", methods[i].name, methods[i].claim);
        mor_fragment_claim(&f, claim, expected, "%s; slip in the hand up to %.1e m, error of the joints up to %.1e%s",
                           holds(g) ? "held to the end" : "lost", g->worst_slip, g->worst_joint,
                           g->ended ? "" : "; the run stopped before its end");
    }
    mor_fragment_text(&f, "Bullet's method is its solver on the rows of this library, in the robot's own coordinates: "
                          "only the three closed linkages can come apart here, not the hinges of the paper's film.");
    mor_fragment_picture(&f, "figure-grasp/grasp.svg", "Height of the goblet, and how far it slips in the hand.");
    return mor_fragment_end(&f, error);
}

mor_code mor_reproduce_grasp(const mor_reproduce* o, mor_error* error)
{
    job j = { o, calloc(METHODS, sizeof *j.all), calloc(METHODS, sizeof *j.errors) };
    mor_code code = j.all && j.errors ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_reproduce_tasks(o, "grasp", METHODS, run, &j, error);
    for (int i = 0; i < METHODS && !code; i++)
        if (j.all[i].count == 0) code = mor_fail(error, MOR_BAD_INPUT, "%s", j.errors[i].text);
    if (!code) code = draw(o, j.all, error);
    if (!code) code = write_csv(o, j.all, error);
    if (!code) code = tell(o, j.all, error);
    free(j.all);
    free(j.errors);
    return code;
}
