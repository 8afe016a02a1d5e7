/* The HDF5 calls Moreau needs, each checked: a failure becomes a mor_error that names the file, the
 * object inside it and what HDF5 said at the bottom of its error stack. HDF5's own printing is off
 * during each call and restored after it, so the caller's settings are never changed.
 *
 * Only plain numeric datasets, fixed-length strings and small attributes: what `load -hdf5` of
 * Octave, h5py and h5dump read without help. */
#ifndef MOR_IO_H5_H
#define MOR_IO_H5_H

#include <hdf5.h>

#include "moreau/base.h"

#define MOR_H5_RANK 4

typedef enum mor_h5_type {
    MOR_H5_BYTE,  /* int8_t */
    MOR_H5_INT,   /* int32_t */
    MOR_H5_LONG,  /* int64_t */
    MOR_H5_ULONG, /* uint64_t */
    MOR_H5_DOUBLE /* double */
} mor_h5_type;

typedef struct mor_h5 {
    hid_t file;
    bool live;       /* opened for reading in SWMR mode: the writer is still there or was killed */
    char path[1024]; /* for messages */
} mor_h5;

/* A dataset that grows along its first dimension. */
typedef struct mor_h5_column {
    hid_t id;
    const char* path; /* inside the file; borrowed */
    mor_h5_type type;
    int rank;
    hsize_t dims[MOR_H5_RANK]; /* dims[0]: rows so far */
} mor_h5_column;

/* For reading. A file whose writer is at work or was killed is opened in SWMR-read mode. A child process reads it
 * first, because HDF5 crashes on some damaged files: a crash becomes a sentence. */
mor_code mor_h5_open(mor_h5* h5, const char* path, mor_error* error);
/* Before any file is opened: HDF5 does nothing when the program ends. After a disk that was full it would crash there.
 * */
void mor_h5_no_end(void);
/* A file that is made in memory and written by mor_h5_finish, whole or not at all: a new one, or more in one that is
 * there. */
mor_code mor_h5_begin(mor_h5* h5, const char* path, mor_error* error);
mor_code mor_h5_extend(mor_h5* h5, const char* path, mor_error* error);
/* Writes and closes it; with a failure `code` it is only closed. Returns `code`, or what went wrong here. */
mor_code mor_h5_finish(mor_h5* h5, mor_code code, mor_error* error);
/* The same, and the file stays open, for appending to its columns while others read it; no object can be created any
 * more. It is open before it takes its name: nobody can read it, and so lock it, in between. */
mor_code mor_h5_finish_live(mor_h5* h5, mor_code code, mor_error* error);
/* Closes the file and everything in it; `h5` is empty afterwards also on failure. */
mor_code mor_h5_close(mor_h5* h5, mor_error* error);
/* After a failed write: what HDF5 still wants to write goes nowhere, the file stays readable up to the
 * last flush. Then close it. */
void mor_h5_abandon(mor_h5* h5);

mor_code mor_h5_group(mor_h5* h5, const char* path, mor_error* error);
/* Takes an object, and what is in it, out of the file. */
mor_code mor_h5_remove(mor_h5* h5, const char* path, mor_error* error);
/* Is there an object (dataset, group) with this absolute path? */
bool mor_h5_exists(const mor_h5* h5, const char* path);

/* Calls `each` with the name of every child of a group, in the order of their names. */
mor_code mor_h5_children(const mor_h5* h5, const char* path, void (*each)(void* user, const char* name), void* user,
                         mor_error* error);

/* Attributes of the object at `path`. */
bool mor_h5_has_attribute(const mor_h5* h5, const char* path, const char* name);
mor_code mor_h5_set_text(mor_h5* h5, const char* path, const char* name, const char* text, mor_error* error);
mor_code mor_h5_set_int(mor_h5* h5, const char* path, const char* name, int value, mor_error* error);
mor_code mor_h5_set_doubles(mor_h5* h5, const char* path, const char* name, const double* values, int count,
                            mor_error* error);
/* Cut to `size`. */
mor_code mor_h5_get_text(const mor_h5* h5, const char* path, const char* name, char* text, size_t size,
                         mor_error* error);
mor_code mor_h5_get_int(const mor_h5* h5, const char* path, const char* name, int* value, mor_error* error);
mor_code mor_h5_get_doubles(const mor_h5* h5, const char* path, const char* name, double* values, int count,
                            mor_error* error);

/* A dataset of fixed size, written at once. */
mor_code mor_h5_write(mor_h5* h5, const char* path, mor_h5_type type, int rank, const size_t* dims, const void* data,
                      mor_error* error);
/* `count` strings of `width` bytes each, zero-padded. */
mor_code mor_h5_write_texts(mor_h5* h5, const char* path, const char* data, size_t width, size_t count,
                            mor_error* error);
/* Reads `count` strings into slots of `width` bytes; always ends them with a zero. */
mor_code mor_h5_read_texts(const mor_h5* h5, const char* path, char* data, size_t width, size_t count,
                           mor_error* error);

/* dims[0] = 0 rows; `chunk` has `rank` entries. */
mor_code mor_h5_column_create(mor_h5* h5, mor_h5_column* column, const char* path, mor_h5_type type, int rank,
                              const size_t* dims, const size_t* chunk, mor_error* error);
/* A column of a file that was closed and opened again; `column` says its path, type and sizes. */
mor_code mor_h5_column_open(mor_h5* h5, mor_h5_column* column, mor_error* error);
mor_code mor_h5_column_append(mor_h5* h5, mor_h5_column* column, size_t rows, const void* data, mor_error* error);
mor_code mor_h5_column_flush(mor_h5* h5, mor_h5_column* column, mor_error* error);
void mor_h5_column_close(mor_h5_column* column);

/* Sizes of a dataset; in a live file the newest ones. */
mor_code mor_h5_dims(const mor_h5* h5, const char* path, int* rank, size_t dims[MOR_H5_RANK], mor_error* error);
/* Reads the block start .. start + count of a numeric dataset, converted to `type`. */
mor_code mor_h5_read(const mor_h5* h5, const char* path, mor_h5_type type, int rank, const size_t* start,
                     const size_t* count, void* data, mor_error* error);
/* Reads all numbers of a dataset of any shape; it must hold exactly `count` of them. */
mor_code mor_h5_read_all(const mor_h5* h5, const char* path, mor_h5_type type, size_t count, void* data,
                         mor_error* error);

#endif
