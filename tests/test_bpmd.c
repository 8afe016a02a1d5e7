/* BPMD files: round trip, foreign spellings, broken files, kills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scenes.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "model/step.h"

/* Solves the systems of a world made from a frame. */
static mor_status solve(mor_world* w)
{
    assert_int_equal(mor_stage_solve(w, w->own, NULL), MOR_OK);
    return mor_step_status(w->own);
}

static char folder[] = "/tmp/moreau_bpmd_XXXXXX";

static const char* at(const char* name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static mor_scene* load(const char* name, const char* const* sets)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(name[0] == '/' ? name : scene_path(name), sets, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    return scene;
}

static void record(const char* scene_name, const char* const* sets, int steps, int every, const char* path)
{
    mor_error error = { 0 };
    mor_scene* scene = load(scene_name, sets);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    remove(path);
    mor_bpmd_recorder* r = mor_bpmd_record(path, w, scene, every, &error);
    if (!r) fail_msg("%s", error.text);
    for (int k = 0; k < steps; k++) {
        mor_step_report report;
        assert_int_equal(mor_world_step(w, &report, &error), MOR_OK);
        assert_int_equal(report.status, MOR_SOLVED);
    }
    assert_int_equal(mor_bpmd_close(r, &error), MOR_OK);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* "a=1 b=2": sets every option of the stage. */
static void set_options(mor_world* w, const char* stage, char* text)
{
    mor_error error = { 0 };
    for (char* word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char* value = strchr(word, '=');
        *value++ = 0;
        if (mor_world_set_option(w, stage, word, value, &error)) fail_msg("%s", error.text);
    }
}

static void largest_difference(const mor_world* w, const mor_bpmd_frame* f, double* most)
{
    for (int i = 0; i < f->body_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->tree < 0) continue;
        if (f->bodies[i].link >= 0) continue;
        const double* nu = w->last->nu_new + w->last->w->trees[b->tree].offset;
        const double* v = f->bodies[i].velocity;
        int dof = f->bodies[i].dof;
        for (int k = 0; k < dof; k++) *most = fmax(*most, fabs(nu[k] - v[dof == 3 && k == 2 ? 5 : k]));
    }
}

/* Articulated trees: generalised velocities, in the order of the trees. */
static void largest_tree_difference(const mor_world* w, const mor_bpmd_frame* f, double* most)
{
    int at = 0;
    for (int t = 0; t < f->tree_count; at += f->trees[t++].dof)
        for (int k = 0; k < f->trees[t].dof && f->trees[t].articulated; k++)
            *most = fmax(*most, fabs(w->last->nu_new[w->last->w->trees[t].offset + k] - f->nu_new[at + k]));
}

static void round_trip(const char* scene, const char* const* sets, int steps, int every)
{
    record(scene, sets, steps, every, at("round.h5"));
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(at("round.h5"), &error);
    if (!file) fail_msg("%s", error.text);
    assert_int_equal(mor_bpmd_get_dialect(file), MOR_BPMD_MOREAU);
    assert_int_equal(mor_bpmd_count(file), (steps + every - 1) / every);
    int contacts = 0;
    double most = 0.0;
    mor_world* shapes = mor_bpmd_shapes(file, NULL);
    assert_non_null(shapes);
    for (int k = 0; k < mor_bpmd_count(file); k++) {
        mor_bpmd_frame f;
        if (mor_bpmd_read(file, k, &f, &error)) fail_msg("%s", error.text);
        assert_true(f.answered);
        f.shapes = shapes;
        contacts += f.contact_count + f.constraint_count;
        mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
        if (!w) fail_msg("%s", error.text);
        char options[512];
        assert_int_equal(mor_world_set_method(w, "formulation", f.formulation, &error), MOR_OK);
        mor_bpmd_meta_text(file, "formulation_options", options, sizeof options);
        set_options(w, "formulation", options);
        assert_int_equal(mor_world_set_method(w, "solver", f.solver, &error), MOR_OK);
        mor_bpmd_meta_text(file, "solver_options", options, sizeof options);
        set_options(w, "solver", options);
        assert_int_equal(solve(w), MOR_SOLVED);
        largest_difference(w, &f, &most);
        largest_tree_difference(w, &f, &most);
        mor_world_destroy(w);
        mor_bpmd_frame_clear(&f);
    }
    mor_world_destroy(shapes);
    mor_bpmd_free(file);
    if (contacts == 0) fail_msg("%s: no contacts, nothing was tested", scene);
    /* a step keeps a guess up to a tenth of the aim of 1e-10 m/s (auto_steps.c); here it is solved from zero */
    if (!(most <= 1e-11)) fail_msg("%s: velocities differ by %g", scene, most);
}

/* A floating trunk on two hinged legs with ball feet, the feet 1 mm in the floor; no damping. */
static const char* write_walker(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/walker.urdf", folder);
    FILE* o = fopen(path, "w");
    assert_non_null(o);
    fputs("<robot name=\"walker\"><link name=\"trunk\"><inertial><mass value=\"4\"/><inertia ixx=\"0.05\" "
          "ixy=\"0.001\" ixz=\"0\" iyy=\"0.06\" iyz=\"0\" izz=\"0.07\"/></inertial></link>\n",
          o);
    for (int k = 0; k < 2; k++)
        fprintf(
            o,
            "<joint name=\"hip_%d\" type=\"revolute\"><parent link=\"trunk\"/><child link=\"leg_%d\"/><origin xyz=\"%g "
            "0.1 0\" rpy=\"0 %g 0\"/><axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"0.5\" effort=\"10\" "
            "velocity=\"10\"/></joint>"
            "<link name=\"leg_%d\"><inertial><origin xyz=\"0 0 -0.15\"/><mass value=\"1\"/><inertia ixx=\"0.01\" "
            "ixy=\"0\" ixz=\"0\" iyy=\"0.01\" iyz=\"0\" izz=\"0.002\"/></inertial>"
            "<collision><origin xyz=\"0 0 -0.3\"/><geometry><sphere radius=\"0.02\"/></geometry></collision></link>\n",
            k, k, k ? 0.2 : -0.2, k ? 0.3 : -0.3, k);
    fputs("</robot>\n", o);
    fclose(o);
    snprintf(path, sizeof path, "%s/walker.yaml", folder);
    o = fopen(path, "w");
    assert_non_null(o);
    /* it touches; overlap would be moved away before the first step, after the recorder looked */
    fprintf(o,
            "moreau: 1\ntime: { step: 0.002, end: 1 }\nmethod: { formulation: ncp, solver: auto }\nbodies:\n  - { "
            "name: floor, shape: plane, friction: 0.7, fixed: true }\n"
            "robots:\n  - { name: walker, urdf: walker.urdf, base: floating, position: [0, 0, %.17g] }\n",
            0.3 * cos(0.3) + 0.02);
    fclose(o);
    return path;
}

#define SETS(...)                                                                                                      \
    (const char* const[]) { __VA_ARGS__, NULL }

static void a_frame_rebuilt_and_solved_again_gives_the_same_velocities(void** state)
{
    (void)state;
    round_trip("stack", NULL, 20, 3);
    round_trip("s2", SETS("method.formulation.name=ncp", "method.solver.name=nsgs", "method.solver.tol=1e-6"), 10, 3);
    round_trip("simtest", SETS("method.formulation.name=ap"), 150, 10);
    round_trip("spheres_8", SETS("method.formulation.name=mncp", "method.solver.name=auto"), 20, 5);
    round_trip("s4_slide_45", SETS("method.formulation.name=convex", "method.solver.name=convex-newton"), 20, 5);
    round_trip("conveyor", NULL, 30, 7);
    round_trip("bounce", NULL, 300, 20);
    round_trip("flat_discs", NULL, 150, 20);
    round_trip("flat_sawtooth", NULL, 700, 50);
    round_trip("dominoes", SETS("method.formulation.name=st", "method.solver.name=lemke", "method.friction_align=slip"),
               60, 12);
}

static void exact_geometry_rebuilt_from_a_frame_gives_the_same_velocities(void** state)
{
    (void)state;
    round_trip("peg_in_hole", NULL, 200, 10);
    round_trip("peg_rod", NULL, 150, 10);
    round_trip("peg_sawtooth", NULL, 900, 30);
    round_trip("hull_rain",
               SETS("method.formulation.name=peg", "method.collision.name=features", "method.solver.name=lemke"), 60,
               10);
}

static void robots_and_joints_rebuilt_from_a_frame_give_the_same_velocities(void** state)
{
    (void)state;
    round_trip("arm_on_floor", NULL, 60, 7);
    round_trip("arm6_drop", NULL, 60, 7);
    round_trip("four_bar", NULL, 60, 7);
    round_trip("slider_crank", NULL, 60, 7);
    round_trip("joint_tree", NULL, 60, 7);
    round_trip("s7", NULL, 40, 7);
    round_trip("s7_maximal", NULL, 40, 7);
    round_trip("cart", NULL, 60, 7);
    round_trip(write_walker(), NULL, 60, 7);
}

/* Velocities of all bodies of a frame by one formulation, in one kind of coordinates. */
static void solve_frame(const char* path, int index, bool maximal, const char* formulation, double* v, int* bodies)
{
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(path, &error);
    if (!file) fail_msg("%s", error.text);
    mor_bpmd_frame f;
    if (mor_bpmd_read(file, index, &f, &error)) fail_msg("%s", error.text);
    assert_true(f.link_count > 0);
    f.maximal = maximal;
    mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
    if (!w) fail_msg("%s", error.text);
    assert_int_equal(mor_world_set_method(w, "formulation", formulation, &error), MOR_OK);
    assert_int_equal(
        mor_world_set_method(w, "solver", strcmp(formulation, "convex") == 0 ? "convex-newton" : "auto", &error),
        MOR_OK);
    if (solve(w) != MOR_SOLVED)
        fail_msg("%s, %s coordinates: %s", formulation, maximal ? "maximal" : "minimal",
                 w->last->islands[0].report.detail);
    *bodies = f.body_count;
    for (int i = 0; i < f.body_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        memset(v + 6 * i, 0, 6 * sizeof *v);
        if (b->tree < 0) continue;
        const mor_tree* t = &w->trees[b->tree];
        double c[64];
        const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
        for (int k = 0; k < 6; k++) {
            if (k < 3) t->kind->row(t, b, mor_v3(0, 0, 0), axes[k], 1.0, c);
            else t->kind->spin(t, b, axes[k - 3], 1.0, c);
            for (int d = 0; d < t->dof; d++)
                v[6 * i + k] += c[d] * w->last->nu_new[w->last->w->trees[b->tree].offset + d];
        }
    }
    mor_world_destroy(w);
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
}

static void minimal_and_maximal_coordinates_agree_from_rest(void** state)
{
    (void)state;
    const char* formulations[] = { "st", "ncp", "mncp", "ap", "peg", "convex" };
    static double minimal[6 * 64], maximal[6 * 64];
    int n, m;
    double fastest = 0.0;
    const char* scenes[] = { "s7", write_walker() };
    for (int k = 0; k < 2; k++) { /* the first step begins at rest, without damping in joints: no velocity terms */
        record(scenes[k], SETS("method.stabilisation.name=none"), 1, 1, at("rest.h5"));
        for (size_t i = 0; i < sizeof formulations / sizeof *formulations; i++) {
            solve_frame(at("rest.h5"), 0, false, formulations[i], minimal, &n);
            solve_frame(at("rest.h5"), 0, true, formulations[i], maximal, &m);
            assert_int_equal(n, m);
            for (int j = 0; j < 6 * n; j++) {
                fastest = fmax(fastest, fabs(minimal[j]));
                if (!(fabs(minimal[j] - maximal[j]) <= 1e-7))
                    fail_msg("%s, %s: body %d: %g and %g", scenes[k], formulations[i], j / 6, minimal[j], maximal[j]);
            }
        }
    }
    assert_true(fastest > 1e-3);
}

static void every_formulation_is_made_from_the_same_frame(void** state)
{
    (void)state;
    record("s5", NULL, 5, 1, at("all.h5"));
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(at("all.h5"), &error);
    mor_bpmd_frame f;
    assert_int_equal(mor_bpmd_read(file, 4, &f, &error), MOR_OK);
    for (int k = 0; mor_library_formulation_at(NULL, k); k++) {
        const mor_formulation* one = mor_library_formulation_at(NULL, k);
        if (strcmp(one->name, "peg-exact") == 0) continue; /* in the plane only */
        mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
        assert_non_null(w);
        assert_int_equal(mor_world_set_method(w, "formulation", one->name, &error), MOR_OK);
        if (strcmp(one->name, "convex") == 0)
            assert_int_equal(mor_world_set_method(w, "solver", "convex-newton", &error), MOR_OK);
        if (solve(w) != MOR_SOLVED) fail_msg("%s: %s", one->name, w->last->islands[0].report.detail);
        bool approximate = w->last->islands[0].report.status ==
                           MOR_APPROXIMATE;      /* their answer on S5 is far off and not understood: only finite */
        for (int i = 0; i < w->last->dof; i++) { /* two cubes at rest; springs and convex softness move a little */
            bool springs = strcmp(one->name, "penalty") == 0 || strcmp(one->name, "hunt-crossley") == 0;
            double most = springs ? 0.2 : strcmp(one->name, "convex") == 0 ? 1e-3 : 1e-8;
            if (approximate) assert_true(isfinite(w->last->nu_new[i]));
            else assert_near(w->last->nu_new[i], 0.0, most);
        }
        mor_world_destroy(w);
    }
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
}

/* -------------------------------------------------------------------------- foreign files */

static mor_h5 h5;

static void put(const char* path, int rank, size_t rows, size_t cols, const double* data)
{
    mor_error error = { 0 };
    size_t dims[2] = { rows, cols };
    if (mor_h5_write(&h5, path, MOR_H5_DOUBLE, rank, dims, data, &error)) fail_msg("%s", error.text);
}

static void put_ints(const char* path, int rank, size_t rows, size_t cols, const int* data)
{
    mor_error error = { 0 };
    size_t dims[2] = { rows, cols };
    if (mor_h5_write(&h5, path, MOR_H5_INT, rank, dims, data, &error)) fail_msg("%s", error.text);
}

static void groups(const char* const* names)
{
    mor_error error = { 0 };
    for (; *names; names++)
        if (mor_h5_group(&h5, *names, &error)) fail_msg("%s", error.text);
}

/* Ball 1 (2 kg, r 0.5) pressed 1 mm into the ground; ball 2 (1 kg) above it, 1 mm into ball 1, falling at 1 m/s. The
 * layout is that of the ODE fork of Gazebo; normals point into body 1. `skip` is left out, `spoil` gets a bad value. */
static void write_gazebo(const char* path, const char* skip, const char* spoil)
{
    mor_error error = { 0 };
    remove(path);
    if (mor_h5_begin(&h5, path, &error)) fail_msg("%s", error.text);
    groups((const char* const[]){ "/mbs_frame000001", "/mbs_frame000001/bodies", "/mbs_frame000001/contacts", NULL });
    double h = 0.001, z1 = 0.499, z2 = 1.498;
    double positions[] = { 0, 0, z1, 0, 0, z2 }, quaternions[] = { 1, 0, 0, 0, 1, 0, 0, 0 };
    double velocities[] = { 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0 },
           forces[] = { 0, 0, -2 * 9.81, 0, 0, 0, 0, 0, -9.81, 0, 0, 0 };
    double masses[] = { 2, 1 }, I1 = 0.4 * 2 * 0.25, I2 = 0.4 * 0.25;
    double inertia[] = { I1, 0, 0, 0, I1, 0, 0, 0, I1, I2, 0, 0, 0, I2, 0, 0, 0, I2 };
    int ids[] = { 1, 2 }, states[] = { 1, 1 };
    int pairs[] = { 1, -1, 1, 2 };
    double points[] = { 0, 0, 0, 0, 0, 0.9985 }, normals[] = { 0, 0, 1, 0, 0, -1 }, gaps[] = { -0.001, -0.001 };
    double mu_s[] = { 0.5, 0.5, 0.5, 0.5 }, mu_k[] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
#define BAD(name) (strcmp(spoil, name) == 0)
    if (BAD("masses")) masses[1] = 0;
    if (BAD("gaps")) gaps[1] = NAN;
    if (BAD("pairs")) pairs[3] = 7;
    if (BAD("cycle")) pairs[3] = 1;
    if (BAD("normals")) normals[2] = 0;
    if (BAD("quaternions")) quaternions[0] = 0;
    if (BAD("mu_s")) mu_s[0] = -1;
    if (BAD("world_inertia_tensors")) inertia[1] = 5;
    if (BAD("timestep")) h = 0;
    if (BAD("ids")) ids[1] = 1;
    if (BAD("velocities")) velocities[3] = INFINITY;
#define F "/mbs_frame000001/"
#define KEEP(name) if (strcmp(skip, name) != 0)
    KEEP("timestep") put(F "timestep", 0, 1, 1, &h);
    KEEP("positions") put(F "bodies/positions", 2, 2, 3, positions);
    KEEP("quaternions") put(F "bodies/quaternions", 2, 2, 4, quaternions);
    KEEP("velocities") put(F "bodies/velocities", 1, BAD("size") ? 11 : 12, 1, velocities);
    KEEP("forces") put(F "bodies/forces", 1, 12, 1, forces);
    KEEP("masses") put(F "bodies/masses", 1, 2, 1, masses);
    KEEP("world_inertia_tensors") put(F "bodies/world_inertia_tensors", 2, 6, 3, inertia);
    KEEP("ids") put_ints(F "bodies/ids", 1, 2, 1, ids);
    put_ints(F "bodies/states", 1, 2, 1, states);
    KEEP("pairs") put_ints(F "contacts/pairs", 2, 2, 2, pairs);
    KEEP("points") put(F "contacts/points", 2, 2, 3, points);
    KEEP("normals") put(F "contacts/normals", 2, 2, 3, normals);
    KEEP("gaps") put(F "contacts/gaps", 1, 2, 1, gaps);
    KEEP("mu_s") put(F "contacts/mu_s", 2, 2, 2, mu_s);
    put(F "contacts/mu_k", 2, 2, 3, mu_k);
    assert_int_equal(mor_h5_finish(&h5, MOR_OK, &error), MOR_OK);
}

/* Solves the only frame of a file with ncp; velocities of its two balls. */
static void solve_balls(const char* path, mor_bpmd_dialect dialect, double nu[12])
{
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(path, &error);
    if (!file) fail_msg("%s", error.text);
    assert_int_equal(mor_bpmd_get_dialect(file), dialect);
    mor_bpmd_frame f;
    if (mor_bpmd_read(file, 0, &f, &error)) fail_msg("%s", error.text);
    mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
    if (!w) fail_msg("%s", error.text);
    assert_int_equal(solve(w), MOR_SOLVED);
    for (int k = 0; k < mor_step_system(w->last, 0)->contact_count; k++)
        assert_true(w->last->islands[0].answer.impulses[3 * k] > 0.0);
    memcpy(nu, w->last->nu_new, 12 * sizeof *nu);
    mor_world_destroy(w);
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
}

static void normal_impulses_of_a_gazebo_file_push_the_bodies_apart(void** state)
{
    (void)state;
    double nu[12];
    write_gazebo(at("gazebo.h5"), "", "");
    solve_balls(at("gazebo.h5"), MOR_BPMD_GAZEBO, nu);
    /* within the accuracy that is asked for by default */
    assert_near(nu[2], 1.0, 1e-8);         /* gap/h = -1 m/s: the ground pushes ball 1 up */
    assert_near(nu[8] - nu[2], 1.0, 1e-8); /* and ball 1 pushes ball 2 off */
}

static void the_spelling_of_the_paper_is_read(void** state)
{
    (void)state;
    mor_error error = { 0 };
    remove(at("paper.h5"));
    assert_int_equal(mor_h5_begin(&h5, at("paper.h5"), &error), MOR_OK);
    groups((const char* const[]){ "/frame1", "/frame1/bodies", "/frame1/contacts", NULL });
    double I1 = 0.2, I2 = 0.1, h = 0.001;
    put("/step", 1, 1, 1, &h);
    put("/frame1/bodies/positions", 2, 6, 1, (double[]){ 0, 0, 0.499, 0, 0, 1.498 });
    put("/frame1/bodies/quaternion", 2, 8, 1, (double[]){ 1, 0, 0, 0, 1, 0, 0, 0 });
    put("/frame1/bodies/velocities", 2, 12, 1, (double[12]){ [8] = -1 });
    put("/frame1/bodies/forces", 2, 12, 1, (double[12]){ [2] = -19.62, [8] = -9.81 });
    put("/frame1/bodies/masses", 1, 2, 1, (double[]){ 2, 1 });
    put("/frame1/bodies/inertia", 2, 6, 3, (double[]){ I1, 0, 0, 0, I1, 0, 0, 0, I1, I2, 0, 0, 0, I2, 0, 0, 0, I2 });
    put_ints("/frame1/bodies/ids", 1, 2, 1, (int[]){ 1, 2 });
    put_ints("/frame1/contacts/pairs", 2, 2, 2, (int[]){ 1, -1, 1, 2 });
    put("/frame1/contacts/points", 2, 2, 3, (double[]){ 0, 0, -0.499, 0, 0, 0.4995 }); /* from the centre of body 1 */
    put("/frame1/contacts/normals", 2, 2, 3, (double[]){ 0, 0, -1, 0, 0, 1 });         /* away from body 1 */
    put("/frame1/contacts/gap", 1, 2, 1, (double[]){ -0.001, -0.001 });
    put("/frame1/contacts/mu", 2, 2, 2, (double[]){ 0.5, 0.5, 0.5, 0.5 });
    assert_int_equal(mor_h5_finish(&h5, MOR_OK, &error), MOR_OK);
    double paper[12], gazebo[12];
    solve_balls(at("paper.h5"), MOR_BPMD_PAPER, paper);
    write_gazebo(at("gazebo.h5"), "", "");
    solve_balls(at("gazebo.h5"), MOR_BPMD_GAZEBO, gazebo);
    for (int k = 0; k < 12; k++) assert_near(paper[k], gazebo[k], 1e-8); /* the accuracy asked for by default */
}

static void expect_error(const char* path, const char* part)
{
    mor_error error = { 0 };
    mor_bpmd_frame f;
    mor_bpmd* file = mor_bpmd_open(path, &error);
    if (file) {
        if (mor_bpmd_read(file, 0, &f, &error) == MOR_OK) fail_msg("no error, '%s' was expected", part);
        mor_bpmd_free(file);
    }
    assert_int_equal(error.code, MOR_BAD_INPUT);
    if (!strstr(error.text, part)) fail_msg("'%s' is not in: %s", part, error.text);
}

static void a_bad_file_is_refused_with_the_path_of_the_dataset(void** state)
{
    (void)state;
    const char* names[] = { "masses",   "gaps", "pairs",      "normals", "quaternions", "mu_s", "world_inertia_tensors",
                            "timestep", "ids",  "velocities", NULL };
    char part[80];
    for (int k = 0; names[k]; k++) {
        for (int missing = 0; missing < 2; missing++) {
            write_gazebo(at("bad.h5"), missing ? names[k] : "", missing ? "" : names[k]);
            snprintf(part, sizeof part, "/%s: ", names[k]);
            expect_error(at("bad.h5"), part);
            expect_error(at("bad.h5"), "bad.h5:/mbs_frame000001/");
        }
    }
    write_gazebo(at("bad.h5"), "", "size");
    expect_error(at("bad.h5"), "/bodies/velocities: holds 11 numbers; 12 are expected");
    write_gazebo(at("bad.h5"), "", "cycle");
    expect_error(at("bad.h5"), "a body cannot touch itself");
}

/* A rod's end held by a ball joint (three equations) and a motor that may push with 2 N along x (one bounded row), as
 * the ODE fork writes them. Gravity acts on it; the joint is 0.5 m beside the centre of mass. */
static void write_joint(const char* path, const char* skip, const char* spoil)
{
    mor_error error = { 0 };
    remove(path);
    if (mor_h5_begin(&h5, path, &error)) fail_msg("%s", error.text);
    groups(
        (const char* const[]){ "/mbs_frame000001", "/mbs_frame000001/bodies", "/mbs_frame000001/constraints", NULL });
    double h = 0.01;
    int pairs[] = { 1, -1, 1, -1 }, rows[] = { 3, 1 };
    double J[48] = { [0] = 1, [13] = 1, [17] = 0.5, [26] = 1, [28] = -0.5, [36] = 1 }; /* r x d with r = (0.5, 0, 0) */
    double phi[4] = { 0 }, bounds[] = { -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -2, 2 };
    if (BAD("pairs")) pairs[1] = 1;
    if (BAD("rows")) rows[0] = 7;
    if (BAD("Jacobian")) J[3] = NAN;
    if (BAD("violations")) phi[0] = INFINITY;
    if (BAD("bounds")) bounds[6] = 3;
    put(F "timestep", 0, 1, 1, &h);
    put(F "bodies/positions", 2, 1, 3, (double[]){ 0, 0, 1 });
    put(F "bodies/quaternions", 2, 1, 4, (double[]){ 1, 0, 0, 0 });
    put(F "bodies/velocities", 1, 6, 1, (double[6]){ 0 });
    put(F "bodies/forces", 1, 6, 1, (double[6]){ [2] = -9.81 });
    put(F "bodies/masses", 1, 1, 1, (double[]){ 1 });
    put(F "bodies/world_inertia_tensors", 2, 3, 3, (double[]){ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 });
    put_ints(F "bodies/ids", 1, 1, 1, (int[]){ 1 });
    KEEP("rows") put_ints(F "constraints/rows", 1, 2, 1, rows);
    put_ints(F "constraints/pairs", 2, 2, 2, pairs);
    KEEP("Jacobian") put(F "constraints/Jacobian", 2, 4, 12, J);
    KEEP("violations") put(F "constraints/violations", 1, 4, 1, phi);
    KEEP("bounds") put(F "constraints/bounds", 2, 4, 2, bounds);
    assert_int_equal(mor_h5_finish(&h5, MOR_OK, &error), MOR_OK);
}

static void joints_of_a_gazebo_file_hold(void** state)
{
    (void)state;
    mor_error error = { 0 };
    write_joint(at("joint.h5"), "", "");
    mor_bpmd* file = mor_bpmd_open(at("joint.h5"), &error);
    if (!file) fail_msg("%s", error.text);
    mor_bpmd_frame f;
    if (mor_bpmd_read(file, 0, &f, &error)) fail_msg("%s", error.text);
    assert_int_equal(f.constraint_count, 2);
    assert_int_equal(f.constraints[1].kind, MOR_BPMD_BOUNDED);
    assert_near(f.rows[3].upper, 0.02, 1e-15); /* 2 N during 0.01 s */
    mor_world* w = mor_bpmd_world(&f, NULL, NULL, &error);
    if (!w) fail_msg("%s", error.text);
    assert_int_equal(solve(w), MOR_SOLVED);
    /* a pendulum from rest: (I + m r^2) alpha = m g r about the joint */
    double omega = 0.01 * 9.81 * 0.5 / (0.1 + 0.25);
    assert_near(fabs(w->last->nu_new[4]), omega, 1e-9);
    assert_near(w->last->nu_new[2] - 0.5 * w->last->nu_new[4], 0.0, 1e-9);
    mor_world_destroy(w);
    mor_bpmd_frame_clear(&f);
    mor_bpmd_free(file);
    const char* names[] = { "rows", "Jacobian", "violations", "bounds", NULL };
    char part[80];
    for (int k = 0; names[k]; k++)
        for (int missing = 0; missing < 2; missing++) {
            write_joint(at("bad.h5"), missing ? names[k] : "", missing ? "" : names[k]);
            snprintf(part, sizeof part, "/mbs_frame000001/constraints/%s: ", names[k]);
            expect_error(at("bad.h5"), part);
        }
    write_joint(at("bad.h5"), "", "pairs");
    expect_error(at("bad.h5"), "a joint cannot hold a body to itself");
}

static void a_truncated_file_is_refused(void** state)
{
    (void)state;
    record("s5", NULL, 4, 1, at("whole.h5"));
    FILE* in = fopen(at("whole.h5"), "rb");
    assert_non_null(in);
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (int k = 1; k < 20; k++) {
        FILE* out = fopen(at("cut.h5"), "wb");
        fwrite(bytes, 1, n * (size_t)k / 20, out);
        fclose(out);
        expect_error(at("cut.h5"), "cut.h5");
    }
    FILE* out = fopen(at("cut.h5"), "wb");
    fputs("no HDF5 at all", out);
    fclose(out);
    expect_error(at("cut.h5"), "not an HDF5 file");
}

static void frames_are_never_written_over_a_file(void** state)
{
    (void)state;
    record("s5", NULL, 2, 1, at("kept.h5"));
    mor_error error = { 0 };
    mor_bpmd_meta meta = { .scene_name = "",
                           .scene_text = "",
                           .formulation = "",
                           .solver = "",
                           .collision = "",
                           .formulation_options = "",
                           .solver_options = "",
                           .dimension = 3 };
    assert_int_equal(mor_bpmd_create(at("kept.h5"), &meta, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "file exists"));
}

/* Children append frame after frame and tell how many are written; they are killed at random instants. MOREAU_KILLS
 * sets how often (20; a full check is 100). */
static void a_killed_writer_leaves_all_written_frames(void** state)
{
    (void)state;
    int kills = getenv("MOREAU_KILLS") ? atoi(getenv("MOREAU_KILLS")) : 20;
    record("s5", NULL, 2, 1, at("seed.h5"));
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(at("seed.h5"), &error);
    mor_bpmd_frame f;
    assert_int_equal(mor_bpmd_read(file, 1, &f, &error), MOR_OK);
    mor_bpmd_free(file);
    mor_rng rng = { 7 };
    int total = 0;
    for (int k = 0; k < kills; k++) {
        int ends[2];
        remove(at("killed.h5"));
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            mor_bpmd_meta meta = { "s5", "text", "st", "lemke", "manifold", "", "", f.gravity, 3, NULL, NULL, false };
            if (mor_bpmd_create(at("killed.h5"), &meta, NULL)) _exit(1);
            for (int n = 1;; n++)
                if (mor_bpmd_append(at("killed.h5"), &f, 1, n, NULL) || write(ends[1], "x", 1) != 1) _exit(1);
        }
        close(ends[1]);
        char byte;
        assert_int_equal(read(ends[0], &byte, 1), 1); /* the first frame is there */
        struct timespec wait = { 0, (long)(3e7 * mor_rng_uniform(&rng)) };
        nanosleep(&wait, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        int told = 1;
        while (read(ends[0], &byte, 1) == 1) told++;
        close(ends[0]);
        file = mor_bpmd_open(at("killed.h5"), &error);
        if (!file) fail_msg("kill %d: %s", k, error.text);
        int found = mor_bpmd_count(file);
        assert_true(found >= told && found <= told + 1);
        for (int n = 0; n < found; n++) {
            mor_bpmd_frame g;
            if (mor_bpmd_read(file, n, &g, &error)) fail_msg("kill %d: %s", k, error.text);
            mor_bpmd_frame_clear(&g);
        }
        mor_bpmd_free(file);
        total += found;
    }
    mor_bpmd_frame_clear(&f);
    assert_true(total > kills); /* some had time for more than one */
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_rebuilt_and_solved_again_gives_the_same_velocities),
        cmocka_unit_test(exact_geometry_rebuilt_from_a_frame_gives_the_same_velocities),
        cmocka_unit_test(robots_and_joints_rebuilt_from_a_frame_give_the_same_velocities),
        cmocka_unit_test(minimal_and_maximal_coordinates_agree_from_rest),
        cmocka_unit_test(every_formulation_is_made_from_the_same_frame),
        cmocka_unit_test(normal_impulses_of_a_gazebo_file_push_the_bodies_apart),
        cmocka_unit_test(the_spelling_of_the_paper_is_read),
        cmocka_unit_test(a_bad_file_is_refused_with_the_path_of_the_dataset),
        cmocka_unit_test(joints_of_a_gazebo_file_hold),
        cmocka_unit_test(a_truncated_file_is_refused),
        cmocka_unit_test(frames_are_never_written_over_a_file),
        cmocka_unit_test(a_killed_writer_leaves_all_written_frames),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
