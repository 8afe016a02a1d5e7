/* Pictures and films, see picture.h: the recordings are exported to a page in a temporary directory, which a browser
 * (browser.h) opens and photographs. A film is such photographs, one per 1/rate seconds: put together to an animated
 * PNG here (apng.h), or handed to ffmpeg one after the other as PNG through a socket; $MOREAU_FFMPEG names another
 * ffmpeg. No shell takes part. Cost: about 0.1 s per picture. */
#include "serve/picture.h"
#include "io/text/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/apng.h"
#include "serve/browser.h"
#include "serve/export.h"

enum { MOST_PICTURES = 100000 };

mor_picture_options mor_picture_options_default(void)
{
    return (mor_picture_options){ .time = -1.0, .width = 1280, .height = 800, .rate = 30.0, .speed = 1.0 };
}

/* A browser with the page of the recordings in it, at time t. */
static mor_browser* show(mor_recording* const* recordings, int count, const mor_picture_options* o, double t,
                         mor_error* error)
{
    mor_browser* b = mor_browser_start(o->width, o->height, error);
    if (!b) return NULL;
    char page[600], look[400] = "", address[1200];
    snprintf(page, sizeof page, "%s/page.html", mor_browser_directory(b));
    if (o->look) mor_look_encode(look, sizeof look, o->look);
    /* no exponent: its plus sign would mean a blank there */
    snprintf(address, sizeof address, "file://%s#ui=0&t=%.9f&%s", page, t, look);
    mor_export_options export = { .most_bytes = 5e7, .rate = 240.0 };
    mor_export_report* reports = calloc((size_t)count + 1, sizeof *reports);
    mor_code code = reports ? mor_export_html(page, recordings, count, &export, reports, error)
                            : mor_fail(error, MOR_SYSTEM, "out of memory");
    free(reports);
    if (!code) code = mor_browser_open(b, address, error);
    if (!code) return b;
    mor_browser_stop(b);
    return NULL;
}

mor_code mor_picture_png(const char* path, mor_recording* const* recordings, int count,
                         const mor_picture_options* options, mor_error* error)
{
    mor_bytes png = { 0 };
    mor_browser* b = show(recordings, count, options, options->time < 0.0 ? 1e12 : options->time, error);
    mor_code code = b ? mor_browser_picture(b, &png, error) : MOR_SYSTEM;
    if (!code) code = mor_output_write(path, png.data, png.size, error);
    mor_bytes_free(&png);
    mor_browser_stop(b);
    return code;
}

/* ------------------------------------------------------------------------------------ films */

/* ffmpeg that reads PNG pictures from *wire and writes `path`; -1: it could not be started. */
static pid_t start_film(const char* program, const char* path, double rate, int* wire)
{
    int wires[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, wires) != 0) return -1;
    fcntl(wires[0], F_SETFD, FD_CLOEXEC);
    char number[32], file[4400];
    snprintf(number, sizeof number, "%.6g", rate);
    snprintf(file, sizeof file, "file:%s", path);
    /* even sizes and this arrangement of colours: what players expect of mp4 */
    const char* arguments[] = { program,    "-hide_banner", "-loglevel",  "error",      "-y",
                                "-f",       "image2pipe",   "-framerate", number,       "-c:v",
                                "png",      "-i",           "-",          "-vf",        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                "-pix_fmt", "yuv420p",      "-movflags",  "+faststart", file,
                                NULL };
    if (strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".gif") == 0) {
        arguments[14] = "split[a][b];[a]palettegen[p];[b][p]paletteuse";
        arguments[15] = file;
        arguments[16] = NULL;
    }
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(wires[1], 0);
        dup2(nowhere, 1);
        execvp(program, (char* const*)(void*)arguments);
        _exit(127);
    }
    close(wires[1]);
    *wire = wires[0];
    if (child < 0) close(wires[0]);
    return child;
}

static bool hand_over(int wire, const mor_bytes* bytes)
{
    for (size_t at = 0; at < bytes->size;) {
        ssize_t n = send(wire, bytes->data + at, bytes->size - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* Times of the first and last frame over all recordings. */
static mor_code span(mor_recording* const* recordings, int count, double* first, double* last, mor_error* error)
{
    *first = INFINITY;
    *last = -INFINITY;
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < count; i++) {
        int frames = mor_recording_get_info(recordings[i])->frames;
        double t[2];
        if (frames < 1) continue;
        code = mor_recording_rows(recordings[i], "/time", 0, 1, 1, &t[0], error);
        if (!code) code = mor_recording_rows(recordings[i], "/time", (size_t)frames - 1, 1, 1, &t[1], error);
        if (!code) *first = fmin(*first, t[0]), *last = fmax(*last, t[1]);
    }
    if (!code && !(*last >= *first))
        code = mor_fail(error, MOR_BAD_INPUT, "%s: no frames to show", mor_recording_get_info(recordings[0])->path);
    return code;
}

/* Where pictures go: ffmpeg, or an animated PNG. */
typedef struct film {
    const char *ffmpeg, *path;     /* ffmpeg NULL: animated PNG */
    char target[4200], part[4300]; /* where the file ends up, and where it is written */
    pid_t child;
    int wire;
    FILE* file;
    mor_apng apng;
} film;

static bool ends_with(const char* path, const char* ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

static mor_code film_open(film* f, int pictures, double rate, mor_error* error)
{
    f->child = -1;
    mor_code code = mor_output_target(f->path, f->target, sizeof f->target, error);
    if (code) return code;
    snprintf(f->part, sizeof f->part, "%s.%ld.part%s", f->target, (long)getpid(), strrchr(f->path, '.'));
    if (f->ffmpeg) {
        f->child = start_film(f->ffmpeg, f->part, rate, &f->wire);
        return f->child < 0 ? mor_fail(error, MOR_SYSTEM, "cannot start %s", f->ffmpeg) : MOR_OK;
    }
    f->file = fopen(f->part, "wbe");
    if (!f->file) return mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", f->path, strerror(errno));
    f->apng = mor_apng_begin(f->file, pictures, rate);
    return MOR_OK;
}

static mor_code film_add(film* f, const mor_bytes* png, mor_error* error)
{
    if (!f->ffmpeg) return mor_apng_add(&f->apng, png->data, png->size, error);
    if (hand_over(f->wire, png)) return MOR_OK;
    return mor_fail(error, MOR_SYSTEM, "ffmpeg cannot write %s; does it know this ending?", f->path);
}

/* Ends the film; on an earlier failure what was written is removed. */
static mor_code film_close(film* f, mor_code code, mor_error* error)
{
    int status = -1;
    if (f->child > 0) {
        close(f->wire);
        while (waitpid(f->child, &status, 0) < 0 && errno == EINTR) {}
        if (!code && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
            code = mor_fail(error, MOR_SYSTEM, "ffmpeg cannot write %s; does it know this ending?", f->path);
    }
    if (f->file) {
        if (!code) code = mor_apng_end(&f->apng, error);
        if (fclose(f->file) != 0 && !code)
            code = mor_fail(error, MOR_SYSTEM, "%s: cannot be written: %s", f->path, strerror(errno));
    }
    if (!code) code = mor_output_replace(f->part, f->target, f->path, error);
    if (code && f->part[0]) remove(f->part);
    return code;
}

/* The programs that are needed; ffmpeg only where the ending asks for it. */
static mor_code find_programs(const char* path, film* f, mor_error* error)
{
    const char *wish = getenv("MOREAU_FFMPEG"), *dot = strrchr(path, '.'), *chromium = mor_browser_program();
    const char* const names[] = { wish ? wish : "ffmpeg", NULL };
    if (!dot || strchr(dot, '/'))
        return mor_fail(error, MOR_BAD_INPUT,
                        "--video %s: give an ending that says the form: .mp4, .webm, .gif or .apng", path);
    bool own = ends_with(path, ".apng") || ends_with(path, ".png");
    const char* ffmpeg = own ? NULL : mor_find_program(names);
    *f = (film){ .ffmpeg = ffmpeg, .path = path };
    if (chromium && (own || ffmpeg)) return MOR_OK;
    bool encoder = !own && !ffmpeg;
    return mor_fail(error, MOR_SYSTEM,
                    "--video needs %s%s%s, and there is none; install it (apt install%s%s) or name one in %s. Without "
                    "it: %s%s",
                    chromium ? "" : "Chromium", chromium || !encoder ? "" : " and ", encoder ? "ffmpeg" : "",
                    chromium ? "" : " chromium", encoder ? " ffmpeg" : "",
                    encoder ? "MOREAU_FFMPEG" : "MOREAU_CHROMIUM", encoder && chromium ? "--video FILM.apng, " : "",
                    chromium ? "--html, --png" : "--html, whose page can save a film");
}

mor_code mor_picture_video(const char* path, mor_recording* const* recordings, int count, const mor_picture_options* o,
                           int* pictures, mor_error* error)
{
    film f;
    double first, last;
    mor_code code = find_programs(path, &f, error);
    if (!code) code = span(recordings, count, &first, &last, error);
    if (code) return code;
    double wanted = (last - first) / o->speed * o->rate + 1.0;
    if (!(wanted < MOST_PICTURES))
        return mor_fail(error, MOR_BAD_INPUT,
                        "--video: %.0f pictures are too many (at most %d); raise --speed or lower --fps", wanted,
                        MOST_PICTURES);
    int n = (int)floor(wanted + 1e-9);
    mor_browser* b = show(recordings, count, o, first, error);
    if (!b) return MOR_SYSTEM;
    code = film_open(&f, n, o->rate, error);
    mor_bytes png = { 0 };
    for (int i = 0; !code && i < n; i++) {
        char expression[128];
        snprintf(expression, sizeof expression, "window.moreau.seek(%.9g), window.moreau.settled()",
                 first + i * o->speed / o->rate);
        png.size = 0;
        code = mor_browser_evaluate(b, expression, error);
        if (!code) code = mor_browser_picture(b, &png, error);
        if (!code) code = film_add(&f, &png, error);
    }
    mor_bytes_free(&png);
    mor_browser_stop(b);
    code = film_close(&f, code, error);
    if (pictures) *pictures = code ? 0 : n;
    return code;
}
