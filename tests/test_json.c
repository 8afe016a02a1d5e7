/* The JSON writer: what it writes is compared with the text the standard (RFC 8259) asks for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/json/json.h"

/* Collects what a function writes. */
static char* written(void (*write)(mor_json*))
{
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    mor_json json = mor_json_begin(out);
    write(&json);
    assert_true(mor_json_finish(&json));
    fclose(out);
    return text;
}

static void check(void (*write)(mor_json*), const char* expected)
{
    char* text = written(write);
    assert_string_equal(text, expected);
    free(text);
}

static void one_number(mor_json* json) { mor_json_number(json, NULL, 0.1); }
static void one_nan(mor_json* json) { mor_json_number(json, NULL, NAN); }
static void one_infinity(mor_json* json) { mor_json_number(json, NULL, -INFINITY); }
static void one_text(mor_json* json) { mor_json_text(json, NULL, "a\"b\\c\n\t\r\x01\x7f/"); }
static void one_utf8(mor_json* json) { mor_json_text(json, NULL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"); }
static void one_broken_utf8(mor_json* json)
{
    mor_json_text(json, NULL,
                  "a\xff"
                  "b\xc3(\xed\xa0\x80\xe2\x82");
}
static void one_empty_object(mor_json* json)
{
    mor_json_object(json, NULL);
    mor_json_end(json);
}
static void one_nested(mor_json* json)
{
    mor_json_object(json, NULL);
    mor_json_text(json, "name", "peg");
    mor_json_list(json, "bodies");
    for (int i = 0; i < 2; i++) {
        mor_json_object(json, NULL);
        mor_json_integer(json, "i", i);
        mor_json_numbers(json, "p", (double[]){ 1, -2.5, NAN }, 3);
        mor_json_list(json, "l");
        mor_json_bool(json, NULL, true);
        mor_json_null(json, NULL);
        mor_json_end(json);
        mor_json_end(json);
    }
    mor_json_end(json);
    mor_json_numbers(json, "none", NULL, 0);
    mor_json_end(json);
}

static void numbers_have_seventeen_digits(void** state)
{
    (void)state;
    check(one_number, "0.10000000000000001\n");
}

static void numbers_read_back_exactly(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    for (int i = 0; i < 1000; i++) {
        double value = ldexp(mor_rng_uniform(&rng) - 0.5, (int)(600 * mor_rng_uniform(&rng)) - 300);
        char* text = NULL;
        size_t size;
        FILE* out = open_memstream(&text, &size);
        mor_json json = mor_json_begin(out);
        mor_json_number(&json, NULL, value);
        mor_json_finish(&json);
        fclose(out);
        assert_true(strtod(text, NULL) == value);
        free(text);
    }
}

static void what_json_cannot_say_becomes_null(void** state)
{
    (void)state;
    check(one_nan, "null\n");
    check(one_infinity, "null\n");
}

static void texts_are_escaped(void** state)
{
    (void)state;
    check(one_text, "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f/\"\n");
    check(one_utf8, "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
}

static void bytes_that_are_not_utf8_are_replaced(void** state)
{
    (void)state;
#define R "\xef\xbf\xbd"
    check(one_broken_utf8, "\"a" R "b" R "(" R R R R R "\"\n");
}

static void objects_and_lists_nest(void** state)
{
    (void)state;
    check(one_empty_object, "{}\n");
    check(one_nested, "{\n  \"name\": \"peg\",\n  \"bodies\": [\n"
                      "    {\"i\": 0, \"p\": [1, -2.5, null], \"l\": [true, null]},\n"
                      "    {\"i\": 1, \"p\": [1, -2.5, null], \"l\": [true, null]}\n  ],\n  \"none\": []\n}\n");
}

static void a_full_disk_is_noticed(void** state)
{
    (void)state;
    FILE* out = fopen("/dev/full", "w");
    if (!out) {
        print_message("SKIP: no /dev/full here\n");
        skip();
    }
    mor_json json = mor_json_begin(out);
    mor_json_number(&json, NULL, 1);
    assert_false(mor_json_finish(&json));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_seventeen_digits),
        cmocka_unit_test(numbers_read_back_exactly),
        cmocka_unit_test(what_json_cannot_say_becomes_null),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(objects_and_lists_nest),
        cmocka_unit_test(a_full_disk_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
