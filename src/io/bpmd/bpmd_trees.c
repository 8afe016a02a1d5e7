/* Trees and constraints of frames: what a world with robots or joints stores, taken at the start of the step and after
 * its solve.
 *
 * Minimal coordinates: M, nu, nu_free of every tree, the Jacobian of every link at its centre of mass, and every row as
 * it was handed to the formulation (bias with stabilisation, starting impulses). Maximal coordinates: links are bodies
 * with mass, inertia and the forces of their joints' motors and dampers, and the joints of robots are rows on pairs of
 * bodies,
 *
 *     revolute   d . (v_0 - v_1) = 0 at the joint, d = x, y, z;   d . (w_0 - w_1) = 0, d = two directions across the
 *     axis prismatic  d . (v_0 - v_1) = 0 at the joint, two d across;  d . (w_0 - w_1) = 0, d = x, y, z
 *
 * and in general d across all axes of the links between two bodies.
 *
 * For a robot at rest both give the same step; else they differ by h times the velocity terms J' M dJ/dt nu, which the
 * rows above leave out. Not in maximal coordinates: reflected inertia of motors, and mimic joints (a row on four
 * bodies; told as an error). Cost: links x dof for the Jacobians. */
#include "io/bpmd/bpmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/rows.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "model/step.h"

/* ------------------------------------------------------------------- the start of the step */

void mor_bpmd_before_clear(mor_bpmd_before* b)
{
    for (int i = 0; i < b->island_room; i++) {
        free(b->islands[i].bias);
        free(b->islands[i].guess);
        free(b->islands[i].lines.values);
        free(b->islands[i].lines.states);
    }
    free(b->islands);
    free(b->bodies);
    free(b->joints);
    free(b->link_jacobian);
    free(b->mass);
    free(b->q);
    memset(b, 0, sizeof *b);
}

/* One equation between two bodies as numbers on their velocities. */
static void body_row(const mor_world* w, const int body[2], const mor_joint_row* row, double out[12])
{
    memset(out, 0, 12 * sizeof *out);
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0) continue;
        double sign = side ? -1.0 : 1.0, *c = out + 6 * side;
        mor_vec3 turn =
            row->spin ? row->direction : mor_cross(mor_sub(row->point, w->bodies[body[side]].x), row->direction);
        if (!row->spin) c[0] = sign * row->direction.x, c[1] = sign * row->direction.y, c[2] = sign * row->direction.z;
        c[3] = sign * turn.x, c[4] = sign * turn.y, c[5] = sign * turn.z;
    }
}

static void world_joint(const mor_world* w, const mor_joint* j, mor_bpmd_joint_rows* out)
{
    mor_joint_row rows[6], free_row;
    *out = (mor_bpmd_joint_rows){ .body = { j->body[0], j->body[1] }, .count = mor_joint_equations(w, j, rows) };
    for (int k = 0; k < out->count; k++) body_row(w, out->body, &rows[k], out->row[k]), out->phi[k] = rows[k].phi;
    if (mor_joint_free_row(w, j, &free_row)) out->has_free = true, body_row(w, out->body, &free_row, out->free);
}

/* Directions across n given ones, at most two; returns how many. */
static int across(int n, const mor_vec3* axis, mor_vec3 out[3])
{
    const mor_vec3 world[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    if (n == 0) memcpy(out, world, sizeof world);
    else if (n == 1) mor_tangents(axis[0], mor_v3(1, 0, 0), &out[0], &out[1]);
    else out[0] = mor_normalize(mor_cross(axis[0], axis[1]), mor_v3(0, 0, 1));
    return 3 - n;
}

/* A link and those without a body between it and the next body: one joint, free along and about their axes. */
static void link_joint(const mor_world* w, const mor_robot* r, int link, mor_bpmd_joint_rows* out)
{
    const mor_link_state* s = r->work->states;
    mor_vec3 slide[3], turn[3], d[3];
    int slides = 0, turns = 0, above = link;
    *out = (mor_bpmd_joint_rows){ .body = { -1, -1 } };
    if (r->bodies[link] < 0) return;
    do {
        if (r->model->constants[above].prismatic) slide[slides++] = s[above].axis;
        else turn[turns++] = s[above].axis;
        above = r->model->links[above].parent;
    } while (above > 0 && r->bodies[above] < 0);
    out->body[0] = r->bodies[link], out->body[1] = r->bodies[above];
    for (int spin = 0; spin < 2; spin++) {
        int n = spin ? across(turns, turn, d) : across(slides, slide, d);
        for (int k = 0; k < n; k++)
            body_row(w, out->body, &(mor_joint_row){ spin, d[k], s[link].p, 0.0 }, out->row[out->count++]);
    }
    out->has_free = slides + turns == 1;
    if (out->has_free) body_row(w, out->body, &(mor_joint_row){ turns == 1, s[link].axis, s[link].p, 0.0 }, out->free);
}

static bool resize(void* pointer, size_t count, size_t size)
{
    void** p = pointer;
    void* grown = realloc(*p, (count + 1) * size);
    if (grown) *p = grown;
    return grown != NULL;
}

/* Motors and dampers of joints push on both links. */
static void add_joint_forces(const mor_world* w, mor_bpmd_before* b)
{
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        int offset = r->model->dof - r->model->joint_count;
        for (int l = 1; l < r->model->link_count; l++) {
            const mor_link_def* def = &r->model->links[l];
            const mor_link_state* s = &r->work->states[l];
            double f = r->tau[def->joint] - (r->damping ? def->damping * r->nu[offset + def->joint] : 0.0);
            for (int side = 0; side < 2; side++) {
                int slot = r->bodies[side ? def->parent : l];
                if (slot < 0) continue;
                mor_bpmd_body* body = &b->bodies[w->order_of[slot]];
                mor_vec3 push = mor_scale(side ? -f : f, s->axis);
                if (r->model->constants[l].prismatic) {
                    body->force = mor_add(body->force, push);
                    body->torque = mor_add(body->torque, mor_cross(mor_sub(s->p, body->x), push));
                } else body->torque = mor_add(body->torque, push);
            }
        }
    }
}

static void link_jacobians(const mor_world* w, mor_bpmd_before* b)
{
    const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double* J = b->link_jacobian;
    for (int i = 0; i < b->count; i++) {
        const mor_body* body = &w->bodies[w->order[i]];
        if (!body->robot || body->tree < 0) continue;
        const mor_tree* t = &w->trees[body->tree];
        for (int k = 0; k < 6; k++, J += t->dof) {
            if (k < 3) t->kind->row(t, body, mor_v3(0, 0, 0), axes[k], 1.0, J);
            else t->kind->spin(t, body, axes[k - 3], 1.0, J);
        }
    }
}

mor_code mor_bpmd_capture_trees(const mor_world* w, mor_bpmd_before* b)
{
    b->tree_count = b->joint_count = b->link_count = b->q_count = 0;
    if (w->tree_count > b->island_room) {
        if (!resize(&b->islands, (size_t)w->tree_count, sizeof *b->islands)) return MOR_SYSTEM;
        memset(b->islands + b->island_room, 0, (size_t)(w->tree_count - b->island_room) * sizeof *b->islands);
        b->island_room = w->tree_count;
    }
    for (int i = 0; i < b->island_room; i++) b->islands[i].rows = b->islands[i].lines.count = 0;
    if (w->robot_count == 0 && w->joints.count == 0) return MOR_OK;
    size_t mass = 0, joints = (size_t)w->joints.count, jacobian = 0;
    int q = 0;
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot_model* m = w->robots[i]->model;
        mass += (size_t)m->dof * (size_t)m->dof;
        joints += (size_t)m->link_count;
        jacobian += (size_t)m->link_count * 6 * (size_t)m->dof;
        q += m->joint_count + (m->floating ? 7 : 0);
    }
    if (!resize(&b->joints, joints, sizeof *b->joints) || !resize(&b->link_jacobian, jacobian, sizeof(double)) ||
        !resize(&b->mass, mass, sizeof(double)) || !resize(&b->q, (size_t)q, sizeof(double)))
        return MOR_SYSTEM;
    b->tree_count = w->tree_count;
    b->q_count = q;
    for (int i = 0; i < w->joints.count; i++)
        world_joint(w, &((const mor_joint*)w->joints.data)[i], &b->joints[b->joint_count++]);
    double *M = b->mass, *at = b->q;
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        for (int l = 1; l < r->model->link_count; l++) link_joint(w, r, l, &b->joints[b->joint_count++]);
        mor_robot_mass_matrix(r->model, r->work, M);
        M += (size_t)r->model->dof * (size_t)r->model->dof;
        if (r->model->floating) {
            const double pose[7] = { r->base.position.x, r->base.position.y, r->base.position.z, r->base.rotation.w,
                                     r->base.rotation.x, r->base.rotation.y, r->base.rotation.z };
            memcpy(at, pose, sizeof pose);
            at += 7;
        }
        if (r->model->joint_count) memcpy(at, r->s, (size_t)r->model->joint_count * sizeof *at);
        at += r->model->joint_count;
    }
    for (int i = 0; i < b->count; i++) {
        const mor_body* body = &w->bodies[w->order[i]];
        b->bodies[i].tree = body->tree;
        b->bodies[i].link = -1;
        if (!body->robot) continue;
        mor_mat3 R = mor_quat_matrix(body->q), I = mor_mat3_rotate(&R, &body->mass.inertia);
        b->bodies[i].dof = body->tree >= 0 ? 6 : 0;
        b->bodies[i].L = mor_mul(&I, body->w);
        if (body->tree >= 0) b->bodies[i].link = b->link_count++;
    }
    link_jacobians(w, b);
    add_joint_forces(w, b);
    return MOR_OK;
}

void mor_bpmd_capture_start(const mor_world* w, const mor_system* s, const mor_answer* answer, mor_bpmd_before* b)
{
    long index = (const mor_island*)s - w->last->islands; /* the system is the island's first member */
    if (index < 0 || index >= b->island_room || s->row_count == 0) return;
    mor_bpmd_start* start = &b->islands[index];
    size_t n = (size_t)s->row_count;
    start->rows = start->lines.count = 0;
    if (!resize(&start->bias, n, sizeof(double)) || !resize(&start->guess, n, sizeof(double))) return;
    memcpy(start->bias, s->bias, n * sizeof(double));
    memcpy(start->guess, answer->impulses, n * sizeof(double));
    start->rows = s->row_count;
}

/* ------------------------------------------------------------------------- after the step */

typedef struct sparse {
    int *column, count;
    double* value;
} sparse;

/* Row d of a block on the velocities of the world. */
static int put_row(const mor_world* w, const mor_island* island, const mor_block* b, int d, sparse* out)
{
    const mor_system* s = &island->system;
    int before = out->count;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int dof = s->trees[s->entries[e].tree].dof,
            offset = w->last->w->trees[island->tree_of[s->entries[e].tree]].offset;
        const double* J = s->jacobian + s->entries[e].start + d * dof;
        for (int k = 0; k < dof; k++)
            if (J[k] != 0.0) out->column[out->count] = offset + k, out->value[out->count++] = J[k];
    }
    return out->count - before;
}

/* The robot whose tree this is, and the number of its first joint in the list of the start of the step. */
static const mor_robot* robot_of(const mor_world* w, int tree, int* first)
{
    *first = w->joints.count;
    for (int i = 0; i < w->robot_count; i++) {
        if (w->robots[i]->tree == tree) return w->robots[i];
        *first += w->robots[i]->model->link_count - 1;
    }
    return NULL;
}

/* A row on one coordinate of a robot, or on bodies that are trees of their own, as numbers on bodies. */
static bool find_body_form(const mor_world* w, const mor_bpmd_before* before, const mor_row_block* b, int d,
                           int body[2], double out[12])
{
    int first;
    const mor_robot* r = robot_of(w, b->tree[0], &first);
    memset(out, 0, 12 * sizeof *out);
    if (b->tree[1] >= 0 && b->tree[2] >= 0) return false;
    if (r && b->tree[1] < 0) {
        int dof = w->trees[b->tree[0]].dof, column = -1;
        for (int k = 0; k < dof; k++) {
            if (b->J[0][d * dof + k] == 0.0) continue;
            if (column >= 0) return false;
            column = k;
        }
        int joint = column - (r->model->dof - r->model->joint_count);
        if (column < 0 || joint < 0) return false;
        const mor_bpmd_joint_rows* j = &before->joints[first + r->model->link_of_joint[joint] - 1];
        if (!j->has_free) return false;
        for (int k = 0; k < 12; k++) out[k] = b->J[0][d * dof + column] * j->free[k];
        body[0] = j->body[0], body[1] = j->body[1];
        return true;
    }
    for (int t = 0; t < 2; t++) {
        body[t] = -1;
        if (b->tree[t] < 0) continue;
        const mor_tree* tree = &w->trees[b->tree[t]];
        if (tree->body < 0 || tree->dof != 6) return false;
        body[t] = tree->body;
        memcpy(out + 6 * t, b->J[t] + 6 * d, 6 * sizeof *out);
    }
    return true;
}

static void capture_block(const mor_world* w, const mor_bpmd_before* before, int index, int r, mor_bpmd_frame* f,
                          sparse* out)
{
    const mor_island* island = &w->last->islands[index];
    const mor_system* s = &island->system;
    const mor_block* b = &s->blocks[s->contact_count + r];
    const mor_row_block* from = island->rows[r];
    const mor_bpmd_start* start =
        index < before->island_room && before->islands[index].rows == s->row_count ? &before->islands[index] : NULL;
    mor_bpmd_constraint* c = &f->constraints[f->constraint_count++];
    *c = (mor_bpmd_constraint){ .kind = b->kind == MOR_BLOCK_EQUATION ? MOR_BPMD_EQUATION : MOR_BPMD_BOUNDED,
                                .body = { -1, -1 },
                                .row = f->row_count,
                                .rows = b->dim };
    for (int d = 0; d < b->dim; d++) {
        mor_bpmd_row* row = &f->rows[f->row_count++];
        *row = (mor_bpmd_row){ .start = out->count,
                               .violation = from->phi[d],
                               .lower = b->kind == MOR_BLOCK_EQUATION ? -INFINITY : b->lower,
                               .upper = b->kind == MOR_BLOCK_EQUATION ? INFINITY : b->upper,
                               .bias = start ? start->bias[b->row + d] : s->bias[b->row + d],
                               .guess = start ? start->guess[b->row + d] : 0.0,
                               .impulse = island->answer.impulses[b->row + d] };
        row->count = put_row(w, island, b, d, out);
        int body[2] = { -1, -1 };
        bool known = true;
        if (from->joint >= 0 && from->joint < before->joint_count && from->of[d] < before->joints[from->joint].count) {
            memcpy(row->body, before->joints[from->joint].row[from->of[d]], sizeof row->body);
            memcpy(body, before->joints[from->joint].body, sizeof body);
        } else known = find_body_form(w, before, from, d, body, row->body);
        for (int k = 0; k < 12 && !known; k++) row->body[k] = NAN;
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0) c->body[side] = w->order_of[body[side]];
    }
}

/* Joints of robots, which have no rows in minimal coordinates. */
static void capture_links(const mor_world* w, const mor_bpmd_before* before, mor_bpmd_frame* f)
{
    for (int j = w->joints.count; j < before->joint_count; j++) {
        const mor_bpmd_joint_rows* from = &before->joints[j];
        if (from->count == 0) continue;
        int other = from->body[1] < 0 ? -1 : w->order_of[from->body[1]];
        f->constraints[f->constraint_count++] =
            (mor_bpmd_constraint){ MOR_BPMD_LINK, { w->order_of[from->body[0]], other }, f->row_count, from->count };
        for (int k = 0; k < from->count; k++) {
            mor_bpmd_row* row = &f->rows[f->row_count++];
            *row = (mor_bpmd_row){ .lower = -INFINITY, .upper = INFINITY };
            memcpy(row->body, from->row[k], sizeof row->body);
        }
    }
}

static void capture_trees(const mor_world* w, const mor_bpmd_before* before, mor_bpmd_frame* f)
{
    size_t at = 0, from = 0;
    int q = 0;
    memcpy(f->nu, w->last->nu, (size_t)w->last->dof * sizeof(double));
    memcpy(f->nu_free, w->last->nu_free, (size_t)w->last->dof * sizeof(double));
    memcpy(f->nu_new, w->last->nu_new, (size_t)w->last->dof * sizeof(double));
    for (int t = 0; t < w->tree_count; t++) { /* trees that are not one body: robots, in the order of `before`, and
                                                 springs of joints */
        const mor_robot* r = w->trees[t].robot;
        size_t n = (size_t)w->trees[t].dof;
        f->trees[t] = (mor_bpmd_tree){ .dof = (int)n, .articulated = w->trees[t].body < 0, .q = q };
        if (!f->trees[t].articulated) continue;
        if (r) q += f->trees[t].q_count = r->model->joint_count + (r->model->floating ? 7 : 0);
        for (size_t k = 0; k < n * n; k++) f->mass[at + k] = r ? before->mass[from + k] : k % (n + 1) == 0 ? 1.0 : 0.0;
        at += n * n;
        if (r) from += n * n;
    }
    if (before->q_count) memcpy(f->q, before->q, (size_t)before->q_count * sizeof(double));
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        for (int k = 0; k < s->tree_count; k++) {
            int tree = w->last->islands[i].tree_of[k], dof = s->trees[k].dof;
            memcpy(f->nu_free + w->last->w->trees[tree].offset, s->nu_free + s->trees[k].offset,
                   (size_t)dof * sizeof(double));
            if (!f->trees[tree].articulated || !s->trees[k].mass) continue;
            at = 0;
            for (int t = 0; t < tree; t++)
                if (f->trees[t].articulated) at += (size_t)w->trees[t].dof * (size_t)w->trees[t].dof;
            memcpy(f->mass + at, s->trees[k].mass, (size_t)dof * (size_t)dof * sizeof(double));
        }
    }
}

static void capture_contact_rows(const mor_world* w, mor_bpmd_frame* f, sparse* out)
{
    int* where = f->contact_p; /* first the island's contact of each contact, then the positions */
    for (int c = 0; c < f->contact_count; c++) {
        const mor_island* island = NULL;
        const mor_block* b = NULL;
        for (int i = 0; i < w->last->island_count && !b; i++) {
            const mor_system* s = &w->last->islands[i].system;
            int low = 0, high = s->contact_count - 1; /* contacts ascend within an island */
            while (low <= high && !b) {
                int middle = (low + high) / 2;
                if (s->contacts[middle].contact == c)
                    island = &w->last->islands[i], b = &s->blocks[s->contacts[middle].block];
                else if (s->contacts[middle].contact < c) low = middle + 1;
                else high = middle - 1;
            }
        }
        for (int d = 0; d < 3; d++) {
            where[3 * c + d] = out->count;
            if (b && d < b->dim) put_row(w, island, b, d, out);
        }
    }
    where[3 * f->contact_count] = out->count;
}

mor_code mor_bpmd_capture_rows(const mor_world* w, const mor_bpmd_before* before, mor_bpmd_frame* f)
{
    if (before->tree_count == 0) return MOR_OK;
    if (before->tree_count != w->tree_count) return MOR_BAD_INPUT;
    size_t rows = 0, blocks = 0, coefs = 0, contact_coefs = 0, mass = 0, jacobian = 0;
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        for (int b = 0; b < s->block_count; b++) {
            size_t n = 0;
            for (int e = s->blocks[b].entry; e < s->blocks[b].entry + s->blocks[b].entry_count; e++)
                n += (size_t)(s->blocks[b].dim * s->trees[s->entries[e].tree].dof);
            if (b < s->contact_count) contact_coefs += n;
            else coefs += n, rows += (size_t)s->blocks[b].dim, blocks++;
        }
    }
    for (int j = w->joints.count; j < before->joint_count; j++) blocks++, rows += (size_t)before->joints[j].count;
    for (int t = 0; t < w->tree_count; t++)
        if (w->trees[t].body < 0) mass += (size_t)w->trees[t].dof * (size_t)w->trees[t].dof;
    for (int i = 0; i < w->robot_count; i++) {
        for (int l = 0; l < w->robots[i]->model->link_count; l++)
            if (w->robots[i]->bodies[l] >= 0 && w->bodies[w->robots[i]->bodies[l]].tree >= 0)
                jacobian += (size_t)6 * (size_t)w->robots[i]->model->dof;
    }
    size_t n = (size_t)w->last->dof;
    if (!resize(&f->trees, (size_t)w->tree_count, sizeof *f->trees) ||
        !resize(&f->constraints, blocks, sizeof *f->constraints) || !resize(&f->rows, rows, sizeof *f->rows) ||
        !resize(&f->columns, coefs, sizeof(int)) || !resize(&f->values, coefs, sizeof(double)) ||
        !resize(&f->mass, mass, sizeof(double)) || !resize(&f->nu, n, sizeof(double)) ||
        !resize(&f->nu_free, n, sizeof(double)) || !resize(&f->nu_new, n, sizeof(double)) ||
        !resize(&f->q, (size_t)before->q_count, sizeof(double)) ||
        !resize(&f->link_jacobian, jacobian, sizeof(double)) ||
        !resize(&f->contact_p, 3 * (size_t)f->contact_count, sizeof(int)) ||
        !resize(&f->contact_columns, contact_coefs, sizeof(int)) ||
        !resize(&f->contact_values, contact_coefs, sizeof(double)))
        return MOR_SYSTEM;
    f->tree_count = w->tree_count;
    f->dof = w->last->dof;
    f->q_count = before->q_count;
    f->link_count = before->link_count;
    if (jacobian) memcpy(f->link_jacobian, before->link_jacobian, jacobian * sizeof(double));
    capture_trees(w, before, f);
    sparse out = { f->columns, 0, f->values };
    for (int i = 0; i < w->last->island_count; i++)
        for (int r = 0; r < w->last->islands[i].row_block_count; r++) capture_block(w, before, i, r, f, &out);
    capture_links(w, before, f);
    sparse contacts = { f->contact_columns, 0, f->contact_values };
    capture_contact_rows(w, f, &contacts);
    return MOR_OK;
}
