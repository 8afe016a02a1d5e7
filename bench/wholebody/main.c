/* A humanoid on its feet, step by step, beside MuJoCo, in one run, taking turns.
 *
 *     bench_wholebody [--rounds N] [--only FORMULATION] [--batch N]
 *                     [--urdf FILE left_sole right_sole [x0 x1 y0 y1]]... [--icub FILE]
 *
 * Each robot stands on two feet with four points each (rounded by 5 mm) on a plane, all joints held by tau = -2000 s -
 * 60 s_dot (computed in both loops), motors of reflected inertia 0.1 kg m^2, step 1 ms, friction 0.8, one core. MuJoCo
 * gets the same tree, masses, armature, damping and spheres as MJCF written from the model that was read, with its own
 * defaults (Newton solver, pyramidal cones) and elliptic cones. A round is 200 steps of each in turn; the time of an
 * engine is the least CPU time of all rounds. Before that, one second of simulation; printed beside the times: contacts
 * and the vertical force over the weight, which must be 8 and 1. With --batch the robots that follow are measured N at
 * once (batch.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wholebody.h"

enum { ROUND = 200 };
#define RADIUS 0.005
#define KP 2000.0
#define KD 60.0

double bench_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_fine(mor_code code, const mor_error* error)
{
    if (code == MOR_OK) return;
    fprintf(stderr, "bench_wholebody: %s\n", error->text);
    exit(1);
}

static robot make(const char* label, mor_robot_model* model, const char* left, const char* right, const double box[4])
{
    robot r = { .label = label, .model = model };
    int n = mor_robot_joint_count(model);
    double* inertia = calloc((size_t)n + 1, sizeof *inertia);
    mor_error error;
    for (int i = 0; i < n; i++) inertia[i] = 0.1;
    bench_fine(mor_robot_set_reflected(model, inertia, NULL, &error), &error);
    free(inertia);
    for (int k = 0; k < 4; k++) r.print[k] = mor_v3(box[k / 2], box[2 + (k == 1 || k == 2)], 0);
    const char* name[2] = { left, right };
    mor_robot_work* work = mor_robot_work_create(model);
    double* zero = calloc((size_t)mor_robot_dof(model) + 1, sizeof *zero);
    mor_pose base = mor_pose_identity();
    mor_robot_update(model, work, &base, zero, NULL);
    for (int f = 0; f < 2; f++) {
        int frame = mor_robot_find_frame(model, name[f]);
        if (frame < 0) {
            fprintf(stderr, "bench_wholebody: %s has no link %s\n", label, name[f]);
            exit(1);
        }
        r.feet[f] = frame;
        mor_pose pose = mor_robot_frame_pose(model, work, frame);
        for (int k = 0; k < 4; k++) r.height = fmax(r.height, RADIUS - mor_pose_point(&pose, r.print[k]).z);
    }
    mor_geometry* ball = mor_geometry_sphere(RADIUS, &error);
    for (int k = 0; k < 8; k++) {
        const mor_frame_def* f = mor_robot_frame(model, r.feet[k / 4]);
        mor_link_shape shape = { .link = f->link,
                                 .geometry = ball,
                                 .pose = { mor_pose_point(&f->pose, r.print[k % 4]), f->pose.rotation },
                                 .frame = r.feet[k / 4] };
        bench_fine(mor_robot_add_shape(model, &shape, &error), &error);
    }
    mor_geometry_release(ball);
    mor_robot_work_destroy(work);
    free(zero);
    return r;
}

/* ------------------------------------------------------------------------------------- ours */

static void hold(void* user, mor_world* w)
{
    double* x = user;
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    int n = mor_robot_joint_count(m), N = mor_robot_dof(m);
    mor_world_robot_state(w, 0, NULL, x, x + n);
    for (int j = 0; j < n; j++) x[j] = -KP * x[j] - KD * x[n + N - n + j];
    mor_world_robot_apply(w, 0, x);
}

mor_world* bench_our_world(robot* r, const char* formulation, const char* solver, double* scratch)
{
    mor_error error;
    mor_world_def d = mor_world_def_default();
    d.step = 1e-3;
    mor_world* w = mor_world_create(&d, &error);
    mor_material material = mor_material_default();
    material.friction = 0.8;
    int number = mor_world_add_material(w, &material);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def ground = mor_body_def_default();
    ground.kind = MOR_FIXED;
    ground.material = number;
    ground.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    ground.shape_count = 1;
    mor_world_add_body(w, &ground, &error);
    mor_geometry_release(plane);
    mor_robot_def def = mor_robot_def_default();
    snprintf(def.name, sizeof def.name, "robot");
    def.model = r->model;
    def.pose.position = mor_v3(0, 0, r->height);
    def.material = number;
    def.limits = def.friction = false;
    if (mor_world_add_robot(w, &def, &error) < 0) bench_fine(MOR_BAD_INPUT, &error);
    bench_fine(mor_world_set_method(w, "formulation", formulation, &error), &error);
    bench_fine(mor_world_set_method(w, "solver", solver, &error), &error);
    mor_world_on_user(w, hold, scratch);
    return w;
}

static long iterations;

static void our_steps(mor_world* w, int count, mor_timing* sum)
{
    mor_error error;
    for (int i = 0; i < count; i++) {
        mor_step_report r;
        bench_fine(mor_world_step(w, &r, &error), &error);
        if (r.status != MOR_SOLVED) {
            fprintf(stderr, "bench_wholebody: %s, step %d: %s (%g m/s, %d iterations)\n",
                    mor_world_method(w, "formulation"), r.step, r.detail, r.velocity_error, r.iterations);
            mor_pose base;
            mor_world_robot_state(w, 0, &base, NULL, NULL);
            fprintf(stderr, "  base at %.4f %.4f %.4f, kinetic energy %.3g J\n", base.position.x, base.position.y,
                    base.position.z, r.kinetic);
            exit(1);
        }
        iterations += r.iterations;
        if (!sum) continue;
        sum->total += r.timing.total, sum->user += r.timing.user, sum->collision += r.timing.collision,
            sum->assemble += r.timing.assemble;
        sum->formulate += r.timing.formulate, sum->solve += r.timing.solve, sum->integrate += r.timing.integrate;
    }
}

/* ---------------------------------------------------------------------------------- MuJoCo's */

#ifdef HAVE_MUJOCO
static void write_body(FILE* f, const robot* r, int link)
{
    const mor_robot_model* m = r->model;
    const mor_link_def* l = mor_robot_link(m, link);
    mor_pose p = link ? l->pose : (mor_pose){ mor_v3(0, 0, r->height), { 1, 0, 0, 0 } };
    mor_quat q = p.rotation;
    fprintf(f, "<body name=\"l%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">\n", link, p.position.x,
            p.position.y, p.position.z, q.w, q.x, q.y, q.z);
    if (!link) fprintf(f, "<freejoint/>\n");
    else
        fprintf(f, "<joint type=\"%s\" axis=\"%.17g %.17g %.17g\" armature=\"0.1\" damping=\"%.17g\"/>\n",
                l->type == MOR_PRISMATIC ? "slide" : "hinge", l->axis.x, l->axis.y, l->axis.z, l->damping);
    const double(*I)[3] = l->mass.inertia.m;
    if (l->mass.mass > 0.0)
        fprintf(f,
                "<inertial pos=\"%.17g %.17g %.17g\" mass=\"%.17g\" fullinertia=\"%.17g %.17g %.17g %.17g %.17g "
                "%.17g\"/>\n",
                l->mass.com.x, l->mass.com.y, l->mass.com.z, l->mass.mass, fmax(I[0][0], 1e-9), fmax(I[1][1], 1e-9),
                fmax(I[2][2], 1e-9), I[0][1], I[0][2], I[1][2]);
    for (int k = 0; k < 2; k++) {
        const mor_frame_def* frame = mor_robot_frame(m, r->feet[k]);
        for (int i = 0; i < 4 && frame->link == link; i++) {
            mor_vec3 x = mor_pose_point(&frame->pose, r->print[i]);
            fprintf(f, "<geom type=\"sphere\" size=\"%g\" pos=\"%.17g %.17g %.17g\" mass=\"0\"/>\n", RADIUS, x.x, x.y,
                    x.z);
        }
    }
    for (int c = link + 1; c < mor_robot_link_count(m); c++)
        if (mor_robot_link(m, c)->parent == link) write_body(f, r, c);
    fprintf(f, "</body>\n");
}

mjModel* bench_their_model(const robot* r, bool elliptic)
{
    char path[] = "/tmp/moreau-bench-XXXXXX";
    int fd = mkstemp(path);
    FILE* f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) return NULL;
    fprintf(f,
            "<mujoco><compiler angle=\"radian\" inertiafromgeom=\"false\" balanceinertia=\"true\" boundmass=\"0\"/>\n"
            "<option timestep=\"0.001\" cone=\"%s\"/>\n<default><geom friction=\"0.8 0 0\" condim=\"3\" contype=\"1\" "
            "conaffinity=\"2\"/></default>\n"
            "<worldbody><geom type=\"plane\" size=\"10 10 0.1\" contype=\"2\" conaffinity=\"1\"/>\n",
            elliptic ? "elliptic" : "pyramidal");
    write_body(f, r, 0);
    fprintf(f, "</worldbody></mujoco>\n");
    fclose(f);
    char error[1000] = "";
    mjModel* m = mj_loadXML(path, NULL, error, sizeof error);
    if (!m) fprintf(stderr, "bench_wholebody: MuJoCo: %s\n", error);
    remove(path);
    return m;
}

void bench_their_steps(const mjModel* m, mjData* d, int count)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < m->nv - 6; j++) d->qfrc_applied[6 + j] = -KP * d->qpos[7 + j] - KD * d->qvel[6 + j];
        mj_step(m, d);
    }
}
#endif

/* ---------------------------------------------------------------------------------- one robot */

typedef struct ours {
    const char *formulation, *solver;
    mor_world* world;
    double best, iterations;
    mor_timing stages;
} ours;

static const char* only = NULL; /* --only FORMULATION: no MuJoCo, for profiles */

static void run(robot* r, int rounds)
{
    int N = mor_robot_dof(r->model);
    double* scratch = calloc(3 * (size_t)N + 1, sizeof *scratch);
    ours o[] = { { .formulation = "ncp", .solver = "auto", .best = INFINITY },
                 { .formulation = "gauss", .solver = "qp-active-set", .best = INFINITY } };
    enum { OURS = sizeof o / sizeof *o };
    for (int k = 0; k < OURS; k++) {
        if (only && strcmp(only, o[k].formulation) != 0) continue;
        o[k].world = bench_our_world(r, o[k].formulation, o[k].solver, scratch);
        our_steps(o[k].world, 1000, NULL);
    }
#ifdef HAVE_MUJOCO
    mjModel* m[2] = { bench_their_model(r, false), bench_their_model(r, true) };
    mjData* d[2] = { 0 };
    double theirs[2] = { INFINITY, INFINITY };
    for (int k = 0; k < 2 && m[k] && !only; k++) {
        d[k] = mj_makeData(m[k]);
        bench_their_steps(m[k], d[k], 1000);
    }
#endif
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < OURS; k++) {
            if (!o[k].world) continue;
            mor_timing* least = &o[k].stages;
            mor_timing t = { 0 };
            iterations = 0;
            double start = bench_cpu();
            our_steps(o[k].world, ROUND, &t);
            double spent = (bench_cpu() - start) / ROUND;
            double *a = &least->total, *b = &t.total;
            /* each stage at its best */
            for (size_t j = 0; j < sizeof t / sizeof(double); j++) a[j] = i == 0 ? b[j] : fmin(a[j], b[j]);
            if (spent < o[k].best) o[k].best = spent, o[k].iterations = (double)iterations / ROUND;
        }
#ifdef HAVE_MUJOCO
        for (int k = 0; k < 2 && d[k]; k++) {
            double start = bench_cpu();
            bench_their_steps(m[k], d[k], ROUND);
            theirs[k] = fmin(theirs[k], (bench_cpu() - start) / ROUND);
        }
#endif
    }
    printf(
        "\n%s: %d degrees of freedom, %.1f kg\n\n| engine | us/step | x real time | contacts | f_z/weight | iterations "
        "| collision | assemble | formulate | solve | integrate |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        r->label, N, mor_robot_mass(r->model));
    for (int k = 0; k < OURS; k++) {
        if (!o[k].world) continue;
        int count, touching = 0;
        const mor_contact* c = mor_world_contacts(o[k].world, &count);
        double fz = 0.0, share = 1e6 / ROUND;
        for (int i = 0; i < count; i++) fz += c[i].impulse.z / 1e-3, touching += c[i].normal_impulse > 0.0;
        printf("| moreau %s (%s) | %.2f | %.0f | %d | %.9f | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f |\n",
               o[k].formulation, o[k].solver, 1e6 * o[k].best, 1e-3 / o[k].best, count,
               fabs(fz) / (9.81 * mor_robot_mass(r->model)), o[k].iterations, share * o[k].stages.collision,
               share * o[k].stages.assemble, share * o[k].stages.formulate, share * o[k].stages.solve,
               share * o[k].stages.integrate);
        mor_world_destroy(o[k].world);
    }
#ifdef HAVE_MUJOCO
    for (int k = 0; k < 2 && d[k]; k++) {
        double fz = 0.0, weight = 0.0;
        for (int b = 0; b < m[k]->nbody; b++) weight += 9.81 * m[k]->body_mass[b];
        for (int i = 0; i < d[k]->ncon; i++) {
            mjtNum f[6];
            mj_contactForce(m[k], d[k], i, f);
            fz += f[0];
        }
        printf("| MuJoCo %s, Newton, %s | %.2f | %.0f | %d | %.9f | | | | | | |\n", mj_versionString(),
               k ? "elliptic" : "pyramidal", 1e6 * theirs[k], 1e-3 / theirs[k], d[k]->ncon, fz / weight);
        mj_deleteData(d[k]);
        mj_deleteModel(m[k]);
    }
#endif
    free(scratch);
}

static mor_robot_model* read_model(const char* path, const char* const* joints, int count)
{
    mor_urdf_options u = mor_urdf_options_default();
    mor_error error;
    u.floating = true;
    u.shapes = false;
    u.joints = joints;
    u.joint_count = count;
    mor_robot_model* m = mor_urdf_read(path, &u, NULL, 0, &error);
    if (!m) fprintf(stderr, "bench_wholebody: SKIP %s: %s\n", path, error.text);
    return m;
}

int main(int argc, char** argv)
{
    static const char* const icub[23] = { "torso_pitch",     "torso_roll",     "torso_yaw",   "l_shoulder_pitch",
                                          "l_shoulder_roll", "l_shoulder_yaw", "l_elbow",     "r_shoulder_pitch",
                                          "r_shoulder_roll", "r_shoulder_yaw", "r_elbow",     "l_hip_pitch",
                                          "l_hip_roll",      "l_hip_yaw",      "l_knee",      "l_ankle_pitch",
                                          "l_ankle_roll",    "r_hip_pitch",    "r_hip_roll",  "r_hip_yaw",
                                          "r_knee",          "r_ankle_pitch",  "r_ankle_roll" };
    int rounds = 20, batch = 0;
    for (int i = 1; i < argc; i++) {
        double box[4] = { -0.06, 0.11, -0.035, 0.04 };
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc) batch = atoi(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
        else if (strcmp(argv[i], "--icub") == 0 && i + 1 < argc) {
            mor_robot_model* m = read_model(argv[++i], icub, 23);
            if (!m) continue;
            robot r = make("iCub, 23 joints", m, "l_sole", "r_sole", box);
            batch ? bench_batch(&r, batch, rounds) : run(&r, rounds);
            mor_robot_destroy(m);
        } else if (strcmp(argv[i], "--urdf") == 0 && i + 3 < argc) {
            const char *path = argv[i + 1], *left = argv[i + 2], *right = argv[i + 3];
            i += 3;
            for (int k = 0; k < 4 && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0; k++) box[k] = atof(argv[++i]);
            mor_robot_model* m = read_model(path, NULL, 0);
            if (!m) continue;
            const char* slash = strrchr(path, '/');
            robot r = make(slash ? slash + 1 : path, m, left, right, box);
            batch ? bench_batch(&r, batch, rounds) : run(&r, rounds);
            mor_robot_destroy(m);
        } else {
            fprintf(stderr, "bench_wholebody: unknown argument '%s'\n", argv[i]);
            return 2;
        }
    }
    return 0;
}
