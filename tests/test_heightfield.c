/* Height fields: ground made of many convex pieces behaves as one surface.
 *
 * Expected values: the same motion on a plane or a box, which have no seams; a ball in a V of slope s rests with its
 * centre r sqrt(1 + s^2) above the bottom; the height of the triangles under a point is interpolated here by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/random_scenes.h"

enum { MOST = 64, TEXT = 400000 };

/* A field of n times n cells over a square of edge `size`. */
typedef struct field {
    int n;
    double size, h[MOST + 1][MOST + 1];
} field;

static field* make(int n, double size, double slope, double noise, uint64_t* seed)
{
    field* f = malloc(sizeof *f);
    f->n = n;
    f->size = size;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++)
            f->h[j][i] = slope * size * ((double)i / n - 0.5) + test_random(seed, -noise, noise);
    return f;
}

/* Of the two triangles of a cell. */
static double height_at(const field* f, double x, double y)
{
    double u = (x / f->size + 0.5) * f->n, v = (y / f->size + 0.5) * f->n;
    int i = (int)fmin(fmax(floor(u), 0), f->n - 1), j = (int)fmin(fmax(floor(v), 0), f->n - 1);
    u -= i, v -= j;
    double a = f->h[j][i], b = f->h[j][i + 1], c = f->h[j + 1][i + 1], d = f->h[j + 1][i];
    return u > v ? a + u * (b - a) + v * (c - b) : a + v * (d - a) + u * (c - d);
}

static int write_rows(char* text, const field* f, bool upwards)
{
    int used = 0;
    for (int k = 0; k <= f->n; k++) {
        int j = upwards ? k : f->n - k;
        used += sprintf(text + used, "%s[", k ? ", " : "");
        for (int i = 0; i <= f->n; i++) used += sprintf(text + used, "%s%.17g", i ? ", " : "", f->h[j][i]);
        used += sprintf(text + used, "]");
    }
    return used;
}

/* The world of a ground and of what is on it. */
static mor_world* world_on(const field* f, const char* ground, const char* bodies, mor_scene** scene)
{
    char* text = malloc(TEXT);
    int used =
        sprintf(text, "moreau: 1\ntime: { step: 0.005, end: 9 }\nmethod: { accuracy: { goal: 1e-12, limit: 1e-9 } }\n"
                      "materials: { default: { friction: 0.2 } }\nbodies:\n  - { name: ground, fixed: true, ");
    if (f) {
        used += sprintf(text + used, "shape: { heightfield: { size: [%.17g, %.17g], heights: [", f->size, f->size);
        used += write_rows(text + used, f, true);
        used += sprintf(text + used, "] } } }\n");
    } else {
        used += sprintf(text + used, "%s }\n", ground);
    }
    sprintf(text + used, "%s", bodies);
    mor_world* w = test_scene_text(text, scene);
    free(text);
    return w;
}

static void same_motion(mor_world* a, mor_world* b, const char* name, double tol)
{
    mor_body_state s = test_state(a, mor_world_find_body(a, name)), t = test_state(b, mor_world_find_body(b, name));
    test_near(mor_norm(mor_sub(s.com, t.com)), 0.0, tol, name);
    test_near(mor_norm(mor_sub(s.velocity, t.velocity)), 0.0, tol, "its velocity");
    test_near(mor_norm(mor_sub(s.angular_velocity, t.angular_velocity)), 0.0, 10 * tol, "its spin");
}

static void finish(mor_world* w, mor_scene* scene)
{
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* noise 0: one piece; 3e-11 m is level, and yet every cell is two pieces. */
static void nothing_is_lost_at_the_seams_of_a_level_field(void** state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 8; k++) {
        char bodies[800];
        double v = test_random(&seed, 1, 3), u = test_random(&seed, -1, 1), y = test_random(&seed, -1, 1);
        sprintf(
            bodies,
            "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, position: [-4, %.17g, 0.1], velocity: [%.17g, %.17g, "
            "0] }\n"
            "  - { name: ball, shape: { sphere: 0.2 }, position: [-4, %.17g, 0.2], velocity: [%.17g, %.17g, 0], "
            "angular_velocity: [%.17g, %.17g, 0] }\n",
            y - 2, v, u, y + 2, v, u, -u / 0.2, v / 0.2);
        mor_scene* s[3];
        field *flat = make(20, 10, 0, 0, &seed), *rough = make(20, 10, 0, 3e-11, &seed);
        mor_world* w[3] = { world_on(NULL, "shape: plane", bodies, &s[0]), world_on(flat, NULL, bodies, &s[1]),
                            world_on(rough, NULL, bodies, &s[2]) };
        for (int i = 0; i < 3; i++) test_until(w[i], 1.5);
        for (int i = 1; i < 3; i++) {
            same_motion(w[i], w[0], "box", 1e-9);
            same_motion(w[i], w[0], "ball", i == 1 ? 1e-9 : 1e-8);
        }
        for (int i = 0; i < 3; i++) finish(w[i], s[i]);
        free(flat), free(rough);
    }
}

static void balls_and_boxes_go_down_a_tilted_field_as_down_a_box(void** state)
{
    (void)state;
    uint64_t seed = 6;
    for (int k = 0; k < 6; k++) {
        double slope = test_random(&seed, 0.05, 0.6), c = 1 / sqrt(1 + slope * slope), s = slope * c;
        char ground[300], bodies[800];
        double turn = -atan(slope) * 180 / acos(-1.0);
        sprintf(
            ground,
            "shape: { box: [20, 20, 2] }, position: [%.17g, 0, %.17g], orientation: { axis: [0, 1, 0], angle: %.17g }",
            s, -c, turn);
        double up = 2.5; /* along the slope, from the middle */
        sprintf(
            bodies,
            "  - { name: ball, shape: { sphere: 0.2 }, position: [%.17g, 1.03, %.17g] }\n"
            "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, position: [%.17g, -1.01, %.17g], orientation: { axis: "
            "[0, 1, 0], angle: %.17g }, velocity: [%.17g, 0, %.17g] }\n",
            c * up - s * 0.2, s * up + c * 0.2, c * up - s * 0.1, s * up + c * 0.1, turn, -c, -s);
        mor_scene* scenes[3];
        field *flat = make(20, 10, slope, 0, &seed), *rough = make(20, 10, slope, 3e-11, &seed);
        mor_world* w[3] = { world_on(NULL, ground, bodies, &scenes[0]), world_on(flat, NULL, bodies, &scenes[1]),
                            world_on(rough, NULL, bodies, &scenes[2]) };
        for (int i = 0; i < 3; i++) test_until(w[i], 0.8);
        for (int i = 1; i < 3; i++) {
            same_motion(w[i], w[0], "ball", i == 1 ? 1e-9 : 1e-8);
            same_motion(w[i], w[0], "box", 1e-8);
        }
        for (int i = 0; i < 3; i++) finish(w[i], scenes[i]);
        free(flat), free(rough);
    }
}

static void a_ball_rests_in_a_valley(void** state)
{
    (void)state;
    uint64_t seed = 7;
    const double s = 0.4, r = 0.25;
    field* f = make(20, 8, 0, 0, &seed);
    for (int j = 0; j <= f->n; j++)
        for (int i = 0; i <= f->n; i++) f->h[j][i] = s * f->size * fabs((double)i / f->n - 0.5);
    mor_scene* scene;
    const char* ball = "  - { name: ball, shape: { sphere: 0.25 }, position: [1.3, 0.37, 1.2] }\n";
    mor_world* w = world_on(f, NULL, ball, &scene);
    /* the same valley of two half-spaces */
    mor_scene* twin;
    mor_world* v = world_on(NULL, "shape: [ { plane: { normal: [0.4, 0, 1] } }, { plane: { normal: [-0.4, 0, 1] } } ]",
                            ball, &twin);
    test_until(w, 3.0);
    test_until(v, 3.0);
    same_motion(w, v, "ball", 1e-9);
    finish(v, twin);
    test_until(w, 14.0);
    mor_body_state b = test_state(w, mor_world_find_body(w, "ball"));
    test_near(b.com.x, 0.0, 1e-6, "x of the ball at rest");
    test_near(b.com.y, 0.37, 1e-6, "y of the ball at rest");
    test_near(b.com.z, r * sqrt(1 + s * s), 1e-6, "its height");
    test_near(mor_norm(b.velocity), 0.0, 1e-6, "its speed");
    finish(w, scene);
    free(f);
}

static void bodies_stay_on_random_ground_and_gain_no_energy(void** state)
{
    (void)state;
    uint64_t seed = 8;
    static const char* const shapes[5] = { "{ sphere: 0.2 }", "{ box: [0.4, 0.3, 0.2] }",
                                           "{ capsule: { radius: 0.1, length: 0.3 } }",
                                           "{ cylinder: { radius: 0.15, length: 0.3 } }",
                                           "{ icosahedron: { edge: 0.2 } }" };
    for (int k = 0; k < 2; k++) {
        field* f = make(30, 9, 0, test_random(&seed, 0.03, 0.2), &seed);
        char bodies[20 * 400];
        int used = 0;
        for (int b = 0; b < 20; b++)
            used +=
                sprintf(bodies + used,
                        "  - { name: b%d, shape: %s, position: [%g, %g, %g], velocity: [%g, %g, -1], orientation: { "
                        "axis: [%g, 1, 0.3], angle: %g } }\n",
                        b, shapes[b % 5], 1.1 * (b % 5 - 2), 1.1 * (b / 5) - 1.6, 0.7, test_random(&seed, -2, 2),
                        test_random(&seed, -2, 2), test_random(&seed, -1, 1), test_random(&seed, 0, 360));
        mor_scene* scene;
        mor_world* w = world_on(f, NULL, bodies, &scene);
        double depth = 0.0, gain = test_run(w, 200, &depth);
        test_near(fmax(gain, 0.0), 0.0, 1e-6, "energy gained in a step, of some 3000 J");
        test_near(fmax(depth, 0.0), 0.0, 1e-3, "penetration");
        for (int b = 0; b < 20; b++) {
            char name[20];
            sprintf(name, "b%d", b);
            mor_vec3 x = test_state(w, mor_world_find_body(w, name)).com;
            if (fabs(x.x) < 0.5 * f->size && fabs(x.y) < 0.5 * f->size) assert_true(x.z > height_at(f, x.x, x.y));
        }
        finish(w, scene);
        free(f);
    }
}

/* ---------------------------------------------------------------------------------------- files */

static void write_file(const char* path, const void* bytes, size_t n)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static const char* const probe = "  - { name: ball, shape: { sphere: 0.3 }, position: [0.21, 0.34, 4.0] }\n";

static void as_heights(const field* f, const char* path, const char* more)
{
    char ground[400];
    sprintf(ground, "shape: { heightfield: { size: [4, 4], file: %s%s } }", path, more);
    mor_scene* s[2];
    mor_world* w[2] = { world_on(f, NULL, probe, &s[0]), world_on(NULL, ground, probe, &s[1]) };
    for (int i = 0; i < 2; i++) test_until(w[i], 1.2);
    same_motion(w[1], w[0], "ball", 1e-12);
    for (int i = 0; i < 2; i++) finish(w[i], s[i]);
}

/* Walls between the pieces used to hold such bodies from all sides, and they fell through the floor. The surface is the
 * one interpolated here; a body goes straight up, slowed down only by what it passes. */
static void bodies_that_start_inside_the_ground_come_out_at_the_top(void** state)
{
    (void)state;
    uint64_t seed = 9;
    static const char* const shapes[5] = { "{ sphere: 0.2 }", "{ box: [0.4, 0.3, 0.2] }",
                                           "{ capsule: { radius: 0.1, length: 0.3 } }",
                                           "{ cylinder: { radius: 0.15, length: 0.3 } }",
                                           "{ icosahedron: { edge: 0.2 } }" };
    for (int k = 0; k < 20; k++) {
        field* f = make(k % 4 ? 8 : 1, 9, 0, k % 4 ? 0.15 : 0, &seed);
        char bodies[5 * 300];
        int used = 0;
        for (int b = 0; b < 5; b++)
            used += sprintf(bodies + used,
                            "  - { name: b%d, shape: %s, position: [%g, %g, %g], orientation: { axis: [%g, 1, 0.3], "
                            "angle: %g } }\n",
                            b, shapes[b], 1.2 * (b - 2) + test_random(&seed, -0.3, 0.3), test_random(&seed, -3, 3),
                            test_random(&seed, -0.9, -0.3), test_random(&seed, -1, 1), test_random(&seed, 0, 360));
        mor_scene* scene;
        mor_world* w = world_on(f, NULL, bodies, &scene);
        for (int i = 0; i < 200; i++) test_until(w, 0.005 * (i + 1));
        for (int b = 0; b < 5; b++) {
            char name[20];
            sprintf(name, "b%d", b);
            mor_body_state s = test_state(w, mor_world_find_body(w, name));
            test_near(fmax(height_at(f, s.com.x, s.com.y) + 0.05 - s.com.z, 0.0), 0.0, 0.0, name);
            test_near(fmax(mor_norm(s.velocity) - 3.0, 0.0), 0.0, 0.0, "its speed: not thrown");
        }
        finish(w, scene);
        free(f);
    }
}

static void files_are_the_same_ground_as_their_heights(void** state)
{
    (void)state;
    char folder[] = "/tmp/moreau-heightfield-XXXXXX", path[80];
    assert_non_null(mkdtemp(folder));
    enum { N = 5 };
    uint64_t seed = 9;
    field* f = make(N - 1, 4, 0, 0, &seed);
    int grey[N][N];
    for (int bits = 8; bits <= 16; bits += 8) {
        const int white = bits == 8 ? 200 : 60000;
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                grey[j][i] = (int)test_random(&seed, 0, white);
                f->h[N - 1 - j][i] = -1.0 + 3.0 * ((double)grey[j][i] / white);
            }
        char text[2000];
        int used = sprintf(text, "P2\n# made by hand\n%d %d\n%d\n", N, N, white);
        for (int k = 0; k < N * N; k++)
            used += sprintf(text + used, "%d%s", grey[k / N][k % N], k % N == N - 1 ? "\n" : " ");
        sprintf(path, "%s/plain.pgm", folder);
        write_file(path, text, (size_t)used);
        as_heights(f, path, ", height: [-1, 2]");
        used = sprintf(text, "P5 %d %d %d\n", N, N, white);
        for (int k = 0; k < N * N; k++) {
            if (bits == 16) text[used++] = (char)(grey[k / N][k % N] / 256);
            text[used++] = (char)(grey[k / N][k % N] % 256);
        }
        write_file(path, text, (size_t)used);
        as_heights(f, path, ", height: [-1, 2]");
        unlink(path);
        used = sprintf(text, "# x grows along a row\r\n");
        for (int k = 0; k < N * N; k++)
            used +=
                sprintf(text + used, "%.17g%s", f->h[k / N][k % N], k % N < N - 1 ? bits == 8 ? "," : " ; " : "\r\n\n");
        sprintf(path, "%s/table.csv", folder);
        write_file(path, text, (size_t)used);
        as_heights(f, path, "");
        unlink(path);
    }
    /* grey (53 i + 31 j j + 17 i j) mod 256 of column i, row j, compressed by zlib */
    static const unsigned char png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
                                         0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x05,
                                         0x08, 0x00, 0x00, 0x00, 0x00, 0xa8, 0x04, 0x79, 0x39, 0x00, 0x00, 0x00,
                                         0x27, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x30, 0xcd, 0x9a,
                                         0x7f, 0x85, 0x41, 0x3e, 0x75, 0xf5, 0x47, 0x73, 0x86, 0x9a, 0xcb, 0x5a,
                                         0x8d, 0x37, 0x18, 0xc4, 0xeb, 0x9f, 0xfb, 0x6f, 0x67, 0xf8, 0x90, 0xf9,
                                         0x28, 0xfa, 0x0a, 0x00, 0xb0, 0x50, 0x0d, 0x29, 0xa6, 0xbb, 0x5c, 0x41,
                                         0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) f->h[N - 1 - j][i] = 1.5 - 2.5 * ((53 * i + 31 * j * j + 17 * i * j) % 256 / 255.0);
    sprintf(path, "%s/ground.png", folder);
    write_file(path, png, sizeof png);
    as_heights(f, path, ", height: [1.5, -1]");
    unlink(path);
    free(f);
    rmdir(folder);
}

/* --------------------------------------------------------------------------------------- errors */

static void refused(const char* text, int line, int column, const char* fragment)
{
    mor_error e = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "bad.yaml", NULL, NULL, &e);
    if (scene || e.code != MOR_BAD_INPUT || !strstr(e.text, fragment) || e.line != line || e.column != column)
        fail_msg("%s\n  gave %d:%d %s", text, e.line, e.column, scene ? "a scene" : e.text);
}

#define FIELD(keys) "moreau: 1\nbodies:\n  - { fixed: true, shape: { heightfield: { " keys " } } }\n"

static void what_is_no_field_is_told_with_its_place(void** state)
{
    (void)state;
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, 2, 3]]"), 3, 76,
            "this row has 3 heights and the first one has 2");
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, .nan]]"), 3, 80, "not a number");
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, .inf]]"), 3, 80, "height");
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, high]]"), 3, 80, "must be a number");
    refused(FIELD("size: [1, 1], heights: [[1, 2], 3]"), 3, 76, "must be a list");
    refused(FIELD("size: [1, 1], heights: [[1, 2]]"), 3, 67, "at least two rows");
    refused(FIELD("size: [1, 1], heights: [[1], [2]]"), 3, 68, "at least two heights");
    refused(FIELD("size: [1, -1], heights: [[1, 2], [1, 2]]"), 3, 54, "negative");
    refused(FIELD("size: [0, 1], heights: [[1, 2], [1, 2]]"), 3, 51, "zero");
    refused(FIELD("size: 3, heights: [[1, 2], [1, 2]]"), 3, 50, "size");
    refused(FIELD("heights: [[1, 2], [1, 2]]"), 3, 42, "size");
    refused(FIELD("size: [1, 1]"), 3, 42, "either the heights of the height field or a file");
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, 2]], height: [0, 1]"), 3, 85, "height is for pictures");
    refused(FIELD("size: [1, 1], heights: [[1, 2], [1, 2]], depth: -1"), 3, 92, "depth");
    refused(FIELD("size: [1, 1], file: /nonexistent/a.pgm"), 3, 64, "cannot read");
    refused("moreau: 1\nbodies:\n  - { shape: { heightfield: { size: [1, 1], heights: [[1, 2], [1, 2]] } } }\n", 3, 16,
            "cannot be a moving body");
    refused("moreau: 1\ndimension: 2\nbodies:\n  - { fixed: true, shape: { heightfield: { size: [1, 1] } } }\n", 4, 29,
            "3");
}

static void refused_file(const char* path, const char* content, size_t n, const char* more, int line, int column,
                         const char* fragment)
{
    char text[400];
    write_file(path, content, n);
    sprintf(text, FIELD("size: [1, 1], file: %s%s"), path, more);
    refused(text, line, column, fragment);
    unlink(path);
}

static void broken_files_are_told_with_their_place(void** state)
{
    (void)state;
    char folder[] = "/tmp/moreau-heightfield-XXXXXX", path[80];
    assert_non_null(mkdtemp(folder));
    sprintf(path, "%s/ground", folder);
#define REFUSED(content, more, line, column, fragment)                                                                 \
    refused_file(path, content, sizeof content - 1, more, line, column, fragment)
    REFUSED("1,2\n1,2,3\n", "", 2, 1, "this row has 3 heights");
    REFUSED("1,2\n1, x2\n", "", 2, 4, "'x2' is no height");
    REFUSED("1,2\n1,nan\n", "", 2, 3, "");
    REFUSED("1,2\n1,1e999\n", "", 2, 3, "not finite");
    REFUSED("1,2,3\n", "", 3, 64, "3 columns and 1 rows");
    REFUSED("", "", 3, 64, "0 columns");
    REFUSED("1,2\n\0,3\n", "", 3, 64, "neither");
    REFUSED("1,2\n1,2\n", ", height: [0, 1]", 3, 64, "for pictures");
    REFUSED("P2 2 2 255 1 2 3 4", "", 3, 64, "give 'height: [low, high]'");
    REFUSED("P2 2 2 255 1 2 3", ", height: [0, 1]", 3, 64, "column 2, row 2 of the picture is missing");
    REFUSED("P2 2 2 255 1 2 256 4", ", height: [0, 1]", 3, 64, "column 1, row 2 of the picture is above");
    REFUSED("P5 2 2 255 123", ", height: [0, 1]", 3, 64, "missing");
    REFUSED("P5 2 2 256 1234567", ", height: [0, 1]", 3, 64, "above");
    REFUSED("P5 4000 2501 255 1", ", height: [0, 1]", 3, 64, "the limit is 4000000");
    REFUSED("P5 99999999999999999999 99999999999999999 255 1", ", height: [0, 1]", 3, 64, "the limit is");
    REFUSED("P5 2 2 70000 1", ", height: [0, 1]", 3, 64, "no PGM picture");
    REFUSED("P5 2", ", height: [0, 1]", 3, 64, "no PGM picture");
    REFUSED("\x89PNG\r\n\x1a\n", ", height: [0, 1]", 3, 64, "the PNG picture is damaged");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_at_the_seams_of_a_level_field),
        cmocka_unit_test(balls_and_boxes_go_down_a_tilted_field_as_down_a_box),
        cmocka_unit_test(a_ball_rests_in_a_valley),
        cmocka_unit_test(bodies_stay_on_random_ground_and_gain_no_energy),
        cmocka_unit_test(bodies_that_start_inside_the_ground_come_out_at_the_top),
        cmocka_unit_test(files_are_the_same_ground_as_their_heights),
        cmocka_unit_test(what_is_no_field_is_told_with_its_place),
        cmocka_unit_test(broken_files_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
