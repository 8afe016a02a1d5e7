/* Files that are there whole or not at all, see output.h.
 *
 * Order of a replacement: write, fsync of the file, link or rename, fsync of the folder. Without the first fsync a file
 * system may keep the new name and lose the bytes; without the second the old file may come back. Reference: T. S.
 * Pillai et al. (2014), "All file systems are not created equal", OSDI.
 *
 * The temporary file is made by O_TMPFILE: a killed process leaves nothing behind. Where the file system does not know
 * it, it is called TARGET.PROCESS.part. The stream is all the state there is: whether it has a name is seen in the
 * number of its links. Until it has its name it may be given TARGET.PROCESS.part (mor_output_place). */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/text/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = PATH_MAX + 64, MOST_LINKS = 40 };

static mor_code cannot(const char* path, int reason, mor_error* error)
{
    return mor_fail(error, MOR_SYSTEM, "%.400s: cannot be written: %s", path, strerror(reason));
}

bool mor_output_is_standard(const char* path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

/* The length of the folder's name with its slash; 0: the current folder. */
static size_t folder_length(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The folder of `target` as a name that can be opened. */
static void folder_of(const char* target, char folder[ROOM])
{
    size_t n = folder_length(target);
    snprintf(folder, ROOM, "%.*s", n ? (int)n : 1, n ? target : ".");
}

/* Follows symbolic links, also to what is not there yet; 0 or an error number. */
static int follow(const char* path, char target[ROOM])
{
    if (snprintf(target, ROOM, "%s", path) >= PATH_MAX) return ENAMETOOLONG;
    for (int k = 0; k < MOST_LINKS; k++) {
        char link[PATH_MAX], next[2 * ROOM];
        ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
        link[n] = '\0';
        snprintf(next, sizeof next, "%.*s%s", link[0] == '/' ? 0 : (int)folder_length(target), target, link);
        if (strlen(next) >= PATH_MAX) return ENAMETOOLONG;
        strcpy(target, next);
    }
    return ELOOP;
}

/* What `path` is: *direct for what is written to as it is, else the regular file `target`. 0 or an error number. */
static int resolve(const char* path, char target[ROOM], bool* direct)
{
    struct stat there;
    *direct = strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
    if (!*path) return ENOENT;
    if (stat(path, &there) == 0) {
        if (S_ISDIR(there.st_mode)) return EISDIR;
        if (!S_ISREG(there.st_mode)) *direct = true;
        else if (access(path, W_OK) != 0) return errno;
    } else if (errno != ENOENT) return errno;
    return *direct ? 0 : follow(path, target);
}

static void part_name(const char* target, char part[ROOM])
{
    snprintf(part, ROOM, "%.*s.%ld.part", PATH_MAX, target, (long)getpid());
}

/* A descriptor of a new file beside `target`, or -1. */
static int make_temporary(const char* target)
{
    char name[ROOM];
    struct stat old;
    folder_of(target, name);
    int descriptor = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        part_name(target, name);
        unlink(name); /* of a process that had this number before */
        descriptor = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    }
    if (descriptor >= 0 && stat(target, &old) == 0 && fchmod(descriptor, old.st_mode & 07777) != 0) errno = 0;
    return descriptor;
}

FILE* mor_output_open(const char* path, mor_error* error)
{
    if (mor_output_is_standard(path)) return stdout;
    char target[ROOM];
    bool direct;
    int reason = resolve(path, target, &direct), descriptor = -1;
    if (!reason) {
        descriptor = direct ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : make_temporary(target);
        if (descriptor < 0) reason = errno;
    }
    FILE* file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file) return file;
    if (!reason) reason = errno;
    if (descriptor >= 0) close(descriptor);
    cannot(path, reason, error);
    return NULL;
}

/* The temporary file that has a name now, "": none. Only for mor_output_abandon: of several at the same time, by
 * threads, the last is known. */
static char placed[ROOM];

void mor_output_abandon(void)
{
    if (placed[0]) unlink(placed);
}

mor_code mor_output_place(FILE* file, const char* path, char* place, size_t size, mor_error* error)
{
    char target[ROOM], part[ROOM], self[64];
    bool direct = true;
    struct stat own = { 0 };
    int reason = resolve(path, target, &direct);
    if (!reason && direct) reason = ESPIPE;
    if (!reason && fstat(fileno(file), &own) != 0) reason = errno;
    if (reason) return cannot(path, reason, error);
    part_name(target, part);
    if (own.st_nlink == 0) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(file));
        unlink(part); /* of a process that had this number before */
        strcpy(placed, part);
        if (linkat(AT_FDCWD, self, AT_FDCWD, part, AT_SYMLINK_FOLLOW) != 0) return cannot(path, errno, error);
    }
    return snprintf(place, size, "%s", part) < (int)size ? MOR_OK : cannot(path, ENAMETOOLONG, error);
}

/* 0 or an error number. A file system that cannot sync a folder (EINVAL) has nothing to sync. */
static int sync_folder(const char* target)
{
    char folder[ROOM];
    folder_of(target, folder);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), reason = 0;
    if (descriptor < 0) return errno == EACCES ? 0 : errno; /* a folder that may be written but not read */
    if (fsync(descriptor) != 0 && errno != EINVAL) reason = errno;
    close(descriptor);
    return reason;
}

/* The file without a name gets one: `target`, by way of TARGET.part when that name is taken. Only a kill between the
 * two calls leaves TARGET.part, and the next writer removes it. Another one that is at the same place at the same
 * instant may take it away: then it is made again. 0 or an error number. */
static int give_name(int descriptor, const char* target)
{
    char self[64], part[ROOM];
    snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor);
    snprintf(part, sizeof part, "%.*s.part", PATH_MAX, target);
    for (int k = 0; k < 100; k++) {
        if (linkat(AT_FDCWD, self, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0) return 0;
        if (errno != EEXIST) return errno;
        unlink(part);
        if (linkat(AT_FDCWD, self, AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0) {
            if (rename(part, target) == 0) return 0;
            int reason = errno;
            if (reason != ENOENT) unlink(part);
            if (reason != ENOENT) return reason;
        } else if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* Everything is written: sync, name, sync. 0 or an error number. */
static int install(int descriptor, bool named, const char* target, const char* part)
{
    int reason = 0;
    if (fsync(descriptor) != 0) return errno;
    if (!named) reason = give_name(descriptor, target);
    else if (rename(part, target) != 0) reason = errno;
    return reason ? reason : sync_folder(target);
}

mor_code mor_output_close(FILE* file, const char* path, bool keep, mor_error* error)
{
    bool standard = file == stdout, lost = ferror(file) != 0;
    int reason = 0;
    if (fflush(file) != 0) reason = errno; /* tries again what failed before, and says why */
    else if (lost && !standard && write(fileno(file), "", 1) < 0) reason = errno; /* once more, to know why */
    struct stat own = { 0 };
    char target[ROOM] = "", part[ROOM] = "";
    bool direct = true, temporary = !standard && fstat(fileno(file), &own) == 0 && S_ISREG(own.st_mode);
    if (temporary && resolve(path, target, &direct) == 0 && !direct) part_name(target, part);
    else temporary = false;
    if (keep && !reason && !lost && temporary) reason = install(fileno(file), own.st_nlink > 0, target, part);
    if (!standard && fclose(file) != 0 && !reason) reason = errno;
    if (temporary && (!keep || reason || lost)) unlink(part);
    if (strcmp(placed, part) == 0) placed[0] = '\0';
    if (keep && !reason && lost) return mor_fail(error, MOR_SYSTEM, "%.400s: some of it could not be written", path);
    if (!keep || !reason) return MOR_OK;
    return standard ? mor_fail(error, MOR_SYSTEM, "standard output cannot be written: %s", strerror(reason))
                    : cannot(path, reason, error);
}

mor_code mor_output_write(const char* path, const void* data, size_t size, mor_error* error)
{
    FILE* file = mor_output_open(path, error);
    if (!file) return MOR_SYSTEM;
    fwrite(data, 1, size, file);
    return mor_output_close(file, path, true, error);
}

mor_code mor_output_target(const char* path, char* target, size_t size, mor_error* error)
{
    char found[ROOM];
    bool direct;
    int reason = resolve(path, found, &direct);
    if (reason) return cannot(path, reason, error);
    if (direct || mor_output_is_standard(path))
        return mor_fail(error, MOR_BAD_INPUT, "%.400s: not a regular file; this format needs one", path);
    if (snprintf(target, size, "%s", found) >= (int)size) return cannot(path, ENAMETOOLONG, error);
    return MOR_OK;
}

mor_code mor_output_sync(const char* path, mor_error* error)
{
    char target[ROOM];
    bool direct;
    int reason = resolve(path, target, &direct), descriptor = reason || direct ? -1 : open(target, O_RDWR | O_CLOEXEC);
    if (!reason && !direct && (descriptor < 0 || fsync(descriptor) != 0)) reason = errno;
    if (descriptor >= 0) close(descriptor);
    if (!reason && !direct) reason = sync_folder(target);
    return reason ? cannot(path, reason, error) : MOR_OK;
}

mor_code mor_output_replace(const char* temporary, const char* target, const char* path, mor_error* error)
{
    int descriptor = open(temporary, O_RDWR | O_CLOEXEC), reason = descriptor < 0 ? errno : 0;
    if (!reason) reason = install(descriptor, true, target, temporary);
    if (descriptor >= 0) close(descriptor);
    if (!reason) return MOR_OK;
    unlink(temporary);
    return cannot(path, reason, error);
}

FILE* mor_output_claim(const char* path, bool anew, mor_error* error)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET }, holder = lock;
    struct stat info = { 0 };
    int descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666), reason = descriptor < 0 ? errno : 0;
    bool regular = !reason && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
    if (regular && fcntl(descriptor, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
        bool known = fcntl(descriptor, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK && holder.l_pid > 0;
        close(descriptor);
        mor_fail(error, MOR_BAD_INPUT,
                 "%.400s: another process%s%.0d%s writes it; wait for its end, or go on elsewhere with a copy", path,
                 known ? " (" : "", known ? (int)holder.l_pid : 0, known ? ")" : "");
        return NULL;
    }
    if (regular && anew && ftruncate(descriptor, 0) != 0) reason = errno;
    if (regular && !reason && info.st_size == 0) reason = sync_folder(path);
    FILE* file = reason ? NULL : fdopen(descriptor, "a+");
    if (file) return file;
    if (!reason) reason = errno;
    if (descriptor >= 0) close(descriptor);
    cannot(path, reason, error);
    return NULL;
}
