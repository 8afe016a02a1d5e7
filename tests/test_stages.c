/* The step as a value: stages called by hand give the bits of mor_world_step; nothing of the world changes before the
 * commit; a step that does not happen says so and leaves no trace. */
#include "common/counter.h"
#include "common/worlds.h"

#include "moreau/control.h"
#include "moreau/scene.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

/* ---------------------------------------------------------------------------- stages by hand */

/* Everything a snapshot knows, as one number. */
static uint64_t fingerprint(const mor_world* w)
{
    size_t size = mor_world_save(w, NULL, 0);
    unsigned char* bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(mor_world_save(w, bytes, size), size);
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    free(bytes);
    return hash ^ mor_world_hash(w);
}

typedef mor_code (*const_stage)(const mor_world* world, mor_step* step, mor_error* error);

static const const_stage stages[] = { mor_stage_collide,   mor_stage_control,   mor_stage_assemble, mor_stage_solve,
                                      mor_stage_integrate, mor_stage_stabilise, mor_stage_sense,    mor_stage_measure };

/* One step by hand. `look`: the world is compared before and after every stage but the first and the last. */
static mor_code by_hand(mor_world* w, mor_step* step, bool look, mor_error* error)
{
    mor_code code = mor_stage_user(w, step, error);
    uint64_t before = look ? fingerprint(w) : 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && !code; i++) {
        code = stages[i](w, step, error);
        if (look && fingerprint(w) != before) fail_msg("stage %zu changed the world", i + 1);
    }
    return code ? code : mor_stage_commit(w, step, error);
}

static uint64_t contact_bits(const mor_world* w)
{
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        double x[5] = { c[i].impulse.x, c[i].impulse.y, c[i].impulse.z, c[i].normal_impulse, c[i].gap };
        for (int k = 0; k < 5; k++) {
            uint64_t bits;
            memcpy(&bits, &x[k], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    }
    return hash;
}

/* What works beside a step must not show in the next one. */
static void ask_about_joints(mor_world* w)
{
    mor_error error;
    double* forces = calloc(6 * (size_t)mor_world_joint_count(w), sizeof *forces);
    assert_non_null(forces);
    mor_world_joint_rank(w);
    mor_world_joint_forces(w, forces, &error);
    free(forces);
}

/* Runs a scene twice, whole and by hand; -1: it cannot be built with these settings. Returns the steps compared. */
static int compare_runs(const char* path, const char* const* sets, int steps)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(path, sets, NULL, &error);
    mor_world* whole = scene ? mor_scene_build(scene, 1, &error) : NULL;
    mor_world* apart = whole ? mor_scene_build(scene, 1, &error) : NULL;
    if (!apart) {
        mor_world_destroy(whole);
        mor_scene_destroy(scene);
        return -1;
    }
    mor_step* step = mor_step_create(apart, &error);
    assert_non_null(step);
    /* a step in parts is the policy's, not a list of stages */
    for (int i = 0; i < 2; i++)
        if (mor_world_set_option(i ? apart : whole, "method", "on_failure", "warn", &error)) fail_msg("%s", error.text);
    int k = 0;
    for (; k < steps; k++) {
        mor_step_report report;
        if (k == 3 && mor_world_joint_count(whole)) ask_about_joints(whole);
        mor_code a = mor_world_step(whole, &report, &error), b = by_hand(apart, step, k < 2, &error);
        if (a != b) fail_msg("%s, step %d: code %d whole, %d by hand: %s", path, k + 1, a, b, error.text);
        if (a) break;
        const mor_step_report* own = mor_step_last_report(step);
        if (mor_world_hash(whole) != mor_world_hash(apart) || contact_bits(whole) != contact_bits(apart))
            fail_msg("%s, step %d: other bits by hand", path, k + 1);
        assert_true(own->status == report.status && own->kinetic == report.kinetic && own->step == report.step &&
                    own->penetration == report.penetration && own->applied_work == report.applied_work);
    }
    assert_true(fingerprint(whole) == fingerprint(apart));
    mor_step_destroy(step);
    mor_world_destroy(whole);
    mor_world_destroy(apart);
    mor_scene_destroy(scene);
    return k;
}

/* All scene files below a folder, in the order of their names. */
static void add_names(const char* path, char names[256][400], int* count)
{
    struct dirent** entries;
    int n = scandir(path, &entries, NULL, alphasort);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        const char* name = entries[i]->d_name;
        size_t size = strlen(name);
        char whole[400];
        snprintf(whole, sizeof whole, "%.200s/%.150s", path, name);
        struct stat about;
        if (name[0] != '.' && stat(whole, &about) == 0 && S_ISDIR(about.st_mode)) add_names(whole, names, count);
        if (size > 5 && strcmp(name + size - 5, ".yaml") == 0 && *count < 256) strcpy(names[(*count)++], whole);
        free(entries[i]);
    }
    free(entries);
}

/* The large piles of S3 for few steps. */
static int length(const char* path) { return strncmp(strrchr(path, '/') + 1, "s3", 2) == 0 ? 5 : 50; }

static void the_stages_by_hand_give_the_bits_of_the_step_on_every_scene(void** state)
{
    (void)state;
    static char names[256][400];
    int count = 0, compared = 0;
    add_names(MOREAU_SOURCE_DIR "/scenes", names, &count);
    assert_true(count > 40);
    for (int i = 0; i < count; i++) {
        int done = compare_runs(names[i], NULL, length(names[i]));
        if (done < 0) fail_msg("%s cannot be built", names[i]);
        compared += done > 0;
    }
    print_message("%d scenes\n", compared);
    assert_int_equal(compared, count);
}

static void every_integrator_and_stabilisation_gives_the_same_bits_by_hand(void** state)
{
    (void)state;
    static const char* const scenes[] = {
        MOREAU_SOURCE_DIR "/scenes/iftomm_a01.yaml",     MOREAU_SOURCE_DIR "/scenes/iftomm_a02.yaml",
        MOREAU_SOURCE_DIR "/scenes/iftomm_a03.yaml",     MOREAU_SOURCE_DIR "/scenes/arm6_trajectory.yaml",
        MOREAU_SOURCE_DIR "/scenes/humanoid_stand.yaml", MOREAU_SOURCE_DIR "/scenes/stack.yaml"
    };
    int runs = 0;
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        for (int i = 0; mor_integrator_at(i); i++) {
            char set[64];
            snprintf(set, sizeof set, "method.integrator=%s", mor_integrator_at(i)->name);
            const char* sets[] = { set, NULL };
            runs += compare_runs(scenes[s], sets, 20) > 0;
        }
        static const char* const ways[] = { "impulse", "baumgarte", "projection", "none" };
        for (int i = 0; i < 4; i++) {
            char set[64];
            snprintf(set, sizeof set, "method.stabilisation=%s", ways[i]);
            const char* sets[] = { set, NULL };
            runs += compare_runs(scenes[s], sets, 20) > 0;
        }
    }
    print_message("%d runs\n", runs);
    assert_true(runs >= 40);
}

static void rk4_by_hand_keeps_the_energy_of_the_pendulum(void** state)
{
    (void)state;
    mor_error error = { 0 };
    const char* sets[] = { "method.integrator=rk4", NULL };
    mor_scene* scene = mor_scene_load(MOREAU_SOURCE_DIR "/scenes/iftomm_a01.yaml", sets, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!w) fail_msg("%s", error.text);
    mor_step* step = mor_step_create(w, &error);
    double before = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    for (int k = 0; k < 100; k++)
        if (by_hand(w, step, false, &error)) fail_msg("%s", error.text);
    double after = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    assert_true(fabs(after - before) < 1e-5); /* the semi-implicit step loses 0.09 J here */
    mor_step_destroy(step);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* ------------------------------------------------------------------------------- dirty hands */

static mor_world* pile(const char* formulation, const char* solver)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    mor_world* w = mor_world_create(&def, &error);
    if (!w) fail_msg("%s", error.text);
    if (mor_world_set_methods(w, formulation, solver, &error)) fail_msg("%s", error.text);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_geometry* cube = test_box(1, 1, 1);
    for (int k = 0; k < 3; k++) test_body(w, mor_geometry_retain(cube), 1.0, mor_v3(0.1 * k, 0, 0.5 + k), no_turn);
    mor_geometry_release(cube);
    return w;
}

static void a_stage_out_of_order_is_refused_with_a_sentence(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = pile("ncp", "auto");
    mor_step* step = mor_step_create(w, &error);
    uint64_t before = fingerprint(w);
    assert_int_equal(mor_stage_solve(w, step, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "'assemble'"));
    assert_int_equal(mor_stage_commit(w, step, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_integrate(w, step, &error), MOR_BAD_INPUT);
    assert_true(fingerprint(w) == before);
    assert_int_equal(by_hand(w, step, true, &error), MOR_OK);
    /* twice is once too often */
    assert_int_equal(mor_stage_commit(w, step, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_step_count(w), 1);
    mor_step_destroy(step);
    mor_world_destroy(w);
}

static void a_world_that_changed_under_a_step_is_not_written_to(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = pile("ncp", "auto");
    mor_step* step = mor_step_create(w, &error);
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_collide(w, step, &error), MOR_OK);
    test_body(w, test_sphere(0.3), 1.0, mor_v3(3, 0, 1), no_turn);
    assert_int_equal(mor_stage_assemble(w, step, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "changed"));
    /* another step came in between */
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    test_steps(w, 1);
    assert_int_equal(mor_stage_collide(w, step, &error), MOR_BAD_INPUT);
    /* a method chosen between two stages is used by the next */
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_collide(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_assemble(w, step, &error), MOR_OK);
    assert_int_equal(mor_world_set_methods(w, "st", "lemke", &error), MOR_OK);
    assert_int_equal(mor_stage_solve(w, step, &error), MOR_OK);
    assert_int_equal(mor_step_status(step), MOR_SOLVED);
    /* a step may be used with another world, and worlds may go in any order */
    mor_world* other = pile("ncp", "auto");
    assert_int_equal(by_hand(other, step, true, &error), MOR_OK);
    mor_world_destroy(w);
    assert_int_equal(by_hand(other, step, true, &error), MOR_OK);
    mor_world_destroy(other);
    mor_step_destroy(step);
}

static void the_draft_is_the_state_to_come(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = pile("ncp", "auto");
    test_velocity(w, mor_world_body(w, 3), mor_v3(0.3, 0.1, 0), mor_v3(0, 0, 0)); /* the topmost slides */
    mor_step* step = mor_step_create(w, &error);
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) assert_int_equal(stages[i](w, step, &error), MOR_OK);
    uint64_t draft = mor_world_hash(mor_step_draft(step));
    assert_true(draft != mor_world_hash(w));
    int contacts;
    const mor_contact* contact = mor_step_contacts(step, &contacts);
    double carried = 0.0;
    for (int i = 0; i < contacts; i++) carried += contact[i].body[0] == 0 ? contact[i].normal_impulse : 0.0;
    test_near(carried, 3.0 * 9.81 * mor_world_get_step(w), 0.01, "the floor carries the pile");
    assert_true(contacts >= 4 && mor_step_island_count(step) == 1);
    assert_int_equal(mor_stage_commit(w, step, &error), MOR_OK);
    assert_true(draft == mor_world_hash(w));
    mor_step_destroy(step);
    mor_world_destroy(w);
}

/* Kinetic energy and the velocity of every link, from the joints of a robot alone. */
static void check_kinematics(const mor_world* w, const char* where)
{
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    mor_robot_work* fresh = mor_robot_work_create(m);
    double *s = calloc((size_t)mor_robot_dof(m) + 1, sizeof *s), *nu = calloc((size_t)mor_robot_dof(m) + 1, sizeof *nu);
    assert_true(fresh && s && nu);
    mor_pose base;
    mor_world_robot_state(w, 0, &base, s, nu);
    mor_robot_update(m, fresh, &base, s, nu);
    const double energy = mor_robot_kinetic_energy(m, fresh);
    test_near(mor_world_kinetic_energy(w), energy, 1e-12 * (1.0 + energy), where);
    for (int link = 1; link < mor_robot_link_count(m); link++) {
        mor_vec3 v, omega;
        mor_robot_link_velocity(fresh, link, &v, &omega);
        mor_body_id id = mor_world_robot_link(w, 0, link);
        mor_vec3 off = mor_sub(mor_body_get_state(w, id).angular_velocity, omega);
        assert_true(mor_norm(off) <= 1e-12 * (1.0 + mor_norm(omega)));
    }
    mor_robot_work_destroy(fresh);
    free(s);
    free(nu);
}

/* Adds `push` to all velocities of the robot. */
static void push_robot(mor_world* w, double push)
{
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    double *s = calloc((size_t)mor_robot_dof(m) + 1, sizeof *s), *nu = calloc((size_t)mor_robot_dof(m) + 1, sizeof *nu);
    assert_true(s && nu);
    mor_pose base;
    mor_world_robot_state(w, 0, &base, s, nu);
    for (int k = 0; k < mor_robot_dof(m); k++) nu[k] += push;
    mor_world_robot_set_state(w, 0, &base, s, nu);
    free(s);
    free(nu);
}

/* World and step hand the kinematics of robots to each other instead of copying them. */
static void robots_answer_for_their_state_whoever_moved_them(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(MOREAU_SOURCE_DIR "/scenes/humanoid_stand.yaml", NULL, NULL, &error);
    mor_world* plain = scene ? mor_scene_build(scene, 1, &error) : NULL;
    mor_world* mixed = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!plain || !mixed) fail_msg("%s", error.text);
    mor_step* steps[2] = { mor_step_create(mixed, &error), mor_step_create(mixed, &error) };
    for (int i = 0; i < 24; i++) {
        if (i % 5 == 3) push_robot(plain, 0.01 * i), push_robot(mixed, 0.01 * i);
        check_kinematics(mixed, "before a step");
        assert_int_equal(mor_world_step(plain, NULL, &error), MOR_OK);
        const int mover = (i * 7 / 3) % 3; /* the world's own step, or one of two others */
        if (mover == 2) assert_int_equal(mor_world_step(mixed, NULL, &error), MOR_OK);
        else assert_int_equal(by_hand(mixed, steps[mover], false, &error), MOR_OK);
        if (fingerprint(plain) != fingerprint(mixed)) fail_msg("step %d has other bits", i);
        check_kinematics(mixed, "after a step");
        check_kinematics(plain, "after steps of its own alone");
    }
    mor_world_destroy(mixed);
    mor_step_destroy(steps[0]);
    mor_step_destroy(steps[1]);
    mor_world_destroy(plain);
    mor_scene_destroy(scene);
}

/* --------------------------------------------------------------------------- steps not taken */

static void a_step_that_was_not_taken_says_so(void** state)
{
    (void)state;
    mor_error error = { 0 };
    const char* sets[] = { "method.formulation=st", "method.solver={ name: pgs, max_iter: 1 }", NULL };
    mor_scene* scene = mor_scene_load(MOREAU_SOURCE_DIR "/scenes/s2.yaml", sets, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!w) fail_msg("%s", error.text);
    uint64_t before = fingerprint(w);
    for (int k = 0; k < 20; k++) {
        mor_step_report r;
        assert_int_equal(mor_world_step(w, &r, &error), MOR_STOPPED);
        assert_int_equal(r.status, MOR_NOT_CONVERGED);
        assert_non_null(strstr(error.text, "step 1 was not taken: "));
    }
    assert_true(mor_world_time(w) == 0.0 && fingerprint(w) == before);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* An answer for short steps that begin early enough, none for others. */
typedef struct whim {
    double longest, until;
} whim;

static mor_report sometimes(void* user, const mor_system* s, mor_solve_stage* stage, mor_answer* answer)
{
    (void)stage;
    const whim* x = user;
    mor_report r = { .status = s->h <= x->longest && s->time < x->until ? MOR_SOLVED : MOR_NOT_CONVERGED };
    memcpy(answer->nu, s->nu_free, (size_t)s->dof * sizeof *answer->nu);
    memset(answer->impulses, 0, (size_t)s->row_count * sizeof *answer->impulses);
    return r;
}

static void count_steps(void* user, const mor_world* w, const mor_step_report* r)
{
    (void)w, (void)r;
    ++*(int*)user;
}

static void a_retry_keeps_all_of_the_step_or_nothing(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = pile("st", "pgs");
    test_steps(w, 3);
    int seen = 0;
    assert_int_equal(mor_world_add_observer(w, count_steps, &seen, &error), MOR_OK);
    double h = mor_world_get_step(w), t = mor_world_time(w);
    whim x = { .longest = 0.6 * h, .until = t + 0.4 * h };
    mor_world_on_solve(w, sometimes, &x);
    test_option(w, "method", "on_failure", "retry");
    uint64_t before = fingerprint(w);
    mor_step_report r;
    /* the first half succeeds, the second does not in any part */
    assert_int_equal(mor_world_step(w, &r, &error), MOR_STOPPED);
    assert_int_equal(r.status, MOR_NOT_CONVERGED);
    assert_true(fingerprint(w) == before && mor_world_time(w) == t && mor_world_get_step(w) == h);
    assert_int_equal(mor_world_step_count(w), 3);
    assert_int_equal(seen, 0);
    /* both halves succeed: one step, seen once */
    x.until = INFINITY;
    assert_int_equal(mor_world_step(w, &r, &error), MOR_OK);
    assert_int_equal(r.status, MOR_SOLVED);
    assert_int_equal(mor_world_step_count(w), 4);
    assert_int_equal(seen, 1);
    test_near(mor_world_time(w), t + h, 1e-15, "time");
    assert_true(mor_world_get_step(w) == h);
    mor_world_destroy(w);
}

static void push(void* user, mor_world* w)
{
    ++*(int*)user;
    mor_body_apply(w, mor_world_body(w, 1), mor_v3(1, 0, 0), mor_body_get_state(w, mor_world_body(w, 1)).com);
}

static void forces_of_a_failed_step_do_not_pile_up(void** state)
{
    (void)state;
    mor_error error = { 0 };
    int calls = 0;
    mor_world* w = pile("st", "pgs");
    mor_world_on_user(w, push, &calls);
    test_option(w, "solver", "max_iter", "1");
    test_option(w, "method", "on_failure", "stop"); /* one attempt, one call */
    uint64_t before = fingerprint(w);
    for (int k = 0; k < 5; k++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_STOPPED);
    assert_int_equal(calls, 5);
    assert_true(fingerprint(w) == before);
    /* the step that succeeds then is the one a fresh world takes */
    test_option(w, "solver", "max_iter", "0");
    mor_world* fresh = pile("st", "pgs");
    mor_world_on_user(fresh, push, &calls);
    assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_world_step(fresh, NULL, &error), MOR_OK);
    assert_true(mor_world_hash(w) == mor_world_hash(fresh));
    mor_world_destroy(w);
    mor_world_destroy(fresh);
}

static void a_pair_of_methods_that_does_not_fit_is_refused_by_the_first_step(void** state)
{
    (void)state;
    mor_error error = { 0 }, sentence = { 0 };
    mor_world* w = pile("ncp", "auto");
    /* together: nothing changes */
    assert_int_equal(mor_world_set_methods(w, "convex", "nsgs", &error), MOR_BAD_INPUT);
    assert_string_equal(mor_world_method(w, "formulation"), "ncp");
    assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_world_set_methods(w, "nonsense", NULL, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_methods(w, "convex", "convex-newton", &error), MOR_OK);
    assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_world_set_methods(w, "ncp", "nsgs", &error), MOR_OK);
    /* one by one: the step tells, whatever on_failure says */
    assert_int_equal(mor_world_set_method(w, "formulation", "convex", &error), MOR_OK);
    assert_int_equal(mor_world_check_methods(w, &sentence), MOR_BAD_INPUT);
    static const char* const policies[] = { "stop", "warn", "retry" };
    for (int k = 0; k < 3; k++) {
        test_option(w, "method", "on_failure", policies[k]);
        uint64_t before = fingerprint(w);
        assert_int_equal(mor_world_step(w, NULL, &error), MOR_BAD_INPUT);
        assert_string_equal(error.text, sentence.text);
        assert_true(fingerprint(w) == before);
    }
    mor_world_destroy(w);
}

/* ------------------------------------------------------------------------------------ memory */

/* Cubes on a floor, a chain of joints, and a ball, with the methods a world has when it is made. */
static mor_world* default_world(counter* c)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.allocator = (mor_allocator){ counting_resize, c };
    mor_world* w = mor_world_create(&def, &error);
    if (!w) fail_msg("%s", error.text);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_geometry* cube = test_box(1, 1, 1);
    for (int k = 0; k < 6; k++)
        test_body(w, mor_geometry_retain(cube), 1.0, mor_v3(1.5 * (k % 3), 0, 0.5 + k / 3), no_turn);
    mor_geometry_release(cube);
    mor_body_id last = { 0, 0 };
    for (int k = 0; k < 4; k++) {
        mor_body_id link = test_body(w, test_sphere(0.1), 1.0, mor_v3(-3, 0.5 * k, 5), no_turn);
        mor_joint_def joint = mor_joint_def_default();
        joint.kind = MOR_JOINT_SPHERICAL;
        joint.body[0] = last;
        joint.body[1] = link;
        joint.point[0] = joint.point[1] = mor_v3(-3, 0.5 * k - 0.25, 5);
        if (mor_world_add_joint(w, &joint, &error) < 0) fail_msg("%s", error.text);
        last = link;
    }
    return w;
}

static void a_warm_step_of_the_default_methods_allocates_nothing(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = default_world(&c);
    assert_string_equal(mor_world_method(w, "formulation"), "ncp");
    assert_string_equal(mor_world_method(w, "solver"), "auto");
    test_steps(w, 60);
    c.armed = true;
    test_steps(w, 100);
    assert_int_equal(c.calls, 0);
    mor_world_destroy(w);
}

static void a_step_that_runs_out_of_memory_leaves_the_world_as_it_was(void** state)
{
    (void)state;
    long needed = 0;
    for (long at = 0; at <= needed; at++) {
        counter c = { 0 };
        mor_world* w = default_world(&c);
        uint64_t before = fingerprint(w);
        c.armed = true;
        c.fail_at = at;
        mor_error error = { 0 };
        mor_code code = mor_world_step(w, NULL, &error);
        c.armed = false;
        if (at == 0) needed = c.calls;
        if (code) {
            assert_true(code == MOR_SYSTEM || code == MOR_STOPPED);
            assert_true(fingerprint(w) == before);
            assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK); /* and it can go on */
        }
        mor_world_destroy(w);
    }
    assert_true(needed > 3);
}

/* ----------------------------------------------------------------- a collision method's memory */

typedef struct memory {
    int detections;
} memory;

static int alive;

static void* create(const mor_allocator* a)
{
    memory* m = a->resize(a->user, NULL, sizeof *m);
    if (m) *m = (memory){ 0 }, alive++;
    return m;
}

static void destroy(void* m)
{
    alive--;
    free(m);
}

/* Touches at z = 0, whatever the shape. */
static mor_code detect(void* memory_of, const mor_world* world, const void* options, mor_found* found, mor_error* error)
{
    (void)options, (void)error;
    memory* m = memory_of;
    m->detections++;
    int last;
    mor_found_last(found, &last);
    mor_vec3 x = mor_body_get_state(world, mor_world_body(world, 1)).com;
    mor_contact c = { .body = { 0, 1 },
                      .normal = { 0, 0, 1 },
                      .gap = x.z,
                      .point = { { x.x, x.y, 0 }, x },
                      .friction = -1,
                      .restitution = -1 };
    return x.z < 0.5 ? mor_found_add(found, &c) : MOR_OK;
}

static void a_collision_method_keeps_memory_of_its_own_in_every_world(void** state)
{
    (void)state;
    static const mor_field fields[] = { { 0 } };
    static const mor_collision mine = { .name = "mine",
                                        .summary = "touches at z = 0",
                                        .options_size = sizeof(mor_collision_options),
                                        .fields = fields,
                                        .detect = detect,
                                        .create = create,
                                        .destroy = destroy };
    mor_error error = { 0 };
    mor_library* library = mor_library_create(&error);
    assert_non_null(library);
    assert_int_equal(mor_library_add_collision(library, &mine, &error), MOR_OK);
    mor_world_def def = mor_world_def_default();
    def.library = library;
    mor_world* w[2];
    for (int i = 0; i < 2; i++) {
        w[i] = mor_world_create(&def, &error);
        assert_int_equal(mor_world_set_method(w[i], "collision", "mine", &error), MOR_OK);
        test_fixed(w[i], test_plane(), mor_v3(0, 0, 0), no_turn);
        test_body(w[i], test_sphere(0.1), 1.0, mor_v3(0, 0, 0.2), no_turn);
        test_steps(w[i], 50);
        assert_true(fabs(test_state(w[i], mor_world_body(w[i], 1)).com.z) < 1e-6);
    }
    assert_int_equal(alive, 2);
    assert_int_equal(mor_world_set_method(w[0], "collision", "manifold", &error), MOR_OK);
    assert_int_equal(alive, 1);
    for (int i = 0; i < 2; i++) mor_world_destroy(w[i]);
    assert_int_equal(alive, 0);
    mor_library_destroy(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stages_by_hand_give_the_bits_of_the_step_on_every_scene),
        cmocka_unit_test(every_integrator_and_stabilisation_gives_the_same_bits_by_hand),
        cmocka_unit_test(rk4_by_hand_keeps_the_energy_of_the_pendulum),
        cmocka_unit_test(a_stage_out_of_order_is_refused_with_a_sentence),
        cmocka_unit_test(a_world_that_changed_under_a_step_is_not_written_to),
        cmocka_unit_test(the_draft_is_the_state_to_come),
        cmocka_unit_test(robots_answer_for_their_state_whoever_moved_them),
        cmocka_unit_test(a_step_that_was_not_taken_says_so),
        cmocka_unit_test(a_retry_keeps_all_of_the_step_or_nothing),
        cmocka_unit_test(forces_of_a_failed_step_do_not_pile_up),
        cmocka_unit_test(a_pair_of_methods_that_does_not_fit_is_refused_by_the_first_step),
        cmocka_unit_test(a_warm_step_of_the_default_methods_allocates_nothing),
        cmocka_unit_test(a_step_that_runs_out_of_memory_leaves_the_world_as_it_was),
        cmocka_unit_test(a_collision_method_keeps_memory_of_its_own_in_every_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
