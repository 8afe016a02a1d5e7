/* Controllers in a process of their own, in Octave and MATLAB: the socket of `moreau run --control unix:PATH`
 * (docs/control-link.md), behind the class MoreauLink. */
#include "mex_parts.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MOST_NUMBERS = 1 << 20 };
static struct link {
    int fd; /* of the socket, plus 1; 0: free */
    unsigned generation;
    int timeout; /* [ms] */
} links[MOST];

static void end_link(struct link* l)
{
    if (l->fd) close(l->fd - 1);
    l->fd = 0;
    l->generation++;
}

void mor_mex_end_links(void)
{
    for (int i = 0; i < MOST; i++) end_link(&links[i]);
}

static struct link* find(const mxArray* a)
{
    double x = mor_mex_scalar(a, "link");
    int i = x >= 0 && x < 4503599627370496.0 ? (int)fmod(x, MOST) : -1;
    return i < 0 || !links[i].fd || (unsigned)(x / MOST) != links[i].generation ? NULL : &links[i];
}

static struct link* link_of(const mxArray* a)
{
    struct link* l = find(a);
    if (!l) mor_mex_wrong("this link is closed");
    return l;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* link_open(path, timeout [s]) -> link */
static void do_open(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    const char* path = mor_mex_text(in[0]);
    double timeout = mor_mex_scalar(in[1], "timeout"), end = now() + timeout;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) mor_mex_wrong("the path of a socket is too long");
    if (!(timeout > 0.0 && timeout <= 1e6)) mor_mex_wrong("timeout: seconds, above 0");
    int i = 0;
    while (i < MOST && links[i].fd) i++;
    if (i == MOST) mor_mex_wrong("there are too many links; close some");
    strcpy(address.sun_path, path);
    int fd;
    while (true) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr*)&address, sizeof address) == 0) break;
        int why = errno;
        if (fd >= 0) close(fd);
        if (fd < 0 || (why != ENOENT && why != ECONNREFUSED))
            mexErrMsgIdAndTxt("moreau:system", "%s: %s", path, strerror(why));
        if (now() > end) mexErrMsgIdAndTxt("moreau:system", "%s: no simulator came within %g s", path, timeout);
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    links[i].fd = fd + 1;
    links[i].timeout = (int)(1e3 * fmin(timeout, 2e6));
    out[0] = mxCreateDoubleScalar((double)links[i].generation * MOST + i);
}

/* Reads all bytes; 0: done, 1: the other side has gone, 2: nothing came in time. */
static int get(const struct link* l, void* to, size_t bytes)
{
    for (char* at = to; bytes > 0;) {
        struct pollfd p = { .fd = l->fd - 1, .events = POLLIN };
        int ready = poll(&p, 1, l->timeout);
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) return 2;
        ssize_t got = recv(l->fd - 1, at, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 1;
        at += got, bytes -= (size_t)got;
    }
    return 0;
}

/* link_read(link) -> kind (1 hello, 2 state, 4 end), robot from 1, numbers */
static void do_read(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)n;
    struct link* l = link_of(in[0]);
    uint32_t head[4] = { 0 };
    double* x = NULL;
    int failed = get(l, head, sizeof head);
    if (!failed && (memcmp(head, "MOR1", 4) != 0 || head[3] > MOST_NUMBERS))
        mor_mex_wrong("what came is no message of moreau run --control");
    uint32_t count = failed ? 0 : head[3];
    mxArray* numbers = mxCreateDoubleMatrix(count, 1, mxREAL);
    x = mxGetPr(numbers);
    if (!failed && count) failed = get(l, x, count * sizeof *x);
    if (failed == 2) mexErrMsgIdAndTxt("moreau:system", "the simulator said nothing for %g s", 1e-3 * l->timeout);
    if (failed) head[1] = 4, head[2] = 0; /* the simulator has gone: the end */
    const double first[2] = { head[1], head[2] + 1.0 };
    for (int k = 0; k < 2 && k < (nout > 0 ? nout : 1); k++) out[k] = mxCreateDoubleScalar(first[k]);
    if (nout > 2) out[2] = numbers;
}

static bool put(const struct link* l, const void* from, size_t bytes)
{
    for (const char* at = from; bytes > 0;) {
        ssize_t sent = send(l->fd - 1, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent, bytes -= (size_t)sent;
    }
    return true;
}

/* link_send(link, robot from 1, torques) */
static void do_send(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    struct link* l = link_of(in[0]);
    double robot = mor_mex_scalar(in[1], "robot");
    const double* tau = mor_mex_numbers(in[2], "torques", 0);
    size_t count = mxGetNumberOfElements(in[2]);
    if (!(robot >= 1 && robot <= 1e6) || count > MOST_NUMBERS) mor_mex_wrong("robot: counted from 1");
    uint32_t head[4] = { 0, 3, (uint32_t)robot - 1, (uint32_t)count };
    memcpy(head, "MOR1", 4);
    if (!put(l, head, sizeof head) || !put(l, tau, count * sizeof *tau))
        mexErrMsgIdAndTxt("moreau:system", "the simulator has gone");
}

/* link_close(link): leaves the run, which goes on without torques */
static void do_close(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    struct link* l = find(in[0]);
    if (!l) return;
    uint32_t head[4] = { 0, 4, 0, 0 };
    memcpy(head, "MOR1", 4);
    put(l, head, sizeof head);
    end_link(l);
}

const mor_mex_command mor_mex_links[] = { { "link_open", 2, 2, do_open },
                                          { "link_read", 1, 1, do_read },
                                          { "link_send", 3, 3, do_send },
                                          { "link_close", 1, 1, do_close },
                                          { NULL, 0, 0, NULL } };
