/* The motion before a step is tried: kept, and put back after the trial. Where the trial got to is kept, too, if it is
 * to be the step. */
#include "model/articulated.h"
#include "step/stabilise.h"

#include <string.h>

static void carry_robot(mor_robot* r, double* at, bool store)
{
    size_t n = (size_t)mor_robot_joint_count(r->model), N = (size_t)mor_robot_dof(r->model);
    if (store) {
        memcpy(at, &r->base, sizeof r->base);
        memcpy(at + 7, r->s, n * sizeof(double));
        memcpy(at + 7 + n, r->nu, N * sizeof(double));
        at[7 + n + N] = r->projected;
    } else {
        memcpy(&r->base, at, sizeof r->base);
        memcpy(r->s, at + 7, n * sizeof(double));
        memcpy(r->nu, at + 7 + n, N * sizeof(double));
        r->projected = at[7 + n + N];
    }
}

static mor_trial_motion motion_of(const mor_body* b)
{
    return (mor_trial_motion){ b->x, b->v, b->w, b->L, b->q, b->angle };
}

bool mor_trial_begin(const mor_step* k, mor_trial* s)
{
    const mor_world* w = k->w;
    s->bodies = mor_arena_alloc(k->arena, (size_t)w->body_count * sizeof *s->bodies);
    s->robots = mor_arena_zero(k->arena, (size_t)w->robot_count + 1, sizeof *s->robots);
    if (!s->bodies || !s->robots) return false;
    for (int i = 0; i < w->body_count; i++) s->bodies[i] = motion_of(&w->bodies[i]);
    for (int i = 0; i < w->robot_count; i++) {
        size_t count = (size_t)(8 + mor_robot_joint_count(w->robots[i]->model) + mor_robot_dof(w->robots[i]->model));
        if (!(s->robots[i] = mor_arena_alloc(k->arena, count * sizeof(double)))) return false;
        carry_robot(w->robots[i], s->robots[i], true);
    }
    return true;
}

static void put(const mor_trial_motion* m, mor_body* b)
{
    b->x = m->x, b->v = m->v, b->w = m->w, b->L = m->L, b->q = m->q, b->angle = m->angle;
}

static void put_back(mor_world* w, const mor_trial* s, int body) { put(&s->bodies[body], &w->bodies[body]); }

static void put_back_robot(mor_world* w, const mor_trial* s, int robot)
{
    mor_robot* r = w->robots[robot];
    carry_robot(r, s->robots[robot], false);
    mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
}

void mor_trial_end(mor_world* w, const mor_trial* s)
{
    for (int i = 0; i < w->body_count; i++) put_back(w, s, i);
    for (int i = 0; i < w->robot_count; i++) put_back_robot(w, s, i);
}

void mor_trial_end_tree(mor_world* w, const mor_trial* s, int tree)
{
    const mor_tree* t = &w->trees[tree];
    if (t->body >= 0) put_back(w, s, t->body);
    if (!t->robot) return;
    for (int l = 0; l < mor_robot_link_count(t->robot->model); l++)
        if (t->robot->bodies[l] >= 0) put_back(w, s, t->robot->bodies[l]);
    for (int i = 0; i < w->robot_count; i++)
        if (w->robots[i] == t->robot) put_back_robot(w, s, i);
}

/* Robots have more state than bodies, and trees in smooth motion are moved by the integrator. */
void mor_trial_keep(mor_step* k)
{
    const mor_world* w = k->w;
    k->tried = NULL;
    if (w->robot_count > 0 || k->plan.smooth || k->nu_move || w->on_integrate) return;
    mor_trial_motion* bodies = mor_arena_alloc(k->arena, (size_t)w->body_count * sizeof *bodies);
    k->tried_nu = mor_arena_alloc(k->arena, ((size_t)k->dof + 1) * sizeof *k->tried_nu);
    if (!bodies || !k->tried_nu) return;
    for (int i = 0; i < w->body_count; i++) bodies[i] = motion_of(&w->bodies[i]);
    memcpy(k->tried_nu, k->nu_new, (size_t)k->dof * sizeof *k->tried_nu);
    k->tried = bodies;
}

bool mor_trial_take(mor_step* k)
{
    if (!k->tried || memcmp(k->tried_nu, k->nu_new, (size_t)k->dof * sizeof *k->tried_nu) != 0) return false;
    for (int i = 0; i < k->w->body_count; i++) put(&k->tried[i], &k->w->bodies[i]);
    k->tried = NULL;
    return true;
}
