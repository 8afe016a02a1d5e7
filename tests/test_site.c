/* The server of `moreau dataset serve` (serve/site.h) from outside: the files of its folder, and nothing else. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/peer.h"
#include "serve/site.h"

enum { LARGE = 3000000 };

static char folder[64], token[64], name[64];
static mor_site* site;
static pthread_t thread;
static int port;

static void put(const char* file, const char* text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

static void* serve(void* user)
{
    mor_site_run(user);
    return NULL;
}

static void start(const char* address)
{
    mor_error error = { 0 };
    site = mor_site_create(folder, address, 0, &error);
    if (!site) fail_msg("%s", error.text);
    if (sscanf(mor_site_url(site), "http://%*[0-9.]:%d/%63[0-9a-f]/", &port, token) != 2)
        fail_msg("%s", mor_site_url(site));
    snprintf(name, sizeof name, "127.0.0.1:%d", port);
    assert_int_equal(pthread_create(&thread, NULL, serve, site), 0);
}

static void stop(void)
{
    mor_site_stop(site);
    pthread_join(thread, NULL);
    mor_site_destroy(site);
}

static char* large_text(void)
{
    static char text[LARGE];
    for (size_t i = 0; i < LARGE; i++) text[i] = (char)('a' + i * i % 23);
    return text;
}

static int open_all(void** state)
{
    (void)state;
    char path[256];
    snprintf(folder, sizeof folder, "/tmp/moreau-test-site-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    static const char* const folders[] = { "a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e" };
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        mkdir(path, 0755);
    }
    put("index.html", "<p>all</p>", 10);
    put("a/one.dat", "1 2 3\n", 6);
    put("a/b/read.m", "x = 1;\n", 7);
    put("a/b/c/d/deep.bin", "deep", 4);
    put("a/b/c/d/e/deeper.bin", "too deep", 8);
    put(".hidden", "secret", 6);
    put("noending", "plain", 5);
    put("large.h5", large_text(), LARGE);
    for (int i = 0; i < 100; i++) { /* more than a list begins with */
        char file[32];
        snprintf(file, sizeof file, "a/b/%03d.dat", i);
        put(file, file, strlen(file));
    }
    snprintf(path, sizeof path, "%s/link.dat", folder);
    if (symlink("/etc/passwd", path) != 0) return -1;
    start(NULL);
    return 0;
}

static int close_all(void** state)
{
    (void)state;
    stop();
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

static int get(const char* file, peer_answer* a)
{
    char path[512];
    snprintf(path, sizeof path, "/%s/%s", token, file);
    return peer_ask(port, "GET", path, name, "Connection: close\r\n", a);
}

static void files_come_as_they_are_with_their_kind(void** state)
{
    (void)state;
    static const struct {
        const char *file, *kind, *text;
    } files[] = {
        { "", "text/html; charset=utf-8", "<p>all</p>" },
        { "index.html", "text/html; charset=utf-8", "<p>all</p>" },
        { "a/one.dat", "text/plain; charset=utf-8", "1 2 3\n" },
        { "a/b/read.m", "text/plain; charset=utf-8", "x = 1;\n" },
        { "a/b/042.dat", "text/plain; charset=utf-8", "a/b/042.dat" },
        { "a/b/c/d/deep.bin", "application/octet-stream", "deep" },
        { "noending", "application/octet-stream", "plain" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        peer_answer a;
        if (get(files[i].file, &a) != 200) fail_msg("%s: %d", files[i].file, a.status);
        assert_string_equal((char*)a.body, files[i].text);
        if (!strstr(a.head, files[i].kind)) fail_msg("%s", a.head);
        assert_non_null(strstr(a.head, "x-content-type-options: nosniff\r\n"));
        assert_non_null(strstr(a.head, "referrer-policy: no-referrer\r\n"));
        peer_free(&a);
    }
    peer_answer a;
    assert_int_equal(get("large.h5", &a), 200);
    assert_int_equal(a.size, LARGE);
    assert_memory_equal(a.body, large_text(), LARGE);
    peer_free(&a);
}

static void what_is_not_in_the_folder_is_not_here(void** state)
{
    (void)state;
    static const char* const files[] = {
        "nothing",       ".hidden",        "link.dat",    "a",          "a/", "a/b/c/d/e/deeper.bin",
        "../index.html", "a/../index.htm", "/etc/passwd", "index.html/"
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        peer_answer a;
        if (get(files[i], &a) == 200) fail_msg("%s is here", files[i]);
        assert_null(strstr((char*)a.body, "root:"));
        assert_null(strstr((char*)a.body, "secret"));
        peer_free(&a);
    }
}

static void nobody_is_answered_without_token_and_name(void** state)
{
    (void)state;
    char paths[5][256];
    snprintf(paths[0], 256, "/");
    snprintf(paths[1], 256, "/index.html");
    snprintf(paths[2], 256, "/%.31s%c/", token, token[31] == '0' ? '1' : '0');
    snprintf(paths[3], 256, "/%s0/", token);
    snprintf(paths[4], 256, "/%s", token);
    peer_answer a;
    for (int i = 0; i < 5; i++) {
        if (peer_ask(port, "GET", paths[i], name, "Connection: close\r\n", &a) != 404)
            fail_msg("%s: %d", paths[i], a.status);
        peer_free(&a);
    }
    snprintf(paths[0], 256, "/%s/", token);
    assert_int_equal(peer_ask(port, "GET", paths[0], "evil.example", "Connection: close\r\n", &a), 403);
    peer_free(&a);
    assert_int_equal(peer_ask(port, "POST", paths[0], name, "Content-Length: 0\r\n", &a), 405);
    peer_free(&a);
    assert_true(peer_watch(port, paths[0], name, "", &a) < 0);
    peer_free(&a);
    assert_true(peer_watch(port, paths[0], name, "Sec-WebSocket-Protocol: http\r\n", &a) < 0);
    peer_free(&a);
    assert_int_equal(get("", &a), 200);
    peer_free(&a);
}

static void what_cannot_be_served_is_told(void** state)
{
    (void)state;
    mor_error error = { 0 };
    assert_null(mor_site_create("/tmp/moreau-no-such-folder", NULL, 0, &error));
    assert_non_null(strstr(error.text, "/tmp/moreau-no-such-folder: cannot be listed"));
    error = (mor_error){ 0 };
    assert_null(mor_site_create(folder, NULL, port, &error));
    assert_non_null(strstr(error.text, "cannot listen on 127.0.0.1, port"));
}

static void on_all_addresses_the_token_is_enough(void** state)
{
    (void)state;
    stop();
    start("0.0.0.0");
    peer_answer a;
    char path[128];
    snprintf(path, sizeof path, "/%s/", token);
    assert_int_equal(peer_ask(port, "GET", path, "my.machine:99", "Connection: close\r\n", &a), 200);
    assert_string_equal((char*)a.body, "<p>all</p>");
    peer_free(&a);
    assert_int_equal(peer_ask(port, "GET", "/", "my.machine:99", "Connection: close\r\n", &a), 404);
    peer_free(&a);
}

static void there_is_a_server(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_site* s = mor_site_create("/tmp", NULL, 0, &error);
    if (!s && strstr(error.text, "libwebsockets")) {
        puts("SKIP no libwebsockets, no server");
        skip();
    }
    if (!s) fail_msg("%s", error.text);
    mor_site_destroy(s);
}

int main(void)
{
    const struct CMUnitTest first[] = { cmocka_unit_test(there_is_a_server) };
    mor_error error = { 0 };
    mor_site* s = mor_site_create("/tmp", NULL, 0, &error);
    mor_site_destroy(s);
    if (!s) return cmocka_run_group_tests(first, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_as_they_are_with_their_kind),
        cmocka_unit_test(what_is_not_in_the_folder_is_not_here),
        cmocka_unit_test(nobody_is_answered_without_token_and_name),
        cmocka_unit_test(what_cannot_be_served_is_told),
        cmocka_unit_test(on_all_addresses_the_token_is_enough),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
