/* Who may ask a server of this room: those who know its token and call it by its name. */
#ifndef MOREAU_SERVE_GUARD_H
#define MOREAU_SERVE_GUARD_H

#include <stdbool.h>

enum { MOR_GUARD_TOKEN = 32 };

/* A random token, MOR_GUARD_TOKEN hexadecimal digits and an end; false: the system gave no random numbers. */
bool mor_guard_token(char* token);
/* Equal texts, in a time that does not tell where they differ. */
bool mor_guard_same(const char* a, const char* b);
/* Does the header Host name a server that listens on this address and port? A page of another site that got its name
 * pointed here does not. */
bool mor_guard_host(const char* host, const char* address, int port);

#endif
