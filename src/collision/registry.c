#include "collision/registry.h"
#include "collision/detect.h"
#include "collision/features.h"

#include <math.h>

#define COMMON_FIELDS                                                                                                  \
    { "reach",                                                                                                         \
      MOR_TYPE_CHOICE,                                                                                                 \
      offsetof(mor_collision_options, reach),                                                                          \
      0,                                                                                                               \
      0,                                                                                                               \
      0,                                                                                                               \
      "swept|fixed",                                                                                                   \
      "",                                                                                                              \
      "swept: epsilon widened by what the pair can travel in the step; fixed: epsilon alone" },                        \
        { "activation",                                                                                                \
          MOR_TYPE_CHOICE,                                                                                             \
          offsetof(mor_collision_options, activation),                                                                 \
          0,                                                                                                           \
          0,                                                                                                           \
          0,                                                                                                           \
          "feature|body",                                                                                              \
          "",                                                                                                          \
          "body: all features of a shape are reported as soon as one is near" },                                       \
    {                                                                                                                  \
        "psi_min", MOR_TYPE_DOUBLE, offsetof(mor_collision_options, psi_min), -INFINITY, -INFINITY, 0, NULL, "m",      \
            "contacts deeper than this are ignored"                                                                    \
    }

static const mor_field manifold_fields[] = {
    { "epsilon", MOR_TYPE_DOUBLE, offsetof(mor_collision_options, epsilon), -1, 0, 1e6, "auto", "m",
      "contacts nearer than this are reported; auto: a hundredth of the smaller shape's bounding radius" },
    COMMON_FIELDS,
    { 0 }
};

/* exact geometry: how far planes are looked for is part of the papers' method */
static const mor_field features_fields[] = {
    { "epsilon", MOR_TYPE_DOUBLE, offsetof(mor_collision_options, epsilon), 0.01, 0, 1e6, "auto", "m",
      "contacts nearer than this are reported; auto: a hundredth of the smaller shape's bounding radius" },
    COMMON_FIELDS,
    { 0 }
};

static mor_code manifold_detect(void* memory, const mor_world* world, const void* options, mor_found* found,
                                mor_error* error)
{
    (void)world;
    return mor_detect(memory, found, options, NULL, NULL, 1.0, error);
}

static const mor_collision manifold = {
    .name = "manifold",
    .summary = "nearest features with clipped face manifolds, positive gaps included",
    .reference = "gottschalk1996",
    .options_size = sizeof(mor_collision_options),
    .fields = manifold_fields,
    .detect = manifold_detect,
    .create = mor_broad_phase_create,
    .destroy = mor_broad_phase_destroy,
};

static const mor_collision features = {
    .name = "features",
    .summary = "separating planes of convex pieces with their contact points, or the papers' contacts by vertex",
    .reference = "flickinger2015",
    .options_size = sizeof(mor_collision_options),
    .fields = features_fields,
    .detect = mor_features_detect,
    .create = mor_broad_phase_create,
    .destroy = mor_broad_phase_destroy,
    .planes = true,
};

const mor_collision* const* mor_collisions(void)
{
    static const mor_collision* const all[] = { &manifold, &features, NULL };
    return all;
}
