/* Random concave ground in the plane and bodies over it, for tests of exact contact.
 *
 * A terrain is a row of points between two walls, with slopes, sharp valleys, steps and flat parts. It is drawn as one
 * chain, as many chains that meet end to end, or as flush tiles (one trapezoid under each segment). How deep a body is
 * is told from the row of points itself, which knows nothing of pieces, sides and planes. */
#ifndef MOREAU_TESTS_TERRAIN_H
#define MOREAU_TESTS_TERRAIN_H

#include "common/worlds.h"
#include "model/world.h"

enum { ONE_CHAIN, MANY_CHAINS, TILES, DRAWINGS };
enum { PARTICLE, DISC, SQUARE, POLYGON, BODIES };
enum { TERRAIN_POINTS = 40 };
extern const char* const terrain_drawing_names[DRAWINGS];
extern const char* const terrain_body_names[BODIES];

typedef struct terrain {
    int count;
    mor_vec3 p[TERRAIN_POINTS];
} terrain;

typedef struct terrain_body {
    int kind, corners;
    double radius;
    mor_vec3 corner[12];
} terrain_body;

double terrain_between(mor_rng* r, double a, double b);
/* From left to right, steps only where they may be (tiles have no width there). */
terrain terrain_random(mor_rng* r, bool steps);
terrain_body terrain_body_random(mor_rng* r, int kind);
mor_geometry* terrain_body_shape(const terrain_body* body);
/* How far below the ground a point is (> 0), vertically; at a step by the lower side. */
double terrain_below(const terrain* t, mor_vec3 q);
/* How deep the body is in the ground: no corner of it below, no ridge of the ground inside. */
double terrain_depth(const terrain* t, const terrain_body* b, const mor_world* w, mor_body_id id);
/* Puts the ground into the world. `sharp`: separate chains may also meet in ridges sharper than a right angle, where
 * the side of one stands out of the slope of the other (docs/methods/peg.md). */
void terrain_draw(mor_world* w, const terrain* t, int drawing, bool sharp, mor_rng* r);

#endif
