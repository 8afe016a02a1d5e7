/* Solver traces as HDF5 (trace_file.h). */
#include "io/trace_file.h"

#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mor_trace_file {
    hid_t file;
    char path[1024], temporary[1040];
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
    snprintf(f->temporary, sizeof f->temporary, "%s.part", path);
    H5E_BEGIN_TRY { f->file = H5Fcreate(f->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }
    H5E_END_TRY
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
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    return ok;
}

/* The k-th number of a line, in the order of `names`. */
static double number(const mor_trace_line* l, int k)
{
    const mor_residual* r = &l->residual;
    const double all[] = { l->iteration, l->time_s, l->step_length, r->relative, r->absolute, r->velocity, r->natural,
                           r->fb, r->cck, r->normal_error, r->friction_error, r->friction_power };
    return all[k];
}

mor_code mor_trace_file_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                            mor_error* error)
{
    static const char* const names[] = { "iteration", "time_s", "step_length", "relative", "absolute", "velocity",
                                         "natural", "fb", "cck", "normal_error", "friction_error", "friction_power" };
    char path[1200];
    if (snprintf(path, sizeof path, "/%s/%s", problem ? problem : "problem", solver) >= (int)sizeof path)
        return mor_fail(error, MOR_BAD_INPUT, "the name of the problem is too long");
    bool ok = false;
    H5E_BEGIN_TRY
    {
        hid_t list = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(list, 1);
        hid_t group = H5Gcreate2(file->file, path, list, H5P_DEFAULT, H5P_DEFAULT);
        H5Pclose(list);
        double* x = malloc(((size_t)trace->count + 1) * sizeof *x);
        ok = group >= 0 && x;
        for (int k = 0; ok && k < (int)(sizeof names / sizeof *names); k++) {
            for (int i = 0; i < trace->count; i++) x[i] = number(&trace->lines[i], k);
            ok = write_vector(group, names[k], x, trace->count);
        }
        free(x);
        if (group >= 0) H5Gclose(group);
    }
    H5E_END_TRY
    return ok ? MOR_OK : mor_fail(error, MOR_SYSTEM, "%s: the trace of %s cannot be written (the same problem twice?)", file->path, path);
}

mor_code mor_trace_file_close(mor_trace_file* file, mor_error* error)
{
    mor_code code = MOR_OK;
    if (H5Fclose(file->file) < 0 || rename(file->temporary, file->path) != 0) {
        code = mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", file->path, strerror(errno));
        remove(file->temporary);
    }
    free(file);
    return code;
}
