/* Actuators with gain and bias that pull on several joints at once; see general.c. */
#ifndef MOREAU_CONTROL_GENERAL_H
#define MOREAU_CONTROL_GENERAL_H

#include "moreau/control.h"

enum { MOR_ACT_NONE, MOR_ACT_INTEGRATOR, MOR_ACT_FILTER };

/* One actuator: length l = sum coef[k] s[joint[k]]. */
typedef struct mor_general_actuator {
    int terms;
    const int* joint;
    const double* coef;
    double offset;           /* of the length */
    double gain[3], bias[3]; /* of (1, l, l') */
    int dynamics;            /* MOR_ACT_... */
    double time_constant;    /* s, of a filter */
    double control;          /* what is asked for, within its range */
    double lower, upper;     /* of the force */
    double least, most;      /* of the activation */
    double slack[2];         /* no force of bias[1] while the length is between (springs of tendons); equal: none */
    bool slackened;
} mor_general_actuator;

/* Weight that is carried by itself: mass [kg] at a point of a link. */
typedef struct mor_general_lift {
    int link;
    mor_vec3 at; /* link frame */
    double mass;
} mor_general_lift;

/* Options of the controller; the arrays must outlive the world. */
typedef struct mor_general {
    int count, lift_count;
    const mor_general_actuator* actuators;
    const mor_general_lift* lifts;
    const double* force_limit; /* lower, upper of every joint (2 n); NULL: none */
} mor_general;

#endif
