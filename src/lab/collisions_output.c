/* The comparison of collision methods as tables, CSV and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json/json.h"
#include "lab/collisions.h"

static const char* status_of(const mor_collision_score* r)
{
    return r->refused ? "refused" : !r->finished ? "stopped" : r->failures ? "failed steps" : "ok";
}

/* A number, or "-" where there is none. */
static const char* number(char* text, size_t size, double x)
{
    if (isfinite(x)) snprintf(text, size, "%.2e", x);
    else snprintf(text, size, "-");
    return text;
}

void mor_collisions_print(const mor_collisions* c, FILE* out)
{
    char a[32], b[32];
    for (int i = 0; i < c->scene_count; i++) {
        const mor_collision_scene* s = &c->scenes[i];
        fprintf(out, "%s\n  %-12s %9s %10s %10s %7s %7s %10s %10s %10s %8s  %s\n", s->name, "method", "contacts",
                "gap [m]", "normal", "missed", "ghosts", "search [s]", "apart [m]", "depth [m]", "steps", "status");
        for (int m = 0; m < c->method_count; m++) {
            const mor_collision_score* r = &s->scores[m];
            if (r->refused) {
                fprintf(out, "  %-12s refused: %s\n", r->method, r->detail);
                continue;
            }
            fprintf(out, "  %-12s %9lld %10.2e %10.2e %7d %7d %10s %10s %10.2e %8d  %s%s%s\n", r->method, r->contacts,
                    r->gap_error, r->normal_error, r->missed, r->ghosts, number(a, sizeof a, r->time),
                    number(b, sizeof b, r->distance), r->penetration, r->steps, status_of(r), r->detail[0] ? ": " : "",
                    r->detail);
        }
    }
}

void mor_collisions_write_csv(const mor_collisions* c, FILE* out)
{
    fprintf(out, "scene,method,status,states,contacts,pairs,judged,gap_error,mean_gap_error,normal_error,"
                 "mean_normal_error,missed,ghosts,search_s,steps,failures,distance,penetration,gain\n");
    for (int i = 0; i < c->scene_count; i++)
        for (int m = 0; m < c->method_count; m++) {
            const mor_collision_score* r = &c->scenes[i].scores[m];
            fprintf(out, "\"%s\",%s,%s,%d,%lld,%d,%d,%.9g,%.9g,%.9g,%.9g,%d,%d,%.9g,%d,%d,%.9g,%.9g,%.9g\n",
                    c->scenes[i].name, r->method, status_of(r), r->states, r->contacts, r->pairs, r->judged,
                    r->gap_error, r->mean_gap_error, r->normal_error, r->mean_normal_error, r->missed, r->ghosts,
                    r->time, r->steps, r->failures, r->distance, r->penetration, r->gain);
        }
}

static void write_score(mor_json* j, const mor_collision_score* r)
{
    mor_json_object(j, NULL);
    mor_json_text(j, "method", r->method);
    mor_json_text(j, "status", status_of(r));
    if (r->detail[0]) mor_json_text(j, "detail", r->detail);
    mor_json_integer(j, "states", r->states);
    mor_json_integer(j, "contacts", r->contacts);
    mor_json_integer(j, "pairs", r->pairs);
    mor_json_integer(j, "judged", r->judged);
    mor_json_object(j, "gap_error");
    mor_json_number(j, "max", r->gap_error);
    mor_json_number(j, "mean", r->mean_gap_error);
    mor_json_end(j);
    mor_json_object(j, "normal_error");
    mor_json_number(j, "max", r->normal_error);
    mor_json_number(j, "mean", r->mean_normal_error);
    mor_json_end(j);
    mor_json_integer(j, "missed", r->missed);
    mor_json_integer(j, "ghosts", r->ghosts);
    mor_json_number(j, "search_s", r->time);
    mor_json_integer(j, "steps", r->steps);
    mor_json_integer(j, "failures", r->failures);
    mor_json_number(j, "distance", r->distance);
    mor_json_number(j, "penetration", r->penetration);
    mor_json_number(j, "gain", r->gain);
    mor_json_end(j);
}

void mor_collisions_write_json(const mor_collisions* c, FILE* out)
{
    mor_json j = mor_json_begin(out);
    mor_json_object(&j, NULL);
    mor_json_list(&j, "methods");
    for (int m = 0; m < c->method_count; m++) mor_json_text(&j, NULL, c->methods[m]);
    mor_json_end(&j);
    mor_json_list(&j, "scenes");
    for (int i = 0; i < c->scene_count; i++) {
        mor_json_object(&j, NULL);
        mor_json_text(&j, "name", c->scenes[i].name);
        mor_json_list(&j, "collisions");
        for (int m = 0; m < c->method_count; m++) write_score(&j, &c->scenes[i].scores[m]);
        mor_json_end(&j);
        mor_json_end(&j);
    }
    mor_json_end(&j);
    mor_json_end(&j);
    mor_json_finish(&j);
}

/* ---------------------------------------------------------------------------------- Markdown */

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Over the scenes that every method was given. False: out of memory. */
static bool write_sums(const mor_collisions* c, FILE* out)
{
    double* values = calloc((size_t)c->scene_count + 1, sizeof *values);
    if (!values) return false;
    fprintf(out, "| method | scenes run | refused | contacts | median gap error [m] | missed | ghosts | failed steps | "
                 "time against the first |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int m = 0; m < c->method_count; m++) {
        int ran = 0, refused = 0, missed = 0, ghosts = 0, failures = 0, n = 0;
        long long contacts = 0;
        double ratio = 0.0, gap = NAN;
        int ratios = 0;
        for (int i = 0; i < c->scene_count; i++) {
            const mor_collision_score *r = &c->scenes[i].scores[m], *f = &c->scenes[i].scores[0];
            refused += r->refused;
            if (r->refused) continue;
            ran++, missed += r->missed, ghosts += r->ghosts, failures += r->failures, contacts += r->contacts;
            if (r->judged) values[n++] = r->mean_gap_error;
            if (r->time > 0.0 && f->time > 0.0) ratio += log(r->time / f->time), ratios++;
        }
        qsort(values, (size_t)n, sizeof *values, ascending);
        if (n) gap = values[n / 2];
        fprintf(out, "| `%s` | %d | %d | %lld | %.1e | %d | %d | %d | %.2f |\n", c->methods[m], ran, refused, contacts,
                gap, missed, ghosts, failures, ratios ? exp(ratio / ratios) : NAN);
    }
    free(values);
    return true;
}

bool mor_collisions_write_markdown(const mor_collisions* c, const char* command, FILE* out)
{
    char a[32], b[32];
    fprintf(
        out,
        "# Collision methods on the stock scenes\n\nWritten by `%s`.\n\n"
        "`src/lab/collisions.h` defines the columns. Contacts, errors and counts are those of the same states for "
        "all methods\nof a scene; distance, depth and failed steps are of each method's own run. Errors are the "
        "greatest of the scene, in m\nand rad. Distance: from the run of the first method. Time: CPU seconds of one "
        "search.\n\n",
        command);
    if (!write_sums(c, out)) return false;
    fprintf(out,
            "\n| scene | method | contacts | gap error | normal error | missed | ghosts | time | distance | depth | "
            "failed steps |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < c->scene_count; i++)
        for (int m = 0; m < c->method_count; m++) {
            const mor_collision_score* r = &c->scenes[i].scores[m];
            fprintf(out, "| %s | `%s` | ", m ? "" : c->scenes[i].name, r->method);
            if (r->refused) {
                fprintf(out, "refused: %s | | | | | | | | |\n", r->detail);
                continue;
            }
            fprintf(out, "%lld | %.1e | %.1e | %d | %d | %s | %s | %.1e | %d of %d%s |\n", r->contacts, r->gap_error,
                    r->normal_error, r->missed, r->ghosts, number(a, sizeof a, r->time),
                    number(b, sizeof b, r->distance), r->penetration, r->failures, r->steps,
                    r->finished ? "" : ", not finished");
        }
    return true;
}
