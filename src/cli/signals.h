/* SIGINT, SIGTERM and time limits: the first asks to stop, the second ends the program at once. */
#ifndef MOREAU_CLI_SIGNALS_H
#define MOREAU_CLI_SIGNALS_H

#include <stdbool.h>

/* From here on: the first SIGINT or SIGTERM is noted, and a second one ends the program. `limit` seconds from now are
 * noted too; 0: no limit. */
void mor_cli_catch_signals(double limit);
/* For commands that print at their end and whose files are old or whole at any moment: after `limit` seconds
 * "moreau COMMAND: the time limit has passed" and status 1, at once. 0: no limit. */
void mor_cli_end_after(const char* command, double limit);
/* What was noted: SIGINT, SIGTERM, SIGALRM for the limit, or 0. */
int mor_cli_signal(void);
/* For mor_world_set_interrupt: set a second after the signal, when a step still goes on. */
const volatile int* mor_cli_patience(void);
/* The exit status after a signal: 130, 143; 1 for the limit. */
int mor_cli_signal_status(int signal);
/* For commands that have nothing to show before their end: says why it came early; the exit status. */
int mor_cli_stopped(const char* command);
/* "interrupted (SIGINT)", "the time limit has passed". */
const char* mor_cli_signal_name(int signal);

#endif
