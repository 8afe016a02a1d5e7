/* Exact geometry in the plane: the papers' sawtooth and hills, against the closed-form motion; and the case in which
 * every formulation is Stewart-Trinkle. */
#include "common/scenes.h"
#include "common/worlds.h"
#include "lab/particle.h"
#include "model/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int teeth(mor_wall* w)
{
    int n = 0;
    for (int k = -3; k <= 15; k++) {
        w[n++] = mor_wall_between(mor_v3(0.2 + k, 0, 0), mor_v3(1.2 + k, 0.25, 0));
        w[n++] = mor_wall_between(mor_v3(1.2 + k, 0.25, 0), mor_v3(1.2 + k, 0, 0));
    }
    return n;
}

typedef struct run {
    double worst, speed, end_error;
    mor_vec3 x;
} run;

/* One run of a scene with overrides; errors against the exact phases (NULL: none). */
static run simulate(const char* scene_name, const char* const* sets, const mor_phase* phases, int count)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(scene_path(scene_name), sets, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    mor_body_id p = mor_world_find_body(w, "particle");
    int steps = (int)(mor_scene_end(scene) / mor_world_get_step(w) + 0.5);
    run r = { 0 };
    for (int k = 0; k < steps; k++) {
        mor_step_report report;
        if (mor_world_step(w, &report, &error) != MOR_OK) fail_msg("%s", error.text);
        if (report.status != MOR_SOLVED) break;
        mor_body_state s = test_state(w, p);
        r.speed = fmax(r.speed, mor_norm(s.velocity));
        r.x = s.com;
        if (!phases) continue;
        r.end_error = mor_norm(mor_sub(s.com, mor_particle_at(phases, count, mor_world_time(w))));
        r.worst = fmax(r.worst, r.end_error);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return r;
}

#define PAPERS "method.gap_correction=velocity" /* their gap/h, which throws what is deep inside */

static void the_sawtooth_is_followed_at_first_order(void** state)
{
    (void)state;
    const char* steps[] = { "time.step=0.01", "time.step=0.001", "time.step=0.0001" };
    mor_wall walls[64];
    mor_phase phases[64];
    int n = teeth(walls);
    for (int c = 0; c < 2; c++) {
        const char *v = c ? "bodies.particle.velocity=[6, 1.8]" : "bodies.particle.velocity=[2, 1.8]",
                   *mu = c ? "materials.ice.friction=0.5" : "materials.ice.friction=0";
        int count = mor_particle_exact(walls, n, mor_v3(0, 0.75, 0), mor_v3(c ? 6 : 2, 1.8, 0), mor_v3(0, -9.81, 0),
                                       c ? 0.5 : 0.0, 1.4, phases, 64);
        assert_int_equal(phases[1].kind, MOR_SLIDE);
        double before = 0.0, thrown = 0.0;
        for (int k = 0; k < 3; k++) {
            run peg = simulate("peg_sawtooth", (const char*[]){ steps[k], v, mu, NULL }, phases, count);
            run st = simulate("peg_sawtooth_chain", (const char*[]){ steps[k], v, mu, PAPERS, NULL }, phases, count);
            run ap = simulate("peg_sawtooth_chain", (const char*[]){ steps[k], v, mu, "method.formulation=ap", NULL },
                              phases, count);
            printf("  mu %g, %s: peg %.2e, st thrown at %.0f m/s, ap %.2f m off\n", c * 0.5, steps[k], peg.worst,
                   st.speed, ap.worst);
            assert_true(peg.worst < 5.0 * (k == 0 ? 1e-2 : k == 1 ? 1e-3 : 1e-4));
            if (k > 0) assert_true(before / peg.worst > 8.0 && before / peg.worst < 12.5);
            if (k > 0) assert_true(st.speed > 3.0 * thrown);
            assert_true(ap.worst > 0.2 && ap.speed < 10.0);
            before = peg.worst;
            thrown = st.speed;
        }
    }
}

static void on_the_hills_only_exact_geometry_passes(void** state)
{
    (void)state;
    run peg = simulate("peg_hills", NULL, NULL, 0);
    run exact = simulate("peg_hills", (const char*[]){ "method.formulation=peg-exact", NULL }, NULL, 0);
    run trapped = simulate("peg_hills_chain", (const char*[]){ "method.collision.psi_min=-0.05", NULL }, NULL, 0);
    run thrown = simulate("peg_hills_chain", (const char*[]){ PAPERS, NULL }, NULL, 0);
    run ap = simulate("peg_hills_chain", (const char*[]){ "method.formulation=ap", PAPERS, NULL }, NULL, 0);
    printf("  peg (%.3f, %.3f), peg-exact (%.3f, %.3f), st with psi_min (%.3f, %.3f), st thrown at %.0f m/s, ap (%.3f, "
           "%.3f)\n",
           peg.x.x, peg.x.y, exact.x.x, exact.x.y, trapped.x.x, trapped.x.y, thrown.speed, ap.x.x, ap.x.y);
    assert_true(peg.x.x > 4.0 && peg.x.y > 0.4 && peg.speed < 12.0); /* over eight hills */
    assert_true(mor_norm(mor_sub(peg.x, exact.x)) < 0.2);
    assert_true(trapped.x.y > 0.6 && trapped.x.x < 1.0);
    assert_true(thrown.speed > 100.0);
    assert_true(ap.x.y > 0.9 && ap.x.y < 1.1);
}

/* A particle or box on one half-plane, sliding and landing with friction: one plane per group. */
static void with_one_plane_every_formulation_is_stewart_trinkle(void** state)
{
    (void)state;
    const char* names[] = { "st", "peg", "peg-heuristic", "peg-exact" };
    mor_error error = { 0 };
    int enumerated = 0; /* steps of the box in which peg-exact had one plane */
    for (int shape = 0; shape < 2; shape++) {
        mor_world* w[4];
        mor_body_id b[4];
        for (int i = 0; i < 4; i++) {
            w[i] = test_world_2d(0.01);
            test_method(w[i], "formulation", names[i]);
            test_method(w[i], "collision", "features");
            test_method(w[i], "solver", "lemke");
            mor_vec3 line[2] = { { -50, 0, 0 }, { 50, 0, 0 } };
            mor_vec3 box[4] = { { -0.5, -0.25, 0 }, { 0.5, -0.25, 0 }, { 0.5, 0.25, 0 }, { -0.5, 0.25, 0 } };
            test_fixed(w[i], mor_geometry_chain(line, 2, &error), mor_v3(0, 0, 0), mor_quat_identity());
            b[i] = test_body(w[i], shape ? mor_geometry_polygon(box, 4, &error) : mor_geometry_particle(&error), 2.0,
                             mor_v3(0, 0.6, 0), mor_quat_axis_angle(mor_v3(0, 0, 1), shape ? 0.1 : 0.0));
            test_velocity(w[i], b[i], mor_v3(3, -1, 0), mor_v3(0, 0, shape ? 0.7 : 0.0));
        }
        for (int k = 0; k < 60; k++) {
            for (int i = 1; i < 4; i++) { /* the same step from the same state, without penetration */
                mor_body_state s = test_state(w[0], b[0]);
                mor_body_set_state(w[i], b[i], &s);
            }
            bool apart = mor_world_penetration(w[0]) <= 0.0;
            for (int i = 0; i < 4; i++) test_steps(w[i], 1);
            mor_body_state s = test_state(w[0], b[0]);
            /* lying flat, the box has a face of its own: two planes, so the enumeration may take the other */
            int n;
            bool one = true;
            const mor_contact* contacts = mor_world_contacts(w[3], &n);
            for (int m = 1; m < n; m++) one = one && contacts[m].plane == contacts[0].plane;
            enumerated += shape && one && n > 0;
            for (int i = 1; i < (one ? 4 : 3) && apart; i++) {
                mor_body_state o = test_state(w[i], b[i]);
                test_near(mor_norm(mor_sub(o.velocity, s.velocity)), 0, 1e-12, names[i]);
                test_near(o.angular_velocity.z, s.angular_velocity.z, 1e-12, names[i]);
            }
        }
        for (int i = 0; i < 4; i++) mor_world_destroy(w[i]);
    }
    assert_true(enumerated > 3);
}

/* In space: a box or a random hull that lands and slides on a half-space; every formulation that works there, with and
 * without friction. */
static void and_in_space(void** state)
{
    (void)state;
    const char* names[] = { "st", "peg", "peg-heuristic" };
    mor_error error = { 0 };
    int compared = 0, untouched = 0;
    double worst = 0.0;
    for (int c = 0; c < 4; c++) {
        mor_world* w[3];
        mor_body_id b[3];
        for (int i = 0; i < 3; i++) {
            mor_rng r = { 7 };
            mor_vec3 p[12];
            for (int k = 0; k < 12; k++)
                p[k] = mor_v3(mor_rng_uniform(&r) - 0.5, mor_rng_uniform(&r) - 0.5, mor_rng_uniform(&r) - 0.5);
            w[i] = test_world(0.01);
            test_method(w[i], "formulation", names[i]);
            test_method(w[i], "collision", "features");
            test_method(w[i], "solver", "lemke");
            if (c & 1) mor_world_set_pair(w[i], 0, 0, 0.0, 0.0, &error);
            test_fixed(w[i], test_plane(), mor_v3(0, 0, 0), mor_quat_identity());
            b[i] = test_body(w[i], c & 2 ? mor_geometry_hull(p, 12, &error) : test_box(1, 0.6, 0.4), 1.0,
                             mor_v3(0, 0, 0.7), mor_quat_normalize((mor_quat){ 1, 0.05, 0.1, 0.2 }));
            test_velocity(w[i], b[i], mor_v3(2, 0.5, -1), mor_v3(0.1, 0.2, 0.3));
        }
        for (int k = 0; k < 150; k++) {
            for (int i = 1; i < 3; i++) { /* the same step from the same state, without penetration */
                mor_body_state s = test_state(w[0], b[0]);
                mor_body_set_state(w[i], b[i], &s);
            }
            bool apart = mor_world_penetration(w[0]) <= 0.0;
            double raw = 0.0;
            for (int i = 0; i < 3; i++) raw = fmax(raw, test_steps(w[i], 1).raw_penetration);
            int n;
            mor_world_contacts(w[0], &n);
            if (!apart || n == 0) continue;
            compared++;
            mor_body_state s = test_state(w[0], b[0]);
            for (int i = 1; i < 3; i++) {
                /* the solution of the step; then the state, unless linearisation left something to peg's position
                 * projection */
                for (int m = 0; m < 6; m++)
                    worst =
                        fmax(worst, fabs(w[i]->last->islands[0].answer.nu[m] - w[0]->last->islands[0].answer.nu[m]));
                mor_body_state o = test_state(w[i], b[i]);
                if (raw > 0.0) continue;
                untouched++;
                worst = fmax(worst, fmax(mor_norm(mor_sub(o.velocity, s.velocity)),
                                         mor_norm(mor_sub(o.angular_velocity, s.angular_velocity))));
                worst = fmax(worst, mor_norm(mor_sub(o.com, s.com)));
            }
        }
        for (int i = 0; i < 3; i++) mor_world_destroy(w[i]);
    }
    printf("  %d steps with contact from states without penetration, largest difference %.1e\n", compared, worst);
    assert_true(compared > 50 && untouched > 50);
    assert_true(worst <= 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sawtooth_is_followed_at_first_order),
        cmocka_unit_test(on_the_hills_only_exact_geometry_passes),
        cmocka_unit_test(with_one_plane_every_formulation_is_stewart_trinkle),
        cmocka_unit_test(and_in_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
