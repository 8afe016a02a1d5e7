/* Fig. 18: error of the particle over the step size, random initial states.
 *
 * 62 states (x, y, v_x, v_y uniform in (-0.2, 7) x (0.5, 1) x (1, 5) x (0, 2.5), in this order from the seed) over the
 *    sawtooth for T = 1.31072 s,
 * steps 1e-5 s doubled 15 times. Error of a sample: distance to the closed form at that time, and to PEG at the
 * smallest step (the paper's reference). Samples are taken every max(h, 8e-5) s, so small steps do not only add equal
 * numbers. One part per method and step; the reference trajectory is one part per state. */
#include "lab/particle.h"
#include "lab/reproduce.h"
#include "lab/reproduce_walls.h"
#include "plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATES = 62, STEPS = 16, METHODS = 9, SAMPLES = 16384 };
#define SMALLEST 1e-5
#define SAMPLE 8e-5

static const struct {
    const char *file, *label, *scene, *formulation, *epsilon, *psi_min;
} methods[METHODS] = {
    { "peg", "PEG", "peg_sawtooth.yaml", "peg", "0.25", "-inf" },
    { "st", "ST, epsilon 0.25", "peg_sawtooth_chain.yaml", "st", "0.25", "-inf" },
    { "ap", "AP, epsilon 0.25", "peg_sawtooth_chain.yaml", "ap", "0.25", "-inf" },
    { "st-psi_min", "ST, epsilon 0.25, psi_min -0.05", "peg_sawtooth_chain.yaml", "st", "0.25", "-0.05" },
    { "st-small", "ST, epsilon 0.01, psi_min -0.005", "peg_sawtooth_chain.yaml", "st", "0.01", "-0.005" },
    { "peg-heuristic", "PEG, papers' eq. 25", "peg_sawtooth.yaml", "peg-heuristic", "0.25", "-inf" },
    { "peg-exact", "PEG, enumerated", "peg_sawtooth.yaml", "peg-exact", "0.25", "-inf" },
    { "peg-chain", "PEG, one chain", "peg_sawtooth_one_chain.yaml", "peg", "0.25", "-inf" },
    { "peg-exact-chain", "PEG, enumerated, one chain", "peg_sawtooth_one_chain.yaml", "peg-exact", "0.25", "-inf" },
};

typedef struct result {
    double median, median_end, median_paper, mean, worst, worst_end;
    int failures, below; /* runs that got below the teeth */
} result;

typedef struct study {
    const mor_reproduce* o;
    int first; /* smallest step used */
    mor_vec3 x[STATES], v[STATES];
    mor_phase phases[STATES][200];
    int phase_count[STATES];
    float* reference; /* STATES x SAMPLES x 2 */
    mor_error error[64];
} study;

/* One run; calls for the positions at the sample times. */
static bool fly(const study* k, int method, int step, int state, void (*sample)(void*, int, double, mor_vec3),
                void* user, int* failures, mor_error* error)
{
    double h = SMALLEST * (1 << step);
    char sets_text[4][96];
    snprintf(sets_text[0], sizeof sets_text[0], "time.step=%.17g", h);
    snprintf(sets_text[1], sizeof sets_text[1], "method.formulation=%s", methods[method].formulation);
    snprintf(sets_text[2], sizeof sets_text[2], "method.collision.epsilon=%s", methods[method].epsilon);
    snprintf(sets_text[3], sizeof sets_text[3], "method.collision.psi_min=%s", methods[method].psi_min);
    const char* sets[] = { sets_text[0], sets_text[1], sets_text[2], sets_text[3], "method.on_failure=warn", NULL };
    mor_scene* scene;
    mor_world* w = mor_reproduce_world(k->o, methods[method].scene, sets, &scene, error);
    if (!w) return false;
    mor_body_id p = mor_world_find_body(w, "particle");
    mor_body_state s = mor_body_get_state(w, p);
    s.com = s.pose.position = k->x[state];
    s.velocity = k->v[state];
    mor_body_set_state(w, p, &s);
    int steps = (1 << 17) >> step, every = h < SAMPLE ? (int)(SAMPLE / h + 0.5) : 1;
    bool good = true;
    for (int i = 1; i <= steps && good; i++) {
        mor_step_report r;
        good = mor_world_step(w, &r, error) == MOR_OK;
        *failures += r.status != MOR_SOLVED;
        if (i % every) continue;
        mor_vec3 x = mor_body_get_state(w, p).com;
        if (!isfinite(x.x) || !isfinite(x.y)) x = mor_v3(1e9, 1e9, 0);
        sample(user, i / every - 1, mor_world_time(w), x);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return good;
}

typedef struct reference_of {
    float* out;
} reference_of;

static void keep_reference(void* user, int index, double t, mor_vec3 x)
{
    (void)t;
    float* out = ((reference_of*)user)->out + 2 * index;
    out[0] = (float)x.x;
    out[1] = (float)x.y;
}

/* PEG at the smallest step, from disk if it is there. */
static void reference_task(void* user, int state, int worker)
{
    study* k = user;
    mor_path path = mor_reproduce_part(k->o, "18-reference-%d-%02d.bin", k->first, state);
    float* out = k->reference + (size_t)state * SAMPLES * 2;
    FILE* in = fopen(path.text, "rb");
    if (in) {
        bool whole = fread(out, sizeof(float), 2 * SAMPLES, in) == 2 * SAMPLES;
        fclose(in);
        if (whole) return;
    }
    int failures = 0;
    reference_of r = { out };
    if (!fly(k, 0, k->first, state, keep_reference, &r, &failures, &k->error[worker])) return;
    FILE* f = mor_reproduce_open(path.text);
    if (f) fwrite(out, sizeof(float), 2 * SAMPLES, f);
    mor_reproduce_close(f, path.text, &k->error[worker]);
}

typedef struct tally {
    const study* k;
    int state, step, count;
    double *error, *paper, last;
    bool below;
} tally;

static void keep_error(void* user, int index, double t, mor_vec3 x)
{
    tally* a = user;
    double h = SMALLEST * (1 << a->step);
    int stride = h < SAMPLE ? 1 : (int)(h / SAMPLE + 0.5);
    const float* ref = a->k->reference + ((size_t)a->state * SAMPLES + (size_t)((index + 1) * stride - 1)) * 2;
    a->last = mor_norm(mor_sub(x, mor_particle_at(a->k->phases[a->state], a->k->phase_count[a->state], t)));
    a->below = a->below || x.y < -1e-6;
    a->error[a->count] = a->last;
    a->paper[a->count++] = hypot(x.x - ref[0], x.y - ref[1]);
}

static mor_path part_path(const study* k, int method, int step)
{
    return mor_reproduce_part(k->o, "18-%s-%02d.txt", methods[method].file, step);
}

static void cell_task(void* user, int index, int worker)
{
    study* k = user;
    int method = index % METHODS, step = k->first + index / METHODS; /* small steps first: they take longest */
    mor_path path = part_path(k, method, step);
    if (access(path.text, R_OK) == 0 || !mor_reproduce_own(k->o, index)) return;
    if (k->o->merge) {
        mor_reproduce_missing(path.text, &k->error[worker]);
        return;
    }
    int per_run = SAMPLES;
    double* values = malloc((2 * (size_t)STATES * per_run + STATES) * sizeof *values);
    if (!values) {
        mor_fail(&k->error[worker], MOR_SYSTEM, "out of memory");
        return;
    }
    tally a = { .k = k, .step = step, .error = values, .paper = values + (size_t)STATES * per_run };
    double* ends = values + 2 * (size_t)STATES * per_run;
    result r = { 0 };
    bool good = true;
    for (int s = 0; s < STATES && good; s++) {
        a.state = s;
        a.below = false;
        good = fly(k, method, step, s, keep_error, &a, &r.failures, &k->error[worker]);
        ends[s] = a.last;
        r.below += a.below;
        r.worst_end = fmax(r.worst_end, a.last);
    }
    if (good) {
        double sum = 0.0;
        for (int i = 0; i < a.count; i++) sum += a.error[i], r.worst = fmax(r.worst, a.error[i]);
        r.mean = sum / a.count;
        r.median = mor_median(a.error, a.count);
        r.median_paper = mor_median(a.paper, a.count);
        r.median_end = mor_median(ends, STATES);
        FILE* f = mor_reproduce_open(path.text);
        if (f)
            fprintf(f, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%d\n", r.median, r.median_end, r.median_paper, r.mean,
                    r.worst, r.worst_end, r.below, r.failures);
        mor_reproduce_close(f, path.text, &k->error[worker]);
    }
    free(values);
}

static bool read_part(const study* k, int method, int step, result* r)
{
    FILE* f = fopen(part_path(k, method, step).text, "r");
    bool good = f && fscanf(f, "%lf,%lf,%lf,%lf,%lf,%lf,%d,%d", &r->median, &r->median_end, &r->median_paper, &r->mean,
                            &r->worst, &r->worst_end, &r->below, &r->failures) == 8;
    if (f) fclose(f);
    return good;
}

static mor_code write_table(const study* k, result r[METHODS][STEPS], mor_error* error)
{
    mor_path path = mor_reproduce_path(k->o, "figure-18/errors.csv");
    FILE* f = mor_reproduce_open(path.text);
    if (f) {
        fputs("method,h,median,median_end,median_against_peg_smallest,mean,worst,worst_end,runs_below_the_teeth,"
              "steps_not_solved\n",
              f);
        for (int m = 0; m < METHODS; m++)
            for (int s = k->first; s < STEPS; s++)
                fprintf(f, "%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%d\n", methods[m].file, SMALLEST * (1 << s),
                        r[m][s].median, r[m][s].median_end, r[m][s].median_paper, r[m][s].mean, r[m][s].worst,
                        r[m][s].worst_end, r[m][s].below, r[m][s].failures);
    }
    return mor_reproduce_close(f, path.text, error);
}

static mor_code draw_errors(const study* k, result r[METHODS][STEPS], mor_error* error)
{
    mor_figure g = { .title = "Error of the particle over the step size",
                     .subtitle = "62 random initial states over the sawtooth" };
    mor_panel *all = mor_figure_panel(&g, "median over all steps and runs", "m"),
              *end = mor_figure_panel(&g, "median at the end of the runs", "m"),
              *bad = mor_figure_panel(&g, "largest of all steps and runs", "m");
    all->log = end->log = bad->log = all->x_log = end->x_log = bad->x_log = true;
    for (int i = 0; i < 3; i++)
        snprintf(g.panels[i].x_label, sizeof g.panels[i].x_label, "step"),
            snprintf(g.panels[i].x_unit, sizeof g.panels[i].x_unit, "s");
    int n = STEPS - k->first;
    for (int m = 0; m < METHODS; m++) {
        double x[STEPS], y[STEPS], z[STEPS], worst[STEPS];
        for (int i = 0; i < n; i++) {
            x[i] = SMALLEST * (1 << (k->first + i));
            y[i] = r[m][k->first + i].median;
            z[i] = r[m][k->first + i].median_end;
            worst[i] = r[m][k->first + i].worst;
        }
        mor_panel_curve(all, methods[m].label, m, m > 2, x, y, n);
        mor_panel_curve(end, methods[m].label, m, m > 2, x, z, n);
        mor_panel_curve(bad, methods[m].label, m, m > 2, x, worst, n);
    }
    mor_path path = mor_reproduce_path(k->o, "figure-18/errors.svg");
    mor_code code = mor_figure_write(&g, path.text, error);
    mor_figure_clear(&g);
    return code;
}

/* Means and worst cases beside the medians, which hide what happens to few. */
static void write_spread(mor_fragment* p, const study* k, result r[METHODS][STEPS])
{
    static const int steps[] = { 3, 7, 10, 13 }; /* 8e-5, 1.3e-3, 1.0e-2, 8.2e-2 s */
    mor_fragment_text(p,
                      "Error against the closed form over all samples of the %d runs, m: median / mean / worst, and "
                      "how many runs get below the teeth.",
                      STATES);
    fputs("<tr><th>method</th>", p->file);
    for (int i = 0; i < 4; i++)
        if (steps[i] >= k->first) fprintf(p->file, "<th>h = %.1e s</th>", SMALLEST * (1 << steps[i]));
    fputs("<th>below, all steps</th></tr>\n", p->file);
    for (int m = 0; m < METHODS; m++) {
        int below = 0;
        fprintf(p->file, "<tr><td>%s</td>", methods[m].label);
        for (int i = 0; i < 4; i++)
            if (steps[i] >= k->first)
                fprintf(p->file, "<td>%.2g / %.2g / %.2g</td>", r[m][steps[i]].median, r[m][steps[i]].mean,
                        r[m][steps[i]].worst);
        for (int s = k->first; s < STEPS; s++) below += r[m][s].below;
        fprintf(p->file, "<td>%d of %d</td></tr>\n", below, STATES * (STEPS - k->first));
    }
}

static mor_code report(const study* k, result r[METHODS][STEPS], mor_error* error)
{
    mor_code code = write_table(k, r, error);
    if (code == MOR_OK) code = draw_errors(k, r, error);
    if (code != MOR_OK) return code;

    int s2 = 10; /* 1.024e-2 */
    double least_ratio = HUGE_VAL, best_st = HUGE_VAL, order = 0.0, ap_ratio = r[2][s2].median / r[0][s2].median;
    for (int s = k->first; s < STEPS; s++) {
        if (s <= s2) least_ratio = fmin(least_ratio, r[1][s].median / r[0][s].median);
        best_st = fmin(best_st, r[1][s].median);
        if (s <= 13) order = fmax(order, r[0][s].median / (SMALLEST * (1 << s)));
    }
    mor_fragment p;
    if (!mor_fragment_begin(&p, k->o, "18", "Fig. 18: error over the step size"))
        return mor_fail(error, MOR_SYSTEM, "cannot write into %s", k->o->directory);
    mor_fragment_claim(&p, "PEG has two orders of magnitude less error than ST at each step size", least_ratio >= 100,
                       "ST/PEG is at least %.0f for h up to 1e-2 (epsilon 0.25, no psi_min)", least_ratio);
    mor_fragment_claim(
        &p, "PEG at 1e-2 is as accurate as ST at about 1e-4", r[0][s2].median < best_st,
        "PEG at 1e-2: %.3g m; ST at its best step: %.3g m. ST's error grows like 1/h: it never converges",
        r[0][s2].median, best_st);
    mor_fragment_claim(&p, "AP's error is bounded below by epsilon", r[2][k->first].median > 0.1,
                       "%.2f m at the smallest step; AP/PEG = %.0f at 1e-2", r[2][k->first].median, ap_ratio);
    mor_fragment_claim(&p, "(beyond the paper) PEG is first order up to h = 0.08, no tunnelling", order < 1.6,
                       "error/h at most %.2f up to 0.082 s; %.3g m at 0.082, %.3g m at 0.33", order, r[0][13].median,
                       r[0][15].median);
    mor_fragment_text(&p,
                      "With psi_min or a small epsilon most samples lie before the artefact, so the median over all "
                      "samples differs little; the median <i>end</i> error tells them apart "
                      "(at 1e-2: PEG %.3g, ST with psi_min %.3g, ST with epsilon 0.01 %.3g m; at the smallest step: "
                      "%.3g, %.3g, %.3g m). PEG's error is the Euler error of "
                      "free flight. The papers' eq. 25 tests the end of the step only and tunnels through the teeth "
                      "when h is large (%.3g m at 0.082 s). "
                      "Against the paper's own reference, PEG at the smallest step, the medians at 1e-2 are %.3g "
                      "(PEG), %.3g (ST), %.3g m (AP).",
                      r[0][s2].median_end, r[3][s2].median_end, r[4][s2].median_end, r[0][k->first].median_end,
                      r[3][k->first].median_end, r[4][k->first].median_end, r[5][13].median, r[0][s2].median_paper,
                      r[1][s2].median_paper, r[2][s2].median_paper);
    int below[METHODS] = { 0 };
    double apart = 0.0;
    for (int m = 0; m < METHODS; m++)
        for (int s = k->first; s < STEPS; s++) below[m] += r[m][s].below;
    for (int s = k->first; s <= s2; s++)
        apart =
            fmax(apart, fmax(fabs(r[7][s].median / r[0][s].median - 1.0), fabs(r[8][s].median / r[6][s].median - 1.0)));
    mor_fragment_claim(
        &p, "(not in the paper) no run gets below the teeth, however they are drawn",
        below[0] + below[6] + below[7] + below[8] == 0,
        "of %d runs: PEG %d over separate teeth on a common base, %d over one chain; enumerated %d and %d; "
        "papers' eq. 25 %d",
        STATES * (STEPS - k->first), below[0], below[7], below[6], below[8], below[5]);
    mor_fragment_claim(&p, "(not in the paper) separate teeth and one chain give the same errors", apart < 0.01,
                       "medians at steps up to 1e-2 s differ by at most %.1g of themselves", apart);
    write_spread(&p, k, r);
    mor_fragment_text(&p, "Steps that missed the tolerance, all runs: PEG %d, ST %d, AP %d, eq. 25 %d at 1e-2 s.",
                      r[0][s2].failures, r[1][s2].failures, r[2][s2].failures, r[5][s2].failures);
    mor_fragment_picture(&p, "figure-18/errors.svg", "Median error against the closed form");
    return mor_fragment_end(&p, error);
}

mor_code mor_reproduce_steps(const mor_reproduce* o, mor_error* error)
{
    study* k = calloc(1, sizeof *k);
    if (!k) return mor_fail(error, MOR_SYSTEM, "out of memory");
    k->o = o;
    k->first = o->quick ? 5 : 0;
    k->reference = malloc((size_t)STATES * SAMPLES * 2 * sizeof(float));
    mor_rng rng = { o->seed };
    mor_wall walls[64];
    int wall_count = mor_tooth_walls(walls);
    for (int s = 0; s < STATES; s++) {
        double u[4];
        for (int i = 0; i < 4; i++) u[i] = mor_rng_uniform(&rng);
        k->x[s] = mor_v3(-0.2 + 7.2 * u[0], 0.5 + 0.5 * u[1], 0);
        k->v[s] = mor_v3(1 + 4 * u[2], 2.5 * u[3], 0);
        k->phase_count[s] =
            mor_particle_exact(walls, wall_count, k->x[s], k->v[s], mor_v3(0, -9.81, 0), 0.0, 1.4, k->phases[s], 200);
    }
    mor_reproduce limited = *o;
    if (limited.threads > 64) limited.threads = 64;
    k->o = &limited;
    mor_code code = k->reference ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    /* the reference is sampled every 8e-5 s, which a quick look's smallest step does not reach: it uses that of step 3
     * */
    int first = k->first;
    if (o->quick) k->first = 3;
    if (code == MOR_OK && !o->merge)
        code = mor_reproduce_tasks(&limited, "18 reference", STATES, reference_task, k, error);
    k->first = first;
    if (code == MOR_OK) code = mor_reproduce_tasks(&limited, "18", METHODS * (STEPS - k->first), cell_task, k, error);
    for (int i = 0; i < 64 && code == MOR_OK; i++)
        if (k->error[i].code != MOR_OK) *error = k->error[i], code = error->code;
    result r[METHODS][STEPS];
    for (int m = 0; m < METHODS; m++)
        for (int s = 0; s < STEPS; s++) {
            r[m][s] = (result){ 0 };
            if (code == MOR_OK && s >= k->first && !o->shards && !read_part(k, m, s, &r[m][s]))
                code = mor_fail(error, MOR_SYSTEM, "cannot read %s", part_path(k, m, s).text);
        }
    if (code == MOR_OK && !o->shards) code = report(k, r, error);
    free(k->reference);
    free(k);
    return code;
}
