/* A folder of finished pages over HTTP, for `moreau dataset serve`: files are read, nothing is written or run. Needs
 * libwebsockets; without it mor_site_create says so. */
#ifndef MOREAU_SERVE_SITE_H
#define MOREAU_SERVE_SITE_H

#include "moreau/base.h"

typedef struct mor_site mor_site;

/* Serves the files that the folder and its folders hold now, index.html first. `address` NULL: 127.0.0.1; `port` 0: a
 * free one. NULL and a sentence on failure. */
mor_site* mor_site_create(const char* folder, const char* address, int port, mor_error* error);
/* What to open. */
const char* mor_site_url(const mor_site* site);
/* Until mor_site_stop, which may be called from a signal handler. */
void mor_site_run(mor_site* site);
void mor_site_stop(mor_site* site);
void mor_site_destroy(mor_site* site);

#endif
