/* Small robots with feet, made without files. */
#ifndef TESTS_COMMON_WALKER_H
#define TESTS_COMMON_WALKER_H

#include "moreau/world.h"

/* A floating body of 10 kg, 0.04 m above its soles `left` (axes of the body) and `right` (turned 40 degrees about z): a
 * robot with all joints locked. */
mor_robot_model* walker_sledge(void);
/* A floating trunk on two legs of hip, knee and ankle (all about y): 6 joints, 12 degrees of freedom, 14 kg; soles 0.8
 * m below the trunk at zero. */
mor_robot_model* walker_biped(void);
/* A hip of 5 kg on a vertical slide and a five-bar leg in the x-z plane: joints slide, motor_a, knee_a, motor_b,
 * knee_b; frames `tip_a` and `tip_b` are to be joined. */
mor_robot_model* walker_five_bar(void);
/* The same with three legs around z whose knees have two axes: joints slide, then motor, knee and roll of each leg;
 * frames `tip_0` ... */
mor_robot_model* walker_delta(void);

/* Four points under each of two frames, rounded by `radius` (0: vertices), as shapes of the model. */
extern const mor_vec3 walker_print[4];
void walker_put_feet(mor_robot_model* model, const char* left, const char* right, const mor_vec3 print[4],
                     double radius);

#endif
