/* Numbers as text in the C locale, see number.h. The locale is changed for the calling thread only (POSIX uselocale),
 * and only where it has another decimal point; "C" is a constant object, so nothing is allocated. */
#include "base/number.h"

#include <langinfo.h>
#include <locale.h>
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

double mor_strtod(const char* text, char** end)
{
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
