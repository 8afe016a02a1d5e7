// DART behind the benchmark's interface: its own collision detector (planes become large boxes, which it knows), its
// boxed LCP by Dantzig's method, no restitution.
#include "engine.h"

#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dart.hpp>

#include <stdexcept>

namespace
{

const double wide = 100.0; // of the boxes that stand for planes [m]

struct Dart : Engine {
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<dart::dynamics::BodyNode*> nodes;
    std::vector<bool> fixed;

    static Eigen::Isometry3d at(const mor_pose& p)
    {
        Eigen::Isometry3d t = Eigen::Isometry3d::Identity();
        t.linear() =
            Eigen::Quaterniond(p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z).normalized().toRotationMatrix();
        t.translation() = Eigen::Vector3d(p.position.x, p.position.y, p.position.z);
        return t;
    }

    explicit Dart(const Scene& s)
    {
        world->setTimeStep(s.h);
        world->setGravity(Eigen::Vector3d(s.gravity.x, s.gravity.y, s.gravity.z));
        world->getConstraintSolver()->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
        for (const Body& b : s.bodies) {
            auto skeleton = dart::dynamics::Skeleton::create("body " + std::to_string(nodes.size()));
            Eigen::Isometry3d t = at(b.pose);
            dart::dynamics::ShapePtr shape;
            if (b.shape == Shape::sphere) shape = std::make_shared<dart::dynamics::SphereShape>(b.size[0]);
            else if (b.shape == Shape::box)
                shape = std::make_shared<dart::dynamics::BoxShape>(Eigen::Vector3d(b.size[0], b.size[1], b.size[2]));
            else if (b.shape == Shape::plane) {
                shape = std::make_shared<dart::dynamics::BoxShape>(Eigen::Vector3d(wide, wide, 2));
                t.translate(Eigen::Vector3d(0, 0, -1));
            } else throw std::runtime_error("hulls are not compared here");
            dart::dynamics::BodyNode* node;
            if (b.fixed) {
                auto pair = skeleton->createJointAndBodyNodePair<dart::dynamics::WeldJoint>();
                pair.first->setTransformFromParentBodyNode(t);
                node = pair.second;
            } else {
                auto pair = skeleton->createJointAndBodyNodePair<dart::dynamics::FreeJoint>();
                node = pair.second;
                node->setInertia(
                    dart::dynamics::Inertia(b.mass, Eigen::Vector3d::Zero(),
                                            Eigen::Vector3d(b.inertia[0], b.inertia[1], b.inertia[2]).asDiagonal()));
                Eigen::Vector6d v;
                v << b.spin.x, b.spin.y, b.spin.z, b.velocity.x, b.velocity.y, b.velocity.z;
                pair.first->setTransform(t);
                pair.first->setSpatialVelocity(v, dart::dynamics::Frame::World(), dart::dynamics::Frame::World());
            }
            auto* part =
                node->createShapeNodeWith<dart::dynamics::CollisionAspect, dart::dynamics::DynamicsAspect>(shape);
            part->getDynamicsAspect()->setFrictionCoeff(s.mu);
            part->getDynamicsAspect()->setRestitutionCoeff(0);
            world->addSkeleton(skeleton);
            nodes.push_back(node);
        }
    }
    bool step() override
    {
        world->step();
        return true;
    }
    mor_pose pose(int i) const override
    {
        const Eigen::Isometry3d& t = nodes[i]->getTransform();
        Eigen::Quaterniond q(t.linear());
        return { { t.translation().x(), t.translation().y(), t.translation().z() }, { q.w(), q.x(), q.y(), q.z() } };
    }
    mor_vec3 velocity(int i) const override
    {
        Eigen::Vector3d v = nodes[i]->getLinearVelocity();
        return mor_v3(v.x(), v.y(), v.z());
    }
    mor_vec3 spin(int i) const override
    {
        Eigen::Vector3d w = nodes[i]->getAngularVelocity();
        return mor_v3(w.x(), w.y(), w.z());
    }
};

std::unique_ptr<Engine> make(const Scene& s, const char*, const std::vector<std::string>&)
{
    return std::make_unique<Dart>(s);
}

} // namespace

std::vector<Config> dart_configs() { return { { "DART", make } }; }
