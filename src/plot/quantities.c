/* Quantities by name: the table, and what a text like position:peg.z asks for. */
#include "plot/quantities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const mor_components[] = { "x", "y", "z", "wx", "wy", "wz", "norm", NULL };
const char* const mor_quaternion_components[] = { "w", "x", "y", "z", NULL };

static const mor_quantity quantities[] = {
    [POSITION] = { "position", "m", "position of the body frame", true },
    [ORIENTATION] = { "orientation", "", "quaternion of the body frame: w x y z (planar: angle)", true },
    [VELOCITY] = { "velocity", "m/s", "velocity of the centre of mass (wx wy wz: angular)", true },
    [ACCELERATION] = { "acceleration", "m/s\xc2\xb2", "finite differences of the velocity", true },
    [ENERGY] = { "energy", "J", "kinetic, potential and total energy", false },
    [WORK] = { "work", "J", "work of contacts, corrections and applied forces, summed over time", false },
    [FORCES] = { "contact-forces", "N", "contact impulse / step: total and largest, or net force on a body", true },
    [GAP] = { "gap", "m", "smallest and largest signed distance of the contacts", false },
    [PENETRATION] = { "penetration", "m", "deepest penetration, by the collision geometry", false },
    [JOINT_ERROR] = { "joint-error", "m, rad", "largest violation of a joint's equations (log scale)", false },
    [ITERATIONS] = { "iterations", "", "solver iterations, largest over the islands", false },
    [RESIDUAL] = { "residual", "", "relative residual of the solver (log scale)", false },
    [VELOCITY_ERROR] = { "velocity-error", "m/s", "velocity error of the solver (log scale)", false },
    [STATUS] = { "status", "", "how the worst island of the step ended: 0 solved", false },
    [FAILURES] = { "failures", "", "islands that missed their tolerance, summed over time", false },
    [CONTACTS] = { "contacts", "", "contacts and islands", false },
    [SIZE] = { "problem-size", "", "rows of the largest island's problem", false },
    [STEP_SIZE] = { "step-size", "s", "length of the step", false },
    [TIMING] = { "timing", "s", "wall time of each stage of the step", false },
    [JOINT_POSITION] = { "joint-position", "rad, m",
                         "angle or displacement of joints; joint-position:JOINT one of them", true },
    { 0 },
};
#define QUANTITIES ((int)(sizeof quantities / sizeof *quantities) - 1)

const mor_quantity* mor_quantities(void) { return quantities; }

static int find_quantity(const char* text)
{
    size_t n = strcspn(text, ":");
    for (int i = 0; i < QUANTITIES; i++)
        if (strlen(quantities[i].name) == n && strncmp(quantities[i].name, text, n) == 0) return i;
    return -1;
}

bool mor_is_quantity(const char* text) { return find_quantity(text) >= 0; }

/* ------------------------------------------------------------------- what was asked for */

static mor_code unknown_quantity(const char* text, mor_error* error)
{
    const char* names[QUANTITIES + 1];
    char list[400] = "", word[64];
    size_t used = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        names[i] = quantities[i].name;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    names[QUANTITIES] = NULL;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    const char* near = mor_did_you_mean(word, names);
    return mor_fail(error, MOR_BAD_INPUT, "unknown quantity '%s'%s%s%s; known: %s, and /DATASET of the file", word,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list);
}

mor_code mor_unknown_body(const mor_recording* r, const char* body, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    const char** names = calloc((size_t)info->bodies + 1, sizeof *names);
    const char* near = NULL;
    if (names) {
        for (int i = 0; i < info->bodies; i++) names[i] = mor_recording_body_name(r, i);
        near = mor_did_you_mean(body, names);
    }
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < info->bodies && used < 300; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%.64s", i ? ", " : "", mor_recording_body_name(r, i));
    if (used >= 300) snprintf(list + used, sizeof list - used, ", ...");
    mor_fail(error, MOR_BAD_INPUT, "%.300s: no body '%s'%s%s%s; bodies: %s", info->path, body,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", info->bodies ? list : "none");
    free(names);
    return MOR_BAD_INPUT;
}

/* QUANTITY[:BODY[.COMPONENT]]. Body names may hold dots: the whole text is tried as a name first. */
mor_code mor_request_parse(const char* text, const mor_recording* r, request* q, mor_error* error)
{
    *q = (request){ .quantity = find_quantity(text), .component = -1 };
    if (q->quantity < 0) return unknown_quantity(text, error);
    const char* colon = strchr(text, ':');
    if (!colon) return MOR_OK;
    const char* body = colon + 1;
    if (!quantities[q->quantity].of_body)
        return mor_fail(error, MOR_BAD_INPUT, "'%s' is a quantity of the whole world; write '%s'", text,
                        quantities[q->quantity].name);
    if (strlen(body) + 1 > sizeof q->body || !body[0])
        return mor_fail(error, MOR_BAD_INPUT, "'%s': a body name follows the ':'", text);
    snprintf(q->body, sizeof q->body, "%s", body);
    if (q->quantity == JOINT_POSITION) return MOR_OK; /* a joint, found when it is drawn */
    if (mor_recording_find_body(r, q->body) >= 0) return MOR_OK;
    char* dot = strrchr(q->body, '.');
    if (!dot) return mor_unknown_body(r, q->body, error);
    *dot = '\0';
    if (mor_recording_find_body(r, q->body) < 0) return mor_unknown_body(r, q->body, error);
    if (q->quantity == ORIENTATION) {
        for (int i = 0; mor_quaternion_components[i]; i++)
            if (strcmp(dot + 1, mor_quaternion_components[i]) == 0) q->component = i;
        return q->component >= 0
                   ? MOR_OK
                   : mor_fail(error, MOR_BAD_INPUT, "'%s': unknown component '%s'; known: w, x, y, z", text, dot + 1);
    }
    for (int i = 0; mor_components[i]; i++)
        if (strcmp(dot + 1, mor_components[i]) == 0) q->component = i;
    bool angular = q->component >= 3 && q->component < NORM;
    if (q->component < 0 || (angular && q->quantity != VELOCITY && q->quantity != ACCELERATION))
        return mor_fail(error, MOR_BAD_INPUT, "'%s': unknown component '%s'; known: x, y, z, norm%s", text, dot + 1,
                        q->quantity == VELOCITY || q->quantity == ACCELERATION ? ", wx, wy, wz" : "");
    return MOR_OK;
}
