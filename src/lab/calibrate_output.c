/* What a calibration found, as JSON and CSV. */
#include "io/json/json.h"
#include "lab/calibrate.h"

#include <math.h>
#include <string.h>

static void write_method(mor_json* json, const mor_cal_method* m)
{
    mor_json_object(json, "method");
    mor_json_text(json, "name", m->name);
    for (int i = 0; i < m->set_count; i++) {
        char path[200];
        const char* equals = strchr(m->sets[i], '=');
        snprintf(path, sizeof path, "%.*s", (int)(equals - m->sets[i]), m->sets[i]);
        const char* word = strncmp(path, "method.", 7) == 0 && !strchr(path + 7, '.') ? path + 7 : path;
        mor_json_text(json, word, equals + 1);
    }
    mor_json_end(json);
}

static void write_parameter(mor_json* json, const mor_calibration* c, const mor_cal_method* m, const mor_cal_result* r,
                            int i)
{
    const mor_cal_interval* v = &r->intervals[i];
    mor_json_object(json, c->parameters[m->parameters[i]].name);
    mor_json_number(json, "value", r->x[i]);
    mor_json_number(json, "low", v->low);
    mor_json_number(json, "high", v->high);
    mor_json_number(json, "alone_low", v->alone_low);
    mor_json_number(json, "alone_high", v->alone_high);
    mor_json_bool(json, "identifiable", v->identifiable);
    if (v->why[0]) mor_json_text(json, "why", v->why);
    mor_json_bool(json, "at_bound", v->at_bound);
    mor_json_bool(json, "moved", v->moved);
    if (v->profile_count) {
        mor_json_object(json, "profile");
        mor_json_numbers(json, "value", v->profile_x, v->profile_count);
        mor_json_numbers(json, "error", v->profile_error, v->profile_count);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void write_set(mor_json* json, const char* key, const double* means)
{
    mor_json_object(json, key);
    mor_json_number(json, "error", means[0]);
    mor_json_number(json, "position", means[1]);
    mor_json_number(json, "rotation", means[2]);
    mor_json_end(json);
}

/* A method over all splits. */
static void write_summary(mor_json* json, const mor_cal_summary* m)
{
    mor_json_object(json, "over_splits");
    mor_json_integer(json, "splits", m->splits);
    write_set(json, "test", m->test);
    write_set(json, "test_low", m->low);
    write_set(json, "test_high", m->high);
    write_set(json, "least", m->least);
    write_set(json, "most", m->most);
    mor_json_number(json, "median_position", m->median);
    mor_json_number(json, "position_of_nine_tenths", m->ninth);
    write_set(json, "ratio", m->ratio);
    write_set(json, "ratio_low", m->ratio_low);
    write_set(json, "ratio_high", m->ratio_high);
    mor_json_end(json);
}

void mor_calibration_write_json(const mor_calibration* c, FILE* out)
{
    mor_json json = mor_json_begin(out);
    mor_json_list(&json, NULL);
    for (int i = 0; i < c->split_count * c->method_count; i++) {
        int split = i / c->method_count, k = i % c->method_count;
        const mor_cal_result* r = &c->all[split * MOR_CAL_METHODS + k];
        const mor_cal_method* m = &c->methods[k];
        if (!r->done) continue;
        mor_json_object(&json, NULL);
        write_method(&json, m);
        if (c->split_count > 1) mor_json_integer(&json, "split", split + 1);
        mor_json_object(&json, "parameters");
        for (int p = 0; p < m->parameter_count; p++) write_parameter(&json, c, m, r, p);
        mor_json_end(&json);
        mor_json_list(&json, "correlation");
        for (int p = 0; p < m->parameter_count; p++)
            mor_json_numbers(&json, NULL, r->correlation[p], m->parameter_count);
        mor_json_end(&json);
        mor_json_number(&json, "train_error", r->train[0]);
        mor_json_number(&json, "test_error", r->test[0]);
        mor_json_number(&json, "start_train_error", r->start_train);
        mor_json_number(&json, "start_test_error", r->start_test);
        write_set(&json, "train", r->train);
        write_set(&json, "test", r->test);
        write_set(&json, "test_low", r->test_low);
        write_set(&json, "test_high", r->test_high);
        mor_json_number(&json, "ratio", r->ratio);
        mor_json_number(&json, "ratio_low", r->ratio_low);
        mor_json_number(&json, "ratio_high", r->ratio_high);
        mor_json_integer(&json, "failures", r->failures);
        mor_json_integer(&json, "evaluations", r->evaluations);
        mor_json_text(&json, "search", r->used_up ? "used up" : "ended");
        mor_json_number(&json, "time_s", r->time_s);
        if (c->split_count > 1 && split == 0 && c->summaries[k].splits == c->split_count)
            write_summary(&json, &c->summaries[k]);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_finish(&json);
}

static void text_cell(FILE* out, const char* text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void mor_calibration_write_csv(const mor_calibration* c, FILE* out)
{
    fputs("split,method,parameter,value,low,high,identifiable,train_error,test_error,test_position,test_rotation,"
          "evaluations,alone_low,alone_high,search\n",
          out);
    for (int n = 0; n < c->split_count * c->method_count; n++) {
        int split = n / c->method_count, k = n % c->method_count;
        const mor_cal_result* r = &c->all[split * MOR_CAL_METHODS + k];
        const mor_cal_method* m = &c->methods[k];
        for (int i = 0; r->done && i < m->parameter_count; i++) {
            const mor_cal_interval* v = &r->intervals[i];
            fprintf(out, "%d,", split + 1);
            text_cell(out, m->name);
            fputc(',', out);
            text_cell(out, c->parameters[m->parameters[i]].name);
            fprintf(out, ",%.17g,%.17g,%.17g,%d,%.17g,%.17g,%.17g,%.17g,%d,%.17g,%.17g,%s\n", r->x[i], v->low, v->high,
                    v->identifiable, r->train[0], r->test[0], r->test[1], r->test[2], r->evaluations, v->alone_low,
                    v->alone_high, r->used_up ? "used up" : "ended");
        }
    }
}
