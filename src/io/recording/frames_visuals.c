/* What is drawn in a recording besides the shapes: /visuals and /bodies/color;
 * see docs/recording.md. */
#include "io/recording/frames_describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mor_code mor_frames_write_colors(mor_h5* h5, const mor_frames_def* def, mor_error* error)
{
    if (!def->colors) return MOR_OK;
    mor_code code = mor_h5_write(h5, "/bodies/color", MOR_H5_DOUBLE, 2, (size_t[]){ (size_t)def->body_count, 4 },
                                 def->colors, error);
    if (code) return code;
    return mor_frames_describe(h5, "/bodies/color", "1", "red, green, blue, opacity; NaN: as the viewer likes", error);
}

static int body_of(const mor_frames_def* def, const char* name)
{
    for (int i = 0; *name && i < def->body_count; i++)
        if (strcmp(def->bodies[i].name, name) == 0) return i;
    return -1;
}

/* An earlier visual with the same triangles: a robot has four equal legs. -1: none. */
static int same_before(const mor_visuals* v, int i)
{
    for (int k = 0; k < i; k++)
        if (v->items[k].points == v->items[i].points && v->items[k].triangles == v->items[i].triangles) return k;
    return -1;
}

/* Pictures as words of four bytes, the lowest first, and which words and how many bytes each has; the number of the
 * picture of every visual, the places of the points on it. Nothing where no visual has a picture. */
static mor_code write_pictures(mor_h5* h5, const mor_visuals* v, const int32_t* range, size_t points, mor_error* error)
{
    size_t n = (size_t)v->count, pictures = (size_t)v->picture_count, words = 0, at = 0;
    if (pictures == 0) return MOR_OK;
    for (size_t i = 0; i < pictures; i++) words += (v->pictures[i]->size + 3) / 4;
    int32_t* ints = calloc(words + n + 2 * pictures + 1, sizeof *ints);
    double* spots = malloc((2 * points + 1) * sizeof *spots);
    if (!ints || !spots) {
        free(ints);
        free(spots);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    int32_t *number = ints + words, *of = number + n;
    for (size_t i = 0; i < pictures; i++) {
        const mor_visual_picture* p = v->pictures[i];
        of[2 * i] = (int32_t)at, of[2 * i + 1] = (int32_t)p->size;
        for (size_t k = 0; k < p->size; k++)
            ints[at + k / 4] = (int32_t)((uint32_t)ints[at + k / 4] | (uint32_t)p->bytes[k] << 8 * (k % 4));
        at += (p->size + 3) / 4;
    }
    for (size_t i = 0; i < 2 * points; i++) spots[i] = NAN;
    for (size_t i = 0; i < n; i++) {
        const mor_visual* x = &v->items[i];
        number[i] = x->picture;
        for (int k = 0; x->spots && k < 2 * x->point_count; k++)
            spots[2 * (size_t)range[4 * i] + (size_t)k] = x->spots[k];
    }
    mor_code code = mor_h5_write(h5, "/visuals/picture", MOR_H5_INT, 1, &n, number, error);
    if (!code) code = mor_h5_write(h5, "/visuals/spot", MOR_H5_DOUBLE, 2, (size_t[]){ points, 2 }, spots, error);
    if (!code) code = mor_h5_write(h5, "/visuals/file", MOR_H5_INT, 2, (size_t[]){ pictures, 2 }, of, error);
    if (!code) code = mor_h5_write(h5, "/visuals/bytes", MOR_H5_INT, 1, &words, ints, error);
    free(ints);
    free(spots);
    return code;
}

mor_code mor_frames_write_visuals(mor_h5* h5, const mor_frames_def* def, mor_error* error)
{
    if (!def->visuals || def->visuals->count == 0) return MOR_OK;
    size_t n = (size_t)def->visuals->count, points = 0, triangles = 0;
    for (size_t i = 0; i < n; i++) {
        if (same_before(def->visuals, (int)i) >= 0) continue;
        points += (size_t)def->visuals->items[i].point_count;
        triangles += (size_t)def->visuals->items[i].triangle_count;
    }
    int32_t* ints = calloc(5 * n + 3 * triangles + 1, sizeof *ints);
    double* numbers = calloc(11 * n + 3 * points + 1, sizeof *numbers);
    if (!ints || !numbers) {
        free(ints);
        free(numbers);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    int32_t *body = ints, *range = body + n, *corner = range + 4 * n;
    double *pose = numbers, *color = pose + 7 * n, *point = color + 4 * n;
    size_t p = 0, t = 0;
    for (size_t i = 0; i < n; i++) {
        const mor_visual* v = &def->visuals->items[i];
        body[i] = body_of(def, v->body);
        const double at[7] = { v->pose.position.x, v->pose.position.y, v->pose.position.z, v->pose.rotation.w,
                               v->pose.rotation.x, v->pose.rotation.y, v->pose.rotation.z };
        memcpy(pose + 7 * i, at, sizeof at);
        memcpy(color + 4 * i, v->color, sizeof v->color);
        int same = same_before(def->visuals, (int)i);
        if (same >= 0) {
            memcpy(range + 4 * i, range + 4 * (size_t)same, 4 * sizeof *range);
            continue;
        }
        const int32_t of[4] = { (int32_t)p, v->point_count, (int32_t)t, v->triangle_count };
        memcpy(range + 4 * i, of, sizeof of);
        memcpy(point + 3 * p, v->points, 3 * (size_t)v->point_count * sizeof *point);
        for (int k = 0; k < 3 * v->triangle_count; k++) corner[3 * t + (size_t)k] = v->triangles[k];
        p += (size_t)v->point_count;
        t += (size_t)v->triangle_count;
    }
    mor_code code = mor_h5_group(h5, "/visuals", error);
    if (!code) code = mor_h5_write(h5, "/visuals/body", MOR_H5_INT, 1, &n, body, error);
    if (!code) code = mor_h5_write(h5, "/visuals/pose", MOR_H5_DOUBLE, 2, (size_t[]){ n, 7 }, pose, error);
    if (!code) code = mor_h5_write(h5, "/visuals/color", MOR_H5_DOUBLE, 2, (size_t[]){ n, 4 }, color, error);
    if (!code) code = mor_h5_write(h5, "/visuals/range", MOR_H5_INT, 2, (size_t[]){ n, 4 }, range, error);
    if (!code) code = mor_h5_write(h5, "/visuals/point", MOR_H5_DOUBLE, 2, (size_t[]){ points, 3 }, point, error);
    if (!code) code = mor_h5_write(h5, "/visuals/triangle", MOR_H5_INT, 2, (size_t[]){ triangles, 3 }, corner, error);
    if (!code) code = write_pictures(h5, def->visuals, range, points, error);
    if (!code) code = mor_frames_describe(h5, "/visuals/point", "m", "corners, in the frame of the visual", error);
    free(ints);
    free(numbers);
    return code;
}
