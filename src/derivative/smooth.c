/* A smoothed contact law with a stated parameter k [m/s], for those who want slopes through switches.
 *
 * The law of Coulomb and Signorini is kept but for its corners. With a = s p_n, the impulse as a velocity, s = 1/m_1 +
 * 1/m_2 of the two bodies (of a link: the mass of its robot):
 *
 *     a u_n = k^2,    a > 0,    u_n > 0,            p_t = -m p_n u_t / sqrt(|u_t|^2 + k^2)
 *
 * An open contact at a distance pushes a little (a = k^2/u_n), one that bears stays off by u_n h = k^2 h/a, and one
 * that stuck creeps slower than k p_t/sqrt(m^2 p_n^2 - p_t^2). For k to 0 all of it goes to the exact law. The smoothed
 * step is a function of its own, found here by Newton's method in the form
 *
 *     a + u_n - sqrt((a - u_n)^2 + 4 k^2) = 0,
 *
 * from a large parameter down to the one that is asked for. What is derived is this function: differences of smoothed
 * steps agree with its derivative. Equations of joints hold as they do; bounds of joints keep the phase that they have.
 *
 * Such smoothing is that of T. A. Howell et al. (2022), Dojo, at a given parameter. */
#include "derivative/smooth.h"

#include "base/elementary.h"
#include "formulation/registry.h"
#include "model/articulated.h"

#include <string.h>

enum { MOST_STEPS = 200, MOST_HALVINGS = 30 };
#define EXACT 1e-12 /* m/s, of residuals */
#define ENOUGH 1e-9 /* m/s: where rounding ends the search */
#define BROAD 1.0   /* m/s: where the search begins */

typedef struct search {
    mor_derivation* d;
    mor_law* laws;
    double* bias; /* of the kept rows */
    double* u;    /* velocities of the kept rows */
    double *p, *nu;
    double k; /* of this round */
} search;

static const mor_block* block_of(const mor_derivation* d, const mor_kept* kept)
{
    return &d->base->islands[kept->island].system.blocks[kept->block];
}

static double friction_of(const mor_derivation* d, const mor_kept* kept)
{
    return d->base->islands[kept->island].system.contacts[kept->block].friction;
}

/* ------------------------------------------------------------------------------------------ the law */

/* 1/m of a side of a contact; 0: it does not move. */
static double lightness(const mor_world* w, int body)
{
    const mor_body* b = &w->bodies[w->order[body]];
    if (b->tree < 0) return 0.0;
    const mor_robot* r = w->trees[b->tree].robot;
    return 1.0 / (r ? r->model->mass : b->mass.mass);
}

static double scale_of(const mor_derivation* d, const mor_kept* kept)
{
    const mor_contact* c = (const mor_contact*)d->base->contacts.data + kept->contact;
    return lightness(d->base->w, c->body[0]) + lightness(d->base->w, c->body[1]);
}

/* Slopes and residual (in g) of a contact. */
static void smooth_contact(const search* s, const mor_kept* kept, mor_law* l)
{
    const double *p = s->p + kept->row, *u = s->u + kept->row;
    int dim = kept->dim;
    double mu = friction_of(s->d, kept), scale = scale_of(s->d, kept), a = scale * p[0], k = s->k;
    double root = sqrt((a - u[0]) * (a - u[0]) + 4.0 * k * k), lean = (a - u[0]) / root;
    double slip = k * k, spread;
    *l = (mor_law){ .margin = INFINITY, .phase = MOR_PHASE_SLIDE };
    l->A_p[0] = scale * (1.0 - lean), l->A_u[0] = 1.0 + lean;
    l->g[0] = a + u[0] - root;
    for (int i = 1; i < dim; i++) slip += u[i] * u[i], l->slip[i - 1] = u[i];
    spread = sqrt(slip);
    for (int i = 1; i < dim; i++) {
        double way = u[i] / spread;
        l->A_p[i * dim + i] = scale;
        l->A_p[i * dim] = scale * mu * way;
        l->g[i] = scale * (p[i] + mu * p[0] * way);
        for (int j = 1; j < dim; j++)
            l->A_u[i * dim + j] = scale * mu * p[0] / spread * ((i == j) - way * u[j] / spread);
    }
}

/* Laws and residuals at p and nu; returns the largest residual. */
static double evaluate(search* s)
{
    const mor_derivation* d = s->d;
    double worst = 0.0;
    memcpy(s->u, s->bias, (size_t)d->rows * sizeof *s->u);
    for (int i = 0; i < d->kept_count; i++) {
        const mor_kept* kept = &d->kept[i];
        const mor_law* l = &s->laws[i];
        mor_active_velocity(d, kept, s->nu, s->u + kept->row);
        if (kept->contact >= 0) smooth_contact(s, kept, &s->laws[i]);
        bool holds = block_of(d, kept)->kind == MOR_BLOCK_EQUATION || (kept->contact < 0 && l->A_u[0] != 0.0);
        for (int r = 0; r < kept->dim; r++) {
            double off = kept->contact >= 0 ? l->g[r] : holds ? s->u[kept->row + r] : 0.0;
            worst = mor_max(worst, isfinite(off) ? fabs(off) : INFINITY);
        }
    }
    return worst;
}

/* --------------------------------------------------------------------------------------- the search */

/* The step of Newton: -residuals as right-hand sides, through g of contacts and u of joints. */
static mor_code newton_step(search* s, mor_columns* c)
{
    mor_derivation* d = s->d;
    memset(c->V, 0, (size_t)d->dof * sizeof(double));
    memset(c->p, 0, (size_t)d->rows * sizeof(double));
    for (int i = 0; i < d->kept_count; i++) {
        const mor_kept* kept = &d->kept[i];
        c->mu[i] = kept->contact >= 0;
        for (int r = 0; r < kept->dim; r++) c->u[kept->row + r] = kept->contact >= 0 ? 0.0 : s->u[kept->row + r];
    }
    mor_code code = MOR_OK;
    for (int first = 0, last; first < d->kept_count && !code; first = last) {
        for (last = first; last < d->kept_count && d->kept[last].island == d->kept[first].island;) last++;
        code = mor_active_solve(d, s->laws, first, last, c);
    }
    return code;
}

static void move(search* s, const mor_columns* c, double by)
{
    for (int i = 0; i < s->d->rows; i++) s->p[i] += by * c->p[i];
    for (int i = 0; i < s->d->dof; i++) s->nu[i] += by * c->V[i];
}

/* From the present p and nu to the answer of parameter s->k; false: not found. */
static mor_code solve(search* s, mor_columns* c, bool* found)
{
    double now = evaluate(s);
    mor_code code = MOR_OK;
    for (int i = 0; i < MOST_STEPS && now > EXACT && !code; i++) {
        code = newton_step(s, c);
        double by = 1.0, then = INFINITY;
        if (code) break;
        move(s, c, by);
        for (int k = 0; k < MOST_HALVINGS && !((then = evaluate(s)) < (1.0 - 0.1 * by) * now); k++) {
            move(s, c, -0.5 * by);
            by *= 0.5;
        }
        if (!(then < now)) {
            move(s, c, -by); /* rounding */
            now = evaluate(s);
            break;
        }
        now = then;
    }
    *found = now <= ENOUGH;
    return code;
}

/* From residuals in g to the slope by friction. */
static void by_friction(const search* s, const mor_kept* k, mor_law* l)
{
    if (k->contact < 0) return;
    double spread = s->k * s->k, push = scale_of(s->d, k) * s->p[k->row];
    for (int r = 1; r < k->dim; r++) spread += s->u[k->row + r] * s->u[k->row + r];
    l->g[0] = 0.0;
    for (int r = 1; r < k->dim; r++) l->g[r] = push * s->u[k->row + r] / sqrt(spread);
}

/* What is not G' nu in the velocities of the kept rows. */
static mor_code fill_bias(search* s)
{
    mor_derivation* d = s->d;
    for (int i = 0; i < d->kept_count; i++) {
        const mor_kept* kept = &d->kept[i];
        const mor_system* of = &d->base->islands[kept->island].system;
        size_t mark = mor_arena_mark(d->arena);
        double* bias = mor_arena_zero(d->arena, (size_t)of->row_count + 1, sizeof *bias);
        if (!bias) return MOR_SYSTEM;
        mor_bias_stewart_trinkle(of, bias);
        memcpy(s->bias + kept->row, bias + of->blocks[kept->block].row, (size_t)kept->dim * sizeof *bias);
        mor_arena_release(d->arena, mark);
    }
    return MOR_OK;
}

mor_code mor_smooth_answer(mor_derivation* d, mor_law* laws, double* moved, mor_error* error)
{
    search s = { .d = d, .laws = laws, .p = d->p, .nu = d->nu };
    size_t rows = (size_t)d->rows + 1, dof = (size_t)d->dof + 1;
    mor_columns c = { .count = 1, .own = true };
    s.bias = mor_arena_zero(d->arena, rows, sizeof(double));
    s.u = mor_arena_zero(d->arena, rows, sizeof(double));
    c.u = mor_arena_zero(d->arena, rows, sizeof(double));
    c.p = mor_arena_zero(d->arena, rows, sizeof(double));
    c.V = mor_arena_zero(d->arena, dof, sizeof(double));
    c.mu = mor_arena_zero(d->arena, (size_t)d->kept_count + 1, sizeof(double));
    double* was = mor_arena_alloc(d->arena, dof * sizeof *was);
    if (!s.bias || !s.u || !c.u || !c.p || !c.V || !c.mu || !was) return MOR_SYSTEM;
    memcpy(was, d->nu, (size_t)d->dof * sizeof *was);
    mor_code code = fill_bias(&s);
    bool found = true;
    s.k = mor_max(d->smoothing, BROAD);
    while (!code) {
        code = solve(&s, &c, &found);
        if (!found || s.k == d->smoothing) break;
        s.k = mor_max(0.3 * s.k, d->smoothing);
    }
    if (!code && !found)
        return mor_fail(error, MOR_STOPPED, "the contact law smoothed by %g m/s could not be solved", d->smoothing);
    *moved = 0.0;
    for (int i = 0; i < d->dof; i++) *moved = mor_max(*moved, fabs(d->nu[i] - was[i]));
    for (int i = 0; i < d->kept_count; i++) by_friction(&s, &d->kept[i], &laws[i]);
    return code;
}

/* The scale s of the contacts of a body by its mass: A_p is that of s p_n, so s' p_n A_p/s belongs to the equation, and
 * u to A_u. */
void mor_smooth_mass(const mor_derivation* d, const mor_law* laws, int column, int body, mor_columns* c)
{
    const mor_contact* contacts = d->base->contacts.data;
    double light = lightness(d->base->w, body);
    for (int i = 0; i < d->kept_count; i++) {
        const mor_kept* k = &d->kept[i];
        if (k->contact < 0 || (contacts[k->contact].body[0] != body && contacts[k->contact].body[1] != body)) continue;
        double by_mass = -light * light, more = by_mass * d->p[k->row] * laws[i].A_p[0] / scale_of(d, k);
        c->u[(size_t)column * (size_t)d->rows + k->row] += more / laws[i].A_u[0];
    }
}
