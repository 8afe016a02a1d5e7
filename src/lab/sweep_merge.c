/* Puts the results of shards together, see sweep.h. */
#include "lab/sweep.h"
#include "base/failed.h"

#include "io/hdf5/h5.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_WIDTH = 16, LARGEST_PLAN = 64 << 20 };

/* The plan that a file holds. */
static mor_plan* plan_of(const mor_h5* h5, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK];
    if (mor_h5_dims(h5, "/plan", &rank, dims, error)) return NULL;
    if (rank != 1 || dims[0] > LARGEST_PLAN) {
        mor_fail(error, MOR_BAD_INPUT, "%s: /plan is no list of bytes", h5->path);
        return NULL;
    }
    int32_t* bytes = malloc((dims[0] + 1) * sizeof *bytes);
    char* text = malloc(dims[0] + 1);
    mor_plan* plan = NULL;
    if (!bytes || !text) mor_fail(error, MOR_SYSTEM, "out of memory");
    else if (mor_h5_read_all(h5, "/plan", MOR_H5_INT, dims[0], bytes, error) == MOR_OK) {
        for (size_t i = 0; i < dims[0]; i++) text[i] = (char)bytes[i];
        plan = mor_plan_parse(text, dims[0], h5->path, error);
    }
    free(bytes);
    free(text);
    return plan;
}

/* What a file holds, column by column. */
typedef struct columns {
    size_t n;
    int64_t *task, *noted;
    uint64_t* hash;
    char *status, *notes;
    double* values; /* measures x n */
    size_t note_count;
} columns;

static void free_columns(columns* c)
{
    free(c->task);
    free(c->noted);
    free(c->hash);
    free(c->status);
    free(c->notes);
    free(c->values);
}

static mor_code read_columns(const mor_sweep* s, const mor_h5* h5, columns* c, mor_error* error)
{
    int rank;
    size_t dims[MOR_H5_RANK], width = sizeof s->notes->detail;
    mor_code code = mor_h5_dims(h5, "/task", &rank, dims, error);
    if (code) return code;
    if (rank != 1 || dims[0] > (size_t)s->tasks)
        return mor_fail(error, MOR_BAD_INPUT, "%s: /task has %zu entries, the plan has %ld tasks", h5->path, dims[0],
                        s->tasks);
    c->n = dims[0];
    if (mor_h5_exists(h5, "/notes/task")) {
        code = mor_h5_dims(h5, "/notes/task", &rank, dims, error);
        c->note_count = rank == 1 && dims[0] <= c->n ? dims[0] : 0;
    }
    c->task = malloc((c->n + 1) * sizeof *c->task);
    c->hash = malloc((c->n + 1) * sizeof *c->hash);
    c->status = calloc(c->n + 1, STATUS_WIDTH);
    c->values = malloc((c->n + 1) * ((size_t)s->measures + 1) * sizeof *c->values);
    c->noted = malloc((c->note_count + 1) * sizeof *c->noted);
    c->notes = calloc(c->note_count + 1, width);
    if (!code && (!c->task || !c->hash || !c->status || !c->values || !c->noted || !c->notes))
        code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_h5_read_all(h5, "/task", MOR_H5_LONG, c->n, c->task, error);
    if (!code) code = mor_h5_read_all(h5, "/state_hash", MOR_H5_ULONG, c->n, c->hash, error);
    if (!code) code = mor_h5_read_texts(h5, "/status", c->status, STATUS_WIDTH, c->n, error);
    if (!code && c->note_count) code = mor_h5_read_all(h5, "/notes/task", MOR_H5_LONG, c->note_count, c->noted, error);
    if (!code && c->note_count) code = mor_h5_read_texts(h5, "/notes/text", c->notes, width, c->note_count, error);
    for (int k = 0; k < s->measures && !code; k++) {
        char path[400];
        snprintf(path, sizeof path, "/measures/%.300s", s->plan->measures[k].name);
        code = mor_h5_read_all(h5, path, MOR_H5_DOUBLE, c->n, c->values + (size_t)k * c->n, error);
    }
    return code;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Puts one file's rows in; a task that is there already must be the same. */
static mor_code take(mor_sweep* s, const char* file, const columns* c, mor_error* error)
{
    double* row = malloc(((size_t)s->measures + 1) * sizeof *row);
    if (!row) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_code code = MOR_OK;
    size_t note = 0;
    for (size_t i = 0; i < c->n && !code; i++) {
        long t = (long)c->task[i];
        mor_trial_result r = { .status = mor_trial_status_of(c->status + i * STATUS_WIDTH),
                               .state_hash = c->hash[i],
                               .values = row };
        for (int k = 0; k < s->measures; k++) row[k] = c->values[(size_t)k * c->n + i];
        for (; note < c->note_count && c->noted[note] <= t; note++)
            if (c->noted[note] == t) memcpy(r.detail, c->notes + note * sizeof r.detail, sizeof r.detail);
        r.detail[sizeof r.detail - 1] = '\0';
        if (t < 0 || t >= s->tasks || r.status < 0)
            code =
                mor_fail(error, MOR_BAD_INPUT, "%s: row %zu has the task %ld with the status '%s'; the file is damaged",
                         file, i, t, c->status + i * STATUS_WIDTH);
        else if (s->status[t] < 0) code = mor_sweep_keep(s, t, &r, error);
        else {
            bool equal = s->status[t] == r.status && s->state_hash[t] == r.state_hash;
            for (int k = 0; k < s->measures; k++) equal = equal && same(s->values[t * s->measures + k], row[k]);
            if (!equal)
                code =
                    mor_fail(error, MOR_BAD_INPUT, "%s: task %ld has another result than in a file before it", file, t);
        }
    }
    free(row);
    return code;
}

/* The first file: the plan, its own unless one was given. */
static mor_code begin(mor_sweep* s, const mor_h5* h5, mor_plan** plan, char hash[20], const char* own, mor_error* error)
{
    char held[20] = "", given[20];
    mor_code code = mor_h5_get_text(h5, "/", "plan_hash", held, sizeof held, error);
    if (code) return code;
    if (!*plan) *plan = plan_of(h5, error);
    if (!*plan) return mor_failed(error, MOR_BAD_INPUT);
    snprintf(given, sizeof given, "%016" PRIx64, (*plan)->hash);
    if (strcmp(given, held) != 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: made by another plan than %s", h5->path, (*plan)->file);
    mor_plan* taken = *plan;
    *plan = NULL; /* the sweep's now */
    code = mor_sweep_hold(s, taken, error);
    s->hash = strtoull(own, NULL, 16);
    snprintf(hash, 20, "%s", own);
    return code;
}

static mor_code add_file(mor_sweep* s, mor_plan** plan, const char* file, char hash[20], mor_error* error)
{
    mor_h5 h5;
    char format[32] = "", own[20] = "";
    mor_code code = mor_h5_open(&h5, file, error);
    if (code) return code;
    if (mor_h5_has_attribute(&h5, "/", "format"))
        code = mor_h5_get_text(&h5, "/", "format", format, sizeof format, error);
    if (code != MOR_SYSTEM && strcmp(format, "moreau-sweep 1") != 0)
        code = mor_fail(error, MOR_BAD_INPUT, "%s: not written by `moreau sweep -o`", file);
    if (!code) code = mor_h5_get_text(&h5, "/", "hash", own, sizeof own, error);
    if (!code && !s->plan) code = begin(s, &h5, plan, hash, own, error);
    if (!code && strcmp(hash, own) != 0)
        code = mor_fail(error, MOR_BAD_INPUT,
                        "%s: made by another plan, or with other scenes, than the files before it", file);
    columns c = { 0 };
    if (!code) code = read_columns(s, &h5, &c, error);
    if (!code) code = take(s, file, &c, error);
    free_columns(&c);
    mor_code closed = mor_h5_close(&h5, code ? NULL : error);
    return code ? code : closed;
}

mor_code mor_sweep_merge(mor_sweep* s, mor_plan* plan, const char* const* files, int count, mor_error* error)
{
    char hash[20] = "";
    *s = (mor_sweep){ 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < count && !code; i++) code = add_file(s, &plan, files[i], hash, error);
    mor_plan_destroy(plan);
    if (code || s->done == s->tasks) return code;
    long first = 0;
    while (s->status[first] >= 0) first++;
    return mor_fail(error, MOR_BAD_INPUT,
                    "%ld of %ld tasks are in none of the files, task %ld for one; give all shards", s->tasks - s->done,
                    s->tasks, first);
}
