/* One file in /tmp for a test: cmocka's setup makes it, teardown removes it. Include after cmocka.h. */
#ifndef MOR_TESTS_SCRATCH_H
#define MOR_TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int make_file(void** state)
{
    (void)state;
    strcpy(path, "/tmp/moreau_test_XXXXXX");
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    return fd < 0;
}

static int remove_file(void** state) { return (void)state, unlink(path); }

static inline void write_bytes(const char* bytes, size_t length)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

#endif
