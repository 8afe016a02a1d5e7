/* Position projection: overlaps and exceeded limits are undone by moving the bodies, never by speed.
 *
 *     min |dq|_M   such that   psi_i + G_i' dq >= 0   for all contacts,   +-(s + ds) within the limits,   phi + G' dq =
 *     0
 *
 * with the mass matrix of the present state. It is the frictionless step problem dq = M^-1 G p, 0 <= p _|_ G' dq + psi
 * >= 0 of an assembly beside the step, so the library's solvers do it. Contacts are found again after each pass, as
 * normals turn. The kinetic energy changes next to nothing (mor_tree_move); that and the potential energy added are
 * the projection's work.
 *
 * A pass moves only islands where something is deeper than MOR_PROJECTED of the smaller body's size: contacts at rest
 * are off by rounding, which the velocity rows of the next step take back (mor_contact_row.recovery).
 *
 * Bodies may have no place between others. The problem has no answer then, and methods that look for one return
 * impulses that grow without bound and differ by rounding, which threw such bodies about. Damped Jacobi sweeps are
 * bounded and treat all contacts alike: they give a compromise. Passes without progress end. Where bodies were deep
 * at the start of the step already, which is what an earlier projection could not undo, the sweeps come first.
 *
 * Before the first step this undoes what a scene overlaps at the start, however deep; in later steps, what the
 * linearisation of a step left. */
#include "step/project.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "formulation/stout.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "solver/without_equations.h"
#include "step/mechanism_energy.h"
#include "step/projection_energy.h"
#include "step/stabilise.h"

#include <math.h>
#include <string.h>

#define JOINT 1e-9    /* m, rad: what a projection may leave joints open; the rows of the next step make it speed */
#define ACCURACY 1e-3 /* of what is tolerated: of the answer */

/* Islands of more rows than this are swept a number of times in each pass: what is left is seen by the next one. */
enum { MANY = 600, SWEEPS = 60 };

#define FARTHEST 1.0 /* rad, and sizes of the largest body or depths: what a pass moves bodies on joints by */

/* Passes in a row that do not bring the worst down to PROGRESS of the least so far: bodies rock, as light ones between
 * heavy ones do, and are turned less from then on; after IDLE they are jammed. */
enum { IDLE = 4, ROCKING = 2 };
#define PROGRESS 0.95

/* The larger of `worst` and a violation, which is also that of the trees of two bodies [slots; < 0: the world]. */
static double count(const mor_world* w, double violation, int a, int b, double worst, double* of_tree)
{
    for (int side = 0; of_tree && side < 2; side++) {
        const int body = side ? b : a, tree = body < 0 ? -1 : w->bodies[body].tree;
        if (tree >= 0) of_tree[tree] = mor_max(of_tree[tree], violation);
    }
    return mor_max(worst, violation);
}

/* The deepest contact and the limit exceeded most, in units of what is tolerated. of_tree: the same of every tree; may
 * be NULL. */
static double worst_violation(const mor_world* w, const mor_buffer* contacts, double* of_tree)
{
    const mor_contact* c = contacts->data;
    double worst = 0.0;
    for (int i = 0; of_tree && i < w->tree_count; i++) of_tree[i] = 0.0;
    for (int i = 0; i < contacts->count; i++)
        if (c[i].gap < 0.0)
            worst = count(w, -c[i].gap / (MOR_PROJECTED * mor_contact_size(w, &c[i])), w->order[c[i].body[0]],
                          w->order[c[i].body[1]], worst, of_tree);
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        for (int j = 0; r->limits && j < r->model->joint_count; j++) {
            const mor_link_def* l = &r->model->links[r->model->link_of_joint[j]];
            const double by = mor_max(l->lower - r->s[j], r->s[j] - l->upper) / MOR_PROJECTED_LIMIT;
            worst = mor_max(worst, by);
            if (of_tree) of_tree[r->tree] = mor_max(of_tree[r->tree], by);
        }
    }
    for (int i = 0; i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        mor_joint_row row;
        if ((isinf(j->def.lower) && isinf(j->def.upper)) || !mor_joint_free_row(w, j, &row)) continue;
        const double by = mor_max(j->def.lower - row.phi, row.phi - j->def.upper) / MOR_PROJECTED_LIMIT;
        worst = count(w, by, j->body[0], j->body[1], worst, of_tree);
    }
    return worst;
}

/* How accurate the answer of an island must be [m]. */
static double accuracy(const mor_step* k, const mor_island* island)
{
    const mor_contact* contacts = k->contacts.data;
    double least = island->row_block_count > 0 ? JOINT * 0.1 : INFINITY;
    for (int c = 0; c < island->system.contact_count; c++) {
        double size = mor_contact_size(k->w, &contacts[island->system.contacts[c].contact]);
        least = mor_min(least, ACCURACY * MOR_PROJECTED * size);
    }
    return least;
}

void mor_projection_bias(const mor_island* island, double* bias, bool* keep)
{
    const mor_system* s = &island->system;
    for (int c = 0; c < s->contact_count; c++) {
        if (keep) keep[s->contacts[c].block] = true;
        bias[s->blocks[s->contacts[c].block].row] = s->contacts[c].gap;
    }
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        int block = s->contact_count + r, row = s->blocks[block].row;
        bool counts = b->kind == MOR_BLOCK_EQUATION || !isnan(b->gap);
        if (keep) keep[block] = counts;
        bool equation = b->kind == MOR_BLOCK_EQUATION;
        for (int d = 0; counts && d < b->dim; d++)
            bias[row + d] = !equation ? b->gap : island->wide ? 0.0 : b->phi[d]; /* wide: close_joints.c */
    }
}

/* Was a body of the island deep in something at the start of the step? `k`: the step, `beside`: of the island. */
static bool was_jammed(const mor_step* k, const mor_step* beside, const mor_island* island)
{
    const mor_contact *before = k->contacts.data, *now = beside->contacts.data;
    if (before == now) return false; /* before the first step */
    for (int i = 0; i < k->contacts.count; i++) {
        if (!(-before[i].gap > MOR_PROJECTED * mor_contact_size(k->w, &before[i]))) continue;
        for (int c = 0; c < island->system.contact_count; c++) {
            const int* body = now[island->system.contacts[c].contact].body;
            if (memcmp(body, before[i].body, sizeof before[i].body) == 0) return true;
        }
    }
    return false;
}

/* Where contacts act by touching, they stay within what is tolerated: what is moved clear of the other body would be in
 * the air for the next step, and fall in again. */
static void stay_in_touch(const mor_step* k, const mor_system* s, double* bias)
{
    const mor_contact* contacts = k->contacts.data;
    for (int c = 0; c < s->contact_count && k->w->formulation->accelerations; c++) {
        double size = mor_contact_size(k->w, &contacts[s->contacts[c].contact]);
        bias[s->blocks[s->contacts[c].block].row] += 0.5 * MOR_PROJECTED * size;
    }
}

/* A compromise where there is no place for all: among contacts and limits, while the joints stay closed. Jacobi sweeps
 * over the equations of joints would open them by as much, and closing them moves bodies into each other again. */
static void compromise(const mor_step* k, const mor_problem* problem, const mor_solve_options* o, double* z)
{
    const mor_solver* jacobi = mor_library_solver(k->w->library, "jacobi");
    const size_t mark = mor_arena_mark(k->arena);
    mor_without_equations w;
    memset(z, 0, (size_t)problem->size * sizeof *z);
    double* p = mor_without_equations_open(problem, &w, k->arena)
                    ? mor_arena_zero(k->arena, (size_t)w.problem.size, sizeof *p)
                    : NULL;
    if (p) {
        mor_solve(jacobi, NULL, &w.problem, o, p, k->arena);
        mor_without_equations_back(&w, p, z);
    } else mor_solve(jacobi, NULL, problem, o, z, k->arena);
    mor_arena_release(k->arena, mark);
}

/* dq of one island and the impulses p of all rows; false: not finite, or out of memory. `marked`: trees for which there
 * is a compromise only. */
static bool solve(const mor_step* k, const mor_island* island, bool jammed, bool* marked, double* dq, double* p)
{
    const mor_system* s = &island->system;
    size_t n = (size_t)s->row_count;
    bool* keep = mor_arena_zero(k->arena, (size_t)s->block_count, sizeof *keep);
    double* bias = mor_arena_zero(k->arena, n, sizeof *bias);
    double* z = mor_arena_zero(k->arena, n, sizeof *z);
    double* zero = mor_arena_zero(k->arena, (size_t)s->dof, sizeof *zero);
    const mor_solver* solver = mor_library_solver(k->w->library, n > MANY ? "nsgs" : "auto");
    if (!keep || !bias || !z || !zero || !solver) return false;
    mor_projection_bias(island, bias, keep);
    stay_in_touch(k, s, bias);
    mor_problem problem;
    int* row_of;
    if (!mor_step_problem(s, 0, bias, keep, k->arena, &problem, &row_of)) return false;
    problem.step.nu_free = zero;
    mor_solve_options o = mor_solve_options_default();
    o.tol = accuracy(k, island);
    o.limit = 1e3 * o.tol;
    o.interrupt = k->w->interrupt;
    if (n > MANY) o.max_iter = SWEEPS;
    const bool few = n <= MANY && mor_library_solver(k->w->library, "jacobi");
    bool solved = !(jammed && few) && mor_solve(solver, NULL, &problem, &o, z, k->arena).residual.velocity <= o.limit;
    if (few && !solved) {
        o.max_iter = SWEEPS;
        compromise(k, &problem, &o, z);
        for (int t = 0; marked && t < s->tree_count; t++) marked[island->tree_of[t]] |= island->row_block_count > 0;
    }
    for (int i = 0; i < problem.size; i++) p[row_of[i]] = z[i];
    mor_system still = *s;
    still.nu_free = zero;
    mor_system_velocity(&still, p, dq);
    double sum = 0.0;
    for (int i = 0; i < s->dof; i++) sum += dq[i];
    return isfinite(sum);
}

/* Does anything of the island exceed what is tolerated? Joints and limits count always: they are few. */
static bool needs_it(const mor_step* k, const mor_island* island)
{
    const mor_contact* contacts = k->contacts.data;
    if (island->row_block_count > 0) return true;
    for (int c = 0; c < island->system.contact_count; c++) {
        const mor_contact* contact = &contacts[island->system.contacts[c].contact];
        if (-contact->gap > MOR_PROJECTED * mor_contact_size(k->w, contact)) return true;
    }
    return false;
}

/* The part of dq that turns no body on a joint by more than FARTHEST, nor moves it so far. Rows that nearly contradict
 * each other ask for far more, which means nothing to joints at the end of it. */
static double trusted(const mor_world* w, const mor_island* island, const double* dq)
{
    double part = 1.0, reach = 0.0;
    for (int t = 0; t < island->system.tree_count; t++) {
        const int body = w->trees[island->tree_of[t]].body;
        for (int s = 0; body >= 0 && s < w->bodies[body].shape_count; s++)
            reach = mor_max(reach, w->bodies[body].shapes[s].geometry->radius);
    }
    for (int c = 0; c < island->system.contact_count; c++) reach = mor_max(reach, -island->system.contacts[c].gap);
    for (int t = 0; t < island->system.tree_count && island->row_block_count > 0; t++) {
        const double* d = dq + island->system.trees[t].offset;
        if (w->trees[island->tree_of[t]].kind != &mor_tree_free) continue;
        const double way = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const double turn = sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
        if (way * part > FARTHEST * reach) part = FARTHEST * reach / way;
        if (turn * part > FARTHEST) part = FARTHEST / turn;
    }
    return part;
}

/* Returns the kinetic energy added. */
static double move(mor_world* w, const mor_island* island, const double* dq)
{
    double sum = 0.0, low, high, kinetic;
    mor_island_energy(w, island, &kinetic, &low);
    for (int t = 0; t < island->system.tree_count; t++)
        sum += mor_tree_move(w, &w->trees[island->tree_of[t]], dq + island->system.trees[t].offset);
    mor_island_energy(w, island, &kinetic, &high);
    mor_projection_energy_add(w, island, kinetic, high - low + sum);
    return sum;
}

static bool assemble(mor_step* k, mor_buffer* contacts, bool stout, mor_step* beside)
{
    *beside = mor_step_beside(k);
    beside->stout = stout;
    mor_contact* c = contacts->data;
    for (int i = 0; i < contacts->count; i++) c[i].friction = 0.0; /* normal rows only; they are found again */
    beside->contacts = *contacts;
    return mor_assemble(beside);
}

bool mor_projection_assemble(mor_step* k, mor_buffer* contacts, mor_step* beside)
{
    return assemble(k, contacts, false, beside);
}

/* One pass over all islands; `rocks`: turned as little as can be. */
static mor_code pass(mor_step* k, mor_buffer* contacts, bool rocks, bool* marked,
                     const mor_projection_observer* observer)
{
    mor_step beside, stout = { .island_count = 0 };
    size_t mark = mor_arena_mark(k->arena);
    double before = mor_world_potential_energy(k->w);
    mor_code code = mor_projection_assemble(k, contacts, &beside) ? MOR_OK : MOR_SYSTEM;
    for (int i = 0; !code && i < beside.island_count; i++) {
        mor_step* in = &beside;
        const mor_island* island = &beside.islands[i];
        if (!needs_it(&beside, island)) continue;
        double* dq = mor_arena_alloc(k->arena, (size_t)island->system.dof * sizeof *dq);
        double* p = mor_arena_zero(k->arena, (size_t)island->system.row_count, sizeof *p);
        if (!dq || !p) code = MOR_SYSTEM;
        if (code || (!rocks && !solve(&beside, island, was_jammed(k, &beside, island), marked, dq, p))) continue;
        if (rocks || mor_turns_far(k->w, island, dq)) {
            if (stout.island_count == 0 && !assemble(k, contacts, true, &stout)) code = MOR_SYSTEM;
            if (code) continue;
            in = &stout, island = &stout.islands[i];
            if (!solve(in, island, was_jammed(k, in, island), marked, dq, p)) continue;
        }
        const double part = trusted(k->w, island, dq);
        for (int d = 0; part < 1.0 && d < island->system.dof; d++) dq[d] *= part;
        k->projected++;
        if (observer) code = observer->moves(observer->user, in, i, p, dq);
        k->projection_work += move(k->w, island, dq);
    }
    mor_arena_release(k->arena, mark);
    k->projection_work += mor_world_potential_energy(k->w) - before;
    return code;
}

/* Compromises between contacts and joints open the joints. Joints come first: they are closed again, and what overlaps
 * then is told (step/start.c, step/deep.c). */
static mor_code close_again(mor_step* k, mor_buffer* contacts, mor_detect_again detect, mor_error* error)
{
    const double tolerance = mor_joint_tolerance(k->w);
    if (k->w->options.stabilisation == MOR_STABILISE_NONE || !(mor_world_joint_error(k->w) > tolerance)) return MOR_OK;
    const double before = mor_world_potential_energy(k->w);
    mor_code code = mor_close_joints(k, tolerance);
    k->projection_work += mor_world_potential_energy(k->w) - before;
    return code ? code : detect(k, contacts, error);
}

/* What is kept while mechanisms may be moved in vain. Without joints: nothing. */
typedef struct kept {
    bool* marked;           /* per tree: there was a compromise for it only */
    double *before, *after; /* per tree: the worst violation */
    mor_trial start;
} kept;

static bool keep_start(const mor_step* k, const mor_buffer* contacts, kept* v)
{
    const size_t trees = (size_t)k->w->tree_count + 1;
    if (k->w->joints.count == 0) return true;
    v->marked = mor_arena_zero(k->arena, trees, sizeof *v->marked);
    v->before = mor_arena_alloc(k->arena, trees * sizeof *v->before);
    v->after = mor_arena_alloc(k->arena, trees * sizeof *v->after);
    if (!v->marked || !v->before || !v->after || !mor_trial_begin(k, &v->start)) return false;
    worst_violation(k->w, contacts, v->before);
    return true;
}

/* Mechanisms for which there was a compromise only, and that are no better off by it, stay where they were: they would
 * be moved to and fro in every step. */
static mor_code undo_if_vain(mor_step* k, mor_buffer* contacts, const kept* v, mor_detect_again detect,
                             mor_error* error)
{
    const double high = mor_world_potential_energy(k->w);
    double before = 0.0, after = 0.0;
    worst_violation(k->w, contacts, v->after);
    for (int t = 0; t < k->w->tree_count; t++) {
        if (!v->marked[t]) continue;
        before = mor_max(before, v->before[t]);
        after = mor_max(after, v->after[t]);
    }
    if (!(after > PROGRESS * before)) return MOR_OK;
    for (int t = 0; t < k->w->tree_count; t++)
        if (v->marked[t]) mor_trial_end_tree(k->w, &v->start, t);
    k->projection_work += mor_world_potential_energy(k->w) - high;
    return detect(k, contacts, error);
}

mor_code mor_project_positions(mor_step* k, mor_buffer* contacts, int passes, mor_detect_again detect,
                               const mor_projection_observer* observer, mor_error* error)
{
    mor_code code = MOR_OK;
    double least = INFINITY;
    int idle = 0;
    bool rocks = false;
    kept v = { 0 };
    for (int i = 0; i < passes && !code && idle < IDLE; i++) {
        bool open = i > 0 && k->w->joints.count > 0 && mor_world_joint_error(k->w) > JOINT; /* moved, but not closed */
        double worst = worst_violation(k->w, contacts, NULL);
        if (!open && !(worst > 1.0)) break;
        if (i == 0 && !keep_start(k, contacts, &v)) return MOR_SYSTEM;
        idle = worst > 1.0 && !(worst < PROGRESS * least) ? idle + 1 : 0;
        least = mor_min(least, worst);
        if (idle == ROCKING && !rocks) rocks = true, idle = 0, least = INFINITY;
        code = pass(k, contacts, rocks, v.marked, observer);
        if (!code) code = detect(k, contacts, error);
    }
    if (!code && v.marked && k->projected) code = close_again(k, contacts, detect, error);
    if (!code && v.marked && k->projected) code = undo_if_vain(k, contacts, &v, detect, error);
    return code;
}
