/* In place of serve/site.c when libwebsockets was not there at build time: says so. */
#include "serve/site.h"

mor_site* mor_site_create(const char* folder, const char* address, int port, mor_error* error)
{
    (void)folder, (void)address, (void)port;
    mor_fail(error, MOR_SYSTEM,
             "this program was built without libwebsockets and cannot serve; `moreau dataset page` writes pages that "
             "open from disk");
    return NULL;
}

const char* mor_site_url(const mor_site* site) { return (void)site, ""; }
void mor_site_run(mor_site* site) { (void)site; }
void mor_site_stop(mor_site* site) { (void)site; }
void mor_site_destroy(mor_site* site) { (void)site; }
