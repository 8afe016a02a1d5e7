/* The server behind `moreau dataset serve`, see site.h.
 *
 * The files of the folder are listed once, when it starts. A request is looked up in that list and never becomes a path
 * of its own: what is not in the list is not here, links out of the folder are not followed. Every path begins with a
 * token that only the printed address knows, so that relative links of the pages carry it on; Host must name this
 * server, as in server.c. */
#include "serve/site.h"

#include <dirent.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "serve/guard.h"

enum { DEEPEST = 4, MOST_FILES = 1000000 };

struct mor_site {
    struct lws_context* context;
    char address[128], url[512], token[MOR_GUARD_TOKEN + 1], *folder;
    char** names; /* of all files, from the folder; sorted */
    int count, capacity, port;
    bool local;
    volatile bool stopping;
};

/* -------------------------------------------------------------------------------- what there is */

static bool keep(mor_site* s, const char* name)
{
    if (s->count == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 64;
        char** grown = realloc(s->names, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        s->names = grown;
        s->capacity = capacity;
    }
    s->names[s->count] = strdup(name);
    return s->names[s->count++] != NULL;
}

/* Files below `inside` (a path from the folder, "" for itself); hidden ones and links are passed over. */
static bool list(mor_site* s, const char* inside, int depth)
{
    char path[4096], name[2048];
    snprintf(path, sizeof path, "%s/%s", s->folder, inside);
    DIR* d = opendir(path);
    if (!d) return depth > 0;
    bool good = true;
    for (struct dirent* e; good && (e = readdir(d));) {
        if (e->d_name[0] == '.' || s->count == MOST_FILES) continue;
        struct stat status;
        int n = snprintf(name, sizeof name, "%s%s%s", inside, *inside ? "/" : "", e->d_name);
        int m = snprintf(path, sizeof path, "%s/%s", s->folder, name);
        if (n >= (int)sizeof name || m >= (int)sizeof path || lstat(path, &status) != 0) continue;
        if (S_ISREG(status.st_mode)) good = keep(s, name);
        else if (S_ISDIR(status.st_mode) && depth < DEEPEST) good = list(s, name, depth + 1);
    }
    closedir(d);
    return good;
}

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

/* The path of a file that the list has; false: it has none. */
static bool find(const mor_site* s, const char* request, char* path, size_t size)
{
    char token[MOR_GUARD_TOKEN + 1] = "";
    if (*request++ != '/') return false;
    snprintf(token, sizeof token, "%.*s", (int)strcspn(request, "/"), request);
    if (!mor_guard_same(s->token, token)) return false;
    const char* name = request + MOR_GUARD_TOKEN;
    if (*name++ != '/') return false;
    if (!*name) name = "index.html";
    if (!bsearch(&name, s->names, (size_t)s->count, sizeof *s->names, by_name)) return false;
    return snprintf(path, size, "%s/%s", s->folder, name) < (int)size;
}

static const char* kind_of(const char* path)
{
    const char* dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".html") == 0) return "text/html; charset=utf-8";
    if (dot && (strcmp(dot, ".dat") == 0 || strcmp(dot, ".m") == 0)) return "text/plain; charset=utf-8";
    return "application/octet-stream";
}

/* -------------------------------------------------------------------------------- answers */

static bool named(const mor_site* s, struct lws* wsi)
{
    char host[256] = "";
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0) return false;
    return !s->local || mor_guard_host(host, s->address, s->port);
}

static int refuse(struct lws* wsi, unsigned status, const char* text)
{
    lws_return_http_status(wsi, status, text);
    return -1;
}

static int begin_answer(mor_site* s, struct lws* wsi, const char* request)
{
    static const char headers[] = "x-content-type-options: nosniff\r\nx-frame-options: DENY\r\n"
                                  "referrer-policy: no-referrer\r\ncache-control: no-store\r\n";
    char path[8192];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "no");
    if (!named(s, wsi)) return refuse(wsi, HTTP_STATUS_FORBIDDEN, "not allowed");
    if (!find(s, request, path, sizeof path)) return refuse(wsi, HTTP_STATUS_NOT_FOUND, "not here");
    int sent = lws_serve_http_file(wsi, path, kind_of(path), headers, (int)sizeof headers - 1);
    return sent == 0 ? 0 : -1; /* below 0: lost; above: complete, and the connection ends */
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in, size_t length)
{
    (void)user, (void)length;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_answer(lws_context_user(lws_get_context(wsi)), wsi, in);
    case LWS_CALLBACK_HTTP_FILE_COMPLETION:
        return -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return 1; /* no websockets here */
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = { { .name = "http", .callback = on_http }, { 0 } };

/* -------------------------------------------------------------------------------- outside */

static bool listen_on(mor_site* s, int port)
{
    lws_set_log_level(0, NULL);
    struct lws_context_creation_info info = {
        .port = port,
        .iface = s->address,
        .protocols = protocols,
        .user = s,
        .options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .timeout_secs = 20,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    s->context = lws_create_context(&info);
    struct lws_vhost* host = s->context ? lws_create_vhost(s->context, &info) : NULL;
    s->port = host ? lws_get_vhost_listen_port(host) : 0;
    return s->port > 0;
}

mor_site* mor_site_create(const char* folder, const char* address, int port, mor_error* error)
{
    mor_site* s = calloc(1, sizeof *s);
    if (s) s->folder = strdup(folder);
    if (!s || !s->folder || !mor_guard_token(s->token)) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        mor_site_destroy(s);
        return NULL;
    }
    snprintf(s->address, sizeof s->address, "%s", address ? address : "127.0.0.1");
    s->local = strcmp(s->address, "127.0.0.1") == 0;
    if (!list(s, "", 0)) mor_fail(error, MOR_SYSTEM, "%s: cannot be listed", folder);
    else if (!listen_on(s, port))
        mor_fail(error, MOR_SYSTEM, "cannot listen on %s, port %d; is it taken, or not an address of this machine?",
                 s->address, port);
    else {
        qsort(s->names, (size_t)s->count, sizeof *s->names, by_name);
        snprintf(s->url, sizeof s->url, "http://%s:%d/%s/", s->address, s->port, s->token);
        return s;
    }
    mor_site_destroy(s);
    return NULL;
}

const char* mor_site_url(const mor_site* s) { return s->url; }

void mor_site_run(mor_site* s)
{
    while (!s->stopping)
        if (lws_service(s->context, 0) < 0) break;
}

void mor_site_stop(mor_site* s)
{
    s->stopping = true;
    lws_cancel_service(s->context);
}

void mor_site_destroy(mor_site* s)
{
    if (!s) return;
    if (s->context) lws_context_destroy(s->context);
    for (int i = 0; i < s->count; i++) free(s->names[i]);
    free(s->names);
    free(s->folder);
    free(s);
}
