/* The table of --csv and the lines of text of a run, see run_outputs.h. */
#include "cli/run_outputs.h"
#include "io/text/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- table */

struct mor_cli_table {
    FILE* out;
    int every;
    const char* path;
};

static void write_head(FILE* out, const mor_world* w)
{
    static const char* const columns[] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                           "vx", "vy", "vz", "wx", "wy", "wz", NULL };
    fprintf(out, "time,kinetic,potential,contacts,penetration,velocity_error,iterations,force_x,force_y,force_z");
    for (int i = 0; i < mor_world_body_count(w); i++)
        for (int k = 0; columns[k]; k++) fprintf(out, ",%s.%s", mor_body_name(w, mor_world_body(w, i)), columns[k]);
    fputc('\n', out);
}

mor_cli_table* mor_cli_table_open(const char* path, int every, const mor_world* world, mor_error* error)
{
    mor_cli_table* t = calloc(1, sizeof *t);
    if (!t) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    t->every = every;
    t->path = path;
    t->out = mor_output_open(path, error);
    if (!t->out) {
        free(t);
        return NULL;
    }
    write_head(t->out, world);
    return t;
}

static void write_numbers(FILE* out, const double* x, int n)
{
    for (int i = 0; i < n; i++) fprintf(out, ",%.17g", x[i]);
}

mor_code mor_cli_table_add(mor_cli_table* t, const mor_world* w, const mor_step_report* r, mor_error* error)
{
    if (!t || r->step % t->every != 0) return MOR_OK;
    double f[6];
    mor_world_contact_wrench(w, f);
    fprintf(t->out, "%.17g,%.17g,%.17g,%d,%.17g,%.17g,%d", mor_world_time(w), r->kinetic, r->potential, r->contacts,
            r->penetration, r->velocity_error, r->iterations);
    write_numbers(t->out, f, 3);
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, i));
        mor_vec3 p = s.pose.position, v = s.velocity, o = s.angular_velocity;
        mor_quat q = s.pose.rotation;
        write_numbers(t->out, (double[13]){ p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, o.x, o.y, o.z }, 13);
    }
    fputc('\n', t->out);
    return ferror(t->out) ? mor_fail(error, MOR_SYSTEM, "%.400s: cannot be written: %s", t->path, strerror(errno))
                          : MOR_OK;
}

mor_code mor_cli_table_close(mor_cli_table* t, bool keep, mor_error* error)
{
    if (!t) return MOR_OK;
    mor_code code = mor_output_close(t->out, t->path, keep, error);
    free(t);
    return code;
}

/* ----------------------------------------------------------------------------------- text */

static void print_bodies(const mor_world* w)
{
    const int most = 8;
    int shown = 0, more = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) == MOR_FIXED) continue;
        if (shown == most) {
            more++;
            continue;
        }
        mor_body_state b = mor_body_get_state(w, id);
        printf("  %-16s at (%.6g, %.6g, %.6g), moving (%.4g, %.4g, %.4g) m/s\n", mor_body_name(w, id), b.com.x, b.com.y,
               b.com.z, b.velocity.x, b.velocity.y, b.velocity.z);
        shown++;
    }
    if (more) printf("  ... and %d more (all of them: --json or --csv)\n", more);
}

static void print_joints(const mor_world* w, const mor_run_summary* s)
{
    const mor_joint_rank *first = &s->joints[0], *last = &s->joints[1];
    if (mor_world_joint_count(w) == 0) return;
    printf("  %d joints, error at most %.3g; %d equations", mor_world_joint_count(w), s->max_joint_error,
           first->equations);
    if (first->rank >= 0 && first->rank < first->equations)
        printf(" of rank %d (%d redundant)", first->rank, first->equations - first->rank);
    if (last->rank != first->rank) printf(", rank %d at the end", last->rank);
    if (first->rank >= 0) printf(", %d degrees of freedom\n", first->freedom);
    else puts(", too many to count their rank");
}

static void print_integrator(const mor_world* w, const mor_run_summary* s)
{
    const mor_run_integrator* i = &s->integrator;
    if (strcmp(mor_world_method(w, "integrator"), "semi-implicit") == 0) return;
    printf("  %s: %.3g sweeps per step, %.6g step(s) halved", mor_world_method(w, "integrator"),
           s->steps ? i->sweeps / s->steps : 0.0, i->halvings);
    if (i->rescued > 0.0) printf(", %.6g taken by rk4 past singular positions", i->rescued);
    if (i->reduced_steps)
        printf("; in %d of %d steps something one-sided acted and lowered the order to 1", i->reduced_steps, s->steps);
    putchar('\n');
}

/* Where the time went when a run took longer than what it simulated. */
static void print_slow(const mor_world* w, const mor_run_summary* s)
{
    if (s->wall < 1.0 || s->wall < mor_world_time(w) || !(s->timing.total > 0.0)) return;
    const mor_timing* t = &s->timing;
    double solve = t->formulate + t->solve;
    const struct {
        double time;
        const char* what;
    } parts[] = { { solve, "the solver" },
                  { t->collision, "the search for contacts" },
                  { t->assemble, "setting up masses, joints and contacts" },
                  { t->integrate, "moving the bodies" },
                  { t->record, "recording" } };
    int most = 0;
    for (int i = 1; i < (int)(sizeof parts / sizeof *parts); i++)
        if (parts[i].time > parts[most].time) most = i;
    printf("  slower than real time: %.0f %% is %s", 100.0 * parts[most].time / t->total, parts[most].what);
    if (most == 0)
        printf(", on problems of up to %d rows with %.3g iterations per step", s->max_problem_size, s->mean_iterations);
    puts("; `moreau doctor` says what may help");
}

void mor_cli_tell_deep(const mor_run_deep* d)
{
    if (!d->steps) return;
    fprintf(stderr,
            "moreau: warning: '%s' and '%s' were %.3g m deep in each other at step %d (%.2g of the smaller radius; %d "
            "step(s) with contacts deeper than 0.001 of it): %s\n",
            d->pair[0], d->pair[1], d->depth, d->step, d->relative, d->steps, d->why);
}

void mor_cli_print_run(const mor_world* w, const mor_scene* scene, const mor_run_summary* s)
{
    mor_adaptive adaptive;
    char length[80];
    snprintf(length, sizeof length, "%g s", mor_world_get_step(w));
    bool variable = mor_world_get_adaptive(w, &adaptive);
    if (variable) snprintf(length, sizeof length, "%.3g to %.3g s", s->min_step, s->max_step);
    printf("%s: %s + %s, %d steps of %s, status %s\n", mor_scene_name(scene), mor_world_method(w, "formulation"),
           mor_world_method(w, "solver"), mor_world_step_count(w), length, mor_run_status_name(s->status));
    if (variable) printf("  adaptive steps, tolerance %g: %d trial(s) refused\n", adaptive.tolerance, s->rejected);
    if (s->missed)
        printf("  %d step(s) of the least length %g s are above the tolerance: a smaller time.min helps\n", s->missed,
               adaptive.min);
    if (s->failures) printf("  %d step(s) failed (%s)\n", s->failures, s->detail);
    if (s->divided)
        printf("  %d step(s) were taken in shorter parts: whole, they were not solved, or left bodies deep in each "
               "other\n",
               s->divided);
    if (s->below_goal)
        printf("  %d step(s) missed the accuracy asked for, none the one that counts as failure\n", s->below_goal);
    if (s->approximate)
        printf("  %d step(s) by a method with a fixed budget, velocity error at most %.3g m/s\n", s->approximate,
               s->max_velocity_error);
    print_bodies(w);
    printf("  energy %.6g -> %.6g J, penetration at most %.3g m", s->energy.initial, s->energy.final,
           s->max_penetration);
    /* where things move, how far they went is no drift */
    if (s->max_drift < 1e-3) printf(", drift at most %.3g m", s->max_drift);
    putchar('\n');
    print_joints(w, s);
    printf("  %.3g contacts at most, velocity error at most %.3g m/s, %.3g iterations per step\n",
           (double)s->max_contacts, s->max_velocity_error, s->mean_iterations);
    print_integrator(w, s);
    double us = s->steps ? 1e6 / s->steps : 0.0;
    printf("  %.4g us per step (collision %.4g, assemble %.4g, solve %.4g, integrate %.4g), %.3g times real time\n",
           us * s->timing.total, us * s->timing.collision, us * s->timing.assemble,
           us * (s->timing.formulate + s->timing.solve), us * s->timing.integrate,
           s->wall > 0.0 ? mor_world_time(w) / s->wall : 0.0);
    print_slow(w, s);
}

/* ---------------------------------------------------------------------------- self-collision */

/* Length of the robot's name in "robot/link". */
static int robot_length(const char* body) { return (int)strcspn(body, "/"); }

void mor_cli_print_left_out(const mor_world* w)
{
    enum { MOST = 4 }; /* pairs and robots that are named */
    int count, robots = 0;
    const mor_left_out* pairs = mor_world_left_out(w, &count);
    for (int i = 0, end; i < count; i = end) {
        const char* name = mor_body_name(w, pairs[i].body[0]);
        int length = robot_length(name), overlaps = 0, told = 0;
        for (end = i; end < count; end++) {
            const char* other = mor_body_name(w, pairs[end].body[0]);
            if (robot_length(other) != length || strncmp(other, name, (size_t)length) != 0) break;
            overlaps += pairs[end].depth > 0.0;
        }
        if (++robots > MOST) continue;
        fprintf(stderr,
                "moreau: note: self-collision of '%.*s' leaves out %d pairs of links: %d neighbours, %d overlap%s",
                length, name, end - i, end - i - overlaps, overlaps, overlaps ? " with all joints at 0:" : "");
        for (int k = i; k < end && told < MOST; k++)
            if (pairs[k].depth > 0.0)
                fprintf(stderr, "%s %s and %s by %.2g m", told++ ? "," : "",
                        mor_body_name(w, pairs[k].body[0]) + length + 1,
                        mor_body_name(w, pairs[k].body[1]) + length + 1, pairs[k].depth);
        fprintf(stderr, "%s\n", overlaps > told ? ", ... (all: --json)" : "");
    }
    if (robots > MOST) fprintf(stderr, "moreau: note: ... and %d more robots\n", robots - MOST);
}
