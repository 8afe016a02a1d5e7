// ODE's steps (QuickStep, 20 iterations as it comes): the free velocity is that of a twin world that has the same bodies
// in the same state and no contacts, so ODE's own gyroscopic terms are in it. ODE's contacts are one point with a normal
// into body 1; its rows ask for a normal velocity of at least ERP depth/h. Impulses are its joint feedback times h.
#include "sources.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <ode/ode.h>

namespace
{

const double erp = 0.2;

void quiet(int, const char*, va_list) {}

struct Found {
    dContact contact;
    int body[2];
    dJointFeedback feedback;
};

struct Ode : Source {
    dWorldID world, twin;
    dSpaceID space;
    dJointGroupID group;
    std::vector<dBodyID> bodies, twins; // those that move
    std::vector<Found> found;
    double h, mu, time = 0;

    explicit Ode(const Scene& s) : h(s.h), mu(s.mu)
    {
        static bool started = (dInitODE2(0), dAllocateODEDataForThread(dAllocateMaskAll), true);
        (void)started;
        dSetMessageHandler(quiet);
        dRandSetSeed(0);
        world = dWorldCreate();
        twin = dWorldCreate();
        space = dHashSpaceCreate(nullptr);
        group = dJointGroupCreate(0);
        for (dWorldID w : { world, twin }) {
            dWorldSetGravity(w, s.gravity.x, s.gravity.y, s.gravity.z);
            dWorldSetERP(w, erp);
            dWorldSetCFM(w, 1e-10);
            dWorldSetQuickStepNumIterations(w, 20);
        }
        for (const Body& b : s.bodies) add(b);
    }
    void add(const Body& b)
    {
        const mor_pose& p = b.pose;
        if (b.shape == Shape::plane) {
            mor_vec3 n = mor_rotate(p.rotation, mor_v3(0, 0, 1));
            dCreatePlane(space, n.x, n.y, n.z, mor_dot(n, p.position));
            return;
        }
        dGeomID geom = b.shape == Shape::sphere ? dCreateSphere(space, b.size[0])
                                                : dCreateBox(space, b.size[0], b.size[1], b.size[2]);
        const dReal q[4] = { p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z };
        if (!b.fixed) {
            dMass mass;
            dMassSetParameters(&mass, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
            for (dWorldID w : { world, twin }) {
                dBodyID body = dBodyCreate(w);
                dBodySetMass(body, &mass);
                dBodySetPosition(body, p.position.x, p.position.y, p.position.z);
                dBodySetQuaternion(body, q);
                dBodySetLinearVel(body, b.velocity.x, b.velocity.y, b.velocity.z);
                dBodySetAngularVel(body, b.spin.x, b.spin.y, b.spin.z);
                (w == world ? bodies : twins).push_back(body);
            }
            dGeomSetBody(geom, bodies.back());
        }
        dGeomSetPosition(geom, p.position.x, p.position.y, p.position.z);
        dGeomSetQuaternion(geom, q);
    }
    ~Ode() override
    {
        dJointGroupDestroy(group);
        dSpaceDestroy(space);
        dWorldDestroy(world);
        dWorldDestroy(twin);
    }
    int number(dBodyID body) const
    {
        auto at = std::find(bodies.begin(), bodies.end(), body);
        return at == bodies.end() ? -1 : (int)(at - bodies.begin());
    }
    static void near(void* data, dGeomID a, dGeomID b)
    {
        Ode* o = (Ode*)data;
        dBodyID one = dGeomGetBody(a), two = dGeomGetBody(b);
        if (!one && !two) return;
        dContact all[16] = {};
        int n = dCollide(a, b, 16, &all[0].geom, sizeof(dContact));
        for (int i = 0; i < n; i++) {
            all[i].surface.mode = dContactApprox1;
            all[i].surface.mu = o->mu;
            if (!one) // the first body is one that moves; the normal points into it
                for (int k = 0; k < 3; k++) all[i].geom.normal[k] = -all[i].geom.normal[k];
            o->found.push_back({ all[i], { o->number(one ? one : two), one ? o->number(two) : -1 }, {} });
        }
    }
    void step(frames* to) override
    {
        found.clear();
        dSpaceCollide(space, this, near);
        std::vector<frames_link> links;
        for (size_t i = 0; i < bodies.size(); i++) {
            links.push_back(state(bodies[i]));
            const frames_link& l = links.back();
            dBodySetPosition(twins[i], l.x[0], l.x[1], l.x[2]);
            dBodySetQuaternion(twins[i], l.q);
            dBodySetLinearVel(twins[i], l.v[0], l.v[1], l.v[2]);
            dBodySetAngularVel(twins[i], l.w[0], l.w[1], l.w[2]);
        }
        for (Found& c : found) {
            dJointID j = dJointCreateContact(world, group, &c.contact);
            dJointAttach(j, bodies[c.body[0]], c.body[1] < 0 ? nullptr : bodies[c.body[1]]);
            dJointSetFeedback(j, &c.feedback);
        }
        dWorldQuickStep(world, h);
        if (to) store(to, links);
        dJointGroupEmpty(group);
        time += h;
    }
    static frames_link state(dBodyID body)
    {
        frames_link l = {};
        dMass mass;
        dBodyGetMass(body, &mass);
        const dReal* R4 = dBodyGetRotation(body);
        double R[9], d[3] = { mass.I[0], mass.I[5], mass.I[10] };
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) R[3 * r + c] = R4[4 * r + c];
        rotated(R, d, l.inertia);
        l.mass = mass.mass;
        memcpy(l.x, dBodyGetPosition(body), sizeof l.x);
        memcpy(l.q, dBodyGetQuaternion(body), sizeof l.q);
        memcpy(l.v, dBodyGetLinearVel(body), sizeof l.v);
        memcpy(l.w, dBodyGetAngularVel(body), sizeof l.w);
        return l;
    }
    void store(frames* to, const std::vector<frames_link>& links)
    {
        dWorldQuickStep(twin, h);
        frames_begin(to, time, h);
        for (size_t i = 0; i < bodies.size(); i++) {
            double free[6], end[6];
            memcpy(free, dBodyGetLinearVel(twins[i]), sizeof free / 2);
            memcpy(free + 3, dBodyGetAngularVel(twins[i]), sizeof free / 2);
            memcpy(end, dBodyGetLinearVel(bodies[i]), sizeof end / 2);
            memcpy(end + 3, dBodyGetAngularVel(bodies[i]), sizeof end / 2);
            frames_body(to, &links[i], free, end);
        }
        for (const Found& from : found) {
            const dContactGeom& g = from.contact.geom;
            frames_contact c = {};
            c.gap = -g.depth;
            c.mu = mu;
            c.recovery = erp * g.depth / h;
            for (int k = 0; k < 3; k++) {
                c.body[k % 2] = from.body[k % 2];
                c.point[0][k] = c.point[1][k] = g.pos[k];
                c.normal[k] = -g.normal[k];
                c.impulse[k] = -h * from.feedback.f1[k];
            }
            frames_add_contact(to, &c);
        }
        frames_end(to);
    }
};

} // namespace

SourceKind ode_source()
{
    return { "ode", "quickstep", ODE_VERSION,
             1e-9,  false,       [](const Scene& s) -> std::unique_ptr<Source> { return std::make_unique<Ode>(s); } };
}
