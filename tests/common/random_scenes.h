/* What the tests with random scenes share: numbers, worlds with the default method, bodies of one material. */
#ifndef MOREAU_TESTS_RANDOM_SCENES_H
#define MOREAU_TESTS_RANDOM_SCENES_H

#include "common/worlds.h"

/* The seed a test begins with: its own, or with MOREAU_SEED in the environment another that follows from both. */
uint64_t test_seed(uint64_t own);
/* Uniform in [lower, upper]; the same numbers on every machine. */
double test_random(uint64_t* seed, double lower, double upper);
/* Mean 0, variance 1: the sum of twelve uniform numbers. */
double test_normal(mor_rng* rng);
/* Uniform in the ball of radius 1. */
mor_vec3 test_random_vector(uint64_t* seed);
mor_quat test_random_turn(uint64_t* seed);
/* Shape number k of five kinds (sphere, box, capsule, cylinder, prism), half as thick as `size` or more [m], and the
 * radius of a ball about its centre that holds it. */
mor_geometry* test_solid(uint64_t* seed, int k, double size, double* radius);
/* A world with the library's default methods. */
mor_world* test_default_world(int dimension, double h, mor_vec3 gravity);
/* A body of `count` shapes of friction mu; the references to the shapes are taken over. */
mor_body_id test_add(mor_world* world, mor_body_kind kind, mor_geometry* const* shapes, const mor_pose* poses,
                     int count, double mass, double mu, mor_pose pose);
/* Runs n steps; each must be solved. Returns the greatest gain of kinetic and potential energy in a step [J], and the
 * deepest penetration if not NULL. */
double test_run(mor_world* world, int n, double* depth);
/* One step of two frictionless balls without weight: 1 kg comes at v [m/s] in x upon a ball of `mass` kg at rest (0:
 * fixed), their line of centres askew by `sine`, and reaches it after the share `until` of the step h. The impulse is
 * along that line; what is left of the approach in this step is the way to the surface; nothing spins. Within tol v. */
void test_glancing(double h, double v, double sine, double until, double mass, double tol);

#endif
