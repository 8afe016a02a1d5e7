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
    mjModel* m[2] = { bench_their_model(r, false, false), bench_their_model(r, true, false) };
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
            mor_robot_model* m = bench_read_model(argv[++i], icub, 23);
            if (!m) continue;
            robot r = bench_make("iCub, 23 joints", m, "l_sole", "r_sole", box);
            batch ? bench_batch(&r, batch, rounds) : run(&r, rounds);
            mor_robot_destroy(m);
        } else if (strcmp(argv[i], "--urdf") == 0 && i + 3 < argc) {
            const char *path = argv[i + 1], *left = argv[i + 2], *right = argv[i + 3];
            i += 3;
            for (int k = 0; k < 4 && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0; k++) box[k] = atof(argv[++i]);
            mor_robot_model* m = bench_read_model(path, NULL, 0);
            if (!m) continue;
            const char* slash = strrchr(path, '/');
            robot r = bench_make(slash ? slash + 1 : path, m, left, right, box);
            batch ? bench_batch(&r, batch, rounds) : run(&r, rounds);
            mor_robot_destroy(m);
        } else {
            fprintf(stderr, "bench_wholebody: unknown argument '%s'\n", argv[i]);
            return 2;
        }
    }
    return 0;
}
