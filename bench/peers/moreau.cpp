// Moreau behind the benchmark's interface, through the public API only.
#include "engine.h"

#include <stdexcept>

namespace
{

mor_scene* load(const char* path, const std::vector<std::string>& sets)
{
    std::vector<const char*> overrides;
    for (const std::string& s : sets) overrides.push_back(s.c_str());
    overrides.push_back(nullptr);
    mor_error error = {};
    mor_scene* scene = mor_scene_load(path, overrides.data(), nullptr, &error);
    if (!scene) throw std::runtime_error(error.text);
    return scene;
}

struct Moreau : Engine {
    mor_scene* scene;
    mor_world* world;

    Moreau(const char* path, const std::vector<std::string>& sets, int threads = 1) : scene(load(path, sets))
    {
        mor_error error = {};
        world = mor_scene_build(scene, threads, &error);
        if (!world) throw std::runtime_error(error.text);
    }
    ~Moreau() override
    {
        mor_world_destroy(world);
        mor_scene_destroy(scene);
    }
    bool step() override
    {
        mor_step_report report;
        mor_error error = {};
        return mor_world_step(world, &report, &error) == MOR_OK &&
               (report.status == MOR_SOLVED || report.status == MOR_APPROXIMATE);
    }
    mor_body_state state(int body) const { return mor_body_get_state(world, mor_world_body(world, body)); }
    mor_pose pose(int body) const override
    {
        mor_pose p = state(body).pose, shape = mor_body_get_shape(world, mor_world_body(world, body), 0).pose;
        return mor_pose_mul(&p, &shape);
    }
    mor_vec3 velocity(int body) const override { return state(body).velocity; }
    mor_vec3 spin(int body) const override { return state(body).angular_velocity; }
};

} // namespace

std::unique_ptr<Engine> moreau_with_threads(const char* path, const std::vector<std::string>& sets, int threads)
{
    return std::make_unique<Moreau>(path, sets, threads);
}

namespace
{

template <const char* const* more>
std::unique_ptr<Engine> make(const Scene&, const char* path, const std::vector<std::string>& sets)
{
    std::vector<std::string> all = sets;
    for (const char* const* s = more; *s; s++) all.push_back(*s);
    return std::make_unique<Moreau>(path, all);
}

constexpr const char* as_scene[] = { nullptr };
constexpr const char* pgs_fine[] = { "method.formulation=st", "method.solver={ name: pgs, tol: 1.0e-8 }", nullptr };
constexpr const char* pgs_coarse[] = { "method.formulation=st", "method.solver={ name: pgs, tol: 1.0e-3 }", nullptr };
constexpr const char* tol3[] = { "method.solver.tol=1e-3", nullptr };
constexpr const char* tol6[] = { "method.solver.tol=1e-6", nullptr };
constexpr const char* tol10[] = { "method.solver.tol=1e-10", nullptr };
constexpr const char* impulses10[] = { "method.formulation={ name: sequential-impulses, iterations: 10 }", nullptr };
constexpr const char* impulses50[] = { "method.formulation={ name: sequential-impulses, iterations: 50 }", nullptr };
constexpr const char* soft4[] = { "method.formulation={ name: soft-step, substeps: 4 }", nullptr };
constexpr const char* soft16[] = { "method.formulation={ name: soft-step, substeps: 16 }", nullptr };
constexpr const char* xpbd20[] = { "method.formulation={ name: xpbd, substeps: 20 }", nullptr };
constexpr const char* lemke[] = { "method.formulation=st", "method.solver=lemke", nullptr };

} // namespace

Scene read_scene(const char* path, const std::vector<std::string>& sets, double mu)
{
    auto owner = std::make_shared<Moreau>(path, sets);
    Moreau& m = *owner;
    Scene scene = { {}, {}, mor_world_gravity(m.world), mor_world_get_step(m.world), mu, false, owner };
    for (int i = 0; i < mor_world_body_count(m.world); i++) {
        mor_body_id id = mor_world_body(m.world, i);
        mor_body_shape shape = mor_body_get_shape(m.world, id, 0);
        const mor_geometry* g = shape.geometry;
        mor_pose pose = mor_body_get_state(m.world, id).pose;
        Body b = {};
        b.fixed = mor_body_get_kind(m.world, id) != MOR_DYNAMIC;
        b.mass = b.fixed ? 0 : mor_body_mass(m.world, id).mass;
        b.pose = mor_pose_mul(&pose, &shape.pose);
        b.velocity = m.state(i).velocity;
        b.spin = m.state(i).angular_velocity;
        mor_mat3 R = mor_quat_matrix(shape.pose.rotation), I = mor_body_mass(m.world, id).inertia;
        for (int k = 0; k < 3; k++) {
            mor_vec3 axis = mor_v3(R.m[0][k], R.m[1][k], R.m[2][k]);
            b.inertia[k] = b.fixed ? 0 : mor_dot(axis, mor_mul(&I, axis));
        }
        b.hull = g->kind == MOR_POLYHEDRON ? g->polyhedron : nullptr;
        if (mor_body_shape_count(m.world, id) != 1) throw std::runtime_error("compounds are not compared");
        if (g->kind == MOR_SPHERE) {
            b.shape = Shape::sphere;
            b.size[0] = g->size[0];
        } else if (g->kind == MOR_PLANE) {
            b.shape = Shape::plane;
        } else if (g->kind == MOR_POLYHEDRON && g->polyhedron->is_box) {
            b.shape = Shape::box;
            b.size[0] = 2 * g->polyhedron->half.x;
            b.size[1] = 2 * g->polyhedron->half.y;
            b.size[2] = 2 * g->polyhedron->half.z;
        } else if (g->kind == MOR_POLYHEDRON) {
            b.shape = Shape::hull;
            scene.hulls = true;
        } else {
            throw std::runtime_error("only spheres, boxes, hulls and planes are compared");
        }
        scene.bodies.push_back(b);
    }
    for (int i = 0; i < mor_world_joint_count(m.world); i++) {
        const mor_joint_def* d = mor_world_joint(m.world, i);
        if (d->kind != MOR_JOINT_REVOLUTE || d->framed) throw std::runtime_error("only hinges are compared");
        Hinge hinge = { { -1, -1 }, d->point[0], d->axis };
        for (int k = 0; k < mor_world_body_count(m.world); k++)
            for (int side = 0; side < 2; side++)
                if (mor_world_body(m.world, k).index1 == d->body[side].index1) hinge.body[side] = k;
        scene.hinges.push_back(hinge);
    }
    return scene;
}

std::vector<Config> moreau_configs()
{
    return { { "moreau, as the scene", make<as_scene> },
             { "moreau pgs 1e-3", make<pgs_coarse> },
             { "moreau pgs 1e-8", make<pgs_fine> },
             { "moreau lemke", make<lemke> } };
}

std::vector<Config> moreau_speed_configs()
{
    return { { "moreau tol 1e-3", make<tol3> },
             { "moreau tol 1e-6", make<tol6> },
             { "moreau tol 1e-10", make<tol10> },
             { "moreau sequential-impulses 10", make<impulses10> },
             { "moreau sequential-impulses 50", make<impulses50> },
             { "moreau soft-step 4", make<soft4> },
             { "moreau soft-step 16", make<soft16> },
             { "moreau xpbd 20", make<xpbd20> } };
}
