/* Gravity compensation (control/support.c) by the positions of the robot, in closed form.
 *
 *     tau = h - J' f,    f_i = F + m x r_i at the points of support, r_i from the base,    K (F, m) = h_base
 *     K y = sum (f_i, r_i x f_i) + k trace(K) y
 *
 * dh is a derivative of inverse dynamics at rest, and so is that of h - J' f with forces that move along with their
 * links. Beyond that a force changes by df_i - S_i x f_i, and its point moves by dp_i - S_i(p_i) on the link. */
#include "derivative/inverse.h"
#include "derivative/slopes.h"

#include "control/control.h"
#include "linalg/dense.h"

#include <string.h>

typedef struct support {
    int link;
    mor_vec3 p, f;
    mor_vec3 *point, *turn, *moved; /* by every number of q: the link at p, its rotation, and p itself */
    int *path, count;               /* numbers of q that move it, joints first */
    int joints;
} support;

typedef struct supports {
    int count;
    support* list;
    double L[36];
    mor_vec3 F, m, o;
} supports;

/* How the link, and the point of support on it, move with every number of q; all: zeros for those that do not move it.
 */
static bool fill_motion(mor_arena* arena, const mor_robot* r, const mor_touch* t, int side, bool all, support* s)
{
    const mor_robot_model* m = r->model;
    size_t N = (size_t)m->dof;
    mor_vec3* room = all ? mor_arena_zero(arena, 3 * N, sizeof *room) : mor_arena_alloc(arena, 3 * N * sizeof *room);
    if (!room) return false;
    s->point = room, s->turn = room + N, s->moved = room + 2 * N;
    s->path = mor_arena_alloc(arena, N * sizeof *s->path);
    if (!s->path) return false;
    for (int j = s->link; j > 0; j = m->constants[j].parent) {
        const mor_link_state* l = &r->work->states[j];
        int k = m->constants[j].dof;
        s->point[k] = m->constants[j].prismatic ? l->axis : mor_cross(l->axis, mor_sub(s->p, l->p));
        s->turn[k] = m->constants[j].prismatic ? mor_v3(0, 0, 0) : l->axis;
        s->path[s->count++] = k;
    }
    s->joints = s->count;
    for (int k = 0; k < 6 && m->floating; k++) {
        mor_vec3 e = mor_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        s->point[k] = k < 3 ? e : mor_cross(e, mor_sub(s->p, r->work->states[0].p));
        s->turn[k] = k < 3 ? mor_v3(0, 0, 0) : e;
        s->path[s->count++] = k;
    }
    for (int at = 0; at < s->count; at++) {
        int k = s->path[at];
        const double six[6] = { s->point[k].x, s->point[k].y, s->point[k].z, s->turn[k].x, s->turn[k].y, s->turn[k].z };
        s->moved[k] = side == 0 ? s->point[k] : mor_v3(0, 0, 0);
        for (int i = 0; i < 6; i++) s->moved[k] = mor_madd(s->moved[k], side ? six[i] : -six[i], t->middle_by[i]);
    }
    return true;
}

/* The supports and their forces; false: out of memory. */
static bool find_supports(mor_derivation* d, const mor_slopes* s, const mor_robot* r, const double* h, bool all,
                          supports* x)
{
    const mor_world* w = d->base->w;
    const mor_contact* contacts = d->base->contacts.data;
    double K[36] = { 0 }, trace = 0.0, y[6];
    x->o = r->base.position;
    x->list = mor_arena_zero(d->arena, (size_t)d->base->contacts.count + 1, sizeof *x->list);
    if (!x->list) return false;
    for (int i = 0; i < d->base->contacts.count; i++) {
        support* at = &x->list[x->count];
        at->link = mor_support_of(w, r, &contacts[i], &at->p);
        if (at->link < 0) continue;
        const mor_body* first = &w->bodies[w->order[contacts[i].body[0]]];
        bool own = first->robot && w->robots[first->robot - 1] == r;
        if (!fill_motion(d->arena, r, &s->touches[i], own ? 0 : 1, all, at)) return false;
        mor_vec3 p = mor_sub(at->p, x->o);
        const double a[6][3] = { { 1, 0, 0 },      { 0, 1, 0 },      { 0, 0, 1 },
                                 { 0, -p.z, p.y }, { p.z, 0, -p.x }, { -p.y, p.x, 0 } };
        for (int k = 0; k < 36; k++)
            for (int e = 0; e < 3; e++) K[k] += a[k / 6][e] * a[k % 6][e];
        x->count++;
    }
    for (int k = 0; k < 6; k++) trace += K[7 * k];
    for (int k = 0; k < 6; k++) K[7 * k] += MOR_SUPPORT_REGULAR * trace;
    if (x->count && !mor_cholesky6(K, x->L)) x->count = 0;
    if (!x->count) return true;
    memcpy(y, h, sizeof y);
    mor_cholesky6_solve(x->L, y);
    x->F = mor_v3(y[0], y[1], y[2]), x->m = mor_v3(y[3], y[4], y[5]);
    for (int i = 0; i < x->count; i++) x->list[i].f = mor_add(x->F, mor_cross(x->m, mor_sub(x->list[i].p, x->o)));
    return true;
}

/* -J' of a force and a couple at the point of a support: what joints give. */
static void take_force(const support* s, int offset, mor_vec3 force, mor_vec3 couple, double* column, int stride)
{
    for (int a = 0; a < s->joints; a++) {
        int j = s->path[a];
        column[(j - offset) * stride] -= mor_dot(s->point[j], force) + mor_dot(s->turn[j], couple);
    }
}

/* What the supports add to the column of number k: dh (6) is the change of the base rows of h. Supports of one link are
 * summed up at the first of them. */
static void add_column(const supports* x, const mor_robot* r, int k, const double* dh, double* column, int stride)
{
    int N = r->model->dof, offset = N - r->model->joint_count;
    mor_vec3 base = r->model->floating && k < 3 ? mor_v3(k == 0, k == 1, k == 2) : mor_v3(0, 0, 0);
    double y[6], trace = 0.0;
    memcpy(y, dh, sizeof y);
    for (int i = 0; i < x->count; i++) {
        const support* s = &x->list[i];
        mor_vec3 at = mor_sub(s->p, x->o), dr = mor_sub(s->moved[k], base), df = mor_cross(x->m, dr);
        if (dr.x == 0.0 && dr.y == 0.0 && dr.z == 0.0) continue;
        mor_vec3 n = mor_add(mor_cross(dr, s->f), mor_cross(at, df));
        y[0] -= df.x, y[1] -= df.y, y[2] -= df.z, y[3] -= n.x, y[4] -= n.y, y[5] -= n.z;
        trace += 4.0 * mor_dot(at, dr);
    }
    const double now[6] = { x->F.x, x->F.y, x->F.z, x->m.x, x->m.y, x->m.z };
    for (int i = 0; i < 6; i++) y[i] -= MOR_SUPPORT_REGULAR * trace * now[i];
    mor_cholesky6_solve(x->L, y);
    mor_vec3 dF = mor_v3(y[0], y[1], y[2]), dm = mor_v3(y[3], y[4], y[5]);
    for (int i = 0; i < x->count;) {
        const support* first = &x->list[i];
        mor_vec3 sum = mor_v3(0, 0, 0), moment = sum;
        for (; i < x->count && x->list[i].link == first->link; i++) {
            const support* s = &x->list[i];
            mor_vec3 at = mor_sub(s->p, x->o), dr = mor_sub(s->moved[k], base);
            mor_vec3 df = mor_add(mor_add(dF, mor_cross(dm, at)), mor_cross(x->m, dr));
            mor_vec3 force = mor_sub(df, mor_cross(s->turn[k], s->f));
            moment = mor_add(moment, mor_cross(mor_sub(s->moved[k], s->point[k]), s->f));
            moment = mor_add(moment, mor_cross(mor_sub(s->p, first->p), force));
            sum = mor_add(sum, force);
        }
        take_force(first, offset, sum, moment, column, stride);
    }
}

/* The forces of the supports as forces that move along with their links. */
static void add_wrenches(const supports* x, const mor_robot* r, double* wrenches)
{
    for (int i = 0; i < x->count; i++) {
        mor_vec3 f = x->list[i].f, n = mor_cross(mor_sub(x->list[i].p, r->work->states[x->list[i].link].p), f);
        double* to = wrenches + 6 * x->list[i].link;
        to[0] += f.x, to[1] += f.y, to[2] += f.z, to[3] += n.x, to[4] += n.y, to[5] += n.z;
    }
}

/* Rows of the base, 6 x N: without the forces that move along with the links. */
static void take_wrenches(const supports* x, int N, double* by_q)
{
    for (int i = 0; i < x->count; i++) {
        const support* s = &x->list[i];
        mor_vec3 at = mor_sub(s->p, x->o);
        for (int a = 0; a < s->count; a++) {
            int k = s->path[a];
            if (a >= s->joints && k < 3) continue; /* it moves them with the base, which changes nothing */
            mor_vec3 f = mor_cross(s->turn[k], s->f), n = mor_add(mor_cross(s->point[k], s->f), mor_cross(at, f));
            const double six[6] = { f.x, f.y, f.z, n.x, n.y, n.z };
            for (int e = 0; e < 6; e++) by_q[e * N + k] += six[e];
        }
    }
}

/* What a support adds to y' tau by every number that moves it: P, T the motion of its link at its point when the joints
 * move with y; z = K^-1 of the weights of F and m. The forces that move along with the links weigh with the joints
 * only: what the motion z of the base made of them is taken back. */
static void pull_support(const supports* x, const support* s, mor_vec3 P, mor_vec3 T, const double* z, double* by_q)
{
    const double now[6] = { x->F.x, x->F.y, x->F.z, x->m.x, x->m.y, x->m.z };
    mor_vec3 at = mor_sub(s->p, x->o), zF = mor_v3(z[0], z[1], z[2]), zm = mor_v3(z[3], z[4], z[5]);
    double share = 0.0;
    for (int i = 0; i < 6; i++) share += 4.0 * MOR_SUPPORT_REGULAR * z[i] * now[i];
    /* of the point against the base */
    mor_vec3 G = mor_add(mor_cross(mor_add(mor_add(zF, P), mor_cross(zm, at)), x->m), mor_cross(s->f, zm));
    G = mor_neg(mor_madd(G, share, at));
    mor_vec3 zp = mor_add(zF, mor_cross(zm, at)), turn = mor_cross(s->f, mor_add(P, zp)), slide = mor_cross(s->f, T);
    mor_vec3 lever = mor_cross(s->f, zm);
    for (int a = 0; a < s->count; a++) {
        int k = s->path[a];
        mor_vec3 dr = s->moved[k];
        if (a >= s->joints && k < 3) dr = mor_sub(dr, mor_v3(k == 0, k == 1, k == 2));
        else by_q[k] += mor_dot(s->point[k], lever);
        by_q[k] += mor_dot(dr, G) + mor_dot(s->turn[k], turn) - mor_dot(mor_sub(s->moved[k], s->point[k]), slide);
    }
}

mor_code mor_gravity_pull(mor_derivation* d, const mor_slopes* s, const mor_robot* r, const double* y, double* by_q)
{
    const mor_robot_model* m = r->model;
    size_t mark = mor_arena_mark(d->arena), N = (size_t)m->dof, offset = N - (size_t)m->joint_count;
    double *h = mor_arena_alloc(d->arena, N * sizeof *h), *weight = mor_arena_zero(d->arena, N, sizeof *h),
           *wrenches = mor_arena_zero(d->arena, 6 * (size_t)m->link_count, sizeof *h), z[6] = { 0 };
    supports x = { 0 };
    if (!h || !weight || !wrenches) return MOR_SYSTEM;
    mor_robot_statics(m, r->work, r->work, d->base->w->gravity, NULL, h);
    if (m->floating && !find_supports(d, s, r, h, false, &x)) return MOR_SYSTEM;
    add_wrenches(&x, r, wrenches);
    memcpy(weight + offset, y, (N - offset) * sizeof *y);
    mor_vec3* motions = mor_arena_zero(d->arena, 2 * (size_t)x.count + 1, sizeof *motions);
    if (!motions) return MOR_SYSTEM;
    for (int i = 0; i < x.count; i++) {
        const support* at = &x.list[i];
        mor_vec3 *P = &motions[2 * i], *T = P + 1;
        for (int a = 0; a < at->joints; a++) {
            *P = mor_madd(*P, weight[at->path[a]], at->point[at->path[a]]);
            *T = mor_madd(*T, weight[at->path[a]], at->turn[at->path[a]]);
        }
        mor_vec3 n = mor_cross(mor_sub(at->p, x.o), *P);
        z[0] -= P->x, z[1] -= P->y, z[2] -= P->z, z[3] -= n.x, z[4] -= n.y, z[5] -= n.z;
    }
    if (x.count) {
        mor_cholesky6_solve(x.L, z);
        memcpy(weight, z, sizeof z);
    }
    mor_inverse of = { m, r->work->states, d->base->w->gravity, NULL, NULL, wrenches };
    if (!mor_inverse_pull(&of, d->arena, weight, 1.0, by_q, NULL)) return MOR_SYSTEM;
    for (int i = 0; i < x.count; i++) pull_support(&x, &x.list[i], motions[2 * i], motions[2 * i + 1], z, by_q);
    mor_arena_release(d->arena, mark);
    return MOR_OK;
}

mor_code mor_gravity_slopes(mor_derivation* d, const mor_slopes* s, const mor_robot* r, mor_inverse_room* room,
                            double* out)
{
    const mor_robot_model* m = r->model;
    size_t mark = mor_arena_mark(d->arena), N = (size_t)m->dof, offset = N - (size_t)m->joint_count;
    double *h = mor_arena_alloc(d->arena, N * sizeof *h), *by_q = mor_arena_alloc(d->arena, N * N * sizeof *h),
           *wrenches = mor_arena_zero(d->arena, 6 * (size_t)m->link_count, sizeof *h);
    supports x = { 0 };
    if (!h || !by_q || !wrenches) return MOR_SYSTEM;
    mor_robot_statics(m, r->work, r->work, d->base->w->gravity, NULL, h);
    if (m->floating && !find_supports(d, s, r, h, true, &x)) return MOR_SYSTEM;
    add_wrenches(&x, r, wrenches);
    mor_inverse_again(room, false, d->base->w->gravity, NULL, wrenches);
    mor_inverse_matrices(room, false, by_q, NULL);
    memcpy(out, by_q + offset * N, (N - offset) * N * sizeof *out);
    if (x.count) take_wrenches(&x, (int)N, by_q);
    for (size_t k = 0; k < N && x.count; k++) {
        double dh[6];
        for (size_t i = 0; i < 6; i++) dh[i] = by_q[i * N + k];
        add_column(&x, r, (int)k, dh, out + k, (int)N);
    }
    mor_arena_release(d->arena, mark);
    return MOR_OK;
}
