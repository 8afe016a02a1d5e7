/* Pictures, see picture.h: the recordings are exported to a page in a temporary directory, which
 * Chromium draws with its software renderer and photographs. No shell takes part; the directory is
 * removed afterwards. The browser is the first of $MOREAU_CHROMIUM, chromium, chromium-browser,
 * google-chrome and chrome that can be started. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "serve/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve/export.h"

#define PATIENCE 120.0 /* s for the browser */

mor_picture_options mor_picture_options_default(void) { return (mor_picture_options){ .time = -1.0, .width = 1280, .height = 800 }; }

/* The end of the page's address. */
static void make_fragment(char* out, size_t size, const mor_picture_options* o)
{
    char look[400] = "";
    if (o->look) mor_look_encode(look, sizeof look, o->look);
    snprintf(out, size, "ui=0&t=%.9g&%s", o->time < 0.0 ? 1e30 : o->time, look);
}

static bool finished(pid_t child, double seconds, int* status)
{
    double end = mor_clock() + seconds;
    while (mor_clock() < end) {
        pid_t p = waitpid(child, status, WNOHANG);
        if (p == child) return true;
        if (p < 0 && errno != EINTR) return false;
        nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    }
    kill(-child, SIGKILL);
    waitpid(child, status, 0);
    return false;
}

/* 127 when the program is not there. */
static int photograph(const char* browser, const char* directory, const char* address, const char* picture, int width, int height)
{
    char profile[600], shot[700], window[64];
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", directory);
    snprintf(shot, sizeof shot, "--screenshot=%s", picture);
    snprintf(window, sizeof window, "--window-size=%d,%d", width, height);
    const char* arguments[] = { browser, "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
                                "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking",
                                "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1",
                                "--virtual-time-budget=20000", "--run-all-compositor-stages-before-draw", window, profile, shot, address, NULL };
    pid_t child = fork();
    if (child < 0) return 126;
    if (child == 0) {
        setpgid(0, 0);
        int nowhere = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++) dup2(nowhere, i);
        execvp(browser, (char* const*)(void*)arguments);
        _exit(127);
    }
    int status = 0;
    if (!finished(child, PATIENCE, &status)) return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* What the browser and we left there. */
static void remove_tree(const char* path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static mor_code copy_file(const char* from, const char* to, mor_error* error)
{
    char part[4096], block[65536];
    snprintf(part, sizeof part, "%s.%ld.part", to, (long)getpid());
    FILE *in = fopen(from, "rb"), *out = in ? fopen(part, "wb") : NULL;
    bool good = in && out;
    for (size_t n; good && (n = fread(block, 1, sizeof block, in)) > 0;) good = fwrite(block, 1, n, out) == n;
    if (in) fclose(in);
    if (out) good = fclose(out) == 0 && good;
    if (good) good = rename(part, to) == 0;
    if (!good && out) remove(part);
    return good ? MOR_OK : mor_fail(error, MOR_SYSTEM, "cannot write %s", to);
}

mor_code mor_picture_png(const char* path, mor_recording* const* recordings, int count, const mor_picture_options* options,
                         mor_error* error)
{
    const char* temporary = getenv("TMPDIR");
    char directory[512], page[600], picture[600], fragment[512], address[1300];
    snprintf(directory, sizeof directory, "%s/moreau-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(directory)) return mor_fail(error, MOR_SYSTEM, "cannot make a directory like %s", directory);
    snprintf(page, sizeof page, "%s/page.html", directory);
    snprintf(picture, sizeof picture, "%s/picture.png", directory);
    make_fragment(fragment, sizeof fragment, options);
    snprintf(address, sizeof address, "file://%s#%s", page, fragment);
    mor_export_options export = { .most_bytes = 5e7, .rate = 240.0, .plain = true };
    mor_export_report* reports = calloc((size_t)count + 1, sizeof *reports);
    mor_code code = reports ? mor_export_html(page, recordings, count, &export, reports, error) : mor_fail(error, MOR_SYSTEM, "out of memory");
    free(reports);
    const char* browsers[] = { getenv("MOREAU_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome" };
    int status = 127;
    for (size_t i = 0; !code && status == 127 && i < sizeof browsers / sizeof *browsers; i++)
        if (browsers[i] && *browsers[i]) status = photograph(browsers[i], directory, address, picture, options->width, options->height);
    if (!code && status == 127)
        code = mor_fail(error, MOR_SYSTEM, "--png needs Chromium, and there is none; install it (apt install chromium) or name one in MOREAU_CHROMIUM");
    else if (!code && (status != 0 || access(picture, R_OK) != 0))
        code = mor_fail(error, MOR_SYSTEM, "Chromium could not draw the picture (status %d)", status);
    if (!code) code = copy_file(picture, path, error);
    remove_tree(directory);
    return code;
}
