/* A Chromium without a window, told what to do through its devtools protocol over a pair of sockets: opens a page,
 * evaluates expressions, takes pictures. No shell and no port takes part.
 *
 *     mor_error error = { 0 };
 *     mor_bytes png = { 0 };
 *     mor_browser* b = mor_browser_start(1280, 800, &error);
 *     if (b && !mor_browser_open(b, "file:///tmp/page.html", &error)) mor_browser_picture(b, &png, &error);
 *     mor_browser_stop(b); */
#ifndef MOREAU_SERVE_BROWSER_H
#define MOREAU_SERVE_BROWSER_H

#include "serve/frame.h"

typedef struct mor_browser mor_browser;

/* The first of `names` (ends with NULL; "" is passed over) that is a program of PATH or a path to one; NULL: none. */
const char* mor_find_program(const char* const* names);
/* The browser that would be started: $MOREAU_CHROMIUM, chromium, chromium-browser, google-chrome or chrome; NULL: none.
 * */
const char* mor_browser_program(void);

/* NULL and a sentence when there is no Chromium or it does not start. */
mor_browser* mor_browser_start(int width, int height, mor_error* error);
/* A directory of its own, removed with everything in it by mor_browser_stop. */
const char* mor_browser_directory(const mor_browser* browser);
/* Goes to an address and waits until the viewer's page there is ready. */
mor_code mor_browser_open(mor_browser* browser, const char* address, mor_error* error);
/* Evaluates an expression of the page and waits for it if it is a promise. */
mor_code mor_browser_evaluate(mor_browser* browser, const char* expression, mor_error* error);
/* What the window shows, as PNG added to `png`. */
mor_code mor_browser_picture(mor_browser* browser, mor_bytes* png, mor_error* error);
void mor_browser_stop(mor_browser* browser);

#endif
