/* Places the copies of a body: one, a grid, or a chain of repetitions, each with its random change.
 *
 * Copy (i, j, k) of a grid stands at origin + (index + first) spacing, evaluated like this, so that
 * a scene can say where a grid is to the last bit. Copies of `repeat` stand at X_n = X_(n-1) S. A
 * copy draws its rotation first (three numbers, 2-D one), then its shift (one number per axis, if
 * the half-width is not zero); the rotation goes in front of the body's own, and the shift does not
 * move the copies after it. */
#include "base/elementary.h"
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <string.h>

/* Room for `count` more. Arrays that became too small stay in the scene: a grid asks once for all it needs. */
static mor_code reserve_items(mor_scene* scene, int count, mor_error* error)
{
    if (count <= scene->item_capacity - scene->item_count) return MOR_OK;
    int twice = scene->item_capacity ? 2 * scene->item_capacity : 8;
    int capacity = scene->item_count + count > twice ? scene->item_count + count : twice;
    mor_scene_item* larger = mor_scene_alloc(scene, (size_t)capacity, sizeof *larger, error);
    if (!larger) return MOR_SYSTEM;
    if (scene->item_count) memcpy(larger, scene->items, (size_t)scene->item_count * sizeof *larger);
    scene->items = larger;
    scene->item_capacity = capacity;
    return MOR_OK;
}

static mor_code add_item(mor_scene* scene, const mor_scene_item* item, const mor_node* node, mor_error* error)
{
    if (scene->item_count >= MOR_SCENE_BODIES)
        return mor_node_fail(node, error, "the scene has more than %d bodies", (int)MOR_SCENE_BODIES);
    mor_code code = reserve_items(scene, 1, error);
    if (code) return code;
    scene->items[scene->item_count++] = *item;
    return MOR_OK;
}

static mor_pose shaken(mor_scene* scene, const mor_raw_random* random, mor_pose pose)
{
    if (random->orientation) {
        mor_quat turn;
        if (scene->dimension == 2) {
            double half = 3.141592653589793 * mor_rng_uniform(&scene->rng);
            turn = (mor_quat){ mor_cos(half), 0, 0, mor_sin(half) };
        } else {
            turn = mor_rng_rotation(&scene->rng);
        }
        pose.rotation = mor_quat_mul(turn, pose.rotation);
    }
    if (random->position > 0.0) {
        double shift[3] = { 0, 0, 0 };
        for (int i = 0; i < scene->dimension; i++)
            shift[i] = random->position * (2.0 * mor_rng_uniform(&scene->rng) - 1.0);
        pose.position = mor_add(pose.position, mor_v3(shift[0], shift[1], shift[2]));
    }
    return pose;
}

static mor_code place_grid(mor_scene* scene, int body, const mor_node* node, const mor_raw_random* random,
                           mor_pose pose, bool placed, mor_error* error)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    mor_raw_grid raw;
    mor_code code = mor_keys_read(&mor_keys_grid, node, scene->dimension, &raw, error);
    if (code) return code;
    const mor_node* origin = mor_node_get(node, "origin");
    if (origin && placed)
        return mor_node_fail_key(origin, error, "give either the position of the body or the origin of its grid");
    if (!origin) raw.origin = pose.position;
    if ((double)raw.count[0] * raw.count[1] * raw.count[2] > MOR_SCENE_BODIES)
        return mor_node_fail(mor_node_get(node, "count"), error, "the grid has more than %d bodies",
                             (int)MOR_SCENE_BODIES);
    if ((code = reserve_items(scene, raw.count[0] * raw.count[1] * raw.count[2], error))) return code;
    const int* order = orders[raw.order];
    const char* name = scene->bodies[body].def.name;
    int at[3];
    for (at[order[2]] = 0; at[order[2]] < raw.count[order[2]]; at[order[2]]++)
        for (at[order[1]] = 0; at[order[1]] < raw.count[order[1]]; at[order[1]]++)
            for (at[order[0]] = 0; at[order[0]] < raw.count[order[0]]; at[order[0]]++) {
                mor_scene_item item = { .body = body };
                int n = scene->dimension == 2
                            ? snprintf(item.name, sizeof item.name, "%s_%d_%d", name, at[0], at[1])
                            : snprintf(item.name, sizeof item.name, "%s_%d_%d_%d", name, at[0], at[1], at[2]);
                if (n >= (int)sizeof item.name)
                    return mor_node_fail(node, error, "the name '%s' is too long for the indices of a grid", name);
                pose.position = mor_v3(raw.origin.x + (at[0] + raw.first.x) * raw.spacing.x,
                                       raw.origin.y + (at[1] + raw.first.y) * raw.spacing.y,
                                       raw.origin.z + (at[2] + raw.first.z) * raw.spacing.z);
                item.pose = shaken(scene, random, pose);
                if ((code = add_item(scene, &item, node, error))) return code;
            }
    return MOR_OK;
}

static mor_code place_chain(mor_scene* scene, int body, const mor_node* node, const mor_raw_random* random,
                            mor_pose pose, mor_error* error)
{
    mor_raw_repeat raw;
    mor_raw_step step = { 0 };
    mor_pose between = mor_pose_identity();
    mor_code code = mor_keys_read(&mor_keys_repeat, node, scene->dimension, &raw, error);
    if (code) return code;
    if (raw.step) {
        if ((code = mor_keys_read(&mor_keys_step, raw.step, scene->dimension, &step, error))) return code;
        if ((code = mor_scene_read_turn(scene, raw.step, &between.rotation, error))) return code;
        between.position = step.position;
    }
    const char* name = scene->bodies[body].def.name;
    int first = scene->item_count;
    for (int i = 0; i < raw.count; i++) {
        mor_scene_item item = { .body = body };
        if (snprintf(item.name, sizeof item.name, "%s_%d", name, i) >= (int)sizeof item.name)
            return mor_node_fail(node, error, "the name '%s' is too long for the number of a repetition", name);
        item.pose = shaken(scene, random, pose);
        if ((code = add_item(scene, &item, node, error))) return code;
        pose = mor_pose_mul(&pose, &between);
        pose.rotation = mor_quat_normalize(pose.rotation);
    }
    return raw.joint ? mor_scene_chain_joints(scene, raw.joint, first, raw.count, error) : MOR_OK;
}

mor_code mor_scene_place(mor_scene* scene, int body, const mor_raw_body* raw, mor_pose pose, mor_error* error)
{
    mor_raw_random random = { false, 0.0 };
    const mor_node* node = scene->bodies[body].node;
    if (raw->random) {
        mor_code code = mor_keys_read(&mor_keys_random, raw->random, scene->dimension, &random, error);
        if (code) return code;
    }
    if (raw->grid && raw->repeat)
        return mor_node_fail_key(raw->repeat, error, "a body has either a grid or repetitions");
    if (raw->grid)
        return place_grid(scene, body, raw->grid, &random, pose, mor_node_get(node, "position") != NULL, error);
    if (raw->repeat) return place_chain(scene, body, raw->repeat, &random, pose, error);
    mor_scene_item item = { .body = body, .pose = shaken(scene, &random, pose) };
    snprintf(item.name, sizeof item.name, "%s", scene->bodies[body].def.name);
    return add_item(scene, &item, node, error);
}
