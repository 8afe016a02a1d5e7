#include "common/problem_kit.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "common/random_step.h"

const char* const kit_family_names[KIT_FAMILIES] = { "dominant", "pd", "psd", "banded", "contact" };
const mor_form kit_forms[KIT_FORMS] = { MOR_LCP,        MOR_MLCP,  MOR_MCP,   MOR_FC2D,        MOR_FC3D,
                                        MOR_FC_ROLLING, MOR_GFC2D, MOR_GFC3D, MOR_GFC_ROLLING, MOR_STEP_PYRAMID,
                                        MOR_STEP_CONE,  MOR_QP,    MOR_CQP };

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }
static void* get(mor_arena* arena, int count) { return mor_arena_zero(arena, (size_t)count + 1, sizeof(double)); }

/* --------------------------------------------------------------------------------------------- matrices */

static double* make_matrix(kit_family family, int n, mor_rng* rng, mor_arena* arena)
{
    double* A = get(arena, n * n);
    if (family == KIT_DOMINANT || family == KIT_BANDED) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int k = abs(i - j);
                if (family == KIT_DOMINANT) A[i + n * j] = k == 0 ? 4.0 : k == 1 ? -1.0 : k == 2 ? 0.3 : 0.0;
                else A[i + n * j] = k == 0 ? 4.0 : k == 1 || k == 3 ? -1.0 : 0.0;
            }
        return A;
    }
    if (family == KIT_CONTACT) {
        int bodies = n / 6 + 1;
        double* J = get(arena, n * 6 * bodies);
        for (int i = 0; i < n; i++) {
            int contact = i / 3, one = contact % bodies, two = (int)(mor_rng_uniform(rng) * bodies);
            for (int k = 0; k < 6; k++) {
                J[i + n * (6 * one + k)] += between(rng, -1, 1);
                if (contact % 2) J[i + n * (6 * two + k)] -= between(rng, -1, 1);
            }
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < 6 * bodies; k++) A[i + n * j] += J[i + n * k] * J[j + n * k];
        return A;
    }
    for (int i = 0; i < n; i++) A[i + n * i] = family == KIT_PSD && i % 2 ? 0.0 : (i + 1.0) / n;
    double *h = get(arena, n), *Ah = get(arena, n);
    for (int reflection = 0; reflection < 4; reflection++) { /* A := H A H, H = I - 2 h h'/h'h */
        double norm = 0.0, hAh = 0.0;
        for (int i = 0; i < n; i++) h[i] = between(rng, -1, 1), norm += h[i] * h[i];
        for (int i = 0; i < n; i++) h[i] /= sqrt(norm);
        for (int i = 0; i < n; i++) {
            Ah[i] = 0.0;
            for (int j = 0; j < n; j++) Ah[i] += A[i + n * j] * h[j];
            hAh += h[i] * Ah[i];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                A[i + n * j] += -2.0 * h[i] * Ah[j] - 2.0 * Ah[i] * h[j] + 4.0 * hAh * h[i] * h[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[i + n * j] = A[j + n * i];
    return A;
}

static mor_matrix wrap(double* A, int rows, int cols, bool sparse, mor_arena* arena)
{
    mor_matrix M = { .storage = MOR_DENSE, .rows = rows, .cols = cols, .x = A };
    if (!sparse) return M;
    M.storage = MOR_SPARSE;
    M.p = get(arena, rows + 1), M.i = get(arena, rows * cols), M.x = get(arena, rows * cols);
    int count = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++)
            if (A[i + (size_t)rows * j] != 0.0) M.i[count] = j, M.x[count++] = A[i + (size_t)rows * j];
        M.p[i + 1] = count;
    }
    return M;
}

static double entry(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)A->rows * j];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

/* out = A x + c (c may be NULL); returns the largest term, the scale of its rounding */
static double multiply(const mor_matrix* A, bool transposed, const double* x, const double* c, double* out)
{
    int rows = transposed ? A->cols : A->rows, cols = transposed ? A->rows : A->cols;
    double largest = 0.0;
    if (A->storage == MOR_OPERATOR) {
        A->apply(A->user, x, out);
        for (int i = 0; i < rows; i++) out[i] += c ? c[i] : 0.0;
        return largest;
    }
    for (int i = 0; i < rows; i++) {
        double s = c ? c[i] : 0.0;
        largest = fmax(largest, fabs(s));
        for (int j = 0; j < cols; j++) {
            double a = (transposed ? entry(A, j, i) : entry(A, i, j)) * x[j];
            s += a, largest = fmax(largest, fabs(a));
        }
        out[i] = s;
    }
    return largest;
}

/* --------------------------------------------------------------------------------------------- problems */

/* One contact's impulse and velocity that satisfy Coulomb's law (convex: its relaxation). */
static void make_contact(int dim, double mu, double roll, bool convex, int kind, mor_rng* rng, double* r, double* u)
{
    memset(r, 0, (size_t)dim * sizeof *r);
    memset(u, 0, (size_t)dim * sizeof *u);
    if (kind == 0) { /* open */
        u[0] = between(rng, 0.5, 1.5);
        for (int i = 1; i < dim; i++) u[i] = between(rng, -0.1, 0.1);
        if (convex) u[0] += mu + roll;
        return;
    }
    r[0] = between(rng, 0.5, 1.5);
    for (int disc = 0; disc < (dim == 5 ? 2 : 1); disc++) {
        int at = disc ? 3 : 1, k = dim == 2 ? 1 : 2;
        double radius = (disc ? roll : mu) * r[0], angle = between(rng, 0, 6.283), size = between(rng, 0.2, 1.0);
        double d[2] = { k == 1 ? (angle < 3.1415 ? 1.0 : -1.0) : mor_cos(angle), mor_sin(angle) };
        for (int i = 0; i < k; i++) {
            r[at + i] = (kind == 1 ? 0.5 : 1.0) * radius * d[i];
            if (kind == 2) u[at + i] = -size * d[i];
        }
        if (kind == 2 && convex) u[0] += (disc ? roll : mu) * size;
    }
}

static mor_problem make_cones(mor_form form, kit_family family, int size, bool sparse, mor_rng* rng, mor_arena* arena,
                              double** known)
{
    bool global = form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING), convex = form == MOR_CQP;
    int dim = form & (MOR_FC2D | MOR_GFC2D)               ? 2
              : form & (MOR_FC_ROLLING | MOR_GFC_ROLLING) ? 5
              : convex && size % 2                        ? 2
                                                          : 3;
    int contacts = size / dim > 0 ? size / dim : size > 0, n = contacts * dim;
    mor_problem p = { .form = form, .size = n, .contact_count = contacts, .dim = dim };
    double *mu = get(arena, contacts), *roll = get(arena, contacts), *r = get(arena, 2 * n + 8), *u = get(arena, n),
           *b = get(arena, n);
    for (int c = 0; c < contacts; c++) {
        mu[c] = between(rng, 0.1, 0.6), roll[c] = between(rng, 0.05, 0.2);
        make_contact(dim, mu[c], dim == 5 ? roll[c] : 0.0, convex, c % 3, rng, r + c * dim, u + c * dim);
    }
    if (global) {
        int m = n + 4;
        double *M = get(arena, m * m), *H = get(arena, m * n), *f = get(arena, m), *v = r + n;
        for (int i = 0; i < m; i++) M[i + m * i] = between(rng, 0.5, 2.0), v[i] = between(rng, -1, 1);
        for (int j = 0; j < n; j++) /* well conditioned: identity and some coupling */
            for (int i = 0; i < m; i++)
                H[i + m * j] = i == j ? 1.0 : abs(i - j) <= 3 && family != KIT_DOMINANT ? between(rng, -0.3, 0.3) : 0.0;
        for (int i = 0; i < m; i++) {
            f[i] = M[i + m * i] * v[i];
            for (int j = 0; j < n; j++) f[i] -= H[i + m * j] * r[j];
        }
        for (int j = 0; j < n; j++) {
            b[j] = u[j];
            for (int i = 0; i < m; i++) b[j] -= H[i + m * j] * v[i];
        }
        p.M = wrap(M, m, m, true, arena), p.H = wrap(H, m, n, true, arena), p.f = f;
    } else {
        p.A = wrap(make_matrix(family, n, rng, arena), n, n, sparse, arena);
        multiply(&p.A, false, r, NULL, b);
        for (int i = 0; i < n; i++) b[i] = u[i] - b[i];
    }
    p.b = b, p.mu = mu, p.mu_roll = roll;
    if (known) *known = r;
    return p;
}

mor_problem kit_make(mor_form form, kit_family family, int size, bool sparse, uint64_t seed, mor_arena* arena,
                     double** known)
{
    mor_rng rng = { seed };
    int n = size;
    if (known) *known = NULL;
    if (form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) {
        random_step spec = { .trees = 1 + size / 6,
                             .dof = 6,
                             .contacts = (size + 2) / 3,
                             .dim = 3,
                             .directions = form == MOR_STEP_PYRAMID ? 4 : 0,
                             .equations = 0,
                             .bounded = family == KIT_PSD,
                             .mu = 0.4,
                             .mass_ratio = family == KIT_CONTACT ? 100 : 1 };
        return random_step_make(&spec, seed, arena);
    }
    if (!(form & (MOR_LCP | MOR_MLCP | MOR_MCP | MOR_QP)))
        return make_cones(form, family, size, sparse, &rng, arena, known);
    mor_problem p = { .form = form, .size = n };
    double *z = get(arena, n), *w = get(arena, n), *b = get(arena, n), *l = get(arena, n), *u = get(arena, n);
    p.A = wrap(make_matrix(family, n, &rng, arena), n, n, sparse, arena);
    for (int i = 0; i < n; i++) {
        int kind = (int)(3 * mor_rng_uniform(&rng));
        double value = between(&rng, 0.1, 1.0);
        u[i] = INFINITY;
        if (form == MOR_MLCP && i % 3 == 0) l[i] = -INFINITY, z[i] = between(&rng, -1, 1);
        else if (kind == 0) w[i] = value;
        else z[i] = value;
        if (form == MOR_MCP || form == MOR_QP) {
            l[i] = -between(&rng, 0.5, 1.0), u[i] = -l[i] + 1.0;
            if (kind == 0) z[i] = l[i];
            else if (kind == 1) z[i] = u[i], w[i] = -value;
            else z[i] = 0.3 * between(&rng, -1, 1);
        }
    }
    if (form == MOR_QP) { /* rows through z, active with a multiplier or not */
        int m = n / 2;
        double *C = get(arena, m * n), *cl = get(arena, m), *cu = get(arena, m);
        for (int k = 0; k < m; k++) {
            double s = 0.0, y = k % 3 == 0 ? between(&rng, 0, 1) : 0.0;
            for (int j = 0; j < n; j++) C[k + m * j] = between(&rng, -1, 1), s += C[k + m * j] * z[j];
            cl[k] = k % 3 == 0 ? s : s - between(&rng, 0.1, 1), cu[k] = k % 3 == 1 ? s + 1 : INFINITY;
            for (int j = 0; j < n; j++) w[j] += y * C[k + m * j];
        }
        p.C = wrap(C, m, n, sparse, arena), p.c_lower = cl, p.c_upper = cu;
    }
    multiply(&p.A, false, z, NULL, b);
    for (int i = 0; i < n; i++) b[i] = w[i] - b[i];
    p.b = b;
    if (form != MOR_LCP) p.lower = l;
    if (form == MOR_MCP || form == MOR_QP) p.upper = u;
    if (known) *known = z;
    return p;
}

/* -------------------------------------------------------------------------------------------- residuals */

static double lower_of(const mor_problem* p, int i) { return p->lower ? p->lower[i] : 0.0; }
static double upper_of(const mor_problem* p, int i) { return p->upper ? p->upper[i] : INFINITY; }

static double length(int n, const double* x)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(x[i]));
    return s;
}

/* The judge does not divide by a scale at or below 2.2e-16 (of the 2-norm): such problems are judged absolutely. */
static double divisor(double size) { return size > 1e-15 ? size : 1.0; }

/* Violation of Coulomb's law by one contact: cone, dual cone, and the power that should vanish. `corners`: polygon. */
static double contact_error(int dim, double mu, double roll, int corners, bool convex, const double* r, const double* u,
                            double size)
{
    const double pi = 3.14159265358979323846;
    double worst = fmax(0.0, -r[0]), needed = 0.0, power = 0.0;
    for (int disc = 0; disc < (dim == 5 ? 2 : dim > 1 ? 1 : 0); disc++) {
        int at = disc ? 3 : 1;
        double f = disc ? roll : mu, R[2] = { r[at], dim == 2 ? 0.0 : r[at + 1] },
               U[2] = { u[at], dim == 2 ? 0.0 : u[at + 1] };
        double slip = hypot(U[0], U[1]), force = hypot(R[0], R[1]);
        if (corners && dim == 3 && f > 0.0) {
            slip = force = 0.0;
            for (int j = 0; j < corners; j++) {
                double a = 2 * pi * j / corners, e = a + pi / corners;
                slip = fmax(slip, -cos(a) * U[0] - sin(a) * U[1]);
                force = fmax(force, (cos(e) * R[0] + sin(e) * R[1]) / cos(pi / corners));
            }
        }
        worst = fmax(worst, (force - f * fmax(r[0], 0.0)) / (1.0 + f));
        needed += f * slip, power += R[0] * U[0] + R[1] * U[1];
    }
    double normal = convex ? u[0] - needed : u[0];
    worst = fmax(worst, -normal / (1.0 + mu + roll));
    /* r'u^ = r_N (u_N + needed) + power, all parts not negative when the law holds */
    double product = r[0] * (convex ? u[0] : u[0] + needed) + power;
    double scale = divisor(size);
    return fmax(worst / scale, fabs(product) / scale / scale / (1.0 + mu + roll));
}

static double step_error(const mor_problem* p, const double* z, mor_arena* arena)
{
    int n = p->size;
    double *W = get(arena, n * n), *u = get(arena, n), worst = 0.0, size = 1.0;
    random_step_dense(p, W, u);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) u[i] += W[i * n + j] * z[j];
        size = fmax(size, fmax(fabs(u[i]), fabs(z[i])));
    }
    for (int c = 0; c < p->step.block_count; c++) {
        const mor_block* b = &p->step.blocks[c];
        const double *r = z + b->row, *v = u + b->row;
        if (b->kind == MOR_BLOCK_CONTACT)
            worst = fmax(
                worst, contact_error(b->dim, b->mu, b->dim == 5 ? b->mu_roll : 0.0, b->directions, false, r, v, size));
        else
            for (int i = 0; i < b->dim; i++) {
                double l = b->kind == MOR_BLOCK_EQUATION ? -INFINITY : b->lower,
                       h = b->kind == MOR_BLOCK_EQUATION ? INFINITY : b->upper;
                worst = fmax(worst, fabs(r[i] - fmin(h, fmax(l, r[i] - v[i]))) / size);
            }
    }
    return worst;
}

double kit_error(const mor_problem* p, const double* z, const double* known, mor_arena* arena)
{
    int n = p->size, all = mor_problem_unknowns(p);
    size_t mark = mor_arena_mark(arena);
    double worst = 0.0;
    for (int i = 0; i < all; i++)
        if (!isfinite(z[i])) return INFINITY;
    if (p->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) worst = step_error(p, z, arena);
    else if (p->form & (MOR_LCP | MOR_MLCP | MOR_MCP | MOR_QP)) {
        double *w = get(arena, n), size = fmax(multiply(&p->A, false, z, p->b, w), 1e-300), b = length(n, p->b);
        if (p->form == MOR_LCP) {
            size = fmax(1e-9 * size, divisor(b));
            for (int i = 0; i < n; i++) worst = fmax(worst, fabs(fmin(z[i], w[i])) / size);
        } else if (p->form == MOR_MLCP) {
            for (int i = 0; i < n; i++) /* z w is no error where w is rounding */
                if (fabs(w[i]) < 1e-14 * size) w[i] = 0.0;
            size = fmax(1e-9 * size, 2.0 + b + length(n, w));
            for (int i = 0; i < n; i++)
                if (lower_of(p, i) == -INFINITY) worst = fmax(worst, fabs(w[i]) / size);
                else worst = fmax(worst, fmax(fmax(-z[i], -w[i]), z[i] > 0 && w[i] > 0 ? z[i] * w[i] : 0.0) / size);
        } else if (p->form == MOR_MCP) {
            size = fmax(1e-9 * size, fmax(b, fmax(length(n, z), length(n, w))));
            for (int i = 0; i < n; i++)
                worst =
                    fmax(worst, fabs(z[i] - fmin(upper_of(p, i), fmax(lower_of(p, i), z[i] - w[i]))) / divisor(size));
        } else {
            double scale = divisor(fmax(fmax(b, length(n, z)), size)), slope = 0.0, parts = 0.0;
            for (int i = 0; i < n; i++) {
                worst = fmax(worst, fmax(lower_of(p, i) - z[i], z[i] - upper_of(p, i)) / scale);
                if (known)
                    slope += w[i] * (known[i] - z[i]),
                        parts += fabs(w[i] * (known[i] - z[i])) + fabs(w[i]) + fabs(known[i] - z[i]);
            }
            if (p->C.rows > 0) {
                double* Cz = get(arena, p->C.rows);
                multiply(&p->C, false, z, NULL, Cz);
                for (int k = 0; k < p->C.rows; k++) { /* a distance: the row has length one */
                    double row = 0.0;
                    for (int j = 0; j < n; j++) row = fmax(row, fabs(entry(&p->C, k, j)));
                    worst =
                        fmax(worst, fmax(p->c_lower[k] - Cz[k], Cz[k] - p->c_upper[k]) / (row > 0 ? row : 1.0) / scale);
                }
            }
            /* no feasible point lies downhill */
            if (known && parts > 0) worst = fmax(worst, -slope / fmax(parts, scale));
        }
    } else {
        int d = p->dim;
        double *u = get(arena, n), size;
        if (p->form & (MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING)) {
            int m = p->M.rows;
            double *Mv = get(arena, m), *Hr = get(arena, m), big;
            big = fmax(multiply(&p->M, false, z + n, NULL, Mv), multiply(&p->H, false, z, p->f, Hr));
            for (int i = 0; i < m; i++) worst = fmax(worst, fabs(Mv[i] - Hr[i]) / divisor(big));
            multiply(&p->H, true, z + n, p->b, u);
        } else multiply(&p->A, false, z, p->b, u);
        size = fmax(length(n, p->b), fmax(length(n, z), length(n, u)));
        for (int c = 0; c < p->contact_count; c++)
            worst = fmax(worst, contact_error(d, p->mu[c], d == 5 ? p->mu_roll[c] : 0.0, 0, p->form == MOR_CQP,
                                              z + c * d, u + c * d, size));
    }
    mor_arena_release(arena, mark);
    return isnan(worst) ? INFINITY : worst;
}
