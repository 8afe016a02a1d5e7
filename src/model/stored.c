/* The tree kind of stored frames: M, nu and nu_free are given, and so are the Jacobians of its links, J = [J_v; J_w] at
 * their centres of mass. The velocity of a material point at r in direction d is
 *
 *     d . (J_v + J_w x r) nu = (d' J_v + (r x d)' J_w) nu.
 *
 * A frame is one step: such a tree is never advanced. */
#include "model/stored.h"

#include <string.h>

static void stored_prepare(mor_world* world, const mor_tree* tree, double* nu, double* nu_free, double* mass,
                           double* inverse)
{
    (void)world;
    const mor_stored_tree* s = tree->stored;
    size_t n = (size_t)s->dof;
    memcpy(nu, s->nu, n * sizeof *nu);
    memcpy(nu_free, s->nu_free, n * sizeof *nu);
    memcpy(mass, s->mass, n * n * sizeof *mass);
    memcpy(inverse, s->inverse, n * n * sizeof *inverse);
}

static void add_row(const double* J, int dof, mor_vec3 d, double sign, double* c)
{
    for (int k = 0; k < dof; k++) c[k] += sign * (d.x * J[k] + d.y * J[dof + k] + d.z * J[2 * dof + k]);
}

static void stored_row(const mor_tree* tree, const mor_body* body, mor_vec3 r, mor_vec3 d, double sign, double* c)
{
    int dof = tree->dof;
    const double* J = tree->stored->links + (size_t)6 * (size_t)dof * (size_t)body->link;
    memset(c, 0, (size_t)dof * sizeof *c);
    add_row(J, dof, d, sign, c);
    add_row(J + 3 * dof, dof, mor_cross(r, d), sign, c);
}

static void stored_spin(const mor_tree* tree, const mor_body* body, mor_vec3 d, double sign, double* c)
{
    int dof = tree->dof;
    memset(c, 0, (size_t)dof * sizeof *c);
    add_row(tree->stored->links + (size_t)6 * (size_t)dof * (size_t)body->link + 3 * dof, dof, d, sign, c);
}

static void stored_advance(mor_world* world, const mor_tree* tree, const double* nu_free, const double* nu,
                           const double* mass)
{
    (void)world, (void)tree, (void)nu_free, (void)nu, (void)mass;
}

static void stored_correct(mor_world* world, const mor_tree* tree, const double* delta, bool velocity)
{
    (void)world, (void)tree, (void)delta, (void)velocity;
}

const mor_tree_kind mor_tree_stored = { .name = "stored",
                                        .prepare = stored_prepare,
                                        .row = stored_row,
                                        .spin = stored_spin,
                                        .advance = stored_advance,
                                        .correct = stored_correct };

void mor_stored_free(mor_stored* stored)
{
    if (stored) mor_arena_destroy(stored->arena);
}
