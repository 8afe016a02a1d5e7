/* moreau dataset page, add and answer: pages, forms to take away, provenance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/command.h"
#include "common/near.h"
#include "io/fclib/fclib.h"
#include "moreau/library.h"

static char text[1 << 20];
static void slurp(const char* name)
{
    FILE* f = fopen(command_at(name), "r");
    if (!f) fail_msg("%s is missing", name);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
}

static void expect(const char* part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in: %.1500s", part, text);
}

/* u = W r + q of the text against M v = H r + f, u = H' v + w of the FCLIB file, for a random r; M is solved by the
 * conjugate gradients of this test. */
static void same_problem(const mor_problem* a, const mor_problem* b)
{
    enum { MOST = 100 };
    double r[MOST], u[MOST], v[MOST] = { 0 }, rhs[MOST], p[MOST], Mp[MOST], w[MOST];
    int n = a->size, m = b->M.rows;
    assert_true(n <= MOST && m <= MOST && n == b->size);
    for (int i = 0; i < n; i++) r[i] = sin(1.0 + 3.7 * i);
    mor_matrix_apply(&a->A, r, u);
    mor_matrix_apply(&b->H, r, rhs);
    double rr = 0.0;
    for (int i = 0; i < m; i++) rhs[i] += b->f[i], p[i] = rhs[i], rr += rhs[i] * rhs[i];
    for (int k = 0; k < 10 * m && rr > 1e-28; k++) {
        double pMp = 0.0, next = 0.0;
        mor_matrix_apply(&b->M, p, Mp);
        for (int i = 0; i < m; i++) pMp += p[i] * Mp[i];
        for (int i = 0; i < m; i++) v[i] += rr / pMp * p[i], rhs[i] -= rr / pMp * Mp[i], next += rhs[i] * rhs[i];
        for (int i = 0; i < m; i++) p[i] = rhs[i] + next / rr * p[i];
        rr = next;
    }
    mor_matrix_apply_transposed(&b->H, v, w);
    for (int i = 0; i < n; i++) assert_near(u[i] + a->b[i], w[i] + b->b[i], 1e-9);
    for (int i = 0; i < a->contact_count; i++) assert_near(a->mu[i], b->mu[i], 1e-15);
}

static void pages_have_pictures_provenance_and_every_form(void** state)
{
    (void)state;
    assert_int_equal(command_run("$M dataset build -o d --family box-stack"), 0);
    assert_int_equal(command_run("cp d/box-stack-2.h5 other-2.h5"), 0);
    assert_int_equal(
        command_run("$M dataset add other-2.h5 -o d --author 'A. <Body>' --licence CC0 --engine 'Engine 3' "
                    "--commit 12ab --command 'engine --go'"),
        0);
    if (!strstr(command_output, "its own answers miss Coulomb's law by at most")) fail_msg("%s", command_output);
    assert_int_equal(command_run("$M dataset page d -o site"), 0);
    slurp("site/index.html");
    expect("<a href=\"#f0\">box-stack</a>"); /* index of families */
    expect("<b>licence</b> MIT");
    expect(">other-2</h2>");
    expect("A. &lt;Body&gt;");
    expect("<b>licence</b> CC0");
    expect("<b>command</b> engine --go");
    expect("<svg viewBox");
    expect("href=\"files/other-2.h5\"");
    expect("href=\"files/other-2-mbs_frame000001.dat\"");
    expect("href=\"files/other-2-mbs_frame000001.m\"");
    for (const char* at = text; (at = strstr(at, "href=\"")); at++) { /* no dead link */
        char name[300];
        if (at[6] == '#') continue; /* of the index of families */
        snprintf(name, sizeof name, "site/%.*s", (int)strcspn(at + 6, "\""), at + 6);
        if (access(command_at(name), R_OK) != 0) fail_msg("%s is missing", name);
    }
    mor_problem_file a, b;
    mor_error error = { 0 };
    if (mor_problem_load(command_at("site/files/other-2-mbs_frame000001.dat"), "fc3d", &a, &error))
        fail_msg("%s", error.text);
    if (mor_problem_load(command_at("site/files/other-2-mbs_frame000001.hdf5"), NULL, &b, &error))
        fail_msg("%s", error.text);
    same_problem(&a.problem, &b.problem);
    mor_problem_file_free(&a), mor_problem_file_free(&b);
    command_expect("$M dataset page d -o site", 2, "there is a page already");
    command_expect("$M dataset page", 2, "page of which folder?");
    slurp("site/files/other-2-mbs_frame000001.m");
    expect("W = reshape([");
}

/* How far `dataset answer` says the stored answers are off [m/s]. */
static double miss(const char* line)
{
    if (command_run(line) != 0) fail_msg("%s: %s", line, command_errors);
    const char* at = strstr(command_output, "at most ");
    if (!at) fail_msg("%s: %s", line, command_output);
    return atof(at + 8);
}

static void answers_of_another_program_are_judged(void** state)
{
    (void)state;
    /* a ball of 2 kg at rest: the ground gives 2 * 9.81 * 0.01 N s in a step of 0.01 s */
    assert_int_equal(
        command_run("printf 'moreau: 1\nbodies:\n"
                    "- { name: floor, shape: plane, fixed: true }\n"
                    "- { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n' > rest.yaml && "
                    "$M run rest.yaml --steps 2 --quiet --bpmd rest.h5"),
        0);
    assert_int_equal(command_run("printf '# mine\nsolver a/b.c\n\nmbs_frame000001\n0.1962 0 0\n' > good.txt;"
                                 "printf 'solver x\r\nmbs_frame000002\r\n 0.3, 0, 0 \r\n' > bad.txt"),
                     0);
    assert_true(miss("$M dataset answer rest.h5 good.txt good.h5") < 1e-12);
    assert_near(miss("$M dataset answer rest.h5 bad.txt bad.h5"), (0.3 - 0.1962) / 2.0, 1e-4); /* the ball jumps off */
    command_expect("$M dataset answer rest.h5 good.txt good.h5", 2, "the name is taken");
    command_expect("$M dataset answer good.h5 bad.txt again.h5", 0, NULL); /* answers are replaced */
    command_expect("$M dataset answer rest.h5 good.txt", 2, "ANSWERS.txt");
    command_expect("$M dataset answer good.txt good.txt t.h5", 2, "good.txt");
    static const struct {
        const char *text, *says;
    } wrong[] = { { "", "x.txt:1: the first line" },
                  { "mbs_frame000001\n1 0 0\n", "x.txt:1: the first line" },
                  { "solver x\n", "no answers" },
                  { "solver x\nmbs_frame000009\n1 0 0\n", "x.txt:2: the problems have no frame" },
                  { "solver x\nmbs_frame000001\n", "has 1 contacts, and impulses of 0" },
                  { "solver x\nmbs_frame000001\n1 0\n", "x.txt:3: three numbers" },
                  { "solver x\nmbs_frame000001\n1 nan 0\n", "x.txt:3: three numbers" },
                  { "solver x\nmbs_frame000001\n1 0 0 0\n", "x.txt:3: more than three" },
                  { "solver x\nmbs_frame000001\n1 0 0\nmbs_frame000001\n1 0 0\n", "x.txt:4: a second answer" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[300];
        snprintf(line, sizeof line, "printf '%s' > x.txt; $M dataset answer rest.h5 x.txt x.h5", wrong[i].text);
        command_expect(line, 2, wrong[i].says);
        assert_int_not_equal(access(command_at("x.h5"), F_OK), 0);
    }
}

/* A leg presses against its joint limit while its foot is on the floor: the limit is a contact without friction. With
 * dry friction in the joint there is no FCLIB form, and a sentence says so. */
static void limits_of_joints_are_exported_and_two_bounds_are_told(void** state)
{
    (void)state;
    static const char scene[] =
        "moreau: 1\nmaterials: { m: { friction: 0.5 } }\nbodies:\n"
        "- { name: floor, shape: plane, fixed: true, material: m }\n"
        "- { name: ball, shape: { sphere: 0.1 }, mass: 1, position: [1, 0, 0.0999], material: m }\n"
        "- { name: arm, shape: { box: [0.4, 0.1, 0.1] }, mass: 1, position: [0.2, 0, 0.5], material: m }\n"
        "- { name: box, shape: { box: [0.2, 0.2, 0.2] }, mass: 2, position: [0.3, 0, 0.6499], material: m }\n"
        "joints:\n- { name: hinge, type: revolute, bodies: [arm, world], point: [0, 0, 0.5], axis: [0, 1, 0], "
        "limits: [-1, 0]%s }\n";
    for (int dry = 0; dry < 2; dry++) {
        FILE* f = fopen(command_at(dry ? "dry.yaml" : "limit.yaml"), "w");
        fprintf(f, scene, dry ? ", friction: 0.2" : "");
        fclose(f);
    }
    assert_int_equal(command_run("$M run limit.yaml --steps 3 --quiet --bpmd limit.h5:3"), 0);
    assert_int_equal(command_run("$M run dry.yaml --steps 3 --quiet --bpmd dry.h5:3"), 0);
    assert_int_equal(command_run("$M dataset export limit.h5 -o fclib"), 0);
    assert_non_null(strstr(command_output, "2 problems"));
    command_expect("$M dataset export dry.h5 -o fclib", 2, "a row has two bounds");
    mor_problem_file a;
    mor_error error = { 0 };
    bool found = false;
    for (int k = 1; k <= 2; k++) { /* one island is the ball; the other has its contacts and the limit */
        char name[100];
        snprintf(name, sizeof name, "fclib/limit-mbs_frame000001-%d.hdf5", k);
        if (mor_problem_load(command_at(name), NULL, &a, &error)) fail_msg("%s", error.text);
        double r[60] = { 0 }, u[60];
        int n = a.problem.size, last = a.problem.contact_count - 1;
        if (a.problem.contact_count > 1) {
            mor_solve_options o = mor_solve_options_default();
            o.tol = 1e-12;
            assert_int_equal(mor_solve(mor_library_solver(NULL, "nsgs"), NULL, &a.problem, &o, r, NULL).status,
                             MOR_SOLVED);
            mor_matrix_apply(&a.problem.A, r, u);
            assert_true(n <= 60 && a.problem.mu[last] == 0.0);
            /* moments about the hinge: box 2 kg at 0.3 m and arm 1 kg at 0.2 m, for a step of 0.01 s */
            assert_near(r[3 * last], 0.01 * 9.81 * (2 * 0.3 + 1 * 0.2), 2e-3);
            found = true;
        }
        mor_problem_file_free(&a);
    }
    assert_true(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pages_have_pictures_provenance_and_every_form),
                                        cmocka_unit_test(answers_of_another_program_are_judged),
                                        cmocka_unit_test(limits_of_joints_are_exported_and_two_bounds_are_told) };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
