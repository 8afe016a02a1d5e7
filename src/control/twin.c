/* The control of a world in the draft of a step: definitions of controllers, motors and sensors are shared, all numbers
 * that a step changes are copies. */
#include "control/control.h"

#include <stdlib.h>
#include <string.h>

void mor_control_twin_destroy(mor_control* c)
{
    if (!c) return;
    for (int i = 0; i < c->robot_count; i++) mor_control_robot_twin_destroy(c->robots[i]);
    free(c->robots);
    free(c->state.data);
    mor_arena_destroy(c->scratch);
    free(c);
}

/* Records of robots that came since the twin was made. */
static bool add_twins(const mor_world* w, mor_control* t)
{
    const mor_control* c = w->control;
    if (t->robot_count < c->robot_count) {
        mor_control_robot** robots = realloc(t->robots, (size_t)c->robot_count * sizeof *robots);
        if (!robots) return false;
        t->robots = robots;
        while (t->robot_count < c->robot_count) t->robots[t->robot_count++] = NULL;
    }
    for (int i = 0; i < c->robot_count; i++)
        if (c->robots[i] && !t->robots[i] &&
            !(t->robots[i] = mor_control_robot_twin(c->robots[i], w->robots[i]->model)))
            return false;
    return true;
}

bool mor_control_take(const mor_world* w, mor_control** twin)
{
    const mor_control* c = w->control;
    if (!c) return true;
    mor_control* t = *twin;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (t) t->scratch = mor_arena_create(&w->allocator);
        if (!t || !t->scratch) {
            free(t);
            return false;
        }
        *twin = t;
    }
    if (!add_twins(w, t)) return false;
    if (t->state.capacity < c->state.count) {
        double* data = realloc(t->state.data, (size_t)c->state.count * sizeof *data);
        if (!data) return false;
        t->state.data = data;
        t->state.capacity = c->state.count;
    }
    t->state.count = c->state.count;
    if (c->state.count) memcpy(t->state.data, c->state.data, (size_t)c->state.count * sizeof(double));
    t->period = c->period;
    t->next = c->next;
    t->controllers = c->controllers;
    t->sensors = c->sensors;
    for (int i = 0; i < c->robot_count; i++)
        if (c->robots[i] && !mor_control_robot_copy(c->robots[i], t->robots[i], w->robots[i]->model)) return false;
    return true;
}

void mor_control_give(mor_world* w, const mor_control* t)
{
    mor_control* c = w->control;
    if (c->state.count) memcpy(c->state.data, t->state.data, (size_t)c->state.count * sizeof(double));
    c->next = t->next;
    for (int i = 0; i < c->robot_count; i++)
        if (c->robots[i]) mor_control_robot_copy_state(t->robots[i], c->robots[i], w->robots[i]->model);
}
