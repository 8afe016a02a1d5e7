/* The command from outside: shell lines in a folder of their own, with $M as the command. */
#ifndef MOREAU_TESTS_COMMAND_H
#define MOREAU_TESTS_COMMAND_H

#include <stddef.h>

/* What the last line printed. */
extern char command_output[1 << 16], command_errors[1 << 16];

/* Set-up and tear-down of a group: makes and removes the folder. */
int command_open(void** state);
int command_close(void** state);
/* A file in the folder; lives until the next call but three. */
const char* command_at(const char* name);
/* The exit status. A line that ends by a signal gives 128 plus its number. */
int command_run(const char* line);
/* Several, one after another, to make files: 0, or -1 once one fails, after what it printed. */
int command_run_all(const char* const* lines, size_t count);
/* Fails the test unless the exit status is `status` and standard error contains `says` (NULL: anything). */
void command_expect(const char* line, int status, const char* says);

#endif
