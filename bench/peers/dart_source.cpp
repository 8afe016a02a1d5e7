// DART's steps (Dantzig's method on boxed linear complementarity, as it comes; its own collision detector). A skeleton
// of one body per moving body, in DART's coordinates (twist in the axes of the body). The free velocity is that after
// its forces and before its impulses. Its contacts are one point with a normal from body 2 to body 1; its rows ask for
// a normal velocity of at least ERP depth/h, bounded. Planes are thick boxes: its detector has none.
#include "sources.h"

#include <cstring>
#include <dart/dart.hpp>

namespace
{

using namespace dart::dynamics;
using Eigen::Vector3d;

struct Dart : Source {
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<SkeletonPtr> skeletons;
    double h, mu;

    explicit Dart(const Scene& s) : h(s.h), mu(s.mu)
    {
        world->setTimeStep(h);
        world->setGravity(Vector3d(s.gravity.x, s.gravity.y, s.gravity.z));
        world->getConstraintSolver()->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
        for (const Body& b : s.bodies) add(b);
    }
    void add(const Body& b)
    {
        const mor_quat& q = b.pose.rotation;
        Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
        at.linear() = Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
        at.translation() = Vector3d(b.pose.position.x, b.pose.position.y, b.pose.position.z);
        ShapePtr shape;
        if (b.shape == ::Shape::sphere) shape = std::make_shared<SphereShape>(b.size[0]);
        else if (b.shape == ::Shape::box) shape = std::make_shared<BoxShape>(Vector3d(b.size[0], b.size[1], b.size[2]));
        else {
            shape = std::make_shared<BoxShape>(Vector3d(100, 100, 2));
            at.translation() -= at.linear().col(2);
        }
        SkeletonPtr skeleton = Skeleton::create("s" + std::to_string(world->getNumSkeletons()));
        BodyNode* node;
        if (b.fixed) {
            auto pair = skeleton->createJointAndBodyNodePair<WeldJoint>();
            pair.first->setTransformFromParentBodyNode(at);
            node = pair.second;
        } else {
            auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
            node = pair.second;
            node->setInertia(Inertia(b.mass, Vector3d::Zero(),
                                     Vector3d(b.inertia[0], b.inertia[1], b.inertia[2]).asDiagonal().toDenseMatrix()));
            pair.first->setTransform(at);
            Eigen::Vector6d twist;
            twist << b.spin.x, b.spin.y, b.spin.z, b.velocity.x, b.velocity.y, b.velocity.z;
            pair.first->setLinearVelocity(twist.tail<3>());
            pair.first->setAngularVelocity(twist.head<3>());
            skeletons.push_back(skeleton);
        }
        auto* made = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
        made->getDynamicsAspect()->setFrictionCoeff(mu);
        made->getDynamicsAspect()->setRestitutionCoeff(0);
        world->addSkeleton(skeleton);
    }
    struct Before {
        frames_link link;
        Eigen::VectorXd nu, free;
        Eigen::MatrixXd M;
        Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J; // linear, angular
    };
    Before state(const SkeletonPtr& s) const
    {
        Before b;
        BodyNode* node = s->getBodyNode(0);
        b.nu = s->getVelocities();
        b.M = s->getMassMatrix();
        dart::math::Jacobian J = s->getWorldJacobian(node); // angular, linear
        b.J.resize(6, J.cols());
        b.J.topRows(3) = J.bottomRows(3);
        b.J.bottomRows(3) = J.topRows(3);
        b.link = {};
        b.link.mass = node->getMass();
        Eigen::Matrix3d R = node->getTransform().linear();
        Eigen::Matrix<double, 3, 3, Eigen::RowMajor> I = R * node->getInertia().getMoment() * R.transpose();
        memcpy(b.link.inertia, I.data(), sizeof b.link.inertia);
        Eigen::Quaterniond q(R);
        const double w[4] = { q.w(), q.x(), q.y(), q.z() };
        memcpy(b.link.q, w, sizeof w);
        Vector3d x = node->getCOM(), v = node->getCOMLinearVelocity(), spin = node->getAngularVelocity();
        memcpy(b.link.x, x.data(), sizeof b.link.x);
        memcpy(b.link.v, v.data(), sizeof b.link.v);
        memcpy(b.link.w, spin.data(), sizeof b.link.w);
        return b;
    }
    // DART's World::step in its parts: velocities are read after the forces and after the impulses, before moving a free
    // joint turns its axes and with them its velocities.
    void step(frames* to) override
    {
        std::vector<Before> before;
        if (to)
            for (const SkeletonPtr& s : skeletons) before.push_back(state(s));
        for (const SkeletonPtr& s : skeletons) {
            s->computeForwardDynamics();
            s->integrateVelocities(h);
        }
        for (size_t i = 0; i < before.size(); i++) before[i].free = skeletons[i]->getVelocities();
        world->getConstraintSolver()->solve();
        for (const SkeletonPtr& s : skeletons) {
            if (!s->isImpulseApplied()) continue;
            s->computeImpulseForwardDynamics();
            s->setImpulseApplied(false);
        }
        if (to) store(to, world->getTime(), before);
        for (const SkeletonPtr& s : skeletons) {
            s->integratePositions(h);
            s->clearInternalForces();
            s->clearExternalForces();
            s->resetCommands();
        }
        world->setTime(world->getTime() + h);
    }
    int number(const dart::collision::CollisionObject* object) const
    {
        const auto* node = object->getShapeFrame()->asShapeNode();
        for (size_t i = 0; i < skeletons.size(); i++)
            if (skeletons[i] == node->getSkeleton()) return (int)i;
        return -1;
    }
    void store(frames* to, double time, const std::vector<Before>& before)
    {
        using Law = dart::constraint::ContactConstraint;
        frames_begin(to, time, h);
        for (size_t i = 0; i < skeletons.size(); i++) {
            const Before& b = before[i];
            Eigen::VectorXd end = skeletons[i]->getVelocities();
            int tree = frames_tree(to, (int)b.nu.size(), b.M.data(), b.nu.data(), b.free.data(), end.data());
            frames_add_link(to, tree, &b.link, b.J.data());
        }
        const auto& result = world->getConstraintSolver()->getLastCollisionResult();
        for (size_t i = 0; i < result.getNumContacts(); i++) {
            const auto& from = result.getContact(i);
            frames_contact c = {};
            c.body[0] = number(from.collisionObject1);
            c.body[1] = number(from.collisionObject2);
            if (c.body[0] < 0 && c.body[1] < 0) continue; // two walls
            c.gap = -from.penetrationDepth;
            c.mu = mu;
            double over = std::max(from.penetrationDepth - Law::getErrorAllowance(), 0.0);
            c.recovery = std::min(over * Law::getErrorReductionParameter() / h, Law::getMaxErrorReductionVelocity());
            for (int k = 0; k < 3; k++) {
                c.point[0][k] = c.point[1][k] = from.point[k];
                c.normal[k] = -from.normal[k];
                c.impulse[k] = -h * from.force[k];
            }
            frames_add_contact(to, &c);
        }
        frames_end(to);
    }
};

} // namespace

SourceKind dart_source()
{
    return { "dart", "dantzig", DART_VERSION,
             1e-9,   false,     [](const Scene& s) -> std::unique_ptr<Source> { return std::make_unique<Dart>(s); } };
}
