/* A Chromium that does what it is told, see browser.h.
 *
 * `--remote-debugging-pipe` makes it read commands from descriptor 3 and write answers to 4: JSON texts that end with a
 * zero byte. Both are one end of a socket pair here, so that a browser that died is an error and no signal. Commands
 * are numbered; an answer has the number of its command, other messages are events and ignored. The software renderer
 * draws, so that pictures do not depend on the graphics card. Profile and pages live in a temporary directory. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "serve/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/json/json_read.h"

#define PATIENCE 120.0 /* s for an answer */

struct mor_browser {
    char directory[512], session[128];
    pid_t child;
    int wire, last; /* number of the last command */
    mor_bytes in;   /* what was read and not yet looked at */
};

/* ------------------------------------------------------------------------------- programs */

static bool runs(const char* path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

static bool in_path(const char* name)
{
    const char* path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char file[1024];
        if (snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name) < (int)sizeof file && runs(file)) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

const char* mor_find_program(const char* const* names)
{
    for (; *names; names++)
        if (**names && (strchr(*names, '/') ? runs(*names) : in_path(*names))) return *names;
    return NULL;
}

const char* mor_browser_program(void)
{
    const char* wish = getenv("MOREAU_CHROMIUM");
    const char* const names[] = { wish ? wish : "", "chromium", "chromium-browser", "google-chrome", "chrome", NULL };
    return mor_find_program(names);
}

/* ------------------------------------------------------------------------------- the wire */

static mor_code broken(mor_error* error) { return mor_fail(error, MOR_SYSTEM, "Chromium ended or does not answer"); }

static mor_code send_text(mor_browser* b, const char* text, mor_error* error)
{
    size_t n = strlen(text) + 1;
    while (n > 0) {
        ssize_t sent = send(b->wire, text, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return broken(error);
        text += sent;
        n -= (size_t)sent;
    }
    return MOR_OK;
}

/* The next message is put into `message`, zero included. */
static mor_code next_message(mor_browser* b, mor_bytes* message, double end, mor_error* error)
{
    size_t looked = 0;
    for (;;) {
        unsigned char* zero = b->in.size > looked ? memchr(b->in.data + looked, 0, b->in.size - looked) : NULL;
        if (zero) {
            size_t n = (size_t)(zero - b->in.data) + 1;
            message->size = 0;
            mor_bytes_add(message, b->in.data, n);
            memmove(b->in.data, b->in.data + n, b->in.size - n);
            b->in.size -= n;
            return message->failed ? mor_fail(error, MOR_SYSTEM, "out of memory") : MOR_OK;
        }
        looked = b->in.size;
        double left = end - mor_clock();
        struct pollfd fd = { .fd = b->wire, .events = POLLIN };
        if (left <= 0.0 || poll(&fd, 1, (int)(1e3 * left) + 1) < 0) {
            if (left > 0.0 && errno == EINTR) continue;
            return broken(error);
        }
        unsigned char block[65536];
        ssize_t n = recv(b->wire, block, sizeof block, 0);
        if (n <= 0) return broken(error);
        mor_bytes_add(&b->in, block, (size_t)n);
        if (b->in.failed) return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
}

/* Sends a command and waits for its answer: the "result" of it, valid while `document` is. */
static const mor_json_value* ask(mor_browser* b, mor_json_document** document, mor_error* error, const char* method,
                                 const char* parameters)
{
    char* text = malloc(strlen(method) + strlen(parameters) + sizeof b->session + 128);
    *document = NULL;
    if (!text) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    int id = ++b->last;
    sprintf(text, "{\"id\":%d,\"method\":\"%s\",\"params\":{%s}%s%s%s}", id, method, parameters,
            b->session[0] ? ",\"sessionId\":\"" : "", b->session, b->session[0] ? "\"" : "");
    mor_code code = send_text(b, text, error);
    free(text);
    mor_bytes message = { 0 };
    const mor_json_value* result = NULL;
    double end = mor_clock() + PATIENCE;
    while (!code && !result) {
        code = next_message(b, &message, end, error);
        if (code) break;
        mor_json_document* d =
            mor_json_read_text("answer of Chromium", (const char*)message.data, message.size - 1, error);
        if (!d) break;
        const mor_json_value *root = mor_json_root(d), *number = mor_json_get(root, "id"),
                             *wrong = mor_json_get(root, "error");
        if (number && number->number == id) {
            const mor_json_value* text_of = wrong ? mor_json_get(wrong, "message") : NULL;
            result = wrong ? NULL : mor_json_get(root, "result");
            *document = d;
            if (!result) {
                code = mor_fail(error, MOR_SYSTEM, "Chromium refused %s: %.150s", method,
                                text_of && text_of->text ? text_of->text : "no reason given");
                *document = NULL;
                mor_json_free(d);
            }
        } else mor_json_free(d);
    }
    mor_bytes_free(&message);
    return result;
}

static mor_code command(mor_browser* b, const char* method, const char* parameters, mor_error* error)
{
    mor_json_document* d;
    const mor_json_value* result = ask(b, &d, error, method, parameters);
    mor_json_free(d);
    return result ? MOR_OK : MOR_SYSTEM;
}

/* A text of the answer. */
static mor_code ask_text(mor_browser* b, const char* method, const char* parameters, const char* key, char* out,
                         size_t size, mor_error* error)
{
    mor_json_document* d;
    const mor_json_value *result = ask(b, &d, error, method, parameters),
                         *value = result ? mor_json_get(result, key) : NULL;
    mor_code code = result ? MOR_OK : MOR_SYSTEM;
    if (result && (!value || !value->text || strlen(value->text) >= size || strpbrk(value->text, "\"\\")))
        code = mor_fail(error, MOR_SYSTEM, "Chromium answered %s with something unknown", method);
    if (!code) snprintf(out, size, "%s", value->text);
    mor_json_free(d);
    return code;
}

/* ------------------------------------------------------------------------------- the process */

static void become(const char* program, const char* directory, int width, int height, int wire)
{
    char profile[600], window[64];
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", directory);
    snprintf(window, sizeof window, "--window-size=%d,%d", width, height);
    const char* arguments[] = { program,
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--use-gl=angle",
                                "--use-angle=swiftshader",
                                "--enable-unsafe-swiftshader",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--hide-scrollbars",
                                "--force-device-scale-factor=1",
                                "--remote-debugging-pipe",
                                window,
                                profile,
                                "about:blank",
                                NULL };
    setpgid(0, 0);
    int nowhere = open("/dev/null", O_RDWR), high = fcntl(wire, F_DUPFD, 10);
    for (int i = 0; i < 3; i++) dup2(nowhere, i);
    dup2(high, 3);
    dup2(high, 4);
    close(high);
    execvp(program, (char* const*)(void*)arguments);
    _exit(127);
}

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

mor_browser* mor_browser_start(int width, int height, mor_error* error)
{
    const char *program = mor_browser_program(), *temporary = getenv("TMPDIR");
    if (!program) {
        mor_fail(error, MOR_SYSTEM,
                 "pictures need Chromium, and there is none; install it (apt install chromium) or name one in "
                 "MOREAU_CHROMIUM");
        return NULL;
    }
    mor_browser* b = calloc(1, sizeof *b);
    int wires[2] = { -1, -1 };
    if (b) {
        snprintf(b->directory, sizeof b->directory, "%s/moreau-XXXXXX", temporary && *temporary ? temporary : "/tmp");
        if (!mkdtemp(b->directory)) b->directory[0] = '\0';
    }
    if (!b || !b->directory[0] || socketpair(AF_UNIX, SOCK_STREAM, 0, wires) != 0) {
        mor_fail(error, MOR_SYSTEM, b ? "cannot make a temporary directory or a pair of sockets" : "out of memory");
        if (b && b->directory[0]) rmdir(b->directory);
        free(b);
        return NULL;
    }
    fcntl(wires[0], F_SETFD, FD_CLOEXEC);
    b->wire = wires[0];
    b->child = fork();
    if (b->child == 0) become(program, b->directory, width, height, wires[1]);
    close(wires[1]);
    char target[128] = "", parameters[256];
    mor_code code = b->child < 0 ? mor_fail(error, MOR_SYSTEM, "cannot start %s", program)
                                 : ask_text(b, "Target.createTarget", "\"url\":\"about:blank\"", "targetId", target,
                                            sizeof target, error);
    snprintf(parameters, sizeof parameters, "\"targetId\":\"%s\",\"flatten\":true", target);
    char session[sizeof b->session] = "";
    if (!code) code = ask_text(b, "Target.attachToTarget", parameters, "sessionId", session, sizeof session, error);
    if (!code) {
        memcpy(b->session, session, sizeof session);
        snprintf(parameters, sizeof parameters, "\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false",
                 width, height);
        code = command(b, "Emulation.setDeviceMetricsOverride", parameters, error);
    }
    if (!code) return b;
    mor_browser_stop(b);
    return NULL;
}

const char* mor_browser_directory(const mor_browser* b) { return b->directory; }

void mor_browser_stop(mor_browser* b)
{
    if (!b) return;
    close(b->wire);
    if (b->child > 0) {
        kill(-b->child, SIGTERM); /* it is a group of processes; nothing of it is worth keeping */
        double end = mor_clock() + 5.0;
        int status;
        pid_t gone = 0;
        while (gone == 0 && mor_clock() < end) {
            gone = waitpid(b->child, &status, WNOHANG);
            if (gone == 0) nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
        }
        kill(-b->child, SIGKILL);
        if (gone == 0) waitpid(b->child, &status, 0);
    }
    for (int i = 0;
         i < 50 && nftw(b->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && access(b->directory, F_OK) == 0;
         i++)
        nanosleep(&(struct timespec){ 0, 20000000 }, NULL); /* the last processes of the group may still be writing */
    mor_bytes_free(&b->in);
    free(b);
}

/* ------------------------------------------------------------------------------- what it does */

/* JSON quotes and backslashes; expressions have no other special characters. */
static bool quote(char* out, size_t size, const char* text)
{
    size_t n = 0;
    for (; *text; text++) {
        if (n + 3 > size || (unsigned char)*text < 32) return false;
        if (*text == '"' || *text == '\\') out[n++] = '\\';
        out[n++] = *text;
    }
    out[n] = '\0';
    return true;
}

mor_code mor_browser_evaluate(mor_browser* b, const char* expression, mor_error* error)
{
    char quoted[1024], parameters[1200];
    if (!quote(quoted, sizeof quoted, expression))
        return mor_fail(error, MOR_BAD_INPUT, "an expression that is too long or has control characters");
    snprintf(parameters, sizeof parameters, "\"expression\":\"%s\",\"awaitPromise\":true", quoted);
    mor_json_document* d;
    const mor_json_value *result = ask(b, &d, error, "Runtime.evaluate", parameters),
                         *thrown = result ? mor_json_get(result, "exceptionDetails") : NULL;
    mor_code code = result ? MOR_OK : MOR_SYSTEM;
    if (thrown) {
        const mor_json_value *what = mor_json_get(thrown, "exception"),
                             *text = what ? mor_json_get(what, "description") : NULL;
        code = mor_fail(error, MOR_SYSTEM, "the viewer's page failed: %.200s",
                        text && text->text ? text->text : "no reason given");
    }
    mor_json_free(d);
    return code;
}

mor_code mor_browser_open(mor_browser* b, const char* address, mor_error* error)
{
    char quoted[1500], parameters[1600];
    if (!quote(quoted, sizeof quoted, address))
        return mor_fail(error, MOR_BAD_INPUT, "an address that is too long or has control characters");
    snprintf(parameters, sizeof parameters, "\"url\":\"%s\"", quoted);
    mor_code code = command(b, "Page.navigate", parameters, error);
    if (!code)
        code =
            mor_browser_evaluate(b,
                                 "new Promise((r, no) => { const f = () => window.moreau ? window.moreau.ready.then(() "
                                 "=> window.moreau.settled()).then(r, no) : setTimeout(f, 10); f(); })",
                                 error);
    return code;
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static void add_base64(mor_bytes* out, const char* text)
{
    uint32_t word = 0;
    int bits = 0, d;
    for (; (d = digit(*text)) >= 0; text++) {
        word = word << 6 | (uint32_t)d;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        unsigned char byte = (unsigned char)(word >> bits);
        mor_bytes_add(out, &byte, 1);
    }
}

mor_code mor_browser_picture(mor_browser* b, mor_bytes* png, mor_error* error)
{
    mor_json_document* d;
    const mor_json_value *result = ask(b, &d, error, "Page.captureScreenshot", "\"format\":\"png\""),
                         *data = result ? mor_json_get(result, "data") : NULL;
    mor_code code = result ? MOR_OK : MOR_SYSTEM;
    if (result && (!data || !data->text)) code = mor_fail(error, MOR_SYSTEM, "Chromium made no picture");
    if (!code) add_base64(png, data->text);
    if (!code && png->failed) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_json_free(d);
    return code;
}
