/* What the fuzzer starts from and what it has found (tests/fuzz/corpus): every reader comes back from every input, and
 * from copies with single bytes changed. No clang needed; under sanitizers this is where old findings are watched. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fuzz/readers.h"
#include "io/text/text_file.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() (void)0
#define __lsan_enable() (void)0
#endif

static char folder[] = "/tmp/moreau_fuzz_XXXXXX";

static int try_folder(const reader* r, int copies)
{
    char path[600];
    int count = 0;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", MOREAU_SOURCE_DIR, r->name);
    DIR* d = opendir(path);
    uint32_t random = 1;
    /* libhdf5 loses handles of damaged files, and then does not tidy up at the end */
    bool hdf5 = strcmp(r->ending, ".h5") == 0 || strcmp(r->ending, ".hdf5") == 0;
    if (hdf5) __lsan_disable();
    for (struct dirent* e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s/%.200s", MOREAU_SOURCE_DIR, r->name, e->d_name);
        char* bytes;
        size_t size;
        mor_error error = { 0 };
        if (mor_text_read(path, 1 << 24, &bytes, &size, &error)) fail_msg("%s", error.text);
        reader_try(r, folder, bytes, size);
        for (int k = 0; k < copies && size; k++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 4) % size;
            char old = bytes[at];
            bytes[at] = (char)(random >> 24);
            reader_try(r, folder, bytes, size);
            bytes[at] = old;
        }
        free(bytes);
        count += 1 + copies;
    }
    if (hdf5) __lsan_enable();
    if (d) closedir(d);
    return count;
}

static void every_reader_comes_back(void** state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    int copies = getenv("MOREAU_LONG") ? 300 : 6;
    for (const reader* r = readers; r->name; r++) {
        int count = try_folder(r, copies);
        print_message("%s: %d inputs\n", r->name, count);
        assert_true(count > 0);
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_reader_comes_back) };
    return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
