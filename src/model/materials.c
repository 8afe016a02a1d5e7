/* Materials: friction sqrt(mu1 mu2), restitution max(e1, e2), unless the pair has its own entry. */
#include "base/elementary.h"
#include "model/world.h"

mor_material mor_material_default(void)
{
    return (mor_material){ .name = "default", .friction = 0.5, .restitution = 0.0, .density = 1000.0 };
}

int mor_world_add_material(mor_world* w, const mor_material* material)
{
    if (w->material_count == w->material_capacity) {
        int capacity = w->material_capacity ? 2 * w->material_capacity : 8;
        mor_material* m = w->allocator.resize(w->allocator.user, w->materials, (size_t)capacity * sizeof *m);
        if (!m) return -1;
        w->materials = m;
        w->material_capacity = capacity;
    }
    w->materials[w->material_count] = *material;
    w->revision++;
    return w->material_count++;
}

const mor_material* mor_world_material(const mor_world* w, int index)
{
    return index >= 0 && index < w->material_count ? &w->materials[index] : NULL;
}

mor_code mor_world_set_pair(mor_world* w, int a, int b, double friction, double restitution, mor_error* error)
{
    if (!mor_world_material(w, a) || !mor_world_material(w, b))
        return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", mor_world_material(w, a) ? b : a);
    if (!(friction >= 0.0) || !isfinite(friction) || !(restitution >= 0.0 && restitution <= 1.0))
        return mor_fail(error, MOR_BAD_INPUT,
                        "friction %g, restitution %g: friction is at least 0, restitution between 0 and 1", friction,
                        restitution);
    w->detected = false;
    w->revision++;
    mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++)
        if ((rules[i].a == a && rules[i].b == b) || (rules[i].a == b && rules[i].b == a)) {
            rules[i].friction = friction;
            rules[i].restitution = restitution;
            return MOR_OK;
        }
    if (!mor_buffer_reserve(&w->allocator, &w->pair_rules, w->pair_rules.count + 1, sizeof *rules))
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    rules = w->pair_rules.data;
    rules[w->pair_rules.count++] = (mor_pair_rule){ a, b, friction, restitution };
    return MOR_OK;
}

void mor_world_combine(const mor_world* w, const mor_body* a, int shape_a, const mor_body* b, int shape_b,
                       double* friction, double* restitution, int* impact)
{
    int ma = shape_a >= 0 && shape_a < a->shape_count && a->shapes[shape_a].material >= 0 ? a->shapes[shape_a].material
                                                                                          : a->material;
    int mb = shape_b >= 0 && shape_b < b->shape_count && b->shapes[shape_b].material >= 0 ? b->shapes[shape_b].material
                                                                                          : b->material;
    const mor_material *x = &w->materials[ma], *y = &w->materials[mb];
    bool same = x->restitution == y->restitution;
    *impact = x->restitution > y->restitution || (same && x->impact > y->impact) ? x->impact : y->impact;
    const mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++)
        if ((rules[i].a == ma && rules[i].b == mb) || (rules[i].a == mb && rules[i].b == ma)) {
            *friction = rules[i].friction;
            *restitution = rules[i].restitution;
            return;
        }
    /* equal values must give themselves exactly, which sqrt(mu*mu) does not always */
    *friction = x->friction == y->friction ? x->friction : sqrt(x->friction * y->friction);
    *restitution = mor_max(x->restitution, y->restitution);
}

bool mor_world_bounces(const mor_world* w)
{
    const mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->material_count; i++)
        if (w->materials[i].restitution > 0.0) return true;
    for (int i = 0; i < w->pair_rules.count; i++)
        if (rules[i].restitution > 0.0) return true;
    return false;
}
