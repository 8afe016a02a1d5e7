/* What is measured of a run, each a number:
 *
 *   a path into the document of `moreau run --json`   energy.final, samples.0.bodies.ball.position.2
 *   a quantity over the steps of the run              the largest bodies.ball.position.2 from 0.5 s to 1 s
 *   a function of the user's                          from a shared object
 *
 * In a list, a word of a path is the name of an entry or its index from 0. A path that ends at a list of numbers means
 * its Euclidean length; true and false count 1 and 0. */
#ifndef MOR_LAB_MEASURE_H
#define MOR_LAB_MEASURE_H

#include "io/json/json_read.h"
#include "io/scene/yaml_node.h"
#include "moreau/lab.h"
#include "moreau/run.h"

typedef enum mor_measure_kind { MOR_MEASURE_DOCUMENT, MOR_MEASURE_SERIES, MOR_MEASURE_FUNCTION } mor_measure_kind;
/* How a quantity over the steps becomes a number. The start counts as a step. */
typedef enum mor_measure_over {
    MOR_OVER_MIN,
    MOR_OVER_MAX,
    MOR_OVER_MEAN,
    MOR_OVER_RMS,
    MOR_OVER_RANGE
} mor_measure_over;

typedef struct mor_measure {
    const char *name, *path; /* path: NULL for functions */
    mor_measure_kind kind;
    mor_measure_over over;         /* MOR_MEASURE_SERIES */
    double from, until;            /* the same: only steps that end in this time [s] */
    mor_measure_function function; /* MOR_MEASURE_FUNCTION */
    const mor_node* node;          /* where it was asked for, for messages; may be NULL */
} mor_measure;

/* The number at a path of a document, true if there is one. `why` (may be NULL): what is missing, at most 300 bytes. */
bool mor_measure_find(const mor_json_value* root, const char* path, double* value, char* why);

/* A quantity of a world as it is now: bodies.NAME.position (com, quaternion, angle, velocity, angular_velocity) with an
 * index or as its length, robots.NAME.q and qd with an index, joints.NAME.position, energy, kinetic_energy,
 * potential_energy, contacts, penetration. */
typedef struct mor_probe {
    int kind, component; /* component -1: the length */
    int index;           /* of the joint, or into q or qd */
    mor_body_id body;
} mor_probe;
/* MOR_BAD_INPUT and a sentence without position when the world has no such quantity. */
mor_code mor_probe_make(mor_probe* probe, const mor_world* world, const char* path, mor_error* error);
/* `report` of the last step, NULL at the start. NAN without memory. */
double mor_probe_value(const mor_probe* probe, const mor_world* world, const mor_step_report* report);

#endif
