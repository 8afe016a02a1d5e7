/* A stand-in for Chromium in tests/test_browser.c: reads commands of the devtools protocol from descriptor 3, answers
 * on 4, and misbehaves as $MOREAU_DOUBLE says ("KIND METHOD", "KIND" alone for all methods):
 *
 *     dies, garbage, refuses, mute   ends, answers with no JSON, with an error, with an error that gives no reason
 *     odd, quoted                    an empty answer; one whose texts have quotes
 *     noisy                          events between the answers, every byte apart
 *     throws, throws-mute            the page's expression fails, with and without a description
 *     nopng, nopixels, grows         pictures that are none, have no pixels, or change their size
 *     stubborn                       does not end when asked to
 *
 * Every command is written to $MOREAU_DOUBLE_LOG, a line each. The n-th picture is one grey pixel of brightness n. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char kind[32], whose[64];
static unsigned pictures;

static bool plan(const char* word, const char* method)
{
    return strcmp(kind, word) == 0 && (!whose[0] || strcmp(whose, method) == 0);
}

static void say(const char* text)
{
    static const char event[] = "{\"method\":\"Something.happened\",\"params\":{\"id\":1}}";
    size_t n = strlen(text) + 1;
    if (strcmp(kind, "noisy") != 0) {
        if (write(4, text, n) != (ssize_t)n) _exit(1);
        return;
    }
    if (write(4, event, sizeof event) < 0) _exit(1);
    for (size_t i = 0; i < n; i++)
        if (write(4, text + i, 1) != 1) _exit(1);
}

/* A chunk of PNG at `to`; returns its size. */
static size_t chunk(unsigned char* to, const char* type, const unsigned char* body, size_t n)
{
    memcpy(to + 4, type, 4);
    memcpy(to + 8, body, n);
    uint32_t words[2] = { (uint32_t)n, (uint32_t)crc32(0, to + 4, (uInt)n + 4) };
    for (int i = 0; i < 4; i++) {
        to[i] = (unsigned char)(words[0] >> (24 - 8 * i));
        to[8 + n + (size_t)i] = (unsigned char)(words[1] >> (24 - 8 * i));
    }
    return 12 + n;
}

static void take_picture(char* base64)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char png[256] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 }, head[13] = { 0, 0, 0, 1, 0, 0, 0, 1, 8 };
    unsigned char raw[2] = { 0, (unsigned char)pictures }, packed[64];
    uLongf length = sizeof packed;
    if (strcmp(kind, "grows") == 0) head[3] = (unsigned char)(1 + pictures);
    compress(packed, &length, raw, sizeof raw);
    size_t n = 8;
    n += chunk(png + n, "IHDR", head, sizeof head);
    if (strcmp(kind, "nopixels") != 0) n += chunk(png + n, "IDAT", packed, length);
    n += chunk(png + n, "IEND", head, 0);
    if (strcmp(kind, "nopng") == 0) png[1] = 'p';
    pictures++;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t word =
            (uint32_t)png[i] << 16 | (i + 1 < n ? (uint32_t)png[i + 1] << 8 : 0) | (i + 2 < n ? png[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) *base64++ = i + k > n ? '=' : digits[word >> (18 - 6 * k) & 63];
    }
    *base64 = '\0';
}

static void answer(int id, const char* method)
{
    char text[1024], picture[400] = "";
    const char* result = "\"x\":1";
    if (plan("dies", method)) _exit(1);
    if (plan("garbage", method)) {
        say("this is no JSON");
        return;
    }
    if (plan("refuses", method)) result = NULL;
    else if (plan("mute", method)) result = "";
    if (!result || !*result) {
        snprintf(text, sizeof text, "{\"id\":%d,\"error\":{%s}}", id, result ? "" : "\"message\":\"not today\"");
        say(text);
        return;
    }
    if (strcmp(method, "Target.createTarget") == 0)
        result = plan("quoted", method) ? "\"targetId\":\"a\\\"b\"" : "\"targetId\":\"page\"";
    if (strcmp(method, "Target.attachToTarget") == 0) result = "\"sessionId\":\"talk\"";
    if (strcmp(method, "Page.captureScreenshot") == 0) {
        strcpy(picture, "\"data\":\"");
        take_picture(picture + strlen(picture));
        strcat(picture, "\"");
        result = picture;
    }
    if (strcmp(method, "Runtime.evaluate") == 0 && strcmp(kind, "throws") == 0)
        result = "\"exceptionDetails\":{\"exception\":{\"description\":\"Error: no WebGL\"}}";
    if (strcmp(method, "Runtime.evaluate") == 0 && strcmp(kind, "throws-mute") == 0) result = "\"exceptionDetails\":{}";
    if (plan("odd", method)) result = "";
    snprintf(text, sizeof text, "{\"id\":%d,\"result\":{%s}}", id, result);
    say(text);
}

int main(void)
{
    const char *wish = getenv("MOREAU_DOUBLE"), *log_name = getenv("MOREAU_DOUBLE_LOG");
    if (wish) sscanf(wish, "%31s %63s", kind, whose);
    if (strcmp(kind, "stubborn") == 0) signal(SIGTERM, SIG_IGN);
    FILE *in = fdopen(3, "r"), *log = log_name ? fopen(log_name, "w") : NULL;
    char* line = NULL;
    size_t room = 0;
    while (in && getdelim(&line, &room, '\0', in) > 0) {
        int id = 0;
        char method[64] = "";
        if (log) fprintf(log, "%s\n", line), fflush(log);
        if (sscanf(line, "{\"id\":%d,\"method\":\"%63[^\"]", &id, method) != 2) return 1;
        answer(id, method);
    }
    if (strcmp(kind, "stubborn") == 0) pause();
    return 0;
}
