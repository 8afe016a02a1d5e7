/* What pushes bodies of an MJCF model from the user stage: actuators on sites, spatial tendons, weight that bodies on
 * free joints carry by themselves (gravcomp), and a fluid around.
 *
 * Tendons. With the sites p_1 ... p_n of a branch and its divisor d, l = sum |p_{k+1} - p_k| / d over all branches; a
 * force f on the length pushes p_{k+1} by f u/d and p_k by -f u/d, u the unit vector between them.
 *
 * Fluid of density r and viscosity n, wind v_w. A body of mass m and principal moments I is the box with these,
 *
 *     b_x = sqrt(6 (I_y + I_z - I_x)/m), ...     d = (b_x + b_y + b_z)/3,
 *
 *     f_x = -3 pi d n v_x   - r/2 b_y b_z |v_x| v_x,
 *     t_x = -pi d^3 n w_x   - r/64 b_x (b_y^4 + b_z^4) |w_x| w_x,
 *
 * v, w the velocities of its centre of mass in its principal axes, v less the wind. All forces are those of the
 * beginning of the step.
 *
 * Reference: MuJoCo documentation, Computation (passive forces, fluid: inertia model; tendons). */
#include "base/elementary.h"
#include "io/mjcf/mjcf.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* The model where it is: its trees are robots `first` ... of the world. */
typedef struct pusher {
    const mor_mjcf* m;
    mor_world* world;
    int first;
    mor_pose offset;
} pusher;

/* A point of an MJCF body now. */
typedef struct place {
    mor_body_id body; /* of the world; null: it does not move */
    mor_pose pose;    /* of the frame in the body */
    mor_vec3 velocity, spin;
} place;

static place place_of(const pusher* x, int body, const mor_pose* frame)
{
    const mor_mjcf_body* b = &x->m->bodies[body];
    mor_pose in_link = mor_pose_mul(&b->in_link, frame);
    if (b->tree < 0) return (place){ .pose = mor_pose_mul(&x->offset, &in_link) };
    place p = { .body = mor_world_robot_link(x->world, x->first + b->tree, b->link) };
    mor_body_state s = mor_body_get_state(x->world, p.body);
    p.pose = mor_pose_mul(&s.pose, &in_link);
    p.spin = s.angular_velocity;
    p.velocity = mor_add(s.velocity, mor_cross(s.angular_velocity, mor_sub(p.pose.position, s.com)));
    return p;
}

static void push(mor_world* world, const place* p, mor_vec3 force)
{
    if (p->body.index1) mor_body_apply(world, p->body, force, p->pose.position);
}

/* ----------------------------------------------------------------------------------- actuators */

static double control_of(const mor_mjcf_actuator* x)
{
    return x->control_limited == 1 ? clamp(x->control, x->control_range[0], x->control_range[1]) : x->control;
}

static void push_site(const pusher* where, const mor_mjcf_actuator* x)
{
    const mor_mjcf_site* s = &where->m->sites[x->site];
    place p = place_of(where, s->body, &s->pose);
    if (!p.body.index1) return;
    double f = x->gain[0] * control_of(x);
    if (x->force_limited == 1) f = clamp(f, x->force_range[0], x->force_range[1]);
    mor_vec3 force = mor_scale(f, mor_v3(x->gear[0], x->gear[1], x->gear[2])),
             torque = mor_scale(f, mor_v3(x->gear[3], x->gear[4], x->gear[5]));
    push(where->world, &p, mor_rotate(p.pose.rotation, force));
    mor_body_apply_torque(where->world, p.body, mor_rotate(p.pose.rotation, torque));
}

/* ------------------------------------------------------------------------------------- tendons */

/* Length of a tendon and its rate; its sites are pushed by `force`. */
static void along_tendon(const pusher* x, const mor_mjcf_tendon* t, double force, double* length, double* rate)
{
    const mor_mjcf* m = x->m;
    double divisor = 1.0;
    place before = { 0 };
    bool has_before = false;
    *length = *rate = 0.0;
    for (int k = 0; k < t->count; k++) {
        const mor_mjcf_term* term = &m->terms[t->first + k];
        if (term->site < 0) { /* a pulley begins a branch */
            divisor = term->coef;
            has_before = false;
            continue;
        }
        const mor_mjcf_site* s = &m->sites[term->site];
        place here = place_of(x, s->body, &s->pose);
        mor_vec3 way = mor_sub(here.pose.position, before.pose.position);
        double size = mor_norm(way);
        if (has_before && size > 0.0) {
            mor_vec3 u = mor_scale(1.0 / (size * divisor), way);
            *length += size / divisor;
            *rate += mor_dot(u, mor_sub(here.velocity, before.velocity));
            push(x->world, &here, mor_scale(force, u));
            push(x->world, &before, mor_scale(-force, u));
        }
        before = here;
        has_before = true;
    }
}

static double tendon_actuators(const mor_mjcf* m, int tendon, double length, double rate)
{
    double sum = 0.0;
    for (int i = 0; i < m->actuators_count; i++) {
        const mor_mjcf_actuator* x = &m->actuators[i];
        if (x->tendon != tendon) continue;
        double l = x->gear[0] * length, v = x->gear[0] * rate, gain = x->gain[0];
        if (x->gaintype == 1) gain += x->gain[1] * l + x->gain[2] * v;
        double f = gain * control_of(x);
        if (x->biastype == 1) f += x->bias[0] + x->bias[1] * l + x->bias[2] * v;
        if (x->force_limited == 1) f = clamp(f, x->force_range[0], x->force_range[1]);
        sum += x->gear[0] * f;
    }
    return sum;
}

static double tendon_spring(const mor_mjcf_tendon* t, double length, double rate)
{
    double lower = isnan(t->spring[0]) ? t->rest : t->spring[0], upper = isnan(t->spring[1]) ? t->rest : t->spring[1];
    double beyond = length < lower ? length - lower : length > upper ? length - upper : 0.0;
    return -t->stiffness * beyond - t->damping * rate;
}

static void pull_tendon(const pusher* x, int tendon)
{
    const mor_mjcf* m = x->m;
    const mor_mjcf_tendon* t = &m->tendons[tendon];
    double length, rate, force = 0.0;
    along_tendon(x, t, 0.0, &length, &rate);
    if (!m->no_actuation) force += tendon_actuators(m, tendon, length, rate);
    if (!m->no_passive) force += tendon_spring(t, length, rate);
    if (force != 0.0) along_tendon(x, t, force, &length, &rate);
}

double mor_mjcf_rest_length(const mor_mjcf* m, const mor_mjcf_tendon* t)
{
    double divisor = 1.0, length = 0.0;
    mor_vec3 before = { 0 };
    bool has_before = false;
    for (int k = 0; k < t->count; k++) {
        const mor_mjcf_term* term = &m->terms[t->first + k];
        if (term->site < 0) divisor = term->coef;
        if (term->site >= 0) {
            const mor_mjcf_site* s = &m->sites[term->site];
            mor_pose body = mor_mjcf_reference_pose(m, s->body);
            mor_vec3 here = mor_pose_point(&body, s->pose.position);
            if (has_before) length += mor_norm(mor_sub(here, before)) / divisor;
            before = here;
        }
        has_before = term->site >= 0;
    }
    return length;
}

/* --------------------------------------------------------------------------------------- fluid */

static void fluid_force(const double box[3], double density, double viscosity, const double v[3], const double w[3],
                        double force[3], double torque[3])
{
    double d = (box[0] + box[1] + box[2]) / 3.0;
    for (int i = 0; i < 3; i++) {
        double x = box[i], y = box[(i + 1) % 3], z = box[(i + 2) % 3];
        force[i] = -3.0 * pi * d * viscosity * v[i] - 0.5 * density * y * z * fabs(v[i]) * v[i];
        torque[i] = -pi * d * d * d * viscosity * w[i] -
                    density * x * (y * y * y * y + z * z * z * z) * fabs(w[i]) * w[i] / 64.0;
    }
}

static void fluid_box(const mor_mjcf_body* b, double box[3])
{
    const double* I = b->moments;
    for (int i = 0; i < 3; i++)
        box[i] = sqrt(mor_max(1e-15, I[(i + 1) % 3] + I[(i + 2) % 3] - I[i]) / b->mass.mass * 6.0);
}

static void drag(const pusher* x, int body)
{
    const mor_mjcf* m = x->m;
    const mor_mjcf_body* b = &m->bodies[body];
    mor_pose axes = { b->mass.com, b->axes };
    place p = place_of(x, body, &axes);
    mor_vec3 wind = mor_rotate(x->offset.rotation, m->wind);
    mor_vec3 v = mor_unrotate(p.pose.rotation, mor_sub(p.velocity, wind));
    mor_vec3 w = mor_unrotate(p.pose.rotation, p.spin);
    double box[3], force[3], torque[3];
    fluid_box(b, box);
    fluid_force(box, m->density, m->viscosity, (double[3]){ v.x, v.y, v.z }, (double[3]){ w.x, w.y, w.z }, force,
                torque);
    push(x->world, &p, mor_rotate(p.pose.rotation, mor_v3(force[0], force[1], force[2])));
    mor_body_apply_torque(x->world, p.body, mor_rotate(p.pose.rotation, mor_v3(torque[0], torque[1], torque[2])));
}

/* ----------------------------------------------------------------------------------------- all */

static bool in_fluid(const mor_mjcf* m) { return (m->density > 0.0 || m->viscosity > 0.0) && !m->no_passive; }

/* Bodies of trees that are joined to the world are lifted by their controller. */
static bool lifted(const mor_mjcf* m, const mor_mjcf_body* b)
{
    return b->gravcomp != 0.0 && m->trees[b->tree].floating && !m->no_passive && !m->no_gravity;
}

bool mor_mjcf_pushes(const mor_mjcf* m)
{
    bool any = in_fluid(m) && m->trees_count > 0;
    for (int i = 0; i < m->actuators_count; i++) any = any || (m->actuators[i].site >= 0 && !m->no_actuation);
    for (int i = 0; i < m->tendons_count; i++) any = any || m->tendons[i].spatial;
    for (int i = 1; i < m->bodies_count; i++) any = any || (m->bodies[i].tree >= 0 && lifted(m, &m->bodies[i]));
    return any;
}

void mor_mjcf_apply(const mor_mjcf* m, mor_world* world, int first, const mor_pose* offset)
{
    const pusher x = { m, world, first, *offset };
    for (int i = 0; i < m->actuators_count && !m->no_actuation; i++)
        if (m->actuators[i].site >= 0) push_site(&x, &m->actuators[i]);
    for (int i = 0; i < m->tendons_count; i++)
        if (m->tendons[i].spatial) pull_tendon(&x, i);
    for (int i = 1; i < m->bodies_count; i++) {
        const mor_mjcf_body* b = &m->bodies[i];
        if (b->tree < 0 || !(b->mass.mass > 0.0)) continue;
        if (in_fluid(m)) drag(&x, i);
        if (!lifted(m, b)) continue;
        mor_pose com = { b->mass.com, { 1, 0, 0, 0 } };
        place p = place_of(&x, i, &com);
        push(world, &p, mor_scale(-b->gravcomp * b->mass.mass, mor_world_gravity(world)));
    }
}
