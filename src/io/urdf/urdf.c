/* From URDF records to a robot: the tree, merged links, mass properties, collision shapes.
 *
 * Links on fixed joints, and on joints that are not in the reduced list, are merged into the link that
 * carries them: with X the pose of the part in the carrier, mass m, first moment and inertia about the
 * carrier's origin add up. Every URDF link stays as a frame. Movable joints keep the order in which they
 * appear in the file (or in the caller's list); the links of the model are numbered depth first.
 */
#include "io/urdf/urdf_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mor_urdf_options mor_urdf_options_default(void) { return (mor_urdf_options){ .floating = true }; }

void mor_urdf_note(mor_urdf_build* b, int line, int column, const char* format, ...)
{
    if (!b->notes || b->notes_length + 1 >= b->notes_size) return;
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int n = snprintf(b->notes + b->notes_length, b->notes_size - b->notes_length, "%s:%d:%d: %s\n", b->urdf->path, line,
                     column, text);
    if (n > 0)
        b->notes_length = b->notes_length + (size_t)n < b->notes_size ? b->notes_length + (size_t)n : b->notes_size - 1;
}

static mor_code fail_joint(mor_urdf_build* b, const mor_urdf_joint* j, const char* text)
{
    return mor_fail_at(b->error, MOR_BAD_INPUT, b->urdf->path, j->line, j->column, "%s", text);
}

/* ---------------------------------------------------------------------------------------- names */

typedef struct key {
    const char* name;
    int index;
} key;

static int by_name(const void* a, const void* b)
{
    int order = strcmp(((const key*)a)->name, ((const key*)b)->name);
    return order ? order : ((const key*)a)->index - ((const key*)b)->index;
}

static int find(const key* keys, int count, const char* name)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(keys[middle].name, name) < 0) low = middle + 1;
        else high = middle;
    }
    return low < count && strcmp(keys[low].name, name) == 0 ? keys[low].index : -1;
}

/* "; did you mean 'x'?" for a link that is not there. */
static const char* suggestion(const key* keys, int count, const char* name, char* text, size_t size)
{
    const char** words = malloc(((size_t)count + 1) * sizeof *words);
    const char* near = NULL;
    if (words) {
        for (int i = 0; i < count; i++) words[i] = keys[i].name;
        words[count] = NULL;
        near = mor_did_you_mean(name, words);
    }
    snprintf(text, size, "%s%s%s", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(words);
    return text;
}

/* ----------------------------------------------------------------------------------------- tree */

static mor_code connect(mor_urdf_build* b, const key* links)
{
    const mor_urdf* u = b->urdf;
    for (int i = 1; i < u->link_count; i++)
        if (strcmp(links[i].name, links[i - 1].name) == 0) {
            const mor_urdf_link* l = &u->links[links[i].index];
            return mor_fail_at(b->error, MOR_BAD_INPUT, u->path, l->line, l->column,
                               "there are two links called '%s', the other one in line %d", l->name,
                               u->links[links[i - 1].index].line);
        }
    for (int i = 0; i < u->link_count; i++) b->joint_of[i] = b->first[i] = -1;
    for (int i = u->joint_count - 1; i >= 0; i--) { /* backwards, so that the lists are in file order */
        const mor_urdf_joint* j = &u->joints[i];
        char text[500], hint[160];
        int parent = find(links, u->link_count, j->parent), child = find(links, u->link_count, j->child);
        if (parent < 0 || child < 0) {
            const char* missing = parent < 0 ? j->parent : j->child;
            snprintf(text, sizeof text, "joint '%s' names the link '%s', which is not there%s", j->name, missing,
                     suggestion(links, u->link_count, missing, hint, sizeof hint));
            return fail_joint(b, j, text);
        }
        if (parent == child) {
            snprintf(text, sizeof text, "joint '%s' connects link '%s' with itself", j->name, j->child);
            return fail_joint(b, j, text);
        }
        if (b->joint_of[child] >= 0) {
            snprintf(text, sizeof text,
                     "link '%s' hangs on joint '%s' and on joint '%s'; a URDF is a tree, close loops in the scene file",
                     j->child, j->name, u->joints[b->joint_of[child]].name);
            return fail_joint(b, &u->joints[b->joint_of[child]], text);
        }
        b->joint_of[child] = i;
        b->next[i] = b->first[parent];
        b->first[parent] = i;
    }
    b->root = -1;
    for (int i = 0; i < u->link_count; i++) {
        if (b->joint_of[i] >= 0) continue;
        const mor_urdf_link* l = &u->links[i];
        if (b->root >= 0)
            return mor_fail_at(b->error, MOR_BAD_INPUT, u->path, l->line, l->column,
                               "link '%s' hangs on no joint, and neither does link '%s'; a robot has one root", l->name,
                               u->links[b->root].name);
        b->root = i;
    }
    if (b->root < 0)
        return fail_joint(b, &u->joints[0], "the joints form a loop: no link is the root; a URDF is a tree");
    return MOR_OK;
}

/* Which joints move, and their numbers. */
static mor_code number_joints(mor_urdf_build* b, const key* joints)
{
    const mor_urdf* u = b->urdf;
    const mor_urdf_options* o = b->options;
    for (int i = 1; i < u->joint_count; i++)
        if (strcmp(joints[i].name, joints[i - 1].name) == 0) {
            const mor_urdf_joint* j = &u->joints[joints[i].index];
            return mor_fail_at(b->error, MOR_BAD_INPUT, u->path, j->line, j->column,
                               "there are two joints called '%s', the other one in line %d", j->name,
                               u->joints[joints[i - 1].index].line);
        }
    int appearance = 0;
    for (int i = 0; i < u->joint_count; i++) {
        bool moves = u->joints[i].type != MOR_URDF_FIXED;
        b->number[i] = moves && !o->joints ? appearance : -1;
        b->locked[i] = moves && o->locked ? o->locked[appearance] : 0.0;
        appearance += u->joints[i].type == MOR_URDF_SPHERICAL ? 3 : moves;
    }
    b->movable = o->joints ? o->joint_count : appearance;
    for (int k = 0; o->joints && k < o->joint_count; k++) {
        int i = find(joints, u->joint_count, o->joints[k]);
        char hint[160];
        if (i < 0)
            return mor_fail(b->error, MOR_BAD_INPUT, "%s: there is no joint '%.90s'%s", u->path, o->joints[k],
                            suggestion(joints, u->joint_count, o->joints[k], hint, sizeof hint));
        if (u->joints[i].type == MOR_URDF_FIXED)
            return mor_fail(b->error, MOR_BAD_INPUT, "%s: joint '%s' is fixed and cannot be in the list of joints",
                            u->path, u->joints[i].name);
        if (u->joints[i].type == MOR_URDF_SPHERICAL)
            return mor_fail(b->error, MOR_BAD_INPUT, "%s: joint '%s' is spherical and cannot be in a list of joints",
                            u->path, u->joints[i].name);
        if (b->number[i] >= 0)
            return mor_fail(b->error, MOR_BAD_INPUT, "%s: joint '%s' is twice in the list of joints", u->path,
                            u->joints[i].name);
        b->number[i] = k;
    }
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- the model */

static mor_link_def movable_link(mor_urdf_build* b, int joint, const mor_pose* pose)
{
    const mor_urdf_joint* j = &b->urdf->joints[joint];
    mor_link_def l = mor_link_def_default();
    memcpy(l.name, j->child, sizeof l.name);
    memcpy(l.joint_name, j->name, sizeof l.joint_name);
    l.type = j->type == MOR_URDF_PRISMATIC ? MOR_PRISMATIC : MOR_REVOLUTE;
    l.joint = b->number[joint];
    l.pose = *pose;
    l.axis = j->axis;
    l.effort = j->effort;
    l.speed = j->speed;
    l.damping = j->damping;
    l.friction = j->friction;
    if (j->type == MOR_URDF_CONTINUOUS) return l;
    if (j->has_lower || j->has_upper) {
        l.lower = j->lower;
        l.upper = j->upper;
    } else {
        mor_urdf_note(b, j->line, j->column, "joint '%s' is %s but has no limits; it moves without", j->name,
                      j->type_name);
    }
    return l;
}

/* The three links of a spherical joint (MOR_BALL); the last has the name and the number of the child. */
static int add_ball(mor_urdf_build* b, int joint, int parent, const mor_pose* pose)
{
    static const char* const letters[] = { ".x", ".y", ".z" };
    const mor_urdf_joint* j = &b->urdf->joints[joint];
    for (int k = 0; k < 3; k++) {
        mor_link_def* l = &b->links[b->link_count++];
        *l = mor_link_def_default();
        l->type = MOR_BALL;
        snprintf(l->joint_name, sizeof l->joint_name, "%.92s%s", j->name, letters[k]);
        if (k < 2) snprintf(l->name, sizeof l->name, "%.46s:%.46s", j->child, l->joint_name);
        else memcpy(l->name, j->child, sizeof l->name);
        l->parent = k ? b->link_count - 2 : parent;
        if (k == 0) l->pose = *pose;
        l->axis = mor_v3(k == 0, k == 1, k == 2);
        l->joint = b->number[joint] + k;
        l->damping = j->damping;
        l->friction = j->friction;
    }
    return b->link_count - 1;
}

/* Pose of a locked joint's child: the joint frame at its position. */
static mor_pose locked_pose(const mor_urdf_build* b, int joint)
{
    const mor_urdf_joint* j = &b->urdf->joints[joint];
    mor_pose turn = mor_pose_identity();
    if (j->type != MOR_URDF_FIXED && j->type != MOR_URDF_SPHERICAL) {
        mor_vec3 axis = mor_normalize(j->axis, mor_v3(1, 0, 0));
        if (j->type == MOR_URDF_PRISMATIC) turn.position = mor_scale(b->locked[joint], axis);
        else turn.rotation = mor_quat_axis_angle(axis, b->locked[joint]);
    }
    return mor_pose_mul(&j->pose, &turn);
}

/* Depth first from the root; `stack` has room for every link. */
static mor_code walk(mor_urdf_build* b, const key* links, int* stack)
{
    const mor_urdf* u = b->urdf;
    int top = 0;
    stack[top++] = b->root;
    while (top > 0) {
        int link = stack[--top], joint = b->joint_of[link];
        if (joint < 0 || b->number[joint] >= 0) {
            bool ball = joint >= 0 && u->joints[joint].type == MOR_URDF_SPHERICAL;
            int number = ball ? -1 : b->link_count++;
            b->pose[link] = mor_pose_identity();
            if (joint < 0) {
                b->links[number] = mor_link_def_default();
                memcpy(b->links[number].name, u->links[link].name, sizeof u->links[link].name);
            } else {
                int parent = find(links, u->link_count, u->joints[joint].parent);
                mor_pose pose = mor_pose_mul(&b->pose[parent], &u->joints[joint].pose);
                if (ball) {
                    number = add_ball(b, joint, b->carrier[parent], &pose);
                } else {
                    b->links[number] = movable_link(b, joint, &pose);
                    b->links[number].parent = b->carrier[parent];
                }
            }
            b->carrier[link] = number;
        } else {
            int parent = find(links, u->link_count, u->joints[joint].parent);
            mor_pose own = locked_pose(b, joint);
            b->carrier[link] = b->carrier[parent];
            b->pose[link] = mor_pose_mul(&b->pose[parent], &own);
            b->pose[link].rotation = mor_quat_normalize(b->pose[link].rotation);
        }
        mor_rigid own;
        mor_code code = mor_urdf_own_mass(b, link, &own);
        if (code != MOR_OK) return code;
        b->mass[b->carrier[link]] = mor_rigid_add(&b->mass[b->carrier[link]], &own);
        int children = 0;
        for (int j = b->first[link]; j >= 0; j = b->next[j]) children++;
        top += children; /* first child on top */
        for (int j = b->first[link], k = 1; j >= 0; j = b->next[j], k++)
            stack[top - k] = find(links, u->link_count, u->joints[j].child);
    }
    for (int i = 0; i < u->link_count; i++)
        if (b->carrier[i] < 0) {
            const mor_urdf_joint* j = &u->joints[b->joint_of[i]];
            return mor_fail_at(
                b->error, MOR_BAD_INPUT, u->path, j->line, j->column,
                "link '%s' is part of a loop of joints that does not hang on the root '%s'; a URDF is a tree",
                u->links[i].name, u->links[b->root].name);
        }
    return MOR_OK;
}

static mor_code resolve_mimics(mor_urdf_build* b, const key* joints)
{
    const mor_urdf* u = b->urdf;
    for (int i = 0; i < u->joint_count; i++) {
        const mor_urdf_joint* j = &u->joints[i];
        if (!j->mimic[0] || b->number[i] < 0) continue;
        int other = find(joints, u->joint_count, j->mimic);
        char text[400], hint[160];
        if (other < 0 || other == i) {
            snprintf(text, sizeof text,
                     other == i ? "joint '%s' mimics itself" : "joint '%s' mimics '%s', which is not there%s", j->name,
                     j->mimic, suggestion(joints, u->joint_count, j->mimic, hint, sizeof hint));
            return fail_joint(b, j, text);
        }
        if (b->number[other] < 0) {
            mor_urdf_note(b, j->line, j->column, "joint '%s' mimics '%s', which does not move; it moves by itself",
                          j->name, j->mimic);
            continue;
        }
        for (int k = 1; k < b->link_count; k++)
            if (b->links[k].joint == b->number[i]) {
                b->links[k].mimic = b->number[other];
                b->links[k].mimic_ratio = j->mimic_ratio;
                b->links[k].mimic_offset = j->mimic_offset;
            }
    }
    return MOR_OK;
}

/* ----------------------------------------------------------------------------------------- read */

static mor_robot_model* make(mor_urdf_build* b, const key* links, const key* joints, int* stack)
{
    const mor_urdf* u = b->urdf;
    for (int i = 0; i < u->link_count; i++) b->carrier[i] = -1;
    if (connect(b, links) != MOR_OK || number_joints(b, joints) != MOR_OK || walk(b, links, stack) != MOR_OK ||
        resolve_mimics(b, joints) != MOR_OK)
        return NULL;
    for (int i = 0; i < b->link_count; i++) b->links[i].mass = mor_urdf_mass_of(&b->mass[i]);
    for (int i = 0; i < u->link_count; i++) {
        memcpy(b->frames[i].name, u->links[i].name, sizeof b->frames[i].name);
        b->frames[i].link = b->carrier[i];
        b->frames[i].pose = b->pose[i];
    }
    mor_urdf_note_massless(b);
    for (int i = 0; i < u->ignored_count; i++)
        mor_urdf_note(b, u->ignored[i].line, u->ignored[i].column, "<%s> is not used%s", u->ignored[i].name,
                      u->ignored[i].count > 1 ? " (here and elsewhere)" : "");
    mor_robot_model* model =
        mor_robot_create(b->links, b->link_count, b->frames, u->link_count, b->options->floating, b->error);
    if (model && b->options->shapes && mor_urdf_add_shapes(b, model) != MOR_OK) {
        mor_robot_destroy(model);
        model = NULL;
    }
    return model;
}

mor_robot_model* mor_urdf_read(const char* path, const mor_urdf_options* options, char* notes, size_t notes_size,
                               mor_error* error)
{
    mor_urdf_options standard = mor_urdf_options_default();
    mor_urdf u;
    mor_error local = { 0 };
    if (!error) error = &local;
    if (notes && notes_size) notes[0] = '\0';
    if (mor_urdf_parse(path, &u, error) != MOR_OK) return NULL;
    if (u.link_count == 0) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the robot has no <link>", path);
        mor_urdf_free(&u);
        return NULL;
    }
    size_t L = (size_t)u.link_count, J = (size_t)u.joint_count + 1;
    mor_urdf_build b = {
        .urdf = &u, .options = options ? options : &standard, .error = error, .notes = notes, .notes_size = notes_size
    };
    b.joint_of = malloc(L * sizeof(int));
    b.first = malloc(L * sizeof(int));
    b.next = malloc(J * sizeof(int));
    b.number = malloc(J * sizeof(int));
    b.carrier = malloc(L * sizeof(int));
    b.pose = malloc(L * sizeof *b.pose);
    b.locked = calloc(J, sizeof *b.locked);
    b.links = calloc(L + 2 * J, sizeof *b.links);
    b.mass = calloc(L + 2 * J, sizeof *b.mass);
    b.frames = calloc(L, sizeof *b.frames);
    int* stack = malloc((L + 1) * sizeof *stack);
    key* links = malloc(L * sizeof *links);
    key* joints = malloc(J * sizeof *joints);
    mor_robot_model* model = NULL;
    if (!b.joint_of || !b.first || !b.next || !b.number || !b.carrier || !b.pose || !b.locked || !b.links || !b.mass ||
        !b.frames || !stack || !links || !joints) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
    } else {
        for (int i = 0; i < u.link_count; i++) links[i] = (key){ u.links[i].name, i };
        for (int i = 0; i < u.joint_count; i++) joints[i] = (key){ u.joints[i].name, i };
        qsort(links, L, sizeof *links, by_name);
        qsort(joints, J - 1, sizeof *joints, by_name);
        model = make(&b, links, joints, stack);
    }
    void* all[] = { b.joint_of, b.first, b.next,   b.number, b.carrier, b.pose, b.locked,
                    b.links,    b.mass,  b.frames, stack,    links,     joints };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    mor_urdf_free(&u);
    return model;
}
