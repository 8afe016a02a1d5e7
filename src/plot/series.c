/* Quantities of a recording as curves, see series.h.
 *
 * Position is that of the body frame, velocity that of the centre of mass; acceleration is the backward
 * difference of velocity, a_i = (v_i - v_{i-1}) / (t_i - t_{i-1}), as time-stepping defines it; forces
 * are impulses of the step divided by its length. Orientation is the quaternion, in the plane the angle 2 atan2(q_z,
 * q_w), unwound; without a body the angle 2 atan2(|q_xyz|, |q_w|) by which each body is turned. Without a body,
 * position shows the height and velocity and acceleration the length of the vector, for every moving body up to
 * MOST_BODIES. */
#include "plot/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 14 /* curves one can still tell apart: seven colours, two dashes */

enum {
    POSITION,
    ORIENTATION,
    VELOCITY,
    ACCELERATION,
    ENERGY,
    WORK,
    FORCES,
    GAP,
    PENETRATION,
    JOINT_ERROR,
    ITERATIONS,
    RESIDUAL,
    VELOCITY_ERROR,
    STATUS,
    FAILURES,
    CONTACTS,
    SIZE,
    STEP_SIZE,
    TIMING,
    JOINT_POSITION
};

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

/* The file name without folder and ending. */
static void short_name(const char* path, char* name, size_t size)
{
    const char* slash = strrchr(path, '/');
    const char* base = slash ? slash + 1 : path;
    const char* dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
}

/* ------------------------------------------------------------------- what was asked for */

typedef struct request {
    int quantity;
    char body[64];
    int component; /* index into components, -1: all or the default */
} request;

/* The first three are world axes of the quantity; 3..5 angular; 6 the length. */
static const char* const components[] = { "x", "y", "z", "wx", "wy", "wz", "norm", NULL };
enum { NORM = 6 };
static const char* const quaternion[] = { "w", "x", "y", "z", NULL };

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

static mor_code unknown_body(const mor_recording* r, const char* body, mor_error* error)
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
static mor_code parse(const char* text, const mor_recording* r, request* q, mor_error* error)
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
    if (!dot) return unknown_body(r, q->body, error);
    *dot = '\0';
    if (mor_recording_find_body(r, q->body) < 0) return unknown_body(r, q->body, error);
    if (q->quantity == ORIENTATION) {
        for (int i = 0; quaternion[i]; i++)
            if (strcmp(dot + 1, quaternion[i]) == 0) q->component = i;
        return q->component >= 0
                   ? MOR_OK
                   : mor_fail(error, MOR_BAD_INPUT, "'%s': unknown component '%s'; known: w, x, y, z", text, dot + 1);
    }
    for (int i = 0; components[i]; i++)
        if (strcmp(dot + 1, components[i]) == 0) q->component = i;
    bool angular = q->component >= 3 && q->component < NORM;
    if (q->component < 0 || (angular && q->quantity != VELOCITY && q->quantity != ACCELERATION))
        return mor_fail(error, MOR_BAD_INPUT, "'%s': unknown component '%s'; known: x, y, z, norm%s", text, dot + 1,
                        q->quantity == VELOCITY || q->quantity == ACCELERATION ? ", wx, wy, wz" : "");
    return MOR_OK;
}

/* -------------------------------------------------------------------------------- drawing */

/* One recording being turned into curves of one panel. */
typedef struct source {
    mor_panel* panel;
    const mor_recording* recording;
    int frames, dimension;
    char prefix[96]; /* tells recordings apart in the legend; "" if there is one */
    int file;        /* which recording: the dash when there are several */
    bool alone;
    double *time, *value;
} source;

static mor_code no_memory(mor_error* error) { return mor_fail(error, MOR_SYSTEM, "out of memory"); }

static mor_code add_curve(source* s, const char* label, int index, mor_error* error)
{
    char text[160];
    snprintf(text, sizeof text, "%s%s%s", s->prefix, s->prefix[0] && label[0] ? ": " : "", label);
    int dash = s->alone ? index / 7 : s->file;
    return mor_panel_curve(s->panel, text, index, dash, s->time, s->value, s->frames) ? MOR_OK : no_memory(error);
}

static mor_code add_series(source* s, const char* path, const char* label, int index, mor_error* error)
{
    mor_code code = mor_recording_series(s->recording, path, s->value, error);
    return code ? code : add_curve(s, label, index, error);
}

typedef struct named {
    const char *path, *label;
} named;

/* Frame 0 is the initial state: what belongs to a step is unknown there. */
static mor_code add_step_series(source* s, const named* list, mor_error* error)
{
    mor_code code = MOR_OK;
    double* number = calloc((size_t)s->frames + 1, sizeof *number);
    if (!number) return no_memory(error);
    code = mor_recording_series(s->recording, "/step_number", number, error);
    for (int k = 0; !code && list[k].path; k++) {
        code = mor_recording_series(s->recording, list[k].path, s->value, error);
        for (int i = 0; i < s->frames; i++) s->value[i] = number[i] == 0.0 ? NAN : s->value[i];
        if (!code) code = add_curve(s, list[k].label, k, error);
    }
    free(number);
    return code;
}

static mor_code add_work(source* s, mor_error* error)
{
    static const named list[] = { { "/work/contact", "contacts" },
                                  { "/work/correction", "corrections" },
                                  { "/work/applied", "applied forces" },
                                  { 0 } };
    mor_code code = MOR_OK;
    for (int k = 0; !code && list[k].path; k++) {
        code = mor_recording_series(s->recording, list[k].path, s->value, error);
        for (int i = 1; !code && i < s->frames; i++) s->value[i] += s->value[i - 1];
        if (!code) code = add_curve(s, list[k].label, k, error);
    }
    return code;
}

static mor_code add_force_totals(source* s, mor_error* error)
{
    static const named list[] = { { "/contacts/normal_total", "normal, sum" },
                                  { "/contacts/normal_max", "normal, largest" },
                                  { "/contacts/friction_total", "friction, sum" },
                                  { 0 } };
    double* step = calloc((size_t)s->frames + 1, sizeof *step);
    mor_code code = step ? mor_recording_series(s->recording, "/step_size", step, error) : no_memory(error);
    for (int k = 0; !code && list[k].path; k++) {
        code = mor_recording_series(s->recording, list[k].path, s->value, error);
        for (int i = 0; i < s->frames; i++) s->value[i] /= step[i];
        if (!code) code = add_curve(s, list[k].label, k, error);
    }
    free(step);
    return code;
}

/* data: frames x stride; takes component `k` or the length of the first three. */
static void pick(const double* data, int stride, int k, int frames, double* out)
{
    for (int i = 0; i < frames; i++) {
        const double* v = data + (size_t)i * (size_t)stride;
        out[i] = k == NORM ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : v[k];
    }
}

/* frames x 6 velocities into backward differences, from the end so that it can be done in place. */
static void differentiate(double* v, const double* time, int frames)
{
    for (int i = frames - 1; i >= 0; i--)
        for (int c = 0; c < 6; c++) {
            double dt = i > 0 ? time[i] - time[i - 1] : 0.0;
            v[6 * i + c] = dt > 0.0 ? (v[6 * i + c] - v[6 * (i - 1) + c]) / dt : NAN;
        }
}

static mor_code load_body(source* s, int quantity, int body, double* data, int* stride, mor_error* error)
{
    mor_code code;
    *stride = quantity == POSITION || quantity == ORIENTATION ? 7 : quantity == FORCES ? 3 : 6;
    if (*stride == 7) return mor_recording_body(s->recording, body, data, NULL, error);
    if (quantity != FORCES) {
        code = mor_recording_body(s->recording, body, NULL, data, error);
        if (!code && quantity == ACCELERATION) differentiate(data, s->time, s->frames);
        return code;
    }
    code = mor_recording_body_impulse(s->recording, body, data, error);
    if (!code) code = mor_recording_series(s->recording, "/step_size", s->value, error);
    for (int i = 0; !code && i < 3 * s->frames; i++) data[i] /= s->value[i / 3];
    return code;
}

/* The angle of planar motion, unwound; else by how much a body is turned. */
static void angles(const double* pose, bool planar, int frames, double* out)
{
    for (int i = 0; i < frames; i++) {
        const double* q = pose + 7 * (size_t)i + 3;
        out[i] =
            planar ? 2.0 * atan2(q[3], q[0]) : 2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0]));
        if (planar && i > 0) out[i] -= 6.283185307179586 * floor((out[i] - out[i - 1]) / 6.283185307179586 + 0.5);
    }
}

static mor_code add_orientation(source* s, const request* q, const double* pose, mor_error* error)
{
    mor_code code = MOR_OK;
    if (s->dimension == 2 && q->component < 0) {
        snprintf(s->panel->unit, sizeof s->panel->unit, "rad");
        angles(pose, true, s->frames, s->value);
        return add_curve(s, "", 0, error);
    }
    for (int k = 0; !code && k < 4; k++) {
        if (q->component >= 0 && q->component != k) continue;
        for (int i = 0; i < s->frames; i++) s->value[i] = pose[7 * (size_t)i + 3 + (size_t)k];
        code = add_curve(s, q->component >= 0 ? "" : quaternion[k], q->component >= 0 ? 0 : k, error);
    }
    return code;
}

/* Smallest and largest gap of the contacts of each frame. */
static mor_code add_gaps(source* s, mor_error* error)
{
    if (!mor_recording_get_info(s->recording)->has_contacts)
        return mor_fail(error, MOR_BAD_INPUT, "%s: contacts were not recorded one by one (record: contacts: true)",
                        mor_recording_get_info(s->recording)->path);
    size_t n = (size_t)s->frames;
    double *start = calloc(4 * n + 1, sizeof *start), *count = start + n, *least = count + n, *most = least + n,
           *gap = NULL;
    mor_code code = start ? MOR_OK : no_memory(error);
    if (!code) code = mor_recording_series(s->recording, "/contacts/start", start, error);
    if (!code) code = mor_recording_series(s->recording, "/contacts/count", count, error);
    int capacity = 0;
    for (size_t i = 0; !code && i < n; i++) {
        int here = count[i] >= 0.0 && count[i] < 1e8 ? (int)count[i] : 0;
        if (here > capacity) {
            double* grown = realloc(gap, (size_t)(2 * here) * sizeof *gap);
            if (!grown) code = no_memory(error);
            else gap = grown, capacity = 2 * here;
        }
        if (!code && here > 0)
            code = mor_recording_rows(s->recording, "/contacts/gap", (size_t)start[i], (size_t)here, 1, gap, error);
        least[i] = most[i] = here > 0 && !code ? gap[0] : NAN;
        for (int k = 1; !code && k < here; k++) {
            least[i] = fmin(least[i], gap[k]);
            most[i] = fmax(most[i], gap[k]);
        }
    }
    if (!code) memcpy(s->value, least, n * sizeof *least), code = add_curve(s, "smallest", 0, error);
    if (!code) memcpy(s->value, most, n * sizeof *most), code = add_curve(s, "largest", 1, error);
    free(start);
    free(gap);
    return code;
}

static mor_code add_failures(source* s, mor_error* error)
{
    mor_code code = mor_recording_series(s->recording, "/solver/failures", s->value, error);
    for (int i = 1; !code && i < s->frames; i++) s->value[i] += s->value[i - 1];
    return code ? code : add_curve(s, "", 0, error);
}

static mor_code add_body(source* s, const request* q, double* data, mor_error* error)
{
    int body = mor_recording_find_body(s->recording, q->body), stride;
    if (body < 0) return unknown_body(s->recording, q->body, error);
    mor_code code = load_body(s, q->quantity, body, data, &stride, error);
    if (!code && q->quantity == ORIENTATION) return add_orientation(s, q, data, error);
    int first = q->component >= 0 ? q->component : 0;
    int last = q->component >= 0 ? q->component : s->dimension - 1;
    for (int k = first; !code && k <= last; k++) {
        pick(data, stride, k, s->frames, s->value);
        code = add_curve(s, q->component >= 0 ? "" : components[k], k - first, error);
    }
    return code;
}

static mor_code add_all_bodies(source* s, const request* q, double* data, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(s->recording);
    int shown = 0, moving = 0, stride;
    mor_code code = MOR_OK;
    for (int b = 0; !code && b < info->bodies; b++) {
        if (mor_recording_body_kind(s->recording, b) == MOR_FIXED) continue;
        if (++moving > MOST_BODIES) continue;
        code = load_body(s, q->quantity, b, data, &stride, error);
        if (code) break;
        if (q->quantity == ORIENTATION) angles(data, s->dimension == 2, s->frames, s->value);
        else pick(data, stride, q->quantity == POSITION ? s->dimension - 1 : NORM, s->frames, s->value);
        code = add_curve(s, mor_recording_body_name(s->recording, b), shown++, error);
    }
    if (q->quantity == ORIENTATION) snprintf(s->panel->unit, sizeof s->panel->unit, "rad");
    const char* what = q->quantity == ORIENTATION ? "angle"
                       : q->quantity == POSITION  ? (s->dimension == 2 ? "height y" : "height z")
                                                  : "length of the vector";
    if (moving > shown)
        snprintf(s->panel->note, sizeof s->panel->note, "%s; %d of %d bodies, choose with %s:BODY", what, shown, moving,
                 quantities[q->quantity].name);
    else snprintf(s->panel->note, sizeof s->panel->note, "%s", what);
    return code;
}

enum { JOINT_NAME = 192 };

/* One joint, or the first ones. */
static mor_code add_joints(source* s, const request* q, mor_error* error)
{
    const char* file = mor_recording_get_info(s->recording)->path;
    int rows = 0, columns = 0, shown = 0;
    if (!mor_recording_has(s->recording, "/joints/position")) {
        if (q->body[0]) return mor_fail(error, MOR_BAD_INPUT, "%.300s: no joints", file);
        snprintf(s->panel->note, sizeof s->panel->note, "no joints");
        return MOR_OK;
    }
    double* kind = mor_recording_table(s->recording, "/joints/kind", &rows, &columns, error);
    if (!kind) return MOR_BAD_INPUT;
    free(kind);
    char* names = mor_recording_texts(s->recording, "/joints/name", JOINT_NAME, (size_t)rows, error);
    double* all = calloc((size_t)s->frames * (size_t)rows + 1, sizeof *all);
    mor_code code = !names ? MOR_BAD_INPUT
                    : !all
                        ? no_memory(error)
                        : mor_recording_rows(s->recording, "/joints/position", 0, (size_t)s->frames, rows, all, error);
    for (int j = 0; !code && j < rows && shown < MOST_BODIES; j++) {
        const char* name = names + (size_t)j * JOINT_NAME;
        if (q->body[0] && strcmp(name, q->body) != 0) continue;
        for (int i = 0; i < s->frames; i++) s->value[i] = all[(size_t)i * (size_t)rows + (size_t)j];
        code = add_curve(s, q->body[0] ? "" : name, shown++, error);
    }
    if (!code && shown == 0) {
        const char** list = calloc((size_t)rows + 1, sizeof *list);
        for (int j = 0; list && j < rows; j++) list[j] = names + (size_t)j * JOINT_NAME;
        const char* near = list ? mor_did_you_mean(q->body, list) : NULL;
        code = mor_fail(error, MOR_BAD_INPUT, "%.300s: no joint '%s'%s%s%s", file, q->body,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        free(list);
    }
    if (!code && !q->body[0] && rows > shown)
        snprintf(s->panel->note, sizeof s->panel->note, "%d of %d joints, choose with joint-position:JOINT", shown,
                 rows);
    free(names);
    free(all);
    return code;
}

static mor_code add_joint_error(source* s, mor_error* error)
{
    if (!mor_recording_has(s->recording, "/joints/error"))
        return mor_fail(error, MOR_BAD_INPUT, "%.300s: recorded without joint errors, by an older version",
                        mor_recording_get_info(s->recording)->path);
    return add_series(s, "/joints/error", "", 0, error);
}

static mor_code add_source(source* s, const request* q, double* data, mor_error* error)
{
    static const named residual[] = { { "/solver/residual", "" }, { 0 } };
    static const named velocity_error[] = { { "/solver/velocity_error", "" }, { 0 } };
    static const named iterations[] = { { "/solver/iterations", "" }, { 0 } };
    static const named size[] = { { "/solver/problem_size", "" }, { 0 } };
    static const named status[] = { { "/solver/status", "" }, { 0 } };
    static const named step_size[] = { { "/step_size", "" }, { 0 } };
    static const named contacts[] = { { "/solver/contacts", "contacts" }, { "/solver/islands", "islands" }, { 0 } };
    static const named brief_timing[] = {
        { "/timing/total", "total" }, { "/timing/collision", "collision" }, { "/timing/solve", "solve" }, { 0 }
    };
    static const named timing[] = { { "/timing/total", "total" },
                                    { "/timing/collision", "collision" },
                                    { "/timing/assemble", "assemble" },
                                    { "/timing/formulate", "formulate" },
                                    { "/timing/solve", "solve" },
                                    { "/timing/integrate", "integrate" },
                                    { "/timing/user", "user function" },
                                    { "/timing/record", "record" },
                                    { 0 } };
    mor_code code = mor_recording_series(s->recording, "/time", s->time, error);
    if (code) return code;
    switch (q->quantity) {
    case ENERGY:
        code = add_series(s, "/energy/total", "total", 0, error);
        if (!code) code = add_series(s, "/energy/kinetic", "kinetic", 1, error);
        if (!code) code = add_series(s, "/energy/potential", "potential", 2, error);
        return code;
    case WORK:
        return add_work(s, error);
    case PENETRATION:
        return add_series(s, "/penetration", "", 0, error);
    case GAP:
        return add_gaps(s, error);
    case JOINT_ERROR:
        return add_joint_error(s, error);
    case STATUS:
        s->panel->note[0] = '\0';
        for (int k = 0, used = 0; k <= (int)MOR_NUMERICAL; k++)
            used += snprintf(s->panel->note + used, sizeof s->panel->note - (size_t)used, "%s%d %s", k ? ", " : "", k,
                             mor_status_name((mor_status)k));
        return add_step_series(s, status, error);
    case FAILURES:
        return add_failures(s, error);
    case STEP_SIZE:
        return add_step_series(s, step_size, error);
    case ITERATIONS:
        return add_step_series(s, iterations, error);
    case RESIDUAL:
        return add_step_series(s, residual, error);
    case VELOCITY_ERROR:
        return add_step_series(s, velocity_error, error);
    case CONTACTS:
        return add_step_series(s, contacts, error);
    case SIZE:
        return add_step_series(s, size, error);
    case TIMING:
        if (!s->alone) snprintf(s->panel->note, sizeof s->panel->note, "one recording alone shows all stages");
        return add_step_series(s, s->alone ? timing : brief_timing, error);
    case JOINT_POSITION:
        return add_joints(s, q, error);
    case FORCES:
        if (!q->body[0]) return add_force_totals(s, error);
        return add_body(s, q, data, error);
    default:
        return q->body[0] ? add_body(s, q, data, error) : add_all_bodies(s, q, data, error);
    }
}

static void panel_title(const request* q, char* title, size_t size)
{
    const char* name = quantities[q->quantity].name;
    int n = snprintf(title, size, "%s", name);
    if (title[0] >= 'a' && title[0] <= 'z') title[0] = (char)(title[0] - 'a' + 'A');
    for (char* c = title; *c; c++)
        if (*c == '-') *c = ' ';
    if (q->body[0])
        snprintf(title + n, size - (size_t)n, " %s %s%s%s", q->quantity == FORCES ? "on" : "of", q->body,
                 q->component >= 0 ? ", " : "",
                 q->component < 0             ? ""
                 : q->quantity == ORIENTATION ? quaternion[q->component]
                 : q->component == NORM       ? "length"
                                              : components[q->component]);
}

/* A dataset of the file with one row per frame, drawn as it is: one curve per column. */
static mor_code add_dataset(mor_figure* figure, mor_recording* const* recordings, int count, const char* path,
                            mor_error* error)
{
    char unit[16] = "", label[16];
    mor_panel* panel = NULL;
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < count; i++) {
        const mor_recording_info* info = mor_recording_get_info(recordings[i]);
        int rows, width;
        code = mor_recording_shape(recordings[i], path, &rows, &width, unit, sizeof unit, error);
        if (!code && (rows < info->frames || width < 1))
            code = mor_fail(error, MOR_BAD_INPUT,
                            "%s:%s: has %d rows; what has one row per frame (%d) can be drawn over time", info->path,
                            path, rows, info->frames);
        if (!code && !panel) panel = mor_figure_panel(figure, path, unit);
        if (!code && !panel)
            code = mor_fail(error, MOR_BAD_INPUT, "at most %d quantities fit into one figure", MOR_FIGURE_PANELS);
        if (code) break;
        size_t n = (size_t)info->frames, w = (size_t)width;
        source s = { .panel = panel,
                     .recording = recordings[i],
                     .frames = info->frames,
                     .file = i,
                     .alone = count == 1,
                     .time = calloc(n + 1, sizeof(double)),
                     .value = calloc(n + 1, sizeof(double)) };
        double* data = calloc(n * w + 1, sizeof *data);
        if (count > 1) short_name(info->path, s.prefix, sizeof s.prefix);
        code =
            s.time && s.value && data ? mor_recording_series(recordings[i], "/time", s.time, error) : no_memory(error);
        if (!code) code = mor_recording_rows(recordings[i], path, 0, n, width, data, error);
        for (int k = 0; !code && k < width && k < MOST_BODIES; k++) {
            for (size_t f = 0; f < n; f++) s.value[f] = data[f * w + (size_t)k];
            snprintf(label, sizeof label, "%d", k);
            code = add_curve(&s, width > 1 ? label : "", k, error);
        }
        if (!code && width > MOST_BODIES)
            snprintf(panel->note, sizeof panel->note, "the first %d of %d columns", MOST_BODIES, width);
        free(s.time);
        free(s.value);
        free(data);
    }
    return code;
}

mor_code mor_plot_add(mor_figure* figure, mor_recording* const* recordings, int count, const char* text,
                      mor_error* error)
{
    if (text[0] == '/') return add_dataset(figure, recordings, count, text, error);
    request q;
    mor_code code = parse(text, recordings[0], &q, error);
    if (code) return code;
    char title[96];
    panel_title(&q, title, sizeof title);
    bool angular = q.component >= 3 && q.component < NORM && q.quantity != ORIENTATION;
    const char* unit = quantities[q.quantity].unit;
    if (angular) unit = q.quantity == VELOCITY ? "rad/s" : "rad/s\xc2\xb2";
    mor_panel* panel = mor_figure_panel(figure, title, unit);
    if (!panel) return mor_fail(error, MOR_BAD_INPUT, "at most %d quantities fit into one figure", MOR_FIGURE_PANELS);
    panel->log = q.quantity == RESIDUAL || q.quantity == VELOCITY_ERROR || q.quantity == JOINT_ERROR;
    panel->steps = q.quantity == ITERATIONS || q.quantity == CONTACTS || q.quantity == SIZE || q.quantity == FORCES ||
                   q.quantity == STATUS || q.quantity == FAILURES || q.quantity == STEP_SIZE;
    panel->from_zero = panel->steps || q.quantity == GAP || q.quantity == PENETRATION || q.quantity == TIMING;

    for (int i = 0; !code && i < count; i++) {
        const mor_recording_info* info = mor_recording_get_info(recordings[i]);
        size_t n = (size_t)info->frames + 1;
        source s = { .panel = panel,
                     .recording = recordings[i],
                     .frames = info->frames,
                     .dimension = info->dimension == 2 ? 2 : 3,
                     .file = i,
                     .alone = count == 1,
                     .time = calloc(n, sizeof(double)),
                     .value = calloc(n, sizeof(double)) };
        double* data = calloc(n, 7 * sizeof(double));
        if (count > 1) short_name(info->path, s.prefix, sizeof s.prefix);
        code = s.time && s.value && data ? add_source(&s, &q, data, error) : no_memory(error);
        free(s.time);
        free(s.value);
        free(data);
    }
    if (count > 1 && panel->curve_count == count) /* one curve each: colours tell more than dashes */
        for (int i = 0; i < count; i++) {
            panel->curves[i].colour = i;
            panel->curves[i].dash = i / 7;
        }
    return code;
}

void mor_plot_title(mor_figure* figure, mor_recording* const* recordings, int count)
{
    const mor_recording_info* info = mor_recording_get_info(recordings[0]);
    char name[96];
    short_name(info->path, name, sizeof name);
    if (!figure->title[0]) {
        if (count > 1 && !info->scene_name[0])
            snprintf(figure->title, sizeof figure->title, "%s and %d more", name, count - 1);
        else snprintf(figure->title, sizeof figure->title, "%s", info->scene_name[0] ? info->scene_name : name);
    }
    bool same = true;
    for (int i = 1; i < count; i++) {
        const mor_recording_info* other = mor_recording_get_info(recordings[i]);
        same = same && strcmp(other->formulation, info->formulation) == 0 && strcmp(other->solver, info->solver) == 0 &&
               other->step == info->step;
    }
    if (same)
        snprintf(figure->subtitle, sizeof figure->subtitle, "%s with %s, step %g s", info->formulation, info->solver,
                 info->step);
    else {
        size_t used = 0;
        for (int i = 0; i < count && used + 1 < sizeof figure->subtitle; i++) {
            const mor_recording_info* r = mor_recording_get_info(recordings[i]);
            short_name(r->path, name, sizeof name);
            int n = snprintf(figure->subtitle + used, sizeof figure->subtitle - used, "%s%s: %s with %s, step %g s",
                             i ? "  \xc2\xb7  " : "", name, r->formulation, r->solver, r->step);
            if (n > 0) used += (size_t)n;
        }
    }
    snprintf(figure->x_label, sizeof figure->x_label, "time");
    snprintf(figure->x_unit, sizeof figure->x_unit, "s");
}
