/* Forward dynamics of robots beside MuJoCo, in one run, taking turns.
 *
 *     bench_robots [--rounds N] FILE.urdf...
 *
 * For each file: nudot from random positions, velocities and joint torques, floating base, no contact, no damping, no
 * friction, no limits. Ours is mor_robot_update (kinematics) and mor_robot_forward_dynamics; MuJoCo's is mj_forward
 * with contacts, constraints and passive forces switched off: kinematics, inertia, its factor, bias, acceleration. A
 * round is 200 states of each, one engine after the other; the time of an engine is the least CPU time of all rounds,
 * which other programs on the machine disturb least. Both must agree on the accelerations, or nothing is worth
 * comparing; MuJoCo stores inertia by principal axes found to about 1e-6 rad, so they agree to about 1e-6 relative.
 *
 * MuJoCo reads the same file with what it has no use for taken out (visuals, collision shapes, simulators' own
 * elements), inertias of massless links dropped, and a floating joint to the world put before the root. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "moreau/moreau.h"
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { STATES = 200 };

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct sample {
    mor_pose base;
    double *s, *nu, *tau; /* n, N, n */
} sample;

#ifdef HAVE_MUJOCO
static char* read_text(const char* path)
{
    FILE* f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char* text = malloc((size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) size = 0;
    if (text) text[size] = '\0';
    fclose(f);
    return text;
}

/* Blanks from `<name` to `</name>` or `/>`, all of them, keeping the length. */
static void take_out(char* text, const char* name)
{
    char open[64], close[64];
    snprintf(open, sizeof open, "<%s", name);
    snprintf(close, sizeof close, "</%s>", name);
    for (char* at = text; (at = strstr(at, open)); at++) {
        char after = at[strlen(open)];
        if (after != ' ' && after != '>' && after != '/' && after != '\n' && after != '\t' && after != '\r') continue;
        char* end = strchr(at, '>');
        if (!end) return;
        if (end[-1] != '/') {
            end = strstr(at, close);
            if (!end) return;
            end += strlen(close) - 1;
        }
        memset(at, ' ', (size_t)(end - at) + 1);
    }
}

/* Inertials of mass zero. */
static void take_out_massless(char* text)
{
    for (char* at = text; (at = strstr(at, "<inertial")); at++) {
        char *end = strstr(at, "</inertial>"), *mass = strstr(at, "<mass");
        if (!end || !mass || mass > end) continue;
        char* value = strstr(mass, "value");
        if (value && value < end && atof(value + strcspn(value, "\"'") + 1) <= 0.0)
            memset(at, ' ', (size_t)(end - at) + 11);
    }
}

static mjModel* load_peer(const char* path, const char* root, char* problem, int size)
{
    char* text = read_text(path);
    if (!text) return NULL;
    static const char* const unused[] = { "visual",   "collision", "gazebo", "transmission", "sensor",
                                          "material", "loop",      "frame",  "drake",        "mujoco" };
    for (char* at = text; (at = strstr(at, "<!--"));) { /* comments first: they may hold anything */
        char* end = strstr(at, "-->");
        if (!end) break;
        memset(at, ' ', (size_t)(end - at) + 3);
    }
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) take_out(text, unused[i]);
    take_out_massless(text);
    char* end = strstr(text, "</robot>");
    char name[] = "/tmp/bench_robots_XXXXXX";
    int descriptor = mkstemp(name);
    FILE* f = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    mjModel* m = NULL;
    if (end && f) {
        fwrite(text, 1, (size_t)(end - text), f);
        fprintf(f,
                "<link name=\"bench_world\"/><joint name=\"bench_free\" type=\"floating\"><parent "
                "link=\"bench_world\"/><child link=\"%s\"/></joint>\n"
                "<mujoco><compiler strippath=\"true\" fusestatic=\"true\" balanceinertia=\"true\" boundmass=\"0\" "
                "boundinertia=\"0\" inertiafromgeom=\"false\"/></mujoco></robot>\n",
                root);
        fclose(f);
        m = mj_loadXML(name, NULL, problem, size);
    }
    if (f) remove(name);
    free(text);
    return m;
}

/* Puts a sample into MuJoCo's state; angular velocity of a free joint is in the body's axes there. */
static void set_peer(const mjModel* m, mjData* d, const mor_robot_model* robot, const sample* x)
{
    const mor_pose* b = &x->base;
    memcpy(d->qpos,
           (double[7]){ b->position.x, b->position.y, b->position.z, b->rotation.w, b->rotation.x, b->rotation.y,
                        b->rotation.z },
           7 * sizeof(double));
    mor_vec3 w = mor_unrotate(b->rotation, mor_v3(x->nu[3], x->nu[4], x->nu[5]));
    memcpy(d->qvel, (double[6]){ x->nu[0], x->nu[1], x->nu[2], w.x, w.y, w.z }, 6 * sizeof(double));
    memset(d->qfrc_applied, 0, (size_t)m->nv * sizeof(double));
    for (int j = 0; j < mor_robot_joint_count(robot); j++) {
        int k = mj_name2id(m, mjOBJ_JOINT, mor_robot_link(robot, mor_robot_link_of_joint(robot, j))->joint_name);
        d->qpos[m->jnt_qposadr[k]] = x->s[j];
        d->qvel[m->jnt_dofadr[k]] = x->nu[6 + j];
        d->qfrc_applied[m->jnt_dofadr[k]] = x->tau[j];
    }
}

/* Largest difference of the joint accelerations over the largest of them. */
static double disagreement(const mjModel* m, const mjData* d, const mor_robot_model* robot, const double* nudot)
{
    double most = 1.0, difference = 0.0;
    for (int j = 0; j < mor_robot_joint_count(robot); j++) {
        int k = mj_name2id(m, mjOBJ_JOINT, mor_robot_link(robot, mor_robot_link_of_joint(robot, j))->joint_name);
        most = fmax(most, fabs(nudot[6 + j]));
        difference = fmax(difference, fabs(nudot[6 + j] - d->qacc[m->jnt_dofadr[k]]));
    }
    return difference / most;
}
#endif

static int bench(const char* path, int rounds)
{
    mor_error error;
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = true;
    mor_robot_model* robot = mor_urdf_read(path, &o, NULL, 0, &error);
    mor_robot_work* work = robot ? mor_robot_work_create(robot) : NULL;
    if (!work) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    int n = mor_robot_joint_count(robot), N = mor_robot_dof(robot);
    double* numbers = calloc((size_t)(2 * n + N) * STATES + 3 * (size_t)N, sizeof *numbers);
    double *nudot = numbers + (size_t)(2 * n + N) * STATES, *force = nudot + N;
    sample* x = calloc(STATES, sizeof *x);
    mor_rng rng = { 7 };
    for (int i = 0; i < STATES; i++) {
        x[i].s = numbers + (size_t)(2 * n + N) * (size_t)i;
        x[i].nu = x[i].s + n;
        x[i].tau = x[i].nu + N;
        for (int j = 0; j < 2 * n + N; j++) x[i].s[j] = 2.0 * mor_rng_uniform(&rng) - 1.0;
        x[i].base = (mor_pose){ { 0.1, 0.2, 0.3 },
                                mor_quat_normalize((mor_quat){ 1.0, mor_rng_uniform(&rng), mor_rng_uniform(&rng),
                                                               mor_rng_uniform(&rng) }) };
    }
    double ours = INFINITY, theirs = INFINITY, apart = 0.0;
    mor_robot_update(robot, work, &x[0].base, x[0].s, x[0].nu);
    if (!mor_robot_forward_dynamics(robot, work, mor_v3(0, 0, -9.81), NULL, NULL, nudot)) {
        fprintf(stderr, "%s is left out: its base has no mass and cannot float\n", path);
        goto done;
    }
#ifdef HAVE_MUJOCO
    char problem[500] = "";
    mjModel* m = load_peer(path, mor_robot_link(robot, 0)->name, problem, sizeof problem);
    mjData* d = m ? mj_makeData(m) : NULL;
    if (m && m->nv != N) {
        snprintf(problem, sizeof problem, "%d degrees of freedom instead of %d", m->nv, N);
        mj_deleteData(d);
        d = NULL;
    }
    if (!d) fprintf(stderr, "MuJoCo does not take %s: %s\n", path, problem);
    else
        m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_CONSTRAINT | mjDSBL_PASSIVE | mjDSBL_LIMIT |
                               mjDSBL_FRICTIONLOSS | mjDSBL_EQUALITY | mjDSBL_ACTUATION | mjDSBL_SENSOR;
    double* at = calloc(STATES * (size_t)(3 * N + 1), sizeof *at); /* qpos, qvel, forces of every state, put in outside
                                                                      the clock */
    for (int i = 0; d && i < STATES; i++) {
        set_peer(m, d, robot, &x[i]);
        memcpy(at + (size_t)i * (size_t)(3 * N + 1), d->qpos, (size_t)(N + 1) * sizeof(double));
        memcpy(at + (size_t)i * (size_t)(3 * N + 1) + N + 1, d->qvel, (size_t)N * sizeof(double));
        memcpy(at + (size_t)i * (size_t)(3 * N + 1) + 2 * N + 1, d->qfrc_applied, (size_t)N * sizeof(double));
    }
#endif
    for (int round = 0; round < rounds; round++) {
        double start = cpu();
        for (int i = 0; i < STATES; i++) {
            memcpy(force + 6, x[i].tau, (size_t)n * sizeof(double));
            mor_robot_update(robot, work, &x[i].base, x[i].s, x[i].nu);
            mor_robot_forward_dynamics(robot, work, mor_v3(0, 0, -9.81), force, NULL, nudot);
        }
        ours = fmin(ours, (cpu() - start) / STATES);
#ifdef HAVE_MUJOCO
        if (!d) continue;
        start = cpu();
        for (int i = 0; i < STATES; i++) {
            const double* p = at + (size_t)i * (size_t)(3 * N + 1);
            memcpy(d->qpos, p, (size_t)(N + 1) * sizeof(double));
            memcpy(d->qvel, p + N + 1, (size_t)N * sizeof(double));
            memcpy(d->qfrc_applied, p + 2 * N + 1, (size_t)N * sizeof(double));
            mj_forward(m, d);
        }
        theirs = fmin(theirs, (cpu() - start) / STATES);
        if (round == 0) apart = fmax(apart, disagreement(m, d, robot, nudot)); /* both stand at the last state */
#endif
    }
    const char* name = path + strlen(path); /* the last two names: many files are called model.urdf */
    for (int slashes = 0; name > path && (slashes += name[-1] == '/') < 2;) name--;
    char peer[32] = "-", ratio[32] = "-", differ[32] = "-";
    if (isfinite(theirs)) {
        snprintf(peer, sizeof peer, "%.2f", 1e6 * theirs);
        snprintf(ratio, sizeof ratio, "%.2f", theirs / ours);
        snprintf(differ, sizeof differ, "%.1e", apart);
    }
    printf("| %s | %d | %d | %.2f | %s | %s | %s |\n", name, mor_robot_link_count(robot), N, 1e6 * ours, peer, ratio,
           differ);
    fflush(stdout);
#ifdef HAVE_MUJOCO
    if (d) mj_deleteData(d);
    if (m) mj_deleteModel(m);
    free(at);
#endif
done:
    free(numbers);
    free(x);
    mor_robot_work_destroy(work);
    mor_robot_destroy(robot);
    return 0;
}

int main(int argc, char** argv)
{
    int rounds = 200, status = 0, first = 1;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) rounds = atoi(argv[2]), first = 3;
    if (first >= argc || rounds < 1) {
        fprintf(stderr, "usage: bench_robots [--rounds N] FILE.urdf...\n");
        return 2;
    }
#ifdef HAVE_MUJOCO
    printf("MuJoCo %s\n\n", mj_versionString());
#else
    printf("MuJoCo is not installed: our times only\n\n");
#endif
    printf("| robot | moving parts | dof | moreau [us] | MuJoCo [us] | MuJoCo/moreau | accelerations differ by "
           "|\n|---|---|---|---|---|---|---|\n");
    for (int i = first; i < argc; i++) status |= bench(argv[i], rounds);
    return status;
}
