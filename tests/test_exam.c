/* The exam (tests/exam): its quick experiments at every test; all of them, and the page, when MOREAU_EXAM names it. */
#include "exam/exam.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void every_answer_is_right_or_its_cause_is_named(void** state)
{
    (void)state;
    const char *page = getenv("MOREAU_EXAM"), *only = getenv("MOREAU_EXAM_ONLY");
    static exam_row rows[200];
    int count = 0, right = 0, unnamed = 0;
    for (int a = 0; exam_areas[a]; a++)
        for (const experiment* x = exam_areas[a]; x->name; x++) {
            if ((!page && !only && x->slow) || (only && !strstr(x->name, only) && !strstr(x->area, only))) continue;
            exam_row* r = &rows[count++];
            *r = exam_run(x, page || only);
            right += r->right;
            unnamed += !r->right && !x->cause;
            if (page || !r->right)
                print_message("%-5s %-45s expected %.8g got %.8g error %.1e order %.1f unsolved %d of %d %.2f s %s\n",
                              r->right ? "right" : "WRONG", x->name, r->expected, r->got, r->error, r->order,
                              r->unsolved, r->steps, r->seconds, r->trouble);
            assert_true(x->tolerance <= 0.01 || x->wide);
        }
    print_message("%d of %d right\n", right, count);
    if (page) {
        char picture[512];
        snprintf(picture, sizeof picture, "%.500s", page);
        char* dot = strrchr(picture, '.');
        snprintf(dot ? dot : picture + strlen(picture), 5, ".svg");
        assert_true(exam_write(page, picture, rows, count));
        assert_true(count >= 60);
    }
    assert_true(right >= 0.95 * count);
    assert_int_equal(unnamed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_answer_is_right_or_its_cause_is_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
