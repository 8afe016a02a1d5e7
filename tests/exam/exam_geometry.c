/* Places and ways that the shapes alone decide. */
#include "exam/exam.h"

#include <math.h>

#define AREA "exact geometry"

static double rest_height(exam* e, double h, const char* shape, const char* turn, double z, double expected)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { %s }, mass: 1, position: [0, 0, %g], orientation: %s }\n" EXAM_FLOOR,
              shape, z, turn);
    exam_until(e, 2);
    e->expected = expected;
    return exam_body(e, "b").com.z;
}
static double tetrahedron(exam* e, double h)
{
    return rest_height(e, h, "tetrahedron: { edge: 1 }", "{ rpy: [10, 5, 0] }", 1.2, sqrt(6) / 12);
}
static double dodecahedron(exam* e, double h)
{
    return rest_height(e, h, "dodecahedron: { edge: 0.2 }", "{ rpy: [33, 21, 0] }", 0.5, 0.2 * 1.1135163644116066);
}
static double lying_ellipsoid(exam* e, double h)
{
    return rest_height(e, h, "ellipsoid: [0.3, 0.2, 0.1]", "[1, 0, 0, 0]", 0.12, 0.1);
}

/* A box slides over ten flush tiles as over one floor. */
static double tiles(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { box: [0.3, 0.3, 0.1] }, mass: 1, position: [0.2, 0, 0.05], velocity: "
              "[5, 0, 0] }\n"
              "  - { name: tile, shape: { box: [0.4, 1, 0.1] }, fixed: true, position: [0.2, 0, -0.05], repeat: { "
              "count: 12, step: "
              "{ position: [0.4, 0, 0] } } }\n");
    exam_until(e, 1.5);
    e->expected = 25 / EXAM_G;
    return exam_body(e, "b").com.x - 0.2;
}

/* A particle on a chain of 400 pieces of a cycloid: pi sqrt(R/g) to the bottom. */
static double brachistochrone(exam* e, double h)
{
    enum { PIECES = 400 };
    static char text[40000];
    int n = snprintf(text, sizeof text,
                     "dimension: 2\nmaterials: { default: { friction: 0 } }\nbodies:\n  - { name: p, shape: particle, "
                     "mass: 1, position: [%.17g, %.17g] }\n  - { name: slide, fixed: true, shape: { chain: [",
                     0.5 * (0.02 - sin(0.02)) + 1e-4, -0.5 * (1 - cos(0.02)) + 1e-4);
    for (int i = 0; i <= PIECES; i++) {
        double t = (EXAM_PI + 0.2) * i / PIECES;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s[%.12g, %.12g]", i ? ", " : "", 0.5 * (t - sin(t)),
                      -0.5 * (1 - cos(t)));
    }
    snprintf(text + n, sizeof text - (size_t)n, "] } }\n");
    exam_open(e, h, "%s", text);
    while (exam_going(e, 3) && exam_body(e, "p").com.x < 0.5 * EXAM_PI) exam_step(e);
    /* from rest at t = 0.02 the cycloid takes the same time */
    e->expected = EXAM_PI * sqrt(0.5 / EXAM_G);
    return e->world ? mor_world_time(e->world) : NAN;
}

/* A particle falls into a valley of two slopes, without friction, and must end at its bottom. */
static double valley(exam* e, double h)
{
    exam_open(e, h,
              "dimension: 2\nmaterials: { default: { friction: 0.3 } }\nbodies:\n  - { name: p, shape: particle, mass: "
              "1, position: "
              "[0.4, 1.2] }\n  - { name: v, shape: { chain: [[-1, 1], [0, 0], [1, 1]] }, fixed: true }\n");
    exam_until(e, 5);
    e->expected = 0, e->scale = 1;
    return exam_body(e, "p").com.y;
}

/* A peg falls through a hole with 0.1 mm of play on each side as if there were none. */
static double peg(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: peg, shape: { box: [0.1, 0.1, 0.1] }, mass: 1, position: [0, 0, 0.1] }\n"
              "  - { name: a, shape: { box: [0.2, 0.6, 0.2] }, fixed: true, position: [-0.1501, 0, -0.1] }\n"
              "  - { name: b, shape: { box: [0.2, 0.6, 0.2] }, fixed: true, position: [0.1501, 0, -0.1] }\n"
              "  - { name: c, shape: { box: [0.1002, 0.2, 0.2] }, fixed: true, position: [0, 0.1501, -0.1] }\n"
              "  - { name: d, shape: { box: [0.1002, 0.2, 0.2] }, fixed: true, position: [0, -0.1501, -0.1] }\n");
    exam_until(e, 0.3);
    /* the semi-implicit step falls by g h t/2 more */
    e->expected = 0.1 - 0.5 * EXAM_G * 0.3 * (0.3 + h);
    return exam_body(e, "peg").com.z;
}

/* A sphere rolls over the edge between two boxes of one height. */
static double ball_over_seams(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0.1, 0, 0.1], velocity: [2, 0, 0], "
              "angular_velocity: [0, 20, 0] }\n  - { name: tile, shape: { box: [0.4, 1, 0.1] }, fixed: true, position: "
              "[0.2, 0, "
              "-0.05], repeat: { count: 12, step: { position: [0.4, 0, 0] } } }\n");
    exam_until(e, 2);
    e->expected = 4;
    return exam_body(e, "b").com.x - 0.1;
}

/* A cube set down edge on edge across another: the height is that of both half diagonals. */
static double crossed_edges(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: a, shape: { box: [1, 0.2, 0.2] }, fixed: true, orientation: { rpy: [45, 0, 0] } }\n"
              "  - { name: b, shape: { box: [1, 0.2, 0.2] }, mass: 1, position: [0, 0, %.17g], orientation: { rpy: "
              "[45, 0, 90] } }\n",
              0.2 * sqrt(2) + 0.001);
    exam_until(e, 0.05);
    e->expected = 0.2 * sqrt(2);
    return exam_body(e, "b").com.z;
}

const experiment exam_geometry[] = {
    { AREA, "height of a tetrahedron at rest", "inscribed sphere", "m", 0.005, 1e-6, tetrahedron, 0, 0, 0 },
    { AREA, "height of a dodecahedron at rest", "inscribed sphere", "m", 0.005, 1e-6, dodecahedron, 0, 0, 0 },
    { AREA, "height of an ellipsoid at rest", "semi-axis", "m", 0.005, 1e-6, lying_ellipsoid, 0, 0, 0 },
    { AREA, "box over ten flush tiles", "v^2/(2 mu g)", "m", 0.002, 1e-2, tiles, 0, 0, 0 },
    { AREA, "ball over ten flush tiles", "v t", "m", 0.005, 1e-6, ball_over_seams, 0, 0, 0 },
    { AREA, "brachistochrone of 400 pieces", "pi sqrt(R/g)", "s", 0.0005, 1e-2, brachistochrone, 0, 0, 0 },
    { AREA, "particle in a valley", "the bottom", "m", 0.01, 1e-4, valley, 0, 0, 0 },
    { AREA, "peg through a hole with 0.1 mm of play", "free fall", "m", 0.01, 1e-6, peg, 0, 0, 0 },
    { AREA, "edge on edge", "two half diagonals", "m", 0.001, 1e-4, crossed_edges, 0, 0, 0 },
    { 0 }
};
