/* Symmetric scenes stay symmetric, and impulses that are not unique are those of least norm.
 *
 * A plank on two rollers that turn against each other, a box across two belts that run against each other: friction
 * acts with the split of the normal impulses between the points of contact, which no equation determines, so a split
 * that is not symmetric turns and drives the body. Drawn at random: sizes, masses over five decades, friction, speeds,
 * steps. After 10 s the image of the scene in its mirror is the scene to 1e-8, unless a start that is 1e-12 beside the
 * mirror ends farther than that from it as well. Four of each kind; MOREAU_LONG=1: twenty; MOREAU_SEED: the first. */
#include "common/random_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct drawing {
    uint64_t seed;
    double aside;       /* m: the bodies start so far beside the mirror */
    const char* method; /* of the scene */
    int used;
    char text[4000];
} drawing;

static double between(drawing* d, double a, double b) { return test_random(&d->seed, a, b); }
static double decades(drawing* d, double a, double b) { return exp(between(d, log(a), log(b))); }

static void add(drawing* d, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    d->used += vsnprintf(d->text + d->used, sizeof d->text - (size_t)d->used, format, list);
    va_end(list);
    assert_true(d->used > 0 && d->used < (int)sizeof d->text);
}

static void begin(drawing* d)
{
    double h = decades(d, 1e-3, 0.02), mu = between(d, 0.05, 0.9);
    add(d, "moreau: 1\ntime: { step: %.9g, end: 10 }\nmaterials: { default: { friction: %.6g } }\n", h, mu);
    add(d, "method: %s\nbodies:\n", d->method);
}

/* The mirror is y = 0. */
static void draw_plank(drawing* d)
{
    begin(d);
    double half = between(d, 0.2, 0.8), r = between(d, 0.05, 0.18), speed = decades(d, 0.1, 3.0);
    double width = between(d, 0.05, 0.4), x = between(d, -0.1, 0.1), mass = decades(d, 1e-2, 1e3);
    for (int side = -1; side <= 1; side += 2)
        add(d,
            "  - { name: roller%d, shape: { cylinder: { radius: %.9g, length: 0.6 } }, position: [%.9g, 0, %.9g],\n"
            "      orientation: [0.7071067811865476, 0.7071067811865476, 0, 0],\n"
            "      kinematic: { angular_velocity: [0, %.9g, 0] } }\n",
            side, r, side * half, -r, -side * speed / r);
    add(d, "  - { name: plank, shape: { box: [%.9g, %.9g, 0.05] }, mass: %.6g, position: [%.9g, %.9g, 0.025] }\n",
        2 * half + between(d, 0.3, 2), width, mass, x, d->aside);
    if (between(d, 0, 1) < 0.5)
        add(d, "  - { name: cargo, shape: { box: [%.9g, %.9g, 0.1] }, mass: %.6g, position: [%.9g, %.9g, 0.1] }\n",
            width, 0.8 * width, mass * between(d, 0.1, 3.0), x + between(d, -0.05, 0.05), d->aside);
}

static void draw_belts(drawing* d, bool along)
{
    begin(d);
    double speed = decades(d, 0.03, 10.0), x = between(d, 0.1, 0.8), y = between(d, 0.1, 0.8), z = between(d, 0.1, 0.5);
    for (int side = -1; side <= 1; side += 2)
        add(d,
            "  - { name: belt%d, shape: { box: [%g, %g, 0.2] }, position: [%g, %g, -0.1], fixed: true,\n"
            "      surface_velocity: [%.9g, 0, 0] }\n",
            side, along ? 8.0 : 4.0, along ? 4.0 : 8.0, along ? 0.0 : 2.0 * side, along ? 2.0 * side : 0.0,
            -side * speed);
    add(d, "  - { name: box, shape: { box: [%.9g, %.9g, %.9g] }, mass: %.6g, position: [0, %.9g, %.9g] }\n", x, y, z,
        decades(d, 1e-2, 1e3), d->aside, 0.5 * z);
}

/* Three rollers, each with a speed of its own, under a plank. */
static void draw_three_rollers(drawing* d)
{
    begin(d);
    double r = between(d, 0.05, 0.15), at[3] = { between(d, -0.9, -0.4), between(d, -0.2, 0.2), between(d, 0.4, 0.9) };
    for (int i = 0; i < 3; i++)
        add(d,
            "  - { name: roller%d, shape: { cylinder: { radius: %.9g, length: 0.6 } }, position: [%.9g, 0, %.9g],\n"
            "      orientation: [0.7071067811865476, 0.7071067811865476, 0, 0],\n"
            "      kinematic: { angular_velocity: [0, %.9g, 0] } }\n",
            i, r, at[i], -r, (i == 1 ? between(d, -1, 1) : (i ? -1 : 1) * decades(d, 0.1, 3.0)) / r);
    add(d, "  - { name: plank, shape: { box: [%.9g, %.9g, 0.06] }, mass: %.6g, position: [%.9g, %.9g, 0.03] }\n",
        between(d, 2.4, 3.5), between(d, 0.05, 0.4), decades(d, 1e-2, 1e3), between(d, -0.1, 0.1), d->aside);
}

/* A table whose four legs stand on two belts. */
static void draw_table(drawing* d)
{
    begin(d);
    double speed = decades(d, 0.03, 3.0), x = between(d, 0.2, 0.8), y = between(d, 0.1, 0.5), z = between(d, 0.2, 0.7),
           leg = between(d, 0.03, 0.08);
    for (int side = -1; side <= 1; side += 2)
        add(d,
            "  - { name: belt%d, shape: { box: [4, 8, 0.2] }, position: [%g, 0, -0.1], fixed: true,\n"
            "      surface_velocity: [%.9g, 0, 0] }\n",
            side, 2.0 * side, -side * speed);
    add(d, "  - { name: table, mass: %.6g, position: [0, %.9g, 0], shape: [\n", decades(d, 1e-1, 1e2), d->aside);
    for (int i = 0; i < 4; i++)
        add(d, "      { box: [%.9g, %.9g, %.9g], position: [%.9g, %.9g, %.9g] },\n", leg, leg, z, (i & 1 ? x : -x),
            (i & 2 ? y : -y), 0.5 * z);
    add(d, "      { box: [%.9g, %.9g, 0.04], position: [0, 0, %.9g] } ] }\n", 2 * x + 0.2, 2 * y + 0.2, z + 0.02);
}

/* Two rows of boxes on a belt, one the image of the other, and a plank across them. */
static void draw_pile(drawing* d)
{
    begin(d);
    double speed = decades(d, 0.03, 3.0), a = between(d, 0.1, 0.3), b = between(d, 0.1, 0.3), z = between(d, 0.1, 0.3),
           y = between(d, 0.2, 0.5), mass = decades(d, 1e-1, 1e2);
    add(d,
        "  - { name: belt, shape: { box: [40, 8, 0.2] }, position: [0, 0, -0.1], fixed: true,\n"
        "      surface_velocity: [%.9g, 0, 0] }\n",
        speed);
    for (int level = 0; level < 2; level++)
        for (int side = -1; side <= 1; side += 2)
            add(d,
                "  - { name: box%d-%c, shape: { box: [%.9g, %.9g, %.9g] }, mass: %.6g, position: [%.9g, %.9g, %.9g] "
                "}\n",
                level, side < 0 ? 'l' : 'r', a, b, z, mass, level * 0.2 * a, side * y + d->aside, (level + 0.5) * z);
    add(d, "  - { name: plank, shape: { box: [%.9g, %.9g, 0.05] }, mass: %.6g, position: [%.9g, %.9g, %.9g] }\n",
        0.8 * a, 2 * y + b, mass * between(d, 0.1, 3), 0.2 * a, d->aside, 2 * z + 0.025);
}

static void draw_belts_along(drawing* d) { draw_belts(d, true); }   /* half a turn about z maps it to itself */
static void draw_belts_across(drawing* d) { draw_belts(d, false); } /* the mirror y = 0 */

static bool moves(const char* name) { return strncmp(name, "belt", 4) != 0 && strncmp(name, "roller", 6) != 0; }

/* Bodies that start beside the mirror are turned out of it as well: what grows may be a yaw. */
static void turn_aside(mor_world* w, double angle)
{
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (!moves(mor_body_name(w, id))) continue;
        mor_body_state s = test_state(w, id);
        s.pose.rotation = mor_quat_mul(mor_quat_axis_angle(mor_v3(0, 0, 1), angle), s.pose.rotation);
        mor_body_set_state(w, id, &s);
    }
}

/* How far from symmetric the scene is at the end [m, rad]. */
static double asymmetry(uint64_t seed, double aside, const char* method, void (*draw)(drawing*), bool turned,
                        double end)
{
    drawing d = { .seed = seed, .aside = aside, .method = method };
    mor_scene* scene;
    draw(&d);
    mor_world* w = test_scene_text(d.text, &scene);
    if (aside != 0.0) turn_aside(w, aside);
    test_until(w, end);
    double worst = 0.0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        const mor_body_id id = mor_world_body(w, i);
        char image[64];
        snprintf(image, sizeof image, "%s", mor_body_name(w, id));
        if (!moves(image)) continue;
        char* end = image + strlen(image) - 2;
        if (strcmp(end, "-l") == 0 || strcmp(end, "-r") == 0) end[1] = end[1] == 'l' ? 'r' : 'l';
        mor_body_state s = test_state(w, id), t = test_state(w, mor_world_find_body(w, image));
        mor_quat q = s.pose.rotation, r = t.pose.rotation;
        double sign = q.w * r.w < 0.0 ? -1.0 : 1.0;
        if (turned) {
            worst = fmax(worst, fmax(fabs(s.pose.position.x), fabs(s.pose.position.y)));
            continue;
        }
        mor_vec3 x = s.pose.position, y = t.pose.position;
        worst = fmax(worst, mor_norm(mor_sub(x, mor_v3(y.x, -y.y, y.z))));
        worst = fmax(worst, fmax(fabs(q.x + sign * r.x), fabs(q.z + sign * r.z)));
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return worst;
}

static const struct kind {
    const char* name;
    void (*draw)(drawing*);
    bool turned;
} kinds[] = { { "plank", draw_plank, false },
              { "belts along", draw_belts_along, true },
              { "belts across", draw_belts_across, false },
              { "three rollers", draw_three_rollers, false },
              { "table on four legs", draw_table, false },
              { "pile on a belt", draw_pile, false } };

/* Does any start that is up to 1e-12 beside the mirror end farther than 1e-8 from it? Where a step has several answers
 * with different velocities, such a start decides between them, and one start may by chance go with the mirror. */
static bool is_sensitive(uint64_t seed, const char* method, const struct kind* kind, double end)
{
    static const double aside[] = { 1e-12, -1e-12, 5e-13, -5e-13, 7e-13, -7e-13, 3e-13, -3e-13 };
    for (size_t i = 0; i < sizeof aside / sizeof *aside; i++)
        if (asymmetry(seed, aside[i], method, kind->draw, kind->turned, end) > 1e-8) return true;
    return false;
}

/* most: scenes that may be sensitive, else nothing was tested. */
static void check_kind(const char* method, const struct kind* kind, int count, double end, int most)
{
    clock_t start = clock();
    int sensitive = 0, failures = 0, first = getenv("MOREAU_SEED") ? atoi(getenv("MOREAU_SEED")) : 1;
    for (int k = first; k < first + count; k++) {
        uint64_t seed = 40507u * (uint64_t)k;
        double found = asymmetry(seed, 0.0, method, kind->draw, kind->turned, end);
        if (found <= 1e-8) continue;
        if (is_sensitive(seed, method, kind, end)) {
            sensitive++;
            continue;
        }
        printf("  %s, %s %d: %g beside the symmetry, below 1e-8 when disturbed\n", method, kind->name, k, found);
        failures++;
    }
    printf("  %s, %s: %d scenes, %d of them sensitive, %d fail, %.1f s of CPU time\n", method, kind->name, count,
           sensitive, failures, (double)(clock() - start) / CLOCKS_PER_SEC);
    fflush(stdout);
    assert_int_equal(failures, 0);
    assert_true(sensitive <= most);
}

static void a_plank_on_rollers_that_turn_against_each_other_does_not_yaw(void** state)
{
    (void)state;
    int count = getenv("MOREAU_LONG") ? 20 : 4;
    check_kind("{}", &kinds[0], count, 10.0, count / 2);
}

static void a_box_across_belts_that_run_against_each_other_stays(void** state)
{
    (void)state;
    int count = getenv("MOREAU_LONG") ? 20 : 4;
    for (int k = 1; k < 3; k++) check_kind("{}", &kinds[k], count, 10.0, count / 2);
}

static void so_do_planks_on_three_rollers_tables_and_piles(void** state)
{
    (void)state;
    int count = getenv("MOREAU_LONG") ? 20 : 4;
    for (int k = 3; k < 6; k++) check_kind("{}", &kinds[k], count, 10.0, count / 2);
}

/* Sweeps and pivoting take the answer of least norm too. Belts that pull a box apart amplify rounding the most, and
 * sweeps leave more of it than Newton's method. */
static void so_do_sweeps_and_pivoting(void** state)
{
    (void)state;
    static const char* const methods[] = { "{ solver: nsgs }", "{ solver: psor }", "{ formulation: st, solver: pgs }",
                                           "{ formulation: st, solver: lemke }" };
    bool all = getenv("MOREAU_LONG");
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < 3; k++) check_kind(methods[m], &kinds[k], all ? 20 : 2, all ? 10.0 : 1.0, all ? 12 : 1);
}

/* A box slides in any direction on its four corners. Three equations of balance for four normal impulses N at (x, y):
 * of least norm is N = a + b x + c y, so both diagonals carry the same. Friction acts backwards at the floor, lz/2
 * below the centre, and loads the front, d the direction of sliding:
 *
 *     sum N x = mu m g h (lz/2) d_x,  likewise y:   N = m g h/4 (1 + 2 mu lz (d_x x/lx^2 + d_y y/ly^2)) */
static void four_corners_that_slide_share_the_load_by_least_norm(void** state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 10; k++) {
        double lx = test_random(&seed, 0.2, 0.6), ly = test_random(&seed, 0.2, 0.6), lz = test_random(&seed, 0.05, 0.2);
        double angle = test_random(&seed, 0, 6.28), mu = test_random(&seed, 0.1, 0.5), m = test_random(&seed, 0.1, 10);
        double h = 0.002;
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, -9.81));
        mor_geometry *floor = test_plane(), *box = test_box(lx, ly, lz);
        mor_pose at = mor_pose_identity();
        test_add(w, MOR_FIXED, &floor, &at, 1, 0.0, mu, at);
        mor_pose start = { mor_v3(0, 0, 0.5 * lz), at.rotation };
        mor_body_id id = test_add(w, MOR_DYNAMIC, &box, &at, 1, m, mu, start);
        mor_vec3 d = mor_v3(cos(angle), sin(angle), 0);
        test_velocity(w, id, mor_scale(3.0, d), mor_v3(0, 0, 0));
        for (int step = 0; step < 20; step++) {
            test_steps(w, 1);
            int n;
            const mor_contact* c = mor_world_contacts(w, &n);
            assert_int_equal(n, 4);
            double share = m * 9.81 * h / 4.0;
            mor_vec3 middle = mor_v3(0, 0, 0);
            for (int i = 0; i < n; i++) middle = mor_madd(middle, 0.25, c[i].point[0]);
            for (int i = 0; i < n; i++) {
                double rx = c[i].point[0].x - middle.x, ry = c[i].point[0].y - middle.y;
                double N = share * (1.0 + mu * lz * 2.0 * (d.x * rx / (lx * lx) + d.y * ry / (ly * ly)));
                test_near(c[i].normal_impulse, N, 1e-9 * share, "normal impulse of a corner");
            }
        }
        mor_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plank_on_rollers_that_turn_against_each_other_does_not_yaw),
        cmocka_unit_test(a_box_across_belts_that_run_against_each_other_stays),
        cmocka_unit_test(so_do_planks_on_three_rollers_tables_and_piles),
        cmocka_unit_test(so_do_sweeps_and_pivoting),
        cmocka_unit_test(four_corners_that_slide_share_the_load_by_least_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
