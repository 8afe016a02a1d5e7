/* Shapes of Moreau as shapes of Bullet.
 *
 * Bullet finds distances of the cores of shapes and takes a margin off. Boxes, cylinders and cones keep their size: the
 * core is smaller by the margin. Hulls grow by it, which the caller takes back. The margin is a small share of the
 * shape: as long as cores are apart, GJK gives normal and distance to rounding; below that EPA does. */
#include "bullet_shapes.h"

#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>

#include <algorithm>

namespace
{

const double MARGIN = 0.02; /* of the smallest half size */

/* A convex shape by its support function. */
class supported_shape : public btConvexInternalShape
{
  public:
    explicit supported_shape(const mor_geometry* geometry) : geometry(geometry)
    {
        m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
        setMargin(0.0);
    }
    btVector3 localGetSupportingVertexWithoutMargin(const btVector3& d) const override
    {
        mor_vec3 p = mor_geometry_support(geometry, mor_v3(d.x(), d.y(), d.z()));
        return btVector3(p.x, p.y, p.z);
    }
    btVector3 localGetSupportingVertex(const btVector3& d) const override
    {
        return localGetSupportingVertexWithoutMargin(d);
    }
    void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* d, btVector3* out, int count) const override
    {
        for (int i = 0; i < count; i++) out[i] = localGetSupportingVertexWithoutMargin(d[i]);
    }
    void calculateLocalInertia(btScalar, btVector3& inertia) const override { inertia.setZero(); }
    const char* getName() const override { return "supported"; }

  private:
    const mor_geometry* geometry;
};

void make_polyhedron(const mor_geometry* g, bullet_shape& s)
{
    const mor_polyhedron* p = g->polyhedron;
    s.faces = true;
    if (p->is_box) {
        btBoxShape* box = new btBoxShape(btVector3(p->half.x, p->half.y, p->half.z));
        s.shape.reset(box);
        box->setMargin(MARGIN * std::min({ p->half.x, p->half.y, p->half.z }));
        box->initializePolyhedralFeatures();
        return;
    }
    btConvexHullShape* hull = new btConvexHullShape;
    s.shape.reset(hull);
    double least = g->radius;
    for (int i = 0; i < p->vertex_count; i++)
        hull->addPoint(btVector3(p->vertices[i].x, p->vertices[i].y, p->vertices[i].z), false);
    for (int f = 0; f < p->face_count; f++) { /* half the width across each face */
        double lowest = p->offsets[f];
        for (int i = 0; i < p->vertex_count; i++) lowest = std::min(lowest, mor_dot(p->normals[f], p->vertices[i]));
        least = std::min(least, 0.5 * (p->offsets[f] - lowest));
    }
    hull->recalcLocalAabb();
    s.grown = MARGIN * least;
    hull->setMargin(s.grown);
    hull->initializePolyhedralFeatures();
}

} // namespace

bullet_shape make_bullet_shape(const mor_geometry* g)
{
    bullet_shape s;
    s.offset.setIdentity();
    s.grown = 0.0;
    s.faces = false;
    const double r = g->size[0], l = g->size[1];
    switch (g->kind) {
    case MOR_SPHERE:
        s.shape.reset(new btSphereShape(r));
        break;
    case MOR_PLANE:
        s.shape.reset(new btStaticPlaneShape(btVector3(0, 0, 1), 0.0));
        s.shape->setMargin(0.0);
        break;
    case MOR_CAPSULE:
        s.shape.reset(new btCapsuleShapeZ(r, l));
        break;
    case MOR_CYLINDER:
        s.shape.reset(new btCylinderShapeZ(btVector3(r, r, 0.5 * l)));
        s.shape->setMargin(MARGIN * std::min(r, 0.5 * l));
        break;
    case MOR_CONE:
    case MOR_ELLIPSOID: /* Bullet's cone grows by its margin in no simple way; it has no ellipsoid */
        s.shape.reset(new supported_shape(g));
        break;
    case MOR_POLYHEDRON:
        make_polyhedron(g, s);
        break;
    default:
        break;
    }
    return s;
}
