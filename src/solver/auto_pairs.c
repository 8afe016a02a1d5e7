/* auto on a handful of pairs and equations: block principal pivots (Kostreva 1978; Judice & Pires 1994).
 *
 * With F = { b < 0 } at the start, z_F = -A_FF^-1 b_F, w = b + A_F z_F, all i with z_i < 0 or w_i < 0 change sides while
 * they become fewer, else only the last of them (Murty 1974): at most 12 times. With at most 3 pairs all sets are tried
 * then. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "solver/auto.h"

enum { TINY = MOR_AUTO_FEW_PAIRS };

static void entries(const mor_matrix* A, double* dense)
{
    int n = A->rows;
    if (A->storage == MOR_DENSE) {
        memcpy(dense, A->x, (size_t)(n * n) * sizeof *dense);
        return;
    }
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int i = 0; i < n; i++)
        for (int k = A->p[i]; k < A->p[i + 1]; k++) dense[i + A->i[k] * n] += A->x[k];
}

static bool is_free(const mor_problem* p, int i) { return p->form == MOR_MLCP && p->lower && p->lower[i] == -INFINITY; }

typedef struct few {
    int n, tried;
    double A[TINY * TINY], z[TINY], w[TINY];
    bool equation[TINY], inside[TINY], wrong[TINY]; /* inside: w_i = 0, else z_i = 0 */
} few;

/* z and w of the set; how many have the wrong sign, or -1 if the set is singular. */
static int try_set(few* f, const double* b)
{
    double sub[TINY * TINY], part[TINY];
    int n = f->n, m = 0, count = 0, index[TINY], pivot[TINY];
    f->tried++;
    for (int i = 0; i < n; i++)
        if (f->inside[i]) index[m++] = i;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) sub[i + j * m] = f->A[index[i] + index[j] * n];
    for (int i = 0; i < m; i++) part[i] = -b[index[i]];
    if (m && !mor_lu_factor(m, sub, pivot)) return -1;
    if (m) mor_lu_solve(m, sub, pivot, part);
    for (int i = 0; i < n; i++) f->z[i] = 0.0, f->w[i] = b[i];
    for (int j = 0; j < m; j++) {
        f->z[index[j]] = part[j];
        for (int i = 0; i < n; i++) f->w[i] += f->A[i + index[j] * n] * part[j];
    }
    for (int i = 0; i < n; i++) count += f->wrong[i] = !(f->equation[i] || (f->inside[i] ? f->z[i] : f->w[i]) >= 0.0);
    return count;
}

static bool accept(mor_auto* R, const few* f, const char* name)
{
    double error = R->context->error(R->context, f->z, f->w);
    if (!(error <= R->context->tol)) return false;
    R->best = error;
    memcpy(R->z, f->z, (size_t)f->n * sizeof *f->z);
    mor_auto_note(R, name, f->tried - 1);
    return true;
}

bool mor_auto_few_pairs(mor_auto* R, const mor_auto_stage* stage)
{
    enum { MOST = 12, ALL = 3 };
    const double* b = R->problem->b;
    few f;
    f.n = R->problem->size, f.tried = 0;
    int pair[TINY], pairs = 0, fewest = f.n + 1, patience = 1, last = 0;
    entries(&R->problem->A, f.A);
    for (int i = 0; i < f.n; i++) {
        f.equation[i] = is_free(R->problem, i), f.inside[i] = f.equation[i] || b[i] < 0.0;
        if (!f.equation[i]) pair[pairs++] = i;
    }
    for (int k = 0; k <= MOST; k++) {
        int wrong = try_set(&f, b);
        if (wrong == 0 && accept(R, &f, stage->name)) return true;
        if (wrong <= 0) break;
        if (wrong < fewest) fewest = wrong, patience = 1;
        else patience--;
        if (pairs <= ALL && patience < 0) break;
        for (int i = 0; i < f.n; i++)
            if (f.wrong[i]) last = i;
        for (int i = 0; i < f.n; i++)
            if (patience >= 0 ? f.wrong[i] : i == last) f.inside[i] = !f.inside[i];
    }
    for (int set = 0; pairs <= ALL && set < 1 << pairs; set++) {
        for (int k = 0; k < pairs; k++) f.inside[pair[k]] = set >> k & 1;
        if (try_set(&f, b) == 0 && accept(R, &f, stage->name)) return true;
    }
    return false;
}
