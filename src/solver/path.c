/* path: Newton on the normal map with a pivotal path search, for boxed linear complementarity problems.
 *
 * Problem. w = A z + b, l <= z <= u, w_i >= 0 at l_i, <= 0 at u_i, 0 between (MCP; LCP and MLCP are special cases).
 *
 * Derivation. With z = mid(l, x, u) the problem is the normal map F(x) = A z + b + x - z = 0 (Robinson 1992): piecewise
 * linear, one piece for every choice of "at lower, between, at upper". A Newton step from x_0 solves the piecewise
 * linear model, which here is the problem itself, by following the path F(x(lambda)) = lambda F(x_0) from lambda = 1 to
 * 0. In the variables of the tableau
 *
 *     w = A z + b + lambda d,   d = w_0 - A z_0 - b
 *
 * for any start (z_0, w_0) that is complementary. The path is followed by complementary pivots as in Lemke's method,
 * with two changes: variables have two bounds (z may swap sides without a pivot), and the start has a basis of its own,
 * {z_i : i in F}.
 *
 * Algorithm.
 * 1. Crash: projected Newton. F = {i : l < z - w < u}, A_FF dz = -w_F, z := mid(l, z + t dz, u) while the natural map
 *    falls. Its F is the first basis (pivoted in, largest diagonals first; 2x2 pivots for free variables with a zero
 *    diagonal).
 * 2. Path search. lambda enters falling; the basic variable that first meets a bound leaves, its complement enters,
 *    until lambda leaves at 0. Ties: lambda first, then the largest pivot.
 * 3. If the path ends on a ray or is too long: the point of least lambda on it is the next x_0 (a damped Newton step).
 *    The watchdog lets the error of the new starts rise for `watchdog` steps; after that, or when lambda did not fall
 *    at all, the start is a fresh one: z at the bounds and an irregular w_0, which is Lemke's path with an irregular
 *    covering vector.
 * 4. Near lambda = 0 the active rows are solved once more in the original data (LU with refinement).
 *
 * Cost: n^2 per pivot, O(n) pivots usual. Iterations are pivots. Limits: dense tableau; problems outside the classes
 * that Lemke processes may end on rays everywhere: not_converged.
 *
 * References: Dirkse & Ferris (1995), The PATH solver: a non-monotone stabilization scheme for mixed complementarity
 * problems, Opt. Meth. Software 5; Ralph (1994), Global convergence of damped Newton's method for nonsmooth equations,
 * via the path search; Cao & Ferris (1996), A pivotal method for affine variational inequalities; Dirkse & Ferris
 * (1997), Crash techniques for large-scale complementarity problems. */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/convert.h"
#include "problem/entries.h"
#include "solver/pivot_table.h"

typedef struct path_options {
    bool crash;
    int tries, watchdog;
} path_options;

typedef enum ending { FOUND, RAY, USED_UP, LATE } ending;

typedef struct search {
    mor_pivot_table t;
    double *lo, *up;   /* 2n + 1: bounds of every variable now */
    signed char* side; /* of nonbasic z: -1 at lower, 1 at upper, 0 free at zero */
    bool* inside;      /* n: wanted in the basis */
    double *z, *w, *d; /* scaled start */
    double* best;      /* z of least lambda */
    double least;
} search;

static double clip(double x, double l, double u) { return mor_min(u, mor_max(l, x)); }

static void image(const search* s, const double* z, double* w)
{
    int n = s->t.n;
    for (int i = 0; i < n; i++) {
        const double* row = s->t.A + (size_t)i * s->t.stride;
        double sum = s->t.b[i];
        for (int j = 0; j < n; j++)
            if (row[j] != 0.0) sum += row[j] * z[j];
        w[i] = sum;
    }
}

static double natural(const search* s, const double* z, const double* w)
{
    double e = 0.0;
    for (int i = 0; i < s->t.n; i++) e = mor_max(e, fabs(z[i] - clip(z[i] - w[i], s->t.l[i], s->t.u[i])));
    return e;
}

/* Projected Newton on the natural map; improves s->z. */
static void crash(search* s, mor_context* context, int most)
{
    int n = s->t.n;
    size_t mark = mor_arena_mark(context->arena);
    double* LU = mor_arena_alloc(context->arena, ((size_t)n * n + 1) * sizeof *LU);
    double* v = mor_arena_alloc(context->arena, (3 * (size_t)n + 1) * sizeof *v);
    int* set = mor_arena_alloc(context->arena, (2 * (size_t)n + 1) * sizeof *set);
    if (LU && v && set) {
        double *dz = v, *trial = v + n, *tw = v + 2 * n;
        image(s, s->z, s->w);
        double error = natural(s, s->z, s->w);
        for (int round = 0; round < most && error > 0.0 && !mor_out_of_time(context); round++) {
            int k = 0;
            for (int i = 0; i < n; i++) {
                double at = s->z[i] - s->w[i];
                if (at > s->t.l[i] && at < s->t.u[i]) set[k++] = i;
            }
            for (int c = 0; c < k; c++)
                for (int r = 0; r < k; r++)
                    LU[r + (size_t)c * k] = s->t.A[(size_t)set[r] * s->t.stride + set[c]] + (r == c ? 1e-12 : 0.0);
            /* the others go to their bounds; the rows of F are solved with them there */
            for (int i = 0; i < n; i++) trial[i] = clip(s->z[i] - s->w[i], s->t.l[i], s->t.u[i]);
            for (int c = 0; c < k; c++) trial[set[c]] = s->z[set[c]];
            image(s, trial, tw);
            for (int c = 0; c < k; c++) dz[c] = -tw[set[c]];
            if (k > 0) {
                if (!mor_lu_factor(k, LU, set + n)) break;
                mor_lu_solve(k, LU, set + n, dz);
            }
            for (int c = 0; c < k; c++) trial[set[c]] += dz[c];
            double now = INFINITY, step = 1.0;
            for (int cut = 0; cut < 6; cut++, step *= 0.5) {
                for (int i = 0; i < n; i++) v[i] = clip(s->z[i] + step * (trial[i] - s->z[i]), s->t.l[i], s->t.u[i]);
                image(s, v, tw);
                now = natural(s, v, tw);
                if (now < error) break;
            }
            if (!(now < error)) break;
            bool slow = now > 0.9 * error;
            memcpy(s->z, v, (size_t)n * sizeof *v);
            memcpy(s->w, tw, (size_t)n * sizeof *tw);
            error = now;
            if (slow) break;
        }
    }
    mor_arena_release(context->arena, mark);
}

static double irregular(int k, int try)
{
    static const int stride[] = { 7919, 6271, 3571, 9973 };
    return (double)(((long)stride[try & 3] * (k + 1)) % 1009) / 1009.0;
}

/* Basis and values of the start (z, w of the crash or of the last path); d follows. `fresh`: all z at bounds. */
static void begin(search* s, bool fresh, int try)
{
    mor_pivot_table* t = &s->t;
    int n = t->n;
    double size = 0.0, largest = mor_max(mor_norm_max(n, t->b), 1e-300);
    image(s, s->z, s->w);
    size = mor_max(natural(s, s->z, s->w), 1e-12 * largest);
    for (int i = 0; i < n; i++) {
        bool free_z = t->l[i] == -INFINITY && t->u[i] == INFINITY;
        s->inside[i] = free_z || (!fresh && s->z[i] > t->l[i] && s->z[i] < t->u[i]);
        s->d[i] = 0.0;
    }
    mor_pivot_reset(t, s->d);
    mor_pivot_block(t, s->inside, true);
    memset(t->x, 0, (2 * (size_t)n + 1) * sizeof *t->x);
    for (int i = 0; i < n; i++) {
        bool free_z = t->l[i] == -INFINITY && t->u[i] == INFINITY;
        s->lo[i] = t->l[i], s->up[i] = t->u[i], s->side[i] = 0;
        if (mor_pivot_is_basic(t, i)) {
            double room = size * (0.5 + irregular(i, try)), x = s->z[i];
            if (fresh && !free_z) x = t->l[i] > -INFINITY ? t->l[i] + room : t->u[i] - room;
            if (x <= t->l[i]) x = mor_min(t->l[i] + room, t->u[i] < INFINITY ? 0.5 * (t->l[i] + t->u[i]) : INFINITY);
            if (x >= t->u[i]) x = mor_max(t->u[i] - room, t->l[i] > -INFINITY ? 0.5 * (t->l[i] + t->u[i]) : -INFINITY);
            t->x[i] = x;
        } else {
            if (!free_z)
                s->side[i] = t->u[i] == INFINITY || fabs(s->z[i] - t->l[i]) <= fabs(t->u[i] - s->z[i]) ? -1 : 1;
            t->x[i] = s->side[i] < 0 ? t->l[i] : s->side[i] > 0 ? t->u[i] : 0.0;
        }
    }
    /* w_0 where z is at a bound: right signs, away from zero */
    image(s, t->x, s->w);
    for (int i = 0; i < n; i++) {
        int w = n + i;
        double room = (fresh ? largest : size) * (0.5 + 0.5 * irregular(i, try));
        s->lo[w] = s->up[w] = 0.0;
        if (s->side[i] < 0) s->lo[w] = 0.0, s->up[w] = INFINITY, t->x[w] = mor_max(s->w[i], 0.0) + room;
        else if (s->side[i] > 0) s->lo[w] = -INFINITY, s->up[w] = 0.0, t->x[w] = mor_min(s->w[i], 0.0) - room;
        if (t->l[i] == t->u[i]) s->lo[w] = -INFINITY, s->up[w] = INFINITY, t->x[w] = s->w[i];
        s->d[i] = t->x[w] - s->w[i];
    }
    s->lo[2 * n] = 0.0, s->up[2 * n] = INFINITY, t->x[2 * n] = 1.0;
    /* the column of lambda in the basis at hand */
    for (int r = 0; r < n; r++) {
        double* row = mor_pivot_row(t, r);
        int v = t->basic[r];
        double sum = v >= n ? s->d[v - n] : 0.0;
        for (int c = 0; c < n; c++)
            if (t->nonbasic[c] >= n) sum -= row[c] * s->d[t->nonbasic[c] - n];
        row[n] = sum;
    }
}

/* The basic variable that blocks when the entering one moves by dir; *step how far. -1: none. */
static int ratio_test(const search* s, int column, double dir, double* step)
{
    const mor_pivot_table* t = &s->t;
    int n = t->n, best = -1;
    double largest = 0.0, relaxed = INFINITY;
    for (int r = 0; r < n; r++) largest = mor_max(largest, fabs(mor_pivot_row(t, r)[column]));
    const double tiny = 1e-11 * largest;
    for (int r = 0; r < n; r++) {
        double rate = mor_pivot_row(t, r)[column] * dir;
        int v = t->basic[r];
        double bound = rate < 0.0 ? s->lo[v] : s->up[v];
        if (!(fabs(rate) > tiny) || !isfinite(bound)) continue;
        double ratio = mor_max((bound - t->x[v]) / rate, 0.0);
        relaxed = mor_min(relaxed, ratio + 1e-13 * mor_max(1.0, ratio));
    }
    *step = INFINITY;
    for (int r = 0; r < n; r++) {
        double rate = mor_pivot_row(t, r)[column] * dir;
        int v = t->basic[r];
        double bound = rate < 0.0 ? s->lo[v] : s->up[v];
        if (!(fabs(rate) > tiny) || !isfinite(bound)) continue;
        double ratio = mor_max((bound - t->x[v]) / rate, 0.0);
        if (ratio > relaxed) continue;
        bool better =
            best < 0 || v == 2 * n || (t->basic[best] != 2 * n && fabs(rate) > fabs(mor_pivot_row(t, best)[column]));
        if (better) best = r, *step = ratio;
    }
    return best;
}

static void remember(search* s)
{
    if (s->t.x[2 * s->t.n] < s->least) {
        s->least = s->t.x[2 * s->t.n];
        memcpy(s->best, s->t.x, (size_t)s->t.n * sizeof *s->best);
    }
}

static ending walk(search* s, mor_context* context, int* pivots, int limit, double* out)
{
    mor_pivot_table* t = &s->t;
    int n = t->n, lambda = 2 * n, entering = lambda, used = 0;
    double dir = -1.0;
    s->least = INFINITY;
    remember(s);
    for (;;) {
        int column = ~t->place[entering];
        double step, own = dir > 0.0 ? s->up[entering] - t->x[entering] : t->x[entering] - s->lo[entering];
        int r = ratio_test(s, column, dir, &step);
        if (r < 0 && !isfinite(own)) return RAY;
        bool swap = own <= step;
        if (swap) step = own;
        for (int i = 0; i < n; i++) {
            double a = mor_pivot_row(t, i)[column];
            if (a != 0.0) t->x[t->basic[i]] += step * dir * a;
        }
        t->x[entering] += step * dir;
        remember(s);
        if (++*pivots >= context->max_iter || ++used > limit) return USED_UP;
        if ((*pivots & (n > 500 ? 0 : 15)) == 0 && mor_out_of_time(context)) return LATE;
        int leaving = swap ? entering : t->basic[r];
        if (leaving == lambda) return FOUND;
        double rate = swap ? dir : mor_pivot_row(t, r)[column] * dir;
        if (!swap) mor_pivot_exchange(t, leaving, entering);
        t->x[leaving] = rate < 0.0 ? s->lo[leaving] : s->up[leaving];
        if (mor_pivot_is_basic(t, lambda) && t->x[lambda] <= 1e-14) return FOUND;
        if (context->trace) {
            for (int i = 0; i < n; i++) out[i] = t->C[i] * t->x[i];
            mor_trace_add(context, *pivots, 1.0, out);
        }
        if (leaving < n) { /* z met a bound: w enters with the sign of that side */
            int w = n + leaving;
            s->side[leaving] = rate < 0.0 ? -1 : 1;
            s->lo[w] = rate < 0.0 ? 0.0 : -INFINITY, s->up[w] = rate < 0.0 ? INFINITY : 0.0;
            entering = w, dir = rate < 0.0 ? 1.0 : -1.0;
        } else { /* w met zero: z leaves its bound */
            entering = leaving - n;
            s->lo[leaving] = s->up[leaving] = 0.0;
            dir = s->side[entering] > 0 ? -1.0 : 1.0;
        }
    }
}

static mor_report path_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const path_options* o = options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = problem->size;
    if (!context->warm) memset(z, 0, (size_t)n * sizeof *z);
    if (problem->A.storage == MOR_OPERATOR) {
        report.status = MOR_REFUSED;
        snprintf(report.detail, sizeof report.detail, "pivoting needs the entries of the matrix");
        return report;
    }
    for (int i = 0; i < n; i++) z[i] = clip(z[i], mor_lower_of(problem, i), mor_upper_of(problem, i));
    double least = context->error(context, z, NULL);
    if (least <= context->tol) return report.status = MOR_SOLVED, report;
    search s;
    size_t N = (size_t)n;
    mor_arena* arena = context->arena;
    bool enough = mor_pivot_load(&s.t, problem, arena);
    s.lo = mor_arena_alloc(arena, (4 * N + 2) * sizeof(double));
    s.side = mor_arena_zero(arena, N + 1, 1);
    s.inside = mor_arena_zero(arena, N + 1, sizeof(bool));
    double* v = mor_arena_zero(arena, 5 * N + 1, sizeof(double));
    if (!enough || !s.lo || !s.side || !s.inside || !v) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory for a tableau of %d rows", n);
        return report;
    }
    s.up = s.lo + 2 * n + 1, s.z = v, s.w = v + n, s.d = v + 2 * n, s.best = v + 3 * n;
    double* trial = v + 4 * n;
    for (int i = 0; i < n; i++) s.z[i] = clip(z[i] / s.t.C[i], s.t.l[i], s.t.u[i]);
    if (o->crash) crash(&s, context, n > 500 ? 4 : 15);
    int rises = 0;
    bool fresh = !o->crash && !context->warm;
    for (int try = 0; try < o->tries; try++) {
        begin(&s, fresh, try);
        ending end = walk(&s, context, &report.iterations, 6 * n + 200, trial);
        for (int i = 0; i < n; i++) {
            double x = end == FOUND ? s.t.x[i] : s.best[i];
            trial[i] = clip(s.t.C[i] * x, mor_lower_of(problem, i), mor_upper_of(problem, i));
            if (!isfinite(trial[i])) trial[i] = 0.0;
        }
        double error = context->error(context, trial, NULL);
        if (end == FOUND && !(error <= 1e-3 * context->tol))
            error = mor_boxed_polish(problem, trial, mor_context_measure, context, context->arena);
        if (error < least || !isfinite(least)) {
            least = error;
            memcpy(z, trial, N * sizeof *z);
        } else rises++;
        if (least <= context->tol) {
            report.status = MOR_SOLVED;
            break;
        }
        if (end == LATE || report.iterations >= context->max_iter) {
            report.status = mor_out_of_time(context) ? MOR_TIME_LIMIT : MOR_NOT_CONVERGED;
            break;
        }
        snprintf(report.detail, sizeof report.detail, "%s",
                 end == RAY     ? "the path ended on a ray; no proof that there is no solution"
                 : end == FOUND ? "path complete, but rounding left more than the tolerance"
                                : "the path was too long");
        fresh = end == FOUND || s.least > 0.9 || rises > o->watchdog || (try & 1) == 0;
        if (fresh) {
            for (int i = 0; i < n; i++) s.z[i] = clip(0.0, s.t.l[i], s.t.u[i]);
            rises = 0;
        } else
            for (int i = 0; i < n; i++) s.z[i] = clip(s.best[i], s.t.l[i], s.t.u[i]);
    }
    return report;
}

static const mor_field fields[] = {
    { "crash", MOR_TYPE_BOOL, offsetof(path_options, crash), 1, 0, 1, NULL, "",
      "find the first basis by projected Newton" },
    { "tries", MOR_TYPE_INT, offsetof(path_options, tries), 8, 1, 100, NULL, "", "path searches before giving up" },
    { "watchdog", MOR_TYPE_INT, offsetof(path_options, watchdog), 3, 0, 100, NULL, "",
      "starts that may be worse than the best before a fresh one" },
    { 0 },
};

extern const mor_solver mor_solver_path;
const mor_solver mor_solver_path = {
    .name = "path",
    .summary = "Newton on the normal map with a pivotal path search and crash start",
    .reference = "dirkse1995",
    .accepts = MOR_LCP | MOR_MLCP | MOR_MCP,
    .options_size = sizeof(path_options),
    .fields = fields,
    .max_iter = 20000,
    .solve = path_solve,
};
