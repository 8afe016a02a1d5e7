// Bullet's steps (sequential impulses, 10 iterations as it comes; single precision in Debian). Bullet's contacts have a
// point on each body and a normal from B to A; its rows ask for a normal velocity of at least -distance/h while apart,
// ERP depth/h in penetration (0 below its threshold for split impulses, which push positions only). It has one friction
// direction per contact, along the slip. Contacts keep the impulses of the last solve.
#include "sources.h"

#include <algorithm>
#include <btBulletDynamicsCommon.h>

namespace
{

void put(const btVector3& v, double* to)
{
    for (int k = 0; k < 3; k++) to[k] = v[k];
}

struct Bullet : Source {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{ &dispatcher, &broadphase, &solver, &configuration };
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    double h, mu, time = 0;

    explicit Bullet(const Scene& s) : h(s.h), mu(s.mu)
    {
        world.setGravity(btVector3((btScalar)s.gravity.x, (btScalar)s.gravity.y, (btScalar)s.gravity.z));
        for (const Body& b : s.bodies) add(b);
    }
    void add(const Body& b)
    {
        auto vector = [](double x, double y, double z) { return btVector3((btScalar)x, (btScalar)y, (btScalar)z); };
        const mor_pose& p = b.pose;
        btTransform at(btQuaternion((btScalar)p.rotation.x, (btScalar)p.rotation.y, (btScalar)p.rotation.z,
                                    (btScalar)p.rotation.w),
                       vector(p.position.x, p.position.y, p.position.z));
        btCollisionShape* shape;
        if (b.shape == Shape::sphere) shape = new btSphereShape((btScalar)b.size[0]);
        else if (b.shape == Shape::box) shape = new btBoxShape(vector(b.size[0], b.size[1], b.size[2]) * 0.5f);
        else if (b.shape == Shape::plane) shape = new btStaticPlaneShape(btVector3(0, 0, 1), 0);
        else {
            auto* hull = new btConvexHullShape;
            for (int v = 0; v < b.hull->vertex_count; v++)
                hull->addPoint(vector(b.hull->vertices[v].x, b.hull->vertices[v].y, b.hull->vertices[v].z), false);
            hull->recalcLocalAabb();
            shape = hull;
        }
        shapes.emplace_back(shape);
        btVector3 inertia = b.fixed ? btVector3(0, 0, 0) : vector(b.inertia[0], b.inertia[1], b.inertia[2]);
        btRigidBody::btRigidBodyConstructionInfo info((btScalar)b.mass, nullptr, shape, inertia);
        info.m_startWorldTransform = at;
        info.m_friction = (btScalar)sqrt(mu); // Bullet multiplies the two
        bodies.push_back(std::make_unique<btRigidBody>(info));
        btRigidBody& body = *bodies.back();
        body.setActivationState(DISABLE_DEACTIVATION);
        body.setLinearVelocity(vector(b.velocity.x, b.velocity.y, b.velocity.z));
        body.setAngularVelocity(vector(b.spin.x, b.spin.y, b.spin.z));
        body.setUserIndex(-1);
        if (!b.fixed) body.setUserIndex(moving++);
        world.addRigidBody(&body);
    }
    int moving = 0;
    ~Bullet() override
    {
        for (auto& b : bodies) world.removeRigidBody(b.get());
    }
    struct Before {
        frames_link link;
        double free[6];
    };
    Before state(const btRigidBody& b) const
    {
        Before s = {};
        const btMatrix3x3& B = b.getWorldTransform().getBasis();
        const btVector3& local = b.getInvInertiaDiagLocal();
        double R[9], d[3];
        for (int k = 0; k < 9; k++) R[k] = B[k / 3][k % 3];
        for (int k = 0; k < 3; k++) d[k] = 1.0 / local[k];
        rotated(R, d, s.link.inertia);
        s.link.mass = 1.0 / b.getInvMass();
        put(b.getWorldTransform().getOrigin(), s.link.x);
        btQuaternion q = b.getWorldTransform().getRotation();
        s.link.q[0] = q.w(), s.link.q[1] = q.x(), s.link.q[2] = q.y(), s.link.q[3] = q.z();
        put(b.getLinearVelocity(), s.link.v);
        put(b.getAngularVelocity(), s.link.w);
        put(b.getLinearVelocity() + b.getGravity() * (btScalar)h, s.free);
        put(b.getAngularVelocity() + b.computeGyroscopicImpulseImplicit_Body((btScalar)h), s.free + 3);
        return s;
    }
    void step(frames* to) override
    {
        std::vector<Before> before;
        for (auto& b : bodies)
            if (b->getUserIndex() >= 0) before.push_back(state(*b));
        world.stepSimulation((btScalar)h, 0, (btScalar)h);
        if (to) store(to, before);
        time += h;
    }
    void store(frames* to, const std::vector<Before>& before)
    {
        frames_begin(to, time, h);
        for (auto& b : bodies) {
            if (b->getUserIndex() < 0) continue;
            double end[6];
            put(b->getLinearVelocity(), end);
            put(b->getAngularVelocity(), end + 3);
            const Before& s = before[(size_t)b->getUserIndex()];
            frames_body(to, &s.link, s.free, end);
        }
        for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
            const btPersistentManifold* m = dispatcher.getManifoldByIndexInternal(i);
            for (int k = 0; k < m->getNumContacts(); k++) contact(to, *m, m->getContactPoint(k));
        }
        frames_end(to);
    }
    void contact(frames* to, const btPersistentManifold& m, const btManifoldPoint& p)
    {
        const btContactSolverInfo& info = world.getSolverInfo();
        frames_contact c = {};
        c.body[0] = m.getBody0()->getUserIndex();
        c.body[1] = m.getBody1()->getUserIndex();
        put(p.getPositionWorldOnA(), c.point[0]);
        put(p.getPositionWorldOnB(), c.point[1]);
        put(-p.m_normalWorldOnB, c.normal);
        c.gap = p.getDistance();
        c.mu = p.m_combinedFriction;
        c.apart = 1;
        bool split = info.m_splitImpulse && c.gap <= info.m_splitImpulsePenetrationThreshold;
        c.recovery = c.gap < 0 && !split ? -info.m_erp2 * c.gap / h : 0;
        put(-(p.m_normalWorldOnB * p.m_appliedImpulse + p.m_lateralFrictionDir1 * p.m_appliedImpulseLateral1),
            c.impulse);
        frames_add_contact(to, &c);
    }
};

} // namespace

SourceKind bullet_source()
{
    return { "bullet",       "sequential-impulse",
             BULLET_VERSION, 1e-5,
             true,           [](const Scene& s) -> std::unique_ptr<Source> { return std::make_unique<Bullet>(s); } };
}
