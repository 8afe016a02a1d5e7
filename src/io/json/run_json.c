/* The document of `moreau run --json`, see run_json.h. */
#include "io/json/run_json.h"

#include "base/elementary.h"
#include "moreau/control.h"
#include "moreau/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        else mor_json_number(json, "angle", 2.0 * mor_atan2(q.z, q.w));
        write_vec(json, "velocity", s.velocity, n);
        if (n == 3) write_vec(json, "angular_velocity", s.angular_velocity, 3);
        else mor_json_number(json, "angular_velocity", s.angular_velocity.z);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void write_feet(mor_json* json, const mor_world* w, int robot)
{
    const mor_robot_model* m = mor_world_robot_model(w, robot);
    mor_json_list(json, "feet");
    for (int k = 0; k < mor_world_foot_count(w, robot); k++) {
        mor_foot_state f = mor_world_foot(w, robot, k);
        mor_json_object(json, NULL);
        mor_json_text(json, "link", mor_robot_frame(m, f.frame)->name);
        mor_json_bool(json, "contact", f.contact);
        mor_json_numbers(json, "wrench", f.wrench, 6);
        mor_json_numbers(json, "cop", f.cop, 3);
        mor_json_end(json);
    }
    mor_json_end(json);
}

/* Without memory the list is empty. */
static void write_robots(mor_json* json, const mor_world* w)
{
    int nq = mor_world_q_count(w), nv = mor_world_nu_count(w), robots = mor_world_robot_count(w);
    double* q = robots ? malloc((size_t)(nq + nv) * sizeof *q) : NULL;
    mor_json_list(json, "robots");
    if (q && (mor_world_get_q(w, q, nq, NULL) || mor_world_get_nu(w, q + nq, nv, NULL))) robots = 0;
    for (int i = 0; q && i < robots; i++) {
        mor_span s = mor_world_robot_span(w, i);
        mor_json_object(json, NULL);
        mor_json_text(json, "name", mor_world_robot_name(w, i));
        mor_json_numbers(json, "q", q + s.q, s.q_count);
        mor_json_numbers(json, "qd", q + nq + s.nu, s.nu_count);
        write_feet(json, w, i);
        mor_json_end(json);
    }
    mor_json_end(json);
    free(q);
}

void mor_run_json_state(mor_json* json, const mor_world* w)
{
    write_bodies(json, w);
    write_robots(json, w);
}

/* --------------------------------------------------------------------------------- summary */

/* Equations of joints: how far they are open, and the forces in them at the end of the run. */
static void write_joint_forces(mor_json* json, mor_world* w)
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

/* Meshes that were cut into convex pieces, where there are any. */
static void write_decompositions(mor_json* json, const mor_scene* scene)
{
    mor_decomposition d;
    if (!mor_scene_decomposition(scene, 0, NULL)) return;
    mor_json_list(json, "decompositions");
    const char* file;
    for (int i = 0; (file = mor_scene_decomposition(scene, i, &d)); i++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "mesh", file);
        mor_json_integer(json, "pieces", d.pieces);
        mor_json_integer(json, "triangles", d.triangles);
        mor_json_number(json, "volume", d.volume);
        mor_json_number(json, "pieces_volume", d.pieces_volume);
        mor_json_number(json, "hausdorff", d.hausdorff);
        mor_json_number(json, "diagonal", d.diagonal);
        mor_json_bool(json, "reached", d.reached);
        mor_json_bool(json, "cached", d.cached);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void write_head(mor_json* json, const mor_world* w, const mor_scene* scene, const mor_run_summary* s)
{
    mor_json_text(json, "scene", mor_scene_name(scene));
    mor_json_text(json, "formulation", mor_world_method(w, "formulation"));
    mor_json_text(json, "solver", mor_world_method(w, "solver"));
    mor_json_text(json, "collision", mor_world_method(w, "collision"));
    write_decompositions(json, scene);
    mor_adaptive a;
    bool variable = mor_world_get_adaptive(w, &a);
    int taken = mor_world_step_count(w);
    mor_json_number(json, "step", variable && taken ? mor_world_time(w) / taken : mor_world_get_step(w));
    if (variable) {
        mor_json_object(json, "adaptive");
        mor_json_number(json, "tolerance", a.tolerance);
        mor_json_number(json, "min", a.min);
        mor_json_number(json, "max", a.max);
        mor_json_number(json, "shortest", s->min_step);
        mor_json_number(json, "longest", s->max_step);
        mor_json_integer(json, "refused", s->rejected);
        mor_json_integer(json, "missed", s->missed);
        mor_json_end(json);
    }
    mor_json_integer(json, "steps", mor_world_step_count(w));
    mor_json_number(json, "time", mor_world_time(w));
    mor_json_text(json, "status", mor_run_status_name(s->status));
    mor_json_integer(json, "failures", s->failures);
    mor_json_integer(json, "below_goal", s->below_goal);
    if (s->divided) mor_json_integer(json, "divided", s->divided);
    if (s->approximate) mor_json_integer(json, "approximate", s->approximate);
    if (s->detail[0]) mor_json_text(json, "detail", s->detail);
}

static void write_energy(mor_json* json, const mor_run_summary* s)
{
    mor_json_object(json, "energy");
    mor_json_number(json, "initial", s->energy.initial);
    mor_json_number(json, "final", s->energy.final);
    mor_json_number(json, "max_gain", s->energy.max_gain);
    mor_json_number(json, "max_step_gain", s->energy.max_step_gain);
    mor_json_integer(json, "cured_steps", s->cured);
    mor_json_number(json, "correction_work", s->energy.correction_work);
    mor_json_number(json, "projection_work", s->energy.projection_work);
    mor_json_end(json);
    mor_json_object(json, "momentum");
    mor_json_numbers(json, "initial", s->momentum[0], 6);
    mor_json_numbers(json, "final", s->momentum[1], 6);
    mor_json_end(json);
}

/* Contacts that stay deep, where there are any. */
static void write_deep(mor_json* json, const mor_run_deep* d)
{
    if (!d->steps) return;
    mor_json_object(json, "deep");
    mor_json_integer(json, "steps", d->steps);
    mor_json_integer(json, "step", d->step);
    mor_json_number(json, "depth", d->depth);
    mor_json_number(json, "relative", d->relative);
    mor_json_list(json, "pair");
    for (int side = 0; side < 2; side++) mor_json_text(json, NULL, d->pair[side]);
    mor_json_end(json);
    mor_json_text(json, "why", d->why);
    mor_json_end(json);
}

static void write_errors(mor_json* json, const mor_world* w, const mor_run_summary* s)
{
    mor_json_number(json, "max_penetration", s->max_penetration);
    mor_json_number(json, "max_raw_penetration", s->max_raw_penetration);
    mor_json_number(json, "final_penetration", s->final_penetration);
    write_deep(json, &s->deep);
    mor_json_number(json, "max_joint_error", s->max_joint_error);
    mor_json_number(json, "max_drift", s->max_drift);
    if (s->joints[0].equations) {
        mor_json_object(json, "joints");
        mor_json_integer(json, "count", mor_world_joint_count(w));
        mor_json_integer(json, "equations", s->joints[0].equations);
        mor_json_integer(json, "rank", s->joints[0].rank);
        mor_json_integer(json, "freedom", s->joints[0].freedom);
        mor_json_integer(json, "final_rank", s->joints[1].rank);
        mor_json_end(json);
    }
}

static void write_solves(mor_json* json, const mor_run_summary* s)
{
    mor_json_object(json, "contacts");
    mor_json_integer(json, "final", s->contacts);
    mor_json_integer(json, "max", s->max_contacts);
    mor_json_numbers(json, "force", s->contact_wrench, 6);
    mor_json_end(json);
    mor_json_object(json, "problem_size");
    mor_json_integer(json, "max", s->max_problem_size);
    mor_json_end(json);
    mor_json_object(json, "residual");
    mor_json_number(json, "max", s->max_residual);
    mor_json_number(json, "median", s->median_residual);
    mor_json_number(json, "velocity_max", s->max_velocity_error);
    mor_json_end(json);
    mor_json_object(json, "iterations");
    mor_json_integer(json, "max", s->max_iterations);
    mor_json_number(json, "mean", s->mean_iterations);
    mor_json_end(json);
}

static void write_integrator(mor_json* json, const mor_world* w, const mor_run_summary* s)
{
    const mor_run_integrator* i = &s->integrator;
    mor_json_object(json, "integrator");
    mor_json_text(json, "name", mor_world_method(w, "integrator"));
    mor_json_number(json, "smooth", i->smooth);
    mor_json_number(json, "reduced", i->reduced);
    mor_json_integer(json, "reduced_steps", i->reduced_steps);
    mor_json_number(json, "halvings", i->halvings);
    mor_json_number(json, "rescued", i->rescued);
    mor_json_number(json, "sweeps_mean", s->steps ? i->sweeps / s->steps : 0.0);
    mor_json_end(json);
}

static void write_timing(mor_json* json, const mor_world* w, const mor_run_summary* s)
{
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
}

enum { MOST_PAIRS = 2000 }; /* listed; all are counted */

/* Pairs of links that self_collision leaves out, and why. */
static void write_left_out(mor_json* json, const mor_world* w)
{
    int count;
    const mor_left_out* pairs = mor_world_left_out(w, &count);
    mor_json_integer(json, "left_out_pairs", count);
    mor_json_list(json, "left_out");
    for (int i = 0; i < count && i < MOST_PAIRS; i++) {
        if (!mor_body_valid(w, pairs[i].body[0]) || !mor_body_valid(w, pairs[i].body[1])) continue;
        mor_json_object(json, NULL);
        mor_json_list(json, "links");
        for (int side = 0; side < 2; side++) mor_json_text(json, NULL, mor_body_name(w, pairs[i].body[side]));
        mor_json_end(json);
        mor_json_text(json, "why", pairs[i].depth > 0.0 ? "overlap" : "neighbours");
        mor_json_number(json, "depth", pairs[i].depth);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void write_start(mor_json* json, const mor_world* w, const mor_start* start)
{
    mor_json_object(json, "start");
    mor_json_number(json, "penetration", start->penetration);
    if (start->pair[0][0]) {
        mor_json_list(json, "pair");
        mor_json_text(json, NULL, start->pair[0]);
        mor_json_text(json, NULL, start->pair[1]);
        mor_json_end(json);
    } else mor_json_null(json, "pair");
    mor_json_integer(json, "overlaps", start->overlaps);
    mor_json_list(json, "limits");
    for (int i = 0; i < start->limit_count; i++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "joint", start->limits[i].joint);
        mor_json_number(json, "by", start->limits[i].by);
        mor_json_end(json);
    }
    mor_json_end(json);
    mor_json_list(json, "open");
    for (int i = 0; i < start->open_count; i++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "joint", start->open[i].joint);
        mor_json_number(json, "by", start->open[i].by);
        mor_json_number(json, "left", start->open[i].left);
        mor_json_end(json);
    }
    mor_json_end(json);
    mor_json_bool(json, "exclusive", start->exclusive);
    mor_json_integer(json, "stays", start->stays);
    mor_json_number(json, "left", start->left);
    write_left_out(json, w);
    mor_json_end(json);
}

/* Does a path begin with one of these words? All parts are wanted where no paths are given. */
typedef struct asked {
    const char* const* paths; /* NULL: everything */
    int count;
} asked;

static bool wanted(asked a, const char* word, const char* other)
{
    if (!a.paths) return true;
    for (int i = 0; i < a.count; i++) {
        size_t n = strcspn(a.paths[i], ".");
        if ((strlen(word) == n && memcmp(a.paths[i], word, n) == 0) ||
            (other && strlen(other) == n && memcmp(a.paths[i], other, n) == 0))
            return true;
    }
    return false;
}

static void write_all(mor_json* json, mor_world* w, const mor_scene* scene, const mor_run_summary* s,
                      const mor_start* start, asked a)
{
    char hash[32];
    write_head(json, w, scene, s);
    if (wanted(a, "start", NULL)) write_start(json, w, start);
    if (wanted(a, "bodies", NULL)) write_bodies(json, w);
    if (wanted(a, "robots", NULL)) write_robots(json, w);
    if (wanted(a, "energy", "momentum")) write_energy(json, s);
    write_errors(json, w, s);
    if (wanted(a, "contacts", "problem_size") || wanted(a, "residual", "iterations")) write_solves(json, s);
    if (wanted(a, "integrator", NULL)) write_integrator(json, w, s);
    if (wanted(a, "timing_us_per_step", "real_time_factor")) write_timing(json, w, s);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->state_hash);
    mor_json_text(json, "state_hash", hash);
    if (wanted(a, "joint_forces", NULL)) write_joint_forces(json, w);
}

void mor_run_json_summary(mor_json* json, mor_world* w, const mor_scene* scene, const mor_run_summary* s,
                          const mor_start* start)
{
    write_all(json, w, scene, s, start, (asked){ 0 });
}

void mor_run_json_asked(mor_json* json, mor_world* w, const mor_scene* scene, const mor_run_summary* s,
                        const mor_start* start, const char* const* paths, int count)
{
    write_all(json, w, scene, s, start, (asked){ paths, count });
}
