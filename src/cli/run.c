/* moreau run: simulate a scene, print what happened. */
#include "cli/cli.h"
#include "io/bpmd.h"
#include "io/json.h"
#include "moreau/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "usage: moreau run SCENE [options]\n\n"
    "SCENE is a file, or the name of a scene that came with the program (moreau list scenes).\n\n"
    "  --formulation F      how the step becomes a problem (moreau list formulations)\n"
    "  --solver S           how the problem is solved (moreau list solvers)\n"
    "  --collision C        how contacts are found (moreau list collision)\n"
    "  --integrator I       how trees move where nothing one-sided acts (moreau list integrators)\n"
    "  --step H             time step in seconds\n"
    "  --time T | --steps N how long\n"
    "  --set KEY=VALUE      any value of the scene, e.g. method.solver.tol=1e-9, bodies.top.mass=1e6\n"
    "  --at T,...           report the state at these times too\n"
    "  --csv FILE[:K]       bodies, contact totals and energy as a table, every K-th step\n"
    "  --record FILE.h5     record everything (docs/recording.md)\n"
    "  --bpmd FILE.h5[:K]   every K-th step as a problem for `moreau compare` (docs/bpmd.md)\n"
    "  --threads N          threads for independent groups of bodies; the answer does not depend on it\n"
    "  --json               one JSON document on standard output\n"
    "  --quiet              print nothing on success\n";

enum { MOST_SETS = 256, MOST_SAMPLES = 1024 };

typedef struct arguments {
    const char *scene, *csv, *record, *bpmd;
    const char* sets[MOST_SETS + 1];
    char storage[8][256];
    int set_count, stored, csv_every, bpmd_every, threads;
    double times[MOST_SAMPLES];
    int time_count, steps;
    double end;
    bool json, quiet, help;
} arguments;

/* Everything gathered over the run. */
typedef struct summary {
    double initial, final, max_gain, max_step_gain, work, correction;
    double momentum[2][6];
    double penetration, raw_penetration, projection, velocity_error, max_residual, joint_error, *residuals;
    double iterations;
    double smooth, reduced, halvings, rescued, sweeps;
    int reduced_steps;
    int steps, failures, max_contacts, max_size, max_iterations;
    mor_timing timing;
    double cpu, wall;
    char detail[192];
    const char* status;
    mor_joint_rank rank[2]; /* of the joints' equations at the start and at the end */
} summary;

static int add_set(arguments* a, const char* key, const char* value)
{
    if (a->set_count == MOST_SETS || a->stored == 8) return mor_cli_usage("run", "too many options");
    snprintf(a->storage[a->stored], sizeof a->storage[0], "%s=%s", key, value);
    a->sets[a->set_count++] = a->storage[a->stored++];
    return 0;
}

static bool number(const char* text, double* value)
{
    char* end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static int parse(int argc, char** argv, arguments* a)
{
    *a = (arguments){ .csv_every = 1, .bpmd_every = 1, .threads = 1, .steps = -1, .end = -1.0 };
    static const struct {
        const char *option, *key;
    } keys[] = { { "--formulation", "method.formulation.name" },
                 { "--solver", "method.solver.name" },
                 { "--collision", "method.collision.name" },
                 { "--integrator", "method.integrator.name" },
                 { "--step", "time.step" } };
    for (int i = 1; i < argc; i++) {
        const char* s = argv[i];
        if (strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0) {
            a->help = true;
            return 0;
        }
        if (strcmp(s, "--json") == 0) {
            a->json = true;
            continue;
        }
        if (strcmp(s, "--quiet") == 0) {
            a->quiet = true;
            continue;
        }
        if (s[0] != '-') {
            if (a->scene) return mor_cli_usage("run", "two scenes, '%s' and '%s'", a->scene, s);
            a->scene = s;
            continue;
        }
        const char* known[] = { "--formulation", "--solver", "--collision", "--integrator", "--step",   "--time",
                                "--steps",       "--set",    "--at",        "--csv",        "--record", "--bpmd",
                                "--threads",     "--json",   "--quiet",     "--help",       NULL };
        bool is_known = false;
        for (int k = 0; known[k]; k++) is_known = is_known || strcmp(known[k], s) == 0;
        if (!is_known) {
            const char* near = mor_did_you_mean(s, known);
            return near ? mor_cli_usage("run", "unknown option '%s', did you mean '%s'?", s, near)
                        : mor_cli_usage("run", "unknown option '%s'", s);
        }
        if (i + 1 == argc) return mor_cli_usage("run", "%s needs a value", s);
        const char* value = argv[++i];
        int code = 0;
        bool done = false;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (strcmp(s, keys[k].option) == 0) {
                code = add_set(a, keys[k].key, value);
                done = true;
            }
        double x = 0.0;
        if (done) {
            if (code) return code;
        } else if (strcmp(s, "--set") == 0) {
            if (!strchr(value, '=')) return mor_cli_usage("run", "--set %s: expected KEY=VALUE", value);
            if (a->set_count == MOST_SETS) return mor_cli_usage("run", "too many --set");
            a->sets[a->set_count++] = value;
        } else if (strcmp(s, "--time") == 0) {
            if (!number(value, &x) || x < 0.0) return mor_cli_usage("run", "--time %s: expected seconds", value);
            a->end = x;
        } else if (strcmp(s, "--steps") == 0) {
            if (!number(value, &x) || x < 0.0 || x != floor(x) || x > 2e9)
                return mor_cli_usage("run", "--steps %s: expected a whole number", value);
            a->steps = (int)x;
        } else if (strcmp(s, "--threads") == 0) {
            if (!number(value, &x) || x < 1.0 || x > 256.0 || x != floor(x))
                return mor_cli_usage("run", "--threads %s: expected 1 to 256", value);
            a->threads = (int)x;
        } else if (strcmp(s, "--at") == 0) {
            for (const char* p = value; *p;) {
                char* end;
                x = strtod(p, &end);
                if (end == p || (*end && *end != ',') || !(x >= 0.0) || a->time_count == MOST_SAMPLES)
                    return mor_cli_usage("run", "--at %s: expected times separated by commas", value);
                a->times[a->time_count++] = x;
                p = *end ? end + 1 : end;
            }
        } else if (strcmp(s, "--csv") == 0 || strcmp(s, "--bpmd") == 0) {
            bool csv = s[2] == 'c';
            char* colon = strrchr(argv[i], ':');
            if (colon && number(colon + 1, &x) && x >= 1.0 && x <= 2e9) {
                *colon = '\0';
                *(csv ? &a->csv_every : &a->bpmd_every) = (int)x;
            }
            *(csv ? &a->csv : &a->bpmd) = argv[i];
        } else {
            a->record = value;
        }
    }
    return a->scene ? 0 : mor_cli_usage("run", "which scene?");
}

/* ------------------------------------------------------------------------------- output */

static void write_vec(mor_json* json, const char* key, mor_vec3 v, int n)
{
    mor_json_numbers(json, key, (double[3]){ v.x, v.y, v.z }, n);
}

static void write_bodies(mor_json* json, const mor_world* w)
{
    int n = mor_world_dimension(w);
    mor_json_list(json, "bodies");
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        mor_body_state s = mor_body_get_state(w, id);
        mor_json_object(json, NULL);
        mor_json_text(json, "name", mor_body_name(w, id));
        write_vec(json, "position", s.pose.position, n);
        write_vec(json, "com", s.com, n);
        mor_quat q = s.pose.rotation;
        if (n == 3) mor_json_numbers(json, "quaternion", (double[4]){ q.w, q.x, q.y, q.z }, 4);
        else mor_json_number(json, "angle", 2.0 * atan2(q.z, q.w));
        write_vec(json, "velocity", s.velocity, n);
        if (n == 3) write_vec(json, "angular_velocity", s.angular_velocity, 3);
        else mor_json_number(json, "angular_velocity", s.angular_velocity.z);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void write_robots(mor_json* json, const mor_world* w)
{
    mor_json_list(json, "robots");
    for (int i = 0; i < mor_world_robot_count(w); i++) {
        const mor_robot_model* m = mor_world_robot_model(w, i);
        int n = mor_robot_joint_count(m), N = mor_robot_dof(m), base = N > n ? 7 : 0;
        double* q = malloc((size_t)(base + n + N + 1) * sizeof *q);
        if (!q) continue;
        mor_pose p;
        mor_world_robot_state(w, i, &p, q + base, q + base + n);
        if (base)
            memcpy(q,
                   (double[7]){ p.position.x, p.position.y, p.position.z, p.rotation.w, p.rotation.x, p.rotation.y,
                                p.rotation.z },
                   7 * sizeof *q);
        mor_json_object(json, NULL);
        mor_json_text(json, "name", mor_world_robot_name(w, i));
        mor_json_numbers(json, "q", q, base + n);
        mor_json_numbers(json, "qd", q + base + n, N);
        mor_json_list(json, "feet");
        for (int k = 0; k < mor_world_foot_count(w, i); k++) {
            mor_foot_state f = mor_world_foot(w, i, k);
            mor_json_object(json, NULL);
            mor_json_text(json, "link", mor_robot_frame(m, f.frame)->name);
            mor_json_bool(json, "contact", f.contact);
            mor_json_numbers(json, "wrench", f.wrench, 6);
            mor_json_numbers(json, "cop", f.cop, 3);
            mor_json_end(json);
        }
        mor_json_end(json);
        mor_json_end(json);
        free(q);
    }
    mor_json_end(json);
}

/* Force and moment about the origin that fixed and kinematic bodies exert on the dynamic ones. */
static void contact_wrench(const mor_world* w, double wrench[6])
{
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    mor_vec3 f = mor_v3(0, 0, 0), m = f;
    for (int i = 0; i < n; i++) {
        bool first = mor_body_get_kind(w, mor_world_body(w, c[i].body[0])) == MOR_DYNAMIC;
        bool second = mor_body_get_kind(w, mor_world_body(w, c[i].body[1])) == MOR_DYNAMIC;
        if (first == second) continue;
        mor_vec3 p = mor_scale((second ? 1.0 : -1.0) / mor_world_get_step(w), c[i].impulse);
        f = mor_add(f, p);
        m = mor_add(m, mor_cross(mor_lerp(c[i].point[0], c[i].point[1], 0.5), p));
    }
    memcpy(wrench, (double[6]){ f.x, f.y, f.z, m.x, m.y, m.z }, 6 * sizeof(double));
}

/* Equations of joints: how far they are open, and the forces in them at the end of the run. */
static void write_joints(mor_json* json, mor_world* w)
{
    int n = mor_world_joint_count(w);
    double* forces = n ? malloc(6 * (size_t)n * sizeof *forces) : NULL;
    mor_error error;
    if (!forces) return;
    mor_step* step = mor_step_create(w, &error); /* with the forces of the coming step, which will not be taken */
    bool known =
        step && mor_stage_user(w, step, &error) == MOR_OK && mor_step_joint_forces(w, step, forces, &error) == MOR_OK;
    mor_step_destroy(step);
    mor_json_list(json, "joint_forces");
    for (int i = 0; i < n; i++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "name", mor_world_joint(w, i)->name);
        mor_json_number(json, "position", mor_world_joint_position(w, i));
        if (known) mor_json_numbers(json, "force", forces + 6 * i, 6);
        mor_json_end(json);
    }
    mor_json_end(json);
    free(forces);
}

static int compare_doubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static double max_drift(const mor_world* w, const mor_vec3* start)
{
    double drift = 0.0;
    for (int i = 0; i < mor_world_body_count(w); i++)
        drift = fmax(drift, mor_norm(mor_sub(mor_body_get_state(w, mor_world_body(w, i)).com, start[i])));
    return drift;
}

static void write_json(mor_json* json, mor_world* w, const mor_scene* scene, summary* s, const mor_vec3* start)
{
    mor_json_text(json, "scene", mor_scene_name(scene));
    mor_json_text(json, "formulation", mor_world_method(w, "formulation"));
    mor_json_text(json, "solver", mor_world_method(w, "solver"));
    mor_json_text(json, "collision", mor_world_method(w, "collision"));
    mor_json_number(json, "step", mor_world_get_step(w));
    mor_json_integer(json, "steps", mor_world_step_count(w));
    mor_json_number(json, "time", mor_world_time(w));
    mor_json_text(json, "status", s->status);
    mor_json_integer(json, "failures", s->failures);
    if (s->detail[0]) mor_json_text(json, "detail", s->detail);
    write_bodies(json, w);
    write_robots(json, w);
    mor_json_object(json, "energy");
    mor_json_number(json, "initial", s->initial);
    mor_json_number(json, "final", s->final);
    mor_json_number(json, "max_gain", s->max_gain);
    mor_json_number(json, "max_step_gain", s->max_step_gain);
    mor_json_number(json, "correction_work", s->correction);
    mor_json_number(json, "projection_work", s->projection);
    mor_json_end(json);
    mor_json_object(json, "momentum");
    mor_json_numbers(json, "initial", s->momentum[0], 6);
    mor_json_numbers(json, "final", s->momentum[1], 6);
    mor_json_end(json);
    mor_json_number(json, "max_penetration", s->penetration);
    mor_json_number(json, "max_raw_penetration", s->raw_penetration);
    mor_json_number(json, "final_penetration", mor_world_penetration(w));
    mor_json_number(json, "max_joint_error", s->joint_error);
    mor_json_number(json, "max_drift", max_drift(w, start));
    if (s->rank[0].equations) {
        mor_json_object(json, "joints");
        mor_json_integer(json, "count", mor_world_joint_count(w));
        mor_json_integer(json, "equations", s->rank[0].equations);
        mor_json_integer(json, "rank", s->rank[0].rank);
        mor_json_integer(json, "freedom", s->rank[0].freedom);
        mor_json_integer(json, "final_rank", s->rank[1].rank);
        mor_json_end(json);
    }
    int contacts;
    mor_world_contacts(w, &contacts);
    double wrench[6];
    contact_wrench(w, wrench);
    mor_json_object(json, "contacts");
    mor_json_integer(json, "final", contacts);
    mor_json_integer(json, "max", s->max_contacts);
    mor_json_numbers(json, "force", wrench, 6);
    mor_json_end(json);
    mor_json_object(json, "problem_size");
    mor_json_integer(json, "max", s->max_size);
    mor_json_end(json);
    qsort(s->residuals, (size_t)s->steps, sizeof(double), compare_doubles);
    mor_json_object(json, "residual");
    mor_json_number(json, "max", s->max_residual);
    mor_json_number(json, "median", s->steps ? s->residuals[s->steps / 2] : 0.0);
    mor_json_number(json, "velocity_max", s->velocity_error);
    mor_json_end(json);
    mor_json_object(json, "iterations");
    mor_json_integer(json, "max", s->max_iterations);
    mor_json_number(json, "mean", s->steps ? s->iterations / s->steps : 0.0);
    mor_json_end(json);
    mor_json_object(json, "integrator");
    mor_json_text(json, "name", mor_world_method(w, "integrator"));
    mor_json_number(json, "smooth", s->smooth);
    mor_json_number(json, "reduced", s->reduced);
    mor_json_integer(json, "reduced_steps", s->reduced_steps);
    mor_json_number(json, "halvings", s->halvings);
    mor_json_number(json, "rescued", s->rescued);
    mor_json_number(json, "sweeps_mean", s->steps ? s->sweeps / s->steps : 0.0);
    mor_json_end(json);
    double us = s->steps ? 1e6 / s->steps : 0.0;
    mor_json_object(json, "timing_us_per_step");
    mor_json_number(json, "total", us * s->timing.total);
    mor_json_number(json, "cpu", us * s->cpu);
    mor_json_number(json, "user", us * s->timing.user);
    mor_json_number(json, "collision", us * s->timing.collision);
    mor_json_number(json, "assemble", us * s->timing.assemble);
    mor_json_number(json, "formulate", us * s->timing.formulate);
    mor_json_number(json, "solve", us * s->timing.solve);
    mor_json_number(json, "integrate", us * s->timing.integrate);
    mor_json_number(json, "record", us * s->timing.record);
    mor_json_end(json);
    mor_json_number(json, "real_time_factor", s->wall > 0.0 ? mor_world_time(w) / s->wall : 0.0);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mor_world_hash(w));
    mor_json_text(json, "state_hash", hash);
    write_joints(json, w);
}

static void print_summary(const mor_world* w, const mor_scene* scene, const summary* s, const mor_vec3* start)
{
    printf("%s: %s + %s, %d steps of %g s, status %s\n", mor_scene_name(scene), mor_world_method(w, "formulation"),
           mor_world_method(w, "solver"), mor_world_step_count(w), mor_world_get_step(w), s->status);
    if (s->failures) printf("  %d step(s) missed the tolerance (%s)\n", s->failures, s->detail);
    int n = mor_world_body_count(w), shown = 0;
    for (int i = 0; i < n && shown < 8; i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) == MOR_FIXED) continue;
        mor_body_state b = mor_body_get_state(w, id);
        printf("  %-16s at (%.6g, %.6g, %.6g), moving (%.4g, %.4g, %.4g) m/s\n", mor_body_name(w, id), b.com.x, b.com.y,
               b.com.z, b.velocity.x, b.velocity.y, b.velocity.z);
        shown++;
    }
    printf("  energy %.6g -> %.6g J, penetration at most %.3g m, drift at most %.3g m\n", s->initial, s->final,
           s->penetration, max_drift(w, start));
    if (mor_world_joint_count(w)) {
        printf("  %d joints, error at most %.3g; %d equations", mor_world_joint_count(w), s->joint_error,
               s->rank[0].equations);
        if (s->rank[0].rank >= 0 && s->rank[0].rank < s->rank[0].equations)
            printf(" of rank %d (%d redundant)", s->rank[0].rank, s->rank[0].equations - s->rank[0].rank);
        if (s->rank[1].rank != s->rank[0].rank) printf(", rank %d at the end", s->rank[1].rank);
        if (s->rank[0].rank >= 0) printf(", %d degrees of freedom\n", s->rank[0].freedom);
        else puts(", too many to count their rank");
    }
    printf("  %.3g contacts at most, velocity error at most %.3g m/s, %.3g iterations per step\n",
           (double)s->max_contacts, s->velocity_error, s->steps ? s->iterations / s->steps : 0.0);
    if (strcmp(mor_world_method(w, "integrator"), "semi-implicit") != 0) {
        printf("  %s: %.3g sweeps per step, %.6g step(s) halved", mor_world_method(w, "integrator"),
               s->steps ? s->sweeps / s->steps : 0.0, s->halvings);
        if (s->rescued > 0.0) printf(", %.6g taken by rk4 past singular positions", s->rescued);
        if (s->reduced_steps)
            printf("; in %d of %d steps something one-sided acted and lowered the order to 1", s->reduced_steps,
                   s->steps);
        putchar('\n');
    }
    double us = s->steps ? 1e6 / s->steps : 0.0;
    printf("  %.4g us per step (collision %.4g, assemble %.4g, solve %.4g, integrate %.4g), %.3g times real time\n",
           us * s->timing.total, us * s->timing.collision, us * s->timing.assemble,
           us * (s->timing.formulate + s->timing.solve), us * s->timing.integrate,
           s->wall > 0.0 ? mor_world_time(w) / s->wall : 0.0);
}

/* One line of the table; the head when `report` is NULL. */
static void write_csv(FILE* out, const mor_world* w, const mor_step_report* r)
{
    int n = mor_world_body_count(w);
    if (!r) {
        fprintf(out, "time,kinetic,potential,contacts,penetration,velocity_error,iterations,force_x,force_y,force_z");
        for (int i = 0; i < n; i++) {
            const char* b = mor_body_name(w, mor_world_body(w, i));
            fprintf(out, ",%s.x,%s.y,%s.z,%s.qw,%s.qx,%s.qy,%s.qz,%s.vx,%s.vy,%s.vz,%s.wx,%s.wy,%s.wz", b, b, b, b, b,
                    b, b, b, b, b, b, b, b);
        }
        fputc('\n', out);
        return;
    }
    double f[6];
    contact_wrench(w, f);
    fprintf(out, "%.17g,%.17g,%.17g,%d,%.17g,%.17g,%d,%.17g,%.17g,%.17g", mor_world_time(w), r->kinetic, r->potential,
            r->contacts, r->penetration, r->velocity_error, r->iterations, f[0], f[1], f[2]);
    for (int i = 0; i < n; i++) {
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, i));
        fprintf(out, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g",
                s.pose.position.x, s.pose.position.y, s.pose.position.z, s.pose.rotation.w, s.pose.rotation.x,
                s.pose.rotation.y, s.pose.rotation.z, s.velocity.x, s.velocity.y, s.velocity.z, s.angular_velocity.x,
                s.angular_velocity.y, s.angular_velocity.z);
    }
    fputc('\n', out);
}

/* ---------------------------------------------------------------------------------- run */

static void progress(int step, int steps, double started, double* shown)
{
    double now = mor_clock();
    if (now - started < 1.0 || now - *shown < 0.2) return;
    *shown = now;
    double left = (now - started) * (steps - step) / step;
    fprintf(stderr, "\r  step %d of %d, %.0f s left   ", step, steps, left);
}

static void account(summary* s, const mor_world* w, const mor_step_report* r, double* energy)
{
    double E = r->kinetic + r->potential;
    s->work += r->applied_work + r->contact_work;
    s->correction += r->correction_work;
    s->max_gain = fmax(s->max_gain, E - s->initial - s->work - s->correction);
    s->max_step_gain = fmax(s->max_step_gain, E - *energy);
    *energy = E;
    s->penetration = fmax(s->penetration, r->penetration);
    s->raw_penetration = fmax(s->raw_penetration, r->raw_penetration);
    s->projection += r->projection_work;
    s->velocity_error = fmax(s->velocity_error, r->velocity_error);
    s->max_residual = fmax(s->max_residual, r->residual);
    s->residuals[s->steps++] = r->residual;
    s->iterations += r->iterations;
    s->smooth += r->smooth;
    s->reduced += r->reduced;
    s->reduced_steps += r->reduced > 0;
    s->halvings += r->halvings;
    s->rescued += r->rescued;
    s->sweeps += r->sweeps;
    if (r->iterations > s->max_iterations) s->max_iterations = r->iterations;
    if (r->contacts > s->max_contacts) s->max_contacts = r->contacts;
    if (r->problem_size > s->max_size) s->max_size = r->problem_size;
    double* total = &s->timing.total;
    const double* one = &r->timing.total;
    for (size_t i = 0; i < sizeof(mor_timing) / sizeof(double); i++) total[i] += one[i];
    (void)w;
}

/* The samples that are due: each at the step nearest to its time. Returns the next one. */
static int write_samples(const mor_world* w, const arguments* a, int sample, mor_json* json)
{
    for (; sample < a->time_count && a->times[sample] < mor_world_time(w) + 0.5 * mor_world_get_step(w); sample++) {
        if (!json) continue;
        mor_json_object(json, NULL);
        mor_json_number(json, "time", mor_world_time(w));
        write_bodies(json, w);
        write_robots(json, w);
        mor_json_end(json);
    }
    return sample;
}

static int simulate(mor_world* w, const arguments* a, int steps, FILE* csv, summary* s, mor_json* json)
{
    mor_error error = { 0 };
    double energy = s->initial, shown = 0.0;
    double started = mor_clock(), cpu = mor_cpu_clock();
    bool terminal = isatty(2) && !a->quiet;
    int sample = 0;
    s->status = "ok";
    if (json) mor_json_list(json, "samples");
    sample = write_samples(w, a, sample, json);
    for (int k = 1; k <= steps; k++) {
        mor_step_report r;
        mor_code code = mor_world_step(w, &r, &error);
        if (code != MOR_OK && code != MOR_STOPPED) return mor_cli_fail(&error);
        bool stopped = code == MOR_STOPPED;
        if (r.failures > 0 || r.status != MOR_SOLVED) {
            s->failures++;
            s->status = "failed";
            if (!s->detail[0]) snprintf(s->detail, sizeof s->detail, "%s", r.detail);
        }
        if (!isfinite(r.kinetic) || r.kinetic > 1e30) s->status = "diverged", stopped = true;
        if (stopped) {
            if (terminal) fputc('\n', stderr);
            fprintf(stderr,
                    "moreau: step %d at t = %g s: %s (velocity error %.3g m/s after %d iterations); the run stops "
                    "before it\n",
                    k, mor_world_time(w), r.detail[0] ? r.detail : s->status, r.velocity_error, r.iterations);
            if (s->failures == 0) s->failures = 1;
            s->velocity_error = fmax(s->velocity_error, r.velocity_error);
            break;
        }
        account(s, w, &r, &energy);
        if (mor_world_joint_count(w)) s->joint_error = fmax(s->joint_error, mor_world_joint_error(w));
        if (csv && k % a->csv_every == 0) write_csv(csv, w, &r);
        sample = write_samples(w, a, sample, json);
        if (terminal) progress(k, steps, started, &shown);
    }
    if (json) mor_json_end(json);
    if (terminal && shown > 0.0) fprintf(stderr, "\r%40s\r", "");
    s->wall = mor_clock() - started;
    s->cpu = mor_cpu_clock() - cpu;
    s->rank[1] = mor_world_joint_rank(w);
    s->final = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    mor_world_momentum(w, s->momentum[1]);
    return 0;
}

static int compare_times(const void* a, const void* b) { return compare_doubles(a, b); }

int mor_cli_run(int argc, char** argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    if (a.help) {
        fputs(help_text, stdout);
        return 0;
    }
    qsort(a.times, (size_t)a.time_count, sizeof(double), compare_times);
    mor_error error = { 0 };
    char path[4096], temporary[4096] = "";
    mor_scene* scene =
        mor_scene_load(mor_cli_scene_path(a.scene, path, sizeof path), a.sets, mor_cli_library(), &error);
    if (!scene) return mor_cli_fail(&error);
    if (*mor_scene_notes(scene) && !a.quiet) fputs(mor_scene_notes(scene), stderr);
    mor_recorder* recorder = NULL;
    mor_bpmd_recorder* problems = NULL;
    FILE *csv = NULL, *document = NULL;
    char* text = NULL;
    size_t length = 0;
    mor_vec3* start = NULL;
    summary s = { 0 };
    mor_world* w = mor_scene_build(scene, a.threads, &error);
    if (!w) {
        code = mor_cli_fail(&error);
        goto out;
    }
    double end = a.end >= 0.0 ? a.end : mor_scene_end(scene);
    int steps = a.steps >= 0 ? a.steps : (int)floor(end / mor_world_get_step(w) + 0.5);
    int bodies = mor_world_body_count(w);
    start = malloc((size_t)(bodies + 1) * sizeof *start);
    s.residuals = malloc((size_t)(steps + 1) * sizeof(double));
    if (!start || !s.residuals) {
        mor_fail(&error, MOR_SYSTEM, "out of memory");
        code = mor_cli_fail(&error);
        goto out;
    }
    for (int i = 0; i < bodies; i++) start[i] = mor_body_get_state(w, mor_world_body(w, i)).com;
    s.initial = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    mor_world_momentum(w, s.momentum[0]);
    s.rank[0] = mor_world_joint_rank(w);
    if (a.record) {
        recorder = mor_recorder_open(a.record, w, scene, &error);
        if (!recorder || mor_world_add_observer(w, mor_recorder_observe, recorder, &error) != MOR_OK) {
            code = mor_cli_fail(&error);
            goto out;
        }
    }
    if (a.bpmd) {
        problems = mor_bpmd_record(a.bpmd, w, scene, a.bpmd_every, &error);
        if (!problems) {
            code = mor_cli_fail(&error);
            goto out;
        }
    }
    if (a.csv) {
        snprintf(temporary, sizeof temporary, "%s.part", a.csv);
        csv = fopen(temporary, "w");
        if (!csv) {
            mor_fail(&error, MOR_SYSTEM, "cannot write %s", temporary);
            code = mor_cli_fail(&error);
            goto out;
        }
        write_csv(csv, w, NULL);
    }
    mor_json json;
    if (a.json) { /* kept aside until the run is over: a run that breaks off prints no half document */
        document = open_memstream(&text, &length);
        if (!document) {
            mor_fail(&error, MOR_SYSTEM, "out of memory");
            code = mor_cli_fail(&error);
            goto out;
        }
        json = mor_json_begin(document);
        mor_json_object(&json, NULL);
    }
    code = simulate(w, &a, steps, csv, &s, a.json ? &json : NULL);
    if (code == 0) {
        if (a.json) {
            write_json(&json, w, scene, &s, start);
            mor_json_end(&json);
            bool written = mor_json_finish(&json) && fflush(document) == 0;
            if (!written || fwrite(text, 1, length, stdout) != length) code = MOR_SYSTEM;
        } else if (!a.quiet) {
            print_summary(w, scene, &s, start);
        }
        if (code == 0 && s.failures > 0) code = 1;
    }
out:
    if (document) fclose(document);
    free(text);
    if (csv) {
        bool good = fclose(csv) == 0 && (code < 2 ? rename(temporary, a.csv) : remove(temporary)) == 0;
        if (!good && code < 2) {
            mor_fail(&error, MOR_SYSTEM, "cannot write %s", a.csv);
            code = mor_cli_fail(&error);
        }
    }
    if (problems && mor_bpmd_close(problems, &error) != MOR_OK && code < 2) code = mor_cli_fail(&error);
    if (recorder && mor_recorder_close(recorder, &error) != MOR_OK && code < 2) code = mor_cli_fail(&error);
    free(start);
    free(s.residuals);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}
