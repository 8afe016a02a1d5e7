/* Moreau in Octave and MATLAB: one function, moreau_mex(COMMAND, ...), behind the class MoreauWorld and the functions
 * of the folder. Only the C interface of mex files, which both have.
 *
 * Worlds are numbers: an index and a generation in one double, so that a stale one is refused. The file is locked in
 * memory: worlds that are still there when the program ends are freed by mexAtExit, not by destructors after unloading.
 * The module holds the whole library and shows only mexFunction, so it does not meet the host's own BLAS or HDF5. */
#include "mex_parts.h"

#include "io/json/run_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
typedef struct slot {
    mor_scene* scene;
    mor_world* world;
    unsigned generation;
    mor_step_report report;
    mxArray* solve;    /* a function handle in place of the formulation, or NULL */
    char failure[400]; /* what it raised */
    bool busy;
} slot;
static slot slots[MOST];

/* ------------------------------------------------------------------------------------ errors */

void mor_mex_stop(const mor_error* error)
{
    static const char* const ids[] = { "moreau:ok", "moreau:notSolved", "moreau:badInput", "moreau:system" };
    mexErrMsgIdAndTxt(ids[error->code], "%s", error->text);
}

void mor_mex_wrong(const char* text) { mexErrMsgIdAndTxt("moreau:badInput", "%s", text); }

/* ------------------------------------------------------------------------------------ arrays */

const double* mor_mex_numbers(const mxArray* a, const char* what, size_t count)
{
    if (!mxIsDouble(a) || mxIsComplex(a) || mxIsSparse(a) || (count && mxGetNumberOfElements(a) != count)) {
        char text[160];
        if (count)
            snprintf(text, sizeof text, "%s: %d real numbers are needed, not %d", what, (int)count,
                     (int)mxGetNumberOfElements(a));
        else snprintf(text, sizeof text, "%s: real numbers are needed", what);
        mor_mex_wrong(text);
    }
    return mxGetPr(a);
}

double mor_mex_scalar(const mxArray* a, const char* what) { return mor_mex_numbers(a, what, 1)[0]; }

char* mor_mex_text(const mxArray* a)
{
    char* s = mxIsChar(a) ? mxArrayToString(a) : NULL;
    if (!s) mor_mex_wrong("a text is needed");
    return s; /* freed by the host when the call ends */
}

mxArray* mor_mex_matrix(const double* x, int rows, int cols)
{
    mxArray* a = mxCreateDoubleMatrix((size_t)rows, (size_t)cols, mxREAL);
    double* to = mxGetPr(a);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) *to++ = x[i * cols + j];
    return a;
}

/* A matrix of the host, row-major; freed by the host when the call ends. */
static double* row_major(const mxArray* a, const char* what, int rows, int cols)
{
    const double* x = mor_mex_numbers(a, what, (size_t)rows * (size_t)cols);
    double* to = mxMalloc(((size_t)rows * (size_t)cols + 1) * sizeof *to);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) to[i * cols + j] = x[j * rows + i];
    return to;
}

static mor_vec3 vector(const mxArray* a, const char* what)
{
    const double* x = mor_mex_numbers(a, what, 3);
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) mor_mex_wrong("a vector is not finite");
    return mor_v3(x[0], x[1], x[2]);
}

/* ------------------------------------------------------------------------------------ worlds */

static void end_slot(slot* s)
{
    mor_world_destroy(s->world);
    mor_scene_destroy(s->scene);
    if (s->solve) mxDestroyArray(s->solve);
    s->world = NULL, s->scene = NULL, s->solve = NULL;
    s->generation++;
}

static void end_all(void)
{
    for (int i = 0; i < MOST; i++)
        if (slots[i].world) end_slot(&slots[i]);
    mor_mex_end_robots();
    mor_mex_end_links();
}

static slot* world_of(const mxArray* a)
{
    double x = mor_mex_scalar(a, "world");
    int i = x >= 0 && x < 4503599627370496.0 ? (int)fmod(x, MOST) : -1;
    if (i < 0 || !slots[i].world || (unsigned)(x / MOST) != slots[i].generation) mor_mex_wrong("this world is closed");
    return &slots[i];
}

/* load(path, text or [], overrides, threads) -> world */
static void do_load(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    int i = 0;
    while (i < MOST && slots[i].world) i++;
    if (i == MOST) mor_mex_wrong("there are too many worlds; clear some");
    slot* s = &slots[i];
    char *path = mor_mex_text(in[0]), *text = mxIsEmpty(in[1]) ? NULL : mor_mex_text(in[1]);
    size_t count = mxIsCell(in[2]) ? mxGetNumberOfElements(in[2]) : 0;
    const char** words = mxCalloc(count + 1, sizeof *words);
    for (size_t k = 0; k < count; k++) words[k] = mor_mex_text(mxGetCell(in[2], k));
    int threads = (int)mor_mex_scalar(in[3], "threads");
    if (threads < 1 || threads > 256) mor_mex_wrong("threads: 1 to 256");
    mor_error error = { 0 };
    mor_arithmetic host = mor_arithmetic_enter();
    mor_scene* scene = text ? mor_scene_parse(text, strlen(text), path, words, NULL, &error)
                            : mor_scene_load(path, words, NULL, &error);
    mor_world* world = scene ? mor_scene_build(scene, threads, &error) : NULL;
    mor_arithmetic_leave(host);
    if (!world) {
        mor_scene_destroy(scene);
        mor_mex_stop(&error);
    }
    unsigned generation = s->generation;
    *s = (slot){ .scene = scene, .world = world, .generation = generation };
    out[0] = mxCreateDoubleScalar((double)generation * MOST + i);
}

static void do_free(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    double x = mor_mex_scalar(in[0], "world");
    int i = (int)fmod(x, MOST);
    if (i >= 0 && slots[i].world && (unsigned)(x / MOST) == slots[i].generation && !slots[i].busy) end_slot(&slots[i]);
}

/* step(world, n) */
static void do_step(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    double steps = mor_mex_scalar(in[1], "steps");
    if (!(steps >= 0 && steps <= 2e9)) mor_mex_wrong("steps: a number from 0 on");
    if (s->busy) mor_mex_wrong("a world cannot step within its own step");
    mor_error error = { 0 };
    mor_code code = MOR_OK;
    s->busy = true;
    s->failure[0] = '\0';
    mor_arithmetic host = mor_arithmetic_enter();
    for (long k = (long)steps; k > 0 && !code && !s->failure[0]; k--)
        code = mor_world_step(s->world, &s->report, &error);
    mor_arithmetic_leave(host);
    s->busy = false;
    if (s->failure[0]) mexErrMsgIdAndTxt("moreau:callback", "%s", s->failure);
    if (code) mor_mex_stop(&error);
}

/* run(world, steps) -> text: the document of moreau run --json */
static void do_run(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    slot* s = world_of(in[0]);
    int steps = (int)mor_mex_scalar(in[1], "steps");
    mor_error error = { 0 };
    mor_run* r = mor_run_create(s->world, steps > 0 ? steps : 1, &error);
    if (!r) mor_mex_stop(&error);
    mor_arithmetic host = mor_arithmetic_enter();
    mor_code code = mor_run_advance(r, steps, &error);
    mor_arithmetic_leave(host);
    char* text = NULL;
    size_t length = 0;
    FILE* file = code && code != MOR_STOPPED ? NULL : open_memstream(&text, &length);
    if (file) {
        mor_json json = mor_json_begin(file);
        mor_json_object(&json, NULL);
        mor_run_summary summary = mor_run_summarise(r);
        mor_run_json_summary(&json, s->world, s->scene, &summary, mor_run_start(r));
        mor_json_end(&json);
        mor_json_finish(&json);
        fclose(file);
        out[0] = mxCreateString(text);
    }
    free(text);
    mor_run_destroy(r);
    if (!file) mor_mex_stop(&error);
}

/* ------------------------------------------------------------------------------------- state */

typedef mor_code (*reader)(const mor_world*, double*, int, mor_error*);
typedef mor_code (*writer)(mor_world*, const double*, int, mor_error*);
static const struct view {
    const char* name;
    int cols; /* 0: a vector */
    reader read;
    writer write;
} views[] = { { "q", 0, mor_world_get_q, mor_world_set_q },
              { "v", 0, mor_world_get_nu, mor_world_set_nu },
              { "poses", 7, mor_world_get_poses, mor_world_set_poses },
              { "velocities", 6, mor_world_get_velocities, mor_world_set_velocities } };

static int rows_of(const mor_world* w, int k)
{
    return k == 0 ? mor_world_q_count(w) : k == 1 ? mor_world_nu_count(w) : mor_world_body_count(w);
}

static int view_of(const mxArray* a)
{
    const char* name = mor_mex_text(a);
    for (int k = 0; k < 4; k++)
        if (strcmp(views[k].name, name) == 0) return k;
    mor_mex_wrong("unknown view; known: q, v, poses, velocities");
    return 0;
}

/* get(world, view) */
static void do_get(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    slot* s = world_of(in[0]);
    int k = view_of(in[1]), rows = rows_of(s->world, k), cols = views[k].cols ? views[k].cols : 1;
    double* x = mxMalloc(((size_t)(rows * cols) + 1) * sizeof *x);
    views[k].read(s->world, x, rows * cols, NULL);
    out[0] = mor_mex_matrix(x, rows, cols);
    mxFree(x);
}

/* set(world, view, numbers) */
static void do_set(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    if (s->busy) mor_mex_wrong("a world may not be changed while it steps");
    int k = view_of(in[1]), rows = rows_of(s->world, k), cols = views[k].cols ? views[k].cols : 1;
    mor_error error = { 0 };
    if (views[k].write(s->world, row_major(in[2], views[k].name, rows, cols), rows * cols, &error))
        mor_mex_stop(&error);
}

/* contacts(world) -> m x 14: bodies (from 1), point, normal, gap, impulse, state, coefficient of friction */
static void do_contacts(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    int m;
    const mor_world* w = world_of(in[0])->world;
    const mor_contact* c = mor_world_contacts(w, &m);
    int32_t* states = mxMalloc(((size_t)m + 1) * sizeof *states);
    mor_world_get_contacts(w, &(mor_contact_columns){ .states = states }, m, NULL);
    out[0] = mxCreateDoubleMatrix((size_t)m, 14, mxREAL);
    double* x = mxGetPr(out[0]);
    for (int i = 0; i < m; i++) {
        mor_vec3 p = mor_scale(0.5, mor_add(c[i].point[0], c[i].point[1]));
        double row[14] = { c[i].body[0] + 1,
                           c[i].body[1] + 1,
                           p.x,
                           p.y,
                           p.z,
                           c[i].normal.x,
                           c[i].normal.y,
                           c[i].normal.z,
                           c[i].gap,
                           c[i].impulse.x,
                           c[i].impulse.y,
                           c[i].impulse.z,
                           (double)states[i],
                           c[i].friction };
        for (int k = 0; k < 14; k++) x[k * m + i] = row[k];
    }
}

/* contact_structs(world) -> struct array with the fields of the original simulator */
static void do_contact_structs(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    static const char* fields[] = { "body1_id", "body2_id", "p1", "normal", "psi_n", "impulse" };
    int m;
    const mor_contact* c = mor_world_contacts(world_of(in[0])->world, &m);
    out[0] = mxCreateStructMatrix(1, (size_t)m, 6, fields);
    for (int i = 0; i < m; i++) {
        const mor_vec3 v[3] = { c[i].point[0], c[i].normal, c[i].impulse };
        mxSetFieldByNumber(out[0], (size_t)i, 0, mxCreateDoubleScalar(c[i].body[0] + 1));
        mxSetFieldByNumber(out[0], (size_t)i, 1, mxCreateDoubleScalar(c[i].body[1] + 1));
        mxSetFieldByNumber(out[0], (size_t)i, 2, mor_mex_matrix((double[3]){ v[0].x, v[0].y, v[0].z }, 1, 3));
        mxSetFieldByNumber(out[0], (size_t)i, 3, mor_mex_matrix((double[3]){ v[1].x, v[1].y, v[1].z }, 1, 3));
        mxSetFieldByNumber(out[0], (size_t)i, 4, mxCreateDoubleScalar(c[i].gap));
        mxSetFieldByNumber(out[0], (size_t)i, 5, mor_mex_matrix((double[3]){ v[2].x, v[2].y, v[2].z }, 1, 3));
    }
}

/* info(world) -> struct of numbers */
static void do_info(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    static const char* fields[] = { "time",        "step",        "h",        "kinetic",    "potential",
                                    "penetration", "joint_error", "contacts", "iterations", "velocity_error",
                                    "status",      "state_hash",  "scene",    "end" };
    const slot* s = world_of(in[0]);
    const mor_world* w = s->world;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mor_world_hash(w));
    double x[10] = { mor_world_time(w),           mor_world_step_count(w),       mor_world_get_step(w),
                     mor_world_kinetic_energy(w), mor_world_potential_energy(w), mor_world_penetration(w),
                     mor_world_joint_error(w),    mor_world_contact_count(w),    s->report.iterations,
                     s->report.velocity_error };
    out[0] = mxCreateStructMatrix(1, 1, 14, fields);
    for (int k = 0; k < 10; k++) mxSetFieldByNumber(out[0], 0, k, mxCreateDoubleScalar(x[k]));
    mxSetFieldByNumber(out[0], 0, 10, mxCreateString(mor_status_name(s->report.status)));
    mxSetFieldByNumber(out[0], 0, 11, mxCreateString(hash));
    mxSetFieldByNumber(out[0], 0, 12, mxCreateString(mor_scene_name(s->scene)));
    mxSetFieldByNumber(out[0], 0, 13, mxCreateDoubleScalar(mor_scene_end(s->scene)));
}

/* names(world) -> cell of the bodies' names */
static void do_names(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    const mor_world* w = world_of(in[0])->world;
    int count = mor_world_body_count(w);
    out[0] = mxCreateCellMatrix(1, (size_t)count);
    for (int i = 0; i < count; i++)
        mxSetCell(out[0], (size_t)i, mxCreateString(mor_body_name(w, mor_world_body(w, i))));
}

/* apply(world, body from 1, force and torque (6), point or []) for the coming step */
static void do_apply(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    int b = (int)mor_mex_scalar(in[1], "body") - 1;
    const double* x = mor_mex_numbers(in[2], "force and torque", 6);
    for (int k = 0; k < 6; k++)
        if (!isfinite(x[k])) mor_mex_wrong("a force is not finite");
    if (b < 0 || b >= mor_world_body_count(s->world)) mor_mex_wrong("there is no body of that number");
    mor_body_id id = mor_world_body(s->world, b);
    mor_vec3 point = mxIsEmpty(in[3]) ? mor_body_get_state(s->world, id).com : vector(in[3], "point");
    if (x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0) mor_body_apply(s->world, id, mor_v3(x[0], x[1], x[2]), point);
    if (x[3] != 0.0 || x[4] != 0.0 || x[5] != 0.0) mor_body_apply_torque(s->world, id, mor_v3(x[3], x[4], x[5]));
}

/* torque(world, robot from 1, tau) for the coming step */
static void do_torque(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    int r = (int)mor_mex_scalar(in[1], "robot") - 1;
    if (r < 0 || r >= mor_world_robot_count(s->world)) mor_mex_wrong("there is no robot of that number");
    size_t count = (size_t)mor_robot_joint_count(mor_world_robot_model(s->world, r));
    const double* tau = mor_mex_numbers(in[2], "torques", count);
    for (size_t k = 0; k < count; k++)
        if (!isfinite(tau[k])) mor_mex_wrong("a torque is not finite");
    mor_world_robot_apply(s->world, r, tau);
}

static void do_save(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    const mor_world* w = world_of(in[0])->world;
    size_t size = mor_world_save(w, NULL, 0);
    out[0] = mxCreateNumericMatrix(1, size, mxUINT8_CLASS, mxREAL);
    mor_world_save(w, mxGetData(out[0]), size);
}

static void do_restore(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    if (!mxIsUint8(in[1])) mor_mex_wrong("a snapshot is what save gave");
    mor_error error = { 0 };
    if (mor_world_restore(s->world, mxGetData(in[1]), mxGetNumberOfElements(in[1]), &error)) mor_mex_stop(&error);
}

static void do_set_option(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out;
    slot* s = world_of(in[0]);
    mor_error error = { 0 };
    mor_code code =
        n == 3 ? mor_world_set_method(s->world, mor_mex_text(in[1]), mor_mex_text(in[2]), &error)
               : mor_world_set_option(s->world, mor_mex_text(in[1]), mor_mex_text(in[2]), mor_mex_text(in[3]), &error);
    if (code) mor_mex_stop(&error);
}

/* ---------------------------------------------------------------------- problems and functions */

/* M, G, nu_free, bias and contacts of one island. */
static mxArray* system_struct(const mor_system* y)
{
    static const char* fields[] = { "h",   "M",  "G",           "nu",  "nu_free", "bias",
                                    "gap", "mu", "restitution", "row", "dim",     "directions" };
    mxArray* a = mxCreateStructMatrix(1, 1, 12, fields);
    mxArray* M = mxCreateDoubleMatrix((size_t)y->dof, (size_t)y->dof, mxREAL);
    mxArray* G = mxCreateDoubleMatrix((size_t)y->dof, (size_t)y->row_count, mxREAL);
    double *m = mxGetPr(M), *g = mxGetPr(G);
    for (int t = 0; t < y->tree_count; t++)
        for (int i = 0; i < y->trees[t].dof; i++)
            for (int j = 0; j < y->trees[t].dof; j++)
                m[(y->trees[t].offset + j) * y->dof + y->trees[t].offset + i] =
                    y->trees[t].mass[i * y->trees[t].dof + j];
    for (int b = 0; b < y->block_count; b++)
        for (int e = y->blocks[b].entry; e < y->blocks[b].entry + y->blocks[b].entry_count; e++) {
            const mor_tree_block* t = &y->trees[y->entries[e].tree];
            for (int r = 0; r < y->blocks[b].dim; r++)
                for (int j = 0; j < t->dof; j++)
                    g[(y->blocks[b].row + r) * y->dof + t->offset + j] +=
                        y->jacobian[y->entries[e].start + r * t->dof + j];
        }
    double* x = mxMalloc(((size_t)y->contact_count + 1) * 5 * sizeof *x);
    int c = y->contact_count;
    for (int i = 0; i < c; i++) {
        x[i] = y->contacts[i].gap, x[c + i] = y->contacts[i].friction, x[2 * c + i] = y->contacts[i].restitution;
        x[3 * c + i] = y->blocks[y->contacts[i].block].row + 1, x[4 * c + i] = y->blocks[y->contacts[i].block].dim;
    }
    mxSetFieldByNumber(a, 0, 0, mxCreateDoubleScalar(y->h));
    mxSetFieldByNumber(a, 0, 1, M);
    mxSetFieldByNumber(a, 0, 2, G);
    mxSetFieldByNumber(a, 0, 3, mor_mex_matrix(y->nu, y->dof, 1));
    mxSetFieldByNumber(a, 0, 4, mor_mex_matrix(y->nu_free, y->dof, 1));
    mxSetFieldByNumber(a, 0, 5, mor_mex_matrix(y->bias, y->row_count, 1));
    for (int k = 0; k < 5; k++) mxSetFieldByNumber(a, 0, 6 + k, mor_mex_matrix(x + k * c, c, 1));
    mxSetFieldByNumber(a, 0, 11, mxCreateDoubleScalar(y->directions));
    mxFree(x);
    return a;
}

/* systems(world) -> cell: the groups of bodies of the last step */
static void do_systems(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    const mor_step* step = mor_world_last_step(world_of(in[0])->world);
    int count = step ? mor_step_island_count(step) : 0;
    out[0] = mxCreateCellMatrix(1, (size_t)count);
    for (int i = 0; i < count; i++) {
        mxArray* a = system_struct(mor_step_system(step, i));
        int k = mxAddField(a, "impulses");
        mxSetFieldByNumber(a, 0, k,
                           mor_mex_matrix(mor_step_answer(step, i)->impulses, mor_step_system(step, i)->row_count, 1));
        mxSetCell(out[0], (size_t)i, a);
    }
}

/* A function handle in place of the formulation: impulses = f(system). */
static mor_report solve_stage(void* user, const mor_system* y, mor_solve_stage* stage, mor_answer* answer)
{
    (void)stage;
    slot* s = user;
    mor_report r = { .status = MOR_NUMERICAL };
    mxArray *in[2] = { s->solve, system_struct(y) }, *out[2] = { NULL, NULL };
    int failed = mexCallMATLAB(2, out, 2, in, "moreau_guard");
    char* text =
        !failed && out[1] && mxIsChar(out[1]) && mxGetNumberOfElements(out[1]) ? mxArrayToString(out[1]) : NULL;
    if (failed || text) snprintf(s->failure, sizeof s->failure, "%s", text ? text : "the function failed");
    else if (!out[0] || !mxIsDouble(out[0]) || mxGetNumberOfElements(out[0]) != (size_t)y->row_count)
        snprintf(s->failure, sizeof s->failure, "the function must return %d impulses, one per row of G", y->row_count);
    else {
        memcpy(answer->impulses, mxGetPr(out[0]), (size_t)y->row_count * sizeof(double));
        mor_system_velocity(y, answer->impulses, answer->nu);
        r.status = MOR_SOLVED;
    }
    if (text) mxFree(text);
    mxDestroyArray(in[1]);
    for (int i = 0; i < 2; i++)
        if (out[i]) mxDestroyArray(out[i]);
    snprintf(r.detail, sizeof r.detail, "%.150s", s->failure);
    return r;
}

/* on_solve(world, handle or []) */
static void do_on_solve(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    slot* s = world_of(in[0]);
    if (s->solve) mxDestroyArray(s->solve);
    s->solve = NULL;
    if (!mxIsEmpty(in[1])) {
        s->solve = mxDuplicateArray(in[1]);
        mexMakeArrayPersistent(s->solve);
    }
    mor_world_on_solve(s->world, s->solve ? solve_stage : NULL, s);
}

/* form, A, b, mu or [] as a problem on the host's numbers */
static mor_problem problem_of(const mxArray* in[])
{
    const char* form = mor_mex_text(in[0]);
    mor_problem p = { 0 };
    for (int i = 0; i < 13; i++)
        if (mor_form_name((mor_form)(1 << i)) && strcmp(mor_form_name((mor_form)(1 << i)), form) == 0)
            p.form = (mor_form)(1 << i);
    if (!(p.form & (MOR_LCP | MOR_FC2D | MOR_FC3D))) mor_mex_wrong("form: lcp, fc2d or fc3d");
    p.size = (int)mxGetNumberOfElements(in[2]);
    p.b = mor_mex_numbers(in[2], "b", (size_t)p.size);
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = p.size, .cols = p.size };
    p.A.x = (double*)mor_mex_numbers(in[1], "A", (size_t)p.size * (size_t)p.size);
    p.contact_count = (int)mxGetNumberOfElements(in[3]);
    p.mu = p.contact_count ? mor_mex_numbers(in[3], "mu", (size_t)p.contact_count) : NULL;
    p.dim = p.form == MOR_FC2D ? 2 : p.form == MOR_FC3D ? 3 : 0;
    mor_error error = { 0 };
    if (mor_problem_check(&p, &error)) mor_mex_stop(&error);
    return p;
}

/* solve(form, A, b, mu or [], solver, tol, max_iter) -> z, struct */
static void do_solve(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)n;
    const char* name = mor_mex_text(in[4]);
    mor_problem p = problem_of(in);
    const mor_solver* solver = mor_solver_builtin(name);
    if (!solver) mor_mex_wrong("unknown solver; moreau list solvers names them");
    mor_solve_options o = mor_solve_options_default();
    o.tol = mor_mex_scalar(in[5], "tol"), o.max_iter = (int)mor_mex_scalar(in[6], "max_iter");
    out[0] = mxCreateDoubleMatrix((size_t)p.size, 1, mxREAL);
    mor_arithmetic host = mor_arithmetic_enter();
    mor_report r = mor_solve(solver, NULL, &p, &o, mxGetPr(out[0]), NULL);
    mor_arithmetic_leave(host);
    if (nout < 2) return;
    static const char* fields[] = { "status", "iterations", "time", "error", "natural", "detail" };
    out[1] = mxCreateStructMatrix(1, 1, 6, fields);
    mxSetFieldByNumber(out[1], 0, 0, mxCreateString(mor_status_name(r.status)));
    mxSetFieldByNumber(out[1], 0, 1, mxCreateDoubleScalar(r.iterations));
    mxSetFieldByNumber(out[1], 0, 2, mxCreateDoubleScalar(r.time_s));
    mxSetFieldByNumber(out[1], 0, 3, mxCreateDoubleScalar(r.residual.relative));
    mxSetFieldByNumber(out[1], 0, 4, mxCreateDoubleScalar(r.residual.natural));
    mxSetFieldByNumber(out[1], 0, 5, mxCreateString(r.detail));
}

/* judge(form, A, b, mu or [], z) -> struct */
static void do_judge(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    static const char* fields[] = { "error", "natural" };
    mor_problem p = problem_of(in);
    const double* z = mor_mex_numbers(in[4], "z", (size_t)p.size);
    mor_arena* arena = mor_arena_create(NULL);
    if (!arena) mexErrMsgIdAndTxt("moreau:system", "out of memory");
    mor_arithmetic host = mor_arithmetic_enter();
    mor_residual r = mor_judge(&p, z, arena);
    mor_arithmetic_leave(host);
    mor_arena_destroy(arena);
    out[0] = mxCreateStructMatrix(1, 1, 2, fields);
    mxSetFieldByNumber(out[0], 0, 0, mxCreateDoubleScalar(r.relative));
    mxSetFieldByNumber(out[0], 0, 1, mxCreateDoubleScalar(r.natural));
}

/* version() */
static void do_version(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n, (void)in;
    out[0] = mxCreateString(mor_version());
}

/* ------------------------------------------------------------------------------------- table */

static const mor_mex_command commands[] = { { "load", 4, 4, do_load },
                                            { "free", 1, 1, do_free },
                                            { "step", 2, 2, do_step },
                                            { "run", 2, 2, do_run },
                                            { "get", 2, 2, do_get },
                                            { "set", 3, 3, do_set },
                                            { "contacts", 1, 1, do_contacts },
                                            { "contact_structs", 1, 1, do_contact_structs },
                                            { "info", 1, 1, do_info },
                                            { "names", 1, 1, do_names },
                                            { "apply", 4, 4, do_apply },
                                            { "torque", 3, 3, do_torque },
                                            { "save", 1, 1, do_save },
                                            { "restore", 2, 2, do_restore },
                                            { "set_option", 3, 4, do_set_option },
                                            { "systems", 1, 1, do_systems },
                                            { "on_solve", 2, 2, do_on_solve },
                                            { "solve", 7, 7, do_solve },
                                            { "judge", 5, 5, do_judge },
                                            { "version", 0, 0, do_version },
                                            { NULL, 0, 0, NULL } };

void mexFunction(int nout, mxArray* out[], int nin, const mxArray* in[])
{
    static bool begun;
    if (!begun) {
        mexLock();
        mexAtExit(end_all);
        begun = true;
    }
    if (nin < 1) mor_mex_wrong("moreau_mex(COMMAND, ...): see MoreauWorld");
    const char* name = mor_mex_text(in[0]);
    static const mor_mex_command* const tables[] = { commands, mor_mex_robots, mor_mex_links };
    for (int t = 0; t < 3; t++)
        for (const mor_mex_command* c = tables[t]; c->name; c++) {
            if (strcmp(c->name, name) != 0) continue;
            if (nin - 1 < c->least || nin - 1 > c->most) mor_mex_wrong("wrong number of arguments");
            c->run(nout, out, nin - 1, in + 1);
            return;
        }
    mor_mex_wrong("unknown command");
}
