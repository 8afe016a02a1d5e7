/* One look at the equations of a step, at the state of the world or next to it.
 *
 * With the velocities nu+ and impulses p of the step held fixed, the state z and the inputs decide
 *
 *     V(z) = nu_free + M^-1 G p,    u(z) = G' nu+ + b,    mu(z),    E(z) = the state at the end of the step.
 *
 * Differences of these between neighbouring states are the right-hand sides of the implicit function theorem
 * (derivative.c). No problem is solved for them. */
#ifndef MOREAU_DERIVATIVE_LOOK_H
#define MOREAU_DERIVATIVE_LOOK_H

#include "model/step.h"
#include "moreau/derivative.h"

typedef struct mor_look {
    double* V;  /* of all trees */
    double* u;  /* of the kept rows */
    double* mu; /* of the kept blocks */
    double* q;  /* flat state at the end (moreau/state.h) */
    double* nu;
    bool lost; /* a kept row was not found: the geometry changes here */
} mor_look;

/* A kept block: a contact or a block of joint rows that bears an impulse or may do so. */
typedef struct mor_kept {
    int island, block; /* in the base step */
    int row, dim;      /* first row among the kept ones */
    int contact;       /* index in the contacts of the base step, -1: rows of a joint */
    bool sticks;       /* a contact that does */
    bool clipped;      /* a contact so deep that its gap does not count (formulation/contact_rows.c) */
    size_t key;        /* of rows of joints: where their memory lies in the model */
} mor_kept;

typedef struct mor_derivation {
    mor_world* world;
    mor_step *base, *trial;
    const mor_step* after; /* the base step of the step that follows, with robots where this one ends; NULL: unknown */
    bool advanced;         /* the draft of the base step is at its end (mor_slopes_advance) */
    struct mor_start* start; /* what it was before */
    int n;                   /* numbers of nu */
    int dof;                 /* of all trees, springs included */
    int* tree;               /* n: tree of each number of nu */
    int* part;               /* n: which of its velocities */
    mor_kept* kept;
    int kept_count, rows;
    bool* loaded;              /* tree -> it has kept rows; others move freely, and their nu+ is V */
    double* nu;                /* velocities of the base step, all trees */
    double* p;                 /* impulses of the kept rows */
    struct mor_patch* patches; /* kept blocks that hold two bodies to each other (patch.h); NULL: not looked for */
    int* patch_of;             /* kept -> patch, -1: none */
    int patch_count;
    const struct mor_law* patch_laws; /* the laws that they are of */
    double* bias_shift;               /* what stabilisation added to the rows of joints: constant */
    mor_material* materials;          /* copy for the trial */
    bool projecting;          /* a pass of the position projection is looked at, not the step (projection.c); base is
                                the assembly beside the step then, nu is dq */
    const char* unknown;      /* what of the step is not in the equations; NULL: nothing */
    double *end_q, *end_nu;   /* the end of the step as looks see it; NULL: no look was taken */
    int side;                 /* 1, -1: derivatives along or against each direction; 0: they must agree */
    bool one_sided;           /* looks are taken to that side only: the rows of a bound change at it */
    double regular;           /* convex: its rows have regular W_nn p beside u, which depends on the state as well */
    double smoothing;         /* of the contact law [m/s] (smooth.h); 0: the law itself */
    const mor_contact* known; /* contacts of this very step, as it was taken, with their impulses; NULL: they are
                                 found, and solved for from those of the step before */
    int known_count;
    bool* anchored;   /* by contact of the base step: it has stuck since an earlier step; NULL: none does (anchored) */
    bool taken;       /* the answer of the base step is that of the known one */
    double law_error; /* by how much the answer misses the laws [m/s] */
    bool finest;      /* the base step is solved as far as it is asked for anywhere */
    double gain;      /* of a controller, before it was */
    double growth;    /* of the shapes of one body of the trial about its centre of mass; 0: of none */
    int grown;        /* its slot */
    bool moved;
    bool ready; /* the trial is at the state that the base step began with (mor_look_ready) */
    const mor_input* inputs;
    int input_count;
    mor_arena* arena;
} mor_derivation;

/* Columns, one per direction: dV (dof), du (rows), dmu (kept blocks), the end (2 n). After the solve V holds dnu+. */
typedef struct mor_columns {
    int count;
    bool many; /* the motion depends on impulses that are not unique */
    bool own;  /* columns are not those of the state and of inputs, but of their own */
    bool torn; /* rows that all hold cannot be followed along some direction */
    double *V, *u, *mu, *end;
    int mu_from; /* columns before it have no mu: it is zero */
    double* p;   /* dp of the kept rows, rows each; NULL: not wanted */
} mor_columns;

struct mor_laws;
/* The parts of a derivative (derivative.c). Open: what cannot be derived is refused; room. Begin: the base step is
 * solved, and the rows that act are kept with their laws. Columns: all of them (patches are looked for before). Close:
 * also after a failure. */
mor_code mor_derivation_open(mor_world* world, const mor_input* inputs, int count, mor_derivation* d, mor_error* error);
mor_code mor_derivation_begin(mor_derivation* d, struct mor_laws* laws, mor_derivative* out, mor_error* error);
mor_code mor_derivation_columns(mor_derivation* d, const struct mor_laws* laws, mor_columns* c, mor_derivative* out,
                                mor_error* error);
void mor_derivation_close(mor_derivation* d);
/* Room for all columns; false: out of memory. */
bool mor_columns_create(mor_derivation* d, mor_columns* c);

/* dmu of a kept block in a column. */
static inline double mor_column_mu(const mor_derivation* d, const mor_columns* c, int column, int kept)
{
    return column < c->mu_from ? 0.0 : c->mu[(size_t)column * (size_t)d->kept_count + (size_t)kept];
}

/* Moves the draft of the trial by `amount` along one direction: a state (0 to 2n - 1) or an input. False: out of
 * memory. */
bool mor_perturb(mor_derivation* d, int direction, double amount);
/* How far a direction is moved for a difference. */
double mor_perturbation(const mor_derivation* d, int direction);
/* Is there such an input? Bad input with a sentence that calls it input k. */
mor_code mor_input_check(const mor_world* world, const mor_input* input, int k, mor_error* error);
/* The gain or target of a controller that an input means; NULL: the controller has none. */
double* mor_input_gain(const mor_world* world, const mor_input* input);
/* Undoes what mor_perturb allocated, and what it changed beyond the draft. */
void mor_perturb_release(mor_derivation* d, int direction);

/* The draft of the trial is again the state that the base step began with. */
mor_code mor_look_begin(mor_derivation* d);
/* The same, unless it is so since mor_slopes_begin: the short way moves the trial back after every look. */
mor_code mor_look_ready(mor_derivation* d);
/* Looks at the state that lies `amount` along a direction (-1: none). */
mor_code mor_look_at(mor_derivation* d, int direction, double amount, mor_look* look, mor_error* error);
/* E for velocities nu+ that differ: only the end is looked at. */
mor_code mor_look_at_end(mor_derivation* d, const double* nu, mor_look* look, mor_error* error);
/* The column of a direction by looks to both sides; *lost = true: a kept row was not found on one of them. */
mor_code mor_look_columns(mor_derivation* d, int direction, mor_look* a, mor_look* b, mor_columns* c, bool* lost,
                          mor_error* error);
/* end += E_nu dnu+ (c->V) in all columns. */
mor_code mor_look_ends(mor_derivation* d, mor_look* a, mor_look* b, mor_columns* c, mor_error* error);
/* Does a tree move with the velocity (1 - share) nu + share nu+ in the base step, which has nu_move? */
bool mor_moves_by(const mor_derivation* d, const mor_tree* t, double share);
/* All columns of the ends as differences of whole steps, solved on both sides (whole.c): for steps whose equations are
 * not those of look.h. *agree = false: differences of two lengths, or to the two sides, do not agree. */
mor_code mor_whole_columns(mor_derivation* d, mor_columns* c, bool* agree, mor_error* error);
/* The same of the columns of masses and sizes alone. */
mor_code mor_whole_inputs(mor_derivation* d, mor_columns* c, bool* agree, mor_error* error);
/* mor_world_adjoint with so many bytes for states. */
mor_code mor_adjoint_within(mor_world* world, size_t memory, int steps, const double* gradient, const mor_input* inputs,
                            int count, double* state_gradient, double* input_gradients, mor_derivative** derivative,
                            mor_error* error);
/* Names a block of joint rows by where its impulses are remembered: the same in every step of the world. */
size_t mor_memory_key(const mor_step* step, const double* memory);
/* Memory for one look. */
bool mor_look_create(const mor_derivation* d, mor_look* look);
/* An answer with a matrix that is not filled yet, rows x columns; NULL: out of memory. */
mor_derivative* mor_derivative_create(const mor_world* world, int rows, int columns, double** matrix);
/* The rotation vector from quaternion b to a, over `by`. */
void mor_turn_between(const double* a, const double* b, double by, double* out);
/* out (2 n) := (a - b) / by, positions in the tangent space at b. */
void mor_look_difference(const mor_derivation* d, const mor_look* a, const mor_look* b, double by, double* out);

#endif
