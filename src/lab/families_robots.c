/* Families of the database with joints: robots on their feet, closed chains on the floor. See families.c. */
#include "lab/dataset.h"

#include <math.h>

static const double pi = 3.14159265358979324;

static void begin(FILE* o, const char* name, double size, double step)
{
    fprintf(o,
            "moreau: 1\nname: %s %g\ntime: { step: %g, end: 10 }\nseed: 11\n"
            "method: { formulation: ncp, solver: { name: auto, tol: 1.0e-8 }, on_failure: warn }\n"
            "materials:\n  rubber: { friction: 0.7, density: 700 }\n",
            name, size, step);
}

/* A trunk on n legs of two links, hips and knees with dry friction that holds the weight; every foot is a box with four
 * corners on the floor. The loads between the legs are not determined by the dynamics, only by friction and joints. */
void mor_family_robot_urdf(double n, FILE* o)
{
    const double trunk = 2.0 * n, upper = 1.0, lower = 0.7, length = 0.25;
    fprintf(o,
            "<robot name=\"walker\">\n<link name=\"trunk\"><inertial><mass value=\"%.17g\"/><inertia ixx=\"%.17g\" "
            "ixy=\"0\" ixz=\"0\" iyy=\"%.17g\" iyz=\"0\" izz=\"%.17g\"/></inertial>"
            "<collision><geometry><box size=\"0.3 0.3 0.08\"/></geometry></collision></link>\n",
            trunk, 0.01 * trunk, 0.01 * trunk, 0.018 * trunk);
    for (int k = 0; k < n; k++) {
        double a = 2.0 * pi * (k + 0.5) / n, x = 0.25 * cos(a), y = 0.25 * sin(a);
        fprintf(o,
                "<joint name=\"hip_%d\" type=\"revolute\"><parent link=\"trunk\"/><child link=\"thigh_%d\"/><origin "
                "xyz=\"%.17g %.17g 0\" rpy=\"0 0 %.17g\"/><axis xyz=\"0 1 0\"/>"
                "<limit lower=\"-1.2\" upper=\"1.2\" effort=\"100\" velocity=\"20\"/><dynamics damping=\"0.1\" "
                "friction=\"%g\"/></joint>\n",
                k, k, x, y, a, 15.0);
        fprintf(o,
                "<link name=\"thigh_%d\"><inertial><origin xyz=\"0 0 %g\"/><mass value=\"%g\"/><inertia ixx=\"0.006\" "
                "ixy=\"0\" ixz=\"0\" iyy=\"0.006\" iyz=\"0\" izz=\"0.0008\"/></inertial></link>\n",
                k, -0.5 * length, upper);
        fprintf(o,
                "<joint name=\"knee_%d\" type=\"revolute\"><parent link=\"thigh_%d\"/><child link=\"shin_%d\"/><origin "
                "xyz=\"0 0 %g\"/><axis xyz=\"0 1 0\"/>"
                "<limit lower=\"-1.5\" upper=\"1.5\" effort=\"100\" velocity=\"20\"/><dynamics damping=\"0.1\" "
                "friction=\"%g\"/></joint>\n",
                k, k, k, -length, 15.0);
        fprintf(o,
                "<link name=\"shin_%d\"><inertial><origin xyz=\"0 0 %g\"/><mass value=\"%g\"/><inertia ixx=\"0.004\" "
                "ixy=\"0\" ixz=\"0\" iyy=\"0.004\" iyz=\"0\" izz=\"0.0006\"/></inertial>"
                "<collision><origin xyz=\"0.02 0 %g\"/><geometry><box size=\"0.12 0.08 "
                "0.03\"/></geometry></collision></link>\n",
                k, -0.5 * length, lower, -length);
    }
    fputs("</robot>\n", o);
}

void mor_family_robot(double n, FILE* o)
{
    begin(o, "robot", n, 0.002);
    fprintf(o,
            "bodies:\n  - { name: floor, shape: plane, material: rubber, fixed: true }\n"
            "  - { name: load, shape: { box: [0.2, 0.2, 0.1] }, material: rubber, mass: 5, position: [0.02, 0.01, "
            "0.605] }\n"
            "robots:\n  - { name: walker, urdf: robots/robot-%g.urdf, base: floating, position: [0, 0, 0.5149], "
            "material: rubber }\n",
            n);
}

/* n robots of four legs in a row, each pair under a common plank: one island, some twenty contacts per robot. */
void mor_family_crowd_urdf(double n, FILE* o)
{
    (void)n;
    mor_family_robot_urdf(4, o);
}

void mor_family_crowd(double n, FILE* o)
{
    begin(o, "crowd", n, 0.002);
    fprintf(o, "bodies:\n  - { name: floor, shape: plane, material: rubber, fixed: true }\n");
    for (int k = 0; k + 1 < n; k++)
        fprintf(o,
                "  - { name: plank_%d, shape: { box: [0.8, 0.1, 0.05] }, material: rubber, mass: 3, position: [%g, 0, "
                "0.5798] }\n",
                k, k + 0.5);
    fprintf(o, "robots:\n");
    for (int k = 0; k < n; k++)
        fprintf(o,
                "  - { name: walker_%d, urdf: robots/crowd-%g.urdf, base: floating, position: [%d, 0, 0.5149], "
                "material: rubber }\n",
                k, n, k);
}

/* A ring of n links hinged to each other, standing on one of them: 6 n velocities, 5 n equations of which three are
 * redundant. */
void mor_family_ring(double n, FILE* o)
{
    double length = 0.2, radius = 0.5 * length / tan(pi / n), corner = 0.5 * length / sin(pi / n);
    begin(o, "ring", n, 0.002);
    fprintf(o, "bodies:\n  - { name: floor, shape: plane, material: rubber, fixed: true }\n");
    for (int k = 0; k < n; k++) {
        double a = 2.0 * pi * k / n - 0.5 * pi; /* the first lies on the floor */
        fprintf(o,
                "  - { name: link_%d, shape: { box: [%.17g, 0.1, 0.04] }, material: rubber, mass: 0.5, position: "
                "[%.17g, 0, %.17g], orientation: { axis: [0, 1, 0], angle: %.17g } }\n",
                k, 0.8 * length, radius * cos(a), radius + 0.0199 + radius * sin(a), -(a + 0.5 * pi) * 180.0 / pi);
    }
    fprintf(
        o,
        "  - { name: weight, shape: { box: [0.15, 0.09, 0.1] }, material: rubber, mass: 2, position: [0, 0, %.17g] }\n",
        2.0 * radius + 0.0199 + 0.07);
    fprintf(o, "joints:\n");
    for (int k = 0; k < n; k++) {
        double a = 2.0 * pi * (k + 0.5) / n - 0.5 * pi;
        fprintf(o,
                "  - { name: hinge_%d, type: revolute, bodies: [link_%d, link_%d], point: [%.17g, 0, %.17g], axis: [0, "
                "1, 0], friction: 0.3 }\n",
                k, k, (k + 1) % (int)n, corner * cos(a), radius + 0.0199 + corner * sin(a));
    }
}
