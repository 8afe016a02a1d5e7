/* Prescribed motions from CSV files: lines t,x,y,z,qw,qx,qy,qz (2-D: t,x,y,angle), times
 * increasing. Lines that are empty or begin with '#', and one head line of words, are skipped.
 *
 * Between lines positions are interpolated linearly and rotations on the great arc (Shoemake 1985,
 * "Animating rotation with quaternion curves", eq. for Slerp), the shorter way; 2-D angles
 * linearly, so that they may turn more than once. Before the first and after the last line the pose
 * is held. */
#include "base/elementary.h"
#include "base/number.h"
#include "io/scene/scene_def.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_3D = 8, COLUMNS_2D = 4 };

typedef struct csv_line {
    const char* file;
    int number;
    const char* start;
} csv_line;

static mor_code fail(const csv_line* line, const char* at, mor_error* error, const char* sentence)
{
    return mor_fail_at(error, MOR_BAD_INPUT, line->file, line->number, (int)(at - line->start) + 1, "%s", sentence);
}

static mor_code read_row(const csv_line* line, const char* end, int columns, double* row, mor_error* error)
{
    const char* s = line->start;
    for (int c = 0; c < columns; c++) {
        char* after;
        while (s < end && (*s == ' ' || *s == '\t')) s++;
        if (s == end)
            return fail(line, s, error,
                        columns == COLUMNS_3D ? "too few numbers; give t,x,y,z,qw,qx,qy,qz"
                                              : "too few numbers; give t,x,y,angle");
        row[c] = mor_strtod(s, &after);
        if (after == s || after > end) return fail(line, s, error, "this is not a number");
        if (!(fabs(row[c]) <= MOR_HUGE)) return fail(line, s, error, "this number is not finite or too large");
        s = after;
        while (s < end && (*s == ' ' || *s == '\t')) s++;
        if (s < end && *s == ',') s++;
    }
    return s == end ? MOR_OK : fail(line, s, error, "too many numbers in this line");
}

static bool is_head(const char* s, const char* end)
{
    while (s < end && (*s == ' ' || *s == '\t' || *s == '"')) s++;
    return s < end && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'));
}

static mor_code add_row(const csv_line* line, const double* row, mor_scene_motion* motion, mor_error* error)
{
    int k = motion->count;
    if (k > 0 && !(row[0] > motion->times[k - 1]))
        return fail(line, line->start, error, "times must increase from line to line");
    motion->times[k] = row[0];
    motion->count++;
    if (motion->angles) {
        motion->poses[k].position = mor_v3(row[1], row[2], 0);
        motion->angles[k] = row[3];
        return MOR_OK;
    }
    mor_quat q = { row[4], row[5], row[6], row[7] };
    double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(norm > 1e-9)) return fail(line, line->start, error, "the quaternion of this line is zero");
    motion->poses[k] = (mor_pose){ { row[1], row[2], row[3] }, mor_quat_normalize(q) };
    return MOR_OK;
}

mor_scene_motion* mor_motion_read(mor_scene* scene, const mor_node* node, const char* name, mor_error* error)
{
    size_t length;
    const char* path = mor_path_from(&scene->document, node, name, error);
    const char* text = path ? mor_read_file(&scene->document, path, &length, node, error) : NULL;
    if (!text) return NULL;
    size_t lines = 1;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    mor_scene_motion* motion = mor_scene_alloc(scene, 1, sizeof *motion, error);
    if (motion) motion->times = mor_scene_alloc(scene, lines, sizeof *motion->times, error);
    if (motion && motion->times) motion->poses = mor_scene_alloc(scene, lines, sizeof *motion->poses, error);
    if (!motion || !motion->poses) return NULL;
    if (scene->dimension == 2 && !(motion->angles = mor_scene_alloc(scene, lines, sizeof *motion->angles, error)))
        return NULL;

    csv_line line = { path, 0, text };
    bool head = true;
    for (const char* s = text; s < text + length;) {
        const char* newline = memchr(s, '\n', (size_t)(text + length - s));
        const char* end = newline ? newline : text + length;
        const char* next = newline ? newline + 1 : end;
        line.number++;
        line.start = s;
        while (end > s && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) end--;
        bool skip = end == s || *s == '#' || (head && is_head(s, end));
        if (end > s && *s != '#') head = false;
        s = next;
        if (skip) continue;
        double row[COLUMNS_3D];
        if (read_row(&line, end, motion->angles ? COLUMNS_2D : COLUMNS_3D, row, error)) return NULL;
        if (add_row(&line, row, motion, error)) return NULL;
    }
    if (motion->count == 0) {
        mor_node_fail(node, error, "the motion '%.200s' has no lines", path);
        return NULL;
    }
    return motion;
}

static mor_quat slerp(mor_quat a, mor_quat b, double t)
{
    double dot = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    if (dot < 0.0) {
        dot = -dot;
        b = (mor_quat){ -b.w, -b.x, -b.y, -b.z };
    }
    double p = 1.0 - t, q = t;
    if (dot < 1.0 - 1e-12) { /* below, the chord and the arc agree to rounding */
        double angle = mor_acos(dot), s = mor_sin(angle);
        p = mor_sin(p * angle) / s;
        q = mor_sin(q * angle) / s;
    }
    return mor_quat_normalize((mor_quat){ p * a.w + q * b.w, p * a.x + q * b.x, p * a.y + q * b.y, p * a.z + q * b.z });
}

void mor_motion_pose(void* user, double time, mor_pose* pose)
{
    const mor_scene_motion* motion = user;
    int last = motion->count - 1, low = 0, high = last;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (motion->times[middle] <= time) low = middle;
        else high = middle;
    }
    double span = motion->times[high] - motion->times[low];
    double t = span > 0.0 ? (time - motion->times[low]) / span : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    const mor_pose *a = &motion->poses[low], *b = &motion->poses[high];
    pose->position = mor_lerp(a->position, b->position, t);
    if (motion->angles) {
        double angle = motion->angles[low] + t * (motion->angles[high] - motion->angles[low]);
        pose->rotation = (mor_quat){ mor_cos(0.5 * angle), 0, 0, mor_sin(0.5 * angle) };
    } else {
        pose->rotation = slerp(a->rotation, b->rotation, t);
    }
}
