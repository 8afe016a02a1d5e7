// Bullet (single precision in Debian): sequential impulses, sleeping off. It multiplies friction
// coefficients, so each body has sqrt(mu).
#include "engine.h"

#include <btBulletDynamicsCommon.h>

namespace
{

struct Bullet : Engine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{ &dispatcher, &broadphase, &solver, &configuration };
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btHingeConstraint>> hinges;
    double h;

    Bullet(const Scene& s, int iterations) : h(s.h)
    {
        world.setGravity(btVector3((btScalar)s.gravity.x, (btScalar)s.gravity.y, (btScalar)s.gravity.z));
        world.getSolverInfo().m_numIterations = iterations;
        for (const Body& b : s.bodies) {
            const mor_pose& p = b.pose;
            btTransform at(btQuaternion((btScalar)p.rotation.x, (btScalar)p.rotation.y, (btScalar)p.rotation.z,
                                        (btScalar)p.rotation.w),
                           btVector3((btScalar)p.position.x, (btScalar)p.position.y, (btScalar)p.position.z));
            btCollisionShape* shape;
            if (b.shape == Shape::sphere) shape = new btSphereShape((btScalar)b.size[0]);
            else if (b.shape == Shape::box)
                shape = new btBoxShape(btVector3((btScalar)b.size[0], (btScalar)b.size[1], (btScalar)b.size[2]) * 0.5f);
            else if (b.shape == Shape::hull) {
                auto* hull = new btConvexHullShape;
                for (int v = 0; v < b.hull->vertex_count; v++) {
                    const mor_vec3& x = b.hull->vertices[v];
                    hull->addPoint(btVector3((btScalar)x.x, (btScalar)x.y, (btScalar)x.z), false);
                }
                hull->recalcLocalAabb();
                shape = hull;
            } else shape = new btStaticPlaneShape(btVector3(0, 0, 1), 0);
            shapes.emplace_back(shape);
            btVector3 inertia(0, 0, 0);
            if (!b.fixed) inertia = btVector3((btScalar)b.inertia[0], (btScalar)b.inertia[1], (btScalar)b.inertia[2]);
            btRigidBody::btRigidBodyConstructionInfo info((btScalar)b.mass, nullptr, shape, inertia);
            info.m_startWorldTransform = at;
            info.m_friction = (btScalar)sqrt(s.mu);
            bodies.push_back(std::make_unique<btRigidBody>(info));
            bodies.back()->setActivationState(DISABLE_DEACTIVATION);
            bodies.back()->setLinearVelocity(
                btVector3((btScalar)b.velocity.x, (btScalar)b.velocity.y, (btScalar)b.velocity.z));
            bodies.back()->setAngularVelocity(btVector3((btScalar)b.spin.x, (btScalar)b.spin.y, (btScalar)b.spin.z));
            world.addRigidBody(bodies.back().get());
        }
        for (const Hinge& j : s.hinges) {
            auto local = [&](int i, mor_vec3 x, bool point) {
                const mor_pose& p = s.bodies[i].pose;
                mor_vec3 y = mor_unrotate(p.rotation, point ? mor_sub(x, p.position) : x);
                return btVector3((btScalar)y.x, (btScalar)y.y, (btScalar)y.z);
            };
            int a = j.body[0] >= 0 ? j.body[0] : j.body[1], b = j.body[0] >= 0 ? j.body[1] : -1;
            if (b < 0)
                hinges.push_back(
                    std::make_unique<btHingeConstraint>(*bodies[a], local(a, j.point, true), local(a, j.axis, false)));
            else
                hinges.push_back(std::make_unique<btHingeConstraint>(*bodies[a], *bodies[b], local(a, j.point, true),
                                                                     local(b, j.point, true), local(a, j.axis, false),
                                                                     local(b, j.axis, false)));
            world.addConstraint(hinges.back().get(), true);
        }
    }
    ~Bullet() override
    {
        for (auto& j : hinges) world.removeConstraint(j.get());
        for (auto& b : bodies) world.removeRigidBody(b.get());
    }
    bool step() override
    {
        world.stepSimulation((btScalar)h, 0, (btScalar)h);
        return true;
    }
    mor_pose pose(int i) const override
    {
        const btTransform& t = bodies[i]->getWorldTransform();
        btQuaternion q = t.getRotation();
        return { { t.getOrigin().x(), t.getOrigin().y(), t.getOrigin().z() }, { q.w(), q.x(), q.y(), q.z() } };
    }
    mor_vec3 velocity(int i) const override
    {
        const btVector3& v = bodies[i]->getLinearVelocity();
        return mor_v3(v.x(), v.y(), v.z());
    }
    mor_vec3 spin(int i) const override
    {
        const btVector3& w = bodies[i]->getAngularVelocity();
        return mor_v3(w.x(), w.y(), w.z());
    }
};

template <int iterations> std::unique_ptr<Engine> make(const Scene& s, const char*, const std::vector<std::string>&)
{
    return std::make_unique<Bullet>(s, iterations);
}

} // namespace

std::vector<Config> bullet_configs() { return { { "Bullet SI 10", make<10> }, { "Bullet SI 200", make<200> } }; }
