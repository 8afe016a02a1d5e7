/* Packs of contacts, rows of joints, and the honest report (budget.h). */
#include "formulation/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "problem/judge.h"

static void fill_contacts(const mor_system* s, const mor_pack* q, const double* impulses, mor_budget_pack* out)
{
    memset(out, 0, sizeof *out);
    for (int lane = 0; lane < MOR_LANES; lane++) {
        if (q->block[lane] < 0) continue;
        const mor_contact_row* c = &s->contacts[q->block[lane]];
        const mor_block* b = &s->blocks[q->block[lane]];
        out->gap[lane] = c->gap;
        out->friction[lane] = c->friction;
        for (int d = 0; d < b->dim && d < MOR_PACK_ROWS; d++) {
            out->p[d][lane] = impulses[b->row + d];
            out->drift[d][lane] = c->drift[d];
        }
    }
}

typedef struct opening {
    mor_budget* k;
    const double* impulses;
} opening;

static void fill_packs(void* user, int begin, int end)
{
    const opening* o = user;
    for (int i = begin; i < end; i++) fill_contacts(o->k->s, &o->k->packs.packs[i], o->impulses, &o->k->contacts[i]);
}

/* Contacts that had no impulse and would not close if the bodies went on as they do. */
static bool* find_idle(const mor_system* s, mor_arena* arena)
{
    bool* idle = mor_arena_alloc(arena, (size_t)s->contact_count + 1);
    for (int i = 0; idle && i < s->contact_count; i++) {
        const mor_contact_row* c = &s->contacts[i];
        idle[i] = c->gap + s->h * c->approach > 0.0 && c->guess[0] == 0.0;
    }
    return idle;
}

bool mor_budget_open(mor_budget* k, const mor_system* s, const double* impulses, const mor_solve_stage* stage)
{
    *k = (mor_budget){ .s = s, .form = mor_system_form(s) };
    const bool* idle = find_idle(s, stage->arena);
    if (!idle || !mor_packs_make(&k->packs, &k->form, s->contact_count, idle, stage->workers, stage->arena))
        return false;
    k->contacts = mor_arena_alloc(stage->arena, ((size_t)k->packs.count + 1) * sizeof *k->contacts);
    if (!k->contacts) return false;
    opening o = { k, impulses };
    mor_packs_each(&k->packs, fill_packs, &o);
    return true;
}

void mor_budget_add_impulses(const mor_budget* k, double* impulses)
{
    for (int i = 0; i < k->packs.count; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            int block = k->packs.packs[i].block[lane];
            if (block < 0) continue;
            const mor_block* b = &k->s->blocks[block];
            for (int d = 0; d < b->dim && d < MOR_PACK_ROWS; d++) impulses[b->row + d] += k->contacts[i].p[d][lane];
        }
}

/* v += M^-1 G p */
typedef struct pushing {
    const mor_budget* k;
    const double* impulses; /* by rows; NULL: those of the packs */
    double* v;
} pushing;

/* The impulses of a pack by rows. */
static void gather(const mor_budget* k, const mor_pack* q, const double* impulses, mor_four* p)
{
    memset(p, 0, MOR_PACK_ROWS * sizeof *p);
    for (int lane = 0; lane < MOR_LANES; lane++) {
        const mor_block* b = q->block[lane] >= 0 ? &k->s->blocks[q->block[lane]] : NULL;
        for (int d = 0; b && d < b->dim && d < MOR_PACK_ROWS; d++) p[d][lane] = impulses[b->row + d];
    }
}

MOR_ALWAYS_INLINE void push_packs_body(const pushing* m, int begin, int end)
{
    const mor_budget* k = m->k;
    for (int i = begin; i < end; i++) {
        const mor_pack* q = &k->packs.packs[i];
        mor_four p[MOR_PACK_ROWS];
        if (m->impulses) gather(k, q, m->impulses, p);
        else memcpy(p, k->contacts[i].p, sizeof p);
        mor_pack_view view;
        if (!mor_four_any(&p[0]) && !mor_four_any(&p[1]) && !mor_four_any(&p[2])) continue;
        mor_pack_load(q, m->v, &view);
        for (int d = 0; d < MOR_PACK_ROWS; d++) mor_pack_push(&k->packs, q, d, &p[d], &view, m->v);
        mor_pack_store(q, &view, m->v);
    }
}

MOR_WIDE_VOID(static, push_packs, (const pushing* m, int begin, int end), (m, begin, end))

static void visit_push(void* m, int begin, int end) { push_packs(m, begin, end); }

static void push_joints(const mor_budget* k, const double* impulses, double* v)
{
    const mor_system* s = k->s;
    for (int i = s->contact_count; i < s->block_count; i++)
        for (int d = 0; d < s->blocks[i].dim; d++)
            mor_packs_row_push(&k->packs, i, d, impulses[s->blocks[i].row + d], v);
}

void mor_budget_push_all(const mor_budget* k, const double* joints, double* v)
{
    pushing m = { k, NULL, v };
    mor_packs_sweep(&k->packs, visit_push, &m);
    push_joints(k, joints, v);
}

void mor_budget_joints(const mor_budget* k, double share, double* impulses, double* v)
{
    const mor_system* s = k->s;
    for (int i = s->contact_count; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        for (int d = 0; d < b->dim; d++) {
            double W = s->diagonal[s->diagonal_start[i] + d * (b->dim + 1)], *p = &impulses[b->row + d];
            if (!(W > 0.0)) continue;
            double u = mor_packs_row_speed(&k->packs, i, d, v) + (s->bias ? s->bias[b->row + d] : 0.0);
            double next = *p - u / W;
            if (b->kind == MOR_BLOCK_BOUNDED) next = mor_min(mor_max(next, share * b->lower), share * b->upper);
            mor_packs_row_push(&k->packs, i, d, next - *p, v);
            *p = next;
        }
    }
}

void mor_budget_positions(const mor_system* s, const double* dq, mor_answer* answer)
{
    for (int i = 0; answer->shift && i < s->dof; i++) answer->shift[i] = dq[i] - s->h * answer->nu[i];
}

/* The velocities that the impulses make, by trees; NULL: out of memory. */
static double* velocities_of(const mor_budget* k, const double* impulses, mor_arena* arena)
{
    double* v = mor_packs_velocities(&k->packs, arena);
    double* nu = mor_arena_alloc(arena, ((size_t)k->s->dof + 1) * sizeof *nu);
    if (!v || !nu) return NULL;
    pushing m = { k, impulses, v };
    mor_packs_spread(&k->packs, k->s->nu_free, v);
    mor_packs_sweep(&k->packs, visit_push, &m);
    push_joints(k, impulses, v);
    mor_packs_collect(&k->packs, v, nu);
    return nu;
}

mor_report mor_budget_report(const mor_budget* k, const mor_answer* answer, const double* nu, int visits,
                             mor_arena* arena)
{
    const mor_system* s = k->s;
    mor_report report = { .status = MOR_APPROXIMATE, .iterations = visits };
    double* bias = mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *bias);
    if (!nu) nu = velocities_of(k, answer->impulses, arena);
    if (!bias || !nu) return mor_report_no_memory();
    mor_bias_stewart_trinkle(s, bias);
    mor_problem exact = { .form = MOR_STEP_CONE, .size = s->row_count, .b = bias, .step = k->form };
    exact.step.nu_free = s->nu_free;
    exact.step.bias = bias;
    report.residual = mor_judge_step_at(&exact, answer->impulses, nu, k->packs.workers, arena);
    for (int i = 0; i < s->dof; i++)
        if (!isfinite(answer->nu[i])) report.status = MOR_NUMERICAL;
    snprintf(report.detail, sizeof report.detail, "error of the exact step %.2g m/s", report.residual.velocity);
    return report;
}

bool mor_budget_overlaps(const void* options)
{
    (void)options;
    return true;
}
