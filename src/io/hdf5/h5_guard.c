/* HDF5 files of strangers, see h5_inside.h.
 *
 * libhdf5 crashes on some damaged files (metadata that lie about sizes, broken heaps and filters). So a file is first
 * read as a whole by a child process: all groups, attributes and datasets. When the child dies, this process has not
 * touched the file, and the crash becomes a sentence. What the child survives, with or without errors, is then read
 * here, by the same library and from the same bytes. Limits of the child: CPU time by the size of the file, and memory.
 * Cost: a second pass over the file.
 *
 * The child is made inside a call of HDF5 (a walk over a list of one error, whose callback forks). There the library's
 * lock is this thread's, and the thread is all that lives on in the child. Made elsewhere, while another thread reads,
 * the child would wait for that lock for ever. */
#include "io/hdf5/h5_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLAB = 1 << 22, SECONDS = 20, SURVIVED = 0, TOO_LARGE = 9 };
#define BYTES_PER_SECOND 5e6 /* slow disks included */
#define EXPANSION 1100.0     /* deflate expands at most 1032 times */
#define MEMORY 2e9           /* bytes beyond the size of the file */

/* Here HDF5 does not print, and refuses in silence to look at what it could not open or to close it: only what counts
 * is asked for.
 *
 * Numbers and strings of fixed length; other types are of nobody we know and stay unread. */
static bool is_plain(hid_t type)
{
    H5T_class_t kind = H5Tget_class(type);
    return kind == H5T_INTEGER || kind == H5T_FLOAT || (kind == H5T_STRING && H5Tis_variable_str(type) == 0);
}

/* The type in memory that readers use; close it. */
static hid_t type_in_memory(hid_t stored)
{
    return H5Tget_class(stored) == H5T_STRING ? H5Tcopy(stored) : H5Tget_native_type(stored, H5T_DIR_ASCEND);
}

static herr_t read_attribute(hid_t object, const char* name, const H5A_info_t* info, void* most)
{
    (void)info;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hid_t type = is_plain(stored) ? type_in_memory(stored) : -1;
    double bytes = (double)H5Sget_simple_extent_npoints(space) * (double)H5Tget_size(type);
    if (bytes > *(double*)most) _exit(TOO_LARGE);
    void* memory = bytes > 0.0 ? malloc((size_t)bytes) : NULL;
    if (memory) H5Aread(attribute, type, memory);
    free(memory);
    H5Tclose(type);
    H5Sclose(space);
    H5Tclose(stored);
    H5Aclose(attribute);
    return 0;
}

/* All rows, some at a time. */
static void read_rows(hid_t set, hid_t space, hid_t type, int rank, const hsize_t* dims, double row_bytes)
{
    hsize_t start[H5S_MAX_RANK] = { 0 }, count[H5S_MAX_RANK];
    memcpy(count, dims, (size_t)rank * sizeof *count);
    hsize_t step = row_bytes < SLAB ? (hsize_t)(SLAB / (row_bytes > 1.0 ? row_bytes : 1.0)) : 1;
    void* memory = malloc((size_t)(row_bytes * (double)(step < dims[0] ? step : dims[0])) + 1);
    for (; memory && start[0] < dims[0]; start[0] += count[0]) {
        count[0] = dims[0] - start[0] < step ? dims[0] - start[0] : step;
        hid_t slab = H5Screate_simple(rank, count, NULL);
        if (slab < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
            H5Dread(set, type, slab, space, H5P_DEFAULT, memory) < 0)
            count[0] = dims[0] - start[0]; /* an error, not a crash: this dataset is done */
        H5Sclose(slab);
    }
    free(memory);
}

static void read_dataset(hid_t set, double most)
{
    hid_t stored = H5Dget_type(set), space = H5Dget_space(set);
    hid_t type = is_plain(stored) ? type_in_memory(stored) : -1;
    hsize_t dims[H5S_MAX_RANK] = { 1 };
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (type >= 0 && rank >= 0) {
        double row = (double)H5Tget_size(type), all;
        for (int i = 1; i < rank; i++) row *= (double)dims[i];
        all = rank > 0 ? row * (double)dims[0] : row;
        if (all > most) _exit(TOO_LARGE);
        void* one = rank == 0 ? malloc((size_t)row) : NULL;
        if (one) H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, one);
        free(one);
        if (rank > 0 && all > 0.0) read_rows(set, space, type, rank, dims, row);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Tclose(stored);
}

static herr_t visit(hid_t file, const char* name, const H5O_info_t* info, void* most)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) return 0;
    hsize_t at = 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &at, read_attribute, most);
    if (info->type == H5O_TYPE_DATASET) read_dataset(object, *(double*)most);
    H5Oclose(object);
    return 0;
}

/* The child's life. */
static void read_everything(const char* path, double size)
{
    static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGINT, SIGTERM };
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, 1), dup2(nowhere, 2);
    rlim_t seconds = (rlim_t)(SECONDS + size / BYTES_PER_SECOND);
    setrlimit(RLIMIT_CPU, &(struct rlimit){ seconds, seconds + 1 });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory is far larger than any limit */
    struct rlimit memory;
    rlim_t most_memory = (rlim_t)(MEMORY + size);
    if (getrlimit(RLIMIT_AS, &memory) == 0 && most_memory < memory.rlim_max)
        setrlimit(RLIMIT_AS, &(struct rlimit){ most_memory, memory.rlim_max });
#endif
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    double most = EXPANSION * size + 1e6;
    mor_h5 h5;
    if (mor_h5_open_here(&h5, path, NULL) == MOR_OK) {
        visit(h5.file, ".", &(H5O_info_t){ .type = H5O_TYPE_GROUP }, &most);
        H5Ovisit2(h5.file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &most, H5O_INFO_BASIC);
        mor_h5_close(&h5, NULL);
    }
    _exit(SURVIVED);
}

typedef struct looking {
    const char* path;
    double size;
    pid_t child;
    int reason; /* of a fork that failed */
} looking;

static herr_t begin_child(unsigned n, const H5E_error2_t* entry, void* user)
{
    (void)n, (void)entry;
    looking* l = user;
    l->child = fork();
    if (l->child < 0) l->reason = errno;
    if (l->child == 0) read_everything(l->path, l->size);
    return 0;
}

mor_code mor_h5_guard(const char* path, mor_error* error)
{
    struct stat file;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return MOR_OK; /* opening it will tell */
    looking l = { .path = path, .size = (double)file.st_size, .child = -1, .reason = ENOMEM };
    hid_t list = H5Ecreate_stack();
    if (list >= 0) {
        H5Epush2(list, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE, "begin_child");
        H5Ewalk2(list, H5E_WALK_DOWNWARD, begin_child, &l);
        H5Eclose_stack(list);
    }
    pid_t child = l.child;
    if (child < 0)
        return mor_fail(error, MOR_SYSTEM, "%s: no process to look at it first: %s", path, strerror(l.reason));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return mor_fail(error, MOR_SYSTEM, "%s: lost the process that looks at it", path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED) return MOR_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == TOO_LARGE)
        return mor_fail(error, MOR_BAD_INPUT, "%s: damaged: a table in it claims to be larger than the file can hold",
                        path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == MOR_SYSTEM)
        return mor_fail(error, MOR_SYSTEM, "out of memory while reading %s", path);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return mor_fail(error, MOR_BAD_INPUT, "%s: damaged: reading it does not end", path);
    return mor_fail(error, MOR_BAD_INPUT, "%s: damaged: the HDF5 library crashes on it (%s %d); nothing was read", path,
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
