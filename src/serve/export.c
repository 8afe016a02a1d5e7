/* The one-file page, see export.h.
 *
 * A recording is packed so that bodies at rest cost nearly nothing. Every number x becomes an integer
 * q = round(x/s) with a step s for its kind, and q its prediction error from the frames before:
 *
 *     d_f = q_f - q_{f-1}   or   d_f = q_f - 2 q_{f-1} + q_{f-2}  (positions, quaternions)
 *
 * folded to a non-negative number, (d << 1) ^ (d >> 31), whose four bytes go to four planes, and
 * deflate does the rest. Contacts are predicted from the contact with the same place in the frame
 * before: they are sorted, so it is mostly the same one.
 *
 * Steps: position: extent/2^22 (1 um in a scene of 4 m); quaternion: 2^-18; velocities:
 * largest/2^15; gap: 1e-7 m; force: largest/2^16. Frames are left out evenly until the file is small
 * enough, then contacts are; the page interpolates between frames.
 *
 * Form, little-endian, then zlib, then base64 in a script element: "MORX", version, length of the
 * description; description (JSON, filled up with spaces to whole words of 4 bytes); frames, bodies,
 * contacts, length of the series (uint32); times (double); step numbers, contact counts (int32);
 * packed columns (step as double, then planes) for position, quaternion, velocity, angular velocity,
 * contact bodies, point, normal, gap, force, group and plane; series (frame.h). */
#include "serve/export.h"
#include "io/text/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PAYLOAD_VERSION = 2, SERIES_POINTS = 4000 };
#define GONE INT32_MAX /* stands for NaN */
#define MARK "<!--recordings-->"

mor_export_options mor_export_options_default(void) { return (mor_export_options){ .most_bytes = 3e6, .rate = 60.0 }; }

/* ----------------------------------------------------------------------------------- packing */

typedef struct packing {
    const mor_view_frame* frames;
    int count;
    size_t contacts;
    mor_bytes* out;
} packing;

static int32_t quantise(double x, double step)
{
    if (!(x == x)) return GONE;
    double q = floor(x / step + 0.5);
    return (int32_t)fmax(-2147483000.0, fmin(2147483000.0, q));
}

/* Component `c` of row `row` of a frame; what differs between the columns. */
typedef double (*component)(const mor_view_frame* frame, int row, int c);

static double position(const mor_view_frame* f, int row, int c) { return f->pose[7 * row + c]; }
static double quaternion(const mor_view_frame* f, int row, int c) { return f->pose[7 * row + 3 + c]; }
static double velocity(const mor_view_frame* f, int row, int c) { return f->velocity[6 * row + c]; }
static double angular(const mor_view_frame* f, int row, int c) { return f->velocity[6 * row + 3 + c]; }
static double contact_body(const mor_view_frame* f, int row, int c) { return f->contacts[row].body[c]; }
static double contact_point(const mor_view_frame* f, int row, int c) { return f->contacts[row].point[c]; }
static double contact_normal(const mor_view_frame* f, int row, int c) { return f->contacts[row].normal[c]; }
static double contact_gap(const mor_view_frame* f, int row, int c) { return f->contacts[row].gap + 0 * c; }
static double contact_force(const mor_view_frame* f, int row, int c) { return f->contacts[row].force[c]; }

static double contact_group(const mor_view_frame* f, int row, int c)
{
    return c ? f->contacts[row].plane : f->contacts[row].group;
}

static uint32_t fold(uint32_t d) { return (d << 1) ^ (uint32_t) - (int32_t)(d >> 31); }

/* A column of `width` components; order 2 only where every frame has the same rows. */
static void pack(packing* p, component get, int width, double step, int order, bool of_contacts)
{
    size_t rows = of_contacts ? p->contacts : (size_t)p->count * (size_t)(p->count ? p->frames[0].bodies : 0),
           n = rows * (size_t)width, at = 0;
    uint32_t* folded = malloc((n + 1) * sizeof *folded);
    unsigned char* planes = malloc(4 * n + 1);
    if (!folded || !planes) p->out->failed = true;
    for (int c = 0; folded && planes && c < width; c++)
        for (int f = 0; f < p->count; f++) {
            const mor_view_frame* now = &p->frames[f];
            int here = of_contacts ? now->contact_count : now->bodies;
            for (int row = 0; row < here; row++) {
                uint32_t q = (uint32_t)quantise(get(now, row, c), step), guess = 0;
                const mor_view_frame *one = f > 0 ? now - 1 : NULL, *two = f > 1 ? now - 2 : NULL;
                if (one && (!of_contacts || row < one->contact_count)) {
                    guess = (uint32_t)quantise(get(one, row, c), step);
                    if (order == 2 && two) guess = 2 * guess - (uint32_t)quantise(get(two, row, c), step);
                }
                folded[at++] = fold(q - guess);
            }
        }
    for (size_t i = 0; folded && planes && i < n; i++)
        for (size_t k = 0; k < 4; k++) planes[k * n + i] = (unsigned char)(folded[i] >> (8 * k));
    mor_bytes_add(p->out, &step, sizeof step);
    if (planes) mor_bytes_add(p->out, planes, 4 * n);
    free(folded);
    free(planes);
}

/* q and -q are the same rotation: each is taken nearest to the one before. */
static void align_quaternions(mor_view_frame* frames, int count)
{
    for (int f = 1; f < count; f++)
        for (int b = 0; b < frames[f].bodies; b++) {
            float *q = frames[f].pose + 7 * b + 3, *before = frames[f - 1].pose + 7 * b + 3;
            if (q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] < 0.0f)
                for (int i = 0; i < 4; i++) q[i] = -q[i];
        }
}

/* Largest absolute value of a column. */
static double largest(const packing* p, component get, int width, bool of_contacts)
{
    double most = 0.0;
    for (int f = 0; f < p->count; f++)
        for (int row = 0; row < (of_contacts ? p->frames[f].contact_count : p->frames[f].bodies); row++)
            for (int c = 0; c < width; c++) most = fmax(most, fabs(get(&p->frames[f], row, c)));
    return most;
}

static double power_of_two_below(double x) { return x > 1e-30 && x < 1e30 ? exp2(floor(log2(x))) : 1.0; }

static void pack_frames(packing* p)
{
    for (int f = 0; f < p->count; f++) mor_bytes_add(p->out, &p->frames[f].time, sizeof(double));
    for (int f = 0; f < p->count; f++) mor_bytes_u32(p->out, (uint32_t)p->frames[f].step);
    for (int f = 0; f < p->count; f++) mor_bytes_u32(p->out, (uint32_t)p->frames[f].contact_count);
    double extent = power_of_two_below(fmin(largest(p, position, 3, false), 1e4) + 0.5) / (1 << 21);
    pack(p, position, 3, extent, 2, false);
    pack(p, quaternion, 4, 1.0 / (1 << 18), 2, false);
    pack(p, velocity, 3, power_of_two_below(largest(p, velocity, 3, false) + 1e-6) / (1 << 15), 1, false);
    pack(p, angular, 3, power_of_two_below(largest(p, angular, 3, false) + 1e-6) / (1 << 15), 1, false);
    pack(p, contact_body, 2, 1.0, 1, true);
    pack(p, contact_point, 3, 16 * extent, 1, true);
    pack(p, contact_normal, 3, 1.0 / (1 << 9), 1, true);
    pack(p, contact_gap, 1, 1e-7, 1, true);
    pack(p, contact_force, 3, power_of_two_below(largest(p, contact_force, 3, true) + 1e-6) / (1 << 15), 1, true);
    pack(p, contact_group, 2, 1.0, 1, true);
}

/* ----------------------------------------------------------------------------------- payload */

static mor_code describe(mor_bytes* out, const mor_recording* r, mor_error* error)
{
    char* text = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&text, &length);
    if (!memory) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = mor_view_describe_recording(memory, r, error);
    fclose(memory);
    size_t fill = (4 - length % 4) % 4;
    mor_bytes_u32(out, (uint32_t)(length + fill));
    mor_bytes_add(out, text, length);
    mor_bytes_add(out, "   ", fill);
    free(text);
    return code;
}

static void free_frames(mor_view_frame* frames, int count)
{
    for (int i = 0; frames && i < count; i++) mor_view_frame_free(&frames[i]);
    free(frames);
}

/* Every stride-th frame and the last one, packed and compressed. */
static mor_code build(mor_bytes* zipped, const mor_recording* r, int stride, bool contacts, int* kept, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    int count = info->frames > 0 ? (info->frames - 1 + stride - 1) / stride + 1 : 0;
    mor_bytes raw = { 0 }, series = { 0 };
    packing p = { .count = count, .out = &raw };
    mor_view_frame* frames = calloc((size_t)count + 1, sizeof *frames);
    mor_code code = frames ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; !code && i < count; i++) {
        int index = i * stride < info->frames ? i * stride : info->frames - 1;
        code = mor_view_frame_create(&frames[i], info->bodies, error);
        if (!code) code = mor_view_frame_read(&frames[i], r, index, error);
        if (!contacts) frames[i].contact_count = 0;
        p.contacts += (size_t)frames[i].contact_count;
    }
    mor_bytes_add(&raw, "MORX", 4);
    mor_bytes_u32(&raw, PAYLOAD_VERSION);
    if (!code) code = describe(&raw, r, error);
    if (!code) code = mor_view_series(&series, r, SERIES_POINTS, error);
    if (!code) {
        align_quaternions(frames, count);
        p.frames = frames;
        mor_bytes_u32(&raw, (uint32_t)count);
        mor_bytes_u32(&raw, (uint32_t)info->bodies);
        mor_bytes_u32(&raw, (uint32_t)p.contacts);
        mor_bytes_u32(&raw, (uint32_t)series.size);
        pack_frames(&p);
        mor_bytes_add(&raw, series.data, series.size);
        uLongf size = compressBound(raw.size);
        zipped->data = malloc(size);
        zipped->failed = !zipped->data || compress2(zipped->data, &size, raw.data, raw.size, 9) != Z_OK;
        zipped->size = zipped->capacity = size;
        if (raw.failed || series.failed || zipped->failed) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    *kept = count;
    free_frames(frames, count);
    mor_bytes_free(&raw);
    mor_bytes_free(&series);
    return code;
}

mor_code mor_export_payload(mor_bytes* zipped, const mor_recording* r, mor_error* error)
{
    int kept;
    return build(zipped, r, 1, true, &kept, error);
}

static size_t base64_size(size_t n) { return (n + 2) / 3 * 4; }

void mor_write_base64(FILE* out, const unsigned char* data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t word =
            (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0);
        const char four[4] = { digits[word >> 18], digits[word >> 12 & 63], i + 1 < n ? digits[word >> 6 & 63] : '=',
                               i + 2 < n ? digits[word & 63] : '=' };
        fwrite(four, 1, 4, out);
    }
}

/* Packs one recording into at most `room` bytes of base64 if that can be done. */
static mor_code fit(mor_bytes* zipped, const mor_recording* r, double room, const mor_export_options* options,
                    mor_export_report* report, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    double span[2] = { 0.0, 0.0 };
    mor_code code = MOR_OK;
    if (info->frames > 0) code = mor_recording_rows(r, "/time", 0, 1, 1, &span[0], error);
    if (!code && info->frames > 0)
        code = mor_recording_rows(r, "/time", (size_t)info->frames - 1, 1, 1, &span[1], error);
    double wanted = fmax(2.0, (span[1] - span[0]) * options->rate);
    /* nothing compresses 64 times: no need to read what cannot fit */
    wanted = fmin(wanted, fmax(2.0, 64.0 * room / (29.0 * (info->bodies + 1))));
    int stride = (int)fmax(1.0, floor((info->frames - 1) / wanted + 0.5));
    *report = (mor_export_report){ .of_frames = info->frames, .contacts = info->has_contacts };
    for (int attempt = 0; !code; attempt++) {
        mor_bytes_free(zipped);
        code = build(zipped, r, stride, report->contacts, &report->frames, error);
        if (code || (double)base64_size(zipped->size) <= room || (report->frames <= 2 && !report->contacts)) break;
        if (attempt == 2 && report->contacts) report->contacts = false;
        else stride *= 2;
    }
    return code;
}

/* ----------------------------------------------------------------------------------- the file */

void mor_look_encode(char* out, size_t size, const char* look)
{
    size_t n = 0;
    for (const char* p = look; *p && n + 4 < size; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("=._-", c);
        n += (size_t)snprintf(out + n, size - n, plain ? "%c" : c == ',' ? "&" : "%%%02X", c);
    }
    out[n] = '\0';
}

static const unsigned char* find_mark(void)
{
    for (size_t i = 0; i + sizeof MARK - 1 <= mor_viewer_page_size; i++)
        if (memcmp(mor_viewer_page + i, MARK, sizeof MARK - 1) == 0) return mor_viewer_page + i;
    return NULL;
}

mor_code mor_export_html(const char* path, mor_recording* const* recordings, int count,
                         const mor_export_options* options, mor_export_report* reports, mor_error* error)
{
    const unsigned char* mark = find_mark();
    if (!mark)
        return mor_fail(error, MOR_SYSTEM,
                        "the viewer's page has no place for recordings; build it again: viewer/build.mjs");
    FILE* out = mor_output_open(path, error);
    if (!out) return MOR_SYSTEM;
    size_t before = (size_t)(mark - mor_viewer_page);
    fwrite(mor_viewer_page, 1, before, out);
    if (options->look) {
        char look[1024];
        mor_look_encode(look, sizeof look, options->look);
        fprintf(out, "<script type=\"text/plain\" class=\"look\">%s</script>\n", look);
    }
    mor_code code = MOR_OK;
    double room = options->most_bytes - (double)mor_viewer_page_size - 4096.0, total = 0.0;
    for (int i = 0; !code && i < count; i++) {
        mor_bytes zipped = { 0 };
        code = fit(&zipped, recordings[i], (room - total) / (count - i), options, &reports[i], error);
        if (!code) {
            fputs("<script type=\"application/octet-stream\" class=\"recording\">", out);
            mor_write_base64(out, zipped.data, zipped.size);
            fputs("</script>\n", out);
            total += (double)base64_size(zipped.size);
        }
        mor_bytes_free(&zipped);
    }
    fwrite(mark + sizeof MARK - 1, 1, mor_viewer_page_size - before - (sizeof MARK - 1), out);
    long size = ftell(out); /* -1 in a pipe */
    for (int i = 0; i < count; i++) reports[i].bytes = size >= 0 ? (double)size : (double)mor_viewer_page_size + total;
    mor_code closed = mor_output_close(out, path, !code, error);
    if (!code) code = closed;
    return code;
}
