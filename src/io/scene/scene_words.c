/* Words for keys that other simulators use (MuJoCo, Bullet, Drake, Gazebo, Siconos), and what a scene calls the same
 * thing. They are not synonyms: a scene has one word for one thing. The message about an unknown key names it. */
#include "io/scene/scene_fields.h"

#include <string.h>

typedef struct word {
    const char* table; /* title of the table of keys; NULL: any */
    const char* key;   /* what was written */
    const char* right; /* what to write */
} word;

static const word words[] = {
    { "time", "duration", "'end: SECONDS'" },
    { "time", "stop", "'end: SECONDS'" },
    { "time", "t_end", "'end: SECONDS'" },
    { "time", "T", "'end: SECONDS'" },
    { "time", "dt", "'step: SECONDS'" },
    { "time", "h", "'step: SECONDS'" },
    { "time", "timestep", "'step: SECONDS'" },
    { "time", "steps", "'end: SECONDS'" },
    { "the scene", "g", "'gravity: [x, y, z]'" },
    { "the scene", "dt", "'time: { step: SECONDS }'" },
    { "the scene", "step", "'time: { step: SECONDS }'" },
    { "the scene", "timestep", "'time: { step: SECONDS }'" },
    { "the scene", "duration", "'time: { end: SECONDS }'" },
    { "the scene", "end", "'time: { end: SECONDS }'" },
    { "the scene", "solver", "'method: { solver: NAME }'" },
    { "the scene", "formulation", "'method: { formulation: NAME }'" },
    { "the scene", "collision", "'method: { collision: NAME }'" },
    { "the scene", "friction", "'materials: { default: { friction: MU } }'" },
    { "the scene", "restitution", "'materials: { default: { restitution: E } }'" },
    { "the scene", "version", "'moreau: 1'" },
    { "the scene", "dim", "'dimension: 2'" },
    { "the scene", "objects", "'bodies: [...]'" },
    { "the scene", "links", "'bodies: [...]'" },
    { "the scene", "constraints", "'joints: [...]'" },
    { "the scene", "robot", "'robots: [{ urdf: FILE }]'" },
    { "the scene", "material", "'materials: { NAME: { friction, restitution } }'" },
    { "the scene", "output", "'--record FILE' on the command line" },
    { "method", "step", "it under 'time'" },
    { "method", "tol", "'accuracy: { goal: SPEED }'" },
    { "method", "tolerance", "'accuracy: { goal: SPEED }'" },
    { "method", "epsilon", "'collision: { name: manifold, epsilon: LENGTH }'" },
    { "method", "baumgarte", "'stabilisation: { name: baumgarte, gain: 0.2 }'" },
    { "method", "erp", "'stabilisation: { name: baumgarte, gain: 0.2 }'" },
    { "method", "model", "'formulation: NAME'" },
    { NULL, "mu", "'friction: MU'" },
    { NULL, "cor", "'restitution: E'" },
    { NULL, "e", "'restitution: E'" },
    { NULL, "elasticity", "'restitution: E'" },
    { NULL, "bounce", "'restitution: E'" },
    { NULL, "restitution_coefficient", "'restitution: E'" },
    { NULL, "rho", "'density: KG_PER_M3'" },
    { "body", "pos", "'position: [x, y, z]'" },
    { "body", "xyz", "'position: [x, y, z]'" },
    { "body", "location", "'position: [x, y, z]'" },
    { "body", "origin", "'position: [x, y, z]'" },
    { "body", "pose", "'position: [x, y, z]' and 'orientation: [w, x, y, z]'" },
    { "body", "quat", "'orientation: [w, x, y, z]'" },
    { "body", "quaternion", "'orientation: [w, x, y, z]'" },
    { "body", "rotation", "'orientation: [w, x, y, z]' or 'orientation: { rpy: [DEGREES, ...] }'" },
    { "body", "rpy", "'orientation: { rpy: [DEGREES, ...] }'" },
    { "body", "euler", "'orientation: { rpy: [DEGREES, ...] }'" },
    { "body", "axis_angle", "'orientation: { axis: [x, y, z], angle: DEGREES }'" },
    { "body", "vel", "'velocity: [x, y, z]'" },
    { "body", "linear_velocity", "'velocity: [x, y, z]'" },
    { "body", "omega", "'angular_velocity: [x, y, z]'" },
    { "body", "angvel", "'angular_velocity: [x, y, z]'" },
    { "body", "spin", "'angular_velocity: [x, y, z]'" },
    { "body", "static", "'fixed: true'" },
    { "body", "is_static", "'fixed: true'" },
    { "body", "dynamic", "'fixed: false'" },
    { "body", "type", "'shape: { box: [x, y, z] }', 'shape: { sphere: RADIUS }', ..." },
    { "body", "size", "'shape: { box: [x, y, z] }'" },
    { "body", "radius", "'shape: { sphere: RADIUS }'" },
    { "body", "geom", "'shape: { ... }'" },
    { "body", "geometry", "'shape: { ... }'" },
    { "body", "collision", "'shape: { ... }'" },
    { "body", "shapes", "'shape: [{ ... }, { ... }]'" },
    { "body", "centre_of_mass", "'com: [x, y, z]'" },
    { "body", "center_of_mass", "'com: [x, y, z]'" },
    { "shape", "type", "the kind as the key: 'shape: { box: [x, y, z] }', 'shape: { sphere: RADIUS }', ..." },
    { "shape", "size", "'box: [x, y, z]', the whole lengths of the edges" },
    { "shape", "half_extents", "'box: [x, y, z]', the whole lengths of the edges" },
    { "shape", "radius", "'sphere: RADIUS'" },
    { "shape", "cube", "'box: [x, y, z]'" },
    { "shape", "ball", "'sphere: RADIUS'" },
    { "shape", "ground", "'plane: {}'" },
    { "shape", "halfspace", "'plane: { normal: [x, y, z], point: [x, y, z] }'" },
    { "shape", "half_space", "'plane: { normal: [x, y, z], point: [x, y, z] }'" },
    { "shape", "convex", "'hull: [[x, y, z], ...]'" },
    { "shape", "points", "'hull: [[x, y, z], ...]'" },
    { "shape", "file", "'mesh: FILE'" },
    { "shape", "circle", "'disc: RADIUS'" },
    { "shape", "pos", "'position: [x, y, z]'" },
    { "shape", "rpy", "'orientation: { rpy: [DEGREES, ...] }'" },
};

const char* mor_word_of_scenes(const char* table, const char* key)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].key, key) == 0 && (!words[i].table || strcmp(words[i].table, table) == 0))
            return words[i].right;
    return NULL;
}
