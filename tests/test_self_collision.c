/* Robots whose links touch each other: which pairs are left out, and that the rest does not explode.
 *
 * Which pairs: distances in the graph of joints by Floyd and Warshall, overlaps of spheres by their closed form, on
 * random chains, trees and loops. Motion: no step fails, and no passive step gains energy. */
#include "common/drops.h"
#include "common/foreign_robots.h"
#include "common/random_robot.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24 };

/* A random tree whose links carry a ball each, some with limits that exclude 0. */
typedef struct ball_robot {
    mor_robot_model* model;
    int links;
    double radius[MOST];
    mor_vec3 at[MOST];
} ball_robot;

static ball_robot make(mor_rng* rng, int links)
{
    ball_robot b = { .links = links };
    mor_link_def defs[MOST];
    mor_frame_def frames[MOST];
    mor_robot_model* plain = random_robot(rng, links, true);
    mor_error error = { 0 };
    for (int i = 0; i < links; i++) {
        defs[i] = *mor_robot_link(plain, i);
        frames[i] = *mor_robot_frame(plain, i);
        if (i > 0 && mor_rng_uniform(rng) < 0.3) defs[i].lower = 0.4, defs[i].upper = 1.0;
    }
    b.model = mor_robot_create(defs, links, frames, links, true, &error);
    mor_robot_destroy(plain);
    for (int i = 0; i < links; i++) {
        b.radius[i] = mor_rng_uniform(rng) < 0.2 ? 0.0 : 0.02 + 0.4 * mor_rng_uniform(rng);
        b.at[i] = mor_v3(random_number(rng, 0.2), random_number(rng, 0.2), random_number(rng, 0.2));
        if (b.radius[i] == 0.0) continue; /* a link without shape */
        mor_geometry* ball = test_sphere(b.radius[i]);
        mor_link_shape shape = { i, ball, { b.at[i], { 1, 0, 0, 0 } }, -1 };
        assert_int_equal(mor_robot_add_shape(b.model, &shape, &error), MOR_OK);
        mor_geometry_release(ball);
    }
    return b;
}

static void reference(const ball_robot* b, double* s)
{
    for (int k = 1; k < b->links; k++) {
        const mor_link_def* l = mor_robot_link(b->model, k);
        if (l->lower > 0.0) s[l->joint] = 0.5 * (l->lower + l->upper);
    }
}

static int add(mor_world* w, const ball_robot* b, double height)
{
    mor_error error = { 0 };
    mor_robot_def d = mor_robot_def_default();
    snprintf(d.name, sizeof d.name, "r");
    d.model = b->model;
    d.self_collision = true;
    d.pose.position = mor_v3(0, 0, height);
    double s[MOST] = { 0 };
    reference(b, s);
    d.s = s;
    int robot = mor_world_add_robot(w, &d, &error);
    if (robot < 0) fail_msg("%s", error.text);
    return robot;
}

/* Joins two links in the point between their origins: a loop, or a weld. */
static void join(mor_world* w, int robot, int i, int j, bool weld)
{
    mor_error error = { 0 };
    mor_joint_def d = mor_joint_def_default();
    d.kind = weld ? MOR_JOINT_FIXED : MOR_JOINT_SPHERICAL;
    d.body[0] = mor_world_robot_link(w, robot, i);
    d.body[1] = mor_world_robot_link(w, robot, j);
    d.point[0] = d.point[1] = mor_lerp(test_state(w, d.body[0]).com, test_state(w, d.body[1]).com, 0.5);
    if (mor_world_add_joint(w, &d, &error) < 0) fail_msg("%s", error.text);
}

/* Joints between two links, by Floyd and Warshall. */
static void distances(const ball_robot* b, const int loop[2], const int weld[2], int d[MOST][MOST])
{
    int n = b->links;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d[i][j] = i == j ? 0 : 1000;
    for (int i = 1; i < n; i++)
        d[i][mor_robot_link(b->model, i)->parent] = d[mor_robot_link(b->model, i)->parent][i] = 1;
    if (loop) d[loop[0]][loop[1]] = d[loop[1]][loop[0]] = 1;
    if (weld) d[weld[0]][weld[1]] = d[weld[1]][weld[0]] = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
}

/* How deep the balls of two links are in each other with all joints in their reference position. */
static double overlap(const ball_robot* b, int i, int j)
{
    double s[MOST] = { 0 };
    mor_pose base = mor_pose_identity();
    mor_robot_work* work = mor_robot_work_create(b->model);
    reference(b, s);
    mor_robot_update(b->model, work, &base, s, NULL);
    mor_pose I = mor_robot_link_pose(b->model, work, i), J = mor_robot_link_pose(b->model, work, j);
    double gap =
        mor_norm(mor_sub(mor_pose_point(&I, b->at[i]), mor_pose_point(&J, b->at[j]))) - b->radius[i] - b->radius[j];
    mor_robot_work_destroy(work);
    return -gap;
}

static void the_pairs_left_out_are_neighbours_and_overlaps(void** state)
{
    (void)state;
    mor_rng rng = { 41 };
    int neighbours = 0, overlaps = 0;
    for (int trial = 0; trial < 60; trial++) {
        int links = 3 + (int)(mor_rng_uniform(&rng) * (MOST - 3));
        ball_robot b = make(&rng, links);
        mor_world* w = test_world(1e-3);
        int robot = add(w, &b, 5.0), loop[2], weld[2], d[MOST][MOST];
        for (int k = 0; k < 2; k++) {
            loop[k] = (int)(mor_rng_uniform(&rng) * links);
            weld[k] = (int)(mor_rng_uniform(&rng) * links);
        }
        bool has_loop = trial % 3 > 0 && loop[0] != loop[1], has_weld = trial % 3 == 2 && weld[0] != weld[1];
        if (has_loop) join(w, robot, loop[0], loop[1], false);
        if (has_weld) join(w, robot, weld[0], weld[1], true);
        mor_start start;
        mor_error error = { 0 };
        assert_int_equal(mor_world_look(w, &start, &error), MOR_OK);
        mor_start_free(&start);
        int count, found = 0;
        const mor_left_out* list = mor_world_left_out(w, &count);
        distances(&b, has_loop ? loop : NULL, has_weld ? weld : NULL, d);
        for (int i = 0; i < links; i++)
            for (int j = i + 1; j < links; j++) {
                if (b.radius[i] == 0.0 || b.radius[j] == 0.0) continue;
                bool near = d[i][j] <= 2;
                double depth = overlap(&b, i, j);
                if (!near && depth <= 0.0) continue;
                const mor_left_out* p = &list[found++];
                if (found > count) fail_msg("trial %d: links %d and %d are not listed", trial, i, j);
                assert_int_equal(p->body[0].index1, mor_world_robot_link(w, robot, i).index1);
                assert_int_equal(p->body[1].index1, mor_world_robot_link(w, robot, j).index1);
                if (near) assert_true(p->depth == 0.0);
                else test_near(p->depth, depth, 1e-9, "depth");
                neighbours += near, overlaps += !near;
            }
        assert_int_equal(found, count);
        mor_world_destroy(w);
        mor_robot_destroy(b.model);
    }
    assert_true(neighbours > 100 && overlaps > 100); /* the trials try something */
}

static void random_robots_with_self_collision_do_not_explode(void** state)
{
    (void)state;
    bool whole = getenv("MOREAU_LONG") != NULL;
    mor_rng rng = { whole ? 977 : 23 };
    for (int trial = 0; trial < (whole ? 40 : 8); trial++) {
        char what[40];
        ball_robot b = make(&rng, 4 + (int)(mor_rng_uniform(&rng) * 10));
        mor_world* w = test_world(1e-3);
        test_method(w, "formulation", "ncp");
        test_method(w, "solver", "auto");
        test_option(w, "solver", "tol", "1e-8");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), (mor_quat){ 1, 0, 0, 0 });
        int robot = add(w, &b, 3.0);
        if (trial % 2) join(w, robot, 0, b.links - 1, false);
        snprintf(what, sizeof what, "trial %d", trial);
        drop_run(w, whole ? 1500 : 900, true, what);
        mor_world_destroy(w);
        mor_robot_destroy(b.model);
    }
}

static void foreign_robots_with_self_collision_do_not_explode(void** state)
{
    (void)state;
    bool whole = getenv("MOREAU_LONG") != NULL;
    static char entry[8000], text[9000];
    int tried = 0;
    for (int i = 0; i < foreign_robot_count && (whole || i < 8); i++) {
        const foreign_robot* r = &foreign_robots[i];
        if (!foreign_robot_is_there(r)) continue;
        foreign_robot_entry(r,
                            "base: floating, position: [0, 0, 1.3], orientation: { axis: [1, 2, 0.5], angle: 20 }, "
                            "self_collision: true",
                            entry, sizeof entry);
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.001, end: 5 }\nbodies:\n  - { name: floor, shape: plane, fixed: true, "
                 "friction: 0.6 }\nrobots:\n%s",
                 entry);
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        drop_run(w, whole ? 2000 : 600, true, r->name);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        tried++;
    }
    if (tried) return;
    print_message("SKIP: ../shared is not there\n");
    skip();
}

static void the_command_lists_them(void** state)
{
    (void)state;
    static char text[400000];
    static const char* const parts[] = { "note: self-collision of 'human' leaves out", "\"left_out\"", "\"neighbours\"",
                                         "human/torso_1", NULL };
    FILE* pipe = popen("'" MOREAU_COMMAND "' run humanoid_fall --steps 1 --json 2>&1", "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    for (const char* const* p = parts; *p; p++)
        if (!strstr(text, *p)) fail_msg("'%s' is not in:\n%.2000s", *p, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pairs_left_out_are_neighbours_and_overlaps),
        cmocka_unit_test(random_robots_with_self_collision_do_not_explode),
        cmocka_unit_test(foreign_robots_with_self_collision_do_not_explode),
        cmocka_unit_test(the_command_lists_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
