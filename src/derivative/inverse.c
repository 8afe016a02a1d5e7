/* Derivatives of inverse dynamics, tau_i = S_i' f_i with f_i the force that link i and all it carries need.
 *
 * All motions (v, w) and forces (f, n) are about one point, the origin of the base. A change of joint j moves all that
 * it carries rigidly by S_j, and beyond that changes the velocities and accelerations of all of it by the same motions
 *
 *     P_j = v_l x S_j,    Q_j = a_l x S_j + v_l x P_j        (l: the link that carries joint j)
 *
 * since v_l and a_l themselves stay. With I the composite inertia of what link i carries, and
 * 2 B x = v x* (I x) - I (v x x) + x x* (I v) summed over it,
 *
 *     d tau_i/d q_j  = S_i' (I_i Q_j + 2 B_i P_j)                    j carries i, or is i
 *     d tau_j/d q_i  = S_j' (S_i x* f_i + I_i Q_i + 2 B_i P_i)       j carries i
 *     d tau_i/d nu_j = S_i' (I_i 2 P_j + 2 B_i S_j),    d tau_j/d nu_i = S_j' (I_i 2 P_i + 2 B_i S_i).
 *
 * The velocity of a floating base is kept in world axes while it turns: v_l and a_l are its own then. B acts on angular
 * velocities only: 2 B (v, w) = (2 w x p, ...) with p the linear momentum.
 *
 * S, P, I, B and I_i S_i depend on positions and velocities only: other accelerations and forces at the same state need
 * f, Q and what follows from them (mor_inverse_again).
 *
 * Cost: links times depth; the rows of the base alone cost as much as links. Sums of all with weights on tau cost as
 * much as links, too (inverse_pull.c).
 *
 * J. Carpentier, N. Mansard (2018), Analytical derivatives of rigid body dynamics algorithms, RSS; S. Singh, R. P.
 * Russo, P. M. Wensing (2022), IEEE RA-L 7. */
#include "derivative/inverse.h"

#include <string.h>

typedef struct link_room {
    mor_twist S, v, a, f; /* axis; velocity, acceleration; force, then composite: .v force, .w moment */
    mor_twist P, Q;
    mor_twist own_v;       /* force of the link's own velocities, v x* (I v) */
    mor_rigid own, body;   /* of the link; composite */
    mor_mat3 B[2];         /* 2 B of angular velocities: force, moment; composite */
    mor_twist row;         /* I_i S_i */
    mor_vec3 row_B;        /* (2 B_i)' S_i */
    mor_twist BP;          /* 2 B_i P_i */
    mor_twist by_q, by_nu; /* forces that carriers of the link feel */
    mor_vec3 r;            /* from the base */
} link_room;

struct mor_inverse_room {
    const mor_robot_model* model;
    link_room* links;
    bool moves; /* there are velocities; P, v, B and what follows from them are not set otherwise */
    const double* nu;
};

static mor_twist twist(mor_vec3 v, mor_vec3 w) { return (mor_twist){ v, w }; }
static mor_twist add(mor_twist a, mor_twist b) { return twist(mor_add(a.v, b.v), mor_add(a.w, b.w)); }
static mor_twist madd(mor_twist a, double s, mor_twist b)
{
    return twist(mor_madd(a.v, s, b.v), mor_madd(a.w, s, b.w));
}
static double dot(mor_twist a, mor_twist b) { return mor_dot(a.v, b.v) + mor_dot(a.w, b.w); }
static mor_twist six(const double* x) { return twist(mor_v3(x[0], x[1], x[2]), mor_v3(x[3], x[4], x[5])); }

/* a x* f */
static inline mor_twist cross_force(mor_twist a, mor_twist f)
{
    return twist(mor_cross(a.w, f.v), mor_add(mor_cross(a.w, f.w), mor_cross(a.v, f.v)));
}

static inline mor_twist inertia_times(const mor_rigid* b, mor_twist x)
{
    return twist(mor_madd(mor_cross(x.w, b->c), b->m, x.v), mor_add(mor_cross(b->c, x.v), mor_sym3_mul(&b->I, x.w)));
}

static mor_twist B_times(const link_room* l, mor_vec3 w) { return twist(mor_mul(&l->B[0], w), mor_mul(&l->B[1], w)); }

/* 2 B of one link, column by column. */
static void fill_B(link_room* l)
{
    const mor_rigid* b = &l->own;
    mor_vec3 v = l->v.v, w = l->v.w, p = mor_madd(mor_cross(w, b->c), b->m, v), Iw = mor_sym3_mul(&b->I, w);
    const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int k = 0; k < 3; k++) {
        mor_vec3 e = axes[k], f = mor_scale(2.0, mor_cross(e, p));
        mor_vec3 n = mor_add(mor_sub(mor_cross(w, mor_sym3_mul(&b->I, e)), mor_sym3_mul(&b->I, mor_cross(w, e))),
                             mor_add(mor_cross(e, Iw), mor_scale(2.0, mor_cross(b->c, mor_cross(e, v)))));
        for (int i = 0; i < 3; i++) l->B[0].m[i][k] = mor_axis(f, i), l->B[1].m[i][k] = mor_axis(n, i);
    }
}

/* ----------------------------------------------------------------------------- positions and velocities */

static void place_links(mor_inverse_room* x, const mor_link_state* states)
{
    const mor_robot_model* m = x->model;
    const mor_vec3 none = mor_v3(0, 0, 0);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        link_room* l = &x->links[i];
        l->r = mor_sub(states[i].p, states[0].p);
        l->own = l->body = mor_rigid_shift(&states[i].body, l->r);
        l->v = l->own_v = l->P = l->BP = twist(none, none);
        l->row_B = none;
        mor_vec3 axis = states[i].axis;
        if (i) l->S = c->prismatic ? twist(axis, none) : twist(mor_cross(l->r, axis), axis);
        if (!x->moves) continue;
        if (i == 0) l->v = m->floating ? six(x->nu) : twist(none, none);
        else {
            l->P = mor_twist_cross(x->links[c->parent].v, l->S);
            l->v = madd(x->links[c->parent].v, x->nu[c->dof], l->S);
        }
        l->own_v = cross_force(l->v, inertia_times(&l->own, l->v));
        fill_B(l);
    }
}

/* Sums over what each link carries, and what follows from them. */
static void compose_links(mor_inverse_room* x)
{
    const mor_robot_model* m = x->model;
    for (int i = m->link_count - 1; i > 0; i--) {
        link_room *l = &x->links[i], *on = &x->links[m->constants[i].parent];
        l->row = inertia_times(&l->body, l->S);
        on->body = mor_rigid_add(&on->body, &l->body);
        if (!x->moves) continue;
        l->row_B = mor_add(mor_tmul(&l->B[0], l->S.v), mor_tmul(&l->B[1], l->S.w));
        l->BP = B_times(l, l->P.w);
        mor_twist twice = twist(mor_scale(2.0, l->P.v), mor_scale(2.0, l->P.w));
        l->by_nu = add(inertia_times(&l->body, twice), B_times(l, l->S.w));
        double *to = &on->B[0].m[0][0], *from = &l->B[0].m[0][0];
        for (int k = 0; k < 18; k++) to[k] += from[k];
    }
}

/* ---------------------------------------------------------------------------- accelerations and forces */

void mor_inverse_again(mor_inverse_room* x, bool moving, mor_vec3 gravity, const double* nudot, const double* wrenches)
{
    const mor_robot_model* m = x->model;
    const mor_vec3 none = mor_v3(0, 0, 0);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        link_room* l = &x->links[i];
        if (i == 0) {
            l->a = twist(mor_neg(gravity), none);
            if (m->floating && nudot) l->a = add(l->a, six(nudot));
            if (moving) l->a.v = mor_sub(l->a.v, mor_cross(l->v.w, l->v.v)); /* from classical */
        } else {
            const link_room* on = &x->links[c->parent];
            l->Q = mor_twist_cross(on->a, l->S);
            l->a = nudot ? madd(on->a, nudot[c->dof], l->S) : on->a;
            if (moving) {
                l->Q = add(l->Q, mor_twist_cross(on->v, l->P));
                l->a = madd(l->a, x->nu[c->dof], l->P);
            }
        }
        l->f = inertia_times(&l->own, l->a);
        if (moving) l->f = add(l->f, l->own_v);
        if (!wrenches) continue;
        mor_twist w = six(wrenches + 6 * i);
        l->f = twist(mor_sub(l->f.v, w.v), mor_sub(l->f.w, mor_add(w.w, mor_cross(l->r, w.v))));
    }
    for (int i = m->link_count - 1; i > 0; i--) {
        link_room *l = &x->links[i], *on = &x->links[m->constants[i].parent];
        l->by_q = add(cross_force(l->S, l->f), inertia_times(&l->body, l->Q));
        if (moving) l->by_q = add(l->by_q, l->BP);
        on->f = add(on->f, l->f);
    }
}

mor_inverse_room* mor_inverse_begin(const mor_inverse* of, mor_arena* arena)
{
    mor_inverse_room* x = mor_arena_alloc(arena, sizeof *x);
    if (!x) return NULL;
    *x = (mor_inverse_room){ .model = of->model, .moves = of->nu != NULL, .nu = of->nu };
    x->links = mor_arena_alloc(arena, (size_t)of->model->link_count * sizeof *x->links);
    if (!x->links) return NULL;
    place_links(x, of->states);
    compose_links(x);
    mor_inverse_again(x, x->moves, of->gravity, of->nudot, of->wrenches);
    return x;
}

/* --------------------------------------------------------------------------------------------- matrices */

static void put(mor_twist f, size_t N, double* column)
{
    const double numbers[6] = { f.v.x, f.v.y, f.v.z, f.w.x, f.w.y, f.w.z };
    for (size_t k = 0; k < 6; k++) column[k * N] = numbers[k];
}

/* Forces of the base by number k of its position, and of its velocity. */
static mor_twist base_by_q(const link_room* b, bool moving, mor_twist S)
{
    mor_twist P = mor_twist_cross(b->v, S), Q = mor_twist_cross(b->a, S);
    if (moving) Q = add(Q, mor_twist_cross(b->v, P));
    mor_twist f = add(cross_force(S, b->f), inertia_times(&b->body, Q));
    return moving ? add(f, B_times(b, P.w)) : f;
}

static mor_twist base_by_nu(const link_room* b, mor_vec3 e)
{
    mor_twist A = twist(mor_scale(2.0, mor_cross(b->v.v, e)), mor_cross(b->v.w, e));
    return add(inertia_times(&b->body, A), B_times(b, e));
}

void mor_inverse_base(const mor_inverse_room* x, bool moving, double* by_q, double* by_nu)
{
    const mor_robot_model* m = x->model;
    const link_room* b = &x->links[0];
    size_t N = (size_t)m->dof;
    const mor_twist none = twist(mor_v3(0, 0, 0), mor_v3(0, 0, 0));
    for (int k = 0; k < 6; k++) { /* a velocity along the axes changes nothing, nor does a translation */
        mor_vec3 e = mor_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        put(k < 3 ? none : base_by_q(b, moving, twist(mor_v3(0, 0, 0), e)), N, by_q + k);
        if (by_nu) put(k < 3 ? none : base_by_nu(b, e), N, by_nu + k);
    }
    for (int i = 1; i < m->link_count; i++) {
        put(x->links[i].by_q, N, by_q + m->constants[i].dof);
        if (by_nu) put(x->links[i].by_nu, N, by_nu + m->constants[i].dof);
    }
}

/* Row of link l by the turns of a floating base: R' (a x S + v x (v x S)) + b' (v x S), all three S at once. */
static void turn_columns(const link_room* b, bool moving, const link_room* l, double* by_q, double* by_nu)
{
    mor_vec3 q = mor_neg(cross_force(b->a, l->row).w);
    if (moving) {
        q = mor_add(q, cross_force(b->v, cross_force(b->v, l->row)).w);
        q = mor_add(q, mor_cross(l->row_B, b->v.w));
    }
    by_q[3] = q.x, by_q[4] = q.y, by_q[5] = q.z;
    if (!by_nu) return;
    mor_vec3 nu = mor_add(l->row_B, mor_cross(l->row.w, b->v.w));
    nu = mor_madd(nu, 2.0, mor_cross(l->row.v, b->v.v));
    by_nu[3] = nu.x, by_nu[4] = nu.y, by_nu[5] = nu.z;
}

void mor_inverse_matrices(const mor_inverse_room* x, bool moving, double* by_q, double* by_nu)
{
    const mor_robot_model* m = x->model;
    size_t N = (size_t)m->dof;
    memset(by_q, 0, N * N * sizeof *by_q);
    if (by_nu) memset(by_nu, 0, N * N * sizeof *by_nu);
    if (m->floating) mor_inverse_base(x, moving, by_q, by_nu);
    for (int i = 1; i < m->link_count; i++) {
        const link_room* l = &x->links[i];
        size_t own = (size_t)m->constants[i].dof;
        double *row = by_q + own * N, *row_nu = by_nu ? by_nu + own * N : NULL;
        if (m->floating) turn_columns(&x->links[0], moving, l, row, row_nu);
        for (int j = i; j > 0; j = m->constants[j].parent) {
            const link_room* u = &x->links[j];
            size_t other = (size_t)m->constants[j].dof;
            row[other] = dot(l->row, u->Q) + (moving ? mor_dot(l->row_B, u->P.w) : 0.0);
            if (j != i) by_q[other * N + own] = dot(u->S, l->by_q);
            if (!by_nu) continue;
            row_nu[other] = 2.0 * dot(l->row, u->P) + mor_dot(l->row_B, u->S.w);
            if (j != i) by_nu[other * N + own] = dot(u->S, l->by_nu);
        }
    }
}

bool mor_inverse_slopes(const mor_inverse* of, mor_arena* arena, double* by_q, double* by_nu)
{
    size_t mark = mor_arena_mark(arena);
    const mor_inverse_room* x = mor_inverse_begin(of, arena);
    if (!x) return false;
    mor_inverse_matrices(x, x->moves, by_q, by_nu);
    mor_arena_release(arena, mark);
    return true;
}
