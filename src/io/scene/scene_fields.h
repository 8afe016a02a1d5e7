/* The keys of the scene file: for every mapping a struct it is read into and a table that says what
 * each key means. The tables feed the reader, its range checks, "did you mean" and docs/scene.md.
 */
#ifndef MOREAU_IO_SCENE_FIELDS_H
#define MOREAU_IO_SCENE_FIELDS_H

#include "io/scene/yaml_node.h"

typedef enum mor_key_type {
    MOR_KEY_NUMBER, /* double */
    MOR_KEY_INT,    /* int */
    MOR_KEY_BOOL,   /* bool */
    MOR_KEY_CHOICE, /* int: index into the |-separated words */
    MOR_KEY_TEXT,   /* const char*, not empty */
    MOR_KEY_VECTOR, /* mor_vec3: 3 numbers, in 2-D worlds 2 */
    MOR_KEY_SPIN,   /* mor_vec3: 3 numbers, in 2-D worlds one number, stored in z */
    MOR_KEY_COUNTS, /* int[3]: 3 whole numbers, in 2-D worlds 2 and a 1 */
    MOR_KEY_NODE,   /* const mor_node*: read by code of its own */
    MOR_KEY_LATER   /* const mor_node*: comes with a later version */
} mor_key_type;

/* The least of a range of strictly positive numbers. */
#define MOR_POSITIVE 2.2250738585072014e-308
/* No length, mass or time of a scene is larger: beyond it squares lose all meaning in double
 * precision. */
#define MOR_HUGE 1e12
/* kg; with inertias and energies that double precision can hold beside those of other bodies. */
#define MOR_LEAST_MASS 1e-18

typedef struct mor_key {
    const char* name;
    mor_key_type type;
    size_t offset;
    double initial;      /* default of numbers, whole numbers, bools and choices */
    double min, max;     /* of numbers and whole numbers; both 0: any number up to MOR_HUGE */
    const char* choices; /* "a|b" */
    int dimension;       /* 2 or 3: only in such worlds; 0: in both */
    bool required;
    const char* value; /* what it looks like, for MOR_KEY_NODE */
    const char* unit;
    const char* fallback; /* the default, as documentation */
    const char* hint;     /* ends "give a positive number or ..." */
    const char* help;     /* one sentence */
} mor_key;

typedef struct mor_key_table {
    const char* title; /* in messages: "unknown key 'x' in <title>" */
    const char* where; /* in the documentation */
    const char* intro;
    const mor_key* keys; /* ends with a NULL name */
    size_t size;         /* of the struct */
} mor_key_table;

typedef struct mor_raw_scene {
    int moreau, dimension;
    double seed;
    const char* name;
    mor_vec3 gravity;
    const mor_node *include, *time, *method, *materials, *pairs, *bodies, *joints, *robots, *controllers, *forces,
        *ignore_pairs, *record;
    int ground;
} mor_raw_scene;

typedef struct mor_raw_time {
    const mor_node *step, *tolerance, *min, *max;
    double end;
} mor_raw_time;

typedef struct mor_raw_method {
    const mor_node *formulation, *solver, *collision, *coordinates, *stabilisation, *integrator, *relinearise, *rest,
        *friction_directions, *friction_align, *sticking, *v_rest, *gap_correction, *recovery_speed, *accuracy,
        *on_failure, *max_failures, *control_step;
} mor_raw_method;

typedef struct mor_raw_material {
    double friction, restitution, tangential, rolling, drilling, density;
    const char* impact;
} mor_raw_material;

typedef struct mor_raw_pair {
    const mor_node* materials;
    double friction, restitution, rolling, drilling;
} mor_raw_pair;

typedef struct mor_raw_body {
    const char *name, *material, *on;
    bool fixed, collide, drop;
    double friction, restitution, rolling, drilling, density, mass, angle, opacity;
    mor_vec3 com, position, velocity, angular_velocity, surface_velocity;
    const mor_node *shape, *inertia, *orientation, *kinematic, *support, *grid, *random, *repeat, *color;
} mor_raw_body;

typedef struct mor_raw_support {
    double friction, radius, gravity;
    int kind;
} mor_raw_support;

typedef struct mor_raw_shape {
    double sphere, disc, scale, angle;
    int axis;
    const char *mesh, *material;
    mor_vec3 position;
    const mor_node *box, *plane, *capsule, *cylinder, *prism, *cone, *ellipsoid, *hull, *decompose, *heightfield,
        *tetrahedron, *octahedron, *dodecahedron, *icosahedron, *particle, *polygon, *chain, *orientation;
} mor_raw_shape;

typedef struct mor_raw_plane {
    mor_vec3 normal, point;
} mor_raw_plane;

typedef struct mor_raw_round { /* capsule, cylinder, prism, cone */
    double radius, length, height;
    int sides;
} mor_raw_round;

typedef struct mor_raw_solid { /* tetrahedron ... icosahedron */
    double edge, radius;
} mor_raw_solid;

typedef struct mor_raw_decompose {
    int pieces;
    double concavity;
} mor_raw_decompose;

typedef struct mor_raw_hull {
    const char* mesh;
} mor_raw_hull;

typedef struct mor_raw_heightfield {
    const mor_node *size, *heights, *height;
    const char* file;
    double depth;
} mor_raw_heightfield;

typedef struct mor_raw_orientation {
    mor_vec3 axis, rpy;
    double angle;
} mor_raw_orientation;

typedef struct mor_raw_kinematic {
    mor_vec3 velocity, angular_velocity;
    const char* motion;
} mor_raw_kinematic;

typedef struct mor_raw_grid {
    int count[3];
    mor_vec3 spacing, origin, first;
    int order;
} mor_raw_grid;

typedef struct mor_raw_random {
    bool orientation;
    double position;
} mor_raw_random;

typedef struct mor_raw_repeat {
    int count;
    const mor_node *step, *joint;
} mor_raw_repeat;

typedef struct mor_raw_step {
    mor_vec3 position;
    double angle;
    const mor_node* orientation;
} mor_raw_step;

typedef struct mor_raw_joint {
    const char *name, *type, *first;
    const mor_node *bodies, *points, *limits, *spring, *motor;
    mor_vec3 point, axis, axis2;
    double length, damping, friction;
} mor_raw_joint;

typedef struct mor_raw_spring {
    double stiffness, rest;
} mor_raw_spring;

typedef struct mor_raw_motor {
    double velocity, max_torque;
} mor_raw_motor;

typedef struct mor_raw_robot {
    const char *name, *urdf, *mjcf, *sdf, *key, *material, *on;
    int base, collide;
    bool drop, self_collision, assemble, limits, damping, friction;
    mor_vec3 position, velocity, angular_velocity;
    const mor_node *orientation, *joints, *joint_velocities, *actuated, *links, *loops, *feet, *motors, *sensors, *keep,
        *controls;
} mor_raw_robot;

typedef struct mor_raw_motors {
    const mor_node *ratio, *rotor_inertia, *coupling, *reflected_inertia, *kt, *current_limit, *torque_limit,
        *speed_limit, *viscous, *coulomb, *bandwidth, *damping_ratio;
} mor_raw_motors;

typedef struct mor_raw_block {
    const mor_node *joints, *matrix;
} mor_raw_block;

typedef struct mor_raw_foot {
    const char* link;
    const mor_node* points;
    double radius;
} mor_raw_foot;

typedef struct mor_raw_sensor {
    int type;
    const char *name, *link, *joint;
    double noise, bias, resolution, threshold;
} mor_raw_sensor;

typedef struct mor_raw_controller {
    const char *name, *type, *robot, *joint, *file;
    const mor_node *joints, *targets, *kp, *ki, *kd, *moves, *options;
    bool gravity_compensation, sampled;
    int interpolation;
    double period, integral_limit, from, until;
} mor_raw_controller;

typedef struct mor_raw_move {
    double at;
    const mor_node* targets;
} mor_raw_move;

typedef struct mor_raw_loop {
    int type;
    double length;
    const mor_node *frames, *at;
} mor_raw_loop;

typedef struct mor_raw_force {
    const char *body, *robot, *link;
    mor_vec3 force, torque, at;
    int frame;
    double from, until;
} mor_raw_force;

typedef struct mor_raw_record {
    int every;
    bool contacts, energy;
    const mor_node* bus;
} mor_raw_record;

extern const mor_key_table mor_keys_scene, mor_keys_time, mor_keys_method, mor_keys_material, mor_keys_pair,
    mor_keys_body, mor_keys_shape, mor_keys_plane, mor_keys_capsule, mor_keys_cylinder, mor_keys_prism, mor_keys_cone,
    mor_keys_solid, mor_keys_hull, mor_keys_decompose, mor_keys_field, mor_keys_orientation, mor_keys_kinematic,
    mor_keys_support, mor_keys_grid, mor_keys_random, mor_keys_repeat, mor_keys_step, mor_keys_joint,
    mor_keys_chain_joint, mor_keys_spring, mor_keys_motor, mor_keys_robot, mor_keys_loop, mor_keys_force,
    mor_keys_record, mor_keys_motors, mor_keys_block, mor_keys_foot, mor_keys_sensor, mor_keys_controller,
    mor_keys_move;
/* All of them in the order of the documentation, NULL at the end. */
extern const mor_key_table* const mor_key_tables[];

/* Reads a mapping into the struct of its table: defaults, then every key checked for type and
 * range. Unknown keys, missing required keys and keys of later versions are errors. */
mor_code mor_keys_read(const mor_key_table* table, const mor_node* node, int dimension, void* result, mor_error* error);
/* Single values, for lists that have no table. `name` is what messages call it. */
mor_code mor_read_number(const mor_node* node, const char* name, double* value, mor_error* error);
mor_code mor_read_numbers(const mor_node* node, const char* name, double* values, int count, mor_error* error);
mor_code mor_read_vector(const mor_node* node, const char* name, int dimension, mor_vec3* value, mor_error* error);
mor_code mor_read_text(const mor_node* node, const char* name, const char** value, mor_error* error);
/* The node must be a list (a mapping), else an error. */
mor_code mor_read_list(const mor_node* node, const char* name, mor_error* error);
mor_code mor_read_map(const mor_node* node, const char* name, mor_error* error);

/* Worked examples at the beginning of docs/scene.md. */
extern const char mor_scene_snippets[];

/* What a scene writes instead of a word that other simulators use for a key of the table of this title, or NULL. */
const char* mor_word_of_scenes(const char* table, const char* key);

#endif
