/* Meshes of solids that are not convex, made by formula: closed, triangles counter-clockwise from outside. */
#ifndef TESTS_COMMON_SOLIDS_H
#define TESTS_COMMON_SOLIDS_H

#include "moreau/geometry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SOLID_PI 3.14159265358979323846

typedef struct solid_mesh {
    mor_vec3* points;
    int *sizes, *corners;
    int point_count, face_count, point_room, face_room;
} solid_mesh;

static inline int solid_point(solid_mesh* m, double x, double y, double z)
{
    if (m->point_count == m->point_room) {
        m->point_room = 2 * m->point_room + 64;
        m->points = realloc(m->points, (size_t)m->point_room * sizeof *m->points);
    }
    m->points[m->point_count] = mor_v3(x, y, z);
    return m->point_count++;
}

static inline void solid_triangle(solid_mesh* m, int a, int b, int c)
{
    if (m->face_count == m->face_room) {
        m->face_room = 2 * m->face_room + 64;
        m->sizes = realloc(m->sizes, (size_t)m->face_room * sizeof *m->sizes);
        m->corners = realloc(m->corners, 3 * (size_t)m->face_room * sizeof *m->corners);
    }
    m->sizes[m->face_count] = 3;
    int* t = m->corners + 3 * m->face_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static inline void solid_quad(solid_mesh* m, int a, int b, int c, int d)
{
    solid_triangle(m, a, b, c);
    solid_triangle(m, a, c, d);
}

static inline void solid_free(solid_mesh* m)
{
    free(m->points);
    free(m->sizes);
    free(m->corners);
    *m = (solid_mesh){ 0 };
}

/* The volume by tetrahedra with the origin: the divergence theorem once more, in four lines. */
static inline double solid_volume(const solid_mesh* m)
{
    double v = 0.0;
    for (int f = 0; f < m->face_count; f++) {
        const int* t = m->corners + 3 * f;
        v += mor_dot(m->points[t[0]], mor_cross(m->points[t[1]], m->points[t[2]])) / 6.0;
    }
    return v;
}

/* A tube along a closed curve: `around` points of radius r in the plane of normal and binormal at each of n places. */
static inline solid_mesh solid_tube(mor_vec3 (*curve)(double), double r, int n, int around)
{
    solid_mesh m = { 0 };
    mor_vec3 side = { 0.3, 0.1, 1 };
    for (int i = 0; i < n; i++) {
        double s = (double)i / n, e = 1e-5;
        mor_vec3 p = curve(s), t = mor_normalize(mor_sub(curve(s + e), curve(s - e)), mor_v3(1, 0, 0));
        mor_vec3 u = mor_normalize(mor_cross(side, t), mor_v3(0, 1, 0)), v = mor_cross(t, u);
        for (int j = 0; j < around; j++) {
            double a = 2 * SOLID_PI * j / around;
            mor_vec3 q = mor_madd(mor_madd(p, r * cos(a), u), r * sin(a), v);
            solid_point(&m, q.x, q.y, q.z);
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < around; j++) {
            int k = (i + 1) % n, l = (j + 1) % around;
            solid_quad(&m, i * around + j, i * around + l, k * around + l, k * around + j);
        }
    if (solid_volume(&m) < 0.0)
        for (int f = 0; f < m.face_count; f++) {
            int t = m.corners[3 * f];
            m.corners[3 * f] = m.corners[3 * f + 1];
            m.corners[3 * f + 1] = t;
        }
    return m;
}

static inline mor_vec3 solid_circle(double s) { return mor_v3(cos(2 * SOLID_PI * s), sin(2 * SOLID_PI * s), 0); }
/* Radii 1 and 0.3. */
static inline solid_mesh solid_torus(int n, int around) { return solid_tube(solid_circle, 0.3, n, around); }

/* Two straight sides and two half circles of radius 1: a chain link; radius of the wire 0.35. */
static inline mor_vec3 solid_oval(double s)
{
    double straight = 1.6, half = SOLID_PI, length = 2 * straight + 2 * half, at = (s - floor(s)) * length;
    if (at < straight) return mor_v3(at - straight / 2, -1, 0);
    at -= straight;
    if (at < half) return mor_v3(straight / 2 + sin(at), -cos(at), 0);
    at -= half;
    if (at < straight) return mor_v3(straight / 2 - at, 1, 0);
    at -= straight;
    return mor_v3(-straight / 2 - sin(at), cos(at), 0);
}
static inline solid_mesh solid_link(int n, int around) { return solid_tube(solid_oval, 0.35, n, around); }

/* A trefoil knot. */
static inline mor_vec3 solid_trefoil(double s)
{
    double t = 2 * SOLID_PI * s;
    return mor_v3(sin(t) + 2 * sin(2 * t), cos(t) - 2 * cos(2 * t), -sin(3 * t));
}

/* A prism over a ring between an outer and an inner polygon with n corners each (inner radius 0: no bore). */
static inline solid_mesh solid_ring(int n, const double* outer, const double* inner, const double* angle, double height)
{
    solid_mesh m = { 0 };
    for (int top = 0; top < 2; top++)
        for (int i = 0; i < n; i++)
            for (int in = 0; in < 2; in++) {
                double r = in ? inner[i] : outer[i];
                solid_point(&m, r * cos(angle[i]), r * sin(angle[i]), top * height);
            }
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n, a = 2 * i, b = 2 * j, c = 2 * n + 2 * i, d = 2 * n + 2 * j;
        solid_quad(&m, a, b, d, c);                 /* outside */
        solid_quad(&m, b + 1, a + 1, c + 1, d + 1); /* bore */
        solid_quad(&m, c, d, d + 1, c + 1);         /* top */
        solid_quad(&m, b, a, a + 1, b + 1);         /* bottom */
    }
    return m;
}

/* Teeth with trapezoidal flanks between radii 0.8 and 1, bore 0.3, height 0.25. */
static inline solid_mesh solid_gear(int teeth)
{
    int n = 4 * teeth;
    double *outer = malloc((size_t)n * sizeof *outer), *inner = malloc((size_t)n * sizeof *inner),
           *angle = malloc((size_t)n * sizeof *angle);
    static const double at[4] = { 0.0, 0.4, 0.5, 0.9 }, radius[4] = { 0.8, 0.8, 1.0, 1.0 };
    for (int i = 0; i < n; i++) {
        angle[i] = 2 * SOLID_PI * (i / 4 + at[i % 4]) / teeth;
        outer[i] = radius[i % 4];
        inner[i] = 0.3;
    }
    solid_mesh m = solid_ring(n, outer, inner, angle, 0.25);
    free(outer);
    free(inner);
    free(angle);
    return m;
}

/* A round cup: outer radius 1, wall 0.15, height 1.6, floor 0.2; axis z, standing on z = 0. */
static inline solid_mesh solid_cup(int n)
{
    solid_mesh m = { 0 };
    static const double r[4] = { 1, 1, 0.85, 0.85 }, z[4] = { 0, 1.6, 1.6, 0.2 };
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < n; i++)
            solid_point(&m, r[k] * cos(2 * SOLID_PI * i / n), r[k] * sin(2 * SOLID_PI * i / n), z[k]);
    int bottom = solid_point(&m, 0, 0, 0), floor_ = solid_point(&m, 0, 0, 0.2);
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        for (int k = 0; k < 3; k++) solid_quad(&m, k * n + i, k * n + j, (k + 1) * n + j, (k + 1) * n + i);
        solid_triangle(&m, bottom, j, i);
        solid_triangle(&m, floor_, 3 * n + i, 3 * n + j);
    }
    return m;
}

/* A prism over a polygon that may be concave, cut into triangles by the caller: corners of triangles. */
static inline solid_mesh solid_prism(const double (*xy)[2], int n, const int (*triangles)[3], int count, double height)
{
    solid_mesh m = { 0 };
    for (int top = 0; top < 2; top++)
        for (int i = 0; i < n; i++) solid_point(&m, xy[i][0], xy[i][1], top * height);
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        solid_quad(&m, i, j, n + j, n + i);
    }
    for (int t = 0; t < count; t++) {
        solid_triangle(&m, n + triangles[t][0], n + triangles[t][1], n + triangles[t][2]);
        solid_triangle(&m, triangles[t][0], triangles[t][2], triangles[t][1]);
    }
    return m;
}

static inline solid_mesh solid_L(void)
{
    static const double xy[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 0.5 }, { 0.5, 0.5 }, { 0.5, 1.5 }, { 0, 1.5 } };
    static const int t[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 4 }, { 0, 4, 5 } };
    return solid_prism(xy, 6, t, 4, 0.4);
}

/* An organic body: a sphere of n by 2n with bumps and arms, about 4 n^2 triangles. */
static inline solid_mesh solid_organic(int n)
{
    solid_mesh m = { 0 };
    int around = 2 * n;
    int top = solid_point(&m, 0, 0, 1.15), bottom;
    for (int i = 1; i < n; i++)
        for (int j = 0; j < around; j++) {
            double a = SOLID_PI * i / n, b = 2 * SOLID_PI * j / around;
            double s = sin(a),
                   r = 1 + 0.15 * cos(3 * a) + 0.25 * s * s * s * cos(5 * b) + 0.03 * sin(9 * a) * sin(7 * b);
            solid_point(&m, r * s * cos(b), r * s * sin(b), r * cos(a));
        }
    bottom = solid_point(&m, 0, 0, -0.85);
    for (int j = 0; j < around; j++) {
        int k = (j + 1) % around;
        solid_triangle(&m, top, 1 + j, 1 + k);
        for (int i = 0; i + 2 < n; i++)
            solid_quad(&m, 1 + i * around + j, 1 + (i + 1) * around + j, 1 + (i + 1) * around + k, 1 + i * around + k);
        solid_triangle(&m, bottom, 1 + (n - 2) * around + k, 1 + (n - 2) * around + j);
    }
    return m;
}

/* As an .obj file; false when it cannot be written. */
static inline bool solid_write(const solid_mesh* m, const char* path)
{
    FILE* out = fopen(path, "w");
    if (!out) return false;
    for (int i = 0; i < m->point_count; i++)
        fprintf(out, "v %.17g %.17g %.17g\n", m->points[i].x, m->points[i].y, m->points[i].z);
    for (int f = 0; f < m->face_count; f++)
        fprintf(out, "f %d %d %d\n", m->corners[3 * f] + 1, m->corners[3 * f + 1] + 1, m->corners[3 * f + 2] + 1);
    return fclose(out) == 0;
}

#endif
