/* Collision methods compared (moreau compare --collision), the distances they are held against, and Bullet.
 *
 * Expected: distances of boxes and balls in closed form; the separation of random shapes along any direction is never
 * more than their distance, and along its normal no less; methods that are wrong on purpose are told by as much as they
 * are wrong; Bullet's motions are those of closed forms or of `manifold` where contacts are faces and balls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collision/exact.h"
#include "common/command.h"
#include "common/near.h"
#include "common/random_scenes.h"
#include "io/recording/recording.h"
#include "lab/collisions.h"

/* ------------------------------------------------------------------------------- exact distances */

static double distance_of(const mor_geometry* a, mor_vec3 x, const mor_geometry* b, mor_vec3 y, mor_vec3* n)
{
    double d = NAN;
    mor_pose p = { x, { 1, 0, 0, 0 } }, q = { y, { 1, 0, 0, 0 } };
    assert_true(mor_exact_distance(a, &p, b, &q, &d, n));
    return d;
}

static void distances_of_boxes_balls_and_planes_are_those_of_closed_forms(void** state)
{
    (void)state;
    mor_vec3 n;
    mor_geometry *box = test_box(2, 2, 2), *ball = test_sphere(0.5), *plane = test_plane();
    assert_near(distance_of(box, mor_v3(0, 0, 0), box, mor_v3(3, 4, 6), &n), sqrt(1 + 4 + 16), 1e-14);
    assert_near(n.z, 4 / sqrt(21), 1e-12);
    assert_near(distance_of(box, mor_v3(0, 0, 0), box, mor_v3(1.7, 0.1, 0.2), &n), -0.3, 1e-14);
    assert_near(n.x, 1, 1e-14);
    assert_near(distance_of(ball, mor_v3(1, 2, 3), ball, mor_v3(1, 2, 3.25), &n), -0.75, 1e-14);
    assert_near(distance_of(ball, mor_v3(0, 0, 0), box, mor_v3(2, 0, 0), &n), 0.5, 1e-14);
    assert_near(distance_of(ball, mor_v3(0, 0, 0.25), plane, mor_v3(0, 0, 0), &n), -0.25, 1e-14);
    assert_near(n.z, -1, 0);
    assert_near(distance_of(plane, mor_v3(0, 0, 0), box, mor_v3(0, 0, 3), &n), 2, 0);
    assert_near(n.z, 1, 0);
    mor_geometry_release(box), mor_geometry_release(ball), mor_geometry_release(plane);
}

static double separation(const mor_geometry* a, const mor_pose* p, const mor_geometry* b, const mor_pose* q, mor_vec3 n)
{
    mor_vec3 far_a = mor_geometry_support(a, mor_rotate(mor_quat_conj(p->rotation), n)),
             far_b = mor_geometry_support(b, mor_rotate(mor_quat_conj(q->rotation), mor_neg(n)));
    return mor_dot(n, mor_sub(mor_pose_point(q, far_b), mor_pose_point(p, far_a)));
}

static mor_geometry* some_shape(uint64_t* seed, int kind)
{
    mor_error e = { 0 };
    double a = test_random(seed, 0.2, 1), b = test_random(seed, 0.2, 1), c = test_random(seed, 0.2, 1);
    mor_vec3 points[12];
    for (int i = 0; i < 12; i++) points[i] = test_random_vector(seed);
    switch (kind) {
    case 0:
        return test_box(a, b, c);
    case 1:
        return mor_geometry_capsule(a, b, &e);
    case 2:
        return mor_geometry_cylinder(a, b, 0, &e);
    case 3:
        return mor_geometry_cone(a, b, &e);
    case 4:
        return mor_geometry_ellipsoid(a, b, c, &e);
    default:
        return mor_geometry_hull(points, 12, &e);
    }
}

static void no_direction_separates_random_shapes_by_more_than_their_distance(void** state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 200; k++) {
        mor_geometry *a = some_shape(&seed, k % 6), *b = some_shape(&seed, k / 6 % 6);
        mor_pose p = { mor_v3(0, 0, 0), test_random_turn(&seed) },
                 q = { mor_scale(2.0, test_random_vector(&seed)), test_random_turn(&seed) };
        double d;
        mor_vec3 n;
        assert_true(mor_exact_distance(a, &p, b, &q, &d, &n));
        assert_near(separation(a, &p, b, &q, n), d, 1e-9);
        for (int i = 0; i < 200; i++) {
            mor_vec3 m = mor_normalize(mor_madd(n, i < 100 ? 0.01 : 2.0, test_random_vector(&seed)), n);
            double s = separation(a, &p, b, &q, m);
            if (s > d + 1e-8) fail_msg("pair %d: %.12g along another direction, %.12g along its normal", k, s, d);
        }
        mor_geometry_release(a), mor_geometry_release(b);
    }
}

/* --------------------------------------------------------------------- methods that are wrong on purpose */

/* The ball of radius 0.1 over z = 0, with its gap shifted. */
static mor_code shifted(void* memory, const mor_world* w, const void* options, mor_found* found, mor_error* error)
{
    (void)memory, (void)options, (void)error;
    mor_vec3 x = mor_body_get_state(w, mor_world_body(w, 1)).com;
    const double turn = 0.01;
    mor_contact c = { .body = { 0, 1 },
                      .point = { { x.x, x.y, 0 }, { x.x, x.y, x.z - 0.1 } },
                      .normal = { sin(turn), 0, cos(turn) },
                      .gap = x.z - 0.1 - 0.002,
                      .friction = -1,
                      .restitution = -1 };
    return mor_found_add(found, &c);
}

static mor_code blind(void* memory, const mor_world* w, const void* options, mor_found* found, mor_error* error)
{
    (void)memory, (void)w, (void)options, (void)found, (void)error;
    return MOR_OK;
}

static const mor_field no_fields[] = { { 0 } };
static const mor_collision wrong[] = { { .name = "shifted",
                                         .summary = "",
                                         .options_size = sizeof(mor_collision_options),
                                         .fields = no_fields,
                                         .detect = shifted },
                                       { .name = "blind",
                                         .summary = "",
                                         .options_size = sizeof(mor_collision_options),
                                         .fields = no_fields,
                                         .detect = blind } };

static void methods_that_are_wrong_are_told_by_how_much(void** state)
{
    (void)state;
    mor_error error = { 0 };
    FILE* f = fopen(command_at("ball.yaml"), "w");
    assert_non_null(f);
    fputs("moreau: 1\ntime: { step: 0.01, end: 0.4 }\nbodies:\n"
          "  - { name: ground, shape: plane, fixed: true }\n"
          "  - { name: ball, shape: { sphere: 0.1 }, position: [0, 0, 0.3] }\n",
          f);
    fclose(f);
    mor_library* library = mor_library_create(&error);
    for (int i = 0; i < 2; i++) assert_int_equal(mor_library_add_collision(library, &wrong[i], &error), MOR_OK);
    mor_collisions c = { .library = library,
                         .methods = { "manifold", "shifted", "blind" },
                         .method_count = 3,
                         .states = 20,
                         .limit = HUGE_VAL };
    if (mor_collisions_add(&c, command_at("ball.yaml"), &error)) fail_msg("%s", error.text);
    assert_int_equal(c.scene_count, 1);
    const mor_collision_score* s = c.scenes[0].scores;
    /* it lands after sqrt(2 0.2/g) = 0.202 s: about half of the states have a contact */
    assert_int_equal(s[0].states, 20);
    assert_true(s[0].contacts >= 8 && s[0].contacts <= 12);
    assert_near(s[0].gap_error, 0, 1e-15);
    assert_int_equal(s[0].missed + s[0].ghosts, 0);
    assert_near(s[0].distance, 0, 0);
    assert_near(s[1].gap_error, 0.002, 1e-12);
    assert_near(s[1].mean_gap_error, 0.002, 1e-12);
    assert_near(s[1].normal_error, 0.01, 1e-9);
    assert_int_equal(s[1].contacts, 20);
    /* it stops the ball 2 mm above the ground. On its way down, where the next step would bring it below 2 mm but not
     * to the ground, the contact is a ghost: at most one state */
    assert_true(s[1].ghosts <= 1);
    assert_near(s[1].distance, 0.002 / sqrt(2), 2e-4); /* two bodies, of which one moves */
    /* blind: all states in which the ball lies or would pass the ground */
    assert_int_equal(s[2].contacts, 0);
    assert_true(s[2].missed >= 8 && s[2].missed <= 12);
    assert_near(s[2].penetration, 0.5 * 9.81 * 0.39 * 0.39 - 0.2, 0.04); /* it falls on */
    mor_collisions_free(&c);
    mor_library_destroy(library);
}

static void a_ghost_stops_what_would_pass(void** state)
{
    (void)state;
    mor_world* w = test_default_world(3, 0.01, mor_v3(0, 0, 0));
    mor_geometry *a = test_box(1, 1, 1), *b = test_sphere(0.1);
    mor_pose pa = { { 0, 0, 0 }, { 1, 0, 0, 0 } }, pb = { { 0, 0, 0.7 }, { 1, 0, 0, 0 } };
    test_add(w, MOR_FIXED, &a, NULL, 1, 1, 0, pa);
    mor_body_id ball = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1, 0, pb);
    test_velocity(w, ball, mor_v3(5, 0, 0), mor_v3(0, 0, 0)); /* over the box, 0.1 m above it */
    mor_contact c = { .body = { 0, 1 }, .normal = { 1, 0, 0 }, .gap = 0.01, .point = { { 0 }, { 0.01, 0, 0 } } };
    mor_collision_score away = { 0 }, against = { 0 };
    mor_collisions_judge(w, &c, 1, &away); /* it opens */
    c.normal.x = -1;
    mor_collisions_judge(w, &c, 1, &against);
    assert_int_equal(away.ghosts, 0);
    assert_int_equal(against.ghosts, 1);
    assert_int_equal(against.missed, 0);
    mor_world_destroy(w);
}

/* --------------------------------------------------------------------------------------- the command */

static void the_command_writes_tables_and_refuses_what_it_does_not_know(void** state)
{
    (void)state;
    command_expect(
        "$M compare $S/scenes/teaching/sphere_drop.yaml --collision manifold,features --frames 5 --csv t.csv "
        "--out t.md && grep -q '^\"sphere drop\",features,ok,5,' t.csv && grep -q '`features` | 1 | 0' t.md",
        0, NULL);
    assert_non_null(strstr(command_output, "manifold"));
    command_expect("$M compare sphere_drop --collision manifold --frames 3 --json | grep -q '\"missed\": 0'", 0, NULL);
    command_expect("$M compare sphere_drop --collision manifolt", 2, "did you mean 'manifold'?");
    command_expect("$M compare sphere_drop --collision ,", 2, "--collision needs one");
    command_expect("$M compare sphere_drop --collision manifold --out page.html", 2, "FILE.md");
    command_expect("$M compare nothing.yaml --collision manifold", 2, "nothing.yaml");
    command_expect("$M compare flat_discs --collision ../manifold", 2, "no collision method");
}

/* -------------------------------------------------------------------------------------------- Bullet */

static bool bullet_is_there(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", MOREAU_COMMAND);
    char* slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 64, "moreau-bullet.so");
    if (access(path, R_OK) == 0) return true;
    printf("SKIP: no plug-in moreau-bullet.so; make bullet builds it (libbullet-dev)\n");
    return false;
}

static void bullet_moves_balls_and_boxes_as_they_should(void** state)
{
    (void)state;
    if (!bullet_is_there()) skip();
    command_expect("$M compare bounce s8_roll stack incline --collision manifold,bullet --frames 8 --csv b.csv --quiet",
                   0, NULL);
    /* scene, method, status; 12: missed, 17: distance from manifold */
    command_expect("awk -F, '$2==\"bullet\" { n++; if ($3!=\"ok\" || $12!=0 || $17>1e-3) bad++ } END { exit !(n==4 && "
                   "!bad) }' b.csv",
                   0, NULL);
    /* s8_roll: a ball of friction mu ends at 5/7 of its speed (closed form) */
    command_expect("$M run s8_roll --collision bullet --json | grep -q '\"collision\": \"bullet\"'", 0, NULL);
}

static void bullet_keeps_the_numbers_of_contacts(void** state)
{
    (void)state;
    if (!bullet_is_there()) skip();
    command_expect("$M run sliding_block --collision bullet --record s.h5 --quiet", 0, NULL);
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(command_at("s.h5"), &error);
    if (!r) fail_msg("%s", error.text);
    char unit[16];
    int frames = mor_recording_get_info(r)->frames, rows, width, body = mor_recording_find_body(r, "block");
    if (body < 0) body = 1;
    assert_int_equal(mor_recording_shape(r, "/contacts/feature", &rows, &width, unit, sizeof unit, &error), MOR_OK);
    double *count = calloc((size_t)frames, sizeof *count), *pose = calloc((size_t)frames * 7, sizeof *pose),
           *feature = calloc((size_t)rows, sizeof *feature), *point = calloc((size_t)rows * 6, sizeof *point);
    assert_int_equal(mor_recording_series(r, "/contacts/count", count, &error), MOR_OK);
    assert_int_equal(mor_recording_body(r, body, pose, NULL, &error), MOR_OK);
    assert_int_equal(mor_recording_rows(r, "/contacts/feature", 0, (size_t)rows, 1, feature, &error), MOR_OK);
    assert_int_equal(mor_recording_rows(r, "/contacts/point", 0, (size_t)rows, 6, point, &error), MOR_OK);
    /* a corner keeps its number while the block slides: from step to step its place in the block changes little */
    mor_vec3 place[8] = { { 0 } };
    bool known[8] = { false };
    int kept = 0, row = 0;
    for (int f = 0; f < frames; f++)
        for (int k = 0; k < (int)count[f]; k++, row++) {
            int number = (int)feature[row];
            assert_in_range(number, 0, 7);
            const double* before = pose + 7 * (f > 0 ? f - 1 : 0); /* contacts are those of the step's start */
            mor_pose p = { { before[0], before[1], before[2] }, { before[3], before[4], before[5], before[6] } };
            const double* at = point + 6 * row + 3 * (body == 1);
            mor_vec3 x = mor_rotate(mor_quat_conj(p.rotation), mor_sub(mor_v3(at[0], at[1], at[2]), p.position));
            if (known[number] && mor_norm(mor_sub(x, place[number])) < 0.02) kept++;
            place[number] = x;
            known[number] = true;
        }
    assert_int_equal(row, rows);
    if (!(rows > 300 && kept > 0.97 * rows))
        fail_msg("%d of %d contacts have the number of the step before", kept, rows);
    free(count), free(pose), free(feature), free(point);
    mor_recording_close(r);
}

static void bullet_goes_on_from_a_snapshot_bit_for_bit(void** state)
{
    (void)state;
    if (!bullet_is_there()) skip();
    command_expect(
        "$M run dominoes --collision bullet --steps 60 --json > a.json && $M run dominoes --collision bullet "
        "--steps 30 --snapshot half --quiet && $M run dominoes --collision bullet --from half --steps 30 --json "
        "> b.json && grep state_hash a.json > a && grep state_hash b.json > b && cmp a b",
        0, NULL);
}

static void bullet_refuses_what_it_has_no_shape_for(void** state)
{
    (void)state;
    if (!bullet_is_there()) skip();
    command_expect("$M run flat_discs --collision bullet", 2, "collision method 'bullet' is for 3-D worlds");
    command_expect("$M run stack --collision bullet --set method.collision.activation=body", 2,
                   "no 'activation: body'");
    command_expect("$M run peg_in_hole --formulation peg --collision bullet", 2, "features");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_of_boxes_balls_and_planes_are_those_of_closed_forms),
        cmocka_unit_test(no_direction_separates_random_shapes_by_more_than_their_distance),
        cmocka_unit_test(methods_that_are_wrong_are_told_by_how_much),
        cmocka_unit_test(a_ghost_stops_what_would_pass),
        cmocka_unit_test(the_command_writes_tables_and_refuses_what_it_does_not_know),
        cmocka_unit_test(bullet_moves_balls_and_boxes_as_they_should),
        cmocka_unit_test(bullet_keeps_the_numbers_of_contacts),
        cmocka_unit_test(bullet_goes_on_from_a_snapshot_bit_for_bit),
        cmocka_unit_test(bullet_refuses_what_it_has_no_shape_for),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
