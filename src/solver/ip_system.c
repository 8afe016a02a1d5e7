/* The scaled iterate of an interior point method on tree velocities (ip_system.h; mathematics in ip_tree.c). */
#include "solver/ip_system.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "problem/step.h"
#include "solver/ip_tree.h"
#include "solver/lorentz.h"

const char* mor_ip_unfit(const mor_step_form* s)
{
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        if (b->kind == MOR_BLOCK_CONTACT && (b->dim > 3 || mor_block_is_polygonal(b)))
            return "takes circular cones without rolling friction";
        if (b->kind == MOR_BLOCK_CONTACT && b->dim > 1 && !(b->mu > 0.0))
            return "a contact with tangents but no friction";
    }
    return mor_tree_matrix_unfit(s);
}

static bool allocate(mor_ip* I, const mor_step_form* s, mor_tree_matrix* K, mor_arena* arena)
{
    size_t n = (size_t)s->row_count + 1, blocks = (size_t)s->block_count + 1, dof = (size_t)s->dof + 1, squares = 0;
    for (int c = 0; c < s->block_count; c++) {
        size_t end = (size_t)(s->diagonal_start[c] + s->blocks[c].dim * s->blocks[c].dim);
        if (end > squares) squares = end;
    }
    *I = (mor_ip){ .step = s, .K = K };
    I->kinds = mor_arena_alloc(arena, blocks * sizeof *I->kinds);
    double* v = mor_arena_zero(arena, 18 * n + 4 * blocks + 4 * dof + squares, sizeof *v);
    if (!I->kinds || !v || !K) return false;
    double** rows[] = { &I->scale, &I->p,  &I->u, &I->lower, &I->upper, &I->z_lower, &I->z_upper,  &I->dp,  &I->du,
                        &I->r,     &I->ru, &I->g, &I->spare, &I->rows,  &I->lambda,  &I->impulses, &I->unit };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++, v += n) *rows[k] = v;
    I->v = v, v += 3 * blocks;
    I->eta = v, v += blocks;
    I->nu = v, v += dof;
    I->dnu = v, v += dof;
    I->late = v, v += dof;
    I->follows = v, v += dof;
    I->H = v;
    return true;
}

static void find_units(mor_ip* I)
{
    const mor_step_form* s = I->step;
    I->size = 0.0;
    mor_step_rows(s, s->nu_free, I->rows);
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* W = s->diagonal + s->diagonal_start[c];
        int d = b->dim;
        I->kinds[c] = b->kind == MOR_BLOCK_EQUATION  ? MOR_IP_EQUATION
                      : b->kind == MOR_BLOCK_BOUNDED ? MOR_IP_BOUNDED
                      : d == 1                       ? MOR_IP_PAIR
                                                     : MOR_IP_CONE;
        double trace = 0.0;
        for (int i = 0; i < d; i++) {
            double q = I->kinds[c] == MOR_IP_CONE && i == 0 ? 1.0 / b->mu : 1.0;
            trace += q * q * W[i * d + i];
        }
        double unit = trace > 0.0 ? sqrt(d / trace) : 1.0;
        for (int i = 0; i < d; i++) {
            I->scale[b->row + i] = unit * (I->kinds[c] == MOR_IP_CONE && i == 0 ? 1.0 / b->mu : 1.0);
            I->unit[b->row + i] = 1.0 / I->scale[b->row + i];
            I->size = mor_max(I->size, fabs(I->scale[b->row + i] * I->rows[b->row + i]));
        }
    }
    if (!(I->size > 0.0)) I->size = 1.0;
}

static void begin(mor_ip* I)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int row = b->row;
        if (I->kinds[c] == MOR_IP_EQUATION) continue;
        if (I->kinds[c] != MOR_IP_BOUNDED) {
            I->p[row] = I->u[row] = 1.0;
            continue;
        }
        double unit = I->scale[row] * I->size, lower = b->lower / unit, upper = b->upper / unit;
        I->lower[row] = lower, I->upper[row] = upper;
        I->z_lower[row] = isfinite(lower) ? 1.0 : 0.0;
        I->z_upper[row] = isfinite(upper) ? 1.0 : 0.0;
        I->p[row] = isfinite(lower) && isfinite(upper) ? 0.5 * (lower + upper)
                    : isfinite(lower)                  ? lower + 1.0
                    : isfinite(upper)                  ? upper - 1.0
                                                       : 0.0;
    }
}

bool mor_ip_open(mor_ip* I, const mor_step_form* step, mor_tree_matrix* K, mor_arena* arena)
{
    if (!allocate(I, step, K, arena)) return false;
    find_units(I);
    begin(I);
    return true;
}

/* --------------------------------------------------------------------------------- iteration */

static void unscale(const mor_ip* I, double* p)
{
    for (int i = 0; i < I->step->row_count; i++) p[i] = I->scale[i] * I->size * I->p[i];
}

/* |u_T| of a cone, rounded. */
static double slip_speed(const mor_ip* I, const mor_block* b)
{
    const double* u = I->u + b->row;
    if (!(I->round > 0.0)) return b->dim == 3 ? mor_hypot(u[1], u[2]) : fabs(u[1]);
    double x = u[1], y = b->dim == 3 ? u[2] : 0.0;
    return sqrt(x * x + y * y + I->round * I->round) - I->round;
}

double mor_ip_subtract_slip(mor_ip* I, double round)
{
    const mor_step_form* s = I->step;
    double most = 0.0;
    I->round = round;
    for (int c = 0; c < s->block_count; c++) {
        int row = s->blocks[c].row;
        if (I->kinds[c] != MOR_IP_CONE) continue;
        I->ru[row] -= slip_speed(I, &s->blocks[c]);
        most = mor_max(most, fabs(I->ru[row]));
    }
    return most;
}

/* What is missing in M (nu - nu_free) = G p. */
static void find_late(mor_ip* I)
{
    const mor_step_form* s = I->step;
    mor_step_velocity(s, I->impulses, I->follows);
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        for (int i = 0; i < tree->dof; i++) {
            double sum = 0.0;
            for (int j = 0; j < tree->dof; j++)
                sum += tree->mass[i * tree->dof + j] * (I->nu[tree->offset + j] - I->follows[tree->offset + j]);
            I->late[tree->offset + i] = sum;
        }
    }
}

double mor_ip_evaluate(mor_ip* I)
{
    const mor_step_form* s = I->step;
    unscale(I, I->impulses);
    if (I->carries) find_late(I);
    else mor_step_velocity(s, I->impulses, I->nu);
    mor_step_rows(s, I->nu, I->rows);
    const double per_size = 1.0 / I->size;
    double gap = 0.0;
    int count = 0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int row = b->row;
        for (int i = row; i < row + b->dim; i++) {
            double v = I->scale[i] * per_size * I->rows[i];
            I->ru[i] = I->kinds[c] == MOR_IP_EQUATION ? v : I->u[i] - v;
        }
        if (I->kinds[c] == MOR_IP_BOUNDED) {
            I->ru[row] = I->z_lower[row] - I->z_upper[row] - I->scale[row] / I->size * I->rows[row];
            if (I->upper[row] == I->lower[row]) continue;
            if (isfinite(I->lower[row])) gap += I->z_lower[row] * (I->p[row] - I->lower[row]), count++;
            if (isfinite(I->upper[row])) gap += I->z_upper[row] * (I->upper[row] - I->p[row]), count++;
        } else if (I->kinds[c] != MOR_IP_EQUATION) {
            for (int i = row; i < row + b->dim; i++) gap += I->p[i] * I->u[i];
            count++;
        }
    }
    return count ? gap / count : 0.0;
}

double mor_ip_bounded_stiffness(const mor_ip* I, int row)
{
    double D = 0.0;
    if (isfinite(I->lower[row])) D += I->z_lower[row] / (I->p[row] - I->lower[row]);
    if (isfinite(I->upper[row])) D += I->z_upper[row] / (I->upper[row] - I->p[row]);
    return D;
}

/* Direction of slip: the derivative of |u_T|, or a share of it. */
static void slip(const mor_ip* I, int c, double* tau)
{
    const mor_block* b = &I->step->blocks[c];
    tau[0] = tau[1] = 0.0;
    if (I->kinds[c] != MOR_IP_CONE) return;
    const double* u = I->u + b->row;
    double x = u[1], y = b->dim == 3 ? u[2] : 0.0, s = sqrt(x * x + y * y + I->round * I->round);
    if (s > 0.0) tau[0] = I->share * x / s, tau[1] = I->share * y / s;
}

bool mor_ip_factor(mor_ip* I)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, row = b->row;
        double *H = I->H + s->diagonal_start[c], V2[9];
        memset(H, 0, (size_t)(d * d) * sizeof *H);
        if (I->kinds[c] == MOR_IP_EQUATION)
            for (int i = 0; i < d; i++) H[i * d + i] = 1.0 / MOR_IP_DELTA;
        else if (I->kinds[c] == MOR_IP_BOUNDED) {
            double D = mor_ip_bounded_stiffness(I, row);
            H[0] = I->upper[row] == I->lower[row] ? 0.0 : D > 0.0 ? 1.0 / D : 1.0 / MOR_IP_DELTA;
        } else {
            if (!mor_lorentz_scaling(d, I->u + row, I->p + row, I->v + 3 * c, &I->eta[c], V2, I->lambda + row))
                return false;
            double tau[2];
            slip(I, c, tau);
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) H[i * d + j] = V2[i * 3 + j] + (j ? V2[i * 3] * tau[j - 1] : 0.0);
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) H[i * d + j] *= I->scale[row + i] * I->scale[row + j];
    }
    return mor_tree_matrix_factor(I->K, I->H);
}

void mor_ip_constant_part(mor_ip* I, double aim, mor_ip_aims aims)
{
    const bool second = aims == MOR_IP_CORRECTOR;
    const double own = aims == MOR_IP_TANGENT ? 0.0 : 1.0; /* of what the products are now */
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, row = b->row;
        if (I->kinds[c] == MOR_IP_EQUATION) {
            for (int i = row; i < row + d; i++) I->g[i] = -I->ru[i] / MOR_IP_DELTA;
        } else if (I->kinds[c] == MOR_IP_BOUNDED) {
            double D = mor_ip_bounded_stiffness(I, row), q = I->ru[row];
            double below = I->p[row] - I->lower[row], above = I->upper[row] - I->p[row], dp = second ? I->dp[row] : 0.0;
            if (isfinite(below)) {
                double dz = second ? -I->z_lower[row] - I->z_lower[row] * dp / below : 0.0; /* of the predictor */
                q += (aim - (second ? dz * dp : 0.0)) / below - own * I->z_lower[row];
            }
            if (isfinite(above)) {
                double dz = second ? -I->z_upper[row] + I->z_upper[row] * dp / above : 0.0;
                q -= (aim + (second ? dz * dp : 0.0)) / above - own * I->z_upper[row];
            }
            I->g[row] = I->upper[row] == I->lower[row] ? 0.0 : D > 0.0 ? q / D : q / MOR_IP_DELTA;
        } else {
            const double* H = I->H + s->diagonal_start[c];
            double x[3], y[3];
            mor_lorentz_scale(d, I->v + 3 * c, I->eta[c], true, I->r + row, x);
            for (int j = 0; j < d; j++) y[j] = I->ru[row + j] * I->unit[row + j];
            for (int i = 0; i < d; i++) {
                double sum = 0.0;
                for (int j = 0; j < d; j++) sum += H[i * d + j] * y[j];
                I->g[row + i] = x[i] + sum * I->unit[row + i];
            }
        }
    }
}

void mor_ip_direction(mor_ip* I)
{
    const mor_step_form* s = I->step;
    const double per_size = 1.0 / I->size;
    int n = s->row_count;
    for (int i = 0; i < n; i++) I->spare[i] = I->scale[i] * I->size * I->g[i];
    mor_step_forces(s, I->spare, I->dnu);
    for (int i = 0; I->carries && i < s->dof; i++) I->dnu[i] -= I->late[i];
    mor_tree_matrix_solve(I->K, I->dnu);
    if (n > MOR_IP_LARGE) mor_step_rows_change(s, I->dnu, I->spare);
    else { /* the same but for the rounding of the bias, which decides nothing in so few iterations */
        mor_step_rows(s, I->dnu, I->spare);
        for (int i = 0; i < n; i++) I->spare[i] -= s->bias[i];
    }
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* H = I->H + s->diagonal_start[c];
        int d = b->dim;
        for (int i = 0; i < d; i++) {
            int k = b->row + i;
            double x = 0.0; /* H is in the units of the step: dp = scale H scale rows */
            for (int j = 0; j < d; j++) x += H[i * d + j] * I->spare[b->row + j];
            I->dp[k] = I->g[k] - x * I->unit[k] * per_size;
            I->du[k] = I->scale[k] * per_size * I->spare[k] - I->ru[k];
        }
        double tau[2];
        slip(I, c, tau);
        for (int j = 1; j < d && I->kinds[c] == MOR_IP_CONE; j++) I->du[b->row] += tau[j - 1] * I->du[b->row + j];
    }
}

double mor_ip_room_of_bounds(const mor_ip* I, int row, double aim, double* dz_lower, double* dz_upper)
{
    double t = INFINITY, below = I->p[row] - I->lower[row], above = I->upper[row] - I->p[row], dp = I->dp[row];
    *dz_lower = *dz_upper = 0.0;
    if (I->upper[row] == I->lower[row]) return t;
    if (isfinite(below)) {
        *dz_lower = (aim - I->z_lower[row] * dp) / below - I->z_lower[row];
        if (dp < 0.0) t = mor_min(t, -below / dp);
        if (*dz_lower < 0.0) t = mor_min(t, -I->z_lower[row] / *dz_lower);
    }
    if (isfinite(above)) {
        *dz_upper = (aim + I->z_upper[row] * dp) / above - I->z_upper[row];
        if (dp > 0.0) t = mor_min(t, above / dp);
        if (*dz_upper < 0.0) t = mor_min(t, -I->z_upper[row] / *dz_upper);
    }
    return t;
}

double mor_ip_room(const mor_ip* I, double aim)
{
    const mor_step_form* s = I->step;
    double t = INFINITY, a, b;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_EQUATION) continue;
        if (I->kinds[c] == MOR_IP_BOUNDED) t = mor_min(t, mor_ip_room_of_bounds(I, row, aim, &a, &b));
        else
            t = mor_min(
                t, mor_min(mor_lorentz_room(d, I->p + row, I->dp + row), mor_lorentz_room(d, I->u + row, I->du + row)));
    }
    return t;
}
