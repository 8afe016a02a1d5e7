/* Compares runs, see trust_look.h. */
#include "lab/trust_look.h"

#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ two runs */

static double sample_time(const mor_trust* t, int k) { return t->end * k / (double)MOR_TRUST_SAMPLES; }

/* The largest distance of a point of a body between two runs at a sample; infinite where one of them has not come. */
static double distance(int bodies, const mor_trust_record* a, const mor_trust_record* b, int sample)
{
    double most = 0.0;
    for (int i = 0; i < MOR_TRUST_POINTS * bodies; i++) {
        size_t at = mor_trust_at(bodies, sample) + 3 * (size_t)i;
        const double *x = a->positions + at, *y = b->positions + at;
        double d = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
        if (!(d <= most)) most = isnan(d) ? INFINITY : d;
    }
    return most;
}

/* How far the centre of mass of a body ends from its place in another run. */
static double end_distance(const mor_trust* t, int body, const mor_trust_record* a, const mor_trust_record* b)
{
    size_t at = mor_trust_at(t->body_count, MOR_TRUST_SAMPLES) + 3 * (size_t)(MOR_TRUST_POINTS * body);
    const double *x = a->positions + at, *y = b->positions + at;
    double d = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
    return isnan(d) ? INFINITY : d;
}

/* The k-th touch of a pair, or NULL; *before: the one before it. Those that follow another one closely are chatter of a
 * body that comes to rest, and are left out. */
static const mor_trust_touch* touch(const mor_trust_record* r, int pair, int k, double pause)
{
    double last = -INFINITY;
    for (int i = 0; i < r->touch_count; i++) {
        if (r->touches[i].pair != pair) continue;
        bool chatter = r->touches[i].time - last < pause;
        last = r->touches[i].time;
        if (!chatter && k-- == 0) return &r->touches[i];
    }
    return NULL;
}

double mor_trust_sequence(const mor_trust_record* a, const mor_trust_record* b, double end)
{
    double until = end, slack = 0.01 * end + 2.0 * (a->step + b->step), pause = 0.04 * end;
    for (int side = 0; side < 2; side++) {
        const mor_trust_record *x = side ? b : a, *y = side ? a : b;
        for (int i = 0; i < x->touch_count; i++) {
            int pair = x->touches[i].pair;
            bool first = true;
            for (int k = 0; k < i; k++) first = first && x->touches[k].pair != pair;
            const mor_trust_touch* p;
            for (int k = 0; first && (p = touch(x, pair, k, pause)); k++) {
                const mor_trust_touch* q = touch(y, pair, k, pause);
                double time = q ? fmin(p->time, q->time) : p->time;
                if (q && fabs(p->time - q->time) <= slack) continue;
                if (time < end - slack && time < until) until = time;
                break;
            }
        }
    }
    return until;
}

static bool compare(const mor_trust* t, mor_trust_run* run, const mor_trust_record* a,
                    const mor_trust_record* reference)
{
    run->error_at = malloc((MOR_TRUST_SAMPLES + 1) * sizeof *run->error_at);
    if (!run->error_at) return false;
    run->agrees_until = t->end;
    for (int k = MOR_TRUST_SAMPLES; k >= 0; k--) {
        run->error_at[k] = distance(t->body_count, a, reference, k);
        if (!(run->error_at[k] <= t->goal)) run->agrees_until = k ? sample_time(t, k - 1) : 0.0;
    }
    run->sequence_until = mor_trust_sequence(a, reference, t->end);
    return true;
}

/* ------------------------------------------------------------------------------------- outcomes */

/* Do two runs end alike? At about the same places, at rest or not, turned over or not. */
static bool ends_alike(const mor_trust* t, const mor_trust_record* a, const mor_trust_record* b)
{
    for (int i = 0; i < t->body_count; i++)
        if (a->rests[i] != b->rests[i] || a->turned[i] != b->turned[i] || end_distance(t, i, a, b) > 10.0 * t->goal)
            return false;
    return true;
}

/* Numbers the ends: 0 is that of the nominal run. Steps that are coarse count too. */
static void class_outcomes(mor_trust* t, const mor_trust_record* const* records, int nominal)
{
    int first[MOR_TRUST_RUNS] = { nominal }, classes = 1;
    for (int i = 0; i < t->run_count; i++) {
        int c = 0;
        while (c < classes && !ends_alike(t, records[i], records[first[c]])) c++;
        if (c == classes) first[classes++] = i;
        t->runs[i].outcome = c;
    }
}

/* --------------------------------------------------------------------------------------- spread */

static double spread_at(const mor_trust* t, const mor_trust_record* const* records, int first, int sample)
{
    double most = 0.0;
    int n = t->members;
    for (int i = 0; i < MOR_TRUST_POINTS * t->body_count; i++) {
        double mean[3] = { 0 };
        size_t at = mor_trust_at(t->body_count, sample) + 3 * (size_t)i;
        for (int m = 0; m < n; m++)
            for (int k = 0; k < 3; k++) mean[k] += records[first + m]->positions[at + (size_t)k] / n;
        for (int m = 0; m < n; m++) {
            const double* x = records[first + m]->positions + at;
            double d = hypot(hypot(x[0] - mean[0], x[1] - mean[1]), x[2] - mean[2]);
            if (!(d <= most)) most = isnan(d) ? INFINITY : d;
        }
    }
    return most;
}

static int first_of(const mor_trust* t, mor_trust_kind kind)
{
    int i = 0;
    while (i < t->run_count && t->runs[i].kind != kind) i++;
    return i;
}

static bool make_level(mor_trust* t, const mor_trust_record* const* records, int first, mor_trust_level* level)
{
    *level = (mor_trust_level){ .size = t->runs[first].value, .until = t->end };
    level->spread = malloc((MOR_TRUST_SAMPLES + 1) * sizeof *level->spread);
    if (!level->spread) return false;
    for (int k = MOR_TRUST_SAMPLES; k >= 0; k--) {
        level->spread[k] = spread_at(t, records, first, k);
        if (!(level->spread[k] <= t->goal)) level->until = k ? sample_time(t, k - 1) : 0.0;
    }
    for (int m = 0; m < t->members; m++) {
        int outcome = t->runs[first + m].outcome;
        bool fresh = true;
        for (int k = 0; k < m; k++) fresh = fresh && t->runs[first + k].outcome != outcome;
        level->outcomes += fresh;
        level->other += outcome != 0;
    }
    return true;
}

/* The rate at which the smallest change grows, from its first tenth to where it is large or to the end. */
static double growth_of(const mor_trust* t)
{
    const double* s = t->levels[0].spread;
    int a = MOR_TRUST_SAMPLES / 20, b = MOR_TRUST_SAMPLES;
    while (a < MOR_TRUST_SAMPLES && !(s[a] > 0.0)) a++;
    for (int k = a; k <= MOR_TRUST_SAMPLES; k++)
        if (!(s[k] <= t->goal)) {
            b = k;
            break;
        }
    if (b <= a || !(s[b] > 1e3 * s[a]) || isinf(s[b])) return NAN;
    return log(s[b] / s[a]) / (sample_time(t, b) - sample_time(t, a));
}

static void end_statistics(mor_trust* t, const mor_trust_record* const* records, int nominal)
{
    int first = t->run_count - t->members, n = t->members;
    for (int i = 0; i < t->body_count; i++) {
        mor_trust_body* b = &t->bodies[i];
        size_t at = mor_trust_at(t->body_count, MOR_TRUST_SAMPLES) + 3 * (size_t)(MOR_TRUST_POINTS * i);
        for (int k = 0; k < 3; k++) {
            double sum = 0.0, square = 0.0;
            for (int m = 0; m < n; m++) sum += records[first + m]->positions[at + (size_t)k];
            b->mean[k] = sum / n;
            for (int m = 0; m < n; m++) {
                double d = records[first + m]->positions[at + (size_t)k] - b->mean[k];
                square += d * d;
            }
            b->deviation[k] = n > 1 ? sqrt(square / (n - 1)) : 0.0;
        }
        for (int m = 0; m < n; m++)
            b->resting += records[first + m]->rests[i], b->turned += records[first + m]->turned[i];
        b->rests = records[nominal]->rests[i], b->turns = records[nominal]->turned[i];
    }
}

/* -------------------------------------------------------------------------------------- verdict */

static void say(mor_trust* t, const char* format, ...) MOR_PRINTF(2, 3);
static void say(mor_trust* t, const char* format, ...)
{
    size_t used = strlen(t->sentence);
    va_list args;
    va_start(args, format);
    if (used + 1 < sizeof t->sentence) vsnprintf(t->sentence + used, sizeof t->sentence - used, format, args);
    va_end(args);
}

/* How the end of a run differs from the nominal one: the body that differs most. */
static void say_difference(mor_trust* t, const mor_trust_record* a, const mor_trust_record* nominal)
{
    int worst = 0;
    double most = -1.0;
    for (int i = 0; i < t->body_count; i++) {
        double d = end_distance(t, i, a, nominal);
        if (a->turned[i] != nominal->turned[i]) d += 1e6;
        if (a->rests[i] != nominal->rests[i]) d += 1e3;
        if (d > most) most = d, worst = i;
    }
    const char* name = t->bodies[worst].name;
    if (isinf(most)) say(t, "the run ends early, as '%s'", mor_trial_status_name(a->status));
    else if (a->turned[worst] != nominal->turned[worst])
        say(t, "'%s' %s", name, a->turned[worst] ? "topples" : "does not topple");
    else if (a->rests[worst] != nominal->rests[worst])
        say(t, "'%s' %s", name, a->rests[worst] ? "stops (jams or sticks)" : "moves on (does not jam or stick)");
    else say(t, "'%s' ends %.3g m from there", name, fmod(most, 1e3));
}

static void say_steps(mor_trust* t, int nominal, bool touches)
{
    double until = t->horizon;
    if (t->runs[0].status >= MOR_TRIAL_REFUSED) {
        say(t, "Steps cannot be judged: the run of the finest, %.3g s, has no end ('%s'). ", t->runs[0].value,
            mor_trial_status_name(t->runs[0].status));
        return;
    }
    for (int i = 0; i <= nominal + 2; i++) {
        const mor_trust_run* r = &t->runs[i];
        if (r->status >= MOR_RUN_FAILED && r->status != MOR_RUN_APPROXIMATE) break;
        if (r->agrees_until < until || r->sequence_until < until) break;
        if (i > 0) t->largest_step = r->value;
    }
    if (t->largest_step > 0.0)
        say(t, "Steps up to %.3g s reproduce the motion to %.2g m%s until t = %.3g s", t->largest_step, t->goal,
            touches ? " and the sequence of contacts" : "", until);
    else
        say(t, "No step from %.3g s on reproduces the motion of %.3g s to %.2g m until t = %.3g s: take smaller ones",
            t->runs[1].value, t->runs[0].value, t->goal, until);
    const mor_trust_run* own = &t->runs[nominal];
    double agrees = fmin(own->agrees_until, own->sequence_until);
    if (agrees >= until) say(t, "; that of the scene is %.3g s. ", t->step);
    else say(t, "; that of the scene, %.3g s, does so until t = %.3g s. ", t->step, agrees);
}

static void say_friction(mor_trust* t, const mor_trust_record* const* records, int nominal)
{
    const mor_trust_run* worst = NULL;
    double error = 0.0;
    int first = first_of(t, MOR_TRUST_FRICTION), at = 0;
    for (int i = first; i < first + 4; i++) {
        const mor_trust_run* r = &t->runs[i];
        bool small = fabs(r->value - 1.0) < 0.1;
        if (t->horizon < t->end && r->agrees_until >= t->horizon) continue; /* any change ends otherwise then */
        if (small && r->error_at[MOR_TRUST_SAMPLES] > error) error = r->error_at[MOR_TRUST_SAMPLES];
        if (r->outcome && (!worst || fabs(r->value - 1.0) < fabs(worst->value - 1.0))) worst = r, at = i;
    }
    if (worst) {
        say(t, "With %.0f %% of the friction it ends otherwise: ", 100.0 * worst->value);
        say_difference(t, records[at], records[nominal]);
        say(t, ". ");
    } else if (error > t->goal) say(t, "5 %% of friction move the end by %.2g m. ", error);
}

/* Of the largest change: the body of whose toppling or rest the members agree least. */
static void say_events(mor_trust* t)
{
    const mor_trust_body *topples = NULL, *rests = NULL;
    int most[2] = { 0 };
    for (int i = 0; i < t->body_count; i++) {
        const mor_trust_body* b = &t->bodies[i];
        int turned = b->turns ? t->members - b->turned : b->turned,
            moved = b->rests ? t->members - b->resting : b->resting;
        if (turned > most[0]) most[0] = turned, topples = b;
        if (moved > most[1]) most[1] = moved, rests = b;
    }
    if (topples) say(t, "; '%s' turns over in %d", topples->name, topples->turned);
    else if (rests) say(t, "; '%s' comes to rest in %d", rests->name, rests->resting);
}

/* Of the largest change: how many members end otherwise, in how many ways. */
static void say_outcomes(mor_trust* t)
{
    const mor_trust_level* last = &t->levels[t->level_count - 1];
    if (last->other > 0)
        say(t, ": of %d runs that begin with velocities off by %.1g m/s, %d end otherwise, in %d different ways",
            t->members, last->size * t->speed, last->other, last->outcomes);
    if (last->other > 0) say_events(t);
    say(t, ". ");
}

/* The smallest change after which runs end otherwise, where places alone do not tell: heads or tails. */
static void say_chance(mor_trust* t)
{
    int i = 0;
    while (i < t->level_count && t->levels[i].other == 0) i++;
    if (i == t->level_count || t->horizon < t->end) return;
    bool places = t->levels[i].until < t->end;
    if (!places)
        say(t, "Velocities off by %.1g m/s already change how it ends, in %d of %d runs: trust statistics only. ",
            t->levels[i].size * t->speed, t->levels[i].other, t->members);
}

static void say_start(mor_trust* t)
{
    const mor_trust_level *last = &t->levels[t->level_count - 1], *first = NULL;
    for (int i = t->level_count - 1; i >= 0; i--)
        if (t->levels[i].until < t->end) first = &t->levels[i];
    if (!first && last->other > 0) return; /* say_chance tells */
    if (!first)
        say(t, "Initial velocities off by %.1g m/s change the motion by less than that. ", last->size * t->speed);
    else if (t->horizon < t->end) {
        say(t, "Beyond t = %.3g s the motion is chaotic: trust statistics only", t->horizon);
        say_outcomes(t);
    } else if (last->other > 0) {
        say(t,
            "Initial velocities off by %.1g m/s predict the motion until t = %.3g s only; beyond it trust statistics",
            first->size * t->speed, first->until);
        say_outcomes(t);
    } else
        say(t, "Initial velocities off by %.1g m/s move the end by up to %.2g m; small changes stay small. ",
            last->size * t->speed, last->spread[MOR_TRUST_SAMPLES]);
}

static void say_tolerance(mor_trust* t)
{
    int first = first_of(t, MOR_TRUST_TOLERANCE);
    double loosest = 0.0;
    for (int i = first; i < first + 4 && t->runs[i].kind == MOR_TRUST_TOLERANCE; i++) {
        if (t->runs[i].status == MOR_TRIAL_REFUSED || t->runs[i].agrees_until < t->horizon) break;
        loosest = t->runs[i].value;
    }
    if (loosest > 0.0) say(t, "Tolerances of the solver up to %.0e are enough.", loosest);
}

mor_code mor_trust_look(mor_trust* t, const mor_trust_record* const* records, int nominal, mor_error* error)
{
    for (int i = 0; i < t->run_count; i++) {
        const mor_trust_record* reference = t->runs[i].kind == MOR_TRUST_STEP ? records[0] : records[nominal];
        if (!compare(t, &t->runs[i], records[i], reference)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    class_outcomes(t, records, nominal);
    int first = first_of(t, MOR_TRUST_START);
    t->horizon = t->end;
    for (int i = first; i + t->members <= t->run_count; i += t->members) {
        mor_trust_level* level = &t->levels[t->level_count++];
        if (!make_level(t, records, i, level)) return mor_fail(error, MOR_SYSTEM, "out of memory");
        if (level->size < 1e-5 && level->until < t->horizon) t->horizon = level->until;
    }
    for (int i = 0; i < t->run_count; i++)
        for (int k = 0; k <= MOR_TRUST_SAMPLES && sample_time(t, k) <= t->horizon; k++)
            if (!(t->runs[i].error_at[k] <= t->runs[i].error)) t->runs[i].error = t->runs[i].error_at[k];
    t->growth = growth_of(t);
    end_statistics(t, records, nominal);
    if (t->runs[nominal].status >= MOR_TRIAL_REFUSED) {
        t->horizon = 0.0;
        say(t, "The run of the scene itself has no end ('%s'): nothing can be compared.",
            mor_trial_status_name(t->runs[nominal].status));
        return MOR_OK;
    }
    if (t->runs[nominal].status >= MOR_RUN_FAILED && t->runs[nominal].status != MOR_RUN_APPROXIMATE)
        say(t, "The scene itself ends as '%s' at t = %.3g s: see moreau doctor. ",
            mor_trial_status_name(t->runs[nominal].status), t->runs[nominal].reached);
    say_steps(t, nominal, records[0]->touch_count > 0 || records[nominal]->touch_count > 0);
    say_start(t);
    say_chance(t);
    say_friction(t, records, nominal);
    say_tolerance(t);
    size_t n = strlen(t->sentence);
    if (n && t->sentence[n - 1] == ' ') t->sentence[n - 1] = '\0';
    return MOR_OK;
}
