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
#include "model/articulated.h"
#include "model/joints.h"
#include "model/motion.h"
#include "formulation/rows.h"
#include "step/smooth.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- groups */

static int root_of(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int* parent, int a, int b)
{
    int ra = root_of(parent, a), rb = root_of(parent, b);
    if (ra < rb) parent[rb] = ra;
    else parent[ra] = rb;
}

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

void mor_smooth_plan(mor_world* w)
{
    w->smooth_group = NULL;
    w->smooth = NULL;
    w->smooth_groups = w->reduced_groups = w->halvings = w->rescued = w->sweeps = 0;
    w->smooth_detail[0] = '\0';
    if (!w->integrator->advance || w->on_integrate || w->out_of_memory) return;
    int* parent = mor_arena_alloc(w->arena, (size_t)w->tree_count * sizeof *parent);
    bool* smooth = mor_arena_alloc(w->arena, (size_t)w->tree_count * sizeof *smooth);
    if (w->tree_count && (!parent || !smooth)) {
        w->out_of_memory = true;
        return;
    }
    for (int i = 0; i < w->tree_count; i++) parent[i] = i, smooth[i] = true;
    const mor_joint* joints = w->joints.data;
    int tree[2];
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        if (tree[1] >= 0) unite(parent, tree[0], tree[1]);
    }
    for (int i = 0; i < w->island_count; i++)
        for (int t = 1; t < w->islands[i].system.tree_count; t++)
            unite(parent, w->islands[i].tree_of[0], w->islands[i].tree_of[t]);
    for (int i = 0; i < w->tree_count; i++) parent[i] = root_of(parent, i);
    for (int i = 0; i < w->joints.count; i++)
        if (!joint_trees(w, &joints[i], tree)) smooth[parent[tree[0]]] = false;
    for (int i = 0; i < w->robot_count; i++) /* controllers' gains are implicit in the semi-implicit step only */
        for (int j = 0; j < w->robots[i]->model->joint_count; j++)
            if (w->robots[i]->gain[j] > 0.0) smooth[parent[w->robots[i]->tree]] = false;
    for (int i = 0; i < w->island_count; i++) {
        mor_island* island = &w->islands[i];
        island->one_sided = island->system.contact_count > 0;
        for (int r = 0; r < island->row_block_count; r++) {
            if (island->rows[r]->kind != MOR_BLOCK_BOUNDED || is_spring(island->rows[r]->lower, island->rows[r]->upper))
                continue;
            island->one_sided = true;
            if (island->rows[r]->lower < 0.0) smooth[parent[island->tree_of[0]]] = false;
        }
    }
    for (int i = 0; i < w->tree_count; i++) smooth[i] = smooth[parent[i]];
    w->smooth_group = parent;
    w->smooth = smooth;
    for (int i = 0; i < w->island_count; i++) /* nothing to ask of the formulation */
        w->islands[i].skip = smooth[w->islands[i].tree_of[0]] && !w->islands[i].one_sided;
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

int mor_smooth_sort(mor_world* w)
{
    if (!w->smooth) return w->island_count;
    for (int i = 0; i < w->island_count; i++) {
        const mor_island* island = &w->islands[i];
        if (island->one_sided && !idle(w, island)) w->smooth[w->smooth_group[island->tree_of[0]]] = false;
    }
    for (int i = 0; i < w->tree_count; i++) {
        w->smooth[i] = w->smooth[w->smooth_group[i]];
        if (w->smooth_group[i] == i) *(w->smooth[i] ? &w->smooth_groups : &w->reduced_groups) += 1;
    }
    int rough = 0;
    for (int i = 0; i < w->island_count; i++) {
        if (w->smooth[w->islands[i].tree_of[0]]) continue;
        mor_island first = w->islands[i]; /* a stable partition would cost memory and change nothing */
        w->islands[i] = w->islands[rough];
        w->islands[rough++] = first;
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

static bool begin(mor_smooth* m, mor_world* w, const int* trees, int tree_count, const int* joints, int joint_count)
{
    *m = (mor_smooth){ .w = w, .arena = w->arena, .tree_count = tree_count, .trees = trees };
    m->dof_of = mor_arena_alloc(w->arena, (size_t)tree_count * sizeof *m->dof_of);
    m->size_of = mor_arena_alloc(w->arena, (size_t)tree_count * sizeof *m->size_of);
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
    if (!ok) m->w->out_of_memory = true;
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
        if (!ok && m->equation_count && m->w->integrator != &mor_integrator_rk4 && !m->w->out_of_memory)
            m->rescued += ok = rescue(m, h / (double)(1L << depth), ldexp(1e-9, 2 * depth));
        if (ok) {
            part++;
            while (depth > 0 && part % 2 == 0) part /= 2, depth--;
        } else {
            if (depth >= m->w->options.halvings || m->w->out_of_memory) return false;
            depth++;
            part *= 2;
            m->halvings++;
        }
    }
    return true;
}

/* Positions, mean velocities for the work of applied forces, impulses for the next step's start. */
static void finish(mor_smooth* m, double h)
{
    mor_world* w = m->w;
    for (int t = 0; t < m->tree_count; t++) {
        const mor_tree* tree = &w->trees[m->trees[t]];
        mor_motion_place(w, tree, m->q + m->size_of[t], NULL, m->nu + m->dof_of[t], true);
        for (int k = 0; k < tree->dof; k++) w->nu_new[tree->offset + k] = m->path[m->dof_of[t] + k] / h;
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

static bool list_groups(mor_world* w, lists* l)
{
    size_t n = (size_t)w->tree_count;
    l->trees = mor_arena_alloc(w->arena, n * sizeof(int));
    l->tree_start = mor_arena_zero(w->arena, n + 2, sizeof(int));
    l->joints = mor_arena_alloc(w->arena, ((size_t)w->joints.count + 1) * sizeof(int));
    l->joint_start = mor_arena_zero(w->arena, n + 2, sizeof(int));
    if (!l->trees || !l->tree_start || !l->joints || !l->joint_start) return false;
    const mor_joint* joints = w->joints.data;
    int tree[2];
    for (int i = 0; i < w->tree_count; i++) l->tree_start[w->smooth_group[i] + 2] += moves(&w->trees[i]);
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        l->joint_start[w->smooth_group[tree[0]] + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) {
        l->tree_start[i] += l->tree_start[i - 1];
        l->joint_start[i] += l->joint_start[i - 1];
    }
    for (int i = 0; i < w->tree_count; i++)
        if (moves(&w->trees[i])) l->trees[l->tree_start[w->smooth_group[i] + 1]++] = i;
    for (int i = 0; i < w->joints.count; i++) {
        joint_trees(w, &joints[i], tree);
        l->joints[l->joint_start[w->smooth_group[tree[0]] + 1]++] = i;
    }
    return true;
}

/* The state before the step, for the way back: bodies, then base, s and nu of every robot. */
typedef struct state {
    mor_body* bodies;
    double** robots;
} state;

static void carry(mor_robot* r, double* at, bool store)
{
    size_t n = (size_t)r->model->joint_count * sizeof(double), N = (size_t)r->model->dof * sizeof(double);
    memcpy(store ? (void*)at : (void*)&r->base, store ? (void*)&r->base : (void*)at, sizeof r->base);
    memcpy(store ? at + 7 : r->s, store ? r->s : at + 7, n);
    at += 7 + r->model->joint_count;
    memcpy(store ? at : r->nu, store ? r->nu : at, N);
}

static bool save(mor_world* w, state* s)
{
    s->bodies = mor_arena_alloc(w->arena, ((size_t)w->body_count + 1) * sizeof *s->bodies);
    s->robots = mor_arena_zero(w->arena, (size_t)w->robot_count + 1, sizeof *s->robots);
    if (!s->bodies || !s->robots) return false;
    memcpy(s->bodies, w->bodies, (size_t)w->body_count * sizeof *s->bodies);
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        s->robots[i] = mor_arena_alloc(w->arena, (size_t)(7 + r->model->joint_count + r->model->dof) * sizeof(double));
        if (!s->robots[i]) return false;
        carry(r, s->robots[i], true);
    }
    return true;
}

static void bring_back(mor_world* w, const state* s)
{
    memcpy(w->bodies, s->bodies, (size_t)w->body_count * sizeof *s->bodies);
    for (int i = 0; i < w->robot_count; i++) {
        mor_robot* r = w->robots[i];
        carry(r, s->robots[i], false);
        mor_robot_update(r->model, r->work, &r->base, r->s, r->nu);
    }
}

mor_status mor_smooth_step(mor_world* w)
{
    if (!w->smooth || w->tree_count == 0) return MOR_SOLVED;
    lists l;
    state before;
    if (!save(w, &before) || !list_groups(w, &l)) {
        w->out_of_memory = true;
        return MOR_NUMERICAL;
    }
    mor_status status = MOR_SOLVED;
    for (int g = 0; g < w->tree_count && status == MOR_SOLVED; g++) {
        if (w->smooth_group[g] != g || !w->smooth[g] || l.tree_start[g + 1] == l.tree_start[g]) continue;
        size_t mark = mor_arena_mark(w->arena);
        mor_smooth m;
        bool ok = begin(&m, w, l.trees + l.tree_start[g], l.tree_start[g + 1] - l.tree_start[g],
                        l.joints + l.joint_start[g], l.joint_start[g + 1] - l.joint_start[g]);
        if (!ok) w->out_of_memory = true;
        ok = ok && (m.dof == 0 || advance(&m, w->h));
        if (ok) finish(&m, w->h);
        else snprintf(w->smooth_detail, sizeof w->smooth_detail, "%s: %s", w->integrator->name, m.detail);
        w->halvings += m.halvings;
        w->rescued += m.rescued;
        w->sweeps += m.iterations;
        if (!ok) status = w->out_of_memory ? MOR_NUMERICAL : MOR_NOT_CONVERGED;
        mor_arena_release(w->arena, mark);
    }
    if (status != MOR_SOLVED) {
        bring_back(w, &before);
        return status;
    }
    for (int i = 0; i < w->robot_count; i++)
        if (w->smooth[w->robots[i]->tree])
            memset(w->robots[i]->tau, 0, (size_t)w->robots[i]->model->joint_count * sizeof(double));
    return status;
}

/* ------------------------------------------------------------------------------------- multipliers */

mor_code mor_world_joint_forces(mor_world* w, double* forces, mor_error* error)
{
    memset(forces, 0, 6 * (size_t)w->joints.count * sizeof *forces);
    if (w->joints.count == 0) return MOR_OK;
    size_t mark = mor_arena_mark(w->arena);
    int* trees = mor_arena_alloc(w->arena, (size_t)w->tree_count * sizeof *trees);
    int* joints = mor_arena_alloc(w->arena, (size_t)w->joints.count * sizeof *joints);
    state before;
    mor_smooth m = { 0 };
    int count = 0;
    for (int i = 0; trees && i < w->tree_count; i++)
        if (moves(&w->trees[i])) trees[count++] = i;
    for (int i = 0; joints && i < w->joints.count; i++) joints[i] = i;
    bool memory = trees && joints && save(w, &before) && begin(&m, w, trees, count, joints, w->joints.count);
    double* a = memory ? mor_smooth_vector(&m, m.dof) : NULL;
    double* lambda = memory ? mor_smooth_vector(&m, m.row_count) : NULL;
    bool ok = a && lambda && mor_smooth_accelerate(&m, m.q, NULL, m.nu, a, lambda);
    for (int i = 0; ok && i < m.equation_blocks; i++)
        if (m.joint_of[i] >= 0)
            memcpy(forces + 6 * m.joint_of[i], lambda + m.blocks[i].row, (size_t)m.blocks[i].dim * sizeof *lambda);
    if (memory) bring_back(w, &before);
    mor_arena_release(w->arena, mark);
    bool full = !memory || w->out_of_memory;
    w->out_of_memory = false;
    return ok     ? MOR_OK
           : full ? mor_fail(error, MOR_SYSTEM, "out of memory")
                  : mor_fail(error, MOR_BAD_INPUT, "the forces of the joints are not finite in this state");
}
