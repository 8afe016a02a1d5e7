// ODE: boxes beside a hull are convex bodies too, as its convex-box test finds nothing. ERP 0.2, CFM 1e-10, friction
// pyramid (dContactApprox1), at most 16 contacts per pair, hash space.
#include "engine.h"

#include <cstdarg>
#include <ode/ode.h>

namespace
{

int messages; // ODE has one handler for the process

void count(int, const char*, va_list) { messages++; }

// A dConvex keeps pointers to its data.
struct Convex {
    std::vector<dReal> planes, points;
    std::vector<unsigned> polygons;

    explicit Convex(const mor_polyhedron& P)
    {
        for (int f = 0; f < P.face_count; f++) {
            planes.insert(planes.end(), { P.normals[f].x, P.normals[f].y, P.normals[f].z, P.offsets[f] });
            polygons.push_back((unsigned)(P.face_start[f + 1] - P.face_start[f]));
            for (int k = P.face_start[f]; k < P.face_start[f + 1]; k++)
                polygons.push_back((unsigned)P.face_vertices[k]);
        }
        for (int v = 0; v < P.vertex_count; v++)
            points.insert(points.end(), { P.vertices[v].x, P.vertices[v].y, P.vertices[v].z });
    }
};

struct Ode : Engine {
    std::vector<std::unique_ptr<Convex>> hulls;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    std::vector<dBodyID> bodies;
    std::vector<mor_pose> fixed;
    double h, mu;
    int iterations; // 0: dWorldStep

    Ode(const Scene& s, int iterations_) : h(s.h), mu(s.mu), iterations(iterations_)
    {
        static bool started = (dInitODE2(0), dAllocateODEDataForThread(dAllocateMaskAll), true);
        (void)started;
        dSetMessageHandler(count);
        messages = 0;
        dRandSetSeed(0); // QuickStep draws its order of rows from it
        world = dWorldCreate();
        space = dHashSpaceCreate(nullptr);
        group = dJointGroupCreate(0);
        dWorldSetGravity(world, s.gravity.x, s.gravity.y, s.gravity.z);
        dWorldSetERP(world, 0.2);
        dWorldSetCFM(world, 1e-10);
        if (iterations) dWorldSetQuickStepNumIterations(world, iterations);
        for (const Body& b : s.bodies) {
            fixed.push_back(b.pose);
            const mor_pose& p = b.pose;
            if (b.shape == Shape::plane) {
                mor_vec3 n = mor_rotate(p.rotation, mor_v3(0, 0, 1));
                dCreatePlane(space, n.x, n.y, n.z, mor_dot(n, p.position));
                bodies.push_back(nullptr);
                continue;
            }
            dGeomID geom;
            if (b.shape == Shape::sphere) {
                geom = dCreateSphere(space, b.size[0]);
            } else if (!s.hulls) {
                geom = dCreateBox(space, b.size[0], b.size[1], b.size[2]);
            } else {
                hulls.push_back(std::make_unique<Convex>(*b.hull));
                Convex& c = *hulls.back();
                geom = dCreateConvex(space, c.planes.data(), (unsigned)c.planes.size() / 4, c.points.data(),
                                     (unsigned)c.points.size() / 3, c.polygons.data());
            }
            const dReal q[4] = { p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z };
            dBodyID body = nullptr;
            if (!b.fixed) {
                body = dBodyCreate(world);
                dMass mass;
                if (b.shape == Shape::sphere) dMassSetSphereTotal(&mass, b.mass, b.size[0]);
                else if (b.shape == Shape::box) dMassSetBoxTotal(&mass, b.mass, b.size[0], b.size[1], b.size[2]);
                else dMassSetParameters(&mass, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
                dBodySetMass(body, &mass);
                dGeomSetBody(geom, body);
                dBodySetLinearVel(body, b.velocity.x, b.velocity.y, b.velocity.z);
                dBodySetAngularVel(body, b.spin.x, b.spin.y, b.spin.z);
            }
            dGeomSetPosition(geom, p.position.x, p.position.y, p.position.z);
            dGeomSetQuaternion(geom, q);
            bodies.push_back(body);
        }
        for (const Hinge& j : s.hinges) {
            dJointID joint = dJointCreateHinge(world, nullptr);
            auto at = [&](int i) { return i < 0 ? nullptr : bodies[i]; };
            dJointAttach(joint, at(j.body[0]), at(j.body[1]));
            dJointSetHingeAnchor(joint, j.point.x, j.point.y, j.point.z);
            dJointSetHingeAxis(joint, j.axis.x, j.axis.y, j.axis.z);
        }
    }
    ~Ode() override
    {
        dJointGroupDestroy(group);
        dSpaceDestroy(space);
        dWorldDestroy(world);
    }
    static void near(void* data, dGeomID a, dGeomID b)
    {
        Ode* o = (Ode*)data;
        dBodyID one = dGeomGetBody(a), two = dGeomGetBody(b);
        if ((!one && !two) || (one && two && dAreConnected(one, two))) return;
        dContact contacts[16];
        int n = dCollide(a, b, 16, &contacts[0].geom, sizeof(dContact));
        for (int i = 0; i < n; i++) {
            contacts[i].surface.mode = dContactApprox1;
            contacts[i].surface.mu = o->mu;
            dJointAttach(dJointCreateContact(o->world, o->group, &contacts[i]), one, two);
        }
    }
    bool step() override
    {
        dSpaceCollide(space, this, near);
        bool good = iterations ? dWorldQuickStep(world, h) : dWorldStep(world, h);
        dJointGroupEmpty(group);
        return good;
    }
    mor_pose pose(int i) const override
    {
        if (!bodies[i]) return fixed[i];
        const dReal *p = dBodyGetPosition(bodies[i]), *q = dBodyGetQuaternion(bodies[i]);
        return { { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } };
    }
    std::string notes() const override
    {
        return messages ? "(" + std::to_string(messages) + " messages \"LCP internal error\")" : "";
    }
    mor_vec3 velocity(int i) const override
    {
        if (!bodies[i]) return mor_v3(0, 0, 0);
        const dReal* v = dBodyGetLinearVel(bodies[i]);
        return mor_v3(v[0], v[1], v[2]);
    }
    mor_vec3 spin(int i) const override
    {
        if (!bodies[i]) return mor_v3(0, 0, 0);
        const dReal* w = dBodyGetAngularVel(bodies[i]);
        return mor_v3(w[0], w[1], w[2]);
    }
};

template <int iterations> std::unique_ptr<Engine> make(const Scene& s, const char*, const std::vector<std::string>&)
{
    return std::make_unique<Ode>(s, iterations);
}

} // namespace

std::vector<Config> ode_configs()
{
    return { { "ODE dWorldStep", make<0> }, { "ODE QuickStep 20", make<20> }, { "ODE QuickStep 200", make<200> } };
}
