/* Writing the iterates of a solve, see iteration_file.h. */
#include "io/hdf5/iteration_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5/h5.h"

bool mor_iterations_add(mor_iterations* a, const mor_iterate* line, const double* z)
{
    if (a->count == a->capacity) {
        int capacity = a->capacity ? 2 * a->capacity : 64;
        mor_iterate* lines = realloc(a->lines, (size_t)capacity * sizeof *lines);
        if (lines) a->lines = lines;
        double* grown = lines ? realloc(a->z, ((size_t)capacity * (size_t)a->size + 1) * sizeof *grown) : NULL;
        if (!grown) return false;
        a->z = grown;
        a->capacity = capacity;
    }
    a->lines[a->count] = *line;
    memcpy(a->z + (size_t)a->count++ * (size_t)a->size, z, (size_t)a->size * sizeof *z);
    return true;
}

void mor_iterations_free(mor_iterations* a)
{
    free(a->lines);
    free(a->z);
    memset(a, 0, sizeof *a);
}

mor_code mor_iterations_write(const char* path, const mor_iterations* a, const char* problem, const char* formulation,
                              const char* solver, mor_error* error)
{
    if (access(path, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: file exists; iterations are never written over others", path);
    size_t n = (size_t)a->count, dims[2] = { n, (size_t)a->size };
    double* column = malloc((n + 1) * sizeof *column);
    mor_h5 h5;
    mor_code code = column ? mor_h5_begin(&h5, path, error) : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (code) {
        free(column);
        return code;
    }
    code = mor_h5_group(&h5, "/meta", error);
    const char* texts[][2] = { { "format", "moreau iterations" },
                               { "producer", "moreau " MOR_VERSION_STRING },
                               { "problem", problem },
                               { "formulation", formulation },
                               { "solver", solver },
                               { "units", "velocity: m/s; z: impulses of the rows [N s] for steps; time: s" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !code; i++)
        code = mor_h5_set_text(&h5, "/meta", texts[i][0], texts[i][1], error);
    if (!code) code = mor_h5_write(&h5, "/z", MOR_H5_DOUBLE, 2, dims, a->z, error);
#define COLUMN(name, what)                                                                                             \
    for (size_t i = 0; i < n; i++) column[i] = a->lines[i].what;                                                       \
    if (!code) code = mor_h5_write(&h5, name, MOR_H5_DOUBLE, 1, dims, column, error)
    COLUMN("/iteration", iteration);
    COLUMN("/time_s", time_s);
    COLUMN("/total_error_fb", residual.fb);
    COLUMN("/total_error_cck", residual.cck);
    COLUMN("/natural", residual.natural);
    COLUMN("/velocity", residual.velocity);
    COLUMN("/relative", residual.relative);
    COLUMN("/normal_error", residual.normal_error);
    COLUMN("/friction_error", residual.friction_error);
    COLUMN("/user_error", user_error);
    COLUMN("/sticking", sticking);
    COLUMN("/sliding", sliding);
    COLUMN("/open", open);
#undef COLUMN
    free(column);
    return mor_h5_finish(&h5, code, error);
}
