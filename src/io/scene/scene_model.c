/* A scene around one model file, for `moreau run MODEL` and `moreau convert MODEL SCENE.yaml`, see scene_model.h.
 *
 * MJCF and SDF files say where the ground is and whether a base is free. URDF files say neither. The rule here: the
 * base is fixed when the root link is called `world`, as ROS and Gazebo have it, or when it has no mass, as a mount;
 * otherwise it floats, and the robot stands on a floor. */
#include "io/scene/scene_model.h"

#include "io/mjcf/mjcf.h"
#include "io/scene/scene_def.h"
#include "io/sdf/sdf.h"
#include "moreau/robot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines before and after the file's name in quotes. */
typedef struct frame {
    char head[400], tail[200];
} frame;

mor_code mor_urdf_base(const char* path, bool* fixed, mor_error* error)
{
    mor_urdf_options o = mor_urdf_options_default();
    o.packages = getenv("ROS_PACKAGE_PATH");
    mor_robot_model* m = mor_urdf_read(path, &o, NULL, 0, error);
    if (!m) return error->code;
    const mor_link_def* root = mor_robot_link(m, 0);
    *fixed = strcmp(root->name, "world") == 0 || root->mass.mass <= 0.0;
    mor_robot_destroy(m);
    return MOR_OK;
}

static mor_code around_urdf(const char* path, frame* f, const char** note, mor_error* error)
{
    bool fixed = false;
    mor_code code = mor_urdf_base(path, &fixed, error);
    if (code) return code;
    snprintf(f->head, sizeof f->head, "moreau: 1\ntime: { step: 0.002, end: 5 }\n%srobots:\n  - urdf: ",
             fixed ? "" : "bodies:\n  - { name: ground, shape: { plane: {} }, fixed: true }\n");
    snprintf(f->tail, sizeof f->tail, "    base: %s\n", fixed ? "fixed" : "floating\n    on: ground");
    *note = fixed ? "the base is fixed to the world"
                  : "the base floats, and the robot stands on a floor; `base: fixed` in a scene holds it";
    return MOR_OK;
}

static mor_code around_mjcf(const char* path, frame* f, mor_error* error)
{
    bool sdf = mor_sdf_is(path);
    mor_mjcf* m = sdf ? mor_sdf_read(path, getenv("GZ_SIM_RESOURCE_PATH"), false, NULL, 0, error)
                      : mor_mjcf_read(path, false, NULL, 0, error);
    if (!m) return error->code;
    mor_vec3 g = m->no_gravity ? mor_v3(0, 0, 0) : m->gravity;
    snprintf(f->head, sizeof f->head,
             "moreau: 1\ngravity: [%.17g, %.17g, %.17g]\ntime: { step: %.17g, end: 5 }\nrobots:\n  - %s: ", g.x, g.y,
             g.z, m->timestep, sdf ? "sdf" : "mjcf");
    mor_mjcf_destroy(m);
    return MOR_OK;
}

char* mor_model_scene(const char* path, const char* name, bool urdf, const char** note, mor_error* error)
{
    frame f = { "", "" };
    *note = NULL;
    if (urdf ? around_urdf(path, &f, note, error) : around_mjcf(path, &f, error)) return NULL;
    size_t room = sizeof f + 2 * strlen(name) + 8;
    char* text = malloc(room);
    if (!text) {
        mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
        return NULL;
    }
    char* to = text + snprintf(text, room, "%s\"", f.head);
    for (const char* s = name; *s; s++) {
        if (*s == '"' || *s == '\\') *to++ = '\\';
        *to++ = *s;
    }
    snprintf(to, room - (size_t)(to - text), "\"\n%s", f.tail);
    return text;
}

const char* mor_scene_of_model(mor_scene* scene, const char* path, const char* xml, mor_error* error)
{
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *note;
    char* text = mor_model_scene(path, file, strstr(xml, "<robot") != NULL, &note, error);
    if (!text) return NULL;
    char *kept = mor_scene_alloc(scene, strlen(text) + 1, 1, error), line[4400];
    if (kept) strcpy(kept, text);
    free(text);
    if (kept && note) {
        snprintf(line, sizeof line, "%s: %s", path, note);
        if (mor_scene_note(scene, line, error)) return NULL;
    }
    return kept;
}
