/* Exact geometry over random concave ground: particles, discs, squares and polygons never get below it.
 *
 * A terrain is a row of points between two walls, with slopes, sharp valleys, steps and flat parts, drawn as one chain,
 * as many chains that meet end to end, or as flush tiles (one trapezoid under each segment). After every step the body
 * is looked at against the row of points itself, which knows nothing of pieces, sides and planes: no corner of the body
 * below the ground, no ridge of the ground inside the body. Energy never rises above that of the start. MOREAU_LONG
 * runs 200 terrains instead of 30; MOREAU_SEED is the first of them. Solvers take turns: impulses at a corner are not
 * unique, and each ends in others. */
#include "common/worlds.h"
#include "lab/particle.h"
#include "model/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ONE_CHAIN, MANY_CHAINS, TILES, DRAWINGS };
enum { PARTICLE, DISC, SQUARE, POLYGON, BODIES };
enum { MOST = 40 };
static const char* const drawing_names[] = { "one chain", "many chains", "flush tiles" };
static const char* const body_names[] = { "particle", "disc", "square", "polygon" };

typedef struct terrain {
    int count;
    mor_vec3 p[MOST];
} terrain;

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

/* From left to right, steps only where they may be (tiles have no width there). */
static terrain random_terrain(mor_rng* r, bool steps)
{
    terrain t = { 0 };
    int inner = 4 + (int)(10.0 * mor_rng_uniform(r));
    double x = -1.5, y = 0.0;
    t.p[t.count++] = mor_v3(-2.5, 3.0, 0);
    t.p[t.count++] = mor_v3(x, y, 0);
    for (int i = 0; i < inner; i++) {
        double pick = mor_rng_uniform(r);
        double dx = 3.0 / inner, dy = between(r, -1.2, 1.2) * dx;
        if (pick < 0.2) dy = 0.0;
        else if (pick < 0.5) dy = between(r, -4.0, 4.0) * dx;
        if (steps && pick > 0.85) {
            t.p[t.count++] = mor_v3(x, y + between(r, -0.4, 0.4), 0);
            y = t.p[t.count - 1].y;
        }
        x += dx;
        y = fmax(-0.9, fmin(0.9, y + dy));
        t.p[t.count++] = mor_v3(x, y, 0);
    }
    t.p[t.count++] = mor_v3(x + 1.0, 3.0, 0);
    return t;
}

/* How far below the ground a point is (> 0), vertically; at a step by the lower side. */
static double below(const terrain* t, mor_vec3 q)
{
    double least = -HUGE_VAL;
    for (int i = 0; i + 1 < t->count; i++) {
        mor_vec3 a = t->p[i], b = t->p[i + 1];
        if (b.x - a.x < 1e-12 || q.x < a.x - 1e-7 || q.x > b.x + 1e-7) continue;
        double height = a.y + (b.y - a.y) * fmin(1.0, fmax(0.0, (q.x - a.x) / (b.x - a.x)));
        double depth = height - q.y;
        least = least == -HUGE_VAL ? depth : fmin(least, depth);
    }
    return least;
}

/* Distance of a point to the ground's line. */
static double distance(const terrain* t, mor_vec3 q)
{
    double least = HUGE_VAL;
    for (int i = 0; i + 1 < t->count; i++) {
        mor_vec3 e = mor_sub(t->p[i + 1], t->p[i]), d = mor_sub(q, t->p[i]);
        double u = fmin(1.0, fmax(0.0, mor_dot(d, e) / mor_dot(e, e)));
        least = fmin(least, mor_norm(mor_madd(d, -u, e)));
    }
    return least;
}

typedef struct body {
    int kind, corners;
    double radius;
    mor_vec3 corner[12];
} body;

static body random_body(mor_rng* r, int kind)
{
    body b = { .kind = kind, .radius = between(r, 0.05, 0.3) };
    if (kind == SQUARE || kind == POLYGON) {
        b.corners = kind == SQUARE ? 4 : 3 + (int)(6.0 * mor_rng_uniform(r));
        for (int i = 0; i < b.corners; i++) {
            double a = 6.283185307179586 * (i + (kind == SQUARE ? 0.0 : between(r, -0.3, 0.3))) / b.corners;
            b.corner[i] = mor_v3(b.radius * cos(a), b.radius * sin(a), 0);
        }
    }
    return b;
}

/* How deep the body is in the ground. */
static double depth(const terrain* t, const body* b, const mor_world* w, mor_body_id id)
{
    mor_body_state s = test_state(w, id);
    if (b->kind == PARTICLE) {
        double d = below(t, s.com);
        return d > 0.0 ? fmin(d, distance(t, s.com)) : d;
    }
    if (b->kind == DISC) {
        double d = distance(t, s.com);
        return b->radius + (below(t, s.com) > 0.0 ? d : -d);
    }
    double worst = -HUGE_VAL;
    mor_pose pose = s.pose;
    mor_vec3 c[12];
    for (int i = 0; i < b->corners; i++) {
        c[i] = mor_pose_point(&pose, b->corner[i]);
        double d = below(t, c[i]);
        worst = fmax(worst, d > 0.0 ? fmin(d, distance(t, c[i])) : -HUGE_VAL);
    }
    for (int k = 0; k < t->count; k++) {
        double inside = HUGE_VAL;
        for (int i = 0; i < b->corners; i++) {
            mor_vec3 e = mor_sub(c[(i + 1) % b->corners], c[i]), d = mor_sub(t->p[k], c[i]);
            inside = fmin(inside, (e.x * d.y - e.y * d.x) / mor_norm(e));
        }
        worst = fmax(worst, inside);
    }
    return worst;
}

static void draw(mor_world* w, const terrain* t, int drawing, mor_rng* r)
{
    mor_error error = { 0 };
    for (int i = 0; i + 1 < t->count;) {
        int n = drawing == ONE_CHAIN ? t->count - 1 : drawing == TILES ? 1 : 1 + (int)(2.5 * mor_rng_uniform(r));
        if (i + n > t->count - 1) n = t->count - 1 - i;
        mor_geometry* g;
        if (drawing == TILES) {
            mor_vec3 a = t->p[i], b = t->p[i + 1], q[4] = { { a.x, -3, 0 }, { b.x, -3, 0 }, b, a };
            g = mor_geometry_polygon(q, 4, &error);
        } else {
            g = mor_geometry_chain(t->p + i, n + 1, &error);
        }
        if (!g) fail_msg("%s", error.text);
        test_fixed(w, g, mor_v3(0, 0, 0), mor_quat_identity());
        i += n;
    }
}

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
    terrain t = random_terrain(&r, drawing != TILES);
    body b = random_body(&r, kind);
    mor_world* w = test_world_2d(h);
    test_method(w, "formulation", formulation);
    test_method(w, "collision", "features");
    test_method(w, "solver", solver);
    mor_world_set_pair(w, 0, 0, mu, 0.0, &error);
    draw(w, &t, drawing, &r);
    mor_geometry* g = kind == PARTICLE ? mor_geometry_particle(&error)
                      : kind == DISC   ? mor_geometry_disc(b.radius, &error)
                                       : mor_geometry_polygon(b.corner, b.corners, &error);
    double x = between(&r, -1.2, 1.2);
    if (mor_rng_uniform(&r) < 0.3) x = t.p[1 + (int)(mor_rng_uniform(&r) * (t.count - 2))].x; /* over a corner */
    mor_body_id id = test_body(w, g, 1.0, mor_v3(x, between(&r, 1.5, 2.2), 0),
                               mor_quat_axis_angle(mor_v3(0, 0, 1), kind > DISC ? between(&r, 0, 6) : 0.0));
    bool still = mor_rng_uniform(&r) < 0.3;
    test_velocity(w, id, still ? mor_v3(0, 0, 0) : mor_v3(between(&r, -4, 4), between(&r, -6, 2), 0),
                  mor_v3(0, 0, kind == PARTICLE || still ? 0.0 : between(&r, -5, 5)));
    double start = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    int steps = (int)(fmin(2.0, 3000 * h) / h);
    double first = 0.0;
    if (depth(&t, &b, w, id) > 0.0) steps = 0; /* it would begin in the ground */
    for (int k = 0; k < steps; k++) {
        mor_step_report report;
        if (mor_world_step(w, &report, &error) != MOR_OK) fail_msg("%s", error.text);
        out.missed += report.status != MOR_SOLVED;
        out.raw = fmax(out.raw, report.raw_penetration);
        double d = depth(&t, &b, w, id), e = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
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
             (unsigned long long)seed, drawing_names[drawing], body_names[kind], formulation, solver, h, mu, out.steps,
             first);
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
           body_names[kind], steps, deepest, gain, missed);
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
    mor_wall walls[MOST];
    int wall_count;
    terrain ground;
} flight;

static flight random_flight(mor_rng* r, uint64_t seed)
{
    flight f = { .ground = random_terrain(r, false) };
    const terrain* t = &f.ground;
    f.mu = seed % 2 ? 0.0 : mor_rng_uniform(r);
    f.x = mor_v3(between(r, -1.2, 1.2), between(r, 1.1, 1.4), 0);
    f.v = mor_v3(between(r, -2, 2), between(r, -2, 0), 0);
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

/* Largest distance of a particle to its motion in closed form. A particle that meets the tip of a ridge slides on one
 * side or flies off on the other: there the closed form jumps with its start, and a motion 10 h off is held against
 * those from starts up to 4 h aside; *jumps counts them. */
static double particle_error(uint64_t seed, int drawing, const char* formulation, const char* solver, double h,
                             int* jumps)
{
    static mor_vec3 places[SAMPLES_MOST];
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
    draw(w, &f.ground, drawing, &r);
    mor_body_id id = test_body(w, mor_geometry_particle(&error), 1.0, f.x, mor_quat_identity());
    test_velocity(w, id, f.v, mor_v3(0, 0, 0));
    const int count = (int)(DURATION / h + 0.5);
    assert_true(count <= SAMPLES_MOST);
    for (int k = 0; k < count; k++) {
        test_steps(w, 1);
        places[k] = test_state(w, id).com;
    }
    mor_world_destroy(w);
    double worst = distance_to_exact(&f, mor_v3(0, 0, 0), places, count, h);
    if (worst < 10.0 * h) return worst;
    ++*jumps;
    for (int i = -4; i <= 4; i++)
        for (int j = -4; j <= 4; j++)
            worst = fmin(worst, distance_to_exact(&f, mor_v3(i * h, j * h, 0), places, count, h));
    return worst;
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
                   drawing_names[i % DRAWINGS], formulation, solver, h[k], e[k][i]);
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

/* ---------------------------------------------------------------------------------- event-driven judge */

/* A body over a terrain, its start drawn from the seed. */
typedef struct start {
    terrain ground;
    body body;
    double mu;
    mor_vec3 x, v;
    double angle, spin;
} start;

static start random_start(uint64_t seed, int kind)
{
    mor_rng r = { seed };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&r);
    start s = { .ground = random_terrain(&r, false), .body = random_body(&r, kind) };
    s.mu = seed % 2 ? 0.0 : mor_rng_uniform(&r);
    s.x = mor_v3(between(&r, -1.2, 1.2), between(&r, 1.3, 1.5), 0);
    s.v = mor_v3(between(&r, -2, 2), between(&r, -2, 0), 0);
    s.angle = kind > DISC ? between(&r, 0, 6) : 0.0;
    s.spin = kind > PARTICLE ? between(&r, -3, 3) : 0.0;
    return s;
}

static mor_world* world_of(const start* s, int drawing, double h, mor_body_id* id)
{
    mor_error error = { 0 };
    mor_rng r = { 77 };
    mor_world* w = test_world_2d(h);
    mor_world_set_pair(w, 0, 0, s->mu, 0.0, &error);
    draw(w, &s->ground, drawing, &r);
    const body* b = &s->body;
    mor_geometry* g = b->kind == PARTICLE ? mor_geometry_particle(&error)
                      : b->kind == DISC   ? mor_geometry_disc(b->radius, &error)
                                          : mor_geometry_polygon(b->corner, b->corners, &error);
    *id = test_body(w, g, 1.0, s->x, mor_quat_axis_angle(mor_v3(0, 0, 1), s->angle));
    test_velocity(w, *id, s->v, mor_v3(0, 0, s->spin));
    return w;
}

typedef struct place {
    mor_vec3 x;
    mor_quat q;
} place;

enum { LOOKS = 40 };
#define LOOK 0.02 /* s */

static place place_of(const mor_world* w, mor_body_id id)
{
    mor_body_state s = test_state(w, id);
    return (place){ s.com, s.pose.rotation };
}

/* Places every 20 ms by the event-driven integrator; returns how many before it refuses, with its sentence. */
static int judged(const start* s, place* places, char* why, size_t room)
{
    mor_body_id id;
    mor_error error = { 0 };
    mor_world* w = world_of(s, ONE_CHAIN, LOOK, &id);
    test_method(w, "integrator", "event-driven");
    int n = 0;
    for (; n < LOOKS; n++) {
        if (mor_world_step(w, NULL, &error) != MOR_OK) break;
        places[n] = place_of(w, id);
    }
    if (n < LOOKS) snprintf(why, room, "%.*s", (int)room - 1, error.text);
    mor_world_destroy(w);
    return n;
}

/* Distance of two motions at look k, the turn at the rim counted in. */
static double apart(const place* a, const place* b, int k, double radius)
{
    mor_quat d = mor_quat_mul(a[k].q, mor_quat_conj(b[k].q));
    return mor_norm(mor_sub(a[k].x, b[k].x)) + 2.0 * radius * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
}

/* How far the judge's own motion moves at each look when its start moves by up to 4 h: what h in the place may become.
 * A body that meets a tip, or spins fast, is sensitive; where this grows beyond `most` the run is judged no further.
 * Returns the looks that can be judged. */
static int tolerance_of(const start* s, const place* judge, int looks, double h, double most, double* allowed)
{
    static const double aside[8][2] = { { 4, 0 }, { -4, 0 }, { 0, 4 },  { 0, -4 },
                                        { 2, 2 }, { -2, 2 }, { 2, -2 }, { -2, -2 } };
    char why[200];
    for (int k = 0; k < looks; k++) allowed[k] = 10.0 * h;
    for (int i = 0; i < 8; i++) {
        place other[LOOKS];
        start moved = *s;
        moved.x = mor_add(s->x, mor_v3(aside[i][0] * h, aside[i][1] * h, 0));
        int n = judged(&moved, other, why, sizeof why);
        if (n < looks) looks = n;
        for (int k = 0; k < looks; k++)
            allowed[k] = fmax(allowed[k], 10.0 * h + 3.0 * apart(judge, other, k, s->body.radius));
    }
    int n = 0;
    while (n < looks && allowed[n] <= most) n++;
    return n;
}

/* Largest error over what is allowed, and the error itself, over the first `looks`. */
static double judge_run(const start* s, const place* judge, int looks, const double* allowed, int drawing,
                        const char* formulation, const char* solver, double h, double* error)
{
    mor_body_id id;
    mor_world* w = world_of(s, drawing, h, &id);
    test_method(w, "formulation", formulation);
    test_method(w, "collision", "features");
    test_method(w, "solver", solver);
    place got[LOOKS];
    double worst = 0.0;
    *error = 0.0;
    for (int k = 0; k < looks; k++) {
        test_steps(w, (int)(LOOK / h + 0.5));
        got[k] = place_of(w, id);
        double off = apart(judge, got, k, s->body.radius);
        *error = fmax(*error, off);
        worst = fmax(worst, off / allowed[k]);
    }
    mor_world_destroy(w);
    return worst;
}

static const char* const exact_ones[] = { "peg", "peg-exact" };

typedef struct tally {
    double error[2][3][100]; /* formulation, h, run */
    int bad, looks, whole, refused;
    char why[200];
} tally;

static void judge_start(uint64_t seed, int kind, int run, tally* t)
{
    static const double h[3] = { 2e-3, 5e-4, 1.25e-4 };
    start s = random_start(seed, kind);
    place judge[LOOKS];
    int looks = judged(&s, judge, t->why, sizeof t->why);
    t->refused += looks < LOOKS;
    for (int k = 0; k < 3; k++) {
        double allowed[LOOKS];
        int n = tolerance_of(&s, judge, looks, h[k], 0.1, allowed);
        if (k == 2) t->looks += n, t->whole += n == LOOKS;
        for (int f = 0; f < 2; f++) {
            double* error = &t->error[f][k][run];
            double ratio = judge_run(&s, judge, n, allowed, run % DRAWINGS, exact_ones[f], "auto", h[k], error);
            if (ratio <= 1.0) continue;
            printf("  seed %llu, %s, %s, %s, h %.2e: error %.2e m, %.1f times what is allowed\n",
                   (unsigned long long)seed, drawing_names[run % DRAWINGS], body_names[kind], exact_ones[f], h[k],
                   *error, ratio);
            t->bad++;
        }
    }
}

/* Every run within 10 h and three times what a start 4 h aside makes of the judge's own motion; of squares and polygons
 * all but one in eight, which land on several corners in turn (docs/methods/peg.md says what is known); medians at
 * first order. */
static void check_body(int kind, uint64_t first, int runs)
{
    static tally t;
    t = (tally){ 0 };
    assert_true(runs <= 100);
    for (int i = 0; i < runs; i++) judge_start(first + (uint64_t)i, kind, i, &t);
    for (int f = 0; f < 2; f++) {
        for (int k = 0; k < 3; k++) qsort(t.error[f][k], (size_t)runs, sizeof(double), ascending);
        const double* median[3] = { &t.error[f][0][runs / 2], &t.error[f][1][runs / 2], &t.error[f][2][runs / 2] };
        printf("  %s, %s: errors %.2e, %.2e, %.2e m (medians of %d)\n", exact_ones[f], body_names[kind], *median[0],
               *median[1], *median[2], runs);
        assert_true(runs < 24 || *median[0] / *median[2] > 7.0);
    }
    printf(
        "  %s: %d of %d judged to the end, %.0f %% of the time; %d of %d runs beyond what is allowed; refused %d%s%s\n",
        body_names[kind], t.whole, runs, 100.0 * t.looks / (runs * LOOKS), t.bad, 6 * runs, t.refused,
        t.refused ? ": " : "", t.refused ? t.why : "");
    fflush(stdout);
    assert_true(kind < SQUARE ? t.bad == 0 : 8 * t.bad <= 6 * runs);
    assert_true(t.looks > 6 * runs * LOOKS / 10);
}

static void bodies_follow_the_event_driven_reference_at_first_order(void** state)
{
    (void)state;
    uint64_t first = getenv("MOREAU_SEED") ? strtoull(getenv("MOREAU_SEED"), NULL, 10) : 9000;
    for (int kind = PARTICLE; kind < BODIES; kind++) check_body(kind, first, getenv("MOREAU_LONG") ? 50 : 4);
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
        cmocka_unit_test(bodies_follow_the_event_driven_reference_at_first_order),
        cmocka_unit_test(nothing_gets_below_random_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
