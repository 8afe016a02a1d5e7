/* Shapes of one mechanism that overlap where it starts.
 *
 * MuJoCo's contacts are soft: a link whose shape reaches into that of its base only feels a spring. Hard contact cannot
 * hold both the joints and such a pair. Contacts between two bodies of one tree, or between a body and what carries its
 * tree without moving, are therefore left out where they overlap at the start, and this is told. Contacts with the
 * worldbody's own geoms (floors, walls) and between trees stay. */
#include "collision/pair_table.h"
#include "io/mjcf/mjcf.h"
#include "moreau/library.h"

#include <stdio.h>
#include <stdlib.h>

#define SLIGHT 2e-3 /* m: less than this is how models are drawn, and is undone by the first steps */

static bool far_apart(const mor_aabb* a, const mor_aabb* b)
{
    return a->lower.x > b->upper.x || b->lower.x > a->upper.x || a->lower.y > b->upper.y || b->lower.y > a->upper.y ||
           a->lower.z > b->upper.z || b->lower.z > a->upper.z;
}

static double depth_of(const mor_geometry* a, const mor_pose* at_a, const mor_geometry* b, const mor_pose* at_b)
{
    bool swap;
    uint32_t cache[4] = { 0 };
    mor_point points[MOR_MAX_POINTS];
    mor_pair_test test = mor_library_pair(NULL, a, b, &swap);
    double deepest = 0.0;
    int n = test ? mor_pair_run(test, swap, a, at_a, b, at_b, 0.0, cache, points) : 0;
    for (int i = 0; i < n; i++)
        if (-points[i].gap > deepest) deepest = -points[i].gap;
    return deepest;
}

/* Whether the rule speaks of these bodies. */
static bool one_mechanism(const mor_mjcf* m, int a, int b)
{
    const mor_mjcf_body *x = &m->bodies[a], *y = &m->bodies[b];
    if (x->tree < 0 && y->tree < 0) return false;
    if (x->tree >= 0 && y->tree >= 0) return x->tree == y->tree && x->link != y->link;
    return a != 0 && b != 0; /* one of them does not move */
}

static bool excluded(const mor_mjcf* m, int a, int b)
{
    int x = m->bodies[a].moving, y = m->bodies[b].moving;
    if (m->bodies[a].tree >= 0 && m->bodies[b].tree >= 0 && !m->no_filter_parent &&
        (m->bodies[m->bodies[x].parent].moving == y || m->bodies[m->bodies[y].parent].moving == x))
        return true;
    for (int i = 0; i < m->excludes_count; i++) {
        const int* e = m->excludes[i].body;
        if ((e[0] == a && e[1] == b) || (e[0] == b && e[1] == a)) return true;
    }
    return false;
}

mor_code mor_mjcf_part(mor_mjcf* m, char* notes, size_t notes_size, mor_error* error)
{
    size_t n = (size_t)m->geoms_count;
    mor_pose* at = malloc((n + 1) * sizeof *at);
    mor_aabb* box = malloc((n + 1) * sizeof *box);
    mor_robot_work** work = calloc((size_t)m->trees_count + 1, sizeof *work);
    mor_code code = at && box && work ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < m->trees_count && !code; i++) {
        const mor_mjcf_tree* t = &m->trees[i];
        if ((work[i] = mor_robot_work_create(t->model))) mor_robot_update(t->model, work[i], &t->start, t->s, NULL);
        else code = mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    m->notes = notes, m->notes_size = notes_size, m->notes_length = 0, m->error = error;
    if (notes && notes_size) notes[0] = '\0';
    for (int i = 0; i < m->geoms_count && !code; i++) {
        const mor_mjcf_geom* g = &m->geoms[i];
        const mor_mjcf_body* b = &m->bodies[g->body];
        mor_pose frame =
            b->tree < 0 ? mor_pose_identity() : mor_robot_link_pose(m->trees[b->tree].model, work[b->tree], b->link);
        frame = mor_pose_mul(&frame, &b->in_link);
        at[i] = mor_pose_mul(&frame, &g->pose);
        if (g->geometry) box[i] = mor_geometry_bounds(g->geometry, &at[i]);
    }
    for (int i = 0; i < m->geoms_count && !code; i++)
        for (int k = 0; k < i && !code; k++) {
            const mor_mjcf_geom *a = &m->geoms[i], *b = &m->geoms[k];
            if (!a->geometry || !b->geometry || !one_mechanism(m, a->body, b->body) || far_apart(&box[i], &box[k]) ||
                !((a->type_bits & b->affinity_bits) | (b->type_bits & a->affinity_bits)) ||
                excluded(m, a->body, b->body) || !(depth_of(a->geometry, &at[i], b->geometry, &at[k]) > SLIGHT))
                continue;
            char what[160];
            const char *x = m->bodies[a->body].name, *y = m->bodies[b->body].name;
            snprintf(what, sizeof what, "overlap %d %d", a->body, b->body);
            mor_mjcf_note(m, a->at, what,
                          "bodies '%.60s' and '%.60s' overlap at the start; their contacts are left out", x ? x : "",
                          y ? y : "");
            mor_mjcf_exclude* e = MOR_MJCF_ADD(m, excludes);
            if (e) *e = (mor_mjcf_exclude){ { a->body, b->body } };
            else code = MOR_SYSTEM;
        }
    m->notes = NULL, m->error = NULL;
    for (int i = 0; work && i < m->trees_count; i++) mor_robot_work_destroy(work[i]);
    free(at);
    free(box);
    free(work);
    return code;
}
