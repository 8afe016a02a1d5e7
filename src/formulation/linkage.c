/* Velocities that joints between free bodies allow, straight from bodies and joints.
 *
 *     W p = -G' nu,   nu <- nu + M^-1 G p,   W = G' M^-1 G,   all at the present positions,
 *
 * the projection of nu in the norm of the kinetic energy. A general system has islands, lists of entries, free
 * velocities and mass blocks; here nothing of it is needed but, for every joint, its rows G (at most six on six
 * velocities of each body), M^-1 G and the blocks of W with the joints on the same bodies. Joints that are connected by
 * bodies form a linkage: each is corrected, or left alone, by its own error.
 *
 * W is factored with a shift as in equations.c, none for trees of bodies, and the rows are looked at after each solve:
 * the rounds end when they hold to ACCURACY of what they were off, or get no better (redundant rows that contradict
 * each other).
 *
 * Cost: O(fill of W), linear for trees; no memory but the arena's. */
#include "formulation/linkage.h"

#include "base/arena.h"
#include "base/elementary.h"
#include "base/union_find.h"
#include "linalg/block_cholesky.h"
#include "linalg/rows.h"
#include "model/joints.h"
#include "model/turned.h"

#include <string.h>

enum { ROUNDS = 30 };

#define SHIFT 1e-9     /* of the diagonal of W: far below what matters of it, far above its rounding */
#define ACCURACY 1e-8  /* of the largest row that is corrected */
#define ROW_NULL 1e-14 /* of the square of the longest row of a joint: nothing moves in such a row */

/* A joint with equations. */
typedef struct joint_rows {
    int dim, row, linkage;
    int body[2];              /* among the bodies here; -1: one that nothing moves, or none */
    mor_joint_look* look;     /* that of the joint, which keeps G' for the next step */
    const mor_joint_row* own; /* directions and points */
    double *J[2], *Y[2];      /* G' and M^-1 G of a body, dim x 6 */
    double drift[6];          /* m/s: what bodies do that nothing moves */
} joint_rows;

/* A free body with joints. */
typedef struct jointed {
    int tree;
    int first;             /* its first joint, joint << 1 | side; then next[] */
    double mass;           /* 1/m */
    mor_three_rows turned; /* I^-1 in the world */
} jointed;

typedef struct linkage {
    double before, enough; /* largest row before the last correction; that needs no more */
    double left;
    int bodies, inner, ground; /* how many; joints between two of them; joints to what nothing moves */
    bool done;
} linkage;

typedef struct work {
    mor_world* w;
    mor_arena* arena;
    joint_rows* joints;
    jointed* bodies;
    linkage* linkages;
    int *next, *dims;
    int joint_count, body_count, linkage_count, row_count;
    double *nu, *last, *u; /* velocities now, before the last correction; rows */
    mor_block_cholesky* factor;
} work;

/* -------------------------------------------------------------------------------- who is there */

/* The body of one side among those here, -1 for one that nothing moves, -2 for another kind. */
static int find_body(work* k, int* at, int body)
{
    if (body < 0 || k->w->bodies[body].tree < 0) return -1;
    int tree = k->w->bodies[body].tree;
    if (k->w->trees[tree].kind != &mor_tree_free) return -2;
    if (at[tree] < 0) {
        k->bodies[k->body_count].tree = tree;
        k->bodies[k->body_count].first = -1;
        at[tree] = k->body_count++;
    }
    return at[tree];
}

/* Joints with equations and their bodies. False: another kind, or no memory. */
static bool collect(work* k)
{
    mor_world* w = k->w;
    mor_joint* joints = w->joints.data;
    size_t n = (size_t)w->joints.count;
    int* at = mor_arena_take(k->arena, (size_t)w->tree_count * sizeof *at);
    k->joints = mor_arena_take(k->arena, n * sizeof *k->joints);
    k->bodies = mor_arena_take(k->arena, 2 * n * sizeof *k->bodies);
    k->next = mor_arena_take(k->arena, 2 * n * sizeof *k->next);
    k->dims = mor_arena_take(k->arena, n * sizeof *k->dims);
    if (!at || !k->joints || !k->bodies || !k->next || !k->dims) return false;
    for (int t = 0; t < w->tree_count; t++) at[t] = -1;
    for (int i = 0; i < w->joints.count; i++) {
        joint_rows* j = &k->joints[k->joint_count];
        j->dim = mor_joint_equations_kept(w, &joints[i], &j->own);
        if (j->dim == 0) continue;
        j->row = k->row_count;
        j->look = &joints[i].look;
        for (int side = 0; side < 2; side++) {
            j->body[side] = find_body(k, at, joints[i].body[side]);
            if (j->body[side] == -2) return false;
            const mor_body* b = joints[i].body[side] >= 0 ? &w->bodies[joints[i].body[side]] : NULL;
            for (int d = 0; d < j->dim; d++) {
                if (side == 0) j->drift[d] = 0.0;
                if (!b || j->body[side] >= 0) continue;
                mor_vec3 v = j->own[d].spin ? b->w : mor_body_point_velocity(b, j->own[d].point);
                j->drift[d] += (side ? -1.0 : 1.0) * mor_dot(j->own[d].direction, v);
            }
        }
        k->dims[k->joint_count++] = j->dim;
        k->row_count += j->dim;
    }
    return true;
}

/* Which joints are connected. */
static bool label(work* k)
{
    int* parent = mor_arena_take(k->arena, (size_t)k->body_count * sizeof *parent);
    int* number = mor_arena_take(k->arena, (size_t)k->body_count * sizeof *number);
    k->linkages = mor_arena_take(k->arena, (size_t)k->body_count * sizeof *k->linkages);
    if (!parent || !number || !k->linkages) return false;
    mor_sets_begin(parent, k->body_count);
    for (int i = 0; i < k->joint_count; i++) {
        const int* body = k->joints[i].body;
        if (body[0] >= 0 && body[1] >= 0) mor_sets_unite(parent, body[0], body[1]);
    }
    for (int b = 0; b < k->body_count; b++) {
        int root = mor_sets_root(parent, b);
        if (root == b) k->linkages[k->linkage_count] = (linkage){ .before = INFINITY };
        number[b] = root == b ? k->linkage_count++ : number[root];
        k->linkages[number[b]].bodies++;
    }
    for (int i = 0; i < k->joint_count; i++) {
        joint_rows* j = &k->joints[i];
        j->linkage = number[j->body[j->body[0] >= 0 ? 0 : 1]];
        linkage* l = &k->linkages[j->linkage];
        ++*(j->body[0] >= 0 && j->body[1] >= 0 ? &l->inner : &l->ground);
    }
    return true;
}

/* ------------------------------------------------------------------------------------ numbers */

MOR_ALWAYS_INLINE void look_at_body_body(work* k, int number)
{
    jointed* at = &k->bodies[number];
    const mor_body* b = &k->w->bodies[k->w->trees[at->tree].body];
    mor_mat3 R = mor_quat_matrix(b->q);
    at->mass = 1.0 / b->mass.mass;
    at->turned = mor_turned_rows(&R, &b->inertia_inverse);
    double* nu = k->nu + 6 * number;
    nu[0] = b->v.x, nu[1] = b->v.y, nu[2] = b->v.z, nu[3] = b->w.x, nu[4] = b->w.y, nu[5] = b->w.z;
}

MOR_WIDE_VOID(static, look_at_body, (work * k, int number), (k, number))

#define THREE(v) ((mor_four){ (v).x, (v).y, (v).z, 0.0 })

/* G' and M^-1 G of a joint on the body of one side, which is at x; adds the squares of the rows to size. */
MOR_ALWAYS_INLINE void write_side_body(const joint_rows* j, int side, const jointed* at, mor_vec3 x, double* size)
{
    const mor_four first = at->turned.x, second = at->turned.y, third = at->turned.z, here = THREE(x),
                   sign = MOR_ALL(side ? -1.0 : 1.0), none = MOR_ALL(0.0), mass = MOR_ALL(at->mass);
    double *J = j->J[side], *Y = j->Y[side];
    for (int d = 0; d < j->dim; d++, J += 6, Y += 6) {
        const mor_joint_row* row = &j->own[d];
        const mor_four e = sign * THREE(row->direction);
        mor_four c = none, m = e;
        if (!row->spin) {
            const mor_four r = THREE(row->point) - here;
            c = e;
            m = __builtin_shufflevector(r, r, 1, 2, 0, 3) * __builtin_shufflevector(e, e, 2, 0, 1, 3) -
                __builtin_shufflevector(r, r, 2, 0, 1, 3) * __builtin_shufflevector(e, e, 1, 2, 0, 3);
        }
        const mor_four push = mass * c, turn = first * MOR_ALL(m[0]) + second * MOR_ALL(m[1]) + third * MOR_ALL(m[2]);
        mor_put_three(&c, J);
        mor_put_three(&m, J + 3);
        mor_put_three(&push, Y);
        mor_put_three(&turn, Y + 3);
        const mor_four squares = c * c + m * m;
        size[d] += squares[0] + squares[1] + squares[2];
    }
}

MOR_WIDE_VOID(static, write_side, (const joint_rows* j, int side, const jointed* at, mor_vec3 x, double* size),
              (j, side, at, x, size))

/* False: a row in which nothing moves. */
static bool write_rows(work* k, joint_rows* j)
{
    double size[6] = { 0 }, longest = 0.0, least = INFINITY;
    for (int side = 0; side < 2; side++) {
        if (j->body[side] < 0) continue;
        const jointed* at = &k->bodies[j->body[side]];
        write_side(j, side, at, k->w->bodies[k->w->trees[at->tree].body].x, size);
    }
    for (int d = 0; d < j->dim; d++) longest = mor_max(longest, size[d]), least = mor_min(least, size[d]);
    j->look->filled = least > 2.0 * MOR_ROW_NULL * MOR_ROW_NULL * longest;
    return least > ROW_NULL * longest;
}

/* A tree of bodies, on the ground at most once: no joint depends on others. */
MOR_ALWAYS_INLINE bool is_open(const linkage* l) { return l->inner < l->bodies && l->ground <= 1; }

/* W += J Y', its lower triangle: the factor reads no more. */
MOR_ALWAYS_INLINE void add_lower(int n, const double* J, const double* Y, double* W)
{
#pragma GCC unroll 6
    for (int d = 0; d < n; d++) mor_rows_six(d + 1, Y, J + 6 * d, W + d * n);
}

MOR_ALWAYS_INLINE void add_own(int n, const double* J, const double* Y, double* W)
{
    if (n == 3) mor_gram(3, 3, 6, J, Y, W);
    else if (n == 5) add_lower(5, J, Y, W); /* known sizes: no loops */
    else if (n == 6) add_lower(6, J, Y, W);
    else add_lower(n, J, Y, W);
}

/* The blocks of W on the diagonal, with the shift, and of joints that share a body. */
MOR_ALWAYS_INLINE bool couple_body(work* k)
{
    for (int a = 0; a < k->joint_count; a++) {
        joint_rows* A = &k->joints[a];
        int n = A->dim;
        double* own = mor_block_cholesky_at(k->factor, a, a);
        if (!own) return false;
        for (int side = 0; side < 2; side++) {
            if (A->body[side] < 0) continue;
            jointed* at = &k->bodies[A->body[side]];
            add_own(n, A->J[side], A->Y[side], own);
            for (int e = at->first; e >= 0; e = k->next[e]) {
                const joint_rows* B = &k->joints[e >> 1];
                double* W = mor_block_cholesky_at(k->factor, e >> 1, a);
                if (!W) return false;
                mor_gram(B->dim, n, 6, B->J[e & 1], A->Y[side], W);
            }
        }
        for (int side = 0; side < 2; side++) {
            if (A->body[side] < 0) continue;
            jointed* at = &k->bodies[A->body[side]];
            k->next[2 * a + side] = at->first;
            at->first = 2 * a + side;
        }
        const double e = is_open(&k->linkages[A->linkage]) ? 0.0 : SHIFT;
        for (int d = 0; d < n; d++) own[d * n + d] += own[d * n + d] > 0.0 ? e * own[d * n + d] : 1.0;
    }
    return true;
}

MOR_WIDE(static, bool, couple, (work * k), (k))

static bool make(work* k)
{
    double* numbers = mor_arena_take(k->arena, 12 * (size_t)k->row_count * sizeof *numbers);
    double* vectors = mor_arena_take(k->arena, (12 * (size_t)k->body_count + (size_t)k->row_count) * sizeof(double));
    k->factor = mor_block_cholesky_create(k->joint_count, k->dims, k->arena);
    if (!numbers || !vectors || !k->factor) return false;
    k->nu = vectors;
    k->last = k->nu + 6 * (size_t)k->body_count;
    k->u = k->last + 6 * (size_t)k->body_count;
    for (int b = 0; b < k->body_count; b++) look_at_body(k, b);
    for (int i = 0; i < k->joint_count; i++) {
        joint_rows* j = &k->joints[i];
        for (int side = 0; side < 2; side++) {
            j->J[side] = j->look->J[side];
            j->Y[side] = numbers, numbers += 6 * j->dim;
        }
        if (!write_rows(k, j)) return false;
    }
    return true;
}

/* u = G' nu, with what moves by itself. */
MOR_ALWAYS_INLINE void rates_body(const work* k)
{
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        double* u = k->u + j->row;
        for (int d = 0; d < j->dim; d++) u[d] = j->drift[d];
        for (int side = 0; side < 2; side++)
            if (j->body[side] >= 0) mor_rows(j->dim, 6, j->J[side], k->nu + 6 * j->body[side], u);
    }
}

MOR_WIDE_VOID(static, rates, (const work* k), (k))

/* nu += M^-1 G p, p in u */
MOR_ALWAYS_INLINE void push_body(const work* k)
{
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        for (int side = 0; side < 2; side++)
            if (j->body[side] >= 0) mor_push(j->dim, 6, j->Y[side], k->u + j->row, k->nu + 6 * j->body[side]);
    }
}

MOR_WIDE_VOID(static, push, (const work* k), (k))

/* ------------------------------------------------------------------------------------- rounds */

/* Which linkages need no correction at all, and how well the others shall hold. */
static void begin(const work* k, double tolerance)
{
    for (int l = 0; l < k->linkage_count; l++) k->linkages[l].done = true;
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        linkage* l = &k->linkages[j->linkage];
        double square = 0.0;
        for (int d = 0; d < j->dim; d++) {
            double x = k->u[j->row + d];
            square += x * x;
            l->enough = mor_max(l->enough, ACCURACY * fabs(x));
        }
        if (sqrt(square) > tolerance) l->done = false;
    }
}

/* What is left of the rows decides which linkages go on; those that got worse take the last correction back. */
static bool go_on(const work* k, int round)
{
    bool any = false;
    for (int l = 0; l < k->linkage_count; l++) k->linkages[l].left = 0.0;
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        linkage* l = &k->linkages[j->linkage];
        for (int d = 0; d < j->dim; d++) {
            double x = fabs(k->u[j->row + d]);
            if (!(x <= l->left)) l->left = x;
        }
    }
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        const linkage* l = &k->linkages[j->linkage];
        for (int side = 0; side < 2; side++)
            if (j->body[side] >= 0 && !l->done && round && !(l->left < l->before))
                memcpy(k->nu + 6 * j->body[side], k->last + 6 * j->body[side], 6 * sizeof(double));
    }
    for (int n = 0; n < k->linkage_count; n++) {
        linkage* l = &k->linkages[n];
        if (l->done) continue;
        l->done = round && (!(l->left < l->before) || l->left <= l->enough || l->left > 0.9 * l->before);
        l->before = l->left;
        any = any || !l->done;
    }
    return any;
}

/* p of (W + e D) p = -u, in u. */
static void solve(const work* k)
{
    for (int i = 0; i < k->joint_count; i++) {
        const joint_rows* j = &k->joints[i];
        bool done = k->linkages[j->linkage].done;
        for (int d = 0; d < j->dim; d++) k->u[j->row + d] = done ? 0.0 : -k->u[j->row + d];
    }
    mor_block_cholesky_solve(k->factor, k->u);
}

static void write_back(const work* k, const double* was)
{
    for (int b = 0; b < k->body_count; b++) {
        double delta[6];
        bool any = false;
        for (int d = 0; d < 6; d++) {
            delta[d] = k->nu[6 * b + d] - was[6 * b + d];
            any = any || delta[d] != 0.0;
        }
        const mor_tree* t = &k->w->trees[k->bodies[b].tree];
        if (any) t->kind->correct(k->w, t, delta, true);
    }
}

static bool correct(work* k, double tolerance)
{
    if (!collect(k)) return false;
    if (k->joint_count == 0) return true;
    if (!label(k) || !make(k)) return false;
    size_t bytes = 6 * (size_t)k->body_count * sizeof(double);
    double* was = mor_arena_take(k->arena, bytes);
    if (!was) return false;
    memcpy(was, k->nu, bytes);
    rates(k);
    begin(k, tolerance);
    bool factored = false;
    for (int round = 0; round < ROUNDS && go_on(k, round); round++) {
        if (!factored && !(couple(k) && mor_block_cholesky_factor(k->factor))) return false;
        factored = true;
        solve(k);
        memcpy(k->last, k->nu, bytes);
        push(k);
        rates(k);
    }
    for (int i = 0; i < 6 * k->body_count; i++)
        if (!isfinite(k->nu[i])) return false;
    write_back(k, was);
    return true;
}

bool mor_linkage_velocities(mor_step* step, double tolerance)
{
    work k = { .w = step->w, .arena = step->arena };
    if (k.w->robot_count > 0 || k.w->stored) return false;
    size_t mark = mor_arena_mark(k.arena);
    bool ok = correct(&k, tolerance);
    mor_arena_release(k.arena, mark);
    return ok;
}
