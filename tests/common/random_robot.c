#include "common/random_robot.h"

#include <stdio.h>
#include <stdlib.h>

double random_number(mor_rng* rng, double size) { return size * (2.0 * mor_rng_uniform(rng) - 1.0); }

static mor_vec3 random_vector(mor_rng* rng, double size)
{
    double x = random_number(rng, size), y = random_number(rng, size), z = random_number(rng, size);
    return mor_v3(x, y, z);
}

mor_robot_model* random_robot(mor_rng* rng, int links, bool floating)
{
    mor_link_def* defs = calloc((size_t)links, sizeof *defs);
    mor_frame_def* frames = calloc((size_t)links, sizeof *frames);
    int* order = malloc((size_t)links * sizeof *order);
    for (int i = 0; i < links; i++) order[i] = i;
    for (int i = links - 2; i > 0; i--) {
        int j = (int)(mor_rng_uniform(rng) * (i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    bool chain = mor_rng_uniform(rng) < 0.3;
    for (int i = 0; i < links; i++) {
        mor_link_def* l = &defs[i];
        *l = mor_link_def_default();
        snprintf(l->name, sizeof l->name, "link%d", i);
        snprintf(l->joint_name, sizeof l->joint_name, "joint%d", i);
        l->mass.mass = 0.1 + mor_rng_uniform(rng);
        l->mass.com = random_vector(rng, 0.3);
        /* inertia of three point pairs: satisfies the triangle inequality */
        double a = 0.01 + mor_rng_uniform(rng), b = 0.01 + mor_rng_uniform(rng), c = 0.01 + mor_rng_uniform(rng);
        mor_mat3 R = mor_quat_matrix(mor_rng_rotation(rng)),
                 D = mor_mat3_diag(0.1 * (b + c), 0.1 * (a + c), 0.1 * (a + b));
        l->mass.inertia = mor_mat3_rotate(&R, &D);
        frames[i].link = i;
        snprintf(frames[i].name, sizeof frames[i].name, "frame%d", i);
        frames[i].pose = (mor_pose){ random_vector(rng, 0.5), mor_rng_rotation(rng) };
        if (i == 0) continue;
        l->parent = chain ? i - 1 : (int)(mor_rng_uniform(rng) * i);
        l->joint = order[i - 1];
        l->type = mor_rng_uniform(rng) < 0.3 ? MOR_PRISMATIC : MOR_REVOLUTE;
        l->pose = (mor_pose){ random_vector(rng, 0.5), mor_rng_rotation(rng) };
        l->axis = mor_add(random_vector(rng, 1.0), mor_v3(0, 0, 1.5));
    }
    mor_error error;
    mor_robot_model* model = mor_robot_create(defs, links, frames, links, floating, &error);
    if (!model) fprintf(stderr, "%s\n", error.text);
    free(defs);
    free(frames);
    free(order);
    return model;
}

void random_robot_move(const mor_robot_model* model, mor_pose* base, double* s, const double* step)
{
    if (mor_robot_floating(model)) {
        base->position = mor_add(base->position, mor_v3(step[0], step[1], step[2]));
        base->rotation = mor_quat_mul(mor_quat_exp(mor_v3(step[3], step[4], step[5])), base->rotation);
        step += 6;
    }
    for (int i = 0; i < mor_robot_joint_count(model); i++) s[i] += step[i];
}
