/* Numbers as text in the C locale, see number.h. The locale is changed for the calling thread only (POSIX uselocale),
 * and only where it has another decimal point; "C" is a constant object, so nothing is allocated.
 *
 * A short decimal m 10^-k with m < 2^53 and k <= 22 is the quotient of two doubles that are exact, so one division
 * rounds it correctly (Clinger (1990), How to read floating point numbers accurately): the bits of strtod for a tenth
 * of its work. Scenes, tables and plans are made of such numbers. */
#include "base/number.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The locale that was there, or 0 when nothing had to be changed. */
static locale_t enter(void)
{
    const char* point = nl_langinfo(RADIXCHAR);
    if (point[0] == '.' && point[1] == '\0') return (locale_t)0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void leave(locale_t before)
{
    if (before) uselocale(before);
}

enum { EXACT_DIGITS = 15 };

/* Digits with at most one point among them, no exponent, at most EXACT_DIGITS of them. NULL: something else. */
static const char* read_short(const char* s, double* value)
{
    static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
    bool negative = *s == '-';
    if (*s == '-' || *s == '+') s++;
    int64_t m = 0;
    int digits = 0, fraction = 0;
    for (; *s >= '0' && *s <= '9' && digits <= EXACT_DIGITS; s++, digits++) m = 10 * m + (*s - '0');
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9' && digits <= EXACT_DIGITS; s++, digits++, fraction++) m = 10 * m + (*s - '0');
    if (digits == 0 || digits > EXACT_DIGITS || *s == 'e' || *s == 'E' || *s == 'x' || *s == 'X' || *s == 'p')
        return NULL;
    double magnitude = (double)m / powers[fraction];
    *value = negative ? -magnitude : magnitude;
    return s;
}

double mor_strtod(const char* text, char** end)
{
    double quick;
    const char* after = read_short(text, &quick);
    if (after) {
        if (end) *end = (char*)after;
        return quick;
    }
    locale_t before = enter();
    double value = strtod(text, end);
    leave(before);
    return value;
}

int mor_print_number(char* text, size_t size, double value)
{
    locale_t before = enter();
    int length = snprintf(text, size, "%.17g", value);
    leave(before);
    return length;
}
