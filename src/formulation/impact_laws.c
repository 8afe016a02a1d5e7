/* The impact laws by name, and what they are made of: one solve at the moment of the impact, and its work. */
#include "base/elementary.h"
#include "formulation/impact.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <string.h>

static const mor_impact_law* const laws[] = { &mor_impact_reflections,   &mor_impact_newton,
                                              &mor_impact_poisson,       &mor_impact_tangential,
                                              &mor_impact_routh_poisson, &mor_impact_routh_stronge };

const mor_impact_law* mor_impact_law_at(int i)
{
    return i >= 0 && (size_t)i < sizeof laws / sizeof *laws ? laws[i] : NULL;
}

int mor_impact_law_index(const char* name)
{
    for (int i = 0; mor_impact_law_at(i); i++)
        if (strcmp(laws[i]->name, name) == 0) return i;
    return -1;
}

const char* mor_impact_law_name(const mor_impact_law* law) { return law->name; }
const char* mor_impact_law_summary(const mor_impact_law* law) { return law->summary; }
const char* mor_impact_law_reference(const mor_impact_law* law) { return law->reference; }

/* G' nu of one row. */
static double row_speed(const mor_system* s, const mor_block* b, int d, const double* nu)
{
    double u = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) u += J[m] * nu[t->offset + m];
    }
    return u;
}

void mor_impact_speeds(const mor_system* s, const double* nu, double* speed)
{
    for (int c = 0; c < s->contact_count; c++)
        speed[c] = s->contacts[c].drift[0] + row_speed(s, &s->blocks[s->contacts[c].block], 0, nu);
}

/* Joints keep the velocities they have. Limits that are reached hold; motors and dry friction have no time to act. */
static void joint_rows(mor_impact* k)
{
    const mor_system* s = k->s;
    for (int i = s->contact_count; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        bool bounded = b->kind != MOR_BLOCK_EQUATION;
        k->keep[i] = !bounded || isinf(b->upper) || isinf(b->lower);
        for (int d = 0; d < b->dim; d++)
            k->bias[b->row + d] = bounded ? (s->bias ? s->bias[b->row + d] : 0.0) : -row_speed(s, b, d, k->nu);
    }
}

void mor_impact_solve(mor_impact* k, const bool* act, const double* target, double* nu, double* p)
{
    mor_system s = *k->s;
    memset(k->bias, 0, (size_t)s.row_count * sizeof *k->bias);
    for (int c = 0; c < s.contact_count; c++) {
        const mor_contact_row* row = &s.contacts[c];
        const mor_block* b = &s.blocks[row->block];
        k->keep[row->block] = act[c];
        for (int d = 0; d < b->dim; d++) k->bias[b->row + d] = row->drift[d];
        for (int d = 1; k->slip && d < b->dim; d++) k->bias[b->row + d] += k->slip[b->row + d];
        k->bias[b->row] -= target[c];
    }
    joint_rows(k);
    s.nu_free = k->nu;
    memset(p, 0, (size_t)s.row_count * sizeof *p);
    mor_answer answer = { .nu = nu, .impulses = p };
    size_t mark = mor_arena_mark(k->stage->arena);
    mor_report report = mor_step_solve(&s, k->directions, k->bias, k->keep, k->stage, &answer);
    mor_arena_release(k->stage->arena, mark);
    report.iterations += k->report.iterations;
    bool worse = report.status != MOR_SOLVED || report.residual.velocity > k->report.residual.velocity;
    if (k->report.status == MOR_SOLVED && worse) k->report = report;
    k->report.iterations = report.iterations;
}

double mor_impact_work(const mor_impact* k, const double* p, const double* nu)
{
    const mor_system* s = k->s;
    double work = 0.0;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        const mor_contact_row* row = i < s->contact_count ? &s->contacts[i] : NULL;
        for (int d = 0; d < b->dim; d++) {
            if (p[b->row + d] == 0.0) continue;
            double drift = row ? row->drift[d] : 0.0;
            double mean = 0.5 * (row_speed(s, b, d, k->nu) + row_speed(s, b, d, nu));
            work += p[b->row + d] * (mean + drift);
        }
    }
    return work;
}

/* The part s of the way from the plastic answer to trial at which the work is `most`: W(s) is a convex parabola. */
static double part_of_way(const mor_impact* k, double most)
{
    double w0 = mor_impact_work(k, k->p_plastic, k->plastic), w1 = mor_impact_work(k, k->p, k->trial);
    if (w1 <= most) return 1.0;
    /* the middle gives the curvature */
    for (int i = 0; i < k->s->row_count; i++) k->u[i] = 0.5 * (k->p[i] + k->p_plastic[i]);
    for (int i = 0; i < k->s->dof; i++) k->v[i] = 0.5 * (k->trial[i] + k->plastic[i]);
    double middle = mor_impact_work(k, k->u, k->v);
    double a = 2.0 * (w0 + w1 - 2.0 * middle), b = w1 - w0 - a, c = w0 - most; /* a s^2 + b s + c = 0, c <= 0 */
    double root = sqrt(mor_max(b * b - 4.0 * a * c, 0.0));
    double s = b >= 0.0 ? (b + root > 0.0 ? -2.0 * c / (b + root) : 0.0) : (root - b) / (2.0 * a);
    return mor_min(mor_max(s, 0.0), 1.0);
}

void mor_impact_limit(mor_impact* k, double most)
{
    double part = part_of_way(k, most);
    for (int i = 0; part < 1.0 && i < k->s->row_count; i++)
        k->p[i] = k->p_plastic[i] + part * (k->p[i] - k->p_plastic[i]);
    for (int i = 0; part < 1.0 && i < k->s->dof; i++)
        k->trial[i] = k->plastic[i] + part * (k->trial[i] - k->plastic[i]);
}

void mor_impact_take_back(mor_impact* k)
{
    double gain = mor_impact_work(k, k->p, k->trial), first = mor_impact_work(k, k->p, k->nu); /* p' u- */
    if (!(gain > 0.0) || !(first < 0.0)) return;
    double part = -first / (gain - first); /* W(s) = s p' u- + s^2 (W - p' u-) */
    for (int i = 0; i < k->s->row_count; i++) k->p[i] *= part;
    for (int i = 0; i < k->s->dof; i++) k->trial[i] = k->nu[i] + part * (k->trial[i] - k->nu[i]);
}

void mor_impact_accept(mor_impact* k, const double* nu, const double* p)
{
    memcpy(k->nu, nu, (size_t)k->s->dof * sizeof *nu);
    for (int i = 0; i < k->s->row_count; i++) k->impulses[i] += p[i];
}
