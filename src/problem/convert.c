/* The table of conversions, and the trivial ones. */
#include "problem/convert.h"

#include <string.h>

enum { GLOBAL = MOR_GFC2D | MOR_GFC3D | MOR_GFC_ROLLING, STEPS = MOR_STEP_PYRAMID | MOR_STEP_CONE };

int mor_convert_targets(mor_form form, mor_form* targets)
{
    int n = 0;
    if (form == MOR_STEP_PYRAMID) targets[n++] = MOR_MLCP;
    if (form == MOR_STEP_CONE) {
        targets[n++] = MOR_FC3D, targets[n++] = MOR_FC2D, targets[n++] = MOR_FC_ROLLING;
        targets[n++] = MOR_MLCP; /* when every cone is an interval or a polygon after all */
    }
    if (form == MOR_LCP) targets[n++] = MOR_MLCP, targets[n++] = MOR_MCP;
    if (form == MOR_MLCP) targets[n++] = MOR_MCP, targets[n++] = MOR_LCP;
    if (form == MOR_GFC2D) targets[n++] = MOR_FC2D;
    if (form == MOR_GFC3D) targets[n++] = MOR_FC3D;
    if (form == MOR_GFC_ROLLING) targets[n++] = MOR_FC_ROLLING;
    return n;
}

static void same(const mor_conversion* conversion, const double* z, double* out, mor_arena* arena)
{
    (void)arena;
    memcpy(out, z, (size_t)conversion->from->size * sizeof *out);
}

/* The same numbers under another name. */
static mor_code rename_form(const mor_problem* from, mor_form to, mor_conversion* conversion, mor_arena* arena)
{
    *conversion = (mor_conversion){ .from = from, .to = *from, .back = same, .forward = same };
    conversion->to.form = to;
    conversion->to.groups = NULL;
    if (!conversion->to.lower) {
        conversion->to.lower = mor_arena_zero(arena, (size_t)from->size, sizeof(double));
        if (!conversion->to.lower) return MOR_SYSTEM;
    }
    conversion->to.upper = NULL;
    return MOR_OK;
}

mor_code mor_convert(const mor_problem* from, mor_form to, mor_conversion* conversion, bool* no_solution,
                     mor_arena* arena, mor_error* error)
{
    mor_code code = MOR_BAD_INPUT;
    *conversion = (mor_conversion){ .from = from };
    *no_solution = false;
    if (from->form & STEPS && to == MOR_MLCP) code = mor_convert_step_to_mlcp(from, false, conversion, arena, error);
    else if (from->form & STEPS && to & (MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING))
        code = mor_convert_step_to_cones(from, to, conversion, arena, error);
    else if (from->form == MOR_MLCP && to == MOR_LCP)
        code = mor_convert_mlcp_to_lcp(from, conversion, no_solution, arena, error);
    else if ((from->form == MOR_LCP || from->form == MOR_MLCP) && (to == MOR_MCP || to == MOR_MLCP))
        code = rename_form(from, to, conversion, arena);
    else if (from->form & GLOBAL) code = mor_convert_global_to_local(from, conversion, arena, error);
    else mor_fail(error, MOR_BAD_INPUT, "no exact way from %s to %s", mor_form_name(from->form), mor_form_name(to));
    if (code == MOR_OK) conversion->to.name = from->name;
    else mor_conversion_destroy(conversion);
    if (code == MOR_SYSTEM)
        mor_fail(error, code, "out of memory while converting %s to %s", mor_form_name(from->form), mor_form_name(to));
    return code;
}

void mor_conversion_destroy(mor_conversion* conversion)
{
    if (conversion->destroy) conversion->destroy(conversion);
    conversion->destroy = NULL;
}

mor_code mor_convert_step_keep_velocity(const mor_problem* from, mor_conversion* conversion, mor_arena* arena,
                                        mor_error* error)
{
    return mor_convert_step_to_mlcp(from, true, conversion, arena, error);
}
