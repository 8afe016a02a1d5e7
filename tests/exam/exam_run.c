/* The exam's tools and its runner (exam.h). */
#include "exam/exam.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const experiment* const exam_areas[] = { exam_statics,    exam_friction,   exam_impact, exam_rolling,
                                         exam_gyroscopic, exam_mechanisms, exam_robots, exam_geometry,
                                         exam_scales,     exam_long,       exam_grains, NULL };

static void note(exam* e, const char* text)
{
    if (!e->trouble[0]) snprintf(e->trouble, sizeof e->trouble, "%.250s", text);
}

void exam_end(exam* e)
{
    mor_world_destroy(e->world);
    mor_scene_destroy(e->scene);
    e->world = NULL, e->scene = NULL;
}

void exam_open(exam* e, double h, const char* format, ...)
{
    static char text[200000];
    mor_error error = { 0 };
    exam_end(e);
    int n = snprintf(text, sizeof text, "moreau: 1\ntime: { step: %.17g }\n", h);
    va_list arguments;
    va_start(arguments, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
    va_end(arguments);
    e->scene = mor_scene_parse(text, (size_t)n, MOREAU_SOURCE_DIR "/scenes/exam.yaml", NULL, NULL, &error);
    if (e->scene) e->world = mor_scene_build(e->scene, 1, &error);
    if (!e->world) note(e, error.text);
}

bool exam_going(const exam* e, double time)
{
    return e->world && !e->trouble[0] && mor_world_time(e->world) < time - 1e-9 * mor_world_get_step(e->world);
}

void exam_step(exam* e)
{
    mor_error error = { 0 };
    mor_step_report report = { 0 };
    if (!e->world || e->trouble[0]) return;
    if (mor_world_step(e->world, &report, &error) != MOR_OK) note(e, error.text);
    e->steps++;
    e->unsolved += report.failures > 0 || report.below_goal > 0;
}

void exam_until(exam* e, double time)
{
    while (exam_going(e, time - 0.5 * mor_world_get_step(e->world))) exam_step(e);
}

mor_body_state exam_body(const exam* e, const char* name)
{
    if (!e->world) return (mor_body_state){ 0 };
    mor_body_id id = mor_world_find_body(e->world, name);
    return id.index1 ? mor_body_get_state(e->world, id) : (mor_body_state){ 0 };
}

mor_vec3 exam_force(const exam* e, const char* name)
{
    mor_vec3 sum = mor_v3(0, 0, 0);
    if (!e->world) return sum;
    int count, index = mor_body_index(e->world, mor_world_find_body(e->world, name));
    const mor_contact* c = mor_world_contacts(e->world, &count);
    for (int i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            if (c[i].body[side] == index)
                sum = mor_madd(sum, (side ? 1.0 : -1.0) / mor_world_get_step(e->world), c[i].impulse);
    return sum;
}

double exam_threshold(exam* e, double h, double low, double high, bool (*holds)(exam*, double h, double parameter))
{
    for (int k = 0; k < 20 && !e->trouble[0]; k++) {
        double middle = 0.5 * (low + high);
        if (holds(e, h, middle)) high = middle;
        else low = middle;
    }
    return 0.5 * (low + high);
}

static void advance(exam_rates f, const void* user, int n, double t, double h, const double* y, double* out)
{
    double k[4][16], z[16];
    for (int s = 0; s < 4; s++) {
        double part = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h;
        for (int j = 0; j < n; j++) z[j] = y[j] + (s ? part * k[s - 1][j] : 0.0);
        f(t + part, z, k[s], user);
    }
    for (int j = 0; j < n; j++) out[j] = y[j] + h / 6.0 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

bool exam_integrate(exam_rates f, const void* user, int n, double* y, double* time, int steps,
                    double (*stop)(const double* y, const void* user))
{
    double h = *time / steps, z[16];
    for (int i = 0; i < steps; i++) {
        advance(f, user, n, i * h, h, y, z);
        if (stop && stop(z, user) < 0.0) {
            double low = 0.0, high = h;
            for (int k = 0; k < 60; k++) {
                double middle = 0.5 * (low + high);
                advance(f, user, n, i * h, middle, y, z);
                if (stop(z, user) < 0.0) high = middle;
                else low = middle;
            }
            memcpy(y, z, (size_t)n * sizeof *y);
            *time = i * h + low;
            return false;
        }
        memcpy(y, z, (size_t)n * sizeof *y);
    }
    return true;
}

double exam_elliptic(double k)
{
    double a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 60 && fabs(a - b) > 1e-16 * a; i++) {
        double c = 0.5 * (a + b);
        b = sqrt(a * b);
        a = c;
    }
    return EXAM_PI / (2.0 * a);
}

/* One run; the error over its scale. */
static double once(const experiment* x, double h, exam* e, double* got)
{
    *e = (exam){ 0 };
    *got = x->run(e, h);
    exam_end(e);
    double scale = e->scale > 0.0 ? e->scale : fabs(e->expected);
    double error = fabs(*got - e->expected) / (scale > 0.0 ? scale : 1.0);
    return e->trouble[0] || !(error == error) ? INFINITY : error;
}

exam_row exam_run(const experiment* x, bool with_order)
{
    const double rounding = 1e-7; /* errors below are the solver's tolerance, and have no order */
    exam e;
    exam_row row = { .of = x, .order = NAN };
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    row.error = once(x, x->step, &e, &row.got);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    row.seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    row.expected = e.expected;
    row.steps = e.steps, row.unsolved = e.unsolved;
    snprintf(row.trouble, sizeof row.trouble, "%s", e.trouble);
    row.right = row.error <= x->tolerance;
    if (with_order && row.error > rounding && row.error < INFINITY) {
        double got, finer = once(x, 0.5 * x->step, &e, &got);
        if (finer > 0.0 && finer < INFINITY) row.order = log2(row.error / finer);
    }
    return row;
}
