/* The list of variables, see variables.h. */
#include "fmi/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mor_fmu_kind_info kinds[] = {
    [MOR_FMU_TIME] = { MOR_FMU_INDEPENDENT, "time", "s", NULL, "Time.", 1 },
    [MOR_FMU_STEP] = { MOR_FMU_PARAMETER, "step", "s", NULL, "Length of a step of the simulation.", 1 },
    [MOR_FMU_GRAVITY] = { MOR_FMU_PARAMETER, "gravity", "m/s2", NULL, "Acceleration of free fall.", 3 },
    [MOR_FMU_FORCE] = { MOR_FMU_INPUT, "force", "N", NULL, "Force at the centre of mass, world axes.", 3 },
    [MOR_FMU_TORQUE] = { MOR_FMU_INPUT, "torque", "N.m", NULL, "Torque, world axes.", 3 },
    [MOR_FMU_POSITION] = { MOR_FMU_OUTPUT, "position", "m", NULL, "Of the body frame.", 3 },
    [MOR_FMU_QUATERNION] = { MOR_FMU_OUTPUT, "quaternion", "", NULL, "From the body frame to the world: w x y z.", 4 },
    [MOR_FMU_VELOCITY] = { MOR_FMU_OUTPUT, "velocity", "m/s", NULL, "Of the centre of mass.", 3 },
    [MOR_FMU_ANGULAR_VELOCITY] = { MOR_FMU_OUTPUT, "angular_velocity", "rad/s", NULL, "World axes.", 3 },
    [MOR_FMU_CONTACT_FORCE] = { MOR_FMU_OUTPUT, "contact_force", "N", NULL,
                                "Of all contacts on the body, mean of the last step.", 3 },
    [MOR_FMU_CONTACT_TORQUE] = { MOR_FMU_OUTPUT, "contact_torque", "N.m", NULL,
                                 "Of all contacts about the centre of mass, mean of the last step.", 3 },
    [MOR_FMU_JOINT_TORQUE] = { MOR_FMU_INPUT, "torque", "N.m", "N",
                               "Torque or force of the joint, beside its controllers.", 1 },
    [MOR_FMU_JOINT_TARGET] = { MOR_FMU_INPUT, "target", "rad", "m", "Where the joint's controller shall bring it.", 1 },
    [MOR_FMU_JOINT_POSITION] = { MOR_FMU_OUTPUT, "position", "rad", "m", "Angle or displacement of the joint.", 1 },
    [MOR_FMU_JOINT_VELOCITY] = { MOR_FMU_OUTPUT, "velocity", "rad/s", "m/s", "Speed of the joint.", 1 },
    [MOR_FMU_EQUATION_POSITION] = { MOR_FMU_OUTPUT, "position", "rad", "m", "Angle or displacement of the joint.", 1 },
    [MOR_FMU_KINETIC] = { MOR_FMU_OUTPUT, "energy.kinetic", "J", NULL, "Of all bodies and robots.", 1 },
    [MOR_FMU_POTENTIAL] = { MOR_FMU_OUTPUT, "energy.potential", "J", NULL, "Of gravity and springs.", 1 },
    [MOR_FMU_PENETRATION] = { MOR_FMU_OUTPUT, "penetration", "m", NULL, "Deepest overlap.", 1 },
    [MOR_FMU_CONTACTS] = { MOR_FMU_OUTPUT, "contacts", "", NULL, "Contacts of the last step.", 1 },
};

const mor_fmu_kind_info* mor_fmu_info(mor_fmu_kind kind) { return &kinds[kind]; }

const char* mor_fmu_unit(const mor_fmu_variable* v)
{
    return v->slides ? kinds[v->kind].sliding_unit : kinds[v->kind].unit;
}

int mor_fmu_target_controller(const mor_world* w, int robot)
{
    for (int i = 0; i < mor_world_controller_count(w); i++) {
        const mor_controller_def* d = mor_world_controller(w, i);
        if (d->robot == robot && !d->table && strcmp(d->type->name, "torque") != 0) return i;
    }
    return -1;
}

typedef struct list {
    mor_fmu_variable* items;
    int count, capacity;
    bool failed;
} list;

static void add(list* l, mor_fmu_kind kind, int index, const char* prefix, double start, int joint)
{
    for (int k = 0; k < kinds[kind].count && !l->failed; k++) {
        if (l->count == l->capacity) {
            int capacity = 2 * l->capacity + 64;
            mor_fmu_variable* items = realloc(l->items, (size_t)capacity * sizeof *items);
            if (!items) {
                l->failed = true;
                return;
            }
            l->items = items, l->capacity = capacity;
        }
        mor_fmu_variable* v = &l->items[l->count++];
        *v = (mor_fmu_variable){ .kind = kind, .index = index, .component = joint >= 0 ? joint : k, .start = start };
        char number[16] = "";
        if (kinds[kind].count > 1) snprintf(number, sizeof number, "[%d]", k + 1);
        snprintf(v->name, sizeof v->name, "%.200s%s%s", prefix, kinds[kind].word, number);
    }
}

static void add_bodies(list* l, const mor_world* w)
{
    for (int b = 0; b < mor_world_body_count(w); b++) {
        mor_body_id id = mor_world_body(w, b);
        mor_body_kind kind = mor_body_get_kind(w, id);
        if (kind == MOR_FIXED) continue;
        char prefix[128];
        snprintf(prefix, sizeof prefix, "bodies.%s.", mor_body_name(w, id));
        for (mor_fmu_kind k = MOR_FMU_FORCE; k <= MOR_FMU_CONTACT_TORQUE; k++)
            if (kind == MOR_DYNAMIC || k >= MOR_FMU_POSITION) add(l, k, b, prefix, 0.0, -1);
    }
}

static void add_robots(list* l, const mor_world* w)
{
    for (int r = 0; r < mor_world_robot_count(w); r++) {
        const mor_robot_model* m = mor_world_robot_model(w, r);
        int controller = mor_fmu_target_controller(w, r);
        for (int j = 0; j < mor_robot_joint_count(m); j++) {
            char prefix[256];
            snprintf(prefix, sizeof prefix, "robots.%s.%s.", mor_world_robot_name(w, r),
                     mor_robot_link(m, mor_robot_link_of_joint(m, j))->joint_name);
            int first = l->count;
            add(l, MOR_FMU_JOINT_TORQUE, r, prefix, 0.0, j);
            if (controller >= 0)
                add(l, MOR_FMU_JOINT_TARGET, r, prefix, mor_world_controller(w, controller)->target[j], j);
            add(l, MOR_FMU_JOINT_POSITION, r, prefix, 0.0, j);
            add(l, MOR_FMU_JOINT_VELOCITY, r, prefix, 0.0, j);
            bool slides = mor_robot_link(m, mor_robot_link_of_joint(m, j))->type == MOR_PRISMATIC;
            for (int i = first; i < l->count && !l->failed; i++) l->items[i].slides = slides;
        }
    }
}

/* Joints between bodies that turn or slide. Those of minimal coordinates are joints of robots. */
static void add_equations(list* l, const mor_world* w)
{
    for (int j = 0; j < mor_world_joint_count(w); j++) {
        const mor_joint_def* d = mor_world_joint(w, j);
        if (d->kind != MOR_JOINT_REVOLUTE && d->kind != MOR_JOINT_PRISMATIC) continue;
        char prefix[128];
        snprintf(prefix, sizeof prefix, "joints.%.64s.", d->name);
        add(l, MOR_FMU_EQUATION_POSITION, j, prefix, 0.0, -1);
        if (!l->failed) l->items[l->count - 1].slides = d->kind == MOR_JOINT_PRISMATIC;
    }
}

mor_fmu_variable* mor_fmu_variables(const mor_world* w, int* count)
{
    list l = { 0 };
    mor_vec3 g = mor_world_gravity(w);
    add(&l, MOR_FMU_TIME, 0, "", 0.0, -1);
    add(&l, MOR_FMU_STEP, 0, "", mor_world_get_step(w), -1);
    add(&l, MOR_FMU_GRAVITY, 0, "", 0.0, -1);
    if (!l.failed) l.items[2].start = g.x, l.items[3].start = g.y, l.items[4].start = g.z;
    add_bodies(&l, w);
    add_robots(&l, w);
    add_equations(&l, w);
    for (mor_fmu_kind k = MOR_FMU_KINETIC; k <= MOR_FMU_CONTACTS; k++) add(&l, k, 0, "", 0.0, -1);
    if (!l.failed) return *count = l.count, l.items;
    free(l.items);
    return NULL;
}
