/* Whole files, see text_file.h. The size is not asked for first: pipes have none. */
#include "io/text/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_S 10 /* how long a pipe may be silent */
#define WORD(number) #number
#define SECONDS(number) WORD(number)

static const size_t most_of_streams = (size_t)1 << 30; /* bytes from pipes and devices, which need not end */

/* Some bytes; 0 at the end, -1 with errno. */
static ssize_t read_some(int descriptor, char* to, size_t room)
{
    for (;;) {
        ssize_t n = read(descriptor, to, room);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
        struct pollfd one = { .fd = descriptor, .events = POLLIN };
        if (errno == EAGAIN && poll(&one, 1, 1000 * PATIENCE_S) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

/* Reads to the end or beyond `most`; 0 or an error number. */
static int read_all(int descriptor, size_t most, char** text, size_t* length)
{
    size_t room = 1 << 16;
    ssize_t got;
    *text = malloc(room + 1);
    *length = 0;
    while (*text && *length <= most && (got = read_some(descriptor, *text + *length, room - *length)) != 0) {
        if (got < 0) return errno;
        *length += (size_t)got;
        if (*length < room) continue;
        char* more = realloc(*text, 2 * room + 1);
        if (!more) free(*text);
        *text = more;
        room *= 2;
    }
    if (*text) (*text)[*length] = '\0';
    return *text ? 0 : ENOMEM;
}

mor_code mor_file_fault(int reason)
{
    return reason == ENOMEM || reason == EMFILE || reason == ENFILE || reason == EIO ? MOR_SYSTEM : MOR_BAD_INPUT;
}

/* A pipe is opened without waiting for somebody who writes to it; then poll waits for the first byte. */
static int open_file(const char* path, bool* pipe, size_t* most)
{
    struct stat what;
    bool there = stat(path, &what) == 0;
    *pipe = there && S_ISFIFO(what.st_mode);
    if (there && !S_ISREG(what.st_mode) && *most > most_of_streams) *most = most_of_streams;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (*pipe ? O_NONBLOCK : 0));
    struct pollfd one = { .fd = descriptor, .events = POLLIN };
    if (descriptor < 0 || !*pipe || poll(&one, 1, 1000 * PATIENCE_S) != 0) return descriptor;
    close(descriptor);
    errno = ETIMEDOUT;
    return -1;
}

FILE* mor_file_stream(const char* path)
{
    bool pipe;
    size_t most = most_of_streams;
    int descriptor = open_file(path, &pipe, &most);
    if (descriptor < 0) return NULL;
    FILE* file = !pipe || fcntl(descriptor, F_SETFL, 0) == 0 ? fdopen(descriptor, "r") : NULL;
    int reason = errno;
    if (!file) close(descriptor);
    errno = reason;
    return file;
}

const char* mor_file_reason(int reason)
{
    return reason == ETIMEDOUT ? "a pipe, and nothing came from it for " SECONDS(PATIENCE_S) " s" : strerror(reason);
}

mor_code mor_text_read(const char* path, size_t most, char** text, size_t* length, mor_error* error)
{
    *text = NULL;
    *length = 0;
    bool pipe;
    int descriptor = open_file(path, &pipe, &most), reason = descriptor < 0 ? errno : 0;
    bool opened = descriptor >= 0;
    if (opened) {
        reason = read_all(descriptor, most, text, length);
        close(descriptor);
    }
    mor_code code = MOR_OK;
    if (pipe && reason == ETIMEDOUT) code = mor_fail(error, MOR_BAD_INPUT, "%s: %s", path, mor_file_reason(reason));
    else if (reason == ENOMEM) code = mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    else if (reason)
        code = mor_fail(error, mor_file_fault(reason), "%s: cannot be %s: %s", path, opened ? "read" : "opened",
                        strerror(reason));
    else if (*length > most)
        code = mor_fail(error, MOR_BAD_INPUT, "%s: larger than %zu MB; such a file should be small", path, most >> 20);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

bool mor_file_is_regular(const char* path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISREG(what.st_mode) && access(path, R_OK) == 0;
}

long mor_file_head(const char* path, void* bytes, size_t count)
{
    struct stat what;
    if (stat(path, &what) != 0) return -1;
    if (S_ISDIR(what.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (!S_ISREG(what.st_mode)) return 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    size_t have = 0;
    ssize_t n = 1;
    while (have < count && (n = read_some(descriptor, (char*)bytes + have, count - have)) > 0) have += (size_t)n;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return n < 0 ? -1 : (long)have;
}

bool mor_file_begins(const char* path, const void* bytes, size_t count)
{
    char head[64];
    return count <= sizeof head && mor_file_head(path, head, count) == (long)count && memcmp(head, bytes, count) == 0;
}
