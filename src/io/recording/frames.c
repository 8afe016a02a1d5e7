/* Frames of a recording into HDF5, see frames.h and docs/recording.md.
 *
 * What a frame costs: one copy into a batch buffer. What a batch costs: one append and one flush per
 * dataset, some 50 of them, about 1 ms; batches hold 64 to 1024 frames, so that this is far below the
 * time of a step, and half a second of wall time also ends a batch.
 *
 * Crash safety. In SWMR mode HDF5 orders its writes so that a reader, or a file left by a killed
 * writer, never sees an index without the data behind it. That holds within one dataset only; across
 * datasets /time is the commit mark: it is extended after all others have been flushed, and readers
 * take the number of frames from it. The file without frames is made in memory, written whole, opened in SWMR mode,
 * synced, and only then takes its name (io/text/output.h): the name never holds half a file, nor one that a reader
 * could lock before the writer has it.
 *
 * Limits: the set of bodies is fixed when the file is made (SWMR allows no new datasets). */
#include "io/recording/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/recording/frames_describe.h"
#include "io/recording/frames_joints.h"
#include "io/text/output.h"
#include "io/hdf5/h5.h"

#define LEAST_BATCH 64
#define MOST_BATCH 1024
#define BATCH_BYTES ((size_t)1 << 20) /* a batch of a small world is cut here */
#define FLUSH_SECONDS 0.5
#define SCALAR_CHUNK 512 /* rows; 4 KiB */
#define BODY_CHUNK 64    /* frames and bodies in one chunk of /pose: at most 224 KiB */
#define CONTACT_CHUNK 1024

/* Columns with one number per frame. /time must stay the first: it is written last. */
typedef struct scalar {
    const char* path;
    mor_h5_type type;
    size_t offset;
    const char *unit, *help;
} scalar;

#define AT(field) offsetof(mor_frame, field)
static const scalar scalars[] = {
    { "/time", MOR_H5_DOUBLE, AT(time), "s", "time at the end of the step; its length is the number of frames" },
    { "/step_number", MOR_H5_INT, AT(step_number), "", "number of the step, 0 is the initial state" },
    { "/step_size", MOR_H5_DOUBLE, AT(step_size), "s", "length of the step" },
    { "/energy/kinetic", MOR_H5_DOUBLE, AT(kinetic), "J", "kinetic energy of the dynamic bodies" },
    { "/energy/potential", MOR_H5_DOUBLE, AT(potential), "J", "potential energy in gravity" },
    { "/energy/total", MOR_H5_DOUBLE, AT(total), "J", "kinetic + potential" },
    { "/work/correction", MOR_H5_DOUBLE, AT(correction_work), "J", "work of gap corrections since the frame before" },
    { "/work/contact", MOR_H5_DOUBLE, AT(contact_work), "J", "work of contact impulses since the frame before" },
    { "/work/applied", MOR_H5_DOUBLE, AT(applied_work), "J", "work of applied forces since the frame before" },
    { "/penetration", MOR_H5_DOUBLE, AT(penetration), "m", "deepest penetration, by the collision geometry" },
    { "/solver/status", MOR_H5_INT, AT(status), "", "worst status of the islands, index into the attribute values" },
    { "/solver/iterations", MOR_H5_INT, AT(iterations), "", "largest number of iterations of an island" },
    { "/solver/residual", MOR_H5_DOUBLE, AT(residual), "", "largest relative residual of an island" },
    { "/solver/velocity_error", MOR_H5_DOUBLE, AT(velocity_error), "m/s", "largest velocity error of an island" },
    { "/solver/contacts", MOR_H5_INT, AT(contacts), "", "contacts in the step" },
    { "/solver/islands", MOR_H5_INT, AT(islands), "", "islands in the step" },
    { "/solver/problem_size", MOR_H5_INT, AT(problem_size), "", "rows of the largest island's problem" },
    { "/solver/failures", MOR_H5_INT, AT(failures), "", "islands that missed their tolerance since the frame before" },
    { "/joints/error", MOR_H5_DOUBLE, AT(joint_error), "m, rad",
      "largest norm of a joint's equations, at the end of the step" },
    { "/timing/total", MOR_H5_DOUBLE, AT(timing.total), "s", "wall time of the step" },
    { "/timing/user", MOR_H5_DOUBLE, AT(timing.user), "s", "user function" },
    { "/timing/collision", MOR_H5_DOUBLE, AT(timing.collision), "s", "collision detection" },
    { "/timing/assemble", MOR_H5_DOUBLE, AT(timing.assemble), "s", "assembly of the system" },
    { "/timing/formulate", MOR_H5_DOUBLE, AT(timing.formulate), "s", "formulation" },
    { "/timing/solve", MOR_H5_DOUBLE, AT(timing.solve), "s", "solver" },
    { "/timing/integrate", MOR_H5_DOUBLE, AT(timing.integrate), "s", "integration and stabilisation" },
    { "/timing/record", MOR_H5_DOUBLE, AT(timing.record), "s", "observers" },
    { "/contacts/start", MOR_H5_LONG, AT(contact_start), "", "row of the frame's first contact" },
    { "/contacts/count", MOR_H5_INT, AT(contact_count), "", "rows of the frame; 0 when contacts are not recorded" },
    { "/contacts/normal_total", MOR_H5_DOUBLE, AT(normal_total), "N s", "sum of the normal impulses of the step" },
    { "/contacts/normal_max", MOR_H5_DOUBLE, AT(normal_max), "N s", "largest normal impulse of the step" },
    { "/contacts/friction_total", MOR_H5_DOUBLE, AT(friction_total), "N s",
      "sum of the lengths of the friction impulses" },
};
#undef AT
#define SCALARS ((int)(sizeof scalars / sizeof *scalars))

/* Columns with one row per contact. */
enum { BODY, SHAPE, POINT, NORMAL, GAP, IMPULSE, NORMAL_IMPULSE, FEATURE, GROUP, CONTACT_COLUMNS };
static const struct {
    const char* path;
    mor_h5_type type;
    int rank;
    size_t dims[3];
    const char *unit, *help;
} contact_columns[CONTACT_COLUMNS] = {
    [BODY] = { "/contacts/body", MOR_H5_INT, 2, { 0, 2 }, "", "the two bodies, rows of /bodies; -1: not recorded" },
    [SHAPE] = { "/contacts/shape", MOR_H5_INT, 2, { 0, 2 }, "", "shape within each body" },
    [POINT] = { "/contacts/point", MOR_H5_DOUBLE, 3, { 0, 2, 3 }, "m", "point on each body, world" },
    [NORMAL] = { "/contacts/normal",
                 MOR_H5_DOUBLE,
                 2,
                 { 0, 3 },
                 "",
                 "unit normal from the first body to the second, world" },
    [GAP] = { "/contacts/gap",
              MOR_H5_DOUBLE,
              1,
              { 0 },
              "m",
              "signed distance before the step, negative in penetration" },
    [IMPULSE] = { "/contacts/impulse", MOR_H5_DOUBLE, 2, { 0, 3 }, "N s", "impulse on the second body, world" },
    [NORMAL_IMPULSE] = { "/contacts/normal_impulse", MOR_H5_DOUBLE, 1, { 0 }, "N s", "its normal part" },
    [FEATURE] = { "/contacts/feature",
                  MOR_H5_ULONG,
                  1,
                  { 0 },
                  "",
                  "the same features in the next step have the same number" },
    [GROUP] = { "/contacts/group",
                MOR_H5_INT,
                2,
                { 0, 3 },
                "",
                "exact geometry: group (0: none), plane within it, 1 if the pair is left on this plane" },
};

struct mor_frames {
    mor_h5 h5;
    mor_error failure; /* the first one; code 0: none */
    bool contacts;
    int body_count, batch;
    int pending;     /* frames in the buffers */
    int64_t flushed; /* frames in the file */
    double last_flush;
    int64_t contact_rows; /* in the file and in the buffers */
    int contact_used, contact_capacity;

    mor_frame* frame; /* batch */
    double* pose;     /* batch x bodies x 7 */
    double* velocity; /* batch x bodies x 6 */
    double* joint;    /* batch x joints */
    int joint_count;
    void* gather; /* batch x 8 bytes */
    void* contact[CONTACT_COLUMNS];

    int channel_count;
    struct channel {
        char path[224];
        size_t size;
        double* values; /* batch x size */
        mor_h5_column column;
    } * channels;

    mor_h5_column scalar[SCALARS], pose_column, velocity_column, joint_column, contact_column[CONTACT_COLUMNS];
};

static size_t type_size(mor_h5_type type) { return type == MOR_H5_INT ? 4 : 8; }

static size_t contact_row_size(int c)
{
    size_t size = type_size(contact_columns[c].type);
    for (int i = 1; i < contact_columns[c].rank; i++) size *= contact_columns[c].dims[i];
    return size;
}

/* ------------------------------------------------------------------------- what grows */

/* /bus: one dataset per channel, F x rows or F x rows x cols. */
static mor_code create_channels(mor_frames* w, const mor_frames_def* def, mor_error* error)
{
    if (def->channel_count == 0) return MOR_OK;
    mor_code code = mor_h5_group(&w->h5, "/bus", error);
    for (int i = 0; !code && i < def->channel_count; i++) {
        const mor_bus_channel* c = &def->channels[i];
        struct channel* own = &w->channels[i];
        snprintf(own->path, sizeof own->path, "/bus/%s", c->name);
        for (char* s = own->path + 5; *s; s++)
            if (*s == '/') *s = '_';
        size_t rows = (size_t)c->rows, cols = (size_t)c->cols;
        own->size = rows * cols;
        if (own->size == 0) continue; /* joints of a robot that has none */
        if (!(own->values = calloc((size_t)w->batch * own->size, sizeof *own->values)))
            return mor_fail(error, MOR_SYSTEM, "out of memory");
        code = mor_h5_column_create(&w->h5, &own->column, own->path, MOR_H5_DOUBLE, cols > 1 ? 3 : 2,
                                    (size_t[]){ 0, rows, cols }, (size_t[]){ BODY_CHUNK, rows, cols }, error);
        if (!code) code = mor_frames_describe(&w->h5, own->path, c->unit, c->help, error);
        if (!code) code = mor_h5_set_text(&w->h5, own->path, "frame", *c->frame ? c->frame : "none", error);
        if (!code) code = mor_h5_set_text(&w->h5, own->path, "when", c->when, error);
    }
    return code;
}

double* mor_frames_channel(mor_frames* w, int channel)
{
    struct channel* c = &w->channels[channel];
    return c->values ? c->values + (size_t)w->pending * c->size : NULL;
}

static mor_code create_columns(mor_frames* w, mor_error* error)
{
    mor_h5* h5 = &w->h5;
    static const char* const groups[] = { "/energy", "/work", "/solver", "/timing", "/contacts" };
    mor_code code = MOR_OK;
    for (size_t i = 0; !code && i < sizeof groups / sizeof *groups; i++) code = mor_h5_group(h5, groups[i], error);
    for (int i = 0; !code && i < SCALARS; i++) {
        const scalar* s = &scalars[i];
        code = mor_h5_column_create(h5, &w->scalar[i], s->path, s->type, 1, (size_t[]){ 0 }, (size_t[]){ SCALAR_CHUNK },
                                    error);
        if (!code) code = mor_frames_describe(h5, s->path, s->unit, s->help, error);
    }
#define STATUS_WORD(id, word) "|" word
    static const char words[] = "" MOR_STATUS_LIST(STATUS_WORD);
#undef STATUS_WORD
    if (!code) code = mor_h5_set_text(h5, "/solver/status", "values", words + 1, error);

    size_t n = (size_t)w->body_count, piece = n < BODY_CHUNK ? n : BODY_CHUNK;
    if (!code)
        code = mor_h5_column_create(h5, &w->pose_column, "/pose", MOR_H5_DOUBLE, 3, (size_t[]){ 0, n, 7 },
                                    (size_t[]){ BODY_CHUNK, piece, 7 }, error);
    if (!code)
        code =
            mor_frames_describe(h5, "/pose", "m, 1", "body frames: x y z qw qx qy qz; NaN for a removed body", error);
    if (!code)
        code = mor_h5_column_create(h5, &w->velocity_column, "/velocity", MOR_H5_DOUBLE, 3, (size_t[]){ 0, n, 6 },
                                    (size_t[]){ BODY_CHUNK, piece, 6 }, error);
    if (!code)
        code = mor_frames_describe(h5, "/velocity", "m/s, rad/s", "centre of mass, then angular, world axes", error);
    size_t joints = (size_t)w->joint_count;
    if (!code && joints)
        code = mor_h5_column_create(h5, &w->joint_column, "/joints/position", MOR_H5_DOUBLE, 2, (size_t[]){ 0, joints },
                                    (size_t[]){ BODY_CHUNK, joints < BODY_CHUNK ? joints : BODY_CHUNK }, error);
    if (!code && joints)
        code = mor_frames_describe(h5, "/joints/position", "rad, m",
                                   "angle or displacement; 0 for kinds without one coordinate", error);
    for (int c = 0; !code && c < CONTACT_COLUMNS; c++) {
        const size_t* dims = contact_columns[c].dims;
        code =
            mor_h5_column_create(h5, &w->contact_column[c], contact_columns[c].path, contact_columns[c].type,
                                 contact_columns[c].rank, dims, (size_t[]){ CONTACT_CHUNK, dims[1], dims[2] }, error);
        if (!code)
            code = mor_frames_describe(h5, contact_columns[c].path, contact_columns[c].unit, contact_columns[c].help,
                                       error);
    }
    return code;
}

static mor_code write_column(mor_frames* w, mor_h5_column* column, size_t rows, const void* data)
{
    mor_code code = mor_h5_column_append(&w->h5, column, rows, data, &w->failure);
    return code ? code : mor_h5_column_flush(&w->h5, column, &w->failure);
}

static mor_code write_scalar(mor_frames* w, int i)
{
    const size_t size = type_size(scalars[i].type);
    for (int k = 0; k < w->pending; k++)
        memcpy((char*)w->gather + (size_t)k * size, (const char*)&w->frame[k] + scalars[i].offset, size);
    return write_column(w, &w->scalar[i], (size_t)w->pending, w->gather);
}

void mor_frames_flush(mor_frames* w)
{
    w->last_flush = mor_clock();
    if (w->failure.code || w->pending == 0) return;
    size_t rows = (size_t)w->pending;
    mor_code code = write_column(w, &w->pose_column, rows, w->pose);
    if (!code) code = write_column(w, &w->velocity_column, rows, w->velocity);
    if (!code && w->joint_count) code = write_column(w, &w->joint_column, rows, w->joint);
    for (int c = 0; !code && w->contact_used > 0 && c < CONTACT_COLUMNS; c++)
        code = write_column(w, &w->contact_column[c], (size_t)w->contact_used, w->contact[c]);
    for (int c = 0; !code && c < w->channel_count; c++)
        if (w->channels[c].values) code = write_column(w, &w->channels[c].column, rows, w->channels[c].values);
    for (int i = SCALARS - 1; !code && i >= 0; i--) code = write_scalar(w, i); /* /time last: the commit mark */
    if (code) return;
    w->flushed += w->pending;
    w->pending = 0;
    w->contact_used = 0;
}

/* -------------------------------------------------------------------------- open and close */

/* May the file at `path` be replaced? */
static mor_code check_target(const char* path, mor_error* error)
{
    struct stat there;
    if (stat(path, &there) != 0) return MOR_OK; /* creating it will tell what is wrong, if anything */
    if (!S_ISREG(there.st_mode))
        return mor_fail(error, MOR_BAD_INPUT, "%s: not a regular file; give a file name", path);
    if (there.st_size == 0) return MOR_OK;
    mor_h5 h5;
    char format[64] = "";
    mor_error why = { 0 };
    mor_code code = mor_h5_open(&h5, path, &why);
    if (!code) code = mor_h5_get_text(&h5, "/meta", "format", format, sizeof format, &why);
    mor_h5_close(&h5, NULL);
    if (code == MOR_SYSTEM) return mor_fail(error, code, "%s", why.text);
    if (!code && strcmp(format, MOR_RECORDING_FORMAT) == 0) return MOR_OK;
    return mor_fail(error, MOR_BAD_INPUT,
                    "%s: exists and is not a Moreau recording; it is not overwritten: remove it or give another name",
                    path);
}

static bool grow_contacts(mor_frames* w, int capacity)
{
    for (int c = 0; c < CONTACT_COLUMNS; c++) {
        void* grown = realloc(w->contact[c], (size_t)capacity * contact_row_size(c));
        if (!grown) return false;
        w->contact[c] = grown;
    }
    w->contact_capacity = capacity;
    return true;
}

static void release(mor_frames* w)
{
    free(w->frame);
    free(w->pose);
    free(w->velocity);
    free(w->joint);
    free(w->gather);
    for (int c = 0; c < CONTACT_COLUMNS; c++) free(w->contact[c]);
    for (int c = 0; w->channels && c < w->channel_count; c++) free(w->channels[c].values);
    free(w->channels);
    free(w);
}

static mor_frames* allocate(const mor_frames_def* def)
{
    mor_frames* w = calloc(1, sizeof *w);
    if (!w) return NULL;
    size_t bodies = def->body_count > 0 ? (size_t)def->body_count : 1;
    size_t batch = BATCH_BYTES / (bodies * 13 * sizeof(double));
    batch = batch < LEAST_BATCH ? LEAST_BATCH : batch > MOST_BATCH ? MOST_BATCH : batch;
    w->h5.file = H5I_INVALID_HID;
    w->contacts = def->contacts;
    w->body_count = def->body_count;
    w->batch = (int)batch;
    w->frame = calloc(batch, sizeof *w->frame);
    w->pose = calloc(batch * bodies, 7 * sizeof(double));
    w->velocity = calloc(batch * bodies, 6 * sizeof(double));
    w->gather = calloc(batch, sizeof(double));
    w->channel_count = def->channel_count;
    w->channels = calloc((size_t)def->channel_count + 1, sizeof *w->channels);
    w->joint_count = def->joint_count;
    w->joint = calloc(batch * ((size_t)def->joint_count + 1), sizeof(double));
    if (w->frame && w->pose && w->velocity && w->gather && w->channels && w->joint && grow_contacts(w, CONTACT_CHUNK))
        return w;
    release(w);
    return NULL;
}

/* Calls `use` for every column there is. */
static mor_code each_column(mor_frames* w, mor_code (*use)(mor_h5* h5, mor_h5_column* column, mor_error* error),
                            mor_error* error)
{
    mor_code code = MOR_OK;
    for (int i = 0; i < SCALARS && !code; i++) code = use(&w->h5, &w->scalar[i], error);
    for (int c = 0; c < w->channel_count && !code; c++)
        if (w->channels[c].values) code = use(&w->h5, &w->channels[c].column, error);
    if (!code) code = use(&w->h5, &w->pose_column, error);
    if (!code) code = use(&w->h5, &w->velocity_column, error);
    if (!code && w->joint_count) code = use(&w->h5, &w->joint_column, error);
    for (int c = 0; c < CONTACT_COLUMNS && !code; c++) code = use(&w->h5, &w->contact_column[c], error);
    return code;
}

static mor_code close_column(mor_h5* h5, mor_h5_column* column, mor_error* error)
{
    (void)h5, (void)error;
    mor_h5_column_close(column);
    return MOR_OK;
}

mor_frames* mor_frames_create(const char* path, const mor_frames_def* def, mor_error* error)
{
    if (check_target(path, error)) return NULL;
    mor_frames* w = allocate(def);
    if (!w) {
        mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
        return NULL;
    }
    mor_code code = mor_h5_begin(&w->h5, path, error);
    bool made = !code;
    if (!code) code = mor_frames_write_meta(&w->h5, def, error);
    if (!code) code = mor_frames_write_bodies(&w->h5, def, error);
    if (!code) code = mor_frames_write_shapes(&w->h5, def, error);
    if (!code) code = mor_frames_write_colors(&w->h5, def, error);
    if (!code) code = mor_frames_write_visuals(&w->h5, def, error);
    if (!code) code = mor_frames_write_joints(&w->h5, def->joints, def->joint_count, error);
    if (!code) code = create_columns(w, error);
    if (!code) code = create_channels(w, def, error);
    if (!code) each_column(w, close_column, NULL);
    if (made) code = mor_h5_finish_live(&w->h5, code, error);
    if (!code) code = each_column(w, mor_h5_column_open, error);
    if (code) {
        mor_h5_close(&w->h5, NULL);
        release(w);
        return NULL;
    }
    w->last_flush = mor_clock();
    return w;
}

mor_frame* mor_frames_begin(mor_frames* w, int contact_count, double** pose, double** velocity)
{
    if (w->failure.code) w->pending = w->contact_used = 0; /* nothing can be written any more */
    if (!w->contacts) contact_count = 0;
    if (w->contact_used + contact_count > w->contact_capacity && w->pending >= LEAST_BATCH) mor_frames_flush(w);
    if (w->contact_used + contact_count > w->contact_capacity &&
        !grow_contacts(w, 2 * (w->contact_used + contact_count)) && !w->failure.code)
        mor_fail(&w->failure, MOR_SYSTEM, "%s: out of memory", w->h5.path);
    size_t slot = (size_t)w->pending, bodies = (size_t)w->body_count;
    mor_frame* frame = &w->frame[slot];
    memset(frame, 0, sizeof *frame);
    frame->contact_start = w->contact_rows;
    *pose = w->pose + slot * bodies * 7;
    *velocity = w->velocity + slot * bodies * 6;
    return frame;
}

double* mor_frames_joints(mor_frames* w) { return w->joint + (size_t)w->pending * (size_t)w->joint_count; }

void mor_frames_contact(mor_frames* w, const mor_contact* contact, const int body[2])
{
    if (!w->contacts || w->contact_used >= w->contact_capacity) return;
    size_t k = (size_t)w->contact_used++;
    const int group[3] = { contact->group, contact->plane, contact->held };
    const void* source[CONTACT_COLUMNS] = {
        [BODY] = body,
        [SHAPE] = contact->shape,
        [POINT] = contact->point,
        [NORMAL] = &contact->normal,
        [GAP] = &contact->gap,
        [IMPULSE] = &contact->impulse,
        [NORMAL_IMPULSE] = &contact->normal_impulse,
        [FEATURE] = &contact->feature,
        [GROUP] = group,
    };
    for (int c = 0; c < CONTACT_COLUMNS; c++) {
        size_t size = contact_row_size(c);
        memcpy((char*)w->contact[c] + k * size, source[c], size);
    }
    w->frame[w->pending].contact_count++;
    w->contact_rows++;
}

void mor_frames_end(mor_frames* w)
{
    w->pending++;
    if (w->pending >= w->batch || mor_clock() - w->last_flush >= FLUSH_SECONDS) mor_frames_flush(w);
}

int64_t mor_frames_flushed(const mor_frames* w) { return w->flushed; }

mor_code mor_frames_state(const mor_frames* w, mor_error* error)
{
    if (w->failure.code && error) *error = w->failure;
    return w->failure.code;
}

mor_code mor_frames_close(mor_frames* w, mor_error* error)
{
    if (!w) return MOR_OK;
    mor_frames_flush(w);
    if (w->failure.code) mor_h5_abandon(&w->h5);
    each_column(w, close_column, NULL);
    mor_error closing = { 0 };
    mor_h5_close(&w->h5, &closing);
    if (!w->failure.code && !closing.code) mor_output_sync(w->h5.path, &closing);
    const mor_error* first = w->failure.code ? &w->failure : &closing;
    mor_code code = first->code;
    if (code && error) *error = *first;
    release(w);
    return code;
}
