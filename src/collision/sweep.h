/* Contacts of shapes that are still apart: do they touch in the free motion of the step, and where?
 *
 * The mathematics is in sweep.c. Nothing here knows of worlds: two shapes, a pair test, two free motions, a step. */
#ifndef MOR_COLLISION_SWEEP_H
#define MOR_COLLISION_SWEEP_H

#include "collision/manifold.h"

/* Free motion of a shape in the step: x + t v, turned by exp(t w) about x. */
typedef struct mor_flight {
    mor_pose pose; /* of the shape, now */
    mor_vec3 x;    /* point it turns about, now: the centre of mass of its body */
    mor_vec3 v, w; /* constant during the step [m/s, rad/s] */
    double arm;    /* farthest point of the shape from x that turning moves (round shapes: their centre) [m] */
    double tumble; /* rad/s: of w what moves the shape; a cylinder that rolls turns in place */
    double yields; /* 1/kg: inverse mass of its body; 0 where nothing moves it */
    bool still;    /* never moves */
} mor_flight;

typedef struct mor_sweep {
    mor_pair_test test;
    bool swap; /* as mor_pair_builtin gave it */
    const mor_geometry *a, *b;
    mor_flight flight[2]; /* of a and b */
    double h;             /* s */
    double reach;         /* m: contacts nearer than this are wanted */
    bool bounces;         /* the impact is resolved within the step: its arms are wanted, however short the way */
    bool smooth;          /* without friction */
} mor_sweep;

/* The contacts that act in the step, from `points` (a before b), which the pair test found at the start of it within
 * reach. Shapes that touch keep their points. Shapes that are apart keep them if no point would pass its plane in free
 * motion; else the free motion decides: points of the moment of impact, or of the nearest approach. Returns the new
 * number of points. Deterministic, no memory but the stack. */
int mor_sweep_contacts(const mor_sweep* sweep, mor_point* points, int count);

/* May bodies of that size [m] turn by more than 0.1 rad in the step: because they do already, or by an impact along n?
 * */
bool mor_flight_tumbles(const mor_flight* a, const mor_flight* b, mor_vec3 n, double size, double h);

/* Pose of the shape at time t of its free motion. */
mor_pose mor_flight_at(const mor_flight* flight, double t);

/* A time from t on, at most `most` [s], in which the shapes certainly do not touch, whose nearest points at time t are
 * given (clear_time.c); not for chains. */
double mor_clear_time(const mor_sweep* sweep, const mor_point* nearest, double t, double most);

/* Number of points that stand for the extremes of a shape, and the i-th of them in its frame. */
int mor_corner_count(const mor_geometry* shape);
mor_vec3 mor_corner_at(const mor_geometry* shape, int i);

/* Velocity of the point of the body that is at p after the time t [m/s]. */
mor_vec3 mor_flight_velocity(const mor_flight* flight, mor_vec3 p, double t);

/* Greatest rate at which two points of the shapes near each other, in any direction [m/s]. */
double mor_sweep_rate(const mor_sweep* sweep);

/* Adds to the points of time t what a body that turns fast can land on in the rest of the step (sweep_corners.c).
 * Returns the new number of points. `size` of the smaller shape [m]. */
int mor_sweep_corners(const mor_sweep* sweep, double t, double size, mor_point* points, int count);

/* Rate of the gap of a point of a and b that was found at time t of their free motion [m/s]. */
double mor_flight_rate(const mor_flight* a, const mor_flight* b, const mor_point* point, double t);

#endif
