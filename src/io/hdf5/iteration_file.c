/* Writing the iterates of a solve, see iteration_file.h. */
#include "io/hdf5/iteration_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elementary.h"
#include "io/hdf5/h5.h"

bool mor_iterations_add(mor_iterations* a, const mor_iterate* line, const double* z,
                        const mor_contact_verdict* verdicts)
{
    if (a->count == a->capacity) {
        size_t capacity = a->capacity ? 2 * (size_t)a->capacity : 64;
        mor_iterate* lines = realloc(a->lines, capacity * sizeof *lines);
        if (lines) a->lines = lines;
        double* grown = lines ? realloc(a->z, (capacity * (size_t)a->size + 1) * sizeof *grown) : NULL;
        if (grown) a->z = grown;
        mor_contact_verdict* all =
            grown ? realloc(a->verdicts, (capacity * (size_t)a->contacts + 1) * sizeof *all) : NULL;
        if (!all) return false;
        a->verdicts = all;
        a->capacity = (int)capacity;
    }
    size_t at = (size_t)a->count++;
    a->lines[at] = *line;
    memcpy(a->z + at * (size_t)a->size, z, (size_t)a->size * sizeof *z);
    if (a->contacts) memcpy(a->verdicts + at * (size_t)a->contacts, verdicts, (size_t)a->contacts * sizeof *verdicts);
    return true;
}

void mor_iterations_free(mor_iterations* a)
{
    free(a->lines);
    free(a->z);
    free(a->verdicts);
    free(a->contact);
    memset(a, 0, sizeof *a);
}

/* ---------------------------------------------------------------------------------- writing */

typedef struct writer {
    mor_h5 h5;
    const mor_iterations* islands;
    int island_count;
    size_t iterations; /* of the island with most */
    double* table;     /* iterations x most columns */
    mor_error* error;
    mor_code code;
} writer;

/* The island's line at this iteration; the last one if it has ended. */
static size_t line_at(const mor_iterations* a, size_t k) { return k < (size_t)a->count ? k : (size_t)a->count - 1; }

/* A number of every line, added up over the islands or the largest of them; NaN where no island has one. */
static void put_column(writer* w, const char* name, double (*of)(const mor_iterate* line), bool sum)
{
    size_t dims[1] = { w->iterations };
    for (size_t k = 0; k < w->iterations; k++) {
        double all = NAN;
        for (int i = 0; i < w->island_count; i++) {
            if (!w->islands[i].count) continue;
            double one = of(&w->islands[i].lines[line_at(&w->islands[i], k)]);
            if (isnan(one)) continue;
            if (isnan(all)) all = one;
            else all = sum ? all + one : mor_max(all, one);
        }
        w->table[k] = all;
    }
    if (!w->code) w->code = mor_h5_write(&w->h5, name, MOR_H5_DOUBLE, 1, dims, w->table, w->error);
}

static double iteration_of(const mor_iterate* l) { return l->iteration; }
static double time_of(const mor_iterate* l) { return l->time_s; }
static double fb_of(const mor_iterate* l) { return l->residual.fb; }
static double cck_of(const mor_iterate* l) { return l->residual.cck; }
static double natural_of(const mor_iterate* l) { return l->residual.natural; }
static double velocity_of(const mor_iterate* l) { return l->residual.velocity; }
static double relative_of(const mor_iterate* l) { return l->residual.relative; }
static double normal_of(const mor_iterate* l) { return l->residual.normal_error; }
static double friction_of(const mor_iterate* l) { return l->residual.friction_error; }
static double power_of(const mor_iterate* l) { return l->residual.friction_power; }
static double user_of(const mor_iterate* l) { return l->user_error; }
static double sticking_of(const mor_iterate* l) { return l->sticking; }
static double sliding_of(const mor_iterate* l) { return l->sliding; }
static double open_of(const mor_iterate* l) { return l->open; }

static void put_columns(writer* w)
{
    put_column(w, "/iteration", iteration_of, false);
    put_column(w, "/time_s", time_of, true);
    put_column(w, "/total_error_fb", fb_of, true);
    put_column(w, "/total_error_cck", cck_of, true);
    put_column(w, "/natural", natural_of, true);
    put_column(w, "/velocity", velocity_of, false);
    put_column(w, "/relative", relative_of, false);
    put_column(w, "/normal_error", normal_of, false);
    put_column(w, "/friction_error", friction_of, false);
    put_column(w, "/friction_power", power_of, true);
    put_column(w, "/user_error", user_of, false);
    put_column(w, "/sticking", sticking_of, true);
    put_column(w, "/sliding", sliding_of, true);
    put_column(w, "/open", open_of, true);
}

static double stick_of(const mor_contact_verdict* v) { return v->state; }
static double normal_part(const mor_contact_verdict* v) { return v->normal; }
static double friction_part(const mor_contact_verdict* v) { return v->friction; }

/* A number of every contact at every iteration. */
static void put_contacts(writer* w, const char* name, size_t contacts, double (*of)(const mor_contact_verdict* v))
{
    size_t dims[2] = { w->iterations, contacts };
    for (size_t k = 0; k < w->iterations; k++) {
        double* to = w->table + k * contacts;
        for (int i = 0; i < w->island_count; i++) {
            const mor_iterations* a = &w->islands[i];
            size_t n = (size_t)a->contacts;
            for (size_t c = 0; a->count && c < n; c++) *to++ = of(&a->verdicts[line_at(a, k) * n + c]);
        }
    }
    if (!w->code) w->code = mor_h5_write(&w->h5, name, MOR_H5_DOUBLE, 2, dims, w->table, w->error);
}

static void put_unknowns(writer* w, size_t unknowns, size_t contacts)
{
    size_t dims[2] = { w->iterations, unknowns }, count = (size_t)w->island_count;
    for (size_t k = 0; k < w->iterations; k++) {
        double* to = w->table + k * unknowns;
        for (int i = 0; i < w->island_count; i++) {
            const mor_iterations* a = &w->islands[i];
            if (!a->count) continue;
            memcpy(to, a->z + line_at(a, k) * (size_t)a->size, (size_t)a->size * sizeof *to);
            to += a->size;
        }
    }
    if (!w->code) w->code = mor_h5_write(&w->h5, "/z", MOR_H5_DOUBLE, 2, dims, w->table, w->error);
    for (int i = 0; i < w->island_count; i++) w->table[i] = w->islands[i].count ? w->islands[i].size : 0;
    if (!w->code) w->code = mor_h5_write(&w->h5, "/unknowns", MOR_H5_DOUBLE, 1, &count, w->table, w->error);
    if (!contacts) return;
    size_t column = 0;
    for (int i = 0; i < w->island_count; i++)
        for (int c = 0; w->islands[i].count && c < w->islands[i].contacts; c++, column++)
            w->table[column] = w->islands[i].contact ? w->islands[i].contact[c] : (double)column;
    if (!w->code) w->code = mor_h5_write(&w->h5, "/contact", MOR_H5_DOUBLE, 1, &contacts, w->table, w->error);
    put_contacts(w, "/stick", contacts, stick_of);
    put_contacts(w, "/normal_errors", contacts, normal_part);
    put_contacts(w, "/friction_errors", contacts, friction_part);
}

mor_code mor_iterations_write(const char* path, const mor_iterations* islands, int island_count, const char* problem,
                              const char* formulation, const char* solver, mor_error* error)
{
    if (access(path, F_OK) == 0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: file exists; iterations are never written over others", path);
    writer w = { .islands = islands, .island_count = island_count, .error = error };
    size_t unknowns = 0, contacts = 0;
    for (int i = 0; i < island_count; i++) {
        if (!islands[i].count) continue;
        if ((size_t)islands[i].count > w.iterations) w.iterations = (size_t)islands[i].count;
        unknowns += (size_t)islands[i].size, contacts += (size_t)islands[i].contacts;
    }
    size_t most = w.iterations * (unknowns > contacts ? unknowns : contacts) + w.iterations + (size_t)island_count;
    w.table = malloc((most + contacts + 1) * sizeof *w.table);
    w.code = w.table ? mor_h5_begin(&w.h5, path, error) : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (w.code) {
        free(w.table);
        return w.code;
    }
    w.code = mor_h5_group(&w.h5, "/meta", error);
    const char* texts[][2] = { { "format", "moreau iterations" },
                               { "producer", "moreau " MOR_VERSION_STRING },
                               { "problem", problem },
                               { "formulation", formulation },
                               { "solver", solver },
                               { "units",
                                 "velocity, normal_error, friction_error: m/s; friction_power: J; z: impulses of "
                                 "the rows [N s] for steps; time: s" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !w.code; i++)
        w.code = mor_h5_set_text(&w.h5, "/meta", texts[i][0], texts[i][1], error);
    put_columns(&w);
    put_unknowns(&w, unknowns, contacts);
    free(w.table);
    return mor_h5_finish(&w.h5, w.code, error);
}
