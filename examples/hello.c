/* A ball falls on the floor. The smallest complete program: world, shapes, bodies, steps. */
#include <moreau/moreau.h>
#include <stdio.h>

int main(void)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default(); /* gravity (0,0,-9.81), step 0.01 s, formulation ncp, solver auto */
    mor_world* world = mor_world_create(&def, &error);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_geometry* sphere = mor_geometry_sphere(0.5, &error);
    if (!world || !plane || !sphere) return fprintf(stderr, "%s\n", error.text), error.code;

    mor_body_def floor_def = mor_body_def_default();
    floor_def.kind = MOR_FIXED;
    floor_def.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    floor_def.shape_count = 1;
    mor_world_add_body(world, &floor_def, &error);

    mor_body_def ball_def = mor_body_def_default();
    ball_def.shapes = &(mor_body_shape){ sphere, mor_pose_identity(), -1 };
    ball_def.shape_count = 1;
    ball_def.pose.position = mor_v3(0, 0, 2);
    mor_body_id ball = mor_world_add_body(world, &ball_def, &error);

    while (mor_world_time(world) < 1.0)
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), error.code;

    double z = mor_body_get_state(world, ball).com.z;
    printf("after %g s the ball rests at z = %.12g m; its radius is 0.5 m\n", mor_world_time(world), z);

    mor_geometry_release(sphere);
    mor_geometry_release(plane);
    mor_world_destroy(world);
    return fabs(z - 0.5) < 1e-9 ? 0 : 1;
}
