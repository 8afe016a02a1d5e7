/* Solver traces as HDF5 (trace_file.h). */
#include "io/hdf5/trace_file.h"
#include "io/hdf5/h5_inside.h"
#include "io/text/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mor_trace_file {
    hid_t file; /* in memory until it is closed */
    char path[1024];
    bool any; /* trace was added */
};

mor_code mor_trace_file_create(const char* path, mor_trace_file** out, mor_error* error)
{
    mor_trace_file* f = calloc(1, sizeof *f);
    if (!f) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (strlen(path) >= sizeof f->path) {
        free(f);
        return mor_fail(error, MOR_BAD_INPUT, "the name of the trace file is too long");
    }
    strcpy(f->path, path);
    char target[4200], name[64];
    mor_code code = mor_output_target(path, target, sizeof target, error);
    if (code) {
        free(f);
        return code;
    }
    mor_h5_memory_name(f, name);
    mor_h5_printing before = mor_h5_quiet();
    hid_t list = H5Pcreate(H5P_FILE_CREATE), access = mor_h5_memory_access();
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    f->file = access >= 0 ? H5Fcreate(name, H5F_ACC_TRUNC, list, access) : access;
    H5Pclose(access); /* one that is not there is refused in silence */
    H5Pclose(list);
    mor_h5_loud(before);
    if (f->file < 0) {
        free(f);
        return mor_fail(error, MOR_SYSTEM, "%s: the trace file cannot be created", path);
    }
    *out = f;
    return MOR_OK;
}

static bool write_vector(hid_t group, const char* name, const double* x, int n)
{
    hsize_t size = (hsize_t)n;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = set >= 0 && (n == 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    return ok;
}

/* The k-th number of a line, in the order of `names`. */
static double number(const mor_trace_line* l, int k)
{
    const mor_residual* r = &l->residual;
    const double all[] = { l->iteration, l->time_s,       l->step_length,    r->relative,
                           r->absolute,  r->velocity,     r->natural,        r->fb,
                           r->cck,       r->normal_error, r->friction_error, r->friction_power };
    return all[k];
}

mor_code mor_trace_file_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                            mor_error* error)
{
    static const char* const names[] = { "iteration", "time_s",       "step_length",    "relative",
                                         "absolute",  "velocity",     "natural",        "fb",
                                         "cck",       "normal_error", "friction_error", "friction_power" };
    char path[1200];
    if (!problem) problem = "problem";
    if (snprintf(path, sizeof path, "/%s/%s", problem, solver) >= (int)sizeof path)
        return mor_fail(error, MOR_BAD_INPUT, "the name of the problem is too long");
    bool ok = false, room = true;
    mor_h5_printing before = mor_h5_quiet();
    if (H5Lexists(file->file, problem, H5P_DEFAULT) <= 0) {
        hid_t list = H5Pcreate(H5P_GROUP_CREATE);
        H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
        H5Gclose(H5Gcreate2(file->file, problem, H5P_DEFAULT, list, H5P_DEFAULT));
        H5Pclose(list);
    }
    hid_t group = H5Gcreate2(file->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    double* x = malloc(((size_t)trace->count + 1) * sizeof *x);
    room = x != NULL, ok = group >= 0 && room;
    for (int k = 0; ok && k < (int)(sizeof names / sizeof *names); k++) {
        for (int i = 0; i < trace->count; i++) x[i] = number(&trace->lines[i], k);
        ok = write_vector(group, names[k], x, trace->count);
    }
    free(x);
    H5Gclose(group);
    mor_h5_loud(before);
    file->any |= ok;
    if (!room) return mor_fail(error, MOR_SYSTEM, "%s: out of memory for the trace of %s", file->path, path);
    return ok ? MOR_OK
              : mor_fail(error, MOR_SYSTEM, "%s: the trace of %s cannot be written (the same problem twice?)",
                         file->path, path);
}

mor_code mor_trace_file_close(mor_trace_file* file, mor_error* error)
{
    mor_code code = file->any ? mor_h5_save(file->file, file->path, error) : MOR_OK;
    QUIET(H5Fclose(file->file));
    free(file);
    return code;
}

/* ------------------------------------------------------------------------------- reading */

/* The vector `name` of a group; its length must be *count, or is stored there when that is -1. NULL: it is not there or
 * damaged, or there is no room for it. */
static double* read_vector(hid_t group, const char* name, int* count, bool* room)
{
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    hssize_t n = H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    bool fits = n >= 0 && n < 100000000 && (*count < 0 || n == *count);
    double* x = fits ? malloc(((size_t)n + 1) * sizeof *x) : NULL;
    if (fits) *room = x != NULL;
    if (x && n > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0) free(x), x = NULL;
    if (x) *count = (int)n;
    H5Sclose(space);
    H5Dclose(set);
    return x;
}

static bool read_record(hid_t group, mor_trace_record* r, bool* room)
{
    r->count = -1;
    double* parts[4] = { 0 };
    static const char* const names[4] = { "iteration", "time_s", "relative", "velocity" };
    bool ok = true;
    for (int k = 0; k < 4 && ok; k++) ok = (parts[k] = read_vector(group, names[k], &r->count, room)) != NULL;
    size_t n = ok ? (size_t)r->count : 0;
    r->iteration = ok ? malloc((3 * n + 1) * sizeof *r->iteration) : NULL;
    if (ok) *room = ok = r->iteration != NULL;
    if (ok) {
        r->time_s = r->iteration + n;
        r->error = r->time_s + n;
        for (size_t i = 0; i < n; i++) {
            r->iteration[i] = parts[0][i];
            r->time_s[i] = parts[1][i];
            r->error[i] = isnan(parts[2][i]) ? parts[3][i] : parts[2][i];
        }
    }
    for (int k = 0; k < 4; k++) free(parts[k]);
    return ok;
}

/* The names of the links of a group, by creation where that is tracked. */
static ssize_t link_name(hid_t group, hsize_t k, char* name, size_t size)
{
    ssize_t n = H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, k, name, size, H5P_DEFAULT);
    return n >= 0 ? n : H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, size, H5P_DEFAULT);
}

static bool read_problem(hid_t file, const char* problem, mor_trace_record** records, int* count, bool* room)
{
    hid_t group = H5Gopen2(file, problem, H5P_DEFAULT);
    H5G_info_t info;
    bool ok = group >= 0 && H5Gget_info(group, &info) >= 0;
    for (hsize_t k = 0; ok && k < info.nlinks; k++) {
        mor_trace_record r = { 0 };
        snprintf(r.problem, sizeof r.problem, "%s", problem);
        ok = link_name(group, k, r.solver, sizeof r.solver) >= 0;
        hid_t inner = ok ? H5Gopen2(group, r.solver, H5P_DEFAULT) : -1;
        ok = inner >= 0 && read_record(inner, &r, room);
        H5Gclose(inner);
        mor_trace_record* grown = ok ? realloc(*records, (size_t)(*count + 1) * sizeof *grown) : NULL;
        if (ok) *room = grown != NULL;
        if (!grown) {
            free(r.iteration);
            ok = false;
            break;
        }
        *records = grown;
        grown[(*count)++] = r;
    }
    H5Gclose(group);
    return ok;
}

void mor_trace_records_free(mor_trace_record* records, int count)
{
    for (int k = 0; k < count; k++) free(records[k].iteration);
    free(records);
}

mor_code mor_trace_file_read(const char* path, mor_trace_record** records, int* count, mor_error* error)
{
    *records = NULL;
    *count = 0;
    mor_code code = mor_h5_guard(path, error);
    if (code) return code;
    mor_h5_printing before = mor_h5_quiet();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5G_info_t info;
    bool opened = file >= 0, room = true, ok = opened && H5Gget_info(file, &info) >= 0;
    char name[256];
    for (hsize_t k = 0; ok && k < info.nlinks; k++)
        ok = link_name(file, k, name, sizeof name) >= 0 && read_problem(file, name, records, count, &room);
    H5Fclose(file);
    mor_h5_loud(before);
    if (ok && *count > 0) return MOR_OK;
    mor_trace_records_free(*records, *count);
    *records = NULL;
    *count = 0;
    if (!room) return mor_fail(error, MOR_SYSTEM, "out of memory while reading %s", path);
    return opened ? mor_fail(error, MOR_BAD_INPUT,
                             "%s is not a trace: make one with moreau solve PROBLEM --all --trace FILE.h5", path)
                  : mor_fail(error, MOR_BAD_INPUT, "%s: cannot be opened as HDF5", path);
}
