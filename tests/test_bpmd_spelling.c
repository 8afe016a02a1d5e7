/* BPMD files by hand, second part: spellings that decide whose layout a file has, answers that could be impulses or
 * velocities, pairs that are mirrored against the world. The scene: a ball that rests in a groove of two planes; its
 * answer in closed form. What a wrong reading would give is far from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"
#include "common/near.h"
#include "common/random_scenes.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"

enum { FRAMES = 3 };

typedef struct groove {
    bool paper;                 /* names and conventions; else Gazebo's */
    int capitals;               /* 0: none, 1: first letters, 2: all */
    const char* contacts;       /* group of the contacts */
    int mirrored;               /* bits: contacts whose pair is written the other way round, normal as it was */
    const char* stored;         /* NULL, or the name of what is under solutions */
    double answer[6];           /* it */
    double kinetic;             /* mu_k, 0: none */
    bool only, inward;          /* the first contact alone; normals the wrong way round */
    bool ring, weightless;      /* not a ball; no forces */
    double angle, radius, mass; /* of the planes from the horizontal [rad]; m; kg */
    double centre[3], h;
} groove;

static mor_h5 h5;

static void put(const groove* g, const char* frame, const char* group, const char* name, mor_h5_type type, size_t rows,
                size_t cols, const void* data)
{
    char path[200];
    size_t dims[2] = { rows, cols };
    mor_error error = { 0 };
    snprintf(path, sizeof path, "%s%s%s%s%s", frame, *frame ? "/" : "", group, *group ? "/" : "", name);
    for (char* p = path + strlen(path) - strlen(name); *p && g->capitals; p++) {
        *p = (char)toupper((unsigned char)*p);
        if (g->capitals == 1) break;
    }
    if (mor_h5_write(&h5, path, type, cols ? 2 : 1, dims, data, &error)) fail_msg("%s", error.text);
}

static void group(const char* frame, const char* name)
{
    char path[200];
    mor_error error = { 0 };
    snprintf(path, sizeof path, "%s%s%s", frame, *name ? "/" : "", name);
    if (mor_h5_group(&h5, path, &error)) fail_msg("%s", error.text);
}

/* Normal from the ball to plane i. */
static void towards(const groove* g, int i, double n[3])
{
    n[0] = (i ? 1.0 : -1.0) * sin(g->angle);
    n[1] = 0.0;
    n[2] = -cos(g->angle);
}

static void write_contacts(const groove* g, const char* frame)
{
    int pairs[4];
    double points[6], normals[6], gaps[2] = { 0, 0 }, mu[4] = { 0.3, 0.3, 0.3, 0.3 }, kinetic[2];
    for (int i = 0; i < 2; i++) {
        bool back = g->mirrored >> i & 1;
        double n[3];
        towards(g, i, n);
        pairs[2 * i] = back ? -1 : 7, pairs[2 * i + 1] = back ? 7 : -1;
        for (int k = 0; k < 3; k++) {
            normals[3 * i + k] = g->paper != g->inward ? n[k] : -n[k];
            points[3 * i + k] = g->radius * n[k] + (g->paper && !back ? 0.0 : g->centre[k]);
        }
        kinetic[i] = g->kinetic;
    }
    const size_t rows = g->only ? 1 : 2;
    group(frame, g->contacts);
    put(g, frame, g->contacts, "pairs", MOR_H5_INT, rows, 2, pairs);
    put(g, frame, g->contacts, "points", MOR_H5_DOUBLE, rows, 3, points);
    put(g, frame, g->contacts, "normals", MOR_H5_DOUBLE, rows, 3, normals);
    put(g, frame, g->contacts, g->paper ? "gap" : "gaps", MOR_H5_DOUBLE, rows, 0, gaps);
    put(g, frame, g->contacts, g->paper ? "mu" : "mu_s", MOR_H5_DOUBLE, rows, 2, mu);
    if (g->kinetic > 0.0) put(g, frame, g->contacts, "mu_k", MOR_H5_DOUBLE, rows, 0, kinetic);
}

static void write_groove(const groove* g)
{
    mor_error error = { 0 };
    remove(command_at("groove.h5"));
    if (mor_h5_begin(&h5, command_at("groove.h5"), &error)) fail_msg("%s", error.text);
    double I = 0.4 * g->mass * g->radius * g->radius, inertia[9] = { I, 0, 0, 0, I, 0, 0, 0, I }, q[4] = { 1 },
           v[6] = { 0 }, force[6] = { 0, 0, g->weightless ? 0.0 : -9.81 * g->mass };
    if (g->ring) inertia[0] = inertia[8] = 1.25 * I, inertia[4] = 2.5 * I;
    for (int k = 0; k < FRAMES; k++) {
        char frame[32];
        snprintf(frame, sizeof frame, "/frame%d", k + 1);
        group(frame, "");
        group(frame, g->capitals ? "Bodies" : "bodies");
#define B(name, n, m, data) put(g, frame, g->capitals ? "Bodies" : "bodies", name, MOR_H5_DOUBLE, n, m, data)
        put(g, frame, g->capitals ? "Bodies" : "bodies", "ids", MOR_H5_INT, 1, 0, (int[]){ 7 });
        B("masses", 1, 0, &g->mass);
        B("positions", 1, 3, g->centre);
        B(g->paper ? "quaternion" : "quaternions", 1, 4, q);
        B("velocities", 6, 0, v);
        B("forces", 6, 0, force);
        B(g->paper ? "inertia" : "world_inertia_tensors", 3, 3, inertia);
#undef B
        write_contacts(g, frame);
        if (g->stored) {
            group(frame, "solutions");
            put(g, frame, "solutions", g->stored, MOR_H5_DOUBLE, 6, 0, g->answer);
        }
    }
    put(g, "", "", g->paper ? "step" : "timestep", MOR_H5_DOUBLE, 1, 0, &g->h);
    if (mor_h5_finish(&h5, MOR_OK, &error)) fail_msg("%s", error.text);
}

static groove drawn(uint64_t* seed)
{
    return (groove){ .paper = test_random(seed, 0, 1) < 0.5,
                     .contacts = "contacts",
                     .angle = test_random(seed, 0.2, 1.0),
                     .radius = test_random(seed, 0.1, 0.5),
                     .mass = test_random(seed, 0.5, 5),
                     .centre = { test_random(seed, -3, 3), test_random(seed, -3, 3), test_random(seed, 1, 3) },
                     .h = test_random(seed, 1e-3, 1e-2) };
}

/* The first frame as it is read must be the groove; `notes`: what was told. */
static void expect_groove(const groove* g, char* notes, size_t size)
{
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(command_at("groove.h5"), &error);
    mor_bpmd_frame f;
    if (!file || mor_bpmd_read(file, 0, &f, &error)) fail_msg("%s", error.text);
    assert_int_equal(mor_bpmd_get_dialect(file), g->paper ? MOR_BPMD_PAPER : MOR_BPMD_GAZEBO);
    assert_near(f.h, g->h, 0.0);
    assert_int_equal(f.contact_count, 2);
    for (int i = 0; i < 2; i++) {
        const mor_bpmd_contact* c = &f.contacts[i];
        double n[3], sign = c->body[0] == 0 ? 1.0 : -1.0;
        towards(g, i, n);
        assert_near(c->normal.x, sign * n[0], 1e-15);
        assert_near(c->normal.z, sign * n[2], 1e-15);
        for (int s = 0; s < 2; s++) {
            assert_near(c->point[s].x, g->centre[0] + g->radius * n[0], 1e-14);
            assert_near(c->point[s].y, g->centre[1], 1e-14);
            assert_near(c->point[s].z, g->centre[2] + g->radius * n[2], 1e-14);
        }
    }
    snprintf(notes, size, "%s", f.notes);
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
}

static void capitals_do_not_change_whose_layout_it_is(void** state)
{
    (void)state;
    static const char* const groups[] = { "unilateral constraints",
                                          "Unilateral_Constraints",
                                          "UNILATERAL CONSTRAINTS",
                                          "unilateral constraints (contacts)",
                                          "contacts",
                                          "Contacts" };
    uint64_t seed = 20261118;
    char notes[3000];
    for (int k = 0; k < 72; k++) {
        groove g = drawn(&seed);
        g.paper = k % 2;
        g.capitals = k / 2 % 3;
        g.contacts = groups[g.paper ? k / 6 % 6 : 4 + k / 6 % 2];
        write_groove(&g);
        expect_groove(&g, notes, sizeof notes);
        assert_string_equal(notes, "");
    }
}

/* A writer that names the pair the other way round and leaves the normal: all of them, or one of two. */
static void pairs_mirrored_against_the_world_are_turned_and_told(void** state)
{
    (void)state;
    uint64_t seed = 4;
    char notes[3000];
    for (int k = 0; k < 24; k++) {
        groove g = drawn(&seed);
        g.mirrored = 1 + k % 3;
        write_groove(&g);
        expect_groove(&g, notes, sizeof notes);
        const char* told = g.mirrored == 3 ? "/frame1/contacts/normals: normals point "
                           : g.mirrored == 1
                               ? "/frame1/contacts/normals: row 0 belongs to the pair the other way round; its normal"
                               : "/frame1/contacts/normals: row 1 belongs to the pair the other way round; its normal";
        if (!strstr(notes, told)) fail_msg("'%s' is not told; but: %s", told, notes);
    }
}

/* The normal of an only contact, turned or kept, and told. Angle pi: at the top, as of a ring that hangs on a pin. */
static void expect_only(const groove* g, bool turned)
{
    mor_error error = { 0 };
    mor_bpmd_frame f;
    double n[3];
    write_groove(g);
    mor_bpmd* file = mor_bpmd_open(command_at("groove.h5"), &error);
    if (!file || mor_bpmd_read(file, 0, &f, &error)) fail_msg("%s", error.text);
    const mor_bpmd_contact* c = &f.contacts[0];
    towards(g, 0, n);
    double sign = (c->body[0] == 0 ? 1.0 : -1.0) * (turned ? 1.0 : -1.0);
    assert_near(c->normal.x, sign * n[0], 1e-15);
    assert_near(c->normal.z, sign * n[2], 1e-15);
    const char* told = turned ? "contacts/normals: " : "or to the inside of a body; its normal is kept";
    if (!strstr(f.notes, told)) fail_msg("'%s' is not told; but: %s", told, f.notes);
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
}

/* Was kept: a ball on the ground was then pulled into it. */
static void the_only_contact_of_a_ball_is_turned(void** state)
{
    (void)state;
    uint64_t seed = 19;
    for (int k = 0; k < 24; k++) {
        groove g = drawn(&seed);
        g.only = g.inward = true;
        g.weightless = k % 4 == 3;
        g.mirrored = k % 3 ? 0 : 1; /* twice the wrong way round is right by pair and normal */
        if (g.mirrored) g.inward = false;
        expect_only(&g, true);
    }
}

/* A body of any shape is turned if its weight says so; a ring that hangs on a pin is kept. */
static void an_only_contact_inside_of_a_body_is_kept(void** state)
{
    (void)state;
    uint64_t seed = 20;
    for (int k = 0; k < 24; k++) {
        groove g = drawn(&seed);
        g.only = g.inward = g.ring = true;
        expect_only(&g, true);
        g.angle += acos(-1.0);
        expect_only(&g, false);
        g.weightless = true; /* nothing speaks for the hole: most contacts of the frame, which is this one */
        expect_only(&g, true);
    }
}

/* What compare finds: the error of the stored answer, and in `text` all that it writes. */
static double stored_error(char* text, size_t size)
{
    assert_int_equal(command_run("$M compare groove.h5 --formulations ncp --solvers auto --json >out.txt 2>said.txt"),
                     0);
    FILE* in = fopen(command_at("out.txt"), "r");
    text[fread(text, 1, size - 1, in)] = '\0';
    fclose(in);
    const char* found = strstr(text, "\"velocity_error\": ");
    return found ? atof(found + 18) : NAN;
}

/* |P_K(-u^)| at each contact of a ball that falls freely, mu 0.3: u_n = -g h cos a, |u_T| = g h sin a, u^_n = u_n + mu
 * |u_T|. */
static double error_of_nothing(const groove* g)
{
    double mu = 0.3, t = 9.81 * g->h * sin(g->angle), n = 9.81 * g->h * cos(g->angle) - mu * t;
    if (t <= mu * n) return hypot(n, t);
    return n + mu * t > 0.0 ? (n + mu * t) / sqrt(1.0 + mu * mu) : 0.0;
}

/* One ball, two contacts: six numbers are velocities or impulses. The name decides. */
static void an_answer_is_what_its_name_says(void** state)
{
    (void)state;
    static char text[1 << 20];
    uint64_t seed = 11;
    for (int k = 0; k < 3; k++) {
        groove g = drawn(&seed);
        g.stored = "solution";
        write_groove(&g);
        assert_true(stored_error(text, sizeof text) < 1e-12); /* at rest: velocities 0 are right */
        assert_non_null(strstr(text, "velocities alone"));
        g.stored = "impulses"; /* none: it falls */
        write_groove(&g);
        assert_near(stored_error(text, sizeof text), error_of_nothing(&g), 1e-9);
        g.answer[0] = g.answer[3] = 9.81 * g.h * g.mass / (2.0 * cos(g.angle));
        write_groove(&g);
        assert_true(stored_error(text, sizeof text) < 1e-12);
    }
}

static void every_deviation_is_told_once_for_all_frames(void** state)
{
    (void)state;
    static char text[1 << 20];
    uint64_t seed = 12;
    groove g = drawn(&seed);
    g.paper = false;
    g.kinetic = 0.2;
    g.mirrored = 2;
    write_groove(&g);
    stored_error(text, sizeof text);
    assert_non_null(strstr(text, "/frame1/contacts/mu_k: kinetic friction differs from the static one in 2 of 2 rows; "
                                 "the static is taken (the same in 2 more frames)"));
    assert_non_null(strstr(text, "its normal is turned (the same in 2 more frames)"));
    assert_null(strstr(text, "/frame2/contacts"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capitals_do_not_change_whose_layout_it_is),
        cmocka_unit_test(pairs_mirrored_against_the_world_are_turned_and_told),
        cmocka_unit_test(the_only_contact_of_a_ball_is_turned),
        cmocka_unit_test(an_only_contact_inside_of_a_body_is_kept),
        cmocka_unit_test(an_answer_is_what_its_name_says),
        cmocka_unit_test(every_deviation_is_told_once_for_all_frames),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
