/* A few threads that work through a numbered list of independent tasks. */
#ifndef MOREAU_BASE_WORKERS_H
#define MOREAU_BASE_WORKERS_H

#include "moreau/base.h"

typedef struct mor_workers mor_workers;

/* `count` workers including the caller; 1 starts no thread. NULL when out of memory or threads. */
mor_workers* mor_workers_create(const mor_allocator* allocator, int count);
void mor_workers_destroy(mor_workers* workers);

/* Calls task(user, index, worker) for every index in [0, count), each once, on any worker in
 * [0, workers). Returns when all are done. Tasks must not depend on each other's order. */
void mor_workers_run(mor_workers* workers, int count, void (*task)(void* user, int index, int worker), void* user);

#endif
