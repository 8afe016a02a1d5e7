/* moreau derivative: how the state after a step, or several, depends on the state before it and on inputs. */
#include "moreau/derivative.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "io/json/json.h"
#include "moreau/control.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 64 };

typedef struct arguments {
    const char* scene;
    mor_cli_sets sets;
    const char* words[MOST_INPUTS]; /* as the user wrote them */
    int count, steps, side;
    double at, smooth, time_limit;
    bool json;
} arguments;

static int take_scene(void* user, char* word)
{
    return mor_cli_one_scene("derivative", &((arguments*)user)->scene, word);
}

static int take_input(void* user, char* value)
{
    arguments* a = user;
    if (a->count == MOST_INPUTS) return mor_cli_usage("derivative", "more than %d inputs", MOST_INPUTS);
    a->words[a->count++] = value;
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--at", "T", "of the step that begins at this time, in seconds (0)", MOR_CLI_NUMBER, AT(at), .max = 1e9,
      .expected = "seconds" },
    { "--steps", "N", "of N steps together (1)", MOR_CLI_WHOLE, AT(steps), .min = 1, .max = 1e6,
      .expected = "a whole number from 1" },
    { "--input", "KIND:NAME",
      "beside the state: force:BODY.x, torque:BODY.x, joint:ROBOT.JOINT, friction:MATERIAL, "
      "restitution:MATERIAL, mass:BODY, size:BODY, gravity:x, kp:ROBOT.JOINT, ki:, kd:, target:; may be repeated",
      MOR_CLI_CALL, .take = take_input },
    { "--side", "NAME",
      "at an edge between two states of contacts: the derivative along each direction or against it (both)",
      MOR_CLI_CHOICE, AT(side), .expected = "both|along|against" },
    { "--smooth", "V",
      "through switches: of a step whose contact law is smoothed by V m/s, compared with the exact derivative",
      MOR_CLI_NUMBER, AT(smooth), .max = 1e3, .expected = "a speed in m/s" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { "--json", NULL, "one JSON document with the whole matrix on standard output", MOR_CLI_FLAG, AT(json) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "derivative",
    .usage = "SCENE [options]",
    .about =
        "The derivative of the state after a step by the state before it and by inputs, by the implicit function\n"
        "theorem, and what is known of it: how many contacts are open, stick and slide, how far the nearest change\n"
        "is, and whether there is a derivative at all (docs/methods/derivatives.md).\n",
    .options = options,
    .more = "Exit status: 0 there is a derivative, 1 there is none here, 2 bad usage or input, 3 the system failed.\n",
    .operand = take_scene,
};

/* The largest difference of two derivatives of one step, relative to the larger of 1 and the exact one. */
static double apart(const mor_derivative* d, const mor_derivative* exact)
{
    double off = 0.0, size = 1.0;
    for (int i = 0; i < d->rows * d->columns; i++) {
        off = fmax(off, fabs(d->matrix[i] - exact->matrix[i]));
        size = fmax(size, fabs(exact->matrix[i]));
    }
    return off / size;
}

static void print_json(const arguments* a, const mor_derivative* d, const mor_derivative* exact)
{
    mor_json json = mor_json_begin(stdout);
    mor_json_object(&json, NULL);
    mor_json_bool(&json, "differentiable", d->differentiable);
    mor_json_text(&json, "why", d->why);
    mor_json_bool(&json, "unique", d->unique);
    mor_json_object(&json, "contacts");
    mor_json_number(&json, "open", d->open);
    mor_json_number(&json, "stick", d->sticking);
    mor_json_number(&json, "slide", d->sliding);
    mor_json_number(&json, "weak", d->weak);
    mor_json_end(&json);
    if (isfinite(d->distance)) mor_json_number(&json, "distance", d->distance);
    mor_json_number(&json, "residual", d->residual);
    mor_json_bool(&json, "differences", d->differences);
    mor_json_bool(&json, "forces_held", d->forces_held);
    if (exact) {
        mor_json_object(&json, "smoothing");
        mor_json_number(&json, "speed", a->smooth);
        mor_json_number(&json, "velocities_off", d->smoothed);
        mor_json_number(&json, "derivative_off", apart(d, exact));
        mor_json_bool(&json, "exact_differentiable", exact->differentiable);
        mor_json_end(&json);
    }
    mor_json_list(&json, "inputs");
    for (int i = 0; i < a->count; i++) mor_json_text(&json, NULL, a->words[i]);
    mor_json_end(&json);
    mor_json_list(&json, "matrix");
    for (int i = 0; i < d->rows; i++) {
        mor_json_list(&json, NULL);
        for (int j = 0; j < d->columns; j++)
            mor_json_number(&json, NULL, d->matrix[(size_t)i * (size_t)d->columns + (size_t)j]);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_end(&json);
    mor_json_finish(&json);
}

/* The largest change of a position and of a velocity by each input. */
static void print_text(const arguments* a, const mor_derivative* d, const mor_derivative* exact, const mor_world* w)
{
    printf("%d x %d derivative: %d positions and %d velocities by the same and %d input(s), at t = %g s\n", d->rows,
           d->columns, d->rows / 2, d->rows / 2, a->count, mor_world_time(w));
    printf("  contacts: %d open, %d stick, %d slide, %d on an edge", d->open, d->sticking, d->sliding, d->weak);
    if (isfinite(d->distance)) printf("; the nearest change is %.3g m/s away", d->distance);
    putchar('\n');
    if (!d->differentiable) printf("  not differentiable here: %s\n", d->why);
    if (d->differences)
        puts("  by differences of the step: it has an impact, exact geometry, or joints that were solved for again");
    if (d->forces_held) puts("  forces that follow the state (at, frame: body, MJCF) are taken as constant");
    if (exact)
        printf("  smoothed by %g m/s: velocities are off by up to %.3g, the derivative by up to %.3g of the exact "
               "one%s\n",
               a->smooth, d->smoothed, apart(d, exact),
               exact->differentiable ? "" : ", which does not exist here (one side of it is compared)");
    if (!d->unique) puts("  not unique: sliding contacts share their load in more than one way");
    for (int k = 0; k < a->count; k++) {
        double most[2] = { 0.0, 0.0 };
        for (int i = 0; i < d->rows; i++) {
            double* m = &most[i >= d->rows / 2];
            *m = fmax(*m, fabs(d->matrix[(size_t)i * (size_t)d->columns + (size_t)(d->rows + k)]));
        }
        printf("  %-24s moves a position by at most %.4g and a velocity by at most %.4g per unit\n", a->words[k],
               most[0], most[1]);
    }
}

static int derive(const arguments* a, mor_world* w)
{
    mor_input inputs[MOST_INPUTS];
    mor_error error = { 0 };
    mor_derivative *d = NULL, *exact = NULL;
    int status = 0;
    for (int i = 0; i < a->count && !status; i++) status = mor_cli_read_input("derivative", w, a->words[i], &inputs[i]);
    if (status) return status;
    while (mor_world_time(w) < a->at - 0.5 * mor_world_get_step(w))
        if (mor_world_step(w, NULL, &error) != MOR_OK) return mor_cli_fail(&error);
    int side = a->side == 2 ? -1 : a->side;
    if ((side || a->smooth > 0.0) && a->steps != 1)
        return mor_cli_usage("derivative", "--side and --smooth are for one step");
    if (side && a->smooth > 0.0) return mor_cli_usage("derivative", "--side or --smooth, not both");
    mor_code code = a->steps == 1 ? mor_world_derivative_sided(w, inputs, a->count, side, &d, &error)
                                  : mor_world_derivatives(w, a->steps, inputs, a->count, &d, &error);
    if (!code && a->smooth > 0.0) {
        exact = d, d = NULL;
        code = mor_world_derivative_smoothed(w, inputs, a->count, a->smooth, &d, &error);
    }
    if (!code && a->json) print_json(a, d, exact);
    else if (!code) print_text(a, d, exact, w);
    status = code ? mor_cli_fail(&error) : !d->differentiable;
    mor_derivative_destroy(exact);
    mor_derivative_destroy(d);
    return status;
}

int mor_cli_derivative(int argc, char** argv)
{
    arguments a = { .steps = 1 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("derivative", "which scene?");
    mor_cli_end_after("derivative", a.time_limit);
    mor_error error = { 0 };
    char path[4096];
    mor_scene* scene =
        mor_scene_load(mor_cli_scene_path(a.scene, path, sizeof path), a.sets.items, mor_cli_library(), &error);
    if (!scene) return mor_cli_no_scene(a.scene, &error);
    mor_world* w = mor_scene_build(scene, 1, &error);
    status = w ? derive(&a, w) : mor_cli_fail(&error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return status;
}
