/* Stick, slide or open: the acceleration-level problem of a body with few contacts, by enumeration.
 *
 *     M a = f + sum (n l_n + t l_t),     a_n = n a + curve_n,  a_t = t a + curve_t
 *     open    l = 0, a_n >= 0
 *     stick   a_n = 0, a_t = 0, l_n >= 0, |l_t| <= mu l_n
 *     slide   a_n = 0, l_t = -mu d l_n, l_n >= 0; d the direction of the slip or, if it begins now, of a_t
 *
 * An impact is the same with velocities: n v+ >= target, slip after the impact for d. Every combination is solved (at
 * most 4^4) and looked at. None or several different answers: Painleve's paradox, told to the caller.
 *
 * F. Pfeiffer, C. Glocker, "Multibody dynamics with unilateral contacts" (1996), chapter 5. */
#include "base/elementary.h"
#include "step/events.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2 * MOR_EVENT_CONTACTS };
#define FITS 1e-11 /* of the largest term: what counts as equal */

/* Solves A x = b (n x n) by elimination with full pivoting; dependent rows get x = 0. False: they contradict. */
static bool solve(int n, double A[ROWS][ROWS], double* b, double* x)
{
    int column[ROWS];
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        column[i] = i;
        for (int j = 0; j < n; j++) largest = mor_max(largest, fabs(A[i][j]));
    }
    double scale = 0.0;
    for (int i = 0; i < n; i++) scale = mor_max(scale, fabs(b[i]));
    int rank = 0;
    for (; rank < n; rank++) {
        int row = rank, col = rank;
        for (int i = rank; i < n; i++)
            for (int j = rank; j < n; j++)
                if (fabs(A[i][column[j]]) > fabs(A[row][column[col]])) row = i, col = j;
        if (!(fabs(A[row][column[col]]) > 1e-11 * largest)) break;
        for (int j = 0; j < n; j++) {
            double swap = A[rank][j];
            A[rank][j] = A[row][j], A[row][j] = swap;
        }
        double swap = b[rank];
        b[rank] = b[row], b[row] = swap;
        int c = column[rank];
        column[rank] = column[col], column[col] = c;
        for (int i = rank + 1; i < n; i++) {
            double f = A[i][column[rank]] / A[rank][column[rank]];
            for (int j = 0; j < n; j++) A[i][j] -= f * A[rank][j];
            b[i] -= f * b[rank];
        }
    }
    for (int i = rank; i < n; i++)
        if (fabs(b[i]) > FITS * (scale + 1e-12)) return false;
    for (int i = 0; i < n; i++) x[i] = 0.0;
    for (int i = rank - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < rank; j++) sum -= A[i][column[j]] * x[column[j]];
        x[column[i]] = sum / A[i][column[i]];
    }
    return true;
}

static double product(const mor_event_body* b, const double* a, const double* c)
{
    double turn = isfinite(b->inertia) ? a[2] * c[2] / b->inertia : 0.0;
    return (a[0] * c[0] + a[1] * c[1]) / b->mass + turn;
}

/* Forces of the mode such that rows keep to `free` + W l = target; then the change of velocity or the acceleration. */
static bool forces(const mor_event_body* b, const mor_event_gap* g, const double* free_n, const double* free_t,
                   const double* target, mor_event_mode* m)
{
    double A[ROWS][ROWS] = { { 0 } }, rhs[ROWS] = { 0 }, x[ROWS] = { 0 };
    const double* row[ROWS];
    int of[ROWS], n = 0;
    bool tangent[ROWS];
    for (int i = 0; i < m->count; i++) {
        if (m->what[i] == MOR_EVENT_OPEN) continue;
        row[n] = g[i].n, of[n] = i, tangent[n] = false, rhs[n++] = target[i] - free_n[i];
        if (m->what[i] == MOR_EVENT_STICK) row[n] = g[i].t, of[n] = i, tangent[n] = true, rhs[n++] = -free_t[i];
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            int i = of[c];
            A[r][c] = product(b, row[r], row[c]);
            if (!tangent[c] && m->what[i] == MOR_EVENT_SLIDE)
                A[r][c] -= g[i].mu * m->direction[i] * product(b, row[r], g[i].t);
        }
    if (!solve(n, A, rhs, x)) return false;
    memset(m->force, 0, sizeof m->force);
    for (int r = 0; r < n; r++) m->force[of[r]][tangent[r]] = x[r];
    for (int i = 0; i < m->count; i++)
        if (m->what[i] == MOR_EVENT_SLIDE) m->force[i][1] = -g[i].mu * m->direction[i] * m->force[i][0];
    memset(m->change, 0, sizeof m->change);
    for (int i = 0; i < m->count; i++)
        for (int d = 0; d < 3; d++) {
            double f = g[i].n[d] * m->force[i][0] + g[i].t[d] * m->force[i][1];
            m->change[d] += d < 2 ? f / b->mass : isfinite(b->inertia) ? f / b->inertia : 0.0;
        }
    return true;
}

static void free_rows(const mor_event_body* b, const mor_event_gap* g, int count, bool impact, double* n, double* t)
{
    for (int i = 0; i < count; i++) {
        n[i] = impact ? g[i].speed : g[i].curve_n + g[i].n[0] * b->gravity.x + g[i].n[1] * b->gravity.y;
        t[i] = impact ? g[i].slip : g[i].curve_t + g[i].t[0] * b->gravity.x + g[i].t[1] * b->gravity.y;
        if (!impact) n[i] += g[i].n[2] * b->spin_up, t[i] += g[i].t[2] * b->spin_up;
    }
}

bool mor_event_forces(const mor_event_body* b, const mor_event_gap* g, mor_event_mode* m)
{
    double n[MOR_EVENT_CONTACTS], t[MOR_EVENT_CONTACTS], zero[MOR_EVENT_CONTACTS] = { 0 };
    free_rows(b, g, m->count, false, n, t);
    if (!forces(b, g, n, t, zero, m)) return false;
    m->change[0] += b->gravity.x, m->change[1] += b->gravity.y, m->change[2] += b->spin_up;
    return true;
}

void mor_event_settle(const mor_event_body* b, const mor_event_gap* g, const mor_event_mode* mode, bool positions,
                      double* x)
{
    double n[MOR_EVENT_CONTACTS], t[MOR_EVENT_CONTACTS], zero[MOR_EVENT_CONTACTS] = { 0 };
    mor_event_mode m = *mode;
    for (int i = 0; i < m.count; i++) {
        n[i] = positions ? g[i].gap : g[i].speed;
        t[i] = g[i].slip;
        if (positions && m.what[i] == MOR_EVENT_STICK) m.what[i] = MOR_EVENT_SLIDE, m.direction[i] = 0;
        if (m.what[i] == MOR_EVENT_SLIDE) m.direction[i] = 0; /* along the normal alone */
    }
    if (!forces(b, g, n, t, zero, &m)) return;
    for (int d = 0; d < 3; d++) x[d] += m.change[d];
}

/* Do the forces fit what the mode says? */
static bool fits(const mor_event_gap* g, const double* n, const double* t, const double* target, bool impact,
                 const mor_event_mode* m)
{
    double scale = 1e-12;
    for (int i = 0; i < m->count; i++) {
        scale = mor_max(scale, mor_max(fabs(n[i]), fabs(t[i])));
        scale = mor_max(scale, fabs(target[i]));
    }
    double force = 1e-12;
    for (int i = 0; i < m->count; i++) force = mor_max(force, fabs(m->force[i][0]));
    for (int i = 0; i < m->count; i++) {
        double after_n = n[i], after_t = t[i];
        for (int d = 0; d < 3; d++) after_n += g[i].n[d] * m->change[d], after_t += g[i].t[d] * m->change[d];
        if (m->what[i] == MOR_EVENT_OPEN && after_n < target[i] - FITS * scale) return false;
        if (m->what[i] != MOR_EVENT_OPEN && m->force[i][0] < -FITS * force) return false;
        if (m->what[i] == MOR_EVENT_STICK && fabs(m->force[i][1]) > g[i].mu * m->force[i][0] + FITS * force)
            return false;
        bool begins = g[i].mu > 0.0 && (impact || fabs(g[i].slip) <= 1e-9);
        if (m->what[i] == MOR_EVENT_SLIDE && begins && m->direction[i] * after_t < -FITS * scale) return false;
    }
    return true;
}

int mor_event_find_mode(const mor_event_body* b, const mor_event_gap* g, const double* target, mor_event_mode* mode)
{
    double n[MOR_EVENT_CONTACTS], t[MOR_EVENT_CONTACTS], zero[MOR_EVENT_CONTACTS] = { 0 };
    bool impact = target != NULL;
    const double* least = impact ? target : zero;
    free_rows(b, g, mode->count, impact, n, t);
    int found = 0, cases = 1;
    mor_event_mode try = *mode;
    for (int i = 0; i < mode->count; i++) cases *= 4;
    for (int k = 0; k < cases; k++) {
        bool sensible = true;
        for (int i = 0, code = k; i < mode->count; i++, code /= 4) {
            bool slips = !impact && fabs(g[i].slip) > 1e-9, smooth = g[i].mu == 0.0;
            try.what[i] = code % 4 == 0 ? MOR_EVENT_OPEN : code % 4 == 1 ? MOR_EVENT_STICK : MOR_EVENT_SLIDE;
            try.direction[i] = code % 4 == 3 ? -1 : 1;
            if (try.what[i] == MOR_EVENT_STICK) sensible = sensible && !slips && !smooth;
            if (try.what[i] == MOR_EVENT_SLIDE && slips) sensible = sensible && try.direction[i] * g[i].slip > 0.0;
            if (try.what[i] == MOR_EVENT_SLIDE && smooth && !slips) sensible = sensible && try.direction[i] > 0;
        }
        if (!sensible || !forces(b, g, n, t, least, &try)) continue;
        if (!fits(g, n, t, least, impact, &try)) continue;
        double off = 0.0, size = 1e-12;
        for (int d = 0; d < 3; d++) {
            double arm = d == 2 ? b->size : 1.0;
            off = mor_max(off, arm * fabs(try.change[d] - mode->change[d]));
            size = mor_max(size, arm * fabs(try.change[d]));
        }
        if (found && off <= 1e-6 * size) continue;
        if (!found) *mode = try;
        found++;
    }
    if (found && !impact)
        mode->change[0] += b->gravity.x, mode->change[1] += b->gravity.y, mode->change[2] += b->spin_up;
    return found;
}
