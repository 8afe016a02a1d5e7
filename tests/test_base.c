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

/* The nearest word: letters missing, other case, another hyphen; nothing for what is far away. */
static void near_words_are_found(void** state)
{
    (void)state;
    static const char* const words[] = { "st", "ap", "ncp", "peg-exact", "nsn-tree", "lemke", NULL };
    static const char* const pairs[][2] = {
        { "ST", "st" },      { "Peg_Exact", "peg-exact" }, { "nsn tree", "nsn-tree" },  { "LEMKE", "lemke" },
        { "lemk", "lemke" }, { "nsn", "nsn-tree" },        { "pge-exact", "peg-exact" }
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(mor_did_you_mean(pairs[i][0], words), pairs[i][1]);
    assert_null(mor_did_you_mean("interior-point", words));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(near_words_are_found),
                                        cmocka_unit_test(rng_matches_the_documented_recurrence) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
