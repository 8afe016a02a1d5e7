/* Mechanisms with every integrator and several steps, as Markdown: the tables and the figure of docs/results/iftomm.md.
 *
 *     bench_mechanisms [iftomm] [chains] [figure FILE.svg]
 *
 * Errors are against answers that do not come from this library (tests/common/iftomm.c). Times are CPU time. */
#include "common/iftomm.h"
#include "plot/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const integrators[] = { "semi-implicit", "rk4", "midpoint", "variational", "gauss6" };
enum { INTEGRATORS = 5 };

typedef struct run {
    mor_scene* scene;
    mor_world* w;
    double drift, joint, us; /* largest |E - E0| [J]; largest joint error; CPU us per step */
    int steps, halvings, rescued;
    bool ok;
    char detail[200];
} run;

static double energy(const mor_world* w) { return mor_world_kinetic_energy(w) + mor_world_potential_energy(w); }

/* Runs a scene to `end`, calling `each` after every step. */
static run simulate(const char* name, const char* integrator, double h, double end, void (*each)(void*, mor_world*),
                    void* user)
{
    run r = { .ok = true };
    mor_error error = { 0 };
    char path[1000], step[64], method[96];
    snprintf(path, sizeof path, MOREAU_SCENES "/%s.yaml", name);
    snprintf(step, sizeof step, "time.step=%.17g", h);
    snprintf(method, sizeof method, "method.integrator.name=%s", integrator);
    const char* sets[] = { step, method, "method.stabilisation.position=1e-10", "method.stabilisation.velocity=1e-10",
                           NULL };
    r.scene = mor_scene_load(path, sets, NULL, &error);
    r.w = r.scene ? mor_scene_build(r.scene, 1, &error) : NULL;
    if (!r.w) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    double E = energy(r.w), start = mor_cpu_clock();
    r.steps = (int)(end / h + 0.5);
    for (int i = 0; i < r.steps && r.ok; i++) {
        mor_step_report s;
        r.ok = mor_world_step(r.w, &s, &error) == MOR_OK && s.status == MOR_SOLVED && isfinite(s.kinetic);
        if (!r.ok) snprintf(r.detail, sizeof r.detail, "stops at %.4g s: %.150s", mor_world_time(r.w), s.detail);
        r.drift = fmax(r.drift, fabs(s.kinetic + s.potential - E));
        r.joint = fmax(r.joint, mor_world_joint_error(r.w));
        r.halvings += s.halvings;
        r.rescued += s.rescued;
        if (each) each(user, r.w);
    }
    r.us = 1e6 * (mor_cpu_clock() - start) / r.steps;
    return r;
}

static void done(run* r)
{
    mor_world_destroy(r->w);
    mor_scene_destroy(r->scene);
}

static void head(const char* title, const char* errors)
{
    printf("\n### %s\n\n| integrator | step | %s | energy drift J | joints m | us/step | halved | by rk4 |\n", title,
           errors);
    printf("|---|---|");
    for (const char* p = errors; p; p = strchr(p + 1, '|')) printf("---|");
    printf("---|---|---|---|---|\n");
}

static void row(const char* integrator, double h, const char* errors, const run* r)
{
    if (!r->ok) printf("| %s | %g | %s | | | | | |\n", integrator, h, r->detail);
    else {
        char drift[32];
        if (isnan(r->drift)) snprintf(drift, sizeof drift, "–");
        else snprintf(drift, sizeof drift, "%.1e", r->drift);
        printf("| %s | %g | %s | %s | %.1e | %.0f | %d | %d |\n", integrator, h, errors, drift, r->joint, r->us,
               r->halvings, r->rescued);
    }
    fflush(stdout);
}

static double apart(mor_vec3 x, const double xy[2]) { return hypot(x.x - xy[0], x.y - xy[1]); }

/* Distance of the mass of A01 from the truth, the largest so far. */
static void watch_a01(void* user, mor_world* w)
{
    double xy[2];
    iftomm_a01(mor_world_time(w), xy);
    *(double*)user = fmax(*(double*)user, apart(mor_body_get_state(w, mor_world_body(w, 0)).com, xy));
}

static void a01(double end)
{
    char title[80], text[80];
    snprintf(title, sizeof title, "A01 simple pendulum, %g s", end);
    head(title, "error of P1 at the end m | largest m");
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < (end > 100 ? 1 : 3); k++) {
            double h = end > 100 ? 0.01 : 0.01 / (1 << k), largest = 0.0, xy[2];
            run r = simulate("iftomm_a01", integrators[i], h, end, watch_a01, &largest);
            iftomm_a01(end, xy);
            snprintf(text, sizeof text, "%.1e | %.1e", apart(mor_body_get_state(r.w, mor_world_body(r.w, 0)).com, xy),
                     largest);
            row(integrators[i], h, text, &r);
            done(&r);
        }
}

static void a02(int N)
{
    char title[80], text[80];
    double xy[2];
    snprintf(title, sizeof title, "A02, %d four-bars, 10 s", N);
    iftomm_a02(N, 10.0, xy);
    head(title, "error of B0(10) m");
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < (N > 10 ? 1 : 3); k++) {
            double h = N > 10 ? 0.005 : 0.01 / (1 << k);
            run r = simulate(N > 10 ? "iftomm_a02_40" : "iftomm_a02", integrators[i], h, 10.0, NULL, NULL);
            mor_vec3 x = mor_body_get_state(r.w, mor_world_find_body(r.w, "rod_0")).com;
            snprintf(text, sizeof text, "%.1e", apart(mor_scale(2.0, x), xy));
            row(integrators[i], h, text, &r);
            done(&r);
        }
}

static void a03(void)
{
    head("A03 Andrews' squeezer, 0.03 s", "angles, relative | rates, relative | multipliers, relative");
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 3; k++) {
            double h = 1e-4 / (1 << (2 * k)), e[3];
            run r = simulate("iftomm_a03", integrators[i], h, 0.03, NULL, NULL);
            iftomm_a03(r.w, e);
            char text[80];
            snprintf(text, sizeof text, "%.1e | %.1e | %.1e", e[0], e[1], e[2]);
            r.drift = NAN; /* driven: its energy is not kept */
            row(integrators[i], h, text, &r);
            done(&r);
        }
}

static void a04(void)
{
    run finest = simulate("iftomm_a04", "gauss6", 0.001, 10.0, NULL, NULL);
    mor_vec3 truth = mor_body_get_state(finest.w, mor_world_find_body(finest.w, "rod_3")).com;
    head("A04 Bricard, 10 s", "rod 3 at 10 s, from gauss6 at 0.001 s, m");
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 3; k++) {
            double h = 0.02 / (1 << k);
            run r = simulate("iftomm_a04", integrators[i], h, 10.0, NULL, NULL);
            char text[80];
            snprintf(text, sizeof text, "%.1e",
                     mor_norm(mor_sub(mor_body_get_state(r.w, mor_world_find_body(r.w, "rod_3")).com, truth)));
            row(integrators[i], h, text, &r);
            done(&r);
        }
    row("gauss6", 0.001, "0", &finest);
    done(&finest);
}

typedef struct slider {
    const double* s;
    int i;
    double largest;
} slider;

static void watch_a05(void* user, mor_world* w)
{
    slider* k = user;
    k->i++;
    k->largest = fmax(k->largest, fabs(mor_body_get_state(w, mor_world_find_body(w, "slider")).com.z - k->s[k->i]));
}

static void a05(void)
{
    head("A05 flyball governor, 10 s", "largest error of s(t) m | at 10 s m");
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 2; k++) {
            double h = 0.002 / (1 << k);
            if (strcmp(integrators[i], "rk4") == 0) h = 1e-4 / (1 << k); /* explicit: stiffness sets the step */
            int n = (int)(10.0 / h + 0.5) + 1;
            double* s = malloc((size_t)n * sizeof *s);
            if (!s) exit(2);
            iftomm_a05(h, n, s);
            slider watch = { .s = s };
            run r = simulate("iftomm_a05", integrators[i], h, 10.0, watch_a05, &watch);
            char text[80];
            snprintf(text, sizeof text, "%.1e | %.1e", watch.largest,
                     fabs(mor_body_get_state(r.w, mor_world_find_body(r.w, "slider")).com.z - s[n - 1]));
            r.drift = NAN; /* damped */
            row(integrators[i], h, text, &r);
            done(&r);
            free(s);
        }
}

/* -------------------------------------------------------------------------------------- chains */

/* S7: N links of 0.1 m and 0.1 kg, horizontal, hinged about y. */
static mor_world* chain(int N, const char* integrator, double h)
{
    mor_error error;
    mor_world_def def = mor_world_def_default();
    def.step = h;
    mor_world* w = mor_world_create(&def, &error);
    mor_link_def* links = calloc((size_t)N + 1, sizeof *links);
    if (!w || !links) exit(2);
    double thick = 0.1 / 12.0 * 2.0 * 0.02 * 0.02, across = 0.1 / 12.0 * (0.1 * 0.1 + 0.02 * 0.02);
    for (int i = 0; i <= N; i++) {
        links[i] = mor_link_def_default();
        links[i].parent = i - 1;
        links[i].joint = i - 1;
        links[i].axis = mor_v3(0, 1, 0);
        links[i].pose.position = mor_v3(i > 1 ? 0.1 : 0.0, 0, 0);
        if (i) links[i].mass = (mor_mass){ 0.1, { 0.05, 0, 0 }, mor_mat3_diag(thick, across, across) };
    }
    mor_robot_def d = mor_robot_def_default();
    d.model = mor_robot_create(links, N + 1, NULL, 0, false, &error);
    if (!d.model || mor_world_add_robot(w, &d, &error) < 0 ||
        mor_world_set_method(w, "integrator", integrator, &error) != MOR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    mor_robot_destroy(d.model);
    free(links);
    return w;
}

static void chain_row(int N, const char* integrator, double h, double end)
{
    mor_world* w = chain(N, integrator, h);
    double E = energy(w), unit = 0.1 * N * 9.81 * 0.05 * N, drift = 0.0, first = 0.0, start = mor_cpu_clock();
    int steps = (int)(end / h + 0.5), taken = 0, halvings = 0;
    const char* status = "ok";
    for (int i = 0; i < steps; i++) {
        mor_step_report r;
        if (mor_world_step(w, &r, NULL) != MOR_OK || r.status != MOR_SOLVED) {
            status = mor_status_name(r.status);
            break;
        }
        taken++;
        halvings += r.halvings;
        drift = fmax(drift, fabs(r.kinetic + r.potential - E));
        if (mor_world_time(w) < 1.0 + 0.5 * h) first = drift;
        if (!(r.kinetic < 1e12)) { /* no chain of a few kg moves like that */
            status = "diverged";
            break;
        }
    }
    printf("| %d | %s | %g | %s at %.4g s | %.1e | %.1e | %.1f | %d |\n", N, integrator, h, status, mor_world_time(w),
           first / unit, drift / unit, 1e6 * (mor_cpu_clock() - start) / fmax(taken, 1), halvings);
    fflush(stdout);
    mor_world_destroy(w);
}

static void chains(void)
{
    printf("\n### S7 chains, minimal coordinates\n\n| N | integrator | step | end | energy drift in 1 s | in all | "
           "us/step | halved |\n|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < INTEGRATORS; i++) chain_row(10, integrators[i], 1e-3, 10.0);
    chain_row(100, "semi-implicit", 1e-3, 10.0);
    chain_row(100, "gauss6", 1e-3, 10.0);
    chain_row(1000, "semi-implicit", 1e-3, 0.5);
    chain_row(1000, "gauss6", 1e-3, 0.05);
}

/* -------------------------------------------------------------------------------------- Fig. 4 */

enum { FIGURE_STEPS = 1000 };

/* The rod of scenes/rpisim/hanging_rod.yaml: errors over time; returns the mean period of the swing. `stabilisation`
 * NULL: the same rod in minimal coordinates, where nothing can come apart. */
static double pendulum(const char* stabilisation, double h, double* t, double* position, double* velocity)
{
    mor_error error = { 0 };
    char method[64], step[64];
    snprintf(method, sizeof method, "method.stabilisation.name=%s", stabilisation ? stabilisation : "none");
    snprintf(step, sizeof step, "time.step=%.17g", h);
    const char* sets[] = { step, method, NULL };
    mor_scene* scene = stabilisation ? mor_scene_load(MOREAU_SCENES "/hanging_rod.yaml", sets, NULL, &error) : NULL;
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!stabilisation) {
        mor_world_def def = mor_world_def_default();
        def.step = h;
        w = mor_world_create(&def, &error);
        mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
        double across = (0.5 * 0.5 + 0.05 * 0.05) / 12.0;
        links[1].parent = 0;
        links[1].axis = mor_v3(0, 1, 0);
        links[1].mass = (mor_mass){ 1.0, { 0.25, 0, 0 }, mor_mat3_diag(0.005 / 12.0, across, across) };
        mor_robot_def d = mor_robot_def_default();
        d.model = mor_robot_create(links, 2, NULL, 0, false, &error);
        if (!w || !d.model || mor_world_add_robot(w, &d, &error) < 0) w = NULL;
        mor_robot_destroy(d.model);
    }
    if (!w) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    double first = 0.0, last = 0.0, before = 0.0;
    int crossings = 0, steps = (int)(10.0 / h + 0.5);
    for (int i = 0; i < steps; i++) {
        mor_world_step(w, NULL, &error);
        if (t) {
            t[i] = mor_world_time(w);
            position[i] = fmax(mor_world_joint_error(w), 1e-18);
            velocity[i] = fmax(mor_world_joint_rate(w), 1e-18);
        }
        double x = mor_body_get_state(w, mor_world_body(w, mor_world_body_count(w) - 1)).com.x;
        if (i && before > 0.0 && x <= 0.0) { /* through the vertical, by linear interpolation */
            last = mor_world_time(w) - h * x / (x - before);
            if (crossings++ == 0) first = last;
        }
        before = x;
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return crossings > 1 ? (last - first) / (crossings - 1) : NAN;
}

static void figure(const char* path)
{
    static double t[FIGURE_STEPS], error[2][2][FIGURE_STEPS];
    enum { EVERY = 5, SHOWN = FIGURE_STEPS / EVERY };
    static double time[SHOWN], shown[2][SHOWN];
    mor_figure f = { .title = "joint errors of a hanging pendulum, h = 0.01 s", .x_label = "time", .x_unit = "s" };
    const char* const names[2] = { "none", "impulse" };
    double period[2], largest[2][2] = { { 0 } };
    for (int i = 0; i < 2; i++) {
        period[i] = pendulum(names[i], 0.01, t, error[i][0], error[i][1]);
        for (int k = 0; k < 2; k++)
            for (int n = 0; n < FIGURE_STEPS; n++) largest[i][k] = fmax(largest[i][k], error[i][k][n]);
    }
    for (int k = 0; k < 2; k++) {
        mor_panel* p = mor_figure_panel(&f, k ? "velocity error" : "position error", k ? "m/s" : "m");
        if (!p) exit(2);
        p->log = true;
        for (int n = 0; n < SHOWN; n++) {
            time[n] = t[n * EVERY];
            for (int i = 0; i < 2; i++) shown[i][n] = error[i][k][n * EVERY];
        }
        mor_panel_curve(p, "without stabilisation", 1, 1, time, shown[0], SHOWN);
        mor_panel_curve(p, "impulse, 1e-5", 0, 0, time, shown[1], SHOWN);
    }
    mor_error problem;
    if (mor_figure_write(&f, path, &problem) != MOR_OK) {
        fprintf(stderr, "%s\n", problem.text);
        exit(2);
    }
    mor_figure_clear(&f);
    printf("\n### The pendulum of Fig. 4, h = 0.01 s, 10 s\n\n| stabilisation | position error m | velocity error m/s "
           "| period s |\n|---|---|---|---|\n");
    for (int i = 0; i < 2; i++)
        printf("| %s | %.1e | %.1e | %.6f |\n", names[i], largest[i][0], largest[i][1], period[i]);
    printf("| minimal coordinates | 0 | 0 | %.6f |\n", pendulum(NULL, 0.01, NULL, NULL, NULL));
    printf("| impulse, h = 0.005 s | | | %.6f |\n", pendulum("impulse", 0.005, NULL, NULL, NULL));
    printf("| exact: 4 K(sin 45) sqrt(I/(m g d)) | 0 | 0 | %.6f |\n",
           4.0 * 1.8540746773013719 * sqrt((0.0625 + (0.25 + 0.0025) / 12.0) / (9.81 * 0.25)));
}

int main(int argc, char** argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "iftomm") == 0) {
            a01(10.0);
            a01(2000.0);
            a02(2);
            a02(40);
            a03();
            a04();
            a05();
        } else if (strcmp(argv[i], "a01") == 0) a01(10.0);
        else if (strcmp(argv[i], "a01-long") == 0) a01(2000.0);
        else if (strcmp(argv[i], "a02") == 0) a02(2);
        else if (strcmp(argv[i], "a02-40") == 0) a02(40);
        else if (strcmp(argv[i], "a03") == 0) a03();
        else if (strcmp(argv[i], "a04") == 0) a04();
        else if (strcmp(argv[i], "a05") == 0) a05();
        else if (strcmp(argv[i], "chains") == 0) chains();
        else if (strcmp(argv[i], "figure") == 0 && i + 1 < argc) figure(argv[++i]);
        else {
            fprintf(
                stderr,
                "usage: bench_mechanisms [iftomm | a01 a01-long a02 a02-40 a03 a04 a05] [chains] [figure FILE.svg]\n");
            return 2;
        }
    }
    return 0;
}
