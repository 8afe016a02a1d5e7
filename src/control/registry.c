/* The controllers that come with the library, in the order of `moreau list controllers`. */
#include "control/control.h"

static const mor_controller* const controllers[] = { &mor_controller_pid,      &mor_controller_trajectory,
                                                     &mor_controller_velocity, &mor_controller_torque,
                                                     &mor_controller_balance,  NULL };

const mor_controller* const* mor_controllers(void) { return controllers; }
