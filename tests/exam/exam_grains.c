/* Many bodies: a silo, an hourglass, momentum of a pile. */
#include "exam/exam.h"

#include <math.h>
#include <string.h>

#define AREA "grains"

enum { COLUMN = 24 };

/* Janssen's law without a continuum. Smooth discs that do not turn stand in zigzag between two rough walls; the floor
 * sinks slowly, so all slide and the friction of the walls is mu N upwards. A disc with force F above and F' below,
 * both at the angle b to the vertical:
 *     N = (F + F') sin b,   F' cos b = m g + F cos b - mu N
 * => F' = (m g + F (cos b - mu sin b))/(cos b + mu sin b), a geometric series towards m g/(2 mu sin b). The lowest
 * disc stands on the smooth floor. */
static double silo(exam* e, double h)
{
    const double R = 0.05, width = 0.17, mu = 0.5, m = 1, sb = (width - 2 * R) / (2 * R), cb = sqrt(1 - sb * sb);
    char text[9000];
    int n =
        snprintf(text, sizeof text,
                 "dimension: 2\nmaterials: { disc: { friction: 0 }, wall: { friction: 0 }, floor: { friction: 0 } }\n"
                 "pairs: [ { materials: [disc, wall], friction: 0.5 } ]\nbodies:\n"
                 "  - { name: left, shape: { box: [1, 20] }, position: [%.17g, 0], material: wall, fixed: true }\n"
                 "  - { name: right, shape: { box: [1, 20] }, position: [%.17g, 0], material: wall, fixed: true }\n"
                 "  - { name: floor, shape: { box: [0.16, 0.1] }, position: [0, -0.05], material: floor, kinematic: { "
                 "velocity: [0, "
                 "-0.01] } }\n",
                 -0.5 * width - 0.5, 0.5 * width + 0.5);
    for (int i = 0; i < COLUMN; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - { name: d%d, shape: { disc: 0.05 }, mass: 1, inertia: 1e9, material: disc, position: "
                      "[%.17g, %.17g], velocity: [0, "
                      "-0.01] }\n",
                      i, (i % 2 ? 1 : -1) * (0.5 * width - R), R + 2 * R * cb * i);
    exam_open(e, h, "%s", text);
    double sum = 0;
    int count = 0;
    while (exam_going(e, 1.0)) {
        exam_step(e);
        if (mor_world_time(e->world) > 0.5) sum -= exam_force(e, "floor").y, count++;
    }
    double F = 0;
    for (int i = COLUMN - 1; i > 0; i--) F = (m * EXAM_G + F * (cb - mu * sb)) / (cb + mu * sb);
    /* the lowest: wall N = F sin b, floor m g + F cos b - mu N */
    e->expected = m * EXAM_G + F * (cb - mu * sb);
    return sum / count;
}

/* An hourglass: from rest to rest the mean force on the glass is the weight of the sand. */
static double hourglass(exam* e, double h)
{
    char text[16000];
    int grains = 0,
        n = snprintf(
            text, sizeof text,
            "dimension: 2\nmaterials: { default: { friction: 0.3 } }\nbodies:\n"
            "  - { name: glass, fixed: true, shape: [ { box: [1, 0.1], position: [0, -0.6] }, { box: [0.1, 2], "
            "position: "
            "[-0.55, 0.4] }, { box: [0.1, 2], position: [0.55, 0.4] }, { polygon: [[-0.6, 0.05], [-0.15, 0.05], [-0.6, "
            "0.6]] }, { polygon: [[0.6, 0.05], [0.6, 0.6], [0.15, 0.05]] } ] }\n");
    for (int row = 0; row < 6; row++)
        for (int k = 0; k < 7; k++, grains++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "  - { name: g%d, shape: { disc: 0.03 }, mass: 0.1, position: [%g, %g] }\n", grains,
                          -0.21 + 0.07 * k + 0.013 * (row % 3), 0.5 + 0.08 * row);
    exam_open(e, h, "%s", text);
    double impulse = 0, momentum[6];
    const double end = 3;
    while (exam_going(e, end)) {
        exam_step(e);
        impulse -= h * exam_force(e, "glass").y;
    }
    if (!e->world) return NAN;
    mor_world_momentum(e->world, momentum);
    e->expected = 0.1 * grains * EXAM_G;
    return (impulse + momentum[1]) / mor_world_time(e->world);
}

/* The neck is five grains wide, so they do not arch, and the slopes are steeper than the angle of friction. */
static double sand_runs(exam* e, double h)
{
    hourglass(e, h);
    double below = 0;
    char name[8];
    for (int i = 0; i < 42; i++) {
        snprintf(name, sizeof name, "g%d", i);
        below += exam_body(e, name).com.y < 0.05;
    }
    e->expected = 42;
    return below;
}

/* Momentum of a heap in free flight that collides with itself. */
static double heap_momentum(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nseed: 3\nbodies:\n  - { name: a, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, grid: { "
              "count: [2, 2, 2], "
              "spacing: [0.3, 0.3, 0.3], origin: [0, 0, 0] }, random: { orientation: true }, velocity: [1, 0, 0] }\n"
              "  - { name: b, shape: { sphere: 0.15 }, mass: 2, grid: { count: [1, 2, 2], spacing: [1, 0.3, 0.3], "
              "origin: [2, 0, 0] }, "
              "velocity: [-1, 0, 0] }\n");
    double before[6], after[6];
    if (!e->world) return NAN;
    mor_world_momentum(e->world, before);
    exam_until(e, 2);
    mor_world_momentum(e->world, after);
    e->expected = before[5], e->scale = 8;
    return after[5];
}

const experiment exam_grains[] = {
    { AREA, "Janssen's silo, a column of 24", "geometric series", "N", 0.001, 1e-2, silo, 0, 0, 0 },
    { AREA, "mean weight of an hourglass", "m g", "N", 0.002, 1e-3, hourglass, 0, 0, true },
    { AREA, "grains below a wide neck after 3 s", "all: the slopes are steeper than friction", "", 0.002, 1e-2,
      sand_runs, 0, 0, true },
    { AREA, "angular momentum of colliding heaps", "kept", "kg m^2/s", 0.005, 1e-4, heap_momentum, 0, 0, 0 },
    { 0 }
};
