// Penetration from poses, in double, by the same code for every engine: spheres in closed form,
// boxes by the separating-axis test (least overlap over the 15 axes), hulls by all faces and pairs of edges, planes by
// the lowest point.
#include "engine.h"

#include <algorithm>
#include <cmath>

namespace
{

struct Placed {
    const Body* body;
    mor_vec3 x;
    mor_mat3 R;
};

mor_vec3 column(const mor_mat3& R, int i) { return mor_v3(R.m[0][i], R.m[1][i], R.m[2][i]); }

double extent(const Placed& b, mor_vec3 axis)
{
    double e = 0;
    for (int i = 0; i < 3; i++) e += 0.5 * b.body->size[i] * std::fabs(mor_dot(axis, column(b.R, i)));
    return e;
}

double box_box(const Placed& a, const Placed& b)
{
    mor_vec3 d = mor_sub(b.x, a.x);
    double least = INFINITY;
    auto test = [&](mor_vec3 axis) {
        double n = mor_norm(axis);
        if (n < 1e-6) return; // parallel edges: covered by the face axes
        axis = mor_scale(1 / n, axis);
        least = std::min(least, extent(a, axis) + extent(b, axis) - std::fabs(mor_dot(axis, d)));
    };
    for (int i = 0; i < 3; i++) {
        test(column(a.R, i));
        test(column(b.R, i));
    }
    for (int i = 0; i < 3 && least > 0; i++)
        for (int j = 0; j < 3; j++) test(mor_cross(column(a.R, i), column(b.R, j)));
    return least;
}

// Overlap along a unit axis, both ways of it.
double hull_overlap(const Placed& a, const Placed& b, mor_vec3 axis)
{
    double range[2][2];
    const Placed* both[2] = { &a, &b };
    for (int s = 0; s < 2; s++) {
        const mor_polyhedron& P = *both[s]->body->hull;
        mor_vec3 local = mor_tmul(&both[s]->R, axis);
        range[s][0] = INFINITY, range[s][1] = -INFINITY;
        for (int v = 0; v < P.vertex_count; v++) {
            double d = mor_dot(local, P.vertices[v]);
            range[s][0] = std::min(range[s][0], d), range[s][1] = std::max(range[s][1], d);
        }
        double at = mor_dot(axis, both[s]->x);
        range[s][0] += at, range[s][1] += at;
    }
    return std::min(range[0][1] - range[1][0], range[1][1] - range[0][0]);
}

double hull_hull(const Placed& a, const Placed& b)
{
    const mor_polyhedron &P = *a.body->hull, &Q = *b.body->hull;
    double least = INFINITY;
    for (int f = 0; f < P.face_count && least > 0; f++)
        least = std::min(least, hull_overlap(a, b, mor_mul(&a.R, P.normals[f])));
    for (int f = 0; f < Q.face_count && least > 0; f++)
        least = std::min(least, hull_overlap(a, b, mor_mul(&b.R, Q.normals[f])));
    for (int i = 0; i < P.edge_count && least > 0; i++)
        for (int j = 0; j < Q.edge_count && least > 0; j++) {
            auto edge = [](const Placed& x, const mor_polyhedron& H, int e) {
                return mor_mul(&x.R, mor_sub(H.vertices[H.edges[e].head], H.vertices[H.edges[e].tail]));
            };
            mor_vec3 axis = mor_cross(edge(a, P, i), edge(b, Q, j));
            double n = mor_norm(axis);
            if (n > 1e-6) least = std::min(least, hull_overlap(a, b, mor_scale(1 / n, axis)));
        }
    return least;
}

double box_sphere(const Placed& box, const Placed& sphere)
{
    mor_vec3 p = mor_tmul(&box.R, mor_sub(sphere.x, box.x));
    double q[3] = { p.x, p.y, p.z }, inside = INFINITY, square = 0;
    for (int i = 0; i < 3; i++) {
        double over = std::fabs(q[i]) - 0.5 * box.body->size[i];
        inside = std::min(inside, -over);
        square += over > 0 ? over * over : 0;
    }
    return sphere.body->size[0] + (square > 0 ? -std::sqrt(square) : inside);
}

double pair(const Placed& a, const Placed& b)
{
    if (a.body->shape == Shape::plane) {
        mor_vec3 n = column(a.R, 2);
        double height = mor_dot(n, mor_sub(b.x, a.x));
        return (b.body->shape == Shape::sphere ? b.body->size[0] : extent(b, n)) - height;
    }
    if (b.body->shape == Shape::plane) return pair(b, a);
    if (a.body->shape == Shape::sphere && b.body->shape == Shape::sphere)
        return a.body->size[0] + b.body->size[0] - mor_norm(mor_sub(b.x, a.x));
    if (a.body->shape == Shape::hull || b.body->shape == Shape::hull) return hull_hull(a, b);
    if (a.body->shape == Shape::box && b.body->shape == Shape::box) return box_box(a, b);
    return a.body->shape == Shape::box ? box_sphere(a, b) : box_sphere(b, a);
}

double reach(const Body& b)
{
    if (b.shape == Shape::plane) return INFINITY;
    if (b.shape == Shape::hull) {
        double r = 0;
        for (int v = 0; v < b.hull->vertex_count; v++) r = std::max(r, mor_norm(b.hull->vertices[v]));
        return r;
    }
    return b.shape == Shape::sphere
               ? b.size[0]
               : 0.5 * std::sqrt(b.size[0] * b.size[0] + b.size[1] * b.size[1] + b.size[2] * b.size[2]);
}

} // namespace

double penetration(const Scene& scene, const Engine& engine)
{
    std::vector<Placed> placed;
    for (size_t i = 0; i < scene.bodies.size(); i++) {
        mor_pose p = scene.bodies[i].fixed ? scene.bodies[i].pose : engine.pose((int)i);
        placed.push_back({ &scene.bodies[i], p.position, mor_quat_matrix(p.rotation) });
    }
    double deepest = 0;
    for (size_t i = 0; i < placed.size(); i++)
        for (size_t j = i + 1; j < placed.size(); j++) {
            if (placed[i].body->fixed && placed[j].body->fixed) continue;
            mor_vec3 d = mor_sub(placed[i].x, placed[j].x);
            double r = reach(*placed[i].body) + reach(*placed[j].body);
            if (!(mor_dot(d, d) > r * r)) deepest = std::max(deepest, pair(placed[i], placed[j]));
        }
    return deepest;
}
