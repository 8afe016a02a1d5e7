/* Contacts in iterates, see contact_view.h.
 *
 * A problem of cones or of a step has rows of contacts: all of the system's in their order, or, where a formulation
 * left blocks out, those whose entries of the Jacobian they share. An LCP, MLCP or QP has none; the formulation says
 * how its unknowns make impulses p (unknowns.h), and p is judged in the step. */
#include "formulation/contact_view.h"

#include <math.h>

static const mor_problem* told_in(const mor_contact_view* v) { return v->unknowns ? v->unknowns->step : v->problem; }

/* The system's contact with the block `b`, from `first` on; -1: none. */
static int contact_with(const mor_system* s, const mor_block* b, int first)
{
    for (int c = first; c < s->contact_count; c++)
        if (s->blocks[s->contacts[c].block].entry == b->entry) return c;
    return -1;
}

bool mor_contact_view_make(mor_contact_view* view, const mor_system* s, const mor_problem* problem,
                           const mor_unknowns* unknowns, mor_arena* arena)
{
    *view = (mor_contact_view){ .problem = problem, .unknowns = unknowns };
    const mor_problem* in = told_in(view);
    view->count = mor_judge_contact_count(in);
    bool whole = s && view->count == s->contact_count;
    bool part = s && in->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE) && in->step.entries == s->entries;
    if (!view->count || (!whole && !part)) return true;
    int* contact = mor_arena_alloc(arena, (size_t)view->count * sizeof *contact);
    if (!contact) return false;
    for (int c = 0; c < view->count; c++) contact[c] = c;
    for (int i = 0, k = 0, c = 0; !whole && i < in->step.block_count; i++) {
        if (in->step.blocks[i].kind != MOR_BLOCK_CONTACT) continue;
        c = contact_with(s, &in->step.blocks[i], c);
        if (c < 0) return true; /* not in the system's order: it is not known which they are */
        contact[k++] = c++;
    }
    view->contact = contact;
    return true;
}

bool mor_contact_view_judge(const mor_contact_view* view, const double* z, mor_residual* residual,
                            mor_contact_verdict* out, mor_arena* arena)
{
    if (!view->count) return true;
    const mor_problem* in = told_in(view);
    size_t mark = mor_arena_mark(arena);
    double* p = view->unknowns ? mor_arena_alloc(arena, ((size_t)in->size + 1) * sizeof *p) : (double*)z;
    bool good = p != NULL;
    if (good && view->unknowns) {
        view->unknowns->impulses(view->unknowns, z, p, arena);
        mor_residual of_step = mor_judge(in, p, arena);
        if (isnan(residual->normal_error)) {
            residual->normal_error = of_step.normal_error, residual->friction_error = of_step.friction_error;
            residual->friction_power = of_step.friction_power;
        }
    }
    good = good && mor_judge_contacts(in, p, out, arena) == view->count;
    mor_arena_release(arena, mark);
    return good;
}
