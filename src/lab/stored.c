/* How wrong the answer is that a frame came with: of the run that stored it, or of another program.
 *
 * Its impulses p are put into the exact Coulomb problem of the step (gaps in the rows, circular cones) and judged in
 * m/s as the answers of all methods are: `coulomb_error` of the engine itself. */
#include <math.h>
#include <string.h>

#include "formulation/registry.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "lab/compare_run.h"
#include "model/step.h"
#include "model/stored.h"

/* Impulses of joints and motors, from the rows of the frame. False: the file has none of them (files of others, and the
 * robots of ours in maximal coordinates). */
static bool rows_of(const mor_bpmd_frame* f, const mor_world* w, const mor_island* island, double* z)
{
    if (!f->answered || !w->stored || f->maximal) return false;
    for (int b = 0; b < island->row_block_count; b++) {
        const mor_block* block = &island->system.blocks[island->system.contact_count + b];
        int at = -1, kept = 0; /* stored rows are the constraints of the frame without those of kind MOR_BPMD_LINK */
        for (int c = 0; c < f->constraint_count && at < 0; c++) {
            if (f->constraints[c].kind == MOR_BPMD_LINK) continue;
            if (w->stored->rows[kept++].memory == island->rows[b]->memory) at = f->constraints[c].row;
        }
        if (at < 0) return false;
        for (int d = 0; d < block->dim; d++) z[block->row + d] = f->rows[at + d].impulse;
    }
    return true;
}

void mor_lab_judge_stored(const mor_bpmd_frame* f, const mor_world* w, const int* order, mor_lab_problem* p)
{
    p->stored_error = NAN;
    if (!f->answered && !f->stored_by[0]) return;
    if (f->stored_by[0]) snprintf(p->stored_by, sizeof p->stored_by, "%s", f->stored_by);
    else snprintf(p->stored_by, sizeof p->stored_by, "%.30s-%.30s", f->formulation, f->solver);
    mor_arena* arena = mor_arena_create(NULL);
    for (int i = 0; arena && i < w->last->island_count; i++) {
        const mor_system* s = &w->last->islands[i].system;
        mor_arena_reset(arena);
        double* bias = mor_arena_alloc(arena, ((size_t)s->row_count + 1) * sizeof *bias);
        double* z = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *z);
        if (!bias || !z) break;
        mor_bias_stewart_trinkle(s, bias);
        mor_problem exact = mor_system_problem(s, 0, bias, arena, NULL);
        if (!exact.size) continue;
        if (s->block_count != s->contact_count && !rows_of(f, w, &w->last->islands[i], z)) {
            p->stored_error = NAN;
            break;
        }
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* b = &s->blocks[s->contacts[c].block];
            const double* from = f->contacts[order[s->contacts[c].contact]].impulse;
            for (int d = 0; d < b->dim && d < 3; d++) z[b->row + d] = from[d];
        }
        double error = mor_judge(&exact, z, arena).velocity;
        if (!(p->stored_error >= error)) p->stored_error = error;
    }
    mor_arena_destroy(arena);
}
