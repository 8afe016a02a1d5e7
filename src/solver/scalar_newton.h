/* What fischer-newton, cck-newton and minmap-newton share: options and the call of the Newton kernel. */
#ifndef MOR_SOLVER_SCALAR_NEWTON_H
#define MOR_SOLVER_SCALAR_NEWTON_H

#include "solver/contact_newton.h"

typedef struct mor_scalar_newton_options {
    int linear;
    double sigma;
    int window;
    double lambda; /* cck only */
} mor_scalar_newton_options;

/* Solves the LCP by Newton's method on the given map. */
mor_report mor_scalar_newton(mor_contact_map map, const mor_problem* problem, const mor_scalar_newton_options* options,
                             mor_context* context, double* z);

/* Option lines in common, for the tables. */
#define MOR_SCALAR_NEWTON_FIELDS                                                                                       \
    { "linear",                                                                                                        \
      MOR_TYPE_CHOICE,                                                                                                 \
      offsetof(mor_scalar_newton_options, linear),                                                                     \
      0,                                                                                                               \
      0,                                                                                                               \
      0,                                                                                                               \
      "direct|cg|gmres",                                                                                               \
      "",                                                                                                              \
      "linear solver of a step; cg (normal equations) and gmres never assemble the Newton matrix" },                   \
        { "sigma",                                                                                                     \
          MOR_TYPE_DOUBLE,                                                                                             \
          offsetof(mor_scalar_newton_options, sigma),                                                                  \
          0.1,                                                                                                         \
          0,                                                                                                           \
          1000,                                                                                                        \
          NULL,                                                                                                        \
          "",                                                                                                          \
          "regularisation per residual; 0: the plain method" },                                                        \
    {                                                                                                                  \
        "window", MOR_TYPE_INT, offsetof(mor_scalar_newton_options, window), 8, 1, 64, NULL, "",                       \
            "merits remembered by the non-monotone line search; 1: monotone"                                           \
    }

#endif
