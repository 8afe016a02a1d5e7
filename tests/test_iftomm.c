/* The IFToMM benchmarks A01 to A05, the chains S7 and the pendulum of Fig. 4, against answers from elsewhere. With
 * MOREAU_LONG also the parts that take minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/iftomm.h"
#include "common/near.h"
#include "common/scenes.h"
#include "common/worlds.h"

static bool long_tests(void) { return getenv("MOREAU_LONG") != NULL; }

typedef struct run {
    mor_scene* scene;
    mor_world* w;
    double drift, joint;
    int halvings, rescued;
} run;

static double energy(const mor_world* w) { return mor_world_kinetic_energy(w) + mor_world_potential_energy(w); }

static run simulate(const char* name, const char* integrator, double h, double end, void (*each)(void*, mor_world*),
                    void* user)
{
    run r = { 0 };
    mor_error error = { 0 };
    char step[64], method[96];
    snprintf(step, sizeof step, "time.step=%.17g", h);
    snprintf(method, sizeof method, "method.integrator.name=%s", integrator);
    const char* sets[] = { step, method, NULL };
    r.scene = mor_scene_load(scene_path(name), sets, NULL, &error);
    r.w = r.scene ? mor_scene_build(r.scene, 1, &error) : NULL;
    if (!r.w) fail_msg("%s", error.text);
    double E = energy(r.w);
    int steps = (int)(end / h + 0.5);
    for (int i = 0; i < steps; i++) {
        mor_step_report s;
        if (mor_world_step(r.w, &s, &error) != MOR_OK) fail_msg("%s", error.text);
        if (s.status != MOR_SOLVED) fail_msg("%s, %s at %g s: %s", name, integrator, mor_world_time(r.w), s.detail);
        if (strcmp(integrator, "semi-implicit") != 0) assert_int_equal(s.reduced, 0);
        r.drift = fmax(r.drift, fabs(s.kinetic + s.potential - E));
        r.joint = fmax(r.joint, mor_world_joint_error(r.w));
        r.halvings += s.halvings;
        r.rescued += s.rescued;
        if (each) each(user, r.w);
    }
    return r;
}

static void done(run* r)
{
    mor_world_destroy(r->w);
    mor_scene_destroy(r->scene);
}

static double apart(mor_vec3 x, const double xy[2]) { return hypot(x.x - xy[0], x.y - xy[1]); }

static void the_references_agree_with_published_numbers(void** state)
{
    (void)state;
    double xy[2];
    iftomm_a01(10.0, xy); /* OpenSim's and lim.ii.udc.es's, ten digits */
    assert_near(xy[0], 0.2750874626, 1e-10);
    assert_near(xy[1], -0.9614192051, 1e-10);
    iftomm_a01(2.3678419475762, xy);
    assert_near(xy[0], 1.0, 1e-12);
    iftomm_a02(2, 10.0, xy);
    assert_near(xy[0], 0.32845811154, 1e-10);
    assert_near(xy[1], 0.94451853818, 1e-10);
}

static void a01_the_pendulum_swings_on_time(void** state)
{
    (void)state;
    static const struct {
        const char* integrator;
        double error;
    } of[] = { { "rk4", 1e-6 }, { "midpoint", 1e-2 }, { "variational", 1e-2 }, { "gauss6", 1e-10 } };
    double xy[2];
    iftomm_a01(10.0, xy);
    for (int i = 0; i < 4; i++) {
        run r = simulate("iftomm_a01", of[i].integrator, 0.01, 10.0, NULL, NULL);
        assert_true(apart(test_state(r.w, mor_world_body(r.w, 0)).com, xy) < of[i].error);
        assert_true(r.joint < 1e-12);
        done(&r);
    }
    if (!long_tests()) return;
    iftomm_a01(2000.0, xy);
    run r = simulate("iftomm_a01", "gauss6", 0.01, 2000.0, NULL, NULL);
    assert_true(apart(test_state(r.w, mor_world_body(r.w, 0)).com, xy) < 1e-6);
    done(&r);
}

static void a02_the_four_bars_pass_the_singular_position(void** state)
{
    (void)state;
    static const struct {
        const char* integrator;
        double error;
    } of[] = { { "rk4", 1e-4 }, { "midpoint", 1e-2 }, { "variational", 1e-2 }, { "gauss6", 1e-7 } };
    double xy[2];
    iftomm_a02(2, 10.0, xy);
    for (int i = 0; i < 4; i++) {
        run r = simulate("iftomm_a02", of[i].integrator, 0.01, 10.0, NULL, NULL);
        double error = apart(mor_scale(2.0, test_state(r.w, mor_world_find_body(r.w, "rod_0")).com), xy);
        if (!(error < of[i].error)) fail_msg("%s: %g m", of[i].integrator, error);
        assert_true(r.joint < 1e-9);
        done(&r);
    }
    /* N = 40: through the first singular position, or to the end */
    double end = long_tests() ? 10.0 : 0.8;
    iftomm_a02(40, end, xy);
    run r = simulate("iftomm_a02_40", "gauss6", 0.005, end, NULL, NULL);
    assert_true(apart(mor_scale(2.0, test_state(r.w, mor_world_find_body(r.w, "rod_0")).com), xy) < 1e-5);
    done(&r);
}

static void a03_the_squeezer_meets_sixteen_digits(void** state)
{
    (void)state;
    run r = simulate("iftomm_a03", "gauss6", 1e-4, 0.03, NULL, NULL);
    double e[3];
    iftomm_a03(r.w, e);
    printf("  A03: angles %.1e, rates %.1e, multipliers %.1e relative\n", e[0], e[1], e[2]);
    for (int i = 0; i < 3; i++) assert_true(e[i] < 1e-6);
    done(&r);
}

static void watch_kinetic(void* user, mor_world* w)
{
    *(double*)user = fmax(*(double*)user, mor_world_kinetic_energy(w));
}

static void a04_bricard_moves_and_keeps_its_energy(void** state)
{
    (void)state;
    double fastest = 0.0;
    run r = simulate("iftomm_a04", "gauss6", 0.02, 10.0, watch_kinetic, &fastest);
    assert_true(r.drift < 1e-9);
    assert_true(r.joint < 1e-12);
    mor_joint_rank rank = mor_world_joint_rank(r.w);
    assert_int_equal(rank.freedom, 1);
    assert_true(rank.rank < rank.equations);
    assert_true(fastest > 1.0); /* J: it does move */
    done(&r);
    r = simulate("iftomm_a04", "variational", 0.01, 10.0, NULL, NULL);
    assert_true(r.drift < 1e-3);
    done(&r);
}

typedef struct slider {
    double s[4001];
    int i;
    double largest;
} slider;

static void watch_slider(void* user, mor_world* w)
{
    slider* k = user;
    k->i++;
    k->largest = fmax(k->largest, fabs(mor_body_get_state(w, mor_world_find_body(w, "slider")).com.z - k->s[k->i]));
}

static void a05_the_governor_follows_the_reduced_equations(void** state)
{
    (void)state;
    static slider k;
    static const struct {
        const char* integrator;
        double h, error;
    } of[] = {
        { "midpoint", 0.001, 1e-3 }, { "variational", 0.001, 1e-3 }, { "rk4", 1e-4, 1e-8 }, { "gauss6", 0.001, 1e-5 }
    };
    for (int i = 0; i < 4; i++) {
        double end = i == 2 ? 0.3 : 1.5;
        iftomm_a05(of[i].h, (int)(end / of[i].h + 0.5) + 1, k.s);
        k.i = 0;
        k.largest = 0.0;
        run r = simulate("iftomm_a05", of[i].integrator, of[i].h, end, watch_slider, &k);
        if (!(k.largest < of[i].error)) fail_msg("%s: %g m", of[i].integrator, k.largest);
        printf("  A05 %s: %.1e m\n", of[i].integrator, k.largest);
        done(&r);
    }
}

/* ---------------------------------------------------------------------------------------- S7 */

static void s7_ten_links_keep_their_energy_at_order_six(void** state)
{
    (void)state;
    run r = simulate("s7", "gauss6", 1e-3, 10.0, NULL, NULL);
    double drift = r.drift / (1.0 * 9.81 * 0.5); /* m g L/2 */
    printf("  S7, N = 10, gauss6: energy drift %.1e, %d steps halved\n", drift, r.halvings);
    assert_true(drift < 1e-6);
    done(&r);
    double h = long_tests() ? 1e-5 : 1e-4;
    run a = simulate("s7", "gauss6", 1e-3, 1.0, NULL, NULL), b = simulate("s7", "gauss6", h, 1.0, NULL, NULL);
    for (int i = 0; i < mor_world_body_count(a.w); i++)
        assert_near(
            mor_norm(mor_sub(test_state(a.w, mor_world_body(a.w, i)).com, test_state(b.w, mor_world_body(b.w, i)).com)),
            0.0, 1e-8);
    /* maximal coordinates: another formulation of the same chain */
    run c = simulate("s7_maximal", "gauss6", 1e-3, 0.5, NULL, NULL),
        d = simulate("s7", "gauss6", 1e-3, 0.5, NULL, NULL);
    for (int i = 0; i < 10; i++) {
        char link[32];
        snprintf(link, sizeof link, "chain/link_%d", i);
        assert_near(mor_norm(mor_sub(test_state(c.w, mor_world_body(c.w, i)).com,
                                     test_state(d.w, mor_world_find_body(d.w, link)).com)),
                    0.0, 1e-10);
    }
    assert_true(c.joint < 1e-9);
    done(&a), done(&b), done(&c), done(&d);
}

static void s7_a_hundred_links_run_or_diverge_but_are_never_nan(void** state)
{
    (void)state;
    double end = long_tests() ? 10.0 : 1.2;
    run r = simulate("s7_100", "gauss6", 1e-3, end, NULL, NULL);
    printf("  S7, N = 100, gauss6, %g s: energy drift %.1e, %d steps halved\n", end, r.drift / (10.0 * 9.81 * 5.0),
           r.halvings);
    assert_true(r.drift / (10.0 * 9.81 * 5.0) < 1e-6);
    done(&r);
}

/* The whip turns faster than the step resolves; the run ends with numbers all the same. */
static void s7_runs_with_the_default_integrator(void** state)
{
    (void)state;
    char line[2000];
    bool ok = false, number = true;
    FILE* out = popen(MOREAU_COMMAND " run " MOREAU_SOURCE_DIR
                                     "/scenes/s7_100.yaml --integrator semi-implicit --json 2>/dev/null",
                      "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        ok = ok || strstr(line, "\"status\": \"ok\"");
        if (strstr(line, "\"pair\": null")) continue; /* no two bodies overlap at the start */
        number = number && !strstr(line, "nan") && !strstr(line, "null") && !strstr(line, "inf");
    }
    int status = pclose(out);
    assert_true(ok);
    assert_true(number);
    assert_int_equal(status, 0);
}

/* ------------------------------------------------------------------------------------ Fig. 4 */

typedef struct swing {
    double position, velocity, before, first, last, h;
    int crossings;
} swing;

static void watch_swing(void* user, mor_world* w)
{
    swing* s = user;
    s->position = fmax(s->position, mor_world_joint_error(w));
    s->velocity = fmax(s->velocity, mor_world_joint_rate(w));
    double x = mor_body_get_state(w, mor_world_body(w, 0)).com.x;
    if (s->before > 0.0 && x <= 0.0) {
        s->last = mor_world_time(w) - s->h * x / (x - s->before);
        if (s->crossings++ == 0) s->first = s->last;
    }
    s->before = x;
}

static void fig_4_stabilisation_holds_the_joint_and_not_the_period(void** state)
{
    (void)state;
    /* period of a physical pendulum let go horizontally, by the complete elliptic integral K(sin 45 deg) */
    double exact = 4.0 * 1.8540746773013719 * sqrt((0.0625 + (0.25 + 0.0025) / 12.0) / (9.81 * 0.25));
    for (int i = 0; i < 2; i++) { /* the paper's step, and that of its example */
        swing s = { .h = i ? 0.005 : 0.01 };
        run r = simulate("hanging_rod", "semi-implicit", s.h, 10.0, watch_swing, &s);
        assert_true(s.position < 1.0000001e-5);
        assert_true(s.velocity < 1e-5);
        /* the energy is kept exactly, the phase at second order */
        assert_near((s.last - s.first) / (s.crossings - 1) / exact, 1.0, 8.0 * s.h * s.h);
        done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_references_agree_with_published_numbers),
        cmocka_unit_test(a01_the_pendulum_swings_on_time),
        cmocka_unit_test(a02_the_four_bars_pass_the_singular_position),
        cmocka_unit_test(a03_the_squeezer_meets_sixteen_digits),
        cmocka_unit_test(a04_bricard_moves_and_keeps_its_energy),
        cmocka_unit_test(a05_the_governor_follows_the_reduced_equations),
        cmocka_unit_test(s7_ten_links_keep_their_energy_at_order_six),
        cmocka_unit_test(s7_a_hundred_links_run_or_diverge_but_are_never_nan),
        cmocka_unit_test(s7_runs_with_the_default_integrator),
        cmocka_unit_test(fig_4_stabilisation_holds_the_joint_and_not_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
