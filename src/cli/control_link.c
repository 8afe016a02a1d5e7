/* A controller in another process, see control_link.h. Every wait has a time-out, and a controller that is gone, silent
 * or says what nobody understands stops the run with a sentence (mor_world_refuse). */
#include "cli/control_link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HELLO = 1, STATE = 2, TORQUES = 3, END = 4 };

struct mor_control_link {
    int in, out;
    char paths[2][512]; /* to remove at the end; "": none */
    double timeout, pace, started, first_time;
    bool paced, ended;
};

typedef struct header {
    char magic[4];
    uint32_t kind, robot, count;
} header;

/* ------------------------------------------------------------------------------------ bytes */

/* Waits until the descriptor is ready; false when the time is over or the other side has gone. */
static bool wait_for(int fd, short what, double until)
{
    for (;;) {
        double left = until - mor_clock();
        if (left < 0.0) return false;
        struct pollfd p = { .fd = fd, .events = what };
        int n = poll(&p, 1, (int)(left * 1000.0) + 1);
        if (n > 0) return p.revents & what;
        if (n < 0 && errno != EINTR) return false;
    }
}

static bool transfer(mor_control_link* l, bool read_it, void* data, size_t size)
{
    char* at = data;
    double until = mor_clock() + l->timeout;
    while (size > 0) {
        if (!wait_for(read_it ? l->in : l->out, read_it ? POLLIN : POLLOUT, until)) return false;
        ssize_t n = read_it ? read(l->in, at, size) : write(l->out, at, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return false;
        at += n, size -= (size_t)n;
    }
    return true;
}

static bool send_message(mor_control_link* l, uint32_t kind, uint32_t robot, const double* x, uint32_t count)
{
    header h = { "MOR1", kind, robot, count };
    char buffer[sizeof h + 1024 * sizeof(double)];
    if (count > 1024) return transfer(l, false, &h, sizeof h) && transfer(l, false, (void*)x, count * sizeof *x);
    memcpy(buffer, &h, sizeof h);
    if (count) memcpy(buffer + sizeof h, x, count * sizeof *x);
    return transfer(l, false, buffer, sizeof h + count * sizeof *x);
}

/* ------------------------------------------------------------------------------- the controller */

/* Holds the run back to the pace that was asked for. */
static void keep_pace(mor_control_link* l, double time)
{
    if (!(l->pace > 0.0)) return;
    if (!l->paced) l->paced = true, l->started = mor_clock(), l->first_time = time;
    double ahead = (time - l->first_time) / l->pace - (mor_clock() - l->started);
    if (ahead <= 0.0) return;
    struct timespec t = { (time_t)ahead, (long)((ahead - floor(ahead)) * 1e9) };
    nanosleep(&t, NULL);
}

static const char* exchange(mor_control_link* l, const mor_control_call* c)
{
    int n = mor_robot_joint_count(c->model), N = mor_robot_dof(c->model);
    double* x = mor_arena_alloc(c->scratch, (size_t)(8 + n + N) * sizeof *x);
    if (!x) return "out of memory";
    const mor_vec3 p = c->base.position;
    const mor_quat q = c->base.rotation;
    memcpy(x, (double[8]){ c->time, p.x, p.y, p.z, q.w, q.x, q.y, q.z }, 8 * sizeof *x);
    memcpy(x + 8, c->s, (size_t)n * sizeof *x);
    memcpy(x + 8 + n, c->nu, (size_t)N * sizeof *x);
    header h;
    if (!send_message(l, STATE, (uint32_t)c->robot, x, (uint32_t)(8 + n + N)))
        return "the controller does not take the state";
    if (!transfer(l, true, &h, sizeof h)) return "the controller did not answer in time, or it has gone";
    if (memcmp(h.magic, "MOR1", 4) != 0) return "the controller's answer does not begin with MOR1";
    if (h.kind == END) return l->ended = true, NULL;
    if (h.kind != TORQUES || h.robot != (uint32_t)c->robot || h.count != (uint32_t)n)
        return "the controller's answer is not the torques of this robot's joints";
    if (!transfer(l, true, c->tau, (size_t)n * sizeof *c->tau)) return "the controller's answer is cut off";
    for (int j = 0; j < n; j++)
        if (!isfinite(c->tau[j])) return "a torque of the controller is not finite";
    return NULL;
}

static void control(const mor_control_call* c)
{
    mor_control_link* l = *(mor_control_link* const*)c->options;
    if (l->ended) return;
    keep_pace(l, c->time);
    const char* wrong = exchange(l, c);
    if (!wrong) return;
    memset(c->tau, 0, (size_t)mor_robot_joint_count(c->model) * sizeof *c->tau);
    mor_world_refuse(c->world, wrong);
}

static const mor_controller type = { .name = "external",
                                     .summary = "a controller in another process",
                                     .reference = "",
                                     .options_size = sizeof(mor_control_link*),
                                     .control = control,
                                     .joints_only = true };

/* --------------------------------------------------------------------------------- connections */

static mor_code connect_socket(mor_control_link* l, const char* path, mor_error* error)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof a.sun_path)
        return mor_fail(error, MOR_BAD_INPUT, "--control: the path is too long: %s", path);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listening < 0 || bind(listening, (struct sockaddr*)&a, sizeof a) || listen(listening, 1)) {
        int why = errno;
        if (listening >= 0) close(listening);
        return mor_fail(error, MOR_SYSTEM, "--control %s: %s", path, strerror(why));
    }
    snprintf(l->paths[0], sizeof l->paths[0], "%s", path);
    if (wait_for(listening, POLLIN, mor_clock() + l->timeout)) l->in = l->out = accept(listening, NULL, NULL);
    close(listening);
    if (l->in < 0) return mor_fail(error, MOR_SYSTEM, "--control %s: no controller came within %g s", path, l->timeout);
    return MOR_OK;
}

static mor_code connect_pipes(mor_control_link* l, const char* path, mor_error* error)
{
    static const char* const endings[2] = { "state", "torque" };
    for (int i = 0; i < 2; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s.%s", path, endings[i]);
        if (mkfifo(name, 0600)) return mor_fail(error, MOR_SYSTEM, "--control %s: %s", name, strerror(errno));
        snprintf(l->paths[i], sizeof l->paths[i], "%s", name);
    }
    l->in = open(l->paths[1], O_RDONLY | O_NONBLOCK); /* does not wait for the writer */
    double until = mor_clock() + l->timeout;
    while (l->in >= 0 && (l->out = open(l->paths[0], O_WRONLY | O_NONBLOCK)) < 0 && mor_clock() < until)
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL); /* until there is a reader */
    if (l->out < 0)
        return mor_fail(error, MOR_SYSTEM, "--control %s: no controller came within %g s", path, l->timeout);
    /* a pipe nobody has opened for writing yet reads as ended: wait for the first byte or the time-out in transfer */
    return MOR_OK;
}

static mor_code greet(mor_control_link* l, mor_world* w, mor_error* error)
{
    for (int r = 0; r < mor_world_robot_count(w); r++) {
        const mor_robot_model* m = mor_world_robot_model(w, r);
        double x[4] = { mor_robot_joint_count(m), mor_robot_dof(m), mor_world_get_step(w), mor_robot_floating(m) };
        if (!send_message(l, HELLO, (uint32_t)r, x, 4))
            return mor_fail(error, MOR_SYSTEM, "--control: the controller went away at once");
        mor_controller_def d = mor_controller_def_default();
        d.type = &type, d.robot = r, d.options = &l;
        if (mor_world_add_controller(w, &d, error) < 0) return error->code;
    }
    return MOR_OK;
}

mor_control_link* mor_control_link_open(const mor_control_link_options* o, mor_world* w, mor_error* error)
{
    mor_control_link* l = calloc(1, sizeof *l);
    if (!l) return mor_fail(error, MOR_SYSTEM, "out of memory"), NULL;
    l->in = l->out = -1;
    l->timeout = o->timeout, l->pace = o->pace;
    signal(SIGPIPE, SIG_IGN); /* a controller that has gone is an error, not the end of the program */
    mor_code code;
    if (mor_world_robot_count(w) == 0) code = mor_fail(error, MOR_BAD_INPUT, "--control: the scene has no robot");
    else if (strncmp(o->address, "unix:", 5) == 0) code = connect_socket(l, o->address + 5, error);
    else if (strncmp(o->address, "fifo:", 5) == 0) code = connect_pipes(l, o->address + 5, error);
    else code = mor_fail(error, MOR_BAD_INPUT, "--control %s: expected unix:PATH or fifo:PATH", o->address);
    if (!code) code = greet(l, w, error);
    if (!code) return l;
    mor_control_link_close(l);
    return NULL;
}

void mor_control_link_close(mor_control_link* l)
{
    if (!l) return;
    l->timeout = 0.2;
    if (l->out >= 0 && !l->ended) send_message(l, END, 0, NULL, 0);
    if (l->in >= 0) close(l->in);
    if (l->out >= 0 && l->out != l->in) close(l->out);
    for (int i = 0; i < 2; i++)
        if (l->paths[i][0]) unlink(l->paths[i]);
    free(l);
}
