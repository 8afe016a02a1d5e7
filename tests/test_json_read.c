/* Reading JSON: values, positions, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/json/json_read.h"

static mor_json_document* read_text(const char* text, mor_error* error)
{
    return mor_json_read_text("text", text, strlen(text), error);
}

static void values_are_read_with_their_places(void** state)
{
    (void)state;
    mor_error error;
    mor_json_document* d = read_text("{ \"a\": [1, -2.5e-3, 0],\n  \"b\": { \"c\": \"x\\n\\u00e9\\ud83d\\ude00\", "
                                     "\"d\": true }, \"e\": [], \"f\": null }",
                                     &error);
    if (!d) fail_msg("%s", error.text);
    const mor_json_value* root = mor_json_root(d);
    assert_int_equal(root->count, 4);
    double x[3];
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(root, "a"), "a", 3, x, &error), MOR_OK);
    assert_near(x[1], -0.0025, 0.0);
    const mor_json_value* c = mor_json_get(mor_json_get(root, "b"), "c");
    assert_string_equal(c->text, "x\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(c->line, 2);
    assert_int_equal(c->column, 15);
    assert_null(mor_json_get(root, "z"));
    assert_int_equal(mor_json_get(root, "e")->count, 0);
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(root, "a"), "a", 2, x, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "text:1:8: 'a' has 3 numbers; expected a list of 2"));
    mor_json_free(d);
}

static void mistakes_are_told_with_their_place(void** state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "", "text:1:1: the text ends too early" },
        { "{", "ends too early" },
        { "[1, 2", "ends too early" },
        { "[1 2]", "text:1:4: expected ',' or ']'" },
        { "[1,]", "a comma before the end" },
        { "{\"a\" 1}", "expected ':'" },
        { "{a: 1}", "expected a \"key\"" },
        { "{\"a\": 1, \"a\": 2}", "in the object already" },
        { "\"abc", "does not end" },
        { "\"\\q\"", "unknown escape" },
        { "\"\\u12g4\"", "hexadecimal" },
        { "01", "expected a value" },
        { "1.", "expected a value" },
        { "1e", "expected a value" },
        { "nan", "expected a value" },
        { "1e999", "too large" },
        { "tru", "expected a value" },
        { "1 2", "text:1:3: expected the end" },
        { "\n\n  ]", "text:3:3:" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error = { 0 };
        mor_json_document* d = read_text(cases[i].text, &error);
        if (d) fail_msg("accepted: %s", cases[i].text);
        if (!strstr(error.text, cases[i].part))
            fail_msg("'%s': expected \"%s\", got \"%s\"", cases[i].text, cases[i].part, error.text);
    }
    char deep[200];
    memset(deep, '[', sizeof deep);
    mor_error error;
    assert_null(mor_json_read_text("text", deep, sizeof deep, &error));
    assert_non_null(strstr(error.text, "64 deep"));
}

/* Every prefix and every single changed byte of a document: an answer or a sentence. */
static void no_broken_text_breaks_the_reader(void** state)
{
    (void)state;
    static const char text[] = "{\"s\": [0.1, -2e5], \"t\": \"a\\u00e9\", \"o\": {\"x\": [true, false, null]}}";
    char broken[sizeof text];
    for (size_t n = 0; n < sizeof text; n++) mor_json_free(mor_json_read_text("text", text, n, NULL));
    for (size_t at = 0; at + 1 < sizeof text; at++)
        for (int c = 0; c < 256; c += 5) {
            memcpy(broken, text, sizeof text);
            broken[at] = (char)c;
            mor_json_free(mor_json_read_text("text", broken, sizeof text - 1, NULL));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_with_their_places),
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(no_broken_text_breaks_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
