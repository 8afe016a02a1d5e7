/* Which shapes touch, by bits: types of one against affinities of the other. */
#include "model/world.h"

#include <assert.h>

#define USUAL 0xffffffffu /* types and affinities of shapes without a filter */

mor_code mor_world_filter_shape(mor_world* w, mor_body_id body, int shape, uint64_t types, uint64_t affinities,
                                mor_error* error)
{
    mor_body* b = mor_body_at(w, body);
    assert(shape >= 0 && shape < b->shape_count);
    if (!b->filters) {
        b->filters = w->allocator.resize(w->allocator.user, NULL, (size_t)b->shape_count * sizeof *b->filters);
        if (!b->filters) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int i = 0; i < b->shape_count; i++) b->filters[i][0] = b->filters[i][1] = USUAL;
    }
    b->filters[shape][0] = types;
    b->filters[shape][1] = affinities;
    w->detected = false;
    w->revision++;
    return MOR_OK;
}

mor_code mor_world_set_shape_material(mor_world* w, mor_body_id body, int shape, int material, mor_error* error)
{
    mor_body* b = mor_body_at(w, body);
    assert(shape >= 0 && shape < b->shape_count);
    if (material < 0 || material >= w->material_count)
        return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", material);
    b->shapes[shape].material = material;
    w->detected = false;
    w->revision++;
    return MOR_OK;
}

bool mor_shapes_meet(const mor_body* a, int shape_a, const mor_body* b, int shape_b)
{
    uint64_t types_a = a->filters ? a->filters[shape_a][0] : USUAL,
             types_b = b->filters ? b->filters[shape_b][0] : USUAL;
    uint64_t near_a = a->filters ? a->filters[shape_a][1] : USUAL, near_b = b->filters ? b->filters[shape_b][1] : USUAL;
    return (types_a & near_b) || (types_b & near_a);
}

bool mor_world_may_touch(const mor_world* w, mor_body_id a, int shape_a, mor_body_id b, int shape_b)
{
    const mor_body *p = mor_body_at(w, a), *q = mor_body_at(w, b);
    if (p == q || (p->tree < 0 && q->tree < 0)) return false;
    if (mor_world_ignores(w, (int)a.index1 - 1, (int)b.index1 - 1)) return false;
    return !(p->filters || q->filters) || mor_shapes_meet(p, shape_a, q, shape_b);
}
