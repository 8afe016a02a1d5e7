/* A controller in the user stage: a PD law with gravity compensation flies a box to a target and
 * holds it there, also when another box is dropped on it.
 *
 *     f = -m g + kp (x* - x) - kd v,    t = -kp' phi - kd' omega    (phi: the rotation vector,
 * small)
 *
 * The controller does not know of the load, so the box sags by (load weight) / kp. Both states are
 * known exactly. */
#include <moreau/moreau.h>
#include <stdio.h>

typedef struct hover {
    mor_body_id body;
    mor_vec3 target;
    double kp, kd;           /* N/m, N s/m */
    double kp_turn, kd_turn; /* N m/rad, N m s/rad */
} hover;

/* Called at the start of every step, before collision. Forces last for this step. */
static void control(void* user, mor_world* world)
{
    const hover* c = user;
    mor_body_state s = mor_body_get_state(world, c->body);
    mor_vec3 f = mor_scale(-mor_body_mass(world, c->body).mass, mor_world_gravity(world));
    f = mor_madd(f, c->kp, mor_sub(c->target, s.com));
    f = mor_madd(f, -c->kd, s.velocity);
    mor_body_apply(world, c->body, f, s.com);
    mor_quat q = s.pose.rotation;
    mor_vec3 phi = mor_scale(q.w < 0 ? -2 : 2, mor_v3(q.x, q.y, q.z));
    mor_body_apply_torque(world, c->body, mor_madd(mor_scale(-c->kp_turn, phi), -c->kd_turn, s.angular_velocity));
}

static mor_body_id add_box(mor_world* world, mor_vec3 size, mor_vec3 position, double mass, mor_error* error)
{
    mor_geometry* box = mor_geometry_box(size.x, size.y, size.z, error);
    mor_body_def def = mor_body_def_default();
    def.shapes = &(mor_body_shape){ box, mor_pose_identity(), -1 };
    def.shape_count = 1;
    def.mass = mass;
    def.pose.position = position;
    mor_body_id id = mor_world_add_body(world, &def, error);
    mor_geometry_release(box); /* the body holds its own reference */
    return id;
}

static int run(mor_world* world, double until, mor_error* error)
{
    while (mor_world_time(world) < until)
        if (mor_world_step(world, NULL, error) != MOR_OK) return fprintf(stderr, "%s\n", error->text), 1;
    return 0;
}

int main(void)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    mor_world* world = mor_world_create(&def, &error);
    if (!world) return fprintf(stderr, "%s\n", error.text), error.code;

    hover c = { .target = mor_v3(1, 0, 2), .kp = 200, .kd = 40, .kp_turn = 20, .kd_turn = 3 };
    c.body = add_box(world, mor_v3(1, 1, 0.2), mor_v3(0, 0, 0), 1.0, &error);
    mor_world_on_user(world, control, &c);
    if (run(world, 4.0, &error)) return 1;
    mor_vec3 x = mor_body_get_state(world, c.body).com;
    printf("hovering:  (%.6f, %.6f, %.6f), target (1, 0, 2)\n", x.x, x.y, x.z);
    double miss = mor_norm(mor_sub(x, c.target));

    mor_body_id load = add_box(world, mor_v3(0.2, 0.2, 0.2), mor_v3(1, 0, 2.5), 2.0, &error);
    if (run(world, 10.0, &error)) return 1;
    x = mor_body_get_state(world, c.body).com;
    double expected = 2.0 - 2.0 * 9.81 / c.kp, on_top = mor_body_get_state(world, load).com.z - x.z;
    printf("with load: (%.6f, %.6f, %.6f), expected z = 2 - 2 g/kp = %.6f\n", x.x, x.y, x.z, expected);
    mor_world_destroy(world);
    return miss < 1e-6 && fabs(x.z - expected) < 1e-6 && fabs(on_top - 0.2) < 1e-6 ? 0 : 1;
}
