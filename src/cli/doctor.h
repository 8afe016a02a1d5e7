/* What `moreau doctor` gathers about a scene (doctor_look.c) before it says what to change (doctor.c). */
#ifndef MOREAU_CLI_DOCTOR_H
#define MOREAU_CLI_DOCTOR_H

#include "moreau/run.h"

enum { MOR_DOCTOR_FINDINGS = 64 };

typedef struct mor_doctor_finding {
    bool problem; /* something to change; else something to know */
    char text[512];
} mor_doctor_finding;

typedef struct mor_doctor {
    mor_doctor_finding findings[MOR_DOCTOR_FINDINGS];
    int count;
    /* of the watched run */
    int asked; /* steps */
    bool stops;
    mor_step_report stopped, slowest;
    double slowest_time;
    double kinetic; /* largest kinetic energy after a step [J] */
    double deepest, deepest_at;
    char deep[2][64];
    double* thick; /* thickness of each body [m]; NULL: speeds are not watched */
    int watched;
    double way, turn; /* most of its thickness that a body moved, most it turned [rad], in one step */
    char fast[64], spinning[64];
    mor_run_summary summary;
} mor_doctor;

/* The smallest width of a body's shapes along their own axes [m]; 0: none has one. */
double mor_doctor_thickness(const mor_world* world, mor_body_id body);
/* Looks at the state before the first step. */
void mor_doctor_look(mor_doctor* doctor, mor_world* world);
/* Steps the world `steps` times, for at most `seconds` of CPU time. */
mor_code mor_doctor_watch(mor_doctor* doctor, mor_world* world, int steps, double seconds, mor_error* error);
/* Adds what that run shows. */
void mor_doctor_conclude(mor_doctor* doctor, const mor_world* world);

#endif
