/* Which trees move smoothly in a step, and moving them.
 *
 * Trees coupled by joints, springs or contacts form a group. A group takes the chosen integrator if nothing in it is
 * one-sided or bounded in this step: no motor, no dry friction, no joint to a kinematic body, and no contact or limit
 * with an impulse. Whether contacts and limits are idle is asked of the complementarity problem itself: the formulation
 * solves the island, and if no impulse changes a velocity by more than the solver's tolerance the answer is put aside.
 * Every other group takes the semi-implicit step through the formulation, at order 1, and is counted.
 *
 * A step that does not converge is halved, again and again as often as the option `halvings` says; parts join again as
 * soon as they can. */
#include "base/elementary.h"
#include "step/smooth.h"

#include "base/union_find.h"
#include "formulation/rows.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "model/motion.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- groups */

/* The trees of a joint's bodies; -1: none. False if one of them is kinematic. */
static bool joint_trees(const mor_world* w, const mor_joint* j, int tree[2])
{
    bool free = true;
    for (int i = 0; i < 2; i++) {
        tree[i] = j->body[i] < 0 ? -1 : w->bodies[j->body[i]].tree;
        if (j->body[i] >= 0 && w->bodies[j->body[i]].kind == MOR_KINEMATIC) free = false;
    }
    if (tree[0] < 0) tree[0] = tree[1], tree[1] = -1;
    if (tree[1] == tree[0]) tree[1] = -1;
    return free;
}

/* Rows without bounds are springs and dampers. */
static bool is_spring(double lower, double upper) { return lower == -INFINITY && upper == INFINITY; }

/* The trees that stand for springs in the semi-implicit step (model/tree.c) have no motion of their own. */
static bool moves(const mor_tree* t) { return t->kind != &mor_tree_spring && t->dof > 0; }

/* Groups: trees coupled by joints, springs or contacts. */
static void find_groups(const mor_step* k, int* parent)
{
    const mor_world* w = k->w;
    const mor_joint* joints = w->joints.data;
    int tree[2];
    mor_sets_begin(parent, w->tree_count);
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        if (tree[1] >= 0) mor_sets_unite(parent, tree[0], tree[1]);
    }
    for (int i = 0; i < k->island_count; i++)
        for (int t = 1; t < k->islands[i].system.tree_count; t++)
            mor_sets_unite(parent, k->islands[i].tree_of[0], k->islands[i].tree_of[t]);
    for (int i = 0; i < w->tree_count; i++) parent[i] = mor_sets_root(parent, i);
}

mor_code mor_smooth_plan(mor_step* k)
{
    const mor_world* w = k->w;
    k->plan = (mor_smooth_plan_of){ 0 };
    if (!w->integrator->advance || w->on_integrate) return MOR_OK;
    int* parent = mor_arena_alloc(k->arena, (size_t)w->tree_count * sizeof *parent);
    bool* smooth = mor_arena_alloc(k->arena, (size_t)w->tree_count * sizeof *smooth);
    if (w->tree_count && (!parent || !smooth)) return MOR_SYSTEM;
    find_groups(k, parent);
    for (int i = 0; i < w->tree_count; i++) smooth[i] = true;
    const mor_joint* joints = w->joints.data;
    int tree[2];
    for (int i = 0; i < w->joints.count; i++)
        if (!joint_trees(w, &joints[i], tree)) smooth[parent[tree[0]]] = false;
    for (int i = 0; i < w->robot_count; i++) /* controllers' gains are implicit in the semi-implicit step only */
        for (int j = 0; j < w->robots[i]->model->joint_count; j++)
            if (w->robots[i]->gain[j] > 0.0) smooth[parent[w->robots[i]->tree]] = false;
    for (int i = 0; i < k->island_count; i++) {
        mor_island* island = &k->islands[i];
        island->one_sided = island->system.contact_count > 0;
        for (int r = 0; r < island->row_block_count; r++) {
            if (island->rows[r]->kind != MOR_BLOCK_BOUNDED || is_spring(island->rows[r]->lower, island->rows[r]->upper))
                continue;
            island->one_sided = true;
            if (island->rows[r]->lower < 0.0) smooth[parent[island->tree_of[0]]] = false;
        }
    }
    for (int i = 0; i < w->tree_count; i++) smooth[i] = smooth[parent[i]];
    k->plan.group = parent;
    k->plan.smooth = smooth;
    for (int i = 0; i < k->island_count; i++) /* nothing to ask of the formulation */
        k->islands[i].skip = smooth[k->islands[i].tree_of[0]] && !k->islands[i].one_sided;
    return MOR_OK;
}

/* True if contacts and limits change no velocity. */
static bool idle(const mor_world* w, const mor_island* island)
{
    const mor_system* s = &island->system;
    if (island->report.status != MOR_SOLVED) return false;
    for (int b = 0; b < s->block_count; b++) {
        if (s->blocks[b].kind == MOR_BLOCK_EQUATION ||
            (s->blocks[b].kind == MOR_BLOCK_BOUNDED && is_spring(s->blocks[b].lower, s->blocks[b].upper)))
            continue;
        const double* W = s->diagonal + s->diagonal_start[b];
        for (int d = 0; d < s->blocks[b].dim; d++)
            if (!(fabs(island->answer.impulses[s->blocks[b].row + d]) * W[d * (s->blocks[b].dim + 1)] <=
                  w->solver_options.tol))
                return false;
    }
    return true;
}

int mor_smooth_sort(mor_step* k)
{
    mor_smooth_plan_of* plan = &k->plan;
    if (!plan->smooth) return k->island_count;
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        if (island->one_sided && !idle(k->w, island)) plan->smooth[plan->group[island->tree_of[0]]] = false;
    }
    for (int i = 0; i < k->w->tree_count; i++) {
        plan->smooth[i] = plan->smooth[plan->group[i]];
        if (plan->group[i] == i) *(plan->smooth[i] ? &plan->groups : &plan->reduced) += 1;
    }
    int rough = 0;
    for (int i = 0; i < k->island_count; i++) {
        if (plan->smooth[k->islands[i].tree_of[0]]) continue;
        mor_island first = k->islands[i]; /* a stable partition would cost memory and change nothing */
        k->islands[i] = k->islands[rough];
        k->islands[rough++] = first;
    }
    return rough;
}

/* -------------------------------------------------------------------------------------- one group */

/* The last entry of a block just counted. */
static int add_own_tree(mor_smooth* m, mor_block* b, mor_tree_block* trees, int entries)
{
    int own = m->tree_count + m->block_count - 1;
    trees[own] = (mor_tree_block){ .dof = b->dim, .offset = m->dof + b->row };
    m->entries[entries++] = (mor_entry){ own, m->coefficients };
    m->coefficients += b->dim * b->dim;
    b->entry_count = entries - b->entry;
    return entries;
}

/* The blocks of a group: equations of joints, mimics, then springs. */
static bool find_rows(mor_smooth* m, const int* joints, int joint_count)
{
    mor_world* w = m->w;
    const mor_joint* all = w->joints.data;
    int mimics = 0;
    for (int t = 0; t < m->tree_count; t++) {
        const mor_robot* r = w->trees[m->trees[t]].robot;
        for (int j = 0; r && r->mimic && j < r->model->joint_count; j++)
            mimics += r->model->links[r->model->link_of_joint[j]].mimic >= 0;
    }
    int most = 2 * joint_count + mimics;
    if (most == 0) return true;
    m->blocks = mor_arena_zero(m->arena, (size_t)most, sizeof *m->blocks);
    m->joint_of = mor_arena_zero(m->arena, (size_t)most, sizeof *m->joint_of);
    m->entries = mor_arena_zero(m->arena, 3 * (size_t)most, sizeof *m->entries);
    m->mimics = mor_arena_zero(m->arena, (size_t)mimics + 1, sizeof *m->mimics);
    mor_tree_block* trees = mor_arena_zero(m->arena, (size_t)(m->tree_count + most), sizeof *trees);
    int* local = mor_arena_alloc(m->arena, (size_t)w->tree_count * sizeof *local);
    if (!m->blocks || !m->joint_of || !m->entries || !m->mimics || !trees || !local) return false;
    int entries = 0;
    for (int t = 0; t < m->tree_count; t++) {
        trees[t] = (mor_tree_block){ .dof = w->trees[m->trees[t]].dof, .offset = m->dof_of[t] };
        local[m->trees[t]] = t;
    }
    m->tree_blocks = trees;
    for (int pass = 0; pass < 3; pass++) { /* equations, mimics, springs */
        if (pass == 2) m->equation_blocks = m->block_count, m->equation_count = m->row_count;
        for (int i = 0; pass != 1 && i < joint_count; i++) {
            const mor_joint* j = &all[joints[i]];
            mor_joint_row rows[6];
            int dim = pass ? ((j->def.stiffness > 0.0 || j->def.damping > 0.0) && mor_joint_free_row(w, j, rows))
                           : mor_joint_equations(w, j, rows);
            if (dim == 0) continue;
            mor_block* b = &m->blocks[m->block_count];
            *b = (mor_block){ .kind = MOR_BLOCK_EQUATION, .dim = dim, .row = m->row_count, .entry = entries };
            m->joint_of[m->block_count++] = joints[i];
            m->row_count += dim;
            int tree[2];
            joint_trees(w, j, tree);
            for (int k = 0; k < 2 && tree[k] >= 0; k++) {
                m->entries[entries++] = (mor_entry){ local[tree[k]], m->coefficients };
                m->coefficients += dim * w->trees[tree[k]].dof;
            }
            entries = add_own_tree(m, b, trees, entries);
        }
        for (int t = 0; pass == 1 && t < m->tree_count; t++) {
            const mor_robot* r = w->trees[m->trees[t]].robot;
            for (int j = 0; r && r->mimic && j < r->model->joint_count; j++) {
                if (r->model->links[r->model->link_of_joint[j]].mimic < 0) continue;
                mor_block* b = &m->blocks[m->block_count];
                *b = (mor_block){ .kind = MOR_BLOCK_EQUATION, .dim = 1, .row = m->row_count++, .entry = entries };
                m->entries[entries++] = (mor_entry){ t, m->coefficients };
                m->coefficients += r->model->dof;
                m->mimics[m->mimic_count].tree = t;
                m->mimics[m->mimic_count].joint = j;
                m->joint_of[m->block_count++] = -1 - m->mimic_count++;
                entries = add_own_tree(m, b, trees, entries);
            }
        }
    }
    return true;
}

static bool begin(mor_smooth* m, mor_step* k, mor_code* code, const int* trees, int tree_count, const int* joints,
                  int joint_count)
{
    mor_world* w = k->w;
    *m = (mor_smooth){ .w = w, .arena = k->arena, .code = code, .tree_count = tree_count, .trees = trees };
    m->dof_of = mor_arena_alloc(k->arena, (size_t)tree_count * sizeof *m->dof_of);
    m->size_of = mor_arena_alloc(k->arena, (size_t)tree_count * sizeof *m->size_of);
    if (!m->dof_of || !m->size_of) return false;
    for (int t = 0; t < tree_count; t++) {
        const mor_tree* tree = &w->trees[trees[t]];
        m->dof_of[t] = m->dof;
        m->size_of[t] = m->size;
        m->dof += tree->dof;
        m->size += mor_motion_size(tree);
    }
    for (int t = 0; t < tree_count; t++) {
        const mor_robot* r = w->trees[trees[t]].robot;
        for (int j = 1; r && r->damping && j < r->model->link_count; j++)
            m->damped = m->damped || r->model->links[j].damping > 0.0;
        for (int j = 0; r && j < r->model->joint_count; j++) m->damped = m->damped || r->viscous[j] > 0.0;
    }
    if (!find_rows(m, joints, joint_count)) return false;
    m->q = mor_smooth_vector(m, m->size);
    m->nu = mor_smooth_vector(m, m->dof);
    m->path = mor_smooth_vector(m, m->dof);
    m->impulse = mor_smooth_vector(m, m->equation_count);
    if (!m->q || !m->nu || !m->path || !m->impulse) return false;
    for (int t = 0; t < tree_count; t++)
        mor_motion_get(w, &w->trees[trees[t]], m->q + m->size_of[t], m->nu + m->dof_of[t]);
    return true;
}

/* Where the equations lose rank (four-bars in line) multipliers that enforce G' V = 0 at every stage become infinite
 * and no iteration converges, while accelerations stay what they are: rk4, which needs only these, passes. Its step is
 * taken if two halves and the whole agree to 1e-9 of the speed (less strictly after halvings), so that it is no way out
 * for steps that are just too long. */
static bool rescue(mor_smooth* m, double h, double tolerance)
{
    size_t mark = mor_arena_mark(m->arena);
    const int n[4] = { m->size, m->dof, m->dof, m->equation_count };
    double* now[4] = { m->q, m->nu, m->path, m->impulse };
    double* start[4];
    double* whole = mor_smooth_vector(m, m->dof);
    bool ok = whole;
    for (int i = 0; i < 4; i++) {
        start[i] = mor_smooth_vector(m, n[i]);
        ok = ok && start[i];
        if (ok) memcpy(start[i], now[i], (size_t)n[i] * sizeof(double));
    }
    if (!ok) *m->code = MOR_SYSTEM;
    if (ok && (ok = mor_integrator_rk4.advance(m, h))) {
        memcpy(whole, m->nu, (size_t)m->dof * sizeof *whole);
        for (int i = 0; i < 4; i++) memcpy(now[i], start[i], (size_t)n[i] * sizeof(double));
        ok = mor_integrator_rk4.advance(m, 0.5 * h) && mor_integrator_rk4.advance(m, 0.5 * h);
        double apart = 0.0, fastest = 0.0;
        for (int k = 0; k < m->dof; k++) {
            apart = mor_max(apart, fabs(m->nu[k] - whole[k]));
            fastest = mor_max(fastest, fabs(whole[k]));
        }
        ok = ok && apart <= tolerance * fastest;
        for (int i = 0; !ok && i < 4; i++) memcpy(now[i], start[i], (size_t)n[i] * sizeof(double));
    }
    mor_arena_release(m->arena, mark);
    return ok;
}

/* The step in parts h/2^depth as needed. */
static bool advance(mor_smooth* m, double h)
{
    int depth = 0;
    long part = 0; /* how many parts of the present depth are done */
    while (part < 1L << depth) {
        bool ok = m->w->integrator->advance(m, h / (double)(1L << depth));
        if (!ok && m->equation_count && m->w->integrator != &mor_integrator_rk4 && !*m->code)
            m->rescued += ok = rescue(m, h / (double)(1L << depth), ldexp(1e-9, 2 * depth));
        if (ok) {
            part++;
            while (depth > 0 && part % 2 == 0) part /= 2, depth--;
        } else {
            if (depth >= m->w->options.halvings || *m->code) return false;
            depth++;
            part *= 2;
            m->halvings++;
        }
    }
    return true;
}

/* Positions, mean velocities for the work of applied forces, impulses for the next step's start. */
static void finish(mor_step* k, mor_smooth* m, double h)
{
    mor_world* w = m->w;
    for (int t = 0; t < m->tree_count; t++) {
        const mor_tree* tree = &w->trees[m->trees[t]];
        mor_motion_place(w, tree, m->q + m->size_of[t], NULL, m->nu + m->dof_of[t], true);
        for (int i = 0; i < tree->dof; i++) k->nu_new[tree->offset + i] = m->path[m->dof_of[t] + i] / h;
    }
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < m->equation_blocks; i++)
        if (m->joint_of[i] >= 0)
            memcpy(joints[m->joint_of[i]].memory, m->impulse + m->blocks[i].row,
                   (size_t)m->blocks[i].dim * sizeof(double));
}

/* --------------------------------------------------------------------------------------- the step */

/* Trees and joints of every group, one after the other: start[g] ... of group g's root. */
typedef struct lists {
    int *trees, *tree_start, *joints, *joint_start;
} lists;

static bool list_groups(mor_step* k, lists* l)
{
    const mor_world* w = k->w;
    const int* group = k->plan.group;
    size_t n = (size_t)w->tree_count;
    l->trees = mor_arena_alloc(k->arena, n * sizeof(int));
    l->tree_start = mor_arena_zero(k->arena, n + 2, sizeof(int));
    l->joints = mor_arena_alloc(k->arena, ((size_t)w->joints.count + 1) * sizeof(int));
    l->joint_start = mor_arena_zero(k->arena, n + 2, sizeof(int));
    if (!l->trees || !l->tree_start || !l->joints || !l->joint_start) return false;
    const mor_joint* joints = w->joints.data;
    int tree[2];
    for (int i = 0; i < w->tree_count; i++) l->tree_start[group[i] + 2] += moves(&w->trees[i]);
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        l->joint_start[group[tree[0]] + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) {
        l->tree_start[i] += l->tree_start[i - 1];
        l->joint_start[i] += l->joint_start[i - 1];
    }
    for (int i = 0; i < w->tree_count; i++)
        if (moves(&w->trees[i])) l->trees[l->tree_start[group[i] + 1]++] = i;
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        l->joints[l->joint_start[group[tree[0]] + 1]++] = i;
    }
    return true;
}

/* One group of the plan, from the start of the step to its end. */
static mor_code move_group(mor_step* k, const lists* l, int g)
{
    const mor_world* w = k->w;
    size_t mark = mor_arena_mark(k->arena);
    mor_code code = MOR_OK;
    mor_smooth m;
    bool ok = begin(&m, k, &code, l->trees + l->tree_start[g], l->tree_start[g + 1] - l->tree_start[g],
                    l->joints + l->joint_start[g], l->joint_start[g + 1] - l->joint_start[g]);
    if (!ok) code = MOR_SYSTEM;
    ok = ok && (m.dof == 0 || advance(&m, w->h));
    if (ok) finish(k, &m, w->h);
    else snprintf(k->plan.detail, sizeof k->plan.detail, "%s: %s", w->integrator->name, m.detail);
    k->plan.halvings += m.halvings;
    k->plan.rescued += m.rescued;
    k->plan.sweeps += m.iterations;
    mor_arena_release(k->arena, mark);
    return ok ? MOR_OK : code ? code : MOR_STOPPED;
}

mor_code mor_smooth_step(mor_step* k, mor_status* status)
{
    const mor_world* w = k->w;
    *status = MOR_SOLVED;
    if (!k->plan.smooth || w->tree_count == 0) return MOR_OK;
    lists l;
    mor_code code = list_groups(k, &l) ? MOR_OK : MOR_SYSTEM;
    for (int g = 0; g < w->tree_count && !code; g++)
        if (k->plan.group[g] == g && k->plan.smooth[g] && l.tree_start[g + 1] > l.tree_start[g])
            code = move_group(k, &l, g);
    if (code) *status = code == MOR_SYSTEM ? MOR_NUMERICAL : MOR_NOT_CONVERGED;
    return code;
}

/* ------------------------------------------------------------------------------------- multipliers */

mor_code mor_step_joint_forces(const mor_world* world, mor_step* k, double* forces, mor_error* error)
{
    (void)world;
    mor_world* w = k->w;
    if (k->phase != MOR_STAGE_USER)
        return mor_fail(error, MOR_BAD_INPUT, "the forces of the joints are asked for after mor_stage_user");
    memset(forces, 0, 6 * (size_t)w->joints.count * sizeof *forces);
    if (w->joints.count == 0) return MOR_OK;
    k->phase = MOR_STAGE_NONE; /* the draft is moved below: the step begins again */
    size_t mark = mor_arena_mark(k->arena);
    int* trees = mor_arena_alloc(k->arena, (size_t)w->tree_count * sizeof *trees);
    int* joints = mor_arena_alloc(k->arena, (size_t)w->joints.count * sizeof *joints);
    mor_smooth m = { 0 };
    mor_code code = MOR_OK;
    int count = 0;
    for (int i = 0; trees && i < w->tree_count; i++)
        if (moves(&w->trees[i])) trees[count++] = i;
    for (int i = 0; joints && i < w->joints.count; i++) joints[i] = i;
    bool memory = trees && joints && begin(&m, k, &code, trees, count, joints, w->joints.count);
    double* a = memory ? mor_smooth_vector(&m, m.dof) : NULL;
    double* lambda = memory ? mor_smooth_vector(&m, m.row_count) : NULL;
    bool ok = a && lambda && mor_smooth_accelerate(&m, m.q, NULL, m.nu, a, lambda);
    for (int i = 0; ok && i < m.equation_blocks; i++)
        if (m.joint_of[i] >= 0)
            memcpy(forces + 6 * m.joint_of[i], lambda + m.blocks[i].row, (size_t)m.blocks[i].dim * sizeof *lambda);
    mor_arena_release(k->arena, mark);
    if (ok) return MOR_OK;
    return !memory || code ? mor_fail(error, MOR_SYSTEM, "out of memory")
                           : mor_fail(error, MOR_BAD_INPUT, "the forces of the joints are not finite in this state");
}
