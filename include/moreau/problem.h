/* Complementarity problems as data: what a formulation writes and a solver reads.
 *
 * One struct holds every form, so that a problem can be printed, saved, loaded, converted and
 * solved without knowing where it came from. Matrices and vectors are borrowed, never owned.
 *
 *   form      statement                                                           unknowns z
 *   LCP       w = A z + b,  0 <= z  _|_  w >= 0                                    z        (n)
 *   MLCP      w = A z + b,  z_i free and w_i = 0 where lower_i = -inf,
 *             else 0 <= z_i _|_ w_i >= 0                                           z        (n)
 *   MCP       w = A z + b,  lower <= z <= upper, w_i >= 0 at lower, <= 0 at upper  z        (n)
 *   FC        u = A r + b, Coulomb's law for every contact (block of `dim` rows)   r        (n)
 *   GFC       M v = H r + f, u = H' v + b, Coulomb's law for every contact         r, then v
 *   STEP      one time step in tree form: nu = nu_free + M^-1 G p, u = G' nu + b,
 *             each block of rows an equation, a bounded row or a contact           p        (n)
 *   QP        minimise z'A z/2 + b'z, lower <= z <= upper, c_lower <= C z <= c_upper   z    (n)
 *   CQP       minimise r'A r/2 + b'r over the friction cones (convex relaxation)   r        (n)
 *
 * Coulomb's law of a contact with rows (normal, tangents): with s = mu |u_T|,
 *   K* contains (u_N + s, u_T), orthogonal to r in K = { |r_T| <= mu r_N }   (De Saxce);
 * dim 2: one tangent; 3: two tangents; 5: two tangents and two rolling rows with
 * |r_R| <= mu_roll r_N and mu_roll |u_R| added to u_N; 6 (STEP only): a drilling row after these, with
 * |r_D| <= mu_drill r_N and mu_drill |u_D| added to u_N. In a STEP the discs of T and R may
 * be regular polygons with `directions` corners d_j = (cos 2 pi j/n_d, sin 2 pi j/n_d), j = 0 ... :
 * the Stewart-Trinkle pyramid, written without its multipliers.
 *
 *     double a[4] = { 2, 1, 1, 2 }, b[2] = { -1, -1 }, z[2] = { 1.0 / 3, 1.0 / 3 };
 *     mor_problem problem = { .form = MOR_LCP, .size = 2, .b = b };
 *     problem.A = (mor_matrix){ .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = a };
 *     mor_arena* arena = mor_arena_create(NULL);
 *     mor_residual residual = mor_judge(&problem, z, arena);
 *     printf("relative error %g\n", mor_judge_error(&problem, &residual));
 *     mor_arena_destroy(arena);
 *
 * Threads: all functions only read their problem and may be called from any thread, with an arena per thread.
 * Ownership: a problem owns nothing; the arrays it points to must live as long as it is used.
 * ABI: start with a zeroed struct and name the fields you set, as above; fields may be added. */
#ifndef MOREAU_PROBLEM_H
#define MOREAU_PROBLEM_H

#include "moreau/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The form of a problem; bits, so that a solver can name all it takes. */
typedef enum mor_form {
    MOR_LCP = 1 << 0,
    MOR_MLCP = 1 << 1,
    MOR_MCP = 1 << 2,
    MOR_FC2D = 1 << 3,
    MOR_FC3D = 1 << 4,
    MOR_FC_ROLLING = 1 << 5,
    MOR_GFC2D = 1 << 6,
    MOR_GFC3D = 1 << 7,
    MOR_GFC_ROLLING = 1 << 8,
    MOR_STEP_PYRAMID = 1 << 9, /* every contact of the step has a polygonal cone or no friction */
    MOR_STEP_CONE = 1 << 10,   /* exact (circular) cones; mixed steps count as this */
    MOR_QP = 1 << 11,
    MOR_CQP = 1 << 12
} mor_form;

/* "lcp", "mlcp", "mcp", "fc2d", "fc3d", "rfc3d", "gfc2d", "gfc3d", "grfc3d", "step-pyramid",
 * "step-cone", "qp", "cqp". NULL for a value that is not a single form. */
MOR_API const char* mor_form_name(mor_form form);

/* ------------------------------------------------------------------------------ matrices */

/* How a matrix is stored. */
typedef enum mor_storage {
    MOR_DENSE,   /* x[i + j*rows]: column-major */
    MOR_SPARSE,  /* compressed rows: row i holds columns i[p[i]..p[i+1]) with values x[...], ascending */
    MOR_OPERATOR /* only y = A x is known */
} mor_storage;

/* A matrix; its arrays are borrowed. */
typedef struct mor_matrix {
    mor_storage storage; /* which of the fields below count */
    int rows, cols;      /* both at least 0 */
    double* x;           /* values: dense, sparse */
    int* p;              /* sparse: rows + 1 starts of the rows */
    int* i;              /* sparse: columns of the values */
    /* operator: y = A x; `y` has `rows` entries. Called on the thread that solves. */
    void (*apply)(void* user, const double* x, double* y);
    void* user; /* handed to `apply` */
} mor_matrix;

/* y = A x */
MOR_API void mor_matrix_apply(const mor_matrix* A, const double* x, double* y);
/* y = A' x (dense and sparse only) */
MOR_API void mor_matrix_apply_transposed(const mor_matrix* A, const double* x, double* y);

/* ---------------------------------------------------------------- one time step as trees */

/* A tree owns `dof` generalised velocities and its block of the mass matrix. */
typedef struct mor_tree_block {
    int dof, offset;            /* its velocities are nu[offset .. offset + dof) */
    const double* mass;         /* dof x dof, row-major, symmetric */
    const double* mass_inverse; /* dof x dof, row-major; NULL where a formulation did not ask for it */
} mor_tree_block;

/* The part of a block of rows that acts on one tree: `dim` x dof(tree) coefficients, row-major,
 * at jacobian[start] (the transposed columns of G) and response[start] (rows of G' M^-1). */
typedef struct mor_entry {
    int tree;  /* index in the trees */
    int start; /* first of dim x dof numbers, row-major */
} mor_entry;

/* What the rows of a block ask for. */
typedef enum mor_block_kind {
    MOR_BLOCK_EQUATION, /* u = 0, impulse free */
    MOR_BLOCK_BOUNDED,  /* one row: lower <= p <= upper, u complementary to the bounds */
    MOR_BLOCK_CONTACT   /* rows (n), (n,t), (n,t,o), (n,t,o,r,r) or (n,t,o,r,r,d) */
} mor_block_kind;

/* A few rows of G that belong together. */
typedef struct mor_block {
    mor_block_kind kind;    /* what they ask for */
    int dim;                /* rows in this block */
    int row;                /* its first row */
    int entry, entry_count; /* its Jacobian: entries[entry .. entry+entry_count) */
    double mu, mu_roll;     /* contacts: Coulomb and rolling coefficient (m) */
    int directions;         /* contacts with two tangents: corners of the polygon; 0 = circular cone */
    double lower, upper;    /* bounded rows: of the impulse [N s, N m s] */
    double mu_drill;        /* contacts with six rows: drilling coefficient (m) */
} mor_block;

/* M, G, nu_free and the blocks: enough to run Gauss-Seidel on tree velocities without forming
 * W = G' M^-1 G. `diagonal` holds every block's own W_cc, dim x dim row-major, in block order. */
typedef struct mor_step_form {
    int tree_count, dof;         /* trees, and their velocities in all */
    const mor_tree_block* trees; /* tree_count */
    const double* nu_free;       /* dof: velocities without any impulse of the rows [m/s, rad/s] */
    int block_count, row_count;  /* blocks, and their rows in all */
    const mor_block* blocks;     /* block_count, rows in order */
    const mor_entry* entries;    /* which trees a block acts on */
    const double* jacobian;      /* G' by entries */
    const double* response;      /* G' M^-1 by entries */
    const double* diagonal;      /* W_cc of every block */
    const int* diagonal_start;   /* block_count: where each block's W_cc begins */
    const double* bias;          /* row_count: b, e.g. gap/h + d(psi)/dt */
} mor_step_form;

/* ------------------------------------------------------------------------------- problem */

/* A problem. Fields that its form does not name are ignored. */
typedef struct mor_problem {
    mor_form form;       /* one bit */
    int size;            /* number of unknowns n (GFC: of r only) */
    mor_matrix A;        /* LCP, MLCP, MCP, FC (= W), QP, CQP */
    const double* b;     /* n; also for GFC */
    const double* lower; /* MLCP (-inf marks a free variable), MCP, QP; NULL = 0 */
    const double* upper; /* MCP, QP; NULL = +inf */
    int group_count;     /* MLCP read from a file with blocks of rows: its measure sums norms per block */
    const int* groups;   /* group_count + 1 first rows; NULL: one block of each kind */

    int contact_count, dim; /* FC, GFC, CQP: n = contact_count * dim */
    const double* mu;       /* contact_count */
    const double* mu_roll;  /* contact_count, rolling only */

    mor_matrix M, H; /* GFC: mass (m x m) and H (m x n) */
    const double* f; /* GFC: m */

    mor_matrix C;          /* QP: rows with bounds */
    const double* c_lower; /* QP: C.rows; -inf: none */
    const double* c_upper; /* QP: C.rows; inf: none */

    mor_step_form step; /* STEP */

    const char* name;      /* for reports; may be NULL */
    double reference_norm; /* |r| of a known solution, or 0: guards the absolute error against self-stress */
} mor_problem;

/* Length of the vector z a solver returns: size, plus M.rows for global problems. */
MOR_API int mor_problem_unknowns(const mor_problem* problem);
/* Checks sizes, ranges, NaN and Inf in all data. MOR_OK or a sentence that names the field. */
MOR_API mor_code mor_problem_check(const mor_problem* problem, mor_error* error);

/* --------------------------------------------------------------------------- the judge */

/* Every measure of how wrong an answer is; NaN where a measure does not apply to the form. The
 * same code judges every method (docs/notation.md, "error measures"). */
typedef struct mor_residual {
    double relative;       /* the Siconos measure of the form (natural map over a scale) */
    double absolute;       /* the same without the scale */
    double velocity;       /* contacts: largest |p - P_K(p - rho u^)|/rho, rho = 1/|W_cc|, m/s */
    double natural;        /* 1/2 |min(z,w)|^2, or of the cone's natural map */
    double fb;             /* 1/2 |phi_FB|^2 */
    double cck;            /* 1/2 |phi_CCK|^2, lambda = 0.7 */
    double normal_error;   /* contacts: largest violation of 0 <= p_n _|_ u_n >= 0 */
    double friction_error; /* contacts: largest cone violation or misalignment of slip and friction */
    double friction_power; /* contacts: sum of slip speed times friction impulse */
} mor_residual;

/* Judges z (and, for STEP, the velocity it implies). `arena` gives scratch and is left as it was. NaN in z gives NaN
 * measures, which pass no test of the form error <= tol. */
MOR_API mor_residual mor_judge(const mor_problem* problem, const double* z, mor_arena* arena);
/* The one number a tolerance refers to: STEP: velocity [m/s]; all others: relative. */
MOR_API double mor_judge_error(const mor_problem* problem, const mor_residual* residual);
/* What rounding alone makes of mor_judge_error for a STEP at this answer: tolerances below are
 * raised to it, because no method can do better in double precision. */
MOR_API double mor_judge_floor(const mor_problem* problem, const double* z, mor_arena* arena);

/* -------------------------------------------------------------------- reports and traces */

#define MOR_STATUS_LIST(X)                                                                                             \
    X(MOR_SOLVED, "solved")               /* the judge's error is within the tolerance */                              \
    X(MOR_NOT_CONVERGED, "not_converged") /* iterations used up, stalled or a ray not proved */                        \
    X(MOR_NO_SOLUTION, "no_solution")     /* proved */                                                                 \
    X(MOR_REFUSED, "refused")             /* not a form or data this method takes */                                   \
    X(MOR_TIME_LIMIT, "time_limit")                                                                                    \
    X(MOR_NUMERICAL, "numerical")     /* breakdown: singular factor, NaN */                                            \
    X(MOR_APPROXIMATE, "approximate") /* by a method with a fixed budget, which promises no error: the residual tells */

typedef enum mor_status {
#define MOR_STATUS_ENUM(id, word) id,
    MOR_STATUS_LIST(MOR_STATUS_ENUM)
#undef MOR_STATUS_ENUM
} mor_status;
/* "solved", "not_converged" ...; "?" for a value that is none. */
MOR_API const char* mor_status_name(mor_status status);

/* What became of a problem. */
typedef struct mor_report {
    mor_status status;     /* the judge's verdict */
    int iterations;        /* sweeps, pivots, Newton steps: the solver's page says which */
    double time_s;         /* solver alone, conversions excluded [s] */
    mor_residual residual; /* of the answer, on the problem as it was posed */
    char detail[160];      /* one sentence: why refused, what auto did, ... */
} mor_report;

/* One line per iteration; filled by solvers through mor_trace_add when a trace is wanted. */
typedef struct mor_trace_line {
    int iteration;              /* from 1 */
    double time_s, step_length; /* since the start [s]; of the method, NaN or 0 where it has none */
    mor_residual residual;      /* of the iterate, on the problem as it was posed */
} mor_trace_line;

/* The lines of one solve. Start with a zeroed struct; mor_trace_free ends it. */
typedef struct mor_trace {
    mor_trace_line* lines; /* `count` of them */
    int count, capacity;   /* used, allocated */
    int every;             /* keep every k-th iteration; 0 = 1 */
    /* NULL, or told of every line, with the iterate in the unknowns of the problem as it was posed; on the thread that
     * solves */
    void (*each)(void* user, const mor_trace_line* line, const double* z);
    void* user; /* handed to `each` */
} mor_trace;

#ifdef __cplusplus
}
#endif
#endif
