/* The reader of recordings, see recording.h.
 *
 * The number of frames is the length of /time, which the writer extends last (frames.c); every other
 * series must be at least as long. When a live or killed file is read, HDF5 does not check its length
 * and reads zeros beyond the end of a truncated one; time running backwards gives that away. */
#include "io/recording/recording.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/recording/frames.h"
#include "io/hdf5/h5.h"

struct mor_recording {
    mor_h5 h5;
    mor_recording_info info;
    char (*names)[MOR_RECORDING_NAME];
    int32_t* kinds;
    char* text;
    mor_recording_bands bands;
};

/* ---------------------------------------------------------------------------------- opening */

static mor_code read_meta(mor_recording* r, mor_error* error)
{
    mor_recording_info* info = &r->info;
    char format[64];
    int contacts = 0;
    mor_error why = { 0 };
    bool there = mor_h5_exists(&r->h5, "/meta"),
         named = there && !mor_h5_get_text(&r->h5, "/meta", "format", format, sizeof format, &why);
    if (why.code == MOR_SYSTEM) return mor_fail(error, why.code, "%s", why.text);
    if (!named || strcmp(format, MOR_RECORDING_FORMAT) != 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta: an HDF5 file, but not a Moreau recording", r->h5.path);
    mor_code code = mor_h5_get_int(&r->h5, "/meta", "version", &info->version, error);
    if (code) return code;
    if (info->version < 1 || info->version > MOR_RECORDING_VERSION)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/meta@version: format version %d; this program reads up to %d",
                        r->h5.path, info->version, MOR_RECORDING_VERSION);
    const struct {
        const char* name;
        char* text;
        size_t size;
    } texts[] = {
        { "producer", info->producer, sizeof info->producer },
        { "scene_name", info->scene_name, sizeof info->scene_name },
        { "formulation", info->formulation, sizeof info->formulation },
        { "solver", info->solver, sizeof info->solver },
        { "collision", info->collision, sizeof info->collision },
    };
    for (size_t i = 0; !code && i < sizeof texts / sizeof *texts; i++)
        code = mor_h5_get_text(&r->h5, "/meta", texts[i].name, texts[i].text, texts[i].size, error);
    if (!code) code = mor_h5_get_int(&r->h5, "/meta", "dimension", &info->dimension, error);
    if (!code) code = mor_h5_get_int(&r->h5, "/meta", "every", &info->every, error);
    if (!code) code = mor_h5_get_int(&r->h5, "/meta", "contacts", &contacts, error);
    if (!code) code = mor_h5_get_doubles(&r->h5, "/meta", "step", &info->step, 1, error);
    if (!code) code = mor_h5_get_doubles(&r->h5, "/meta", "gravity", &info->gravity.x, 3, error);
    if (!code && mor_h5_get_text(&r->h5, "/meta", "ground", info->ground, sizeof info->ground, NULL))
        info->ground[0] = '\0';
    info->has_contacts = contacts != 0;
    info->live = r->h5.live;
    snprintf(info->path, sizeof info->path, "%s", r->h5.path);
    return code;
}

static mor_code read_bodies(mor_recording* r, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK], zero = 0;
    mor_code code = mor_h5_dims(&r->h5, "/bodies/kind", &rank, dims, error);
    if (code) return code;
    if (rank != 1 || dims[0] > INT_MAX / 8)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/bodies/kind: wrong shape; one number per body is expected",
                        r->h5.path);
    r->info.bodies = (int)dims[0];
    r->names = calloc(dims[0] + 1, sizeof *r->names);
    r->kinds = calloc(dims[0] + 1, sizeof *r->kinds);
    if (!r->names || !r->kinds) return mor_fail(error, MOR_SYSTEM, "out of memory");
    code = mor_h5_read(&r->h5, "/bodies/kind", MOR_H5_INT, 1, &zero, dims, r->kinds, error);
    if (!code) code = mor_h5_read_texts(&r->h5, "/bodies/name", (char*)r->names, MOR_RECORDING_NAME, dims[0], error);
    return code;
}

/* Rank and trailing dimensions of a growing dataset, and at least `frames` rows. */
static mor_code check_shape(const mor_recording* r, const char* path, int rank, size_t d1, size_t d2, mor_error* error)
{
    int stored;
    size_t dims[MOR_H5_RANK];
    mor_code code = mor_h5_dims(&r->h5, path, &stored, dims, error);
    if (code) return code;
    if (stored != rank || (rank > 1 && dims[1] != d1) || (rank > 2 && dims[2] != d2))
        return mor_fail(error, MOR_BAD_INPUT, "%s:%s: wrong shape; frames%s%.0d%s%.0d are expected", r->h5.path, path,
                        rank > 1 ? " x " : "", rank > 1 ? (int)d1 : 0, rank > 2 ? " x " : "", rank > 2 ? (int)d2 : 0);
    if (dims[0] < (size_t)r->info.frames)
        return mor_fail(error, MOR_BAD_INPUT, "%s:%s: has %zu rows, but /time has %d frames", r->h5.path, path, dims[0],
                        r->info.frames);
    return MOR_OK;
}

mor_code mor_recording_refresh(mor_recording* r, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK];
    mor_code code = mor_h5_dims(&r->h5, "/time", &rank, dims, error);
    if (code) return code;
    if (rank != 1 || dims[0] > INT_MAX / 16)
        return mor_fail(error, MOR_BAD_INPUT, "%s:/time: wrong shape; one number per frame is expected", r->h5.path);
    r->info.frames = (int)dims[0];
    return MOR_OK;
}

static mor_code check_time(const mor_recording* r, mor_error* error)
{
    double* time = calloc((size_t)r->info.frames + 1, sizeof *time);
    if (!time) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = mor_recording_series(r, "/time", time, error);
    for (int i = 1; !code && i < r->info.frames; i++)
        if (!(time[i] >= time[i - 1]))
            code = mor_fail(error, MOR_BAD_INPUT, "%s:/time: runs backwards at frame %d; truncated or damaged file",
                            r->h5.path, i);
    free(time);
    return code;
}

mor_recording* mor_recording_open(const char* path, mor_error* error)
{
    mor_recording* r = calloc(1, sizeof *r);
    if (!r) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    mor_code code = mor_h5_open(&r->h5, path, error);
    if (!code) code = read_meta(r, error);
    if (!code) code = read_bodies(r, error);
    if (!code) code = mor_recording_refresh(r, error);
    if (!code) code = check_shape(r, "/pose", 3, (size_t)r->info.bodies, 7, error);
    if (!code) code = check_shape(r, "/velocity", 3, (size_t)r->info.bodies, 6, error);
    if (!code) code = check_time(r, error);
    if (code) {
        mor_recording_close(r);
        return NULL;
    }
    return r;
}

static void drop_bands(mor_recording* r)
{
    free(r->bands.time);
    free(r->bands.body);
    free(r->bands.half);
}

void mor_recording_set_bands(mor_recording* r, const mor_recording_bands* bands)
{
    drop_bands(r);
    r->bands = *bands;
}

const mor_recording_bands* mor_recording_get_bands(const mor_recording* r) { return r->bands.time ? &r->bands : NULL; }

void mor_recording_close(mor_recording* r)
{
    if (!r) return;
    drop_bands(r);
    mor_h5_close(&r->h5, NULL);
    free(r->names);
    free(r->kinds);
    free(r->text);
    free(r);
}

/* ---------------------------------------------------------------------------------- asking */

const mor_recording_info* mor_recording_get_info(const mor_recording* r) { return &r->info; }

const char* mor_recording_body_name(const mor_recording* r, int body)
{
    return body >= 0 && body < r->info.bodies ? r->names[body] : "";
}

mor_body_kind mor_recording_body_kind(const mor_recording* r, int body) { return (mor_body_kind)r->kinds[body]; }

int mor_recording_find_body(const mor_recording* r, const char* name)
{
    for (int i = 0; i < r->info.bodies; i++)
        if (strcmp(r->names[i], name) == 0) return i;
    return -1;
}

const char* mor_recording_scene_text(mor_recording* r, mor_error* error)
{
    if (r->text) return r->text;
    /* Read with growing room until the text ends before it does. */
    for (size_t room = 1 << 16;; room *= 4) {
        char* text = calloc(1, room);
        if (!text) {
            mor_fail(error, MOR_SYSTEM, "out of memory");
            return NULL;
        }
        mor_code code = mor_h5_exists(&r->h5, "/meta/scene_text")
                            ? mor_h5_read_texts(&r->h5, "/meta/scene_text", text, room, 1, error)
                            : MOR_OK;
        if (code) {
            free(text);
            return NULL;
        }
        if (strlen(text) < room - 1) {
            r->text = text;
            return text;
        }
        free(text);
    }
}

bool mor_recording_has(const mor_recording* r, const char* path) { return mor_h5_exists(&r->h5, path); }

mor_code mor_recording_series(const mor_recording* r, const char* path, double* values, mor_error* error)
{
    mor_code code = check_shape(r, path, 1, 0, 0, error);
    size_t zero = 0, frames = (size_t)r->info.frames;
    return code ? code : mor_h5_read(&r->h5, path, MOR_H5_DOUBLE, 1, &zero, &frames, values, error);
}

mor_code mor_recording_body(const mor_recording* r, int body, double* pose, double* velocity, mor_error* error)
{
    size_t start[3] = { 0, (size_t)body, 0 }, frames = (size_t)r->info.frames;
    mor_code code = MOR_OK;
    if (pose) code = mor_h5_read(&r->h5, "/pose", MOR_H5_DOUBLE, 3, start, (size_t[]){ frames, 1, 7 }, pose, error);
    if (!code && velocity)
        code = mor_h5_read(&r->h5, "/velocity", MOR_H5_DOUBLE, 3, start, (size_t[]){ frames, 1, 6 }, velocity, error);
    return code;
}

mor_code mor_recording_contact_totals(const mor_recording* r, double* normal, double* largest, double* friction,
                                      mor_error* error)
{
    mor_code code = MOR_OK;
    if (normal) code = mor_recording_series(r, "/contacts/normal_total", normal, error);
    if (!code && largest) code = mor_recording_series(r, "/contacts/normal_max", largest, error);
    if (!code && friction) code = mor_recording_series(r, "/contacts/friction_total", friction, error);
    return code;
}

/* The contacts of all frames are read in blocks; a block is added to its frames by walking both in order. */
mor_code mor_recording_body_impulse(const mor_recording* r, int body, double* impulse, mor_error* error)
{
    enum { BLOCK = 8192 };
    const int frames = r->info.frames;
    if (!r->info.has_contacts)
        return mor_fail(error, MOR_BAD_INPUT,
                        "%s:/contacts: contacts were not recorded one by one (record: contacts: true)", r->h5.path);
    double* start = calloc((size_t)frames + 1, sizeof *start);
    double* count = calloc((size_t)frames + 1, sizeof *count);
    int32_t* pair = calloc(BLOCK, 2 * sizeof *pair);
    double* p = calloc(BLOCK, 3 * sizeof *p);
    mor_code code = MOR_OK;
    if (!start || !count || !pair || !p) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_recording_series(r, "/contacts/start", start, error);
    if (!code) code = mor_recording_series(r, "/contacts/count", count, error);
    if (!code) memset(impulse, 0, (size_t)frames * 3 * sizeof *impulse);

    double total = frames > 0 && !code ? start[frames - 1] + count[frames - 1] : 0.0;
    if (!code && !(total >= 0.0 && total < 9e15))
        code = mor_fail(error, MOR_BAD_INPUT, "%s:/contacts/start: impossible offsets", r->h5.path);
    size_t rows = code ? 0 : (size_t)total;
    int f = 0;
    for (size_t first = 0; !code && first < rows; first += BLOCK) {
        size_t n = rows - first < BLOCK ? rows - first : BLOCK;
        code = mor_h5_read(&r->h5, "/contacts/body", MOR_H5_INT, 2, (size_t[]){ first, 0 }, (size_t[]){ n, 2 }, pair,
                           error);
        if (!code)
            code = mor_h5_read(&r->h5, "/contacts/impulse", MOR_H5_DOUBLE, 2, (size_t[]){ first, 0 },
                               (size_t[]){ n, 3 }, p, error);
        for (size_t k = 0; !code && k < n; k++) {
            while (f < frames - 1 && (double)(first + k) >= start[f] + count[f]) f++;
            double sign = (pair[2 * k + 1] == body) - (pair[2 * k] == body);
            for (int i = 0; i < 3; i++) impulse[3 * f + i] += sign * p[3 * k + (size_t)i];
        }
    }
    free(start);
    free(count);
    free(pair);
    free(p);
    return code;
}

double* mor_recording_table(const mor_recording* r, const char* path, int* rows, int* columns, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK], zero[MOR_H5_RANK] = { 0 }, total = 1;
    if (mor_h5_dims(&r->h5, path, &rank, dims, error)) return NULL;
    for (int i = 0; i < rank; i++) {
        if (dims[i] > 0 && total > SIZE_MAX / 64 / dims[i]) total = SIZE_MAX / 64;
        else total *= dims[i];
    }
    double* data = total < (size_t)1 << 31 ? calloc(total + 1, sizeof *data) : NULL;
    if (!data) {
        mor_fail(error, MOR_SYSTEM, "%s:%s: too large to hold in memory", r->h5.path, path);
        return NULL;
    }
    if (mor_h5_read(&r->h5, path, MOR_H5_DOUBLE, rank, zero, dims, data, error)) {
        free(data);
        return NULL;
    }
    *rows = rank > 0 ? (int)dims[0] : 1;
    *columns = *rows > 0 ? (int)(total / (size_t)*rows) : 0;
    return data;
}

mor_code mor_recording_shape(const mor_recording* r, const char* path, int* rows, int* width, char* unit,
                             size_t unit_size, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK], total = 1;
    if (!mor_h5_exists(&r->h5, path))
        return mor_fail(error, MOR_BAD_INPUT, "%s:%s: there is no such dataset", r->h5.path, path);
    mor_code code = mor_h5_dims(&r->h5, path, &rank, dims, error);
    if (code) return code;
    for (int i = 1; i < rank; i++) total *= dims[i] <= INT_MAX ? dims[i] : INT_MAX;
    *rows = rank < 1 ? 0 : dims[0] > INT_MAX ? INT_MAX : (int)dims[0];
    *width = total > INT_MAX / 16 ? 0 : (int)total;
    unit[0] = '\0';
    if (mor_h5_has_attribute(&r->h5, path, "unit"))
        code = mor_h5_get_text(&r->h5, path, "unit", unit, unit_size, error);
    return code;
}

char* mor_recording_texts(const mor_recording* r, const char* path, size_t width, size_t count, mor_error* error)
{
    char* texts = calloc(count + 1, width);
    if (!texts) mor_fail(error, MOR_SYSTEM, "out of memory");
    else if (mor_h5_read_texts(&r->h5, path, texts, width, count, error)) {
        free(texts);
        return NULL;
    }
    return texts;
}

mor_code mor_recording_rows(const mor_recording* r, const char* path, size_t first, size_t count, int width,
                            double* values, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK], start[MOR_H5_RANK] = { first }, total = 1;
    mor_code code = mor_h5_dims(&r->h5, path, &rank, dims, error);
    if (code) return code;
    for (int i = 1; i < rank; i++) total *= dims[i] <= INT_MAX ? dims[i] : INT_MAX;
    if (rank < 1 || total != (size_t)width)
        return mor_fail(error, MOR_BAD_INPUT, "%s:%s: wrong shape; rows of %d numbers are expected", r->h5.path, path,
                        width);
    if (first > dims[0] || count > dims[0] - first)
        return mor_fail(error, MOR_BAD_INPUT, "%s:%s: has %zu rows; %zu to %zu are needed", r->h5.path, path, dims[0],
                        first, first + count);
    if (count == 0) return MOR_OK;
    dims[0] = count;
    return mor_h5_read(&r->h5, path, MOR_H5_DOUBLE, rank, start, dims, values, error);
}
