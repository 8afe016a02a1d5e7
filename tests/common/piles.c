/* Spheres and their contacts (piles.h). Contact frames: normal from body 1 to body 2 (floor: upwards), two tangents. */
#include "piles.h"

#include "base/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct touch {
    int body[2];     /* -1: the floor */
    double J[2][18]; /* 3 rows, 6 columns: force-free velocity and rotation of each body */
} touch;

static void cross(const double* a, const double* b, double* c)
{
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}

static void make_touch(touch* t, int a, int b, const double* n)
{
    const double radius = 0.5;
    double frame[9] = { n[0], n[1], n[2] };
    double helper[3] = { fabs(n[1]) < 0.9 ? 0.0 : 1.0, fabs(n[1]) < 0.9 ? 1.0 : 0.0, 0.0 };
    cross(helper, n, frame + 3);
    double size = sqrt(frame[3] * frame[3] + frame[4] * frame[4] + frame[5] * frame[5]);
    for (int i = 3; i < 6; i++) frame[i] /= size;
    cross(n, frame + 3, frame + 6);
    t->body[0] = a, t->body[1] = b;
    for (int side = 0; side < 2; side++)
        for (int r = 0; r < 3; r++) {
            double sign = side ? 1.0 : -1.0, arm[3], turn[3];
            for (int i = 0; i < 3; i++) arm[i] = (side ? -radius : radius) * n[i];
            cross(arm, frame + 3 * r, turn);
            for (int i = 0; i < 3; i++)
                t->J[side][6 * r + i] = sign * frame[3 * r + i], t->J[side][6 * r + 3 + i] = sign * turn[i];
        }
}

bool pile_build(pile* out, pile_kind kind, int width, int height, double mu, double ratio, double push)
{
    const double pi = 3.141592653589793, h = 0.01, g = 9.81, radius = 0.5;
    mor_arena* arena = mor_arena_create(NULL);
    *out = (pile){ .arena = arena };
    if (!arena) return false;
    int bodies = kind == PILE_SHEET ? width * height : width, most = 4 * bodies + width, count = 0;
    touch* touches = mor_arena_alloc(arena, (size_t)most * sizeof *touches);
    double* mass = mor_arena_alloc(arena, (size_t)bodies * sizeof *mass);
    if (!touches || !mass) return false;
    for (int i = 0; i < bodies; i++)
        mass[i] = 4.0 / 3.0 * pi * radius * radius * radius *
                  (kind == PILE_TOWER && bodies > 1 ? mor_pow(ratio, (double)i / (bodies - 1)) : 1.0);
    const double up[3] = { 0, 0, 1 };
    if (kind == PILE_SHEET) {
        for (int r = 0; r < height; r++)
            for (int c = 0; c < width; c++) {
                int at = r * width + c, shift = r % 2;
                if (r == 0) make_touch(&touches[count++], -1, at, up);
                if (c > 0) make_touch(&touches[count++], at - 1, at, (double[3]){ 1, 0, 0 });
                if (r == 0) continue;
                int left = (r - 1) * width + c - 1 + shift; /* rows are offset by half a diameter in turn */
                if (c - 1 + shift >= 0) make_touch(&touches[count++], left, at, (double[3]){ 0.5, 0, sqrt(0.75) });
                if (c + shift < width) make_touch(&touches[count++], left + 1, at, (double[3]){ -0.5, 0, sqrt(0.75) });
            }
    } else
        for (int i = 0; i < width; i++) {
            double tilt = kind == PILE_CHAIN && i > 0 ? (i % 2 ? 0.2 : -0.2) : 0.0;
            make_touch(&touches[count++], i - 1, i, (double[3]){ mor_sin(tilt), 0, mor_cos(tilt) });
        }

    /* contacts on each body, then rows of W */
    int *start = mor_arena_zero(arena, (size_t)bodies + 2, sizeof *start),
        *list = mor_arena_alloc(arena, 2 * (size_t)count * sizeof *list);
    int n = 3 * count;
    int* p = mor_arena_zero(arena, (size_t)n + 1, sizeof *p);
    double *x = mor_arena_alloc(arena, (size_t)count * 32 * 9 * sizeof *x),
           *b = mor_arena_alloc(arena, (size_t)n * sizeof *b),
           *friction = mor_arena_alloc(arena, (size_t)count * sizeof *friction);
    int* entries = mor_arena_alloc(arena, (size_t)count * 32 * 9 * sizeof *entries);
    if (!start || !list || !p || !x || !b || !friction || !entries) return false;
    for (int c = 0; c < count; c++)
        for (int s = 0; s < 2; s++)
            if (touches[c].body[s] >= 0) start[touches[c].body[s] + 2]++;
    for (int i = 0; i < bodies; i++) start[i + 2] += start[i + 1];
    for (int c = 0; c < count; c++)
        for (int s = 0; s < 2; s++)
            if (touches[c].body[s] >= 0) list[start[touches[c].body[s] + 1]++] = 2 * c + s;
    int used = 0;
    for (int c = 0; c < count; c++) {
        int others[32], found = 0;
        for (int s = 0; s < 2; s++) {
            int body = touches[c].body[s];
            for (int k = body < 0 ? 0 : start[body]; body >= 0 && k < start[body + 1]; k++) {
                int o = list[k] / 2, at = 0;
                while (at < found && others[at] < o) at++;
                if (at < found && others[at] == o) continue;
                memmove(others + at + 1, others + at, (size_t)(found - at) * sizeof *others);
                others[at] = o, found++;
            }
        }
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < found; k++)
                for (int q = 0; q < 3; q++) {
                    double sum = 0.0;
                    for (int s = 0; s < 2; s++)
                        for (int t = 0; t < 2; t++) {
                            int body = touches[c].body[s];
                            if (body < 0 || body != touches[others[k]].body[t]) continue;
                            double inertia = 0.4 * mass[body] * radius * radius;
                            const double *J = touches[c].J[s] + 6 * r, *K = touches[others[k]].J[t] + 6 * q;
                            for (int i = 0; i < 3; i++) sum += J[i] * K[i] / mass[body] + J[i + 3] * K[i + 3] / inertia;
                        }
                    entries[used] = 3 * others[k] + q, x[used++] = sum;
                }
            p[3 * c + r + 1] = used;
            b[3 * c + r] = 0.0;
            for (int s = 0; s < 2; s++)
                if (touches[c].body[s] >= 0)
                    b[3 * c + r] += touches[c].J[s][6 * r] * push - touches[c].J[s][6 * r + 2] * g * h;
        }
        friction[c] = mu;
    }
    out->problem = (mor_problem){ .form = MOR_FC3D,
                                  .size = n,
                                  .b = b,
                                  .contact_count = count,
                                  .dim = 3,
                                  .mu = friction,
                                  .name = "pile",
                                  .A = { .storage = MOR_SPARSE, .rows = n, .cols = n, .x = x, .p = p, .i = entries } };
    return true;
}

void pile_free(pile* pile)
{
    if (pile->arena) mor_arena_destroy(pile->arena);
    *pile = (struct pile){ 0 };
}
