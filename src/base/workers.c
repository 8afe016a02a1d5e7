/* Threads sleep on a condition variable between runs; within a run indices are claimed one by one.
 *
 * A step has many runs of some ten to hundred microseconds, and waking a thread takes as long. Before it sleeps, a
 * thread looks for the next run for about a millisecond, and gives way to other threads while it looks. The same goes
 * for the caller, who waits for the threads. The mutex is for those who sleep: nobody takes it in a run that all find
 * by looking, since two that want it at the same moment would put one of them to sleep. Who goes to sleep first says so
 * (asleep, waits) and then looks once more; who has something to tell first does it and then looks whether anybody
 * sleeps. With sequentially consistent atomics one of them sees the other. */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct thread_entry {
    mor_workers* owner;
    pthread_t thread;
    int worker;
} thread_entry;

struct mor_workers {
    mor_allocator allocator;
    int count, started;
    pthread_mutex_t mutex;
    pthread_cond_t begin, done;
    atomic_uint_fast64_t round; /* number of the run, so that a thread takes part once */
    atomic_int busy;
    atomic_int asleep; /* threads that sleep, or are about to */
    atomic_bool waits; /* the caller sleeps, or is about to */
    atomic_bool stop;
    void (*task)(void*, int, int);
    void* user;
    int task_count;
    atomic_int next;
    thread_entry threads[];
};

static void work(mor_workers* w, int worker)
{
    for (;;) {
        int i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (i >= w->task_count) return;
        w->task(w->user, i, worker);
    }
}

enum { LOOKS = 30000, LOOKS_BEFORE_YIELD = 200 };

static void pause_between_looks(int look)
{
    if (look % LOOKS_BEFORE_YIELD == LOOKS_BEFORE_YIELD - 1) sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Looks, then sleeps, until there is a run after `seen`; false: there will be none. */
static bool next_run(mor_workers* w, uint64_t* seen)
{
    for (int look = 0; look < LOOKS && atomic_load(&w->round) == *seen && !atomic_load(&w->stop); look++)
        pause_between_looks(look);
    if (atomic_load(&w->round) == *seen && !atomic_load(&w->stop)) {
        pthread_mutex_lock(&w->mutex);
        atomic_fetch_add(&w->asleep, 1);
        while (!atomic_load(&w->stop) && atomic_load(&w->round) == *seen) pthread_cond_wait(&w->begin, &w->mutex);
        atomic_fetch_sub(&w->asleep, 1);
        pthread_mutex_unlock(&w->mutex);
    }
    *seen = atomic_load(&w->round);
    return !atomic_load(&w->stop);
}

static void* thread_main(void* argument)
{
    thread_entry* self = argument;
    mor_workers* w = self->owner;
    uint64_t seen = 0;
    while (next_run(w, &seen)) {
        work(w, self->worker);
        if (atomic_fetch_sub(&w->busy, 1) > 1 || !atomic_load(&w->waits)) continue;
        pthread_mutex_lock(&w->mutex);
        pthread_cond_signal(&w->done);
        pthread_mutex_unlock(&w->mutex);
    }
    return NULL;
}

mor_workers* mor_workers_create(const mor_allocator* allocator, int count)
{
    mor_allocator a = allocator ? *allocator : mor_allocator_default();
    if (count < 1) count = 1;
    mor_workers* w = a.resize(a.user, NULL, sizeof *w + (size_t)(count - 1) * sizeof(thread_entry));
    if (!w) return NULL;
    *w = (mor_workers){ .allocator = a, .count = count };
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->begin, NULL);
    pthread_cond_init(&w->done, NULL);
    for (int i = 0; i < count - 1; i++) {
        w->threads[i] = (thread_entry){ .owner = w, .worker = i + 1 };
        if (pthread_create(&w->threads[i].thread, NULL, thread_main, &w->threads[i]) != 0) {
            mor_workers_destroy(w);
            return NULL;
        }
        w->started++;
    }
    return w;
}

void mor_workers_destroy(mor_workers* w)
{
    if (!w) return;
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->mutex);
    for (int i = 0; i < w->started; i++) pthread_join(w->threads[i].thread, NULL);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->begin);
    pthread_cond_destroy(&w->done);
    w->allocator.resize(w->allocator.user, w, 0);
}

void mor_workers_run(mor_workers* w, int count, void (*task)(void*, int, int), void* user)
{
    if (w->started == 0 || count < 2) {
        for (int i = 0; i < count; i++) task(user, i, 0);
        return;
    }
    w->task = task;
    w->user = user;
    w->task_count = count;
    atomic_store(&w->next, 0);
    atomic_store(&w->busy, w->started);
    atomic_fetch_add(&w->round, 1);
    if (atomic_load(&w->asleep) > 0) {
        pthread_mutex_lock(&w->mutex);
        pthread_cond_broadcast(&w->begin);
        pthread_mutex_unlock(&w->mutex);
    }
    work(w, 0);
    for (int look = 0; look < LOOKS && atomic_load(&w->busy) > 0; look++) pause_between_looks(look);
    if (atomic_load(&w->busy) == 0) return;
    pthread_mutex_lock(&w->mutex);
    atomic_store(&w->waits, true);
    while (atomic_load(&w->busy) > 0) pthread_cond_wait(&w->done, &w->mutex);
    atomic_store(&w->waits, false);
    pthread_mutex_unlock(&w->mutex);
}
