/* Siconos numerics behind one call. Only this file includes it. Matrices are built from our own reading of the file in
 * the storage asked for (mixed LCPs: by the reader of Siconos); options are those of Siconos, with the tolerance and
 * room for iterations set. */
#include "bench.h"

#include <SiconosConfig.h>
#include <stdlib.h>
#include <string.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <GlobalRollingFrictionContactProblem.h>
#include <LinearComplementarityProblem.h>
#include <MLCP_Solvers.h>
#include <MixedLinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>
#include <mlcp_cst.h>

const char* bench_siconos_version(void) { return "4.4.0"; }

typedef struct name_id {
    const char *kind, *name;
    int id, local; /* local: solver of one contact, 0: the default */
} name_id;

#define LCP(NAME, ID)                                                                                                  \
    {                                                                                                                  \
        "lcp", NAME, SICONOS_LCP_##ID, 0                                                                               \
    }
#define MLCP(NAME, ID)                                                                                                 \
    {                                                                                                                  \
        "mlcp", NAME, SICONOS_MLCP_##ID, 0                                                                             \
    }
#define FC3D(NAME, ID)                                                                                                 \
    {                                                                                                                  \
        "fc3d", NAME, SICONOS_FRICTION_3D_##ID, 0                                                                      \
    }
#define GFC3D(NAME)                                                                                                    \
    {                                                                                                                  \
        "gfc3d", #NAME, SICONOS_GLOBAL_FRICTION_3D_##NAME, 0                                                           \
    }
static const name_id names[] = {
    LCP("LEMKE", LEMKE),
    LCP("PGS", PGS),
    LCP("CPG", CPG),
    LCP("LATIN", LATIN),
    LCP("NEWTONMIN", NEWTONMIN),
    LCP("NEWTON_FB", NEWTON_FB_FBLSA),
    LCP("NEWTON_MIN_FBLSA", NEWTON_MIN_FBLSA),
    LCP("PSOR", PSOR),
    LCP("RPGS", RPGS),
    LCP("ENUM", ENUM),
    LCP("AVI_CAOFERRIS", AVI_CAOFERRIS),
    LCP("PIVOT", PIVOT),
    LCP("BARD", BARD),
    LCP("MURTY", MURTY),
    LCP("PATHSEARCH", PATHSEARCH),
    LCP("PIVOT_LUMOD", PIVOT_LUMOD),
    LCP("CONVEXQP_PG", CONVEXQP_PG),
    MLCP("PGS", PGS),
    MLCP("RPGS", RPGS),
    MLCP("PSOR", PSOR),
    MLCP("RPSOR", RPSOR),
    MLCP("ENUM", ENUM),
    MLCP("DIRECT_ENUM", DIRECT_ENUM),
    MLCP("FB", FB),
    MLCP("PGS_SBM", PGS_SBM),
    MLCP("LEMKE", LCP_LEMKE),
    { "fc2d", "NSGS", SICONOS_FRICTION_2D_NSGS, 0 },
    { "fc2d", "CPG", SICONOS_FRICTION_2D_CPG, 0 },
    { "fc2d", "LEMKE", SICONOS_FRICTION_2D_LEMKE, 0 },
    FC3D("NSGS", NSGS),
    { "fc3d", "NSGS_PLI", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration },
    { "fc3d", "NSGS_QUARTIC", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC },
    FC3D("PROX", PROX),
    FC3D("TFP", TFP),
    FC3D("NSN_AC", NSN_AC),
    FC3D("NSN_FB", NSN_FB),
    FC3D("NSN_NM", NSN_NM),
    FC3D("DSFP", DSFP),
    FC3D("VI_FPP", VI_FPP),
    FC3D("VI_EG", VI_EG),
    FC3D("ACLMFP", ACLMFP),
    FC3D("ADMM", ADMM),
    GFC3D(NSGS),
    GFC3D(NSGS_WR),
    GFC3D(PROX_WR),
    GFC3D(NSN_AC),
    GFC3D(NSN_AC_WR),
    GFC3D(VI_FPP),
    GFC3D(VI_EG),
    GFC3D(ADMM),
    GFC3D(ADMM_WR),
    { "rfc3d", "NSGS", SICONOS_ROLLING_FRICTION_3D_NSGS, 0 },
    { "rfc3d", "ADMM", SICONOS_ROLLING_FRICTION_3D_ADMM, 0 },
    { "grfc3d", "NSGS_WR", SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR, 0 },
    { NULL, NULL, 0, 0 }
};

static NumericsMatrix* matrix(const mor_matrix* A, const char* storage, int block)
{
    NumericsMatrix* M = NM_create(strcmp(storage, "dense") == 0 ? NM_DENSE : NM_SPARSE, A->rows, A->cols);
    if (M->storageType == NM_SPARSE) {
        NM_triplet_alloc(M, A->storage == MOR_SPARSE ? A->p[A->rows] : A->rows * A->cols);
        M->matrix2->origin = NSM_TRIPLET;
    }
    for (int i = 0; i < A->rows; i++)
        if (A->storage == MOR_SPARSE)
            for (int k = A->p[i]; k < A->p[i + 1]; k++) {
                if (M->storageType == NM_DENSE) M->matrix0[i + (size_t)A->i[k] * A->rows] = A->x[k];
                else NM_zentry(M, i, A->i[k], A->x[k], 0.0);
            }
        else
            for (int j = 0; j < A->cols; j++) {
                double x = A->x[i + (size_t)j * A->rows];
                if (M->storageType == NM_DENSE) M->matrix0[i + (size_t)j * A->rows] = x;
                else if (x != 0.0) NM_zentry(M, i, j, x, 0.0);
            }
    if (strcmp(storage, "block") != 0) return M;
    NumericsMatrix* B = NM_create(NM_SPARSE_BLOCK, A->rows, A->cols);
    if (!B->matrix1) B->matrix1 = SBM_new();
    SBM_from_csparse(block, NM_csc(M), B->matrix1);
    return B;
}

/* What a driver needs, whatever the kind. */
typedef struct call {
    const char* kind;
    void* problem;
    SolverOptions* options;
    double *z, *w, *v;
    int size, dof;
} call;

static int drive(call* c)
{
    memset(c->z, 0, (size_t)c->size * sizeof *c->z);
    memset(c->w, 0, (size_t)c->size * sizeof *c->w);
    if (c->dof) memset(c->v, 0, (size_t)c->dof * sizeof *c->v);
    if (strcmp(c->kind, "lcp") == 0) return linearComplementarity_driver(c->problem, c->z, c->w, c->options);
    if (strcmp(c->kind, "mlcp") == 0) return mlcp_driver(c->problem, c->z, c->w, c->options);
    if (strcmp(c->kind, "fc2d") == 0) return fc2d_driver(c->problem, c->z, c->w, c->options);
    if (strcmp(c->kind, "fc3d") == 0) return fc3d_driver(c->problem, c->z, c->w, c->options);
    if (strcmp(c->kind, "rfc3d") == 0) return rolling_fc3d_driver(c->problem, c->z, c->w, c->options);
    if (strcmp(c->kind, "gfc3d") == 0) return gfc3d_driver(c->problem, c->z, c->w, c->v, c->options);
    return g_rolling_fc3d_driver(c->problem, c->z, c->w, c->v, c->options);
}

static double* copy(const double* x, int n)
{
    double* y = calloc((size_t)n + 1, sizeof *y);
    if (y && x) memcpy(y, x, (size_t)n * sizeof *y);
    return y;
}

static void* build(const char* kind, const char* path, const mor_problem* p, const char* storage)
{
    if (strcmp(kind, "mlcp") == 0) {
        MixedLinearComplementarityProblem* m = mixedLinearComplementarity_new();
        mixedLinearComplementarity_newFromFilename(m, path);
        return m;
    }
    if (strcmp(kind, "lcp") == 0) {
        LinearComplementarityProblem* l = calloc(1, sizeof *l);
        l->size = p->size, l->M = matrix(&p->A, storage, 1), l->q = copy(p->b, p->size);
        return l;
    }
    double* mu = copy(p->mu, p->contact_count);
    if (strcmp(kind, "fc2d") == 0 || strcmp(kind, "fc3d") == 0) {
        FrictionContactProblem* f = calloc(1, sizeof *f);
        f->dimension = p->dim, f->numberOfContacts = p->contact_count, f->mu = mu;
        f->M = matrix(&p->A, storage, p->dim), f->q = copy(p->b, p->size);
        return f;
    }
    if (strcmp(kind, "rfc3d") == 0) {
        RollingFrictionContactProblem* f = calloc(1, sizeof *f);
        f->dimension = 5, f->numberOfContacts = p->contact_count, f->mu = mu,
        f->mu_r = copy(p->mu_roll, p->contact_count);
        f->M = matrix(&p->A, storage, 5), f->q = copy(p->b, p->size);
        return f;
    }
    if (strcmp(kind, "gfc3d") == 0) {
        GlobalFrictionContactProblem* g = globalFrictionContactProblem_new();
        g->dimension = 3, g->numberOfContacts = p->contact_count, g->mu = mu;
        g->M = matrix(&p->M, storage, 1), g->H = matrix(&p->H, storage, 1), g->q = copy(p->f, p->M.rows),
        g->b = copy(p->b, p->size);
        return g;
    }
    if (strcmp(kind, "grfc3d") == 0) {
        GlobalRollingFrictionContactProblem* g = calloc(1, sizeof *g);
        g->dimension = 5, g->numberOfContacts = p->contact_count, g->mu = mu,
        g->mu_r = copy(p->mu_roll, p->contact_count);
        g->M = matrix(&p->M, storage, 1), g->H = matrix(&p->H, storage, 1), g->q = copy(p->f, p->M.rows),
        g->b = copy(p->b, p->size);
        return g;
    }
    return NULL;
}

static SolverOptions* options(const name_id* id, double tol)
{
    SolverOptions* o = solver_options_create(id->id);
    if (id->local) solver_options_update_internal(o, 0, id->local);
    o->dparam[SICONOS_DPARAM_TOL] = tol;
    bool newton = strstr(id->name, "NSN") || strstr(id->name, "NEWTON") || strcmp(id->name, "FB") == 0;
    if (!newton && !strstr(id->name, "PROX") && !strstr(id->name, "ENUM") &&
        o->iparam[SICONOS_IPARAM_MAX_ITER] < 100000)
        o->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    return o;
}

void bench_siconos(const char* kind, const char* path, const mor_problem* p, const char* name, const char* storage,
                   double tol, double enough, bench_shared* out)
{
    enum { ROUNDS = 4, MOST = 256 };
    const name_id* id = names;
    while (id->kind && (strcmp(id->kind, kind) != 0 || strcmp(id->name, name) != 0)) id++;
    if (!id->kind) return;
    call c = { .kind = kind, .size = p->size, .dof = mor_problem_unknowns(p) - p->size };
    c.problem = build(kind, path, p, storage);
    c.z = copy(NULL, c.size + 8), c.w = copy(NULL, c.size + 8), c.v = copy(NULL, c.dof);
    if (!c.problem || !c.z || !c.w || !c.v) return;
    /* Some solvers change their options, and the matrices of global problems keep their factors: every call gets new
     * options, and global problems new data, made outside the clock. DIRECT_* prepare active sets at the start, which
     * is part of solving. Nothing is freed: some drivers do not survive it. */
    bool mixed = strcmp(kind, "mlcp") == 0, global = kind[0] == 'g', direct = mixed && strncmp(name, "DIRECT", 6) == 0;
    int most = global ? 8 : MOST;
    for (int round = 0; round <= ROUNDS; round++) { /* the first call is cold and gives the answer */
        double spent = 0.0;
        int calls = 0;
        for (int batch = 1; calls == 0 || (round > 0 && spent < 0.01); batch = batch < most ? 2 * batch : most) {
            SolverOptions* ready[MOST];
            void* problems[MOST];
            for (int k = 0; k < batch; k++) {
                ready[k] = options(id, tol);
                problems[k] = global || direct ? build(kind, path, p, storage) : c.problem;
                if (mixed && !direct) mlcp_driver_init(problems[k], ready[k]);
            }
            double begin = mor_cpu_clock();
            for (int k = 0; k < batch; k++) {
                c.options = ready[k], c.problem = problems[k];
                if (direct) mlcp_driver_init(c.problem, c.options);
                out->info = drive(&c);
            }
            spent += mor_cpu_clock() - begin;
            calls += batch;
        }
        if (round == 0) {
            out->iterations = c.options->iparam[SICONOS_IPARAM_ITER_DONE];
            memcpy(out->z, c.z, (size_t)c.size * sizeof *c.z);
            if (c.dof) memcpy(out->z + c.size, c.v, (size_t)c.dof * sizeof *c.v);
        }
        spent /= calls;
        if (round <= 1 || spent < out->time_s) out->time_s = spent;
        out->calls += calls;
        if (spent > enough || (spent > 1.0 && round >= 1)) break;
    }
}
