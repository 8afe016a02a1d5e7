/* The families of the benchmark database, as scenes.
 *
 * Each writes a scene file for a size (number of bodies, mass ratio, friction ...), with all numbers fixed: the scene,
 * its run and the frames are the same bits everywhere. What each is hard in is said in its summary. Lengths in m,
 * masses by number or density. */
#include "lab/dataset.h"

#include <math.h>

static void begin(FILE* o, const char* name, double size, double step)
{
    fprintf(o,
            "moreau: 1\nname: %s %g\ntime: { step: %g, end: 10 }\nseed: 11\n"
            "method: { formulation: ncp, solver: { name: auto, tol: 1.0e-8 }, on_failure: warn }\n",
            name, size, step);
}

/* The same for piles: their way to rest need not be accurate, and it is long. */
static void begin_rough(FILE* o, const char* name, double size, double step)
{
    fprintf(o,
            "moreau: 1\nname: %s %g\ntime: { step: %g, end: 10 }\nseed: 11\n"
            "method: { formulation: ncp, solver: { name: nsgs, tol: 1.0e-3, max_iter: 100 }, on_failure: warn }\n",
            name, size, step);
}

static void floor_plane(FILE* o, double friction)
{
    fprintf(
        o,
        "materials:\n  wood: { friction: %.17g, density: 700 }\nbodies:\n"
        "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, material: wood, fixed: true }\n",
        friction);
}

/* Four walls of a square bin of half-width w. */
static void walls(FILE* o, double w)
{
    const int d[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
    for (int i = 0; i < 4; i++)
        fprintf(o,
                "  - { name: wall_%d, shape: { plane: { normal: [%d, %d, 0], point: [%g, %g, 0] } }, material: wood, "
                "fixed: true }\n",
                i, d[i][0], d[i][1], -w * d[i][0], -w * d[i][1]);
}

static void box_stack(double n, FILE* o)
{
    begin(o, "box stack", n, 0.01);
    floor_plane(o, 0.5);
    fprintf(o,
            "  - { name: box, shape: { box: [1, 1, 1] }, material: wood, mass: 1, grid: { count: [1, 1, %g], spacing: "
            "[1, 1, 1], origin: [0, 0, 0.5] } }\n",
            n);
}

static void sphere_stack(double n, FILE* o)
{
    begin(o, "sphere stack", n, 0.01);
    floor_plane(o, 0.5);
    fprintf(o,
            "  - { name: ball, shape: { sphere: 0.5 }, material: wood, mass: 1, grid: { count: [%g, %g, %g], spacing: "
            "[1, 1, 1], origin: [0, 0, 0.5] } }\n",
            n, n, n);
}

static void contact_chain(double n, FILE* o)
{
    begin(o, "contact chain", n, 0.005);
    floor_plane(o, 0.3);
    fprintf(o,
            "  - { name: stop, shape: { plane: { normal: [-1, 0, 0], point: [%g, 0, 0] } }, material: wood, fixed: "
            "true }\n",
            n - 0.5);
    fprintf(o,
            "  - { name: ball, shape: { sphere: 0.5 }, material: wood, mass: 1, grid: { count: [%g, 1, 1], spacing: "
            "[1, 1, 1], origin: [0, 0, 0.5] } }\n",
            n);
    fprintf(o, "  - { name: ram, shape: { box: [0.4, 1, 0.9] }, material: wood, mass: 20, position: [-0.75, 0, 0.45], "
               "velocity: [2, 0, 0] }\n"
               "forces:\n  - { body: ram, force: [400, 0, 0] }\n");
}

/* n tents in the lowest row, each of two cards leaning at 20 degrees, roofs between the tops, rows above. */
static void card_house(double n, FILE* o)
{
    const double l = 0.9, t = 0.02, a = 20.0 * 3.14159265358979324 / 180.0;
    double pitch = 2.0 * (l * sin(a) + t * cos(a)) + 0.02, rise = l * cos(a) + t * sin(a);
    begin(o, "card house", n, 0.005);
    floor_plane(o, 0.8);
    for (int row = 0; row < n; row++) {
        double base = row * (rise + t);
        for (int k = 0; k < (int)n - row; k++) {
            double x = (k + 0.5 * row) * pitch, off = 0.5 * l * sin(a) + 0.5 * t * cos(a) + 5e-5;
            for (int side = -1; side <= 1; side += 2)
                fprintf(o,
                        "  - { name: card_%d_%d_%c, shape: { box: [%g, 0.6, %g] }, material: wood, position: [%.17g, "
                        "0, %.17g], orientation: { axis: [0, 1, 0], angle: %d } }\n",
                        row, k, side < 0 ? 'l' : 'r', t, l, x + side * off, base + 0.5 * rise, -20 * side);
            if (k + 1 < (int)n - row)
                fprintf(o,
                        "  - { name: roof_%d_%d, shape: { box: [%.17g, 0.6, %g] }, material: wood, position: [%.17g, "
                        "0, %.17g] }\n",
                        row, k, pitch, t, x + 0.5 * pitch, base + rise + 0.5 * t);
        }
    }
}

static void wall(double n, FILE* o)
{
    begin(o, "wall", n, 0.01);
    floor_plane(o, 0.6);
    for (int row = 0; row < n; row++) {
        int bricks = (int)n + 1 - row % 2;
        for (int k = 0; k < bricks; k++)
            fprintf(
                o,
                "  - { name: brick_%d_%d, shape: { box: [0.398, 0.2, 0.2] }, material: wood, position: [%g, 0, %g] }\n",
                row, k, 0.4 * k + (row % 2 ? 0.2 : 0.0), 0.1 + 0.2 * row);
    }
}

/* A row of n boxes held up only by friction between a wall and a finger that is pressed against them. */
static void grasp(double n, FILE* o)
{
    begin(o, "grasp", n, 0.005);
    floor_plane(o, 0.5);
    fprintf(
        o,
        "  - { name: jaw, shape: { box: [0.2, 0.4, 0.4] }, material: wood, position: [-0.15, 0, 2], fixed: true }\n");
    fprintf(o,
            "  - { name: box, shape: { box: [0.1, 0.1, 0.1] }, material: wood, mass: 0.5, grid: { count: [%g, 1, 1], "
            "spacing: [0.1, 1, 1], origin: [0, 0, 2] } }\n",
            n);
    fprintf(o,
            "  - { name: finger, shape: { box: [0.2, 0.4, 0.4] }, material: wood, mass: 1, position: [%.17g, 0, 2] }\n",
            0.1 * n + 0.05);
    fprintf(o, "forces:\n  - { body: finger, force: [%.17g, 0, 9.81] }\n", -40.0 * n);
}

/* Clearance 10^-n of a square peg in a square hole, slightly turned when it enters. */
static void peg(double n, FILE* o)
{
    double edge = 1.0 - pow(10.0, -n);
    begin(o, "peg", n, 0.005);
    floor_plane(o, 0.3);
    const int d[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
    for (int i = 0; i < 4; i++)
        fprintf(o,
                "  - { name: side_%d, shape: { box: [%d, %d, 1] }, material: wood, position: [%d, %d, 0.5], fixed: "
                "true }\n",
                i, d[i][0] ? 1 : 3, d[i][1] ? 1 : 3, d[i][0], d[i][1]);
    fprintf(o,
            "  - { name: peg, shape: { box: [%.17g, %.17g, 1] }, material: wood, mass: 1, position: [0, 0, 1.2], "
            "velocity: [0.05, 0.02, -1] }\n"
            "forces:\n  - { body: peg, force: [4, 1, -20], at: [0.2, 0, 1.7] }\n",
            edge, edge);
}

static void mass_ratio(double ratio, FILE* o)
{
    begin(o, "mass ratio", ratio, 0.005);
    floor_plane(o, 0.5);
    fprintf(
        o,
        "  - { name: light, shape: { box: [1, 1, 1] }, material: wood, mass: 1, grid: { count: [1, 1, 3], spacing: [1, "
        "1, 1], origin: [0, 0, 0.5] } }\n"
        "  - { name: heavy, shape: { box: [1.4, 1.4, 1] }, material: wood, mass: %.17g, position: [0.1, 0.05, 3.5] }\n",
        ratio);
}

/* Friction (size - 1): 0 to 1.5, a heap of boxes on a slope of 30 degrees. */
static void friction(double size, FILE* o)
{
    begin(o, "friction", size, 0.005);
    fprintf(o,
            "materials:\n  wood: { friction: %.17g, density: 700 }\nbodies:\n"
            "  - { name: slope, shape: { plane: { normal: [0.5, 0, 0.8660254037844386], point: [0, 0, 0] } }, "
            "material: wood, fixed: true }\n",
            size - 1.0);
    fprintf(o, "  - { name: box, shape: { box: [0.4, 0.4, 0.4] }, material: wood, grid: { count: [3, 3, 2], spacing: "
               "[0.41, 0.41, 0.45], origin: [0, 0, 0.7] }, random: { orientation: true, position: 0.01 } }\n");
}

static void redundant(double n, FILE* o)
{
    begin(o, "redundant", n, 0.01);
    floor_plane(o, 0.5);
    fprintf(o,
            "  - { name: foot, shape: { box: [0.2, 0.2, 0.2] }, material: wood, grid: { count: [%g, %g, 1], spacing: "
            "[0.3, 0.3, 1], origin: [0, 0, 0.1] } }\n",
            n, n);
    fprintf(o,
            "  - { name: plate, shape: { box: [%g, %g, 0.1] }, material: wood, position: [%g, %g, 0.25], velocity: "
            "[0.3, 0.1, 0] }\n",
            0.3 * n, 0.3 * n, 0.15 * (n - 1), 0.15 * (n - 1));
}

static void bin(FILE* o, double n, const char* shape, bool turned)
{
    double side = ceil(cbrt(n / 2.0)), layers = ceil(n / (side * side));
    walls(o, 0.65 * side);
    int left = (int)n;
    for (int k = 0; k < layers && left > 0; k++)
        for (int j = 0; j < side && left > 0; j++) {
            int count = left < side ? left : (int)side;
            fprintf(o,
                    "  - { name: b%d_%d, shape: { %s }, material: wood, grid: { count: [%d, 1, 1], spacing: [1.2, 1, "
                    "1], origin: [%.17g, %.17g, %.17g] }, random: { orientation: %s, position: 0.1 } }\n",
                    k, j, shape, count, -0.6 * (side - 1), 1.2 * j - 0.6 * (side - 1), 0.8 + 1.1 * k,
                    turned ? "true" : "false");
            left -= count;
        }
}

static void box_pile(double n, FILE* o)
{
    begin_rough(o, "box pile", n, 0.01);
    floor_plane(o, 0.5);
    bin(o, n, "box: [0.8, 0.8, 0.8]", true);
}

static void sphere_pile(double n, FILE* o)
{
    begin_rough(o, "sphere pile", n, 0.01);
    floor_plane(o, 0.5);
    bin(o, n, "sphere: 0.45", false);
}

static void dominoes(double n, FILE* o)
{
    begin(o, "dominoes", n, 0.005);
    floor_plane(o, 0.6);
    fprintf(o, "  - { name: first, shape: { box: [0.08, 0.24, 0.48] }, material: wood, position: [0, 0, 0.24], "
               "velocity: [0.36, 0, 0.06], angular_velocity: [0, 1.5, 0] }\n");
    fprintf(o,
            "  - { name: domino, shape: { box: [0.08, 0.24, 0.48] }, material: wood, grid: { count: [%g, 1, 1], "
            "spacing: [0.2, 1, 1], origin: [0.2, 0, 0.24] } }\n",
            n - 1);
}

static void shapes(double n, FILE* o)
{
    static const char* const kinds[] = { "capsule: { radius: 0.2, length: 0.4 }",
                                         "cylinder: { radius: 0.3, length: 0.5 }",
                                         "octahedron: { radius: 0.45 }",
                                         "icosahedron: { radius: 0.4 }",
                                         "prism: { sides: 6, radius: 0.3, length: 0.6 }",
                                         "box: [0.5, 0.4, 0.3]",
                                         "sphere: 0.3" };
    begin_rough(o, "shapes", n, 0.005);
    floor_plane(o, 0.4);
    walls(o, 1.5);
    for (int k = 0; k < n; k++)
        fprintf(o,
                "  - { name: b%d, shape: { %s }, material: wood, position: [%g, %g, %g], random: { orientation: true, "
                "position: 0.05 } }\n",
                k, kinds[k % 7], -1.0 + 1.0 * (k % 3), -1.0 + 1.0 * (k / 3 % 3), 0.6 + 1.0 * (k / 9));
}

static void belt(double n, FILE* o)
{
    begin_rough(o, "belt", n, 0.005);
    fprintf(o,
            "materials:\n  wood: { friction: 0.4, density: 700 }\nbodies:\n"
            "  - { name: belt, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, material: wood, fixed: true, "
            "surface_velocity: [2, 0.5, 0] }\n"
            "  - { name: box, shape: { box: [0.4, 0.4, 0.4] }, material: wood, grid: { count: [%g, 2, 2], spacing: "
            "[0.4, 0.5, 0.4], origin: [0, 0, 0.2] } }\n",
            n);
}

static void impact(double n, FILE* o)
{
    begin_rough(o, "impact", n, 0.005);
    floor_plane(o, 0.5);
    for (int row = 0; row < n; row++)
        fprintf(o,
                "  - { name: row_%d, shape: { box: [0.3, 0.3, 0.3] }, material: wood, grid: { count: [1, %d, 1], "
                "spacing: [1, 0.32, 1], origin: [0, %.17g, %.17g] } }\n",
                row, (int)n - row, -0.16 * ((int)n - row - 1), 0.15 + 0.3 * row);
    fprintf(o, "  - { name: shot, shape: { sphere: 0.3 }, material: wood, mass: 200, position: [-0.65, 0.05, 0.45], "
               "velocity: [15, 0, 0] }\n");
}

static void planar(double n, FILE* o)
{
    fprintf(o,
            "moreau: 1\nname: planar %g\ndimension: 2\ngravity: [0, -9.81]\ntime: { step: 0.005, end: 10 }\nseed: 11\n"
            "method: { formulation: ncp, solver: { name: auto, tol: 1.0e-8 }, on_failure: warn }\nmaterials:\n  wood: "
            "{ friction: 0.5, density: 10 }\nbodies:\n"
            "  - { name: tray, shape: { chain: [[-2, 20], [-2, 0], [2, 0], [2, 20]] }, material: wood, fixed: true }\n",
            n);
    double rows = ceil(n / 6.0);
    fprintf(o,
            "  - { name: disc, shape: { disc: 0.24 }, material: wood, grid: { count: [6, %g], spacing: [0.6, 1.1], "
            "origin: [-1.5, 0.4] }, random: { position: 0.05 } }\n",
            ceil(rows / 2));
    fprintf(o,
            "  - { name: box, shape: { box: [0.4, 0.3] }, material: wood, grid: { count: [6, %g], spacing: [0.6, 1.1], "
            "origin: [-1.5, 0.95] }, random: { orientation: true, position: 0.05 } }\n",
            fmax(1.0, floor(rows / 2)));
}

/* A round arch of n wedges between two fixed feet: stands by compression and friction alone. */
static void arch(double n, FILE* o)
{
    const double pi = 3.14159265358979324, r = 1.0, t = 0.3;
    begin(o, "arch", n, 0.005);
    floor_plane(o, 0.7);
    double step = pi / n;
    for (int k = 0; k < n; k++) {
        double a0 = pi - k * step, a1 = pi - (k + 1) * step;
        fprintf(o, "  - { name: stone_%d, material: wood, position: [0, 0, 0], shape: { hull: [", k);
        for (int c = 0; c < 8; c++) {
            double a = c & 1 ? a1 : a0, radius = c & 2 ? r + t : r, y = c & 4 ? 0.2 : -0.2;
            fprintf(o, "%s[%.17g, %g, %.17g]", c ? ", " : "", radius * cos(a), y, radius * sin(a));
        }
        fprintf(o, "] } }\n");
    }
    for (int side = -1; side <= 1; side += 2)
        fprintf(o,
                "  - { name: foot_%c, shape: { box: [0.2, 0.6, 0.4] }, material: wood, position: [%.17g, 0, 0.2], "
                "fixed: true }\n",
                side < 0 ? 'l' : 'r', side * (r + t + 0.11));
}

static void bounce(double n, FILE* o)
{
    begin(o, "bounce", n, 0.005);
    fprintf(o,
            "materials:\n  rubber: { friction: 0.4, restitution: 0.7, density: 900 }\nbodies:\n"
            "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, material: rubber, fixed: "
            "true }\n"
            "  - { name: ball, shape: { sphere: 0.2 }, material: rubber, velocity: [1, 0.5, -3], angular_velocity: [3, "
            "1, 5], grid: { count: [%g, %g, 2], spacing: [0.41, 0.41, 0.42], origin: [0, 0, 0.25] } }\n",
            n, n);
}

const mor_family mor_families[] = {
    { "box-stack",
      "cubes on top of each other: redundant, full of internal forces",
      { 2, 5, 10, 20, 40 },
      3,
      5,
      box_stack,
      NULL },
    { "sphere-stack",
      "n^3 touching spheres at rest (n = 5: the scene of RPIsim)",
      { 2, 3, 4, 5, 8 },
      3,
      20,
      sphere_stack,
      NULL },
    { "contact-chain",
      "spheres in a row pressed against a wall: impulses travel the whole row",
      { 3, 10, 30, 100 },
      3,
      4,
      contact_chain,
      NULL },
    { "card-house",
      "thin cards that lean on each other: friction holds everything",
      { 2, 3, 5 },
      2,
      20,
      card_house,
      NULL },
    { "wall", "a brick wall: redundant contacts between rows", { 3, 5, 8, 16 }, 3, 6, wall, NULL },
    { "grasp", "boxes held in the air by friction between two fingers", { 1, 3, 6, 12 }, 3, 4, grasp, NULL },
    { "peg", "a square peg in a hole with clearance 10^-n m", { 1, 2, 3, 4, 5 }, 3, 30, peg, NULL },
    { "mass-ratio",
      "a heavy box on a stack of three of 1 kg, mass ratio as the size says",
      { 1, 1e2, 1e4, 1e6 },
      4,
      10,
      mass_ratio,
      NULL },
    { "friction", "boxes tumbling down a slope, friction = size - 1", { 1, 1.25, 1.75, 2.5 }, 4, 40, friction, NULL },
    { "redundant",
      "a sliding plate on n x n feet: many times more rows than degrees of freedom",
      { 2, 4, 6, 10 },
      3,
      4,
      redundant,
      NULL },
    { "box-pile", "n boxes dropped into a bin", { 10, 40, 150, 500, 2000 }, 3, 45, box_pile, NULL },
    { "sphere-pile", "n spheres dropped into a bin", { 10, 60, 300, 1000, 2000 }, 3, 45, sphere_pile, NULL },
    { "dominoes", "a row of dominoes while it falls", { 5, 20, 60 }, 2, 60, dominoes, NULL },
    { "shapes", "capsules, cylinders, prisms and Platonic solids in a bin", { 9, 36, 100 }, 2, 80, shapes, NULL },
    { "belt", "stacked boxes dragged by a moving belt: sliding everywhere", { 1, 4, 12 }, 3, 4, belt, NULL },
    { "impact", "a heavy ball shot into a pyramid of boxes", { 3, 6, 10 }, 2, 5, impact, NULL },
    { "planar", "discs and boxes in a planar tray", { 12, 60, 240 }, 2, 90, planar, NULL },
    { "arch", "a stone arch between two feet: compression, no bending", { 5, 9, 21 }, 3, 6, arch, NULL },
    { "bounce", "spinning rubber balls that hit the floor and each other", { 1, 3, 6 }, 2, 2, bounce, NULL },
    { "robot",
      "a robot on n legs with a load: dry friction in its joints, four corners under every foot",
      { 2, 4, 6, 12 },
      3,
      10,
      mor_family_robot,
      mor_family_robot_urdf },
    { "crowd",
      "n robots on four legs, neighbours under a common plank: one island of up to 10,000 contacts",
      { 1, 4, 20, 100, 420 },
      2,
      4,
      mor_family_crowd,
      mor_family_crowd_urdf },
    { "ring",
      "a closed chain of n hinged links on the floor under a weight: redundant equations and contacts",
      { 4, 6, 10, 20 },
      3,
      10,
      mor_family_ring,
      NULL },
    { 0 }
};
