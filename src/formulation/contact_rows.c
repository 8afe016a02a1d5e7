/* The rows of one island: contacts, then blocks of joints.
 *
 * Contact rows for bodies 0 and 1, normal n from 0 to 1, tangents t, o and the common point
 * c = (p_0 + p_1)/2:
 *
 *     row d:  -[d; r_0 x d] on body 0,  +[d; r_1 x d] on body 1,   r_i = c - x_i
 *
 * The normal row may use c for both bodies because p_1 - p_0 is parallel to n; the friction rows must,
 * or a separated contact makes a couple and loses angular momentum. What fixed and kinematic bodies
 * contribute to d . (v_1 - v_0), and belts, goes into `drift`. Two links of one robot give one entry.
 *
 * Rolling and drilling friction add rows l d . (w_1 - w_0) for d = t, o (rolling) and n (drilling), l being the size of
 * the smaller shape: all rows and errors are in m/s, impulses in N s, and the coefficients mu_roll/l, mu_drill/l have
 * no unit. In the plane the rows of o (tangent) and t (rolling) are zero. */
#include "base/elementary.h"
#include "formulation/contact_rows.h"

#include "formulation/assemble.h"
#include "formulation/free_sides.h"
#include "linalg/rows.h"

#include <string.h>

/* With `gap_correction: projection`: of the size of the smaller body, what the rows of one step take back of an
 * overlap. It undoes rounding at rest; lifting a body by it in a step costs 1e-7 of its weight times its size. */
#define RECOVERED 1e-7

#define ALL (~0u) /* entries of a block, and its diagonal */

static const mor_body* body_of(const mor_world* w, const mor_contact* c, int side)
{
    return &w->bodies[w->order[c->body[side]]];
}

void mor_contact_tangents(const mor_world* w, const mor_contact* c, mor_vec3* t, mor_vec3* o)
{
    if (w->dimension == 2) {
        *t = mor_v3(-c->normal.y, c->normal.x, 0.0);
        *o = mor_v3(0.0, 0.0, 1.0);
        return;
    }
    mor_vec3 along = mor_v3(1, 0, 0);
    if (w->options.friction_align == 1) {
        mor_vec3 slip = mor_sub(mor_body_point_velocity(body_of(w, c, 1), c->point[1]),
                                mor_body_point_velocity(body_of(w, c, 0), c->point[0]));
        slip = mor_add(slip, c->surface_velocity);
        slip = mor_madd(slip, -mor_dot(slip, c->normal), c->normal);
        if (mor_norm(slip) > 1e-9) along = slip; /* slower slip has no direction worth following */
    }
    mor_tangents(c->normal, along, t, o);
}

/* Y = C X, C 3 x 6, X 6 x n */
MOR_ALWAYS_INLINE void combine_six_body(int n, const double* X, const double* C, double* Y)
{
    mor_four f[18];
    for (int j = 0; j < 18; j++) f[j] = (mor_four){ C[j], C[j], C[j], C[j] };
    int i = 0;
    for (; i + 4 <= n; i += 4, X += 4) {
        const mor_four a = MOR_FOUR_AT(X), b = MOR_FOUR_AT(X + n), c = MOR_FOUR_AT(X + 2 * n);
        const mor_four x = MOR_FOUR_AT(X + 3 * n), y = MOR_FOUR_AT(X + 4 * n), z = MOR_FOUR_AT(X + 5 * n);
        MOR_FOUR_TO(Y + i) = a * f[0] + b * f[1] + c * f[2] + (x * f[3] + y * f[4] + z * f[5]);
        MOR_FOUR_TO(Y + n + i) = a * f[6] + b * f[7] + c * f[8] + (x * f[9] + y * f[10] + z * f[11]);
        MOR_FOUR_TO(Y + 2 * n + i) = a * f[12] + b * f[13] + c * f[14] + (x * f[15] + y * f[16] + z * f[17]);
    }
    for (; i < n; i++, X++)
        for (int d = 0; d < 3; d++) {
            const double* c = C + 6 * d;
            Y[d * n + i] =
                X[0] * c[0] + X[n] * c[1] + X[2 * n] * c[2] + (X[3 * n] * c[3] + X[4 * n] * c[4] + X[5 * n] * c[5]);
        }
}

MOR_WIDE_VOID(static, combine_six, (int n, const double* X, const double* C, double* Y), (n, X, C, Y))

/* Responses of the rows of a contact on one side by those of the body's six velocities: several contacts share them.
 * False: not this way. */
static bool respond_by_six(mor_row_builder* k, int tree, const mor_body* b, mor_vec3 r, const mor_vec3* direction,
                           double sign, int dim, double* Y)
{
    const mor_tree* t = &k->step->w->trees[tree];
    if (dim != 3 || !t->kind->respond6 || !k->six) return false;
    int n = t->dof;
    if (k->of != b) { /* and turned round: six rows of n */
        double* x = k->six + 6 * n;
        k->of = NULL;
        if (!t->kind->respond6(t, b, x)) return false;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 6; c++) k->six[c * n + i] = x[8 * i + c];
        k->of = b;
    }
    double C[18];
    for (int d = 0; d < 3; d++) {
        mor_vec3 v = mor_scale(sign, direction[d]), m = mor_cross(r, v);
        double* c = C + 6 * d;
        c[0] = v.x, c[1] = v.y, c[2] = v.z, c[3] = m.x, c[4] = m.y, c[5] = m.z;
    }
    combine_six(n, k->six, C, Y);
    return true;
}

/* Responses of a block whose Jacobian is written; closes it. `done`: entries that have theirs. */
static void finish_block(mor_row_builder* k, const mor_block* block, unsigned done)
{
    for (int e = block->entry; done != ALL && e < block->entry + block->entry_count; e++) {
        int tree = k->world_tree[k->entries[e].tree];
        const double* J = k->jacobian + k->entries[e].start;
        double* Y = k->response + k->entries[e].start;
        if (!(done & 1u << (e - block->entry))) mor_tree_responses(k->step, tree, block->dim, J, Y);
    }
    k->no_diagonals = k->no_diagonals || done != ALL;
    k->diagonal_start[k->block_count] = k->diagonal_count;
    k->diagonal_count += block->dim * block->dim;
    k->row_count += block->dim;
    k->block_count++;
}

/* W_cc of the blocks from `first` on and the approach of the contacts; apart from the rows, which the processor has not
 * yet stored when they are just written. */
MOR_ALWAYS_INLINE void fill_diagonals_body(const mor_row_builder* k, const mor_system* s, int first)
{
    for (int b = first; b < k->block_count; b++) {
        const mor_block* block = &k->blocks[b];
        int dim = block->dim;
        if (k->free_bodies && b < k->contact_count && dim <= 3) continue; /* has them */
        double* W = k->diagonal + k->diagonal_start[b];
        memset(W, 0, (size_t)(dim * dim) * sizeof *W);
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* t = &s->trees[k->entries[e].tree];
            const double *J = k->jacobian + k->entries[e].start, *Y = k->response + k->entries[e].start;
            if (b < k->contact_count) k->rows[b].approach += mor_inner(t->dof, J, s->nu + t->offset);
            mor_gram(dim, dim, t->dof, Y, J, W);
        }
    }
}

MOR_WIDE_VOID(static, fill_diagonals, (const mor_row_builder* k, const mor_system* s, int first), (k, s, first))

void mor_fill_diagonals(const mor_row_builder* k, const mor_system* s, int first)
{
    if (k->no_diagonals) fill_diagonals(k, s, first);
}

/* The part of a contact's arm that keeps its direction while the body turns: the radius of round shapes. */
static mor_vec3 round_arm(const mor_body* b, const mor_contact* c, int side)
{
    if (c->shape[side] < 0 || c->shape[side] >= b->shape_count) return mor_v3(0, 0, 0);
    const mor_geometry* g = b->shapes[c->shape[side]].geometry;
    bool is_round = g->kind == MOR_SPHERE || g->kind == MOR_CAPSULE || g->kind == MOR_DISC;
    return is_round ? mor_scale(side ? -g->size[0] : g->size[0], c->normal) : mor_v3(0, 0, 0);
}

double mor_contact_epsilon(const mor_world* w, const mor_contact* c)
{
    const mor_collision_options* o = w->collision_options;
    const mor_body *a = body_of(w, c, 0), *b = body_of(w, c, 1);
    bool known = c->shape[0] >= 0 && c->shape[0] < a->shape_count && c->shape[1] >= 0 && c->shape[1] < b->shape_count;
    if (o->epsilon >= 0.0 || !known) return o->epsilon >= 0.0 ? o->epsilon : INFINITY;
    return mor_pair_epsilon(o, a->shapes[c->shape[0]].geometry, b->shapes[c->shape[1]].geometry);
}

/* Do the points lie on one normal? Two bodies that meet within the step come with the arms of that moment
 * (collision/sweep.c), and each uses its own. Lengths below 1e-9 m are rounding. */
static bool on_one_normal(const mor_contact* c)
{
    mor_vec3 d = mor_sub(c->point[1], c->point[0]);
    d = mor_madd(d, -mor_dot(d, c->normal), c->normal);
    return mor_dot(d, d) <= 1e-18 + 1e-12 * c->gap * c->gap;
}

/* d/dt(G)' nu of the rows of a contact, kinematic bodies included, and the part of it that turns with the points of a
 * body about its reference point: no acceleration of the body can undo that at several points. */
static void contact_acceleration(const mor_world* w, const mor_contact* c, mor_vec3 middle, const mor_vec3 direction[3],
                                 int dim, double* out, double* centripetal)
{
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body_of(w, c, side);
        mor_vec3 r = mor_sub(middle, b->x), arm = round_arm(b, c, side);
        mor_vec3 a = b->tree >= 0 ? w->trees[b->tree].kind->acceleration(&w->trees[b->tree], b, r, arm)
                                  : mor_cross(b->w, mor_cross(b->w, mor_sub(r, arm)));
        mor_vec3 from = b->robot ? mor_body_pose(b).position : b->x;
        mor_vec3 turning = mor_cross(b->w, mor_cross(b->w, mor_sub(mor_sub(middle, arm), from)));
        for (int d = 0; d < dim; d++) {
            out[d] += (side ? 1.0 : -1.0) * mor_dot(direction[d], a);
            centripetal[d] += (side ? 1.0 : -1.0) * mor_dot(direction[d], turning);
        }
    }
}

double mor_contact_size(const mor_world* w, const mor_contact* c)
{
    double size = INFINITY;
    for (int side = 0; side < 2; side++) {
        const mor_body* b = &w->bodies[w->order[c->body[side]]];
        if (c->shape[side] < 0 || c->shape[side] >= b->shape_count) continue;
        double radius = b->shapes[c->shape[side]].geometry->radius;
        if (radius > 0.0) size = mor_min(size, radius);
    }
    return isfinite(size) ? size : 1.0;
}

static bool same_shapes(const mor_contact* a, const mor_contact* b)
{
    return memcmp(a->body, b->body, sizeof a->body) == 0 && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

double mor_contact_depth(const mor_contact* c, int count, int i, mor_choice_depth* last)
{
    if (c[i].group == 0) return -c[i].gap;
    if (last->contact >= 0 && c[last->contact].group == c[i].group && same_shapes(&c[last->contact], &c[i]))
        return last->depth;
    int begin = i, end = i + 1;
    while (begin > 0 && same_shapes(&c[begin - 1], &c[i])) begin--;
    while (end < count && same_shapes(&c[end], &c[i])) end++;
    double best = -INFINITY;
    for (int j = begin; j < end; j++) {
        if (c[j].group != c[i].group || c[j].gap <= best) continue;
        double least = c[j].gap; /* of its plane; a plane that is no better than the best is left at once */
        for (int k = begin; k < end && least > best; k++)
            if (c[k].group == c[i].group && c[k].plane == c[j].plane) least = mor_min(least, c[k].gap);
        best = mor_max(best, least);
    }
    *last = (mor_choice_depth){ i, -best };
    return -best;
}

double mor_recovery(const mor_world* w, double size)
{
    if (w->options.gap_correction == MOR_GAP_VELOCITY) return INFINITY;
    if (w->options.gap_correction == MOR_GAP_BOUNDED) return w->options.recovery_speed;
    return RECOVERED * size / w->h;
}

static double recovery_of(const mor_world* w, const mor_contact* c, double size)
{
    bool jammed = w->options.gap_correction == MOR_GAP_PROJECTION && -c->gap > MOR_PROJECTED * size;
    return jammed ? 0.0 : mor_recovery(w, size);
}

double mor_contact_recovery(const mor_world* w, const mor_contact* c)
{
    return recovery_of(w, c, mor_contact_size(w, c));
}

/* A contact that has stuck since an earlier step gets the velocity that takes the two points where it stuck together
 * again: what the step made of G' nu = 0 beyond first order, along the normal as the gap does. */
static void hold_anchor(const mor_world* w, mor_contact* c, const mor_contact* old, const mor_vec3* direction, int dim,
                        mor_contact_row* row)
{
    const double most = 1e-3; /* m: farther apart it is another place */
    c->anchored = old && old->anchored && dim > 1;
    if (!c->anchored) return;
    mor_vec3 apart = mor_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body_of(w, c, side);
        c->anchor[side] = old->anchor[side];
        apart = mor_madd(apart, side ? 1.0 : -1.0, mor_add(b->x, mor_rotate(b->q, c->anchor[side])));
    }
    if (!(mor_norm(apart) <= most)) c->anchored = false;
    for (int d = 1; c->anchored && d < dim && d < 3; d++) row->drift[d] += mor_dot(direction[d], apart) / w->h;
}

/* Coefficients of a contact on the trees of its two bodies, drifts of the others; the entries that have responses. */
static unsigned contact_sides(mor_row_builder* k, const mor_contact* c, const mor_body* const body[2], mor_vec3 middle,
                              const mor_vec3* direction, mor_block* block, mor_contact_row* row)
{
    const mor_world* w = k->step->w;
    /* bodies that bounce do so when they meet, and each has its own arm then (collision/sweep.c) */
    const bool meet = c->restitution > 0.0 && c->gap > 0.0 && w->formulation->impacts;
    const bool common = !meet && on_one_normal(c);
    int dim = block->dim;
    int tree[2] = { -1, -1 }, free_count = 0;
    mor_free_side free_side[2];
    unsigned done = 0;
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body[side];
        double sign = side ? 1.0 : -1.0;
        mor_vec3 r = mor_sub(common ? middle : c->point[side], b->x);
        if (b->tree < 0) {
            mor_vec3 v = mor_add(b->v, mor_cross(b->w, r));
            for (int d = 0; d < dim; d++)
                row->drift[d] +=
                    sign * (d < 3 ? mor_dot(direction[d], v) : row->turning * mor_dot(direction[(d - 2) % 3], b->w));
            row->approach += sign * mor_dot(c->normal, v);
            continue;
        }
        tree[side] = b->tree;
        const mor_tree* t = &w->trees[b->tree];
        if (k->free_bodies && dim <= 3) {
            const double* inverse = k->step->mass_inverse + k->step->mass_start[b->tree];
            free_side[free_count++] =
                (mor_free_side){ inverse, k->step->nu + t->offset,     r,
                                 sign,    k->jacobian + k->coef_count, k->response + k->coef_count };
            k->entries[k->entry_count++] = (mor_entry){ k->local[b->tree], k->coef_count };
            block->entry_count++;
            k->coef_count += dim * 6;
            continue;
        }
        bool same = side && tree[0] == tree[1]; /* two links of one robot: one entry */
        double* J = k->jacobian + k->coef_count;
        if (dim == 3 && t->kind->rows3) t->kind->rows3(t, b, r, direction, sign, J);
        else
            for (int d = 0; d < dim && d < 3; d++) t->kind->row(t, b, r, direction[d], sign, J + d * t->dof);
        for (int d = 3; d < dim; d++) t->kind->spin(t, b, direction[(d - 2) % 3], sign * row->turning, J + d * t->dof);
        if (same) {
            double* first = J - dim * t->dof;
            for (int m = 0; m < dim * t->dof; m++) first[m] += J[m];
        } else {
            k->entries[k->entry_count++] = (mor_entry){ k->local[b->tree], k->coef_count };
            if (respond_by_six(k, b->tree, b, r, direction, sign, dim, k->response + k->coef_count))
                done |= 1u << block->entry_count;
            block->entry_count++;
            k->coef_count += dim * t->dof;
        }
        if (same) done = 0;
    }
    if (free_count == 0) return done;
    row->approach =
        mor_free_sides(direction, free_side, free_count, dim, row->approach, k->diagonal + k->diagonal_count);
    return ALL;
}

/* Where the contact is, for formulations that look at the shapes. */
static void contact_geometry(const mor_row_builder* k, const mor_contact* c, const mor_vec3* direction,
                             mor_contact_geometry* out)
{
    *out = (mor_contact_geometry){ .point = { c->point[0], c->point[1] },
                                   .normal = direction[0],
                                   .t = direction[1],
                                   .o = direction[2],
                                   .feature = c->feature };
    for (int i = 0; i < 2; i++) {
        const mor_body* b = body_of(k->step->w, c, i);
        mor_contact_side* side = &out->side[i];
        bool shaped = c->shape[i] >= 0 && c->shape[i] < b->shape_count;
        side->shape = shaped ? b->shapes[c->shape[i]].geometry : NULL;
        side->shape_pose = shaped ? b->shapes[c->shape[i]].pose : mor_pose_identity();
        side->com = b->mass.com;
        side->x = b->x, side->q = b->q;
        side->v = b->v, side->w = b->w;
        side->fixed = b->kind == MOR_FIXED;
        side->link = b->robot != 0;
        side->tree = b->tree >= 0 ? k->local[b->tree] : -1;
    }
}

/* x rounded to a grid of 2^-46 of `scale`: an impulse goes from rows to the world and back without a change, so that
 * what repeats does so bit by bit (step/rest.c). Bodies in motion keep all bits: in an unstable equilibrium errors
 * grow. */
static double on_grid(double x, double scale)
{
    uint64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    bits &= 0x7ff0000000000000u; /* the power of two */
    double power;
    memcpy(&power, &bits, sizeof power);
    double far = 96.0 * power; /* its last bit is the grid */
    return (x + far) - far;
}

int mor_contact_dim(const mor_world* w, const mor_contact* c)
{
    if (w->formulation->turning >= 2 && c->drilling > 0.0 && w->dimension == 3) return 6;
    if (w->formulation->turning >= 1 && c->rolling > 0.0) return 5;
    return c->friction > 0.0 ? w->dimension : 1;
}

/* What the contact has of its shapes and its normal, mostly those of the contact before. */
static const mor_pair_rows* pair_rows(mor_row_builder* k, const mor_contact* c)
{
    const mor_world* w = k->step->w;
    mor_pair_rows* p = &k->pair;
    const mor_contact* before = p->of;
    p->of = c;
    if (before && same_shapes(before, c) && memcmp(&before->normal, &c->normal, sizeof c->normal) == 0) {
        if (w->options.friction_align == 1) mor_contact_tangents(w, c, &p->t, &p->o); /* by slip */
        return p;
    }
    mor_contact_tangents(w, c, &p->t, &p->o);
    p->size = mor_contact_size(w, c);
    p->epsilon = mor_contact_epsilon(w, c);
    return p;
}

/* Adds the contact as the next block of the island under construction. */
void mor_add_contact_rows(mor_row_builder* k, int index, const mor_contact* old)
{
    const mor_world* w = k->step->w;
    mor_contact* c = &((mor_contact*)k->step->contacts.data)[index];
    int dim = mor_contact_dim(w, c);
    const mor_pair_rows* pair = pair_rows(k, c);
    const mor_vec3 direction[3] = { c->normal, pair->t, pair->o };
    mor_vec3 middle = mor_lerp(c->point[0], c->point[1], 0.5);

    mor_block* block = &k->blocks[k->block_count];
    *block = (mor_block){
        .kind = MOR_BLOCK_CONTACT, .dim = dim, .row = k->row_count, .entry = k->entry_count, .mu = c->friction
    };
    mor_contact_row* row = &k->rows[k->contact_count];
    *row = (mor_contact_row){ .contact = index,
                              .block = k->block_count,
                              .gap = c->gap,
                              .friction = c->friction,
                              .restitution = c->restitution,
                              .impact = c->impact,
                              .tangential = c->tangential,
                              /* gaps of separating planes are negative where another plane separates */
                              .recovery = w->collision->planes || k->step->relinearised ? INFINITY
                                                                                        : recovery_of(w, c, pair->size),
                              .epsilon = pair->epsilon,
                              .group = c->group,
                              .plane = c->plane,
                              .held = c->held,
                              .old_gap = old ? old->gap : INFINITY };
    if (w->formulation->accelerations)
        contact_acceleration(w, c, middle, direction, dim, row->acceleration, row->centripetal);
    if (dim > 3) {
        row->turning = pair->size;
        block->mu_roll = c->rolling / row->turning, block->mu_drill = c->drilling / row->turning;
    }
    const mor_body* const body[2] = { body_of(w, c, 0), body_of(w, c, 1) };
    unsigned done = contact_sides(k, c, body, middle, direction, block, row);
    finish_block(k, block, done);
    for (int d = 1; d < dim && d < 3; d++) row->drift[d] += mor_dot(direction[d], c->surface_velocity);
    if (w->options.sticking) hold_anchor(w, c, old, direction, dim, row);
    if (old) {
        row->guess[0] = old->normal_impulse;
        const double grid = mor_body_is_still(body[0]) && mor_body_is_still(body[1]) ? old->normal_impulse : 0.0;
        for (int d = 1; d < dim && d < 3; d++) row->guess[d] = on_grid(mor_dot(old->impulse, direction[d]), grid);
        for (int d = 3; d < dim; d++) row->guess[d] = mor_dot(old->moment, direction[(d - 2) % 3]) / row->turning;
    }
    if (k->geometry) contact_geometry(k, c, direction, &k->geometry[k->contact_count]);
    k->contact_count++;
}

/* Adds a block of joint rows. */
void mor_add_joint_rows(mor_row_builder* k, const mor_row_block* from)
{
    mor_block* block = &k->blocks[k->block_count];
    *block = (mor_block){ .kind = from->kind,
                          .dim = from->dim,
                          .row = k->row_count,
                          .entry = k->entry_count,
                          .lower = from->lower,
                          .upper = from->upper };
    for (int i = 0; i < 3 && from->tree[i] >= 0; i++) {
        int dof = k->step->w->trees[from->tree[i]].dof;
        memcpy(k->jacobian + k->coef_count, from->J[i], (size_t)(from->dim * dof) * sizeof(double));
        k->entries[k->entry_count++] = (mor_entry){ k->local[from->tree[i]], k->coef_count };
        block->entry_count++;
        k->coef_count += from->dim * dof;
    }
    memcpy(k->bias + k->row_count, from->bias, (size_t)from->dim * sizeof(double));
    finish_block(k, block, 0);
}
