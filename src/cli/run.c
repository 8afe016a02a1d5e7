/* moreau run: simulate a scene, print what happened. */
#include "cli/cli.h"
#include "cli/control_link.h"
#include "cli/laboratory.h"
#include "cli/run_start.h"
#include "cli/options.h"
#include "cli/run_outputs.h"
#include "cli/signals.h"
#include "io/json/run_json.h"
#include "io/text/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SAMPLES = 1024 };

typedef struct arguments {
    const char *scene, *csv, *record, *bpmd;
    mor_cli_sets sets;
    int csv_every, bpmd_every, threads;
    int paper; /* choice of --bpmd-names */
    int bpmd_iterations;
    double times[MOST_SAMPLES];
    int time_count, steps;
    double end, limit, from_time;
    const char *from, *snapshot;
    bool json, quiet, verbose;
    mor_control_link_options control; /* address NULL: no controller in another process */
} arguments;

/* ----------------------------------------------------------------------------------- options */

static int take_scene(void* user, char* word) { return mor_cli_one_scene("run", &((arguments*)user)->scene, word); }

static int take_times(void* user, char* value)
{
    arguments* a = user;
    for (const char* p = value; *p;) {
        char* end;
        double x = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(x >= 0.0) || a->time_count == MOST_SAMPLES)
            return mor_cli_usage("run", "--at %s: expected times separated by commas", value);
        a->times[a->time_count++] = x;
        p = *end ? end + 1 : end;
    }
    return 0;
}

/* FILE or FILE:K; cuts the number off. */
static void take_every(char* value, const char** file, int* every)
{
    char* colon = strrchr(value, ':');
    double x;
    if (colon && mor_cli_number(colon + 1, &x) && x >= 1.0 && x <= 2e9) {
        *colon = '\0';
        *every = (int)x;
    }
    *file = value;
}

static int take_csv(void* user, char* value)
{
    arguments* a = user;
    take_every(value, &a->csv, &a->csv_every);
    return 0;
}

/* FILE or FILE:TIME. */
static int take_from(void* user, char* value)
{
    arguments* a = user;
    char* colon = strrchr(value, ':');
    double x;
    a->from = value;
    a->from_time = -1.0;
    if (colon && mor_cli_number(colon + 1, &x) && x >= 0.0) *colon = '\0', a->from_time = x;
    return 0;
}

static int take_bpmd(void* user, char* value)
{
    arguments* a = user;
    take_every(value, &a->bpmd, &a->bpmd_every);
    return 0;
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--formulation", "F", "how the step becomes a problem (moreau list formulations)", MOR_CLI_SET, AT(sets),
      .key = "method.formulation.name" },
    { "--solver", "S", "how the problem is solved (moreau list solvers)", MOR_CLI_SET, AT(sets),
      .key = "method.solver.name" },
    { "--collision", "C", "how contacts are found (moreau list collision)", MOR_CLI_SET, AT(sets),
      .key = "method.collision.name" },
    { "--integrator", "I", "how trees move where nothing one-sided acts (moreau list integrators)", MOR_CLI_SET,
      AT(sets), .key = "method.integrator.name" },
    { "--step", "H", "time step in seconds, or adaptive", MOR_CLI_SET, AT(sets), .key = "time.step" },
    { "--time", "T", "how long, in seconds", MOR_CLI_NUMBER, AT(end), .max = 1e300, .expected = "seconds" },
    { "--steps", "N", "how long, in steps", MOR_CLI_WHOLE, AT(steps), .max = 2e9, .expected = "a whole number" },
    { "--set", "KEY=VALUE", "any value of the scene, e.g. method.solver.tol=1e-9, bodies.top.mass=1e6", MOR_CLI_SET,
      AT(sets) },
    { "--from", "FILE[:T]", "begin with the state of a snapshot, or of a recording at time T (default: its end)",
      MOR_CLI_CALL, .take = take_from },
    { "--snapshot", "FILE", "write a snapshot at the end, from which --from goes on bit for bit", MOR_CLI_TEXT,
      AT(snapshot), .writes = true },
    { "--at", "T,...", "report the state at these times too", MOR_CLI_CALL, .take = take_times },
    { "--csv", "FILE[:K]", "bodies, contact totals and energy as a table, every K-th step; -: standard output",
      MOR_CLI_CALL, .take = take_csv, .writes = true },
    { "--record", "FILE.h5", "record everything (docs/recording.md)", MOR_CLI_TEXT, AT(record), .writes = true },
    { "--bpmd", "FILE.h5[:K]", "every K-th step as a problem for `moreau compare` (docs/bpmd.md)", MOR_CLI_CALL,
      .take = take_bpmd, .writes = true },
    { "--bpmd-names", "ours|paper", "names and sizes of ours (default), or of Table 2 of the BPMD paper",
      MOR_CLI_CHOICE, AT(paper), .expected = "ours|paper" },
    { "--bpmd-iterations", "N",
      "most iterations of a step whose errors and contact states are stored (1000; 0: those of the answer alone)",
      MOR_CLI_WHOLE, AT(bpmd_iterations), .max = 1000000, .expected = "a whole number" },
    MOR_CLI_TIME_LIMIT(AT(limit)),
    { "--control", "ADDRESS", "torques come from another process: unix:PATH or fifo:PATH (docs/control-link.md)",
      MOR_CLI_TEXT, AT(control.address) },
    { "--control-timeout", "SECONDS", "how long it may take to come and to answer (10)", MOR_CLI_NUMBER,
      AT(control.timeout), .min = 1e-3, .max = 1e6, .expected = "seconds" },
    { "--pace", "X",
      "with --control: simulated seconds per second of the clock; 1 is real time (0: as fast as it goes)",
      MOR_CLI_NUMBER, AT(control.pace), .max = 1e6, .expected = "a number" },
    { "--threads", "N", "threads for independent groups of bodies; the answer does not depend on it", MOR_CLI_WHOLE,
      AT(threads), .min = 1, .max = 256, .expected = "1 to 256" },
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { "--verbose", NULL, "all notes on the files read; when a step fails, list what the solver tried", MOR_CLI_FLAG,
      AT(verbose) },
    { "--quiet", NULL, "print nothing on success", MOR_CLI_FLAG, AT(quiet) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "run",
    .usage = "SCENE [options]",
    .about = "SCENE is a file, or the name of a scene that came with the program (moreau list scenes).\n"
             "A robot's file (URDF, MJCF, SDF) is a scene too.\n",
    .options = options,
    .more =
        "SIGINT and SIGTERM: the step is finished, all files are closed, and the exit status is 130 or 143. A second\n"
        "one ends the program at once.\n",
    .operand = take_scene,
};

/* -------------------------------------------------------------------------------------- run */

/* Everything one run holds; cleaned up by `finish`. */
typedef struct session {
    const arguments* a;
    mor_scene* scene;
    mor_world* world;
    mor_run* run;
    mor_cli_recording* recording;
    mor_control_link* link;
    mor_cli_table* table;
    FILE* document; /* kept aside until the run is over: a run that breaks off prints no half document */
    char* text;
    size_t length;
    mor_json json;
    int steps; /* -1: until `end`, with variable steps */
    double end;
    int sample;
    int signal; /* that ended it, or 0 */
    double started, shown;
} session;

static void progress(session* s, int step)
{
    double now = mor_clock();
    if (now - s->started < 1.0 || now - s->shown < 0.2) return;
    s->shown = now;
    double t = mor_world_time(s->world);
    if (s->steps >= 0) {
        double left = (now - s->started) * (s->steps - step) / step;
        fprintf(stderr, "\r  step %d of %d, %.0f s left   ", step, s->steps, left);
    } else {
        fprintf(stderr, "\r  step %d, %.6g of %g s   ", step, t, s->end);
    }
}

/* The samples that are due: each at the step nearest to its time. */
static void write_samples(session* s)
{
    const mor_world* w = s->world;
    for (; s->sample < s->a->time_count && mor_world_reached(w, s->a->times[s->sample]); s->sample++) {
        if (!s->document) continue;
        mor_json_object(&s->json, NULL);
        mor_json_number(&s->json, "time", mor_world_time(w));
        mor_run_json_state(&s->json, w);
        mor_json_end(&s->json);
    }
}

/* A kinematic body that moves and touches one that moves freely; "" without. */
static const char* pusher(const mor_world* w)
{
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    for (int i = 0; i < 2 * count; i++) {
        mor_body_id a = mor_world_body(w, c[i / 2].body[i % 2]), b = mor_world_body(w, c[i / 2].body[1 - i % 2]);
        mor_body_state s = mor_body_get_state(w, a);
        bool moves = mor_norm(s.velocity) > 0.0 || mor_norm(s.angular_velocity) > 0.0;
        if (moves && mor_body_get_kind(w, a) == MOR_KINEMATIC && mor_body_get_kind(w, b) == MOR_DYNAMIC)
            return mor_body_name(w, a);
    }
    return "";
}

/* Why the run stops before step k. */
static void tell_stop(const session* s, int k, const mor_step_report* r)
{
    const mor_world* w = s->world;
    fprintf(stderr, "moreau: step %d at t = %g s: %s", k, mor_world_time(w), mor_status_name(r->status));
    if (r->status == MOR_REFUSED) {
        const char* why = strchr(r->detail, ':');
        fprintf(stderr,
                "%s; the run stops before it. Formulation '%s' with solver '%s' cannot do this: another one helps\n",
                why ? why : "", mor_world_method(w, "formulation"), mor_world_method(w, "solver"));
    } else {
        fprintf(stderr,
                ", velocity error %.3g m/s; the run stops before it. What may help: a smaller step, a looser goal "
                "(method.accuracy), another solver or formulation",
                r->velocity_error);
        if (*pusher(w))
            fprintf(stderr, "; what '%s' pushes, as it moves whatever is in its way, needs room", pusher(w));
        fputc('\n', stderr);
    }
    if (s->a->verbose && r->detail[0]) fprintf(stderr, "moreau: %s after %d iterations\n", r->detail, r->iterations);
}

/* What was noticed while the scene was read: the first lines, or all. */
static void tell_notes(const session* s)
{
    enum { MOST = 6 };
    int count = 0;
    for (const char *line = mor_scene_notes(s->scene), *end; *line; line = end) {
        size_t length = strcspn(line, "\n");
        end = line + length + (line[length] == '\n');
        if (count++ < MOST || s->a->verbose) fprintf(stderr, "%.*s\n", (int)length, line);
    }
    if (count > MOST && !s->a->verbose) fprintf(stderr, "... and %d more notes (--verbose)\n", count - MOST);
}

/* Joints that are open before the first step, and what becomes of them. */
static void tell_open(const mor_start* start)
{
    enum { MOST = 4 };
    for (int i = 0; i < start->open_count && i < MOST; i++) {
        const mor_start_open* o = &start->open[i];
        fprintf(stderr, "moreau: note: at the start joint '%s' is open by %.3g; ", o->joint, o->by);
        if (start->exclusive) fprintf(stderr, "bodies are moved to close it, which leaves %.3g\n", o->left);
        else fprintf(stderr, "bodies are moved to close it\n");
    }
    if (start->open_count > MOST)
        fprintf(stderr, "moreau: note: ... and %d more open joints\n", start->open_count - MOST);
    if (start->exclusive)
        fprintf(stderr, "moreau: warning: joints exclude each other: no placement was found that closes them all, and "
                        "they are held as open as they are; check their points, axes and lengths\n");
}

/* What the scene overlaps before the first step, and what becomes of it. */
static void tell_start(const session* s)
{
    const mor_start* start = mor_run_start(s->run);
    const char* what = "it is undone as method.gap_correction says";
    if (start->overlaps)
        fprintf(stderr, "moreau: note: at the start %d pair%s, '%s' and '%s' by %.3g m; %s\n", start->overlaps,
                start->overlaps == 1 ? " of bodies overlaps" : "s of bodies overlap", start->pair[0], start->pair[1],
                start->penetration, what);
    if (start->stays)
        fprintf(
            stderr,
            "moreau: warning: joints or other bodies hold '%s' and '%s' %.3g m deep in each other%s; the run leaves "
            "them there\n",
            start->held[0], start->held[1], start->left, start->stays > 1 ? ", and more pairs" : "");
    for (int i = 0; i < start->limit_count && i < 4; i++)
        fprintf(stderr, "moreau: note: at the start joint '%s' is outside its limits by %.3g; %s\n",
                start->limits[i].joint, start->limits[i].by, what);
    if (start->limit_count > 4) fprintf(stderr, "moreau: note: ... and %d more joints\n", start->limit_count - 4);
    tell_open(start);
}

/* `first`: steps that the world had behind it when the run began. A run of variable steps has no number of steps. */
static void tell_interrupt(const session* s, int first)
{
    char total[32] = "";
    if (s->steps >= 0) snprintf(total, sizeof total, " of %lld", (long long)first + s->steps);
    fprintf(stderr, "moreau: %s after step %d%s, at t = %g s; what was written until then is complete\n",
            mor_cli_signal_name(s->signal), mor_world_step_count(s->world), total, mor_world_time(s->world));
}

static int simulate(session* s)
{
    mor_error error = { 0 };
    const int first = mor_world_step_count(s->world);
    bool terminal = isatty(2) && !s->a->quiet;
    s->started = mor_clock();
    if (s->document) mor_json_list(&s->json, "samples");
    write_samples(s);
    for (int k = 1; s->steps >= 0 ? k <= s->steps : !mor_world_reached(s->world, s->end); k++) {
        mor_step_report r;
        if (s->steps < 0) mor_world_limit_step(s->world, s->end);
        if (s->sample < s->a->time_count) mor_world_limit_step(s->world, s->a->times[s->sample]);
        if ((s->signal = mor_cli_signal())) break;
        if (mor_run_step(s->run, &r, &error) != MOR_OK) return mor_cli_fail(&error);
        if ((s->signal = mor_world_interrupted(s->world) ? mor_cli_signal() : 0)) break;
        if (mor_run_stopped(s->run)) {
            if (terminal) fputc('\n', stderr);
            tell_stop(s, k, &r);
            break;
        }
        mor_code lost = mor_cli_table_add(s->table, s->world, &r, &error);
        if (!lost) lost = mor_cli_recording_state(s->recording, &error);
        if (lost) return mor_cli_fail(&error);
        write_samples(s);
        if (terminal) progress(s, k);
    }
    if (s->a->snapshot && mor_cli_snapshot(s->a->snapshot, s->world, &error)) return mor_cli_fail(&error);
    if (s->document) mor_json_end(&s->json);
    if (terminal && s->shown > 0.0) fprintf(stderr, "\r%40s\r", "");
    if (s->signal) tell_interrupt(s, first);
    return 0;
}

/* Scene, world, and all that is written; 0 or the exit status. */
static int prepare(session* s)
{
    const arguments* a = s->a;
    mor_error error = { 0 };
    char path[4096];
    s->scene =
        mor_scene_load(mor_cli_scene_path(a->scene, path, sizeof path), a->sets.items, mor_cli_library(), &error);
    if (!s->scene) return mor_cli_no_scene(a->scene, &error);
    if (!a->quiet) tell_notes(s);
    s->world = mor_scene_build(s->scene, a->threads, &error);
    if (!s->world) return mor_cli_fail(&error);
    if (a->from && mor_cli_start_from(a->from, a->from_time, s->world, &error)) return mor_cli_fail(&error);
    double length = a->end >= 0.0 ? a->end : mor_scene_end(s->scene);
    s->end = mor_world_time(s->world) + length;
    bool variable = mor_world_get_adaptive(s->world, NULL);
    double h = mor_world_get_step(s->world);
    s->steps = a->steps >= 0 ? a->steps : variable ? -1 : (int)floor(length / h + 0.5);
    if (a->steps < 0 && s->steps == 0 && length > 0.0)
        fprintf(stderr, "moreau: note: the step, %g s, is longer than the run, %g s: no step is taken\n", h, length);
    double last = variable ? (a->steps >= 0 ? INFINITY : s->end) : mor_world_time(s->world) + s->steps * h;
    if (a->time_count && a->times[a->time_count - 1] >= last + 0.5 * h)
        return mor_cli_usage("run", "--at %g: the run ends at %g s", a->times[a->time_count - 1], last);
    if (a->control.address && !(s->link = mor_control_link_open(&a->control, s->world, &error)))
        return mor_cli_fail(&error);
    if (a->record || a->bpmd) {
        const mor_cli_problems problems = { a->bpmd, a->bpmd_every, a->paper, a->bpmd_iterations };
        s->recording = mor_cli_recording_open(a->record, &problems, s->world, s->scene, &error);
        if (!s->recording) return mor_cli_fail(&error);
    }
    if (a->csv && !(s->table = mor_cli_table_open(a->csv, a->csv_every, s->world, &error))) return mor_cli_fail(&error);
    s->run = mor_run_create(s->world, s->steps >= 0 ? s->steps : 1000, &error);
    if (!s->run) return mor_cli_fail(&error);
    mor_world_set_interrupt(s->world, mor_cli_patience());
    if (!a->quiet) {
        tell_start(s);
        mor_cli_print_left_out(s->world);
    }
    if (!a->json) return 0;
    s->document = open_memstream(&s->text, &s->length);
    if (!s->document) {
        mor_fail(&error, MOR_SYSTEM, "out of memory");
        return mor_cli_fail(&error);
    }
    s->json = mor_json_begin(s->document);
    mor_json_object(&s->json, NULL);
    return 0;
}

/* 0, 1 when a step failed, 3 when standard output did. */
static int tell(session* s)
{
    mor_run_summary summary = mor_run_summarise(s->run);
    if (!s->a->quiet) mor_cli_tell_deep(&summary.deep);
    if (s->document) {
        mor_run_json_summary(&s->json, s->world, s->scene, &summary, mor_run_start(s->run));
        if (s->signal) mor_json_text(&s->json, "stopped_by", mor_cli_signal_name(s->signal));
        mor_json_end(&s->json);
        mor_error error = { 0 };
        if (!mor_json_finish(&s->json)) { /* it grows in memory */
            mor_fail(&error, MOR_SYSTEM, "out of memory");
            return mor_cli_fail(&error);
        }
        fwrite(s->text, 1, s->length, stdout); /* main tells when that is lost */
    } else if (!s->a->quiet && !(s->a->csv && mor_output_is_standard(s->a->csv))) {
        mor_cli_print_run(s->world, s->scene, &summary);
    }
    return s->signal ? mor_cli_signal_status(s->signal) : summary.failures > 0;
}

/* Closes everything; a file that cannot be closed is a failure unless there was a worse one. */
static int finish(session* s, int code)
{
    mor_error error = { 0 };
    if (s->document) fclose(s->document);
    free(s->text);
    bool good = code != MOR_BAD_INPUT && code != MOR_SYSTEM;
    if (mor_cli_table_close(s->table, good, &error) != MOR_OK && good) code = mor_cli_fail(&error), good = false;
    if (mor_cli_recording_close(s->recording, &error) != MOR_OK && good) code = mor_cli_fail(&error);
    mor_run_destroy(s->run);
    mor_control_link_close(s->link);
    mor_world_destroy(s->world);
    mor_scene_destroy(s->scene);
    return code;
}

static int compare_times(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

int mor_cli_run(int argc, char** argv)
{
    arguments a = { .csv_every = 1,
                    .bpmd_every = 1,
                    .bpmd_iterations = 1000,
                    .threads = 1,
                    .steps = -1,
                    .end = -1.0,
                    .control = { .timeout = 10.0 } };
    int code = mor_cli_parse(&command, argc, argv, &a);
    if (code) return code;
    if (!a.scene) return mor_cli_usage("run", "which scene?");
    if (a.csv && a.json && mor_output_is_standard(a.csv))
        return mor_cli_usage("run", "--csv - and --json both want standard output");
    if (a.end >= 0.0 && a.steps >= 0)
        return mor_cli_usage("run", "--time %g and --steps %d both say how long; give one of them", a.end, a.steps);
    mor_cli_catch_signals(a.limit);
    qsort(a.times, (size_t)a.time_count, sizeof(double), compare_times);
    session s = { .a = &a };
    code = prepare(&s);
    if (!code) code = simulate(&s);
    if (!code) code = tell(&s);
    return finish(&s, code);
}
