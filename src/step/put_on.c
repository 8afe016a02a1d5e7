/* mor_world_put_on: moves a body, or a whole robot, down or up onto what lies below it (collision/put_on.c). */
#include "step/put_on.h"

#include "collision/put_on.h"
#include "model/articulated.h"

#include <stdlib.h>

/* A joint that holds one of the bodies to the world or to a body that stays. */
static const mor_joint* outer_joint(const mor_world* w, const int* bodies, int count)
{
    const mor_joint* joints = w->joints.data;
    for (int k = 0; k < w->joints.count; k++) {
        bool own[2] = { false, false };
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < count; i++) own[side] = own[side] || joints[k].body[side] == bodies[i];
        if (own[0] != own[1]) return &joints[k];
    }
    return NULL;
}

static void move_robot(mor_world* w, int robot, mor_vec3 by)
{
    mor_pose base;
    mor_world_robot_state(w, robot, &base, NULL, NULL);
    base.position = mor_add(base.position, by);
    mor_world_robot_set_state(w, robot, &base, NULL, NULL);
}

/* Whole robots move once, by their base. */
static void move(mor_world* w, const int* bodies, int count, mor_vec3 by)
{
    for (int i = 0; i < count; i++) {
        mor_body* b = &w->bodies[bodies[i]];
        if (b->robot) {
            if (b->link == 0 || i == 0 || w->bodies[bodies[i - 1]].robot != b->robot) move_robot(w, b->robot - 1, by);
        } else b->x = mor_add(b->x, by);
    }
    for (int i = 0; i < count; i++) {
        mor_body* b = &w->bodies[bodies[i]];
        b->x0 = b->x;
    }
    w->detected = false;
}

mor_code mor_world_put_on(mor_world* w, const mor_body_id* bodies, int count, mor_body_id on, double* lift,
                          mor_error* error)
{
    return mor_put_on(w, bodies, count, on, NULL, lift, error);
}

mor_code mor_put_on(mor_world* w, const mor_body_id* bodies, int count, mor_body_id on, const bool* waiting,
                    double* lift, mor_error* error)
{
    int* slots = malloc(((size_t)count + 1) * sizeof *slots);
    if (!slots) return mor_fail(error, MOR_SYSTEM, "out of memory");
    bool shaped = false;
    for (int i = 0; i < count; i++) {
        const mor_body* b = mor_body_at(w, bodies[i]);
        slots[i] = (int)bodies[i].index1 - 1;
        shaped = shaped || (b->shape_count > 0 && !b->no_collision);
    }
    const mor_joint* held = outer_joint(w, slots, count);
    mor_vec3 up = mor_world_up(w);
    double height =
        shaped && !held ? mor_height_above(w, slots, count, on.index1 ? (int)on.index1 - 1 : -1, waiting, up) : 0.0;
    mor_code code = MOR_OK;
    if (!shaped) code = mor_fail(error, MOR_BAD_INPUT, "it has no shapes that could touch anything");
    else if (held) code = mor_fail(error, MOR_BAD_INPUT, "joint '%s' holds it where it is", held->def.name);
    else if (!isfinite(height) && on.index1)
        code = mor_fail(error, MOR_BAD_INPUT, "nothing of '%s' lies below it", mor_body_name(w, on));
    else if (!isfinite(height)) code = mor_fail(error, MOR_BAD_INPUT, "nothing lies below it");
    if (code == MOR_OK) move(w, slots, count, mor_scale(height, up));
    if (code == MOR_OK && lift) *lift = height;
    free(slots);
    return code;
}
