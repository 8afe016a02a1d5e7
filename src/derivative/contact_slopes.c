/* The contacts by the state (slopes.h).
 *
 * A number k of a tree's position moves the points of its bodies by a motion field S_k. For a contact with the
 * directions d_r, the middle c, the velocities V_i(c) of its bodies at nu+ and the impulses p_r, F = sum d_r p_r:
 *
 *     dn = w_0 x n + n' (S_1 - S_0),    dc = S_0(c) + c' (S_1 - S_0),    dgap = gap' (S_1 - S_0)     (touch.h)
 *     du_r = d_r . (dV_1 - dV_0 + (w_1 - w_0) x dc) + dd_r . (V_1 - V_0) + dgap/h (r = n)
 *     dF = sum dd_r p_r,
 *
 * dV_i the change of the velocity field of body i at fixed nu+. The impulse on a body is what moves along with it, and
 * beyond that the force dF - S_i x F at c and the couple (dc - S_i(c)) x F.
 *
 * A contact that is held at the point where it stuck (a_i on body i) has (d_r . (a_1 - a_0))/h in its tangential rows.
 *
 * A patch in which nothing moves (patch.h) is one contact with a wrench F, N that stays where it is in space, whatever
 * moves: its six impulses are free and make up for the rest. */
#include "derivative/patch.h"
#include "derivative/pull.h"
#include "derivative/slopes.h"

#include "model/articulated.h"

/* One number of a tree's velocity, as a motion of a body at the contact: the point, the rotation, and what it does to
 * the velocity field of the body. */
typedef struct field {
    int number;                           /* in the tree */
    mor_vec3 point, turn, velocity, spin; /* spin: of its angular velocity */
} field;

typedef struct side {
    int tree, count; /* -1: fixed or kinematic */
    const mor_body* body;
    mor_vec3 v, w; /* of the body at c, angular, at nu+ */
    field* fields;
    mor_vec3 point, turn; /* the motion at c when the tree moves with the weights of its impulses (pull.h) */
} side;

/* ------------------------------------------------------------------------------------- motion fields */

static mor_vec3 unit(int k) { return mor_v3(k == 0, k == 1, k == 2); }

static void body_side(const mor_derivation* d, const mor_tree* t, mor_vec3 c, side* s)
{
    const double* nu = d->nu + t->offset;
    int linear = d->world->dimension;
    mor_vec3 arm = mor_sub(c, s->body->x);
    s->w = t->dof == 6 ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, t->dof == 3 ? nu[2] : 0.0);
    s->v = mor_add(mor_v3(nu[0], nu[1], linear == 3 ? nu[2] : 0.0), mor_cross(s->w, arm));
    s->count = t->dof;
    for (int k = 0; k < t->dof; k++) {
        mor_vec3 none = mor_v3(0, 0, 0), e = k < linear ? unit(k) : linear == 3 ? unit(k - 3) : unit(2);
        s->fields[k] = k < linear ? (field){ k, e, none, mor_cross(e, s->w), none }
                                  : (field){ k, mor_cross(e, arm), e, none, none };
    }
}

/* Velocities of the links at nu+, of their origins. */
static void link_velocities(const mor_robot* r, const double* nu, mor_twist* out)
{
    const mor_robot_model* m = r->model;
    out[0] = (mor_twist){ { 0, 0, 0 }, { 0, 0, 0 } };
    if (m->floating) out[0] = (mor_twist){ { nu[0], nu[1], nu[2] }, { nu[3], nu[4], nu[5] } };
    for (int i = 1; i < m->link_count; i++) {
        const mor_link_constant* c = &m->constants[i];
        const mor_link_state* l = &r->work->states[i];
        const mor_twist* on = &out[c->parent];
        out[i] = (mor_twist){ mor_add(on->v, mor_cross(on->w, l->r)), on->w };
        if (c->prismatic) out[i].v = mor_madd(out[i].v, nu[c->dof], l->axis);
        else out[i].w = mor_madd(out[i].w, nu[c->dof], l->axis);
    }
}

/* The velocity of a link at a point. */
static mor_twist at_point(const mor_robot* r, const mor_twist* links, int i, mor_vec3 c)
{
    return (mor_twist){ mor_add(links[i].v, mor_cross(links[i].w, mor_sub(c, r->work->states[i].p))), links[i].w };
}

/* S x (V - V_carrier) at the point: what a turn of S does to the velocity of what it carries. */
static mor_vec3 carried_change(mor_vec3 point, mor_vec3 turn, mor_twist V, mor_twist carrier)
{
    mor_vec3 v = mor_sub(V.v, carrier.v), w = mor_sub(V.w, carrier.w);
    return mor_add(mor_cross(turn, v), mor_cross(point, w));
}

static void robot_side(const mor_robot* r, const mor_twist* links, mor_vec3 c, side* s)
{
    const mor_robot_model* m = r->model;
    mor_twist V = at_point(r, links, s->body->link, c), base = at_point(r, links, 0, c);
    s->v = V.v, s->w = V.w;
    s->count = 0;
    for (int j = s->body->link; j > 0; j = m->constants[j].parent) {
        const mor_link_constant* k = &m->constants[j];
        const mor_link_state* l = &r->work->states[j];
        field f = { .number = k->dof };
        f.point = k->prismatic ? l->axis : mor_cross(l->axis, mor_sub(c, l->p));
        if (!k->prismatic) f.turn = l->axis;
        f.velocity = carried_change(f.point, f.turn, V, at_point(r, links, k->parent, c));
        f.spin = mor_cross(f.turn, mor_sub(V.w, links[k->parent].w));
        s->fields[s->count++] = f;
    }
    for (int k = 0; m->floating && k < 6; k++) {
        field f = { .number = k, .point = unit(k % 3) };
        if (k >= 3) f.turn = unit(k - 3), f.point = mor_cross(f.turn, mor_sub(c, r->work->states[0].p));
        f.velocity = k < 3 ? mor_cross(f.point, V.w) : carried_change(f.point, f.turn, V, base);
        f.spin = mor_cross(f.turn, mor_sub(V.w, base.w));
        s->fields[s->count++] = f;
    }
}

/* ------------------------------------------------------------------------------------------ contacts */

typedef struct contact_pass {
    const mor_derivation* d;
    const mor_slopes* s;
    mor_columns* c;          /* columns are filled, */
    const mor_weights* pull; /* or weights are pulled back; both NULL: nothing but the loads of the trees is wanted */
    mor_twist** links;       /* by robot: velocities at nu+ */
    side sides[2];
    mor_vec3 F;
    mor_vec3 hold[2]; /* from the middle to where the contact stuck, on each body */
    bool held;
} contact_pass;

static void make_side(const contact_pass* x, const mor_contact* c, mor_vec3 at, side* s, int number)
{
    const mor_world* w = x->d->base->w;
    const mor_body* b = s->body = &w->bodies[w->order[c->body[number]]];
    s->tree = b->tree;
    s->count = 0;
    s->v = mor_add(b->v, mor_cross(b->w, mor_sub(at, b->x))), s->w = b->w;
    if (b->tree < 0 || (!x->c && !x->pull)) return;
    const mor_tree* tree = &w->trees[b->tree];
    if (tree->robot) robot_side(tree->robot, x->links[b->robot - 1], at, s);
    else body_side(x->d, tree, at, s);
    s->point = s->turn = mor_v3(0, 0, 0);
    const double* y = x->pull ? x->pull->impulse + tree->offset : NULL;
    for (int k = 0; k < s->count && y; k++) {
        s->point = mor_madd(s->point, y[s->fields[k].number], s->fields[k].point);
        s->turn = mor_madd(s->turn, y[s->fields[k].number], s->fields[k].turn);
    }
}

/* A force and a couple on a side's tree that a direction adds, in its column or weighed. */
static void add_impulse(const contact_pass* x, const side* s, int column, mor_vec3 force, mor_vec3 couple)
{
    if (x->pull) {
        x->pull->state[column] += mor_dot(s->point, force) + mor_dot(s->turn, couple);
        return;
    }
    double* V = x->c->V + (size_t)column * x->d->dof + x->d->base->w->trees[s->tree].offset;
    for (int k = 0; k < s->count; k++)
        V[s->fields[k].number] += mor_dot(s->fields[k].point, force) + mor_dot(s->fields[k].turn, couple);
}

/* A wrench at a point acts on a side's tree, as it is. */
static void add_load(const contact_pass* x, mor_vec3 at, mor_vec3 F, mor_vec3 N, const side* s)
{
    if (s->tree < 0 || x->pull) return;
    const mor_world* w = x->d->base->w;
    mor_tree_slopes* to = &x->s->trees[s->tree];
    const mor_robot* r = w->trees[s->tree].robot;
    if (!r) {
        to->F = mor_add(to->F, F);
        to->N = mor_add(to->N, mor_add(N, mor_cross(mor_sub(at, s->body->x), F)));
        return;
    }
    mor_vec3 n = mor_add(N, mor_cross(mor_sub(at, r->work->states[s->body->link].p), F));
    double *to_link = to->wrenches + 6 * s->body->link, f = 1.0 / w->h;
    to_link[0] += f * F.x, to_link[1] += f * F.y, to_link[2] += f * F.z;
    to_link[3] += f * n.x, to_link[4] += f * n.y, to_link[5] += f * n.z;
}

/* How far apart the two points are where a contact stuck, along a direction: of its numbers on both sides. */
static mor_vec3 hold_change(const contact_pass* x, const field* f0, const field* f1)
{
    mor_vec3 to = mor_add(f1->point, mor_cross(f1->turn, x->hold[1]));
    return mor_sub(to, mor_add(f0->point, mor_cross(f0->turn, x->hold[0])));
}

static mor_vec3 by_six(const mor_vec3* by, mor_vec3 point, mor_vec3 turn)
{
    mor_vec3 sum = mor_scale(point.x, by[0]);
    sum = mor_madd(mor_madd(sum, point.y, by[1]), point.z, by[2]);
    return mor_madd(mor_madd(mor_madd(sum, turn.x, by[3]), turn.y, by[4]), turn.z, by[5]);
}

/* One direction: the fields of it on both sides (zero where the side is not moved). */
static void add_direction(contact_pass* x, const mor_kept* kept, const mor_contact* c, const mor_touch* t, int column,
                          const field* f0, const field* f1)
{
    const mor_derivation* d = x->d;
    mor_vec3 point = mor_sub(f1->point, f0->point), turn = mor_sub(f1->turn, f0->turn);
    mor_vec3 dn = mor_add(mor_cross(f0->turn, c->normal), by_six(t->normal_by, point, turn));
    mor_vec3 dc = mor_add(f0->point, by_six(t->middle_by, point, turn));
    double a = mor_dot(t->direction[1], dn), b = mor_dot(t->direction[2], dn), gap = 0.0;
    const double six[6] = { point.x, point.y, point.z, turn.x, turn.y, turn.z };
    for (int k = 0; k < 6; k++) gap += t->gap_by[k] * six[k];
    mor_vec3 dd[3] = { dn };
    for (int i = 0; i < 2; i++) dd[1 + i] = mor_madd(mor_scale(a, t->tangent_by[i][0]), b, t->tangent_by[i][1]);
    const side *s0 = &x->sides[0], *s1 = &x->sides[1];
    mor_vec3 slip = mor_sub(s1->v, s0->v), dF = mor_v3(0, 0, 0);
    mor_vec3 dv = mor_add(mor_sub(f1->velocity, f0->velocity), mor_cross(mor_sub(s1->w, s0->w), dc));
    const double* p = d->p + kept->row;
    for (int r = 0; r < kept->dim; r++) {
        mor_vec3 v = r ? mor_add(slip, c->surface_velocity) : slip;
        double u = mor_dot(dd[r], v) + mor_dot(t->direction[r], dv);
        if (r == 0 && !kept->clipped) u += gap / d->base->w->h;
        if (r && x->held)
            u += (mor_dot(dd[r], mor_sub(x->hold[1], x->hold[0])) + mor_dot(t->direction[r], hold_change(x, f0, f1))) /
                 d->base->w->h;
        if (x->pull) x->pull->state[column] += x->pull->u[kept->row + r] * u;
        else x->c->u[(size_t)column * d->rows + kept->row + r] += u;
        dF = mor_madd(dF, p[r], dd[r]);
    }
    for (int i = 0; i < 2; i++) {
        const side* s = &x->sides[i];
        if (s->tree < 0) continue;
        const field* own = i ? f1 : f0;
        double sign = i ? 1.0 : -1.0;
        add_impulse(x, s, column, mor_scale(sign, mor_sub(dF, mor_cross(own->turn, x->F))),
                    mor_scale(sign, mor_cross(mor_sub(dc, own->point), x->F)));
    }
}

static void add_contact(contact_pass* x, const mor_kept* kept)
{
    const mor_contact* c = (const mor_contact*)x->d->base->contacts.data + kept->contact;
    const mor_touch* t = &x->s->touches[kept->contact];
    side *s0 = &x->sides[0], *s1 = &x->sides[1];
    const mor_vec3 no = mor_v3(0, 0, 0);
    make_side(x, c, t->middle, s0, 0);
    make_side(x, c, t->middle, s1, 1);
    x->held = x->d->anchored && x->d->anchored[kept->contact];
    for (int i = 0; i < 2 && x->held; i++) {
        const mor_body* b = x->sides[i].body;
        x->hold[i] = mor_sub(mor_add(b->x, mor_rotate(b->q, c->anchor[i])), t->middle);
    }
    x->F = no;
    for (int r = 0; r < kept->dim; r++) x->F = mor_madd(x->F, x->d->p[kept->row + r], t->direction[r]);
    add_load(x, t->middle, mor_scale(-1.0, x->F), no, s0);
    add_load(x, t->middle, x->F, no, s1);
    for (int i = 0; i < 2; i++)
        if (x->sides[i].tree >= 0) x->s->trees[x->sides[i].tree].mixed = true;
    const field none = { 0 };
    for (int k = 0; k < s0->count; k++) {
        const field* other = &none; /* of the same number, when both are links of one robot */
        for (int j = 0; s1->tree == s0->tree && j < s1->count; j++)
            if (s1->fields[j].number == s0->fields[k].number) other = &s1->fields[j];
        int column = x->s->trees[s0->tree].first + s0->fields[k].number;
        add_direction(x, kept, c, t, column, &s0->fields[k], other);
    }
    for (int k = 0; k < s1->count; k++) {
        bool seen = false;
        for (int j = 0; s1->tree == s0->tree && j < s0->count; j++)
            seen = seen || s0->fields[j].number == s1->fields[k].number;
        if (!seen)
            add_direction(x, kept, c, t, x->s->trees[s1->tree].first + s1->fields[k].number, &none, &s1->fields[k]);
    }
}

/* -------------------------------------------------------------------------------------------- patches */

/* The room for a column of the patch, of zeros if it is new. */
static double* patch_column(mor_patch* b, int column)
{
    for (int i = 0; i < b->count; i++)
        if (b->columns[i] == column) return b->du + 6 * i;
    b->columns[b->count] = column;
    double* du = b->du + 6 * b->count++;
    for (int i = 0; i < 6; i++) du[i] = 0.0;
    return du;
}

/* What number f of a side does to u = T t, over h where it is a gap. */
static void patch_change(const mor_patch* b, const field* f, double sign, double over_h, double* du)
{
    mor_vec3 n = b->normal, turn = mor_madd(f->turn, -mor_dot(n, f->turn), n);
    mor_vec3 linear = mor_madd(f->velocity, over_h * mor_dot(n, f->point), n);
    mor_vec3 angular = mor_scale(b->length, mor_madd(f->spin, over_h, turn));
    du[0] += sign * linear.x, du[1] += sign * linear.y, du[2] += sign * linear.z;
    du[3] += sign * angular.x, du[4] += sign * angular.y, du[5] += sign * angular.z;
}

/* One side, with its wrench F, N at the middle of the patch. */
static void add_patch_side(contact_pass* x, mor_patch* b, int number, mor_vec3 F, mor_vec3 N)
{
    const mor_derivation* d = x->d;
    const side* s = &x->sides[number];
    double over_h = d->kept[b->first].clipped ? 0.0 : 1.0 / d->base->w->h;
    add_load(x, b->at, F, N, s);
    for (int k = 0; k < s->count; k++) {
        const field* f = &s->fields[k];
        int column = x->s->trees[s->tree].first + f->number;
        add_impulse(x, s, column, mor_cross(F, f->turn), mor_add(mor_cross(F, f->point), mor_cross(N, f->turn)));
        double du[6] = { 0 };
        patch_change(b, f, number ? 1.0 : -1.0, over_h, x->pull ? du : patch_column(b, column));
        const double* weight = x->pull ? x->pull->patch + 6 * (b - d->patches) : NULL;
        for (int i = 0; i < 6 && weight; i++) x->pull->state[column] += weight[i] * du[i];
    }
}

static mor_code add_patch(contact_pass* x, mor_patch* b)
{
    const mor_derivation* d = x->d;
    const mor_contact *contacts = d->base->contacts.data, *c = &contacts[d->kept[b->first].contact];
    mor_vec3 F = mor_v3(0, 0, 0), N = F;
    for (int i = 0; i < 2; i++) make_side(x, c, b->at, &x->sides[i], i);
    size_t most = (size_t)(x->sides[0].count + x->sides[1].count) + 1;
    b->count = 0;
    b->columns = mor_arena_alloc(d->arena, most * sizeof *b->columns);
    b->du = mor_arena_alloc(d->arena, 6 * most * sizeof *b->du);
    if (!b->columns || !b->du) return MOR_SYSTEM;
    int m = 3 * (b->last - b->first);
    const double* p = d->p + d->kept[b->first].row;
    for (int r = 0; r < m; r++) {
        F = mor_add(F, mor_scale(p[r], mor_v3(b->T[r], b->T[r + m], b->T[r + 2 * m])));
        N = mor_add(N, mor_scale(p[r] * b->length, mor_v3(b->T[r + 3 * m], b->T[r + 4 * m], b->T[r + 5 * m])));
    }
    add_patch_side(x, b, 0, mor_scale(-1.0, F), mor_scale(-1.0, N));
    add_patch_side(x, b, 1, F, N);
    return MOR_OK;
}

mor_code mor_contact_slopes(mor_derivation* d, mor_slopes* s, mor_columns* c, const mor_weights* pull)
{
    const mor_world* w = d->base->w;
    contact_pass x = { .d = d, .s = s, .c = c, .pull = pull };
    int widest = 1;
    for (int i = 0; i < w->tree_count; i++) widest = w->trees[i].dof > widest ? w->trees[i].dof : widest;
    x.links = mor_arena_zero(d->arena, (size_t)w->robot_count + 1, sizeof *x.links);
    for (int i = 0; i < 2; i++) x.sides[i].fields = mor_arena_alloc(d->arena, (size_t)widest * sizeof(field));
    if (!x.links || !x.sides[0].fields || !x.sides[1].fields) return MOR_SYSTEM;
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        x.links[i] = mor_arena_alloc(d->arena, (size_t)r->model->link_count * sizeof(mor_twist));
        if (!x.links[i]) return MOR_SYSTEM;
        link_velocities(r, d->nu + w->trees[r->tree].offset, x.links[i]);
    }
    for (int k = 0; k < d->kept_count; k++)
        if (!mor_patch_is_still(d, k)) add_contact(&x, &d->kept[k]);
    mor_code code = MOR_OK;
    for (int i = 0; i < d->patch_count && !code; i++)
        if (d->patches[i].still) code = add_patch(&x, &d->patches[i]);
    return code;
}
