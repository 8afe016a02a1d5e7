/* Many tasks in several processes of one machine. A process runs a handful of tasks and ends, so that memory stays
 * bounded and a task that crashes costs its own result only: it is tried once more, alone, and then given up. What a
 * task gives must not depend on which process runs it. The caller fills in count, jobs, record, run, keep and user of a
 * mor_farm and calls mor_farm_run.
 *
 * Threads: one, which must have no others beside it (processes are forked). */
#ifndef MOR_LAB_FARM_H
#define MOR_LAB_FARM_H

#include "moreau/base.h"

/* Places of tasks, one after the other. */
typedef struct mor_farm_part {
    long first, count;
} mor_farm_part;

typedef struct mor_farm {
    const long* tasks; /* numbers of the tasks; NULL: 0 to count - 1 */
    long count;
    int jobs;          /* processes */
    size_t record;     /* bytes of a result */
    double time_limit; /* seconds on the clock for a task; 0: none */
    void* user;
    /* In a process of its own: the result of a task. */
    void (*run)(void* user, long task, void* record);
    /* Here: a result, in any order. `record` NULL: the task crashed or was too slow, and `why` says so. A failure ends
     * the work. */
    mor_code (*keep)(void* user, long task, const void* record, const char* why, bool late, mor_error* error);
    /* After results were kept, before waiting for more (may be NULL): writes what should outlive this process. */
    mor_code (*rest)(void* user, mor_error* error);
    /* About five times a second (may be NULL): false stops, what is done is kept. */
    bool (*progress)(void* user, long done, long count);
    /* The next part of at most `wanted` places, count 0: there is none. NULL: all of them, in order. Called when a
     * process is free. */
    mor_farm_part (*next)(void* user, long wanted);
    /* Called a hundred times a second when it is not NULL: work beside this. */
    void (*beside)(void* user);
    bool stopped; /* set: progress said so */
} mor_farm;

mor_code mor_farm_run(mor_farm* farm, mor_error* error);

#endif
