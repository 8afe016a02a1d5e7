/* In place of serve/server.c when libwebsockets was not there at build time: says so. */
#include "serve/server.h"

mor_server* mor_server_create(const mor_server_options* options, mor_recording* const* recordings, int count,
                              mor_live* live, mor_error* error)
{
    (void)options, (void)recordings, (void)count, (void)live;
    mor_fail(error, MOR_SYSTEM,
             "this program was built without libwebsockets and cannot serve; --html FILE writes a page that opens from "
             "disk");
    return NULL;
}

const char* mor_server_url(const mor_server* server) { return (void)server, ""; }
void mor_server_run(mor_server* server) { (void)server; }
void mor_server_stop(mor_server* server) { (void)server; }
void mor_server_destroy(mor_server* server) { (void)server; }
