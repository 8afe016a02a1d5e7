/* The scenes of robots under control give the answers their first lines promise. Standing for a whole minute runs when
 * the environment has MOREAU_LONG, a few seconds of it otherwise. Scenes of scenes/shared need ../shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scenes.h"
#include "io/recording/recording.h"
#include "moreau/lab.h"

typedef struct play {
    mor_scene* scene;
    mor_world* w;
    mor_error error;
    const char* name;
} play;

static play open_scene(const char* name)
{
    play p = { .name = name };
    p.scene = mor_scene_load(scene_path(name), NULL, NULL, &p.error);
    if (!p.scene) fail_msg("%s", p.error.text);
    p.w = mor_scene_build(p.scene, 1, &p.error);
    if (!p.w) fail_msg("%s", p.error.text);
    return p;
}

static void until(play* p, double time, void (*each)(play*))
{
    while (mor_world_time(p->w) < time - 1e-9) {
        mor_step_report r;
        if (mor_world_step(p->w, &r, &p->error) != MOR_OK) fail_msg("%s", p->error.text);
        if (r.status != MOR_SOLVED) fail_msg("%s at %g s: %s", p->name, mor_world_time(p->w), r.detail);
        if (each) each(p);
    }
}

static void close_scene(play* p)
{
    mor_world_destroy(p->w);
    mor_scene_destroy(p->scene);
}

static mor_body_state body(const play* p, const char* name)
{
    mor_body_id id = mor_world_find_body(p->w, name);
    if (!id.index1) fail_msg("no body %s", name);
    return mor_body_get_state(p->w, id);
}

static mor_vec3 seen_from(const mor_body_state* a, const mor_body_state* b)
{
    return mor_rotate(mor_quat_conj(a->pose.rotation), mor_sub(b->pose.position, a->pose.position));
}

static bool is_long(void) { return getenv("MOREAU_LONG") != NULL; }
/* the sanitizer build is slow */
static double minute(void) { return getenv("MOREAU_SLOW") && !is_long() ? 2.0 : 60.0; }

/* ---------------------------------------------------------------------------------- standing */

/* Feet stay within 1e-9 m from `settled` on, the ground carries the weight to 1e-6, pressure stays within the soles. */
static void stands(const char* scene, const char* const feet[2], double weight, double settled, double seconds,
                   const double sole[4])
{
    play p = open_scene(scene);
    until(&p, settled, NULL);
    mor_body_state before[2] = { body(&p, feet[0]), body(&p, feet[1]) };
    double end = settled + seconds, drift = 0.0, off = 0.0, margin = INFINITY;
    while (mor_world_time(p.w) < end - 1e-9) {
        until(&p, mor_world_time(p.w) + 0.1, NULL);
        for (int k = 0; k < 2; k++) {
            mor_body_state now = body(&p, feet[k]);
            drift = fmax(drift, mor_norm(mor_sub(now.com, before[k].com)));
            mor_foot_state f = mor_world_foot(p.w, 0, k);
            assert_true(f.contact);
            int channel = mor_bus_count(p.w);
            char name[200];
            snprintf(name, sizeof name, "%s.%s.pose", mor_world_robot_name(p.w, 0),
                     mor_robot_frame(mor_world_robot_model(p.w, 0), f.frame)->name);
            channel = mor_bus_find(p.w, name);
            double pose[7];
            mor_bus_read(p.w, channel, pose);
            mor_quat q = { pose[3], pose[4], pose[5], pose[6] };
            mor_vec3 local =
                mor_rotate(mor_quat_conj(q), mor_v3(f.cop[0] - pose[0], f.cop[1] - pose[1], f.cop[2] - pose[2]));
            margin = fmin(margin,
                          fmin(fmin(local.x - sole[0], sole[1] - local.x), fmin(local.y - sole[2], sole[3] - local.y)));
        }
        off = fmax(off,
                   fabs(mor_world_foot(p.w, 0, 0).wrench[2] + mor_world_foot(p.w, 0, 1).wrench[2] - weight) / weight);
    }
    printf("%s: %g s, feet drift %.2g m, ground carries the weight to %.2g, pressure %.2g m or more inside the soles\n",
           scene, seconds, drift, off, margin);
    assert_true(margin > 0.0);
    assert_true(off < 1e-6);
    if (!(drift < 1e-9)) fail_msg("%s: the feet drifted by %g m", scene, drift);
    close_scene(&p);
}

static void the_humanoid_stands_still(void** state)
{
    (void)state;
    stands("humanoid_stand", (const char* const[]){ "human/l_foot", "human/r_foot" }, 62.3 * 9.81, 0.5, minute(),
           (double[]){ -0.09, 0.15, -0.05, 0.05 });
}

static void h1_stands_still(void** state)
{
    (void)state;
    if (access(MOREAU_SOURCE_DIR "/../shared/data/robots/h1/h1.urdf", R_OK) != 0) {
        print_message("SKIP: ../shared is not there\n");
        skip();
    }
    stands("shared/h1_stand", (const char* const[]){ "h1/left_ankle_link", "h1/right_ankle_link" }, 59.338 * 9.81, 1.0,
           minute(), (double[]){ -0.09, 0.19, -0.015, 0.015 });
}

static void the_icub_stands_still(void** state)
{
    (void)state;
    if (access(MOREAU_SOURCE_DIR "/../shared/data/robots/icub/iCubGenova04/model.urdf", R_OK) != 0) {
        print_message("SKIP: ../shared is not there\n");
        skip();
    }
    stands("shared/icub_stand", (const char* const[]){ "icub/l_ankle_2", "icub/r_ankle_2" }, 33.0616727 * 9.81, 2.0,
           minute(), (double[]){ -0.06, 0.11, -0.035, 0.04 });
}

static void rrbot_swings_on_its_heavy_root(void** state)
{
    (void)state;
    if (access(MOREAU_SOURCE_DIR "/../shared/data/robots/rrbot/model.urdf", R_OK) != 0) {
        print_message("SKIP: ../shared is not there\n");
        skip();
    }
    play p = open_scene("shared/rrbot");
    double before = mor_world_kinetic_energy(p.w) + mor_world_potential_energy(p.w);
    until(&p, 3.0, NULL);
    assert_true(mor_norm(body(&p, "rrbot/world").pose.position) < 1e-8);
    assert_true(mor_world_kinetic_energy(p.w) + mor_world_potential_energy(p.w) < before);
    close_scene(&p);
}

/* ---------------------------------------------------------------------------------- grasping */

static void holds(const char* scene, const char* finger, const char* object, double from, double seconds, double lifted,
                  double least)
{
    play p = open_scene(scene);
    double start = body(&p, object).pose.position.z;
    until(&p, from, NULL);
    mor_body_state f = body(&p, finger), o = body(&p, object);
    assert_true(o.pose.position.z - start > lifted);
    mor_vec3 before = seen_from(&f, &o);
    double slip = 0.0, joint = 0.0, drift = 0.0;
    while (mor_world_time(p.w) < from + seconds - 1e-9) {
        until(&p, mor_world_time(p.w) + mor_world_get_step(p.w), NULL);
        mor_body_state f1 = body(&p, finger), o1 = body(&p, object);
        slip = fmax(slip, mor_norm(mor_sub(seen_from(&f1, &o1), before)));
        drift = fmax(drift, mor_norm(mor_sub(o1.pose.position, o.pose.position)));
        joint = fmax(joint, mor_world_joint_error(p.w));
    }
    print_message("%s: slip %.2g m, drift %.2g m, joint error %.2g in %g s\n", scene, slip, drift, joint, seconds);
    assert_true(slip < least);
    assert_true(drift < least);
    assert_true(joint < 1e-6);
    close_scene(&p);
}

static void the_gripper_lifts_a_block_by_friction_and_holds_it_10_s(void** state)
{
    (void)state;
    holds("gripper_lift", "gripper/left_finger", "block", 2.5, 10.0, 0.15, 1e-9);
}

static void the_gripper_holds_a_tool_10000_times_as_heavy_as_its_fingers(void** state)
{
    (void)state;
    holds("gripper_heavy", "gripper/left_finger", "block", 2.5, 10.0, 0.15, 1e-9);
}

/* At this step the pads are pressed in so far that positions are projected, which moves anchored points by less than
 * 1e-6 m; with `gap_correction: bounded` it is 1e-14 m. */
static void the_hand_holds_the_goblet_at_a_step_of_16_ms(void** state)
{
    (void)state;
    holds("goblet", "hand/finger1_pad_link", "goblet/goblet", 4.0, 10.0, 0.1, 1e-6);
}

/* From the closed grasp through the lift: 4e-5 m without anchors, because the arm turns. */
static void anchored_contacts_do_not_creep_while_the_arm_turns(void** state)
{
    (void)state;
    double slip[2];
    for (int anchored = 0; anchored < 2; anchored++) {
        play p = open_scene("goblet");
        assert_int_equal(mor_world_set_option(p.w, "method", "sticking", anchored ? "anchored" : "velocity", &p.error),
                         MOR_OK);
        until(&p, 1.488, NULL);
        mor_body_state f = body(&p, "hand/finger1_pad_link"), o = body(&p, "goblet/goblet");
        mor_vec3 before = seen_from(&f, &o);
        until(&p, 4.0, NULL);
        f = body(&p, "hand/finger1_pad_link"), o = body(&p, "goblet/goblet");
        slip[anchored] = mor_norm(mor_sub(seen_from(&f, &o), before));
        close_scene(&p);
    }
    print_message("goblet while it is lifted: slip %.2g m, anchored %.2g m\n", slip[0], slip[1]);
    assert_true(slip[0] > 1e-5 && slip[1] < 1e-6);
}

static void the_arm_puts_the_block_where_it_was_told_to(void** state)
{
    (void)state;
    play p = open_scene("arm6_grasp");
    until(&p, 4.0, NULL);
    assert_true(body(&p, "block").pose.position.z > 0.2);
    until(&p, 9.0, NULL);
    mor_body_state b = body(&p, "block");
    assert_near(b.pose.position.x, 0.42 * cos(1.2), 2e-3);
    assert_near(b.pose.position.y, 0.42 * sin(1.2), 2e-3);
    assert_near(b.pose.position.z, 0.05, 1e-6);
    assert_true(mor_norm(b.velocity) < 1e-6);
    close_scene(&p);
}

/* -------------------------------------------------------------------------------- whole body */

static void the_humanoid_slides_down_the_slope_as_a_block_does(void** state)
{
    (void)state;
    play p = open_scene("humanoid_slope");
    double nu[64];
    until(&p, 0.1, NULL);
    mor_world_robot_state(p.w, 0, NULL, NULL, nu);
    double v = nu[0];
    until(&p, 0.5, NULL);
    mor_world_robot_state(p.w, 0, NULL, NULL, nu);
    double a = 9.81 * (sin(0.3490658503988659) - 0.1 * cos(0.3490658503988659));
    assert_near((nu[0] - v) / 0.4, a, 1e-6 * a);
    double force = mor_world_foot(p.w, 0, 0).wrench[2] + mor_world_foot(p.w, 0, 1).wrench[2];
    assert_near(force, 62.3 * 9.218384649, 1e-5);
    close_scene(&p);
}

static double lowest;
static void watch_energy(play* p)
{
    double e = mor_world_kinetic_energy(p->w) + mor_world_potential_energy(p->w);
    assert_true(e <= lowest + 1e-3); /* gap corrections at landing add micro-joules */
    lowest = e;
    assert_true(mor_world_penetration(p->w) < 1e-3);
}

static void the_falling_humanoid_loses_energy_and_comes_to_rest(void** state)
{
    (void)state;
    play p = open_scene("humanoid_fall");
    lowest = INFINITY;
    until(&p, 4.0, watch_energy);
    assert_true(mor_world_kinetic_energy(p.w) < 1e-3); /* arms still sink in their dampers, at 1 mm/s */
    assert_true(body(&p, "human/pelvis").com.z < 0.4);
    close_scene(&p);
}

static void the_humanoid_balances_on_one_foot(void** state)
{
    (void)state;
    play p = open_scene("humanoid_one_foot");
    mor_vec3 start = body(&p, "human/l_foot").com;
    until(&p, is_long() ? 8.0 : 5.0, NULL);
    mor_foot_state left = mor_world_foot(p.w, 0, 0), right = mor_world_foot(p.w, 0, 1);
    assert_true(left.contact && !right.contact);
    assert_near(left.wrench[2], 62.3 * 9.81, 5.0);
    assert_true(body(&p, "human/r_foot").com.z > 0.1);
    assert_true(mor_norm(mor_sub(body(&p, "human/l_foot").com, start)) <
                2e-5); /* creeps 2e-6 m/s at the default goal */
    close_scene(&p);
}

static void the_humanoid_squats_and_rises(void** state)
{
    (void)state;
    play p = open_scene("humanoid_squat");
    double com[3], top;
    int channel = mor_bus_find(p.w, "human.com");
    mor_bus_read(p.w, channel, com);
    top = com[2];
    mor_vec3 foot = body(&p, "human/l_foot").com;
    until(&p, 1.1, NULL);
    mor_bus_read(p.w, channel, com);
    assert_true(com[2] < top - 0.09);
    until(&p, 2.15, NULL);
    mor_bus_read(p.w, channel, com);
    assert_true(com[2] > top - 0.03);
    assert_true(mor_norm(mor_sub(body(&p, "human/l_foot").com, foot)) < 1e-6);
    close_scene(&p);
}

static void the_pushed_humanoid_keeps_its_feet(void** state)
{
    (void)state;
    play p = open_scene("humanoid_push");
    until(&p, is_long() ? 6.0 : 2.0, NULL);
    double com[3];
    mor_bus_read(p.w, mor_bus_find(p.w, "human.com"), com);
    assert_true(com[2] > 0.8);
    assert_true(mor_world_foot(p.w, 0, 0).contact && mor_world_foot(p.w, 0, 1).contact);
    close_scene(&p);
}

static int lifted[8];
static void watch_feet(play* p)
{
    for (int k = 0; k < mor_world_foot_count(p->w, 0); k++) lifted[k] += !mor_world_foot(p->w, 0, k).contact;
}

static void walks(const char* scene, double seconds, const char* trunk, double height, double away)
{
    play p = open_scene(scene);
    memset(lifted, 0, sizeof lifted);
    until(&p, seconds, watch_feet);
    for (int k = 0; k < mor_world_foot_count(p.w, 0); k++) assert_true(lifted[k] > 20);
    mor_body_state b = body(&p, trunk);
    assert_true(b.com.z > height);
    assert_true(hypot(b.com.x, b.com.y) < away);
    close_scene(&p);
}

static void the_humanoid_walks_in_place(void** state)
{
    (void)state;
    walks("humanoid_walk", is_long() ? 12.0 : 4.0, "human/pelvis", 0.8, 0.1);
}

static void the_quadruped_trots_in_place_and_on_a_slope(void** state)
{
    (void)state;
    walks("quadruped_trot", is_long() ? 6.0 : 2.0, "dog/trunk", 0.3, 0.1);
    walks("quadruped_slope", is_long() ? 6.0 : 2.0, "dog/trunk", 0.3, 0.3);
}

static void watch_loops(play* p) { assert_true(mor_world_joint_error(p->w) < 1e-9); }
static void watch_hops(play* p)
{
    watch_loops(p);
    watch_feet(p);
}

static void the_five_bar_leg_hops_with_its_loop_closed(void** state)
{
    (void)state;
    play p = open_scene("five_bar_hop");
    memset(lifted, 0, sizeof lifted);
    until(&p, 3.0, watch_hops);
    assert_true(lifted[0] > 300);
    close_scene(&p);
}

static void the_platform_of_the_delta_stays_level(void** state)
{
    (void)state;
    play p = open_scene("delta");
    double start = body(&p, "delta/platform").com.z;
    until(&p, 3.0, watch_loops);
    mor_body_state b = body(&p, "delta/platform");
    mor_vec3 up = mor_rotate(b.pose.rotation, mor_v3(0, 0, 1)), x = mor_rotate(b.pose.rotation, mor_v3(1, 0, 0));
    assert_near(up.z, 1.0, 1e-12);
    assert_near(x.x, 1.0, 1e-12);
    assert_true(hypot(b.com.x, b.com.y) > 0.03 && fabs(b.com.z - start) > 1e-4);
    close_scene(&p);
}

static void the_hips_of_the_five_bar_carry_its_linkage(void** state)
{
    (void)state;
    static const char text[] =
        "moreau: 1\ntime: { step: 0.001 }\nrobots:\n  - name: leg\n    urdf: robots/five_bar.urdf\n"
        "    joints: { slide: 1, left_hip: 0.9, left_knee: -1.634203596, right_hip: -0.9, right_knee: 1.634203596 }\n"
        "    actuated: [ slide, left_hip, right_hip ]\n"
        "    loops: [ { frames: [ left_shank, right_shank ], at: [ [0, 0, -0.25], [0, 0, -0.25] ], type: point } ]\n"
        "    sensors: [ { type: torque, joint: left_hip }, { type: torque, joint: right_hip }, { type: torque, joint: "
        "right_knee } ]\n"
        "controllers: [ { type: pid, robot: leg, kp: 1e4, kd: 1e3 } ]\n";
    play p = { .name = "five-bar in the air" };
    p.scene = mor_scene_parse(text, strlen(text), MOREAU_SOURCE_DIR "/scenes/inline.yaml", NULL, NULL, &p.error);
    if (!p.scene || !(p.w = mor_scene_build(p.scene, 1, &p.error))) fail_msg("%s", p.error.text);
    until(&p, 3.0, NULL);
    const char* links[3] = { "leg/left_thigh", "leg/right_thigh", "leg/right_shank" };
    mor_vec3 f[3];
    for (int k = 0; k < 3; k++) {
        const double* x = mor_world_sensor_value(p.w, k, NULL);
        f[k] = mor_rotate(body(&p, links[k]).pose.rotation, mor_v3(x[0], x[1], x[2]));
    }
    double linkage = 0.15 + 0.15 + 0.15 + 0.1; /* thighs, left shank with its foot, right shank */
    assert_near(f[0].z + f[1].z, linkage * 9.81, 1e-7);
    assert_near(f[0].x + f[1].x, 0.0, 1e-7);
    assert_near(f[1].z - f[2].z, 0.15 * 9.81, 1e-7); /* the right hip carries its thigh and what the knee does */
    close_scene(&p);
}

static void a_heavy_plate_carries_the_swinging_arm(void** state)
{
    (void)state;
    play p = open_scene("plate_arm");
    until(&p, 3.0, NULL);
    assert_true(mor_norm(body(&p, "rig/plate").pose.position) < 1e-8);
    close_scene(&p);
}

/* ----------------------------------------------------------------------------------- bad input */

static void refused(const char* text, const char* sentence)
{
    mor_error error = { 0 };
    char path[1000], full[4000];
    snprintf(path, sizeof path, MOREAU_SOURCE_DIR "/scenes/bad.yaml");
    snprintf(full, sizeof full, "moreau: 1\nbodies: [ { name: floor, shape: plane, fixed: true } ]\n%s", text);
    mor_scene* scene = mor_scene_parse(full, strlen(full), path, NULL, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (w || error.code != MOR_BAD_INPUT || !strstr(error.text, sentence))
        fail_msg("expected '%s', got '%s'", sentence, w ? "a world" : error.text);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

#define ARM "robots: [ { name: arm, urdf: robots/arm2.urdf } ]\n"
#define ARM_WITH(more) "robots: [ { name: arm, urdf: robots/arm2.urdf, " more " } ]\n"

static const char* csv(const char* content)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/moreau-test-%d.csv", (int)getpid());
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
    return path;
}

static void refused_table(const char* content, const char* sentence)
{
    char text[400];
    snprintf(text, sizeof text, ARM "controllers: [ { type: trajectory, robot: arm, file: %s, kp: 1 } ]\n",
             csv(content));
    refused(text, sentence);
    remove(csv(""));
}

static void bad_input_is_told_with_its_place(void** state)
{
    (void)state;
    refused(ARM_WITH("feet: [ { link: sole } ]"), "bad.yaml:3:64: the robot has no link 'sole'");
    refused(ARM_WITH("sensors: [ { type: imu, link: tipp } ]"), "the robot has no link 'tipp'; did you mean 'tip'?");
    refused(ARM_WITH("sensors: [ { type: imu, joint: elbow } ]"), "this sensor has no 'link'");
    refused(ARM_WITH("sensors: [ { type: encoder, joint: elbw } ]"), "no joint 'elbw'; did you mean 'elbow'?");
    refused(ARM_WITH("sensors: [ { type: imu, link: tip, noise: -1 } ]"), "noise -1 is negative");
    refused(ARM_WITH("actuated: [ knee ]"), "no joint 'knee'");
    refused(ARM_WITH("keep: [ knee ]"), "knee");
    refused(ARM_WITH("links: { foot: { material: default } }"), "the robot has no link 'foot'");
    refused(ARM_WITH("motors: { ratio: { knee: 3 } }"), "no joint 'knee'");
    refused(ARM_WITH("motors: { ratio: -100 }"), "ratio of joint 'shoulder' is -100");
    refused(ARM_WITH("motors: { coupling: [[1, 0], [0]] }"), "coupling has 1 number; give 2");
    refused(ARM_WITH("motors: { coupling: [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }"), "coupling must have 2 rows");
    refused(ARM_WITH("motors: { rotor_inertia: 1e-5, coupling: [[1, 1], [1, 1]] }"), "singular");
    refused(ARM_WITH("motors: { reflected_inertia: -1 }"), "");
    refused(ARM_WITH("motors: { torque: 3 }"), "unknown key 'torque'");
    refused(ARM_WITH("collide: feet"), "needs 'feet' with points");
    refused(ARM_WITH("collide: feet, feet: [ { link: tip } ]"), "a foot has 'points'");
    refused(ARM_WITH("collide: feet, feet: [ { link: tip, points: [[0, 0]] } ]"), "point has 2 numbers; give 3");
    refused(ARM "controllers: [ { type: pidd, robot: arm } ]\n",
            "unknown type of controller 'pidd'; did you mean 'pid'?");
    refused(ARM "controllers: [ { type: pid, robot: leg } ]\n", "there is no robot 'leg'");
    refused(ARM "controllers: [ { type: pid, robot: arm, kp: -5 } ]\n", "must not be negative");
    refused(ARM "controllers: [ { type: pid, robot: arm, targets: { elbo: 1 } } ]\n", "did you mean 'elbow'?");
    refused(ARM "controllers: [ { type: trajectory, robot: arm } ]\n", "a trajectory has 'file' or 'moves'");
    refused(ARM "controllers: [ { type: pid, robot: arm, options: { x: 1 } } ]\n", "have no options");
    refused(ARM "controllers: [ { type: balance, robot: arm, options: { com_kq: 1 } } ]\n", "com_kq");
    refused(ARM "controllers: [ { type: trajectory, robot: arm, moves: [ { at: 1, targets: {} }, { at: 1, targets: {} "
                "} ] } ]\n",
            "times of moves must increase");
    refused(ARM_WITH("actuated: [ elbow ]") "controllers: [ { type: pid, robot: arm, joint: shoulder } ]\n",
            "has no motor");
    refused(ARM "forces: [ { robot: arm, link: hand } ]\n", "the robot has no link 'hand'");
    refused(ARM "forces: [ { robot: arm, force: [1, 0, 0] } ]\n", "has no 'link'");
    refused(ARM "record: { bus: [ arm.torques ] }\n", "nothing on the output bus is called 'arm.torques'");
    refused("materials: { ice: { friction: -0.1 } }\n" ARM, "friction -0.1 is negative");
    refused_table("t,shoulder,elbow\n0,1\n", ":2:4: this line has 2 numbers; 3 are needed");
    refused_table("t,shoulder,elbow\n0,1,2,3\n", "this line has more than the 3 numbers");
    refused_table("t,shoulder,knee\n0,1,2\n", ":1:12: the robot has no joint 'knee'");
    refused_table("t,shoulder,shoulder\n0,1,2\n", "joint 'shoulder' has two columns");
    refused_table("t,shoulder\n0,x\n", ":2:3: this is not a number");
    refused_table("0,1\n", "3 are needed");
    refused_table("t,shoulder\n0,1\n0,2\n", ":3:1: times must increase");
    refused_table("t,shoulder\n0,inf\n", "not finite");
    refused_table("# nothing\n", "no lines of numbers");
}

static void loops_that_cannot_close_and_feet_without_mass_are_refused(void** state)
{
    (void)state;
    refused(ARM_WITH("loops: [ { frames: [ tip, world ], at: [ [0, 0, 0], [9, 0, 0] ] } ]"),
            "the loops do not close from this start");
    char path[64], text[300];
    snprintf(path, sizeof path, "/tmp/moreau-test-%d.urdf", (int)getpid());
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fputs("<robot name='r'><link name='body'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' "
          "iyz='0' izz='1'/></inertial></link>"
          "<joint name='ankle' type='continuous'><parent link='body'/><child link='foot'/><axis xyz='0 1 "
          "0'/></joint><link name='foot'/></robot>",
          f);
    fclose(f);
    snprintf(text, sizeof text, "robots: [ { name: r, urdf: %s, base: floating } ]\n", path);
    refused(text, "a part that can move has no mass or inertia");
    remove(path);
}

static void a_recording_keeps_the_chosen_channels_of_the_bus(void** state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/moreau-test-%d.h5", (int)getpid());
    play p = open_scene("humanoid_stand"); /* record.every: 20 */
    mor_recorder* r = mor_recorder_open(path, p.w, p.scene, &p.error);
    if (!r || mor_world_add_observer(p.w, mor_recorder_observe, r, &p.error)) fail_msg("%s", p.error.text);
    until(&p, 0.1, NULL);
    if (mor_recorder_close(r, &p.error)) fail_msg("%s", p.error.text);
    mor_recording* h5 = mor_recording_open(path, &p.error);
    if (!h5) fail_msg("%s", p.error.text);
    assert_int_equal(mor_recording_get_info(h5)->frames, 6);
    double kept[64], now[64];
    const struct {
        const char* name;
        int size;
    } channels[] = { { "human.tau", 23 }, { "human.com", 3 }, { "human.l_sole.wrench", 6 }, { "human.imu", 13 } };
    for (int k = 0; k < 4; k++) {
        char dataset[100];
        snprintf(dataset, sizeof dataset, "/bus/%s", channels[k].name);
        if (mor_recording_rows(h5, dataset, 5, 1, channels[k].size, kept, &p.error)) fail_msg("%s", p.error.text);
        mor_bus_read(p.w, mor_bus_find(p.w, channels[k].name), now);
        assert_memory_equal(kept, now, (size_t)channels[k].size * sizeof(double));
    }
    mor_error none = { 0 };
    /* not asked for */
    assert_int_equal(mor_recording_rows(h5, "/bus/human.M", 0, 1, 29 * 29, kept, &none), MOR_BAD_INPUT);
    mor_recording_close(h5);
    close_scene(&p);
    remove(path);
}

static void a_controller_comes_from_a_plug_in(void** state)
{
    (void)state;
    char line[2000], path[64];
    snprintf(path, sizeof path, "/tmp/moreau-test-%d.yaml", (int)getpid());
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "moreau: 1\ntime: { step: 0.01, end: 0.5 }\ngravity: [0, 0, 0]\nrobots: [ { name: arm, urdf: "
            "%s/scenes/robots/arm2.urdf } ]\n"
            "controllers: [ { type: chirp, robot: arm, joint: elbow, options: { amplitude: 2, low: 1, high: 1 } } ]\n",
            MOREAU_SOURCE_DIR);
    fclose(f);
    snprintf(line, sizeof line, "%s run %s --plugin %s --quiet", MOREAU_COMMAND, path, MOREAU_CONTROLLER_PLUGIN);
    assert_int_equal(system(line), 0);
    snprintf(line, sizeof line, "%s list controllers --plugin %s | grep -q '^chirp '", MOREAU_COMMAND,
             MOREAU_CONTROLLER_PLUGIN);
    assert_int_equal(system(line), 0);
    snprintf(line, sizeof line, "%s run %s --quiet 2>&1 | grep -q \"unknown type of controller 'chirp'\"",
             MOREAU_COMMAND, path);
    assert_int_equal(system(line), 0);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_humanoid_stands_still),
        cmocka_unit_test(h1_stands_still),
        cmocka_unit_test(the_icub_stands_still),
        cmocka_unit_test(rrbot_swings_on_its_heavy_root),
        cmocka_unit_test(the_gripper_lifts_a_block_by_friction_and_holds_it_10_s),
        cmocka_unit_test(the_gripper_holds_a_tool_10000_times_as_heavy_as_its_fingers),
        cmocka_unit_test(the_hand_holds_the_goblet_at_a_step_of_16_ms),
        cmocka_unit_test(anchored_contacts_do_not_creep_while_the_arm_turns),
        cmocka_unit_test(the_arm_puts_the_block_where_it_was_told_to),
        cmocka_unit_test(the_humanoid_slides_down_the_slope_as_a_block_does),
        cmocka_unit_test(the_falling_humanoid_loses_energy_and_comes_to_rest),
        cmocka_unit_test(the_humanoid_balances_on_one_foot),
        cmocka_unit_test(the_humanoid_squats_and_rises),
        cmocka_unit_test(the_pushed_humanoid_keeps_its_feet),
        cmocka_unit_test(the_humanoid_walks_in_place),
        cmocka_unit_test(the_quadruped_trots_in_place_and_on_a_slope),
        cmocka_unit_test(the_five_bar_leg_hops_with_its_loop_closed),
        cmocka_unit_test(the_platform_of_the_delta_stays_level),
        cmocka_unit_test(the_hips_of_the_five_bar_carry_its_linkage),
        cmocka_unit_test(a_heavy_plate_carries_the_swinging_arm),
        cmocka_unit_test(bad_input_is_told_with_its_place),
        cmocka_unit_test(loops_that_cannot_close_and_feet_without_mass_are_refused),
        cmocka_unit_test(a_recording_keeps_the_chosen_channels_of_the_bus),
        cmocka_unit_test(a_controller_comes_from_a_plug_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
