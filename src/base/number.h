/* Numbers as text, the same in every locale: files, options and JSON have a decimal point, also in a host (an
 * interpreter, a co-simulation tool) that has set a decimal comma. */
#ifndef MOREAU_BASE_NUMBER_H
#define MOREAU_BASE_NUMBER_H

#include <stddef.h>

/* strtod as in the C locale. */
double mor_strtod(const char* text, char** end);
/* 17 digits, which read back exactly, as in the C locale; returns what snprintf does. */
int mor_print_number(char* text, size_t size, double value);

#endif
