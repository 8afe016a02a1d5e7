/* Self-collision of robots: which pairs of links cannot touch each other.
 *
 * Shapes of neighbouring links overlap at their joint in nearly every robot file, and shapes of links that are further
 * apart overlap where the shapes are coarse. Contacts between them would push for ever against joints that cannot give
 * way. Left out are
 *
 *   neighbours   links at most two joints apart; joints that close loops count like those of the tree, and links that
 *                a loop welds together are one
 *   overlaps     links that overlap in the reference position: every joint at 0, or at the middle of its limits where
 *                these exclude 0 (at the finite limit, where there is one only); followers (mimic) as their joint says
 *
 * Everything else collides like any two bodies.
 *
 * Cost: O(links^2) bounding spheres, and a pair test where these meet; once per robot, and again when joints are added.
 * */
#include "collision/self_pairs.h"

#include "base/elementary.h"
#include "collision/pair_table.h"
#include "model/articulated.h"

#include <stdlib.h>
#include <string.h>

#define DEEP 1e-6 /* of the radius of the smaller shape: what only touches does not overlap */

enum { FAR = 3 }; /* more than two joints */

typedef struct links {
    mor_world* w;
    const mor_link_group* g;
    int count;
    int* part;               /* of every link: links that are welded together are one part */
    unsigned char* distance; /* count x count: joints between two parts, or FAR */
    mor_pose* pose;          /* of the links in the reference position */
} links;

/* ----------------------------------------------------------------------------------- neighbours */

/* The link of a body, -1: none; the world is part of a base that is held. */
static int link_of(const links* k, int slot)
{
    for (int i = 0; i < k->count; i++)
        if (slot >= 0 && k->g->bodies[i].index1 == (uint32_t)slot + 1) return i;
    return slot < 0 && !k->g->model->floating ? 0 : -1;
}

static void join(links* k, int i, int j)
{
    i = k->part[i], j = k->part[j];
    if (i != j) k->distance[i * k->count + j] = k->distance[j * k->count + i] = 1;
}

/* Links that a weld holds together are one part. */
static void weld(links* k, int i, int j)
{
    int from = k->part[i], to = k->part[j];
    for (int n = 0; n < k->count; n++)
        if (k->part[n] == from) k->part[n] = to;
}

/* Joints between parts; those between links that are close are found from it. */
static void find_neighbours(links* k)
{
    int n = k->count;
    memset(k->distance, FAR, (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) k->part[i] = i;
    for (int welds = 1; welds >= 0; welds--)
        for (int i = 0; i < k->w->joints.count; i++) {
            const mor_joint* j = &((const mor_joint*)k->w->joints.data)[i];
            int a = link_of(k, j->body[0]), b = link_of(k, j->body[1]);
            if (a < 0 || b < 0 || (j->def.kind == MOR_JOINT_FIXED) != welds) continue;
            if (welds) weld(k, a, b);
            else join(k, a, b);
        }
    for (int i = 1; i < n; i++) join(k, i, k->g->model->links[i].parent);
    for (int m = 0; m < n; m++) /* both at one joint from part m */
        for (int i = 0; i < n; i++)
            for (int j = 0; k->distance[i * n + m] == 1 && j < i; j++)
                if (k->distance[j * n + m] == 1 && k->distance[i * n + j] == FAR)
                    k->distance[i * n + j] = k->distance[j * n + i] = 2;
    for (int i = 0; i < n; i++) k->distance[i * (n + 1)] = 0;
}

static bool are_neighbours(const links* k, int i, int j)
{
    return k->distance[k->part[i] * k->count + k->part[j]] != FAR;
}

/* ------------------------------------------------------------------------------------- overlaps */

static double reference(const mor_link_def* l)
{
    if (l->lower <= 0.0 && l->upper >= 0.0) return 0.0;
    if (isinf(l->lower) || isinf(l->upper)) return isinf(l->lower) ? l->upper : l->lower;
    return 0.5 * (l->lower + l->upper);
}

static bool place(links* k)
{
    const mor_robot_model* m = k->g->model;
    mor_robot_work* work = mor_robot_work_create(m);
    double* s = calloc((size_t)m->joint_count + 1, sizeof *s);
    if (work && s) {
        for (int j = 0; j < m->joint_count; j++) s[j] = reference(&m->links[m->link_of_joint[j]]);
        for (int pass = 0; pass < m->joint_count; pass++) { /* followers of followers */
            bool changed = false;
            for (int j = 0; j < m->joint_count; j++) {
                const mor_link_def* l = &m->links[m->link_of_joint[j]];
                double follows = l->mimic >= 0 ? l->mimic_ratio * s[l->mimic] + l->mimic_offset : s[j];
                changed = changed || follows != s[j];
                s[j] = follows;
            }
            if (!changed) break;
        }
        mor_pose base = mor_pose_identity();
        mor_robot_update(m, work, &base, s, NULL);
        for (int i = 0; i < k->count; i++) k->pose[i] = mor_robot_link_pose(m, work, i);
    }
    bool placed = work && s;
    mor_robot_work_destroy(work);
    free(s);
    return placed;
}

/* How deep two shapes are in each other; 0: they are not. */
static double depth_of(const mor_library* library, const mor_geometry* a, const mor_pose* A, const mor_geometry* b,
                       const mor_pose* B)
{
    mor_vec3 d = mor_sub(A->position, B->position);
    double reach = a->radius + b->radius, deepest = 0.0;
    bool swap;
    if (mor_dot(d, d) > reach * reach) return 0.0;
    mor_pair_test test = mor_library_pair(library, a, b, &swap);
    if (!test) return 0.0;
    mor_point points[MOR_MAX_POINTS];
    uint32_t words[4] = { 0 };
    int n = mor_pair_run(test, swap, a, A, b, B, 0.0, words, points);
    for (int i = 0; i < n; i++) deepest = mor_max(deepest, -points[i].gap);
    return deepest > DEEP * mor_min(a->radius, b->radius) ? deepest : 0.0;
}

static double overlap(const links* k, int i, int j)
{
    const mor_body *a = mor_body_at(k->w, k->g->bodies[i]), *b = mor_body_at(k->w, k->g->bodies[j]);
    double deepest = 0.0;
    for (int p = 0; p < a->shape_count; p++)
        for (int q = 0; q < b->shape_count; q++) {
            mor_pose A = mor_pose_mul(&k->pose[i], &a->shapes[p].pose),
                     B = mor_pose_mul(&k->pose[j], &b->shapes[q].pose);
            deepest = mor_max(deepest, depth_of(k->w->library, a->shapes[p].geometry, &A, b->shapes[q].geometry, &B));
        }
    return deepest;
}

/* ---------------------------------------------------------------------------------------- pairs */

static bool leave_out(links* k, int i, int j, double depth)
{
    mor_world* w = k->w;
    mor_body_id a = k->g->bodies[i], b = k->g->bodies[j];
    mor_left_out* list = w->left_out.data;
    for (int n = 0; n < w->left_out.count; n++)
        if (list[n].body[0].index1 == a.index1 && list[n].body[1].index1 == b.index1 &&
            list[n].body[0].generation == a.generation && list[n].body[1].generation == b.generation)
            return true;
    if (mor_world_ignore_pair(w, a, b)) return false;
    if (!mor_buffer_reserve(&w->allocator, &w->left_out, w->left_out.count + 1, sizeof *list)) return false;
    ((mor_left_out*)w->left_out.data)[w->left_out.count++] = (mor_left_out){ { a, b }, depth };
    return true;
}

static bool has_shapes(const links* k, int link)
{
    return mor_body_valid(k->w, k->g->bodies[link]) && mor_body_at(k->w, k->g->bodies[link])->shape_count > 0;
}

static bool leave_out_pairs(links* k)
{
    int n = k->count;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; has_shapes(k, i) && j < n; j++) {
            if (!has_shapes(k, j)) continue;
            bool near = are_neighbours(k, i, j);
            double depth = near ? 0.0 : overlap(k, i, j);
            if ((near || depth > 0.0) && !leave_out(k, i, j, depth)) return false;
        }
    return true;
}

bool mor_world_leave_out(mor_world* w)
{
    mor_link_group* groups = w->groups.data;
    for (int i = 0; i < w->groups.count; i++) {
        if (groups[i].joints == w->joints.count) continue;
        size_t n = (size_t)groups[i].model->link_count;
        links k = { .w = w, .g = &groups[i], .count = (int)n };
        k.distance = malloc(n * n);
        k.part = malloc(n * sizeof *k.part);
        k.pose = malloc(n * sizeof *k.pose);
        bool done = k.distance && k.part && k.pose && place(&k);
        if (done) find_neighbours(&k);
        done = done && leave_out_pairs(&k);
        free(k.distance);
        free(k.part);
        free(k.pose);
        if (!done) return false;
        groups[i].joints = w->joints.count;
    }
    return true;
}
