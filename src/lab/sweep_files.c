/* Results of a sweep as CSV, HDF5 and JSON. Rows are in the order of the tasks, and nothing in them was measured with a
 * clock, so that files of the same plan can be compared byte by byte (HDF5: by content).
 *
 * HDF5: /task, /status (texts), /state_hash, /parameters/NAME (numbers, or texts), /measures/NAME, /scene (with several
 * scenes), /notes/task and /notes/text for tasks with something to tell, /plan: the plan's text as bytes. */
#include "lab/sweep.h"

#include "io/hdf5/h5.h"
#include "io/json/json.h"
#include "lab/sensitivity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- CSV */

static void csv_text(FILE* out, const char* text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void mor_sweep_write_csv(const mor_sweep* s, FILE* out)
{
    const mor_plan* p = s->plan;
    char text[MOR_PLAN_TEXT];
    fputs("task", out);
    if (p->scene_count > 1) fputs(",scene", out);
    for (int i = 0; i < p->parameter_count; i++) fputc(',', out), csv_text(out, p->parameters[i].path);
    for (int i = 0; i < p->measure_count; i++) fputc(',', out), csv_text(out, p->measures[i].name);
    fputs(",status,state_hash\n", out);
    for (long t = 0; t < s->tasks; t++) {
        if (s->status[t] < 0) continue;
        fprintf(out, "%ld", t);
        if (p->scene_count > 1) fputc(',', out), csv_text(out, p->scene_nodes[mor_plan_scene(p, t)]->text);
        for (int i = 0; i < p->parameter_count; i++) {
            mor_plan_text(p, t, i, text, sizeof text);
            fputc(',', out);
            csv_text(out, text);
        }
        for (int i = 0; i < p->measure_count; i++)
            fprintf(out, ",%s", mor_short_number(text, sizeof text, s->values[t * s->measures + i]));
        fprintf(out, ",%s,%016" PRIx64 "\n", mor_trial_status_name(s->status[t]), s->state_hash[t]);
    }
}

/* --------------------------------------------------------------------------------------- HDF5 */

enum { STATUS_WIDTH = 16 };

/* The tasks with a result; *count of them. NULL: out of memory. */
static long* rows_of(const mor_sweep* s, size_t* count)
{
    long* rows = malloc(((size_t)s->done + 1) * sizeof *rows);
    *count = 0;
    for (long t = 0; rows && t < s->tasks; t++)
        if (s->status[t] >= 0) rows[(*count)++] = t;
    return rows;
}

static mor_code write_numbers(mor_h5* h5, const char* group, const char* name, size_t n, const double* data,
                              mor_error* error)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%.300s", group, name);
    for (char* c = path + strlen(group) + 1; *c; c++)
        if (*c == '/') *c = '|';
    return mor_h5_write(h5, path, MOR_H5_DOUBLE, 1, &n, data, error);
}

static mor_code write_parameter(const mor_sweep* s, mor_h5* h5, int k, const long* rows, size_t n, mor_error* error)
{
    const mor_parameter* x = &s->plan->parameters[k];
    if (x->numeric) {
        double* column = malloc((n + 1) * sizeof *column);
        if (!column) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (size_t i = 0; i < n; i++) column[i] = mor_plan_number(s->plan, rows[i], k);
        mor_code code = write_numbers(h5, "/parameters", x->path, n, column, error);
        free(column);
        return code;
    }
    size_t width = 1;
    for (int i = 0; i < x->count; i++)
        if (strlen(x->texts[i]) > width) width = strlen(x->texts[i]);
    char* texts = calloc(n + 1, width + MOR_PLAN_TEXT);
    if (!texts) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < n; i++) { /* ascending: what runs over is overwritten by the next */
        char text[MOR_PLAN_TEXT];
        mor_plan_text(s->plan, rows[i], k, text, sizeof text);
        memcpy(texts + i * width, text, strlen(text));
    }
    char path[400];
    snprintf(path, sizeof path, "/parameters/%.300s", x->path);
    mor_code code = mor_h5_write_texts(h5, path, texts, width, n, error);
    free(texts);
    return code;
}

static mor_code write_states(const mor_sweep* s, mor_h5* h5, const long* rows, size_t n, mor_error* error)
{
    int64_t* whole = malloc((n + 1) * sizeof *whole);
    uint64_t* hashes = malloc((n + 1) * sizeof *hashes);
    char* words = calloc(n + 1, STATUS_WIDTH);
    mor_code code = whole && hashes && words ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < n && !code; i++) {
        whole[i] = rows[i];
        hashes[i] = s->state_hash[rows[i]];
        snprintf(words + i * STATUS_WIDTH, STATUS_WIDTH, "%s", mor_trial_status_name(s->status[rows[i]]));
    }
    if (!code) code = mor_h5_write(h5, "/task", MOR_H5_LONG, 1, &n, whole, error);
    if (!code) code = mor_h5_write(h5, "/state_hash", MOR_H5_ULONG, 1, &n, hashes, error);
    if (!code) code = mor_h5_write_texts(h5, "/status", words, STATUS_WIDTH, n, error);
    for (size_t i = 0; i < n && !code; i++) whole[i] = mor_plan_scene(s->plan, rows[i]);
    if (!code && s->plan->scene_count > 1) code = mor_h5_write(h5, "/scene", MOR_H5_LONG, 1, &n, whole, error);
    free(whole);
    free(hashes);
    free(words);
    return code;
}

static int compare_notes(const void* a, const void* b)
{
    const mor_sweep_note *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

static mor_code write_notes(const mor_sweep* s, mor_h5* h5, mor_error* error)
{
    size_t n = (size_t)s->note_count, width = sizeof s->notes->detail;
    if (n == 0) return MOR_OK;
    mor_code code = mor_h5_group(h5, "/notes", error);
    qsort(s->notes, n, sizeof *s->notes, compare_notes);
    int64_t* tasks = calloc(n, sizeof *tasks);
    char* texts = calloc(n, width);
    if (!code && (!tasks || !texts)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < n && !code; i++) {
        tasks[i] = s->notes[i].task;
        snprintf(texts + i * width, width, "%s", s->notes[i].detail);
    }
    if (!code) code = mor_h5_write(h5, "/notes/task", MOR_H5_LONG, 1, &n, tasks, error);
    if (!code) code = mor_h5_write_texts(h5, "/notes/text", texts, width, n, error);
    free(tasks);
    free(texts);
    return code;
}

static mor_code write_plan(const mor_sweep* s, mor_h5* h5, mor_error* error)
{
    size_t n = s->plan->length;
    int32_t* bytes = malloc((n + 1) * sizeof *bytes);
    if (!bytes) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)s->plan->text[i];
    char hash[20], plan[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, s->hash);
    snprintf(plan, sizeof plan, "%016" PRIx64, s->plan->hash);
    mor_code code = mor_h5_write(h5, "/plan", MOR_H5_INT, 1, &n, bytes, error);
    if (!code) code = mor_h5_set_text(h5, "/", "format", "moreau-sweep 1", error);
    if (!code) code = mor_h5_set_text(h5, "/", "moreau", MOR_VERSION_STRING, error);
    if (!code) code = mor_h5_set_text(h5, "/", "hash", hash, error);
    if (!code) code = mor_h5_set_text(h5, "/", "plan_hash", plan, error);
    if (!code) code = mor_h5_set_int(h5, "/", "tasks", (int)s->tasks, error);
    free(bytes);
    return code;
}

mor_code mor_sweep_write_hdf5(const mor_sweep* s, const char* path, mor_error* error)
{
    size_t n;
    long* rows = rows_of(s, &n);
    double* column = malloc((n + 1) * sizeof *column);
    mor_h5 h5;
    mor_code code = rows && column ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_h5_begin(&h5, path, error);
    if (code) {
        free(rows), free(column);
        return code;
    }
    code = write_plan(s, &h5, error);
    if (!code) code = write_states(s, &h5, rows, n, error);
    if (!code) code = mor_h5_group(&h5, "/parameters", error);
    for (int k = 0; k < s->plan->parameter_count && !code; k++) code = write_parameter(s, &h5, k, rows, n, error);
    if (!code) code = mor_h5_group(&h5, "/measures", error);
    for (int k = 0; k < s->measures && !code; k++) {
        for (size_t i = 0; i < n; i++) column[i] = s->values[rows[i] * s->measures + k];
        code = write_numbers(&h5, "/measures", s->plan->measures[k].name, n, column, error);
    }
    if (!code) code = write_notes(s, &h5, error);
    free(rows);
    free(column);
    return mor_h5_finish(&h5, code, error);
}

/* --------------------------------------------------------------------------------------- JSON */

static void write_row(mor_json* j, const mor_sweep* s, long t)
{
    const mor_plan* p = s->plan;
    char text[MOR_PLAN_TEXT];
    mor_json_object(j, NULL);
    mor_json_integer(j, "task", t);
    if (p->scene_count > 1) mor_json_text(j, "scene", p->scene_nodes[mor_plan_scene(p, t)]->text);
    mor_json_object(j, "parameters");
    for (int i = 0; i < p->parameter_count; i++) {
        mor_plan_text(p, t, i, text, sizeof text);
        if (p->parameters[i].numeric) mor_json_number(j, p->parameters[i].path, mor_plan_number(p, t, i));
        else mor_json_text(j, p->parameters[i].path, text);
    }
    mor_json_end(j);
    mor_json_object(j, "measures");
    for (int i = 0; i < s->measures; i++) mor_json_number(j, p->measures[i].name, s->values[t * s->measures + i]);
    mor_json_end(j);
    mor_json_text(j, "status", mor_trial_status_name(s->status[t]));
    snprintf(text, sizeof text, "%016" PRIx64, s->state_hash[t]);
    mor_json_text(j, "state_hash", text);
    mor_json_end(j);
}

static void write_indices(mor_json* j, const mor_sweep* s)
{
    mor_json_list(j, "sensitivity");
    for (int m = 0; m < s->measures; m++)
        for (long g = 0; g < mor_sensitivity_groups(s); g++) {
            mor_sensitivity x;
            if (!mor_sensitivity_make(s, m, g, &x)) continue;
            for (int k = 0; k < x.count; k++) {
                const mor_sensitivity_index* i = &x.index[k];
                mor_json_object(j, NULL);
                mor_json_text(j, "measure", s->plan->measures[m].name);
                mor_json_text(j, "parameter", s->plan->parameters[i->parameter].path);
                if (mor_sensitivity_groups(s) > 1) mor_json_integer(j, "combination", g);
                if (x.morris) {
                    mor_json_number(j, "mu_star", i->mu_star);
                    mor_json_number(j, "mu", i->mu);
                    mor_json_number(j, "sigma", i->sigma);
                } else {
                    mor_json_number(j, "first", i->first);
                    mor_json_numbers(j, "first_interval", i->first_interval, 2);
                    if (x.total) mor_json_number(j, "total", i->total);
                    if (x.total) mor_json_numbers(j, "total_interval", i->total_interval, 2);
                }
                mor_json_end(j);
            }
            mor_sensitivity_free(&x);
        }
    mor_json_end(j);
}

void mor_sweep_write_json(const mor_sweep* s, FILE* out)
{
    mor_json json = mor_json_begin(out), *j = &json;
    long counts[MOR_TRIAL_STATUSES] = { 0 };
    for (long t = 0; t < s->tasks; t++)
        if (s->status[t] >= 0) counts[(int)s->status[t]]++;
    mor_json_object(j, NULL);
    mor_json_text(j, "plan", s->plan->file);
    mor_json_integer(j, "tasks", s->tasks);
    mor_json_integer(j, "done", s->done);
    mor_json_object(j, "status");
    for (int i = 0; i < MOR_TRIAL_STATUSES; i++)
        if (counts[i]) mor_json_integer(j, mor_trial_status_name(i), counts[i]);
    mor_json_end(j);
    mor_json_list(j, "notes");
    for (long i = 0; i < s->note_count; i++) {
        mor_json_object(j, NULL);
        mor_json_integer(j, "task", s->notes[i].task);
        mor_json_text(j, "detail", s->notes[i].detail);
        mor_json_end(j);
    }
    mor_json_end(j);
    write_indices(j, s);
    mor_json_list(j, "runs");
    for (long t = 0; t < s->tasks; t++)
        if (s->status[t] >= 0) write_row(j, s, t);
    mor_json_end(j);
    mor_json_end(j);
    mor_json_finish(j);
}
