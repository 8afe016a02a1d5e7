/* moreau view: recordings and running scenes in the browser, and pages that open from disk. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "io/problem/problem_file.h"
#include "io/text/output.h"
#include "moreau/lab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/bands.h"
#include "serve/export.h"
#include "serve/picture.h"
#include "serve/problem_view.h"
#include "serve/server.h"

enum { MOST_FILES = 9 };

typedef struct arguments {
    const char *files[MOST_FILES], *html, *png, *video;
    int file_count, frame;
    mor_export_options export;
    mor_picture_options picture;
    mor_server_options server;
    mor_live_options live;
    mor_cli_sets sets;
    const char* bands[MOR_MOST_BANDS];
    int band_count;
} arguments;

/* ----------------------------------------------------------------------------------- options */

static int take_file(void* user, char* word)
{
    arguments* a = user;
    if (a->file_count == MOST_FILES) return mor_cli_usage("view", "more than %d recordings", MOST_FILES);
    a->files[a->file_count++] = word;
    return 0;
}

static int take_look(void* user, char* value)
{
    arguments* a = user;
    a->picture.look = a->export.look = value;
    return 0;
}

static int take_size(void* user, char* value)
{
    arguments* a = user;
    double x;
    if (!mor_cli_number(value, &x) || x < 1.0 || x > 1000.0)
        return mor_cli_usage("view", "--size %s: expected 1 to 1000 (MB)", value);
    a->export.most_bytes = 1e6 * x;
    return 0;
}

static int take_band(void* user, char* value)
{
    arguments* a = user;
    if (a->band_count == MOR_MOST_BANDS) return mor_cli_usage("view", "more than %d of --band", MOR_MOST_BANDS);
    a->bands[a->band_count++] = value;
    return 0;
}

static int take_pixels(void* user, char* value)
{
    mor_picture_options* p = &((arguments*)user)->picture;
    char rest;
    if (sscanf(value, "%dx%d%c", &p->width, &p->height, &rest) != 2 || p->width < 16 || p->height < 16 ||
        p->width > 8192 || p->height > 8192)
        return mor_cli_usage("view", "--pixels %s: expected WIDTHxHEIGHT, 16 to 8192 each", value);
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--port", "N", "which port (a free one)", MOR_CLI_WHOLE, AT(server.port), .min = 1, .max = 65535,
      .expected = "1 to 65535" },
    { "--listen", "ADDRESS", "other machines may look too: listen on this address; the printed address has a token",
      MOR_CLI_TEXT, AT(server.address) },
    { .name = "", .help = "files instead of a server:" },
    { "--html", "OUT.html", "one file with the recordings inside, opens from disk; -: standard output", MOR_CLI_TEXT,
      AT(html), .writes = true },
    { "--size", "MB", "largest size of that file; frames are left out until it fits (3)", MOR_CLI_CALL,
      .take = take_size },
    { "--rate", "N", "most frames per second of simulated time in that file (60)", MOR_CLI_NUMBER, AT(export.rate),
      .min = 0.01, .max = 1e6, .expected = "frames per second" },
    { "--png", "OUT.png", "a picture, drawn by Chromium if it is installed", MOR_CLI_TEXT, AT(png), .writes = true },
    { "--at", "T", "its time in seconds (the end)", MOR_CLI_NUMBER, AT(picture.time), .max = 1e9,
      .expected = "seconds" },
    { "--video", "OUT.mp4",
      "a film of the whole recording, drawn by Chromium; the ending chooses the form: .apng (animated PNG) needs "
      "nothing else, .mp4, .webm and .gif are written by ffmpeg",
      MOR_CLI_TEXT, AT(video), .writes = true },
    { "--fps", "N", "its pictures per second (30)", MOR_CLI_NUMBER, AT(picture.rate), .min = 1, .max = 240,
      .expected = "1 to 240 pictures per second" },
    { "--speed", "S", "its simulated seconds per second (1)", MOR_CLI_NUMBER, AT(picture.speed), .min = 1e-4,
      .max = 1e4, .expected = "simulated seconds per second" },
    { "--pixels", "WxH", "size of picture or film (1280x800)", MOR_CLI_CALL, .take = take_pixels },
    { "--look", "KEY=VALUE,...",
      "what page, picture and film show at first: contacts=1, forces=1, theme=light, layout=side, body=NAME, "
      "trails=all, boxes=1, ... (docs/viewer.md)",
      MOR_CLI_CALL, .take = take_look },
    { "--band", "KIND:NAME=SPREAD",
      "plots of bodies show how far they may be off when an input of the derivative is: friction:ice=0.02, "
      "mass:box=0.1 (up to eight, independent); the recorded scene is run again for it, with --set as the run had it",
      MOR_CLI_CALL, .take = take_band },
    { .name = "", .help = "stored problems (docs/bpmd.md):" },
    { "--frame", "K", "only the K-th frame, from 1 (all)", MOR_CLI_WHOLE, AT(frame), .min = 1, .max = 1e9,
      .expected = "the number of a frame" },
    { .name = "", .help = "scenes:" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--formulation", "F", "as in moreau run", MOR_CLI_SET, AT(sets), .key = "method.formulation.name" },
    { "--solver", "S", "as in moreau run", MOR_CLI_SET, AT(sets), .key = "method.solver.name" },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    { "--time", "T", "how long it runs for a page, picture or film, in seconds", MOR_CLI_SET, AT(sets),
      .key = "time.end" },
    { "--paused", NULL, "start paused", MOR_CLI_FLAG, AT(live.paused) },
    { "--wait", NULL, "every step is shown: the simulation waits for the browser", MOR_CLI_FLAG, AT(live.wait) },
    { "--threads", "N", "as in moreau run", MOR_CLI_WHOLE, AT(live.threads), .min = 1, .max = 256,
      .expected = "1 to 256" },
    { .name = "", .help = "always:" },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "view",
    .usage = "FILE.h5 [FILE2.h5 ...] [options]     recordings, or problems of BPMD files\n"
             "SCENE [options]                      a scene, running while you watch",
    .about = "Prints an address to open in a browser on this machine, and serves it until interrupted. Of several\n"
             "recordings the first is the subject; the others are laid over it as ghosts or shown beside it. With\n"
             "--html, --png or --video a scene is run to its end first, without a window.\n",
    .options = options,
    .operand = take_file,
};

/* Files are asked for instead of a server. */
static bool writes_files(const arguments* a) { return a->html || a->png || a->video; }

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

/* ---------------------------------------------------------------------------------- recordings */

static int export_html(const arguments* a, mor_recording* const* recordings)
{
    mor_error error = { 0 };
    mor_export_report reports[MOST_FILES];
    if (mor_export_html(a->html, recordings, a->file_count, &a->export, reports, &error)) return mor_cli_fail(&error);
    if (mor_output_is_standard(a->html)) return 0; /* where the page went */
    printf("%s: %.2f MB\n", a->html, reports[0].bytes / 1e6);
    for (int i = 0; i < a->file_count; i++)
        printf("  %s: %d of %d frames%s\n", a->files[i], reports[i].frames, reports[i].of_frames,
               reports[i].contacts || !mor_recording_get_info(recordings[i])->has_contacts ? "" : ", without contacts");
    if (reports[0].bytes > a->export.most_bytes)
        fprintf(stderr, "moreau: %s is larger than %g MB even with two frames per recording\n", a->html,
                a->export.most_bytes / 1e6);
    return 0;
}

/* 0, or 2 when no recording has the time of the picture. */
static int check_time(const arguments* a, mor_recording* const* recordings)
{
    mor_error error = { 0 };
    double last = 0.0;
    for (int i = 0; i < a->file_count; i++) {
        size_t frames = mor_recording_get_info(recordings[i])->frames;
        double t;
        if (frames == 0) continue;
        if (mor_recording_rows(recordings[i], "/time", frames - 1, 1, 1, &t, &error)) return mor_cli_fail(&error);
        if (t > last) last = t;
    }
    if (a->picture.time <= last * (1.0 + 1e-9) + 1e-9) return 0;
    return mor_cli_usage("view", "--at %g: the run ends at %g s", a->picture.time, last);
}

/* The inputs of --band, as numbers of the world. */
static int read_bands(const arguments* a, const mor_world* w, mor_band_inputs* of, char* label, size_t size)
{
    of->count = 0, of->label = label;
    label[0] = '\0';
    for (int i = 0; i < a->band_count; i++) {
        char name[256];
        const char* equals = strrchr(a->bands[i], '=');
        size_t length = equals ? (size_t)(equals - a->bands[i]) : 0, used = strlen(label);
        double* spread = &of->spreads[i];
        if (!equals || length >= sizeof name || !mor_cli_number(equals + 1, spread) || !(*spread > 0.0))
            return mor_cli_usage("view", "--band %s: expected KIND:NAME=SPREAD", a->bands[i]);
        memcpy(name, a->bands[i], length);
        name[length] = '\0';
        int status = mor_cli_read_input("view", w, name, &of->inputs[of->count++]);
        if (status) return status;
        snprintf(label + used, size - used, "%s%.80s off by %g", i ? ", " : "", name, *spread);
    }
    return 0;
}

/* Runs the scene of a recording again, with derivatives. */
static int add_bands(const arguments* a, const mor_scene* scene, mor_recording* r)
{
    mor_error error = { 0 };
    mor_band_inputs of;
    char label[1024];
    int rough = 0;
    mor_world* w = mor_scene_build(scene, 1, &error);
    int status = w ? read_bands(a, w, &of, label, sizeof label) : mor_cli_fail(&error);
    if (!status && mor_bands_make(w, r, &of, &rough, &error)) status = mor_cli_fail(&error);
    if (!status && rough)
        fprintf(stderr, "moreau: %d steps have no derivative; the band knows nothing of what they do\n", rough);
    mor_world_destroy(w);
    return status;
}

/* The same with the scene that is in the recording. */
static int add_recorded_bands(const arguments* a, mor_recording* r)
{
    mor_error error = { 0 };
    const char* text = mor_recording_scene_text(r, &error);
    if (!text) return mor_cli_fail(&error);
    if (!text[0]) return mor_cli_usage("view", "--band: %s has no scene in it", a->files[0]);
    mor_scene* scene = mor_scene_parse(text, strlen(text), a->files[0], a->sets.items, mor_cli_library(), &error);
    int status = scene ? add_bands(a, scene, r) : mor_cli_fail(&error);
    mor_scene_destroy(scene);
    return status;
}

/* Page, picture, film: what was asked for. */
static int write_files(const arguments* a, mor_recording* const* recordings)
{
    mor_error error = { 0 };
    int code = a->png ? check_time(a, recordings) : 0;
    if (!code && a->html) code = export_html(a, recordings);
    if (!code && a->png && mor_picture_png(a->png, recordings, a->file_count, &a->picture, &error))
        code = mor_cli_fail(&error);
    int pictures;
    if (!code && a->video) {
        if (mor_picture_video(a->video, recordings, a->file_count, &a->picture, &pictures, &error))
            code = mor_cli_fail(&error);
        else printf("%s: %d pictures, %.2f s\n", a->video, pictures, pictures / a->picture.rate);
    }
    return code;
}

static int view_recordings(const arguments* a)
{
    mor_error error = { 0 };
    mor_recording* recordings[MOST_FILES] = { 0 };
    int code = 0;
    for (int i = 0; !code && i < a->file_count; i++) {
        int left_out;
        recordings[i] = mor_view_open(a->files[i], a->frame, mor_cli_library(), &left_out, &error);
        if (!recordings[i]) code = mor_cli_fail(&error);
        else if (left_out)
            fprintf(stderr, "moreau: %s: %d frames have other bodies than the first and are not shown\n", a->files[i],
                    left_out);
    }
    if (!code && a->band_count) code = add_recorded_bands(a, recordings[0]);
    if (!code) code = writes_files(a) ? write_files(a, recordings) : serve(a, recordings, a->file_count, NULL);
    for (int i = 0; i < a->file_count; i++) mor_recording_close(recordings[i]);
    return code;
}

/* --------------------------------------------------------------------------------------- scenes */

/* Runs a scene to its end into a recording. 0, or the exit status. */
static int record_scene(mor_scene* scene, int threads, const char* path)
{
    mor_error error = { 0 };
    int code = 0;
    mor_world* world = mor_scene_build(scene, threads, &error);
    mor_recorder* recorder = world ? mor_recorder_open(path, world, scene, &error) : NULL;
    if (!recorder || mor_world_add_observer(world, mor_recorder_observe, recorder, &error)) code = mor_cli_fail(&error);
    mor_run* run = code ? NULL : mor_run_create(world, 1000, &error);
    if (!code && !run) code = mor_cli_fail(&error);
    mor_cli_catch_signals(0.0);
    double end = mor_scene_end(scene);
    while (!code && !mor_world_reached(world, end)) {
        if (mor_world_get_adaptive(world, NULL)) mor_world_limit_step(world, end);
        if (mor_run_step(run, NULL, &error)) code = mor_cli_fail(&error);
        if (!code && mor_run_stopped(run)) {
            fprintf(stderr, "moreau: the run stops at t = %g s: `moreau run` tells why\n", mor_world_time(world));
            break; /* what is written shows how far it came */
        }
        if (!code && mor_recorder_state(recorder, &error)) code = mor_cli_fail(&error);
        if (!code && mor_cli_signal()) code = mor_cli_signal_status(mor_cli_signal());
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    mor_run_destroy(run);
    if (recorder && mor_recorder_close(recorder, &error) && !code) code = mor_cli_fail(&error);
    mor_world_destroy(world);
    return code;
}

/* Page, picture and film of a scene: of a recording that is gone when the command ends. */
static int write_scene(const arguments* a, mor_scene* scene)
{
    mor_error error = { 0 };
    const char* place = getenv("TMPDIR");
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s/moreau-view-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder)) {
        mor_fail(&error, MOR_SYSTEM, "%.400s: %s", folder, strerror(errno));
        return mor_cli_fail(&error);
    }
    snprintf(path, sizeof path, "%s/run.h5", folder);
    int code = record_scene(scene, a->live.threads, path);
    mor_recording* recording = code ? NULL : mor_recording_open(path, &error);
    if (!code && !recording) code = mor_cli_fail(&error);
    unlink(path); /* stays readable until it is closed */
    rmdir(folder);
    if (!code && a->band_count) code = add_bands(a, scene, recording);
    if (!code) code = write_files(a, &recording);
    mor_recording_close(recording);
    return code;
}

static int view_scene(const arguments* a)
{
    mor_error error = { 0 };
    char path[4096];
    if (a->file_count > 1) return mor_cli_usage("view", "one scene at a time");
    if (a->band_count && !writes_files(a))
        return mor_cli_usage("view", "--band needs a recording or --html: a scene that runs has no end yet");
    mor_scene* scene =
        mor_scene_load(mor_cli_scene_path(a->files[0], path, sizeof path), a->sets.items, mor_cli_library(), &error);
    if (!scene) return mor_cli_no_scene(a->files[0], &error);
    int code = 0;
    if (writes_files(a)) {
        code = write_scene(a, scene);
    } else {
        mor_live* live = mor_live_create(scene, &a->live, &error);
        code = live ? serve(a, NULL, 0, live) : mor_cli_fail(&error);
        mor_live_destroy(live);
    }
    mor_scene_destroy(scene);
    return code;
}

/* By what is in it, else by its name. */
static bool is_recording(const char* path)
{
    if (mor_is_hdf5(path)) return true;
    const char* dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

int mor_cli_view(int argc, char** argv)
{
    arguments a = { .export = mor_export_options_default(),
                    .picture = mor_picture_options_default(),
                    .live = { .threads = 1 } };
    int code = mor_cli_parse(&command, argc, argv, &a);
    if (code) return code;
    if (a.file_count == 0) return mor_cli_usage("view", "which recording or scene?");
    return is_recording(a.files[0]) ? view_recordings(&a) : view_scene(&a);
}
