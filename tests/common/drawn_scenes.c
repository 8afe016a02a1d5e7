#include "common/drawn_scenes.h"

#include "common/random_scenes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct draw {
    uint64_t seed;
    test_drawn* out;
    double unit; /* typical size of a body [m] */
    bool planar;
} draw;

static double between(draw* d, double a, double b) { return test_random(&d->seed, a, b); }
static double decades(draw* d, double a, double b) { return exp(between(d, log(a), log(b))); }
static int below(draw* d, int n) { return (int)between(d, 0.0, (double)n) % n; }

static void add(draw* d, const char* format, ...)
{
    size_t used = strlen(d->out->text);
    va_list list;
    va_start(list, format);
    int n = vsnprintf(d->out->text + used, sizeof d->out->text - used, format, list);
    va_end(list);
    assert_true(n >= 0 && used + (size_t)n < sizeof d->out->text);
}

/* ------------------------------------------------------------------------------------ shapes */

static void add_hull(draw* d, double r)
{
    int n = 5 + below(d, 10);
    add(d, "hull: [");
    for (int i = 0; i < n; i++) {
        mor_vec3 p = mor_scale(r, mor_normalize(test_random_vector(&d->seed), mor_v3(1, 0, 0)));
        add(d, "%s[%.6g, %.6g, %.6g]", i ? ", " : "", p.x, p.y, p.z);
    }
    add(d, "]");
}

/* One shape of size about r; returns half of its longest extent. */
static double add_solid(draw* d, double r)
{
    double a = between(d, 0.4, 1.0) * r, b = between(d, 0.4, 1.0) * r;
    switch (below(d, 9)) {
    case 0:
        add(d, "sphere: %.6g", r);
        return r;
    case 1:
        add(d, "box: [%.6g, %.6g, %.6g]", 2 * r, 2 * a, 2 * b);
        return sqrt(r * r + a * a + b * b);
    case 2:
        add(d, "capsule: { radius: %.6g, length: %.6g }", 0.5 * a, r);
        return 0.5 * (a + r);
    case 3:
        add(d, "cylinder: { radius: %.6g, length: %.6g }", a, b);
        return hypot(a, 0.5 * b);
    case 4:
        add(d, "cone: { radius: %.6g, height: %.6g }", a, r);
        return fmax(a, 0.75 * r);
    case 5:
        add(d, "prism: { sides: %d, radius: %.6g, length: %.6g }", 3 + below(d, 6), a, b);
        return hypot(a, 0.5 * b);
    case 6:
        add_hull(d, r);
        return r;
    case 7: /* a thin plate */
        add(d, "box: [%.6g, %.6g, %.6g]", 2 * r, 2 * a, between(d, 0.01, 0.05) * r);
        return hypot(r, a);
    default: /* a stick */
        b = between(d, 0.03, 0.1) * r;
        add(d, "box: [%.6g, %.6g, %.6g]", 2 * r, b, b);
        return r;
    }
}

static double add_flat(draw* d, double r)
{
    double a = between(d, 0.1, 1.0) * r;
    switch (below(d, 3)) {
    case 0:
        add(d, "disc: %.6g", r);
        return r;
    case 1:
        add(d, "polygon: [[%.6g, %.6g], [%.6g, %.6g], [%.6g, %.6g], [%.6g, %.6g]]", -r, -a, r, -a, r, a, -r, a);
        return hypot(r, a);
    default:
        add(d, "polygon: [[%.6g, 0], [%.6g, %.6g], [%.6g, %.6g]]", r, -a, r, -a, -r);
        return hypot(r, a);
    }
}

static double add_shape(draw* d, double r) { return d->planar ? add_flat(d, r) : add_solid(d, r); }

static void add_vector(draw* d, const char* key, mor_vec3 v)
{
    if (d->planar) add(d, ", %s: [%.9g, %.9g]", key, v.x, v.z);
    else add(d, ", %s: [%.9g, %.9g, %.9g]", key, v.x, v.y, v.z);
}

/* A body at p; mass over six decades unless given. */
static void add_body(draw* d, mor_vec3 p, double r, double mass, bool turned, bool moving)
{
    test_drawn* o = d->out;
    assert_true(o->count < DRAWN_BODIES);
    add(d, "  - { name: b%d, shape: { ", o->count);
    o->size[o->count] = add_shape(d, r);
    o->mass[o->count] = mass > 0.0 ? mass : decades(d, 1e-3, 1e3);
    add(d, " }, mass: %.6g", o->mass[o->count]);
    o->weight += 9.81 * o->mass[o->count];
    o->extent = fmax(o->extent, fmax(mor_norm(p), o->size[o->count]));
    o->count++;
    add_vector(d, "position", p);
    if (turned && d->planar) add(d, ", angle: %.6g", between(d, -3, 3));
    if (turned && !d->planar) {
        mor_quat q = test_random_turn(&d->seed);
        add(d, ", orientation: [%.9g, %.9g, %.9g, %.9g]", q.w, q.x, q.y, q.z);
    }
    if (moving) {
        double speed = sqrt(9.81 * r) * between(d, 0.1, 3.0);
        add_vector(d, "velocity", mor_scale(speed, test_random_vector(&d->seed)));
        mor_vec3 w = mor_scale(between(d, 0.0, 2.0) * speed / r, test_random_vector(&d->seed));
        if (d->planar) add(d, ", angular_velocity: %.6g", w.z);
        else add_vector(d, "angular_velocity", w);
    }
    add(d, " }\n");
}

/* ------------------------------------------------------------------------------------- scenes */

static double radius(draw* d) { return d->unit * decades(d, 0.3, 2.0); }

/* Anywhere above and in the floor, near enough to overlap now and then. */
static void draw_pile(draw* d)
{
    int n = 2 + below(d, 8);
    for (int i = 0; i < n; i++) {
        double r = radius(d);
        mor_vec3 p = mor_scale(2.0 * d->unit, test_random_vector(&d->seed));
        add_body(d, mor_v3(p.x, p.y, p.z + between(d, 0.0, 3.0) * d->unit), r, 0.0, true, below(d, 2));
    }
}

/* One on the other, each mass up to a million times the one below. */
static void draw_stack(draw* d)
{
    int n = 2 + below(d, 5);
    double z = 0.0;
    for (int i = 0; i < n; i++) {
        double r = d->unit * between(d, 0.5, 1.0);
        add_body(d, mor_v3(0.05 * r * between(d, -1, 1), 0, z + r), r, 0.0, false, false);
        z += between(d, 1.6, 2.2) * r;
    }
}

/* In the very same place. */
static void draw_coincident(draw* d)
{
    int n = 2 + below(d, 3);
    double r = d->unit, mass = below(d, 2) ? decades(d, 1e-3, 1e3) : 0.0, z = between(d, -0.5, 3.0) * r;
    uint64_t shape = d->seed;
    for (int i = 0; i < n; i++) {
        if (below(d, 2)) d->seed = shape; /* the same shape, too */
        add_body(d, mor_v3(0, 0, z), r, mass, false, false);
        d->seed += (uint64_t)i;
    }
}

/* Deep in the floor. */
static void draw_deep(draw* d)
{
    int n = 1 + below(d, 4);
    for (int i = 0; i < n; i++) {
        double r = radius(d);
        add_body(d, mor_v3(3.0 * d->unit * i, 0, between(d, -3.0, 0.8) * r), r, 0.0, below(d, 2), below(d, 4) == 0);
    }
}

/* A chain that hangs from the world or falls, with any joints. */
static void draw_chain(draw* d)
{
    static const char* const kinds[] = { "spherical", "revolute", "prismatic", "universal", "cylindrical", "fixed" };
    int n = 2 + below(d, 5), closed = below(d, 2);
    double step = 2.0 * d->unit, z = between(d, 0.5, 3.0) * step;
    bool alike = below(d, 2);
    for (int i = 0; i < n; i++)
        add_body(d, mor_v3(step * i, 0, z), between(d, 0.3, 0.49) * step, alike ? 1.0 : 0.0, false, below(d, 3) == 0);
    add(d, "joints:\n");
    for (int i = closed ? 0 : 1; i < n; i++) {
        mor_vec3 axis = mor_normalize(test_random_vector(&d->seed), mor_v3(1, 0, 0));
        mor_vec3 other = mor_normalize(mor_cross(axis, mor_v3(0.3, -0.4, 0.8)), mor_v3(0, 1, 0));
        const char* kind = kinds[below(d, 6)];
        add(d, "  - { name: j%d, type: %s, bodies: [b%d, ", i, kind, i);
        if (i) add(d, "b%d]", i - 1);
        else add(d, "world]");
        add(d, ", point: [%.9g, 0, %.9g]", step * (i - 0.5), z);
        bool axial = strcmp(kind, "spherical") != 0 && strcmp(kind, "fixed") != 0;
        if (axial) add(d, ", axis: [%.9g, %.9g, %.9g]", axis.x, axis.y, axis.z);
        if (strcmp(kind, "universal") == 0) add(d, ", axis2: [%.9g, %.9g, %.9g]", other.x, other.y, other.z);
        if (strcmp(kind, "revolute") == 0 && below(d, 2))
            add(d, ", limits: [%.6g, %.6g]", between(d, -1.0, 0.1), between(d, 0.2, 1.0));
        add(d, " }\n");
    }
}

void test_draw_scene(uint64_t seed, test_drawn* out)
{
    static const struct {
        const char* name;
        void (*draw)(draw*);
        bool solid; /* 3-D only */
    } kinds[] = { { "pile", draw_pile, false },
                  { "stack", draw_stack, false },
                  { "chain", draw_chain, true },
                  { "coincident", draw_coincident, false },
                  { "deep", draw_deep, false } };
    memset(out, 0, sizeof *out);
    draw d = { .seed = seed * 7919u + 12345u, .out = out };
    int kind = below(&d, 8);
    if (kind >= 5) kind = 0; /* piles most of all */
    d.unit = decades(&d, 0.01, 10.0);
    d.planar = !kinds[kind].solid && below(&d, 5) == 0;
    double h = decades(&d, 1e-3, 0.05), mu = below(&d, 5) ? between(&d, 0.0, 1.5) : 0.0;
    out->kind = kinds[kind].name;
    add(&d, "# drawn scene %llu: %s\nmoreau: 1\n%stime: { step: %.6g, end: %.6g }\n", (unsigned long long)seed,
        out->kind, d.planar ? "dimension: 2\n" : "", h, 500 * h);
    if (kinds[kind].solid && below(&d, 2)) add(&d, "method: { coordinates: minimal }\n");
    add(&d, "materials:\n  default: { friction: %.6g }\nbodies:\n", mu);
    if (d.planar)
        add(&d, "  - { name: floor, fixed: true, shape: { polygon: [[%g, %g], [%g, %g], [%g, 0], [%g, 0]] } }\n",
            -200 * d.unit, -20 * d.unit, 200 * d.unit, -20 * d.unit, 200 * d.unit, -200 * d.unit);
    else if (below(&d, 4))
        add(&d, "  - { name: floor, fixed: true, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } } }\n");
    else
        add(&d, "  - { name: floor, fixed: true, position: [0, 0, %g], shape: { box: [%g, %g, %g] } }\n", -5 * d.unit,
            100 * d.unit, 100 * d.unit, 10 * d.unit);
    kinds[kind].draw(&d);
}
