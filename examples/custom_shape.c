/* A shape of our own: an ellipsoid with semi-axes a, b, c. A shape needs bounds, mass properties
 * and a test for every kind of shape it should touch; here the plane.
 *
 * The point of the ellipsoid farthest in the direction d (shape frame) is A^2 d / |A d|, A =
 * diag(a,b,c), and its height over the plane is the gap. The test is the period of small rocking
 * without slip about its lowest position (c vertical): omega^2 = m g (R - c) / (I + m c^2), R =
 * a^2/c the radius of curvature at the bottom. */
#include <moreau/moreau.h>
#include <stdio.h>

static const double pi = 3.14159265358979324;

static mor_vec3 support(const mor_vec3* e, mor_vec3 d)
{
    mor_vec3 Ad = mor_v3(e->x * d.x, e->y * d.y, e->z * d.z);
    double s = 1.0 / mor_norm(Ad);
    return mor_v3(s * e->x * Ad.x, s * e->y * Ad.y, s * e->z * Ad.z);
}

static mor_aabb ellipsoid_bounds(const mor_geometry* g, const mor_pose* pose)
{
    mor_mat3 R = mor_quat_matrix(pose->rotation);
    const mor_vec3* e = g->user;
    double half[3]; /* |A R' e_i|: how far it reaches along each world axis */
    for (int i = 0; i < 3; i++) half[i] = mor_norm(mor_v3(e->x * R.m[i][0], e->y * R.m[i][1], e->z * R.m[i][2]));
    mor_vec3 r = mor_v3(half[0], half[1], half[2]);
    return (mor_aabb){ mor_sub(pose->position, r), mor_add(pose->position, r) };
}

/* Shape a is the ellipsoid, b the plane (half-space z <= 0 of its frame): the normal goes from a to
 * b. */
static int ellipsoid_plane(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                           double reach, uint32_t cache[4], mor_point* points)
{
    (void)b, (void)cache;
    mor_vec3 n = mor_rotate(pose_b->rotation, mor_v3(0, 0, -1));
    mor_vec3 x = mor_pose_point(pose_a, support(a->user, mor_unrotate(pose_a->rotation, n)));
    double gap = -mor_dot(n, mor_sub(x, pose_b->position));
    if (gap > reach) return 0;
    points[0] = (mor_point){ .on_a = x, .on_b = mor_madd(x, gap, n), .normal = n, .gap = gap };
    return 1;
}

static const mor_custom_shape ellipsoid = { "ellipsoid", ellipsoid_bounds, NULL };

int main(void)
{
    mor_error error = { 0 };
    mor_library* library = mor_library_create(&error);
    mor_library_add_pair(library, MOR_CUSTOM, &ellipsoid, MOR_PLANE, NULL, ellipsoid_plane, &error);
    mor_world_def def = mor_world_def_default();
    def.library = library;
    def.step = 0.001;
    mor_world* world = mor_world_create(&def, &error);

    mor_vec3 e = { 0.3, 0.2, 0.1 }; /* a, b, c */
    mor_mass unit = { .mass = 4.0 / 3.0 * pi * e.x * e.y * e.z };
    unit.inertia = mor_mat3_diag(unit.mass / 5 * (e.y * e.y + e.z * e.z), unit.mass / 5 * (e.x * e.x + e.z * e.z),
                                 unit.mass / 5 * (e.x * e.x + e.y * e.y));
    mor_geometry* egg = mor_geometry_custom(&ellipsoid, &e, &unit, e.x, 3, &error);
    mor_geometry* plane = mor_geometry_plane(&error);
    if (!world || !egg || !plane) return fprintf(stderr, "%s\n", error.text), 2;

    mor_body_def ground = mor_body_def_default(), body = mor_body_def_default();
    ground.kind = MOR_FIXED;
    ground.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    body.shapes = &(mor_body_shape){ egg, mor_pose_identity(), -1 };
    ground.shape_count = body.shape_count = 1;
    body.pose =
        (mor_pose){ mor_v3(0, 0, e.z + 1e-5), mor_quat_axis_angle(mor_v3(0, 1, 0), 0.005) }; /* a little tilted */
    mor_world_add_body(world, &ground, &error);
    mor_body_id id = mor_world_add_body(world, &body, &error);

    int crossings = 0;
    double first = 0.0, last = 0.0, before = 1.0;
    while (mor_world_time(world) < 5.0) {
        if (mor_world_step(world, NULL, &error) != MOR_OK) return fprintf(stderr, "%s\n", error.text), 1;
        double tilt = mor_body_get_state(world, id).pose.rotation.y, t = mor_world_time(world);
        if (tilt * before < 0.0) { /* linear interpolation between the two steps */
            last = t - def.step * tilt / (tilt - before);
            if (crossings++ == 0) first = last;
        }
        before = tilt;
    }
    double period = 2.0 * (last - first) / (crossings - 1);
    double I = (e.x * e.x + e.z * e.z) / 5, R = e.x * e.x / e.z;
    double expected = 2 * pi * sqrt((I + e.z * e.z) / (9.81 * (R - e.z)));
    printf("the ellipsoid rocks with a period of %.5f s; small oscillations: %.5f s\n", period, expected);
    mor_geometry_release(egg);
    mor_geometry_release(plane);
    mor_world_destroy(world);
    mor_library_destroy(library);
    return fabs(period - expected) < 1e-3 * expected ? 0 : 1;
}
