/* One look at the equations of a step, see look.h. */
#include "derivative/look.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/registry.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "model/articulated.h"
#include "moreau/state.h"
#include "step/draft.h"
#include "step/project.h"
#include "step/stabilise.h"
#include "step/stages.h"

#include <stdint.h>
#include <string.h>

bool mor_look_create(const mor_derivation* d, mor_look* look)
{
    look->V = mor_arena_zero(d->arena, (size_t)d->dof + 1, sizeof(double));
    look->u = mor_arena_zero(d->arena, (size_t)d->rows + 1, sizeof(double));
    look->mu = mor_arena_zero(d->arena, (size_t)d->kept_count + 1, sizeof(double));
    look->q = mor_arena_zero(d->arena, (size_t)mor_world_q_count(d->world) + 1, sizeof(double));
    look->nu = mor_arena_zero(d->arena, (size_t)d->n + 1, sizeof(double));
    return look->V && look->u && look->mu && look->q && look->nu;
}

/* --------------------------------------------------------------------------- rows that correspond */

size_t mor_memory_key(const mor_step* k, const double* memory)
{
    if (!memory) return SIZE_MAX;
    const char *at = (const char*)memory, *joints = k->joints.data;
    size_t bytes = (size_t)k->joints.count * sizeof(mor_joint);
    if (joints && at >= joints && at < joints + bytes) return (size_t)(at - joints);
    for (int i = 0; i < k->robot_count; i++) {
        ptrdiff_t from = memory - k->robots[i]->memory;
        if (from >= 0 && from < 3 * mor_robot_joint_count(k->robots[i]->model))
            return ((size_t)i + 1) * ((size_t)1 << 40) + (size_t)from;
    }
    return SIZE_MAX - 1;
}

static bool same_contact(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->shape[0] == b->shape[0] &&
           a->shape[1] == b->shape[1] && a->feature == b->feature;
}

/* A point of the surface or a direction of a body, carried along from the base step to the trial. */
static mor_vec3 carried(const mor_derivation* d, int body, mor_vec3 x, bool direction)
{
    int slot = d->world->order[body];
    const mor_body *a = &d->base->w->bodies[slot], *b = &d->trial->w->bodies[slot];
    mor_quat turn = mor_quat_mul(b->q, mor_quat_conj(a->q));
    double growth = d->growth > 0.0 && d->grown == slot ? d->growth : 1.0;
    return direction ? mor_rotate(turn, x) : mor_madd(b->x, growth, mor_rotate(turn, mor_sub(x, a->x)));
}

/* Faces that lie exactly on each other are clipped at other corners on either side of a state. A contact that sticks is
 * then carried along with its bodies: the rows of the patch span the same space wherever its corners are. Others are
 * lost. */
static mor_code carry_contacts(mor_derivation* d, mor_error* error)
{
    mor_buffer* found = &d->trial->contacts;
    const mor_contact* base = d->base->contacts.data;
    mor_found out = { .world = d->trial->w, .contacts = found };
    mor_code code = MOR_OK;
    int count = found->count;
    for (int k = 0; k < d->kept_count && !code; k++) {
        if (d->kept[k].contact < 0 || !d->kept[k].sticks) continue;
        mor_contact c = base[d->kept[k].contact];
        bool there = false;
        for (int i = 0; i < count && !there; i++) there = same_contact(&((const mor_contact*)found->data)[i], &c);
        if (there) continue;
        for (int side = 0; side < 2; side++) c.point[side] = carried(d, c.body[side], c.point[side], false);
        c.normal = carried(d, c.body[0], c.normal, true);
        c.gap = mor_dot(mor_sub(c.point[1], c.point[0]), c.normal);
        code = mor_found_add(&out, &c);
    }
    d->trial->w->contacts = *found;
    return code == MOR_OK ? MOR_OK : mor_fail(error, code, "out of memory");
}

/* The kept block that a block of the trial is, or -1. Islands and blocks come in the same order but for those that
 * appear or vanish: the search begins after the last one found. */
static int find_kept(const mor_derivation* d, const mor_island* island, int block, int* from)
{
    const mor_system* s = &island->system;
    bool contact = block < s->contact_count;
    const mor_contact* c = contact ? (const mor_contact*)d->trial->contacts.data + s->contacts[block].contact : NULL;
    const mor_contact* base = d->base->contacts.data;
    size_t key = contact ? 0 : mor_memory_key(d->trial, island->rows[block - s->contact_count]->memory);
    for (int i = 0; i < d->kept_count; i++) {
        int k = (*from + i) % d->kept_count;
        const mor_kept* kept = &d->kept[k];
        if ((kept->contact >= 0) != contact || kept->dim != s->blocks[block].dim) continue;
        if (contact ? !same_contact(&base[kept->contact], c) : kept->key != key) continue;
        *from = k + 1;
        return k;
    }
    return -1;
}

static void read_rows(const mor_derivation* d, const mor_system* s, int block, const double* bias, const mor_kept* kept,
                      const int* tree_of, mor_look* look)
{
    const mor_block* b = &s->blocks[block];
    const mor_world* w = d->trial->w;
    for (int r = 0; r < b->dim; r++) {
        double u = bias[b->row + r] + d->bias_shift[kept->row + r];
        if (d->regular > 0.0 && b->kind == MOR_BLOCK_CONTACT)
            u += d->regular * s->diagonal[s->diagonal_start[block]] * d->p[kept->row + r];
        for (int e = b->entry; e < b->entry + b->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            const double* J = s->jacobian + s->entries[e].start + r * t->dof;
            const double* nu = d->nu + w->trees[tree_of[s->entries[e].tree]].offset;
            for (int m = 0; m < t->dof; m++) u += J[m] * nu[m];
        }
        look->u[kept->row + r] = u;
    }
}

/* V and u of one island of the trial. A pass of the position projection has no velocities and the gaps as its bias. */
static mor_code read_island(const mor_derivation* d, const mor_island* island, bool* seen, mor_look* look)
{
    const mor_system* s = &island->system;
    double* p = mor_arena_zero(d->arena, (size_t)s->row_count + 1, sizeof *p);
    double* bias = mor_arena_zero(d->arena, (size_t)s->row_count + 1, sizeof *bias);
    double* nu = mor_arena_zero(d->arena, (size_t)s->dof + 1, sizeof *nu);
    double* out = mor_arena_zero(d->arena, (size_t)s->dof + 1, sizeof *out);
    if (!p || !bias || !nu || !out) return MOR_SYSTEM;
    int from = 0, *of = mor_arena_alloc(d->arena, ((size_t)s->block_count + 1) * sizeof *of);
    if (!of) return MOR_SYSTEM;
    for (int b = 0; b < s->block_count; b++) {
        of[b] = d->kept_count ? find_kept(d, island, b, &from) : -1;
        if (of[b] < 0 || b >= s->contact_count) continue;
        mor_contact_row* row = &((mor_contact_row*)s->contacts)[b]; /* the gap counts on both sides, or on none */
        const mor_kept* kept = &d->kept[of[b]];
        double speed = d->base->islands[kept->island].system.contacts[kept->block].recovery;
        if (!kept->clipped) row->recovery = INFINITY;
        else row->gap = -INFINITY, row->recovery = speed == 0.0 || row->recovery == 0.0 ? speed : row->recovery;
    }
    mor_system still = *s;
    if (d->projecting) {
        still.nu_free = nu;
        mor_projection_bias(island, bias, NULL);
        s = &still;
    } else mor_bias_stewart_trinkle(s, bias);
    for (int b = 0; b < s->block_count; b++) {
        int k = of[b];
        if (k < 0) continue;
        const mor_kept* kept = &d->kept[k];
        seen[k] = true;
        memcpy(p + s->blocks[b].row, d->p + kept->row, (size_t)kept->dim * sizeof *p);
        read_rows(d, s, b, bias, kept, island->tree_of, look);
        if (kept->contact >= 0) look->mu[k] = s->contacts[b].friction;
    }
    mor_system_velocity(s, p, out);
    for (int t = 0; t < s->tree_count; t++)
        memcpy(look->V + d->trial->w->trees[island->tree_of[t]].offset, out + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof *nu);
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- the look */

/* A pass of the position projection begins with the end of the step, or of the pass before. */
static void begin_pass(const mor_derivation* d)
{
    mor_world* w = d->trial->w;
    for (int i = 0; i < w->body_count; i++) {
        mor_body* b = &w->bodies[i];
        const mor_body* from = &d->base->w->bodies[i];
        b->x = from->x, b->q = from->q, b->angle = from->angle;
        b->v = from->v, b->w = from->w, b->L = from->L;
    }
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        const mor_robot* from = d->base->w->robots[i];
        r->base = from->base;
        memcpy(r->s, from->s, (size_t)r->model->joint_count * sizeof *r->s);
        memcpy(r->nu, from->nu, (size_t)r->model->dof * sizeof *r->nu);
        mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
        mor_robot_write_bodies(w, r);
    }
    for (int i = 0; i < w->joints.count; i++)
        ((mor_joint*)w->joints.data)[i].coordinate = ((const mor_joint*)d->base->w->joints.data)[i].coordinate;
}

mor_code mor_look_begin(mor_derivation* d)
{
    mor_step* k = d->trial;
    mor_code code = mor_step_take(d->world, k);
    if (code) return code;
    const mor_world* from = d->base->w;
    for (int i = 0; i < k->w->body_count; i++) { /* what the user function and the solve of the base step decided */
        mor_body *b = &k->w->bodies[i], *a = &from->bodies[i];
        b->force = a->force, b->torque = a->torque, b->struck = a->struck;
        b->mass = d->world->bodies[i].mass, b->inertia_inverse = d->world->bodies[i].inertia_inverse;
    }
    k->w->forced = from->forced;
    k->struck = k->cured = 0;
    k->w->detected = false;
    memcpy(d->materials, d->world->materials, (size_t)d->world->material_count * sizeof *d->materials);
    k->w->materials = d->materials;
    if (d->projecting) begin_pass(d);
    return MOR_OK;
}

mor_code mor_look_ready(mor_derivation* d)
{
    mor_code code = d->ready ? MOR_OK : mor_look_begin(d);
    d->ready = !code;
    return code;
}

/* The impulses of the base step. */
static void set_impulses(const mor_derivation* d, const mor_island* island)
{
    const mor_system* s = &island->system;
    int from = 0;
    memset(island->answer.impulses, 0, (size_t)s->row_count * sizeof(double));
    for (int b = 0; b < s->block_count; b++) {
        int k = d->kept_count ? find_kept(d, island, b, &from) : -1;
        if (k < 0) continue;
        memcpy(island->answer.impulses + s->blocks[b].row, d->p + d->kept[k].row,
               (size_t)d->kept[k].dim * sizeof(double));
    }
}

/* Where contacts may bounce, trees that nothing pushes move with the mean of their velocities (formulation/impact.c).
 * Of a tree at rest both are the same; then its loads tell. False: out of memory. */
static bool set_mean_moves(mor_derivation* d, const double* nu)
{
    const mor_step* base = d->base;
    d->trial->nu_move = NULL;
    if (!base->nu_move) return true;
    double* move = mor_arena_alloc(d->arena, ((size_t)d->dof + 1) * sizeof *move);
    if (!move) return false;
    memcpy(move, nu, (size_t)d->dof * sizeof *move);
    for (int i = 0; i < base->w->tree_count; i++) {
        const mor_tree* t = &base->w->trees[i];
        if (mor_moves_by(d, t, 0.5) && !(d->loaded[i] && mor_moves_by(d, t, 1.0))) move[t->offset] = NAN;
    }
    d->trial->nu_move = move;
    return true;
}

bool mor_moves_by(const mor_derivation* d, const mor_tree* t, double share)
{
    const mor_step* k = d->base;
    const double *move = k->nu_move + t->offset, *from = k->nu + t->offset, *to = d->nu + t->offset;
    double off = 0.0;
    if (t->robot || t->body < 0) return share == 1.0;
    for (int i = 0; i < t->dof && !isnan(move[0]); i++)
        off = mor_max(off, fabs(move[i] - (1.0 - share) * from[i] - share * to[i]) / (1.0 + fabs(to[i])));
    return isnan(move[0]) ? share != 1.0 : off < 1e-12;
}

static mor_code finish(mor_derivation* d, const double* nu, mor_look* look, mor_error* error)
{
    mor_step* k = d->trial;
    mor_code code = MOR_OK;
    if (d->projecting) {
        for (int i = 0; i < k->w->tree_count; i++)
            if (d->loaded[i]) mor_tree_move(k->w, &k->w->trees[i], nu + k->w->trees[i].offset);
    } else {
        memcpy(k->nu_new, nu, (size_t)k->dof * sizeof *nu);
        if (!set_mean_moves(d, nu)) return MOR_SYSTEM;
        for (int i = 0; i < k->island_count; i++) set_impulses(d, &k->islands[i]);
        mor_integrate_bodies(k);
        k->nu_move = NULL;
        if (k->w->joints.count) code = mor_stabilise_velocities(k);
    }
    if (!code) code = mor_world_get_q(k->w, look->q, mor_world_q_count(k->w), error);
    if (!code) code = mor_world_get_nu(k->w, look->nu, d->n, error);
    return code;
}

/* Assembles the trial; `looked` gets the islands. */
static mor_code assemble(mor_derivation* d, int direction, double amount, mor_step* looked, mor_error* error)
{
    mor_code code = mor_look_begin(d);
    if (!code && !mor_perturb(d, direction, amount)) code = MOR_SYSTEM;
    if (!code && d->projecting) code = mor_step_detect(d->trial, &d->trial->contacts, error);
    else if (!code) code = mor_do_collide(d->world, d->trial, error);
    if (!code && d->kept_count) code = carry_contacts(d, error);
    if (d->projecting) {
        if (!code && !mor_projection_assemble(d->trial, &d->trial->contacts, looked)) code = MOR_SYSTEM;
        return code;
    }
    if (!code) code = mor_do_control(d->world, d->trial, error);
    if (!code) code = mor_do_assemble(d->world, d->trial, error);
    if (!code) *looked = *d->trial;
    return code;
}

mor_code mor_look_at(mor_derivation* d, int direction, double amount, mor_look* look, mor_error* error)
{
    size_t mark = mor_arena_mark(d->arena);
    size_t own = mor_arena_mark(d->trial->arena);
    bool* seen = mor_arena_zero(d->arena, (size_t)d->kept_count + 1, sizeof *seen);
    mor_step looked;
    mor_code code = seen ? assemble(d, direction, amount, &looked, error) : MOR_SYSTEM;
    if (!code) {
        if (d->projecting) memset(look->V, 0, (size_t)d->dof * sizeof(double));
        else memcpy(look->V, looked.nu_new, (size_t)d->dof * sizeof(double)); /* outside of islands */
        for (int i = 0; !code && i < looked.island_count; i++) code = read_island(d, &looked.islands[i], seen, look);
        look->lost = false;
        for (int k = 0; k < d->kept_count; k++) look->lost = look->lost || !seen[k];
        double* nu = mor_arena_alloc(d->arena, ((size_t)d->dof + 1) * sizeof *nu);
        if (!nu) code = MOR_SYSTEM;
        else memcpy(nu, d->nu, (size_t)d->dof * sizeof *nu);
        for (int i = 0; !code && i < d->trial->w->tree_count; i++) {
            const mor_tree* t = &d->trial->w->trees[i];
            if (!d->loaded[i]) memcpy(nu + t->offset, look->V + t->offset, (size_t)t->dof * sizeof *nu);
        }
        if (!code) code = finish(d, nu, look, error);
    }
    mor_perturb_release(d, direction);
    if (d->projecting) mor_arena_release(d->trial->arena, own);
    mor_arena_release(d->arena, mark);
    return code;
}

mor_code mor_look_at_end(mor_derivation* d, const double* nu, mor_look* look, mor_error* error)
{
    size_t mark = mor_arena_mark(d->arena);
    mor_step looked;
    mor_code code = d->projecting ? mor_look_begin(d) : assemble(d, -1, 0.0, &looked, error);
    if (!code) code = finish(d, nu, look, error);
    mor_arena_release(d->arena, mark);
    return code;
}

/* ------------------------------------------------------------------------------------ differences */

void mor_turn_between(const double* a, const double* b, double by, double* out)
{
    mor_quat p = { a[0], a[1], a[2], a[3] }, q = { b[0], -b[1], -b[2], -b[3] }, d = mor_quat_mul(p, q);
    double sign = d.w < 0.0 ? -1.0 : 1.0;
    mor_vec3 axis = mor_v3(sign * d.x, sign * d.y, sign * d.z);
    double s = mor_norm(axis), factor = s > 0.0 ? 2.0 * mor_atan2(s, fabs(d.w)) / s : 2.0;
    out[0] = factor * axis.x / by, out[1] = factor * axis.y / by, out[2] = factor * axis.z / by;
}

static void span_difference(bool floating, mor_span s, const mor_look* a, const mor_look* b, double by, double* out)
{
    int q = s.q, k = s.nu, left = s.nu_count;
    if (floating) {
        for (int i = 0; i < 3; i++) out[k + i] = (a->q[q + i] - b->q[q + i]) / by;
        mor_turn_between(a->q + q + 3, b->q + q + 3, by, out + k + 3);
        q += 7, k += 6, left -= 6;
    }
    for (int i = 0; i < left; i++) out[k + i] = (a->q[q + i] - b->q[q + i]) / by;
}

void mor_look_difference(const mor_derivation* d, const mor_look* a, const mor_look* b, double by, double* out)
{
    const mor_world* w = d->world;
    int q = 0, nu = 0; /* spans of bodies come one after the other */
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* body = &w->bodies[w->order[i]];
        if (body->robot || body->tree < 0) continue;
        int own = w->trees[body->tree].dof;
        mor_span s = { .q = q, .q_count = w->dimension == 3 ? own + 1 : own, .nu = nu, .nu_count = own };
        span_difference(w->dimension == 3, s, a, b, by, out);
        q += s.q_count, nu += s.nu_count;
    }
    for (int i = 0; i < w->robot_count; i++) {
        mor_span s = mor_world_robot_span(w, i);
        span_difference(s.q_count != s.nu_count, s, a, b, by, out);
    }
    for (int i = 0; i < d->n; i++) out[d->n + i] = (a->nu[i] - b->nu[i]) / by;
}
