/* Rest: islands that repeat are not solved again, and nothing depends on it; what is not held keeps its speeds. */
#include "common/random_scenes.h"
#include "common/drawn_scenes.h"
#include "base/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const void* from, size_t bytes)
{
    const unsigned char* byte = from;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Everything of a step that a user can read, as one number. */
static uint64_t look(const mor_world* w, const mor_step_report* r)
{
    uint64_t hash = mor_world_hash(w);
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    const mor_step* k = mor_world_last_step(w);
    double numbers[] = { r->kinetic,         r->potential,           r->penetration,        r->velocity_error,
                         r->residual,        r->contact_work,        (double)r->iterations, (double)r->contacts,
                         (double)r->islands, (double)r->problem_size };
    hash = mix(hash, numbers, sizeof numbers);
    for (int i = 0; i < count; i++) {
        hash = mix(hash, &c[i].gap, sizeof c[i].gap);
        hash = mix(hash, &c[i].impulse, sizeof c[i].impulse);
    }
    for (int i = 0; i < mor_step_island_count(k); i++) {
        const mor_system* s = mor_step_system(k, i);
        const mor_answer* a = mor_step_answer(k, i);
        hash = mix(hash, a->nu, (size_t)s->dof * sizeof(double));
        hash = mix(hash, a->impulses, (size_t)s->row_count * sizeof(double));
        for (int b = 0; b < s->block_count; b++)
            for (int e = s->blocks[b].entry; e < s->blocks[b].entry + s->blocks[b].entry_count; e++) {
                size_t n = (size_t)(s->blocks[b].dim * s->trees[s->entries[e].tree].dof) * sizeof(double);
                hash = mix(hash, s->jacobian + s->entries[e].start, n);
                hash = mix(hash, s->response + s->entries[e].start, n);
            }
        for (int b = 0; b < s->contact_count; b++) {
            hash = mix(hash, &s->contacts[b].contact, sizeof(int));
            hash = mix(hash, &s->contacts[b].gap, sizeof(double));
            hash = mix(hash, s->contacts[b].guess, sizeof s->contacts[b].guess);
        }
    }
    return hash;
}

/* What happens to two towers and a lying ball at step 60, drawn from the seed. */
enum { NOTHING, BALL, FORCE, GRAVITY, STATE, MATERIAL, MASS, REMOVED, SOLVER, STEP, SAVED, EVENTS };

typedef struct towers {
    mor_world* w;
    mor_body_id top, low, ball;
} towers;

static towers make_towers(uint64_t seed, const char* rest, int threads, const char* formulation)
{
    mor_world_def def = mor_world_def_default();
    def.threads = threads;
    towers t = { .w = mor_world_create(&def, NULL) };
    assert_non_null(t.w);
    test_method(t.w, "formulation", formulation);
    test_option(t.w, "method", "rest", rest);
    double mu = test_random(&seed, 0.3, 1.0);
    mor_geometry* plane = test_plane();
    mor_pose here = mor_pose_identity();
    test_add(t.w, MOR_FIXED, &plane, &here, 1, 0.0, mu, here);
    for (int i = 0; i < 6; i++) {
        double a = test_random(&seed, 0.4, 0.6);
        mor_geometry* box = test_box(a, a, 0.3);
        mor_pose pose = here;
        pose.position = mor_v3(3.0 * (i % 2) + test_random(&seed, -0.03, 0.03), test_random(&seed, -0.03, 0.03),
                               0.15 + 0.3 * (double)(i / 2) + test_random(&seed, 0.0, 0.01));
        pose.rotation = mor_quat_exp(mor_v3(0, 0, test_random(&seed, -1.0, 1.0)));
        mor_body_id b = test_add(t.w, MOR_DYNAMIC, &box, &here, 1, test_random(&seed, 0.5, 2.0), mu, pose);
        if (i == 0) t.low = b;
        if (i == 4) t.top = b;
    }
    mor_geometry* ball = test_sphere(0.1);
    mor_pose far = here;
    far.position = mor_v3(-2.0, 0.0, 0.1);
    t.ball = test_add(t.w, MOR_DYNAMIC, &ball, &here, 1, 1.0, mu, far);
    return t;
}

static void let_happen(towers* t, int event)
{
    mor_error error;
    mor_body_state s = mor_body_get_state(t->w, event == BALL ? t->ball : t->top);
    size_t size = mor_world_save(t->w, NULL, 0);
    switch (event) {
    case BALL:
        s.pose.position = mor_v3(-1.0, 0.1, 0.5);
        s.velocity = mor_v3(3.0, 0.0, 1.0);
        mor_body_set_state(t->w, t->ball, &s);
        break;
    case FORCE:
        mor_body_apply(t->w, t->top, mor_v3(60.0, 0, 0), mor_v3(0, 0, 0.8));
        break;
    case GRAVITY:
        mor_world_set_gravity(t->w, mor_v3(4.0, 0, -8.0));
        break;
    case STATE:
        s.pose.position.z += 0.2;
        mor_body_set_state(t->w, t->top, &s);
        break;
    case MATERIAL: {
        int slippery = mor_world_add_material(t->w, &(mor_material){ .friction = 0.0, .density = 1000.0 });
        assert_int_equal(mor_world_set_shape_material(t->w, t->low, 0, slippery, &error), MOR_OK);
        mor_world_set_gravity(t->w, mor_v3(2.0, 0, -9.0));
        break;
    }
    case MASS:
        assert_int_equal(mor_body_set_mass(t->w, t->low, 5.0, &error), MOR_OK);
        break;
    case REMOVED:
        mor_world_remove_body(t->w, t->low);
        break;
    case SOLVER:
        assert_int_equal(mor_world_set_method(t->w, "solver", "nsn-tree", &error), MOR_OK);
        break;
    case STEP:
        mor_world_set_step(t->w, 0.004);
        break;
    case SAVED: {
        void* copy = malloc(size);
        assert_int_equal(mor_world_save(t->w, copy, size), size);
        test_steps(t->w, 3);
        assert_int_equal(mor_world_restore(t->w, copy, size, &error), MOR_OK);
        free(copy);
        break;
    }
    default:
        break;
    }
}

/* Two worlds side by side, one solves everything. */
static void both_are_the_same(uint64_t seed, int event, int threads, const char* formulation, bool* rested)
{
    towers skip = make_towers(seed, "skip", threads, formulation), solve = make_towers(seed, "solve", 1, formulation);
    mor_step_report a, b;
    *rested = false;
    for (int i = 0; i < 160; i++) {
        if (i == 60) let_happen(&skip, event), let_happen(&solve, event);
        mor_error error = { 0 };
        if (mor_world_step(skip.w, &a, &error) || mor_world_step(solve.w, &b, &error))
            fail_msg("seed %d, event %d, %s, step %d: %s", (int)seed, event, formulation, i, error.text);
        if (look(skip.w, &a) != look(solve.w, &b))
            fail_msg("seed %d, event %d, %s: the worlds differ after step %d", (int)seed, event, formulation, i);
        if (i == 59) *rested = a.kinetic < 1e-25;
    }
    mor_world_destroy(skip.w);
    mor_world_destroy(solve.w);
}

static void nothing_depends_on_rest(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "ncp", "ncp", "st" };
    int at_rest = 0;
    for (uint64_t seed = 1; seed <= 2 * EVENTS; seed++) {
        bool rested;
        both_are_the_same(seed, (int)(seed % EVENTS), 1 + (int)(seed % 3), formulations[seed % 4], &rested);
        at_rest += rested;
    }
    assert_in_range(at_rest, EVENTS, 2 * EVENTS); /* or the test shows nothing */
}

/* A body that falls on a pyramid at rest moves every stone of it. */
static void what_arrives_is_felt(void** state)
{
    (void)state;
    mor_world* w = test_default_world(3, 0.01, mor_v3(0, 0, -9.81));
    mor_geometry* plane = test_plane();
    mor_pose here = mor_pose_identity();
    test_add(w, MOR_FIXED, &plane, &here, 1, 0.0, 0.6, here);
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 4 - row; i++) {
            mor_geometry* box = test_box(1, 1, 1);
            mor_pose pose = here;
            pose.position = mor_v3(1.04 * i + 0.52 * row, 0, 0.5 + row);
            test_add(w, MOR_DYNAMIC, &box, &here, 1, 1.0, 0.6, pose);
        }
    mor_geometry* ball = test_sphere(0.4);
    mor_pose high = here;
    high.position = mor_v3(1.56, 0, 9.4); /* 5 m above the top: it arrives after 1.01 s */
    test_add(w, MOR_DYNAMIC, &ball, &here, 1, 5.0, 0.6, high);
    mor_step_report r = test_steps(w, 100);
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    double before = 0.0, after = 0.0;
    for (int i = 0; i < count; i++)
        if (c[i].body[0] == 0) before += c[i].normal_impulse;
    test_near(before, 10.0 * 9.81 * 0.01, 1e-9, "the floor carries the ten stones");
    for (int i = 0; i < 300; i++) {
        assert_int_equal(mor_world_step(w, &r, NULL), MOR_OK);
        c = mor_world_contacts(w, &count);
        double sum = 0.0;
        for (int k = 0; k < count; k++)
            if (c[k].body[0] == 0) sum += c[k].normal_impulse;
        after = mor_max(after, sum);
    }
    assert_true(after > 0.5 * 5.0 * 9.9); /* much of m v of the ball comes through to the floor */
    mor_world_destroy(w);
}

/* Unstable equilibria with a deviation of 1e-9 fall as fast as without any rule. */
static void what_is_not_held_falls(void** state)
{
    (void)state;
    const char* const scenes[] = {
        /* a rod on its point, a sphere on a sphere, a box whose centre stands 1e-7 m beyond the edge of its table */
        "moreau: 1\ntime: { step: 0.005 }\nbodies:\n - { name: floor, shape: plane, fixed: true, friction: 1 }\n"
        " - { name: rod, shape: { hull: [[0,0,0], [0.05,0,1], [-0.05,0,1], [0,0.05,1], [0,-0.05,1]] }, "
        "mass: 1, friction: 1, orientation: { axis: [0, 1, 0], angle: 1e-6 } }\n",
        "moreau: 1\ntime: { step: 0.005 }\nbodies:\n - { name: big, shape: { sphere: 1 }, fixed: true, friction: 1 }\n"
        " - { name: ball, shape: { sphere: 0.2 }, mass: 1, friction: 1, position: [1e-9, 0, 1.2] }\n",
        "moreau: 1\ntime: { step: 0.005 }\nbodies:\n - { name: table, shape: { box: [1, 1, 0.2] }, fixed: true, "
        "friction: 1, position: [-0.5, 0, -0.1] }\n"
        " - { name: box, shape: { box: [0.4, 0.2, 0.2] }, mass: 1, friction: 1, position: [1e-5, 0, 0.1] }\n",
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        mor_scene* scene;
        mor_world* w = test_scene_text(scenes[i], &scene);
        mor_step_report r;
        double fastest = 0.0;
        for (int k = 0; k < 4000 && fastest < 0.1; k++) {
            assert_int_equal(mor_world_step(w, &r, NULL), MOR_OK);
            fastest = mor_max(fastest, r.kinetic);
        }
        if (!(fastest > 0.01)) fail_msg("scene %d stands still: %g J", (int)i, fastest);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Drawn scenes, of all shapes and joints, step by step. */
static void drawn_scenes_do_not_depend_on_it(void** state)
{
    (void)state;
    uint64_t last = getenv("MOREAU_LONG") ? 200 : 12;
    for (uint64_t seed = 1; seed <= last; seed++) {
        test_drawn* drawn = malloc(sizeof *drawn);
        mor_scene* scenes[2];
        mor_world* w[2];
        test_draw_scene(seed + 7000, drawn);
        for (int i = 0; i < 2; i++) w[i] = test_scene_text(drawn->text, &scenes[i]);
        test_option(w[1], "method", "rest", "solve");
        for (int k = 0; k < (last > 12 ? 300 : 60); k++) {
            mor_step_report r[2];
            mor_code code[2];
            for (int i = 0; i < 2; i++) code[i] = mor_world_step(w[i], &r[i], NULL);
            assert_int_equal(code[0], code[1]);
            if (look(w[0], &r[0]) != look(w[1], &r[1])) fail_msg("seed %d differs after step %d", (int)seed, k);
        }
        for (int i = 0; i < 2; i++) {
            mor_world_destroy(w[i]);
            mor_scene_destroy(scenes[i]);
        }
        free(drawn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_depends_on_rest),
        cmocka_unit_test(what_arrives_is_felt),
        cmocka_unit_test(what_is_not_held_falls),
        cmocka_unit_test(drawn_scenes_do_not_depend_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
