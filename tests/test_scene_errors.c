/* Broken scenes and meshes: each must be refused with status 2, at the right place, with a sentence that helps;
 * and no bytes whatever may crash the reader. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "moreau/scene.h"

typedef struct broken {
    const char* text;
    int line, column;
    const char* fragment;
    const char* file; /* a second file, written before */
    const char* content;
} broken;

/* One body in line 3 whose keys begin in column 16, or one shape whose value begins in column 23; keys after
 * BALL begin in column 37. */
#define BODY(keys) "moreau: 1\nbodies:\n  - { name: a, " keys " }\n"
#define SHAPE(keys) BODY("shape: " keys)
#define BALL "shape: { sphere: 1}, "
/* Line 2. */
#define TOP(line) "moreau: 1\n" line "\n"
/* Two balls in lines 3 and 4, then line 5. */
#define BALLS(line)                                                                                                    \
    "moreau: 1\nbodies:\n  - { name: a, shape: { sphere: 1 } }\n  - { name: b, shape: { sphere: 1 }, fixed: true "     \
    "}\n" line "\n"
#define FLAT(keys) "moreau: 1\ndimension: 2\nbodies:\n  - { name: a, " keys " }\n"

static const broken scenes[] = {
    /* the file */
    { "", 1, 1, "empty; a scene begins with 'moreau: 1'", 0, 0 },
    { "# only a comment\n", 1, 1, "empty", 0, 0 },
    { "---\n", 2, 1, "must be a mapping", 0, 0 },
    { "- 1\n", 1, 1, "must be a mapping that begins with 'moreau: 1', not a list", 0, 0 },
    { "just words\n", 1, 1, "not a text", 0, 0 },
    { "name: x\n", 1, 1, "begin the file with 'moreau: 1'", 0, 0 },
    { "moreau: 2\n", 1, 9, "version '2' is unknown", 0, 0 },
    { "moreau: [1]\n", 1, 9, "version a list is unknown", 0, 0 },
    { "moreau: 1\n---\nmoreau: 1\n", 2, 1, "second document", 0, 0 },
    { "moreau: 1\nname: [a\n", 3, 1, "did not find expected ',' or ']'", 0, 0 },
    { "moreau: 1\n\tname: x\n", 2, 1, "begins with a tab; indent with spaces", 0, 0 },
    { "moreau: 1\nname: 'x\n", 3, 1, "unexpected end of stream", 0, 0 },
    { "moreau: 1\nname: \"\\0\"\n", 2, 7, "zero byte", 0, 0 },
    { "moreau: 1\nname: \xff\n", 2, 7, "UTF-8", 0, 0 },
    { "moreau: 1\nname: !!str x\n", 2, 7, "tags", 0, 0 },
    { "moreau: 1\nname: *x\n", 2, 7, "no anchor before it", 0, 0 },
    { "moreau: 1\nbodies: &b [ *b ]\n", 2, 14, "inside its own anchor", 0, 0 },
    { "moreau: 1\n[a]: 1\n", 2, 1, "key must be a plain word", 0, 0 },
    { "moreau: 1\nname: a\nname: b\n", 3, 1, "'name' is given twice; the first is in line 2", 0, 0 },
    /* the top */
    { TOP("boddies: []"), 2, 1, "unknown key 'boddies' in the scene; did you mean 'bodies'?", 0, 0 },
    { TOP("quux_quux: 1"), 2, 1, "known: moreau, name, include", 0, 0 },
    { TOP("name: [a]"), 2, 7, "name must be a text, not a list", 0, 0 },
    { TOP("name: ''"), 2, 7, "name is empty", 0, 0 },
    { TOP("dimension: 4"), 2, 12, "dimension must be 2 or 3, not '4'", 0, 0 },
    { TOP("gravity: 9.81"), 2, 10, "gravity must be a list of 3 numbers, not '9.81'", 0, 0 },
    { TOP("gravity: [0, -9.81]"), 2, 10, "gravity has 2 numbers; give 3", 0, 0 },
    { "moreau: 1\ndimension: 2\ngravity: [0, 0, -9.81]\n", 3, 10, "gravity has 3 numbers; give 2", 0, 0 },
    { TOP("gravity: [0, 0, .nan]"), 2, 17, "gravity is not a number (NaN)", 0, 0 },
    { TOP("gravity: [0, 0, -.inf]"), 2, 17, "infinite", 0, 0 },
    { TOP("gravity: [0, 0, 1e13]"), 2, 17, "too large; the limit is 1e+12", 0, 0 },
    { TOP("gravity: [0, 0, '1']"), 2, 17, "not the text '1'", 0, 0 },
    { TOP("gravity: [0, 0, 0x10]"), 2, 17, "must be a number", 0, 0 },
    { TOP("seed: -1"), 2, 7, "seed -1 is negative", 0, 0 },
    { TOP("seed: 1.5"), 2, 7, "whole number", 0, 0 },
    { TOP("time: 3"), 2, 7, "time must be a mapping", 0, 0 },
    { TOP("time: { step: 0 }"), 2, 15, "step 0 is out of range", 0, 0 },
    { TOP("time: { step: -0.01 }"), 2, 15, "step -0.01 is out of range", 0, 0 },
    { TOP("time: { stop: 1 }"), 2, 9, "write 'end: SECONDS'", 0, 0 },
    { "moreau: 1\ntime: { stp: 1 }\n", 2, 9, "did you mean 'step'?", 0, 0 },
    { "moreau: 1\nbodies:\n  - { shape: { sphere: 1 }, rpy: [0, 0, 1] }\n", 3, 29, "write 'orientation: { rpy", 0, 0 },
    { "moreau: 1\nbodies:\n  - { fixed: true, shape: { plane: [0, 0, 1] } }\n", 3, 36, "its keys: normal, point", 0,
      0 },
    { TOP("time: { step: 1e-9, end: 1000 }"), 2, 7, "more than 1e9 steps", 0, 0 },
    { TOP("record: { every: 0 }"), 2, 18, "every 0 is out of range", 0, 0 },
    { TOP("record: { contacts: yes }"), 2, 21, "contacts must be true or false, not 'yes'", 0, 0 },
    { TOP("joints: [ { type: revolute } ]"), 2, 11, "joint has no 'bodies'", 0, 0 },
    { TOP("joints: [ { type: revolut, bodies: [a, b] } ]"), 2, 19, "did you mean 'revolute'?", 0, 0 },
    { TOP("joints: [ { type: fixed, bodies: [a, world] } ]"), 2, 35, "unknown body 'a'", 0, 0 },
    { TOP("joints: [ { type: fixed, bodies: a } ]"), 2, 34, "a list of two names", 0, 0 },
    { TOP("joints: [ { type: fixed, bodies: [world, world] } ]"), 2, 11, "with itself", 0, 0 },
    { TOP("joints: [ { type: fixed, bodies: [world, x/y] } ]"), 2, 11, "unknown body 'x/y'", 0, 0 },
    { TOP("joints: [ { type: fixed, bodies: [world, world], limits: [0, 1] } ]"), 2, 50, "only revolute and prismatic",
      0, 0 },
    { TOP("joints: [ { type: revolute, bodies: [world, world], limits: [1, 0] } ]"), 2, 61, "above the upper limit", 0,
      0 },
    { TOP("joints: [ { type: revolute, bodies: [world, world], motor: { velocity: 1 } } ]"), 2, 60,
      "motor has no 'max_torque'", 0, 0 },
    { TOP("joints: [ { type: distance, bodies: [world, world] } ]"), 2, 11, "has 'points'", 0, 0 },
    { TOP("robots: [ { urdf: a.urdf } ]"), 2, 19, "cannot be opened", 0, 0 },
    { TOP("robots: [ { base: fixed } ]"), 2, 11, "a robot needs a file", 0, 0 },
    { TOP("robots: [ { urdf: a.urdf, base: loose } ]"), 2, 33, "base", 0, 0 },
    { TOP("dimension: 2\njoints: [ { type: fixed, bodies: [world, world] } ]"), 3, 11, "with itself", 0, 0 },
    { TOP("controllers: [ { type: pid } ]"), 2, 16, "has no 'robot'", 0, 0 },
    /* methods */
    { TOP("method: st"), 2, 9, "method must be a mapping", 0, 0 },
    { TOP("method: { solvr: pgs }"), 2, 11, "did you mean 'solver'?", 0, 0 },
    { TOP("method: { solver: psg }"), 2, 19, "did you mean 'pgs'?", 0, 0 },
    { TOP("method: { solver: { name: lemkee } }"), 2, 27, "did you mean 'lemke'?", 0, 0 },
    { TOP("method: { solver: [pgs] }"), 2, 19, "solver must be a name", 0, 0 },
    { TOP("method: { solver: { name: pgs, tool: 1 } }"), 2, 32,
      "unknown option 'tool' of solver 'pgs'; did you mean 'tol'?", 0, 0 },
    { TOP("method: { solver: { name: pgs, quux_quux: 1 } }"), 2, 32, "known: tol, max_iter", 0, 0 },
    { TOP("method: { collision: { epsilom: 1 } }"), 2, 24, "did you mean 'epsilon'?", 0, 0 },
    { TOP("method: { formulation: { name: ap, form: lcp } }"), 2, 36, "unknown option 'form' of formulation 'ap'", 0,
      0 },
    { TOP("method: { solver: { name: pgs, tol: -1 } }"), 2, 37, "out of range", 0, 0 },
    { TOP("method: { solver: { name: pgs, tol: [1] } }"), 2, 37, "tol must be a single value, not a list", 0, 0 },
    { TOP("method: { formulation: stt }"), 2, 24, "did you mean 'st'?", 0, 0 },
    { TOP("method: { collision: { epsilon: x } }"), 2, 33, "not a number", 0, 0 },
    { TOP("method: { friction_directions: 2.5 }"), 2, 32, "whole number", 0, 0 },
    { TOP("method: { on_failure: panic }"), 2, 23, "stop|warn|retry", 0, 0 },
    { TOP("method: { integrator: euler }"), 2, 23, "unknown integrator 'euler'", 0, 0 },
    { TOP("method: { integrator: gauss }"), 2, 23, "did you mean 'gauss6'?", 0, 0 },
    { TOP("method: { integrator: { name: rk4, tool: 1 } }"), 2, 36,
      "unknown option 'tool' of integrator 'rk4'; did you mean 'tol'?", 0, 0 },
    { TOP("method: { integrator: { name: gauss6, tol: -1 } }"), 2, 44, "tol", 0, 0 },
    { TOP("method: { coordinates: maximum }"), 2, 24, "minimal or maximal", 0, 0 },
    { TOP("method: { stabilisation: { name: impuls } }"), 2, 34, "did you mean 'impulse'?", 0, 0 },
    { TOP("method: { stabilisation: { name: impulse, position: -1 } }"), 2, 53, "position", 0, 0 },
    { TOP("method: { stabilisation: { name: none, velocity: 1 } }"), 2, 40,
      "unknown option 'velocity' of stabilisation 'none'", 0, 0 },
    { TOP("method: { relinearise: 1.5 }"), 2, 24, "not a whole number", 0, 0 },
    { TOP("method: { control_step: 0 }"), 2, 25, "control_step 0 is not positive", 0, 0 },
    /* materials */
    { TOP("materials: [wood]"), 2, 12, "materials must be a mapping", 0, 0 },
    { TOP("materials: { wood: { frictoin: 1 } }"), 2, 22,
      "unknown key 'frictoin' in material; did you mean 'friction'?", 0, 0 },
    { TOP("materials: { wood: { friction: -0.1 } }"), 2, 32,
      "friction -0.1 is negative; give zero or a positive number", 0, 0 },
    { TOP("materials: { wood: { restitution: 1.2 } }"), 2, 35, "restitution 1.2 is out of range; allowed: 0 to 1", 0,
      0 },
    { TOP("materials: { wood: { rolling: -1 } }"), 2, 31, "rolling -1 is negative; give zero or a positive number", 0,
      0 },
    { TOP("materials: { wood: { drilling: x } }"), 2, 32, "drilling must be a number", 0, 0 },
    { TOP("materials: { wood: { drill: 1 } }"), 2, 22, "did you mean 'drilling'?", 0, 0 },
    { TOP("materials: { wood: { density: 0 } }"), 2, 31, "density 0 is zero; give a positive number in kg/m^3", 0, 0 },
    { TOP("pairs: [ { friction: 1 } ]"), 2, 10, "pair has no 'materials'", 0, 0 },
    { TOP("pairs: [ { materials: [wood, ice] } ]"), 2, 24, "unknown material 'wood'; describe it", 0, 0 },
    { TOP("pairs: [ { materials: wood } ]"), 2, 23, "list of two names", 0, 0 },
    { BODY(BALL "material: wod") "materials: { wood: {} }\n", 3, 47, "unknown material 'wod'; did you mean 'wood'?", 0,
      0 },
    { BODY(BALL "material: wood, friction: 1") "materials: { wood: {} }\n", 3, 53, "either a material or a friction", 0,
      0 },
    /* bodies */
    { TOP("bodies: { a: 1 }"), 2, 9, "bodies must be a list, not a mapping", 0, 0 },
    { TOP("bodies:"), 2, 8, "bodies must be a list, not nothing", 0, 0 },
    { TOP("bodies: [ 3 ]"), 2, 11, "body must be a mapping (key: value), not '3'", 0, 0 },
    { TOP("bodies: [ { name: a } ]"), 2, 11, "body has no 'shape'", 0, 0 },
    { BODY(BALL "mas: 1"), 3, 37, "unknown key 'mas' in body; did you mean 'mass'?", 0, 0 },
    { BODY(BALL "mass: -1"), 3, 43,
      "mass -1 is negative; give a positive number in kg or leave it out to use the density", 0, 0 },
    { BODY(BALL "mass: 0"), 3, 43, "mass 0 is zero", 0, 0 },
    { BODY(BALL "mass: .nan"), 3, 43, "mass is not a number (NaN)", 0, 0 },
    { BODY(BALL "mass: heavy"), 3, 43, "mass must be a number in kg, not 'heavy'", 0, 0 },
    { BODY(BALL "mass: 1e-400"), 3, 43, "mass 1e-400 is zero", 0, 0 },
    { BODY(BALL "mass: 1e400"), 3, 43, "infinite", 0, 0 },
    { BODY(BALL "inertia: [1, 1]"), 3, 46, "inertia has 2 numbers; give 6", 0, 0 },
    { BODY(BALL "mass: 1, inertia: [1, 1, 5, 0, 0, 0]"), 3, 55, "", 0, 0 },
    { BODY(BALL "mass: 1, inertia: [1, 1, -1, 0, 0, 0]"), 3, 55, "", 0, 0 },
    { BODY(BALL "com: 1"), 3, 42, "com must be a list of 3 numbers", 0, 0 },
    { BODY(BALL "position: [1, 2, x]"), 3, 54, "position must be a number in m, not 'x'", 0, 0 },
    { BODY(BALL "orientation: [0, 0, 0, 0]"), 3, 50, "the quaternion is zero", 0, 0 },
    { BODY(BALL "orientation: [1, 0, 0]"), 3, 50, "orientation has 3 numbers; give 4", 0, 0 },
    { BODY(BALL "orientation: { axis: [0, 0, 0], angle: 1 }"), 3, 58, "the axis has no length", 0, 0 },
    { BODY(BALL "orientation: { angle: 1 }"), 3, 50, "orientation has no 'axis'", 0, 0 },
    { BODY(BALL "orientation: { axis: [0, 0, 1] }"), 3, 50, "orientation has no 'angle'", 0, 0 },
    { BODY(BALL "orientation: { rpy: [1, 2] }"), 3, 57, "rpy has 2 numbers; give 3", 0, 0 },
    { BODY(BALL "orientation: { rpy: [1, 2, 3], angle: 3 }"), 3, 68, "either rpy or axis and angle", 0, 0 },
    { BODY(BALL "orientation: { rpy: 3 }"), 3, 57, "rpy must be", 0, 0 },
    { SHAPE("{ ellipsoid: [1, 2] }"), 3, 36, "ellipsoid has 2 numbers; give 3", 0, 0 },
    { SHAPE("{ ellipsoid: [1, 0, 2] }"), 3, 40, "semi-axis 0 is zero; give a positive number in m", 0, 0 },
    { SHAPE("{ ellipsoid: [1, 1, 2000] }"), 3, 36, "more than 1000 times", 0, 0 },
    { SHAPE("{ hull: { mesh: nowhere.obj } }"), 3, 39, "nowhere.obj", 0, 0 },
    { SHAPE("{ hull: { points: 1 } }"), 3, 33, "unknown key 'points'", 0, 0 },
    { SHAPE("{ hull: { mesh: flat.obj } }"), 3, 39, "flat", "flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" },
    { BODY(BALL "orientation: 1"), 3, 50, "orientation must be a quaternion", 0, 0 },
    { BODY(BALL "angle: 1"), 3, 37, "angle is only for 2-D worlds", 0, 0 },
    { BODY(BALL "fixed: 1"), 3, 44, "fixed must be true or false, not '1'", 0, 0 },
    { BODY(BALL "fixed: true, velocity: [1, 0, 0]"), 3, 50, "a fixed body has no velocity", 0, 0 },
    { BODY(BALL "surface_velocity: [1, 0, 0]"), 3, 37, "only fixed and kinematic bodies have a surface velocity", 0,
      0 },
    { BODY(BALL "fixed: true, kinematic: {}"), 3, 50, "either fixed or kinematic", 0, 0 },
    { BODY(BALL "kinematic: {}, velocity: [1, 0, 0]"), 3, 52, "goes into 'kinematic'", 0, 0 },
    { BODY(BALL "kinematic: { motion: nowhere.csv }"), 3, 58, "cannot read", 0, 0 },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 2, 3, "this is not a number", "bad.csv",
      "t,x,y,z,w,x,y,z\n0,x,0,0,1,0,0,0\n" },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 1, 12, "too few numbers; give t,x,y,z,qw,qx,qy,qz", "bad.csv",
      "0,0,0,0,1,0\n" },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 1, 17, "too many numbers", "bad.csv", "0,0,0,0,1,0,0,0,9\n" },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 2, 1, "times must increase", "bad.csv",
      "0,0,0,0,1,0,0,0\n0,0,0,0,1,0,0,0\n" },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 1, 1, "quaternion of this line is zero", "bad.csv",
      "0,0,0,0,0,0,0,0\n" },
    { BODY(BALL "kinematic: { motion: bad.csv }"), 3, 58, "has no lines", "bad.csv", "# nothing\n" },
    { BODY(BALL "position: [0, 0, 0], kinematic: { motion: ok.csv }"), 3, 37, "leave out 'position'", "ok.csv",
      "0,0,0,0,1,0,0,0\n" },
    { "moreau: 1\nbodies:\n  - { name: a, shape: { sphere: 1 } }\n  - { name: a, shape: { sphere: 1 } }\n", 4, 13,
      "scene.yaml:3; names must differ", 0, 0 },
    { "moreau: 1\nbodies:\n  - { name: world, shape: { sphere: 1 } }\n", 3, 13, "'world' is taken", 0, 0 },
    { "moreau: 1\nbodies:\n  - { name: a123456789012345678901234567890123456789012345678901234567890123, shape: { "
      "sphere: 1 } }\n",
      3, 13, "more than 63 bytes", 0, 0 },
    { BODY(BALL "grid: { spacing: [1, 1, 1] }"), 3, 43, "grid has no 'count'", 0, 0 },
    { BODY(BALL "grid: { count: [2, 0, 2] }"), 3, 56, "count 0 is out of range", 0, 0 },
    { BODY(BALL "grid: { count: [2, 1.5, 2] }"), 3, 56, "not a whole number", 0, 0 },
    { BODY(BALL "grid: { count: [1000, 1000, 1000] }"), 3, 52, "more than 1000000 bodies", 0, 0 },
    { BODY(BALL "grid: { count: [1, 1, 1], order: xxy }"), 3, 70, "order must be one of xyz|", 0, 0 },
    { BODY(BALL "position: [0, 0, 0], grid: { count: [1, 1, 1], origin: [0, 0, 0] }"), 3, 84,
      "either the position of the body or the origin", 0, 0 },
    { BODY(BALL "grid: { count: [1, 1, 1] }, repeat: { count: 2 }"), 3, 65, "either a grid or repetitions", 0, 0 },
    { BODY(BALL "repeat: { count: 0 }"), 3, 54, "count 0 is out of range", 0, 0 },
    { BODY(BALL "repeat: { count: 2, joint: { type: hinge } }"), 3, 72, "unknown type of joint", 0, 0 },
    { BODY(BALL "random: { position: -1 }"), 3, 57, "position -1 is negative", 0, 0 },
    { BODY(BALL "random: { orientation: 1 }"), 3, 60, "must be true or false", 0, 0 },
    /* shapes */
    { SHAPE("{}"), 3, 23, "the shape has no kind", 0, 0 },
    { SHAPE("[]"), 3, 23, "the list of shapes is empty", 0, 0 },
    { SHAPE("sphere"), 3, 23, "shape must be a mapping (key: value), not 'sphere'", 0, 0 },
    { SHAPE("{ sphere: 1, box: [1, 1, 1] }"), 3, 36, "this is sphere and box; make a list", 0, 0 },
    { SHAPE("{ shpere: 1 }"), 3, 25, "did you mean 'sphere'?", 0, 0 },
    { SHAPE("{ sphere: 0 }"), 3, 33, "sphere 0 is zero; give a positive number in m", 0, 0 },
    { SHAPE("{ sphere: -2 }"), 3, 33, "negative", 0, 0 },
    { SHAPE("{ sphere: 1e300 }"), 3, 33, "too large", 0, 0 },
    { SHAPE("{ sphere: 1e-200 }"), 0, 0, "", 0, 0 },
    { SHAPE("{ sphere: 1, scale: 0 }"), 3, 43, "scale 0 is out of range", 0, 0 },
    { SHAPE("{ box: 1 }"), 3, 30, "box must be a list of 3 numbers", 0, 0 },
    { SHAPE("{ box: [1, 1, 0] }"), 3, 37, "box edge 0 is zero", 0, 0 },
    { SHAPE("{ box: [1, -1, 1] }"), 3, 34, "box edge -1 is negative", 0, 0 },
    { SHAPE("{ plane: { normal: [0, 0, 1] } }"), 3, 23, "a plane cannot be a moving body; add 'fixed: true'", 0, 0 },
    { SHAPE("{ plane: { normal: [0, 0, 0] } }, fixed: true"), 3, 42, "the normal of a plane has no length", 0, 0 },
    { SHAPE("{ plane: {}, scale: 2 }, fixed: true"), 3, 43, "a plane has no size to scale", 0, 0 },
    { SHAPE("{ capsule: { radius: 1 } }"), 3, 34, "capsule has no 'length'", 0, 0 },
    { SHAPE("{ cylinder: { radius: 1, length: 1, sides: 2 } }"), 3, 66, "sides 2 is too few", 0, 0 },
    { SHAPE("{ prism: { sides: 2, radius: 1, length: 1 } }"), 3, 41, "sides 2 is out of range", 0, 0 },
    { SHAPE("{ cone: { radius: 1, height: 0 } }"), 3, 52, "height 0 is zero", 0, 0 },
    { SHAPE("{ icosahedron: { edge: 1, radius: 1 } }"), 3, 38, "either the edge or the radius", 0, 0 },
    { SHAPE("{ icosahedron: {} }"), 3, 38, "either the edge or the radius", 0, 0 },
    { SHAPE("{ hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }"), 3, 31, "", 0, 0 },
    { SHAPE("{ hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }"), 3, 31, "", 0, 0 },
    { SHAPE("{ hull: [[0, 0, 0], [1, 0], [0, 1, 0], [1, 1, 0]] }"), 3, 43, "point has 2 numbers; give 3", 0, 0 },
    { SHAPE("{ box: [1, 1, 1], axis: y }"), 3, 41, "axis is for capsules, cylinders, prisms and cones", 0, 0 },
    { SHAPE("{ capsule: { radius: 1, length: 1 }, axis: w }"), 3, 66, "axis must be one of x|y|z", 0, 0 },
    { SHAPE("{ disc: 1 }"), 3, 25, "disc is only for 2-D worlds", 0, 0 },
    { SHAPE("particle"), 3, 23, "only for 2-D worlds", 0, 0 },
    { SHAPE("[ { sphere: 1, material: tin } ]"), 3, 48, "unknown material 'tin'", 0, 0 },
    { SHAPE("{ mesh: '' }"), 3, 31, "mesh is empty", 0, 0 },
    { FLAT("shape: { sphere: 1 }"), 4, 25,
      "sphere is only for 3-D worlds, and this one has dimension 2; known here: box, particle, disc", 0, 0 },
    { FLAT("shape: plane, fixed: true"), 4, 23, "a long ground is { chain:", 0, 0 },
    { FLAT("shape: particle"), 4, 5, "give a 'mass' in kg", 0, 0 },
    { FLAT("shape: { chain: [[0, 0], [1, 0]] }"), 4, 23, "a chain cannot be a moving body", 0, 0 },
    { FLAT("shape: { chain: [[0, 0]] }, fixed: true"), 4, 32, "", 0, 0 },
    { FLAT("shape: { polygon: [[0, 0], [1, 0]] }"), 4, 34, "", 0, 0 },
    { FLAT("shape: { polygon: [[0, 0], [2, 0], [0.5, 0.5], [0, 2]] }"), 4, 34, "", 0, 0 },
    { FLAT("shape: { disc: 1 }, angle: 1, orientation: 1"), 4, 36, "either the orientation or the angle", 0, 0 },
    { FLAT("shape: { disc: 1 }, angular_velocity: [0, 0, 1]"), 4, 54,
      "angular_velocity must be a number in rad/s, not a list", 0, 0 },
    /* meshes */
    { SHAPE("{ mesh: nowhere.obj }"), 3, 31, "nowhere.obj", 0, 0 },
    { SHAPE("{ mesh: model.xyz }"), 3, 31, "model.xyz", "model.xyz", "1 2 3\n" },
    { SHAPE("{ mesh: empty.obj }"), 3, 31, "empty.obj", "empty.obj", "" },
    { SHAPE("{ mesh: empty.stl }"), 3, 31, "empty.stl", "empty.stl", "" },
    { SHAPE("{ mesh: cut.stl }"), 3, 31, "cut.stl", "cut.stl",
      "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0" },
    { SHAPE("{ mesh: open.obj }"), 3, 31, "open.obj", "open.obj",
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n" },
    { SHAPE("{ mesh: index.obj }"), 3, 31, "index.obj", "index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n" },
    { SHAPE("{ mesh: nan.obj }"), 3, 31, "nan.obj", "nan.obj",
      "v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n" },
    { SHAPE("{ mesh: cut.dae }"), 3, 31, "cut.dae", "cut.dae", "<?xml version=\"1.0\"?><COLLADA><library_geometries>" },
    { SHAPE("{ mesh: cut.poly }"), 3, 31, "cut.poly", "cut.poly", "4 4\n0 0 0\n" },
    /* forces and pairs of bodies */
    { BALLS("forces: { body: a }"), 5, 9, "forces must be a list", 0, 0 },
    { BALLS("forces: [ { force: [1, 0, 0] } ]"), 5, 11, "force has no 'body'", 0, 0 },
    { BALLS("forces: [ { body: c } ]"), 5, 19, "unknown body 'c'", 0, 0 },
    { BALLS("forces: [ { body: b, force: [1, 0, 0] } ]"), 5, 19, "body 'b' is not dynamic", 0, 0 },
    { BALLS("forces: [ { body: a, frame: moon } ]"), 5, 29, "frame must be one of world|body", 0, 0 },
    { BALLS("forces: [ { body: a, from: 2, until: 1 } ]"), 5, 38, "until must be later than from", 0, 0 },
    { BALLS("forces: [ { robot: r, link: l } ]"), 5, 20, "there is no robot 'r'", 0, 0 },
    { BALLS("ignore_pairs: [ [a, c] ]"), 5, 21, "unknown body 'c'", 0, 0 },
    { BALLS("ignore_pairs: [ [a] ]"), 5, 17, "two names", 0, 0 },
    { BALLS("ignore_pairs: [ [a, a] ]"), 5, 17, "two different names", 0, 0 },
    { BALLS("ignore_pairs: [ a ]"), 5, 17, "two names", 0, 0 },
    /* includes */
    { TOP("include: [ nowhere.yaml ]"), 2, 12, "cannot read", 0, 0 },
    { TOP("include: { a: b }"), 2, 10, "include must be a list of file names, not a mapping", 0, 0 },
    { TOP("include: [ [a] ]"), 2, 12, "include must be a list of file names", 0, 0 },
    { TOP("include: [ . ]"), 2, 12, "cannot read", 0, 0 },
    { TOP("include: [ scene.yaml ]"), 2, 12, "files include each other", 0, 0 },
    { TOP("include: [ other.yaml ]"), 1, 12, "files include each other", "other.yaml", "include: [ ./scene.yaml ]\n" },
    { TOP("include: [ other.yaml ]"), 2, 9, "scene version '3' is unknown", "other.yaml", "name: x\nmoreau: 3\n" },
    { TOP("include: [ other.yaml ]"), 1, 1, "unknown key 'gravty' in the scene; did you mean 'gravity'?", "other.yaml",
      "gravty: [0, 0, 0]\n" },
    { BODY(BALL) "include: [ other.yaml ]\n", 3, 13, "other.yaml:1; names must differ", "other.yaml",
      "bodies: [ { name: a, shape: { sphere: 1 } } ]\n" },
};

static char directory[64];

static void write_file(const char* name, const char* content, size_t length, char path[160])
{
    snprintf(path, 160, "%s/%s", directory, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, length, file), length);
    fclose(file);
}

/* Loads and builds; true when both worked. */
static bool accepted(const char* path, const char* const* overrides, mor_error* error)
{
    mor_scene* scene = mor_scene_load(path, overrides, NULL, error);
    mor_world* world = scene ? mor_scene_build(scene, 1, error) : NULL;
    bool good = world != NULL;
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return good;
}

static void every_broken_scene_is_refused_at_its_place(void** state)
{
    (void)state;
    int wrong = 0, count = (int)(sizeof scenes / sizeof scenes[0]);
    for (int i = 0; i < count; i++) {
        const broken* b = &scenes[i];
        char path[160], other[160] = "";
        if (b->file) write_file(b->file, b->content, strlen(b->content), other);
        write_file("scene.yaml", b->text, strlen(b->text), path);
        mor_error error = { 0 };
        bool good = accepted(path, NULL, &error);
        bool place = b->line == 0 || (error.line == b->line && error.column == b->column);
        char position[32];
        snprintf(position, sizeof position, ":%d:%d: ", error.line, error.column);
        if (good || error.code != MOR_BAD_INPUT || !place || !strstr(error.text, b->fragment) ||
            !strstr(error.text, position) || strlen(error.text) < strlen(path) + 12) {
            print_message("case %d: %s--> %s %d:%d '%s' instead of %d:%d '%s'\n", i, b->text,
                          good ? "accepted" : "refused", error.line, error.column, error.text, b->line, b->column,
                          b->fragment);
            wrong++;
        }
        if (*other) remove(other);
    }
    print_message("%d broken scenes and meshes\n", count);
    assert_true(count >= 60);
    assert_int_equal(wrong, 0);
}

static void a_cycle_of_includes_is_named(void** state)
{
    (void)state;
    char path[160], other[160], third[160];
    write_file("scene.yaml", "moreau: 1\ninclude: [ b.yaml ]\n", 30, path);
    write_file("b.yaml", "include: [ c.yaml ]\n", 20, other);
    write_file("c.yaml", "include: [ scene.yaml ]\n", 24, third);
    mor_error error = { 0 };
    assert_false(accepted(path, NULL, &error));
    const char* a = strstr(error.text, "scene.yaml includes ");
    assert_non_null(a);
    const char* b = strstr(a, "b.yaml includes ");
    assert_non_null(b);
    assert_non_null(strstr(b, "c.yaml includes "));
    remove(other);
    remove(third);
}

static void a_missing_scene_is_refused_by_name(void** state)
{
    (void)state;
    mor_error error = { 0 };
    assert_null(mor_scene_load("/nonexistent/scene.yaml", NULL, NULL, &error));
    assert_int_equal(error.code, MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nonexistent/scene.yaml: cannot read this file"));
    assert_null(mor_scene_load("/nonexistent/scene.yaml", NULL, NULL, NULL));
}

static void broken_overrides_are_refused(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        int column;
        const char* fragment;
    } cases[] = {
        { "nonsense", 1, "an override looks like key.key=value" },
        { "=1", 1, "an override looks like key.key=value" },
        { "time.step=", 11, "there is no value after '='" },
        { "time..step=1", 6, "a word of the path is empty" },
        { "time.stpe=1", 6, "unknown key 'stpe' in time; did you mean 'step'?" },
        { "tme.step=1", 1, "unknown key 'tme' in the scene; did you mean 'time'?" },
        { "time.step=-1", 11, "step -1 is out of range" },
        { "time.step=}", 11, "did not find expected node content" },
        { "bodies.bal.mass=2", 8, "there is no 'bal' here; did you mean 'ball'?" },
        { "bodies.7.mass=2", 8, "there is no '7' here" },
        { "bodies.ball.mass=-2", 18, "mass -2 is negative" },
        { "bodies.ball.mass.x=2", 13, "the path goes into a single value" },
        { "bodies.ball.shape.sphere=[1]", 26, "sphere must be a number" },
        { "method.solver.tool=1", 15, "unknown option 'tool'" },
        { "method.solver=psg", 15, "did you mean 'pgs'?" },
        { "include=[a.yaml]", 1, "include cannot be overridden" },
        { "materials.stel.friction=0.2", 11, "nothing has the material 'stel'; did you mean 'steel'?" },
        { "materials.paper={ friction: 0.2 }", 11, "nothing has the material 'paper'" },
    };
    char path[160];
    const char* text = "moreau: 1\nmethod: { solver: pgs }\nmaterials: { steel: { friction: 0.1 } }\nbodies:\n"
                       "  - { name: ball, shape: { sphere: 1 }, mass: 1 }\n";
    write_file("scene.yaml", text, strlen(text), path);
    const char* used[] = { "materials.paper.friction=0.2", "bodies.ball.material=paper", "method.formulation=st",
                           NULL };
    assert_true(accepted(path, used, &(mor_error){ 0 }));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char* overrides[] = { cases[i].text, NULL };
        mor_error error = { 0 };
        bool good = accepted(path, overrides, &error);
        if (good || error.line != 1 || error.column != cases[i].column || !strstr(error.text, cases[i].fragment))
            print_message("'%s' --> %d:%d %s\n", cases[i].text, error.line, error.column, error.text);
        assert_false(good);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        assert_int_equal(error.column, cases[i].column);
        assert_non_null(strstr(error.text, cases[i].fragment));
        assert_non_null(strstr(error.text, cases[i].text));
    }
}

/* Aliases that double: 2^40 values if they were all made. */
static void a_bomb_of_aliases_is_refused(void** state)
{
    (void)state;
    char text[2048] = "moreau: 1\nname: &a0 [x, x]\n";
    for (int i = 1; i <= 40; i++) {
        char line[48];
        snprintf(line, sizeof line, "k%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
        strcat(text, line);
    }
    mor_error error = { 0 };
    assert_null(mor_scene_parse(text, strlen(text), "bomb.yaml", NULL, NULL, &error));
    assert_non_null(strstr(error.text, "more than"));
}

static void nesting_without_end_is_refused(void** state)
{
    (void)state;
    enum { LEVELS = 5000 };
    char* text = malloc(LEVELS + 32);
    strcpy(text, "moreau: 1\nbodies: ");
    memset(text + 18, '[', LEVELS);
    text[18 + LEVELS] = '\0';
    mor_error error = { 0 };
    assert_null(mor_scene_parse(text, strlen(text), "deep.yaml", NULL, NULL, &error));
    assert_non_null(strstr(error.text, "nested too deeply"));
    free(text);
}

static const char good_scene[] =
    "moreau: 1\nname: everything\ngravity: [0, 0, -9.81]\ntime: { step: 0.01, end: 2 }\nseed: 7\n"
    "method:\n  formulation: st\n  solver: { name: pgs, tol: 1e-8 }\n  friction_directions: 6\n  v_rest: auto\n"
    "materials:\n  wood: &w { friction: 0.5, restitution: 0.1, density: 600 }\n  ice: *w\n"
    "pairs:\n  - { materials: [wood, ice], friction: 0.02 }\n"
    "bodies:\n"
    "  - name: peg\n    shape: { box: [1, 1, 1], scale: 0.9 }\n    material: wood\n    position: [0, 0, 3]\n"
    "    orientation: { axis: [0, 1, 0], angle: 30 }\n    velocity: [1, 0, 0]\n"
    "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true,\n"
    "      surface_velocity: [0.2, 0, 0] }\n"
    "  - { name: rod, shape: { prism: { sides: 6, radius: 0.2, length: 1 }, axis: y }, mass: 2, position: [4, 0, 1] }\n"
    "  - { name: dumbbell, shape: [ { sphere: 0.2, position: [1, 0, 0] }, { capsule: { radius: 0.1, length: 2 } } ],\n"
    "      position: [0, 5, 1], mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [0.1, 0, 0] }\n"
    "  - { name: ball, shape: { sphere: 0.5 }, grid: { count: [2, 2, 2], spacing: [2, 2, 2], origin: [9, 9, 1] },\n"
    "      random: { orientation: true, position: 0.1 } }\n"
    "  - { name: link, shape: { cone: { radius: 1, height: 1 } }, repeat: { count: 3, step: { position: [0, 3, 0] } "
    "},\n"
    "      kinematic: { velocity: [0, 0, 1] }, position: [-9, 0, 0] }\n"
    "forces:\n  - { body: peg, force: [12, 0, 0], at: [0, 0, 0.5], frame: body, until: 1 }\n"
    "ignore_pairs: [ [peg, floor] ]\nrecord: { every: 2, contacts: false }\n";

/* Truncations and flipped bytes, fixed seed: the answer is a scene or a sentence, never a crash. */
static void no_bytes_crash_the_reader(void** state)
{
    (void)state;
    const size_t length = sizeof good_scene - 1;
    char text[sizeof good_scene + 8];
    mor_rng rng = { 2024 };
    int good = 0, bad = 0;
    for (int i = 0; i < 4000; i++) {
        size_t n = length;
        memcpy(text, good_scene, length);
        if (i % 4 == 0) n = (size_t)(mor_rng_uniform(&rng) * (double)length);
        int flips = i % 4 == 0 ? 0 : 1 + i % 3;
        for (int k = 0; k < flips; k++) {
            size_t at = (size_t)(mor_rng_uniform(&rng) * (double)n);
            static const char likely[] = "{}[]:,-&*!|>'\"%@`#.0123456789einfa \n\t";
            text[at] = i % 2 ? likely[(size_t)(mor_rng_uniform(&rng) * (double)(sizeof likely - 1))]
                             : (char)(unsigned char)(256.0 * mor_rng_uniform(&rng));
        }
        mor_error error = { 0 };
        mor_scene* scene = mor_scene_parse(text, n, "fuzz.yaml", NULL, NULL, &error);
        mor_world* world = scene && i % 8 == 1 ? mor_scene_build(scene, 1, &error) : NULL;
        if (scene) {
            good++;
        } else {
            bad++;
            assert_int_equal(error.code, MOR_BAD_INPUT);
            assert_true(strlen(error.text) > 10);
            assert_true(error.line > 0 && error.column > 0);
        }
        mor_world_destroy(world);
        mor_scene_destroy(scene);
    }
    assert_true(good > 100 && bad > 100); /* both ways are taken */
}

static void the_scene_that_is_mutated_is_good(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(good_scene, sizeof good_scene - 1, "good.yaml", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* world = mor_scene_build(scene, 1, &error);
    if (!world) fail_msg("%s", error.text);
    assert_int_equal(mor_world_body_count(world), 4 + 8 + 3);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static int make_directory(void** state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/moreau-scenes-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void** state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s/scene.yaml", directory);
    remove(path);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_scene_is_refused_at_its_place),
        cmocka_unit_test(a_cycle_of_includes_is_named),
        cmocka_unit_test(a_missing_scene_is_refused_by_name),
        cmocka_unit_test(broken_overrides_are_refused),
        cmocka_unit_test(a_bomb_of_aliases_is_refused),
        cmocka_unit_test(nesting_without_end_is_refused),
        cmocka_unit_test(the_scene_that_is_mutated_is_good),
        cmocka_unit_test(no_bytes_crash_the_reader),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
