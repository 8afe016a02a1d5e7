/* One frame under construction, shared by the files that write BPMD. */
#ifndef MOR_IO_BPMD_WRITER_H
#define MOR_IO_BPMD_WRITER_H

#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"

typedef struct mor_bpmd_writer {
    mor_h5* h5;
    const char* group;
    double* table; /* scratch for one dataset */
    int* integers;
    mor_error* error;
    mor_code code;
} mor_bpmd_writer;

/* The table (or the integers) as rows x cols under the frame's group. */
void mor_bpmd_put(mor_bpmd_writer* w, const char* name, mor_h5_type type, size_t rows, size_t cols);
/* "" is the frame itself. */
void mor_bpmd_put_group(mor_bpmd_writer* w, const char* name);
/* Errors of the iterates under `name`, each measure by its name (NULL: left out); states of contacts as `stick`. */
void mor_bpmd_put_lines(mor_bpmd_writer* w, const mor_bpmd_frame* frame, const char* name, const char* const* names);
/* bpmd_paper.c: all of a frame in the names of the paper. */
void mor_bpmd_put_paper(mor_bpmd_writer* w, const mor_bpmd_frame* frame);

#endif
