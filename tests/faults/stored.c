/* See stored.h. */
#include "faults/stored.h"

#include <stdio.h>

#include "io/fclib/fclib.h"
#include "io/hdf5/csv_tables.h"
#include "io/hdf5/iteration_file.h"
#include "io/hdf5/trace_file.h"

char faults_folder[64];

const char* faults_at(const char* name)
{
    static char path[2][256];
    static int next;
    next = !next;
    snprintf(path[next], sizeof *path, "%s/%s", faults_folder, name);
    return path[next];
}

mor_code faults_stored(mor_error* error)
{
    static const double q[3] = { -1, 0.5, 0 }, mu[1] = { 0.3 };
    double W[9] = { 2, 0, 0, 0, 2, 0, 0, 0, 2 };
    mor_problem p = { .form = MOR_FC3D, .size = 3, .dim = 3, .contact_count = 1, .b = q, .mu = mu };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = 3, .cols = 3, .x = W };
    mor_trace_line lines[2] = { { .iteration = 1, .residual = { .relative = 0.5 } }, { .iteration = 2 } };
    const mor_trace trace = { .count = 2, .lines = lines };
    mor_trace_file* out = NULL;
    mor_trace_record* records = NULL;
    int count = 0;
    mor_code code = mor_trace_file_create(faults_at("trace.h5"), &out, error);
    if (!code) code = mor_trace_file_add(out, "one", "nsgs", &trace, error);
    mor_code closed = out ? mor_trace_file_close(out, code ? NULL : error) : code;
    if (!code) code = closed;
    if (!code) code = mor_trace_file_read(faults_at("trace.h5"), &records, &count, error);
    mor_trace_records_free(records, count);
    remove(faults_at("fclib.hdf5")), remove(faults_at("iterates.h5")); /* which are never written over others */
    if (!code) code = mor_fclib_write(faults_at("fclib.hdf5"), &p, "one contact", error);
    mor_problem_file file = { 0 };
    if (!code) code = mor_problem_load(faults_at("fclib.hdf5"), NULL, &file, error);
    mor_problem_file_free(&file);
    const char *table = faults_at("motion.csv"), *group = "motion";
    if (!code) code = mor_csv_tables_write(faults_at("tables.h5"), &table, &group, 1, error);
    const mor_contact_verdict verdict = { 0 };
    mor_iterations all = { .size = 3, .contacts = 1 };
    for (int i = 0; i < 3 && !code; i++)
        if (!mor_iterations_add(&all, &(mor_iterate){ .iteration = i }, q, &verdict))
            code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_iterations_write(faults_at("iterates.h5"), &all, 1, "one", "ncp", "nsgs", error);
    mor_iterations_free(&all);
    return code;
}
