/* See frames.h. */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/rows.h"
#include "lab/compare_run.h"
#include "model/step.h"
#include "model/stored.h"

struct frames {
    char path[600];
    mor_bpmd_frame* all;
    int count;
    char engine[32], solver[32];
    mor_vec3 gravity;
};

static void die(const char* path, const char* text)
{
    fprintf(stderr, "%s: %s\n", path, text);
    exit(1);
}

/* One more place at the end of an array of `count` elements, zeroed. */
static void* more(void* array, size_t count, size_t added, size_t size)
{
    char* grown = realloc(array, (count + added) * size);
    if (!grown) die("frames", "out of memory");
    memset(grown + count * size, 0, added * size);
    return grown;
}

static mor_vec3 vec(const double* v) { return mor_v3(v[0], v[1], v[2]); }

static mor_bpmd_frame* last(frames* f) { return &f->all[f->count - 1]; }

frames* frames_open(const char* path, const char* engine, const char* solver, const char* scene,
                    const double gravity[3])
{
    frames* f = more(NULL, 0, 1, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s", path);
    snprintf(f->engine, sizeof f->engine, "%s", engine);
    snprintf(f->solver, sizeof f->solver, "%s", solver);
    f->gravity = vec(gravity);
    mor_error error = { 0 };
    mor_bpmd_meta meta = { .scene_name = scene,
                           .scene_text = "",
                           .formulation = f->engine,
                           .solver = f->solver,
                           .collision = f->engine,
                           .formulation_options = "",
                           .solver_options = "",
                           .gravity = f->gravity,
                           .dimension = 3 };
    remove(path);
    if (mor_bpmd_create(path, &meta, &error)) die(path, error.text);
    return f;
}

void frames_begin(frames* f, double time, double h)
{
    f->all = more(f->all, (size_t)f->count, 1, sizeof *f->all);
    f->count++;
    mor_bpmd_frame* frame = last(f);
    frame->step = (int)(time / h + 1.5);
    frame->time = time;
    frame->h = h;
    frame->dimension = 3;
    frame->gravity = f->gravity;
    frame->v_rest = 2.0 * mor_norm(f->gravity) * h;
    frame->epsilon = 1e6; /* every contact that the engine has acts */
    frame->directions = 8;
    frame->answered = true;
    snprintf(frame->formulation, sizeof frame->formulation, "%s", f->engine);
    snprintf(frame->solver, sizeof frame->solver, "%s", f->solver);
}

static size_t mass_size(const mor_bpmd_frame* frame)
{
    size_t size = 0;
    for (int t = 0; t < frame->tree_count; t++) size += (size_t)frame->trees[t].dof * (size_t)frame->trees[t].dof;
    return size;
}

int frames_tree(frames* f, int dof, const double* M, const double* nu, const double* nu_free, const double* nu_new)
{
    mor_bpmd_frame* frame = last(f);
    size_t n = (size_t)dof, before = (size_t)frame->dof, mass = mass_size(frame);
    frame->trees = more(frame->trees, (size_t)frame->tree_count, 1, sizeof *frame->trees);
    frame->trees[frame->tree_count] = (mor_bpmd_tree){ .dof = dof, .articulated = true };
    frame->mass = more(frame->mass, mass, n * n, sizeof(double));
    frame->nu = more(frame->nu, before, n, sizeof(double));
    frame->nu_free = more(frame->nu_free, before, n, sizeof(double));
    frame->nu_new = more(frame->nu_new, before, n, sizeof(double));
    memcpy(frame->mass + mass, M, n * n * sizeof *M);
    memcpy(frame->nu + before, nu, n * sizeof *nu);
    memcpy(frame->nu_free + before, nu_free, n * sizeof *nu);
    memcpy(frame->nu_new + before, nu_new, n * sizeof *nu);
    frame->dof += dof;
    return frame->tree_count++;
}

static int tree_start(const mor_bpmd_frame* frame, int tree)
{
    int at = 0;
    for (int t = 0; t < tree; t++) at += frame->trees[t].dof;
    return at;
}

static size_t jacobian_start(const mor_bpmd_frame* frame, int body)
{
    size_t at = 0;
    for (int i = 0; i < body; i++) at += 6 * (size_t)frame->trees[frame->bodies[i].tree].dof;
    return at;
}

int frames_add_link(frames* f, int tree, const frames_link* link, const double* jacobian)
{
    mor_bpmd_frame* frame = last(f);
    int index = frame->body_count, dof = frame->trees[tree].dof, at = tree_start(frame, tree);
    frame->bodies = more(frame->bodies, (size_t)index, 1, sizeof *frame->bodies);
    size_t before = jacobian_start(frame, index);
    frame->link_jacobian = more(frame->link_jacobian, before, 6 * (size_t)dof, sizeof(double));
    memcpy(frame->link_jacobian + before, jacobian, 6 * (size_t)dof * sizeof *jacobian);
    mor_bpmd_body* b = &frame->bodies[index];
    *b = (mor_bpmd_body){ .id = index + 1,
                          .kind = MOR_DYNAMIC,
                          .dof = 6,
                          .mass = link->mass,
                          .x = vec(link->x),
                          .q = { link->q[0], link->q[1], link->q[2], link->q[3] },
                          .v = vec(link->v),
                          .w = vec(link->w),
                          .force = mor_scale(link->mass, f->gravity),
                          .tree = tree,
                          .link = index };
    double size = sqrt(b->q.w * b->q.w + b->q.x * b->q.x + b->q.y * b->q.y + b->q.z * b->q.z);
    b->q = (mor_quat){ b->q.w / size, b->q.x / size, b->q.y / size, b->q.z / size };
    mor_mat3 R = mor_quat_matrix(b->q), T, I;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) T.m[r][c] = R.m[c][r], I.m[r][c] = link->inertia[3 * r + c];
    b->free_inertia = I;
    b->inertia = mor_mat3_rotate(&T, &I);
    b->L = mor_mul(&I, b->w);
    for (int k = 0; k < 6; k++)
        for (int d = 0; d < dof; d++) {
            b->free[k] += jacobian[k * dof + d] * frame->nu_free[at + d];
            b->velocity[k] += jacobian[k * dof + d] * frame->nu_new[at + d];
        }
    frame->link_count++;
    return frame->body_count++;
}

int frames_body(frames* f, const frames_link* link, const double free[6], const double end[6])
{
    double M[36] = { 0 }, J[36] = { 0 }, nu[6];
    for (int k = 0; k < 3; k++) {
        M[7 * k] = link->mass;
        nu[k] = link->v[k], nu[k + 3] = link->w[k];
        for (int c = 0; c < 3; c++) M[6 * (k + 3) + c + 3] = link->inertia[3 * k + c];
    }
    for (int k = 0; k < 6; k++) J[7 * k] = 1.0;
    return frames_add_link(f, frames_tree(f, 6, M, nu, free, end), link, J);
}

static bool on_one_normal(const mor_bpmd_contact* c)
{
    mor_vec3 d = mor_sub(c->point[1], c->point[0]);
    d = mor_madd(d, -mor_dot(d, c->normal), c->normal);
    return mor_dot(d, d) <= 1e-18 + 1e-12 * c->gap * c->gap;
}

void frames_add_contact(frames* f, const frames_contact* from)
{
    mor_bpmd_frame* frame = last(f);
    int index = frame->contact_count++;
    frame->contacts = more(frame->contacts, (size_t)index, 1, sizeof *frame->contacts);
    mor_bpmd_contact* c = &frame->contacts[index];
    mor_vec3 n = vec(from->normal), t, o, p = vec(from->impulse);
    n = mor_scale(1.0 / mor_norm(n), n);
    mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
    *c = (mor_bpmd_contact){ .body = { from->body[0], from->body[1] },
                             .point = { vec(from->point[0]), vec(from->point[1]) },
                             .normal = n,
                             .gap = from->gap,
                             .friction = from->mu,
                             .friction_2 = from->mu,
                             .epsilon = -1.0,
                             .recovery = from->recovery,
                             .feature = (uint64_t)index,
                             .impulse = { mor_dot(p, n), mor_dot(p, t), mor_dot(p, o) } };
    c->stick = c->impulse[0] > 0.0 ? 1 : -1;
    /* points that are not on one normal act each on its body (docs/bpmd.md): nanometres say so */
    if (from->apart && on_one_normal(c)) c->point[1] = mor_madd(c->point[1], 2e-9 + 2e-6 * fabs(c->gap), t);
}

void frames_add_row(frames* f, const frames_row* from)
{
    mor_bpmd_frame* frame = last(f);
    int index = frame->row_count++, used = index ? frame->rows[index - 1].start + frame->rows[index - 1].count : 0;
    bool equation = isinf(from->lower) && isinf(from->upper);
    frame->rows = more(frame->rows, (size_t)index, 1, sizeof *frame->rows);
    frame->constraints = more(frame->constraints, (size_t)index, 1, sizeof *frame->constraints);
    frame->constraints[frame->constraint_count++] =
        (mor_bpmd_constraint){ equation ? MOR_BPMD_EQUATION : MOR_BPMD_BOUNDED, { -1, -1 }, index, 1 };
    mor_bpmd_row* r = &frame->rows[index];
    *r = (mor_bpmd_row){ .start = used,
                         .violation = from->violation,
                         .bias = from->bias,
                         .lower = from->lower,
                         .upper = from->upper,
                         .impulse = from->impulse };
    for (int k = 0; k < 12; k++) r->body[k] = NAN; /* coordinates of trees only */
    for (int k = 0; k < frame->dof; k++) {
        if (from->J[k] == 0.0) continue;
        frame->columns = more(frame->columns, (size_t)(used + r->count), 1, sizeof(int));
        frame->values = more(frame->values, (size_t)(used + r->count), 1, sizeof(double));
        frame->columns[used + r->count] = k;
        frame->values[used + r->count++] = from->J[k];
    }
}

/* Rows n, t, o of all contacts on the velocities of the trees: for readers of the file. */
void frames_end(frames* f)
{
    mor_bpmd_frame* frame = last(f);
    size_t most = 0, at = 0;
    for (int i = 0; i < frame->contact_count; i++)
        for (int s = 0; s < 2; s++)
            if (frame->contacts[i].body[s] >= 0)
                most += 3 * (size_t)frame->trees[frame->bodies[frame->contacts[i].body[s]].tree].dof;
    frame->contact_p = more(NULL, 0, 3 * (size_t)frame->contact_count + 1, sizeof(int));
    frame->contact_columns = more(NULL, 0, most + 1, sizeof(int));
    frame->contact_values = more(NULL, 0, most + 1, sizeof(double));
    double* row = more(NULL, 0, (size_t)frame->dof + 1, sizeof *row);
    for (int i = 0; i < frame->contact_count; i++) {
        const mor_bpmd_contact* c = &frame->contacts[i];
        mor_vec3 axis[3], middle = mor_scale(0.5, mor_add(c->point[0], c->point[1]));
        bool common = on_one_normal(c);
        axis[0] = c->normal;
        mor_tangents(c->normal, mor_v3(1, 0, 0), &axis[1], &axis[2]);
        for (int d = 0; d < 3; d++) {
            memset(row, 0, (size_t)frame->dof * sizeof *row);
            for (int s = 0; s < 2; s++) {
                if (c->body[s] < 0) continue;
                const mor_bpmd_body* b = &frame->bodies[c->body[s]];
                int dof = frame->trees[b->tree].dof, start = tree_start(frame, b->tree);
                const double* J = frame->link_jacobian + jacobian_start(frame, c->body[s]);
                mor_vec3 turn = mor_cross(mor_sub(common ? middle : c->point[s], b->x), axis[d]);
                const double lever[6] = { axis[d].x, axis[d].y, axis[d].z, turn.x, turn.y, turn.z };
                for (int k = 0; k < 6; k++)
                    for (int m = 0; m < dof; m++) row[start + m] += (s ? 1.0 : -1.0) * lever[k] * J[k * dof + m];
            }
            for (int m = 0; m < frame->dof; m++)
                if (row[m] != 0.0) frame->contact_columns[at] = m, frame->contact_values[at++] = row[m];
            frame->contact_p[3 * i + d + 1] = (int)at;
        }
    }
    free(row);
}

/* -------------------------------------------------------------------------------- check */

/* Largest difference between nu_free + M^-1 G p by our assembly and the engine's velocities. */
static void check_world(const mor_bpmd_frame* frame, const mor_world* w, const int* order, frames_check* check)
{
    double* nu = more(NULL, 0, (size_t)frame->dof + 1, sizeof *nu);
    int* start = more(NULL, 0, (size_t)w->tree_count + 1, sizeof *start); /* the world's tree -> the frame's dof */
    for (int i = 0; i < frame->body_count; i++)
        start[w->bodies[w->order[i]].tree] = tree_start(frame, frame->bodies[i].tree);
    memcpy(nu, frame->nu_free, (size_t)frame->dof * sizeof *nu);
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_island* island = &w->last->islands[i];
        const mor_system* s = &island->system;
        for (int b = 0; b < s->block_count; b++) {
            double p[6] = { 0 };
            if (b < s->contact_count) memcpy(p, frame->contacts[order[s->contacts[b].contact]].impulse, 3 * sizeof *p);
            else
                for (int r = 0; r < frame->row_count; r++) /* rows keep the place of their starting impulse */
                    if (w->stored->rows[r].memory == island->rows[b - s->contact_count]->memory)
                        p[0] = frame->rows[r].impulse;
            for (int e = s->blocks[b].entry; e < s->blocks[b].entry + s->blocks[b].entry_count; e++) {
                int local = s->entries[e].tree, dof = s->trees[local].dof;
                double* to = nu + start[island->tree_of[local]];
                for (int d = 0; d < s->blocks[b].dim; d++)
                    for (int m = 0; m < dof; m++) to[m] += p[d] * s->response[s->entries[e].start + d * dof + m];
            }
        }
    }
    for (int k = 0; k < frame->dof; k++) {
        check->worst = fmax(check->worst, fabs(nu[k] - frame->nu_new[k]));
        check->speed = fmax(check->speed, fabs(frame->nu_new[k]));
    }
    free(nu);
    free(start);
}

/* The error of the engine's answer by our judge goes into the file. */
static void judge(mor_bpmd_frame* frame, const char* path)
{
    mor_error error = { 0 };
    mor_lab_problem problem = { 0 };
    int* order = more(NULL, 0, (size_t)frame->contact_count + 1, sizeof *order);
    mor_world* w = mor_bpmd_world(frame, NULL, order, &error);
    if (!w) die(path, error.text);
    mor_lab_judge_stored(frame, w, order, &problem);
    frame->velocity_error = isnan(problem.stored_error) ? 0.0 : problem.stored_error; /* NaN: nothing touches */
    mor_world_destroy(w);
    free(order);
}

frames_check frames_close(frames* f)
{
    mor_error error = { 0 };
    frames_check check = { 0 };
    for (int i = 0; i < f->count; i++) judge(&f->all[i], f->path);
    if (mor_bpmd_append(f->path, f->all, f->count, 1, &error)) die(f->path, error.text);
    for (int i = 0; i < f->count; i++) mor_bpmd_frame_clear(&f->all[i]);
    mor_bpmd* file = mor_bpmd_open(f->path, &error);
    if (!file) die(f->path, error.text);
    for (int i = 0; i < mor_bpmd_count(file); i++) {
        mor_bpmd_frame frame;
        if (mor_bpmd_read(file, i, &frame, &error)) die(f->path, error.text);
        int* order = more(NULL, 0, (size_t)frame.contact_count + 1, sizeof *order);
        mor_world* w = mor_bpmd_world(&frame, NULL, order, &error);
        if (!w) die(f->path, error.text);
        check_world(&frame, w, order, &check);
        check.frames++;
        check.contacts += frame.contact_count;
        mor_world_destroy(w);
        free(order);
        mor_bpmd_frame_clear(&frame);
    }
    mor_bpmd_free(file);
    free(f->all);
    free(f);
    return check;
}
