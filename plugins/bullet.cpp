/* The collision method `bullet`: Bullet's collision detection in double precision, as a plug-in through the public
 * interface (moreau/plugin.h). `moreau run SCENE --collision bullet` loads it.
 *
 * Broad phase: Bullet's dynamic tree of boxes, widened by half of epsilon and by what a shape can travel in the step.
 * Narrow phase: Bullet's algorithms for closest points: GJK and EPA, faces clipped against faces for two polyhedra, and
 * what it has for spheres, capsules and planes; its manifold keeps at most four points of a pair. Round shapes get one
 * point at a time there. Bullet makes a manifold of them by turning the shape a little, which it does not do on planes;
 * here the farthest points in eight directions a little off the plane's normal do it.
 *
 * Identity. Bullet recognises a contact by its place in the body. So does this: a point at the place of one of the last
 * step (on one of the bodies, where its motion took it) has its feature number, others get the least that is free.
 * Points of the last step enter the manifold, except for polyhedra and balls, and go on as long as Bullet would keep
 * them. Both read mor_found_last and no memory of their own, so contacts follow from the state.
 *
 * Limits. 3-D only, no custom shapes: refused with a sentence. No separating planes for exact geometry (peg). A contact
 * is where the shapes are now: nothing is followed through the step, so bodies that pass each other may be stopped.
 * Reference: Coumans, E., Bullet Physics SDK 3.24. */
#include "bullet_shapes.h"

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/NarrowPhaseCollision/btPolyhedralContactClipping.h>

#include <algorithm>
#include <vector>

#include "moreau/plugin.h"

namespace
{

/* of the smaller shape: points nearer than this are the same, as in Bullet */
const double SAME = 0.02;

/* One shape of one body. */
struct part {
    mor_body_id body;
    int shape;
    const mor_geometry* geometry;
    bullet_shape bullet;
    btCollisionObject object;
    btBroadphaseProxy* proxy;
    btTransform now, before; /* Bullet's frame in the world; a step ago, by the velocity now */
    double speed, spin;      /* of the centre of mass; of the surface by turning [m/s] */
};

/* Two shapes as Bullet gets them: a plane is b. */
struct near_pair {
    int key[4]; /* bodies, shapes; earlier body first */
    part *a, *b;
    bool turned; /* a is the later body */
};

struct engine {
    btDefaultCollisionConfiguration configuration, turning;
    btCollisionDispatcher dispatcher, turner; /* turner: finds more points by turning shapes a little */
    btDbvtBroadphase broad;
    std::vector<std::unique_ptr<part>> parts;
    std::vector<near_pair> pairs;

    engine() : dispatcher(&configuration), turner(&turning) { turning.setConvexConvexMultipointIterations(4, 4); }
    ~engine() { clear(); }
    void clear()
    {
        for (auto& p : parts)
            if (p->proxy) broad.destroyProxy(p->proxy, &dispatcher);
        parts.clear();
    }
};

btVector3 to_bullet(mor_vec3 v) { return btVector3(v.x, v.y, v.z); }
mor_vec3 from_bullet(const btVector3& v) { return mor_v3(v.x(), v.y(), v.z()); }

btTransform to_bullet(const mor_pose& p)
{
    return btTransform(btQuaternion(p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w), to_bullet(p.position));
}

/* The pose a time h ago of a body that kept its velocity. */
mor_pose pose_before(const mor_body_state& s, double h)
{
    double rate = mor_norm(s.angular_velocity);
    btQuaternion turn(0, 0, 0, 1);
    if (rate > 0.0) turn = btQuaternion(to_bullet(s.angular_velocity), -h * rate);
    btQuaternion q = turn * btQuaternion(s.pose.rotation.x, s.pose.rotation.y, s.pose.rotation.z, s.pose.rotation.w);
    mor_vec3 arm = mor_sub(s.pose.position, s.com);
    btVector3 x = to_bullet(mor_madd(s.com, -h, s.velocity)) + quatRotate(turn, to_bullet(arm));
    return { from_bullet(x), { q.w(), q.x(), q.y(), q.z() } };
}

/* ------------------------------------------------------------------------------- the shapes of the world */

bool same_bodies(const engine& e, const mor_world* w)
{
    size_t k = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        for (int s = 0; s < mor_body_shape_count(w, id); s++, k++) {
            if (k == e.parts.size()) return false;
            const part& p = *e.parts[k];
            if (p.body.index1 != id.index1 || p.body.generation != id.generation || p.shape != s) return false;
        }
    }
    return k == e.parts.size();
}

mor_code take_bodies(engine& e, const mor_world* w, mor_error* error)
{
    e.clear();
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        for (int s = 0; s < mor_body_shape_count(w, id); s++) {
            const mor_geometry* g = mor_body_get_shape(w, id, s).geometry;
            auto p = std::make_unique<part>();
            p->body = id, p->shape = s, p->geometry = g, p->proxy = nullptr;
            p->bullet = make_bullet_shape(g);
            if (!p->bullet.shape) {
                mor_fail(error, MOR_BAD_INPUT,
                         "collision method 'bullet' has no shape for the %s of body '%s'; use 'manifold'",
                         g->kind == MOR_CUSTOM ? g->custom->name : g->label, mor_body_name(w, id));
                e.clear();
                return MOR_BAD_INPUT;
            }
            p->object.setCollisionShape(p->bullet.shape.get());
            e.parts.push_back(std::move(p));
        }
    }
    return MOR_OK;
}

/* Poses, speeds and boxes of this state. */
void place_parts(engine& e, const mor_world* w, const mor_collision_options* o)
{
    const double h = mor_world_get_step(w), fall = h * h * mor_norm(mor_world_gravity(w));
    for (auto& pointer : e.parts) {
        part& p = *pointer;
        mor_body_state s = mor_body_get_state(w, p.body);
        const bool fixed = mor_body_get_kind(w, p.body) == MOR_FIXED;
        btTransform offset = to_bullet(mor_body_get_shape(w, p.body, p.shape).pose) * p.bullet.offset;
        p.now = to_bullet(s.pose) * offset;
        p.object.setWorldTransform(p.now);
        p.before = fixed ? p.now : to_bullet(pose_before(s, h)) * offset;
        double arm = (p.now.getOrigin() - to_bullet(s.com)).length();
        if (p.geometry->kind != MOR_SPHERE) arm += p.geometry->radius;
        p.speed = fixed ? 0.0 : mor_norm(s.velocity);
        p.spin = fixed ? 0.0 : mor_norm(s.angular_velocity) * arm;
        double wide = 0.5 * mor_pair_epsilon(o, p.geometry, p.geometry);
        if (o->reach == 0) wide += h * (p.speed + p.spin) + fall;
        btVector3 low, high, more(wide, wide, wide);
        p.bullet.shape->getAabb(p.now, low, high);
        if (p.proxy) e.broad.setAabb(p.proxy, low - more, high + more, &e.dispatcher);
        else
            p.proxy =
                e.broad.createProxy(low - more, high + more, p.bullet.shape->getShapeType(), &p, 1, -1, &e.dispatcher);
    }
    e.broad.calculateOverlappingPairs(&e.dispatcher);
}

/* Pairs that may touch, sorted, earlier body first. */
void find_pairs(engine& e, const mor_world* w)
{
    e.pairs.clear();
    btBroadphasePairArray& found = e.broad.getOverlappingPairCache()->getOverlappingPairArray();
    for (int i = 0; i < found.size(); i++) {
        part *a = static_cast<part*>(found[i].m_pProxy0->m_clientObject),
             *b = static_cast<part*>(found[i].m_pProxy1->m_clientObject);
        if (!mor_world_may_touch(w, a->body, a->shape, b->body, b->shape)) continue;
        if (mor_body_index(w, a->body) > mor_body_index(w, b->body)) std::swap(a, b);
        near_pair pair = {
            { mor_body_index(w, a->body), mor_body_index(w, b->body), a->shape, b->shape }, a, b, false
        };
        if (a->geometry->kind == MOR_PLANE) std::swap(pair.a, pair.b), pair.turned = true;
        e.pairs.push_back(pair);
    }
    std::sort(e.pairs.begin(), e.pairs.end(), [](const near_pair& x, const near_pair& y) {
        return std::lexicographical_compare(x.key, x.key + 4, y.key, y.key + 4);
    });
}

/* --------------------------------------------------------------------------------------- one pair */

/* Adds a point to a manifold as Bullet does: it replaces one at the same place of the first body; of more than four
 * the deepest one and those of the largest area are kept. */
void put_point(const near_pair& pair, btPersistentManifold* manifold, const btVector3& on_b,
               const btVector3& normal_on_b, double gap)
{
    btVector3 on_a = on_b + gap * normal_on_b;
    btManifoldPoint point(pair.a->now.invXform(on_a), pair.b->now.invXform(on_b), normal_on_b, gap);
    point.m_positionWorldOnA = on_a;
    point.m_positionWorldOnB = on_b;
    int at = manifold->getCacheEntry(point);
    if (at >= 0) manifold->replaceContactPoint(point, at);
    else manifold->addManifoldPoint(point);
}

/* Takes the points of Bullet's algorithms, and the margins of hulls off. */
class result : public btManifoldResult
{
  public:
    result(const btCollisionObjectWrapper* a, const btCollisionObjectWrapper* b, const near_pair& pair, double reach,
           btPersistentManifold* manifold)
        : btManifoldResult(a, b), pair(pair), manifold(manifold), reach(reach), grown{ 0.0, 0.0 }
    {
        m_closestPointDistanceThreshold = reach;
        if (clipped()) return; /* without margins */
        grown[0] = pair.a->bullet.grown, grown[1] = pair.b->bullet.grown;
    }
    void addContactPoint(const btVector3& normal_on_b, const btVector3& on_b, btScalar depth) override
    {
        double gap = depth + grown[0] + grown[1];
        if (gap > reach) return;
        points.push_back({ on_b - normal_on_b * grown[1], normal_on_b, gap });
    }
    /* Of two polyhedra the first point is where GJK ended, anywhere in the face of contact. It stands back where faces
     * were clipped and reach as deep: the corners carry. */
    void put(double size)
    {
        size_t first = 0;
        for (size_t i = 1; i < points.size() && clipped() && points.size() > 2; i++)
            if (points[i].gap <= points[0].gap + 1e-6 * size) first = 1;
        for (size_t i = first; i < points.size(); i++)
            put_point(pair, manifold, points[i].on_b, points[i].normal, points[i].gap);
    }
    bool clipped() const { return pair.a->bullet.faces && pair.b->bullet.faces; }
    struct point {
        btVector3 on_b, normal;
        double gap;
    };
    std::vector<point> points;

  private:
    const near_pair& pair;
    btPersistentManifold* manifold;
    double reach, grown[2];
};

/* The farthest points of a shape in directions a little off the normal of a plane. */
void points_on_plane(const near_pair& pair, double reach, btPersistentManifold* manifold)
{
    const part &plane = *pair.b, &other = *pair.a;
    const btConvexShape* shape = static_cast<const btConvexShape*>(other.bullet.shape.get());
    btVector3 n = plane.now.getBasis().getColumn(2), u, v;
    btPlaneSpace1(n, u, v);
    double tilt = std::min(0.1, reach / other.geometry->radius);
    for (int k = 0; k < 8; k++) {
        btVector3 d = -n + tilt * (std::cos(0.25 * SIMD_PI * k) * u + std::sin(0.25 * SIMD_PI * k) * v);
        d.normalize();
        btVector3 p = other.now(shape->localGetSupportingVertex(d * other.now.getBasis())) - other.bullet.grown * d;
        double gap = n.dot(p - plane.now.getOrigin());
        if (gap <= reach) put_point(pair, manifold, p - gap * n, n, gap);
    }
}

/* Shapes that may touch along a line or a face, but have no faces to clip. */
bool has_lines(const mor_geometry* g)
{
    return g->kind == MOR_CAPSULE || g->kind == MOR_CYLINDER || g->kind == MOR_CONE;
}

/* Bullet clips faces that overlap; where they are apart it leaves that to its dynamics, which waits for the overlap. */
void clip_faces(const near_pair& pair, double reach, result& out)
{
    auto hull = [](const part* p) {
        return static_cast<const btPolyhedralConvexShape*>(p->bullet.shape.get())->getConvexPolyhedron();
    };
    btVertexArray first, second;
    const btVector3 normal = out.points[0].normal;
    btPolyhedralContactClipping::clipHullAgainstHull(normal, *hull(pair.a), *hull(pair.b), pair.a->now, pair.b->now,
                                                     -1e30, reach, first, second, out);
}

/* What Bullet finds between two shapes, into the manifold. */
void collide(engine& e, const near_pair& pair, double reach, btPersistentManifold* manifold)
{
    part &a = *pair.a, &b = *pair.b;
    btCollisionObjectWrapper wa(nullptr, a.bullet.shape.get(), &a.object, a.now, -1, -1),
        wb(nullptr, b.bullet.shape.get(), &b.object, b.now, -1, -1);
    result out(&wa, &wb, pair, reach, manifold);
    /* for contacts of two boxes Bullet has another algorithm, which sees none that is open */
    const bool clipped = a.bullet.faces && b.bullet.faces;
    btCollisionDispatcher& dispatcher = has_lines(a.geometry) || has_lines(b.geometry) ? e.turner : e.dispatcher;
    btCollisionAlgorithm* algorithm = dispatcher.findAlgorithm(
        &wa, &wb, nullptr, clipped ? BT_CLOSEST_POINT_ALGORITHMS : BT_CONTACT_POINT_ALGORITHMS);
    if (!algorithm) return;
    btDispatcherInfo info;
    algorithm->processCollision(&wa, &wb, info, &out);
    algorithm->~btCollisionAlgorithm();
    dispatcher.freeCollisionAlgorithm(algorithm);
    if (clipped && out.points.size() == 1) clip_faces(pair, reach, out);
    out.put(std::min(a.geometry->radius, b.geometry->radius));
    if (b.geometry->kind == MOR_PLANE && a.geometry->kind != MOR_SPHERE) points_on_plane(pair, reach, manifold);
}

/* A contact of the last step, where the motion of its bodies took it. */
struct old_point {
    btVector3 on_a, on_b; /* in Bullet's frames */
    btVector3 normal;     /* from b to a, world */
    uint64_t feature;
    bool taken;
};

void last_points(const mor_found* found, const near_pair& pair, std::vector<old_point>& old)
{
    int count;
    const mor_contact* last = mor_found_last(found, &count);
    auto key_of = [](const mor_contact& c, int* key) {
        key[0] = c.body[0], key[1] = c.body[1], key[2] = c.shape[0], key[3] = c.shape[1];
    };
    old.clear();
    const mor_contact* at = std::lower_bound(last, last + count, pair, [&](const mor_contact& c, const near_pair& p) {
        int key[4];
        key_of(c, key);
        return std::lexicographical_compare(key, key + 4, p.key, p.key + 4);
    });
    for (; at < last + count; at++) {
        int key[4];
        key_of(*at, key);
        if (!std::equal(key, key + 4, pair.key)) break;
        const int a = pair.turned, b = 1 - a;
        btVector3 n = to_bullet(pair.turned ? mor_neg(at->normal) : at->normal);
        n = pair.b->now.getBasis() * (n * pair.b->before.getBasis()); /* turned with the second body */
        old.push_back({ pair.a->before.invXform(to_bullet(at->point[a])),
                        pair.b->before.invXform(to_bullet(at->point[b])), -n, at->feature, false });
    }
}

/* Lets points of the last step go on as long as they have not come apart along the surface. */
void keep_last(const near_pair& pair, const std::vector<old_point>& old, double reach, double same,
               btPersistentManifold* manifold)
{
    const bool ball = pair.a->geometry->kind == MOR_SPHERE || pair.b->geometry->kind == MOR_SPHERE;
    if (ball || (pair.a->bullet.faces && pair.b->bullet.faces)) return; /* all their points are found anew */
    for (const old_point& o : old) {
        btVector3 on_a = pair.a->now(o.on_a), on_b = pair.b->now(o.on_b);
        double gap = (on_a - on_b).dot(o.normal), slip = (on_a - on_b - gap * o.normal).length();
        if (gap <= reach && slip <= same) put_point(pair, manifold, on_b, o.normal, gap);
    }
}

/* The number of the nearest point of the last step within `same` on one of the bodies, or the least that nobody has. */
uint64_t feature_of(const btManifoldPoint& p, double same, std::vector<old_point>& old, std::vector<uint64_t>& used)
{
    old_point* best = nullptr;
    double least = same * same;
    for (old_point& o : old) {
        double d = std::min((o.on_a - p.m_localPointA).length2(), (o.on_b - p.m_localPointB).length2());
        if (!o.taken && d <= least) least = d, best = &o;
    }
    uint64_t feature = 0;
    if (best) best->taken = true, feature = best->feature;
    else {
        auto has = [&](uint64_t f) {
            return std::find(used.begin(), used.end(), f) != used.end() ||
                   std::any_of(old.begin(), old.end(), [&](const old_point& o) { return o.feature == f; });
        };
        while (has(feature)) feature++;
    }
    used.push_back(feature);
    return feature;
}

mor_code add_contacts(const near_pair& pair, const mor_world* w, const mor_collision_options* o, double same,
                      const btPersistentManifold* manifold, std::vector<old_point>& old, mor_found* found)
{
    std::vector<uint64_t> used;
    for (int i = 0; i < manifold->getNumContacts(); i++) {
        const btManifoldPoint& p = manifold->getContactPoint(i);
        if (p.getDistance() < o->psi_min) continue;
        mor_contact c = {};
        std::copy(pair.key, pair.key + 2, c.body);
        std::copy(pair.key + 2, pair.key + 4, c.shape);
        const int a = pair.turned, b = 1 - a;
        c.normal = from_bullet(pair.turned ? p.m_normalWorldOnB : -p.m_normalWorldOnB);
        c.gap = p.getDistance();
        c.point[b] = from_bullet(p.getPositionWorldOnB());
        c.point[a] = from_bullet(p.getPositionWorldOnB() + c.gap * p.m_normalWorldOnB);
        c.feature = feature_of(p, same, old, used);
        c.friction = c.restitution = -1.0; /* of the materials */
        const part *first = pair.turned ? pair.b : pair.a, *second = pair.turned ? pair.a : pair.b;
        c.surface_velocity =
            mor_sub(mor_body_surface_velocity(w, second->body), mor_body_surface_velocity(w, first->body));
        if (mor_found_add(found, &c)) return MOR_SYSTEM;
    }
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------------- the method */

double reach_of(const near_pair& pair, const mor_world* w, const mor_collision_options* o)
{
    double reach = mor_pair_epsilon(o, pair.a->geometry, pair.b->geometry), h = mor_world_get_step(w);
    if (o->reach != 0) return reach;
    mor_vec3 va = mor_body_get_state(w, pair.a->body).velocity, vb = mor_body_get_state(w, pair.b->body).velocity;
    if (pair.a->speed == 0.0) va = mor_v3(0, 0, 0); /* fixed */
    if (pair.b->speed == 0.0) vb = mor_v3(0, 0, 0);
    return reach + h * (mor_norm(mor_sub(va, vb)) + pair.a->spin + pair.b->spin) +
           h * h * mor_norm(mor_world_gravity(w));
}

mor_code detect_all(engine& e, const mor_world* w, const mor_collision_options* o, mor_found* found, mor_error* error)
{
    if (mor_world_dimension(w) != 3)
        return mor_fail(error, MOR_BAD_INPUT, "collision method 'bullet' is for 3-D worlds; use 'manifold'");
    if (o->activation != 0)
        return mor_fail(error, MOR_BAD_INPUT, "collision method 'bullet' has no 'activation: body'; use 'manifold'");
    if (!same_bodies(e, w)) {
        mor_code code = take_bodies(e, w, error);
        if (code) return code;
    }
    place_parts(e, w, o);
    find_pairs(e, w);
    std::vector<old_point> old;
    for (const near_pair& pair : e.pairs) {
        double reach = reach_of(pair, w, o);
        double same = SAME * std::min(pair.a->geometry->radius, pair.b->geometry->radius);
        btPersistentManifold* manifold = e.dispatcher.getNewManifold(&pair.a->object, &pair.b->object);
        manifold->setContactBreakingThreshold(same);
        last_points(found, pair, old);
        keep_last(pair, old, reach, same, manifold);
        collide(e, pair, reach, manifold);
        mor_code code = add_contacts(pair, w, o, same, manifold, old, found);
        e.dispatcher.releaseManifold(manifold);
        if (code) return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    }
    return MOR_OK;
}

mor_code detect(void* memory, const mor_world* world, const void* options, mor_found* found, mor_error* error)
{
    try {
        return detect_all(*static_cast<engine*>(memory), world, static_cast<const mor_collision_options*>(options),
                          found, error);
    } catch (const std::bad_alloc&) {
        return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    }
}

void* create(const mor_allocator*) { return new (std::nothrow) engine; }
void destroy(void* memory) { delete static_cast<engine*>(memory); }

const mor_field fields[] = {
    { "epsilon", MOR_TYPE_DOUBLE, offsetof(mor_collision_options, epsilon), -1, 0, 1e6, "auto", "m",
      "contacts nearer than this are reported; auto: a hundredth of the smaller shape's bounding radius" },
    { "reach", MOR_TYPE_CHOICE, offsetof(mor_collision_options, reach), 0, 0, 0, "swept|fixed", "",
      "swept: epsilon widened by what the pair can travel in the step; fixed: epsilon alone" },
    { "activation", MOR_TYPE_CHOICE, offsetof(mor_collision_options, activation), 0, 0, 0, "feature|body", "",
      "only feature" },
    { "psi_min", MOR_TYPE_DOUBLE, offsetof(mor_collision_options, psi_min), -HUGE_VAL, -HUGE_VAL, 0, nullptr, "m",
      "contacts deeper than this are ignored" },
    {},
};

const mor_collision bullet = { "bullet", "Bullet 3: GJK, EPA and clipped faces, at most four points of a pair",
                               "",       sizeof(mor_collision_options),
                               fields,   detect,
                               create,   destroy,
                               false };
const mor_collision* const collisions[] = { &bullet, nullptr };
const mor_plugin plugin = { MOR_PLUGIN_VERSION,
                            sizeof(mor_solver),
                            sizeof(mor_formulation),
                            sizeof(mor_collision),
                            nullptr,
                            nullptr,
                            collisions,
                            sizeof(mor_controller),
                            nullptr,
                            nullptr,
                            nullptr,
                            static_cast<uint32_t>(MOR_PLUGIN_BORDER) };

} // namespace

const mor_plugin* mor_plugin_entry(void) { return &plugin; }
