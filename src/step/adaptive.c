/* Variable steps by step doubling.
 *
 * From the state y a trial takes one step of H and two of H/2, on drafts that are thrown away:
 *
 *     y1 = step(y, H),   y2 = step(step(y, H/2), H/2),
 *     e_x = max over bodies |x1 - x2| + R |angle of q1 q2^-1|   [m],     R^2 = tr(I) / (2 m), the radius of gyration,
 *     e_v = max over bodies |v1 - v2| + R |w1 - w2|             [m/s],   times H for bodies in contact:
 *
 * there the gaps that a step leaves, of order H^2, become velocities of order H in the next one and cancel in the
 * positions.
 *
 * In smooth motion the step is of first order, so both fall with H^2: H is accepted if max(e_x, e_v * 1 s) is at most
 * the tolerance. The next one is 0.9 sqrt(tolerance / e) H, or the fourth root where it grows, at most four times as
 * long. The two halves are then the
 * steps that are taken.
 *
 * An impact makes velocities jump. e_v does not fall with H then, and e_x may vanish although the instant of the impact
 * is only known to H: while the set of contacts that carry an impulse changes within the trial, the error is
 *
 *     max(e_x, |dv| H),     |dv| the largest change of velocity (of v - g t, and R w) of a body in the trial,
 *
 * and H is halved until it fits. So steps close in on an impact by bisection and pass it with a step of about
 * tolerance / |dv|. The same where e_v does not fall although H does (limits of joints, dry friction of motors).
 *
 * A trial that a solver fails is refused as well. The least step is taken whatever comes of it, and counted.
 *
 * Cost: five solves per two steps that are taken and three per refused trial. No allocation in a warm step.
 * Reference: E. Hairer, S. P. Norsett, G. Wanner (1993), Solving ordinary differential equations I, section II.4
 * (step-size control); D. Stewart, J. Trinkle (1996) for the step itself. */
#include "step/adaptive.h"

#include "base/elementary.h"
#include "control/control.h"
#include "step/draft.h"
#include "step/stages.h"

#include <math.h>
#include <string.h>

#define SAFETY 0.9
#define GROWTH 4.0
#define SHRINK 0.25
#define FALLS 0.75  /* e_v of a shorter step against the one before: above it, it does not fall */
#define PASSED 1e-9 /* of a step: an instant this near has been reached */

enum { STUBBORN = 2 }; /* so often in a row it did not fall: it is a jump */

typedef struct trial {
    double position, velocity; /* e_x, e_v */
    double jump;               /* |dv| [m/s] */
    bool solved, changed;      /* all three steps could be taken; contacts began or ended */
} trial;

/* ----------------------------------------------------------------------------------- one trial */

static bool make_steps(mor_step* k, mor_error* error)
{
    for (int i = 0; i < MOR_TRIALS; i++)
        if (!k->trials[i] && !(k->trials[i] = mor_step_create(k->w, error))) return false;
    return true;
}

void mor_adaptive_free(mor_step* k)
{
    for (int i = 0; i < MOR_TRIALS; i++) mor_step_destroy(k->trials[i]);
}

static void set_length(mor_world* w, double h)
{
    if (h == w->h) return;
    w->h = h;
    w->time_base = w->time;
    w->step_base = w->step;
    w->detected = false; /* what a step can reach depends on its length */
}

/* A step of h from a draft, thrown away later. MOR_STOPPED: it cannot be taken. */
static mor_code try_step(const mor_step* from, mor_step* k, double h, bool at_start, mor_error* error)
{
    if (mor_step_take(from->w, k)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (at_start) { /* the draft has no contacts yet: those of the last step are the guess */
        k->last = from->last;
        k->last_count = from->last_count;
    }
    k->w->detected = false;
    set_length(k->w, h);
    return mor_step_run_stages(from->w, k, error);
}

static bool carries(const mor_contact* c) { return c->normal_impulse > 0.0; }

static bool same_place(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->feature == b->feature;
}

/* Has every contact of a that carries an impulse its like in b? They stand in nearly the same order. */
static bool contained(const mor_contact* a, int a_count, const mor_contact* b, int b_count)
{
    for (int i = 0, at = 0; i < a_count; i++) {
        if (!carries(&a[i])) continue;
        int tried = 0;
        while (tried < b_count && !(carries(&b[at]) && same_place(&a[i], &b[at]))) {
            at = at + 1 < b_count ? at + 1 : 0;
            tried++;
        }
        if (tried == b_count) return false;
    }
    return true;
}

static bool same_contacts(const mor_contact* a, int a_count, const mor_contact* b, int b_count)
{
    return contained(a, a_count, b, b_count) && contained(b, b_count, a, a_count);
}

/* Angle between two rotations, for small ones. */
static double angle_between(mor_quat a, mor_quat b)
{
    mor_quat d = mor_quat_mul(a, mor_quat_conj(b));
    return 2.0 * mor_norm(mor_v3(d.x, d.y, d.z));
}

/* Marks the trees on which a contact of a step acts. */
static void mark_touched(const mor_step* k, bool* touched)
{
    const mor_contact* c = k->contacts.data;
    for (int i = 0; i < k->contacts.count; i++)
        for (int side = 0; carries(&c[i]) && side < 2; side++) {
            int tree = k->w->bodies[k->w->order[c[i].body[side]]].tree;
            if (tree >= 0) touched[tree] = true;
        }
}

static void measure(const mor_world* from, const mor_world* one, const mor_world* two, const bool* touched, trial* t)
{
    double H = one->time - from->time;
    mor_vec3 fall = mor_scale(H, one->gravity);
    for (int i = 0; i < one->alive_count; i++) {
        const mor_body *a = &one->bodies[one->order[i]], *b = &two->bodies[two->order[i]];
        if (a->kind != MOR_DYNAMIC || a->tree < 0 || !(a->mass.mass > 0.0)) continue;
        const mor_mat3* I = &a->mass.inertia;
        double trace = one->dimension == 3 ? 0.5 * (I->m[0][0] + I->m[1][1] + I->m[2][2]) : I->m[2][2];
        double R = sqrt(mor_max(trace, 0.0) / a->mass.mass);
        double turn = one->dimension == 3 ? angle_between(a->q, b->q) : fabs(a->angle - b->angle);
        double x = mor_norm(mor_sub(a->x, b->x)) + R * turn;
        double v = mor_norm(mor_sub(a->v, b->v)) + R * mor_norm(mor_sub(a->w, b->w));
        if (!(x <= t->position)) t->position = x; /* NaN counts */
        if (touched[a->tree]) v *= H;
        if (!(v <= t->velocity)) t->velocity = v;
        const mor_body* c = &from->bodies[from->order[i]];
        double jump = mor_norm(mor_sub(mor_sub(b->v, c->v), fall)) + R * mor_norm(mor_sub(b->w, c->w));
        t->jump = mor_max(t->jump, jump);
    }
    t->solved = isfinite(t->position) && isfinite(t->velocity);
}

static mor_code try_length(mor_step* k, double H, trial* t, mor_error* error)
{
    mor_step *whole = k->trials[0], *first = k->trials[1], *second = k->trials[2];
    memset(t, 0, sizeof *t);
    mor_code code = try_step(k, first, 0.5 * H, true, error);
    if (!code) code = try_step(first, second, 0.5 * H, false, error);
    if (!code) code = try_step(k, whole, H, true, error);
    if (code == MOR_STOPPED) return MOR_OK;
    if (code) return code;
    bool* touched = mor_arena_zero(k->arena, (size_t)k->w->tree_count + 1, sizeof *touched);
    if (!touched) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < MOR_TRIALS; i++) mark_touched(k->trials[i], touched);
    measure(k->w, whole->w, second->w, touched, t);
    const mor_contact *b = first->contacts.data, *c = second->contacts.data;
    int bn = first->contacts.count, cn = second->contacts.count;
    t->changed = !same_contacts(k->last, k->last_count, b, bn) || !same_contacts(b, bn, c, cn);
    return MOR_OK;
}

/* ----------------------------------------------------------------------------------- the length */

/* How long the step may be at most: the caller's limit, and the next call of controllers that run at a rate of their
 * own. */
static double time_left(const mor_world* w)
{
    double end = w->adaptive.until, period = mor_control_period(w);
    double near = PASSED * mor_max(w->adaptive.steps.min, 1e-6 * fabs(w->time));
    if (period > 0.0) end = mor_min(end, period * (floor((w->time + PASSED * period) / period) + 1.0));
    double left = end - w->time;
    return left > near ? left : INFINITY;
}

/* Shortens H to the time that is left, and to half of it where the rest would be a sliver. */
static double fit(double H, double left) { return H >= left ? left : mor_min(H, mor_max(0.5 * left, 0.5 * H)); }

/* Factor for the next length after an error e. */
static double factor(double e, double tolerance, double most)
{
    if (!(e > 0.0)) return most;
    double f = sqrt(tolerance / e);
    f = SAFETY * (f > 1.0 ? sqrt(f) : f); /* with care upwards: trees are of second order */
    return f > most ? most : f > SHRINK ? f : SHRINK;
}

/* Finds H; fills what is kept of it in `a`. */
static mor_code search(mor_step* k, mor_adaptive_state* a, double left, double* found, mor_error* error)
{
    const double least = 2.0 * a->steps.min, most = 2.0 * a->steps.max, tolerance = a->steps.tolerance;
    double wanted = mor_min(mor_max(a->next, least), most), H = fit(wanted, left), before = INFINITY;
    int stubborn = 0;
    a->rejected = a->missed = 0;
    for (;;) {
        trial t;
        mor_code code = try_length(k, H, &t, error);
        if (code) return code;
        bool jump = t.changed || stubborn >= STUBBORN;
        double e = mor_max(t.position, jump ? t.jump * H : t.velocity);
        bool good = t.solved && e <= tolerance;
        if (good || H <= least || mor_world_interrupted(k->w)) {
            a->missed = !good;
            a->next = a->rejected || !good ? H : mor_min(most, H * factor(e, tolerance, GROWTH));
            if (H < wanted && !a->rejected) a->next = mor_max(a->next, wanted);
            *found = H;
            return MOR_OK;
        }
        stubborn = t.solved && t.velocity > FALLS * before ? stubborn + 1 : 0;
        before = t.solved ? t.velocity : INFINITY;
        a->rejected++;
        H = mor_max(least, H * (t.solved && !jump ? mor_min(0.5, factor(e, tolerance, 0.5)) : 0.5));
    }
}

mor_code mor_adaptive_choose(mor_step* k, mor_error* error)
{
    mor_adaptive_state* a = &k->w->adaptive;
    double left = time_left(k->w), h = a->half;
    a->until = INFINITY;
    if (h > 0.0) { /* the second half of a step that was tried */
        a->half = 0.0;
        a->rejected = 0;
        set_length(k->w, mor_min(h, left));
        return MOR_OK;
    }
    if (!make_steps(k, error)) return MOR_SYSTEM;
    mor_adaptive_state next = *a;
    mor_code code = search(k, &next, left, &h, error);
    if (code) return code;
    *a = next;
    a->half = 0.5 * h;
    set_length(k->w, 0.5 * h);
    return MOR_OK;
}

/* --------------------------------------------------------------------------------- for callers */

mor_code mor_world_set_adaptive(mor_world* w, const mor_adaptive* steps, mor_error* error)
{
    if (!steps) {
        w->adaptive.on = false;
        return MOR_OK;
    }
    if (!(steps->tolerance > 0.0) || !isfinite(steps->tolerance))
        return mor_fail(error, MOR_BAD_INPUT, "tolerance %g of adaptive steps; give a positive number",
                        steps->tolerance);
    if (!(steps->min > 0.0) || !(steps->max >= steps->min) || !isfinite(steps->max))
        return mor_fail(error, MOR_BAD_INPUT,
                        "adaptive steps of %g to %g s; give a positive least step and a greatest that is not below it",
                        steps->min, steps->max);
    w->adaptive = (mor_adaptive_state){ .on = true, .steps = *steps, .next = 2.0 * steps->max, .until = INFINITY };
    set_length(w, steps->max);
    return MOR_OK;
}

bool mor_world_get_adaptive(const mor_world* w, mor_adaptive* steps)
{
    if (steps) *steps = w->adaptive.steps;
    return w->adaptive.on;
}

mor_adaptive mor_adaptive_default(void) { return (mor_adaptive){ .tolerance = 1e-5, .min = 1e-9, .max = 0.02 }; }

bool mor_world_reached(const mor_world* w, double end)
{
    if (!w->adaptive.on) return end - w->time <= 0.5 * w->h * (1.0 - 1e-9);
    return end - w->time <= PASSED * mor_max(w->adaptive.steps.min, 1e-6 * fabs(w->time));
}

void mor_world_limit_step(mor_world* w, double until)
{
    if (until < w->adaptive.until) w->adaptive.until = until;
}
