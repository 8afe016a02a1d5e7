/* What `moreau doctor` looks at: the state at the start, and one run that is watched (doctor.h). */
#include "cli/doctor.h"
#include "moreau/control.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Adds a sentence. */
static void say(mor_doctor* d, bool problem, const char* format, ...) MOR_PRINTF(3, 4);
static void say(mor_doctor* d, bool problem, const char* format, ...)
{
    if (d->count == MOR_DOCTOR_FINDINGS) return;
    mor_doctor_finding* f = &d->findings[d->count++];
    f->problem = problem;
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

/* ------------------------------------------------------------------------------- the start */

double mor_doctor_thickness(const mor_world* w, mor_body_id id)
{
    double least = 0.0;
    for (int k = 0; k < mor_body_shape_count(w, id); k++) {
        mor_pose own = { .rotation = { 1, 0, 0, 0 } };
        mor_aabb box = mor_geometry_bounds(mor_body_get_shape(w, id, k).geometry, &own);
        double width[3] = { box.upper.x - box.lower.x, box.upper.y - box.lower.y, box.upper.z - box.lower.z };
        for (int i = 0; i < mor_world_dimension(w); i++)
            if (isfinite(width[i]) && width[i] > 0.0 && (least == 0.0 || width[i] < least)) least = width[i];
    }
    return least;
}

static void look_at_masses(mor_doctor* d, const mor_world* w)
{
    double least = INFINITY, most = 0.0;
    mor_body_id light = { 0 }, heavy = { 0 };
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        double mass = mor_body_mass(w, id).mass;
        if (mass > 0.0 && mass < least) least = mass, light = id;
        if (mass > most) most = mass, heavy = id;
    }
    if (most > 1e4 * least)
        say(d, false,
            "Mass ratio %.3g: '%s' has %.3g kg, '%s' %.3g kg. Sweeping solvers (pgs, nsgs, psor, jacobi) converge "
            "slowly on it; auto, nsn, nsn-tree and lemke do not care.",
            most / least, mor_body_name(w, heavy), most, mor_body_name(w, light), least);
}

/* A moving body as large as a house and as heavy as a ship, or finer than dust: lengths in another unit? */
static void look_at_units(mor_doctor* d, const mor_world* w)
{
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        double mass = mor_body_get_kind(w, id) == MOR_DYNAMIC ? mor_body_mass(w, id).mass : 0.0;
        double size = mor_doctor_thickness(w, id);
        if (!(mass > 0.0) || !(size > 0.0) || ((size < 5.0 || mass < 1e5) && size > 1e-5)) continue;
        say(d, true,
            "'%s' is %.3g m thick and has %.3g kg. Lengths are in metres, masses in kg, densities in kg/m^3: was "
            "another unit meant?",
            mor_body_name(w, id), size, mass);
        return;
    }
}

static void look_at_joints(mor_doctor* d, mor_world* w)
{
    if (mor_world_joint_count(w) == 0) return;
    mor_joint_rank r = mor_world_joint_rank(w);
    if (r.rank >= 0 && r.rank < r.equations)
        say(d, false,
            "%d of the %d equations of joints are redundant: the motion is right, forces in the joints are not unique "
            "(the smallest ones are taken). A spherical or cylindrical joint in place of a revolute one often removes "
            "them.",
            r.equations - r.rank, r.equations);
    double error = mor_world_joint_error(w);
    if (error > 1e-6)
        say(d, true, "Joints are open by %.3g at the start. Check their points and axes, or the poses of their bodies.",
            error);
}

/* 1 / inertia of a body against the spring of a joint; 0: it does not yield. For an angle the body turns about the
 * joint's axis, what hangs on it is not counted: the true period is longer. */
static double yields(const mor_world* w, const mor_joint_def* joint, int side)
{
    mor_body_id id = joint->body[side];
    if (!mor_body_valid(w, id) || mor_body_get_kind(w, id) != MOR_DYNAMIC) return 0.0;
    mor_mass m = mor_body_mass(w, id);
    if (joint->kind != MOR_JOINT_REVOLUTE) return 1.0 / m.mass;
    mor_pose pose = mor_body_get_state(w, id).pose;
    mor_vec3 axis = mor_world_dimension(w) == 2 ? mor_v3(0, 0, 1)
                    : joint->framed             ? mor_rotate(joint->rotation[side], mor_v3(0, 0, 1))
                                                : mor_normalize(joint->axis, mor_v3(0, 0, 1));
    mor_vec3 own = mor_unrotate(pose.rotation, axis);
    mor_vec3 arm = mor_cross(axis, mor_sub(mor_pose_point(&pose, m.com), joint->point[side]));
    return 1.0 / (mor_dot(own, mor_mul(&m.inertia, own)) + m.mass * mor_dot(arm, arm));
}

/* Springs that swing faster than the step follows: stable, but not seen. */
static void look_at_springs(mor_doctor* d, const mor_world* w)
{
    double h = mor_world_get_step(w), fastest = 0.0;
    const char* name = "";
    for (int i = 0; i < mor_world_joint_count(w); i++) {
        const mor_joint_def* joint = mor_world_joint(w, i);
        double omega = sqrt(joint->stiffness * (yields(w, joint, 0) + yields(w, joint, 1)));
        if (omega > fastest) fastest = omega, name = joint->name;
    }
    if (h * fastest > 1.0)
        say(d, h * fastest > 10.0,
            "The spring of joint '%s' swings with a period of about %.2g s, the step is %.2g s: the run is stable, the "
            "swing is not followed. A step of %.2g s follows it; a fixed joint costs less if it should be rigid.",
            name, 6.283185307179586 / fastest, h, 0.3 / fastest);
}

void mor_doctor_look(mor_doctor* d, mor_world* w)
{
    mor_start start;
    if (mor_world_look(w, &start, NULL) != MOR_OK) return;
    if (start.overlaps)
        say(d, true,
            "%d pair(s) of bodies overlap at the start; '%s' and '%s' most, by %.3g m. Move them apart, or write "
            "ignore_pairs: [[%s, %s]] if they should not touch. The run undoes overlaps by moving bodies "
            "(method.gap_correction).",
            start.overlaps, start.pair[0], start.pair[1], start.penetration, start.pair[0], start.pair[1]);
    if (start.stays)
        say(d, true,
            "Joints or other bodies hold %d pair(s) in each other; '%s' and '%s' most, by %.3g m. Check where joints "
            "hold them, or write ignore_pairs.",
            start.stays, start.held[0], start.held[1], start.left);
    for (int i = 0; i < start.limit_count && i < 5; i++)
        say(d, true,
            "Joint '%s' is outside its limits by %.3g at the start. Set its start angle, or check the unit: "
            "limits of joints are in rad and m.",
            start.limits[i].joint, start.limits[i].by);
    if (start.limit_count > 5) say(d, true, "... and %d more joints outside their limits.", start.limit_count - 5);
    if (start.exclusive)
        say(d, true,
            "Joints exclude each other: moving bodies leaves '%s' open by %.3g. Check points, axes and lengths.",
            start.open[0].joint, start.open[0].left);
    mor_start_free(&start);
    look_at_units(d, w);
    look_at_masses(d, w);
    look_at_joints(d, w);
    look_at_springs(d, w);
}

/* ----------------------------------------------------------------------------- a watched run */

/* Bodies that cross more than their own thickness in a step, found while the run goes. */
static void watch_speed(mor_doctor* d, const mor_world* w)
{
    double h = mor_world_get_step(w);
    for (int i = 0; i < mor_world_body_count(w) && i < d->watched; i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC || d->thick[i] == 0.0) continue;
        mor_body_state s = mor_body_get_state(w, id);
        double way = h * mor_norm(s.velocity) / d->thick[i], turn = h * mor_norm(s.angular_velocity);
        if (way > d->way) d->way = way, snprintf(d->fast, sizeof d->fast, "%s", mor_body_name(w, id));
        if (turn > d->turn) d->turn = turn, snprintf(d->spinning, sizeof d->spinning, "%s", mor_body_name(w, id));
    }
}

static void watch_step(mor_doctor* d, const mor_world* w, const mor_step_report* r)
{
    if (r->timing.total > d->slowest_time) {
        d->slowest_time = r->timing.total;
        d->slowest = *r;
    }
    if (r->penetration > d->deepest) {
        d->deepest = r->penetration;
        d->deepest_at = r->time;
        int n, at = -1;
        const mor_contact* c = mor_world_contacts(w, &n);
        for (int i = 0; i < n; i++)
            if (at < 0 || c[i].gap < c[at].gap) at = i;
        if (at >= 0)
            for (int k = 0; k < 2; k++)
                snprintf(d->deep[k], sizeof d->deep[k], "%s", mor_body_name(w, mor_world_body(w, c[at].body[k])));
    }
    d->kinetic = fmax(d->kinetic, r->kinetic);
    watch_speed(d, w);
}

/* Steps the world for `seconds` of CPU time at most. */
mor_code mor_doctor_watch(mor_doctor* d, mor_world* w, int steps, double seconds, mor_error* error)
{
    mor_run* run = mor_run_create(w, steps, error);
    if (!run) return MOR_SYSTEM;
    double began = mor_cpu_clock();
    mor_code code = MOR_OK;
    for (int k = 0; k < steps && code == MOR_OK; k++) {
        mor_step_report r;
        code = mor_run_step(run, &r, error);
        if (mor_run_stopped(run)) {
            d->stopped = r;
            d->stops = true;
            break;
        }
        if (!code && d->thick) watch_step(d, w, &r);
        if (mor_cpu_clock() - began > seconds) break;
    }
    d->asked = steps;
    d->summary = mor_run_summarise(run);
    mor_run_destroy(run);
    return code == MOR_STOPPED ? MOR_OK : code;
}

/* What energies of this scene are measured by: the largest kinetic energy, or weight times thickness. */
static double energy_scale(const mor_doctor* d, const mor_world* w)
{
    double weight = 0.0;
    for (int i = 0; i < mor_world_body_count(w) && i < d->watched; i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) == MOR_DYNAMIC) weight += mor_body_mass(w, id).mass * d->thick[i];
    }
    return fmax(d->kinetic, weight * mor_norm(mor_world_gravity(w)));
}

/* Something does work: motors, controllers, belts, moved bodies, forces. */
static bool driven(const mor_world* w, const mor_run_energy* e)
{
    bool found = mor_world_controller_count(w) > 0 || e->applied_work != 0.0 || e->contact_work != 0.0;
    for (int i = 0; i < mor_world_joint_count(w); i++) found = found || mor_world_joint(w, i)->motor;
    return found;
}

/* A body that falls and falls: nothing is below it. False: there is none. A fall from v^2 / 2 g is what brings v. */
static bool look_at_falls(mor_doctor* d, const mor_world* w)
{
    mor_vec3 gravity = mor_world_gravity(w);
    double g = mor_norm(gravity);
    if (!(g > 0.0)) return false;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        if (mor_body_get_kind(w, id) != MOR_DYNAMIC) continue;
        double speed = mor_dot(mor_body_get_state(w, id).velocity, gravity) / g, height = speed * speed / (2.0 * g);
        if (!(speed > 0.0) || height < 20.0 || height < 50.0 * mor_doctor_thickness(w, id)) continue;
        say(d, true,
            "'%s' falls at %.3g m/s in the end, as from a height of %.3g m: nothing is below it. A floor is "
            "{ name: floor, shape: plane, fixed: true }.",
            mor_body_name(w, id), speed, height);
        return true;
    }
    return false;
}

/* What the watched run shows. */
void mor_doctor_conclude(mor_doctor* d, const mor_world* w)
{
    const mor_run_summary* s = &d->summary;
    if (d->stops)
        say(d, true, "Step %d at t = %g s was not solved: %s, velocity error %.3g m/s, %d contacts, %d rows.",
            d->stopped.step, d->stopped.time, mor_status_name(d->stopped.status), d->stopped.velocity_error,
            d->stopped.contacts, d->stopped.problem_size);
    else if (s->failures) say(d, true, "%d of %d steps failed (%s).", s->failures, s->steps, s->detail);
    if (s->steps && s->below_goal > s->steps / 100)
        say(d, true, "%d of %d steps missed the accuracy asked for (worst velocity error %.3g m/s).", s->below_goal,
            s->steps, s->max_velocity_error);
    if (s->status == MOR_RUN_DIVERGED) say(d, true, "The run diverged: a velocity is not finite or absurd.");
    if (s->energy.max_step_gain > 1e-6 * energy_scale(d, w) && !driven(w, &s->energy))
        say(d, true,
            "A step gained %.3g J though nothing drives the scene. A smaller step helps if it is "
            "too long for the motion.",
            s->energy.max_step_gain);
    if (d->deepest > 1e-6)
        say(d, d->deepest > 1e-3, "Deepest penetration %.3g m at t = %g s, between '%s' and '%s'.", d->deepest,
            d->deepest_at, d->deep[0], d->deep[1]);
    bool falls = look_at_falls(d, w);
    if (d->way > 1.0 && !falls)
        say(d, d->way > 3.0,
            "'%s' moves %.3g times its own thickness in one step: what it meets within the step is found, what "
            "it does there is coarse. A step of %.2g s follows it.",
            d->fast, d->way, mor_world_get_step(w) / d->way);
    if (d->turn > 0.5)
        say(d, d->turn > 1.5, "'%s' turns by %.3g rad in one step. A step of %.2g s follows it.", d->spinning, d->turn,
            0.2 * mor_world_get_step(w) / d->turn);
    if (s->max_joint_error > 1e-4)
        say(d, true, "Joints open by up to %.3g. A smaller step, or method.stabilisation: projection, helps.",
            s->max_joint_error);
    double step = s->steps ? s->timing.total / s->steps : 0.0, solve = s->timing.formulate + s->timing.solve;
    if (step > mor_world_get_step(w))
        say(d, true,
            "Slow: %.3g ms per step of %.3g ms. %.0f %% is the solver (%.3g iterations per step, up to %d rows "
            "in one island), %.0f %% the search for contacts (up to %d contacts).",
            1e3 * step, 1e3 * mor_world_get_step(w), 100.0 * solve / s->timing.total, s->mean_iterations,
            s->max_problem_size, 100.0 * s->timing.collision / s->timing.total, s->max_contacts);
    if (s->steps > 10 && d->slowest_time > 20.0 * step && d->slowest_time > 1e-3)
        say(d, false, "Step %d at t = %g s took %.3g ms, the mean is %.3g ms: %d contacts, %d iterations.",
            d->slowest.step, d->slowest.time, 1e3 * d->slowest_time, 1e3 * step, d->slowest.contacts,
            d->slowest.iterations);
}
