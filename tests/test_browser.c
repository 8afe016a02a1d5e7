/* Pictures and films (serve/picture.h, browser.h, apng.h) with a stand-in for Chromium that answers as the test says
 * (tests/doubles/chromium.c) and one for ffmpeg: what is asked of them, what becomes of their answers, and that every
 * failure is told and leaves nothing. What a true Chromium draws is tested in viewer/tests. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "moreau/lab.h"
#include "serve/apng.h"
#include "serve/browser.h"
#include "serve/picture.h"

enum { FRAMES = 11 };

static char folder[64], temporary[80], log_path[80];
static mor_recording* recording;

static const char* at(const char* name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof *path, "%s/%s", folder, name);
    return path[next];
}

static void script(const char* name, const char* text)
{
    FILE* f = fopen(at(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(at(name), 0755);
}

static int open_all(void** state)
{
    (void)state;
    static const char text[] = "moreau: 1\ntime: { step: 0.01, end: 0.1 }\nbodies:\n"
                               "  - { name: ball, shape: { sphere: 0.5 } }\n";
    mor_error error = { 0 };
    snprintf(folder, sizeof folder, "/tmp/moreau-test-browser-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    mkdir(temporary, 0755);
    setenv("TMPDIR", temporary, 1);
    setenv("MOREAU_CHROMIUM", MOREAU_CHROMIUM_DOUBLE, 1);
    setenv("MOREAU_DOUBLE_LOG", log_path, 1);
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    mor_world* world = mor_scene_build(scene, 1, &error);
    mor_recorder* recorder = mor_recorder_open(at("run.h5"), world, scene, &error);
    if (!recorder) return -1;
    mor_world_add_observer(world, mor_recorder_observe, recorder, &error);
    for (int i = 1; i < FRAMES; i++) mor_world_step(world, NULL, &error);
    mor_recorder_close(recorder, &error);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    script("ffmpeg",
           "#!/bin/sh\nfor a; do f=$a; done\necho \"$@\" > \"$(dirname \"$0\")/said\"\ncat > \"${f#file:}\"\n");
    script("ffmpeg-fails", "#!/bin/sh\ncat > /dev/null\nexit 1\n");
    script("ffmpeg-leaves", "#!/bin/sh\nexit 1\n");
    recording = mor_recording_open(at("run.h5"), &error);
    return recording ? 0 : -1;
}

static int close_all(void** state)
{
    (void)state;
    mor_recording_close(recording);
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    unsetenv("TMPDIR");
    unsetenv("MOREAU_CHROMIUM");
    unsetenv("MOREAU_FFMPEG");
    return system(line);
}

static int entries(const char* path)
{
    int n = 0;
    DIR* d = opendir(path);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n - 2;
}

/* A file with a zero behind it. */
static unsigned char* slurp(const char* path, size_t* size)
{
    static unsigned char data[1 << 20];
    FILE* f = fopen(path, "rb");
    *size = 0;
    if (!f) return NULL;
    *size = fread(data, 1, sizeof data - 1, f);
    data[*size] = 0;
    fclose(f);
    return data;
}

static bool was_asked(const char* text)
{
    size_t size;
    unsigned char* log = slurp(log_path, &size);
    return log && strstr((char*)log, text);
}

/* The grey pixel of the compressed data of a picture. */
static int pixel(const unsigned char* data, size_t size)
{
    unsigned char raw[2] = { 9, 9 };
    uLongf length = sizeof raw;
    assert_int_equal(uncompress(raw, &length, data, size), Z_OK);
    assert_int_equal(raw[0], 0);
    return raw[1];
}

static uint32_t word(const unsigned char* p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---------------------------------------------------------------------------------------- pictures */

static void a_picture_is_what_the_browser_drew_of_the_time_asked_for(void** state)
{
    (void)state;
    static const char* const moods[] = { "", "noisy" };
    for (int k = 0; k < 2; k++) {
        setenv("MOREAU_DOUBLE", moods[k], 1);
        mor_error error = { 0 };
        mor_picture_options o = mor_picture_options_default();
        o.time = 0.05;
        o.width = 321;
        o.look = "contacts=1,theme=light";
        if (mor_picture_png(at("a.png"), &recording, 1, &o, &error)) fail_msg("%s", error.text);
        size_t size;
        unsigned char* png = slurp(at("a.png"), &size);
        assert_non_null(png);
        assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
        assert_int_equal(size, 8 + 25 + 12 + word(png + 33) + 12);
        assert_int_equal(pixel(png + 41, word(png + 33)), 0); /* the first one */
        assert_true(was_asked("\"width\":321,\"height\":800"));
        assert_true(was_asked("/page.html#ui=0&t=0.050000000&"));
        assert_true(was_asked("contacts=1"));
        assert_true(was_asked("\"sessionId\":\"talk\""));
        assert_int_equal(entries(temporary), 0);
        remove(at("a.png"));
    }
}

static void every_failure_of_the_browser_is_told_and_leaves_nothing(void** state)
{
    (void)state;
    static const struct {
        const char *mood, *says;
    } bad[] = {
        { "dies Target.createTarget", "Chromium ended or does not answer" },
        { "dies Page.navigate", "Chromium ended or does not answer" },
        { "dies Page.captureScreenshot", "Chromium ended or does not answer" },
        { "garbage Target.createTarget", "answer of Chromium" },
        { "garbage Page.captureScreenshot", "answer of Chromium" },
        { "refuses Target.attachToTarget", "Chromium refused Target.attachToTarget: not today" },
        { "refuses Emulation.setDeviceMetricsOverride",
          "Chromium refused Emulation.setDeviceMetricsOverride: not today" },
        { "mute Page.navigate", "Chromium refused Page.navigate: no reason given" },
        { "odd Target.createTarget", "Chromium answered Target.createTarget with something unknown" },
        { "quoted Target.createTarget", "Chromium answered Target.createTarget with something unknown" },
        { "odd Page.captureScreenshot", "Chromium made no picture" },
        { "throws", "the viewer's page failed: Error: no WebGL" },
        { "throws-mute", "the viewer's page failed: no reason given" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("MOREAU_DOUBLE", bad[i].mood, 1);
        mor_error error = { 0 };
        mor_picture_options o = mor_picture_options_default();
        mor_code code = mor_picture_png(at("a.png"), &recording, 1, &o, &error);
        if (code != MOR_SYSTEM || !strstr(error.text, bad[i].says))
            fail_msg("%s: %d %s", bad[i].mood, code, error.text);
        assert_int_not_equal(access(at("a.png"), F_OK), 0);
        assert_int_equal(entries(temporary), 0);
    }
}

static void a_browser_that_does_not_end_is_ended(void** state)
{
    (void)state;
    setenv("MOREAU_DOUBLE", "stubborn", 1);
    mor_error error = { 0 };
    mor_browser* b = mor_browser_start(100, 100, &error);
    if (!b) fail_msg("%s", error.text);
    double begin = mor_clock();
    mor_browser_stop(b);
    assert_true(mor_clock() - begin >= 5.0); /* it was asked first */
    assert_int_equal(entries(temporary), 0);
}

static void what_cannot_be_quoted_is_refused(void** state)
{
    (void)state;
    setenv("MOREAU_DOUBLE", "", 1);
    mor_error error = { 0 };
    mor_browser* b = mor_browser_start(100, 100, &error);
    if (!b) fail_msg("%s", error.text);
    char large[2000];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    assert_int_equal(mor_browser_evaluate(b, "a\nb", &error), MOR_BAD_INPUT);
    assert_int_equal(mor_browser_evaluate(b, large, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_browser_open(b, large, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_browser_evaluate(b, "f(\"a\\b\")", &error), MOR_OK);
    assert_true(was_asked("\"expression\":\"f(\\\"a\\\\b\\\")\""));
    mor_browser_stop(b);
}

static void a_missing_browser_is_told(void** state)
{
    (void)state;
    char* path = strdup(getenv("PATH"));
    mor_error error = { 0 };
    mor_picture_options o = mor_picture_options_default();
    setenv("PATH", folder, 1);
    setenv("MOREAU_CHROMIUM", at("nothing"), 1);
    mor_code picture = mor_picture_png(at("a.png"), &recording, 1, &o, &error);
    bool told = strstr(error.text, "pictures need Chromium") != NULL;
    mor_code film = mor_picture_video(at("a.mp4"), &recording, 1, &o, NULL, &error);
    bool film_told = strstr(error.text, "--video needs Chromium, and there is none") != NULL;
    remove(at("ffmpeg"));
    mor_code both = mor_picture_video(at("a.mp4"), &recording, 1, &o, NULL, &error);
    bool both_told = strstr(error.text, "--video needs Chromium and ffmpeg") != NULL;
    setenv("MOREAU_CHROMIUM", MOREAU_CHROMIUM_DOUBLE, 1);
    mor_code encoder = mor_picture_video(at("a.mp4"), &recording, 1, &o, NULL, &error);
    bool encoder_told = strstr(error.text, "--video needs ffmpeg") && strstr(error.text, "--video FILM.apng");
    setenv("PATH", path, 1);
    free(path);
    script("ffmpeg",
           "#!/bin/sh\nfor a; do f=$a; done\necho \"$@\" > \"$(dirname \"$0\")/said\"\ncat > \"${f#file:}\"\n");
    assert_int_equal(picture, MOR_SYSTEM);
    assert_int_equal(film, MOR_SYSTEM);
    assert_int_equal(both, MOR_SYSTEM);
    assert_int_equal(encoder, MOR_SYSTEM);
    assert_true(told && film_told && both_told && encoder_told);
}

/* ---------------------------------------------------------------------------------------- films */

static mor_picture_options slow_motion(void)
{
    mor_picture_options o = mor_picture_options_default();
    o.rate = 10.0; /* 0.1 s at a tenth of the speed, ten pictures a second: one per frame */
    o.speed = 0.1;
    return o;
}

/* The PNG standard, third edition, section 11.3.6: numbers of fcTL and fdAT run on. */
static void an_animated_png_has_every_frame_in_order(void** state)
{
    (void)state;
    setenv("MOREAU_DOUBLE", "", 1);
    mor_error error = { 0 };
    mor_picture_options o = slow_motion();
    int pictures = 0;
    if (mor_picture_video(at("film.apng"), &recording, 1, &o, &pictures, &error)) fail_msg("%s", error.text);
    assert_int_equal(pictures, FRAMES);
    size_t size;
    unsigned char* png = slurp(at("film.apng"), &size);
    uint32_t sequence = 0, controls = 0, shown = 0;
    bool ended = false;
    for (size_t k = 8; k < size;) {
        uint32_t n = word(png + k);
        const unsigned char *type = png + k + 4, *body = type + 4;
        assert_false(ended);
        assert_int_equal(word(body + n), (uint32_t)crc32(0, type, n + 4));
        if (memcmp(type, "acTL", 4) == 0) {
            assert_int_equal(word(body), FRAMES);
            assert_int_equal(word(body + 4), 1); /* shown once */
        } else if (memcmp(type, "fcTL", 4) == 0) {
            assert_int_equal(word(body), sequence++);
            assert_int_equal(word(body + 4), 1);
            assert_int_equal(body[20] << 8 | body[21], 100); /* 100 of 1000 s */
            assert_int_equal(body[22] << 8 | body[23], 1000);
            controls++;
        } else if (memcmp(type, "IDAT", 4) == 0) {
            assert_int_equal(pixel(body, n), shown++);
        } else if (memcmp(type, "fdAT", 4) == 0) {
            assert_int_equal(word(body), sequence++);
            assert_int_equal(pixel(body + 4, n - 4), shown++);
        } else {
            ended = memcmp(type, "IEND", 4) == 0;
        }
        k += 12 + n;
    }
    assert_int_equal(controls, FRAMES);
    assert_int_equal(shown, FRAMES);
    assert_true(ended);
    for (int i = 0; i < FRAMES; i++) { /* every frame was asked for at its time */
        char text[64];
        snprintf(text, sizeof text, "moreau.seek(%.9g)", i * 0.01);
        assert_true(was_asked(text));
    }
    assert_int_equal(entries(temporary), 0);
}

static void films_go_through_the_encoder(void** state)
{
    (void)state;
    static const char* const names[] = { "film.mp4", "film.gif" };
    static const char* const filters[] = { "-pix_fmt yuv420p", "palettegen" };
    setenv("MOREAU_DOUBLE", "", 1);
    setenv("MOREAU_FFMPEG", at("ffmpeg"), 1);
    for (int k = 0; k < 2; k++) {
        mor_error error = { 0 };
        mor_picture_options o = slow_motion();
        int pictures = 0;
        if (mor_picture_video(at(names[k]), &recording, 1, &o, &pictures, &error)) fail_msg("%s", error.text);
        assert_int_equal(pictures, FRAMES);
        size_t size, count = 0;
        unsigned char* all = slurp(at(names[k]), &size); /* the double stores what it is given: whole pictures */
        for (size_t i = 0; i + 8 <= size; i++) count += memcmp(all + i, "\x89PNG\r\n\x1a\n", 8) == 0;
        assert_int_equal(count, FRAMES);
        char* said = (char*)slurp(at("said"), &size);
        assert_non_null(strstr(said, "-framerate 10 "));
        assert_non_null(strstr(said, filters[k]));
    }
}

static void films_that_fail_are_told_and_leave_nothing(void** state)
{
    (void)state;
    static const struct {
        const char *mood, *encoder, *name, *says;
        mor_code code;
    } bad[] = {
        { "", "ffmpeg-fails", "b.mp4", "does it know this ending?", MOR_SYSTEM },
        { "", "ffmpeg-leaves", "b.mp4", "does it know this ending?", MOR_SYSTEM },
        { "nopng", "ffmpeg", "b.apng", "a picture is no PNG", MOR_BAD_INPUT },
        { "nopixels", "ffmpeg", "b.apng", "a picture has no pixels", MOR_BAD_INPUT },
        { "grows", "ffmpeg", "b.apng", "different sizes", MOR_BAD_INPUT },
        { "dies Page.captureScreenshot", "ffmpeg", "b.apng", "Chromium ended", MOR_SYSTEM },
        { "dies Page.navigate", "ffmpeg", "b.mp4", "Chromium ended", MOR_SYSTEM },
        { "", "ffmpeg", "nowhere/b.apng", "cannot be written", MOR_SYSTEM },
        { "", "ffmpeg", "b", "give an ending", MOR_BAD_INPUT },
        { "", "ffmpeg", "b.d/film", "give an ending", MOR_BAD_INPUT },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("MOREAU_DOUBLE", bad[i].mood, 1);
        setenv("MOREAU_FFMPEG", at(bad[i].encoder), 1);
        int before = entries(folder), pictures = 7;
        mor_error error = { 0 };
        mor_picture_options o = slow_motion();
        mor_code code = mor_picture_video(at(bad[i].name), &recording, 1, &o, &pictures, &error);
        if (code != bad[i].code || !strstr(error.text, bad[i].says))
            fail_msg("%s %s: %d %s", bad[i].mood, bad[i].name, code, error.text);
        assert_int_equal(entries(folder), before);
        assert_int_equal(entries(temporary), 0);
    }
    mor_error error = { 0 };
    mor_picture_options o = slow_motion();
    o.rate = 1e7;
    setenv("MOREAU_DOUBLE", "", 1);
    assert_int_equal(mor_picture_video(at("b.apng"), &recording, 1, &o, NULL, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "pictures are too many (at most 100000)"));
}

/* A film on a full disk, at every byte of it; pictures that end in the middle. */
static void a_film_that_cannot_be_written_is_told(void** state)
{
    (void)state;
    static unsigned char png[] = { 137, 'P', 'N', 'G', 13, 10,  26,  10,  0,   0, 0, 13, 'I', 'H', 'D', 'R',
                                   0,   0,   0,   1,   0,  0,   0,   1,   8,   0, 0, 0,  0,   1,   2,   3,
                                   4,   0,   0,   0,   2,  'I', 'D', 'A', 'T', 7, 8, 1,  2,   3,   4 };
    for (size_t room = 1; room < 200; room++) {
        unsigned char space[200];
        FILE* file = fmemopen(space, room, "w");
        mor_error error = { 0 };
        assert_non_null(file);
        setvbuf(file, NULL, _IONBF, 0);
        mor_apng film = mor_apng_begin(file, 1, 1.0 / 100.0);
        assert_int_equal(film.delay, 60000); /* the longest there is */
        mor_code code = mor_apng_add(&film, png, sizeof png, &error);
        if (!code) code = mor_apng_end(&film, &error);
        /* signature, IHDR 25, acTL 20, fcTL 38, IDAT 14, IEND 12 */
        assert_int_equal(code, room >= 8 + 25 + 20 + 38 + 14 + 12 ? MOR_OK : MOR_SYSTEM);
        fclose(file);
    }
    assert_int_equal(mor_apng_begin(NULL, 1, 1e6).delay, 1);
    FILE* nowhere = fopen("/dev/null", "w");
    mor_error error = { 0 };
    mor_apng film = mor_apng_begin(nowhere, 2, 10.0);
    assert_int_equal(mor_apng_add(&film, png, 5, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_apng_add(&film, png, 40, &error), MOR_BAD_INPUT); /* it ends inside its pixels */
    assert_int_equal(mor_apng_add(&film, png, sizeof png, &error), MOR_OK);
    assert_int_equal(mor_apng_end(&film, &error), MOR_SYSTEM); /* two were announced */
    fclose(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_what_the_browser_drew_of_the_time_asked_for),
        cmocka_unit_test(every_failure_of_the_browser_is_told_and_leaves_nothing),
        cmocka_unit_test(a_browser_that_does_not_end_is_ended),
        cmocka_unit_test(what_cannot_be_quoted_is_refused),
        cmocka_unit_test(a_missing_browser_is_told),
        cmocka_unit_test(an_animated_png_has_every_frame_in_order),
        cmocka_unit_test(films_go_through_the_encoder),
        cmocka_unit_test(a_film_that_cannot_be_written_is_told),
        cmocka_unit_test(films_that_fail_are_told_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
