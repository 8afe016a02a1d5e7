/* `-` in place of a file. What comes is put into a file without a name, which takes the place of standard input:
 * commands look at a file before they read it, and some read it several times; a pipe gives its bytes once. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Copies standard input to `file`; 0 or an error number. */
static int copy(FILE* file)
{
    char bytes[1 << 16];
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n > 0 && fwrite(bytes, 1, (size_t)n, file) != (size_t)n) return errno ? errno : EIO;
        if (n == 0) return fflush(file) ? errno : 0;
        struct pollfd one = { .fd = STDIN_FILENO, .events = POLLIN };
        if (n < 0 && errno == EAGAIN) poll(&one, 1, -1);
        else if (n < 0 && errno != EINTR) return errno;
    }
}

const char* mor_cli_file(const char* name)
{
    static bool kept;
    if (strcmp(name, "-") != 0) return name;
    if (kept || lseek(STDIN_FILENO, 0, SEEK_SET) == 0) return "/dev/stdin";
    FILE* file = tmpfile();
    int reason = file ? copy(file) : errno;
    if (!reason && (lseek(fileno(file), 0, SEEK_SET) != 0 || dup2(fileno(file), STDIN_FILENO) < 0)) reason = errno;
    if (file) fclose(file);
    kept = !reason;
    if (reason) fprintf(stderr, "moreau: standard input cannot be kept: %s\n", strerror(reason));
    return "/dev/stdin";
}
