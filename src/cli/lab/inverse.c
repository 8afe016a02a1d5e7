/* moreau inverse: contact impulses and unknown forces from a motion. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/json/json.h"
#include "io/text/output.h"
#include "lab/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct arguments {
    mor_inversion_request request;
    mor_observed_options observed;
    mor_cli_sets sets;
    const char *scene, *motion, *csv;
    mor_fit_value fits[MOR_FIT_VALUES];
    int law, fit_count;
    double before, after, time_limit;
    int iterations;
    bool json, quiet;
} arguments;

static int take_scene(void* user, char* word) { return mor_cli_one_scene("inverse", &((arguments*)user)->scene, word); }

static int take_fit(void* user, char* value)
{
    arguments* a = user;
    char* equals = strrchr(value, '=');
    double start;
    if (a->fit_count == MOR_FIT_VALUES) return mor_cli_usage("inverse", "more than %d values to fit", MOR_FIT_VALUES);
    if (!equals || equals == value || !mor_cli_number(equals + 1, &start))
        return mor_cli_usage("inverse", "--fit %s: expected PATH=START, as materials.cube.friction=0.2", value);
    *equals = '\0';
    a->fits[a->fit_count++] = (mor_fit_value){ .path = value, .start = start };
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--motion", "FILE", "a recording, or a table (CSV, HDF5) with columns NAME.x ... as moreau run --csv writes",
      MOR_CLI_TEXT, AT(motion), .reads = true },
    { "--law", "NAME",
      "of contact: convex, whose impulses are a function of the motion; exact, Coulomb's cone, whose impulses may not "
      "be unique; scene (default): convex if that is its formulation, else exact",
      MOR_CLI_CHOICE, AT(law), .expected = "scene|convex|exact" },
    { "--regularisation", "R", "of the convex law; default: the scene's if that is convex, else 1e-6", MOR_CLI_NUMBER,
      AT(request.options.regularisation), .min = 1e-12, .max = 1e3, .expected = "a number from 1e-12" },
    { "--slip", "SPEED", "exact law: slower contacts stick or are closed, in m/s (1e-8; measured motion: its noise)",
      MOR_CLI_NUMBER, AT(request.options.slip), .max = 1e3, .expected = "metres per second" },
    { "--fit", "PATH=START",
      "a value of the scene, found by least squares so that the unknown forces are least; may be repeated (exact law)",
      MOR_CLI_CALL, .take = take_fit },
    { "--poses", NULL, "velocities are differences of poses, even if the file has them", MOR_CLI_FLAG,
      AT(request.poses) },
    { "--check", NULL, "take every step forward again with the forces that were found, and compare", MOR_CLI_FLAG,
      AT(request.check) },
    { .name = "", .help = "tables:" },
    { "--columns", "NAMES", "of the one body that moves: x,y,z,qw,qx,qy,qz or, in 2-D, x,y,angle", MOR_CLI_TEXT,
      AT(observed.columns) },
    { "--time-column", "NAME", "seconds; default: time, t or t_s", MOR_CLI_TEXT, AT(observed.time) },
    { "--rows", "COLUMN=VALUE", "only rows with this value", MOR_CLI_TEXT, AT(observed.rows) },
    { .name = "", .help = "scene and output:" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--csv", "FILE.csv", "forces and impulses of every step", MOR_CLI_TEXT, AT(csv), .writes = true },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--quiet", NULL, "only the sentence", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "inverse",
    .usage = "SCENE --motion FILE [options]",
    .about = "Inverse dynamics with contact: the impulses of contacts and joints, and the forces that nobody told the\n"
             "scene of, from a motion. Values of the scene are fitted to it without simulating.\n",
    .options = options,
    .more = "docs/inverse.md says what is inverted, and what is unique.\n",
    .operand = take_scene,
};

static bool stop(void* user)
{
    (void)user;
    return mor_cli_signal() != 0;
}

/* -------------------------------------------------------------------------------------- output */

static void write_csv(const mor_inversion* x, const mor_world* w, FILE* out)
{
    fprintf(out, "time,step,contacts,normal_impulse");
    for (int i = 0; i < x->count; i++) {
        char label[160];
        mor_inversion_label(w, i, label, sizeof label);
        for (char* c = label; *c; c++) *c = *c == ' ' ? '_' : *c == ',' ? ';' : *c;
        fprintf(out, ",%s", label);
    }
    for (int k = 0; k < x->steps; k++) {
        fprintf(out, "\n%.17g,%.17g,%d,%.17g", x->time[k], x->h[k], x->contacts[k], x->normal[k]);
        for (int i = 0; i < x->count; i++) fprintf(out, ",%.17g", x->force[(size_t)k * (size_t)x->count + (size_t)i]);
    }
    fputc('\n', out);
}

/* Are velocities of joints corrected after a step? */
static bool corrected(const mor_world* w)
{
    const char* how = mor_world_method(w, "stabilisation");
    return mor_world_joint_count(w) > 0 && (strcmp(how, "impulse") == 0 || strcmp(how, "projection") == 0);
}

static void write_json(const arguments* a, const mor_inversion* x, const mor_observed* m, const mor_world* w)
{
    mor_json j = mor_json_begin(stdout);
    char label[160];
    mor_json_object(&j, NULL);
    mor_json_text(&j, "scene", a->scene);
    mor_json_text(&j, "law", a->law ? "exact" : "convex");
    mor_json_text(&j, "velocities", m->velocities && !a->request.poses ? "of the file" : "differences of poses");
    mor_json_integer(&j, "steps", x->steps);
    mor_json_integer(&j, "samples_missing", m->dropped);
    mor_json_number(&j, "rms_change", x->rms_change);
    mor_json_number(&j, "largest_change", x->largest_change);
    mor_json_number(&j, "largest_time", x->steps ? x->time[x->largest_step] : NAN);
    mor_inversion_label(w, x->largest_number, label, sizeof label);
    mor_json_text(&j, "largest_of", label);
    mor_json_integer(&j, "steps_not_unique", x->shared);
    mor_json_integer(&j, "impacts", x->bounces);
    mor_json_bool(&j, "joints_corrected", corrected(w));
    mor_json_number(&j, "left", x->left);
    if (a->request.check) {
        mor_json_number(&j, "forward_difference", x->forward);
        mor_json_integer(&j, "forward_unsolved", x->unsolved);
    }
    mor_json_list(&j, "forces");
    for (int i = 0; i < x->count; i++) {
        double sum = 0.0, most = 0.0;
        for (int k = 0; k < x->steps; k++) {
            double f = x->force[(size_t)k * (size_t)x->count + (size_t)i];
            sum += f * f, most = fmax(most, fabs(f));
        }
        mor_inversion_label(w, i, label, sizeof label);
        mor_json_object(&j, NULL);
        mor_json_text(&j, "name", label);
        mor_json_number(&j, "rms", sqrt(sum / fmax(x->steps, 1)));
        mor_json_number(&j, "largest", most);
        mor_json_end(&j);
    }
    mor_json_end(&j);
    mor_json_list(&j, "fitted");
    for (int i = 0; i < a->fit_count; i++) {
        const mor_fit_value* v = &a->fits[i];
        mor_json_object(&j, NULL);
        mor_json_text(&j, "path", v->path);
        mor_json_number(&j, "start", v->start);
        mor_json_number(&j, "value", v->value);
        mor_json_number(&j, "standard_error", v->error);
        mor_json_bool(&j, "identified", v->identified);
        mor_json_text(&j, "why", v->why);
        mor_json_end(&j);
    }
    mor_json_end(&j);
    mor_json_end(&j);
    mor_json_finish(&j);
}

static void print_fit(const arguments* a)
{
    if (a->fit_count == 0) return;
    printf("fitted in %d iterations, residual %.4g -> %.4g sqrt(J):\n", a->iterations, a->before, a->after);
    for (int i = 0; i < a->fit_count; i++) {
        const mor_fit_value* v = &a->fits[i];
        printf("  %-36s %.8g -> %.8g +- %.2g%s%s\n", v->path, v->start, v->value, v->error,
               v->identified ? "" : "   cannot be identified: ", v->why);
    }
}

static void print_report(const arguments* a, const mor_inversion* x, const mor_observed* m, const mor_world* w)
{
    char label[160];
    mor_inversion_label(w, x->largest_number, label, sizeof label);
    if (!a->quiet) {
        printf("%s: %d steps, %s law, velocities %s", a->scene, x->steps, a->law ? "exact" : "convex",
               m->velocities && !a->request.poses ? "of the file" : "from differences of poses");
        if (m->dropped) printf(", %d samples with missing numbers left out", m->dropped);
        putchar('\n');
        print_fit(a);
        printf("  %-28s %14s %14s\n", "unknown force", "rms", "largest");
        for (int i = 0; i < x->count && i < 60; i++) {
            char name[160];
            double sum = 0.0, most = 0.0;
            for (int k = 0; k < x->steps; k++) {
                double f = x->force[(size_t)k * (size_t)x->count + (size_t)i];
                sum += f * f, most = fmax(most, fabs(f));
            }
            mor_inversion_label(w, i, name, sizeof name);
            printf("  %-28s %14.6g %14.6g\n", name, sqrt(sum / fmax(x->steps, 1)), most);
        }
        if (x->shared)
            printf(
                "  in %d of %d steps contacts share their load in more than one way: forces are unique, impulses are "
                "not\n",
                x->shared, x->steps);
        if (x->bounces) printf("  %d impacts with restitution: impulses within the cone that fit best\n", x->bounces);
        if (corrected(w))
            printf("  velocities of joints are corrected after each step (method.stabilisation: %s): in a motion that "
                   "was\n  simulated so, this shows as forces; in one of baumgarte or none it does not\n",
                   mor_world_method(w, "stabilisation"));
        if (a->request.check)
            printf("  forward again: velocities differ by at most %.3g, %d steps not solved\n", x->forward,
                   x->unsolved);
    }
    printf("Unknown forces change a velocity by at most %.3g in a step (%s, at %.4g s), %.3g rms.\n", x->largest_change,
           label, x->steps ? x->time[x->largest_step] : 0.0, x->rms_change);
}

/* -------------------------------------------------------------------------------------- the command */

/* What is left unexplained, in weights: far more than one says that units or axes are wrong; and what is left of noise
 * or of samples that are missing goes into fitted values, by more than their standard errors know. */
static void look_at_rest(const arguments* a, const mor_inversion* x, const mor_world* w)
{
    const double much = 5.0, some = 0.01;
    double weight = 0.0;
    for (int k = 0; k < x->steps; k++) weight += mor_norm(mor_world_gravity(w)) * x->h[k] / x->steps;
    if (a->quiet || !(weight > 0.0) || x->rms_change <= some * weight) return;
    if (x->rms_change > much * weight)
        fprintf(stderr,
                "moreau inverse: note: %s: what is left unexplained is %.0f times the weight: are units, axes and the "
                "order of columns right?\n",
                a->motion, x->rms_change / weight);
    else if (a->fit_count)
        fprintf(stderr,
                "moreau inverse: note: %s: %.0f %% of the weight is left unexplained, and goes into the fitted values "
                "too: they may be further off than their standard errors; `moreau calibrate` compares whole paths\n",
                a->motion, 100.0 * x->rms_change / weight);
}

/* Times in milliseconds make steps of seconds. */
static void look_at_times(const arguments* a, const mor_observed* m, double step)
{
    enum { MANY = 100 };
    double apart = (m->time[m->frames - 1] - m->time[0]) / (m->frames - 1);
    if (apart > MANY * step && !a->quiet)
        fprintf(stderr,
                "moreau inverse: note: %s: samples are %g s apart, %.0f steps of the scene: are the times in "
                "seconds?\n",
                a->motion, apart, apart / step);
}

static int work(arguments* a, const mor_observed* m, const mor_world* w)
{
    mor_error error = { 0 };
    mor_inversion x = { 0 };
    char text[MOR_FIT_VALUES][256];
    mor_code code = MOR_OK;
    if (a->fit_count)
        code = mor_inversion_fit(&a->request, m, a->fits, a->fit_count, &a->before, &a->after, &a->iterations, &error);
    if (code) return mor_cli_signal() ? mor_cli_stopped("inverse") : mor_cli_fail(&error);
    for (int i = 0; i < a->fit_count; i++) { /* what is told below is of the fitted values */
        if (a->sets.count >= MOR_CLI_MOST_SETS) return mor_cli_usage("inverse", "too many values are set");
        snprintf(text[i], sizeof text[i], "%s=%.17g", a->fits[i].path, a->fits[i].value);
        a->sets.items[a->sets.count++] = text[i];
        a->sets.items[a->sets.count] = NULL;
    }
    if (mor_inversion_make(&x, &a->request, m, &error)) return mor_cli_fail(&error);
    int status = x.stopped ? mor_cli_stopped("inverse") : 0;
    if (!status && a->csv) {
        FILE* out = mor_output_open(a->csv, &error);
        if (out) write_csv(&x, w, out);
        if (!out || mor_output_close(out, a->csv, true, &error)) status = mor_cli_fail(&error);
    }
    if (!status && a->json) write_json(a, &x, m, w);
    else if (!status) print_report(a, &x, m, w);
    if (!status) look_at_rest(a, &x, w);
    mor_inversion_free(&x);
    return status;
}

int mor_cli_inverse(int argc, char** argv)
{
    static arguments a;
    a.request.options = mor_inverse_options_default();
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("inverse", "which scene?");
    if (!a.motion) return mor_cli_usage("inverse", "which motion? --motion FILE");
    mor_error error = { 0 };
    char path[4096];
    a.request.scene = mor_cli_scene_path(a.scene, path, sizeof path);
    a.request.set = a.sets.items;
    a.request.library = mor_cli_library();
    a.request.stop = stop;
    mor_scene* scene = mor_scene_load(a.request.scene, a.sets.items, mor_cli_library(), &error);
    if (!scene) return mor_cli_no_scene(a.scene, &error);
    mor_cli_catch_signals(a.time_limit);
    mor_observed motion = { 0 };
    mor_world* w = mor_scene_build(scene, 1, &error);
    bool convex =
        a.law == 1 || (a.law == 0 && !a.fit_count && w && strcmp(mor_world_method(w, "formulation"), "convex") == 0);
    if (w && !convex && a.request.options.regularisation != mor_inverse_options_default().regularisation)
        status =
            mor_cli_usage("inverse", "--regularisation is of the convex law; this is the exact one (--law convex)");
    if (w && convex && a.request.options.slip != mor_inverse_options_default().slip)
        status = mor_cli_usage("inverse", "--slip is of the exact law; this is the convex one (--law exact)");
    a.request.options.law = convex ? MOR_INVERSE_CONVEX : MOR_INVERSE_EXACT;
    a.law = !convex;
    if (status) {
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        return status;
    }
    if (!w || mor_observed_read(&motion, a.motion, w, &a.observed, &error)) status = mor_cli_fail(&error);
    else look_at_times(&a, &motion, mor_world_get_step(w)), status = work(&a, &motion, w);
    mor_observed_free(&motion);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return status;
}
