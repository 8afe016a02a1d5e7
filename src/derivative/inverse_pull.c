/* y' of the derivatives of inverse dynamics, without the matrices (inverse.h, inverse.c).
 *
 * With Y_l = sum y_i S_i over the joints that carry link l, the motion of the links with y, and over all that link j
 * carries the sums
 *
 *     F_j = sum f_l,  H_j = sum I_l Y_l,  b_j = sum (2 B_l)' Y_l,    (2 B)' Y = v x* (I Y) - I (v x Y) - Y x* (I v),
 *
 * the letters of inverse.c give, with X_j = Y_j - y_j S_j of the carriers of joint j alone,
 *
 *     y' d tau/d q_j  = H_j' Q_j + b_j' P_j + X_j' (S_j x* F_j),
 *     y' d tau/d nu_j = 2 H_j' P_j + b_j' S_j.
 *
 * Composite inertias are not needed. B acts on angular velocities only, so three numbers of b are. For a floating base,
 * which may move along all six motions, the sums are taken through: S' (x) in place of one S after the other.
 *
 * Cost: one way out, one way in, 15 numbers summed per link. */
#include "derivative/inverse.h"

typedef struct pulled {
    mor_twist S, P, v, a; /* axis, v_l x S; velocity, acceleration */
    mor_twist Y, F, H;    /* motion with y; force, momentum of Y, then sums: .v linear, .w about the base */
    mor_vec3 b;
} pulled;

static mor_twist twist(mor_vec3 v, mor_vec3 w) { return (mor_twist){ v, w }; }
static mor_twist add(mor_twist a, mor_twist b) { return twist(mor_add(a.v, b.v), mor_add(a.w, b.w)); }
static mor_twist madd(mor_twist a, double s, mor_twist b)
{
    return twist(mor_madd(a.v, s, b.v), mor_madd(a.w, s, b.w));
}
static double dot(mor_twist a, mor_twist b) { return mor_dot(a.v, b.v) + mor_dot(a.w, b.w); }

/* a x* f */
static inline mor_twist cross_force(mor_twist a, mor_twist f)
{
    return twist(mor_cross(a.w, f.v), mor_add(mor_cross(a.w, f.w), mor_cross(a.v, f.v)));
}

static inline mor_vec3 moment_times(const mor_rigid* b, mor_twist x)
{
    return mor_add(mor_cross(b->c, x.v), mor_sym3_mul(&b->I, x.w));
}

static inline mor_twist inertia_times(const mor_rigid* b, mor_twist x)
{
    return twist(mor_madd(mor_cross(x.w, b->c), b->m, x.v), moment_times(b, x));
}

static mor_twist six(const double* x) { return twist(mor_v3(x[0], x[1], x[2]), mor_v3(x[3], x[4], x[5])); }

/* The motions of the base. */
static void begin(const mor_inverse* x, const double* y, double factor, pulled* l)
{
    const mor_vec3 none = mor_v3(0, 0, 0);
    bool floating = x->model->floating;
    l->v = l->Y = twist(none, none);
    l->a = twist(mor_neg(x->gravity), none);
    if (floating) l->Y = madd(l->Y, factor, six(y));
    if (floating && x->nu) l->v = six(x->nu);
    if (floating && x->nudot) l->a = add(l->a, six(x->nudot));
    l->a.v = mor_sub(l->a.v, mor_cross(l->v.w, l->v.v)); /* from classical */
}

/* The motions of link i, which lies at r from the base. */
static inline void move_on(const mor_inverse* x, int i, mor_vec3 r, double y, const pulled* on, pulled* l)
{
    const mor_link_constant* c = &x->model->constants[i];
    mor_vec3 axis = x->states[i].axis;
    l->S = c->prismatic ? twist(axis, mor_v3(0, 0, 0)) : twist(mor_cross(r, axis), axis);
    l->Y = madd(on->Y, y, l->S);
    l->a = x->nudot ? madd(on->a, x->nudot[c->dof], l->S) : on->a;
    if (!x->nu) return;
    l->P = mor_twist_cross(on->v, l->S);
    l->v = madd(on->v, x->nu[c->dof], l->S);
    l->a = madd(l->a, x->nu[c->dof], l->P);
}

static void outwards(const mor_inverse* x, const double* y, double factor, pulled* links)
{
    const mor_robot_model* m = x->model;
    mor_vec3 o = x->states[0].p;
    for (int i = 0; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        pulled* l = &links[i];
        mor_vec3 r = mor_sub(x->states[i].p, o);
        mor_rigid body = mor_rigid_shift(&x->states[i].body, r);
        if (i == 0) begin(x, y, factor, l);
        else move_on(x, i, r, factor * y[c->dof], &links[c->parent], l);
        l->F = inertia_times(&body, l->a);
        l->H = inertia_times(&body, l->Y);
        if (x->nu) {
            mor_twist p = inertia_times(&body, l->v);
            l->F = add(l->F, cross_force(l->v, p));
            l->b = mor_sub(mor_sub(cross_force(l->v, l->H).w, moment_times(&body, mor_twist_cross(l->v, l->Y))),
                           cross_force(l->Y, p).w);
        }
        if (x->wrenches) {
            mor_twist w = six(x->wrenches + 6 * i);
            l->F = twist(mor_sub(l->F.v, w.v), mor_sub(l->F.w, mor_add(w.w, mor_cross(r, w.v))));
        }
    }
}

/* The three turns of a floating base; its translations change nothing. With q, a and v are kept in world axes. */
static void pull_base(const pulled* l, bool moves, double* by_q, double* by_nu)
{
    mor_vec3 q = mor_neg(mor_add(cross_force(l->a, l->H).w, cross_force(l->Y, l->F).w));
    if (moves) {
        q = mor_add(q, cross_force(l->v, cross_force(l->v, l->H)).w);
        q = mor_add(q, mor_cross(l->b, l->v.w));
    }
    by_q[3] += q.x, by_q[4] += q.y, by_q[5] += q.z;
    if (!by_nu || !moves) return;
    mor_vec3 nu = mor_add(l->b, mor_cross(l->H.w, l->v.w));
    nu = mor_madd(nu, 2.0, mor_cross(l->H.v, l->v.v));
    by_nu[3] += nu.x, by_nu[4] += nu.y, by_nu[5] += nu.z;
}

bool mor_inverse_pull(const mor_inverse* x, mor_arena* arena, const double* y, double factor, double* by_q,
                      double* by_nu)
{
    const mor_robot_model* m = x->model;
    size_t mark = mor_arena_mark(arena);
    pulled* links = mor_arena_alloc(arena, (size_t)m->link_count * sizeof *links);
    if (!links) return false;
    outwards(x, y, factor, links);
    for (int i = m->link_count - 1; i > 0; i--) {
        const pulled* l = &links[i];
        pulled* on = &links[m->constants[i].parent];
        int k = m->constants[i].dof;
        mor_twist Q = mor_twist_cross(on->a, l->S);
        if (x->nu) Q = add(Q, mor_twist_cross(on->v, l->P));
        by_q[k] += dot(l->H, Q) + dot(on->Y, cross_force(l->S, l->F));
        on->F = add(on->F, l->F);
        on->H = add(on->H, l->H);
        if (!x->nu) continue;
        by_q[k] += mor_dot(l->b, l->P.w);
        if (by_nu) by_nu[k] += 2.0 * dot(l->H, l->P) + mor_dot(l->b, l->S.w);
        on->b = mor_add(on->b, l->b);
    }
    if (m->floating) pull_base(&links[0], x->nu != NULL, by_q, by_nu);
    mor_arena_release(arena, mark);
    return true;
}
