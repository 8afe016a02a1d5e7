/* A journal of finished tasks: one line for each, so that work that was killed can go on.
 *
 *     conditions of the work                                  the first line
 *     NUMBER KEY TEXT CHECKSUM                                a task: separated by tabs
 *
 * The key is a number made of what the task is; a line whose key is another than today's is not used, nor is one that
 * was cut off or damaged (its checksum, FNV-1a, does not fit). Lines reach the system when the caller says so and the
 * disk once a second: a kill loses no line that was written, a power cut those of a second. Several journals may hold
 * parts of one work. */
#ifndef MOR_LAB_TASK_JOURNAL_H
#define MOR_LAB_TASK_JOURNAL_H

#include "moreau/base.h"

typedef struct mor_task_journal mor_task_journal;

/* Told of every good line. `text` may be changed. */
typedef void (*mor_task_line)(void* user, long task, uint64_t key, char* text);

/* Reads a journal; what is not there is empty. MOR_BAD_INPUT: it was made under other conditions. */
mor_code mor_task_journal_read(const char* path, const char* conditions, mor_task_line line, void* user,
                               mor_error* error);
/* For writing. With `resume` what is there is kept (a line that was cut off is ended), else it begins anew. NULL and a
 * sentence: it cannot be written. */
mor_task_journal* mor_task_journal_open(const char* path, const char* conditions, bool resume, mor_error* error);
/* `text`: without newlines. MOR_SYSTEM as soon as something is lost. */
mor_code mor_task_journal_add(mor_task_journal* journal, long task, uint64_t key, const char* text, mor_error* error);
/* What was added reaches the system: call it when there is nothing more to add for a while. */
mor_code mor_task_journal_write(mor_task_journal* journal, mor_error* error);
/* NULL is allowed. */
mor_code mor_task_journal_close(mor_task_journal* journal, mor_error* error);

#endif
