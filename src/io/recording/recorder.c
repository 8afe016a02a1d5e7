/* The recorder: an observer that copies a world into frames (frames.h) after every k-th step.
 *
 * Bodies are those of the world when the file is opened, found again by id: a body removed later is
 * NaN in /pose and /velocity from then on, a body added later is not recorded and shows as -1 in
 * contacts. Frame 0 is the state at opening. Work and failures are summed over the steps between two
 * frames, so that energy balances and failure counts survive `record.every` > 1; everything else
 * belongs to the recorded step.
 *
 * Cost: O(bodies + contacts) copies per frame and no allocation once the buffers have grown to the
 * largest number of contacts. */
#include "moreau/lab.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/recording/frames.h"

struct mor_recorder {
    mor_frames* frames;
    int every, body_count, world_capacity;
    mor_body_id* bodies; /* at opening, in world order */
    int* slot_body;      /* id.index1 -> recorded body, -1: none */
    uint32_t slot_count;
    int* recorded;                                      /* world order -> recorded body in this frame */
    double correction_work, contact_work, applied_work; /* since the last frame */
    int failures;
    int* channels; /* of the bus, by their numbers */
    int channel_count;
    int joint_count; /* at opening */
};

static const char* method(const mor_world* world, const char* stage)
{
    const char* name = mor_world_method(world, stage);
    return name ? name : "";
}

/* Recorded index of a body of the world, -1 if it is not in the recording. */
static int recorded_index(const mor_recorder* r, mor_body_id id)
{
    if (id.index1 >= r->slot_count) return -1;
    int k = r->slot_body[id.index1];
    return k >= 0 && r->bodies[k].generation == id.generation ? k : -1;
}

static void put_state(const mor_body_state* s, double* pose, double* velocity)
{
    const double p[7] = { s->pose.position.x, s->pose.position.y, s->pose.position.z, s->pose.rotation.w,
                          s->pose.rotation.x, s->pose.rotation.y, s->pose.rotation.z };
    const double v[6] = { s->velocity.x,         s->velocity.y,         s->velocity.z,
                          s->angular_velocity.x, s->angular_velocity.y, s->angular_velocity.z };
    memcpy(pose, p, sizeof p);
    memcpy(velocity, v, sizeof v);
}

static void put_bodies(mor_recorder* r, const mor_world* world, double* pose, double* velocity)
{
    for (int k = 0; k < r->body_count; k++) {
        for (int i = 0; i < 7; i++) pose[7 * k + i] = NAN;
        for (int i = 0; i < 6; i++) velocity[6 * k + i] = NAN;
    }
    int count = mor_world_body_count(world);
    if (count > r->world_capacity) {
        int* grown = realloc(r->recorded, (size_t)(2 * count) * sizeof *grown);
        if (!grown) count = r->world_capacity; /* bodies beyond it are new ones: not recorded anyway */
        else {
            r->recorded = grown;
            r->world_capacity = 2 * count;
        }
    }
    for (int i = 0; i < count; i++) {
        mor_body_id id = mor_world_body(world, i);
        int k = recorded_index(r, id);
        r->recorded[i] = k;
        if (k < 0) continue;
        mor_body_state state = mor_body_get_state(world, id);
        put_state(&state, pose + 7 * k, velocity + 6 * k);
    }
}

static void put_contacts(mor_recorder* r, mor_frame* frame, const mor_contact* contacts, int count)
{
    for (int i = 0; i < count; i++) {
        const mor_contact* c = &contacts[i];
        mor_vec3 friction = mor_madd(c->impulse, -c->normal_impulse, c->normal);
        frame->normal_total += c->normal_impulse;
        frame->friction_total += mor_norm(friction);
        if (c->normal_impulse > frame->normal_max) frame->normal_max = c->normal_impulse;
        int body[2];
        for (int s = 0; s < 2; s++)
            body[s] = c->body[s] >= 0 && c->body[s] < r->world_capacity ? r->recorded[c->body[s]] : -1;
        mor_frames_contact(r->frames, c, body);
    }
}

static void put_report(mor_recorder* r, mor_frame* frame, const mor_step_report* report)
{
    frame->step_number = report->step;
    frame->time = report->time;
    frame->kinetic = report->kinetic;
    frame->potential = report->potential;
    frame->total = report->kinetic + report->potential;
    frame->correction_work = r->correction_work;
    frame->contact_work = r->contact_work;
    frame->applied_work = r->applied_work;
    frame->failures = r->failures;
    frame->penetration = report->penetration;
    frame->status = (int)report->status;
    frame->iterations = report->iterations;
    frame->residual = report->residual;
    frame->velocity_error = report->velocity_error;
    frame->contacts = report->contacts;
    frame->islands = report->islands;
    frame->problem_size = report->problem_size;
    frame->timing = report->timing;
    r->correction_work = r->contact_work = r->applied_work = 0.0;
    r->failures = 0;
}

/* Joints that come or go are numbered anew: then their positions are unknown. */
static void put_joints(const mor_recorder* r, const mor_world* world, double* positions)
{
    if (mor_joint_places(world, NULL) == r->joint_count) mor_joint_positions(world, positions);
    else
        for (int i = 0; i < r->joint_count; i++) positions[i] = NAN;
}

static void record(mor_recorder* r, const mor_world* world, const mor_step_report* report, bool with_contacts)
{
    int count = 0;
    const mor_contact* contacts = with_contacts ? mor_world_contacts(world, &count) : NULL;
    double *pose, *velocity;
    mor_frame* frame = mor_frames_begin(r->frames, count, &pose, &velocity);
    put_report(r, frame, report);
    frame->step_size = mor_world_get_step(world);
    frame->joint_error = mor_world_joint_error(world);
    put_bodies(r, world, pose, velocity);
    put_joints(r, world, mor_frames_joints(r->frames));
    put_contacts(r, frame, contacts, count);
    for (int i = 0; i < r->channel_count; i++) {
        double* values = mor_frames_channel(r->frames, i);
        if (values) mor_bus_read(world, r->channels[i], values);
    }
    mor_frames_end(r->frames);
}

/* ----------------------------------------------------------------------------- description */

static bool remember_bodies(mor_recorder* r, const mor_world* world)
{
    int n = mor_world_body_count(world);
    size_t room = (size_t)n + 1;
    r->body_count = r->world_capacity = n;
    r->bodies = calloc(room, sizeof *r->bodies);
    r->recorded = calloc(room, sizeof *r->recorded);
    if (!r->bodies || !r->recorded) return false;
    for (int i = 0; i < n; i++) {
        r->bodies[i] = mor_world_body(world, i);
        if (r->bodies[i].index1 >= r->slot_count) r->slot_count = r->bodies[i].index1 + 1;
    }
    r->slot_body = calloc((size_t)r->slot_count + 1, sizeof *r->slot_body);
    if (!r->slot_body) return false;
    for (uint32_t i = 0; i < r->slot_count; i++) r->slot_body[i] = -1;
    for (int i = 0; i < n; i++) r->slot_body[r->bodies[i].index1] = i;
    return true;
}

static bool describe(const mor_recorder* r, const mor_world* world, mor_frames_body** bodies, mor_frames_shape** shapes,
                     int* shape_count)
{
    *shape_count = 0;
    for (int i = 0; i < r->body_count; i++) *shape_count += mor_body_shape_count(world, r->bodies[i]);
    *bodies = calloc((size_t)r->body_count + 1, sizeof **bodies);
    *shapes = calloc((size_t)*shape_count + 1, sizeof **shapes);
    if (!*bodies || !*shapes) return false;
    for (int i = 0, s = 0; i < r->body_count; i++) {
        mor_body_id id = r->bodies[i];
        mor_frames_body* body = &(*bodies)[i];
        snprintf(body->name, sizeof body->name, "%s", mor_body_name(world, id));
        body->kind = mor_body_get_kind(world, id);
        body->mass = mor_body_mass(world, id);
        body->surface_velocity = mor_body_surface_velocity(world, id);
        for (int k = 0; k < mor_body_shape_count(world, id); k++, s++) {
            mor_body_shape shape = mor_body_get_shape(world, id, k);
            (*shapes)[s] = (mor_frames_shape){ i, shape.geometry, shape.pose };
        }
    }
    return true;
}

/* The channels the scene asks for, in the order of the bus. */
static bool choose_channels(mor_recorder* r, const mor_world* world, const mor_scene* scene, mor_bus_channel** out)
{
    int all = mor_bus_count(world);
    r->channels = calloc((size_t)all + 1, sizeof *r->channels);
    *out = calloc((size_t)all + 1, sizeof **out);
    if (!r->channels || !*out) return false;
    for (int i = 0; scene && i < all; i++) {
        mor_bus_channel c;
        mor_bus_channel_at(world, i, &c);
        bool wanted = false;
        for (int k = 0; mor_scene_record_bus(scene, k); k++)
            wanted = wanted || mor_bus_match(mor_scene_record_bus(scene, k), c.name);
        if (!wanted) continue;
        (*out)[r->channel_count] = c;
        r->channels[r->channel_count++] = i;
    }
    return true;
}

static void destroy(mor_recorder* r)
{
    if (!r) return;
    free(r->channels);
    free(r->bodies);
    free(r->slot_body);
    free(r->recorded);
    free(r);
}

/* The colours that bodies were given, NaN for the others; NULL when there are none (or no memory). */
static double* colors_of(const mor_recorder* r, const mor_world* world, const mor_scene* scene)
{
    double* colors = scene ? malloc(((size_t)r->body_count + 1) * 4 * sizeof *colors) : NULL;
    bool any = false;
    for (int i = 0; colors && i < r->body_count; i++) {
        for (int k = 0; k < 4; k++) colors[4 * i + k] = NAN;
        any = mor_scene_color(scene, mor_body_name(world, r->bodies[i]), colors + 4 * (size_t)i) || any;
    }
    if (any) return colors;
    free(colors);
    return NULL;
}

mor_recorder* mor_recorder_open(const char* path, const mor_world* world, const mor_scene* scene, mor_error* error)
{
    assert(path && world);
    mor_frames_body* bodies = NULL;
    mor_frames_shape* shapes = NULL;
    mor_recorder* r = calloc(1, sizeof *r);
    int shape_count = 0, joint_count = mor_joint_places(world, NULL);
    mor_joint_place* joints = calloc((size_t)joint_count + 1, sizeof *joints);
    if (joints) mor_joint_places(world, joints);
    if (r) r->joint_count = joint_count;
    mor_bus_channel* channels = NULL;
    if (!r || !joints || !remember_bodies(r, world) || !choose_channels(r, world, scene, &channels) ||
        !describe(r, world, &bodies, &shapes, &shape_count)) {
        mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    } else {
        r->every = scene ? mor_scene_record_every(scene) : 1;
        if (r->every < 1) r->every = 1;
        mor_frames_def def = {
            .scene_name = scene ? mor_scene_name(scene) : "",
            .scene_text = scene ? mor_scene_text(scene) : "",
            .ground = scene ? mor_scene_ground(scene) : NULL,
            .formulation = method(world, "formulation"),
            .solver = method(world, "solver"),
            .collision = method(world, "collision"),
            .integrator = method(world, "integrator"),
            .stabilisation = method(world, "stabilisation"),
            .step = mor_world_get_step(world),
            .dimension = mor_world_dimension(world),
            .gravity = mor_world_gravity(world),
            .every = r->every,
            .contacts = scene ? mor_scene_record_contacts(scene) : true,
            .body_count = r->body_count,
            .bodies = bodies,
            .shape_count = shape_count,
            .shapes = shapes,
            .channel_count = r->channel_count,
            .channels = channels,
            .joint_count = joint_count,
            .joints = joints,
        };
        mor_visuals* visuals = scene ? mor_visuals_read(scene) : NULL;
        double* colors = colors_of(r, world, scene);
        def.visuals = visuals;
        def.colors = colors;
        r->frames = mor_frames_create(path, &def, error);
        mor_visuals_free(visuals);
        free(colors);
    }
    free(bodies);
    free(shapes);
    free(channels);
    free(joints);
    if (!r || !r->frames) {
        destroy(r);
        return NULL;
    }
    mor_step_report initial = { .step = mor_world_step_count(world),
                                .time = mor_world_time(world),
                                .penetration = mor_world_penetration(world),
                                .kinetic = mor_world_kinetic_energy(world),
                                .potential = mor_world_potential_energy(world) };
    record(r, world, &initial, false);
    mor_frames_flush(r->frames); /* a viewer can show the start at once */
    return r;
}

void mor_recorder_observe(void* recorder, const mor_world* world, const mor_step_report* report)
{
    mor_recorder* r = recorder;
    r->correction_work += report->correction_work;
    r->contact_work += report->contact_work;
    r->applied_work += report->applied_work;
    r->failures += report->failures;
    if (report->step % r->every == 0) record(r, world, report, true);
}

mor_code mor_recorder_state(const mor_recorder* recorder, mor_error* error)
{
    return mor_frames_state(recorder->frames, error);
}

mor_code mor_recorder_close(mor_recorder* recorder, mor_error* error)
{
    if (!recorder) return MOR_OK;
    mor_code code = mor_frames_close(recorder->frames, error);
    destroy(recorder);
    return code;
}
