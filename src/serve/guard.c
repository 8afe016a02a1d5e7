/* Who may ask a server of this room, see guard.h. */
#include "serve/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool mor_guard_token(char* token)
{
    unsigned char random[MOR_GUARD_TOKEN / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    return true;
}

bool mor_guard_same(const char* a, const char* b)
{
    size_t n = strlen(a);
    unsigned char difference = n != strlen(b);
    for (size_t i = 0; !difference && i < n; i++) difference |= (unsigned char)(a[i] ^ b[i]);
    return !difference;
}

bool mor_guard_host(const char* host, const char* address, int port)
{
    const char* const names[] = { "127.0.0.1", "localhost", address };
    bool good = false;
    for (int i = 0; i < 3; i++) {
        char mine[300];
        snprintf(mine, sizeof mine, "%s:%d", names[i], port);
        good = good || strcmp(host, mine) == 0;
    }
    return good;
}
