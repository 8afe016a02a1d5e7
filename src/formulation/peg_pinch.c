/* A particle does not pass between two bodies that touch.
 *
 * Planes are closed half-spaces: what touches is outside. A point can therefore go along the common face of two flush
 * tiles, or through the point in which two teeth meet, and be outside of either body all the way. A body with a width
 * cannot, so the rule is for particles only:
 *
 *     where a particle touches several pieces at once, the directions that lead into none of them form open sectors;
 *     it may leave by the sector it came from, and by no other way.
 *
 * By the linear model the particle touches piece g at the times when all planes of g have s_k(t) <= tol. Where the
 * times of two pieces meet, the touching planes of all pieces there give the sectors: between the directions along the
 * planes, an arc is free if every piece has a plane with n.d > 0. It came from -d; at the start of the step from where
 * the last one led it, or, at rest, from the sector its planes were held by. If the motion leads out of that sector,
 * the pieces that bound it get the planes along its bounds, and their other planes there are shut for the step. A pair
 * on a plane that bounds its sector does not change to one that does not as long as both are at 0: friction would hold
 * the particle on the far side of the corner, and the next step would take that side for where it came from.
 *
 * Cost: nothing without particles; with them, pairs of near pieces that are touched in the step. */
#include "base/elementary.h"
#include "formulation/peg_planes.h"

#include <math.h>

#define TOUCH 4.0 /* of the group's tolerance */
#define STRAIGHT 1e-6
#define LEAST 1e-3 /* of the tolerance: sinking this little in every step adds up */
#define NOISE                                                                                                          \
    1e-6 /* m/s: answers may be off by this. With small steps gravity moves a body by less than it may touch */
#define PI 3.14159265358979323846
enum { GROUPS = 32, LINES = 64 };

typedef struct line {
    int group, plane;
    mor_vec3 n; /* towards the particle */
} line;

typedef struct corner {
    line lines[LINES];
    int count;
    double angle[2 * LINES];
    int angles;
} corner;

static mor_vec3 at_angle(double a) { return mor_v3(mor_cos(a), mor_sin(a), 0); }
static double angle_of(mor_vec3 d) { return mor_atan2(d.y, d.x); }
/* From a counter-clockwise to b, in [0, 2 pi). */
static double turn(double a, double b)
{
    double d = fmod(b - a, 2.0 * PI);
    return d < 0.0 ? d + 2.0 * PI : d;
}

static const mor_contact_geometry* contact_of(const mor_peg* peg, const mor_peg_plane* p)
{
    return &peg->s->geometry[p->first];
}

static mor_vec3 outward(const mor_peg* peg, const mor_peg_plane* p)
{
    const mor_contact_geometry* c = contact_of(peg, p);
    return peg->groups[p->group].particle_side ? c->normal : mor_neg(c->normal);
}

/* Velocity of the particle relative to the other body at the contact; of the last step if nu is NULL. */
static mor_vec3 approach(const mor_peg* peg, const mor_peg_group* g, const double* nu)
{
    const mor_system* s = peg->s;
    const mor_contact_geometry* c = contact_of(peg, &peg->planes[g->first]);
    mor_vec3 v[2];
    for (int side = 0; side < 2; side++) {
        const mor_contact_side* b = &c->side[side];
        mor_vec3 w = b->fixed ? mor_v3(0, 0, 0) : b->w, x = mor_sub(c->point[side], b->x);
        v[side] = b->fixed ? mor_v3(0, 0, 0) : b->v;
        if (nu && b->tree >= 0 && !b->link) {
            const mor_tree_block* t = &s->trees[b->tree];
            v[side] = mor_v3(nu[t->offset], nu[t->offset + 1], 0);
            w = mor_v3(0, 0, t->dof == 3 ? nu[t->offset + 2] : 0.0);
        }
        v[side] = mor_add(v[side], mor_cross(w, x));
    }
    return g->particle_side ? mor_sub(v[1], v[0]) : mor_sub(v[0], v[1]);
}

/* Times within the step at which the particle touches the piece: no plane is clear, by more than the tolerance and
 * `slack`. */
static bool touching(const mor_peg* peg, const mor_peg_group* g, double slack, double* from, double* to)
{
    const double tol = TOUCH * g->tol + slack;
    *from = 0.0;
    *to = peg->s->h;
    for (int k = g->first; k < g->first + g->count; k++) {
        const mor_peg_plane* p = &peg->planes[k];
        double psi = peg->s->contacts[p->first].gap, w = peg->speed[p->first];
        if (p->open) psi = mor_max(psi, 0.0);
        if (psi > tol && !(w < 0.0)) return false;
        if (psi > tol) *from = mor_max(*from, (tol - psi) / w);
        else if (psi + *to * w > tol) *to = (tol - psi) / w;
    }
    return *from <= *to;
}

/* Is direction d free of all pieces at the corner by more than `clear`? */
static bool is_free(const corner* k, mor_vec3 d, double clear)
{
    for (int i = 0; i < k->count;) {
        int g = k->lines[i].group;
        double most = -HUGE_VAL;
        for (; i < k->count && k->lines[i].group == g; i++) most = mor_max(most, mor_dot(k->lines[i].n, d));
        if (!(most > clear)) return false;
    }
    return true;
}

static void look_at(const mor_peg* peg, const int* groups, int count, double slack, double t, corner* k)
{
    k->count = k->angles = 0;
    for (int i = 0; i < count; i++) {
        const mor_peg_group* g = &peg->groups[groups[i]];
        double from, to;
        if (!touching(peg, g, slack, &from, &to) || t < from - 1e-9 * peg->s->h || t > to + 1e-9 * peg->s->h) continue;
        for (int p = g->first; p < g->first + g->count && k->count < LINES; p++) {
            const mor_peg_plane* plane = &peg->planes[p];
            double psi = peg->s->contacts[plane->first].gap;
            if (plane->open) psi = mor_max(psi, 0.0);
            if (fabs(psi + t * peg->speed[plane->first]) > 4.0 * (TOUCH * g->tol + slack)) continue;
            k->lines[k->count++] = (line){ groups[i], p, outward(peg, plane) };
        }
    }
    for (int i = 0; i < k->count; i++)
        for (int side = 0; side < 2; side++) {
            double a = angle_of(k->lines[i].n) + (side ? 0.5 : -0.5) * PI;
            a = a > PI ? a - 2.0 * PI : a <= -PI ? a + 2.0 * PI : a;
            int at = k->angles;
            bool known = false;
            for (int j = 0; j < k->angles && !known; j++) {
                double apart = turn(k->angle[j], a);
                known = mor_min(apart, 2.0 * PI - apart) < 1e-9;
            }
            if (known) continue;
            for (; at > 0 && k->angle[at - 1] > a; at--) k->angle[at] = k->angle[at - 1];
            k->angle[at] = a;
            k->angles++;
        }
}

/* The free sector nearest to direction `d`, from *from counter-clockwise by *width; false if there is none or nothing
 * bounds it. */
static bool sector(const corner* k, double d, double* from, double* width)
{
    const int n = k->angles;
    bool arc[2 * LINES];
    int best = -1;
    double nearest = HUGE_VAL;
    for (int i = 0; i < n; i++) {
        double a = k->angle[i], w = n == 1 ? 2.0 * PI : turn(a, k->angle[(i + 1) % n]);
        arc[i] = is_free(k, at_angle(a + 0.5 * w), 1e-12);
        if (!arc[i]) continue;
        double in = turn(a, d), off = in <= w ? 0.0 : mor_min(in - w, 2.0 * PI - in);
        if (off < nearest) nearest = off, best = i;
    }
    if (best < 0) return false;
    int first = best, last = best;
    for (int i = 0; i < n; i++) {
        int before = (first + n - 1) % n;
        if (!arc[before] || before == last || !is_free(k, at_angle(k->angle[first]), 1e-9)) break;
        first = before;
    }
    for (int i = 0; i < n; i++) {
        int after = (last + 1) % n;
        if (!arc[after] || after == first || !is_free(k, at_angle(k->angle[after]), 1e-9)) break;
        last = after;
    }
    *from = k->angle[first];
    *width = turn(*from, k->angle[(last + 1) % n]);
    return true;
}

/* Where the particle came from at the corner, as an angle. */
static double origin(const mor_peg* peg, const mor_peg_group* g, const corner* k, double t, mor_vec3 d)
{
    const double tol = TOUCH * g->tol;
    if (mor_norm(d) * t > 10.0 * tol) return angle_of(mor_neg(d));
    mor_vec3 old = approach(peg, g, NULL);
    if (mor_norm(old) * peg->s->h > 100.0 * tol) return angle_of(mor_neg(old));
    mor_vec3 sum = mor_v3(0, 0, 0);
    for (int i = 0; i < k->count; i++)
        if (peg->planes[k->lines[i].plane].held) sum = mor_add(sum, k->lines[i].n);
    double from, width;
    bool agree = mor_norm(sum) > 0.1 && sector(k, angle_of(sum), &from, &width);
    mor_vec3 middle = agree ? at_angle(from + 0.5 * width) : d;
    for (int i = 0; i < k->count && agree; i++)
        agree = !peg->planes[k->lines[i].plane].held || mor_dot(k->lines[i].n, middle) > 0.0;
    return agree ? angle_of(middle) : angle_of(mor_neg(d));
}

/* The line along one bound of the sector whose piece lies beyond it. */
static const line* bound(const corner* k, double angle, double side)
{
    for (int i = 0; i < k->count; i++) {
        double off = turn(angle + side * 0.5 * PI, angle_of(k->lines[i].n));
        if (mor_min(off, 2.0 * PI - off) > 1e-6) continue;
        mor_vec3 beyond = at_angle(angle - side * 1e-5);
        bool solid = true;
        for (int j = 0; j < k->count; j++)
            solid = solid && (k->lines[j].group != k->lines[i].group || mor_dot(k->lines[j].n, beyond) <= 0.0);
        if (solid) return &k->lines[i];
    }
    return NULL;
}

/* Is the particle behind the line at the end of the step, by more than `far`? */
static bool ends_behind(const mor_peg* peg, const line* l, double far)
{
    if (!l) return false;
    const mor_peg_plane* p = &peg->planes[l->plane];
    return peg->s->contacts[p->first].gap + peg->s->h * peg->speed[p->first] < -far;
}

/* Looks at the corner of a particle at time t; true if it leaves its sector there. With `hold` the bounds are taken,
 * and true means that a choice has changed. */
static bool leaves(mor_peg* peg, const int* groups, int count, int first, double t, const double* nu, bool hold)
{
    const mor_peg_group* g = &peg->groups[first];
    mor_vec3 d = approach(peg, g, nu);
    const double left = peg->s->h - t, speed = mor_norm(d);
    /* touching begins a little before the corner: one on the way there must end behind a bound of its sector */
    const bool arrives = speed * t > 10.0 * TOUCH * g->tol;
    const double judged = mor_max(LEAST * g->tol, mor_min(8.0 * g->tol, NOISE * peg->s->h));
    const double least = arrives ? 0.0 : hold ? LEAST * g->tol : judged;
    if (!(speed * left > least)) return false;
    corner k;
    double from, width;
    look_at(peg, groups, count, 0.0, t, &k);
    if (!sector(&k, origin(peg, g, &k, t, d), &from, &width)) return false;
    double in = turn(from, angle_of(d)), off = mor_min(in - width, 2.0 * PI - in);
    const double across = mor_sin(mor_min(off, 0.5 * PI)) * speed * left;
    if (in <= width || off < STRAIGHT || across < least) return false;
    const line* ends[2] = { bound(&k, from, 1.0), bound(&k, from + width, -1.0) };
    const double far = arrives ? 2.0 * g->tol : least;
    /* one that goes by less than the place of the corner is known to must end behind a bound as well */
    if ((arrives || (!hold && across < 8.0 * g->tol)) && !ends_behind(peg, ends[0], far) &&
        !ends_behind(peg, ends[1], far))
        return false;
    if (!hold) return true;
    bool any = false;
    for (int e = 0; e < 2; e++) {
        if (!ends[e] || !(mor_dot(ends[e]->n, d) < 0.0)) continue;
        mor_peg_group* group = &peg->groups[ends[e]->group];
        mor_peg_plane* plane = &peg->planes[ends[e]->plane];
        if (group->choice == ends[e]->plane || !plane->open) continue;
        group->choice = ends[e]->plane;
        plane->tried = true;
        for (int i = 0; i < k.count; i++)
            if (k.lines[i].group == ends[e]->group && k.lines[i].plane != ends[e]->plane)
                peg->planes[k.lines[i].plane].shut = true, peg->planes[k.lines[i].plane].open = false;
        any = true;
    }
    return any;
}

/* The planes that bound the sector the particle of g comes from, at its corner of time t; -1: none. False if it touches
 * one piece only, or nothing bounds its way. */
static bool bounds_at(const mor_peg* peg, const mor_peg_group* g, const double* nu, double slack, double t, int ends[2])
{
    int list[GROUPS], count = 0;
    for (int j = 0; j < peg->group_count && count < GROUPS; j++) {
        double from, to;
        if (peg->groups[j].particle == g->particle && touching(peg, &peg->groups[j], slack, &from, &to) && from <= t &&
            t <= to)
            list[count++] = j;
    }
    if (count < 2) return false;
    corner k;
    double start, width;
    look_at(peg, list, count, slack, t, &k);
    if (!sector(&k, origin(peg, g, &k, t, approach(peg, g, nu)), &start, &width)) return false;
    const line* lines[2] = { bound(&k, start, 1.0), bound(&k, start + width, -1.0) };
    for (int e = 0; e < 2; e++) ends[e] = lines[e] ? lines[e]->plane : -1;
    return true;
}

bool mor_peg_keeps_sector(const mor_peg* peg, int group, int plane, const double* nu, double slack)
{
    const mor_peg_group* g = &peg->groups[group];
    const double times[2] = { 0.0, peg->s->h };
    int ends[2];
    if (!g->particle || mor_peg_end_gap(peg, &peg->planes[plane]) > 10.0 * g->tol + slack) return true;
    for (int i = 0; i < 2; i++)
        if (bounds_at(peg, g, nu, slack, times[i], ends) && (ends[0] == g->choice || ends[1] == g->choice) &&
            ends[0] != plane && ends[1] != plane)
            return false;
    return true;
}

bool mor_peg_astray(const mor_peg* peg, int group, const double* nu)
{
    const mor_peg_group* g = &peg->groups[group];
    const double times[2] = { 0.0, peg->s->h };
    int ends[2];
    for (int i = 0; i < 2 && g->particle; i++) {
        if (!bounds_at(peg, g, nu, 0.0, times[i], ends) || ends[0] == g->choice || ends[1] == g->choice) continue;
        for (int e = 0; e < 2; e++)
            if (ends[e] >= 0 && peg->planes[ends[e]].group == group) return true;
    }
    return false;
}

bool mor_peg_hold_covered(mor_peg* peg)
{
    bool any = false;
    for (int i = 0; i < peg->group_count && peg->particles; i++) {
        mor_peg_group* g = &peg->groups[i];
        double from, to;
        int others = 0;
        if (!g->particle || g->choice >= 0) continue;
        mor_peg_cover(peg, i);
        if (!(g->until < peg->s->h)) continue;
        for (int j = 0; j < peg->group_count; j++)
            others +=
                j != i && peg->groups[j].particle == g->particle && touching(peg, &peg->groups[j], 0.0, &from, &to);
        if (others == 0) continue;
        g->choice = g->last;
        any = true;
    }
    return any;
}

bool mor_peg_pinch(mor_peg* peg, const double* nu, bool hold)
{
    bool any = false;
    for (int i = 0; i < peg->group_count && peg->particles; i++) {
        const int tree = peg->groups[i].particle;
        if (tree == 0) continue;
        bool seen = false;
        int list[GROUPS], count = 0;
        double from[GROUPS], to[GROUPS];
        for (int j = 0; j < i && !seen; j++) seen = peg->groups[j].particle == tree;
        for (int j = i; j < peg->group_count && !seen && count < GROUPS; j++)
            if (peg->groups[j].particle == tree && touching(peg, &peg->groups[j], 0.0, &from[count], &to[count]))
                list[count++] = j;
        bool held = false;
        for (int a = 0; a < count && !held; a++)
            for (int b = a + 1; b < count && !held; b++) {
                double t = mor_max(from[a], from[b]);
                if (t > mor_min(to[a], to[b]) + 1e-9 * peg->s->h) continue;
                held = leaves(peg, list, count, list[a], t, nu, hold);
            }
        if (held && !hold) return true;
        any = any || held;
    }
    return any;
}
