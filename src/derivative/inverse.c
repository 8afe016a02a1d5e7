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
 * Cost: links times depth. Sums of these with weights on tau cost as much as links (inverse_pull.c).
 *
 * J. Carpentier, N. Mansard (2018), Analytical derivatives of rigid body dynamics algorithms, RSS; S. Singh, R. P.
 * Russo, P. M. Wensing (2022), IEEE RA-L 7. */
#include "derivative/inverse.h"

#include <string.h>

typedef struct link_room {
    mor_twist S, v, a, f; /* axis; velocity, acceleration; force, then composite: .v force, .w moment */
    mor_twist P, Q;
    mor_rigid body;        /* composite */
    mor_mat3 B[2];         /* 2 B of angular velocities: force, moment; composite */
    mor_twist row;         /* I_i S_i */
    mor_vec3 row_B;        /* (2 B_i)' S_i */
    mor_twist by_q, by_nu; /* forces that carriers of the link feel */
    bool moves;            /* there are velocities; B is not set otherwise */
} link_room;

static mor_twist twist(mor_vec3 v, mor_vec3 w) { return (mor_twist){ v, w }; }
static mor_twist add(mor_twist a, mor_twist b) { return twist(mor_add(a.v, b.v), mor_add(a.w, b.w)); }
static double dot(mor_twist a, mor_twist b) { return mor_dot(a.v, b.v) + mor_dot(a.w, b.w); }

/* a x* f */
static mor_twist cross_force(mor_twist a, mor_twist f)
{
    return twist(mor_cross(a.w, f.v), mor_add(mor_cross(a.w, f.w), mor_cross(a.v, f.v)));
}

static mor_twist inertia_times(const mor_rigid* b, mor_twist x)
{
    return twist(mor_madd(mor_cross(x.w, b->c), b->m, x.v), mor_add(mor_cross(b->c, x.v), mor_sym3_mul(&b->I, x.w)));
}

static mor_twist B_times(const link_room* l, mor_vec3 w) { return twist(mor_mul(&l->B[0], w), mor_mul(&l->B[1], w)); }

/* 2 B of one link, column by column. */
static void fill_B(link_room* l)
{
    const mor_rigid* b = &l->body;
    mor_vec3 v = l->v.v, w = l->v.w, p = mor_madd(mor_cross(w, b->c), b->m, v), Iw = mor_sym3_mul(&b->I, w);
    const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int k = 0; k < 3; k++) {
        mor_vec3 e = axes[k], f = mor_scale(2.0, mor_cross(e, p));
        mor_vec3 n = mor_add(mor_sub(mor_cross(w, mor_sym3_mul(&b->I, e)), mor_sym3_mul(&b->I, mor_cross(w, e))),
                             mor_add(mor_cross(e, Iw), mor_scale(2.0, mor_cross(b->c, mor_cross(e, v)))));
        for (int i = 0; i < 3; i++) l->B[0].m[i][k] = mor_axis(f, i), l->B[1].m[i][k] = mor_axis(n, i);
    }
}

/* Velocities, accelerations and forces of all links, each link on its own. */
static void outwards(const mor_inverse* x, link_room* links)
{
    const mor_robot_model* m = x->model;
    mor_vec3 o = x->states[0].p;
    const mor_vec3 none = mor_v3(0, 0, 0);
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* s = &x->states[i];
        link_room* l = &links[i];
        mor_vec3 r = mor_sub(s->p, o);
        l->body = mor_rigid_shift(&s->body, r);
        l->row_B = none;
        if (i == 0) {
            l->v = twist(none, none);
            l->a = twist(mor_neg(x->gravity), none);
            if (m->floating && x->nu)
                l->v = twist(mor_v3(x->nu[0], x->nu[1], x->nu[2]), mor_v3(x->nu[3], x->nu[4], x->nu[5]));
            if (m->floating && x->nudot)
                l->a = add(l->a, twist(mor_v3(x->nudot[0], x->nudot[1], x->nudot[2]),
                                       mor_v3(x->nudot[3], x->nudot[4], x->nudot[5])));
            l->a.v = mor_sub(l->a.v, mor_cross(l->v.w, l->v.v)); /* from classical */
        } else {
            const link_room* on = &links[c->parent];
            double qd = x->nu ? x->nu[c->dof] : 0.0, qdd = x->nudot ? x->nudot[c->dof] : 0.0;
            l->S = c->prismatic ? twist(s->axis, mor_v3(0, 0, 0)) : twist(mor_cross(r, s->axis), s->axis);
            l->Q = mor_twist_cross(on->a, l->S);
            l->a = twist(mor_madd(on->a.v, qdd, l->S.v), mor_madd(on->a.w, qdd, l->S.w));
            l->P = l->v = twist(none, none);
            if (x->nu) {
                l->P = mor_twist_cross(on->v, l->S);
                l->Q = add(l->Q, mor_twist_cross(on->v, l->P));
                l->v = twist(mor_madd(on->v.v, qd, l->S.v), mor_madd(on->v.w, qd, l->S.w));
                l->a = twist(mor_madd(l->a.v, qd, l->P.v), mor_madd(l->a.w, qd, l->P.w));
            }
        }
        l->f = inertia_times(&l->body, l->a);
        if (x->nu) l->f = add(l->f, cross_force(l->v, inertia_times(&l->body, l->v)));
        if (x->wrenches) {
            const double* w = x->wrenches + 6 * i;
            mor_vec3 f = mor_v3(w[0], w[1], w[2]), n = mor_v3(w[3], w[4], w[5]);
            l->f = add(l->f, twist(mor_neg(f), mor_neg(mor_add(n, mor_cross(r, f)))));
        }
        l->moves = x->nu != NULL;
        if (l->moves) fill_B(l);
    }
}

/* Sums over what each link carries, and what follows from them. */
static void inwards(const mor_inverse* x, link_room* links)
{
    const mor_robot_model* m = x->model;
    for (int i = m->link_count - 1; i > 0; i--) {
        link_room *l = &links[i], *on = &links[m->constants[i].parent];
        l->row = inertia_times(&l->body, l->S);
        l->by_q = add(cross_force(l->S, l->f), inertia_times(&l->body, l->Q));
        if (x->nu) {
            l->row_B = mor_add(mor_tmul(&l->B[0], l->S.v), mor_tmul(&l->B[1], l->S.w));
            l->by_q = add(l->by_q, B_times(l, l->P.w));
            mor_twist twice = twist(mor_scale(2.0, l->P.v), mor_scale(2.0, l->P.w));
            l->by_nu = add(inertia_times(&l->body, twice), B_times(l, l->S.w));
        }
        on->body = mor_rigid_add(&on->body, &l->body);
        on->f = add(on->f, l->f);
        for (int k = 0; k < 18 && x->nu; k++) on->B[k / 9].m[k / 3 % 3][k % 3] += l->B[k / 9].m[k / 3 % 3][k % 3];
    }
}

static void put(mor_twist f, int N, double* column)
{
    const double six[6] = { f.v.x, f.v.y, f.v.z, f.w.x, f.w.y, f.w.z };
    for (int k = 0; k < 6; k++) column[k * N] = six[k];
}

/* The motion of number k of a floating base, and what it adds to velocities and accelerations: P, Q by the position, A
 * by the velocity, beyond S x v. */
typedef struct base_motion {
    mor_twist S, P, Q, A;
} base_motion;

static base_motion base_of(const link_room* b, int k)
{
    mor_vec3 e = mor_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2), none = mor_v3(0, 0, 0);
    base_motion m = { .S = k < 3 ? twist(e, none) : twist(none, e), .A = { none, none } };
    m.P = mor_twist_cross(b->v, m.S);
    m.Q = add(mor_twist_cross(b->a, m.S), mor_twist_cross(b->v, m.P));
    if (k >= 3) m.A = twist(mor_scale(2.0, mor_cross(b->v.v, e)), mor_cross(b->v.w, e));
    return m;
}

/* Forces of the base by number k of its position, and of its velocity. */
static mor_twist base_by_q(const link_room* b, const base_motion* m)
{
    mor_twist f = add(cross_force(m->S, b->f), inertia_times(&b->body, m->Q));
    return b->moves ? add(f, B_times(b, m->P.w)) : f;
}

static mor_twist base_by_nu(const link_room* b, const base_motion* m)
{
    return add(inertia_times(&b->body, m->A), B_times(b, m->S.w));
}

/* The six columns of a floating base. */
static void base_columns(const mor_inverse* x, const link_room* links, double* by_q, double* by_nu)
{
    const mor_robot_model* m = x->model;
    const link_room* b = &links[0];
    int N = m->dof;
    for (int k = 0; k < 6; k++) {
        base_motion own = base_of(b, k);
        if (k >= 3) put(base_by_q(b, &own), N, by_q + k);
        if (by_nu) put(base_by_nu(b, &own), N, by_nu + k);
        for (int i = 1; i < m->link_count; i++) {
            size_t at = (size_t)m->constants[i].dof * N + k;
            if (k >= 3) by_q[at] = dot(links[i].row, own.Q) + mor_dot(links[i].row_B, own.P.w);
            if (by_nu) by_nu[at] = dot(links[i].row, own.A) + mor_dot(links[i].row_B, own.S.w);
        }
    }
}

bool mor_inverse_slopes(const mor_inverse* x, mor_arena* arena, double* by_q, double* by_nu)
{
    const mor_robot_model* m = x->model;
    size_t mark = mor_arena_mark(arena), N = (size_t)m->dof;
    link_room* links = mor_arena_alloc(arena, (size_t)m->link_count * sizeof *links);
    if (!links) return false;
    memset(by_q, 0, N * N * sizeof *by_q);
    if (by_nu) memset(by_nu, 0, N * N * sizeof *by_nu);
    outwards(x, links);
    inwards(x, links);
    for (int i = 1; i < m->link_count; i++) {
        const link_room* l = &links[i];
        size_t own = (size_t)m->constants[i].dof;
        for (int j = i; j > 0; j = m->constants[j].parent) {
            const link_room* u = &links[j];
            size_t other = (size_t)m->constants[j].dof;
            by_q[own * N + other] = dot(l->row, u->Q) + mor_dot(l->row_B, u->P.w);
            if (j != i) by_q[other * N + own] = dot(u->S, l->by_q);
            if (!by_nu) continue;
            by_nu[own * N + other] = 2.0 * dot(l->row, u->P) + mor_dot(l->row_B, u->S.w);
            if (j != i) by_nu[other * N + own] = dot(u->S, l->by_nu);
        }
        if (m->floating) put(l->by_q, m->dof, by_q + own);
        if (m->floating && by_nu) put(l->by_nu, m->dof, by_nu + own);
    }
    if (m->floating) base_columns(x, links, by_q, by_nu);
    mor_arena_release(arena, mark);
    return true;
}
