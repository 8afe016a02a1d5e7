/* Quantities of a recording as curves, see series.h. Those of bodies are in series_bodies.c. */
#include "plot/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file name without folder and ending. */
static void short_name(const char* path, char* name, size_t size)
{
    const char* slash = strrchr(path, '/');
    const char* base = slash ? slash + 1 : path;
    const char* dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
}

/* -------------------------------------------------------------------------------- drawing */

static mor_code no_memory(mor_error* error) { return mor_fail(error, MOR_SYSTEM, "out of memory"); }

mor_code mor_plot_add_curve(mor_plot_source* s, const char* label, int index, mor_error* error)
{
    char text[160];
    snprintf(text, sizeof text, "%s%s%s", s->prefix, s->prefix[0] && label[0] ? ": " : "", label);
    int dash = s->alone ? index / MOR_PLOT_COLOURS : s->file;
    return mor_panel_curve(s->panel, text, index, dash, s->time, s->value, s->frames) ? MOR_OK : no_memory(error);
}

static mor_code add_series(mor_plot_source* s, const char* path, const char* label, int index, mor_error* error)
{
    mor_code code = mor_recording_series(s->recording, path, s->value, error);
    return code ? code : mor_plot_add_curve(s, label, index, error);
}

typedef struct named {
    const char *path, *label;
} named;

/* Frame 0 is the initial state: what belongs to a step is unknown there. */
static mor_code add_step_series(mor_plot_source* s, const named* list, mor_error* error)
{
    mor_code code = MOR_OK;
    double* number = calloc((size_t)s->frames + 1, sizeof *number);
    if (!number) return no_memory(error);
    code = mor_recording_series(s->recording, "/step_number", number, error);
    for (int k = 0; !code && list[k].path; k++) {
        code = mor_recording_series(s->recording, list[k].path, s->value, error);
        for (int i = 0; i < s->frames; i++) s->value[i] = number[i] == 0.0 ? NAN : s->value[i];
        if (!code) code = mor_plot_add_curve(s, list[k].label, k, error);
    }
    free(number);
    return code;
}

static mor_code add_work(mor_plot_source* s, mor_error* error)
{
    static const named list[] = { { "/work/contact", "contacts" },
                                  { "/work/correction", "corrections" },
                                  { "/work/applied", "applied forces" },
                                  { 0 } };
    mor_code code = MOR_OK;
    for (int k = 0; !code && list[k].path; k++) {
        code = mor_recording_series(s->recording, list[k].path, s->value, error);
        for (int i = 1; !code && i < s->frames; i++) s->value[i] += s->value[i - 1];
        if (!code) code = mor_plot_add_curve(s, list[k].label, k, error);
    }
    return code;
}

static mor_code add_force_totals(mor_plot_source* s, mor_error* error)
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
        if (!code) code = mor_plot_add_curve(s, list[k].label, k, error);
    }
    free(step);
    return code;
}

/* Smallest and largest gap of the contacts of each frame. */
static mor_code add_gaps(mor_plot_source* s, mor_error* error)
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
    if (!code) memcpy(s->value, least, n * sizeof *least), code = mor_plot_add_curve(s, "smallest", 0, error);
    if (!code) memcpy(s->value, most, n * sizeof *most), code = mor_plot_add_curve(s, "largest", 1, error);
    free(start);
    free(gap);
    return code;
}

static mor_code add_failures(mor_plot_source* s, mor_error* error)
{
    mor_code code = mor_recording_series(s->recording, "/solver/failures", s->value, error);
    for (int i = 1; !code && i < s->frames; i++) s->value[i] += s->value[i - 1];
    return code ? code : mor_plot_add_curve(s, "", 0, error);
}

enum { JOINT_NAME = 192 };

/* One joint, or the first ones. */
static mor_code add_joints(mor_plot_source* s, const request* q, mor_error* error)
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
        code = mor_plot_add_curve(s, q->body[0] ? "" : name, shown++, error);
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

static mor_code add_joint_error(mor_plot_source* s, mor_error* error)
{
    if (!mor_recording_has(s->recording, "/joints/error"))
        return mor_fail(error, MOR_BAD_INPUT, "%.300s: recorded without joint errors, by an older version",
                        mor_recording_get_info(s->recording)->path);
    return add_series(s, "/joints/error", "", 0, error);
}

static mor_code add_source(mor_plot_source* s, const request* q, double* data, mor_error* error)
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
        return mor_plot_add_body(s, q, data, error);
    default:
        return q->body[0] ? mor_plot_add_body(s, q, data, error) : mor_plot_add_all_bodies(s, q, data, error);
    }
}

static void panel_title(const request* q, char* title, size_t size)
{
    const char* name = mor_quantities()[q->quantity].name;
    int n = snprintf(title, size, "%s", name);
    if (title[0] >= 'a' && title[0] <= 'z') title[0] = (char)(title[0] - 'a' + 'A');
    for (char* c = title; *c; c++)
        if (*c == '-') *c = ' ';
    if (q->body[0])
        snprintf(title + n, size - (size_t)n, " %s %s%s%s", q->quantity == FORCES ? "on" : "of", q->body,
                 q->component >= 0 ? ", " : "",
                 q->component < 0             ? ""
                 : q->quantity == ORIENTATION ? mor_quaternion_components[q->component]
                 : q->component == NORM       ? "length"
                                              : mor_components[q->component]);
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
        mor_plot_source s = { .panel = panel,
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
            code = mor_plot_add_curve(&s, width > 1 ? label : "", k, error);
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
    mor_code code = mor_request_parse(text, recordings[0], &q, error);
    if (code) return code;
    char title[96];
    panel_title(&q, title, sizeof title);
    bool angular = q.component >= 3 && q.component < NORM && q.quantity != ORIENTATION;
    const char* unit = mor_quantities()[q.quantity].unit;
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
        mor_plot_source s = { .panel = panel,
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
