/* MJCF models here and in MuJoCo: mass matrix, bias forces, poses of bodies and forward accelerations at random states,
 * then a second of motion against MuJoCo's RK4; forces of a fluid, of spatial tendons and of actuators on sites.
 * Constraints (limits, friction loss, contacts, equalities) are off.
 *
 *     bench_mjcf [--states N] [--step S] [--no-motion] [--table FILE] FILE.xml ...
 *
 * Prints one line per model with the largest relative differences; ends with 1 if one is above its bar. */
#include "base/elementary.h"
#include "io/mjcf/mjcf.h"
#include "model/articulated.h"
#include "model/world.h"

#include <dirent.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR 1e-9        /* relative, of M, h, poses, accelerations */
#define MOTION_BAR 1e-6 /* of positions after 1 s */

typedef struct differences {
    double M, h, pose, acceleration, push, motion;
} differences;

static double uniform(mor_rng* rng, double size) { return size * (2.0 * mor_rng_uniform(rng) - 1.0); }

/* Takes an attribute out of a text wherever it stands. */
static void drop(char* text, const char* attribute)
{
    for (char* s; (s = strstr(text, attribute));) {
        char* end = strchr(s + strlen(attribute), '"');
        if (!end) return;
        memmove(s, end + 1, strlen(end + 1) + 1);
    }
}

/* The text of a model without what is newer than this MuJoCo and does not matter here. */
static void make_older(char* text)
{
    static const char* const newer[] = { " dampratio=\"",     " inheritrange=\"",     " kv=\"",
                                         " gravcomp=\"",      " actuatorfrcrange=\"", " timeconst=\"",
                                         " ls_iterations=\"", " eulerdamp=\"" };
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) drop(text, newer[i]);
    for (char* s; (s = strstr(text, "implicitfast"));) memmove(s + 8, s + 12, strlen(s + 12) + 1);
    char* compiler = strstr(text, "<compiler");
    if (compiler && !strstr(text, "autolimits")) {
        memmove(compiler + 9 + 18, compiler + 9, strlen(compiler + 9) + 1);
        memcpy(compiler + 9, " autolimits=\"true\"", 18);
    }
}

/* One entry of a folder in another: models rewritten, all else as links. */
static void take_over(const char* from, const char* to)
{
    static char text[1 << 22];
    size_t length = strlen(from);
    if (length < 4 || strcmp(from + length - 4, ".xml") != 0) {
        if (symlink(from, to) != 0) fprintf(stderr, "%s: no link\n", to);
        return;
    }
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n = in ? fread(text, 1, sizeof text - 200, in) : 0;
    text[n] = '\0';
    make_older(text);
    if (out) fwrite(text, 1, strlen(text), out);
    if (in) fclose(in);
    if (out) fclose(out);
}

/* The model with its folder made older. */
static mjModel* load_older(const char* path, char* why, int size)
{
    char folder[] = "/tmp/bench_mjcf_XXXXXX", from[4200], to[4800], whole[8400];
    const char* slash = strrchr(path, '/');
    snprintf(from, sizeof from, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (from[0] != '/' && getcwd(to, 4000)) {
        snprintf(whole, sizeof whole, "%.4000s/%.4190s", to, from);
        snprintf(from, sizeof from, "%.4190s", whole);
    }
    if (!mkdtemp(folder)) return NULL;
    DIR* d = opendir(from);
    for (struct dirent* e; d && (e = readdir(d));) {
        snprintf(whole, sizeof whole, "%s/%s", from, e->d_name);
        snprintf(to, sizeof to, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') take_over(whole, to);
    }
    if (d) closedir(d);
    snprintf(to, sizeof to, "%s/%s", folder, slash ? slash + 1 : path);
    mjModel* m = mj_loadXML(to, NULL, why, size);
    d = opendir(folder);
    for (struct dirent* e; d && (e = readdir(d));) {
        snprintf(to, sizeof to, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlink(to);
    }
    if (d) closedir(d);
    rmdir(folder);
    return m;
}

static mjModel* load(const char* path, char* why, int size)
{
    mjModel* m = mj_loadXML(path, NULL, why, size);
    return m ? m : load_older(path, why, size);
}

/* MuJoCo's velocity numbering of our nu of a tree: dof -> place, and the free joint's body (-1: fixed). */
typedef struct mapping {
    int dof[512], N, free_joint;
} mapping;

static mapping map_tree(const mor_mjcf* c, const mjModel* m, int tree)
{
    mapping p = { .free_joint = -1 };
    for (int i = 0; i < c->joints_count; i++) {
        if (c->joints[i].tree != tree) continue;
        int adr = m->jnt_dofadr[i];
        int count = c->joints[i].type == MOR_MJCF_FREE ? 6 : c->joints[i].type == MOR_MJCF_BALL ? 3 : 1;
        if (count == 6) p.free_joint = i;
        for (int k = 0; k < count; k++) p.dof[p.N++] = adr + k;
    }
    return p;
}

/* Our velocities or forces to MuJoCo's: the base's angular part is in its own axes there. */
static void turn_base(const mapping* p, mor_quat q, bool back, double* x)
{
    if (p->free_joint < 0) return;
    mor_vec3 w = mor_v3(x[3], x[4], x[5]);
    w = back ? mor_rotate(q, w) : mor_unrotate(q, w);
    x[3] = w.x, x[4] = w.y, x[5] = w.z;
}

static void random_state(mor_rng* rng, const mor_mjcf* c, const mjModel* m, mjData* d)
{
    mj_resetData(m, d);
    for (int i = 0; i < m->njnt; i++) {
        double* q = d->qpos + m->jnt_qposadr[i];
        int type = m->jnt_type[i];
        if (type == mjJNT_FREE || type == mjJNT_BALL) {
            mor_quat r = mor_rng_rotation(rng);
            if (type == mjJNT_FREE)
                for (int k = 0; k < 3; k++) *q++ += uniform(rng, 1.0);
            memcpy(q, (double[4]){ r.w, r.x, r.y, r.z }, 4 * sizeof(double));
        } else {
            *q += uniform(rng, type == mjJNT_HINGE ? 1.5 : 0.1);
        }
    }
    for (int i = 0; i < m->nv; i++) d->qvel[i] = uniform(rng, 1.0);
    (void)c;
}

/* The state of MuJoCo as ours. */
static void take_state(const mor_mjcf* c, const mjModel* m, const mjData* d, int tree, const mapping* p, mor_pose* base,
                       double* s, double* nu)
{
    *base = c->trees[tree].base;
    for (int i = 0; i < c->joints_count; i++) {
        const mor_mjcf_joint* j = &c->joints[i];
        const double* q = d->qpos + m->jnt_qposadr[i];
        if (j->tree != tree) continue;
        if (j->type == MOR_MJCF_FREE) *base = (mor_pose){ { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
        else if (j->type == MOR_MJCF_BALL) {
            mor_vec3 v = mor_quat_log((mor_quat){ q[0], q[1], q[2], q[3] });
            memcpy(s + j->number, (double[3]){ v.x, v.y, v.z }, sizeof(double[3]));
        } else {
            s[j->number] = *q;
        }
    }
    for (int k = 0; k < p->N; k++) nu[k] = d->qvel[p->dof[k]];
    turn_base(p, base->rotation, true, nu);
}

static double difference(double a, double b, double scale) { return fabs(a - b) / (scale + 1e-300); }

static void compare_state(const mor_mjcf* c, const mjModel* m, mjData* d, int tree, mor_rng* rng, differences* out)
{
    mapping p = map_tree(c, m, tree);
    mor_robot_model* model = c->trees[tree].model;
    int N = mor_robot_dof(model), n = mor_robot_joint_count(model);
    if (N != p.N) {
        fprintf(stderr, "tree %d has %d velocities, MuJoCo %d\n", tree, N, p.N);
        exit(1);
    }
    double *s = calloc((size_t)n + 1, sizeof *s), *nu = calloc((size_t)N, sizeof *nu),
           *h = calloc((size_t)N, sizeof *h), *M = calloc((size_t)(N * N), sizeof *M),
           *full = calloc((size_t)(m->nv * m->nv), sizeof *full), *f = calloc((size_t)N, sizeof *f),
           *a = calloc((size_t)N, sizeof *a), *row = calloc((size_t)N, sizeof *row);
    mor_pose base;
    take_state(c, m, d, tree, &p, &base, s, nu);
    mor_robot_work* work = mor_robot_work_create(model);
    mor_vec3 gravity = c->no_gravity ? mor_v3(0, 0, 0) : c->gravity;
    mor_robot_update(model, work, &base, s, nu);
    mor_robot_mass_matrix(model, work, M);
    mor_robot_inverse_dynamics(model, work, gravity, NULL, NULL, h);
    mj_fullM(m, full, d->qM);
    double largest = 0.0, strongest = 0.0;
    for (int i = 0; i < N; i++) largest = mor_max(largest, M[i * (N + 1)]);
    for (int i = 0; i < N; i++) { /* rows, then columns to MuJoCo's axes */
        memcpy(row, M + i * N, (size_t)N * sizeof *row);
        turn_base(&p, base.rotation, false, row);
        memcpy(M + i * N, row, (size_t)N * sizeof *row);
    }
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) row[i] = M[i * N + j];
        turn_base(&p, base.rotation, false, row);
        for (int i = 0; i < N; i++)
            out->M = mor_max(out->M, difference(row[i], full[p.dof[i] * m->nv + p.dof[j]], largest));
    }
    turn_base(&p, base.rotation, false, h);
    for (int i = 0; i < N; i++) strongest = mor_max(strongest, fabs(h[i]));
    for (int i = 0; i < N; i++) out->h = mor_max(out->h, difference(h[i], d->qfrc_bias[p.dof[i]], strongest));
    for (int i = 0; i < c->bodies_count; i++) {
        if (c->bodies[i].tree != tree) continue;
        mor_pose x = mor_robot_frame_pose(model, work, c->bodies[i].frame);
        const double *y = d->xpos + 3 * i, *q = d->xquat + 4 * i;
        double dot = fabs(x.rotation.w * q[0] + x.rotation.x * q[1] + x.rotation.y * q[2] + x.rotation.z * q[3]);
        double turn = sqrt(mor_max(0.0, 2.0 - 2.0 * dot));
        mor_vec3 away = mor_sub(x.position, mor_v3(y[0], y[1], y[2]));
        if (turn < 1e-7) turn = 0.0; /* rounding of the dot */
        out->pose = mor_max(out->pose, mor_norm(away) + turn);
    }
    for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = 0.0;
    for (int i = 0; i < N; i++) f[i] = d->qfrc_applied[p.dof[i]] = i >= N - n ? uniform(rng, 1.0) : 0.0;
    mj_forward(m, d);
    bool regular = mor_robot_forward_dynamics(model, work, gravity, f, NULL, a);
    /* MuJoCo gives the rate of the local velocity, ours of the world's: w' = R u' (w x w = 0) */
    turn_base(&p, base.rotation, false, a);
    double fastest = 0.0;
    for (int i = 0; i < N; i++) fastest = mor_max(fastest, fabs(a[i]));
    for (int i = 0; i < N; i++)
        out->acceleration =
            mor_max(out->acceleration, regular ? difference(a[i], d->qacc[p.dof[i]], fastest) : INFINITY);
    mor_robot_work_destroy(work);
    double* all[] = { s, nu, h, M, full, f, a, row };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* A tree as a robot of a world, in MuJoCo's state, without constraints. */
static bool add_tree(mor_world* w, const mor_mjcf* c, const mjModel* m, const mjData* d, int tree, mor_error* error)
{
    mapping p = map_tree(c, m, tree);
    double s[512] = { 0 }, nu[512] = { 0 };
    mor_robot_def r = mor_robot_def_default();
    snprintf(r.name, sizeof r.name, "r%d", tree);
    take_state(c, m, d, tree, &p, &r.pose, s, nu);
    r.model = c->trees[tree].model;
    r.s = s, r.nu = nu;
    r.limits = r.friction = r.mimic = r.collide = false;
    return mor_world_add_robot(w, &r, error) >= 0;
}

/* Takes the fluid and the forces of spatial tendons out: they are compared by themselves. */
static void without_pushes(mjModel* m)
{
    m->opt.density = m->opt.viscosity = 0.0;
    for (int i = 0; i < m->ntendon; i++)
        if (m->wrap_type[m->tendon_adr[i]] != mjWRAP_JOINT) m->tendon_stiffness[i] = m->tendon_damping[i] = 0.0;
}

/* Generalised forces of what pushes from the user stage (mjcf_push.c), in MuJoCo's order. */
static void our_pushes(const mor_mjcf* c, const mjModel* m, const mjData* d, double* out)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    mor_world* w = mor_world_create(&def, &error);
    mor_pose here = mor_pose_identity(), base;
    for (int t = 0; t < c->trees_count; t++) {
        if (!add_tree(w, c, m, d, t, &error)) exit(1);
    }
    mor_mjcf_apply(c, w, 0, &here);
    for (int t = 0; t < c->trees_count; t++) {
        mapping p = map_tree(c, m, t);
        mor_robot_model* model = c->trees[t].model;
        mor_robot_work* work = mor_robot_work_create(model);
        double s[512] = { 0 }, nu[512] = { 0 }, f[512] = { 0 }, J[6 * 512];
        take_state(c, m, d, t, &p, &base, s, nu);
        mor_robot_update(model, work, &base, s, nu);
        for (int i = 0; i < c->bodies_count; i++) {
            const mor_mjcf_body* b = &c->bodies[i];
            bool first = b->tree == t; /* of its link */
            for (int k = 0; k < i && first; k++) first = c->bodies[k].tree != t || c->bodies[k].link != b->link;
            if (!first) continue;
            const mor_body* x = &w->bodies[mor_world_robot_link(w, t, b->link).index1 - 1];
            mor_vec3 arm = mor_sub(x->x, mor_robot_frame_pose(model, work, b->frame).position);
            mor_vec3 torque = mor_add(x->torque, mor_cross(arm, x->force));
            double wrench[6] = { x->force.x, x->force.y, x->force.z, torque.x, torque.y, torque.z };
            mor_robot_frame_jacobian(model, work, b->frame, J);
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < p.N; k++) f[k] += J[r * p.N + k] * wrench[r];
        }
        turn_base(&p, base.rotation, false, f);
        for (int k = 0; k < p.N; k++) out[p.dof[k]] = f[k];
        mor_robot_work_destroy(work);
    }
    mor_world_destroy(w);
}

/* The same of MuJoCo: passive forces less those of joints and fixed tendons, and actuators on sites and spatial
 * tendons. */
static void their_pushes(const mor_mjcf* c, mjModel* m, mjData* d, double* out)
{
    int flags = m->opt.disableflags;
    m->opt.disableflags = mjDSBL_CONSTRAINT;
    for (int i = 0; i < m->nv; i++) m->dof_damping[i] = 0.0;
    for (int i = 0; i < m->njnt; i++) m->jnt_stiffness[i] = 0.0;
    for (int i = 0; i < m->ntendon; i++)
        if (m->wrap_type[m->tendon_adr[i]] == mjWRAP_JOINT) m->tendon_stiffness[i] = m->tendon_damping[i] = 0.0;
    for (int i = 0; i < m->nu; i++) {
        const mor_mjcf_actuator* a = &c->actuators[i];
        d->ctrl[i] = a->control;
        if (a->site >= 0 || (a->tendon >= 0 && c->tendons[a->tendon].spatial)) continue;
        mju_zero(m->actuator_gainprm + i * mjNGAIN, mjNGAIN);
        mju_zero(m->actuator_biasprm + i * mjNBIAS, mjNBIAS);
    }
    mj_forward(m, d);
    for (int i = 0; i < m->nv; i++) out[i] = d->qfrc_passive[i] + d->qfrc_actuator[i];
    m->opt.disableflags = flags;
}

/* Largest difference of the pushes at a few states, relative; changes the passive forces of m. */
static double compare_pushes(mor_mjcf* c, mjModel* m, mjData* d, mor_rng* rng)
{
    double ours[512] = { 0 }, theirs[512] = { 0 }, worst = 0.0;
    for (int i = 0; i < c->bodies_count; i++) c->bodies[i].gravcomp = 0.0; /* newer than this MuJoCo */
    for (int k = 0; k < 10 && mor_mjcf_pushes(c); k++) {
        random_state(rng, c, m, d);
        for (int i = 0; i < c->actuators_count; i++) c->actuators[i].control = uniform(rng, 1.0);
        their_pushes(c, m, d, theirs);
        our_pushes(c, m, d, ours);
        double strongest = 0.0;
        for (int i = 0; i < m->nv; i++) strongest = mor_max(strongest, fabs(theirs[i]));
        for (int i = 0; i < m->nv; i++) worst = mor_max(worst, difference(ours[i], theirs[i], strongest));
    }
    return worst;
}

/* One second of every tree, RK4 with steps h both; passive forces (springs, damping) act. NAN: MuJoCo's is unstable. */
static double compare_motion(const char* path, const mor_mjcf* c, mjModel* m, mjData* d, double h, mor_rng* rng)
{
    mor_error error = { 0 };
    m->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_ACTUATION;
    m->opt.timestep = h;
    m->opt.integrator = mjINT_RK4;
    mj_resetData(m, d);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = uniform(rng, 0.3);
    mor_world_def def = mor_world_def_default();
    def.step = h;
    def.gravity = c->no_gravity ? mor_v3(0, 0, 0) : c->gravity;
    mor_world* w = mor_world_create(&def, &error);
    mor_world_set_method(w, "integrator", "rk4", &error);
    for (int t = 0; t < c->trees_count; t++) {
        if (!add_tree(w, c, m, d, t, &error)) {
            fprintf(stderr, "%s: %s\n", path, error.text);
            return INFINITY;
        }
    }
    int steps = (int)(1.0 / h + 0.5);
    for (int i = 0; i < steps; i++) {
        mj_step(m, d);
        bool unstable =
            d->warning[mjWARN_BADQACC].number || d->warning[mjWARN_BADQVEL].number || d->warning[mjWARN_BADQPOS].number;
        if (unstable || mor_world_step(w, NULL, &error) != MOR_OK) {
            mor_world_destroy(w);
            return NAN;
        }
    }
    double worst = 0.0;
    mj_kinematics(m, d);
    for (int t = 0; t < c->trees_count; t++) {
        mor_robot_model* model = c->trees[t].model;
        mor_robot_work* work = mor_robot_work_create(model);
        double s[512];
        mor_pose base;
        mor_world_robot_state(w, t, &base, s, NULL);
        mor_robot_update(model, work, &base, s, NULL);
        for (int i = 0; i < c->bodies_count; i++) {
            if (c->bodies[i].tree != t) continue;
            mor_pose x = mor_robot_frame_pose(model, work, c->bodies[i].frame);
            const double *y = d->xpos + 3 * i, *q = d->xquat + 4 * i;
            mor_quat e = mor_quat_mul(mor_quat_conj(x.rotation), (mor_quat){ q[0], q[1], q[2], q[3] });
            double turn = 2.0 * sqrt(e.x * e.x + e.y * e.y + e.z * e.z);
            worst = mor_max(worst, mor_norm(mor_sub(x.position, mor_v3(y[0], y[1], y[2]))) + turn);
        }
        mor_robot_work_destroy(work);
    }
    mor_world_destroy(w);
    return worst;
}

static void write_numbers(FILE* f, const char* what, const double* x, int n)
{
    fprintf(f, "%s %d", what, n);
    for (int i = 0; i < n; i++) fprintf(f, " %.16g", x[i]);
    fprintf(f, "\n");
}

/* What MuJoCo computes for one state of a model and after a second of motion, for tests/test_mjcf.c. */
static void write_table(FILE* f, const char* name, const mor_mjcf* c, mjModel* m, mjData* d, mor_rng* rng)
{
    double* full = calloc((size_t)(m->nv * m->nv) + 1, sizeof *full);
    m->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_PASSIVE | mjDSBL_ACTUATION;
    random_state(rng, c, m, d);
    for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = uniform(rng, 1.0);
    for (int i = 0; i < m->njnt; i++)
        for (int k = 0; m->jnt_type[i] == mjJNT_FREE && k < 6; k++) d->qfrc_applied[m->jnt_dofadr[i] + k] = 0.0;
    mj_forward(m, d);
    mj_fullM(m, full, d->qM);
    fprintf(f, "model %s\n", name);
    write_numbers(f, "qpos", d->qpos, m->nq);
    write_numbers(f, "qvel", d->qvel, m->nv);
    write_numbers(f, "force", d->qfrc_applied, m->nv);
    write_numbers(f, "M", full, m->nv * m->nv);
    write_numbers(f, "h", d->qfrc_bias, m->nv);
    write_numbers(f, "xpos", d->xpos, 3 * m->nbody);
    write_numbers(f, "xquat", d->xquat, 4 * m->nbody);
    write_numbers(f, "qacc", d->qacc, m->nv);
    m->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_ACTUATION;
    m->opt.timestep = 1e-4;
    m->opt.integrator = mjINT_RK4;
    mj_resetData(m, d);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = uniform(rng, 0.3);
    write_numbers(f, "start", d->qvel, m->nv);
    for (int i = 0; i < 10000; i++) mj_step(m, d);
    mj_kinematics(m, d);
    write_numbers(f, "end", d->xpos, 3 * m->nbody);
    free(full);
}

int main(int argc, char** argv)
{
    FILE* table = NULL;
    int states = 10, bad = 0, run = 1;
    bool motion = true;
    double step = 1e-4;
    printf("%-40s %4s %9s %9s %9s %9s %9s %9s\n", "model", "nv", "M", "h", "poses", "nudot", "pushes", "1 s");
    for (int a = 1; a < argc; a++) {
        if (strcmp(argv[a], "--states") == 0 && a + 1 < argc) {
            states = atoi(argv[++a]);
            continue;
        }
        if (strcmp(argv[a], "--step") == 0 && a + 1 < argc) {
            step = atof(argv[++a]);
            continue;
        }
        if (strcmp(argv[a], "--table") == 0 && a + 1 < argc) {
            if (!(table = fopen(argv[++a], "w"))) return 2;
            fprintf(table, "# what MuJoCo %s computes: written by bench_mjcf --table\n", mj_versionString());
            continue;
        }
        if (strcmp(argv[a], "--no-motion") == 0) {
            motion = false;
            continue;
        }
        char why[1000] = "", notes[4000];
        mor_error error = { 0 };
        mor_mjcf* c = mor_mjcf_read(argv[a], false, notes, sizeof notes, &error);
        mjModel* m = load(argv[a], why, sizeof why);
        const char* name = strlen(argv[a]) > 38 ? argv[a] + strlen(argv[a]) - 38 : argv[a];
        if (!c || !m) {
            printf("%-40s %s%s\n", name, c ? "not compared, MuJoCo says: " : "", !c ? error.text : why);
            bad += !c;
            mor_mjcf_destroy(c);
            continue;
        }
        mjData* d = mj_makeData(m);
        without_pushes(m);
        m->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_PASSIVE | mjDSBL_ACTUATION;
        differences x = { 0 };
        mor_rng rng = { (uint64_t)run++ };
        for (int k = 0; k < states; k++)
            for (int t = 0; t < c->trees_count; t++) {
                random_state(&rng, c, m, d);
                mj_forward(m, d);
                compare_state(c, m, d, t, &rng, &x);
            }
        double h = step;
        for (; motion && h > 1e-6; h *= 0.1) { /* smaller where dampers are too stiff, or balls turn too fast, for it */
            x.motion = compare_motion(argv[a], c, m, d, h, &rng);
            if (x.motion < MOTION_BAR) break;
        }
        if (isnan(x.motion)) x.motion = INFINITY;
        if (table) write_table(table, strrchr(name, '/') ? strrchr(name, '/') + 1 : name, c, m, d, &rng);
        mj_deleteModel(m);
        m = load(argv[a], why, sizeof why); /* with its passive forces again */
        x.push = compare_pushes(c, m, d, &rng);
        bool good =
            x.M < BAR && x.h < BAR && x.pose < BAR && x.acceleration < BAR && x.push < BAR && x.motion < MOTION_BAR;
        printf("%-40s %4d %9.1e %9.1e %9.1e %9.1e %9.1e %9.1e", name, m->nv, x.M, x.h, x.pose, x.acceleration, x.push,
               x.motion);
        if (motion && h < 0.9 * step) printf("  (steps of %g s)", h);
        printf("%s\n", good ? "" : "  <-");
        bad += !good;
        mj_deleteData(d);
        mj_deleteModel(m);
        mor_mjcf_destroy(c);
    }
    if (table) fclose(table);
    return bad ? 1 : 0;
}
