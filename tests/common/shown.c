/* What the tests of the viewer show, see shown.h. */
#include "common/shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

const char shown_text[] = "moreau: 1\n"
                          "name: 'a <b>bold</b> name'\n"
                          "gravity: [0, 0, -10]\n"
                          "time: { step: 0.01, end: 0.5 }\n"
                          "bodies:\n"
                          "  - { name: floor, shape: plane, fixed: true }\n"
                          "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n"
                          "  - { name: stone, shape: { box: [1, 1, 1] }, position: [5, 0, 20] }\n";

mor_scene* shown_parse(const char* text)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    return scene;
}

bool shown_record(mor_scene* scene, const char* path)
{
    mor_error error = { 0 };
    mor_world* world = mor_scene_build(scene, 1, &error);
    mor_recorder* recorder = world ? mor_recorder_open(path, world, scene, &error) : NULL;
    if (!recorder) return false;
    mor_world_add_observer(world, mor_recorder_observe, recorder, &error);
    for (int i = 1; i < SHOWN_FRAMES; i++) mor_world_step(world, NULL, &error);
    bool closed = mor_recorder_close(recorder, &error) == MOR_OK;
    mor_world_destroy(world);
    return closed;
}
