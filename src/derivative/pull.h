/* The derivative of a step the other way: the gradient of a number by the end of the step becomes that by its start.
 *
 * With the weights l of the end, S = A_p + A_u W and the letters of derivative.c,
 *
 *     w = E_nu' l,    S' y = G' M^-1 w,    w_V = w - G A_u' y,    w_u = -A_u' y,    w_mu = -g' y
 *     l' dz+ = (E_z' l)' dz + w_V' dV + w_u' du_0 + w_mu' dmu,
 *
 * one solve for one gradient, whatever the number of states. No derivative is formed as a matrix: contacts, bodies and
 * robots pull their own weights back (contact_slopes.c, robot_pull.c, inverse.h). */
#ifndef MOREAU_DERIVATIVE_PULL_H
#define MOREAU_DERIVATIVE_PULL_H

#include "derivative/law.h"
#include "derivative/look.h"

typedef struct mor_weights {
    const double* end; /* 2 n: given */
    double* V;         /* of all trees: of dnu+, then of dV */
    double* impulse;   /* M^-1 V: of impulses on the trees */
    double *u, *mu;    /* of the kept rows and blocks */
    double* momentum;  /* 6 for each tree: of the momentum that the end of a robot's step keeps (robot_pull.c) */
    double* patch;     /* 6 for each patch in which nothing moves: of its du_0 (patch.h) */
    double* state;     /* 2 n: the gradient by the start */
} mor_weights;

/* What is known of a step that was taken before. */
typedef struct mor_taken {
    bool moved;                  /* the position projection acted in it */
    bool followed;               /* the last gradient went through the step after it, without a matrix */
    const mor_contact* contacts; /* with their impulses; NULL: not known */
    int contact_count;
} mor_taken;

/* The gradient by the state and the inputs (2 n + inputs numbers) of a number that has the gradient `end` by the state
 * after the coming step. Fills `out` but for its matrix; its distance
 * knows nothing of the projection. Where the way back is closed (impacts, edges, joints in maximal coordinates), the
 * matrix of the step is made and multiplied; *direct (if not NULL) says whether it was open. */
mor_code mor_pull_step(mor_world* world, const mor_input* inputs, int count, const mor_taken* taken, const double* end,
                       double* gradient, mor_derivative* out, bool* direct, mor_error* error);

/* active.c: the contacts of kept blocks first .. last, all of one island. w->V becomes the weights of dV; u, mu and
 * patch are filled. *done = false: redundant contacts. Sets *many. */
mor_code mor_active_pull(mor_derivation* d, const mor_law* laws, int first, int last, mor_weights* w, bool* many,
                         bool* done);

#endif
