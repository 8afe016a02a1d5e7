/* Robots in Octave and MATLAB: kinematics and dynamics of one state or many at once, behind the class MoreauRobot.
 *
 * States are columns: s is n x K, velocities N x K, poses of the base 7 x K (or one column for all). What comes back
 * has a page per state where it is a matrix. A vector of the host is laid out as we want it; only matrices are
 * turned. */
#include "mex_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1024 };
static struct slot {
    mor_robot_model* model;
    unsigned generation;
} slots[MOST];

void mor_mex_end_robots(void)
{
    for (int i = 0; i < MOST; i++) mor_robot_destroy(slots[i].model), slots[i].model = NULL;
}

static struct slot* slot_of(const mxArray* a)
{
    double x = mor_mex_scalar(a, "robot");
    int i = x >= 0 && x < 4503599627370496.0 ? (int)fmod(x, MOST) : -1;
    return i < 0 || !slots[i].model || (unsigned)(x / MOST) != slots[i].generation ? NULL : &slots[i];
}

static const mor_robot_model* model_of(const mxArray* a)
{
    struct slot* s = slot_of(a);
    if (!s) mor_mex_wrong("this robot is closed");
    return s->model;
}

/* robot_load(path, floating, joints (cell) or [], shapes, strict) -> robot, notes */
static void do_load(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)n;
    int i = 0;
    while (i < MOST && slots[i].model) i++;
    if (i == MOST) mor_mex_wrong("there are too many robots; clear some");
    const char* path = mor_mex_text(in[0]);
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = mor_mex_scalar(in[1], "floating") != 0.0;
    o.shapes = mor_mex_scalar(in[3], "shapes") != 0.0;
    o.strict = mor_mex_scalar(in[4], "strict") != 0.0;
    if (mxIsCell(in[2])) {
        size_t count = mxGetNumberOfElements(in[2]);
        const char** names = mxCalloc(count + 1, sizeof *names);
        for (size_t k = 0; k < count; k++) names[k] = mor_mex_text(mxGetCell(in[2], k));
        o.joints = names, o.joint_count = (int)count;
    }
    char notes[8192] = "";
    mor_error error = { 0 };
    mor_arithmetic host = mor_arithmetic_enter();
    mor_robot_model* model = mor_urdf_read(path, &o, notes, sizeof notes, &error);
    mor_arithmetic_leave(host);
    if (!model) mor_mex_stop(&error);
    slots[i].model = model;
    out[0] = mxCreateDoubleScalar((double)slots[i].generation * MOST + i);
    if (nout > 1) out[1] = mxCreateString(notes);
}

static void do_free(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)out, (void)n;
    struct slot* s = slot_of(in[0]);
    if (!s) return;
    mor_robot_destroy(s->model);
    s->model = NULL;
    s->generation++;
}

/* robot_info(robot) -> struct */
static void do_info(int nout, mxArray* out[], int n, const mxArray* in[])
{
    (void)nout, (void)n;
    static const char* fields[] = { "n", "dof", "floating", "mass", "joints", "frames", "links" };
    static const char* of_joint[] = { "name", "type", "lower", "upper", "effort", "speed" };
    const mor_robot_model* m = model_of(in[0]);
    int joints = mor_robot_joint_count(m), frames = mor_robot_frame_count(m), links = mor_robot_link_count(m);
    mxArray* a = mxCreateStructMatrix(1, 1, 7, fields);
    mxArray *J = mxCreateStructMatrix(1, (size_t)joints, 6, of_joint), *F = mxCreateCellMatrix(1, (size_t)frames),
            *L = mxCreateCellMatrix(1, (size_t)links);
    for (int i = 0; i < joints; i++) {
        const mor_link_def* l = mor_robot_link(m, mor_robot_link_of_joint(m, i));
        const double x[4] = { l->lower, l->upper, l->effort, l->speed };
        mxSetFieldByNumber(J, (size_t)i, 0, mxCreateString(l->joint_name));
        mxSetFieldByNumber(J, (size_t)i, 1, mxCreateString(l->type == MOR_REVOLUTE ? "revolute" : "prismatic"));
        for (int k = 0; k < 4; k++) mxSetFieldByNumber(J, (size_t)i, 2 + k, mxCreateDoubleScalar(x[k]));
    }
    for (int i = 0; i < frames; i++) mxSetCell(F, (size_t)i, mxCreateString(mor_robot_frame(m, i)->name));
    for (int i = 0; i < links; i++) mxSetCell(L, (size_t)i, mxCreateString(mor_robot_link(m, i)->name));
    mxSetFieldByNumber(a, 0, 0, mxCreateDoubleScalar(joints));
    mxSetFieldByNumber(a, 0, 1, mxCreateDoubleScalar(mor_robot_dof(m)));
    mxSetFieldByNumber(a, 0, 2, mxCreateLogicalScalar(mor_robot_floating(m)));
    mxSetFieldByNumber(a, 0, 3, mxCreateDoubleScalar(mor_robot_mass(m)));
    mxSetFieldByNumber(a, 0, 4, J);
    mxSetFieldByNumber(a, 0, 5, F);
    mxSetFieldByNumber(a, 0, 6, L);
    out[0] = a;
}

/* ---------------------------------------------------------------------------------- quantities */

typedef enum quantity {
    MASS,
    BIAS,
    FORWARD,
    INVERSE,
    POSE,
    JACOBIAN,
    DRIFT,
    COM,
    MOMENTUM,
    KINETIC,
    POTENTIAL
} quantity;

/* Names, and the size of the answer for one state; 0 stands for N. */
static const struct {
    const char* name;
    int rows, cols;
} quantities[] = { { "mass", 0, 0 },     { "bias", 0, 1 },     { "forward", 0, 1 },  { "inverse", 0, 1 },
                   { "pose", 7, 1 },     { "jacobian", 6, 0 }, { "drift", 6, 1 },    { "com", 3, 1 },
                   { "momentum", 6, 1 }, { "kinetic", 1, 1 },  { "potential", 1, 1 } };

/* One state, row-major; false: the mass matrix is singular. */
static bool evaluate(const mor_robot_model* m, mor_robot_work* k, quantity what, const double* x, int frame,
                     mor_vec3 gravity, double* out)
{
    switch (what) {
    case MASS:
        return mor_robot_mass_matrix(m, k, out), true;
    case BIAS:
        return mor_robot_inverse_dynamics(m, k, gravity, NULL, NULL, out), true;
    case INVERSE:
        return mor_robot_inverse_dynamics(m, k, gravity, x, NULL, out), true;
    case FORWARD:
        return mor_robot_forward_dynamics(m, k, gravity, x, NULL, out);
    case JACOBIAN:
        return mor_robot_frame_jacobian(m, k, frame, out), true;
    case DRIFT:
        return mor_robot_frame_bias(m, k, frame, out), true;
    case MOMENTUM:
        return mor_robot_momentum(m, k, mor_robot_com(m, k), out), true;
    case KINETIC:
        return *out = mor_robot_kinetic_energy(m, k), true;
    case POTENTIAL:
        return *out = mor_robot_potential_energy(m, k, gravity), true;
    case COM: {
        mor_vec3 c = mor_robot_com(m, k);
        return memcpy(out, (double[3]){ c.x, c.y, c.z }, 3 * sizeof *out), true;
    }
    case POSE: {
        mor_pose p = mor_robot_frame_pose(m, k, frame);
        double row[7] = { p.position.x, p.position.y, p.position.z, p.rotation.w,
                          p.rotation.x, p.rotation.y, p.rotation.z };
        return memcpy(out, row, sizeof row), true;
    }
    }
    return false;
}

/* Columns of `width` numbers: one per state, one for all, or none. */
typedef struct columns {
    const double* x;
    size_t stride;
} columns;

static columns take(const mxArray* a, const char* what, int width, size_t states)
{
    if (mxIsEmpty(a)) return (columns){ NULL, 0 };
    size_t count = mxGetNumberOfElements(a);
    const double* x = mor_mex_numbers(a, what, 0);
    char text[160];
    if (count != (size_t)width && count != (size_t)width * states) {
        snprintf(text, sizeof text, "%s: columns of %d numbers are needed, one or %d of them", what, width,
                 (int)states);
        mor_mex_wrong(text);
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) {
            snprintf(text, sizeof text, "%s: number %d is not finite", what, (int)i + 1);
            mor_mex_wrong(text);
        }
    return (columns){ x, count == (size_t)width ? 0 : (size_t)width };
}

static mor_pose pose_of(const columns* base, size_t i)
{
    mor_pose p = mor_pose_identity();
    if (!base->x) return p;
    const double* b = base->x + i * base->stride;
    if (b[3] == 0.0 && b[4] == 0.0 && b[5] == 0.0 && b[6] == 0.0) mor_mex_wrong("base: the quaternion is zero");
    p.position = mor_v3(b[0], b[1], b[2]);
    p.rotation = mor_quat_normalize((mor_quat){ b[3], b[4], b[5], b[6] });
    return p;
}

static int quantity_of(const mxArray* a)
{
    const char* name = mor_mex_text(a);
    int what = 0, count = (int)(sizeof quantities / sizeof *quantities);
    while (what < count && strcmp(quantities[what].name, name) != 0) what++;
    if (what == count) mor_mex_wrong("there is no such quantity of a robot");
    return what;
}

static int frame_of(const mor_robot_model* m, const mxArray* a)
{
    char text[300];
    const char* name = mxIsEmpty(a) ? NULL : mor_mex_text(a);
    int frame = name ? mor_robot_find_frame(m, name) : -1;
    if (frame < 0) {
        snprintf(text, sizeof text, "the robot has no frame '%.200s'", name ? name : "");
        mor_mex_wrong(text);
    }
    return frame;
}

/* robot_evaluate(robot, quantity, base or [], s, nu or [], x or [], frame or [], gravity) */
static void do_evaluate(int nout, mxArray* out[], int count, const mxArray* in[])
{
    (void)nout, (void)count;
    const mor_robot_model* m = model_of(in[0]);
    int what = quantity_of(in[1]), n = mor_robot_joint_count(m), N = mor_robot_dof(m);
    size_t given = mxGetNumberOfElements(in[3]), states = n ? given / (size_t)n : 1;
    if (n ? given == 0 || given % (size_t)n != 0 : given != 0) {
        char text[120];
        snprintf(text, sizeof text, "s: columns of %d joint positions are needed", n);
        mor_mex_wrong(text);
    }
    columns base = take(in[2], "base", 7, states), s = take(in[3], "s", n, states), nu = take(in[4], "nu", N, states),
            x = take(in[5], "forces or accelerations", N, states);
    const double* g = mor_mex_numbers(in[7], "gravity", 3);
    int frame = what == POSE || what == JACOBIAN || what == DRIFT ? frame_of(m, in[6]) : -1;
    int rows = quantities[what].rows ? quantities[what].rows : N,
        cols = quantities[what].cols ? quantities[what].cols : N;
    if (cols == 1) out[0] = mxCreateDoubleMatrix((size_t)rows, states, mxREAL);
    else {
        mwSize size[3] = { (mwSize)rows, (mwSize)cols, (mwSize)states };
        out[0] = mxCreateNumericArray(states > 1 ? 3 : 2, size, mxDOUBLE_CLASS, mxREAL);
    }
    double *to = mxGetPr(out[0]), *page = mxMalloc(((size_t)rows * (size_t)cols + 1) * sizeof *page);
    for (size_t i = 0; i < (base.stride ? states : 1); i++) pose_of(&base, i); /* refuses before there is work */
    mor_robot_work* work = mor_robot_work_create(m);
    if (!work) mexErrMsgIdAndTxt("moreau:system", "out of memory");
    bool good = true;
    mor_arithmetic host = mor_arithmetic_enter();
    for (size_t i = 0; i < states && good; i++) {
        mor_pose p = pose_of(&base, i);
        mor_robot_update(m, work, &p, s.x ? s.x + i * s.stride : NULL, nu.x ? nu.x + i * nu.stride : NULL);
        good =
            evaluate(m, work, (quantity)what, x.x ? x.x + i * x.stride : NULL, frame, mor_v3(g[0], g[1], g[2]), page);
        for (int c = 0; c < cols; c++)
            for (int r = 0; r < rows; r++) *to++ = page[r * cols + c];
    }
    mor_arithmetic_leave(host);
    mor_robot_work_destroy(work);
    mxFree(page);
    if (!good) mor_mex_wrong("the mass matrix is singular");
}

const mor_mex_command mor_mex_robots[] = { { "robot_load", 5, 5, do_load },
                                           { "robot_free", 1, 1, do_free },
                                           { "robot_info", 1, 1, do_info },
                                           { "robot_evaluate", 8, 8, do_evaluate },
                                           { NULL, 0, 0, NULL } };
