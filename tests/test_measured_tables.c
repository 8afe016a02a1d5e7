/* Tables as people have them: the same numbers in other clothes give the same fit, to the byte; what cannot be meant is
 * told with its place. */
#include "common/command.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, ROWS = 24 };
static const char* const names[] = { "run", "t", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz" };
enum { COLUMNS = 12 };
static double table[RUNS * ROWS][COLUMNS];

/* Boxes that are thrown flat, slide and stop: x = v t - mu g t^2/2, which the fit need not know. */
static int make_table(void** state)
{
    if (command_open(state)) return -1;
    mor_rng rng = { 20261118 };
    for (int r = 0; r < RUNS; r++) {
        double v = 0.6 + mor_rng_uniform(&rng), mu = 0.27, g = 9.81;
        for (int k = 0; k < ROWS; k++) {
            double t = 0.02 * k, stop = v / (mu * g), s = fmin(t, stop), *row = table[r * ROWS + k];
            memset(row, 0, sizeof table[0]);
            row[0] = r + 1, row[1] = 5.0 + t, row[2] = v * s - 0.5 * mu * g * s * s, row[4] = 0.05, row[5] = 1.0;
            row[9] = v - mu * g * s;
        }
    }
    FILE* f = fopen(command_at("s.yaml"), "w");
    if (!f) return -1;
    fputs("moreau: 1\ntime: { step: 0.005, end: 0.6 }\nmaterials: { m: { friction: 0.5 } }\nbodies:\n"
          "  - { name: floor, shape: plane, fixed: true, material: m }\n"
          "  - { name: box, shape: { box: [0.1, 0.1, 0.1] }, mass: 1, material: m, position: [0, 0, 0.05] }\n",
          f);
    fclose(f);
    return 0;
}

typedef struct clothes {
    const char *before, *separator, *end, *quote, *missing;
    const char *first, *last; /* name of one more column before and after; NULL: none; its cells: `word` */
    const char* word;
    const char* run;            /* what stands before the number of the run */
    int hole;                   /* the position of rows k < hole is missing */
    double scale, length, turn; /* of positions, quaternions; 1: quaternions as x y z w */
    const char* after;          /* every row */
} clothes;

static const clothes plain = { .before = "",
                               .separator = ",",
                               .end = "\n",
                               .quote = "",
                               .run = "",
                               .missing = "",
                               .scale = 1.0,
                               .length = 1.0,
                               .word = "",
                               .after = "" };

static void put(FILE* f, const clothes* c, bool first, const char* text)
{
    fprintf(f, "%s%s%s%s", first ? "" : c->separator, c->quote, text, c->quote);
}

static void write_table(const char* file, clothes c)
{
    FILE* f = fopen(command_at(file), "w");
    assert_non_null(f);
    fputs(c.before, f);
    if (c.first) put(f, &c, true, c.first);
    for (int i = 0; i < COLUMNS; i++) put(f, &c, i == 0 && !c.first, names[i]);
    if (c.last) put(f, &c, false, c.last);
    fputs(c.end, f);
    for (int k = 0; k < RUNS * ROWS; k++) {
        if (c.first) put(f, &c, true, c.word);
        for (int i = 0; i < COLUMNS; i++) {
            char text[64];
            double x = table[k][i];
            if (i > 1 && i < 5) x *= c.scale;
            if (i > 4 && i < 9) x = c.length * (c.turn > 0.0 ? table[k][i == 8 ? 5 : i + 1] : x);
            snprintf(text, sizeof text, "%s%.17g", i == 0 ? c.run : "", x);
            if (i > 1 && i < 5 && k % ROWS < c.hole) snprintf(text, sizeof text, "%s", c.missing);
            put(f, &c, i == 0 && !c.first, text);
        }
        if (c.last) put(f, &c, false, c.word);
        fprintf(f, "%s%s", c.after, c.end);
    }
    fclose(f);
}

static void write_plan(const char* data)
{
    FILE* f = fopen(command_at("p.yaml"), "w");
    assert_non_null(f);
    fprintf(f,
            "moreau-calibrate: 1\nscene: s.yaml\ndata:\n  file: %s\n  run: run\n  time: t\n  columns: { "
            "bodies.box.position: [x, y, z], bodies.box.quaternion: [qw, qx, qy, qz] }\n"
            "initial: { bodies.box.velocity: [vx, vy, vz] }\nparameters:\n"
            "  - { path: materials.m.friction, range: [0.1, 0.6], start: 0.5 }\n"
            "optimiser: { name: sbplx, starts: 1, evaluations: 40 }\nintervals: { bootstrap: 0 }\n",
            data);
    fclose(f);
}

static void expect(clothes c, int status, const char* says)
{
    write_table("d.csv", c);
    write_plan("d.csv");
    command_expect("$M calibrate p.yaml --csv got.csv", status, says);
}

static void tables_in_other_clothes_give_the_same_fit(void** state)
{
    (void)state;
    expect(plain, 0, NULL);
    command_expect("mv got.csv want.csv && grep -q 0.2[67] want.csv", 0, NULL);
    clothes all[10];
    int n = 0;
    for (int i = 0; i < 10; i++) all[i] = plain;
    all[n].before = "\xef\xbb\xbf", all[n].separator = ";", all[n].end = "\r\n", all[n++].quote = "\"";
    all[n].separator = "\t", all[n++].before = "# made by hand\n\n";
    all[n++].separator = "   ";
    all[n++].end = "\r";
    all[n].first = "", all[n++].word = "17"; /* line numbers, as other programs write them */
    all[n++].last = "";
    all[n].last = "object", all[n++].word = "box, the blue one", all[n - 1].quote = "\"";
    all[n++].after = ","; /* a separator at the end of rows alone */
    all[n].before = "  ", all[n++].separator = " , ";
    for (int i = 0; i < n; i++) {
        expect(all[i], 0, NULL);
        command_expect("cmp got.csv want.csv", 0, NULL);
    }
    clothes words = plain;
    words.run = "throw-";
    expect(words, 0, NULL);
    command_expect("cmp got.csv want.csv", 0, NULL);
    command_expect("sed -i 's/^optimiser/split: { train: [throw-1, throw-3] }\\noptimiser/' p.yaml && $M calibrate "
                   "p.yaml --csv got.csv && sed -i 's/throw-1/throw-7/' p.yaml",
                   0, NULL);
    command_expect("$M calibrate p.yaml", 2, "the data have no run 'throw-7'");
}

static void runs_begin_where_their_state_is_known(void** state)
{
    (void)state;
    static const char* const words[] = { "", "NaN", "-nan", "None", "n/a", "NULL" };
    for (int i = 0; i < 6; i++) {
        clothes c = plain;
        c.hole = 1 + i % 3, c.missing = words[i];
        expect(c, 0, "note: d.csv: 3 of 3 runs begin with rows that miss numbers");
        command_expect("grep -q 0.2[67] got.csv", 0, NULL);
    }
}

static void what_cannot_be_meant_is_told(void** state)
{
    (void)state;
    clothes c = plain;
    c.length = 1.4;
    expect(c, 2, "d.csv:2:6: the quaternion of this row has length 1.4, not 1");
    c.length = 0.0;
    expect(c, 2, "length 0, not 1; leave its cells empty");
    c = plain, c.hole = 3, c.missing = "lost";
    expect(c, 2, "d.csv:2:5: 'lost' is no number");
    c.separator = ";", c.missing = "0,25";
    expect(c, 2, "'0,25' has a decimal comma; write decimal points");
    c = plain, c.scale = 1000.0;
    expect(c, 0, "note: p.yaml: the best values of 'as in the scene' miss the training samples by");
    expect(plain, 0, NULL);
    command_expect("! $M calibrate p.yaml 2>&1 | grep -q 'stands still'", 0, NULL);
    c = plain, c.first = "t"; /* twice the same name */
    expect(c, 2, "two columns 't'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_in_other_clothes_give_the_same_fit),
        cmocka_unit_test(runs_begin_where_their_state_is_known),
        cmocka_unit_test(what_cannot_be_meant_is_told),
    };
    return cmocka_run_group_tests(tests, make_table, command_close);
}
