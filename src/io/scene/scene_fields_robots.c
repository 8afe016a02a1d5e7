/* The tables of keys for robots, their motors, feet, sensors and controllers; see scene_fields.c. */
#include "io/scene/scene_keys.h"

static const mor_key robot_keys[] = {
    { TEXT(mor_raw_robot, name), .fallback = "robot_<n>", .help = "What it is called; its links are name/link." },
    { TEXT(mor_raw_robot, urdf), .fallback = "this or mjcf", .help = "URDF file, relative to this one." },
    { TEXT(mor_raw_robot, mjcf), .fallback = "this or urdf",
      .help =
          "MuJoCo model file, relative to this one. All of it is added: robots, fixed shapes, equalities, actuators, "
          "sensors." },
    { TEXT(mor_raw_robot, sdf), .fallback = "this or urdf or mjcf",
      .help = "SDF model or world file, relative to this one. All of it is added." },
    { TEXT(mor_raw_robot, key), .fallback = "home if there is one, else the reference",
      .help = "Keyframe of the MJCF file it starts at; `reference` for the reference." },
    { NODE(mor_raw_robot, controls), .value = "mapping actuator: number", .fallback = "of the keyframe, else 0",
      .help = "Control values of the actuators of the MJCF file." },
    { KEY(mor_raw_robot, base, MOR_KEY_CHOICE), .choices = "fixed|floating", .fallback = "fixed",
      .help = "Whether the root link is held or moves freely." },
    { VECTOR(mor_raw_robot, position), .dimension = 3, .unit = "m", .fallback = "0", .help = "Of the root link." },
    { NODE(mor_raw_robot, orientation), .value = "as of bodies", .fallback = "[1, 0, 0, 0]",
      .help = "Of the root link." },
    { TEXT(mor_raw_robot, on), .fallback = "as placed",
      .help = "Name of a body: the robot, with its joints and orientation as they start, is moved along gravity until "
              "its lowest point touches it, whatever height its `position` has." },
    { KEY(mor_raw_robot, drop, MOR_KEY_BOOL), .fallback = "false", .help = "The same on whatever lies below it." },
    { VECTOR(mor_raw_robot, velocity), .dimension = 3, .unit = "m/s", .fallback = "0",
      .help = "Of a floating root link's origin." },
    { VECTOR(mor_raw_robot, angular_velocity), .dimension = 3, .unit = "rad/s", .fallback = "0",
      .help = "Of a floating root link." },
    { NODE(mor_raw_robot, joints), .value = "mapping joint: position", .unit = "rad or m", .fallback = "all 0",
      .help = "Where the joints start." },
    { NODE(mor_raw_robot, joint_velocities), .value = "mapping joint: speed", .unit = "rad/s or m/s",
      .fallback = "all 0", .help = "How fast they start." },
    { TEXT(mor_raw_robot, material), .fallback = "the default material", .help = "Material of all links." },
    { KEY(mor_raw_robot, collide, MOR_KEY_CHOICE), .choices = "shapes|none|feet",
      .fallback = "shapes; feet, if their points are given",
      .help = "What touches other bodies: the collision shapes of the URDF, nothing, or the points of `feet`." },
    { KEY(mor_raw_robot, self_collision, MOR_KEY_BOOL), .fallback = "false; of an MJCF file true",
      .help =
          "Whether its links touch each other. Links at most two joints apart (loops count), and links that overlap "
          "with all joints at 0, never do; `moreau run` lists these pairs. In MJCF files the file says it." },
    { KEY(mor_raw_robot, limits, MOR_KEY_BOOL), .initial = 1, .fallback = "true", .help = "Whether joint limits act." },
    { KEY(mor_raw_robot, damping, MOR_KEY_BOOL), .initial = 1, .fallback = "true",
      .help = "Whether joint damping acts." },
    { KEY(mor_raw_robot, friction, MOR_KEY_BOOL), .initial = 1, .fallback = "true",
      .help = "Whether dry joint friction acts." },
    { NODE(mor_raw_robot, loops), .value = "list", .fallback = "[]", .help = "Links that are joined beyond the tree." },
    { KEY(mor_raw_robot, assemble, MOR_KEY_BOOL), .initial = 1, .fallback = "true",
      .help = "Whether the loops are closed before the first step." },
    { NODE(mor_raw_robot, keep), .value = "list of joints", .fallback = "all",
      .help = "Joints that move, in this order; the others are locked at 0." },
    { NODE(mor_raw_robot, actuated), .value = "list of joints", .fallback = "all but mimics",
      .help = "Joints with motors." },
    { NODE(mor_raw_robot, links), .value = "mapping link: { material }", .fallback = "{}",
      .help = "Materials of single links' shapes." },
    { NODE(mor_raw_robot, feet), .value = "list", .fallback = "[]", .help = "Links whose contacts are watched." },
    { NODE(mor_raw_robot, motors), .value = "mapping", .fallback = "{}", .help = "Motors and gears." },
    { NODE(mor_raw_robot, sensors), .value = "list", .fallback = "[]", .help = "Sensors." },
    { 0 }
};
const mor_key_table mor_keys_robot = { "robot", "robots[]", "", robot_keys, TABLE(mor_raw_robot) };

static const mor_key loop_keys[] = {
    { NODE(mor_raw_loop, frames), .value = "[link, link]", .required = true, .fallback = "required",
      .help = "Two links of the robot, or joints for the links they carry; one may be `world`." },
    { NODE(mor_raw_loop, at), .value = "[[x, y, z], [x, y, z]]", .unit = "m", .fallback = "the origins",
      .help = "The joined point in each frame." },
    { KEY(mor_raw_loop, type, MOR_KEY_CHOICE), .choices = "point|weld|distance", .fallback = "point",
      .help = "The points meet; they meet and the frames (or the frame and the world's axes) have one orientation; the "
              "points keep their distance." },
    { NUMBER(mor_raw_loop, length), .initial = NAN, POSITIVE, .unit = "m", .fallback = "as at the start",
      .help = "The distance." },
    { 0 }
};
const mor_key_table mor_keys_loop = { "loop", "robots[].loops[]", "", loop_keys, TABLE(mor_raw_loop) };

#define BY_JOINT(field, u, f, h)                                                                                       \
    {                                                                                                                  \
        NODE(mor_raw_motors, field), .value = "number or mapping joint: number", .unit = u, .fallback = f, .help = h   \
    }
static const mor_key motors_keys[] = {
    BY_JOINT(ratio, "", "1", "Turns of the motor per turn of the joint."),
    BY_JOINT(rotor_inertia, "kg m^2", "0", "Of the motor; through gear and coupling it adds to the joint's inertia."),
    { NODE(mor_raw_motors, coupling), .value = "matrix, or list of { joints, matrix }", .fallback = "identity",
      .help = "T: joint speeds = T diag(1/ratio) motor speeds." },
    { NODE(mor_raw_motors, reflected_inertia), .value = "number, mapping, matrix or list of { joints, matrix }",
      .unit = "kg m^2", .fallback = "0",
      .help = "Added to the joint block of the mass matrix; instead of rotor_inertia." },
    BY_JOINT(kt, "N m/A", "no current limit", "Motor constant."),
    BY_JOINT(current_limit, "A", "none", "Of the motor; with kt it limits the torque."),
    BY_JOINT(torque_limit, "N m or N", "effort of the URDF", "At the joint; .inf for none."),
    BY_JOINT(speed_limit, "rad/s or m/s", "none", "Torque along the motion falls to 0 over the last 5 % before it."),
    BY_JOINT(viscous, "N m s/rad", "0", "Friction proportional to the joint's speed, beyond the URDF's damping."),
    BY_JOINT(coulomb, "N m or N", "0", "Dry friction at the joint, beyond the URDF's."),
    BY_JOINT(bandwidth, "Hz", "the torque follows at once", "Of the actuator's own dynamics."),
    BY_JOINT(damping_ratio, "", "first order", "With it the actuator is of second order."),
    { 0 }
};
const mor_key_table mor_keys_motors = { "motors", "robots[].motors", "", motors_keys, TABLE(mor_raw_motors) };

static const mor_key block_keys[] = { { NODE(mor_raw_block, joints), .value = "list of joints", .required = true,
                                        .fallback = "required", .help = "Rows and columns." },
                                      { NODE(mor_raw_block, matrix), .value = "list of rows", .required = true,
                                        .fallback = "required", .help = "Their block." },
                                      { 0 } };
const mor_key_table mor_keys_block = { "block", "blocks of motors.coupling and motors.reflected_inertia", "",
                                       block_keys, TABLE(mor_raw_block) };

static const mor_key foot_keys[] = { { TEXT(mor_raw_foot, link), .required = true, .fallback = "required",
                                       .help = "Link whose contact forces are told, in its own frame." },
                                     { NODE(mor_raw_foot, points), .value = "[[x, y, z], ...]", .unit = "m",
                                       .fallback = "required with collide: feet",
                                       .help = "Contact points in the link's frame." },
                                     { NUMBER(mor_raw_foot, radius), NOT_NEGATIVE, .unit = "m", .fallback = "0",
                                       .help = "The points are centres of spheres; 0: points." },
                                     { 0 } };
const mor_key_table mor_keys_foot = { "foot", "robots[].feet[]", "", foot_keys, TABLE(mor_raw_foot) };

static const mor_key sensor_keys[] = {
    { KEY(mor_raw_sensor, type, MOR_KEY_CHOICE), .choices = "imu|encoder|torque|force|contact", .required = true,
      .fallback = "required",
      .help = "imu, force and contact sit on a link, encoder and torque on a joint (docs/robots.md)." },
    { TEXT(mor_raw_sensor, name), .fallback = "type_place", .help = "On the bus it is robot.name." },
    { TEXT(mor_raw_sensor, link), .fallback = "required for imu, force, contact", .help = "Link or frame." },
    { TEXT(mor_raw_sensor, joint), .fallback = "required for encoder, torque", .help = "Joint." },
    { NUMBER(mor_raw_sensor, noise), NOT_NEGATIVE, .unit = "the reading's", .fallback = "0",
      .help = "Standard deviation of white noise." },
    { NUMBER(mor_raw_sensor, bias), NOT_NEGATIVE, .unit = "the reading's", .fallback = "0",
      .help = "Standard deviation of a constant bias drawn at the start." },
    { NUMBER(mor_raw_sensor, resolution), NOT_NEGATIVE, .unit = "rad or m", .fallback = "0",
      .help = "Encoders: positions are multiples of it; 0: exact." },
    { NUMBER(mor_raw_sensor, threshold), NOT_NEGATIVE, .unit = "N", .fallback = "0",
      .help = "Contact switches close above it." },
    { 0 }
};
const mor_key_table mor_keys_sensor = { "sensor", "robots[].sensors[]",
                                        "Noise and bias draw from the seed of the scene.", sensor_keys,
                                        TABLE(mor_raw_sensor) };

#define GAIN(field, u, h)                                                                                              \
    {                                                                                                                  \
        NODE(mor_raw_controller, field), .value = "number or mapping joint: number", .unit = u, .fallback = "0",       \
                                         .help = h                                                                     \
    }
static const mor_key controller_keys[] = {
    { TEXT(mor_raw_controller, type), .required = true, .fallback = "required",
      .help = "A name of `moreau list controllers`." },
    { TEXT(mor_raw_controller, robot), .required = true, .fallback = "required", .help = "Name of a robot." },
    { TEXT(mor_raw_controller, name), .fallback = "type_<n>", .help = "What it is called." },
    { TEXT(mor_raw_controller, joint), .fallback = "all with motors", .help = "The one joint it acts on." },
    { NODE(mor_raw_controller, joints), .value = "list of joints", .fallback = "all with motors",
      .help = "The joints it acts on." },
    { NODE(mor_raw_controller, targets), .value = "number or mapping joint: number",
      .unit = "rad, m; velocity: rad/s, m/s; torque: N m, N", .fallback = "the start; velocity and torque: 0",
      .help = "What it aims at." },
    GAIN(kp, "N m/rad or N/m", "Torque per error of position."),
    GAIN(ki, "N m/(rad s)", "Torque per error and time (velocity: per error of the speed and time)."),
    GAIN(kd, "N m s/rad", "Torque per error of speed."),
    { KEY(mor_raw_controller, gravity_compensation, MOR_KEY_BOOL), .fallback = "false",
      .help = "Adds the torques that hold the pose against gravity; a floating robot stands on its closed contacts." },
    { KEY(mor_raw_controller, sampled, MOR_KEY_BOOL), .fallback = "false",
      .help = "A digital controller: the torque is computed at its instants and held. Else kp and kd act implicitly, "
              "stable at any step." },
    { TEXT(mor_raw_controller, file), .fallback = "none",
      .help = "CSV file of targets over time: t,joint,joint,... and lines of numbers." },
    { NODE(mor_raw_controller, moves), .value = "list of { at, targets }", .fallback = "none",
      .help = "The same in the scene." },
    { KEY(mor_raw_controller, interpolation, MOR_KEY_CHOICE), .choices = "cubic|linear|hold", .fallback = "cubic",
      .help = "Between the times of file or moves." },
    { NUMBER(mor_raw_controller, period), NOT_NEGATIVE, .unit = "s", .fallback = "0",
      .help = "File or moves repeat after it; 0: once." },
    { NUMBER(mor_raw_controller, integral_limit), .initial = INFINITY, .min = 0, .max = INFINITY, .unit = "N m or N",
      .fallback = "none", .help = "Largest torque of the integral." },
    { NUMBER(mor_raw_controller, from), .initial = -INFINITY, .min = 0, .max = MOR_HUGE, .unit = "s",
      .fallback = "the start", .help = "It acts from here" },
    { NUMBER(mor_raw_controller, until), .initial = INFINITY, .min = 0, .max = INFINITY, .unit = "s",
      .fallback = "for ever", .help = "to here." },
    { NODE(mor_raw_controller, options), .value = "mapping", .fallback = "{}",
      .help = "Options of the type, listed at the end." },
    { 0 }
};
const mor_key_table mor_keys_controller = { "controller", "controllers[]", "", controller_keys,
                                            TABLE(mor_raw_controller) };

static const mor_key move_keys[] = {
    { NUMBER(mor_raw_move, at), .required = true, NOT_NEGATIVE, .unit = "s", .fallback = "required", .help = "Time." },
    { NODE(mor_raw_move, targets), .value = "mapping joint: number", .required = true, .fallback = "required",
      .help = "Joints that are not named keep their last value." },
    { 0 }
};
const mor_key_table mor_keys_move = { "move", "controllers[].moves[]", "", move_keys, TABLE(mor_raw_move) };
