/* Shared by the files behind h5.h. */
#ifndef MOR_IO_H5_INSIDE_H
#define MOR_IO_H5_INSIDE_H

#include "io/hdf5/h5.h"

/* How HDF5 prints: what it prints by, in either of its two manners. */
typedef struct mor_h5_printing {
    unsigned second; /* manner */
    union {
        H5E_auto1_t one;
        H5E_auto2_t two;
    } by;
    void* user;
} mor_h5_printing;

/* Turns HDF5's own printing off, and back to what it was. */
mor_h5_printing mor_h5_quiet(void);
void mor_h5_loud(mor_h5_printing printing);

/* Runs HDF5 calls with HDF5's own printing off. */
#define QUIET(call)                                                                                                    \
    do {                                                                                                               \
        mor_h5_printing quiet_before = mor_h5_quiet();                                                                 \
        call;                                                                                                          \
        mor_h5_loud(quiet_before);                                                                                     \
    } while (0)

/* "file:path: what (the deepest reason HDF5 gives)". Call it before anything that clears HDF5's error stack. */
mor_code mor_h5_failed(const mor_h5* h5, const char* path, const char* what, mor_code code, mor_error* error);
/* Notes the path for messages. */
mor_code mor_h5_remember_path(mor_h5* h5, const char* path, mor_error* error);
/* MOR_OK if a child process could read all of the file and live (it may still be no file we know), else a sentence. */
mor_code mor_h5_guard(const char* path, mor_error* error);
/* mor_h5_open without that. */
mor_code mor_h5_open_here(mor_h5* h5, const char* path, mor_error* error);
/* Opens the file at `place` for appending; `h5` has its path for messages already. */
mor_code mor_h5_open_swmr(mor_h5* h5, const char* place, mor_error* error);
/* How files are opened; `newest`: in the newest format, as SWMR needs it. */
hid_t mor_h5_access_list(bool newest);
/* How files in memory are opened, and the name of the one of `owner`. */
hid_t mor_h5_memory_access(void);
void mor_h5_memory_name(const void* owner, char name[64]);
/* Writes a file in memory to the disk, whole or not at all. */
mor_code mor_h5_save(hid_t file, const char* path, mor_error* error);
/* Was the last failure of HDF5 the disk's or that of memory, and not the file's? Call it at once. */
bool mor_h5_fault(void);
/* Closes two dataspaces; HDF5's account of an earlier failure survives it. */
void mor_h5_close_spaces(hid_t a, hid_t b);
hid_t mor_h5_memory_type(mor_h5_type type);
/* Creation properties without time stamps, so that the same data give the same bytes. */
hid_t mor_h5_timeless(hid_t kind);
/* Closes a property list; HDF5's account of an earlier failure survives it. */
void mor_h5_close_list(hid_t list);
/* Strings of `width` bytes, padded with zeros. */
hid_t mor_h5_text_type(size_t width);

#endif
