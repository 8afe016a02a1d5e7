/* MJCF models: against the numbers of MuJoCo 2.2.2 (tests/tables/mjcf.txt, written by bench_mjcf --table), against
 * closed forms, in worlds, and broken by dice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/damage.h"
#include "common/near.h"
#include "common/scratch.h"
#include "io/mjcf/mjcf.h"
#include "model/articulated.h"
#include "moreau/control.h"
#include "moreau/scene.h"

#define MODELS MOREAU_SOURCE_DIR "/tests/mjcf/"
#define SHARED MOREAU_SOURCE_DIR "/../shared/data/mjcf/"

/* ---------------------------------------------------------------------------- MuJoCo's table */

typedef struct row {
    double* x;
    int n;
} row;

/* Reads "what n x_1 ... x_n". */
static row read_row(FILE* f, const char* what)
{
    char word[64];
    row r = { 0 };
    assert_int_equal(fscanf(f, "%63s %d", word, &r.n), 2);
    assert_string_equal(word, what);
    r.x = malloc(((size_t)r.n + 1) * sizeof *r.x);
    for (int i = 0; i < r.n; i++) assert_int_equal(fscanf(f, "%lf", &r.x[i]), 1);
    return r;
}

static double largest(const double* x, int n)
{
    double m = 1e-300;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
    return m;
}

/* Places in MuJoCo's nv of a tree's velocities; its first free joint's angular part is local there. */
typedef struct mapping {
    int dof[64], N;
    bool floating;
    mor_quat turn;
} mapping;

static mapping map_tree(const mor_mjcf* m, int tree)
{
    static const int counts[] = { 1, 1, 3, 6 };
    mapping p = { .turn = { 1, 0, 0, 0 } };
    for (int i = 0, at = 0; i < m->joints_count; at += counts[m->joints[i++].type])
        for (int k = 0; m->joints[i].tree == tree && k < counts[m->joints[i].type]; k++) p.dof[p.N++] = at + k;
    p.floating = m->trees[tree].floating;
    return p;
}

static void turn_base(const mapping* p, bool to_world, double* x)
{
    if (!p->floating) return;
    mor_vec3 w = mor_v3(x[3], x[4], x[5]);
    w = to_world ? mor_rotate(p->turn, w) : mor_unrotate(p->turn, w);
    x[3] = w.x, x[4] = w.y, x[5] = w.z;
}

static void place(const mor_mjcf* m, int tree, const double* qpos, const double* qvel, mapping* p, mor_pose* base,
                  double* s, double* nu)
{
    *base = m->trees[tree].base;
    for (int i = 0; i < m->joints_count; i++) {
        const mor_mjcf_joint* j = &m->joints[i];
        const double* q = qpos ? qpos + j->address : NULL;
        if (j->tree != tree) continue;
        if (j->type == MOR_MJCF_FREE) {
            if (q) *base = (mor_pose){ { q[0], q[1], q[2] }, { q[3], q[4], q[5], q[6] } };
        } else if (j->type == MOR_MJCF_BALL) {
            mor_vec3 v = q ? mor_quat_log((mor_quat){ q[0], q[1], q[2], q[3] }) : mor_v3(0, 0, 0);
            s[j->number] = v.x, s[j->number + 1] = v.y, s[j->number + 2] = v.z;
        } else {
            s[j->number] = q ? *q : j->ref;
        }
    }
    p->turn = base->rotation;
    for (int k = 0; k < p->N; k++) nu[k] = qvel[p->dof[k]];
    turn_base(p, true, nu);
}

/* M, h, poses and accelerations of one tree. */
static void check_tree(const mor_mjcf* m, int tree, const row* t)
{
    const row *qpos = &t[0], *qvel = &t[1], *force = &t[2], *M = &t[3], *h = &t[4], *xpos = &t[5], *xquat = &t[6],
              *qacc = &t[7];
    mapping p = map_tree(m, tree);
    mor_robot_model* model = m->trees[tree].model;
    int N = mor_robot_dof(model), nv = qvel->n;
    assert_int_equal(N, p.N);
    double s[64], nu[64], own[64 * 64], out[64], f[64];
    mor_pose base;
    mor_robot_work* work = mor_robot_work_create(model);
    place(m, tree, qpos->x, qvel->x, &p, &base, s, nu);
    mor_robot_update(model, work, &base, s, nu);
    mor_robot_mass_matrix(model, work, own);
    for (int i = 0; i < N; i++) turn_base(&p, false, own + i * N);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) out[i] = own[i * N + j];
        turn_base(&p, false, out);
        for (int i = 0; i < N; i++) assert_near(out[i], M->x[p.dof[i] * nv + p.dof[j]], 1e-9 * largest(M->x, M->n));
    }
    mor_vec3 gravity = m->gravity;
    mor_robot_inverse_dynamics(model, work, gravity, NULL, NULL, out);
    turn_base(&p, false, out);
    for (int i = 0; i < N; i++) assert_near(out[i], h->x[p.dof[i]], 1e-9 * largest(h->x, h->n));
    for (int k = 0; k < N; k++) f[k] = force->x[p.dof[k]];
    assert_true(mor_robot_forward_dynamics(model, work, gravity, f, NULL, out));
    turn_base(&p, false, out);
    for (int i = 0; i < N; i++) assert_near(out[i], qacc->x[p.dof[i]], 1e-9 * largest(qacc->x, qacc->n));
    for (int i = 1; i < m->bodies_count; i++) {
        if (m->bodies[i].tree != tree) continue;
        mor_pose x = mor_robot_frame_pose(model, work, m->bodies[i].frame);
        assert_near(x.position.x, xpos->x[3 * i], 1e-9);
        assert_near(x.position.y, xpos->x[3 * i + 1], 1e-9);
        assert_near(x.position.z, xpos->x[3 * i + 2], 1e-9);
        const double* q = xquat->x + 4 * i;
        mor_quat e = mor_quat_mul(mor_quat_conj(x.rotation), (mor_quat){ q[0], q[1], q[2], q[3] });
        assert_near(e.x * e.x + e.y * e.y + e.z * e.z, 0.0, 1e-18);
    }
    mor_robot_work_destroy(work);
}

/* A second of motion with rk4 against MuJoCo's. */
static void check_motion(const mor_mjcf* m, const row* start, const row* end)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.step = 1e-4;
    def.gravity = m->gravity;
    mor_world* w = mor_world_create(&def, &error);
    assert_int_equal(mor_world_set_method(w, "integrator", "rk4", &error), MOR_OK);
    for (int t = 0; t < m->trees_count; t++) {
        mapping p = map_tree(m, t);
        double s[64] = { 0 }, nu[64] = { 0 };
        mor_robot_def r = mor_robot_def_default();
        snprintf(r.name, sizeof r.name, "r%d", t);
        place(m, t, NULL, start->x, &p, &r.pose, s, nu);
        r.model = m->trees[t].model, r.s = s, r.nu = nu;
        r.limits = r.friction = r.mimic = r.collide = false;
        assert_true(mor_world_add_robot(w, &r, &error) >= 0);
    }
    for (int i = 0; i < 10000; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    for (int t = 0; t < m->trees_count; t++) {
        mor_robot_work* work = mor_robot_work_create(m->trees[t].model);
        double s[64];
        mor_pose base;
        mor_world_robot_state(w, t, &base, s, NULL);
        mor_robot_update(m->trees[t].model, work, &base, s, NULL);
        for (int i = 1; i < m->bodies_count; i++) {
            if (m->bodies[i].tree != t) continue;
            mor_vec3 x = mor_robot_frame_pose(m->trees[t].model, work, m->bodies[i].frame).position;
            assert_near(x.x, end->x[3 * i], 1e-6);
            assert_near(x.y, end->x[3 * i + 1], 1e-6);
            assert_near(x.z, end->x[3 * i + 2], 1e-6);
        }
        mor_robot_work_destroy(work);
    }
    mor_world_destroy(w);
}

static void models_have_the_dynamics_and_the_motion_of_mujoco(void** state)
{
    (void)state;
    static const char* const words[] = { "qpos", "qvel", "force", "M", "h", "xpos", "xquat", "qacc", "start", "end" };
    FILE* f = fopen(MOREAU_SOURCE_DIR "/tests/tables/mjcf.txt", "r");
    assert_non_null(f);
    char line[256], name[64];
    assert_non_null(fgets(line, sizeof line, f));
    int models = 0;
    while (fscanf(f, " model %63s", name) == 1) {
        row rows[10];
        char path[512];
        for (int i = 0; i < 10; i++) rows[i] = read_row(f, words[i]);
        snprintf(path, sizeof path, MODELS "%s", name);
        mor_error error = { 0 };
        mor_mjcf* m = mor_mjcf_read(path, true, NULL, 0, &error);
        if (!m) fail_msg("%s", error.text);
        for (int t = 0; t < m->trees_count; t++) check_tree(m, t, rows);
        bool cheap = rows[1].n < 12;
        if (cheap || getenv("MOREAU_LONG")) check_motion(m, &rows[8], &rows[9]);
        for (int i = 0; i < 10; i++) free(rows[i].x);
        mor_mjcf_destroy(m);
        models++;
    }
    fclose(f);
    assert_int_equal(models, 19);
}

/* --------------------------------------------------------------------------------- in worlds */

static mor_world* world_of(const char* path, const char* const* set, mor_scene** scene)
{
    mor_error error = { 0 };
    *scene = mor_scene_load(path, set, NULL, &error);
    if (!*scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(*scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    return w;
}

static void run(mor_world* w, double until)
{
    mor_error error = { 0 };
    while (mor_world_time(w) < until - 1e-9)
        if (mor_world_step(w, NULL, &error) != MOR_OK) fail_msg("%s", error.text);
}

static double height(const mor_world* w, const char* name)
{
    mor_body_id id = mor_world_find_body(w, name);
    assert_true(id.index1 != 0);
    return mor_body_get_state(w, id).com.z;
}

static void contacts_follow_types_affinities_excludes_and_pairs(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = world_of(MODELS "12_contacts.xml", NULL, &scene);
    run(w, 3.0);
    assert_near(height(w, "contacts/box"), 0.1, 1e-3);
    assert_near(height(w, "contacts_ghost/ghost"), 0.08, 1e-3);    /* through the box, onto its pair */
    assert_near(height(w, "contacts_through/through"), 0.1, 1e-3); /* only its pair holds it */
    assert_near(height(w, "contacts_tower/tower"), 0.1, 1e-3);     /* through what is excluded */
    /* friction of the pair floor and box: the larger, 0.9; the ball has priority and none */
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    bool box = false, ball = false, through = false;
    for (int i = 0; i < count; i++) {
        const char *a = mor_body_name(w, mor_world_body(w, c[i].body[0])),
                   *b = mor_body_name(w, mor_world_body(w, c[i].body[1]));
        if (!strstr(a, "world") && !strstr(b, "world")) continue;
        if (strstr(a, "/box") || strstr(b, "/box")) {
            assert_near(c[i].friction, 0.9, 0);
            box = true;
        }
        if (strstr(a, "/ball") || strstr(b, "/ball")) {
            assert_near(c[i].friction, 0.0, 0);
            ball = true;
        }
        if (strstr(a, "/through") || strstr(b, "/through")) {
            assert_near(c[i].friction, 0.3, 0);
            through = true;
        }
    }
    assert_true(box && ball && through);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void equalities_hold(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = world_of(MODELS "10_loops.xml", NULL, &scene);
    run(w, 1.0);
    assert_true(mor_world_joint_error(w) < 1e-5);
    double s[16];
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    mor_world_robot_state(w, 0, NULL, s, NULL);
    double crank = s[mor_robot_find_joint(m, "crank")];
    assert_near(s[mor_robot_find_joint(m, "follower")], 0.1 - 0.5 * crank, 1e-5);
    assert_near(s[mor_robot_find_joint(m, "held")], 0.2, 1e-5);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Torques of the first, tiny step against gain control + bias . (1, length, rate), by hand (and as MuJoCo has them). */
static void actuators_pull_as_written(void** state)
{
    (void)state;
    mor_scene* scene;
    const char* const set[] = { "time.step=1e-9", "time.end=1e-8", NULL };
    mor_world* w = world_of(MODELS "11_actuators.xml", set, &scene);
    mor_error error = { 0 };
    assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    double tau[4];
    mor_world_motor_torques(w, 0, tau);
    /* home: s = 0.3 -0.2 0.1 0.02, s' = 0.1 0 -0.1 0, control 0.5 -0.2 0.4 0.3 0.1 0.05 */
    double a = fmin(20.0, 200.0 * (0.5 - 0.3)) + 2.0 * fmin(20.0, 5.0 * -0.2 + 0.1 - 5.0 * 0.6 - 0.3 * 0.2);
    double t = 4.0 * 0.1 - 4.0 * (-0.2 - 0.05) - 0.2 * 0.05;
    assert_near(tau[0], a, 1e-6);
    assert_near(tau[1], 3.0 * 0.4 + t, 1e-6); /* motor: force 0.4 within +-0.5, gear 3 */
    assert_near(tau[2], 0.4 * (0.3 + 0.1) - 0.5 * t, 1e-6);
    assert_near(tau[3], 500.0 * (0.05 - 0.02), 1e-6);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_keyframe_is_a_start(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_mjcf* m = mor_mjcf_read(MODELS "13_keys.xml", true, NULL, 0, &error);
    assert_non_null(m);
    assert_near(m->trees[0].start.position.z, 0.5, 0); /* no key called home: the reference */
    assert_near(m->trees[0].s[0], 0.2, 0);
    assert_int_equal(mor_mjcf_start(m, "up", &error), MOR_OK);
    const mor_mjcf_tree* t = &m->trees[0];
    assert_near(t->start.position.z, 0.8, 0);
    assert_near(t->start.rotation.w, 0.8, 1e-15);
    /* the local angular velocity (0.4, 0.5, 0.6) in world axes: turned about x with cos 0.28, sin 0.96 */
    assert_near(t->nu[3], 0.4, 1e-15);
    assert_near(t->nu[4], 0.28 * 0.5 - 0.96 * 0.6, 1e-15);
    assert_near(t->nu[5], 0.96 * 0.5 + 0.28 * 0.6, 1e-15);
    assert_near(t->s[0], 0.4, 0);
    assert_near(t->s[2], 2.0 * atan2(0.8, 0.6), 1e-15); /* the ball, about y */
    assert_near(t->nu[9], 1.0, 0);
    assert_int_equal(mor_mjcf_start(m, "down", &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "no keyframe 'down'"));
    assert_int_equal(m->sensors_count, 5);
    mor_mjcf_destroy(m);
}

/* Two files that say the same: joints, masses, the dynamics at a state, actuators, sensors. */
static void same_models(const char* one, const char* other)
{
    mor_error error = { 0 };
    char path[2][512];
    mor_mjcf* m[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], MODELS "%s", i ? other : one);
        if (!(m[i] = mor_mjcf_read(path[i], true, NULL, 0, &error))) fail_msg("%s", error.text);
    }
    assert_int_equal(m[0]->trees_count, m[1]->trees_count);
    assert_int_equal(m[0]->bodies_count, m[1]->bodies_count);
    assert_int_equal(m[0]->actuators_count, m[1]->actuators_count);
    assert_int_equal(m[0]->sensors_count, m[1]->sensors_count);
    assert_int_equal(m[0]->excludes_count, m[1]->excludes_count);
    for (int i = 0; i < m[0]->actuators_count; i++) {
        assert_string_equal(m[0]->actuators[i].name, m[1]->actuators[i].name);
        assert_int_equal(m[0]->actuators[i].joint, m[1]->actuators[i].joint);
        assert_int_equal(m[0]->actuators[i].tendon, m[1]->actuators[i].tendon);
        assert_near(m[0]->actuators[i].gain[0], m[1]->actuators[i].gain[0], 0);
    }
    for (int i = 1; i < m[0]->bodies_count; i++) {
        assert_string_equal(m[0]->bodies[i].name, m[1]->bodies[i].name);
        assert_near(m[0]->bodies[i].mass.mass, m[1]->bodies[i].mass.mass, 1e-12);
    }
    for (int t = 0; t < m[0]->trees_count; t++) {
        int N = mor_robot_dof(m[0]->trees[t].model), n = mor_robot_joint_count(m[0]->trees[t].model);
        assert_int_equal(N, mor_robot_dof(m[1]->trees[t].model));
        double s[64], nu[64], M[2][64 * 64], h[2][64];
        for (int i = 0; i < n; i++) s[i] = 0.1 + 0.07 * i;
        for (int i = 0; i < N; i++) nu[i] = 0.5 - 0.11 * i;
        for (int k = 0; k < 2; k++) {
            const mor_mjcf_tree* tree = &m[k]->trees[t];
            mor_robot_work* work = mor_robot_work_create(tree->model);
            mor_robot_update(tree->model, work, &tree->start, s, nu);
            mor_robot_mass_matrix(tree->model, work, M[k]);
            mor_robot_inverse_dynamics(tree->model, work, m[k]->gravity, NULL, NULL, h[k]);
            mor_robot_work_destroy(work);
        }
        for (int i = 0; i < N * N; i++) assert_near(M[0][i], M[1][i], 1e-12);
        for (int i = 0; i < N; i++) assert_near(h[0][i], h[1][i], 1e-11);
    }
    for (int i = 0; i < 2; i++) mor_mjcf_destroy(m[i]);
}

static void copies_are_what_one_would_write_by_hand(void** state)
{
    (void)state;
    same_models("replicas.xml", "18_replicas_twin.xml");
    same_models("attached.xml", "19_attached_twin.xml");
}

/* The box lies on the flat low end, the ball rolls down the slope k: a = 5/7 g k/(1 + k^2) along y. */
static void a_height_field_carries(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = world_of(MODELS "field.xml", NULL, &scene);
    mor_body_id ball = mor_world_find_body(w, "field_slope/slope");
    run(w, 0.6); /* it has landed */
    mor_body_state before = mor_body_get_state(w, ball);
    run(w, 0.8);
    mor_body_state after = mor_body_get_state(w, ball);
    double k = 0.25 / 2.0; /* half of the height 0.5 over a cell of 2 m, rising in y */
    assert_near(after.velocity.y - before.velocity.y, -0.2 * 5.0 / 7.0 * 9.81 * k / (1.0 + k * k), 1e-4);
    run(w, 1.0);
    assert_near(height(w, "field/low"), 0.1 + 0.1, 1e-4);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A body that carries its own weight stays; half a weight falls with half of it. The arm turns under m g/2 at 0.3 m. */
static void weight_is_carried_on_free_joints(void** state)
{
    (void)state;
    mor_scene* scene;
    const char* const set[] = { "time.step=1e-7", "time.end=1e-6", NULL };
    mor_world* w = world_of(MODELS "carried.xml", set, &scene);
    mor_error error = { 0 };
    assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    mor_vec3 p = { 0, 0, 0 };
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        p = mor_madd(p, mor_body_mass(w, id).mass, mor_body_get_state(w, id).velocity);
    }
    assert_near(p.z / 1e-7, -0.5 * 1.0 * 9.81, 1e-6); /* momentum per second: the weight that nobody carries */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A ball on a limited tendon of 0.5 m: falls freely, then hangs at 0.5 m below its anchor, and can come nearer. */
static void a_limited_spatial_tendon_is_a_rope(void** state)
{
    (void)state;
    const char* text = "<mujoco model='rope'><worldbody><site name='a' pos='0 0 2'/><body name='b' pos='0 0 1.8'>"
                       "<freejoint/><geom size='0.05'/><site name='s'/></body></worldbody><tendon><spatial "
                       "range='0 0.5'><site site='a'/><site site='s'/></spatial></tendon></mujoco>";
    write_bytes(text, strlen(text));
    mor_scene* scene;
    char named[600];
    snprintf(named, sizeof named, "%s", path);
    mor_world* w = world_of(named, NULL, &scene);
    run(w, 0.2);
    assert_near(height(w, "rope/b"), 1.8 - 0.5 * 9.81 * 0.04, 2e-2); /* step 2 ms: first order */
    run(w, 3.0);
    assert_near(height(w, "rope/b"), 1.5, 1e-5);
    mor_body_id b = mor_world_find_body(w, "rope/b");
    mor_body_apply(w, b, mor_v3(0, 0, 20.0), mor_body_get_state(w, b).com); /* one step up */
    run(w, 3.1);
    assert_true(height(w, "rope/b") > 1.5 - 1e-6);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Terminal speed of a falling ball in a viscous fluid by the inertia model: m g = 3 pi d n v, d = sqrt(6 I/m). */
static void a_fluid_slows_a_fall(void** state)
{
    (void)state;
    const char* text = "<mujoco model='f'><option viscosity='5'/><worldbody><body name='b' pos='0 0 9'>"
                       "<freejoint/><geom size='0.1' mass='0.2'/></body></worldbody></mujoco>";
    write_bytes(text, strlen(text));
    mor_scene* scene;
    char named[600];
    snprintf(named, sizeof named, "%s", path);
    mor_world* w = world_of(named, NULL, &scene);
    run(w, 2.0);
    double d = sqrt(6.0 * 0.4 * 0.01), pi = 3.14159265358979323846;
    mor_body_state s = mor_body_get_state(w, mor_world_find_body(w, "f/b"));
    assert_near(s.velocity.z, -0.2 * 9.81 / (3.0 * pi * d * 5.0), 1e-9);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void shells_and_hulls_have_their_masses(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_mjcf* m = mor_mjcf_read(MODELS "shells.xml", false, NULL, 0, &error);
    if (!m) fail_msg("%s", error.text);
    for (int i = 1; i < 5; i += 2) { /* box meshes against boxes, in single precision as MuJoCo has corners */
        const mor_mass *a = &m->bodies[i].mass, *b = &m->bodies[i + 1].mass;
        assert_near(a->mass, b->mass, 1e-7);
        assert_near(a->com.x, b->com.x, 1e-7);
        for (int k = 0; k < 9; k++) assert_near(a->inertia.m[k / 3][k % 3], b->inertia.m[k / 3][k % 3], 1e-8);
    }
    assert_near(m->bodies[2].mass.mass, 3.0 * 8.0 * (0.1 * 0.05 + 0.1 * 0.02 + 0.05 * 0.02), 1e-15);
    for (int k = 0; k < 9; k++) { /* a capsule without length is a ball */
        double hollow = k % 4 ? 0.0 : 2.0 / 3.0 * 3.0 * 0.01;
        assert_near(m->bodies[5].mass.inertia.m[k / 3][k % 3], hollow, 1e-15);
        assert_near(m->bodies[6].mass.inertia.m[k / 3][k % 3], hollow, 1e-9);
    }
    /* side 2 pi r h = 0.08 pi, lids 0.02 pi: 1.6 kg and 0.4 kg */
    assert_near(m->bodies[7].mass.inertia.m[2][2], 1.6 * 0.01 + 0.4 * 0.005, 1e-15);
    assert_near(m->bodies[7].mass.inertia.m[0][0], 1.6 * (0.005 + 0.16 / 12.0) + 0.4 * (0.0025 + 0.04), 1e-15);
    mor_mjcf_destroy(m);
}

static void rest(const char* path)
{
    mor_scene* scene;
    mor_world* w = world_of(path, NULL, &scene);
    mor_error error = { 0 };
    mor_step_report report;
    while (mor_world_time(w) < 5.0 - 1e-9) {
        if (mor_world_step(w, &report, &error) != MOR_OK) fail_msg("%s: %s", path, error.text);
        assert_int_equal(report.failures, 0);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void models_rest_for_five_seconds(void** state)
{
    (void)state;
    static const char* const own[] = { "12_contacts", "13_keys", "14_quadruped", "15_static", "replicas", "attached" };
    static const char* const shared[] = { "agility_cassie/scene.xml",
                                          "dynamixel_2r/scene.xml",
                                          "google_barkour_v0/scene.xml",
                                          "google_barkour_v0/scene_mjx.xml",
                                          "google_barkour_v0/scene_barkour.xml",
                                          "i2rt_yam/scene.xml",
                                          "kuka_iiwa_14/scene.xml",
                                          "robotiq_2f85/2f85.xml",
                                          "robotiq_2f85/scene.xml",
                                          "trossen_vx300s/scene.xml",
                                          "trs_so_arm100/scene.xml",
                                          "wonik_allegro/scene_left.xml",
                                          "wonik_allegro/scene_right.xml" };
    char path[512];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(path, sizeof path, MODELS "%s.xml", own[i]);
        rest(path);
    }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        snprintf(path, sizeof path, SHARED "%s", shared[i]);
        if (access(path, R_OK) != 0) print_message("SKIP: %s is not there\n", shared[i]);
        else if (i == 0 && !getenv("MOREAU_LONG"))
            print_message("SKIP: %s takes seconds; set MOREAU_LONG\n", shared[i]);
        else rest(path);
    }
}

/* ------------------------------------------------------------------------------------- wrong */

static void what_is_not_understood_is_refused_with_its_place(void** state)
{
    (void)state;
    static const struct {
        const char *inside, *where, *what;
    } cases[] = {
        { "<worldbody><body><joint dampng='1'/><geom size='1'/></body></worldbody>",
          ":2:18:", "did you mean 'damping'" },
        { "<worldbody><geom size='0'/></worldbody>", ":2:12:", "needs 1 positive size" },
        { "<worldbody><body><joint class='x'/></body></worldbody>", ":2:18:", "no default class 'x'" },
        { "<worldbody><body><joint axis='0 0 0'/></body></worldbody>", ":2:18:", "no length" },
        { "<worldbody><body><joint range='1 0'/></body></worldbody>", ":2:18:", "range of the joint" },
        { "<worldbody><geom type='mesh' mesh='m'/></worldbody>", ":2:12:", "no mesh 'm'" },
        { "<worldbody><body><body><freejoint/></body></body></worldbody>", ":2:24:", "directly in the worldbody" },
        { "<option viscosity='-1'/>", ":2:1:", "fluid" },
        { "<option density='1'/><worldbody><body><freejoint/><geom size='1' "
          "fluidshape='ellipsoid'/></body></worldbody>",
          ":2:51:", "fluidshape" },
        { "<worldbody><geom type='hfield' hfield='h'/></worldbody>", ":2:12:", "no hfield 'h'" },
        { "<asset><hfield name='h' nrow='1' ncol='3' size='1 1 1 1'/></asset><worldbody><geom type='hfield' "
          "hfield='h'/></worldbody>",
          ":2:8:", "nrow and ncol of at least 2" },
        { "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 0 1'/></asset>", ":2:8:", "four positive" },
        { "<worldbody><replicate count='0'><geom size='1'/></replicate></worldbody>",
          ":2:12:", "count of <replicate>" },
        { "<worldbody><attach model='m' prefix='p'/></worldbody>", ":2:12:", "no model 'm'" },
        { "<asset><model name='m' file='nowhere.xml'/></asset><worldbody><attach model='m' prefix='p'/></worldbody>",
          ":2:8:", "nowhere.xml" },
        { "<tendon><fixed range='0 1'/></tendon>", ":2:9:", "limits of fixed tendons" },
        { "<worldbody><site name='s'/><geom name='g' size='1'/></worldbody><tendon><spatial stiffness='1'><site "
          "site='s'/><geom geom='g'/><site site='s'/></spatial></tendon>",
          ":2:112:", "around geoms" },
        { "<worldbody><site name='s'/></worldbody><tendon><spatial range='0 1'><site site='s'/><site site='s'/><site "
          "site='s'/></spatial></tendon>",
          ":2:48:", "two sites" },
        { "<compiler coordinate='global'/>", ":2:1:", "global coordinates" },
        { "<compiler eulerseq='xyw'/>", ":2:1:", "eulerseq" },
        { "<actuator><muscle joint='j'/></actuator>", ":2:11:", "muscle are not supported" },
        { "<actuator><motor joint='j'/></actuator>", ":2:11:", "no joint 'j'" },
        { "<equality><connect body1='a' anchor='0 0 0'/></equality>", ":2:11:", "no body 'a'" },
        { "<worldbody><body quat='1 0 0' ><geom size='1'/></body></worldbody>", ":2:12:", "3 numbers where 4" },
        { "<worldbody><body euler='1 0 0' quat='1 0 0 0'/></worldbody>", ":2:12:", "2 orientations" },
        { "<worlbody/>", ":2:1:", "did you mean <worldbody>" },
        { "<include file='nowhere.xml'/>", ":2:1:", "nowhere.xml" },
        { "<keyframe><key qpos='1'/></keyframe>", ":2:11:", "more than 0" },
        { "<tendon><spatial><site site='s'/></spatial></tendon>", ":2:18:", "no site 's'" },
        { "<asset><mesh name='m' file='x.stl' scale='0 1 1'/></asset>", ":2:8:", "scale" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[800];
        mor_error error = { 0 };
        snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>\n", cases[i].inside);
        write_bytes(text, strlen(text));
        mor_mjcf* m = mor_mjcf_read(path, true, NULL, 0, &error);
        if (m) fail_msg("accepted: %s", cases[i].inside);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        if (!strstr(error.text, cases[i].where) || !strstr(error.text, cases[i].what))
            fail_msg("'%s' is not as expected (%s, %s)", error.text, cases[i].where, cases[i].what);
    }
}

static void what_is_not_used_is_noted(void** state)
{
    (void)state;
    const char* text =
        "<mujoco><option cone='elliptic' impratio='3' integrator='RK4'/><worldbody>"
        "<body><freejoint/><geom size='1' solref='0.1 1' solimp='0.9 0.9 0.1'/></body></worldbody></mujoco>";
    char notes[2000];
    mor_error error = { 0 };
    write_bytes(text, strlen(text));
    mor_mjcf* m = mor_mjcf_read(path, true, notes, sizeof notes, &error);
    assert_non_null(m);
    static const char* const told[] = { "cone of", "impratio of", "integrator of", "solref of", "solimp of" };
    for (int i = 0; i < 5; i++)
        if (!strstr(notes, told[i])) fail_msg("'%s' is not told", told[i]);
    mor_mjcf_destroy(m);
}

/* kv = 2 d sqrt(kp m) of a point mass on an arm: m = m l^2 + I. */
static void dampratio_is_a_damping(void** state)
{
    (void)state;
    const char* text =
        "<mujoco><worldbody><body><joint name='j' axis='0 1 0'/><geom type='sphere' size='0.1' pos='0.5 0 0' "
        "mass='2'/></body></worldbody><actuator><position joint='j' kp='50' dampratio='0.7' gear='2'/>"
        "</actuator></mujoco>";
    mor_error error = { 0 };
    write_bytes(text, strlen(text));
    mor_mjcf* m = mor_mjcf_read(path, false, NULL, 0, &error);
    assert_non_null(m);
    double inertia = (2.0 * 0.25 + 0.4 * 2.0 * 0.01) / 4.0;
    assert_near(m->actuators[0].bias[2], -2.0 * 0.7 * sqrt(50.0 * inertia), 1e-12);
    mor_mjcf_destroy(m);
}

static void no_broken_file_breaks_the_reader(void** state)
{
    (void)state;
    static const char* const files[] = { "02_joints",   "05_shapes", "10_loops",  "11_actuators",
                                         "12_contacts", "13_keys",   "replicas",  "14_quadruped",
                                         "attached",    "field",     "17_spatial" };
    mor_rng rng = { 20 };
    static char text[65536];
    int refused = 0, accepted = 0;
    for (int k = 0; k < 660; k++) {
        char name[512];
        snprintf(name, sizeof name, MODELS "%s.xml", files[k % 11]);
        FILE* f = fopen(name, "rb");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof text / 2, f);
        fclose(f);
        for (int c = 0; c <= k % 4; c++) n = damage(&rng, text, n, sizeof text);
        write_bytes(text, n);
        mor_error error = { 0 };
        char notes[3000];
        mor_mjcf* m = mor_mjcf_read(path, true, notes, sizeof notes, &error);
        if (m) {
            mor_mjcf_destroy(m);
            accepted++;
        } else {
            assert_int_equal(error.code, MOR_BAD_INPUT);
            assert_true(strlen(error.text) > 10);
            if (n > 1 && error.line < 1 && !strstr(error.text, "empty") && !strstr(error.text, path))
                fail_msg("no place: %s", error.text);
            refused++;
        }
    }
    assert_true(refused > 200 && accepted > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_have_the_dynamics_and_the_motion_of_mujoco),
        cmocka_unit_test(contacts_follow_types_affinities_excludes_and_pairs),
        cmocka_unit_test(equalities_hold),
        cmocka_unit_test(actuators_pull_as_written),
        cmocka_unit_test(a_keyframe_is_a_start),
        cmocka_unit_test(copies_are_what_one_would_write_by_hand),
        cmocka_unit_test(a_height_field_carries),
        cmocka_unit_test(weight_is_carried_on_free_joints),
        cmocka_unit_test_setup_teardown(a_limited_spatial_tendon_is_a_rope, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_fluid_slows_a_fall, make_file, remove_file),
        cmocka_unit_test(shells_and_hulls_have_their_masses),
        cmocka_unit_test(models_rest_for_five_seconds),
        cmocka_unit_test_setup_teardown(what_is_not_understood_is_refused_with_its_place, make_file, remove_file),
        cmocka_unit_test_setup_teardown(what_is_not_used_is_noted, make_file, remove_file),
        cmocka_unit_test_setup_teardown(dampratio_is_a_damping, make_file, remove_file),
        cmocka_unit_test_setup_teardown(no_broken_file_breaks_the_reader, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
