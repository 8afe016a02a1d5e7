/* Calibration: measured tables, plans, errors, optimisers, and parameters that are known because the data were made
 * with them (synthetic truth).
 *
 * Expected values: the truth that made the data, closed forms of errors of shifted data, and a second run. */
#include "common/worlds.h"
#include "io/hdf5/h5.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/moreau_calibrate_XXXXXX";

static const char* path_of(const char* name)
{
    static char paths[8][640];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_text(const char* name, const char* text)
{
    FILE* f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static double normal(mor_rng* r)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += mor_rng_uniform(r);
    return sum;
}

static const char ball_scene[] =
    "moreau: 1\ntime: { step: 0.005, end: 1 }\nmaterials:\n"
    "  floor: { friction: 0.25, restitution: 0.3 }\n  ball: { friction: 0.25, restitution: 0.3 }\n"
    "bodies:\n"
    "  - { name: ground, fixed: true, shape: { plane: {} }, material: floor }\n"
    "  - { name: ball, shape: { sphere: 0.1 }, mass: 0.5, material: ball, position: [0, 0, 0.3] }\n";

/* Tosses of the ball with true friction and restitution, noise added: CSV. */
static void make_data(const char* name, int runs, int samples, double mu, double e, double noise, uint64_t seed)
{
    mor_rng r = { seed };
    char sets[4][80];
    const char* overrides[] = { sets[0], sets[1], sets[2], sets[3], NULL };
    mor_error error = { 0 };
    snprintf(sets[0], sizeof sets[0], "materials.ball.friction=%.17g", mu);
    snprintf(sets[1], sizeof sets[1], "materials.floor.friction=%.17g", mu);
    snprintf(sets[2], sizeof sets[2], "materials.ball.restitution=%.17g", e);
    snprintf(sets[3], sizeof sets[3], "materials.floor.restitution=%.17g", e);
    mor_scene* scene = mor_scene_parse(ball_scene, strlen(ball_scene), "ball.yaml", overrides, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    FILE* f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs("run,t,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", f);
    for (int i = 0; i < runs; i++) {
        mor_world* w = mor_scene_build(scene, 1, &error);
        mor_body_id b = mor_world_find_body(w, "ball");
        mor_body_state s = test_state(w, b);
        s.pose.position = mor_v3(0, 0, 0.15 + 0.3 * mor_rng_uniform(&r));
        s.velocity = mor_v3(10 * mor_rng_uniform(&r) - 5, 10 * mor_rng_uniform(&r) - 5, -mor_rng_uniform(&r));
        s.angular_velocity = mor_v3(20 * mor_rng_uniform(&r) - 10, 20 * mor_rng_uniform(&r) - 10, 0);
        mor_body_set_state(w, b, &s);
        for (int k = 0; k < samples; k++) {
            mor_body_state n = test_state(w, b);
            mor_vec3 x = n.pose.position, v = n.velocity, o = n.angular_velocity;
            mor_quat q = n.pose.rotation;
            fprintf(f, "%d,%.9f,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n", i + 1,
                    0.01 * k, x.x + noise * normal(&r), x.y + noise * normal(&r), x.z + noise * normal(&r), q.w, q.x,
                    q.y, q.z, v.x, v.y, v.z, o.x, o.y, o.z);
            test_steps(w, 2);
        }
        mor_world_destroy(w);
    }
    fclose(f);
    mor_scene_destroy(scene);
}

static const char plan_head[] =
    "moreau-calibrate: 1\nscene: ball.yaml\n"
    "data: { file: data.csv, run: run, time: t, columns: { bodies.ball.position: [x, y, z], bodies.ball.quaternion: "
    "[qw, qx, qy, qz] } }\n"
    "initial: { bodies.ball.velocity: [vx, vy, vz], bodies.ball.angular_velocity: [wx, wy, wz] }\n";

static const char two_parameters[] =
    "parameters:\n"
    "  - { name: mu, path: [materials.ball.friction, materials.floor.friction], range: [0.02, 0.6] }\n"
    "  - { name: e, path: [materials.ball.restitution, materials.floor.restitution], range: [0.05, 0.95] }\n";

static void write_plan(const char* name, const char* rest)
{
    char text[4000];
    snprintf(text, sizeof text, "%s%s", plan_head, rest);
    write_text(name, text);
    write_text("ball.yaml", ball_scene);
}

static mor_calibration* calibrate(const char* plan, int jobs)
{
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    if (mor_calibration_read(c, path_of(plan), NULL, NULL, &error) ||
        mor_calibration_run(c, jobs, NULL, false, NULL, NULL, &error))
        fail_msg("%s", error.text);
    return c;
}

static void drop(mor_calibration* c)
{
    mor_calibration_free(c);
    free(c);
}

/* ------------------------------------------------------------------------------------ truth */

static void the_truth_lies_in_the_intervals(void** state)
{
    (void)state;
    int seeds = getenv("MOREAU_LONG") ? 20 : 3, found = 0;
    for (int s = 0; s < seeds; s++) {
        mor_rng r = { (uint64_t)s * 7919u + 3u };
        double mu = 0.05 + 0.2 * mor_rng_uniform(&r), e = 0.3 + 0.5 * mor_rng_uniform(&r);
        make_data("data.csv", 10, 40, mu, e, 0.002, (uint64_t)s + 100u);
        char rest[1000];
        snprintf(
            rest, sizeof rest,
            "%serror: { rotation_weight: 0.02 }\nsplit: { train: 8 }\noptimiser: { starts: 2, evaluations: 120 }\n",
            two_parameters);
        write_plan("plan.yaml", rest);
        mor_calibration* c = calibrate("plan.yaml", 2);
        const mor_cal_result* v = &c->results[0];
        bool in = v->intervals[0].low <= mu && mu <= v->intervals[0].high && v->intervals[1].low <= e &&
                  e <= v->intervals[1].high;
        found += in;
        printf("  mu %.4f: %.4f [%.4f, %.4f]   e %.4f: %.4f [%.4f, %.4f]%s\n", mu, v->x[0], v->intervals[0].low,
               v->intervals[0].high, e, v->x[1], v->intervals[1].low, v->intervals[1].high, in ? "" : "  outside");
        assert_true(v->intervals[0].identifiable && v->intervals[1].identifiable);
        assert_true(fabs(v->x[0] - mu) < 0.02 && fabs(v->x[1] - e) < 0.02);
        assert_true(v->intervals[0].high - v->intervals[0].low < 0.15);
        drop(c);
    }
    if (seeds == 20) assert_true(found >= 18);
    else assert_true(found >= seeds - 1);
}

/* Two coefficients of which only the product acts. */
static void what_cannot_be_told_apart_is_told(void** state)
{
    (void)state;
    make_data("data.csv", 6, 30, 0.15, 0.5, 0.001, 9);
    write_plan("plan.yaml", "parameters:\n"
                            "  - { path: materials.ball.friction, range: [0.05, 0.5] }\n"
                            "  - { path: materials.floor.friction, range: [0.05, 0.5] }\n"
                            "  - { path: bodies.ball.mass, range: [0.2, 1] }\n"
                            "optimiser: { starts: 2, evaluations: 150 }\n");
    mor_calibration* c = calibrate("plan.yaml", 2);
    const mor_cal_result* v = &c->results[0];
    for (int i = 0; i < 3; i++) {
        printf("  %s %.3g [%.3g, %.3g] %s\n", c->parameters[i].name, v->x[i], v->intervals[i].low, v->intervals[i].high,
               v->intervals[i].why);
        assert_false(v->intervals[i].identifiable);
        assert_true(v->intervals[i].why[0]);
    }
    drop(c);
}

/* ----------------------------------------------------------------------------------- errors */

static void errors_of_shifted_data_are_closed_forms(void** state)
{
    (void)state;
    make_data("data.csv", 3, 20, 0.25, 0.3, 0.0, 4);
    static const char* const errors[] = { "pose", "eq18", "warp" };
    for (int k = 0; k < 3; k++) {
        char rest[1200];
        /* the data in units that are wrong by nothing: x in millimetres would be scale 0.001 */
        snprintf(rest, sizeof rest,
                 "%serror: { name: %s, rotation_weight: 0.5 }\noptimiser: { starts: 1, evaluations: 1 }\n"
                 "intervals: { bootstrap: 0 }\n",
                 two_parameters, errors[k]);
        write_plan("plan.yaml", rest);
        mor_calibration* c = calloc(1, sizeof *c);
        mor_error error = { 0 };
        if (mor_calibration_read(c, path_of("plan.yaml"), NULL, NULL, &error)) fail_msg("%s", error.text);
        mor_cal_score scores[3];
        const double x[] = { 0.25, 0.3 };
        c->jobs = 1;
        assert_int_equal(mor_cal_simulate(c, 0, x, true, scores, NULL, &error), MOR_OK);
        for (int i = 0; i < 3; i++) test_near(scores[i].error, 0, 1e-9, "error of the truth");
        /* all later samples 3 mm aside */
        for (int row = 0; row < c->data.row_count; row++)
            if (row % 20) c->data.values[(size_t)row * (size_t)c->data.column_count + 2] += 0.003;
        assert_int_equal(mor_cal_simulate(c, 0, x, true, scores, NULL, &error), MOR_OK);
        for (int i = 0; i < 3 && k < 2; i++)
            test_near(scores[i].error, k == 0 ? 0.003 : 0.003 * 0.003, 1e-9, "error of shifted data");
        for (int i = 0; i < 3 && k == 2; i++) assert_true(scores[i].error <= 0.003 + 1e-12);
        /* a sample that is missing does not count */
        for (int i = 0; i < 3; i++) c->data.values[(size_t)(20 * i + 7) * (size_t)c->data.column_count + 2] = NAN;
        assert_int_equal(mor_cal_simulate(c, 0, x, true, scores, NULL, &error), MOR_OK);
        for (int i = 0; i < 3 && k == 0; i++) test_near(scores[i].error, 0.003, 1e-9, "with a missing sample");
        drop(c);
    }
}

/* Noise of the first sample does not matter when the flight is fitted. */
static void initial_states_are_fitted_over_the_flight(void** state)
{
    (void)state;
    make_data("data.csv", 4, 12, 0.25, 0.3, 0.0, 21);
    char rest[1000];
    snprintf(rest, sizeof rest, "%soptimiser: { starts: 1, evaluations: 1 }\nintervals: { bootstrap: 0 }\n",
             two_parameters);
    write_plan("plan.yaml", rest);
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    if (mor_calibration_read(c, path_of("plan.yaml"), NULL, NULL, &error)) fail_msg("%s", error.text);
    const double x[] = { 0.25, 0.3 };
    c->jobs = 1;
    assert_int_equal(mor_cal_find_flights(c, &error), MOR_OK);
    for (int i = 0; i < 4; i++) /* velocities that are wrong by 5 cm/s and half a radian per second */
        for (int d = 0; d < 6; d++)
            c->data.values[(size_t)(12 * i) * (size_t)c->data.column_count + 9 + (size_t)d] += d < 3 ? 0.05 : 0.5;
    for (int fit = 0; fit < 2; fit++) {
        mor_cal_score scores[4];
        c->fit_initial = fit;
        assert_int_equal(mor_cal_simulate(c, 0, x, true, scores, NULL, &error), MOR_OK);
        for (int i = 0; i < 4; i++) {
            if (c->runs[i].flight < 4) continue;
            if (fit && !(scores[i].error < 1e-6))
                fail_msg("run %d, flight %d: %g", i, c->runs[i].flight, scores[i].error);
            if (fit) continue;
            assert_true(scores[i].error > 1e-3);
        }
    }
    drop(c);
}

/* ---------------------------------------------------------------------------------- journal */

typedef struct limit {
    int left;
} limit;

static bool stop_after(void* user, const mor_calibration* c, int method, int evaluations, double best)
{
    (void)c, (void)method, (void)evaluations, (void)best;
    return --((limit*)user)->left > 0;
}

static void a_journal_goes_on_to_the_same_bits(void** state)
{
    (void)state;
    make_data("data.csv", 5, 20, 0.2, 0.5, 0.002, 5);
    char rest[1000];
    snprintf(rest, sizeof rest, "%ssplit: { train: 3 }\noptimiser: { starts: 2, evaluations: 40 }\n", two_parameters);
    write_plan("plan.yaml", rest);
    mor_calibration *whole = calibrate("plan.yaml", 1), *cut = calloc(1, sizeof *cut);
    mor_error error = { 0 };
    remove(path_of("journal"));
    limit at = { 17 };
    assert_int_equal(mor_calibration_read(cut, path_of("plan.yaml"), NULL, NULL, &error), MOR_OK);
    assert_int_equal(mor_calibration_run(cut, 2, path_of("journal"), true, stop_after, &at, &error), MOR_STOPPED);
    drop(cut);
    FILE* f = fopen(path_of("journal"), "a");
    fputs("E 0 0 0x1p-3  0x1p", f); /* a line that was cut */
    fclose(f);
    cut = calloc(1, sizeof *cut);
    assert_int_equal(mor_calibration_read(cut, path_of("plan.yaml"), NULL, NULL, &error), MOR_OK);
    if (mor_calibration_run(cut, 2, path_of("journal"), true, NULL, NULL, &error)) fail_msg("%s", error.text);
    const mor_cal_result *a = &whole->results[0], *b = &cut->results[0];
    assert_int_equal(b->evaluations, a->evaluations);
    for (int i = 0; i < 2; i++) {
        assert_true(a->x[i] == b->x[i] && a->intervals[i].low == b->intervals[i].low);
        assert_true(a->intervals[i].high == b->intervals[i].high);
    }
    assert_true(a->test[0] == b->test[0] && a->train[0] == b->train[0]);
    drop(cut);
    /* of another plan: refused */
    snprintf(rest, sizeof rest, "%ssplit: { train: 2 }\n", two_parameters);
    write_plan("plan.yaml", rest);
    cut = calloc(1, sizeof *cut);
    assert_int_equal(mor_calibration_read(cut, path_of("plan.yaml"), NULL, NULL, &error), MOR_OK);
    assert_int_equal(mor_calibration_run(cut, 1, path_of("journal"), true, NULL, NULL, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "another plan"));
    drop(cut);
    drop(whole);
}

static void two_methods(char* rest, size_t size, const char* split)
{
    snprintf(rest, size,
             "%ssplit: %s\noptimiser: { starts: 1, evaluations: 15 }\nintervals: { bootstrap: 0 }\n"
             "methods: [ { name: hard }, { name: soft, set: { materials.ball.impact: poisson } } ]\n",
             two_parameters, split);
}

static char* table_of(const mor_calibration* c)
{
    char* text = NULL;
    size_t size = 0;
    FILE* f = open_memstream(&text, &size);
    assert_non_null(f);
    mor_calibration_write_csv(c, f);
    mor_calibration_write_html(c, f);
    fclose(f);
    return text;
}

/* Journals of three shards, put together, make the bytes of one run; without one of them it is told. */
static void shards_make_the_same_bytes(void** state)
{
    (void)state;
    char rest[1000];
    make_data("data.csv", 6, 20, 0.2, 0.5, 0.002, 5);
    two_methods(rest, sizeof rest, "{ train: 3, repeats: 2 }");
    write_plan("plan.yaml", rest);
    mor_calibration* whole = calibrate("plan.yaml", 2);
    char names[3][640];
    const char* journals[3] = { names[0], names[1], names[2] };
    mor_error error = { 0 };
    for (int i = 0; i < 3; i++) {
        mor_calibration* part = calloc(1, sizeof *part);
        snprintf(names[i], sizeof names[i], "%s/part%d", folder, i);
        assert_int_equal(mor_calibration_read(part, path_of("plan.yaml"), NULL, NULL, &error), MOR_OK);
        part->shard = i + 1, part->shards = 3;
        assert_int_equal(mor_calibration_run(part, 1, names[i], false, NULL, NULL, &error), MOR_OK);
        drop(part);
    }
    for (int count = 2; count <= 3; count++) {
        mor_calibration* all = calloc(1, sizeof *all);
        assert_int_equal(mor_calibration_read(all, path_of("plan.yaml"), NULL, NULL, &error), MOR_OK);
        all->merged = journals, all->merged_count = count;
        mor_code code = mor_calibration_run(all, 1, NULL, false, NULL, NULL, &error);
        assert_int_equal(code, count == 3 ? MOR_OK : MOR_BAD_INPUT);
        if (count == 2) assert_non_null(strstr(error.text, "not whole"));
        char *a = table_of(whole), *b = table_of(all);
        if (count == 3) {
            char *from = strstr(a, "evaluations"), *same = strstr(b, "evaluations");
            assert_non_null(from);
            assert_int_equal(strcspn(from, "<"), strcspn(same, "<"));
            assert_memory_equal(from, same, strcspn(from, "<"));
        }
        free(a), free(b);
        drop(all);
    }
    drop(whole);
}

/* Every split draws its own training runs; the summary is the mean over held-out runs. */
static void splits_are_summarised(void** state)
{
    (void)state;
    char rest[1000];
    make_data("data.csv", 6, 20, 0.2, 0.5, 0.002, 5);
    two_methods(rest, sizeof rest, "{ train: 5, repeats: 4, seed: 3 }");
    write_plan("plan.yaml", rest);
    mor_calibration* c = calibrate("plan.yaml", 2);
    double sum = 0.0;
    int runs = 0, different = 0;
    for (int i = 0; i < 6; i++) {
        double own = 0.0;
        int count = 0;
        for (int s = 0; s < 4; s++) {
            different += s > 0 && c->trains[6 * s + i] != c->trains[i];
            if (c->trains[6 * s + i]) continue;
            own += c->all[MOR_CAL_METHODS * s + 1].scores[i].position, count++;
        }
        if (count) sum += own / count, runs++;
    }
    assert_true(different > 0 && runs > 1);
    assert_true(fabs(c->summaries[1].test[1] - sum / runs) < 1e-12);
    assert_true(c->summaries[1].low[1] <= sum / runs && c->summaries[1].high[1] >= sum / runs);
    assert_true(fabs(c->summaries[0].ratio[0] - 1.0) < 1e-15);
    drop(c);
}

/* Fitted to a few samples after the contact first: the truth all the same, and points of both lengths are kept. */
static void short_horizons_come_first(void** state)
{
    (void)state;
    char rest[1000];
    make_data("data.csv", 5, 30, 0.15, 0.5, 0.0, 5);
    snprintf(rest, sizeof rest,
             "%soptimiser: { starts: 2, evaluations: 60, horizons: [4, 9] }\nintervals: { bootstrap: 0 }\n",
             two_parameters);
    write_plan("plan.yaml", rest);
    mor_calibration* c = calibrate("plan.yaml", 2);
    int counts[10] = { 0 };
    for (int i = 0; i < c->point_count; i++) counts[c->points[i]->horizon]++;
    assert_true(counts[4] > 10 && counts[9] > 10 && counts[0] > 10);
    assert_true(fabs(c->results[0].x[0] - 0.15) < 2e-3 && fabs(c->results[0].x[1] - 0.5) < 2e-3);
    drop(c);
}

/* Another simulator steps the runs: a fall on the moon, whose gravity is found. */
static void an_engine_is_a_method(void** state)
{
    (void)state;
    char text[4000], line[2000];
    FILE* f = fopen(path_of("moon.csv"), "w");
    assert_non_null(f);
    fputs("t,x,y,z\n", f);
    for (int k = 0; k < 30; k++) fprintf(f, "%g,0,0,%.12g\n", 0.02 * k, 0.3 - 0.5 * 1.62 * 0.0004 * k * k);
    fclose(f);
    write_text("ball.yaml", ball_scene);
    for (int good = 0; good < 2; good++) {
        snprintf(text, sizeof text,
                 "moreau-calibrate: 1\nscene: ball.yaml\ndata: { file: moon.csv, time: t, columns: { "
                 "bodies.ball.position: [x, y, z] } }\nparameters: [ { name: g, path: engine.%s, range: [0.5, 12] } ]\n"
                 "methods: [ { engine: '%s' } ]\nintervals: { bootstrap: 0 }\n",
                 good ? "gravity" : "weight", MOREAU_ENGINE_PLUGIN);
        write_text("moon.yaml", text);
        snprintf(line, sizeof line, "%s calibrate %s --quiet --csv %s 2> %s", MOREAU_COMMAND, path_of("moon.yaml"),
                 path_of("moon.out"), path_of("moon.err"));
        assert_int_equal(WEXITSTATUS(system(line)), good ? 0 : 2);
    }
    double g = 0.0;
    f = fopen(path_of("moon.out"), "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    assert_int_equal(fscanf(f, "1,\"%*[^\"]\",\"g\",%lf", &g), 1);
    fclose(f);
    assert_true(fabs(g - 1.62) < 1e-3);
}

/* ------------------------------------------------------------------------------- optimisers */

static double bowl(void* user, const double* z)
{
    ++*(int*)user;
    return pow(z[0] - 0.3, 2) + 3 * pow(z[1] - 0.7, 2) + (z[0] - 0.3) * (z[1] - 0.7);
}

static void every_optimiser_finds_the_bottom_of_a_bowl(void** state)
{
    (void)state;
    for (int i = 0; mor_optimiser_at(i); i++) {
        double z[2] = { 0.9, 0.1 }, best = 0;
        int calls = 0;
        const int grid[2] = { 11, 11 };
        volatile bool stop = false;
        mor_error error = { 0 };
        assert_int_equal(
            mor_optimise(mor_optimiser_at(i)->name, 2, grid, z, bowl, &calls, 3000, 1e-6, 0.1, 1, &stop, &best, &error),
            MOR_OK);
        printf("  %-10s %d calls, error %.1e\n", mor_optimiser_at(i)->name, calls, best);
        assert_true(fabs(z[0] - 0.3) < 0.01 && fabs(z[1] - 0.7) < 0.01);
        if (strcmp(mor_optimiser_at(i)->name, "grid") == 0) assert_int_equal(calls, 121);
    }
}

/* --------------------------------------------------------------------------------- bad input */

static void expect(const char* plan, const char* sentence)
{
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    write_text("bad.yaml", plan);
    if (mor_calibration_read(c, path_of("bad.yaml"), NULL, NULL, &error) != MOR_BAD_INPUT)
        fail_msg("not refused: %s", plan);
    if (!strstr(error.text, sentence)) fail_msg("'%s' instead of '%s'", error.text, sentence);
    free(c);
}

static const char* find_ball(const char* name, char* path, size_t size)
{
    snprintf(path, size, "%s", path_of(strcmp(name, "stock") == 0 ? "ball.yaml" : "nothing.yaml"));
    return path;
}

static void bad_plans_are_answered_with_their_place(void** state)
{
    (void)state;
    make_data("data.csv", 2, 5, 0.2, 0.5, 0.0, 6);
    write_text("ball.yaml", ball_scene);
    write_text("stock.yaml",
               "moreau-calibrate: 1\nscene: stock\n"
               "data: { file: data.csv, run: run, time: t, columns: { bodies.ball.position: [x, y, z] } }\n"
               "parameters: [ { path: materials.ball.friction, range: [0, 1] } ]\n");
    mor_calibration* found = calloc(1, sizeof *found);
    mor_error none = { 0 };
    if (mor_calibration_read(found, path_of("stock.yaml"), NULL, find_ball, &none)) fail_msg("%s", none.text);
    mor_calibration_free(found);
    assert_int_equal(mor_calibration_read(found, path_of("stock.yaml"), NULL, NULL, &none), MOR_BAD_INPUT);
    free(found);
#define BAD_HEAD "moreau-calibrate: 1\nscene: ball.yaml\n"
#define BAD_DATA "data: { file: data.csv, run: run, time: t, columns: { bodies.ball.position: [x, y, z] } }\n"
#define BAD_PARAMETERS "parameters: [ { path: materials.ball.friction, range: [0, 1] } ]\n"
    expect(BAD_HEAD, "data");
    expect(BAD_HEAD BAD_DATA, "parameters");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "spilt: 1\n", "bad.yaml:5:1: unknown key 'spilt'");
    expect(BAD_HEAD "data: { file: data.csv, time: tt, columns: {} }\n" BAD_PARAMETERS, "bad.yaml:3:31: ");
    expect(BAD_HEAD "data: { file: none.csv, time: t, columns: {} }\n" BAD_PARAMETERS, "none.csv");
    expect(BAD_HEAD "data: { file: data.csv, time: t, columns: { bodies.ball.position: [x, y] } }\n" BAD_PARAMETERS,
           "needs 3 columns");
    expect(
        BAD_HEAD
        "data: { file: data.csv, run: run, time: t, columns: { bodies.ball.position: [x, y, zz] } }\n" BAD_PARAMETERS,
        "no column 'zz'");
    expect(BAD_HEAD
           "data: { file: data.csv, run: run, time: t, columns: { bodies.bal.position: [x, y, z] } }\n" BAD_PARAMETERS,
           "no body 'bal'");
    expect(BAD_HEAD
           "data: { file: data.csv, run: run, time: t, columns: { bodies.ball.speed: [x, y, z] } }\n" BAD_PARAMETERS,
           "unknown quantity 'speed'");
    expect(BAD_HEAD BAD_DATA "parameters: [ { path: materials.ball.friction, range: [1, 0] } ]\n", "4:");
    expect(BAD_HEAD BAD_DATA "parameters: [ { path: materials.ball.friction, range: [0, 1], start: 2 } ]\n",
           "outside the range");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "split: { train: 3 }\n", "at most 2 runs");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "split: { train: [1], repeats: 2 }\n", "a list of runs makes one split");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "methods: [ { engine: none.so } ]\n", "bad.yaml:5:22: ");
    expect(BAD_HEAD BAD_DATA "parameters: [ { path: engine.stiffness, range: [0, 1] } ]\n", "changes an engine only");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "optimiser: { horizons: [8, 4] }\n", "bad.yaml:5:28: ");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "optimiser: { name: sbplxx }\n", "did you mean 'sbplx'?");
    expect("moreau-calibrate: 1\nscene: none.yaml\n" BAD_DATA BAD_PARAMETERS, "none.yaml");
    /* values that the scene does not take, by the place in the plan */
    expect(BAD_HEAD BAD_DATA "parameters: [ { path: materials.bal.friction, range: [0, 1] } ]\n",
           "bad.yaml:4:23: materials.bal.friction: nothing has the material 'bal'");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "methods: [ { set: { materials.ball.frction: 1 } } ]\n", "bad.yaml:5:12: ");
    expect(BAD_HEAD BAD_DATA BAD_PARAMETERS "optimiser: { scan: -1 }\n", "bad.yaml:5:20: ");
    /* files that are not there, columns named twice, scales of nothing, runs of nothing */
    expect(BAD_HEAD "data: { file: none.csv, time: t, columns: {} }\n" BAD_PARAMETERS, "bad.yaml:3:15: ");
    expect("moreau-calibrate: 1\nscene: none.yaml\n" BAD_DATA BAD_PARAMETERS, "bad.yaml:2:8: ");
    expect(BAD_HEAD "data: { file: data.csv, time: t, columns: { bodies.ball.position: [x, x, z] } }\n" BAD_PARAMETERS,
           "the column 'x' is named twice");
    expect(BAD_HEAD
           "data: { file: data.csv, time: t, columns: { bodies.ball.position: { columns: [x, y, z], scale: 0 } "
           "} }\n" BAD_PARAMETERS,
           "scale 0 leaves nothing");
    write_text("odd.csv", "t,x,y,z\n0,0,0,1\n");
    expect(BAD_HEAD "data: { file: odd.csv, time: t, columns: { bodies.ball.position: [x, y, z] } }\n" BAD_PARAMETERS,
           "odd.csv:2:1: a run needs two samples");
    write_text("odd.csv", "t,x,y,z\n0,0,0,1\n1,,,\n2,nan,1,1\n");
    expect(BAD_HEAD "data: { file: odd.csv, time: t, columns: { bodies.ball.position: [x, y, z] } }\n" BAD_PARAMETERS,
           "odd.csv:2:2: this run has no sample");
    write_text("odd.csv", "t,x,y,z\n");
    expect(BAD_HEAD "data: { file: odd.csv, time: t, columns: { bodies.ball.position: [x, y, z] } }\n" BAD_PARAMETERS,
           "odd.csv:2:1: there are no rows");
    remove(path_of("odd.csv"));
    expect("[", "bad.yaml:");
}

static void expect_table(const char* text, const char* sentence)
{
    mor_measured t;
    mor_error error = { 0 };
    write_text("table.csv", text);
    mor_code code = mor_measured_read(&t, path_of("table.csv"), &error);
    if (!code) { /* words are refused where numbers are wanted */
        for (int i = 0; i < t.column_count && !code; i++) code = mor_measured_numbers(&t, i, &error);
        mor_measured_free(&t);
    }
    if (code != MOR_BAD_INPUT) fail_msg("not refused: %s", text);
    if (!strstr(error.text, sentence)) fail_msg("'%s' instead of '%s'", error.text, sentence);
}

static void bad_tables_are_answered_with_their_place(void** state)
{
    (void)state;
    expect_table("", "no rows");
    expect_table("a,b\n", "no rows");
    expect_table("a,b\n1,2\n1,x\n", "table.csv:3:3: 'x' is no number");
    expect_table("a,b\n1\n", "table.csv:2:2: the row has 1 cells");
    expect_table("a,b\n1,2,3\n", "table.csv:2:5: more cells");
    expect_table("a,a\n1,2\n", "two columns 'a'");
    expect_table("1,2\n3,4\n", "must name the columns");
    expect_table("a,b\n1,inf\n", "table.csv:2:3");
    mor_measured t;
    mor_error error = { 0 };
    write_text("table.csv", "# measured by hand\na;\"b c\"\r\n1;2\r\n;NA\r\n");
    if (mor_measured_read(&t, path_of("table.csv"), &error)) fail_msg("%s", error.text);
    assert_int_equal(t.row_count, 2);
    assert_int_equal(mor_measured_column(&t, "b c"), 1);
    assert_true(mor_measured_at(&t, 0, 1) == 2.0 && isnan(mor_measured_at(&t, 1, 0)) &&
                isnan(mor_measured_at(&t, 1, 1)));
    mor_measured_free(&t);
}

static void hdf5_is_the_same_table(void** state)
{
    (void)state;
    mor_h5 h5;
    mor_error error = { 0 };
    const double time[3] = { 0, 0.1, 0.2 }, x[3][2] = { { 1, 2 }, { 3, NAN }, { 5, 6 } };
    assert_int_equal(mor_h5_begin(&h5, path_of("table.h5"), &error), MOR_OK);
    mor_code code = mor_h5_write(&h5, "/t", MOR_H5_DOUBLE, 1, (size_t[]){ 3 }, time, &error);
    if (!code) code = mor_h5_write(&h5, "/x", MOR_H5_DOUBLE, 2, (size_t[]){ 3, 2 }, x, &error);
    if (!code) code = mor_h5_write(&h5, "/frames", MOR_H5_DOUBLE, 1, (size_t[]){ 2 }, time, &error);
    if (!code) code = mor_h5_write_texts(&h5, "/note", "abc\0de\0\0f\0\0", 4, 3, &error);
    assert_int_equal(mor_h5_finish(&h5, code, &error), MOR_OK);
    mor_measured t;
    if (mor_measured_read(&t, path_of("table.h5"), &error)) fail_msg("%s", error.text);
    assert_int_equal(t.column_count, 3);
    assert_int_equal(t.row_count, 3);
    int c = mor_measured_column(&t, "x.1");
    assert_true(c >= 0 && mor_measured_at(&t, 2, c) == 6.0 && isnan(mor_measured_at(&t, 1, c)));
    assert_true(mor_measured_at(&t, 1, mor_measured_column(&t, "t")) == 0.1);
    assert_true(mor_measured_column(&t, "note") < 0 && mor_measured_column(&t, "frames") < 0);
    assert_true(strstr(t.left_out, "note") && strstr(t.left_out, "frames")); /* words, another length */
    mor_measured_free(&t);
}

/* ------------------------------------------------------------------------------------ output */

/* Several methods with parameters of their own, pages and tables are written. */
static void methods_are_compared(void** state)
{
    (void)state;
    make_data("data.csv", 6, 25, 0.2, 0.5, 0.001, 8);
    char rest[1600];
    snprintf(
        rest, sizeof rest,
        "%ssplit: { train: [1, 3, 5] }\noptimiser: { starts: 1, evaluations: 40 }\nintervals: { bootstrap: 50, "
        "profile: 3 }\nmethods:\n  - { name: good, formulation: ncp, solver: { name: nsgs, tol: 1e-9 } }\n"
        "  - { name: no bounce, formulation: ncp, set: { materials.ball.restitution: 0, materials.floor.restitution: 0 "
        "} }\n",
        "parameters:\n  - { name: mu, path: [materials.ball.friction, materials.floor.friction], range: [0.02, 0.6] "
        "}\n");
    write_plan("plan.yaml", rest);
    mor_calibration* c = calibrate("plan.yaml", 2);
    assert_true(c->runs[0].train && !c->runs[1].train && c->runs[2].train);
    const mor_cal_result* second = &c->results[1];
    printf("  ratio %.3f [%.3f, %.3f]\n", second->ratio, second->ratio_low, second->ratio_high);
    assert_true(second->ratio > 1.2 && second->ratio_low > 1.0);
    assert_int_equal(c->results[0].intervals[0].profile_count, 3);
    FILE* f = fopen(path_of("out.html"), "w");
    mor_calibration_write_html(c, f);
    mor_calibration_write_json(c, f);
    mor_calibration_write_csv(c, f);
    assert_int_equal(fclose(f), 0);
    drop(c);
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    static const char* const names[] = { "part0",     "part1",    "part2",     "moon.csv",  "moon.yaml", "moon.out",
                                         "moon.err",  "data.csv", "plan.yaml", "ball.yaml", "journal",   "bad.yaml",
                                         "table.csv", "table.h5", "out.html",  "stock.yaml" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_lies_in_the_intervals),
        cmocka_unit_test(what_cannot_be_told_apart_is_told),
        cmocka_unit_test(errors_of_shifted_data_are_closed_forms),
        cmocka_unit_test(initial_states_are_fitted_over_the_flight),
        cmocka_unit_test(a_journal_goes_on_to_the_same_bits),
        cmocka_unit_test(shards_make_the_same_bytes),
        cmocka_unit_test(splits_are_summarised),
        cmocka_unit_test(an_engine_is_a_method),
        cmocka_unit_test(short_horizons_come_first),
        cmocka_unit_test(every_optimiser_finds_the_bottom_of_a_bowl),
        cmocka_unit_test(bad_plans_are_answered_with_their_place),
        cmocka_unit_test(bad_tables_are_answered_with_their_place),
        cmocka_unit_test(hdf5_is_the_same_table),
        cmocka_unit_test(methods_are_compared),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
