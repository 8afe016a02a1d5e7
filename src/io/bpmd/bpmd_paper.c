/* A frame in the names and sizes of Table 2 of the paper (moreau run --bpmd-names paper):
 *
 *   step                                   s
 *   bodies/                  ids masses forces (6 n_b) inertia (3 n_b x 3, world axes) positions (3 n_b)
 *                            quaternion (4 n_b, real part first) velocities (6 n_b)
 *   bilateral constraints/   pairs rows violations jacobians (rows x 12) bounds (forces)
 *   unilateral constraints/  gap pairs mu (n_c x 2) normals (away from body 1) points (from the centre of body 1)
 *   solutions/               solution (6 n_b: velocities at the end) iterations impulses (n_c x 3)
 *                            total_error (FB) total_error_cck normal_error friction_error (iter: one per iteration)
 *                            stick (iter x n_c: 1 sticks, 0 slides, -1 open, -2 not told)
 *
 * friction_error is what the paper calls so: slip speed times friction, here impulse, summed over the contacts [J].
 * The last line is the answer; how many there are is for --bpmd-iterations to say (bpmd_follow.c). What the paper has
 * no name for (free velocities, restitution, exact geometry, trees) is not there; worlds with trees are refused.
 *
 * Y. Lu, J. Williams, J. Trinkle, C. Lacoursiere (2014), Table 2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd.h"
#include "io/bpmd/bpmd_writer.h"

static void three(double* to, mor_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static void put_bodies(mor_bpmd_writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->body_count;
    double* t = w->table;
    mor_bpmd_put_group(w, "bodies");
    for (size_t i = 0; i < n; i++) w->integers[i] = f->bodies[i].id;
    mor_bpmd_put(w, "bodies/ids", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++) t[i] = f->bodies[i].mass;
    mor_bpmd_put(w, "bodies/masses", MOR_H5_DOUBLE, n, 1);
    for (size_t i = 0; i < n; i++) three(t + 3 * i, f->bodies[i].x);
    mor_bpmd_put(w, "bodies/positions", MOR_H5_DOUBLE, 3 * n, 1);
    for (size_t i = 0; i < n; i++) {
        const mor_quat q = f->bodies[i].q;
        t[4 * i] = q.w, t[4 * i + 1] = q.x, t[4 * i + 2] = q.y, t[4 * i + 3] = q.z;
    }
    mor_bpmd_put(w, "bodies/quaternion", MOR_H5_DOUBLE, 4 * n, 1);
    for (size_t i = 0; i < n; i++) three(t + 6 * i, f->bodies[i].v), three(t + 6 * i + 3, f->bodies[i].w);
    mor_bpmd_put(w, "bodies/velocities", MOR_H5_DOUBLE, 6 * n, 1);
    for (size_t i = 0; i < n; i++) three(t + 6 * i, f->bodies[i].force), three(t + 6 * i + 3, f->bodies[i].torque);
    mor_bpmd_put(w, "bodies/forces", MOR_H5_DOUBLE, 6 * n, 1);
    for (size_t i = 0; i < n; i++) {
        const mor_bpmd_body* b = &f->bodies[i];
        mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->inertia);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                t[9 * i + (size_t)(3 * r + c)] = b->kind == MOR_DYNAMIC ? I.m[r][c] : r == c ? INFINITY : 0.0;
    }
    mor_bpmd_put(w, "bodies/inertia", MOR_H5_DOUBLE, 3 * n, 3);
}

static void put_contacts(mor_bpmd_writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->contact_count;
    double* t = w->table;
#define G "unilateral constraints"
    mor_bpmd_put_group(w, G);
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < 2; s++)
            w->integers[2 * i + s] = f->contacts[i].body[s] < 0 ? -1 : f->bodies[f->contacts[i].body[s]].id;
    mor_bpmd_put(w, G "/pairs", MOR_H5_INT, n, 2);
    for (size_t i = 0; i < n; i++) t[i] = f->contacts[i].gap;
    mor_bpmd_put(w, G "/gap", MOR_H5_DOUBLE, n, 1);
    for (size_t i = 0; i < n; i++) t[2 * i] = f->contacts[i].friction, t[2 * i + 1] = f->contacts[i].friction_2;
    mor_bpmd_put(w, G "/mu", MOR_H5_DOUBLE, n, 2);
    for (size_t i = 0; i < n; i++) three(t + 3 * i, f->contacts[i].normal);
    mor_bpmd_put(w, G "/normals", MOR_H5_DOUBLE, n, 3);
    for (size_t i = 0; i < n; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        three(t + 3 * i, c->body[0] >= 0 ? mor_sub(c->point[0], f->bodies[c->body[0]].x) : c->point[0]);
    }
    mor_bpmd_put(w, G "/points", MOR_H5_DOUBLE, n, 3);
#undef G
}

static void put_joints(mor_bpmd_writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->constraint_count, m = (size_t)f->row_count;
    double* t = w->table;
#define G "bilateral constraints"
    mor_bpmd_put_group(w, G);
    for (size_t i = 0; i < n; i++) w->integers[i] = f->constraints[i].rows;
    mor_bpmd_put(w, G "/rows", MOR_H5_INT, n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < 2; s++)
            w->integers[2 * i + s] = f->constraints[i].body[s] < 0 ? -1 : f->bodies[f->constraints[i].body[s]].id;
    mor_bpmd_put(w, G "/pairs", MOR_H5_INT, n, 2);
    for (size_t i = 0; i < m; i++) memcpy(t + 12 * i, f->rows[i].body, sizeof f->rows[i].body);
    mor_bpmd_put(w, G "/jacobians", MOR_H5_DOUBLE, m, 12);
    for (size_t i = 0; i < m; i++) t[i] = f->h * f->rows[i].bias; /* so that J v + violation/h is the row of the run */
    mor_bpmd_put(w, G "/violations", MOR_H5_DOUBLE, m, 1);
    for (size_t i = 0; i < m; i++) t[2 * i] = f->rows[i].lower / f->h, t[2 * i + 1] = f->rows[i].upper / f->h;
    mor_bpmd_put(w, G "/bounds", MOR_H5_DOUBLE, m, 2);
#undef G
}

static void put_solution(mor_bpmd_writer* w, const mor_bpmd_frame* f)
{
    size_t n = (size_t)f->contact_count;
    mor_bpmd_put_group(w, "solutions");
    for (int i = 0; i < f->body_count; i++)
        memcpy(w->table + 6 * i, f->bodies[i].velocity, sizeof f->bodies[i].velocity);
    mor_bpmd_put(w, "solutions/solution", MOR_H5_DOUBLE, 6 * (size_t)f->body_count, 1);
    for (size_t i = 0; i < n; i++) memcpy(w->table + 3 * i, f->contacts[i].impulse, sizeof f->contacts[i].impulse);
    mor_bpmd_put(w, "solutions/impulses", MOR_H5_DOUBLE, n, 3);
    static const char* const measures[MOR_BPMD_MEASURES] = { [MOR_BPMD_FB] = "total_error",
                                                             [MOR_BPMD_CCK] = "total_error_cck",
                                                             [MOR_BPMD_NORMAL] = "normal_error",
                                                             [MOR_BPMD_POWER] = "friction_error" };
    w->table[0] = f->iterations;
    mor_bpmd_put(w, "solutions/iterations", MOR_H5_DOUBLE, 1, 1);
    mor_bpmd_put_lines(w, f, "solutions", measures);
}

void mor_bpmd_put_paper(mor_bpmd_writer* w, const mor_bpmd_frame* f)
{
    if (f->tree_count && f->link_count) {
        w->code = mor_fail(w->error, MOR_BAD_INPUT,
                           "the names of the paper have no place for robots in minimal coordinates: leave "
                           "--bpmd-names paper out");
        return;
    }
    mor_bpmd_put_group(w, "");
    w->table[0] = f->h;
    mor_bpmd_put(w, "step", MOR_H5_DOUBLE, 1, 1);
    put_bodies(w, f);
    put_contacts(w, f);
    if (f->constraint_count) put_joints(w, f);
    if (f->answered) put_solution(w, f);
}
