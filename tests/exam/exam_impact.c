/* Impacts: bounces, collisions, blows that turn. */
#include "exam/exam.h"

#include <math.h>

#define AREA "impact"

/* Highest point after the first bounce. */
static double apex(exam* e, double h)
{
    exam_open(e, h,
              "materials: { default: { restitution: 0.7 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, "
              "position: [0, 0, 1.1] }\n" EXAM_FLOOR);
    double top = 0, before = -1;
    while (exam_going(e, 1.2)) {
        exam_step(e);
        mor_body_state s = exam_body(e, "b");
        if (before > 0 && s.velocity.z <= 0) top = s.com.z - 0.1; /* the first time it turns */
        if (top > 0) break;
        before = s.velocity.z;
    }
    e->expected = 0.49;
    return top;
}

/* When a ball with e = 0.5 comes to rest: sqrt(2 H/g) (1 + e)/(1 - e). */
static double zeno(exam* e, double h)
{
    exam_open(e, h,
              "materials: { default: { restitution: 0.5 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, "
              "position: [0, 0, 1.1] }\n" EXAM_FLOOR);
    double last = 0;
    while (exam_going(e, 3)) {
        exam_step(e);
        if (fabs(exam_body(e, "b").velocity.z) > 0.02) last = mor_world_time(e->world);
    }
    e->expected = sqrt(2 / EXAM_G) * 3;
    return last;
}

static double two_balls(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 0.7, friction: 0 } }\nbodies:\n"
              "  - { name: a, shape: { sphere: 0.1 }, mass: 3, velocity: [2, 0, 0] }\n"
              "  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0.5, 0, 0], velocity: [-1, 0, 0] }\n");
    exam_until(e, 0.5);
    e->expected = (3 * 2 - 1 + 3 * 0.7 * 3) / 4;
    return exam_body(e, "b").velocity.x;
}

/* Eccentric: the normal makes 30 degrees with the line of motion. */
static double glancing_blow(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 1, friction: 0 } }\nbodies:\n"
              "  - { name: a, shape: { sphere: 0.1 }, mass: 1, velocity: [2, 0, 0] }\n"
              "  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0.6, 0.1, 0] }\n");
    exam_until(e, 0.6);
    e->expected = -2 * cos(EXAM_PI / 6) * 0.5;
    return exam_body(e, "a").velocity.y;
}

/* A ball with gaps between: each hands its speed on. */
static double cradle(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 1, friction: 0 } }\nbodies:\n"
        "  - { name: a, shape: { sphere: 0.1 }, mass: 1, position: [-1, 0, 0], velocity: [1, 0, 0] }\n"
        "  - { name: b, shape: { sphere: 0.1 }, mass: 1, repeat: { count: 4, step: { position: [0.21, 0, 0] } } }\n");
    exam_until(e, 1.5);
    e->expected = 1;
    return exam_body(e, "b_3").velocity.x;
}

static double touching_cradle(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 1, friction: 0 } }\nbodies:\n"
        "  - { name: a, shape: { sphere: 0.1 }, mass: 1, position: [-1, 0, 0], velocity: [1, 0, 0] }\n"
        "  - { name: b, shape: { sphere: 0.1 }, mass: 1, repeat: { count: 4, step: { position: [0.2, 0, 0] } } }\n");
    exam_until(e, 1.5);
    e->expected = 1;
    return exam_body(e, "b_3").velocity.x;
}

/* A light ball above a heavy one that has just bounced: v (3 M - m)/(M + m), here met 1 m/s against 1 m/s. */
static double cannon(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 1, friction: 0 } }\nbodies:\n"
              "  - { name: big, shape: { sphere: 0.2 }, mass: 9, position: [0, 0, 0.3], velocity: [0, 0, -1] }\n"
              "  - { name: small, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.75], velocity: [0, 0, -1] "
              "}\n" EXAM_FLOOR);
    exam_until(e, 0.4);
    e->expected = (3 * 9 - 1) / 10.0;
    return exam_body(e, "small").velocity.z;
}

static double skew_bounce(exam* e, double h, double mu, double expected)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nmaterials: { default: { restitution: 0.5, friction: %g } }\nbodies:\n  - { name: b, "
              "shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.2], velocity: [1, 0, -1] }\n" EXAM_FLOOR,
              mu);
    exam_until(e, 0.3);
    e->expected = expected;
    return exam_body(e, "b").velocity.x;
}
/* slips all the time: v - mu (1 + e) v_n; or sticks: 5/7 v */
static double slipping_bounce(exam* e, double h) { return skew_bounce(e, h, 0.1, 1 - 0.1 * 1.5); }
static double sticking_bounce(exam* e, double h) { return skew_bounce(e, h, 1.0, 5.0 / 7); }

/* A rod at 30 degrees falls on its end, no restitution, no friction: w = 6 v cos a/(L (1 + 3 cos^2 a)). */
static double rod_on_its_end(exam* e, double h)
{
    const double a = EXAM_PI / 6, z = 0.5 * sin(a);
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nmaterials: { default: { friction: 0 } }\nbodies:\n  - { name: rod, shape: { box: [1, "
        "0.0001, 0.0001] }, mass: 1, position: [0, 0, %.17g], orientation: { rpy: [0, -30, 0] }, velocity: [0, 0, "
        "-1] }\n" EXAM_FLOOR,
        z + 0.02);
    double most = 0;
    while (exam_going(e, 0.05) && most < 1e-3) {
        exam_step(e);
        most = fabs(exam_body(e, "rod").angular_velocity.y);
    }
    exam_step(e); /* the step of the blow takes the speed to gap/h, the next one the rest */
    exam_step(e);
    most = fabs(exam_body(e, "rod").angular_velocity.y);
    e->expected = 6 * cos(a) / (1 + 3 * cos(a) * cos(a));
    return most;
}

/* A square of side 1 slides against a ridge: w = 3 v/(4 a). */
static double box_against_a_ridge(exam* e, double h)
{
    exam_open(e, h,
              "dimension: 2\ngravity: [0, 0]\nmaterials: { default: { friction: 0 } }\nbodies:\n"
              "  - { name: b, shape: { box: [1, 1] }, mass: 1, position: [-0.6, 0.5], velocity: [1, 0] }\n"
              "  - { name: ridge, shape: { box: [0.2, 0.00002] }, position: [0.1, 0], fixed: true }\n"
              "  - { name: floor, shape: { chain: [[-5, 0], [0, 0]] }, fixed: true }\n");
    double most = 0;
    while (exam_going(e, 0.2) && most < 1e-3) {
        exam_step(e);
        most = fabs(exam_body(e, "b").angular_velocity.z);
    }
    e->expected = 0.75;
    return most;
}

/* Housner: a block that rocks loses w+/w- = 1 - 3/2 sin^2 alpha when it changes its foot. */
static double rocking_block(exam* e, double h)
{
    const double width = 0.2, height = 1.0, alpha = atan(width / height), tilt = 0.05, r = 0.5 * hypot(width, height);
    exam_open(
        e, h,
        "dimension: 2\nmaterials: { default: { friction: 5 } }\nbodies:\n  - { name: b, shape: { box: [0.2, 1] }, "
        "mass: 1, angle: %.17g, position: [%.17g, %.17g] }\n  - { name: floor, shape: { chain: [[-5, 0], [5, 0]] }, "
        "fixed: true }\n",
        -tilt, 0.1 - r * sin(alpha - tilt), r * cos(alpha - tilt));
    double before = 0, after = 0;
    while (exam_going(e, 3) && after == 0) {
        exam_step(e);
        double w = exam_body(e, "b").angular_velocity.z, angle = exam_body(e, "b").pose.rotation.z;
        if (angle < 0) before = w;
        else if (angle > 1e-4) after = w;
    }
    e->expected = 1 - 1.5 * sin(alpha) * sin(alpha);
    return after / before;
}

/* A bullet is caught by a block: momentum. */
static double caught(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: bullet, shape: { sphere: 0.005 }, mass: 0.01, position: [-0.5, 0, "
        "0], velocity: [300, 0, 0] }\n  - { name: block, shape: { box: [0.1, 0.1, 0.1] }, mass: 1 }\n");
    exam_until(e, 0.1);
    e->expected = 3 / 1.01;
    return exam_body(e, "block").velocity.x;
}

/* A spinning ball dropped on the floor: the friction takes 2/7 of the rim speed. */
static double kick_of_spin(exam* e, double h)
{
    exam_open(
        e, h,
        "materials: { default: { friction: 1 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: "
        "[0, 0, 0.6], angular_velocity: [0, 20, 0] }\n" EXAM_FLOOR);
    exam_until(e, 0.5);
    e->expected = 2.0 / 7 * 2;
    return exam_body(e, "b").velocity.x;
}

const experiment exam_impact[] = {
    { AREA, "height of the first bounce", "e^2 H", "m", 0.001, 1e-2, apex, 0, 0, 0 },
    { AREA, "time until a bouncing ball rests", "sqrt(2 H/g) (1 + e)/(1 - e)", "s", 0.0002, 1e-2, zeno, 0, 0, 0 },
    { AREA, "two balls, e = 0.7", "momentum, Newton's law", "m/s", 0.01, 1e-6, two_balls, 0, 0, 0 },
    { AREA, "glancing blow", "momentum along the normal", "m/s", 0.001, 1e-2, glancing_blow, 0, 0, 0 },
    { AREA, "cradle with gaps", "the last ball goes", "m/s", 0.01, 1e-6, cradle, 0, 0, 0 },
    { AREA, "cradle that touches", "the last ball goes (experiment)", "m/s", 0.01, 1e-2, touching_cradle, 0, 0, 0 },
    { AREA, "light ball on a heavy one", "v (3 M - m)/(M + m)", "m/s", 0.005, 1e-6, cannon, 0, 0, 0 },
    { AREA, "skew bounce that slips", "v - mu (1 + e) v_n", "m/s", 0.01, 1e-6, slipping_bounce, 0, 0, 0 },
    { AREA, "skew bounce that sticks", "5/7 v", "m/s", 0.01, 1e-6, sticking_bounce, 0, 0, 0 },
    { AREA, "rod that falls on its end", "6 v cos a/(L (1 + 3 cos^2 a))", "rad/s", 0.0005, 5e-3, rod_on_its_end, 0, 0,
      0 },
    { AREA, "box against a ridge", "3 v/(4 a)", "rad/s", 0.001, 2e-3, box_against_a_ridge, 0, 0, 0 },
    { AREA, "Housner's rocking block", "1 - 3/2 sin^2 alpha", "", 0.0005, 1e-2, rocking_block, 0, 0, 0 },
    { AREA, "bullet caught by a block", "momentum", "m/s", 0.01, 1e-6, caught, 0, 0, 0 },
    { AREA, "spinning ball dropped", "2/7 w R", "m/s", 0.005, 1e-6, kick_of_spin, 0, 0, 0 },
    { 0 }
};
