/* Values of a scene fitted to a motion through inverse dynamics: no simulation, no sensitivity to where it started.
 *
 *     min over x of  sum over steps |r_k(x)|^2,    r_k = D^(1/2) M^-1 h f_k(x)
 *
 * f_k is the unknown force of step k after contact impulses took what they can (inverse_impulses.c), D holds masses and
 * mean moments of inertia at the start values: velocities are weighed, not forces, because forces vanish with the mass
 * and would pull it to zero. Masses act through contact and applied forces alone; a body in flight does not know its
 * mass.
 *
 * Levenberg-Marquardt with central differences. Standard errors are s (J'J)^-1/2 with s^2 = |r|^2/(numbers - values):
 * right for white noise in r. Differences of noisy poses are not white, so they are a guide. A value cannot be
 * identified when r hardly depends on it, or when the others can do all that it does (what is left of its column
 * outside of the span of the others is below 2 % of it: one-sided contacts bend the columns by as much).
 *
 * K. Levenberg (1944); D. W. Marquardt (1963); J. Hollerbach, W. Khalil, M. Gautier, Model identification, in: Springer
 * Handbook of Robotics (2008), for inertias from motion by least squares. */
#include "base/elementary.h"
#include "base/failed.h"
#include "lab/inverse.h"
#include "linalg/dense.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, SETS = 512 };
#define ALONE 0.02      /* of a column's norm, outside of the span of the others */
#define NOTHING 1e-9    /* of |r|: a change of a value by itself that does less does nothing */
#define FAINT 1e-6      /* of the largest column: a smaller one is rounding, its value is held */
#define ROUNDING 1e-6   /* of the motion: columns below are rounding of its steps (1e-13) over the difference */
#define FAR 3.0         /* of a value's size: longer steps are not tried */
#define ENOUGH 1e-10    /* of a value: smaller moves end the search */
#define DIFFERENCE 1e-6 /* of a value: longer ones reach over kinks, where contacts of poses begin to slip or open */

typedef struct fit {
    const mor_inversion_request* request;
    const mor_observed* motion;
    mor_fit_value* values;
    int count;
    double* weight; /* of each number of nu */
    double size;    /* of the motion: velocities weighed like r, over all steps */
    int numbers;    /* of r */
    double *r, *trial, *J;
    mor_error* error;
} fit;

static double size_of(const mor_fit_value* v, double x) { return mor_max(fabs(x), mor_max(fabs(v->start), 1e-3)); }

/* r at x; false and a sentence: the scene refuses the values. */
static mor_code residual(fit* f, const double* x, double* r, mor_error* error)
{
    static const size_t width = 256;
    const char* sets[SETS + MOR_FIT_VALUES + 1] = { 0 };
    char* text = malloc(width * MOR_FIT_VALUES);
    if (!text) return mor_fail(error, MOR_SYSTEM, "out of memory");
    int n = 0;
    for (; f->request->set && f->request->set[n] && n < SETS; n++) sets[n] = f->request->set[n];
    for (int i = 0; i < f->count; i++) {
        snprintf(text + width * (size_t)i, width, "%s=%.17g", f->values[i].path, x[i]);
        sets[n++] = text + width * (size_t)i;
    }
    mor_inversion_request request = *f->request;
    request.set = sets, request.check = false;
    mor_inversion out;
    mor_code code = mor_inversion_make(&out, &request, f->motion, error);
    free(text);
    if (code) return code;
    if (out.stopped) code = mor_fail(error, MOR_STOPPED, "stopped");
    for (int k = 0; k < out.steps && !code; k++)
        for (int i = 0; i < out.count; i++)
            r[k * out.count + i] = f->weight[i] * out.change[(size_t)k * (size_t)out.count + (size_t)i];
    mor_inversion_free(&out);
    return code;
}

static double square(const fit* f, const double* r)
{
    double sum = 0.0;
    for (int i = 0; i < f->numbers; i++) sum += r[i] * r[i];
    return sum;
}

/* Velocities of a body, from differences of its poses, weighed and squared, over all steps. */
static double motion_of(const mor_observed* m, int body, double mass, double inertia)
{
    double sum = 0.0;
    for (int k = 1; k < m->frames; k++) {
        const double *b = m->pose + 7 * ((size_t)k * (size_t)m->bodies + (size_t)body), *a = b - 7 * (size_t)m->bodies;
        mor_quat q = { b[3], b[4], b[5], b[6] }, from = { a[3], a[4], a[5], a[6] };
        mor_quat d = mor_quat_mul(q, mor_quat_conj(from));
        mor_vec3 x = mor_v3(b[0] - a[0], b[1] - a[1], b[2] - a[2]), turn = mor_v3(2.0 * d.x, 2.0 * d.y, 2.0 * d.z);
        double h = m->time[k] - m->time[k - 1];
        sum += (mass * mor_dot(x, x) + inertia * mor_dot(turn, turn)) / (h * h);
    }
    return sum;
}

/* Weights and sizes from the scene as it is. */
static mor_code prepare(fit* f, mor_error* error)
{
    mor_scene* scene = mor_scene_load(f->request->scene, f->request->set, f->request->library, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? MOR_OK : mor_failed(error, MOR_BAD_INPUT);
    int n = w ? mor_world_nu_count(w) : 0;
    f->numbers = n * (f->motion->frames - (f->motion->velocities && !f->request->poses ? 1 : 2));
    f->weight = calloc((size_t)n + 1, sizeof(double));
    f->r = calloc((size_t)f->numbers + 1, sizeof(double));
    f->trial = calloc((size_t)f->numbers + 1, sizeof(double));
    f->J = calloc((size_t)f->numbers * (size_t)f->count + 1, sizeof(double));
    if (!code && (!f->weight || !f->r || !f->trial || !f->J)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; !code && i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        mor_span s = mor_body_span(w, id);
        mor_mass m = mor_body_mass(w, id);
        double I =
            s.nu_count == 6 ? (m.inertia.m[0][0] + m.inertia.m[1][1] + m.inertia.m[2][2]) / 3.0 : m.inertia.m[2][2];
        for (int k = 0; k < s.nu_count; k++) f->weight[s.nu + k] = sqrt(k < (s.nu_count == 6 ? 3 : 2) ? m.mass : I);
        f->size += motion_of(f->motion, i, m.mass, I);
    }
    f->size = sqrt(f->size);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

/* Columns of J, of values in units of their size. A value at the edge of what the scene takes: to one side. */
static mor_code differences(fit* f, const double* x, mor_error* error)
{
    double y[MOR_FIT_VALUES];
    for (int j = 0; j < f->count; j++) {
        double by = DIFFERENCE * size_of(&f->values[j], x[j]), *column = f->J + (size_t)j * (size_t)f->numbers;
        double span = 2.0 * DIFFERENCE;
        mor_error inner = { 0 };
        memcpy(y, x, sizeof y);
        y[j] = x[j] + by;
        mor_code code = residual(f, y, column, error);
        if (code) return code;
        y[j] = x[j] - by;
        code = residual(f, y, f->trial, &inner);
        if (code == MOR_BAD_INPUT) memcpy(f->trial, f->r, (size_t)f->numbers * sizeof(double)), span = DIFFERENCE;
        else if (code) return mor_fail(error, code, "%s", inner.text);
        for (int i = 0; i < f->numbers; i++) column[i] = (column[i] - f->trial[i]) / span;
    }
    return MOR_OK;
}

/* Values that do next to nothing stay: what differences show of them is rounding, and leads anywhere. */
static void hold_faint(const fit* f, double* A, double* g)
{
    int n = f->count;
    double largest = 0.0, floor = ROUNDING * f->size;
    for (int i = 0; i < n; i++) largest = mor_max(largest, A[i + i * n]);
    for (int i = 0; i < n; i++) {
        if (A[i + i * n] > mor_max(FAINT * FAINT * largest, floor * floor)) continue;
        for (int j = 0; j < n; j++) A[i + j * n] = A[j + i * n] = 0.0;
        A[i + i * n] = largest > 0.0 ? largest : 1.0;
        g[i] = 0.0;
    }
}

/* A = J'J, g = J'r */
static void normal_equations(const fit* f, double* A, double* g)
{
    for (int i = 0; i < f->count; i++) {
        const double* a = f->J + (size_t)i * (size_t)f->numbers;
        for (int j = 0; j <= i; j++) {
            const double* b = f->J + (size_t)j * (size_t)f->numbers;
            double sum = 0.0;
            for (int k = 0; k < f->numbers; k++) sum += a[k] * b[k];
            A[i + j * f->count] = A[j + i * f->count] = sum;
        }
        g[i] = 0.0;
        for (int k = 0; k < f->numbers; k++) g[i] += a[k] * f->r[k];
    }
}

/* One step of Levenberg and Marquardt; *moved: how far, of the sizes of the values; 0: nowhere to go. */
static mor_code improve(fit* f, double* x, double* damping, double* moved, mor_error* error)
{
    double A[MOR_FIT_VALUES * MOR_FIT_VALUES], L[MOR_FIT_VALUES * MOR_FIT_VALUES], g[MOR_FIT_VALUES], y[MOR_FIT_VALUES];
    int n = f->count;
    mor_code code = differences(f, x, error);
    if (code) return code;
    normal_equations(f, A, g);
    hold_faint(f, A, g);
    double now = square(f, f->r);
    *moved = 0.0;
    for (int attempt = 0; attempt < 12; attempt++, *damping *= 8.0) {
        double d[MOR_FIT_VALUES];
        memcpy(L, A, sizeof L);
        memcpy(d, g, sizeof d);
        for (int i = 0; i < n; i++) L[i + i * n] += *damping * A[i + i * n] + 1e-300;
        if (!mor_cholesky_factor(n, L)) continue;
        mor_cholesky_solve(n, L, d);
        mor_error inner = { 0 };
        double largest = 0.0;
        for (int i = 0; i < n; i++) {
            y[i] = x[i] - d[i] * size_of(&f->values[i], x[i]);
            largest = mor_max(largest, fabs(d[i]));
        }
        if (largest > FAR) continue;
        code = residual(f, y, f->trial, &inner);
        if (code == MOR_SYSTEM || code == MOR_STOPPED) return mor_fail(error, code, "%s", inner.text);
        if (code || !(square(f, f->trial) < now)) continue;
        memcpy(x, y, (size_t)n * sizeof *x);
        memcpy(f->r, f->trial, (size_t)f->numbers * sizeof(double));
        *damping = mor_max(*damping / 20.0, 1e-14);
        *moved = largest;
        return MOR_OK;
    }
    return MOR_OK;
}

/* Standard errors, and what cannot be identified. */
static mor_code judge(fit* f, const double* x, mor_error* error)
{
    double A[MOR_FIT_VALUES * MOR_FIT_VALUES], g[MOR_FIT_VALUES], unit[MOR_FIT_VALUES];
    int n = f->count;
    mor_code code = differences(f, x, error);
    if (code) return code;
    normal_equations(f, A, g);
    double variance = square(f, f->r) / mor_max(f->numbers - n, 1), size = sqrt(square(f, f->r)), most = 0.0;
    for (int i = 0; i < n; i++) most = mor_max(most, sqrt(A[i + i * n]));
    for (int i = 0; i < n; i++) {
        mor_fit_value* v = &f->values[i];
        v->value = x[i];
        v->identified = sqrt(A[i + i * n]) > mor_max(mor_max(NOTHING * size, FAINT * most), ROUNDING * f->size);
        if (!v->identified) snprintf(v->why, sizeof v->why, "the motion does not depend on it");
        unit[i] = v->identified ? 1.0 / sqrt(A[i + i * n]) : 0.0;
    }
    for (int i = 0; i < n; i++) { /* e_i' C^-1 e_i of the correlation matrix C: 1 over the share that is its own */
        double C[MOR_FIT_VALUES * MOR_FIT_VALUES], e[MOR_FIT_VALUES] = { 0 };
        mor_fit_value* v = &f->values[i];
        v->error = INFINITY;
        if (!v->identified) continue;
        for (int k = 0; k < n * n; k++) C[k] = A[k] * unit[k % n] * unit[k / n] + (k % n == k / n ? 1e-15 : 0.0);
        for (int k = 0; k < n; k++)
            if (unit[k] == 0.0) C[k + k * n] = 1.0;
        e[i] = 1.0;
        bool ok = mor_cholesky_factor(n, C);
        if (ok) mor_cholesky_solve(n, C, e);
        double own = ok && e[i] > 0.0 ? 1.0 / e[i] : 0.0;
        v->error = own > 0.0 ? sqrt(variance * e[i]) * unit[i] * size_of(v, x[i]) : INFINITY;
        if (own < ALONE * ALONE) {
            v->identified = false;
            snprintf(v->why, sizeof v->why, "the others can do all that it does");
        } else if (v->error > size_of(v, x[i])) {
            v->identified = false;
            snprintf(v->why, sizeof v->why, "its standard error is larger than itself");
        }
    }
    return MOR_OK;
}

/* Impacts take the impulse that explains the motion, whatever the restitution. */
static mor_code refuse_unseen(const mor_fit_value* values, int count, mor_error* error)
{
    for (int i = 0; i < count; i++) {
        const char* dot = strrchr(values[i].path, '.');
        if (dot && strcmp(dot, ".restitution") == 0)
            return mor_fail(error, MOR_BAD_INPUT,
                            "%s: an impact has the impulse that explains the motion, whatever the restitution; "
                            "`moreau calibrate` fits it",
                            values[i].path);
    }
    return MOR_OK;
}

mor_code mor_inversion_fit(const mor_inversion_request* request, const mor_observed* motion, mor_fit_value* values,
                           int count, double* before, double* after, int* iterations, mor_error* error)
{
    fit f = { .request = request, .motion = motion, .values = values, .count = count, .error = error };
    double x[MOR_FIT_VALUES] = { 0 }, damping = 1e-6, moved = 1.0;
    for (int i = 0; i < count; i++) x[i] = values[i].start;
    mor_code code = refuse_unseen(values, count, error);
    if (!code) code = prepare(&f, error);
    if (!code) code = residual(&f, x, f.r, error);
    double numbers = mor_max(f.numbers, 1);
    if (!code) *before = sqrt(square(&f, f.r) / numbers);
    for (*iterations = 0; *iterations < ITERATIONS && !code && moved > ENOUGH; ++*iterations)
        code = improve(&f, x, &damping, &moved, error);
    if (!code) *after = sqrt(square(&f, f.r) / numbers);
    if (!code) code = judge(&f, x, error);
    free(f.weight), free(f.r), free(f.trial), free(f.J);
    return code;
}
