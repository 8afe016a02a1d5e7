/* Springs and dampers of joints: when they act within the step, and with which velocity positions move.
 *
 * A spring k and damper c on a coordinate x (measured from its rest), with the rate r at the start of the step and r+
 * at its end. Positions move with the mean (1 - s) r + s r+, s the `share` of an island:
 *
 *     p = -h k (x + e h r_s) - h c r_s,    r_s = (1 - s) r + s r+,    x+ = x + h r_s.
 *
 * With e = 1/2 the force is that of the middle of the path, and p r_s is what spring and damper take. With the
 * effective mass m = 1/W of the coordinate the energy changes by -(s - 1/2) p^2/m - (e - 1/2) h^2 k r_s^2 - h c r_s^2:
 * never a gain, and s = e = 1/2 is the midpoint rule, of second order. Steps that do not resolve a spring, A = (h^2
 * k/2 + h c) W above STIFF/2, would ring at the frequency of the steps: there s and e go to 1, as 1 - STIFF/4A, and
 * the ringing dies out.
 *
 * Contacts and limits want the positions at h nu+: in islands that have any, s = 1; a spring there loses energy at
 * first order in h. So it is where positions are not corrected after the step (stabilisation) or a kinematic body
 * takes part.
 *
 * In terms of end velocities p = -mu (r+ + B): a row on r+ with the compliance 1/mu, mu the mass of the spring's tree
 * (model/tree.c), B its bias (rows.c):
 *
 *     mu = s (e h^2 k + h c),    B = (h k x + (e h^2 k + h c) (1 - s) r)/mu
 *
 * The same share is taken where there are joints alone and no motor, limit or friction: bodies on joints then move at
 * second order as springs do.
 *
 * Equations of joints act at the positions of the start with their whole impulse p_b. For s < 1 positions need G'nu+ =
 * -phi/(s h), and of the velocity they gave, (1 - s) M^-1 G p_b is taken back before it is made to fulfil the
 * equations at the end (step/stabilise.c), as in RATTLE: a mass on a circle then keeps its speed exactly. */
#include "base/elementary.h"
#include "formulation/rows.h"

#include "linalg/wide.h"
#include "model/joints.h"

#include <math.h>

#define STIFF 100.0 /* A = h^2 w^2/2 for an undamped spring: steps of a few radians may ring, they do not explode */

static int spring_of(const mor_world* w, const mor_row_block* b)
{
    for (int i = 1; b->kind == MOR_BLOCK_BOUNDED && i < 3 && b->tree[i] >= 0; i++)
        if (w->trees[b->tree[i]].kind == &mor_tree_spring) return i;
    return 0;
}

/* 1/2 for what the step resolves, towards 1 beyond. */
static double blend(double A) { return A > 0.5 * STIFF ? 1.0 - 0.25 * STIFF / A : 0.5; }

/* Velocity of the row at the start, and W, without the spring's own tree. */
static double rate(const mor_step* step, const mor_row_block* b, int spring, double* W)
{
    const mor_world* w = step->w;
    double r = b->drift[0], y[64];
    *W = 0.0;
    for (int i = 0; i < spring; i++) {
        const mor_tree* t = &w->trees[b->tree[i]];
        double* Y = t->dof <= 64 ? y : mor_arena_alloc(step->arena, (size_t)t->dof * sizeof *Y);
        if (!Y) continue;
        mor_tree_response(step, b->tree[i], b->J[i], Y);
        for (int d = 0; d < t->dof; d++) {
            r += b->J[i][d] * step->nu[t->offset + d];
            *W += b->J[i][d] * Y[d];
        }
    }
    return r;
}

/* Are the joints of an island a tree of bodies, on the ground at most once? Then no equation depends on others. The
 * island is connected by them. */
static bool is_open(mor_row_block* const* rows, int row_count, int tree_count)
{
    int inner = 0, ground = 0;
    for (int i = 0; i < row_count; i++) {
        if (rows[i]->joint < 0) continue;
        if (rows[i]->tree[1] >= 0) inner++;
        else ground++;
    }
    return inner < tree_count && ground <= 1;
}

/* Of six numbers; lanes beyond the sixth are not looked at. */
typedef struct six {
    mor_four first;
    mor_two last;
} six;

MOR_ALWAYS_INLINE six six_at(const double* x) { return (six){ MOR_FOUR_AT(x), MOR_TWO_AT(x + 4) }; }
MOR_ALWAYS_INLINE void six_add(six* to, const six* x) { to->first += x->first, to->last += x->last; }
MOR_ALWAYS_INLINE void six_take(six* from, const six* x) { from->first -= x->first, from->last -= x->last; }

MOR_ALWAYS_INLINE double six_square(const six* x)
{
    const mor_four squares = x->first * x->first;
    const mor_two sum = MOR_FOLD(squares) + x->last * x->last;
    return sum[0] + sum[1];
}

/* Corrections of joints go on changing as they did: on the polynomial through the last ones whose next difference is
 * least, for that is the error to be expected. Returns how many of them it goes through. */
MOR_ALWAYS_INLINE int foretell_body(const mor_joint* j, double* next)
{
    six difference = six_at(j->correction), sum = { { 0.0 }, { 0.0 } }, best = sum;
    double least = INFINITY;
    int used = 0;
    for (int order = 0;; order++) {
        const double square = six_square(&difference);
        if (square < least) least = square, used = order, best = sum;
        if (order == MOR_JOINT_ORDERS) break;
        const six before = six_at(j->differences[order]);
        six_add(&sum, &difference);
        six_take(&difference, &before);
    }
    MOR_FOUR_TO(next) = best.first;
    MOR_TWO_TO(next + 4) = best.last;
    return used;
}

MOR_WIDE(static, int, foretell, (const mor_joint* j, double* next), (j, next))

/* The corrections of this step are those foretold. Where rows depend on each other, what they cannot agree on would
 * pile up: there they fade (rows.c). */
static void extrapolate(const mor_world* w, mor_row_block* b)
{
    double next[6];
    if (foretell(&((const mor_joint*)w->joints.data)[b->joint], next) == 0) return;
    for (int k = 0; k < b->dim; k++) {
        b->bias[k] += next[b->of[k]] - b->predicted[k];
        b->predicted[k] = next[b->of[k]];
    }
}

void mor_springs_settle(mor_step* step, mor_row_block* const* rows, int row_count, const int* trees, int tree_count,
                        bool touching)
{
    mor_world* w = step->w;
    bool any = false, equations = false, driven = false, middle = !touching && !w->integrator->advance;
    for (int i = 0; i < row_count; i++) {
        const mor_row_block* b = rows[i];
        int spring = spring_of(w, b);
        any = any || spring;
        if (b->kind == MOR_BLOCK_EQUATION) equations = true;
        else if (!spring && b->lower == 0.0) middle = false; /* a limit */
        else if (!spring) driven = true;
        for (int k = 0; k < b->dim; k++) middle = middle && b->drift[k] == 0.0;
    }
    if (!any && (!equations || driven)) return;
    int how = w->options.stabilisation;
    if (equations && how != MOR_STABILISE_IMPULSE && how != MOR_STABILISE_PROJECTION) middle = false;
    double h = w->h, share = middle ? 0.5 : 1.0;
    for (int pass = 0; pass < 2; pass++) /* the stiffest decides for all */
        for (int i = 0; i < row_count; i++) {
            mor_row_block* b = rows[i];
            int spring = spring_of(w, b);
            if (!spring) continue;
            mor_tree* t = &w->trees[b->tree[spring]];
            double W, r = rate(step, b, spring, &W), k = t->stiffness, c = t->damping;
            double own = blend((0.5 * h * h * k + h * c) * W);
            if (pass == 0) {
                if (middle) share = mor_max(share, own);
                continue;
            }
            double whole = own * h * h * k + h * c, mu = share * whole;
            step->mass[step->mass_start[b->tree[spring]]] = mu;
            step->mass_inverse[step->mass_start[b->tree[spring]]] = 1.0 / mu;
            b->bias[0] = b->drift[0] + (h * k * b->phi[0] + whole * (1.0 - share) * r) / mu;
        }
    if (!(share < 1.0)) return;
    for (int i = 0; i < tree_count; i++) w->trees[trees[i]].share = share;
    const double more = 1.0 / share - 1.0;
    bool open = how == MOR_STABILISE_IMPULSE && !touching && is_open(rows, row_count, tree_count);
    for (int i = 0; i < row_count; i++) {
        if (open && rows[i]->joint >= 0) extrapolate(w, rows[i]);
        for (int k = 0; k < rows[i]->dim && rows[i]->joint >= 0; k++) {
            rows[i]->bias[k] += (rows[i]->bias[k] - rows[i]->drift[k]) * more;
            rows[i]->predicted[k] /= share;
        }
    }
}
