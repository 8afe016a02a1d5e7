/* Trees on threads (each_tree.h): runs of CHUNK trees are the tasks. */
#include "model/each_tree.h"

#include "base/workers.h"
#include "model/world.h"

/* trees of a task; velocities from which waking the threads, some microseconds, is worth it */
enum { CHUNK = 8, WORTH = 512 };

typedef struct each_tree {
    mor_step* step;
    void (*task)(mor_step*, int);
} each_tree;

/* Does all that is done to such a tree stay within it? */
static bool is_own(const mor_tree* t)
{
    return t->kind == &mor_tree_free || t->kind == &mor_tree_planar || t->kind == &mor_tree_particle ||
           t->kind == &mor_tree_robot;
}

static void run_chunk(void* user, int chunk, int worker)
{
    (void)worker;
    const each_tree* k = user;
    const mor_world* w = k->step->w;
    int end = (chunk + 1) * CHUNK < w->tree_count ? (chunk + 1) * CHUNK : w->tree_count;
    for (int i = chunk * CHUNK; i < end; i++)
        if (is_own(&w->trees[i])) k->task(k->step, i);
}

void mor_step_each_tree(mor_step* step, void (*task)(mor_step* step, int tree))
{
    const mor_world* w = step->w;
    if (step->threads == 1 || step->dof < WORTH) {
        for (int i = 0; i < w->tree_count; i++) task(step, i);
        return;
    }
    each_tree k = { step, task };
    mor_workers_run(step->workers, (w->tree_count + CHUNK - 1) / CHUNK, run_chunk, &k);
    for (int i = 0; i < w->tree_count; i++)
        if (!is_own(&w->trees[i])) task(step, i);
}
