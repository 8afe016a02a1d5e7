/* The variables of a co-simulation unit (FMU): inputs, outputs and parameters of a world by name and number.
 *
 * The list follows from the world alone, so the exporter, which writes modelDescription.xml, and the unit, which is
 * asked by numbers, make the same one. The number of a variable is its place in the list. All are real numbers. */
#ifndef MOREAU_FMI_VARIABLES_H
#define MOREAU_FMI_VARIABLES_H

#include "moreau/moreau.h"

typedef enum mor_fmu_causality {
    MOR_FMU_INDEPENDENT,
    MOR_FMU_PARAMETER,
    MOR_FMU_INPUT,
    MOR_FMU_OUTPUT
} mor_fmu_causality;

typedef enum mor_fmu_kind {
    MOR_FMU_TIME,
    MOR_FMU_STEP,
    MOR_FMU_GRAVITY,
    MOR_FMU_FORCE,
    MOR_FMU_TORQUE,
    MOR_FMU_POSITION,
    MOR_FMU_QUATERNION,
    MOR_FMU_VELOCITY,
    MOR_FMU_ANGULAR_VELOCITY,
    MOR_FMU_CONTACT_FORCE,
    MOR_FMU_CONTACT_TORQUE,
    MOR_FMU_JOINT_TORQUE,
    MOR_FMU_JOINT_TARGET,
    MOR_FMU_JOINT_POSITION,
    MOR_FMU_JOINT_VELOCITY,
    MOR_FMU_EQUATION_POSITION, /* of a joint between bodies, which is an equation */
    MOR_FMU_KINETIC,
    MOR_FMU_POTENTIAL,
    MOR_FMU_PENETRATION,
    MOR_FMU_CONTACTS
} mor_fmu_kind;

/* One number. */
typedef struct mor_fmu_variable {
    char name[256]; /* "bodies.ball.position[1]" */
    mor_fmu_kind kind;
    int index;     /* body, robot, or joint between bodies */
    int component; /* of a vector, or joint */
    double start;  /* inputs and parameters */
    bool slides;   /* joints: along an axis, and not about it */
} mor_fmu_variable;

/* What holds for all variables of a kind. */
typedef struct mor_fmu_kind_info {
    mor_fmu_causality causality;
    const char *word, *unit, *sliding_unit, *help; /* of joints: of those that turn, and of those that slide */
    int count;                                     /* numbers of the vector; 1: a single number */
} mor_fmu_kind_info;
const mor_fmu_kind_info* mor_fmu_info(mor_fmu_kind kind);
/* The unit of a variable; "": it has none. */
const char* mor_fmu_unit(const mor_fmu_variable* variable);

/* The list of a world; free() it. NULL: out of memory. */
mor_fmu_variable* mor_fmu_variables(const mor_world* world, int* count);
/* The first controller of a robot that follows given targets, or -1. */
int mor_fmu_target_controller(const mor_world* world, int robot);

#endif
