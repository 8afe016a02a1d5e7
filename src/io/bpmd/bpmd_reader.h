/* The reader of one frame, shared by the files that read BPMD. */
#ifndef MOR_IO_BPMD_READER_H
#define MOR_IO_BPMD_READER_H

#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"

struct mor_bpmd {
    mor_h5 h5;
    mor_bpmd_dialect dialect;
    int count, capacity;
    char (*names)[64];
    char* scene_text;
    int dimension;
    mor_vec3 gravity;
    bool failed;
};

typedef struct mor_bpmd_reader {
    const mor_bpmd* file;
    mor_bpmd_frame* frame;
    char path[192]; /* of the dataset read last */
    double* table;
    int* integers;
    mor_error* error;
    mor_code code;
    int along, across; /* tables of the frame that are rows x cols, and cols x rows, without doubt */
} mor_bpmd_reader;

/* Sets r->path to the first of two spellings that exists; false and path of the first if none does. */
bool mor_bpmd_find(mor_bpmd_reader* r, const char* name, const char* other);
/* `count` numbers into the table, all finite unless told otherwise (then: no NaN). */
bool mor_bpmd_numbers(mor_bpmd_reader* r, const char* name, const char* other, size_t count, bool infinite);
/* The same for a table of rows x cols; one that is cols x rows is turned and told, in files that are not ours. */
bool mor_bpmd_table(mor_bpmd_reader* r, const char* name, const char* other, size_t rows, size_t cols, bool infinite);
bool mor_bpmd_integers(mor_bpmd_reader* r, const char* name, size_t count);
/* How many numbers a dataset holds. */
size_t mor_bpmd_points_of(mor_bpmd_reader* r, const char* name, const char* other);
void mor_bpmd_complain(mor_bpmd_reader* r, size_t row, const char* what);
/* Index of the body with this id; -1 the world, -2 none. */
int mor_bpmd_body_index(const mor_bpmd_frame* f, int id);

/* bpmd_foreign.c: what other writers do. */
void mor_bpmd_note(mor_bpmd_reader* r, const char* what);
/* mor_bpmd_find under the other names of the group. */
bool mor_bpmd_find_elsewhere(mor_bpmd_reader* r, const char* name);
/* Sets r->path to the child of `group` ("/" or "/frame") with this name in any spelling. */
bool mor_bpmd_find_beside(mor_bpmd_reader* r, const char* group, const char* name);
/* How many groups of the frame have names that only the paper has. */
int mor_bpmd_paper_groups(mor_bpmd_reader* r);
/* Notes what the frame of a foreign file has besides the names of the format. */
void mor_bpmd_tell_unknown(mor_bpmd_reader* r);
/* Counts `along` and `across`. */
void mor_bpmd_look_at_order(mor_bpmd_reader* r, size_t bodies, size_t contacts);
/* Is the dataset at r->path cols x rows? */
bool mor_bpmd_is_transposed(mor_bpmd_reader* r, size_t rows, size_t cols);
/* Makes rows x cols of it, `size` bytes each, and tells so. False: out of memory. */
bool mor_bpmd_turn(mor_bpmd_reader* r, void* table, size_t size, size_t rows, size_t cols);
/* Turns normals that point the other way. */
void mor_bpmd_check_normals(mor_bpmd_reader* r);
/* Impulses of another program. */
void mor_bpmd_read_stored(mor_bpmd_reader* r);

/* bpmd_read_contacts.c */
void mor_bpmd_read_contacts(mor_bpmd_reader* r);

/* bpmd_read_trees.c */
void mor_bpmd_read_trees(mor_bpmd_reader* r);
void mor_bpmd_read_constraints(mor_bpmd_reader* r);

#endif
