/* Reading of observed motions. */
#include "lab/observed.h"

#include "base/elementary.h"
#include "base/number.h"
#include "io/recording/recording.h"
#include "io/text/text_file.h"
#include "lab/measured.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mor_code no_memory(mor_error* error) { return mor_fail(error, MOR_SYSTEM, "out of memory"); }

static mor_code make_room(mor_observed* m, const mor_world* w, int frames, mor_error* error)
{
    size_t n = (size_t)mor_world_body_count(w), f = (size_t)frames;
    m->bodies = (int)n;
    m->time = calloc(f + 1, sizeof(double));
    m->pose = calloc(7 * f * n + 1, sizeof(double));
    m->velocity = calloc(6 * f * n + 1, sizeof(double));
    if (!m->time || !m->pose || !m->velocity) return no_memory(error);
    mor_code code = MOR_OK;
    for (size_t k = 0; k < f && !code; k++) code = mor_world_get_poses(w, m->pose + 7 * n * k, 7 * (int)n, error);
    return code;
}

/* ------------------------------------------------------------------------------------ recordings */

static mor_code read_recording(mor_observed* m, const mor_recording* r, const mor_world* w, mor_error* error)
{
    int frames = mor_recording_get_info(r)->frames, n = mor_world_body_count(w);
    mor_code code = make_room(m, w, frames, error);
    double* pose = malloc(13 * ((size_t)frames + 1) * sizeof *pose);
    if (!code && !pose) code = no_memory(error);
    if (!code) code = mor_recording_series(r, "/time", m->time, error);
    for (int i = 0; i < n && !code; i++) {
        mor_body_id id = mor_world_body(w, i);
        int index = mor_recording_find_body(r, mor_body_name(w, id));
        if (index < 0 && mor_body_get_kind(w, id) == MOR_FIXED) continue;
        double* velocity = pose + 7 * (size_t)frames;
        if (index < 0)
            code =
                mor_fail(error, MOR_BAD_INPUT, "body '%s' of the scene is not in the recording", mor_body_name(w, id));
        else code = mor_recording_body(r, index, pose, velocity, error);
        for (int k = 0; k < frames && !code; k++) {
            size_t at = (size_t)k * (size_t)n + (size_t)i;
            memcpy(m->pose + 7 * at, pose + 7 * (size_t)k, 7 * sizeof(double));
            memcpy(m->velocity + 6 * at, velocity + 6 * (size_t)k, 6 * sizeof(double));
        }
    }
    free(pose);
    m->frames = frames;
    m->velocities = true;
    return code;
}

/* ---------------------------------------------------------------------------------------- tables */

static const char* const parts[13] = { "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz" };

/* Columns of one body. */
typedef struct places {
    int column[13]; /* -1: none */
    int angle;
    bool moves, there;
} places;

static mor_code missing(const mor_measured* t, const char* name, mor_error* error)
{
    const char* near = mor_measured_near(t, name);
    return mor_fail(error, MOR_BAD_INPUT, "%.300s: there is no column '%.80s'%s%s%s", t->path, name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The columns that the caller names for the one body that moves. */
static mor_code read_columns(const mor_measured* t, const mor_world* w, const char* text, places* p, mor_error* error)
{
    char copy[1024], *rest = NULL;
    int count = 0, wanted = mor_world_dimension(w) == 2 ? 3 : 7;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return mor_fail(error, MOR_BAD_INPUT, "the list of columns is too long");
    for (char* word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest), count++) {
        int column = mor_measured_column(t, word);
        mor_code code = column < 0 ? missing(t, word, error) : mor_measured_numbers(t, column, error);
        if (code) return code;
        if (count < 7) p->column[count] = column;
    }
    if (count != wanted)
        return mor_fail(error, MOR_BAD_INPUT, "%d columns are named; a body has %s", count,
                        wanted == 3 ? "3: x,y,angle" : "7: x,y,z,qw,qx,qy,qz");
    if (wanted == 3) p->angle = p->column[2], p->column[2] = -1;
    p->there = true;
    return MOR_OK;
}

static mor_code find_columns(const mor_measured* t, const mor_world* w, mor_body_id id, places* p, mor_error* error)
{
    char name[160];
    const char* body = mor_body_name(w, id);
    bool planar = mor_world_dimension(w) == 2;
    int first = -1;
    for (int k = 0; k < 13; k++) {
        snprintf(name, sizeof name, "%s.%s", body, parts[k]);
        p->column[k] = mor_measured_column(t, name);
        mor_code code = p->column[k] < 0 ? MOR_OK : mor_measured_numbers(t, p->column[k], error);
        if (code) return code;
        if (k < 7 && p->column[k] < 0 && first < 0 && !(planar && k > 1)) first = k;
    }
    snprintf(name, sizeof name, "%s.angle", body);
    p->angle = mor_measured_column(t, name);
    p->there = first < 0 && (planar ? p->angle >= 0 || (p->column[3] >= 0 && p->column[6] >= 0) : true);
    if (p->there || mor_body_get_kind(w, id) == MOR_FIXED) return MOR_OK;
    if (first >= 0) snprintf(name, sizeof name, "%s.%s", body, parts[first]);
    return missing(t, name, error);
}

static mor_code find_all(const mor_measured* t, const mor_world* w, const mor_observed_options* o, places* all,
                         mor_error* error)
{
    int moving = 0;
    mor_code code = MOR_OK;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        for (int k = 0; k < 13; k++) all[i].column[k] = -1;
        all[i].angle = -1;
        all[i].moves = mor_body_get_kind(w, mor_world_body(w, i)) == MOR_DYNAMIC;
        moving += all[i].moves;
    }
    if (o->columns && moving != 1)
        return mor_fail(error, MOR_BAD_INPUT, "the scene has %d bodies that move; columns are named for one", moving);
    for (int i = 0; i < mor_world_body_count(w) && !code; i++)
        if (o->columns) code = all[i].moves ? read_columns(t, w, o->columns, &all[i], error) : MOR_OK;
        else code = find_columns(t, w, mor_world_body(w, i), &all[i], error);
    return code;
}

/* One row into a frame; false: a number of a body that moves is missing. */
static bool take_row(const mor_measured* t, int row, const places* all, int n, mor_observed* m)
{
    double *pose = m->pose + 7 * (size_t)n * (size_t)m->frames,
           *velocity = m->velocity + 6 * (size_t)n * (size_t)m->frames;
    for (int i = 0; i < n; i++) {
        if (!all[i].there) continue;
        double value[13];
        for (int k = 0; k < 13; k++) {
            value[k] = all[i].column[k] < 0 ? (k == 3 ? 1.0 : 0.0) : mor_measured_at(t, row, all[i].column[k]);
            if (!isfinite(value[k])) return false;
        }
        if (all[i].angle >= 0) {
            double angle = mor_measured_at(t, row, all[i].angle);
            if (!isfinite(angle)) return false;
            value[3] = mor_cos(0.5 * angle), value[6] = mor_sin(0.5 * angle);
        }
        memcpy(pose + 7 * i, value, 7 * sizeof *pose);
        memcpy(velocity + 6 * i, value + 7, 6 * sizeof *velocity);
    }
    return true;
}

static mor_code time_column(const mor_measured* t, const mor_observed_options* o, int* column, mor_error* error)
{
    static const char* const usual[] = { "time", "t", "t_s" };
    *column = o->time ? mor_measured_column(t, o->time) : -1;
    for (int i = 0; i < 3 && *column < 0 && !o->time; i++) *column = mor_measured_column(t, usual[i]);
    return *column < 0 ? missing(t, o->time ? o->time : "time", error) : mor_measured_numbers(t, *column, error);
}

static mor_code read_filter(const mor_measured* t, const char* text, int* column, double* value, mor_error* error)
{
    char name[64], *rest;
    *column = -1;
    if (!text) return MOR_OK;
    const char* equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return mor_fail(error, MOR_BAD_INPUT, "rows '%.80s': expected COLUMN=VALUE", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    *column = mor_measured_column(t, name);
    mor_code code = *column < 0 ? missing(t, name, error) : mor_measured_numbers(t, *column, error);
    if (code) return code;
    *value = mor_strtod(equals + 1, &rest);
    if (!equals[1] || *rest) return mor_fail(error, MOR_BAD_INPUT, "rows '%.80s': expected a number after =", text);
    return MOR_OK;
}

static mor_code read_table(mor_observed* m, const mor_measured* t, const mor_world* w, const mor_observed_options* o,
                           mor_error* error)
{
    int n = mor_world_body_count(w), column = 0, filter = -1;
    double only = 0.0;
    places* all = calloc((size_t)n + 1, sizeof *all);
    mor_code code = all ? time_column(t, o, &column, error) : no_memory(error);
    if (!code) code = read_filter(t, o->rows, &filter, &only, error);
    if (!code) code = find_all(t, w, o, all, error);
    if (!code) code = make_room(m, w, t->row_count, error);
    m->velocities = true;
    for (int i = 0; i < n && !code; i++)
        for (int k = 7; k < 13 && all[i].moves; k++) m->velocities = m->velocities && all[i].column[k] >= 0;
    for (int r = 0; r < t->row_count && !code; r++) {
        if (filter >= 0 && mor_measured_at(t, r, filter) != only) continue;
        double time = mor_measured_at(t, r, column);
        if (!isfinite(time) || !take_row(t, r, all, n, m)) {
            m->dropped++;
            continue;
        }
        if (m->frames && !(time > m->time[m->frames - 1]) && t->lines)
            code = mor_fail(error, MOR_BAD_INPUT, "%.300s:%d:1: the times do not rise: %g s after %g s", t->path,
                            t->lines[r], time, m->time[m->frames - 1]);
        m->time[m->frames++] = time;
    }
    free(all);
    return code;
}

/* ------------------------------------------------------------------------------------------- both */

static mor_code check(const mor_observed* m, const char* path, mor_error* error)
{
    if (m->frames < 3)
        return mor_fail(error, MOR_BAD_INPUT, "%.300s: %d sample%s%s; a motion has at least 3", path, m->frames,
                        m->frames == 1 ? "" : "s", m->dropped ? " without missing numbers" : "");
    for (int k = 0; k < m->frames; k++) {
        if (k > 0 && !(m->time[k] > m->time[k - 1]))
            return mor_fail(error, MOR_BAD_INPUT, "%.300s: the times do not rise: %g s after %g s", path, m->time[k],
                            m->time[k - 1]);
        for (int i = 0; i < m->bodies; i++) {
            const double* q = m->pose + 7 * ((size_t)k * (size_t)m->bodies + (size_t)i) + 3;
            double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            if (!(size > 0.25 && size < 4.0))
                return mor_fail(error, MOR_BAD_INPUT, "%.300s: at %g s a quaternion has the length %.3g", path,
                                m->time[k], sqrt(size));
        }
    }
    return MOR_OK;
}

mor_code mor_observed_read(mor_observed* m, const char* path, const mor_world* w, const mor_observed_options* o,
                           mor_error* error)
{
    mor_observed_options none = { 0 };
    mor_error inner = { 0 };
    *m = (mor_observed){ 0 };
    mor_recording* r = mor_file_begins(path, "\x89HDF\r\n\x1a\n", 8) ? mor_recording_open(path, &inner) : NULL;
    mor_code code;
    if (r) {
        code = read_recording(m, r, w, error);
        mor_recording_close(r);
    } else {
        mor_measured t;
        code = mor_measured_read(&t, path, error);
        if (!code) {
            code = read_table(m, &t, w, o ? o : &none, error);
            mor_measured_free(&t);
        }
    }
    if (!code) code = check(m, path, error);
    if (code) mor_observed_free(m);
    return code;
}

void mor_observed_free(mor_observed* m)
{
    free(m->time);
    free(m->pose);
    free(m->velocity);
    *m = (mor_observed){ 0 };
}
