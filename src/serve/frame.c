/* Frames for the viewer's page, see frame.h and docs/viewer.md.
 *
 * Positions become single precision here: 1e-7 of their size, below what a screen shows. Impulses
 * become forces, f = p/h. Message of frames, little-endian:
 *
 *     "MORF", count, bodies, 0                                     four uint32
 *     per frame: time (double), step, contacts (int32), scalars (float),
 *                poses (bodies x 7 float), velocities (bodies x 6 float),
 *                contacts x { bodies (2 int32), point, normal (3 float each), gap (float), force (3 float), group,
 *                plane (2 int32) }
 *
 * Cost: O(bodies + contacts) per frame. */
#include "serve/frame.h"

#include <stdlib.h>
#include <string.h>

const mor_view_scalar mor_view_scalars[MOR_VIEW_SCALARS] = {
    { "kinetic", "/energy/kinetic", "J", false, false },
    { "potential", "/energy/potential", "J", false, false },
    { "penetration", "/penetration", "m", true, false },
    { "residual", "/solver/residual", "", true, false },
    { "velocity_error", "/solver/velocity_error", "m/s", true, false },
    { "iterations", "/solver/iterations", "", true, false },
    { "contacts", "/solver/contacts", "", true, false },
    { "step_time", "/timing/total", "s", true, false },
    { "joint_error", "/joints/error", "m", true, true },
};

/* ------------------------------------------------------------------------------------ bytes */

void mor_bytes_add(mor_bytes* b, const void* data, size_t size)
{
    if (b->failed || size == 0) return;
    if (size > b->capacity - b->size) {
        size_t capacity = b->capacity < 4096 ? 4096 : b->capacity;
        while (capacity - b->size < size) {
            if (capacity > SIZE_MAX / 2) {
                b->failed = true;
                return;
            }
            capacity *= 2;
        }
        unsigned char* grown = realloc(b->data, capacity);
        if (!grown) {
            b->failed = true;
            return;
        }
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void mor_bytes_u32(mor_bytes* b, uint32_t value) { mor_bytes_add(b, &value, sizeof value); }

static void add_f32(mor_bytes* b, double value)
{
    float f = (float)value;
    mor_bytes_add(b, &f, sizeof f);
}

void mor_bytes_free(mor_bytes* b)
{
    free(b->data);
    *b = (mor_bytes){ 0 };
}

/* ------------------------------------------------------------------------------------ frames */

mor_code mor_view_frame_create(mor_view_frame* f, int bodies, mor_error* error)
{
    *f = (mor_view_frame){ .bodies = bodies };
    f->pose = calloc((size_t)bodies + 1, 7 * sizeof *f->pose);
    f->velocity = calloc((size_t)bodies + 1, 6 * sizeof *f->velocity);
    if (f->pose && f->velocity) return MOR_OK;
    mor_view_frame_free(f);
    return mor_fail(error, MOR_SYSTEM, "out of memory");
}

void mor_view_frame_free(mor_view_frame* f)
{
    free(f->pose);
    free(f->velocity);
    free(f->contacts);
    *f = (mor_view_frame){ 0 };
}

static bool reserve_contacts(mor_view_frame* f, int count)
{
    if (count <= f->contact_capacity) return true;
    int capacity = count + count / 2;
    mor_view_contact* grown = realloc(f->contacts, (size_t)capacity * sizeof *grown);
    if (!grown) return false;
    f->contacts = grown;
    f->contact_capacity = capacity;
    return true;
}

static mor_code read_contacts(mor_view_frame* f, const mor_recording* r, int index, mor_error* error)
{
    static const char* const of_frame[] = { "/contacts/start", "/contacts/count", "/step_size" };
    double numbers[3] = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < 3 && !code; i++)
        code = mor_recording_rows(r, of_frame[i], (size_t)index, 1, 1, &numbers[i], error);
    if (code) return code;
    const double start = numbers[0], count = numbers[1], h = numbers[2];
    if (!(start >= 0.0 && start < 9e15 && count >= 0.0))
        return mor_fail(error, MOR_BAD_INPUT, "%s:/contacts/start: impossible rows of frame %d",
                        mor_recording_get_info(r)->path, index);
    size_t first = (size_t)start, n = count < MOR_VIEW_CONTACTS ? (size_t)count : MOR_VIEW_CONTACTS;
    if (n == 0) return MOR_OK;
    enum { COLUMNS = 2 + 6 + 3 + 1 + 3 + 3 };
    double* v = malloc(n * COLUMNS * sizeof *v);
    if (!v || !reserve_contacts(f, (int)n)) {
        free(v);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    double *body = v, *point = body + 2 * n, *normal = point + 6 * n, *gap = normal + 3 * n, *impulse = gap + n,
           *group = impulse + 3 * n;
    const bool grouped = mor_recording_has(r, "/contacts/group");
    const struct {
        const char* path;
        int width;
        double* to;
    } columns[] = { { "/contacts/body", 2, body },       { "/contacts/point", 6, point },
                    { "/contacts/normal", 3, normal },   { "/contacts/gap", 1, gap },
                    { "/contacts/impulse", 3, impulse }, { "/contacts/group", 3, group } };
    for (int i = 0; i < 5 + grouped && !code; i++)
        code = mor_recording_rows(r, columns[i].path, first, n, columns[i].width, columns[i].to, error);
    for (size_t k = 0; !code && k < n; k++) {
        mor_view_contact* c = &f->contacts[k];
        for (int i = 0; i < 2; i++)
            c->body[i] =
                body[2 * k + (size_t)i] >= 0 && body[2 * k + (size_t)i] < f->bodies ? (int)body[2 * k + (size_t)i] : -1;
        for (size_t i = 0; i < 3; i++) {
            c->point[i] = (float)(0.5 * (point[6 * k + i] + point[6 * k + 3 + i]));
            c->normal[i] = (float)normal[3 * k + i];
            c->force[i] = (float)(h > 0.0 ? impulse[3 * k + i] / h : 0.0);
        }
        c->gap = (float)gap[k];
        c->group = c->plane = 0;
        if (grouped && group[3 * k] > 0.0 && fabs(group[3 * k + 1]) < 1e9) {
            c->group = (int32_t)fmin(group[3 * k], 1e9);
            c->plane = (int32_t)(group[3 * k + 2] != 0.0 ? -group[3 * k + 1] : group[3 * k + 1]);
        }
    }
    if (!code) f->contact_count = (int)n;
    free(v);
    return code;
}

mor_code mor_view_frame_read(mor_view_frame* f, const mor_recording* r, int index, mor_error* error)
{
    const size_t B = (size_t)f->bodies, row = (size_t)index;
    double* v = malloc((7 * B + 1) * sizeof *v);
    if (!v) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double step = 0.0, value = 0.0;
    mor_code code = mor_recording_rows(r, "/time", row, 1, 1, &f->time, error);
    if (!code) code = mor_recording_rows(r, "/step_number", row, 1, 1, &step, error);
    f->step = step >= 0.0 && step < 2e9 ? (int)step : 0;
    for (int i = 0; !code && i < MOR_VIEW_SCALARS; i++) {
        value = 0.0;
        if (!mor_view_scalars[i].optional || mor_recording_has(r, mor_view_scalars[i].path))
            code = mor_recording_rows(r, mor_view_scalars[i].path, row, 1, 1, &value, error);
        f->scalars[i] = (float)value;
    }
    if (!code && B > 0) code = mor_recording_rows(r, "/pose", row, 1, 7 * f->bodies, v, error);
    for (size_t i = 0; !code && i < 7 * B; i++) f->pose[i] = (float)v[i];
    if (!code && B > 0) code = mor_recording_rows(r, "/velocity", row, 1, 6 * f->bodies, v, error);
    for (size_t i = 0; !code && i < 6 * B; i++) f->velocity[i] = (float)v[i];
    free(v);
    f->contact_count = 0;
    if (!code && mor_recording_get_info(r)->has_contacts) code = read_contacts(f, r, index, error);
    return code;
}

bool mor_view_frame_take(mor_view_frame* f, const mor_world* w, const mor_step_report* report)
{
    f->time = mor_world_time(w);
    f->step = mor_world_step_count(w);
    int count = mor_world_body_count(w);
    for (int i = 0; i < f->bodies && i < count; i++) {
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, i));
        const double* p = &s.pose.position.x;
        const double* q = &s.pose.rotation.w;
        for (int k = 0; k < 3; k++) f->pose[7 * i + k] = (float)p[k];
        for (int k = 0; k < 4; k++) f->pose[7 * i + 3 + k] = (float)q[k];
        for (int k = 0; k < 3; k++) f->velocity[6 * i + k] = (float)(&s.velocity.x)[k];
        for (int k = 0; k < 3; k++) f->velocity[6 * i + 3 + k] = (float)(&s.angular_velocity.x)[k];
    }
    memset(f->scalars, 0, sizeof f->scalars);
    f->contact_count = 0;
    if (!report) {
        f->scalars[0] = (float)mor_world_kinetic_energy(w);
        f->scalars[1] = (float)mor_world_potential_energy(w);
        return true;
    }
    const double scalars[MOR_VIEW_SCALARS] = { report->kinetic,          report->potential,
                                               report->penetration,      report->residual,
                                               report->velocity_error,   (double)report->iterations,
                                               (double)report->contacts, report->timing.total,
                                               mor_world_joint_error(w) };
    for (int i = 0; i < MOR_VIEW_SCALARS; i++) f->scalars[i] = (float)scalars[i];
    int n;
    const mor_contact* contacts = mor_world_contacts(w, &n);
    if (n > MOR_VIEW_CONTACTS) n = MOR_VIEW_CONTACTS;
    if (!reserve_contacts(f, n)) return false;
    double h = mor_world_get_step(w);
    for (int k = 0; k < n; k++) {
        const mor_contact* from = &contacts[k];
        mor_vec3 point = mor_lerp(from->point[0], from->point[1], 0.5), force = mor_scale(1.0 / h, from->impulse);
        f->contacts[k] = (mor_view_contact){
            { from->body[0], from->body[1] },
            { (float)point.x, (float)point.y, (float)point.z },
            { (float)from->normal.x, (float)from->normal.y, (float)from->normal.z },
            (float)from->gap,
            { (float)force.x, (float)force.y, (float)force.z },
            from->group,
            from->held ? -from->plane : from->plane,
        };
    }
    f->contact_count = n;
    return true;
}

void mor_view_frames_begin(mor_bytes* b, int count, int bodies)
{
    mor_bytes_add(b, "MORF", 4);
    mor_bytes_u32(b, (uint32_t)count);
    mor_bytes_u32(b, (uint32_t)bodies);
    mor_bytes_u32(b, 0);
}

void mor_view_frame_write(mor_bytes* b, const mor_view_frame* f)
{
    mor_bytes_add(b, &f->time, sizeof f->time);
    mor_bytes_u32(b, (uint32_t)f->step);
    mor_bytes_u32(b, (uint32_t)f->contact_count);
    mor_bytes_add(b, f->scalars, sizeof f->scalars);
    mor_bytes_add(b, f->pose, (size_t)f->bodies * 7 * sizeof(float));
    mor_bytes_add(b, f->velocity, (size_t)f->bodies * 6 * sizeof(float));
    mor_bytes_add(b, f->contacts, (size_t)f->contact_count * sizeof *f->contacts);
}

/* ------------------------------------------------------------------------------------ series */

static int group_size(int frames, int most) { return frames > most ? (frames + most - 1) / most : 1; }

/* points, columns, frames per point, 0 (uint32); times (double); column after column (float) */
static mor_code series_begin(mor_bytes* b, const mor_recording* r, int columns, int group, double* v, mor_error* error)
{
    const int frames = mor_recording_get_info(r)->frames;
    mor_bytes_u32(b, (uint32_t)((frames + group - 1) / group));
    mor_bytes_u32(b, (uint32_t)columns);
    mor_bytes_u32(b, (uint32_t)group);
    mor_bytes_u32(b, 0);
    mor_code code = mor_recording_series(r, "/time", v, error);
    for (int f = 0; !code && f < frames; f += group) mor_bytes_add(b, &v[f], sizeof *v);
    return code;
}

mor_code mor_view_series(mor_bytes* b, const mor_recording* r, int most, mor_error* error)
{
    const int frames = mor_recording_get_info(r)->frames, group = group_size(frames, most);
    double* v = malloc(((size_t)frames + 1) * sizeof *v);
    if (!v) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = series_begin(b, r, MOR_VIEW_SCALARS, group, v, error);
    for (int i = 0; !code && i < MOR_VIEW_SCALARS; i++) {
        if (!mor_view_scalars[i].optional || mor_recording_has(r, mor_view_scalars[i].path))
            code = mor_recording_series(r, mor_view_scalars[i].path, v, error);
        else memset(v, 0, (size_t)frames * sizeof *v);
        for (int f = 0; !code && f < frames; f += group) {
            double value = v[f];
            for (int k = f + 1; mor_view_scalars[i].peak && k < f + group && k < frames; k++)
                if (v[k] > value) value = v[k];
            add_f32(b, value);
        }
    }
    free(v);
    return !code && b->failed ? mor_fail(error, MOR_SYSTEM, "out of memory") : code;
}

mor_code mor_view_body(mor_bytes* b, const mor_recording* r, int body, int most, mor_error* error)
{
    const int frames = mor_recording_get_info(r)->frames, group = group_size(frames, most);
    double* v = malloc(((size_t)frames + 1) * 13 * sizeof *v);
    if (!v) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double *pose = v, *velocity = v + 7 * (size_t)frames;
    mor_code code = series_begin(b, r, 13, group, v, error);
    if (!code) code = mor_recording_body(r, body, pose, velocity, error);
    for (int i = 0; !code && i < 13; i++)
        for (int f = 0; f < frames; f += group)
            add_f32(b, i < 7 ? pose[7 * (size_t)f + (size_t)i] : velocity[6 * (size_t)f + (size_t)i - 7]);
    free(v);
    return !code && b->failed ? mor_fail(error, MOR_SYSTEM, "out of memory") : code;
}
