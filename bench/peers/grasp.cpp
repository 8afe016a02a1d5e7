// Fig. 1 of the RPIsim paper with Bullet itself: the hand and the goblet of scenes/control/goblet.yaml as Bullet's rigid bodies with
// hinges, at h = 0.016 s.
//
//     bench_grasp [-o grasp-bullet.csv]
//
// Links, shapes, masses and hinges are those of the scene. Every hinge is a btHingeConstraint and every closed linkage a
// btPoint2PointConstraint: maximal coordinates, as in the paper. The motions are those of the same grasp by `ncp`, which runs beside it:
// motors of the arm follow its joint angles with at most 400 N m (the effort of the URDF), those of the cranks follow it until the pads
// touch and then close on with the 2 N m that the scene's controllers give there. Everything else is Bullet's default: 10 passes, warm
// starts, error reduction. The second run makes 200 passes.
//
// Told: how far the goblet slips in the hand after 1.5 s, whether it is held at the end, how far the hinges come apart.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "model/joint_places.h"
#include "moreau/moreau.h"
#include "moreau/scene.h"
}

namespace
{

const double closed = 1.5, end = 6.0, arm_torque = 400.0, crank_torque = 2.0;

btVector3 vector(mor_vec3 v) { return btVector3((btScalar)v.x, (btScalar)v.y, (btScalar)v.z); }
btTransform transform(const mor_pose& p)
{
    return btTransform(
        btQuaternion((btScalar)p.rotation.x, (btScalar)p.rotation.y, (btScalar)p.rotation.z, (btScalar)p.rotation.w),
        vector(p.position));
}

std::unique_ptr<btCollisionShape> shape_of(const mor_geometry* g)
{
    std::unique_ptr<btCollisionShape> out;
    if (g->kind == MOR_PLANE) out = std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0);
    else if (g->kind == MOR_CYLINDER)
        out = std::make_unique<btCylinderShapeZ>(
            btVector3((btScalar)g->size[0], (btScalar)g->size[0], (btScalar)(0.5 * g->size[1])));
    else if (g->polyhedron && g->polyhedron->is_box) out = std::make_unique<btBoxShape>(vector(g->polyhedron->half));
    else if (g->polyhedron) {
        auto hull = std::make_unique<btConvexHullShape>();
        for (int v = 0; v < g->polyhedron->vertex_count; v++) hull->addPoint(vector(g->polyhedron->vertices[v]), false);
        hull->recalcLocalAabb();
        out = std::move(hull);
    }
    if (out && g->kind != MOR_PLANE) out->setMargin(0.001f);
    return out;
}

struct Joint {
    std::string name;
    std::unique_ptr<btHingeConstraint> hinge;
    std::unique_ptr<btPoint2PointConstraint> loop;
    int a, b, place;
    btVector3 at[2]; // in the frames of the bodies
    double start;    // angle of the scene at the beginning
};

struct Grasp {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{ &dispatcher, &broadphase, &solver, &configuration };
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<btTransform> inside; // Bullet's frame (centre of mass, principal axes) in the body frame
    std::vector<Joint> joints;

    btTransform frame(int i) const { return bodies[(size_t)i]->getWorldTransform() * inside[(size_t)i].inverse(); }

    void add_body(mor_world* w, int i)
    {
        mor_body_id id = mor_world_body(w, i);
        mor_mass m = mor_body_mass(w, id);
        bool moves = mor_body_get_kind(w, id) == MOR_DYNAMIC && std::strcmp(mor_body_name(w, id), "hand/base") != 0;
        btMatrix3x3 inertia, axes = btMatrix3x3::getIdentity();
        for (int r = 0; r < 3; r++)
            inertia[r].setValue((btScalar)m.inertia.m[r][0], (btScalar)m.inertia.m[r][1], (btScalar)m.inertia.m[r][2]);
        if (moves) inertia.diagonalize(axes, 1e-12f, 50);
        inside.push_back(btTransform(axes, moves ? vector(m.com) : btVector3(0, 0, 0)));
        auto compound = std::make_unique<btCompoundShape>();
        btCollisionShape* shape = compound.get();
        for (int k = 0; k < mor_body_shape_count(w, id); k++) {
            mor_body_shape s = mor_body_get_shape(w, id, k);
            auto one = shape_of(s.geometry);
            if (!one) continue;
            if (s.geometry->kind == MOR_PLANE) shape = one.get();
            else compound->addChildShape(inside.back().inverse() * transform(s.pose), one.get());
            shapes.push_back(std::move(one));
        }
        shapes.push_back(std::move(compound));
        btVector3 diagonal(inertia[0][0], inertia[1][1], inertia[2][2]);
        btRigidBody::btRigidBodyConstructionInfo info(moves ? (btScalar)m.mass : 0, nullptr, shape,
                                                      moves ? diagonal : btVector3(0, 0, 0));
        info.m_startWorldTransform = transform(mor_body_get_state(w, id).pose) * inside.back();
        const char* name = mor_body_name(w, id);
        bool hand = std::strncmp(name, "hand/", 5) == 0, goblet = std::strncmp(name, "goblet", 6) == 0;
        info.m_friction = (btScalar)(hand || goblet ? std::sqrt(0.9) : 0.7); // Bullet multiplies: 0.9 in the hand
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        // links of the hand do not collide with each other
        world.addRigidBody(bodies.back().get(), hand ? 2 : 1, hand ? 1 : 3);
    }

    Grasp(mor_world* w, int passes)
    {
        world.setGravity(btVector3(0, 0, -9.81f));
        world.getSolverInfo().m_numIterations = passes;
        for (int i = 0; i < mor_world_body_count(w); i++) add_body(w, i);
        std::vector<mor_joint_place> places((size_t)mor_joint_places(w, nullptr));
        std::vector<double> positions(places.size());
        mor_joint_places(w, places.data());
        mor_joint_positions(w, positions.data());
        for (size_t k = 0; k < places.size(); k++) {
            const mor_joint_place& p = places[k];
            if (p.kind != MOR_JOINT_REVOLUTE) continue;
            Joint j;
            j.name = p.name;
            j.place = (int)k, j.a = p.body[0], j.b = p.body[1], j.start = positions[k];
            btTransform f[2];
            for (int s = 0; s < 2; s++) { // z of the frame along the axis, the same x at the start
                j.at[s] = vector(p.point[s]);
                btTransform back = inside[(size_t)p.body[s]].inverse();
                btVector3 z = (frame(p.body[0]).getBasis() * vector(p.axis[0])).normalized(), x, y;
                btPlaneSpace1(z, x, y);
                btMatrix3x3 basis(x.x(), y.x(), z.x(), x.y(), y.y(), z.y(), x.z(), y.z(), z.z());
                btMatrix3x3 local = frame(p.body[s]).getBasis().transpose() * basis;
                f[s] = back * btTransform(local, j.at[s]);
            }
            j.hinge = std::make_unique<btHingeConstraint>(*bodies[(size_t)j.a], *bodies[(size_t)j.b], f[0], f[1]);
            world.addConstraint(j.hinge.get(), true);
            joints.push_back(std::move(j));
        }
        for (int finger = 1; finger <= 3; finger++) { // as in the scene
            std::string name = "hand/finger" + std::to_string(finger);
            Joint j;
            j.name = name + "_loop";
            j.place = -1, j.start = 0.0;
            j.a = find(w, name + "_follower_link"), j.b = find(w, name + "_pad_link");
            j.at[0] = btVector3(0, 0, -0.05f), j.at[1] = btVector3(0.02f, 0, 0);
            j.loop = std::make_unique<btPoint2PointConstraint>(*bodies[(size_t)j.a], *bodies[(size_t)j.b],
                                                               inside[(size_t)j.a].inverse() * j.at[0],
                                                               inside[(size_t)j.b].inverse() * j.at[1]);
            world.addConstraint(j.loop.get(), true);
            joints.push_back(std::move(j));
        }
    }
    ~Grasp()
    {
        for (auto& j : joints)
            world.removeConstraint(j.hinge ? (btTypedConstraint*)j.hinge.get() : (btTypedConstraint*)j.loop.get());
        for (auto& b : bodies) world.removeRigidBody(b.get());
    }
    static int find(mor_world* w, const std::string& name)
    {
        for (int i = 0; i < mor_world_body_count(w); i++)
            if (name == mor_body_name(w, mor_world_body(w, i))) return i;
        std::fprintf(stderr, "bench_grasp: no body %s\n", name.c_str());
        std::exit(2);
    }
    // Angles of Bullet's hinges are counted from the start.
    void step(const std::vector<double>& wanted, double t, double h)
    {
        for (Joint& j : joints) {
            if (!j.hinge) continue;
            bool crank = j.name.find("_crank") != std::string::npos;
            bool arm = j.name.find("finger") == std::string::npos;
            if (!crank && !arm) continue;
            double angle = wanted[(size_t)j.place] - j.start;
            if (crank && t > 0.8) angle = -j.start; // the target of the controller, which it does not reach
            double off = angle - (double)j.hinge->getHingeAngle();
            j.hinge->enableAngularMotor(true, (btScalar)(off / h), (btScalar)((arm ? arm_torque : crank_torque) * h));
        }
        world.stepSimulation((btScalar)h, 0, (btScalar)h);
    }
    double apart() const
    {
        double most = 0.0;
        for (const Joint& j : joints)
            most = std::fmax(most, (double)(frame(j.a) * j.at[0]).distance(frame(j.b) * j.at[1]));
        return most;
    }
};

} // namespace

int main(int argc, char** argv)
{
    const char* path = argc > 2 && std::strcmp(argv[1], "-o") == 0 ? argv[2] : nullptr;
    FILE* out = path ? std::fopen(path, "w") : nullptr;
    if (out) std::fprintf(out, "method,time_s,height_m,slip_m,joint_error\n");
    const int passes[] = { 10, 200 };
    for (int run = 0; run < 2; run++) {
        mor_error error = {};
        const char* sets[] = { "method.formulation.name=ncp", nullptr };
        mor_scene* scene = mor_scene_load(MOREAU_SCENES "/control/goblet.yaml", sets, nullptr, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : nullptr;
        if (!w) {
            std::fprintf(stderr, "bench_grasp: %s\n", error.text);
            return 2;
        }
        Grasp g(w, passes[run]);
        int goblet = Grasp::find(w, "goblet/goblet"), palm = Grasp::find(w, "hand/tool");
        double h = mor_world_get_step(w), slip = 0.0, worst = 0.0, apart = 0.0, height = 0.0;
        std::vector<double> wanted((size_t)mor_joint_places(w, nullptr));
        btVector3 held(0, 0, 0);
        bool holding = false;
        for (double t = h; t < end; t += h) {
            if (mor_world_step(w, nullptr, &error)) break;
            mor_joint_positions(w, wanted.data());
            g.step(wanted, t, h);
            btVector3 inside = g.bodies[(size_t)palm]->getWorldTransform().inverse() *
                               g.bodies[(size_t)goblet]->getWorldTransform().getOrigin();
            if (t >= closed && !holding) held = inside, holding = true;
            slip = holding ? (double)inside.distance(held) : 0.0;
            worst = std::fmax(worst, slip);
            apart = std::fmax(apart, g.apart());
            height = (double)g.bodies[(size_t)goblet]->getWorldTransform().getOrigin().z();
            if (out) std::fprintf(out, "bullet-%d,%.9g,%.9g,%.6e,%.6e\n", passes[run], t, height, slip, g.apart());
        }
        double moreau = mor_body_get_state(w, mor_world_body(w, goblet)).com.z;
        std::printf(
            "Bullet " BULLET_VERSION
            ", %d passes: %s; slip in the hand up to %.1e m, hinges and loops apart by up to %.1e m, height at the "
            "end %.3f m (ncp %.3f m)\n",
            passes[run], slip < 0.02 ? "held to the end" : "lost", worst, apart, height, moreau);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    if (out && std::fclose(out) != 0) return 3;
    return 0;
}
