/* What the columns of the measured table mean, and which rows make runs. */
#include "lab/calibrate_columns.h"
#include "io/scene/scene_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct raw_columns {
    const mor_node* columns;
    int frame;
    double scale;
} raw_columns;

static const mor_key column_keys[] = { { NODE(raw_columns, columns), .required = true },
                                       { KEY(raw_columns, frame, MOR_KEY_CHOICE), .choices = "world|body" },
                                       { NUMBER(raw_columns, scale), .initial = 1.0 },
                                       { 0 } };
static const mor_key_table column_table = { "columns", "columns", "", column_keys, TABLE(raw_columns) };

typedef struct raw_split {
    const mor_node* train;
    double seed;
    int repeats;
} raw_split;

static const mor_key split_keys[] = { { NODE(raw_split, train), .required = true },
                                      { NUMBER(raw_split, seed), .initial = 1.0, NOT_NEGATIVE },
                                      { KEY(raw_split, repeats, MOR_KEY_INT), .initial = 1, .min = 1,
                                        .max = MOR_CAL_SPLITS },
                                      { 0 } };
static const mor_key_table split_table = { "split", "split", "", split_keys, TABLE(raw_split) };

/* ---------------------------------------------------------------------------------- columns */

mor_code mor_cal_find_column(const mor_calibration* c, const mor_node* n, const char* name, int* column,
                             mor_error* error)
{
    const mor_measured* t = &c->data;
    *column = mor_measured_column(t, name);
    if (*column >= 0) return MOR_OK;
    if (strstr(t->left_out, name) && *name)
        return mor_node_fail(n, error,
                             "%.200s has no column '%.60s': left out are %.200s, which hold no numbers or "
                             "have not %d rows",
                             t->path, name, t->left_out, t->row_count);
    const char* near = mor_measured_near(t, name);
    if (near) return mor_node_fail(n, error, "%.200s has no column '%.60s'; did you mean '%s'?", t->path, name, near);
    int first = 0;
    while (first + 1 < t->column_count && !*t->names[first]) first++;
    return mor_node_fail(n, error, "%.200s has no column '%.60s'; its columns begin with '%s'", t->path, name,
                         t->names[first]);
}

/* "bodies.NAME.KIND" */
static mor_code read_what(const mor_calibration* c, const mor_node* n, mor_cal_quantity* q, int* wanted,
                          mor_error* error)
{
    static const char* const words[] = { "position", "quaternion", "angle", "velocity", "angular_velocity", NULL };
    const int counts3[] = { 3, 4, 1, 3, 3 }, counts2[] = { 2, 4, 1, 2, 1 };
    const char* dot = strrchr(n->key, '.');
    if (strncmp(n->key, "bodies.", 7) != 0 || !dot || dot < n->key + 8)
        return mor_node_fail_key(n, error,
                                 "expected bodies.NAME.position, .quaternion, .angle, .velocity or "
                                 ".angular_velocity, not '%.60s'",
                                 n->key);
    if ((size_t)(dot - n->key - 7) >= sizeof q->body) return mor_node_fail_key(n, error, "the name is too long");
    snprintf(q->body, sizeof q->body, "%.*s", (int)(dot - n->key - 7), n->key + 7);
    int kind = 0;
    while (words[kind] && strcmp(words[kind], dot + 1) != 0) kind++;
    if (!words[kind]) {
        const char* near = mor_did_you_mean(dot + 1, words);
        return mor_node_fail_key(n, error, "unknown quantity '%.60s'%s%s%s", dot + 1, near ? "; did you mean '" : "",
                                 near ? near : "", near ? "'?" : "");
    }
    if (kind == MOR_CAL_ANGLE && c->dimension == 3)
        return mor_node_fail_key(n, error, "an angle is measured in 2-D; in 3-D give the quaternion");
    if (kind == MOR_CAL_QUATERNION && c->dimension == 2)
        return mor_node_fail_key(n, error, "in 2-D give the angle instead of a quaternion");
    q->kind = (mor_cal_kind)kind;
    *wanted = c->dimension == 2 ? counts2[kind] : counts3[kind];
    return MOR_OK;
}

static mor_code read_quantity(const mor_calibration* c, const mor_node* n, mor_cal_quantity* q, mor_error* error)
{
    int wanted = 0;
    mor_code code = read_what(c, n, q, &wanted, error);
    if (code) return code;
    raw_columns raw = { .columns = n, .scale = 1.0 };
    if (n->kind == MOR_NODE_MAP && (code = mor_keys_read(&column_table, n, c->dimension, &raw, error))) return code;
    q->body_frame = raw.frame == 1;
    q->scale = raw.scale;
    if (!isfinite(q->scale) || q->scale == 0.0)
        return mor_node_fail(mor_node_get(n, "scale"), error, "scale %g leaves nothing of the numbers", q->scale);
    if ((code = mor_read_list(raw.columns, n->key, error))) return code;
    if (raw.columns->count != wanted)
        return mor_node_fail(raw.columns, error, "%.100s needs %d columns, not %d", n->key, wanted, raw.columns->count);
    for (const mor_node* m = raw.columns->first; m; m = m->next) {
        const char* name;
        if ((code = mor_read_text(m, "the name of a column", &name, error))) return code;
        if ((code = mor_cal_find_column(c, m, name, &q->columns[q->count++], error))) return code;
        if ((code = mor_measured_numbers(&c->data, q->columns[q->count - 1], error))) return code;
        for (int i = 0; i + 1 < q->count; i++)
            if (q->columns[i] == q->columns[q->count - 1])
                return mor_node_fail(m, error, "the column '%.60s' is named twice", name);
    }
    return MOR_OK;
}

mor_code mor_cal_read_quantities(mor_calibration* c, const mor_node* map, const char* what, mor_cal_quantity* all,
                                 int* count, mor_error* error)
{
    mor_code code = mor_read_map(map, what, error);
    for (const mor_node* n = code ? NULL : map->first; n && !code; n = n->next) {
        if (all == c->initial && strcmp(n->key, "fit") == 0) {
            const char* word;
            if ((code = mor_read_text(n, "fit", &word, error))) return code;
            if (strcmp(word, "flight") != 0 && strcmp(word, "none") != 0)
                return mor_node_fail(n, error, "fit is flight or none, not '%.60s'", word);
            c->fit_initial = strcmp(word, "flight") == 0;
            continue;
        }
        if (*count == MOR_CAL_QUANTITIES) return mor_node_fail(n, error, "at most %d quantities", MOR_CAL_QUANTITIES);
        code = read_quantity(c, n, &all[(*count)++], error);
    }
    return code;
}

/* ---------------------------------------------------------------------------------- runs */

/* The run of a row: a number, or a word, which is then in `word`. */
static double run_of(const mor_calibration* c, int row, char word[40])
{
    *word = '\0';
    if (c->run_column < 0) return 0.0;
    return mor_measured_text(&c->data, row, c->run_column, word, 40) ? 0.0
                                                                     : mor_measured_at(&c->data, row, c->run_column);
}

static bool same_run(const mor_calibration* c, int a, int b)
{
    char words[2][40];
    return run_of(c, a, words[0]) == run_of(c, b, words[1]) && strcmp(words[0], words[1]) == 0;
}

static mor_code take_run(mor_calibration* c, int row, int* capacity, mor_error* error)
{
    if (c->run_count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 64;
        mor_cal_run* runs = realloc(c->runs, (size_t)*capacity * sizeof *runs);
        if (!runs) return mor_fail(error, MOR_SYSTEM, "out of memory");
        c->runs = runs;
    }
    mor_cal_run* r = &c->runs[c->run_count++];
    *r = (mor_cal_run){ .first = row, .train = true };
    double number = run_of(c, row, r->name);
    if (c->run_column < 0) snprintf(r->name, sizeof r->name, "run");
    else if (!*r->name) snprintf(r->name, sizeof r->name, "%.15g", number);
    return MOR_OK;
}

static mor_code data_fail(const mor_calibration* c, int row, int column, mor_error* error, const char* what)
{
    if (!c->data.lines) return mor_fail(error, MOR_BAD_INPUT, "%.400s: row %d: %s", c->data.path, row + 1, what);
    return mor_fail(error, MOR_BAD_INPUT, "%.400s:%d:%d: %s", c->data.path, c->data.lines[row], column + 1, what);
}

/* Rows with the same number or word in the run's column, which must lie together; times must rise. */
mor_code mor_cal_find_runs(mor_calibration* c, mor_error* error)
{
    int capacity = 0;
    const mor_measured* t = &c->data;
    mor_code code = mor_measured_numbers(t, c->time_column, error);
    for (int i = 0; i < t->row_count && !code; i++) {
        char word[40];
        double time = mor_measured_at(t, i, c->time_column);
        if (isnan(run_of(c, i, word))) return data_fail(c, i, c->run_column, error, "the run of this row is missing");
        if (isnan(time)) return data_fail(c, i, c->time_column, error, "the time of this row is missing");
        bool same = i > 0 && same_run(c, i, i - 1);
        if (same && !(time > mor_measured_at(t, i - 1, c->time_column)))
            return data_fail(c, i, c->time_column, error, "times of a run must rise");
        for (int r = 0; !same && r < c->run_count; r++)
            if (same_run(c, i, c->runs[r].first))
                return data_fail(c, i, c->run_column, error,
                                 "rows of one run must lie together; sort the table by run and time");
        if (!same) code = take_run(c, i, &capacity, error);
        if (code) return code;
        mor_cal_run* r = &c->runs[c->run_count - 1];
        if (time - mor_measured_at(t, r->first, c->time_column) <= c->until) r->count++;
    }
    return code;
}

/* Does the row have all numbers that a run begins with? */
static bool whole(const mor_calibration* c, int row)
{
    for (int i = 0; i < c->measured_count + c->initial_count; i++) {
        const mor_cal_quantity* q = i < c->measured_count ? &c->measured[i] : &c->initial[i - c->measured_count];
        for (int k = 0; k < q->count; k++)
            if (isnan(mor_measured_at(&c->data, row, q->columns[k]))) return false;
    }
    return true;
}

/* Runs begin where their state is known. */
static void cut_begins(mor_calibration* c)
{
    int cut = 0, never = 0;
    for (int r = 0; r < c->run_count; r++) {
        mor_cal_run* run = &c->runs[r];
        int by = 0;
        while (by < run->count && !whole(c, run->first + by)) by++;
        never += by == run->count;
        if (by == 0 || by == run->count) continue;
        run->first += by, run->count -= by;
        cut++;
    }
    if (cut)
        mor_cal_note(c,
                     "%.400s: %d of %d runs begin with rows that miss numbers: they count from their first whole row",
                     c->data.path, cut, c->run_count);
    if (never)
        mor_cal_note(c,
                     "%.400s: %d of %d runs have no row with all numbers: what their first row misses begins as in "
                     "the scene",
                     c->data.path, never, c->run_count);
}

/* Lengths of quaternions: others than 1 are another column, another unit or a mistake. */
static mor_code check_quaternions(const mor_calibration* c, const mor_cal_run* run, mor_error* error)
{
    for (int i = 0; i < c->measured_count; i++) {
        const mor_cal_quantity* q = &c->measured[i];
        for (int k = 0; k < run->count && q->kind == MOR_CAL_QUATERNION; k++) {
            double square = 0.0;
            char sentence[160];
            for (int m = 0; m < 4; m++) {
                double x = mor_measured_at(&c->data, run->first + k, q->columns[m]);
                square += x * x;
            }
            if (isnan(square) || fabs(sqrt(square) - 1.0) < 0.1) continue;
            snprintf(sentence, sizeof sentence,
                     "the quaternion of this row has length %g, not 1; leave its cells empty if it is missing",
                     sqrt(square));
            return data_fail(c, run->first + k, q->columns[0], error, sentence);
        }
    }
    return MOR_OK;
}

/* Every run has two samples or more, and beyond the first one with something to compare. */
mor_code mor_cal_check_samples(mor_calibration* c, mor_error* error)
{
    for (int r = 0; r < c->run_count; r++) {
        const mor_cal_run* run = &c->runs[r];
        if (run->count < 2)
            return data_fail(c, run->first, c->time_column, error, "a run needs two samples or more; this one has one");
        mor_code code = check_quaternions(c, run, error);
        if (code) return code;
    }
    cut_begins(c);
    for (int r = 0; r < c->run_count; r++) {
        const mor_cal_run* run = &c->runs[r];
        bool any = false;
        for (int k = 1; k < run->count && !any; k++)
            for (int i = 0; i < c->measured_count && !any; i++) {
                mor_cal_pose p = mor_cal_measured(c, c->measured[i].body, run->first + k);
                any = p.has_x || p.has_q;
            }
        if (!any)
            return data_fail(c, run->first, c->measured[0].columns[0], error,
                             "this run has no sample with numbers to compare");
    }
    return MOR_OK;
}

static int find_run(const mor_calibration* c, const char* name)
{
    for (int i = 0; i < c->run_count; i++)
        if (strcmp(c->runs[i].name, name) == 0) return i;
    return -1;
}

/* `runs`: a number (the first so many) or a list. */
mor_code mor_cal_choose_runs(mor_calibration* c, const mor_node* n, mor_error* error)
{
    if (!n) return MOR_OK;
    double number;
    if (n->kind == MOR_NODE_SCALAR) {
        mor_code code = mor_read_number(n, "runs", &number, error);
        if (code) return code;
        if (!(number >= 1.0) || number > c->run_count || number != floor(number))
            return mor_node_fail(n, error, "runs %g: the data have %d", number, c->run_count);
        c->run_count = (int)number;
        return MOR_OK;
    }
    mor_code code = mor_read_list(n, "runs", error);
    bool* keep = code ? NULL : calloc((size_t)c->run_count + 1, sizeof *keep);
    if (!code && !keep) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    for (const mor_node* m = code ? NULL : n->first; m && !code; m = m->next) {
        int at = m->kind == MOR_NODE_SCALAR ? find_run(c, m->text) : -1;
        if (at < 0) code = mor_node_fail(m, error, "the data have no run '%.40s'", m->text ? m->text : "");
        else keep[at] = true;
    }
    int count = 0;
    for (int i = 0; i < c->run_count && !code; i++)
        if (keep[i]) c->runs[count++] = c->runs[i];
    if (!code) c->run_count = count;
    free(keep);
    return code;
}

/* So many runs of a split, drawn without order by the seed. */
static void draw_runs(mor_calibration* c, int split, double seed, int count)
{
    bool* train = c->trains + (size_t)split * (size_t)c->run_count;
    mor_rng rng = { (uint64_t)seed * 2654435761u + 17u };
    while (count > 0) {
        int at = (int)(mor_rng_uniform(&rng) * c->run_count);
        if (at >= c->run_count || train[at]) continue;
        train[at] = true;
        count--;
    }
}

static mor_code list_runs(mor_calibration* c, const mor_node* list, mor_error* error)
{
    for (const mor_node* m = list->first; m; m = m->next) {
        int at = m->kind == MOR_NODE_SCALAR ? find_run(c, m->text) : -1;
        if (at < 0) return mor_node_fail(m, error, "the data have no run '%.40s'", m->text ? m->text : "");
        c->trains[at] = true;
    }
    return MOR_OK;
}

/* Number, fraction or list. */
mor_code mor_cal_split_runs(mor_calibration* c, const mor_node* node, mor_error* error)
{
    raw_split raw = { .repeats = 1 };
    mor_code code = node ? mor_keys_read(&split_table, node, c->dimension, &raw, error) : MOR_OK;
    if (!code) code = mor_cal_make_splits(c, raw.repeats, error);
    if (code) return code;
    if (!node) memset(c->trains, 1, (size_t)c->run_count * sizeof *c->trains);
    if (node && raw.train->kind == MOR_NODE_LIST) {
        if (raw.repeats > 1)
            return mor_node_fail(mor_node_get(node, "repeats"), error, "a list of runs makes one split, not %d",
                                 raw.repeats);
        if ((code = list_runs(c, raw.train, error))) return code;
    } else if (node) {
        double number;
        if ((code = mor_read_number(raw.train, "train", &number, error))) return code;
        if (number > 0.0 && number < 1.0) number = fmax(1.0, round(number * c->run_count));
        if (!(number >= 1.0) || number > c->run_count || number != floor(number))
            return mor_node_fail(raw.train, error, "train is a fraction, a list or a number of at most %d runs",
                                 c->run_count);
        for (int i = 0; i < raw.repeats; i++) draw_runs(c, i, raw.seed + i, (int)number);
    }
    mor_cal_use_split(c, 0);
    return MOR_OK;
}
