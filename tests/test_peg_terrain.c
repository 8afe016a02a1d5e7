/* Exact geometry over random concave ground: particles, discs, squares and polygons never get below it.
 *
 * The ground (common/terrain.h) is drawn as one chain, as many chains that meet end to end, or as flush tiles. After
 * every step the body is looked at against the row of points itself: no corner of the body below the ground, no ridge
 * of the ground inside the body. Energy never rises above that of the start. MOREAU_LONG
 * runs 200 terrains instead of 30; MOREAU_SEED is the first of them. Solvers take turns: impulses at a corner are not
 * unique, and each ends in others. */
#include "common/terrain.h"
#include "lab/particle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct outcome {
    double deepest, gain, raw;
    int missed, steps;
    char text[160];
} outcome;

static const char* const solvers[] = { "lemke", "auto" };

static outcome run(uint64_t seed, int drawing, int kind, const char* formulation, const char* solver, bool verbose)
{
    mor_rng r = { seed };
    outcome out = { .deepest = -HUGE_VAL };
    mor_error error = { 0 };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&r);
    double h = 5e-4 * pow(200.0, mor_rng_uniform(&r)), mu = mor_rng_uniform(&r) < 0.3 ? 0.0 : mor_rng_uniform(&r);
    terrain t = terrain_random(&r, drawing != TILES);
    terrain_body b = terrain_body_random(&r, kind);
    mor_world* w = test_world_2d(h);
    test_method(w, "formulation", formulation);
    test_method(w, "collision", "features");
    test_method(w, "solver", solver);
    mor_world_set_pair(w, 0, 0, mu, 0.0, &error);
    terrain_draw(w, &t, drawing, true, &r);
    double x = terrain_between(&r, -1.2, 1.2);
    if (mor_rng_uniform(&r) < 0.3) x = t.p[1 + (int)(mor_rng_uniform(&r) * (t.count - 2))].x; /* over a corner */
    mor_body_id id = test_body(w, terrain_body_shape(&b), 1.0, mor_v3(x, terrain_between(&r, 1.5, 2.2), 0),
                               mor_quat_axis_angle(mor_v3(0, 0, 1), kind > DISC ? terrain_between(&r, 0, 6) : 0.0));
    bool still = mor_rng_uniform(&r) < 0.3;
    test_velocity(w, id, still ? mor_v3(0, 0, 0) : mor_v3(terrain_between(&r, -4, 4), terrain_between(&r, -6, 2), 0),
                  mor_v3(0, 0, kind == PARTICLE || still ? 0.0 : terrain_between(&r, -5, 5)));
    double start = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    int steps = (int)(fmin(2.0, 3000 * h) / h);
    double first = 0.0;
    if (terrain_depth(&t, &b, w, id) > 0.0) steps = 0; /* it would begin in the ground */
    for (int k = 0; k < steps; k++) {
        mor_step_report report;
        if (mor_world_step(w, &report, &error) != MOR_OK) fail_msg("%s", error.text);
        out.missed += report.status != MOR_SOLVED;
        out.raw = fmax(out.raw, report.raw_penetration);
        double d = terrain_depth(&t, &b, w, id), e = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        if (d > out.deepest) out.deepest = d;
        if (d > 1e-6 && first == 0.0) first = mor_world_time(w);
        out.gain = fmax(out.gain, e - start);
        out.steps++;
        if (verbose) {
            mor_body_state s = test_state(w, id);
            printf("%.5f %.9f %.9f %.6f  v %.6f %.6f %.6f  depth %.2e E %.6f status %d\n", mor_world_time(w), s.com.x,
                   s.com.y, 2 * atan2(s.pose.rotation.z, s.pose.rotation.w), s.velocity.x, s.velocity.y,
                   s.angular_velocity.z, d, e, report.status);
        }
    }
    if (verbose)
        for (int i = 0; i < t.count; i++) printf("# %.9f %.9f\n", t.p[i].x, t.p[i].y);
    snprintf(out.text, sizeof out.text, "seed %llu, %s, %s, %s, %s, h %.2e, mu %.2f, %d steps, first at %.4f",
             (unsigned long long)seed, terrain_drawing_names[drawing], terrain_body_names[kind], formulation, solver, h,
             mu, out.steps, first);
    mor_world_destroy(w);
    return out;
}

/* Below 1e-6 m is what the projection of positions leaves where a polygon turns; points and discs are exact. Returns
 * how many of the runs fail. */
static int check_bodies(int kind, const char* formulation, const char* solver, uint64_t first, int terrains)
{
    double deepest = -HUGE_VAL, gain = 0.0;
    int steps = 0, missed = 0, bad = 0;
    for (int i = 0; i < terrains; i++) {
        outcome o = run(first + (uint64_t)i, i % DRAWINGS, kind, formulation, solver, false);
        bool fails = o.deepest > 1e-6 || o.gain > 1e-6 || o.missed > 0;
        if (fails) printf("  %s: depth %.2e, gain %.2e J, missed %d\n", o.text, o.deepest, o.gain, o.missed);
        bad += fails;
        deepest = fmax(deepest, o.deepest);
        gain = fmax(gain, o.gain);
        steps += o.steps;
        missed += o.missed;
    }
    printf("  %s, %s, %s: %d steps, deepest %.1e m, energy gained %.1e J, %d steps missed\n", formulation, solver,
           terrain_body_names[kind], steps, deepest, gain, missed);
    return bad;
}

static void nothing_gets_below_random_ground(void** state)
{
    (void)state;
    const int terrains = getenv("MOREAU_LONG") ? 200 : 30;
    const uint64_t first = getenv("MOREAU_SEED") ? strtoull(getenv("MOREAU_SEED"), NULL, 10) : 1000;
    const char* formulations[] = { "peg", "peg-exact" };
    int failures = 0;
    for (int s = 0; s < 2; s++)
        for (int f = 0; f < 2; f++)
            for (int kind = 0; kind < BODIES; kind++)
                failures += check_bodies(kind, formulations[f], solvers[s], first, terrains);
    assert_int_equal(failures, 0);
}

/* A particle over a terrain, and its motion in closed form: parabolas, slides, inelastic impacts. */
typedef struct flight {
    double mu;
    mor_vec3 x, v;
    mor_wall walls[TERRAIN_POINTS];
    int wall_count;
    terrain ground;
} flight;

static flight random_flight(mor_rng* r, uint64_t seed)
{
    flight f = { .ground = terrain_random(r, false) };
    const terrain* t = &f.ground;
    f.mu = seed % 2 ? 0.0 : mor_rng_uniform(r);
    f.x = mor_v3(terrain_between(r, -1.2, 1.2), terrain_between(r, 1.1, 1.4), 0);
    f.v = mor_v3(terrain_between(r, -2, 2), terrain_between(r, -2, 0), 0);
    for (int i = 0, last; i + 1 < t->count; i = last) { /* straight parts are one wall: the closed form has no seams */
        mor_vec3 d = mor_sub(t->p[i + 1], t->p[i]);
        for (last = i + 1; last + 1 < t->count; last++) {
            mor_vec3 e = mor_sub(t->p[last + 1], t->p[last]);
            if (fabs(d.x * e.y - d.y * e.x) > 1e-12) break;
        }
        f.walls[f.wall_count++] = mor_wall_between(t->p[i], t->p[last]);
    }
    return f;
}

enum { SAMPLES_MOST = 6400, PHASES = 200 };
#define DURATION 0.8 /* s */

/* Largest distance of the places to the closed form from a start that is `aside` beside f's. */
static double distance_to_exact(const flight* f, mor_vec3 aside, const mor_vec3* places, int count, double h)
{
    mor_phase phases[PHASES];
    int n = mor_particle_exact(f->walls, f->wall_count, mor_add(f->x, aside), f->v, mor_v3(0, -9.81, 0), f->mu,
                               DURATION, phases, PHASES);
    double worst = 0.0;
    for (int k = 0; k < count; k++)
        worst = fmax(worst, mor_norm(mor_sub(places[k], mor_particle_at(phases, n, (k + 1) * h))));
    return worst;
}

/* The end of the first two blows of the closed form that are less than two steps apart, on different walls [s];
 * infinite if there are none. A step knows them as one blow: Moreau's projection on both walls at once, where one after
 * the other leaves other velocities. */
static double two_blows_in_a_step(const flight* f, double h)
{
    mor_phase phases[PHASES];
    int n =
        mor_particle_exact(f->walls, f->wall_count, f->x, f->v, mor_v3(0, -9.81, 0), f->mu, DURATION, phases, PHASES);
    for (int i = 0; i + 1 < n; i++) {
        const mor_phase *a = &phases[i], *b = &phases[i + 1];
        if (a->wall >= 0 && b->wall >= 0 && a->wall != b->wall && b->from - a->from < 2.0 * h) return b->from;
    }
    return INFINITY;
}

/* The least of the largest distances to closed forms from starts up to 4 h aside. */
static double distance_to_nearest(const flight* f, const mor_vec3* places, int count, double h)
{
    double worst = INFINITY;
    for (int i = -4; i <= 4; i++)
        for (int j = -4; j <= 4; j++)
            worst = fmin(worst, distance_to_exact(f, mor_v3(i * h, j * h, 0), places, count, h));
    return worst;
}

/* Largest distance of a particle to its motion in closed form. A particle that meets the tip of a ridge slides on one
 * side or flies off on the other: there the closed form jumps with its start, and a motion 10 h off is held against
 * those from starts up to 4 h aside. Where two blows fall into a step, the motion before them is judged so, and the one
 * after them against closed forms from where it has come to. *jumps counts both. */
static double particle_error(uint64_t seed, int drawing, const char* formulation, const char* solver, double h,
                             int* jumps)
{
    static mor_vec3 places[SAMPLES_MOST], velocities[SAMPLES_MOST];
    mor_rng r = { seed };
    mor_error error = { 0 };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&r);
    flight f = random_flight(&r, seed);
    mor_world* w = test_world_2d(h);
    test_method(w, "formulation", formulation);
    test_method(w, "collision", "features");
    test_method(w, "solver", solver);
    mor_world_set_pair(w, 0, 0, f.mu, 0.0, &error);
    mor_world_set_gravity(w, mor_v3(0, -9.81, 0));
    terrain_draw(w, &f.ground, drawing, true, &r);
    mor_body_id id = test_body(w, mor_geometry_particle(&error), 1.0, f.x, mor_quat_identity());
    test_velocity(w, id, f.v, mor_v3(0, 0, 0));
    const int count = (int)(DURATION / h + 0.5);
    assert_true(count <= SAMPLES_MOST);
    for (int k = 0; k < count; k++) {
        test_steps(w, 1);
        places[k] = test_state(w, id).com;
        velocities[k] = test_state(w, id).velocity;
    }
    mor_world_destroy(w);
    double worst = distance_to_exact(&f, mor_v3(0, 0, 0), places, count, h);
    if (worst < 10.0 * h) return worst;
    ++*jumps;
    worst = fmin(worst, distance_to_nearest(&f, places, count, h));
    const double blows = two_blows_in_a_step(&f, h);
    if (worst < 10.0 * h || !isfinite(blows)) return worst;
    const int before = (int)(blows / h) - 4, after = before + 8; /* the step is up to three late or early */
    if (before < 0 || after >= count) return worst;
    flight later = f;
    later.x = places[after];
    later.v = velocities[after];
    return fmax(distance_to_nearest(&f, places, before, h),
                distance_to_nearest(&later, places + after + 1, count - after - 1, h));
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

/* First order in h, the worst of all runs too. */
static void check_order(const char* formulation, const char* solver, uint64_t first)
{
    enum { RUNS = 24 };
    const double h[3] = { 2e-3, 5e-4, 1.25e-4 };
    double e[3][RUNS];
    int jumps = 0;
    for (int k = 0; k < 3; k++) {
        int bad = 0;
        for (int i = 0; i < RUNS; i++) {
            e[k][i] = particle_error(first + (uint64_t)i, i % DRAWINGS, formulation, solver, h[k], &jumps);
            if (e[k][i] < 10.0 * h[k]) continue;
            printf("  seed %llu, %s, %s, %s, h %.2e: error %.2e m\n", (unsigned long long)first + (unsigned)i,
                   terrain_drawing_names[i % DRAWINGS], formulation, solver, h[k], e[k][i]);
            bad++;
        }
        qsort(e[k], RUNS, sizeof **e, ascending);
        printf("  %s, %s, h %.2e: error median %.2e, upper quarter %.2e, worst %.2e m, %d at a tip\n", formulation,
               solver, h[k], e[k][RUNS / 2], e[k][3 * RUNS / 4], e[k][RUNS - 1], jumps);
        assert_int_equal(bad, 0);
    }
    assert_true(jumps <= 3 * RUNS / 10);
    assert_true(e[0][RUNS / 2] / e[2][RUNS / 2] > 10.0 && e[0][RUNS / 2] / e[2][RUNS / 2] < 24.0);
}

static void particles_follow_the_closed_form_at_first_order(void** state)
{
    (void)state;
    uint64_t first = getenv("MOREAU_SEED") ? strtoull(getenv("MOREAU_SEED"), NULL, 10) : 5000;
    const uint64_t sets = getenv("MOREAU_LONG") ? 9 : 1;
    static const char* const formulations[] = { "peg-exact", "peg" };
    for (uint64_t set = 0; set < sets; set++)
        for (int f = 0; f < 2; f++)
            for (int s = 0; s < 2; s++) check_order(formulations[f], solvers[s], first + 24 * set);
}

/* MOREAU_RUN="seed drawing body formulation solver": one run, told step by step. */
static bool told_run(void)
{
    const char* text = getenv("MOREAU_RUN");
    unsigned long long seed;
    int drawing, kind;
    char formulation[32], solver[32];
    if (!text || sscanf(text, "%llu %d %d %31s %31s", &seed, &drawing, &kind, formulation, solver) != 5) return false;
    outcome o = run(seed, drawing, kind, formulation, solver, true);
    printf("%s: depth %.2e, gain %.2e, missed %d\n", o.text, o.deepest, o.gain, o.missed);
    return true;
}

int main(void)
{
    if (told_run()) return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_follow_the_closed_form_at_first_order),
        cmocka_unit_test(nothing_gets_below_random_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
