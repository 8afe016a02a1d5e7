/* Visuals for the page: triangles as base64 of little-endian single precision
 * numbers and 32-bit indices, which a browser takes as they are. A robot's
 * meshes would be several times larger as numbers in text. */
#include "serve/visuals.h"
#include "base/failed.h"
#include "io/scene/scene_visual.h"
#include "serve/export.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mor_view_color(mor_json* json, const double color[4]) { mor_json_numbers(json, "color", color, 4); }

/* A text: what stands before, and bytes as base64. */
static mor_code write_bytes(mor_json* json, const char* key, const char* before, const unsigned char* bytes,
                            size_t size, mor_error* error)
{
    char* text = NULL;
    size_t length;
    FILE* memory = bytes ? open_memstream(&text, &length) : NULL;
    bool good = memory && fputs(before, memory) >= 0;
    if (memory) {
        mor_write_base64(memory, bytes, size);
        good = fclose(memory) == 0 && good;
    }
    if (good) mor_json_text(json, key, text);
    free(text);
    return good ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

static mor_code write_words(mor_json* json, const char* key, const uint32_t* words, size_t count, mor_error* error)
{
    unsigned char* bytes = malloc(4 * count + 1);
    for (size_t i = 0; bytes && i < 4 * count; i++) bytes[i] = (unsigned char)(words[i / 4] >> (8 * (i % 4)));
    mor_code code = write_bytes(json, key, "", bytes, 4 * count, error);
    free(bytes);
    return code;
}

typedef struct drawing {
    int body, like; /* like: an earlier one with the same triangles, -1: none */
    const double *pose, *color, *points;
    const uint32_t* corners;
    size_t point_count, corner_count;
    const double* spots; /* 2 of each point, NULL: none */
    int picture;         /* number from 0, -1: none */
} drawing;

/* A list of numbers in single precision. */
static mor_code write_floats(mor_json* json, const char* key, const double* numbers, size_t count, mor_error* error)
{
    uint32_t* words = malloc((count + 1) * sizeof *words);
    if (!words) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        float x = isfinite(numbers[i]) ? (float)numbers[i] : 0.0f;
        memcpy(&words[i], &x, sizeof x);
    }
    mor_code code = write_words(json, key, words, count, error);
    free(words);
    return code;
}

/* A picture as an address with its bytes. */
static mor_code write_picture(mor_json* json, const unsigned char* bytes, size_t size, mor_error* error)
{
    bool png = size > 3 && bytes[0] == 0x89;
    return write_bytes(json, NULL, png ? "data:image/png;base64," : "data:image/jpeg;base64,", bytes, size, error);
}

static mor_code write_visual(mor_json* json, const drawing* d, mor_error* error)
{
    if (d->like >= 0) {
        mor_json_object(json, NULL);
        mor_json_integer(json, "body", d->body);
        mor_json_numbers(json, "pose", d->pose, 7);
        mor_view_color(json, d->color);
        if (d->picture >= 0) mor_json_integer(json, "picture", d->picture);
        mor_json_integer(json, "like", d->like);
        mor_json_end(json);
        return MOR_OK;
    }
    mor_json_object(json, NULL);
    mor_json_integer(json, "body", d->body);
    mor_json_numbers(json, "pose", d->pose, 7);
    mor_view_color(json, d->color);
    mor_code code = write_floats(json, "points", d->points, 3 * d->point_count, error);
    if (!code) code = write_words(json, "triangles", d->corners, d->corner_count, error);
    if (!code && d->picture >= 0) {
        mor_json_integer(json, "picture", d->picture);
        code = write_floats(json, "spots", d->spots, 2 * d->point_count, error);
    }
    if (!code) mor_json_end(json);
    return code;
}

mor_code mor_view_scene_visuals(mor_json* json, const mor_world* world, const mor_scene* scene, mor_error* error)
{
    mor_visuals* visuals = mor_visuals_read(scene);
    mor_code code = visuals ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_json_list(json, "visuals");
    for (int i = 0; !code && i < visuals->count; i++) {
        const mor_visual* v = &visuals->items[i];
        const double pose[7] = { v->pose.position.x, v->pose.position.y, v->pose.position.z, v->pose.rotation.w,
                                 v->pose.rotation.x, v->pose.rotation.y, v->pose.rotation.z };
        drawing d = { -1,
                      -1,
                      pose,
                      v->color,
                      &v->points[0].x,
                      (const uint32_t*)v->triangles,
                      (size_t)v->point_count,
                      3 * (size_t)v->triangle_count,
                      NULL,
                      v->picture - 1 };
        double* spots = v->picture ? malloc((2 * d.point_count + 1) * sizeof *spots) : NULL;
        if (v->picture && !spots) code = mor_fail(error, MOR_SYSTEM, "out of memory");
        for (size_t k = 0; spots && k < 2 * d.point_count; k++) spots[k] = v->spots[k];
        d.spots = spots;
        for (int k = 0; k < i && d.like < 0; k++)
            if (visuals->items[k].points == v->points && visuals->items[k].triangles == v->triangles) d.like = k;
        if (*v->body) d.body = -2; /* of a body that is gone */
        for (int b = 0; *v->body && b < mor_world_body_count(world); b++)
            if (strcmp(mor_body_name(world, mor_world_body(world, b)), v->body) == 0) d.body = b;
        if (!code) code = write_visual(json, &d, error);
        free(spots);
    }
    if (!code) mor_json_end(json);
    if (!code && visuals->picture_count) {
        mor_json_list(json, "pictures");
        for (int i = 0; !code && i < visuals->picture_count; i++)
            code = write_picture(json, visuals->pictures[i]->bytes, visuals->pictures[i]->size, error);
        if (!code) mor_json_end(json);
    }
    mor_visuals_free(visuals);
    return code;
}

/* -------------------------------------------------------------------------------
 * recordings */

enum { BODY, POSE, COLOR, RANGE, POINT, TRIANGLE, TABLES };
static const struct {
    const char* path;
    int columns;
} tables[TABLES] = { { "/visuals/body", 1 },  { "/visuals/pose", 7 },  { "/visuals/color", 4 },
                     { "/visuals/range", 4 }, { "/visuals/point", 3 }, { "/visuals/triangle", 3 } };

/* Pictures of a recording; tables are NULL where it has none. */
enum { NUMBER, SPOT, FILES, BYTES, PICTURE_TABLES };
typedef struct recorded_pictures {
    double* t[PICTURE_TABLES];
    int rows[PICTURE_TABLES];
} recorded_pictures;

static mor_code read_pictures(const mor_recording* r, const char* path, int visuals, int points, recorded_pictures* p,
                              mor_error* error)
{
    static const struct {
        const char* path;
        int columns;
    } names[] = { { "/visuals/picture", 1 }, { "/visuals/spot", 2 }, { "/visuals/file", 2 }, { "/visuals/bytes", 1 } };
    if (!mor_recording_has(r, names[0].path)) return MOR_OK;
    int columns;
    for (int i = 0; i < PICTURE_TABLES; i++) {
        p->t[i] = mor_recording_table(r, names[i].path, &p->rows[i], &columns, error);
        if (!p->t[i]) return mor_failed(error, MOR_BAD_INPUT);
        int want = i == NUMBER ? visuals : i == SPOT ? points : p->rows[i];
        if ((p->rows[i] > 0 && columns != names[i].columns) || p->rows[i] != want)
            return mor_fail(error, MOR_BAD_INPUT, "%s:%s: another number of rows or columns is expected", path,
                            names[i].path);
    }
    return MOR_OK;
}

static mor_code write_recorded_pictures(mor_json* json, const recorded_pictures* p, const char* path, mor_error* error)
{
    if (!p->t[FILES]) return MOR_OK;
    mor_json_list(json, "pictures");
    for (int i = 0; i < p->rows[FILES]; i++) {
        double first = p->t[FILES][2 * i], size = p->t[FILES][2 * i + 1];
        if (!(first >= 0.0 && size >= 0.0 && first + (size + 3.0) / 4.0 < p->rows[BYTES] + 1.0))
            return mor_fail(error, MOR_BAD_INPUT, "%s:/visuals/file: outside of the bytes", path);
        unsigned char* bytes = malloc((size_t)size + 1);
        if (!bytes) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (size_t k = 0; k < (size_t)size; k++) {
            uint32_t word = (uint32_t)(int32_t)p->t[BYTES][(size_t)first + k / 4];
            bytes[k] = (unsigned char)(word >> 8 * (k % 4));
        }
        mor_code code = write_picture(json, bytes, (size_t)size, error);
        free(bytes);
        if (code) return code;
    }
    mor_json_end(json);
    return MOR_OK;
}

/* Row i as triangles, checked; the indices become words in `corners`. */
static mor_code recorded(mor_json* json, double* const* t, const int* rows, int i, int bodies, uint32_t* corners,
                         const recorded_pictures* pictures, const char* path, mor_error* error)
{
    const double* range = t[RANGE] + 4 * (size_t)i;
    for (int k = 0; k < 4; k += 2)
        if (!(range[k] >= 0.0 && range[k + 1] >= 0.0 && range[k] + range[k + 1] <= rows[k ? TRIANGLE : POINT]))
            return mor_fail(error, MOR_BAD_INPUT, "%s:/visuals/range: outside of the %s", path,
                            k ? "triangles" : "points");
    size_t count = 3 * (size_t)range[3];
    const double* from = t[TRIANGLE] + 3 * (size_t)range[2];
    for (size_t k = 0; k < count; k++) {
        if (!(from[k] >= 0.0 && from[k] < range[1]))
            return mor_fail(error, MOR_BAD_INPUT, "%s:/visuals/triangle: a corner that is not there", path);
        corners[k] = (uint32_t)from[k];
    }
    double body = t[BODY][i];
    int like = -1;
    for (int k = 0; k < i && like < 0; k++)
        if (memcmp(range, t[RANGE] + 4 * (size_t)k, 4 * sizeof *range) == 0) like = k;
    drawing d = { body >= 0.0 && body < bodies ? (int)body : -1,
                  like,
                  t[POSE] + 7 * (size_t)i,
                  t[COLOR] + 4 * (size_t)i,
                  t[POINT] + 3 * (size_t)range[0],
                  corners,
                  (size_t)range[1],
                  count,
                  NULL,
                  -1 };
    if (pictures->t[NUMBER] && pictures->t[NUMBER][i] >= 1.0 && pictures->t[NUMBER][i] <= pictures->rows[FILES]) {
        d.picture = (int)pictures->t[NUMBER][i] - 1;
        d.spots = pictures->t[SPOT] + 2 * (size_t)range[0];
    }
    return write_visual(json, &d, error);
}

mor_code mor_view_recorded_visuals(mor_json* json, const mor_recording* r, mor_error* error)
{
    if (!mor_recording_has(r, "/visuals/body")) return MOR_OK;
    const mor_recording_info* info = mor_recording_get_info(r);
    double* t[TABLES] = { 0 };
    int rows[TABLES] = { 0 }, columns;
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < TABLES; i++) {
        t[i] = mor_recording_table(r, tables[i].path, &rows[i], &columns, error);
        if (!t[i]) code = mor_failed(error, MOR_BAD_INPUT);
        else if ((rows[i] > 0 && columns != tables[i].columns) || (i < POINT && rows[i] != rows[0]))
            code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: rows of %d numbers are expected", info->path, tables[i].path,
                            tables[i].columns);
    }
    recorded_pictures pictures = { 0 };
    if (!code) code = read_pictures(r, info->path, rows[BODY], rows[POINT], &pictures, error);
    uint32_t* corners = code ? NULL : malloc((3 * (size_t)rows[TRIANGLE] + 1) * sizeof *corners);
    if (!code && !corners) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) mor_json_list(json, "visuals");
    for (int i = 0; !code && i < rows[BODY]; i++)
        code = recorded(json, t, rows, i, info->bodies, corners, &pictures, info->path, error);
    if (!code) mor_json_end(json);
    if (!code) code = write_recorded_pictures(json, &pictures, info->path, error);
    for (int i = 0; i < PICTURE_TABLES; i++) free(pictures.t[i]);
    free(corners);
    for (int i = 0; i < TABLES; i++) free(t[i]);
    return code;
}
