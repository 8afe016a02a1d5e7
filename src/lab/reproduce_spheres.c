/* Fig. 9 of the RPIsim paper: 125 spheres, 400 steps, 50 samples of the convergence of Fischer-Newton, with the natural
 * merit
 *
 *     theta(z) = 1/2 |min(z, A z + b)|^2
 *
 * of the LCP of Stewart and Trinkle's step. The frames are stored as a BPMD file, so every sample can be looked at
 * again (`moreau compare`). Each solve starts from zero; the last step's answer would leave nothing to see in a stack
 * at rest.
 *
 * The spheres rest to rounding only, and rounding decides which contacts without force are open. So each sample is
 * solved once more with gaps and velocities that are exactly zero: the difference of the two is what rounding costs.
 *
 * J. Williams, Y. Lu, S. Niebe, M. Andersen, K. Erleben, J. C. Trinkle (2013), RPI-MATLAB-Simulator: a tool for
 * efficient research and practical teaching in multibody dynamics, VRIPHYS, section 5.2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "io/bpmd/bpmd.h"
#include "io/text/output.h"
#include "lab/reproduce.h"
#include "model/step.h"
#include "plot/figure.h"
#include "problem/convert.h"

enum { STEPS = 400, SAMPLES = 50, MOST = 200, QUICK_STEPS = 40, QUICK_SAMPLES = 5 };

/* The quick look: the first tenth of the experiment, every eighth step as in the whole. */
static int steps_of(const mor_reproduce* o) { return o->quick ? QUICK_STEPS : STEPS; }
static int samples_of(const mor_reproduce* o) { return o->quick ? QUICK_SAMPLES : SAMPLES; }

typedef struct sample {
    int count;
    double iteration[MOST], merit[MOST];
    double gap; /* largest |gap| / h of the frame [m/s] */
    bool solved;
    bool still_solved; /* with gaps and velocities set to zero */
    int still;         /* iterations of that */
} sample;

typedef struct job {
    mor_path file;
    sample* samples;
} job;

static mor_code record(const mor_reproduce* o, const char* path, mor_error* error)
{
    mor_scene* scene;
    mor_world* w = mor_reproduce_world(o, "spheres_125.yaml", NULL, &scene, error);
    if (!w) return MOR_BAD_INPUT;
    char part[4200];
    snprintf(part, sizeof part, "%s.part.h5", path);
    remove(part);
    mor_bpmd_recorder* r = mor_bpmd_record(part, w, scene, STEPS / SAMPLES, error);
    mor_code code = r ? MOR_OK : MOR_SYSTEM;
    for (int k = 0; k < steps_of(o) && !code; k++) {
        mor_step_report report;
        code = mor_world_step(w, &report, error);
        if (!code && report.status != MOR_SOLVED)
            code = mor_fail(error, MOR_BAD_INPUT, "spheres_125: step %d: %s", k + 1, report.detail);
    }
    mor_code closed = mor_bpmd_close(r, code ? NULL : error);
    if (!code) code = closed;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    if (!code) code = mor_output_replace(part, path, path, error);
    if (code) remove(part);
    return code;
}

/* Gaps and velocities of the frame exactly zero; what forces add in the step stays. */
static void make_still(mor_bpmd_frame* frame)
{
    for (int i = 0; i < frame->contact_count; i++) frame->contacts[i].gap = 0.0;
    for (int i = 0; i < frame->body_count; i++) {
        mor_bpmd_body* b = &frame->bodies[i];
        const double before[6] = { b->v.x, b->v.y, b->v.z, b->w.x, b->w.y, b->w.z };
        for (int k = 0; k < 6; k++) b->free[k] -= before[k];
        b->v = b->w = b->L = (mor_vec3){ 0 };
    }
}

/* The LCP of the frame from zero, followed iteration by iteration. */
static bool solve_frame(const mor_bpmd_frame* frame, mor_trace* trace)
{
    mor_error error = { 0 };
    bool solved = false, none = false;
    mor_arena* arena = mor_arena_create(NULL);
    mor_world* w = arena ? mor_bpmd_world(frame, NULL, NULL, &error) : NULL;
    if (w && w->last->island_count) {
        const mor_system* system = &w->last->islands[0].system;
        double* bias = mor_arena_alloc(arena, (size_t)system->row_count * sizeof *bias);
        mor_conversion mlcp, lcp;
        if (bias) mor_bias_stewart_trinkle(system, bias);
        mor_problem step =
            bias ? mor_system_problem(system, system->directions, bias, arena, NULL) : (mor_problem){ 0 };
        if (step.size && !mor_convert(&step, MOR_MLCP, &mlcp, &none, arena, &error) &&
            !mor_convert(&mlcp.to, MOR_LCP, &lcp, &none, arena, &error)) {
            double* z = mor_arena_zero(arena, (size_t)lcp.to.size, sizeof *z);
            mor_solve_options options = { .tol = 1e-12, .trace = trace };
            const mor_solver* solver = mor_library_solver(NULL, "fischer-newton");
            solved = z && mor_solve(solver, NULL, &lcp.to, &options, z, arena).status == MOR_SOLVED;
            mor_conversion_destroy(&lcp);
            mor_conversion_destroy(&mlcp);
        }
    }
    mor_world_destroy(w);
    mor_arena_destroy(arena);
    return solved;
}

/* One sample: its frame as it is, and without rounding. */
static void follow(void* user, int index, int worker)
{
    (void)worker;
    job* j = user;
    sample* s = &j->samples[index];
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(j->file.text, &error);
    mor_bpmd_frame frame = { 0 };
    if (file && !mor_bpmd_read(file, index, &frame, &error)) {
        mor_trace trace = { 0 }, still = { 0 };
        for (int i = 0; i < frame.contact_count; i++) s->gap = fmax(s->gap, fabs(frame.contacts[i].gap) / frame.h);
        s->solved = solve_frame(&frame, &trace);
        for (int k = 0; k < trace.count && s->count < MOST; k++)
            s->iteration[s->count] = trace.lines[k].iteration, s->merit[s->count++] = trace.lines[k].residual.natural;
        make_still(&frame);
        s->still_solved = solve_frame(&frame, &still);
        s->still = still.count ? still.lines[still.count - 1].iteration : 0;
        mor_trace_free(&trace);
        mor_trace_free(&still);
    }
    mor_bpmd_frame_clear(&frame);
    mor_bpmd_free(file);
}

static mor_code draw(const mor_reproduce* o, const sample* samples, mor_error* error)
{
    mor_figure figure = { .x_label = "iteration" };
    snprintf(figure.title, sizeof figure.title, "Fischer-Newton on 125 spheres, %d samples of %d steps", samples_of(o),
             steps_of(o));
    mor_panel* panel = mor_figure_panel(&figure, "natural merit 1/2 |min(z, w)|^2", "");
    bool good = panel;
    if (panel) panel->log = true;
    for (int i = 0; i < samples_of(o) && good; i++)
        good = mor_panel_curve(panel, "", 0, 0, samples[i].iteration, samples[i].merit, samples[i].count);
    mor_code code = good
                        ? mor_figure_write(&figure, mor_reproduce_path(o, "figure-spheres/convergence.svg").text, error)
                        : mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_figure_clear(&figure);
    return code;
}

/* The first iteration at which |min(z, w)| is below `limit`. */
static double first_below(const sample* s, double limit)
{
    for (int k = 0; k < s->count; k++)
        if (2.0 * s->merit[k] < limit * limit) return s->iteration[k];
    return s->count ? s->iteration[s->count - 1] : 0.0;
}

static mor_code tell(const mor_reproduce* o, const sample* samples, mor_error* error)
{
    mor_path csv = mor_reproduce_path(o, "figure-spheres/convergence.csv");
    FILE* out = mor_reproduce_open(csv.text);
    if (!out) return mor_fail(error, MOR_SYSTEM, "cannot write %s", csv.text);
    fprintf(out, "sample,iteration,natural_merit\n");
    double rates[SAMPLES], iterations[SAMPLES], early[SAMPLES], still[SAMPLES], gap = 0.0, least = 1e9, most = 0.0;
    int solved = 0, still_solved = 0, measured = 0;
    for (int i = 0; i < samples_of(o); i++) {
        const sample* s = &samples[i];
        solved += s->solved;
        iterations[i] = s->count ? s->iteration[s->count - 1] : 0;
        early[i] = first_below(s, 1e-8);
        gap = fmax(gap, s->gap);
        still_solved += s->still_solved, still[i] = s->still;
        least = fmin(least, still[i]), most = fmax(most, still[i]);
        for (int k = 0; k < s->count; k++) fprintf(out, "%d,%g,%.9e\n", i + 1, s->iteration[k], s->merit[k]);
        /* orders of magnitude of |min(z, w)| per iteration until it is below 1e-8: then gaps of rounding tell */
        int last = 0;
        while (last < s->count - 1 && 2.0 * s->merit[last] >= 1e-16) last++;
        if (last > 0)
            rates[measured++] = 0.5 * log10(s->merit[0] / s->merit[last]) / (s->iteration[last] - s->iteration[0]);
    }
    mor_code code = mor_reproduce_close(out, csv.text, error);
    if (code) return code;
    double rate = mor_median(rates, measured), median = mor_median(iterations, samples_of(o));
    mor_fragment f;
    if (!mor_fragment_begin(&f, o, "spheres", "125 spheres: convergence of Fischer-Newton (RPIsim paper, Fig. 9)"))
        return mor_fail(error, MOR_SYSTEM, "cannot write into %s", o->directory);
    mor_fragment_claim(
        &f, "fifty samples of the natural merit over 400 steps", solved == samples_of(o),
        "%d of %d samples converge to 1e-12, in %g iterations (median); |min(z, w)| is below 1e-8 after %g", solved,
        samples_of(o), median, mor_median(early, samples_of(o)));
    mor_fragment_claim(
        &f, "linear convergence", rate > 0.3,
        "at least linear: |min(z, w)| falls by %.2g orders of magnitude per iteration (median), faster towards the end",
        rate);
    mor_fragment_text(
        &f,
        "LCP of Stewart and Trinkle's step with four friction directions, 1950 unknowns, from zero. "
        "Frames: figure-spheres/frames.h5 (BPMD), data: figure-spheres/convergence.csv.</p>\n<p>"
        "The spheres rest to rounding only: gaps of the samples are up to %.0e m/s times the step. "
        "Neighbours in a layer touch without force, so below that size rounding decides which of these "
        "contacts are open; curves rise while the method looks for that set. With gaps and velocities set to "
        "exactly zero %d of %d samples converge to 1e-12, in %g iterations (median; %g to %g).",
        gap, still_solved, samples_of(o), mor_median(still, samples_of(o)), least, most);
    mor_fragment_picture(&f, "figure-spheres/convergence.svg",
                         "Natural merit against the iteration, one curve for each sample.");
    return mor_fragment_end(&f, error);
}

mor_code mor_reproduce_spheres(const mor_reproduce* o, mor_error* error)
{
    job j = { .file = mor_reproduce_path(o, o->quick ? "figure-spheres/quick.h5" : "figure-spheres/frames.h5"),
              .samples = calloc(SAMPLES, sizeof *j.samples) };
    mor_code code = j.samples ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code && access(j.file.text, F_OK) != 0) code = record(o, j.file.text, error);
    if (!code) code = mor_reproduce_tasks(o, "spheres", samples_of(o), follow, &j, error);
    if (!code) code = draw(o, j.samples, error);
    if (!code) code = tell(o, j.samples, error);
    free(j.samples);
    return code;
}
