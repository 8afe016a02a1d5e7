/* moreau view: recordings and running scenes in the browser, and pages that open from disk. */
#include "cli/cli.h"
#include "cli/lab/commands.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/export.h"
#include "serve/picture.h"
#include "serve/server.h"

static const char help_text[] =
    "usage: moreau view FILE.h5 [FILE2.h5 ...] [options]     recordings\n"
    "       moreau view SCENE [options]                      a scene, running while you watch\n\n"
    "Prints an address to open in a browser on this machine, and serves it until interrupted. Of several recordings "
    "the\n"
    "first is the subject; the others are laid over it as ghosts or shown beside it.\n\n"
    "  --port N             which port (a free one)\n"
    "  --listen ADDRESS     other machines may look too: listen on this address; the printed address has a token\n"
    "recordings:\n"
    "  --html OUT.html      no server: one file with the recordings inside, opens from disk\n"
    "  --size MB            largest size of that file; frames are left out until it fits (3)\n"
    "  --rate N             most frames per second of simulated time in that file (60)\n"
    "  --png OUT.png        a picture, drawn by Chromium if it is installed\n"
    "  --at T               its time in seconds (the end)\n"
    "  --video OUT.mp4      a film of the whole recording, drawn by Chromium and written by ffmpeg if they are "
    "installed; the\n"
    "                       ending chooses the form: .mp4, .webm, .gif\n"
    "  --fps N              its pictures per second (30)\n"
    "  --speed S            its simulated seconds per second (1)\n"
    "  --pixels WxH         size of picture or film (1280x800)\n"
    "  --look KEY=VALUE,... what page, picture and film show at first: contacts=1, forces=1, theme=light, layout=side, "
    "body=NAME,\n"
    "                       trails=all, boxes=1, ... (docs/viewer.md)\n"
    "scenes:\n"
    "  --set KEY=VALUE      any value of the scene, as in moreau run; --formulation F, --solver S, --step H\n"
    "  --paused             start paused\n"
    "  --wait               every step is shown: the simulation waits for the browser\n"
    "  --threads N          as in moreau run\n";

enum { MOST_FILES = 9, MOST_SETS = 256 };

typedef struct arguments {
    const char *files[MOST_FILES], *html, *png, *video;
    int file_count;
    mor_export_options export;
    mor_picture_options picture;
    mor_server_options server;
    mor_live_options live;
    const char* sets[MOST_SETS + 1];
    char storage[8][256];
    int set_count, stored;
    bool help;
} arguments;

static bool number(const char* text, double low, double high, double* value)
{
    char* end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

static int add_set(arguments* a, const char* key, const char* value)
{
    if (a->set_count == MOST_SETS || a->stored == 8) return mor_cli_usage("view", "too many options");
    snprintf(a->storage[a->stored], sizeof a->storage[0], "%s=%s", key, value);
    a->sets[a->set_count++] = a->storage[a->stored++];
    return 0;
}

/* An option with a value. */
static int take(arguments* a, const char* option, const char* value)
{
    double x = 0.0;
    if (strcmp(option, "--html") == 0) a->html = value;
    else if (strcmp(option, "--png") == 0) a->png = value;
    else if (strcmp(option, "--video") == 0) a->video = value;
    else if (strcmp(option, "--look") == 0) a->picture.look = a->export.look = value;
    else if (strcmp(option, "--listen") == 0) a->server.address = value;
    else if (strcmp(option, "--formulation") == 0) return add_set(a, "method.formulation.name", value);
    else if (strcmp(option, "--solver") == 0) return add_set(a, "method.solver.name", value);
    else if (strcmp(option, "--step") == 0) return add_set(a, "time.step", value);
    else if (strcmp(option, "--set") == 0) {
        if (!strchr(value, '=')) return mor_cli_usage("view", "--set %s: expected KEY=VALUE", value);
        if (a->set_count == MOST_SETS) return mor_cli_usage("view", "too many --set");
        a->sets[a->set_count++] = value;
    } else if (strcmp(option, "--size") == 0) {
        if (!number(value, 1.0, 1000.0, &x)) return mor_cli_usage("view", "--size %s: expected 1 to 1000 (MB)", value);
        a->export.most_bytes = 1e6 * x;
    } else if (strcmp(option, "--rate") == 0) {
        if (!number(value, 0.01, 1e6, &x)) return mor_cli_usage("view", "--rate %s: expected frames per second", value);
        a->export.rate = x;
    } else if (strcmp(option, "--fps") == 0) {
        if (!number(value, 1.0, 240.0, &x))
            return mor_cli_usage("view", "--fps %s: expected 1 to 240 pictures per second", value);
        a->picture.rate = x;
    } else if (strcmp(option, "--speed") == 0) {
        if (!number(value, 1e-4, 1e4, &x))
            return mor_cli_usage("view", "--speed %s: expected simulated seconds per second", value);
        a->picture.speed = x;
    } else if (strcmp(option, "--at") == 0) {
        if (!number(value, 0.0, 1e9, &x)) return mor_cli_usage("view", "--at %s: expected seconds", value);
        a->picture.time = x;
    } else if (strcmp(option, "--pixels") == 0) {
        char rest;
        if (sscanf(value, "%dx%d%c", &a->picture.width, &a->picture.height, &rest) != 2 || a->picture.width < 16 ||
            a->picture.height < 16 || a->picture.width > 8192 || a->picture.height > 8192)
            return mor_cli_usage("view", "--pixels %s: expected WIDTHxHEIGHT, 16 to 8192 each", value);
    } else if (strcmp(option, "--port") == 0) {
        if (!number(value, 1.0, 65535.0, &x) || x != floor(x))
            return mor_cli_usage("view", "--port %s: expected 1 to 65535", value);
        a->server.port = (int)x;
    } else {
        if (!number(value, 1.0, 256.0, &x) || x != floor(x))
            return mor_cli_usage("view", "--threads %s: expected 1 to 256", value);
        a->live.threads = (int)x;
    }
    return 0;
}

static int parse(int argc, char** argv, arguments* a)
{
    static const char* known[] = { "--html",   "--size", "--rate",    "--png",    "--video",  "--fps",  "--speed",
                                   "--at",     "--look", "--pixels",  "--port",   "--listen", "--set",  "--formulation",
                                   "--solver", "--step", "--threads", "--paused", "--wait",   "--help", NULL };
    *a = (arguments){ .export = mor_export_options_default(),
                      .picture = mor_picture_options_default(),
                      .live = { .threads = 1 } };
    for (int i = 1; i < argc; i++) {
        const char* word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            a->help = true;
            return 0;
        }
        if (word[0] != '-') {
            if (a->file_count == MOST_FILES) return mor_cli_usage("view", "more than %d recordings", MOST_FILES);
            a->files[a->file_count++] = word;
            continue;
        }
        bool is_known = false;
        for (int k = 0; known[k]; k++) is_known = is_known || strcmp(known[k], word) == 0;
        if (!is_known) {
            const char* near = mor_did_you_mean(word, known);
            return near ? mor_cli_usage("view", "unknown option '%s', did you mean '%s'?", word, near)
                        : mor_cli_usage("view", "unknown option '%s'", word);
        }
        if (strcmp(word, "--paused") == 0) a->live.paused = true;
        else if (strcmp(word, "--wait") == 0) a->live.wait = true;
        else if (++i == argc) return mor_cli_usage("view", "%s needs a value", word);
        else {
            int code = take(a, word, argv[i]);
            if (code) return code;
        }
    }
    if (a->file_count == 0) return mor_cli_usage("view", "which recording or scene?");
    return 0;
}

/* ---------------------------------------------------------------------------------- serving */

static mor_server* serving;

static void interrupt(int signal)
{
    (void)signal;
    if (serving) mor_server_stop(serving);
}

static int serve(const arguments* a, mor_recording* const* recordings, int count, mor_live* live)
{
    mor_error error = { 0 };
    mor_server* server = mor_server_create(&a->server, recordings, count, live, &error);
    if (!server) return mor_cli_fail(&error);
    serving = server;
    struct sigaction action = { .sa_handler = interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    printf("%s\n", mor_server_url(server));
    fflush(stdout);
    fprintf(stderr, "open this address in a browser; Ctrl-C ends\n");
    mor_server_run(server);
    serving = NULL;
    mor_server_destroy(server);
    return 0;
}

static int view_scene(const arguments* a)
{
    mor_error error = { 0 };
    char path[4096];
    if (a->file_count > 1) return mor_cli_usage("view", "one scene at a time");
    if (a->html || a->png || a->video)
        return mor_cli_usage("view", "%s needs a recording: moreau run %s --record FILE.h5",
                             a->html  ? "--html"
                             : a->png ? "--png"
                                      : "--video",
                             a->files[0]);
    mor_scene* scene = mor_scene_load(mor_cli_scene_path(a->files[0], path, sizeof path), a->sets, NULL, &error);
    if (!scene) return mor_cli_fail(&error);
    mor_live* live = mor_live_create(scene, &a->live, &error);
    int code = live ? serve(a, NULL, 0, live) : mor_cli_fail(&error);
    mor_live_destroy(live);
    mor_scene_destroy(scene);
    return code;
}

/* ---------------------------------------------------------------------------------- recordings */

static int export_html(const arguments* a, mor_recording* const* recordings)
{
    mor_error error = { 0 };
    mor_export_report reports[MOST_FILES];
    if (mor_export_html(a->html, recordings, a->file_count, &a->export, reports, &error)) return mor_cli_fail(&error);
    printf("%s: %.2f MB\n", a->html, reports[0].bytes / 1e6);
    for (int i = 0; i < a->file_count; i++)
        printf("  %s: %d of %d frames%s\n", a->files[i], reports[i].frames, reports[i].of_frames,
               reports[i].contacts || !mor_recording_get_info(recordings[i])->has_contacts ? "" : ", without contacts");
    if (reports[0].bytes > a->export.most_bytes)
        fprintf(stderr, "moreau: %s is larger than %g MB even with two frames per recording\n", a->html,
                a->export.most_bytes / 1e6);
    return 0;
}

static int view_recordings(const arguments* a)
{
    mor_error error = { 0 };
    mor_recording* recordings[MOST_FILES] = { 0 };
    int code = 0;
    for (int i = 0; !code && i < a->file_count; i++) {
        recordings[i] = mor_recording_open(a->files[i], &error);
        if (!recordings[i]) code = mor_cli_fail(&error);
    }
    if (!code && a->html) code = export_html(a, recordings);
    if (!code && a->png && mor_picture_png(a->png, recordings, a->file_count, &a->picture, &error))
        code = mor_cli_fail(&error);
    int pictures;
    if (!code && a->video) {
        if (mor_picture_video(a->video, recordings, a->file_count, &a->picture, &pictures, &error))
            code = mor_cli_fail(&error);
        else printf("%s: %d pictures, %.2f s\n", a->video, pictures, pictures / a->picture.rate);
    }
    if (!code && !a->html && !a->png && !a->video) code = serve(a, recordings, a->file_count, NULL);
    for (int i = 0; i < a->file_count; i++) mor_recording_close(recordings[i]);
    return code;
}

/* By what is in it, else by its name. */
static bool is_recording(const char* path)
{
    static const unsigned char signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    unsigned char head[8];
    FILE* file = fopen(path, "rb");
    if (file) {
        bool is = fread(head, 1, 8, file) == 8 && memcmp(head, signature, 8) == 0;
        fclose(file);
        if (is) return true;
    }
    const char* dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

int mor_cli_view(int argc, char** argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    if (a.help) {
        fputs(help_text, stdout);
        return 0;
    }
    return is_recording(a.files[0]) ? view_recordings(&a) : view_scene(&a);
}
