/* A scene after reading: checked definitions, ready to build worlds from. */
#ifndef MOREAU_IO_SCENE_DEF_H
#define MOREAU_IO_SCENE_DEF_H

#include "geometry/heightfield.h"
#include "io/mjcf/mjcf.h"
#include "io/scene/scene_document.h"
#include "io/scene/scene_fields.h"
#include "moreau/control.h"
#include "moreau/scene.h"

/* A prescribed path: poses at increasing times. */
typedef struct mor_scene_motion {
    int count;
    double* times;
    mor_pose* poses;
    double* angles; /* 2-D: instead of the rotations, may turn more than once; else NULL */
} mor_scene_motion;

/* A body as written; grids and repetitions make many items of it. `def.material` and the materials
 * of the shapes are indices into the scene's materials. */
typedef struct mor_scene_body {
    const mor_node* node;
    mor_body_def def;
    mor_scene_motion* motion;
    bool drop;             /* set on what lies below; or the node has `on` */
    double color[4];       /* red, green, blue, opacity */
    bool colored, has_hue; /* any of it given; the first three */
} mor_scene_body;

/* A body of the world to be. */
typedef struct mor_scene_item {
    char name[64];
    int body; /* its definition */
    mor_pose pose;
} mor_scene_item;

typedef struct mor_scene_pair {
    int material[2];
    double friction, restitution, rolling, drilling;
} mor_scene_pair;

typedef struct mor_scene_force {
    int item; /* or, if robot >= 0, a link of a robot: */
    int robot, frame;
    bool has_point, body_frame;
    mor_vec3 force, torque, point; /* point in the body frame */
    double from, until;
} mor_scene_force;

typedef struct mor_scene_joint {
    const mor_node* node;
    mor_joint_def def; /* but for the bodies */
    char body[2][64];  /* names; "world" */
} mor_scene_joint;

/* A loop of a robot: two frames (-1: the world) and a point in each. */
typedef struct mor_scene_loop {
    const mor_node* node;
    mor_joint_kind kind;
    int frame[2];
    mor_vec3 at[2];
    double length;
} mor_scene_loop;

typedef struct mor_scene_robot {
    const mor_node* node;
    mor_robot_model* model; /* released with the scene */
    const char* file;       /* a URDF file; NULL: another format */
    mor_robot_def def;
    mor_scene_loop* loops;
    int loop_count;
    bool assemble, drop;
    mor_motors motors;
    int* feet; /* frames */
    int foot_count;
    mor_sensor_def* sensors; /* but for the robot */
    int sensor_count;
    int* materials; /* of each frame, -1: the robot's; NULL: no link has its own */
} mor_scene_robot;

/* An MJCF model: its trees are robots first ... first + trees - 1 of the scene, the rest is added after them. */
typedef struct mor_scene_mjcf {
    const mor_node* node;
    mor_mjcf* mjcf; /* destroyed with the scene */
    char name[64];
    mor_pose offset;
    int first;
    bool assemble;
} mor_scene_mjcf;

typedef struct mor_scene_controller {
    const mor_node* node;
    mor_controller_def def;
} mor_scene_controller;

/* Geometries of the scene, released with it. */
typedef struct mor_scene_geometry {
    mor_geometry* geometry;
    struct mor_scene_geometry* next;
} mor_scene_geometry;

/* A mesh that was cut into convex pieces. */
typedef struct mor_scene_cut {
    const char* file;
    mor_decomposition report;
    struct mor_scene_cut* next;
} mor_scene_cut;

struct mor_scene {
    mor_document document;
    const mor_library* library;
    const char *name, *text, *notes;
    const char *file, *overrides; /* as given; overrides one per line */
    int dimension;
    mor_vec3 gravity;
    double step, end;
    mor_rng rng;
    const mor_node* method;  /* NULL: all defaults */
    bool maximal;            /* method.coordinates */
    bool articulate;         /* the same: joints between bodies in minimal coordinates, too */
    mor_material* materials; /* [0] is the world's own default */
    int material_count, default_material;
    bool* material_named; /* of each: a body, a pair or a robot names it */
    mor_scene_pair* pairs;
    int pair_count;
    mor_scene_body* bodies;
    int body_count;
    mor_scene_item* items; /* in the order of the world's bodies */
    int item_count, item_capacity;
    int* by_name; /* items sorted by name */
    mor_scene_force* forces;
    int force_count;
    mor_scene_joint* joints;
    int joint_count, joint_capacity;
    mor_scene_robot* robots;
    int robot_count;
    mor_scene_mjcf* mjcfs;
    int mjcf_count;
    mor_scene_controller* controllers;
    int controller_count;
    bool is_adaptive; /* variable steps */
    mor_adaptive adaptive;
    double control_step; /* 0: the step */
    int (*ignored)[2];
    int ignored_count;
    mor_raw_record record;
    int ground; /* for the eye: a number of mor_scene_ground */
    mor_scene_geometry* geometries;
    mor_scene_cut* cuts; /* in order */
};

enum { MOR_SCENE_BODIES = 1000000, MOR_MESH_PIECES = 1024, MOR_FIELD_POINTS = 4000000, MOR_FIELD_PIECES = 200000 };

/* Zeroed memory of the scene, or NULL with an error. */
void* mor_scene_alloc(mor_scene* scene, size_t count, size_t size, mor_error* error);
/* Appends a line to the notes. */
mor_code mor_scene_note(mor_scene* scene, const char* line, mor_error* error);
/* Notes about numbers that look as if they had been meant in another unit. */
mor_code mor_scene_look_at_units(mor_scene* scene, const mor_node* root, mor_error* error);
/* Index of a material by name; -1 and an error at the node when there is none. */
int mor_scene_material(const mor_scene* scene, const mor_node* node, const char* name, mor_error* error);
/* Index of an item by name; -1 and an error at the node when there is none. */
int mor_scene_find(const mor_scene* scene, const mor_node* node, const char* name, mor_error* error);

/* Fills a scene from a merged document. Needs no world. */
mor_code mor_scene_read(mor_scene* scene, const mor_node* root, mor_error* error);
/* The parts of it. */
mor_code mor_scene_read_materials(mor_scene* scene, const mor_raw_scene* raw, mor_error* error);
mor_code mor_scene_read_bodies(mor_scene* scene, const mor_node* list, mor_error* error);
mor_code mor_scene_read_shapes(mor_scene* scene, const mor_node* node, mor_body_def* def, mor_error* error);
/* A height field with all lengths times `scale` (scene_heightfield.c); its memory is the scene's. */
mor_code mor_scene_read_heightfield(mor_scene* scene, const mor_node* node, double scale, mor_heightfield* field,
                                    mor_error* error);
/* Heights from the file that `node` names: a table of numbers in m, first row at the lowest y; or a picture, its
 * upper edge at the highest y, black range[0] and white range[1] (NULL: none given) (heightfield_file.c). */
mor_code mor_heightfield_load(mor_scene* scene, const mor_node* node, const char* file, const double* range,
                              mor_heightfield* field, mor_error* error);
/* `orientation` (or, in 2-D, `angle`) of a mapping; identity when it has neither. */
mor_code mor_scene_read_turn(const mor_scene* scene, const mor_node* map, mor_quat* turn, mor_error* error);
/* `color` and `opacity` of a body (scene_visual.c). */
mor_code mor_scene_read_color(const mor_node* node, double opacity, mor_scene_body* body, mor_error* error);
/* Copies of a body: grid, repeat, random. */
mor_code mor_scene_place(mor_scene* scene, int body, const mor_raw_body* raw, mor_pose pose, mor_error* error);
mor_scene_motion* mor_motion_read(mor_scene* scene, const mor_node* node, const char* name, mor_error* error);
mor_code mor_scene_read_joints(mor_scene* scene, const mor_node* list, mor_error* error);
/* Joints between the copies items[first ...] of a `repeat`. */
mor_code mor_scene_chain_joints(mor_scene* scene, const mor_node* node, int first, int count, mor_error* error);
mor_code mor_scene_add_joints(const mor_scene* scene, mor_world* world, mor_error* error);
mor_code mor_scene_read_robots(mor_scene* scene, const mor_node* list, mor_error* error);
/* Reads the MJCF models among the robots; the number of their trees is added to *trees. */
mor_code mor_scene_load_mjcfs(mor_scene* scene, const mor_node* list, int* trees, mor_error* error);
/* The robots of one of them. */
mor_code mor_scene_read_mjcf(mor_scene* scene, const mor_node* node, const mor_raw_robot* raw, mor_error* error);
/* All that is not a robot; `numbers` has the world's number of every robot of the scene. */
mor_code mor_scene_add_mjcfs(const mor_scene* scene, mor_world* world, const int* numbers, bool* assemble,
                             mor_error* error);
/* Forces of actuators on sites of one of them. */
void mor_scene_push(const mor_scene* scene, int mjcf, mor_world* world);
/* Text of a scene that holds a model and nothing else, for `moreau run model.xml`; NULL with the sentence written. */
const char* mor_scene_of_model(mor_scene* scene, const char* path, const char* xml, mor_error* error);
/* `material`: scene material -> world material. */
mor_code mor_scene_add_robots(const mor_scene* scene, mor_world* world, const int* material, mor_error* error);
/* The body of a link, in either coordinates (robot -1: maximal). */
mor_body_id mor_scene_link_body(const mor_world* world, int robot, const mor_scene_robot* of, int link);
/* Bodies, and robots, with `on` or `drop` are set down. */
mor_code mor_scene_rest_bodies(const mor_scene* scene, mor_world* world, mor_error* error);
mor_code mor_scene_rest_robots(const mor_scene* scene, mor_world* world, mor_error* error);
/* Motors, feet, sensors and materials of links, once the robot's model is read. */
mor_code mor_scene_read_actuation(mor_scene* scene, mor_scene_robot* robot, const mor_raw_robot* raw, mor_error* error);
/* Robots in maximal coordinates have none of these: an error at the key. */
mor_code mor_scene_refuse_actuation(const mor_scene_robot* robot, mor_error* error);
mor_code mor_scene_add_actuation(const mor_scene* scene, mor_world* world, int robot, mor_error* error);
mor_code mor_scene_read_controllers(mor_scene* scene, const mor_node* list, mor_error* error);
mor_code mor_scene_add_controllers(const mor_scene* scene, mor_world* world, mor_error* error);
/* Number of a joint or a frame by name, -1 and an error at the node (`key`: at its key). */
int mor_scene_joint_number(const mor_robot_model* model, const mor_node* at, bool key, const char* name,
                           mor_error* error);
int mor_scene_frame_number(const mor_robot_model* model, const mor_node* at, const char* name, mor_error* error);
/* A number for all joints or a mapping joint: number; what is not named stays. */
mor_code mor_scene_by_joint(const mor_robot_model* model, const mor_node* node, const char* what, double* out,
                            mor_error* error);
/* A mor_motion. */
void mor_motion_pose(void* motion, double time, mor_pose* pose);

/* Chooses the methods of a world; errors at the values of the scene file. */
mor_code mor_scene_set_methods(const mor_scene* scene, mor_world* world, mor_error* error);

/* A scene file that was read once, for many scenes with other values. It outlives them: they borrow its texts. Includes
 * are those of the moment it was read. NULL and a sentence with its place: bad input. */
typedef struct mor_scene_template mor_scene_template;
mor_scene_template* mor_scene_template_create(const char* text, size_t length, const char* path, mor_error* error);
void mor_scene_template_destroy(mor_scene_template* scene_template); /* NULL is allowed */
/* As mor_scene_parse of its text. */
mor_scene* mor_scene_of_template(const mor_scene_template* scene_template, const char* const* overrides,
                                 const mor_library* library, mor_error* error);

#endif
