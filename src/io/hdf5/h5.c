/* Checked HDF5 calls, see h5.h.
 *
 * Every function here has the same shape: the HDF5 calls run inside QUIET, which turns HDF5's printing
 * off and on again; the first negative return leaves through `failed`, which turns HDF5's error stack
 * into one sentence before any clean-up call clears that stack.
 *
 * Reading after a crash. A writer in SWMR mode leaves bit 2 of the consistency flags (byte 11 of a
 * version-3 superblock) set when it is killed; HDF5 then refuses a plain open and allows
 * H5F_ACC_SWMR_READ. That mode skips HDF5's check for a truncated file, so it is used only when the
 * flag is there: a truncated but properly closed file is still refused.
 * Reference: The HDF Group (2016), HDF5 File Format Specification Version 3.0, section II.A. */
#include "io/hdf5/h5_inside.h"
#include "io/text/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------- messages */

static herr_t take_deepest(unsigned n, const H5E_error2_t* entry, void* user)
{
    (void)n;
    char* text = user;
    if (text[0] || !entry->desc) return 0;
    const char* quote = strstr(entry->desc, "error message = '");
    if (quote) { /* the driver's sentence about a failed read or write holds strerror */
        quote += strlen("error message = '");
        snprintf(text, 200, "%.*s", (int)strcspn(quote, "'"), quote);
    } else {
        snprintf(text, 200, "%s", entry->desc);
    }
    return 0;
}

/* HDF5's account of a failure speaks of the disk or of memory. */
static bool is_system(const char* reason)
{
    return strcmp(reason, strerror(EIO)) == 0 || strstr(reason, "memory allocation failed");
}

bool mor_h5_fault(void)
{
    char reason[200] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_deepest, reason);
    return is_system(reason);
}

mor_code mor_h5_failed(const mor_h5* h5, const char* path, const char* what, mor_code code, mor_error* error)
{
    char reason[200] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_deepest, reason);
    if (is_system(reason)) code = MOR_SYSTEM;
    return mor_fail(error, code, "%s:%s: %s%s%s%s", h5->path, path, what, reason[0] ? " (" : "", reason,
                    reason[0] ? ")" : "");
}

/* Closes two dataspaces; HDF5's account of an earlier failure survives it. */
void mor_h5_close_spaces(hid_t a, hid_t b)
{
    hid_t stack = H5Eget_current_stack();
    QUIET(H5Sclose(a); H5Sclose(b)); /* one that is not there is refused in silence */
    if (stack >= 0) H5Eset_current_stack(stack);
}

hid_t mor_h5_memory_type(mor_h5_type type)
{
    switch (type) {
    case MOR_H5_BYTE:
        return H5T_NATIVE_INT8;
    case MOR_H5_INT:
        return H5T_NATIVE_INT32;
    case MOR_H5_LONG:
        return H5T_NATIVE_INT64;
    case MOR_H5_ULONG:
        return H5T_NATIVE_UINT64;
    case MOR_H5_DOUBLE:
        break;
    }
    return H5T_NATIVE_DOUBLE;
}

mor_code mor_h5_remember_path(mor_h5* h5, const char* path, mor_error* error)
{
    h5->file = H5I_INVALID_HID;
    h5->live = false;
    int n = snprintf(h5->path, sizeof h5->path, "%s", path);
    if (n < 0 || n >= (int)sizeof h5->path)
        return mor_fail(error, MOR_BAD_INPUT, "%.200s...: file name longer than %d bytes", path,
                        (int)sizeof h5->path - 1);
    return MOR_OK;
}

/* --------------------------------------------------------------------------------- files */

/* Closing the file closes what is left open in it, so that a failed writer leaks nothing.
 *
 * The kernel writes page by page and looks for SIGKILL between pages: a header (some 300 bytes, rewritten with every
 * flush) that crosses a page can be torn. Aligned to 512 bytes it does not. A reader in SWMR mode tries headers with a
 * wrong checksum again, waiting twice as long each time: 31 times are two seconds, the default of 100 is for ever. */
hid_t mor_h5_access_list(bool newest)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0) return list;
    if (H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) < 0 || H5Pset_alignment(list, 200, 512) < 0 ||
        (newest && H5Pset_metadata_read_attempts(list, 31) < 0) ||
        (newest && H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) < 0)) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

/* Creation properties without time stamps, so that the same data give the same bytes. */
hid_t mor_h5_timeless(hid_t kind)
{
    hid_t list = H5I_INVALID_HID;
    herr_t status = -1;
    QUIET(list = H5Pcreate(kind));
    if (list >= 0) QUIET(status = H5Pset_obj_track_times(list, false));
    if (status < 0) QUIET(H5Pclose(list));
    return status < 0 ? H5P_DEFAULT : list;
}

/* HDF5's account of an earlier failure survives it. */
void mor_h5_close_list(hid_t list)
{
    if (list == H5P_DEFAULT) return;
    hid_t stack = H5Eget_current_stack();
    QUIET(H5Pclose(list));
    if (stack >= 0) H5Eset_current_stack(stack);
}

/* MOR_OK and whether the superblock says that a SWMR writer has the file, or a sentence. */
static mor_code read_flags(const char* path, bool* swmr, mor_error* error)
{
    static const unsigned char signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    unsigned char head[12];
    *swmr = false;
    long n = mor_file_head(path, head, sizeof head);
    if (n < 0) return mor_fail(error, mor_file_fault(errno), "%s: cannot open: %s", path, strerror(errno));
    if (n < (long)sizeof head || memcmp(head, signature, sizeof signature) != 0)
        return mor_fail(error, MOR_BAD_INPUT,
                        "%s: not an HDF5 file; a recording made by `moreau run --record` is expected", path);
    *swmr = head[8] >= 3 && (head[11] & 4u);
    return MOR_OK;
}

mor_code mor_h5_open(mor_h5* h5, const char* path, mor_error* error)
{
    h5->file = H5I_INVALID_HID;
    mor_code code = mor_h5_guard(path, error);
    return code ? code : mor_h5_open_here(h5, path, error);
}

mor_code mor_h5_open_here(mor_h5* h5, const char* path, mor_error* error)
{
    mor_code wrong = mor_h5_remember_path(h5, path, error);
    if (!wrong) wrong = read_flags(path, &h5->live, error);
    if (wrong) return wrong;
    hid_t list = H5I_INVALID_HID;
    QUIET(list = mor_h5_access_list(h5->live));
    if (list < 0) return mor_h5_failed(h5, "/", "cannot set up HDF5 file access", MOR_SYSTEM, error);
    unsigned mode = H5F_ACC_RDONLY | (h5->live ? H5F_ACC_SWMR_READ : 0u);
    QUIET(h5->file = H5Fopen(path, mode, list));
    if (h5->file < 0 && h5->live) { /* the writer may have closed it between the two looks */
        h5->live = false;
        QUIET(h5->file = H5Fopen(path, H5F_ACC_RDONLY, list));
    }
    mor_code code = MOR_OK;
    if (h5->file < 0)
        code = mor_h5_failed(h5, "/", "cannot open the file; truncated or damaged?", MOR_BAD_INPUT, error);
    QUIET(H5Pclose(list));
    return code;
}

mor_code mor_h5_open_swmr(mor_h5* h5, const char* place, mor_error* error)
{
    mor_code code = MOR_OK;
    hid_t list = H5I_INVALID_HID;
    QUIET(list = mor_h5_access_list(true));
    if (list < 0) return mor_h5_failed(h5, "/", "cannot set up HDF5 file access", MOR_SYSTEM, error);
    QUIET(h5->file = H5Fopen(place, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, list));
    if (h5->file < 0) code = mor_h5_failed(h5, "/", "cannot open the file for appending", MOR_SYSTEM, error);
    QUIET(H5Pclose(list));
    return code;
}

mor_code mor_h5_close(mor_h5* h5, mor_error* error)
{
    if (h5->file < 0) return MOR_OK;
    herr_t status = -1;
    QUIET(status = H5Fclose(h5->file));
    h5->file = H5I_INVALID_HID;
    if (status < 0) return mor_h5_failed(h5, "/", "cannot finish the file", MOR_SYSTEM, error);
    return MOR_OK;
}

/* HDF5 1.10 cannot close a file it cannot write: H5Fclose leaves it half finished and unreadable, and
 * the library crashes when the process ends. So the descriptor under HDF5 is turned to scratch memory
 * first: closing then writes there, and the file on disk stays as the last flush left it, which is the
 * state a killed writer leaves and readers accept. */
void mor_h5_abandon(mor_h5* h5)
{
    int* descriptor = NULL;
    herr_t status = -1;
    QUIET(status = H5Fget_vfd_handle(h5->file, H5P_DEFAULT, (void**)&descriptor));
    if (status < 0 || !descriptor) return;
    char name[64];
    snprintf(name, sizeof name, "/moreau-%ld-%d", (long)getpid(), *descriptor);
    int scratch = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (scratch < 0) return;
    shm_unlink(name);
    dup2(scratch, *descriptor);
    close(scratch);
}

mor_code mor_h5_group(mor_h5* h5, const char* path, mor_error* error)
{
    hid_t group = H5I_INVALID_HID, list = mor_h5_timeless(H5P_GROUP_CREATE);
    QUIET(group = H5Gcreate2(h5->file, path, H5P_DEFAULT, list, H5P_DEFAULT));
    mor_h5_close_list(list);
    if (group < 0) return mor_h5_failed(h5, path, "cannot create the group", MOR_SYSTEM, error);
    QUIET(H5Gclose(group));
    return MOR_OK;
}

mor_code mor_h5_remove(mor_h5* h5, const char* path, mor_error* error)
{
    herr_t done;
    QUIET(done = H5Ldelete(h5->file, path, H5P_DEFAULT));
    return done < 0 ? mor_h5_failed(h5, path, "cannot be removed", MOR_SYSTEM, error) : MOR_OK;
}

bool mor_h5_exists(const mor_h5* h5, const char* path)
{
    /* H5Lexists wants every parent to exist: try the prefixes one by one. */
    char prefix[256];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof prefix) return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        htri_t there = -1;
        QUIET(there = H5Lexists(h5->file, prefix, H5P_DEFAULT));
        if (there == 0) return false;
        if (there < 0) return true; /* opening it will tell what is wrong */
    }
    return true;
}

typedef struct visitor {
    void (*each)(void* user, const char* name);
    void* user;
} visitor;

static herr_t visit(hid_t group, const char* name, const H5L_info_t* info, void* user)
{
    (void)group, (void)info;
    const visitor* v = user;
    v->each(v->user, name);
    return 0;
}

mor_code mor_h5_children(const mor_h5* h5, const char* path, void (*each)(void* user, const char* name), void* user,
                         mor_error* error)
{
    visitor v = { each, user };
    hid_t group = H5I_INVALID_HID;
    herr_t status = -1;
    QUIET(group = H5Gopen2(h5->file, path, H5P_DEFAULT));
    if (group >= 0) QUIET(status = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &v));
    mor_code code = MOR_OK;
    if (status < 0) code = mor_h5_failed(h5, path, "cannot list the group", MOR_BAD_INPUT, error);
    QUIET(H5Gclose(group));
    return code;
}

/* ---------------------------------------------------------------------------- attributes */

bool mor_h5_has_attribute(const mor_h5* h5, const char* path, const char* name)
{
    htri_t there = -1;
    QUIET(there = H5Aexists_by_name(h5->file, path, name, H5P_DEFAULT));
    return there > 0;
}

hid_t mor_h5_text_type(size_t width)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, width) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

static herr_t attribute_write(hid_t file, const char* path, const char* name, hid_t type, hid_t space, const void* data)
{
    if (type < 0 || space < 0) return -1;
    hid_t attribute = H5Acreate_by_name(file, path, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return -1;
    herr_t status = H5Awrite(attribute, type, data);
    if (status < 0) return status; /* the error stack must survive; closing the file closes the rest */
    return H5Aclose(attribute);
}

mor_code mor_h5_set_text(mor_h5* h5, const char* path, const char* name, const char* text, mor_error* error)
{
    size_t width = strlen(text);
    hid_t type = H5I_INVALID_HID, space = H5I_INVALID_HID;
    herr_t status = -1;
    QUIET(type = mor_h5_text_type(width ? width : 1));
    QUIET(space = H5Screate(H5S_SCALAR));
    QUIET(status = attribute_write(h5->file, path, name, type, space, text));
    mor_code code = MOR_OK;
    if (status < 0) code = mor_h5_failed(h5, path, "cannot write an attribute", MOR_SYSTEM, error);
    QUIET(H5Sclose(space));
    QUIET(H5Tclose(type));
    return code;
}

static mor_code set_numbers(mor_h5* h5, const char* path, const char* name, mor_h5_type type, const void* data,
                            int count, mor_error* error)
{
    hsize_t n = (hsize_t)count;
    hid_t space = H5I_INVALID_HID;
    herr_t status = -1;
    QUIET(space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL));
    QUIET(status = attribute_write(h5->file, path, name, mor_h5_memory_type(type), space, data));
    mor_code code = MOR_OK;
    if (status < 0) code = mor_h5_failed(h5, path, "cannot write an attribute", MOR_SYSTEM, error);
    QUIET(H5Sclose(space));
    return code;
}

mor_code mor_h5_set_int(mor_h5* h5, const char* path, const char* name, int value, mor_error* error)
{
    int32_t v = value;
    return set_numbers(h5, path, name, MOR_H5_INT, &v, 1, error);
}

mor_code mor_h5_set_doubles(mor_h5* h5, const char* path, const char* name, const double* values, int count,
                            mor_error* error)
{
    return set_numbers(h5, path, name, MOR_H5_DOUBLE, values, count, error);
}

static hid_t attribute_open(const mor_h5* h5, const char* path, const char* name)
{
    hid_t id = H5I_INVALID_HID;
    QUIET(id = H5Aopen_by_name(h5->file, path, name, H5P_DEFAULT, H5P_DEFAULT));
    return id;
}

mor_code mor_h5_get_text(const mor_h5* h5, const char* path, const char* name, char* text, size_t size,
                         mor_error* error)
{
    char where[256];
    snprintf(where, sizeof where, "%s@%s", path, name);
    hid_t attribute = attribute_open(h5, path, name), stored = H5I_INVALID_HID, type = H5I_INVALID_HID;
    if (attribute < 0) return mor_h5_failed(h5, where, "missing attribute", MOR_BAD_INPUT, error);
    mor_code code = MOR_OK;
    bool is_text = false;
    hssize_t points = 0;
    QUIET(stored = H5Aget_type(attribute));
    QUIET(is_text = H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0);
    hid_t space = H5I_INVALID_HID;
    QUIET(space = H5Aget_space(attribute));
    QUIET(points = H5Sget_simple_extent_npoints(space));
    if (!is_text || points != 1) {
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: a fixed-length string is expected", h5->path, where);
    } else {
        memset(text, 0, size);
        herr_t status = -1;
        size_t width = H5Tget_size(stored);
        char* buffer = calloc(1, width + 1);
        if (!buffer) {
            code = mor_fail(error, MOR_SYSTEM, "out of memory");
        } else {
            QUIET(type = mor_h5_text_type(width));
            QUIET(status = H5Aread(attribute, type, buffer));
            if (status < 0) code = mor_h5_failed(h5, where, "cannot read the attribute", MOR_BAD_INPUT, error);
            else snprintf(text, size, "%s", buffer);
        }
        free(buffer);
    }
    QUIET(H5Tclose(type); H5Tclose(stored); H5Sclose(space); H5Aclose(attribute));
    return code;
}

static mor_code get_numbers(const mor_h5* h5, const char* path, const char* name, mor_h5_type type, void* data,
                            int count, mor_error* error)
{
    char where[256];
    snprintf(where, sizeof where, "%s@%s", path, name);
    hid_t attribute = attribute_open(h5, path, name), space = H5I_INVALID_HID;
    if (attribute < 0) return mor_h5_failed(h5, where, "missing attribute", MOR_BAD_INPUT, error);
    mor_code code = MOR_OK;
    herr_t status = -1;
    hssize_t points = -1;
    QUIET(space = H5Aget_space(attribute));
    QUIET(points = H5Sget_simple_extent_npoints(space));
    if (points != count) {
        code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: %d numbers are expected", h5->path, where, count);
    } else {
        QUIET(status = H5Aread(attribute, mor_h5_memory_type(type), data));
        if (status < 0) code = mor_h5_failed(h5, where, "cannot read the attribute as numbers", MOR_BAD_INPUT, error);
    }
    QUIET(H5Sclose(space); H5Aclose(attribute));
    return code;
}

mor_code mor_h5_get_int(const mor_h5* h5, const char* path, const char* name, int* value, mor_error* error)
{
    int32_t v = 0;
    mor_code code = get_numbers(h5, path, name, MOR_H5_INT, &v, 1, error);
    if (!code) *value = v;
    return code;
}

mor_code mor_h5_get_doubles(const mor_h5* h5, const char* path, const char* name, double* values, int count,
                            mor_error* error)
{
    return get_numbers(h5, path, name, MOR_H5_DOUBLE, values, count, error);
}

void mor_h5_no_end(void) { H5dont_atexit(); }
