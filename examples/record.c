/* A scene from text, run and recorded: the laboratory (library moreau-lab). The file opens in Octave, Python and with
 * `moreau plot` and `moreau view`. A ball thrown upwards is back at its height after t = 2 v / g. */
#include <moreau/lab.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "moreau: 1\n"
                           "name: throw\n"
                           "time: { step: 0.001, end: 1.0 }\n"
                           "gravity: [0, 0, -10]\n"
                           "bodies:\n"
                           "  - { name: ball, shape: { sphere: 0.1 }, mass: 1, velocity: [0, 0, 5] }\n";

int main(int argc, char** argv)
{
    const char* path = argc > 1 ? argv[1] : "throw.h5";
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "throw", NULL, NULL, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    mor_recorder* recorder = world ? mor_recorder_open(path, world, scene, &error) : NULL;
    if (!recorder || mor_world_add_observer(world, mor_recorder_observe, recorder, &error) != MOR_OK)
        return fprintf(stderr, "%s\n", error.text), 1;

    for (int k = 0; k < 1000; k++)
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;

    double z = mor_body_get_state(world, mor_world_body(world, 0)).com.z;
    if (mor_recorder_close(recorder, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;
    printf("after 1 s the ball is back at z = %.4f m; the recording is %s\n", z, path);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return fabs(z) < 0.006 ? 0 : 1; /* semi-implicit Euler: h g t / 2 = 5 mm below */
}
