/* Fig. 1-2, 6-9 and 10-17: single runs of the particle, trajectories, problem sizes and solver times. */
#include "lab/particle.h"
#include "lab/reproduce.h"
#include "lab/reproduce_walls.h"
#include "plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- runs */

typedef struct track {
    int count, failures;
    double *t, *x, *y, *energy, *size, *solve; /* one block */
    double speed, end_speed;
    double median, mean, worst, end_error; /* distance to the closed form [m] */
    double lowest;                         /* y */
} track;

/* Median and mean of the errors of all samples. */
static mor_code spread_of(track* k, const mor_phase* phases, int phase_count, mor_error* error)
{
    double* e = malloc((size_t)(k->count ? k->count : 1) * sizeof *e);
    if (!e) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double sum = 0.0;
    for (int i = 0; i < k->count; i++) {
        e[i] = mor_norm(mor_sub(mor_v3(k->x[i], k->y[i], 0), mor_particle_at(phases, phase_count, k->t[i])));
        sum += e[i];
    }
    k->mean = k->count ? sum / k->count : 0.0;
    k->median = k->count ? mor_median(e, k->count) : 0.0;
    free(e);
    return MOR_OK;
}

static void track_free(track* k) { free(k->t); }

/* One run of a scene; phases may be NULL. */
static mor_code run(const mor_reproduce* o, const char* scene_name, const char* const* sets, const mor_phase* phases,
                    int phase_count, track* k, mor_error* error)
{
    mor_scene* scene;
    mor_world* w = mor_reproduce_world(o, scene_name, sets, &scene, error);
    *k = (track){ 0 };
    if (!w) return error->code;
    int steps = (int)(mor_scene_end(scene) / mor_world_get_step(w) + 0.5), n = steps + 1;
    k->t = malloc(6 * (size_t)n * sizeof(double));
    mor_code code = k->t ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    k->x = k->t + n, k->y = k->x + n, k->energy = k->y + n, k->size = k->energy + n, k->solve = k->size + n;
    mor_body_id p = mor_world_find_body(w, "particle");
    for (int i = 0; code == MOR_OK && i <= steps; i++) {
        mor_step_report r = { 0 };
        if (i > 0) code = mor_world_step(w, &r, error);
        if (i > 0 && r.status != MOR_SOLVED) k->failures++;
        if (code == MOR_STOPPED) { /* the run ends where no step was found */
            code = MOR_OK;
            break;
        }
        if (code) break;
        mor_body_state s = mor_body_get_state(w, p);
        if (!isfinite(s.com.x) || fabs(s.com.x) + fabs(s.com.y) > 1e9) break;
        k->t[i] = mor_world_time(w);
        k->x[i] = s.com.x;
        k->y[i] = s.com.y;
        k->lowest = i ? fmin(k->lowest, s.com.y) : s.com.y;
        k->energy[i] = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        k->size[i] = 2 + r.problem_size; /* the paper counts the velocities */
        k->solve[i] = 1e6 * r.timing.solve;
        k->end_speed = mor_norm(s.velocity);
        k->speed = fmax(k->speed, k->end_speed);
        if (phases) {
            k->end_error = mor_norm(mor_sub(s.com, mor_particle_at(phases, phase_count, k->t[i])));
            k->worst = fmax(k->worst, k->end_error);
        }
        k->count = i + 1;
    }
    if (w) mor_world_destroy(w);
    mor_scene_destroy(scene);
    if (code == MOR_OK && phases) code = spread_of(k, phases, phase_count, error);
    return code;
}

/* A table of the errors of some runs. */
static void write_spread(mor_fragment* page, const char* what, const char* const* labels, const track* const* tracks,
                         int count)
{
    mor_fragment_text(page, "%s: error against the closed form over all samples of the run, m.", what);
    fputs(
        "<tr><th>method</th><th>median</th><th>mean</th><th>worst</th><th>at the end</th><th>fastest, m/s</th></tr>\n",
        page->file);
    for (int i = 0; i < count; i++)
        fprintf(page->file, "<tr><td>%s</td><td>%.2g</td><td>%.2g</td><td>%.2g</td><td>%.2g</td><td>%.3g</td></tr>\n",
                labels[i], tracks[i]->median, tracks[i]->mean, tracks[i]->worst, tracks[i]->end_error,
                tracks[i]->speed);
}

static mor_code write_track(const mor_reproduce* o, const char* figure, const char* name, const track* k,
                            mor_error* error)
{
    mor_path path = mor_reproduce_path(o, "figure-%s/%s.csv", figure, name);
    FILE* f = mor_reproduce_open(path.text);
    if (f) {
        fputs("time,x,y,energy,problem_size,solve_us\n", f);
        for (int i = 0; i < k->count; i++)
            fprintf(f, "%.17g,%.17g,%.17g,%.17g,%g,%.3g\n", k->t[i], k->x[i], k->y[i], k->energy[i], k->size[i],
                    k->solve[i]);
    }
    return mor_reproduce_close(f, path.text, error);
}

/* Keeps what lies in a window, NaN elsewhere, so that a particle thrown away does not set the scale. */
static void draw(mor_panel* panel, const char* label, int colour, int dash, const double* x, const double* y, int n,
                 const double box[4])
{
    double* c = malloc(2 * (size_t)(n ? n : 1) * sizeof *c);
    if (!c) return;
    for (int i = 0; i < n; i++) {
        bool in = !box || (x[i] >= box[0] && x[i] <= box[1] && y[i] >= box[2] && y[i] <= box[3]);
        c[i] = in ? x[i] : NAN;
        c[n + i] = in ? y[i] : NAN;
    }
    mor_panel_curve(panel, label, colour, dash, c, c + n, n);
    free(c);
}

static void draw_walls(mor_panel* panel, const mor_wall* w, int n, const double box[4])
{
    double x[256], y[256];
    int k = 0;
    for (int i = 0; i < n && k + 3 < 256; i++) {
        x[k] = w[i].p.x, y[k++] = w[i].p.y;
        x[k] = w[i].q.x, y[k++] = w[i].q.y;
        if (i + 1 == n || mor_norm(mor_sub(w[i].q, w[i + 1].p)) > 1e-12) x[k] = NAN, y[k++] = NAN;
    }
    draw(panel, "surface", 6, 0, x, y, k, box);
}

static mor_code save(const mor_reproduce* o, mor_figure* figure, const char* number, const char* name, mor_error* error)
{
    mor_path path = mor_reproduce_path(o, "figure-%s/%s.svg", number, name);
    mor_code code = mor_figure_write(figure, path.text, error);
    mor_figure_clear(figure);
    return code;
}

/* ----------------------------------------------------------------------------- Fig. 1 and 2 */

mor_code mor_reproduce_energy(const mor_reproduce* o, mor_error* error)
{
    static const char* names[] = { "st", "st-psi_min", "peg" };
    static const char* labels[] = { "ST", "ST, psi_min -0.05", "PEG" };
    const char* sets[3][4] = { { "time.step=0.01", "time.end=0.9", NULL },
                               { "time.step=0.01", "time.end=0.9", "method.collision.psi_min=-0.05", NULL },
                               { "time.step=0.01", "time.end=0.9", NULL } };
    track k[3] = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < 3 && code == MOR_OK; i++) {
        code = run(o, i == 2 ? "peg_sawtooth.yaml" : "peg_sawtooth_chain.yaml", sets[i], NULL, 0, &k[i], error);
        if (code == MOR_OK) code = write_track(o, "1", names[i], &k[i], error);
        if (o->progress) o->progress(o->user, "1-2", i + 1, 3);
    }
    if (code == MOR_OK) {
        mor_figure f = { .title = "Energy of a particle near a tooth", .x_label = "time", .x_unit = "s" };
        mor_panel* p = mor_figure_panel(&f, "energy above the start, plus 1", "J");
        p->log = true;
        double gain[3] = { 0 };
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < k[i].count; j++) gain[i] = fmax(gain[i], k[i].energy[j] - k[i].energy[0]);
            double e0 = k[i].energy[0];
            for (int j = 0; j < k[i].count; j++) k[i].energy[j] = fmax(k[i].energy[j] - e0, 0.0) + 1.0;
            draw(p, labels[i], i, 0, k[i].t, k[i].energy, k[i].count, NULL);
        }
        code = save(o, &f, "1", "energy", error);
        mor_fragment page;
        if (code == MOR_OK && mor_fragment_begin(&page, o, "1", "Fig. 1 and 2: energy from half-spaces")) {
            mor_fragment_claim(&page,
                               "Stewart-Trinkle gains energy when a half-space becomes active in deep penetration",
                               gain[0] > 1.0, "%.3g J gained by a particle of 5 kg", gain[0]);
            mor_fragment_claim(&page, "psi_min partially mitigates it", gain[1] < gain[0],
                               "%.3g J with psi_min -0.05 m", gain[1]);
            mor_fragment_claim(&page, "the exact constraints do not alter the motion", gain[2] < 1e-9, "%.1g J",
                               gain[2]);
            mor_fragment_picture(&page, "figure-1/energy.svg",
                                 "Energy above the initial one (plus 1 J), h = 0.01 s, epsilon 0.25 m");
            code = mor_fragment_end(&page, error);
        }
    }
    for (int i = 0; i < 3; i++) track_free(&k[i]);
    return code;
}

/* Problem size and solver time over time, one curve each. */
static mor_code draw_cost(const mor_reproduce* o, const char* number, const char* title, const track* const* tracks,
                          const char* const* labels, int count, mor_error* error)
{
    mor_figure g = { .x_label = "time", .x_unit = "s" };
    snprintf(g.title, sizeof g.title, "%s", title);
    mor_panel *size = mor_figure_panel(&g, "problem size (with the two velocities)", ""),
              *time = mor_figure_panel(&g, "solver time", "us");
    for (int i = 0; i < count; i++) {
        draw(size, labels[i], i, 0, tracks[i]->t, tracks[i]->size, tracks[i]->count, NULL);
        draw(time, labels[i], i, 0, tracks[i]->t, tracks[i]->solve, tracks[i]->count, NULL);
    }
    return save(o, &g, number, "cost", error);
}

/* ------------------------------------------------------------------------------- Fig. 6 - 9 */

/* How deep in a hill the particle has been, vertically and at the samples [m]. */
static double below_hills(const track* k)
{
    mor_wall walls[200];
    int n = mor_hill_walls(walls);
    double worst = -HUGE_VAL;
    for (int i = 0; i < k->count; i++)
        for (int j = 0; j < n; j++) {
            mor_vec3 p = walls[j].p, q = walls[j].q;
            if (k->x[i] < p.x || k->x[i] > q.x || !(q.x > p.x)) continue;
            worst = fmax(worst, p.y + (q.y - p.y) * (k->x[i] - p.x) / (q.x - p.x) - k->y[i]);
        }
    return worst;
}

mor_code mor_reproduce_hills(const mor_reproduce* o, mor_error* error)
{
    enum { RUNS = 6 };
    static const struct {
        const char *file, *label, *scene, *set;
    } runs[RUNS] = { { "peg", "PEG", "peg_hills.yaml", NULL },
                     { "st-psi_min", "ST, psi_min -0.05", "peg_hills_chain.yaml", "method.collision.psi_min=-0.05" },
                     { "st", "ST", "peg_hills_chain.yaml", NULL },
                     { "ap", "AP", "peg_hills_chain.yaml", "method.formulation=ap" },
                     { "peg-heuristic", "PEG (papers' eq. 25)", "peg_hills.yaml", "method.formulation=peg-heuristic" },
                     { "peg-exact", "PEG (enumerated)", "peg_hills.yaml", "method.formulation=peg-exact" } };
    mor_wall walls[200];
    mor_phase phases[200];
    int wall_count = mor_hill_walls(walls);
    int phase_count = mor_particle_exact(walls, wall_count, mor_v3(0, 2, 0), mor_v3(0, 0, 0), mor_v3(6.0, -9.81, 0),
                                         0.0, 1.5, phases, 200);
    track k[RUNS] = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < RUNS && code == MOR_OK; i++) {
        const char* sets[] = { runs[i].set, NULL };
        code = run(o, runs[i].scene, sets, phases, phase_count, &k[i], error);
        if (code == MOR_OK) code = write_track(o, "6", runs[i].file, &k[i], error);
        if (o->progress) o->progress(o->user, "6-9", i + 1, RUNS);
    }
    if (code == MOR_OK) {
        const double box[4] = { -0.5, 6.0, 0.0, 2.1 };
        mor_figure f = { .title = "Hills", .subtitle = "h = 0.01 s, epsilon 0.5 m", .x_label = "x", .x_unit = "m" };
        mor_panel* p = mor_figure_panel(&f, "y", "m");
        draw_walls(p, walls, wall_count, box);
        for (int i = 0; i < 4; i++) draw(p, runs[i].label, i, i == 2, k[i].x, k[i].y, k[i].count, box);
        double ex[300], ey[300];
        for (int i = 0; i < 300; i++) {
            mor_vec3 x = mor_particle_at(phases, phase_count, 1.5 * i / 299);
            ex[i] = x.x, ey[i] = x.y;
        }
        draw(p, "closed form", 5, 2, ex, ey, 300, box);
        code = save(o, &f, "6", "trajectories", error);
        const track* shown[4] = { &k[0], &k[1], &k[2], &k[3] };
        const char* labels[4] = { runs[0].label, runs[1].label, runs[2].label, runs[3].label };
        if (code == MOR_OK) code = draw_cost(o, "6", "Hills: problem size and solver time", shown, labels, 4, error);
        mor_fragment page;
        int e = k[1].count - 1, a = k[3].count - 1, last = k[0].count - 1;
        if (code == MOR_OK && mor_fragment_begin(&page, o, "6", "Fig. 6 to 9: hills")) {
            mor_fragment_claim(
                &page, "PEG passes the hills", k[0].x[last] > 2.0 && k[0].lowest > 0.4 && below_hills(&k[0]) < 1e-6,
                "at the end of 1.5 s it is at x = %.2f m, over hill %d, at most %.1g m inside one; largest error %.3f "
                "m, "
                "at the end %.3f m, against the closed form at h = 0.01 (enumerated %.3f, %.3f; papers' eq. 25 %.3f, "
                "%.3f)",
                k[0].x[last], 1 + (int)((k[0].x[last] - 0.01) / 0.58), fmax(below_hills(&k[0]), 0.0), k[0].worst,
                k[0].end_error, k[5].worst, k[5].end_error, k[4].worst, k[4].end_error);
            mor_fragment_claim(&page, "ST ends trapped in mid-air at an intersection of half-spaces (Fig. 7)",
                               k[1].end_speed < 1e-3, "with psi_min -0.05 it stands still at (%.3f, %.3f)", k[1].x[e],
                               k[1].y[e]);
            mor_fragment_claim(&page, "(not in the paper) without psi_min ST is thrown", k[2].speed > 50, "%.0f m/s",
                               k[2].speed);
            mor_fragment_claim(&page, "AP keeps a distance of about epsilon", fabs(k[3].y[a] - 1.0) < 0.1,
                               "it stops at (%.3f, %.3f), %.2f m above the hill", k[3].x[a], k[3].y[a],
                               k[3].y[a] - 0.5);
            const track* all[RUNS];
            const char* names[RUNS];
            for (int i = 0; i < RUNS; i++) all[i] = &k[i], names[i] = runs[i].label;
            write_spread(&page, "Hills, h = 0.01 s", names, all, RUNS);
            mor_fragment_picture(&page, "figure-6/trajectories.svg", "Trajectories over twenty overlapping hills");
            mor_fragment_picture(&page, "figure-6/cost.svg",
                                 "Rows of the step's problem plus two velocities, and solver time; PEG's size counts "
                                 "all candidate rows, of which those of one plane per body are solved");
            code = mor_fragment_end(&page, error);
        }
    }
    for (int i = 0; i < RUNS; i++) track_free(&k[i]);
    return code;
}

/* ----------------------------------------------------------------------------- Fig. 10 - 17 */

enum { TOOTH_STEPS = 4, TOOTH_METHODS = 7 };
static const char* const tooth_steps[TOOTH_STEPS] = { "1e-4", "1e-3", "1e-2", "1e-1" };
static const struct {
    const char *name, *label, *scene, *formulation;
} tooth_methods[TOOTH_METHODS] = {
    { "peg", "PEG", "peg_sawtooth.yaml", "peg" },
    { "st", "ST", "peg_sawtooth_chain.yaml", "st" },
    { "ap", "AP", "peg_sawtooth_chain.yaml", "ap" },
    { "peg-heuristic", "PEG (papers' eq. 25)", "peg_sawtooth.yaml", "peg-heuristic" },
    { "peg-exact", "PEG (enumerated)", "peg_sawtooth.yaml", "peg-exact" },
    { "peg-chain", "PEG, one chain", "peg_sawtooth_one_chain.yaml", "peg" },
    { "peg-exact-chain", "PEG (enumerated), one chain", "peg_sawtooth_one_chain.yaml", "peg-exact" },
};

typedef struct sawtooth {
    const mor_reproduce* o;
    mor_wall walls[64];
    int wall_count;
    track k[2][TOOTH_METHODS][TOOTH_STEPS]; /* without friction, with it */
} sawtooth;

static mor_code run_teeth(sawtooth* t, int c, mor_error* error)
{
    const mor_reproduce* o = t->o;
    mor_phase phases[100];
    int n = mor_particle_exact(t->walls, t->wall_count, mor_v3(0, 0.75, 0), mor_v3(c ? 6 : 2, 1.8, 0),
                               mor_v3(0, -9.81, 0), c ? 0.5 : 0.0, 1.4, phases, 100);
    mor_code code = MOR_OK;
    for (int m = 0; m < TOOTH_METHODS && code == MOR_OK; m++)
        for (int s = 0; s < TOOTH_STEPS && code == MOR_OK; s++) {
            char formulation[64], step[64], name[80];
            snprintf(formulation, sizeof formulation, "method.formulation=%s", tooth_methods[m].formulation);
            snprintf(step, sizeof step, "time.step=%s", tooth_steps[s]);
            const char* sets[] = { step, c ? "bodies.particle.velocity=[6, 1.8]" : "bodies.particle.velocity=[2, 1.8]",
                                   c ? "materials.ice.friction=0.5" : "materials.ice.friction=0", formulation, NULL };
            code = run(o, tooth_methods[m].scene, sets, phases, n, &t->k[c][m][s], error);
            snprintf(name, sizeof name, "%s-%s-%s", c ? "friction" : "smooth", tooth_methods[m].name, tooth_steps[s]);
            if (code == MOR_OK) code = write_track(o, "10", name, &t->k[c][m][s], error);
            if (o->progress)
                o->progress(o->user, "10-17", (c * TOOTH_METHODS + m) * TOOTH_STEPS + s + 1,
                            2 * TOOTH_METHODS * TOOTH_STEPS);
        }
    return code;
}

static void draw_path(mor_panel* panel, const char* label, int colour, int dash, const track* k, const double* box)
{
    draw(panel, label, colour, dash, k->x, k->y, k->count, box);
}

static mor_code draw_teeth(const sawtooth* t, int c, mor_error* error)
{
    const double box[4] = { -0.2, c ? 5.5 : 2.5, -0.05, 1.1 }, near[4] = { c ? 3.2 : 1.0, c ? 4.3 : 1.5, 0.0, 0.6 };
    mor_figure f = { .x_label = "x", .x_unit = "m" };
    snprintf(f.title, sizeof f.title, "Sawtooth %s friction", c ? "with" : "without");
    mor_panel *p = mor_figure_panel(&f, "y at h = 1e-3 s", "m"),
              *e = mor_figure_panel(&f, "y, detail where PEG leaves the tooth", "m"),
              *d = mor_figure_panel(&f, "y at all steps", "m");
    for (int i = 0; i < 3; i++) {
        snprintf(f.panels[i].x_label, sizeof f.panels[i].x_label, "x");
        snprintf(f.panels[i].x_unit, sizeof f.panels[i].x_unit, "m");
    }
    draw_walls(p, t->walls, t->wall_count, box);
    draw_walls(e, t->walls, t->wall_count, near);
    draw_walls(d, t->walls, t->wall_count, box);
    for (int m = 0; m < 3; m++) {
        draw_path(p, tooth_methods[m].label, m, 0, &t->k[c][m][1], box);
        draw_path(e, tooth_methods[m].label, m, 0, &t->k[c][m][1], near);
    }
    for (int s = 0; s < TOOTH_STEPS; s++)
        for (int m = 0; m < 2; m++) {
            char label[64];
            snprintf(label, sizeof label, "%s %s", tooth_methods[m].label, tooth_steps[s]);
            draw_path(d, label, m, s, &t->k[c][m][s], box);
        }
    return save(t->o, &f, "10", c ? "friction" : "smooth", error);
}

/* Fig. 17, lower half: what the paper says of ST near the peak at (1.2, 0.25), sentence by sentence. */
static void write_figure_17(mor_fragment* page, const track st[TOOTH_STEPS])
{
    const track* coarse = &st[TOOTH_STEPS - 1];
    double apart = 0.0, fine_apart = 0.0, leaves = 0.0;
    int at_peak = 0;
    for (int i = 1; i < TOOTH_STEPS; i++) {
        const track *a = &st[i - 1], *b = &st[i];
        if (!a->count || !b->count) continue;
        double d = hypot(a->x[a->count - 1] - b->x[b->count - 1], a->y[a->count - 1] - b->y[b->count - 1]);
        if (i == TOOTH_STEPS - 1) apart = d;
        else fine_apart = fmax(fine_apart, d);
    }
    for (int i = 1; i < coarse->count; i++) {
        at_peak += hypot(coarse->x[i] - 1.2, coarse->y[i] - 0.25) < 1e-6;
        double v =
            hypot(coarse->x[i] - coarse->x[i - 1], coarse->y[i] - coarse->y[i - 1]) / (coarse->t[i] - coarse->t[i - 1]);
        leaves = fmax(leaves, v);
    }
    mor_fragment_claim(page, "Fig. 17, ST: the coarse step varies significantly from the finer ones", apart > 0.05,
                       "it ends %.3g m from that of 1e-2 s", apart);
    mor_fragment_claim(page, "Fig. 17, ST: the fine trajectory picks up kinetic energy and leaves with a high velocity",
                       st[0].speed > 20.0, "%.0f, %.0f, %.0f m/s at 1e-4, 1e-3, 1e-2 s", st[0].speed, st[1].speed,
                       st[2].speed);
    mor_fragment_claim(
        page, "Fig. 17, ST: the coarse trajectory gets stuck at the intersection of the two extended edges",
        at_peak > 3, "it is at the intersection (1.2, 0.25) after %d of its %d steps and leaves it at %.1f m/s",
        at_peak, coarse->count - 1, leaves);
    mor_fragment_claim(
        page, "(our reading of Fig. 17) ST's finer trajectories agree with each other", fine_apart < 0.05,
        "they end up to %.3g m apart; ST is off the closed form by %.3g, %.3g, %.3g, %.3g m at h = 1e-4, "
        "1e-3, 1e-2, 1e-1 and does not converge",
        fine_apart, st[0].worst, st[1].worst, st[2].worst, st[3].worst);
}

static mor_code write_teeth(const sawtooth* t, mor_error* error)
{
    mor_fragment page;
    const track(*k)[TOOTH_METHODS][TOOTH_STEPS] = t->k;
    if (!mor_fragment_begin(&page, t->o, "10", "Fig. 10 to 17: sawtooth")) return MOR_OK;
    for (int c = 0; c < 2; c++) {
        mor_fragment_claim(&page,
                           c ? "with friction PEG slides up the first edge it meets, as the analytical solution does"
                             : "PEG follows the true motion",
                           k[c][0][1].worst < 0.01,
                           "largest error %.2e, %.2e, %.2e, %.2e m at h = 1e-4, 1e-3, 1e-2, 1e-1: first order",
                           k[c][0][0].worst, k[c][0][1].worst, k[c][0][2].worst, k[c][0][3].worst);
        mor_fragment_claim(&page, "ST leaves the tooth at high velocity", k[c][1][1].speed > 20,
                           "%.0f, %.0f, %.0f m/s at h = 1e-4, 1e-3, 1e-2: the speed grows as h shrinks (depth over h)",
                           k[c][1][0].speed, k[c][1][1].speed, k[c][1][2].speed);
        mor_fragment_claim(&page, "AP diverts at distance epsilon without gaining energy", k[c][2][1].speed < 10,
                           "largest error %.2f m at every h", k[c][2][1].worst);
    }
    mor_fragment_claim(
        &page, "the trajectories agree at all steps but 0.1 s", k[0][0][2].worst < 0.05,
        "see the errors above; papers' eq. 25: %.2e, %.2e, %.2e, %.2e m; enumerated: %.2e, %.2e, %.2e, %.2e m",
        k[0][3][0].worst, k[0][3][1].worst, k[0][3][2].worst, k[0][3][3].worst, k[0][4][0].worst, k[0][4][1].worst,
        k[0][4][2].worst, k[0][4][3].worst);
    double lowest = 0.0;
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < TOOTH_STEPS; i++)
            for (int m = 0; m < TOOTH_METHODS; m++)
                if (m == 0 || m > 3) lowest = fmin(lowest, k[c][m][i].lowest);
    mor_fragment_claim(&page, "(not in the paper) PEG stays above the base of the teeth, separate or one chain",
                       lowest > -1e-9, "lowest y %.1e m at all steps, with and without friction, enumerated too",
                       lowest);
    write_figure_17(&page, k[0][1]);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < TOOTH_STEPS; i++) {
            char what[64];
            const track* all[TOOTH_METHODS];
            const char* names[TOOTH_METHODS];
            for (int m = 0; m < TOOTH_METHODS; m++) all[m] = &k[c][m][i], names[m] = tooth_methods[m].label;
            snprintf(what, sizeof what, "Sawtooth %s friction, h = %s s", c ? "with" : "without", tooth_steps[i]);
            write_spread(&page, what, names, all, TOOTH_METHODS);
        }
    mor_fragment_picture(&page, "figure-10/smooth.svg",
                         "Without friction; curves that leave the window are thrown out");
    mor_fragment_picture(&page, "figure-10/friction.svg", "With friction 0.5");
    mor_fragment_picture(&page, "figure-10/cost.svg", "Problem size and solver time, h = 1e-3 s");
    return mor_fragment_end(&page, error);
}

mor_code mor_reproduce_sawtooth(const mor_reproduce* o, mor_error* error)
{
    sawtooth* t = calloc(1, sizeof *t);
    if (!t) return mor_fail(error, MOR_SYSTEM, "out of memory");
    t->o = o;
    t->wall_count = mor_tooth_walls(t->walls);
    mor_code code = MOR_OK;
    for (int c = 0; c < 2 && code == MOR_OK; c++) {
        code = run_teeth(t, c, error);
        if (code == MOR_OK) code = draw_teeth(t, c, error);
    }
    if (code == MOR_OK) {
        const track* fine[3] = { &t->k[0][0][1], &t->k[0][1][1], &t->k[0][2][1] };
        const char* labels[3] = { tooth_methods[0].label, tooth_methods[1].label, tooth_methods[2].label };
        code = draw_cost(o, "10", "Sawtooth without friction: problem size and solver time", fine, labels, 3, error);
    }
    if (code == MOR_OK) code = write_teeth(t, error);
    for (int c = 0; c < 2; c++)
        for (int m = 0; m < TOOTH_METHODS; m++)
            for (int s = 0; s < TOOTH_STEPS; s++) track_free(&t->k[c][m][s]);
    free(t);
    return code;
}
