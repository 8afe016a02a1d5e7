/* A folder in /tmp for a test: cmocka's setup makes it, teardown removes it with all that is in it. Include after
 * cmocka.h. */
#ifndef MOR_TESTS_FOLDER_H
#define MOR_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void** state)
{
    (void)state;
    strcpy(folder, "/tmp/moreau_test_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line);
}

/* The last four answers stay valid. */
static inline const char* path_of(const char* name)
{
    static char paths[4][640];
    static int last;
    last = (last + 1) % 4;
    snprintf(paths[last], sizeof paths[last], "%s/%s", folder, name);
    return paths[last];
}

#endif
