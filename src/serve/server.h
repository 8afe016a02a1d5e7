/* The viewer's server: its own page, recordings by ranges, and a running scene over a websocket. Needs libwebsockets;
 * without it mor_server_create says so. */
#ifndef MOREAU_SERVE_SERVER_H
#define MOREAU_SERVE_SERVER_H

#include "serve/live.h"

typedef struct mor_server mor_server;

typedef struct mor_server_options {
    const char* address; /* NULL: 127.0.0.1; any other needs the token that is then made */
    int port;            /* 0: a free one */
} mor_server_options;

/* Serves either recordings or a running scene (the other is NULL, 0); both must outlive it. */
mor_server* mor_server_create(const mor_server_options* options, mor_recording* const* recordings, int count,
                              mor_live* live, mor_error* error);
/* What to open. */
const char* mor_server_url(const mor_server* server);
/* Until mor_server_stop, which may be called from a signal handler. */
void mor_server_run(mor_server* server);
void mor_server_stop(mor_server* server);
void mor_server_destroy(mor_server* server);

#endif
