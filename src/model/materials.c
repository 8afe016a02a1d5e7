/* Materials: friction sqrt(mu1 mu2), restitution max(e1, e2), the larger rolling and drilling friction, unless the pair
 * has its own entry. */
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

/* The rule of two materials, made if there is none. */
static mor_code find_rule(mor_world* w, int a, int b, mor_pair_rule** rule, mor_error* error)
{
    if (!mor_world_material(w, a) || !mor_world_material(w, b))
        return mor_fail(error, MOR_BAD_INPUT, "there is no material number %d", mor_world_material(w, a) ? b : a);
    w->detected = false;
    w->revision++;
    mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++)
        if ((rules[i].a == a && rules[i].b == b) || (rules[i].a == b && rules[i].b == a))
            return *rule = &rules[i], MOR_OK;
    if (!mor_buffer_reserve(&w->allocator, &w->pair_rules, w->pair_rules.count + 1, sizeof *rules))
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    *rule = (mor_pair_rule*)w->pair_rules.data + w->pair_rules.count++;
    **rule = (mor_pair_rule){ a, b, NAN, NAN, NAN, NAN };
    return MOR_OK;
}

mor_code mor_world_set_pair(mor_world* w, int a, int b, double friction, double restitution, mor_error* error)
{
    if (!(friction >= 0.0) || !isfinite(friction) || !(restitution >= 0.0 && restitution <= 1.0))
        return mor_fail(error, MOR_BAD_INPUT,
                        "friction %g, restitution %g: friction is at least 0, restitution between 0 and 1", friction,
                        restitution);
    mor_pair_rule* rule;
    mor_code code = find_rule(w, a, b, &rule, error);
    if (code) return code;
    rule->friction = friction, rule->restitution = restitution;
    return MOR_OK;
}

mor_code mor_world_set_pair_turning(mor_world* w, int a, int b, double rolling, double drilling, mor_error* error)
{
    if (!(rolling >= 0.0 && isfinite(rolling)) || !(drilling >= 0.0 && isfinite(drilling)))
        return mor_fail(error, MOR_BAD_INPUT, "rolling friction %g m, drilling friction %g m: both are at least 0",
                        rolling, drilling);
    mor_pair_rule* rule;
    mor_code code = find_rule(w, a, b, &rule, error);
    if (code) return code;
    rule->rolling = rolling, rule->drilling = drilling;
    return MOR_OK;
}

int mor_world_turning(const mor_world* w)
{
    int most = 0;
    for (int i = 0; i < w->material_count; i++) {
        const mor_material* m = &w->materials[i];
        if (m->rolling > 0.0 && most < 1) most = 1;
        if (m->drilling > 0.0 && w->dimension == 3) most = 2;
    }
    const mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++) {
        if (rules[i].rolling > 0.0 && most < 1) most = 1;
        if (rules[i].drilling > 0.0 && w->dimension == 3) most = 2;
    }
    return most;
}

static int material_of(const mor_body* b, int shape)
{
    return shape >= 0 && shape < b->shape_count && b->shapes[shape].material >= 0 ? b->shapes[shape].material
                                                                                  : b->material;
}

void mor_world_combine(const mor_world* w, const mor_body* a, int shape_a, const mor_body* b, int shape_b,
                       mor_contact* c)
{
    int ma = material_of(a, shape_a), mb = material_of(b, shape_b);
    const mor_material *x = &w->materials[ma], *y = &w->materials[mb];
    /* equal values must give themselves exactly, which sqrt(mu*mu) does not always */
    c->friction = x->friction == y->friction ? x->friction : sqrt(x->friction * y->friction);
    c->restitution = mor_max(x->restitution, y->restitution);
    bool same = x->restitution == y->restitution;
    c->impact = x->restitution > y->restitution || (same && x->impact > y->impact) ? x->impact : y->impact;
    c->rolling = mor_max(x->rolling, y->rolling);
    c->drilling = mor_max(x->drilling, y->drilling);
    c->tangential = mor_max(x->tangential, y->tangential);
    const mor_pair_rule* rules = w->pair_rules.data;
    for (int i = 0; i < w->pair_rules.count; i++) {
        const mor_pair_rule* r = &rules[i];
        if (!((r->a == ma && r->b == mb) || (r->a == mb && r->b == ma))) continue;
        if (r->friction == r->friction) c->friction = r->friction, c->restitution = r->restitution;
        if (r->rolling == r->rolling) c->rolling = r->rolling, c->drilling = r->drilling;
        break;
    }
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
