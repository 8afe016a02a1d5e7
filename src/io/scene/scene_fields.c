/* The tables of keys: the scene format, version 1. Robots and their controllers are in scene_fields_robots.c. */
#include "io/scene/scene_keys.h"

static const mor_key scene_keys[] = {
    { KEY(mor_raw_scene, moreau, MOR_KEY_INT), .required = true, .min = 1, .max = 1, .fallback = "required",
      .help = "Version of the scene format: 1." },
    { TEXT(mor_raw_scene, name), .fallback = "the name of the file", .help = "What the scene is called in outputs." },
    { NODE(mor_raw_scene, include), .value = "list of files", .fallback = "none",
      .help = "Files read first, relative to this one. Their mappings are merged, their lists of "
              "bodies, pairs, "
              "forces, ... come before those of this file, and this file wins where both give a "
              "value." },
    { KEY(mor_raw_scene, dimension, MOR_KEY_INT), .initial = 3, .min = 2, .max = 3, .fallback = "3",
      .help = "3, or 2 for a planar world in x-y: vectors then have two numbers and rotations one." },
    { VECTOR(mor_raw_scene, gravity), .unit = "m/s^2", .fallback = "[0, 0, -9.81]; 2-D: [0, -9.81]",
      .help = "Acceleration of free fall." },
    { NODE(mor_raw_scene, time), .value = "mapping", .fallback = "{}", .help = "Length of the step and of the run." },
    { NUMBER(mor_raw_scene, seed), .initial = 1, .min = 0, .max = 9007199254740992.0, .fallback = "1",
      .help = "State of the random generator at the start; random choices draw from it in file "
              "order." },
    { NODE(mor_raw_scene, method), .value = "mapping", .fallback = "{}", .help = "How the step is computed." },
    { NODE(mor_raw_scene, materials), .value = "mapping name: material", .fallback = "{}",
      .help = "Materials by name. One called `default` is used by bodies that name none." },
    { NODE(mor_raw_scene, pairs), .value = "list", .fallback = "[]",
      .help = "Friction and restitution of pairs of materials, instead of the combining rules." },
    { NODE(mor_raw_scene, bodies), .value = "list", .fallback = "[]", .help = "The bodies." },
    { NODE(mor_raw_scene, joints), .value = "list", .fallback = "[]", .help = "Joints between bodies." },
    { NODE(mor_raw_scene, robots), .value = "list", .fallback = "[]", .help = "Robots from URDF files." },
    { NODE(mor_raw_scene, controllers), .value = "list", .fallback = "[]",
      .help = "Controllers of robots; torques of several add up." },
    { NODE(mor_raw_scene, forces), .value = "list", .fallback = "[]", .help = "Forces that act for a while." },
    { NODE(mor_raw_scene, ignore_pairs), .value = "list of [body, body]", .fallback = "[]",
      .help = "Pairs of bodies that do not touch each other." },
    { KEY(mor_raw_scene, ground, MOR_KEY_CHOICE), .choices = "grid|checker|plain|none", .fallback = "grid",
      .help = "How the viewer draws the ground: horizontal planes with lines, as a chessboard or plain; none: without "
              "planes and lines." },
    { NODE(mor_raw_scene, record), .value = "mapping", .fallback = "{}", .help = "What a recording keeps." },
    { 0 }
};
const mor_key_table mor_keys_scene = { "the scene", "The scene", "The top of the file.", scene_keys,
                                       TABLE(mor_raw_scene) };

static const mor_key time_keys[] = {
    { NODE(mor_raw_time, step), .value = "number or adaptive", .unit = "s", .fallback = "0.01",
      .help = "Length h of a step, 1e-9 to 1000 s. adaptive: each step is as long as its error allows." },
    { NUMBER(mor_raw_time, end), .initial = 1.0, .min = 0.0, .max = 1e9, .unit = "s", .fallback = "1",
      .help = "When the run ends." },
    { NODE(mor_raw_time, tolerance), .value = "number", .unit = "m, m/s", .fallback = "1e-5",
      .help = "Of adaptive steps: error of one step, by which a body differs after one step and after two of half the "
              "length, 1e-12 to 1." },
    { NODE(mor_raw_time, min), .value = "number", .unit = "s", .fallback = "1e-9",
      .help = "Of adaptive steps: the least. It is taken even if its error is above the tolerance, which is told." },
    { NODE(mor_raw_time, max), .value = "number", .unit = "s", .fallback = "0.02",
      .help = "Of adaptive steps: the greatest." },
    { 0 }
};
const mor_key_table mor_keys_time = { "time", "time", "", time_keys, TABLE(mor_raw_time) };

static const mor_key method_keys[] = {
    { NODE(mor_raw_method, formulation), .value = "name or { name, options }", .fallback = "the world's",
      .help = "How a step becomes a mathematical problem (`moreau list formulations`)." },
    { NODE(mor_raw_method, solver), .value = "name or { name, options }", .fallback = "the world's",
      .help = "What solves the problem (`moreau list solvers`)." },
    { NODE(mor_raw_method, collision), .value = "name or { name, options }",
      .fallback = "manifold; features for formulations that need planes",
      .help = "How contacts are found (`moreau list collision`)." },
    { NODE(mor_raw_method, coordinates), .value = "minimal or maximal",
      .fallback = "minimal for `robots`, maximal for `joints`",
      .help = "How robots and joints are modelled. minimal: one tree of joint positions, which cannot come apart; with "
              "it, bodies on revolute, "
              "prismatic, cylindrical, universal and planar `joints` become links, other joints and those that close "
              "loops stay equations. "
              "maximal: a free body for each link and equations for each joint." },
    { NODE(mor_raw_method, stabilisation), .value = "name or { name, options }",
      .fallback = "{ name: impulse, position: 1e-5, velocity: 1e-5 }",
      .help = "How drift of joints is removed: impulse (the step is solved again until the joints hold at its end, "
              "velocities "
              "are corrected after it, each to its tolerance), baumgarte (the rows of a step take `gain`, 0.2, of the "
              "violation away), projection "
              "(positions and velocities are projected after the step, to the two tolerances) or none." },
    { NODE(mor_raw_method, integrator), .value = "name or { name, options }", .fallback = "semi-implicit",
      .help =
          "How trees move where nothing one-sided acts on them: semi-implicit, rk4, midpoint, variational or gauss6 "
          "(`moreau list integrators`); or event-driven, the reference for few contacts of planar bodies." },
    { NODE(mor_raw_method, relinearise), .value = "whole number", .fallback = "0",
      .help =
          "Extra passes that solve the step again with the gaps and normals of its own end: surfaces that bend or turn "
          "are followed beyond first order." },
    { NODE(mor_raw_method, rest), .value = "skip or solve", .fallback = "skip",
      .help = "Islands at rest that repeat their last step bit by bit are not solved again, or are all the same. The "
              "motion does not depend on it." },
    { NODE(mor_raw_method, friction_directions), .value = "whole number", .fallback = "8",
      .help = "Corners of the friction polygon, for formulations with polyhedral cones." },
    { NODE(mor_raw_method, friction_align), .value = "world-x or slip", .fallback = "world-x",
      .help = "First friction direction: world x projected on the tangent plane, or the direction "
              "of slip." },
    { NODE(mor_raw_method, sticking), .value = "velocity or anchored", .fallback = "velocity",
      .help = "A contact that sticks has no velocity, or also returns to the point where it stuck: without it a "
              "contact between turning "
              "bodies creeps by terms of second order in the step." },
    { NODE(mor_raw_method, v_rest), .value = "number or auto", .unit = "m/s", .fallback = "auto",
      .help = "Approach speed above which restitution acts." },
    { NODE(mor_raw_method, gap_correction), .value = "projection, bounded or velocity", .fallback = "projection",
      .help =
          "How overlaps and joints outside their limits are undone: by moving the bodies, which adds no speed; at a "
          "bounded speed; or within one step by speed, the papers' term gap/h." },
    { NODE(mor_raw_method, recovery_speed), .value = "number", .unit = "m/s, rad/s", .fallback = "0.1",
      .help = "Speed of `gap_correction: bounded`." },
    { NODE(mor_raw_method, accuracy), .value = "{ goal, limit }", .unit = "m/s",
      .fallback = "{ goal: 1e-8, limit: 1e-6 }",
      .help =
          "Velocity error of a step. `goal` is what the solver is asked for (the same number as `tol` of the solver): "
          "1e-8 m/s is 0.04 mm in an hour. Above `limit`, at most 1e-6 and never below ten times the goal, the step "
          "has failed. Steps in between are taken and counted as `below_goal`." },
    { NODE(mor_raw_method, on_failure), .value = "stop, warn, retry or parts", .fallback = "parts",
      .help = "What happens when a solver misses its tolerance." },
    { NODE(mor_raw_method, max_failures), .value = "whole number", .fallback = "0",
      .help = "With `on_failure: warn`: the run ends after so many failed steps in a row; 0: it goes on." },
    { NODE(mor_raw_method, control_step), .value = "number", .unit = "s", .fallback = "the step",
      .help = "Period of the controllers: shorter than the step they run several times in it on extrapolated states "
              "and their "
              "mean torque acts, longer their answer is held: torques, and the gains of implicit laws." },
    { 0 }
};
const mor_key_table mor_keys_method = {
    "method", "method", "Options of the formulation, the solver and the collision method are listed at the end.",
    method_keys, TABLE(mor_raw_method)
};

static const mor_key material_keys[] = {
    { NUMBER(mor_raw_material, friction), .initial = 0.5, NOT_NEGATIVE, .fallback = "0.5",
      .help = "Coulomb coefficient mu. Two materials meet with sqrt(mu1 mu2)." },
    { NUMBER(mor_raw_material, restitution), .initial = 0.0, .min = 0, .max = 1, .fallback = "0",
      .help = "Coefficient e. Two materials meet with max(e1, e2)." },
    { TEXT(mor_raw_material, impact), .fallback = "reflections",
      .help = "Impact law (`moreau list impacts`). Two materials meet with the law of the larger restitution." },
    { NUMBER(mor_raw_material, tangential), .initial = 0.0, .min = 0, .max = 1, .fallback = "0",
      .help = "Restitution of slip for the impact law `tangential`. Two materials meet with the larger one." },
    { NUMBER(mor_raw_material, rolling), .initial = 0.0, NOT_NEGATIVE, .unit = "m", .fallback = "0",
      .help = "Rolling friction: the moment against rolling is at most this length times the normal force. Two "
              "materials meet with the larger one." },
    { NUMBER(mor_raw_material, drilling), .initial = 0.0, NOT_NEGATIVE, .unit = "m", .fallback = "0",
      .help = "Drilling friction: the moment against spinning about the normal is at most this length times the normal "
              "force. Two materials meet with the larger one. It does not act in 2-D." },
    { NUMBER(mor_raw_material, density), .initial = 1000.0, POSITIVE, .unit = "kg/m^3 (2-D: kg/m^2)",
      .fallback = "1000", .help = "Gives bodies without a mass theirs." },
    { 0 }
};
const mor_key_table mor_keys_material = { "material", "materials.NAME", "", material_keys, TABLE(mor_raw_material) };

static const mor_key pair_keys[] = { { NODE(mor_raw_pair, materials), .required = true, .value = "[name, name]",
                                       .fallback = "required",
                                       .help = "The two materials; the same name twice is allowed." },
                                     { NUMBER(mor_raw_pair, friction), .initial = NAN, NOT_NEGATIVE,
                                       .fallback = "sqrt(mu1 mu2)", .help = "Coulomb coefficient of the pair." },
                                     { NUMBER(mor_raw_pair, restitution), .initial = NAN, .min = 0, .max = 1,
                                       .fallback = "max(e1, e2)", .help = "Coefficient of restitution of the pair." },
                                     { NUMBER(mor_raw_pair, rolling), .initial = NAN, NOT_NEGATIVE, .unit = "m",
                                       .fallback = "the larger one", .help = "Rolling friction of the pair." },
                                     { NUMBER(mor_raw_pair, drilling), .initial = NAN, NOT_NEGATIVE, .unit = "m",
                                       .fallback = "the larger one", .help = "Drilling friction of the pair." },
                                     { 0 } };
const mor_key_table mor_keys_pair = { "pair", "pairs[]", "", pair_keys, TABLE(mor_raw_pair) };

static const mor_key body_keys[] = {
    { TEXT(mor_raw_body, name), .fallback = "body_<number>",
      .help = "Unique name, at most 63 letters; grids and repetitions append their indices." },
    { NODE(mor_raw_body, shape), .required = true, .value = "mapping or list of mappings", .fallback = "required",
      .help = "The shape, or the shapes of a compound." },
    { TEXT(mor_raw_body, material), .fallback = "default", .help = "Name of a material." },
    { NUMBER(mor_raw_body, friction), .initial = NAN, NOT_NEGATIVE, .fallback = "of the material",
      .help = "Instead of a material: Coulomb coefficient of this body." },
    { NUMBER(mor_raw_body, restitution), .initial = NAN, .min = 0, .max = 1, .fallback = "of the material",
      .help = "Instead of a material: Newton's coefficient of this body." },
    { NUMBER(mor_raw_body, rolling), .initial = NAN, NOT_NEGATIVE, .unit = "m", .fallback = "of the material",
      .help = "Instead of a material: rolling friction of this body." },
    { NUMBER(mor_raw_body, drilling), .initial = NAN, NOT_NEGATIVE, .unit = "m", .fallback = "of the material",
      .help = "Instead of a material: drilling friction of this body." },
    { NUMBER(mor_raw_body, density), .initial = NAN, POSITIVE, .unit = "kg/m^3 (2-D: kg/m^2)",
      .fallback = "of the material", .help = "Instead of a material: density of this body." },
    { NUMBER(mor_raw_body, mass), .initial = NAN, POSITIVE, .unit = "kg", .fallback = "from the density",
      .hint = "leave it out to use the density", .help = "Mass; the inertia of the shapes is scaled to it." },
    { NODE(mor_raw_body, inertia), .value = "[ixx, iyy, izz, ixy, ixz, iyz]; 2-D: number", .unit = "kg m^2",
      .fallback = "of the shapes", .help = "Inertia about the centre of mass, body axes." },
    { VECTOR(mor_raw_body, com), .unit = "m", .fallback = "of the shapes",
      .help = "Centre of mass in the body frame." },
    { VECTOR(mor_raw_body, position), .unit = "m", .fallback = "0",
      .help = "Of the body frame, in which the shapes are given." },
    { NODE(mor_raw_body, orientation), .value = "[w, x, y, z], { axis, angle } or { rpy }; 2-D: number",
      .unit = "2-D: rad", .fallback = "[1, 0, 0, 0]",
      .help = "Rotation from the body frame to the world; a quaternion is normalised." },
    { NUMBER(mor_raw_body, angle), .dimension = 2, .unit = "rad", .fallback = "0",
      .help = "The same as a number for `orientation`." },
    { TEXT(mor_raw_body, on), .fallback = "as placed",
      .help = "Name of a body: the body is moved along gravity until its lowest point touches it, whatever height its "
              "`position` has." },
    { KEY(mor_raw_body, drop, MOR_KEY_BOOL), .fallback = "false", .help = "The same on whatever lies below it." },
    { VECTOR(mor_raw_body, velocity), .unit = "m/s", .fallback = "0", .help = "Of the centre of mass." },
    { SPIN(mor_raw_body, angular_velocity), .unit = "rad/s", .fallback = "0", .help = "World axes." },
    { KEY(mor_raw_body, collide, MOR_KEY_BOOL), .initial = 1, .fallback = "true",
      .help = "Whether it touches other bodies." },
    { KEY(mor_raw_body, fixed, MOR_KEY_BOOL), .fallback = "false", .help = "The body never moves." },
    { VECTOR(mor_raw_body, surface_velocity), .unit = "m/s", .fallback = "0",
      .help = "A belt: the fixed or kinematic body's surface moves, world axes." },
    { NODE(mor_raw_body, support), .value = "mapping", .dimension = 2, .fallback = "none",
      .help = "The plane it lies on, with friction: planar worlds that are seen from above." },
    { NODE(mor_raw_body, kinematic), .value = "mapping", .fallback = "not kinematic",
      .help = "The body moves as told, whatever pushes it." },
    { NODE(mor_raw_body, grid), .value = "mapping", .fallback = "one body", .help = "Many copies on a grid." },
    { NODE(mor_raw_body, repeat), .value = "mapping", .fallback = "one body",
      .help = "Many copies, each placed relative to the one before." },
    { NODE(mor_raw_body, random), .value = "mapping", .fallback = "{}",
      .help = "Random changes of the pose, drawn for every copy." },
    { NODE(mor_raw_body, color), .value = "[red, green, blue] from 0 to 1, \"#rrggbb\" or a name",
      .fallback = "by the viewer", .help = "Colour in pictures; names: red, green, blue, orange, gray ..." },
    { NUMBER(mor_raw_body, opacity), .initial = NAN, .min = 0, .max = 1, .fallback = "1",
      .help = "1: solid; less: one sees through it." },
    { 0 }
};
const mor_key_table mor_keys_body = { "body", "bodies[]", "", body_keys, TABLE(mor_raw_body) };

static const mor_key shape_keys[] = {
    { NUMBER(mor_raw_shape, sphere), .dimension = 3, POSITIVE, .unit = "m", .help = "Sphere: its radius." },
    { NODE(mor_raw_shape, ellipsoid), .dimension = 3, .value = "[a, b, c]", .unit = "m",
      .help = "Ellipsoid: its semi-axes along x, y and z." },
    { NODE(mor_raw_shape, box), .value = "[x, y, z]; 2-D: [x, y]", .unit = "m", .help = "Box: full edge lengths." },
    { NODE(mor_raw_shape, plane), .dimension = 3, .value = "{ normal, point }",
      .help = "Half-space below a plane; fixed bodies only." },
    { NODE(mor_raw_shape, capsule), .dimension = 3, .value = "{ radius, length }",
      .help = "Capsule; the length is that of the cylindrical part." },
    { NODE(mor_raw_shape, cylinder), .dimension = 3, .value = "{ radius, length, sides }",
      .help = "Cylinder; with sides a prism whose vertices lie on the circle." },
    { NODE(mor_raw_shape, prism), .dimension = 3, .value = "{ sides, radius, length }",
      .help = "Regular prism, circumradius, first vertex on x." },
    { NODE(mor_raw_shape, cone), .dimension = 3, .value = "{ radius, height }",
      .help = "Cone with its tip up; the frame is its centre of mass, a quarter of the height "
              "above the base." },
    { NODE(mor_raw_shape, hull), .dimension = 3, .value = "[[x, y, z], ...] or { mesh: file }", .unit = "m",
      .help = "Convex hull of points, or of all points of a mesh file." },
    { TEXT(mor_raw_shape, mesh), .dimension = 3,
      .help = "File .obj, .stl, .dae or .poly, relative to this one; every object in it is one "
              "convex piece, or, with `decompose`, all of them one solid of any shape." },
    { NODE(mor_raw_shape, decompose), .dimension = 3, .value = "{ pieces, concavity }",
      .help = "For a mesh that is not convex: it is cut into convex pieces. Mass and inertia are those of the mesh." },
    { NODE(mor_raw_shape, heightfield), .dimension = 3, .value = "{ size, heights } or { size, file, height }",
      .help = "Ground from its heights at the points of a grid; not for bodies that move freely." },
    { NODE(mor_raw_shape, tetrahedron), .dimension = 3, .value = "{ edge } or { radius }", .help = "Regular solid." },
    { NODE(mor_raw_shape, octahedron), .dimension = 3, .value = "{ edge } or { radius }", .help = "Regular solid." },
    { NODE(mor_raw_shape, dodecahedron), .dimension = 3, .value = "{ edge } or { radius }", .help = "Regular solid." },
    { NODE(mor_raw_shape, icosahedron), .dimension = 3, .value = "{ edge } or { radius }", .help = "Regular solid." },
    { NODE(mor_raw_shape, particle), .dimension = 2, .value = "{}", .help = "A point; the body needs a mass." },
    { NUMBER(mor_raw_shape, disc), .dimension = 2, POSITIVE, .unit = "m", .help = "Disc: its radius." },
    { NODE(mor_raw_shape, polygon), .dimension = 2, .value = "[[x, y], ...]", .unit = "m", .help = "Convex polygon." },
    { NODE(mor_raw_shape, chain), .dimension = 2, .value = "[[x, y], ...]", .unit = "m",
      .help = "Open boundary, solid on the right-hand side when walked in order; fixed bodies only." },
    { NUMBER(mor_raw_shape, scale), .initial = 1.0, .min = 1e-9, .max = 1e9, .fallback = "1",
      .help = "Factor on all lengths of the shape." },
    { KEY(mor_raw_shape, axis, MOR_KEY_CHOICE), .initial = 2, .choices = "x|y|z", .dimension = 3, .fallback = "z",
      .help = "Axis of capsules, cylinders, prisms and cones. With y the first vertex stays on x, "
              "with x it is on y." },
    { VECTOR(mor_raw_shape, position), .unit = "m", .fallback = "0", .help = "Of the shape in the body frame." },
    { NODE(mor_raw_shape, orientation), .value = "as of bodies", .fallback = "[1, 0, 0, 0]",
      .help = "Of the shape in the body frame." },
    { NUMBER(mor_raw_shape, angle), .dimension = 2, .unit = "rad", .fallback = "0",
      .help = "The same as a number for `orientation`." },
    { TEXT(mor_raw_shape, material), .fallback = "of the body", .help = "Material of this shape of a compound." },
    { 0 }
};
const mor_key_table mor_keys_shape = { "shape", "bodies[].shape",
                                       "Exactly one of the shapes, and where it is. Axes are along local z.",
                                       shape_keys, TABLE(mor_raw_shape) };

static const mor_key plane_keys[] = {
    { VECTOR(mor_raw_plane, normal), .fallback = "[0, 0, 1]", .help = "Points out of the solid; any length but zero." },
    { VECTOR(mor_raw_plane, point), .unit = "m", .fallback = "[0, 0, 0]", .help = "A point of the plane." },
    { 0 }
};
const mor_key_table mor_keys_plane = { "plane", "shape.plane", "", plane_keys, TABLE(mor_raw_plane) };

#define RADIUS                                                                                                         \
    {                                                                                                                  \
        NUMBER(mor_raw_round, radius), .required = true, POSITIVE, .unit = "m", .fallback = "required",                \
                                       .help = "Radius."                                                               \
    }
#define LENGTH(help_)                                                                                                  \
    {                                                                                                                  \
        NUMBER(mor_raw_round, length), .required = true, POSITIVE, .unit = "m", .fallback = "required", .help = help_  \
    }

static const mor_key capsule_keys[] = { RADIUS, LENGTH("Length of the cylindrical part."), { 0 } };
const mor_key_table mor_keys_capsule = { "capsule", "shape.capsule", "", capsule_keys, TABLE(mor_raw_round) };

static const mor_key cylinder_keys[] = { RADIUS,
                                         LENGTH("Length."),
                                         { KEY(mor_raw_round, sides, MOR_KEY_INT), .initial = 0, .min = 0, .max = 1000,
                                           .fallback = "0", .help = "0: a smooth cylinder; 3 or more: a prism." },
                                         { 0 } };
const mor_key_table mor_keys_cylinder = { "cylinder", "shape.cylinder", "", cylinder_keys, TABLE(mor_raw_round) };

static const mor_key prism_keys[] = { { KEY(mor_raw_round, sides, MOR_KEY_INT), .required = true, .min = 3, .max = 1000,
                                        .fallback = "required", .help = "Number of side faces." },
                                      RADIUS,
                                      LENGTH("Length."),
                                      { 0 } };
const mor_key_table mor_keys_prism = { "prism", "shape.prism", "", prism_keys, TABLE(mor_raw_round) };

static const mor_key cone_keys[] = { RADIUS,
                                     { NUMBER(mor_raw_round, height), .required = true, POSITIVE, .unit = "m",
                                       .fallback = "required", .help = "From base to tip." },
                                     { 0 } };
const mor_key_table mor_keys_cone = { "cone", "shape.cone", "", cone_keys, TABLE(mor_raw_round) };

static const mor_key solid_keys[] = { { NUMBER(mor_raw_solid, edge), .initial = NAN, POSITIVE, .unit = "m",
                                        .fallback = "from the radius", .help = "Length of an edge." },
                                      { NUMBER(mor_raw_solid, radius), .initial = NAN, POSITIVE, .unit = "m",
                                        .fallback = "from the edge", .help = "Circumradius." },
                                      { 0 } };
const mor_key_table mor_keys_solid = { "regular solid", "shape.tetrahedron, octahedron, dodecahedron, icosahedron",
                                       "One of the two.", solid_keys, TABLE(mor_raw_solid) };

static const mor_key hull_keys[] = { { TEXT(mor_raw_hull, mesh), .required = true, .fallback = "required",
                                       .help = "File .obj, .stl, .dae or .poly, relative to this one; it may be open "
                                               "or not convex. The hull is that of all its objects together." },
                                     { 0 } };
const mor_key_table mor_keys_hull = { "hull", "shape.hull as { mesh }", "", hull_keys, TABLE(mor_raw_hull) };

static const mor_key decompose_keys[] = {
    { KEY(mor_raw_decompose, pieces, MOR_KEY_INT), .initial = 64, .min = 1, .max = 1024, .fallback = "64",
      .help = "The most pieces there may be." },
    { NUMBER(mor_raw_decompose, concavity), .initial = 0.015, .min = 1e-4, .max = 1, .fallback = "0.015",
      .help = "The goal: the pieces are nowhere farther from the mesh than this share of the diagonal of its bounds, "
              "and add no more than this share of its volume." },
    { 0 }
};
const mor_key_table mor_keys_decompose = { "decompose", "shape.decompose",
                                           "The pieces are kept in a file beside the mesh (`FILE.pieces-...`).",
                                           decompose_keys, TABLE(mor_raw_decompose) };

static const mor_key orientation_keys[] = {
    { VECTOR(mor_raw_orientation, axis), .fallback = "required without rpy", .help = "Axis of the turn, any length." },
    { NUMBER(mor_raw_orientation, angle), .unit = "degrees", .fallback = "required without rpy",
      .help = "Angle of the turn." },
    { VECTOR(mor_raw_orientation, rpy), .unit = "degrees", .fallback = "axis and angle",
      .help =
          "Roll, pitch and yaw instead: turns about the world's x, then y, then z (URDF has the same order, in rad)." },
    { 0 }
};
const mor_key_table mor_keys_orientation = { "orientation", "orientation as { axis, angle } or { rpy }", "",
                                             orientation_keys, TABLE(mor_raw_orientation) };

static const mor_key support_keys[] = {
    { NUMBER(mor_raw_support, friction), .initial = 0.5, NOT_NEGATIVE, .fallback = "0.5",
      .help = "Coulomb coefficient of the body on the plane." },
    { NUMBER(mor_raw_support, radius), .required = true, NOT_NEGATIVE, .unit = "m", .fallback = "required",
      .help = "Of the circle with the three points, or of the disc, about the centre of mass." },
    { KEY(mor_raw_support, kind, MOR_KEY_CHOICE), .choices = "tripod|area", .fallback = "tripod",
      .help = "Three points that carry a third of the weight each, or a disc with even pressure (48 points)." },
    { NUMBER(mor_raw_support, gravity), .initial = 9.81, NOT_NEGATIVE, .unit = "m/s^2", .fallback = "9.81",
      .help = "Presses the body on the plane." },
    { 0 }
};
const mor_key_table mor_keys_support = { "support", "bodies[].support",
                                         "2-D only. Solved together with the contacts that act on the body.",
                                         support_keys, TABLE(mor_raw_support) };

static const mor_key kinematic_keys[] = {
    { VECTOR(mor_raw_kinematic, velocity), .unit = "m/s", .fallback = "0", .help = "Constant." },
    { SPIN(mor_raw_kinematic, angular_velocity), .unit = "rad/s", .fallback = "0", .help = "Constant, world axes." },
    { TEXT(mor_raw_kinematic, motion), .fallback = "none",
      .help = "CSV file with lines t,x,y,z,qw,qx,qy,qz (2-D: t,x,y,angle), interpolated linearly "
              "and on the sphere, "
              "held before the first and after the last line; instead of the velocities." },
    { 0 }
};
const mor_key_table mor_keys_kinematic = { "kinematic", "bodies[].kinematic", "", kinematic_keys,
                                           TABLE(mor_raw_kinematic) };

static const mor_key grid_keys[] = {
    { KEY(mor_raw_grid, count, MOR_KEY_COUNTS), .required = true, .min = 1, .max = 1e6, .fallback = "required",
      .help = "Copies along x, y and z; they are called name_i_j_k (2-D: name_i_j)." },
    { VECTOR(mor_raw_grid, spacing), .unit = "m", .fallback = "0", .help = "Distance of neighbours." },
    { VECTOR(mor_raw_grid, origin), .unit = "m", .fallback = "the position of the body",
      .help = "Copy (i, j, k) is at origin + (index + first) spacing." },
    { VECTOR(mor_raw_grid, first), .fallback = "0",
      .help = "Added to the indices: -(count - 1)/2 centres the grid on the origin." },
    { KEY(mor_raw_grid, order, MOR_KEY_CHOICE), .initial = 0, .choices = "xyz|xzy|yxz|yzx|zxy|zyx", .fallback = "xyz",
      .help = "Order in which copies are made, which is that of their random numbers: the first "
              "letter runs fastest." },
    { 0 }
};
const mor_key_table mor_keys_grid = { "grid", "bodies[].grid", "", grid_keys, TABLE(mor_raw_grid) };

static const mor_key random_keys[] = {
    { KEY(mor_raw_random, orientation, MOR_KEY_BOOL), .fallback = "false",
      .help = "Turns the body by a uniform random rotation (three numbers of the generator; 2-D: "
              "one)." },
    { NUMBER(mor_raw_random, position), .initial = 0, NOT_NEGATIVE, .unit = "m", .fallback = "0",
      .help = "Half-width of a uniform shift along every axis, drawn after the rotation; 0 draws "
              "nothing." },
    { 0 }
};
const mor_key_table mor_keys_random = {
    "random", "bodies[].random",
    "The generator is x <- 6364136223846793005 x + 1442695040888963407 mod 2^64, u = (x >> 11)/2^53, with x = seed at "
    "the\nstart; a rotation is (sqrt(u1) cos 2 pi u3, sqrt(1-u1) sin 2 pi u2, sqrt(1-u1) cos 2 pi u2, sqrt(u1) sin 2 "
    "pi "
    "u3).",
    random_keys, TABLE(mor_raw_random)
};

static const mor_key repeat_keys[] = {
    { KEY(mor_raw_repeat, count, MOR_KEY_INT), .required = true, .min = 1, .max = 1e6, .fallback = "required",
      .help = "Number of copies, called name_0, name_1, ..." },
    { NODE(mor_raw_repeat, step), .value = "mapping", .fallback = "{}",
      .help = "Pose of a copy in the frame of the one before." },
    { NODE(mor_raw_repeat, joint), .value = "mapping", .fallback = "none", .help = "Joint between neighbours." },
    { 0 }
};
const mor_key_table mor_keys_repeat = { "repeat", "bodies[].repeat", "", repeat_keys, TABLE(mor_raw_repeat) };

static const mor_key step_keys[] = { { VECTOR(mor_raw_step, position), .unit = "m", .fallback = "0", .help = "Shift." },
                                     { NODE(mor_raw_step, orientation), .value = "as of bodies",
                                       .fallback = "[1, 0, 0, 0]", .help = "Turn." },
                                     { NUMBER(mor_raw_step, angle), .dimension = 2, .unit = "rad", .fallback = "0",
                                       .help = "The same as a number for `orientation`." },
                                     { 0 } };
const mor_key_table mor_keys_step = { "step", "bodies[].repeat.step", "", step_keys, TABLE(mor_raw_step) };

#define JOINT_KEYS                                                                                                     \
    { TEXT(mor_raw_joint, type), .required = true, .fallback = "required",                                             \
      .help = "fixed, revolute, prismatic, cylindrical, spherical, universal, planar, distance or free; in 2-D "       \
              "fixed, revolute, prismatic, distance or free." },                                                       \
        { VECTOR(mor_raw_joint, axis), .fallback = "[0, 0, 1]",                                                        \
          .help = "Axis of turning or sliding; of planar joints the normal. In 2-D only prismatic joints have one." }, \
        { VECTOR(mor_raw_joint, axis2), .dimension = 3, .fallback = "any across the axis",                             \
          .help = "Universal joints: the axis on the first body, across `axis`, which is on the second." },            \
        { VECTOR(mor_raw_joint, point), .unit = "m", .fallback = "0", .help = "Where the joint is." },                 \
        { NODE(mor_raw_joint, limits), .value = "[lower, upper]", .unit = "rad or m", .fallback = "none",              \
          .help = "Revolute and prismatic: how far the first body moves against the second, 0 at the start. "          \
                  "Distance: its least and greatest length; a rope, [0, length], whose bodies can touch." },           \
        { NUMBER(mor_raw_joint, damping), NOT_NEGATIVE, .unit = "N m s/rad or N s/m", .fallback = "0",                 \
          .help = "Viscous friction." },                                                                               \
        { NUMBER(mor_raw_joint, friction), NOT_NEGATIVE, .unit = "N m or N", .fallback = "0",                          \
          .help = "Dry friction." },                                                                                   \
        { NODE(mor_raw_joint, spring), .value = "mapping", .fallback = "none", .help = "A spring." },                  \
    {                                                                                                                  \
        NODE(mor_raw_joint, motor), .value = "mapping", .fallback = "none", .help = "A motor."                         \
    }

static const mor_key joint_keys[] = {
    { TEXT(mor_raw_joint, name), .fallback = "joint_<n>", .help = "What it is called." },
    { NODE(mor_raw_joint, bodies), .value = "[body, body]", .required = true, .fallback = "required",
      .help = "Two bodies; one may be `world`, links of robots are robot/link. They do not touch each other." },
    JOINT_KEYS,
    { NODE(mor_raw_joint, points), .value = "[[x, y, z], [x, y, z]]; 2-D: [[x, y], [x, y]]", .unit = "m",
      .fallback = "required for distance", .help = "Distance joints: the point on each body." },
    { NUMBER(mor_raw_joint, length), .initial = NAN, POSITIVE, .unit = "m", .fallback = "as at the start",
      .help = "Distance joints: the distance." },
    { 0 }
};
const mor_key_table mor_keys_joint = { "joint", "joints[]", "Points and axes are in world axes at the start.",
                                       joint_keys, TABLE(mor_raw_joint) };

static const mor_key chain_joint_keys[] = { { TEXT(mor_raw_joint, first), .fallback = "none",
                                              .help = "What the first copy is joined to: world or a body." },
                                            JOINT_KEYS,
                                            { 0 } };
const mor_key_table mor_keys_chain_joint = { "joint", "bodies[].repeat.joint",
                                             "Point and axes are in the frame of each copy.", chain_joint_keys,
                                             TABLE(mor_raw_joint) };

static const mor_key spring_keys[] = {
    { NUMBER(mor_raw_spring, stiffness), .required = true, NOT_NEGATIVE, .unit = "N m/rad or N/m",
      .fallback = "required", .help = "Force per displacement." },
    { NUMBER(mor_raw_spring, rest), .unit = "rad or m", .fallback = "0", .help = "Where it is slack." },
    { 0 }
};
const mor_key_table mor_keys_spring = { "spring", "joints[].spring", "", spring_keys, TABLE(mor_raw_spring) };

static const mor_key motor_keys[] = { { NUMBER(mor_raw_motor, velocity), .required = true, .unit = "rad/s or m/s",
                                        .fallback = "required",
                                        .help = "Speed it drives the first body at against the second." },
                                      { NUMBER(mor_raw_motor, max_torque), .required = true, NOT_NEGATIVE,
                                        .unit = "N m or N", .fallback = "required", .help = "What it has for that." },
                                      { 0 } };
const mor_key_table mor_keys_motor = { "motor", "joints[].motor", "", motor_keys, TABLE(mor_raw_motor) };

static const mor_key force_keys[] = {
    { TEXT(mor_raw_force, body), .fallback = "required", .help = "Name of a dynamic body." },
    { TEXT(mor_raw_force, robot), .fallback = "none", .help = "Instead of body: name of a robot," },
    { TEXT(mor_raw_force, link), .fallback = "none", .help = "and of its link or frame." },
    { VECTOR(mor_raw_force, force), .unit = "N", .fallback = "0", .help = "Force." },
    { SPIN(mor_raw_force, torque), .unit = "N m", .fallback = "0", .help = "Torque." },
    { VECTOR(mor_raw_force, at), .unit = "m", .fallback = "the centre of mass",
      .help = "Point of attack in the body frame; it moves with the body." },
    { KEY(mor_raw_force, frame, MOR_KEY_CHOICE), .initial = 0, .choices = "world|body", .fallback = "world",
      .help = "Axes of the force and the torque." },
    { NUMBER(mor_raw_force, from), .initial = 0, .unit = "s", .fallback = "0",
      .help = "First instant; a force acts in the steps that begin in from <= t < until." },
    { NUMBER(mor_raw_force, until), .initial = INFINITY, .min = -MOR_HUGE, .max = INFINITY, .unit = "s",
      .fallback = "for ever", .help = "Last instant." },
    { 0 }
};
const mor_key_table mor_keys_force = { "force", "forces[]", "", force_keys, TABLE(mor_raw_force) };

static const mor_key record_keys[] = {
    { KEY(mor_raw_record, every, MOR_KEY_INT), .initial = 1, .min = 1, .max = 1e9, .fallback = "1",
      .help = "Every which step is kept." },
    { KEY(mor_raw_record, contacts, MOR_KEY_BOOL), .initial = 1, .fallback = "true", .help = "Contacts, too." },
    { KEY(mor_raw_record, energy, MOR_KEY_BOOL), .initial = 1, .fallback = "true", .help = "Energies, too." },
    { NODE(mor_raw_record, bus), .value = "list of names with *", .fallback = "[]",
      .help = "Channels of the output bus, too (docs/robots.md): [ arm.tau, \"*.wrench\" ]." },
    { 0 }
};
const mor_key_table mor_keys_record = { "record", "record", "", record_keys, TABLE(mor_raw_record) };

/* clang-format off */
const mor_key_table* const mor_key_tables[] = {
    &mor_keys_scene,     &mor_keys_time,        &mor_keys_method,    &mor_keys_material,
    &mor_keys_pair,      &mor_keys_body,        &mor_keys_shape,     &mor_keys_plane,
    &mor_keys_capsule,   &mor_keys_cylinder,    &mor_keys_prism,     &mor_keys_cone,
    &mor_keys_solid,     &mor_keys_hull,        &mor_keys_decompose, &mor_keys_field,
    &mor_keys_orientation, &mor_keys_kinematic, &mor_keys_support,   &mor_keys_grid,
    &mor_keys_random,    &mor_keys_repeat,      &mor_keys_step,      &mor_keys_chain_joint,
    &mor_keys_joint,     &mor_keys_spring,      &mor_keys_motor,     &mor_keys_robot,
    &mor_keys_loop,      &mor_keys_force,       &mor_keys_record,    &mor_keys_motors,
    &mor_keys_block,     &mor_keys_foot,        &mor_keys_sensor,    &mor_keys_controller,
    &mor_keys_move,      NULL
};
/* clang-format on */
