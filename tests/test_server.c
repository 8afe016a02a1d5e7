/* The viewer's server from outside (serve/server.h): who is let in, what is answered, and a running scene over a
 * websocket. Expected bytes come from the functions that make them, expected motion from closed forms, the handshake
 * from RFC 6455. The page itself is tested in a browser: viewer/tests. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/peer.h"
#include "common/shown.h"
#include "moreau/lab.h"
#include "serve/export.h"
#include "serve/server.h"

/* A server in a thread of its own. */
typedef struct host {
    mor_scene* scene;
    mor_recording* recording;
    mor_live* live;
    mor_server* server;
    pthread_t thread;
    int port;
    char token[64], name[64];
} host;

static host shown, running;

static void* serve(void* user)
{
    mor_server_run(user);
    return NULL;
}

static void start(host* h, const char* address)
{
    mor_error error = { 0 };
    h->server =
        mor_server_create(&(mor_server_options){ .address = address }, &h->recording, h->live ? 0 : 1, h->live, &error);
    if (!h->server) fail_msg("%s", error.text);
    if (sscanf(mor_server_url(h->server), "http://%*[0-9.]:%d/?token=%63s", &h->port, h->token) != 2)
        fail_msg("%s", mor_server_url(h->server));
    snprintf(h->name, sizeof h->name, "127.0.0.1:%d", h->port);
    assert_int_equal(pthread_create(&h->thread, NULL, serve, h->server), 0);
}

static void stop(host* h)
{
    mor_server_stop(h->server);
    pthread_join(h->thread, NULL);
    mor_server_destroy(h->server);
    mor_live_destroy(h->live);
    mor_recording_close(h->recording);
    mor_scene_destroy(h->scene);
    *h = (host){ 0 };
}

static void start_live(host* h, const char* text, bool wait)
{
    mor_error error = { 0 };
    h->scene = shown_parse(text);
    h->live = mor_live_create(h->scene, &(mor_live_options){ .threads = 1, .paused = true, .wait = wait }, &error);
    if (!h->live) fail_msg("%s", error.text);
    start(h, NULL);
}

static int open_all(void** state)
{
    (void)state;
    mor_error error = { 0 };
    char path[] = "/tmp/moreau-test-server-XXXXXX";
    int file = mkstemp(path);
    shown.scene = shown_parse(shown_text);
    if (file < 0 || !shown_record(shown.scene, path)) return -1;
    close(file);
    shown.recording = mor_recording_open(path, &error);
    remove(path); /* it stays open */
    if (!shown.recording) return -1;
    start(&shown, NULL);
    start_live(&running, shown_text, false);
    return 0;
}

static int close_all(void** state)
{
    (void)state;
    stop(&shown);
    stop(&running);
    return 0;
}

/* PATH?token=...&REST of a server, with its own name; returns the status. */
static int get(const host* h, const char* path, const char* rest, peer_answer* answer)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s?token=%s%s%s", path, h->token, *rest ? "&" : "", rest);
    return peer_ask(h->port, "GET", whole, h->name, "", answer);
}

/* ------------------------------------------------------------------------------- who may ask */

static void the_page_comes_whole_with_headers_that_shut_others_out(void** state)
{
    (void)state;
    peer_answer a;
    assert_int_equal(get(&shown, "/", "", &a), 200);
    assert_int_equal(a.size, mor_viewer_page_size);
    assert_memory_equal(a.body, mor_viewer_page, a.size);
    static const char* const headers[] = { "content-type: text/html; charset=utf-8\r\n",
                                           "x-content-type-options: nosniff\r\n",
                                           "x-frame-options: DENY\r\n",
                                           "cache-control: no-store\r\n",
                                           "cross-origin-resource-policy: same-origin\r\n",
                                           "referrer-policy: no-referrer\r\n",
                                           "connection: close\r\n",
                                           "default-src 'none'",
                                           "; frame-ancestors 'none'\r\n" };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (!strstr(a.head, headers[i])) fail_msg("no '%s' in\n%s", headers[i], a.head);
    peer_free(&a);
}

static void nobody_is_answered_without_the_token(void** state)
{
    (void)state;
    static const char* const paths[] = { "/", "/api/info", "/api/0/description", "/nothing" };
    char wrong[5][256], other[64];
    snprintf(other, sizeof other, "%s", shown.token);
    other[31] = other[31] == '0' ? '1' : '0';
    for (int i = 0; i < 4; i++) {
        snprintf(wrong[0], 256, "%s", paths[i]);
        snprintf(wrong[1], 256, "%s?token=", paths[i]);
        snprintf(wrong[2], 256, "%s?token=%s", paths[i], other);
        snprintf(wrong[3], 256, "%s?token=%s0", paths[i], shown.token);
        snprintf(wrong[4], 256, "%s?token=%.31s", paths[i], shown.token);
        for (int k = 0; k < 5; k++) {
            peer_answer a;
            if (peer_ask(shown.port, "GET", wrong[k], shown.name, "", &a) != 403)
                fail_msg("%s: %d", wrong[k], a.status);
            assert_string_equal((char*)a.body, "not allowed\n");
            peer_free(&a);
        }
    }
}

static void a_request_must_name_this_server(void** state)
{
    (void)state;
    char path[256], name[64];
    peer_answer a;
    snprintf(path, sizeof path, "/api/info?token=%s", shown.token);
    snprintf(name, sizeof name, "localhost:%d", shown.port);
    assert_int_equal(peer_ask(shown.port, "GET", path, name, "", &a), 200);
    peer_free(&a);
    static const char* const names[] = { "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "" };
    for (int i = 0; i < 5; i++) {
        if (peer_ask(shown.port, "GET", path, names[i], "", &a) == 200) fail_msg("'%s' is let in", names[i]);
        peer_free(&a);
    }
    assert_int_not_equal(peer_ask(shown.port, "GET", path, NULL, "", &a), 200);
    peer_free(&a);
}

/* On all addresses of the machine names are not known; the token still is needed. */
static void a_server_for_other_machines_asks_for_the_token_only(void** state)
{
    (void)state;
    host h = { 0 };
    h.scene = shown_parse(shown_text);
    mor_error error = { 0 };
    h.live = mor_live_create(h.scene, &(mor_live_options){ .threads = 1, .paused = true }, &error);
    start(&h, "0.0.0.0");
    char path[256];
    peer_answer a;
    snprintf(path, sizeof path, "/api/info?token=%s", h.token);
    assert_int_equal(peer_ask(h.port, "GET", path, "my.machine:99", "", &a), 200);
    assert_string_equal((char*)a.body, "{\"live\": true, \"recordings\": 0}\n");
    peer_free(&a);
    assert_int_equal(peer_ask(h.port, "GET", "/api/info", "my.machine:99", "", &a), 403);
    peer_free(&a);
    stop(&h);
}

static void other_methods_are_refused(void** state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "/api/info?token=%s", shown.token);
    peer_answer a;
    assert_int_equal(peer_ask(shown.port, "POST", path, shown.name, "Content-Length: 0\r\n", &a), 405);
    peer_free(&a);
    assert_int_not_equal(peer_ask(shown.port, "DELETE", path, shown.name, "", &a), 200);
    peer_free(&a);
}

static void a_port_that_is_taken_and_a_foreign_address_are_told(void** state)
{
    (void)state;
    mor_error error = { 0 };
    assert_null(mor_server_create(&(mor_server_options){ .port = shown.port }, &shown.recording, 1, NULL, &error));
    assert_non_null(strstr(error.text, "cannot listen on 127.0.0.1, port"));
    error = (mor_error){ 0 };
    /* 192.0.2.0/24 is kept for documentation (RFC 5737) */
    assert_null(mor_server_create(&(mor_server_options){ .address = "192.0.2.1" }, &shown.recording, 1, NULL, &error));
    assert_non_null(strstr(error.text, "not an address of this machine"));
}

/* ------------------------------------------------------------------------------- recordings */

static void a_recording_is_answered_as_it_is(void** state)
{
    (void)state;
    peer_answer a;
    mor_error error = { 0 };
    mor_bytes b = { 0 };
    assert_int_equal(get(&shown, "/api/info", "", &a), 200);
    assert_string_equal((char*)a.body, "{\"live\": false, \"recordings\": 1}\n");
    peer_free(&a);

    char* text = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&text, &length);
    assert_int_equal(mor_view_describe_recording(memory, shown.recording, &error), MOR_OK);
    fclose(memory);
    assert_int_equal(get(&shown, "/api/0/description", "", &a), 200);
    assert_non_null(strstr(a.head, "content-type: application/json\r\n"));
    assert_int_equal(a.size, length);
    assert_memory_equal(a.body, text, length);
    peer_free(&a);
    free(text);

    assert_int_equal(mor_view_series(&b, shown.recording, 20000, &error), MOR_OK);
    assert_int_equal(get(&shown, "/api/0/series", "", &a), 200);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.body, b.data, b.size);
    peer_free(&a);

    b.size = 0;
    assert_int_equal(mor_view_body(&b, shown.recording, 2, 4000, &error), MOR_OK);
    if (get(&shown, "/api/0/body", "number=2", &a) != 200) fail_msg("%s", (char*)a.body);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.body, b.data, b.size);
    peer_free(&a);
    mor_bytes_free(&b);
}

/* Step number and height of a body in a message of frames; all frames have `contacts` contacts. */
static void look(const unsigned char* message, int k, int contacts, int body, int* step, double* z)
{
    const unsigned char* frame = message + 16;
    uint32_t bodies, found;
    memcpy(&bodies, message + 8, 4);
    for (int i = 0;; i++) {
        memcpy(step, frame + 8, 4);
        memcpy(&found, frame + 12, 4);
        if (i == k) break;
        frame += 16 + 4 * MOR_VIEW_SCALARS + bodies * 52 + found * sizeof(mor_view_contact);
    }
    if (contacts >= 0) assert_int_equal(found, contacts);
    float value;
    memcpy(&value, frame + 16 + 4 * MOR_VIEW_SCALARS + 28 * (size_t)body + 8, 4);
    *z = value;
}

/* semi-implicit free fall: z = z0 - g h^2 n (n + 1)/2 */
static double fallen(int n, double g) { return 20.0 - g * 1e-4 * n * (n + 1) / 2; }

static void frames_are_read_by_ranges(void** state)
{
    (void)state;
    peer_answer a;
    assert_int_equal(get(&shown, "/api/0/frames", "first=40&count=11", &a), 200);
    assert_memory_equal(a.body, "MORF", 4);
    for (int i = 0; i < 11; i++) {
        int step;
        double z;
        look(a.body, i, 1, 2, &step, &z);
        assert_int_equal(step, 40 + i);
        assert_float_equal(z, fallen(step, 10.0), 1e-5);
    }
    peer_free(&a);
}

static void requests_that_make_no_sense_get_a_sentence(void** state)
{
    (void)state;
    static const struct {
        const char *path, *rest, *says;
        int status;
    } asked[] = {
        { "/api/0/frames", "", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=0", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=51&count=1", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=50&count=2", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=0&count=0", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=-1&count=1", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=0x1&count=1", "frames 0 to 50 are there", 400 },
        { "/api/0/frames", "first=99999999999&count=1", "frames 0 to 50 are there", 400 },
        { "/api/0/body", "", "no such body", 400 },
        { "/api/0/body", "number=3", "no such body", 400 },
        { "/api/0/body", "number=", "no such body", 400 },
        { "/api/1/series", "", "not here", 404 },
        { "/api/0/nothing", "", "not here", 404 },
        { "/api/0/series/more", "", "not here", 404 },
        { "/api/0", "", "not here", 404 },
        { "/api/-1/series", "", "not here", 404 },
        { "/etc/passwd", "", "not here", 404 },
        { "/../../etc/passwd", "", "not here", 404 },
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        peer_answer a;
        int status = get(&shown, asked[i].path, asked[i].rest, &a);
        if (status != asked[i].status || !strstr((char*)a.body, asked[i].says))
            fail_msg("%s %s: %d %s", asked[i].path, asked[i].rest, status, (char*)a.body);
        assert_non_null(strstr(a.head, "content-type: text/plain; charset=utf-8\r\n"));
        peer_free(&a);
    }
}

/* Requests that never end, and one larger than a server should take, hold nobody up. */
static void half_requests_hold_nobody_up(void** state)
{
    (void)state;
    int wires[20];
    static char large[40000];
    for (int i = 0; i < 20; i++) {
        wires[i] = peer_connect(shown.port);
        peer_send_bytes(wires[i], "GET / HTTP/1.1\r\nHost: 127.", (size_t)(1 + i));
    }
    memset(large, 'a', sizeof large);
    memcpy(large, "GET /", 5);
    int wire = peer_connect(shown.port);
    peer_send_bytes(wire, large, sizeof large);
    peer_answer a;
    peer_hear(wire, &a);
    assert_int_not_equal(a.status, 200);
    peer_free(&a);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(get(&shown, "/api/info", "", &a), 200);
        peer_free(&a);
    }
    for (int i = 0; i < 20; i++) close(wires[i]);
    assert_int_equal(get(&shown, "/api/info", "", &a), 200);
    peer_free(&a);
}

/* ------------------------------------------------------------------------------- a running scene */

static int watch(const host* h, const char* headers, peer_answer* answer)
{
    char path[256];
    snprintf(path, sizeof path, "/live?token=%s", h->token);
    return peer_watch(h->port, path, h->name, headers, answer);
}

#define PROTOCOL "Sec-WebSocket-Protocol: moreau-live\r\n"

static int watch_well(const host* h)
{
    peer_answer a;
    int wire = watch(h, PROTOCOL, &a);
    if (wire < 0) fail_msg("no websocket: %s", a.head);
    peer_free(&a);
    return wire;
}

static void the_handshake_is_that_of_the_standard(void** state)
{
    (void)state;
    char origin[200];
    peer_answer a;
    snprintf(origin, sizeof origin, PROTOCOL "Origin: http://%s\r\n", running.name);
    int wire = watch(&running, origin, &a);
    assert_int_equal(a.status, 101);
    assert_non_null(strstr(a.head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")); /* RFC 6455, section 1.3 */
    assert_non_null(strstr(a.head, "moreau-live\r\n"));
    peer_free(&a);
    peer_message m = { 0 };
    assert_int_equal(peer_receive(wire, &m), PEER_TEXT); /* description, state, frame */
    assert_non_null(strstr((char*)m.data, "\"bodies\""));
    assert_int_equal(peer_receive(wire, &m), PEER_TEXT);
    assert_non_null(strstr((char*)m.data, "\"running\": false"));
    assert_true(peer_wait(wire, &m, PEER_BINARY, NULL));
    assert_memory_equal(m.data, "MORF", 4);
    close(wire);
    free(m.data);
}

static void websockets_of_strangers_are_refused(void** state)
{
    (void)state;
    static const char* const headers[] = { "", "Sec-WebSocket-Protocol: other\r\n",
                                           PROTOCOL "Origin: http://evil.example\r\n", PROTOCOL "Origin: null\r\n" };
    peer_answer a;
    for (int i = 0; i < 4; i++) {
        if (watch(&running, headers[i], &a) >= 0) fail_msg("let in: %s", headers[i]);
        peer_free(&a);
    }
    assert_true(peer_watch(running.port, "/live", running.name, PROTOCOL, &a) < 0); /* no token */
    peer_free(&a);
    char path[256];
    snprintf(path, sizeof path, "/live?token=%s", running.token);
    assert_true(peer_watch(running.port, path, "evil.example", PROTOCOL, &a) < 0);
    peer_free(&a);
    assert_true(watch(&shown, PROTOCOL, &a) < 0); /* nothing runs there */
    peer_free(&a);
}

/* The next frame that shows this step. */
static void wait_for_step(int wire, peer_message* m, int wanted, int body, double* z)
{
    int step = -1;
    while (step != wanted) {
        if (!peer_wait(wire, m, PEER_BINARY, NULL)) fail_msg("no frame of step %d", wanted);
        look(m->data, 0, -1, body, &step, z);
        if (step > wanted + 1000) fail_msg("step %d, and %d was wanted", step, wanted);
    }
}

static void commands_are_obeyed_whole_or_in_pieces(void** state)
{
    (void)state;
    peer_message m = { 0 };
    double z;
    int wire = watch_well(&running);
    peer_say(wire, "original");
    for (int i = 1; i <= 3; i++) {
        peer_say(wire, "step");
        wait_for_step(wire, &m, i, 2, &z);
        assert_float_equal(z, fallen(i, 10.0), 1e-5);
    }
    peer_send(wire, PEER_TEXT, false, "solv", 4);
    peer_send(wire, PEER_PING, true, "are you there?", 14); /* may come between pieces */
    peer_send(wire, PEER_PIECE, false, "er p", 4);
    peer_send(wire, PEER_PIECE, true, "gs", 2);
    assert_true(peer_wait(wire, &m, PEER_PONG, "are you there?"));
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"solver\": \"pgs\""));
    char longest[256];
    memset(longest, ' ', sizeof longest);
    memcpy(longest, "gravity 2", 9);
    peer_send(wire, PEER_TEXT, true, longest, 255);
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"gravity\": 2,"));
    char long_one[3000];
    memset(long_one, ' ', sizeof long_one);
    memcpy(long_one, "gravity 3", 9);
    peer_send(wire, PEER_TEXT, true, long_one, sizeof long_one); /* ignored; so is one with an end inside */
    peer_send(wire, PEER_TEXT, false, long_one, 200);
    peer_send(wire, PEER_PIECE, true, long_one, 200);
    peer_send(wire, PEER_TEXT, true, "gravity 4\0", 10);
    peer_send(wire, PEER_TEXT, true, "", 0);
    peer_say(wire, "solver lemke");
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"solver\": \"lemke\""));
    assert_non_null(strstr((char*)m.data, "\"gravity\": 2,"));
    peer_say(wire, "original");
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"gravity\": 10,"));
    close(wire);
    free(m.data);
}

static void frames_that_break_the_protocol_end_the_connection(void** state)
{
    (void)state;
    static const struct {
        const char* bytes;
        size_t size;
    } bad[] = {
        { "\x83\x80\1\2\3\4", 6 },                                  /* a kind that does not exist */
        { "\xf1\x80\1\2\3\4", 6 },                                  /* bits kept for extensions */
        { "\x80\x80\1\2\3\4", 6 },                                  /* a piece of nothing */
        { "\x09\x80\1\2\3\4", 6 },                                  /* a ping in pieces */
        { "\x89\xfe\x01\x00\1\2\3\4", 8 },                          /* a ping of 256 bytes */
        { "\x82\x83\1\2\3\4sto", 9 },                               /* binary */
        { "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2\3\4", 14 }, /* 2^64 - 1 bytes */
        { "\x88\x80\1\2\3\4", 6 },                                  /* a goodbye */
        { "\x88\x82\0\0\0\0\x03\xe8", 8 },                          /* a goodbye with a reason */
    };
    peer_message m = { 0 };
    int steady = watch_well(&running);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int wire = watch_well(&running);
        assert_true(peer_wait(wire, &m, PEER_TEXT, NULL));
        peer_send_bytes(wire, bad[i].bytes, bad[i].size);
        int k = 0;
        while (peer_receive(wire, &m) >= 0 && m.kind != PEER_CLOSE && k < 1000) k++;
        if (k == 1000) fail_msg("%zu: it goes on", i);
        close(wire);
    }
    peer_say(steady, "gravity 7");
    assert_true(peer_wait(steady, &m, PEER_TEXT, "\"gravity\": 7,"));
    peer_say(steady, "original");
    assert_true(peer_wait(steady, &m, PEER_TEXT, "\"gravity\": 10,"));
    close(steady);
    free(m.data);
}

static void several_watch_and_go(void** state)
{
    (void)state;
    enum { MANY = 12 };
    int wires[MANY];
    peer_message m = { 0 };
    char text[32];
    for (int i = 0; i < MANY; i++) {
        wires[i] = watch_well(&running);
        snprintf(text, sizeof text, "\"clients\": %d,", i + 1);
        assert_true(peer_wait(wires[i], &m, PEER_TEXT, text));
    }
    peer_say(wires[3], "original");
    peer_say(wires[3], "step");
    for (int i = 0; i < MANY; i++) { /* all see the same step */
        double z;
        wait_for_step(wires[i], &m, 1, 2, &z);
        assert_float_equal(z, fallen(1, 10.0), 1e-5);
    }
    for (int i = 1; i < MANY; i++) {
        if (i % 2) peer_send(wires[i], PEER_CLOSE, true, "\x03\xe8", 2); /* politely or not */
        close(wires[i]);
    }
    assert_true(peer_wait(wires[0], &m, PEER_TEXT, "\"clients\": 1,"));
    close(wires[0]);
    free(m.data);
}

/* One that reads nothing misses frames; others do not notice, and it goes on with the newest. */
static void a_slow_one_misses_frames_and_holds_nobody_up(void** state)
{
    (void)state;
    host h = { 0 };
    start_live(&h,
               "moreau: 1\ntime: { step: 0.002, end: 1 }\nbodies:\n"
               "  - { name: ball, shape: { sphere: 0.2 }, grid: { count: [10, 10, 10], spacing: [1, 1, 1] } }\n",
               false);
    peer_message m = { 0 };
    int slow = watch_well(&h), quick = watch_well(&h), step = 0;
    double z;
    assert_true(peer_wait(slow, &m, PEER_BINARY, NULL));
    peer_say(quick, "speed 1000");
    peer_say(quick, "run");
    for (int frames = 0; frames < 200; frames++) { /* 52 kB each: more than wires between them hold */
        assert_true(peer_wait(quick, &m, PEER_BINARY, NULL));
        look(m.data, 0, 0, 0, &step, &z);
    }
    assert_true(step >= 200);
    peer_say(quick, "pause");
    assert_true(peer_wait(quick, &m, PEER_TEXT, "\"running\": false"));
    mor_live_state last = mor_live_get_state(h.live);
    assert_false(last.running);
    unsigned long long sent = 0, dropped = 0;
    while (peer_receive(slow, &m) >= 0) {
        const char *a = m.kind == PEER_TEXT ? strstr((char*)m.data, "\"sent\": ") : NULL,
                   *b = a ? strstr(a, "\"dropped\": ") : NULL;
        if (b) sent = strtoull(a + 8, NULL, 10), dropped = strtoull(b + 11, NULL, 10);
        if (b && dropped > 0 && strstr((char*)m.data, "\"running\": false")) break;
    }
    assert_true(dropped > 0 && sent > 0);
    close(slow);
    close(quick);
    free(m.data);
    stop(&h);
}

/* When asked to wait, the simulation goes no faster than its watchers: they see every step. */
static void a_scene_that_waits_shows_every_step(void** state)
{
    (void)state;
    host h = { 0 };
    start_live(&h, shown_text, true);
    peer_message m = { 0 };
    int wires[2] = { watch_well(&h), watch_well(&h) }, step, first = 0;
    double z;
    for (int k = 0; k < 2; k++) assert_true(peer_wait(wires[k], &m, PEER_BINARY, NULL));
    peer_say(wires[0], "speed 100");
    peer_say(wires[0], "run");
    for (int n = 1; n <= 40; n++)
        for (int k = 0; k < 2; k++) {
            do {
                assert_true(peer_wait(wires[k], &m, PEER_BINARY, NULL));
                look(m.data, 0, -1, 2, &step, &z);
            } while (step == 0); /* the start may come twice */
            if (n == 1 && k == 0) first = step;
            assert_int_equal(step, first + n - 1);
            assert_float_equal(z, fallen(step, 10.0), 1e-4);
        }
    assert_int_equal(first, 1);
    close(wires[0]);
    close(wires[1]);
    free(m.data);
    stop(&h);
}

static void edits_come_over_the_wire_and_a_reset_keeps_them(void** state)
{
    (void)state;
    peer_message m = { 0 };
    double z;
    int wire = watch_well(&running);
    peer_say(wire, "original");
    peer_say(wire, "mass 1 7.5 ball");
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"bodies\"")); /* a new description */
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"mass\": 7.5"));
    peer_say(wire, "mass 1 8.5 stone"); /* number and name differ */
    assert_true(peer_wait(wire, &m, PEER_TEXT, "body 1 is not 'stone' any more"));
    assert_non_null(strstr((char*)m.data, "\"edits\": 1,"));
    peer_say(wire, "reset");
    peer_say(wire, "step");
    wait_for_step(wire, &m, 1, 2, &z);
    assert_float_equal(z, fallen(1, 10.0), 1e-5);
    assert_int_equal(mor_live_get_state(running.live).edits, 1);
    peer_say(wire, "original");
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"edits\": 0,"));
    close(wire);
    free(m.data);
}

/* A body at rest without gravity that is pulled from x to x + d by the spring of live.c goes there and stops. */
static void a_body_is_pulled_and_let_go(void** state)
{
    (void)state;
    host h = { 0 };
    start_live(&h,
               "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 1 }\nbodies:\n"
               "  - { name: stone, shape: { box: [1, 1, 1] }, mass: 3 }\n",
               false);
    peer_message m = { 0 };
    double z = 0.0;
    int wire = watch_well(&h), step = 0;
    static const char* const nonsense[] = { "drag",
                                            "drag 0 0 0 0 0 0",
                                            "drag 1 0 0 0 0 0 2",
                                            "drag -1 0 0 0 0 0 2",
                                            "drag 0 0 0 0 0 0 1e7",
                                            "drag 0 0 0 0 0 0 nan" };
    for (int i = 0; i < 6; i++) peer_say(wire, nonsense[i]);
    peer_say(wire, "step");
    wait_for_step(wire, &m, 1, 0, &z);
    assert_float_equal(z, 0.0, 0.0);
    peer_say(wire, "drag 0 0 0 0 0 0 1");
    peer_say(wire, "drag 0 0 0 0 0 0 2");
    peer_say(wire, "speed 100");
    peer_say(wire, "run");
    while (step < 301) { /* (1 + w t) exp(-w t) with w t = 24 is 1e-9 */
        assert_true(peer_wait(wire, &m, PEER_BINARY, NULL));
        look(m.data, 0, -1, 0, &step, &z);
    }
    assert_float_equal(z, 2.0, 1e-6);
    peer_say(wire, "drop");
    peer_say(wire, "pause");
    assert_true(peer_wait(wire, &m, PEER_TEXT, "\"running\": false"));
    close(wire);
    free(m.data);
    stop(&h);
}

static void there_is_a_server(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_server* s = mor_server_create(&(mor_server_options){ 0 }, NULL, 0, NULL, &error);
    if (!s && strstr(error.text, "libwebsockets")) {
        puts("SKIP no libwebsockets, no server");
        skip();
    }
    if (!s) fail_msg("%s", error.text);
    mor_server_destroy(s);
}

int main(void)
{
    const struct CMUnitTest first[] = { cmocka_unit_test(there_is_a_server) };
    mor_error error = { 0 };
    mor_server* s = mor_server_create(&(mor_server_options){ 0 }, NULL, 0, NULL, &error);
    mor_server_destroy(s);
    if (!s) return cmocka_run_group_tests(first, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_comes_whole_with_headers_that_shut_others_out),
        cmocka_unit_test(nobody_is_answered_without_the_token),
        cmocka_unit_test(a_request_must_name_this_server),
        cmocka_unit_test(a_server_for_other_machines_asks_for_the_token_only),
        cmocka_unit_test(other_methods_are_refused),
        cmocka_unit_test(a_port_that_is_taken_and_a_foreign_address_are_told),
        cmocka_unit_test(a_recording_is_answered_as_it_is),
        cmocka_unit_test(frames_are_read_by_ranges),
        cmocka_unit_test(requests_that_make_no_sense_get_a_sentence),
        cmocka_unit_test(half_requests_hold_nobody_up),
        cmocka_unit_test(the_handshake_is_that_of_the_standard),
        cmocka_unit_test(websockets_of_strangers_are_refused),
        cmocka_unit_test(commands_are_obeyed_whole_or_in_pieces),
        cmocka_unit_test(frames_that_break_the_protocol_end_the_connection),
        cmocka_unit_test(several_watch_and_go),
        cmocka_unit_test(a_slow_one_misses_frames_and_holds_nobody_up),
        cmocka_unit_test(a_scene_that_waits_shows_every_step),
        cmocka_unit_test(edits_come_over_the_wire_and_a_reset_keeps_them),
        cmocka_unit_test(a_body_is_pulled_and_let_go),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
