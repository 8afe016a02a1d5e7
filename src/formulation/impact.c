/* A step in which contacts bounce: restitution acts at the moment of the impact.
 *
 * Within a step M and G stay, velocities change linearly between impacts, and a gap is
 *
 *     psi(t) = psi + integral of G_n' nu + d(psi)/dt
 *
 * 1. The formulation solves the rest of the step without restitution. If no contact with e > 0 pushes, or none that
 *    comes faster than v_rest, that is the answer (where none is as fast, nothing else is made ready).
 * 2. Otherwise the motion up to the first of these contacts to close is that of the island without them; the moment is
 *    the root of a quadratic.
 * 3. Velocities jump there by the impact law (impact_*.c) of that contact, which sees every contact that is closed at
 *    the moment. The rest of the step begins again at 1.
 *
 * What is nearer than 1e-7 of the body's radius counts as closed: velocities after a bounce are good to the solver's
 * tolerance, and a box that fell flat comes down again with corners that much apart. One after the other would turn it.
 *
 * Contacts that come slower than v_rest count as e = 0: they end the bouncing. After 16 + 4 n impacts in a step the
 * rest of it is plain.
 *
 * Positions. The semi-implicit step moves with the velocity of its end. In flight that keeps not the energy E but
 * E - g h v/2, so a bounce, which turns v round, would change E or the height by g h v. A tree that nothing pushes
 * therefore moves with the mean of its velocities, along its parabola, exactly; one that is pushed moves with the
 * velocity of the end, as always, because the rows are about that. Where the parabola would end below a contact, the
 * tree moves as always, too. answer->move is the displacement of the step over h. */
#include "base/elementary.h"
#include "formulation/impact.h"
#include "formulation/step_problem.h"

#include <math.h>
#include <string.h>

#define CLOSED 1e-5 /* of epsilon, a hundredth of the body's radius: what is as near touches */
#define TOUCH 1e-9  /* of the way a contact makes in the step, likewise */

typedef struct work {
    const mor_formulation* formulation;
    const void* options;
    const mor_system* s;             /* the whole step */
    mor_system rest;                 /* what is left of it */
    mor_solve_stage *stage, *beside; /* of the formulation; of the impact itself */
    mor_answer* answer;              /* of the rest; its arrays are the caller's */
    mor_contact_row* rows;           /* of the rest: gaps as they are now, e = 0 */
    mor_block* blocks;               /* bounds of motors and friction by the time that is left */
    double *nu, *nu_free;            /* now; at the end of free motion */
    double* change;                  /* of the velocities in a step of free motion */
    double *path, *impulses;         /* sums over the step */
    double* quiet_motion;            /* velocities at the end of the rest if the contacts below do not act */
    double* quiet_impulses;
    double *from, *bend, *toward; /* per tree velocity: first and second order of the motion; scratch */
    double *speed, *speed_end, *restitution;
    double* bias;
    bool *keep, *bounces, *settled, *closed;
    bool* pushed; /* per tree */
    mor_impact impact;
    mor_report report;
} work;

/* ---------------------------------------------------------------------------------- motion */

/* Trees on which impulses act, more than the solver's error and 1e-6 of what gravity gives in the step. */
static void find_pushed(const mor_system* s, const double* p, bool* pushed)
{
    const double least = mor_max(10.0 * s->tol, 1e-6 * s->h * mor_norm(s->gravity));
    for (int t = 0; t < s->tree_count; t++) pushed[t] = false;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        bool acts = false;
        const double* W = s->diagonal + s->diagonal_start[i];
        for (int d = 0; d < b->dim; d++) acts = acts || fabs(p[b->row + d]) * W[d * (b->dim + 1)] > least;
        for (int e = b->entry; acts && e < b->entry + b->entry_count; e++) pushed[s->entries[e].tree] = true;
    }
}

/* G_n' x of a contact. */
static double along(const mor_system* s, int c, const double* x)
{
    const mor_block* b = &s->blocks[s->contacts[c].block];
    double sum = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start;
        for (int m = 0; m < t->dof; m++) sum += J[m] * x[t->offset + m];
    }
    return sum;
}

/* out = displacement over the time h from nu to end: the mean of both for trees that are not pushed. */
static void displacement(const mor_system* s, const bool* pushed, const double* nu, const double* end, double h,
                         double* out)
{
    for (int t = 0; t < s->tree_count; t++) {
        int first = s->trees[t].offset, last = first + s->trees[t].dof;
        for (int i = first; i < last; i++) out[i] = h * (pushed[t] ? end[i] : 0.5 * (nu[i] + end[i]));
    }
}

/* Displacement of the rest of a step that ends with `end`: no contact may end below the surface because of a parabola.
 */
static void last_displacement(const mor_system* s, bool* pushed, const double* nu, const double* end, double* out)
{
    for (bool again = true; again;) {
        again = false;
        displacement(s, pushed, nu, end, s->h, out);
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* b = &s->blocks[s->contacts[c].block];
            double gap = mor_max(s->contacts[c].gap, 0.0) + s->h * s->contacts[c].drift[0] + along(s, c, out);
            for (int e = b->entry; gap < 0.0 && e < b->entry + b->entry_count; e++) {
                again = again || !pushed[s->entries[e].tree];
                pushed[s->entries[e].tree] = true;
            }
        }
    }
}

/* `move` of a step whose contacts do not bounce. */
static void fly(const mor_system* s, mor_arena* arena, mor_answer* answer)
{
    size_t mark = mor_arena_mark(arena);
    bool* pushed = mor_arena_alloc(arena, (size_t)s->tree_count * sizeof *pushed);
    if (pushed) {
        find_pushed(s, answer->impulses, pushed);
        last_displacement(s, pushed, s->nu, answer->nu, answer->move);
        for (int i = 0; i < s->dof; i++) answer->move[i] /= s->h;
    } else {
        memcpy(answer->move, answer->nu, (size_t)s->dof * sizeof(double));
    }
    mor_arena_release(arena, mark);
}

/* ------------------------------------------------------------------------------ the first to close */

/* Adds contacts that push by those impulses and may bounce; the number of new ones. */
static int add_bouncing(work* k, const double* impulses)
{
    const mor_system* s = &k->rest;
    int count = 0;
    for (int c = 0; c < s->contact_count; c++) {
        double fastest = -mor_min(k->speed[c], k->speed_end[c]);
        if (k->bounces[c] || !(k->restitution[c] > 0.0) || k->settled[c] || !(fastest > s->v_rest) ||
            !(impulses[s->blocks[s->contacts[c].block].row] > 0.0))
            continue;
        k->bounces[c] = true;
        count++;
    }
    return count;
}

/* Contacts that push in the plain answer and may bounce; their number. */
static int find_bouncing(work* k)
{
    mor_impact_speeds(&k->rest, k->nu, k->speed);
    mor_impact_speeds(&k->rest, k->nu_free, k->speed_end);
    memset(k->bounces, 0, (size_t)k->rest.contact_count * sizeof *k->bounces);
    return add_bouncing(k, k->answer->impulses);
}

/* The motion of the rest of the step if the bouncing contacts did not act. */
static bool solve_without_these(work* k)
{
    const mor_system* s = &k->rest;
    bool others = s->block_count > s->contact_count;
    mor_bias_drift(s, k->bias);
    for (int i = s->contact_count; i < s->block_count; i++) k->keep[i] = true;
    for (int c = 0; c < s->contact_count; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        bool acts = k->answer->impulses[b->row] > 0.0 && !k->bounces[c];
        k->keep[row->block] = !k->bounces[c] && (!k->formulation->groups || acts || k->answer->held[c]);
        k->bias[b->row] -= mor_min(-mor_max(row->gap, 0.0) / s->h, row->recovery);
        others = others || acts;
    }
    memcpy(k->quiet_motion, k->nu_free, (size_t)s->dof * sizeof(double));
    memset(k->quiet_impulses, 0, (size_t)s->row_count * sizeof(double));
    if (!others) return true;
    for (int i = 0; i < s->block_count; i++)
        for (int d = 0; k->keep[i] && d < s->blocks[i].dim; d++)
            k->quiet_impulses[s->blocks[i].row + d] = k->answer->impulses[s->blocks[i].row + d];
    mor_answer answer = { .nu = k->quiet_motion, .impulses = k->quiet_impulses };
    size_t mark = mor_arena_mark(k->stage->arena);
    mor_report report = mor_step_solve(s, k->impact.directions, k->bias, k->keep, k->beside, &answer);
    mor_arena_release(k->stage->arena, mark);
    k->report.iterations += report.iterations;
    return report.status == MOR_SOLVED || report.status == MOR_NOT_CONVERGED;
}

/* Without the bouncing contacts others may push that bounce as well: balls that an earlier impact keeps away from each
 * other. They must not act before it. */
static bool solve_without(work* k)
{
    do
        if (!solve_without_these(k)) return false;
    while (add_bouncing(k, k->quiet_impulses) > 0);
    return true;
}

/* When a contact closes in that motion; HUGE_VAL: it does not. */
static double closes(const work* k, int c)
{
    const mor_system* s = &k->rest;
    double gap = s->contacts[c].gap, w = s->contacts[c].drift[0] + along(s, c, k->from), a = along(s, c, k->bend);
    double way = s->h * (fabs(w) + s->h * fabs(a)), t = HUGE_VAL;
    if (gap <= mor_max(TOUCH * way, 0.0)) {
        if (w < 0.0) return 0.0;
        t = a < 0.0 ? -w / a : HUGE_VAL;
    } else {
        double d = w * w - 4.0 * a * gap, below = sqrt(mor_max(d, 0.0)) - w;
        if (d >= 0.0 && below > 0.0) t = 2.0 * gap / below;
    }
    return t <= s->h ? t : HUGE_VAL;
}

/* The moment of the next impact, or HUGE_VAL; *first is the contact. Contacts that are too slow are settled. */
static double next_impact(work* k, int* first)
{
    const mor_system* s = &k->rest;
    find_pushed(s, k->quiet_impulses, k->pushed);
    for (int t = 0; t < s->tree_count; t++)
        for (int i = s->trees[t].offset; i < s->trees[t].offset + s->trees[t].dof; i++) {
            double change = k->quiet_motion[i] - k->nu[i];
            k->from[i] = k->pushed[t] ? k->quiet_motion[i] : k->nu[i];
            k->bend[i] = k->pushed[t] ? 0.0 : 0.5 * change / s->h;
            k->toward[i] = change / s->h;
        }
    double soonest = HUGE_VAL;
    for (int c = 0; c < s->contact_count; c++) {
        if (!k->bounces[c]) continue;
        double t = closes(k, c);
        if (!isfinite(t)) continue;
        double speed = k->speed[c] + t * along(s, c, k->toward);
        if (-speed <= s->v_rest) k->settled[c] = true;
        else if (t < soonest) soonest = t, *first = c;
    }
    return soonest;
}

/* -------------------------------------------------------------------------------- the step */

/* To the moment t of the rest: positions, gaps, velocities, impulses of what rests meanwhile. */
static void go_to(work* k, double t)
{
    const mor_system* s = &k->rest;
    double part = s->h > 0.0 ? t / s->h : 0.0;
    for (int i = 0; i < s->dof; i++) {
        k->toward[i] = t * k->from[i] + t * t * k->bend[i];
        k->path[i] += k->toward[i];
    }
    for (int c = 0; c < s->contact_count; c++) k->rows[c].gap += t * s->contacts[c].drift[0] + along(s, c, k->toward);
    for (int i = 0; i < s->dof; i++) k->nu[i] += part * (k->quiet_motion[i] - k->nu[i]);
    for (int i = 0; i < s->row_count; i++) k->impulses[i] += part * k->quiet_impulses[i];
    k->rest.h -= t;
    k->rest.time += t;
}

/* Contacts that touch now; of pairs with separating planes only those on the plane that holds. */
static void find_closed(work* k, int first)
{
    const mor_system* s = &k->rest;
    for (int c = 0; c < s->contact_count; c++) {
        mor_contact_row* row = &k->rows[c];
        double near = isfinite(row->epsilon) ? CLOSED * row->epsilon : 0.0;
        near = mor_max(near, TOUCH * k->s->h * fabs(k->speed[c]));
        k->closed[c] = row->gap <= near && (!k->formulation->groups || k->answer->held[c]);
        if (c == first) k->closed[c] = true;
        if (k->closed[c] && row->gap > 0.0) row->gap = 0.0;
    }
}

static void bounce(work* k, int first)
{
    mor_impact* i = &k->impact;
    const mor_impact_law* law = mor_impact_law_at(k->s->contacts[first].impact);
    i->report = (mor_report){ .status = MOR_SOLVED };
    i->slow = k->s->v_rest;
    i->stage->coarse = 0.0;
    (law ? law : mor_impact_law_at(0))->apply(i);
    if (i->report.status != MOR_SOLVED && k->report.status == MOR_SOLVED) k->report = i->report;
    k->report.iterations += i->report.iterations;
}

/* What is left of the step, for the formulation. */
static void prepare_rest(work* k)
{
    mor_system* r = &k->rest;
    double share = r->h / k->s->h;
    for (int i = 0; i < r->dof; i++) k->nu_free[i] = k->nu[i] + share * k->change[i];
    mor_impact_speeds(r, k->nu, k->speed);
    for (int c = 0; c < r->contact_count; c++) k->rows[c].approach = k->speed[c];
    for (int i = r->contact_count; i < r->block_count; i++) {
        k->blocks[i].lower = share * k->s->blocks[i].lower;
        k->blocks[i].upper = share * k->s->blocks[i].upper;
    }
    memcpy(k->answer->nu, k->nu_free, (size_t)r->dof * sizeof(double));
    for (int i = 0; i < r->row_count; i++) k->answer->impulses[i] *= share;
    memset(k->answer->held, 0, (size_t)r->contact_count * sizeof(bool));
}

/* The velocities a step begins with. A free body turns with one velocity in the step, that of the middle
 * (model/tree.c): kinetic energy is counted by the inertia there. */
static void first_velocities(const mor_system* s, double* nu)
{
    memcpy(nu, s->nu, (size_t)s->dof * sizeof *nu);
    for (int t = 0; t < s->tree_count; t++)
        for (int d = 3; s->trees[t].dof == 6 && d < 6; d++)
            nu[s->trees[t].offset + d] = s->nu_free[s->trees[t].offset + d];
}

static bool make_room(work* k)
{
    const mor_system* s = k->s;
    mor_arena* a = k->stage->arena;
    size_t contacts = (size_t)s->contact_count, blocks = (size_t)s->block_count, rows = (size_t)s->row_count,
           dof = (size_t)s->dof;
    mor_impact* i = &k->impact;
    double** of_dof[] = { &k->nu,           &k->nu_free, &k->change, &k->path,
                          &k->quiet_motion, &k->from,    &k->bend,   &k->toward,
                          &i->trial,        &i->plastic, &i->v,      &i->w };
    double** of_row[] = { &k->impulses, &k->quiet_impulses, &k->bias, &i->bias, &i->p, &i->p_plastic, &i->u };
    double** of_contact[] = { &k->speed, &k->speed_end, &k->restitution, &i->speed, &i->target };
    bool** flags[] = { &k->bounces, &k->settled, &k->closed, &i->act };
    bool ok = true;
    for (size_t n = 0; n < sizeof of_dof / sizeof *of_dof; n++)
        ok = (*of_dof[n] = mor_arena_zero(a, dof + 1, sizeof(double))) && ok;
    for (size_t n = 0; n < sizeof of_row / sizeof *of_row; n++)
        ok = (*of_row[n] = mor_arena_zero(a, rows + 1, sizeof(double))) && ok;
    for (size_t n = 0; n < sizeof of_contact / sizeof *of_contact; n++)
        ok = (*of_contact[n] = mor_arena_zero(a, contacts + 1, sizeof(double))) && ok;
    for (size_t n = 0; n < sizeof flags / sizeof *flags; n++)
        ok = (*flags[n] = mor_arena_zero(a, contacts + 1, sizeof(bool))) && ok;
    k->keep = mor_arena_zero(a, blocks + 1, sizeof(bool));
    i->keep = mor_arena_zero(a, blocks + 1, sizeof(bool));
    k->pushed = mor_arena_zero(a, (size_t)s->tree_count + 1, sizeof(bool));
    k->rows = mor_arena_alloc(a, (contacts + 1) * sizeof *k->rows);
    k->blocks = mor_arena_alloc(a, (blocks + 1) * sizeof *k->blocks);
    if (!ok || !k->keep || !i->keep || !k->pushed || !k->rows || !k->blocks) return false;
    memcpy(k->rows, s->contacts, contacts * sizeof *k->rows);
    memcpy(k->blocks, s->blocks, blocks * sizeof *k->blocks);
    first_velocities(s, k->nu);
    memcpy(k->change, s->nu_free, dof * sizeof(double));
    for (int n = 0; n < s->dof; n++) k->change[n] -= k->nu[n];
    for (size_t c = 0; c < contacts; c++) {
        k->restitution[c] = k->rows[c].restitution;
        k->rows[c].restitution = 0.0;
    }
    k->rest = *s;
    k->rest.contacts = k->rows;
    k->rest.blocks = k->blocks;
    k->rest.nu = k->nu;
    k->rest.nu_free = k->nu_free;
    i->s = &k->rest;
    i->stage = k->beside;
    i->directions = s->cones || k->beside != k->stage ? 0 : s->directions;
    i->closed = k->closed;
    i->restitution = k->restitution;
    i->nu = k->nu;
    i->impulses = k->impulses;
    return true;
}

/* A pair that bounced on a plane is left on that plane, unless it pushes on another one after that. */
static void hold_planes(const work* k, const double* last)
{
    const mor_system* s = k->s;
    for (int c = 0; c < s->contact_count; c++) {
        int group = s->contacts[c].group, row = s->blocks[s->contacts[c].block].row;
        if (!group || k->answer->held[c] || !(k->impulses[row] > 0.0)) continue;
        bool pushes = false;
        for (int i = 0; i < s->contact_count; i++)
            if (s->contacts[i].group == group && last[s->blocks[s->contacts[i].block].row] > 0.0) pushes = true;
        for (int i = 0; i < s->contact_count && !pushes; i++)
            if (s->contacts[i].group == group) k->answer->held[i] = s->contacts[i].plane == s->contacts[c].plane;
    }
}

/* The answer of the rest becomes that of the step. */
static mor_report finish(work* k, const mor_report* last, const double* end, const double* p)
{
    const mor_system *s = k->s, *r = &k->rest;
    find_pushed(r, p, k->pushed);
    last_displacement(r, k->pushed, k->nu, end, k->toward);
    if (k->formulation->groups) hold_planes(k, p);
    for (int i = 0; i < s->row_count; i++) k->impulses[i] += p[i];
    for (int i = 0; k->answer->move && i < s->dof; i++) k->answer->move[i] = (k->path[i] + k->toward[i]) / s->h;
    memmove(k->answer->nu, end, (size_t)s->dof * sizeof(double));
    memcpy(k->answer->impulses, k->impulses, (size_t)s->row_count * sizeof(double));
    mor_report report = k->report.status != MOR_SOLVED ? k->report : *last;
    report.iterations = last->iterations + k->report.iterations;
    return report;
}

static mor_report run(work* k)
{
    mor_report last = { .status = MOR_SOLVED };
    int most = 16 + 4 * k->s->contact_count;
    for (int impact = 0;; impact++) {
        prepare_rest(k);
        last = k->formulation->step(&k->rest, k->options, k->stage, k->answer);
        if (last.status != MOR_SOLVED && last.status != MOR_NOT_CONVERGED) break;
        if (impact == most || find_bouncing(k) == 0) break;
        int first = -1;
        if (!solve_without(k)) break;
        double t = next_impact(k, &first);
        k->report.iterations += last.iterations;
        int settled = 0, bouncing = 0;
        for (int c = 0; c < k->s->contact_count; c++)
            settled += k->bounces[c] && k->settled[c], bouncing += k->bounces[c];
        if (settled == bouncing) { /* all are too slow: the plain answer is right */
            k->report.iterations -= last.iterations;
            break;
        }
        if (settled) continue; /* they push in the motion up to the next impact */
        if (first < 0) return finish(k, &last, k->quiet_motion, k->quiet_impulses); /* none closes in this step */
        go_to(k, t);
        mor_impact_speeds(&k->rest, k->nu, k->speed);
        find_closed(k, first);
        bounce(k, first);
        if (!(k->rest.h > 1e-9 * k->s->h)) { /* the impact ends the step */
            memset(k->answer->impulses, 0, (size_t)k->s->row_count * sizeof(double));
            last.iterations = 0;
            return finish(k, &last, k->nu, k->answer->impulses);
        }
    }
    return finish(k, &last, k->answer->nu, k->answer->impulses);
}

/* The impact itself where the formulation's solver does not take steps. */
static mor_report run_auto(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    mor_solve_options o = mor_solve_options_default();
    o.tol = *(const double*)stage->user;
    o.warm = warm;
    return mor_solve(mor_solver_builtin("auto"), NULL, problem, &o, z, stage->arena);
}

/* No contact comes faster than v_rest, now or after free motion: none bounces whatever pushes. The step without
 * restitution, in a copy of its rows. False: one may, or no memory. */
static bool is_too_slow(const mor_system* s, mor_arena* arena, mor_system* plain)
{
    mor_contact_row* rows = mor_arena_alloc(arena, ((size_t)s->contact_count + 1) * sizeof *rows);
    double* nu = mor_arena_alloc(arena, ((size_t)s->dof + 1) * sizeof *nu);
    if (!rows || !nu) return false;
    first_velocities(s, nu);
    for (int c = 0; c < s->contact_count; c++) {
        rows[c] = s->contacts[c];
        rows[c].restitution = 0.0;
        rows[c].approach = rows[c].drift[0] + along(s, c, nu);
        double fastest = -mor_min(rows[c].approach, rows[c].drift[0] + along(s, c, s->nu_free));
        if (s->contacts[c].restitution > 0.0 && !(fastest <= s->v_rest)) return false;
    }
    *plain = *s;
    plain->contacts = rows;
    plain->nu = nu;
    return true;
}

mor_report mor_impact_step(const mor_formulation* f, const void* options, const mor_system* s, mor_solve_stage* stage,
                           mor_answer* answer)
{
    bool any = false;
    for (int c = 0; c < s->contact_count && !any; c++) any = s->contacts[c].restitution > 0.0;
    if (!any || !f->impacts) {
        mor_report plain = f->step(s, options, stage, answer);
        if (answer->move && f->impacts) fly(s, stage->arena, answer);
        return plain;
    }
    size_t mark = mor_arena_mark(stage->arena);
    mor_system slow;
    if (is_too_slow(s, stage->arena, &slow)) {
        mor_report plain = f->step(&slow, options, stage, answer);
        if (answer->move) fly(&slow, stage->arena, answer);
        mor_arena_release(stage->arena, mark);
        return plain;
    }
    mor_arena_release(stage->arena, mark);
    work k = { .formulation = f,
               .options = options,
               .s = s,
               .stage = stage,
               .answer = answer,
               .report = { .status = MOR_SOLVED } };
    mor_solve_stage beside = { .solve = run_auto, .arena = stage->arena, .user = (void*)&s->tol };
    k.beside = f->produces & (MOR_STEP_PYRAMID | MOR_STEP_CONE) ? stage : &beside;
    mor_report report = make_room(&k) ? run(&k) : mor_report_no_memory();
    mor_arena_release(stage->arena, mark);
    return report;
}
