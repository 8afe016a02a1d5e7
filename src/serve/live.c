/* A running scene, see live.h.
 *
 * The simulation keeps pace with the clock (times a chosen speed) and publishes its newest state at
 * most 60 times per second of wall time into one buffer. Browsers take the newest whenever they can:
 * a slow one misses frames, the simulation never waits for it (unless asked). Cost to the
 * simulation: one copy of the state per published frame.
 *
 * A body is pulled by a critically damped spring at the point where it was grabbed:
 *
 *     f = m w^2 (target - x) - 2 m w (v + omega x r),   w = 8 rad/s,
 *
 * applied in the user stage, after the scene's own forces.
 *
 * Changes of bodies and methods (edits.h) are remembered as the texts they came in, and said again to the new world
 * after a reset; `original` forgets them. */
#include "serve/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/joint_places.h"
#include "model/world.h"
#include "serve/edits.h"

#define FRAMES_PER_SECOND 60.0
#define LAG 0.25     /* s behind the clock after which lost time is given up */
#define PATIENCE 1.0 /* s to wait for browsers when asked to */
#define SPRING 8.0   /* rad/s */
enum { QUEUE = 64, COMMAND = 256, EDITS = 500 };

struct mor_live {
    const mor_scene* scene;
    mor_live_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*wake)(void*);
    void* wake_user;

    /* under the lock */
    bool quit;
    char queue[QUEUE][COMMAND];
    int queued;
    mor_bytes newest;
    uint64_t number, taken_number;
    int watchers, to_take;
    mor_live_state state;
    char* description;
    size_t description_length;
    uint64_t description_number;

    /* the simulation's own */
    mor_world* world;
    mor_view_frame frame;
    int steps_wanted;
    double gravity; /* NaN: as in the scene */
    bool method_set[2];
    char (*edits)[COMMAND]; /* state.edits of them */
    double* positions;      /* of all joints, scratch */
    struct {
        int body; /* -1: none */
        mor_vec3 local, target;
    } drag;
};

/* Processor time of this thread [s]. */
static double thread_cpu(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

/* Waits for a change or until `end`. */
static void wait_until(mor_live* live, double end)
{
    struct timespec t = { (time_t)end, (long)(1e9 * (end - floor(end))) };
    pthread_cond_timedwait(&live->changed, &live->lock, &t);
}

/* ---------------------------------------------------------------------------------- the world */

static void user_stage(void* user, mor_world* world)
{
    mor_live* live = user;
    mor_scene_apply_forces(live->scene, world);
    if (live->drag.body < 0 || live->drag.body >= mor_world_body_count(world)) return;
    mor_body_id id = mor_world_body(world, live->drag.body);
    if (mor_body_get_kind(world, id) != MOR_DYNAMIC) return;
    mor_body_state s = mor_body_get_state(world, id);
    mor_vec3 x = mor_pose_point(&s.pose, live->drag.local);
    mor_vec3 v = mor_add(s.velocity, mor_cross(s.angular_velocity, mor_sub(x, s.com)));
    double m = mor_body_mass(world, id).mass;
    mor_vec3 f =
        mor_add(mor_scale(m * SPRING * SPRING, mor_sub(live->drag.target, x)), mor_scale(-2.0 * m * SPRING, v));
    if (mor_world_dimension(world) == 2) f.z = 0.0;
    mor_body_apply(world, id, f, x);
}

/* Gravity of the given strength along the scene's direction. */
static void set_gravity(mor_world* w, double strength)
{
    bool flat = mor_world_dimension(w) == 2;
    mor_vec3 down = mor_normalize(mor_world_gravity(w), flat ? mor_v3(0, -1, 0) : mor_v3(0, 0, -1));
    if ((flat ? down.y : down.z) > 0.0) down = mor_neg(down);
    mor_world_set_gravity(w, mor_scale(strength, down));
}

static double strength(const mor_world* w)
{
    mor_vec3 g = mor_world_gravity(w);
    double down = mor_world_dimension(w) == 2 ? g.y : g.z;
    return down > 0.0 ? -mor_norm(g) : mor_norm(g);
}

static void note(mor_live* live, const char* text)
{
    snprintf(live->state.note, sizeof live->state.note, "%.300s", text);
    live->state.version++;
}

static void tell_methods(mor_live* live)
{
    snprintf(live->state.formulation, sizeof live->state.formulation, "%s",
             mor_world_method(live->world, "formulation"));
    snprintf(live->state.solver, sizeof live->state.solver, "%s", mor_world_method(live->world, "solver"));
    snprintf(live->state.collision, sizeof live->state.collision, "%s", mor_world_method(live->world, "collision"));
    live->state.gravity = strength(live->world);
    live->state.step = mor_world_get_step(live->world);
    live->state.epsilon = ((const mor_collision_options*)live->world->collision_options)->epsilon;
    live->state.version++;
}

/* With the lock held: what the world is made of now, for the browsers. */
static bool describe(mor_live* live, mor_error* error)
{
    char* text = NULL;
    size_t length = 0;
    int bodies = mor_world_body_count(live->world), joints = mor_joint_places(live->world, NULL);
    FILE* memory = open_memstream(&text, &length);
    bool good = memory && mor_view_describe_world(memory, live->world, live->scene);
    if (memory) fclose(memory);
    double* positions = good ? realloc(live->positions, ((size_t)joints + 1) * sizeof *positions) : NULL;
    if (positions) live->positions = positions;
    good = good && positions;
    if (good && live->frame.bodies != bodies) {
        mor_view_frame_free(&live->frame);
        good = mor_view_frame_create(&live->frame, bodies, error) == MOR_OK;
    }
    if (!good) {
        free(text);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return false;
    }
    free(live->description);
    live->description = text;
    live->description_length = length;
    live->description_number++;
    live->state.joint_count = joints < MOR_LIVE_JOINTS ? joints : MOR_LIVE_JOINTS;
    return true;
}

/* The scene from its start, with what was changed since. */
static bool rebuild(mor_live* live, mor_error* error)
{
    mor_world* world = mor_scene_build(live->scene, live->options.threads, error);
    if (!world) return false;
    static const char* const stages[2] = { "formulation", "solver" };
    for (int i = 0; i < 2; i++)
        if (live->method_set[i]) mor_world_set_method(world, stages[i], mor_world_method(live->world, stages[i]), NULL);
    mor_world_destroy(live->world);
    live->world = world;
    mor_world_on_user(world, user_stage, live);
    if (live->gravity == live->gravity) set_gravity(world, live->gravity);
    live->drag.body = -1;
    for (int i = 0; i < live->state.edits; i++)
        if (mor_edit_apply(world, live->edits[i], error)) note(live, error->text);
    return true;
}

/* ------------------------------------------------------------------------------- the thread */

/* With the lock held: the newest state for whoever wants it. */
static void publish(mor_live* live, const mor_step_report* report)
{
    if (!mor_view_frame_take(&live->frame, live->world, report)) return;
    mor_joint_positions(live->world, live->positions);
    for (int i = 0; i < live->state.joint_count; i++) live->state.joints[i] = live->positions[i];
    live->newest.size = 0;
    mor_view_frames_begin(&live->newest, 1, live->frame.bodies);
    mor_view_frame_write(&live->newest, &live->frame);
    live->number++;
    live->state.cpu = thread_cpu();
    live->to_take = live->watchers;
    if (live->wake) live->wake(live->wake_user);
    double end = mor_clock() + PATIENCE;
    while (live->options.wait && live->to_take > 0 && !live->quit && mor_clock() < end) wait_until(live, end);
}

/* A change is carried out and, unless it only moved something, kept for resets. */
static void edit(mor_live* live, const char* command)
{
    mor_error error = { 0 };
    mor_edit_effect effect = mor_edit_kind(command);
    int last = live->state.edits - 1;
    bool again = last >= 0 && mor_edit_replaces(live->edits[last], command);
    if (effect > MOR_EDIT_STATE && !again && live->state.edits == EDITS) {
        note(live, "Too many changes; write them into the scene.");
        return;
    }
    if (mor_edit_apply(live->world, command, &error)) {
        note(live, error.text);
        return;
    }
    if (effect > MOR_EDIT_STATE) memcpy(live->edits[again ? last : live->state.edits++], command, strlen(command) + 1);
    note(live, "");
    if (effect == MOR_EDIT_BODIES) live->drag.body = -1;
    if (effect >= MOR_EDIT_BODY && !describe(live, &error)) {
        note(live, error.text);
        live->quit = true; /* frames no longer fit the world */
        return;
    }
    tell_methods(live);
    publish(live, NULL);
}

/* From the start again, with the changes or without. */
static void restart(mor_live* live, bool original)
{
    mor_error error = { 0 };
    note(live, "");
    if (original) {
        live->state.edits = 0;
        live->gravity = NAN;
        live->method_set[0] = live->method_set[1] = false;
    }
    if (!rebuild(live, &error) || (original && !describe(live, &error))) note(live, error.text);
    else {
        tell_methods(live);
        publish(live, NULL);
    }
}

static void set_stage(mor_live* live, const char* stage, const char* name)
{
    mor_error error = { 0 };
    if (mor_world_set_method(live->world, stage, name, &error)) note(live, error.text);
    else {
        live->method_set[stage[0] == 's'] = true;
        note(live, "");
    }
    tell_methods(live);
}

static void pull(mor_live* live, const char* command)
{
    int body;
    double x[6];
    if (sscanf(command, "%*s %d %lf %lf %lf %lf %lf %lf", &body, x, x + 1, x + 2, x + 3, x + 4, x + 5) != 7) return;
    bool sane = body >= 0 && body < mor_world_body_count(live->world);
    for (int i = 0; i < 6; i++) sane = sane && fabs(x[i]) < 1e6;
    if (!sane) return;
    live->drag.body = body;
    live->drag.local = mor_v3(x[0], x[1], x[2]);
    live->drag.target = mor_v3(x[3], x[4], x[5]);
}

static void obey(mor_live* live, const char* command)
{
    char word[32] = "", name[64] = "";
    double x;
    if (sscanf(command, "%31s", word) != 1) return;
    if (mor_edit_kind(command) != MOR_EDIT_NONE) edit(live, command);
    else if (strcmp(word, "run") == 0) live->state.running = true;
    else if (strcmp(word, "pause") == 0) live->state.running = false, live->steps_wanted = 0;
    else if (strcmp(word, "step") == 0) live->state.running = false, live->steps_wanted++;
    else if (strcmp(word, "reset") == 0) restart(live, false);
    else if (strcmp(word, "original") == 0) restart(live, true);
    else if ((strcmp(word, "formulation") == 0 || strcmp(word, "solver") == 0) &&
             sscanf(command, "%*s %63s", name) == 1) {
        set_stage(live, word, name);
    } else if (strcmp(word, "gravity") == 0 && sscanf(command, "%*s %lf", &x) == 1 && fabs(x) <= 1000.0) {
        live->gravity = x;
        set_gravity(live->world, x);
        tell_methods(live);
    } else if (strcmp(word, "speed") == 0 && sscanf(command, "%*s %lf", &x) == 1 && x >= 1e-3 && x <= 1e3) {
        live->state.speed = x;
    } else if (strcmp(word, "drag") == 0) {
        pull(live, command);
    } else if (strcmp(word, "drop") == 0) {
        live->drag.body = -1;
    }
    live->state.version++;
}

/* With the lock held, which is let go while the world steps. False: the step could not be done. */
static bool step(mor_live* live, mor_step_report* report)
{
    mor_error error = { 0 };
    int before = mor_world_step_count(live->world);
    pthread_mutex_unlock(&live->lock);
    double begin = thread_cpu();
    mor_code code = mor_world_step(live->world, report, &error);
    double end = thread_cpu();
    pthread_mutex_lock(&live->lock);
    live->state.step_cpu += end - begin;
    bool good = !code && isfinite(report->kinetic);
    if (good) return true;
    char text[300];
    snprintf(text, sizeof text, "Stopped at step %d: %.180s. Change the method or reset.", before + 1,
             code != MOR_OK && code != MOR_STOPPED ? error.text
             : report->detail[0]                   ? report->detail
                                                   : "not solved");
    live->state.running = false;
    live->steps_wanted = 0;
    note(live, text);
    return false;
}

static void* run(void* user)
{
    mor_live* live = user;
    const double period = 1.0 / FRAMES_PER_SECOND;
    double base_wall = mor_clock(), base_time = 0.0, next = 0.0, speed = 1.0;
    bool was_running = false;
    pthread_mutex_lock(&live->lock);
    publish(live, NULL);
    while (!live->quit) {
        for (int i = 0; i < live->queued; i++) obey(live, live->queue[i]);
        if (live->queued && live->wake) live->wake(live->wake_user);
        live->queued = 0;
        bool single = live->steps_wanted > 0;
        if (!live->state.running && !single) {
            was_running = false;
            wait_until(live, mor_clock() + 1.0);
            continue;
        }
        double t = mor_world_time(live->world), wall = mor_clock();
        if (!was_running || speed != live->state.speed || t < base_time ||
            wall - base_wall > (t - base_time) / live->state.speed + LAG) {
            base_wall = wall;
            base_time = t;
            speed = live->state.speed;
        }
        was_running = live->state.running;
        double due = base_wall + (t - base_time) / speed;
        if (!single && due > wall + 1e-4) {
            wait_until(live, due);
            continue;
        }
        mor_step_report report;
        if (single) live->steps_wanted--;
        if (!step(live, &report)) {
            if (live->wake) live->wake(live->wake_user);
            continue;
        }
        wall = mor_clock();
        /* what is shown belongs to a step that was just taken; the last one before a pause is always shown */
        if (single || live->queued || live->options.wait || wall >= next - 0.25 * period) {
            /* a quarter early is soon enough: steps of a frame's length come unevenly */
            next = fmax(next + period, wall);
            publish(live, &report);
        }
    }
    pthread_mutex_unlock(&live->lock);
    return NULL;
}

/* ---------------------------------------------------------------------------------- outside */

static void release(mor_live* live)
{
    mor_world_destroy(live->world);
    mor_view_frame_free(&live->frame);
    mor_bytes_free(&live->newest);
    free(live->description);
    free(live->edits);
    free(live->positions);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

mor_live* mor_live_create(const mor_scene* scene, const mor_live_options* options, mor_error* error)
{
    mor_live* live = calloc(1, sizeof *live);
    if (!live) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    live->scene = scene;
    live->options = *options;
    live->gravity = NAN;
    live->state.speed = 1.0;
    live->state.running = !options->paused;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&live->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&live->lock, NULL);
    live->edits = malloc(EDITS * sizeof *live->edits);
    if (!live->edits) mor_fail(error, MOR_SYSTEM, "out of memory");
    bool good = live->edits && rebuild(live, error) && describe(live, error);
    if (good) tell_methods(live);
    if (good && pthread_create(&live->thread, NULL, run, live) != 0) {
        mor_fail(error, MOR_SYSTEM, "cannot start a thread");
        good = false;
    }
    if (good) return live;
    release(live);
    return NULL;
}

void mor_live_destroy(mor_live* live)
{
    if (!live) return;
    pthread_mutex_lock(&live->lock);
    live->quit = true;
    live->wake = NULL;
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
    pthread_join(live->thread, NULL);
    release(live);
}

void mor_live_on_news(mor_live* live, void (*wake)(void*), void* user)
{
    pthread_mutex_lock(&live->lock);
    live->wake = wake;
    live->wake_user = user;
    pthread_mutex_unlock(&live->lock);
}

uint64_t mor_live_description(mor_live* live, uint64_t seen, mor_bytes* out)
{
    pthread_mutex_lock(&live->lock);
    uint64_t number = live->description_number;
    if (number > seen) mor_bytes_add(out, live->description, live->description_length);
    pthread_mutex_unlock(&live->lock);
    return number;
}

uint64_t mor_live_frame(mor_live* live, uint64_t seen, mor_bytes* out)
{
    pthread_mutex_lock(&live->lock);
    uint64_t number = live->number;
    if (number > seen) {
        mor_bytes_add(out, live->newest.data, live->newest.size);
        if (live->to_take > 0 && --live->to_take == 0 && live->options.wait) pthread_cond_broadcast(&live->changed);
    }
    pthread_mutex_unlock(&live->lock);
    return number;
}

mor_live_state mor_live_get_state(mor_live* live)
{
    pthread_mutex_lock(&live->lock);
    mor_live_state state = live->state;
    pthread_mutex_unlock(&live->lock);
    return state;
}

void mor_live_watchers(mor_live* live, int count)
{
    pthread_mutex_lock(&live->lock);
    live->watchers = count;
    if (live->to_take > count) live->to_take = count;
    live->state.version++;
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
}

void mor_live_command(mor_live* live, const char* text, size_t length)
{
    if (length == 0 || length >= COMMAND || memchr(text, 0, length)) return;
    pthread_mutex_lock(&live->lock);
    /* a drag that was not looked at yet is overtaken by the next one; others are lost when 64 wait */
    bool drag = length > 5 && memcmp(text, "drag ", 5) == 0;
    int at = live->queued;
    if (drag && at > 0 && memcmp(live->queue[at - 1], "drag ", 5) == 0) at--;
    if (at < QUEUE) {
        memcpy(live->queue[at], text, length);
        live->queue[at][length] = '\0';
        live->queued = at + 1;
    }
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
}
