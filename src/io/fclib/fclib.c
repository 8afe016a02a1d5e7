/* FCLIB HDF5 files (https://frictionalcontactlibrary.github.io): one problem per file under
 * /fclib_local (u = W r + q), /fclib_global (M v = H r + f, u = H' v + w) or /fclib_global_rolling.
 *
 * Matrices are groups of nz, m, n, nzmax, p, i, x: nz >= 0 triplets with i = rows and p = columns (fclib.h
 * says the opposite, every file in the wild does this), -1 compressed columns, -2 compressed rows. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "io/fclib/fclib.h"
#include "io/hdf5/h5_inside.h"
#include "linalg/sparse.h"

typedef struct source {
    hid_t file;
    const char* path;
    mor_arena* arena;
    mor_error* error;
} source;

static mor_code bad(const source* s, const char* dataset, const char* what)
{
    bool system = mor_h5_fault();
    return mor_fail(s->error, system ? MOR_SYSTEM : MOR_BAD_INPUT, "%s: %s: %s%s", s->path, dataset, what,
                    system ? ": the disk or the memory failed" : "");
}

static bool exists(const source* s, const char* name) { return H5Lexists(s->file, name, H5P_DEFAULT) != 0; }

/* All numbers of a dataset as `type` (native int or double); `count` < 0: any number, returned. */
static mor_code read_array(const source* s, const char* group, const char* name, hid_t type, size_t size, long* count,
                           void** out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, name);
    hid_t set = H5Dopen2(s->file, path, H5P_DEFAULT);
    if (set < 0) return bad(s, path, "this dataset is missing");
    hid_t space = H5Dget_space(set), kind = H5Dget_type(set);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    H5T_class_t family = H5Tget_class(kind);
    mor_code code = MOR_OK;
    if (family != H5T_INTEGER && family != H5T_FLOAT) code = bad(s, path, "this dataset does not hold numbers");
    else if (n < 0 || n > INT_MAX) code = bad(s, path, "this dataset has an impossible size");
    else if (*count >= 0 && n < *count) {
        char text[120];
        snprintf(text, sizeof text, "%lld numbers are too few; %ld were expected", (long long)n, *count);
        code = bad(s, path, text);
    } else {
        *out = mor_arena_alloc(s->arena, (size_t)n * size);
        if (!*out) code = mor_fail(s->error, MOR_SYSTEM, "out of memory");
        else if (n > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
            code = bad(s, path, "this dataset cannot be read");
        *count = (long)n;
    }
    H5Tclose(kind);
    H5Sclose(space);
    H5Dclose(set);
    return code;
}

static mor_code read_doubles(const source* s, const char* group, const char* name, long n, const double** out)
{
    void* data = NULL;
    mor_code code = read_array(s, group, name, H5T_NATIVE_DOUBLE, sizeof(double), &n, &data);
    *out = data;
    return code;
}

static mor_code read_int(const source* s, const char* group, const char* name, int* value)
{
    void* data = NULL;
    long n = 1;
    mor_code code = read_array(s, group, name, H5T_NATIVE_INT, sizeof(int), &n, &data);
    if (!code) *value = *(int*)data;
    return code;
}

static mor_code read_ints(const source* s, const char* group, const char* name, long n, const int** out)
{
    void* data = NULL;
    mor_code code = read_array(s, group, name, H5T_NATIVE_INT, sizeof(int), &n, &data);
    *out = data;
    return code;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        mor_code try_code = (call);                                                                                    \
        if (try_code) return try_code;                                                                                 \
    } while (0)

static mor_code read_matrix(const source* s, const char* group, mor_matrix* A)
{
    int m, n, nz, nzmax;
    const int *p, *i;
    const double* x;
    TRY(read_int(s, group, "m", &m));
    TRY(read_int(s, group, "n", &n));
    TRY(read_int(s, group, "nz", &nz));
    TRY(read_int(s, group, "nzmax", &nzmax));
    if (m < 0 || n < 0 || nzmax < 0 || nz < -2 || nz > nzmax || m == INT_MAX || n == INT_MAX)
        return bad(s, group, "m, n, nz or nzmax is out of range");
    int outer = nz == -1 ? n : m, inner = nz == -1 ? m : n;
    TRY(read_ints(s, group, "p", nz >= 0 ? nz : outer + 1L, &p));
    int count = nz;
    if (nz < 0) {
        for (int k = 0; k < outer; k++)
            if (p[k] > p[k + 1]) return bad(s, group, "the positions p fall");
        count = p[outer];
        if (p[0] != 0 || count > nzmax)
            return bad(s, group, "the positions p do not run from 0 to the number of entries");
    }
    TRY(read_ints(s, group, "i", count, &i));
    TRY(read_doubles(s, group, "x", count, &x));
    int* other = mor_arena_alloc(s->arena, ((size_t)count + 1) * sizeof(int));
    if (!other) return mor_fail(s->error, MOR_SYSTEM, "out of memory");
    if (nz >= 0) memcpy(other, p, (size_t)count * sizeof(int));
    else
        for (int o = 0; o < outer; o++)
            for (int k = p[o]; k < p[o + 1]; k++) other[k] = o;
    const int *row = nz == -2 ? other : i, *col = nz == -2 ? i : other;
    (void)inner;
    for (int k = 0; k < count; k++)
        if (row[k] < 0 || row[k] >= m || col[k] < 0 || col[k] >= n) return bad(s, group, "an index is out of range");
    mor_csr C;
    if (!mor_csr_from_triplets(&C, m, n, count, row, col, x, s->arena))
        return mor_fail(s->error, MOR_SYSTEM, "out of memory");
    *A = (mor_matrix){ .storage = MOR_SPARSE, .rows = m, .cols = n, .p = C.p, .i = C.i, .x = C.x };
    return MOR_OK;
}

static mor_code read_problem(const source* s, mor_problem* p)
{
    const char* group = exists(s, "/fclib_local")            ? "/fclib_local"
                        : exists(s, "/fclib_global_rolling") ? "/fclib_global_rolling"
                        : exists(s, "/fclib_global")         ? "/fclib_global"
                                                             : NULL;
    if (!group) return bad(s, "/", "neither fclib_local, fclib_global nor fclib_global_rolling is here");
    bool local = strcmp(group, "/fclib_local") == 0, rolling = strcmp(group, "/fclib_global_rolling") == 0;
    char name[64];
    TRY(read_int(s, group, "spacedim", &p->dim));
    if (rolling && p->dim == 3) p->dim = 5;
    if (rolling ? p->dim != 5 : p->dim != 2 && p->dim != 3)
        return bad(s, group, "spacedim is neither 2 nor 3 (rolling: 5)");
    if (local) {
        if (exists(s, "/fclib_local/R")) return bad(s, "/fclib_local/R", "equality constraints are not supported");
        TRY(read_matrix(s, "/fclib_local/W", &p->A));
        p->size = p->A.rows;
        p->form = p->dim == 2 ? MOR_FC2D : MOR_FC3D;
    } else {
        snprintf(name, sizeof name, "%s/G", group);
        if (exists(s, name)) return bad(s, name, "equality constraints are not supported");
        snprintf(name, sizeof name, "%s/M", group);
        TRY(read_matrix(s, name, &p->M));
        snprintf(name, sizeof name, "%s/H", group);
        TRY(read_matrix(s, name, &p->H));
        p->size = p->H.cols;
        p->form = rolling ? MOR_GFC_ROLLING : p->dim == 2 ? MOR_GFC2D : MOR_GFC3D;
    }
    if (p->size % p->dim != 0) return bad(s, group, "the number of rows is not a multiple of spacedim");
    p->contact_count = p->size / p->dim;
    snprintf(name, sizeof name, "%s/vectors", group);
    TRY(read_doubles(s, name, local ? "q" : "w", p->size, &p->b));
    TRY(read_doubles(s, name, "mu", p->contact_count, &p->mu));
    if (!local) TRY(read_doubles(s, name, "f", p->M.rows, &p->f));
    if (rolling) TRY(read_doubles(s, name, "mu_r", p->contact_count, &p->mu_roll));
    return MOR_OK;
}

mor_code mor_fclib_read(const char* path, mor_problem_file* file, mor_error* error)
{
    mor_code code = mor_h5_guard(path, error);
    if (code) return code;
    mor_h5_printing before = mor_h5_quiet();
    source s = { H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), path, file->arena, error };
    if (s.file < 0) code = bad(&s, "/", "HDF5 cannot open this file; is it truncated?");
    else {
        code = read_problem(&s, &file->problem);
        H5Fclose(s.file);
    }
    mor_h5_loud(before);
    if (!code) file->columns = mor_problem_unknowns(&file->problem);
    return code;
}

mor_code mor_problem_load(const char* path, const char* kind, mor_problem_file* file, mor_error* error)
{
    if (!mor_is_hdf5(path)) return mor_problem_read(path, kind, file, error);
    mor_code code = mor_problem_file_begin(file, error);
    if (code) return code;
    code = mor_fclib_read(path, file, error);
    return mor_problem_file_end(file, path, code, error);
}
