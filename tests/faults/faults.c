/* Runs a command and lets one of its system calls fail: the N-th of a kind, counted over all its processes.
 *
 *     faults KIND N FOLDER COMMAND [ARGUMENT...]
 *
 *     enospc, eio      the N-th write fails with this error
 *     short-write      the N-th write takes one byte
 *     eintr-write      the N-th write is interrupted
 *     sync             the N-th fsync or fdatasync fails with EIO
 *     name             the N-th rename or link fails with EIO
 *     read             the N-th read fails with EIO
 *     short-read       the N-th read gives one byte
 *     eintr-read       the N-th read is interrupted
 *     kill             all processes are killed before the N-th write, sync, rename, link or truncation
 *     cut              the same, and the power fails: FOLDER.disk then holds what had reached the disk for sure
 *
 * Only files in FOLDER and standard output count. With N = 0 nothing fails. The number of calls seen goes to the file
 * $FAULTS_COUNT. The exit status is that of the command, 128 + the signal that ended it, or 125 when this program
 * fails.
 *
 * What has reached the disk for sure: the bytes of a file at its last fsync, and the names of a folder at its last
 * fsync; a name whose file was never synced is an empty file. This is the strictest reading of POSIX. File systems do
 * more.
 *
 * Linux and x86-64 only (ptrace). */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

extern long ptrace(int request, ...);
enum { OPTIONS = 0x4200, GET_INFO = 0x420e, GET_REGISTERS = 12, SET_REGISTERS = 13, GO_ON = 24, TRACE_ME = 0 };
enum { GOOD = 1, FORK = 2, VFORK = 4, CLONE = 8, EXEC = 16, EXIT_KILL = 0x100000 };
enum { MOST_TASKS = 256, MOST_FILES = 4096 };

typedef enum what { OTHER, WRITE, READ, SYNC, NAME, TRUNCATE } what;

static const struct kind {
    const char* name;
    what at;      /* which calls count */
    bool all;     /* all that change the disk count */
    int error;    /* the answer; 0: none */
    bool cut_off; /* one byte */
    bool ends;    /* kills */
} kinds[] = {
    { "enospc", WRITE, .error = ENOSPC },   { "eio", WRITE, .error = EIO },
    { "short-write", WRITE, .cut_off = 1 }, { "eintr-write", WRITE, .error = EINTR },
    { "sync", SYNC, .error = EIO },         { "name", NAME, .error = EIO },
    { "read", READ, .error = EIO },         { "short-read", READ, .cut_off = 1 },
    { "eintr-read", READ, .error = EINTR }, { "kill", WRITE, .all = 1, .ends = 1 },
    { "cut", WRITE, .all = 1, .ends = 1 },
};

static char folder[PATH_MAX];
static pid_t tasks[MOST_TASKS];
static int answers[MOST_TASKS]; /* errors to be given at the end of the call */
static int task_count;
static long seen;

/* ------------------------------------------------------------------------------ the disk */

static struct {
    ino_t inode;
    char* bytes;
    size_t size;
} disk[MOST_FILES];
static int disk_count;
static struct {
    char name[NAME_MAX + 1];
    ino_t inode;
} names[MOST_FILES];
static int name_count;

static char* slurp(int file, size_t* size)
{
    struct stat s;
    if (fstat(file, &s) != 0) return NULL;
    char* bytes = malloc((size_t)s.st_size + 1);
    *size = 0;
    for (ssize_t n; bytes && (n = pread(file, bytes + *size, (size_t)s.st_size - *size, (off_t)*size)) > 0;)
        *size += (size_t)n;
    return bytes;
}

static void keep_file(int file, ino_t inode)
{
    int i = 0;
    while (i < disk_count && disk[i].inode != inode) i++;
    if (i == MOST_FILES) exit(125);
    if (i == disk_count) disk_count++;
    else free(disk[i].bytes);
    disk[i].inode = inode;
    disk[i].bytes = slurp(file, &disk[i].size);
}

static void keep_names(void)
{
    name_count = 0;
    DIR* d = opendir(folder);
    for (struct dirent* e; d && (e = readdir(d)) && name_count < MOST_FILES;) {
        if (e->d_type != DT_REG) continue;
        snprintf(names[name_count].name, sizeof names->name, "%s", e->d_name);
        names[name_count++].inode = e->d_ino;
    }
    if (d) closedir(d);
}

/* What was there before is on the disk. */
static void keep_all(void)
{
    keep_names();
    for (int i = 0; i < name_count; i++) {
        static char path[2 * PATH_MAX + NAME_MAX + 8];
        snprintf(path, sizeof path, "%s/%.255s", folder, names[i].name);
        int file = open(path, O_RDONLY);
        if (file >= 0) keep_file(file, names[i].inode), close(file);
    }
}

static void write_disk(void)
{
    static char path[2 * PATH_MAX + NAME_MAX + 8];
    snprintf(path, sizeof path, "%s.disk", folder);
    mkdir(path, 0777);
    for (int i = 0; i < name_count; i++) {
        snprintf(path, sizeof path, "%s.disk/%.255s", folder, names[i].name);
        int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
        for (int k = 0; k < disk_count; k++)
            if (disk[k].inode == names[i].inode && file >= 0 &&
                write(file, disk[k].bytes, disk[k].size) != (ssize_t)disk[k].size)
                exit(125);
        if (file >= 0) close(file);
    }
}

/* ------------------------------------------------------------------------------ the calls */

static what kind_of(long call)
{
    switch (call) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
        return WRITE;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
        return READ;
    case SYS_fsync:
    case SYS_fdatasync:
        return SYNC;
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
        return NAME;
    case SYS_ftruncate:
        return TRUNCATE;
    default:
        return OTHER;
    }
}

/* Is the descriptor a file of the folder, the folder itself, or standard output? */
static bool counts(pid_t task, int descriptor)
{
    char link[64], path[PATH_MAX];
    if (descriptor == 1) return true;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)task, descriptor);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = '\0';
    return strncmp(path, folder, strlen(folder)) == 0;
}

static void note_sync(pid_t task, int descriptor)
{
    char link[64];
    struct stat s;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)task, descriptor);
    int file = open(link, O_RDONLY);
    if (file < 0 || fstat(file, &s) != 0) return;
    if (S_ISDIR(s.st_mode)) keep_names();
    else keep_file(file, s.st_ino);
    close(file);
}

static void end_all(void)
{
    for (int i = 0; i < task_count; i++) kill(tasks[i], SIGKILL);
}

/* A call begins: true if all is over. */
static bool begin(int i, const struct kind* k, long wanted, const struct ptrace_syscall_info* info)
{
    what w = kind_of((long)info->entry.nr);
    bool mine = k->all ? w == WRITE || w == SYNC || w == NAME || w == TRUNCATE : w == k->at;
    answers[i] = 0;
    if (!mine || (w != NAME && !counts(tasks[i], (int)info->entry.args[0]))) return false;
    if (++seen != wanted) return false;
    if (k->ends) {
        end_all();
        return true;
    }
    struct user_regs_struct r;
    ptrace(GET_REGISTERS, tasks[i], NULL, &r);
    if (k->cut_off && r.rdx > 1) r.rdx = 1;
    if (k->error) r.orig_rax = (unsigned long long)-1, answers[i] = k->error;
    ptrace(SET_REGISTERS, tasks[i], NULL, &r);
    return false;
}

static void finish(int i, const struct ptrace_syscall_info* info)
{
    struct user_regs_struct r;
    ptrace(GET_REGISTERS, tasks[i], NULL, &r);
    if (answers[i]) {
        r.rax = (unsigned long long)-(long long)answers[i];
        ptrace(SET_REGISTERS, tasks[i], NULL, &r);
    } else if (kind_of((long)r.orig_rax) == SYNC && info->exit.rval == 0) note_sync(tasks[i], (int)r.rdi);
    answers[i] = 0;
}

static int task_number(pid_t pid)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i] == pid) return i;
    if (task_count == MOST_TASKS) exit(125);
    tasks[task_count] = pid;
    answers[task_count] = 0;
    return task_count++;
}

static int follow(pid_t first, const struct kind* k, long wanted)
{
    int result = 125, status;
    for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
        int i = task_number(pid);
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == first) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            tasks[i] = tasks[--task_count];
            answers[i] = answers[task_count];
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            struct ptrace_syscall_info info;
            if (ptrace(GET_INFO, pid, sizeof info, &info) > 0) {
                if (info.op == PTRACE_SYSCALL_INFO_ENTRY && begin(i, k, wanted, &info)) continue;
                if (info.op == PTRACE_SYSCALL_INFO_EXIT) finish(i, &info);
            }
            signal = 0;
        } else if (signal == SIGTRAP || signal == SIGSTOP) signal = 0; /* events, new tasks */
        ptrace(GO_ON, pid, NULL, (void*)(intptr_t)signal);
    }
    return result;
}

int main(int argc, char** argv)
{
    const struct kind* k = NULL;
    for (size_t i = 0; argc > 4 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) k = &kinds[i];
    if (!k || !realpath(argv[3], folder)) {
        fprintf(stderr, "usage: faults KIND N FOLDER COMMAND [ARGUMENT...]\n");
        return 125;
    }
    keep_all();
    pid_t child = fork();
    if (child == 0) {
        ptrace(TRACE_ME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[4], argv + 4);
        _exit(125);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 125;
    if (ptrace(OPTIONS, child, NULL, (void*)(GOOD | FORK | VFORK | CLONE | EXEC | EXIT_KILL)) != 0) return 125;
    task_number(child);
    ptrace(GO_ON, child, NULL, NULL);
    int result = follow(child, k, atol(argv[2]));
    if (strcmp(k->name, "cut") == 0) write_disk();
    const char* count = getenv("FAULTS_COUNT");
    FILE* out = count ? fopen(count, "w") : NULL;
    if (out) fprintf(out, "%ld\n", seen), fclose(out);
    return result;
}
