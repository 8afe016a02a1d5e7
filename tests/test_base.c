/* Parts of src/base: arena, fields, random numbers, errors. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/base.h"

static void rng_matches_the_documented_recurrence(void** state)
{
    (void)state;
    mor_rng rng = { 20240607 };
    uint64_t x = 20240607;
    for (int i = 0; i < 100; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        double u = (double)(x >> 11) / 9007199254740992.0;
        assert_true(mor_rng_uniform(&rng) == u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rng_matches_the_documented_recurrence) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
