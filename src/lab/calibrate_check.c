/* Values of a plan that the scene does not take: refused before the first simulation, with their place in the plan.
 *
 * A method is tried with the starts of all its parameters. If the scene refuses it, every parameter is tried alone, so
 * that the one at fault is named; what is left is said of the method. Ends of ranges that the scene refuses are told,
 * not refused: such values never count as best, and the rest of the range may be what is meant. */
#include "lab/calibrate_columns.h"
#include "lab/calibrate_engine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum which { START, LOW, HIGH } which;

/* Does the scene take the values of a method, and the starts (or ends of the ranges) of its parameters `from` ...
 * `to` - 1? With `build` formulation and solver must go together too. */
static bool takes(const mor_calibration* c, const mor_cal_method* m, int from, int to, which value, bool build,
                  mor_error* error)
{
    enum { ROOM = MOR_CAL_SETS + MOR_CAL_PARAMETERS * MOR_CAL_PATHS + 1 };
    const char* sets[ROOM];
    char(*text)[220] = malloc(sizeof *text * MOR_CAL_PARAMETERS * MOR_CAL_PATHS);
    int n = 0, used = 0;
    if (!text) return true; /* out of memory shows elsewhere */
    for (int i = 0; i < m->set_count; i++) sets[n++] = m->sets[i];
    for (int i = from; i < to; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        double x = value == LOW ? p->low : value == HIGH ? p->high : p->start;
        for (int k = 0; k < p->path_count; k++) {
            if (mor_cal_is_engine_path(p->paths[k])) continue;
            snprintf(text[used], sizeof *text, "%s=%.17g", p->paths[k], p->factors[k] * x);
            sets[n++] = text[used++];
        }
    }
    sets[n] = NULL;
    mor_scene* scene = mor_scene_load(c->scene, sets, c->library, error);
    mor_world* world = scene && build ? mor_scene_build(scene, 1, error) : NULL;
    bool good = build ? world != NULL : scene != NULL;
    free(text);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return good;
}

/* What follows the place "--set VALUE:1:COLUMN: " in a sentence about a value. */
static const char* without_place(const char* text)
{
    const char* at = strncmp(text, "--set ", 6) == 0 ? strstr(text, ": ") : NULL;
    return at ? at + 2 : text;
}

void mor_cal_note(mor_calibration* c, const char* format, ...)
{
    size_t used = strlen(c->notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->notes + used, sizeof c->notes - used, format, arguments);
    va_end(arguments);
    used = strlen(c->notes);
    if (used + 1 < sizeof c->notes) c->notes[used] = '\n', c->notes[used + 1] = '\0';
}

/* Ends of ranges, each with the starts of the others; a parameter of all methods once. */
static void try_ends(mor_calibration* c, const mor_cal_method* m)
{
    for (int i = 0; i < m->parameter_count; i++) {
        mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        for (int end = LOW; end <= HIGH && !p->tried; end++) {
            mor_error why = { 0 };
            if (takes(c, m, i, i + 1, (which)end, false, &why)) continue;
            mor_cal_note(c,
                         "%.200s:%d:%d: the scene does not take %g, an end of the range of '%.60s', which can never be "
                         "best: %.200s",
                         p->node->source->name, p->node->line, p->node->column, end == LOW ? p->low : p->high, p->name,
                         without_place(why.text));
        }
        p->tried = true;
    }
}

mor_code mor_cal_check_values(mor_calibration* c, const mor_cal_method* m, const mor_node* at, mor_error* error)
{
    mor_error why = { 0 };
    if (takes(c, m, 0, m->parameter_count, START, true, &why)) {
        try_ends(c, m);
        return MOR_OK;
    }
    for (int i = 0; i < m->parameter_count; i++) {
        mor_error one = { 0 };
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        if (!takes(c, m, i, i + 1, START, false, &one) && takes(c, m, 0, 0, START, false, &(mor_error){ 0 }))
            return mor_node_fail(p->node, error, "%.60s: %.300s", p->name, without_place(one.text));
    }
    return mor_node_fail(at, error, "%.300s", without_place(why.text));
}

mor_code mor_cal_check_grid(const mor_calibration* c, const mor_node* optimiser, mor_error* error)
{
    const mor_node* given = optimiser ? mor_node_get(optimiser, "evaluations") : NULL;
    if (strcmp(c->optimiser, "grid") != 0) return MOR_OK;
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_method* m = &c->methods[k];
        double points = 1.0;
        for (int i = 0; i < m->parameter_count; i++) {
            const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
            double steps = p->step > 0.0 ? (p->high - p->low) / p->step : 10.0;
            if (fabs(steps - floor(steps + 0.5)) > 1e-6)
                return mor_node_fail(p->node, error, "'%.60s': its range %g to %g is no whole number of steps of %g",
                                     p->name, p->low, p->high, p->step);
            if (p->step > 0.0 && p->logarithmic)
                return mor_node_fail(p->node, error,
                                     "'%.60s': a step of a logarithmic range has no meaning; leave step or log out",
                                     p->name);
            points *= floor(steps + 1.5);
        }
        if (given && points > c->evaluations)
            return mor_node_fail(given, error, "the grid of '%.60s' has %.0f points, more than %d evaluations", m->name,
                                 points, c->evaluations);
        if (points > 1e8) return mor_node_fail(optimiser, error, "the grid has %.3g points; at most 1e8", points);
    }
    return MOR_OK;
}

void mor_cal_check_times(mor_calibration* c, const mor_node* at, double step)
{
    enum { MANY = 500 }; /* steps between two samples: more than a slow camera has, less than milliseconds make */
    const mor_cal_run* r = &c->runs[0];
    double apart = mor_cal_time(c, r, r->count - 1) / (r->count - 1);
    if (apart > MANY * step)
        mor_cal_note(c, "%.200s:%d:%d: samples are %g s apart, %.0f steps of the scene: are the times in seconds?",
                     at->source->name, at->line, at->column, apart, apart / step);
}

mor_code mor_cal_check_contacts(mor_calibration* c, mor_error* error)
{
    int touching = 0;
    for (int i = 0; i < c->run_count; i++) touching += c->runs[i].flight + 1 < c->runs[i].count;
    if (touching == c->run_count || !(c->after_contact || c->horizon_count)) return MOR_OK;
    if (touching == 0)
        return mor_fail(error, MOR_BAD_INPUT,
                        "%s: with the start values no run touches anything within its samples, so none of them is "
                        "after a contact",
                        c->contact_place);
    mor_cal_note(c, "%s: with the start values %d of %d runs touch nothing within their samples and count with error 0",
                 c->contact_place, c->run_count - touching, c->run_count);
    return MOR_OK;
}

/* Means over the training runs of how far, and by which angle, the samples are from the first one: as the position and
 * rotation of a score count; 0: not measured. */
static void stand_still(const mor_calibration* c, double mean[2])
{
    int runs[2] = { 0 };
    mean[0] = mean[1] = 0.0;
    for (int r = 0; r < c->run_count; r++) {
        const mor_cal_run* run = &c->runs[r];
        double sum[2] = { 0 };
        int count[2] = { 0 }, last = run->flight + c->after_contact, from = c->after_contact ? run->flight + 1 : 1;
        int to = c->after_contact && last < run->count ? last : run->count;
        for (int i = 0; i < c->measured_count && run->train; i++)
            for (int k = from; k < to; k++) {
                mor_cal_pose a = mor_cal_measured(c, c->measured[i].body, run->first);
                mor_cal_pose b = mor_cal_measured(c, c->measured[i].body, run->first + k);
                if (a.has_x && b.has_x) sum[0] += mor_norm(mor_sub(b.x, a.x)), count[0]++;
                if (a.has_q && b.has_q) sum[1] += mor_norm(mor_cal_turn(a.q, b.q)), count[1]++;
            }
        for (int m = 0; m < 2; m++)
            if (count[m]) mean[m] += sum[m] / count[m], runs[m]++;
    }
    for (int m = 0; m < 2; m++) mean[m] /= runs[m] ? runs[m] : 1;
}

void mor_cal_check_still(mor_calibration* c)
{
    static const double hardly = 0.9, degrees = 57.29577951308232;
    double still[2];
    stand_still(c, still);
    for (int k = 0; k < c->method_count; k++) {
        const mor_cal_result* r = &c->results[k];
        bool far = still[0] > 0.0 && r->train[1] > hardly * still[0], turned = still[1] > 0.0 && r->train[2] > still[1];
        if (!r->done || !(far || turned)) continue;
        mor_cal_note(
            c,
            "%.200s: the best values of '%.60s' miss the training samples by %.3g %s, a body that stands still "
            "by %.3g %s: are units, axes and the order of columns right? --audit looks",
            c->plan, c->methods[k].name, far ? r->train[1] : degrees * r->train[2], far ? "m" : "degrees",
            far ? still[0] : degrees * still[1], far ? "m" : "degrees");
        return;
    }
}
