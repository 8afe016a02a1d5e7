/* Words of the command line that mean a number of a world: KIND:NAME.PART, as velocity:puck.x or friction:ice. All
 * return 0, or the exit status after a message that begins with the command. */
#ifndef MOREAU_CLI_WORDS_H
#define MOREAU_CLI_WORDS_H

#include "moreau/optimise.h"

/* An initial state or a constant force: position:, velocity:, spin:, joint:, speed:, force:, torque:, effort:,
 * gravity: */
int mor_cli_read_unknown(const char* command, const mor_world* world, const char* text, mor_unknown* unknown);
/* A number of the state and its value: KIND:NAME=VALUE, the first five kinds. */
int mor_cli_read_goal(const char* command, const mor_world* world, const char* text, mor_goal* goal);
/* An input of the derivative: force:, torque:, joint:, friction:, restitution:, mass:, size:, gravity:, kp:, ki:, kd:,
 * target: */
int mor_cli_read_input(const char* command, const mor_world* world, const char* text, mor_input* input);

#endif
