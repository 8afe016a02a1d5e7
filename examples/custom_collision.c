/* Our own collision stage: a ball on a floor, reported before they touch, as built-in collision does. The bounce then
 * happens at the moment of the impact, within the step. Perfectly elastic (restitution 1 of the material), the ball
 * must come back to the same height after every bounce, however many there are, up to the sampling of the apex, g
 * h^2/8. */
#include <moreau/moreau.h>
#include <stdio.h>

enum { FLOOR, BALL };
static const double radius = 0.2;

static mor_code collide(void* user, const mor_world* world, mor_found* found, mor_error* error)
{
    int* calls = user;
    (void)error;
    ++*calls;
    mor_vec3 x = mor_body_get_state(world, mor_world_body(world, BALL)).com;
    double gap = x.z - radius;
    if (gap >= 0.05) return MOR_OK; /* farther than a step goes: 5 m/s for 1 ms */
    mor_contact c = { .body = { FLOOR, BALL }, .normal = { 0, 0, 1 }, .gap = gap, .friction = 0, .restitution = 1 };
    c.point[0] = mor_v3(x.x, x.y, 0);
    c.point[1] = mor_v3(x.x, x.y, x.z - radius);
    return mor_found_add(found, &c);
}

int main(void)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.step = 0.001;
    mor_world* world = mor_world_create(&def, &error);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_geometry* sphere = mor_geometry_sphere(radius, &error);
    if (!world || !plane || !sphere) return fprintf(stderr, "%s\n", error.text), error.code;
    mor_body_def ground = mor_body_def_default(), body = mor_body_def_default();
    ground.kind = MOR_FIXED;
    ground.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    body.shapes = &(mor_body_shape){ sphere, mor_pose_identity(), -1 };
    ground.shape_count = body.shape_count = 1;
    body.pose.position = mor_v3(0, 0, 1.2);
    mor_material rubber = mor_material_default();
    rubber.restitution = 1.0;
    body.material = mor_world_add_material(world, &rubber);
    mor_world_add_body(world, &ground, &error);
    mor_body_id ball = mor_world_add_body(world, &body, &error);
    int calls = 0;
    mor_world_on_collide(world, collide, &calls);

    int bounces = 0;
    double apex = 0.0, worst = 0.0, last = 0.0;
    while (bounces < 10 && mor_world_time(world) < 20.0) {
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;
        mor_body_state s = mor_body_get_state(world, ball);
        if (s.velocity.z > 0.0 && last < 0.0) bounces++, apex = 0.0;
        if (s.velocity.z < 0.0 && last > 0.0) {
            printf("bounce %2d: back to %.6f m\n", bounces, apex);
            worst = fmax(worst, fabs(apex - 1.2));
        }
        apex = fmax(apex, s.com.z);
        last = s.velocity.z;
    }
    printf("%d bounces, %d calls of our collision stage, height lost or won at most %.1e m\n", bounces, calls, worst);
    mor_geometry_release(sphere);
    mor_geometry_release(plane);
    mor_world_destroy(world);
    return bounces == 10 && calls > 0 && worst < 2e-6 ? 0 : 1;
}
