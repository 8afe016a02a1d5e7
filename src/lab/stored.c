/* How wrong the answer is that a frame came with: of the run that stored it, or of another program.
 *
 * Its impulses p are put into the exact Coulomb problem of the step (gaps in the rows, circular cones) and judged in
 * m/s as the answers of all methods are: `coulomb_error` of the engine itself. */
#include <math.h>
#include <string.h>

#include "formulation/registry.h"
#include "formulation/step_problem.h"
#include "lab/compare_run.h"
#include "model/step.h"

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
        if (s->block_count != s->contact_count) { /* joints: their impulses are not in every file */
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
