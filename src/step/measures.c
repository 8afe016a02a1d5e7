/* Physics measured on the state, not in the solver: energy, momentum, penetration, hash. */
#include "model/joints.h"

#include <string.h>

double mor_world_kinetic_energy(const mor_world* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->robot_count; i++) sum += mor_robot_kinetic_energy(w->robots[i]->model, w->robots[i]->work);
    for (int i = 0; i < w->tree_count; i++) {
        if (w->trees[i].body < 0) continue;
        const mor_body* b = &w->bodies[w->trees[i].body];
        sum += 0.5 * b->mass.mass * mor_dot(b->v, b->v);
        sum += w->dimension == 3 ? 0.5 * mor_dot(b->w, b->L) : 0.5 * b->mass.inertia.m[2][2] * b->w.z * b->w.z;
    }
    return sum;
}

double mor_world_potential_energy(const mor_world* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->tree < 0) continue;
        sum -= b->mass.mass * mor_dot(w->gravity, b->x);
    }
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        mor_joint_row row;
        if (!(j->def.stiffness > 0.0) || !mor_joint_free_row(w, j, &row)) continue;
        sum += 0.5 * j->def.stiffness * (row.phi - j->def.rest) * (row.phi - j->def.rest);
    }
    return sum;
}

void mor_world_momentum(const mor_world* w, double momentum[6])
{
    mor_vec3 p = mor_v3(0, 0, 0), L = mor_v3(0, 0, 0);
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->tree < 0) continue;
        mor_vec3 mv = mor_scale(b->mass.mass, b->v);
        p = mor_add(p, mv);
        L = mor_add(L, mor_cross(b->x, mv));
        L = mor_add(L, w->dimension == 3 ? mor_body_spin(b) : mor_v3(0, 0, b->mass.inertia.m[2][2] * b->w.z));
    }
    memcpy(momentum, (double[6]){ p.x, p.y, p.z, L.x, L.y, L.z }, 6 * sizeof(double));
}

double mor_world_penetration(const mor_world* w) { return w->deepest; }

/* FNV-1a over 64-bit words. */
static uint64_t mix(uint64_t hash, const double* x, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int k = 0; k < 8; k++) hash = (hash ^ (bits >> (8 * k) & 255)) * 1099511628211u;
    }
    return hash;
}

uint64_t mor_world_hash(const mor_world* w)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        hash = mix(hash,
                   (double[13]){ b->x.x, b->x.y, b->x.z, b->q.w, b->q.x, b->q.y, b->q.z, b->v.x, b->v.y, b->v.z, b->w.x,
                                 b->w.y, b->w.z },
                   13);
    }
    return hash;
}
