/* moreau landscape: what a number does to the motion, as a picture: a value and its derivative over a range of it, or a
 * band of sensitivity along the motion. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "cli/words.h"
#include "moreau/optimise.h"
#include "moreau/state.h"
#include "plot/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    const char *scene, *vary, *band, *of, *output, *title;
    mor_cli_sets sets;
    double end, smooth;
    int points;
} arguments;

static int take_scene(void* user, char* word)
{
    return mor_cli_one_scene("landscape", &((arguments*)user)->scene, word);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--vary", "KIND:NAME=FROM..TO",
      "over a range of an initial state or a constant force, as in moreau optimise: velocity:puck.x=-1..1, "
      "force:box.x=0..5",
      MOR_CLI_TEXT, AT(vary) },
    { "--band", "KIND:NAME=SPREAD",
      "or along the motion: what a change of an input by SPREAD does, as in moreau derivative: friction:ice=0.02, "
      "mass:box=0.1",
      MOR_CLI_TEXT, AT(band) },
    { "--of", "KIND:NAME",
      "the value: position:BODY.x, velocity:BODY.x, spin:BODY.x, joint:ROBOT.JOINT, speed:", MOR_CLI_TEXT, AT(of) },
    { "--end", "T", "when it is looked at, in seconds (with --vary one step; with --band the end of the scene)",
      MOR_CLI_NUMBER, AT(end), .max = 1e9, .expected = "seconds" },
    { "--points", "N", "of the range (201)", MOR_CLI_WHOLE, AT(points), .min = 5, .max = 100000,
      .expected = "a whole number from 5" },
    { "--smooth", "V", "also the slope of one step with a contact law smoothed by V m/s (velocities only)",
      MOR_CLI_NUMBER, AT(smooth), .max = 1e3, .expected = "a speed in m/s" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    { "--title", "TEXT", "above the figure (the scene)", MOR_CLI_TEXT, AT(title) },
    { "--output", "FILE.svg|.pdf|.png", "the figure (landscape.svg)", MOR_CLI_TEXT, AT(output), .alias = "-o",
      .writes = true },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "landscape",
    .usage = "SCENE --vary KIND:NAME=FROM..TO|--band KIND:NAME=SPREAD --of KIND:NAME [options]",
    .about =
        "Draws a value of the motion and its exact derivative over a range of a number, beside differences of the\n"
        "values, with gaps where there is no derivative; or a value along the motion with the band in which it\n"
        "lies when an input is off by a spread, to first order (docs/methods/derivatives.md).\n",
    .options = options,
    .more = "Example: moreau landscape puck --band friction:ice=0.02 --of position:puck.x -o band.svg\n"
            "Exit status: 0, 2 bad usage or input, 3 the system failed.\n",
    .operand = take_scene,
};

/* NAME=REST: the name, and where the rest begins; NULL: there is no '='. */
static const char* split_value(const char* word, char* name, size_t size)
{
    const char* at = word ? strrchr(word, '=') : NULL;
    if (!at) return NULL;
    snprintf(name, size, "%.*s", (int)(at - word), word);
    return at + 1;
}

/* FROM..TO */
static bool read_range(const char* text, double* from, double* to)
{
    char first[64];
    const char* dots = strstr(text, "..");
    if (!dots || (size_t)(dots - text) >= sizeof first) return false;
    snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    return mor_cli_number(first, from) && mor_cli_number(dots + 2, to) && *from < *to;
}

static int read_of(const arguments* a, const mor_world* w, mor_goal* of)
{
    char text[256];
    if (!a->of) return mor_cli_usage("landscape", "--of which value?");
    snprintf(text, sizeof text, "%.240s=0", a->of);
    return mor_cli_read_goal("landscape", w, text, of);
}

static int write_figure(const arguments* a, mor_figure* figure)
{
    mor_error error = { 0 };
    const char* output = a->output ? a->output : "landscape.svg";
    if (mor_figure_write(figure, output, &error)) return mor_cli_fail(&error);
    printf("%s\n", output);
    return 0;
}

/* --------------------------------------------------------------------------------------- over a range */

typedef struct range {
    mor_unknown unknown;
    mor_goal of;
    int steps, count;
    double *x, *value, *slope, *difference, *smooth;
} range;

/* Where the position of a number of a body's nu is in q; -1: it is none of a body, or a rotation. */
static int place(const mor_world* w, int number)
{
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        mor_span s = mor_body_span(w, id);
        if (number < s.nu || number >= s.nu + s.nu_count) continue;
        return s.q_count != s.nu_count && number - s.nu >= 3 ? -1 : s.q + number - s.nu;
    }
    return -1;
}

/* The slope of the smoothed step with the unknown at x; the world is put back. */
static mor_code smooth_slope(mor_world* w, const range* r, double x, double k, double* slope, mor_error* error)
{
    int n = mor_world_nu_count(w), Q = mor_world_q_count(w), at = r->unknown.number;
    size_t size = mor_world_save(w, NULL, 0);
    void* start = malloc(size);
    double* room = malloc((size_t)(n + Q + 1) * sizeof *room);
    mor_derivative* d = NULL;
    mor_code code = start && room ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) mor_world_save(w, start, size);
    mor_unknown u = r->unknown;
    const mor_input* in = u.kind == MOR_UNKNOWN_INPUT ? &u.input : NULL;
    if (!code && u.kind == MOR_UNKNOWN_VELOCITY) {
        mor_world_get_nu(w, room, n, NULL);
        room[at] = x;
        code = mor_world_set_nu(w, room, n, error);
    } else if (!code && u.kind == MOR_UNKNOWN_POSITION && place(w, at) >= 0) {
        mor_world_get_q(w, room, Q, NULL);
        room[place(w, at)] = x;
        code = mor_world_set_q(w, room, Q, error);
    } else if (!code && u.kind == MOR_UNKNOWN_INPUT && u.input.kind == MOR_INPUT_FORCE) {
        double f[6] = { 0 };
        f[u.input.component] = x;
        mor_body_id id = mor_world_body(w, u.input.index);
        mor_body_apply(w, id, mor_v3(f[0], f[1], f[2]), mor_body_get_state(w, id).com);
        mor_body_apply_torque(w, id, mor_v3(f[3], f[4], f[5]));
    } else if (!code) code = mor_fail(error, MOR_BAD_INPUT, "--smooth: only for states and forces on bodies");
    if (!code) code = mor_world_derivative_smoothed(w, in, in ? 1 : 0, k, &d, error);
    int column = !d ? 0 : in ? d->rows : u.kind == MOR_UNKNOWN_VELOCITY ? n + at : at;
    if (!code) *slope = d->matrix[(size_t)(r->of.number + (r->of.velocity ? n : 0)) * (size_t)d->columns + column];
    mor_derivative_destroy(d);
    if (start && size) {
        mor_error ignored;
        mor_world_restore(w, start, size, code ? &ignored : error);
    }
    free(room);
    free(start);
    return code;
}

static mor_code fill_range(const arguments* a, mor_world* w, range* r, double from, double to, int* rough,
                           mor_error* error)
{
    mor_code code = MOR_OK;
    *rough = 0;
    for (int i = 0; i < r->count && !code; i++) {
        int unknown = 0;
        r->x[i] = from + (to - from) * i / (r->count - 1);
        code = mor_world_residuals(w, r->steps, &r->unknown, 1, &r->x[i], &r->of, 1, &r->value[i], &r->slope[i],
                                   &unknown, error);
        if (!code && unknown) r->slope[i] = NAN, ++*rough;
        r->smooth[i] = NAN;
        if (!code && a->smooth > 0.0) code = smooth_slope(w, r, r->x[i], a->smooth, &r->smooth[i], error);
    }
    for (int i = 0; i < r->count; i++) {
        int low = i > 0 ? i - 1 : 0, high = i + 1 < r->count ? i + 1 : i;
        r->difference[i] = (r->value[high] - r->value[low]) / (r->x[high] - r->x[low]);
    }
    return code;
}

static int draw_range(const arguments* a, mor_world* w)
{
    char name[256], title[160];
    const char* rest = split_value(a->vary, name, sizeof name);
    double from, to;
    range r = { .count = a->points };
    if (!rest || !read_range(rest, &from, &to))
        return mor_cli_usage("landscape", "--vary %s: expected KIND:NAME=FROM..TO", a->vary);
    int status = mor_cli_read_unknown("landscape", w, name, &r.unknown), rough;
    if (!status) status = read_of(a, w, &r.of);
    r.steps = a->end > 0.0 ? (int)ceil(a->end / mor_world_get_step(w) - 1e-6) : 1;
    if (!status && a->smooth > 0.0 && (r.steps != 1 || !r.of.velocity))
        status = mor_cli_usage("landscape", "--smooth is for one step, and for velocities");
    if (status) return status;
    double* room = calloc(5 * (size_t)r.count, sizeof *room);
    mor_error error = { 0 };
    if (!room) return mor_fail(&error, MOR_SYSTEM, "out of memory"), mor_cli_fail(&error);
    r.x = room, r.value = room + r.count, r.slope = room + 2 * r.count;
    r.difference = room + 3 * r.count, r.smooth = room + 4 * r.count;
    if (fill_range(a, w, &r, from, to, &rough, &error)) status = mor_cli_fail(&error);
    static mor_figure figure;
    snprintf(figure.title, sizeof figure.title, "%s", a->title);
    snprintf(figure.x_label, sizeof figure.x_label, "%.60s", name);
    snprintf(title, sizeof title, "%.100s after %d step%s", a->of, r.steps, r.steps > 1 ? "s" : "");
    mor_panel* value = mor_figure_panel(&figure, title, "");
    mor_panel* slope = mor_figure_panel(&figure, "its derivative", "");
    if (!status) {
        mor_panel_curve(value, "value", 0, 0, r.x, r.value, r.count);
        mor_panel_curve(slope, "exact", 0, 0, r.x, r.slope, r.count);
        mor_panel_curve(slope, "differences of the values", 1, 1, r.x, r.difference, r.count);
        snprintf(title, sizeof title, "smoothed by %g m/s", a->smooth);
        if (a->smooth > 0.0) mor_panel_curve(slope, title, 2, 2, r.x, r.smooth, r.count);
        status = write_figure(a, &figure);
        printf("%d points, %d without a derivative\n", r.count, rough);
    }
    mor_figure_clear(&figure);
    free(room);
    return status;
}

/* ------------------------------------------------------------------------------------ along the motion */

typedef struct trail {
    int count;
    double *t, *value, *low, *high;
} trail;

/* Value and slope of every step; S (2 n) is the slope of the state by the input. */
static mor_code follow(mor_world* w, const mor_input* in, const mor_goal* of, double spread, trail* out, int* rough,
                       mor_error* error)
{
    int n = mor_world_nu_count(w), row = of->number + (of->velocity ? n : 0);
    double *S = calloc(4 * (size_t)n + 1, sizeof *S), *next = S ? S + 2 * n : NULL;
    const mor_unknown seen = { .kind = of->velocity ? MOR_UNKNOWN_VELOCITY : MOR_UNKNOWN_POSITION,
                               .number = of->number };
    mor_code code = S ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < out->count && !code; k++) {
        double is = 0.0, by = fabs(S[row]) * spread;
        code = mor_world_unknowns(w, &seen, 1, &is, error);
        out->t[k] = mor_world_time(w), out->value[k] = is, out->low[k] = is - by, out->high[k] = is + by;
        mor_derivative* d = NULL;
        if (!code) code = mor_world_derivative(w, in, 1, &d, error);
        if (code) break;
        *rough += !d->differentiable;
        for (int i = 0; i < 2 * n; i++) {
            const double* A = d->matrix + (size_t)i * (size_t)d->columns;
            next[i] = A[2 * n];
            for (int j = 0; j < 2 * n; j++) next[i] += A[j] * S[j];
        }
        memcpy(S, next, 2 * (size_t)n * sizeof *S);
        mor_derivative_destroy(d);
        code = mor_world_step(w, NULL, error);
    }
    free(S);
    return code;
}

static int draw_band(const arguments* a, const mor_scene* scene, mor_world* w)
{
    char name[256], title[160];
    const char* rest = split_value(a->band, name, sizeof name);
    double spread;
    mor_input in;
    mor_goal of;
    mor_error error = { 0 };
    if (!rest || !mor_cli_number(rest, &spread) || !(spread > 0.0))
        return mor_cli_usage("landscape", "--band %s: expected KIND:NAME=SPREAD", a->band);
    int status = mor_cli_read_input("landscape", w, name, &in), rough = 0;
    if (!status) status = read_of(a, w, &of);
    if (status) return status;
    double end = a->end > 0.0 ? a->end : mor_scene_end(scene);
    trail out = { .count = (int)ceil(end / mor_world_get_step(w) - 1e-6) + 1 };
    double* room = calloc(4 * (size_t)out.count, sizeof *room);
    if (!room) return mor_fail(&error, MOR_SYSTEM, "out of memory"), mor_cli_fail(&error);
    out.t = room, out.value = room + out.count, out.low = room + 2 * out.count, out.high = room + 3 * out.count;
    if (follow(w, &in, &of, spread, &out, &rough, &error)) status = mor_cli_fail(&error);
    static mor_figure figure;
    snprintf(figure.title, sizeof figure.title, "%s", a->title);
    snprintf(figure.x_label, sizeof figure.x_label, "time");
    snprintf(figure.x_unit, sizeof figure.x_unit, "s");
    mor_panel* panel = mor_figure_panel(&figure, a->of, "");
    if (!status) {
        snprintf(title, sizeof title, "%.100s off by %g", name, spread);
        mor_panel_curve(panel, "value", 0, 0, out.t, out.value, out.count);
        mor_panel_curve(panel, title, 1, 1, out.t, out.low, out.count);
        mor_panel_curve(panel, "", 1, 1, out.t, out.high, out.count);
        status = write_figure(a, &figure);
        int last = out.count - 1;
        printf("%s at t = %g s: %.6g, between %.6g and %.6g; %d of %d steps without a derivative\n", a->of, out.t[last],
               out.value[last], out.low[last], out.high[last], rough, out.count);
    }
    mor_figure_clear(&figure);
    free(room);
    return status;
}

int mor_cli_landscape(int argc, char** argv)
{
    static arguments a;
    a = (arguments){ .points = 201 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("landscape", "which scene?");
    if (!a.vary == !a.band) return mor_cli_usage("landscape", "--vary or --band");
    mor_error error = { 0 };
    char path[4096];
    mor_scene* scene =
        mor_scene_load(mor_cli_scene_path(a.scene, path, sizeof path), a.sets.items, mor_cli_library(), &error);
    if (!scene) return mor_cli_no_scene(a.scene, &error);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!a.title) a.title = mor_scene_name(scene);
    status = !w ? mor_cli_fail(&error) : a.vary ? draw_range(&a, w) : draw_band(&a, scene, w);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return status;
}
