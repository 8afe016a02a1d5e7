/* Sensitivity bands of a recording.
 *
 * The run is taken again with its derivatives. With S_k the derivative of the state by all inputs after step k and s
 * the spreads of the inputs, independent of each other, the state is known to first order within
 *
 *     b_k = sqrt(sum_i (S_k,i s_i)^2),    S_k+1 = A_k S_k + B_k.
 *
 * The recording gets the b of positions and velocities of the centres of mass of its bodies, at most MOST times of it.
 * Links of robots have none. */
#include "lab/bands.h"

#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000 };
#define SAME 1e-6     /* m: the world is where the recording is */
#define NOTHING 1e-12 /* m, m/s: rounding of directions that the inputs do not move */

typedef struct track {
    int body, nu, parts; /* of the recording; first of its numbers in nu; 3 in space, 2 in the plane */
    double* half;        /* 6 x points */
} track;

typedef struct bands {
    mor_world* w;
    mor_recording* r;
    const mor_band_inputs* of;
    int n, frames, stride, points;
    double *time, *S, *next; /* of the frames; 2 n x inputs */
    track* tracks;
    int count;
} bands;

static bool make_room(bands* b)
{
    size_t numbers = 2 * (size_t)b->n * (size_t)b->of->count;
    int bodies = mor_world_body_count(b->w);
    b->time = calloc((size_t)b->frames + 1, sizeof *b->time);
    b->S = calloc(numbers + 1, sizeof *b->S);
    b->next = calloc(numbers + 1, sizeof *b->next);
    b->tracks = calloc((size_t)bodies + 1, sizeof *b->tracks);
    if (!b->time || !b->S || !b->next || !b->tracks) return false;
    for (int i = 0; i < bodies; i++) {
        mor_body_id id = mor_world_body(b->w, i);
        int at = mor_recording_find_body(b->r, mor_body_name(b->w, id));
        mor_span s = mor_body_span(b->w, id);
        if (at < 0 || mor_body_get_kind(b->w, id) != MOR_DYNAMIC || !s.nu_count) continue;
        track* t = &b->tracks[b->count];
        *t = (track){ at, s.nu, s.nu_count == 6 ? 3 : 2, calloc(6 * (size_t)b->points + 1, sizeof *t->half) };
        if (!t->half) return false;
        b->count++;
    }
    return true;
}

static void take_point(const bands* b, int point)
{
    int count = b->of->count;
    for (int i = 0; i < b->count; i++)
        for (int c = 0; c < 6; c++) {
            const track* t = &b->tracks[i];
            double sum = 0.0;
            const double* row = b->S + (size_t)(t->nu + c % 3 + (c < 3 ? 0 : b->n)) * (size_t)count;
            for (int k = 0; k < count && c % 3 < t->parts; k++) sum += pow(row[k] * b->of->spreads[k], 2.0);
            t->half[c * b->points + point] = sum > NOTHING * NOTHING ? sqrt(sum) : 0.0;
        }
}

/* S := A S + B, and the step. */
static mor_code follow(bands* b, int* rough, mor_error* error)
{
    mor_derivative* d = NULL;
    size_t n = 2 * (size_t)b->n, count = (size_t)b->of->count;
    mor_code code = mor_world_derivative(b->w, b->of->inputs, b->of->count, &d, error);
    if (code) return code;
    *rough += !d->differentiable;
    for (size_t i = 0; i < n; i++) {
        const double* A = d->matrix + i * (n + count);
        memcpy(b->next + i * count, A + n, count * sizeof *A);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < count && A[j] != 0.0; k++) b->next[i * count + k] += A[j] * b->S[j * count + k];
    }
    memcpy(b->S, b->next, n * count * sizeof *b->S);
    mor_derivative_destroy(d);
    return mor_world_step(b->w, NULL, error);
}

/* Is the world where the recording is, in frame f? */
static mor_code compare(const bands* b, int f, mor_error* error)
{
    double* pose = malloc(((size_t)b->frames + 1) * 7 * sizeof *pose);
    mor_code code = pose ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < b->count && !code; i++) {
        const char* name = mor_recording_body_name(b->r, b->tracks[i].body);
        code = mor_recording_body(b->r, b->tracks[i].body, pose, NULL, error);
        mor_vec3 x = mor_body_get_state(b->w, mor_world_find_body(b->w, name)).pose.position;
        const double* is = pose + 7 * (size_t)f;
        double off = hypot(hypot(is[0] - x.x, is[1] - x.y), is[2] - x.z);
        if (!code && !(off < SAME))
            code = mor_fail(error, MOR_BAD_INPUT,
                            "the scene of the recording, run again, has '%s' %.3g m off at t = %g s; give the --set of "
                            "the run",
                            name, off, b->time[f]);
    }
    free(pose);
    return code;
}

static mor_code run(bands* b, int* rough, mor_error* error)
{
    mor_code code = mor_recording_series(b->r, "/time", b->time, error);
    int point = 0;
    for (int f = 0; f < b->frames && !code; f++) {
        double h = mor_world_get_step(b->w);
        while (!code && mor_world_time(b->w) < b->time[f] - 1e-6 * h) code = follow(b, rough, error);
        if (!code && f % b->stride == 0) b->time[point] = b->time[f], take_point(b, point++);
        if (!code && f + 1 == b->frames) code = compare(b, f, error);
    }
    return code;
}

/* Hands the bands to the recording. */
static mor_code give(const bands* b, int rough, mor_error* error)
{
    size_t points = (size_t)b->points, count = (size_t)b->count;
    mor_recording_bands out = { .points = b->points, .bodies = b->count };
    out.time = malloc((points + 1) * sizeof *out.time);
    out.half = malloc((6 * count * points + 1) * sizeof *out.half);
    out.body = malloc((count + 1) * sizeof *out.body);
    if (!out.time || !out.half || !out.body) {
        free(out.time), free(out.half), free(out.body);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    if (rough)
        snprintf(out.label, sizeof out.label, "band: %.200s (%d steps without a derivative)", b->of->label, rough);
    else snprintf(out.label, sizeof out.label, "band: %.200s", b->of->label);
    memcpy(out.time, b->time, points * sizeof *out.time);
    for (size_t i = 0; i < count; i++) {
        out.body[i] = b->tracks[i].body;
        memcpy(out.half + 6 * i * points, b->tracks[i].half, 6 * points * sizeof *out.half);
    }
    mor_recording_set_bands(b->r, &out);
    return MOR_OK;
}

mor_code mor_bands_make(mor_world* w, mor_recording* r, const mor_band_inputs* of, int* rough, mor_error* error)
{
    bands b = { .w = w, .r = r, .of = of, .n = mor_world_nu_count(w), .frames = mor_recording_get_info(r)->frames };
    b.stride = 1 + b.frames / MOST;
    b.points = (b.frames + b.stride - 1) / b.stride;
    *rough = 0;
    mor_code code = make_room(&b) ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = run(&b, rough, error);
    if (!code) code = give(&b, *rough, error);
    for (int i = 0; i < b.count; i++) free(b.tracks[i].half);
    free(b.time), free(b.S), free(b.next), free(b.tracks);
    return code;
}
