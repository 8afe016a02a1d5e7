/* Random calls of the C API against a simple model of the bookkeeping.
 *
 * The model knows which bodies there are, in which order, their names and states when they are set, which joints hold
 * which bodies, and what a snapshot must bring back. After every call the world is asked for all of it. What the model
 * does not know (where a step moves things) is checked by the world itself: a step after mor_world_restore gives the
 * bits of the step after mor_world_save, and all numbers stay finite. 10,000 calls; 1,000,000 with MOREAU_LONG=1. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/random_scenes.h"
#include "moreau/moreau.h"

enum { MOST = 10, MOST_JOINTS = 4 };

typedef struct model {
    int body_count, joint_count, robots, links;
    mor_body_id body[MOST]; /* in the order they were added; links of the robot are counted apart */
    char name[MOST][64];
    mor_body_kind kind[MOST];
    struct {
        mor_body_id a, b;
    } joint[MOST_JOINTS];
    int number; /* of the next name */
} model;

typedef struct game {
    mor_world* w;
    model m;
    mor_geometry* shapes[3];
    mor_robot_model* arm;
    void* snapshot; /* of a world with the same bodies and joints; NULL: none */
    size_t snapshot_size;
    uint64_t saved_hash;
    uint64_t random;
    long calls, steps, restores;
} game;

static uint32_t chance(game* g, uint32_t below)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->random >> 33) % below;
}

static double between(game* g, double a, double b) { return a + (b - a) * chance(g, 1000001) / 1e6; }

static mor_vec3 vector(game* g, double size)
{
    return mor_v3(between(g, -size, size), between(g, -size, size), between(g, -size, size));
}

static bool same_id(mor_body_id a, mor_body_id b) { return memcmp(&a, &b, sizeof a) == 0; }

static void forget_snapshot(game* g)
{
    free(g->snapshot);
    g->snapshot = NULL;
}

/* The world is what the model says. */
static void compare(game* g)
{
    const model* m = &g->m;
    assert_int_equal(mor_world_body_count(g->w), m->body_count + m->links);
    assert_int_equal(mor_world_joint_count(g->w), m->joint_count);
    assert_int_equal(mor_world_robot_count(g->w), m->robots);
    int k = 0;
    for (int i = 0; i < mor_world_body_count(g->w) && k < m->body_count; i++) {
        mor_body_id id = mor_world_body(g->w, i);
        assert_true(mor_body_valid(g->w, id));
        if (!same_id(id, m->body[k])) continue; /* a link */
        assert_string_equal(mor_body_name(g->w, id), m->name[k]);
        assert_int_equal(mor_body_get_kind(g->w, id), m->kind[k]);
        assert_true(same_id(mor_world_find_body(g->w, m->name[k]), id));
        mor_body_state s = mor_body_get_state(g->w, id);
        assert_true(isfinite(s.com.x + s.com.y + s.com.z + s.velocity.x + s.velocity.y + s.velocity.z));
        double q = s.pose.rotation.w * s.pose.rotation.w + s.pose.rotation.x * s.pose.rotation.x +
                   s.pose.rotation.y * s.pose.rotation.y + s.pose.rotation.z * s.pose.rotation.z;
        assert_true(fabs(q - 1.0) < 1e-9);
        k++;
    }
    assert_int_equal(k, m->body_count); /* all, in their order */
    for (int j = 0; j < m->joint_count; j++) {
        const mor_joint_def* d = mor_world_joint(g->w, j);
        assert_true(same_id(d->body[0], m->joint[j].a) && same_id(d->body[1], m->joint[j].b));
    }
}

/* ------------------------------------------------------------------------------------- calls */

static void add_body(game* g)
{
    model* m = &g->m;
    if (m->body_count == MOST) return;
    mor_body_def d = mor_body_def_default();
    mor_body_shape shape = { g->shapes[chance(g, 3)], mor_pose_identity(), -1 };
    d.shapes = &shape;
    d.shape_count = 1;
    d.kind = chance(g, 6) == 0 ? MOR_FIXED : chance(g, 8) == 0 ? MOR_KINEMATIC : MOR_DYNAMIC;
    d.mass = chance(g, 2) ? between(g, 0.1, 10.0) : 0.0;
    d.pose.position = mor_v3(between(g, -6, 6), between(g, -6, 6), between(g, 0, 8));
    d.velocity = vector(g, 1.0);
    snprintf(d.name, sizeof d.name, "b%d", m->number);
    bool bad = chance(g, 10) == 0;
    if (bad) d.mass = chance(g, 2) ? -1.0 : NAN;
    mor_error error = { 0 };
    mor_body_id id = mor_world_add_body(g->w, &d, &error);
    if (bad && d.kind == MOR_DYNAMIC) {
        assert_int_equal(error.code, MOR_BAD_INPUT);
        assert_false(mor_body_valid(g->w, id));
        return;
    }
    if (!mor_body_valid(g->w, id)) return; /* kinds that ignore the mass may refuse it too */
    m->body[m->body_count] = id;
    m->kind[m->body_count] = d.kind;
    snprintf(m->name[m->body_count++], 64, "b%d", m->number++);
    forget_snapshot(g);
}

static void remove_body(game* g)
{
    model* m = &g->m;
    if (!m->body_count) return;
    int k = (int)chance(g, (uint32_t)m->body_count);
    mor_body_id gone = m->body[k];
    mor_world_remove_body(g->w, gone);
    assert_false(mor_body_valid(g->w, gone));
    m->body_count--;
    for (int i = k; i < m->body_count; i++) {
        m->body[i] = m->body[i + 1];
        m->kind[i] = m->kind[i + 1];
        memcpy(m->name[i], m->name[i + 1], 64);
    }
    int kept = 0;
    for (int j = 0; j < m->joint_count; j++)
        if (!same_id(m->joint[j].a, gone) && !same_id(m->joint[j].b, gone)) m->joint[kept++] = m->joint[j];
    m->joint_count = kept;
    forget_snapshot(g);
}

static void add_joint(game* g)
{
    model* m = &g->m;
    if (m->body_count < 2 || m->joint_count == MOST_JOINTS) return;
    int a = (int)chance(g, (uint32_t)m->body_count), b = (int)chance(g, (uint32_t)m->body_count);
    mor_joint_def d = mor_joint_def_default();
    static const mor_joint_kind kinds[] = { MOR_JOINT_REVOLUTE, MOR_JOINT_SPHERICAL, MOR_JOINT_DISTANCE };
    d.kind = kinds[chance(g, 3)];
    d.body[0] = m->body[a];
    d.body[1] = m->body[b];
    mor_vec3 p = mor_body_get_state(g->w, m->body[a]).com;
    d.point[0] = d.point[1] = p;
    if (d.kind == MOR_JOINT_DISTANCE) d.point[1] = mor_body_get_state(g->w, m->body[b]).com, d.length = -1.0;
    mor_error error = { 0 };
    int number = mor_world_add_joint(g->w, &d, &error);
    if (a == b) assert_true(number < 0);
    if (number < 0) {
        assert_true(error.text[0] != '\0');
        return;
    }
    assert_int_equal(number, m->joint_count);
    m->joint[m->joint_count].a = m->body[a];
    m->joint[m->joint_count++].b = m->body[b];
    forget_snapshot(g);
}

static void add_robot(game* g)
{
    if (g->m.robots >= 2) return;
    mor_robot_def d = mor_robot_def_default();
    d.model = g->arm;
    snprintf(d.name, sizeof d.name, "robot%d", g->m.robots);
    d.pose.position = mor_v3(10.0 + 5.0 * g->m.robots, 0.0, 3.0);
    mor_error error = { 0 };
    int before = mor_world_body_count(g->w), number = mor_world_add_robot(g->w, &d, &error);
    if (number < 0) fail_msg("%s", error.text);
    g->m.links += mor_world_body_count(g->w) - before;
    g->m.robots++;
    forget_snapshot(g);
}

static void set_state(game* g)
{
    if (!g->m.body_count) return;
    mor_body_id id = g->m.body[chance(g, (uint32_t)g->m.body_count)];
    mor_body_state s = mor_body_get_state(g->w, id);
    s.pose.position = mor_v3(between(g, -6, 6), between(g, -6, 6), between(g, 0, 8));
    s.velocity = vector(g, 2.0);
    if (mor_body_get_kind(g->w, id) == MOR_FIXED) s.velocity = mor_v3(0, 0, 0);
    mor_body_set_state(g->w, id, &s);
    mor_body_state now = mor_body_get_state(g->w, id);
    assert_true(fabs(now.pose.position.x - s.pose.position.x) < 1e-12);
    if (mor_body_get_kind(g->w, id) == MOR_DYNAMIC) assert_true(fabs(now.velocity.z - s.velocity.z) < 1e-12);
}

/* A random heap of joints can be a hard problem; how it is solved is not what is looked at here. */
static void hurry(game* g)
{
    mor_error error = { 0 };
    if (mor_world_set_option(g->w, "solver", "max_iter", "50", &error)) fail_msg("%s", error.text);
}

static void change_method(game* g)
{
    static const char* const pairs[][2] = { { "st", "lemke" }, { "ncp", "auto" },    { "ncp", "nsgs" },
                                            { "st", "auto" },  { "st", "pgs" },      { "no such", "auto" },
                                            { "ncp", "pgs" },  { "ncp", "nonsense" } };
    const char* const* p = pairs[chance(g, 8)];
    mor_error error = { 0 };
    mor_code code = mor_world_set_methods(g->w, p[0], p[1], &error);
    if (!code) assert_string_equal(mor_world_method(g->w, "solver"), p[1]);
    else assert_true(error.text[0] != '\0' && code == MOR_BAD_INPUT);
    if (!code) forget_snapshot(g), hurry(g);
}

static void step(game* g)
{
    mor_error error = { 0 };
    mor_step_report report;
    int before = mor_world_step_count(g->w);
    uint64_t hash = mor_world_hash(g->w);
    mor_code code = mor_world_step(g->w, &report, &error);
    g->steps++;
    if (code == MOR_OK) assert_int_equal(mor_world_step_count(g->w), before + 1);
    else { /* a step that was not taken leaves no trace */ assert_true(code == MOR_STOPPED || code == MOR_BAD_INPUT);
        assert_int_equal(mor_world_step_count(g->w), before);
        assert_true(mor_world_hash(g->w) == hash);
    }
}

static void save(game* g)
{
    forget_snapshot(g);
    g->snapshot_size = mor_world_save(g->w, NULL, 0);
    g->snapshot = malloc(g->snapshot_size);
    assert_non_null(g->snapshot);
    assert_int_equal(mor_world_save(g->w, g->snapshot, g->snapshot_size - 1), 0); /* does not fit */
    assert_int_equal(mor_world_save(g->w, g->snapshot, g->snapshot_size), g->snapshot_size);
    g->saved_hash = mor_world_hash(g->w);
}

static void restore(game* g)
{
    if (!g->snapshot) return;
    mor_error error = { 0 };
    if (chance(g, 4) == 0) { /* cut off: refused, nothing changes */
        uint64_t hash = mor_world_hash(g->w);
        assert_int_equal(mor_world_restore(g->w, g->snapshot, chance(g, (uint32_t)g->snapshot_size), &error),
                         MOR_BAD_INPUT);
        assert_true(mor_world_hash(g->w) == hash);
        return;
    }
    if (mor_world_restore(g->w, g->snapshot, g->snapshot_size, &error)) fail_msg("%s", error.text);
    assert_true(mor_world_hash(g->w) == g->saved_hash);
    step(g);
    uint64_t once = mor_world_hash(g->w);
    if (mor_world_restore(g->w, g->snapshot, g->snapshot_size, &error)) fail_msg("%s", error.text);
    step(g);
    assert_true(mor_world_hash(g->w) == once);
    g->restores++;
}

static void push(game* g)
{
    if (!g->m.body_count) return;
    mor_body_id id = g->m.body[chance(g, (uint32_t)g->m.body_count)];
    mor_body_apply(g->w, id, vector(g, 20.0), mor_body_get_state(g->w, id).com);
}

static void begin(game* g)
{
    mor_error error = { 0 };
    mor_world_def d = mor_world_def_default();
    d.step = 0.005;
    g->w = mor_world_create(&d, &error);
    assert_non_null(g->w);
    hurry(g);
    memset(&g->m, 0, sizeof g->m);
}

static void random_calls_leave_the_world_as_the_model_says(void** state)
{
    (void)state;
    static const struct {
        void (*call)(game*);
        int weight;
    } calls[] = { { add_body, 12 }, { remove_body, 9 },   { add_joint, 4 }, { add_robot, 1 }, { set_state, 6 },
                  { step, 40 },     { change_method, 2 }, { save, 8 },      { restore, 10 },  { push, 4 } };
    enum { CALLS = sizeof calls / sizeof *calls };
    int total = 0;
    for (int i = 0; i < CALLS; i++) total += calls[i].weight;
    mor_error error = { 0 };
    mor_urdf_options options = mor_urdf_options_default();
    options.floating = false;
    game g = { .random = test_seed(22) };
    g.shapes[0] = mor_geometry_sphere(0.4, &error);
    g.shapes[1] = mor_geometry_box(0.6, 0.7, 0.8, &error);
    g.shapes[2] = mor_geometry_capsule(0.3, 0.8, &error);
    g.arm = mor_urdf_read(MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf", &options, NULL, 0, &error);
    if (!g.shapes[0] || !g.shapes[1] || !g.shapes[2] || !g.arm) fail_msg("%s", error.text);
    long most = getenv("MOREAU_LONG") ? 1000000 : getenv("MOREAU_SLOW") ? 2000 : 10000;
    begin(&g);
    for (; g.calls < most; g.calls++) {
        if (g.calls % 500 == 499) { /* another world */
            forget_snapshot(&g);
            mor_world_destroy(g.w);
            begin(&g);
        }
        int at = (int)chance(&g, (uint32_t)total), k = 0;
        while (at >= calls[k].weight) at -= calls[k++].weight;
        calls[k].call(&g);
        compare(&g);
    }
    print_message("%ld calls, %ld steps, %ld restored snapshots\n", g.calls, g.steps, g.restores);
    forget_snapshot(&g);
    mor_world_destroy(g.w);
    for (int i = 0; i < 3; i++) mor_geometry_release(g.shapes[i]);
    mor_robot_destroy(g.arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_calls_leave_the_world_as_the_model_says) };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
