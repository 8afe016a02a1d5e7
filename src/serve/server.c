/* The server behind `moreau view`, see server.h.
 *
 * One thread and one loop. It answers
 *
 *     /                              the page, built into the program
 *     /api/info                      what there is: JSON
 *     /api/N/description             bodies and shapes of recording N: JSON
 *     /api/N/series                  one number per frame, grouped to at most 20000 points
 *     /api/N/frames?first=F&count=C  frames
 *     /api/N/body?number=B           the motion of one body, at most 4000 points
 *     /live                          websocket "moreau-live": description and state as texts, frames as
 *                                    binary messages; commands come as texts (live.h)
 *
 * and nothing else: no path of a request ever becomes a path of a file. Requests must name this
 * server in Host (a page of another site that got its name pointed here does not), websockets must
 * come from this page (Origin), and everything needs the token of the address that `moreau view` prints: other users of
 * this machine do not know it.
 * A recording is read by ranges, so that its length does not matter. A connection is closed after its answer:
 * libwebsockets 4.1 spins for good on some requests sent ahead (bodies nobody asked for, several in a row), as fuzzing
 * found. */
#include "serve/server.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

#include "io/json/json.h"
#include "serve/export.h"
#include "serve/guard.h"

enum { SERIES_POINTS = 20000, BODY_POINTS = 4000, PIECE = 1 << 16, COMMAND = 256 };
enum { ARGUMENT = 256 };  /* of a query; libwebsockets looks no further than one that does not fit */
#define MOST_ANSWER 6.4e7 /* bytes */
#define STATE_SECONDS 0.25

struct mor_server {
    struct lws_context* context;
    mor_recording* const* recordings;
    int count;
    mor_live* live;
    char address[128], url[512], token[MOR_GUARD_TOKEN + 1];
    char policy[1024]; /* what the page may load, as the page says itself; sent as a header too */
    int port;
    bool local;
    volatile bool stopping;
    int watchers;
};

/* One request. */
typedef struct session {
    mor_bytes body;            /* the answer, if it was made for this request */
    const unsigned char* data; /* the answer: of body, or the page */
    size_t size, sent;
} session;

/* One browser that watches. */
typedef struct client {
    mor_bytes buffer; /* LWS_PRE bytes in front */
    uint64_t seen, first, state_version;
    uint64_t sent;
    double state_time;
    bool counted, stateful;
    uint64_t described;    /* number of the description it has */
    char command[COMMAND]; /* as far as it has come */
    size_t command_length; /* larger than COMMAND: too long, ignored */
} client;

/* ------------------------------------------------------------------------------- who may ask */

static bool allowed(mor_server* s, struct lws* wsi, bool socket)
{
    char host[256] = "", origin[300] = "", token[ARGUMENT] = "";
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0) return false;
    if (s->local && !mor_guard_host(host, s->address, s->port)) return false;
    if (socket && lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0) {
        char expected[300];
        snprintf(expected, sizeof expected, "http://%s", host);
        if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0 || strcmp(origin, expected) != 0)
            return false;
    }
    const char* given = lws_get_urlarg_by_name(wsi, "token=", token, sizeof token);
    return given && mor_guard_same(s->token, given);
}

/* ------------------------------------------------------------------------------- answers */

/* A whole number of the query; -1 when it is not there or is something else. */
static long argument(struct lws* wsi, const char* name)
{
    char text[ARGUMENT];
    const char* value = lws_get_urlarg_by_name(wsi, name, text, sizeof text);
    if (!value || !*value || strlen(value) > 10 || strspn(value, "0123456789") != strlen(value)) return -1;
    return strtol(value, NULL, 10);
}

static mor_code add_description(mor_bytes* body, mor_recording* r, mor_error* error)
{
    char* text = NULL;
    size_t length = 0;
    mor_code code = mor_recording_refresh(r, error);
    FILE* memory = code ? NULL : open_memstream(&text, &length);
    if (!code && !memory) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_view_describe_recording(memory, r, error);
    if (memory) fclose(memory);
    if (!code) mor_bytes_add(body, text, length);
    free(text);
    return code;
}

static mor_code add_frames(mor_bytes* body, const mor_recording* r, long first, long count, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    if (first < 0 || count < 1 || first >= info->frames || count > info->frames - first)
        return mor_fail(error, MOR_BAD_INPUT, "frames 0 to %d are there", info->frames - 1);
    if ((double)count * (52.0 * info->bodies + 64.0) > MOST_ANSWER)
        return mor_fail(error, MOR_BAD_INPUT, "too many frames at once");
    mor_view_frame frame;
    mor_code code = mor_view_frame_create(&frame, info->bodies, error);
    if (code) return code;
    mor_view_frames_begin(body, (int)count, info->bodies);
    for (long i = 0; !code && i < count; i++) {
        code = mor_view_frame_read(&frame, r, (int)(first + i), error);
        if (!code) mor_view_frame_write(body, &frame);
        if (!code && (double)body->size > 4.0 * MOST_ANSWER)
            code = mor_fail(error, MOR_BAD_INPUT, "too many contacts at once");
    }
    mor_view_frame_free(&frame);
    return code;
}

static void add_info(const mor_server* s, mor_bytes* body)
{
    char text[128];
    int n = snprintf(text, sizeof text, "{\"live\": %s, \"recordings\": %d}\n", s->live ? "true" : "false", s->count);
    mor_bytes_add(body, text, (size_t)n);
}

/* Fills the body; returns the HTTP status. `mime` is changed when the answer is not binary. */
static unsigned answer(mor_server* s, struct lws* wsi, const char* path, mor_bytes* body, const char** mime)
{
    mor_error error = { 0 };
    mor_code code = MOR_OK;
    if (strcmp(path, "/api/info") == 0) {
        *mime = "application/json";
        add_info(s, body);
        return HTTP_STATUS_OK;
    }
    char what[16] = "", rest = 0;
    int number = -1;
    if (sscanf(path, "/api/%1d/%15[a-z]%c", &number, what, &rest) != 2 || number < 0 || number >= s->count)
        return HTTP_STATUS_NOT_FOUND;
    mor_recording* r = s->recordings[number];
    if (strcmp(what, "description") == 0) {
        *mime = "application/json";
        code = add_description(body, r, &error);
    } else if (strcmp(what, "series") == 0) {
        code = mor_view_series(body, r, SERIES_POINTS, &error);
    } else if (strcmp(what, "frames") == 0) {
        code = add_frames(body, r, argument(wsi, "first="), argument(wsi, "count="), &error);
    } else if (strcmp(what, "body") == 0) {
        long b = argument(wsi, "number=");
        if (b < 0 || b >= mor_recording_get_info(r)->bodies) code = mor_fail(&error, MOR_BAD_INPUT, "no such body");
        else code = mor_view_body(body, r, (int)b, BODY_POINTS, &error);
    } else {
        return HTTP_STATUS_NOT_FOUND;
    }
    if (!code && body->failed) code = mor_fail(&error, MOR_SYSTEM, "out of memory");
    if (!code) return HTTP_STATUS_OK;
    body->size = 0;
    body->failed = false;
    *mime = "text/plain; charset=utf-8";
    mor_bytes_add(body, error.text, strlen(error.text));
    return code == MOR_BAD_INPUT ? HTTP_STATUS_BAD_REQUEST : HTTP_STATUS_INTERNAL_SERVER_ERROR;
}

static int begin_answer(mor_server* s, struct lws* wsi, session* q, const char* path)
{
    unsigned char space[LWS_PRE + 2048], *start = space + LWS_PRE, *p = start, *end = space + sizeof space - 1;
    const char* mime = "application/octet-stream";
    unsigned status;
    mor_bytes_free(&q->body);
    q->sent = 0;
    bool page = false;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) { /* its body, if any, is of no interest */
        lws_return_http_status(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "no");
        return -1;
    }
    if (!allowed(s, wsi, false)) status = HTTP_STATUS_FORBIDDEN;
    else if (strcmp(path, "/") == 0) status = HTTP_STATUS_OK, page = true, mime = "text/html; charset=utf-8";
    else status = answer(s, wsi, path, &q->body, &mime);
    if (q->body.size == 0 && !page) {
        mime = "text/plain; charset=utf-8";
        const char* text = status == HTTP_STATUS_FORBIDDEN   ? "not allowed\n"
                           : status == HTTP_STATUS_NOT_FOUND ? "not here\n"
                                                             : "no\n";
        mor_bytes_add(&q->body, text, strlen(text));
    }
    q->data = page ? mor_viewer_page : q->body.data;
    q->size = page ? mor_viewer_page_size : q->body.size;
    const char* const headers[][2] = {
        { "content-security-policy:", page ? s->policy : "default-src 'none'; frame-ancestors 'none'" },
        { "x-content-type-options:", "nosniff" },
        { "x-frame-options:", "DENY" },
        { "cache-control:", "no-store" },
        { "cross-origin-resource-policy:", "same-origin" },
        { "referrer-policy:", "no-referrer" },
        { "connection:", "close" },
    };
    int wrong = lws_add_http_common_headers(wsi, status, mime, q->size, &p, end);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        wrong |= lws_add_http_header_by_name(wsi, (const unsigned char*)headers[i][0],
                                             (const unsigned char*)headers[i][1], (int)strlen(headers[i][1]), &p, end);
    if (wrong | lws_finalize_write_http_header(wsi, start, &p, end)) return 1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int go_on(struct lws* wsi, session* q)
{
    if (!q || !q->data) return 0;
    unsigned char* piece = malloc(LWS_PRE + PIECE);
    if (!piece) return -1;
    size_t n = q->size - q->sent < PIECE ? q->size - q->sent : PIECE;
    memcpy(piece + LWS_PRE, q->data + q->sent, n);
    q->sent += n;
    bool last = q->sent == q->size;
    int written = lws_write(wsi, piece + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
    free(piece);
    if (written < (int)n) return -1;
    if (!last) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    mor_bytes_free(&q->body);
    q->data = NULL;
    return -1;
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in, size_t length)
{
    mor_server* s = lws_context_user(lws_get_context(wsi));
    session* q = user;
    (void)length;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_answer(s, wsi, q, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return go_on(wsi, q);
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (q) mor_bytes_free(&q->body);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return 1; /* a websocket that names no protocol */
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------------------- watching */

static void add_room(mor_bytes* b)
{
    static const unsigned char room[LWS_PRE];
    b->size = 0;
    mor_bytes_add(b, room, sizeof room);
}

static int send_buffer(struct lws* wsi, client* c, enum lws_write_protocol kind)
{
    if (c->buffer.failed) return -1;
    size_t n = c->buffer.size - LWS_PRE;
    return lws_write(wsi, c->buffer.data + LWS_PRE, n, kind) < (int)n ? -1 : 0;
}

static int send_state(mor_server* s, struct lws* wsi, client* c, const mor_live_state* state)
{
    char* text = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&text, &length);
    if (!memory) return -1;
    uint64_t published = c->seen >= c->first ? c->seen - c->first : 0;
    mor_json json = mor_json_begin(memory);
    mor_json_object(&json, NULL);
    mor_json_bool(&json, "running", state->running);
    mor_json_text(&json, "formulation", state->formulation);
    mor_json_text(&json, "solver", state->solver);
    mor_json_text(&json, "collision", state->collision);
    mor_json_number(&json, "epsilon", state->epsilon);
    mor_json_number(&json, "step", state->step);
    mor_json_integer(&json, "edits", state->edits);
    mor_json_numbers(&json, "joints", state->joints, state->joint_count);
    mor_json_number(&json, "gravity", state->gravity);
    mor_json_number(&json, "speed", state->speed);
    mor_json_number(&json, "step_cpu", state->step_cpu);
    mor_json_number(&json, "cpu", state->cpu);
    mor_json_integer(&json, "clients", s->watchers);
    mor_json_integer(&json, "sent", (long long)c->sent);
    mor_json_integer(&json, "dropped", (long long)(published > c->sent ? published - c->sent : 0));
    mor_json_text(&json, "note", state->note);
    mor_json_end(&json);
    bool good = mor_json_finish(&json);
    fclose(memory);
    add_room(&c->buffer);
    mor_bytes_add(&c->buffer, text, length);
    free(text);
    c->state_version = state->version;
    c->state_time = mor_clock();
    c->stateful = true;
    return good ? send_buffer(wsi, c, LWS_WRITE_TEXT) : -1;
}

/* One message per call: description, state, newest frame. Frames that came meanwhile are skipped. */
static int send_next(mor_server* s, struct lws* wsi, client* c)
{
    if (!s->live) return -1;
    add_room(&c->buffer);
    uint64_t described = mor_live_description(s->live, c->described, &c->buffer);
    if (described > c->described) {
        c->described = described;
        lws_callback_on_writable(wsi);
        return send_buffer(wsi, c, LWS_WRITE_TEXT);
    }
    mor_live_state state = mor_live_get_state(s->live);
    if (!c->stateful || state.version != c->state_version || mor_clock() - c->state_time > STATE_SECONDS) {
        lws_callback_on_writable(wsi);
        return send_state(s, wsi, c, &state);
    }
    add_room(&c->buffer);
    uint64_t number = mor_live_frame(s->live, c->seen, &c->buffer);
    if (number == c->seen) return 0;
    if (c->sent == 0) c->first = number - 1;
    c->seen = number;
    c->sent++;
    return send_buffer(wsi, c, LWS_WRITE_BINARY);
}

/* A command may come in pieces. Too long ones are ignored; binary messages come from nobody we know. */
static int receive(mor_server* s, struct lws* wsi, client* c, const char* text, size_t length)
{
    if (lws_frame_is_binary(wsi)) return -1;
    if (c->command_length + length <= COMMAND) {
        memcpy(c->command + c->command_length, text, length);
        c->command_length += length;
    } else {
        c->command_length = COMMAND + 1;
    }
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) return 0;
    if (c->command_length <= COMMAND) mor_live_command(s->live, c->command, c->command_length);
    c->command_length = 0;
    return 0;
}

static int on_live(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in, size_t length)
{
    mor_server* s = lws_context_user(lws_get_context(wsi));
    client* c = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return s->live && allowed(s, wsi, true) ? 0 : 1;
    case LWS_CALLBACK_ESTABLISHED:
        if (!s->live) return -1;
        *c = (client){ .counted = true };
        mor_live_watchers(s->live, ++s->watchers);
        lws_callback_on_writable_all_protocol(lws_get_context(wsi), lws_get_protocol(wsi)); /* all are told */
        return 0;
    case LWS_CALLBACK_CLOSED:
        if (!c || !c->counted) return 0;
        c->counted = false;
        mor_bytes_free(&c->buffer);
        mor_live_watchers(s->live, --s->watchers);
        lws_callback_on_writable_all_protocol(lws_get_context(wsi), lws_get_protocol(wsi));
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return c && c->counted ? receive(s, wsi, c, in, length) : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return c && c->counted ? send_next(s, wsi, c) : -1;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        lws_callback_on_writable_all_protocol(lws_get_context(wsi), lws_get_protocol(wsi));
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    { .name = "http", .callback = on_http, .per_session_data_size = sizeof(session) },
    { .name = "moreau-live", .callback = on_live, .per_session_data_size = sizeof(client), .rx_buffer_size = 1024 },
    { 0 },
};

/* ------------------------------------------------------------------------------- outside */

static void wake(void* user)
{
    mor_server* s = user;
    lws_cancel_service(s->context);
}

/* The policy of the page; false: it has none. */
static bool find_policy(mor_server* s)
{
    static const char before[] = "Content-Security-Policy\" content=\"", also[] = "; frame-ancestors 'none'";
    for (size_t i = 0; i + sizeof before + sizeof s->policy < mor_viewer_page_size; i++) {
        if (memcmp(mor_viewer_page + i, before, sizeof before - 1) != 0) continue;
        const char* text = (const char*)mor_viewer_page + i + sizeof before - 1;
        size_t n = strcspn(text, "\"");
        if (n + sizeof also > sizeof s->policy) return false;
        memcpy(s->policy, text, n);
        memcpy(s->policy + n, also, sizeof also);
        return true;
    }
    return false;
}

mor_server* mor_server_create(const mor_server_options* options, mor_recording* const* recordings, int count,
                              mor_live* live, mor_error* error)
{
    mor_server* s = calloc(1, sizeof *s);
    if (!s) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    s->recordings = recordings;
    s->count = count;
    s->live = live;
    snprintf(s->address, sizeof s->address, "%s", options->address ? options->address : "127.0.0.1");
    s->local = strcmp(s->address, "127.0.0.1") == 0;
    lws_set_log_level(0, NULL);
    struct lws_context_creation_info info = {
        .port = options->port,
        .iface = s->address,
        .protocols = protocols,
        .user = s,
        .options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .keepalive_timeout = 30,
        .timeout_secs = 20,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    bool good = find_policy(s) && mor_guard_token(s->token);
    s->context = good ? lws_create_context(&info) : NULL;
    struct lws_vhost* host = s->context ? lws_create_vhost(s->context, &info) : NULL;
    s->port = host ? lws_get_vhost_listen_port(host) : 0;
    if (s->port <= 0) {
        mor_fail(error, MOR_SYSTEM, "cannot listen on %s, port %d; is it taken, or not an address of this machine?",
                 s->address, options->port);
        mor_server_destroy(s);
        return NULL;
    }
    snprintf(s->url, sizeof s->url, "http://%s:%d/?token=%s", s->address, s->port, s->token);
    if (live) mor_live_on_news(live, wake, s);
    return s;
}

const char* mor_server_url(const mor_server* s) { return s->url; }

void mor_server_run(mor_server* s)
{
    while (!s->stopping)
        if (lws_service(s->context, 0) < 0) break;
}

void mor_server_stop(mor_server* s)
{
    s->stopping = true;
    lws_cancel_service(s->context);
}

void mor_server_destroy(mor_server* s)
{
    if (!s) return;
    if (s->live) mor_live_on_news(s->live, NULL, NULL);
    if (s->context) lws_context_destroy(s->context);
    free(s);
}
