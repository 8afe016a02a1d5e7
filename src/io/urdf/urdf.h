/* A URDF file as it is written, before it becomes a robot: links, joints, shapes, with positions. */
#ifndef MOREAU_IO_URDF_H
#define MOREAU_IO_URDF_H

#include "moreau/robot.h"

enum { MOR_URDF_SPHERE, MOR_URDF_BOX, MOR_URDF_CYLINDER, MOR_URDF_CAPSULE, MOR_URDF_MESH };
enum {
    MOR_URDF_FIXED,
    MOR_URDF_REVOLUTE,
    MOR_URDF_CONTINUOUS,
    MOR_URDF_PRISMATIC,
    MOR_URDF_SPHERICAL,
    MOR_URDF_UNSUPPORTED
};

typedef struct mor_urdf_shape {
    int link, kind, line, column;
    double size[3]; /* radius | edges | radius, length | - */
    double scale[3];
    char* file;
    mor_pose pose;
} mor_urdf_shape;

typedef struct mor_urdf_link {
    char name[MOR_NAME_SIZE];
    int line, column;
    bool has_inertial, has_mass, has_inertia;
    int inertial_line, inertial_column;
    mor_pose inertial_pose;
    double mass, inertia[6]; /* ixx ixy ixz iyy iyz izz */
} mor_urdf_link;

typedef struct mor_urdf_joint {
    char name[MOR_NAME_SIZE], parent[MOR_NAME_SIZE], child[MOR_NAME_SIZE], mimic[MOR_NAME_SIZE];
    char type_name[24];
    int line, column, type;
    mor_pose pose;
    mor_vec3 axis;
    bool has_limit, has_lower, has_upper;
    double lower, upper, effort, speed, damping, friction, mimic_ratio, mimic_offset;
} mor_urdf_joint;

/* Elements that were passed over: each name once. */
typedef struct mor_urdf_ignored {
    char name[40];
    int count, line, column;
} mor_urdf_ignored;

typedef struct mor_urdf {
    const char* path;
    char name[MOR_NAME_SIZE];
    mor_urdf_link* links;
    mor_urdf_joint* joints;
    mor_urdf_shape* shapes;
    mor_urdf_ignored* ignored;
    int link_count, joint_count, shape_count, ignored_count;
    int link_room, joint_room, shape_room, ignored_room;
} mor_urdf;

/* Parses a file; on failure everything is freed. The path must outlive it. */
mor_code mor_urdf_parse(const char* path, mor_urdf* urdf, mor_error* error);
void mor_urdf_free(mor_urdf* urdf);

/* Writes a model as a URDF file called `name`, polyhedra as OBJ files beside it. What is lost is told in `notes` (may
 * be NULL). */
mor_code mor_urdf_write(const mor_robot_model* model, const char* name, const char* path, char* notes,
                        size_t notes_size, mor_error* error);

/* Finds the file a mesh element names: package://, model://, file://, relative to the URDF's directory.
 * False if there is none; `found` then holds the first place tried. */
bool mor_urdf_find_file(const char* urdf_path, const char* packages, const char* name, char* found, size_t size);

#endif
